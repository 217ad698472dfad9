"""Random matrix products: their elements, and their errors against exact sums in units of u·|A||B|."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.checks import check_choice, check_int, check_text, shown
from tcformal.design.integer_sums import check_floating
from tcformal.design.unit import product_signs
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.numerals import parse_magnitude
from tcformal.oracle.values import NumberClass, decode, parse_value
from tcformal.semantics.chain import scale_count
from tcformal.simulation import arrays
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.runnable import RunnableProgram

#: Distributions of matrix elements, before they are rounded to their format.
DISTRIBUTIONS: dict[str, str] = {
    "normal": "standard normal numbers",
    "uniform": "uniform in [0, 1)",
    "symmetric": "uniform in [-1, 1)",
    "encodings": "every finite encoding as likely",
}
#: The widest format whose values are tabled.
WIDEST = 16


@dataclass(frozen=True, slots=True)
class Weighted:
    """A discrete distribution: finitely many values of a format with their weights.

    Shapes: words, weights: of equal length, at least 1; the words' values are different and finite.
    Ranges and units: weights are integers of at least 1, without a common factor.
    """

    fmt: Format
    words: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    def values(self) -> list[Fraction]:
        """The values of the encodings."""
        return [decode(self.fmt, x).number for x in self.words]

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(self.weights)

    def mean(self, size: bool = False) -> Fraction:
        """The mean E[x], or E[|x|] with `size`."""
        rows = zip(self.values, self.weights, strict=True)
        return sum((abs(v) * w if size else v * w for v, w in rows), Fraction(0)) / self.total


@lru_cache(maxsize=16)
def table(fmt: Format) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
    """The finite values of a format in ascending order with their encodings, without duplicates."""
    if fmt.width > WIDEST:
        raise InputError(f"expected a format of at most {WIDEST} bits to be tabled, but got {fmt.name}")
    rows = [(decode(fmt, x), x) for x in range(1 << fmt.width)]
    kept = {float(v.number): x for v, x in reversed(rows) if v.kind is NumberClass.FINITE}
    values = np.array(sorted(kept), np.float64)
    return values, np.array([kept[float(v)] for v in values], np.uint64)


def weighted(fmt: Format, distribution: str, letter: str = "a") -> Weighted | None:
    """The discrete distribution of A's or B's elements; None for a continuous one.

    Ranges and units: as for `drawn`; the finite values of a tabled format where every encoding is as likely.
    Errors: those of `drawn`.
    """
    text = _own(distribution, letter)
    if text == "encodings" and fmt.width <= WIDEST:
        words = tuple(table(fmt)[1].tolist())
        return Weighted(fmt, words, (1,) * len(words))
    if ":" not in text:
        check_choice("distribution", text, DISTRIBUTIONS)
        return None
    found: dict[Fraction, tuple[int, Fraction]] = {}
    for item in text.split(","):
        value, _, weight = (x.strip() for x in item.rpartition(":"))
        word, often = parse_value(fmt, value), parse_magnitude(weight)
        v = decode(fmt, word)
        if v.kind is not NumberClass.FINITE or not often:
            raise InputError(f"expected a finite VALUE:WEIGHT with a weight above 0, but got {shown(item)}")
        if v.number in found:
            raise InputError(f"expected each value once in a distribution, but got {shown(value)} twice")
        found[v.number] = (word, often)
    common = math.lcm(*(w.denominator for _, w in found.values()))
    counts = [int(w * common) for _, w in found.values()]
    least = math.gcd(*counts)
    return Weighted(fmt, tuple(x for x, _ in found.values()), tuple(n // least for n in counts))


def _own(distribution: str, letter: str) -> str:
    """The part of a distribution's text for one operand: A's before a semicolon, B's after it, or both."""
    first, both, second = check_text("distribution", distribution).partition(";")
    return (second if both and letter == "b" else first).strip()


