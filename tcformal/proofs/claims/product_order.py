"""Claim `product-order`: the order of the k products does not matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.operands.witness import Witness
from tcformal.programs.chain import OperandNodes, chained_dot, declare_inputs
from tcformal.proofs.claim import (
    Asking,
    ClaimPart,
    Counterexample,
    Finding,
    PartStatus,
    counterexample,
    equate,
    pairs_of_cuts,
    searched,
)
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cuts import Composition, ProofStep
from tcformal.semantics.stages import Dot
from tcformal.semantics.unpack import unpack

#: Stages that do not change when products change places.
CUTS = (
    "total", "zero", "e_max", "sum", "some_nan", "positive_inf", "negative_inf", "nan", "inf", "result",
)  # fmt: skip

#: Questions that look for a witness, the plainest first: how many products are free (None: all of them),
#: and whether both results are to be finite.  All but the widest are given a few seconds only.
_BRIEFLY_S = 10.0
_SEARCHES: tuple[tuple[int | None, bool], ...] = ((2, True), (4, True), (2, False), (None, False))


@dataclass(frozen=True, slots=True)
class Exchange:
    """The unit on its inputs (A), and with products i and i + 1 exchanged (B), in one graph."""

    graph: Graph
    dots: tuple[Dot, Dot]

    @property
    def results(self) -> tuple[Node, Node]:
        """The results of both."""
        return self.dots[0].result, self.dots[1].result

    @staticmethod
    def of(spec: UnitSpec, i: int, free: int | None = None) -> Exchange:
        """Both circuits; with `free`, only that many products around i are inputs and the others 0·0."""
        g = Graph()
        x = declare_inputs(g, spec, spec.k)
        if free is not None:
            first = i + 1 - free // 2
            kept = range(max(0, first), first + free)
            zero_a, zero_b = (g.const(0, fmt.width) for fmt in (spec.operands.a, spec.operands.b))
            a = [w if k in kept else zero_a for k, w in enumerate(x.a)]
            b = [w if k in kept else zero_b for k, w in enumerate(x.b)]
            x = replace(x, a=a, b=b)
        other = OperandNodes(exchanged(x.a, i), exchanged(x.b, i), x.c, x.scale_a, x.scale_b)
        dots = []
        for side, inputs in (("A", x), ("B", other)):
            with g.scope(side):
                dots.append(chained_dot(g, spec, inputs))
        return Exchange(g, (dots[0], dots[1]))


def exchanged(row: Sequence[Node], i: int) -> list[Node]:
    """A row with elements i and i + 1 exchanged."""
    return [*row[:i], row[i + 1], row[i], *row[i + 2 :]]


def product_order(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """Every adjacent transposition of the products, proved by cuts or refuted by a witness.

    Soundness: each part speaks of all inputs.  Exchanging neighbours i and i + 1 for every i in a run of
    positions generates every permutation of that run (bubble sort), and a result unchanged by each
    exchange is unchanged by every sequence of them, because each applies to the inputs that the one
    before has left.  The orders proved equal are therefore those within the runs of positions that proved
    transpositions connect: all orders exactly where one run holds all k positions.
    """
    spec, parts = ask.spec, []
    applied: list[Lemma] = []
    known: list[tuple[int, Counterexample]] = []
    for i in range(spec.k - 1):
        ask.progress(f"products {i} and {i + 1} exchanged")
        part = _transposition(ask, i, known, applied)
        if part.witness is not None:
            known.append((i, part.witness))
        parts.append(part)
    runs = _runs(spec.k, [i for i, p in enumerate(parts) if p.status is PartStatus.HOLDS])
    shown = ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)
    count = sum(p.status is PartStatus.HOLDS for p in parts)
    between = [p.name for p in parts if p.status is PartStatus.VIOLATED]
    finding = Finding(
        parts=tuple(parts),
        composition=(
            f"{count} of {spec.k - 1} exchanges of neighbours change no result; they generate every order "
            f"of the products within {shown}"
        ),
        reason=f"no order of the {spec.k} products changes the result",
        violated=(
            f"the order matters: {len(between)} of {spec.k - 1} exchanges of neighbours change a result, "
            f"the first that of {between[0]}; within {shown} the order does not matter"
            if between else ""
        ),
    )  # fmt: skip
    return finding, applied


def _runs(k: int, proved: Sequence[int]) -> list[list[int]]:
    """The positions 0…k-1 in runs connected by proved exchanges of neighbours."""
    runs = [[0]]
    for i in range(k - 1):
        if i in proved:
            runs[-1].append(i + 1)
        else:
            runs.append([i + 1])
    return runs


def _transposition(
    ask: Asking, i: int, known: Sequence[tuple[int, Counterexample]], applied: list[Lemma]
) -> ClaimPart:
    """Products i and i + 1: a quick proof, else a witness, else a proof with definitions restored."""
    name = f"products {i} and {i + 1}"
    both = Exchange.of(ask.spec, i)
    steps: tuple[ProofStep, ...] = ()
    for depths in ((0,), (4, None)):
        steps, proved, lemmas = prove_exchange(ask, both, depths)
        applied += lemmas
        if proved:
            return ClaimPart(name=name, status=PartStatus.HOLDS, steps=steps)
        if depths == (0,):
            witness = _witness(ask, i, known)
            if witness is not None:
                return ClaimPart(name=name, status=PartStatus.VIOLATED, witness=witness)
    failed = next((s.name for s in steps if not s.proved), "the result")
    note = f"{failed} was not proved equal, and no witness found"
    return ClaimPart(name=name, status=PartStatus.OPEN, steps=steps, note=note)


def prove_exchange(
    ask: Asking, both: Exchange, depths: Sequence[int | None]
) -> tuple[tuple[ProofStep, ...], bool, list[Lemma]]:
    """Both results made one node, cut by cut; the first cut that fails ends the attempt."""
    c = Composition(both.graph, ask.book)
    steps = []
    pairs = [(name, x.node, y.node) for name, x, y in pairs_of_cuts(*both.dots, CUTS)]
    for name, x, y in (*pairs, ("d", *both.results)):
        steps.append(equate(c, name, x, y, depths=depths))
        if not steps[-1].proved:
            break
    proved = c.equal(*both.results)
    return tuple(steps), proved, [u.lemma for u in c.uses]


def _witness(ask: Asking, i: int, known: Sequence[tuple[int, Counterexample]]) -> Counterexample | None:
    """Operands whose result changes when products i and i + 1 change places."""
    for place, w in reversed(known):
        moved = _moved(w.first, i - place)
        again = None if moved is None else _replayed(ask.spec, moved, i, w.found_by)
        if again is not None:
            return again
    for free, finite in _SEARCHES:
        both = Exchange.of(ask.spec, i, free)
        g, (x, y) = both.graph, both.results
        differ = g.not_(g.eq(x, y))
        if finite:
            numbers = [unpack(g, word, ask.spec.operands.d) for word in both.results]
            differ = g.and_(differ, *(g.not_(g.or_(n.nan, n.inf)) for n in numbers))
        found = searched(ask, g, differ, None if free is None else _BRIEFLY_S)
        if found is not None:
            model, finder = found
            return _replayed(ask.spec, _only(model, ask.spec.k, i, free), i, finder)
    return None


def _only(model: dict[str, int], k: int, i: int, free: int | None) -> Witness:
    """The model's operands, those that were not free being zero."""
    w = Witness.of(model, k)
    if free is None:
        return w
    first = i + 1 - free // 2
    kept = range(max(0, first), first + free)
    a, b = (tuple(x if j in kept else 0 for j, x in enumerate(row)) for row in (w.a, w.b))
    return replace(w, a=a, b=b)


def _moved(w: Witness, by: int) -> Witness | None:
    """The same products `by` places further on; None where one would fall off the end."""
    k = len(w.a)
    places = [j for j in range(k) if w.a[j] or w.b[j]]
    if any(not 0 <= j + by < k for j in places):
        return None
    rows: Iterator[tuple[int, ...]] = (
        tuple(row[j - by] if 0 <= j - by < k else 0 for j in range(k)) for row in (w.a, w.b)
    )
    a, b = rows
    return replace(w, a=a, b=b)


def _replayed(spec: UnitSpec, w: Witness, i: int, finder: str) -> Counterexample | None:
    """The witness on integers and on the oracle, in both orders."""

    def other(row: tuple[int, ...]) -> tuple[int, ...]:
        return (*row[:i], row[i + 1], row[i], *row[i + 2 :])

    swapped = replace(w, a=other(w.a), b=other(w.b))
    return counterexample((spec, w), (spec, swapped), finder)
