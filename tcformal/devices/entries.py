"""The lines of a result file: head, faults, directed and random items, end."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec, formats_text
from tcformal.devices.plan import Directed, Random
from tcformal.devices.sealed import SCHEMA
from tcformal.encodings.spec import Format
from tcformal.errors import NoAnswerError, RecordError
from tcformal.oracle.values import hex_word
from tcformal.programs.chain import definition, scale_count
from tcformal.simulation.operands.batch import batch_of
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.operands.text import digest_of, inputs_digest
from tcformal.simulation.operands.witness import Witness
from tcformal.store import write
from tcformal.store.schema import now, sealed
from tcformal.version import VERSION

#: Largest number of parts, and bytes of one: with the summary, eight files of at most 16 MiB.
MOST_PARTS = 7
MOST_BYTES = 15 << 20


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
        head: Mapping[str, Any],
        most_parts: int = MOST_PARTS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.folder = folder
        self._head = dict(head)
        self._most_parts, self._most_bytes = most_parts, most_bytes
        self._number = max(1, sum(self._path(i).exists() for i in range(1, most_parts + 1)))

    def _path(self, number: int) -> Path:
        return self.folder / f"campaign-{number}.jsonl"

    def append(self, data: Mapping[str, Any]) -> None:
        """Append one sealed line durably to the current part, or to the next one if it is full."""
        data = sealed(data)
        size = len(json.dumps(data, ensure_ascii=False).encode()) + 1
        while self._held() + size > self._most_bytes:
            if self._number == self._most_parts:
                raise FullError(f"expected room for {size} bytes in {self.folder}, but its parts are full")
            self._number += 1
        path = self._path(self._number)
        if not self._held():
            write.append(path, sealed({"kind": "campaign", "part": self._number, **self._head}))
        write.append(path, data)

    def _held(self) -> int:
        path = self._path(self._number)
        return path.stat().st_size if path.exists() else 0


#: Unsigned integers of so many hex digits, as `struct` names them.
_CODES = {2: "B", 4: "H", 8: "I", 16: "Q"}


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


def block_data(spec: UnitSpec, items: Sequence[Directed]) -> dict[str, Any]:
    """The line of a block of directed dot products of one length."""
    o, witnesses = spec.operands, [item.witness for item in items]
    data: dict[str, Any] = {
        "kind": "operands",
        "digest": inputs_digest(batch_of(witnesses)),
        "formats": formats_text(spec),
        "k": len(witnesses[0].a),
        "names": [item.id for item in items],
        "a": [words_text(o.a, w.a) for w in witnesses],
        "b": [words_text(o.b, w.b) for w in witnesses],
        "c": words_text(o.c, [w.c for w in witnesses]),
    }
    if spec.scale_format is not None:
        data["scale_a"] = [words_text(spec.scale_format, w.scale_a) for w in witnesses]
        data["scale_b"] = [words_text(spec.scale_format, w.scale_b) for w in witnesses]
    return data


def tile_data(spec: UnitSpec, name: str, a: Raw, b: Raw, c: Raw) -> dict[str, Any]:
    """The line of a block that is one full tile of a unit without scales.

    Shapes: a [m, K], b [n, K], c [m, n].
    """
    o, (m, n) = spec.operands, c.shape
    batch = Batch(np.repeat(a, n, axis=0), np.tile(b, (m, 1)), c.reshape(-1))
    return {
        "kind": "operands",
        "digest": inputs_digest(batch),
        "formats": formats_text(spec),
        "k": a.shape[1],
        "tile": name,
        "a": [words_text(o.a, row) for row in a.tolist()],
        "b": [words_text(o.b, row) for row in b.tolist()],
        "c": words_text(o.c, c.reshape(-1).tolist()),
    }


def block_items(spec: UnitSpec, data: Mapping[str, Any], where: str) -> list[Directed]:
    """The dot products of a block.

    Errors: RecordError naming `where` for a block of other formats, or an altered one.
    """
    o, k = spec.operands, int(data["k"])
    if data["formats"] != formats_text(spec):
        raise RecordError(
            f"expected operands of {formats_text(spec)} in {where}, but they are of {data['formats']}"
        )
    rows = [[words_of(fmt, text) for text in data[name]] for name, fmt in (("a", o.a), ("b", o.b))]
    scales: list[list[tuple[int, ...]]] = [[()] * len(rows[0])] * 2
    if spec.scale_format is not None:
        scales = [
            [words_of(spec.scale_format, text) for text in data[name]] for name in ("scale_a", "scale_b")
        ]
    names = data.get("names", ())
    if "tile" in data:
        places = [(i, j) for i in range(len(rows[0])) for j in range(len(rows[1]))]
        names = [f"{data['tile']}/{i},{j}" for i, j in places]
        rows = [[rows[0][i] for i, _ in places], [rows[1][j] for _, j in places]]
        scales = [[()] * len(places)] * 2
    columns = (names, *rows, words_of(o.c, data["c"]), *scales)
    items = [Directed(str(name), "", Witness(*words)) for name, *words in zip(*columns, strict=True)]
    count = scale_count(spec, k)
    whole = all(
        len(w.a) == len(w.b) == k and len(w.scale_a) == len(w.scale_b) == count
        for w in (item.witness for item in items)
    )
    if not whole or inputs_digest(batch_of([i.witness for i in items])) != data["digest"]:
        raise RecordError(f"expected the operands of {where} to have the digest that stands there")
    return items


def suite_line(spec: UnitSpec, digest: str, outputs: Raw, model: Raw) -> dict[str, Any]:
    """The line of a device's outputs for a block or its first dot products; `digest` names the block."""
    wrong = np.flatnonzero(outputs != model[: len(outputs)])
    return {
        "kind": "suite", "id": f"suite/{digest[:16]}", "unit": spec.name, "operands": digest,
        "count": len(outputs), "d": words_text(spec.operands.d, [int(x) for x in outputs]),
        "mismatches": len(wrong),
    }  # fmt: skip


