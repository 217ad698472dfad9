"""Stacks of matrices: leading axes that broadcast, as for `numpy.matmul`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.errors import InputError


def stack_of(a: NDArray[Any], b: NDArray[Any]) -> tuple[int, ...]:
    """The leading axes of A·B; InputError for matrices that do not fit."""
    if min(a.ndim, b.ndim) < 2 or a.shape[-1] != b.shape[-2] or 0 in a.shape + b.shape:
        raise InputError(
            "expected A of shape [..., M, K] and B of shape [..., K, N] with axes of at least 1, "
            f"but got {list(a.shape)} and {list(b.shape)}"
        )
    return _broadcast(a.shape[:-2], b.shape[:-2])


def _broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(first, second)
    except ValueError:
        raise InputError(
            f"expected leading axes of A and B that broadcast, but got {list(first)} and {list(second)}"
        ) from None


def broadcast(name: str, x: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """An operand broadcast to a shape; InputError where that is impossible."""
    try:
        return np.broadcast_to(x, shape)
    except ValueError:
        raise InputError(
            f"expected {name} of a shape that broadcasts to {list(shape)}, but got {list(x.shape)}"
        ) from None
