"""Exact numbers as text: parsing and printing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

#: The greatest exponent in a text: enough for every format.
_LARGEST_EXPONENT = 40000
#: Significant digits, and decimal places, up to which an exact decimal is printed as it is.
_SHORT_DIGITS = 12

_INTEGER = r"[+-]?[0-9]+"
_DECIMAL = rf"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e{_INTEGER})?"
_POWER = re.compile(rf"(?:({_DECIMAL})\s*\*\s*)?2\^({_INTEGER})")
_HEX_FLOAT = re.compile(rf"0x([0-9a-f]+)\.?([0-9a-f]*)p({_INTEGER})")
_RATIO = re.compile(r"([0-9]+)/([0-9]+)")


@lru_cache(maxsize=4096)
def power_of_two(exponent: int) -> Fraction:
    """The power 2^exponent, for an exponent of either sign."""
    return Fraction(2**exponent) if exponent >= 0 else Fraction(1, 2**-exponent)


def in_units(number: Fraction, exponent: int) -> tuple[int, int]:
    """The ratio number / 2^exponent as an integer numerator and a positive denominator, not in
    lowest terms."""
    up, down = (-exponent, 0) if exponent < 0 else (0, exponent)
    return number.numerator << up, number.denominator << down


def of_units(count: int, exponent: int) -> Fraction:
    """The number count * 2^exponent."""
    return Fraction(count << exponent) if exponent >= 0 else Fraction(count, 1 << -exponent)


def lowest_bit(number: Fraction) -> int:
    """The exponent of the lowest bit of a dyadic number that is not zero."""
    return (number.numerator & -number.numerator).bit_length() - number.denominator.bit_length()


def exact_sum(numbers: Iterable[Fraction]) -> Fraction:
    """The exact sum of fractions over one denominator."""
    addends = list(numbers)
    whole = math.lcm(*[x.denominator for x in addends])
    return Fraction(sum(x.numerator * (whole // x.denominator) for x in addends), whole)


def parse_magnitude(unsigned: str) -> Fraction | None:
    """Parse an unsigned number; None for invalid text."""
    exponents = re.findall(rf"[\^p]({_INTEGER})", unsigned)
    if "x" not in unsigned:
        exponents += re.findall(rf"e({_INTEGER})", unsigned)
    if any(abs(int(e)) > _LARGEST_EXPONENT for e in exponents):
        return None
    if re.fullmatch(_DECIMAL, unsigned):
        return Fraction(unsigned)
    if power := _POWER.fullmatch(unsigned):
        return Fraction(power[1] or 1) * power_of_two(int(power[2]))
    if hexed := _HEX_FLOAT.fullmatch(unsigned):
        return int(hexed[1] + hexed[2], 16) * power_of_two(int(hexed[3]) - 4 * len(hexed[2]))
    ratio = _RATIO.fullmatch(unsigned)
    return Fraction(int(ratio[1]), int(ratio[2])) if ratio and int(ratio[2]) else None


def number_text(number: Fraction) -> str:
    """A number as exact text: a short decimal, odd*2^e, or a ratio."""
    if number < 0:
        return "-" + number_text(-number)
    numerator, denominator = number.numerator, number.denominator
    places = denominator.bit_length() - 1
    if denominator != 2**places:
        return f"{numerator}/{denominator}"
    scaled = numerator * 5**places
    if scaled < 10**_SHORT_DIGITS and places <= _SHORT_DIGITS:
        digits = str(scaled).rjust(places + 1, "0")
        return digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"
    e = -places
    while numerator % 2 == 0:
        numerator, e = numerator // 2, e + 1
    return f"2^{e}" if numerator == 1 else f"{numerator}*2^{e}"


# ---------------------------------------------------------- Shares in percent, never better than they are
#: Decimal places of a share, and digits before its point, that are written out at most.
_FIXED = 12


def rounded(x: Fraction, digits: int, up: bool) -> float:
    """A number with so many decimal places, rounded up or down."""
    unit = Fraction(10) ** -digits
    return float((math.ceil if up else math.floor)(x / unit) * unit)


def percent(x: Fraction, *, up: bool) -> str:
    """A share in percent with four digits, rounded up or down."""
    digits = 0
    while x and x * 100 * 10**digits < 1000:
        digits += 1
    if large := x * 100 >= 10**_FIXED:
        digits = 4 - len(str(math.floor(x * 100)))
    made = rounded(x * 100, digits, up)
    if large or digits > _FIXED:
        return f"{made:.4g} %"
    text = f"{made:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + " %"


def bounds_text(bound: Fraction | None, attained: Fraction | None) -> str:
    """A share that is proved, one that is attained, or both: `≤ 0.0061 %, ≥ 0.006 % attained`."""
    most = "no bound" if bound is None else f"≤ {percent(bound, up=True)}"
    return most if attained is None else f"{most}, {percent(attained, up=False)} attained"
