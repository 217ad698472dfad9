"""The structures of one order: what products and results are rounded to."""

from __future__ import annotations

from tcformal.design.names import resolve
from tcformal.identification.hypotheses import structures


def test_products_are_rounded_to_every_shape_that_sums_have() -> None:
    """Sums of fp16 results may take products in fp32 or in fp16."""
    unit = resolve("tree@steps=(1+(0+c)),a_format=fp16,b_format=fp16,c_format=fp16,d_format=fp16")
    found = {u.design.product_rounding for u in structures(unit)}
    assert found == {None, "RNE-FP16"}
