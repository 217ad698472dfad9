"""Claims about units as instances of the theorems of `coq/`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from tcformal.design.rounding import NEAREST
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import (
    PARTS,
    block_size,
    constants,
    conversions,
    kappa,
    least,
    near,
    one_nan,
    one_sum,
    parts_ok,
    plain,
    product_share,
    relative_ok,
    rounded_depths,
    start_format,
    term_facts,
)
from tcformal.theory.design import coq_design
from tcformal.theory.instances import Instance

#: Roundings that are symmetric about zero.
_SYMMETRIC = ("RNE", "RNA", "RZ", "RO")
#: The largest number of carry bits that is looked at.
_CARRIES = 64


def claim_instance(unit: UnitSpec, claim: str, *, zero_c: bool = False) -> Instance | None:
    """The theorem that makes a claim about a unit true; None where no theorem's side conditions are met.

    `zero_c`: the claim is about c = 0.  A claim without an instance is not refuted: its inputs are to be looked
    for elsewhere.
    """
    if zero_c and claim != "relative-error":
        return None
    if claim == "relative-error" and zero_c:
        return relative_from_zero(unit)
    return _CLAIMS[claim](unit)


def carry_bits(unit: UnitSpec) -> Instance | None:
    """So many carry bits are enough for every sum: theorem `carry_bits_suffice`."""
    d, terms = unit.design, term_facts(unit)
    if terms is None or not _sound(unit) or d.fraction_bits is None:
        return None
    if d.alignment_rounding != "RZ" or d.normalise_products:
        return None
    f, start = d.fraction_bits, start_format(unit)
    own = max(start.fraction_bits, d.rho.fraction_bits)
    total = block_size(unit) * _top(terms.most, terms.bits, f) + _top((2 << own) - 1, own, f)
    carry = next((k for k in range(_CARRIES) if total < 1 << (f + 1 + k)), None)
    if carry is None:
        return None
    return Instance(
        claim="carry-bits", unit=unit, theorem="carry_bits_suffice", with_sum=True,
        says=f"{carry} carry bits are enough for every sum: a unit with them gives what one without a bound gives",
        arguments=(str(carry),), binders=("w",), conditions=(f"carry_enough d {carry} = true",),
        numbers={"carry_bits": Fraction(carry)},
    )  # fmt: skip


def zero_exponent(unit: UnitSpec) -> Instance | None:
    """No input tells the exponent of zeros from another that is as low: theorem `zero_exponent_idle`."""
    d, terms = unit.design, term_facts(unit)
    if terms is None or not _sound(unit) or d.normalise_products or not isinstance(d.zero_exponent, int):
        return None
    if d.zero_exponent > min(terms.low, least(start_format(unit)), d.rho.e_min):
        return None
    return Instance(
        claim="zero-exponent", unit=unit, theorem="zero_exponent_idle", with_sum=True,
        says="zeros whose exponent is below those of all other terms take no part, whatever it is",
        binders=("w",), conditions=("zero_idle d = true",),
    )  # fmt: skip


def product_order(unit: UnitSpec) -> Instance | None:
    """The order of a block's products does not matter: theorem `product_order_idle`."""
    d = unit.design
    at_once = (
        d.framed and d.aligned_group is None
        or d.summation == "tr"
        or (d.summation == "fused" and d.c_position in ("joined", "last") and d.lost_bits in ("cut", "sticky"))
        or (d.c_position == "after" and d.lost_bits == "cut")
    )  # fmt: skip
    if unit.tree is not None or not at_once or d.group is not None or d.piece_bits is not None:
        return None
    if (d.framed and d.aligned_group is not None) or d.negated != "none" or not one_nan(unit):
        return None
    if unit.emulation is not None or unit.k > block_size(unit):
        return None
    return Instance(
        claim="product-order", unit=unit, theorem="product_order_idle",
        says="no order of the products of a block, each with its scales, changes the result",
        binders=("w", "w'"), conditions=("order_free d = true",),
    )  # fmt: skip


