"""Values as formulas over words: decoded words, products of factors, and the claims that a number is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.theory.terms import (
    NEVER,
    Claim,
    Expr,
    all_of,
    at_most,
    bits,
    both,
    choice,
    differ,
    either,
    equal,
    iff,
    is_one,
    less,
    lower,
    minus,
    negation,
    num,
    plus,
    shifted,
    times,
    u,
)


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
        yield make_claim(known, iff(is_one(r.nan), self.nan), free)
        yield make_claim([no, *known], iff(is_one(r.inf), self.inf), free)
        yield make_claim([no, *known], iff(is_one(r.term.sign), self.neg), free)
        yield make_claim([no, negation(self.inf), *known], equal(exponent_of(r), self.exponent), free)
        yield make_claim([*given, *known], equal(u(r.term.significand), significand), last)

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
                yield make_claim(
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
    yield make_claim([], iff(b.nan, a.nan))
    yield make_claim([negation(a.nan)], iff(b.inf, a.inf))
    yield make_claim([negation(a.nan)], iff(b.neg, a.neg))
    yield make_claim([negation(zero), *finite], both(at_most(num(0), k), at_most(k, num(64))))
    yield make_claim(finite, equal(b.significand, shifted(a.significand, lower(k, num(64)))))
    yield make_claim(finite, both(at_most(least, b.exponent), less(b.significand, num(2 << g.fraction_bits))))
    yield make_claim([zero, *finite], equal(b.exponent, least))
    yield make_claim(
        [negation(zero), *finite],
        either(at_most(num(1 << g.fraction_bits), b.significand), equal(b.exponent, least)),
    )


def shown_number(r: Number) -> Shown:
    """A number of a circuit, of nodes that are cut points."""
    return Shown(
        is_one(r.nan),
        is_one(r.inf),
        is_one(r.term.sign),
        u(r.term.significand),
        exponent_of(r),
        r.term.fraction_bits,
    )


def same_number(a: Number, b: Number) -> bool:
    """Whether two numbers are the same nodes."""
    x, y = a.term, b.term
    return (
        a.nan is b.nan and a.inf is b.inf and x.sign is y.sign and x.significand is y.significand
        and x.exponent.bits is y.exponent.bits and (x.exponent.low, x.fraction_bits) == (y.exponent.low,
        y.fraction_bits)
    )  # fmt: skip


def flush_claims(
    known: Sequence[Expr], rule: str, r: Number, to: Number, free: Sequence[Node]
) -> Iterator[Claim]:
    """`Stage.v`, flush_claims."""
    kept = rule not in ("positive_zero", "signed_zero")
    if kept and same_number(r, to):
        return
    shown = shown_number(r).flushed(rule)
    if known:
        known = [either(is_one(r.nan), either(is_one(r.inf), all_of(known)))]
    given = [negation(shown.nan), negation(shown.inf)]
    yield from shown.number_claims(to, known, given, shown.significand, free, free)


def known_claims(x: tuple[int, int], r: Number) -> Iterator[Claim]:
    """`Stage.v`, known_claims, of a +0 with an exponent and fraction bits."""
    shown = Shown(NEVER, NEVER, NEVER, num(0), num(x[0]), x[1])
    yield from shown.number_claims(r, [], [], num(0), (), ())


def make_claim(given: Sequence[Expr], goal: Expr, free: Sequence[Node] = ()) -> Claim:
    """A claim that is decided with the circuit cut at some nodes.

    What reads a negation may have been built of what is negated: the cut is there.
    """
    cut = (x.args[0] if x.op == "not_" else x for x in free)
    return Claim(tuple(given), goal, frozenset(x for x in cut if x.op not in ("const", "input")))


def exponent_of(r: Number) -> Expr:
    """Its exponent."""
    return plus(u(r.term.exponent.bits), num(r.term.exponent.low))


def is_finite(r: Number) -> Expr:
    """It is neither a NaN nor an Inf."""
    return both(negation(is_one(r.nan)), negation(is_one(r.inf)))


def word_claims(
    f: Format, nan_word: Expr, r: Number, known: Sequence[Expr], root: Node, free: Sequence[Node],
    nan_free: Sequence[Node],
) -> Iterator[Claim]:  # fmt: skip
    """`Leaves.v`, word_claims; `nan_free` are the cut points of the claim about NaNs."""
    word, sign, scale = u(root), is_one(r.term.sign), 1 << f.fraction_bits

    def signed(body: Expr) -> Expr:
        top = choice(sign, num((1 << f.exponent_bits) * scale), num(0))
        return times(plus(top, body), num(1 << f.ignored_low_bits))

    significand = times(u(r.term.significand), num(1 << (f.fraction_bits - r.term.fraction_bits)))
    normal = plus(times(plus(exponent_of(r), num(f.bias)), num(scale)), minus(significand, num(scale)))
    value = choice(less(significand, num(scale)), significand, normal)
    yield make_claim([is_one(r.nan)], equal(word, nan_word), nan_free)
    infinity = num(((1 << f.exponent_bits) - 1) * scale)
    yield make_claim([negation(is_one(r.nan)), is_one(r.inf)], equal(word, signed(infinity)), free)
    finite = [negation(is_one(r.nan)), negation(is_one(r.inf)), *known]
    yield make_claim(finite, equal(word, signed(value)), free)
