"""The sum of a block: of terms that are aligned, exact, kept in a window or in a tree, as claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import lowered
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import (
    DotStep,
    Floored,
    Total,
)
from tcformal.semantics.sums.step import as_term
from tcformal.semantics.sums.windows import fixed_sum, window_total
from tcformal.theory.circuits import name
from tcformal.theory.formulas import (
    ALWAYS,
    NEVER,
    Claim,
    Expr,
    all_of,
    any_of,
    choice,
    differ,
    equal,
    iff,
    integer_text,
    is_one,
    lower,
    magnitude,
    make_claim,
    num,
    sg,
    u,
    within,
)
from tcformal.theory.plans.ending import Ending
from tcformal.theory.plans.numbers import (
    exponent_of,
    flags,
    in_span,
    is_finite,
    level,
    number_to_round,
    total_to_round,
)
from tcformal.theory.plans.products import (
    Cuts,
    Exact,
    Front,
    floored_at,
    largest_kept,
    last_records,
    signed_by,
)
from tcformal.theory.plans.written import (
    ending_text,
    floored_text,
    front_text,
    level_text,
    number_text,
    operand_span,
    operand_text,
    rounding_text,
)


class Fused:
    """One sum that is rounded, of terms that are cut, or exact (`Fused.v`; `Stage.v`, summed)."""

    def __init__(self, step: DotStep, d: Design, entering: Cuts) -> None:
        total, rounded, specials = last_records(step)
        self.exact = d.fraction_bits is None
        if self.exact:
            self.front: Front = Exact(total, specials.operands, entering)
        else:
            self.front = Front(total, specials.operands, d, entering)
        self.ending = Ending(rounded, specials.result, d, self.front.to_round(rounded.target.mode))

    def claims(self) -> Iterator[Claim]:
        """`Stage.v`, summed_claims."""
        yield from self.front.claims()
        yield from self.ending.claims(self._signed)

    def _signed(self, cut: Sequence[Node]) -> list[Node]:
        # A zero sum of terms of one sign is none of terms that are not 0: the total is made of them here.
        ieee = self.ending.design.zero_sign == "ieee"
        return [x for x in cut if not ieee or x is not self.front.total.bits]


@dataclass(frozen=True, slots=True)
class At:
    """A number that is there (`Stage.v`, At); `zero`: exponent and fraction bits of a +0 that a chain
    starts from.
    """

    number: Number
    zero: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Summed:
    """A sum of a tree (`Stage.v`, Sum), and the number that it counts as in the next one."""

    sum: Fused
    result: Number
    children: tuple[At | Summed, ...]
    flushed: bool

    @property
    def ending(self) -> Ending:
        """How it is rounded."""
        return self.sum.ending


class After:
    """The products' sum, that as a number added to c, and the end (`After.v`).

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(
        self, g: Graph, d: Design, steps: Sequence[DotStep], into: Cuts, entering: Sequence[Node]
    ) -> None:
        before, (total, rounded, specials) = steps[0].total, last_records(steps[-1])
        if before is None:
            raise InputError(f"expected a sum of products, but {steps[0].scope} is none")
        *products, self.c = specials.operands
        self.first = Front(before, products, d, into)
        self.made = Number(as_term(g, before), g.truth(False), g.truth(False))
        self.known = [within(self.first.bound, self.first.n), in_span(before.e_max)]
        self.nodes = [before.bits, before.e_max.bits]
        given = [self.known, [is_finite(self.c)]]
        self.leads = Exact(total, [self.made, self.c], [self.nodes, entering], given)
        beside = (*self.first.aligned, before.bits)
        sign = self._sign(rounded.target.mode)
        of = total_to_round(total, specials.operands, self.leads.bound, sign, beside)
        self.ending = Ending(rounded, specials.result, d, of)

    def _sign(self, mode: str) -> Expr:
        """`After.v`, after_sign."""
        s, none = self.first.sign(mode), equal(self.leads.n, 0)
        zeros = equal(self.first.n, 0) & iff(s, is_one(self.c.term.sign))
        of_zero = zeros & s | ~zeros & (ALWAYS if mode == "RD" else NEVER)
        return ~none & (self.leads.n < 0) | none & of_zero

    def claims(self) -> Iterator[Claim]:
        """`After.v`, after_claims."""
        yield from self.first.claims()
        y, n = self.made, self.first.n
        yield make_claim([], is_finite(y))
        yield make_claim(self.known, iff(is_one(y.term.sign), n < 0), self.nodes)
        yield make_claim(self.known, equal(u(y.term.significand), magnitude(n)), self.nodes)
        yield make_claim(self.known, equal(exponent_of(y), self.first.top), self.nodes)
        yield from self.leads.claims()
        yield from self.ending.claims(self._signed)

    def _signed(self, cut: Sequence[Node]) -> Sequence[Node]:
        # The sign of a zero is that of terms of which none is lost: both sums are made of them there.
        if self.ending.design.zero_sign != "ieee":
            return cut
        of = [*flags(self.ending.of.operands), *self.first.aligned]
        return [*of, self.nodes[1], self.c.term.significand]


