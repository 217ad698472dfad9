"""c added, as it is, to one number that two sums have, whose exponents may differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.proofs.lemmas import frontier
from tcformal.proofs.tactics.floors import rebuilt
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.semantics.stages import AlignedTerm, Maximum, Total


@dataclass(frozen=True, slots=True)
class _Said:
    """What is known of a sum that is one node on both sides: facts, and the nodes that they are about."""

    given: list[Node]
    cut: list[Node]


def rounded_with_c(
    s: SumSteps, both: tuple[Total, Total], rounded: Sequence[tuple[Node, Node]], given: Sequence[Node],
    cut: Sequence[Node], flags: Sequence[Node] = (),
) -> bool:  # fmt: skip
    """Make what is rounded from two sums with c equal, pair by pair; False where that is not proved.

    `given`: without c they are one number, and have one exponent unless it is zero; `cut`: the nodes that
    this is about; `flags`: what else the pairs look at.
    Soundness: each step becomes a fact by a lemma.  (1) Normalised, the number without c is one node but for
    its exponent.  (2) The exponents with which it, and c, take part in the largest one are equal, or the
    least one on both sides for a zero.  (3) The largest ones are equal unless both terms are zero, and no
    less than either.  (4) A zero has no bits, also aligned; another term is aligned alike on both sides.
    (5) So the sums are one definition, and zero where both terms are; what is rounded at one exponent is one.
    """
    said = _added_alike(s, both, given, cut)
    pairs = list(zip(*(s.c.all_replaced(x) for x in zip(*rounded, strict=True)), strict=True))
    name = "what is rounded with c is one number"
    return said is not None and s.c.by_lemmas(
        s.where, pairs, given=said.given, cut=[*said.cut, *flags], name=name
    )


def _added_alike(
    s: SumSteps, both: tuple[Total, Total], given: Sequence[Node], cut: Sequence[Node]
) -> _Said | None:
    """(1) to (5): make the sums with c one node; what is known of them then, or None without a proof."""
    g, c = s.graph, s.c
    one, two = (rebuilt(c, x) for x in both)
    if (
        len(one.terms) != 2
        or len(two.terms) != 2
        or not _one_number(s, one.terms[0], two.terms[0], given, cut)
    ):
        return None
    one, two = (rebuilt(c, x) for x in (one, two))
    if one.maximum is None or two.maximum is None:
        return None
    roots = one.maximum, two.maximum
    halves = list(zip(one.maximum.halves, two.maximum.halves, strict=True))
    zeros = [x.term.zero for x in one.terms]
    exponents = []
    for (first, second), x in zip(halves, one.terms, strict=True):
        zero, inside = x.term.zero, x.term.exponent.bounded(g)
        least = g.and_(g.is_zero(first.code), g.is_zero(second.code))
        exponents.append(g.ite(zero, least, g.eq(s.code(first), s.code(second))))
        known, about = list(given), list(cut)
        if x is one.terms[1]:  # c, whose exponent is one node on both sides
            known = [inside] if s.of_all(inside, "an exponent is in its range") else []
            about = [zero, *_shared(first.code, second.code)]
        if not s.fact(exponents[-1], about, "an exponent beside c's is one", known):
            return None
    codes = [x.code for pair in halves for x in pair]
    none = g.and_(*zeros)
    top = g.or_(none, g.eq(s.code(roots[0]), s.code(roots[1])))
    if not s.fact(top, [*codes, *zeros], "so is the larger one, but of zeros", exponents):
        return None
    known = [top, *exponents, *_below(s, roots, halves)]
    about = [*codes, *zeros, *(x.code for x in roots)]
    empty = [_aligned(s, x, y, known, about, cut) for x, y in zip(one.terms, two.terms, strict=True)]
    gone = [fact for fact in empty if fact is not None]
    if len(gone) != len(empty) or not c.equal(one.bits, c.replaced(two.bits)):
        return None
    nothing = g.or_(g.not_(none), g.is_zero(one.bits))
    terms = [n for x in one.terms for n in (x.term.sign, x.aligned)]
    if not s.fact(nothing, [*zeros, *terms], "the sum of zeros is zero", gone):
        return None
    return _Said([top, nothing], [one.bits, none, *zeros, *(x.code for x in roots)])


def _below(
    s: SumSteps, roots: tuple[Maximum, Maximum], halves: Sequence[tuple[Maximum, Maximum]]
) -> list[Node]:
    """(3), that the larger of two codes is no less than either, as far as it is proved."""
    g, codes = s.graph, [x.code for pair in halves for x in pair]
    facts = [g.ule(pair[side].code, root.code) for side, root in enumerate(roots) for pair in halves]
    return [x for x in facts if s.fact(x, codes, "the larger exponent is no less than either")]


def _aligned(
    s: SumSteps, x: AlignedTerm, y: AlignedTerm, known: list[Node], about: list[Node], cut: Sequence[Node]
) -> Node | None:
    """(4), of a term of both sides: one node; the fact that it has no bits where it is zero."""
    g, c, term = s.graph, s.c, x.term
    nothing = g.or_(g.not_(term.zero), g.is_zero(term.significand))
    name = "a zero has no bits"
    if not (s.fact(nothing, cut, name) or s.of_all(nothing, name)):
        return None
    about = [*about, term.significand]
    other, name = c.replaced(y.aligned), "a term is aligned alike beside c"
    if not c.by_lemma(s.where, x.aligned, other, given=[*known, nothing], cut=about, name=name):
        return None
    gone = g.or_(g.not_(term.zero), g.is_zero(x.aligned))
    return gone if s.fact(gone, about, "nor has it any aligned", [nothing]) else None


def _one_number(
    s: SumSteps, x: AlignedTerm, y: AlignedTerm, given: Sequence[Node], cut: Sequence[Node]
) -> bool:
    """(1), of the number without c: all but its exponent is one node."""
    c, parts = s.c, [(t.term.sign, t.term.zero, t.term.significand) for t in (x, y)]
    name = "one number before c is added"
    return all(
        p.width == q.width and c.by_lemma(s.where, p, c.replaced(q), given=given, cut=cut, name=name)
        for p, q in zip(*parts, strict=True)
    )


def _shared(x: Node, y: Node) -> list[Node]:
    """The nodes below two nodes that both have."""
    shared = frontier((x,), (y,), 0) - {x.index, y.index}
    return [n for n in reachable([x]) if n.index in shared]
