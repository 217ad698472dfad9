"""Claim `integer-sums`: sums of integers up to a size are exact, proved by the kernel."""

from __future__ import annotations

from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, Finding, PartStatus
from tcformal.proofs.claims.error_bound import LemmaJudge, checked_part, words_of
from tcformal.proofs.claims.integer_witness import exact_sum, one_too_large
from tcformal.proofs.kernel.rules import ProofKernel
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.packed import packed
from tcformal.proofs.statements.integer_sums import (
    IntegerSum,
    integer_sum,
    largest_exact,
    least_cut,
    only_normal,
    require_integers,
    stepwise,
)
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.integers.blocks import IntegerProof
from tcformal.proofs.tactics.integers.steps import StepsProof
from tcformal.proofs.tactics.rounded.integers import CoreDerivation
from tcformal.proofs.tactics.truncated import require_truncated_sum
from tcformal.semantics.stages import Dot


def check_integer_sums(spec: UnitSpec) -> None:
    """Errors: InputError for a unit of which nothing is stated."""
    if not stepwise(spec):
        require_truncated_sum(spec, "integer-sums")
    require_integers(spec)


def integer_sums(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """One theorem about inputs and result, its proof checked as data; and two sums that have one result.

    Soundness: as for `error-bound`, with the statement of `statements.integer_sums`.  The control is a sum of
    2^B + 1, whose result is that of a sum of 2^B: replayed, with the sums of its integers added up exactly.
    Where factors have to be zero or normal, a second control is a smaller sum with factors that are not.
    Errors: InputError for a unit of which nothing is stated.
    """
    check_integer_sums(ask.spec)
    judge, most = LemmaJudge(ask.book), largest_exact(ask.spec)
    stated, _ = stated_sum(ask, most)
    part, proved = checked_part(
        ask, judge, f"sums up to 2^{most}", lambda: _found(ask, judge, most), lambda: stated
    )
    if proved is None:
        return Finding(parts=(part,), composition="", reason=""), list(judge.asked.values())
    parts = [part, _control(ask, most, subnormal=False)]
    cut = least_cut(ask.spec)
    if cut is not None and only_normal(ask.spec):
        parts.append(_control(ask, cut, subnormal=True))
    finding = Finding(parts=tuple(parts), composition=str(stated), reason=stated.short)
    return finding, list(judge.asked.values())


def _control(ask: Asking, most: int, *, subnormal: bool) -> ClaimPart:
    """That sums of 2^most + 1 are not exact, as a part that has to be refuted."""
    witness = one_too_large(ask.spec, most, subnormal=subnormal)
    other = 0 if witness is None else exact_sum(ask.spec, witness.second) - (1 << most)
    sums = f"2^{most} + 1 and of 2^{most} + 2" if other else f"2^{most} and of 2^{most} + 1"
    return ClaimPart(
        name=f"sums of {sums}{' with subnormal factors' if subnormal else ''}",
        control=True, witness=witness,
        status=PartStatus.OPEN if witness is None else PartStatus.VIOLATED,
        note="no witness found that a larger sum is not exact" if witness is None else "",
    )  # fmt: skip


def stated_sum(ask: Asking, most: int) -> tuple[IntegerSum, Dot]:
    """The statement about the unit in a graph of its own, and the stages of the circuit."""
    g = Graph()
    x = declare_inputs(g, ask.spec, ask.spec.k)
    dot = chained_dot(g, ask.spec, x)
    return integer_sum(g, ask.spec, words_of(ask.spec, x), x.c, dot.result, most), dot


def _found(ask: Asking, judge: LemmaJudge, most: int) -> str:
    """A proof that the tactics find, packed; ProofError with one sentence where they find none."""
    ask.progress("looking for a proof for the kernel")
    stated, dot = stated_sum(ask, most)
    kernel = ProofKernel(stated.graph, stated.roots, judge)
    if stepwise(ask.spec):
        last = StepsProof(CoreDerivation(kernel, judge), stated, dot).conclusions()
    else:
        last = IntegerProof(Derivation(kernel, judge), stated, dot).conclusions()
    return packed(kernel.steps, last)
