"""Refinement: that a unit's circuit computes what its design does, from words to words (`coq/Unit.v`).

A unit's circuit, the plan of its cut points and the claims about them are data for `Unit.v`, whose theorem
`words_to_words` says that the claims suffice; for a design of `Wide.v`, data for `WideUnit.v`, for scaled
groups for `GroupUnit.v`, for a sum that remembers what is cut off for `StickyUnit.v`, for blocks that are
skipped for `SkippingUnit.v`.  Each claim is decided by a solver whose proof is checked.  The plan is read off
the stage records and not trusted: a wrong cut point makes a claim false, or Coq refuse the unit.

`refinements.jsonl` has a row for each unit whose claims were decided and whose file Coq took.  It says
something about one circuit, one design and the sources in Coq as they were, by their digests: where one of
them has changed, there is no refinement.  Proofs are not kept: a claim is decided again about as fast.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from operator import add
from pathlib import Path

from tcformal.backends.cnf import to_cnf
from tcformal.design.rounding import bits_taken, deciding_bits, overflows_to_infinity, random_word
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest, met, reachable
from tcformal.semantics.align import align, cuts_off, effective_exponents, lowered
from tcformal.semantics.chain import chained_dot, declare_inputs
from tcformal.semantics.mma import factors_of_product, flushed_product, negated
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.pack import converted_word
from tcformal.semantics.product import in_pieces, product
from tcformal.semantics.reduce import signed_magnitude, split_sign
from tcformal.semantics.special import limit_product
from tcformal.semantics.stages import (
    Block,
    Dot,
    DotStep,
    Floored,
    GroupSum,
    Maximum,
    Rounded,
    SpecialCases,
    Total,
)
from tcformal.semantics.sums.step import as_term
from tcformal.semantics.sums.sticky import with_leading_one
from tcformal.semantics.sums.windows import FIXED_WINDOW, fixed_sum, fixed_width, window_total
from tcformal.semantics.unpack import unpack
from tcformal.solve.certificate import checked_steps
from tcformal.solve.result import Status
from tcformal.solve.sat import refuted
from tcformal.theory.checked import sources_digest
from tcformal.theory.circuits import circuit_text, claims_text, maybe, name
from tcformal.theory.constants import converted_to
from tcformal.theory.design import coq_design, coq_wide, wide_parameter
from tcformal.theory.formulas import (
    ALWAYS,
    NEVER,
    Bits,
    Claim,
    Expr,
    all_of,
    any_of,
    between,
    bits,
    choice,
    differ,
    equal,
    iff,
    integer_text,
    is_one,
    lower,
    magnitude,
    make,
    make_claim,
    num,
    sg,
    u,
    within,
)
from tcformal.theory.integer_plan import IntegerPlan, coq_integer_design
from tcformal.theory.stated_sum import ZEROS, operand_rules


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
        away = [] if self.tiny else [end.away]
        return [*self._special(), self.of.node, end.normalised, end.height, *away]

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
        most = (self.of.bound + 1).bit_length() + 1 + deciding_bits(self.rounded.target.mode)
        return lower(self._last - self.of.unit, most)

    @property
    def _cut(self) -> tuple[Expr, Expr]:
        """What is cut off, and what a last bit counts, in units of what is rounded."""
        return self.of.size - (u(self.rounded.kept) << self._right), 1 << self._right

    def kept_claims(self) -> Iterator[Claim]:
        """`Finish.v`, kept_claims."""
        rho, q = self.rounded.target, self.of
        kept, away, last, unit = u(self.rounded.kept), self.rounded.away, self._last, q.unit
        left = lower(unit - last, rho.fraction_bits + 1)
        right, (rest, one) = self._right, self._cut
        odd, inexact = equal(bits(0, 1, kept), 1), ~equal(rest, 0)
        of = {
            "RZ": NEVER, "RNE": (one < rest + rest) | equal(one, rest + rest) & odd, "RO": inexact & ~odd,
            "RNA": one <= rest + rest, "RD": inexact & q.down, "RU": inexact & ~q.down,
        }  # fmt: skip
        if (random := random_word(rho.mode)) is None:
            rule = of[rho.mode]
        else:
            rule = num((1 << random[0]) - int(random[1] or 0)) * one <= rest * (1 << random[0])
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
        return [~self.is_nan, ~self._is_inf, ~no | self.null, no | self.normal]

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
        # Tiny: below the least normal number with one bit more and any exponent (`Finish.v`, tiny_formula).
        ones, (rest, one) = equal(u(self.rounded.kept), (1 << p) - 1), self._cut
        tiny = ones & (4 * rest < 3 * one) if self.tiny else NEVER
        flushed = NEVER if self.design.result_subnormals == "kept" else (grown < 1 << p) | tiny
        zero = equal(grown, 0) | flushed
        raised = u(self.rounded.height) + choice(carried, 1, 0)
        over = (1 << p <= grown) & (span < raised)
        directed = {"RD": q.down, "RU": ~q.down}.get(rho.mode, NEVER)
        directed = ALWAYS if overflows_to_infinity(rho.mode) else directed
        infinite = {"infinity": ALWAYS, "ieee": directed}.get(self.design.overflow, NEVER)
        overflow = ~zero & (over & infinite)
        settled = [*self.usual(), *(q.known if self.tiny else ())]
        yield make_claim([], iff(is_one(r.nan), self.is_nan), cut)
        goal = is_one(r.inf) & iff(is_one(r.term.sign), self._infinite(True))
        yield make_claim([~self.is_nan, self._is_inf], goal, cut)
        yield make_claim(settled, iff(is_one(r.inf), overflow), cut)
        signs = {"positive": NEVER, "ieee": q.sign, "sum": ~q.no_size & q.sign}
        sign = zero & signs[self.zero_sign or self.design.zero_sign] | ~zero & q.down
        yield make_claim(settled, iff(is_one(r.term.sign), sign), signed_cut)
        largest, carry = num((1 << (p + 1)) - 1), choice(carried, 1 << p, grown)
        significand = choice(zero, 0, choice(over, largest, carry))
        yield make_claim([~overflow, *settled], equal(u(r.term.significand), significand), cut)
        exponent = choice(zero, rho.e_min, choice(over, rho.e_max, rho.e_min + raised))
        yield make_claim([~overflow, *settled], equal(exponent_of(r), exponent), cut)


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
            goal = _floor(term, self.total.fraction_bits, Floored(x.shift, x.aligned))
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


def _signed(sign: Node, size: Expr) -> Expr:
    return choice(is_one(sign), 0 - size, size)


def _floor(x: Term, bits: int, y: Floored) -> Expr:
    """A number is rounded down at another exponent (`Fused.v`, floor_formula)."""
    up, below = max(0, bits - x.fraction_bits), max(0, x.fraction_bits - bits)
    z, kept = lower(u(y.shift), x.significand.width + up), _signed(x.sign, u(y.kept))
    size = _signed(x.sign, u(x.significand)) * (1 << up)
    here, next_one = ((t << z) * (1 << below) for t in (kept, kept + 1))
    return (here <= size) & (size < next_one)


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
        total, rounded, specials = _ended(steps[-1])
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
        return ((1 << x.term.significand.width) - 1) << (_span(x) + self.up_by(x))

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
            yield make_claim([], equal(sg(node), _signed(sign, u(placed))), [sign, placed])
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
            f"Placed {number_text(x)} {_span(x)} {name(y)}"
            for x, y in zip(self.products, self.placed, strict=True)
        )
        of = " ".join(f"({_operand(x)})" for x in (self.made, self.c))
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
        total = choice(all_of(map(is_one, zeros)), 0, _signed(self._frame, sg(self.tree)))
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
        goal = equal(sg(self.total.bits), reduce(add, map(sg, kept)) + _signed(sign, u(c)))
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
        yield make_claim([~gone], _floor(x, f, y), cut)
        yield make_claim([gone], equal(u(y.kept), 0), cut)
        yield make_claim([], u(y.kept) <= self.c_largest, cut)

    def text(self) -> str:
        """The sum as `Frames.v`, framed_front."""
        sums = "; ".join(
            f"GroupSum {front_text(x)} {_floored(y)}" for x, y in zip(self.fronts, self.floored, strict=True)
        )
        return (
            f"InGroups (GroupsPlan [{sums}] ({_operand(self.c)}) {_floored(self.c_floored)} {self.c_largest}"
            f" {_level(self.total.e_max)} {name(self.total.bits)})"
        )


class Framed:
    """Products and c at c's exponent and theirs, their sum, and one or two roundings (`Frames.v`).

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(self, d: Design, steps: Sequence[DotStep], into: Cuts, entering: Sequence[Node]) -> None:
        first, *narrowed = (x for x in steps if x.rounded is not None)
        total, rounded, specials = _ended(first)
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
        # The largest magnitude that is kept of c, and what is kept.
        x = self.c.term
        self.c_largest = largest_kept(x.significand.width, self.joined.fraction_bits - x.fraction_bits)
        self.kept_c = _signed(x.sign, u(self.c_floored.kept))
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
        yield make_claim([~far] if self.two else [], _floor(x, f, y), cut)
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


def product_text(x: Product) -> str:
    """A product as `Unit.v`, leaf_plan."""
    wide = normal = "None"
    if x.exact.converted:
        wide = f"(Some ({', '.join(name(to.word) for _, to in x.exact.converted)})%positive)"
    if x.normal is not None:
        normal = f"(Some ({', '.join(map(number_text, x.normal))}))"
    sigs = "; ".join(maybe(y.significand) for y in x.exact.factors)
    numbers = f"{number_text(x.exact.number)} {number_text(x.adjusted)}"
    return f"LeafPlan {wide} [{sigs}] {normal} {numbers} {_rounding(x.rounding)}"


