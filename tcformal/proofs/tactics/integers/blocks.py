"""The exact sum of a whole dot product of integers: block by block, each result the next one's c."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.integer_sums import IntegerSum, least_cut, only_normal, whole_number
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion, flags_of
from tcformal.proofs.tactics.bounds.terms import KnownTerm, sign_of
from tcformal.proofs.tactics.integers.aligned import AlignedInteger, IntegerAlignment, IntegerTotal
from tcformal.proofs.tactics.integers.groups import IntegerGroup
from tcformal.proofs.tactics.integers.numbers import sum_of_magnitudes
from tcformal.proofs.tactics.integers.wholes import (
    Reach,
    WholeTerm,
    below,
    exponent_limits,
    stated_term,
    whole_magnitude,
)
from tcformal.semantics.number import Term
from tcformal.semantics.stages import Block, Dot, DotStep, GroupSum, Rounded, SpecialCases, Total


@dataclass(frozen=True, slots=True)
class IntegerResult:
    """Theorems about the result of a block.

    `value`: its value less the exact sum of everything before it is 0.  `size`: the sum of all magnitudes
    before it, less its own, is at least 0.  `clean`: it is neither Inf nor NaN.
    """

    term: WholeTerm
    conversion: IntegerConversion
    value: int
    size: int
    clean: tuple[int, ...]


class IntegerConversion(SumConversion):
    """A conversion that loses nothing of the sum `exact`."""

    def __init__(
        self, at: IntegerAlignment, exact: IntegerTotal, rounded: Rounded, specials: SpecialCases,
        given: Sequence[int], flags: Sequence[int],
    ) -> None:  # fmt: skip
        d, g, total = at.d, at.g, at.total
        in_range = at.at.in_range()
        code, summed = total.e_max.bits, exact.summed
        cuts = ([summed.whole, summed.sign, code], [summed.whole, summed.sign, *code.args])
        over = rounded.result.inf
        fine = d.lemma("that no integer overflows", g.not_(over), [*given, *in_range], cuts)
        super().__init__(d, total, at.e_max, summed, rounded, specials, [fine, *flags], in_range)
        self.exact, self.small = exact, tuple(given)

    def whole(self, reach: Reach) -> tuple[WholeTerm, int, int]:
        """The result as an integer, that its value is ±the sum, and that its magnitude is the sum's."""
        d, g, t = self.d, self.g, self.term
        w = whole_number(g, t.significand, self.code, self.bits, reach.most)
        width = max(w.floor.width, self.exact.whole.width)
        whole = [w.floor, self.exact.whole]
        sides = (g.zero_extend_to(whole[0], width), g.zero_extend_to(whole[1], width))
        given = [*self.small, *self.given]
        integer = d.lemma("that a result is an integer", w.whole, given, self.cuts)
        same = d.lemma("that a result is its sum", g.eq(*sides), given, self.cuts)
        small = d.lemma("that a result is small", w.small, [same, *self.small], (whole,))
        shown = whole_magnitude(d, w, self.bits, [integer, small])
        # The magnitude is the sum's.
        wide = g.zero_extend_to(w.magnitude, w.floor.width)
        low = d.equal(
            "that an integer is small", w.floor, wide, [integer, small], ([w.floor, w.back, w.placed],)
        )
        equal = d.equal("that a result is its sum", *sides, [same], (sides,))
        parts: list[Part] = [(-1, [low]), (-1, [d.read(wide)]), (1, [equal])]
        parts += [(q, [d.read(y)]) for q, y in zip((-1, 1), sides, strict=True) if y.op == "zero_extend"]
        magnitude = d.prove(Poly.of(w.magnitude) - Poly.of(self.exact.whole), [], parts)
        nonzero = g.any_bit(t.significand)
        # Bits of bits are taken from the widest node at once.
        bits = (t.significand, t.exponent.bits, *flags_of(self.specials))
        own = tuple(a for n in bits for a in (n.args if n.op == "extract" else (n,)))
        facts = (*self.normal(),)
        limits = [
            d.lemma("the exponent of a result", goal, [integer, small, *facts], (own,))
            for goal in exponent_limits(d, reach, self.code, nonzero, w)
        ]
        empty = d.lemma("that a zero result is empty", g.or_(nonzero, g.is_zero(t.significand)))
        value = sign_of(t.sign) * Poly.of(t.significand) * self.ulp
        known = KnownTerm(value, (), t, self.code, nonzero, limits[0], facts, own)
        # Signs differ on zeros alone.
        signs = self._signs()
        sign = sign_of(self.summed.sign)
        goal = value - sign * Poly.of(self.exact.whole)
        moved: list[Part] = [(sign * -1, [shown]), (sign, [magnitude])]
        if d.about(signs).terms:
            moved.append((self.ulp, [signs]))
        stated = d.prove(goal, [], moved)
        return WholeTerm(known, w, (integer, small), shown, tuple(limits), empty), stated, magnitude


