"""The constants of relative errors that the theorems of `coq/` give, for dot products of any length."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InvariantError
from tcformal.theory.conditions import (
    PARTS,
    always_infinite,
    block_terms,
    grouped_ok,
    kappa,
    near,
    parts_ok,
    plain,
    product_share,
    relative_ok,
    share,
    sticky_ok,
    sticky_units,
)
from tcformal.theory.design import block_size
from tcformal.theory.frames import frame
from tcformal.theory.paths import ONE, c_bits, losses, paths
from tcformal.theory.pieces import fine, piecewise


@dataclass(frozen=True, slots=True)
class Constants:
    """What a call loses: the first block from c = 0, every other one, and what adds c to a composition's sum.

    Ranges and units: products of a block, or of a call of a composition, whose blocks `blocks` counts; the
    error of m blocks from c = 0 is at most (1 + first)·(1 + other)^(m-1) - 1, and of a composition that times
    (1 + last).  `longest`: of how many products something is known; None: of any number.
    """

    first: Fraction
    other: Fraction
    size: int
    blocks: int
    last: Fraction = Fraction(0)
    #: How much less the first block loses of products of c's sign, and what every other one loses of c along
    #: that sign, where that is less: `FrameErrors.grown`.
    spared: Fraction = Fraction(0)
    along: Fraction | None = None
    longest: int | None = None

    def of(self, length: int) -> Fraction:
        """C of so many products from c = 0; InvariantError for more than are known of."""
        if self.longest is not None and length > self.longest:
            raise InvariantError(f"nothing is known of more than {self.longest} products")
        if self.last:
            # Calls of blocks from +0, each added to the sum before: C -> (1 + C)(1 + last) - 1.
            # Any products of a call may be those of any part.
            calls, call = -(-length // self.size), (1 + self.first) * (1 + self.other) ** (self.blocks - 1)
            return call * (1 + self.last) ** (calls - 1) - 1
        more = -(-length // self.size) - 1
        grown = _grown(self.first, self.other, more)
        if self.along is None or grown - self.spared > 1:
            return grown
        return max(grown - self.spared, _grown(self.first, self.along, more))


def constants(unit: UnitSpec) -> Constants | None:
    """The constants of a unit's relative error, by the theorem that applies; None where none does."""
    if relative_ok(unit) or grouped_ok(unit):
        d, n = unit.design, block_size(unit)
        part, alone = Fraction(product_share(unit), PARTS), max(block_terms(unit) - 1, 0)
        first = kappa(d, Fraction(0) if near(unit) else part * alone)
        other = kappa(d, part * alone + 1)
        if unit.emulation is None:
            return Constants(first, other, n, unit.k // n)
        own, to = d.rho, unit.emulation.addition.rho
        low, least_to = own.e_min - own.fraction_bits, to.e_min - to.fraction_bits
        if not composition_ok(unit) or own.fraction_bits > to.fraction_bits or least_to > low:
            return None
        return Constants(first, other, unit.k, call_blocks(unit), share(unit.emulation.addition))
    framed = frame(unit, zero_c=True)
    if framed is not None:
        same, first, other, along = (
            Fraction(x, ONE) for x in (framed.same, framed.most, framed.of_c, framed.along)
        )
        return Constants(first, other, block_size(unit), 1, spared=first - same, along=along)
    parts = piecewise(unit)
    if parts is not None:
        return Constants(fine(unit, parts.first), fine(unit, parts.of_c), block_size(unit), 1)
    if sticky_ok(unit):
        first, n = kappa(unit.design, Fraction(sticky_units(unit), PARTS)), block_size(unit)
        return Constants(first, first, n, 1, longest=n)
    found = losses(unit)
    if found is None or (unit.emulation is not None and not ordered_calls_ok(unit)):
        return None
    first, other = Fraction(found.start, ONE), Fraction(found.later[1], ONE)
    if unit.emulation is None:
        return Constants(first, other, block_size(unit), 1)
    return Constants(first, other, unit.k, call_blocks(unit), share(unit.emulation.addition))


def composition_ok(unit: UnitSpec) -> bool:
    """`Calls.composition_ok`: a composition whose last sum is exact and then rounded, without scales."""
    if unit.emulation is None or not parts_ok(unit):
        return False
    last = unit.emulation.addition
    return _kept(last) and last.fraction_bits is None and last.carry_bits is None


def ordered_calls_ok(unit: UnitSpec) -> bool:
    """`OrderedCalls.ordered_calls_ok`, and blocks are full: c is added with every bit of the parts' sum."""
    how = unit.emulation
    full = how is not None and all(len(part) % block_size(unit) == 0 for part in how.parts)
    return (
        how is not None and full and composition_ok(unit) and paths(unit) is not None
        and c_bits(unit) <= how.addition.rho.fraction_bits
    )  # fmt: skip


def call_blocks(unit: UnitSpec) -> int:
    """Blocks of one call of a composition."""
    parts = () if unit.emulation is None else unit.emulation.parts
    return sum(-(-len(part) // block_size(unit)) for part in parts)


def rounded_ok(unit: UnitSpec) -> bool:
    """`Exact.rounded_ok`: every sum is exact before it is rounded, and takes each product and c once."""
    d = unit.design
    designs = [d] if unit.tree is None else list(stage_designs(unit.tree, d).values())
    exact = all(
        of.fraction_bits is None and of.carry_bits is None and of.rho.integer_bits is None
        and all(always_infinite(of, t) for t in (of.rho, of.step))
        for of in designs
    )  # fmt: skip
    plain_terms = (
        d.zero_terms is None and d.product_limit is None and d.group is None and d.piece_bits is None
    )
    plain_sums = d.lost_bits == "cut" and not d.framed and d.c_position != "after" and d.carry_bits is None
    flushed = d.c_subnormals != "kept"
    c_kept = not flushed or (d.c_subnormals != "hidden_bit" and d.result_subnormals != "kept")
    if unit.emulation is not None or d.fraction_bits is not None or d.zero_words != "summed":
        return False
    if not (exact and plain_terms and plain_sums and c_kept):
        return False
    return unit.tree is None or _each_once(unit.tree.root)


def _each_once(root: Step) -> bool:
    """Whether a tree takes every product and c once."""
    leaves = [x for step in root.steps() for x in step.children if not isinstance(x, Step)]
    products = sorted(x for x in leaves if isinstance(x, int))
    return leaves.count("c") == 1 and products == list(range(len(products)))


def _kept(d: Design) -> bool:
    return d.operand_subnormals == "kept" and d.c_subnormals == "kept" and plain(d)


#: Binary places that are kept of the powers of many blocks.
_PLACES = 400


def _up(x: Fraction) -> Fraction:
    """The least multiple of 2^-_PLACES that is at least x."""
    return Fraction(-((-x.numerator << _PLACES) // x.denominator), 1 << _PLACES)


def _grown(first: Fraction, each: Fraction, times: int) -> Fraction:
    """(1 + first)·(1 + each)^times - 1; rounded up where that is many times."""
    if times < 64:
        return (1 + first) * (1 + each) ** times - 1
    return _up((1 + first) * _power_up(1 + each, times)) - 1


def _power_up(x: Fraction, times: int) -> Fraction:
    total = Fraction(1)
    while times:
        if times & 1:
            total = _up(total * x)
        x, times = _up(x * x), times >> 1
    return total
