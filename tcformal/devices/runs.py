"""Files of results: a device's outputs for a plan, line by line, and their reconstruction.

A random item is stored as the digest of its outputs and the mismatches with the model.  The model's outputs
with the mismatches put in are the device's, which the digest confirms on reading.  If the mismatches were too
many to be stored, a corrected model still shows by the digest that it gives all outputs.

A file may hold runs of many units, as a campaign's does: then each line names its unit, and directed dot
products stand in blocks that units of equal formats share (`entries`).

Statements of a file are not trusted: its lines carry digests (`sealed`), counts and the model's outputs are
computed again when a run is read, and an incomplete run reports what it lacks (`Run.lacks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.entries import (
    Block,
    DirectedLine,
    Head,
    Line,
    Note,
    RandomLine,
    SuiteLine,
    block_items,
    dot_products_in,
    mismatches_in,
    words_of,
)
from tcformal.devices.plan import Directed, Plan, PlanItem, Random, item_of
from tcformal.devices.sealed import (
    CAMPAIGN,
    SCHEMA,
    SUMMARY,
    check_head,
    check_program,
    check_seal,
    check_sealed_as,
    read_whole,
    whole,
    word,
)
from tcformal.errors import RecordError, TcformalError
from tcformal.files import ENDING, LARGEST_CONTENT, read_packed, read_regular, write_packed
from tcformal.oracle.values import hex_word
from tcformal.semantics.chain import definition
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, digest_of, rows_of
from tcformal.simulation.operands.witness import from_data
from tcformal.store import lines
from tcformal.store.schema import SEAL

#: Whether a line's statements about the model are about the current model.
Today = Callable[[], bool]
#: Directed dot products, and dot products of blocks, that the model evaluates at once, or a few more.
_LINES, _TOGETHER = 1024, 1 << 14
#: Lines that hold outputs, and all that belong to a run.
_RESULTS = ("random", "directed", "suite")
_KINDS = (*_RESULTS, "end", "fault", "position", "answer")
#: Bytes from which on a file of results is worth packing.
_LONG = 20_000


@dataclass(slots=True)
class Run:
    """One run of a plan on a device: its head line, and its finished items."""

    head: Head
    done: list[Line] = field(default_factory=list)
    #: Other lines about the device: faults, positions, answers.
    notes: list[Note] = field(default_factory=list)
    #: The blocks of operands of the file, by digest.
    blocks: dict[str, Block] = field(default_factory=dict)
    #: The last failure without later results of the failed item.
    fault: Note | None = None
    end: Note | None = None

    @property
    def ended(self) -> bool:
        """Whether the run's last line was written, so that it is complete."""
        return self.end is not None

    @property
    def lacks(self) -> str:
        """The missing part of the run as one clause; empty where nothing is missing.

        A campaign has no end of its own: only its failed items count as missing.
        """
        came = sum(map(dot_products_in, self.done))
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

    def continues(self, head: Mapping[str, object]) -> bool:
        """Whether a new run with that head would repeat this one."""
        return all(self.head.get(key) == value for key, value in head.items() if key != "date")

    def add(self, data: dict[str, object]) -> None:
        """Add a line; the results of a failed item replace its fault line."""
        kind, id_ = data["kind"], data.get("id", data["kind"])
        failed = None if self.fault is None else self.fault.get("id")
        if kind in _RESULTS:
            self.done.append(cast(Line, data))
            if failed in (id_, "identify", "prepare") and not data.get("partial"):
                self.fault = None
            return
        note = cast(Note, data)
        if kind == "end":
            self.end, self.fault = note, None
            return
        self.notes.append(note)
        if kind == "fault":
            self.fault = note
        elif kind == "position" and failed == kind and list(note["outputs"]) == [note["model"]]:
            self.fault = None


# ------------------------------------------------------------------ files
def files_of(path: Path) -> list[Path]:
    """The files of results under a path, packed ones first: the file itself, or a campaign's parts."""
    if path.is_dir():
        return sorted([*path.glob(f"campaign-*.jsonl{ENDING}"), *path.glob("campaign-*.jsonl")])
    return [file for file in (packed_name(path), path) if file.exists()]


