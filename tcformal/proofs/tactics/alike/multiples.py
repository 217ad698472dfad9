"""A sum whose terms are multiples of one power of two, and so is what it adds up to: never a tiny number."""

from __future__ import annotations

from dataclasses import replace

from tcformal.design.unit import UnitSpec
from tcformal.ir.node import Node
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.proofs.tactics.two_maxima import TwoMaxima
from tcformal.semantics.number import Term
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import DotStep

#: What two designs may make of a number below the least normal one.
_RULES = ("c_subnormals", "result_subnormals", "zero_sign")


def least_product(first: UnitSpec, second: UnitSpec) -> int | None:
    """The exponent of the least bit of any product where that makes no sum subnormal.

    None where a product may itself be so small, and where both designs do the same with such numbers.
    """
    if all(getattr(first.design, rule) == getattr(second.design, rule) for rule in _RULES):
        return None
    lowest = first.operands.a.least_exponent + first.operands.b.least_exponent
    return lowest if lowest >= first.operands.d.e_min else None


def is_multiple(s: SumSteps, x: Term, lowest: int) -> Node:
    """1 where a term is a multiple of 2^lowest."""
    return s.multiple(x.significand, s.wide(x.exponent.bits, x.exponent.low - x.fraction_bits), lowest)


def multiples(s: SumSteps, step: DotStep, lowest: int) -> list[Node]:
    """The fact that a step's sum is a multiple of 2^lowest unless a term is NaN or Inf; none without a proof.

    Soundness: each step becomes a fact by a lemma: a term is such a multiple; so are its aligned bits, of
    which none is lost where the sum's last bit weighs less; so is the signed term, and so is the sum.
    """
    total, found = step.total, step.specials
    if total is None or found is None or total.maximum is None or len(total.partials) != 1:
        return []
    if s.free:
        flags = s.c.all_replaced([found.some_nan, found.positive_inf, found.negative_inf])
        s = replace(s, unless=s.graph.or_(*flags))
    g, root, partial = s.graph, total.maximum, total.partials[0]
    lsb = g.sub_mod(s.code(root), s.number(total.fraction_bits))
    known = []
    for x, below in zip(total.terms, TwoMaxima(s, (root, root), 0, 0).below(), strict=True):
        term, addend = x.term, signed_magnitude(g, x.term.sign, x.aligned)
        whole, aligned = is_multiple(s, term, lowest), s.multiple(x.aligned, lsb, lowest)
        signed = s.multiple(g.wrap_to_mod(addend, partial.node.width), lsb, lowest)
        empty = s.empty(term)
        if below is None or empty is None or not s.of_all(whole, f"a term is a multiple of 2^{lowest}"):
            return []
        cut = [term.significand, term.exponent.bits, term.zero, root.code]
        if not s.fact(aligned, cut, "so are its aligned bits", [whole, empty, *below]):
            return []
        if not s.fact(signed, [term.sign, x.aligned, root.code], "so is the signed term", [aligned]):
            return []
        known.append(signed)
    fact = s.multiple(total.bits, lsb, lowest)
    if not s.fact(fact, [*partial.of, root.code], "so is the sum", known):
        return []
    return [s.said(fact)]
