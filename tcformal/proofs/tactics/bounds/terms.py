"""Terms of sums as statements know them: values, exponents as codes, and what both are worth."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, Encoded
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.semantics.number import Exponent, Term

ONE = Poly.constant(1)


def code_of(g: Graph, e: Exponent) -> Node:
    """OFFSET + an exponent: u[CODE_BITS]."""
    return g.add_mod(g.zero_extend_to(e.bits, CODE_BITS), g.const(e.low + OFFSET, CODE_BITS))


def sign_of(bit: Node) -> Poly:
    """(-1)^bit."""
    return ONE - Poly.of(bit) * 2


def weight(code: Node, fraction_bits: int) -> Poly:
    """2^(exponent - fraction_bits) of an exponent's code."""
    return (Poly.of(code) - Poly.constant(OFFSET + fraction_bits)).power_of_two()


def term_of(g: Graph, x: Encoded) -> Term:
    """A word's fields as the term that it is unpacked to."""
    low = -x.fmt.bias
    e = Exponent(x.exponent, low, low + (1 << x.fmt.exponent_bits) - 1)
    return Term(x.sign, x.significand, e, x.fmt.fraction_bits, g.is_zero(x.significand))


def finer(d: Derivation, code: Node, e: Node, below: int, fraction_bits: int) -> int:
    """2^(e - fraction_bits) - 2^(code - fraction_bits) >= 0 from the theorem that code <= e."""
    wide = d.g.zero_extend_to(code, e.width)
    fact = d.fact(below)
    if wide is not code:
        fact = d.arith([(1, [fact]), (1, [d.read(wide)])])
    unit = weight(code, fraction_bits)
    return d.prove(weight(e, fraction_bits) - unit, [], [(unit, [d.power(fact)])])


@dataclass(frozen=True, slots=True)
class KnownTerm:
    """A number that a sum takes in, as the statement or the step before knows it.

    Shapes: code u[CODE_BITS], nonzero u[1].  `limit` is the theorem that nonzero implies code <= E.
    `facts` are more that is known of it, and `own` the nodes below which nothing of it matters.
    `shown` is the theorem that its value is that of `term`, where the factors do not say so.
    """

    value: Poly
    factors: tuple[Encoded, ...]
    term: Term
    code: Node
    nonzero: Node
    limit: int
    facts: tuple[int, ...] = ()
    own: tuple[Node, ...] = ()
    shown: int | None = None


def shown_value(d: Derivation, x: KnownTerm, what: str) -> int:
    """The value of a product of words is ±significand · 2^(exponent - fraction bits)."""
    g, t = d.g, x.term
    goal = x.value - sign_of(t.sign) * Poly.of(t.significand) * weight(x.code, t.fraction_bits)
    if x.shown is not None:
        return x.shown
    if not x.factors:
        return d.prove(goal, [])
    sign, size = x.factors[0].sign, x.factors[0].significand
    for f in x.factors[1:]:
        sign = sign if f.sign.op == "const" else g.xor(sign, f.sign)
        if f.significand.op != "const":
            size = f.significand if size.op == "const" else g.mul_expand(size, f.significand)
    fields = [f.exponent for f in x.factors]
    equations = []
    for name, mine, stated in (("sign", t.sign, sign), ("significand", t.significand, size)):
        if mine is not stated:
            equations.append((d.equal(f"the {name} of {what}", mine, stated), mine))
    equations += d.expanded(sign, [f.sign for f in x.factors], "a sign")
    equations += d.expanded(size, [f.significand for f in x.factors], "a product")
    equations += d.expanded(x.code, fields, "an exponent")
    return d.prove(goal, equations)
