"""Error constants of unit calls in a program, from theorems about the required sum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.analysis.bounds.constants import Proved, exponent_constant, theorem_constant
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import NO_C, StatedSum
from tcformal.theory.theorems import in_the_way


@dataclass(frozen=True, slots=True)
class CallBound:
    """The bound |d - (Σ ±x_k·y_k + c)| <= own·Σ|x_k·y_k| + other·|c| of one or more chained calls.

    Ranges and units: `sum`: what x_k, y_k and c are, and which signs products have; an operand that may be
    subnormal, and is not flushed, counts as the least normal number at least.  `least`: the largest product,
    or c, is at least 2^least, or all are zero.
    """

    own: Fraction
    other: Fraction
    least: int
    sum: StatedSum


class CallBounds:
    """A cache of error constants by unit and number of products."""

    def __init__(self) -> None:
        self._proved: dict[UnitSpec, list[Proved]] = {}
        self._used: dict[tuple[str, str], Instance] = {}
        self.used: dict[tuple[str, int, StatedSum], CallBound] = {}

    def of(self, unit: UnitSpec, products: int, needed: StatedSum) -> CallBound:
        """The error constants of a dot product of `products` products.

        Ranges and units: `needed`: the sum that they are to be about; what is flushed of it is counted by
        whom they are given to.
        Errors: InputError where no theorem gives them, or none about that sum.
        """
        refused = ""
        for p in self._theorems(unit):
            stated = replace(p.sum, c=NO_C) if needed.c == NO_C else p.sum
            sentence = p.short_of(products) or stated.refusal(needed, unit.name, products)
            if not sentence:
                bound = self.used[unit.name, products, needed] = _bound(p, products, stated)
                self._used[unit.name, p.theorem.theorem] = p.theorem
                return bound
            refused = refused or sentence
        raise InputError(refused or in_the_way(unit, "relative-error; c=0x0"))

    def _theorems(self, unit: UnitSpec) -> list[Proved]:
        """The applicable theorems: about normal operands first, then about any."""
        if unit not in self._proved:
            candidates = theorem_constant(unit), exponent_constant(unit)
            self._proved[unit] = [p for p in candidates if p is not None]
        return self._proved[unit]

    @property
    def theorems(self) -> tuple[Instance, ...]:
        """The theorem instances used so far."""
        return tuple(self._used.values())


def _bound(p: Proved, products: int, stated: StatedSum) -> CallBound:
    if stated.c == NO_C:
        return CallBound(p.constants.of(products), Fraction(0), p.least, stated)
    both = p.bound_with_c(products)
    assert both is not None  # as the sum is about any c
    return CallBound(both, both, p.least, stated)
