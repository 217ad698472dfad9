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
class ProductSum:
    """The truncated sum of all products of a block, or of every other one."""

    alignment: Alignment
    summands: list[KnownTerm]
    terms: list[TermError]
    total: Total


@dataclass(frozen=True, slots=True)
class DownSum:
    """The sum of a block before its conversions; `moved` are the numbers that were rounded down on the way.

    `joined`: where two halves meet; `larger`: where the products and c do, at most `limit`; `far`: what a c
    that counts nothing may be, in units.
    """

    halves: list[ProductSum]
    joined: Larger | None
    larger: Larger
    limit: Node
    far: Fraction
    moved: list[Floored]
    summed: SignedSum
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
        assert step.rounded is not None
        assert step.specials is not None
        c = carried or self._c(step.operands[-1])
        known = shown_value(d, c, "c")
        made = self._sum(block, step, c, known, bound.reach)
        first = DownConversion(
            d, made.total, made.larger.code, made.summed, floor.rounded, floor.specials, clean[0],
            made.larger.level.ranges,
        )  # fmt: skip
        down, x = first.error(), first.result.term
        last = SumConversion(
            d, Total(x.significand, x.exponent, x.fraction_bits), first.code,
            SignedSum(x.sign, x.significand, x.significand, made.summed.equation), step.rounded,
            step.specials, clean[1], first.normal(),
        )  # fmt: skip
        nearest = last.error()
        for h in made.halves:
            for y, t in zip(h.summands, h.terms, strict=True):
                self._take(y, t.value)
        if c is not carried:
            self._take(c, known)
        up, low = self._lost(made)
        low.append((Fraction(1, 1 << (x.fraction_bits - last.bits)), [self._finer_ulp(first, last)]))
        in_e = [*self._limit(bound.reach)[1], *self._limit(0)[1]]
        fine = weight(made.larger.code, made.total.fraction_bits)
        above = [nearest.above, down.above, *(m.less for m in made.moved)]
        above += [t.above for h in made.halves for t in h.terms]
        below = [nearest.below, down.below, *(m.more for m in made.moved)]
        below += [t.below for h in made.halves for t in h.terms]
        if before is not None:
            above.append(before.above)
            below.append(before.below)
        shown, bounds = [], []
        for i, (sign, rest, steps) in enumerate(((1, up, above), (-1, low, below))):
            loss = stated.lost(bound)[i] + last.ulp * stated.sides[i]
            loss = loss + (Poly.constant(0) if before is None else before.bounds[i])
            parts: list[Part] = [*rest, (fine * -sign, [made.summed.equation]), *((1, [j]) for j in steps)]
            shown.append(d.prove(loss - (nearest.value - self.exact) * sign, in_e, parts))
            bounds.append(loss)
        return BlockError(last, nearest, (bounds[0], bounds[1]), stated.sides, shown[0], shown[1])

    def _sum(self, block: Block, step: DotStep, c: KnownTerm, known: int, reach: int) -> DownSum:
        """The sum of the products and c; `known` is the theorem about the value of c."""
        d, total, halves = self.d, step.total, [self._half(x) for x in block.steps[:-1]]
        assert total is not None, "the last step is a sum"
        sums, moved = FlooredSums(d), list[Floored]()
        for h in halves:
            sums.add_up(h.total, h.terms)
        bits, wide = halves[0].total.fraction_bits, total.fraction_bits
        node, level, joined = halves[0].total.bits, self._level(halves[0]), None
        if len(halves) == 2:
            node, joined = self._joined(sums, halves, moved)
            level = joined.level
        limit, _ = self._limit(reach)
        larger = Larger(d, (self._raised(level, reach), self._c_level(c, limit)), limit)
        cut, less = sums.floored(sums.raised(node, wide - bits), larger, 0, wide)
        floored = TermFloor(d, c, larger, bits, self.stated.halves == 2).made(known)
        moved += [less, floored.floored]
        summed = self._added(sums, cut, floored, wide - bits, total)
        return DownSum(halves, joined, larger, limit, floored.far, moved, summed, total)

    def _lost(self, made: DownSum) -> tuple[list[Part], list[Part]]:
        """What the steps of a sum add at most, and take away, in powers of 2^E."""
        d, larger, bits = self.d, made.larger, made.halves[0].total.fraction_bits
        unit, fine = (weight(larger.code, x) for x in (bits, made.total.fraction_bits))
        parts: list[Part] = [x for h in made.halves for x in self._products(h)]
        top = finer(d, larger.code, made.limit, larger.level.reached, bits)
        # Either c or the sum of the products is not shifted, and c's unit is the larger one.
        share = (Poly.of(larger.shifts[1]) * -1).power_of_two()
        low: list[Part] = [
            *parts, (1, [top]), (fine, [larger.some_exact()]), (share * (unit - fine), []),
        ]  # fmt: skip
        if made.joined is not None:
            x = made.joined
            low.append((1, [finer(d, x.code, self._limit(0)[0], x.level.reached, bits)]))
            low.append((weight(x.code, bits), [x.some_exact()]))
        return [*parts, (made.far, [top])], low

    # ------------------------------------------------------------------ products
    def _half(self, step: DotStep) -> ProductSum:
        if step.total is None or step.rounded is not None:
            raise ProofError("a sum of products is rounded before c is added")
        summands = self._summands(step, None)
        alignment = Alignment(self.d, step.total, summands, self._limit(0)[0], self.floor)
        return ProductSum(alignment, summands, [alignment.term(k) for k in range(len(summands))], step.total)

    def _products(self, h: ProductSum) -> list[Part]:
        """What truncation loses: a unit for each product but one."""
        a = h.alignment
        if not all(t.exact_at_zero for t in h.terms):
            raise ProofError("a product has more fraction bits than are kept")
        return [(len(h.terms) - 1, [a.bounded()]), (a.unit, [a.some_exact()])]

    def _level(self, h: ProductSum) -> Level:
        a = h.alignment
        return Level(h.total.e_max, a.e_max, tuple(a.in_range()), a.reached())

    def _joined(
        self, sums: FlooredSums, halves: list[ProductSum], moved: list[Floored]
    ) -> tuple[Node, Larger]:
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
