"""Where the catalogue's numbers come from: sources, and one provenance per design parameter."""

from __future__ import annotations

from collections.abc import Mapping

from tcformal.design.spec import Design
from tcformal.design.unit import Evidence, Fact

#: Tags of `sources.REFERENCES`, some with the place.
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
AMD_RESULTS = "results/hardware/AMD-EPYC/x86/vdpbf16ps.jsonl (AMD EPYC)"
INTEL_RESULTS = "results/hardware/Intel-R-Xeon-R-Processor (Intel Xeon with AMX)"
#: What is supposed of a tile instruction that no probe has run.
AS_TDPBF16PS = Fact(
    "as x86/tdpbf16ps, of which it is measured; Bochs's source has the same order", Evidence.INFERRED
)


def probed(where: str) -> Fact:
    """A fact that a paper states after probing."""
    return Fact(where, Evidence.PROBED)


def documented(where: str) -> Fact:
    """A fact from a vendor's specification."""
    return Fact(where, Evidence.DOCUMENTED)


def measured(where: str, *results: str) -> Fact:
    """A fact from a vendor's specification that this project's probes have confirmed."""
    return Fact("; ".join((*results, where)), Evidence.MEASURED)


def facts(base: Fact, overrides: Mapping[str, Fact]) -> dict[str, Fact]:
    """One provenance for every design parameter: `base` unless overridden."""
    return {name: overrides.get(name, base) for name in Design.__dataclass_fields__}


def t_fdpa_facts(
    arch: str, *, recorded: bool, narrow: bool = False, table: str = "Table 4", algorithm: str = "Algorithm 7"
) -> dict[str, Fact]:
    """Provenance of an NVIDIA fused dot product's parameters.

    `narrow` results (fp16) leave the recordings blind to fraction_bits: many values of it fit them.
    """
    where = f"{XIE} {table}"
    numbers = Fact(f"{where}; {RECORDED}", Evidence.RECORDED) if recorded else probed(where)
    zero = f"{SIMULATOR}; {HAWKEYE}.2" if arch in ("ampere", "hopper") else SIMULATOR
    sign = f"{VALPEY}; {SIMULATOR}" if arch in ("volta", "turing", "ampere") else SIMULATOR
    return facts(
        probed(f"{XIE} {algorithm}"),
        {
            "products": numbers,
            "fraction_bits": probed(where) if narrow else numbers,
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
