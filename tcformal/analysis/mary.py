"""MARY's Model 1 as definitions, and Figures 5.1 and 5.2: errors of scaled, multiword products against n.

Sums of products are compiled from units; a sum without subnormals selects between the results of two units.
Source: MARY §5; the generator of its data and the order of its draws are those of its published script
(narrow-range-FP-underflow-experiments, 95b7205).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import values_of
from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_choice, check_int
from tcformal.design.names import resolve
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.files import read_named
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import decode, encode_exact
from tcformal.semantics.dot_product import unit_dot
from tcformal.simulation import arrays
from tcformal.simulation.kernels.cut import DotCall
from tcformal.simulation.kernels.gemm import Gemm, MatrixWords
from tcformal.simulation.kernels.threads import Work
from tcformal.simulation.matrix_unit import Unit, unit

Floats = NDArray[np.float64]
Key = TypeVar("Key")
#: Exponent bits of binary64, whose range stands for none.
_WIDE, _BINARY64 = 11, 52


@dataclass(frozen=True, slots=True)
class Precision:
    """A format of Table 2.1: t bits of precision, the least normal exponent, and the largest number."""

    t: int
    least: int
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
    return Precision(fmt.precision, fmt.e_min, float(decode(fmt, fmt.largest).number))


def theta(p: Precision, q: Precision, n: int) -> float:
    """The bound on scaled elements of which n products in precision p overflow no sum in q."""
    return min(p.largest, math.sqrt(q.largest / n))


def rounded(
    x: Floats, p: Precision, *, subnormals: bool = True, bounded: bool = True, whole: np.ufunc = np.rint
) -> Floats:
    """The rounding fl of the model: to nearest, ties to even; optionally without subnormals or without range.

    Ranges and units: |x| at most p.largest; `bounded` False: as if exponents had no range; `whole`: rounds to
    integers, `numpy.trunc` to round toward zero.
    """
    spacing = np.frexp(x)[1] - p.t
    if bounded:
        least = p.least + 1 - p.t if subnormals else p.least
        spacing = np.where(np.abs(x) < 2.0**p.least, least, spacing)
    return np.asarray(np.ldexp(whole(np.ldexp(x, -spacing)), spacing))


class Accumulation:
    """The compiled update C ← FL(C + 2^shift·FL(a·b)) over all k."""

    def __init__(self, inputs: Format, accumulator: str, shift: int, *, subnormals: bool) -> None:
        self.wide = inputs.exponent_bits == _WIDE
        self.inputs, self.accumulator = inputs, format_named(accumulator)
        c, d = accumulator, self.accumulator
        g = Graph()
        x, y = g.input("a[0]", inputs.width), g.input("b[0]", inputs.width)
        total = g.input("c", d.width)
        scale = format_named("e6m1")
        start, step = (
            f"sequential@a_format={a},b_format={b},c_format={c},d_format={c},products=1"
            for a, b in ((inputs.name, inputs.name), (c, scale.name))
        )
        with g.scope("product"):
            product = self._sum(g, start, x, y, g.const(0, d.width), subnormals)
        with g.scope("sum"):
            factor = g.const(encode_exact(scale, power_of_two(shift)), scale.width)
            made = self._sum(g, step, product, factor, total, subnormals)
        finite = [0, d.one, d.largest, 1 << (d.width - 1), d.sign_bit | d.largest]
        narrow = [0, inputs.one, inputs.largest, inputs.sign_bit | inputs.largest]
        storage = dict.fromkeys("ab", inputs.storage_bits) | dict.fromkeys("cd", d.storage_bits)
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
        return arrays.to_raw("a word", x.astype(arrays.dtype_of(fmt)), fmt)

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


#: Real units with fp32 results by input format: Hopper, Ada, Blackwell and CDNA3.
REAL = (
    "hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "hopper/wgmma.m64n8k32.f32.e5m2.e5m2",
    "hopper/mma.m16n8k16.f32.f16.f16.f32", "ada/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "ada/mma.m16n8k32.f32.e5m2.e5m2.f32", "ada/mma.m16n8k16.f32.f16.f16.f32",
    "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3",
    "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e5m2.e5m2", "cdna3/v_mfma_f32_16x16x32_fp8_fp8",
    "cdna3/v_mfma_f32_16x16x32_bf8_bf8", "cdna3/v_mfma_f32_32x32x8_f16",
)  # fmt: skip


def added(total: NDArray[np.float32], d: NDArray[np.float32], shift: int) -> NDArray[np.float32]:
    """The sum total + 2^-shift · d, rounded once to binary32."""
    factor = np.full((d.size, 1), 2.0**-shift, np.float32)
    a, b, c = (np.ascontiguousarray(x).view(np.uint32) for x in (d.reshape(-1, 1), factor, total.reshape(-1)))
    words = unit("sequential@format=fp32,products=1").dot_bits(a, b, c)
    return words.astype(np.uint32).view(np.float32).reshape(total.shape)


#: Outer dimensions, the largest decimal exponent of an element, and the inner dimensions.
SIDE, DECADES = 10, 10
LENGTHS = tuple(math.floor(x) for x in np.logspace(1, 6, 40))
#: Input and accumulation formats in the order in which the published data were made.
COMBINATIONS = (
    ("e4m3", "fp16"), ("e5m2", "fp16"), ("e4m3", "fp32"), ("e5m2", "fp32"), ("fp16", "fp32"),
)  # fmt: skip
FIGURES = {"mary-5.1": ("fp16",), "mary-5.2": ("fp32",)}


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve of a figure: formats, number of words, subnormals or not."""

    inputs: str
    accumulator: str
    words: int
    subnormals: bool

    def __str__(self) -> str:
        kept = "with" if self.subnormals else "without"
        return f"{self.inputs}/{self.accumulator}, p = {self.words}, {kept} subnormals"


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve: the published quantities, and additional ones.

    Ranges and units: errors are ‖Ĉ - AB‖∞ / (‖A‖∞‖B‖∞); `unbounded` is the error without a range of
    exponents; `bound` and `bound_unbounded` are the columns of the published data, `theorem` is (3.25) for
    one word and (4.32) for more; `units` are the errors of real units in the model's place, by name.
    """

    curve: Curve
    n: int
    error: float
    bound: float
    unbounded: float
    bound_unbounded: float
    theorem: float
    units: tuple[tuple[str, float], ...]


def curves() -> tuple[Curve, ...]:
    """All 30 curves in the order of the published data."""
    return tuple(Curve(a, c, p, on) for a, c in COMBINATIONS for p in (1, 2, 3) for on in (False, True))


def curves_of(figure: str) -> tuple[Curve, ...]:
    """The curves of one figure; UnknownNameError for another."""
    wanted = FIGURES[check_choice("figure", figure, FIGURES)]
    return tuple(c for c in curves() if c.accumulator in wanted)


class Draws:
    """MATLAB's generator rng(1): the Mersenne Twister, with matrices filled column by column."""

    def __init__(self) -> None:
        # The published data are those of this very generator.
        self._state = np.random.RandomState(1)

    def uniform(self, rows: int, columns: int) -> Floats:
        """MATLAB's rand(rows, columns)."""
        return self._state.random_sample(rows * columns).reshape(columns, rows).T

    def skip(self, count: int) -> None:
        """Skip the numbers that earlier curves draw."""
        while count:
            part = min(count, 1 << 22)
            self._state.random_sample(part)
            count -= part

    def matrices(self, n: int) -> tuple[Floats, Floats]:
        """The matrices A and B of a point: magnitudes of both are drawn first, then signs."""
        a = 10.0 ** (self.uniform(SIDE, n) * 2 * DECADES - DECADES)
        b = 10.0 ** (self.uniform(n, SIDE) * 2 * DECADES - DECADES)
        signs = [np.floor(2 * self.uniform(*shape)) * 2 - 1 for shape in ((SIDE, n), (n, SIDE))]
        return a * signs[0], b * signs[1]


