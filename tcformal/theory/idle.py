"""Which parameters of a unit cannot matter: bounds of its terms and sums, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from tcformal.design.rounding import EXACT_SUM, NEAREST, Conversion, deciding_bits, overflows_to_infinity
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.theory.constants import (
    alone,
    always_infinite,
    converted_to,
    highest,
    least,
    one_nan,
    one_sum,
    one_sum_of_terms,
    parts_ok,
    start_format,
    whole,
)
from tcformal.theory.design import (
    Sum,
    block_size,
    tree_sum,
)
from tcformal.theory.stated_sum import ZEROS, operand_rules


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of an operand of a sum.

    Ranges and units: the significand is at most `most` in units of 2^-`bits`, with at most `width` fraction
    bits; the number is a multiple of 2^`grid`; its exponent is at least `lowest`, and at most `upto`, or
    `low_upto` where it has no leading 1.
    """

    most: int
    bits: int
    lowest: int
    grid: int
    upto: int
    low_upto: int
    width: int

    @property
    def top(self) -> int:
        """Its largest exponent."""
        return max(self.upto, self.low_upto)


#: Exponent bits of formats of whose numbers a largest exponent is known.
CODES = 2


def sums_of(unit: UnitSpec) -> Sum | None:
    """The sums of a unit that `Stages.idle_sums` is about, fused ones, in steps or with c last; or None.

    NaNs of a tree may be words of operands: `StepNans.idle_steps_words`.
    """
    d = unit.design
    fused = unit.tree is not None or (
        d.summation == "fused" and d.c_position in ("joined", "last") and one_nan(unit)
    )
    if not (
        fused and parts_ok(unit) and whole(d) and not d.framed and d.lost_bits == "cut"
        and d.zero_words == "summed" and d.zero_terms is None and d.c_subnormals != "hidden_bit"
        and product_bounds(unit) is not None
    ):  # fmt: skip
        return None
    products = tuple(range(block_size(unit)))
    if unit.tree is not None:
        made = tree_sum(unit.tree, d)
    else:
        made = Sum(d, d.rho, (*(products if d.c_position == "joined" else (Sum(d, d.step, products),)), "c"))
    ranged = all(x.target.integer_bits is None and range_ok(x.target) for x in made.sums())
    return made if ranged else None


def summation(unit: UnitSpec, root: Sum) -> str:
    """A term of type `summation`, without parentheses."""
    inner = root.operands[0]
    if unit.tree is not None:
        return f"InSteps {root.written()}"
    return f"CLast Together {inner.stage} {root.stage}" if isinstance(inner, Sum) else f"OneSum {root.stage}"


def kept_sums(unit: UnitSpec, root: Sum, terms: Bounds) -> Sum:
    """`Flushes.kept_summation`: the same sums, what they do with subnormal operands and results at one value.

    Results of which none is subnormal are kept as c is, or not; operands of which none is, not normalised.
    """
    flushed, whole, cs = unit.design.c_subnormals in ZEROS, unit.tree is not None, first_c(unit, root)
    plain = "signed_zero" if flushed else "kept"
    # Results of a sum of products before c are taken as they are.
    known = {"c": flushed, "zero": True}

    def normal(y: int | str | Sum, c: Bounds) -> bool:
        if not isinstance(y, Sum):
            return known.get(str(y), False)
        return whole and (flushed or _never_low(y.design, y.target, _operands(y, terms, c)))

    def made(x: Sum) -> Sum:
        d, to = x.design, x.target
        cases = [
            [(b, normal(y, c)) for y, b in zip(x.operands, _operands(x, terms, c), strict=True)] for c in cs
        ]
        if all(_leading(*b) for case in cases for b in case):
            d = replace(d, normalise_products=False)
        if all(_never_flushed(d, to, case) for case in cases):
            d = replace(d, result_subnormals=plain)
        return Sum(d, to, tuple(made(y) if whole and isinstance(y, Sum) else y for y in x.operands))

    return made(root) if whole or isinstance(root.operands[0], Sum) else root


def free_rule(root: Sum, terms: Bounds) -> Sum | None:
    """`Flushes.free_steps`: sums of which none adds c, or a subnormal result, with a c as it is; or None."""
    for x in root.sums():
        results = [y for y in x.operands if isinstance(y, Sum)]
        if "c" in x.operands or not all(
            _never_low(y.design, y.target, _operands(y, terms, terms)) for y in results
        ):
            return None
    return _of_kept_c(root)


def _never_low(d: Design, to: Conversion, bs: list[Bounds]) -> bool:
    """`Flushes.never_low`: whether every sum is a multiple of the least normal number."""
    return to.fraction_bits >= 0 and _multiple(d, bs, to.e_min)


def _leading(b: Bounds, normal: bool) -> bool:
    """`Flushes.leading`: whether an operand is zero, or has the exponent of its leading bit."""
    return normal and b.bits >= 0 and b.most < 2 << b.bits


