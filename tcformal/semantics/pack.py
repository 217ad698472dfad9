"""Packing: a rounded number becomes a raw encoding."""

from __future__ import annotations

from dataclasses import replace

from tcformal.design.rounding import Conversion
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent, Number, Term, bits_for, finite
from tcformal.semantics.round import convert
from tcformal.semantics.unpack import unpack


def pack(g: Graph, x: Number, fmt: Format, nan_word: Node) -> Node:
    """The raw encoding of a number that is already rounded to the precision of `fmt`.

    Shapes: significand u[p], p <= fmt.precision -> u[fmt.width].
    Ranges and units: exponent in [e_min, e_max] of fmt, significand in [0, 2) with a leading 0
    only at e_min; missing low fraction bits and ignored bits are zero.
    Zero, NaN, Inf: NaN becomes `nan_word`; zero keeps its sign; a format without Inf is given none, one
    without a sign nothing below zero, and one without zero no zero.
    An integer is its magnitude's two's complement where it is negative.
    """
    if fmt.integer:
        magnitude = g.extract(x.term.significand, fmt.width - 1, 0)
        return g.ite(x.term.sign, g.neg_mod(magnitude), magnitude)
    has_inf = fmt.specials is Specials.IEEE
    with g.invariants.suppose(lambda: finite(g, [x])):
        fraction = g.shift_left_const(x.term.significand, fmt.fraction_bits - x.term.fraction_bits)
        field_width = fmt.exponent_bits
        code = x.term.exponent.rebased(g, fmt.e_min, fmt.e_max)
        # Hidden bit 1 adds one to the field: exponent e_min with a leading 0 is field 0.
        hidden = g.top(fraction)
        field = _to(g, code, field_width)
        if fmt.has_zero:
            field = g.add_mod(field, g.zero_extend_to(hidden, field_width))
        if has_inf:
            g.invariant(
                lambda: g.and_(g.any_bit(g.not_(field)), x.term.exponent.bounded(g)),
                "a finite result's exponent field is below all ones",
            )
        g.invariant(
            lambda: g.or_(hidden, g.is_zero(code)),
            "a finite result has its leading bit except at the least exponent",
        )
    body = g.concat(field, g.extract(fraction, fmt.fraction_bits - 1, 0)) if fmt.fraction_bits else field
    low = fmt.ignored_low_bits
    number = g.shift_left_const(body, low)
    if fmt.sign is not Sign.ABSENT:
        number = g.concat(x.term.sign, number)
    if not has_inf:
        return g.ite(x.nan, nan_word, number)
    infinite = g.concat(x.term.sign, g.const(fmt.infinity, fmt.width - 1))
    return g.ite(x.nan, nan_word, g.ite(x.inf, infinite, number))


def saturated(g: Graph, x: Number, fmt: Format) -> Number:
    """A rounded number clamped to the largest finite number of a format, Inf included.

    Shapes: significand u[fmt.precision] -> u[fmt.precision].
    Ranges and units: exponent in [e_min, e_max] of fmt, which is any one for a format without zero, whose
    least number is what a smaller one becomes.
    Zero, NaN, Inf: below zero a format without a sign gives NaN.
    Source: PTX ISA, cvt.satfinite; OCP OFP8 §5.2.
    """
    if fmt.sign is not Sign.PRESENT:
        x = _unsigned(g, x)
    if not fmt.has_zero:
        return _clamped(g, x, fmt)
    ones = (1 << fmt.precision) - 1
    largest = ones - (fmt.specials is Specials.ALL_ONES_NAN)
    term = x.term
    span = term.exponent.high - term.exponent.low
    at_top = g.eq(term.exponent.bits, g.const(span, term.exponent.bits.width))
    beyond = g.and_(at_top, g.ult(g.const(largest, fmt.precision), term.significand))
    clipped = g.or_(x.inf, beyond)
    significand = g.ite(clipped, g.const(largest, fmt.precision), term.significand)
    code = g.ite(clipped, g.const(span, term.exponent.bits.width), term.exponent.bits)
    exponent = Exponent(code, term.exponent.low, term.exponent.high)
    zero = g.and_(term.zero, g.not_(clipped))
    return Number(Term(term.sign, significand, exponent, term.fraction_bits, zero), x.nan, g.truth(False))


def _unsigned(g: Graph, x: Number) -> Number:
    """A number without a sign: NaN where it is below zero."""
    below = g.and_(x.term.sign, g.or_(x.inf, g.not_(x.term.zero)))
    return Number(replace(x.term, sign=g.truth(False)), g.or_(x.nan, below), g.and_(x.inf, g.not_(below)))


def _clamped(g: Graph, x: Number, fmt: Format) -> Number:
    """A power of two clamped to a format of powers of two; zero becomes the least one.

    Shapes: significand u[1] -> u[1].
    """
    e = x.term.exponent
    code = e.rebased(g, min(e.low, fmt.e_min), max(e.high, fmt.e_max))
    low, high = (g.const(end - min(e.low, fmt.e_min), code.width) for end in (fmt.e_min, fmt.e_max))
    kept = g.umin(g.umax(g.ite(x.term.zero, low, code), low), high)
    moved = g.sub_mod(g.ite(x.inf, high, kept), low)
    exponent = Exponent(g.extract(moved, bits_for(fmt.e_max - fmt.e_min) - 1, 0), fmt.e_min, fmt.e_max)
    one, no = g.truth(True), g.truth(False)
    return Number(Term(x.term.sign, one, exponent, 0, no), x.nan, no)


def _to(g: Graph, x: Node, width: int) -> Node:
    return g.zero_extend_to(x, width) if x.width <= width else g.extract(x, width - 1, 0)


def check_output_format(fmt: Format, nan_word: int) -> None:
    """Raise InputError for a result format without Inf and NaN, or for a word that is not its NaN.

    Integers have no NaN, and their word is 0.
    """
    if fmt.integer and not nan_word:
        return
    if fmt.specials is not Specials.IEEE:
        raise InputError(f"expected a result format with Inf and NaN, but got {fmt.name}")
    body = nan_word & ((1 << (fmt.width - 1)) - 1)
    if nan_word >> fmt.width or body >> fmt.ignored_low_bits <= fmt.infinity >> fmt.ignored_low_bits:
        raise InputError(f"expected a NaN encoding of {fmt.name} for nan_word, but got {nan_word:#x}")


def converted_word(g: Graph, word: Node, fmt: Format, target: Format) -> Node:
    """The exact conversion of an encoding to a wider IEEE-like format; NaN becomes a quiet NaN."""
    if fmt == target:
        return word
    if fmt.fraction_bits > target.fraction_bits or fmt.exponent_bits > target.exponent_bits:
        raise InputError(f"expected a format at least as wide as {fmt.name}, but got {target.name}")
    number = unpack(g, word, fmt)
    term = number.term
    lsb = term.exponent.shifted(-term.fraction_bits)
    exact = Conversion("RNE", target.exponent_bits, target.fraction_bits)
    same = convert(g, term.sign, term.significand, lsb, exact, overflow="infinity").result
    finite = g.not_(g.or_(number.nan, number.inf))
    kept = Number(same.term, number.nan, g.or_(number.inf, g.and_(same.inf, finite)))
    quiet = target.infinity | 1 << (target.fraction_bits + target.ignored_low_bits - 1)
    return pack(g, kept, target, g.const(quiet, target.width))
