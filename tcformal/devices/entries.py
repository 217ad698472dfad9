"""The lines of a result file, and the numbered files of a campaign.

Directed dot products stand in blocks, which units of equal formats share.  A block is a list of dot products,
or one tile: m rows of A, n columns of B, and a c for each of the m · n dot products, row by row.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NotRequired, TypedDict, cast

import numpy as np

from tcformal.design.unit import UnitSpec, formats_text
from tcformal.devices.plan import Directed, Random
from tcformal.devices.sealed import SCHEMA
from tcformal.encodings.spec import Format
from tcformal.errors import NoAnswerError, RecordError
from tcformal.oracle.values import hex_word
from tcformal.semantics.chain import definition, scale_count
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, digest_of, inputs_digest
from tcformal.simulation.operands.witness import Witness
from tcformal.store import lines
from tcformal.store.schema import now, sealed
from tcformal.version import VERSION

#: Largest number of parts, and bytes of one: with the summary, eight files of at most 16 MiB.
MOST_PARTS = 7
MOST_BYTES = 15 << 20
#: Unsigned integers of so many hex digits, as `struct` names them.
_CODES = {2: "B", 4: "H", 8: "I", 16: "Q"}


class Head(TypedDict):
    """The first line of a run."""

    kind: Literal["run"]
    schema: str
    unit: str
    k: int
    plan: str
    definition: str
    tcformal: str
    device: dict[str, str]
    dot_products: NotRequired[int]
    date: str


class DirectedLine(TypedDict):
    """One directed dot product with its output and the model's result."""

    kind: Literal["directed"]
    id: str
    why: str
    a: list[str]
    b: list[str]
    c: str
    d: str
    model: str


class RandomLine(TypedDict):
    """A random item: the digest of its outputs, and the outputs that are not the model's."""

    unit: NotRequired[str]
    kind: Literal["random"]
    id: str
    generator: str
    seed: int
    count: int
    inputs: str
    outputs: str
    #: Mismatches that were too many to be stored.
    not_kept: NotRequired[int]
    mismatches: dict[str, str]


class SuiteLine(TypedDict):
    """The outputs for a block of operands, or for its first dot products."""

    kind: Literal["suite"]
    id: str
    unit: str
    #: The digest of the block.
    operands: str
    count: int
    d: str
    mismatches: int
    partial: NotRequired[bool]


#: A line that holds outputs.
Line = DirectedLine | RandomLine | SuiteLine


class Block(TypedDict):
    """Operands of directed dot products: a list with names, or a tile."""

    kind: Literal["operands"]
    digest: str
    formats: str
    k: int
    names: NotRequired[list[str]]
    tile: NotRequired[str]
    a: list[str]
    b: list[str]
    c: str
    scale_a: NotRequired[list[str]]
    scale_b: NotRequired[list[str]]


class Note(TypedDict, total=False):
    """Another line about a unit: a fault, the outputs at every position of a tile, an answer, or the end."""

    kind: str
    unit: str
    id: str
    date: str
    reason: str
    places: int
    model: str
    outputs: dict[str, int]
    dot_products: int
    mismatches: int


class Answer(TypedDict, total=False):
    """The answer to a question: the designs that give all its outputs, and the refuted ones."""

    kind: str
    unit: str
    question: str
    title: str
    outputs: dict[str, str]
    fits: list[str]
    refuted: list[str]


class Designs(TypedDict, total=False):
    """The designs that give all directed outputs, and for each other one an input that refutes it."""

    kind: str
    unit: str
    survivors: list[str]
    refuted: dict[str, str]


