"""The constants of relative errors that the theorems of `coq/` give, for dot products of any length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import TypeVar

from tcformal.design.rounding import NEAREST, Conversion, overflows_to_infinity
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InvariantError
from tcformal.theory.design import Sum, block_size, if_described, tree_sum
from tcformal.theory.stated_sum import operand_rules

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


def log2(n: int) -> int:
    """The exponent of the leading bit; 0 for 0."""
    return max(n.bit_length() - 1, 0)


def whole(d: Design) -> bool:
    """Whether terms are whole products."""
    return d.group is None and d.piece_bits is None


def alone(unit: UnitSpec) -> bool:
    """Whether a unit's sums are those of its design: neither a tree nor a composition."""
    return unit.tree is None and unit.emulation is None


def unit_designs(unit: UnitSpec) -> list[Design]:
    """The designs of all sums: the unit's, or those of a tree's stages."""
    return [unit.design] if unit.tree is None else list(stage_designs(unit.tree, unit.design).values())


def one_sum(unit: UnitSpec) -> bool:
    """Whether a block is one fused sum of whole products and c: `Values.sum_of` is not None."""
    return one_sum_of_terms(unit) and whole(unit.design)


def one_sum_of_terms(unit: UnitSpec) -> bool:
    """Whether a block is one fused sum of its terms and c, whose cut bits are lost."""
    d = unit.design
    return (
        unit.tree is None and d.summation == "fused" and d.c_position == "joined" and d.lost_bits == "cut"
        and not d.framed and d.zero_words == "summed" and d.rho.integer_bits is None
    )  # fmt: skip


def least(f: Format) -> int:
    """The least exponent of a format's numbers."""
    return (1 if f.has_zero else 0) - f.bias


def highest(f: Format) -> int:
    """A bound of the exponents of a format's numbers: `Large.highest`."""
    return (1 << f.exponent_bits) - (2 if f.specials is Specials.IEEE else 1) - f.bias


def start_format(unit: UnitSpec) -> Format:
    """The format of the first block's c."""
    return unit.c_format if unit.emulation is None else unit.d_format


def parts_ok(unit: UnitSpec) -> bool:
    """Whether a composition of calls has no scales."""
    return unit.emulation is None or unit.scale_format is None


def one_nan(unit: UnitSpec) -> bool:
    """Whether every NaN result is one word."""
    d, tree = unit.design, unit.tree
    rule = d.nan_rule if tree is None else tree.nan_rule
    return unit.emulation is not None or (rule == "word" and d.zero_words == "summed")


def product_facts(unit: UnitSpec) -> Terms | None:
    """Bounds of the products' significands and exponents, before scales; None where products are rounded."""
    return None if unit.design.zero_terms is not None else _product_facts(unit)


def _product_facts(unit: UnitSpec) -> Terms | None:
    """The same of products that are not zero."""
    d, to, formats = unit.design, converted_to(unit), [unit.a_format, unit.b_format]
    if (
        "hidden_bit" in operand_rules(d) or d.exponent_step != 1 or d.product_rounding is not None
        or (to is not None and any(least(to) > least(f) for f in formats))
    ):  # fmt: skip
        return None
    return _times(formats, sum(_factor_low(unit, f) for f in formats))


def term_facts(unit: UnitSpec) -> Terms | None:
    """Bounds of the terms' significands and exponents; None where terms are rounded."""
    products, scale = product_facts(unit), unit.scale_format
    if products is None or scale is None:
        return products
    scales = _times([scale] * 2, 2 * least(scale))
    return Terms(products.most * scales.most, products.bits + scales.bits, products.low + scales.low)


def _times(formats: list[Format], low: int) -> Terms:
    bits = [f.fraction_bits for f in formats]
    return Terms(prod((2 << x) - 1 for x in bits), sum(bits), low)


def nearest(d: Design) -> bool:
    """Whether the last rounding is to nearest."""
    return d.rho.mode in NEAREST


def always_infinite(d: Design, target: Conversion) -> bool:
    """Whether a number too large for a target is an infinity, whatever its sign: `Error.always_infinite`."""
    return d.overflow == "infinity" or (d.overflow == "ieee" and overflows_to_infinity(target.mode))


def plain(d: Design) -> bool:
    """Whether overflow is an infinity and subnormal results are kept."""
    return d.result_subnormals == "kept" and always_infinite(d, d.rho)


def share(d: Design) -> Fraction:
    """How much a rounding loses at most, in units of the leading bit."""
    return power(-d.rho.fraction_bits - (1 if nearest(d) else 0))


