"""A number format, floating-point or integer, as a frozen record of facts, without arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from tcformal.checks import check_int
from tcformal.errors import InputError
from tcformal.shown import Shown


class Specials(Enum):
    """The kinds of special encodings: which encodings are not finite numbers."""

    #: Exponent all ones: fraction zero is Inf, else NaN (IEEE 754).
    IEEE = "Inf, NaN (IEEE 754)"
    #: No Inf; exponent and fraction all ones is NaN, either sign (OCP OFP8 e4m3).
    ALL_ONES_NAN = "NaN S.11…1"
    #: No Inf, no -0; the encoding of -0 is the single NaN (fnuz).
    NEGATIVE_ZERO_NAN = "NaN 10…0, no -0"
    #: Every encoding is a finite number (OCP MX fp6, fp4).
    NONE = "none"


class Sign(Enum):
    """The meaning of the encoding's top bit."""

    PRESENT = "a sign bit"
    IGNORED = "a bit that is ignored"
    ABSENT = "no sign bit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format(Shown):
    """A floating-point format, or an integer format: one without exponent bits.

    Ranges and units: a finite encoding with exponent field E and fraction field T stands for
    (-1)^S · (1 + T·2^-fraction_bits) · 2^(E-bias) where E > 0, and for
    (-1)^S · T · 2^(1-bias-fraction_bits) where E = 0 (subnormals; zeros where `subnormals` is False;
    not where `has_zero` is False, whose field 0 is an ordinary exponent).  An encoding of an integer format
    stands for itself, with a sign bit in two's complement; 2^fraction_bits bounds its magnitude, and e_min
    is fraction_bits.
    Errors: InputError for widths that do not add up.

    Examples:
        >>> e4m3 = tcformal.formats()["e4m3"]
        >>> e4m3.precision, e4m3.e_min, e4m3.e_max
        (4, -6, 8)
    """

    #: Name as in the literature, lower case.
    name: str
    #: Bits of the exponent field.
    exponent_bits: int
    #: Bits of the fraction field, without the hidden bit (the significand has one more).
    fraction_bits: int
    #: What is subtracted from the exponent field.
    bias: int
    #: Which encodings are NaN or Inf.
    specials: Specials
    #: Whether there is a sign bit.
    sign: Sign = Sign.PRESENT
    #: Low bits of the encoding that carry nothing and are ignored on input, zero on output (tf32: 13).
    ignored_low_bits: int = 0
    #: False for a pure scale (e8m0), whose exponent field 0 is an ordinary power of two.
    has_zero: bool = True
    #: False where an encoding with the exponent field 0 is a zero whatever its fraction field.
    subnormals: bool = True
    #: Where these facts come from.
    source: str = ""

    def __hash__(self) -> int:
        # Formats are looked up with every operand that is decoded; equality still asks for every field.
        return hash(self.name)

    def __post_init__(self) -> None:
        check_int("exponent_bits", self.exponent_bits, low=0, high=15)
        check_int("fraction_bits", self.fraction_bits, low=0, high=112)
        check_int("bias", self.bias)
        check_int("ignored_low_bits", self.ignored_low_bits, low=0, high=64)
        if self.width > 64:
            raise InputError(f"expected an encoding of at most 64 bits, but got {self.width} for {self.name}")
        if self.specials is Specials.IEEE and self.fraction_bits < 1:
            raise InputError("expected at least 1 fraction bit for a format with Inf and NaN, but got 0")
        plain = self.specials is Specials.NONE and self.sign is not Sign.IGNORED and not self.ignored_low_bits
        if self.integer and (self.bias != 1 - self.fraction_bits or not plain):
            raise InputError(
                f"expected at least 1 exponent bit, or an integer format, but got 0 for {self.name}"
            )

    @property
    def integer(self) -> bool:
        """Whether an encoding is an integer, and no exponent and fraction."""
        return not self.exponent_bits

    @property
    def width(self) -> int:
        """The width of one raw encoding, in bits."""
        return (
            (self.sign is not Sign.ABSENT) + self.exponent_bits + self.fraction_bits + self.ignored_low_bits
        )

    @property
    def precision(self) -> int:
        """The precision p: bits of the significand, hidden bit included."""
        return self.fraction_bits + 1

    @property
    def e_min(self) -> int:
        """Exponent of the smallest normal number, shared by subnormals."""
        return 1 - self.bias if self.has_zero else -self.bias

    @property
    def all_numbers(self) -> Format:
        """The format with the same numbers whose encodings of Inf and NaN are numbers as well."""
        return replace(self, specials=Specials.NONE)

    @property
    def e_max(self) -> int:
        """Exponent of the largest finite number."""
        top = (1 << self.exponent_bits) - 1 - self.bias
        if self.specials is Specials.IEEE or not self.has_zero:
            return top - 1
        if self.specials is Specials.ALL_ONES_NAN and self.fraction_bits == 0:
            return top - 1
        return top

    @property
    def least_exponent(self) -> int:
        """Exponent of the smallest positive number."""
        return self.e_min - (self.fraction_bits if self.has_zero and self.subnormals else 0)

    @property
    def storage_bits(self) -> int:
        """Width of the unsigned integer that holds one raw encoding in arrays: 8, 16, 32 or 64."""
        return next(bits for bits in (8, 16, 32, 64) if bits >= self.width)

    @property
    def infinity(self) -> int:
        """The encoding of +Inf; InputError for a format without Inf."""
        if self.specials is not Specials.IEEE:
            raise InputError(f"expected a format with Inf, but got {self.name}")
        return ((1 << self.exponent_bits) - 1) << (self.fraction_bits + self.ignored_low_bits)

    @property
    def sign_bit(self) -> int:
        """The mask of the sign bit; 0 for an unsigned format."""
        return 1 << (self.width - 1) if self.sign is Sign.PRESENT else 0

    def is_nan(self, words: Any) -> Any:
        """Whether words (an unsigned integer or an array) are NaN; the format has Inf, or is integer."""
        if self.integer:
            return words != words
        return (words & ((1 << (self.width - 1)) - 1)) > self.infinity

    def is_special(self, words: Any) -> Any:
        """Whether words, a number or an array, are NaN or Inf; the format has Inf or is integer."""
        if self.integer:
            return words != words
        return (words & ((1 << (self.width - 1)) - 1)) >= self.infinity

    @property
    def one(self) -> int:
        """The encoding of 1, for formats whose exponent range contains 0."""
        if self.integer:
            return 1
        return self.bias << (self.fraction_bits + self.ignored_low_bits)

    @property
    def largest(self) -> int:
        """The encoding of the largest finite number."""
        if self.specials is Specials.IEEE:
            return self.infinity - (1 << self.ignored_low_bits)
        body = (1 << (self.exponent_bits + self.fraction_bits)) - 1
        return body - (self.specials is Specials.ALL_ONES_NAN)

    def _summary(self) -> str:
        if self.integer:
            low = -(1 << self.fraction_bits) if self.sign_bit else 0
            return f"Format {self.name}: {self.width} bits, integers from {low} to {self.largest}"
        bits = f"{self.exponent_bits} exponent and {self.fraction_bits} fraction bits"
        return f"Format {self.name}: {self.width} bits, {bits}, bias {self.bias}"

    def __str__(self) -> str:
        return self.name
