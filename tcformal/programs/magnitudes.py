"""How small and how large the values of a program can be, from the exponents of its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

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
    SliceStep,
    format_of,
)
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.oracle.values import decode

#: Binades for sums cut downwards and for totals that wrap, in one call.
_SLACK = 2


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Bounds of a finite value.

    Ranges and units: the value is a multiple of 2^low and at most 2^high in magnitude; of an exponent, the
    exponent itself lies in [low, high].
    """

    low: int
    high: int
    #: Whether an Inf may have come before.
    overflows: bool = False


def magnitudes(plan: ProgramPlan, exponents: Mapping[str, tuple[int, int]]) -> list[Magnitudes]:
    """The bounds of every step.

    Shapes: exponents: the range of the exponents of every non-zero element of a, b and c.
    Low end: sums, cuts and roundings stay on the grid of what goes into them: each either is exact or goes
    to a coarser grid, whatever the unit.
    High end: no rounding of a magnitude of at most a power of two leaves it; sums grow with their terms.
    """
    known: list[Magnitudes] = []
    for step in plan.steps:
        known.append(_of(step, known, exponents))
    return known


def _of(step: PlanStep, known: list[Magnitudes], exponents: Mapping[str, tuple[int, int]]) -> Magnitudes:
    if isinstance(step, InputStep):
        fmt = format_of(step)
        low, high = exponents[step.letter]
        return Magnitudes(max(low, fmt.e_min) - fmt.fraction_bits, min(high, fmt.e_max) + 1)
    if isinstance(step, ConstantStep):
        return _constant(format_of(step), step.word)
    if isinstance(step, SliceStep):
        return known[step.source]
    if isinstance(step, JoinStep):
        rows = [known[i] for i in step.items]
        return Magnitudes(min(x.low for x in rows), max(x.high for x in rows), any(x.overflows for x in rows))
    if isinstance(step, HeadroomStep):
        x, top = known[step.source], _exponent_of(step.limit)
        return Magnitudes(top - x.high - 1, top - x.low + 1)
    if isinstance(step, MagnitudeStep):
        x, least = known[step.source], _constant(format_of(step), step.least)
        return Magnitudes(min(x.low, least.low), max(x.high, least.high), x.overflows)
    if isinstance(step, QuotientStep):
        return _divided(format_of(step), known[step.dividend], known[step.divisor])
    if isinstance(step, RoundStep):
        return _rounded(step, known)
    if isinstance(step, CallStep):
        return _called(step, known, step.unit.operands.d)
    raise InputError(f"expected a step of a program, but got {step!r}")


def _constant(fmt: Format, word: int) -> Magnitudes:
    value = decode(fmt, word).magnitude
    if not value:
        return Magnitudes(fmt.e_max, fmt.e_min - fmt.fraction_bits)
    low = (value.numerator & -value.numerator).bit_length() - value.denominator.bit_length()
    return Magnitudes(low, _exponent_of(value) + 1)


def _rounded(step: RoundStep, known: list[Magnitudes]) -> Magnitudes:
    fmt = step.target
    lows, highs = [], []
    for x in step.addends:
        powers = [(known[i], sign) for i, sign in x.exponents]
        shift_low = x.shift + sum(e.low if sign > 0 else -e.high for e, sign in powers)
        shift_high = x.shift + sum(e.high if sign > 0 else -e.low for e, sign in powers)
        lows.append(sum(known[i].low for i in x.factors) + shift_low)
        highs.append(sum(known[i].high for i in x.factors) + shift_high)
    high = max(highs) + (len(highs) - 1).bit_length()
    return _in_format(fmt, min(lows), high, any(known[i].overflows for i in step.sources), step.saturates)


def _divided(fmt: Format, x: Magnitudes, y: Magnitudes) -> Magnitudes:
    """Of a quotient that is not zero: at least 2^(x.low - y.high), rounded to the format's precision.

    A divisor that is zero gives an Inf, and a divisor may be one wherever it may be anything.
    """
    low, high = x.low - y.high - fmt.precision, x.high - y.low
    return _in_format(fmt, low, high, True, fmt.specials is not Specials.IEEE)


def _called(step: CallStep, known: list[Magnitudes], d: Format) -> Magnitudes:
    a, b, c = known[step.a], known[step.b], known[step.c]
    high = max(a.high + b.high + (step.products - 1).bit_length(), c.high) + _SLACK
    return _in_format(d, min(a.low + b.low, c.low), high, a.overflows or b.overflows or c.overflows, False)


def _in_format(fmt: Format, low: int, high: int, overflows: bool, saturates: bool) -> Magnitudes:
    low = max(low, fmt.e_min - fmt.fraction_bits)
    if overflows or high > fmt.e_max:
        return Magnitudes(min(low, fmt.e_max), fmt.e_max + 1, not saturates)
    return Magnitudes(min(low, fmt.e_max), max(high, low))


def _exponent_of(number: Fraction) -> int:
    e = number.numerator.bit_length() - number.denominator.bit_length()
    return e if Fraction(2) ** e <= number else e - 1
