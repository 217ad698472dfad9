"""Sums of integers of a unit: how many products cannot overflow, and whether sums wrap."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from tcformal.design.rounding import Conversion
from tcformal.design.trees.tree import stage_designs
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


def numbers_of(fmt: Format) -> tuple[int, int]:
    """The least and the largest number of an integer format."""
    least, most = _ends(fmt)
    return number(fmt, least), number(fmt, most)


def range_of(target: Conversion) -> tuple[int, int]:
    """The least and the largest integer of a conversion."""
    return (-(1 << target.fraction_bits) if target.signed else 0), (1 << target.fraction_bits) - 1


def _conversions(unit: UnitSpec) -> list[Conversion]:
    """The conversions of all sums of a unit."""
    if unit.tree is not None:
        return [x.rho for x in stage_designs(unit.tree, unit.design).values()]
    return [unit.design.step, unit.design.rho]


def narrow(unit: UnitSpec) -> bool:
    """Whether some partial sum of a unit of integers has fewer numbers than the result."""
    low, high = numbers_of(unit.d_format)
    ends = map(range_of, _conversions(unit))
    return any(least > low or most < high for least, most in ends)


def integer_sums(unit: UnitSpec) -> IntegerSums:
    """The number of products that a unit of integers adds exactly, and factors that overflow beyond it.

    Errors: InputError for partial sums that are narrower than the result.
    """
    d, a, b = unit.d_format, unit.a_format, unit.b_format
    if narrow(unit):
        raise InputError(f"expected partial sums as wide as {d.name}, but {unit.name} has narrower ones")
    low, high = numbers_of(d)
    pairs = {number(a, x) * number(b, y): (x, y) for x, y in product(_ends(a), _ends(b))}
    least, most = products_range(unit)
    down = low // least if least else None
    up = high // most if most else None
    exact = min(x for x in (down, up) if x is not None)
    return IntegerSums(unit, least, most, low, high, exact, pairs[most if up == exact else least])


def products_range(unit: UnitSpec) -> tuple[int, int]:
    """The least and the largest product of a unit of integers, 0 among them."""
    pairs = [x * y for x, y in product(numbers_of(unit.a_format), numbers_of(unit.b_format))]
    return min(0, *pairs), max(0, *pairs)


def wraps(unit: UnitSpec) -> bool:
    """Whether every sum of a unit of integers is taken modulo the numbers of its result, or a multiple."""
    return unit.d_format.integer and all(
        x.wraps and x.fraction_bits + x.signed >= unit.d_format.width for x in _conversions(unit)
    )
