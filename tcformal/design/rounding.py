"""Parameter words of designs: conversions (`RNE-FP32`, `RZ-E8M13`), rounding modes, and others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from tcformal.checks import check_choice
from tcformal.encodings.spec import Format
from tcformal.errors import InputError

#: Rounding modes by the papers' abbreviations.
MODES: dict[str, str] = {
    "RNE": "to nearest, ties to even",
    "RNA": "to nearest, ties away from zero",
    "RZ": "toward zero (truncation of the magnitude)",
    "RD": "down, toward -Inf",
    "RU": "up, toward +Inf",
    "RO": "to odd: an inexact result gets a lowest bit of 1",
}

#: Stochastic rounding of n random bits: SR8, or SR8+37 with the word that is added.
_RANDOM = re.compile(r"SR([1-9][0-9]?)(?:\+(0|[1-9][0-9]*))?")
#: The most random bits of a stochastic rounding.
MOST_RANDOM_BITS = 32

#: How an aligned term can be cut: by one of these, or with ties that go up, whatever the sign.
ALIGNMENTS: dict[str, str] = {**MODES, "RNU": "to nearest, ties toward +Inf"}

#: The modes that give the nearest number; every other one gives one of the two neighbours.
NEAREST = ("RNE", "RNA")

#: How a block is summed.
SUMMATIONS: dict[str, str] = {
    "fused": "all terms in one sum",
    "sequential": "one product after the other, each partial sum rounded",
    "pairwise": "a balanced tree, each partial sum rounded",
    "two_chains": "even-index and odd-index products in a chain each, from +0; then their sum",
    "pair_chains": "sums of neighbours, even and odd ones in a chain each, from +0; then their sum",
    "tr": "products in one truncated sum, then c by rounding down (XIE Algorithm 10)",
    "gtr": "as tr, even-index and odd-index products summed apart (XIE Algorithm 11)",
}
C_POSITIONS = ("joined", "first", "last", "after")
ZERO_SIGNS = ("positive", "ieee", "sum")
ACCUMULATIONS = ("twos_complement", "sign_magnitude", "ones_complement")
OVERFLOWS = ("infinity", "ieee", "largest")
SUBNORMALS = ("kept", "positive_zero", "signed_zero")
C_SUBNORMALS = (*SUBNORMALS, "hidden_bit")
RESULT_SUBNORMALS = ("kept", "signed_zero", "tiny_zero")
E_MAX_OF = ("terms", "products")
ZERO_GROUPS = ("products", "scale")
VANISHED = ("cut", "dropped")
LOST_BITS = ("cut", "jammed", "sticky", "halves")
ZERO_WORDS = ("summed", "skipped")
SPECIAL_WORDS = ("special", "numbers")
NEGATED = ("none", "odd", "even", "all")
ORDERS = ("ascending", "odd_first")
NAN_RULES = ("word", "first_operand", "b_sum_a", "a_sum_b", "products_c")
SUM_ROUNDINGS = ("RD", "RD_ADDENDS", "RZ")
#: Where sums are cut in steps: how they may be.
SUM_ROUNDINGS_OF = {"tr": SUM_ROUNDINGS, "gtr": ("RD", "RD_ADDENDS")}

#: The least and the largest exponent that zero terms can have.
ZERO_EXPONENTS = (-40000, 40000)

#: Which positions of c each order of summation allows.
POSITIONS_OF = {
    "fused": ("joined", "last", "after"),
    "sequential": ("first", "last"),
    "pairwise": ("last",),
    "two_chains": ("last",),
    "pair_chains": ("last",),
    "tr": ("last",),
    "gtr": ("last",),
}
#: Orders of summation in which it is known which operand's NaN a step returns, beside one product and c.
NAN_ORDERS = (("sequential", "first"), ("two_chains", "last"), ("pair_chains", "last"))


#: The parameters of alignment, with the values that an exact sum has, because it has no alignment.
EXACT_SUM: dict[str, str | None] = {
    "carry_bits": None, "alignment_rounding": "RZ", "zero_exponent": "none",
    "accumulation": "twos_complement", "c_alignment_rounding": None, "c_bits": None,
    "second_fraction_bits": None, "minus_one": None, "e_max_of": "terms",
}  # fmt: skip
#: Parameters that are one of some words.
CHOICES: dict[str, Iterable[str]] = {
    "summation": SUMMATIONS, "c_position": C_POSITIONS, "alignment_rounding": ALIGNMENTS,
    "zero_sign": ZERO_SIGNS,
    "overflow": OVERFLOWS, "accumulation": ACCUMULATIONS, "order": ORDERS, "nan_rule": NAN_RULES,
    "sum_rounding": SUM_ROUNDINGS, "operand_subnormals": SUBNORMALS, "c_subnormals": C_SUBNORMALS,
    "result_subnormals": RESULT_SUBNORMALS, "vanished_c": VANISHED, "negated": NEGATED,
    "lost_bits": LOST_BITS, "zero_words": ZERO_WORDS,
    "special_words": SPECIAL_WORDS, "e_max_of": E_MAX_OF, "zero_group": ZERO_GROUPS,
}  # fmt: skip
#: The most products of one sum that a design can have: theorems are about any number.
MOST_PRODUCTS = 1 << 20
#: The most of which a circuit is built.
MOST_BUILT = 256
#: Parameters that are integers, with their ranges.
NUMBERS: dict[str, tuple[int, int | None]] = {
    "products": (1, MOST_PRODUCTS), "product_limit": (-40000, 40000), "sum_fraction_bits": (1, 256),
    "nan_word": (0, None), "factor_nan_word": (0, None), "fraction_bits": (1, 256),
    "c_fraction_bits": (1, 256), "carry_bits": (0, 64), "aligned_group": (1, 256),
    "piece_bits": (1, 64), "dropped_pieces": (0, 64), "zero_terms": (-40000, -1),
    "exponent_step": (1, 8), "c_bits": (1, 256), "second_fraction_bits": (1, 256), "minus_one": (0, 64),
    "group_exponent": (-64, 64),
}  # fmt: skip

_NAMED = {"FP64": (11, 52), "FP32": (8, 23), "FP16": (5, 10), "BF16": (8, 7)}
_SHAPE = re.compile(r"E([0-9]+)M([0-9]+)")
_LIMIT = re.compile(r"-?[0-9]{1,5}")
_BITS = re.compile(r"([0-9]{1,2})\.\.([0-9]{1,2})")
_FIXED = re.compile(r"([QW])([0-9]+)\.([0-9]+)")
_WHOLE = re.compile(r"(WRAP|SAT)-(U?)INT([0-9]{1,2})")


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion function ρ (XIE Table 2): a rounding mode, and an IEEE-like or fixed-point target.

    Ranges: e_min = 2 - 2^(exponent_bits-1), e_max = 2^(exponent_bits-1) - 1; subnormals are produced.  Fixed
    point: multiples of 2^(integer_bits - fraction_bits) in [-2^integer_bits, 2^integer_bits), and
    e_min = e_max = integer_bits.
    Zero, NaN, Inf: in fixed point zero has no sign, and a number outside is an Inf unless the target `wraps`
    or `saturates`.
    """

    #: One of MODES, or a stochastic rounding.
    mode: str
    exponent_bits: int
    #: Fraction bits kept; a wider destination has zeros below them.
    fraction_bits: int
    #: Binades above the target's largest that an intermediate number may use, below 0 those that no result
    #: has, because numbers from there on overflow; 0 for a whole format.
    head_room: int = 0
    #: Bits of a fixed-point target above the binary point, sign apart; None for a floating-point one.
    integer_bits: int | None = None
    #: Whether a number outside a fixed-point target is taken modulo its range.
    wraps: bool = False
    #: Whether it becomes the target's least or largest number.
    saturates: bool = False
    #: Whether a fixed-point target has negative numbers.
    signed: bool = True

    @property
    def integer(self) -> bool:
        """Whether the target is an integer format."""
        return (self.wraps and self.integer_bits == self.fraction_bits) or self.saturates

    @property
    def e_min(self) -> int:
        """Exponent of the smallest normal result, shared by subnormal results."""
        if self.integer_bits is not None:
            return self.integer_bits
        return 2 - (1 << (self.exponent_bits - 1))

    @property
    def e_max(self) -> int:
        """Exponent of the largest finite result."""
        if self.integer_bits is not None:
            return self.integer_bits
        return (1 << (self.exponent_bits - 1)) - 1 + self.head_room

    @property
    def precision(self) -> int:
        """Bits of the result's significand, hidden bit included."""
        return self.fraction_bits + 1

    @property
    def read_bits(self) -> int:
        """Bits of a significand on which the result depends, but for a guard and a sticky bit below them."""
        random = random_word(self.mode)
        return self.precision + (0 if random is None else random[0])

    def fits(self, target: Format) -> bool:
        """Whether every result is representable in `target`, an IEEE-like format of the same exponents, or an
        integer format of the same numbers."""
        if target.integer or self.integer:
            numbers = self.exponent_bits, self.fraction_bits, self.signed
            return self.integer and numbers == (0, target.fraction_bits, target.sign_bit > 0)
        return self.exponent_bits == target.exponent_bits and self.fraction_bits <= target.fraction_bits


