"""Constants of one block of a unit, from claims of the kernel."""

from __future__ import annotations

from fractions import Fraction

from tcformal.bounds.claims.framed import framed_constant
from tcformal.bounds.claims.paths import Growth, growth
from tcformal.bounds.recurrence import as_much
from tcformal.bounds.theorems import MARGIN, Proved, Theorems, unproved
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.proofs.claims import register
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.statements.error_bound import ErrorBound
from tcformal.proofs.statements.product_loss import block_of
from tcformal.proofs.statements.relative_bound import beside_constant, relative_constant, relative_sum
from tcformal.proofs.statements.round_down_bound import RoundDownBound
from tcformal.theory.stated_sum import NO_C, normal_sum

#: Blocks of a chain whose first one needs no constant of its own.
_LONG = 32


def claimed_constant(unit: UnitSpec, length: int, known: Theorems) -> Proved:
    """The constants of one block of a unit, from claims that the kernel has checked in this run.

    Shapes: `length` products in all: of one block, `other` is None.
    """
    try:
        if unit.design.framed and unit.tree is None and unit.emulation is None:
            return framed_constant(unit, length, known)
        if unit.design.c_position == "after" or unit.design.lost_bits == "sticky":
            return _added_after(unit, length, known)
        if unit.tree is None and register.of_products(unit):
            try:
                return _truncated(unit, length, known)
            except InputError:
                # A design of which no such statement is written: few fraction bits, a directed rounding.
                return _whole(unit, length, known)
        if unit.tree is not None or unit.design.fraction_bits is None:
            made = _rounded(unit, length, growth(unit, length), known)
            if made.first is not None:
                return made
            known.claims.clear()
        return _whole(unit, length, known)
    except InputError as error:
        return unproved(str(error), tuple(known.claims))


