"""The exact sum of two numbers, each aligned with a lowest bit that stands for what it lost, and rounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.tactics.bounds.aligned import Alignment
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.summed import Addition
from tcformal.proofs.tactics.bounds.terms import KnownTerm, code_of, shown_value, sign_of, weight
from tcformal.semantics.normalise import shift_left_by_leading_zeros
from tcformal.semantics.stages import Total


@dataclass(frozen=True, slots=True)
class StickyTerm:
    """One term, u being the unit of the sum: lost·u ± (value - ±aligned·u) >= 0 are its `sides`.

    `top`: the theorem that a term that is not zero has its leading bit.
    """

    sign: Node
    aligned: Node
    most: int
    small: int
    lost: Node
    placed: Node
    sides: tuple[int, int]
    top: int


class StickyTerms:
    """Both terms and their sum; `lost` says whether one of them lost something."""

    def __init__(self, d: Derivation, total: Total, summands: Sequence[KnownTerm]) -> None:
        if total.maximum is None or len(total.terms) != 2 or len(summands) != 2:
            raise ProofError("the last sum is not one of two aligned terms")
        self.d, self.g, self.total, self.raw = d, d.g, total, list(summands)
        normal = [
            replace(x, term=t.term, code=code_of(d.g, t.term.exponent))
            for x, t in zip(summands, total.terms, strict=True)
        ]
        # E is not compared with these: the limits of the terms are not used.
        self.alignment = Alignment(d, total, normal, normal[0].code, 0)
        self.unit = self.alignment.unit
        self.errors = [self._term(k) for k in range(2)]
        one, two = (x.lost for x in self.errors)
        self.lost = self.g.or_(one, two)
        self.exact = self._exact()
        self.one_lost = self._one_lost(one, two)
        self.summed = Addition(d, total, self.errors).value()

    # ------------------------------------------------------------------ one term
    def _term(self, k: int) -> StickyTerm:
        d, g, raw, made = self.d, self.g, self.raw[k], self.total.terms[k]
        t, x = made.term, self.alignment.summands[k]
        shifted, distance = shift_left_by_leading_zeros(g, raw.term.significand)
        if shifted is not t.significand or raw.term.weight_bits != 1:
            raise ProofError("a term is not normalised as it is here")
        size, bits = raw.term.significand, self.total.fraction_bits
        placed = g.shift_left_const(t.significand, bits - t.fraction_bits)
        kept = g.lshr(placed, made.shift)
        back = g.shl_mod(kept, made.shift)
        lost = g.not_(g.eq(back, placed))
        if made.aligned is not g.or_(kept, g.zero_extend_to(lost, kept.width)):
            raise ProofError("what a term loses is not kept in its lowest bit")
        share = Poly.of(lost) * self.unit
        exact = Poly.of(size) * weight(raw.code, raw.term.fraction_bits)
        gap = exact - Poly.of(made.aligned) * self.unit
        goals = share + gap, share - gap
        some, none = d.assume(raw.nonzero), d.assume(g.not_(raw.nonzero))
        shown = self._nonzero(k, some, distance, placed, goals)
        empty = d.lemma("that a zero term is empty", g.is_zero(size), [none], (x.own,))
        nothing = d.lemma(
            "that a zero term adds nothing", g.is_zero(made.aligned), [empty], ([*x.own, made.shift],)
        )
        zero = [(d.fact(empty), size), (d.fact(nothing), made.aligned)]
        over, under = (
            d.cases(raw.nonzero, i, d.prove(goal, zero, [(share, [])]))
            for i, goal in zip(shown, goals, strict=True)
        )
        value, sign, s = shown_value(d, raw, f"term {k}"), d.range(t.sign), Poly.of(t.sign)
        moved = raw.value - sign_of(t.sign) * Poly.of(made.aligned) * self.unit
        sides = (
            d.prove(share + moved, [], [(1, [sign, over]), (s, [under]), (1, [value])]),
            d.prove(share - moved, [], [(1, [sign, under]), (s, [over]), (-1, [value])]),
        )
        most = (1 << made.aligned.width) - 1
        goal = g.ule(made.aligned, g.const(most, made.aligned.width))
        small = d.lemma("the range of a node", goal, (), ([made.aligned],))
        known = g.or_(g.not_(raw.nonzero), g.top(t.significand))
        top = d.lemma("that a term is normalised", known, (), (x.own,))
        return StickyTerm(t.sign, made.aligned, most, small, lost, placed, sides, top)

    def _nonzero(
        self, k: int, some: int, distance: Node, placed: Node, goals: tuple[Poly, Poly]
    ) -> tuple[int, int]:
        """Both bounds of a term that is not zero."""
        d, g, raw, made = self.d, self.g, self.raw[k], self.total.terms[k]
        size, x = raw.term.significand, self.alignment.summands[k]
        # The significand is shifted by what the exponent is lowered by.
        up = g.shl_mod(size, distance)
        same = d.equal("that normalising shifts", made.term.significand, up, (), (x.own,))
        fits = d.lemma("that normalising loses nothing", g.eq(g.lshr(up, distance), size), (), (x.own,))
        wide = g.zero_extend_to(distance, CODE_BITS)
        own = g.add_mod(x.code, wide)
        met = d.equal("the exponent of a normalised term", own, raw.code, [some, *x.facts], (x.own,))
        room = d.lemma("that its exponent fits", g.ule(x.code, own), [some, *x.facts], (x.own,))
        lowered = d.prove(
            Poly.of(raw.code) - Poly.of(x.code) - Poly.of(distance),
            [(met, raw.code), (d.read(own, room), own), (d.read(wide), wide)],
        )
        shifted = self.alignment.distance(k, some)
        kept = g.lshr(placed, made.shift)
        back = g.shl_mod(kept, made.shift)
        fine = weight(x.code, self.total.fraction_bits)
        plain = [
            (lowered, raw.code), (shifted, self.alignment.e_max),
        ]  # fmt: skip
        inner = [(d.read(placed), placed), (same, made.term.significand), (d.read(up, fits), up)]
        low, high = d.read(kept, 0), d.read(kept, 1)
        whole = g.eq(back, placed)
        yes, no = d.assume(whole), d.assume(g.not_(whole))
        # Nothing is lost.
        cut = [kept, whole]
        alike = d.equal("a term that loses nothing", made.aligned, kept, [yes], (cut,))
        restored = d.lemma(
            "that a term is restored", g.eq(g.lshr(back, made.shift), kept), (), ([placed, made.shift],)
        )
        rest = d.prove(
            Poly.of(placed) - Poly.of(kept) * Poly.of(made.shift).power_of_two(),
            [(d.fact(yes), placed), (d.read(back, restored), back)],
        )
        lost = g.not_(whole)
        none = d.fact(d.lemma("a bit of a case", g.is_zero(lost), [yes], ([whole],)))
        equations = [*plain, (none, lost), (alike, made.aligned)]
        first = [
            d.prove(goal, [*equations, *inner], [(fine * sign, [rest])])
            for goal, sign in zip(goals, (1, -1), strict=True)
        ]
        # Something is: the lowest bit is 1, and the term lies between this one and the next.
        more = g.add_mod(kept, g.const(1, kept.width))
        same_, next_ = g.eq(made.aligned, kept), g.eq(made.aligned, more)
        either = d.lemma("a term that loses something", g.or_(same_, next_), [no], (cut,))
        one = d.fact(d.lemma("a bit of a case", g.eq(lost, g.truth(True)), [no], ([whole],)))
        stays, moves = d.assume(same_), d.assume(g.not_(same_))
        raised = d.fact(d.lemma("a case of two", next_, [either, moves], ([same_, next_],)))
        bound = d.lemma("that a unit more fits", g.ule(kept, more), [no], ([placed, made.shift],))
        equations = [*plain, (one, lost), (d.fact(stays), made.aligned)]
        second = [
            d.prove(goals[0], [*equations, *inner], [(fine, [low]), (self._at(k, fine), [])]),
            d.prove(goals[1], [*equations, *inner], [(fine, [high]), (fine, [])]),
        ]
        equations = [*plain, (one, lost), (raised, made.aligned), (d.read(more, bound), more)]
        third = [
            d.prove(goals[0], [*equations, *inner], [(fine, [low])]),
            d.prove(goals[1], [*equations, *inner], [(fine, [high]), (fine, []), (self._at(k, fine), [])]),
        ]
        others = [d.cases(same_, i, j) for i, j in zip(second, third, strict=True)]
        made_ = [d.cases(whole, i, j) for i, j in zip(first, others, strict=True)]
        return made_[0], made_[1]

    def _at(self, k: int, fine: Poly) -> Poly:
        """The unit of the sum in terms of a term's own exponent."""
        return fine * Poly.of(self.total.terms[k].shift).power_of_two()

    # ------------------------------------------------------------------ both
    def _exact(self) -> list[int]:
        """Of each term: where it loses something, the other is not zero and not shifted."""
        d, g, made = self.d, self.g, []
        terms = self.total.terms
        cut = [n for t in terms for n in (t.term.exponent.bits, t.term.zero)]
        ranges = [
            d.lemma(
                "the range of an exponent", t.term.exponent.bounded(g), x.facts, (x.own,)
            )
            for t, x in zip(terms, self.alignment.summands, strict=True)
        ]  # fmt: skip
        for k, x in enumerate(self.errors):
            other, own, raw = terms[1 - k], terms[k], self.raw[1 - k]
            still = g.is_zero(own.shift)
            goal = g.or_(still, g.and_(g.is_zero(other.shift), g.not_(other.term.zero)))
            least = d.lemma("that one term is not shifted", goal, ranges, (cut,))
            lossless = d.lemma(
                "that a term that is not shifted loses nothing", g.or_(g.not_(x.lost), g.not_(still)), (),
                ([x.placed, own.shift],),
            )  # fmt: skip
            known = g.or_(other.term.zero, raw.nonzero)
            some = d.lemma("that a term is zero or not", known, (), (self.raw[1 - k].own,))
            both = g.and_(g.is_zero(other.shift), raw.nonzero)
            bits = [still, x.lost, other.term.zero, raw.nonzero, g.is_zero(other.shift)]
            made.append(
                d.lemma(
                    "that the other term is whole",
                    g.or_(g.not_(x.lost), both),
                    [least, lossless, some],
                    (bits,),
                )
            )
        return made

    def _one_lost(self, one: Node, two: Node) -> int:
        """lost - the lost bits of both terms = 0: at most one of them loses something."""
        d, g = self.d, self.g
        cut = [n for x, t in zip(self.errors, self.total.terms, strict=True) for n in (x.placed, t.shift)]
        not_both = d.lemma(
            "that one term at most loses something",
            g.not_(g.and_(one, two)),
            self.exact,
            ([*cut, *(x.nonzero for x in self.raw)],),
        )
        wide, (p, q) = g.zero_extend_to(self.lost, 2), (g.zero_extend_to(x, 2) for x in (one, two))
        added = g.add_mod(p, q)
        fits = d.lemma("that two bits fit", g.ule(added.args[0], added), (), ([one, two],))
        same = d.equal("what is lost", wide, added, [not_both], ([one, two],))
        goal = Poly.of(self.lost) - Poly.of(one) - Poly.of(two)
        signed = d.about(same).terms[((wide,), ())]
        return d.prove(
            goal,
            [(d.read(p), p), (d.read(q), q)],
            [(signed, [same]), (-1, [d.read(wide)]), (1, [d.read(added, fits)])],
        )

    def odd_and_large(self) -> tuple[int, int]:
        """Where something is lost, the magnitude is odd, and at least half of what the larger term is."""
        g, size = self.g, self.summed.magnitude
        lost = self.d.assume(self.lost)
        least = g.const(1 << (self.total.fraction_bits - 1), size.width)
        return (
            self.sum_is("that a sum that loses something is odd", g.bit(size, 0), lost),
            self.sum_is("that a sum that loses something is large", g.ule(least, size), lost),
        )

    def sum_is(self, what: str, goal: Node, given: int) -> int:
        """Something of the sum and of what is lost, from what is known of both terms."""
        cut = [n for t in self.total.terms for n in (t.term.sign, t.term.significand, t.shift)]
        cut += [a for x in self.raw for a in x.nonzero.args]
        return self.d.lemma(what, goal, [given, *self.exact, *(x.top for x in self.errors)], (cut,))
