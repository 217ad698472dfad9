"""Reduction: the sum of aligned terms, in two's complement or sign-magnitude, exact or wrapped."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import align, all_of, any_of, distance_below, shift_to
from tcformal.semantics.choice import Choice, OpenCarry, by_choice, chosen
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.stages import AlignedTerm, Maximum, PartialSum, Total

Summand = TypeVar("Summand")


def add_signed(g: Graph, addends: Sequence[Node], width: int) -> Node:
    """The sum of two's complement addends modulo 2^width, in a balanced tree; exact where it fits."""
    return _balanced([g.wrap_to_mod(x, width) for x in addends], g.add_mod)


def _balanced(level: list[Summand], add: Callable[[Summand, Summand], Summand]) -> Summand:
    """A balanced tree of additions; an odd element passes to the next level."""
    while len(level) > 1:
        pairs = [add(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]


def add_sign_magnitude(g: Graph, x: tuple[Node, Node], y: tuple[Node, Node]) -> tuple[Node, Node]:
    """The exact sum of two sign-magnitude numbers.

    Shapes: (sign u[1], magnitude u[n]), (u[1], u[m]) -> (u[1], u[max(n, m) + 1]).
    Zero: the larger magnitude gives the sign, the first one where they are equal: a zero has either sign.
    Source: the textbook adder, which compares, then adds or subtracts the smaller from the larger.
    """
    width = max(x[1].width, y[1].width) + 1
    (one, p), (other, q) = ((sign, g.zero_extend_to(magnitude, width)) for sign, magnitude in (x, y))
    same, larger = g.eq(one, other), g.ule(q, p)
    difference = g.ite(larger, g.sub_mod(p, q), g.sub_mod(q, p))
    return g.ite(g.or_(same, larger), one, other), g.ite(same, g.add_mod(p, q), difference)


def shifted_up(g: Graph, x: Node, amount: Node) -> Node:
    """The product x · 2^amount in a window that holds it: u[n] -> u[n]."""
    placed = g.shl_mod(x, amount)
    g.invariant(lambda: g.eq(g.lshr(placed, amount), x), "a term placed in its window loses no bits")
    return placed


def signed_magnitude(g: Graph, sign: Node, magnitude: Node) -> Node:
    """Two's complement of a sign-magnitude number, one bit wider: exact."""
    wide = g.zero_extend_to(magnitude, magnitude.width + 1)
    return g.ite(sign, g.neg_mod(wide), wide)


def _complemented(g: Graph, other: Node, magnitude: Node) -> Node:
    """The magnitude, or where `other` its one's complement -magnitude - 1: u[n] -> s[n + 1]."""
    wide = g.zero_extend_to(magnitude, magnitude.width + 1)
    return g.ite(other, g.not_(wide), wide)


def split_sign(g: Graph, total: Node) -> tuple[Node, Node]:
    """Sign and magnitude of s[w] with a magnitude below 2^(w-1): (u[1], u[w-1])."""
    negative = g.top(total)
    g.invariant(
        lambda: g.not_(g.and_(negative, g.is_zero(g.extract(total, total.width - 2, 0)))),
        "a sum is not the lowest number of its width, which has no magnitude",
    )
    magnitude = g.ite(negative, g.neg_mod(total), total)
    return negative, g.extract(magnitude, total.width - 2, 0)


def sum_of_aligned(
    g: Graph,
    terms: Sequence[Term],
    aligned: Sequence[tuple[Node, Node]],
    e_max: Exponent,
    fraction_bits: int,
    carry_bits: int | OpenCarry | None = None,
    accumulation: str = "twos_complement",
    maximum: Maximum | None = None,
    members: Sequence[tuple[int, ...]] = (),
    up: int = 1,
) -> Total:
    """The two's complement sum of signed aligned terms, wrapped where the design limits its width.

    Shapes: aligned: each term's shift and its magnitude u[n_k] -> s[w], w one more than a multiple of 8;
    members: the operands that each term stands for, itself unless given; up: units by which a magnitude may
    exceed its term's.
    Ranges and units: units of 2^(e_max - fraction_bits); |sum| is at most the sum of the largest
    aligned magnitudes; with carry_bits the sum is reduced to 1 + (1 + carry_bits + fraction_bits)
    bits, sign included, and grown by its sign or cut back to the bits that the largest sum needs.
    Under `sign_magnitude` the partial sums are signs and magnitudes, each a bit wider than its operands,
    and only their total is converted.  Under `ones_complement` signs are counted from the last term's, a term
    of the other sign adds its complement, and the sum is 0 where all terms are zeros.
    Labels: partial0, partial1, … are the partial sums of the tree in two's complement.
    Source: XIE Algorithm 7, line 11 (exact); VALPEY §4.3 (carry-out bits).
    """
    largest = sum(
        _largest_magnitude(t, x, fraction_bits, up) for t, (_, x) in zip(terms, aligned, strict=True)
    )
    if accumulation == "ones_complement":
        largest += len(terms) - 1
    exact_width = largest.bit_length() + 1
    width = 2 + carry_bits + fraction_bits if isinstance(carry_bits, int) else exact_width
    pairs = [(t.sign, x) for t, (_, x) in zip(terms, aligned, strict=True)]
    total, partials = _accumulated(g, pairs, width, fraction_bits, accumulation)
    if accumulation == "ones_complement":
        total = g.ite(all_of(g, [t.zero for t in terms]), g.const(0, width), total)
    # No sum needs more bits than that: what lies above them is cut off again.
    if width > exact_width:
        wide, total = total, g.wrap_to_mod(total, exact_width)
        g.invariant(
            lambda: g.eq(g.sign_extend_to(total, width), wide), "what is cut off a sum are copies of its sign"
        )
    if width >= exact_width:
        summed = total
        g.invariant(
            lambda: _within(g, summed, largest),
            "a sum of aligned terms is at most the sum of their largest magnitudes",
        )
    if isinstance(carry_bits, OpenCarry):
        total = _wrapped(g, total, carry_bits.width)
    # A magnitude of a whole number of bytes: designs whose sums differ by a carry bit or two then share
    # one normaliser, which turns most equality proofs into a question about the sum's top bits.
    total = g.wrap_to_mod(total, 1 + 8 * -(-(exact_width - 1) // 8))
    g.label("sum", total, signed=True, scale=fraction_bits)
    made = []
    for k, (term, (shift, kept)) in enumerate(zip(terms, aligned, strict=True)):
        with g.scope(f"term{k}"):
            g.label("sign", term.sign)
            g.label("significand", term.significand, scale=term.fraction_bits)
            g.label("exponent", term.exponent.bits, offset=term.exponent.low)
            g.label("zero", term.zero)
            g.label("aligned", kept, scale=fraction_bits)
            distance = g.label("distance", distance_below(g, term.exponent, e_max))
            g.invariant(
                functools.partial(_met, g, term, distance, shift),
                "a term that is not zero is shifted by its distance",
            )
        made.append(AlignedTerm(members[k] if members else (k,), term, distance, shift, kept))
    moved_by = "complements" if accumulation == "ones_complement" else ""
    return Total(total, e_max, fraction_bits, maximum, tuple(made), tuple(partials), moved_by)


def _wrapped(g: Graph, total: Node, bits: Node) -> Node:
    """A sum wrapped to `bits` bits, sign included, and sign-extended again."""
    width = g.const(total.width, max(bits.width, total.width.bit_length()))
    wide = g.zero_extend_to(bits, width.width)
    cut = g.ite(g.ult(wide, width), g.sub_mod(width, wide), g.const(0, width.width))
    return g.ashr(g.shl_mod(total, cut), cut)


def _accumulated(
    g: Graph, pairs: list[tuple[Node, Node]], width: int, fraction_bits: int, accumulation: str
) -> tuple[Node, list[PartialSum]]:
    """The sum of sign-magnitude terms modulo 2^width, with every partial sum."""
    made: list[PartialSum] = []

    def converted(x: tuple[Node, Node]) -> Node:
        return g.wrap_to_mod(signed_magnitude(g, *x), width)

    def partial(total: Node, *of: Node) -> Node:
        made.append(PartialSum(total, of))
        return g.label(f"partial{len(made) - 1}", total, signed=True, scale=fraction_bits)

    if accumulation == "sign_magnitude":

        def step(x: tuple[Node, Node], y: tuple[Node, Node]) -> tuple[Node, Node]:
            total = add_sign_magnitude(g, x, y)
            partial(converted(total))
            return total

        return converted(_balanced(pairs, step)), made
    if accumulation == "ones_complement":
        frame = pairs[-1][0]
        framed = [g.wrap_to_mod(_complemented(g, g.xor(sign, frame), x), width) for sign, x in pairs]
        total = _balanced(framed, lambda x, y: partial(g.add_mod(x, y), x, y))
        return g.ite(frame, g.neg_mod(total), total), made
    addends = [signed_magnitude(g, *x) for x in pairs]
    wrapped = [g.wrap_to_mod(x, width) for x in addends]
    return _balanced(wrapped, lambda x, y: partial(g.add_mod(x, y), x, y)), made


def _within(g: Graph, x: Node, most: int) -> Node:
    """The node that is 1 where a two's complement number lies within ±most."""
    top = g.const(most, x.width)
    return g.and_(g.sle(x, top), g.sle(g.neg_mod(top), x))


def _met(g: Graph, term: Term, distance: Node, shift: Node) -> Node:
    """The node that is 1 where a term is zero, or both distances are equal."""
    width = max(distance.width, shift.width)
    return g.or_(term.zero, g.eq(g.zero_extend_to(distance, width), g.zero_extend_to(shift, width)))


def _largest_magnitude(term: Term, aligned: Node, fraction_bits: int, more: int) -> int:
    """The largest possible aligned magnitude: a full significand at distance 0, and more for rounding up."""
    full = (1 << term.significand.width) - 1
    up = fraction_bits - term.fraction_bits
    grown = full << up if up >= 0 else full >> -up
    return min(grown + more, (1 << aligned.width) - 1)


def align_all(
    g: Graph,
    terms: Sequence[Term],
    exponents: Sequence[Exponent],
    e_max: Exponent,
    bits: int,
    rounding: str | Choice,
) -> list[tuple[Node, Node]]:
    """The shift distance of each term to e_max, and its magnitude there, cut to `bits` fraction bits."""
    aligned = []
    for term, exponent in zip(terms, exponents, strict=True):
        shift = shift_to(g, exponent, e_max)
        aligned.append((shift, align(g, term, shift, bits, rounding)))
    return aligned


def sign_of_zero(
    g: Graph, total: Node, negative: Node, signs: Sequence[Node], mode: str | Choice, rule: str | Choice
) -> Node:
    """The sign of a sum, with the design's rule for a zero sum.

    Zero: `ieee`: -0 where all signs are negative, or, rounding down, where some is; else the sum's
    own sign, + for zero.
    Source: IEEE 754 §6.3.
    """
    if isinstance(rule, str) and rule != "ieee":
        return negative
    minus = by_choice(g, mode, lambda known: any_of(g, signs) if known == "RD" else all_of(g, signs))
    none = g.is_zero(total)
    return g.ite(none if isinstance(rule, str) else g.and_(none, chosen(g, rule, "ieee")), minus, negative)