def apart_sums(unit: UnitSpec) -> Sum | None:
    """`Apart.apart`: a sum of products, wide enough to be exact, then c, where c is added before rounding."""
    d, terms = unit.design, product_bounds(unit)
    if terms is None or not (
        d.c_position == "after" and unit.tree is None and one_nan(unit) and parts_ok(unit)
        and d.lost_bits == "cut" and whole(d) and not d.framed and d.alignment_rounding == "RZ"
        and d.carry_bits is None and d.zero_terms is None and terms.top - terms.bits >= terms.grid
    ):  # fmt: skip
        return None
    bits, products = 64, tuple(range(block_size(unit)))
    while len(products) * terms.most << (terms.top - terms.bits - terms.grid) >= 1 << bits:
        bits *= 2
    exponents = 2
    while not (to := Conversion(d.rho.mode, exponents, bits)).e_min - bits <= terms.grid <= to.e_max - bits:
        exponents += 1
    last = replace(d, c_position="last", accumulator=d.conversion)
    inner = replace(last, result_subnormals="kept", zero_sign="ieee", overflow="infinity")
    exact = replace(last, fraction_bits=None, normalise_products=False, **EXACT_SUM)  # type: ignore[arg-type]
    return Sum(exact, d.rho, (Sum(inner, to, products), "c"))


def first_c(unit: UnitSpec, root: Sum) -> list[Bounds]:
    """What is known of c: in the first block, and in a later one."""
    return [of_format(start_format(unit)), _of_result(root.target)]


def sums_by_value(x: Sum, terms: Bounds, cs: list[Bounds], *, in_steps: bool) -> tuple[Sum, list[Bounds]]:
    """The sum with plain values, and what is known of its result as it is, for each c."""
    plain = {
        i: sums_by_value(y, terms, cs, in_steps=in_steps)
        for i, y in enumerate(x.operands)
        if isinstance(y, Sum)
    }
    cases = [
        [plain[i][1][n] if isinstance(y, Sum) else _leaf(x, y, terms, c) for i, y in enumerate(x.operands)]
        for n, c in enumerate(cs)
    ]
    d, to, known = x.design, x.target, cases
    # Operands with the exponents of their leading bits: `Stages.lead_values`.
    led = d.normalise_products and d.fraction_bits is not None
    if led:
        d, known = replace(d, normalise_products=False), [[*map(_lead, b)] for b in cases]
    # A partial sum that is no -0, and is taken as it is: `Stages.positive_step`.
    results = [y.design for y, _ in plain.values() if in_steps and y.design.zero_sign == "positive"]
    positive = any(
        y.c_subnormals in ("kept", "positive_zero") or y.result_subnormals != "kept" for y in results
    )

    def changed(holds: Callable[[Design, list[Bounds]], bool], **values: object) -> None:
        nonlocal d
        differs = any(getattr(d, name) != value for name, value in values.items())
        if differs and all(holds(d, b) for b in known):
            d = replace(d, **values)  # type: ignore[arg-type]

    changed(_idle_carry, carry_bits=None)
    changed(_idle_zero, zero_exponent="none")
    if not led:
        exact: dict[str, object] = {"fraction_bits": None, "normalise_products": False, **EXACT_SUM}
        changed(lambda d, b: _idle_cut(d, b) or _idle_two(d, to, b), **exact)
    zeros = "zero" in x.operands
    changed(lambda d, b: _idle_sign(d, to, b, zeros or (positive and _whole(d, b))), zero_sign="positive")
    if d.result_subnormals == "tiny_zero":  # `Stages.idle_tiny`: sums below the least normal number are exact
        changed(lambda d, b: _multiple(d, b, to.e_min - to.fraction_bits), result_subnormals="signed_zero")
    # As sums are that do not tell a c that is made a zero: `Stages.idle_flush`.
    if d.result_subnormals == "kept" != d.c_subnormals:
        changed(lambda d, b: _multiple(d, b, to.e_min), result_subnormals="signed_zero")
    infinite = d.overflow == "ieee" and overflows_to_infinity(to.mode)
    changed(lambda d, b: infinite or _never_over(d, to, b), overflow="infinity")
    drops = in_steps and d.zero_sign != "ieee" and (d.fraction_bits is None or d.zero_exponent == "none")
    operands = (plain[i][0] if isinstance(y, Sum) else y for i, y in enumerate(x.operands))
    d = replace(d, normalise_products=True) if led else d
    made = Sum(d, to, tuple(y for y in operands if not (drops and y == "zero")))
    return made, [_sum_result(x, bs) for bs in cases]


def _lead(b: Bounds) -> Bounds:
    """`Stages.lead_bounds`: what is known of an operand with the exponent of its leading bit."""
    top = b.most.bit_length() - 1
    bits = max(0, top + b.width - b.bits)
    low, upto = min(b.lowest, b.grid), b.top + top - b.bits
    return Bounds((2 << bits) - 1, bits, low, b.grid, upto, b.low_upto, max(b.width, bits))


def _leaf(x: Sum, y: int | str, terms: Bounds, c: Bounds) -> Bounds:
    """What is known of an operand that is no sum."""
    if y == "zero":
        # `Stages.zero_bounds`: a +0 is a multiple of everything.
        to = x.target
        return replace(_of_result(to), grid=to.e_max, upto=to.e_min, width=to.fraction_bits)
    return c if y == "c" else terms


def _operands(x: Sum, terms: Bounds, c: Bounds) -> list[Bounds]:
    return [
        _sum_result(y, _operands(y, terms, c)) if isinstance(y, Sum) else _leaf(x, y, terms, c)
        for y in x.operands
    ]


