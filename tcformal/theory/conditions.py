"""Side conditions and constants of the theorems of `coq/` for designs, computed on exact numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.rounding import NEAREST
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format

#: A product's share of a unit is counted in parts of this size.
PARTS = 4096
#: Of how many fraction bits products at most have a share of their own.
_FEW = 8


@dataclass(frozen=True, slots=True)
class Terms:
    """What is known of the terms of a unit of one fused sum, as `Values.term_facts` has it."""

    most: int
    bits: int
    low: int


def power(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(2) ** exponent


def one_sum(unit: UnitSpec) -> bool:
    """Whether a block is one fused sum of whole products and c: `Values.sum_of` is not None."""
    d = unit.design
    return (
        unit.tree is None and d.summation == "fused" and d.c_position == "joined" and d.lost_bits == "cut"
        and not d.framed and d.group is None and d.piece_bits is None and d.zero_words == "summed"
        and d.rho.integer_bits is None
    )  # fmt: skip


def least(f: Format) -> int:
    """The least exponent of a format's numbers."""
    return (1 if f.has_zero else 0) - f.bias


def start_format(unit: UnitSpec) -> Format:
    """The format of the first block's c."""
    return unit.c_format if unit.emulation is None else unit.d_format


def parts_ok(unit: UnitSpec) -> bool:
    """Whether a composition of calls has no scales."""
    return unit.emulation is None or unit.scale_format is None


def one_nan(unit: UnitSpec) -> bool:
    """Whether every NaN result is one word."""
    d = unit.design
    return unit.emulation is not None or (_nan_rule(unit) == "word" and d.zero_words == "summed")


def term_facts(unit: UnitSpec) -> Terms | None:
    """Bounds of the terms' significands and exponents; None where factors are converted or rounded."""
    d = unit.design
    rules = {d.operand_subnormals, d.operand_subnormals if d.b_subnormals is None else d.b_subnormals}
    if "hidden_bit" in rules or d.exponent_step != 1 or d.zero_terms is not None or _converted(unit):
        return None
    if d.product_rounding is not None:
        return None
    formats = [unit.a_format, unit.b_format]
    lows = [least(f) - (f.fraction_bits if d.normalise_operands else 0) for f in formats]
    if unit.scale_format is not None:
        formats += [unit.scale_format] * 2
        lows += [least(unit.scale_format)] * 2
    most = 1
    for f in formats:
        most *= (2 << f.fraction_bits) - 1
    return Terms(most, sum(f.fraction_bits for f in formats), sum(lows))


def nearest(d: Design) -> bool:
    """Whether the last rounding is to nearest."""
    return d.rho.mode in NEAREST


def plain(d: Design) -> bool:
    """Whether overflow is an infinity and subnormal results are kept."""
    return d.result_subnormals == "kept" and (d.overflow != "ieee" or nearest(d))


def share(d: Design) -> Fraction:
    """How much a rounding loses at most, in units of the leading bit."""
    return power(-d.rho.fraction_bits - (1 if nearest(d) else 0))


def kept(d: Design, lost: Fraction) -> Fraction:
    """Units that a block loses beside its rounding."""
    return lost if nearest(d) else max(lost - 1, Fraction(0))


def kappa(d: Design, lost: Fraction) -> Fraction:
    """The constant of one block whose terms lose so many units: `Losses.kappa`."""
    bits = int(d.fraction_bits or 0)
    grown = Fraction(0) if d.alignment_rounding == "RZ" else lost * power(-bits)
    return kept(d, lost) * power(-bits) + share(d) * (1 + grown)


