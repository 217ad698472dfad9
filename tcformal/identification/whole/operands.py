"""Operands on which orders of sums and units differ: random ones, and ones whose products cancel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.encodings.spec import Format
from tcformal.simulation.arrays import dtypes


def random_operands(
    rng: np.random.Generator, left: tuple[int, int], right: tuple[int, int], formats: tuple[Format, Format]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Operands of a normal distribution."""
    made = [
        rng.standard_normal(x).astype(dtypes()[fmt.name])
        for x, fmt in zip((left, right), formats, strict=True)
    ]
    return made[0], made[1]


def cancelling_operands(
    rng: np.random.Generator, left: tuple[int, int], right: tuple[int, int], formats: tuple[Format, Format]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Operands whose products cancel, so that results are what was rounded off; a few terms are left over."""
    a, b = random_operands(rng, left, right, formats)
    half = left[1] // 2
    first, second = np.split(rng.permutation(left[1])[: 2 * half], 2)
    a[:, second], b[second] = -a[:, first], b[first]
    if left[1] > 2 * half:
        a[:, np.setdiff1d(np.arange(left[1]), [*first, *second])] = 0
    return a, b


def as_words(x: NDArray[Any]) -> NDArray[Any]:
    """The encodings of an array's values."""
    return x.view(f"u{x.dtype.itemsize}")