def _rounding(x: Ending | None) -> str:
    """The rounding of one number, if there is one."""
    return "None" if x is None else f"(Some ({_span(x.of.operands[0])}, {ending_text(x)}))"


def _span(r: Number) -> int:
    return span_of(r.term.exponent)


def _operand(r: Number) -> str:
    return f"Operand {number_text(r)} {name(r.term.zero)} {_span(r)}"


def block_text(x: BlockSum) -> str:
    """The sum of a block as `Unit.v`, summed_block."""
    if isinstance(x, Summed):
        return f"(InTree {tree_text(x)})"
    if isinstance(x, Framed):
        front, first = x.front.text(), ending_text(x.first)
        return f"(FramedSum (FramedPlan ({front}) {number_text(x.c)} {first} {_rounding(x.narrowed)}))"
    if isinstance(x, Window):
        return f"(WindowSum {x.text()})"
    if isinstance(x, Down):
        return f"(DownSum {_down(x)})"
    of = " ".join(f"({_operand(r)})" for r in (x.made, x.c))
    return (
        f"(AfterSum (After {front_text(x.first)} {x.first.total.fraction_bits} {of} {front_text(x.leads)}"
        f" {x.leads.total.fraction_bits} {ending_text(x.ending)}))"
    )


def _level(e: Exponent) -> str:
    return f"(Level {name(e.bits)} {integer_text(e.low)} {span_of(e)})"


def _floored(y: Floored) -> str:
    return f"(Floored {name(y.shift)} {name(y.kept)})"


def _down(x: Down) -> str:
    sides = "None"
    if x.two:
        kept, e = " ".join(f"{_floored(y)}," for y in x.joined.floored), _level(x.joined.e_max)
        sides = f"(Some ({front_text(x.fronts[1])}, {kept} {e}, {name(x.joined.bits)}%positive))"
    c = f"{number_text(x.c)} {_floored(x.c_floored)} {x.c_largest} {_span(x.c)}"
    last = f"{_level(x.total.e_max)} {name(x.total.bits)} {x.floor.rounded.target.e_max}"
    return (
        f"(DownPlan {front_text(x.fronts[0])} {sides} {_floored(x.products_floored)} {c} {last}"
        f" {ending_text(x.floor)} {_span(x.floor.outcome)} {ending_text(x.ending)})"
    )


def ending_text(x: Ending) -> str:
    """A rounding as `Finish.v`, ending."""
    r = x.rounded
    return f"(Ending {name(r.kept)} {name(r.away)} {name(r.height)} {number_text(x.outcome)})"


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
    return f"(Two {f} [{'; '.join(map(_operand, x.front.operands))}] {fused})"


def number_text(r: Number) -> str:
    """A number as `Finish.v`, number."""
    t = r.term
    nodes = [name(x) for x in (t.sign, t.significand, t.exponent.bits)]
    nodes += [integer_text(t.exponent.low), str(t.fraction_bits), name(r.nan), name(r.inf)]
    return f"(Number {' '.join(nodes)})"


def front_text(x: Front) -> str:
    """A sum before it is rounded as `Fused.v`, front."""
    addends = [
        f"Addend {number_text(r)} {name(r.term.zero)} {name(t.shift)} {name(t.aligned)}"
        f" {x.largest(i)} {_span(r)}"
        for i, (t, r) in enumerate(zip(x.total.terms, x.numbers, strict=True))
    ]

    def partial(node: Node) -> str:
        if node not in x.sums:
            return f"(Leaf {name(node)} {x.places[node]}%nat)"
        return f"(Partial {name(node)} {' '.join(partial(y) for y in x.sums[node].of)})"

    places = iter(range(len(x.numbers)))

    def compared(t: Maximum) -> str:
        if not t.halves:
            i = next(places)
            least, most = x.code_range(i)
            return f"(Only {name(t.code)} {i}%nat {least} {most})"
        return f"(Larger {name(t.code)} {' '.join(compared(y) for y in t.halves)})"

    e = x.total.e_max
    return (
        f"(Front [{'; '.join(addends)}] {compared(x.largest_of)} {integer_text(x.largest_of.low)}"
        f" {name(e.bits)} {integer_text(e.low)} {span_of(e)}"
        f" {partial(x.tree)} {name(x.total.bits)})"
    )


@dataclass(frozen=True, slots=True)
class MaybeNan:
    """A NaN that may be there, and its word as a result."""

    present: Expr
    word: Expr


NO_NAN = MaybeNan(NEVER, num(0))
#: The NaNs of the two factors of a product.
Nans = tuple[MaybeNan, MaybeNan]


def quiet_term(f: Format, to: Format, word: Node) -> Expr:
    """A NaN's word made quiet and widened (`NanWords.v`, quiet_term)."""
    low, t, e, wide = f.ignored_low_bits, f.fraction_bits, f.exponent_bits, to.fraction_bits
    moved = bits(low, t, u(word)) * (1 << wide - t)
    half = num(1 << (wide - 1))
    sign = bits(low + t + e, 1, u(word)) if f.sign is Sign.PRESENT else num(0)
    ones = sign * (1 << to.exponent_bits) + ((1 << to.exponent_bits) - 1)
    fraction = choice(moved < half, moved + half, moved)
    return (ones * (1 << wide) + fraction) * (1 << to.ignored_low_bits)


def word_nan(f: Format, to: Format, word: Node) -> MaybeNan:
    """A word as a NaN of another format."""
    return MaybeNan(Factor(word, f, None).shown().nan, quiet_term(f, to, word))


def block_term(
    rule: str, default: int, how: str, nans: Sequence[Nans], products: Sequence[Number], c: MaybeNan,
    tree: Summed,
) -> Expr:  # fmt: skip
    """The word of a block that ends as a NaN (`NanWords.v`, block_term).

    `how`: the sums of products before c is added, "" where c is the first operand or all is one sum.
    """
    invalid = num(default)
    if how == "fused":
        both = [products[0], *_spine(tree.children[0])]
        return _first(invalid, [_chain(rule, invalid, NO_NAN, nans, both), c])
    if how in ("two_chains", "pair_chains"):
        inner = tree.children[0]
        assert isinstance(inner, Summed)
        results = [_spine(x) for x in inner.children]
        if how == "two_chains":
            sides = [_chain(rule, invalid, NO_NAN, nans[i::2], x) for i, x in enumerate(results)]
        else:
            steps = list(zip(nans, products, strict=True))
            sides = [_pairs(invalid, x, steps[2 * i :]) for i, x in enumerate(results)]
        return _first(invalid, [c, *sides])
    return _first(invalid, [_chain(rule, invalid, c, nans, _spine(tree))])


def steps_term(
    rule: str, default: Expr, nans: Sequence[Nans], products: Sequence[Number], c: MaybeNan, counted: Number,
    tree: Summed,
) -> MaybeNan:  # fmt: skip
    """The NaN of a tree of any form (`NanWords.v`, steps_term)."""
    of_c, inner, factors = [], [], (NO_NAN, NO_NAN)
    for x in tree.children:
        made = NO_NAN
        if isinstance(x, Summed):
            made = steps_term(rule, default, nans, products, c, counted, x)
        here = isinstance(x, At) and x.zero is None and same_number(x.number, counted)
        of_c.append(c if here else NO_NAN)
        inner.append(made)
        known = (
            y for y, z in zip(nans, products, strict=True) if isinstance(x, At) and same_number(z, x.number)
        )
        factors = next(known, factors)
    both = [*of_c, *inner]
    one = MaybeNan(any_of(x.present for x in both), _first(default, both))
    return MaybeNan(is_one(tree.sum.ending.outcome.nan), _first(default, _ordered(rule, *factors, one)))


def _ordered(rule: str, a: MaybeNan, b: MaybeNan, s: MaybeNan) -> list[MaybeNan]:
    return {"b_sum_a": [b, s, a], "a_sum_b": [a, s, b]}.get(rule, [a, b, s])


def _spine(x: At | Summed) -> list[Number]:
    """The results along the first operands of a tree."""
    return [] if isinstance(x, At) else [*_spine(x.children[0]), x.sum.ending.outcome]


def _first(default: Expr, nans: Sequence[MaybeNan]) -> Expr:
    return reduce(lambda word, x: choice(x.present, x.word, word), reversed(nans), default)


def _chain(
    rule: str, default: Expr, start: MaybeNan, nans: Sequence[Nans], results: Sequence[Number]
) -> MaybeNan:
    made = start
    for (a, b), y in zip(nans, results, strict=False):
        order, nan = _ordered(rule, a, b, made), is_one(y.nan)
        made = MaybeNan(nan | made.present, choice(nan, _first(default, order), made.word))
    return made


def _pairs(default: Expr, results: Sequence[Number], steps: Sequence[tuple[Nans, Number]]) -> MaybeNan:
    if len(steps) < 2 or not results:
        return NO_NAN
    rest = _pairs(default, results[1:], steps[4:]) if len(steps) >= 4 else NO_NAN
    present, word = is_one(results[0].nan) | rest.present, rest.word
    word = choice(is_one(results[0].nan), default, word)
    for nans, last in reversed(steps[:2]):
        nan = is_one(last.nan)
        present, word = nan | present, choice(nan, _first(default, nans), word)
    return MaybeNan(present, word)


def then_c_term(
    word: int, default: int, nans: Sequence[Nans], products: Sequence[Number], c: MaybeNan
) -> Expr:
    """`Frames.v`, then_c_term."""
    factors = any_of(a.present | b.present for a, b in nans)
    signs = ((is_one(x.inf), is_one(x.term.sign)) for x in products)
    pairs = list(signs)
    infinite = any_of((x & ~y for x, y in pairs)) & any_of((x & y for x, y in pairs))
    invalid = any_of(is_one(x.nan) for x in products) | infinite
    last = choice(c.present, c.word, default)
    return choice(factors, word, choice(invalid, default, last))


