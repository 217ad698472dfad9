"""Scales that depend on data and are no powers of two: largest magnitudes, their products and quotients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.analysis.bounds.program.words import Powers, joined, relative
from tcformal.design.steps import QuotientStep, RoundStep, ScaledProduct, format_of
from tcformal.encodings.spec import Format
from tcformal.errors import InputError


@dataclass(frozen=True, slots=True)
class Scale:
    """A positive number: factor · Π magnitude^times · (1 + θ), |θ| <= error.

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
        """The number of a format that it is rounded to."""
        return Scale(self.factor, self.powers, (1 + self.error) * (1 + relative(target, mode)) - 1)


def scale_of(value: object, what: str) -> Scale:
    """A scale, or a positive constant as one; InputError for another value."""
    if isinstance(value, Fraction) and value > 0:
        return Scale(value)
    if not isinstance(value, Scale):
        raise InputError(f"expected scales and positive constants, but {what} divides other values")
    return value


def quotient_of(step: QuotientStep, values: Mapping[int, object]) -> Scale:
    """A quotient of scales and positive constants, rounded."""
    x, y = (scale_of(values[j], step.name) for j in step.sources)
    return x.over(y).rounded(format_of(step), step.mode)


def rounded_scale(
    step: RoundStep, addends: Sequence[ScaledProduct], values: Mapping[int, object]
) -> Scale | None:
    """A rounded product of a scale and a scale or a positive constant; None where the step is none."""
    if len(addends) != 1 or addends[0].negative or addends[0].exponents:
        return None
    factors = [values[j] for j in addends[0].factors]
    if not any(isinstance(x, Scale) for x in factors):
        return None
    made = Scale(Fraction(2) ** addends[0].shift)
    for x in factors:
        if isinstance(x, Fraction) and x > 0:
            x = Scale(x)
        if not isinstance(x, Scale):
            return None
        made = made.times(x)
    return made.rounded(step.target, step.mode)
