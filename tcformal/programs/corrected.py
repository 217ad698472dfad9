"""Single-precision products from half-precision units: Markidis et al., and Ootomo and Yokota.

Both are programs over calls of a unit.  Markidis adds everything up inside the unit; Ootomo and Yokota
start each call from zero where it matters and add outside, to nearest.  In the form of VALPEY's Table 5
the inputs are halves already, so that nothing is split and only the place of the addition differs.
"""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.split import HALF, OUTSIDE, SCALE_BITS, SINGLE, Split, scaled
from tcformal.semantics.number import Number
from tcformal.semantics.pack import pack
from tcformal.semantics.sums.step import fused_sum
from tcformal.semantics.unit import unit_dot
from tcformal.semantics.unpack import unpack


def check_unit(spec: UnitSpec, products: int) -> None:
    """Refuse a unit without fp16 operands and fp32 accumulation, or more products than one call takes."""
    o = spec.operands
    if (o.a, o.b, o.c, o.d) != (HALF, HALF, SINGLE, SINGLE) or spec.scale_format is not None:
        raise InputError(f"expected a unit of fp32 = fp16 · fp16 + fp32, but got {spec.name}, which is {o}")
    if not 1 <= products <= spec.k:
        raise InputError(f"expected 1 to {spec.k} products for one call of {spec.name}, but got {products}")


def call(g: Graph, spec: UnitSpec, a: Sequence[Node], b: Sequence[Node], c: Node) -> Node:
    """One call of the unit; the products that it has beyond those given are 0·0.

    Shapes: a, b: up to spec.k encodings u[16]; c u[32] -> u[32].
    Errors: InputError as `check_unit`.
    """
    check_unit(spec, len(a))
    zeros = [g.const(0, HALF.width)] * (spec.k - len(a))
    return unit_dot(g, spec, [*a, *zeros], [*b, *zeros], c).result


def markidis(g: Graph, spec: UnitSpec, a: Sequence[Split], b: Sequence[Split], c: Node) -> Node:
    """((a_hi·b_hi + c) + a_lo·b_hi + a_hi·b_lo) + a_lo·b_lo, each call starting from the one before.

    Shapes: a, b: k split values; c u[32] -> u[32].
    Source: MARKIDIS, in the order of OOTOMO equation 6; VALPEY §6.
    """
    total = c
    parts = (("hh", "high", "high"), ("lh", "low", "high"), ("hl", "high", "low"), ("ll", "low", "low"))
    for name, of_a, of_b in parts:
        with g.scope(name):
            total = call(g, spec, [getattr(x, of_a) for x in a], [getattr(y, of_b) for y in b], total)
    return total


def ootomo_yokota(
    g: Graph,
    spec: UnitSpec,
    a: Sequence[Split],
    b: Sequence[Split],
    c: Node,
    *,
    keep_last: bool = False,
) -> Node:
    """RNE(RNE(s1 + dc·2^-11) + c) with s1 = TC(a_hi·b_hi, 0), dc = TC(a_hi·b_lo', TC(a_lo'·b_hi, 0)).

    Shapes: a, b: k split values; c u[32] -> u[32].
    Ranges and units: the sums outside are fp32 FMAs to nearest.  With `keep_last`, the product of the
    remainders, TC(a_lo'·b_lo', 0)·2^-22, is first added to dc·2^-11 in a rounding of its own.
    Source: OOTOMO equation 24 drops the last product, as the script of VALPEY's authors does;
    VALPEY §6 prints it.
    """
    zero = g.const(0, SINGLE.width)
    high_a, high_b = [x.high for x in a], [y.high for y in b]
    low_a, low_b = [x.scaled for x in a], [y.scaled for y in b]
    with g.scope("s1"):
        s1 = call(g, spec, high_a, high_b, zero)
    with g.scope("dc1"):
        first = call(g, spec, low_a, high_b, zero)
    with g.scope("dc2"):
        correction = call(g, spec, high_a, low_b, first)
    small = scaled(unpack(g, correction, SINGLE), -SCALE_BITS)
    if keep_last:
        with g.scope("rr"):
            last = unpack(g, call(g, spec, low_a, low_b, zero), SINGLE)
        with g.scope("small"):
            small = _outside(g, scaled(last, -2 * SCALE_BITS), small)
    with g.scope("corrected"):
        product = _outside(g, unpack(g, s1, SINGLE), small)
    with g.scope("total"):
        return _word(g, _outside(g, product, unpack(g, c, SINGLE)))


def added_inside(g: Graph, spec: UnitSpec, a: Sequence[Node], b: Sequence[Node], c: Node) -> Node:
    """TC(a·b, c): Markidis where a and b are halves already [VALPEY Table 5, M].

    Shapes: a, b: k encodings u[16]; c u[32] -> u[32].
    """
    with g.scope("inside"):
        return call(g, spec, a, b, c)


def added_outside(g: Graph, spec: UnitSpec, a: Sequence[Node], b: Sequence[Node], c: Node) -> Node:
    """RNE(TC(a·b, 0) + c): Ootomo and Yokota where a and b are halves already [VALPEY Table 5, O-Y].

    Shapes: a, b: k encodings u[16]; c u[32] -> u[32].
    """
    with g.scope("outside"):
        s1 = unpack(g, call(g, spec, a, b, g.const(0, SINGLE.width)), SINGLE)
        return _word(g, _outside(g, s1, unpack(g, c, SINGLE)))


def _outside(g: Graph, x: Number, y: Number) -> Number:
    """RNE of x + y in fp32."""
    return fused_sum(g, [x, y], OUTSIDE, OUTSIDE.rho).result


def _word(g: Graph, x: Number) -> Node:
    return pack(g, x, SINGLE, g.const(OUTSIDE.nan_word, SINGLE.width))
