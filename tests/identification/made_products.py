"""Matrix products and bugs of them, made with NumPy alone: nothing here is computed by the package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]


def exponents(x: Values, bias_min: int) -> NDArray[np.int64]:
    """Exponents of values as encoded: of subnormals the least one."""
    _, e = np.frexp(x.astype(np.float64))
    return np.maximum(e.astype(np.int64) - 1, bias_min)


def to_zero(x: NDArray[np.float64]) -> NDArray[np.float32]:
    """Doubles rounded toward zero to fp32 (normal numbers)."""
    made = x.astype(np.float32)
    over = np.abs(made.astype(np.float64)) > np.abs(x)
    return np.where(over, np.nextafter(made, np.float32(0)), made).astype(np.float32)


LEAST = {np.dtype(np.float16): -14, np.dtype(ml_dtypes.bfloat16): -126}


def fused(a: Values, b: Values, c: NDArray[np.float32], block: int, bits: int) -> NDArray[np.float32]:
    """Truncated fused sums, one block after the other: D [M, N] in fp32, rounded toward zero."""
    d, least = c.astype(np.float32), LEAST[a.dtype]
    x, y = a.astype(np.float64), b.astype(np.float64)
    ex, ey = exponents(a, least), exponents(b, least)
    none = -(1 << 20)
    for start in range(0, a.shape[1], block):
        terms = x[:, start : start + block, None] * y[None, start : start + block]
        e = ex[:, start : start + block, None] + ey[None, start : start + block]
        e = np.where(terms == 0, none, e)
        ed = np.where(d == 0, none, exponents(d, -126))
        top = np.maximum(e.max(1), ed)
        top = np.where(top == none, 0, top)
        unit = np.ldexp(1.0, (bits - top).astype(np.int32))
        total = np.trunc(terms * unit[:, None]).sum(1) + np.trunc(d.astype(np.float64) * unit)
        d = to_zero(total / unit)
    return d


def chain(a: Values, b: Values, c: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply–adds of fp32 words in ascending k, each product of narrow words exact: one rounding a step."""
    d = c.astype(np.float32)
    for k in range(a.shape[1]):
        exact = a[:, k, None].astype(np.float64) * b[None, k].astype(np.float64) + d.astype(np.float64)
        d = exact.astype(np.float32)
    return d


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How a product is made: a unit and the order of its partial sums."""

    arch: str
    block: int
    bits: int
    splits: int = 1
    out: Any = np.float32

    def product(self, a: Values, b: Values, c: Values | None = None) -> Values:
        """A·B, then + C in fp32."""
        k, zero = a.shape[1], np.zeros((a.shape[0], b.shape[1]), np.float32)
        length = k // self.splits
        parts = [
            fused(a[:, i : i + length], b[i : i + length], zero, self.block, self.bits)
            for i in range(0, k, length)
        ]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        if c is not None:
            total = total + c.astype(np.float32)
        return total.astype(self.out)


VOLTA, AMPERE, HOPPER = Arithmetic("volta", 4, 23), Arithmetic("ampere", 8, 24), Arithmetic("hopper", 16, 25)


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A case: operands, two outputs, and what the first words of the answer are to be."""

    name: str
    wanted: str
    a: Values
    b: Values
    expected: Values
    got: Values
    more: dict[str, Any] = field(default_factory=dict)
    #: A word that the answer holds.
    says: str = ""


#: Shapes of the cases.
SIZES = ((16, 16, 64), (32, 48, 256), (64, 64, 512))
_OTHER = {"volta": HOPPER, "ampere": HOPPER, "hopper": AMPERE}


def operands(
    rng: np.random.Generator, size: tuple[int, int, int], dtype: Any = np.float16
) -> tuple[Values, Values]:
    """Normally distributed matrices."""
    m, n, k = size
    return rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)


def _of_k(a: Values, start: int, stop: int, factor: float) -> Values:
    made = a.copy()
    made[:, start:stop] = (made[:, start:stop].astype(np.float64) * factor).astype(a.dtype)
    return made


def roundings(seed: int) -> Iterator[Made]:
    """Pairs of units and orders that exist: 30, ten of each size."""
    for i, size in enumerate(SIZES):
        rng = np.random.default_rng([seed, i])
        for dtype in (np.float16, ml_dtypes.bfloat16):
            a, b = operands(rng, size, dtype)
            units = (AMPERE, HOPPER) if dtype is not np.float16 else (VOLTA, HOPPER)
            pairs = [
                ("units", "ROUNDING", units[0], units[1]),
                ("splits", "OTHER ORDER", units[1], Arithmetic("", units[1].block, units[1].bits, 2)),
                ("unit and splits", "ROUNDING", units[0], Arithmetic("", units[1].block, units[1].bits, 4)),
                ("more splits", "OTHER ORDER", Arithmetic("", units[0].block, units[0].bits, 2),
                 Arithmetic("", units[0].block, units[0].bits, 4)),
            ]  # fmt: skip
            for name, wanted, one, two in pairs:
                yield Made(
                    f"{name} {dtype.__name__} {size}", wanted, a, b, one.product(a, b), two.product(a, b)
                )
        a, b = operands(rng, size)
        d = chain(a, b, np.zeros((size[0], size[1]), np.float32))
        yield Made(f"multiply-adds {size}", "ROUNDING", a, b, AMPERE.product(a, b), d)
        narrow = Arithmetic("", 16, 25, 1, np.float16).product(a, b)
        wide = Arithmetic("", 8, 24, 1, np.float16).product(a, b)
        if (narrow != wide).any():
            yield Made(f"narrow output {size}", "ROUNDING", a, b, wide, narrow)
        else:
            yield Made(f"narrow output {size}", "SAME", a, b, wide, narrow)


