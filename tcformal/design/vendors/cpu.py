"""CPU dot-product instructions, from the vendors' documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tcformal.design.arithmetic import arm_dot_bf16, x86_dot_bf16, x86_tile
from tcformal.design.spec import Design, Operands
from tcformal.design.unit import Fact, UnitSpec
from tcformal.design.vendors.facts import (
    AMD_RESULTS,
    ARM,
    AS_TDPBF16PS,
    INTEL,
    INTEL_RESULTS,
    documented,
    facts,
    measured,
)
from tcformal.design.vendors.nvidia import UnitMaker
from tcformal.formats.catalog import format_named


def cpu_names() -> Iterator[tuple[str, UnitMaker]]:
    """Every CPU unit's name with what makes it."""
    intel = {"VDPBF16PS": x86_dot_bf16(), "TDPBF16PS": x86_tile(operand_subnormals="signed_zero")}
    intel["TDPFP16PS"] = x86_tile(operand_subnormals="kept")
    results = {"VDPBF16PS": (AMD_RESULTS, INTEL_RESULTS), "TDPBF16PS": (INTEL_RESULTS,)}
    for name, design in intel.items():
        lower = name.lower()
        tile = name.startswith("T")
        a = "fp16" if "FP16" in name and tile and "BF16" not in name else "bf16"
        shape = (16, 16, 32) if tile else (1, 1, 2)
        where = f"{INTEL}, {name}"
        source = measured(where, *results[name]) if name in results else documented(where)
        overrides = {} if name in results else {"nan_word": AS_TDPBF16PS, "nan_rule": AS_TDPBF16PS}
        yield f"x86/{lower}", partial(_unit, shape, a, design, source, overrides)
    for ebf in (0, 1):
        design = arm_dot_bf16(extended=bool(ebf))
        for name, shape in (("bfdot", (1, 1, 2)), ("bfmmla", (2, 2, 4))):
            source = documented(f"{ARM}, EBF={ebf}")
            yield f"arm/{name}.ebf{ebf}", partial(_unit, shape, "bf16", design, source, {})


def _unit(
    shape: tuple[int, int, int], a: str, design: Design, source: Fact, overrides: dict[str, Fact], name: str
) -> UnitSpec:
    m, n, k = shape
    narrow, wide = format_named(a), format_named("fp32")
    return UnitSpec(
        name=name,
        m=m,
        n=n,
        k=k,
        operands=Operands(a=narrow, b=narrow, c=wide, d=wide),
        design=design,
        facts=facts(source, overrides),
    )