def negation_symmetry(unit: UnitSpec) -> Instance | None:
    """Negated factors and a negated c give the negated result: theorem `negation_holds`."""
    d = unit.design
    if d.group is not None or d.piece_bits is not None or d.lost_bits != "cut" or d.framed:
        return None
    if d.c_position == "after" or d.summation in ("tr", "gtr") or d.zero_words != "summed":
        return None
    if unit.emulation is not None or d.order != "ascending" or d.exponent_step != 1 or d.zero_terms is not None:
        return None
    if unit.tree is not None and unit.tree.converted is not None:
        return None
    if "hidden_bit" in (d.operand_subnormals, d.b_subnormals, d.c_subnormals):
        return None
    designs = [d] if unit.tree is None else list(stage_designs(unit.tree, d).values())
    for of in designs:
        targets = (of.rho, of.step)
        if any(t.mode not in _SYMMETRIC or t.integer_bits is not None for t in targets):
            return None
        if of.alignment_rounding not in _SYMMETRIC or of.carry_bits is not None:
            return None
    if d.product_rounding is not None and d.product_conversion.mode not in _SYMMETRIC:
        return None
    return Instance(
        claim="negation-symmetry", unit=unit, theorem="negation_holds",
        says="Φ(−A, B, −C) = −Φ(A, B, C), zeros of either sign and NaNs counted as equal",
        binders=("w", "w'"), conditions=("negation_kept d = true",),
    )  # fmt: skip


def zero_products(unit: UnitSpec) -> Instance | None:
    """Products of zero beside others change nothing: theorem `zero_products_idle`."""
    d, start = unit.design, start_format(unit)
    if not _sound(unit) or d.normalise_products or d.order != "ascending" or d.zero_terms is not None:
        return None
    if d.fraction_bits is None or d.zero_sign != "positive" or d.zero_exponent == "own":
        return None
    if isinstance(d.zero_exponent, int) and d.zero_exponent > min(least(start), d.rho.e_min):
        return None
    return Instance(
        claim="zero-products", unit=unit, theorem="zero_products_idle", with_sum=True,
        says="products of zero beside those of a block change nothing, bit for bit",
        binders=("bs", "bs'"), conditions=("zero_products_ok d = true",),
    )  # fmt: skip


def integer_sums(unit: UnitSpec) -> Instance | None:
    """Integers up to 2^B are summed exactly: theorems `integers_fused` and `integers_any_order`."""
    d = unit.design
    if one_sum(unit) and d.carry_bits is None and d.c_subnormals == "kept" and d.order == "ascending":
        if not plain(d) or d.normalise_products or d.zero_terms is not None:
            return None
        if unit.emulation is not None and (unit.emulation.addition.fraction_bits is not None or not plain(unit.emulation.addition)):
            return None
        bound = d.rho.fraction_bits + 1
        if unit.emulation is not None:
            bound = min(bound, unit.emulation.addition.rho.fraction_bits + 1)
        if d.fraction_bits is not None:
            bound = min(bound, d.fraction_bits + 1)
            if d.zero_exponent == "own" or (isinstance(d.zero_exponent, int) and d.zero_exponent > d.fraction_bits):
                return None
        if d.rho.e_min > 0 or d.rho.fraction_bits >= d.rho.e_max:
            return None
        return Instance(
            claim="integer-sums", unit=unit, theorem="integers_fused",
            says=f"integers of normal factors with Σ|terms| + |c| <= 2^{bound} give their sum",
            arguments=(str(bound),), binders=("w", "x"), conditions=(f"integers_fused_ok d {bound} = true",),
            numbers={"exponent": Fraction(bound)},
        )  # fmt: skip
    if rounded_depths(unit) is None:
        return None
    designs = [d] if unit.tree is None else list(stage_designs(unit.tree, d).values())
    targets = [t for of in designs for t in (of.rho, of.step)]
    if d.product_rounding is not None:
        targets.append(d.product_conversion)
    bound = min(t.fraction_bits for t in targets) + 1
    if any(t.e_min > 0 or t.fraction_bits >= t.e_max for t in targets):
        return None
    return Instance(
        claim="integer-sums", unit=unit, theorem="integers_any_order",
        says=f"integers with Σ|terms| + |c| <= 2^{bound} give their sum, in any order",
        binders=("w", "x"), arguments=(str(bound),), order=("w", "0", "x"),
        conditions=("rounded_ok d = true", f"forallb (holds_integers {bound}) (conversions d) = true"),
        numbers={"exponent": Fraction(bound)},
    )  # fmt: skip


