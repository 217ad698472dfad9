"""Error propagation through a program's words, sums and calls; apart from the search for bad inputs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.bounds.proved import CallBounds
from tcformal.analysis.bounds.word_forms import Powers, Range, Symbols, WordForm, exponent, joined, relative
from tcformal.design import steps
from tcformal.design.rounding import NEAREST
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.numerals import lowest_bit
from tcformal.oracle.values import decode
from tcformal.theory.stated_sum import LETTERS, NO_C, StatedSum


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


def _scale(value: object) -> Scale | None:
    """A scale, or a positive constant as one; None for another value."""
    if isinstance(value, Fraction) and value > 0:
        return Scale(value)
    return value if isinstance(value, Scale) else None


def quotient_of(step: steps.QuotientStep, values: Mapping[int, object]) -> Scale:
    """The rounded quotient of scales or positive constants."""
    x, y = (_scale(values[j]) for j in step.sources)
    if x is None or y is None:
        raise InputError(f"expected scales and positive constants, but {step.name} divides other values")
    return x.over(y).rounded(steps.format_of(step), step.mode)


def rounded_scale(
    step: steps.RoundStep, addends: Sequence[steps.ScaledProduct], values: Mapping[int, object]
) -> Scale | None:
    """The rounded product of a scale with a scale or positive constant; None for any other step."""
    x = addends[0]
    factors = [values[j] for j in x.factors]
    if len(addends) != 1 or x.negative or x.exponents or not any(isinstance(v, Scale) for v in factors):
        return None
    scales = [v for v in map(_scale, factors) if v is not None]
    product = reduce(Scale.times, scales, Scale(Fraction(2) ** x.shift))
    return product.rounded(step.target, step.mode) if len(scales) == len(factors) else None


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

    def most(self, x: ErrorForm) -> Weights:
        """A bound on |x|, as weights by element."""
        weights = np.zeros(self.n)
        for run in x.runs:
            weights[run.start : run.stop] = run.most
        total = plus(weights, x.loose)
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
            grids.append(x.grid if x.grid is None or q == 1 else x.grid + lowest_bit(q))
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


def _is_power(x: Fraction) -> bool:
    """Whether a number is a power of two, of either sign."""
    return abs(x.numerator * x.denominator).bit_count() == 1


@dataclass(slots=True, eq=False)
class WordRow:
    """A word of consecutive elements, zero beyond the last one; a single element if `length` is None."""

    word: WordForm
    start: int
    length: int | None


#: A step's value: words of elements, one total, totals, a constant, a scale, or nothing for an exponent.
StepForm = WordRow | ErrorForm | list[ErrorForm] | Fraction | Scale | None


def needed_sum(
    step: steps.CallStep, plan: steps.ProgramPlan, normal: frozenset[str], *, zero_c: bool
) -> StatedSum:
    """The sum that a theorem about a call must cover.

    Ranges and units: `normal`: which of its operands are never subnormal.  All products are added; what is
    flushed is counted as lost; c is normal, with the bits that its step gives.
    """
    design, given = step.unit.design, plan.steps[step.c]
    bits = steps.format_of(given).fraction_bits
    if isinstance(given, steps.CallStep) and given.unit.tree is None and given.unit.emulation is None:
        bits = given.unit.design.rho.fraction_bits
    c = NO_C if zero_c else design.c_position
    return StatedSum(flushed=LETTERS, normal=normal | {"c"}, c=c, c_bits=bits)


def check_small(step: steps.CallStep, products: ErrorForm, c: ErrorForm, least: int) -> None:
    """Raise InputError where a product may be below 2^least, or c below that or subnormal.

    A number that is a multiple of a power of two is at least that, or zero.
    """
    for what, x, low in (("products", products, least), ("c", c, max(least, step.unit.c_format.e_min))):
        if not x.zero and (x.grid is None or x.grid < low):
            raise InputError(
                f"expected {what} of at least 2^{low} for {step.unit.name}, but some may be smaller"
            )


@cache
def _signed_power(shift: int, negative: bool) -> Scale:
    return Scale(Fraction(2) ** shift * (-1 if negative else 1))


def parted(x: steps.ScaledProduct, values: Sequence[StepForm]) -> tuple[Scale, list[StepForm]]:
    """An addend's scale with its sign, and its other factors, by the values of all factors."""
    own, rest = _signed_power(x.shift, x.negative), list[StepForm]()
    if x.exponents:
        own = Scale(own.factor, reduce(joined, ((power,) for power in x.exponents), ()))
    for value in values:
        # Not by isinstance, which takes most of the time here: the class of a fraction is an abstract one's.
        if type(value) is Fraction:
            own = own.times(Scale(value))
        elif isinstance(value, Scale):
            own = own.times(value)
        else:
            rest.append(value)
    return own, rest


