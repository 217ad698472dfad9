"""The designs of a family that give every answer so far, as a product of tables of a few parameters each.

An answer concerns the parameters that the result depends on.  Their tables are joined, the rows that give
another result leave, and what remains is split into factors again.  Which parameters those are is taken
from the known bits of the result: a row leaves only where a bit that is known without the other parameters
is not the answer's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.known import KnownBits
from tcformal.identification.survivors.listed import ListedFamily
from tcformal.simulation.operands.batch import Batch, Raw, rows_of, together
from tcformal.simulation.structures import Designs, Family

#: Rows of a join that are evaluated for one answer.
LARGEST_JOIN = 40_000
#: Designs times answers up to which all are evaluated, and designs drawn where there are more.
_EVALUATED, _DRAWN = 1 << 17, 64
#: Answers of which it is asked what they depend on, and that are taken before the others are looked at again.
_LOOKED_AT, _AT_ONCE = 16, 2
#: Designs that are asked which parameters a result depends on.
_ASKED = 12


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

    def __post_init__(self) -> None:
        self.tables = [
            Table((i,), np.arange(len(axis.values), dtype=np.int16)[:, np.newaxis])
            for i, axis in enumerate(self.family.axes)
        ]

    @property
    def count(self) -> int:
        """The number of combinations that are left; answers in `open` may refute some of them."""
        count = 1
        for table in self.tables:
            count *= len(table.rows)
        return count

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
            ranks = [
                [
                    _plainness(self.family.axes[axis].values[int(x)])
                    for axis, x in zip(table.axes, row, strict=True)
                ]
                for row in table.rows
            ]
            made[0, table.axes] = table.rows[min(range(len(ranks)), key=ranks.__getitem__)]
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
                self._evaluate(rows_of(batch, rows), answers[rows])
                rows = rows[:0]
                break
            best = [row for row in self._best(batch, answers, rows) if row not in tried][:_AT_ONCE]
            if not best or self.over():
                break
            tried.update(best)
            done = {row for row in best if self.count and not self._settle(batch, row, int(answers[row]))}
            rows = np.array([row for row in rows.tolist() if row not in done], np.intp)
        self.open = [(batch, row, int(answers[row])) for row in rows.tolist()] if self.count else []

    def settle(self) -> None:
        """Take up each answer in `open` by itself; what may still refute designs stays there."""
        self.open = [x for x in self.open if self.count and (self.over() or self._settle(*x))]
        if self.open and self.count * len(self.open) <= _EVALUATED:
            batch = together(*(rows_of(one, slice(row, row + 1)) for one, row, _ in self.open))
            self._evaluate(batch, np.array([answer for *_, answer in self.open], np.uint64))
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

    def _evaluate(self, batch: Batch, answers: Raw) -> None:
        """Keep the designs that give all of these answers, each design evaluated."""
        if not len(answers) or not self.count:
            return
        designs = self._joined(self.tables, self.count)
        fits = (self.family.outputs(designs, batch) == answers).all(axis=1)
        if not fits.all():
            self.tables = _factors(tuple(range(len(self.family.axes))), designs[fits])

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
        made = (family or self.family).known(
            some.reshape(flat, -1), batch, at.reshape(-1), unknown.reshape(flat, -1)
        )
        seen = (made.unknown.reshape(shape) != 0).any(axis=1)
        return [set(free[hidden].tolist()) for hidden in seen]

    def join_size(self, axes: set[int]) -> int:
        """Rows of the join of the tables of some axes."""
        size = 1
        for table in self.tables:
            if axes & set(table.axes):
                size *= len(table.rows)
        return size

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