def bugs(seed: int, arch: Arithmetic = AMPERE, other: Arithmetic | None = None) -> Iterator[Made]:
    """Bugs of a product, twenty of each size; `other`: GOT is made by another unit besides."""
    for i, size in enumerate(SIZES):
        yield from _bugs(np.random.default_rng([seed, i, 7]), size, arch, other or arch)


def _bugs(
    rng: np.random.Generator, size: tuple[int, int, int], arch: Arithmetic, made: Arithmetic
) -> Iterator[Made]:
    """Those of one size."""
    a, b = operands(rng, size)
    m, n, k = size
    right, mine = arch.product(a, b), made.product(a, b)
    bias = rng.standard_normal(n).astype(np.float32)
    c = rng.standard_normal((m, n)).astype(np.float32)

    def of(name: str, got: Values, says: str, expected: Values | None = None, **more: Any) -> Made:
        first = right if expected is None else expected
        return Made(f"{name} {size}", "BUG", a, b, first, got, more, says)

    yield of("last tile", made.product(_of_k(a, k - 16, k, 0), b), "missing")
    yield of("second quarter", made.product(_of_k(a, k // 4, k // 2, 0), b), "missing")
    yield of("twice", made.product(_of_k(a, k // 2, k // 2 + 16, 2), b), "twice")
    yield of("negated", made.product(_of_k(a, 8, 16, -1), b), "subtracted")
    share = a.copy()
    share[:, np.arange(k) // 8 % 4 == 1] = 0
    yield of("a warp's share", made.product(share, b), "missing")
    rows = mine.copy()
    rows[[1, 9]] = rows[[9, 1]]
    yield of("rows", rows, "rows 1 and 9")
    columns = mine.copy()
    columns[:, [2, 5]] = columns[:, [5, 2]]
    yield of("columns", columns, "columns 2 and 5")
    tile = mine.copy()
    tile[8:16, 8:16] = mine[8:16, 8:16].T
    yield of("transposed", tile, "transposed")
    again = mine.copy()
    again[8:16, 0:8] = mine[0:8, 8:16]
    yield of("another tile", again, "tile")
    zeros = mine.copy()
    zeros[0:8, 8:16] = 0
    yield of("not written", zeros, "zero")
    flipped = mine.copy()
    flipped.view(np.uint32)[3, 7] ^= np.uint32(1 << 20)
    yield of("bit", flipped, "bit 20")
    lost = mine.copy()
    lost[5, 5] = np.nan
    yield of("NaN", lost, "NaN")
    yield of("bias missing", mine, "bias", (right + bias).astype(np.float32), bias=bias)
    yield of("bias twice", (mine + (bias + bias)).astype(np.float32), "bias",
             (right + bias).astype(np.float32), bias=bias)  # fmt: skip
    yield of("C missing", mine, "C is missing", (right + c).astype(np.float32), c=c)
    yield of(
        "C subtracted",
        (mine - c).astype(np.float32),
        "C is subtracted",
        (right + c).astype(np.float32),
        c=c,
    )
    yield of("alpha left out", mine, "alpha", (np.float32(0.75) * right).astype(np.float32), alpha=0.75)
    yield of("alpha twice", (np.float32(0.5625) * mine).astype(np.float32), "alpha",
             (np.float32(0.75) * right).astype(np.float32), alpha=0.75)  # fmt: skip
    cast = (x.astype(ml_dtypes.bfloat16).astype(np.float16) for x in (a, b))
    yield of("operands cast", made.product(*cast), "bf16")
    yield of("rounded twice", mine.astype(np.float16).astype(np.float32), "fp16")


def combinations(seed: int) -> Iterator[Made]:
    """Bugs on top of another GPU's rounding: ten of each size."""
    names = (
        "last tile", "second quarter", "twice", "rows", "transposed", "not written", "bias missing",
        "C missing", "alpha left out", "operands cast",
    )  # fmt: skip
    for case in bugs(seed + 1, AMPERE, HOPPER):
        if case.name.rpartition(" (")[0] in names:
            yield case


def every_case(seed: int = 20) -> list[Made]:
    """The 120 cases."""
    return [*roundings(seed), *bugs(seed), *combinations(seed)]
