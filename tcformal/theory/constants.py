"""The constants of relative errors that the theorems of `coq/` give, for dot products of any length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import (
    PARTS,
    always_infinite,
    block_size,
    kappa,
    near,
    parts_ok,
    plain,
    product_share,
    relative_ok,
    share,
)
from tcformal.theory.paths import ONE, paths


@dataclass(frozen=True, slots=True)
class Constants:
    """What a call loses: the first block from c = 0, every other one, and what adds c to a composition's sum.

    Ranges and units: products of a block, or of a call of a composition, whose blocks `blocks` counts; the
    error of m blocks from c = 0 is at most (1 + first)·(1 + other)^(m-1) - 1, and of a composition that times
    (1 + last).
    """

    first: Fraction
    other: Fraction
    size: int
    blocks: int
    last: Fraction = Fraction(0)

    def of(self, length: int) -> Fraction:
        """C of so many products from c = 0."""
        if self.last:
            # Calls of blocks from +0, each added to the sum before: C -> (1 + C)(1 + last) - 1.
            # Any products of a call may be those of any part.
            calls, call = -(-length // self.size), (1 + self.first) * (1 + self.other) ** (self.blocks - 1)
            return call * (1 + self.last) ** (calls - 1) - 1
        blocks = -(-length // self.size)
        if blocks > 64:
            return _up((1 + self.first) * _power_up(1 + self.other, blocks - 1)) - 1
        return (1 + self.first) * (1 + self.other) ** (blocks - 1) - 1


def constants(unit: UnitSpec) -> Constants | None:
    """The constants of a unit's relative error, by the theorem that applies; None where none does."""
    if relative_ok(unit):
        d, n = unit.design, block_size(unit)
        part, alone = Fraction(product_share(unit), PARTS), max(n - 1, 0)
        first = kappa(d, Fraction(0) if near(unit) else part * alone)
        other = kappa(d, part * alone + 1)
        if unit.emulation is None:
            return Constants(first, other, n, unit.k // n)
        how = unit.emulation
        if how.addition.fraction_bits is not None or not _kept(how.addition) or not parts_ok(unit):
            return None
        own, to = d.rho, how.addition.rho
        low, least_to = own.e_min - own.fraction_bits, to.e_min - to.fraction_bits
        if how.addition.carry_bits is not None or own.fraction_bits > to.fraction_bits or least_to > low:
            return None
        blocks = sum(-(-len(part) // n) for part in how.parts)
        return Constants(first, other, unit.k, blocks, share(how.addition))
    found = paths(unit)
    if found is None:
        return None
    return Constants(Fraction(found.start, ONE), Fraction(found.later[1], ONE), block_size(unit), 1)


def rounded_depths(unit: UnitSpec) -> tuple[int, int] | None:
    """Roundings on the longest path from a product, and from c, where `Exact.rounded_ok` holds."""
    d = unit.design
    if unit.emulation is not None or d.fraction_bits is not None or d.zero_words != "summed":
        return None
    if (
        d.zero_terms is not None
        or d.product_limit is not None
        or d.group is not None
        or d.piece_bits is not None
    ):
        return None
    if d.lost_bits != "cut" or d.framed or d.c_position == "after" or d.carry_bits is not None:
        return None
    designs = [d] if unit.tree is None else list(stage_designs(unit.tree, d).values())
    for of in designs:
        if of.fraction_bits is not None or of.carry_bits is not None or of.rho.integer_bits is not None:
            return None
        if not all(always_infinite(of, t) for t in (of.rho, of.step)):
            return None
    flushes = d.result_subnormals != "kept"
    if d.c_subnormals == "hidden_bit" or (d.c_subnormals != "kept" and not flushes):
        return None
    product = 0 if d.product_rounding is None else 1
    if unit.tree is not None:
        return _tree_depths(unit.tree.root, product)
    n = d.products
    if d.c_position == "joined":
        return 1 + product, 1
    if d.c_position == "first":
        return n + product, n
    pairs = n // 2 + n % 2
    inner = {
        "fused": 1, "sequential": n - 1, "pairwise": max(n - 1, 0).bit_length(),
        "two_chains": 1 + (1 + n) // 2, "pair_chains": 2 + (1 + pairs) // 2,
    }[d.summation]  # fmt: skip
    return 1 + inner + product, 1


def _tree_depths(root: Step, product: int) -> tuple[int, int] | None:
    """The depths of a tree in which every product and c occur once."""
    leaves: list[int | str] = []

    def walk(step: Step) -> Iterator[tuple[int | str, int]]:
        for child in step.children:
            if isinstance(child, Step):
                yield from ((leaf, depth + 1) for leaf, depth in walk(child))
            else:
                yield child, 1

    depths: dict[str, int] = {"c": 0, "product": 0}
    for leaf, depth in walk(root):
        leaves.append(leaf)
        if leaf == "c":
            depths["c"] = max(depths["c"], depth)
        elif isinstance(leaf, int):
            depths["product"] = max(depths["product"], depth + product)
    products = [x for x in leaves if isinstance(x, int)]
    if leaves.count("c") != 1 or sorted(products) != list(range(len(products))):
        return None
    return depths["product"], depths["c"]


def _kept(d: Design) -> bool:
    return d.operand_subnormals == "kept" and d.c_subnormals == "kept" and plain(d)


#: Binary places that are kept of the powers of many blocks.
_PLACES = 400


def _up(x: Fraction) -> Fraction:
    """The least multiple of 2^-_PLACES that is at least x."""
    return Fraction(-((-x.numerator << _PLACES) // x.denominator), 1 << _PLACES)


def _power_up(x: Fraction, times: int) -> Fraction:
    total = Fraction(1)
    while times:
        if times & 1:
            total = _up(total * x)
        x, times = _up(x * x), times >> 1
    return total
