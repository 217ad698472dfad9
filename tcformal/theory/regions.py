"""The spread of exponents within which two units agree, or a unit's products may be in any order:
theorems `agreement_within_spread` and `order_within_spread`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.programs.chain import common_k
from tcformal.theory.conditions import least
from tcformal.theory.design import coq_conversion, coq_design, coq_format
from tcformal.theory.grid import Plan, Sum, grid, plan_of
from tcformal.theory.instances import Instance

#: The fields of a design's record about words of NaNs.
_NANS = re.compile(r"; nan_word := [^;]*; nans := [^;]*")


def region(
    first: UnitSpec,
    second: UnitSpec,
    *,
    zero_c: bool = False,
    exponents: tuple[int, int] | None = None,
) -> Instance | None:
    """The largest spread for which the theorem says that two units give the same words.

    Of finite operands of as many products as both take; `zero_c`: with c = +0; `exponents`: those of the
    elements of A, B and C other than zero.  None where the theorem says nothing, not even of terms of one
    exponent.  A spread of the whole range is one of every finite operand.
    """
    alike = _but_for_nans(first, second, zero_c=zero_c, exponents=exponents)
    if alike is not None:
        return alike
    try:
        n = common_k(first, second)
    except InputError:
        return None
    pair = _pair(first, second, n, zero_c=zero_c, exponents=exponents)
    if pair is None:
        return None
    spread, bad = -1, pair.high - pair.low + 1
    while bad - spread > 1:
        s = (spread + bad) // 2
        spread, bad = (s, bad) if pair.bounds(s) else (spread, s)
    return pair.instance(spread) if spread >= 0 else None


def any_order(
    unit: UnitSpec,
    spread: int | None,
    *,
    zero_c: bool = False,
    exponents: tuple[int, int] | None = None,
) -> Instance | None:
    """That no order of a call's products changes the result within a spread, or without one; else None.

    Of finite operands, as of `region`.
    """
    pair = _pair(unit, unit, unit.k, zero_c=zero_c, exponents=exponents)
    if pair is None:
        return None
    whole = pair.high - pair.low
    return pair.any_order(whole if spread is None else min(spread, whole))


def _but_for_nans(
    first: UnitSpec, second: UnitSpec, *, zero_c: bool, exponents: tuple[int, int] | None
) -> Instance | None:
    """Agreement on all finite operands of units that differ in the words of NaNs alone."""
    plan, d = plan_of(first), first.design
    if plan is None or plan_of(second) is None or first.emulation is not None or first.k != second.k:
        return None
    texts = [_NANS.sub("", coq_design(x)) for x in (first, second)]
    if texts[0] != texts[1]:
        return None
    if plan.inner is not None and (d.summation != "fused" or first.k > d.products):
        return None
    low, high = _range(first, zero_c=zero_c, exponents=exponents)
    return Instance(
        claim="agreement", unit=first, other=second, theorem="agreement_but_for_nans",
        says=f"{first.k} finite products and c give the same word: only those of NaNs differ",
        arguments=(f"{first.k}%nat",), binders=("ps", "c"),
        conditions=("e = with_nans d (nans e) (nan_word e)", f"never_nan d {first.k} = true"),
        numbers={"spread": Fraction(high - low), "low": Fraction(low), "high": Fraction(high)},
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two units on the same operands; exponents of terms other than zero lie from `low` to `high`."""

    plans: tuple[Plan, Plan]
    n: int
    low: int
    high: int
    zero_c: bool

    def instance(self, spread: int) -> Instance:
        """The theorem about this spread."""
        bounds = self.bounds(spread)
        assert bounds is not None
        first, second = (p.unit for p in self.plans)
        (fa, ma), (fb, mb) = bounds
        given = (
            f"{first.k}%nat", f"{second.k}%nat", f"{self.n}%nat", "true" if self.zero_c else "false",
            *(f"({x})" for x in (self.low, self.high, spread, fa, ma, fb, mb)),
        )  # fmt: skip
        every = spread >= self.high - self.low
        where = "of finite operands" if every else f"whose exponents lie within {spread}"
        return Instance(
            claim="agreement", unit=first, other=second, theorem="agreement_within_spread",
            says=f"{self.n} products and c {where} give the same word",
            arguments=given, binders=("E", "ps", "c"),
            conditions=(f"region_ok d e {' '.join(given)} = true",),
            numbers={"spread": Fraction(spread), "low": Fraction(self.low), "high": Fraction(self.high)},
        )  # fmt: skip

    def any_order(self, spread: int) -> Instance | None:
        """The theorem about the orders of the first unit's products within this spread."""
        bounds, unit = self.bounds(spread), self.plans[0].unit
        if bounds is None:
            return None
        calls, terms = (f"{unit.k}%nat", f"{self.n}%nat"), (self.low, self.high, spread)
        room = tuple(f"({x})" for x in bounds[0])
        zero = "true" if self.zero_c else "false"
        within = (*calls[1:], zero, *(f"({x})" for x in terms))
        return Instance(
            claim="product-order", unit=unit, theorem="order_within_spread",
            says=f"no order of {self.n} products changes the result where exponents of products and c lie "
            f"within {spread}: all sums on the way are exact",
            arguments=(calls[0], *within, *room), binders=("E", "ps", "qs", "c"),
            conditions=(f"region_ok d d {calls[0]} {' '.join((calls[0], *within, *room, *room))} = true",),
            numbers={"spread": Fraction(spread), "low": Fraction(self.low), "high": Fraction(self.high)},
        )  # fmt: skip

    def bounds(self, s: int) -> list[tuple[int, int]] | None:
        """The room that each unit needs for a spread; None where one has not so much."""
        g = grid(self.plans[0].unit, self.n, self.low, self.high, s, zero_c=self.zero_c)
        found = [plan.room(g) for plan in self.plans]
        one, other = (p.final for p in self.plans)
        both = all(x.keeps(g.lowest, g.highest, g.all) for x in (one, other))
        if _text(one) != _text(other) and not (both and one.target.e_min == other.target.e_min):
            return None
        return None if None in found else [x for x in found if x is not None]


