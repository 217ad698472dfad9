"""Claims `error-bound`, `relative-error` and `monotonicity`: theorems about results, by the kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.programs.chain import OperandNodes, chained_dot, declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, Finding, PartStatus
from tcformal.proofs.kernel.rules import ProofKernel, check
from tcformal.proofs.lemmas import Lemma, LemmaBook, Statement
from tcformal.proofs.packed import packed, unpacked
from tcformal.proofs.statements.after_bound import AfterBound, after_bound
from tcformal.proofs.statements.composed_bound import ComposedBound, composed_bound
from tcformal.proofs.statements.error_bound import ErrorBound, error_bound, require_products
from tcformal.proofs.statements.framed_bound import FramedBound, framed_bound
from tcformal.proofs.statements.grouped_bound import GroupedBound, grouped_bound
from tcformal.proofs.statements.integer_sums import IntegerSum
from tcformal.proofs.statements.monotone import MonotoneSum, monotone_sum
from tcformal.proofs.statements.product_loss import block_of
from tcformal.proofs.statements.relative_bound import RelativeBound, relative_bound
from tcformal.proofs.statements.round_down_bound import RoundDownBound, round_down_bound
from tcformal.proofs.statements.rounded_bound import RoundedBound, rounded_bound
from tcformal.proofs.tactics.bounds.blocks import BoundProof
from tcformal.proofs.tactics.bounds.composed import ComposedProof
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.groups import GroupBoundProof
from tcformal.proofs.tactics.bounds.round_down import RoundDownProof
from tcformal.proofs.tactics.cuts import ProofStep
from tcformal.proofs.tactics.monotone.chain import MonotoneProof
from tcformal.proofs.tactics.relative.after import RelativeAfterProof
from tcformal.proofs.tactics.relative.blocks import RelativeProof
from tcformal.proofs.tactics.relative.framed import FramedProof
from tcformal.proofs.tactics.relative.odd_rounding.sums import OddGainProof
from tcformal.proofs.tactics.relative.pieces import PieceProof
from tcformal.proofs.tactics.relative.sticky import StickyProof
from tcformal.proofs.tactics.relative.tied import TiedProof
from tcformal.proofs.tactics.rounded.after import AfterProof
from tcformal.proofs.tactics.rounded.composition import RoundedProof
from tcformal.proofs.tactics.rounded.integers import CoreDerivation
from tcformal.proofs.tactics.truncated import require_truncated_sum
from tcformal.query.assume import Assumptions
from tcformal.semantics.stages import Dot

Stated = TypeVar("Stated", ErrorBound, IntegerSum, MonotoneSum, RelativeBound)

_PART = "the bound"
#: After how many conflicts the solver in this process gives up: the kernel's lemmas are many and small.
_CONFLICTS = 30_000
#: What finds a proof of each kind of statement.
_TACTICS: dict[type[ErrorBound], type[BoundProof]] = {
    GroupedBound: GroupBoundProof, RoundDownBound: RoundDownProof, ComposedBound: ComposedProof
}  # fmt: skip


class LemmaJudge:
    """Decides the lemmas of a proof for the kernel, by a book of lemmas."""

    def __init__(self, book: LemmaBook) -> None:
        self._book = book
        #: What the next lemma says, for people.
        self.name = "a lemma of the kernel"
        #: How often each lemma held, by digest; those that folding decides are not asked.
        self.uses: Counter[str] = Counter()
        self.asked: dict[str, Lemma] = {}

    def __call__(self, graph: Graph, wrong: Node) -> bool:
        if wrong.op == "const":
            return wrong.params[1] == 0
        what = Statement(graph, wrong, partial(_unfolded, graph, wrong))
        lemma = self._book.decide(self.name, what, conflicts=_CONFLICTS)
        if lemma.holds:
            self.uses[lemma.sha256] += 1
        self.asked[lemma.sha256] = lemma
        return lemma.holds


def _unfolded(graph: Graph, wrong: Node) -> Statement:
    """The kernel's lemma as it stands, node by node; what the kernel folded before stays folded."""
    fresh = Graph(folded=False)
    made: dict[int, Node] = {}
    for n in reachable([wrong]):
        if n.op == "input":
            made[n.index] = fresh.input(graph.input_name(n), n.width)
        elif n.op == "const":
            made[n.index] = fresh.const(n.params[1], n.width)
        else:
            made[n.index] = fresh.make(n.op, [made[a.index] for a in n.args], n.params)
    return Statement(fresh, made[wrong.index], partial(_unfolded, graph, wrong))