def _sum_result(x: Sum, bs: list[Bounds]) -> Bounds:
    """`Stages.sum_result`: a multiple of what its operands are multiples of, and no larger than they are."""
    made, to, d = _of_result(x.target), x.target, x.design
    if d.carry_bits is not None:
        return made
    grid, top = min(to.e_max - to.fraction_bits, _sum_grid(d, bs)), to.e_max
    if not d.normalise_products and (d.fraction_bits is None or d.zero_exponent == "none"):
        unit, magnitude = _magnitude(d, bs)
        top = min(top, max(to.e_min, max(magnitude.bit_length(), 1) + unit))
    return replace(made, grid=max(made.grid, grid), upto=top)


def _magnitude(d: Design, bs: list[Bounds]) -> tuple[int, int]:
    """`Stages.all_magnitudes`: a bound of a sum's magnitude, after the exponent of its unit."""
    f = d.fraction_bits
    away = [] if f is None or d.alignment_rounding == "RZ" else [max(b.top for b in bs) - f]
    unit = min([*(b.top - b.bits for b in bs), *away])
    return unit, sum(b.most << (b.top - b.bits - unit) for b in bs) + sum(len(bs) << (x - unit) for x in away)


def _idle_carry(d: Design, bs: list[Bounds]) -> bool:
    """`Stages.idle_carry`: whether the largest counts of all operands fit into the sum."""
    if d.fraction_bits is None or d.carry_bits is None or d.normalise_products:
        return False
    f = d.fraction_bits
    away = 0 if d.alignment_rounding == "RZ" else 1
    tops = [b.most << (f - b.bits) if f >= b.bits else b.most >> (b.bits - f) for b in bs]
    return sum(tops) + away * len(tops) < 1 << (f + 1 + d.carry_bits)


def _idle_zero(d: Design, bs: list[Bounds]) -> bool:
    """`Stages.idle_zero`: whether zeros are below all others, or nothing is cut off beside them."""
    f, at = d.fraction_bits, d.zero_exponent
    top = at if isinstance(at, int) else max(b.low_upto for b in bs)
    below = isinstance(at, int) and at <= min(b.lowest for b in bs)
    uncut = f is not None and d.carry_bits is None and top - f <= _grid(bs)
    return not d.normalise_products and (below or uncut)


def _idle_cut(d: Design, bs: list[Bounds]) -> bool:
    """`Stages.idle_cut`: whether nothing is cut off."""
    f, at = d.fraction_bits, d.zero_exponent
    top = max([b.top for b in bs] + ([at] if isinstance(at, int) else []))
    return f is None or (d.carry_bits is None and not d.normalise_products and top - f <= _grid(bs))


def _whole(d: Design, bs: list[Bounds]) -> bool:
    """`Stages.keeps_largest`: whether the largest operand is in the sum whole."""
    return d.fraction_bits is None or (
        d.zero_exponent == "none" and not d.normalise_products and max(b.width for b in bs) <= d.fraction_bits
    )


def _multiple(d: Design, bs: list[Bounds], exponent: int) -> bool:
    """Whether every sum is a multiple of 2^exponent."""
    return d.carry_bits is None and exponent <= _sum_grid(d, bs)


def _idle_sign(d: Design, to: Conversion, bs: list[Bounds], positive: bool) -> bool:
    """`Stages.idle_sign`: whether no sum but zero rounds to zero, and a sum of zeros is a +0 (`positive`)."""
    low = to.e_min if d.result_subnormals != "kept" else to.e_min - to.fraction_bits
    none = to.mode == "RO" and d.result_subnormals == "kept"
    signed = d.zero_sign == "ieee" and (not positive or to.mode == "RD")
    return d.carry_bits is None and not signed and (none or _multiple(d, bs, low))


def _never_flushed(d: Design, to: Conversion, bs: list[tuple[Bounds, bool]]) -> bool:
    """`Flushes.never_flushed`: whether no sum but zero is below the least normal number.

    One operand may be no multiple of the power of two of which the others are, if it is normal or zero.
    """
    grid = to.e_min + 1 + max((b.width for b, normal in bs if normal), default=0)
    coarse = [(b, normal) for b, normal in bs if b.grid < grid]
    return _multiple(d, [b for b, _ in bs], to.e_min) or (
        d.carry_bits is None and d.fraction_bits is None and to.e_min <= grid and len(coarse) <= 1
        and all(
            _leading(b, normal) and to.e_min <= b.lowest and b.width >= 0 for b, normal in coarse
        )
    )  # fmt: skip


def _idle_two(d: Design, to: Conversion, bs: list[Bounds]) -> bool:
    """`Stages.idle_two`: whether two numbers are aligned to odd with bits enough for an exact sum."""
    read = to.fraction_bits + 2 + deciding_bits(to.mode)
    wide = max(read, max(b.width for b in bs) + 2, max(b.low_upto for b in bs) - _grid(bs))
    return (
        d.fraction_bits is not None and d.alignment_rounding == "RO" and d.carry_bits is None
        and not d.normalise_products and d.zero_exponent == "none" and len(bs) <= 2
        and d.fraction_bits >= wide and all(b.most < (2 << b.bits if b.bits >= 0 else 0) for b in bs)
    )  # fmt: skip


