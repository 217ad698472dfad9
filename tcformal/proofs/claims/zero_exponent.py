"""Claim `zero-exponent`: below every term that is not zero, the exponent of zero terms changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tcformal.design.axes import axes
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph, Stage
from tcformal.ir.node import Node
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, Finding, PartStatus, require_truncated_sum
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cuts import Composition, ProofStep, step_of
from tcformal.proofs.tactics.maxima import Half, Maxima, tree
from tcformal.proofs.tactics.sum_steps import SumSteps, terms_of

#: What is rounded from a sum; the word takes special cases along, which no exponent decides.
_ROUNDED = ("rounded.sign", "rounded.significand", "rounded.exponent", "rounded.overflow", "result")


def zero_exponent(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """The unit against itself with every other exponent of zero terms that lies below all other terms'.

    Soundness, block by block, for two exponents z and z' of zero terms: (1) either all terms are zero, or
    both maxima of the exponents are equal: one lemma for each comparison of their trees, of subtrees whose
    terms are all zero (then both are z and z') or not (then both are equal, and at least z and z').  (2) A
    zero term has a significand of zero, so that it is kept as zero; for another term not all are zero, both
    maxima are equal, and so is what is kept: one lemma for each term.  (3) Where all terms are zero, so
    is the sum.  (4) The sums are one, and either it is zero or both maxima are equal: what is rounded from
    it is equal.  Special cases do not look at exponents.
    """
    spec = ask.spec
    _check(spec)
    parts, applied = [], []
    for other in others(spec):
        ask.progress(f"zero terms at {other.design.zero_exponent}")
        proof = _Pair.of(ask, spec, other)
        parts.append(proof.part())
        applied += [u.lemma for u in proof.c.uses]
    names = ", ".join(p.name for p in parts)
    finding = Finding(
        parts=tuple(parts),
        composition=f"zero terms at {spec.design.zero_exponent}, or at any of {names}: the same results",
        reason=f"no input tells the exponent {spec.design.zero_exponent} of zero terms from {names}",
    )
    return finding, applied


def _check(spec: UnitSpec) -> None:
    require_truncated_sum(spec, "zero-exponent")
    d = spec.design
    if spec.emulation is not None or d.group is not None or d.c_position != "joined" or d.normalise_products:
        raise InputError(f"expected a plain T-FDPA unit for claim zero-exponent, but got {spec.name}")
    if d.zero_exponent == "own":
        raise InputError(f"expected one exponent for zero terms for claim zero-exponent, but got {spec.name}")
    if not others(spec):
        raise InputError(
            f"expected terms whose exponents are above {d.zero_exponent} for claim zero-exponent, "
            f"but those of {spec.name} are not"
        )


def others(spec: UnitSpec) -> list[UnitSpec]:
    """The unit with each other exponent of zero terms that a paper names, below the terms of its formats."""
    found = []
    for text in axes(spec)["zero_exponent"]:
        value = text.partition("=")[2]
        zero: int | str = value if value in ("own", "none") else int(value)
        own = spec.design.zero_exponent
        if zero != own and _below_all(spec, zero) and _below_all(spec, own):
            design = replace(spec.design, zero_exponent=zero)  # type: ignore[arg-type]
            found.append(replace(spec, name=f"{spec.name}@zero_exponent={value}", design=design))
    return found


def same_results(ask: Asking, other: UnitSpec) -> tuple[ClaimPart, list[Lemma]] | None:
    """The claim about two units that differ in the exponent of zero terms only; None for another pair."""
    spec = ask.spec
    mine, theirs = spec.design.zero_exponent, other.design.zero_exponent
    try:
        _check(spec)
    except InputError:
        return None
    alike = replace(other.design, zero_exponent=mine) == spec.design and other.operands == spec.operands
    if not alike or other.k != spec.k or not all(_below_all(spec, z) for z in (mine, theirs)):
        return None
    proof = _Pair.of(ask, spec, other)
    return proof.part(), [u.lemma for u in proof.c.uses]


def _below_all(spec: UnitSpec, zero: int | str) -> bool:
    """Whether an exponent of zero terms lies below those of all others, or takes no part."""
    o = spec.operands
    return zero == "none" or (isinstance(zero, int) and zero < min(o.a.e_min + o.b.e_min, o.c.e_min))


class _Pair:
    """Two units that differ in the exponent of zero terms, in one graph."""

    def __init__(self, c: Composition, spec: UnitSpec, other: UnitSpec, results: tuple[Node, Node]) -> None:
        self.c, self.spec, self.other, self.results = c, spec, other, results

    @staticmethod
    def of(ask: Asking, spec: UnitSpec, other: UnitSpec) -> _Pair:
        """Build both units on the same inputs."""
        g = Graph()
        x = declare_inputs(g, spec, spec.k)
        results = []
        for side, unit in (("A", spec), ("B", other)):
            with g.scope(side):
                results.append(chained_dot(g, unit, x))
        return _Pair(Composition(g, ask.book), spec, other, (results[0], results[1]))

    def part(self) -> ClaimPart:
        """Every block, up to one that fails."""
        labels = self.c.graph.labels
        scopes = [n[2 : -len(".sum")] for n in labels if n.startswith("A.") and n.endswith(".sum")]
        steps: list[ProofStep] = []
        for scope in scopes:
            since = len(self.c.uses)
            steps.append(step_of(self.c, f"{scope}.result", since, self._block(scope), False))
            if not steps[-1].proved:
                break
        since = len(self.c.uses)
        same = self.c.equal(self.results[0], self.c.replaced(self.results[1]))
        steps.append(step_of(self.c, "d", since, same, same))
        failed = next((s.name for s in steps if not s.proved), "")
        return ClaimPart(
            name=str(self.other.design.zero_exponent),
            status=PartStatus.OPEN if failed else PartStatus.HOLDS, steps=tuple(steps),
            note=f"{failed} was not proved equal" if failed else "",
        )  # fmt: skip

    # ------------------------------------------------------------------ one block
    def _block(self, scope: str) -> bool:
        c, g = self.c, self.c.graph
        one, two = SumSteps(c, f"A.{scope}"), SumSteps(c, f"B.{scope}")
        terms = terms_of(g.labels, one.where)
        first, second = (s.stage("e_max") for s in (one, two))
        first, second = tree(first), tree(Stage(c.replaced(second.node), False, second.offset, 0))
        maxima = Maxima(one, terms, (first, second), (self.spec, self.other))
        root = maxima.half(first.node, second.node)
        if root is None:
            return False
        empty = []
        others_ = terms_of(g.labels, two.where)
        for term, other, known in zip(terms, others_, maxima.known, strict=True):
            fact = self._kept(one, term, c.replaced(other["aligned"].node), root, known, maxima)
            if fact is None:
                return False
            empty.append(fact)
        total = one.stage("sum").node
        if not c.equal(total, c.replaced(two.stage("sum").node)):
            return False
        nothing = g.or_(g.not_(root.zero), g.is_zero(total))
        cut = [root.zero, *(t[part].node for t in terms for part in ("sign", "aligned"))]
        if not one.fact(nothing, cut, "a sum of zero terms is zero", empty):
            return False
        seconds = c.all_replaced([two.stage(name).node for name in _ROUNDED])
        pairs = list(zip((one.stage(name).node for name in _ROUNDED), seconds, strict=True))
        flags = [one.stage(name).node for name in ("nan", "positive_inf", "negative_inf")]
        return c.by_lemmas(
            scope, pairs, given=[root.fact, nothing], cut=[total, root.first, root.second, root.zero, *flags],
            name="what is rounded at one of two maxima is rounded at the other",
        )  # fmt: skip

    def _kept(
        self,
        one: SumSteps,
        term: Mapping[str, Stage],
        other: Node,
        root: Half,
        known: Sequence[Node],
        maxima: Maxima,
    ) -> Node | None:
        """(2): a term is kept alike on both sides; the fact that it is kept as zero where all are zero."""
        c, g = self.c, self.c.graph
        zero, kept, significand = (term[part].node for part in ("zero", "aligned", "significand"))
        none = g.or_(g.not_(zero), g.is_zero(significand))
        name = "a term that is zero has a significand of zero"
        if not c.by_lemma(one.where, g.truth(True), none, name=name, depths=(None,)):
            return None
        alive = g.or_(zero, g.not_(root.zero))
        if not one.fact(alive, _leaves_of_and(root.zero), "not all terms are zero where one is not"):
            return None
        cut = [significand, zero, term["exponent"].node, root.first, root.second, root.zero]
        given = [none, alive, root.fact, *known]
        gone = g.or_(g.not_(root.zero), g.is_zero(kept))
        name = "a term is kept alike below equal maxima"
        proved = c.by_lemma(one.where, kept, other, given=given, cut=cut, name=name)
        if not proved:
            # Distances of other widths are equal only because no exponent is above its maximum.
            met = self._met(one, term, (kept, other), maxima)
            proved = met is not None and c.by_lemma(
                one.where, kept, other, given=[*given, *met], cut=cut, name=name
            )
        proved = proved and one.fact(gone, cut, "a zero term is kept as zero", given)
        return gone if proved else None

    def _met(
        self, one: SumSteps, term: Mapping[str, Stage], kept: tuple[Node, Node], maxima: Maxima
    ) -> list[Node] | None:
        """On both sides, the term's exponent and its distance are the maximum, unless the term is zero."""
        g, facts = self.c.graph, []
        cut = [t[part].node for t in maxima.all_terms for part in ("exponent", "zero")]
        given = [fact for known in maxima.known for fact in known]
        for x, e_max in zip(kept, maxima.both, strict=True):
            if x.op != "lshr":
                return None
            facts.append(g.or_(term["zero"].node, one.meet(e_max, term["exponent"], x.args[1])))
            name = f"e_max of {len(maxima.all_terms)} exponents is one exponent and its distance"
            if not one.fact(facts[-1], cut, name, given):
                return None
        return facts


def _leaves_of_and(x: Node) -> list[Node]:
    """The operands of a tree of conjunctions."""
    return [x] if x.op != "and_" else [leaf for a in x.args for leaf in _leaves_of_and(a)]
