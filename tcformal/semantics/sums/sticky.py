"""Vortex's sums: zeros that count as tiny numbers, and one sticky bit for all lost bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import any_of, cuts_off
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.product import product
from tcformal.semantics.stages import Total


def with_leading_one(g: Graph, x: Number) -> Number:
    """A zero with the significand of 1; its exponent and class are unchanged.

    Source: Vortex, VX_tcu_tfr_mul_f16.sv (a factor has its hidden bit unless it is subnormal).
    """
    term = x.term
    one = g.const(1 << term.fraction_bits, term.significand.width)
    return replace(x, term=replace(term, significand=g.ite(term.zero, one, term.significand)))


def at_exponent(g: Graph, x: Number, zero_terms: int) -> Number:
    """A zero as a nonzero term at exponent `zero_terms`, with a significand in [1, 4); others unchanged."""
    term, e = x.term, x.term.exponent
    low, high = min(e.low, zero_terms), max(e.high, zero_terms)
    code = e.rebased(g, low, high)
    moved = Exponent(g.ite(term.zero, g.const(zero_terms - low, code.width), code), low, high)
    return replace(x, term=replace(term, exponent=moved, zero=g.truth(False)))


def product_of_ones(g: Graph, a: Number, b: Number, zero_terms: int) -> Number:
    """The exact product of two numbers whose zeros count as ones, at the exponent of zero terms.

    Zero, NaN, Inf: specials as `product` has them for zeros; no product is zero unless it is NaN.
    """
    x = product(g, with_leading_one(g, a), with_leading_one(g, b))
    moved = at_exponent(g, x, zero_terms)
    return replace(moved, term=replace(moved.term, factors=()))


def cut_off(g: Graph, terms: Sequence[Term], total: Total) -> Node:
    """Whether alignment lost a bit of some term: u[1]."""
    lost = [cuts_off(g, x, row.shift, total.fraction_bits) for x, row in zip(terms, total.terms, strict=True)]
    return g.label("sticky", any_of(g, lost))


def sticky_below(
    g: Graph, magnitude: Node, lsb: Exponent, sticky: Node, precision: int
) -> tuple[Node, Exponent]:
    """A magnitude with a sticky bit far below any rounding to `precision` bits; 0 stays 0.

    Shapes: u[n] -> u[n + precision + 2], and the exponent of its lowest bit.
    """
    wide = g.shift_left_const(magnitude, precision + 2)
    bit = g.and_(sticky, g.any_bit(magnitude))
    return g.or_(wide, g.zero_extend_to(bit, wide.width)), lsb.shifted(-precision - 2)
