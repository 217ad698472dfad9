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
LARGEST_PACKED, LARGEST_CONTENT, _MEMORY = 1 << 26, 1 << 27, 1 << 28


def read_packed(path: Path) -> bytes:
    """The content of a packed file.

    Errors: RecordError for anything but a regular file, and for one that is cut off, altered, or larger.
    """
    unpacker = lzma.LZMADecompressor(memlimit=_MEMORY)
    try:
        content = unpacker.decompress(read_regular(path, LARGEST_PACKED), max_length=LARGEST_CONTENT)
    except lzma.LZMAError as error:
        raise RecordError(f"expected a file packed with xz at {path}, but {error}") from error
    if not unpacker.eof or unpacker.unused_data:
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
    write_whole(path, lzma.compress(content, preset=6))
