"""What a sum is made from: products, c and what fills up, as claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.number import Number, Term
from tcformal.semantics.stages import (
    DotStep,
    Floored,
    Maximum,
    Rounded,
    SpecialCases,
    Total,
)
from tcformal.theory.formulas import (
    ALWAYS,
    NEVER,
    Claim,
    Expr,
    all_of,
    any_of,
    between,
    bits,
    choice,
    equal,
    iff,
    is_one,
    lower,
    make_claim,
    sg,
    u,
    within,
)
from tcformal.theory.plans.ending import Ending
from tcformal.theory.plans.numbers import (
    Leaf,
    Shown,
    ToRound,
    exponent_of,
    flags,
    in_span,
    is_finite,
    level,
    same_number,
    shown_number,
    total_to_round,
)


@dataclass(frozen=True, slots=True)
class Product:
    """A product: as the multiplier gives it, with its sign and limit, and rounded.

    `normal`: its factors with leading ones, where they are multiplied so.
    """

    exact: Leaf
    normal: tuple[Number, Number] | None
    adjusted: Number
    negated: bool
    limit: int | None
    rounding: Ending | None
    #: The products of its factors' digits, where these are summed (`Pieces.v`): places, and the number.
    pieces: tuple[tuple[tuple[int, int], Number], ...] = ()

    @property
    def terms(self) -> list[Number]:
        """What is summed, in order."""
        return [x for _, x in self.pieces] or [self.number]

    def piece_claims(self, size: int) -> Iterator[Claim]:
        """`Unit.v`, pieces_claims_at."""
        a, b = (x.term() for x in self.exact.factors[:2])
        cut = [x.word for x in self.exact.factors]  # digits are read off words where these have them
        if self.normal is not None:
            cut = [x.term.significand for x in self.normal]
            a, b = map(u, cut)
        for (i, j), number in self.pieces:
            digits = bits(size * i, size, a) * bits(size * j, size, b)
            goal = equal(u(number.term.significand), digits * (1 << size * (i + j)))
            yield make_claim([is_finite(self.number)], goal, cut)

    @property
    def number(self) -> Number:
        """What is summed."""
        return self.adjusted if self.rounding is None else self.rounding.outcome

    def cut(self) -> list[Node]:
        """The nodes that it is cut at as a term."""
        return [x.word for x in self.exact.factors] if self.rounding is None else self.rounding.cut()

    def claims(self) -> Iterator[Claim]:
        """`Unit.v`, leaf_claims_at."""
        if self.normal is None:
            yield from self.exact.claims()
        else:
            a, b = self.normal
            for x, y in zip(self.exact.factors, self.normal, strict=True):
                yield from _normal_claims(x.shown(), y)
            shown = shown_number(a).times(shown_number(b))
            significand = u(a.term.significand) * u(b.term.significand)
            last = [a.term.significand, b.term.significand]
            yield from shown.number_claims(self.exact.number, [], [], significand, (), last)
        yield from self._adjust_claims()
        if self.rounding is not None:
            yield from self.rounding.alone_claims()

    def _adjust_claims(self) -> Iterator[Claim]:
        r, to = self.exact.number, self.adjusted
        if not self.negated and self.limit is None:
            if not same_number(r, to):
                raise ValueError("expected a product that is neither negated nor limited as it is")
            return
        s = shown_number(r)
        over = NEVER
        if self.limit is not None:
            k = self.limit + s.fraction_bits - s.exponent
            least = 1 << lower(k, r.term.significand.width)
            over = ~equal(s.significand, 0) & (least <= s.significand)
        neg = ~s.neg if self.negated else s.neg
        made = replace(s, inf=s.inf | over, neg=neg)
        given, cut = [~made.nan, ~made.inf], [r.term.significand]
        yield from made.number_claims(to, [], given, made.significand, cut, cut)


def _normal_claims(s: Shown, y: Number) -> Iterator[Claim]:
    """`Products.v`, normal_claims."""
    finite, z = [~s.nan, ~s.inf], equal(s.significand, 0)
    k, sig, f = s.exponent - exponent_of(y), u(y.term.significand), s.fraction_bits
    some = [~z, *finite]
    yield from s.special_claims(shown_number(y))
    yield make_claim([z, *finite], equal(sig, 0) & equal(exponent_of(y), s.exponent))
    yield make_claim(some, (k >= 0) & (k <= f))
    yield make_claim(some, equal(sig, s.significand << lower(k, f)))
    yield make_claim(some, (1 << f <= sig) & (sig < 2 << f))


#: The nodes at which each operand of a sum is cut.
Cuts = Sequence[Sequence[Node]]


class Front:
    """A sum before it is rounded (`Fused.v`, front); `d` is None where nothing is cut off.

    `entering`: the nodes at which its numbers are cut; `known`: what is known of each that is finite.
    """

    #: How much larger than a term what is added for it may be.
    complement = 0

    def __init__(
        self, total: Total, numbers: Sequence[Number], d: Design | None, entering: Cuts,
        known: Sequence[Sequence[Expr]] | None = None,
    ) -> None:  # fmt: skip
        added = [x.node for x in total.partials] or [total.bits] * (len(numbers) == 1)
        if len(total.terms) != len(numbers) or total.maximum is None or not added:
            raise InputError("expected a sum's largest exponent, its partial sums and a term for each number")
        self.total, self.numbers, self.entering = total, numbers, entering
        self.alignment, self.zero_exponent = "RO", "none" if d is None else d.zero_exponent
        if d is not None:
            self.alignment = str(d.alignment_rounding)
        self.largest_of, self.tree = total.maximum, added[-1]
        self.known = known if known is not None else [[] for _ in numbers]
        self.sums = {x.node: x for x in total.partials}
        # The term of an addend is the last one below it.
        of = {x.aligned: i for i, x in enumerate(total.terms)}
        addends = [y for x in total.partials for y in x.of if y not in self.sums] or added
        self.places = {y: [of[z] for z in reachable([y]) if z in of][-1] for y in addends}
        # The largest exponent; the sum, an integer in units of its last bit, and its largest magnitude.
        self.top, self.n, self.bound = level(total.e_max), sg(total.bits), self._bound(self.tree)
        self.aligned = tuple(x.aligned for x in total.terms)

    def _bound(self, node: Node) -> int:
        if node in self.sums:
            return sum(map(self._bound, self.sums[node].of))
        return self.largest(self.places[node]) + self.complement

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

    def sign(self, mode: str) -> Expr:
        """The sign of the sum, with that of a zero (`Fused.v`, sum_sign_formula)."""
        none = equal(self.n, 0)
        signs = [is_one(x.term.sign) for x in self.numbers]
        agree = all_of(signs) | all_of(~x for x in signs)
        zeros = all_of(equal(u(x), 0) for x in self.aligned) & agree
        of_zero = zeros & any_of(signs) | ~zeros & (ALWAYS if mode == "RD" else NEVER)
        return ~none & (self.n < 0) | none & of_zero

    def claims(self) -> Iterator[Claim]:
        """`Fused.v`, front_claims."""
        yield from self.aligned_claims()
        yield self._total_claim()
        yield from self._tree_claims(self.tree)

    def aligned_claims(self) -> Iterator[Claim]:
        """`Fused.v`, aligned_claims."""
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

    def _align_claims(self, i: int) -> Iterator[Claim]:
        """`Fused.v`, align_claims."""
        x, term = self.total.terms[i], self.numbers[i].term
        exponent, kept, cut = level(term.exponent), u(x.aligned), [term.significand, x.shift]
        given = [~is_one(term.zero), in_span(term.exponent), exponent <= self.top, *self._in_tops]
        shift = equal(u(x.shift), self.top - exponent)
        top = [self.largest_of.code] if self.largest_of.halves else []  # of one term it is the term's
        yield make_claim(given, shift, [term.exponent.bits, term.zero, *top])
        if self.alignment == "RD":
            cut.append(term.sign)
        up = max(0, self.total.fraction_bits - term.fraction_bits)
        down = max(0, term.fraction_bits - self.total.fraction_bits)
        clamped = lower(u(x.shift), term.significand.width + up)
        size = u(term.significand) * (1 << up)
        below, at, above = ((a << clamped) * (1 << down) for a in (kept - 1, kept, kept + 1))
        goal = (at <= size) & (size < above)
        if self.alignment == "RO":
            odd = equal(bits(0, 1, kept), 1)
            goal = equal(at, size) | odd & ((below < size) & (size < above))
        elif self.alignment == "RD":
            goal = floored_at(term, self.total.fraction_bits, Floored(x.shift, x.aligned))
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
        yield make_claim([], equal(sg(node), signed_by(sign, u(aligned))), [sign, aligned])


class Exact(Front):
    """An exact sum of one or two operands, their leading ones on top (`Stage.v`, Two).

    `into`: the nodes at which operands are cut; `given`: what is supposed of each, that it is finite if none.
    """

    def __init__(
        self, total: Total, operands: Sequence[Number], into: Cuts, given: Sequence[Sequence[Expr]] = ()
    ) -> None:
        if len(operands) not in (1, 2):
            raise InputError(f"expected one or two operands of an exact sum, but got {len(operands)}")
        if any(t.term.sign is not x.term.sign for t, x in zip(total.terms, operands, strict=True)):
            raise InputError("expected the operand of an exact sum to keep its sign, but it does not")
        self.operands, self.into = operands, into
        self.given = given or [[is_finite(r)] for r in operands]
        leads = [Number(t.term, x.nan, x.inf) for t, x in zip(total.terms, operands, strict=True)]
        cuts = [_operand_cut(x, y) for x, y in zip(operands, into, strict=True)]
        # `Stage.v`, operand_known.
        terms = [x.term for x in operands]
        known = [[in_span(x.exponent), iff(is_one(x.zero), equal(u(x.significand), 0))] for x in terms]
        super().__init__(total, leads, None, cuts, known)

    def claims(self) -> Iterator[Claim]:
        """What operands with their leading ones on top are, and their sum."""
        for i in range(len(self.operands)):
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


def _operand_cut(r: Number, entering: Sequence[Node]) -> Sequence[Node]:
    """The nodes that an operand of an exact sum is cut at."""
    if r.term.significand.op != "mul_expand":  # its parts are read without it
        return entering
    return [*flags([r]), r.term.significand, r.term.exponent.bits, r.term.zero]


def signed_by(sign: Node, size: Expr) -> Expr:
    return choice(is_one(sign), 0 - size, size)


def floored_at(x: Term, bits: int, y: Floored) -> Expr:
    """A number is rounded down at another exponent (`Fused.v`, floor_formula)."""
    up, below = max(0, bits - x.fraction_bits), max(0, x.fraction_bits - bits)
    z, kept = lower(u(y.shift), x.significand.width + up), signed_by(x.sign, u(y.kept))
    size = signed_by(x.sign, u(x.significand)) * (1 << up)
    here, next_one = ((t << z) * (1 << below) for t in (kept, kept + 1))
    return (here <= size) & (size < next_one)


def largest_kept(width: int, up: int) -> int:
    """The largest magnitude that is kept of so many bits, moved up, or down and rounded."""
    full = (1 << width) - 1
    return (full << up if up >= 0 else full >> -up) + 1


def last_records(step: DotStep) -> tuple[Total, Rounded, SpecialCases]:
    if step.total is None or step.rounded is None or step.specials is None:
        raise InputError(f"expected a sum that is rounded, but {step.scope} is none")
    return step.total, step.rounded, step.specials
