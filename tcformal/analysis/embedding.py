"""Operands of one unit as another unit's words: the same numbers, exactly, block scales included."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import difference, signs_of, values_of
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.semantics.chain import scale_count
from tcformal.simulation.arrays import as_array, dtype_of, dtypes, product, takes_dtype
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import Raw
from tcformal.simulation.runnable import RunnableProgram

Reals = NDArray[np.float64]


def factors_of(u: UnitSpec, x: MatrixWords) -> tuple[Reals, Reals]:
    """The factors of every product as numbers in binary64: an element times the scale of its block.

    Shapes: [M, K] and [K, N].
    """
    a, b = values_of(x.a, u.a_format), values_of(x.b, u.b_format)
    if x.scale_a is not None and x.scale_b is not None and u.scale_format is not None and u.scale_block:
        rows, columns = (values_of(s, u.scale_format) for s in (x.scale_a, x.scale_b))
        a = a * np.repeat(rows, u.scale_block, axis=1)[:, : a.shape[1]]
        b = b * np.repeat(columns, u.scale_block, axis=0)[: b.shape[0]]
    return a, b


def words_in(fmt: Format, values: Reals) -> tuple[Raw, NDArray[np.bool_]]:
    """Numbers as encodings of a format, and which of them it holds exactly; the others are any words.

    Zero, NaN, Inf: a NaN is any NaN of the format, and not held where it has none.
    Errors: InputError for a format without a dtype of NumPy.
    """
    if fmt.name not in dtypes() or fmt.name == "ue4m3":
        raise InputError(f"expected a format with a dtype, to convert numbers to, but got {fmt}")
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        made = np.ascontiguousarray(values.astype(dtype_of(fmt)))
    words = made.view(f"u{made.itemsize}")
    if fmt.ignored_low_bits:
        words = words & ~np.array((1 << fmt.ignored_low_bits) - 1, words.dtype)
    back = values_of(words, fmt)
    return words, np.asarray((back == values) | (np.isnan(back) & np.isnan(values)))


def embedded(u: UnitSpec, x: MatrixWords, other: UnitSpec) -> MatrixWords:
    """A product's operands as another unit's words, its block scales one where it has some.

    Errors: InputError naming the first number that the other unit's format does not hold.
    """
    a, b = factors_of(u, x)
    c = None if x.c is None else values_of(x.c, u.c_format)
    rows = (("A", a, other.a_format), ("B", b, other.b_format), ("C", c, other.c_format))
    made: list[Raw | None] = []
    for name, values, fmt in rows:
        if values is None:
            made.append(None)
            continue
        words, held = words_in(fmt, values)
        if not held.all():
            i, j = np.argwhere(~held)[0]
            raise InputError(
                f"expected numbers of {name} that {fmt} of {other.name} holds, "
                f"but got {values[i, j]:.9g} at [{i}, {j}]"
            )
        made.append(words)
    if made[0] is None or made[1] is None:
        raise InputError("expected both factors of a product, but got one")
    return MatrixWords(made[0], made[1], made[2], *ones(other, a.shape[0], a.shape[1], b.shape[1]))


def operands_of(
    specs: tuple[UnitSpec, UnitSpec], a: Any, b: Any, c: Any, scale_a: Any, scale_b: Any
) -> tuple[MatrixWords, MatrixWords]:
    """The operands as words of both units, from arrays in the formats of the first, or of the second."""
    own = takes_dtype(specs[0].a_format, as_array(a).dtype)
    own = own and (specs[0].scale_format is None) == (scale_a is None)
    given, other = specs if own else specs[::-1]
    x = product(given, a, b, c, scale_a, scale_b)
    y = x if same_formats(given, other) else embedded(given, x, other)
    return (x, y) if own else (y, x)


def ones(u: UnitSpec, m: int, k: int, n: int) -> tuple[Any, Any]:
    """Block scales of one for a product [M, K]·[K, N]; None twice for a unit without scales."""
    if u.scale_format is None:
        return None, None
    count, dtype = scale_count(u, k), f"u{u.scale_format.storage_bits // 8}"
    one = u.scale_format.one
    return np.full((m, count), one, dtype), np.full((count, n), one, dtype)


def product_errors(unit: Unit | RunnableProgram, x: MatrixWords, d: Raw) -> tuple[Reals, Reals]:
    """The errors D - (A·B + C) of a product, each rounded once, and Σ|x_k·y_k| + |c|.

    Shapes: d [M, N] as raw encodings; both [M, N].
    Zero, NaN, Inf: NaN where an operand or the result is not finite.
    """
    spec = unit.spec if isinstance(unit, Unit) else None
    if spec is None:
        a, b = values_of(x.a, unit.a_format), values_of(x.b, unit.b_format)
    else:
        a, b = factors_of(spec, x)
    c = np.zeros(d.shape) if x.c is None else values_of(x.c, unit.c_format)
    b, result = b * signs_of(unit, a.shape[1])[:, None], values_of(d, unit.d_format)
    finite = np.isfinite(result) & np.isfinite(c) & np.outer(np.isfinite(a).all(1), np.isfinite(b).all(0))
    errors = np.full(d.shape, np.nan)
    for i, j in np.argwhere(finite):
        row, column = np.append(a[i], c[i, j]), np.append(b[:, j], 1.0)
        errors[i, j] = difference(unit, float(result[i, j]), row, column)
    with np.errstate(invalid="ignore"):
        return errors, np.abs(a) @ np.abs(b) + np.abs(c)