class Plan:
    """A unit's circuit, its cut points and the claims about them.

    Errors: InputError for a design with stages of other kinds than sums of one exact or cut sum.
    """

    def __init__(self, spec: UnitSpec) -> None:
        self.design = coq_design(spec)  # first, because it says what the specification has not
        _refuse(spec)
        g = Graph()  # one of its own, because cut points are named in it
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        self._read(spec, g, dot, range(spec.k), g.inputs["c"], dot.result, slice(None))

    @classmethod
    def of_block(cls, spec: UnitSpec, g: Graph, dot: Dot, i: int, c: Node, root: Node) -> Plan:
        """The plan of one block of a circuit, from the word `c` before it to that of its sum."""
        made, length = cls.__new__(cls), min(spec.k, spec.design.products)
        made._read(spec, g, dot, range(i * length, (i + 1) * length), c, root, slice(i, i + 1))
        return made

    def _read(
        self, spec: UnitSpec, g: Graph, dot: Dot, ks: range, c_node: Node, root: Node, blocks: slice
    ) -> None:
        self.spec, self.how, self.graph = spec, spec.emulation, g
        self.ks, self.c_node, self.root = ks, c_node, root
        d = spec.design
        self.rule = str(d.c_subnormals)
        self.inner = self.rule if spec.tree is not None else "kept"
        self.rounds_down, self.windowed = d.summation in ("tr", "gtr"), _windowed(spec)
        roundings = {x.operands[0].ks[0]: x for x in dot.steps if _rounds_product(x)}
        self.leaves = [self._product(k, roundings) for k in ks]
        c = unpack(g, c_node, spec.c_format)
        self.c = Leaf((Factor(c_node, spec.c_format, _own(c.term.significand)),), c)
        before, entering = c, [c_node]
        self.zero: Number | None = None
        self.blocks: list[tuple[Number, Number, Sequence[Node], BlockSum]] = []
        self.outcomes: list[Number] = []
        self.nan_rule = str(d.nan_rule) if spec.tree is None else spec.tree.nan_rule
        groups = self._groups(dot)[blocks]
        if self.how is not None:
            before, entering = unpack(g, g.const(0, spec.d_format.width), spec.d_format), []
            self.zero = before
        self.designs = {d.conversion: d}
        if spec.tree is not None:
            self.designs = {x.conversion: x for x in stage_designs(spec.tree, d).values()}
        for i, steps in enumerate(groups):
            if d.c_position == "after" or self.rounds_down or d.framed or self.windowed:
                products = self.leaves[i * d.products : (i + 1) * d.products]
                into = [x.cut() for x in products for _ in x.terms]
                block: After | Down | Framed | Window
                if self.windowed or d.c_position == "after":
                    block = (Window if self.windowed else After)(g, d, steps, into, entering)
                else:
                    block = (Framed if d.framed else Down)(d, steps, into, entering)
                self.blocks.append((before, block.c, entering, block))
                before, entering = block.ending.outcome, block.ending.cut()
                continue
            counted = self._c_of(steps)
            self.results = [(x.specials.result, x) for x in steps if x.specials is not None]
            self.outcomes += [x for x, _ in self.results]
            if len(self.results) != len(steps):
                raise InputError(f"expected sums that are rounded, but {spec.name} has others")
            tree = self._tree(steps[-1].specials.result, counted, entering)  # type: ignore[union-attr]
            self.blocks.append((before, counted, entering, tree))
            before, entering = tree.ending.outcome, tree.ending.cut()
        self.adding: tuple[Number, Fused] | None = None
        if self.how is not None:
            last = dot.stages[-1]
            assert isinstance(last, DotStep)
            assert last.specials is not None
            cuts = [[dot.blocks[-1].result], [c_node]]
            self.adding = last.specials.operands[0], Fused(last, self.how.addition, cuts)
        self.last = self.adding[1] if self.adding is not None else self.blocks[-1][3]
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([self.root, *named])

    def _groups(self, dot: Dot) -> list[list[DotStep]]:
        """The sums of each block."""
        spec = self.spec
        if any(isinstance(x, Block) and x.groups for x in dot.stages):
            raise InputError(f"expected whole products, but {spec.name} has others")
        every = [x.steps for x in dot.stages if isinstance(x, Block)]
        if spec.tree is not None:
            every = [tuple(x for x in dot.stages if isinstance(x, DotStep))]
        return [[x for x in steps if not _rounds_product(x)] for steps in every]

    def _product(self, k: int, roundings: Mapping[int, DotStep]) -> Product:
        """The product of one k, from its words to the term that it is."""
        g, d = self.graph, self.spec.design
        exact = self._leaf(k)
        normal = None
        (x, y) = exact.factors[:2]
        if d.normalise_operands:
            formats = replace(self.spec.operands, a=x.fmt, b=y.fmt)
            normal = factors_of_product(g, d, formats, x.word, y.word)
        number = exact.number
        if d.subtracts(k):
            number = negated(g, number)
        number = limit_product(g, number, d.product_limit)
        rounded = None
        if d.product_rounding is not None:
            step = roundings[k]
            if step.rounded is None or step.specials is None:
                raise InputError(f"expected a rounded product of {k} in {self.spec.name}")
            rounded = Ending(step.rounded, step.specials.result, d, number_to_round(number))
        pieces: tuple[tuple[tuple[int, int], Number], ...] = ()
        if d.piece_bits is not None:
            one, other = (range(0, x.width, d.piece_bits) for x in number.term.factors)
            places = [(i, j) for i in range(len(one)) for j in range(len(other)) if i + j >= d.dropped_pieces]
            made = in_pieces(g, number, d.piece_bits, d.dropped_pieces)
            pieces = tuple(zip(places, made, strict=True))
        return Product(exact, normal, number, d.subtracts(k), d.product_limit, rounded, pieces)

    def _leaf(self, k: int) -> Leaf:
        g, spec, d = self.graph, self.spec, self.spec.design
        words = [(g.inputs[f"a[{k}]"], spec.a_format), (g.inputs[f"b[{k}]"], spec.b_format)]
        wide = converted_to(spec)
        rules = [*operand_rules(d)]
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
        below = met([node], {x.index for x in words})[1]
        if len(below) == 1 and node.op != "input":
            return {below[0]: node}
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
        return self.c.number  # of a tree without it

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
        rho = step.rounded.target
        children: list[At | Summed] = []
        cuts: list[Sequence[Node]] = []
        for operand, x in zip(step.operands, step.specials.operands, strict=True):
            leaves = (y for y in self.leaves if any(same_number(z, x) for z in y.terms))
            leaf = next(leaves, None) if operand.kind == "products" else None
            child: At | Summed = At(x)
            if leaf is not None:
                cut: Sequence[Node] = leaf.cut()
            elif x is c:
                cut = entering
            elif operand.kind == "zero":
                child, cut = At(x, (rho.e_min, rho.fraction_bits)), []
            else:
                child = self._tree(x, c, entering)
                cut = child.ending.cut()
            children.append(child)
            cuts.append(cut)
        fused = Fused(step, self.designs.get(step.conversion, self.spec.design), cuts)
        return Summed(fused, number, tuple(children), not same_number(number, fused.ending.outcome))

    def claims(self) -> Iterator[Claim]:
        """`Unit.v`, unit_claims."""
        return iter(self.all_claims)

    def _claims(self) -> Iterator[Claim]:
        for leaf in self.leaves:
            yield from leaf.claims()
        for leaf in self.leaves:
            yield from leaf.piece_claims(self.spec.design.piece_bits or 0)
        yield from self.c.claims()
        known: list[Expr] = []
        for before, counted, entering, tree in self.blocks:
            yield from flush_claims(known, self.rule, before, counted, entering)
            yield from self._tree_claims(tree) if isinstance(tree, Summed) else tree.claims()
            known = tree.ending.usual()
        if self.adding is not None and self.zero is not None:
            number, fused = self.adding
            f = self.spec.d_format
            yield from known_claims((1 - f.bias, f.fraction_bits), self.zero)
            parts = self.blocks[-1][3]
            yield from flush_claims(known, "kept", parts.ending.outcome, number, parts.ending.cut())
            yield from fused.claims()
        end, last = self.last.ending, self.last.ending.outcome.term
        cut = nan_cut = end.cut()
        if self.nan_rule != "word":  # what NaNs of all sums are made of, and the result beside its word
            made = [y for x in self.outcomes for y in (x.inf, x.term.sign)]
            nan_cut = [*flags(x.number for x in self.leaves), *made, last.significand, last.exponent.bits]
        yield from word_claims(
            self.spec.d_format, self._nan_word(), end.outcome, end.usual(), self.root, cut, nan_cut
        )

    def _nan_word(self) -> Expr:
        """The word of a result that is a NaN."""
        spec, d = self.spec, self.spec.design
        if self.how is not None:
            return num(self.how.addition.nan_word)
        if self.nan_rule == "word":
            return num(d.nan_word)
        g, to, a, b = self.graph, spec.d_format, spec.a_format, spec.b_format
        nans = [
            (word_nan(a, to, g.inputs[f"a[{k}]"]), word_nan(b, to, g.inputs[f"b[{k}]"]))
            for k in range(spec.k)
        ]
        word = quiet_term(spec.c_format, to, g.inputs["c"])
        joined = d.c_position in ("joined", "first")
        length = min(spec.k, d.products)
        for i, (_, counted, _, tree) in enumerate(self.blocks):
            assert isinstance(tree, Summed | Framed)
            order = range(i * length, (i + 1) * length)
            ks = [k if d.order == "ascending" else k ^ 1 for k in order]
            products, own = [self.leaves[k].number for k in ks], [nans[k] for k in ks]
            c = MaybeNan(is_one(counted.nan), word)
            if isinstance(tree, Framed):
                word = then_c_term(d.factor_nan_word or 0, d.nan_word, own, products, c)
            elif spec.tree is not None:
                invalid = num(d.nan_word)
                word = _first(invalid, [steps_term(self.nan_rule, invalid, own, products, c, counted, tree)])
            else:
                how = "" if joined else d.summation
                word = block_term(self.nan_rule, d.nan_word, how, own, products, c, tree)
        return word

    def _tree_claims(self, tree: Summed) -> Iterator[Claim]:
        end = tree.ending
        yield from tree.sum.claims()
        yield from flush_claims(end.usual(), self.inner, end.outcome, tree.result, end.cut())
        for x in tree.children:
            if isinstance(x, Summed):
                yield from self._tree_claims(x)
            elif x.zero is not None:
                yield from known_claims(x.zero, x.number)

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        grouped = self.spec.design.aligned_group is not None
        more = ["RoundDown"] * (self.rounds_down or grouped) + ["FrameGroups"] * grouped
        more += ["Frames"] * self.spec.design.framed
        more += ["Window"] * self.windowed
        required = "".join(f"From TC Require Import {x}.\n" for x in [*more, "Unit"])
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Products After.
{required}Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : design := {self.design}.
Definition plan : unit_plan := {self.text()}.
{claims_text(self.all_claims)}
Lemma checked : unit_ok unit_circuit unit_design plan = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (unit_claims unit_circuit unit_design plan) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v ->
  v (root plan) = compute unit_design (words_in plan v).
