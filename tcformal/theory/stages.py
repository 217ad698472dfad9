"""Parameters of a design's sums that cannot matter, by what is known of their operands (`Stages.v`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tcformal.design.rounding import NEAREST, Conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format
from tcformal.theory.conditions import (
    block_size,
    converted_to,
    least,
    one_nan,
    parts_ok,
    start_format,
    term_facts,
)

#: The plain value of each parameter that a stage of a tree may have of its own, and of those of every sum.
_OF_STAGES: dict[str, str | None] = {"zero_exponent": "none", "carry_bits": None}
_EVERYWHERE = {"zero_sign": "positive", "overflow": "infinity"}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of an operand of a sum.

    Ranges and units: the significand is at most `most` in units of 2^-`bits`; `lowest` bounds its exponent,
    `grid` that of its lowest bit where it is not zero.
    """

    most: int
    bits: int
    lowest: int
    grid: int


@dataclass(frozen=True, slots=True)
class _Sum:
    """One sum of a design: what it adds, its parameters, and what it is rounded to."""

    operands: tuple[Bounds, ...]
    design: Design
    target: Conversion


def plainer_sums(unit: UnitSpec) -> UnitSpec | None:
    """The unit with one parameter of its sums at its plain value, which gives the same results; or None."""
    if not _known(unit):
        return None
    for after in _candidates(unit):
        if all(_idle(unit, after, c) for c in _first_c(unit)):
            return after
    return None


def group_zeros_idle(unit: UnitSpec) -> bool:
    """`Stages.group_zero_free`: whether sums of groups do not tell the exponent of zeros."""
    d = unit.design
    if unit.tree is not None or d.group is None or unit.scale_format is None or unit.emulation is not None:
        return False
    if (d.summation, d.c_position, d.lost_bits) != ("fused", "joined", "cut") or d.framed:
        return False
    if (
        d.normalise_products
        or d.zero_terms is not None
        or d.c_subnormals == "hidden_bit"
        or not one_nan(unit)
    ):
        return False
    if d.rho.integer_bits is not None or not _range_ok(d.rho) or not isinstance(d.zero_exponent, int):
        return False
    return d.zero_exponent <= min(2 * least(unit.scale_format), least(start_format(unit)), d.rho.e_min)


def _known(unit: UnitSpec) -> bool:
    """Whether the unit is one that the theorem is about: fused sums, in steps, or with c added last."""
    d = unit.design
    sums = unit.tree is not None or (d.summation == "fused" and d.c_position in ("joined", "last"))
    return (
        sums and one_nan(unit) and parts_ok(unit) and not d.framed and d.group is None
        and d.piece_bits is None and d.lost_bits == "cut" and d.zero_words == "summed"
        and d.zero_terms is None and d.c_subnormals != "hidden_bit"
    )  # fmt: skip


def _candidates(unit: UnitSpec) -> Iterator[UnitSpec]:
    """The unit with one parameter at its plain value."""
    d, tree = unit.design, unit.tree
    for name, plain in _OF_STAGES.items():
        if getattr(d, name) != plain:
            yield replace(unit, design=replace(d, **{name: plain}))  # type: ignore[arg-type]
        for setting in () if tree is None else tree.settings:
            if setting[1] == name and setting[2] != plain:
                settings = tuple((*x[:2], plain) if x is setting else x for x in tree.settings)  # type: ignore[union-attr]
                yield replace(unit, tree=replace(tree, settings=settings))  # type: ignore[type-var]
    if d.product_rounding is None:  # which has them as well
        for name, plain in _EVERYWHERE.items():
            if getattr(d, name) != plain:
                yield replace(unit, design=replace(d, **{name: plain}))  # type: ignore[arg-type]


def _first_c(unit: UnitSpec) -> list[Bounds]:
    """What is known of c: in the first block, and in a later one."""
    d = unit.design
    last = d.rho if unit.tree is None else stage_designs(unit.tree, d)[unit.tree.root.stage].rho
    return [_of_format(start_format(unit)), _of_result(last)]


def _idle(unit: UnitSpec, after: UnitSpec, c: Bounds) -> bool:
    """`Stages.idle_summation`: whether no sum tells a unit from one with another parameter."""
    terms = _terms(unit)
    if terms is None or terms.most < 0:
        return False
    pairs = zip(_sums(unit, terms, c), _sums(after, terms, c), strict=True)
    return all(_idle_sum(before, then) for before, then in pairs)


