"""The computations of a campaign: inputs, model results, comparisons; apart, for workers import it alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tcformal.design.axes import rivals
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import narrowed
from tcformal.devices.directed import QUESTIONS, asked, candidates, directed
from tcformal.devices.entries import Answer, Designs, RandomLine
from tcformal.devices.gather import from_store
from tcformal.devices.plan import Directed, numbered
from tcformal.devices.runner import surely_finite
from tcformal.devices.runs import random_piece
from tcformal.devices.sealed import read_whole
from tcformal.errors import InputError, RecordError
from tcformal.oracle.values import value_and_hex
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch, batch_of, inputs_digest, rows_of

#: Random dot products of the first item of a unit, and of each further one at most.
FIRST_CHUNK, CHUNK = 12_000, 120_000


def chunk_sizes(vectors: int) -> list[int]:
    """The sizes of the random items that make up `vectors`: a small one first."""
    sizes = [min(vectors, FIRST_CHUNK)] if vectors else []
    while sum(sizes) < vectors:
        sizes.append(min(CHUNK, vectors - sum(sizes)))
    return sizes


@dataclass(frozen=True, slots=True)
class DirectedBlock:
    """The directed dot products of a unit, the questions' first, with the model's results."""

    items: tuple[Directed, ...]
    #: First row and end of each question's dot products.
    questions: Mapping[str, tuple[int, int]]
    model: Raw


@dataclass(frozen=True, slots=True)
class Chunk:
    """A random item with the model's results and a mask of surely finite rows."""

    batch: Batch
    #: SHA-256 of the operands.
    inputs: str
    #: None where the caller has the model's results already.
    model: Raw | None
    finite: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tile:
    """One dot product on every row and column of a tile, with random ones around it."""

    batch: Batch
    #: The rows of the batch that hold it.
    holds: NDArray[np.bool_]
    #: The model's result.
    model: int


def suite(name: str, folder: str) -> DirectedBlock:
    """The directed inputs of a unit: the questions', its own, and those of stored answers."""
    spec = resolve(name)
    items: list[Directed] = []
    questions: dict[str, tuple[int, int]] = {}
    for question, inputs in asked(spec):
        questions[question.id] = len(items), len(items) + len(inputs)
        items += inputs
    seen = {item.witness for item in items}
    for item in (*directed(spec), *from_store(spec, Path(folder), spec.k)):
        if item.witness not in seen:
            seen.add(item.witness)
            items.append(item)
    items = numbered(items)
    return DirectedBlock(tuple(items), questions, replay(spec, batch_of([i.witness for i in items])))


def chunk(name: str, count: int, seed: int, with_model: bool) -> Chunk:
    """Generate one random item of a unit, in the smallest unsigned integer types."""
    spec = resolve(name)
    operands = batch(spec, spec.k, count, seed)
    formats = spec.input_formats()
    small = Batch(**{name: narrowed(formats[name], words) for name, words in operands.named().items()})
    model = replay(spec, operands) if with_model else None
    return Chunk(small, inputs_digest(operands), model, surely_finite(spec, operands))


def recounted(name: str, line: RandomLine, folder: str) -> str:
    """The inconsistency between a logged random item and the model; empty for none."""
    spec = resolve(name)
    try:
        with read_whole(folder):
            random_piece(spec, spec.k, line, Path(folder), lambda: True)
    except (RecordError, InputError) as error:
        return str(error)
    return ""


def positions(name: str, seed: int) -> Tile:
    """One dot product on every row and column of a tile.

    It is in every second row of the batch, and in the other rows in the second half.
    """
    spec = resolve(name)
    rows = 2 * max(spec.m * spec.n, 64)
    # Exponents near zero: the second of the families.
    near = rows_of(batch(spec, spec.k, 6 * rows, seed), slice(rows, 2 * rows))
    index = np.arange(2 * rows)
    holds = (index % 2 == 0) == (index < rows)
    x = rows_of(near, np.where(holds, 0, index % rows))
    return Tile(x, holds, int(replay(spec, rows_of(near, slice(0, 1)))[0]))


def answers(name: str, given: Mapping[str, tuple[Sequence[Directed], Sequence[int]]]) -> list[Answer]:
    """For each question the candidate designs that reproduce all outputs, and the refuted ones."""
    spec = resolve(name)
    d, found = spec.operands.d, []
    for question in QUESTIONS:
        if question.id in given:
            items, outputs = given[question.id]
            refuted = _refuted(candidates(question, spec), items, outputs)
            found.append(Answer(
                question=question.id, title=question.title,
                outputs={i.id: value_and_hex(d, w)
                         for i, w in zip(items[:8], outputs, strict=False)},
                fits=[name for name, by in refuted if by is None],
                refuted=[name for name, by in refuted if by is not None],
            ))  # fmt: skip
    return found


def survivors(name: str, items: Sequence[Directed], outputs: Sequence[int]) -> Designs:
    """The designs consistent with all outputs, and for each other design an input that refutes it."""
    spec = resolve(name)
    refuted = _refuted(rivals(spec, spec.k), items, outputs)
    return Designs(
        survivors=[name for name, by in refuted if by is None],
        refuted={name: by for name, by in refuted if by is not None},
    )


def _refuted(
    designs: Iterable[UnitSpec], items: Sequence[Directed], outputs: Sequence[int]
) -> list[tuple[str, str | None]]:
    """The names of designs, each with the first item that refutes it, or None."""
    x, wanted = batch_of([item.witness for item in items]), np.array(outputs, dtype=np.uint64)
    found: list[tuple[str, str | None]] = []
    for design in designs:
        wrong = np.flatnonzero(replay(design, x) != wanted)
        found.append((design.name, items[int(wrong[0])].id if wrong.size else None))
    return found
