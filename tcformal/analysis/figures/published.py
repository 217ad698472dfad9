"""The published data of MARY's figures, and their comparison with reproduced points."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcformal.analysis.figures.mary import Curve, Point, row
from tcformal.errors import InputError
from tcformal.files import read_named

#: Formats as the names of the published files spell them.
_NAMES = {"e4m3": "fp8-e4m3", "e5m2": "fp8-e5m2", "fp16": "binary16", "fp32": "binary32"}
#: The columns of a line.
COLUMNS = ("n", "error", "bound", "error-nrl", "bound-nrl")
#: A length as a line gives it, and characters of a wrong line that a message shows.
_N, _SHOWN = re.compile("[0-9]{1,9}"), 80


@dataclass(frozen=True, slots=True)
class Difference:
    """A number that differs from the published one, both as printed; `published` is "none" for a missing
    line."""

    curve: Curve
    n: int
    column: str
    ours: str
    published: str

    def __str__(self) -> str:
        return f"{self.curve}, n = {self.n}: {self.column} is {self.ours}, published {self.published}"


def data_name(curve: Curve) -> str:
    """The file name of a curve's published points."""
    a, c = _NAMES[curve.inputs], _NAMES[curve.accumulator]
    return f"matmul_test_{a}_{c}_subnormals{int(curve.subnormals)}_words_{curve.words}.dat"


def published(folder: str | Path, curve: Curve) -> dict[int, tuple[str, ...]]:
    """The lines of a curve's published file by n, as printed columns.

    Errors: InputError for a file that is missing or has other columns.
    """
    return lines_by_n(Path(folder) / data_name(curve), COLUMNS)


def lines_by_n(path: Path, columns: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """The lines of a published file by n, as printed columns.

    Errors: InputError for a file that is missing or has other columns.
    """
    lines = [line.split() for line in read_named(path, "published data").splitlines() if line.strip()]
    if not lines or tuple(lines[0]) != tuple(columns):
        got = " ".join(lines[0])[:_SHOWN] if lines else "nothing"
        raise InputError(f"expected the columns {' '.join(columns)} in {path}, but got {got}")
    for line in lines[1:]:
        if len(line) != len(columns) or not _N.fullmatch(line[0]):
            got = " ".join(line)[:_SHOWN]
            raise InputError(f"expected n and {len(columns) - 1} numbers in {path}, but got {got}")
    return {int(line[0]): tuple(line) for line in lines[1:]}


def differences(folder: str | Path, points: Sequence[Point]) -> Iterator[Difference]:
    """The numbers of some points that differ, as printed, from the published data."""
    lines = {curve: published(folder, curve) for curve in dict.fromkeys(x.curve for x in points)}
    for x in points:
        ours = tuple(map(str, row(x)))
        theirs = lines[x.curve].get(x.n, ("none",) * len(COLUMNS))
        for column, mine, other in zip(COLUMNS, ours, theirs, strict=True):
            if mine != other:
                yield Difference(x.curve, x.n, column, mine, other)
