"""Refinement: that a unit's circuit computes what its design does, from words to words.

A unit's circuit, the plan of its cut points and the claims about them are data for `coq/Unit.v`, whose
theorem
`words_to_words` says that the claims suffice.  Each claim is decided by a solver whose proof is checked.
The plan is read
off the stage records and not trusted: a wrong cut point makes a claim false, or Coq refuse the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tcformal.design.spec import Design
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format, Sign, Specials
from tcformal.interp.cnf import Cnf
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.semantics.mma import flushed_product
from tcformal.semantics.number import Number
from tcformal.semantics.pack import converted_word
from tcformal.semantics.product import product
from tcformal.semantics.stages import Block, Dot, DotStep, PartialSum
from tcformal.semantics.unpack import unpack
from tcformal.solve.certificate import Certificate, certify
from tcformal.solve.result import Status
from tcformal.solve.sat import refuted
from tcformal.theory.design import coq_design
from tcformal.theory.terms import (
    ALWAYS,
    NEVER,
    Bits,
    Claim,
    Expr,
    all_of,
    any_of,
    at_most,
    bits,
    both,
    choice,
    constant,
    differ,
    either,
    equal,
    iff,
    is_one,
    less,
    lower,
    magnitude,
    minus,
    negation,
    num,
    plus,
    sg,
    shifted,
    times,
    u,
    within,
)  # fmt: skip


# ------------------------------------------------------------------ numbers and factors
@dataclass(frozen=True, slots=True)
class Shown:
    """A value as formulas over the words that it is made of (`Leaves.v`, shown)."""

    nan: Expr
    inf: Expr
    neg: Expr
    significand: Expr
    exponent: Expr
    fraction_bits: int

    def zero(self) -> Expr:
        """It is a number, and 0."""
        return both(negation(either(self.nan, self.inf)), equal(self.significand, num(0)))

    def flushed(self, rule: str) -> Shown:
        """The value with what a rule makes of subnormals."""
        if rule not in ("positive_zero", "signed_zero"):
            return self
        small = less(self.significand, num(1 << self.fraction_bits))
        below = both(negation(self.inf), both(negation(equal(self.significand, num(0))), small))
        neg = both(self.neg, negation(below)) if rule == "positive_zero" else self.neg
        return Shown(
            self.nan,
            self.inf,
            neg,
            choice(below, num(0), self.significand),
            self.exponent,
            self.fraction_bits,
        )

    def number_claims(
        self, r: Number, known: Sequence[Expr], given: Sequence[Expr], significand: Expr,
        free: Sequence[Node],
        last: Sequence[Node],
    ) -> Iterator[Claim]:  # fmt: skip
        """`Leaves.v`, number_claims; `last` are the cut points of the claim about the significand."""
        no = negation(self.nan)
        yield _claim(known, iff(is_one(r.nan), self.nan), free)
        yield _claim([no, *known], iff(is_one(r.inf), self.inf), free)
        yield _claim([no, *known], iff(is_one(r.term.sign), self.neg), free)
        yield _claim([no, negation(self.inf), *known], equal(_exponent(r), self.exponent), free)
        yield _claim([*given, *known], equal(u(r.term.significand), significand), last)

    def times(self, other: Shown) -> Shown:
        """The product of two values."""
        return Shown(
            either(
                either(self.nan, other.nan),
                either(both(self.inf, other.zero()), both(self.zero(), other.inf)),
            ),
            either(self.inf, other.inf),
            differ(self.neg, other.neg),
            times(self.significand, other.significand),
            plus(self.exponent, other.exponent),
            self.fraction_bits + other.fraction_bits,
        )


@dataclass(frozen=True, slots=True)
class Factor:
    """A word of a format, and the node of its significand where the circuit has one."""

    word: Node
    fmt: Format
    significand: Node | None
    rule: str = "kept"

    def shown(self) -> Shown:
        """The word, read as its format says, its subnormals as the rule has them."""
        return self._read().flushed(self.rule)

    def _read(self) -> Shown:
        f, w = self.fmt, u(self.word)
        low, t_bits, e_bits = f.ignored_low_bits, f.fraction_bits, f.exponent_bits
        t, e = bits(low, t_bits, w), bits(low + t_bits, e_bits, w)
        s = equal(bits(low + t_bits + e_bits, 1, w), num(1))
        none = equal(e, num(0)) if f.has_zero else NEVER
        ones, full = equal(e, num((1 << e_bits) - 1)), equal(t, num((1 << t_bits) - 1))
        empty = equal(t, num(0))
        nan = {
            Specials.IEEE: both(ones, negation(empty)),
            Specials.ALL_ONES_NAN: both(ones, full),
            Specials.NEGATIVE_ZERO_NAN: both(s, both(equal(e, num(0)), empty)),
            Specials.NONE: NEVER,
        }[f.specials]
        return Shown(
            nan,
            both(ones, empty) if f.specials is Specials.IEEE else NEVER,
            s if f.sign is Sign.PRESENT else NEVER,
            choice(none, t if f.subnormals else num(0), plus(t, num(1 << t_bits))),
            choice(none, num(1 - f.bias), minus(e, num(f.bias))),
            t_bits,
        )

    def term(self) -> Expr:
        """Its significand."""
        return self.shown().significand if self.significand is None else u(self.significand)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number that is a product of words, or one word; `converted`: words, and those that they are
    first converted to.
    """

    factors: tuple[Factor, ...]
    number: Number
    converted: tuple[tuple[Factor, Factor], ...] = ()

    def claims(self) -> Iterator[Claim]:
        """`Unit.v`, leaf_claims_at."""
        for x, to in self.converted:
            yield from _conversion_claims(x, to)
        shown = self.factors[0].shown()
        significand = self.factors[0].term()
        for x in self.factors[1:]:
            shown, significand = shown.times(x.shown()), times(significand, x.term())
        words = [x.word for x in self.factors]
        for x in self.factors:
            if x.significand is not None:
                y = x.shown()
                yield _claim(
                    [negation(y.nan), negation(y.inf)], equal(u(x.significand), y.significand), words
                )
        r = self.number
        cut = [
            x.significand
            for x in self.factors
            if x.significand is not None and x.significand is not r.term.significand
        ]
        yield from shown.number_claims(r, [], [], significand, words, [*cut, *words])


