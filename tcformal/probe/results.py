"""Files of results: what a device gave for a plan, line by line, and the outputs that the lines stand for.

A random item is kept as the digest of its outputs and those outputs that are not the model's: the model's
outputs with these put in are the device's, which the digest confirms when they are read back.

A file may hold runs of many units, as those of a campaign do: then each line names its unit, and directed
dot products stand in blocks that units of the same formats share (`blocks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import RecordError, TcformalError
from tcformal.ir.walk import digest
from tcformal.models import circuit
from tcformal.oracle.values import hex_word
from tcformal.probe.blocks import block_items, words_of
from tcformal.probe.operands import batch_of, digest_of
from tcformal.probe.plan import Directed, Item, Random, item_of
from tcformal.probe.replay import replay
from tcformal.query.families import Batch, Raw
from tcformal.records import lines

SCHEMA = "tcformal-hardware/1"
#: Directed dot products put to a model at once.
_TOGETHER = 1024


@dataclass(slots=True)
class Run:
    """One run of a plan on a device: its head, and the items that are done."""

    head: dict[str, Any]
    done: list[dict[str, Any]] = field(default_factory=list)
    #: Whether the run came to its end.
    ended: bool = False
    #: What is said besides of the device: faults, positions, answers.
    notes: list[dict[str, Any]] = field(default_factory=list)
    #: The blocks of operands of the file, by digest.
    blocks: dict[str, dict[str, Any]] = field(default_factory=dict)

    def continues(self, head: Mapping[str, Any]) -> bool:
        """Whether a new run with that head would do the same over again."""
        return all(self.head.get(key) == value for key, value in head.items() if key != "date")


@dataclass(frozen=True, slots=True)
class Piece:
    """Dot products of one length with what a device gave for them."""

    items: tuple[Item, ...]
    batch: Batch
    outputs: Raw

    def item_at(self, row: int) -> Item:
        """The item that a row belongs to."""
        return self.items[0] if isinstance(self.items[0], Random) else self.items[row]


def definition_of(spec: UnitSpec) -> str:
    """SHA-256 of a unit's definition."""
    graph, root = circuit(spec, spec.k)
    return digest(graph, {"d": root})


def random_line(
    spec: UnitSpec, item: Random, outputs: Raw, model: Raw, most: int | None = None
) -> dict[str, Any]:
    """The line of a random item; more than `most` mismatches are counted and not kept."""
    wrong = np.flatnonzero(outputs != model[: len(outputs)])
    line = {**item.data(spec), "outputs": digest_of(outputs)}
    if most is not None and len(wrong) > most:
        return {**line, "not_kept": len(wrong), "mismatches": {}}
    words = {str(int(row)): hex_word(spec.operands.d, int(outputs[row])) for row in wrong}
    return {**line, "mismatches": words}


def directed_line(spec: UnitSpec, item: Directed, output: int, model: int) -> dict[str, Any]:
    """The line of a directed item."""
    d = spec.operands.d
    return {**item.data(spec), "d": hex_word(d, output), "model": hex_word(d, model)}


def mismatches_in(line: Mapping[str, Any]) -> int:
    """How many outputs of one line are not the model's."""
    if line["kind"] == "suite":
        return int(line["mismatches"])
    if line["kind"] == "random":
        return len(line["mismatches"]) + int(line.get("not_kept", 0))
    return int(line["d"] != line["model"])


def files_of(path: Path) -> list[Path]:
    """The files of results that a path stands for: itself, or the parts of a campaign in a folder."""
    if path.is_dir():
        return sorted(path.glob("campaign-*.jsonl"))
    return [path] if path.exists() else []


def read_runs(path: Path) -> list[Run]:
    """All runs of a file or of a folder's campaign, in the order in which they were made.

    A torn last line is left out.
    Errors: RecordError for a file that holds no results, or a damaged line.
    """
    files = files_of(path)
    if not files:
        raise RecordError(f"expected a file of results at {path}, but there is none")
    runs: list[Run] = []
    latest: dict[str, Run] = {}
    blocks: dict[str, dict[str, Any]] = {}
    for file in files:
        for line in lines.read(file)[0]:
            if line.torn:
                continue
            if line.data is None:
                raise RecordError(line.problem)
            _take(line.data, runs, latest, blocks, f"line {line.number} of {file}")
    if not runs:
        raise RecordError(f"expected results ({SCHEMA}) in {path}, but the file is empty")
    return runs


