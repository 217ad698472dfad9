"""The designs that give every answer so far, and the inputs that tell apart what is left of them.

What is left of a family is a product of tables of a few parameters each.  An answer concerns the parameters
that the result depends on, seen from its known bits: their tables are joined, the rows that give another
result leave, and what remains is split into factors again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.known import KnownBits
from tcformal.design.axes import computed
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.semantics.chain import distinct_definitions
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, rows_of, together
from tcformal.simulation.operands.inputs import pool_of
from tcformal.simulation.structures import Axis, Designs, Family, parametric_family

# ------------------------------------------------------------------ designs by name
#: Designs that are evaluated before it is asked whether the time is over.
_EACH = 8


class ListedFamily:
    """Designs of equal formats, one after the other: a family with one axis."""

    def __init__(self, designs: Sequence[UnitSpec]) -> None:
        self._designs = list(designs)
        self.axes = (Axis("design", tuple(u.name for u in designs)),)
        self._replayed: dict[tuple[int, bytes], Raw] = {}

    @property
    def size(self) -> int:
        """The number of designs."""
        return len(self._designs)

    def name(self, design: Sequence[int]) -> str:
        """The name of one design."""
        return self._designs[design[0]].name

    @staticmethod
    def at_once(rows: int) -> int:
        """As `Family.at_once`: each may be a circuit that is built first."""
        return _EACH

    def outputs(self, designs: Designs, batch: Batch) -> Raw:
        """As `Family.outputs`."""
        return np.stack([self._given(int(i), batch) for i in designs[:, 0]])

    def at(self, batch: Batch, row: int) -> ListedFamily:
        """As `Family.at`: these designs are evaluated once for each input anyway."""
        return self

    def known(
        self, designs: Designs, batch: Batch, row: int | NDArray[np.intp], unknown: NDArray[np.bool_]
    ) -> KnownBits:
        """As `Family.known`."""
        rows = np.broadcast_to(np.asarray(row, np.intp), len(designs))
        hidden = np.broadcast_to(unknown[:, 0], len(designs))
        value = np.zeros(len(designs), np.uint64)
        for i in np.unique(designs[:, 0]):
            at = np.flatnonzero((designs[:, 0] == i) & ~hidden)
            if at.size:
                value[at] = self._given(int(i), rows_of(batch, np.unique(rows[at])))[
                    np.unique(rows[at], return_inverse=True)[1]
                ]
        ones = np.uint64((1 << self._designs[0].d_format.width) - 1)
        return KnownBits(value, np.where(hidden, ones, np.uint64(0)))

    def _given(self, design: int, batch: Batch) -> Raw:
        """What one design gives, evaluated once."""
        key = design, b"".join(x.tobytes() for x in batch.named().values())
        if key not in self._replayed:
            self._replayed[key] = replay(self._designs[design], batch)
        return self._replayed[key]


# ------------------------------------------------------------------ what is left of a family
#: Rows of a join that are evaluated for one answer.
LARGEST_JOIN = 40_000
#: Designs times answers up to which all are evaluated, and designs drawn where there are more.
_EVALUATED, _DRAWN = 1 << 17, 64
#: Answers of which it is asked what they depend on, and that are taken before the others are looked at again.
_LOOKED_AT, _AT_ONCE = 16, 2
#: Designs that are asked which parameters a result depends on.
_ASKED = 12
#: Answers that the search for one design goes by before all others, and the part of some answers that a
#: design may not give beside which two parameters are changed at once.
_FEW, _FEW_WRONG = 96, 1 / 3
#: Designs with several parameters changed that are kept beside those as good, after some of the few answers.
_BEST = 400
#: The parameters by which a sum cuts terms off, and is rounded.
_CUTTING = ("fraction_bits", "alignment_rounding", "conversion")
#: Designs of a family from which on one that gives all answers is sought first, and from which on what is
#: around that one is all that is kept.
CLIMBED, AROUND = 1e6, 1e9
#: Answers that designs with two parameters changed are tried on, one part after the other, and those of these
#: designs that are kept.
_PARTS, _BESIDE = (6, 30), 48
#: The part of all answers that the best design of a family gives that is looked at again before nothing fits.
_NEARLY = 0.9


#: An axis and the index of one of its values.
Place = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Combinations of values of some axes.

    Shapes: rows [n, axes], an index of a value each.
    """

    axes: tuple[int, ...]
    rows: Designs


