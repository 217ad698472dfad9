"""CDNA3's sums (TR-FDPA, GTR-FDPA), c added with rounding down or to zero: a file for a vendor's own sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import align, largest_exponent, shift_to
from tcformal.semantics.number import Number, finite
from tcformal.semantics.reduce import add_signed, signed_magnitude, split_sign
from tcformal.semantics.stages import Floored, Summed, Total
from tcformal.semantics.sums.step import convert_number, round_total, truncated_total


@dataclass(frozen=True, slots=True)
class RoundedDown:
    """One block of TR-FDPA or GTR-FDPA: product sums by scope, the sum with c, its floor, the result.

    The floor is None where only the two addends are rounded down.
    """

    products: tuple[tuple[str, Total], ...]
    total: Total
    floor: Summed | None
    last: Summed


def rounded_down_sum(g: Graph, products: Sequence[Number], c: Number, design: Design) -> RoundedDown:
    """Build one block of TR-FDPA or GTR-FDPA.

    Shapes: L products and c -> one number in the design's conversion.
    Ranges and units: with E the larger of the products' e_max and c's exponent, the products' sum
    is floored to F_2 + 1 fraction bits at E and c to F fraction bits; their sum is normalised
    (minimum exponent e_min), floored to F_2 fraction bits and rounded by the conversion.  With
    sum_rounding RZ each of the three cuts drops bits of the magnitude instead; with RD_ADDENDS the
    products' sum keeps F_2 fraction bits, and the sum with c goes to the conversion as it is.
    Zero, NaN, Inf: zero products have no exponent; where all are zero, E is c's exponent.
    Source: XIE Algorithms 10 and 11 as printed: RD_ADDENDS; §6.2.4 for RZ; MMA-Sim 2.1.1: RD (F_2 + 1, the
    floor before the conversion).
    """
    if design.fraction_bits is None or design.sum_fraction_bits is None:
        raise InputError("expected fraction_bits and sum_fraction_bits for summation tr and gtr")
    addends_only = design.sum_rounding == "RD_ADDENDS"
    bits, wide = design.fraction_bits, design.sum_fraction_bits + (0 if addends_only else 1)
    with g.invariants.suppose(lambda: finite(g, [*products, c])):
        parts, total = _products(g, products, c, design, bits)
    mode = "RD" if addends_only else design.sum_rounding

    with g.scope("last"):
        with g.invariants.suppose(lambda: finite(g, [*products, c])):
            e_c = c.term.exponent
            e = largest_exponent(g, [total.e_max, e_c])
            g.label("e_max", e.bits, offset=e.low)
            raised = g.shift_left_const(total.bits, wide - bits)
            moved = shift_to(g, total.e_max, e)
            cut = _shifted_right(g, raised, moved, mode)
            distance = shift_to(g, e_c, e)
            kept = align(g, c.term, distance, bits, mode)
            if design.summation == "gtr":
                below = max(distance.width, (bits + 1).bit_length())
                far = g.ult(g.const(bits + 1, below), g.zero_extend_to(distance, below))
                kept = g.ite(far, g.const(0, kept.width), kept)
            addend = g.shift_left_const(signed_magnitude(g, c.term.sign, kept), wide - bits)
            width = max(cut.width, addend.width) + 1
            floored = (Floored(moved, cut), Floored(distance, kept))
            summed = Total(add_signed(g, [cut, addend], width), e, wide, of=(total,), floored=floored)
            g.label("sum", summed.bits, signed=True, scale=wide)
        target = design.rho
        if addends_only:
            return RoundedDown(parts, summed, None, round_total(g, summed, [*products, c], design, target))
        # Cutting a normalised number to F_2 fraction bits is a conversion that rounds down, or to zero.
        head_room = max(0, e.high + width - wide - target.e_max)
        floor = Conversion(mode, target.exponent_bits, design.sum_fraction_bits, head_room)
        # The intermediate number neither overflows nor loses its subnormals: only the result is the unit's.
        inner = replace(design, result_subnormals="kept", zero_sign="sum")
        with g.scope("floor"):
            down = round_total(g, summed, [*products, c], inner, floor)
        return RoundedDown(parts, summed, down, convert_number(g, down.result, design, target))


def _shifted_right(g: Graph, x: Node, distance: Node, mode: str) -> Node:
    """The quotient x / 2^distance in two's complement, rounded down or to zero."""
    if mode == "RD":
        return g.ashr(x, distance)
    negative, magnitude = split_sign(g, x)
    return signed_magnitude(g, negative, g.lshr(magnitude, distance))


def _products(
    g: Graph, products: Sequence[Number], c: Number, design: Design, bits: int
) -> tuple[tuple[tuple[str, Total], ...], Total]:
    """The truncated sum of products, or of both halves floored at the larger maximum; sums by scope."""
    # Zero products have no exponent: one that no term and no c lies below stands for none.
    lowest = min(c.term.exponent.low, *(p.term.exponent.low for p in products))
    if design.summation == "tr":
        with g.scope("products"):
            total = truncated_total(g, [p.term for p in products], design, bits, lowest)
        return (("products", total),), total
    halves = []
    for name, half in (("even", products[0::2]), ("odd", products[1::2])):
        with g.scope(name):
            halves.append(truncated_total(g, [p.term for p in half], design, bits, lowest))
    e_max = largest_exponent(g, [h.e_max for h in halves])
    floored = []
    for total in halves:
        shift = shift_to(g, total.e_max, e_max)
        floored.append(Floored(shift, g.ashr(total.bits, shift)))
    kept = [x.kept for x in floored]
    width = max(x.width for x in kept) + 1
    both = Total(add_signed(g, kept, width), e_max, bits, of=tuple(halves), floored=tuple(floored))
    return (("even", halves[0]), ("odd", halves[1])), both