def _never_over(d: Design, to: Conversion, bs: list[Bounds]) -> bool:
    """`Stages.never_over`: whether no sum is too large."""
    zeros = d.fraction_bits is not None and d.zero_exponent != "none"
    (unit, magnitude), last = _magnitude(d, bs), to.e_max - to.fraction_bits
    if d.normalise_products or d.carry_bits is not None or zeros or unit > last:
        return False
    if to.mode in ("RZ", "RO"):
        return magnitude < 1 << (to.e_max + 1 - unit)
    if magnitude <= ((2 << to.fraction_bits) - 1) << (last - unit):
        return True
    # To nearest, what is less than half a last place above the largest number becomes that.
    half = unit < last and magnitude < ((4 << to.fraction_bits) - 1) << (last - 1 - unit)
    return to.mode in ("RNE", "RNA") and half


def _grid(bs: list[Bounds]) -> int:
    return min(b.grid for b in bs)


def _sum_grid(d: Design, bs: list[Bounds]) -> int:
    """`Stages.sum_grid`: the exponent of a power of two of which a sum is a multiple."""
    if d.fraction_bits is None or d.normalise_products:
        return _grid(bs)
    return max(_grid(bs), min(b.lowest for b in bs) - d.fraction_bits)


def product_bounds(unit: UnitSpec) -> Bounds | None:
    """`Stages.term_bounds`: what is known of every product, by its factors and its rounding."""
    exact = exact_bounds(unit)
    if unit.design.product_rounding is None:
        return exact
    to = unit.design.product_conversion
    if to.integer_bits is not None or not range_ok(to):
        return None
    made = _of_result(to)
    if exact is None:
        return made
    # `Stages.rounded_bounds`: a multiple of what it was, no larger than a power of two above it.
    grid = max(made.grid, min(to.e_max - to.fraction_bits, exact.grid))
    return replace(made, grid=grid, upto=min(to.e_max, max(to.e_min, _ceiling(exact))))


def _ceiling(b: Bounds) -> int:
    """`Stages.ceiling`: the exponent of a power of two that no number exceeds."""
    return max(b.most - 1, 0).bit_length() + b.top - b.bits


def normal_products(unit: UnitSpec, root: Sum) -> Sum | None:
    """`NormalProducts.normal_products`: the sum that normalises products as their rounding does."""
    d, e, terms, start = unit.design, root.design, exact_bounds(unit), unit.c_format
    if (
        d.product_rounding is None or terms is None or not alone(unit) or not one_nan(unit)
        or unit.k != block_size(unit) or (d.c_position, d.c_subnormals) != ("joined", "kept")
        or e.fraction_bits is None or e.carry_bits is not None or e.normalise_products
        or e.zero_exponent != "none"
    ):  # fmt: skip
        return None
    to, led, bits = d.product_conversion, _lead(terms), terms.width - terms.bits
    fits = bits >= 0 and to.integer_bits is None and terms.most << bits < 2 << to.fraction_bits
    if (
        not fits or to.e_min > terms.grid or max(led.upto, terms.low_upto) > to.e_max or e.zero_sign == "ieee"
        or start.fraction_bits > e.fraction_bits or least(start) > terms.grid
    ):  # fmt: skip
        return None
    return replace(root, design=replace(e, normalise_products=True))


def exact_bounds(unit: UnitSpec) -> Bounds | None:
    """`Stages.exact_bounds`: what is known of exact products of whole factors."""
    d, scale = unit.design, unit.scale_format
    if "hidden_bit" in operand_rules(d) or d.exponent_step != 1 or d.zero_terms is not None:
        return None
    factors = [_factor(unit, f) for f in (unit.a_format, unit.b_format)]
    return reduce(_times, [*factors, *([] if scale is None else [of_format(scale)] * 2)])


def exact_rounding(unit: UnitSpec) -> bool:
    """`ProductRounding.exact_rounding`: whether a rounding of products leaves the value of each as it is."""
    d, b = unit.design, _short_products(unit)
    if b is None:
        return False
    to = d.product_conversion
    normal = d.result_subnormals == "kept" or to.e_min <= b.grid
    kept = to.e_min - to.fraction_bits <= b.lowest - b.width
    return normal and kept and d.zero_sign == "ieee" and _none_over(b, to)


def plain_rounding(unit: UnitSpec) -> Design:
    """The design with the mode of its rounding of products, and what overflows, where these do not matter.

    `ProductRounding.same_rounding`: neither does where products have no more bits than that keeps, what
    overflows does not where no product is as large, and what is flushed where none is subnormal.
    """
    d, exact = unit.design, exact_bounds(unit)
    if d.product_rounding is None or d.product_conversion.integer_bits is not None or exact is None:
        return d
    to = d.product_conversion
    if to.fraction_bits >= 0 and to.e_min <= exact.grid:
        d = replace(d, result_subnormals="kept")
    b = _short_products(replace(unit, design=d))
    if b is not None and (_none_over(b, to) or always_infinite(d, to)):
        return replace(
            d, product_rounding=f"RNE-{str(d.product_rounding).partition('-')[2]}", overflow="infinity",
            result_subnormals="signed_zero" if d.result_subnormals == "tiny_zero" else d.result_subnormals,
        )  # fmt: skip
    return replace(d, overflow="infinity") if range_ok(to) and _ceiling(exact) <= to.e_max else d


