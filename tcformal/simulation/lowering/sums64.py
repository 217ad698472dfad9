"""Sums in binary64 with one final rounding to binary32: products and at most one other number.

Products of formats of up to 24 bits are exact in binary64.  A binary64 sum rounded to odd rounds to binary32
as the exact sum does, also if it was rounded to odd twice, or if it has three terms whose small parts were
[Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008].  More than two products are added in
two exact windows, if the format's exponents allow that.
"""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.backends.lanes import DOUBLE, TRUTH, WORD, Code, LaneValue
from tcformal.encodings.spec import Format
from tcformal.simulation.kernels.lowering import Emit, as_float, as_word, float_kind

#: Bits of a significand of binary64, and what it has beyond one of binary32.
_PRECISION, _BEYOND = 53, 29
#: Encodings of binary64: the least normal number of binary32, and all but the sign.
_LEAST, _SIZE = (1023 - 126) << 52, (1 << 63) - 1
#: Inf of binary32, and all but the sign.
_INF, _SIZE_32 = 0xFF << 23, (1 << 31) - 1


def _window(a: Format, b: Format, products: int) -> int | None:
    """The weight that splits a sum of `products` terms into two exact windows; None if none exists."""
    grown = products.bit_length()
    lowest = 2 - a.bias - b.bias - a.fraction_bits - b.fraction_bits
    highest = (1 << a.exponent_bits) + (1 << b.exponent_bits) - a.bias - b.bias
    cut = (lowest + highest) // 2
    return cut if max(highest - cut, cut - lowest) + grown + 1 < _PRECISION else None


def fits(a: Format, b: Format, products: int, values: int) -> bool:
    """Whether `rounded_sum` supports this number of products and of other binary32 numbers."""
    if a.precision + b.precision > _PRECISION - 4 or values > 1:
        return False
    return products == 2 or (products > 2 and _window(a, b, products) is not None)


def rounded_sum(a: Format, b: Format, products: int, values: int) -> Emit:
    """The exact sum of products and at most one binary32 number, rounded to nearest.

    Shapes: the factors a, b of each product, then the number; encodings of binary32.
    Zero: a sum of zero is -0 where every operand is negative.  Inf: the number, products being finite.
    """
    cut = None if products == 2 else _window(a, b, products)

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        f = _Doubles(code)
        x = [f.widened(y) for y in given]
        terms = [f("mul", x[2 * i], x[2 * i + 1]) for i in range(products)]
        if cut is not None:
            terms = f.windows(terms, cut)
        if not values:
            return f.narrowed(f.add_to_odd(*terms))
        total, low = f.two_sum(terms[1], x[-1])
        high, middle = f.two_sum(terms[0], total)
        whole = f.add_to_odd(high, f.add_to_odd(middle, low))
        none = code.relate("eq", DOUBLE, f.size(whole), code.word(0, DOUBLE))
        return _special(code, none, f.narrowed(whole), given, products)

    return emit


def _special(code: Code, none: str, made: LaneValue, given: Sequence[LaneValue], products: int) -> LaneValue:
    """The corrected sum for an exact zero (`none`) and for an addend that is NaN or Inf."""

    def bits(name: str, x: str, y: str) -> str:
        return code.apply(name, WORD, x, y)

    word = [code.operand(x, WORD) for x in given]
    size = code.word(_SIZE_32, WORD)
    signs = word[-1]
    for i in range(products):
        signs = bits("and", signs, bits("xor", word[2 * i], word[2 * i + 1]))
    signs = bits("and", signs, code.word(1 << 31, WORD))
    text = code.choose(none, WORD, signs, made.text)
    beyond = code.relate("ule", WORD, code.word(_INF, WORD), bits("and", word[-1], size))
    return LaneValue(code.choose(beyond, WORD, word[-1], text), 0, (1 << WORD) - 1, WORD)


def rounded_to_odd(name: str) -> Emit:
    """A product or sum of two binary32 numbers rounded to odd; results below normal become zero.

    Inf: what is 2^128 and more; an operand that is Inf or NaN is added as IEEE 754 says.
    """

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        f = _Doubles(code)
        x, y = (f.widened(v) for v in given)
        if name == "mul":
            return f.narrowed_to_odd(f("mul", x, y))
        plain = f("add", x, y)
        finite = code.relate("ult", DOUBLE, f.size(plain), code.word(0x7FF << 52, DOUBLE))
        made = code.choose(finite, DOUBLE, f.word(f.add_to_odd(x, y)), f.word(plain))
        return f.narrowed_to_odd(f.number(made))

    return emit