@lru_cache(maxsize=256)
def random_word(mode: str) -> tuple[int, int | None] | None:
    """The number of random bits of a stochastic rounding, and the word that is added; None for other modes.

    Ranges and units: the word is below 2^n; None where it is drawn, in `SR8`.
    Errors: InputError for a mode that begins with SR and is none.
    """
    found = _RANDOM.fullmatch(mode)
    if found is not None:
        bits, word = int(found[1]), None if found[2] is None else int(found[2])
        if bits <= MOST_RANDOM_BITS and (word or 0) < 1 << bits:
            return bits, word
    if not mode.startswith("SR"):
        return None
    raise InputError(
        f"expected stochastic rounding as SR8, of 1 to {MOST_RANDOM_BITS} random bits, or as SR8+37 with the "
        f"word of so many bits that is added, but got {mode!r}"
    )


def deciding_bits(mode: str) -> int:
    """The bits below the last kept one on which a rounding depends, but for whether a lower bit is 1."""
    random = random_word(mode)
    return 1 if random is None else random[0]


def overflows_to_infinity(mode: str) -> bool:
    """Whether all numbers that are too large are Inf under `ieee` overflow, whatever their sign."""
    return mode in NEAREST or random_word(mode) is not None


@lru_cache(maxsize=64)
def bits_taken(text: str) -> tuple[int, int]:
    """The first and the last bit of `0..4`, counted from a significand's units bit; InputError for others."""
    found = _BITS.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise InputError(f"expected bits of a significand such as 0..4, the units bit is 0, but got {text!r}")
    return int(found[1]), int(found[2])


