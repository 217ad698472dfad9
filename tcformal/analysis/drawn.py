"""Random matrix elements: from a distribution's name, or from values with weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.checks import check_choice, check_text, shown
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.numerals import parse_magnitude
from tcformal.oracle.values import NumberClass, decode, parse_value
from tcformal.simulation import arrays

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
