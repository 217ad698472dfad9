"""One step of a design: align, add, round; and the rounding of a single number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design, Rounding
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import align, any_of, cuts_off, effective_exponents, largest, shift_to
from tcformal.semantics.choice import OpenBits, ZeroExponent, mode_of
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Exponent, Number, Term, finite
from tcformal.semantics.reduce import align_all, sign_of_zero, split_sign, sum_of_aligned
from tcformal.semantics.round import convert
from tcformal.semantics.special import with_specials
from tcformal.semantics.stages import Lost, Maximum, Summed, Total
from tcformal.semantics.sums.halves import total_of_halves
from tcformal.semantics.sums.sticky import cut_off, sticky_below
from tcformal.semantics.sums.windows import exact_total, window_total


def jammed_total(
    g: Graph,
    terms: Sequence[Term],
    exponents: Sequence[Exponent],
    e_max: Exponent,
    bits: int,
    maximum: Maximum,
) -> Total:
    """The sum of terms, with lost bits jammed so that truncation rounds it in the right direction.

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
    """One-hot flags of the largest term: a nonzero c at e_max, else the first nonzero product there."""
    flags, none = [g.truth(False)] * len(terms), g.truth(True)
    for i in (len(terms) - 1, *range(len(terms) - 1)):
        at_top = g.and_(g.is_zero(shift_to(g, exponents[i], e_max)), g.not_(terms[i].zero))
        flags[i] = g.and_(none, at_top)
        none = g.and_(none, g.not_(at_top))
    return flags


def fused_sum(
    g: Graph,
    numbers: Sequence[Number],
    design: Design,
    target: Conversion,
) -> Summed:
    """A fused sum of numbers with its conversion [XIE ρ(S·2^e_max)].

    Shapes: one or more numbers -> one number in `target`, the record's `result`.
    Zero, NaN, Inf: NaN where an operand is NaN or infinities of both signs meet; else Inf where
    one is Inf; a zero result has the sign that design.zero_sign says.
    Source: XIE Algorithm 7 and §4.2; VALPEY Algorithm 1.
    """
    terms = [x.term for x in numbers]
    with g.invariants.suppose(lambda: finite(g, numbers)):
        if design.fraction_bits is None and target.integer_bits is not None:
            total = window_total(g, terms)
        elif design.fraction_bits is None:
            total = exact_total(g, terms, target.precision)
        else:
            total = truncated_total(g, terms, design, design.fraction_bits, design.zero_exponent)
    return round_total(g, total, numbers, design, target)


def truncated_total(
    g: Graph,
    terms: Sequence[Term],
    design: Design,
    fraction_bits: int | OpenBits,
    zero_exponent: ZeroExponent,
) -> Total:
    """The sum of terms aligned at e_max and cut to `fraction_bits`; zero terms have `zero_exponent`.

    Source: XIE Algorithm 7, step 2; VALPEY Algorithm 1 (normalised products, bounded carry bits).
    """
    if design.normalise_products:
        terms = [normalise_term(g, t) for t in terms]
    exponents = effective_exponents(g, terms, zero_exponent)
    e_max, maximum = largest(g, exponents)
    g.label("e_max", e_max.bits, offset=e_max.low)
    if isinstance(fraction_bits, OpenBits):
        # To keep fewer fraction bits at e_max is to keep the most at an exponent as much larger.
        e_max, fraction_bits = e_max.plus(g, fraction_bits.fewer), fraction_bits.most
    if design.lost_bits == "jammed":
        return jammed_total(g, terms, exponents, e_max, fraction_bits, maximum)
    if design.lost_bits == "halves":
        return total_of_halves(g, terms, exponents, e_max, fraction_bits, maximum)
    aligned = align_all(g, terms, exponents, e_max, fraction_bits, design.alignment_rounding)
    return sum_of_aligned(
        g, terms, aligned, e_max, fraction_bits, design.carry_bits, design.accumulation, maximum
    )


def as_term(g: Graph, total: Total) -> Term:
    """A total as an exact term of another sum; a zero total becomes +0.

    Shapes: bits s[w] -> significand u[w - 1].
    """
    negative, magnitude = split_sign(g, total.bits)
    return Term(negative, magnitude, total.e_max, total.fraction_bits, g.is_zero(total.bits))


def round_total(
    g: Graph, total: Total, operands: Sequence[Number], design: Design, target: Conversion
) -> Summed:
    """Convert a total, with the special cases of its operands."""
    with g.invariants.suppose(lambda: finite(g, operands)):
        negative, magnitude = split_sign(g, total.bits)
        signs = [x.term.sign for x in operands]
        sign = sign_of_zero(g, total.bits, negative, signs, mode_of(target), design.zero_sign)
        if total.lost is not None and design.zero_sign == "ieee":
            only_lost = g.and_(g.is_zero(total.bits), total.lost.some)
            sign = g.ite(only_lost, total.lost.sign, sign)
        flush = design.result_subnormals
        lsb = total.lsb
        if design.lost_bits == "sticky":
            if design.carry_bits is not None:
                # The lowest number of the sum's width has no magnitude in it.
                kept = min(magnitude.width, total.fraction_bits + design.carry_bits + 1)
                magnitude = g.extract(magnitude, kept - 1, 0)
            sticky = cut_off(g, [x.term for x in total.terms], total)
            magnitude, lsb = sticky_below(g, magnitude, lsb, sticky, target.precision)
            total = replace(total, sticky=sticky)
        rounded = convert(g, sign, magnitude, lsb, target, overflow=design.overflow, subnormals=flush)
    return Summed(total, rounded, with_specials(g, operands, rounded.result, design))


def convert_number(g: Graph, x: Number, design: Rounding, target: Conversion) -> Summed:
    """Round one number to `target` (the rounding of a product); specials pass through."""
    term = x.term
    lsb = term.exponent.shifted(-term.fraction_bits)
    with g.invariants.suppose(lambda: finite(g, [x])):
        how = {"overflow": design.overflow, "subnormals": design.result_subnormals}
        rounded = convert(g, term.sign, term.significand, lsb, target, **how)
    return Summed(None, rounded, with_specials(g, [x], rounded.result, design))
