"""Compression of long result files, which keep their logical names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tcformal.devices.log.results import files_of, packed_name, read_runs
from tcformal.devices.sealed import SUMMARY
from tcformal.errors import RecordError
from tcformal.files import LARGEST_CONTENT, read_packed, read_regular, write_packed

#: Bytes from which on a file of results is worth packing.
_LONG = 20_000


def pack(path: Path) -> Path:
    """Compress a file of results, and return the new file.

    A part of a campaign continues the parts before it: the campaign is read as a whole.
    Errors: RecordError as `read_runs` and `write_packed`, and for a file beside which a packed one is.
    """
    (packed,) = _packed([path])
    return packed


def pack_all(folder: Path) -> int:
    """Compress the long result files and summaries below a folder, and return their number."""
    summaries = _long(folder, SUMMARY)
    for path in summaries:
        write_packed(packed_name(path), read_regular(path, LARGEST_CONTENT))
        path.unlink()
    return len(_packed(_long(folder, "*.jsonl"))) + len(summaries)


def pack_products(folder: Path) -> int:
    """Compress the results on whole products below a folder, appended to earlier packed lines.

    Errors: RecordError for a line that is no record, and as `read_packed` and `write_packed`.
    """
    files = sorted(folder.rglob("*.jsonl"))
    for path in files:
        packed, content = packed_name(path), read_regular(path, LARGEST_CONTENT)
        for number, line in enumerate(content.splitlines(), 1):
            if not _is_record(line):
                raise RecordError(f"expected a record in line {number} of {path}, but got {line[:60]!r}")
        content = (read_packed(packed) if packed.exists() else b"") + content
        write_packed(packed, content)
        if read_packed(packed) == content:
            path.unlink()
    return len(files)


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _long(folder: Path, names: str) -> list[Path]:
    return [path for path in sorted(folder.rglob(names)) if path.lstat().st_size >= _LONG]


def _packed(paths: Sequence[Path]) -> list[Path]:
    """Compress files after a check that all runs in them can be read."""
    packed_files = [packed_name(path) for path in paths]
    for packed in packed_files:
        if packed.exists():
            raise RecordError(f"expected no file at {packed}, but there is one")
    for whole in dict.fromkeys(path.parent if path in files_of(path.parent) else path for path in paths):
        read_runs(whole)
    for path, packed in zip(paths, packed_files, strict=True):
        content = read_regular(path, LARGEST_CONTENT)
        write_packed(packed, content)
        if read_packed(packed) == content:
            path.unlink()
    return packed_files
