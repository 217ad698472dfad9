"""Open hardware, from published RTL, C models and emulators: a file for each kind of vendor."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from tcformal.design.arithmetic import (
    QUIET_NAN,
    cute_groups,
    cute_sum,
    e_fdpa,
    esperanto_chain,
    esperanto_sum,
    fixed_point_sum,
    fma_chain,
    nvdla_sum,
    tensix_sum,
    vortex_dot,
)
from tcformal.design.trees.tree import Step, Tree, Value, read_steps, tree
from tcformal.design.unit import Evidence, Fact
from tcformal.design.vendors.facts import as_reference, documented
from tcformal.design.vendors.row import Published

#: Where the definitions stand; the first words are tags of `sources.toml`.
VORTEX = "Vortex, VX_tcu_fedp_tfr.sv and VX_tcu_tfr_*.sv"
VORTEX_DPI = "Vortex, VX_tcu_fedp_dpi.sv"
VORTEX_BHF = "Vortex, VX_tcu_fedp_bhf.sv"
#: Its sums of fp32 numbers: in a simulation, word by word from 0; of Berkeley's HardFloat, in pairs.
_VORTEX_TREES = (
    ("dpi", "fp16", "fp16", "((((0+z)+1)+((2+z)+3))+c)"),
    ("dpi", "bf16", "bf16", "((((0+z)+1)+((2+z)+3))+c)"),
    ("dpi", "tf32", "e8m10", "(((0+z)+1)+c)"),
    ("dpi", "fp8", "e4m3", "((((((0+z)+1)+2)+3)+((((4+z)+5)+6)+7))+c)"),
    ("dpi", "bf8", "e5m2", "((((((0+z)+1)+2)+3)+((((4+z)+5)+6)+7))+c)"),
    ("bhf", "fp16", "fp16", "(((0+1)+(2+3))+c)"),
    ("bhf", "bf16", "bf16", "(((0+1)+(2+3))+c)"),
    ("bhf", "tf32", "e8m10", "(((0+z)+(1+z))+c)"),
)
NVDLA = "NVDLA, NV_NVDLA_CMAC_CORE_MAC_exp.v, NV_NVDLA_CMAC_CORE_MAC_mul.v and NV_NVDLA_cmac.h"
HMX = "Hexagon HMX, hmx_fp16_mac, hmx_fp16_acc_ovf_check and hmx_fp16_cvt"
HMX_BITS = "Hexagon HMX, QDSP6_MX_FP_ACC_FRAC and QDSP6_MX_FP_RATE"
CUTE = "CUTE, ccode/fmac.h"
CVFPU = "CVFPU, fpnew_sdotp_multi.sv"
TTSIM = "ttsim, mvmul and fpu_accum_normalize_encode of src/tensix.cpp"
TTSIM_RESULTS = {arch: f"ttsim-56694c8a-{arch}" for arch in ("wormhole", "blackhole")}
ESPERANTO = "Esperanto emulator, fpu/tensors.cpp and insns/tensors.cpp"


def _esperanto() -> Iterator[tuple[str, Published]]:
    """Esperanto's TensorFMA after its first pass; products with zeros leave c unchanged."""
    fact = as_reference(ESPERANTO, "ET-SoC-1-f5e79040")
    first = "The first pass has no c and skips nothing: as with c = -0 and zero_words=summed."
    yield "TensorFMA16A32", Published(
        shape=(16, 16, 32), a="fp16", b="fp16", c="fp32", design=esperanto_sum(), fact=fact, notes=(first,)
    )  # fmt: skip
    yield "TensorFMA32", Published(
        shape=(16, 16, 16), a="fp32", b="fp32", c="fp32", design=esperanto_chain(), fact=fact,
        overrides=(("conversion", Fact("the rounding mode is that of frm", Evidence.CHOSEN)),),
        notes=(first,),
    )  # fmt: skip