def packed_name(path: Path) -> Path:
    """The path of a result file after compression."""
    return path.with_name(path.name + ENDING)


def lines_in(file: Path) -> list[lines.Line]:
    """The lines of a file, compressed or not."""
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
    blocks: dict[str, Block] = {}
    for file in files:
        for line in lines_in(file):
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
    data: dict[str, object], runs: list[Run], latest: dict[str, Run], blocks: dict[str, Block], where: str
) -> None:
    """Add one line to a run: to the last run of the unit that it names, else to the last run."""
    kind = data.get("kind")
    if SEAL in data:
        check_seal(data, where)
    if kind == "run":
        check_head(data, where)
        runs.append(Run(cast(Head, data), blocks=blocks))
        latest[runs[-1].head["unit"]] = runs[-1]
    elif kind == "operands":
        if SEAL in data or str(data.get("digest")) not in blocks:
            blocks[str(data.get("digest"))] = cast(Block, data)
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
            latest[name].add(data)


def pack(path: Path) -> Path:
    """Compress a file of results, and return the new file.

    A part of a campaign continues the parts before it: the campaign is read as a whole.
    Errors: RecordError as `read_runs` and `write_packed`, and for a file beside which a packed one is.
    """
    _pack([path])
    return packed_name(path)


def pack_all(folder: Path) -> int:
    """Compress the long result files and summaries below a folder, and return their number."""
    summaries, results = (
        [path for path in sorted(folder.rglob(names)) if path.lstat().st_size >= _LONG]
        for names in (SUMMARY, "*.jsonl")
    )
    for path in summaries:
        _replace(path, read_regular(path, LARGEST_CONTENT))
    _pack(results)
    return len(results) + len(summaries)


def pack_products(folder: Path) -> int:
    """Compress the results on whole products below a folder, appended to earlier packed lines.

    Errors: RecordError for a line that is no record, and as `read_packed` and `write_packed`.
    """
    files = sorted(folder.rglob("*.jsonl"))
    for path in files:
        packed, content = packed_name(path), read_regular(path, LARGEST_CONTENT)
        for number, line in enumerate(content.splitlines(), 1):
            if lines.parse_line(path, number, line).data is None:
                raise RecordError(f"expected a record in line {number} of {path}, but got {line[:60]!r}")
        _replace(path, (read_packed(packed) if packed.exists() else b"") + content)
    return len(files)


def _pack(paths: Sequence[Path]) -> None:
    """Compress files after a check that all runs in them can be read."""
    for packed in map(packed_name, paths):
        if packed.exists():
            raise RecordError(f"expected no file at {packed}, but there is one")
    for results in dict.fromkeys(path.parent if path in files_of(path.parent) else path for path in paths):
        read_runs(results)
    for path in paths:
        _replace(path, read_regular(path, LARGEST_CONTENT))


def _replace(path: Path, content: bytes) -> None:
    """Replace a file by a compressed one with this content, which is read back first."""
    write_packed(packed_name(path), content)
    if read_packed(packed_name(path)) == content:
        path.unlink()


# ------------------------------------------------------------------ outputs
@dataclass(frozen=True, slots=True)
class Piece:
    """Some dot products of one length with a device's and the model's outputs."""

    items: tuple[PlanItem, ...]
    batch: Batch
    outputs: Raw
    #: The results of the unit of the run in its current definition.
    model: Raw

    @property
    def wrong(self) -> int:
        """The number of outputs that differ from the model's."""
        return int(np.count_nonzero(self.outputs != self.model))

    def item_at(self, row: int) -> PlanItem:
        """The plan item that a row belongs to."""
        return self.items[0] if isinstance(self.items[0], Random) else self.items[row]


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

    @cache
    def today() -> bool:
        """Whether the run was compared with the current model, not an older definition."""
        return run.head["definition"] == definition(spec)

    with read_whole(path):
        for piece in _pieces(run, spec, path, today):
            yield piece
            wrong += piece.wrong
        for note in run.notes:
            if note["kind"] == "position":
                _check_position(run, note, spec, f"{path}, position", today)
        if run.end is not None:
            _check_end(run, run.end, spec, wrong, path, today)


