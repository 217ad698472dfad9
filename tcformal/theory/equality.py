"""Two designs that no input tells apart, by theorems on their parameters: both have one normal form."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

from tcformal.design.rounding import EXACT_SUM, NEAREST, Conversion, deciding_bits, overflows_to_infinity
from tcformal.design.spec import Design
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.semantics.chain import same_definition
from tcformal.theory.claims import at_once, sound
from tcformal.theory.constants import (
    alone,
    always_infinite,
    converted_to,
    down_blocks_ok,
    highest,
    least,
    one_nan,
    one_sum,
    one_sum_of_terms,
    parts_ok,
    start_format,
    term_facts,
    unit_designs,
    value_only,
    whole,
)
from tcformal.theory.design import (
    Sum,
    block_size,
    coq_composition,
    coq_conversion,
    coq_design,
    coq_sum,
    coq_summation,
    tree_sum,
    without_theorem,
)
from tcformal.theory.integer_theorems import integer_form
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
_CODES = 2


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
    ranged = all(x.target.integer_bits is None and _range_ok(x.target) for x in made.sums())
    return made if ranged else None


def summation(unit: UnitSpec, root: Sum) -> str:
    """A term of type `summation`, without parentheses."""
    inner = root.operands[0]
    if unit.tree is not None:
        return f"InSteps {root.written()}"
    return f"CLast Together {inner.stage} {root.stage}" if isinstance(inner, Sum) else f"OneSum {root.stage}"


def kept_sums(unit: UnitSpec, root: Sum, terms: Bounds) -> Sum:
    """`Flushes.kept_summation`: the same sums, results of which none is subnormal kept as c is, or not."""
    flushed, whole = unit.design.c_subnormals in ZEROS, unit.tree is not None
    plain = "signed_zero" if flushed else "kept"
    # Results of a sum of products before c are taken as they are.
    known = {"c": flushed, "zero": True}

    def made(x: Sum) -> Sum:
        normal = [whole and flushed if isinstance(y, Sum) else known.get(str(y), False) for y in x.operands]
        kept = all(
            _never_flushed(x.design, x.target, list(zip(_operands(x, terms, c), normal, strict=True)))
            for c in first_c(unit, root)
        )
        d = replace(x.design, result_subnormals=plain) if kept else x.design
        return Sum(d, x.target, tuple(made(y) if whole and isinstance(y, Sum) else y for y in x.operands))

    return made(root) if whole or isinstance(root.operands[0], Sum) else root


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
    return [_of_format(start_format(unit)), _of_result(root.target)]


def _plain(x: Sum, terms: Bounds, cs: list[Bounds], *, in_steps: bool) -> tuple[Sum, list[Bounds]]:
    """The sum with plain values, and what is known of its result as it is, for each c."""
    plain = {
        i: _plain(y, terms, cs, in_steps=in_steps) for i, y in enumerate(x.operands) if isinstance(y, Sum)
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
            normal and to.e_min <= b.lowest and b.width >= 0 and b.bits >= 0 and b.most < 2 << b.bits
            for b, normal in coarse
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
    return magnitude <= ((2 << to.fraction_bits) - 1) << (last - unit)


def _grid(bs: list[Bounds]) -> int:
    return min(b.grid for b in bs)


def _sum_grid(d: Design, bs: list[Bounds]) -> int:
    """`Stages.sum_grid`: the exponent of a power of two of which a sum is a multiple."""
    if d.fraction_bits is None or d.normalise_products:
        return _grid(bs)
    return max(_grid(bs), min(b.lowest for b in bs) - d.fraction_bits)


def product_bounds(unit: UnitSpec) -> Bounds | None:
    """`Stages.term_bounds`: what is known of every product, by the formats of its factors or its rounding."""
    if unit.design.product_rounding is None:
        return exact_bounds(unit)
    to = unit.design.product_conversion
    return _of_result(to) if to.integer_bits is None and _range_ok(to) else None


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
    return reduce(_times, [*factors, *([] if scale is None else [_of_format(scale)] * 2)])


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
    """The design with the mode of its rounding of products, and what overflows, where neither matters.

    `ProductRounding.same_rounding`: they do not where products have no more bits than that keeps.
    """
    d, b = unit.design, _short_products(unit)
    if b is None or not (_none_over(b, d.product_conversion) or always_infinite(d, d.product_conversion)):
        return d
    return replace(
        d, product_rounding=f"RNE-{str(d.product_rounding).partition('-')[2]}", overflow="infinity",
        result_subnormals="signed_zero" if d.result_subnormals == "tiny_zero" else d.result_subnormals,
    )  # fmt: skip


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
    made, to = _of_format(f), converted_to(unit)
    if to is not None:
        low, wider = least(to), max(0, least(to) - made.lowest)
        made = replace(made, lowest=low, upto=max(low, made.upto), low_upto=low, width=made.width + wider)
    return replace(made, lowest=min(made.lowest, made.grid)) if unit.design.normalise_operands else made


def _times(x: Bounds, y: Bounds) -> Bounds:
    low, bits, width = max(x.low_upto + y.top, x.top + y.low_upto), x.bits + y.bits, x.width + y.width
    return Bounds(x.most * y.most, bits, x.lowest + y.lowest, x.grid + y.grid, x.top + y.top, low, width)


def _of_format(f: Format) -> Bounds:
    low, bits = least(f), f.fraction_bits
    top = max(low, highest(f))
    return Bounds((2 << bits) - 1, bits, low, low - bits, top, low, bits)


def _of_result(to: Conversion) -> Bounds:
    bits = to.fraction_bits
    return Bounds((2 << bits) - 1, bits, to.e_min, to.e_min - bits, to.e_max, to.e_min, bits + 1)


def _range_ok(to: Conversion) -> bool:
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
        and all(_flushed(x.design, x.target) and "c" not in x.operands for x in inner.sums())
    ):  # fmt: skip
        return None
    if _sum_result(inner, _operands(inner, terms, _of_format(start))).grid < to.e_min + to.fraction_bits + 2:
        return None
    made = _of_kept_c(root)
    return replace(made, design=replace(made.design, zero_sign="positive", result_subnormals="signed_zero"))


def _flushed(d: Design, to: Conversion) -> bool:
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
        least(f) + _of_format(other).upto
        for f, other in pairs
        if every or (to is not None and least(to) != least(f))
    )
    return made if scale is None else made + 2 * _of_format(scale).upto


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
    if x.design.result_subnormals != "kept" or not _range_ok(to):
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


def _framed_products(unit: UnitSpec) -> Bounds | None:
    """What is known of whole products of sums whose c is aligned apart; None of other sums."""
    d = unit.design
    plain = alone(unit) and d.framed and whole(d) and d.zero_terms is None and _range_ok(d.rho)
    return product_bounds(unit) if plain and d.rho.integer_bits is None else None


def plain_frame(unit: UnitSpec) -> Design | None:
    """`OtherSums.plainer_frame`: sums whose c is aligned apart, each idle parameter at its plain value."""
    d, terms, n = unit.design, _framed_products(unit), block_size(unit)
    if terms is None or d.c_subnormals == "hidden_bit" or d.step.integer_bits is not None:
        return None
    cases = [(terms, _of_format(unit.c_format)), (terms, _of_result(d.rho))]
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
    down = d.rho.mode in ("RZ", "RO") and all(_range_ok(t) and t.e_max <= d.rho.e_max for t in first)
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
            for c in (_of_format(unit.c_format), _of_result(to))
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
        and d.fraction_bits is not None and to.integer_bits is None and _range_ok(to)
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
    top = (exact.most - 1).bit_length() + exact.top - exact.bits
    low, room = max(least(c), out.e_min), out.e_max - top - 1
    least_result = out.e_min - out.fraction_bits
    grid = min(exact.grid - to.fraction_bits, least(c) - c.fraction_bits, least_result)
    return (
        one_sum(unit) and one_nan(unit) and unit.scale_format is None and unit.emulation is None
        and to.integer_bits is None and rules == (None, "RZ", "kept", None, "kept") and d.zero_sign != "ieee"
        and _range_ok(to) and _range_ok(out) and to.e_min <= exact.grid and top <= to.e_max
        and low - f <= grid and low <= exact.grid
        and (zero == "none" or (isinstance(zero, int) and zero - f <= grid))
        and least_result <= grid and c.fraction_bits <= out.fraction_bits
        and c.exponent_bits >= _CODES and highest(c) <= out.e_max
        and room >= 0 and (1 << f) + block_size(unit) <= 1 << room
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Form:
    """A unit, its sums where these are at plain values, and the design that its products are rounded as."""

    unit: UnitSpec
    sums: Sum | None = None
    rounded: Design | None = None

    @property
    def text(self) -> str:
        """A term of type `design`."""
        sums = None if self.sums is None else summation(self.unit, self.sums)
        return coq_design(self.unit, sums, self.rounded)

    @property
    def root(self) -> Sum | None:
        """Its sums, where theorems are about such."""
        return sums_of(self.unit) if self.sums is None else self.sums


@dataclass(frozen=True, slots=True)
class IdleAxis:
    """Parameters set to other values that give the same results on all words.

    Shapes: `proof` is a term of type `compute before w = compute after w`, for words `w` with products (`N`),
    in which `d` is the design before, `s` its sum, `S` a proof of that, and `O` a proof of `condition`.
    """

    theorem: str
    after: Form
    condition: str
    proof: str
    with_sum: bool = False
    #: The only number of products that it is about (`L`); None for all.
    length: int | None = None
    #: It is about a c whose word is 0 (`Z`).
    zero_c: bool = False


def _idle(
    theorem: str, after: Form, condition: str, given: str = "", rest: str = "w O N", *,
    with_sum: bool = False, length: int | None = None,
) -> IdleAxis:  # fmt: skip
    """A theorem whose condition is a function of the design and of what else it is given."""
    d = f"d {given}".rstrip()
    return IdleAxis(theorem, after, f"{condition} {d} = true", f"{theorem} {d} {rest}", with_sum, length)


def normal_form(unit: UnitSpec, *, zero_c: bool = False) -> tuple[str, tuple[str, ...]]:
    """The record of a design with every idle parameter at one value, and the theorems, in the order of use.

    Two units of one normal form give the same results on all words that both take; `zero_c`: with c = +0.
    """
    made = idle_axes(unit, zero_c=zero_c)
    last = made[-1].after if made else Form(unit)
    return last.text, tuple(x.theorem for x in made)


def idle_axes(unit: UnitSpec, *, zero_c: bool = False) -> tuple[IdleAxis, ...]:
    """The changes from a unit to its normal form, each of the design that the one before left."""
    axes = () if without_theorem(unit) else (*_AXES, _from_zero) if zero_c else _AXES
    made: list[IdleAxis] = []
    form = Form(unit)

    def changes(x: IdleAxis) -> bool:
        return x.after.unit != form.unit or x.after.text != form.text

    while found := next((x for axis in axes if (x := axis(form)) is not None and changes(x)), None):
        made.append(found)
        form = found.after
    return tuple(made)


def _changed(unit: UnitSpec, **values: object) -> Form:
    return Form(replace(unit, design=replace(unit.design, **values)))  # type: ignore[arg-type]


def _one_sum(unit: UnitSpec) -> str:
    return f"({coq_sum(unit.design, unit.design.rho)})"


def _same_record(unit: UnitSpec) -> IdleAxis | None:
    """Parameters that the record has not: how integers are added; subnormals of B where they are as A's."""
    changes: dict[str, object] = {"b_subnormals": None}
    if unit.design.accumulation == "sign_magnitude":
        changes = {"accumulation": "twos_complement", **changes}
    for name, value in changes.items():
        after = _changed(unit, **{name: value})
        if after.unit != unit and after.text == coq_design(unit):
            return IdleAxis("eq_refl", after, "true = true", "eq_refl (compute d w)")
    return None


