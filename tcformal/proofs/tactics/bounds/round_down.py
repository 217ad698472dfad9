"""CDNA3's sums: truncated products, then their sum and c rounded down at the larger exponent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.statements.error_bound import BlockBound
from tcformal.proofs.statements.round_down_bound import RoundDownBound
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.blocks import BlockError, BoundProof
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.down import DownConversion
from tcformal.proofs.tactics.bounds.floored import (
    Floored,
    FlooredSums,
    FlooredTerm,
    TermFloor,
)
from tcformal.proofs.tactics.bounds.levels import Larger, Level
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.summed import SignedSum
from tcformal.proofs.tactics.bounds.terms import KnownTerm, finer, shown_value, term_of, weight
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Block, DotStep, Operand, Rounded, SpecialCases, Summed, Total


@dataclass(frozen=True, slots=True)
class Half:
    """The truncated sum of all products of a block, or of every other one."""

    alignment: Alignment
    summands: list[KnownTerm]
    terms: list[TermError]
    total: Total


class RoundDownProof(BoundProof):
    """The proof about TR-FDPA and GTR-FDPA."""

    stated: RoundDownBound

    def _roundings(self, block: Block) -> list[tuple[Rounded, SpecialCases]]:
        step, floor = self._last(block)
        assert step.rounded is not None
        assert step.specials is not None
        return [(floor.rounded, floor.specials), (step.rounded, step.specials)]

    def _last(self, block: Block) -> tuple[DotStep, Summed]:
        """The step that takes in c, and its first conversion."""
        step = block.steps[-1]
        if len(block.steps) != self.stated.halves + 1 or step.floor is None or step.total is None:
            raise ProofError("a block is no sum of products that c is added to")
        return step, step.floor

    def _block(
        self, bound: BlockBound, block: Block, carried: KnownTerm | None, before: BlockError | None,
        clean: Sequence[Sequence[int]],
    ) -> BlockError:  # fmt: skip
        d, stated = self.d, self.stated
        step, floor = self._last(block)
        assert step.total is not None
        assert step.rounded is not None
        assert step.specials is not None
        halves = [self._half(x) for x in block.steps[:-1]]
        sums = FlooredSums(d)
        for h in halves:
            sums.add_up(h.total, h.terms)
        bits = halves[0].total.fraction_bits
        moved: list[Floored] = []
        limit, in_e = self._limit(0)
        node, level = halves[0].total.bits, self._level(halves[0])
        joins: list[tuple[Larger, Poly]] = []
        if len(halves) == 2:
            node, joined = self._joined(sums, halves, moved)
            level, joins = joined.level, [(joined, weight(joined.code, bits))]
        # The sum of the products and c.
        c = carried or self._c(step.operands[-1])
        limit, in_far = self._limit(bound.reach)
        larger = Larger(d, (self._raised(level, bound.reach), self._c_level(c, limit)), limit)
        wide = step.total.fraction_bits
        cut, less = sums.floored(sums.raised(node, wide - bits), larger, 0, wide)
        moved.append(less)
        floor_c = TermFloor(d, c, larger, bits, stated.halves == 2).made(shown_value(d, c, "c"))
        summed = self._added(sums, cut, floor_c, wide - bits, step.total)
        # Both conversions.
        first = DownConversion(
            d, step.total, larger.code, summed, floor.rounded, floor.specials, clean[0], larger.level.ranges
        )
        down = first.error()
        x = first.result.term
        again = Total(x.significand, x.exponent, x.fraction_bits)
        of = SignedSum(x.sign, x.significand, x.significand, summed.equation)
        last = SumConversion(d, again, first.code, of, step.rounded, step.specials, clean[1], first.normal())
        nearest = last.error()
        finer_ulp = self._finer_ulp(first, last)
        # What is lost, above and below.
        parts: list[Part] = []
        for h in halves:
            parts += self._products(h)
        for h in halves:
            for y, t in zip(h.summands, h.terms, strict=True):
                self._take(y, t.value)
        if c is not carried:
            self._take(c, shown_value(d, c, "c"))
        unit = weight(larger.code, bits)
        top = finer(d, larger.code, limit, larger.level.reached, bits)
        shares = [(Poly.of(s) * -1).power_of_two() for s in larger.shifts]
        fine = unit * Fraction(1, 1 << (wide - bits))
        up: list[Part] = [*parts, (floor_c.far, [top])]
        low: list[Part] = [
            *parts, (1, [top]), (fine, [larger.some_exact()]), (shares[1] * (unit - fine), []),
        ]  # fmt: skip
        for joined, own in joins:
            most = finer(d, joined.code, self._limit(0)[0], joined.level.reached, bits)
            low += [(1, [most]), (own, [joined.some_exact()])]
        low.append((Fraction(1, 1 << (x.fraction_bits - last.bits)), [finer_ulp]))
        ulps = stated.sides
        shown, bounds = [], []
        for sign, rest, ulp in ((1, up, ulps[0]), (-1, low, ulps[1])):
            i = 0 if sign > 0 else 1
            loss = stated.lost(bound)[i] + last.ulp * ulp
            loss = loss + (Poly.constant(0) if before is None else before.bounds[i])
            whole = [*rest]
            whole.append((1, [nearest.above if sign > 0 else nearest.below]))
            whole.append((1, [down.above if sign > 0 else down.below]))
            whole.append((fine * -sign, [summed.equation]))
            whole += [(1, [m.less if sign > 0 else m.more]) for m in (*moved, floor_c.floored)]
            whole += [(1, [t.above if sign > 0 else t.below]) for h in halves for t in h.terms]
            if before is not None:
                whole.append((1, [before.above if sign > 0 else before.below]))
            goal = loss - (nearest.value - self.exact) * sign
            shown.append(d.prove(goal, [*in_far, *in_e], whole))
            bounds.append(loss)
        return BlockError(last, nearest, (bounds[0], bounds[1]), ulps, shown[0], shown[1])

    # ------------------------------------------------------------------ products
    def _half(self, step: DotStep) -> Half:
        if step.total is None or step.rounded is not None:
            raise ProofError("a sum of products is rounded before c is added")
        summands = self._summands(step, None)
        alignment = Alignment(self.d, step.total, summands, self._limit(0)[0], self.floor)
        return Half(alignment, summands, [alignment.term(k) for k in range(len(summands))], step.total)

    def _products(self, h: Half) -> list[Part]:
        """What truncation loses: a unit for each product but one."""
        a = h.alignment
        if not all(t.exact_at_zero for t in h.terms):
            raise ProofError("a product has more fraction bits than are kept")
        return [(len(h.terms) - 1, [a.bounded()]), (a.unit, [a.some_exact()])]

    def _level(self, h: Half) -> Level:
        a = h.alignment
        return Level(h.total.e_max, a.e_max, tuple(a.in_range()), a.reached())

    def _joined(self, sums: FlooredSums, halves: list[Half], moved: list[Floored]) -> tuple[Node, Larger]:
        """Both halves at the larger exponent."""
        g, bits = self.g, halves[0].total.fraction_bits
        limit, _ = self._limit(0)
        larger = Larger(self.d, (self._level(halves[0]), self._level(halves[1])), limit)
        floored = []
        for i, h in enumerate(halves):
            node, less = sums.floored(h.total.bits, larger, i, bits)
            floored.append(node)
            moved.append(less)
        width = max(x.width for x in floored) + 1
        wide = [g.wrap_to_mod(x, width) for x in floored]
        total = g.add_mod(*wide)
        sums.partial(total, wide)
        return total, larger

    def _take(self, x: KnownTerm, value: int) -> None:
        """One more term of the exact sum."""
        self.exact = self.exact + x.value
        if self.chained:
            self.sizes.append(self._size(x, value))

    # ------------------------------------------------------------------ c
    def _c(self, x: Operand) -> KnownTerm:
        """c, as the statement knows its fields."""
        own = self.stated.terms[-1].factors[0]
        return self._summand(x, term_of(self.g, own))

    def _c_level(self, c: KnownTerm, limit: Node) -> Level:
        d, g = self.d, self.g
        e = c.term.exponent
        goal = g.ule(g.zero_extend_to(c.code, limit.width), limit)
        reached = d.lemma("the exponent of c at most E", goal, [c.limit, self.floor, *c.facts], (c.own,))
        span = e.high - e.low
        ranges: tuple[int, ...] = ()
        if not span >> e.bits.width:
            bounded = g.ule(e.bits, g.const(span, e.bits.width))
            ranges = (d.lemma("the range of c's exponent", bounded, c.facts, (c.own,)),)
        return Level(e, c.code, ranges, reached)

    def _raised(self, x: Level, reach: int) -> Level:
        """An exponent that is at most E is at most E + reach."""
        d, g = self.d, self.g
        far, _ = self._limit(reach)
        goal = g.ule(g.zero_extend_to(x.code, far.width), far)
        return Level(
            x.exponent,
            x.code,
            x.ranges,
            d.lemma("E at most a higher limit", goal, [x.reached], ([x.code, self.stated.e],)),
        )

    def _added(self, sums: FlooredSums, cut: Node, c: FlooredTerm, by: int, total: Total) -> SignedSum:
        """The sum of both, which is what is rounded."""
        g = self.g
        width = c.aligned.width + 1
        sums.addend(c, width)
        own = sums.raised(g.wrap_to_mod(signed_magnitude(g, c.sign, c.aligned), width), by)
        width = max(cut.width, own.width) + 1
        of = [g.wrap_to_mod(x, width) for x in (cut, own)]
        made = g.add_mod(*of)
        if made is not total.bits:
            raise ProofError("the last sum is not that of the products and c, both rounded down")
        sums.partial(made, of)
        return sums.signed(made)

    def _finer_ulp(self, first: SumConversion, last: SumConversion) -> int:
        """The ulp of a result at its fraction bits less that of what it was rounded from: at least 0."""
        d, g = self.d, self.g
        wide = g.zero_extend_to(last.code, CODE_BITS + 1)
        goal = g.ule(g.zero_extend_to(first.code, CODE_BITS + 1), wide)
        given = [*first.normal(), *last.given]
        reached = d.lemma("that rounding lowers no exponent", goal, given, last.cuts)
        made = finer(d, first.code, wide, reached, last.bits)
        return d.prove(
            last.ulp - first.ulp * (1 << (first.bits - last.bits)), [(d.read(wide), wide)], [(1, [made])]
        )