def few_bits(first: int, second: int) -> int:
    """The least share of a unit, in parts, that cut products of leading bits lose: `Losses.few_bits` holds."""
    if first + second > _FEW:
        return PARTS
    worst = Fraction(0)
    for x in range(1 << first, 2 << first):
        for y in range(1 << second, 2 << second):
            worst = max(worst, *(Fraction(x * y % (1 << k), 1 << k) for k in range(1, first + second + 3)))
    return min(PARTS, -(-worst.numerator * PARTS // worst.denominator))


def plain_scales(unit: UnitSpec) -> bool:
    """Whether scales are powers of two, or there are none."""
    return unit.scale_format is None or unit.scale_format.fraction_bits == 0


def product_share(unit: UnitSpec) -> int:
    """The share of a unit that a product loses at most, in parts."""
    if unit.design.alignment_rounding != "RZ" or not plain_scales(unit):
        return PARTS
    return few_bits(unit.a_format.fraction_bits, unit.b_format.fraction_bits)


def near(unit: UnitSpec) -> bool:
    """Whether products of one scale are so near each other that none is cut beside another."""
    scale, d = unit.scale_format, unit.design
    if not plain_scales(unit) or (scale is not None and (unit.scale_block or 0) < block_size(unit)):
        return False
    formats = (unit.a_format, unit.b_format)
    low = sum(least(f) - (f.fraction_bits if d.normalise_operands else 0) for f in formats)
    most = sum((1 << f.exponent_bits) - 1 - f.bias for f in formats)
    bits = sum(f.fraction_bits for f in formats)
    return all(f.exponent_bits >= 1 for f in formats) and most - low + bits <= int(d.fraction_bits or 0)


def block_size(unit: UnitSpec) -> int:
    """Products of one block."""
    return unit.k if unit.tree is not None else min(unit.k, unit.design.products)


def relative_ok(unit: UnitSpec) -> bool:
    """`Accumulated.relative_ok`: the side condition of the theorems on relative errors of truncated sums."""
    d, terms = unit.design, term_facts(unit)
    if not one_sum(unit) or terms is None or d.fraction_bits is None:
        return False
    f, e_min, p = d.fraction_bits, d.rho.e_min, d.rho.fraction_bits
    start = start_format(unit)
    low = min(terms.low, least(start), e_min)
    zero = d.zero_exponent
    zero_ok = zero == "none" or (
        isinstance(zero, int)
        and (zero <= low or (d.alignment_rounding == "RZ" and zero <= max(e_min, least(start))))
    )
    return (
        plain(d) and d.carry_bits is None and not d.normalise_products and zero_ok and 0 <= f and p <= f
        and terms.bits <= f and d.c_subnormals == "kept" and d.order == "ascending"
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Constants:
    """What a call loses: the first block from c = 0, every other block, and what is added to a composition's sum.

    Ranges and units: products of a block, blocks of a call; the error of m blocks from c = 0 is at most
    (1 + first)·(1 + other)^(m-1) - 1, and of a composition that times (1 + last).
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
            size = self.size * self.blocks
            calls, one = -(-length // size), -(-min(length, size) // self.size)
            call = (1 + self.first) * (1 + self.other) ** (one - 1)
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
        return Constants(first, other, n, len(how.parts), share(how.addition))
    depths = rounded_depths(unit)
    if depths is None:
        return None
    u = max(x[0] for x in conversions(unit))
    product, c = depths
    return Constants((1 + u) ** product - 1, (1 + u) ** c - 1, block_size(unit), 1)


def conversions(unit: UnitSpec) -> list[tuple[Fraction, Fraction]]:
    """Of every rounding of a unit of rounded sums, its share and what it loses beside subnormal results."""
    d, made = unit.design, []
    flushes = d.result_subnormals != "kept"
    targets = [] if d.product_rounding is None else [(d.product_conversion, d)]
    if unit.tree is not None:
        targets += [(of.rho, of) for of in stage_designs(unit.tree, d).values()]
    else:
        targets += [(t, d) for t in ([d.rho] if d.c_position == "joined" else [d.step, d.rho])]
    for t, of in targets:
        u = power(-t.fraction_bits - (1 if t.mode in NEAREST else 0))
        flushes = of.result_subnormals != "kept"
        made.append((u, power(t.e_min) if flushes else u * power(t.e_min)))
    return made


def rounded_depths(unit: UnitSpec) -> tuple[int, int] | None:
    """Roundings on the longest path from a product, and from c, to a block's result: `Exact.rounded_ok` holds."""
    d = unit.design
    if unit.emulation is not None or d.fraction_bits is not None or d.zero_words != "summed":
        return None
    if d.zero_terms is not None or d.product_limit is not None or d.group is not None or d.piece_bits is not None:
        return None
    if d.lost_bits != "cut" or d.framed or d.c_position == "after" or d.carry_bits is not None:
        return None
    designs = [d] if unit.tree is None else list(stage_designs(unit.tree, d).values())
    for of in designs:
        if of.fraction_bits is not None or of.carry_bits is not None or of.rho.integer_bits is not None:
            return None
        if of.overflow == "ieee" and any(t.mode not in NEAREST for t in (of.rho, of.step)):
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
        "fused": 1, "sequential": n - 1, "pairwise": max(n - 1, 0).bit_length(), "two_chains": 1 + (1 + n) // 2,
        "pair_chains": 2 + (1 + pairs) // 2,
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


def _converted(unit: UnitSpec) -> bool:
    how, tree = unit.emulation, unit.tree
    return (how is not None and how.converted is not None) or (tree is not None and tree.converted is not None)


def _nan_rule(unit: UnitSpec) -> str:
    return unit.design.nan_rule if unit.tree is None else unit.tree.nan_rule


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