def kappa(d: Design, lost: Fraction) -> Fraction:
    """The constant of one block whose terms lose so many units: `Losses.kappa`."""
    unit = power(-int(d.fraction_bits or 0))
    grown = Fraction(0) if d.alignment_rounding == "RZ" else lost * unit
    beside = lost if nearest(d) else max(lost - 1, Fraction(0))
    return beside * unit + share(d) * (1 + grown)


def few_bits(first: int, second: int) -> int:
    """The least share of a unit, in parts, for which `Losses.few_bits` holds of products."""
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
    """The share of a unit that a term, a product or a group of them, loses at most, in parts."""
    if unit.design.group is not None or unit.design.alignment_rounding != "RZ" or not plain_scales(unit):
        return PARTS
    return few_bits(unit.a_format.fraction_bits, unit.b_format.fraction_bits)


def near(unit: UnitSpec) -> bool:
    """Whether products of one scale are so near each other that none is cut beside another."""
    d, formats = unit.design, (unit.a_format, unit.b_format)
    one_scale = unit.scale_format is None or (unit.scale_block or 0) >= block_size(unit)
    # The largest exponent of a product, its least, and its bits.
    span = sum((1 << f.exponent_bits) - 1 - f.bias - _factor_low(unit, f) + f.fraction_bits for f in formats)
    return (
        d.group is None and plain_scales(unit) and one_scale and all(f.exponent_bits >= 1 for f in formats)
        and span <= int(d.fraction_bits or 0)
    )  # fmt: skip


def block_terms(unit: UnitSpec) -> int:
    """Terms of one block beside c, of which groups of products are one each: `Groups.group_count`."""
    return block_size(unit) // (unit.design.group or 1)


def value_only(unit: UnitSpec) -> bool:
    """`Operands.value_only`: whether products are rounded, or sums see the values of terms alone."""
    d = unit.design
    if not whole(d) or d.zero_terms is not None:
        return False
    if d.product_rounding is not None:
        return True
    if unit.tree is not None:
        used, named = {step.stage for step in unit.tree.root.steps()}, stage_designs(unit.tree, d)
        return all(_value_sum(named[stage]) for stage in used)
    others = d.framed or d.summation in ("tr", "gtr") or d.c_position == "after" or d.lost_bits != "cut"
    return not others and _value_sum(d)


def _value_sum(d: Design) -> bool:
    return d.fraction_bits is None or (d.normalise_products and d.zero_exponent != "own")


def down_blocks_ok(unit: UnitSpec) -> bool:
    """`DownAgain.down_blocks_ok`: whether only zero is rounded to zero by a sum that is rounded down."""
    d, terms, start = unit.design, term_facts(unit), start_format(unit)
    p, f = d.rho.fraction_bits, d.fraction_bits
    return (
        d.summation in ("tr", "gtr") and terms is not None and f is not None and whole(d)
        and d.zero_words == "summed" and unit.emulation is None
        and d.result_subnormals == d.c_subnormals == "kept" and d.zero_sign != "ieee"
        and d.carry_bits is None and d.zero_exponent == "none" and p <= f <= int(d.sum_fraction_bits or 0)
        and d.rho.e_min - p <= min(terms.low - terms.bits, least(start) - start.fraction_bits)
    )  # fmt: skip


def c_as_results(d: Design) -> bool:
    """Whether subnormals of c are kept, or flushed as results are."""
    return d.c_subnormals == "kept" or (d.c_subnormals != "hidden_bit" and d.result_subnormals != "kept")


def zeros_at_most(d: Design, limit: int) -> bool:
    """Whether zeros take no part, or no exponent of zeros is above a limit."""
    return d.zero_exponent == "none" or (isinstance(d.zero_exponent, int) and d.zero_exponent <= limit)


def truncated_ok(unit: UnitSpec) -> bool:
    """`Accumulated.truncated_ok`, for the least exponents of terms and of c."""
    d, terms, bits = unit.design, term_facts(unit), unit.design.fraction_bits
    if terms is None or bits is None:
        return False
    low, e_min = least(start_format(unit)), d.rho.e_min
    cut = d.alignment_rounding == "RZ"
    zero_ok = zeros_at_most(d, min(terms.low, low, e_min)) or (cut and zeros_at_most(d, max(e_min, low)))
    unbounded = d.carry_bits is None and not d.normalise_products
    return plain(d) and unbounded and zero_ok and bits >= 0 and d.rho.fraction_bits <= bits


def relative_ok(unit: UnitSpec) -> bool:
    """`Accumulated.relative_ok`: the side condition of the theorems on relative errors of truncated sums."""
    d, terms = unit.design, term_facts(unit)
    return (
        one_sum(unit) and truncated_ok(unit) and terms is not None and terms.bits <= int(d.fraction_bits or 0)
        and d.c_subnormals == "kept" and d.order == "ascending"
    )  # fmt: skip


