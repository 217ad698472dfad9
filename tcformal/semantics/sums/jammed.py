"""Sums of terms that remember the bits that alignment cuts off: Esperanto ET-SoC-1's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import align, any_of, cuts_off, shift_to
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.reduce import sum_of_aligned
from tcformal.semantics.stages import Lost, Maximum, Total


def jammed_total(
    g: Graph,
    terms: Sequence[Term],
    exponents: Sequence[Exponent],
    e_max: Exponent,
    bits: int,
    maximum: Maximum,
) -> Total:
    """The sum of terms, cut so that a conversion toward zero cuts it once more in the same direction.

    Shapes: terms: the products and c; the largest is c, or else the first product, among equal exponents.
    Ranges and units: units of 2^(e_max - bits), signs counted from the largest term's: the terms rounded down
    have a sum M, and where bits were lost the whole lies 1/8 above M, or 5/8 where the last term is of the
    other sign and lost some; the result is that cut toward zero, and -1, 0 or 1, the nearest, within (-1, 1).
    Zero: a sum that is nothing but lost bits is 0, and has their sign under zero_sign `ieee`.
    Source: Esperanto emulator, fpu/tensors.cpp, f32_add3.
    """
    c = len(terms) - 1
    is_first = _largest_first(g, terms, exponents, e_max)
    frame = g.truth(False)
    for term, chosen in zip(terms, is_first, strict=True):
        frame = g.or_(frame, g.and_(chosen, term.sign))
    others = [g.xor(term.sign, frame) for term in terms]
    aligned, lost = [], []
    for term, exponent, other in zip(terms, exponents, others, strict=True):
        shift = shift_to(g, exponent, e_max)
        kept = align(g, term, shift, bits, "RZ")
        below = cuts_off(g, term, shift, bits)
        lost.append(below)
        aligned.append((shift, g.add_expand(kept, g.and_(below, other))))
    total = sum_of_aligned(g, terms, aligned, e_max, bits, maximum=maximum)
    some = any_of(g, lost)
    last = g.ite(is_first[c], g.and_(lost[0], others[0]), g.and_(lost[c], others[c]))

    whole = total.bits
    width = whole.width
    zero, one, minus = g.is_zero(whole), g.eq(whole, g.const(1, width)), g.is_zero(g.not_(whole))
    positive = g.not_(g.or_(zero, g.top(whole)))
    below = g.ite(frame, positive, g.top(whole))
    unit_below = g.ite(frame, one, minus)
    up = g.and_(some, g.ite(g.or_(zero, unit_below), last, below))
    step = g.ite(frame, g.const((1 << width) - 1, width), g.const(1, width))
    moved = g.add_mod(whole, g.ite(up, step, g.const(0, width)))
    g.label("jammed", moved, signed=True, scale=bits)
    return replace(total, bits=moved, moved_by="lost bits", lost=Lost(some, g.xor(frame, below)))


def _largest_first(
    g: Graph, terms: Sequence[Term], exponents: Sequence[Exponent], e_max: Exponent
) -> list[Node]:
    """For every term whether it is the largest: c, or else the first product, at e_max; no zero is."""
    found, none = [g.truth(False)] * len(terms), g.truth(True)
    for i in (len(terms) - 1, *range(len(terms) - 1)):
        at_top = g.and_(g.is_zero(shift_to(g, exponents[i], e_max)), g.not_(terms[i].zero))
        found[i] = g.and_(none, at_top)
        none = g.and_(none, g.not_(at_top))
    return found
