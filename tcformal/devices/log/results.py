"""Files of results: a device's outputs for a plan, line by line, and their reconstruction.

A random item is stored as the digest of its outputs and the mismatches with the model.  The model's outputs
with the mismatches put in are the device's, which the digest confirms on reading.  If the mismatches were too
many to be stored, a corrected model still shows by the digest that it gives all outputs.

A file may hold runs of many units, as a campaign's does: then each line names its unit, and directed dot
products stand in blocks that units of equal formats share (`blocks`).

Statements of a file are not trusted: its lines carry digests (`sealed`), counts and the model's outputs are
computed again when a run is read, and an incomplete run reports what it lacks (`Run.lacks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.log.identity import check_program
from tcformal.devices.log.pieces import Piece, directed_piece, random_piece, suite_pieces
from tcformal.devices.log.written import mismatches_in
from tcformal.devices.plan.plan import Plan, item_of
from tcformal.devices.sealed import (
    CAMPAIGN,
    SCHEMA,
    check_head,
    check_seal,
    check_sealed_as,
    read_whole,
    whole,
    word,
)
from tcformal.errors import RecordError, TcformalError
from tcformal.files import ENDING, read_packed
from tcformal.oracle.values import hex_word
from tcformal.programs.chain import definition
from tcformal.simulation.operands.batch import batch_of
from tcformal.simulation.operands.text import from_data
from tcformal.simulation.replay import replay
from tcformal.store import lines
from tcformal.store.schema import SEAL

#: Directed dot products that a model evaluates at once.
_TOGETHER = 1024
#: Lines that hold outputs, and all that belong to a run.
_RESULTS = ("random", "directed", "suite")
_KINDS = (*_RESULTS, "end", "fault", "position", "answer")


@dataclass(slots=True)
class Run:
    """One run of a plan on a device: its head line, and its finished items."""

    head: dict[str, Any]
    done: list[dict[str, Any]] = field(default_factory=list)
    #: Other lines about the device: faults, positions, answers.
    notes: list[dict[str, Any]] = field(default_factory=list)
    #: The blocks of operands of the file, by digest.
    blocks: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: The last failure without later results of the failed item.
    fault: dict[str, Any] | None = None
    end: dict[str, Any] | None = None

    @property
    def ended(self) -> bool:
        """Whether the run's last line was written, so that it is complete."""
        return self.end is not None

    @property
    def lacks(self) -> str:
        """The missing part of the run as one clause; empty where nothing is missing.

        A campaign has no end of its own: only its failed items count as missing.
        """
        came = sum(int(line.get("count", 1)) for line in self.done)
        if self.fault is not None:
            at, why = self.fault.get("id"), self.fault.get("reason")
            return f"after {came} dot products it stopped at {at}: {why}"
        if not self.done:
            return "it has no results"
        for note in self.notes:
            if note["kind"] == "position" and list(note["outputs"]) != [note["model"]]:
                outputs = ", ".join(note["outputs"])
                return f"the dot product at every place gives {outputs}, and not {note['model']} alone"
        if not self.ended and self.head["plan"] != CAMPAIGN:
            of = f" of {self.head['dot_products']}" if "dot_products" in self.head else ""
            return f"it holds {came}{of} dot products and did not come to its end"
        return ""

    def continues(self, head: Mapping[str, Any]) -> bool:
        """Whether a new run with that head would repeat this one."""
        return all(self.head.get(key) == value for key, value in head.items() if key != "date")


def files_of(path: Path) -> list[Path]:
    """The files of results under a path, packed ones first: the file itself, or a campaign's parts."""
    if path.is_dir():
        return sorted([*path.glob(f"campaign-*.jsonl{ENDING}"), *path.glob("campaign-*.jsonl")])
    return [file for file in (packed_name(path), path) if file.exists()]


def packed_name(path: Path) -> Path:
    """The path of a result file after compression."""
    return path.with_name(path.name + ENDING)


def _lines(file: Path) -> list[lines.Line]:
    """The lines of a result file, compressed or not."""
    if file.suffix != ENDING:
        return lines.read(file)
    numbered = enumerate(read_packed(file).splitlines(), 1)
    return [lines.parse_line(file, number, text) for number, text in numbered if text.strip()]


def read_runs(path: Path) -> list[Run]:
    """All runs of a file or of a campaign's folder, in chronological order.

    A torn last line is left out.
    Errors: RecordError for a file that holds no results, results of two programs, or a damaged line.
    """
    files = files_of(path)
    if not files:
        raise RecordError(f"expected a file of results at {path}, but there is none")
    runs: list[Run] = []
    latest: dict[str, Run] = {}
    blocks: dict[str, dict[str, Any]] = {}
    for file in files:
        for line in _lines(file):
            if line.torn:
                continue
            if line.data is None:
                raise RecordError(line.problem)
            _take(line.data, runs, latest, blocks, f"line {line.number} of {file}")
    if not runs:
        raise RecordError(f"expected results ({SCHEMA}) in {path}, but the file is empty")
    for run in runs:
        check_program(run.head["device"], runs[0].head["device"], path)
    return runs


