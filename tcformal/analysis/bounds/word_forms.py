"""Words of an element as linear combinations of the element and of rounding errors, with bounds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design.rounding import NEAREST
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.values import exponent_of

#: Powers of two that depend on data: (number of the step, how often), in order.
Powers = tuple[tuple[int, int], ...]

#: Exponents of the elements unless others are given: where numbers of half precision are normal.
EXPONENTS = (-14, 14)


@dataclass(frozen=True, slots=True)
class WordForm:
    """A word w of an element x of a or b, as a linear form: w·2^-powers = Σ coefficient·symbol.

    Ranges and units: symbol 0 is x itself, the others are rounding errors; w is a multiple of 2^(e - grid), e
    the exponent of x, 2^e <= |x| < 2^(e + 1).  A zero x has the words 0.
    """

    letter: str
    terms: tuple[tuple[int, Fraction], ...]
    grid: int
    powers: Powers = ()
    #: |w| is at least floor·2^e for an x that is not zero.
    floor: Fraction = Fraction(0)
    #: Whether its scale is no power of two: bounds of its errors are in units of |x|, and it has no grid.
    real: bool = False

    def scaled(self, factor: Fraction, powers: Powers = ()) -> WordForm:
        """The word times a power of two and times data-dependent powers."""
        shift = exponent(factor)
        terms = tuple((i, q * factor) for i, q in self.terms)
        return WordForm(
            self.letter, terms, self.grid - shift, joined(self.powers, powers), self.floor * abs(factor),
            self.real,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Range:
    """The exponent range of all nonzero elements of a and b."""

    low: int
    high: int


class Symbols:
    """The rounding errors of one program's words, each with its bound.

    Ranges and units: bounds in units of 2^e, e the exponent of the element; `exponents` None: nothing
    underflows and nothing overflows, whatever the elements are.
    """

    def __init__(self, exponents: Range | None) -> None:
        self.exponents = exponents
        #: By symbol: symbol 0 is the element, at most itself.
        self.bounds: list[Fraction] = [Fraction(1)]

    def input(self, letter: str, fmt: Format) -> WordForm:
        """The element itself as a word."""
        return WordForm(letter, ((0, Fraction(1)),), fmt.fraction_bits, floor=Fraction(1))

    def share(self, w: WordForm) -> Fraction:
        """A bound on |w| in units of |x|."""
        return sum((abs(q) * self.bounds[i] for i, q in w.terms), Fraction(0))

    def most(self, w: WordForm, fmt: Format) -> Fraction:
        """A bound on |w| in units of 2^e, e being the exponent of x in format `fmt`."""
        own = 2 - Fraction(1, 1 << fmt.fraction_bits)
        return sum((abs(q) * (self.bounds[i] if i else own) for i, q in w.terms), Fraction(0))

    def total(self, parts: Sequence[WordForm]) -> WordForm:
        """The exact sum of words of one element."""
        first = parts[0]
        if any(w.letter != first.letter or w.powers != first.powers for w in parts):
            raise InputError("expected sums of words of the same elements at the same scale, but got others")
        terms: dict[int, Fraction] = {}
        for w in parts:
            for i, q in w.terms:
                terms[i] = terms.get(i, Fraction(0)) + q
        kept = tuple(sorted((i, q) for i, q in terms.items() if q))
        floor = first.floor
        if len(parts) > 1:
            lost = sum((abs(q) * self.bounds[i] for i, q in kept if i), Fraction(0))
            floor = max(abs(terms.get(0, Fraction(0))) - lost, Fraction(0))
        real = any(w.real for w in parts)
        return WordForm(first.letter, kept, max(w.grid for w in parts), first.powers, floor, real)

    def multiplied(self, w: WordForm, factor: Fraction, powers: Powers, error: Fraction) -> WordForm:
        """The word times a scale with relative error `error`."""
        terms = tuple((i, q * factor) for i, q in w.terms)
        product = WordForm(w.letter, terms, 0, joined(w.powers, powers), real=True)
        return self._disturbed(product, error * self.share(product))

    def _disturbed(self, w: WordForm, bound: Fraction) -> WordForm:
        """The word plus a new error symbol."""
        if not bound:
            return w
        self.bounds.append(bound)
        return replace(w, terms=(*w.terms, (len(self.bounds) - 1, Fraction(1))))

    def rounded(self, w: WordForm, own: Format, target: Format, mode: str, saturates: bool) -> WordForm:
        """The word rounded to a format; the rounding error is a new symbol unless it is always zero.

        Ranges and units: `own` is the format of x.  A number of 2^grid units of at most 2^precision is one of
        the format; the error of others is half an ulp of the largest, or an ulp where it is not to nearest.
        Errors: InputError where a number in the range may overflow or, unrounded, saturate.
        """
        if w.real:
            return self._disturbed(w, relative(target, mode) * self.share(w))
        most = self.most(w, own)
        self._check(most, target)
        if not most:
            return w
        e = exponent(most, up=True) - 1
        bound = Fraction(2) ** (e - target.fraction_bits)
        exact = most * Fraction(2) ** w.grid <= 1 << target.precision
        if self.exponents is not None:
            # What underflows is a multiple of the least number.
            least, low = target.e_min - target.fraction_bits, self.exponents.low
            small = low - w.grid < least
            exact = exact and not small
            if small and not target.subnormals:
                least = target.e_min
            bound = max(bound, Fraction(2) ** (least - low)) if small else bound
        if exact:
            return w
        if mode in NEAREST:
            bound /= 2
        self.bounds.append(min(bound, most) if mode in (*NEAREST, "RZ") else bound)
        new = (len(self.bounds) - 1, Fraction(1))
        return WordForm(w.letter, (*w.terms, new), w.grid, w.powers, self._floor(w, target))

    def _floor(self, w: WordForm, target: Format) -> Fraction:
        """A lower bound on the rounded word: a power of two that the format contains."""
        if not w.floor:
            return w.floor
        e = exponent(w.floor)
        low = 0 if self.exponents is None else self.exponents.low
        return Fraction(2) ** e if self.exponents is None or e + low >= target.e_min else Fraction(0)

    def _check(self, most: Fraction, target: Format) -> None:
        """Raise InputError where a word may exceed the largest number of its format."""
        if self.exponents is None:
            return
        largest = (2 - Fraction(2, 1 << target.fraction_bits)) * Fraction(2) ** target.e_max
        if most * Fraction(2) ** self.exponents.high > largest:
            raise InputError(
                f"expected words that do not overflow {target.name}, but elements below "
                f"2^{self.exponents.high + 1} may"
            )

    def normal(self, w: WordForm, fmt: Format) -> bool:
        """Whether no word in the range is subnormal in a format; True without a range."""
        if self.exponents is None or self.exponents.low - w.grid >= fmt.e_min:
            return True
        return w.floor * Fraction(2) ** self.exponents.low >= Fraction(2) ** fmt.e_min

    def flushed(self, w: WordForm, fmt: Format) -> Fraction:
        """A bound on |w| where it is subnormal in a format, in units of |x|."""
        return Fraction(0) if self.normal(w, fmt) else min(self.share(w), self._least(fmt))

    def _least(self, fmt: Format) -> Fraction:
        """The least normal number of a format, in units of the least element of the range."""
        assert self.exponents is not None  # as a word may be subnormal
        return Fraction(2) ** (fmt.e_min - self.exponents.low)

    def sizes(
        self, words: Sequence[tuple[WordForm, Format]], flushed: Collection[str]
    ) -> tuple[Fraction, Fraction]:
        """Bounds for a product of two words: its magnitude in a theorem, and its loss by flushing.

        Ranges and units: in units of |a_k·b_k|; `flushed` of "a" and "b".  A factor that is not flushed
        counts as the least normal number at least.  Lost is all of a product of which one factor is below
        that.
        """
        shares = [self.share(w) for w, _ in words]
        counted, lost = Fraction(1), Fraction(0)
        for (w, fmt), letter, own, other in zip(words, "ab", shares, shares[::-1], strict=True):
            if letter in flushed:
                counted *= own
                lost += self.flushed(w, fmt) * other
            else:
                counted *= own if self.normal(w, fmt) else max(own, self._least(fmt))
        return counted, min(lost, shares[0] * shares[1])


def relative(target: Format, mode: str) -> Fraction:
    """The maximal relative error of rounding to a normal number."""
    u = Fraction(1, 1 << target.precision)
    return u / (1 + u) if mode in NEAREST else 2 * u


def exponent(x: Fraction, *, up: bool = False) -> int:
    """The exponent of the largest power of two at most |x|; with `up`, of the least one at least |x|."""
    e = exponent_of(abs(x))
    return e + (up and Fraction(2) ** e != abs(x))


def joined(x: Powers, y: Powers) -> Powers:
    """The product of two sets of data-dependent powers of two."""
    if not x or not y:
        return x or y
    powers = dict(x)
    for i, times in y:
        powers[i] = powers.get(i, 0) + times
    return tuple(sorted((i, times) for i, times in powers.items() if times))
