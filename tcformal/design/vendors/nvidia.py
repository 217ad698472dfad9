"""NVIDIA's units: rules and parameter tables that generate every legal name (XIE Tables 3–5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from tcformal.design.arithmetic import DMMA_DEFAULT_NAN, NVIDIA_NAN, fma_chain, t_fdpa
from tcformal.design.spec import Design, Operands
from tcformal.design.unit import Emulation, UnitSpec
from tcformal.design.vendors.facts import composed_facts, double_facts, t_fdpa_facts
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format

#: What makes one unit when it is asked for.
UnitMaker = Callable[[str], UnitSpec]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arch:
    """The parameters of one architecture (XIE Tables 4 and 5; zero exponents from MMA-Sim 2.1.1)."""

    #: CUDA compute capability.
    sm: int
    #: Fraction bits kept in alignment [F].
    fraction_bits: int
    #: Bytes of A that one block takes [L_max in bytes]; fp6 and fp4 count as one byte.
    block_bytes: int
    #: Exponent of zero terms for fp32 and fp16 results [e_zero].
    zero_exponent: Mapping[str, int]
    #: Whether fp8 uses the short sum: 13 fraction bits, and 13 in an fp32 result.
    short_fp8: bool = False
    #: (a format, d format) pairs whose parameters reproduce recorded hardware outputs.
    recorded: frozenset[tuple[str, str]] = frozenset()


_EARLY, _LATE = {"fp32": -132, "fp16": -20}, {"fp32": -133, "fp16": -21}

ARCHS: dict[str, Arch] = {
    "volta": Arch(
        sm=70, fraction_bits=23, block_bytes=8, zero_exponent={"fp32": -131, "fp16": -19},
        recorded=frozenset({("fp16", "fp32"), ("fp16", "fp16")}),
    ),
    "turing": Arch(sm=75, fraction_bits=24, block_bytes=16, zero_exponent=_EARLY),
    "ampere": Arch(
        sm=80, fraction_bits=24, block_bytes=16, zero_exponent=_EARLY,
        recorded=frozenset({("fp16", "fp32"), ("tf32", "fp32")}),
    ),
    "ada": Arch(
        sm=89, fraction_bits=24, block_bytes=16, zero_exponent=_EARLY, short_fp8=True,
        recorded=frozenset({("e4m3", "fp32")}),
    ),
    "hopper": Arch(
        sm=90, fraction_bits=25, block_bytes=32, zero_exponent=_LATE, short_fp8=True,
        recorded=frozenset({("bf16", "fp32"), ("fp16", "fp16")}),
    ),
    "blackwell": Arch(
        sm=100, fraction_bits=25, block_bytes=32, zero_exponent=_LATE,
        recorded=frozenset({("fp16", "fp32")}),
    ),
    "rtx-blackwell": Arch(sm=120, fraction_bits=25, block_bytes=32, zero_exponent=_LATE),
}  # fmt: skip

_FP8 = ("e5m2", "e4m3")
_SMALL = ("e5m2", "e4m3", "e3m2", "e2m3", "e2m1")
_F16_884 = ("m8n8k4.f32.f16.f16.f32", "m8n8k4.f32.f16.f16.f16", "m8n8k4.f16.f16.f16.f16")
_F16_1688 = ("m16n8k8.f32.f16.f16.f32", "m16n8k8.f16.f16.f16.f16")
_SINCE_AMPERE = (
    *_F16_1688,
    "m16n8k16.f32.f16.f16.f32",
    "m16n8k16.f16.f16.f16.f16",
    "m16n8k16.f32.bf16.bf16.f32",
    "m16n8k8.f32.bf16.bf16.f32",
    "m16n8k8.f32.tf32.tf32.f32",
    "m16n8k4.f32.tf32.tf32.f32",
    "m8n8k4.f64.f64.f64.f64",
)
_FP8_MMA = tuple(f"m16n8k{k}.{d}.{a}.{b}.{d}" for k, d, a, b in product((32, 16), ("f32", "f16"), _FP8, _FP8))
_F64_HOPPER = tuple(f"m16n8k{k}.f64.f64.f64.f64" for k in (16, 8, 4))

#: The `mma` shapes and types of each architecture (PTX ISA).  `m8n8k4` with fp16 is a hardware
#: instruction on volta and turing only, fp8 on ada and rtx-blackwell only: see EMULATED.
MMA: dict[str, tuple[str, ...]] = {
    "volta": _F16_884,
    "turing": _F16_884 + _F16_1688,
    "ampere": _SINCE_AMPERE,
    "ada": _SINCE_AMPERE + _FP8_MMA,
    "hopper": _SINCE_AMPERE + _F64_HOPPER,
    "blackwell": _SINCE_AMPERE,
    "rtx-blackwell": _SINCE_AMPERE + _FP8_MMA,
}

#: `mma` names that the compiler accepts on an architecture and builds from other instructions.
EMULATED: dict[str, tuple[str, ...]] = {
    "ampere": (_F16_884[0],),
    "ada": (_F16_884[0],),
    "hopper": (_F16_884[0], *_FP8_MMA),
    "blackwell": (_F16_884[0], *_FP8_MMA),
    "rtx-blackwell": (_F16_884[0],),
}

#: N of wgmma and tcgen05.
_N = range(8, 257, 8)

_NAN_NOTE = (
    "NaN word: XIE §4.2 says all ones below the sign, as measured on Hopper; VALPEY §4.4 describes a word "
    "that also fits 0x7fc00000: open until probed."
)
_COMPOSED_NOTE = "The kernels of an H100 have these instructions, and their outputs are this composition's."
_TURING_884_NOTE = (
    "fraction_bits: XIE and MMA-Sim 2.1.1 give Volta's 23 for m8n8k4 on Turing; VALPEY Algorithm 1 "
    "gives 24 (@fraction_bits=24): open until probed."
)
_HOPPER_FP8_NOTE = (
    "zero_exponent: MMA-Sim 2.1.1 has -133, HAWKEYE's code -139; no fp8 product and no fp32 c can fall below "
    "either with F=13, so no input tells them apart."
)
_FP16_ZERO_NOTE = (
    "zero_exponent of fp16 results: MMA-Sim 2.1.1 has -19 on volta, -20 on turing, ampere and ada, and -21 "
    "later; FPy has -20, -21 and -22, and -133 for wgmma and tcgen05: open until probed."
)


def nvidia_names() -> Iterator[tuple[str, UnitMaker]]:
    """The builders of all legal units by name, architectures in order of age."""
    for arch in ARCHS:
        more = {"hopper": _wgmma_names, "blackwell": _tcgen05_names, "rtx-blackwell": _kind_mma_names}
        names = [f"mma.{text}" for text in MMA[arch]] + list(more.get(arch, tuple)())
        yield from ((f"{arch}/{name}", _hardware) for name in names)
        yield from ((f"{arch}/emulated.mma.{text}", _emulated) for text in EMULATED.get(arch, ()))


def _wgmma_names() -> Iterator[str]:
    types = ["k8.f32.tf32.tf32", "k16.f32.f16.f16", "k16.f16.f16.f16", "k16.f32.bf16.bf16"]
    types += [f"k32.{d}.{a}.{b}" for d, a, b in product(("f32", "f16"), _FP8, _FP8)]
    return (f"wgmma.m64n{n}{text}" for n, text in product(_N, types))


def _tcgen05_names() -> Iterator[str]:
    kinds = ["k8.kind::tf32.f32.tf32.tf32", "k16.kind::f16.f16.f16.f16"]
    kinds += [f"k16.kind::f16.f32.{a}.{b}" for a, b in product(("f16", "bf16"), repeat=2)]
    kinds += [f"k32.kind::f8f6f4.{d}.{a}.{b}" for d, a, b in product(("f32", "f16"), _SMALL, _SMALL)]
    yield from (f"tcgen05.m{m}n{n}{kind}" for m, n, kind in product((64, 128), _N, kinds))
    for n, (k, kind, a, b, scale) in product(_N, _scaled_kinds()):
        yield f"tcgen05.m128n{n}{k}.{kind}.f32.{a}.{b}.{scale}"


def _kind_mma_names() -> Iterator[str]:
    for d, a, b in product(("f32", "f16"), _SMALL, _SMALL):
        yield f"mma.m16n8k32.kind::f8f6f4.{d}.{a}.{b}.{d}"
    for k, kind, a, b, scale in _scaled_kinds():
        yield f"mma.m16n8{k}.{kind}.f32.{a}.{b}.f32.{scale}"


def _scaled_kinds() -> Iterator[tuple[str, str, str, str, str]]:
    """The legal block-scaled kinds: k, kind and block, a, b, scale format; block32 with ue4m3 is illegal."""
    for a, b in product(_SMALL, _SMALL):
        yield "k32", "kind::mxf8f6f4.block32", a, b, "ue8m0"
    yield "k64", "kind::mxf4.block32", "e2m1", "e2m1", "ue8m0"
    for block, scale in ((32, "ue8m0"), (16, "ue8m0"), (16, "ue4m3")):
        yield "k64", f"kind::mxf4nvf4.block{block}", "e2m1", "e2m1", scale


#: A name: architecture, instruction, shape, kind and block of scales, formats of D, A, B, C and the scales.
_NAME = re.compile(
    r"(?P<arch>[\w-]+)/(?:emulated\.)?\w+\.(?P<shape>m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+))"
    r"(?:\.kind::(?P<kind>\w+))?(?:\.block(?P<block>\d+))?\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)"
    r"(?:\.(?P<c>f\d+))?(?:\.(?P<scale>ue\w+))?"
)


def _of_name(name: str, **more: Any) -> UnitSpec:
    """The unit whose shape, formats and scales its name says."""
    x = _parsed(name)
    return UnitSpec(
        name=name, m=int(x["m"]), n=int(x["n"]), k=int(x["k"]), operands=_operands(name),
        scale_format=format_named(x["scale"]) if x["scale"] else None,
        scale_block=int(x["block"]) if x["block"] else None, **more,
    )  # fmt: skip


def _parsed(name: str) -> re.Match[str]:
    found = _NAME.fullmatch(name)
    assert found is not None, name
    return found


@cache
def _formats(*names: str) -> Operands:
    return Operands(**{letter: format_named(name) for letter, name in zip("abcd", names, strict=True)})


def _operands(name: str) -> Operands:
    x = _parsed(name)
    return _formats(x["a"], x["b"], x["c"] or x["d"], x["d"])


def _hardware(name: str) -> UnitSpec:
    x = _parsed(name)
    if x["a"] != "f64":
        return _scaled(name) if x["scale"] else _plain(name)
    design = fma_chain(fmt="fp64", nan_word=DMMA_DEFAULT_NAN, nan_rule="b_sum_a")
    return _of_name(name, design=design, facts=double_facts(x["arch"]))


def _design(arch: Arch, a: Format, d: str) -> Design:
    """The T-FDPA design of an architecture for one A format and D format."""
    width = a.storage_bits
    short = arch.short_fp8 and width == 8
    return t_fdpa(
        products=arch.block_bytes * 8 // width,
        fraction_bits=13 if short else arch.fraction_bits,
        zero_exponent=arch.zero_exponent[d],
        d=d,
        conversion="RZ-E8M13" if short and d == "fp32" else None,
    )


def _plain(name: str) -> UnitSpec:
    """A T-FDPA unit without scales."""
    operands, arch_name = _operands(name), _parsed(name)["arch"]
    # Turing runs Volta's m8n8k4 with Volta's parameters (XIE; MMA-Sim 2.1.1).
    as_volta = arch_name == "turing" and _parsed(name)["shape"] == "m8n8k4"
    arch = ARCHS["volta" if as_volta else arch_name]
    recorded = (operands.a.name, operands.d.name) in ARCHS[arch_name].recorded
    notes = [] if arch_name == "hopper" else [_NAN_NOTE]
    if as_volta:
        notes.append(_TURING_884_NOTE)
    if arch_name == "hopper" and operands.a.storage_bits == 8:
        notes.append(_HOPPER_FP8_NOTE)
    if operands.d.name == "fp16":
        notes.append(_FP16_ZERO_NOTE)
    facts = t_fdpa_facts(arch_name, operands, recorded=recorded)
    return _of_name(name, design=_design(arch, operands.a, operands.d.name), facts=facts, notes=tuple(notes))


def _scaled(name: str) -> UnitSpec:
    """A block-scaled unit: ST-FDPA for mxf8f6f4, GST-FDPA for the fp4 kinds."""
    x = _parsed(name)
    arch, grouped = ARCHS[x["arch"]], x["kind"] != "mxf8f6f4"
    design = t_fdpa(
        products=64 if grouped else arch.block_bytes,
        fraction_bits=35 if grouped else arch.fraction_bits,
        zero_exponent=-139 if grouped else arch.zero_exponent["fp32"],
        d="fp32",
        group=16 if grouped else None,
    )
    table, algorithm = ("Table 5", "Algorithm 9") if grouped else ("Table 4", "Algorithm 8")
    facts = t_fdpa_facts(x["arch"], _operands(name), recorded=False, table=table, algorithm=algorithm)
    return _of_name(name, design=design, facts=facts, notes=(_NAN_NOTE,))


def _emulated(name: str) -> UnitSpec:
    """The compiler's composition for an `mma` that the architecture lacks."""
    x, operands = _parsed(name), _operands(name)
    k, arch, d_name = int(x["k"]), ARCHS[x["arch"]], operands.d.name
    addition = replace(fma_chain(fmt=d_name, nan_word=NVIDIA_NAN[d_name]), conversion=f"RNE-{d_name.upper()}")
    if x["a"] == "f16":
        # Scalar: convert to fp32, FFMA in the order of k from zero, FADD c.
        design = fma_chain(fmt="fp32", nan_word=NVIDIA_NAN["fp32"])
        how = Emulation(converted=format_named("fp32"), parts=(tuple(range(k)),), addition=addition)
    else:
        # fp8 to fp16, one HMMA over k%4 in {0, 1} from zero, one over {2, 3} from its result, then c.
        design = _design(arch, format_named("fp16"), d_name)
        halves = tuple(tuple(i for i in range(k) if (i % 4 < 2) == first) for first in (True, False))
        how = Emulation(converted=format_named("fp16"), parts=halves, addition=addition)
    note = "Emulated: the compiler builds this from other instructions; no matrix unit computes it."
    notes = (note, _COMPOSED_NOTE) if x["arch"] == "hopper" else (note,)
    facts = composed_facts(x["arch"], arch.sm, operands)
    return _of_name(name, design=design, emulation=how, facts=facts, notes=notes)
