"""CDNA3's sums: truncated products, then their sum and c rounded down at the larger exponent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET
from tcformal.proofs.statements.error_bound import BlockBound
from tcformal.proofs.tactics.bounds.blocks import BlockError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.down import DownConversion
from tcformal.proofs.tactics.bounds.floored import (
    Floored,
    FlooredSums,
    FlooredTerm,
    TermFloor,
)
from tcformal.proofs.tactics.bounds.levels import Larger, Level
from tcformal.proofs.tactics.bounds.products import ProductSum, ProductSums
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.summed import SignedSum
from tcformal.proofs.tactics.bounds.terms import KnownTerm, finer, shown_value, sign_of, term_of, weight
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Block, DotStep, Operand, Rounded, SpecialCases, Summed, Total


@dataclass(frozen=True, slots=True)
class DownSum:
    """The sum of a block before its conversions; `moved` are the numbers that were rounded down on the way.

    `joined`: where two halves meet; `larger`: where the products and c do, at most `limit`; `far`: what a c
    that counts nothing may be, in units of the products.
    """

    halves: list[ProductSum]
    joined: Larger | None
    larger: Larger
    limit: Node
    far: Fraction
    moved: list[Floored]
    summed: SignedSum
    total: Total


class RoundDownProof(ProductSums):
    """The proof about TR-FDPA and GTR-FDPA."""

    def _roundings(self, block: Block) -> list[tuple[Rounded, SpecialCases]]:
        step, floor = self._last(block)
        assert step.rounded is not None
        assert step.specials is not None
        return [(floor.rounded, floor.specials), (step.rounded, step.specials)]

    def _last(self, block: Block) -> tuple[DotStep, Summed]:
        """The step that takes in c, and its first conversion."""
        step = block.steps[-1]
        if len(block.steps) != len(self.stated.own) + 1 or step.floor is None or step.total is None:
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
                self._take(self._at_most_e(y, h.own), t.value)
        if c is not carried:
            self._take(c, known)
        up, low = self._lost(made, bound.reach)
        low.append((Fraction(1, 1 << (x.fraction_bits - last.bits)), [self._finer_ulp(first, last)]))
        in_e = [*self._limit(bound.reach)[1], *self._limit(0)[1]]
        in_e += [(d.read(x), x) for x in map(self._wide, stated.own)]
        in_e += [(made.larger.distances[0], made.larger.levels[0].code)]
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
        d, total = self.d, step.total
        halves = [self._half(x, own) for x, own in zip(block.steps[:-1], self.stated.own, strict=True)]
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
        floored = TermFloor(d, c, larger, bits, len(halves) == 2).made(known)
        if self.stated.no_c is not None:
            floored = self._without_c(floored, c, weight(larger.code, bits))
        moved += [less, floored.floored]
        summed = self._added(sums, cut, floored, wide - bits, total)
        return DownSum(halves, joined, larger, limit, floored.far, moved, summed, total)

    def _lost(self, made: DownSum, reach: int) -> tuple[list[Part], list[Part]]:
        """What the steps of a sum add at most, and take away, in powers of 2^P and 2^E."""
        d, larger, bits = self.d, made.larger, made.halves[0].total.fraction_bits
        wide = int(self.stated.unit.design.sum_fraction_bits or 0)
        unit, fine = (weight(larger.code, x) for x in (bits, made.total.fraction_bits))
        parts: list[Part] = [x for h in made.halves for x in self._products(h)]
        # The unit of the products' sum, which c is rounded to where it lies below them.
        own = self._own_unit(made)
        coarse = Fraction(2) ** (wide - made.total.fraction_bits)
        share = (Poly.of(larger.shifts[0]) * -1).power_of_two()
        joins: list[Part] = [(unit, [larger.some_exact()]), *own] if self.stated.no_c is None else []
        low: list[Part] = [
            *parts, *joins, (fine * share, []),
            (coarse, [finer(d, larger.code, made.limit, larger.level.reached, wide)]),
            (self._power(reach - wide) * (1 - coarse), []),
        ]  # fmt: skip
        if made.joined is not None:
            low += [*own, (weight(made.joined.code, bits), [made.joined.some_exact()])]
        return [*parts, *((q * made.far, premises) for q, premises in own)], low

    def _own_unit(self, made: DownSum) -> list[Part]:
        """Σ 2^(P - F) - 2^(exponent of the sum of the products - F) >= 0."""
        d, bits = self.d, made.halves[0].total.fraction_bits
        parts: list[Part] = [(1, [h.alignment.bounded()]) for h in made.halves]
        if made.joined is not None:
            parts.append((weight(made.joined.code, bits), [made.joined.some_exact()]))
            equations = [(i, x.code) for i, x in zip(made.joined.distances, made.joined.levels, strict=True)]
            goal = weight(made.joined.code, bits) * -1
            for x in self.stated.own:
                goal = goal + (Poly.of(x) - Poly.constant(bits + OFFSET)).power_of_two()
            equations += [(d.read(x), x) for x in map(self._wide, self.stated.own)]
            return [(1, [d.prove(goal, equations, parts)])]
        return parts

    # ------------------------------------------------------------------ c
    def _c(self, x: Operand) -> KnownTerm:
        """c, as the statement knows its fields."""
        own = self.stated.terms[-1].factors[0]
        return self._summand(x, term_of(self.g, own))

    def _without_c(self, c: FlooredTerm, x: KnownTerm, unit: Poly) -> FlooredTerm:
        """c = 0, of which nothing is lost."""
        d, g, size = self.d, self.g, x.term.significand
        assert self.stated.no_c is not None
        empty = d.lemma("that c is empty", g.is_zero(size), [d.assume(self.stated.no_c)], (x.own,))
        cut: list[Node] = [size, x.term.sign, *(n for n in x.own if n is not size)]
        nothing = d.lemma("that c adds nothing", g.is_zero(c.aligned), [empty], (cut, [size]))
        lost = x.value - sign_of(x.term.sign) * Poly.of(c.aligned) * unit
        own = self.stated.terms[-1].factors[0].significand
        none = d.prove(lost, [(d.fact(nothing), c.aligned), (d.fact(d.assume(self.stated.no_c)), own)])
        return replace(c, floored=Floored(none, d.arith([(-1, [none])])), far=Fraction(0))

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
