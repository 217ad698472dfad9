"""Sums of multiples of one power of two (`coq/Regions.v`, `Exactness.v`): exact sums, results that are the
exact sum rounded once, and the spread of exponents within which two units agree, or any order is as good.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.theory.claims import integer_sums
from tcformal.theory.constants import highest, least, log2, nearest, plain, whole, zeros_at_most
from tcformal.theory.design import coq_conversion, coq_design, coq_format, if_described
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import operand_rules

#: Orders of products that the theorems know, where c is added to their sum.
_INNER = ("fused", "sequential")


@dataclass(frozen=True, slots=True)
class Grid:
    """Where terms lie.

    Ranges and units: exponents of n products and c, zeros aside, up to `high` and no further apart than
    `spread`; terms have at most `width` fraction bits and are multiples of a unit whose exponent is from
    `lowest` to `highest`.  With `zero_c` c is +0.
    """

    n: int
    high: int
    spread: int
    zero_c: bool
    width: int
    lowest: int
    highest: int
    #: Units of a product and of c at most: `Regions.product_units`, `Regions.c_units`.
    product: int
    c: int

    @property
    def all(self) -> int:
        """Units of all terms together."""
        return self.c + self.n * self.product


def grid(unit: UnitSpec, n: int, low: int, high: int, spread: int, *, zero_c: bool) -> Grid:
    """The grid of n products of a unit's operands and c, whose exponents are from `low` to `high`."""
    a, b, c = (x.fraction_bits for x in (unit.a_format, unit.b_format, unit.c_format))
    width = a + b if zero_c else max(a + b, c)
    product = ((2 << a) - 1) * ((2 << b) - 1) << (spread + width - a - b)
    of_c = 0 if zero_c else ((2 << c) - 1) << (spread + width - c)
    lowest, highest = low - width, max(low, high - spread) - width
    return Grid(n, high, spread, zero_c, width, lowest, highest, product, of_c)


@dataclass(frozen=True, slots=True)
class Sum:
    """One sum of a unit, and what it is rounded to."""

    design: Design
    target: Conversion

    def cuts_nothing(self, low: int, f: int) -> bool:
        """`Regions.cuts_nothing`."""
        d = self.design
        return d.carry_bits is None and (
            d.fraction_bits is None
            or (f <= d.fraction_bits and not d.normalise_products and zeros_at_most(d, low + d.fraction_bits))
        )

    def keeps(self, low: int, high: int, most: int) -> bool:
        """`Regions.keeps`."""
        c, flushed = self.target, self.design.result_subnormals != "kept"
        return (
            0 <= most <= 2 << c.fraction_bits and c.e_min - c.fraction_bits <= low
            and (not flushed or c.e_min <= low) and log2(most) + high <= c.e_max
        )  # fmt: skip

    def part(self, low: int, high: int, f: int, most: int) -> bool:
        """`Regions.part_sum`."""
        return (
            self.cuts_nothing(low, f) and self.keeps(low, high, most)
            and self.target.e_min <= low + f and log2(most) <= f
        )  # fmt: skip

    @property
    def signs_ok(self) -> bool:
        """`Regions.signs_ok`."""
        return self.design.zero_sign == "positive" or self.target.mode != "RD"


