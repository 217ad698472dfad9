"""Dot products of a plan from given files and from kept answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, RecordError
from tcformal.files import lines
from tcformal.files.named import read_named, values_of
from tcformal.operands.text import from_data
from tcformal.probe.devices.recorded import RecordedDevice
from tcformal.probe.plan.plan import Directed

#: The file of kept answers in a folder of results, as in `store.store`.
ANSWERS = "answers.jsonl"
#: Text in the first line of every file of results.
_RESULTS = b"tcformal-hardware/"


def from_file(spec: UnitSpec, path: Path) -> Iterator[Directed]:
    """The dot products of a file: recordings, results of a device, or JSON (lines) with witnesses.

    A witness is an object with lists `a` and `b` and a word `c`, anywhere in the JSON, such as the output
    of `separate --json`.
    Errors: InputError for a file without witnesses, or with one that does not fit the unit.
    """
    if not path.exists():
        raise InputError(f"expected a file of witnesses at {path}, but there is none")
    if path.suffix == ".npz" or _RESULTS in _start(path):
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


def _start(path: Path) -> bytes:
    """The first bytes of a file; InputError for a file that cannot be read."""
    try:
        if not path.is_file():
            raise InputError(f"expected a file of witnesses at {path}, but it is none")
        with path.open("rb") as stream:
            return stream.read(4000)
    except OSError as error:
        raise InputError(f"expected a file of witnesses at {path}, but got: {error.strerror}") from None


def _values(path: Path) -> list[Any]:
    """One JSON value, or one per line."""
    try:
        return values_of(read_named(path, "JSON or JSON lines"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"expected JSON or JSON lines in {path}, but got: {error!s:.200}") from None


def _witnesses(data: Any) -> Iterator[Mapping[str, Any]]:
    """The witnesses in a value, at any depth, in order."""
    waiting = [data]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if isinstance(part.get("a"), list) and isinstance(part.get("b"), list):
                yield part
                continue
            part = list(part.values())
        if isinstance(part, list):
            waiting += reversed(part)


def from_store(spec: UnitSpec, folder: Path, k: int) -> Iterator[Directed]:
    """The witnesses of the kept answers about units of these formats and this length.

    An input is useful whatever the state of its answer, so records are read without their schema, which
    needs a package that a machine with a GPU may lack.
    Errors: RecordError for an invalid line or witness.
    """
    o = spec.operands
    formats = o.names()
    for line in lines.read(folder / ANSWERS)[0]:
        if line.torn:
            continue
        if line.data is None:
            raise RecordError(line.problem)
        asked, witness = line.data.get("question"), line.data.get("witness")
        if (
            witness is None
            or not isinstance(asked, dict)
            or asked.get("formats") != formats
            or asked.get("k") != k
        ):
            continue
        where = f"line {line.number} of {folder / ANSWERS}"
        try:
            found = from_data(spec, witness, where)
        except InputError:
            raise RecordError(f"expected a witness of {formats} in {where}, but it is none") from None
        why = f"tells {asked.get('first')} from {asked.get('second')}"
        yield Directed(f"answer/{str(asked.get('sha256'))[:12]}", why, found)
