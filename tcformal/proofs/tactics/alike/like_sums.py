"""Two sums of the same numbers that are made in other ways: what is tried to show that both round alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tcformal.ir.node import Node
from tcformal.proofs.tactics.alike.same_totals import same_totals, without_nothing
from tcformal.proofs.tactics.alike.zero_terms import ZeroTerms
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.floors import rebuilt
from tcformal.proofs.tactics.rescaled import Guesses, Rescaled
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.proofs.tactics.truncated import TruncatedSum
from tcformal.semantics.align import all_of
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import DotStep, Maximum, Total

#: Exponents of both sides that are further apart are no matter of normalisation.
_APART = 40


def rounded_alike(
    s: SumSteps, one: DotStep, two: DotStep, zeros: Guesses, added: tuple[Total, Total] | None = None
) -> Node | None:
    """The fact that what two steps round is one number, or that a term is NaN or Inf; None without a proof.

    `zeros` are tried where zero terms have exponents of their own on one side; `added` are the sums with c
    where that is added to those of both steps as they are.
    Soundness: every tactic joins only what it proves, with a lemma for each step.
    """
    g, c = s.graph, s.c
    if one.specials is None or two.specials is None or one.rounded is None or two.rounded is None:
        return None
    rows = [[x.some_nan, x.positive_inf, x.negative_inf] for x in (one.specials, two.specials)]
    flags = c.all_replaced(rows[0])
    if flags != c.all_replaced(rows[1]):
        return None
    if s.free:
        # Fields of a product are in their ranges for Inf and NaN, too; those of what was rounded are not.
        s = replace(s, unless=g.or_(*flags))
    both = rebuilt(c, rebuilt(c, (one, two)))
    parts = [x.rounded.parts for x in both if x.rounded is not None]
    if [x.width for x in parts[0]] != [x.width for x in parts[1]]:
        return None
    if added is None and _never_over(s, both):
        return _said(s, zip(*parts, strict=True))
    for steps in (both, both[::-1]):
        for guesses in _scales(*steps, zeros):
            sums = added if added is None or steps is both else added[::-1]
            if Rescaled(s, steps, guesses, [], sums).equal():
                pairs = zip(*(parts if steps is both else parts[::-1]), strict=True)
                return _said(s, pairs)
    return None


def _said(s: SumSteps, pairs: Iterable[tuple[Node, Node]]) -> Node:
    """The fact that both of all pairs are equal, which is true by definition where they are one class."""
    same = all_of(s.graph, [s.graph.eq(x, y) for x, y in pairs])
    return s.c.replaced(same) if s.unless is None else s.said(same)


def _never_over(s: SumSteps, both: tuple[DotStep, DotStep]) -> bool:
    """Two roundings of one sum that differ in what they make of an overflow, where there is none."""
    g, one, two = s.graph, both[0], both[1]
    if one.total is None or two.total is None or one.rounded is None or two.rounded is None:
        return False
    if one.total.bits is not two.total.bits or one.total.e_max.bits is not two.total.e_max.bits:
        return False
    over = []
    for inf in dict.fromkeys(x.rounded.result.inf for x in both if x.rounded is not None):
        if inf.op == "const":
            continue
        over.append(g.not_(inf))
        if not s.of_all(over[-1], "a rounding never overflows"):
            return False
        if s.c.equal(over[-1], g.truth(True)):
            s.c.by_lemma(s.where, inf, g.truth(False), given=over[-1:], cut=[inf], name="no overflow")
    if not over:
        return False
    same = all_of(g, [g.eq(x, y) for x, y in zip(one.rounded.parts, two.rounded.parts, strict=True)])
    cut = [one.total.bits, one.total.e_max.bits, one.rounded.result.term.sign, two.rounded.result.term.sign]
    if s.unless is None:
        pairs = list(zip(one.rounded.parts, two.rounded.parts, strict=True))
        return s.c.by_lemmas(s.where, pairs, given=over, cut=cut, name="one number without overflow")
    return s.fact(same, cut, "one number without overflow", over)


def without_zeros(s: SumSteps, one: DotStep, two: DotStep, least: Sequence[int]) -> bool:
    """Make what two sums round to one number, where they differ in their widths or in zero terms at most.

    Soundness: as `ZeroTerms`.  Exponents of zero terms are read off the sums and are guesses.
    """
    sums = [_truncated(x) for x in rebuilt(s.c, rebuilt(s.c, (one, two)))]
    if sums[0] is None or sums[1] is None:
        return False
    c, totals = s.c, (sums[0].total, sums[1].total)
    for x in totals:
        _without_constants(c, s.where, x.maximum)
    if c.equal(totals[0].e_max.bits, totals[1].e_max.bits):
        both = [without_nothing(c, s.where, x) for x in totals]
        if not same_totals(c, both[0], both[1]):
            return False
        pairs = zip(sums[0].rounded, c.all_replaced(sums[1].rounded), strict=True)
        return all(c.equal(x, y) for x, y in pairs)
    nothing = [_nothing(s, x) for x in totals]
    if nothing[0] is None or nothing[1] is None:
        return False
    return ZeroTerms(s, (sums[0], sums[1]), (nothing[0], nothing[1]), least).equal()


def _without_constants(c: Composition, where: str, x: Maximum | None) -> None:
    """Make the larger of exponents and the least code, that of a constant zero, the one of exponents."""
    for half in () if x is None else x.halves:
        _without_constants(c, where, half)
    if x is not None and len(x.halves) == 2 and c.equal(x.halves[1].code, c.graph.const(0, x.code.width)):
        code = c.replaced(x.halves[0].code)
        c.by_lemma(where, code, c.replaced(x.code), cut=[code], name="the least code beside others")


def _truncated(x: DotStep) -> TruncatedSum | None:
    """A step as a truncated sum; None for another."""
    if x.total is None or x.rounded is None or x.specials is None or not x.total.partials:
        return None
    return TruncatedSum(x.scope, x.total, x.specials, x.rounded.parts)


def _nothing(s: SumSteps, total: Total) -> Exponent | None:
    """The exponent with which zero terms take part in the largest one; None where there is no single one."""
    codes = [x.code for x in _leaves(total.maximum)]
    named = {x.args[1].params[1] for x in codes if x.op == "ite" and x.args[1].op == "const"}
    if len(named) != 1 or total.maximum is None:
        return None
    value = named.pop() + total.maximum.low
    return Exponent(s.graph.const(0, 1), value, value)


def _leaves(x: Maximum | None) -> Iterator[Maximum]:
    """The single exponents below a largest one."""
    if x is not None:
        for half in x.halves:
            yield from _leaves(half)
        if not x.halves:
            yield x


def _scales(one: DotStep, two: DotStep, zeros: Guesses) -> Iterator[Guesses]:
    """What to try where one side's terms have smaller exponents, as normalised numbers have."""
    if one.total is None or two.total is None or len(one.total.terms) != len(two.total.terms):
        return
    pairs = [(x.term, y.term) for x, y in zip(one.total.terms, two.total.terms, strict=True)]
    if not pairs:
        return  # groups of terms are aligned in another way
    lowest = min(y.exponent.low - y.fraction_bits for _, y in pairs)
    moved = [(x.exponent, y.exponent) for x, y in pairs if x.exponent.bits is not y.exponent.bits]
    apart = max((y.low - x.low for x, y in moved), default=0)
    if 0 < apart <= _APART:
        yield Guesses(apart, max(y.low for _, y in moved) + 1, lowest)
        # A subnormal factor beside any other.
        yield Guesses(apart, zeros.highest + 1, lowest)
    apart = zeros.highest + 1 - min(x.exponent.low for x, _ in pairs)
    if not moved and apart <= _APART and one.total.e_max.bits is not two.total.e_max.bits:
        yield replace(zeros, apart=apart - 1)
        # An Inf has an exponent above that of all numbers.
        yield replace(zeros, apart=apart, highest=zeros.highest + 1)
