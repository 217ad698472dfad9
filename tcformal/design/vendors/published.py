"""Units with published references, against which each is tested: a file for each kind of vendor."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tcformal.design.arithmetic import (
    QUIET_NAN,
    X86_DEFAULT_NANS,
    bulk_normalised,
    fma_chain,
    gaudi2_sum,
    gaudi_chain,
    mul_add_chain,
    pair_then_c,
    rdna3_dot,
    rdna4_bytes,
    rdna4_dot,
    t_fdpa,
    x86_complex,
    x86_dot,
    x86_tile,
    x86_tile_fp8,
    x86_tile_real,
)
from tcformal.design.trees.tree import Step, Tree
from tcformal.design.unit import Evidence, Fact
from tcformal.design.vendors.facts import BOCHS_AMX, INTEL_FP16_RESULTS, as_reference, documented, measured
from tcformal.design.vendors.nvidia import UnitMaker
from tcformal.design.vendors.open_hardware import open_hardware
from tcformal.design.vendors.row import Published, unit_of

#: Where the definitions stand; the first words are tags of `sources.toml`.
RVBNA = "RVBNA; Spike, riscv/bulknormdot.h and zvbdot.h"
ZVBDOT = "Spike, riscv/insns/vfbdot_vv.h"
GAUDI3 = "Gaudi 3, fma_mul_add_tree_bf16_N8_K4_add_C_in_tree_no_ftz and its kind"
GAUDI2 = "Gaudi 2, fma_mul_add_tree_n"
GAUDI = "Gaudi 1, GaudiBf16Fma::fma_vec and its kind"
POWER = "Power ISA 3.1B, VSX Vector GER"
SME = "Arm ARM, FMOPA and BFMOPA"
AVX10 = "Bochs, VDPPHPS"
AMX_FP8 = "Bochs, TDPBF8PS, TDPBHF8PS, TDPHBF8PS, TDPHF8PS"
AMX_COMPLEX = "Bochs, TCMMRLFP16PS, TCMMIMFP16PS"
FP16 = "Intel SDM volume 2, VFMADD132PH, VFMADDCPH, VFMULCPH and their kind"
RDNA3 = "ROCm emulator, gfx11_dot2.h and dot_packed16.h"
RDNA4 = "ROCm emulator, gfx12_dot.h and dot_packed16.h"

#: Folders of results of the programs of `hw_probes/reference`.
SPIKE, BOCHS, BOCHS_FP16 = "Spike-55b4658d", "Bochs-783b58fd", "Bochs-783b58fd-fp16"
GAUDI3_RESULTS = "Gaudi-3-e6cef1c3"
GAUDI_RESULTS = {1: "Gaudi-1-e6cef1c3", 2: "Gaudi-2-e6cef1c3"}
ROCJITSU = {3: "rocjitsu-gfx11-48f67ab9", 4: "rocjitsu-gfx12-5ac3c9c4"}
ROCJITSU_DOT4 = "rocjitsu-gfx12-dot4"
ROCJITSU_DOT2 = {g: f"{folder}-dot2" for g, folder in ROCJITSU.items()}


def _riscv() -> Iterator[tuple[str, Published]]:
    """RISC-V's RVBNA: bf16 and fp8 products that fill a vector register of VLEN bits; and the chain of
    `vfbdot`."""
    fact = as_reference(RVBNA, SPIKE)
    note = (
        "The specification's pseudocode drops the bits below a normal sum instead of rounding it to odd: "
        "queries/riscv/rvbna-text.toml.",
    )
    sums = [(f"vfwbdot.vv.vlen{vlen}", "bf16", "bf16", vlen // 16) for vlen in (128, 256)]
    for name, b in (("vfqbdot.vv", "e4m3"), ("vfqbdot.alt.vv", "e5m2")):
        sums += [(f"{name}.vlen128.{a}.{b}", a, b, 16) for a in ("e4m3", "e5m2")]
    for name, a, b, n in sums:
        design = bulk_normalised(products=n)
        yield name, Published(shape=(1, 8, n), a=a, b=b, c="fp32", design=design, fact=fact, notes=note)
    yield "vfbdot.vv.vlen128", Published(
        shape=(1, 8, 4), a="fp32", b="fp32", c="fp32", design=mul_add_chain(),
        fact=as_reference(ZVBDOT, SPIKE), notes=("Other orders of the sum are valid implementations.",),
    )  # fmt: skip


def _gaudi3() -> Iterator[tuple[str, Published]]:
    """Gaudi 3's sums of 24 fraction bits: whole bf16 and fp8 products, piecewise products of wider
    formats."""
    whole = t_fdpa(products=8, fraction_bits=24, zero_exponent=-132, d="fp32")
    fact = as_reference(GAUDI3, GAUDI3_RESULTS)
    yield "mme.bf16", Published(shape=(1, 1, 8), a="bf16", b="bf16", c="fp32", design=whole, fact=fact)
    notes: tuple[str, ...] = (
        "Other biases, and codes that are all finite, are other formats: e4m3[bias=11], e5m2[finite].",
    )
    for a, b in itertools.product(("e4m3", "e5m2"), repeat=2):
        design = replace(whole, normalise_operands=True)
        made = Published(shape=(1, 1, 8), a=a, b=b, c="fp32", design=design, fact=fact, notes=notes)
        yield f"mme.{a}.{b}", made
    halves = replace(whole, products=2, piece_bits=8)
    nearest = ("Intel's model rounds fp32 words to the nearest tf32 before the sum; here they are cut.",)
    rows = (
        ("fp16", replace(halves, normalise_operands=True)), ("tf32", halves),
        ("fp32", replace(halves, products=1, dropped_pieces=1)),
    )  # fmt: skip
    for a, design in rows:
        n = design.products
        notes = nearest if a == "tf32" else ()
        made = Published(shape=(1, 1, n), a=a, b=a, c="fp32", design=design, fact=fact, notes=notes)
        yield f"mme.{a}", made


def _gaudi2() -> Iterator[tuple[str, Published]]:
    """Gaudi 2's sums: products cut to 46 fraction bits (fp8: 24), c exact, one rounding, subnormals
    flushed."""
    fact = as_reference(GAUDI2, GAUDI_RESULTS[2])
    whole = gaudi2_sum(products=8, fraction_bits=46)
    half = gaudi2_sum(products=8, fraction_bits=46, operand_subnormals="kept")
    eighth = gaudi2_sum(products=16, fraction_bits=24, operand_subnormals="kept")
    fast = (
        "Without no_opt=true Intel's model normalises products, and gives a zero the sign that most products "
        "have: queries/gaudi/gaudi2.toml.",
    )
    bias = ("Other biases are other formats: e4m3[bias=11,ieee], as far as fp16 has their numbers.",)
    rows = (
        ("bf16", "bf16", whole, fast), ("fp16", "fp16", replace(half, normalise_operands=True), fast),
        ("tf32", "tf32", replace(whole, products=4, zero_sign="sum"), fast),
        ("fp32", "fp32", replace(whole, products=2, piece_bits=12), ()),
        ("fp8_143", "e4m3[ieee]", replace(eighth, normalise_operands=True), bias),
        ("fp8_152", "e5m2", eighth, bias), ("fp32_ieee", "fp32", gaudi_chain(), ()),
    )  # fmt: skip
    for name, a, design, notes in rows:
        n = design.products
        row = Published(shape=(1, 1, n), a=a, b=a, c="fp32", design=design, fact=fact, notes=notes)
        yield f"mme.{name}", row


def _gaudi() -> Iterator[tuple[str, Published]]:
    """Gaudi's four chains of fused multiply-adds, by k modulo 4, with their sums added from chain cd modulo 4
    on."""
    fact = as_reference(GAUDI, GAUDI_RESULTS[1])
    notes = (
        "Intel's model has no c: all four chains start from +0. Here the first starts from c.",
        "cd counts the products of the whole sum: calls of one unit in a row are not a longer one.",
    )
    for a, cd in (("bf16", 8), ("bf16", 5), ("fp16", 8), ("fp32", 8)):
        design = gaudi_chain(operand_subnormals="kept" if a == "fp16" else "signed_zero")
        yield f"mme.{a}.cd{cd}", Published(
            shape=(1, 1, cd), a=a, b=a, c="fp32", design=replace(design, products=cd), fact=fact,
            overrides=(("c_position", Fact("the model starts from +0 alone", Evidence.CHOSEN)),),
            notes=notes, tree=Tree(_rolled_up(cd, 4)),
        )  # fmt: skip


def _rolled_up(cd: int, chains: int) -> Step:
    """The tree of round-robin chains, the first from c, with chain sums added in pairs from chain cd on."""
    ends: list[int | str | Step] = []
    for first in range(chains):
        total: int | str | Step = "zero" if first else "c"
        for k in range(first, cd, chains):
            total = Step((k, total))
        ends.append(total)
    start = cd % chains
    level = ends[start:] + ends[:start]
    while len(level) > 1:
        level = [Step(tuple(level[i : i + 2])) for i in range(0, len(level), 2)]
    assert isinstance(level[0], Step)
    return level[0]


def _power10() -> Iterator[tuple[str, Published]]:
    """Power10's outer products that add to the accumulator, rounded to nearest."""
    fact = as_reference(POWER, "QEMU-7.2-power10")
    for name, fmt, n in (("xvf32gerpp", "fp32", 4), ("xvf64gerpp", "fp64", 2)):
        design = fma_chain(fmt=fmt, nan_word=QUIET_NAN[fmt], nan_rule="a_sum_b")
        yield name, Published(shape=(4, n, 1), a=fmt, b=fmt, c=fmt, design=design, fact=fact)
    yield "xvf16ger2pp", Published(
        shape=(4, 4, 2), a="fp16", b="fp16", c="fp32", fact=fact,
        design=pair_then_c(accumulator="RNE-FP32", nan_rule="a_sum_b"),
    )  # fmt: skip
    yield "xvbf16ger2pp", Published(
        shape=(4, 4, 2), a="bf16", b="bf16", c="fp32", fact=fact,
        design=pair_then_c(accumulator="RNE-E15M23", nan_rule="a_sum_b"),
        overrides=(("accumulator", documented(POWER)),),
        notes=(
            "The sum of the products has an unbounded exponent in the text; QEMU rounds it to fp32: "
            "queries/power/xvbf16ger2.toml.",
        ),
    )  # fmt: skip


