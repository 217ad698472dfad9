"""Claim `negation-symmetry`: Φ(−A, B, −C) = −Φ(A, B, C), zeros of either sign and NaNs counted as equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, Finding, PartStatus
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.refuted import refuted_by_solvers, refuted_by_vectors
from tcformal.proofs.tactics.cut_points import specials_of
from tcformal.proofs.tactics.cuts import Composition, ProofStep, step_of
from tcformal.proofs.tactics.floors import rebuilt, without_floors
from tcformal.proofs.tactics.mirror import Mirror
from tcformal.query.assume import Assumptions, assume
from tcformal.query.kinds.property.properties import Call, Case, negation_symmetry
from tcformal.query.kinds.property.question import property_question
from tcformal.semantics.stages import SpecialCases
from tcformal.semantics.unpack import unpack


def _turned(what: Assumptions) -> str:
    return "Φ(−A, B, −C) = −Φ(A, B, C)" + (f" where {' and '.join(what.texts())}" if what else "")


def check_negation(spec: UnitSpec) -> None:
    """Errors: InputError for a unit whose products go through several instructions."""
    if spec.emulation is not None:
        raise InputError(
            f"expected a hardware unit for claim negation-symmetry, but {spec.name} is composed of others"
        )


def negation(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """The circuit on −A, B, −C node by node in terms of that on A, B, C; or a witness.

    Soundness: let N_1, …, N_m be the results inside the unit that go into others: rounded products,
    partial sums, results of blocks.  For each input one of these cases holds: some N_j is NaN and no N_i
    before it, or none is.  (1) Where none is, every stage on −A, B, −C is proved equal to a node of the
    circuit on A, B, C, to its complement or to its opposite (`mirror`), and that the two results are
    opposite numbers, zeros or NaNs is one lemma on these.  (2) On the way it is proved that N_j is NaN
    on −A, B, −C exactly where it is on A, B, C, as long as none before it is.  Where it is, the result
    is NaN on any input, −A, B, −C included: one lemma for each j.  Where c is assumed to be a zero, that is
    supposed of all inputs, and sums that are rounded down are first proved to lose nothing (`floors`).
    """
    spec = ask.spec
    check_negation(spec)
    if ask.assumed.exponents is not None and ask.assumed.c is None:
        raise InputError("expected c=0 beside the exponents for claim negation-symmetry, but got no c")
    turned = _turned(ask.assumed)
    q = property_question("negation-symmetry", spec, ask.assumed)
    ask.progress("looking for inputs that are rounded to one side")
    witness = refuted_by_vectors(q, ask.limits.seed)
    if witness is not None:
        part = ClaimPart(name=turned, status=PartStatus.VIOLATED, witness=witness)
        return Finding(parts=(part,), composition="", reason="", violated=f"not always: {turned}"), []
    g = Graph()
    x = declare_inputs(g, spec, spec.k)
    proof = _NegationProof(ask, g, negation_symmetry(g, spec, x), x.c)
    parts = (proof.numbers(), *proof.nans())
    if any(p.status is PartStatus.OPEN for p in parts):
        ask.progress("asking solvers for inputs that are rounded to one side")
        witness = refuted_by_solvers(ask, q)
        if witness is not None:
            parts = (*parts, ClaimPart(name=turned, status=PartStatus.VIOLATED, witness=witness))
    count = len(proof.inner)
    finding = Finding(
        parts=parts,
        composition=(
            "where no number inside the unit is NaN, both results are opposite numbers, zeros or NaNs; "
            + (f"where one of the {count} is, both results are NaN" if count else "there is none inside")
        ),
        reason=f"{turned}, zeros of either sign and NaNs counted as equal",
        violated=f"not always: {turned}",
    )
    return finding, [u.lemma for u in proof.uses]


class _NegationProof:
    """Both circuits in one graph, and what has been proved of them."""

    def __init__(self, ask: Asking, g: Graph, case: Case, c: Node) -> None:
        self.ask, self.case = ask, case
        self.c = Composition(g, ask.book)
        #: What is proved before anything is turned.
        self.before: list[ProofStep] = []
        self.one, self.other = self._calls(c)
        here, there = self.one.operands, self.other.operands
        turned = dict(zip([*here.a, here.c], [*there.a, there.c], strict=True))
        self.mirror = Mirror(self.c, turned, (self.one.dot, self.other.dot))
        #: The special cases of the numbers that go into others, in the order of definition.
        self.inner, self.others = dict(_inner(self.one)), dict(_inner(self.other))
        #: Numbers inside the unit that are NaN on both sides together, as long as none before them is.
        self.reached: dict[str, Node] = {}
        self.uses = self.c.uses

    def _calls(self, c: Node) -> tuple[Call, Call]:
        """Both calls; where c is assumed to be a zero, without the floors that round nothing then."""
        one, other = self.case.calls
        what, fmt, g = self.ask.assumed, self.ask.spec.operands.c, self.c.graph
        given = what.c
        if given is None or self.ask.spec.design.sum_rounding != "RD" or given not in (0, fmt.sign_bit):
            return one, other
        x, o, lowest = one.operands, self.ask.spec.operands, None
        supposed = [g.eq(c, g.const(given, fmt.width))]
        span = what.exponents
        if span is not None:
            of_one = Assumptions(exponents=span)
            words = [(word, f) for row, f in ((x.a, o.a), (x.b, o.b)) for word in row]
            found = [assume(g, of_one, [pair], c) for pair in words]
            supposed += [fact for fact in found if fact.op != "const"]
            lowest = sum(max(span[0], f.e_min) for f in (o.a, o.b))
        for fact in supposed:
            self.c.suppose(fact, True)
        for call in (one, other):
            if not without_floors(self.c, call.dot, unpack(g, call.operands.c, fmt), supposed, lowest):
                return one, other
        self.before.append(step_of(self.c, "floors", 0, True, False))
        return replace(one, dot=rebuilt(self.c, one.dot)), replace(other, dot=rebuilt(self.c, other.dot))

    def numbers(self) -> ClaimPart:
        """Case 1: no number inside the unit is NaN."""
        steps = list(self.before)
        for name, found in self.inner.items():
            nan = found.result.nan
            self.ask.progress(f"{name} on the other side")
            since = len(self.c.uses)
            self.mirror.reflect([nan])
            there = self.others[name].result.nan
            same = self.mirror.image[nan.index] is nan and self.c.equal(nan, there)
            if same:
                self.reached[name] = nan
                self.c.suppose(nan, False)
                same = self.mirror.one_sign(found.positive_inf, found.negative_inf, nan)
            steps.append(step_of(self.c, f"{name}.nan", since, same, False))
            if not same:
                break
        since, holds = len(self.c.uses), False
        if all(s.proved for s in steps):
            self.ask.progress("both results")
            (image,) = self.mirror.reflect([self.one.result])
            if self.c.equal(image, self.other.result):
                one, other = (call.result for call in self.case.calls)
                (wrong,) = self.c.all_replaced([self.case.violated], {one: self.one.result, other: image})
                true = self.c.graph.truth(True)
                right = self.c.graph.not_(wrong)
                holds = right is true or self.mirror.fact(
                    right, "both results are opposite numbers, zeros or NaNs"
                )
            steps.append(step_of(self.c, "d", since, holds, False))
        failed = next((s.name for s in steps if not s.proved), "")
        return ClaimPart(
            name="no number inside the unit is NaN", status=PartStatus.HOLDS if holds else PartStatus.OPEN,
            steps=tuple(steps), note=f"{failed} was not proved" if failed else "",
        )  # fmt: skip

    def nans(self) -> Iterator[ClaimPart]:
        """Case 2: some number inside the unit is NaN."""
        if not self.inner:
            return
        g, steps = self.c.graph, []
        # Of the circuit as it is defined: what is shown of it is so on −A, B, −C as well.
        one = self.case.calls[0]
        true, result = g.truth(True), unpack(g, one.result, self.ask.spec.operands.d).nan
        for name, found in _inner(one):
            self.ask.progress(f"{name} is NaN")
            c = Composition(g, self.ask.book)
            c.suppose(found.result.nan, True)
            kept = c.replaced(result)
            same = kept is true
            proved = same or c.by_lemma(name, true, kept, name="a NaN inside the unit makes the result NaN")
            self.uses = [*self.uses, *c.uses]
            steps.append(step_of(c, f"{name}.nan", 0, proved and name in self.reached, same))
        failed = next((s.name for s in steps if not s.proved), "")
        yield ClaimPart(
            name="some number inside the unit is NaN",
            status=PartStatus.OPEN if failed else PartStatus.HOLDS, steps=tuple(steps),
            note=f"{failed} was not proved" if failed else "",
        )  # fmt: skip


def _inner(call: Call) -> Iterator[tuple[str, SpecialCases]]:
    """Those of all roundings but the last that may be NaN, each node once, by scope within the call."""
    seen = set()
    *inner, _ = specials_of(call.dot)
    for scope, found in inner:
        nan = found.result.nan
        if nan.op != "const" and nan.index not in seen:
            seen.add(nan.index)
            yield scope.removeprefix(f"call{call.label}."), found