def check_saturation(step: steps.RoundStep, w: WordForm, share: Fraction, plan: steps.ProgramPlan) -> None:
    """Raise InputError where a word scaled by the largest magnitude may exceed its format and saturate.

    Ranges and units: `share`: what |w| is at most in units of the element over the magnitude, at most 1.
    """
    target = step.target
    (source, times) = w.powers[0] if len(w.powers) == 1 else (0, 0)
    if times != -1 or not isinstance(plan.steps[source], steps.MagnitudeStep):
        return
    # To nearest, what is less than half an ulp beyond it is rounded to it.
    most = decode(target, target.largest).magnitude
    ulp = Fraction(2) ** (exponent(most) - target.fraction_bits)
    if share > most + (ulp / 2 if step.mode in NEAREST else 0):
        raise InputError(f"expected words that fit {target.name}, but the largest of {step.name} do not")


def paths(plan: steps.ProgramPlan) -> tuple[list[np.ndarray], dict[int, list[int]]]:
    """The number of data-flow paths from each element to the result, and the dead values after each step.

    Ranges and units: 2 stands for more; an error on one way cannot cancel.  Of each step those whose values
    nothing takes after it.
    """
    ways = [np.zeros(1 if s.length is None else s.length, np.int64) for s in plan.steps]
    ways[plan.result] += 1
    last: dict[int, int] = {}
    for i in range(len(plan.steps) - 1, -1, -1):
        step, own = plan.steps[i], np.minimum(ways[i], 2)
        for j in step.sources:
            last.setdefault(j, i)
        if isinstance(step, steps.SliceStep):
            there = ways[step.source][step.start : step.start + own.size]
            there += own[: there.size]
        elif isinstance(step, steps.JoinStep):
            for n, j in enumerate(step.items):
                ways[j] += own[n]
        else:
            for j in step.sources:
                same = isinstance(step, steps.RoundStep) and ways[j].size == own.size
                ways[j] += own if same else own.sum()
    done: dict[int, list[int]] = {}
    for j, i in last.items():
        if j != plan.result:
            done.setdefault(i, []).append(j)
    return ways, done


#: Errors that a value may hold before those that no other value holds are counted as lost.
_MOST_ERRORS = 24