def _arm() -> Iterator[tuple[str, Published]]:
    """Arm's outer products with default NaNs, for a streaming vector length of 512 bits."""
    fact = as_reference(SME, "QEMU-7.2-sme")
    for name, fmt, n in (("fmopa.s", "fp32", 16), ("fmopa.d", "fp64", 8)):
        design = fma_chain(fmt=fmt, nan_word=QUIET_NAN[fmt])
        yield name, Published(shape=(n, n, 1), a=fmt, b=fmt, c=fmt, design=design, fact=fact)
    pair = pair_then_c(accumulator="RNE-FP32")
    yield "fmopa.s.h", Published(shape=(16, 16, 2), a="fp16", b="fp16", c="fp32", design=pair, fact=fact)


def _x86() -> Iterator[tuple[str, Published]]:
    design = x86_dot(operand_subnormals="kept")
    fact = as_reference(AVX10, BOCHS)
    yield "vdpphps", Published(shape=(1, 1, 2), a="fp16", b="fp16", c="fp32", design=design, fact=fact)
    fact, note = (
        as_reference(AMX_FP8, BOCHS_AMX),
        "Bochs takes a subnormal e5m2 for a zero, a subnormal e4m3 not.",
    )
    short = {"b": "e5m2", "h": "e4m3"}
    for letters in ("b", "bh", "hb", "h"):
        a, b = short[letters[0]], short[letters[-1]]
        design = x86_tile_fp8(a=a, b=b)
        row = Published(shape=(16, 16, 64), a=a, b=b, c="fp32", design=design, fact=fact, notes=(note,))
        yield f"tdp{letters}f8ps", row
    fact, tile = as_reference(AMX_COMPLEX, BOCHS_AMX), x86_tile(operand_subnormals="kept")
    for name, design, pairs in (
        ("tcmmrlfp16ps", x86_tile_real(), "real and imaginary parts, of A and of B"),
        ("tcmmimfp16ps", tile, "an imaginary and a real part of A, a real and an imaginary one of B"),
    ):
        yield name, Published(
            shape=(16, 16, 32), a="fp16", b="fp16", c="fp32", design=design, fact=fact,
            notes=(f"k counts pairs of {pairs}.",),
        )  # fmt: skip
    yield from _fp16()


