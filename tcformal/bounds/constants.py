"""Constants of one block of a unit: an instance of a theorem, or else what claims of the kernel give."""

from __future__ import annotations

from fractions import Fraction

from tcformal.bounds.recurrence import grown
from tcformal.bounds.theorems import Proved, Theorems
from tcformal.design.spec import Design
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import least, start_format
from tcformal.theory.constants import Constants, constants
from tcformal.theory.errors import relative_error, relative_from_zero
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import NO_C, StatedSum, normal_sum, sum_of


def step_constant(unit: UnitSpec, length: int, known: Theorems, *, zero_c: bool = True) -> Proved:
    """The constants of one block of a unit, of the theorem that applies, or else from claims in this run.

    Shapes: `length` products in all: of one block, `other` is None.
    Ranges and units: `zero_c`: c is 0; else constants beside any c are asked for, too.
    """
    found = theorem_constant(unit, length)
    if found is not None and (zero_c or found.beside is not None):
        return found
    # The kernel and its claims are read where no theorem is written for a design.
    from tcformal.bounds.claims.constants import claimed_constant

    return claimed_constant(unit, length, known)


def theorem_constant(unit: UnitSpec, length: int) -> Proved | None:
    """The same from a theorem alone; None where the side conditions of none are met.

    Ranges and units: of a c that is not zero, `beside`, as its theorem has it, for its magnitude and for
    that of the products.
    """
    found, theorem = constants(unit), relative_from_zero(unit)
    if found is None or theorem is None:
        return None
    if found.longest is not None and length > found.longest:
        return None
    size = found.size
    more = length > size
    any_c = relative_error(unit)
    beside = None if any_c is None or not more else _beside(found, any_c)
    other = found.last or found.other
    return Proved(
        found.of(min(length, size)), other if more else None, size, (), (), least=_least(unit), beside=beside,
        sum=_sum(unit, zero_c=length <= unit.k), theorem=theorem, constants=found,
    )  # fmt: skip


def beside_c(proved: Proved, products: int) -> Fraction | None:
    """What so many products lose of Σ|x_k·y_k| + |c| at most, by a theorem about any c; None without one."""
    if proved.constants is None or proved.beside is None or proved.other is None:
        return None
    each = proved.beside if proved.constants.last else proved.other
    return grown(proved.beside, each, -(-products // proved.size) - 1)


def _beside(found: Constants, theorem: Instance) -> Fraction:
    """What one block, or one call of a composition, loses of Σ|x_k·y_k| + |c| at most, c being any."""
    if found.last:
        return grown(found.of(found.size), found.last, 1)
    own = (x for name, x in theorem.numbers.items() if name in ("kappa", "first"))
    return max(found.first, found.other, *own)


def _sum(unit: UnitSpec, *, zero_c: bool) -> StatedSum:
    """The sum that the theorem is about; one that cuts terms is about a c that is cut beside no product."""
    if all(x.fraction_bits is None for x in _designs(unit)):
        return sum_of(unit, c=NO_C if zero_c else None)
    bits = unit.design.fraction_bits
    cut = unit.emulation is None and bits is not None and unit.c_format.fraction_bits > bits
    return normal_sum(unit, c=NO_C if zero_c else None, c_bits=bits if cut and not zero_c else None)


def _designs(unit: UnitSpec) -> list[Design]:
    """The sums that one block is made of."""
    return [unit.design] if unit.tree is None else list(stage_designs(unit.tree, unit.design).values())


def _least(unit: UnitSpec) -> int:
    """The exponent from which on neither a sum on the way, nor c, is subnormal."""
    design = unit.design
    targets = [x for of in _designs(unit) for x in (of.rho, of.step)]
    if design.product_rounding is not None:
        targets.append(design.product_conversion)
    if unit.emulation is not None:
        targets.append(unit.emulation.addition.rho)
    return max(least(start_format(unit)), *(x.e_min for x in targets if x.integer_bits is None))


def refined(unit: UnitSpec) -> str:
    """What lets theorems speak of the unit itself: its circuit's kept refinement; '' without one."""
    from tcformal.theory.certified import kept_refinement  # builds the circuit

    kept = kept_refinement(unit)
    return "" if kept is None else kept.sentence()
