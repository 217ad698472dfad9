"""MARY's Model 1 as definitions: formats with optional range and subnormals, and Algorithm 4.1.

Every rounding is computed by a unit; optional range and subnormals select between the results of two units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.errors import values_of
from tcformal.design.names import resolve
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import encode_exact
from tcformal.semantics.dot_product import unit_dot
from tcformal.simulation.kernels.cut import DotCall
from tcformal.simulation.kernels.gemm import Gemm, MatrixWords
from tcformal.simulation.kernels.threads import Work
from tcformal.simulation.matrix_unit import unit

Floats = NDArray[np.float64]
#: Exponent bits of binary64, whose range stands for none.
_WIDE, _BINARY64 = 11, 52


@dataclass(frozen=True, slots=True)
class Precision:
    """A format of Table 2.1: t bits of precision, an exponent range, with or without subnormals."""

    name: str
    t: int
    least: int
    most: int
    largest: float

    @property
    def u(self) -> float:
        """The unit roundoff 2^-t."""
        return 2.0**-self.t

    def spacing(self, subnormals: bool) -> float:
        """The spacing g_min: the maximal distance of a number below the normal range to the format."""
        return 2.0**self.least * (self.u if subnormals else 0.5)


def precision_of(fmt: Format) -> Precision:
    """A format in the terms of the model."""
    largest = float(values_of(np.array([fmt.largest], f"u{fmt.storage_bits // 8}"), fmt)[0])
    return Precision(fmt.name, fmt.precision, fmt.e_min, fmt.e_max, largest)


@lru_cache(maxsize=32)
def _rounder(name: str, mode: str) -> tuple[Any, Format]:
    """A unit that rounds binary64 numbers to a format in one mode."""
    design = (
        f"sequential@a_format=fp64,b_format=e2m1,c_format={name},d_format={name},products=1,rounding={mode}"
    )
    return unit(design), format_named(name)


def _nearest(x: Floats, name: str, mode: str = "RNE") -> Floats:
    """Round numbers to an IEEE-like format, to nearest or in another mode."""
    u, fmt = _rounder(name, mode)
    words = np.ascontiguousarray(x).reshape(-1, 1).view(np.uint64)
    one = np.full(words.shape, format_named("e2m1").one, np.uint8)
    d = u.dot_bits(words, one, np.zeros(len(words), f"u{fmt.storage_bits // 8}"))
    if fmt.exponent_bits == _WIDE:
        wide = d.astype(np.uint64) << np.uint64(_BINARY64 - fmt.fraction_bits)
        return np.asarray(wide.view(np.float64).reshape(x.shape))
    return values_of(d, fmt).reshape(x.shape)


def cut(x: Floats, p: Precision) -> Floats:
    """Round toward zero, with subnormals; |x| is at most p.largest."""
    name, moved = _moved(p)
    return _nearest(x * moved, name, "RZ") / moved


def _moved(p: Precision) -> tuple[str, float]:
    """An IEEE-like format that contains another format times a power of two, and that power."""
    span = p.most - p.least
    bits, least = (5, -14) if span < 30 else (6, -30) if span < 62 else (8, -126)
    return f"e{bits}m{p.t - 1}", 2.0 ** (least - p.least)


def rounded(x: Floats, p: Precision, *, subnormals: bool, bounded: bool) -> Floats:
    """The rounding fl of the model: to nearest, ties to even; optionally without subnormals or without range.

    Ranges and units: |x| at most p.largest; `bounded` False: as if exponents had no range.
    """
    if not bounded:
        return _nearest(x, f"e{_WIDE}m{p.t - 1}")
    name, moved = _moved(p)
    near = _nearest(x * moved, name) / moved
    if subnormals:
        return near
    # Its subnormals, moved, are the multiples of the least normal number.
    coarse = moved * 2.0 ** (1 - p.t)
    return np.where(
        np.abs(x) < 2.0**p.least,
        _nearest(np.where(np.abs(x) < 2.0**p.least, x, 0) * coarse, name) / coarse,
        near,
    )


class Accumulation:
    """The compiled update C ← FL(C + 2^shift·FL(a·b)) over all k."""

    def __init__(self, inputs: Format, accumulator: str, shift: int, *, subnormals: bool) -> None:
        self.wide = inputs.exponent_bits == _WIDE
        self.inputs, self.accumulator = inputs, format_named(accumulator)
        c, d = accumulator, self.accumulator
        g = Graph()
        x, y = g.input("a[0]", inputs.width), g.input("b[0]", inputs.width)
        total = g.input("c", d.width)
        start = (
            f"sequential@a_format={inputs.name},b_format={inputs.name},c_format={c},d_format={c},products=1"
        )
        scale = format_named("e6m1")
        step = f"sequential@a_format={c},b_format={scale.name},c_format={c},d_format={c},products=1"
        with g.scope("product"):
            product = self._sum(g, start, x, y, g.const(0, d.width), subnormals)
        with g.scope("sum"):
            factor = g.const(encode_exact(scale, power_of_two(shift)), scale.width)
            made = self._sum(g, step, product, factor, total, subnormals)
        finite = [0, d.one, d.largest, 1 << (d.width - 1), d.sign_bit | d.largest]
        narrow = [0, inputs.one, inputs.largest, inputs.sign_bit | inputs.largest]
        storage = {
            "a": inputs.storage_bits,
            "b": inputs.storage_bits,
            "c": d.storage_bits,
            "d": d.storage_bits,
        }
        self._gemm = Gemm(
            DotCall(graph=g, root=made, k=1, scales=0, storage=storage, scale_one=0,
                    finite={"a": narrow, "b": narrow, "c": finite, "d": finite}, chained=True),
            "a",
        )  # fmt: skip

    def _sum(self, g: Graph, name: str, x: Node, y: Node, c: Node, subnormals: bool) -> Node:
        """The rounded FL(x·y + c); without subnormals, the nearer of 0 and the least normal number."""
        d = self.accumulator
        with g.scope("near"):
            near = unit_dot(g, resolve(name), [x], [y], c).result
        # No sum of the wider accumulators comes near their least number.
        if subnormals or d.name != "fp16":
            return near
        coarse = name.replace(f"d_format={d.name}", "d_format=e4m8")
        with g.scope("coarse"):
            steps = unit_dot(g, resolve(coarse), [x], [y], c).result
        fields = g.extract(near, d.width - 2, d.fraction_bits)
        nonzero = g.any_bit(g.extract(steps, format_named("e4m8").width - 2, 0))
        sign = g.bit(near, d.width - 1)
        least = g.concat(sign, g.const(1 << d.fraction_bits, d.width - 1))
        return g.ite(g.any_bit(fields), near, g.ite(nonzero, least, g.concat(sign, g.const(0, d.width - 1))))

    def words(self, x: Floats, fmt: Format) -> NDArray[Any]:
        """The encodings of numbers that a format contains."""
        if fmt.exponent_bits == _WIDE:
            bits = np.ascontiguousarray(x).view(np.uint64) >> np.uint64(_BINARY64 - fmt.fraction_bits)
            return np.asarray(bits.astype(f"u{fmt.storage_bits // 8}"))
        dtype: Any = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "fp16": np.float16,
                      "fp32": np.float32}[fmt.name]  # fmt: skip
        return np.ascontiguousarray(x.astype(dtype)).view(f"u{fmt.storage_bits // 8}")

    def add(self, c: Floats, a: Floats, b: Floats, work: Work) -> Floats:
        """C after all k: a [m, n], b [n, q], c [m, q], with elements in the formats."""
        operands = MatrixWords(
            self.words(a, self.inputs), self.words(b, self.inputs), self.words(c, self.accumulator)
        )
        d = np.ascontiguousarray(self._gemm.multiply(operands, work))
        if self.wide:
            shift = np.uint64(_BINARY64 - self.accumulator.fraction_bits)
            return np.asarray((d.astype(np.uint64) << shift).view(np.float64))
        return values_of(d, self.accumulator)
