"""Affine error forms: words of an element, and a program's scalars as sums of word products and errors."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from tcformal.design.rounding import NEAREST
from tcformal.design.steps import QuotientStep, RoundStep, ScaledProduct, format_of
from tcformal.encodings.spec import Format
from tcformal.errors import InputError

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
        if self.normal(w, fmt) or self.exponents is None:
            return Fraction(0)
        return min(self.share(w), Fraction(2) ** (fmt.e_min - self.exponents.low))

    def raised(self, w: WordForm, fmt: Format) -> Fraction:
        """A bound on the maximum of |w| and the least normal number, in units of |x|, for nonzero w."""
        share = self.share(w)
        if self.normal(w, fmt) or self.exponents is None:
            return share
        return max(share, Fraction(2) ** (fmt.e_min - self.exponents.low))

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
                counted *= self.raised(w, fmt)
        return counted, min(lost, shares[0] * shares[1])


def relative(target: Format, mode: str) -> Fraction:
    """The maximal relative error of rounding to a normal number."""
    u = Fraction(1, 1 << target.precision)
    return u / (1 + u) if mode in NEAREST else 2 * u


def exponent(x: Fraction, *, up: bool = False) -> int:
    """The exponent of the largest power of two at most |x|; with `up`, of the least one at least |x|."""
    x = abs(x)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    if Fraction(2) ** e > x:
        e -= 1
    return e + (up and Fraction(2) ** e != x)


def joined(x: Powers, y: Powers) -> Powers:
    """The product of two sets of data-dependent powers of two."""
    if not x or not y:
        return x or y
    powers = dict(x)
    for i, times in y:
        powers[i] = powers.get(i, 0) + times
    return tuple(sorted((i, times) for i, times in powers.items() if times))


@dataclass(frozen=True, slots=True)
class Scale:
    """A positive scale factor: factor · Π magnitude^times · (1 + θ), |θ| <= error.

    Shapes: powers: (number of the step that finds the magnitude, how often), in order.
    Ranges and units: it neither underflows nor overflows, nor do its parts.
    """

    factor: Fraction
    powers: Powers = ()
    error: Fraction = Fraction(0)

    def times(self, other: Scale) -> Scale:
        """The exact product."""
        error = (1 + self.error) * (1 + other.error) - 1
        return Scale(self.factor * other.factor, joined(self.powers, other.powers), error)

    def over(self, other: Scale) -> Scale:
        """The exact quotient."""
        turned = tuple((i, -times) for i, times in other.powers)
        error = (1 + self.error) / (1 - other.error) - 1
        return Scale(self.factor / other.factor, joined(self.powers, turned), error)

    def rounded(self, target: Format, mode: str) -> Scale:
        """The scale after rounding to a format, with a larger error."""
        return Scale(self.factor, self.powers, (1 + self.error) * (1 + relative(target, mode)) - 1)


def scale_of(value: object, what: str) -> Scale:
    """A scale, or a positive constant converted to one; InputError for another value."""
    if isinstance(value, Fraction) and value > 0:
        return Scale(value)
    if not isinstance(value, Scale):
        raise InputError(f"expected scales and positive constants, but {what} divides other values")
    return value


def quotient_of(step: QuotientStep, values: Mapping[int, object]) -> Scale:
    """The rounded quotient of scales or positive constants."""
    x, y = (scale_of(values[j], step.name) for j in step.sources)
    return x.over(y).rounded(format_of(step), step.mode)


def rounded_scale(
    step: RoundStep, addends: Sequence[ScaledProduct], values: Mapping[int, object]
) -> Scale | None:
    """The rounded product of a scale with a scale or positive constant; None for any other step."""
    if len(addends) != 1 or addends[0].negative or addends[0].exponents:
        return None
    factors = [values[j] for j in addends[0].factors]
    if not any(isinstance(x, Scale) for x in factors):
        return None
    product = Scale(Fraction(2) ** addends[0].shift)
    for x in factors:
        if isinstance(x, Fraction) and x > 0:
            x = Scale(x)
        if not isinstance(x, Scale):
            return None
        product = product.times(x)
    return product.rounded(step.target, step.mode)


#: For each product a_k·b_k a weight: Σ weight·|a_k·b_k|.  Every operation on them is rounded up.
Weights = NDArray[np.float64]
#: More than what an operation of binary64 rounds down by, and the least weight that is not zero.
_UP, _LEAST = 1 + 2.0**-50, 2.0**-900
#: (symbol of a, symbol of b) -> coefficient.
Products = Mapping[tuple[int, int], Fraction]


@lru_cache(maxsize=16)
def nothing(n: int) -> Weights:
    """The shared vector of n zero weights, read-only."""
    zeros = np.zeros(n)
    zeros.flags.writeable = False
    return zeros


def _none(w: Weights) -> bool:
    """Whether weights are the shared zero vector; False proves nothing."""
    return w is nothing(w.size)


def times(w: Weights, factor: Fraction) -> Weights:
    """Weights times a nonnegative factor, rounded up."""
    if factor == 1 or _none(w):
        return w
    product = w * (weight(factor) * _UP * _UP)
    # What is not zero is at least the least weight, so that this is zero where `w` is.
    return np.maximum(product, np.minimum(w, _LEAST), out=product)


def plus(x: Weights, y: Weights | float) -> Weights:
    """The sum of weights, rounded up."""
    if isinstance(y, np.ndarray) and (_none(x) or _none(y)):
        return y if _none(x) else x
    return (x + y) * _UP


def weight(x: Fraction) -> float:
    """A nonnegative number as a weight, rounded up."""
    return max(float(x) * _UP, _LEAST) if x else 0.0


def largest(w: Weights) -> Fraction:
    """The largest weight, which bounds Σ weight·|a_k·b_k| in units of Σ|a_k·b_k|."""
    return Fraction(float(w.max()))


@cache
def room(target: Format, n: int, high: int) -> float:
    """A weight below which n products of elements up to an exponent cannot overflow a format."""
    top = (2 - Fraction(2, 1 << target.fraction_bits)) * Fraction(2) ** target.e_max
    return float(min(top / n / Fraction(4) ** (high + 1), Fraction(2) ** 1000)) / _UP


@dataclass(frozen=True, slots=True)
class ProductRun:
    """Products of words of consecutive elements: Σ_k Σ coefficient·symbol(a_k)·symbol(b_k), k in a run.

    Ranges and units: `most`: what they are at most, as the weight of each element.
    """

    start: int
    stop: int
    products: Products
    most: float


@dataclass(frozen=True, slots=True)
class ErrorForm:
    """An affine error form of a scalar: value·2^-powers = Σ runs + Σ coefficient·error + loose errors.

    Shapes: runs in order, none beside one of the same products; `loose` [n]: errors that nothing else holds.
    Ranges and units: the value is a multiple of 2^grid; None without a range of exponents.
    """

    runs: tuple[ProductRun, ...]
    loose: Weights
    errors: Mapping[int, Fraction] = field(default_factory=dict)
    grid: int | None = None
    powers: Powers = ()

    @property
    def zero(self) -> bool:
        """Whether the form is identically zero."""
        return not self.runs and not self.errors and (_none(self.loose) or not self.loose.any())


class Sums:
    """The arithmetic of error forms for one program and length."""

    def __init__(self, symbols: Symbols, n: int) -> None:
        self.symbols, self.n = symbols, n
        #: Errors that several values hold: what each is at most.
        self.errors: list[Weights] = []
        #: Products of two words, and sums of products, with what they are at most, by which objects they are
        #: made of; those are kept, and so no other object is at their place.
        self._made: dict[tuple[object, ...], tuple[object, Products, float]] = {}

    def nothing(self) -> ErrorForm:
        """The zero form."""
        return ErrorForm((), nothing(self.n))

    def product(self, a: WordForm, b: WordForm, start: int, length: int) -> ErrorForm:
        """The products of two words summed over a run of elements; elements beyond the end are zero."""
        if a.letter == b.letter:
            raise InputError("expected products of a word of a and one of b, but got two of the same input")
        if a.letter == "b":
            a, b = b, a
        stop = min(start + length, self.n)
        if stop <= start:
            return self.nothing()
        run = ProductRun(start, stop, *self._product(a, b))
        exponents = self.symbols.exponents
        grid = None if exponents is None else 2 * exponents.low - a.grid - b.grid
        return ErrorForm((run,), nothing(self.n), {}, grid, joined(a.powers, b.powers))

    def _product(self, a: WordForm, b: WordForm) -> tuple[Products, float]:
        """The product of two words as symbol products, with a bound on its magnitude."""
        key = id(a), id(b)
        if key not in self._made:
            coefficients = {(i, j): p * q for i, p in a.terms for j, q in b.terms if p * q}
            self._made[key] = (a, b), coefficients, self._bound(coefficients)
        return self._made[key][1:]

    def _total(self, parts: Sequence[tuple[Products, Fraction]]) -> tuple[Products, float]:
        """A linear combination of products, with a bound on its magnitude."""
        key = tuple((id(x), q.numerator, q.denominator) for x, q in parts)
        if key not in self._made:
            total: dict[tuple[int, int], Fraction] = {}
            for products, q in parts:
                for at, p in products.items():
                    scaled = p if q == 1 else p * q
                    total[at] = total[at] + scaled if at in total else scaled
            same = len(parts) == 1 and parts[0][1] == 1
            left = parts[0][0] if same else {at: p for at, p in total.items() if p}
            self._made[key] = parts, left, self._bound(left)
        return self._made[key][1:]

    def _bound(self, products: Products) -> float:
        bounds = self.symbols.bounds
        return weight(sum((abs(q) * bounds[i] * bounds[j] for (i, j), q in products.items()), Fraction(0)))

    def _lin(self, runs: Sequence[ProductRun]) -> Weights:
        """The bounds of runs, as weights by element."""
        weights = np.zeros(self.n)
        for run in runs:
            weights[run.start : run.stop] = run.most
        return weights

    def most(self, x: ErrorForm) -> Weights:
        """A bound on |x|, as weights by element."""
        total = plus(self._lin(x.runs), x.loose)
        for i, q in x.errors.items():
            total = plus(total, times(self.errors[i], abs(q)))
        return total

    def sum(self, parts: Sequence[tuple[ErrorForm, Fraction, Powers]]) -> ErrorForm:
        """The exact linear combination of forms, times powers of two."""
        parts = [x for x in parts if not x[0].zero]
        if not parts:
            return self.nothing()
        powers = {joined(x.powers, more) for x, _, more in parts}
        if len(powers) > 1:
            raise InputError("expected sums of values at the same scale, but got others")
        errors, loose = dict[int, Fraction](), list[Weights]()
        grids: list[int | None] = []
        for x, q, _ in parts:
            for i, p in x.errors.items():
                more = p if q == 1 else p * q
                errors[i] = errors[i] + more if i in errors else more
            loose.append(x.loose if q == 1 else times(x.loose, abs(q)))
            grids.append(x.grid if x.grid is None or q == 1 else x.grid + _shift(q))
        runs = self.added([(run, q) for x, q, _ in parts for run in x.runs])
        known = [x for x in grids if x is not None]
        left = {i: q for i, q in errors.items() if q}
        return ErrorForm(runs, reduce(plus, loose), left, min(known, default=None), powers.pop())

    def added(self, parts: Sequence[tuple[ProductRun, Fraction]]) -> tuple[ProductRun, ...]:
        """The linear combination of runs."""
        ends = sorted({x for run, _ in parts for x in (run.start, run.stop)})
        runs: list[ProductRun] = []
        for start, stop in itertools.pairwise(ends):
            left, most = self._total(
                [(run.products, q) for run, q in parts if run.start <= start and stop <= run.stop]
            )
            if runs and runs[-1].stop == start and runs[-1].products == left:
                runs[-1] = replace(runs[-1], stop=stop)
            elif left:
                runs.append(ProductRun(start, stop, left, most))
        return tuple(runs)

    def disturbed(self, x: ErrorForm, error: Weights, *, shared: bool) -> ErrorForm:
        """The form plus an error term; a `shared` one keeps its identity, so that it may cancel."""
        if _none(error) or not error.any():
            return x
        if not shared:
            return ErrorForm(x.runs, plus(x.loose, error), x.errors, x.grid, x.powers)
        self.errors.append(error)
        errors = {**x.errors, len(self.errors) - 1: Fraction(1)}
        return ErrorForm(x.runs, x.loose, errors, x.grid, x.powers)

    def merged(self, held: Sequence[ErrorForm]) -> list[ErrorForm]:
        """Forms in which error terms of constant proportions are merged."""
        ways: dict[tuple[Fraction, ...], list[int]] = {}
        for i in {i for x in held for i in x.errors}:
            shares_of = [x.errors.get(i, Fraction(0)) for x in held]
            first = next(abs(q) for q in shares_of if q)
            ways.setdefault(tuple(q / first for q in shares_of), []).append(i)
        new: list[dict[int, Fraction]] = [{} for _ in held]
        for shares, members in ways.items():
            total = nothing(self.n)
            for i in members:
                factor = next(abs(x.errors[i]) for x in held if x.errors.get(i))
                # Errors may be joined with their signs: an error that is as often negative is as large.
                total = plus(total, times(self.errors[i], factor))
            self.errors.append(total)
            for errors, q in zip(new, shares, strict=True):
                if q:
                    errors[len(self.errors) - 1] = q
            for i in members:
                self.errors[i] = nothing(0)
        return [replace(x, errors=e) for x, e in zip(held, new, strict=True)]

    def distance(self, x: ErrorForm) -> Weights:
        """A bound on |x - Σ a_k·b_k|."""
        made = self.most(ErrorForm((), x.loose, x.errors))
        left = np.ones(self.n)
        for run in x.runs:
            products = dict(run.products)
            products[0, 0] = products.get((0, 0), Fraction(0)) - 1
            left[run.start : run.stop] = self._bound(products)
        return plus(made, left)


def _shift(q: Fraction) -> int:
    """The 2-adic valuation of a dyadic number."""
    low = (q.numerator & -q.numerator).bit_length() - 1
    return low - (q.denominator.bit_length() - 1)