@dataclass(slots=True)
class Survivors:
    """The designs of one family that no answer refutes.

    `open` are the answers that some kept combination might still contradict: (batch, row, raw answer).
    """

    family: Family | ListedFamily
    rng: np.random.Generator
    tables: list[Table] = field(default_factory=list)
    open: list[tuple[Batch, int, int]] = field(default_factory=list)
    #: Whether the time is over: answers that were not taken up stay in `open`.
    over: Callable[[], bool] = lambda: False
    #: Designs that give all answers with two parameters changed together, of a family that was climbed.
    beside: list[UnitSpec] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tables = [
            Table((i,), np.arange(len(axis.values), dtype=np.int16)[:, np.newaxis])
            for i, axis in enumerate(self.family.axes)
        ]

    @property
    def count(self) -> int:
        """The number of combinations that are left; answers in `open` may refute some of them."""
        return prod(len(table.rows) for table in self.tables)

    def some(self, n: int) -> Designs:
        """n designs drawn from those that are left."""
        made = np.zeros((n, len(self.family.axes)), np.int16)
        for table in self.tables:
            made[:, table.axes] = table.rows[self.rng.integers(0, len(table.rows), n)]
        return made

    def sample(self, n: int) -> Designs:
        """Different designs that are left: all of at most n, or else some that are drawn."""
        if self.count <= n:
            return self._joined(self.tables, self.count)
        return np.unique(self.some(n), axis=0)

    def first(self) -> Designs:
        """The design with the first combination of every table: [1, axes]."""
        made = np.zeros((1, len(self.family.axes)), np.int16)
        for table in self.tables:
            made[0, table.axes] = table.rows[0]
        return made

    def simplest(self) -> Designs:
        """The design that is left with the plainest values: the last of each table's best rows: [1, axes]."""
        made = self.first()
        for table in self.tables:
            axes = [self.family.axes[i] for i in table.axes]
            made[0, table.axes] = min(
                table.rows,
                key=lambda row: [_plainness(x.values[int(i)]) for x, i in zip(axes, row, strict=True)],
            )
        return made

    def values(self, axis: int) -> list[int]:
        """The values of one axis that are left."""
        table = next(t for t in self.tables if axis in t.axes)
        return sorted(set(table.rows[:, table.axes.index(axis)].tolist()))

    def take(self, batch: Batch, answers: Raw) -> None:
        """Take the device's answers, and look again at those in `open`; what refutes most comes first.

        Where little is left, every design is evaluated.  Answers that none of many designs contradicts wait
        in `open`.
        """
        kept = [(rows_of(one, slice(row, row + 1)), answer) for one, row, answer in self.open]
        batch = together(*(one for one, _ in kept), batch)
        answers = np.concatenate([np.array([answer for _, answer in kept], np.uint64), answers])
        rows: NDArray[np.intp] = np.arange(len(answers))
        tried: set[int] = set()
        while self.count:
            rows = rows[self._telling(batch, answers, rows)]
            if self.count * len(rows) <= _EVALUATED:
                if self._evaluate(rows_of(batch, rows), answers[rows]):
                    rows = rows[:0]
                break
            best = [row for row in self._best(batch, answers, rows) if row not in tried][:_AT_ONCE]
            if not best or self.over():
                break
            tried.update(best)
            done = {row for row in best if self.count and not self._settle(batch, row, int(answers[row]))}
            rows = np.array([row for row in rows.tolist() if row not in done], np.intp)
        self.open = [(batch, row, int(answers[row])) for row in rows.tolist()] if self.count else []

    def climb(self, batch: Batch, answers: Raw) -> float:
        """Keep what is around one design that gives all of these answers, or nothing where none is found.

        From the plainest design on, the change of one parameter, or near the end of several, that gives most
        answers more is made, until none gives more: of few answers, most of them ones that design does not
        give, and of more that the design which gives those does not.  What is kept are the values that give
        all answers beside the others of the design that is found.  A family of which no design gives some
        answer is left at once.
        The part of the answers that the best design gives, 0 for such a family.
        """
        self._telling(batch, answers, np.arange(len(answers)))
        if not self.count:
            return 0.0
        axes, point = self.family.axes, self.simplest()[0]
        places = [(i, value) for i, axis in enumerate(axes) for value in range(len(axis.values))]
        wrong = self._wrong(point, batch, answers)
        shuffled = self.rng.permutation(len(answers))
        rows = shuffled[np.argsort(~wrong[shuffled], kind="stable")][:_FEW]
        while wrong.any():
            point, all_given = self._climbed(point, places, rows_of(batch, rows), answers[rows])
            wrong = self._wrong(point, batch, answers)
            if not all_given:
                self.tables = [Table(table.axes, table.rows[:0]) for table in self.tables]
                return 1 - float(wrong.mean())
            rows = np.concatenate([rows, np.flatnonzero(wrong)[:_FEW]])
        fits: list[list[int]] = [[] for _ in axes]
        some, whole = (rows_of(batch, rows), answers[rows]), (batch, answers)
        for of, given in (some, whole):
            right = (self.family.outputs(_changed(point, [(x,) for x in places]), of) == given).all(axis=1)
            places = [x for x, fit in zip(places, right.tolist(), strict=True) if fit]
        for i, value in places:
            fits[i].append(value)
        self.tables = [
            Table((i,), np.array(values, np.int16)[:, np.newaxis]) for i, values in enumerate(fits)
        ]
        self.beside = self._pairs(point, {*places}, rows, batch, answers)
        return 1.0

    def _pairs(
        self,
        point: NDArray[np.int16],
        alone: set[Place],
        rows: NDArray[np.intp],
        batch: Batch,
        answers: Raw,
    ) -> list[UnitSpec]:
        """Designs with two parameters changed of one that give all answers, though one change does not.

        `alone`: the changes of one parameter after which all answers are given; `rows`: answers to try first.
        """
        axes = self.family.axes
        other = [(i, n) for i, axis in enumerate(axes) for n in range(len(axis.values)) if point[i] != n]
        pairs = [
            (x, y) for x, y in combinations(other, 2)
            if x[0] != y[0] and not (x in alone and y in alone)
        ]  # fmt: skip
        start = 0
        for end in (*_PARTS, len(rows)):
            some = rows[start:end]
            given = self.family.outputs(_changed(point, pairs), rows_of(batch, some))
            fit = (given == answers[some]).all(axis=1).tolist()
            pairs, start = [x for x, right in zip(pairs, fit, strict=True) if right], end
        pairs = pairs[:_BESIDE]
        right = (self.family.outputs(_changed(point, pairs), batch) == answers).all(axis=1).tolist()
        made = _changed(point, [x for x, fits in zip(pairs, right, strict=True) if fits])
        return [resolve(self.family.name(design)) for design in made]

    def _wrong(self, point: NDArray[np.int16], batch: Batch, answers: Raw) -> NDArray[np.bool_]:
        """Which answers one design does not give."""
        return np.asarray(self.family.outputs(point[np.newaxis], batch)[0] != answers)

    def _climbed(
        self, point: NDArray[np.int16], places: Sequence[Place], batch: Batch, answers: Raw
    ) -> tuple[NDArray[np.int16], bool]:
        """The design that changes from one lead to, each to more answers, and whether it gives all."""
        best = -1
        while best < len(answers) and not self.over():
            tried = _changed(point, [(x,) for x in places])
            right = (self.family.outputs(tried, batch) == answers).sum(axis=1)
            if right.max() <= best:
                tried, right = self._more_changed(point, places, batch, answers)
                if not right.size or right.max() <= best:
                    break
            best, point = int(right.max()), tried[int(right.argmax())]
        return point, best == len(answers)

    def _more_changed(
        self, point: NDArray[np.int16], places: Sequence[Place], batch: Batch, answers: Raw
    ) -> tuple[Designs, NDArray[np.intp]]:
        """Designs with several parameters changed of one that gives nearly all answers: those that give most.

        Two, as a bit fewer with another rounding, of which neither alone is better; or what is cut off in the
        sums of one stage, how, and how these are rounded: to nearest at 10 bits, then cut, is near to the
        reverse at 12; or these of all stages, alike.  Beside them, how many answers each gives.
        """
        misfits = self._wrong(point, batch, answers)
        wrong, right = np.flatnonzero(misfits), np.flatnonzero(~misfits)
        if wrong.size > _FEW_WRONG * len(answers):
            return np.zeros((0, len(point)), np.int16), np.zeros(0, np.intp)
        other = [(i, value) for i, value in places if point[i] != value]
        pairs = [(x, y) for x, y in combinations(other, 2) if x[0] != y[0]]
        names = [axis.name.rpartition(".") for axis in self.family.axes]
        stages = [
            [[place for place in places if names[place[0]] == (stage, dot, name)] for name in _CUTTING]
            for stage, dot, _ in dict.fromkeys((x, y, "") for x, y, _ in names)
        ]
        axes = list(enumerate(self.family.axes))
        alike = [
            [
                tuple((i, axis.values.index(value)) for i, axis in named if value in axis.values)
                for value in dict.fromkeys(value for _, axis in named for value in axis.values)
            ]
            for name in _CUTTING
            if (named := [(i, axis) for i, axis in axes if names[i][2] == name])
        ]
        changes = [change for one in stages for change in product(*one)]
        changes += [tuple(chain(*change)) for change in product(*alike)]
        tried = _changed(point, [*pairs, *changes])
        # Many changes mend one answer; few of them leave the others as they are.
        rows, given = np.concatenate([wrong, right]), np.zeros(len(tried), np.intp)
        while rows.size:
            some, rows = np.split(rows, [_LOOKED_AT if len(tried) > 2 * _BEST else rows.size])
            given += (self.family.outputs(tried, rows_of(batch, some)) == answers[some]).sum(axis=1)
            least = np.sort(given)[-_BEST:].min(initial=len(answers))
            tried, given = tried[given >= least], given[given >= least]
        return tried, given

    def settle(self) -> None:
        """Take up each answer in `open` by itself; what may still refute designs stays there."""
        self.open = [x for x in self.open if self.count and (self.over() or self._settle(*x))]
        if self.open and self.count * len(self.open) <= _EVALUATED:
            batch = together(*(rows_of(one, slice(row, row + 1)) for one, row, _ in self.open))
            if self._evaluate(batch, np.array([answer for *_, answer in self.open], np.uint64)):
                self.open = []

    def _telling(self, batch: Batch, answers: Raw, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """The places of the rows whose result depends on what is left; one that nothing gives refutes all."""
        if not rows.size:
            return rows
        seen = self.certain(batch, rows)
        if ((seen.value ^ answers[rows]) & ~seen.unknown).any():
            self.tables = [Table(table.axes, table.rows[:0]) for table in self.tables]
        return np.flatnonzero(seen.unknown != 0)

    def certain(self, batch: Batch, rows: NDArray[np.intp]) -> KnownBits:
        """The bits of the results of some rows that are the same for all designs that are left."""
        unknown = np.array([[len(self.values(axis)) > 1 for axis in range(len(self.family.axes))]])
        return self.family.known(np.repeat(self.first(), len(rows), axis=0), batch, rows, unknown)

    def _best(self, batch: Batch, answers: Raw, rows: NDArray[np.intp]) -> list[int]:
        """The rows whose answers some of many designs contradict: the most telling first."""
        given = self.family.outputs(self.some(_DRAWN), rows_of(batch, rows))
        wrong = (given != answers[rows]).mean(axis=0)
        some = np.argsort(-wrong, kind="stable")[:_LOOKED_AT]
        some = some[wrong[some] > 0]
        sizes = [self.join_size(axes) for axes in self.reads(batch, rows[some].tolist(), 3)]
        gain = -np.log2(1 - wrong[some] + 1 / (2 * _DRAWN)) / np.log2(np.array(sizes, np.float64) + 15)
        return [int(row) for row in rows[some][np.argsort(-gain, kind="stable")]]

    def _evaluate(self, batch: Batch, answers: Raw) -> bool:
        """Keep the designs that give all of these answers, each design evaluated; whether all were.

        Where the time is over, those that were not are kept.
        """
        if not len(answers) or not self.count:
            return True
        designs, each = self._joined(self.tables, self.count), self.family.at_once(len(answers))
        fits = np.ones(len(designs), np.bool_)
        done = 0
        while done < len(designs) and not self.over():
            some = slice(done, done + each)
            fits[some] = (self.family.outputs(designs[some], batch) == answers).all(axis=1)
            done += each
        if not fits.all():
            self.tables = _factors(tuple(range(len(self.family.axes))), designs[fits])
        return done >= len(designs)

    def reads(
        self,
        batch: Batch,
        rows: Sequence[int],
        asked: int = _ASKED,
        family: Family | ListedFamily | None = None,
    ) -> list[set[int]]:
        """The axes that the result of each dot product depends on, seen from a few designs that are left."""
        free = np.array([i for table in self.tables if len(table.rows) > 1 for i in table.axes], np.intp)
        shape = (len(rows), asked, len(free))
        if not free.size or not rows:
            return [set() for _ in rows]
        some = np.broadcast_to(self.some(asked)[np.newaxis, :, np.newaxis], (*shape, len(self.family.axes)))
        unknown = np.zeros((*shape, len(self.family.axes)), np.bool_)
        unknown[..., np.arange(len(free)), free] = True
        at = np.broadcast_to(np.array(rows, np.intp)[:, np.newaxis, np.newaxis], shape)
        flat = int(np.prod(shape))
        designs, hidden = some.reshape(flat, -1), unknown.reshape(flat, -1)
        made = (family or self.family).known(designs, batch, at.reshape(-1), hidden)
        seen = (made.unknown.reshape(shape) != 0).any(axis=1)
        return [set(free[read].tolist()) for read in seen]

    def join_size(self, axes: set[int]) -> int:
        """Rows of the join of the tables of some axes."""
        return prod(len(table.rows) for table in self.tables if axes & set(table.axes))

    # ------------------------------------------------------------------ one answer
    def _settle(self, batch: Batch, row: int, answer: int) -> bool:
        """Remove the rows that an answer refutes; whether it may refute more when less is left."""
        if not self.count:
            return False
        joined: list[Table] = []
        family = self.family.at(batch, row)
        (reads,) = self.reads(batch, [row], family=family)
        size = 1
        for table in sorted(self.tables, key=lambda t: len(t.rows)):
            if (len(table.rows) == 1 or reads & set(table.axes)) and size * len(table.rows) <= LARGEST_JOIN:
                joined.append(table)
                size *= len(table.rows)
        while True:
            designs = self._joined(joined, size)
            axes = [i for table in joined for i in table.axes]
            unknown = np.ones((1, len(self.family.axes)), np.bool_)
            unknown[0, axes] = False
            seen = family.known(designs, batch, row, unknown)
            fits = ((seen.value ^ np.uint64(answer)) & ~seen.unknown) == 0
            unsure = fits & (seen.unknown != 0)
            more = self._next(family, joined, size, batch, row, designs[unsure]) if unsure.any() else None
            if more is None:
                break
            joined.append(more)
            size *= len(more.rows)
        if not fits.all():
            kept = designs[fits][:, axes]
            self.tables = [t for t in self.tables if t not in joined]
            self.tables += _factors(tuple(axes), kept)
        return bool(unsure.any())

    def _joined(self, tables: list[Table], size: int) -> Designs:
        """Every combination of rows of some tables; other axes have any value that is left."""
        made = np.repeat(self.first(), size, axis=0)
        step = 1
        for table in tables:
            at = (np.arange(size) // step) % len(table.rows)
            made[:, table.axes] = table.rows[at]
            step *= len(table.rows)
        return made

    def _next(
        self,
        family: Family | ListedFamily,
        joined: list[Table],
        size: int,
        batch: Batch,
        row: int,
        unsure: Designs,
    ) -> Table | None:
        """The table that makes most of the unsure results known when it joins, if one fits."""
        others = [t for t in self.tables if t not in joined and len(t.rows) * size <= LARGEST_JOIN]
        if not others:
            return None
        each = min(len(unsure), 48)
        some = unsure[self.rng.integers(0, len(unsure), each)]
        tried = np.concatenate([some] * len(others))
        unknown = np.ones((len(tried), len(self.family.axes)), np.bool_)
        unknown[:, [i for t in joined for i in t.axes]] = False
        for at, table in enumerate(others):
            rows = slice(at * each, (at + 1) * each)
            drawn = table.rows[self.rng.integers(0, len(table.rows), each)]
            tried[rows, table.axes], unknown[rows, table.axes] = drawn, False
        seen = family.known(tried, batch, row, unknown).unknown.reshape(len(others), each)
        sure = (seen == 0).sum(axis=1)
        # Where no single table makes a result known, the smallest may with others.
        if not sure.any():
            return min(others, key=lambda t: len(t.rows))
        return others[int(sure.argmax())]


def _changed(point: NDArray[np.int16], changes: Sequence[tuple[Place, ...]]) -> Designs:
    """A design with other values in some places, for each of some changes."""
    made = np.repeat(point[np.newaxis], len(changes), axis=0)
    for row, places in enumerate(changes):
        for i, value in places:
            made[row, i] = value
    return made


#: Values that a design has unless something else is known, the plainest first.
_PLAIN = ("kept", "positive", "infinity", "exact", "none", "RZ")


def _plainness(value: str) -> tuple[int, int]:
    """How soon a value is taken for the simplest design."""
    return (_PLAIN.index(value), 0) if value in _PLAIN else (len(_PLAIN), len(value))


def _factors(axes: tuple[int, ...], rows: Designs) -> list[Table]:
    """A table as a product of tables: axes whose values combine with every rest stand alone."""
    made: list[Table] = []
    rest = list(range(len(axes)))
    rows = np.unique(rows, axis=0)
    for column in range(len(axes)):
        others = [i for i in rest if i != column]
        values = np.unique(rows[:, [rest.index(column)]], axis=0)
        if not others:
            break
        remaining = np.unique(rows[:, [rest.index(i) for i in others]], axis=0)
        if len(values) * len(remaining) == len(rows):
            made.append(Table((axes[column],), values))
            rows, rest = remaining, others
    return [*made, Table(tuple(axes[i] for i in rest), rows)]


# ------------------------------------------------------------------ the next inputs
#: Designs that stand for all that are left, drawn so many times for one round.
_SAMPLE, _SAMPLES = 64, 3
#: Inputs whose parameters are looked at before one is chosen.
_WEIGHED = 40


def next_inputs(
    alive: Sequence[Survivors], pool: Batch, most: int, over: Callable[[], bool] = lambda: False
) -> list[int]:
    """Rows of a pool to ask next, at most so many; none where no row tells the designs apart.

    Inputs that depend on fewer parameters come first, because their answers remove rows of small tables;
    those that depend on all come when little is left.
    """
    rows = _telling(alive, pool)
    pool = rows_of(pool, rows)
    picked: list[int] = []
    costs: dict[int, float] = {}
    # Where all that is left is looked at, the next sample is the same.
    whole = all(survivors.count <= _each(alive) for survivors in alive)
    for _ in range(1 if whole else _SAMPLES):
        if over():
            break
        _pick(alive, _sampled(alive, pool, over), pool, most, picked, costs)
    return [int(rows[i]) for i in picked]


def _telling(alive: Sequence[Survivors], pool: Batch) -> NDArray[np.intp]:
    """The rows of a pool whose results may depend on what is left."""
    every = np.arange(len(pool.c))
    seen = [survivors.certain(pool, every) for survivors in alive]
    unsure = [(x.unknown != 0) | (x.value != seen[0].value) for x in seen]
    return np.flatnonzero(np.any(unsure, axis=0))


def _pick(
    alive: Sequence[Survivors], outputs: Raw, pool: Batch, most: int, picked: list[int],
    costs: dict[int, float],
) -> None:  # fmt: skip
    """More rows, that tell apart some designs that those picked before do not; `outputs` are of some."""
    labels = np.unique(outputs[:, picked], axis=0, return_inverse=True)[1].reshape(-1)
    while len(picked) < most:
        gain = _gains(outputs, labels)
        if picked:
            gain[picked] = 0
        best = [int(r) for r in np.argsort(-gain, kind="stable")[:_WEIGHED] if gain[r] > 1e-9]
        if not best:
            break
        new = [row for row in best if row not in costs]
        costs |= dict(zip(new, _costs(alive, pool, new), strict=True))
        row = max(best, key=lambda r: gain[r] / costs[r])
        picked.append(row)
        labels = np.unique(np.stack([labels, outputs[:, row]]), axis=1, return_inverse=True)[1].reshape(-1)


def _sampled(alive: Sequence[Survivors], pool: Batch, over: Callable[[], bool]) -> Raw:
    """The results of some designs of every family, of fewer where the time is over."""
    made: list[Raw] = []
    for x in alive:
        designs, each = x.sample(_each(alive)), x.family.at_once(len(pool.c))
        for start in range(0, len(designs), each):
            if made and over():
                break
            made.append(x.family.outputs(designs[start : start + each], pool))
    return np.concatenate(made)


def _each(alive: Sequence[Survivors]) -> int:
    """The designs of one family that are looked at."""
    return max(4, _SAMPLE // max(1, len(alive)))


def _gains(outputs: Raw, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """The entropy in bits that each row of the pool adds to a partition of the designs."""
    rows = outputs.shape[1]
    base = _entropy(labels)
    gains = np.zeros(rows)
    for row in range(rows):
        column = outputs[:, row]
        if (column == column[0]).all():
            continue
        both = np.unique(np.stack([labels.astype(np.uint64), column]), axis=1, return_inverse=True)[1]
        gains[row] = _entropy(both.reshape(-1)) - base
    return gains


def _entropy(labels: NDArray[np.intp]) -> float:
    share = np.bincount(labels) / len(labels)
    share = share[share > 0]
    return float(-(share * np.log2(share)).sum())


def _costs(alive: Sequence[Survivors], pool: Batch, rows: Sequence[int]) -> list[float]:
    """How hard the answers are to digest: the sizes of the tables that they join, on a scale of bits."""
    sizes = [1] * len(rows)
    for survivors in alive:
        for i, axes in enumerate(survivors.reads(pool, rows, 3)):
            sizes[i] = max(sizes[i], survivors.join_size(axes))
    bits = [float(np.log2(size + 1)) for size in sizes]
    return [b if size <= LARGEST_JOIN else 8 * b for b, size in zip(bits, sizes, strict=True)]


# ------------------------------------------------------------------ the search
#: Inputs of one round, and of a pool; pools that are tried before nothing is said to split what is left.
_ROUND, _POOL, _POOLS = 24, 900, 3
#: Rounds of questions about designs that are listed one by one.
_LISTED = 2
#: Designs of a family of which the nearest to the answers is kept when they refute it.
_NEAR = 64

Answers = Callable[[Batch], Raw]


@dataclass(slots=True)
class Search:
    """What is left of some families after every answer.

    `asked` and `answers`: every input so far, and what the device gave.
    """

    spec: UnitSpec
    k: int
    ask: Answers
    seed: int = 0
    alive: list[Survivors] = field(default_factory=list)
    #: Structures that have not been tried yet: most are refuted by answers that settle another one.
    waiting: list[UnitSpec] = field(default_factory=list)
    #: Structures of many designs of which none was found that gives all answers, though one gives nearly all.
    put_off: list[UnitSpec] = field(default_factory=list)
    #: Whether these are being looked at to the end.
    thorough: bool = False
    #: The names of those that were added, with whether their parameters were rare.
    added: set[tuple[str, bool]] = field(default_factory=set)
    #: Which rows of a batch are learnt from; None for all.
    trusted: Callable[[Batch], NDArray[np.intp]] | None = None
    #: Whether the time is over, so that nothing more is looked at.
    over: Callable[[], bool] = lambda: False
    #: Inputs as the device takes them.
    prepared: Callable[[Batch], Batch] = lambda batch: batch
    #: Whether families take up parameters that no catalogued design has.
    rare: bool = False
    asked: list[Batch] = field(default_factory=list)
    answers: list[Raw] = field(default_factory=list)
    #: Designs of the families that were tried.
    space: int = 0
    #: Designs that were left after each round.
    curve: list[tuple[int, int]] = field(default_factory=list)
    #: Designs of the families that answers refuted, drawn before they did.
    near: list[UnitSpec] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Designs that are left."""
        return sum(survivors.count for survivors in self.alive)

    @property
    def probes(self) -> int:
        """Inputs that were asked."""
        return sum(len(batch.c) for batch in self.asked)

    @property
    def unsettled(self) -> str:
        """What was not looked at to the end: structures, and answers that may refute more; empty for none."""
        answers = sum(len(survivors.open) for survivors in self.alive)
        if not self.waiting and not answers:
            return ""
        return f"{len(self.waiting)} structures and {answers} answers were not looked at to the end"

    def growth(self) -> tuple[tuple[int, int], ...]:
        """Inputs asked and designs left after each round.

        What is left of a structure that was taken up later was left before, too.
        """
        left = [max(count for _, count in self.curve[i:]) for i in range(len(self.curve))]
        return tuple((probes, count) for (probes, _), count in zip(self.curve, left, strict=True))

    def take(self, batch: Batch, answers: Raw) -> None:
        """Answers that are known: every family learns them."""
        if self.trusted is not None:
            rows = self.trusted(batch)
            batch, answers = rows_of(batch, rows), answers[rows]
        self.asked.append(batch)
        self.answers.append(answers)
        for survivors in self.alive:
            before = survivors.some(_NEAR)
            survivors.take(batch, answers)
            if not survivors.count:
                self.near += self._nearest(survivors, before)
        self._forget()

    def _nearest(self, survivors: Survivors, designs: Designs) -> list[UnitSpec]:
        """Of some designs of a family the one that gives most answers."""
        batch, answers = together(*self.asked), np.concatenate(self.answers)
        agrees = (survivors.family.outputs(designs, batch) == answers).sum(axis=1)
        return [resolve(survivors.family.name(designs[int(agrees.argmax())]))]

    def add(self, units: Iterable[UnitSpec]) -> None:
        """More structures, the most plausible first, of which each is taken up once."""
        new = {(u.name, self.rare): u for u in units}
        self.waiting += [u for key, u in new.items() if key not in self.added]
        self.added.update(new)

    def run(self, most_rounds: int = 12, pools: int = 1) -> bool:
        """Answers until no structure waits, and no input of some pools tells apart what is left.

        `pools` are looked at for one round: where little is left, none is spared by asking after each.
        Structures that wait are taken up as long as nothing is left.
        Whether something was asked, or a structure taken up.
        """
        before = len(self.curve), len(self.waiting)
        while True:
            self._run(most_rounds, pools)
            for survivors in self.alive:
                survivors.settle()
            self._forget()
            if self.alive or not self.waiting or self.over():
                break
            most_rounds = len(self.curve) + _LISTED
        return before != (len(self.curve), len(self.waiting))

    def listed(self, units: Sequence[UnitSpec], more: Sequence[UnitSpec] = ()) -> list[UnitSpec]:
        """Units, and more beside some that were tried, as a family in the place of all others; what is left.

        Units of the same parameters count once, the first of them, and so do those left of one definition.
        """
        found: dict[object, UnitSpec] = {}
        for u in (*units, *more):
            found.setdefault(computed(u, self.k), u)
        designs, self.alive = list(found.values()), []
        self.space += len(designs) - (len(units) if more else 0)
        if designs:
            self.alive = [Survivors(ListedFamily(designs), np.random.default_rng(0), over=self.over)]
            self.alive[0].take(together(*self.asked), np.concatenate(self.answers))
            self._forget()
            self.run(len(self.curve) + _LISTED, _POOLS)
        left = [designs[i] for survivors in self.alive for i in survivors.values(0)]
        return left if self.over() else distinct_definitions(left, self.k)

    def join(self, units: Sequence[UnitSpec]) -> None:
        """Units as a family beside all others."""
        self.space += len(units)
        beside = Survivors(ListedFamily(units), np.random.default_rng(0), over=self.over)
        beside.take(together(*self.asked), np.concatenate(self.answers))
        self.alive.append(beside)
        self._forget()
        self.run(len(self.curve) + _LISTED, _POOLS)

    def _run(self, most_rounds: int, pools: int = 1) -> None:
        idle = number = 0
        while len(self.curve) < most_rounds and not self.over():
            if not self.alive or idle >= _POOLS:
                if not self._next_family():
                    return
                idle = 0
                continue
            number += 1
            pool = self.prepared(pool_of(self.spec, self.k, pools * _POOL, self.seed + number))
            rows = next_inputs(self.alive, pool, _ROUND, self.over)
            idle = 0 if rows else idle + pools
            if not rows:
                continue
            batch = rows_of(pool, np.array(rows))
            self.take(batch, self.ask(batch))
            self.curve.append((self.probes, self.count))

    def _next_family(self) -> bool:
        """Take up the structures that wait, until one is not refuted by the answers so far."""
        while self.waiting and not self.over():
            unit = self.waiting.pop(0)
            survivors = self._survivors(unit)
            self.space += 0 if self.thorough else survivors.family.size
            if self.asked:
                survivors = self._taken_up(unit, survivors)
            if survivors.count:
                self.alive.append(survivors)
                self._take_beside(survivors.beside)
                return True
        return False

    def _take_beside(self, units: Sequence[UnitSpec]) -> None:
        """Designs beside what is kept of a family that was climbed, as a family of their own."""
        if units:
            beside = Survivors(ListedFamily(units), np.random.default_rng(0), over=self.over)
            beside.take(together(*self.asked), np.concatenate(self.answers))
            self.alive += [beside] if beside.count else []

    def _survivors(self, unit: UnitSpec) -> Survivors:
        """All designs of a structure."""
        family = parametric_family(unit, rare=self.rare)
        return Survivors(family, np.random.default_rng(self.seed), over=self.over)

    def _taken_up(self, unit: UnitSpec, survivors: Survivors) -> Survivors:
        """What all answers leave of a structure: of many designs one is sought that gives them, first."""
        batch, answers = together(*self.asked), np.concatenate(self.answers)
        size = survivors.family.size
        if self.rare or (size > CLIMBED and not self.thorough):
            found = survivors.climb(batch, answers)
            if self.rare or size > AROUND or not survivors.count:
                if not self.rare and _NEARLY <= found < 1:
                    self.put_off.append(unit)
                return survivors
            survivors = self._survivors(unit)
        survivors.take(batch, answers)
        return survivors

    def take_up_again(self, most_rounds: int) -> None:
        """Look at the structures that were put off to the end."""
        self.waiting, self.put_off, self.thorough = [*self.waiting, *self.put_off], [], True
        self.rare = False
        self.run(most_rounds)
        self.thorough = False

    def _forget(self) -> None:
        """Let go of families of which nothing is left."""
        self.alive = [survivors for survivors in self.alive if survivors.count]