Proof. exact (certified_words_to_words _ _ _ _ checked claimed). Qed.
"""

    def text(self) -> str:
        """The plan as `Unit.v`, unit_plan."""
        g, spec = self.graph, self.spec
        inputs = {x: "; ".join(name(g.inputs[f"{x}[{k}]"]) for k in self.ks) for x in "ab"}
        scales: list[str] = []
        if spec.scale_format is not None:
            count = range(-(-spec.k // (spec.scale_block or 1)))
            scales = [
                f"({name(g.inputs[f'scale_a[{i}]'])}, {name(g.inputs[f'scale_b[{i}]'])})" for i in count
            ]
        leaves = ";\n  ".join(product_text(x) for x in self.leaves)
        blocks = ";\n  ".join(
            f"BlockPlan {number_text(counted)} {block_text(x)}" for _, counted, _, x in self.blocks
        )
        adding = "None"
        if self.adding is not None:
            adding = f"(Some ({number_text(self.adding[0])}, {sum_text(self.adding[1])}))"
        zero = self.c.number if self.zero is None else self.zero
        plan, pieces = "UnitPlan", ""
        if spec.design.piece_bits is not None:
            rows = (f"[{'; '.join(map(number_text, x.terms))}]" for x in self.leaves)
            plan, pieces = "InPieces", f" [{'; '.join(rows)}]"
        return (
            f"{plan} [{inputs['a']}]%positive [{inputs['b']}]%positive {name(self.c_node)}"
            f" [{'; '.join(scales)}]%positive\n"
            f" [{leaves}]\n {number_text(self.c.number)} {maybe(self.c.factors[0].significand)}"
            f" {number_text(zero)}\n"
            f" [{blocks}]\n {adding} {name(self.root)}{pieces}"
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A term of a sum, and whether it is c (`WideUnit.v`, entry)."""

    number: Number
    from_c: bool

    @property
    def text(self) -> str:
        """As Coq has it."""
        r = self.number
        return f"(Entry {number_text(r)} {name(r.term.zero)} {_span(r)} {str(self.from_c).lower()})"


class WideFront(Front):
    """A sum of terms that are cut to nearest, once or twice (`WideUnit.v`, wide_plan)."""

    def __init__(self, g: Graph, d: Design, step: DotStep, entries: Sequence[Entry]) -> None:
        assert step.total is not None
        self.entries, self.design, self.first = entries, d, int(d.fraction_bits or 0)
        super().__init__(step.total, [x.number for x in entries], d, [])
        modes = (str(d.alignment_rounding), str(d.c_alignment_rounding or d.alignment_rounding))
        self.modes = [modes[x.from_c] for x in entries]
        terms = zip(self.total.terms, self.modes, strict=True)
        self.once = [align(g, x.term, x.shift, self.first, mode) for x, mode in terms]
        self.before = self.tree
        self.most = max(self.bound, 0 if d.minus_one is None else 1 << d.minus_one)
        self.gone = [is_one(x.number.term.zero) for x in entries]
        #: What is known of the sum, and the nodes of its terms' exponents.
        self.known_sum = (within(self.most, self.n), in_span(self.total.e_max))
        self.exponents = [y for x in entries for y in (x.number.term.exponent.bits, x.number.term.zero)]

    def largest(self, i: int) -> int:
        """The largest magnitude of a term, which each cut may round up."""
        term = self.numbers[i].term
        kept = largest_kept(term.significand.width, self.first - term.fraction_bits)
        if self.first > self.total.fraction_bits:
            kept = (kept >> self.first - self.total.fraction_bits) + 1
        return min(kept, (1 << self.total.terms[i].aligned.width) - 1)

    def claims(self) -> Iterator[Claim]:
        """The terms at the largest exponent, cut, and their sum (`WideUnit.v`, summed_claims)."""
        spans = [in_span(x.number.term.exponent) for x in self.entries]
        zero = self.zero_exponent
        enters = [~x if zero == "none" else ALWAYS for x in self.gone]
        parts = [exponent_of(x.number) for x in self.entries]
        if isinstance(zero, int):
            parts = [choice(x, zero, part) for x, part in zip(self.gone, parts, strict=True)]
        both = list(zip(enters, parts, strict=True))
        found = any_of(x & equal(part, self.top) for x, part in both) | all_of(~x for x in enters)
        yield make_claim(spans, found, self.exponents)
        yield make_claim(spans, in_span(self.total.e_max), self.exponents)
        for x, part in both:
            yield make_claim(spans, ~x | (part <= self.top), self.exponents)
        for i, entry in enumerate(self.entries):
            yield from self._cut_claims(i, entry, spans)
        yield self._total_claim()
        before = sg(self.before)
        counted = before
        if (fault := self.design.minus_one) is not None:
            counted = choice(equal(before, -1), -(1 << fault), before)
        yield make_claim([within(self.bound, before)], equal(self.n, counted), [self.before])
        yield from self._tree_claims(self.tree)

    def _total_claim(self) -> Claim:
        return make_claim([self._within(self.tree)], equal(sg(self.before), sg(self.tree)), [self.tree])

    def _cut_claims(self, i: int, x: Entry, spans: Sequence[Expr]) -> Iterator[Claim]:
        """A term is shifted and cut to nearest, once or twice (`WideUnit.v`, cut_claims)."""
        row, term, once = self.total.terms[i], x.number.term, self.once[i]
        own = exponent_of(x.number)
        shift = equal(u(row.shift), self.top - own)
        yield make_claim([~self.gone[i], own <= self.top, *spans], shift, self.exponents)
        up = max(0, self.first - term.fraction_bits)
        down = max(0, term.fraction_bits - self.first)
        by = lower(u(row.shift), term.significand.width + up + 1)
        cut = [term.significand, row.shift, term.sign]
        size = u(term.significand) * (1 << up)
        yield make_claim([], self._near(i, once, size, by, down), cut)
        rest = num(self.first - self.total.fraction_bits)
        yield make_claim([], self._near(i, row.aligned, u(once), rest, 0), [once, term.sign])
        yield make_claim([], u(row.aligned) <= self.largest(i), cut)

    def _near(self, i: int, kept: Node, size: Expr, by: Expr, down: int) -> Expr:
        """What is kept of a term is the nearest number to it (`WideUnit.v`, near_formula)."""
        sign, up = self.entries[i].number.term.sign, self.modes[i] == "RNU"
        k, z = (_signed(sign, x) if up else x for x in (u(kept), size))

        def scaled(x: Expr) -> Expr:
            return (x << by) * (1 << down)

        middle = 2 * z + scaled(num(1))
        return (2 * scaled(k) <= middle) & (middle < 2 * scaled(k + 1))

    def staying_claims(self, made: Entry) -> Iterator[Claim]:
        """The sum is a term of the next one as it is, or zero (`WideUnit.v`, staying_claims)."""
        least, r, x = self.design.rho.e_min, made.number, made.number.term
        none = all_of(self.gone) if self.zero_exponent == "none" else NEVER
        lost = none | (NEVER if self.design.result_subnormals == "kept" else self.top < least)
        cut = [self.total.bits, self.total.e_max.bits, *(y.number.term.zero for y in self.entries)]
        for goal in (
            iff(is_one(x.zero), lost),
            iff(is_one(x.sign), ~lost & (self.n < 0)),
            equal(u(x.significand), choice(lost, 0, magnitude(self.n))),
            equal(exponent_of(r), choice(lost, least, self.top)),
            in_span(x.exponent),
        ):
            yield make_claim(self.known_sum, goal, cut)

    @property
    def text(self) -> str:
        """A term of type `wide_plan`."""
        cuts = "; ".join(
            f"Cutting {name(x.shift)} {name(once)} {name(x.aligned)} {self.largest(i)}"
            for i, (x, once) in enumerate(zip(self.total.terms, self.once, strict=True))
        )

        def partial(node: Node) -> str:
            if node not in self.sums:
                return f"(Leaf {name(node)} {self.places[node]}%nat)"
            return f"(Partial {name(node)} {' '.join(partial(y) for y in self.sums[node].of)})"

        e = self.total.e_max
        return (
            f"(WidePlan [{cuts}] {name(e.bits)} {integer_text(e.low)} {span_of(e)} {partial(self.tree)}"
            f" {name(self.before)} {name(self.total.bits)})"
        )