def _take(
    data: dict[str, Any],
    runs: list[Run],
    latest: dict[str, Run],
    blocks: dict[str, dict[str, Any]],
    where: str,
) -> None:
    """Put one line where it belongs: lines that name a unit to its last run, others to the last of all."""
    kind = data.get("kind")
    if kind == "run":
        runs.append(Run(data, blocks=blocks))
        latest[str(data.get("unit"))] = runs[-1]
    elif kind == "operands":
        blocks[str(data.get("digest"))] = data
    elif kind == "campaign":
        return
    elif not runs:
        raise RecordError(f"expected results ({SCHEMA}) before {where}, but there are none")
    elif kind in ("random", "directed", "suite", "end", "fault", "position", "answer"):
        name = str(data.get("unit", runs[-1].head.get("unit")))
        if name not in latest:
            raise RecordError(f"expected the head of the run of {name} before {where}, but there is none")
        run = latest[name]
        if kind == "end":
            run.ended = True
        elif kind in ("random", "directed", "suite"):
            run.done.append(data)
        else:
            run.notes.append(data)


def unit_of(run: Run, path: Path) -> UnitSpec:
    """The unit that a run's plan was made for."""
    try:
        return resolve(str(run.head["unit"]))
    except (KeyError, TcformalError) as error:
        raise RecordError(f"expected results of a known unit in {path}, but {error}") from None


def pieces_of(run: Run, path: Path) -> Iterator[Piece]:
    """What a device gave: directed dot products together, then each random item.

    Errors: RecordError where outputs cannot be read back, because the definition of the unit or the
    generator has changed since, or the file is damaged.
    """
    spec = unit_of(run, path)
    try:
        k = int(run.head["k"])
        items = [
            (item_of(spec, line, f"{path}, item {line.get('id')}"), line)
            for line in run.done
            if line["kind"] != "suite"
        ]
        directed = [(item, int(line["d"], 16)) for item, line in items if isinstance(item, Directed)]
        for line in run.done:
            if line["kind"] == "suite":
                directed += _suite(spec, run, line, path)
        for start in range(0, len(directed), _TOGETHER):
            part = directed[start : start + _TOGETHER]
            outputs = np.array([d for _, d in part], dtype=np.uint64)
            yield Piece(tuple(i for i, _ in part), batch_of(spec, [i.witness for i, _ in part]), outputs)
        for item, line in items:
            if isinstance(item, Random) and not line.get("not_kept"):
                batch = item.batch(spec, k)
                yield Piece((item,), batch, _outputs(spec, batch, line, path))
    except (LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise RecordError(f"expected whole results in {path}, but got: {error!r}") from None


def _suite(spec: UnitSpec, run: Run, line: Mapping[str, Any], path: Path) -> list[tuple[Directed, int]]:
    """The dot products of a block with the outputs of one line, as far as these go."""
    digest = str(line["operands"])
    if digest not in run.blocks:
        raise RecordError(
            f"expected the operands {digest[:12]}… of {line['id']} in {path}, but there are none"
        )
    items = block_items(spec, run.blocks[digest], f"{path}, operands {digest[:12]}…")
    outputs = words_of(spec.operands.d, line["d"])
    if len(outputs) != line["count"] or len(outputs) > len(items):
        raise RecordError(
            f"expected {line['count']} outputs of {line['id']} in {path}, but {len(outputs)} stand there"
        )
    return list(zip(items, outputs, strict=False))


def _outputs(spec: UnitSpec, batch: Batch, line: Mapping[str, Any], path: Path) -> Raw:
    """The model's outputs with the device's own put in where they differ."""
    outputs = replay(spec, batch)
    for row, word in line["mismatches"].items():
        outputs[int(row)] = int(word, 16)
    if digest_of(outputs) != line["outputs"]:
        raise RecordError(
            f"expected the outputs of item {line['id']} of {path} to have the digest that stands there, but "
            f"they have not: {spec.name} is defined otherwise now, or the file is damaged; run the plan again"
        )
    return outputs
