"""Sums that are exact up to their rounding, computed in windows of bounded width.

A sum of n floating-point terms can need several hundred bits, but its rounding depends on fewer.  Two terms
need guard, round and sticky bits.  Three terms need windows, between which a wide gap may be shortened,
because far lower terms act only as a sticky bit.  Products of a narrow format fit one fixed window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import align_sticky, distance_below, effective_exponents, largest, shift_to
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.reduce import (
    add_signed,
    align_all,
    shifted_up,
    signed_magnitude,
    split_sign,
    sum_of_aligned,
)
from tcformal.semantics.round import clamp
from tcformal.semantics.stages import AlignedTerm, Total

#: Widest fixed window in which a sum of products is kept whole.
FIXED_WINDOW = 160


def exact_total(g: Graph, terms: Sequence[Term], precision: int) -> Total:
    """A sum whose rounding to `precision` bits equals that of the exact sum, in every mode.

    Shapes: one or more terms -> one total.
    Ranges and units: where bits are cut, the total's lowest bit stands for them (sticky).
    Source: XIE Algorithm 3 (FMA) and Algorithm 6 (E-FDPA).
    """
    members: list[tuple[int, ...]] = [(i,) for i in range(len(terms))]
    if len(terms) > 2:
        *products, c = terms
        if fixed_width(products) <= FIXED_WINDOW:
            terms = [fixed_sum(g, products), c]
            members = [tuple(range(len(products))), (len(products),)]
        elif len(terms) == 3:
            return three_windows(g, terms, precision).total
        else:
            return _wide(g, terms)
    normal = [normalise_term(g, t) for t in terms]
    exponents = effective_exponents(g, normal, "none")
    e_max, maximum = largest(g, exponents)
    g.label("e_max", e_max.bits, offset=e_max.low)
    # Normalised terms: two bits and a sticky one below max(n, p) bits decide every rounding.
    bits = max(*(t.significand.width for t in normal), precision) + 2
    aligned = []
    for term, exponent in zip(normal, exponents, strict=True):
        shift = shift_to(g, exponent, e_max)
        aligned.append((shift, align_sticky(g, term, shift, bits)))
    return sum_of_aligned(g, normal, aligned, e_max, bits, maximum=maximum, members=members)


def lowest_weight(terms: Sequence[Term]) -> int:
    """The least exponent of any bit in some terms."""
    return min(t.exponent.low - t.fraction_bits for t in terms)


def fixed_width(terms: Sequence[Term]) -> int:
    """The width of a fixed window for all terms and their sum."""
    top = max(t.exponent.high + t.weight_bits for t in terms)
    return top - lowest_weight(terms) + len(terms).bit_length()


def fixed_sum(g: Graph, terms: Sequence[Term]) -> Term:
    """The exact sum of terms in one fixed window, as a term.

    Shapes: significands u[n] -> u[window].
    Zero: `zero` is 1 where the sum is 0; its sign is + unless every term is negative.
    """
    total, _ = _in_window(g, terms)
    sign, magnitude = split_sign(g, total)
    zero = g.is_zero(total)
    all_negative = g.and_(*(t.sign for t in terms))
    lowest = lowest_weight(terms)
    constant = Exponent(g.const(0, 1), lowest, lowest)
    return Term(g.ite(zero, all_negative, sign), magnitude, constant, 0, zero)


def window_total(g: Graph, terms: Sequence[Term]) -> Total:
    """The exact sum of terms in one fixed window of any width."""
    total, placed = _in_window(g, terms)
    top, lowest = max(t.exponent.high for t in terms), lowest_weight(terms)
    e_max = Exponent(g.const(0, 1), top, top)
    rows = []
    for i, (t, x) in enumerate(zip(terms, placed, strict=True)):
        distance = distance_below(g, t.exponent, e_max)
        rows.append(AlignedTerm((i,), t, distance, distance, x))
    g.label("sum", total, signed=True, scale=top - lowest)
    return Total(total, e_max, top - lowest, terms=tuple(rows))


def _in_window(g: Graph, terms: Sequence[Term]) -> tuple[Node, list[Node]]:
    """The exact sum of terms, and their magnitudes, in units of their lowest possible weight."""
    lowest = lowest_weight(terms)
    width = fixed_width(terms)
    magnitudes, addends = [], []
    for t in terms:
        placed = g.zero_extend_to(t.significand, max(width, t.significand.width))
        up = t.exponent.shifted(-t.fraction_bits).rebased(g, lowest, t.exponent.high)
        magnitudes.append(shifted_up(g, placed, up))
        addends.append(signed_magnitude(g, t.sign, magnitudes[-1]))
    return add_signed(g, addends, width + 2), magnitudes


def _wide(g: Graph, terms: Sequence[Term]) -> Total:
    """The exact sum aligned at e_max, in as many bits as the formats require."""
    exponents = effective_exponents(g, terms, "none")
    e_max, maximum = largest(g, exponents)
    g.label("e_max", e_max.bits, offset=e_max.low)
    bits = e_max.high - lowest_weight(terms)
    aligned = align_all(g, terms, exponents, e_max, bits, "RZ")
    return sum_of_aligned(g, terms, aligned, e_max, bits, maximum=maximum)


@dataclass(frozen=True, slots=True)
class ThreeWindows:
    """Three terms in descending order of exponents, with wide gaps between them shortened.

    Shapes: rows: exponent's code, sign, significand u[n] of each term; swaps: which two rows each comparison
    exchanges, the comparison u[1], and all rows after it; gaps: the true distances of the second and third
    exponent from the one before; one, two: the same, bounded by `gap_one` and `gap_two`; addends: magnitudes
    in the window; upper s[w]: the sum of the first two; cut: what was taken off the second gap; lost: the
    same where `upper` is 0, else 0.
    Ranges and units: exponent = code + low, at most `high`.
    """

    first_rows: tuple[tuple[Node, Node, Node], ...]
    swaps: tuple[tuple[int, int, Node, tuple[tuple[Node, Node, Node], ...]], ...]
    low: int
    high: int
    gap_one: int
    gap_two: int
    gaps: tuple[Node, Node]
    one: Node
    two: Node
    addends: tuple[Node, Node, Node]
    upper: Node
    cut: Node
    lost: Node
    total: Total


def three_windows(g: Graph, terms: Sequence[Term], precision: int) -> ThreeWindows:
    """Sort three terms by exponent, and shorten the gaps between them to what rounding can observe.

    Below a non-zero x, a y further down than `gap_one` only nudges x; below a non-zero x + y, a z
    further down than `gap_two` only nudges that.  Where x + y is 0 the result is z, and the true
    gap is taken off the exponent of the lowest bit.
    """
    n = max(precision, *(t.significand.width for t in terms))
    normal = [_padded(g, normalise_term(g, t), n) for t in terms]
    exponents = effective_exponents(g, normal, "none")
    low, high = min(e.low for e in exponents), max(e.high for e in exponents)
    rows = [(e.rebased(g, low, high), t.sign, t.significand) for e, t in zip(exponents, normal, strict=True)]
    first_rows, swaps = tuple(rows), []
    for i, j in ((0, 1), (1, 2), (0, 1)):
        swap = g.ult(rows[i][0], rows[j][0])
        pairs = list(zip(rows[i], rows[j], strict=True))
        first = [g.ite(swap, q, p) for p, q in pairs]
        second = [g.ite(swap, p, q) for p, q in pairs]
        rows[i], rows[j] = (first[0], first[1], first[2]), (second[0], second[1], second[2])
        swaps.append((i, j, swap, tuple(rows)))
    e = [row[0] for row in rows]
    g.invariant(
        lambda: g.and_(g.ule(e[1], e[0]), g.ule(e[2], e[1])), "three exponents are in descending order"
    )

    gap_one, gap_two = max(n, precision + 2) + 4, n + precision + 3
    true_one = g.sub_mod(rows[0][0], rows[1][0])
    one = clamp(g, true_one, gap_one)
    true_two = g.sub_mod(rows[1][0], rows[2][0])
    two = clamp(g, true_two, gap_two)
    down = [None, one, g.add_expand(one, two)]
    aligned, addends = [], []
    for (_, sign, significand), distance in zip(rows, down, strict=True):
        placed = g.shift_left_const(significand, gap_one + gap_two)
        aligned.append(placed if distance is None else g.lshr(placed, distance))
        addends.append(signed_magnitude(g, sign, aligned[-1]))
    width = n + gap_one + gap_two + 3
    upper = add_signed(g, addends[:2], width)
    total = add_signed(g, [upper, addends[2]], width)
    g.label("sum", total, signed=True, scale=n - 1 + gap_one + gap_two)

    cut = g.sub_mod(true_two, g.zero_extend_to(two, true_two.width))
    lost = g.ite(g.is_zero(upper), cut, g.const(0, cut.width))
    e_max = Exponent(rows[0][0], low, high)
    lowered = g.sub_mod(e_max.rebased(g, 2 * low - high, high), _to(g, lost, e_max, low, high))
    moved = Exponent(lowered, 2 * low - high, high)
    g.label("e_max", moved.bits, offset=moved.low)
    return ThreeWindows(
        first_rows, tuple(swaps), low, high, gap_one, gap_two, (true_one, true_two), one, two,
        (aligned[0], aligned[1], aligned[2]), upper, cut, lost,
        Total(total, moved, n - 1 + gap_one + gap_two),
    )  # fmt: skip


def _to(g: Graph, x: Node, e: Exponent, low: int, high: int) -> Node:
    """A node zero-extended to the width of e's code with the lower offset."""
    return g.zero_extend_to(x, e.rebased(g, 2 * low - high, high).width)


def _padded(g: Graph, term: Term, n: int) -> Term:
    """A normalised term with its significand padded to n bits."""
    pad = n - term.significand.width
    wide = g.shift_left_const(term.significand, pad)
    return Term(term.sign, wide, term.exponent, term.fraction_bits + pad, term.zero)
