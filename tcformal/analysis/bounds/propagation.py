"""Step-by-step error propagation through a program: words, sums and calls with their maximal errors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from tcformal.analysis.bounds.error_forms import (
    ErrorForm,
    Powers,
    Range,
    Scale,
    Sums,
    Symbols,
    Weights,
    WordForm,
    exponent,
    joined,
    largest,
    nothing,
    plus,
    quotient_of,
    room,
    rounded_scale,
    times,
    weight,
)
from tcformal.analysis.bounds.proved import CallBounds
from tcformal.design.rounding import NEAREST
from tcformal.design.steps import (
    CallStep,
    ConstantStep,
    HeadroomStep,
    InputStep,
    JoinStep,
    MagnitudeStep,
    PlanStep,
    ProgramPlan,
    QuotientStep,
    RoundStep,
    ScaledProduct,
    SliceStep,
    format_of,
)
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.values import decode
from tcformal.theory.stated_sum import LETTERS, NO_C, StatedSum


class WordRow:
    """A word of consecutive elements, zero beyond the last one; a single element if `length` is None."""

    __slots__ = ("length", "start", "word")

    def __init__(self, word: WordForm, start: int, length: int | None) -> None:
        self.word, self.start, self.length = word, start, length


#: A step's value: words of elements, one total, totals, a constant, a scale, or nothing for an exponent.
StepForm = WordRow | ErrorForm | list[ErrorForm] | Fraction | Scale | None


def gives_c(step: CallStep) -> bool:
    """Whether a call on zero products returns its c unchanged."""
    design, o = step.unit.design, step.unit.operands
    return design.summation == "fused" and design.c_fraction_bits is None and o.c == o.d


def needed_sum(step: CallStep, plan: ProgramPlan, normal: frozenset[str], *, zero_c: bool) -> StatedSum:
    """The sum that a theorem about a call must cover.

    Ranges and units: `normal`: which of its operands are never subnormal.  All products are added; what is
    flushed is counted as lost; c is normal, with the bits that its step gives.
    """
    return StatedSum(
        flushed=LETTERS, normal=normal | {"c"}, c=NO_C if zero_c else step.unit.design.c_position,
        c_bits=result_bits(plan.steps[step.c]),
    )  # fmt: skip


def check_small(step: CallStep, products: ErrorForm, c: ErrorForm, least: int) -> None:
    """Raise InputError where a product may be below 2^least, or c below that or subnormal.

    A number that is a multiple of a power of two is at least that, or zero.
    """
    for what, x, low in (("products", products, least), ("c", c, max(least, step.unit.c_format.e_min))):
        if not x.zero and (x.grid is None or x.grid < low):
            raise InputError(
                f"expected {what} of at least 2^{low} for {step.unit.name}, but some may be smaller"
            )


def result_bits(step: PlanStep) -> int:
    """An upper bound on the fraction bits of a step's results."""
    if isinstance(step, CallStep) and step.unit.tree is None and step.unit.emulation is None:
        return step.unit.design.rho.fraction_bits
    return format_of(step).fraction_bits


def powers_of(x: ScaledProduct) -> Powers:
    """The data-dependent powers of two of an addend."""
    powers: Powers = ()
    for source, sign in x.exponents:
        powers = joined(powers, ((source, sign),))
    return powers


@cache
def _signed_power(shift: int, negative: bool) -> Scale:
    return Scale(Fraction(2) ** shift * (-1 if negative else 1))


def parted(x: ScaledProduct, values: Sequence[StepForm]) -> tuple[Scale, list[StepForm]]:
    """An addend's scale with its sign, and its other factors, by the values of all factors."""
    own, rest = _signed_power(x.shift, x.negative), list[StepForm]()
    if x.exponents:
        own = Scale(own.factor, powers_of(x))
    for value in values:
        # Not by isinstance, which takes most of the time here: the class of a fraction is an abstract one's.
        if type(value) is Fraction:
            own = own.times(Scale(value))
        elif isinstance(value, Scale):
            own = own.times(value)
        else:
            rest.append(value)
    return own, rest