def in_order(
    curves: Iterable[Key], chosen: Sequence[Key], lengths: Sequence[int], count: int
) -> Iterator[tuple[Key, int, Draws]]:
    """The first points of chosen curves, each with the generator where the published data were drawn.

    What nobody reads after the last chosen curve is not drawn.
    """
    draws, passed = Draws(), 0
    for curve in curves:
        if curve not in chosen:
            passed += sum(lengths)
            continue
        draws.skip(4 * SIDE * passed)
        for n in lengths[:count]:
            yield curve, n, draws
        passed = sum(lengths[count:])


@lru_cache(maxsize=64)
def _sums(inputs: str, accumulator: str, shift: int, subnormals: bool) -> Accumulation:
    return Accumulation(format_named(inputs), accumulator, shift, subnormals=subnormals)


def _scales(size: Floats, theta: float) -> Floats:
    """The powers of two of (3.4): the largest not above theta / size."""
    return np.asarray(2.0 ** np.floor(np.log2(theta / size)))


def _norm(x: Floats) -> float:
    """The norm ‖x‖∞."""
    return float(np.abs(x).sum(1).max())


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """A matrix product: A, B, the exact result in binary64, and the scalings."""

    a: Floats
    b: Floats
    left: Floats
    right: Floats

    def error(self, scaled: Floats) -> float:
        """The error ‖Ĉ - AB‖∞ / (‖A‖∞‖B‖∞)."""
        c = (1 / self.left)[:, None] * scaled * (1 / self.right)
        return _norm(c - self.a @ self.b) / _norm(self.a) / _norm(self.b)

    def words(
        self, p: Precision, count: int, fl: Callable[[Floats], Floats]
    ) -> tuple[list[Floats], list[Floats]]:
        """The words (4.3) of the scaled matrices ΛA and BM, each including its power of u as published."""

        def decomposed(x: Floats) -> list[Floats]:
            parts, rest = [fl(x)], x
            for j in range(1, count):
                rest = rest - parts[-1] * p.u ** (j - 1)
                parts.append(fl(rest / p.u**j))
            return parts

        return decomposed(self.left[:, None] * self.a), decomposed(self.b * self.right)


