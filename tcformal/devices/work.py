"""The computations of a campaign for worker processes: inputs, model results, comparisons."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.axes import rivals
from tcformal.design.names import resolve
from tcformal.devices.directed import directed
from tcformal.devices.gather import from_store
from tcformal.devices.plan import Directed, numbered
from tcformal.devices.questions import QUESTIONS, asked, candidates
from tcformal.devices.runner import surely_finite
from tcformal.devices.runs import random_piece
from tcformal.devices.sealed import read_whole
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, RecordError
from tcformal.oracle.values import format_value, hex_word
from tcformal.simulation.operands.batch import batch_of, rows_of
from tcformal.simulation.operands.random import Batch, Raw, batch
from tcformal.simulation.operands.text import inputs_digest
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import replay

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
    seconds: float


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
    start = time.monotonic()
    spec = resolve(name)
    operands = batch(spec, spec.k, count, seed)
    model = replay(spec, operands) if with_model else None
    o, scale = spec.operands, spec.scale_format
    small = Batch(
        _narrow(o.a, operands.a), _narrow(o.b, operands.b), _narrow(o.c, operands.c),
        None if scale is None or operands.scale_a is None else _narrow(scale, operands.scale_a),
        None if scale is None or operands.scale_b is None else _narrow(scale, operands.scale_b),
    )  # fmt: skip
    return Chunk(
        small, inputs_digest(operands), model, surely_finite(spec, operands), time.monotonic() - start
    )


def recounted(name: str, line: Mapping[str, Any], folder: str) -> str:
    """The inconsistency between a logged random item and the model; empty for none."""
    spec = resolve(name)
    try:
        with read_whole(folder):
            random_piece(spec, spec.k, line, Path(folder), lambda: True)
    except (RecordError, InputError) as error:
        return str(error)
    return ""


def _narrow(fmt: Format, words: Raw) -> Raw:
    return words.astype(f"u{fmt.storage_bits // 8}")


def positions(name: str, seed: int) -> tuple[Batch, NDArray[np.bool_], int]:
    """One dot product on every row and column of a tile, with random ones around it; its rows and result.

    It is in every second row of the batch, and in the other rows in the second half.
    """
    spec = resolve(name)
    rows = 2 * max(spec.m * spec.n, 64)
    operands = batch(spec, spec.k, 6 * rows, seed)
    # Exponents near zero: the second of the families.
    near = rows_of(operands, slice(rows, 2 * rows))
    index = np.arange(2 * rows)
    holds = (index % 2 == 0) == (index < rows)
    chosen = np.where(holds, 0, index % rows)
    x = rows_of(near, chosen)
    return x, holds, int(replay(spec, rows_of(near, slice(0, 1)))[0])


def answers(
    name: str, given: Mapping[str, tuple[list[str], list[Witness], list[int]]]
) -> list[dict[str, Any]]:
    """For each question the candidate designs that reproduce all outputs, and the refuted ones."""
    spec = resolve(name)
    found = []
    for question in QUESTIONS:
        if question.id not in given:
            continue
        names, witnesses, outputs = given[question.id]
        x = batch_of(witnesses)
        wanted = np.array(outputs, dtype=np.uint64)
        tried = candidates(question, spec)
        fit = [bool((replay(u, x) == wanted).all()) for u in tried]
        d = spec.operands.d
        shown = {
            n: f"{format_value(d, w)} ({hex_word(d, w)})" for n, w in zip(names[:8], outputs, strict=False)
        }
        found.append({
            "question": question.id, "title": question.title, "outputs": shown,
            "fits": [u.name for u, ok in zip(tried, fit, strict=True) if ok],
            "refuted": [u.name for u, ok in zip(tried, fit, strict=True) if not ok],
        })  # fmt: skip
    return found


def survivors(name: str, items: Sequence[Directed], outputs: Sequence[int]) -> dict[str, Any]:
    """The designs consistent with all outputs, and for each other design an input that refutes it."""
    spec = resolve(name)
    x = batch_of([item.witness for item in items])
    wanted = np.array(outputs, dtype=np.uint64)
    left, refuted = [], {}
    for u in rivals(spec, spec.k):
        wrong = np.flatnonzero(replay(u, x) != wanted)
        if wrong.size:
            refuted[u.name] = items[int(wrong[0])].id
        else:
            left.append(u.name)
    return {"survivors": left, "refuted": refuted}