def _short_products(unit: UnitSpec) -> Bounds | None:
    """Bounds of exact products of so few bits that a rounding of products keeps them all, or flushes."""
    d, b = unit.design, exact_bounds(unit)
    if d.product_rounding is None or d.product_conversion.integer_bits is not None:
        return None
    to = d.product_conversion
    if b is None or b.bits > b.width or b.most << (b.width - b.bits) >= 1 << to.fraction_bits:
        return None
    kept = d.result_subnormals != "kept" or to.e_min - to.fraction_bits <= b.lowest - b.width
    return b if kept else None


def _none_over(b: Bounds, to: Conversion) -> bool:
    return b.most.bit_length() - 1 + b.top - b.bits <= to.e_max


def _factor(unit: UnitSpec, f: Format) -> Bounds:
    """`Stages.factor_bounds`: a factor as it is or in another format, and normalised or not."""
    made, to = of_format(f), converted_to(unit)
    if to is not None:
        low, wider = least(to), max(0, least(to) - made.lowest)
        made = replace(made, lowest=low, upto=max(low, made.upto), low_upto=low, width=made.width + wider)
    return replace(made, lowest=min(made.lowest, made.grid)) if unit.design.normalise_operands else made


def _times(x: Bounds, y: Bounds) -> Bounds:
    low, bits, width = max(x.low_upto + y.top, x.top + y.low_upto), x.bits + y.bits, x.width + y.width
    return Bounds(x.most * y.most, bits, x.lowest + y.lowest, x.grid + y.grid, x.top + y.top, low, width)


def of_format(f: Format) -> Bounds:
    low, bits = least(f), f.fraction_bits
    top = max(low, highest(f))
    return Bounds((2 << bits) - 1, bits, low, low - bits, top, low, bits)


def _of_result(to: Conversion) -> Bounds:
    bits = to.fraction_bits
    return Bounds((2 << bits) - 1, bits, to.e_min, to.e_min - bits, to.e_max, to.e_min, bits + 1)


def range_ok(to: Conversion) -> bool:
    return to.fraction_bits >= 0 and to.e_min <= to.e_max


def rule_idle(unit: UnitSpec, root: Sum) -> Sum | None:
    """`FlushedC.plain_rule`: the sums that do not tell a subnormal c from a zero; None where they may."""
    d, start, to, e, inner = unit.design, unit.c_format, root.target, root.design, root.operands[0]
    terms = product_bounds(unit)
    if terms is None or not isinstance(inner, Sum):
        return None
    of = inner.target
    if not (
        d.c_subnormals in ZEROS and root.operands[1:] == ("c",) and to.mode in NEAREST
        and e.result_subnormals != "tiny_zero" and e.fraction_bits is None and e.carry_bits is None
        and least(start) == to.e_min and start.fraction_bits <= to.fraction_bits
        and inner.design.zero_sign == "positive"
        and (of.fraction_bits, of.e_min) == (to.fraction_bits, to.e_min)
        and all(is_flushed(x.design, x.target) and "c" not in x.operands for x in inner.sums())
    ):  # fmt: skip
        return None
    if _sum_result(inner, _operands(inner, terms, of_format(start))).grid < to.e_min + to.fraction_bits + 2:
        return None
    made = _of_kept_c(root)
    return replace(made, design=replace(made.design, zero_sign="positive", result_subnormals="signed_zero"))


def is_flushed(d: Design, to: Conversion) -> bool:
    """Whether an exact sum makes subnormal results zeros."""
    exact = d.fraction_bits is None and d.carry_bits is None
    return exact and d.result_subnormals != "kept" and always_infinite(d, to)


def _of_kept_c(x: Sum) -> Sum:
    """The same sums of a design whose c is taken as it is."""
    operands = (_of_kept_c(y) if isinstance(y, Sum) else y for y in x.operands)
    return Sum(replace(x.design, c_subnormals="kept"), x.target, tuple(operands))


def factors_idle(unit: UnitSpec, root: Sum) -> bool:
    """`Factors.factors_free`: whether no sum tells converted or normalised factors from others."""
    d, to = unit.design, converted_to(unit)
    factors = list(zip((unit.a_format, unit.b_format), operand_rules(d), strict=True))
    if (
        unit.emulation is not None or d.product_rounding is not None
        or (unit.tree is None and d.c_position not in ("joined", "after"))
        or (to is not None
        and any(least(to) > least(f) or (least(to) < least(f) and r != "kept") for f, r in factors))
    ):  # fmt: skip
        return False
    other = to is not None and any(least(to) != least(f) for f, _ in factors)
    moved = _moved(unit, to) if d.normalise_operands or other else None
    return all(_near(unit, x, moved, c) for c in first_c(unit, root) for x in root.sums())


def _moved(unit: UnitSpec, to: Format | None) -> int:
    """`Factors.product_moved`: the largest exponent of a product that differs."""
    every, scale = unit.design.normalise_operands, unit.scale_format
    pairs = ((unit.a_format, unit.b_format), (unit.b_format, unit.a_format))
    made = max(
        least(f) + of_format(other).upto
        for f, other in pairs
        if every or (to is not None and least(to) != least(f))
    )
    return made if scale is None else made + 2 * of_format(scale).upto