class Window:
    """Products in a window that holds them all, their sum as a number added to c, and the end (`Window.v`).

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(
        self, g: Graph, d: Design, steps: Sequence[DotStep], into: Cuts, entering: Sequence[Node]
    ) -> None:
        total, rounded, specials = last_records(steps[-1])
        *self.products, self.c = specials.operands
        self.into, terms = into, [x.term for x in self.products]
        with g.scope(f"plan.{steps[-1].scope}"):
            whole = window_total(g, terms)
        self.low, self.node, self.placed = whole.lsb.low, whole.bits, [x.aligned for x in whole.terms]
        addends = (signed_magnitude(g, x.sign, y) for x, y in zip(terms, self.placed, strict=True))
        self.places = {g.wrap_to_mod(x, whole.bits.width): i for i, x in enumerate(addends)}
        self.made = Number(fixed_sum(g, terms), g.truth(False), g.truth(False))
        given = [[self._bounded(self.node)], [is_finite(self.c)]]
        self.leads = Exact(total, [self.made, self.c], [[self.node], entering], given)
        of = total_to_round(total, specials.operands, self.leads.bound, self._sign(rounded.target.mode))
        self.ending = Ending(rounded, specials.result, d, of)

    def up_by(self, x: Number) -> int:
        """By how much more than its exponent's code a product is shifted into the window."""
        return x.term.exponent.low - x.term.fraction_bits - self.low

    def _bound(self, node: Node) -> int:
        if node not in self.places:
            return sum(map(self._bound, node.args))
        x = self.products[self.places[node]]
        return ((1 << x.term.significand.width) - 1) << (operand_span(x) + self.up_by(x))

    def _bounded(self, node: Node) -> Expr:
        return within(self._bound(node), sg(node))

    def _sign(self, mode: str) -> Expr:
        """`Window.v`, window_sign."""
        none = equal(self.leads.n, 0)
        signs = [is_one(x.term.sign) for x in (*self.products, self.c)]
        return ~none & (self.leads.n < 0) | none & (any_of(signs) if mode == "RD" else all_of(signs))

    def claims(self) -> Iterator[Claim]:
        """`Window.v`, window_claims."""
        for x, placed, cut in zip(self.products, self.placed, self.into, strict=True):
            t = x.term
            known = in_span(t.exponent)
            yield make_claim([is_finite(x)], known, cut)
            moved = u(t.significand) << u(t.exponent.bits) + self.up_by(x)
            yield make_claim([known], equal(u(placed), moved), [t.significand, t.exponent.bits])
        yield from self._tree_claims(self.node)
        y, n, given = self.made, sg(self.node), [self._bounded(self.node)]
        signs = [x.term.sign for x in self.products]
        negative = (n < 0) | equal(n, 0) & all_of(map(is_one, signs))
        yield make_claim([], is_finite(y))
        yield make_claim(given, iff(is_one(y.term.sign), negative), [self.node, *signs])
        yield make_claim(given, equal(u(y.term.significand), magnitude(n)), [self.node])
        yield make_claim([], equal(u(y.term.exponent.bits), 0))
        yield from self.leads.claims()
        yield from self.ending.claims()

    def _tree_claims(self, node: Node) -> Iterator[Claim]:
        if node in self.places:
            i = self.places[node]
            sign, placed = self.products[i].term.sign, self.placed[i]
            yield make_claim([], equal(sg(node), signed_by(sign, u(placed))), [sign, placed])
            return
        a, b = node.args
        yield make_claim([self._bounded(a), self._bounded(b)], equal(sg(node), sg(a) + sg(b)), [a, b])
        yield from self._tree_claims(a)
        yield from self._tree_claims(b)

    def text(self) -> str:
        """The sum as `Window.v`, window."""

        def added(node: Node) -> str:
            if node in self.places:
                return f"(Leaf {name(node)} {self.places[node]}%nat)"
            return f"(Partial {name(node)} {' '.join(map(added, node.args))})"

        rows = "; ".join(
            f"Placed {number_text(x)} {operand_span(x)} {name(y)}"
            for x, y in zip(self.products, self.placed, strict=True)
        )
        of = " ".join(f"({operand_text(x)})" for x in (self.made, self.c))
        return (
            f"(Window [{rows}] {integer_text(self.low)} {added(self.node)} {of} {front_text(self.leads)}"
            f" {self.leads.total.fraction_bits} {ending_text(self.ending)})"
        )


