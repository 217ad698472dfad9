"""What pairs of calls are compared on: the inputs of the second, and when two results are as claimed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attack.directed import same_scales
from attack.exact import decoded
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.simulation.operands.batch import Batch

Words = NDArray[Any]
#: One evaluation: of a unit, on some inputs.
Call = tuple[UnitSpec, Batch]


def identical(fmt: Format, x: Words, y: Words) -> NDArray[np.bool_]:
    """The same words."""
    return np.asarray(x == y)


def opposite(fmt: Format, x: Words, y: Words) -> NDArray[np.bool_]:
    """Opposite numbers, zeros of any sign, or two NaNs."""
    u, v = decoded(fmt, x), decoded(fmt, y)
    flipped = (x.astype(np.uint64) ^ np.uint64(fmt.sign_bit)) == y.astype(np.uint64)
    # Infinities have a word for each sign, as numbers do.
    nans = [~w.finite & ((z.astype(np.uint64) & np.uint64((1 << fmt.width - 1) - 1)) != _infinity(fmt))
            for w, z in ((u, x), (v, y))]  # fmt: skip
    numbers = ~nans[0] & ~nans[1] & flipped
    return np.asarray(numbers | (nans[0] & nans[1]) | (u.zero & v.zero & u.finite & v.finite))


def _infinity(fmt: Format) -> np.uint64:
    return np.uint64(fmt.infinity if fmt.specials.name == "IEEE" else (1 << 64) - 1)


def ordered(fmt: Format, x: Words, y: Words) -> NDArray[np.bool_]:
    """The first is no larger than the second, where both are numbers."""
    u, v = decoded(fmt, x), decoded(fmt, y)
    keys = [
        np.where(w.negative, -1, 1)
        * (z.astype(np.uint64) & np.uint64((1 << fmt.width - 1) - 1)).astype(np.int64)
        for w, z in ((u, x), (v, y))
    ]
    return np.asarray((keys[0] <= keys[1]) | ~u.finite | ~v.finite)


def negated(spec: UnitSpec, x: Batch) -> Batch:
    """−A, B, −C."""

    def minus(fmt: Format, words: Words) -> Words:
        made = words ^ np.uint64(fmt.sign_bit)
        if fmt.specials.name == "NEGATIVE_ZERO_NAN":
            made = np.where(words & np.uint64(fmt.sign_bit - 1) == 0, words, made)
        return made

    return replace(x, a=minus(spec.a_format, x.a), c=minus(spec.c_format, x.c))


def reordered(rng: np.random.Generator, x: Batch, blocks: list[tuple[int, int]], turned: bool) -> Batch:
    """Products in another order within each block, and blocks with their scales in another order."""
    n, k = x.a.shape
    order = np.broadcast_to(np.arange(k), (n, k)).copy()
    for low, high in blocks or [(0, k - 1)]:
        order[:, low : high + 1] = low + rng.random((n, high + 1 - low)).argsort(axis=1)
    made = replace(x, a=np.take_along_axis(x.a, order, 1), b=np.take_along_axis(x.b, order, 1))
    if not turned or x.scale_a is None or x.scale_b is None:
        return made
    whole = rng.permutation(len(blocks))
    size, scales = k // len(blocks), x.scale_a.shape[1] // len(blocks)
    wide = (whole[:, None] * size + np.arange(size)).ravel()
    own = (whole[:, None] * scales + np.arange(scales)).ravel()
    return Batch(made.a[:, wide], made.b[:, wide], x.c, x.scale_a[:, own], x.scale_b[:, own])


def halves(spec: UnitSpec, x: Batch) -> list[Call]:
    """Half of the products alone, and filled up with +0 and scales of 1."""
    half = spec.k // 2
    first = Batch(x.a[:, :half], x.b[:, :half], x.c)
    a, b = x.a.copy(), x.b.copy()
    a[:, half:], b[:, half:] = 0, 0
    whole = replace(x, a=a, b=b)
    if spec.scale_format is not None and x.scale_a is not None and x.scale_b is not None:
        scales = x.scale_a.shape[1] // 2
        first = replace(first, scale_a=x.scale_a[:, :scales], scale_b=x.scale_b[:, :scales])
        whole = same_scales(spec, whole, scales)
    return [(spec, first), (spec, whole)]


def larger_c(rng: np.random.Generator, spec: UnitSpec, x: Batch) -> list[Call]:
    """The same products with two values of c in order, mostly neighbours."""
    fmt = spec.c_format
    step = np.where(rng.random(len(x.c)) < 0.7, 1, rng.integers(1, 1 << min(fmt.width - 2, 40), len(x.c)))
    sign = x.c & np.uint64(fmt.sign_bit)
    size = x.c ^ sign
    up = np.minimum(
        size + step.astype(np.uint64) * np.uint64(1 << fmt.ignored_low_bits), np.uint64(fmt.largest)
    )
    low, high = np.minimum(size, np.uint64(fmt.largest)), up
    # Of negative numbers the larger magnitude is the lesser one.
    first = np.where(sign != 0, high, low) | sign
    second = np.where(sign != 0, low, high) | sign
    return [(spec, replace(x, c=first)), (spec, replace(x, c=second))]
