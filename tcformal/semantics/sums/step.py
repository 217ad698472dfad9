"""One step of a design: align, add, round; and the rounding of a single number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design, Rounding
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import (
    align,
    all_of,
    any_of,
    cuts_off,
    effective_exponents,
    largest,
    lowered,
    shift_to,
)
from tcformal.semantics.choice import Choice, OpenBits, OpenZero, ZeroExponent, chosen, mode_of
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Exponent, Number, Term, bits_for, finite
from tcformal.semantics.reduce import align_all, sign_of_zero, split_sign, sum_of_aligned
from tcformal.semantics.round import convert, round_low_bits
from tcformal.semantics.special import with_specials
from tcformal.semantics.stages import Lost, Maximum, SpecialCases, Summed, Total
from tcformal.semantics.sums.halves import total_of_halves
from tcformal.semantics.sums.sticky import cut_off, sticky_below
from tcformal.semantics.sums.windows import exact_total, window_total

#: What keeps subnormals and the signs of zeros.
AS_IT_IS = Rounding(conversion="RNE-FP32", zero_sign="sum")


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
    for term, first in zip(terms, is_first, strict=True):
        frame = g.or_(frame, g.and_(first, term.sign))
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
    c: int | None = None,
) -> Summed:
    """A fused sum of numbers with its conversion [XIE ρ(S·2^e_max)].

    Shapes: one or more numbers -> one number in `target`, the record's `result`; `c` is the place of c.
    Zero, NaN, Inf: NaN where an operand is NaN or infinities of both signs meet; else Inf where
    one is Inf; a zero result has the sign that design.zero_sign says.
    Source: XIE Algorithm 7 and §4.2; VALPEY Algorithm 1.
    """
    terms = [x.term for x in numbers]
    if design.fraction_bits is None and (design.a_bits, design.b_bits) != (None, None):
        # An exact sum takes what is left of a factor for its value.
        terms = [replace(t, zero=g.is_zero(t.significand)) for t in terms]
    with g.invariants.suppose(lambda: finite(g, numbers)):
        if design.fraction_bits is None and target.integer_bits is not None:
            total = window_total(g, terms)
        elif design.fraction_bits is None:
            total = exact_total(g, terms, target.read_bits)
        else:
            total = truncated_total(g, terms, design, design.fraction_bits, design.zero_exponent, c)
    return round_total(g, total, numbers, design, target)


def truncated_total(
    g: Graph,
    terms: Sequence[Term],
    design: Design,
    fraction_bits: int | OpenBits,
    zero_exponent: ZeroExponent,
    c: int | None = None,
) -> Total:
    """The sum of terms aligned at e_max and cut to `fraction_bits`; zero terms have `zero_exponent`.

    Shapes: `c` is the place of c among the terms, where it is cut in a way of its own.
    Zero: where no term that takes part in e_max has an exponent the sum is 0.
    Source: XIE Algorithm 7, step 2; VALPEY Algorithm 1 (normalised products, bounded carry bits).
    """
    if design.normalise_products:
        terms = [t if t.framed else normalise_term(g, t) for t in terms]
    given = terms
    beside = c if design.e_max_of == "products" and len(terms) > 1 else None
    if beside is not None:
        exponents = effective_exponents(g, [*terms[:beside], *terms[beside + 1 :]], zero_exponent)
        e_max, maximum = largest(g, exponents)
        # With so many bits more above the binary point, the exponent of c is never above e_max.
        low = lowered(terms[beside], max(0, terms[beside].exponent.high - e_max.low))
        terms = [*terms[:beside], low, *terms[beside + 1 :]]
        exponents.insert(beside, low.exponent)
    else:
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
    up = 1
    if c is not None and (design.c_alignment_rounding, design.c_bits) != (None, None):
        own = fraction_bits if design.c_bits is None else design.c_bits
        mode = design.c_alignment_rounding or design.alignment_rounding
        aligned[c] = (aligned[c][0], align(g, terms[c], aligned[c][0], own, mode))
        finest = max(own, fraction_bits)
        aligned = [
            (shift, g.shift_left_const(x, finest - (own if i == c else fraction_bits)))
            for i, (shift, x) in enumerate(aligned)
        ]
        up, fraction_bits = 1 << (finest - min(own, fraction_bits)), finest
    if beside is not None:
        none = zero_exponent.none if isinstance(zero_exponent, OpenZero) else g.truth(zero_exponent == "none")
        gone = g.and_(none, *(x.zero for i, x in enumerate(terms) if i != beside))
        shift, kept = aligned[beside]
        aligned[beside] = shift, g.ite(gone, g.const(0, kept.width), kept)
    if design.second_fraction_bits is not None:
        dropped, fraction_bits = fraction_bits - design.second_fraction_bits, design.second_fraction_bits
        modes = [design.alignment_rounding] * len(terms)
        if c is not None and design.c_alignment_rounding is not None:
            modes[c] = design.c_alignment_rounding
        aligned = [
            (shift, round_low_bits(g, x, dropped, mode, term.sign))
            for (shift, x), mode, term in zip(aligned, modes, terms, strict=True)
        ]
    total = sum_of_aligned(
        g, terms, aligned, e_max, fraction_bits, design.carry_bits, design.accumulation, maximum, up=up
    )
    if beside is not None:
        rows = (replace(x, term=term) for x, term in zip(total.terms, given, strict=True))
        total = replace(total, terms=tuple(rows))
    if design.summation == "fused" and design.sum_fraction_bits is not None:
        dropped = fraction_bits - design.sum_fraction_bits
        kept = g.shift_left_const(g.truncate_low(total.bits, dropped), dropped)
        g.label("cut", kept, signed=True, scale=fraction_bits)
        total = replace(total, bits=kept, moved_by="the cut of the sum")
    if design.minus_one is not None:
        wide = g.sign_extend_to(total.bits, max(total.bits.width, design.minus_one + 2))
        instead = g.const((1 << wide.width) - (1 << design.minus_one), wide.width)
        moved = g.ite(g.is_zero(g.not_(total.bits)), instead, wide)
        g.label("minus_one", moved, signed=True, scale=fraction_bits)
        total = replace(total, bits=moved, moved_by="a sum of -1 unit")
    return total


def as_term(g: Graph, total: Total) -> Term:
    """A total as an exact term of another sum; a zero total becomes +0.

    Shapes: bits s[w] -> significand u[w - 1].
    """
    negative, magnitude = split_sign(g, total.bits)
    return Term(negative, magnitude, total.e_max, total.fraction_bits, g.is_zero(total.bits))


def unrounded(
    g: Graph, numbers: Sequence[Number], design: Design, c: int | None = None
) -> tuple[Total, SpecialCases]:
    """A fused sum that is neither normalised nor rounded, with the exponent e_max of its terms.

    Shapes: numbers, and the place of c among them, as `fused_sum`.
    Zero, NaN, Inf: NaN and Inf as `fused_sum`; its term counts as a zero, of exponent e_min, where all terms
    are zeros that have no exponent, and, unless subnormal results are kept, where e_max is below e_min; a sum
    that is zero otherwise keeps e_max.  Under zero_sign `ieee` a sum of negative terms that are zeros, or
    cut to zeros, is -0.
    Source: ttsim, mvmul.
    """
    terms = [x.term for x in numbers]
    bits: int | OpenBits | None = design.fraction_bits
    assert bits is not None
    with g.invariants.suppose(lambda: finite(g, numbers)):
        total = truncated_total(g, terms, design, bits, design.zero_exponent, c)
        negative, magnitude = split_sign(g, total.bits)
        e, least, frame = total.e_max, design.rho.e_min, bits
        if isinstance(frame, OpenBits):
            # The exponent of the terms, below which the significand has the most bits.
            fewer = frame.fewer
            magnitude = g.zero_extend_to(magnitude, magnitude.width + fewer.high)
            magnitude, e = g.shl_mod(magnitude, fewer.bits), e.plus(g, fewer.negated(g))
        low, high = min(e.low, least), max(e.high, least)
        code, floor = e.rebased(g, low, high), g.const(least - low, bits_for(high - low))
        zero = g.truth(False)
        none: ZeroExponent = design.zero_exponent
        if isinstance(none, OpenZero):
            zero = g.and_(none.none, all_of(g, [t.zero for t in terms]))
        elif none == "none":
            zero = all_of(g, [t.zero for t in terms])
        flushes: str | Choice = design.result_subnormals
        if isinstance(flushes, Choice) or flushes != "kept":
            zero = g.or_(zero, g.and_(g.ult(code, floor), g.not_(chosen(g, flushes, "kept"))))
        magnitude = g.ite(zero, g.const(0, magnitude.width), magnitude)
        signs = [t.sign for t in terms]
        sign = sign_of_zero(g, total.bits, g.and_(negative, g.not_(zero)), signs, "RNE", design.zero_sign)
        exponent = Exponent(g.ite(zero, floor, code), low, high)
    term = Term(sign, magnitude, exponent, total.fraction_bits, zero, framed=True)
    no = g.truth(False)
    return total, with_specials(g, numbers, Number(term, no, no), AS_IT_IS)


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
            magnitude, lsb = sticky_below(g, magnitude, lsb, sticky, target.read_bits)
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