def _pair(
    first: UnitSpec, second: UnitSpec, n: int, *, zero_c: bool, exponents: tuple[int, int] | None
) -> _Pair | None:
    plans = [plan_of(x) for x in (first, second)]
    if plans[0] is None or plans[1] is None or _formats(first) != _formats(second):
        return None
    chained = any(x.k != n for x in (first, second))
    if chained and coq_format(first.c_format) != coq_format(first.d_format):
        return None
    if zero_c and not first.c_format.has_zero:
        return None
    low, high = _range(first, zero_c=zero_c, exponents=exponents)
    if low > high:
        return None
    return _Pair((plans[0], plans[1]), n, low, high, zero_c)


def _range(unit: UnitSpec, *, zero_c: bool, exponents: tuple[int, int] | None) -> tuple[int, int]:
    """The least and the largest exponent of products and c."""
    spans = [_span(x, exponents) for x in (unit.a_format, unit.b_format)]
    low, high = (sum(x) for x in zip(*spans, strict=True))
    if zero_c:
        return low, high
    of_c = _span(unit.c_format, exponents)
    return min(low, of_c[0]), max(high, of_c[1])


def _span(f: Format, exponents: tuple[int, int] | None) -> tuple[int, int]:
    low, high = exponents or (least(f), f.e_max)
    return max(low, least(f)), min(high, f.e_max)


def _formats(unit: UnitSpec) -> list[str]:
    return [coq_format(f) for f in (unit.a_format, unit.b_format, unit.c_format, unit.d_format)]


def _text(x: Sum) -> str:
    return coq_conversion(x.design, x.target)
