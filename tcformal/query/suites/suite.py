"""Construction of a suite: fewest inputs on which designs differ, or are proved equal; a public name."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from tcformal.callbacks import ignore
from tcformal.checks import check_int, check_positive
from tcformal.design.names import resolve
from tcformal.design.space import Space, space
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, SolverDisagreementError
from tcformal.ir.node import Node
from tcformal.query.engine import answer
from tcformal.query.options import SolveOptions
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import Kind
from tcformal.query.shrink import shrink, witness_cost
from tcformal.query.suites.cover import cover, covered_only_by, distinguishing_rows, irredundant, split_cover
from tcformal.query.suites.made import LISTED, Equal, IndexPair, Suite, Undecided, fewest
from tcformal.query.suites.panel import Panel
from tcformal.query.verdict import Verdict
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, lengthened, together, witness_at
from tcformal.simulation.operands.inputs import inputs_to_try, pool_of
from tcformal.simulation.operands.witness import Witness
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits
from tcformal.theory.equality import equal_by_theorem


def chosen(
    panel: Panel, inputs: Batch, results: Raw, pairs: Sequence[IndexPair]
) -> tuple[list[Witness], int]:
    """Few of the tried inputs that distinguish all pairs, with a lower bound on their number."""
    costs = _quick_costs(panel, inputs, results)
    #: The cheapest input for each distinct set of distinguished pairs.
    cheapest: dict[int, int] = {}
    for row, mask in enumerate(_masks(results, pairs)):
        if mask and (mask not in cheapest or costs[row] < costs[cheapest[mask]]):
            cheapest[mask] = row
    rows = list(cheapest.values())
    selection = cover(list(cheapest), [costs[row] for row in rows], (1 << len(pairs)) - 1)
    return [witness_at(inputs, rows[i]) for i in selection.chosen], selection.at_least


def readable(
    panel: Panel,
    inputs: Sequence[Witness],
    pairs: Sequence[IndexPair],
    seconds: float,
    progress: Callable[[str, int, int], None],
) -> list[Witness]:
    """Inputs shrunk while each still distinguishes the pairs that only it does, simplest first."""
    if not pairs:
        return []
    universe = (1 << len(pairs)) - 1
    made = list(inputs)
    for i in range(len(made)):
        progress("making inputs readable", i, len(made))
        masks = _masks(panel.evaluate(batch_of(made)), pairs)
        own = covered_only_by(range(len(made)), masks, universe, i)
        wanted = [pair for j, pair in enumerate(pairs) if own >> j & 1]
        if wanted:
            made[i] = shrink(panel.question(wanted), made[i], seconds=seconds)
    masks = _masks(panel.evaluate(batch_of(made)), pairs)
    simple = panel.question([pairs[0]])
    costs = [witness_cost(simple, w) for w in made]
    kept = irredundant(masks, costs, universe)
    return [made[i] for i in sorted(kept, key=lambda i: costs[i])]


def _masks(results: Raw, pairs: Sequence[IndexPair]) -> list[int]:
    """The pairs that each input distinguishes, as bit masks."""
    first, second = (np.array([pair[i] for pair in pairs], np.intp) for i in (0, 1))
    return [
        int.from_bytes(np.packbits(column[first] != column[second], bitorder="little").tobytes(), "little")
        for column in results.T
    ]


def _quick_costs(panel: Panel, x: Batch, results: Raw) -> list[int]:
    """Estimated reading costs of inputs: nonzero products, set bits, NaN or Inf in results."""
    terms = ((x.a != 0) | (x.b != 0)).sum(axis=1)
    bits = np.bitwise_count(x.a).sum(axis=1) + np.bitwise_count(x.b).sum(axis=1) + np.bitwise_count(x.c)
    d = panel.designs[0].operands.d
    special = np.any(d.is_special(results), axis=0)
    return [int(c) for c in 400 * (terms + (x.c != 0)) + 12 * bits.astype(np.int64) + 4000 * special]


#: What each solver may use for one question, of which there may be many.
DEFAULT_LIMITS = Limits(time_s=20.0, memory_mb=8192, seed=0)
#: Inputs tried before any solver is asked, unless the caller says otherwise.
VECTORS = 6144
#: Rounds of inputs tried while some designs agree on all so far.
_ROUNDS = 6
#: Inputs kept of a later round.
_KEPT, _KEPT_OF_MANY = 256, 64
#: Raw of one round on all designs of a larger space, and inputs of such a round at least.
_RESULTS, _FEWEST = 1 << 22, 192
#: Raw of a larger space that are replayed one by one.
_REPLAYED = 50_000
#: Seconds that a solver has for one question about a larger space.
_MANY_LIMIT = 2.0
#: Seconds after which nobody is asked about a pair of a larger space, unless the caller says otherwise.
MANY_S = 40.0
#: Seconds that making one input readable may take, unless the caller says otherwise.
SHRINK_S = 10.0

#: Takes what is being done, and how many of all pairs are decided.
RoundProgress = Callable[[str, int, int], None]


def suite_of(
    of: Space,
    how: SolveOptions,
    *,
    vectors: int = VECTORS,
    shrink_s: float = SHRINK_S,
    total_s: float | None = None,
    progress: RoundProgress = lambda _doing, _done, _all: None,
) -> Suite:
    """Construct the suite of a space.

    Many seeded inputs are evaluated on all designs at once; what they leave together is asked of the
    solvers, pair by pair.  `how` holds for one question, its seed draws the inputs; no pair is asked about
    later than `total_s` seconds after the start (of more than LISTED designs: MANY_S unless given), and those
    that are left then stay undecided.  Inputs for more than LISTED designs are not shrunk.
    Errors: InputError for designs without a common k, UnknownNameError or MissingSolverError for solvers
    that cannot be asked, SolverDisagreementError where lanes, integers and the oracle do not agree on an
    input.  A pair without an answer is in `undecided`, not an error.
    """
    check_int("vectors", vectors, low=2)
    check_int("seed", how.limits.seed, low=0)
    check_positive("shrink_s", shrink_s)
    if how.solvers is not None:
        check_members(how.solvers)
    if total_s is not None:
        check_positive("total_s", total_s)
    start = time.monotonic()
    progress("building the designs", 0, 1)
    work = _Work(Panel(of.members), vectors, how.limits.seed, progress)
    total_s = MANY_S if total_s is None and work.many else total_s
    work.decide_pairs(how, None if total_s is None else start + total_s)
    inputs, at_least = work.chosen(shrink_s)
    results, replayed = work.replayed(inputs)
    made = Suite(
        designs=of.members, k=work.panel.k, inputs=tuple(inputs), results=results,
        equal=tuple(sorted(work.equal, key=lambda e: (e.first, e.second))), undecided=(),
        at_least=at_least, tried=work.tried, asked=work.asked, seed=work.seed, replayed=replayed,
        seconds=time.monotonic() - start, refused=len(of.refused), same=len(of.same),
    )  # fmt: skip
    open_ = [u for u in work.undecided if made.separator(u.first, u.second) is None]
    return replace(made, undecided=tuple(open_), at_least=min(at_least, fewest(made)))


class _Work:
    """The state of a construction: tried inputs, and the status of each pair."""

    def __init__(self, panel: Panel, vectors: int, seed: int, progress: RoundProgress) -> None:
        self.panel = panel
        self.progress = progress
        self.vectors, self.seed = vectors, seed
        self.many = len(panel.designs) > LISTED
        first = self._affordable(len(panel.designs), _RESULTS)
        self.inputs: Batch = inputs_to_try(panel.designs[0], panel.k, first, seed)
        self.results: Raw = panel.evaluate(self.inputs)
        self.tried = first
        self.equal: list[Equal] = []
        self.undecided: list[Undecided] = []
        self.asked = 0
        #: The first design of every class.
        self.firsts = dict.fromkeys(range(len(panel.designs)))

    # ------------------------------------------------------------------ distinguishing designs
    def decide_pairs(self, how: SolveOptions, end: float | None) -> None:
        """Try more inputs, then ask about pairs until each is distinguished, equal, or unanswered."""
        for extra in range(1, _ROUNDS):
            self._search(self.seed + extra)
        if not self.many:
            self._merge_definitions([*self.firsts])
        if self.many:
            # Theorems on parameters come before questions about whole designs.
            how = replace(how, limits=replace(how.limits, time_s=min(how.limits.time_s, _MANY_LIMIT)))
            self._decide(end, self._proved)
        self._decide(end, lambda pair: self._ask(pair, how))
        self._leave()

    def _decide(self, end: float | None, ask: Callable[[IndexPair], object]) -> None:
        """Ask about every pair that agrees on all inputs so far, within the time limit."""
        for pair in self._together():
            if end is not None and time.monotonic() > end:
                return
            self.progress("asking about designs that no input tells apart", len(self.equal), len(self.firsts))
            ask(pair)

    def _merge_definitions(self, some: Sequence[int]) -> None:
        """Merge designs that build the same DAG."""
        by_root: dict[Node, int] = {}
        for i in some:
            first = by_root.setdefault(self.panel.root(i), i)
            if first != i:
                self._merge(Equal(first, i, "both build the same definition", True))

    def _leave(self) -> None:
        """Mark all remaining pairs as undecided, after the time limit."""
        asked = {(u.first, u.second) for u in self.undecided}
        reason = "the time for the whole suite was over before anybody was asked"
        for group in self._groups():
            pairs = ((group[0], i) for i in group[1:]) if self.many else combinations(group, 2)
            self.undecided += [Undecided(*p, Kind.TIMEOUT, reason) for p in pairs if p not in asked]

    def _ask(self, pair: IndexPair, how: SolveOptions) -> None:
        """Ask about one pair: with few products first, where that decides the full length."""
        first, second = pair
        if self._proved(pair):
            return
        n = self.panel.step(pair)
        if n < self.panel.k:
            self.asked += 1
            v = answer(self.panel.short_question(pair), how)
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
        v = answer(self.panel.question([pair]), how)
        if v.witness is not None and v.found is not None:
            self._add([v.witness, v.found])
        elif v.kind is Kind.EQUIVALENT:
            self._merge(_equal(pair, v, v.reason))
        else:
            self.undecided.append(Undecided(first, second, v.kind, v.reason))

    def _proved(self, pair: IndexPair) -> bool:
        """Whether theorems about the differing parameters prove two designs equal."""
        first, second = (self.panel.designs[i] for i in pair)
        proof = equal_by_theorem(first, second, self.panel.k)
        if proof is not None:
            self._merge(Equal(*pair, proof.reason, False))
        return proof is not None

    def _groups(self) -> list[list[int]]:
        """The classes grouped by equal results on all inputs so far."""
        groups: dict[bytes, list[int]] = defaultdict(list)
        for i in self.firsts:
            groups[self.results[i].tobytes()].append(i)
        return list(groups.values())

    def _affordable(self, designs: int, results: int) -> int:
        """The number of inputs in one round: fewer for many designs."""
        return min(self.vectors, max(_FEWEST, results // designs)) if self.many else self.vectors

    def _search(self, seed: int) -> None:
        """Try more inputs on the designs that still agree, and keep those that distinguish some."""
        groups = [group for group in self._groups() if len(group) > 1]
        if not groups:
            return
        self.progress("trying more inputs", len(self.firsts) - sum(map(len, groups)), len(self.firsts))
        open_ = [i for group in groups for i in group]
        vectors = self._affordable(len(open_), _RESULTS // 4)
        drawn = pool_of if self.many else inputs_to_try
        vectors_drawn = drawn(self.panel.designs[0], self.panel.k, vectors, seed)
        results = self.panel.evaluate(vectors_drawn, open_)
        self.tried += len(vectors_drawn.c)
        rows = distinguishing_rows(
            np.repeat(np.arange(len(groups)), [*map(len, groups)]),
            results,
            _KEPT_OF_MANY if self.many else _KEPT,
        )
        if rows:
            self._add([witness_at(vectors_drawn, row) for row in rows])

    def _together(self) -> Iterator[IndexPair]:
        """The pairs of classes that agree on every input so far, generated as inputs are added."""
        while True:
            inputs = len(self.inputs.c)
            asked = {(u.first, u.second) for u in self.undecided}
            for group in (group for group in self._groups() if len(group) > 1):
                if self.many:
                    self._merge_definitions([i for i in group if i in self.firsts])
                for first, second in combinations(group, 2):
                    if first in self.firsts and second in self.firsts and (first, second) not in asked:
                        yield first, second
                    if len(self.inputs.c) != inputs:
                        break
                if len(self.inputs.c) != inputs:
                    break
            else:
                return

    def _merge(self, e: Equal) -> None:
        self.equal.append(e)
        del self.firsts[e.second]

    def _add(self, witnesses: Sequence[Witness]) -> None:
        added = batch_of(witnesses)
        self.inputs = together(self.inputs, added)
        self.results = np.concatenate([self.results, self.panel.evaluate(added)], axis=1)

    # ------------------------------------------------------------------ finishing
    def chosen(self, shrink_s: float) -> tuple[list[Witness], int]:
        """The suite's inputs, with a lower bound on their number among the tried ones."""
        self.progress("choosing inputs", 0, 1)
        if self.many:
            costs = _quick_costs(self.panel, self.inputs, self.results)
            few = split_cover(self.results[np.array([*self.firsts], np.intp)], costs)
            rows = sorted(few.chosen, key=lambda row: costs[row])
            return [witness_at(self.inputs, row) for row in rows], few.at_least
        together_ = [(u.first, u.second) for u in self.undecided]
        open_ = {p for p in together_ if np.array_equal(self.results[p[0]], self.results[p[1]])}
        pairs = [pair for pair in combinations(self.firsts, 2) if pair not in open_]
        made, at_least = chosen(self.panel, self.inputs, self.results, pairs)
        return readable(self.panel, made, pairs, shrink_s, self.progress), at_least

    def replayed(self, inputs: Sequence[Witness]) -> tuple[tuple[tuple[int, ...], ...], int]:
        """Every design's result on every input, and the number of results confirmed on integers and the
        oracle.

        Those are all, or of a larger space _REPLAYED, some of every input and some of every design.
        """
        if not inputs:
            return (), 0
        lanes = self.panel.evaluate(batch_of(inputs))
        designs = self.panel.designs
        step = max(1, lanes.size // _REPLAYED) if self.many else 1
        count = 0
        for i, w in enumerate(inputs):
            self.progress("replaying on integers and on exact fractions", i, len(inputs))
            some = [j for j in range(len(designs)) if (j + i) % step == 0]
            for how, again in (
                ("integers", self.panel.integers(w, some)), ("oracle", self.panel.oracle(w, some)),
            ):  # fmt: skip
                for j, y in zip(some, again, strict=True):
                    if (x := int(lanes[j, i])) != y:
                        raise SolverDisagreementError(
                            f"expected {x:#x} from {designs[j].name} on {how} as by lanes, "
                            f"but got {y:#x} on {w}"
                        )
            count += len(some)
        return tuple(tuple(map(int, column)) for column in lanes.T), count


def _equal(pair: IndexPair, v: Verdict[EqualityQuestion], reason: str) -> Equal:
    certificate = None if v.certificate is None else v.certificate.to_json()
    return Equal(*pair, reason, False, v.confirmed_by, certificate)


def suite(
    units: str | Unit | UnitSpec | Sequence[str | Unit | UnitSpec],
    *,
    vary: Sequence[str] = (),
    vectors: int = VECTORS,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    jobs: int | None = None,
    total_s: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Suite:
    """Find the fewest inputs on which every two designs differ or are proved equal.

    Shapes: one unit alone stands for itself and every variation of one of its parameters; with `vary`
    (`["fraction_bits=10..40"]`), each unit takes every combination of the values; several units are compared
    with each other.  Units of equal operand formats and scales, at most 10,000 designs.
    Ranges and units: `vectors` inputs, at least 2, are tried in one round before solvers are asked; `limits`
    hold for each solver on one pair of designs, 20 s unless given, and their seed draws the inputs too;
    `jobs` solvers run at a time; no pair is asked about later than `total_s` seconds after the start;
    `solvers` and `progress` are those of `separate`.
    Zero, NaN, Inf: results are compared as encodings.
    Errors: UnknownNameError for unknown units, parameters or solvers; InputError for designs that cannot be
    compared, or fewer than two of them; MissingSolverError for a solver that is not installed;
    SolverDisagreementError where lanes, integers and the oracle do not agree on an input.  A pair without an
    answer stands in `undecided` of the result.
    Source: the units' own.

    Examples:
        >>> found = tcformal.suite("valpey@terms=3", vary=["carry_bits=1..3"], vectors=256)
        >>> found
        <Suite of 1 inputs for 2 classes of 3 designs, k=2>
        >>> found.inputs
        (<Witness of 2 products, 2 not 0·0: k=0 0x3e00·0x3c00, k=1 0x3e00·0x3c00, c=0x3f800000>,)
    """
    listed = [units] if isinstance(units, str | Unit | UnitSpec) else list(units)
    for spec in (specs := [spec_of(u) for u in listed]):
        if resolve(spec.name) != spec:
            raise InputError(
                f"expected a unit as its name defines it, but got another of the name {spec.name}"
            )
    return suite_of(
        space([spec.name for spec in specs], vary=vary),
        SolveOptions(solvers=solvers, limits=limits or DEFAULT_LIMITS, jobs=jobs),
        vectors=vectors, total_s=total_s, progress=lambda what, _done, _all: (progress or ignore)(what),
    )  # fmt: skip
