"""Error constants of a unit as instances of theorems, with the sum and operands that each is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.theory.claims import error_bound, relative_error, relative_from_zero
from tcformal.theory.constants import Constants, constants, exponents_ok, least, power, share, start_format
from tcformal.theory.design import block_size
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import NO_C, StatedSum, normal_sum, sum_of

#: How many factors are multiplied exactly, and binary places that are kept of more.
_EXACTLY, _PLACES = 64, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """A theorem's bound on the relative error of one unit, for dot products of any length.

    Ranges and units: n products from c = 0 lose constants.of(n)·Σ|x_k·y_k| at most; `beside` is what one
    block, or one call of a composition, loses of Σ|x_k·y_k| + |c| beside any c, None where `sum` is one with
    c = 0.  The largest product of every block, or c, is at least 2^least, or all are zero.
    """

    theorem: Instance
    constants: Constants
    #: The exact sum that the theorem is about.
    sum: StatedSum
    least: int
    beside: Fraction | None

    def short_of(self, products: int) -> str:
        """The reason why the theorem does not cover this number of products; empty where it does."""
        longest = self.constants.longest
        if longest is None or products <= longest:
            return ""
        return f"theorem {self.theorem.theorem} is about at most {longest} products, not {products}"

    def bound_with_c(self, products: int) -> Fraction | None:
        """The bound relative to Σ|x_k·y_k| + |c| for a number of products; None without a theorem
        for any c."""
        if self.beside is None:
            return None
        own = self.constants
        return grown(self.beside, self.beside if own.last else own.other, -(-products // own.size) - 1)


def theorem_constant(unit: UnitSpec) -> Proved | None:
    """The constants of the theorem that applies to a unit; None if no theorem's side conditions hold."""
    numbers, theorem = constants(unit), relative_from_zero(unit)
    if numbers is None or theorem is None:
        return None
    any_c = relative_error(unit)
    beside = None if any_c is None else _error_with_c(numbers, any_c)
    stated = _sum(unit) if beside is not None else replace(_sum(unit), c=NO_C)
    return Proved(theorem=theorem, constants=numbers, sum=stated, least=_least(unit), beside=beside)


def exponent_constant(unit: UnitSpec) -> Proved | None:
    """Constants for operands of any kind, from theorem `error_in_exponents`; None where it does not apply.

    Ranges and units: of Σ|x_k·y_k| + |c| with the least normal number in place of every subnormal operand.
    Where the largest of them is no underflow that is at least 2^E, E the largest exponent, and an ulp of d is
    at most 2^-p·|d|, or of 2^E: a block of which n terms lose a unit of 2^(E - F), and d loses a part h of
    itself, loses (n·2^-F + h)/(1 - h) of it.
    """
    d, size = unit.design, block_size(unit)
    block = unit if unit.k == size else replace(unit, k=size)
    if unit.scale_format is not None or d.fraction_bits is None or not exponents_ok(block):
        return None
    theorem = error_bound(block)
    # Results of blocks are the next ones' c.
    if theorem is None or d.rho.fraction_bits > max(d.fraction_bits, unit.c_format.fraction_bits):
        return None
    h = share(d)
    k = (theorem.numbers["units"] * power(-d.fraction_bits) + h) / (1 - h)
    numbers, low = Constants(k, k, size, unit.k // size), max(d.rho.e_min, unit.d_format.e_min)
    return Proved(theorem=theorem, constants=numbers, sum=sum_of(unit), least=low, beside=k)


def _error_with_c(found: Constants, theorem: Instance) -> Fraction:
    """The error bound of one block or composed call relative to Σ|x_k·y_k| + |c|, for any c."""
    if found.last:
        return grown(found.of(found.size), found.last, 1)
    own = (x for name, x in theorem.numbers.items() if name in ("kappa", "first"))
    return max(found.first, found.other, *own)


def _sum(unit: UnitSpec) -> StatedSum:
    """The sum that the theorem covers; truncated sums get a c with few enough bits."""
    if all(x.fraction_bits is None for x in _designs(unit)):
        return sum_of(unit)
    bits = unit.design.fraction_bits
    cut = unit.emulation is None and bits is not None and unit.c_format.fraction_bits > bits
    return normal_sum(unit, c_bits=bits if cut else None)


def _designs(unit: UnitSpec) -> list[Design]:
    """The designs of all sums in one block."""
    return [unit.design] if unit.tree is None else list(stage_designs(unit.tree, unit.design).values())


def _least(unit: UnitSpec) -> int:
    """The least exponent at which neither a partial sum nor c is subnormal."""
    design = unit.design
    targets = [x for of in _designs(unit) for x in (of.rho, of.step)]
    if design.product_rounding is not None:
        targets.append(design.product_conversion)
    if unit.emulation is not None:
        targets.append(unit.emulation.addition.rho)
    return max(least(start_format(unit)), *(x.e_min for x in targets if x.integer_bits is None))


def refined(unit: UnitSpec) -> str:
    """A sentence on the stored proof that transfers theorems to the unit's circuit; '' without one."""
    from tcformal.theory.refinement import kept_refinement  # builds the circuit

    kept = kept_refinement(unit)
    return "" if kept is None else kept.sentence()


def grown(first: Fraction, each: Fraction, times: int) -> Fraction:
    """Error growth (1 + first)·(1 + each)^times - 1, rounded up to a multiple of 2^-400 for many steps."""
    total, factor = 1 + first, 1 + each
    if times <= _EXACTLY:
        return total * factor**times - 1
    while times:
        if times & 1:
            total = _up(total * factor)
        factor, times = _up(factor * factor), times >> 1
    return total - 1


def _up(x: Fraction) -> Fraction:
    """The least multiple of 2^-400 that is at least x."""
    return Fraction(-((-x.numerator << _PLACES) // x.denominator), 1 << _PLACES)
