"""Long files of results, packed: found by their names as before."""

from __future__ import annotations

from pathlib import Path

from tcformal.errors import RecordError
from tcformal.files.packed import LARGEST_CONTENT, read_packed, write_packed
from tcformal.files.regular import read_regular
from tcformal.probe.log.results import packed_name, read_runs

#: Bytes from which on a file of results is worth packing.
_LONG = 300_000


def pack(path: Path) -> Path:
    """Pack a file of results, which is found by its name as before; the new file.

    Errors: RecordError as `read_runs` and `write_packed`, and for a file beside which a packed one is.
    """
    packed = packed_name(path)
    if packed.exists():
        raise RecordError(f"expected no file at {packed}, but there is one")
    read_runs(path)
    content = read_regular(path, LARGEST_CONTENT)
    write_packed(packed, content)
    if read_packed(packed) == content:
        path.unlink()
    return packed


def pack_all(folder: Path) -> int:
    """Pack the long files of results below a folder; how many there were.  Errors: as `pack`."""
    long = [path for path in sorted(folder.rglob("*.jsonl")) if path.lstat().st_size >= _LONG]
    for path in long:
        pack(path)
    return len(long)