def _near(unit: UnitSpec, x: Sum, moved: int | None, c: Bounds) -> bool:
    """`Factors.near_ok`: whether a sum cuts nothing off beside products of other exponents."""
    d = x.design
    if d.fraction_bits is None or not any(isinstance(y, int) for y in x.operands):
        return True
    if d.zero_exponent != "none" or d.carry_bits is not None or d.normalise_products:
        return False
    return moved is None or all(
        (t := product_bounds(u)) is not None and moved - d.fraction_bits <= _grid(_operands(x, t, c))
        for u in (unit, plain_factors(unit))
    )


def plain_factors(unit: UnitSpec) -> UnitSpec:
    """The unit with factors as they are: neither converted nor normalised."""
    tree = None if unit.tree is None else replace(unit.tree, converted=None)
    return replace(unit, tree=tree, design=replace(unit.design, normalise_operands=False))


def tidied(unit: UnitSpec, root: Sum) -> Sum | None:
    """`TreeForms.tidy`: operands in the order of k, a sum of one product that is rounded to itself as that.

    None where a sum sees more than the values of its operands.
    """
    d = unit.design
    if unit.tree is None or d.c_subnormals != "kept" or any(
        x.design.fraction_bits is not None or x.design.zero_sign == "ieee" for x in root.sums()
    ):  # fmt: skip
        return None

    def alone(x: int | str | Sum) -> int | str | Sum:
        if not isinstance(x, Sum):
            return x
        inner = tidy(x)
        only = inner.operands[0] if len(inner.operands) == 1 else None
        return only if isinstance(only, int) and _product_kept(unit, inner) else inner

    def tidy(x: Sum) -> Sum:
        return Sum(x.design, x.target, tuple(sorted(map(alone, x.operands), key=_place)))

    return tidy(root)


def _place(x: int | str | Sum) -> int:
    """`TreeForms.place`: c and +0 come before products."""
    if isinstance(x, Sum):
        return _place(x.operands[0]) if x.operands else -3
    return x if isinstance(x, int) else {"c": -1, "zero": -2}[x]


def _product_kept(unit: UnitSpec, x: Sum) -> bool:
    """`TreeForms.product_kept`: whether a sum without fraction bits rounds every product to itself."""
    d, to, b = unit.design, x.target, product_bounds(unit)
    if x.design.result_subnormals != "kept" or not range_ok(to):
        return False
    if d.product_rounding is not None:
        c = d.product_conversion
        of_c = c.integer_bits, c.fraction_bits, c.e_min, c.e_max
        return of_c == (None, to.fraction_bits, to.e_min, to.e_max)
    if b is None:
        return False
    last, limit = to.e_max - to.fraction_bits, 2 << to.fraction_bits
    g = min(b.top - b.bits, last)
    return (
        b.bits <= b.width and b.most << (b.width - b.bits) < limit
        and to.e_min - to.fraction_bits <= b.lowest - b.width
        and b.most << (b.top - b.bits - g) <= (limit - 1) << (last - g)
    )  # fmt: skip


def inlined_sums(unit: UnitSpec, root: Sum) -> Sum | None:
    """`Inlined.inlined_sums`: operands of exact sums in the place of these, where a sum sees them alone.

    Other exact sums of products are at plain values.
    """
    d = unit.design
    if unit.tree is None or not (
        one_nan(unit) and unit.emulation is None and unit.k == block_size(unit)
        and (d.c_subnormals, d.order) == ("kept", "ascending")
    ):  # fmt: skip
        return None

    def expanded(x: Sum, y: int | str | Sum) -> Sequence[int | str | Sum]:
        if not isinstance(y, Sum):
            return (y,)
        if not _whole_products(unit, y):
            return (made(y),)
        return y.operands if _joins(x, y) else (_plain_whole(y),)

    def made(x: Sum) -> Sum:
        operands = [z for y in x.operands for z in expanded(x, y)]
        return Sum(x.design, x.target, tuple(sorted(operands, key=_place)))

    return made(root)


def _exact(d: Design) -> Design:
    """`Stages.exact_of`: the sum that cuts nothing off."""
    return replace(d, fraction_bits=None, normalise_products=False, **EXACT_SUM)  # type: ignore[arg-type]


def _plain_whole(x: Sum) -> Sum:
    """`Inlined.plain_whole`: a sum whose modes do not matter."""
    signed = x.design.zero_sign == "ieee"
    d = replace(_exact(x.design), overflow="infinity", zero_sign="ieee" if signed else "positive")
    return Sum(d, replace(x.target, mode="RD" if signed and x.target.mode == "RD" else "RNE"), x.operands)


def _joins(x: Sum, inner: Sum) -> bool:
    """`Inlined.joins`: whether a sum sees of a sum in it the value alone, and what signs its zeros have."""
    signs = x.design.zero_sign, inner.design.zero_sign
    alike = signs == ("ieee", "ieee") and (x.target.mode == "RD") == (inner.target.mode == "RD")
    return x.design.fraction_bits is None and (signs[0] != "ieee" or alike)


def _whole_products(unit: UnitSpec, x: Sum) -> bool:
    """`Inlined.whole_step`: whether a sum of products is a number of its result's format."""
    products = [y for y in x.operands if isinstance(y, int)]
    if not products or len(products) < len(x.operands):
        return False
    cases = _cases(unit, products)
    return bool(cases) and all(_whole_sum(x.design, x.target, [b] * len(products)) for b in cases)