def grouped_ok(unit: UnitSpec) -> bool:
    """`Groups.grouped_ok`: the side condition of the errors of sums of groups of products."""
    d, products, scale, f = unit.design, product_facts(unit), unit.scale_format, unit.design.fraction_bits
    if d.group is None or scale is None or products is None or f is None:
        return False
    cut = d.alignment_rounding == "RZ"
    return (
        unit.emulation is None and one_sum_of_terms(unit) and d.piece_bits is None
        and plain(d) and d.carry_bits is None and not d.normalise_products and d.rho.fraction_bits <= f
        and (d.zero_exponent == "none" or (cut and zeros_at_most(d, d.rho.e_min)))
        and products.low >= 0 and products.bits + 2 * scale.fraction_bits <= f and d.c_subnormals == "kept"
        and d.order == "ascending" and d.product_limit is None
        and (unit.scale_block or 0) % d.group == block_size(unit) % d.group == 0
    )  # fmt: skip


def sticky_ok(unit: UnitSpec) -> bool:
    """`Sticky.sticky_ok`: the side condition of the error of sticky sums from c = 0 whose zeros are ones."""
    d, products = unit.design, _product_facts(unit)
    f, zero = d.fraction_bits, d.zero_terms
    if products is None or f is None or zero is None:
        return False
    return (
        (d.lost_bits, d.c_position, d.summation) == ("sticky", "joined", "fused")
        and alone(unit) and unit.scale_format is None and whole(d) and not d.framed
        and d.alignment_rounding == "RZ" and not d.normalise_products and always_infinite(d, d.rho)
        and nearest(d) and d.rho.integer_bits is None and d.rho.fraction_bits >= 11 and products.bits <= f
        and zero < products.low and products.most >> products.bits > 0 and unit.c_format.fraction_bits <= f
        and d.product_limit is None and d.negated == "none" and d.order == "ascending"
        and d.zero_words == "summed" and _sticky_carry(d, products, zero, block_size(unit))
    )  # fmt: skip


def _sticky_carry(d: Design, products: Terms, zero: int, n: int) -> bool:
    """`Sticky.sticky_carry`: whether the register holds n products beside a zero, and zeros alone."""
    k, below = d.carry_bits, products.low - zero
    g = max(products.bits, below)
    total = (n * products.most << g - products.bits) + (1 << g - below)
    return k is None or (total < 1 << g + 1 + k and n + 1 <= 1 << k)


def exponents_ok(unit: UnitSpec) -> bool:
    """`Exponents.exponents_ok`, of one block: the side condition of the error in terms of exponents."""
    d = unit.design
    return (
        one_sum(unit) and term_facts(unit) is not None and d.fraction_bits is not None
        and unit.emulation is None and unit.k == block_size(unit) and plain(d) and d.carry_bits is None
        and not d.normalise_products and d.c_subnormals == "kept" and d.order == "ascending"
        and zeros_at_most(d, d.rho.e_min)
    )  # fmt: skip


def losing(unit: UnitSpec, f: int) -> int:
    """`Exponents.losing`: how many of a block's products and c may lose bits below F fraction bits."""
    terms = term_facts(unit)
    whole = terms is not None and terms.bits <= f and unit.c_format.fraction_bits <= f
    return block_size(unit) + (0 if whole else 1)


def converted_to(unit: UnitSpec) -> Format | None:
    """The format that factors are first converted to; None where they are taken as they are."""
    if unit.emulation is not None:
        return unit.emulation.converted
    return None if unit.tree is None else unit.tree.converted


def _factor_low(unit: UnitSpec, f: Format) -> int:
    """The least exponent of a factor: `Values.factor_facts`."""
    return least(converted_to(unit) or f) - (f.fraction_bits if unit.design.normalise_operands else 0)


#: An operand of a sum.
A = TypeVar("A")
#: Fraction bits of factors: `Paths.width`.
WIDTH = 128
ONE = 1 << WIDTH


@dataclass(frozen=True, slots=True)
class Bound:
    """What is known of a partial result, `Paths.bound`.

    Ranges and units: its error is (factor - 1)·Σ|products| + (of_c - 1)·|c| + beside·2^tiny, all three in
    units of 2^-WIDTH.
    """

    known: bool = True
    nothing: bool = False
    short: int | None = None
    settles: int | None = None
    factor: int = ONE
    of_c: int = 0
    beside: int = 0