class FramedFront(Front):
    """A sum in c's frame: products of the other sign add their complements (`Frames.v`)."""

    @property
    def _frame(self) -> Node:
        return self.numbers[-1].term.sign

    complement = 1

    def _total_claim(self) -> Claim:
        """`Frames.v`, framed_sum_claims."""
        zeros = [x.term.zero for x in self.numbers]
        total = choice(all_of(map(is_one, zeros)), 0, signed_by(self._frame, sg(self.tree)))
        return make_claim([self._within(self.tree)], equal(self.n, total), [self.tree, self._frame, *zeros])

    def _addend_claims(self, node: Node, i: int) -> Iterator[Claim]:
        x, term = self.total.terms[i], self.numbers[i].term
        other, a = differ(is_one(term.sign), is_one(self._frame)), u(x.aligned)
        goal = equal(sg(node), choice(other, -1 - a, a))
        yield make_claim([], goal, [term.sign, self._frame, x.aligned])
        yield make_claim([], a <= self.largest(i), [term.significand, x.shift])

    def text(self) -> str:
        """The sum as `Frames.v`, framed_front."""
        return f"Complements {front_text(self)}"


class GroupsFront:
    """Sums of groups of products, and c at an exponent of its own, rounded down at the largest
    exponent (`FrameGroups.v`).

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(
        self, d: Design, total: Total, operands: Sequence[Number], into: Cuts, entering: Sequence[Node]
    ) -> None:
        *products, self.c = operands
        size, bits = d.aligned_group or 1, total.fraction_bits
        if (d.alignment_rounding, d.c_fraction_bits is None) != ("RD", False):
            raise InputError(f"expected groups that are rounded down, but got {d.alignment_rounding}")
        none = replace(d, zero_exponent="none")
        places = [slice(i * size, (i + 1) * size) for i in range(len(total.of))]
        self.fronts = [Front(x, products[i], none, into[i]) for x, i in zip(total.of, places, strict=True)]
        self.d, self.total, self.entering = d, total, entering
        *self.floored, self.c_floored = total.floored
        self.low_c = lowered(self.c.term, (d.c_fraction_bits or 0) - bits)
        self.c_largest = largest_kept(self.low_c.significand.width, bits - self.low_c.fraction_bits)
        self.bound = sum(x.bound for x in self.fronts) + self.c_largest

    def claims(self) -> Iterator[Claim]:
        """Groups and c at the largest exponent, and their sum (`FrameGroups.v`, groups_claims)."""
        for x in self.fronts:
            yield from x.claims()
        yield from self._level_claims()
        for x, y in zip(self.fronts, self.floored, strict=True):
            yield from _floor_claims(x.total, 0, self.total.e_max, y)
        yield from self._c_claims()
        sign, kept, c = self.c.term.sign, [y.kept for y in self.floored], self.c_floored.kept
        given = [within(x.bound, sg(y)) for x, y in zip(self.fronts, kept, strict=True)]
        goal = equal(sg(self.total.bits), reduce(add, map(sg, kept)) + signed_by(sign, u(c)))
        yield make_claim([*given, u(c) <= self.c_largest], goal, [*kept, c, sign])

    def _level_claims(self) -> Iterator[Claim]:
        """The largest exponent is that of a group or of c (`FrameGroups.v`, level_claims)."""
        x, e = self.low_c, self.total.e_max
        own = level(x.exponent)
        zero = self.fronts[0].largest_of.low if self.d.zero_exponent == "none" else self.d.zero_exponent
        if isinstance(zero, int):
            own = choice(is_one(x.zero), zero, own)
        parts = [y.total.e_max for y in self.fronts]
        entered = [*map(level, parts), own]
        cut = [*(y.bits for y in parts), x.exponent.bits, x.zero]
        largest = [all_of(y <= level(e) for y in entered), any_of(equal(level(e), y) for y in entered)]
        for goal in (*largest, in_span(e)):
            yield make_claim([*map(in_span, parts), in_span(x.exponent)], goal, cut)

    def _c_claims(self) -> Iterator[Claim]:
        """c is rounded down, or dropped where it vanishes (`FrameGroups.v`, vanishing_claims)."""
        x, y, e, f = self.low_c, self.c_floored, self.total.e_max, self.total.fraction_bits
        given, own = [is_finite(self.c)], level(x.exponent)
        yield make_claim(given, in_span(x.exponent), self.entering)
        yield make_claim(given, iff(is_one(x.zero), equal(u(x.significand), 0)), self.entering)
        known = [~is_one(x.zero), own <= level(e), in_span(x.exponent), in_span(e)]
        shift = equal(u(y.shift), level(e) - own)
        yield make_claim(known, shift, [x.exponent.bits, x.zero, e.bits])
        gone, cut = NEVER, [x.sign, x.significand, y.shift, e.bits]
        if self.d.vanished_c == "dropped":
            up, below = max(0, f - x.fraction_bits), max(0, x.fraction_bits - f)
            one = (num(1) << lower(u(y.shift), x.significand.width + up)) * (1 << below)
            gone = (num(self.d.rho.e_min + f) < level(e)) & (u(x.significand) * (1 << up) < one)
        yield make_claim([~gone], floored_at(x, f, y), cut)
        yield make_claim([gone], equal(u(y.kept), 0), cut)
        yield make_claim([], u(y.kept) <= self.c_largest, cut)

    def text(self) -> str:
        """The sum as `Frames.v`, framed_front."""
        sums = "; ".join(
            f"GroupSum {front_text(x)} {floored_text(y)}"
            for x, y in zip(self.fronts, self.floored, strict=True)
        )
        return (
            f"InGroups (GroupsPlan [{sums}] ({operand_text(self.c)}) {floored_text(self.c_floored)}"
            f" {self.c_largest} {level_text(self.total.e_max)} {name(self.total.bits)})"
        )


class Framed:
    """Products and c at c's exponent and theirs, their sum, and one or two roundings (`Frames.v`).

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(self, d: Design, steps: Sequence[DotStep], into: Cuts, entering: Sequence[Node]) -> None:
        first, *narrowed = (x for x in steps if x.rounded is not None)
        total, rounded, specials = last_records(first)
        *products, self.c = specials.operands
        self.front: FramedFront | GroupsFront
        if d.aligned_group is not None:
            self.front = GroupsFront(d, total, specials.operands, into, entering)
        elif d.accumulation != "ones_complement" or d.vanished_c == "dropped":
            raise InputError(f"expected products that add complements to c, but {first.scope} has others")
        else:
            numbers = [*products, replace(self.c, term=total.terms[-1].term)]
            self.front = FramedFront(total, numbers, d, [*into, entering])
        of = total_to_round(total, specials.operands, self.front.bound)
        self.first = Ending(rounded, specials.result, d, of, "positive" if narrowed else None)
        self.narrowed: Ending | None = None
        self.ending = self.first
        if narrowed:
            again = narrowed[0]
            if again.rounded is None or again.specials is None:
                raise InputError(f"expected a number that is rounded, but {again.scope} is none")
            # A zero that it is given has no sign, and no other number is subnormal.
            of = replace(number_to_round(self.first.outcome), nodes=of.nodes)
            self.ending = self.narrowed = Ending(again.rounded, again.specials.result, d, of, "ieee")

    def claims(self) -> Iterator[Claim]:
        """`Frames.v`, framed_claims."""
        yield from self.front.claims()
        yield from self.first.claims()
        if self.narrowed is not None:
            yield from self.narrowed.alone_claims()


