"""Products between words and terms: factors with a leading one, signs, limits, roundings (`Products.v`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.theory.refinement.ending import Ending
from tcformal.theory.refinement.values import (
    Leaf,
    Shown,
    exponent_of,
    is_finite,
    make_claim,
    same_number,
    shown_number,
)
from tcformal.theory.terms import NEVER, Claim, bits, equal, iff, is_one, lower, u


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