def _truncated(unit: UnitSpec, length: int, known: Theorems) -> Proved:
    """Of one truncated sum of products and c: claim `relative-error`, from c = 0 and then from any c."""
    size, claim = block_of(unit).k, "relative-error"
    blocks = -(-length // size)
    # Of a long chain the first block is like any other: one claim is proved in half the time of two.
    zero_c = blocks < _LONG
    for name in [f"{claim}; c=0x0"] * zero_c + [claim] * (blocks > 1):
        if not known.holds(unit, name):
            return known.missing()
    beside = beside_constant(unit, size)
    first = relative_constant(unit, size, zero_c=True) if zero_c else beside
    stated = relative_sum(unit, zero_c=blocks == 1)
    if blocks == 1:
        return Proved(first, None, size, tuple(known.claims), (), sum=stated)
    other = relative_constant(unit, size, zero_c=False)
    first = as_much(first, beside, other)
    return Proved(first, other, size, tuple(known.claims), (), beside=beside, sum=stated)


def _rounded(unit: UnitSpec, length: int, paths: Growth, known: Theorems) -> Proved:
    """Of exact sums, each rounded: one κ for every rounding, and the path with most of them."""
    kappas = {}
    for step in paths.steps:
        if not known.holds(step, "error-bound"):
            return known.missing()
        kappas[step.name] = relative_loss(known.stated(step))[0]
    first, through, later = paths.factors(kappas)
    how = (
        f"every rounding takes an error of C·Σ|x_k·y_k| to ((1 + C)·(1 + κ) - 1)·Σ|x_k·y_k|, κ = "
        f"{', '.join(map(str, dict.fromkeys(kappas.values())))}: 2^e <= |d| of a normal d, and a sum of one "
        f"number that is a result already is exact; the longest path from a product has {paths.longest}"
    )
    other = max(later, through / first) - 1
    more = length > unit.k
    return Proved(
        first - 1, other if more else None, unit.k, tuple(known.claims), (how,),
        beside=through - 1 if more else None, sum=normal_sum(unit, c=None if more else NO_C),
    )  # fmt: skip


def _added_after(unit: UnitSpec, length: int, known: Theorems) -> Proved:
    """Of a sum that c is added to as it is, or of one with a bit below: c is zero, or `error-bound`."""
    if unit.design.piece_bits is not None or length > unit.k:
        return _whole(unit, length, known)
    if not known.holds(unit, "relative-error; c=0x0"):
        return known.missing()
    stated = known.stated_relative(unit)
    least = stated.base.least + (MARGIN if stated.flushed else 0)
    more = stated.flushed / Fraction(2) ** least
    return Proved(stated.constant + more, None, unit.k, tuple(known.claims), (), least=least, sum=stated.sum)


def _whole(unit: UnitSpec, length: int, known: Theorems) -> Proved:
    """Of a block of any other call: what claim `error-bound` about it gives."""
    block = unit if unit.emulation is not None else block_of(unit)
    stated, more = known.stated(block), length > block.k
    alone = known.stated(block, zero_c=True) if isinstance(stated, RoundDownBound) else None
    for name in ["error-bound; c=0x0"] * (alone is not None) + ["error-bound"] * (alone is None or more):
        if not known.holds(block, name, kept=block.k == unit.k):
            return known.missing()
    if isinstance(stated, RoundDownBound) and isinstance(alone, RoundDownBound):
        return _rounded_down(alone, stated, more, known)
    kappa, least, how = relative_loss(stated)
    other = kappa if more else None
    return Proved(
        kappa, other, block.k, tuple(known.claims), (how,), least=least, beside=other,
        sum=normal_sum(unit, c=stated.sum.c),
    )  # fmt: skip


def _rounded_down(alone: RoundDownBound, beside: RoundDownBound, more: bool, known: Theorems) -> Proved:
    """Of sums whose products have limits P of their own: what is lost of them alone, and of a c beside them.

    With P the largest exponent of the products of a sum, Σ 2^P <= Σ|a_k·b_k| of a block; a sum whose products
    are all zero has the least P, which adds little beside the others.
    """
    margin = MARGIN if len(beside.own) > 1 else 0
    (first, _), (later, other) = (_parts_lost(x, margin) for x in (alone, beside))
    how = (
        "error-bound is at most n·Σ2^P + f·2^E + h·2^e on either side, Σ2^P <= Σ|x_k·y_k|, "
        "2^E <= Σ|x_k·y_k| + |c| and 2^e <= |d| of a normal d: a block loses (n + f + h)/(1 - h) of its own "
        f"products and (f + h)/(1 - h) of c: {first} of the first block's products, {later} of another's, "
        f"{other} of c"
    )
    if more:
        first = as_much(first, later, other)
    size = beside.unit.k
    return Proved(
        first, other if more else None, size, tuple(known.claims), (how,), least=beside.least + margin,
        largest=f"of every {size} products that are added at once the largest", beside=later,
        sum=normal_sum(beside.unit, c=beside.sum.c if more else NO_C),
    )  # fmt: skip


def _parts_lost(stated: RoundDownBound, margin: int) -> tuple[Fraction, Fraction]:
    """What a block loses of its own products at most, and of c."""
    own, beside = Fraction(0), Fraction(0)
    for bound, share in zip((stated.above, stated.bound), stated.shares, strict=True):
        f, h, _ = _coefficients(stated, bound)
        n = share / Fraction(2) ** (stated.unit.design.fraction_bits or 0)
        n += n / (1 << margin) if margin else 0
        own, beside = max(own, (n + f + h) / (1 - h)), max(beside, (f + h) / (1 - h))
    return own, beside


def relative_loss(stated: ErrorBound) -> tuple[Fraction, int, str]:
    """κ with |d - exact| <= κ·(Σ|a_k·b_k| + |c|), the least exponent E for which, and how it follows.

    With E the largest exponent of the terms that are not zero, all of normal factors, 2^E <= Σ|terms|; and
    2^e <= |d| for the exponent e of a normal d, where 2^e <= 2^E of any other.
    """
    at_e, at_d, rest = _coefficients(stated, stated.bound)
    margin = MARGIN if rest else 0
    least = stated.least + margin
    # The factors of a group's products have exponents of their own.
    formats = stated.unit.operands
    low = min(formats.a.e_min + formats.b.e_min, 0) if stated.unit.design.group is not None else 0
    at_e = at_e / Fraction(2) ** low
    lost = at_e + rest / Fraction(2) ** (stated.least + margin)
    kappa = (lost + at_d) / (1 - at_d)
    how = (
        f"error-bound is at most u·2^E + h·2^e with u = {lost}, h = {at_d}, E the largest exponent of the "
        f"terms and e that of d; 2^E <= Σ|x_k·y_k| + |c| and 2^e <= |d| of a normal d: κ = (u + h)/(1 - h)"
    )
    return kappa, least, how


def _coefficients(stated: ErrorBound, p: Poly) -> tuple[Fraction, Fraction, Fraction]:
    """u, h, r of a bound u·2^E + h·2^e + r, e the exponent of d; InputError for another form."""
    at_e = at_d = rest = Fraction(0)
    for (atoms, exponents), q in p.terms.items():
        if atoms or len(exponents) > 1 or any(c != 1 for _, c in exponents):
            raise InputError(f"expected a bound in powers of two, but {stated.unit.name} has another")
        if not exponents:
            rest += q
        elif isinstance(stated, RoundDownBound) and exponents[0][0] in stated.own:
            continue
        elif exponents[0][0] is stated.e:
            at_e += q * (1 << OFFSET)
        else:
            at_d += q * (1 << stated.d.fmt.bias)
    return at_e, at_d, rest
