"""Two sums of two numbers each, of which it is known that they have one value on both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.tactics.cuts import Composition
from tcformal.semantics.number import Term
from tcformal.semantics.stages import DotStep, Total

#: Terms of a sum of which lemmas speak as they are, and not by what is known of one after the other.
_TERMS = 2


def same_few(
    c: Composition, where: str, totals: tuple[Total, Total], flags: list[Node],
    prove: Callable[[Node, str], bool],
) -> list[Node]:  # fmt: skip
    """Facts: both sums are one number, and count one unit where that is not zero; none where one is open.

    Nothing is said where one of `flags` is 1: where a term is NaN or Inf, or in a case that is left out.
    Soundness: each fact is what a lemma or `prove` showed; widths and ranges say only what is tried.
    """
    g, (one, two) = c.graph, totals
    if one.bits.width != two.bits.width or one.fraction_bits != two.fraction_bits:
        return []
    if not all(len(x.terms) == _TERMS and x.maximum is not None and len(x.partials) == 1 for x in totals):
        return []
    tops = [replace(x.e_max, bits=x.maximum.code, low=x.maximum.low) for x in totals if x.maximum is not None]
    low, high = min(x.low for x in tops), max(x.high for x in tops)
    unless = g.or_(*flags)
    terms = list(zip(*([y.term for y in x.terms] for x in totals), strict=True))
    addends = list(zip(*(x.partials[0].of for x in totals), strict=True))
    unit = g.or_(g.is_zero(one.bits), g.eq(*(x.rebased(g, low, high) for x in tops)))
    apart = [(x, y) for x, y in terms if x.significand.width != y.significand.width]
    facts = [(x.bounded(g), "a largest exponent is in its range") for x in tops]
    facts += [(one_term(g, x, y), "one term on both sides") for x, y in apart]
    facts += [(g.eq(x, y), "one addend on both sides") for x, y in addends if x.width == y.width]
    facts.append((unit, "one unit on both sides, or zero"))
    given: list[Node] = []
    fields = [n for pair in terms for x in pair for n in (x.sign, x.significand, x.exponent.bits, x.zero)]
    for fact, name in facts:
        said = g.or_(unless, fact)
        if said.op == "const":
            continue
        # Of terms that are written in two ways, their one value matters, and not what they are made of.
        by_terms = apart and c.by_lemma(
            where, g.truth(True), said, given=given, cut=[*flags, *fields], name=name
        )
        if not by_terms and not prove(said, name):
            return []
        given.append(said)
    same = g.or_(unless, g.eq(one.bits, two.bits))
    if same.op == "const":
        return given
    cut = [*flags, *(n for pair in addends for n in pair)]
    proved = c.by_lemma(where, g.truth(True), same, given=given, cut=cut, name="one sum on both sides")
    return [*given, same] if proved else []


def one_term(g: Graph, x: Term, y: Term, *, strict: bool = False) -> Node:
    """1 where two terms have one value, whatever the fields of a zero are; with `strict` these, too."""
    low, high = min(e.low for e in (x.exponent, y.exponent)), max(e.high for e in (x.exponent, y.exponent))
    first, second = (t.exponent.rebased(g, low, high) for t in (x, y))
    width = max(t.significand.width for t in (x, y))
    # Significands of one number of fraction bits.
    most = max(x.fraction_bits, y.fraction_bits)
    wide = [
        g.zero_extend_to(g.shift_left_const(t.significand, most - t.fraction_bits), width + most)
        for t in (x, y)
    ]
    fields = g.and_(g.eq(x.sign, y.sign), g.eq(*wide), g.eq(first, second))
    return g.and_(g.eq(x.zero, y.zero), fields if strict else g.or_(x.zero, fields))


def normal_and_zero(c: Composition, one: DotStep, two: DotStep) -> tuple[Node, Node] | None:
    """Whether c is normal on both sides, and whether the product beside it is zero.

    None for other sums than those of one product and c, of which one side makes a zero of more.
    """
    if (
        one.total is None
        or two.total is None
        or len(one.total.terms) != _TERMS
        or len(two.total.terms) != _TERMS
    ):
        return None
    g, kinds = c.graph, {x.kind for x in one.operands}
    pairs = [(x.term, y.term) for x, y in zip(one.total.terms, two.total.terms, strict=True)]
    same = [c.equal(x.zero, y.zero) for x, y in pairs]
    if kinds != {"products", "c"} or sorted(same) != [False, True]:
        return None
    normal = g.and_(*(g.top(x.significand) for x in pairs[same.index(False)]))
    zero, normal = c.all_replaced([pairs[same.index(True)][0].zero, normal])
    return normal, zero
