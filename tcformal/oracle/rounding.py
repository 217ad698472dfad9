"""Rounding of fractions: to an integer, to a multiple of a power of two, to a conversion's target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import ExactValue, NumberClass, exponent_of


def round_integer(number: Fraction, mode: str) -> int:
    """A signed number rounded to an integer by one of MODES."""
    if mode == "RZ" or number.denominator == 1:
        return math.trunc(number)
    if mode == "RD":
        return math.floor(number)
    if mode == "RU":
        return -math.floor(-number)
    sign = -1 if number < 0 else 1
    below = math.floor(abs(number))
    rest = abs(number) - below
    half = Fraction(1, 2)
    if mode == "RNA" and rest >= half:
        below += 1
    if mode == "RNE" and (rest > half or (rest == half and below % 2 == 1)):
        below += 1
    if mode == "RO" and rest > 0 and below % 2 == 0:
        below += 1
    return sign * below


def align(number: Fraction, unit: Fraction, mode: str) -> Fraction:
    """A signed term cut to a multiple of the last kept bit (XIE RZ_F, RD_F; VALPEY Algorithm 1, 2c and 3)."""
    return round_integer(number / unit, mode) * unit


def wrap(total: Fraction, unit: Fraction, width: int) -> Fraction:
    """The sum, a whole number of units, as a two's complement integer of that many bits holds it."""
    modulus: int = 2**width
    count = math.floor(total / unit) % modulus
    return (count - modulus if 2 * count >= modulus else count) * unit


def round_to(design: Design, sign: int, magnitude: Fraction, target: Conversion) -> ExactValue:
    """The conversion of (-1)^sign * magnitude: rounded once, subnormals produced or made zeros.

    Ranges and units: a multiple of 2^(e - fraction_bits), e the exponent of the magnitude and at least
    e_min; the result's exponent is its own, at least e_min.
    Zero, NaN, Inf: zero results, subnormal ones under result_subnormals `signed_zero` among them, keep the
    sign under zero_sign `ieee`, also under `sum` where the magnitude is not zero, and are +0 elsewhere; a
    result that is too large after rounding as if exponents had no end overflows as `design.overflow` says.
    Source: XIE Table 2 and Algorithm 1; IEEE 754 §4.3 and §7.4.
    """
    e = max(exponent_of(magnitude), target.e_min) if magnitude else target.e_min
    unit = power_of_two(e - target.fraction_bits)
    signed = -magnitude if sign else magnitude
    rounded = abs(round_integer(signed / unit, target.mode)) * unit
    if rounded >= power_of_two(target.e_max + 1):
        if design.overflow == "infinity" or target.mode in ("RNE", "RNA", "RD" if sign else "RU"):
            return ExactValue(NumberClass.INF, sign)
        rounded = (2 - Fraction(1, 2**target.fraction_bits)) * power_of_two(target.e_max)
    if design.result_subnormals == "signed_zero" and rounded < power_of_two(target.e_min):
        rounded = Fraction(0)
    if rounded == 0:
        keeps_sign = design.zero_sign == "ieee" or (design.zero_sign == "sum" and magnitude > 0)
        return ExactValue(NumberClass.FINITE, sign if keeps_sign else 0, rounded, target.e_min)
    return ExactValue(NumberClass.FINITE, sign, rounded, max(exponent_of(rounded), target.e_min))


def sign_of_sum(total: Fraction, signs: Sequence[int], addends: Sequence[Fraction | int], mode: str) -> int:
    """The sign of an exact sum: of zeros that agree, theirs; of any other zero, minus under RD only.

    Shapes: signs, addends: n of each, n at least 1; a zero has a sign as well.
    Source: IEEE 754 §6.3.
    """
    if total:
        return int(total < 0)
    if not any(addends) and len(set(signs)) == 1:
        return signs[0]
    return int(mode == "RD")
