"""Constants of sums in which c keeps more bits than the products (RDNA3's), rounded once or twice."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tcformal.bounds.recurrence import as_much
from tcformal.bounds.theorems import MARGIN, Proved, Sides, Theorems
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.catalog import format_named
from tcformal.proofs.statements.framed_bound import framed_loss
from tcformal.proofs.statements.product_loss import block_of
from tcformal.proofs.statements.relative_bound import relative_constant, relative_sum
from tcformal.theory.stated_sum import StatedSum, normal_sum

#: The results of sums that are rounded again.
_WIDE = format_named("fp32")


def framed_constant(unit: UnitSpec, length: int, known: Theorems) -> Proved:
    """Of sums in which c keeps more bits than the products: each loses its own part.

    Errors: InputError for a unit whose statement is not written.
    """
    if unit.design.accumulator is not None:
        return _rounded_twice(unit, length, known)
    size = block_of(unit).k
    alone, beside = (framed_loss(unit, size, zero_c=zero) for zero in (True, False))
    blocks = -(-length // size)
    for name in ["relative-error; c=0x0", *["relative-error"] * (blocks > 1)]:
        if not known.holds(unit, name):
            return known.missing()
    stated = known.stated_relative(unit)
    least = stated.base.least + (MARGIN if stated.flushed else 0)
    more = stated.flushed / Fraction(2) ** least
    first, later, other = (x + more for x in (alone.most, beside.beside, beside.most))
    if blocks == 1:
        return Proved(first, None, size, tuple(known.claims), (), least=least, sum=stated.sum)
    first = as_much(first, later, other)
    one, two = (Sides(x.same + more, x.beside + more, x.most + more, x.along + more) for x in (alone, beside))
    return Proved(
        first, other, size, tuple(known.claims), (), least=least, beside=later, sides=(one, two),
        sum=relative_sum(unit, zero_c=False),
    )  # fmt: skip


def _rounded_twice(unit: UnitSpec, length: int, known: Theorems) -> Proved:
    """Of sums that are rounded to fp32 and then to D: a unit that gives the first results, a conversion.

    A block that loses x of some magnitudes before its second rounding, which loses r of the sum, loses
    (1 + x)·(1 + r) - 1 of them after it.
    """
    part, second = _once(unit), _conversion(unit)
    # Two blocks, so that a c that is not zero is spoken of wherever there is one.
    found = framed_constant(part, length if length <= block_of(unit).k else max(length, 2 * part.k), known)
    if found.first is None:
        return found
    if not known.holds(second, "relative-error; c=0x0"):
        return known.missing()
    r = relative_constant(second, 1, zero_c=True)
    # A sum below the least normal number may become 0, which is little beside the largest term.
    least = max(_WIDE.e_min + MARGIN, _WIDE.e_min if found.least is None else found.least)
    tiny = Fraction(2) ** (_WIDE.e_min - least)
    first, other, beside = (
        None if x is None else (1 + x) * (1 + r) - 1 + tiny for x in (found.first, found.other, found.beside)
    )
    assert first is not None
    if other is not None and beside is not None:
        first = as_much(first, beside, other)
    how = (
        f"sums are rounded to {_WIDE.name} as those of {part.name}, which takes every {unit.c_format.name} "
        f"as c, and then by {unit.design.conversion}, which loses r = {r} of them: a block that loses x "
        f"before loses (1 + x)·(1 + r) - 1, and 2^{_WIDE.e_min - least} for sums that become 0"
    )
    return replace(
        found, first=first, other=other, beside=beside, sides=None, claims=tuple(known.claims),
        steps=(*found.steps, how), least=least, sum=_given(unit, found),
    )  # fmt: skip


def _given(unit: UnitSpec, part: Proved) -> StatedSum:
    """The sum of the unit, with a c as the part has it."""
    assert part.sum is not None
    return normal_sum(unit, c=part.sum.c, c_bits=part.sum.c_bits)


def _once(unit: UnitSpec) -> UnitSpec:
    """The unit of the catalogue whose results are this one's sums after their first rounding.

    Errors: InputError where there is none.
    """
    design, wide = unit.design, replace(unit.operands, c=_WIDE, d=_WIDE)
    for part in (resolve(name) for name in distinct_designs()):
        own = part.design
        if part.operands != wide or part.k != unit.k or own.nan_rule != design.nan_rule:
            continue
        # What a NaN is, and the sign of a zero, are no part of an error.
        made = replace(
            design, accumulator=None, conversion=str(design.accumulator), nan_word=own.nan_word,
            factor_nan_word=own.factor_nan_word, zero_sign=own.zero_sign,
        )  # fmt: skip
        if own == made and part.tree is None and part.emulation is None:
            return part
    raise InputError(f"expected a unit with the sums of {unit.name} in {_WIDE.name}, but none is known")


def _conversion(unit: UnitSpec) -> UnitSpec:
    """A result of fp32 times 1, which every format has, rounded as a second time."""
    d = unit.d_format
    if d.exponent_bits != _WIDE.exponent_bits:
        raise InputError(
            f"expected results with the exponents of {_WIDE.name}, but {unit.name} gives {d.name}"
        )
    return resolve(
        f"tfdpa@products=1,a_format={_WIDE.name},b_format=e2m1,c_format={d.name},d_format={d.name},"
        f"fraction_bits={_WIDE.fraction_bits + 1},conversion={unit.design.conversion}"
    )
