"""The spread of exponents within which two units agree, by theorem `agreement_within_spread`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format, Specials
from tcformal.programs.chain import common_k
from tcformal.theory.conditions import least
from tcformal.theory.design import coq_conversion, coq_format
from tcformal.theory.instances import Instance

#: Orders of products that the theorem knows, where c is added to their sum.
_INNER = ("fused", "sequential")


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


@dataclass(frozen=True, slots=True)
class _Sum:
    """One sum of a unit, and what it is rounded to."""

    design: Design
    target: Conversion

    def cuts_nothing(self, low: int, f: int) -> bool:
        """`Regions.cuts_nothing`."""
        d = self.design
        if d.carry_bits is not None:
            return False
        if d.fraction_bits is None:
            return True
        zero = d.zero_exponent
        zero_ok = zero == "none" or (isinstance(zero, int) and zero <= low + d.fraction_bits)
        return f <= d.fraction_bits and not d.normalise_products and zero_ok

    def keeps(self, low: int, high: int, most: int) -> bool:
        """`Regions.keeps`."""
        c, flushed = self.target, self.design.result_subnormals != "kept"
        return (
            0 <= most <= 2 << c.fraction_bits
            and c.e_min - c.fraction_bits <= low
            and (not flushed or c.e_min <= low)
            and _log2(most) + high <= c.e_max
        )

    def part(self, low: int, high: int, f: int, most: int) -> bool:
        """`Regions.part_sum`."""
        return (
            self.cuts_nothing(low, f) and self.keeps(low, high, most)
            and self.target.e_min <= low + f and _log2(most) <= f
        )  # fmt: skip

    @property
    def signs_ok(self) -> bool:
        """`Regions.signs_ok`."""
        return self.design.zero_sign == "positive" or self.target.mode != "RD"


@dataclass(frozen=True, slots=True)
class _Plan:
    """A unit's sums: the last of a block, one of its products before, and the last of a call."""

    unit: UnitSpec
    last: _Sum
    inner: _Sum | None
    final: _Sum

    def sums(self) -> Iterator[_Sum]:
        """Each sum."""
        yield self.last
        yield self.final
        if self.inner is not None:
            yield self.inner

    def parts(self, n: int) -> Iterator[tuple[_Sum, int]]:
        """Sums that later ones go on from, and how many of n products each has at most, beside c."""
        k, size = self.unit.k, self.unit.design.products
        composed = self.unit.emulation is not None
        if self.inner is not None:
            yield self.inner, n
        if k > size or composed:
            yield self.last, n if composed else n - k + size * ((k - 1) // size)
        if n > k:
            yield self.final, n - k


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two units on the same operands; exponents of terms other than zero lie from `low` to `high`."""

    plans: tuple[_Plan, _Plan]
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

    def bounds(self, s: int) -> list[tuple[int, int]] | None:
        """Of each unit, how far exponents lie above the grid, and units of partial sums; None where it fails."""
        o = self.plans[0].unit
        bits = o.a_format.fraction_bits + o.b_format.fraction_bits
        c_bits = 0 if self.zero_c else o.c_format.fraction_bits
        w = max(bits, c_bits)
        low, high = self.low - w, max(self.low, self.high - s) - w
        significand = ((2 << o.a_format.fraction_bits) - 1) * ((2 << o.b_format.fraction_bits) - 1)
        product = significand << (s + w - bits)
        of_c = 0 if self.zero_c else ((2 << c_bits) - 1) << (s + w - c_bits)
        found = []
        for plan in self.plans:
            parts = [(x, of_c + count * product) for x, count in plan.parts(self.n)]
            most = max((m for _, m in parts), default=0)
            widths = [x.design.fraction_bits for x in plan.sums() if x.design.fraction_bits is not None]
            f = min(widths) if widths else max(
                s + w, _log2(most), *(x.target.e_min - low for x in plan.sums())
            )  # fmt: skip
            ends = (plan.last, plan.final)
            if s + w > f or not all(x.cuts_nothing(low, f) and x.signs_ok for x in ends):
                return None
            if not all(x.part(low, high, f, most) for x, _ in parts):
                return None
            found.append((f, most))
        one, other = (p.final for p in self.plans)
        every = of_c + self.n * product
        both = one.keeps(low, high, every) and other.keeps(low, high, every)
        if _text(one) != _text(other) and not (both and one.target.e_min == other.target.e_min):
            return None
        return found


def _pair(
    first: UnitSpec, second: UnitSpec, n: int, *, zero_c: bool, exponents: tuple[int, int] | None
) -> _Pair | None:
    plans = [_plan(x) for x in (first, second)]
    if plans[0] is None or plans[1] is None or _formats(first) != _formats(second):
        return None
    chained = any(x.k != n for x in (first, second))
    if chained and coq_format(first.c_format) != coq_format(first.d_format):
        return None
    for plan in (plans[0], plans[1]):
        positive = plan.last.design.zero_sign == "positive"
        if plan.unit.emulation is None and not zero_c and not positive:
            return None
        if plan.unit.k != n and not _holds(plan.unit.d_format, plan.final.target):
            return None
    if zero_c and not first.c_format.has_zero:
        return None
    spans = [_span(x, exponents) for x in (first.a_format, first.b_format)]
    low, high = (sum(x) for x in zip(*spans, strict=True))
    if not zero_c:
        of_c = _span(first.c_format, exponents)
        low, high = min(low, of_c[0]), max(high, of_c[1])
    if low > high:
        return None
    return _Pair((plans[0], plans[1]), n, low, high, zero_c)


def _span(f: Format, exponents: tuple[int, int] | None) -> tuple[int, int]:
    low, high = exponents or (least(f), f.e_max)
    return max(low, least(f)), min(high, f.e_max)


def _formats(unit: UnitSpec) -> list[str]:
    return [coq_format(f) for f in (unit.a_format, unit.b_format, unit.c_format, unit.d_format)]


def _plan(unit: UnitSpec) -> _Plan | None:
    """The sums of a unit whose factors are as they are, or None."""
    d, how = unit.design, unit.emulation
    rules = (d.operand_subnormals, d.b_subnormals or d.operand_subnormals, d.c_subnormals)
    if unit.tree is not None or unit.scale_format is not None or d.summation not in _INNER:
        return None
    if any(r != "kept" for r in rules) or d.exponent_step != 1 or d.negated != "none":
        return None
    if d.zero_terms is not None or d.product_limit is not None or d.product_rounding is not None:
        return None
    if d.group is not None or d.piece_bits is not None or d.lost_bits != "cut" or d.framed:
        return None
    if d.zero_words != "summed" or d.c_position not in ("joined", "last") or d.overflow == "largest":
        return None
    last = _Sum(d, d.rho)
    inner = None if d.c_position == "joined" else _Sum(d, d.step)
    if any(x.target.integer_bits is not None for x in (last, inner) if x is not None):
        return None
    if how is None:
        return _Plan(unit, last, inner, last)
    if any(least(how.converted) > least(f) for f in (unit.a_format, unit.b_format)):
        return None
    adder = how.addition
    if (
        adder.operand_subnormals != "kept"
        or adder.c_subnormals != "kept"
        or adder.rho.integer_bits is not None
    ):
        return None
    if sorted(k for part in how.parts for k in part) != list(range(unit.k)):
        return None
    return _Plan(unit, last, inner, _Sum(adder, adder.rho))


def _holds(f: Format, c: Conversion) -> bool:
    """`Words.holds`: whether a result's word stands for the result."""
    return (
        f.specials is Specials.IEEE and f.has_zero and f.subnormals and f.sign_bit > 0
        and not f.ignored_low_bits and c.fraction_bits <= f.fraction_bits and c.e_min == f.e_min and c.e_max == f.e_max
        and f.exponent_bits > 1
    )  # fmt: skip


def _text(x: _Sum) -> str:
    return coq_conversion(x.design, x.target)


def _log2(n: int) -> int:
    return max(n.bit_length() - 1, 0)
