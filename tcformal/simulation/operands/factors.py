"""Block-scale factors of a witness: each product's exact factor, and its text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.oracle.numerals import number_text, power_of_two
from tcformal.oracle.products import multiply
from tcformal.oracle.values import ExactValue, NumberClass, decode
from tcformal.simulation.operands.witness import Witness

#: A factor is written as a decimal up to so many characters, then as an odd number times a power of two.
_SHORT = 6


def scale_values(spec: UnitSpec, w: Witness, k: int) -> tuple[tuple[str, ExactValue], ...]:
    """The two scales of product k by name, `scale_a[0]` and `scale_b[0]`; none for units without scales."""
    if spec.scale_format is None or spec.scale_block is None:
        return ()
    i = k // spec.scale_block
    rows = (("scale_a", w.scale_a), ("scale_b", w.scale_b))
    return tuple((f"{name}[{i}]", decode(spec.scale_format, row[i])) for name, row in rows)


def factors(spec: UnitSpec, w: Witness) -> list[Fraction | None]:
    """The exact factor of each product: 1 without scales, None where a scale is NaN."""
    return [_factor([value for _, value in scale_values(spec, w, k)]) for k in range(len(w.a))]


def factor_texts(spec: UnitSpec, w: Witness) -> list[str]:
    """The text of each product's factor: `2^-3`, `1.75`, `225·2^-20`; empty for 1."""
    return [_text(factor) for factor in factors(spec, w)]


def _factor(scales: Sequence[ExactValue]) -> Fraction | None:
    total = ExactValue(NumberClass.FINITE, magnitude=Fraction(1))
    for scale in scales:
        total = multiply(total, scale)
    return total.number if total.kind is NumberClass.FINITE else None


def _text(factor: Fraction | None) -> str:
    if factor is None:
        return "NaN"
    if factor == 1:
        return ""
    down = factor.denominator.bit_length() - 1
    up = (factor.numerator & -factor.numerator).bit_length() - 1 if factor else 0
    odd = factor / power_of_two(up - down)
    if odd == 1:
        return f"2^{up - down}"
    short = number_text(factor)
    return short if len(short) <= _SHORT else f"{number_text(odd)}·2^{up - down}"