class Down:
    """The products' sums, c, all rounded down to the largest exponent, and two roundings (`RoundDown.v`).

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(self, d: Design, steps: Sequence[DotStep], into: Cuts, entering: Sequence[Node]) -> None:
        *firsts, last = steps
        self.total, rounded, specials = last_records(last)
        if last.floor is None:
            raise InputError(f"expected a sum that is rounded down before its rounding, but got {last.scope}")
        *products, self.c = last.floor.specials.operands
        self.entering, self.two, (self.joined,) = entering, len(firsts) == 2, self.total.of
        places = [slice(i, None, len(firsts)) for i in range(len(firsts))]
        self.fronts = [
            Front(x, products[y], d, into[y])
            for x, y in zip(self.joined.of or (self.joined,), places, strict=True)
        ]
        self.bound = sum(x.bound for x in self.fronts)
        self.products_floored, self.c_floored = self.total.floored
        self.more = self.total.fraction_bits - self.joined.fraction_bits
        # The largest magnitude that is kept of c, and what is kept.
        x = self.c.term
        self.c_largest = largest_kept(x.significand.width, self.joined.fraction_bits - x.fraction_bits)
        self.kept_c = signed_by(x.sign, u(self.c_floored.kept))
        inner = replace(d, result_subnormals="kept", zero_sign="sum")
        of = total_to_round(self.total, [*products, self.c], (self.bound + self.c_largest) << self.more)
        self.floor = Ending(last.floor.rounded, last.floor.specials.result, inner, of)
        # A zero that it is given has no sign.
        of = number_to_round(self.floor.outcome)
        self.ending = Ending(rounded, specials.result, d, of, "ieee")

    def claims(self) -> Iterator[Claim]:
        """`RoundDown.v`, down_claims."""
        yield from self.fronts[0].claims()
        if self.two:
            yield from self._side_claims()
        e, of_c = self.total.e_max, self.c.term.exponent
        yield from _larger_claims(self.joined.e_max, of_c, e)
        yield from _floor_claims(self.joined, self.more, e, self.products_floored)
        yield from self._c_claims()
        k, c = self.products_floored.kept, self.c_floored.kept
        goal = equal(sg(self.total.bits), sg(k) + self.kept_c * (1 << self.more))
        ranges = [within(self.bound << self.more, sg(k)), u(c) <= self.c_largest]
        yield make_claim(ranges, goal, [k, c, self.c.term.sign])
        q, rho = self.floor.of, self.floor.rounded.target
        below = u(self.floor.rounded.height) + 1 <= rho.e_max - rho.e_min
        yield make_claim([~q.no_size, *q.known], below, q.nodes)
        yield from self.floor.claims()
        yield from self.ending.alone_claims()

    def _side_claims(self) -> Iterator[Claim]:
        """`RoundDown.v`, side_claims."""
        sides, floored, e = self.joined.of, self.joined.floored, self.joined.e_max
        yield from self.fronts[1].claims()
        yield from _larger_claims(sides[0].e_max, sides[1].e_max, e)
        for side, y in zip(sides, floored, strict=True):
            yield from _floor_claims(side, 0, e, y)
        kept = [x.kept for x in floored]
        given = [within(x.bound, sg(k)) for x, k in zip(self.fronts, kept, strict=True)]
        yield make_claim(given, equal(sg(self.joined.bits), sg(kept[0]) + sg(kept[1])), kept)

    def _c_claims(self) -> Iterator[Claim]:
        """`RoundDown.v`, c_claims."""
        x, y, e, f = self.c.term, self.c_floored, self.total.e_max, self.joined.fraction_bits
        far, cut = f + 1 < u(y.shift), [x.sign, x.significand, y.shift]
        yield make_claim([is_finite(self.c)], in_span(x.exponent), self.entering)
        yield _shift_claim(x.exponent, e, y)
        yield make_claim([~far] if self.two else [], floored_at(x, f, y), cut)
        yield make_claim([], u(y.kept) <= self.c_largest, cut)
        if self.two:
            yield make_claim([far], equal(u(y.kept), 0), cut)


def _larger_claims(a: Exponent, b: Exponent, e: Exponent) -> Iterator[Claim]:
    """e is the larger one of two exponents."""
    x, y = level(a), level(b)
    for goal in (equal(level(e), choice(x < y, y, x)), in_span(e)):
        yield make_claim([in_span(a), in_span(b)], goal, [a.bits, b.bits])


def _shift_claim(own: Exponent, e: Exponent, y: Floored) -> Claim:
    given = [level(own) <= level(e), in_span(own), in_span(e)]
    return make_claim(given, equal(u(y.shift), level(e) - level(own)), [own.bits, e.bits])


def _floor_claims(x: Total, up: int, e: Exponent, y: Floored) -> Iterator[Claim]:
    """A sum moved up and rounded down at another exponent."""
    z, scaled, k = lower(u(y.shift), x.bits.width + up), sg(x.bits) * (1 << up), sg(y.kept)
    yield _shift_claim(x.e_max, e, y)
    yield make_claim([], (k << z <= scaled) & (scaled < k + 1 << z), [x.bits, y.shift])


#: The sum of a block.
BlockSum = Summed | After | Down | Framed | Window


def block_text(x: BlockSum) -> str:
    """The sum of a block as `Unit.v`, summed_block."""
    if isinstance(x, Summed):
        return f"(InTree {tree_text(x)})"
    if isinstance(x, Framed):
        front, first = x.front.text(), ending_text(x.first)
        return f"(FramedSum (FramedPlan ({front}) {number_text(x.c)} {first} {rounding_text(x.narrowed)}))"
    if isinstance(x, Window):
        return f"(WindowSum {x.text()})"
    if isinstance(x, Down):
        return f"(DownSum {_down(x)})"
    of = " ".join(f"({operand_text(r)})" for r in (x.made, x.c))
    return (
        f"(AfterSum (After {front_text(x.first)} {x.first.total.fraction_bits} {of} {front_text(x.leads)}"
        f" {x.leads.total.fraction_bits} {ending_text(x.ending)}))"
    )


def _down(x: Down) -> str:
    sides = "None"
    if x.two:
        kept, e = " ".join(f"{floored_text(y)}," for y in x.joined.floored), level_text(x.joined.e_max)
        sides = f"(Some ({front_text(x.fronts[1])}, {kept} {e}, {name(x.joined.bits)}%positive))"
    c = f"{number_text(x.c)} {floored_text(x.c_floored)} {x.c_largest} {operand_span(x.c)}"
    last = f"{level_text(x.total.e_max)} {name(x.total.bits)} {x.floor.rounded.target.e_max}"
    return (
        f"(DownPlan {front_text(x.fronts[0])} {sides} {floored_text(x.products_floored)} {c} {last}"
        f" {ending_text(x.floor)} {operand_span(x.floor.outcome)} {ending_text(x.ending)})"
    )


def tree_text(x: At | Summed) -> str:
    """A tree of sums as `Stage.v`, tree_plan."""
    if isinstance(x, At):
        return f"(At {number_text(x.number)})"
    flushed = f"(Some {number_text(x.result)})" if x.flushed else "None"
    return f"(Sum {sum_text(x.sum)} {flushed} [{'; '.join(map(tree_text, x.children))}])"


def sum_text(x: Fused) -> str:
    """A sum as `Stage.v`, summed."""
    f, fused = x.front.total.fraction_bits, f"(Fused {front_text(x.front)} {ending_text(x.ending)})"
    if not isinstance(x.front, Exact):
        return f"(One {f} {fused})"
    return f"(Two {f} [{'; '.join(map(operand_text, x.front.operands))}] {fused})"
