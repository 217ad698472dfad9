"""Sums of multiples of one power of two: what the theorems of `coq/Regions.v` ask of a unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.theory.conditions import least

#: Orders of products that the theorems know, where c is added to their sum.
_INNER = ("fused", "sequential")


@dataclass(frozen=True, slots=True)
class Grid:
    """Where terms lie.

    Ranges and units: exponents of n products and c, zeros aside, from `low` to `high` and no further apart
    than `spread`; significands have `bits` fraction bits in A and B together, and `c_bits` in c.  With
    `zero_c` c is +0.
    """

    n: int
    low: int
    high: int
    spread: int
    bits: int
    c_bits: int
    most_product: int
    zero_c: bool

    @property
    def width(self) -> int:
        """Fraction bits of a term."""
        return self.bits if self.zero_c else max(self.bits, self.c_bits)

    @property
    def lowest(self) -> int:
        """The least exponent of the unit of which all terms are multiples."""
        return self.low - self.width

    @property
    def highest(self) -> int:
        """The largest one."""
        return max(self.low, self.high - self.spread) - self.width

    @property
    def product(self) -> int:
        """`Regions.product_units`: units of a product at most."""
        return self.most_product << (self.spread + self.width - self.bits)

    @property
    def c(self) -> int:
        """`Regions.c_units`: units of c at most."""
        return 0 if self.zero_c else ((2 << self.c_bits) - 1) << (self.spread + self.width - self.c_bits)

    @property
    def all(self) -> int:
        """Units of all terms together."""
        return self.c + self.n * self.product


def grid(unit: UnitSpec, n: int, low: int, high: int, spread: int, *, zero_c: bool) -> Grid:
    """The grid of n products of a unit's operands and c."""
    a, b = unit.a_format.fraction_bits, unit.b_format.fraction_bits
    most = ((2 << a) - 1) * ((2 << b) - 1)
    return Grid(n, low, high, spread, a + b, unit.c_format.fraction_bits, most, zero_c)


@dataclass(frozen=True, slots=True)
class Sum:
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
            and log2(most) + high <= c.e_max
        )

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

    def sums(self) -> Iterator[Sum]:
        """Each sum."""
        yield self.last
        yield self.final
        if self.inner is not None:
            yield self.inner

    def parts(self, n: int) -> Iterator[tuple[Sum, int]]:
        """Sums that later ones go on from, and how many of n products each has at most, beside c."""
        k, size = self.unit.k, self.unit.design.products
        composed = self.unit.emulation is not None
        if self.inner is not None:
            yield self.inner, n
        if k > size or composed:
            yield self.last, n if composed else n - k + size * ((k - 1) // size)
        if n > k:
            yield self.final, n - k

    def width(self, g: Grid) -> int:
        """The least number of fraction bits with which no sum cuts a term."""
        parts = [(x, g.c + count * g.product) for x, count in self.parts(g.n)]
        zeros = [x.design.zero_exponent for x in self.sums()]
        needs = [g.spread + g.width, *(z - g.lowest for z in zeros if isinstance(z, int))]
        return max(needs + [max(log2(m), x.target.e_min - g.lowest) for x, m in parts])

    def room(self, g: Grid) -> tuple[int, int] | None:
        """How far above the grid exponents may lie, and units of partial sums; None where it fails."""
        parts = [(x, g.c + count * g.product) for x, count in self.parts(g.n)]
        most = max((m for _, m in parts), default=0)
        widths = [x.design.fraction_bits for x in self.sums() if x.design.fraction_bits is not None]
        f = min(widths, default=self.width(g))
        if g.spread + g.width > f:
            return None
        ends = (self.last, self.final)
        if not all(x.cuts_nothing(g.lowest, f) and x.signs_ok for x in ends):
            return None
        if not all(x.part(g.lowest, g.highest, f, most) for x, _ in parts):
            return None
        positive = g.zero_c or self.last.design.zero_sign == "positive" or self.unit.emulation is not None
        if not positive or (self.unit.k != g.n and not holds(self.unit.d_format, self.final.target)):
            return None
        return f, most


def plan_of(unit: UnitSpec) -> Plan | None:
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
    last = Sum(d, d.rho)
    inner = None if d.c_position == "joined" else Sum(d, d.step)
    if any(x.target.integer_bits is not None for x in (last, inner) if x is not None):
        return None
    if how is None:
        return Plan(unit, last, inner, last)
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
    return Plan(unit, last, inner, Sum(adder, adder.rho))


def holds(f: Format, c: Conversion) -> bool:
    """`Words.holds`: whether a result's word stands for the result."""
    return (
        f.specials is Specials.IEEE and f.has_zero and f.subnormals and f.sign_bit > 0
        and not f.ignored_low_bits and c.fraction_bits <= f.fraction_bits
        and c.e_min == f.e_min and c.e_max == f.e_max and f.exponent_bits > 1
    )  # fmt: skip


def log2(n: int) -> int:
    """The exponent of the leading bit; 0 for 0."""
    return max(n.bit_length() - 1, 0)
