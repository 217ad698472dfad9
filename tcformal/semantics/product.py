"""Product: exact, with the exponents added and the significand left unnormalised."""

from __future__ import annotations

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Number, Term


def product(g: Graph, a: Number, b: Number) -> Number:
    """The exact product of two numbers.

    Shapes: significands u[p], u[q] -> u[p + q].
    Ranges and units: significand in [0, 4), exponent the sum of the operands' exponents.
    Zero, NaN, Inf: NaN where an operand is NaN or one is Inf and the other zero; Inf where an
    operand is Inf otherwise; the sign of a zero product is the exclusive or of the signs.
    Source: XIE Algorithm 7, step 1, and §4.2.
    """
    term = Term(
        sign=g.xor(a.term.sign, b.term.sign),
        significand=_multiply(g, a.term.significand, b.term.significand),
        exponent=a.term.exponent.plus(g, b.term.exponent),
        fraction_bits=a.term.fraction_bits + b.term.fraction_bits,
        zero=g.or_(a.term.zero, b.term.zero),
    )
    inf_times_zero = g.or_(g.and_(a.inf, b.term.zero), g.and_(a.term.zero, b.inf))
    nan = g.or_(a.nan, b.nan, inf_times_zero)
    inf = g.and_(g.or_(a.inf, b.inf), g.not_(nan))
    return Number(term, nan, inf)


def _multiply(g: Graph, x: Node, y: Node) -> Node:
    """The exact product of two significands; that of a pure scale is the constant 1."""
    for one, other in ((x, y), (y, x)):
        if one.op == "const" and one.width == 1 and one.params[1] == 1:
            return other
    return g.mul_expand(x, y)
