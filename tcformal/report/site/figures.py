"""The figures that `--plot` drew into a results folder, with their data and the commands that draw them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tcformal.callbacks import Warn
from tcformal.errors import InputError, RecordError
from tcformal.files import read_regular

FOLDER = "figures"
#: Bytes of a picture or its data that are read.
_LARGEST = 1 << 21
#: The first line of the data: the command, and the version that drew.
_HEAD = re.compile(r"# (tcformal .*) \(tcformal (\S+)\)")


@dataclass(frozen=True, slots=True)
class FigurePage:
    """One figure: what drew it, the picture's text, and the table that it shows."""

    name: str
    command: str
    version: str
    picture: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def file(self) -> str:
        """The picture's file in the site."""
        return f"{FOLDER}/{self.name}.svg"


def figure_pages(results: Path, warn: Warn) -> list[FigurePage]:
    """Every figure of a results folder by its name; one whose data do not say what drew it is left out."""
    return [page for path in sorted((results / FOLDER).glob("*.csv")) if (page := _page(path, warn))]


def _page(path: Path, warn: Warn) -> FigurePage | None:
    try:
        data, picture = (read_regular(x, _LARGEST).decode() for x in (path, path.with_suffix(".svg")))
        head, _, table = data.partition("\n")
        said = _HEAD.fullmatch(head)
        if said is None:
            raise InputError("expected the command in the first line of the data, but there is none")
        header, *rows = list(csv.reader(table.splitlines()))
    except (InputError, RecordError, OSError, ValueError, csv.Error) as error:
        warn(f"figure {path.name} is not shown: {error}")
        return None
    return FigurePage(path.stem, said[1], said[2], picture, header, rows)