def _conversion_claims(x: Factor, to: Factor) -> Iterator[Claim]:
    """`Unit.v`, conversion_claims."""
    a, b, g = x.shown(), to.shown(), to.fmt
    least = num(1 - g.bias if g.has_zero else -g.bias)
    k = plus(minus(a.exponent, b.exponent), num(b.fraction_bits - a.fraction_bits))
    finite, zero = [negation(a.nan), negation(a.inf)], equal(a.significand, num(0))
    yield _claim([], iff(b.nan, a.nan))
    yield _claim([negation(a.nan)], iff(b.inf, a.inf))
    yield _claim([negation(a.nan)], iff(b.neg, a.neg))
    yield _claim([negation(zero), *finite], both(at_most(num(0), k), at_most(k, num(64))))
    yield _claim(finite, equal(b.significand, shifted(a.significand, lower(k, num(64)))))
    yield _claim(finite, both(at_most(least, b.exponent), less(b.significand, num(2 << g.fraction_bits))))
    yield _claim([zero, *finite], equal(b.exponent, least))
    yield _claim(
        [negation(zero), *finite],
        either(at_most(num(1 << g.fraction_bits), b.significand), equal(b.exponent, least)),
    )


def _shown_number(r: Number) -> Shown:
    return Shown(
        is_one(r.nan),
        is_one(r.inf),
        is_one(r.term.sign),
        u(r.term.significand),
        _exponent(r),
        r.term.fraction_bits,
    )


def _same(a: Number, b: Number) -> bool:
    """Whether two numbers are the same nodes."""
    x, y = a.term, b.term
    return (
        a.nan is b.nan and a.inf is b.inf and x.sign is y.sign and x.significand is y.significand
        and x.exponent.bits is y.exponent.bits and (x.exponent.low, x.fraction_bits) == (y.exponent.low,
        y.fraction_bits)
    )  # fmt: skip


def _flush_claims(
    known: Sequence[Expr], rule: str, r: Number, to: Number, free: Sequence[Node]
) -> Iterator[Claim]:
    """`Stage.v`, flush_claims."""
    kept = rule not in ("positive_zero", "signed_zero")
    if kept and _same(r, to):
        return
    shown = _shown_number(r).flushed(rule)
    if known:
        known = [either(is_one(r.nan), either(is_one(r.inf), all_of(known)))]
    given = [negation(shown.nan), negation(shown.inf)]
    yield from shown.number_claims(to, known, given, shown.significand, free, free)


def _known_claims(x: tuple[int, int], r: Number) -> Iterator[Claim]:
    """`Stage.v`, known_claims, of a +0 with an exponent and fraction bits."""
    shown = Shown(NEVER, NEVER, NEVER, num(0), num(x[0]), x[1])
    yield from shown.number_claims(r, [], [], num(0), (), ())


def _claim(given: Sequence[Expr], goal: Expr, free: Sequence[Node] = ()) -> Claim:
    return Claim(tuple(given), goal, frozenset(x for x in free if x.op not in ("const", "input")))


def _exponent(r: Number) -> Expr:
    return plus(u(r.term.exponent.bits), num(r.term.exponent.low))


def _finite(r: Number) -> Expr:
    return both(negation(is_one(r.nan)), negation(is_one(r.inf)))


