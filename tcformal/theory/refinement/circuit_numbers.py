"""Products between words and terms: factors with a leading one, signs, limits, roundings (`Products.v`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tcformal.design.spec import Design
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.stages import Rounded, Total
from tcformal.theory.formulas import (
    ALWAYS,
    NEVER,
    Claim,
    Expr,
    all_of,
    any_of,
    bits,
    choice,
    differ,
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
        if rule not in ("positive_zero", "signed_zero"):
            return self
        small = self.significand < 1 << self.fraction_bits
        below = ~self.inf & (~equal(self.significand, 0) & small)
        neg = self.neg & ~below if rule == "positive_zero" else self.neg
        return Shown(
            self.nan,
            self.inf,
            neg,
            choice(below, 0, self.significand),
            self.exponent,
            self.fraction_bits,
        )

    def number_claims(
        self, r: Number, known: Sequence[Expr], given: Sequence[Expr], significand: Expr,
        free: Sequence[Node],
        last: Sequence[Node],
    ) -> Iterator[Claim]:  # fmt: skip
        """`Leaves.v`, number_claims; `last` are the cut points of the claim about the significand."""
        no = ~self.nan
        yield make_claim(known, iff(is_one(r.nan), self.nan), free)
        yield make_claim([no, *known], iff(is_one(r.inf), self.inf), free)
        yield make_claim([no, *known], iff(is_one(r.term.sign), self.neg), free)
        yield make_claim([no, ~self.inf, *known], equal(exponent_of(r), self.exponent), free)
        yield make_claim([*given, *known], equal(u(r.term.significand), significand), last)

    def times(self, other: Shown) -> Shown:
        """The product of two values."""
        return Shown(
            self.nan | other.nan | (self.inf & other.zero() | self.zero() & other.inf),
            self.inf | other.inf,
            differ(self.neg, other.neg),
            self.significand * other.significand,
            self.exponent + other.exponent,
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
            nan,
            ones & empty if f.specials is Specials.IEEE else NEVER,
            s if f.sign is Sign.PRESENT else NEVER,
            choice(none, t if f.subnormals else num(0), t + (1 << t_bits)),
            choice(none, 1 - f.bias, e - f.bias),
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
            shown, significand = shown.times(x.shown()), significand * x.term()
        words = [x.word for x in self.factors]
        for x in self.factors:
            if x.significand is not None:
                y = x.shown()
                yield make_claim([~y.nan, ~y.inf], equal(u(x.significand), y.significand), words)
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
    k = a.exponent - b.exponent + (b.fraction_bits - a.fraction_bits)
    finite, zero = [~a.nan, ~a.inf], equal(a.significand, 0)
    yield make_claim([], iff(b.nan, a.nan))
    yield make_claim([~a.nan], iff(b.inf, a.inf))
    yield make_claim([~a.nan], iff(b.neg, a.neg))
    yield make_claim([~zero, *finite], (k >= 0) & (k <= 64))
    yield make_claim(finite, equal(b.significand, a.significand << lower(k, 64)))
    yield make_claim(finite, (least <= b.exponent) & (b.significand < 2 << g.fraction_bits))
    yield make_claim([zero, *finite], equal(b.exponent, least))
    yield make_claim(
        [~zero, *finite],
        (1 << g.fraction_bits <= b.significand) | equal(b.exponent, least),
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
        known = [is_one(r.nan) | (is_one(r.inf) | all_of(known))]
    given = [~shown.nan, ~shown.inf]
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


@dataclass(frozen=True, slots=True)
class Ending:
    """A rounding, the number that it hands on, and what is rounded.

    `zero_sign`: the rule that stands in place of the design's.
    """

    rounded: Rounded
    outcome: Number
    design: Design
    of: ToRound
    zero_sign: str | None = None

    # ------------------------------------------------------------------ claims
    def claims(self, signed: Callable[[Sequence[Node]], Sequence[Node]] = list) -> Iterator[Claim]:
        """What is kept, and the number that it is; `signed`: the cut points of the claim about the sign."""
        yield from self.kept_claims()
        cut = [*self._special(), *self.of.nodes] if self.tiny else self.cut()
        yield from self.outcome_claims(cut, signed(cut))

    def alone_claims(self) -> Iterator[Claim]:
        """`Products.v`, rounding_claims: of one number."""
        (r,) = self.of.operands
        yield make_claim([is_finite(r)], in_span(r.term.exponent), [r.term.significand])
        yield from self.claims()

    def cut(self) -> list[Node]:
        """The nodes that special cases, the number that is handed on, and its word are made of."""
        end = self.rounded
        # Tininess is read off what is added as well.
        return [
            *self._special(),
            self.of.node,
            end.normalised,
            end.height,
            *(() if self.tiny else (end.away,)),
        ]

    def _special(self) -> list[Node]:
        return [*flags(self.of.operands), *self.of.beside]

    @property
    def null(self) -> Expr:
        """Nothing is kept."""
        return equal(u(self.rounded.kept), 0) & ~is_one(self.rounded.away)

    @property
    def normal(self) -> Expr:
        """What is kept has its leading bit, or the least exponent."""
        p = self.rounded.target.fraction_bits
        return (1 << p <= u(self.rounded.kept)) | equal(u(self.rounded.height), 0)

    @property
    def _last(self) -> Expr:
        """The exponent of the last bit that is kept."""
        rho = self.rounded.target
        return u(self.rounded.height) + (rho.e_min - rho.fraction_bits)

    @property
    def _right(self) -> Expr:
        most = (self.of.bound + 1).bit_length() + 2
        return lower(self._last - self.of.unit, most)

    @property
    def _rest(self) -> Expr:
        return self.of.size - (u(self.rounded.kept) << self._right)

    @property
    def _one(self) -> Expr:
        return 1 << self._right

    def kept_claims(self) -> Iterator[Claim]:
        """`Finish.v`, kept_claims."""
        rho, q = self.rounded.target, self.of
        kept, away, last, unit = u(self.rounded.kept), self.rounded.away, self._last, q.unit
        left = lower(unit - last, rho.fraction_bits + 1)
        right, rest, one = self._right, self._rest, self._one
        odd, inexact = equal(bits(0, 1, kept), 1), ~equal(rest, 0)
        rule = {
            "RZ": NEVER,
            "RNE": (one < rest + rest) | equal(one, rest + rest) & odd,
            "RNA": one <= rest + rest,
            "RO": inexact & ~odd,
            "RD": inexact & q.down,
            "RU": inexact & ~q.down,
        }[rho.mode]
        some = ~q.no_size
        yield make_claim([q.no_size, *q.known], self.null, q.nodes)
        yield make_claim([some, *q.known], self.normal, q.nodes)
        exact = equal(kept, q.size << left) & ~is_one(away)
        yield make_claim([some, last <= unit, *q.known], exact, q.nodes)
        cut = [some, unit < last, *q.known]
        below = kept << right <= q.size
        yield make_claim(cut, below & (q.size < kept + 1 << right), q.nodes)
        yield make_claim(cut, iff(is_one(away), rule), q.nodes)

    def _infinite(self, negative: bool) -> Expr:
        signs = ((x.inf, is_one(x.term.sign)) for x in self.of.operands)
        return any_of(is_one(inf) & (sign if negative else ~sign) for inf, sign in signs)

    @property
    def is_nan(self) -> Expr:
        """An operand is a NaN, or infinities of both signs meet."""
        infinities = self._infinite(False) & self._infinite(True)
        return any_of(is_one(x.nan) for x in self.of.operands) | infinities

    @property
    def _is_inf(self) -> Expr:
        return self._infinite(False) | self._infinite(True)

    def usual(self) -> list[Expr]:
        """`Finish.v`, usual: what is known where no operand is special."""
        no = self.of.no_size
        return [
            ~self.is_nan,
            ~self._is_inf,
            ~no | self.null,
            no | self.normal,
        ]

    @property
    def tiny(self) -> bool:
        """Whether tininess is that after rounding."""
        return self.design.result_subnormals == "tiny_zero"

    def outcome_claims(self, cut: Sequence[Node], signed_cut: Sequence[Node]) -> Iterator[Claim]:
        """`Finish.v`, outcome_claims; `signed_cut` are the cut points of the claim about the sign."""
        rho, q, r = self.rounded.target, self.of, self.outcome
        p, span = rho.fraction_bits, rho.e_max - rho.e_min
        grown = u(self.rounded.kept) + choice(is_one(self.rounded.away), 1, 0)
        carried = 1 << p + 1 <= grown
        zero = equal(grown, 0) | self._flushed(grown)
        raised = u(self.rounded.height) + choice(carried, 1, 0)
        over = (1 << p <= grown) & (span < raised)
        directed = {"RNE": ALWAYS, "RNA": ALWAYS, "RD": q.down, "RU": ~q.down}.get(rho.mode, NEVER)
        infinite = {"infinity": ALWAYS, "ieee": directed}.get(self.design.overflow, NEVER)
        overflow = ~zero & (over & infinite)
        settled = [*self.usual(), *(q.known if self.tiny else ())]
        yield make_claim([], iff(is_one(r.nan), self.is_nan), cut)
        goal = is_one(r.inf) & iff(is_one(r.term.sign), self._infinite(True))
        yield make_claim([~self.is_nan, self._is_inf], goal, cut)
        yield make_claim(settled, iff(is_one(r.inf), overflow), cut)
        sign = zero & self._zero_sign() | ~zero & q.down
        yield make_claim(settled, iff(is_one(r.term.sign), sign), signed_cut)
        largest, carry = num((1 << (p + 1)) - 1), choice(carried, 1 << p, grown)
        significand = choice(zero, 0, choice(over, largest, carry))
        yield make_claim([~overflow, *settled], equal(u(r.term.significand), significand), cut)
        exponent = choice(zero, rho.e_min, choice(over, rho.e_max, rho.e_min + raised))
        yield make_claim([~overflow, *settled], equal(exponent_of(r), exponent), cut)

    def _flushed(self, grown: Expr) -> Expr:
        """What is flushed that is not 0."""
        if self.design.result_subnormals == "kept":
            return NEVER
        return (grown < 1 << self.rounded.target.fraction_bits) | self._tiny()

    def _tiny(self) -> Expr:
        """Below the least normal number with one bit more and any exponent (`Finish.v`, tiny_formula)."""
        if not self.tiny:
            return NEVER
        ones = equal(u(self.rounded.kept), (1 << self.rounded.target.fraction_bits) - 1)
        return ones & (4 * self._rest < 3 * self._one)

    def _zero_sign(self) -> Expr:
        rule = self.zero_sign or self.design.zero_sign
        if rule == "positive":
            return NEVER
        return self.of.sign if rule == "ieee" else ~self.of.no_size & self.of.sign


@dataclass(frozen=True, slots=True)
class Piece:
    """The product of two digits of a product's factors (`Pieces.v`): their places, and the number."""

    place: tuple[int, int]
    number: Number


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
    #: The products of its factors' digits, where these are summed.
    pieces: tuple[Piece, ...] = ()

    @property
    def terms(self) -> list[Number]:
        """What is summed, in order."""
        return [x.number for x in self.pieces] or [self.number]

    def piece_claims(self, size: int) -> Iterator[Claim]:
        """`Unit.v`, pieces_claims_at."""
        a, b = (x.term() for x in self.exact.factors[:2])
        cut = [x.word for x in self.exact.factors]  # digits are read off words where these have them
        if self.normal is not None:
            cut = [x.term.significand for x in self.normal]
            a, b = map(u, cut)
        for x in self.pieces:
            i, j = x.place
            digits = bits(size * i, size, a) * bits(size * j, size, b)
            goal = equal(u(x.number.term.significand), digits * (1 << size * (i + j)))
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
        made = Shown(s.nan, s.inf | over, neg, s.significand, s.exponent, s.fraction_bits)
        given, cut = [~made.nan, ~made.inf], [r.term.significand]
        yield from made.number_claims(to, [], given, made.significand, cut, cut)


def _normal_claims(s: Shown, y: Number) -> Iterator[Claim]:
    """`Products.v`, normal_claims."""
    finite, z = [~s.nan, ~s.inf], equal(s.significand, 0)
    k, sig, f = s.exponent - exponent_of(y), u(y.term.significand), s.fraction_bits
    some = [~z, *finite]
    yield make_claim([], iff(is_one(y.nan), s.nan))
    yield make_claim([~s.nan], iff(is_one(y.inf), s.inf))
    yield make_claim([~s.nan], iff(is_one(y.term.sign), s.neg))
    yield make_claim([z, *finite], equal(sig, 0) & equal(exponent_of(y), s.exponent))
    yield make_claim(some, (k >= 0) & (k <= f))
    yield make_claim(some, equal(sig, s.significand << lower(k, f)))
    yield make_claim(some, (1 << f <= sig) & (sig < 2 << f))