def _cases(unit: UnitSpec, products: Sequence[int]) -> list[Bounds]:
    """`Inlined.term_cases`: what is known of some products, for each exponent of the scales that they share.

    What holds at the least and at the largest exponent holds at those between: each comparison is of bounds
    that all move with the exponent, or of one that moves with one that stays.
    """
    scale, block = unit.scale_format, unit.scale_block
    exact = exact_bounds(replace(unit, scale_format=None))
    shared = set() if block is None else {k // block for k in products}
    if scale is None or exact is None or unit.design.product_rounding is not None or len(shared) != 1:
        known = product_bounds(unit)
        return [] if known is None else [known]
    known = of_format(scale)
    ends = (known.lowest, known.upto)
    scales = [replace(known, lowest=e, grid=e - known.bits, upto=e, low_upto=e) for e in ends]
    return [_times(_times(exact, b), b) for b in scales]


def _whole_sum(d: Design, to: Conversion, bs: list[Bounds]) -> bool:
    """`Inlined.whole_sum`: whether nothing of a sum is cut off or rounded."""
    if d.normalise_products:
        d, bs = replace(d, normalise_products=False), [*map(_lead, bs)]
    grid = min(_grid(bs), to.e_max - to.fraction_bits)
    unit, magnitude = _magnitude(_exact(d), bs)
    d = replace(d, carry_bits=None) if _idle_carry(d, bs) else d
    d = replace(d, zero_exponent="none") if _idle_zero(d, bs) else d
    return (
        d.result_subnormals == "kept" and range_ok(to) and (_idle_cut(d, bs) or _idle_two(d, to, bs))
        and to.e_min - to.fraction_bits <= grid <= unit and magnitude << (unit - grid) < 2 << to.fraction_bits
    )  # fmt: skip


def _framed_products(unit: UnitSpec) -> Bounds | None:
    """What is known of whole products of sums whose c is aligned apart; None of other sums."""
    d = unit.design
    plain = alone(unit) and d.framed and whole(d) and d.zero_terms is None and range_ok(d.rho)
    return product_bounds(unit) if plain and d.rho.integer_bits is None else None


def plain_frame(unit: UnitSpec) -> Design | None:
    """`OtherSums.plainer_frame`: sums whose c is aligned apart, each idle parameter at its plain value."""
    d, terms, n = unit.design, _framed_products(unit), block_size(unit)
    if terms is None or d.c_subnormals == "hidden_bit" or d.step.integer_bits is not None:
        return None
    cases = [(terms, of_format(unit.c_format)), (terms, _of_result(d.rho))]
    low = least(unit.c_format)
    if d.alignment_rounding == "RZ":
        d = replace(d, vanished_c="cut")
    if all(_frame_zero_idle(d, n, *case) for case in cases):
        d = replace(d, zero_exponent="none")
    elif d.zero_exponent == "own" and d.aligned_group is not None and low == d.rho.e_min:
        own = d.c_fraction_bits is not None and low - d.c_fraction_bits + int(d.fraction_bits or 0)
        d = replace(d, zero_exponent=own)
    if d.c_subnormals != "kept" and all(_untiny(d, n, *case) for case in cases):
        d = replace(d, zero_sign="positive", result_subnormals="kept")
    if (
        d.zero_sign == "sum" and d.accumulator is None and d.accumulation != "ones_complement"
        and d.result_subnormals == "kept"
        and all(d.rho.e_min - d.rho.fraction_bits <= min(b.grid for b in case) for case in cases)
    ):  # fmt: skip
        d = replace(d, zero_sign="positive")
    first = [] if d.accumulator is None else [d.step]
    down = d.rho.mode in ("RZ", "RO") and all(range_ok(t) and t.e_max <= d.rho.e_max for t in first)
    before = all(overflows_to_infinity(t.mode) for t in first)
    last = overflows_to_infinity(d.rho.mode) or (bool(first) and down)
    if d.overflow == "ieee" and before and last:
        d = replace(d, overflow="infinity")
    return d


def _few_products(d: Design, n: int) -> bool:
    """Whether c has two bits more than results, and as many as products may carry into."""
    c_bits, p = int(d.c_fraction_bits or 0), d.rho.fraction_bits
    return 1 <= p <= c_bits - 2 and n <= 1 << (c_bits - p - 2)


def low_c_idle(unit: UnitSpec) -> bool:
    """`OtherSums.flushed_c_free`: whether a subnormal c is nothing beside products, and flushed alone."""
    d, terms, to = unit.design, _framed_products(unit), unit.design.rho
    rules = (d.c_subnormals, d.alignment_rounding, d.zero_exponent, d.zero_sign)
    return (
        terms is not None and d.accumulator is None and rules == ("kept", "RZ", "none", "positive")
        and d.aligned_group is None and d.result_subnormals != "kept"
        and _few_products(d, block_size(unit))
        and all(
            c.low_upto <= min(to.e_min, terms.lowest - int(d.fraction_bits or 0))
            and to.e_min - to.fraction_bits <= c.grid and c.width <= int(d.c_fraction_bits or 0)
            for c in (of_format(unit.c_format), _of_result(to))
        )
    )  # fmt: skip


def _frame_zero_idle(d: Design, n: int, terms: Bounds, c: Bounds) -> bool:
    """`OtherSums.frame_zero_idle`: whether no sum of n products tells what unit a zero asks for."""
    bits, c_bits = int(d.fraction_bits or 0), int(d.c_fraction_bits or 0)
    fixed = isinstance(d.zero_exponent, int)
    of_c, of_products = (
        int(d.zero_exponent) - bits if fixed else b.low_upto - own for b, own in ((c, c_bits), (terms, bits))
    )
    grouped, low = d.aligned_group is not None, terms.lowest - bits

    def idle(top: int, low: int, grid: int) -> bool:
        whole = d.accumulation != "ones_complement" and top <= grid
        return top <= low or whole or _small_flushed(d, n, terms, c, top)

    return idle(of_c if grouped else max(of_c, of_products), low, terms.grid) and (
        grouped or idle(of_products, min(low, c.lowest - c_bits), min(terms.grid, c.grid))
    )


def _untiny(d: Design, n: int, terms: Bounds, c: Bounds) -> bool:
    """`OtherSums.untiny`: whether no result beside a c without subnormals is subnormal."""
    return (
        d.accumulator is None and d.aligned_group is None and d.alignment_rounding == "RZ"
        and d.zero_exponent == "none" and d.zero_sign != "ieee" and d.rho.mode in NEAREST
        and _few_products(d, n) and c.width <= int(d.c_fraction_bits or 0)
        and d.rho.e_min <= min(terms.lowest - int(d.fraction_bits or 0), c.lowest)
    )  # fmt: skip


def _small_flushed(d: Design, n: int, terms: Bounds, c: Bounds, top: int) -> bool:
    """`OtherSums.small_flushed`: whether a sum of what is as small as 2^top is flushed to +0."""
    bits, c_bits = int(d.fraction_bits or 0), int(d.c_fraction_bits or 0)
    to = d.rho if d.accumulator is None else d.step
    k = max(0, terms.bits - bits, c.bits - c_bits)
    plain = d.zero_sign == "positive" or d.accumulator is not None
    room = to.e_min - 1 - (top - k)
    if d.aligned_group is not None or d.alignment_rounding != "RZ" or d.result_subnormals == "kept":
        return False

    def most(b: Bounds, own: int) -> int:
        return b.most << (own + k - b.bits) if b.lowest - own <= top else 0

    total = n * (most(terms, bits) + (1 << k)) + most(c, c_bits)
    return plain and to.fraction_bits >= 1 and room >= 0 and total <= 1 << room


def after_sign_idle(unit: UnitSpec) -> bool:
    """`OtherSums.after_sign_free`: whether no sum but zero is rounded to zero after c is added."""
    d, to, c = unit.design, unit.design.rho, unit.c_format
    low = sum(least(f) - (d.exponent_step - 1) for f in (unit.a_format, unit.b_format))
    return (
        alone(unit) and unit.scale_format is None and d.c_position == "after" and d.zero_sign == "sum"
        and d.result_subnormals == "kept" and d.product_rounding is None and d.zero_terms is None
        and whole(d) and d.carry_bits is None and d.zero_exponent == "none"
        and not d.normalise_operands and not d.normalise_products
        and "hidden_bit" not in (*operand_rules(d), d.c_subnormals)
        and d.fraction_bits is not None and to.integer_bits is None and range_ok(to)
        and to.e_min - to.fraction_bits <= min(least(c) - c.fraction_bits, low - d.fraction_bits)
    )  # fmt: skip


def sum_of_groups(unit: UnitSpec) -> bool:
    """Whether a block is one sum of groups of products and c, as the theorems on such sums have it."""
    d = unit.design
    return (
        one_sum_of_terms(unit) and d.group is not None and d.zero_terms is None and one_nan(unit)
        and unit.scale_format is not None and unit.emulation is None
    )  # fmt: skip


def rounded_terms_idle(unit: UnitSpec) -> bool:
    """`RoundedTerms.rounded_free`: whether products fit into what they are rounded to, and c into results."""
    d, exact, c, out = unit.design, exact_bounds(unit), unit.c_format, unit.design.rho
    f, zero = d.fraction_bits, d.zero_exponent
    if d.product_rounding is None or exact is None or f is None:
        return False
    to = d.product_conversion
    rules = (d.carry_bits, d.alignment_rounding, d.c_subnormals, d.product_limit, d.result_subnormals)
    top = _ceiling(exact)
    low, room = max(least(c), out.e_min), out.e_max - top - 1
    least_result = out.e_min - out.fraction_bits
    grid = min(exact.grid - to.fraction_bits, least(c) - c.fraction_bits, least_result)
    return (
        one_sum(unit) and one_nan(unit) and unit.scale_format is None and unit.emulation is None
        and to.integer_bits is None and rules == (None, "RZ", "kept", None, "kept") and d.zero_sign != "ieee"
        and range_ok(to) and range_ok(out) and to.e_min <= exact.grid and top <= to.e_max
        and low - f <= grid and low <= exact.grid
        and (zero == "none" or (isinstance(zero, int) and zero - f <= grid))
        and least_result <= grid and c.fraction_bits <= out.fraction_bits
        and c.exponent_bits >= CODES and highest(c) <= out.e_max
        and room >= 0 and (1 << f) + block_size(unit) <= 1 << room
    )  # fmt: skip