# ------------------------------------------------------------------ a fused sum
class Fused:
    """One sum at its cut points (`Fused.v`); `entering` are the nodes at which its operands are cut."""

    def __init__(self, step: DotStep, d: Design, entering: Sequence[Sequence[Node]]) -> None:
        if step.total is None or step.rounded is None or step.specials is None:
            raise InputError(f"expected a sum that is rounded, but {step.scope} is none")
        self.step, self.d, self.entering = step, d, entering
        self.total, self.rounded, self.operands = step.total, step.rounded, step.specials.operands
        self.rho = step.rounded.target
        self.f = self.total.fraction_bits
        if len(self.total.terms) != len(self.operands):
            raise InputError(f"expected a term for each operand of {step.scope}")
        self.exact = d.fraction_bits is None
        if self.exact and len(self.operands) != 2:
            raise InputError(
                f"expected two operands of the exact sum {step.scope}, but got {len(self.operands)}"
            )
        self.alignment = "RO" if self.exact else str(d.alignment_rounding)
        self.zero_exponent = "none" if self.exact else d.zero_exponent
        #: The numbers that are aligned: those with their leading ones on top where the sum is exact.
        self.numbers = self.operands
        if self.exact:
            both_ = zip(self.total.terms, self.operands, strict=True)
            self.numbers = tuple(Number(t.term, x.nan, x.inf) for t, x in both_)
        self.spans = [x.term.exponent.high - x.term.exponent.low for x in self.numbers]
        self.outcome = step.specials.result
        self.sums: dict[Node, PartialSum] = {x.node: x for x in self.total.partials}
        self.places = dict(self._leaves())
        self.tree = self.total.partials[-1].node if self.total.partials else self._only_leaf()

    def _only_leaf(self) -> Node:
        raise InputError(f"expected partial sums of {self.step.scope}")

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
                        raise InputError(
                            f"expected one term below an addend of {self.step.scope}, but got {len(own)}"
                        )
                    yield y, own.pop()

    # ------------------------------------------------------------------ terms of the plan
    @property
    def top(self) -> Expr:
        """The largest exponent."""
        return plus(u(self.total.e_max.bits), num(self.total.e_max.low))

    @property
    def top_span(self) -> int:
        """The largest code of the largest exponent."""
        return self.total.e_max.high - self.total.e_max.low

    @property
    def n(self) -> Expr:
        """The sum, an integer in units of its last bit."""
        return sg(self.total.bits)

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
        return at_most(u(self.numbers[i].term.exponent.bits), num(self.spans[i]))

    def _takes_part(self, i: int) -> Expr:
        return negation(is_one(self.numbers[i].term.zero)) if self.zero_exponent == "none" else ALWAYS

    def _part(self, i: int) -> Expr:
        x, zero = self.numbers[i], self.zero_exponent
        return _exponent(x) if isinstance(zero, str) else choice(is_one(x.term.zero), num(zero), _exponent(x))

    # ------------------------------------------------------------------ claims
    def claims(self) -> Iterator[Claim]:
        """`Stage.v`, summed_claims."""
        if self.exact:
            for i in range(2):
                yield from self._lead_claims(i)
        for i, x in enumerate(self.numbers):
            known, cut = (
                self._known(i) if self.exact else [],
                self._operand_cut(i) if self.exact else self.entering[i],
            )
            yield _claim([_finite(x), *known], self._in_span(i), cut)
            yield _claim(
                [_finite(x), *known], iff(is_one(x.term.zero), equal(u(x.term.significand), num(0))), cut
            )
        spans = [self._in_span(i) for i in range(len(self.numbers))]
        codes = [y for x in self.numbers for y in (x.term.exponent.bits, x.term.zero)]
        for i in range(len(self.numbers)):
            yield from self._align_claims(i, spans, codes)
        takes = [self._takes_part(i) for i in range(len(self.numbers))]
        parts = [both(t, equal(self._part(i), self.top)) for i, t in enumerate(takes)]
        yield _claim(spans, either(all_of(negation(t) for t in takes), any_of(parts)), codes)
        yield _claim(spans, at_most(u(self.total.e_max.bits), num(self.top_span)), codes)
        yield _claim([self._within(self.tree)], equal(self.n, sg(self.tree)), [self.tree])
        yield from self._tree_claims(self.tree)
        yield from self._kept_claims()
        yield from self._outcome_claims()

    def span(self, i: int) -> int:
        """The largest code of an operand that is a number."""
        e = self.operands[i].term.exponent
        return e.high - e.low

    def _operand_cut(self, i: int) -> Sequence[Node]:
        x = self.operands[i]
        if x.term.significand.op != "mul_expand":  # its parts are read without it
            return self.entering[i]
        return [x.nan, x.inf, x.term.sign, x.term.significand, x.term.exponent.bits, x.term.zero]

    def _known(self, i: int) -> list[Expr]:
        """`Stage.v`, operand_known."""
        x = self.operands[i].term
        return [
            at_most(u(x.exponent.bits), num(self.span(i))), iff(is_one(x.zero), equal(u(x.significand),
            num(0)))
        ]  # fmt: skip

    def _lead_claims(self, i: int) -> Iterator[Claim]:
        r, x = self.operands[i], self.numbers[i]
        bits_below = x.term.fraction_bits
        k = plus(minus(_exponent(r), _exponent(x)), num(bits_below - r.term.fraction_bits))
        z, lead, cut = equal(u(r.term.significand), num(0)), u(x.term.significand), self._operand_cut(i)
        for y in self._known(i):
            yield _claim([_finite(r)], y, self.entering[i])
        known, some = [_finite(r), *self._known(i)], [_finite(r), negation(z), *self._known(i)]
        yield _claim(known, iff(equal(lead, num(0)), z), cut)
        yield _claim(some, both(at_most(num(0), k), at_most(k, num(bits_below + 1))), cut)
        yield _claim(some, equal(lead, shifted(u(r.term.significand), lower(k, num(bits_below + 1)))), cut)
        yield _claim(some, at_most(num(1 << bits_below), lead), cut)

    def _align_claims(self, i: int, spans: Sequence[Expr], codes: Sequence[Node]) -> Iterator[Claim]:
        x, number = self.total.terms[i], self.numbers[i]
        yield _claim([self._takes_part(i), *spans], at_most(self._part(i), self.top), codes)
        yield _claim(
            [negation(is_one(number.term.zero)), *spans],
            equal(u(x.shift), minus(self.top, _exponent(number))),
            codes,
        )
        fraction = number.term.fraction_bits
        up, down = max(0, self.f - fraction), max(0, fraction - self.f)
        clamped = lower(u(x.shift), num(number.term.significand.width + up))
        size = times(u(number.term.significand), num(1 << up))
        kept = u(x.aligned)
        below, at, above = (
            times(shifted(a, clamped), num(1 << down))
            for a in (minus(kept, num(1)), kept, plus(kept, num(1)))
        )
        odd = equal(bits(0, 1, kept), num(1))
        if self.alignment == "RO":
            goal = either(equal(at, size), both(odd, both(less(below, size), less(size, above))))
        else:
            goal = both(at_most(at, size), less(size, above))
        cut = [number.term.significand, x.shift]
        yield _claim([], goal, cut)
        yield _claim([], at_most(kept, num(self.largest(i))), cut)

    def _within(self, node: Node) -> Expr:
        return within(self._bound(node), sg(node))

    def _tree_claims(self, node: Node) -> Iterator[Claim]:
        if node not in self.sums:
            x, number = self.total.terms[self.places[node]], self.numbers[self.places[node]]
            a = u(x.aligned)
            goal = equal(sg(node), choice(is_one(number.term.sign), minus(num(0), a), a))
            yield _claim([], goal, [number.term.sign, x.aligned])
            return
        left, right = self.sums[node].of
        given = [self._within(left), self._within(right)]
        yield _claim(given, equal(sg(node), plus(sg(left), sg(right))), [left, right])
        yield from self._tree_claims(left)
        yield from self._tree_claims(right)

    @property
    def _null(self) -> Expr:
        return both(equal(u(self.rounded.kept), num(0)), negation(is_one(self.rounded.away)))

    @property
    def _normal(self) -> Expr:
        p = self.rho.fraction_bits
        return either(at_most(num(1 << p), u(self.rounded.kept)), equal(u(self.rounded.height), num(0)))

    @property
    def _n_zero(self) -> Expr:
        return equal(self.n, num(0))

    def _kept_claims(self) -> Iterator[Claim]:
        p, e_min = self.rho.fraction_bits, self.rho.e_min
        kept, away = u(self.rounded.kept), self.rounded.away
        common = [
            within(self._bound(self.tree), self.n),
            at_most(u(self.total.e_max.bits), num(self.top_span)),
        ]
        last = plus(u(self.rounded.height), num(e_min - p))
        unit = plus(u(self.total.e_max.bits), num(self.total.e_max.low - self.f))
        most = (self._bound(self.tree) + 1).bit_length() + 2
        right, left = lower(minus(last, unit), num(most)), lower(minus(unit, last), num(p + 1))
        size, one = magnitude(self.n), shifted(num(1), right)
        rest = minus(size, shifted(kept, right))
        odd, inexact = equal(bits(0, 1, kept), num(1)), negation(equal(rest, num(0)))
        down = less(self.n, num(0))
        rule = {
            "RZ": NEVER,
            "RNE": either(less(one, plus(rest, rest)), both(equal(one, plus(rest, rest)), odd)),
            "RNA": at_most(one, plus(rest, rest)),
            "RO": both(inexact, negation(odd)),
            "RD": both(inexact, down),
            "RU": both(inexact, negation(down)),
        }[self.rho.mode]
        free = [self.total.bits, self.total.e_max.bits]
        some = negation(self._n_zero)
        yield _claim([self._n_zero, *common], self._null, free)
        yield _claim([some, *common], self._normal, free)
        exact = both(equal(kept, shifted(size, left)), negation(is_one(away)))
        yield _claim([some, at_most(last, unit), *common], exact, free)
        cut = [some, less(unit, last), *common]
        yield _claim(
            cut,
            both(at_most(shifted(kept, right), size), less(size, shifted(plus(kept, num(1)), right))),
            free,
        )
        yield _claim(cut, iff(is_one(away), rule), free)

    def cut(self) -> list[Node]:
        """The nodes that special cases, the number that is handed on, and its word are made of."""
        flags = [y for x in self.numbers for y in (x.nan, x.inf, x.term.sign)]
        aligned = [x.aligned for x in self.total.terms]
        return [
            *flags,
            *aligned,
            self.total.bits,
            self.rounded.normalised,
            self.rounded.height,
            self.rounded.away,
        ]

    def _infinite(self, negative: bool) -> Expr:
        signs = ((x.inf, is_one(x.term.sign)) for x in self.operands)
        return any_of(both(is_one(inf), sign if negative else negation(sign)) for inf, sign in signs)

    @property
    def _is_nan(self) -> Expr:
        infinities = both(self._infinite(False), self._infinite(True))
        return either(any_of(is_one(x.nan) for x in self.numbers), infinities)

    @property
    def _is_inf(self) -> Expr:
        return either(self._infinite(False), self._infinite(True))

    def usual(self) -> list[Expr]:
        """`Fused.v`, usual: what is known where no term is special."""
        return [
            negation(self._is_nan), negation(self._is_inf),
            either(negation(self._n_zero), self._null), either(self._n_zero, self._normal),
        ]  # fmt: skip

    def _outcome_claims(self) -> Iterator[Claim]:
        p, e_min, e_max = self.rho.fraction_bits, self.rho.e_min, self.rho.e_max
        r, down = self.outcome, less(self.n, num(0))
        grown = plus(u(self.rounded.kept), choice(is_one(self.rounded.away), num(1), num(0)))
        carried = at_most(num(1 << (p + 1)), grown)
        small = NEVER if self.d.result_subnormals == "kept" else either(less(grown, num(1 << p)), NEVER)
        zero = either(equal(grown, num(0)), small)
        raised = plus(u(self.rounded.height), choice(carried, num(1), num(0)))
        over = both(at_most(num(1 << p), grown), less(num(e_max - e_min), raised))
        directed = {"RNE": ALWAYS, "RNA": ALWAYS, "RD": down, "RU": negation(down)}.get(self.rho.mode, NEVER)
        infinite = {"infinity": ALWAYS, "ieee": directed}.get(self.d.overflow, NEVER)
        overflow = both(negation(zero), both(over, infinite))
        free, usual = self.cut(), self.usual()
        yield _claim([], iff(is_one(r.nan), self._is_nan), free)
        goal = both(is_one(r.inf), iff(is_one(r.term.sign), self._infinite(True)))
        yield _claim([negation(self._is_nan), self._is_inf], goal, free)
        yield _claim(usual, iff(is_one(r.inf), overflow), free)
        sign = either(both(zero, self._zero_sign()), both(negation(zero), down))
        # A zero sum of terms of one sign is none of terms that are not 0: the total is made of them here.
        made = [x for x in free if x is not self.total.bits] if self.d.zero_sign == "ieee" else free
        yield _claim(usual, iff(is_one(r.term.sign), sign), made)
        largest, carry = num((1 << (p + 1)) - 1), choice(carried, num(1 << p), grown)
        significand = choice(zero, num(0), choice(over, largest, carry))
        yield _claim([negation(overflow), *usual], equal(u(r.term.significand), significand), free)
        exponent = choice(zero, num(e_min), choice(over, num(e_max), plus(num(e_min), raised)))
        yield _claim([negation(overflow), *usual], equal(_exponent(r), exponent), free)

    def _zero_sign(self) -> Expr:
        if self.d.zero_sign == "positive":
            return NEVER
        signs = [is_one(x.term.sign) for x in self.numbers]
        agree = either(all_of(signs), all_of(negation(x) for x in signs))
        nothing = all_of(equal(u(x.aligned), num(0)) for x in self.total.terms)
        zeros = both(nothing, agree)
        mode = constant(self.rho.mode == "RD")
        of_zero = either(both(zeros, any_of(signs)), both(negation(zeros), mode))
        down = less(self.n, num(0))
        sign = either(both(negation(self._n_zero), down), both(self._n_zero, of_zero))
        return sign if self.d.zero_sign == "ieee" else both(negation(self._n_zero), sign)


