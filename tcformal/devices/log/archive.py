"""NumPy archives of recorded outputs, with a size check of headers before any array is loaded."""

from __future__ import annotations

import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from tcformal.errors import RecordError
from tcformal.simulation.operands.batch import Raw

_ARRAYS = ("a", "b", "c", "d")
#: Words of one array: 64 MiB.
_MOST = 1 << 24
#: The errors of zipfile, zlib and NumPy on files of other kinds.
_FAILURES = (
    OSError, KeyError, ValueError, TypeError, EOFError, SyntaxError, RuntimeError, OverflowError, MemoryError,
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, Warning,
)  # fmt: skip


def read_archive(path: Path) -> list[Raw]:
    """The arrays a, b [n, K] and c, d [n] of an archive: fp32 words as uint32.

    Errors: RecordError for another kind of file, and for more than 2^24 words in an array.
    """
    a, b, c, d = read_arrays(path, dict.fromkeys(_ARRAYS, 32))
    if a.ndim != 2 or a.shape != b.shape or c.shape != a.shape[:1] or d.shape != c.shape or not a.size:
        raise RecordError(
            f"expected a, b [n, K] and c, d [n] in {path}, "
            f"but got {list(a.shape)}, {list(b.shape)}, {list(c.shape)} and {list(d.shape)}"
        )
    return [a, b, c, d]


def read_arrays(path: Path, widths: Mapping[str, int]) -> list[Raw]:
    """Read the named arrays of an archive: unsigned words of the given widths, of any shape.

    Errors: RecordError for another kind of file, and for more than 2^24 words in an array.
    """
    *others, last = widths
    names = f"{', '.join(others)} and {last}"
    if not path.is_file():
        raise RecordError(f"expected a file with the arrays {names} at {path}, but it is none")
    try:
        with zipfile.ZipFile(path) as archive, warnings.catch_warnings():
            warnings.simplefilter("error")
            return [_array(archive, name, width, path) for name, width in widths.items()]
    except _FAILURES as error:
        message = " ".join(str(error).split())
        raise RecordError(
            f"expected arrays {names} in the recording {path}, but got: {message:.200}"
        ) from None


def _array(archive: zipfile.ZipFile, name: str, width: int, path: Path) -> Raw:
    """Read one array after a check of its header: word type, and a size within the archive's."""
    size = width // 8
    with archive.open(f"{name}.npy") as stream:
        shape, fortran, dtype = _header(stream)
        count = math.prod(shape)
        if dtype != np.dtype(f"<u{size}"):
            raise RecordError(f"expected words as uint{width} in {path}, but {name} holds {dtype}")
        if not 0 <= count <= _MOST or min(shape, default=0) < 0:
            raise RecordError(f"expected at most {_MOST} words in {name} of {path}, but there are {count}")
        content = stream.read(size * count + 1)
    if len(content) != size * count:
        raise RecordError(
            f"expected {size * count} bytes in {name} of {path}, as its header says, but there are others"
        )
    words: Raw = np.frombuffer(content, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    return words


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.uint32]]:
    """The shape, memory order and dtype in an array's header; ValueError for another kind of file."""
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"arrays of version {version}")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    return shape, fortran, dtype