def _vortex() -> Iterator[tuple[str, Published]]:
    """Vortex's dot products: fused, in fp32 as simulations have them, and in HardFloat's fp32."""
    yield "VX_tcu_fedp_tfr.fp16", Published(
        shape=(1, 1, 4), a="fp16", b="fp16", c="fp32", design=vortex_dot(),
        fact=as_reference(VORTEX, "Vortex-f7dce0c7"),
        notes=("A zero has a hidden bit, and a tie beside it is rounded up: queries/vortex/zeros.toml.",),
    )  # fmt: skip
    hidden = "A subnormal c has a hidden bit at exponent code 0; beside products of fp16 that does not show."
    for name, fmt, n in (("bf16", "bf16", 4), ("tf32", "e8m10", 2)):
        design = vortex_dot(products=n, c_subnormals="hidden_bit")
        fact = as_reference(VORTEX, "Vortex-f7dce0c7-bf16-tf32")
        notes = (hidden, "A tf32 is held in the low 19 bits of a register.")[: 1 if n == 4 else 2]
        row = Published(shape=(1, 1, n), a=fmt, b=fmt, c="fp32", design=design, fact=fact, notes=notes)
        yield f"VX_tcu_fedp_tfr.{name}", row
    for kind, name, fmt, text in _VORTEX_TREES:
        sums = Tree(read_steps(text))
        design = replace(fma_chain(fmt="fp32", nan_word=QUIET_NAN["fp32"]), products=sums.k)
        exact: tuple[str, ...] = (f"Products of {name} are exact in fp32, in which each of them is rounded.",)
        if name in ("bf16", "tf32"):
            design, exact = replace(design, product_rounding="RNE-FP32"), ()
        fact = documented(VORTEX_BHF)
        if kind == "dpi":
            fact = as_reference(VORTEX_DPI, "Vortex-f7dce0c7-dpi")
        yield f"VX_tcu_fedp_{kind}.{name}", Published(
            shape=(1, 1, sums.k), a=fmt, b=fmt, c="fp32", design=design, fact=fact, tree=sums, notes=exact
        )  # fmt: skip


def _hexagon() -> Iterator[tuple[str, Published]]:
    """Hexagon's fixed-point accumulator for pairs of products; then the bias, converted to fp16."""
    total: int | str | Step = "zero"
    for k in range(0, 32, 2):
        total = Step((k, k + 1, total) if k else (k, k + 1), "pair")
    fixed = {"pair": {"conversion": "RNE-Q17.46"}, "bias": {"conversion": "RNE-W17.46"}}
    yield "mxmem.hf", Published(
        shape=(32, 32, 32), a="fp16", b="fp16", c="e5m15", d="fp16", design=fixed_point_sum(),
        tree=tree(Step((Step((total, "c"), "bias"),)), fixed), fact=as_reference(HMX, "HMX-3aaad8ca"),
        overrides=(("product_rounding", documented(HMX_BITS)),),
        notes=("C is the bias of the conversion; the accumulator starts from 0.",),
    )  # fmt: skip


def _nvdla() -> Iterator[tuple[str, Published]]:
    """NVDLA's atomic operation: a sum of 38 bits with an exponent, which a double holds."""
    chosen = Fact("the unit has no c, and its sums are whole numbers and exponents", Evidence.CHOSEN)
    yield "cmac.fp16", Published(
        shape=(1, 8, 64), a="fp16", b="fp16", c="fp64", design=nvdla_sum(),
        fact=as_reference(NVDLA, "NVDLA-8e06b1b9"),
        overrides=tuple((x, chosen) for x in ("c_position", "conversion", "nan_word", "zero_sign")),
        notes=(
            "A is the data, B the weights. The unit takes an Inf for 2^16: queries/nvdla/cmac.toml.",
            "CACC adds these sums in 48 bits: that is another unit.",
        ),
    )  # fmt: skip


def _cute() -> Iterator[tuple[str, Published]]:
    """CUTE's sums of 512 bits of products with c, all cut at the largest exponent."""
    kept, signed = (as_reference(CUTE, f"CUTE-7b40bf01{zeros}") for zeros in ("", "-zeros"))
    zero = ("Where products are cut to nothing beside -0 alone, its C model gives +0, and this unit -0.",)
    rows: tuple[tuple[str, str, int, Fact, tuple[str, ...]], ...] = (
        ("F16F16F32", "fp16", 32, kept, ()), ("BF16BF16F32", "bf16", 32, signed, zero),
        ("TF32TF32F32", "e8m10", 16, signed, (*zero, "A tf32 is held in the upper 19 bits of a word.")),
        ("Fp8e4m3F32", "e4m3", 64, kept, ()), ("Fp8e5m2F32", "e5m2", 64, kept, ()),
    )  # fmt: skip
    for name, a, n, fact, notes in rows:
        design = cute_sum(products=n)
        yield name, Published(shape=(1, 1, n), a=a, b=a, c="fp32", design=design, fact=fact, notes=notes)
    for name, scales, zeros, above in (
        ("Mxfp4F32", ("e8m0", 32), -126, 6), ("Nvfp4F32", ("e4m3", 16), -118, 9),
    ):  # fmt: skip
        yield name, Published(
            shape=(1, 1, 128), a="e2m1", b="e2m1", c="fp32",
            design=cute_groups(zero_exponent=zeros, group_exponent=above),
            fact=as_reference(CUTE, "CUTE-7b40bf01-fp4"), scales=scales,
        )  # fmt: skip
    scale = "A scale that is a NaN counts as 2^128 in its C model; here it makes a NaN."
    for a in ("e4m3", "e5m2"):
        yield f"Mxfp8{a}F32", Published(
            shape=(1, 1, 64), a=a, b=a, c="fp32", design=cute_sum(products=64), fact=documented(CUTE),
            scales=("e8m0", 32), notes=(*zero, scale),
        )  # fmt: skip


