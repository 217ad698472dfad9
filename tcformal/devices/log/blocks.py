"""Blocks of directed dot products: one line of operands, shared by many lines of outputs.

A block is a list of dot products, or one tile: m rows of A, n columns of B, and a c for each of the m · n
dot products, row by row.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec, formats_text
from tcformal.devices.plan.plan import Directed
from tcformal.encodings.spec import Format
from tcformal.errors import RecordError
from tcformal.programs.chain import scale_count
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, inputs_digest
from tcformal.simulation.operands.witness import Witness

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
