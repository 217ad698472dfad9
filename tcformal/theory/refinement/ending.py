"""The end of a sum, the same however it is made: normalisation, rounding, special values (`Finish.v`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tcformal.design.spec import Design
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.stages import Rounded, Total
from tcformal.theory.refinement.values import exponent_of, flags, in_span, is_finite, make_claim
from tcformal.theory.terms import (
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
    magnitude,
    num,
    sg,
    u,
    within,
)


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