def scaled_product(a: Floats, b: Floats, theta: float) -> MatrixProduct:
    """A and B with scalings that bound their elements by theta."""
    return MatrixProduct(a, b, _scales(np.abs(a).max(1), theta), _scales(np.abs(b).max(0), theta))


def pairs_of_words(words: int) -> list[tuple[int, int]]:
    """The pairs of word indices whose products are computed, in order."""
    return [(j, k) for j in range(words) for k in range(words) if j + k < words]


def _model(x: MatrixProduct, curve: Curve, p: Precision, bounded: bool, work: Work) -> float:
    """The error of the paper's model, with bounded or unbounded exponent range."""
    fl = partial(rounded, p=p, subnormals=curve.subnormals, bounded=bounded)
    left, right = x.words(p, curve.words, fl)
    accumulated = format_named(curve.accumulator)
    inputs, accumulator = curve.inputs, curve.accumulator
    if not bounded:
        inputs, accumulator = f"e11m{p.t - 1}", f"e11m{accumulated.fraction_bits}"
    c = np.zeros((SIDE, SIDE))
    for j, k in pairs_of_words(curve.words):
        sums = _sums(inputs, accumulator, -p.t * (j + k), curve.subnormals or not bounded)
        c = sums.add(c, left[j], right[k], work)
    return x.error(c)


def _real(a: Floats, b: Floats, curve: Curve, u: Unit) -> float:
    """The error with a real unit in place of the model; word products are added in binary32."""
    p, large = precision_of(u.a_format), precision_of(u.d_format)
    x = scaled_product(a, b, theta(p, large, a.shape[1]))
    left, right = x.words(p, curve.words, partial(rounded, p=p, subnormals=curve.subnormals))
    total = np.zeros((SIDE, SIDE), np.float32)
    dtype = arrays.dtype_of(u.a_format)
    for j, k in pairs_of_words(curve.words):
        d = u.matmul(left[j].astype(dtype), right[k].astype(dtype), progress=False)
        total = added(total, d.astype(np.float32), p.t * (j + k))
    return x.error(total.astype(np.float64))


def theorem(curve: Curve, n: int) -> float:
    """The error bound of the paper: (3.25) for one word, (4.32) for several."""
    p, q = precision_of(format_named(curve.inputs)), precision_of(format_named(curve.accumulator))
    top = theta(p, q, n)
    g, big = p.spacing(curve.subnormals) / top, q.spacing(curve.subnormals) / top**2
    if curve.words == 1:
        own = 2 * p.u + p.u**2 + 4 * n**2 * g * (1 + p.u + g)
        return own * (1 + n * q.u) + n * q.u + 8 * n**2 * big
    w = curve.words
    return (w + 1) * p.u**w + 4 * n * p.u ** (w - 1) * g + (n + w**2) * q.u + 4 * w * (w + 1) * n**2 * big


def points(
    chosen: Sequence[Curve],
    *,
    count: int = len(LENGTHS),
    units: Sequence[Unit] = (),
    progress: Progress = ignore,
) -> Iterator[Point]:
    """Compute the first `count` points of some curves from the same random numbers as the published ones.

    Ranges and units: count from 1 to 40; `units` take the model's place on the curves of their input format;
    CDNA3's own formats take that of the OCP's.
    Errors: InputError for a count out of range, or a unit whose formats no curve has.
    """
    check_int("count", count, low=1, high=len(LENGTHS))
    for u in units:
        if _input_of(u) not in {c.inputs for c in chosen} or u.d_format.name != "fp32" or u.scale_format:
            raise InputError(
                f"expected units of the curves' input formats with fp32 results and no scales, "
                f"but got {u.name}"
            )
    for curve, n, draws in in_order(curves(), chosen, LENGTHS, count):
        progress(f"{curve}: n = {n}")
        yield _point(curve, n, draws.matrices(n), units)


