"""Matrix products of integers by BLAS: sums of products in floating-point numbers that hold them exactly.

Sums that wrap are one sum modulo 2^n however they are cut (theorem `wrapped_calls`), and those that saturate
are exact where no part of them can leave the range (theorem `exact_calls`).
"""

from __future__ import annotations

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


def integer_product(spec: UnitSpec, x: MatrixWords, work: Work) -> Raw | None:
    """D = A·B + C of a unit of integers as raw encodings; None where a sum may saturate, or for other units.

    Shapes: as `MatrixWords`; threads are those of BLAS.
    """
    d = spec.d_format
    if not d.integer or spec.tree is not None or x.prepared is not None or narrow(spec):
        return None
    sums = integer_sums(spec)
    if not wraps(spec) and not _fits(spec, x):
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
    return out


def _fits(spec: UnitSpec, x: MatrixWords) -> bool:
    """Whether no part of any sum can leave the range: by the largest magnitudes of the operands."""
    sums, c = integer_sums(spec), (0, 0)
    if x.c is not None:
        known = numbers(spec.c_format, x.c, np.int64)
        c = int(known.min()), int(known.max())
    a, b = (numbers(f, w, np.int64) for f, w in ((spec.a_format, x.a), (spec.b_format, x.b)))
    ends = [int(p) * int(q) for p in (a.min(), a.max()) for q in (b.min(), b.max())]
    k = x.shape[1]
    return sums.low <= c[0] + k * min(0, *ends) and c[1] + k * max(0, *ends) <= sums.high


def numbers(fmt: Format, words: Raw, dtype: Any) -> NDArray[Any]:
    """The numbers of encodings of an integer format, in a dtype that holds them."""
    if not fmt.sign_bit:
        return words.astype(dtype)
    signed = words.view(f"i{words.itemsize}")
    if fmt.width < 8 * words.itemsize:
        signed = (signed ^ fmt.sign_bit) - fmt.sign_bit
    return signed.astype(dtype)
