"""Where a plan's dot products come from besides the directed ones: given files, and kept answers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, RecordError
from tcformal.probe.operands import from_data
from tcformal.probe.plan import Directed
from tcformal.probe.recorded import RecordedDevice
from tcformal.probe.results import SCHEMA
from tcformal.records import lines
from tcformal.records.named import json_of, read_named

#: The file of kept answers in a folder of results, `query.store.ANSWERS`.
ANSWERS = "answers.jsonl"


def from_file(spec: UnitSpec, path: Path) -> Iterator[Directed]:
    """The dot products of a file: recordings, results of a device, or JSON (lines) with witnesses.

    A witness is an object with lists `a` and `b` and a word `c`, wherever in the JSON it stands: what
    `separate --json` prints is one.
    Errors: InputError for a file without witnesses, or one that does not fit the unit.
    """
    if not path.exists():
        raise InputError(f"expected a file of witnesses at {path}, but there is none")
    if path.suffix == ".npz" or SCHEMA in _start(path):
        for i, w in enumerate(RecordedDevice(str(path)).operands(spec)):
            yield Directed(f"{path.stem}/{i}", f"recorded in {path.name}", w)
        return
    count = 0
    for data in _values(path):
        for found in _witnesses(data):
            yield Directed(f"{path.stem}/{count}", f"given in {path.name}", from_data(spec, found, str(path)))
            count += 1
    if not count:
        raise InputError(f"expected witnesses (objects with a, b and c) in {path}, but there are none")


def _start(path: Path) -> str:
    """The first characters of a file, whatever it holds."""
    if not path.is_file():
        return ""
    with contextlib.suppress(OSError), path.open("rb") as stream:
        return stream.read(4000).decode("latin-1")
    return ""


def _values(path: Path) -> list[Any]:
    """One JSON value, or one a line."""
    try:
        text = read_named(path, "JSON or JSON lines")
        try:
            return [json_of(text)]
        except ValueError:
            return [json_of(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise InputError(f"expected JSON or JSON lines in {path}, but got: {error}") from None


def _witnesses(data: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(data, Mapping):
        if isinstance(data.get("a"), list) and isinstance(data.get("b"), list):
            yield data
            return
        data = list(data.values())
    if isinstance(data, list):
        for part in data:
            yield from _witnesses(part)


def from_store(spec: UnitSpec, folder: Path, k: int) -> Iterator[Directed]:
    """The witnesses of the kept answers about units of these formats and this length.

    An input stays one whatever became of the answer, so that records are read without their schema: that
    takes a package which a machine with a GPU may lack.
    Errors: RecordError for a line that is none, or a witness that is none.
    """
    o = spec.operands
    formats = {"a": o.a.name, "b": o.b.name, "c": o.c.name, "d": o.d.name}
    for line in lines.read(folder / ANSWERS)[0]:
        if line.torn:
            continue
        if line.data is None:
            raise RecordError(line.problem)
        asked, witness = line.data.get("question", {}), line.data.get("witness")
        if witness is None or asked.get("formats") != formats or asked.get("k") != k:
            continue
        where = f"line {line.number} of {folder / ANSWERS}"
        try:
            found = from_data(spec, witness, where)
        except InputError:
            raise RecordError(f"expected a witness of {formats} in {where}, but it is none") from None
        why = f"tells {asked.get('first')} from {asked.get('second')}"
        yield Directed(f"answer/{str(asked.get('sha256'))[:12]}", why, found)
