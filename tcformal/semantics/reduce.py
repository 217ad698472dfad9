"""Reduce: the sum of aligned terms, with the special cases beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import (
    align,
    align_sticky,
    all_of,
    any_of,
    distance_below,
    effective_exponents,
    largest_exponent,
)
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.round import convert


@dataclass(frozen=True, slots=True)
class Sum:
    """A finite sum before it is rounded.

    Shapes: sign u[1], magnitude u[n].
    Ranges and units: value = (-1)^sign · magnitude · 2^lsb.
    """

    sign: Node
    magnitude: Node
    lsb: Exponent


def fused_sum(g: Graph, numbers: Sequence[Number], design: Design, target: Conversion) -> Number:
    """Sum numbers in one step and convert the sum [XIE ρ(S·2^e_max)].

    Shapes: two or more numbers -> one number in `target`.
    Zero, NaN, Inf: NaN where an operand is NaN or infinities of both signs meet; else Inf where
    one is Inf; a zero result has the sign that design.zero_sign says.
    Source: XIE Algorithm 7 and §4.2; VALPEY Algorithm 1.
    """
    total = _finite_sum(g, [x.term for x in numbers], design, target)
    rounded = convert(g, total.sign, total.magnitude, total.lsb, target, overflow=design.overflow)
    return _with_specials(g, numbers, rounded, design)


def convert_number(g: Graph, x: Number, design: Design, target: Conversion) -> Number:
    """Round one number to `target` on its own (the rounding of a product); specials pass through."""
    term = x.term
    lsb = term.exponent.shifted(-term.fraction_bits)
    rounded = convert(g, term.sign, term.significand, lsb, target, overflow=design.overflow)
    return _with_specials(g, [x], rounded, design)


def _with_specials(g: Graph, operands: Sequence[Number], rounded: Number, design: Design) -> Number:
    """Wrap the finite core: NaN, then Inf, then overflow, then the sign of zero."""
    positive = any_of(g, [g.and_(x.inf, g.not_(x.term.sign)) for x in operands])
    negative = any_of(g, [g.and_(x.inf, x.term.sign) for x in operands])
    nan = g.or_(any_of(g, [x.nan for x in operands]), g.and_(positive, negative))
    infinite = g.or_(positive, negative)
    inf = g.and_(g.or_(infinite, rounded.inf), g.not_(nan))
    sign = rounded.term.sign
    if design.zero_sign == "positive":
        sign = g.and_(sign, g.not_(rounded.term.zero))
    sign = g.ite(infinite, negative, sign)
    zero = g.and_(rounded.term.zero, g.not_(g.or_(infinite, nan)))
    g.label("nan", nan)
    g.label("inf", inf)
    return Number(replace(rounded.term, sign=sign, zero=zero), nan, inf)


def _finite_sum(g: Graph, terms: Sequence[Term], design: Design, target: Conversion) -> Sum:
    """Align, add and take the magnitude."""
    exact = design.fraction_bits is None
    if design.normalise_products or exact:
        terms = [normalise_term(g, t) for t in terms]
    exponents = effective_exponents(g, terms, design.zero_exponent)
    e_max = largest_exponent(g, exponents)
    g.label("e_max", e_max.bits, offset=e_max.low)
    distances = [distance_below(g, e, e_max) for e in exponents]

    if design.fraction_bits is not None:
        fraction_bits = design.fraction_bits
        aligned = [
            align(g, t, d, fraction_bits, design.alignment_rounding)
            for t, d in zip(terms, distances, strict=True)
        ]
    elif len(terms) == 2:
        # Two normalised terms: guard, round and sticky below max(n, p) bits decide every rounding.
        fraction_bits = max(*(t.significand.width for t in terms), target.precision) + 2
        aligned = [align_sticky(g, t, d, fraction_bits) for t, d in zip(terms, distances, strict=True)]
    else:
        fraction_bits = e_max.high - min(t.exponent.low - t.fraction_bits for t in terms)
        aligned = [align(g, t, d, fraction_bits, "RZ") for t, d in zip(terms, distances, strict=True)]

    for k, (term, distance, kept) in enumerate(zip(terms, distances, aligned, strict=True)):
        with g.scope(f"term{k}"):
            _label_term(g, term, distance, kept, fraction_bits)
    return _add(g, terms, aligned, e_max, fraction_bits, design, target)


def _label_term(g: Graph, term: Term, distance: Node, kept: Node, fraction_bits: int) -> None:
    g.label("sign", term.sign)
    g.label("significand", term.significand, scale=term.fraction_bits)
    g.label("exponent", term.exponent.bits, offset=term.exponent.low)
    g.label("zero", term.zero)
    g.label("distance", distance)
    g.label("aligned", kept, scale=fraction_bits)


def _add(
    g: Graph,
    terms: Sequence[Term],
    aligned: Sequence[Node],
    e_max: Exponent,
    fraction_bits: int,
    design: Design,
    target: Conversion,
) -> Sum:
    """The two's complement sum of the signed aligned terms, wrapped where the design bounds it.

    Ranges and units: |sum| is at most the sum of the largest aligned magnitudes; with carry_bits
    the sum is reduced to 1 + (1 + carry_bits + fraction_bits) bits, sign included.
    Source: XIE Algorithm 7, line 11 (exact); VALPEY §4.3 (carry-out bits).
    """
    largest = sum(_largest_magnitude(t, x, fraction_bits) for t, x in zip(terms, aligned, strict=True))
    exact_width = largest.bit_length() + 1
    width = exact_width
    if design.carry_bits is not None:
        width = 2 + design.carry_bits + fraction_bits
    addends = []
    for term, x in zip(terms, aligned, strict=True):
        wide = g.zero_extend_to(x, x.width + 1)
        signed = g.ite(term.sign, g.neg_mod(wide), wide)
        addends.append(g.wrap_to_mod(signed, width))
    while len(addends) > 1:
        pairs = [g.add_mod(addends[i], addends[i + 1]) for i in range(0, len(addends) - 1, 2)]
        addends = pairs + addends[2 * len(pairs) :]
    # A magnitude of a whole number of bytes: designs whose sums differ by a carry bit or two then share
    # one normaliser, which turns most equality proofs into a question about the sum's top bits.
    total = g.wrap_to_mod(addends[0], 1 + 8 * -(-(max(width, exact_width) - 1) // 8))
    g.label("sum", total, signed=True, scale=fraction_bits)

    negative = g.top(total)
    magnitude = g.extract(g.ite(negative, g.neg_mod(total), total), total.width - 2, 0)
    sign = negative
    if design.zero_sign == "ieee":
        signs = [t.sign for t in terms]
        minus = any_of(g, signs) if target.mode == "RD" else all_of(g, signs)
        sign = g.ite(g.is_zero(total), minus, negative)
    return Sum(sign, magnitude, e_max.shifted(-fraction_bits))


def _largest_magnitude(term: Term, aligned: Node, fraction_bits: int) -> int:
    """The largest aligned magnitude: a full significand at distance 0, plus one for rounding up."""
    full = (1 << term.significand.width) - 1
    grown = full << fraction_bits >> term.fraction_bits
    return min(grown + 1, (1 << aligned.width) - 1)