def _sums(unit: UnitSpec, terms: Bounds, c: Bounds) -> list[_Sum]:
    """The sums of a block, or of a tree."""
    d = unit.design
    if unit.tree is None:
        products = (terms,) * block_size(unit)
        if d.c_position == "joined":
            return [_Sum((*products, c), d, d.rho)]
        return [_Sum(products, d, d.step), _Sum((_of_result(d.step), c), d, d.rho)]
    designs = stage_designs(unit.tree, d)

    def bounds(child: int | str | Step, of: Design) -> Bounds:
        if isinstance(child, Step):
            return _of_result(designs[child.stage].rho)
        return terms if isinstance(child, int) else c if child == "c" else _of_result(of.rho)

    made = []
    for step in unit.tree.root.steps():
        of = designs[step.stage]
        made.append(_Sum(tuple(bounds(x, of) for x in step.children), of, of.rho))
    return made


def _idle_sum(before: _Sum, after: _Sum) -> bool:
    """`Stages.idle_sum`: whether the operands do not tell two sums apart."""
    d, to = before.design, before.target
    if to.integer_bits is not None or not _range_ok(to):
        return False
    if d == after.design:
        return True
    exact = d.fraction_bits is None
    if replace(d, zero_exponent="none") == after.design:
        at = d.zero_exponent
        return not d.normalise_products and not exact and isinstance(at, int) and (
            at <= min(x.lowest for x in before.operands)
        )  # fmt: skip
    if replace(d, carry_bits=None) == after.design:
        return _enough_carry(before)
    if replace(d, zero_sign="positive") == after.design:
        return (
            d.zero_sign == "sum" and d.carry_bits is None and d.result_subnormals == "kept"
            and to.e_min - to.fraction_bits <= _grid(before)
        )  # fmt: skip
    if replace(d, overflow="infinity") == after.design:
        return d.overflow == "ieee" and to.mode in NEAREST
    return False


def _grid(x: _Sum) -> int:
    """`Stages.sum_grid`: the exponent of the lowest bit that a sum can have."""
    grid, f = min(b.grid for b in x.operands), x.design.fraction_bits
    if f is None or x.design.normalise_products:
        return grid
    return max(grid, min(b.lowest for b in x.operands) - f)


def _enough_carry(x: _Sum) -> bool:
    """`Stages.idle_carry`: whether the largest counts of all operands fit into the sum."""
    d = x.design
    if d.fraction_bits is None or d.carry_bits is None or d.normalise_products:
        return False
    f = d.fraction_bits
    away = 0 if d.alignment_rounding == "RZ" else 1
    tops = [b.most << (f - b.bits) if f >= b.bits else b.most >> (b.bits - f) for b in x.operands]
    return sum(tops) + away * len(tops) < 1 << (f + 1 + d.carry_bits)


def _terms(unit: UnitSpec) -> Bounds | None:
    """`Stages.term_bounds`: what is known of every product."""
    d = unit.design
    if d.product_rounding is not None:
        to = d.product_conversion
        return _of_result(to) if to.integer_bits is None and _range_ok(to) else None
    t = term_facts(unit)
    return _converted_terms(unit) if t is None else Bounds(t.most, t.bits, t.low, t.low - t.bits)


def _converted_terms(unit: UnitSpec) -> Bounds | None:
    """`Stages.converted_terms`: what is known of products of factors that are first converted to a format."""
    d, to = unit.design, converted_to(unit)
    rules = {d.operand_subnormals, d.b_subnormals}
    if to is None or unit.scale_format is not None or d.zero_terms is not None or d.normalise_operands:
        return None
    if "hidden_bit" in rules or d.exponent_step != 1:
        return None
    a, b = _of_format(unit.a_format), _of_format(unit.b_format)
    return Bounds(a.most * b.most, a.bits + b.bits, 2 * least(to), a.grid + b.grid)


def _of_format(f: Format) -> Bounds:
    return Bounds((2 << f.fraction_bits) - 1, f.fraction_bits, least(f), least(f) - f.fraction_bits)


def _of_result(to: Conversion) -> Bounds:
    bits = to.fraction_bits
    return Bounds((2 << bits) - 1, bits, to.e_min, to.e_min - bits)


def _range_ok(to: Conversion) -> bool:
    return to.fraction_bits >= 0 and to.e_min <= to.e_max
