"""Errors of units as instances of the theorems of `coq/`: relative to magnitudes, or of one block."""

from __future__ import annotations

from fractions import Fraction

from tcformal.design.rounding import NEAREST
from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import (
    PARTS,
    block_terms,
    exponents_ok,
    grouped_ok,
    kappa,
    losing,
    near,
    plain,
    product_share,
    relative_ok,
    sticky_ok,
)
from tcformal.theory.constants import Constants, constants
from tcformal.theory.design import block_size, coq_sum
from tcformal.theory.frames import frame, framed_ok
from tcformal.theory.instances import Instance
from tcformal.theory.paths import ONE, losses, paths
from tcformal.theory.pieces import ProductLoss, exponent_units, fine, joined, piecewise


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
    return _pieces_in_exponents(unit) or _relative(unit, "error-bound")


def _pieces_in_exponents(unit: UnitSpec) -> Instance | None:
    """Of products in pieces, and of a c that is added after: `piecewise_in_exponents`."""
    found, d, with_c = exponent_units(unit), unit.design, joined(unit)
    if found is None or unit.k > block_size(unit):
        return None
    product, units = found
    ulp = "ulp(d)/2" if d.rho.mode in NEAREST else "ulp(d)"
    flushed = "" if d.result_subnormals == "kept" else f" + 2^{d.rho.e_min}"
    s, loss = coq_sum(d, d.rho), _arguments(unit, product)
    c, parts = "true" if with_c else "false", str(units * PARTS)
    return Instance(
        claim="error-bound", unit=unit, theorem="piecewise_in_exponents",
        says=f"|d - exact| <= {units}·2^(E-{d.fraction_bits}) + {ulp}{flushed} for every E that is at least "
        f"{d.rho.e_min} and the exponent of every product{' and c' if with_c else ''} that is not zero",
        arguments=(f"({s})", c, *loss, parts), binders=("w", "x", "z", "E"),
        conditions=(
            f"piecewise_sum d = Some ({s}, {c})", f"piecewise_exponents_ok d {' '.join(loss)} = true",
            f"exponent_units d {' '.join(loss[1:])} = {parts}", "composed d = None",
        ),
        numbers={"units": units},
    )  # fmt: skip


def _arguments(unit: UnitSpec, product: ProductLoss) -> tuple[str, ...]:
    return tuple(map(str, (unit.design.fraction_bits, product.share, product.own, product.rest)))


def _piecewise(unit: UnitSpec, claim: str) -> Instance | None:
    """The same sums: `piecewise_error`, and from c = 0 `piecewise_error_from_zero`."""
    found = piecewise(unit)
    if found is None:
        return None
    alone, loss = "c=0x0" in claim, _arguments(unit, found.product)
    k, c = (fine(unit, x) for x in (found.first if alone else found.later, found.of_c))
    of, rest = ("piecewise_error_from_zero", "Σ|terms|") if alone else ("piecewise_error", "(|c| + Σ|terms|)")
    losses = tuple(map(str, (found.first, found.later, found.of_c)))
    return Instance(
        claim=claim, unit=unit, theorem=of,
        says=f"|d - exact| <= ((1 + κ_1)·(1 + κ)^(m-1) - 1)·{rest} + η for m blocks, κ_1 = {k}, κ = {c}",
        arguments=(*loss, *losses), binders=("w", "x", "z"),
        order=(*map(str, range(7)), "condition_0", "condition_1", "w", "x", "z"),
        conditions=(
            f"piecewise_ok d {' '.join(loss)} = true",
            f"piecewise_losses d {' '.join(loss)} = Some ({', '.join(losses)})", "composed d = None",
        ),
        numbers={"first": k, "kappa": c},
    )  # fmt: skip


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
    if not framed_ok(unit.design):
        return None
    return Instance(
        claim="error-bound", unit=unit, theorem="framed_error", summation="Framed",
        says="of one block: a unit of the common alignment for c and for every product, fewer in groups, and "
        "the roundings",
        binders=("ps", "c", "z"), conditions=("framed_ok r = true",),
    )  # fmt: skip