def _taken(x: Shown, text: str | None) -> Shown:
    """A number with some bits of its significand, as in a pass of a product (`WideUnit.v`, shown_taken)."""
    if text is None:
        return x
    first, last = bits_taken(text)
    t = x.fraction_bits
    moved = x.significand * (1 << max(0, last - t))
    taken = bits(max(0, t - last), last - first + 1, moved)
    return replace(x, significand=taken, exponent=x.exponent + -first, fraction_bits=last - first)


class WidePlan:
    """The plan of a unit of `Wide.v`: sums that stay as they are, and one of these and c that is rounded.

    Errors: InputError for a design with other sums.
    """

    def __init__(self, spec: UnitSpec) -> None:
        self.design, self.spec = coq_wide(spec), spec
        root, designs = _wide_tree(spec)
        self.graph = g = Graph()
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        steps = [x for x in dot.stages if isinstance(x, DotStep)]
        made = {x.specials.result.term: x for x in steps if x.specials is not None}
        self.root, last = dot.result, steps[-1]
        terms: dict[int | str, Entry] = {}

        def entries(of: DotStep, step: Step) -> list[Entry]:
            assert of.specials is not None
            numbers = zip(step.children, of.specials.operands, strict=True)
            rows = [(x, Entry(number, x == "c")) for x, number in numbers]
            terms.update((x, y) for x, y in rows if not isinstance(x, Step))
            return [y for _, y in rows]

        top = entries(last, root)
        self.children: list[tuple[WideFront, Entry] | None] = []
        for x, child in zip(top, root.children, strict=True):
            if not isinstance(child, Step):
                self.children.append(None)
                continue
            of = made[x.number.term]
            self.children.append((WideFront(g, designs[child.stage], of, entries(of, child)), x))
        d = designs[root.stage]
        self.last = WideFront(g, d, last, top)
        self.c, self.products = terms["c"], [terms[k] for k in range(spec.k)]
        rounded = replace(total_to_round(self.last.total, (), self.last.most), sign=NEVER)
        assert last.rounded is not None
        assert last.specials is not None
        self.ending = Ending(last.rounded, last.specials.result, d, rounded)
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([self.root, *named])

    def claims(self) -> Iterator[Claim]:
        """Products, sums that stay, the last sum and its word (`WideUnit.v`, wide_claims)."""
        return iter(self.all_claims)

    def _shown(self, operand: str, f: Format, rule: str) -> Shown:
        return Factor(self.graph.inputs[operand], self.spec.design.reading(f), None, rule).shown()

    def _claims(self) -> Iterator[Claim]:
        d, spec = self.spec.design, self.spec
        of_a, of_b = operand_rules(d)
        for k, x in enumerate(self.products):
            a, b = self._shown(f"a[{k}]", spec.a_format, of_a), self._shown(f"b[{k}]", spec.b_format, of_b)
            made = _taken(a, d.a_bits).times(_taken(b, d.b_bits))
            zero = equal(made.significand, 0) & equal(a.significand * b.significand, 0)
            yield from _shown_claims(made, zero, x.number)
        c = self._shown("c", spec.c_format, str(d.c_subnormals))
        yield from _shown_claims(c, equal(c.significand, 0), self.c.number)
        for child in self.children:
            if child is not None:
                yield from child[0].claims()
                yield from child[0].staying_claims(child[1])
        yield from self.last.claims()
        yield from self.ending.claims()
        end, cut = self.ending, self.ending.cut()
        yield from word_claims(spec.d_format, num(d.nan_word), end.outcome, end.usual(), self.root, cut, cut)

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        g, k = self.graph, range(self.spec.k)
        inputs = {x: "; ".join(name(g.inputs[f"{x}[{i}]"]) for i in k) for x in "ab"}
        inner = "; ".join("None" if x is None else f"Some ({x[0].text}, {x[1].text})" for x in self.children)
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Wide Bv Circuit Finish Fused WideUnit.
Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : wide_design := {self.design}.
Definition plan : wide_unit :=
 WideUnit [{inputs["a"]}]%positive [{inputs["b"]}]%positive {name(g.inputs["c"])}
 [{"; ".join(x.text for x in self.products)}]
 {self.c.text} [{inner}]
 {self.last.text} {ending_text(self.ending)} {name(self.root)}.
{claims_text(self.all_claims)}
Lemma checked : wide_fine unit_design plan unit_circuit = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (wide_claims unit_design plan (widths_of unit_circuit)) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v -> v (result_node plan) = compute_wide unit_design (words_of plan v).
Proof. exact (certified_wide_words_to_words _ _ _ _ checked claimed). Qed.
"""


def _wide_tree(spec: UnitSpec) -> tuple[Step, dict[str, Design]]:
    """The last sum of a unit and the design of each stage; InputError for what `wide_fine` does not take."""
    d, tree = spec.design, spec.tree
    exact = (d.product_rounding, d.operand_rounding, d.product_limit, spec.scale_format)
    others = (d.negated, d.normalise_operands, d.special_words, d.zero_sign)
    usual = others == ("none", False, "numbers", "positive")
    if tree is not None and usual and exact == (None,) * 4 and tree.converted is None:
        root, designs = tree.root, stage_designs(tree, d)
        inner = [x for x in root.children if isinstance(x, Step)]
        leaves = [x for step in (root, *inner) for x in step.children if not (step is root and x in inner)]
        last, every = designs[root.stage], designs.values()
        modes = {y for x in every for y in (x.alignment_rounding, x.c_alignment_rounding or "RNA")}
        rules = {(x.c_bits, x.carry_bits, x.e_max_of, x.fraction_bits is None) for x in every}
        stays = not any(designs[x.stage].normalised for x in inner) and last.normalised
        plain = "c" in leaves and "zero" not in leaves and not any(isinstance(x, Step) for x in leaves)
        cut = modes <= {"RNA", "RNU"} and rules == {(None, None, "terms", False)}
        if stays and plain and cut and last.rho.mode == "RNA":
            return root, designs
    raise InputError(
        "expected a sum, rounded by RNA, of terms cut to nearest: whole products of words that are all "
        f"numbers, c, and sums of these that stay as they are, but got {spec.name}"
    )


def _shown_claims(x: Shown, zero: Expr, r: Number) -> Iterator[Claim]:
    """A number of the circuit is that which the words show (`WideUnit.v`, shown_claims)."""
    t = r.term
    yield make_claim([], iff(is_one(t.sign), x.neg))
    yield make_claim([], equal(u(t.significand), x.significand))
    yield make_claim([], equal(exponent_of(r), x.exponent))
    yield make_claim([], iff(is_one(t.zero), zero))
    yield make_claim([], in_span(t.exponent))


class SkippingPlan:
    """The plan of a unit that skips blocks: that of each block, and its word (`SkippingUnit.v`)."""

    def __init__(self, spec: UnitSpec) -> None:
        self.design, self.spec, d = coq_design(spec), spec, spec.design
        _refuse(replace(spec, design=replace(d, zero_words="summed")))
        self.graph = g = Graph()
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        before = g.inputs["c"]
        self.parts: list[tuple[Plan, Node]] = []
        for i, block in enumerate(dot.blocks):
            if block.result.op != "ite":
                raise InputError(f"expected blocks that may be skipped, but got {spec.name}")
            made = Plan.of_block(spec, g, dot, i, before, block.result.args[2])
            self.parts.append((made, block.result))
            before = block.result
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([before, *named])

    def claims(self) -> Iterator[Claim]:
        """`SkippingUnit.v`, skipping_claims."""
        return iter(self.all_claims)

    def _claims(self) -> Iterator[Claim]:
        inputs = self.graph.inputs
        for part, word in self.parts:
            yield from part.claims()
            a, b = (all_of(equal(u(inputs[f"{x}[{k}]"]), 0) for k in part.ks) for x in "ab")
            goal = equal(u(word), choice(a | b, u(part.c_node), u(part.root)))
            yield make_claim([], goal, [part.c_node, part.root])

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        parts = ";\n ".join(f"({part.text()}, {name(word)}%positive)" for part, word in self.parts)
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Products After Unit SkippingUnit.
Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : design := {self.design}.
Definition plan : skipping_unit := [{parts}].
Definition c_input : positive := {name(self.graph.inputs["c"])}.
{claims_text(self.all_claims)}
Lemma checked : skipping_fine unit_circuit unit_design c_input plan = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (skipping_claims unit_circuit unit_design plan) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v ->
  v (last_word c_input plan) = compute unit_design (skipping_words c_input plan v).
Proof. intros H. exact (skipping_words_to_words _ _ _ _ _ checked claimed H eq_refl). Qed.
"""


def _skips(spec: UnitSpec) -> bool:
    """Whether a unit is a chain of exact or cut sums, of which those with nothing to add are skipped."""
    d = spec.design
    one = spec.tree is None and spec.emulation is None and spec.scale_format is None
    joined = (d.summation, d.c_position, d.nan_rule, d.negated) == ("fused", "joined", "word", "none")
    plain = (d.group, d.piece_bits, d.zero_terms, d.carry_bits) == (None,) * 4
    usual = (d.lost_bits, d.order) == ("cut", "ascending") and d.c_subnormals != "hidden_bit"
    return d.zero_words == "skipped" and one and joined and plain and usual and spec.c_format == spec.d_format


