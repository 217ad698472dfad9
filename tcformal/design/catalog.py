"""The catalogue of units: rules and tables of facts from which every legal name follows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tcformal.design.spec import Design, Operands
from tcformal.design.unit import Evidence, Fact, UnitSpec
from tcformal.formats.catalog import format_named

_XIE = "XIE 2026, Table 4"
_SIMULATOR = "simulator 2.1.1 of XIE's authors"
_VALPEY = "VALPEY 2025, §4.4"
_HAWKEYE = "HAWKEYE 2026, §7"
_RECORDED = "recorded outputs, Khattak and Mikaitis 2025"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arch:
    """One architecture's numbers (XIE Tables 4 and 5; zero exponents from the simulator)."""

    #: CUDA compute capability.
    sm: int
    #: Fraction bits kept in alignment [F].
    fraction_bits: int
    #: Bytes of A that one block takes [L_max in bytes].
    block_bytes: int
    #: Exponent of zero terms for fp32 and fp16 results [e_zero].
    zero_exponent: Mapping[str, int]
    #: (a format, d format) pairs whose parameters reproduce recorded hardware outputs.
    recorded: frozenset[tuple[str, str]] = frozenset()


ARCHS: dict[str, Arch] = {
    "volta": Arch(
        sm=70, fraction_bits=23, block_bytes=8, zero_exponent={"fp32": -131, "fp16": -19},
        recorded=frozenset({("fp16", "fp32"), ("fp16", "fp16")}),
    ),
    "turing": Arch(sm=75, fraction_bits=24, block_bytes=16, zero_exponent={"fp32": -132, "fp16": -20}),
    "ampere": Arch(
        sm=80, fraction_bits=24, block_bytes=16, zero_exponent={"fp32": -132, "fp16": -20},
        recorded=frozenset({("fp16", "fp32"), ("tf32", "fp32")}),
    ),
    "ada": Arch(sm=89, fraction_bits=24, block_bytes=16, zero_exponent={"fp32": -132, "fp16": -20}),
    "hopper": Arch(
        sm=90, fraction_bits=25, block_bytes=32, zero_exponent={"fp32": -133, "fp16": -21},
        recorded=frozenset({("bf16", "fp32"), ("fp16", "fp16")}),
    ),
    "blackwell": Arch(
        sm=100, fraction_bits=25, block_bytes=32, zero_exponent={"fp32": -133, "fp16": -21},
        recorded=frozenset({("fp16", "fp32")}),
    ),
}  # fmt: skip

_F16_884 = ("m8n8k4.f32.f16.f16.f32", "m8n8k4.f32.f16.f16.f16", "m8n8k4.f16.f16.f16.f16")
_F16_1688 = ("m16n8k8.f32.f16.f16.f32", "m16n8k8.f16.f16.f16.f16")
_F16_16816 = ("m16n8k16.f32.f16.f16.f32", "m16n8k16.f16.f16.f16.f16")
_BF16 = ("m16n8k16.f32.bf16.bf16.f32", "m16n8k8.f32.bf16.bf16.f32")
_TF32 = ("m16n8k8.f32.tf32.tf32.f32", "m16n8k4.f32.tf32.tf32.f32")
_SINCE_AMPERE = _F16_1688 + _F16_16816 + _BF16 + _TF32

#: The `mma` shapes and types of each architecture (PTX ISA; FACTS §3).  `m8n8k4` with fp16 is a
#: hardware instruction on volta and turing only: later compilers emulate it.
MMA: dict[str, tuple[str, ...]] = {
    "volta": _F16_884,
    "turing": _F16_884 + _F16_1688,
    "ampere": _SINCE_AMPERE,
    "ada": _SINCE_AMPERE,
    "hopper": _SINCE_AMPERE,
    "blackwell": _SINCE_AMPERE,
}

#: Encodings of NVIDIA's NaN result (XIE §4.2).
NAN_WORDS = {"fp32": 0x7FFFFFFF, "fp16": 0x7FFF}

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_NAN_NOTE = (
    "NaN word: XIE §4.2 says all ones below the sign; VALPEY §4.4 describes a word that also fits "
    "0x7fc00000: open until probed."
)
_TURING_884_NOTE = (
    "fraction_bits: XIE and the simulator give Volta's 23 for m8n8k4 on Turing; VALPEY Algorithm 1 "
    "gives 24 (@fraction_bits=24): open until probed."
)


def _mma_unit(arch_name: str, instruction: str) -> UnitSpec:
    """One `mma` unit from the tables above."""
    shape, d, a, b, c = instruction.split(".")
    match = _SHAPE.fullmatch(shape)
    assert match is not None, instruction
    m, n, k = (int(x) for x in match.groups())
    operands = Operands(a=format_named(a), b=format_named(b), c=format_named(c), d=format_named(d))
    # Turing runs Volta's m8n8k4 with Volta's parameters (XIE, simulator).
    as_volta = arch_name == "turing" and shape == "m8n8k4"
    arch = ARCHS["volta" if as_volta else arch_name]
    d_name = operands.d.name
    design = Design(
        products=arch.block_bytes * 8 // operands.a.storage_bits,
        fraction_bits=arch.fraction_bits,
        zero_exponent=arch.zero_exponent[d_name],
        conversion="RNE-FP16" if d_name == "fp16" else "RZ-FP32",
        nan_word=NAN_WORDS[d_name],
    )
    recorded = (operands.a.name, d_name) in ARCHS[arch_name].recorded
    notes = (_NAN_NOTE, _TURING_884_NOTE) if as_volta else (_NAN_NOTE,)
    return UnitSpec(
        name=f"{arch_name}/mma.{instruction}",
        m=m, n=n, k=k,
        operands=operands,
        design=design,
        facts=_mma_facts(arch_name, recorded),
        notes=notes,
    )  # fmt: skip


def _mma_facts(arch_name: str, recorded: bool) -> dict[str, Fact]:
    """Provenance of every design parameter of a T-FDPA `mma` unit."""
    table = Fact(f"{_XIE}; {_RECORDED}", Evidence.RECORDED) if recorded else Fact(_XIE, Evidence.PROBED)
    algorithm = Fact("XIE 2026, Algorithm 7", Evidence.PROBED)
    hawkeye = arch_name in ("ampere", "hopper")
    zero_exponent = Fact(f"{_SIMULATOR}; {_HAWKEYE}.2" if hawkeye else _SIMULATOR, Evidence.PROBED)
    overflow = Fact(f"{_SIMULATOR}; {_HAWKEYE}.1" if arch_name == "ampere" else _SIMULATOR, Evidence.PROBED)
    early = arch_name in ("volta", "turing", "ampere")
    zero_sign = Fact(f"{_VALPEY}; {_SIMULATOR}" if early else _SIMULATOR, Evidence.PROBED)
    return {
        "products": table,
        "summation": algorithm,
        "c_position": algorithm,
        "fraction_bits": table,
        "alignment_rounding": algorithm,
        "normalise_products": algorithm,
        "zero_exponent": zero_exponent,
        "carry_bits": Fact("XIE 2026, Algorithm 7, line 11 (exact sum)", Evidence.PROBED),
        "product_rounding": algorithm,
        "accumulator": algorithm,
        "conversion": table,
        "nan_word": Fact("XIE 2026, §4.2", Evidence.PROBED),
        "zero_sign": zero_sign,
        "overflow": overflow,
    }


@cache
def catalogue() -> dict[str, UnitSpec]:
    """Every catalogued unit by name, architectures in order of age."""
    return {
        unit.name: unit
        for arch, instructions in MMA.items()
        for unit in (_mma_unit(arch, instruction) for instruction in instructions)
    }
