"""Errors of units as instances of the theorems of `coq/`: relative to magnitudes, or of one block."""

from __future__ import annotations

from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import (
    PARTS,
    always_infinite,
    block_size,
    kappa,
    near,
    plain,
    product_share,
    relative_ok,
)
from tcformal.theory.constants import constants, conversions, rounded_depths
from tcformal.theory.instances import Instance


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
        claim="error-bound", unit=unit, summation="RoundedDown",
        theorem="two_sides_error" if apart else "round_down_error",
        says="of one block: a unit of the products' alignment a product, a unit of each later alignment, the "
        "last cut and an ulp",
        binders=("ps", "c", "z"),
        conditions=(
            "plain (out (products_sum r)) = true", "carry_bits (products_sum r) = None",
            "(down_bits r <= sum_bits r)%Z",
            f"two_sums r = {'true' if apart else 'false'}",
        ),
    )  # fmt: skip


def _framed(unit: UnitSpec) -> Instance | None:
    d = unit.design
    if d.aligned_group is not None or not all(always_infinite(d, t) for t in (d.rho, d.step)):
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
            says=f"|d - exact| <= ((1 + κ)^m - 1)·(|c| + Σ|terms|) + η·(1 + … + (1 + κ)^(m-1)) for m blocks, "
            f"κ = {k}",
            arguments=(str(d.fraction_bits), str(part)), binders=("w", "z", "x"),
            conditions=(f"relative_ok d {d.fraction_bits} {part} = true",),
            constants=(
                f"kappa s {d.fraction_bits} (units (IZR {part} * / 4096) {n}) = "
                f"{k.numerator} / {k.denominator}",
            ),
            numbers={"kappa": k},
        )  # fmt: skip
    depths = rounded_depths(unit)
    if depths is None:
        return relative_from_zero(unit) if unit.emulation is not None else None
    u, h = (max(x) for x in zip(*conversions(unit), strict=True))
    a, b = (x.numerator.bit_length() - x.denominator.bit_length() for x in (u, h))
    return Instance(
        claim=claim, unit=unit, theorem="rounded_error",
        says=f"|d - exact| <= ((1 + 2^{a})^k - 1)·(|c| + Σ|terms|) + n·2^{b}·(1 + 2^{a})^k, "
        f"k = {depths[0]} in one block",
        arguments=(f"({a})", f"({b})"), binders=("w", "z", "x"), order=("w", "0", "1", "z", "x"),
        conditions=("rounded_ok d = true", f"forallb (at_most ({a}) ({b})) (conversions d) = true"),
        numbers={"u": u, "roundings": Fraction(depths[0])},
    )  # fmt: skip


def relative_from_zero(unit: UnitSpec) -> Instance | None:
    """The same from c = 0: `relative_error_from_zero`, `relative_error_of_calls`."""
    found = constants(unit)
    if found is None:
        return None
    if not relative_ok(unit):
        return _relative(unit, "relative-error")
    d, n = unit.design, block_size(unit)
    part = product_share(unit)
    alone = 0 if near(unit) else part
    f = d.fraction_bits
    lost = f"(units_alone (IZR {alone} * / 4096) {n})"
    constant = f"kappa s {f} {lost} = {found.first.numerator} / {found.first.denominator}"
    both = {"kappa": found.other, "first": found.first}
    if unit.emulation is None:
        return Instance(
            claim="relative-error; c=0x0", unit=unit, theorem="relative_error_from_zero", with_sum=True,
            says="|d - Σ terms| <= ((1 + κ_1)·(1 + κ)^(m-1) - 1)·Σ|terms| + η for m blocks, "
            f"κ_1 = {found.first}, κ = {found.other}",
            arguments=(str(f), str(part), str(alone)), binders=("w", "z", "x", "b", "bs"),
            conditions=(f"relative_ok d {f} {part} = true",), constants=(constant,), numbers=both,
        )  # fmt: skip
    return Instance(
        claim="relative-error; c=0x0", unit=unit, theorem="relative_error_of_calls", with_sum=True,
        says=f"|d - exact| <= ((1 + C)·(1 + {found.last}) - 1)·(|c| + Σ|terms|) + η, "
        f"C = (1 + κ_1)·(1 + κ)^(m-1) - 1, κ_1 = {found.first}, κ = {found.other}",
        arguments=(str(f), str(part), str(alone)), binders=("how", "w", "z", "x", "b", "bs"),
        conditions=(f"relative_ok d {f} {part} = true",), constants=(constant,), numbers=both,
    )  # fmt: skip