class TermFront(Front):
    """A sum of terms that take part in the largest exponent with exponents of their own (`TermSums.v`,
    term_sum).

    `summands`: the terms as their signs and special values count; `numbers`: as they are aligned; `room`: the
    bits that hold the sum; `dropped`: low bits of it that are rounded down.
    """

    def __init__(
        self, total: Total, summands: Sequence[Number], numbers: Sequence[Number], d: Design, entering: Cuts
    ) -> None:
        super().__init__(total, numbers, d, entering)
        self.zero_exponent = "own"
        self.summands = summands
        self.dropped = total.fraction_bits - (d.sum_fraction_bits or total.fraction_bits)
        self.room = None if d.carry_bits is None else 2 + d.carry_bits + total.fraction_bits
        if self.room is not None and self.tree.width > self.room:
            raise InputError(f"expected a sum of {self.room} bits, but got one of {self.tree.width}")
        self.most = 1 << self.room - 1 if self.room is not None else self.bound + (1 << self.dropped)

    @property
    def known_sum(self) -> tuple[Expr, ...]:
        """`TermSums.v`, count_known."""
        known = within(self.most, self.n)
        if self.room is not None:
            known = (-self.most <= self.n) & (self.n < self.most)
        return known, in_span(self.total.e_max)

    def _wrapped(self, x: Expr) -> Expr:
        """`TermSums.v`, wrapped_term."""
        assert self.room is not None
        half = 1 << self.room - 1
        return bits(0, self.room, x + 3 * half) - half

    def claims(self) -> Iterator[Claim]:
        """`TermSums.v`, term_claims_of."""
        yield from self.aligned_claims()
        for x, y in zip(self.summands, self.numbers, strict=True):
            if x.term.sign is not y.term.sign:  # cut toward zero among terms that are rounded down
                yield make_claim([], ~is_one(y.term.sign))
        yield from self._adding_claims(self.tree)
        node, whole = self.total.bits, sg(self.tree)
        if self.room is not None:
            yield make_claim([], equal(self.n, self._wrapped(whole)), [self.tree])
            return
        known = [self._within(self.tree)]
        yield make_claim(known, self.n <= whole, [self.tree])
        yield make_claim(known, whole < self.n + (1 << self.dropped), [self.tree])
        yield make_claim(known, equal(bits(0, self.dropped, u(node)), 0), [self.tree])

    def _adding_claims(self, node: Node) -> Iterator[Claim]:
        """`TermSums.v`, adding_claims."""
        if node not in self.sums:
            i = self.places[node]
            sign, aligned = self.summands[i].term.sign, self.total.terms[i].aligned
            yield make_claim([], equal(sg(node), _signed(sign, u(aligned))), [sign, aligned])
            return
        left, right = self.sums[node].of
        both = sg(left) + sg(right)
        if self.room is None:
            given = [self._within(left), self._within(right)]
            yield make_claim(given, equal(sg(node), both), [left, right])
        else:
            yield make_claim([], equal(sg(node), self._wrapped(both)), [left, right])
        yield from self._adding_claims(left)
        yield from self._adding_claims(right)

    def lost_claims(self, lost: Sequence[Node]) -> Iterator[Claim]:
        """`TermSums.v`, lost_claims; `lost`: whether a bit of each term is cut off."""
        for node, x, row in zip(lost, self.numbers, self.total.terms, strict=True):
            term, f = x.term, self.total.fraction_bits
            up, down = max(0, f - term.fraction_bits), max(0, term.fraction_bits - f)
            clamped = lower(u(row.shift), term.significand.width + up)
            same = equal((u(row.aligned) << clamped) * (1 << down), u(term.significand) * (1 << up))
            yield make_claim([], iff(is_one(node), ~same), [term.significand, row.shift])

    def sticky_to_round(self, lost: Sequence[Node], low: int) -> ToRound:
        """`TermSums.v`, sticky_round: a bit for what is lost stands `low` places below the sum."""
        assert self.room is not None
        n, e, node = self.n, self.total.e_max, self.total.bits
        zero, lowest = equal(n, 0), equal(n, -(1 << self.room - 1))
        some = any_of(map(is_one, lost)) & ~zero
        return ToRound(
            operands=self.summands,
            size=choice(lowest, 0, magnitude(n) * (1 << low) + choice(some, 1, 0)),
            no_size=zero | lowest, down=(n < 0) & ~lowest,
            unit=u(e.bits) + (e.low - self.total.fraction_bits - low), bound=self.most * (1 << low) + 1,
            known=self.known_sum, sign=n < 0, node=node, nodes=(node, e.bits, *lost),
        )  # fmt: skip

    def text(self) -> str:
        """The sum as `TermSums.v`, term_sum."""
        return f"(TermSum [{'; '.join(map(number_text, self.summands))}] {front_text(self)})"


def _ruled(x: Shown, rule: str) -> Shown:
    """A value with what any rule makes of subnormals (`StickyUnit.v`, shown_rule)."""
    if rule != "hidden_bit":
        return x.flushed(rule)
    some = ~equal(x.significand, 0) & (x.significand < 1 << x.fraction_bits)
    subnormal = ~x.inf & some
    hidden = x.significand + (1 << x.fraction_bits)
    return replace(
        x, significand=choice(subnormal, hidden, x.significand),
        exponent=choice(subnormal, x.exponent + -1, x.exponent),
    )  # fmt: skip


def _one_sig(x: Shown) -> Expr:
    """A significand, that of a zero 1 (`StickyUnit.v`, one_sig)."""
    return choice(equal(x.significand, 0), 1 << x.fraction_bits, x.significand)