def bounded_error(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """One theorem about inputs and result, its proof found by tactics and then checked as data.

    Soundness: what is claimed is the statement (`statements.error_bound`), which knows the formats and the
    design but not the arithmetic.  The proof that the tactics hand over, or a kept one, is a list of steps;
    `kernel.rules.check` applies them to the circuit built here and compares what they end in with the
    statement.  A proof that does not pass leaves the claim open.
    """
    design = ask.spec.design
    rounds_down = design.summation in ("tr", "gtr")
    if design.fraction_bits is not None and not rounds_down and design.c_position != "after":
        require_truncated_sum(ask.spec, "error-bound")
    if ask.assumed.c is not None and (ask.assumed.c or not rounds_down):
        raise InputError(
            f"expected c=0 of sums that are rounded down, or no assumption, for claim error-bound, "
            f"but got c={ask.assumed.c} for {ask.spec.name}"
        )
    judge = LemmaJudge(ask.book)
    part, stated = checked_part(ask, judge, _PART, lambda: _found(ask, judge), lambda: stated_bound(ask)[0])
    said = ("", "") if stated is None else (str(stated), _short(stated))
    return Finding(parts=(part,), composition=said[0], reason=said[1]), list(judge.asked.values())


def checked_part(
    ask: Asking, judge: LemmaJudge, name: str, find: Callable[[], str], state: Callable[[], Stated]
) -> tuple[ClaimPart, Stated | None]:
    """A theorem as a part of a claim: the kept proof, or one that `find` makes, checked by the kernel.

    The part is open, and there is no statement, where no proof is found or the kernel refuses it.
    """
    try:
        tree = ask.tree or find()
        stated = state()
        steps, last = unpacked(tree)
        ask.progress(f"checking {len(steps)} steps")
        judge.uses.clear()
        check(stated.graph, stated.hypotheses, stated.conclusions, stated.roots, steps, last, judge)
    except (ProofError, InputError) as error:
        return ClaimPart(name=name, status=PartStatus.OPEN, note=str(error)), None
    step = ProofStep(name=f"{len(steps)} steps of the kernel", how="lemmas", lemmas=dict(judge.uses))
    return ClaimPart(name=name, status=PartStatus.HOLDS, steps=(step,), tree=tree), stated


def stated_bound(ask: Asking) -> tuple[ErrorBound, Dot]:
    """The statement about the unit in a graph of its own, and the stages of the circuit."""
    g = Graph()
    x = declare_inputs(g, ask.spec, ask.spec.k)
    dot = chained_dot(g, ask.spec, x)
    design = ask.spec.design
    words = words_of(ask.spec, x)
    if design.summation in ("tr", "gtr"):
        zero_c = ask.assumed.c is not None
        return round_down_bound(g, ask.spec, words, x.c, dot.result, zero_c=zero_c), dot
    state = (
        after_bound if design.c_position == "after"
        else rounded_bound if design.fraction_bits is None
        else composed_bound if ask.spec.emulation is not None
        else grouped_bound if design.group is not None else error_bound
    )  # fmt: skip
    return state(g, ask.spec, words, x.c, dot.result), dot


def _found(ask: Asking, judge: LemmaJudge) -> str:
    """A proof that the tactics find, packed; ProofError with one sentence where they find none."""
    ask.progress("looking for a proof for the kernel")
    stated, dot = stated_bound(ask)
    kernel = ProofKernel(stated.graph, stated.roots, judge)
    if isinstance(stated, RoundedBound):
        steps = CoreDerivation(kernel, judge)
        proof = AfterProof(steps, stated, dot) if isinstance(stated, AfterBound) else RoundedProof(
            steps, stated, dot
        )  # fmt: skip
        last = proof.conclusions()
    else:
        tactic = next((x for kind, x in _TACTICS.items() if isinstance(stated, kind)), BoundProof)
        last = tactic(_derivation(ask, kernel, judge), stated, dot).conclusions()
    return packed(kernel.steps, last)


def _derivation(ask: Asking, kernel: ProofKernel, judge: LemmaJudge) -> Derivation:
    """Steps of a proof; what is normalised is shifted by stages, which pick and join bits."""
    design = ask.spec.design
    staged = design.normalise_operands or design.c_position == "after" or design.piece_bits is not None
    return (CoreDerivation if staged else Derivation)(kernel, judge)


def words_of(spec: UnitSpec, x: OperandNodes) -> list[tuple[Node, ...]]:
    """The words that each product is made of."""
    size = spec.scale_block
    pairs = list(zip(x.a, x.b, strict=True))
    if size is None:
        return list(pairs)
    return [(a, b, x.scale_a[k // size], x.scale_b[k // size]) for k, (a, b) in enumerate(pairs)]


def _short(stated: ErrorBound) -> str:
    """The inequality alone."""
    return str(stated).rpartition(": ")[2].partition(";")[0]


def relative_error(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """One theorem about one block, with c = 0 where that is assumed; its proof is found, then checked.

    Soundness: as of claim `error-bound`.
    """
    stated_relative(ask)  # refuses a unit of which no such statement is written
    judge = LemmaJudge(ask.book)
    part, stated = checked_part(
        ask, judge, "the bound", lambda: _found_relative(ask, judge), lambda: stated_relative(ask)[0]
    )
    said = ("", "") if stated is None else (str(stated), str(stated).rpartition(": ")[2].partition(";")[0])
    return Finding(parts=(part,), composition=said[0], reason=said[1]), list(judge.asked.values())


def stated_relative(ask: Asking) -> tuple[RelativeBound, Dot]:
    """The statement about one block of the unit in a graph of its own, and the stages of the circuit."""
    check_relative(ask.spec, ask.assumed)
    ask = replace(ask, spec=block_of(ask.spec))
    g = Graph()
    x = declare_inputs(g, ask.spec, ask.spec.k)
    dot = chained_dot(g, ask.spec, x)
    return _relative(g, ask.spec, x, dot.result, ask.assumed), dot


def check_relative(spec: UnitSpec, assumed: Assumptions) -> None:
    """Errors: InputError for a unit of which nothing is stated under the assumption."""
    if assumed.c not in (None, 0):
        raise InputError(f"expected c=0 or no assumption for claim relative-error, but got c={assumed.c}")
    if spec.design.c_position != "after" and not spec.design.framed:
        whole = not spec.design.dropped_pieces
        require_products(spec, "relative-error", normalised=True, pieces=whole)
    g, block = Graph(), block_of(spec)
    # What is stated of a result does not depend on how it is made.
    _relative(g, block, declare_inputs(g, block, block.k), g.input("d", block.d_format.width), assumed)


def _relative(g: Graph, spec: UnitSpec, x: OperandNodes, d: Node, assumed: Assumptions) -> RelativeBound:
    state = framed_bound if spec.design.framed else relative_bound
    return state(g, spec, words_of(spec, x), x.c, d, zero_c=assumed.c is not None)


def _found_relative(ask: Asking, judge: LemmaJudge) -> str:
    """A proof that the tactics find, packed; ProofError with one sentence where they find none."""
    ask.progress("looking for a proof for the kernel")
    stated, dot = stated_relative(ask)
    kernel = ProofKernel(stated.graph, stated.roots, judge)
    tactic = _tactic(stated)
    last = tactic(_derivation(ask, kernel, judge), stated, dot).conclusions()
    return packed(kernel.steps, last)


def _tactic(stated: RelativeBound) -> type[RelativeProof]:
    """What finds a proof of one statement in terms of magnitudes."""
    if isinstance(stated.base, AfterBound):
        return RelativeAfterProof
    if isinstance(stated, FramedBound):
        return FramedProof
    if stated.base.unit.design.lost_bits == "sticky":
        return StickyProof
    if stated.base.unit.design.piece_bits is not None:
        return PieceProof
    if stated.tied is not None:
        return TiedProof
    return RelativeProof if stated.gain is None else OddGainProof


def monotonicity(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """One theorem about two dot products that differ in c; its proof is found, then checked.

    Soundness: as of claim `error-bound`.
    """
    judge = LemmaJudge(ask.book)
    part, stated = checked_part(
        ask, judge, "the order", lambda: _found_order(ask, judge), lambda: stated_order(ask)[0]
    )
    said = ("", "") if stated is None else (str(stated), "c <= c' implies d <= d'")
    return Finding(parts=(part,), composition=said[0], reason=said[1]), list(judge.asked.values())


def stated_order(ask: Asking) -> tuple[MonotoneSum, tuple[Dot, Dot]]:
    """The statement about the unit called twice in one graph, and the stages of both circuits."""
    g = Graph()
    x = declare_inputs(g, ask.spec, ask.spec.k)
    more = replace(x, c=g.input("c2", ask.spec.operands.c.width))
    dots = []
    for name, operands in (("c", x), ("c2", more)):
        with g.scope(name):
            dots.append(chained_dot(g, ask.spec, operands))
    one, two = dots
    return monotone_sum(g, ask.spec, (x.c, more.c), (one.result, two.result)), (one, two)


def _found_order(ask: Asking, judge: LemmaJudge) -> str:
    """A proof that the tactics find, packed; ProofError with one sentence where they find none."""
    ask.progress("looking for a proof for the kernel")
    stated, dots = stated_order(ask)
    kernel = ProofKernel(stated.graph, stated.roots, judge)
    last = MonotoneProof(CoreDerivation(kernel, judge), stated, dots).conclusions()
    return packed(kernel.steps, last)
