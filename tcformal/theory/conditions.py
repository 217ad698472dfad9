"""Side conditions and constants of the theorems of `coq/` for designs, computed on exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

from tcformal.design.rounding import NEAREST, Conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.theory.design import block_size
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
    return d.overflow == "infinity" or (d.overflow == "ieee" and target.mode in NEAREST)


def plain(d: Design) -> bool:
    """Whether overflow is an infinity and subnormal results are kept."""
    return d.result_subnormals == "kept" and always_infinite(d, d.rho)


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


def sticky_units(unit: UnitSpec) -> int:
    """What a sticky sum loses of its products from c = 0, in parts of a unit: `Sticky.sticky_units`."""
    return PARTS * (block_size(unit) - 1) + 1


def sticky_ok(unit: UnitSpec) -> bool:
    """`Sticky.sticky_ok`: the side condition of the error of sticky sums from c = 0 whose zeros are ones."""
    d, products, f, zero = (
        unit.design,
        _product_facts(unit),
        unit.design.fraction_bits,
        unit.design.zero_terms,
    )
    if products is None or f is None or zero is None:
        return False
    return (
        (d.lost_bits, d.c_position, d.summation) == ("sticky", "joined", "fused")
        and alone(unit) and unit.scale_format is None and whole(d) and not d.framed
        and d.alignment_rounding == "RZ" and not d.normalise_products and always_infinite(d, d.rho)
        and nearest(d)
        and d.rho.integer_bits is None and d.rho.fraction_bits >= 11 and products.bits <= f
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
