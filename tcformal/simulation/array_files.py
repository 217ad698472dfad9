"""Arrays of values in files of several kinds: .npy, .npz, .safetensors, and raw words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.simulation.arrays import as_array, dtypes, from_raw, takes_dtype, unpacked

#: Names of dtypes in the header of a safetensors file.
_SAFETENSORS = {
    "F64": "fp64", "F32": "fp32", "F16": "fp16", "BF16": "bf16", "F8_E4M3": "e4m3", "F8_E5M2": "e5m2",
    "F8_E8M0": "e8m0",
}  # fmt: skip
#: PyTorch's name of bytes with two values of 4 bits.
_PAIRS = "float4_e2m1fn_x2"
#: Files that say the dtypes of their arrays.
_ARCHIVES = (".npy", ".npz", ".safetensors")
#: Formats of which an array's dtype says nothing else.
_OF_DTYPE = (
    "fp64", "fp32", "fp16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "e8m0",
    "int4", "uint4", "int8", "int16", "int32",
)  # fmt: skip
#: Formats that have to be named: an array of their dtype may be of words.
_NAMED = ("uint8", "uint16", "uint32")


def read_array(text: str, words: Format | None = None) -> NDArray[Any]:
    """An array of values from `FILE`, `FILE:NAME` or `FILE:FORMAT`: .npy, .npz, .safetensors, or raw words.

    Shapes: raw words have their format and shape behind the file: `d.bin:bf16:64x512`; bytes with the format
    `float4_e2m1fn_x2` hold two values each along the last axis.
    Ranges and units: `words`: the format of words whose dtype and text say none.
    Errors: InputError naming what the file lacks.
    """
    path, parts = _file(text)
    if path.suffix.lower() not in _ARCHIVES:
        return _raw(path, parts)
    x = _named(arrays_in(path), parts, path)
    if len(parts) > 1:
        raise InputError(f"expected FILE:NAME:FORMAT at most, but got {text}")
    if parts == [_PAIRS] and x.dtype.itemsize == 1 and x.dtype.kind in "uiV":
        x, parts = unpacked(x), ["e2m1"]
    return valued(x, format_named(parts[0]) if parts else None, str(path), words)


def arrays_in(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a .npy, which has no names, an .npz or a .safetensors; InputError for what is none."""
    try:
        if path.suffix.lower() == ".safetensors":
            return _safetensors(path.read_bytes())
        with path.open("rb") as file:
            data = np.load(file, allow_pickle=False)
            return {"": data} if isinstance(data, np.ndarray) else {name: data[name] for name in data.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise InputError(f"expected an array in {path}, but got: {error}") from None


def valued(array: Any, fmt: Format | None, where: str, words: Format | None = None) -> NDArray[Any]:
    """An array of values in the dtype of their format; `fmt`: that of words, which a dtype does not say;
    `words`: that of words without one.

    Tensors of PyTorch and arrays of JAX are taken as they are.
    """
    x = as_array(array)
    known = {dtypes()[name]: name for name in _OF_DTYPE}
    if fmt is None:
        if x.dtype.newbyteorder("=") in known:
            return x.astype(x.dtype.newbyteorder("="), copy=False)
        if x.dtype.kind == "V" and x.dtype.itemsize == 2:  # NumPy forgets the name of bfloat16 in a file
            fmt = format_named("bf16")
        elif words is not None and takes_dtype(words, x.dtype):
            return x
        elif words is not None and x.dtype.kind in "uV" and 8 * x.dtype.itemsize == words.storage_bits:
            fmt = words
        else:
            raise InputError(
                f"expected floating-point values in {where}, but got {x.dtype}; words need their format: "
                "FILE:FORMAT, such as a.npy:e4m3"
            )
    fmt = format_named("e4m3") if fmt.name == "ue4m3" else fmt  # whose words it has, but for their sign
    wanted = dtypes().get(fmt.name)
    if wanted is None or (fmt.name not in (*_OF_DTYPE, *_NAMED, "tf32") and fmt is not words):
        raise InputError(f"expected one of {', '.join(_OF_DTYPE)} for {where}, but got {fmt.name}")
    if x.dtype == wanted:
        return x
    if x.dtype.kind not in "uiV" or x.dtype.itemsize != wanted.itemsize:
        raise InputError(
            f"expected words of {8 * wanted.itemsize} bits for {fmt.name} in {where}, got {x.dtype}"
        )
    return from_raw(np.ascontiguousarray(x).view(f"u{wanted.itemsize}"), fmt)


def format_of_values(x: NDArray[Any]) -> Format:
    """The format of an array of values."""
    return format_named({dtypes()[name]: name for name in (*_NAMED, *reversed(_OF_DTYPE))}[x.dtype])


def _file(text: str) -> tuple[Path, list[str]]:
    """The file of a text, and what stands behind it."""
    parts = text.split(":")
    for stop in range(len(parts), 0, -1):
        path = Path(":".join(parts[:stop]))
        if path.is_file():
            return path, parts[stop:]
    raise InputError(f"expected a file of an array, but there is no {text}")


def _named(held: Mapping[str, NDArray[Any]], parts: list[str], path: Path) -> NDArray[Any]:
    """One array of several; its name is taken from `parts`."""
    if parts and parts[0] in held:
        return held[parts.pop(0)]
    if len(held) == 1 and ("" in held or not parts or _is_format(parts[0])):
        return next(iter(held.values()))
    raise InputError(f"expected {path}:NAME with one of {', '.join(sorted(held))}, but got no such name")


def _is_format(name: str) -> bool:
    try:
        return bool(format_named(name))
    except InputError:
        return False


def _safetensors(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file: a length, a JSON header, and words."""
    size = int.from_bytes(data[:8], "little")
    body, made = data[8 + size :], {}
    try:
        for name, entry in json.loads(data[8 : 8 + size]).items():
            if name != "__metadata__" and entry["dtype"] in _SAFETENSORS:
                fmt = format_named(_SAFETENSORS[entry["dtype"]])
                start, stop = entry["data_offsets"]
                words = np.frombuffer(body[start:stop], f"<u{fmt.storage_bits // 8}")
                made[name] = from_raw(words.reshape(entry["shape"]), fmt)
    except (ValueError, TypeError, AttributeError, KeyError):
        raise ValueError("a header that is no table of arrays, or fewer words than it says") from None
    return made


def _raw(path: Path, parts: list[str]) -> NDArray[Any]:
    if len(parts) != 2:
        raise InputError(f"expected .npy, .npz, .safetensors, or {path}:FORMAT:ROWSxCOLUMNS, but got {path}")
    fmt = format_named(parts[0])
    try:
        shape = [int(x) for x in parts[1].split("x")]
        words = np.frombuffer(path.read_bytes(), f"<u{fmt.storage_bits // 8}").reshape(shape)
    except ValueError as error:
        raise InputError(f"expected {parts[1]} words of {fmt.name} in {path}, but got: {error}") from None
    return valued(words, fmt, str(path))
