"""Affine error forms: a program's scalars as sums of word products and bounded error terms."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.bounds.program.words import Powers, Symbols, WordForm, joined, relative
from tcformal.design.steps import QuotientStep, RoundStep, ScaledProduct, format_of
from tcformal.encodings.spec import Format
from tcformal.errors import InputError


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
