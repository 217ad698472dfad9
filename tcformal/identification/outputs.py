"""Outputs of a matrix product and its operands, as arrays of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.semantics.chain import scale_count
from tcformal.simulation.array_files import format_of_values, valued
from tcformal.simulation.arrays import takes_dtype
from tcformal.simulation.model_gemm import ModelGemm
from tcformal.simulation.operands.batch import Raw


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