class IntegerProof:
    """The proof of one statement about one dot product."""

    def __init__(self, d: Derivation, stated: IntegerSum, dot: Dot) -> None:
        self.d, self.g, self.stated, self.dot = d, d.g, stated, dot
        aligned = least_cut(stated.unit, subnormal=not only_normal(stated.unit))
        room = int(aligned == stated.most)
        self.reach = Reach(stated.most, int(stated.unit.design.fraction_bits or 0), room)
        #: The exact sum so far, and the magnitudes that it is made of.
        self.exact, self.taken = Poly.constant(0), Poly.constant(0)
        finite = {x.finite for t in stated.terms for x in t.factors}
        self.finite = [d.assume(x) for x in stated.hypotheses if x in finite]
        magnitudes = [x.magnitude for x in (stated.wholes[-1], *stated.wholes[:-1])]
        limit = d.assume(stated.limit)
        self.all, self.bound = sum_of_magnitudes(d, magnitudes, stated.total, stated.most, limit)
        #: The groups whose sums are terms, by their k.
        self.groups: dict[tuple[int, ...], GroupSum] = {}
        size = stated.unit.design.group
        for i, x in enumerate(x for b in dot.blocks for x in b.groups):
            self.groups[tuple(range(i * (size or 1), (i + 1) * (size or 1)))] = x

    def conclusions(self) -> list[int]:
        """Both theorems of the statement; ProofError with one sentence where a step is not found."""
        d, stated = self.d, self.stated
        made: IntegerResult | None = None
        for stage in self.dot.stages:
            made = self._block(*self._step(stage), made)
        assert made is not None, "a dot product has a block"
        x = made.conversion
        packed, _ = x.packed(stated.d)
        t = x.term
        cut = [t.sign, t.significand, t.exponent.bits, x.result.inf, x.result.nan]
        finite = d.lemma(
            "that d is finite",
            stated.d.finite,
            [*made.clean, *x.normal()],
            (cut, [*cut, *t.significand.args], []),
        )
        equal = self._without(packed, finite, stated.d.finite)
        (_, first), (_, goal) = stated.conclusions
        return [
            d.prove(first, [], [(1, [d.fact(finite)])]),
            d.prove(goal, [], [(1, [equal]), (1, [made.value])]),
        ]

    def _without(self, i: int, shown: int, bit: Node) -> int:
        """An equation that a bit was assumed for, without it: the bit is proved."""
        d, g = self.d, self.g
        no = d.assume(g.not_(bit))
        # -1 = 0, times the equation.
        wrong = d.fact(d.lemma("that d is finite", g.truth(False), [shown, no], ([bit], [g.not_(bit)])))
        return d.cases(bit, i, d.arith([(d.about(i) * -1, [wrong])]))

    def _step(self, block: Block | DotStep) -> tuple[DotStep, Total, Rounded, SpecialCases]:
        """The one fused sum of a block."""
        if isinstance(block, Block) and len(block.steps) == 1:
            (step,) = block.steps
            if step.specials is not None and step.rounded is not None and step.total is not None:
                return step, step.total, step.rounded, step.specials
        raise ProofError("a block is no fused sum")

    def _terms(self, step: DotStep, total: Total, before: IntegerResult | None) -> list[WholeTerm]:
        """The terms of a block's sum, the result of the block before it among them."""
        found = []
        for x, aligned in zip(step.operands, total.terms, strict=True):
            if x.kind == "block" and before is not None:
                found.append(before.term)
                continue
            if x.kind not in ("c", "products"):
                raise ProofError(f"a term is {x.kind}")
            if x.ks in self.groups:
                found.append(self._group(x.ks, aligned.term))
                continue
            k = len(self.stated.terms) - 1 if x.kind == "c" else x.ks[0]
            t, w = self.stated.terms[k], self.stated.wholes[k]
            none = self.d.arith([])
            known = KnownTerm(t.value, t.factors, aligned.term, t.code, t.nonzero, none)
            found.append(stated_term(self.d, self.reach, t, w, known, self.stated.normal[k]))
        return found

    def _group(self, ks: tuple[int, ...], term: Term) -> WholeTerm:
        """The sum of a group as a term."""
        group = IntegerGroup(self.d, self.reach, self.stated, ks)
        goal = Poly.constant(1 << self.stated.most) - group.taken
        bound = self.d.prove(goal, [], [(1, [self.bound]), (self.all - group.taken, [])])
        return group.term(self.groups[ks], term, bound)

    def _block(
        self, step: DotStep, total: Total, rounded: Rounded, specials: SpecialCases,
        before: IntegerResult | None,
    ) -> IntegerResult:  # fmt: skip
        """One sum, and with those before it everything so far."""
        d = self.d
        terms = self._terms(step, total, before)
        at = IntegerAlignment(d, total, terms, self.reach)
        aligned = at.aligned(self._sizes(terms, before))
        exact = at.sum(aligned)
        size = self._size(terms, aligned, exact, before)
        left = self.all - self.taken
        most = d.prove(
            Poly.constant(1 << self.stated.most) - Poly.of(exact.whole), [],
            [(1, [self.bound]), (1, [size]), (left, [])],
        )  # fmt: skip
        small = below(d, exact.whole, 1 << self.stated.most, most)
        flags = self._flags(specials, before)
        given = [exact.low, small, at.reached[0]]
        conversion = IntegerConversion(at, exact, rounded, specials, given, flags)
        term, stated, magnitude = conversion.whole(self.reach)
        parts: list[Part] = [(1, [stated]), (1, [exact.value])]
        for x, y in zip(terms, aligned, strict=True):
            parts.append((-1, [y.signed]))
            if before is not None and x is before.term:
                parts.append((1, [before.value]))
            else:
                self.exact = self.exact + x.known.value
        value = d.prove(term.known.value - self.exact, [], parts)
        own = d.prove(self.taken - Poly.of(term.whole.magnitude), [], [(1, [size]), (-1, [magnitude])])
        return IntegerResult(term, conversion, value, own, self._clean(conversion, flags))

    def _sizes(self, terms: Sequence[WholeTerm], before: IntegerResult | None) -> list[int]:
        """2^most less the first magnitudes of a block, from one of them to all, is at least 0."""
        d, made = self.d, list[int]()
        parts: list[Part] = [(1, [self.bound])]
        left, goal = self.all, Poly.constant(1 << self.stated.most)
        for x in terms:
            mine = Poly.of(x.whole.magnitude)
            goal = goal - mine
            if before is not None and x is before.term:
                parts.append((1, [before.size]))
                left = left - self.taken
            elif x.taken is not None:
                parts.append((1, [x.within]))
                left = left - x.taken
            else:
                left = left - mine
            made.append(d.prove(goal, [], [*parts, (left, [])]))
        return made

    def _size(
        self, terms: Sequence[WholeTerm], aligned: Sequence[AlignedInteger], exact: IntegerTotal,
        before: IntegerResult | None,
    ) -> int:  # fmt: skip
        """All magnitudes so far less that of the sum are at least 0."""
        d, sign = self.d, exact.summed.sign
        parts: list[Part] = [(sign_of(sign) * -1, [exact.value])]
        s, one = Poly.of(sign), d.range(sign)
        for x, y in zip(terms, aligned, strict=True):
            # |n| - (1 - 2s)(1 - 2t)·n = 2·n·(s·(1 - t) + t·(1 - s))
            n = Poly.of(x.whole.magnitude) * 2
            parts += [(n * s, [d.range(y.sign)]), (n * Poly.of(y.sign), [one])]
            if before is not None and x is before.term:
                parts.append((1, [before.size]))
            elif x.taken is not None:
                parts.append((1, [x.within]))
                self.taken = self.taken + x.taken
            else:
                self.taken = self.taken + Poly.of(x.whole.magnitude)
        return d.prove(self.taken - Poly.of(exact.whole), [], parts)

    def _flags(self, specials: SpecialCases, before: IntegerResult | None) -> list[int]:
        """That no operand of a sum is Inf or NaN."""
        given, cut = list(self.finite), list[Node]()
        if before is not None:
            given += before.clean
            cut = [before.conversion.result.inf, before.conversion.result.nan]
        what = "that integers are finite"
        return [self.d.lemma(what, self.g.not_(x), given, (cut,)) for x in flags_of(specials)]

    def _clean(self, x: IntegerConversion, flags: Sequence[int]) -> tuple[int, ...]:
        """That a result is neither Inf nor NaN."""
        given = [x.given[0], *flags]
        cut = [x.rounded.result.inf, *flags_of(x.specials)]
        what = "that a sum of integers is finite"
        return tuple(
            self.d.lemma(what, self.g.not_(flag), given, (cut,)) for flag in (x.result.inf, x.result.nan)
        )
