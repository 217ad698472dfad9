"""Claims about units as instances of the theorems of `coq/`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.oracle.rounded import round_units
from tcformal.theory.constants import (
    ONE,
    PARTS,
    Constants,
    ProductLoss,
    Terms,
    always_infinite,
    block_terms,
    constants,
    converted_to,
    down_blocks_ok,
    exponent_units,
    exponents_ok,
    fine,
    frame,
    framed_ok,
    grouped_ok,
    joined,
    kappa,
    least,
    log2,
    losing,
    losses,
    near,
    nearest,
    one_nan,
    one_sum,
    parts_ok,
    paths,
    piecewise,
    plain,
    product_share,
    relative_ok,
    rounded_ok,
    start_format,
    sticky_ok,
    term_facts,
    unit_designs,
    whole,
    zeros_at_most,
)
from tcformal.theory.design import block_size, coq_design, coq_sum, if_described
from tcformal.theory.instances import Instance
from tcformal.theory.integer_theorems import integer_claim
from tcformal.theory.stated_sum import operand_rules


@if_described
def relative_error(unit: UnitSpec) -> Instance | None:
    """|d - exact| in terms of Σ|terms| + |c|: `relative_error_any_length`, `rounded_error`."""
    return _relative(unit, "relative-error")


@if_described
def error_bound(unit: UnitSpec) -> Instance | None:
    """In terms of the largest exponent, of one block; of several, the relative error, for every length."""
    d, f = unit.design, int(unit.design.fraction_bits or 0)
    if d.summation in ("tr", "gtr"):
        return _rounded_down(unit)
    if d.framed:
        return _framed(unit)
    if exponents_ok(unit):
        n, theorem, sum_by = losing(unit, f), "error_in_exponents", "sum_of"
        of = " and the exponent of every term"
        conditions = (f"exponents_ok d {f} = true", "composed d = None")
    elif grouped_ok(unit) and unit.k == block_size(unit) and unit.c_format.fraction_bits <= f:
        n, theorem, sum_by = block_terms(unit), "error_of_groups_in_exponents", "fused_sum"
        of = ", the exponent of a c that is not zero, and those of both scales, added, of every product"
        conditions = (f"grouped_ok d {f} = true", f"(fbits (c_format d) <=? {f})%Z = true")
    else:
        return _pieces_in_exponents(unit) or _relative(unit, "error-bound")
    return Instance(
        claim="error-bound", unit=unit, theorem=theorem, with_sum=True, sum_by=sum_by,
        says=f"|d - exact| <= {n}·2^(E-{f}) + {_ulp(d)} for every E that is at least {d.rho.e_min}{of} that "
        "is not zero",
        arguments=(str(f),), binders=("w", "z", "x", "E"), conditions=conditions,
        numbers={"units": Fraction(n)},
    )  # fmt: skip


def _ulp(d: Design) -> str:
    """What the last rounding loses at most."""
    return "ulp(d)/2" if nearest(d) else "ulp(d)"


def _pieces_in_exponents(unit: UnitSpec) -> Instance | None:
    """Of products in pieces, and of a c that is added after: `piecewise_in_exponents`."""
    found, d, with_c = exponent_units(unit), unit.design, joined(unit)
    if found is None or unit.k > block_size(unit):
        return None
    product, units = found
    flushed = "" if d.result_subnormals == "kept" else f" + 2^{d.rho.e_min}"
    s, loss = coq_sum(d, d.rho), _arguments(unit, product)
    c, parts = "true" if with_c else "false", str(units * PARTS)
    return Instance(
        claim="error-bound", unit=unit, theorem="piecewise_in_exponents",
        says=f"|d - exact| <= {units}·2^(E-{d.fraction_bits}) + {_ulp(d)}{flushed} for every E that is at "
        f"least {d.rho.e_min} and the exponent of every product{' and c' if with_c else ''} that is not zero",
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
        found = constants(unit)
        if found is None or not relative_ok(unit):
            return _ordered_calls(unit, claim)
        return _of_calls(
            unit, found, claim, "relative_error_of_call", ("w", "z", "x"), (),
            f"|d - exact| <= ((1 + C)·(1 + {found.last}) - 1)·(|c| + Σ|terms|) + η, "
            f"C = (1 + κ_1)·(1 + κ)^(m-1) - 1, {_of_blocks(found)}",
        )  # fmt: skip
    return _piecewise(unit, claim) or _in_order(unit, claim)


def _in_order(unit: UnitSpec, claim: str) -> Instance | None:
    """Sums in an order, or rounded down: `ordered_error`, `down_error`; from c = 0 `…_error_from_zero`."""
    d, found, alone = unit.design, losses(unit), "c=0x0" in claim
    if d.framed:
        return _in_frame(unit, claim)
    if found is None or unit.emulation is not None or (d.zero_words != "summed" and not alone):
        return None
    down = d.summation in ("tr", "gtr")
    start, later = hex(found.start if alone else found.beside), found.later
    bounds = found.first[:1] if alone else later[:2]
    if down:
        lost, part, later = (found.first[0], *later[:2]), str(product_share(unit)), (*later[:2], 0)
        conditions = [f"down_losses d {part} = Some {_triple(lost)}"]
        arguments = [part, *map(hex, lost), start]
        order = (*map(str, range(4)), "condition_0", "4", "w", "x", "z")
    else:
        units = (f"({found.floor})", f"({found.tiny})")
        conditions = [f"order_ok d {units[0]} = true"]
        if alone:
            conditions.append(f"first_losses d {' '.join(units)} = Some {_triple(found.first)}")
        conditions.append(f"later_losses d {' '.join(units)} = Some {_triple(later)}")
        arguments = [*units, *map(hex, later), *(map(hex, found.first) if alone else ()), start]
        order = ("0", "1", "condition_0", *map(str, range(2, len(arguments))), "w", "x", "z")
    conditions += [f"({x:#x} <= {start})%Z" for x in bounds]
    conditions += [*([f"enough {start} {_triple(later)} = true"] if alone else []), "composed d = None"]
    if not (alone or down):
        conditions.append("skips d = false")
    k, c = (Fraction(x, ONE) for x in (int(start, 16), found.later[1]))
    total = "Σ|terms|" if alone else "(|c| + Σ|terms|)"
    return Instance(
        claim=claim, unit=unit,
        theorem=("down" if down else "ordered") + ("_error_from_zero" if alone else "_error"),
        says=f"|d - exact| <= ((1 + κ_1)·(1 + κ)^(m-1) - 1)·{total} + η for m blocks, κ_1 = {float(k):.6g}, "
        f"κ = {float(c):.6g}",
        arguments=tuple(arguments), binders=("w", "x", "z"), order=order, conditions=tuple(conditions),
        numbers={"first": k, "kappa": c},
    )  # fmt: skip


def _triple(x: tuple[int, ...]) -> str:
    return f"({', '.join(map(hex, x))})%Z"


def _ordered_calls(unit: UnitSpec, claim: str) -> Instance | None:
    """Compositions of such sums: `ordered_error_of_call`, and from c = 0 `ordered_error_of_calls`."""
    found, lost, alone = constants(unit), paths(unit), "c=0x0" in claim
    if found is None or lost is None:
        return None
    units, start = (f"({lost.floor})", f"({lost.tiny})"), hex(lost.start)
    at, first, later = f"d {' '.join(units)}", _triple(lost.first), _triple(lost.later)
    (k1, _, h1), (_, kc, h) = lost.first, lost.later
    conditions = (
        f"ordered_calls_ok d {units[0]} = true", f"first_losses {at} = Some {first}",
        f"later_losses {at} = Some {later}", f"({k1:#x} <= {start})%Z", f"enough {start} {later} = true",
        f"forallb (Z.leb 0) [{kc:#x}; {start}; {h:#x}; {h1:#x}] = true",
    )  # fmt: skip
    arguments = (*units, *map(hex, (*lost.later, *lost.first)), start, str(found.blocks - 1))
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


@if_described
def relative_from_zero(unit: UnitSpec) -> Instance | None:
    """The same from c = 0: `relative_error_from_zero`, `relative_error_of_calls`."""
    found, claim, f = constants(unit), "relative-error; c=0x0", unit.design.fraction_bits
    if found is None:
        return None
    from_zero = f"((1 + κ_1)·(1 + κ)^(m-1) - 1)·Σ|terms| + η for m blocks, {_of_blocks(found)}"
    if grouped_ok(unit):
        return Instance(
            claim=claim, unit=unit, theorem="error_of_groups_from_zero", with_sum=True, sum_by="fused_sum",
            says=f"|d - Σ terms| <= {from_zero}",
            arguments=(str(f),), binders=("w", "z", "x"), conditions=(f"grouped_ok d {f} = true",),
            constants=(
                _equation(unit, "units_alone", PARTS, found.first),
                _equation(unit, "units", PARTS, found.other),
            ),
            numbers={"kappa": found.other, "first": found.first},
        )  # fmt: skip
    if sticky_ok(unit):
        zero, k = unit.design.zero_terms, found.first
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
    if unit.emulation is not None:
        return _of_calls(
            unit, found, claim, "relative_error_of_calls", ("l", "m", "z", "x"), ("keeps_sums d s = true",),
            f"|d - Σ terms| <= ((1 + C)·(1 + {found.last})^(n-1) - 1)·Σ|terms| + η for n calls, "
            f"C = (1 + κ_1)·(1 + κ)^(m-1) - 1, {_of_blocks(found)}",
        )  # fmt: skip
    theorem, only = "relative_error_from_zero", ("composed d = None",)
    says = f"|d - Σ terms| <= {from_zero}"
    return _of_calls(unit, found, claim, theorem, ("w", "z", "x"), only, says)


def _of_blocks(found: Constants) -> str:
    return f"κ_1 = {found.first}, κ = {found.other}"


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


#: Roundings that are not symmetric about zero.
_ASYMMETRIC = ("RD", "RU")
_NEGATED = "Φ(−A, B, −C) = −Φ(A, B, C), zeros of either sign and NaNs counted as equal"
#: The largest number of carry bits that is looked at.
_CARRIES = 64


@if_described
def claim_instance(unit: UnitSpec, claim: str, *, zero_c: bool = False) -> Instance | None:
    """The theorem that makes a claim about a unit true; None where no theorem's side conditions are met.

    `zero_c`: the claim is about c = 0.  A claim without an instance is not refuted: a witness is to be
    looked for elsewhere.
    """
    if unit.d_format.integer:
        return integer_claim(unit, claim)
    if zero_c:
        return relative_from_zero(unit) if claim == "relative-error" else None
    return _CLAIMS[claim](unit)


def carry_bits(unit: UnitSpec) -> Instance | None:
    """So many carry bits are enough for every sum: `carry_bits_suffice`, `product_carry_suffices`."""
    d, f, last = unit.design, unit.design.fraction_bits, unit.design.c_position == "last"
    sums, mode = _apart(unit) if last else _joined(unit), d.alignment_rounding
    if sums is None or d.carry_bits is not None or f is None or d.normalise_products:
        return None
    if mode in _ASYMMETRIC if last else mode != "RZ":
        return None
    most = max(sum(n * round_units(Fraction(t.most), t.bits - f, mode) for t, n in x) for x in sums)
    carry = max(0, most.bit_length() - f - 1)
    if carry >= _CARRIES:
        return None
    enough = "product_carry_enough" if last else "carry_enough"
    return Instance(
        claim="carry-bits", unit=unit, with_sum=not last,
        theorem="product_carry_suffices" if last else "carry_bits_suffice",
        says=f"{carry} carry bits are enough for every sum: more, or no bound, change nothing",
        arguments=(str(carry),), binders=("w",), conditions=(f"{enough} d {carry} = true",),
        numbers={"carry_bits": Fraction(carry)},
    )  # fmt: skip


#: What is known of terms, and how many there are, of each kind in a sum, of each sum.
_Sums = list[list[tuple[Terms, int]]]


def _joined(unit: UnitSpec) -> _Sums | None:
    """Of one fused sum: `Irrelevant.carry_enough`."""
    terms, bits = term_facts(unit), max(start_format(unit).fraction_bits, unit.design.rho.fraction_bits)
    if terms is None or not sound(unit):
        return None
    return [[(terms, block_size(unit)), (Terms((2 << bits) - 1, bits, 0), 1)]]


def _apart(unit: UnitSpec) -> _Sums | None:
    """Of a sum of products, and of that with c: `ProductSums.product_carry_enough`.

    None where products are no terms of their own, or NaNs no one word: `ProductSums.products_apart`.
    """
    d, terms = unit.design, term_facts(unit)
    if terms is None or not (
        unit.tree is None and (d.summation, d.c_position) == ("fused", "last")
        and whole(d) and d.zero_words == "summed" and one_nan(unit) and parts_ok(unit)
        and d.c_subnormals != "hidden_bit" and all(t.integer_bits is None for t in (d.rho, d.step))
    ):  # fmt: skip
        return None
    bits = max(d.step.fraction_bits, start_format(unit).fraction_bits, d.rho.fraction_bits)
    return [[(terms, block_size(unit))], [(Terms((2 << bits) - 1, bits, 0), 2)]]


def zero_idle(unit: UnitSpec) -> bool:
    """Whether the exponent of zeros is below those of all other terms: `Irrelevant.zero_idle`."""
    d, terms = unit.design, term_facts(unit)
    return (
        terms is not None and sound(unit) and not d.normalise_products and isinstance(d.zero_exponent, int)
        and d.zero_exponent <= min(terms.low, least(start_format(unit)), d.rho.e_min)
    )  # fmt: skip


#: Claims without numbers by their theorem: what is claimed and said, variables, and conditions.
_PLAIN: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "zero_exponent_idle": (
        "zero-exponent",
        "zeros whose exponent is below those of all other terms take no part, whatever it is",
        ("w",), ("zero_idle d = true",),
    ),
    "product_order_idle": (
        "product-order", "no order of the products of a block, each with its scales, changes the result",
        ("w", "w'"), ("order_free d = true",),
    ),
    "negation_holds": ("negation-symmetry", _NEGATED, ("w", "w'"), ("negation_kept d = true",)),
    "zero_products_idle": (
        "zero-products", "products of zero beside those of a block change nothing, bit for bit",
        ("bs", "bs'"), ("zero_products_ok d = true",),
    ),
    # Whole blocks of words 0 where these are skipped.
    "skipped_blocks_idle": (
        "zero-products",
        "blocks whose words of A, or of B, are all 0 after others change nothing, bit for bit",
        ("bs", "zs", "st"), ("skips d = true",),
    ),
    # Whole blocks of zeros besides, of one fused sum that holds its results.
    "zero_blocks_idle": (
        "zero-products",
        "products of zero beside those of a block, and blocks of them, change nothing, bit for bit",
        ("bs", "bs'", "zs", "f", "n"), ("zero_products_ok d = true", "zero_blocks_ok d = true"),
    ),
    # The same of sums that are rounded down, where only zero is rounded to zero.
    "down_blocks_idle": (
        "zero-products", "blocks of products of zero after others change nothing, bit for bit",
        ("bs", "zs", "f", "n"), ("down_blocks_ok d = true",),
    ),
    "eq_refl": (
        "sign-magnitude",
        "the specification sums integers: in sign and magnitude the record is the same", (), (),
    ),
    "monotone_in_last_c": (
        "monotonicity",
        "c <= c' implies d <= d', because c is added last, by a sum that is exact and then rounded",
        ("w", "w'"), ("last_c_ok d = true",),
    ),
    "monotone_in_c": ("monotonicity", "c <= c' implies d <= d'", ("w", "w'"), ("rounded_ok d = true",)),
}  # fmt: skip


def _plainly(unit: UnitSpec, theorem: str, holds: bool) -> Instance | None:
    """A claim without numbers, where its side conditions hold."""
    claim, says, binders, conditions = _PLAIN[theorem]
    of_sum = theorem in ("zero_exponent_idle", "zero_blocks_idle")
    made = Instance(
        claim=claim, unit=unit, theorem=theorem, says=says, binders=binders, conditions=conditions,
        with_sum=of_sum,
    )  # fmt: skip
    return made if holds else None


def zero_exponent(unit: UnitSpec) -> Instance | None:
    """No input tells the exponent of zeros from another that is as low: theorem `zero_exponent_idle`."""
    return _plainly(unit, "zero_exponent_idle", zero_idle(unit))


def product_order(unit: UnitSpec) -> Instance | None:
    """The order of a block's products does not matter: theorem `product_order_idle`."""
    d = unit.design
    halved = unit.tree is None and d.lost_bits == "halves" and whole(d)
    holds = (
        (at_once(unit) or halved) and d.negated in ("none", "all") and one_nan(unit)
        and unit.emulation is None and unit.k <= block_size(unit)
        and (d.group is None or (unit.scale_block == d.group and d.order == "ascending"))
    )  # fmt: skip
    return _plainly(unit, "product_order_idle", holds)


