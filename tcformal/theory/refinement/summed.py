"""A block's sums at their cut points: how terms are aligned and added, and how the total is rounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.stages import DotStep, Floored, Maximum, PartialSum, Rounded, SpecialCases, Total
from tcformal.semantics.sums.step import as_term
from tcformal.theory.formulas import (
    Claim,
    Expr,
    all_of,
    any_of,
    between,
    bits,
    choice,
    constant,
    differ,
    equal,
    iff,
    is_one,
    lower,
    magnitude,
    sg,
    u,
    within,
)
from tcformal.theory.refinement.circuit_numbers import (
    Ending,
    ToRound,
    exponent_of,
    flags,
    in_span,
    is_finite,
    level,
    make_claim,
    number_to_round,
    total_to_round,
)

#: The nodes at which each operand of a sum is cut.
Cuts = Sequence[Sequence[Node]]


class Front:
    """A sum before it is rounded (`Fused.v`, front); `d` is None where nothing is cut off.

    `entering`: the nodes at which its numbers are cut; `known`: what is known of each that is finite.
    """

    def __init__(
        self, total: Total, numbers: Sequence[Number], d: Design | None, entering: Cuts,
        known: Sequence[Sequence[Expr]] | None = None,
    ) -> None:  # fmt: skip
        if len(total.terms) != len(numbers) or total.maximum is None or not total.partials:
            raise InputError("expected a sum's largest exponent, its partial sums and a term for each number")
        self.total, self.numbers, self.entering = total, numbers, entering
        self.alignment, self.zero_exponent = "RO", "none" if d is None else d.zero_exponent
        if d is not None:
            self.alignment = str(d.alignment_rounding)
        self.largest_of, self.tree = total.maximum, total.partials[-1].node
        self.known = known if known is not None else [[] for _ in numbers]
        self.sums: dict[Node, PartialSum] = {x.node: x for x in total.partials}
        # The term of an addend is the last one below it.
        of = {x.aligned: i for i, x in enumerate(total.terms)}
        addends = [y for x in total.partials for y in x.of if y not in self.sums]
        self.places = {y: [of[z] for z in reachable([y]) if z in of][-1] for y in addends}

    # ------------------------------------------------------------------ terms of the plan
    @property
    def top(self) -> Expr:
        """The largest exponent."""
        return level(self.total.e_max)

    @property
    def n(self) -> Expr:
        """The sum, an integer in units of its last bit."""
        return sg(self.total.bits)

    @property
    def bound(self) -> int:
        """The largest magnitude of the sum."""
        return self._bound(self.tree)

    def _bound(self, node: Node) -> int:
        if node in self.sums:
            return sum(map(self._bound, self.sums[node].of))
        return self._addend_bound(self.places[node])

    def _addend_bound(self, i: int) -> int:
        return self.largest(i)

    def largest(self, i: int) -> int:
        """The largest aligned magnitude of a term."""
        term = self.numbers[i].term
        kept = largest_kept(term.significand.width, self.total.fraction_bits - term.fraction_bits)
        return min(kept, (1 << self.total.terms[i].aligned.width) - 1)

    def code_range(self, i: int) -> tuple[int, int]:
        """The least and the largest code with which a term is compared."""
        e, low = self.numbers[i].term.exponent, self.largest_of.low
        zero = {"own": e.low, "none": low}.get(str(self.zero_exponent), self.zero_exponent)
        assert isinstance(zero, int)
        return min(e.low, zero) - low, max(e.high, zero) - low

    @property
    def _in_tops(self) -> list[Expr]:
        """`Fused.v`, in_tops, of all terms."""
        least, most = zip(*map(self.code_range, range(len(self.numbers))), strict=True)
        code = u(self.largest_of.code)
        return [max(least) <= code, code <= max(most)]

    def to_round(self, mode: str) -> ToRound:
        """`Fused.v`, fused_sum."""
        return total_to_round(self.total, self.numbers, self.bound, self.sign(mode), self.aligned)

    @property
    def aligned(self) -> tuple[Node, ...]:
        """The aligned terms."""
        return tuple(x.aligned for x in self.total.terms)

    def sign(self, mode: str) -> Expr:
        """The sign of the sum, with that of a zero (`Fused.v`, sum_sign_formula)."""
        none = equal(self.n, 0)
        signs = [is_one(x.term.sign) for x in self.numbers]
        agree = all_of(signs) | all_of(~x for x in signs)
        zeros = all_of(equal(u(x), 0) for x in self.aligned) & agree
        of_zero = zeros & any_of(signs) | ~zeros & constant(mode == "RD")
        return ~none & (self.n < 0) | none & of_zero

    # ------------------------------------------------------------------ claims
    def claims(self) -> Iterator[Claim]:
        """`Fused.v`, front_claims."""
        for x, known, cut in zip(self.numbers, self.known, self.entering, strict=True):
            given = [is_finite(x), *known]
            yield make_claim(given, in_span(x.term.exponent), cut)
            yield make_claim(given, iff(is_one(x.term.zero), equal(u(x.term.significand), 0)), cut)
        for i in range(len(self.numbers)):
            yield from self._align_claims(i)
        code = self.largest_of.code
        yield make_claim(self._in_tops, equal(self.top, u(code) + self.largest_of.low), [code])
        yield make_claim(self._in_tops, in_span(self.total.e_max), [code])
        yield from self._comparison_claims(self.largest_of, iter(range(len(self.numbers))))
        yield self._total_claim()
        yield from self._tree_claims(self.tree)

    def _align_claims(self, i: int) -> Iterator[Claim]:
        """`Fused.v`, align_claims."""
        x, term = self.total.terms[i], self.numbers[i].term
        exponent, kept, cut = level(term.exponent), u(x.aligned), [term.significand, x.shift]
        given = [~is_one(term.zero), in_span(term.exponent), exponent <= self.top, *self._in_tops]
        shift = equal(u(x.shift), self.top - exponent)
        yield make_claim(given, shift, [term.exponent.bits, term.zero, self.largest_of.code])
        up = max(0, self.total.fraction_bits - term.fraction_bits)
        down = max(0, term.fraction_bits - self.total.fraction_bits)
        clamped = lower(u(x.shift), term.significand.width + up)
        size = u(term.significand) * (1 << up)
        below, at, above = ((a << clamped) * (1 << down) for a in (kept - 1, kept, kept + 1))
        goal = (at <= size) & (size < above)
        if self.alignment == "RO":
            odd = equal(bits(0, 1, kept), 1)
            goal = equal(at, size) | odd & ((below < size) & (size < above))
        yield make_claim([], goal, cut)
        yield make_claim([], kept <= self.largest(i), cut)

    def _comparison_claims(self, t: Maximum, places: Iterator[int]) -> Iterator[Claim]:
        code = u(t.code)
        if not t.halves:
            i = next(places)
            term, (least, most) = self.numbers[i].term, self.code_range(i)
            exponent, cut = level(term.exponent), [term.exponent.bits, term.zero]
            zero = t.low if self.zero_exponent == "none" else self.zero_exponent
            if isinstance(zero, int):
                exponent = choice(is_one(term.zero), zero, exponent)
            yield make_claim([in_span(term.exponent)], equal(code + t.low, exponent), cut)
            yield make_claim([in_span(term.exponent)], between(least, code, most), cut)
            return
        a, b = (u(x.code) for x in t.halves)
        goal = ((a <= code) & (b <= code)) & (equal(code, a) | equal(code, b))
        yield make_claim([], goal, [x.code for x in t.halves])
        for half in t.halves:
            yield from self._comparison_claims(half, places)

    def _within(self, node: Node) -> Expr:
        return within(self._bound(node), sg(node))

    def _total_claim(self) -> Claim:
        return make_claim([self._within(self.tree)], equal(self.n, sg(self.tree)), [self.tree])

    def _tree_claims(self, node: Node) -> Iterator[Claim]:
        if node not in self.sums:
            yield from self._addend_claims(node, self.places[node])
            return
        left, right = self.sums[node].of
        given = [self._within(left), self._within(right)]
        yield make_claim(given, equal(sg(node), sg(left) + sg(right)), [left, right])
        yield from self._tree_claims(left)
        yield from self._tree_claims(right)

    def _addend_claims(self, node: Node, i: int) -> Iterator[Claim]:
        sign, aligned = self.numbers[i].term.sign, self.total.terms[i].aligned
        yield make_claim([], equal(sg(node), _signed(sign, u(aligned))), [sign, aligned])


class Exact(Front):
    """An exact sum of two operands, their leading ones on top (`Stage.v`, Two).

    `into`: the nodes at which operands are cut; `given`: what is supposed of each, that it is finite if none.
    """

    def __init__(
        self, total: Total, operands: Sequence[Number], into: Cuts, given: Sequence[Sequence[Expr]] = ()
    ) -> None:
        if len(operands) != 2:
            raise InputError(f"expected two operands of an exact sum, but got {len(operands)}")
        if any(t.term.sign is not x.term.sign for t, x in zip(total.terms, operands, strict=True)):
            raise InputError("expected the operand of an exact sum to keep its sign, but it does not")
        self.operands, self.into = operands, into
        self.given = given or [[is_finite(r)] for r in operands]
        leads = [Number(t.term, x.nan, x.inf) for t, x in zip(total.terms, operands, strict=True)]
        cuts = [_operand_cut(x, y) for x, y in zip(operands, into, strict=True)]
        super().__init__(total, leads, None, cuts, [_operand_known(x) for x in operands])

    def claims(self) -> Iterator[Claim]:
        """What operands with their leading ones on top are, and their sum."""
        for i in range(2):
            yield from self._lead_claims(i)
        yield from super().claims()

    def _lead_claims(self, i: int) -> Iterator[Claim]:
        """`Stage.v`, lead_claims_when."""
        r, x, given, cut = self.operands[i], self.numbers[i], self.given[i], self.entering[i]
        below, known = x.term.fraction_bits, self.known[i]
        k = exponent_of(r) - exponent_of(x) + (below - r.term.fraction_bits)
        z, lead, some = equal(u(r.term.significand), 0), u(x.term.significand), [*given]
        for y in known:
            yield make_claim(given, y, self.into[i])
        some = [*given, ~z, *known]
        yield make_claim([*given, *known], iff(equal(lead, 0), z), cut)
        yield make_claim(some, between(0, k, below + 1), cut)
        yield make_claim(some, equal(lead, u(r.term.significand) << lower(k, below + 1)), cut)
        yield make_claim(some, 1 << below <= lead, cut)


def _operand_known(r: Number) -> list[Expr]:
    """`Stage.v`, operand_known."""
    return [in_span(r.term.exponent), iff(is_one(r.term.zero), equal(u(r.term.significand), 0))]


def _operand_cut(r: Number, entering: Sequence[Node]) -> Sequence[Node]:
    """The nodes that an operand of an exact sum is cut at."""
    if r.term.significand.op != "mul_expand":  # its parts are read without it
        return entering
    return [*flags([r]), r.term.significand, r.term.exponent.bits, r.term.zero]


def _signed(sign: Node, size: Expr) -> Expr:
    return choice(is_one(sign), 0 - size, size)


def largest_kept(width: int, up: int) -> int:
    """The largest magnitude that is kept of so many bits, moved up, or down and rounded."""
    full = (1 << width) - 1
    return (full << up if up >= 0 else full >> -up) + 1


def _ended(step: DotStep) -> tuple[Total, Rounded, SpecialCases]:
    if step.total is None or step.rounded is None or step.specials is None:
        raise InputError(f"expected a sum that is rounded, but {step.scope} is none")
    return step.total, step.rounded, step.specials


class Fused:
    """One sum that is rounded, of terms that are cut, or exact (`Fused.v`; `Stage.v`, summed)."""

    def __init__(self, step: DotStep, d: Design, entering: Cuts) -> None:
        total, rounded, specials = _ended(step)
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
        before, (total, rounded, specials) = steps[0].total, _ended(steps[-1])
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
        of_zero = zeros & s | ~zeros & constant(mode == "RD")
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


class FramedFront(Front):
    """A sum in c's frame: products of the other sign add their complements (`Frames.v`)."""

    @property
    def _frame(self) -> Node:
        return self.numbers[-1].term.sign

    def _addend_bound(self, i: int) -> int:
        return self.largest(i) + 1

    def _total_claim(self) -> Claim:
        """`Frames.v`, framed_sum_claims."""
        zeros = [x.term.zero for x in self.numbers]
        total = choice(all_of(map(is_one, zeros)), 0, _signed(self._frame, sg(self.tree)))
        return make_claim([self._within(self.tree)], equal(self.n, total), [self.tree, self._frame, *zeros])

    def _addend_claims(self, node: Node, i: int) -> Iterator[Claim]:
        x, term = self.total.terms[i], self.numbers[i].term
        other, a = differ(is_one(term.sign), is_one(self._frame)), u(x.aligned)
        goal = equal(sg(node), choice(other, -1 - a, a))
        yield make_claim([], goal, [term.sign, self._frame, x.aligned])
        yield make_claim([], a <= self.largest(i), [term.significand, x.shift])


