"""Rounding of fractions: to an integer, a multiple of a power of two, or a conversion's target."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcformal.design.rounding import Conversion, random_word
from tcformal.design.spec import Rounding
from tcformal.errors import InputError
from tcformal.oracle.draws import drawn
from tcformal.oracle.numerals import in_units, of_units, power_of_two
from tcformal.oracle.values import ExactValue, NumberClass, exponent_of


def round_units(number: Fraction, exponent: int, mode: str) -> int:
    """A number in units of 2^exponent, rounded to an integer by one of ALIGNMENTS."""
    numerator, whole = in_units(number, exponent)
    if mode == "RD":
        return numerator // whole
    if mode == "RU":
        return -(-numerator // whole)
    sign = -1 if numerator < 0 else 1
    below, rest = divmod(abs(numerator), whole)
    if (random := random_word(mode)) is not None:
        bits, word = random
        discarded = rest * 2**bits // whole
        below += drawn(discarded, bits) if word is None else discarded + word >= 2**bits
    if mode == "RNA" and 2 * rest >= whole:
        below += 1
    if mode == "RNU" and (2 * rest > whole or (2 * rest == whole and sign > 0)):
        below += 1
    if mode == "RNE" and (2 * rest > whole or (2 * rest == whole and below % 2 == 1)):
        below += 1
    if mode == "RO" and rest > 0 and below % 2 == 0:
        below += 1
    return sign * below


def align(number: Fraction, exponent: int, mode: str) -> Fraction:
    """A term rounded to a multiple of the last kept bit (XIE RZ_F, RD_F; VALPEY Algorithm 1, 2c and 3)."""
    return of_units(round_units(number, exponent, mode), exponent)


def wrap(total: int, width: int) -> int:
    """A sum in units of its last bit, wrapped to a two's complement integer of `width` bits."""
    modulus: int = 2**width
    count = total % modulus
    return count - modulus if 2 * count >= modulus else count


def round_to(design: Rounding, sign: int, magnitude: Fraction, target: Conversion) -> ExactValue:
    """The conversion of (-1)^sign * magnitude: rounded once, subnormals produced or made zeros.

    Ranges and units: a multiple of 2^(e - fraction_bits), e the exponent of the magnitude and at least
    e_min; the result's exponent is its own, at least e_min.
    Zero, NaN, Inf: zero results, subnormal ones unless result_subnormals is `kept` among them, keep the sign
    under zero_sign `ieee`, also under `sum` where the magnitude is not zero, and are +0 elsewhere; a
    result that is too large after rounding as if exponents had no end overflows as `design.overflow` says.
    Source: XIE Table 2 and Algorithm 1; IEEE 754 §4.3 and §7.4.
    """
    if target.integer_bits is not None:
        return to_fixed(sign, magnitude, target)
    e = max(exponent_of(magnitude), target.e_min) if magnitude else target.e_min
    unit = e - target.fraction_bits
    signed = -magnitude if sign else magnitude
    rounded = of_units(abs(round_units(signed, unit, target.mode)), unit)
    own = exponent_of(rounded) if rounded else target.e_min
    if own > target.e_max:
        outward = ("RNE", "RNA", "RD" if sign else "RU")
        to_infinity = design.overflow == "infinity" or target.mode in outward or random_word(target.mode)
        if to_infinity and design.overflow != "largest":
            return ExactValue(NumberClass.INF, sign)
        rounded, own = (2 - Fraction(1, 2**target.fraction_bits)) * power_of_two(target.e_max), target.e_max
    if design.result_subnormals != "kept" and own < target.e_min:
        rounded = Fraction(0)
    if design.result_subnormals == "tiny_zero" and magnitude:
        if (random_word(target.mode) or (0, 0))[1] is None:
            raise InputError(
                f"expected the word that is added, as in {target.mode}+0, with result_subnormals=tiny_zero, "
                f"which rounds twice, but got {target.mode}"
            )
        last = exponent_of(magnitude) - target.fraction_bits
        if exponent_of(of_units(abs(round_units(signed, last, target.mode)), last)) < target.e_min:
            rounded = Fraction(0)
    if not rounded:
        keeps_sign = design.zero_sign == "ieee" or (design.zero_sign == "sum" and bool(magnitude))
        return ExactValue(NumberClass.FINITE, sign if keeps_sign else 0, rounded, target.e_min)
    return ExactValue(NumberClass.FINITE, sign, rounded, max(own, target.e_min))


def to_fixed(sign: int, magnitude: Fraction, target: Conversion) -> ExactValue:
    """The conversion of (-1)^sign * magnitude to a fixed-point number; zero becomes +0.

    Ranges and units: whole units of the last place, as a two's complement integer of the target's bits.
    Zero, NaN, Inf: a number that this does not hold is an Inf of its sign, unless the target wraps or
    saturates.
    Source: Hexagon HMX, hmx_fp16_mac and hmx_fp16_cvt.
    """
    unit, width = target.e_min - target.fraction_bits, target.fraction_bits + 1
    count = round_units(-magnitude if sign else magnitude, unit, target.mode)
    if target.integer:
        span = 2 ** (target.fraction_bits + target.signed)
        least = -span // 2 if target.signed else 0
        count = (
            max(least, min(least + span - 1, count)) if target.saturates else (count - least) % span + least
        )
        return ExactValue(NumberClass.FINITE, int(count < 0), Fraction(abs(count)), target.e_min)
    if target.wraps:
        count = wrap(count, width)
    if wrap(count, width) != count:
        return ExactValue(NumberClass.INF, sign)
    return ExactValue(NumberClass.FINITE, int(count < 0), of_units(abs(count), unit), target.e_min)


def sign_of_sum(total: Fraction, signs: Sequence[int], addends: Sequence[Fraction | int], mode: str) -> int:
    """The sign of an exact sum; zeros of one sign keep it, any other zero sum is minus under RD only.

    Shapes: signs, addends: n of each, n at least 1; a zero has a sign as well.
    Source: IEEE 754 §6.3.
    """
    if total:
        return int(total.numerator < 0)
    if not any(addends) and len(set(signs)) == 1:
        return signs[0]
    return int(mode == "RD")
