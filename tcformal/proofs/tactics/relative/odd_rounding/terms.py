"""Terms and sums that are rounded to odd: cut, and where that loses something, made odd."""

from __future__ import annotations

from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.terms import shown_value, sign_of, weight
from tcformal.semantics.align import align

ONE = Poly.constant(1)
_WHOLE = Fraction(1)


def mixed(d: Derivation, sign: Node, plus: int, minus: int) -> list[Part]:
    """(1 - sign) · one theorem + sign · the other."""
    if sign.op == "const":
        return [(1, [minus if sign.params[1] else plus])]
    return [(1, [d.range(sign), plus]), (Poly.of(sign), [minus])]


class OddTerm:
    """One aligned term, kept = significand >> shift, and `up`: whether it is made odd by one unit."""

    def __init__(self, alignment: Alignment, k: int, loss: Fraction = _WHOLE) -> None:
        self.alignment, self.k, self.d, self.g = alignment, k, alignment.d, alignment.g
        self.loss = loss
        d, g, made = self.d, self.g, alignment.total.terms[k]
        t, bits = made.term, alignment.total.fraction_bits
        if t.fraction_bits > bits or made.aligned is not align(g, t, made.shift, bits, "RO"):
            raise ProofError(f"aligned term {k} is neither cut nor rounded to odd")
        self.placed = g.shift_left_const(t.significand, bits - t.fraction_bits)
        self.kept = g.lshr(self.placed, made.shift)
        self.back = g.shl_mod(self.kept, made.shift)
        self.up = g.and_(g.not_(g.eq(self.back, self.placed)), g.not_(g.bit(self.kept, 0)))
        whole = g.add_expand(self.kept, self.up)
        self.cuts: tuple[list[Node], ...] = ([t.significand, made.shift],)
        same = d.equal(f"aligned term {k}, made odd", made.aligned, whole, (), self.cuts)
        fits = d.lemma("that a term made odd fits", g.ule(whole.args[0], whole), (), ([self.kept, self.up],))
        reads = [(d.read(whole, fits), whole)]
        reads += [(d.read(y), y) for y in whole.args if y.op == "zero_extend"]
        goal = Poly.of(made.aligned) - Poly.of(self.kept) - Poly.of(self.up)
        self.raised = d.prove(goal, [(same, made.aligned), *reads])

    def error(self) -> TermError:
        """Both bounds: u·(1 - 2^-shift) ± (value - ±aligned·u) >= 0."""
        d, g, x, made = self.d, self.g, self.alignment.summands[self.k], self.alignment.total.terms[self.k]
        t, unit, bits = made.term, self.alignment.unit, self.alignment.total.fraction_bits
        gap = Poly.of(t.significand) * weight(x.code, t.fraction_bits) - Poly.of(made.aligned) * unit
        goal = (unit - unit * (Poly.of(made.shift) * -1).power_of_two()) * self.loss
        some, none = d.assume(x.nonzero), d.assume(g.not_(x.nonzero))
        nothing, rest = self.alignment._zero(self.k, none, made.aligned, False, gap, goal - gap)
        if self.loss != 1:
            # Of a zero term the difference is 0.
            spread = d.power(d.arith([(Poly.of(made.shift), [])]))
            scale = unit * (Poly.of(made.shift) * -1).power_of_two()
            rest = d.prove(goal - gap, [], [(1, [d.arith([(-1, [nothing])])]), (scale * self.loss, [spread])])
        empty = d.arith([(1, [rest]), (2, [nothing])]), rest
        shown = self._nonzero(some, goal + gap, goal - gap)
        over, under = (d.cases(x.nonzero, i, j) for i, j in zip(shown, empty, strict=True))
        value = shown_value(d, x, f"term {self.k}")
        moved = x.value - sign_of(t.sign) * Poly.of(made.aligned) * unit
        above = d.prove(goal + moved, [], [*mixed(d, t.sign, over, under), (1, [value])])
        below = d.prove(goal - moved, [], [*mixed(d, t.sign, under, over), (-1, [value])])
        most = ((1 << t.significand.width) - 1 << bits - t.fraction_bits) + 1
        small = d.lemma(
            "the range of a term", g.ule(made.aligned, g.const(most, made.aligned.width)), (), self.cuts
        )
        return TermError(t.sign, made.aligned, made.shift, above, below, most, small, value, True)

    def _nonzero(self, some: int, over_goal: Poly, under_goal: Poly) -> tuple[int, int]:
        """Both bounds of a term that is not zero."""
        d, g, alignment = self.d, self.g, self.alignment
        x, shift = alignment.summands[self.k], alignment.total.terms[self.k].shift
        aligned, power = alignment.total.terms[self.k].aligned, Poly.of(shift).power_of_two()
        low, high = d.read(self.kept, 0), d.read(self.kept, 1)
        spread = d.power(d.arith([(Poly.of(shift), [])]))
        scale = Poly.of(alignment.e_max) - Poly.constant(OFFSET + alignment.total.fraction_bits)
        scale = (scale - Poly.of(shift)).power_of_two()
        yes, no = d.assume(self.up), d.assume(g.not_(self.up))
        zero = d.fact(d.lemma("a bit of a case", g.is_zero(self.up), [no], ([self.up],)))
        one = d.fact(d.lemma("a bit of a case", g.eq(self.up, g.truth(True)), [yes], ([self.up],)))
        plain = [(alignment.distance(self.k, some), x.code), (self.raised, aligned)]
        placed = [(d.read(self.placed), self.placed)] if self.placed.op == "concat" else []
        first = [
            d.prove(over_goal, [*plain, (zero, self.up), *placed], [(scale, [low]), (scale, [spread])]),
            d.prove(under_goal, [*plain, (zero, self.up), *placed], [(scale, [high])]),
        ]
        some_lost = g.ult(self.back, self.placed)
        inner = d.lemma("that what is made odd lost something", some_lost, [yes], self.cuts)
        restored = d.lemma(
            "that a shift back loses nothing", g.eq(g.lshr(self.back, shift), self.kept), (),
            ([self.placed, shift],),
        )  # fmt: skip
        strict = d.prove(
            Poly.of(self.placed) - Poly.of(self.kept) * power - ONE,
            [(d.read(self.back, restored), self.back)], [(1, [d.fact(inner)])],
        )  # fmt: skip
        second = [
            d.prove(over_goal, [*plain, (one, self.up), *placed], [(scale, [strict])]),
            d.prove(under_goal, [*plain, (one, self.up), *placed], [(scale, [high]), (scale * power, [])]),
        ]
        over, under = (d.cases(self.up, i, j) for i, j in zip(second, first, strict=True))
        return over, under


