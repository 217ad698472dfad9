"""Files packed with xz and read whole, of which a small one cannot fill the memory."""

from __future__ import annotations

import lzma
from pathlib import Path

from tcformal.errors import RecordError
from tcformal.files.regular import read_regular
from tcformal.files.write import write_whole

#: The ending of a packed file.
ENDING = ".xz"

#: Bytes that a file may have packed and unpacked, and of memory that unpacking may take.
LARGEST_PACKED, LARGEST_CONTENT, _MEMORY = 1 << 26, 1 << 28, 1 << 28

#: Bytes of the widest window of a packed file: lines that are much alike may stand far apart.
_WINDOW = 1 << 27


def unpacked(packed: bytes, most: int) -> tuple[bytes, bool]:
    """At most `most` bytes of what was packed with xz, and whether they are all of it and nothing follows.

    Errors: LZMAError for what is not packed with xz, is altered, or would take too much memory.
    """
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)
    content = unpacker.decompress(packed, max_length=most)
    return content, unpacker.eof and not unpacker.unused_data


def read_packed(path: Path) -> bytes:
    """The content of a packed file.

    Errors: RecordError for anything but a regular file, and for one that is cut off, altered, or larger.
    """
    try:
        content, whole = unpacked(read_regular(path, LARGEST_PACKED), LARGEST_CONTENT)
    except lzma.LZMAError as error:
        raise RecordError(f"expected a file packed with xz at {path}, but {error}") from error
    if not whole:
        raise RecordError(
            f"expected one whole file packed with xz at {path}, of at most {LARGEST_CONTENT} bytes unpacked, "
            "but it goes on"
        )
    return content


def write_packed(path: Path, content: bytes) -> None:
    """Pack a file; RecordError for a content that could not be read back."""
    if len(content) > LARGEST_CONTENT:
        raise RecordError(
            f"expected at most {LARGEST_CONTENT} bytes to pack in {path}, but got {len(content)}"
        )
    window = min(max(len(content), 1 << 12), _WINDOW)
    xz = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": window}
    write_whole(path, lzma.compress(content, filters=[xz]))