def _normalised_operands(unit: UnitSpec) -> IdleAxis | None:
    """Sums that see the values of their terms alone do not tell whether subnormal factors were normalised.

    Nor do groups, nor any sums where no subnormal factor is left.
    """
    if not unit.design.normalise_operands:
        return None
    after = _changed(unit, normalise_operands=False)
    if sum_of_groups(unit) and unit.design.fraction_bits is not None:
        return _idle("group_factors_idle", after, "group_factors_free")
    if value_only(unit) or {*operand_rules(unit.design)} <= {*ZEROS}:
        return _idle("normalised_factors_idle", after, "value_only d || flushed_factors", rest="w O")
    return None


def _framed(unit: UnitSpec) -> IdleAxis | None:
    """Parameters of sums whose c is aligned apart from the products, which their operands do not tell."""
    plain = plain_frame(unit)
    if plain is None:
        return None
    after = Form(replace(unit, design=plain))
    return _idle("idle_other_sums", after, "idle_other_design", f"({coq_summation(after.unit)})")


def _low_c(unit: UnitSpec) -> IdleAxis | None:
    """Subnormals of a c that is aligned apart from far larger products, where such results are flushed."""
    if not low_c_idle(unit):
        return None
    frame = f"({coq_summation(unit).removeprefix('Framed ')})"
    after = _changed(unit, c_subnormals="signed_zero")
    return _idle("flushed_c_idle", after, "flushed_c_free", frame, "w eq_refl O N")


