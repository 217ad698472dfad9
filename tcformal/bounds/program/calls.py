"""The constants of a unit's calls in a program, from theorems of the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcformal.bounds.constants import step_constant
from tcformal.bounds.losses import error_bound_constant
from tcformal.bounds.recurrence import grown
from tcformal.bounds.theorems import Proved, Theorems
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError


@dataclass(frozen=True, slots=True)
class CallBound:
    """|d - (Σ x_k·y_k + c)| <= own·Σ|x_k·y_k| + other·|c| of a call, or of calls one after the other.

    Ranges and units: `least`: the largest product, or c, is at least 2^least, or all are zero.
    """

    own: Fraction
    other: Fraction
    least: int


class CallBounds:
    """Constants by unit and number of products; the theorems are asked for once each."""

    def __init__(self, known: Theorems) -> None:
        self.known = known
        self._proved: dict[tuple[UnitSpec, int], Proved] = {}
        #: The names of the units with what was proved of them, and the constants that were given.
        self.made: list[tuple[str, Proved]] = []
        self.used: dict[tuple[str, int, bool], CallBound] = {}

    def of(self, unit: UnitSpec, products: int, *, zero_c: bool, normal: bool) -> CallBound:
        """The constants of a dot product of so many products.

        Ranges and units: `zero_c`: c is zero; `normal`: no operand is subnormal.  Otherwise Σ|x_k·y_k| stands
        for that with each operand of at least the least normal number.
        Errors: InputError where no theorem gives them.
        """
        found = self._normal(unit, products, zero_c) if normal else self._any(unit, products)
        self.used[unit.name, products, zero_c] = found
        return found

    def _normal(self, unit: UnitSpec, products: int, zero_c: bool) -> CallBound:
        # A chain of two blocks at least, where c is not zero: its second block has one.
        length = products if zero_c else max(products, 2 * unit.k)
        p = self._of(unit, length)
        assert p.first is not None
        least = unit.d_format.e_min if p.least is None else p.least
        blocks = -(-products // p.size)
        if zero_c:
            own = p.first if blocks == 1 or p.other is None else grown(p.first, p.other, blocks - 1)
            return CallBound(own, Fraction(0), least)
        assert p.other is not None
        start = grown(p.first, p.other, 1) if p.beside is None else p.beside
        return CallBound(grown(start, p.other, blocks - 1), grown(p.other, p.other, blocks - 1), least)

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
        if p.first is None or p.least is None:
            raise InputError(p.reason)
        own = grown(p.first, p.first, -(-products // p.size) - 1)
        return CallBound(own, own, p.least)
