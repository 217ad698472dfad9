"""Outputs of a matrix product and its operands, as people have them: arrays, and files of several kinds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.programs.chain import scale_count
from tcformal.simulation.arrays import as_array, dtypes, from_raw, takes_dtype, unpacked
from tcformal.simulation.model_gemm import ModelGemm
from tcformal.simulation.operands.batch import Raw

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ProductOperands:
    """The operands of alpha·A·B + beta·C + bias, sums of K products, and the format of its results."""

    a: NDArray[Any]
    b: NDArray[Any]
    d_format: Format
    c: NDArray[Any] | None = None
    bias: NDArray[Any] | None = None
    scale_a: NDArray[Any] | None = None
    scale_b: NDArray[Any] | None = None
    alpha: float | None = None
    beta: float | None = None

    @property
    def k(self) -> int:
        """Products of an element."""
        return int(self.a.shape[1])

    @property
    def scaled(self) -> bool:
        """Whether a library scales sums; by its own numbers, in fp32."""
        return self.scale_a is not None and self.scale_a.dtype == np.float32

    def unit_scales(self, u: UnitSpec) -> bool:
        """Whether the scales of blocks are those that a unit takes: all, or none."""
        if u.scale_format is None or self.scale_a is None:
            return u.scale_format is None and (self.scale_a is None or self.scaled)
        fits = takes_dtype(u.scale_format, self.scale_a.dtype)
        return fits and self.scale_a.shape[1] == scale_count(u, self.k)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ProductCase(ProductOperands):
    """A product alpha·A·B + beta·C + bias, its expected result and the one obtained.

    Shapes: a [M, K], b [K, N]; expected, got: raw encodings [M, N]; c, bias: None or broadcast to that;
    scale_a [M, S] and scale_b [S, N], or None.
    """

    expected: Raw
    got: Raw

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the outputs."""
        return self.expected.shape[0], self.expected.shape[1]

    def product(self, model: ModelGemm) -> Raw:
        """What a recipe computes, as raw encodings."""
        d = model.matmul(
            self.a, self.b, self.c, self.scale_a, self.scale_b, alpha=self.alpha, beta=self.beta,
            bias=self.bias, progress=False,
        )  # fmt: skip
        return d.view(f"u{d.itemsize}")

    def part(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> ProductCase:
        """Some rows and columns."""
        shape = self.expected.shape
        c, bias = (
            None if x is None else np.broadcast_to(x, shape)[np.ix_(rows, columns)]
            for x in (self.c, self.bias)
        )
        scale_a = None if self.scale_a is None else self.scale_a[rows]
        scale_b = None if self.scale_b is None else self.scale_b[:, columns]
        expected, got = (x[np.ix_(rows, columns)] for x in (self.expected, self.got))
        return replace(
            self, a=self.a[rows], b=self.b[:, columns], c=c, bias=bias, scale_a=scale_a, scale_b=scale_b,
            expected=expected, got=got,
        )  # fmt: skip

    def prefixes(self, place: tuple[int, int], stops: Sequence[int]) -> ProductCase:
        """One element with +0 in the place of a from each of some k on: a row for each."""
        row, column = (np.full(len(stops), place[0]), np.array([place[1]]))
        made = self.part(row, column)
        a = np.where(np.arange(self.k) < np.array(stops)[:, None], made.a, np.zeros((), made.a.dtype))
        return replace(made, a=a.astype(self.a.dtype))


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


def outputs(
    expected: Any, got: Any = None, *, a: Any, b: Any, c: Any = None, bias: Any = None, scale_a: Any = None,
    scale_b: Any = None, alpha: float | None = None, beta: float | None = None,
) -> ProductCase:  # fmt: skip
    """A product and its two outputs, or one as both, from arrays of values.

    Shapes: a [M, K], b [K, N], or [N, K] where only that fits; expected, got [M, N]; c, bias broadcast.
    Errors: InputError naming the array whose shape or dtype does not fit.
    """
    if beta == 0:
        c = beta = None
    got = expected if got is None else got
    named = {"expected": expected, "got": got, "a": a, "b": b, "c": c, "bias": bias}
    values = {name: None if x is None else valued(x, None, name) for name, x in named.items()}
    first, second, e, g = (values[name] for name in ("a", "b", "expected", "got"))
    if first is None or second is None or e is None or g is None:
        raise InputError("expected a, b and outputs, but got None")
    for name in ("a", "b", "expected", "got"):
        x = values[name]
        axes = [] if x is None else list(x.shape)
        if len(axes) != 2 or 0 in axes:
            raise InputError(f"expected a matrix {name}, but got shape {axes}")
    (m, k), n = first.shape, e.shape[1]
    if second.shape != (k, n) and second.shape == (n, k):
        second = np.ascontiguousarray(second.T)
    for name, x, shape in (("b", second, (k, n)), ("expected", e, (m, n)), ("got", g, (m, n))):
        if x.shape != shape:
            raise InputError(
                f"expected {name} of shape {list(shape)} for a of shape {[m, k]}, but got {list(x.shape)}"
            )
    if e.dtype != g.dtype:
        raise InputError(f"expected outputs of one dtype, but got {e.dtype} and {g.dtype}")
    for name in ("c", "bias"):
        if (x := values[name]) is not None:
            try:
                np.broadcast_shapes(x.shape, (m, n))
            except ValueError:
                raise InputError(
                    f"expected {name} that broadcasts to {[m, n]}, but got {list(x.shape)}"
                ) from None
    scales = [
        None if x is None else _scales(name, x) for name, x in (("scale_a", scale_a), ("scale_b", scale_b))
    ]
    _check_extras(scales, (m, n), c is not None, {"alpha": alpha, "beta": beta})
    raw = [np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}") for x in (e, g)]
    return ProductCase(
        a=first, b=second, expected=raw[0], got=raw[1], d_format=format_of_values(e), c=values["c"],
        bias=values["bias"], scale_a=scales[0], scale_b=scales[1], alpha=alpha, beta=beta,
    )  # fmt: skip


def _scales(name: str, given: Any) -> NDArray[Any]:
    """Scales in the format of units that have some, or as a library's own numbers in fp32."""
    x = valued(given, None, name)
    return x if format_of_values(x).name in ("e8m0", "e4m3") else x.astype(np.float32)


def _check_extras(
    scales: list[NDArray[Any] | None], shape: tuple[int, int], with_c: bool, factors: dict[str, float | None]
) -> None:
    """Raise InputError for scales that do not fit each other, and factors that are no numbers or of no C."""
    one, two = scales
    if (one is None) != (two is None):
        raise InputError("expected scale_a and scale_b together, but got one of them")
    if one is not None and two is not None:
        blocks = one.shape[-1] if one.ndim else 0
        if (one.shape, two.shape) != ((shape[0], blocks), (blocks, shape[1])):
            raise InputError(
                f"expected scale_a [{shape[0]}, blocks] and scale_b [blocks, {shape[1]}], but got "
                f"{list(one.shape)} and {list(two.shape)}"
            )
    for name, value in factors.items():
        if value is not None and not math.isfinite(value):
            raise InputError(f"expected a finite number for {name}, but got {value}")
    if factors["beta"] and not with_c:
        raise InputError(f"expected C beside beta = {factors['beta']}, but got none")


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