def digits(fmt: Format) -> int:
    """The number of hex digits of one encoding."""
    return -(-fmt.width // 4)


def words_text(fmt: Format, words: Sequence[int]) -> str:
    """Concatenated encodings in hex, each with all its digits."""
    return f"%0{digits(fmt)}x" * len(words) % tuple(words)


def words_of(fmt: Format, text: str) -> tuple[int, ...]:
    """Parse a text of `words_text` into encodings; ValueError for another text."""
    size = digits(fmt)
    if len(text) % size:
        raise ValueError(f"{len(text)} hex digits are no words of {size}")
    if size in _CODES and text.isalnum():
        return struct.unpack(f">{len(text) // size}{_CODES[size]}", bytes.fromhex(text))
    return tuple([int(text[i : i + size], 16) for i in range(0, len(text), size)])


def block_data(spec: UnitSpec, items: Sequence[Directed]) -> Block:
    """The line of a block of directed dot products of one length."""
    o, witnesses = spec.operands, [item.witness for item in items]
    data = Block(
        kind="operands",
        digest=inputs_digest(batch_of(witnesses)),
        formats=formats_text(spec),
        k=len(witnesses[0].a),
        names=[item.id for item in items],
        a=[words_text(o.a, w.a) for w in witnesses],
        b=[words_text(o.b, w.b) for w in witnesses],
        c=words_text(o.c, [w.c for w in witnesses]),
    )
    if spec.scale_format is not None:
        data["scale_a"] = [words_text(spec.scale_format, w.scale_a) for w in witnesses]
        data["scale_b"] = [words_text(spec.scale_format, w.scale_b) for w in witnesses]
    return data


def tile_data(spec: UnitSpec, name: str, a: Raw, b: Raw, c: Raw) -> Block:
    """The line of a block that is one full tile of a unit without scales.

    Shapes: a [m, K], b [n, K], c [m, n].
    """
    o, (m, n) = spec.operands, c.shape
    return Block(
        kind="operands",
        digest=inputs_digest(Batch(np.repeat(a, n, axis=0), np.tile(b, (m, 1)), c.reshape(-1))),
        formats=formats_text(spec),
        k=a.shape[1],
        tile=name,
        a=[words_text(o.a, row) for row in a.tolist()],
        b=[words_text(o.b, row) for row in b.tolist()],
        c=words_text(o.c, c.reshape(-1).tolist()),
    )


def block_items(spec: UnitSpec, data: Block, where: str) -> list[Directed]:
    """The dot products of a block.

    Errors: RecordError naming `where` for a block of other formats, or an altered one.
    """
    o, k, scale = spec.operands, int(data["k"]), spec.scale_format
    if data["formats"] != formats_text(spec):
        raise RecordError(
            f"expected operands of {formats_text(spec)} in {where}, but they are of {data['formats']}"
        )
    a, b = ([words_of(fmt, x) for x in rows] for fmt, rows in ((o.a, data["a"]), (o.b, data["b"])))
    names = list(map(str, data.get("names", ())))
    if "tile" in data:
        places = [(i, j) for i in range(len(a)) for j in range(len(b))]
        names = [f"{data['tile']}/{i},{j}" for i, j in places]
        a, b = [a[i] for i, _ in places], [b[j] for _, j in places]
    scales: list[list[tuple[int, ...]]] = [[()] * len(a)] * 2
    if scale is not None and "tile" not in data:
        scales = [[words_of(scale, x) for x in rows] for rows in (data["scale_a"], data["scale_b"])]
    columns = (names, a, b, words_of(o.c, data["c"]), *scales)
    items = [Directed(name, "", Witness(*words)) for name, *words in zip(*columns, strict=True)]
    lengths = (k, k, scale_count(spec, k), scale_count(spec, k))
    whole = all(
        (len(w.a), len(w.b), len(w.scale_a), len(w.scale_b)) == lengths for w in (i.witness for i in items)
    )
    if not whole or inputs_digest(batch_of([i.witness for i in items])) != data["digest"]:
        raise RecordError(f"expected the operands of {where} to have the digest that stands there")
    return items


def head_line(spec: UnitSpec, k: int, plan: str, defined: str = "", **more: object) -> dict[str, object]:
    """The head line of a run over dot products of `k` terms; device and date are added with `more`.

    `defined` is the digest of the unit's definition, where the caller has it already.
    """
    return {
        "kind": "run", "schema": SCHEMA, "unit": spec.instruction, "k": k, "plan": plan,
        "definition": defined or definition(spec), "tcformal": VERSION, **more,
    }  # fmt: skip


def fault_line(id_: str, error: Exception, **more: object) -> dict[str, object]:
    """The line of an item that failed, with its error."""
    return {"kind": "fault", "id": id_, "date": now(), "reason": str(error), **more}


def end_line(count: int, mismatches: int) -> dict[str, object]:
    """The last line of a completed run, with its counts."""
    return {"kind": "end", "date": now(), "dot_products": count, "mismatches": mismatches}


def random_line(
    spec: UnitSpec, item: Random, outputs: Raw, model: Raw, most: int | None = None
) -> RandomLine:
    """The line of a random item: digest and mismatches; more than `most` mismatches are only counted."""
    wrong = np.flatnonzero(outputs != model[: len(outputs)])
    many = most is not None and len(wrong) > most
    words = {} if many else {str(int(i)): hex_word(spec.operands.d, int(outputs[i])) for i in wrong}
    counted = {"not_kept": len(wrong)} if many else {}
    line = {**item.data(spec), "outputs": digest_of(outputs), **counted, "mismatches": words}
    return cast(RandomLine, line)


def directed_line(spec: UnitSpec, item: Directed, output: int, model: int) -> DirectedLine:
    """The line of a directed item: operands, output and the model's result."""
    d = spec.operands.d
    return cast(DirectedLine, {**item.data(spec), "d": hex_word(d, output), "model": hex_word(d, model)})


def suite_line(spec: UnitSpec, digest: str, outputs: Raw, model: Raw) -> SuiteLine:
    """The line of a device's outputs for a block or its first dot products; `digest` names the block."""
    return SuiteLine(
        kind="suite", id=f"suite/{digest[:16]}", unit=spec.instruction, operands=digest, count=len(outputs),
        d=words_text(spec.operands.d, outputs.tolist()),
        mismatches=int(np.count_nonzero(outputs != model[: len(outputs)])),
    )  # fmt: skip


def dot_products_in(line: Line) -> int:
    """The number of dot products whose outputs a line holds."""
    return 1 if line["kind"] == "directed" else int(line["count"])


def mismatches_in(line: Line) -> int:
    """The number of mismatches with the model that a line reports."""
    if line["kind"] == "suite":
        return int(line["mismatches"])
    if line["kind"] == "random":
        return len(line["mismatches"]) + int(line.get("not_kept", 0))
    return int(line["d"] != line["model"])


class FullError(NoAnswerError):
    """All parts of a campaign's file are full."""


class Parts:
    """An appender to `campaign-1.jsonl`, `campaign-2.jsonl`, … in a folder.

    Each part begins with a line `head`.
    Errors: FullError where the last part is full.
    """

    def __init__(
        self,
        folder: Path,
        head: Mapping[str, object],
        most_parts: int = MOST_PARTS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.folder, self._head = folder, dict(head)
        self._most_parts, self._most_bytes = most_parts, most_bytes
        self._number = max(1, sum(self._path(i).exists() for i in range(1, most_parts + 1)))

    def _path(self, number: int) -> Path:
        return self.folder / f"campaign-{number}.jsonl"

    def append(self, data: Mapping[str, object]) -> None:
        """Append one sealed line durably to the current part, or to the next one if it is full."""
        data = sealed(data)
        size = len(json.dumps(data, ensure_ascii=False).encode()) + 1
        while self._held() + size > self._most_bytes:
            if self._number == self._most_parts:
                raise FullError(f"expected room for {size} bytes in {self.folder}, but its parts are full")
            self._number += 1
        path = self._path(self._number)
        if not self._held():
            lines.append(path, sealed({"kind": "campaign", "part": self._number, **self._head}))
        lines.append(path, data)

    def _held(self) -> int:
        path = self._path(self._number)
        return path.stat().st_size if path.exists() else 0