def drawn(
    rng: np.random.Generator, fmt: Format, shape: tuple[int, ...], distribution: str, letter: str = "a"
) -> NDArray[Any]:
    """Random encodings from a distribution, rounded to the nearest number of the format.

    Ranges and units: a name of DISTRIBUTIONS, or VALUE:WEIGHT,VALUE:WEIGHT,… of values that the format holds
    and weights above 0; `A;B` where B's elements have another distribution than A's.  Numbers beyond the
    largest finite one become that one.
    Errors: UnknownNameError for another distribution, InputError for values or weights that do not fit, and
    for a format of more than 16 bits without a dtype of NumPy.
    """
    law = weighted(fmt, distribution, letter)
    if law is not None:
        alike = len(set(law.weights)) == 1
        chances = None if alike else np.array([w / law.total for w in law.weights])
        return np.asarray(rng.choice(np.array(law.words, np.uint64), shape, p=chances))
    name = _own(distribution, letter)
    if name == "encodings":
        words = rng.integers(0, 1 << fmt.width, shape, dtype=np.uint64)
        return np.where(fmt.is_special(words), np.uint64(0), words)
    x = rng.standard_normal(shape) if name == "normal" else rng.random(shape)
    x = 2 * x - 1 if name == "symmetric" else x
    if fmt.width > WIDEST:
        if fmt.name not in arrays.dtypes():
            raise InputError(f"expected a format of at most {WIDEST} bits to draw, but got {fmt.name}")
        made = np.ascontiguousarray(x.astype(arrays.dtype_of(fmt)))
        return made.view(f"u{made.itemsize}").astype(np.uint64)
    values, words = table(fmt)
    above = np.clip(np.searchsorted(values, x), 1, len(values) - 1)
    nearer = np.where(x - values[above - 1] <= values[above] - x, above - 1, above)
    return np.asarray(words[nearer], np.uint64)


#: Products that are summed exactly at most.
_LARGEST = 1 << 28
#: The quantiles that are reported.
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class ErrorSample:
    """The errors of some elements of one matrix product, or of several products.

    Shapes: errors, sizes [n].
    Ranges and units: `errors` are fl - xᵀy as float64, each the exact difference rounded once;
    `sizes` are Σ|x_k·y_k|, to 1e-13; `relative` is errors / (u·sizes), u = 2^-p of D's format.
    Elements that are not finite are left out, and counted.
    """

    unit: Unit | RunnableProgram
    length: int
    errors: NDArray[np.float64]
    sizes: NDArray[np.float64]
    not_finite: int

    @property
    def relative(self) -> NDArray[np.float64]:
        """Errors in units of u·|A||B|."""
        return in_units(self.unit.d_format, self.errors, self.sizes)

    @property
    def quantiles(self) -> dict[float, float]:
        """Quantiles of the absolute value of the relative errors."""
        if not self.errors.size:
            return {}
        values = np.quantile(np.abs(self.relative), QUANTILES)
        return dict(zip(QUANTILES, map(float, values), strict=True))


