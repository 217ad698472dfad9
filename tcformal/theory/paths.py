"""What sums lose, in fixed point: in any order, as `coq/Paths.v` and `coq/Growth.v` compute it, or rounded
down, as `coq/DownChains.v` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from tcformal.design.rounding import NEAREST, Conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import (
    PARTS,
    always_infinite,
    least,
    plain,
    product_share,
    start_format,
    term_facts,
)
from tcformal.theory.design import block_size

#: An operand of a sum.
A = TypeVar("A")
#: Fraction bits of factors: `Paths.width`.
WIDTH = 128
ONE = 1 << WIDTH


@dataclass(frozen=True, slots=True)
class Stage:
    """A fused sum and what it is rounded to."""

    design: Design
    target: Conversion


@dataclass(frozen=True, slots=True)
class Bound:
    """What is known of a partial result, `Paths.bound`.

    Ranges and units: its error is (factor - 1)·Σ|products| + (of_c - 1)·|c| + beside·2^tiny, all three in
    units of 2^-WIDTH.
    """

    known: bool = True
    nothing: bool = False
    short: int | None = None
    settles: int | None = None
    factor: int = ONE
    of_c: int = 0
    beside: int = 0


UNKNOWN = Bound(known=False)
ZERO = Bound(nothing=True, short=0, settles=0)


@dataclass(frozen=True, slots=True)
class Paths:
    """What a block loses, `first` from c = 0 and `later` beside any c.

    Ranges and units: of its products' magnitudes, and of |c|, in units of 2^-WIDTH, and, of sums in an order,
    in units of 2^tiny of those.
    """

    floor: int
    tiny: int
    first: tuple[int, int, int]
    later: tuple[int, int, int]

    @property
    def start(self) -> int:
        """The first block's constant from c = 0, or more: that later ones lose no more of their products."""
        k, of_c, _ = self.later
        return max(self.first[0], -(-((k + ONE) * ONE) // (of_c + ONE)) - ONE)

    @property
    def beside(self) -> int:
        """The constant of a first block beside any c."""
        return max(self.later[:2])


@lru_cache(maxsize=16)
def paths(unit: UnitSpec) -> Paths | None:
    """The losses of a unit whose sums are made in an order; None where the theorem does not apply."""
    if not order_ok(unit):
        return None
    floor, tiny = _units(unit)
    first, later = (_losses(unit, floor, tiny, c) for c in (ZERO, _some_c(unit)))
    return None if first is None or later is None else Paths(floor, tiny, first, later)


def losses(unit: UnitSpec) -> Paths | None:
    """What a block loses, of sums in an order or rounded down; None where neither theorem applies."""
    return paths(unit) or rounded_down(unit)


def rounded_down(unit: UnitSpec) -> Paths | None:
    """`DownChains.down_losses`, with the share of a unit that `product_share` gives."""
    d, terms, start, t = unit.design, term_facts(unit), start_format(unit), unit.design.rho
    if d.summation not in ("tr", "gtr") or unit.emulation is not None or unit.tree is not None:
        return None
    f, bits, n = int(d.fraction_bits or 0), int(d.sum_fraction_bits or 0), block_size(unit)
    whole = d.group is None and d.piece_bits is None and d.zero_words == "summed"
    if not (whole and plain(d) and d.c_subnormals == "kept" and d.carry_bits is None):
        return None
    if terms is None or d.normalise_products or d.zero_exponent != "none":
        return None
    bottom, once = lost_bits(t), d.sum_rounding == "RD_ADDENDS"
    if (
        not max(terms.bits, t.fraction_bits, start.fraction_bits) <= f <= bits
        or max(f + 12, bits + 1) > WIDTH
    ):
        return None
    part = product_share(unit)
    units = part * max((n + 1) // 2 - 1, 0) + PARTS if d.summation == "gtr" else part * max(n - 1, 0)
    again = ONE + (1 << WIDTH - bottom)
    if not once:
        again = up(again * (ONE + (1 << WIDTH - bits)))

    def lost(x: int) -> int:
        return up((ONE + x) * again) - ONE

    own, beside = (lost(x << WIDTH - f - 12) for x in (units, units + PARTS))
    of_c = lost(1 << WIDTH - bits - (not once))
    return Paths(max(t.e_min, least(start)), 0, (own, 0, 0), (beside, of_c, 0))


def order_ok(unit: UnitSpec) -> bool:
    """`Growth.order_ok`, for the `floor` that `_units` gives."""
    d = unit.design
    if d.group is not None or d.piece_bits is not None:
        return False
    if d.zero_words != "summed" and not (unit.a_format.has_zero and unit.b_format.has_zero):
        return False
    if d.summation in ("tr", "gtr") or d.framed or d.c_position == "after":
        return False
    if d.lost_bits != "cut" or d.zero_terms is not None or d.product_limit is not None:
        return False
    if d.c_subnormals == "hidden_bit":
        return False
    for s in stages(unit):
        if s.target.e_min > s.target.e_max:
            return False
        if d.c_subnormals != "kept" and (not _flushes(s.design) or not _exact(s)):
            return False
    return start_format(unit).fraction_bits <= c_bits(unit)


def cuts(unit: UnitSpec) -> bool:
    """Whether some sum cuts its terms."""
    return any(s.target.integer_bits is None and s.design.fraction_bits is not None for s in stages(unit))


def _losses(unit: UnitSpec, floor: int, tiny: int, c: Bound) -> tuple[int, int, int] | None:
    def add(stage: Stage, operands: Sequence[Bound]) -> Bound:
        return after_sum(stage, operands, floor, tiny)

    made = in_order(unit, add, ZERO, UNKNOWN, [_term(unit, tiny)] * block_size(unit), c)
    bits = c_bits(unit)
    if not made.known or not _fits(made.short, bits) or (cuts(unit) and not _fits(made.settles, bits)):
        return None
    return made.factor - ONE, max(made.of_c, ONE) - ONE, made.beside


def _units(unit: UnitSpec) -> tuple[int, int]:
    """The largest exponent of numbers without a leading bit, and the unit of what is lost beside."""
    targets = [(s.target, s.design) for s in stages(unit)]
    if unit.design.product_rounding is not None:
        targets.append((unit.design.product_conversion, unit.design))
    floor = max(least(start_format(unit)), *(t.e_min for t, _ in targets))
    cut = [floor - lost_bits(t) - of.fraction_bits for t, of in targets if of.fraction_bits is not None]
    return floor, min(cut) if cut else max(_flush_exponent(t, of) for t, of in targets)


def after_sum(stage: Stage, operands: Sequence[Bound], floor: int, tiny: int) -> Bound:
    """`Paths.after_stage`."""
    d, t = stage.design, stage.target
    if t.integer_bits is not None or not all(b.known for b in operands):
        return UNKNOWN
    live = [b for b in operands if not b.nothing]
    leads = d.fraction_bits is None or all(_fits(b.settles, d.fraction_bits) for b in operands)
    lost = stage_loss(stage, len(live), leads, floor, tiny)
    if lost is None or t.fraction_bits < 0 or not t.e_min <= min(t.e_max, floor):
        return UNKNOWN
    k, h = lost
    settles = t.fraction_bits if _plain(stage) else None
    if not live and _exact(stage):
        return ZERO
    if len(live) == 1 and _fits(live[0].short, t.fraction_bits):
        return replace(live[0], short=t.fraction_bits, settles=settles, beside=live[0].beside + h)
    factor = max((b.factor for b in live), default=ONE)
    of_c = max((b.of_c for b in live), default=0)
    factor, of_c, beside = (up(x * (ONE + k)) for x in (factor, of_c, sum(b.beside for b in live)))
    return Bound(True, False, t.fraction_bits, settles, factor, of_c, beside + h)


def stage_loss(stage: Stage, n: int, leads: bool, floor: int, tiny: int) -> tuple[int, int] | None:
    """`Paths.stage_loss`."""
    d, t = stage.design, stage.target
    low = lost_bits(t)
    if _exact(stage):
        rest = max(0, WIDTH + _flush_exponent(t, d) - tiny)
        return (1 << WIDTH - low, 1 << rest) if low <= WIDTH else None
    f = d.fraction_bits
    if f is None or d.zero_exponent != "none" or d.carry_bits is not None:
        return None
    lost = max(n - 1, 0)
    kept = lost if t.mode in NEAREST else max(lost - 1, 0)
    more = 0 if d.alignment_rounding == "RZ" else lost
    rest = WIDTH + floor - low - f - tiny
    if not (leads and _plain(stage) and not d.normalise_products and f >= 0 and t.fraction_bits <= f):
        return None
    if t.e_min > floor or low + f > WIDTH or rest < 0:
        return None
    return (
        (kept << WIDTH - f) + (1 << WIDTH - low) + (more << WIDTH - low - f),
        (kept << rest + low) + (1 << rest + f) + (more << rest),
    )


def _term(unit: UnitSpec, tiny: int) -> Bound:
    """`Growth.term_bound`."""
    d = unit.design
    facts = term_facts(replace(unit, design=replace(d, product_rounding=None)))
    made = Bound()
    if facts is not None:
        settles = facts.bits if cuts(unit) and facts.bits >= 0 else None
        made = Bound(short=facts.most.bit_length() - 1, settles=settles)
    if d.product_rounding is None:
        return made
    t = d.product_conversion
    if t.integer_bits is not None or not monotone(t, d):
        return UNKNOWN
    low, rest = lost_bits(t), max(0, WIDTH + _flush_exponent(t, d) - tiny)
    if low > WIDTH:
        return UNKNOWN
    factor = ONE if _fits(made.short, t.fraction_bits) else ONE + (1 << WIDTH - low)
    return Bound(short=t.fraction_bits, factor=factor, beside=1 << rest)


def _some_c(unit: UnitSpec) -> Bound:
    bits = c_bits(unit)
    return Bound(short=bits, settles=bits if cuts(unit) else None, of_c=ONE)


def c_bits(unit: UnitSpec) -> int:
    """Fraction bits of c, be it a result: `Growth.c_bits`."""
    return max(unit.c_format.fraction_bits, 0, *(s.target.fraction_bits for s in stages(unit)))


def lost_bits(t: Conversion) -> int:
    """A rounding loses at most 2^-this of what it rounds."""
    return t.fraction_bits + (t.mode in NEAREST)


def _flush_exponent(t: Conversion, d: Design) -> int:
    return t.e_min if _flushes(d) else t.e_min - lost_bits(t)


def _flushes(d: Design) -> bool:
    return d.result_subnormals != "kept"


def monotone(t: Conversion, d: Design) -> bool:
    """`Monotone.monotone_conv`."""
    return t.fraction_bits >= 0 and always_infinite(d, t)


def _plain(stage: Stage) -> bool:
    return not _flushes(stage.design) and monotone(stage.target, stage.design)


def _exact(stage: Stage) -> bool:
    d, t = stage.design, stage.target
    unbounded = d.fraction_bits is None and d.carry_bits is None
    return t.integer_bits is None and unbounded and monotone(t, d)


def _fits(bits: int | None, most: int) -> bool:
    return bits is not None and bits <= most


def up(x: int) -> int:
    """The product of two factors as a factor, rounded up."""
    return -(-x >> WIDTH)


# ------------------------------------------------------------------ orders of summation (`coq/Orders.v`)
def stages(unit: UnitSpec) -> list[Stage]:
    """Of every sum of a block, `Exact.block_stages`."""
    d = unit.design
    if unit.tree is not None:
        return [Stage(x, x.rho) for x in stage_designs(unit.tree, d).values()]
    if d.c_position == "joined":
        return [Stage(d, d.rho)]
    return [Stage(d, d.step), Stage(d, d.rho)]


def in_order(
    unit: UnitSpec, add: Callable[[Stage, Sequence[A]], A], zero: A, none: A, terms: Sequence[A], c: A
) -> A:
    """The sum of a block's terms and c, by a sum of any operands: `Orders.block_order`."""
    d = unit.design
    if unit.tree is not None:
        of = {name: Stage(x, x.rho) for name, x in stage_designs(unit.tree, d).items()}

        def step(t: Step) -> A:
            operands = []
            for x in t.children:
                if isinstance(x, Step):
                    operands.append(step(x))
                elif isinstance(x, int):
                    operands.append(terms[x] if x < len(terms) else none)
                else:
                    operands.append(c if x == "c" else zero)
            return add(of[t.stage], operands)

        return step(unit.tree.root)
    last = Stage(d, d.rho)
    if d.c_position == "joined":
        return add(last, [*terms, c])
    first = Stage(d, d.step)

    def chain(start: A, rest: Sequence[A]) -> A:
        for x in rest:
            start = add(first, [start, x])
        return start

    if d.c_position == "first":
        return add(last, [chain(c, terms[:-1]), terms[-1]])

    def two(rest: Sequence[A]) -> A:
        return add(first, [chain(zero, rest[::2]), chain(zero, rest[1::2])])

    def pairs(rest: Sequence[A]) -> list[A]:
        both = [add(first, rest[i : i + 2]) for i in range(0, len(rest) - 1, 2)]
        return [*both, *rest[len(both) * 2 :]]

    inner: A
    if d.summation == "fused":
        inner = add(first, terms)
    elif d.summation == "sequential":
        inner = chain(terms[0], terms[1:])
    elif d.summation == "two_chains":
        inner = two(terms)
    elif d.summation == "pair_chains":
        inner = two(pairs(terms))
    else:
        level = list(terms)
        while len(level) > 1:
            level = pairs(level)
        inner = level[0]
    return add(last, [inner, c])
