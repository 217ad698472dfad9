"""Suites: the fewest inputs on which every two designs of a space differ, unless they are proved equal."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from tcformal.checks import check_int, check_positive
from tcformal.design.space import Space
from tcformal.errors import SolverDisagreementError
from tcformal.operands.batch import Index, batch_of, inputs_to_try, lengthened, rows_of, together, witness_at
from tcformal.operands.random import Batch
from tcformal.operands.witness import Witness
from tcformal.proofs.claims.equality import deciders, equal_in_steps
from tcformal.proofs.lemmas import LemmaBook
from tcformal.query.engine import answer
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import Kind
from tcformal.query.shrink.shrink import shrink, witness_cost
from tcformal.query.verdict import Verdict
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits
from tcformal.suites.cover import cover, irredundant, needed_alone
from tcformal.suites.made import Equal, IndexPair, Suite, Undecided
from tcformal.suites.panel import Panel, Results

#: What each solver may use for one question, of which there may be many.
DEFAULT_LIMITS = Limits(time_s=20.0, memory_mb=8192, seed=0)
#: Inputs tried before any solver is asked, unless the caller says otherwise.
VECTORS = 6144
#: Rounds of inputs tried while some designs agree on all so far.
_ROUNDS = 6
#: Inputs kept of a later round.
_KEPT = 256
#: Seconds that making one input readable may take, unless the caller says otherwise.
SHRINK_S = 10.0

#: Takes what is being done, and how many of all pairs are decided.
RoundProgress = Callable[[str, int, int], None]


def suite(
    of: Space,
    *,
    vectors: int = VECTORS,
    seed: int = 0,
    solvers: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    shrink_s: float = SHRINK_S,
    total_s: float | None = None,
    jobs: int | None = None,
    progress: RoundProgress = lambda _doing, _done, _all: None,
) -> Suite:
    """The suite of a space.

    Many seeded inputs are evaluated on all designs at once; what they leave together is asked of the
    solvers, pair by pair.  `limits`, `solvers` and `jobs` are those of one question; no pair is asked about
    later than `total_s` seconds after the start, and those that are left then stay undecided.
    Errors: InputError for designs without a common k, UnknownNameError or MissingSolverError for solvers
    that cannot be asked, SolverDisagreementError where lanes, integers and the oracle do not agree on an
    input.  A pair without an answer is in `undecided`, not an error.
    """
    check_int("vectors", vectors, low=2)
    check_int("seed", seed, low=0)
    check_positive("shrink_s", shrink_s)
    if solvers is not None:
        check_members(solvers)
    if total_s is not None:
        check_positive("total_s", total_s)
    start = time.monotonic()
    progress("building the designs", 0, 1)
    work = _Work(Panel(of.members), vectors, seed, progress)
    work.decide_pairs(solvers, limits, jobs, None if total_s is None else start + total_s)
    progress("choosing inputs", 0, 1)
    chosen, at_least = work.chosen(work.pairs())
    chosen = work.readable(chosen, shrink_s)
    results = work.replayed(chosen)
    made = Suite(
        designs=of.members, k=work.panel.k, inputs=tuple(chosen), results=results,
        equal=tuple(sorted(work.equal, key=lambda e: (e.first, e.second))), undecided=(),
        at_least=min(at_least, len(chosen)), tried=work.tried, asked=work.asked, seed=seed,
        seconds=time.monotonic() - start, refused=len(of.refused), same=len(of.same),
    )  # fmt: skip
    open_ = [u for u in work.undecided if made.separator(u.first, u.second) is None]
    return replace(made, undecided=tuple(open_))


class _Work:
    """The inputs tried so far, and what is known of each pair."""

    def __init__(self, panel: Panel, vectors: int, seed: int, progress: RoundProgress) -> None:
        self.panel = panel
        self.progress = progress
        self.vectors, self.seed = vectors, seed
        self.inputs: Batch = inputs_to_try(panel.designs[0], panel.k, vectors, seed)
        self.results: Results = panel.evaluate(self.inputs)
        self.tried = vectors
        self.equal: list[Equal] = []
        self.undecided: list[Undecided] = []
        self.asked = 0
        self._book: LemmaBook | None = None
        #: The first design of every class.
        self.firsts = list(range(len(panel.designs)))
        for i in range(len(panel.designs)):
            first = next(j for j in range(i + 1) if panel.same_definition(i, j))
            if first != i:
                self._merge(Equal(first, i, "both build the same definition", True))

    # ------------------------------------------------------------------ telling apart
    def decide_pairs(
        self, solvers: Sequence[str] | None, limits: Limits, jobs: int | None, end: float | None
    ) -> None:
        """Try more inputs, then ask about pairs until each is told apart, equal, or without an answer."""
        for more in range(1, _ROUNDS):
            self._search(self.vectors, self.seed + more)
        while (pair := self._together()) is not None:
            if end is not None and time.monotonic() > end:
                known = {(u.first, u.second) for u in self.undecided}
                left = [pair for group in self._groups() for pair in combinations(group, 2)]
                reason = "the time for the whole suite was over before anybody was asked"
                self.undecided += [Undecided(*p, Kind.TIMEOUT, reason) for p in left if p not in known]
                return
            self._progress()
            self._ask(pair, solvers=solvers, limits=limits, jobs=jobs)

    def _ask(self, pair: IndexPair, **how: Any) -> None:
        """Ask about one pair: at few products first, where that says something about all of them."""
        first, second = pair
        self._book = self._book or LemmaBook(members=how["solvers"], limits=how["limits"])
        designs = [self.panel.designs[i] for i in pair]
        proof = equal_in_steps(designs[0], designs[1], self._book, how["limits"], self.panel.k)
        if proof is not None:
            self._merge(Equal(first, second, proof.reason, False, deciders(proof)))
            return
        n = self.panel.step(pair)
        if n < self.panel.k:
            self.asked += 1
            v = answer(self.panel.short_question(pair), **how)
            if v.kind is Kind.EQUIVALENT:
                reason = (
                    f"{v.reason} at k={n}; both pass their result on as c from {n} products to the next {n}"
                )
                self._merge(_equal(pair, v, f"{reason}, so none at k={self.panel.k}"))
                return
            if v.witness is not None and v.found is not None:
                self._add([x for w in (v.witness, v.found) for x in lengthened(w, self.panel.k)])
                if not np.array_equal(self.results[first], self.results[second]):
                    return
        self.asked += 1
        v = answer(self.panel.question([pair]), **how)
        if v.witness is not None and v.found is not None:
            self._add([v.witness, v.found])
        elif v.kind is Kind.EQUIVALENT:
            self._merge(_equal(pair, v, v.reason))
        else:
            self.undecided.append(Undecided(first, second, v.kind, v.reason))

    def _groups(self) -> list[list[int]]:
        """The classes that agree on every input so far."""
        groups: dict[bytes, list[int]] = defaultdict(list)
        for i in self.firsts:
            groups[self.results[i].tobytes()].append(i)
        return list(groups.values())

    def _search(self, vectors: int, seed: int) -> None:
        """Try more inputs on the designs not yet told apart; keep those that do it."""
        groups = [group for group in self._groups() if len(group) > 1]
        if not groups:
            return
        self.progress("trying more inputs", len(self.firsts) - sum(map(len, groups)), len(self.firsts))
        open_ = [i for group in groups for i in group]
        more = inputs_to_try(self.panel.designs[0], self.panel.k, vectors, seed)
        results = dict(zip(open_, self.panel.evaluate(more, open_), strict=True))
        self.tried += vectors
        telling = np.zeros(vectors, bool)
        for group in groups:
            for i in group[1:]:
                telling |= results[group[0]] != results[i]
        if telling.any():
            rows = np.flatnonzero(telling)[:_KEPT]
            self._add([witness_at(more, int(row)) for row in rows])

    def _together(self) -> IndexPair | None:
        """Two classes that agree on every input so far and that were not asked about."""
        asked = {(u.first, u.second) for u in self.undecided}
        pairs = (pair for group in self._groups() for pair in combinations(group, 2))
        return next((pair for pair in pairs if pair not in asked), None)

    def _merge(self, e: Equal) -> None:
        self.equal.append(e)
        self.firsts.remove(e.second)

    def _add(self, witnesses: Sequence[Witness]) -> None:
        more = batch_of(witnesses)
        self.inputs = together(self.inputs, more)
        self.results = np.concatenate([self.results, self.panel.evaluate(more)], axis=1)

    def _progress(self) -> None:
        separated = len(self._groups())
        self.progress("asking solvers about designs not yet told apart", separated, len(self.firsts))

    # ------------------------------------------------------------------ choosing
    def pairs(self) -> list[IndexPair]:
        """The pairs of classes that some input tells apart."""
        together_ = [(u.first, u.second) for u in self.undecided]
        open_ = {p for p in together_ if np.array_equal(self.results[p[0]], self.results[p[1]])}
        return [pair for pair in combinations(self.firsts, 2) if pair not in open_]

    def chosen(self, pairs: Sequence[IndexPair]) -> tuple[list[Witness], int]:
        """Few of the inputs tried that tell all pairs apart, and a lower bound for their number."""
        rows, masks = self._distinct(pairs)
        universe = (1 << len(pairs)) - 1
        costs = _quick_costs(self.panel, rows_of(self.inputs, rows), self.results[:, rows])
        found = cover(masks, costs, universe)
        return [witness_at(self.inputs, int(rows[i])) for i in found.chosen], found.at_least

    def _distinct(self, pairs: Sequence[IndexPair]) -> tuple[Index, list[int]]:
        """The cheapest input for each set of pairs that inputs tell apart, and these sets."""
        every = _quick_costs(self.panel, self.inputs, self.results)
        masks = _masks(self.results, pairs)
        cheapest: dict[int, int] = {}
        for row, mask in enumerate(masks):
            held = cheapest.get(mask)
            if mask and (held is None or every[row] < every[held]):
                cheapest[mask] = row
        return np.array(list(cheapest.values()), np.intp), list(cheapest)

    # ------------------------------------------------------------------ finishing
    def readable(self, chosen: list[Witness], seconds: float) -> list[Witness]:
        """Each input shrunk to what still tells apart the pairs that only it does; the simplest first."""
        pairs = self.pairs()
        if not pairs:
            return []
        universe = (1 << len(pairs)) - 1
        made = list(chosen)
        for i in range(len(made)):
            self.progress("making inputs readable", i, len(made))
            masks = _masks(self.panel.evaluate(batch_of(made)), pairs)
            own = needed_alone(range(len(made)), masks, universe, i)
            wanted = [pair for j, pair in enumerate(pairs) if own >> j & 1]
            if wanted:
                made[i] = shrink(self.panel.question(wanted), made[i], seconds=seconds)
        masks = _masks(self.panel.evaluate(batch_of(made)), pairs)
        simple = self.panel.question([pairs[0]])
        costs = [witness_cost(simple, w) for w in made]
        kept = irredundant(masks, costs, universe)
        return [made[i] for i in sorted(kept, key=lambda i: costs[i])]

    def replayed(self, chosen: Sequence[Witness]) -> tuple[tuple[int, ...], ...]:
        """Every design's result on every input, the same on lanes, integers and the oracle."""
        if not chosen:
            return ()
        lanes = self.panel.evaluate(batch_of(chosen))
        rows = []
        for i, w in enumerate(chosen):
            self.progress("replaying on integers and on exact fractions", i, len(chosen))
            row = tuple(int(x) for x in lanes[:, i])
            for how, again in (("integers", self.panel.integers(w)), ("oracle", self.panel.oracle(w))):
                for spec, x, y in zip(self.panel.designs, row, again, strict=True):
                    if x != y:
                        raise SolverDisagreementError(
                            f"expected {x:#x} from {spec.name} on {how} as by lanes, but got {y:#x} on {w}"
                        )
            rows.append(row)
        return tuple(rows)


def _equal(pair: IndexPair, v: Verdict[EqualityQuestion], reason: str) -> Equal:
    made = None if v.certificate is None else v.certificate.to_json()
    return Equal(*pair, reason, False, v.confirmed_by, made)


def _masks(results: Results, pairs: Sequence[IndexPair]) -> list[int]:
    """For each input the pairs that it tells apart, as bits."""
    first, second = (np.array([pair[i] for pair in pairs], np.intp) for i in (0, 1))
    return [
        int.from_bytes(np.packbits(column[first] != column[second], bitorder="little").tobytes(), "little")
        for column in results.T
    ]


def _quick_costs(panel: Panel, x: Batch, results: Results) -> list[int]:
    """How hard inputs are to read, roughly: products that are not zero, set bits, NaN or Inf in results."""
    terms = ((x.a != 0) | (x.b != 0)).sum(axis=1)
    bits = np.bitwise_count(x.a).sum(axis=1) + np.bitwise_count(x.b).sum(axis=1) + np.bitwise_count(x.c)
    d = panel.designs[0].operands.d
    special = np.any(d.is_special(results), axis=0)
    return [int(c) for c in 400 * (terms + (x.c != 0)) + 12 * bits.astype(np.int64) + 4000 * special]