def head_line(spec: UnitSpec, k: int, plan: str, defined: str = "", **more: Any) -> dict[str, Any]:
    """The head line of a run over dot products of `k` terms; device and date are added with `more`.

    `defined` is the digest of the unit's definition, where the caller has it already.
    """
    return {
        "kind": "run", "schema": SCHEMA, "unit": spec.name, "k": k, "plan": plan,
        "definition": defined or definition(spec), "tcformal": VERSION, **more,
    }  # fmt: skip


def fault_line(id_: str, error: Exception, **more: Any) -> dict[str, Any]:
    """The line of an item that failed, with its error."""
    return {"kind": "fault", "id": id_, "date": now(), "reason": str(error), **more}


def end_line(count: int, mismatches: int) -> dict[str, Any]:
    """The last line of a completed run, with its counts."""
    return {"kind": "end", "date": now(), "dot_products": count, "mismatches": mismatches}


def random_line(
    spec: UnitSpec, item: Random, outputs: Raw, model: Raw, most: int | None = None
) -> dict[str, Any]:
    """The line of a random item: digest and mismatches; more than `most` mismatches are only counted."""
    wrong = np.flatnonzero(outputs != model[: len(outputs)])
    line = {**item.data(spec), "outputs": digest_of(outputs)}
    if most is not None and len(wrong) > most:
        return {**line, "not_kept": len(wrong), "mismatches": {}}
    words = {str(int(row)): hex_word(spec.operands.d, int(outputs[row])) for row in wrong}
    return {**line, "mismatches": words}


def directed_line(spec: UnitSpec, item: Directed, output: int, model: int) -> dict[str, Any]:
    """The line of a directed item: operands, output and the model's result."""
    d = spec.operands.d
    return {**item.data(spec), "d": hex_word(d, output), "model": hex_word(d, model)}


def mismatches_in(line: Mapping[str, Any]) -> int:
    """The number of mismatches with the model that a line reports."""
    if line["kind"] == "suite":
        return int(line["mismatches"])
    if line["kind"] == "random":
        return len(line["mismatches"]) + int(line.get("not_kept", 0))
    return int(line["d"] != line["model"])