class OddSum:
    """The conversion to odd of a sum of whole units: less than an ulp is lost, by a unit at least.

    Theorems of a sum that is not zero, ±(significand·ulp - magnitude·u) being at most `bound` - u: `bound`
    is at least an ulp, as the theorem `larger` says, and at least a unit, as `spare` adds up to.
    """

    def __init__(self, x: SumConversion, bound: Poly, larger: list[Part], spare: list[Part]) -> None:
        self.x, self.d, self.g, self.bound, self.larger, self.spare = x, x.d, x.g, bound, larger, spare
        self.size = Poly.of(x.term.significand) * x.ulp
        self.exact = Poly.of(x.summed.magnitude) * x.unit

    def bounds(self) -> tuple[int, int]:
        """bound - u ∓ (significand·ulp - magnitude·u) >= 0, of any sum."""
        d, g, x = self.d, self.g, self.x
        goals = tuple(self.bound - x.unit + (self.exact - self.size) * s for s in (1, -1))
        big, amount, distance, some = x._placed(0)
        kept = g.lshr(big, amount)
        wide = g.zero_extend_to(x.term.significand, big.width)
        more, back = g.add_mod(kept, g.const(1, big.width)), g.shl_mod(kept, amount)
        whole, up = g.eq(wide, kept), g.and_(g.eq(wide, more), g.ult(back, big))
        known = d.lemma("that a result is its sum made odd", g.or_(whole, up), [some, *x.given], x.cuts)
        own: list[tuple[int, Node]] = [(d.read(wide), wide)] if wide is not x.term.significand else []
        # How far the sum itself is shifted, where an ulp is no less than a unit.
        places = g.const(x.term.significand.width, amount.width)
        coarse = g.ule(places, amount)
        yes, no = d.assume(coarse), d.assume(g.not_(coarse))
        cuts = ([x.summed.magnitude, amount],)
        by = g.sub_mod(amount, places)
        direct = g.lshr(x.summed.magnitude, by)
        longer = g.zero_extend_to(direct, kept.width)
        moved = d.equal("a shift of a shift", kept, longer, [yes], cuts)
        alike = [(moved, kept)] + ([(d.read(longer), longer)] if longer is not direct else [])
        shifted = [(d.read(by, yes), by), distance]
        unit, spread = x.unit, d.power(d.arith([(Poly.of(by), [])]))
        lowest, highest = d.read(direct, 0), d.read(direct, 1)
        floor = d.assume(whole)
        is_kept = [*own, (d.fact(floor), wide), *alike]
        same = self._equal(Poly.of(x.term.significand) - Poly.of(direct), is_kept, x.term.significand)
        room = [*self.larger, (unit, [spread])]
        first = [
            d.prove(goals[0], [same, *shifted], [*room, (unit, [lowest])]),
            d.prove(goals[1], [same, *shifted], [*self.larger, (unit, [highest])]),
        ]
        raised = d.assume(g.not_(whole))
        made_up = d.lemma("that a sum is made odd", up, [known, raised], ([whole, up],))
        met = d.lemma("a part of a sum made odd", g.eq(wide, more), [made_up], (list(up.args),))
        lost = d.lemma("a part of a sum made odd", g.ult(back, big), [made_up], (list(up.args),))
        fits = d.lemma("that a unit more fits", g.ule(more.args[0], more), (), ([x.summed.whole, amount],))
        is_more = [*own, (d.fact(met), wide), (d.read(more, fits), more), *alike]
        above = self._equal(Poly.of(x.term.significand) - Poly.of(direct) - ONE, is_more, x.term.significand)
        down = g.shl_mod(direct, by)
        some_lost = g.ult(down, x.summed.magnitude)
        inner = d.lemma("that what is made odd lost something", some_lost, [lost, yes], cuts)
        restored = d.lemma("that a shift back loses nothing", g.eq(g.lshr(down, by), direct), (),
                           ([x.summed.magnitude, by],))  # fmt: skip
        strict = d.prove(
            Poly.of(x.summed.magnitude) - Poly.of(direct) * Poly.of(by).power_of_two() - ONE,
            [(d.read(down, restored), down)], [(1, [d.fact(inner)])],
        )  # fmt: skip
        second = [
            d.prove(goals[0], [above, *shifted], [*self.larger, (unit, [strict])]),
            d.prove(goals[1], [above, *shifted],
                    [*self.larger, (unit, [spread]), (unit, [highest]), (unit, [])]),
        ]  # fmt: skip
        rough = [d.cases(whole, i, j) for i, j in zip(first, second, strict=True)]
        fine = self._fine(goals, (big, amount, kept, back), known, no, (whole, up), wide, distance)
        made = [d.cases(coarse, i, j) for i, j in zip(rough, fine, strict=True)]
        none = d.assume(g.is_zero(x.summed.magnitude))
        gone = g.is_zero(x.term.significand)
        empty = d.lemma("that a zero sum has a zero result", gone, [none, *x.given], x.cuts)
        zero = [(d.fact(none), x.summed.magnitude), (d.fact(empty), x.term.significand)]
        nothing = [d.prove(goal, zero, self.spare) for goal in goals]
        shown = [d.cases(g.is_zero(x.summed.magnitude), i, j) for i, j in zip(nothing, made, strict=True)]
        return shown[0], shown[1]

    def _equal(self, goal: Poly, equations: list[tuple[int, Node]], node: Node) -> tuple[int, Node]:
        """An equation of some node, from equations that it stands in."""
        d, made = self.d, list[Part]()
        left = goal
        for i, _ in equations:
            p = d.about(i)
            shared = next(m for m in left.terms if m in p.terms)
            factor = left.terms[shared] / p.terms[shared]
            made.append((factor, [i]))
            left = left - p * factor
        if left.terms:
            raise ProofError("a significand is not the shifted sum")
        return d.arith(made), node

    def _fine(
        self, goals: tuple[Poly, ...], nodes: tuple[Node, Node, Node, Node], known: int, no: int,
        bits: tuple[Node, Node], wide: Node, distance: tuple[int, Node],
    ) -> list[int]:  # fmt: skip
        """Where an ulp is less than a unit, nothing is lost."""
        d, g, x, (big, amount, kept, back) = self.d, self.g, self.x, nodes
        cuts = ([x.summed.magnitude, amount],)
        held = d.lemma("that a finer ulp loses nothing", g.eq(back, big), [no], cuts)
        cut = ([wide, kept, back, big],)
        exact = d.lemma("that a sum is exact", bits[0], [known, held], cut)
        side = d.lemma("that a shift back loses nothing", g.eq(g.lshr(back, amount), kept), (), cuts)
        own: list[tuple[int, Node]] = [(d.read(wide), wide)] if wide is not x.term.significand else []
        same = self._equal(
            Poly.of(x.term.significand) - Poly.of(kept), [*own, (d.fact(exact), wide)], kept
        ) if own else (d.fact(exact), kept)  # fmt: skip
        restored = d.prove(
            Poly.of(kept) * Poly.of(amount).power_of_two() - Poly.of(big),
            [(d.fact(held), back)], [(-1, [d.read(back, side)])],
        )  # fmt: skip
        part = x.unit * Poly.constant(-x.term.significand.width).power_of_two()
        made = []
        for goal, s in zip(goals, (1, -1), strict=True):
            made.append(d.prove(goal, [(d.read(big), big), distance], [
                *self.spare, (part * -s, [restored]),
                (part * -s * Poly.of(amount).power_of_two(), [same[0]]),
            ]))  # fmt: skip
        return made


def odd_moves(x: SumConversion, bound: Poly, larger: list[Part], spare: list[Part]) -> tuple[int, int]:
    """bound - u ∓ (the result less the sum) >= 0; `larger` and `spare` as of `OddSum`."""
    d = x.d
    over, under = OddSum(x, bound, larger, spare).bounds()
    signs, sign = x._signs(), x.summed.sign
    size, exact = Poly.of(x.term.significand) * x.ulp, Poly.of(x.summed.magnitude) * x.unit
    moves = sign_of(x.term.sign) * size - sign_of(sign) * exact
    both: list[list[Part]] = [[], []]
    if d.about(signs).terms:
        both = [[(x.ulp * -1, [signs])], [(x.ulp, [signs])]]
    above = d.prove(bound - x.unit - moves, [], [*mixed(d, sign, over, under), *both[0]])
    below = d.prove(bound - x.unit + moves, [], [*mixed(d, sign, under, over), *both[1]])
    return above, below
