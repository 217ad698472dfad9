"""Exact values of encodings: decoding, encoding, parsing and printing, in fractions."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from tcformal.checks import check_int
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import ValueTextError
from tcformal.oracle.numerals import in_units, number_text, of_units, parse_magnitude

_ZERO = Fraction(0)

#: Most characters of a value's text: enough for every format.
_LONGEST_TEXT = 4000
_LONGEST_SHOWN = 100

_RAW = re.compile(r"0x([0-9a-f]+)")
_DECIMAL = re.compile(r"([+-]?)(\d{1,50})(?:\.(\d{0,50}))?(?:[eE]([+-]?\d{1,3}))?")
_NAN_WORD = re.compile(r"nan\((0x[0-9a-f]+)\)")


class NumberClass(Enum):
    """The class of an encoding: finite, Inf or NaN."""

    FINITE = "a finite number"
    INF = "an infinity"
    NAN = "not a number"


class ExactValue(NamedTuple):
    """The exact value of an encoding or a term, with its exponent.

    Ranges and units: a finite value is (-1)^sign * magnitude; `exponent` is the papers' Exp(x), so
    that the significand magnitude / 2^exponent is unnormalised (below 1 for subnormals); `cancelled`
    marks an exact sum of zero whose addends are not all zeros, `framed` a sum that keeps the exponent of its
    largest term.
    Zero, NaN, Inf: a zero keeps its sign and exponent; Inf has a sign; magnitude and exponent of
    Inf and NaN mean nothing and are 0.
    """

    kind: NumberClass
    sign: int = 0
    magnitude: Fraction = _ZERO
    exponent: int = 0
    cancelled: bool = False
    #: A product's factors as whole numbers, where it matters how they were multiplied.
    factors: tuple[int, int] | None = None
    framed: bool = False

    @property
    def number(self) -> Fraction:
        """The signed number of a finite value."""
        return -self.magnitude if self.sign else self.magnitude

    @property
    def is_zero(self) -> bool:
        """Whether the value is a zero of either sign."""
        return self.kind is NumberClass.FINITE and not self.magnitude

    @property
    def is_subnormal(self) -> bool:
        """Whether the value is nonzero with a significand below 1."""
        return bool(self.magnitude) and exponent_of(self.magnitude) < self.exponent


def exponent_of(magnitude: Fraction) -> int:
    """The binary exponent e with 2^e <= magnitude < 2^(e+1) of a positive magnitude."""
    # The numbers of digits give e or e + 1.
    e = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    count, whole = in_units(magnitude, e)
    return e if whole <= count else e - 1


@lru_cache(maxsize=1 << 16)
def decode(fmt: Format, bits: int) -> ExactValue:
    """The exact value of a raw encoding.

    Ranges and units: bits from 0 to 2^width - 1; Exp is e_min for subnormals and zeros, else the
    exponent field less the bias.
    Zero, NaN, Inf: as `fmt.specials`, decided after the ignored low bits are dropped.
    Errors: InputError for bits outside the format's width.
    Source: IEEE 754 §3.4; OCP OFP8 and OCP MX; XIE §4 (unnormalised significands).
    """
    check_int(f"an encoding of {fmt}", bits, low=0, high=2**fmt.width - 1)
    if fmt.integer:
        signed = fmt.sign is Sign.PRESENT and bits >= 2 ** (fmt.width - 1)
        number = bits - 2**fmt.width if signed else bits
        return ExactValue(NumberClass.FINITE, int(signed), Fraction(abs(number)), fmt.e_min)
    sign_bit, code = divmod(bits // 2**fmt.ignored_low_bits, _codes(fmt))
    sign = sign_bit if fmt.sign is Sign.PRESENT else 0
    field, fraction = divmod(code, 2**fmt.fraction_bits)
    if fmt.specials is Specials.IEEE and field == 2**fmt.exponent_bits - 1:
        return ExactValue(NumberClass.INF, sign) if fraction == 0 else ExactValue(NumberClass.NAN)
    if fmt.specials is Specials.ALL_ONES_NAN and code == _codes(fmt) - 1:
        return ExactValue(NumberClass.NAN)
    if fmt.specials is Specials.NEGATIVE_ZERO_NAN and sign_bit == 1 and code == 0:
        return ExactValue(NumberClass.NAN)
    if field == 0 and fmt.has_zero:
        exponent = 1 - fmt.bias
        fraction *= fmt.subnormals
    else:
        exponent = field - fmt.bias
        fraction += 2**fmt.fraction_bits
    return ExactValue(NumberClass.FINITE, sign, of_units(fraction, exponent - fmt.fraction_bits), exponent)


def encode_exact(fmt: Format, value: Fraction, negative_zero: bool = False) -> int:
    """The encoding of an exactly representable number; ignored bits are zero.

    Zero, NaN, Inf: `negative_zero` chooses -0 where the value is zero, and says nothing elsewhere.
    Errors: ValueTextError naming value, format and neighbours where the format cannot hold it.
    """
    sign = _sign_of(value, negative_zero)
    return _encode(fmt, sign, abs(value), lambda: ("-" if sign else "") + number_text(abs(value)))


def encoded(fmt: Format, value: Fraction, negative_zero: bool = False) -> int | None:
    """As `encode_exact`, but None for an unrepresentable number: cheaper than an error."""
    return _held(fmt, _sign_of(value, negative_zero), abs(value))


def parse_value(fmt: Format, text: str) -> int:
    """Parse a value's text into its raw encoding.

    Ranges and units: `1.5`, `1e-3`, `1/3`, `2^-24`, `1.5*2^7`, C hex floats `0x1.8p3` (with a p), each
    with or without a sign; raw encodings `0x3c00` (without), taken as they are.
    Zero, NaN, Inf: `-0`, `inf`, `-inf`; `nan` is the quiet NaN without payload (the only NaN of
    formats that have one), `nan(0x7fff)` a NaN by its word.
    Errors: ValueTextError for text that is not readable, a raw encoding wider than the format, and
    anything that the format does not hold exactly.
    """
    plain = text.strip().lower()
    if raw := _RAW.fullmatch(plain):
        bits = int(raw[1], 16)
        if bits >= 2**fmt.width:
            limit = f"{2**fmt.width:#x}"
            raise ValueTextError(f"expected a raw encoding of {fmt} below {limit}, but got {_clip(text)!r}")
        return bits
    if plain.lstrip("+-").startswith("nan"):
        return _parse_nan(fmt, plain, text)
    negative, unsigned = plain.startswith("-"), plain.removeprefix("-" if plain.startswith("-") else "+")
    if unsigned == "inf":
        if fmt.specials is not Specials.IEEE:
            raise ValueTextError(
                f"expected a finite value, because {fmt} has no Inf, but got {_clip(text)!r}"
            )
        return _pack(fmt, int(negative), _largest_code(fmt) + 1)
    magnitude = parse_magnitude(unsigned) if len(unsigned) <= _LONGEST_TEXT else None
    if magnitude is None:
        raise ValueTextError(
            "expected a value such as 1.5, 1e-3, 1/4, 2^-24, 1.5*2^7, 0x1.8p3, inf, nan or a raw encoding "
            f"such as 0x3c00, but got {_clip(text)!r}"
        )
    return _encode(fmt, int(negative), magnitude, lambda: _clip(plain))


def parse_printed(fmt: Format, text: str) -> int:
    """Parse a result as a program printed it: as `parse_value`, or the one number that is printed so.

    Ranges and units: of the numbers of the format, no second one gives these decimals when it is rounded to
    so many; in fp32 8 or 9 significant ones are enough.
    Errors: ValueTextError for fewer decimals, and for what `parse_value` refuses else.

    Examples:
        >>> from tcformal.encodings.catalog import FORMATS
        >>> hex(parse_printed(FORMATS["fp32"], "0.99999994"))
        '0x3f7fffff'
    """
    try:
        return parse_value(fmt, text)
    except ValueTextError:
        printed = _DECIMAL.fullmatch(text.strip())
        if printed is None or fmt.integer:
            raise
        sign, whole, part, exponent = (x or "" for x in printed.groups())
        last = Fraction(10) ** (int(exponent or 0) - len(part))
        magnitude = int(whole + part) * last
        code, _ = _code_below(fmt, magnitude)
        if not 0 < code < _largest_code(fmt):
            raise
        near = [
            x
            for x in (code, code + 1)
            if 2 * abs(decode(fmt, _pack(fmt, 0, x)).magnitude - magnitude) <= last
        ]
        if len(near) != 1:
            raise
        return _pack(fmt, int(sign == "-"), near[0])


def hex_word(fmt: Format, bits: int) -> str:
    """A raw encoding in hex with all its digits."""
    return f"{bits:#0{2 + -(-fmt.width // 4)}x}"


def value_and_hex(fmt: Format, bits: int) -> str:
    """`1.5 (0x3e00)`: the exact value and the raw encoding."""
    return f"{format_value(fmt, bits)} ({hex_word(fmt, bits)})"


def value_data(fmt: Format, bits: int) -> dict[str, str]:
    """An encoding as plain data: hex, and its exact value as text.

    Errors: InputError for bits outside the format's width.
    """
    return {"hex": hex_word(fmt, bits), "value": format_value(fmt, bits)}


def format_value(fmt: Format, bits: int) -> str:
    """An encoding's exact value as text that `parse_value` reads back, up to ignored bits.

    Ranges and units: a short integer or decimal where that is exact, else odd*2^e.
    Zero, NaN, Inf: `0`, `-0`, `inf`, `-inf`, `nan(0x7fff)` with the word.
    Errors: InputError for bits outside the format's width.
    """
    value = decode(fmt, bits)
    if value.kind is NumberClass.NAN:
        return f"nan(0x{bits:0{-(-fmt.width // 4)}x})"
    text = "inf" if value.kind is NumberClass.INF else number_text(value.magnitude)
    return "-" + text if value.sign else text


def _clip(text: str) -> str:
    """A text shortened to fit into a sentence."""
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."


def _codes(fmt: Format) -> int:
    """The number of encodings without the sign bit."""
    codes: int = 2 ** (fmt.exponent_bits + fmt.fraction_bits)
    return codes


def _largest_integer(fmt: Format, sign: int) -> int:
    """The largest magnitude of an integer format's numbers of a sign."""
    most: int = 2**fmt.fraction_bits
    return most if sign else most - 1


