"""Normalisation: a logarithmic shifter moves the leading one to the top."""

from __future__ import annotations

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent, Term, bits_for


def shift_left_by_leading_zeros(g: Graph, x: Node, limit: Node | None = None) -> tuple[Node, Node]:
    """Shift x left until its top bit is 1 or `limit` is reached.

    Shapes: x u[n], limit u[any] or None -> shifted u[n], distance u[⌈log2 n⌉].
    Ranges and units: distance = min(leading zeros of x, limit), in bits; nothing is lost.
    Zero, NaN, Inf: where x is 0 the distance is min(2^⌈log2 n⌉ - 1, limit).

    Each stage tests whether the top 2^i bits are zero; the limit is obeyed bit by bit, because the
    distances that are allowed form an interval from 0: once a stage that the limit allows is not
    taken, every lower stage is free.
    """
    if x.width == 1:
        return x, g.const(0, 1)
    stages = [1 << i for i in reversed(range(bits_for(x.width - 1)))]
    if limit is not None:
        limit = _saturate(g, limit, len(stages))
    free: Node | None = None
    taken = []
    for i, amount in enumerate(stages):
        go = g.is_zero(g.extract(x, x.width - 1, x.width - amount))
        if limit is not None:
            permitted = g.bit(limit, len(stages) - 1 - i)
            allowed = permitted if free is None else g.or_(free, permitted)
            skipped = g.and_(permitted, g.not_(go))
            free = skipped if free is None else g.or_(free, skipped)
            go = g.and_(go, allowed)
        moved = g.concat(g.extract(x, x.width - amount - 1, 0), g.const(0, amount))
        x = g.ite(go, moved, x)
        taken.append(go)
    return x, g.concat(taken[0], *taken[1:])


def _saturate(g: Graph, x: Node, width: int) -> Node:
    """A number clamped to u[width]: all ones where it does not fit."""
    if x.width <= width:
        return g.zero_extend_to(x, width)
    over = g.any_bit(g.extract(x, x.width - 1, width))
    return g.ite(over, g.const((1 << width) - 1, width), g.extract(x, width - 1, 0))


def normalise_term(g: Graph, term: Term) -> Term:
    """An equal term with its significand normalised to [1, 2).

    Shapes: significand u[n] -> u[n]; the exponent's range grows downwards by n - 1.
    Zero, NaN, Inf: a zero stays zero and keeps the exponent that its encoding had.
    Source: VALPEY Algorithm 1 (products are fp32 numbers before they are aligned).
    """
    n = term.significand.width
    shifted, distance = shift_left_by_leading_zeros(g, term.significand)
    top = term.exponent.shifted(term.weight_bits - 1)
    reach = (1 << distance.width) - 1
    low = min(top.low - reach, term.exponent.low)
    high = max(top.high, term.exponent.high)
    code = Exponent(top.bits, top.low, top.high).rebased(g, low, high)
    moved = g.sub_mod(code, g.zero_extend_to(distance, code.width))
    own = term.exponent.rebased(g, low, high)
    g.invariant(lambda: g.or_(term.zero, g.top(shifted)), "a significand that is not zero is normalised")
    g.invariant(
        lambda: g.or_(term.zero, g.ule(g.zero_extend_to(distance, code.width), code)),
        "a term that is not zero is shifted no further than the exponent's range",
    )
    exponent = Exponent(g.ite(term.zero, own, moved), low, high)
    return Term(term.sign, shifted, exponent, n - 1, term.zero)
