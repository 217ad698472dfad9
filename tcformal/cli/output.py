"""Files that an option `-o` asks for."""

from __future__ import annotations

from pathlib import Path

from tcformal.errors import InputError
from tcformal.files import write_whole


def write_output(path: str, content: bytes) -> None:
    """Write a file in a folder that is there; InputError where it is not, else errors as `write_whole`."""
    if not Path(path).parent.is_dir():
        raise InputError(f"expected a file that can be written, but got {path}: there is no such folder")
    write_whole(Path(path), content)