def _largest_code(fmt: Format) -> int:
    """The encoding, without the sign bit, of the largest finite number."""
    if fmt.specials is Specials.IEEE:
        infinity: int = _codes(fmt) - 2**fmt.fraction_bits
        return infinity - 1
    return _codes(fmt) - (2 if fmt.specials is Specials.ALL_ONES_NAN else 1)


def _least_code(fmt: Format) -> int:
    """The encoding, without the sign bit, of the smallest positive number."""
    least: int = 1 if fmt.subnormals else 2**fmt.fraction_bits
    return least


def _pack(fmt: Format, sign: int, code: int) -> int:
    """The raw encoding of a sign bit and the bits below it."""
    bits: int = (sign * _codes(fmt) + code) * 2**fmt.ignored_low_bits
    return bits


def _code_below(fmt: Format, magnitude: Fraction) -> tuple[int, bool]:
    """The encoding, without the sign bit, of the largest number up to a magnitude; and whether it is equal.

    Negative where there is none; beyond the largest finite number as if the exponent field had no end.
    """
    e = max(exponent_of(magnitude), fmt.e_min) if magnitude else fmt.e_min
    count, whole = in_units(magnitude, e - fmt.fraction_bits)
    below, rest = divmod(count, whole)
    codes_per_exponent: int = 2**fmt.fraction_bits
    # A normal number's hidden bit stands for one exponent; a subnormal one has the first field's codes.
    return (e + fmt.bias - 1) * codes_per_exponent + below, rest == 0