def _pieces(run: Run, spec: UnitSpec, path: Path, today: Today) -> Iterator[Piece]:
    k, directed = run.head["k"], [line for line in run.done if line["kind"] == "directed"]
    for i in range(0, len(directed), _LINES):
        yield _directed_piece(spec, directed[i : i + _LINES], path, today)
    suites = [(run.blocks.get(str(line["operands"])), line) for line in run.done if line["kind"] == "suite"]
    # A block without a digest is none of a file whose lines have digests.
    trusted = ((b if b and (SEAL in b or run.head["schema"] != SCHEMA) else None, x) for b, x in suites)
    yield from suite_pieces(spec, k, trusted, path, today)
    for line in run.done:
        if line["kind"] == "random" and (piece := random_piece(spec, k, line, path, today)) is not None:
            yield piece


def _evaluated(spec: UnitSpec, parts: Sequence[tuple[Sequence[Directed], Sequence[int]]]) -> list[Piece]:
    """The pieces of several groups of dot products; one evaluation of the model serves all."""
    batch = batch_of([item.witness for items, _ in parts for item in items])
    model, start, pieces = replay(spec, batch), 0, []
    for items, outputs in parts:
        rows = slice(start, start + len(items))
        words = np.array(outputs, dtype=np.uint64)
        pieces.append(Piece(tuple(items), rows_of(batch, rows), words, model[rows]))
        start = rows.stop
    return pieces


def _directed_piece(spec: UnitSpec, part: Sequence[DirectedLine], path: Path, today: Today) -> Piece:
    """The piece of directed dot products that are written one to a line."""
    d = spec.operands.d
    items = [item_of(spec, line, f"{path}, item {line.get('id')}") for line in part]
    outputs = [word(d, line["d"], f"{path}, item {line['id']}") for line in part]
    (piece,) = _evaluated(spec, [([item for item in items if isinstance(item, Directed)], outputs)])
    for line, model in zip(part, piece.model.tolist(), strict=True):
        if word(d, line["model"], f"{path}, item {line['id']}") != model and today():
            raise RecordError(
                f"expected {hex_word(d, model)} as the model's output of {line['id']} in {path}, "
                f"but {line['model']} stands there"
            )
    return piece


def suite_pieces(
    spec: UnitSpec, k: int, suites: Iterable[tuple[Block | None, SuiteLine]], path: Path, today: Today
) -> Iterator[Piece]:
    """The pieces of blocks: one per line of outputs, cut to the number of outputs.

    Blocks are evaluated on the model together, since an evaluation costs about as much for few as for
    many.
    """
    held: list[tuple[SuiteLine, tuple[list[Directed], tuple[int, ...]]]] = []

    def checked() -> Iterator[Piece]:
        pieces = _evaluated(spec, [part for _, part in held]) if held else []
        for (line, _), piece in zip(held, pieces, strict=True):
            _check_count(piece, line["mismatches"], line["id"], path, today)
            yield piece
        held.clear()

    for block, line in suites:
        part = _suite(spec, k, block, line, path)
        held += [(line, part)] if part[0] else []
        if sum(len(items) for _, (items, _) in held) >= _TOGETHER:
            yield from checked()
    yield from checked()


def _suite(
    spec: UnitSpec, k: int, block: Block | None, line: SuiteLine, path: Path
) -> tuple[list[Directed], tuple[int, ...]]:
    """The dot products of a block, with the outputs of one line; RecordError where they disagree."""
    digest = str(line["operands"])
    if block is None:
        raise RecordError(
            f"expected the operands {digest[:12]}… of {line['id']} in {path}, but there are none"
        )
    items = block_items(spec, block, f"{path}, operands {digest[:12]}…")
    outputs = words_of(spec.operands.d, line["d"])
    if len(outputs) != whole(line, "count", f"{path}, {line['id']}") or len(outputs) > len(items):
        raise RecordError(
            f"expected {line['count']} outputs of {line['id']} in {path}, but {len(outputs)} stand there"
        )
    if line["id"] != f"suite/{digest[:16]}" or block["k"] != k:
        raise RecordError(f"expected {line['id']} in {path} to be named after operands of {k} terms")
    return items[: len(outputs)], outputs


