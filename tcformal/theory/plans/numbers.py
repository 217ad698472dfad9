"""Numbers of a circuit and their claims: what a record of a stage says about its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.stages import (
    Total,
)
from tcformal.theory.formulas import (
    NEVER,
    Claim,
    Expr,
    all_of,
    bits,
    choice,
    differ,
    equal,
    iff,
    is_one,
    lower,
    magnitude,
    make_claim,
    num,
    sg,
    u,
    within,
)
from tcformal.theory.stated_sum import ZEROS


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
        return ~(self.nan | self.inf) & equal(self.significand, 0)

    def flushed(self, rule: str) -> Shown:
        """The value with what a rule makes of subnormals."""
        if rule not in ZEROS:
            return self
        small = self.significand < 1 << self.fraction_bits
        below = ~self.inf & (~equal(self.significand, 0) & small)
        neg = self.neg & ~below if rule == "positive_zero" else self.neg
        return replace(self, neg=neg, significand=choice(below, 0, self.significand))

    def number_claims(
        self, r: Number, known: Sequence[Expr], given: Sequence[Expr], significand: Expr,
        free: Sequence[Node],
        last: Sequence[Node],
    ) -> Iterator[Claim]:  # fmt: skip
        """`Leaves.v`, number_claims; `last` are the cut points of the claim about the significand."""
        yield from self.special_claims(shown_number(r), known, free)
        yield make_claim([~self.nan, ~self.inf, *known], equal(exponent_of(r), self.exponent), free)
        yield make_claim([*given, *known], equal(u(r.term.significand), significand), last)

    def special_claims(
        self, made: Shown, known: Sequence[Expr] = (), free: Sequence[Node] = ()
    ) -> Iterator[Claim]:
        """What is special about another value, and its sign, is so of this one."""
        yield make_claim(known, iff(made.nan, self.nan), free)
        yield make_claim([~self.nan, *known], iff(made.inf, self.inf), free)
        yield make_claim([~self.nan, *known], iff(made.neg, self.neg), free)

    def times(self, other: Shown) -> Shown:
        """The product of two values."""
        return Shown(
            self.nan | other.nan | (self.inf & other.zero() | self.zero() & other.inf), self.inf | other.inf,
            differ(self.neg, other.neg), self.significand * other.significand,
            self.exponent + other.exponent, self.fraction_bits + other.fraction_bits,
        )  # fmt: skip


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
        s = equal(bits(low + t_bits + e_bits, 1, w), 1)
        none = equal(e, 0) if f.has_zero else NEVER
        ones, full = equal(e, (1 << e_bits) - 1), equal(t, (1 << t_bits) - 1)
        empty = equal(t, 0)
        nan = {
            Specials.IEEE: ones & ~empty,
            Specials.ALL_ONES_NAN: ones & full,
            Specials.NEGATIVE_ZERO_NAN: s & (equal(e, 0) & empty),
            Specials.NONE: NEVER,
        }[f.specials]
        return Shown(
            nan, ones & empty if f.specials is Specials.IEEE else NEVER,
            s if f.sign is Sign.PRESENT else NEVER,
            choice(none, t if f.subnormals else num(0), t + (1 << t_bits)),
            choice(none, 1 - f.bias, e - f.bias), t_bits,
        )  # fmt: skip

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
            shown, significand = shown.times(x.shown()), significand * x.term()
        words = [x.word for x in self.factors]
        for x in self.factors:
            if x.significand is not None:
                y = x.shown()
                yield make_claim([~y.nan, ~y.inf], equal(u(x.significand), y.significand), words)
        r = self.number
        nodes = [x.significand for x in self.factors if x.significand is not None]
        cut = [x for x in nodes if x is not r.term.significand]
        yield from shown.number_claims(r, [], [], significand, words, [*cut, *words])


def _conversion_claims(x: Factor, to: Factor) -> Iterator[Claim]:
    """`Unit.v`, conversion_claims."""
    a, b, g = x.shown(), to.shown(), to.fmt
    least = num(1 - g.bias if g.has_zero else -g.bias)
    k = a.exponent - b.exponent + (b.fraction_bits - a.fraction_bits)
    finite, zero = [~a.nan, ~a.inf], equal(a.significand, 0)
    yield from a.special_claims(b)
    yield make_claim([~zero, *finite], (k >= 0) & (k <= 64))
    yield make_claim(finite, equal(b.significand, a.significand << lower(k, 64)))
    yield make_claim(finite, (least <= b.exponent) & (b.significand < 2 << g.fraction_bits))
    yield make_claim([zero, *finite], equal(b.exponent, least))
    normal = (1 << g.fraction_bits <= b.significand) | equal(b.exponent, least)
    yield make_claim([~zero, *finite], normal)


def shown_number(r: Number) -> Shown:
    """A number of a circuit, of nodes that are cut points."""
    x = r.term
    return Shown(
        is_one(r.nan), is_one(r.inf), is_one(x.sign), u(x.significand), exponent_of(r), x.fraction_bits
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
    if rule not in ZEROS and same_number(r, to):
        return
    shown = shown_number(r).flushed(rule)
    if known:
        known = [is_one(r.nan) | (is_one(r.inf) | all_of(known))]
    given = [~shown.nan, ~shown.inf]
    yield from shown.number_claims(to, known, given, shown.significand, free, free)


def known_claims(x: tuple[int, int], r: Number) -> Iterator[Claim]:
    """`Stage.v`, known_claims, of a +0 with an exponent and fraction bits."""
    shown = Shown(NEVER, NEVER, NEVER, num(0), num(x[0]), x[1])
    yield from shown.number_claims(r, [], [], num(0), (), ())


def level(e: Exponent) -> Expr:
    """An exponent (`RoundDown.v`, level_term)."""
    return u(e.bits) + e.low


def span_of(e: Exponent) -> int:
    """The largest code of an exponent."""
    return e.high - e.low


def in_span(e: Exponent) -> Expr:
    """The code of an exponent is none above the largest one."""
    return u(e.bits) <= span_of(e)


def exponent_of(r: Number) -> Expr:
    """The exponent of a number."""
    return level(r.term.exponent)


def flags(numbers: Iterable[Number]) -> list[Node]:
    """The nodes of what is special about numbers, and of their signs."""
    return [y for x in numbers for y in (x.nan, x.inf, x.term.sign)]


def is_finite(r: Number) -> Expr:
    """It is neither a NaN nor an Inf."""
    return ~is_one(r.nan) & ~is_one(r.inf)


def word_claims(
    f: Format, nan_word: Expr, r: Number, known: Sequence[Expr], root: Node, free: Sequence[Node],
    nan_free: Sequence[Node],
) -> Iterator[Claim]:  # fmt: skip
    """`Leaves.v`, word_claims; `nan_free` are the cut points of the claim about NaNs."""
    word, sign, scale = u(root), is_one(r.term.sign), 1 << f.fraction_bits

    def signed(body: Expr) -> Expr:
        top = choice(sign, (1 << f.exponent_bits) * scale, 0)
        return (top + body) * (1 << f.ignored_low_bits)

    significand = u(r.term.significand) * (1 << f.fraction_bits - r.term.fraction_bits)
    normal = (exponent_of(r) + f.bias) * scale + (significand - scale)
    value = choice(significand < scale, significand, normal)
    yield make_claim([is_one(r.nan)], equal(word, nan_word), nan_free)
    infinity = num(((1 << f.exponent_bits) - 1) * scale)
    yield make_claim([~is_one(r.nan), is_one(r.inf)], equal(word, signed(infinity)), free)
    finite = [~is_one(r.nan), ~is_one(r.inf), *known]
    yield make_claim(finite, equal(word, signed(value)), free)


@dataclass(frozen=True, slots=True)
class ToRound:
    """What is rounded (`Finish.v`, to_round).

    Ranges and units: the magnitude `size`, at most `bound`, counts units of 2^`unit`; `nodes`: those that
    magnitude, unit and sign are made of, `node` the first of them; `beside`: others that special cases are
    made of.
    """

    operands: Sequence[Number]
    size: Expr
    no_size: Expr
    down: Expr
    unit: Expr
    bound: int
    known: tuple[Expr, ...]
    sign: Expr
    node: Node
    nodes: tuple[Node, ...]
    beside: tuple[Node, ...] = ()


def total_to_round(
    total: Total, operands: Sequence[Number], bound: int, sign: Expr | None = None,
    beside: tuple[Node, ...] = (),
) -> ToRound:  # fmt: skip
    """A sum in two's complement; its sign where that of a zero is another than +."""
    n, e, node = sg(total.bits), total.e_max, total.bits
    return ToRound(
        operands=operands, size=magnitude(n), no_size=equal(n, 0), down=n < 0,
        unit=u(e.bits) + (e.low - total.fraction_bits), bound=bound, known=(within(bound, n), in_span(e)),
        sign=n < 0 if sign is None else sign, node=node, nodes=(node, e.bits), beside=beside,
    )  # fmt: skip


def number_to_round(r: Number) -> ToRound:
    """A number on its own (`Products.v`, rounding)."""
    e, node = r.term.exponent, r.term.significand
    size, sign = u(node), is_one(r.term.sign)
    none = equal(size, 0)
    return ToRound(
        operands=(r,), size=size, no_size=none, down=sign & ~none,
        unit=exponent_of(r) + -r.term.fraction_bits, bound=(1 << node.width) - 1, known=(in_span(e),),
        sign=sign, node=node, nodes=(node, e.bits),
    )  # fmt: skip