def _sign_of(value: Fraction, negative_zero: bool) -> int:
    """The sign bit of a number; a zero's is given."""
    return int(value.numerator < 0 or (negative_zero and not value))


def _held(fmt: Format, sign: int, magnitude: Fraction) -> int | None:
    """The encoding of (-1)^sign * magnitude; None where the format cannot represent it."""
    if sign and fmt.sign is not Sign.PRESENT:
        return None
    if sign and not magnitude and fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        return None
    if fmt.integer:
        held = magnitude.denominator == 1 and magnitude <= _largest_integer(fmt, sign)
        return (-1) ** sign * magnitude.numerator % 2**fmt.width if held and (magnitude or not sign) else None
    code, exact = _code_below(fmt, magnitude)
    held = exact and 0 <= code <= _largest_code(fmt) and (code == 0 or code >= _least_code(fmt))
    return _pack(fmt, sign, code) if held else None


def _encode(fmt: Format, sign: int, magnitude: Fraction, shown: Callable[[], str]) -> int:
    """The encoding of (-1)^sign * magnitude; ValueTextError, naming the value `shown`, if it is
    unrepresentable."""

    found = _held(fmt, sign, magnitude)
    if found is not None:
        return found

    def refused(reason: str) -> ValueTextError:
        return ValueTextError(f"expected a value that {fmt} holds exactly, but got {shown()}: {reason}")

    if sign and fmt.sign is not Sign.PRESENT:
        raise refused("the format has no sign")
    if sign and magnitude == 0 and (fmt.integer or fmt.specials is Specials.NEGATIVE_ZERO_NAN):
        raise refused("the format has no -0")
    if fmt.integer:
        if magnitude > (most := _largest_integer(fmt, sign)):
            raise refused(f"the {'least' if sign else 'largest'} is {'-' * sign}{most}")
        down, minus = magnitude.numerator // magnitude.denominator, "-" * sign
        near = [f"{minus}{down}" if down else "0", f"{minus}{down + 1}"]
        raise refused(f"its neighbours are {' and '.join(reversed(near) if sign else near)}")
    (code, _), largest = _code_below(fmt, magnitude), _largest_code(fmt)
    if code < 0:
        raise refused(f"the smallest is {format_value(fmt, 0)}")
    if code >= largest:
        which = "the largest in magnitude" if sign else "the largest"
        raise refused(f"{which} is {format_value(fmt, _pack(fmt, 0, largest))}")
    below, above = (0, _least_code(fmt)) if code < _least_code(fmt) else (code, code + 1)
    near = [number_text(decode(fmt, _pack(fmt, 0, x)).magnitude) for x in (below, above)]
    if sign:
        near = ["-" + near[1], "0" if below == 0 else "-" + near[0]]
    raise refused(f"its neighbours are {near[0]} and {near[1]}")


def _parse_nan(fmt: Format, plain: str, text: str) -> int:
    """Parse `nan` or `nan(0x...)` into its encoding."""
    if fmt.specials is Specials.NONE:
        raise ValueTextError(f"expected a finite value, because {fmt} has no NaN, but got {_clip(text)!r}")
    if plain == "nan":
        if fmt.specials is Specials.NEGATIVE_ZERO_NAN:
            return _pack(fmt, 1, 0)
        quiet = 2 ** (fmt.fraction_bits - 1) if fmt.specials is Specials.IEEE else 0
        return _pack(fmt, 0, _largest_code(fmt) + 1 + quiet)
    word = _NAN_WORD.fullmatch(plain)
    bits = int(word[1], 16) if word else 0
    if not word or bits >= 2**fmt.width or decode(fmt, bits).kind is not NumberClass.NAN:
        raise ValueTextError(
            f"expected nan without a sign, or a NaN of {fmt} by its word, but got {_clip(text)!r}"
        )
    return bits
