"""What units lose of integers, and of any operands, from claims of the kernel."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tcformal.bounds.claims.constants import relative_loss
from tcformal.bounds.claims.paths import growth
from tcformal.bounds.constants import step_constant
from tcformal.bounds.theorems import Proved, Theorems
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.proofs.claims import register
from tcformal.proofs.statements.product_loss import block_of
from tcformal.proofs.statements.round_down_bound import RoundDownBound
from tcformal.theory.stated_sum import normal_sum


def integer_loss(unit: UnitSpec, known: Theorems) -> Proved:
    """What one block, or one rounding of sums that are exact before, loses of Σ|a_k·b_k| + |c| at most.

    Ranges and units: `first`; operands and c that are integers, whose sums are integers between blocks too.
    """
    if unit.design.fraction_bits is None and not register.of_products(unit):
        paths, kappas = growth(unit, 2 * unit.k), list[Fraction]()
        for step in paths.steps:
            if not known.holds(step, "error-bound"):
                return known.missing()
            kappas.append(relative_loss(known.stated(step))[0])
        how = f"every rounding loses κ = {max(kappas)} of the magnitudes at most"
        return Proved(max(kappas), None, 1, tuple(known.claims), (how,), sum=normal_sum(unit))
    found = step_constant(unit, 2 * unit.k, known)
    if found.first is None or found.other is None:
        return found
    most = max(found.first, found.other, found.beside or (1 + found.first) * (1 + found.other) - 1)
    how = f"a block of {found.size} products loses κ = {most} of the magnitudes at most"
    return replace(found, first=most, steps=(*found.steps, how))


def error_bound_constant(unit: UnitSpec, known: Theorems) -> Proved:
    """What claim `error-bound` of one block gives where operands may be subnormal.

    Ranges and units: of the sum of the magnitudes in which the least normal number stands for every operand
    that is subnormal: its exponent is that of the claim.
    """
    block = unit if unit.emulation is not None else block_of(unit)
    stated = known.stated(block)
    if isinstance(stated, RoundDownBound):
        raise InputError(
            f"expected normal operands for {unit.name}, but words of the program may be subnormal"
        )
    if not known.holds(block, "error-bound", kept=block.k == unit.k):
        return known.missing()
    kappa, least, how = relative_loss(stated)
    return Proved(kappa, kappa, block.k, tuple(known.claims), (how,), least=least, sum=stated.sum)
