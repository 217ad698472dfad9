"""Names of roundings and conversions: `RNE-FP32`, `RZ-E8M13`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tcformal.checks import check_choice
from tcformal.errors import InputError
from tcformal.formats.spec import Format

#: Rounding modes by the papers' abbreviations.
MODES: dict[str, str] = {
    "RNE": "to nearest, ties to even",
    "RNA": "to nearest, ties away from zero",
    "RZ": "toward zero (truncation of the magnitude)",
    "RD": "down, toward -Inf",
    "RU": "up, toward +Inf",
    "RO": "to odd: an inexact result gets a lowest bit of 1",
}

#: The modes that give the nearest number; every other one gives one of the two neighbours.
NEAREST = ("RNE", "RNA")

_NAMED = {"FP64": (11, 52), "FP32": (8, 23), "FP16": (5, 10), "BF16": (8, 7)}
_SHAPE = re.compile(r"E([0-9]+)M([0-9]+)")


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion function ρ (XIE Table 2): a rounding mode and an IEEE-like target.

    Ranges: e_min = 2 - 2^(exponent_bits-1), e_max = 2^(exponent_bits-1) - 1; subnormals are produced.
    """

    #: One of MODES.
    mode: str
    exponent_bits: int
    #: Fraction bits kept; a wider destination has zeros below them.
    fraction_bits: int
    #: Binades above the target's largest that an intermediate number may use; 0 for a real format.
    head_room: int = 0

    @property
    def e_min(self) -> int:
        """Exponent of the smallest normal result; subnormal results share it."""
        return 2 - (1 << (self.exponent_bits - 1))

    @property
    def e_max(self) -> int:
        """Exponent of the largest finite result."""
        return (1 << (self.exponent_bits - 1)) - 1 + self.head_room

    @property
    def precision(self) -> int:
        """Bits of the result's significand, hidden bit included."""
        return self.fraction_bits + 1

    def fits(self, target: Format) -> bool:
        """Whether every result is an encoding of `target` (an IEEE-like format of the same exponents)."""
        return self.exponent_bits == target.exponent_bits and self.fraction_bits <= target.fraction_bits


@lru_cache(maxsize=256)
def conversion(text: str | Conversion) -> Conversion:
    """Read `MODE-FP32`, `MODE-FP16`, `MODE-FP64`, `MODE-BF16` or `MODE-E<e>M<m>`; InputError otherwise."""
    if isinstance(text, Conversion):
        return text
    mode, dash, shape = text.partition("-")
    check_choice("rounding mode", mode, MODES)
    if shape in _NAMED:
        return Conversion(mode, *_NAMED[shape])
    match = _SHAPE.fullmatch(shape)
    if not dash or not match or not (2 <= int(match[1]) <= 15 and 1 <= int(match[2]) <= 112):
        raise InputError(f"expected a conversion such as RZ-FP32, RNE-FP16 or RZ-E8M13, but got {text!r}")
    return Conversion(mode, int(match[1]), int(match[2]))