UNKNOWN = Bound(known=False)
ZERO = Bound(nothing=True, short=0, settles=0)


@dataclass(frozen=True, slots=True)
class Paths:
    """What a block loses, `first` from c = 0 and `later` beside any c.

    Ranges and units: of its products' magnitudes, and of |c|, in units of 2^-WIDTH, and, of sums in an order,
    in units of 2^tiny of those.
    """

    floor: int
    tiny: int
    first: tuple[int, int, int]
    later: tuple[int, int, int]

    @property
    def start(self) -> int:
        """The first block's constant from c = 0, or more: that later ones lose no more of their products."""
        k, of_c, _ = self.later
        return max(self.first[0], -(-((k + ONE) * ONE) // (of_c + ONE)) - ONE)

    @property
    def beside(self) -> int:
        """The constant of a first block beside any c."""
        return max(self.later[:2])


@lru_cache(maxsize=16)
def paths(unit: UnitSpec) -> Paths | None:
    """The losses of a unit whose sums are made in an order; None where the theorem does not apply."""
    if not order_ok(unit):
        return None
    bits, targets = c_bits(unit), [(s.target, s.design) for s in stages(unit)]
    if unit.design.product_rounding is not None:
        targets.append((unit.design.product_conversion, unit.design))
    # The largest exponent of numbers without a leading bit, and the unit of what is lost beside.
    floor = max(least(start_format(unit)), *(t.e_min for t, _ in targets))
    cut = [floor - lost_bits(t) - of.fraction_bits for t, of in targets if of.fraction_bits is not None]
    tiny = min(cut) if cut else max(_flush_exponent(t, of) for t, of in targets)
    some = Bound(short=bits, settles=bits if cuts(unit) else None, of_c=ONE)
    first, later = (_order_losses(unit, floor, tiny, c) for c in (ZERO, some))
    return None if first is None or later is None else Paths(floor, tiny, first, later)


def losses(unit: UnitSpec) -> Paths | None:
    """What a block loses, of sums in an order or rounded down; None where neither theorem applies."""
    return paths(unit) or rounded_down(unit)


def rounded_down(unit: UnitSpec) -> Paths | None:
    """`DownChains.down_losses`, with the share of a unit that `product_share` gives."""
    d, terms, start, t = unit.design, term_facts(unit), start_format(unit), unit.design.rho
    f, bits, n = int(d.fraction_bits or 0), int(d.sum_fraction_bits or 0), block_size(unit)
    if terms is None or not (
        d.summation in ("tr", "gtr") and alone(unit) and whole(d) and d.zero_words == "summed" and plain(d)
        and d.c_subnormals == "kept" and d.carry_bits is None and not d.normalise_products
        and d.zero_exponent == "none" and max(terms.bits, t.fraction_bits, start.fraction_bits) <= f <= bits
        and max(f + 12, bits + 1) <= WIDTH
    ):  # fmt: skip
        return None
    part, once = product_share(unit), d.sum_rounding == "RD_ADDENDS"
    units = part * max((n + 1) // 2 - 1, 0) + PARTS if d.summation == "gtr" else part * max(n - 1, 0)
    again = ONE + (1 << WIDTH - lost_bits(t))
    if not once:
        again = up(again * (ONE + (1 << WIDTH - bits)))
    own, beside, of_c = (
        up((ONE + x) * again) - ONE
        for x in (units << WIDTH - f - 12, units + PARTS << WIDTH - f - 12, 1 << WIDTH - bits - (not once))
    )
    return Paths(max(t.e_min, least(start)), 0, (own, 0, 0), (beside, of_c, 0))


def order_ok(unit: UnitSpec) -> bool:
    """`Growth.order_ok`, for the `floor` that `paths` finds."""
    d, zeros = unit.design, unit.a_format.has_zero and unit.b_format.has_zero
    return (
        whole(d) and (d.zero_words == "summed" or zeros) and d.summation not in ("tr", "gtr")
        and not d.framed and d.c_position != "after" and d.lost_bits == "cut" and d.zero_terms is None
        and d.product_limit is None and d.c_subnormals != "hidden_bit"
        and all(
            s.target.e_min <= s.target.e_max
            and (d.c_subnormals == "kept" or (_flushes(s.design) and _exact(s)))
            for s in stages(unit)
        )
        and start_format(unit).fraction_bits <= c_bits(unit)
        and (unit.tree is None or _each_once(unit.tree.root))
    )  # fmt: skip


def cuts(unit: UnitSpec) -> bool:
    """Whether some sum cuts its terms."""
    return any(s.target.integer_bits is None and s.design.fraction_bits is not None for s in stages(unit))


def _order_losses(unit: UnitSpec, floor: int, tiny: int, c: Bound) -> tuple[int, int, int] | None:
    def add(stage: Sum, operands: Sequence[Bound]) -> Bound:
        return after_sum(stage, operands, floor, tiny)

    made = in_order(unit, add, ZERO, UNKNOWN, [_term(unit, tiny)] * block_size(unit), c)
    bits = c_bits(unit)
    if not made.known or not _fits(made.short, bits) or (cuts(unit) and not _fits(made.settles, bits)):
        return None
    return made.factor - ONE, max(made.of_c, ONE) - ONE, made.beside


def after_sum(stage: Sum, operands: Sequence[Bound], floor: int, tiny: int) -> Bound:
    """`Paths.after_stage`."""
    d, t = stage.design, stage.target
    if t.integer_bits is not None or not all(b.known for b in operands):
        return UNKNOWN
    live = [b for b in operands if not b.nothing]
    leads = d.fraction_bits is None or all(_fits(b.settles, d.fraction_bits) for b in operands)
    lost = stage_loss(stage, len(live), leads, floor, tiny)
    if lost is None or t.fraction_bits < 0 or not t.e_min <= min(t.e_max, floor):
        return UNKNOWN
    k, h = lost
    settles = t.fraction_bits if _plain(stage) else None
    if not live and _exact(stage):
        return ZERO
    if len(live) == 1 and _fits(live[0].short, t.fraction_bits):
        return replace(live[0], short=t.fraction_bits, settles=settles, beside=live[0].beside + h)
    factor = max((b.factor for b in live), default=ONE)
    of_c = max((b.of_c for b in live), default=0)
    factor, of_c, beside = (up(x * (ONE + k)) for x in (factor, of_c, sum(b.beside for b in live)))
    return Bound(True, False, t.fraction_bits, settles, factor, of_c, beside + h)


def stage_loss(stage: Sum, n: int, leads: bool, floor: int, tiny: int) -> tuple[int, int] | None:
    """`Paths.stage_loss`."""
    d, t = stage.design, stage.target
    low, f = lost_bits(t), d.fraction_bits
    if _exact(stage):
        rest = max(0, WIDTH + _flush_exponent(t, d) - tiny)
        return (1 << WIDTH - low, 1 << rest) if low <= WIDTH else None
    if f is None or not (
        d.zero_exponent == "none" and d.carry_bits is None and leads and _plain(stage)
        and not d.normalise_products and f >= 0 and t.fraction_bits <= f and t.e_min <= floor
        and low + f <= WIDTH and WIDTH + floor - low - f - tiny >= 0
    ):  # fmt: skip
        return None
    lost, rest = max(n - 1, 0), WIDTH + floor - low - f - tiny
    kept = lost if t.mode in NEAREST else max(lost - 1, 0)
    more = 0 if d.alignment_rounding == "RZ" else lost
    return (
        (kept << WIDTH - f) + (1 << WIDTH - low) + (more << WIDTH - low - f),
        (kept << rest + low) + (1 << rest + f) + (more << rest),
    )


def _term(unit: UnitSpec, tiny: int) -> Bound:
    """`Growth.term_bound`."""
    d = unit.design
    facts = term_facts(replace(unit, design=replace(d, product_rounding=None)))
    made = Bound()
    if facts is not None:
        settles = facts.bits if cuts(unit) and facts.bits >= 0 else None
        made = Bound(short=facts.most.bit_length() - 1, settles=settles)
    if d.product_rounding is None:
        return made
    t = d.product_conversion
    if t.integer_bits is not None or not monotone(t, d):
        return UNKNOWN
    low, rest = lost_bits(t), max(0, WIDTH + _flush_exponent(t, d) - tiny)
    if low > WIDTH:
        return UNKNOWN
    factor = ONE if _fits(made.short, t.fraction_bits) else ONE + (1 << WIDTH - low)
    return Bound(short=t.fraction_bits, factor=factor, beside=1 << rest)


def c_bits(unit: UnitSpec) -> int:
    """Fraction bits of c, be it a result: `Growth.c_bits`."""
    return max(unit.c_format.fraction_bits, 0, *(s.target.fraction_bits for s in stages(unit)))


def lost_bits(t: Conversion) -> int:
    """A rounding loses at most 2^-this of what it rounds."""
    return t.fraction_bits + (t.mode in NEAREST)


def _flush_exponent(t: Conversion, d: Design) -> int:
    return t.e_min if _flushes(d) else t.e_min - lost_bits(t)


def _flushes(d: Design) -> bool:
    return d.result_subnormals != "kept"


def monotone(t: Conversion, d: Design) -> bool:
    """`Monotone.monotone_conv`."""
    return t.fraction_bits >= 0 and always_infinite(d, t)


def _plain(stage: Sum) -> bool:
    return not _flushes(stage.design) and monotone(stage.target, stage.design)


def _exact(stage: Sum) -> bool:
    d, t = stage.design, stage.target
    unbounded = d.fraction_bits is None and d.carry_bits is None
    return t.integer_bits is None and unbounded and monotone(t, d)


def _fits(bits: int | None, most: int) -> bool:
    return bits is not None and bits <= most


def up(x: int) -> int:
    """The product of two factors as a factor, rounded up."""
    return -(-x >> WIDTH)


def stages(unit: UnitSpec) -> list[Sum]:
    """Of every sum of a block, `Exact.block_stages`."""
    d = unit.design
    if unit.tree is not None or d.c_position == "joined":
        return [Sum(x, x.rho) for x in unit_designs(unit)]
    return [Sum(d, d.step), Sum(d, d.rho)]


def in_order(
    unit: UnitSpec, add: Callable[[Sum, Sequence[A]], A], zero: A, none: A, terms: Sequence[A], c: A
) -> A:
    """The sum of a block's terms and c, by a sum of any operands: `Orders.block_order`."""
    d = unit.design
    if unit.tree is not None:
        leaves: dict[int | str, A] = {"c": c, "zero": zero, **dict(enumerate(terms))}

        def step(x: Sum) -> A:
            operands = [step(y) if isinstance(y, Sum) else leaves.get(y, none) for y in x.operands]
            return add(x, operands)

        return step(tree_sum(unit.tree, d))
    last = Sum(d, d.rho)
    if d.c_position == "joined":
        return add(last, [*terms, c])
    first = Sum(d, d.step)

    def chain(start: A, rest: Sequence[A]) -> A:
        for x in rest:
            start = add(first, [start, x])
        return start

    if d.c_position == "first":
        return add(last, [chain(c, terms[:-1]), terms[-1]])

    def two(rest: Sequence[A]) -> A:
        return add(first, [chain(zero, rest[::2]), chain(zero, rest[1::2])])

    def pairs(rest: Sequence[A]) -> list[A]:
        both = [add(first, rest[i : i + 2]) for i in range(0, len(rest) - 1, 2)]
        return [*both, *rest[len(both) * 2 :]]

    def levels(rest: Sequence[A]) -> A:
        return rest[0] if len(rest) == 1 else levels(pairs(rest))

    sums: dict[str, Callable[[Sequence[A]], A]] = {
        "fused": lambda x: add(first, x), "sequential": lambda x: chain(x[0], x[1:]), "two_chains": two,
        "pair_chains": lambda x: two(pairs(x)),
    }  # fmt: skip
    inner = sums.get(d.summation, levels)(terms)
    return add(last, [inner, c])


@dataclass(frozen=True, slots=True)
class ProductLoss:
    """Parts of a unit that a product loses wherever it is cut, and at its own exponent; what is left out."""

    share: int
    own: int
    rest: int


@dataclass(frozen=True, slots=True)
class Piecewise:
    """What a block loses, of its products' magnitudes from c = 0 and beside any c, and of |c|.

    Ranges and units: in units of 2^-F / `PARTS`; `product` in parts of a unit.
    """

    product: ProductLoss
    first: int
    later: int
    of_c: int


def fine(unit: UnitSpec, parts: int) -> Fraction:
    """Parts of 2^-F."""
    return Fraction(parts, PARTS << int(unit.design.fraction_bits or 0))


def joined(unit: UnitSpec) -> bool | None:
    """Whether c is a term of the block's sum; None where it is not added to that either: `piecewise_sum`."""
    d = unit.design
    sums = (
        alone(unit) and d.order == "ascending" and d.group is None and d.summation == "fused"
        and d.lost_bits == "cut" and not d.framed and d.zero_words == "summed"
        and d.rho.integer_bits is None and d.c_position in ("joined", "after")
    )  # fmt: skip
    return d.c_position == "joined" if sums else None


def product_loss(unit: UnitSpec, *, leading: bool = True) -> ProductLoss | None:
    """The least for which `product_loss` holds; `leading`: factors have leading bits."""
    d, terms, bits = unit.design, term_facts(unit), unit.design.fraction_bits
    if terms is None or bits is None or bits < 0:
        return None
    if d.piece_bits is None:
        share = product_share(unit) if leading else PARTS
        return ProductLoss(share, 0, 0) if terms.bits <= bits else None
    size, dropped = d.piece_bits, d.dropped_pieces
    places = [f.fraction_bits for f in (unit.a_format, unit.b_format)]
    counts = [t // size + 1 for t in places]
    levels = [i + j for i in range(counts[0]) for j in range(counts[1])]
    kept, total = [x for x in levels if x >= dropped], sum(places)
    left_out = sum(((1 << size) - 1) ** 2 << size * x for x in levels if x < dropped)
    return ProductLoss(
        max(_share(size, kept, k) for k in range(1, size * sum(counts) + 1)),
        _share(size, kept, total - bits) if total > bits else 0,
        -(-(left_out * PARTS << bits) >> total),
    )


def _share(size: int, levels: Iterable[int], k: int) -> int:
    """Parts of a unit that pieces at these places lose where they are cut at bit k: `loses_units`."""
    units = sum((1 << min(size * (x + 2), k)) - (1 << min(size * x, k)) for x in levels)
    return -(-units * PARTS >> k)


def piecewise(unit: UnitSpec) -> Piecewise | None:
    """The losses of a unit; None where `piecewise_ok` does not hold."""
    d, with_c, product, n = unit.design, joined(unit), product_loss(unit), block_size(unit)
    if with_c is None or product is None or d.alignment_rounding != "RZ":
        return None
    shift = int(d.fraction_bits or 0) - d.rho.fraction_bits - (d.rho.mode in NEAREST)
    if shift < 0 or not (_truncated(unit) if with_c else _apart(d)):
        return None
    beside, ulp = product.share * (n - 1) + product.own, PARTS << shift
    if not with_c:
        return Piecewise(product, beside + ulp + product.rest, beside + ulp + product.rest, ulp)

    def one(lost: int) -> int:
        """`kappa_parts`, and what is left out."""
        return (lost if d.rho.mode in NEAREST else max(lost - PARTS, 0)) + ulp + product.rest

    later = one(max(beside + PARTS, product.share * n))
    return Piecewise(product, one(beside), later, later)


def exponent_units(unit: UnitSpec) -> tuple[ProductLoss, Fraction] | None:
    """The loss of a product, and of a block in units of 2^(E-F): `piecewise_exponents_ok`; None elsewhere."""
    d, with_c, product, n = unit.design, joined(unit), product_loss(unit, leading=False), block_size(unit)
    if with_c is None or product is None or d.alignment_rounding != "RZ":
        return None
    beside_c = (
        d.carry_bits is None and not d.normalise_products and always_infinite(d, d.rho)
        and zeros_at_most(d, d.rho.e_min)
    )  # fmt: skip
    if not (beside_c if with_c else _apart(d)):
        return None
    lost = product.share * n + PARTS if with_c else product.share * (n - 1) + product.own
    return product, Fraction(lost + product.rest * n, PARTS)


def _truncated(unit: UnitSpec) -> bool:
    d = unit.design
    fits = unit.c_format.fraction_bits <= int(d.fraction_bits or 0)
    return truncated_ok(unit) and d.c_subnormals == "kept" and fits


def _apart(d: Design) -> bool:
    """`apart_ok`, and that no result is flushed when it is the next block's c."""
    return (
        always_infinite(d, d.rho) and d.carry_bits is None and not d.normalise_products
        and d.zero_exponent == "none" and c_as_results(d)
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frame:
    """The constants of `FrameErrors.grown`, in units of 2^-WIDTH.

    Ranges and units: of the first block's products of c's sign, `same`, and of the others, `most`; of c of
    every later one, `of_c` against its sign and `along` it.
    """

    same: int
    most: int
    of_c: int
    along: int


def frame(unit: UnitSpec, *, zero_c: bool) -> Frame | None:
    """Constants for which `FrameErrors.frame_grows` holds, from c = 0 or any c; None without `frames_ok`."""
    if not _frames_ok(unit):
        return None
    d, n = unit.design, block_size(unit)
    same, others, c, both, c_along = _losses(d, n, zero_c=False)
    first = _losses(d, n, zero_c=zero_c)
    of_c = () if zero_c else (first[2], first[4])
    along = max(c_along, 0)
    k = max(c, along)
    grown = -(-((max(others, both) + ONE) * ONE) // (ONE + along)) - ONE
    most = max(0, first[0], first[1], first[3], *of_c, grown)
    spared = max(same, both) - ((ONE + most) * k >> WIDTH)
    return Frame(max(0, first[0], first[3], *of_c, spared), max(most, spared), k, along)


def framed_ok(d: Design) -> bool:
    """`FrameErrors.framed_ok`."""
    complement = d.accumulation == "ones_complement"
    return (
        d.framed and all(t.integer_bits is None and monotone(t, d) for t in (d.step, d.rho))
        and not (complement and (d.alignment_rounding != "RZ" or d.aligned_group is not None))
    )  # fmt: skip


def _frames_ok(unit: UnitSpec) -> bool:
    """`FrameErrors.frames_ok` but for the constants."""
    d, terms = unit.design, term_facts(unit)
    bits, c_bits = int(d.fraction_bits or 0), int(d.c_fraction_bits or 0)
    return (
        terms is not None and alone(unit) and framed_ok(d) and whole(d) and d.zero_words == "summed"
        and d.order != "odd_first" and d.zero_exponent != "own" and terms.bits <= bits
        and d.rho.e_min <= d.rho.e_max and max(d.rho.fraction_bits, unit.c_format.fraction_bits) <= c_bits
        and c_as_results(d)
        and max(bits, c_bits, lost_bits(d.rho), lost_bits(d.step)) <= WIDTH
    )  # fmt: skip


def _losses(d: Design, n: int, *, zero_c: bool) -> tuple[int, int, int, int, int]:
    """`FrameErrors.frame_losses`: of products of c's sign, of others, of c; along it, of both."""
    complement, size, k = d.accumulation == "ones_complement", d.aligned_group, int(not zero_c)
    if size is None:
        every, same = n, n - 1
    else:
        every = same = -(-n // size) * max(1, size - 1)
    others = every if complement else same
    rounding = ONE + (1 << WIDTH - lost_bits(d.rho))
    if d.accumulator is not None:
        rounding = up((ONE + (1 << WIDTH - lost_bits(d.step))) * rounding)

    def against(units: int, bits: int | None) -> int:
        return up((ONE + (units << WIDTH - int(bits or 0))) * rounding) - ONE

    def along(units: int, bits: int | None) -> int:
        if not complement:
            return against(units, bits)
        return up((ONE + (units << WIDTH - int(bits or 0))) * (rounding - ONE))

    bits, c_bits = d.fraction_bits, d.c_fraction_bits
    return (
        against(same + k, bits), against(others + k, bits), against(every, c_bits),
        along(others + k, bits), along(every, c_bits),
    )  # fmt: skip


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


@if_described
def constants(unit: UnitSpec) -> Constants | None:
    """The constants of a unit's relative error, by the theorem that applies; None where none does."""
    d, n, how = unit.design, block_size(unit), unit.emulation
    if relative_ok(unit) or grouped_ok(unit):
        lost = Fraction(product_share(unit), PARTS) * max(block_terms(unit) - 1, 0)
        first, other = kappa(d, Fraction(0) if near(unit) else lost), kappa(d, lost + 1)
        if how is None:
            return Constants(first, other, n, unit.k // n)
        own, to = d.rho, how.addition.rho
        finer = to.e_min - to.fraction_bits <= own.e_min - own.fraction_bits
        if not composition_ok(unit) or own.fraction_bits > to.fraction_bits or not finer:
            return None
        return Constants(first, other, unit.k, call_blocks(unit), share(how.addition))
    if (framed := frame(unit, zero_c=True)) is not None:
        numbers = (framed.same, framed.most, framed.of_c, framed.along)
        same, first, other, along = (Fraction(x, ONE) for x in numbers)
        return Constants(first, other, n, 1, spared=first - same, along=along)
    if (parts := piecewise(unit)) is not None:
        return Constants(fine(unit, parts.first), fine(unit, parts.of_c), n, 1)
    if sticky_ok(unit):
        first = kappa(d, Fraction(PARTS * (n - 1) + 1, PARTS))  # `Sticky.sticky_units`
        return Constants(first, first, n, 1, longest=n)
    found = losses(unit)
    if found is None or (how is not None and not ordered_calls_ok(unit)):
        return None
    first, other = Fraction(found.start, ONE), Fraction(found.later[1], ONE)
    if how is None:
        return Constants(first, other, n, 1)
    return Constants(first, other, unit.k, call_blocks(unit), share(how.addition))


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
    exact = all(
        of.fraction_bits is None and of.carry_bits is None and of.rho.integer_bits is None
        and all(always_infinite(of, t) for t in (of.rho, of.step))
        for of in unit_designs(unit)
    )  # fmt: skip
    return (
        exact and unit.emulation is None and d.fraction_bits is None and d.carry_bits is None
        and d.zero_words == "summed" and d.zero_terms is None and d.product_limit is None and whole(d)
        and d.lost_bits == "cut" and not d.framed and d.c_position != "after"
        and c_as_results(d) and (unit.tree is None or _each_once(unit.tree.root))
    )  # fmt: skip


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