# ------------------------------------------------------------------ a unit
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


class Plan:
    """A unit's circuit, its cut points and the claims about them.

    Errors: InputError for a design with stages of other kinds than sums of one exact or cut sum.
    """

    def __init__(self, spec: UnitSpec) -> None:
        _refuse(spec)
        self.spec, self.how = spec, spec.emulation
        self.graph = g = Graph()  # one of its own, because cut points are named in it
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        d = spec.design
        self.root = dot.result
        self.rule = str(d.c_subnormals)
        self.inner = self.rule if spec.tree is not None else "kept"
        self.cuts: dict[Node, list[Node]] = {}
        self.leaves: list[Leaf] = [self._leaf(k) for k in range(spec.k)]
        c = unpack(g, g.inputs["c"], spec.c_format)
        self.c = Leaf((Factor(g.inputs["c"], spec.c_format, _own(c.term.significand)),), c)
        before, entering = c, [g.inputs["c"]]
        self.zero: Number | None = None
        self.blocks: list[tuple[Number, Number, Sequence[Node], Summed]] = []
        groups = self._groups(dot)
        if self.how is not None:
            before, entering = unpack(g, g.const(0, spec.d_format.width), spec.d_format), []
            self.zero = before
        self.designs = {d.conversion: d}
        if spec.tree is not None:
            self.designs = {x.conversion: x for x in stage_designs(spec.tree, d).values()}
        for steps in groups:
            counted = self._c_of(steps)
            self.results = [(x.specials.result, x) for x in steps if x.specials is not None]
            if len(self.results) != len(steps):
                raise InputError(f"expected sums that are rounded, but {spec.name} has others")
            tree = self._tree(steps[-1].specials.result, counted, entering)  # type: ignore[union-attr]
            self.blocks.append((before, counted, entering, tree))
            before, entering = tree.sum.outcome, tree.sum.cut()
        self.adding: tuple[Number, Fused] | None = None
        if self.how is not None:
            last = dot.stages[-1]
            assert isinstance(last, DotStep)
            assert last.specials is not None
            self.adding = (
                last.specials.operands[0],
                Fused(last, self.how.addition, [[dot.blocks[-1].result], [g.inputs["c"]]]),
            )
        self.last = self.adding[1] if self.adding is not None else self.blocks[-1][3].sum
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([self.root, *named])

    def _groups(self, dot: Dot) -> list[list[DotStep]]:
        """The steps of each block."""
        spec = self.spec
        if (
            any(isinstance(x, Block) and x.groups for x in dot.stages)
            or spec.design.product_rounding is not None
        ):
            raise InputError(f"expected whole products that are exact, but {spec.name} has others")
        if spec.tree is not None:
            return [[x for x in dot.stages if isinstance(x, DotStep)]]
        return [list(x.steps) for x in dot.stages if isinstance(x, Block)]

    def _leaf(self, k: int) -> Leaf:
        g, spec, d = self.graph, self.spec, self.spec.design
        words = [(g.inputs[f"a[{k}]"], spec.a_format), (g.inputs[f"b[{k}]"], spec.b_format)]
        wide = (
            self.how.converted if self.how is not None else None if spec.tree is None else spec.tree.converted
        )
        rules = [
            str(d.operand_subnormals),
            str(d.operand_subnormals if d.b_subnormals is None else d.b_subnormals),
        ]
        if (
            d.normalise_operands
            or d.exponent_step != 1
            or d.piece_bits is not None
            or d.zero_terms is not None
        ):
            raise InputError(f"expected factors that are multiplied as they are, but {spec.name} has others")
        converted: tuple[tuple[Factor, Factor], ...] = ()
        o = spec.operands
        if wide is not None:
            to = []
            for x, (w, f) in zip("ab", words, strict=True):
                with g.scope(f"plan.{x}{k}"):
                    to.append((converted_word(g, w, f, wide), wide))
            pairs = zip(words, to, strict=True)
            converted = tuple((Factor(w, f, None), Factor(v, wide, None)) for (w, f), (v, _) in pairs)
            words, o = to, replace(o, a=wide, b=wide)
        number = flushed_product(g, d, o, words[0][0], words[1][0])
        if spec.scale_format is not None:
            i = k // (spec.scale_block or 1)
            words += [(g.inputs[f"scale_{x}[{i}]"], spec.scale_format) for x in "ab"]
            rules += ["kept", "kept"]
            for w, f in words[2:]:
                number = product(g, number, unpack(g, w, f))
        found = self._significands(number.term.significand, [w for w, _ in words])
        factors = tuple(Factor(w, f, found.get(w), rule) for (w, f), rule in zip(words, rules, strict=True))
        return Leaf(factors, number, converted)

    def _significands(self, node: Node, words: Sequence[Node]) -> dict[Node, Node]:
        """The factors of a product's significand, by the word that each comes from."""
        if node.op == "const":
            return {}
        below = {x for x in _below(node, words) if x in words}
        if len(below) == 1:
            return {below.pop(): node} if node.op != "input" else {}
        if node.op == "mul_expand":
            return self._significands(node.args[0], words) | self._significands(node.args[1], words)
        return {}

    def _c_of(self, steps: Sequence[DotStep]) -> Number:
        """What c counts as in a block."""
        if len(steps) == 1:
            assert steps[0].specials is not None
            return steps[0].specials.operands[-1]
        for x in steps:
            for operand, number in zip(x.operands, x.specials.operands if x.specials else (), strict=False):
                if operand.kind in ("c", "block"):
                    return number
        raise InputError(f"expected a sum with c in {self.spec.name}")

    def _tree(self, number: Number, c: Number, entering: Sequence[Node]) -> Summed:
        """The sum that makes a number, and what is summed in it."""
        made_by = [
            x for y, x in self.results
            if y.nan is number.nan and y.inf is number.inf
            and y.term.exponent.bits is number.term.exponent.bits
        ]  # fmt: skip
        if not made_by:
            raise InputError(f"expected a sum that makes each operand of {self.spec.name} that is no product")
        step = made_by[0]
        assert step.specials is not None
        assert step.rounded is not None
        children: list[At | Summed] = []
        cuts: list[Sequence[Node]] = []
        for operand, x in zip(step.operands, step.specials.operands, strict=True):
            if operand.kind == "zero" and x is not c:
                children.append(At(x, (step.rounded.target.e_min, step.rounded.target.fraction_bits)))
                cuts.append([])
                continue
            leaf = (
                next((y for y in self.leaves if _same(y.number, x)), None)
                if operand.kind == "products"
                else None
            )
            if leaf is not None:
                children.append(At(x))
                cuts.append([y.word for y in leaf.factors])
            elif x is c:
                children.append(At(x))
                cuts.append(entering)
            else:
                made = self._tree(x, c, entering)
                children.append(made)
                cuts.append(made.sum.cut())
        fused = Fused(step, self.designs.get(step.conversion, self.spec.design), cuts)
        return Summed(fused, number, tuple(children), not _same(number, fused.outcome))

    def claims(self) -> Iterator[Claim]:
        """`Unit.v`, unit_claims."""
        return iter(self.all_claims)

    def _claims(self) -> Iterator[Claim]:
        for leaf in (*self.leaves, self.c):
            yield from leaf.claims()
        known: list[Expr] = []
        for before, counted, entering, tree in self.blocks:
            yield from _flush_claims(known, self.rule, before, counted, entering)
            yield from self._tree_claims(tree)
            known = tree.sum.usual()
        if self.adding is not None and self.zero is not None:
            number, fused = self.adding
            f = self.spec.d_format
            yield from _known_claims((1 - f.bias, f.fraction_bits), self.zero)
            last = self.blocks[-1][3].sum
            yield from _flush_claims(known, "kept", last.outcome, number, last.cut())
            yield from fused.claims()
        yield from self._word_claims()

    def _tree_claims(self, tree: Summed) -> Iterator[Claim]:
        yield from tree.sum.claims()
        yield from _flush_claims(tree.sum.usual(), self.inner, tree.sum.outcome, tree.result, tree.sum.cut())
        for x in tree.children:
            if isinstance(x, Summed):
                yield from self._tree_claims(x)
            elif x.zero is not None:
                yield from _known_claims(x.zero, x.number)

    def _word_claims(self) -> Iterator[Claim]:
        last, f = self.last, self.spec.d_format
        r, free = last.outcome, last.cut()
        root, sign = u(self.root), is_one(r.term.sign)
        scale = 1 << f.fraction_bits
        nan_word = self.spec.design.nan_word if self.how is None else self.how.addition.nan_word

        def word(body: Expr) -> Expr:
            top = choice(sign, num((1 << f.exponent_bits) * scale), num(0))
            return times(plus(top, body), num(1 << f.ignored_low_bits))

        significand = times(u(r.term.significand), num(1 << (f.fraction_bits - r.term.fraction_bits)))
        normal = plus(times(plus(_exponent(r), num(f.bias)), num(scale)), minus(significand, num(scale)))
        number = choice(less(significand, num(scale)), significand, normal)
        yield _claim([is_one(r.nan)], equal(root, num(nan_word)), free)
        infinity = num(((1 << f.exponent_bits) - 1) * scale)
        yield _claim([negation(is_one(r.nan)), is_one(r.inf)], equal(root, word(infinity)), free)
        known = [negation(is_one(r.nan)), negation(is_one(r.inf)), *last.usual()]
        yield _claim(known, equal(root, word(number)), free)

    # ------------------------------------------------------------------ Coq
    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        circuit = ";\n  ".join(f"Node {name(x)} {x.width} {_operator(x)}" for x in self.nodes)
        shared, claims = _shared(self.all_claims)
        return "\n".join(
            [
                f"(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)",
                "From Coq Require Import ZArith List Bool.",
                "From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Unit.",
                "Import ListNotations.",
                "Open Scope Z_scope.",
                f"Definition unit_circuit : circuit := [\n  {circuit}].",
                f"Definition unit_design : design := {coq_design(self.spec)}.",
                f"Definition plan : unit_plan := {self._coq_plan()}.",
                *shared,
                f"Definition certified : list claim := [\n  {claims}].",
                "Lemma checked : unit_ok unit_circuit unit_design plan = true.",
                "Proof. vm_compute. reflexivity. Qed.",
                "Lemma claimed : unit_claims unit_circuit unit_design plan = certified.",
                "Proof. vm_compute. reflexivity. Qed.",
                "Theorem refined : Forall (holds unit_circuit) certified ->",
                "  forall v, solution unit_circuit v ->",
                "  v (root plan) = compute unit_design (words_in plan v).",
                "Proof. rewrite <- claimed. exact (words_to_words _ _ _ checked). Qed.",
                "",
            ]
        )

    def _coq_plan(self) -> str:
        g, spec = self.graph, self.spec
        inputs = {x: "; ".join(name(g.inputs[f"{x}[{k}]"]) for k in range(spec.k)) for x in "ab"}
        scales: list[str] = []
        if spec.scale_format is not None:
            count = range(-(-spec.k // (spec.scale_block or 1)))
            scales = [
                f"({name(g.inputs[f'scale_a[{i}]'])}, {name(g.inputs[f'scale_b[{i}]'])})" for i in count
            ]
        leaves = ";\n  ".join(_leaf(x) for x in self.leaves)
        blocks = ";\n  ".join(
            f"BlockPlan {_number(counted)} {_tree(tree)}" for _, counted, _, tree in self.blocks
        )
        adding = "None"
        if self.adding is not None:
            adding = f"(Some ({_number(self.adding[0])}, {_summed(self.adding[1])}))"
        zero = self.c.number if self.zero is None else self.zero
        return (
            f"UnitPlan [{inputs['a']}]%positive [{inputs['b']}]%positive {name(g.inputs['c'])}"
            f" [{'; '.join(scales)}]%positive\n"
            f" [{leaves}]\n {_number(self.c.number)} {_maybe(self.c.factors[0].significand)}"
            f" {_number(zero)}\n"
            f" [{blocks}]\n {adding} {name(self.root)}"
        )


def _refuse(spec: UnitSpec) -> None:
    """InputError for what `Unit.v`, design_ok, does not take."""
    d = spec.design
    missing = {
        "a NaN that is an operand's": (d.nan_rule if spec.tree is None else spec.tree.nan_rule) != "word",
        "groups of products": d.group is not None,
        "products in pieces": d.piece_bits is not None,
        "products of normalised factors": d.normalise_operands,
        "products that are rounded": d.product_rounding is not None,
        "products with a limit": d.product_limit is not None,
        "negated products": d.negated != "none",
        "factors with exponents in steps": d.exponent_step != 1,
        "zeros that count as others": d.zero_terms is not None,
        "blocks that are skipped": d.zero_words == "skipped",
        "normalised products in a sum that is cut": d.normalise_products,
        "a sum of bounded width": d.carry_bits is not None,
        "sums that keep what is cut off": d.lost_bits != "cut",
        "a frame of c's own": d.framed,
        "c after the products' sum": d.c_position == "after",
        "sums rounded down": d.summation in ("tr", "gtr"),
        "tininess after rounding": d.result_subnormals == "tiny_zero",
    }
    found = [x for x, is_so in missing.items() if is_so]
    if found:
        raise InputError(f"expected a unit without {', '.join(found)}, but got {spec.name}")


def _below(node: Node, words: Sequence[Node]) -> set[Node]:
    """The nodes below one, down to words."""
    seen: set[Node] = set()
    stack = [node]
    while stack:
        x = stack.pop()
        if x not in seen:
            seen.add(x)
            if x not in words:
                stack += x.args
    return seen


def _leaf(leaf: Leaf) -> str:
    wide = "None"
    if leaf.converted:
        wide = f"(Some ({', '.join(name(to.word) for _, to in leaf.converted)})%positive)"
    return (
        f"LeafPlan {wide} [{'; '.join(_maybe(x.significand) for x in leaf.factors)}] {_number(leaf.number)}"
    )


def _tree(x: At | Summed) -> str:
    if isinstance(x, At):
        return f"(At {_number(x.number)})"
    flushed = f"(Some {_number(x.result)})" if x.flushed else "None"
    return f"(Sum {_summed(x.sum)} {flushed} [{'; '.join(map(_tree, x.children))}])"


def _summed(x: Fused) -> str:
    if not x.exact:
        return f"(One {x.f} ({_fused(x)}))"
    of = "; ".join(f"Operand {_number(r)} {name(r.term.zero)} {x.span(i)}" for i, r in enumerate(x.operands))
    return f"(Two {x.f} [{of}] ({_fused(x)}))"


def _shared(claims: Sequence[Claim]) -> tuple[list[str], str]:
    """Definitions of expressions that occur more than once, and the claims with their names."""
    count: Counter[Expr] = Counter()

    def visit(x: Expr) -> None:
        count[x] += 1
        if count[x] == 1:
            for y in x.args:
                if isinstance(y, Expr):
                    visit(y)

    for claim in claims:
        for e in (*claim.given, claim.goal):
            visit(e)
    names: dict[Expr, str] = {}
    lines: list[str] = []

    def text(x: Expr) -> str:
        known = names.get(x)
        if known is not None:
            return known
        made = x.coq_with(name, text)
        if count[x] > 1 and len(made) > 12:
            names[x] = f"e{len(names)}"
            lines.append(f"Definition {names[x]} := {made}.")
            return names[x]
        return made

    rows = [f"Claim [{'; '.join(map(text, x.given))}] {text(x.goal)}" for x in claims]
    return lines, ";\n  ".join(rows)


def _own(node: Node) -> Node | None:
    return None if node.op in ("const", "input") else node


def name(node: Node) -> str:
    """A node's name: names start at 2."""
    return str(node.index + 2)


def _maybe(node: Node | None) -> str:
    return "None" if node is None else f"(Some {name(node)}%positive)"


def _z(number: int) -> str:
    return f"({number})" if number < 0 else str(number)


def _number(r: Number) -> str:
    t = r.term
    nodes = [name(x) for x in (t.sign, t.significand, t.exponent.bits)]
    return f"(Number {' '.join(nodes)} {_z(t.exponent.low)} {t.fraction_bits} {name(r.nan)} {name(r.inf)})"


def _fused(x: Fused) -> str:
    addends = [
        f"Addend {_number(r)} {name(r.term.zero)} {name(t.shift)} {name(t.aligned)}"
        f" {x.largest(i)} {x.spans[i]}"
        for i, (t, r) in enumerate(zip(x.total.terms, x.numbers, strict=True))
    ]

    def tree(node: Node) -> str:
        if node not in x.sums:
            return f"(Leaf {name(node)} {x.places[node]}%nat)"
        return f"(Partial {name(node)} {' '.join(tree(y) for y in x.sums[node].of)})"

    e = x.total.e_max
    r = x.rounded
    return (
        f"Fused [{'; '.join(addends)}] {name(e.bits)} {_z(e.low)} {x.top_span}"
        f" {tree(x.tree)} {name(x.total.bits)} "
        f"(Ending {name(r.kept)} {name(r.away)} {name(r.height)} {_number(x.outcome)})"
    )


_NAMES = {
    "not_": "Not", "and_": "And", "or_": "Or", "xor": "Xor", "add_mod": "Add", "sub_mod": "Sub",
    "neg_mod": "Neg",
    "mul_expand": "Mul", "shl_mod": "Shl", "lshr": "Lshr", "ashr": "Ashr", "eq": "Eq", "ult": "Ult",
    "ule": "Ule",
    "slt": "Slt", "sle": "Sle", "ite": "Ite", "concat": "Concat", "zero_extend": "Zext",
    "sign_extend": "Sext",
}  # fmt: skip


def _operator(x: Node) -> str:
    args = " ".join(name(y) for y in x.args)
    if x.op == "input":
        return "Input"
    if x.op == "const":
        return f"(Const {x.params[1]})"
    if x.op == "extract":
        return f"(Extract {x.params[1]} {args})"
    return f"({_NAMES[x.op]} {args})"


# ------------------------------------------------------------------ deciding claims
def question(claim: Claim) -> tuple[Graph, Node]:
    """The graph and the node that is 1 where everything given holds and the goal does not."""
    g = Graph(folded=False)
    made: dict[Node, Node] = {}
    wanted = [y for e in (*claim.given, claim.goal) for y in e.nodes()]
    for node in _ordered(wanted, claim.free):
        if node in claim.free or node.op == "input":
            made[node] = g.input(f"v{len(made)}", node.width)
        elif node.op == "const":
            made[node] = g.const(node.params[1], node.width)
        else:
            made[node] = g.make(node.op, [made[y] for y in node.args], node.params)
    bits_of = Bits(g, made)
    wrong = g.make("not_", (bits_of.formula(claim.goal),))
    for x in claim.given:
        wrong = g.make("and_", (wrong, bits_of.formula(x)))
    return g, wrong


def _ordered(wanted: Sequence[Node], free: frozenset[Node]) -> list[Node]:
    """The nodes between the cut and those wanted, arguments first."""
    seen: set[Node] = set()
    stack = list(wanted)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node not in free:
                stack += node.args
    return sorted(seen, key=lambda x: x.index)


def decide(cnf: Cnf) -> Certificate | None:
    """The checked refutation of the clauses of a claim's negation; None where the claim is false."""
    outcome = refuted(cnf)
    return None if outcome.status is not Status.UNSAT else certify(cnf, outcome.proof, "glucose42")