def _cvfpu() -> Iterator[tuple[str, Published]]:
    """CVFPU's ExSdotp: two products and an addend of twice their width, rounded once."""
    frm = ("conversion", Fact("the rounding mode is that of frm", Evidence.CHOSEN))
    zero = ("Its RTL gives some sums that are rounded to zero, beside a zero c, the other sign.",)
    for a, c in (
        ("fp16", "fp32"), ("bf16", "fp32"), ("e5m2", "fp16"), ("e4m3[ieee]", "fp16"), ("e5m2", "bf16"),
        ("e4m3[ieee]", "bf16"),
    ):  # fmt: skip
        exact = (a, c) not in (("bf16", "fp32"), ("e5m2", "fp16"))
        yield f"fpnew_sdotp_multi.{c}.{a.partition('[')[0]}", Published(
            shape=(1, 1, 2), a=a, b=a, c=c, design=e_fdpa(products=2, d=c),
            fact=as_reference(CVFPU, f"CVFPU-e5aa6a01{'' if exact else '-zeros'}"),
            overrides=(frm,), notes=() if exact else zero,
        )  # fmt: skip


def _tensix(arch: str) -> Iterator[tuple[str, Published]]:
    """Tenstorrent's MVMUL into Dst of 32 and of 16 bits, after the vendor's simulator: one fidelity phase."""
    none = Fact("the unit has no NaN", Evidence.CHOSEN)
    for a, d in itertools.product(("bf16", "tf32", "fp16"), ("fp32", "bf16", "fp16")):
        if (a == "fp16") != (d == "fp16") and d != "fp32":
            continue  # Dst of 16 bits has the exponents of the factors
        # A zero counts as a product of exponent codes 0; in the other formats such a sum is 0.
        zero: int | str = -30 if (a, d) == ("fp16", "fp32") else "none"
        inner: dict[str, Value] = {
            "normalised": False, "fraction_bits": 10, "alignment_rounding": "RNA", "zero_exponent": zero,
            "c_alignment_rounding": None, "second_fraction_bits": None, "minus_one": None,
        }  # fmt: skip
        sums = Step((Step(tuple(range(8)), "sop"), Step(tuple(range(8, 16)), "sop"), "c"))
        lowered = ", with sop.zero_exponent=-35, -37, -42" if zero == -30 else ""
        notes = [
            "A is SrcB, B is SrcA, C and D are Dst. This is fidelity phase 0, LoFi; phases 1, 2, 3 are "
            f"@b_bits=5..9, @a_bits=7..13, and both{lowered}; HiFi2 to HiFi4 add so many phases to Dst: the "
            "program tensix-hifi.",
            "Encodings of Inf and NaN are numbers of the next exponent; what overflows is the first of "
            "these, in fp16 the last.",
        ]
        design = tensix_sum(d=d, minus_one=27 if arch == "wormhole" else None)
        yield f"MVMUL.{a}.{d}", Published(
            shape=(8, 16, 16), a=a, b=a, c=d, design=design, tree=tree(sums, {"sop": inner}),
            fact=as_reference(TTSIM, TTSIM_RESULTS[arch]), overrides=(("nan_word", none),),
            notes=tuple(notes),
        )  # fmt: skip


def open_hardware() -> dict[str, Iterator[tuple[str, Published]]]:
    """The rows of each vendor's units, by architecture."""
    return {
        "et-soc-1": _esperanto(), "vortex": _vortex(), "hexagon": _hexagon(), "nvdla": _nvdla(),
        "cute": _cute(), "cvfpu": _cvfpu(), "wormhole": _tensix("wormhole"),
        "blackhole": _tensix("blackhole"),
    }  # fmt: skip
