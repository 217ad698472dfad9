"""Claim `relative-error`: the error of one block in units of Σ|a_k·b_k| + |c|, proved by the kernel."""

from __future__ import annotations

from dataclasses import replace

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.proofs.claim import Asking, Finding
from tcformal.proofs.claims.error_bound import LemmaJudge, checked_part, words_of
from tcformal.proofs.kernel.rules import ProofKernel
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.packed import packed
from tcformal.proofs.statements.relative_bound import RelativeBound, block_of, relative_bound
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.relative.blocks import RelativeProof
from tcformal.semantics.stages import Dot


def relative_error(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """One theorem about one block, with c = 0 where that is assumed; its proof is found, then checked.

    Soundness: as of claim `error-bound`.
    """
    judge = LemmaJudge(ask.book)
    part, stated = checked_part(
        ask, judge, "the bound", lambda: _found(ask, judge), lambda: stated_relative(ask)[0]
    )
    said = ("", "") if stated is None else (str(stated), str(stated).rpartition(": ")[2].partition(";")[0])
    return Finding(parts=(part,), composition=said[0], reason=said[1]), list(judge.asked.values())


def stated_relative(ask: Asking) -> tuple[RelativeBound, Dot]:
    """The statement about one block of the unit in a graph of its own, and the stages of the circuit."""
    if ask.assumed.c not in (None, 0):
        raise InputError(f"expected c=0 or no assumption for claim relative-error, but got c={ask.assumed.c}")
    ask = replace(ask, spec=block_of(ask.spec))
    g = Graph()
    x = declare_inputs(g, ask.spec, ask.spec.k)
    dot = chained_dot(g, ask.spec, x)
    stated = relative_bound(g, ask.spec, words_of(ask, x), x.c, dot.result, zero_c=ask.assumed.c is not None)
    return stated, dot


def _found(ask: Asking, judge: LemmaJudge) -> str:
    """A proof that the tactics find, packed; ProofError with one sentence where they find none."""
    ask.progress("looking for a proof for the kernel")
    stated, dot = stated_relative(ask)
    kernel = ProofKernel(stated.graph, stated.roots, judge)
    last = RelativeProof(Derivation(kernel, judge), stated, dot).conclusions()
    return packed(kernel.steps, last)
