"""The operands of recorded matrix products, made again from nothing but their shapes and formats.

Every number comes from raw words of PCG64, whose stream NumPy keeps the same between releases.  A [M, K]
and B [N, K], so that the product is A·Bᵀ; its first rows of A ask for the order of the sum, as FPRev does:
a large number at one place, its negative at another, and small ones that are lost beside the large.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[Any]

#: Of each format: width, fraction bits, bias.
FORMATS = {
    "fp64": (64, 52, 1023), "fp32": (32, 23, 127), "tf32": (32, 23, 127), "bf16": (16, 7, 127),
    "fp16": (16, 10, 15), "e4m3": (8, 3, 7), "e5m2": (8, 2, 15),
}  # fmt: skip
#: Exponents of a mask's large numbers and of its small ones.
MASK = {
    "fp64": (200, -200), "fp32": (60, -60), "tf32": (60, -60), "bf16": (60, -60), "fp16": (15, -14),
    "e4m3": (8, -6), "e5m2": (15, -14),
}  # fmt: skip
#: Rows of B that are all ones, at most half of them.
ONES = 16
#: The words of each width.
UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def _word(fmt: str, sign: int, e: int) -> int:
    """±2^e."""
    width, t, bias = FORMATS[fmt]
    return (sign << (width - 1)) | ((e + bias) << t)


def _near(fmt: str, rows: int, k: int, seed: int) -> Words:
    """Random signs and fractions, exponents from -6 to 1."""
    width, t, bias = FORMATS[fmt]
    raw = np.random.PCG64(seed).random_raw(rows * k).reshape(rows, k)
    sign = raw >> np.uint64(63)
    e = ((raw >> np.uint64(56)) & np.uint64(7)) + np.uint64(bias - 6)
    fraction = raw & np.uint64((1 << t) - 1)
    return (sign << np.uint64(width - 1)) | (e << np.uint64(t)) | fraction


def operand(fmt: str, which: str, rows: int, k: int) -> Words:
    """Raw words [rows, k] of `a` or `b`.

    The first quarter of A's rows are masks: 2^large at p, -2^large at q, 2^small elsewhere.  The first
    rows of B are ones.
    """
    words = _near(fmt, rows, k, 1 if which == "a" else 2)
    if which == "b":
        words[: min(ONES, rows // 2)] = _word(fmt, 0, 0)
    elif k > 1 and rows >= 4:
        large, small = MASK[fmt]
        masks = rows // 4
        draws = np.random.PCG64(7).random_raw(2 * masks)
        words[:masks] = _word(fmt, 0, small)
        for i in range(masks):
            p = int(draws[2 * i] % np.uint64(k))
            q = (p + 1 + int(draws[2 * i + 1] % np.uint64(k - 1))) % k
            words[i, p], words[i, q] = _word(fmt, 0, large), _word(fmt, 1, large)
    return words.astype(UNSIGNED[FORMATS[fmt][0]])


def digest(d: Words) -> str:
    """The first half of the SHA-256 of a result's raw words, row by row."""
    return hashlib.sha256(np.ascontiguousarray(d).tobytes()).hexdigest()[:32]


def sample(d: Words) -> str:
    """Some results as hex: at most 32 masks against ones, then 8 by 8 results of random numbers."""
    m, n = d.shape
    ones = min(ONES, n // 2)
    words = [*d[: min(32, m // 4), 0], *d[m // 4 : m // 4 + 8, ones : ones + 8].ravel()]
    if m < 8:
        words = [*d[0, :96]]
    return "".join(f"{int(x):0{d.itemsize * 2}x}" for x in words)
