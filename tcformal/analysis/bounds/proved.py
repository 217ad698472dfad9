"""Error constants of units and of their calls, as instances of theorems about stated sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.oracle.values import decode, exponent_of
from tcformal.theory.claims import error_bound, relative_error, relative_from_zero
from tcformal.theory.constants import (
    Constants,
    constants,
    exponents_ok,
    least,
    near,
    plain_scales,
    power,
    share,
    start_format,
)
from tcformal.theory.design import block_size
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import NO_C, StatedSum, normal_sum, sum_of
from tcformal.theory.theorems import in_the_way

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
    if unit.d_format.integer:
        return None
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
        if unit not in self._proved:
            # About normal operands first, then about any.
            candidates = theorem_constant(unit), exponent_constant(unit)
            self._proved[unit] = [p for p in candidates if p is not None]
        refused = ""
        for p in self._proved[unit]:
            stated = replace(p.sum, c=NO_C) if needed.c == NO_C else p.sum
            sentence = p.short_of(products) or stated.refusal(needed, unit.name, products)
            if sentence:
                refused = refused or sentence
                continue
            own, other = p.constants.of(products), Fraction(0)
            if stated.c != NO_C:
                both = p.bound_with_c(products)
                assert both is not None  # as the sum is about any c
                own = other = both
            bound = self.used[unit.name, products, needed] = CallBound(own, other, p.least, stated)
            self._used[unit.name, p.theorem.theorem] = p.theorem
            return bound
        raise InputError(refused or in_the_way(unit, "relative-error; c=0x0"))

    @property
    def theorems(self) -> tuple[Instance, ...]:
        """The theorem instances used so far."""
        return tuple(self._used.values())


def bounded_on_grid(unit: UnitSpec, length: int, bound: Fraction) -> tuple[Fraction, str] | None:
    """A sharper bound than the given one for c = 0, and its derivation; None where none follows.

    Ranges and units: bounds in units of Σ|x_k·y_k|.  Products of formats of few exponents, with one scale,
    are multiples of one power of two, and so is what sums of them are cut or rounded to: an error below it
    is 0, and one below an ulp that is a multiple of it is at least that much below.
    """
    a, b, d = unit.a_format, unit.b_format, unit.d_format
    if unit.emulation is not None or unit.design.summation != "fused" or unit.design.group is not None:
        return None
    block = block_size(unit)
    one_scale = plain_scales(unit) and (unit.scale_block or 0) >= block
    if unit.scale_format is not None and not (one_scale and length <= block):
        return None
    grid = sum(f.e_min - f.fraction_bits for f in (a, b))
    most = length * decode(a, a.largest).magnitude * decode(b, b.largest).magnitude
    if unit.scale_format is None and grid < d.e_min - d.fraction_bits:
        return None
    what = f"products are multiples of 2^{grid}, and results too, and Σ|x_k·y_k| is at most {most}"
    what += "" if unit.scale_format is None else ", each times one scale"
    if bound * most < Fraction(2) ** grid:
        return Fraction(0), (
            f"{what}: an error of at most {float(bound):.4g} of that is less than 2^{grid}, and so 0"
        )
    if not cut_once(unit, length):
        return None
    top, p = exponent_of(most), unit.design.rho.fraction_bits
    lost = Fraction(1, 1 << p) - Fraction(2) ** (grid - top)
    sharper = lost / (1 + lost)
    if not 0 < sharper < bound:
        return None
    return sharper, (
        f"{what}: none is cut before they are added, and the sum is cut to a result of at least 2^e and an "
        f"ulp of 2^(e-{p}), e <= {top}: it loses at most that less 2^{grid} of 2^e and what it loses"
    )


def cut_once(unit: UnitSpec, length: int) -> bool:
    """Whether a dot product of this length is one exact sum with one truncation."""
    design = unit.design
    joined = design.one_sum and unit.emulation is None and design.group is None and design.step == design.rho
    return joined and design.rho.mode == "RZ" and length <= block_size(unit) and near(unit)