def _in_frame(unit: UnitSpec, claim: str) -> Instance | None:
    """Sums whose c is aligned apart: `framed_relative`."""
    zero = "c=0x0" in claim
    found = frame(unit, zero_c=zero)
    if found is None:
        return None
    numbers = (found.same, found.most, found.of_c, found.along)
    same, first, kappa, along = (Fraction(x, ONE) for x in numbers)
    arguments = ("true" if zero else "false", *map(hex, numbers))
    return Instance(
        claim=claim, unit=unit, theorem="framed_relative",
        says="|d - exact| <= max((1 + κ_1)·(1 + κ)^(m-1) - 1 - δ, (1 + κ_1)·(1 + λ)^(m-1) - 1)·"
        f"{'Σ|terms|' if zero else '(|c| + Σ|terms|)'} + η for m blocks where the first is at most 1, else "
        f"without δ, κ_1 = {float(first):.6g}, κ = {float(kappa):.6g}, λ = {float(along):.6g}, "
        f"δ = {float(first - same):.6g}",
        arguments=arguments, binders=("w", "c", "z"),
        order=(*(str(i) for i in range(5)), "w", "c", "z"),
        conditions=(f"frames_ok d {' '.join(arguments)} = true",),
        numbers={"first": first, "kappa": kappa, "along": along, "same": same},
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
    return _piecewise(unit, claim) or _in_order(unit, claim)


def _in_order(unit: UnitSpec, claim: str) -> Instance | None:
    """Sums in an order, or rounded down: `ordered_error`, `down_error`; from c = 0 `…_error_from_zero`."""
    if unit.design.framed:
        return _in_frame(unit, claim)
    found, skips = losses(unit), unit.design.zero_words != "summed"
    alone, down = "c=0x0" in claim, unit.design.summation in ("tr", "gtr")
    if found is None or unit.emulation is not None or (skips and not alone):
        return None
    start = found.start if alone else found.beside
    conditions: tuple[str, ...]
    arguments: tuple[str, ...]
    if down:
        lost = (found.first[0], *found.later[:2])
        part = str(product_share(unit))
        conditions = (f"down_losses d {part} = Some {_triple(lost)}",)
        bounds = (found.first[0],) if alone else found.later[:2]
        enough = f"enough {start:#x} {_triple((*found.later[:2], 0))} = true"
        arguments = (part, *map(hex, lost), hex(start))
        order = (*map(str, range(4)), "condition_0", "4", "w", "x", "z")
    else:
        units = (f"({found.floor})", f"({found.tiny})")
        at = f"d {' '.join(units)}"
        conditions = (f"order_ok d {units[0]} = true",)
        if alone:
            conditions += (f"first_losses {at} = Some {_triple(found.first)}",)
        conditions += (f"later_losses {at} = Some {_triple(found.later)}",)
        bounds = found.first[:1] if alone else found.later[:2]
        enough = f"enough {start:#x} {_triple(found.later)} = true"
        arguments = (*units, *map(hex, found.later), *(map(hex, found.first) if alone else ()), hex(start))
        places = [str(i) for i in range(len(arguments))]
        order = (*places[:2], "condition_0", *places[2:], "w", "x", "z")
    conditions += tuple(f"({x:#x} <= {start:#x})%Z" for x in bounds)
    conditions += (*((enough,) if alone else ()), "composed d = None")
    if not (alone or down):
        conditions += ("skips d = false",)
    k, c = (Fraction(x, ONE) for x in (start, found.later[1]))
    total = "Σ|terms|" if alone else "(|c| + Σ|terms|)"
    return Instance(
        claim=claim, unit=unit,
        theorem=("down" if down else "ordered") + ("_error_from_zero" if alone else "_error"),
        says=f"|d - exact| <= ((1 + κ_1)·(1 + κ)^(m-1) - 1)·{total} + η for m blocks, κ_1 = {float(k):.6g}, "
        f"κ = {float(c):.6g}",
        arguments=arguments, binders=("w", "x", "z"), order=order, conditions=conditions,
        numbers={"first": k, "kappa": c},
    )  # fmt: skip


def _triple(x: tuple[int, ...]) -> str:
    return f"({', '.join(map(hex, x))})%Z"


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
        return _relative(unit, claim)
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