def at_once(unit: UnitSpec) -> bool:
    """Whether all products of a block are in one sum: `AtOnce.at_once`."""
    d = unit.design
    if unit.tree is not None or d.framed:
        return unit.tree is None and d.aligned_group is None
    fused = d.lost_bits == "cut" or (d.lost_bits == "sticky" and d.c_position == "joined")
    return fused if d.summation == "fused" else d.summation == "tr"


def negation_symmetry(unit: UnitSpec) -> Instance | None:
    """Negated factors and a negated c give the negated result: theorem `negation_holds`."""
    return _plainly(unit, "negation_holds", unit.design.summation not in ("tr", "gtr") and _mirrors(unit))


@if_described
def negation_from_zero(unit: UnitSpec, exponents: tuple[int, int] | None) -> Instance | None:
    """The same of one block of sums rounded down, from c = 0: products above that zero are summed exactly.

    Ranges and units: `exponents` of the elements of A and B, where they are assumed.  Theorems
    `down_negation_of_all` and `down_negation_holds`.
    """
    d, terms, f = unit.design, term_facts(unit), int(unit.design.fraction_bits or 0)
    if terms is None or not (
        d.summation == "tr" and unit.k <= block_size(unit) and _mirrors(unit) and whole(d)
        and not d.normalise_products and d.zero_exponent == "none"
        and "hidden_bit" not in (*operand_rules(d), d.c_subnormals)
    ):  # fmt: skip
        return None
    low = terms.low
    if exponents is not None:
        if unit.scale_format is not None or d.normalise_operands or converted_to(unit) is not None:
            return None
        low = sum(max(exponents[0], least(x)) for x in (unit.a_format, unit.b_format))
    bits, again = int(d.sum_fraction_bits or 0), d.sum_rounding != "RD_ADDENDS"
    if not terms.bits <= f <= bits or low < least(unit.c_format) + f - bits - again:
        return None
    top = block_size(unit) * (terms.most << (f - terms.bits))
    if again and (low < d.rho.e_min + f - bits or log2(top) > bits):
        return None
    facts = f"{{| most := {terms.most}; bits := {terms.bits}; low := ({terms.low}) |}}"
    every = exponents is None
    where = "from c = 0" + ("" if every else f" where no product's exponent is below {low}")
    conditions = (f"term_facts d = Some {facts}",) if every else ()
    return Instance(
        claim="negation-symmetry", unit=unit, says=f"{_NEGATED}; {where}: no sum is rounded down",
        theorem="down_negation_of_all" if every else "down_negation_holds",
        arguments=(facts if every else f"({low})",), binders=("w", "w'", "x"),
        conditions=(*conditions, f"down_negation_ok d ({f'low {facts}' if every else low}) = true"),
        numbers={"low": Fraction(low)},
    )  # fmt: skip