class _Doubles:
    """A builder of binary64 instructions, one number per lane."""

    def __init__(self, code: Code) -> None:
        self._code, self._kind = code, float_kind(code, DOUBLE)

    def __call__(self, name: str, x: str, y: str) -> str:
        return self._code.new(f"f{name} {self._kind} {x}, {y}")

    def word(self, x: str) -> str:
        """Bit cast from a binary64 number to its encoding."""
        return as_word(self._code, x, DOUBLE).text

    def number(self, word: str) -> str:
        """Bit cast from an encoding to a binary64 number."""
        return as_float(self._code, LaneValue(word, 0, (1 << DOUBLE) - 1, DOUBLE))

    def size(self, x: str) -> str:
        """The encoding of a number's magnitude."""
        return self._code.apply("and", DOUBLE, self.word(x), self._code.word(_SIZE, DOUBLE))

    def constant(self, exponent: int) -> str:
        """The constant 1.5·2^exponent."""
        text = f"{1.5 * 2.0**exponent:.1f}"
        return text if self._code.lanes == 1 else f"splat (double {text})"

    def widened(self, x: LaneValue) -> str:
        """Conversion from binary32 to binary64."""
        text = as_float(self._code, LaneValue(self._code.operand(x, WORD), 0, (1 << WORD) - 1, WORD))
        return self._code.new(f"fpext {float_kind(self._code, WORD)} {text} to {self._kind}")

    def narrowed(self, x: str) -> LaneValue:
        """Conversion to binary32, rounded to nearest, as an encoding."""
        rounded = self._code.new(f"fptrunc {self._kind} {x} to {float_kind(self._code, WORD)}")
        return as_word(self._code, rounded, WORD)

    def two_sum(self, x: str, y: str) -> tuple[str, str]:
        """TwoSum: the rounded sum of two numbers and its exact rounding error [Knuth]."""
        total = self("add", x, y)
        part = self("sub", total, x)
        return total, self("add", self("sub", x, self("sub", total, part)), self("sub", y, part))

    def add_to_odd(self, x: str, y: str) -> str:
        """The sum of two numbers, rounded to odd."""
        code = self._code
        total, lost = self.two_sum(x, y)
        word, rest = self.word(total), self.word(lost)
        one, none = code.word(1, DOUBLE), code.word(0, DOUBLE)
        even = code.relate("eq", DOUBLE, code.apply("and", DOUBLE, word, one), none)
        inexact = code.relate("ne", DOUBLE, self.size(lost), none)
        # An even neighbour of an inexact sum gives way to the odd one on the sum's side.
        apart = code.apply("ashr", DOUBLE, code.apply("xor", DOUBLE, word, rest), code.word(63, DOUBLE))
        odd = code.apply("add", DOUBLE, word, code.apply("or", DOUBLE, apart, one))
        return self.number(code.choose(code.apply("and", TRUTH, even, inexact), DOUBLE, odd, word))

    def windows(self, terms: Sequence[str], cut: int) -> list[str]:
        """Two exact sums over all terms: of the parts above and below the weight `cut`."""
        aid = self.constant(cut + _PRECISION - 1)
        high = low = ""
        for x in terms:
            top = self("sub", self("add", x, aid), aid)
            rest = self("sub", x, top)
            high = self("add", high, top) if high else top
            low = self("add", low, rest) if low else rest
        return [high, low]

    def narrowed_to_odd(self, x: str) -> LaneValue:
        """Conversion to binary32, rounded to odd, with zero below the least normal number."""
        code = self._code
        word = self.word(x)
        ones = code.word((1 << _BEYOND) - 1, DOUBLE)
        # What is cut off carries into the lowest bit that is kept, and that bit was 1 or becomes it.
        sticky = code.apply("add", DOUBLE, code.apply("and", DOUBLE, word, ones), ones)
        kept = code.apply("or", DOUBLE, word, sticky)
        kept = code.apply("and", DOUBLE, kept, code.word(-(1 << _BEYOND), DOUBLE))
        sign = code.apply("and", DOUBLE, word, code.word(1 << 63, DOUBLE))
        small = code.relate("ult", DOUBLE, self.size(x), code.word(_LEAST, DOUBLE))
        return self.narrowed(self.number(code.choose(small, DOUBLE, sign, kept)))
