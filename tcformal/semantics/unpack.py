"""Unpacking: a raw encoding becomes sign, exponent, significand and class."""

from __future__ import annotations

from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent, Number, Term


def unpack(g: Graph, word: Node, fmt: Format) -> Number:
    """Unpack a raw encoding of `fmt`.

    Shapes: word u[fmt.width] -> significand u[fmt.precision].
    Ranges and units: exponent at least e_min (its code counts from -bias), significand in [0, 2) with
    fmt.fraction_bits fraction bits; subnormals keep a leading 0 and the exponent e_min.
    Zero, NaN, Inf: classified by the format's specials; -0 keeps its sign; an integer has neither -0 nor NaN.
    Source: IEEE 754 §3.4; OCP OFP8 and OCP MX; XIE §4.1.3 (`SignedSig`, `Exp`).
    """
    if fmt.integer:
        sign = g.top(word) if fmt.sign is Sign.PRESENT else g.truth(False)
        magnitude = g.zero_extend_to(g.ite(sign, g.neg_mod(word), word), fmt.precision)
        constant = Exponent(g.const(0, 1), fmt.e_min, fmt.e_min)
        no = g.truth(False)
        return Number(Term(sign, magnitude, constant, fmt.fraction_bits, g.is_zero(word)), no, no)
    low = fmt.ignored_low_bits
    fraction_end = low + fmt.fraction_bits
    exponent_end = fraction_end + fmt.exponent_bits
    field = g.extract(word, exponent_end - 1, fraction_end)
    sign = g.bit(word, exponent_end) if fmt.sign is Sign.PRESENT else g.truth(False)
    normal = g.any_bit(field) if fmt.has_zero else g.truth(True)
    if fmt.fraction_bits:
        fraction = g.extract(word, fraction_end - 1, low)
        significand = g.concat(normal, fraction)
        fraction_zero = g.is_zero(fraction)
        fraction_ones = g.eq(fraction, g.const((1 << fmt.fraction_bits) - 1, fmt.fraction_bits))
    else:
        significand = normal
        fraction_zero = fraction_ones = g.truth(True)
    zero = g.and_(g.not_(normal), fraction_zero)
    if not fmt.subnormals:
        significand = g.ite(normal, significand, g.const(0, significand.width))
    field_ones = g.eq(field, g.const((1 << fmt.exponent_bits) - 1, fmt.exponent_bits))

    nan = inf = g.truth(False)
    if fmt.specials is Specials.IEEE:
        inf = g.and_(field_ones, fraction_zero)
        nan = g.and_(field_ones, g.not_(fraction_zero))
    elif fmt.specials is Specials.ALL_ONES_NAN:
        nan = g.and_(field_ones, fraction_ones)
    elif fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        nan = g.and_(zero, sign)

    zero = zero if fmt.subnormals else g.not_(normal)
    exponent = _exponent(g, field, normal, fmt)
    return Number(Term(sign, significand, exponent, fmt.fraction_bits, zero), nan, inf)


def _exponent(g: Graph, field: Node, normal: Node, fmt: Format) -> Exponent:
    """The exponent max(field, 1) - bias; field - bias for a format without zero."""
    top = (1 << fmt.exponent_bits) - 1
    if not fmt.has_zero:
        return Exponent(field, -fmt.bias, top - fmt.bias)
    effective = g.or_(field, g.zero_extend_to(g.not_(normal), field.width))
    return Exponent(effective, -fmt.bias, top - fmt.bias)