def _after_sign(unit: UnitSpec) -> IdleAxis | None:
    """The sign of zeros where c is added before a sum is rounded, and no other one is rounded to 0."""
    if not after_sign_idle(unit):
        return None
    after = _changed(unit, zero_sign="positive")
    return _idle("after_sign_idle", after, "after_sign_free", _one_sum(unit), "_ w eq_refl O N")


def _groups(unit: UnitSpec) -> IdleAxis | None:
    """Sums of groups do not tell an exponent of zeros below all others.

    Where no result rounds to zero, they do not tell the sign of one that does.
    """
    d, to, scale, c = unit.design, unit.design.rho, unit.scale_format, unit.c_format
    zero = None if d.normalise_products else d.zero_exponent
    products = product_bounds(replace(unit, scale_format=None))
    if not sum_of_groups(unit) or scale is None or d.c_subnormals == "hidden_bit" or not _range_ok(to):
        return None
    if isinstance(zero, int) and zero <= min(2 * least(scale), least(c), to.e_min):
        changed = _changed(unit, zero_exponent="none")
        return _idle("group_zero_idle", changed, "group_zero_free", _one_sum(unit), "w eq_refl O N")
    if products is None or d.carry_bits is not None or d.zero_sign != "sum" or d.result_subnormals != "kept":
        return None
    # `GroupTerms.group_grid`: terms of groups, and c, are multiples of 2^this.
    terms, last = products.grid + 2 * (least(scale) - scale.fraction_bits), to.e_min - to.fraction_bits
    if last > min(terms, least(c) - c.fraction_bits):
        return None
    changed = _changed(unit, zero_sign="positive")
    return _idle("group_sign_idle", changed, "group_sign_free", _one_sum(unit), "w eq_refl O N")