def check_saturation(step: RoundStep, w: WordForm, share: Fraction, plan: ProgramPlan) -> None:
    """Raise InputError where a word scaled by the largest magnitude may exceed its format and saturate.

    Ranges and units: `share`: what |w| is at most in units of the element over the magnitude, at most 1.
    """
    target = step.target
    (source, times) = w.powers[0] if len(w.powers) == 1 else (0, 0)
    if times != -1 or not isinstance(plan.steps[source], MagnitudeStep):
        return
    # To nearest, what is less than half an ulp beyond it is rounded to it.
    most = decode(target, target.largest).magnitude
    ulp = Fraction(2) ** (exponent(most) - target.fraction_bits)
    if share > most + (ulp / 2 if step.mode in NEAREST else 0):
        raise InputError(f"expected words that fit {target.name}, but the largest of {step.name} do not")


def paths(plan: ProgramPlan) -> tuple[list[np.ndarray], dict[int, list[int]]]:
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
        if isinstance(step, SliceStep):
            there = ways[step.source][step.start : step.start + own.size]
            there += own[: there.size]
        elif isinstance(step, JoinStep):
            for n, j in enumerate(step.items):
                ways[j] += own[n]
        else:
            for j in step.sources:
                same = isinstance(step, RoundStep) and ways[j].size == own.size
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

    def __init__(self, plan: ProgramPlan, exponents: Range | None, bounds: CallBounds) -> None:
        self.plan, self.n, self.exponents, self.bounds = plan, plan.products, exponents, bounds
        self.symbols = Symbols(exponents)
        self.sums = Sums(self.symbols, self.n)
        self.values: dict[int, StepForm] = {}
        self.read: dict[tuple[int, Format], WordForm] = {}
        self.ways, self.last = paths(plan)
        #: Whether a scale depends on data: what is small beside the largest element may then underflow.
        self.scaled = False

    def constant(self) -> Fraction:
        """The least provable C with |d - Σ a_k·b_k| <= C·Σ|a_k·b_k|.

        Errors: InputError for a step of which nothing is known here, or words that may overflow.
        """
        for i, step in enumerate(self.plan.steps):
            self.values[i] = self._value(i, step)
            for done in self.last.get(i, ()):
                self.values.pop(done, None)
        d = self.values[self.plan.result]
        d = self._total(d) if not isinstance(d, ErrorForm) else d
        if d.powers:
            raise InputError("expected a result whose scales cancel, but some are left")
        return largest(self.sums.distance(d))

    # ------------------------------------------------------------------ steps
    def _value(self, i: int, step: PlanStep) -> StepForm:
        if isinstance(step, InputStep):
            if step.letter == "c":
                return Fraction(0)
            return WordRow(self.symbols.input(step.letter, format_of(step)), 0, self.n)
        if isinstance(step, ConstantStep):
            return decode(format_of(step), step.word).number
        if isinstance(step, SliceStep):
            return self._slice(step)
        if isinstance(step, JoinStep):
            # Scales are taken one by one, where they are asked for.
            items = [self.values[j] for j in step.items]
            return None if any(isinstance(x, Scale) for x in items) else [self._total(x) for x in items]
        if isinstance(step, RoundStep):
            return self._round(i, step)
        if isinstance(step, CallStep):
            return self._call(i, step)
        if isinstance(step, HeadroomStep | MagnitudeStep):
            self.scaled = True
            if self.exponents is not None:
                raise InputError("expected no range of exponents where scales depend on data, but got one")
            return Scale(Fraction(1), ((i, 1),)) if isinstance(step, MagnitudeStep) else None
        if isinstance(step, QuotientStep):
            return quotient_of(step, self.values)
        raise InputError(f"expected steps of which errors are known, but {step.name} is a {step.text}")

    def _slice(self, step: SliceStep) -> StepForm:
        source = self.values[step.source]
        if isinstance(source, WordRow):
            return WordRow(source.word, source.start + step.start, step.length)
        if isinstance(source, list):
            elements = source[step.start : step.start + (step.length or 1)]
            elements += [self.sums.nothing()] * ((step.length or 1) - len(elements))
            return elements if step.length is not None else elements[0]
        raise InputError(f"expected a vector to take elements of, but {step.name} has none")

    # ------------------------------------------------------------------ roundings
    def _round(self, i: int, step: RoundStep) -> StepForm:
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

    def _rounded(self, step: RoundStep, words: list[WordForm]) -> WordForm:
        whole, target = self.symbols.total(words), step.target
        own = self.plan.input_format(whole.letter)
        for source, _ in whole.powers:
            # The largest scaled element is at most the limit; where that is subnormal, integers are meant.
            made, share = self.plan.steps[source], self.symbols.share(whole)
            if isinstance(made, HeadroomStep) and share * made.limit < Fraction(2) ** target.e_min:
                raise InputError(
                    f"expected words with the first bits of every element, but {step.name} holds integers: 0 "
                    "for an element that is small beside the largest"
                )
        check_saturation(step, whole, self.symbols.share(whole), self.plan)
        return self.symbols.rounded(whole, own, target, step.mode, step.saturates)

    def _added(self, i: int, step: RoundStep, addends: list[ScaledProduct], k: int) -> ErrorForm:
        parts = [self._part(x, k) for x in addends]
        made, target = self.sums.sum(parts), step.target
        error = self._loss(made, target, step.mode)
        if len(addends) == 1 and self._exact(addends[0], target, k):
            error = nothing(self.n)
        return self._new(i, None if step.length is None else k, made, error)

    def _exact(self, x: ScaledProduct, target: Format, k: int) -> bool:
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
        if len(totals) != 1 or any(not self._power(j, k) for j in x.factors if j not in totals):
            return False
        form, source = self._element(self.values[totals[0]], k), format_of(self.plan.steps[totals[0]])
        assert isinstance(form, ErrorForm)
        grid = None if form.grid is None else form.grid + x.shift
        return source.precision <= target.precision and (
            self.exponents is None or (grid is not None and grid >= target.e_min - target.fraction_bits)
        )

    def _power(self, j: int, k: int) -> bool:
        """Whether a step is a constant power of two."""
        x = self._element(self.values[j], k)
        return isinstance(x, Fraction) and x > 0 and bin(x.numerator * x.denominator).count("1") == 1

    def _loss(self, x: ErrorForm, target: Format, mode: str) -> Weights:
        """The maximal rounding error of a total."""
        u = Fraction(1, 1 << target.precision)
        share = u / (1 + u) if mode in NEAREST else 2 * u
        most = self.sums.most(x)
        lost = times(most, share)
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
    def _nought(self, x: ScaledProduct) -> bool:
        return any(type(v) is Fraction and not v for v in (self.values[j] for j in x.factors))

    def _single(self, x: ScaledProduct) -> WordRow | None:
        """The scaled word of an addend that consists of one word."""
        own, rows = parted(x, [self.values[j] for j in x.factors])
        if len(rows) != 1 or not isinstance(rows[0], WordRow):
            return None
        row, factor = rows[0], own.factor
        if own.error or any(isinstance(self.plan.steps[i], MagnitudeStep) for i, _ in own.powers):
            word = self.symbols.multiplied(row.word, factor, own.powers, own.error)
            return WordRow(word, row.start, row.length)
        if bin(abs(factor.numerator) * factor.denominator).count("1") != 1:
            raise InputError(f"expected words times powers of two, but got times {factor}")
        return WordRow(row.word.scaled(factor, own.powers), row.start, row.length)

    def _part(self, x: ScaledProduct, k: int) -> tuple[ErrorForm, Fraction, Powers]:
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
    def _call(self, i: int, step: CallStep) -> ErrorForm:
        o, c = step.unit.operands, self._total(self.values[step.c])
        rows = [self._operand(step.a, o.a), self._operand(step.b, o.b)]
        if rows[0].start != rows[1].start:
            raise InputError("expected calls on the same elements of a and b, but got others")
        start, length = rows[0].start, max(1, min(step.products, self.n - rows[0].start))
        exact = self.sums.product(rows[0].word, rows[1].word, start, length)
        if exact.zero and (c.zero or gives_c(step)):
            return c
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
        if format_of(self.plan.steps[j]) == fmt:
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
        places: list[tuple[int, int]] = []
        held = [made]
        for j, value in self.values.items():
            for k, x in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(x, ErrorForm):
                    places.append((j, k))
                    held.append(x)
        made, *others = self.sums.merged(held)
        for (j, k), x in zip(places, others, strict=True):
            value = self.values[j]
            if isinstance(value, list):
                value[k] = x
            else:
                self.values[j] = x
        return made