@lru_cache(maxsize=256)
def conversion(text: str | Conversion) -> Conversion:
    """Parse a conversion `MODE-FP32`, `MODE-FP16`, `MODE-FP64`, `MODE-BF16`, `MODE-E<e>M<m>`, or fixed point.

    SR<n>+<w> is stochastic rounding with the n-bit random word w: it is added to the n bits after the last
    kept one, of a magnitude whose lower bits are cut, and what carries is kept.  SR<n> draws w every time.

    `:<n>` after a floating-point target: rounded magnitudes of 2^n and more overflow, `RNE-FP16:15`; with the
    numbers that the encodings of Inf and NaN could be, `RNE-FP16:17`.

    Fixed point is `MODE-Q<i>.<f>`, i bits above the binary point and f below it, and `MODE-W<i>.<f>` wraps.
    Sums of integers are `WRAP-INT<n>`, `SAT-INT<n>`, `WRAP-UINT<n>`, `SAT-UINT<n>`, n bits, which saturate
    or are taken modulo 2^n.
    """
    if isinstance(text, Conversion):
        return text
    if (whole := _WHOLE.fullmatch(text)) and 2 <= int(whole[3]) <= 64:
        bits = int(whole[3]) - (not whole[2])
        return Conversion(
            "RZ", 0, bits, integer_bits=bits, wraps=whole[1] == "WRAP", saturates=whole[1] == "SAT",
            signed=not whole[2],
        )  # fmt: skip
    mode, dash, shape = text.partition("-")
    if random_word(mode) is None:
        check_choice("rounding mode", mode, MODES)
    shape, below, limit = shape.partition(":")
    if below:
        return _limited(conversion(f"{mode}-{shape}"), text, limit)
    if shape in _NAMED:
        return Conversion(mode, *_NAMED[shape])
    if (fixed := _FIXED.fullmatch(shape)) and 1 <= int(fixed[2]) <= 64 and int(fixed[3]) <= 112:
        i, f = int(fixed[2]), int(fixed[3])
        return Conversion(mode, 0, i + f, integer_bits=i, wraps=fixed[1] == "W")
    match = _SHAPE.fullmatch(shape)
    if not dash or not match or not (2 <= int(match[1]) <= 15 and 1 <= int(match[2]) <= 112):
        raise InputError(f"expected a conversion such as RZ-FP32, RNE-FP16 or RZ-E8M13, but got {text!r}")
    return Conversion(mode, int(match[1]), int(match[2]))


def _limited(whole: Conversion, text: str, limit: str) -> Conversion:
    """A floating-point conversion with results below 2^limit, fewer binades or one more; else InputError."""
    if whole.integer_bits is not None or not _LIMIT.fullmatch(limit):
        raise InputError(
            f"expected an exponent after a floating-point target, as RNE-FP16:15, but got {text!r}"
        )
    if not whole.e_min < int(limit) <= whole.e_max + 2 or int(limit) == whole.e_max + 1:
        low, high = whole.e_min + 1, whole.e_max
        raise InputError(
            f"expected results below 2^n with n from {low} to {high}, or {high + 2}, but got {text!r}"
        )
    return replace(whole, head_room=int(limit) - 1 - whole.e_max)
