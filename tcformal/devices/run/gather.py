"""Dot products for a plan, taken from files and from stored answers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.devices.plan.plan import Directed
from tcformal.devices.recorded import RecordedDevice
from tcformal.errors import InputError, RecordError
from tcformal.files import ENDING, read_named, read_packed, values_of
from tcformal.simulation.operands.text import from_data
from tcformal.store import lines

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
        for witness in _witnesses(data):
            yield Directed(
                f"{path.stem}/{count}", f"given in {path.name}", from_data(spec, witness, str(path))
            )
            count += 1
    if not count:
        raise InputError(f"expected witnesses (objects with a, b and c) in {path}, but there are none")


def _start(path: Path) -> bytes:
    """The first bytes of a file; InputError for an unreadable file."""
    try:
        if not path.is_file():
            raise InputError(f"expected a file of witnesses at {path}, but it is none")
        with path.open("rb") as stream:
            return stream.read(4000)
    except OSError as error:
        raise InputError(f"expected a file of witnesses at {path}, but got: {error.strerror}") from None


def _values(path: Path) -> list[Any]:
    """The JSON values of a text: a single value, or one per line."""
    try:
        return values_of(read_named(path, "JSON or JSON lines"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"expected JSON or JSON lines in {path}, but got: {error!s:.200}") from None


def _witnesses(data: Any) -> Iterator[Mapping[str, Any]]:
    """All witnesses in a nested JSON value, in order."""
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


def _kept(folder: Path) -> Iterator[lines.Line]:
    """The lines of stored answers, packed ones first."""
    packed = folder / (ANSWERS + ENDING)
    if os.path.lexists(packed):
        status = packed.lstat()
        yield from _unpacked(packed, (status.st_ino, status.st_mtime_ns, status.st_size))
    yield from lines.read(folder / ANSWERS)


@lru_cache(maxsize=1)
def _unpacked(packed: Path, _stamp: tuple[int, int, int]) -> tuple[lines.Line, ...]:
    """The lines of a packed file, cached until the file is replaced."""
    texts = enumerate(read_packed(packed).splitlines(), start=1)
    return tuple(lines.parse_line(packed, number, text) for number, text in texts)


def from_store(spec: UnitSpec, folder: Path, k: int) -> Iterator[Directed]:
    """The witnesses of stored answers about units with these formats and this length.

    An input is useful whatever the state of its answer, so records are read without their schema, which
    needs a package that a machine with a GPU may lack.
    Errors: RecordError for an invalid line or witness.
    """
    o = spec.operands
    formats = o.names()
    for line in _kept(folder):
        if line.torn:
            continue
        if line.data is None:
            raise RecordError(line.problem)
        asked, witness = line.data.get("question"), line.data.get("witness")
        if witness is None or not isinstance(asked, dict) or asked.get("formats") != formats:
            continue
        where = f"line {line.number} of the answers in {folder}"
        if not isinstance(witness, dict):
            raise RecordError(f"expected a witness of {formats} in {where}, but it is none")
        # Units with block scales and units without have the same formats.
        scaled = bool(witness.get("scale_a") or witness.get("scale_a[0]"))
        if asked.get("k") != k or scaled is not (spec.scale_format is not None):
            continue
        why = f"tells {asked.get('first')} from {asked.get('second')}"
        if asked.get("kind") == "property":
            why = f"violates {asked.get('property')} on {asked.get('unit')}"
        try:
            runs = [from_data(spec, data, where) for data in _runs(witness, k)]
        except (InputError, KeyError, TypeError):
            if scaled:
                continue  # scales of another format, or for other blocks
            raise RecordError(f"expected a witness of {formats} in {where}, but it is none") from None
        name = f"answer/{str(asked.get('sha256'))[:12]}"
        for i, found in enumerate(runs):
            yield Directed(f"{name}/{i}" if i else name, why, found)


def _runs(witness: Mapping[str, Any], k: int) -> list[Mapping[str, Any]]:
    """The operand sets in a witness: one, or two for a property with a second c."""
    if "a" in witness:
        return [witness]
    words = {name: x["hex"] for name, x in witness.items()}
    rows = {row: [words[f"{row}[{i}]"] for i in range(k)] for row in "ab"}
    scales = {row: [words[x] for x in words if x.startswith(row)] for row in ("scale_a[", "scale_b[")}
    all_scales = {row[:-1]: values for row, values in scales.items() if values}
    return [{**rows, "c": words[c], **all_scales} for c in ("c", "c2") if c in words]
