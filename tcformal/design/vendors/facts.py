"""Provenance of catalogue parameters: sources, and one fact per design parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from tcformal.design.spec import Design, Operands
from tcformal.design.unit import Evidence, Fact

#: Tags of `sources.toml`, some with the place.
XIE = "XIE"
SIMULATOR = "MMA-Sim 2.1.1"
VALPEY = "VALPEY §4.4"
HAWKEYE = "HAWKEYE §7"
RECORDED = "KHATTAK recorded outputs"
SASS = "CUDA 13.0 SASS"
INTEL = "Intel SDM volume 2"
ARM = "Arm ARM, BFDOT and BFMMLA"

PROBED_SIMULATOR = Fact(SIMULATOR, Evidence.PROBED)
UNSTATED = Fact("not stated by any source; the quiet NaN without payload stands for it", Evidence.INFERRED)
#: Results of this project's probes, and the processors that gave them.
AMD_RESULTS = "results/hardware/AMD-EPYC/x86/vdpbf16ps.jsonl.xz (AMD EPYC)"
INTEL_RESULTS = "results/hardware/Intel-R-Xeon-R-Processor (Intel Xeon with AMX)"
#: Of another one: twelve million dot products, and 30,692 about the least normal number.
INTEL_TINY_RESULTS = "results/hardware/Intel-R-Xeon-R-Processor-2 (Intel Xeon with AMX, family 6 model 207)"
INTEL_FP16_RESULTS = "results/hardware/Intel-R-Xeon-R-Processor-fp16 (Intel Xeon, family 6 model 207)"
HOPPER_RESULTS = (
    "results/hardware/NVIDIA-H100-80GB-HBM3 (NVIDIA H100)", "results/hardware/NVIDIA-H200 (NVIDIA H200)"
)  # fmt: skip
#: Parameters of which these GPUs' outputs refute every other value near, or all that a sum can show: of FMA
#: chains, of fused dot products, and of those with an fp32 result and the exponents of fp32 in A and B.
_OF_CHAINS = (
    "products", "conversion", "operand_subnormals", "c_subnormals", "result_subnormals", "product_rounding",
    "zero_sign",
)  # fmt: skip
_OF_SUMS = (
    "products", "summation", "c_position", "fraction_bits", "alignment_rounding", "conversion", "carry_bits",
    "normalise_products", "operand_subnormals", "c_subnormals", "result_subnormals", "product_rounding",
    "nan_word", "nan_rule",
)  # fmt: skip
_OF_WIDE_SUMS = (*_OF_SUMS, "zero_exponent", "zero_sign", "overflow")
#: Those with fp16 operands and an fp16 result.
_OF_HALVES = (*_OF_SUMS, "zero_exponent")
#: The same of what compilers compose: inside two HMMA, and inside four FFMA.
_IN_COMPOSED = ("products", "summation", "c_position", "fraction_bits", "conversion", "product_rounding")
_IN_SCALAR = ("products", "conversion")
#: What is supposed of other GPUs' fp64 units.
AS_HOPPER = Fact("as on Hopper, of which it is measured; no source states it", Evidence.INFERRED)
#: Outputs of Bochs for instructions on tiles.
BOCHS_AMX = "Bochs-783b58fd-amx"


@cache
def probed(where: str) -> Fact:
    """A fact that a paper states from probing."""
    return Fact(where, Evidence.PROBED)


def documented(where: str) -> Fact:
    """A fact from a vendor's specification."""
    return Fact(where, Evidence.DOCUMENTED)


def measured(where: str, *results: str) -> Fact:
    """A fact stated elsewhere and confirmed by this project's probes without alternative."""
    return Fact("; ".join((*results, where)), Evidence.MEASURED)


def as_reference(where: str, folder: str) -> Fact:
    """A fact of a published reference implementation, whose outputs, kept in a folder, agree with ours."""
    return Fact(f"results/hardware/{folder}; {where}", Evidence.REFERENCE)


def on_hopper(found: Mapping[str, Fact], names: Iterable[str]) -> dict[str, Fact]:
    """Facts of a Hopper unit, with the named ones raised to measured."""
    return {**found, **{name: measured(found[name].source, *HOPPER_RESULTS) for name in names}}


def facts(base: Fact, overrides: Mapping[str, Fact]) -> dict[str, Fact]:
    """The fact of every design parameter: `base` unless overridden."""
    return {name: overrides.get(name, base) for name in Design.__dataclass_fields__}


def double_facts(arch: str) -> dict[str, Fact]:
    """The facts of an NVIDIA fp64 unit's parameters."""
    seen = arch == "hopper"
    nan = Fact("; ".join(HOPPER_RESULTS), Evidence.MEASURED) if seen else AS_HOPPER
    base = facts(probed(f"{XIE} Algorithm 4 and Table 3 (DMMA)"), {"nan_word": nan, "nan_rule": nan})
    return on_hopper(base, _OF_CHAINS) if seen else base


@cache
def t_fdpa_facts(
    arch: str, o: Operands, *, recorded: bool, table: str = "Table 4", algorithm: str = "Algorithm 7"
) -> Mapping[str, Fact]:
    """The facts of an NVIDIA fused dot product's parameters.

    Results in fp16 leave the recordings blind to fraction_bits: many values of it fit them.
    """
    base = _t_fdpa_facts(arch, o, recorded, table, algorithm)
    if arch != "hopper":
        return base
    if o.a.exponent_bits == o.d.exponent_bits == 8:
        return on_hopper(base, _OF_WIDE_SUMS)
    return on_hopper(base, _OF_HALVES if o.a.name == o.d.name == "fp16" else _OF_SUMS)


def composed_facts(arch: str, sm: int, o: Operands) -> dict[str, Fact]:
    """The facts of the instructions that a compiler substitutes for a missing `mma`."""
    scalar = o.a.name == "fp16"
    base = _t_fdpa_facts(arch, o, False, "Table 4", "Algorithm 7")
    if scalar:
        base = facts(Fact(f"{SASS} for sm_{sm}", Evidence.INFERRED), {})
    return on_hopper(base, _IN_SCALAR if scalar else _IN_COMPOSED) if arch == "hopper" else base


def _t_fdpa_facts(arch: str, o: Operands, recorded: bool, table: str, algorithm: str) -> dict[str, Fact]:
    """The facts before this project's own probes."""
    where = f"{XIE} {table}"
    numbers = Fact(f"{where}; {RECORDED}", Evidence.RECORDED) if recorded else probed(where)
    zero = f"{SIMULATOR}; {HAWKEYE}.2" if arch in ("ampere", "hopper") else SIMULATOR
    sign = f"{VALPEY}; {SIMULATOR}" if arch in ("volta", "turing", "ampere") else SIMULATOR
    return facts(
        probed(f"{XIE} {algorithm}"),
        {
            "products": numbers,
            "fraction_bits": probed(where) if o.d.name == "fp16" else numbers,
            "conversion": numbers,
            "group": probed(where),
            "zero_exponent": probed(zero),
            "carry_bits": probed(f"{XIE} {algorithm} (exact fixed-point sum)"),
            "nan_word": probed(f"{XIE} §4.2"),
            "nan_rule": probed(f"{XIE} §4.2"),
            "zero_sign": probed(sign),
            "overflow": probed(f"{SIMULATOR}; {HAWKEYE}.1" if arch == "ampere" else SIMULATOR),
            "operand_subnormals": probed(f"{XIE} §4.1.3"),
            "c_subnormals": probed(f"{XIE} §4.1.3"),
            "result_subnormals": PROBED_SIMULATOR,
        },
    )