def real_units(chosen: Sequence[Curve]) -> list[str]:
    """The names of the real units whose input formats occur in the curves."""
    return [name for name in REAL if _input_of(unit(name)) in {c.inputs for c in chosen}]


def _input_of(u: Unit) -> str:
    """The OCP format that corresponds to a unit's input format."""
    return u.a_format.name.removesuffix("fnuz") if u.a_format == u.b_format else ""


def _point(curve: Curve, n: int, drawn: tuple[Floats, Floats], units: Sequence[Unit]) -> Point:
    p, q = precision_of(format_named(curve.inputs)), precision_of(format_named(curve.accumulator))
    top = theta(p, q, n)
    x = scaled_product(*drawn, top)
    with Work(None, False) as work:
        errors = [_model(x, curve, p, bounded, work) for bounded in (True, False)]
    plain = 2 * p.u + n * q.u
    published = plain + 4 * n**2 * 2.0**p.least / top + 4 * n**2 * 2.0**q.least / top**2
    real = [(u.name, _real(*drawn, curve, u)) for u in units if _input_of(u) == curve.inputs]
    return Point(curve, n, errors[0], published, errors[1], plain, theorem(curve, n), tuple(real))


def row(point: Point) -> tuple[Any, ...]:
    """The columns of a point, formatted as in the published data."""
    numbers = point.error, point.bound, point.unbounded, point.bound_unbounded
    return (point.n, *(f"{x:e}" for x in numbers))


#: Formats as the names of the published files spell them.
_NAMES = {"e4m3": "fp8-e4m3", "e5m2": "fp8-e5m2", "fp16": "binary16", "fp32": "binary32"}
#: The columns of a line.
COLUMNS = ("n", "error", "bound", "error-nrl", "bound-nrl")
#: A length as a line gives it, and characters of a wrong line that a message shows.
_N, _SHOWN = re.compile("[0-9]{1,9}"), 80


@dataclass(frozen=True, slots=True)
class Difference:
    """A number that differs from the published one, both as printed; `published` is "none" for a missing
    line."""

    curve: object
    n: int
    column: str
    ours: str
    published: str

    def __str__(self) -> str:
        return f"{self.curve}, n = {self.n}: {self.column} is {self.ours}, published {self.published}"


def data_name(curve: Curve) -> str:
    """The file name of a curve's published points."""
    a, c = _NAMES[curve.inputs], _NAMES[curve.accumulator]
    return f"matmul_test_{a}_{c}_subnormals{int(curve.subnormals)}_words_{curve.words}.dat"


def lines_by_n(path: Path, columns: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """The lines of a published file by n, as printed columns.

    Errors: InputError for a file that is missing or has other columns.
    """
    lines = [line.split() for line in read_named(path, "published data").splitlines() if line.strip()]
    if not lines or tuple(lines[0]) != tuple(columns):
        got = " ".join(lines[0])[:_SHOWN] if lines else "nothing"
        raise InputError(f"expected the columns {' '.join(columns)} in {path}, but got {got}")
    for line in lines[1:]:
        if len(line) != len(columns) or not _N.fullmatch(line[0]):
            got = " ".join(line)[:_SHOWN]
            raise InputError(f"expected n and {len(columns) - 1} numbers in {path}, but got {got}")
    return {int(line[0]): tuple(line) for line in lines[1:]}


def compared(
    folder: str | Path, columns: Sequence[str], found: Sequence[tuple[object, str, tuple[str, ...]]]
) -> Iterator[Difference]:
    """The printed numbers of curves that differ from the published ones in files of a folder.

    Errors: InputError for a file that is missing or has other columns.
    """
    lines = {file: lines_by_n(Path(folder) / file, columns) for file in dict.fromkeys(x[1] for x in found)}
    for curve, file, ours in found:
        theirs = lines[file].get(int(ours[0]), ("none",) * len(columns))
        for column, mine, other in zip(columns, ours, theirs, strict=True):
            if mine != other:
                yield Difference(curve, int(ours[0]), column, mine, other)


def differences(folder: str | Path, points: Sequence[Point]) -> Iterator[Difference]:
    """The numbers of some points that differ, as printed, from the published data."""
    return compared(folder, COLUMNS, [(x.curve, data_name(x.curve), tuple(map(str, row(x)))) for x in points])