def _fp16() -> Iterator[tuple[str, Published]]:
    """AVX512-FP16: fused multiply-adds, of complex numbers two for each part."""
    stated = measured(FP16, INTEL_FP16_RESULTS)
    fact = measured(FP16, INTEL_FP16_RESULTS, f"results/hardware/{BOCHS_FP16}")
    row = partial(Published, a="fp16", b="fp16", c="fp16")
    chain = fma_chain(fmt="fp16", nan_word=X86_DEFAULT_NANS["fp16"], nan_rule="first_operand")
    # The digits are the instruction's operands in the order of a, b and c.
    for form in ((1, 3, 2), (2, 1, 3), (2, 3, 1)):
        said = "a is its operand {}, b {} and c {}; 1 is the destination.".format(*form)
        yield "vfmadd{}{}{}ph".format(*form), row(shape=(1, 1, 1), design=chain, fact=fact, notes=(said,))
    order = {
        "re": "k counts the real and the imaginary part of a number.",
        "im": "k counts an imaginary and a real part of A, a real and an imaginary one of B.",
    }
    two = Tree(Step((Step((0,)), 1)), nan_rule="first_operand")
    # Conjugates exchange which part is a difference.
    for conjugate, subtracting in (("", "re"), ("c", "im")):
        for part, parts in order.items():
            design = x86_complex(negated="odd" if part == subtracting else "none")
            made = row(shape=(1, 1, 2), design=design, fact=fact, notes=(parts,))
            yield f"vf{conjugate}maddcph.{part}", made
            yield f"vf{conjugate}mulcph.{part}", replace(
                made, fact=stated, notes=(parts, "It has no c."), tree=two,
                design=replace(
                    design, summation="fused", c_position="joined", accumulator=None, nan_rule="word"
                ),
            )  # fmt: skip


