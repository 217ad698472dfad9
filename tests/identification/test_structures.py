"""The structures of one order: what products and results are rounded to."""

from __future__ import annotations

from tcformal.design.names import resolve
from tcformal.identification.hypotheses import Shapes, hypotheses, structures
from tcformal.identification.order import Order


def test_products_are_rounded_to_every_shape_that_sums_have() -> None:
    """Sums of fp16 results may take products in fp32 or in fp16."""
    unit = resolve("tree@steps=(1+(0+c)),a_format=fp16,b_format=fp16,c_format=fp16,d_format=fp16")
    found = {u.design.product_rounding for u in structures(unit)}
    assert found == {None, "RNE-FP16"}


def test_results_are_normalised_where_last_places_lie_below_subnormal_ones() -> None:
    """Partial sums in fp16 end above what a sum of 23 bits keeps of c; those in fp32 end with c."""
    unit = resolve(
        "tree@steps=join(part(0..1)+part(2..3)+c),a_format=fp16,b_format=fp16,c_format=fp32,d_format=fp32"
    )

    def normalised(shape: str, bits: int | None) -> set[object]:
        shapes = Shapes(("FP32",), ("FP32",), (), measured={"part": (shape,)})
        found = structures(unit, {"part": None} | ({} if bits is None else {"join": bits}), shapes=shapes)
        return {u.tree.stages["join"]["normalise_products"] for u in found if u.tree is not None}

    assert normalised("FP16", 23) == {False, True}
    assert normalised("FP32", 23) == {False}
    assert normalised("FP32", 22) == normalised("FP32", None) == {False, True}


def test_c_alone_is_rounded_to_shapes_that_change_it() -> None:
    unit = resolve("tree@steps=join(part(0+1)+(c)),c_format=fp32,d_format=fp32")
    shapes = Shapes(("FP32", "BF16"), ("FP32",), ())
    assert {u.design.conversion for u in structures(unit, shapes=shapes)} == {"RNE-BF16"}


def test_inner_sums_may_keep_more_than_the_result() -> None:
    unit = resolve("tree@steps=((0+1)+c),a_format=bf16,b_format=bf16,c_format=bf16,d_format=bf16")
    assert unit.tree is not None
    order = Order(unit.tree.root, {}, "", {}, 0, 0)
    made = [u.tree.stages for u in hypotheses(unit, order, (0x7FC0, "word"), {}, alone=True) if u.tree]
    assert {x["part"]["conversion"] for x in made} == {"RNE-FP32", "RNE-BF16"}
    cuts = [sum(stage["fraction_bits"] is not None for stage in x.values()) for x in made]
    assert cuts[0] == 0
    assert max(cuts) == 2