def _order(unit: UnitSpec) -> IdleAxis | None:
    """Which of two neighbours is first does not matter where a block's products are in one sum."""
    d = unit.design
    other = d.framed or d.summation in ("tr", "gtr") or d.c_position == "after" or d.lost_bits != "cut"
    if (
        d.order == "ascending" or not at_once(unit) or d.negated not in ("none", "all") or d.group is not None
        or not ((one_nan(unit) and parts_ok(unit)) or (other and alone(unit)))
    ):  # fmt: skip
        return None
    return _idle("pair_order_idle", _changed(unit, order="ascending"), "pairs_free")


def _overflow(unit: UnitSpec) -> IdleAxis | None:
    """Numbers that are too large are infinities where every rounding makes them so: to nearest, they are."""
    d = unit.design
    if (
        d.overflow == "infinity" or d.framed or d.summation in ("tr", "gtr") or d.lost_bits != "cut"
        or d.c_position == "after" or d.product_rounding is not None or not one_nan(unit)
        or not parts_ok(unit)
        or not all(always_infinite(of, t) for of in unit_designs(unit) for t in (of.rho, of.step))
    ):  # fmt: skip
        return None
    return _idle("overflow_idle", _changed(unit, overflow="infinity"), "overflow_free")


def _rounded_down(unit: UnitSpec) -> str:
    return f"({coq_summation(unit).removeprefix('RoundedDown ')})"