class Framed:
    """Products and c at c's exponent and theirs, their sum, and one or two roundings (`Frames.v`).

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(self, d: Design, steps: Sequence[DotStep], into: Cuts, entering: Sequence[Node]) -> None:
        first, *narrowed = steps
        total, rounded, specials = _ended(first)
        *products, self.c = specials.operands
        if d.aligned_group is not None or d.accumulation != "ones_complement" or d.vanished_c == "dropped":
            raise InputError(f"expected products that add complements to c, but {first.scope} has others")
        numbers = [*products, replace(self.c, term=total.terms[-1].term)]
        self.front = FramedFront(total, numbers, d, [*into, entering])
        of = total_to_round(total, specials.operands, self.front.bound)
        self.first = Ending(rounded, specials.result, d, of, "positive" if narrowed else None)
        self.narrowed: Ending | None = None
        if narrowed:
            _, rounded, specials = _ended(narrowed[0])
            # A zero that it is given has no sign, and no other number is subnormal.
            of = replace(number_to_round(self.first.outcome), nodes=of.nodes)
            self.narrowed = Ending(rounded, specials.result, d, of, "ieee")

    @property
    def ending(self) -> Ending:
        """How it is rounded last."""
        return self.first if self.narrowed is None else self.narrowed

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
        self.total, rounded, specials = _ended(last)
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
        inner = replace(d, result_subnormals="kept", zero_sign="sum")
        of = total_to_round(self.total, [*products, self.c], (self.bound + self.c_largest) << self.more)
        self.floor = Ending(last.floor.rounded, last.floor.specials.result, inner, of)
        # A zero that it is given has no sign.
        of = number_to_round(self.floor.outcome)
        self.ending = Ending(rounded, specials.result, d, of, "ieee")

    @property
    def c_largest(self) -> int:
        """The largest magnitude that is kept of c."""
        x = self.c.term
        return largest_kept(x.significand.width, self.joined.fraction_bits - x.fraction_bits)

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
        goal = equal(sg(self.total.bits), sg(k) + self._kept_c * (1 << self.more))
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

    @property
    def _kept_c(self) -> Expr:
        return _signed(self.c.term.sign, u(self.c_floored.kept))

    def _c_claims(self) -> Iterator[Claim]:
        """`RoundDown.v`, c_claims."""
        x, y, e, f = self.c.term, self.c_floored, self.total.e_max, self.joined.fraction_bits
        up, below = max(0, f - x.fraction_bits), max(0, x.fraction_bits - f)
        z, b = lower(u(y.shift), x.significand.width + up), self._kept_c
        size = _signed(x.sign, u(x.significand)) * (1 << up)
        here, next_one = ((t << z) * (1 << below) for t in (b, b + 1))
        far, cut = f + 1 < u(y.shift), [x.sign, x.significand, y.shift]
        yield make_claim([is_finite(self.c)], in_span(x.exponent), self.entering)
        yield _shift_claim(x.exponent, e, y)
        yield make_claim([~far] if self.two else [], (here <= size) & (size < next_one), cut)
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
