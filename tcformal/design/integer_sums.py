"""Sums of integers of a unit: how many products cannot overflow, and whether sums wrap."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError


@dataclass(frozen=True, slots=True)
class IntegerSums:
    """How many products of a unit of integers are added exactly, c = 0, however they are cut into calls.

    Ranges and units: products lie from `least` to `most`; `exact` of them never leave the numbers `low` to
    `high` of the result, and `exact` + 1 of the factors `words`, raw, do.
    """

    unit: UnitSpec
    least: int
    most: int
    low: int
    high: int
    exact: int
    words: tuple[int, int]

    @property
    def extreme(self) -> int:
        """The product of which one more than `exact` overflow."""
        a, b = (number(f, w) for f, w in zip(_factors(self.unit), self.words, strict=True))
        return a * b

    @property
    def says(self) -> str:
        """The answer in one clause."""
        a, b = (number(f, w) for f, w in zip(_factors(self.unit), self.words, strict=True))
        return (
            f"exact up to {self.exact:,} {'products' if self.exact > 1 else 'product'}; "
            f"from {self.exact + 1:,} on it can overflow: "
            f"all a = {a}, b = {b}"
        )


#: Why questions about roundings are not asked of integers.
ONLY_OVERFLOW = "whose sums of integers are exact unless they overflow (accuracy says from which K on)"


def check_floating(unit: UnitSpec, what: str) -> None:
    """Raise InputError for a unit of integers, where a question is about roundings."""
    if unit.d_format.integer:
        raise InputError(
            f"expected a unit of floating-point numbers for {what}, but got {unit.name}, {ONLY_OVERFLOW}"
        )


def number(fmt: Format, word: int) -> int:
    """The integer of an encoding."""
    return word - (1 << fmt.width) if word & fmt.sign_bit else word


def _factors(unit: UnitSpec) -> tuple[Format, Format]:
    return unit.a_format, unit.b_format


def _ends(fmt: Format) -> tuple[int, int]:
    return (fmt.sign_bit, fmt.largest) if fmt.sign_bit else (0, fmt.largest)


def integer_sums(unit: UnitSpec) -> IntegerSums:
    """The number of products that a unit of integers adds exactly, and factors that overflow beyond it."""
    d, a, b = unit.d_format, unit.a_format, unit.b_format
    low, high = (number(d, w) for w in _ends(d))
    pairs = {number(a, x) * number(b, y): (x, y) for x, y in product(_ends(a), _ends(b))}
    least, most = min(0, *pairs), max(0, *pairs)
    down = low // least if least else None
    up = high // most if most else None
    exact = min(x for x in (down, up) if x is not None)
    return IntegerSums(unit, least, most, low, high, exact, pairs[most if up == exact else least])


def wraps(unit: UnitSpec) -> bool:
    """Whether every sum of a unit of integers is taken modulo the numbers of its result."""
    return unit.d_format.integer and unit.design.rho.wraps and unit.design.step.wraps