def in_units(d: Format, errors: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Errors in units of u·sizes, with u = 2^-precision; 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = errors / (sizes * 2.0**-d.precision)
    return np.asarray(np.where(errors == 0, 0.0, ratios), np.float64)


def values_of(raw: NDArray[Any], fmt: Format) -> NDArray[np.float64]:
    """The values of encodings as float64, exact for formats of at most 53 bits of precision.

    Zero, NaN, Inf: as in the format.
    """
    if fmt.name in arrays.dtypes() and fmt.name not in ("tf32", "ue4m3"):
        return np.asarray(arrays.from_raw(raw, fmt).astype(np.float64))
    if fmt.name == "tf32":
        cut = (raw.astype(np.uint32) >> np.uint32(13)) << np.uint32(13)
        return np.asarray(cut.view(np.float32).astype(np.float64))
    if fmt.width > WIDEST:
        return np.array([_float(fmt, int(x)) for x in raw.reshape(-1)], np.float64).reshape(raw.shape)
    return np.asarray(_floats(fmt)[raw.astype(np.int64)])


def products_of(a: Format, b: Format, xs: Iterable[int], ys: Iterable[int]) -> list[Fraction]:
    """The exact products of finite numbers, by their encodings in two formats."""
    return [decode(a, x).number * decode(b, y).number for x, y in zip(xs, ys, strict=True)]


@lru_cache(maxsize=16)
def _floats(fmt: Format) -> NDArray[np.float64]:
    """The values of all words of a format."""
    return np.array([_float(fmt, x) for x in range(1 << fmt.width)])


def _float(fmt: Format, word: int) -> float:
    value = decode(fmt, word)
    if value.kind is NumberClass.NAN:
        return math.nan
    size = math.inf if value.kind is NumberClass.INF else float(value.magnitude)
    return -size if value.sign else size


def error_sample(
    unit: Unit | RunnableProgram,
    length: int,
    *,
    elements: int = 4096,
    distribution: str = "normal",
    seed: int = 0,
) -> ErrorSample:
    """Errors of random dot products of one length, c = 0.

    Shapes: `elements` dot products, rounded up to a square matrix.
    Ranges and units: length from 1 to 2^20, elements from 1 to 2^16, together at most 2^28; scales, where a
    unit has them, are 1.
    Errors: InputError for a length that the unit cannot chain; those of `drawn`.
    """
    if isinstance(unit, Unit):
        check_floating(unit.spec, "statistics")
    check_int("length", length, low=1, high=1 << 20)
    check_int("elements", elements, low=1, high=1 << 16)
    check_int("length times elements", length * elements, low=1, high=_LARGEST)
    side = math.isqrt(elements - 1) + 1
    rng = np.random.default_rng([seed, length])
    raw_a = drawn(rng, unit.a_format, (side, length), distribution)
    raw_b = drawn(rng, unit.b_format, (length, side), distribution, "b")
    return measured(unit, arrays.from_raw(raw_a, unit.a_format), arrays.from_raw(raw_b, unit.b_format))


def measured(unit: Unit | RunnableProgram, a: NDArray[Any], b: NDArray[Any]) -> ErrorSample:
    """The errors of every element of A·B on a unit or by a program.

    Shapes: A [M, K], B [K, N] as `Unit.matmul` takes them; one error for each element.
    Errors: those of `Unit.matmul`.
    """
    scales: list[NDArray[Any]] = []
    if isinstance(unit, Unit) and (fmt := unit.scale_format) is not None:
        count = scale_count(unit.spec, a.shape[1])
        shapes = (len(a), count), (count, b.shape[1])
        scales = [arrays.from_raw(np.full(shape, np.uint64(fmt.one)), fmt) for shape in shapes]
    d = unit.matmul(a, b, None, *scales, progress=False)
    result = values_of(arrays.to_raw("D", d, unit.d_format), unit.d_format)
    x = values_of(arrays.to_raw("A", a, unit.a_format), unit.a_format)
    y = values_of(arrays.to_raw("B", b, unit.b_format), unit.b_format)
    rows, along = np.isfinite(x).all(1), np.isfinite(y).all(0)
    finite: NDArray[np.bool_] = np.isfinite(result) & np.outer(rows, along)
    errors = np.zeros(result.shape)
    columns = np.ascontiguousarray(y.T) * signs_of(unit, a.shape[1])
    for i, j in np.argwhere(finite):
        errors[i, j] = difference(unit, float(result[i, j]), x[i], columns[j])
    sizes = np.abs(np.where(np.isfinite(x), x, 0)) @ np.abs(np.where(np.isfinite(y), y, 0))
    return ErrorSample(unit, a.shape[1], errors[finite], sizes[finite], int((~finite).sum()))


def difference(
    unit: Unit | RunnableProgram, d: float, x: NDArray[np.float64], y: NDArray[np.float64]
) -> float:
    """The error d - xᵀy, rounded once; exact products up to 53 bits use binary64, others fractions."""
    if unit.a_format.precision + unit.b_format.precision <= 53 and _in_range(unit):
        return math.fsum([d, *(-x * y).tolist()])
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    return float(Fraction(d) - sum((Fraction(p) * Fraction(q) for p, q in pairs), Fraction(0)))


def signs_of(unit: Unit | RunnableProgram, length: int) -> NDArray[np.float64]:
    """The signs of `length` products in chained calls: -1 for those that a unit subtracts."""
    return np.array(product_signs(unit.spec, length), float) if isinstance(unit, Unit) else np.ones(length)


def _in_range(unit: Unit | RunnableProgram) -> bool:
    """Whether no product of two operands underflows or overflows in binary64."""
    a, b = unit.a_format, unit.b_format
    return a.least_exponent + b.least_exponent >= -1074 and a.e_max + b.e_max < 1020


def growth(
    unit: Unit | RunnableProgram,
    lengths: Sequence[int],
    *,
    elements: int = 4096,
    distribution: str = "normal",
    seed: int = 0,
) -> list[ErrorSample]:
    """Error samples of random dot products at several lengths; arguments as of `error_sample`."""
    return [error_sample(unit, n, elements=elements, distribution=distribution, seed=seed) for n in lengths]