def relative_error(unit: UnitSpec) -> Instance | None:
    """|d - exact| in terms of Σ|terms| + |c|: `relative_error_any_length`, `rounded_error`."""
    return _relative(unit, "relative-error")


def error_bound(unit: UnitSpec) -> Instance | None:
    """The same inequality, for every length; of sums that are rounded down, or framed, that of one block."""
    d = unit.design
    if d.summation in ("tr", "gtr"):
        return _rounded_down(unit)
    if d.framed:
        return _framed(unit)
    return _relative(unit, "error-bound")


def _rounded_down(unit: UnitSpec) -> Instance | None:
    d = unit.design
    if not plain(d) or int(d.fraction_bits or 0) > int(d.sum_fraction_bits or 0):
        return None
    apart = d.summation == "gtr"
    return Instance(
        claim="error-bound", unit=unit, theorem="two_sides_error" if apart else "round_down_error", summation="RoundedDown",
        says="of one block: a unit of the products' alignment a product, a unit of each later alignment, the last cut "
        "and an ulp",
        binders=("ps", "c", "z"),
        conditions=(
            "plain (out (products_sum r)) = true", "carry_bits (products_sum r) = None", "(down_bits r <= sum_bits r)%Z",
            f"two_sums r = {'true' if apart else 'false'}",
        ),
    )  # fmt: skip


def _framed(unit: UnitSpec) -> Instance | None:
    d = unit.design
    if d.aligned_group is not None or (d.overflow == "ieee" and any(t.mode not in NEAREST for t in (d.rho, d.step))):
        return None
    return Instance(
        claim="error-bound", unit=unit, theorem="framed_error", summation="Framed",
        says="of one block of n products: 2n + 1 units of the common alignment, and the roundings",
        binders=("ps", "c", "z", "g"),
        conditions=(
            "group_size r = None", "monotone_conv (frame_out r) = true",
            "match first_rounding r with Some f => monotone_conv f | None => true end = true",
        ),
    )  # fmt: skip


def _relative(unit: UnitSpec, claim: str) -> Instance | None:
    d = unit.design
    if relative_ok(unit) and unit.emulation is None:
        n, part = block_size(unit), product_share(unit)
        k = kappa(d, Fraction(part, PARTS) * max(n - 1, 0) + 1)
        return Instance(
            claim=claim, unit=unit, theorem="relative_error_any_length", with_sum=True,
            says=f"|d - exact| <= ((1 + κ)^m - 1)·(|c| + Σ|terms|) + η·(1 + … + (1 + κ)^(m-1)) for m blocks, κ = {k}",
            arguments=(str(d.fraction_bits), str(part)), binders=("w", "z", "x"),
            conditions=(f"relative_ok d {d.fraction_bits} {part} = true",),
            constants=(f"kappa s {d.fraction_bits} (units (IZR {part} * / 4096) {n}) = {k.numerator} / {k.denominator}",),
            numbers={"kappa": k},
        )  # fmt: skip
    depths = rounded_depths(unit)
    if depths is None:
        return relative_from_zero(unit) if unit.emulation is not None else None
    u, h = (max(x) for x in zip(*conversions(unit), strict=True))
    a, b = (x.numerator.bit_length() - x.denominator.bit_length() for x in (u, h))
    return Instance(
        claim=claim, unit=unit, theorem="rounded_error",
        says=f"|d - exact| <= ((1 + 2^{a})^k - 1)·(|c| + Σ|terms|) + n·2^{b}·(1 + 2^{a})^k, k = {depths[0]} in one block",
        arguments=(f"({a})", f"({b})"), binders=("w", "z", "x"), order=("w", "0", "1", "z", "x"),
        conditions=("rounded_ok d = true", f"forallb (at_most ({a}) ({b})) (conversions d) = true"),
        numbers={"u": u, "roundings": Fraction(depths[0])},
    )  # fmt: skip


