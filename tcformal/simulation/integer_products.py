"""Matrix products of integers by BLAS: sums of products in floating-point numbers that hold them exactly.

Sums that wrap are one sum modulo 2^n however they are cut (theorem `wrapped_calls`), and those that saturate
are exact where no part of them can leave the range (theorem `exact_calls`): the few others are asked singly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.integer_sums import integer_sums, narrow, wraps
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.simulation.operands.batch import Raw

if TYPE_CHECKING:
    from tcformal.simulation.kernels.gemm import MatrixWords
    from tcformal.simulation.kernels.threads import Work

#: Floating-point formats of BLAS, with the bits of integers that they hold.
_BLAS = ((np.float32, 24), (np.float64, 53))
#: The least number of products that are summed at once; and results that are held at once.
_AT_ONCE, _HELD = 128, 1 << 24
#: The share of results that may saturate, above which a kernel computes all of them.
_FEW = 1 / 16
#: Dot products, each of one row and one column: (a, b, c) as raw encodings.
Dots = Callable[[Raw, Raw, Raw], Raw]


def integer_product(spec: UnitSpec, x: MatrixWords, work: Work, dots: Dots) -> Raw | None:
    """D = A·B + C of a unit of integers as raw encodings; None where many sums may saturate, or for others.

    Shapes: as `MatrixWords`; threads are those of BLAS.  `dots` computes the few results that may saturate.
    """
    d = spec.d_format
    if not d.integer or spec.tree is not None or x.prepared is not None or narrow(spec):
        return None
    sums = integer_sums(spec)
    singly = np.empty((2, 0), np.int64) if wraps(spec) else _may_saturate(spec, x)
    # Dot products that end within a call are evaluated on lanes, step by step.
    if singly.shape[1] > (0 if x.shape[1] % spec.k else _FEW * x.shape[0] * x.shape[2]):
        return None
    most = max(-sums.least, sums.most)
    number, bits = next((n, b) for n, b in _BLAS if b == _BLAS[-1][1] or (1 << b) // most >= _AT_ONCE)
    (m, k, n), step = x.shape, (1 << bits) // most
    word = np.dtype(f"u{d.storage_bits // 8}")
    out = np.empty((m, n), word)
    b = numbers(spec.b_format, x.b, number)
    rows = max(1, _HELD // n)
    work.expect(m * n)
    for first in range(0, m, rows):
        some = slice(first, first + rows)
        a = numbers(spec.a_format, x.a[some], number)
        total = np.zeros((len(a), n), np.int64) if x.c is None else x.c[some].astype(np.int64)
        for start in range(0, k, step):
            total += (a[:, start : start + step] @ b[start : start + step]).astype(np.int64)
        out[some] = total.astype(word) & np.array((1 << d.width) - 1, word)
        work.advance(len(a) * n)
    for first in range(0, singly.shape[1], per := max(1, _HELD // k)):
        i, j = singly[:, first : first + per]
        c = np.zeros(len(i), word) if x.c is None else x.c[i, j]
        out[i, j] = dots(x.a[i], np.ascontiguousarray(x.b.T[j]), c)
    return out


def _may_saturate(spec: UnitSpec, x: MatrixWords) -> NDArray[np.int64]:
    """The places [2, count] of results of which a part may leave the range.

    Σ|a_k·b_k| is at most the product of the Euclidean norms of a row and a column, here rounded up.
    """
    sums, (m, _, n) = integer_sums(spec), x.shape
    squares = (np.square(numbers(f, w, np.float64)) for f, w in ((spec.a_format, x.a), (spec.b_format, x.b)))
    row, column = (np.sqrt(y.sum(axis)) * (1 + 2.0**-20) for axis, y in zip((1, 0), squares, strict=True))
    down = bool(sums.least)

    def beyond(c: NDArray[np.int64], reach: Any) -> NDArray[np.bool_]:
        return np.asarray((c - down * reach < sums.low) | (c + reach > sums.high))

    c = np.zeros((m, n), np.int64) if x.c is None else numbers(spec.c_format, x.c, np.int64)
    i, j = np.nonzero(beyond(c, row.max(initial=0) * column.max(initial=0)))
    near = beyond(c[i, j], row[i] * column[j])
    return np.stack([i[near], j[near]])


def numbers(fmt: Format, words: Raw, dtype: Any) -> NDArray[Any]:
    """The numbers of encodings of an integer format, in a dtype that holds them."""
    if not fmt.sign_bit:
        return words.astype(dtype)
    signed = words.view(f"i{words.itemsize}")
    if fmt.width < 8 * words.itemsize:
        signed = (signed ^ fmt.sign_bit) - fmt.sign_bit
    return signed.astype(dtype)