def _down(unit: UnitSpec) -> IdleAxis | None:
    """The same of sums that are rounded down; and of zeros of their sign, where only zero gives zero."""
    d = unit.design
    if d.summation not in ("tr", "gtr") or not one_nan(unit) or not parts_ok(unit):
        return None
    sign = "positive" if down_blocks_ok(unit) else d.zero_sign
    after = _changed(unit, zero_sign=sign, overflow="infinity" if always_infinite(d, d.rho) else d.overflow)
    return _idle("plain_down_idle", after, "overflow_free", rest=f"{_rounded_down(unit)} w eq_refl O N")


def _halves(unit: UnitSpec) -> IdleAxis | None:
    """Of a block in two halves either is first."""
    d = unit.design
    if (
        d.order == "ascending" or d.summation != "gtr" or not one_nan(unit) or unit.emulation is not None
        or block_size(unit) % 2 or unit.k % 2 or not whole(d)
    ):  # fmt: skip
        return None
    rest = f"{_rounded_down(unit)} w eq_refl O N (f_equal Nat.even L)"
    after = _changed(unit, order="ascending")
    return _idle("halves_order_idle", after, "halves_free", rest=rest, length=unit.k)


def _large(unit: UnitSpec) -> IdleAxis | None:
    """What overflows does not matter where nothing does: products are cut off beside a c that is so large."""
    d, f, start = unit.design, unit.design.fraction_bits, start_format(unit)
    factors = [unit.a_format, unit.b_format]
    factors += [] if unit.scale_format is None else [unit.scale_format] * 2
    room = d.rho.e_max - sum(highest(x) + 1 for x in factors)
    if (
        d.overflow == "infinity" or term_facts(unit) is None or not sound(unit) or d.carry_bits is not None
        or f is None or d.alignment_rounding != "RZ" or d.normalise_products or unit.emulation is not None
        or any(x.exponent_bits < _CODES for x in (*factors, start))
        or room < 0 or (1 << f) + block_size(unit) > 1 << room
        or start.fraction_bits > d.rho.fraction_bits or highest(start) > d.rho.e_max
    ):  # fmt: skip
        return None
    after = _changed(unit, overflow="infinity")
    return _idle("overflow_never_idle", after, "overflow_never", rest="s Infinite w S O N", with_sum=True)


def _rounded(unit: UnitSpec) -> IdleAxis | None:
    """Products that fit into what they are rounded to, and their sums, are not too large nor normalised."""
    if not rounded_terms_idle(unit):
        return None
    after = _changed(unit, normalise_products=False, overflow="infinity", zero_sign="positive")
    return _idle("rounded_terms_idle", after, "rounded_free")


def _composed(unit: UnitSpec) -> IdleAxis | None:
    """A composition of calls, each from the sum before it, is the tree of their sums."""
    how, word = unit.emulation, unit.d_format
    with suppress(InputError):
        tree = None if how is None else tree_of(unit, unit.k)
        if how is None or tree is None or tree.tree is None:
            return None
        root, last, to = sums_of(tree), how.addition, unit.design.rho
        rules = {last.operand_subnormals, last.c_subnormals}
        # The word 0 is a +0 as partial sums are.
        zero = word.has_zero and to.integer_bits is None
        if root is None or rules != {unit.design.c_subnormals} or not zero:
            return None
        if (least(word), word.fraction_bits) != (to.e_min, to.fraction_bits):
            return None
        design = replace(tree.design, nan_word=last.nan_word)
        tree = replace(tree, tree=replace(tree.tree, converted=how.converted), design=design)
        calls = f"({coq_composition(how)})"
        return IdleAxis(
            "composed_tree", Form(tree, Sum(last, last.rho, root.operands)),
            f"tree_of_calls d {calls} {unit.k}%nat = true",
            f"composed_tree d {calls} {_one_sum(unit)} {unit.k}%nat w eq_refl eq_refl O L", length=unit.k,
        )  # fmt: skip
    return None


#: Orders of sums, and where c is, of which `StepNans.order_as_steps` gives the words of NaNs.
_NAN_CHAINS = (("sequential", "first"), ("two_chains", "last"))


