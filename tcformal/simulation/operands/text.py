"""Operands and results in files: hex words and digests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.values import hex_word, parse_value
from tcformal.programs.chain import scale_count
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.operands.witness import Witness


def to_data(spec: UnitSpec, w: Witness) -> dict[str, Any]:
    """One dot product's operands as plain data."""
    data = {}
    for name, fmt in spec.input_formats().items():
        row = getattr(w, name)
        data[name] = hex_word(fmt, row) if name == "c" else [hex_word(fmt, x) for x in row]
    return data


def from_data(spec: UnitSpec, data: Mapping[str, Any], where: str) -> Witness:
    """Read one dot product's operands from plain data: encodings or values as text, or {"hex": …}.

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


def digest_of(*arrays: Raw | None) -> str:
    """SHA-256 of raw encodings, each as eight little-endian bytes."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is not None:
            digest.update(np.ascontiguousarray(array, dtype="<u8").tobytes())
    return digest.hexdigest()


def inputs_digest(batch: Batch) -> str:
    """SHA-256 of a batch's operands."""
    return digest_of(batch.a, batch.b, batch.c, batch.scale_a, batch.scale_b)
