"""Two results of one matrix product, with its operands, from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS, format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.simulation.arrays import dtypes, from_raw
from tcformal.simulation.model_gemm import ModelGemm
from tcformal.simulation.operands.batch import Raw

#: Formats of results, by bits; fp16 is NumPy's own.
_RESULTS = ("fp64", "fp32", "fp16", "bf16", "e4m3", "e5m2")
_NAMES = ("a", "b", "c", "bias", "scale_a", "scale_b", "alpha", "beta", "expected", "got")


@dataclass(frozen=True, slots=True, eq=False)
class ProductCase:
    """A product alpha·A·B + beta·C + bias, its expected result and the one obtained.

    Shapes: a [M, K], b [K, N]; expected, got: raw encodings [M, N]; c, bias: None or broadcast to that;
    scale_a [M, S] and scale_b [S, N], or None.
    """

    a: NDArray[Any]
    b: NDArray[Any]
    expected: Raw
    got: Raw
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
        """Whether sums are scaled."""
        return self.scale_a is not None

    def product(self, model: ModelGemm, memo: dict[Any, Raw] | None = None) -> Raw:
        """What a recipe computes, as raw encodings; `memo` as for `ModelGemm.matmul`."""
        d = model.matmul(
            self.a, self.b, self.c, self.scale_a, self.scale_b, alpha=self.alpha, beta=self.beta,
            bias=self.bias, progress=False, memo=memo,
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


def is_product(data: Mapping[str, NDArray[Any]]) -> bool:
    """Whether arrays are those of a matrix product: results of two axes."""
    return "expected" in data and data["expected"].ndim == 2


def arrays_of(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz; InputError naming the file for what is none."""
    try:
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in data.files}
    except (OSError, ValueError, EOFError, AttributeError) as error:
        raise InputError(f"expected arrays as .npz in {path}, but got: {error}") from None


def product_case(
    spec: UnitSpec, data: Mapping[str, NDArray[Any]], where: str, output: str | None = None
) -> ProductCase:
    """A product from arrays: raw encodings in unsigned integers, or values in the dtype of their format.

    Ranges and units: `output`: the format of the results, which may be left out where their dtype says it;
    alpha and beta: arrays of one number.
    Errors: InputError naming the array that is missing, unknown or does not fit.
    """
    for name in data:
        if name not in _NAMES:
            raise InputError(f"expected the arrays {', '.join(_NAMES)} in {where}, but got {name}")
    for name in ("a", "b", "expected", "got"):
        if name not in data or data[name].ndim != 2 or 0 in data[name].shape:
            raise InputError(f"expected a matrix {name} in {where}, but there is none")
    d = _output(spec, data["expected"], output, where)
    values = {
        name: _values(name, data[name], fmt, where)
        for name, fmt in (("a", spec.a_format), ("b", spec.b_format), ("expected", d), ("got", d))
    }
    (m, k), n = values["a"].shape, values["b"].shape[1]
    for name, shape in (("b", (k, n)), ("expected", (m, n)), ("got", (m, n))):
        if values[name].shape != shape:
            raise InputError(
                f"expected {name} of shape {list(shape)} in {where}, but got {list(data[name].shape)}"
            )
    extras: dict[str, Any] = {}
    for name in ("c", "bias"):
        if name in data:
            wide = data[name].dtype.itemsize == spec.d_format.storage_bits // 8
            extras[name] = _values(name, data[name], spec.d_format if wide else d, where)
    for name in ("scale_a", "scale_b"):
        if name in data:
            extras[name] = _values(name, data[name], FORMATS["fp32"], where)
    for name in ("alpha", "beta"):
        if name in data:
            if data[name].size != 1 or data[name].dtype.kind not in "fiu":
                raise InputError(f"expected one number {name} in {where}, but got {list(data[name].shape)}")
            extras[name] = data[name].reshape(-1)[0]
    expected, got = (values[name].view(f"u{values[name].itemsize}") for name in ("expected", "got"))
    return ProductCase(a=values["a"], b=values["b"], expected=expected, got=got, d_format=d, **extras)


def _output(spec: UnitSpec, x: NDArray[Any], output: str | None, where: str) -> Format:
    if output is not None:
        return format_named(output)
    known = [FORMATS[name] for name in _RESULTS if FORMATS[name].storage_bits == 8 * x.dtype.itemsize]
    if x.dtype.kind == "f":
        known = [fmt for fmt in known if dtypes()[fmt.name] == x.dtype]
    if spec.d_format in known:
        return spec.d_format
    if len(known) != 1:
        raise InputError(
            f"expected --output with the format of the results in {where}, which have {8 * x.dtype.itemsize} "
            "bits, but got none"
        )
    return known[0]


def _values(name: str, x: NDArray[Any], fmt: Format, where: str) -> NDArray[Any]:
    """An array of values of a format."""
    wanted = dtypes()[fmt.name]
    if x.dtype == wanted:
        return x
    if x.dtype.itemsize != wanted.itemsize or x.dtype.kind not in "uV":
        raise InputError(f"expected {fmt.name} for {name} in {where}, but got {x.dtype}")
    raw = np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")
    if raw.size and int(raw.max()) >> fmt.width:
        raise InputError(f"expected encodings of {fmt.width} bits for {name} in {where}")
    return from_raw(raw, fmt)
