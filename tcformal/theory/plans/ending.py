"""The ending of a sum: its magnitude, its rounding and its word, as claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tcformal.design.rounding import deciding_bits, overflows_to_infinity, random_word
from tcformal.design.spec import Design
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.stages import (
    Rounded,
)
from tcformal.theory.formulas import (
    ALWAYS,
    NEVER,
    Claim,
    Expr,
    any_of,
    bits,
    choice,
    equal,
    iff,
    is_one,
    lower,
    make_claim,
    num,
    u,
)
from tcformal.theory.plans.numbers import ToRound, exponent_of, flags, in_span, is_finite


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


def tiny_otherwise(d: Design) -> bool:
    """Whether tininess is that of a rounding that `Finish.v`, ending_ok, does not take."""
    return d.result_subnormals == "tiny_zero" and not {d.rho.mode, d.step.mode} <= {"RNE", "RZ"}