def _mirrors(unit: UnitSpec) -> bool:
    """`Mirror.negation_kept` of the products' sums: nothing on the way tells a sign from the other."""
    d, tree, size = unit.design, unit.tree, block_size(unit)
    sticky = d.lost_bits == "sticky" and d.c_position == "joined" and tree is None
    signed = "positive_zero" not in (d.operand_subnormals, d.c_subnormals) and unit.k <= size
    return (
        (sticky or d.lost_bits == "cut") and not d.framed and d.zero_words == "summed"
        and unit.emulation is None and d.exponent_step == 1 and (tree is None or tree.converted is None)
        and (d.zero_terms is None or signed)
        and all(
            of.alignment_rounding not in _ASYMMETRIC and (of.carry_bits is None or sticky)
            and all(t.mode not in _ASYMMETRIC and t.integer_bits is None for t in (of.rho, of.step))
            for of in unit_designs(unit)
        )
        and (d.product_rounding is None or d.product_conversion.mode not in _ASYMMETRIC)
    )  # fmt: skip


def zero_products(unit: UnitSpec) -> Instance | None:
    """Products of zero beside others change nothing: theorem `zero_products_idle`."""
    d, size = unit.design, block_size(unit)
    half = (unit.k // 2) % size == 0
    if d.zero_words == "skipped":
        return _plainly(unit, "skipped_blocks_idle", unit.emulation is None and half)
    low, beside_c = min(least(start_format(unit)), d.rho.e_min), d.zero_exponent == "none"
    if d.c_position == "joined":
        beside_c = not d.normalise_products and zeros_at_most(d, low)
    holds = (
        not d.framed and parts_ok(unit) and one_nan(unit) and d.c_subnormals != "hidden_bit"
        and d.zero_terms is None and (at_once(unit) or d.summation == "gtr") and d.lost_bits == "cut"
        and d.step.integer_bits is None and d.fraction_bits is not None and d.zero_sign != "ieee" and beside_c
    )  # fmt: skip
    if unit.k <= size:
        return _plainly(unit, "zero_products_idle", holds)
    if d.summation in ("tr", "gtr"):
        return _plainly(unit, "down_blocks_idle", holds and half and down_blocks_ok(unit))
    kept = (
        one_sum(unit) and unit.emulation is None and d.carry_bits is None and d.zero_sign == "positive"
        and d.result_subnormals == d.c_subnormals == "kept"
        and d.rho.fraction_bits <= int(d.fraction_bits or 0) and zeros_at_most(d, d.rho.e_min)
    )  # fmt: skip
    return _plainly(unit, "zero_blocks_idle", holds and kept)


@if_described
def integer_sums(unit: UnitSpec) -> Instance | None:
    """Integers up to 2^B are summed exactly: theorems `integers_fused`, `…_any_order` and `…_terms`."""
    d = unit.design
    if one_sum(unit) and d.carry_bits is None and d.c_subnormals == "kept" and d.order == "ascending":
        return _integers_fused(unit)
    if d.group is not None or d.c_position == "after":
        return _integer_terms(unit)
    targets = [t for of in unit_designs(unit) for t in (of.rho, of.step)]
    if d.product_rounding is not None:
        targets.append(d.product_conversion)
    bound = min(t.fraction_bits for t in targets) + 1
    if not rounded_ok(unit) or not all(map(_holds_one, targets)):
        return None
    made = _integers(unit, "integers_any_order", bound, "integers", ", in any order")
    conditions = ("rounded_ok d = true", f"forallb (holds_integers {bound}) (conversions d) = true")
    return replace(made, order=("w", "0", "x"), conditions=conditions)


def _integers(unit: UnitSpec, theorem: str, bound: int, which: str, order: str = "") -> Instance:
    return Instance(
        claim="integer-sums", unit=unit, theorem=theorem,
        says=f"{which} with Σ|terms| + |c| <= 2^{bound} give their sum{order}",
        arguments=(str(bound),), binders=("w", "x"), conditions=(f"{theorem}_ok d {bound} = true",),
        numbers={"exponent": Fraction(bound)},
    )  # fmt: skip


def _holds_one(t: Conversion) -> bool:
    """Whether 1 and 2^p are normal numbers of a conversion to p fraction bits."""
    return t.e_min <= 0 and t.fraction_bits < t.e_max


def _integers_fused(unit: UnitSpec) -> Instance | None:
    """The same of one sum, and of a c that is added to such by an exact one."""
    d, f, sums = unit.design, unit.design.fraction_bits, [unit.design]
    if unit.emulation is not None:
        sums.append(unit.emulation.addition)
    if (
        d.normalise_products or d.zero_terms is not None or not all(map(plain, sums))
        or any(x.fraction_bits is not None for x in sums[1:])
        or (f is not None and not zeros_at_most(d, f)) or not _holds_one(d.rho)
    ):  # fmt: skip
        return None
    bound = min([x.rho.fraction_bits for x in sums] + ([] if f is None else [f])) + 1
    return _integers(unit, "integers_fused", bound, "integers of normal factors")


def _integer_terms(unit: UnitSpec) -> Instance | None:
    """The same of groups, and of a c that is added last."""
    d, t, f = unit.design, unit.design.rho, unit.design.fraction_bits
    if f is None or not (
        d.summation == "fused" and d.lost_bits == "cut" and not d.framed
        and d.c_position in ("joined", "after") and not d.normalise_products and d.carry_bits is None
        and zeros_at_most(d, f) and d.zero_words == "summed" and d.zero_terms is None
        and d.c_subnormals != "hidden_bit" and unit.emulation is None and d.piece_bits is None
        and t.integer_bits is None and always_infinite(d, t) and _holds_one(t)
    ):  # fmt: skip
        return None
    which = f"integers of normal factors, or of exponents up to {f},"
    return replace(_integers(unit, "integers_terms", min(t.fraction_bits + 1, f), which), binders=("bs",))


def sign_magnitude(unit: UnitSpec) -> Instance | None:
    """The specification sums integers: a sum in sign and magnitude has the same record and results."""
    d = unit.design
    holds = (
        d.accumulation == "twos_complement" and d.carry_bits is None and d.fraction_bits is not None
        and not d.framed and d.lost_bits == "cut" and d.piece_bits is None
        and coq_design(replace(unit, design=replace(d, accumulation="sign_magnitude"))) == coq_design(unit)
    )  # fmt: skip
    return _plainly(unit, "eq_refl", holds)


def monotonicity(unit: UnitSpec) -> Instance | None:
    """c <= c' implies d <= d': theorems `monotone_in_c` and `monotone_in_last_c`."""
    if unit.emulation is None:
        return _plainly(unit, "monotone_in_c", rounded_ok(unit))
    adder = unit.emulation.addition
    exact = adder.fraction_bits is None and adder.carry_bits is None and adder.rho.integer_bits is None
    holds = exact and adder.c_subnormals == "kept" and always_infinite(adder, adder.rho)
    return _plainly(unit, "monotone_in_last_c", holds)


def sound(unit: UnitSpec) -> bool:
    """What all theorems about designs of one fused sum ask: `Irrelevant.sound`."""
    d = unit.design
    return (
        one_sum(unit) and one_nan(unit) and parts_ok(unit) and d.c_subnormals != "hidden_bit"
        and d.rho.e_min <= d.rho.e_max
    )  # fmt: skip


_CLAIMS: dict[str, Callable[[UnitSpec], Instance | None]] = {
    "carry-bits": carry_bits, "zero-exponent": zero_exponent, "product-order": product_order,
    "negation-symmetry": negation_symmetry, "zero-products": zero_products, "integer-sums": integer_sums,
    "relative-error": relative_error, "error-bound": error_bound, "sign-magnitude": sign_magnitude,
    "monotonicity": monotonicity,
}  # fmt: skip
#: The claims that theorems answer.
CLAIMS = tuple(_CLAIMS)
