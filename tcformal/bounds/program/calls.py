"""The constants of a unit's calls in a program, from theorems, or else from claims of the kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tcformal.bounds.constants import beside_c, step_constant, theorem_constant
from tcformal.bounds.recurrence import Recurrence, grown
from tcformal.bounds.theorems import Proved, Theorems
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import NO_C, StatedSum, normal_sum

if TYPE_CHECKING:
    from tcformal.proofs.claim import ClaimVerdict


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
        self._proved: dict[tuple[UnitSpec, int, bool], Proved] = {}
        #: The names of the units with what was proved of them, and the constants that were given.
        self.made: list[tuple[str, Proved]] = []
        self.used: dict[tuple[str, int, StatedSum], CallBound] = {}

    def of(self, unit: UnitSpec, products: int, needed: StatedSum) -> CallBound:
        """The constants of a dot product of so many products.

        Ranges and units: `needed`: the sum that they are to be about; what is flushed of it is counted by
        whom they are given to.
        Errors: InputError where no theorem gives them, or none about that sum.
        """
        theorem = theorem_constant(unit, 2 * unit.k)
        stated = normal_sum(unit) if theorem is None or theorem.sum is None else theorem.sum
        found, refused = None, stated.refusal(needed, unit.name, products)
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
        p = self._of(unit, products if zero_c else max(products, 2 * unit.k), zero_c)
        assert p.first is not None
        assert p.sum is not None
        least = unit.d_format.e_min if p.least is None else p.least
        if zero_c:
            return CallBound(Recurrence(p).of(products), Fraction(0), least, replace(p.sum, c=NO_C))
        both = beside_c(p, products)
        if both is not None:
            return CallBound(both, both, least, p.sum)
        assert p.other is not None
        blocks = -(-products // p.size)
        start = grown(p.first, p.other, 1) if p.beside is None else p.beside
        own, other = grown(start, p.other, blocks - 1), grown(p.other, p.other, blocks - 1)
        return CallBound(own, other, least, p.sum)

    def _of(self, unit: UnitSpec, length: int, zero_c: bool) -> Proved:
        key = unit, length, zero_c
        if key not in self._proved:
            self.known.claims.clear()
            found = step_constant(unit, length, self.known, zero_c=zero_c)
            if found.first is None:
                raise InputError(found.reason)
            self._proved[key] = found
            self.made.append((unit.name, found))
        return self._proved[key]

    def _any(self, unit: UnitSpec, products: int) -> CallBound:
        """From claim `error-bound`, which says something of subnormal operands too."""
        from tcformal.bounds.claims.losses import error_bound_constant

        key = unit, 0, False
        if key not in self._proved:
            self.known.claims.clear()
            self._proved[key] = error_bound_constant(unit, self.known)
            self.made.append((unit.name, self._proved[key]))
        p = self._proved[key]
        if p.first is None or p.least is None or p.sum is None:
            raise InputError(p.reason)
        own = grown(p.first, p.first, -(-products // p.size) - 1)
        return CallBound(own, own, p.least, p.sum)

    @property
    def theorems(self) -> tuple[Instance, ...]:
        """The theorems that constants are instances of, once each."""
        found = {(p.theorem.unit.name, p.theorem.theorem): p.theorem for _, p in self.made if p.theorem}
        return tuple(found.values())

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims that the other constants rest on, once each."""
        return tuple({(v.unit.name, v.claim): v for _, p in self.made for v in p.claims}.values())