def random_piece(spec: UnitSpec, k: int, line: RandomLine, path: Path, today: Today) -> Piece | None:
    """The piece of a random item: the model's outputs, with the recorded mismatches put in.

    None where only a digest of the outputs is kept and the model does not give it; see `pieces_of`.
    """
    where = f"{path}, item {line.get('id')}"
    item = item_of(spec, line, where)
    if not isinstance(item, Random) or item.id != f"random/{item.seed}":
        raise RecordError(f"expected a random item to be named after its seed in {where}, but it is not")
    batch = item.batch(spec, k)
    model = replay(spec, batch)
    outputs = model.copy()
    for row, text in line["mismatches"].items():
        if row != str(int(row)) or not 0 <= int(row) < len(outputs):
            raise RecordError(f"expected a row below {len(outputs)} in {where}, but got {row!r:.40}")
        outputs[int(row)] = word(spec.operands.d, text, where)
    piece = Piece((item,), batch, outputs, model)
    same = digest_of(outputs) == line["outputs"]
    count = len(line["mismatches"])
    if "not_kept" in line:
        if count:
            raise RecordError(f"expected no mismatches beside those not kept in {where}, but there are some")
        count = whole(line, "not_kept", where, low=1, high=item.count)
        if not same:
            return None
    if not same:
        raise RecordError(
            f"expected the outputs of item {line['id']} of {path} to have the digest that stands there, but "
            f"they have not: {spec.name} is defined otherwise now, or the file is damaged; run the plan again"
        )
    _check_count(piece, count, line["id"], path, today)
    return piece


# ------------------------------------------------------------------ statements
def _check_count(piece: Piece, count: object, id_: str, path: Path, today: Today) -> None:
    """Raise RecordError unless a line's count of mismatches matches its outputs."""
    if piece.wrong != count and today():
        raise RecordError(
            f"expected {piece.wrong} mismatches of {id_} in {path}, as its outputs have, "
            f"but {count!r:.40} stand there"
        )


def _check_position(run: Run, note: Note, spec: UnitSpec, where: str, today: Today) -> None:
    """Raise RecordError unless a positions test has the model's result for its operands."""
    d = spec.operands.d
    model = int(replay(spec, batch_of([from_data(spec, note, where)]))[0])
    if word(d, note["model"], where) != model and today():
        given = f"but {note['model']} stands there"
        raise RecordError(f"expected {hex_word(d, model)} as the model's output in {where}, {given}")
    places = spec.m * spec.n
    counts = [whole(note["outputs"], text, where, low=1) for text in note["outputs"]]
    if note["places"] != places or (not run.fault and sum(counts) != 2 * max(places, 64)):
        raise RecordError(f"expected outputs of {places} places in {where}, but got {counts}")
    for text in note["outputs"]:
        word(d, text, where)


def _check_end(run: Run, end: Note, spec: UnitSpec, wrong: int, path: Path, today: Today) -> None:
    """Raise RecordError unless a run has the planned dot products and matching final counts."""
    if run.head["plan"] != CAMPAIGN:
        items = tuple(item_of(spec, line, f"{path}, item {line.get('id')}") for line in run.done)
        plan = Plan(spec, run.head["k"], items)
        if plan.digest() != run.head["plan"] or run.head.get("dot_products", plan.count) != plan.count:
            raise RecordError(f"expected the dot products of the plan in {path}, but there are others")
    if end["dot_products"] != (count := sum(map(dot_products_in, run.done))):
        raise RecordError(
            f"expected {count} dot products at the end of {path}, but {end['dot_products']} stand there"
        )
    wrong += sum(
        mismatches_in(line) for line in run.done if line["kind"] == "random" and line.get("not_kept")
    )
    if end["mismatches"] != wrong and today():
        raise RecordError(
            f"expected {wrong} mismatches at the end of {path}, but {end['mismatches']} stand there"
        )
