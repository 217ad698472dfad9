"""Files that a person names on the command line: text of a sane size, and JSON of a sane depth."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tcformal.errors import InputError, RecordError
from tcformal.files.regular import read_regular

#: Bytes that such a file may have.
LARGEST = 1 << 28


def read_named(path: Path, what: str, limit: int = LARGEST) -> str:
    """The text of a file that may be named by a link.

    Errors: InputError, saying that `what` was expected, for a name of anything but a regular file of at most
    `limit` bytes, and for bytes that are no UTF-8.
    """
    try:
        return read_regular(Path(os.path.realpath(path)), limit).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"expected {what} in {path}, but got: {error}") from None
    except (RecordError, ValueError) as error:
        why = str(error).partition(", but ")[2].removeprefix("got").lstrip(": ")
        raise InputError(f"expected {what} in {path}, but got: {why or error}") from None


def values_of(text: str) -> list[Any]:
    """The one value of a JSON text, or the values of a text that has one a line; ValueError as `json_of`."""
    try:
        return [json_of(text)]
    except ValueError:
        return [json_of(line) for line in text.splitlines() if line.strip()]


def json_of(text: str) -> Any:
    """What a JSON text stands for; ValueError for one that is none, or nested deeper than can be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None
