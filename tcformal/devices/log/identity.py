"""The identity of an external program: a digest of its path, content and arguments."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tcformal.errors import DeviceError, RecordError


def program_identity(name: str, words: Sequence[str]) -> dict[str, str]:
    """The name of a program, with the SHA-256 of its path, content and arguments.

    The content is that of the program and of every argument that names a file, such as an interpreter's
    script; files that these read are not included.
    Errors: DeviceError for a file that cannot be read.
    """
    seen = []
    for i, word in enumerate(words):
        path = Path((shutil.which(word) or word) if i == 0 else word)
        try:
            if path.is_file():
                with path.open("rb") as stream:
                    content = hashlib.file_digest(stream, "sha256").hexdigest()
                seen.append([str(path.resolve()), content])
        except OSError as error:
            raise DeviceError(f"expected to read {path} of {name}, but got: {error.strerror}") from None
    text = json.dumps([list(words), seen])
    return {"program": name, "program_sha256": hashlib.sha256(text.encode(errors="replace")).hexdigest()}


def check_program(kept: Mapping[str, str], mine: Mapping[str, str], path: Path) -> None:
    """Raise RecordError, naming the file, unless results are of the same program."""
    for key, what in (("program", "the program"), ("program_sha256", "the program of digest")):
        if kept.get(key) != mine.get(key):
            raise RecordError(
                f"expected results of {what} {mine.get(key, 'none')!s:.80} in {path}, "
                f"but they are of {kept.get(key, 'none')!s:.80}: move that file away"
            )