class StickyPlan:
    """The plan of a unit of one block, whose zeros count as ones and whose sum remembers what is cut off
    (`StickyUnit.v`).
    """

    def __init__(self, spec: UnitSpec) -> None:
        self.design, self.spec, d = coq_design(spec), spec, spec.design
        self.graph = g = Graph()
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        self.root = dot.result
        (step,) = dot.steps
        total, rounded, specials = _ended(step)
        self.words = [(g.inputs[f"a[{k}]"], g.inputs[f"b[{k}]"]) for k in range(spec.k)]
        self.ones: list[tuple[Node, Node]] = []
        for x, y in self.words:
            a, b = (with_leading_one(g, z) for z in factors_of_product(g, d, spec.operands, x, y))
            self.ones.append((a.term.significand, b.term.significand))
        cuts = [*self.words, [g.inputs["c"]]]
        self.front = TermFront(total, specials.operands, specials.operands, d, cuts)
        rows = zip(self.front.numbers, total.terms, strict=True)
        self.lost = [cuts_off(g, x.term, y.shift, total.fraction_bits) for x, y in rows]
        of = self.front.sticky_to_round(
            self.lost, rounded.target.fraction_bits + 1 + deciding_bits(rounded.target.mode)
        )
        self.ending = Ending(rounded, specials.result, d, of, "ieee")
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([self.root, *named])

    def claims(self) -> Iterator[Claim]:
        """`StickyUnit.v`, sticky_claims."""
        return iter(self.all_claims)

    def _claims(self) -> Iterator[Claim]:
        spec, d = self.spec, self.spec.design
        *products, c = self.front.summands
        of_a, of_b = operand_rules(d)
        assert isinstance(d.zero_terms, int)
        for (x, y), ones, r in zip(self.words, self.ones, products, strict=True):
            a = _ruled(Factor(x, spec.a_format, None).shown(), of_a)
            b = _ruled(Factor(y, spec.b_format, None).shown(), of_b)
            for z, node in zip((a, b), ones, strict=True):
                yield make_claim([~z.nan, ~z.inf], equal(u(node), _one_sig(z)))
            zero = equal(a.significand, 0) | equal(b.significand, 0)
            made = a.times(b)
            shown = replace(made, exponent=choice(zero, d.zero_terms, made.exponent))
            significand = u(ones[0]) * u(ones[1])
            yield from shown.number_claims(r, [], [], significand, (), ones)
        z = _ruled(Factor(self.graph.inputs["c"], spec.c_format, None).shown(), str(d.c_subnormals))
        exponent = choice(equal(z.significand, 0), d.zero_terms, z.exponent)
        shown = replace(z, significand=_one_sig(z), exponent=exponent)
        yield from shown.number_claims(c, [], [], shown.significand, (), ())
        for r in self.front.summands:
            yield make_claim([is_finite(r)], ~equal(u(r.term.significand), 0))
        yield from self.front.claims()
        yield from self.front.lost_claims(self.lost)
        yield from self.ending.claims()
        end, cut = self.ending, self.ending.cut()
        yield from word_claims(spec.d_format, num(d.nan_word), end.outcome, end.usual(), self.root, cut, cut)

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        a, b = ("; ".join(map(name, x)) for x in zip(*self.words, strict=True))
        ones = "; ".join(f"({name(x)}, {name(y)})" for x, y in self.ones)
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused TermSums StickyUnit.
Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : design := {self.design}.
Definition plan : sticky_unit :=
 StickyUnit [{a}]%positive [{b}]%positive {name(self.graph.inputs["c"])}
 [{ones}]%positive
 {self.front.text()}
 {self.front.room} [{"; ".join(map(name, self.lost))}]%positive {ending_text(self.ending)} {name(self.root)}.
{claims_text(self.all_claims)}
Lemma checked : sticky_fine unit_design plan unit_circuit = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (sticky_claims unit_design plan (widths_of unit_circuit)) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v -> v (result_node plan) = compute unit_design (sticky_words plan v).
Proof. exact (sticky_words_to_words _ _ _ _ checked claimed). Qed.
"""


def _sticks(spec: UnitSpec) -> bool:
    """Whether a unit is one sum of products and c, of bounded width, that remembers what is cut off."""
    d = spec.design
    one = spec.tree is None and spec.emulation is None and spec.k <= d.products
    joined = (d.summation, d.c_position, d.nan_rule) == ("fused", "joined", "word")
    plain = (d.group, d.piece_bits, d.product_rounding, d.product_limit, spec.scale_format) == (None,) * 5
    kept = (d.lost_bits, d.alignment_rounding, d.zero_sign) == ("sticky", "RZ", "sum")
    widths = isinstance(d.zero_terms, int) and d.carry_bits is not None
    return one and joined and plain and kept and widths and not _tiny_otherwise(d)


@dataclass(frozen=True, slots=True)
class ScaledGroup:
    """A group of products, whose sum is scaled (`GroupUnit.v`, group_plan).

    `places`: the products of the nodes that are added; `low`: the sum counts units of 2^low; `bound`: the
    largest product; `size`, `scales`: nodes of significands, of the sum and of its scales.
    """

    words: tuple[tuple[Node, Node], ...]
    scale_words: tuple[Node, Node]
    total: Node
    places: Mapping[Node, int]
    low: int
    bound: int
    size: Node
    scales: tuple[Node, Node]
    number: Number

    def _bounded(self, node: Node) -> Expr:
        return within(self._bound(node), sg(node))

    def _bound(self, node: Node) -> int:
        return self.bound if node in self.places else sum(map(self._bound, node.args))

    def _tree_claims(self, node: Node, products: Sequence[Shown]) -> Iterator[Claim]:
        """`GroupUnit.v`, group_tree_claims."""
        if node in self.places:
            x = products[self.places[node]]
            up = x.exponent + (-x.fraction_bits - self.low)
            size = x.significand << up
            yield make_claim([], up >= 0)
            yield make_claim([], equal(sg(node), choice(x.neg, 0 - size, size)))
            yield make_claim([], within(self.bound, sg(node)))
            return
        a, b = node.args
        yield make_claim([self._bounded(a), self._bounded(b)], equal(sg(node), sg(a) + sg(b)), [a, b])
        yield from self._tree_claims(a, products)
        yield from self._tree_claims(b, products)

    def claims(
        self, products: Sequence[Shown], scales: Sequence[Shown], d: Design, entered: Number
    ) -> Iterator[Claim]:
        """`GroupUnit.v`, group_claims; `entered`: the sum with the exponent with which it takes part."""
        yield from self._tree_claims(self.total, products)
        n, r = sg(self.total), self.number
        yield make_claim([self._bounded(self.total)], equal(u(self.size), magnitude(n)), [self.total])
        for x, node in zip(scales, self.scales, strict=True):
            yield make_claim([~x.nan], equal(u(node), x.significand))
        shown = Shown(NEVER, NEVER, n < 0, magnitude(n), num(0), -self.low)
        for x in scales:
            shown = shown.times(x)
        more = d.group_exponent
        shown = replace(shown, exponent=shown.exponent + more, fraction_bits=shown.fraction_bits + more)
        one, other = map(u, self.scales)
        cut = [self.size, *self.scales]
        yield from shown.number_claims(r, [], [], u(self.size) * (one * other), [self.total], cut)
        scaled = [equal(x.significand, 0) for x in scales]
        every = NEVER
        if d.zero_group != "scale":
            every = all_of(equal(x.significand, 0) for x in products)
        assert isinstance(d.zero_exponent, int)
        exponent = choice(scaled[0] | scaled[1] | every, d.zero_exponent, exponent_of(r))
        yield make_claim([is_finite(r)], equal(exponent_of(entered), exponent), [r.term.exponent.bits])

    def text(self) -> str:
        """The group as `GroupUnit.v`, group_plan."""

        def added(node: Node) -> str:
            if node in self.places:
                return f"(Leaf {name(node)} {self.places[node]}%nat)"
            return f"(Partial {name(node)} {' '.join(map(added, node.args))})"

        sigs = ", ".join(map(name, self.scales))
        return (
            f"GroupPlan {integer_text(self.low)} {self.bound} {added(self.total)} {name(self.size)}"
            f" ({sigs})%positive {number_text(self.number)}"
        )


def _before_cut(x: Node) -> Node:
    """The sum that a sum is without some low bits: other bits are read off it."""
    return x.args[0].args[0] if x.op == "concat" and x.args[0].op == "extract" else x


def _zero_node(g: Graph, x: Node) -> Node:
    """Whether a significand is 0: a product is, where a factor is."""
    if x.op == "mul_expand":
        return g.or_(*(_zero_node(g, y) for y in x.args))
    return g.is_zero(x)


class ScaledGroupsPlan:
    """The plan of a unit of one block, whose terms are scaled sums of groups, and c (`GroupUnit.v`)."""

    def __init__(self, spec: UnitSpec) -> None:
        self.spec, d = spec, spec.design
        wide = wide_parameter(spec)
        self.design = f"(Broad {coq_wide(spec)})" if wide else f"(Narrow {coq_design(spec)})"
        self.graph = g = Graph()
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        self.root = dot.result
        (block,) = dot.blocks
        (step,) = block.steps
        total, rounded, specials = _ended(step)
        self.words = [(g.inputs[f"a[{k}]"], g.inputs[f"b[{k}]"]) for k in range(spec.k)]
        count = -(-spec.k // (spec.scale_block or 1))
        self.scales = [(g.inputs[f"scale_a[{i}]"], g.inputs[f"scale_b[{i}]"]) for i in range(count)]
        self.groups = [
            self._group(i * (d.group or 1), *x)
            for i, x in enumerate(zip(block.groups, specials.operands, strict=False))
        ]
        summands, zero = specials.operands, d.zero_exponent
        exponents = effective_exponents(g, [x.term for x in summands], zero)
        numbers = []
        for x, e in zip(summands, exponents, strict=True):
            term = replace(x.term, exponent=e, zero=_zero_node(g, x.term.significand))
            numbers.append(replace(x, term=term))
        if (d.c_alignment_rounding or d.alignment_rounding) != d.alignment_rounding:
            numbers[-1] = replace(numbers[-1], term=replace(numbers[-1].term, sign=g.truth(False)))
        self.front = TermFront(total, summands, numbers, d, [[] for _ in numbers])
        of = total_to_round(total, summands, self.front.most, NEVER)
        kept = _before_cut(total.bits)
        of = replace(of, node=kept, nodes=(kept, total.e_max.bits))
        self.ending = Ending(rounded, specials.result, d, of)
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([self.root, *named])

    def _group(self, first: int, of: GroupSum, number: Number) -> ScaledGroup:
        g, spec = self.graph, self.spec
        addends = (signed_magnitude(g, x.sign, y) for x, y in zip(of.terms, of.placed, strict=True))
        places = {g.wrap_to_mod(x, of.total.width): i for i, x in enumerate(addends)}
        most = (
            (1 << x.significand.width) - 1 << x.exponent.high - x.fraction_bits + of.scale for x in of.terms
        )
        assert spec.scale_format is not None
        words = self.scales[first // (spec.scale_block or 1)]
        one, other = (unpack(g, w, spec.scale_format).term.significand for w in words)
        return ScaledGroup(
            tuple(self.words[first : first + len(of.terms)]), words, of.total, places, -of.scale, max(most),
            split_sign(g, of.total)[1], (one, other), number,
        )  # fmt: skip

    def claims(self) -> Iterator[Claim]:
        """`GroupUnit.v`, group_unit_claims."""
        return iter(self.all_claims)

    def _claims(self) -> Iterator[Claim]:
        spec, d = self.spec, self.spec.design
        of_a, of_b = operand_rules(d)
        assert spec.scale_format is not None
        assert isinstance(d.zero_exponent, int)
        for x, entered in zip(self.groups, self.front.numbers, strict=False):
            products = [
                _ruled(Factor(a, spec.a_format, None).shown(), of_a).times(
                    _ruled(Factor(b, spec.b_format, None).shown(), of_b)
                )
                for a, b in x.words
            ]
            scales = [Factor(w, spec.scale_format, None).shown() for w in x.scale_words]
            yield from x.claims(products, scales, d, entered)
        c, entered = self.front.summands[-1], self.front.numbers[-1]
        shown = _ruled(Factor(self.graph.inputs["c"], spec.c_format, None).shown(), str(d.c_subnormals))
        yield from shown.number_claims(c, [], [], shown.significand, (), ())
        exponent = choice(equal(u(c.term.significand), 0), d.zero_exponent, exponent_of(c))
        yield make_claim([is_finite(c)], equal(exponent_of(entered), exponent))
        yield from self.front.claims()
        yield from self.ending.claims()
        end, cut = self.ending, self.ending.cut()
        yield from word_claims(spec.d_format, num(d.nan_word), end.outcome, end.usual(), self.root, cut, cut)

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        a, b = ("; ".join(map(name, x)) for x in zip(*self.words, strict=True))
        scales = "; ".join(f"({name(x)}, {name(y)})" for x, y in self.scales)
        groups = ";\n  ".join(x.text() for x in self.groups)
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Wide Bv Circuit Finish Fused TermSums GroupUnit.
Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : group_design := {self.design}.
Definition plan : group_unit :=
 GroupUnit [{a}]%positive [{b}]%positive {name(self.graph.inputs["c"])}
 [{scales}]%positive
 [{groups}]
 {self.front.text()}
 {ending_text(self.ending)} {name(self.root)}.
{claims_text(self.all_claims)}
Lemma checked : group_unit_fine unit_design plan unit_circuit = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (group_unit_claims unit_design plan (widths_of unit_circuit)) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v ->
  v (group_result plan) = compute_groups unit_design (group_words plan v).
Proof. exact (group_words_to_words _ _ _ _ checked claimed). Qed.
"""