@dataclass(frozen=True, slots=True)
class Plan:
    """A unit's sums: the last of a block, one of its products before, and the last of a call."""

    unit: UnitSpec
    last: Sum
    inner: Sum | None
    final: Sum

    def sums(self) -> list[Sum]:
        """Each sum."""
        return [self.last, self.final, *([] if self.inner is None else [self.inner])]

    def parts(self, g: Grid) -> Iterator[tuple[Sum, int]]:
        """Sums that later ones go on from, and the units that each has at most."""
        k, size, composed = self.unit.k, self.unit.design.products, self.unit.emulation is not None
        if self.inner is not None:
            yield self.inner, g.all
        if k > size or composed:
            yield self.last, g.c + (g.n if composed else g.n - k + size * ((k - 1) // size)) * g.product
        if g.n > k:
            yield self.final, g.c + (g.n - k) * g.product

    def width(self, g: Grid) -> int:
        """The least number of fraction bits with which no sum cuts a term."""
        zeros = [x.design.zero_exponent for x in self.sums()]
        needs = [g.spread + g.width, *(z - g.lowest for z in zeros if isinstance(z, int))]
        return max(needs + [max(log2(m), x.target.e_min - g.lowest) for x, m in self.parts(g)])

    def room(self, g: Grid) -> tuple[int, int] | None:
        """How far above the grid exponents may lie, and units of partial sums; None where it fails."""
        parts, unit = list(self.parts(g)), self.unit
        most = max((m for _, m in parts), default=0)
        widths = [x.design.fraction_bits for x in self.sums() if x.design.fraction_bits is not None]
        f = min(widths, default=self.width(g))
        positive = g.zero_c or self.last.design.zero_sign == "positive" or unit.emulation is not None
        fits = (
            g.spread + g.width <= f and positive
            and all(x.cuts_nothing(g.lowest, f) and x.signs_ok for x in (self.last, self.final))
            and all(x.part(g.lowest, g.highest, f, most) for x, _ in parts)
            and (unit.k == g.n or holds(unit.d_format, self.final.target))
        )  # fmt: skip
        return (f, most) if fits else None


@if_described
def plan_of(unit: UnitSpec) -> Plan | None:
    """The sums of a unit whose factors are as they are, or None."""
    d, how = unit.design, unit.emulation
    last, inner = Sum(d, d.rho), None if d.c_position == "joined" else Sum(d, d.step)
    if not (
        unit.tree is None and unit.scale_format is None and d.summation in _INNER
        and {*operand_rules(d), d.c_subnormals} == {"kept"} and d.exponent_step == 1 and d.negated == "none"
        and d.zero_terms is None and d.product_limit is None and d.product_rounding is None and whole(d)
        and d.lost_bits == "cut" and not d.framed and d.zero_words == "summed"
        and d.c_position in ("joined", "last") and d.overflow != "largest"
        and last.target.integer_bits is None and (inner is None or inner.target.integer_bits is None)
    ):  # fmt: skip
        return None
    if how is None:
        return Plan(unit, last, inner, last)
    adder = how.addition
    if (
        any(least(how.converted) > least(f) for f in (unit.a_format, unit.b_format))
        or {adder.operand_subnormals, adder.c_subnormals} != {"kept"} or adder.rho.integer_bits is not None
        or sorted(k for part in how.parts for k in part) != list(range(unit.k))
    ):  # fmt: skip
        return None
    return Plan(unit, last, inner, Sum(adder, adder.rho))


def holds(f: Format, c: Conversion) -> bool:
    """`Words.holds`: whether a result's word stands for the result."""
    return (
        f.specials is Specials.IEEE and f.has_zero and f.subnormals and f.sign_bit > 0
        and not f.ignored_low_bits and c.fraction_bits <= f.fraction_bits
        and c.e_min == f.e_min and c.e_max == f.e_max and f.exponent_bits > 1
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exactness:
    """What the theorems say of all sums of a unit, one call each.

    Ranges and units: `width` is the least number of fraction bits that keep every term whole.  `sum` says
    that every sum is exact, and `result` that every result is the exact sum rounded once to a number of D;
    None where a side condition fails, of which `failed` says which, in a clause each.
    """

    width: int
    sum: Instance | None
    result: Instance | None
    failed: tuple[str, ...]


def exactness(unit: UnitSpec, *, zero_c: bool = False) -> Exactness | None:
    """Whether every sum of a unit is exact, and every result correctly rounded; `zero_c`: with c = +0.

    None for a unit whose sums the theorems do not describe, whatever their widths.
    """
    plan, n = plan_of(unit), unit.k
    if plan is None or (zero_c and not unit.c_format.has_zero):
        return None
    g = _all_terms(unit, zero_c=zero_c)
    width, room, bits = plan.width(g), plan.room(g), unit.design.fraction_bits
    if room is None:
        why = f"terms reach from 2^{g.lowest} to the exponent {g.high}, which takes {width} fraction bits"
        if bits is None or bits >= width:
            why = "partial sums are rounded, or zeros of either sign tell sums apart"
        return Exactness(width, None, None, (why,))
    c = "c = +0" if zero_c else "c"
    given = (f"{n}%nat", "true" if zero_c else "false", f"({room[0]})", f"({room[1]})")
    exact = Instance(
        claim="exact-sum", unit=unit, theorem="sum_is_exact",
        says=f"every result is the exact sum of {n} finite products and {c}, rounded once by "
        f"{plan.final.design.conversion}",
        arguments=given, binders=("ps", "c", "x"), conditions=(f"exact_ok d {' '.join(given)} = true",),
        numbers={"width": Fraction(width)},
    )  # fmt: skip
    failed = _not_to_format(unit, plan.final.design, plan.final.target, g)
    if failed:
        return Exactness(width, exact, None, failed)
    says = f"every finite result is the exact sum of {n} products and {c}, rounded once to "
    rounded = replace(
        exact, claim="correctly-rounded", theorem="correctly_rounded", binders=("ps", "c", "x", "z"),
        says=f"{says}{unit.d_format.name} by {plan.final.target.mode}",
        conditions=(f"correct_ok d {' '.join(given)} = true",),
    )  # fmt: skip
    return Exactness(width, exact, rounded, ())


def integers_end(unit: UnitSpec) -> Instance | None:
    """The bound of claim `integer-sums` is the largest: 2^B + 1 is no result, but it is a sum."""
    found, target = integer_sums(unit), _result(unit)
    if found is None or target is None:
        return None
    bound, a, b = int(found.numbers["exponent"]), unit.a_format, unit.b_format
    ones = (a, b, *([] if unit.scale_format is None else [unit.scale_format]))
    if bound != target.fraction_bits + 1 or not all(f.e_min <= 0 <= f.e_max for f in ones):
        return None
    # A product of ones beside 2^B, which is c, or another product.
    if bound > unit.c_format.e_max and (unit.k < 2 or bound > a.e_max + b.e_max):
        return None
    return Instance(
        claim="integer-sums", unit=unit, theorem="integers_end",
        says=f"no result is 2^{bound} + 1, though there are such sums, as 2^{bound} and a product 1",
        arguments=(str(bound),), binders=("w", "z"), conditions=(f"integers_end_ok d {bound} = true",),
        numbers={"exponent": Fraction(bound)},
    )  # fmt: skip


def _all_terms(unit: UnitSpec, *, zero_c: bool) -> Grid:
    """Every finite product and c, as `Exactness.lowest` and `highest` have them."""
    a, b, c = unit.a_format, unit.b_format, unit.c_format
    low, high = least(a) + least(b), _greatest(a) + _greatest(b)
    if not zero_c:
        low, high = min(low, least(c)), max(high, _greatest(c))
    return grid(unit, unit.k, low, high, high - low, zero_c=zero_c)


def _greatest(f: Format) -> int:
    """`Exactness.greatest`."""
    return max(1 - f.bias, highest(f))


def _not_to_format(unit: UnitSpec, d: Design, c: Conversion, g: Grid) -> tuple[str, ...]:
    """What keeps a conversion from being to all numbers of D."""
    f, failed = unit.d_format, []
    if not holds(f, c) or c.fraction_bits != f.fraction_bits:
        failed.append(f"results are rounded to {c.fraction_bits} fraction bits, not to {f.name}")
    if not plain(d):
        failed.append("subnormal results become zeros, or overflow is not that of the rounding")
    if not nearest(d) and log2(g.all) + 1 + g.lowest > c.e_max:
        failed.append(f"sums above {f.name} become infinities")
    return tuple(failed)


def _result(unit: UnitSpec) -> Conversion | None:
    """`Exactness.result_rounding`."""
    d = unit.design if unit.emulation is None else unit.emulation.addition
    if unit.emulation is None and not (whole(d) and d.zero_words == "summed"):
        return None
    if unit.tree is not None:
        d = stage_designs(unit.tree, d)[unit.tree.root.stage]
    return None if d.rho.integer_bits is not None else d.rho


#: The fields of a design's record about words of NaNs.
_NANS = re.compile(r"; nan_word := [^;]*; nans := [^;]*")


@if_described
def region(
    first: UnitSpec, second: UnitSpec, *, zero_c: bool = False, exponents: tuple[int, int] | None = None
) -> Instance | None:
    """The largest spread for which the theorem says that two units give the same words.

    Of finite operands of as many products as both take; `zero_c`: with c = +0; `exponents`: those of the
    elements of A, B and C other than zero.  None where the theorem says nothing, not even of terms of one
    exponent.  A spread of the whole range is one of every finite operand.
    """
    from tcformal.semantics.chain import common_k  # builds circuits

    alike = _but_for_nans(first, second, *_range(first, zero_c, exponents))
    if alike is not None:
        return alike
    try:
        pair = _pair(first, second, common_k(first, second), zero_c, exponents)
    except InputError:
        return None
    if pair is None:
        return None
    spread, bad = -1, pair.high - pair.low + 1
    while bad - spread > 1:
        s = (spread + bad) // 2
        spread, bad = (s, bad) if pair.bounds(s) else (spread, s)
    return pair.instance(spread) if spread >= 0 else None


@if_described
def any_order(
    unit: UnitSpec, spread: int | None, *, zero_c: bool = False, exponents: tuple[int, int] | None = None
) -> Instance | None:
    """That no order of a call's products changes the result within a spread, or without one; else None.

    Of finite operands, as of `region`.
    """
    pair = _pair(unit, unit, unit.k, zero_c, exponents)
    if pair is None:
        return None
    every = pair.high - pair.low
    return pair.any_order(every if spread is None else min(spread, every))


def _but_for_nans(first: UnitSpec, second: UnitSpec, low: int, high: int) -> Instance | None:
    """Agreement on all finite operands of units that differ in the words of NaNs alone."""
    plan, d = plan_of(first), first.design
    if plan is None or plan_of(second) is None or first.emulation is not None or first.k != second.k:
        return None
    texts = [_NANS.sub("", coq_design(x)) for x in (first, second)]
    chained = plan.inner is not None and (d.summation != "fused" or first.k > d.products)
    if texts[0] != texts[1] or chained:
        return None
    return Instance(
        claim="agreement", unit=first, other=second, theorem="agreement_but_for_nans",
        says=f"{first.k} finite products and c give the same word: only those of NaNs differ",
        arguments=(f"{first.k}%nat",), binders=("ps", "c"),
        conditions=("e = with_nans d (nans e) (nan_word e)", f"never_nan d {first.k} = true"),
        numbers=_numbers(high - low, low, high),
    )  # fmt: skip


def _numbers(spread: int, low: int, high: int) -> dict[str, Fraction]:
    return {"spread": Fraction(spread), "low": Fraction(low), "high": Fraction(high)}


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two units on the same operands; exponents of terms other than zero lie from `low` to `high`."""

    plans: tuple[Plan, Plan]
    n: int
    low: int
    high: int
    zero_c: bool

    def _within(self, spread: int) -> tuple[str, ...]:
        """The operands, as arguments of a theorem."""
        zero = "true" if self.zero_c else "false"
        return f"{self.n}%nat", zero, *(f"({x})" for x in (self.low, self.high, spread))

    def instance(self, spread: int) -> Instance:
        """The theorem about this spread."""
        bounds = self.bounds(spread)
        assert bounds is not None
        first, second = (p.unit for p in self.plans)
        room = (f"({x})" for pair in bounds for x in pair)
        given = (f"{first.k}%nat", f"{second.k}%nat", *self._within(spread), *room)
        every = spread >= self.high - self.low
        where = "of finite operands" if every else f"whose exponents lie within {spread}"
        return Instance(
            claim="agreement", unit=first, other=second, theorem="agreement_within_spread",
            says=f"{self.n} products and c {where} give the same word",
            arguments=given, binders=("E", "ps", "c"),
            conditions=(f"region_ok d e {' '.join(given)} = true",),
            numbers=_numbers(spread, self.low, self.high),
        )  # fmt: skip

    def any_order(self, spread: int) -> Instance | None:
        """The theorem about the orders of the first unit's products within this spread."""
        bounds, unit = self.bounds(spread), self.plans[0].unit
        if bounds is None:
            return None
        calls, within, room = f"{unit.k}%nat", self._within(spread), tuple(f"({x})" for x in bounds[0])
        return Instance(
            claim="product-order", unit=unit, theorem="order_within_spread",
            says=f"no order of {self.n} products changes the result where exponents of products and c lie "
            f"within {spread}: all sums on the way are exact",
            arguments=(calls, *within, *room), binders=("E", "ps", "qs", "c"),
            conditions=(f"region_ok d d {' '.join((calls, calls, *within, *room, *room))} = true",),
            numbers=_numbers(spread, self.low, self.high),
        )  # fmt: skip

    def bounds(self, s: int) -> list[tuple[int, int]] | None:
        """The room that each unit needs for a spread; None where one has not so much."""
        g = grid(self.plans[0].unit, self.n, self.low, self.high, s, zero_c=self.zero_c)
        one, other = (p.final for p in self.plans)
        both = all(x.keeps(g.lowest, g.highest, g.all) for x in (one, other))
        texts = [coq_conversion(x.design, x.target) for x in (one, other)]
        if texts[0] != texts[1] and not (both and one.target.e_min == other.target.e_min):
            return None
        found = [x for plan in self.plans if (x := plan.room(g)) is not None]
        return found if len(found) == len(self.plans) else None


def _pair(
    first: UnitSpec, second: UnitSpec, n: int, zero_c: bool, exponents: tuple[int, int] | None
) -> _Pair | None:
    one, two = plan_of(first), plan_of(second)
    low, high = _range(first, zero_c, exponents)
    chained, o, p = any(x.k != n for x in (first, second)), first.operands, second.operands
    if (
        one is None or two is None
        or any(coq_format(getattr(o, x)) != coq_format(getattr(p, x)) for x in "abcd")
        or (chained and coq_format(first.c_format) != coq_format(first.d_format))
        or (zero_c and not first.c_format.has_zero) or low > high
    ):  # fmt: skip
        return None
    return _Pair((one, two), n, low, high, zero_c)


def _range(unit: UnitSpec, zero_c: bool, exponents: tuple[int, int] | None) -> tuple[int, int]:
    """The least and the largest exponent of products and c."""
    a, b, c = (_span(x, exponents) for x in (unit.a_format, unit.b_format, unit.c_format))
    low, high = a[0] + b[0], a[1] + b[1]
    return (low, high) if zero_c else (min(low, c[0]), max(high, c[1]))


def _span(f: Format, exponents: tuple[int, int] | None) -> tuple[int, int]:
    low, high = exponents or (least(f), f.e_max)
    return max(low, least(f)), min(high, f.e_max)