def relative_from_zero(unit: UnitSpec) -> Instance | None:
    """|d - exact| in terms of Σ|terms| where c is zero: `relative_error_from_zero`, `relative_error_of_calls`."""
    found = constants(unit)
    if found is None:
        return None
    if not relative_ok(unit):
        return _relative(unit, "relative-error")
    d, n = unit.design, block_size(unit)
    part = product_share(unit)
    alone = 0 if near(unit) else part
    f = d.fraction_bits
    constant = f"kappa s {f} (units_alone (IZR {alone} * / 4096) {n}) = {found.first.numerator} / {found.first.denominator}"
    both = {"kappa": found.other, "first": found.first}
    if unit.emulation is None:
        return Instance(
            claim="relative-error; c=0x0", unit=unit, theorem="relative_error_from_zero", with_sum=True,
            says=f"|d - Σ terms| <= ((1 + κ_1)·(1 + κ)^(m-1) - 1)·Σ|terms| + η for m blocks, κ_1 = {found.first}, κ = {found.other}",
            arguments=(str(f), str(part), str(alone)), binders=("w", "z", "x", "b", "bs"),
            conditions=(f"relative_ok d {f} {part} = true",), constants=(constant,), numbers=both,
        )  # fmt: skip
    return Instance(
        claim="relative-error; c=0x0", unit=unit, theorem="relative_error_of_calls", with_sum=True,
        says=f"|d - exact| <= ((1 + C)·(1 + {found.last}) - 1)·(|c| + Σ|terms|) + η, C = (1 + κ_1)·(1 + κ)^(m-1) - 1, "
        f"κ_1 = {found.first}, κ = {found.other}",
        arguments=(str(f), str(part), str(alone)), binders=("how", "w", "z", "x", "b", "bs"),
        conditions=(f"relative_ok d {f} {part} = true",), constants=(constant,), numbers=both,
    )  # fmt: skip


def sign_magnitude(unit: UnitSpec) -> Instance | None:
    """The specification sums integers: a sum in sign and magnitude has the same record, and the same results."""
    d = unit.design
    if d.accumulation != "twos_complement" or d.carry_bits is not None or d.fraction_bits is None or d.framed:
        return None
    if d.lost_bits != "cut" or d.piece_bits is not None:
        return None
    other = replace(unit, design=replace(d, accumulation="sign_magnitude"))
    if coq_design(other) != coq_design(unit):
        return None
    return Instance(
        claim="sign-magnitude", unit=unit, theorem="eq_refl",
        says="the specification sums integers: in sign and magnitude the record is the same",
    )  # fmt: skip


def monotonicity(unit: UnitSpec) -> Instance | None:
    """c <= c' implies d <= d' of exact sums, each rounded: theorem `monotone`."""
    if rounded_depths(unit) is None:
        return None
    return Instance(
        claim="monotonicity", unit=unit, theorem="monotone_in_c",
        says="c <= c' implies d <= d'", binders=("w", "w'"), conditions=("rounded_ok d = true",),
    )  # fmt: skip


def _top(most: int, bits: int, f: int) -> int:
    return most << (f - bits) if f >= bits else most >> (bits - f)


def _sound(unit: UnitSpec) -> bool:
    d = unit.design
    return (
        one_sum(unit) and one_nan(unit) and parts_ok(unit) and d.c_subnormals != "hidden_bit"
        and d.carry_bits is None and d.rho.e_min <= d.rho.e_max
    )  # fmt: skip


_CLAIMS: dict[str, Callable[[UnitSpec], Instance | None]] = {
    "carry-bits": carry_bits, "zero-exponent": zero_exponent, "product-order": product_order,
    "negation-symmetry": negation_symmetry, "zero-products": zero_products, "integer-sums": integer_sums,
    "relative-error": relative_error, "error-bound": error_bound, "sign-magnitude": sign_magnitude,
    "monotonicity": monotonicity,
}  # fmt: skip
#: The claims that theorems answer.
CLAIMS = tuple(_CLAIMS)