def _rdna(generation: int) -> Iterator[tuple[str, Published]]:
    """RDNA's WMMA, DOT2 and DOT4 after ROCm's emulator, which its authors compared with two cards.

    With FP16_OVFL set, what overflows fp16 is its largest number.
    """
    source = RDNA3 if generation == 3 else RDNA4
    for d, a in (("f32", "fp16"), ("f32", "bf16"), ("f16", "fp16"), ("bf16", "bf16")):
        result, of = {"f32": "fp32", "f16": "fp16"}.get(d, d), "f16" if a == "fp16" else a
        instructions = [(f"v_wmma_{d}_16x16x16_{of}", (16, 16, 16), ROCJITSU)]
        names = (f"v_dot2_{d}_{of}", *((f"v_dual_dot2acc_f32_{of}",) if d == "f32" else ()))
        instructions += [(name, (1, 1, 2), ROCJITSU_DOT2) for name in names]
        for name, shape, results in instructions:
            products = min(shape[2], 4)
            design = rdna3_dot(a=a, d=result) if generation == 3 else rdna4_dot(products=products, d=result)
            row = Published(
                shape=shape, a=a, b=a, c=result, design=design, fact=as_reference(source, results[generation])
            )
            yield name, row
            if d == "f16":
                fact = as_reference(source, ROCJITSU_DOT2[generation])
                yield f"{name}.fp16_ovfl", replace(row, design=replace(design, overflow="largest"), fact=fact)
    if generation == 4:
        fact, words = as_reference(RDNA4, ROCJITSU_DOT4), {"e4m3": "fp8", "e5m2": "bf8"}
        for a, b in itertools.product(words, repeat=2):
            row = Published(shape=(1, 1, 4), a=a, b=b, c="fp32", design=rdna4_bytes(), fact=fact)
            yield f"v_dot4_f32_{words[a]}_{words[b]}", row


def published_names() -> Iterator[tuple[str, UnitMaker]]:
    """The builders of all these units, by name."""
    rows = {"x86": _x86(), "arm": _arm(), "power10": _power10(), "riscv": _riscv(), "gaudi3": _gaudi3()}
    rows |= {"gaudi": _gaudi(), "gaudi2": _gaudi2()}
    rows |= {"rdna3": _rdna(3), "rdna4": _rdna(4)}
    rows |= open_hardware()
    for arch, units in rows.items():
        for name, row in units:
            yield f"{arch}/{name}", partial(unit_of, row)
