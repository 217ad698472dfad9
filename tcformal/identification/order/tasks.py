"""Tasks that ask for probes: side by side, what they ask goes out as one list, in one batch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from tcformal.simulation.operands.batch import Batch

#: What each leaf of one probe is worth; leaves that are not named are zeros.
OrderProbe = Mapping[int, Fraction]
#: Probes go out in lists, and come back as numbers, None for NaN and Inf.
Task = Generator[Sequence[OrderProbe], list[Fraction | None], Any]
AskBatch = Callable[[Batch], Any]

#: Turns in which nothing is asked, and probes, after which there is no order.
_MOST_IDLE, _MOST_PROBES = 1000, 4000


class NoOrderError(Exception):
    """The order does not show; the sentence says why."""


class Coded(Protocol):
    """Probes as operands, and results as numbers."""

    def batch(self, rows: Sequence[OrderProbe]) -> Batch:
        """Probes as operands."""

    def numbers(self, words: Iterable[int]) -> list[Fraction | None]:
        """Results as numbers."""


def together(tasks: Sequence[Task]) -> Task:
    """Tasks side by side: what they ask at the same time goes out as one list; their results in order."""
    done: list[Any] = [None] * len(tasks)
    waiting: dict[int, Sequence[OrderProbe]] = {}

    def advance(n: int, answers: list[Fraction | None] | None) -> None:
        try:
            waiting[n] = tasks[n].send(answers)  # type: ignore[arg-type]
        except StopIteration as end:
            waiting.pop(n, None)
            done[n] = end.value

    for n in range(len(tasks)):
        advance(n, None)
    while waiting:
        asked = {n: len(rows) for n, rows in waiting.items()}
        answers = yield [row for rows in waiting.values() for row in rows]
        start = 0
        for n, count in asked.items():
            advance(n, answers[start : start + count])
            start += count
    return done


@dataclass(slots=True)
class Asked:
    """Probes that were asked, and batches."""

    ask: AskBatch
    probes: int = 0
    batches: int = 0

    def run(self, masks: Coded, task: Task) -> Any:
        """The result of a task, batch by batch."""
        # The same probe is not asked twice: tasks side by side need not know of each other.
        kept: dict[frozenset[object], Fraction | None] = {}
        idle = 0
        try:
            rows = next(task)
            while True:
                keys = [frozenset(row.items()) for row in rows]
                new = {key: row for key, row in zip(keys, rows, strict=True) if key not in kept}
                idle = idle + 1 if not new else 0
                # Tasks that wait for each other, or ask without end, have been given answers of no order.
                if idle > _MOST_IDLE or self.probes + len(new) > _MOST_PROBES:
                    raise NoOrderError("pairs hide terms in a way that no order does")
                if new:
                    answers = masks.numbers(self.ask(masks.batch(list(new.values()))))
                    kept |= dict(zip(new, answers, strict=True))
                    self.probes, self.batches = self.probes + len(new), self.batches + 1
                rows = task.send([kept[key] for key in keys])
        except StopIteration as end:
            return end.value
