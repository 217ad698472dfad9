"""Division with one rounding, by long division and a sticky bit: a circuit of its own among those of sums."""

from __future__ import annotations

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Rounding
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Number, Term
from tcformal.semantics.sums.step import convert_number


def quotient(g: Graph, x: Number, y: Number, design: Rounding, target: Conversion) -> Number:
    """The quotient x / y with one rounding.

    Ranges and units: exact before the rounding, which sees a bit more than it reads and whether any bit
    below is not zero.
    Zero, NaN, Inf: as IEEE 754 has them: 0/0 and Inf/Inf are NaN, x/0 is an Inf and x/Inf a zero, each with
    the exclusive or of the signs.
    Source: IEEE 754 §5.4.1 and §7.3.
    """
    a, b = normalise_term(g, x.term), normalise_term(g, y.term)
    width = max(a.significand.width, b.significand.width)
    dividend, divisor = (g.shift_left_const(t.significand, width - t.significand.width) for t in (a, b))
    bits, fraction_bits = _divided(g, dividend, divisor, target.read_bits + 1)
    none = g.or_(x.term.zero, y.inf)
    term = Term(
        sign=g.xor(x.term.sign, y.term.sign),
        significand=g.ite(none, g.const(0, bits.width), bits),
        exponent=a.exponent.plus(g, b.exponent.negated(g)),
        fraction_bits=fraction_bits,
        zero=none,
    )
    counts = g.not_(g.or_(y.nan, y.inf))
    by_zero = g.and_(y.term.zero, counts)
    no_number = g.or_(g.and_(x.inf, y.inf), g.and_(x.term.zero, by_zero, g.not_(x.inf)))
    nan = g.or_(x.nan, y.nan, no_number)
    inf = g.and_(g.or_(x.inf, by_zero), g.not_(nan))
    return convert_number(g, Number(term, nan, inf), design, target).result


def _divided(g: Graph, dividend: Node, divisor: Node, fraction_bits: int) -> tuple[Node, int]:
    """The truncated quotient of two significands in [1, 2), with a sticky bit for the remainder.

    Shapes: u[n], u[n] -> u[fraction_bits + 2], and its fraction bits, one more for the last bit.
    """
    width = dividend.width + 1
    rest, by = g.zero_extend_to(dividend, width), g.zero_extend_to(divisor, width)
    bits = []
    for _ in range(fraction_bits + 1):
        fits = g.ule(by, rest)
        left = g.ite(fits, g.sub_mod(rest, by), rest)
        bits.append(fits)
        # What is left is below the divisor: doubled, it has no bit more.
        rest = g.concat(g.extract(left, width - 2, 0), g.const(0, 1))
    return g.concat(*bits, g.any_bit(rest)), fraction_bits + 1
