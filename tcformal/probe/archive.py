"""NumPy archives of recorded outputs, read by their headers first: nothing is loaded that is too large."""

from __future__ import annotations

import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from tcformal.errors import RecordError
from tcformal.query.families import Raw

_ARRAYS = ("a", "b", "c", "d")
#: Words of one array: 64 MiB.
_MOST = 1 << 24
#: What zipfile, zlib and NumPy say of files that are none of theirs.
_FAILURES = (
    OSError, KeyError, ValueError, TypeError, EOFError, SyntaxError, RuntimeError, OverflowError, MemoryError,
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, Warning,
)  # fmt: skip


def read_archive(path: Path) -> list[Raw]:
    """The arrays a, b [n, K] and c, d [n] of an archive: fp32 words as uint32.

    Errors: RecordError for what is no such archive, and for one of more than 2^24 words an array.
    """
    if not path.is_file():
        raise RecordError(f"expected a file with the arrays a, b, c and d at {path}, but it is none")
    try:
        with zipfile.ZipFile(path) as archive, warnings.catch_warnings():
            warnings.simplefilter("error")
            found = [_array(archive, name, path) for name in _ARRAYS]
    except _FAILURES as error:
        said = " ".join(str(error).split())
        raise RecordError(
            f"expected arrays a, b, c and d in the recording {path}, but got: {said:.200}"
        ) from None
    a, b, c, d = found
    if a.ndim != 2 or a.shape != b.shape or c.shape != a.shape[:1] or d.shape != c.shape or not a.size:
        raise RecordError(
            f"expected a, b [n, K] and c, d [n] in {path}, "
            f"but got {list(a.shape)}, {list(b.shape)}, {list(c.shape)} and {list(d.shape)}"
        )
    return found


def _array(archive: zipfile.ZipFile, name: str, path: Path) -> Raw:
    """One array, after its header was found to be of uint32 words, and of as many as the archive holds."""
    with archive.open(f"{name}.npy") as stream:
        shape, fortran, dtype = _header(stream)
        count = math.prod(shape)
        if dtype != np.dtype("<u4"):
            raise RecordError(f"expected fp32 words as uint32 in {path}, but {name} holds {dtype}")
        if not 0 <= count <= _MOST or min(shape, default=0) < 0:
            raise RecordError(f"expected at most {_MOST} words in {name} of {path}, but there are {count}")
        content = stream.read(4 * count + 1)
    if len(content) != 4 * count:
        raise RecordError(
            f"expected {4 * count} bytes in {name} of {path}, as its header says, but there are others"
        )
    words: Raw = np.frombuffer(content, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    return words


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.uint32]]:
    """Shape, order and type, as NumPy's own reader of headers says; ValueError for what is none."""
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"arrays of version {version}")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    return shape, fortran, dtype
