"""One fused sum at its cut points, of terms that are cut or exact (`Fused.v`, and `Stage.v`, summed)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.choice import ZeroExponent
from tcformal.semantics.number import Number
from tcformal.semantics.stages import DotStep, Maximum, PartialSum, Total
from tcformal.theory.refinement.ending import Ending, ToRound
from tcformal.theory.refinement.values import exponent_of, is_finite, make_claim
from tcformal.theory.terms import (
    Claim,
    Expr,
    all_of,
    any_of,
    bits,
    choice,
    constant,
    equal,
    iff,
    is_one,
    lower,
    magnitude,
    num,
    sg,
    u,
    within,
)


class Front:
    """A sum before it is rounded (`Fused.v`, front); `entering` are the nodes at which its numbers are cut.

    `known` has what is known of each number that is finite.
    """

    def __init__(
        self, total: Total, numbers: Sequence[Number], alignment: str, zero_exponent: ZeroExponent,
        entering: Sequence[Sequence[Node]], known: Sequence[Sequence[Expr]] | None = None,
    ) -> None:  # fmt: skip
        self.total, self.numbers, self.entering = total, numbers, entering
        self.f, self.alignment, self.zero_exponent = total.fraction_bits, alignment, zero_exponent
        if len(total.terms) != len(numbers):
            raise InputError("expected a term for each number of a sum")
        if total.maximum is None:
            raise InputError("expected a largest exponent of the terms of a sum")
        self.largest_of = total.maximum
        self.known = known if known is not None else [[] for _ in numbers]
        self.spans = [x.term.exponent.high - x.term.exponent.low for x in numbers]
        self.sums: dict[Node, PartialSum] = {x.node: x for x in total.partials}
        self.places = dict(self._leaves())
        if not total.partials:
            raise InputError("expected partial sums of a sum")
        self.tree = total.partials[-1].node

    def _leaves(self) -> Iterator[tuple[Node, int]]:
        """The addends of partial sums, and the term that each of them is."""
        of = {x.aligned: i for i, x in enumerate(self.total.terms)}
        for partial in self.total.partials:
            for y in partial.of:
                if y not in self.sums:
                    found = {of[z] for z in reachable([y]) if z in of}
                    own = {
                        i
                        for i in found
                        if not any(
                            self.total.terms[i].aligned in reachable([self.total.terms[j].aligned])
                            for j in found
                            if j != i
                        )
                    }
                    if len(own) != 1:
                        raise InputError(f"expected one term below an addend, but got {len(own)}")
                    yield y, own.pop()

    # ------------------------------------------------------------------ terms of the plan
    @property
    def top(self) -> Expr:
        """The largest exponent."""
        return u(self.total.e_max.bits) + self.total.e_max.low

    @property
    def top_span(self) -> int:
        """The largest code of the largest exponent."""
        return self.total.e_max.high - self.total.e_max.low

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
            return sum(self._bound(x) for x in self.sums[node].of)
        return self.largest(self.places[node])

    def largest(self, i: int) -> int:
        """The largest aligned magnitude of a term."""
        term = self.numbers[i].term
        up = self.f - term.fraction_bits
        full = (1 << term.significand.width) - 1
        return min((full << up if up >= 0 else full >> -up) + 1, (1 << self.total.terms[i].aligned.width) - 1)

    def _in_span(self, i: int) -> Expr:
        return u(self.numbers[i].term.exponent.bits) <= self.spans[i]

    def code_range(self, i: int) -> tuple[int, int]:
        """The least and the largest code with which a term is compared."""
        e, low = self.numbers[i].term.exponent, self.largest_of.low
        zero = {"own": e.low, "none": low}.get(str(self.zero_exponent), self.zero_exponent)
        assert isinstance(zero, int)
        return min(e.low, zero) - low, max(e.high, zero) - low

    @property
    def _in_tops(self) -> list[Expr]:
        """`Fused.v`, in_tops, of all terms."""
        ranges = [self.code_range(i) for i in range(len(self.numbers))]
        code = u(self.largest_of.code)
        return [
            max((x for x, _ in ranges)) <= code, code <= max((y for _, y in ranges))
        ]  # fmt: skip

    def _comparison_claims(self, t: Maximum, places: Iterator[int]) -> Iterator[Claim]:
        if not t.halves:
            i = next(places)
            x, (least, most) = self.numbers[i], self.code_range(i)
            code, exponent, cut = u(t.code), exponent_of(x), [x.term.exponent.bits, x.term.zero]
            zero = t.low if self.zero_exponent == "none" else self.zero_exponent
            if isinstance(zero, int):
                exponent = choice(is_one(x.term.zero), zero, exponent)
            given = [self._in_span(i)]
            yield make_claim(given, equal(code + t.low, exponent), cut)
            yield make_claim(given, (least <= code) & (code <= most), cut)
            return
        a, b = (u(x.code) for x in t.halves)
        goal = (a <= u(t.code)) & (b <= u(t.code)) & (equal(u(t.code), a) | equal(u(t.code), b))
        yield make_claim([], goal, [x.code for x in t.halves])
        for half in t.halves:
            yield from self._comparison_claims(half, places)

    def to_round(self, mode: str) -> ToRound:
        """`Fused.v`, fused_sum."""
        bound, e_max = self.bound, self.total.e_max
        return ToRound(
            operands=self.numbers,
            size=magnitude(self.n),
            no_size=equal(self.n, 0),
            down=self.n < 0,
            unit=u(e_max.bits) + (e_max.low - self.f),
            bound=bound,
            known=(within(bound, self.n), u(e_max.bits) <= self.top_span),
            sign=self.sign(mode),
            nodes=(self.total.bits, e_max.bits),
        )

    def sign(self, mode: str) -> Expr:
        """The sign of the sum, with that of a zero (`Fused.v`, sum_sign_formula)."""
        none = equal(self.n, 0)
        signs = [is_one(x.term.sign) for x in self.numbers]
        agree = all_of(signs) | all_of(~x for x in signs)
        zeros = all_of(equal(u(x.aligned), 0) for x in self.total.terms) & agree
        down = constant(mode == "RD")
        of_zero = zeros & any_of(signs) | ~zeros & down
        return ~none & (self.n < 0) | none & of_zero

    # ------------------------------------------------------------------ claims
    def front_claims(self) -> Iterator[Claim]:
        """`Fused.v`, front_claims."""
        yield from self.aligned_claims()
        yield make_claim([self._within(self.tree)], equal(self.n, sg(self.tree)), [self.tree])
        yield from self._tree_claims(self.tree)

    def aligned_claims(self) -> Iterator[Claim]:
        """`Fused.v`, aligned_claims."""
        for i, x in enumerate(self.numbers):
            given, cut = [is_finite(x), *self.known[i]], self.entering[i]
            yield make_claim(given, self._in_span(i), cut)
            yield make_claim(given, iff(is_one(x.term.zero), equal(u(x.term.significand), 0)), cut)
        for i in range(len(self.numbers)):
            yield from self._align_claims(i)
        code = self.largest_of.code
        yield make_claim(self._in_tops, equal(self.top, u(code) + self.largest_of.low), [code])
        yield make_claim(self._in_tops, u(self.total.e_max.bits) <= self.top_span, [code])
        yield from self._comparison_claims(self.largest_of, iter(range(len(self.numbers))))

    def _align_claims(self, i: int) -> Iterator[Claim]:
        x, number = self.total.terms[i], self.numbers[i]
        exponent = exponent_of(number)
        yield make_claim(
            [
                ~is_one(number.term.zero), self._in_span(i), exponent <= self.top,
                *self._in_tops,
            ],
            equal(u(x.shift), self.top - exponent),
            [number.term.exponent.bits, number.term.zero, self.largest_of.code],
        )  # fmt: skip
        fraction = number.term.fraction_bits
        up, down = max(0, self.f - fraction), max(0, fraction - self.f)
        clamped = lower(u(x.shift), number.term.significand.width + up)
        size = u(number.term.significand) * (1 << up)
        kept = u(x.aligned)
        below, at, above = ((a << clamped) * (1 << down) for a in (kept - 1, kept, kept + 1))
        odd = equal(bits(0, 1, kept), 1)
        if self.alignment == "RO":
            goal = equal(at, size) | odd & ((below < size) & (size < above))
        else:
            goal = (at <= size) & (size < above)
        cut = [number.term.significand, x.shift]
        yield make_claim([], goal, cut)
        yield make_claim([], kept <= self.largest(i), cut)

    def _within(self, node: Node) -> Expr:
        return within(self._bound(node), sg(node))

    def _tree_claims(self, node: Node) -> Iterator[Claim]:
        if node not in self.sums:
            x, number = self.total.terms[self.places[node]], self.numbers[self.places[node]]
            a = u(x.aligned)
            goal = equal(sg(node), choice(is_one(number.term.sign), 0 - a, a))
            yield make_claim([], goal, [number.term.sign, x.aligned])
            return
        left, right = self.sums[node].of
        given = [self._within(left), self._within(right)]
        yield make_claim(given, equal(sg(node), sg(left) + sg(right)), [left, right])
        yield from self._tree_claims(left)
        yield from self._tree_claims(right)

    def terms_cut(self) -> list[Node]:
        """The nodes that its special cases and its sign are made of."""
        flags = [y for x in self.numbers for y in (x.nan, x.inf, x.term.sign)]
        return [*flags, *(x.aligned for x in self.total.terms)]


def leads(total: Total, operands: Sequence[Number]) -> list[Number]:
    """The operands of an exact sum with their leading ones on top; InputError where one has another sign."""
    if any(t.term.sign is not x.term.sign for t, x in zip(total.terms, operands, strict=True)):
        raise InputError("expected the operand of an exact sum to keep its sign, but it does not")
    return [Number(t.term, x.nan, x.inf) for t, x in zip(total.terms, operands, strict=True)]


def span_of(r: Number) -> int:
    """The largest code of the exponent of a number."""
    return r.term.exponent.high - r.term.exponent.low


def operand_known(r: Number) -> list[Expr]:
    """`Stage.v`, operand_known."""
    x = r.term
    return [
        u(x.exponent.bits) <= span_of(r),
        iff(is_one(x.zero), equal(u(x.significand), 0)),
    ]


def operand_cut(r: Number, entering: Sequence[Node]) -> Sequence[Node]:
    """The nodes that an operand of an exact sum is cut at."""
    if r.term.significand.op != "mul_expand":  # its parts are read without it
        return entering
    return [r.nan, r.inf, r.term.sign, r.term.significand, r.term.exponent.bits, r.term.zero]


def lead_claims(
    r: Number, x: Number, given: Sequence[Expr], entering: Sequence[Node], cut: Sequence[Node]
) -> Iterator[Claim]:
    """`Stage.v`, lead_claims_when."""
    bits_below = x.term.fraction_bits
    k = exponent_of(r) - exponent_of(x) + (bits_below - r.term.fraction_bits)
    z, lead, known = equal(u(r.term.significand), 0), u(x.term.significand), operand_known(r)
    most = num(bits_below + 1)
    for y in known:
        yield make_claim(given, y, entering)
    some = [*given, ~z, *known]
    yield make_claim([*given, *known], iff(equal(lead, 0), z), cut)
    yield make_claim(some, (k >= 0) & (k <= most), cut)
    yield make_claim(some, equal(lead, u(r.term.significand) << lower(k, most)), cut)
    yield make_claim(some, 1 << bits_below <= lead, cut)


class Fused(Front):
    """One sum that is rounded, of terms that are cut, or exact (`Fused.v`; `Stage.v`, summed)."""

    def __init__(self, step: DotStep, d: Design, entering: Sequence[Sequence[Node]]) -> None:
        if step.total is None or step.rounded is None or step.specials is None:
            raise InputError(f"expected a sum that is rounded, but {step.scope} is none")
        self.d, self.operands, self.into = d, step.specials.operands, entering
        self.exact = d.fraction_bits is None
        if self.exact and len(self.operands) != 2:
            raise InputError(
                f"expected two operands of the exact sum {step.scope}, but got {len(self.operands)}"
            )
        if self.exact:
            cuts = [operand_cut(x, y) for x, y in zip(self.operands, entering, strict=True)]
            numbers = leads(step.total, self.operands)
            super().__init__(
                step.total, numbers, "RO", "none", cuts, [operand_known(x) for x in self.operands]
            )
        else:
            super().__init__(step.total, self.operands, str(d.alignment_rounding), d.zero_exponent, entering)
        of = self.to_round(step.rounded.target.mode)
        self.ending = Ending(step.rounded, step.specials.result, d, of)

    def claims(self) -> Iterator[Claim]:
        """`Stage.v`, summed_claims."""
        if self.exact:
            for i, (r, x) in enumerate(zip(self.operands, self.numbers, strict=True)):
                yield from lead_claims(r, x, [is_finite(r)], self.into[i], self.entering[i])
        yield from self.front_claims()
        yield from self.ending.kept_claims()
        cut = [*self.terms_cut(), *self.ending.of.nodes] if self.ending.tiny else self.cut()
        # A zero sum of terms of one sign is none of terms that are not 0: the total is made of them here.
        signed = [x for x in cut if x is not self.total.bits] if self.d.zero_sign == "ieee" else cut
        yield from self.ending.outcome_claims(cut, signed)

    def cut(self) -> list[Node]:
        """The nodes that special cases, the number that is handed on, and its word are made of."""
        return [*self.terms_cut(), self.total.bits, *self.ending.nodes()]
