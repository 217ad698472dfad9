"""Errors of units as instances of the theorems of `coq/`: relative to magnitudes, or of one block."""

from __future__ import annotations

from fractions import Fraction

from tcformal.design.rounding import NEAREST
from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import (
    PARTS,
    always_infinite,
    block_size,
    block_terms,
    exponents_ok,
    grouped_ok,
    kappa,
    near,
    plain,
    product_share,
    relative_ok,
    sticky_ok,
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
        ulp = "ulp(d)/2" if d.rho.mode in NEAREST else "ulp(d)"
        return Instance(
            claim="error-bound", unit=unit, theorem="error_in_exponents", with_sum=True,
            says=f"|d - exact| <= {unit.k}·2^(E-{d.fraction_bits}) + {ulp} for every E that is at least "
            f"{d.rho.e_min} and the exponent of every term that is not zero",
            arguments=(str(d.fraction_bits),), binders=("w", "z", "x", "E"),
            conditions=(f"exponents_ok d {d.fraction_bits} = true", "composed d = None"),
            numbers={"units": Fraction(unit.k)},
        )  # fmt: skip
    f = int(d.fraction_bits or 0)
    if grouped_ok(unit) and unit.k == block_size(unit) and unit.c_format.fraction_bits <= f:
        ulp = "ulp(d)/2" if d.rho.mode in NEAREST else "ulp(d)"
        return Instance(
            claim="error-bound", unit=unit, theorem="error_of_groups_in_exponents", with_sum=True,
            sum_by="fused_sum",
            says=f"|d - exact| <= {block_terms(unit)}·2^(E-{f}) + {ulp} for every E that is at least "
            f"{d.rho.e_min}, the exponent of a c that is not zero, and those of both scales, added, of every "
            "product that is not zero",
            arguments=(str(f),), binders=("w", "z", "x", "E"),
            conditions=(f"grouped_ok d {f} = true", f"(fbits (c_format d) <=? {f})%Z = true"),
            numbers={"units": Fraction(block_terms(unit))},
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
    d, grouped = unit.design, grouped_ok(unit)
    if grouped or (relative_ok(unit) and unit.emulation is None):
        f, part = str(d.fraction_bits), product_share(unit)
        k = kappa(d, Fraction(part, PARTS) * max(block_terms(unit) - 1, 0) + 1)
        given = (f,) if grouped else (f, str(part))
        return Instance(
            claim=claim, unit=unit, theorem="error_of_groups" if grouped else "relative_error_any_length",
            with_sum=True, sum_by="fused_sum" if grouped else "sum_of",
            says=f"|d - exact| <= ((1 + κ)^m - 1)·(|c| + Σ|terms|) + η·(1 + … + (1 + κ)^(m-1)) for m blocks, "
            f"κ = {k}",
            arguments=given, binders=("w", "z", "x"),
            conditions=(f"{'grouped_ok' if grouped else 'relative_ok'} d {' '.join(given)} = true",),
            constants=(_equation(unit, "units", part, k),),
            numbers={"kappa": k},
        )  # fmt: skip
    if unit.emulation is not None:
        return _of_call(unit, claim) if relative_ok(unit) else _ordered_calls(unit, claim)
    return _ordered(unit, claim)


def _ordered(unit: UnitSpec, claim: str) -> Instance | None:
    """Sums that are made in an order: `ordered_error`, and from c = 0 `ordered_error_from_zero`."""
    found, alone, skips = paths(unit), "c=0x0" in claim, unit.design.zero_words != "summed"
    if found is None or unit.emulation is not None or (skips and not alone):
        return None
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
    conditions += ("composed d = None", *(() if alone else ("skips d = false",)))
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


def _ordered_calls(unit: UnitSpec, claim: str) -> Instance | None:
    """Compositions of such sums: `ordered_error_of_call`, and from c = 0 `ordered_error_of_calls`."""
    found, lost = constants(unit), paths(unit)
    if found is None or lost is None:
        return None
    alone = "c=0x0" in claim
    at, start = f"d ({lost.floor}) ({lost.tiny})", lost.start
    first, later = (f"({', '.join(map(hex, x))})%Z" for x in (lost.first, lost.later))
    (k1, _, h1), (_, kc, h) = lost.first, lost.later
    conditions = (
        f"ordered_calls_ok d ({lost.floor}) = true", f"first_losses {at} = Some {first}",
        f"later_losses {at} = Some {later}", f"({k1:#x} <= {start:#x})%Z",
        f"enough {start:#x} {later} = true",
        f"forallb (Z.leb 0) [{kc:#x}; {start:#x}; {h:#x}; {h1:#x}] = true",
    )  # fmt: skip
    arguments = (
        f"({lost.floor})", f"({lost.tiny})", *map(hex, lost.later), *map(hex, lost.first), hex(start),
        str(found.blocks - 1),
    )  # fmt: skip
    binders = ("l", "z", "x") if alone else ("w", "z", "x")
    what = "|d - Σ terms| <= ((1 + C)·(1 + u)^(n-1) - 1)·Σ|terms| + η for n calls" if alone else (
        "|d - exact| <= ((1 + C)·(1 + u) - 1)·(|c| + Σ|terms|) + η"
    )  # fmt: skip
    return Instance(
        claim=claim, unit=unit, theorem="ordered_error_of_calls" if alone else "ordered_error_of_call",
        says=f"{what}, u = {found.last}, C = (1 + κ_1)·(1 + κ)^{found.blocks - 1} - 1 of the parts' sum, "
        f"κ_1 = {float(found.first):.6g}, κ = {float(found.other):.6g}",
        arguments=arguments, binders=binders,
        order=(*map(str, range(len(arguments))), *(f"condition_{i}" for i in range(6)), *binders),
        conditions=conditions, numbers={"first": found.first, "kappa": found.other},
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
    claim, composed = "relative-error; c=0x0", unit.emulation is not None
    if grouped_ok(unit):
        f = unit.design.fraction_bits
        return Instance(
            claim=claim, unit=unit, theorem="error_of_groups_from_zero", with_sum=True, sum_by="fused_sum",
            says="|d - Σ terms| <= ((1 + κ_1)·(1 + κ)^(m-1) - 1)·Σ|terms| + η for m blocks, "
            f"κ_1 = {found.first}, κ = {found.other}",
            arguments=(str(f),), binders=("w", "z", "x"), conditions=(f"grouped_ok d {f} = true",),
            constants=(
                _equation(unit, "units_alone", PARTS, found.first),
                _equation(unit, "units", PARTS, found.other),
            ),
            numbers={"kappa": found.other, "first": found.first},
        )  # fmt: skip
    if sticky_ok(unit):
        f, zero, k = unit.design.fraction_bits, unit.design.zero_terms, found.first
        return Instance(
            claim=claim, unit=unit, theorem="sticky_error_from_zero", with_sum=True, sum_by="fused_sum",
            says=f"|d - Σ terms| <= κ·Σ|terms| + η of one block, κ = {k}",
            arguments=(str(f), f"({zero})"), binders=("w", "z", "x"),
            conditions=(f"sticky_ok d {f} = true", f"zero_terms (factors d) = Some ({zero})"),
            constants=(
                f"kappa s {f} (IZR (sticky_units (Z.of_nat (block d))) * / {PARTS}) = "
                f"{k.numerator} / {k.denominator}",
            ),
            numbers={"first": k},
        )  # fmt: skip
    if not relative_ok(unit):
        return _ordered_calls(unit, claim) if composed else _ordered(unit, claim)
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
    equations = [_equation(unit, "units_alone", alone, found.first)]
    if found.blocks > 1 or unit.emulation is None:
        equations.append(_equation(unit, "units", part, found.other))
    conditions: tuple[str, ...] = (f"from_zero_ok d {f} {part} {alone} = true",)
    if unit.emulation is not None:
        conditions += ("composition_ok d = true",)
    conditions += more
    return Instance(
        claim=claim, unit=unit, theorem=theorem, with_sum=True, says=says,
        arguments=(str(f), str(part), str(alone)), binders=binders,
        order=("0", "1", "2", "one_sum", "condition_0", *binders),
        conditions=conditions,
        constants=tuple(equations),
        numbers={"kappa": found.other, "first": found.first},
    )  # fmt: skip


def _equation(unit: UnitSpec, units: str, part: int, k: Fraction) -> str:
    """The constant of a block whose terms lose so many parts of a unit each."""
    n = "block d" if unit.design.group is None else "group_count d"
    lost = f"{units} (IZR {part} * / {PARTS}) (Z.of_nat ({n}))"
    return f"kappa s {unit.design.fraction_bits} ({lost}) = {k.numerator} / {k.denominator}"
