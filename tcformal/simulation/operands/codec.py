"""Operands in records: encodings in hex with exact values, rejected where the two differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcformal.encodings.spec import Format
from tcformal.errors import InputError, RecordError
from tcformal.oracle.values import format_value, value_data
from tcformal.simulation.operands.witness import Witness

#: The rows of a witness.
ROWS = ("a", "b", "scale_a", "scale_b")


def witness_data(formats: Mapping[str, Format], w: Witness) -> dict[str, Any]:
    """A witness as plain data; `formats` are those of a, b, c and, for scaled units, of the scales."""
    rows = {
        name: [value_data(formats[name], x) for x in getattr(w, name)] for name in ROWS if name in formats
    }
    return {"scale_a": [], "scale_b": [], **rows, "c": value_data(formats["c"], w.c)}


def read_witness(
    formats: Mapping[str, Format], counts: Mapping[str, int], data: Mapping[str, Any]
) -> Witness:
    """Read a witness from a record; RecordError where encodings and values, or its shape, disagree."""
    rows = {}
    for name in ROWS:
        count = counts.get(name, 0)
        if len(data[name]) != count:
            raise RecordError(f"expected {count} values for {name} of the witness, but got {len(data[name])}")
        rows[name] = tuple(read_value(formats[name], x) for x in data[name])
    return Witness(
        rows["a"], rows["b"], read_value(formats["c"], data["c"]), rows["scale_a"], rows["scale_b"]
    )


def read_value(fmt: Format, data: Mapping[str, str]) -> int:
    """Read an encoding from a record; RecordError where its value disagrees."""
    raw = int(data["hex"], 16)
    try:
        value = format_value(fmt, raw)
    except InputError as error:
        raise RecordError(str(error)) from error
    if value != data["value"]:
        raise RecordError(f"expected {value} as the value of {data['hex']}, but got {data['value']}")
    return raw
