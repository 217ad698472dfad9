"""The constants of a unit's calls in a program, from theorems of the kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.bounds.constants import step_constant
from tcformal.bounds.losses import error_bound_constant
from tcformal.bounds.recurrence import grown
from tcformal.bounds.theorems import Proved, Theorems
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.proofs.stated_sum import NO_C, StatedSum, normal_sum


@dataclass(frozen=True, slots=True)
class CallBound:
    """|d - (Σ ±x_k·y_k + c)| <= own·Σ|x_k·y_k| + other·|c| of a call, or of calls one after the other.

    Ranges and units: `sum`: what x_k, y_k and c are, and which signs products have; an operand that may be
    subnormal, and is not flushed, counts as the least normal number at least.  `least`: the largest product,
    or c, is at least 2^least, or all are zero.
    """

    own: Fraction
    other: Fraction
    least: int
    sum: StatedSum


class CallBounds:
    """Constants by unit and number of products; the theorems are asked for once each."""

    def __init__(self, known: Theorems) -> None:
        self.known = known
        self._proved: dict[tuple[UnitSpec, int], Proved] = {}
        #: The names of the units with what was proved of them, and the constants that were given.
        self.made: list[tuple[str, Proved]] = []
        self.used: dict[tuple[str, int, StatedSum], CallBound] = {}

    def of(self, unit: UnitSpec, products: int, needed: StatedSum) -> CallBound:
        """The constants of a dot product of so many products.

        Ranges and units: `needed`: the sum that they are to be about; what is flushed of it is counted by
        whom they are given to.
        Errors: InputError where no theorem gives them, or none about that sum.
        """
        found, refused = None, normal_sum(unit).refusal(needed, unit.name, products)
        if not refused:
            found = self._normal(unit, products, needed.c == NO_C)
            refused = found.sum.refusal(needed, unit.name, products)
        if refused and not normal_sum(unit).other_signs(needed, products):
            found = self._any(unit, products)
            refused = found.sum.refusal(needed, unit.name, products)
        if found is None or refused:
            raise InputError(refused)
        self.used[unit.name, products, needed] = found
        return found

    def _normal(self, unit: UnitSpec, products: int, zero_c: bool) -> CallBound:
        # A chain of two blocks at least, where c is not zero: its second block has one.
        length = products if zero_c else max(products, 2 * unit.k)
        p = self._of(unit, length)
        assert p.first is not None
        assert p.sum is not None
        least = unit.d_format.e_min if p.least is None else p.least
        blocks = -(-products // p.size)
        if zero_c:
            own = p.first if blocks == 1 or p.other is None else grown(p.first, p.other, blocks - 1)
            return CallBound(own, Fraction(0), least, replace(p.sum, c=NO_C))
        assert p.other is not None
        start = grown(p.first, p.other, 1) if p.beside is None else p.beside
        own, other = grown(start, p.other, blocks - 1), grown(p.other, p.other, blocks - 1)
        return CallBound(own, other, least, p.sum)

    def _of(self, unit: UnitSpec, length: int) -> Proved:
        if (unit, length) not in self._proved:
            self.known.claims.clear()
            found = step_constant(unit, length, self.known)
            if found.first is None:
                raise InputError(found.reason)
            self._proved[unit, length] = found
            self.made.append((unit.name, found))
        return self._proved[unit, length]

    def _any(self, unit: UnitSpec, products: int) -> CallBound:
        """From claim `error-bound`, which says something of subnormal operands too."""
        key = (unit, 0)
        if key not in self._proved:
            self.known.claims.clear()
            self._proved[key] = error_bound_constant(unit, self.known)
            self.made.append((unit.name, self._proved[key]))
        p = self._proved[key]
        if p.first is None or p.least is None or p.sum is None:
            raise InputError(p.reason)
        own = grown(p.first, p.first, -(-products // p.size) - 1)
        return CallBound(own, own, p.least, p.sum)
