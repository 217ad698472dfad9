"""Data-dependent scaling: the headroom below a limit, and the largest magnitude."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcformal.design.steps import nan_word_of
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import largest
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Exponent, Number, bits_for
from tcformal.semantics.unpack import unpack


def headroom(g: Graph, numbers: Sequence[Number], fmt: Format, limit: Fraction) -> Exponent:
    """The headroom of numbers: the largest integer e with 2^e·|x| <= limit for every x.

    Shapes: one or more numbers of `fmt`; limit above zero.
    Zero, NaN, Inf: zeros, Inf and NaN do not count; without any other number, as if the smallest one above
    zero were there.
    Source: MARY Algorithm 3.1, the scaling by λ and μ.
    """
    top = _exponent_of(limit)
    fraction = limit / Fraction(2) ** top
    smallest = fmt.e_min - fmt.fraction_bits
    exponents = []
    for x in numbers:
        term = normalise_term(g, x.term)
        # The largest significand that may stand at the limit's own exponent, in the term's last places.
        kept = int(fraction * 2 ** (term.significand.width - 1))
        above = g.ult(g.const(kept, term.significand.width), term.significand)
        low, high = term.exponent.low, term.exponent.high + 1
        code = term.exponent.rebased(g, low, high)
        raised = g.add_mod(code, g.zero_extend_to(above, code.width))
        counts = g.not_(g.or_(term.zero, x.nan, x.inf))
        exponents.append(Exponent(g.ite(counts, raised, g.const(smallest - low, code.width)), low, high))
    e_max, _ = largest(g, exponents)
    width = bits_for(e_max.high - e_max.low)
    code = g.zero_extend_to(e_max.bits, max(width, e_max.bits.width))
    span = g.const(e_max.high - e_max.low, code.width)
    return Exponent(g.sub_mod(span, code), top - e_max.high, top - e_max.low)


def largest_magnitude(g: Graph, words: Sequence[Node], fmt: Format, least: int) -> Node:
    """The encoding of the largest magnitude |x|, at least `least`.

    Shapes: one or more encodings of `fmt`; least: an encoding without a sign.
    Zero, NaN, Inf: Inf counts as the largest number; a NaN among them gives the format's NaN.
    """
    size = fmt.width - int(bool(fmt.sign_bit))
    kept = g.const((1 << size) - (1 << fmt.ignored_low_bits), fmt.width)
    most, nan = g.const(least, fmt.width), g.truth(False)
    for word in words:
        # Encodings without their sign are in the order of the numbers.
        most = g.umax(most, g.and_(word, kept))
        nan = g.or_(nan, unpack(g, word, fmt).nan)
    return g.ite(nan, g.const(nan_word_of(fmt), fmt.width), most)


def _exponent_of(limit: Fraction) -> int:
    """The binary exponent e with 2^e <= limit < 2^(e+1)."""
    e = limit.numerator.bit_length() - limit.denominator.bit_length()
    return e if Fraction(2) ** e <= limit else e - 1
