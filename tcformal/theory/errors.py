"""Errors of units as instances of the theorems of `coq/`: relative to magnitudes, or of one block."""

from __future__ import annotations

from fractions import Fraction

from tcformal.design.rounding import NEAREST
from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import (
    PARTS,
    always_infinite,
    block_size,
    exponents_ok,
    kappa,
    losing,
    near,
    plain,
    product_share,
    relative_ok,
)
from tcformal.theory.constants import Constants, constants
from tcformal.theory.instances import Instance
from tcformal.theory.paths import ONE, paths


def relative_error(unit: UnitSpec) -> Instance | None:
    """|d - exact| in terms of Σ|terms| + |c|: `relative_error_any_length`, `rounded_error`."""
    return _relative(unit, "relative-error")


def error_bound(unit: UnitSpec) -> Instance | None:
    """In terms of the largest exponent, of one block; of several, the relative error, for every length."""
    d = unit.design
    if d.summation in ("tr", "gtr"):
        return _rounded_down(unit)
    if d.framed:
        return _framed(unit)
    if exponents_ok(unit):
        ulp, n = "ulp(d)/2" if d.rho.mode in NEAREST else "ulp(d)", losing(unit, int(d.fraction_bits or 0))
        return Instance(
            claim="error-bound", unit=unit, theorem="error_in_exponents", with_sum=True,
            says=f"|d - exact| <= {n}·2^(E-{d.fraction_bits}) + {ulp} for every E that is at least "
            f"{d.rho.e_min} and the exponent of every term that is not zero",
            arguments=(str(d.fraction_bits),), binders=("w", "z", "x", "E"),
            conditions=(f"exponents_ok d {d.fraction_bits} = true", "composed d = None"),
            numbers={"units": Fraction(n)},
        )  # fmt: skip
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
                f"kappa s {d.fraction_bits} (units (IZR {part} * / 4096) (Z.of_nat (block d))) = "
                f"{k.numerator} / {k.denominator}",
            ),
            numbers={"kappa": k},
        )  # fmt: skip
    if unit.emulation is not None:
        return _of_call(unit, claim) if relative_ok(unit) else None
    return _ordered(unit, claim)


def _ordered(unit: UnitSpec, claim: str) -> Instance | None:
    """Sums that are made in an order: `ordered_error`, and from c = 0 `ordered_error_from_zero`."""
    found = paths(unit)
    if found is None:
        return None
    alone = "c=0x0" in claim
    start = found.start if alone else found.beside
    first, later = (f"({', '.join(map(hex, x))})%Z" for x in (found.first, found.later))
    units = (f"({found.floor})", f"({found.tiny})")
    at = f"d {' '.join(units)}"
    conditions: tuple[str, ...] = (f"order_ok d {units[0]} = true",)
    if alone:
        conditions += (
            f"first_losses {at} = Some {first}", f"later_losses {at} = Some {later}",
            f"({found.first[0]:#x} <= {start:#x})%Z", f"enough {start:#x} {later} = true",
        )  # fmt: skip
    else:
        conditions += (
            f"later_losses {at} = Some {later}",
            *(f"({x:#x} <= {start:#x})%Z" for x in found.later[:2]),
        )
    conditions += ("composed d = None",)
    arguments = (*units, *map(hex, found.later), *(map(hex, found.first) if alone else ()), hex(start))
    places = [str(i) for i in range(len(arguments))]
    k, c = (Fraction(x, ONE) for x in (start, found.later[1]))
    total = "Σ|terms|" if alone else "(|c| + Σ|terms|)"
    return Instance(
        claim=claim, unit=unit,
        theorem="ordered_error_from_zero" if alone else "ordered_error",
        says=f"|d - exact| <= ((1 + κ_1)·(1 + κ)^(m-1) - 1)·{total} + η for m blocks, κ_1 = {float(k):.6g}, "
        f"κ = {float(c):.6g}",
        arguments=arguments, binders=("w", "x", "z"),
        order=(*places[:2], "condition_0", *places[2:], "w", "x", "z"),
        conditions=conditions, numbers={"first": k, "kappa": c},
    )  # fmt: skip


def _of_call(unit: UnitSpec, claim: str) -> Instance | None:
    found = constants(unit)
    if found is None:
        return None
    return _of_calls(
        unit, found, claim, "relative_error_of_call", ("w", "z", "x"), (),
        f"|d - exact| <= ((1 + C)·(1 + {found.last}) - 1)·(|c| + Σ|terms|) + η, "
        f"C = (1 + κ_1)·(1 + κ)^(m-1) - 1, κ_1 = {found.first}, κ = {found.other}",
    )  # fmt: skip


def relative_from_zero(unit: UnitSpec) -> Instance | None:
    """The same from c = 0: `relative_error_from_zero`, `relative_error_of_calls`."""
    found = constants(unit)
    if found is None:
        return None
    if not relative_ok(unit):
        return _ordered(unit, "relative-error; c=0x0")
    claim, composed = "relative-error; c=0x0", unit.emulation is not None
    if composed:
        return _of_calls(
            unit, found, claim, "relative_error_of_calls", ("l", "m", "z", "x"), ("keeps_sums d s = true",),
            f"|d - Σ terms| <= ((1 + C)·(1 + {found.last})^(n-1) - 1)·Σ|terms| + η for n calls, "
            f"C = (1 + κ_1)·(1 + κ)^(m-1) - 1, κ_1 = {found.first}, κ = {found.other}",
        )  # fmt: skip
    return _of_calls(
        unit, found, claim, "relative_error_from_zero", ("w", "z", "x"), ("composed d = None",),
        "|d - Σ terms| <= ((1 + κ_1)·(1 + κ)^(m-1) - 1)·Σ|terms| + η for m blocks, "
        f"κ_1 = {found.first}, κ = {found.other}",
    )  # fmt: skip


def _of_calls(
    unit: UnitSpec, found: Constants, claim: str, theorem: str, binders: tuple[str, ...],
    more: tuple[str, ...], says: str,
) -> Instance:  # fmt: skip
    """A theorem of `Calls.v` about calls from +0."""
    f, part = unit.design.fraction_bits, product_share(unit)
    alone = 0 if near(unit) else part
    equations = [(f"units_alone (IZR {alone} * / 4096) (Z.of_nat (block d))", found.first)]
    if found.blocks > 1 or unit.emulation is None:
        equations.append((f"units (IZR {part} * / 4096) (Z.of_nat (block d))", found.other))
    conditions: tuple[str, ...] = (f"from_zero_ok d {f} {part} {alone} = true",)
    if unit.emulation is not None:
        conditions += ("composition_ok d = true",)
    conditions += more
    return Instance(
        claim=claim, unit=unit, theorem=theorem, with_sum=True, says=says,
        arguments=(str(f), str(part), str(alone)), binders=binders,
        order=("0", "1", "2", "one_sum", "condition_0", *binders),
        conditions=conditions,
        constants=tuple(f"kappa s {f} ({x}) = {k.numerator} / {k.denominator}" for x, k in equations),
        numbers={"kappa": found.other, "first": found.first},
    )  # fmt: skip
