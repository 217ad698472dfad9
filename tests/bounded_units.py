"""Small units of the operations that error bounds are proved of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named


def _groups() -> UnitSpec:
    """Two groups of two products, each with scales of its own."""
    unit = catalogue()["blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"]
    half, narrow = format_named("fp16"), format_named("e2m1")
    design = replace(
        unit.design, products=4, group=2, fraction_bits=16, conversion="RZ-FP16", nan_word=0x7FFF,
        zero_exponent=-30,
    )  # fmt: skip
    o = Operands(a=narrow, b=narrow, c=half, d=half)
    return replace(unit, name="groups", k=4, scale_block=2, operands=o, design=design)


def _composed() -> UnitSpec:
    """Two parts of two products, and c."""
    unit = catalogue()["hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16"]
    assert unit.emulation is not None
    how = replace(unit.emulation, parts=((0, 1), (2, 3)))
    return replace(unit, name="parts", k=4, emulation=how, design=replace(unit.design, products=2))


_ROUNDED = (
    "tfdpa@products={},a_format=e5m2,b_format=e5m2,c_format=fp16,d_format=fp16,k={},fraction_bits=11,"
    "conversion=RNE-FP16,zero_exponent=none,summation={},sum_fraction_bits=14,zero_sign=sum,product_limit=16"
)
UNITS: dict[str, Callable[[], UnitSpec]] = {
    "groups": _groups,
    "tr": lambda: resolve(_ROUNDED.format(2, 2, "tr")),
    "tr, two blocks": lambda: resolve(_ROUNDED.format(2, 4, "tr")),
    "gtr": lambda: resolve(_ROUNDED.format(4, 4, "gtr")),
    "composed": _composed,
}