class StepErrors:
    """Error propagation through a plan with c = 0: bounds the distance of its result to Σ a_k·b_k."""

    def __init__(self, plan: steps.ProgramPlan, exponents: Range | None, bounds: CallBounds) -> None:
        self.plan, self.n, self.exponents, self.bounds = plan, plan.products, exponents, bounds
        self.symbols = Symbols(exponents)
        self.sums = Sums(self.symbols, self.n)
        self.values: dict[int, StepForm] = {}
        self.read: dict[tuple[int, Format], WordForm] = {}
        self.ways, self.last = paths(plan)

    def constant(self) -> Fraction:
        """The least provable C with |d - Σ a_k·b_k| <= C·Σ|a_k·b_k|.

        Errors: InputError for a step of which nothing is known here, or words that may overflow.
        """
        for i, step in enumerate(self.plan.steps):
            self.values[i] = self._value(i, step)
            for done in self.last.get(i, ()):
                self.values.pop(done, None)
        d = self._total(self.values[self.plan.result])
        if d.powers:
            raise InputError("expected a result whose scales cancel, but some are left")
        return largest(self.sums.distance(d))

    # ------------------------------------------------------------------ steps
    def _value(self, i: int, step: steps.PlanStep) -> StepForm:
        if isinstance(step, steps.InputStep):
            if step.letter == "c":
                return Fraction(0)
            return WordRow(self.symbols.input(step.letter, steps.format_of(step)), 0, self.n)
        if isinstance(step, steps.ConstantStep):
            return decode(steps.format_of(step), step.word).number
        if isinstance(step, steps.SliceStep):
            return self._slice(step)
        if isinstance(step, steps.JoinStep):
            # Scales are taken one by one, where they are asked for.
            items = [self.values[j] for j in step.items]
            return None if any(isinstance(x, Scale) for x in items) else [self._total(x) for x in items]
        if isinstance(step, steps.RoundStep):
            return self._round(i, step)
        if isinstance(step, steps.CallStep):
            return self._call(i, step)
        if isinstance(step, steps.HeadroomStep | steps.MagnitudeStep):
            if self.exponents is not None:
                raise InputError("expected no range of exponents where scales depend on data, but got one")
            return Scale(Fraction(1), ((i, 1),)) if isinstance(step, steps.MagnitudeStep) else None
        if isinstance(step, steps.QuotientStep):
            return quotient_of(step, self.values)
        raise InputError(f"expected steps of which errors are known, but {step.name} is a {step.text}")

    def _slice(self, step: steps.SliceStep) -> StepForm:
        source = self.values[step.source]
        if isinstance(source, WordRow):
            return WordRow(source.word, source.start + step.start, step.length)
        if isinstance(source, list):
            elements = source[step.start : step.start + (step.length or 1)]
            elements += [self.sums.nothing()] * ((step.length or 1) - len(elements))
            return elements if step.length is not None else elements[0]
        raise InputError(f"expected a vector to take elements of, but {step.name} has none")

    # ------------------------------------------------------------------ roundings
    def _round(self, i: int, step: steps.RoundStep) -> StepForm:
        addends = [x for x in step.addends if not self._nought(x)]
        if not addends:
            return Fraction(0)
        if (scale := rounded_scale(step, addends, self.values)) is not None:
            return scale
        rows = [row for row in itertools.takewhile(bool, map(self._single, addends)) if row is not None]
        if len(rows) == len(addends):
            if len({(row.start, row.length) for row in rows}) > 1:
                raise InputError(f"expected words of the same elements, but {step.name} adds others")
            return WordRow(self._rounded(step, [row.word for row in rows]), rows[0].start, rows[0].length)
        if step.length is None:
            return self._added(i, step, addends, 0)
        return [self._added(i, step, addends, k) for k in range(step.length)]

    def _rounded(self, step: steps.RoundStep, words: list[WordForm]) -> WordForm:
        whole, target = self.symbols.total(words), step.target
        own = self.plan.input_format(whole.letter)
        for source, _ in whole.powers:
            # The largest scaled element is at most the limit; where that is subnormal, integers are meant.
            made, share = self.plan.steps[source], self.symbols.share(whole)
            if isinstance(made, steps.HeadroomStep) and share * made.limit < Fraction(2) ** target.e_min:
                raise InputError(
                    f"expected words with the first bits of every element, but {step.name} holds integers: 0 "
                    "for an element that is small beside the largest"
                )
        check_saturation(step, whole, self.symbols.share(whole), self.plan)
        return self.symbols.rounded(whole, own, target, step.mode, step.saturates)

    def _added(self, i: int, step: steps.RoundStep, addends: list[steps.ScaledProduct], k: int) -> ErrorForm:
        parts = [self._part(x, k) for x in addends]
        made, target = self.sums.sum(parts), step.target
        error = self._loss(made, target, step.mode)
        if len(addends) == 1 and self._exact(addends[0], target, k):
            error = nothing(self.n)
        return self._new(i, None if step.length is None else k, made, error)

    def _exact(self, x: steps.ScaledProduct, target: Format, k: int) -> bool:
        """Whether a scaled value, or a product of words, is exactly representable in the format."""
        rows = [self._element(self.values[j], k) for j in x.factors]
        words = [row.word for row in rows if isinstance(row, WordRow)]
        if len(words) == len(rows) == 2 and not any(w.real for w in words):
            most = Fraction(1)
            for w in words:
                most *= self.symbols.most(w, self.plan.input_format(w.letter)) * Fraction(2) ** w.grid
            low = 0 if self.exponents is None else 2 * self.exponents.low - sum(w.grid for w in words)
            fits = self.exponents is None or low >= target.e_min - target.fraction_bits
            return fits and most <= 1 << target.precision
        totals = [j for j in x.factors if isinstance(self._element(self.values[j], k), ErrorForm)]
        others = [self._element(self.values[j], k) for j in x.factors if j not in totals]
        if len(totals) != 1 or not all(isinstance(v, Fraction) and v > 0 and _is_power(v) for v in others):
            return False
        form, source = self._element(self.values[totals[0]], k), steps.format_of(self.plan.steps[totals[0]])
        assert isinstance(form, ErrorForm)
        grid = None if form.grid is None else form.grid + x.shift
        return source.precision <= target.precision and (
            self.exponents is None or (grid is not None and grid >= target.e_min - target.fraction_bits)
        )

    def _loss(self, x: ErrorForm, target: Format, mode: str) -> Weights:
        """The maximal rounding error of a total."""
        most = self.sums.most(x)
        lost = times(most, relative(target, mode))
        if self.exponents is None:
            return lost
        if most.max() > room(target, self.n, self.exponents.high):
            raise InputError(f"expected sums that do not overflow {target.name}, but some may in this range")
        least = target.e_min - target.fraction_bits
        if x.grid is None or x.grid < least:
            # What underflows: at most one least number, beside a sum of at least 2^(2·low).
            lost = plus(lost, weight(Fraction(2) ** (least - 2 * self.exponents.low)))
        return np.asarray(lost)

    # ------------------------------------------------------------------ operands
    def _nought(self, x: steps.ScaledProduct) -> bool:
        return any(type(v) is Fraction and not v for v in (self.values[j] for j in x.factors))

    def _single(self, x: steps.ScaledProduct) -> WordRow | None:
        """The scaled word of an addend that consists of one word."""
        own, rows = parted(x, [self.values[j] for j in x.factors])
        if len(rows) != 1 or not isinstance(rows[0], WordRow):
            return None
        row, factor = rows[0], own.factor
        if own.error or any(isinstance(self.plan.steps[i], steps.MagnitudeStep) for i, _ in own.powers):
            word = self.symbols.multiplied(row.word, factor, own.powers, own.error)
            return WordRow(word, row.start, row.length)
        if not _is_power(factor):
            raise InputError(f"expected words times powers of two, but got times {factor}")
        return WordRow(row.word.scaled(factor, own.powers), row.start, row.length)

    def _part(self, x: steps.ScaledProduct, k: int) -> tuple[ErrorForm, Fraction, Powers]:
        """An addend as a total with its factor and its powers of two."""
        own, made = parted(x, [self._element(self.values[j], k) for j in x.factors])
        rows = [row for row in made if isinstance(row, WordRow)]
        if len(made) == 1 and isinstance(made[0], ErrorForm):
            form = made[0]
        elif len(made) == len(rows) == 2:
            first, second = rows
            if first.start != second.start:
                raise InputError("expected products of the same elements of a and b, but got others")
            form = self.sums.product(first.word, second.word, first.start, 1)
        else:
            raise InputError("expected sums of products of words, but got others")
        if own.error:
            form = self.sums.disturbed(form, times(self.sums.most(form), own.error), shared=False)
        return form, own.factor, own.powers

    def _element(self, value: StepForm, k: int) -> WordRow | ErrorForm | Fraction | Scale | None:
        """Element k of a vector, or the scalar itself."""
        if isinstance(value, list):
            return value[k if len(value) > 1 else 0]
        if isinstance(value, WordRow) and value.length is not None:
            return WordRow(value.word, value.start + k, None)
        return value

    def _total(self, value: StepForm) -> ErrorForm:
        if isinstance(value, ErrorForm):
            return value
        if isinstance(value, Fraction) and not value:
            return self.sums.nothing()
        raise InputError("expected sums of products, but got another value")

    # ------------------------------------------------------------------ calls
    def _call(self, i: int, step: steps.CallStep) -> ErrorForm:
        o, c = step.unit.operands, self._total(self.values[step.c])
        if step.scales:
            raise InputError(f"expected calls of units without block scales, but got {step.unit.name}")
        rows = [self._operand(step.a, o.a), self._operand(step.b, o.b)]
        if rows[0].start != rows[1].start:
            raise InputError("expected calls on the same elements of a and b, but got others")
        start, length = rows[0].start, max(1, min(step.products, self.n - rows[0].start))
        exact = self.sums.product(rows[0].word, rows[1].word, start, length)
        d = step.unit.design
        if exact.zero and (c.zero or (d.summation == "fused" and d.c_fraction_bits is None and o.c == o.d)):
            return c  # as a call on zero products does
        words = [(row.word, fmt) for row, fmt in zip(rows, (o.a, o.b), strict=True)]
        normal = frozenset(x for x, (w, f) in zip("ab", words, strict=True) if self.symbols.normal(w, f))
        found = self.bounds.of(step.unit, length, needed_sum(step, self.plan, normal, zero_c=c.zero))
        if self.exponents is not None:
            check_small(step, exact, c, found.least)
        raised, flushed = self.symbols.sizes(words, found.sum.flushed)
        share, lost = np.zeros((2, self.n))
        share[start : start + length], lost[start : start + length] = weight(raised), weight(flushed)
        error = plus(plus(times(share, found.own), times(self.sums.most(c), found.other)), lost)
        made = self.sums.sum([(exact, Fraction(1), ()), (c, Fraction(1), ())])
        self._loss(made, o.d, "RZ")  # refuses what may overflow
        return self._new(i, None, made, error)

    def _operand(self, j: int, fmt: Format) -> WordRow:
        """A word as a unit reads it, without ignored low bits."""
        row = self.values[j]
        if not isinstance(row, WordRow):
            raise InputError("expected calls on words of the elements, but got one on results")
        if steps.format_of(self.plan.steps[j]) == fmt:
            return row
        key = (j, fmt)
        if key not in self.read:
            own = self.plan.input_format(row.word.letter)
            self.read[key] = self.symbols.rounded(row.word, own, fmt, "RZ", False)
        return WordRow(self.read[key], row.start, row.length)

    def _new(self, i: int, k: int | None, made: ErrorForm, error: Weights) -> ErrorForm:
        """A step's result with its new error term, shared if several paths lead to the result."""
        made = self.sums.disturbed(made, error, shared=bool(self.ways[i][k or 0] > 1))
        # Elements before this one are not among the values yet.
        return self._merged(made) if k is None and len(made.errors) > _MOST_ERRORS else made

    def _merged(self, made: ErrorForm) -> ErrorForm:
        """The value after error terms in constant proportions are merged, in all stored values."""
        rows = [value if isinstance(value, list) else [value] for value in self.values.values()]
        held = [x for row in rows for x in row if isinstance(x, ErrorForm)]
        made, *others = self.sums.merged([made, *held])
        new = iter(others)
        for j, value in self.values.items():
            if isinstance(value, list):
                value[:] = [next(new) for _ in value]
            elif isinstance(value, ErrorForm):
                self.values[j] = next(new)
        return made