def _in_steps(unit: UnitSpec) -> IdleAxis | None:
    """Sums in an order are the tree of their steps: of one block, or of all where NaNs are one word.

    So are fused ones of one product each, which are a chain's.
    """
    d, blocks = unit.design, -(-unit.k // block_size(unit))
    chains = (d.summation, d.c_position) in _NAN_CHAINS and d.nan_rule != "products_c"
    # A step of two products has them in the order of k here, and as they are taken in the theorem.
    one_each = (d.summation, d.c_position) == ("sequential", "first")
    if not (
        alone(unit) and (d.order == "ascending" or (blocks == 1 and one_each))
        and (
            (d.summation not in ("fused", "tr", "gtr") and d.c_position in ("first", "last"))
            or ((d.summation, d.c_position) == ("fused", "joined") and block_size(unit) == 1)
        )
        and (one_nan(unit) or (blocks == 1 and chains))
        and _taken_whole(d, d.rho) and _taken_whole(d, d.step)
    ):  # fmt: skip
        return None
    with suppress(InputError):
        tree = tree_of(unit, unit.k)
        if tree is not None and block_size(unit) * blocks == unit.k:
            sums, several = f"({coq_summation(tree)})", f" {unit.k}%nat" if blocks > 1 else ""
            how = "as_one_block" if several else "as_steps"
            return IdleAxis(
                f"order_{how}", Form(tree), f"{how} d{several} = Some {sums}",
                f"order_{how} d {sums}{several} w O L", length=unit.k,
            )  # fmt: skip
    return None


def _taken_whole(d: Design, to: Conversion) -> bool:
    """`StepNans.taken_whole`: whether what becomes of subnormals of c changes no sum of this conversion."""
    floating = d.c_subnormals != "hidden_bit" and to.integer_bits is None and to.e_min <= to.e_max
    return d.c_subnormals == "kept" or (floating and _flushed(d, to))


def _sums(form: Form) -> IdleAxis | None:
    """Parameters of sums, of those in a tree too, whose operands do not tell them."""
    unit, root, terms = form.unit, form.root, product_bounds(form.unit)
    if root is None or terms is None:
        return None
    plain = _plain(root, terms, first_c(unit, root), in_steps=unit.tree is not None)[0]
    after, sums = replace(form, sums=plain), f"({summation(unit, plain)})"
    if not one_nan(unit):
        return _idle("idle_steps_words", after, "idle_words", sums, "w O")
    return _idle("idle_sums", after, "idle_design", sums)


def _from_zero(form: Form) -> IdleAxis | None:
    """The same of one block from c = +0, which is a multiple of everything."""
    unit, root, terms, c = form.unit, form.root, product_bounds(form.unit), form.unit.c_format
    if root is None or terms is None or not (
        one_nan(unit) and unit.emulation is None and unit.k == block_size(unit) and c.has_zero
    ):  # fmt: skip
        return None
    known = _of_format(c)
    zero = replace(known, grid=known.upto, upto=known.low_upto)
    plain = _plain(root, terms, [zero], in_steps=unit.tree is not None)[0]
    after, sums = replace(form, sums=plain), f"({summation(unit, plain)})"
    condition, proof = f"idle_from_zero d {sums} = true", f"idle_sums_from_zero d {sums} w O L Z"
    return IdleAxis("idle_sums_from_zero", after, condition, proof, length=unit.k, zero_c=True)


def _factors(form: Form) -> IdleAxis | None:
    """Factors that are converted, or normalised, where nothing is cut off beside those that differ."""
    root = form.root
    if root is None or not one_nan(form.unit) or not factors_idle(form.unit, root):
        return None
    return _idle("factors_idle", replace(form, unit=plain_factors(form.unit), sums=root), "factors_free")


def _tidied(form: Form) -> IdleAxis | None:
    """Trees of sums that see values alone, and the signs of rounded products that are zero."""
    root, d = form.root, form.unit.design if form.rounded is None else form.rounded
    tidy = None if root is None or not one_nan(form.unit) else tidied(form.unit, root)
    if tidy is None:
        return None
    after = replace(form, sums=tidy)
    if d.product_rounding is not None and d.product_conversion.integer_bits is None:
        always = always_infinite(d, d.product_conversion)
        d = replace(d, zero_sign="positive", overflow="infinity" if always else d.overflow)
        made = {"unit": replace(form.unit, design=d)} if form.rounded is None else {"rounded": d}
        after = replace(after, **made)
    return _idle("tidy_idle", after, "tidy_free")


def _apart(form: Form) -> IdleAxis | None:
    """c beside a sum that is not rounded, as c beside the same sum in a format that has it."""
    root = None if form.sums is not None else apart_sums(form.unit)
    if root is None or not isinstance(root.operands[0], Sum):
        return None
    to = root.operands[0].target
    given = f"{_one_sum(form.unit)} ({to.e_min}) ({to.e_max}) {to.fraction_bits}"
    return _idle("apart_idle", replace(form, sums=root), "apart_free", given, "w eq_refl O N")


def _flushes(form: Form) -> IdleAxis | None:
    """Results that would be flushed if they were subnormal, where none is."""
    root, terms = form.root, product_bounds(form.unit)
    if root is None or terms is None or not one_nan(form.unit):
        return None
    kept = kept_sums(form.unit, root, terms)
    sums = f"({summation(form.unit, kept)})"
    return _idle("flushes_idle", replace(form, sums=kept), "kept_design", sums)


def _exact_products(unit: UnitSpec) -> IdleAxis | None:
    """Roundings of products that are exact, where sums see the values of products alone."""
    after = _changed(unit, product_rounding=None)
    if unit.emulation is not None or not one_nan(unit):
        return None
    if not exact_rounding(unit) or not value_only(after.unit):
        return None
    return _idle("product_rounding_idle", after, "rounding_free", "None")


def _modes_of_products(form: Form) -> IdleAxis | None:
    """The mode of roundings of products that are exact or flushed, and what overflows."""
    unit, d = form.unit, form.unit.design
    if form.rounded is not None or d.product_rounding is None or not whole(d) or unit.emulation is not None:
        return None
    rounded = plain_rounding(unit)
    to = f"(Some (Floating {coq_conversion(rounded, rounded.product_conversion)}))"
    return _idle("product_rounding_idle", replace(form, rounded=rounded), "rounding_free", to)


def _normal_products(form: Form) -> IdleAxis | None:
    """A rounding of products that only normalises them, as the sum may do."""
    unit, root = form.unit, form.root
    plain = None if root is None else normal_products(unit, root)
    if plain is None:
        return None
    after, sums = Form(_changed(unit, product_rounding=None).unit, plain), f"({summation(unit, plain)})"
    condition, proof = f"normal_products d = Some {sums}", f"normal_products_idle d {sums} w O L"
    return IdleAxis("normal_products_idle", after, condition, proof, length=unit.k)


def _rule(form: Form) -> IdleAxis | None:
    """What a subnormal c counts as, beside a sum that is far larger, or zero."""
    unit = form.unit
    plain = None if unit.tree is None or form.sums is None else rule_idle(unit, form.sums)
    if plain is None:
        return None
    after = replace(form, unit=_changed(unit, c_subnormals="kept").unit, sums=plain)
    sums = f"({summation(unit, plain)})"
    condition, proof = f"plain_rule d = Some {sums}", f"rule_idle d {sums} w O L"
    return IdleAxis("rule_idle", after, condition, proof, length=unit.k)


def _of_unit(axis: Callable[[UnitSpec], IdleAxis | None]) -> Callable[[Form], IdleAxis | None]:
    """An axis of units whose sums, and roundings of products, are as they are."""
    return lambda form: axis(form.unit) if form.sums is None and form.rounded is None else None


_OF_UNITS = (
    _composed, _same_record, _in_steps, _order, _halves, _overflow, _down, _large, _normalised_operands,
    _groups, _exact_products, _framed, _low_c, _after_sign, _rounded,
)  # fmt: skip
_AXES: tuple[Callable[[Form], IdleAxis | None], ...] = (
    *map(_of_unit, _OF_UNITS), _apart, _sums, _factors, _flushes, _rule, _modes_of_products, _normal_products,
    _tidied,
)  # fmt: skip
#: What a proof by theorems begins with.
BY_THEOREM = "theorem"
#: The proof of a step in which the records of the specification are one, which needs no theorem.
_NO_THEOREM = "eq_refl"


@dataclass(frozen=True, slots=True)
class EqualByTheorem:
    """Two designs that give the same results on all dot products of one length, and why."""

    first: UnitSpec
    second: UnitSpec
    #: The theorems about parameters that cannot matter, each once, in the order of their use.
    theorems: tuple[str, ...]

    @property
    def reason(self) -> str:
        """One sentence."""
        return f"no parameter that differs can matter: {self.text}"

    @property
    def text(self) -> str:
        """The theorems in one clause."""
        if not self.theorems:
            return "the definitions are the same"
        return f"{BY_THEOREM}{'s' if len(self.theorems) > 1 else ''} {', '.join(self.theorems)}"

    def to_json(self) -> dict[str, list[str]]:
        """The theorems as plain data."""
        return {"theorems": list(self.theorems)}


def equal_by_theorem(
    first: UnitSpec, second: UnitSpec, k: int, *, zero_c: bool = False
) -> EqualByTheorem | None:
    """The theorems by which two units give the same results for every dot product of k terms, or None.

    `zero_c`: where c is +0.
    Shapes: words of 0 fill whole calls up; None where one unit's calls take more of them than the other's,
    unless these are integers.
    """
    if not same_formats(first, second):
        return None
    if first.d_format.integer:
        of_first, of_second = (integer_form(unit, k, zero_c=zero_c) for unit in (first, second))
        if of_first is not None and of_second is not None and of_first.key == of_second.key:
            both = (*of_first.theorems, *of_second.theorems)
            zeros = ("zeros_idle",) if _filled(first, k) != _filled(second, k) else ()
            return EqualByTheorem(first, second, tuple(dict.fromkeys((*both, *zeros))))
        return EqualByTheorem(first, second, ()) if same_definition(first, second, k) else None
    length = _filled(first, k)
    if length != _filled(second, k):
        return None
    one, two = (in_one_way(unit, length) for unit in (first, second))
    with suppress(InputError):
        texts = [[*_forms(unit, way, length, zero_c=zero_c)] for unit, way in ((first, one), (second, two))]
        for (text, used), (other, of_other) in itertools.product(*texts):
            if text == other:
                names = (name for name in (*used, *of_other) if name != _NO_THEOREM)
                return EqualByTheorem(first, second, tuple(dict.fromkeys(names)))
    return EqualByTheorem(first, second, ()) if same_definition(one, two, length) else None


def _forms(unit: UnitSpec, way: UnitSpec, k: int, *, zero_c: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The normal forms of a unit: `way` as it is, and as a tree where the definition is the same."""
    yield _form(way, zero_c=zero_c)
    if way.tree is None and way.emulation is None and way.design.summation == "fused":
        made = tree_of(way, k)
        if made is not None and same_definition(made, unit, k):
            yield _form(made, zero_c=zero_c)


# One design is compared with all that one parameter makes of it.
_form = lru_cache(maxsize=64)(normal_form)


@lru_cache(maxsize=64)
def in_one_way(unit: UnitSpec, k: int) -> UnitSpec:
    """The unit with its sums in blocks of products, or else as a tree, where the definition is the same.

    Calls of blocks are one call of as many.
    """
    if unit.emulation is None and unit.tree is None:
        unit = replace(unit, k=k, design=replace(unit.design, products=min(unit.k, unit.design.products)))
    d = unit.design
    if unit.tree is not None or (
        unit.emulation is None and (d.summation, d.c_position) == ("fused", "joined")
    ):
        return in_blocks(unit, k)
    if unit.emulation is None:
        with suppress(InputError):
            made = tree_of(unit, k)
            if made is not None and same_definition(made, unit, k):
                return made
    return unit


def in_blocks(unit: UnitSpec, k: int) -> UnitSpec:
    """A tree of sums whose definition is that of blocks of products as such; any other unit as it is."""
    if unit.tree is None or k != unit.k:
        return unit
    sizes = {sum(isinstance(x, int) for x in step.children) for step in unit.tree.root.steps()} - {0}
    for length in sizes if len(sizes) == 1 else ():
        with suppress(InputError):
            made = replace(unit, tree=None, design=replace(unit.design, products=length))
            if same_definition(made, unit, k):
                return made
    return unit


def _filled(unit: UnitSpec, k: int) -> int:
    """The products of whole calls that take k."""
    return -(-k // unit.k) * unit.k