def _take(
    data: dict[str, Any],
    runs: list[Run],
    latest: dict[str, Run],
    blocks: dict[str, dict[str, Any]],
    where: str,
) -> None:
    """Add one line to a run: to the last run of the unit that it names, else to the last run."""
    kind = data.get("kind")
    if SEAL in data:
        check_seal(data, where)
    if kind == "run":
        check_head(data, where)
        runs.append(Run(data, blocks=blocks))
        latest[data["unit"]] = runs[-1]
    elif kind == "operands":
        if SEAL in data or str(data.get("digest")) not in blocks:
            blocks[str(data.get("digest"))] = data
    elif kind == "campaign":
        check_sealed_as(data, data.get("schema"), where)
    elif kind not in _KINDS:
        raise RecordError(f"expected a line of results ({SCHEMA}) in {where}, but got {data!r:.80}")
    elif not runs:
        raise RecordError(f"expected results ({SCHEMA}) before {where}, but there are none")
    else:
        name = str(data.get("unit", runs[-1].head["unit"]))
        if name not in latest:
            raise RecordError(f"expected the head of the run of {name} before {where}, but there is none")
        check_sealed_as(data, latest[name].head["schema"], where)
        with read_whole(where):
            _add(latest[name], data)


def _add(run: Run, data: dict[str, Any]) -> None:
    """Add a line to its run; the results of a failed item replace its fault line."""
    kind, id_ = data["kind"], data.get("id", data["kind"])
    failed = None if run.fault is None else run.fault.get("id")
    if kind == "end":
        run.end, run.fault = data, None
    elif kind in _RESULTS:
        run.done.append(data)
        if failed in (id_, "identify", "prepare") and not data.get("partial"):
            run.fault = None
    else:
        run.notes.append(data)
        if kind == "fault":
            run.fault = data
        elif kind == "position" and failed == kind and list(data["outputs"]) == [data["model"]]:
            run.fault = None


def unit_of(run: Run, path: Path) -> UnitSpec:
    """The unit of a run's plan."""
    try:
        return resolve(str(run.head["unit"]))
    except (KeyError, TcformalError) as error:
        raise RecordError(f"expected results of a known unit in {path}, but {error}") from None


def pieces_of(run: Run, path: Path) -> Iterator[Piece]:
    """The outputs of a run as pieces: all directed dot products, then each random item.

    Of random outputs kept as a digest alone, only those that the model gives are returned.  Counts and the
    model's outputs in the lines are compared with those computed here.
    Errors: RecordError where outputs cannot be read back: the definition of the unit or the generator has
    changed, or the file is damaged or inconsistent.
    """
    spec, wrong = unit_of(run, path), 0
    with read_whole(path):
        for piece in _pieces(run, spec, path):
            yield piece
            wrong += piece.wrong
        _check_positions(run, spec, path)
        if run.end is not None:
            _check_end(run, spec, wrong, path)


def _pieces(run: Run, spec: UnitSpec, path: Path) -> Iterator[Piece]:
    today = partial(_is_of_today, run, spec)
    directed = [line for line in run.done if line["kind"] == "directed"]
    for i in range(0, len(directed), _TOGETHER):
        yield directed_piece(spec, directed[i : i + _TOGETHER], path, today)
    suites = ((_block(run, line), line) for line in run.done if line["kind"] == "suite")
    yield from suite_pieces(spec, run.head["k"], suites, path, today)
    for line in (line for line in run.done if line["kind"] == "random"):
        if (piece := random_piece(spec, run.head["k"], line, path, today)) is not None:
            yield piece


def _block(run: Run, line: Mapping[str, Any]) -> dict[str, Any] | None:
    """The block of operands of a line; None where no block has the digest that the line names."""
    block = run.blocks.get(str(line["operands"]))
    return block if block is not None and (SEAL in block or run.head["schema"] != SCHEMA) else None


def _is_of_today(run: Run, spec: UnitSpec) -> bool:
    """Whether a run was compared with the current model, not an older definition."""
    return bool(run.head["definition"] == definition(spec))


def _check_positions(run: Run, spec: UnitSpec, path: Path) -> None:
    """Raise RecordError unless a positions test has the model's result for its operands."""
    for note in run.notes:
        if note["kind"] != "position":
            continue
        where, d = f"{path}, position", spec.operands.d
        model = replay(spec, batch_of([from_data(spec, note, where)]))
        if word(d, note["model"], where) != int(model[0]) and _is_of_today(run, spec):
            raise RecordError(
                f"expected {hex_word(d, int(model[0]))} as the model's output in {where}, "
                f"but {note['model']} stands there"
            )
        places = spec.m * spec.n
        counts = [whole(note["outputs"], text, where, low=1) for text in note["outputs"]]
        if note["places"] != places or (not run.fault and sum(counts) != 2 * max(places, 64)):
            raise RecordError(f"expected outputs of {places} places in {where}, but got {counts}")
        for text in note["outputs"]:
            word(d, text, where)


def _check_end(run: Run, spec: UnitSpec, wrong: int, path: Path) -> None:
    """Raise RecordError unless a run has the planned dot products and matching final counts."""
    end = run.end or {}
    if run.head["plan"] != CAMPAIGN:
        items = tuple(item_of(spec, line, f"{path}, item {line.get('id')}") for line in run.done)
        plan = Plan(spec, run.head["k"], items)
        if plan.digest() != run.head["plan"] or run.head.get("dot_products", plan.count) != plan.count:
            raise RecordError(f"expected the dot products of the plan in {path}, but there are others")
    if end["dot_products"] != (count := sum(line.get("count", 1) for line in run.done)):
        raise RecordError(
            f"expected {count} dot products at the end of {path}, but {end['dot_products']} stand there"
        )
    unread = sum(mismatches_in(line) for line in run.done if line.get("not_kept"))
    if end["mismatches"] != wrong + unread and _is_of_today(run, spec):
        raise RecordError(
            f"expected {wrong + unread} mismatches at the end of {path}, but {end['mismatches']} stand there"
        )
