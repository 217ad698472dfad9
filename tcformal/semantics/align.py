"""Alignment: the terms of a sum are shifted to their largest exponent, and lower bits are cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce as fold

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.choice import Choice, OpenZero, ZeroExponent
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.round import drop_low_bits, round_away, shift_right_sticky
from tcformal.semantics.stages import Maximum


def effective_exponents(g: Graph, terms: Sequence[Term], zero_exponent: ZeroExponent) -> list[Exponent]:
    """The exponent of each term for the maximum e_max, with the rule for zero terms.

    Zero: a zero term takes `zero_exponent` [MMA-Sim 2.1.1 e_zero]; `own` leaves its encoding's exponent;
    `none` gives it the smallest exponent that any term can have, so that it never decides e_max
    unless every term is zero.
    Source: XIE §4.1.3; MMA-Sim 2.1.1 and HAWKEYE §7.2 (e_zero).
    """
    if isinstance(zero_exponent, OpenZero):
        return [_open_exponent(g, terms, term, zero_exponent) for term in terms]
    if zero_exponent == "own":
        return [term.exponent for term in terms]
    result = []
    for term in terms:
        e = term.exponent
        if isinstance(zero_exponent, Exponent):
            low, high = min(e.low, zero_exponent.low), max(e.high, zero_exponent.high)
            code, zero_code = e.rebased(g, low, high), zero_exponent.rebased(g, low, high)
        else:
            z = min(t.exponent.low for t in terms) if zero_exponent == "none" else zero_exponent
            low, high = min(e.low, z), max(e.high, z)
            code = e.rebased(g, low, high)
            zero_code = g.const(z - low, code.width)
        result.append(Exponent(g.ite(term.zero, zero_code, code), low, high))
    return result


def _open_exponent(g: Graph, terms: Sequence[Term], term: Term, zero: OpenZero) -> Exponent:
    """A term's exponent for e_max, where that of zero terms is symbolic."""
    e, least = term.exponent, min(t.exponent.low for t in terms)
    low, high = min(least, zero.exponent.low), max(e.high, zero.exponent.high)
    code, named = e.rebased(g, low, high), zero.exponent.rebased(g, low, high)
    none = g.const(least - low, code.width)
    zero_code = g.ite(zero.own, code, g.ite(zero.none, none, named))
    return Exponent(g.ite(term.zero, zero_code, code), low, high)


def largest_exponent(g: Graph, exponents: Sequence[Exponent]) -> Exponent:
    """The alignment exponent e_max, the maximum of all exponents, without its tree of comparisons."""
    return largest(g, exponents)[0]


def largest(g: Graph, exponents: Sequence[Exponent]) -> tuple[Exponent, Maximum]:
    """The alignment exponent e_max, with the balanced tree of comparisons that computes it.

    Ranges and units: the range of e_max is [max of the lows, max of the highs]; the tree's codes count from
    the least of the lows.
    """
    low = min(e.low for e in exponents)
    high = max(e.high for e in exponents)
    level = [Maximum(e.rebased(g, low, high), low) for e in exponents]
    while len(level) > 1:
        halves = zip(level[0:-1:2], level[1::2], strict=True)
        pairs = [Maximum(g.umax(x.code, y.code), low, (x, y)) for x, y in halves]
        level = pairs + level[2 * len(pairs) :]
    # The maximum is at least the largest lower bound: subtracting it keeps the code narrow.
    floor = max(e.low for e in exponents)
    return Exponent(level[0].code, low, high).raised(g, floor), level[0]


def distance_below(g: Graph, exponent: Exponent, e_max: Exponent) -> Node:
    """The shift distance e_max - exponent, unsigned."""
    low, high = min(exponent.low, e_max.low), max(exponent.high, e_max.high)
    return g.sub_mod(e_max.rebased(g, low, high), exponent.rebased(g, low, high))


def shift_to(g: Graph, exponent: Exponent, e_max: Exponent) -> Node:
    """The shift distance e_max - exponent, for an exponent that took part in the maximum."""
    low, high = min(exponent.low, e_max.low), max(exponent.high, e_max.high)
    g.invariant(
        lambda: g.ule(exponent.rebased(g, low, high), e_max.rebased(g, low, high)),
        "no exponent that takes part in e_max lies above it",
    )
    return distance_below(g, exponent, e_max)


def lowered(term: Term, by: int) -> Term:
    """An equal term with its exponent lowered by `by` and as many bits more above the binary point."""
    return replace(term, exponent=term.exponent.shifted(-by), fraction_bits=term.fraction_bits - by)


def align(g: Graph, term: Term, distance: Node, fraction_bits: int, rounding: str | Choice) -> Node:
    """The aligned magnitude of a term at e_max, rounded to `fraction_bits` by a mode for the signed term.

    Shapes: significand u[n], distance u[any] -> u[fraction_bits + weight bits (+ 1 unless RZ)].
    Ranges and units: the result counts units of 2^(e_max - fraction_bits).
    Zero: a zero gives 0.
    Source: XIE Algorithm 7, step 2 (RZ_F), and Algorithm 10 (RD_F).
    """
    x = g.shift_left_const(term.significand, max(0, fraction_bits - term.fraction_bits))
    excess = max(0, term.fraction_bits - fraction_bits)
    if isinstance(rounding, str) and rounding == "RZ":
        return g.lshr(g.truncate_low(x, excess), distance)
    x, excess = g.shift_left_const(x, 1), excess + 1
    shifted, lost = shift_right_sticky(g, x, distance)
    kept, guard, sticky = drop_low_bits(g, shifted, excess)
    away = round_away(g, rounding, term.sign, g.bit(kept, 0), guard, g.or_(sticky, lost))
    return g.add_expand(kept, away)


def cuts_off(g: Graph, term: Term, distance: Node, fraction_bits: int) -> Node:
    """Whether truncation in `align` loses a 1 of a term: u[1]."""
    x = g.shift_left_const(term.significand, max(0, fraction_bits - term.fraction_bits))
    excess = max(0, term.fraction_bits - fraction_bits)
    _, below = shift_right_sticky(g, g.truncate_low(x, excess), distance)
    return g.or_(below, g.any_bit(g.extract(x, excess - 1, 0))) if excess else below


def align_sticky(g: Graph, term: Term, distance: Node, fraction_bits: int) -> Node:
    """The aligned magnitude at e_max with all lost bits OR-ed into the lowest one (two-term exact sums).

    Shapes and units as in `align`; fraction_bits is at least the term's own.
    """
    x = g.shift_left_const(term.significand, fraction_bits - term.fraction_bits)
    shifted, lost = shift_right_sticky(g, x, distance)
    return g.or_(shifted, g.zero_extend_to(lost, shifted.width))


def all_of(g: Graph, nodes: Sequence[Node]) -> Node:
    """The node that is 1 where every node is 1."""
    return fold(lambda x, y: g.and_(x, y), nodes)


def any_of(g: Graph, nodes: Sequence[Node]) -> Node:
    """The node that is 1 where some node is 1."""
    return fold(lambda x, y: g.or_(x, y), nodes)