def _groups(spec: UnitSpec) -> bool:
    """Whether a unit is one sum of scaled groups of exact products and c."""
    d = spec.design
    one = spec.tree is None and spec.emulation is None and spec.k <= d.products
    joined = (d.summation, d.c_position, d.nan_rule, d.e_max_of) == ("fused", "joined", "word", "terms")
    scaled = spec.scale_format is not None and d.group is not None
    exact = (d.product_rounding, d.operand_rounding, d.product_limit, d.a_bits, d.b_bits, d.zero_terms)
    plain = (d.carry_bits, d.second_fraction_bits, d.c_bits, d.minus_one) == (None,) * 4
    usual = (d.negated, d.zero_words, d.lost_bits, d.zero_sign) == ("none", "summed", "cut", "positive")
    modes = d.alignment_rounding, d.c_alignment_rounding or d.alignment_rounding
    cut = modes in (("RZ", "RZ"), ("RD", "RD"), ("RD", "RZ")) and isinstance(d.zero_exponent, int)
    numbers = spec.a_format.specials is Specials.NONE and spec.b_format.specials is Specials.NONE
    normal = d.normalise_operands or d.normalise_products or d.exponent_step != 1
    return (
        one and joined and scaled and exact == (None,) * 6 and plain and usual and cut and numbers
        and not normal and d.special_words == "special" and not _tiny_otherwise(d)
    )  # fmt: skip


def _tiny_otherwise(d: Design) -> bool:
    """Whether tininess is that of a rounding that `Finish.v`, ending_ok, does not take."""
    return d.result_subnormals == "tiny_zero" and not {d.rho.mode, d.step.mode} <= {"RNE", "RZ"}


def _refuse(spec: UnitSpec) -> None:
    """InputError for what `Unit.v`, design_ok, does not take."""
    d = spec.design
    fixed = d.product_rounding is not None and d.product_conversion.integer_bits is not None
    down = (d.sum_rounding, d.zero_exponent, d.zero_sign) == ("RD", "none", "sum")
    missing = {
        "groups of products": d.group is not None, "products in fixed point": fixed,
        "factors with exponents in steps": d.exponent_step != 1,
        "zeros that count as others": d.zero_terms is not None,
        "blocks that are skipped": d.zero_words == "skipped",
        "normalised products in a sum that is cut": d.normalise_products,
        "a sum of bounded width": d.carry_bits is not None,
        "sums that keep what is cut off": d.lost_bits != "cut",
        "factors that are cut in halves": d.lost_bits == "halves",
        "tiny results that are rounded otherwise": _tiny_otherwise(d),
        "sums rounded down otherwise": d.summation in ("tr", "gtr") and not down,
        "exact sums of more than two terms": _exact_terms(spec) > 2 and not _windowed(spec),
    }  # fmt: skip
    found = [x for x, is_so in missing.items() if is_so]
    if found:
        raise InputError(f"expected a unit without {', '.join(found)}, but got {spec.name}")


def _exact_terms(spec: UnitSpec) -> int:
    """The most terms of a sum of a unit that cuts none of them; 0 where every sum does."""
    d = spec.design
    if spec.tree is not None:
        designs = stage_designs(spec.tree, d)
        exact = (x for x in spec.tree.root.steps() if designs[x.stage].fraction_bits is None)
        return max((len(x.children) for x in exact), default=0)
    if d.fraction_bits is not None:
        return 0
    return min(spec.k, d.products) + (d.c_position == "joined") if d.summation == "fused" else 2


def _windowed(spec: UnitSpec) -> bool:
    """Whether each sum of a unit is exact, of several products in one window, and of c."""
    d = spec.design
    if spec.tree is not None or (d.summation, d.c_position) != ("fused", "joined") or _exact_terms(spec) < 3:
        return False
    g, o = Graph(), spec.operands
    a, b = (unpack(g, g.input(x, f.width), f) for x, f in (("a", o.a), ("b", o.b)))
    terms = [product(g, a, b).term]
    return fixed_width(terms * (_exact_terms(spec) - 1)) <= FIXED_WINDOW


def _rounds_product(x: DotStep) -> bool:
    """Whether a step is the rounding of a product."""
    return x.total is None and x.made.kind == "products"


def _own(node: Node) -> Node | None:
    return None if node.op in ("const", "input") else node


def question(claim: Claim) -> tuple[Graph, Node]:
    """The graph and the node that is 1 where everything given holds and the goal does not."""
    g = Graph(folded=False)
    made: dict[Node, Node] = {}
    wanted = [y for e in (*claim.given, claim.goal) for y in e.nodes()]
    for node in sorted(_between(wanted, claim.free), key=lambda x: x.index):
        if node in claim.free or node.op == "input":
            made[node] = g.input(f"v{len(made)}", node.width)
        elif node.op == "const":
            made[node] = g.const(node.params[1], node.width)
        else:
            made[node] = make(g, node.op, [made[y] for y in node.args], node.params)
    bits_of = Bits(g, made)
    wrong = g.make("not_", (bits_of.formula(claim.goal),))
    for x in claim.given:
        wrong = g.make("and_", (wrong, bits_of.formula(x)))
    return g, wrong


def _between(wanted: Sequence[Node], free: frozenset[Node]) -> set[Node]:
    """The nodes between the cut and those wanted."""
    seen, stack = set[Node](), list(wanted)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += () if node in free else node.args
    return seen


#: The rows that are kept, sorted by unit.
KEPT = Path(__file__).parent / "refinements.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """That a unit's circuit computes what its design does, from words to words.

    Ranges and units: `claims` counts those of the file for Coq, `different` those among them that were
    decided; `seconds` of the processor were spent on them, `coqc_seconds` on the file.
    """

    unit: str
    #: SHA-256 of the circuit and of the design in Coq.
    definition: str
    #: SHA-256 of the file for Coq.
    file: str
    #: SHA-256 of the sources in Coq that the file requires.
    sources: str = ""
    claims: int
    different: int
    seconds: float
    #: The version of Coq that took the file; empty where none was asked.
    coq: str = ""
    coqc_seconds: float = 0.0

    def sentence(self) -> str:
        """What an answer rests on."""
        return (
            f"unit refined: its circuit computes the specification's words, by {self.claims} claims that "
            f"were decided with checked proofs, not again now, and a file that Coq {self.coq} accepted"
        )


def plan_of(
    spec: UnitSpec,
) -> Plan | WidePlan | StickyPlan | ScaledGroupsPlan | SkippingPlan | IntegerPlan:
    """A unit's circuit, its cut points and the claims about them; InputError as these have it."""
    if spec.d_format.integer:
        return IntegerPlan(spec)
    if _groups(spec):
        return ScaledGroupsPlan(spec)
    if wide_parameter(spec):
        return WidePlan(spec)
    if _skips(spec):
        return SkippingPlan(spec)
    return StickyPlan(spec) if _sticks(spec) else Plan(spec)


def sources_of(spec: UnitSpec) -> str:
    """SHA-256 of the sources in Coq that a unit's file requires."""
    if spec.d_format.integer:
        return sources_digest("IntegerCircuit.v")
    if _groups(spec):
        return sources_digest("GroupUnit.v")
    if wide_parameter(spec):
        return sources_digest("WideUnit.v")
    if _skips(spec):
        return sources_digest("SkippingUnit.v")
    return sources_digest("StickyUnit.v" if _sticks(spec) else "Unit.v")


def definition(spec: UnitSpec) -> str:
    """SHA-256 of a unit's circuit and of its design in Coq; InputError for what the specification lacks."""
    g = Graph()
    dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
    of_numbers = coq_wide if wide_parameter(spec) else coq_design
    design = coq_integer_design(spec) if spec.d_format.integer else of_numbers(spec)
    text = f"{digest(g, {'result': dot.result})}\n{design}"
    return hashlib.sha256(text.encode()).hexdigest()


def kept_refinement(spec: UnitSpec) -> Refinement | None:
    """The kept refinement of a unit; None without one, or for a changed circuit, design or source in Coq.

    Nothing is decided again: `refinement` does that.
    """
    try:
        found = _by_definition().get(definition(spec))
    except InputError:  # a design that the specification does not describe
        return None
    return found if found is not None and found.coq and found.sources == sources_of(spec) else None


@cache
def _by_definition() -> dict[str, Refinement]:
    return {x.definition: x for x in load(KEPT)}


def refinement(spec: UnitSpec, decided: set[Hashable] | None = None) -> Refinement:
    """Decide every claim about a unit's circuit, and check each proof; claims in `decided`, where they are
    collected for other units, are left out.

    Errors: InputError for a unit that has no plan, and for a claim that is false; CertificateError for a
    proof that the checker refuses.
    """
    start = time.process_time()
    decided = set() if decided is None else decided
    plan, asked, count, different = plan_of(spec), set[Hashable](), 0, set[Hashable]()
    for claim in plan.claims():
        count += 1
        graph, wrong = question(claim)
        # What makes two questions the same: their nodes, by operator and place.
        form = tuple([(x.op, x.params, *[y.index for y in x.args]) for x in reachable([wrong])])
        if form in asked:
            continue
        asked.add(form)
        cnf = to_cnf(graph, wrong)
        different.add(cnf.clauses)
        if cnf.clauses not in decided:
            outcome = refuted(cnf)
            if outcome.status is not Status.UNSAT:
                says = claim.coq(name)[:200]
                raise InputError(f"expected every claim about {spec.name} to hold, but {says} does not")
            checked_steps(cnf, outcome.proof or "")
            decided.add(cnf.clauses)
    return Refinement(
        unit=spec.name, definition=definition(spec), file=file_digest(plan.coq()), claims=count,
        different=len(different), seconds=round(time.process_time() - start, 1),
    )  # fmt: skip


def load(path: Path) -> list[Refinement]:
    """The refinements of a file that `save` wrote; InputError for another file."""
    try:
        return [Refinement(**json.loads(x)) for x in path.read_text(encoding="utf-8").splitlines()]
    except (ValueError, TypeError) as error:
        raise InputError(f"expected refinements in {path.name}, but found others: {error}") from error


def file_digest(text: str) -> str:
    """SHA-256 of a file for Coq."""
    return hashlib.sha256(text.encode()).hexdigest()
