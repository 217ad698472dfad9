"""Operands and results as they stand in files: hex words, digests, batches of single dot products."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.operands.random import Batch, Raw
from tcformal.operands.witness import Witness
from tcformal.oracle.values import hex_word, parse_value
from tcformal.programs.chain import scale_count


def to_data(spec: UnitSpec, w: Witness) -> dict[str, Any]:
    """One dot product's operands as plain data."""
    o = spec.operands
    data: dict[str, Any] = {
        "a": [hex_word(o.a, x) for x in w.a],
        "b": [hex_word(o.b, x) for x in w.b],
        "c": hex_word(o.c, w.c),
    }
    if spec.scale_format is not None:
        for name, scales in (("scale_a", w.scale_a), ("scale_b", w.scale_b)):
            data[name] = [hex_word(spec.scale_format, x) for x in scales]
    return data


def from_data(spec: UnitSpec, data: Mapping[str, Any], where: str) -> Witness:
    """One dot product's operands from plain data: texts of encodings or values, or {"hex": …}.

    Shapes: lists of one length; scales are ones unless given.
    Errors: InputError naming `where` for what is no list of encodings of the unit's formats.
    """
    o = spec.operands
    try:
        a, b = (tuple(_word(fmt, x) for x in data[name]) for name, fmt in (("a", o.a), ("b", o.b)))
        c = _word(o.c, data.get("c", "0"))
        count = scale_count(spec, len(a))
        scales = []
        for name in ("scale_a", "scale_b"):
            fmt = spec.scale_format
            given = data.get(name, ["1"] * count)
            scales.append(() if fmt is None else tuple(_word(fmt, x) for x in given))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"expected lists a and b and a word c in {where}, but got {data!r:.80}") from error
    except InputError as error:
        raise InputError(f"{error} (in {where})") from None
    if not a or len(a) != len(b):
        raise InputError(f"expected a and b of one length in {where}, but got {len(a)} and {len(b)}")
    if any(len(s) != count for s in scales if spec.scale_format is not None):
        raise InputError(f"expected {count} scales each for a and b in {where}, but got {len(scales[0])}")
    return Witness(a, b, c, scales[0], scales[1])


def _word(fmt: Format, text: Any) -> int:
    return parse_value(fmt, str(text["hex"] if isinstance(text, Mapping) else text))


def batch_of(spec: UnitSpec, witnesses: Sequence[Witness]) -> Batch:
    """Single dot products of one length as a batch."""

    def array(name: str) -> Raw:
        return np.array([getattr(w, name) for w in witnesses], dtype=np.uint64)

    if spec.scale_format is None:
        return Batch(array("a"), array("b"), array("c"))
    return Batch(array("a"), array("b"), array("c"), array("scale_a"), array("scale_b"))


def part_of(batch: Batch, rows: slice | NDArray[np.intp]) -> Batch:
    """Some rows of a batch."""
    scales = [None if s is None else s[rows] for s in (batch.scale_a, batch.scale_b)]
    return Batch(batch.a[rows], batch.b[rows], batch.c[rows], scales[0], scales[1])


def digest_of(*arrays: Raw | None) -> str:
    """SHA-256 of raw encodings, each as eight bytes, lowest first."""
    made = hashlib.sha256()
    for array in arrays:
        if array is not None:
            made.update(np.ascontiguousarray(array, dtype="<u8").tobytes())
    return made.hexdigest()


def inputs_digest(batch: Batch) -> str:
    """SHA-256 of a batch's operands."""
    return digest_of(batch.a, batch.b, batch.c, batch.scale_a, batch.scale_b)
