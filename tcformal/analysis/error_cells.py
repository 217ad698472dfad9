"""Error statistics by unit and length, one record per cell; apart, because sweeps alone need records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tcformal.analysis.records import append, records
from tcformal.analysis.samples import error_sample
from tcformal.callbacks import Advance, Warn, ignore, ignore_count
from tcformal.semantics.chain import definition
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.runnable import RunnableProgram, computation
from tcformal.version import VERSION


@dataclass(frozen=True, slots=True)
class Cell:
    """The key of a cell: a unit or program by name, a length, and the distribution of its matrices."""

    name: str
    length: int
    elements: int
    distribution: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRecord:
    """The error statistics of one cell: one line of the results file.

    Ranges and units: numbers as Python writes floats, in units of u·|A||B|; `finite` of the elements counted.
    """

    name: str
    #: SHA-256 of what computes: a changed definition is computed again.
    definition: str
    length: int
    elements: int
    distribution: str
    seed: int
    finite: int
    median: str
    q95: str
    largest: str
    mean: str
    version: str = VERSION

    @property
    def numbers(self) -> tuple[float, ...]:
        """The statistics as numbers: median, 95 % quantile, maximum, mean; ValueError for invalid texts."""
        return tuple(float(x) for x in (self.median, self.q95, self.largest, self.mean))

    @property
    def cell(self) -> Cell:
        """The key of the record's cell."""
        return Cell(self.name, self.length, self.elements, self.distribution, self.seed)


def defined(x: Unit | RunnableProgram) -> str:
    """SHA-256 of the definition of a unit or a program."""
    if isinstance(x, Unit):
        return definition(x.spec)
    p = x.program
    parts = [p.body, repr(sorted(p.inputs.items())), repr(sorted(p.parameters.items()))]
    parts += [definition(u) for u in p.units(1)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def measure(cell: Cell, x: Unit | RunnableProgram) -> CellRecord:
    """Measure one cell; errors as of `error_sample`.

    A program is given with its text: a worker elsewhere does not have its file.
    """
    s = error_sample(x, cell.length, elements=cell.elements, distribution=cell.distribution, seed=cell.seed)
    q = s.quantiles
    mean = float(np.mean(s.relative)) if s.errors.size else float("nan")
    numbers = [repr(q.get(k, float("nan"))) for k in (0.5, 0.95, 1.0)]
    return CellRecord(
        name=cell.name, definition=defined(x), length=cell.length, elements=cell.elements,
        distribution=cell.distribution, seed=cell.seed, finite=s.errors.size, median=numbers[0],
        q95=numbers[1], largest=numbers[2], mean=repr(mean),
    )  # fmt: skip


def measured_already(path: Path, cells: Sequence[Cell], warn: Warn = ignore) -> dict[Cell, CellRecord]:
    """The stored records of cells whose definitions are current."""
    today = {name: defined(computation(name)) for name in dict.fromkeys(c.name for c in cells)}
    held = {}
    for record in records(path, CellRecord, warn):
        try:
            current = today.get(record.name) == record.definition and bool(record.numbers)
        except ValueError as error:
            warn(f"expected the errors of {record.name} in {path} as numbers, but {error}: it is passed over")
            continue
        if current:
            held[record.cell] = record
    return {c: held[c] for c in cells if c in held}


def sweep_errors(
    path: Path, cells: Sequence[Cell], pool: Executor, *, advance: Advance = ignore_count, warn: Warn = ignore
) -> Iterator[CellRecord]:
    """Measure the cells that the file lacks, and append each record as soon as it is done.

    A run that is killed loses the cells it was at, nothing else.  `advance` takes the cells done and in all.
    Errors: those of `measure`, of the first cell that fails.
    """
    held = measured_already(path, cells, warn)
    left = [c for c in cells if c not in held]
    computations = {name: computation(name) for name in dict.fromkeys(c.name for c in left)}
    waiting = [pool.submit(measure, c, computations[c.name]) for c in left]
    for done, job in enumerate(as_completed(waiting), 1):
        record: CellRecord = job.result()
        append(path, record)
        advance(done, len(waiting))
        yield record
