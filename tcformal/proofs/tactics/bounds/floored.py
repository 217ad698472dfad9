"""Numbers that are shifted to a larger exponent and rounded down on the way: sums, and c."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.levels import Larger
from tcformal.proofs.tactics.bounds.summed import PartialSums
from tcformal.proofs.tactics.bounds.terms import KnownTerm, sign_of, weight
from tcformal.semantics.align import align


@dataclass(frozen=True, slots=True)
class Floored:
    """Theorems about a number x that is shifted down to y, u being the unit of y.

    `less`: x - y + far·u·2^-(the other's shift) >= 0; `more`: u·(1 - 2^-shift) - x + y >= 0.
    """

    less: int
    more: int


class FlooredSums(PartialSums):
    """Sums in two's complement, of which some are shifted and rounded down."""

    def raised(self, node: Node, by: int) -> Node:
        """A number with zeros appended."""
        d, g = self.d, self.g
        made = g.shift_left_const(node, by)
        if made in self._known:
            return made
        equation, value, most = self.of(node)
        turned, inner = self._offset(made), g.shift_left_const(self._offset(node), by)
        same = d.equal("a number with zeros below", turned, inner, (), ([node], []))
        times = 1 << by
        goal = Poly.of(turned) - Poly.constant(1 << (made.width - 1)) - value * times
        self._known[made] = (
            d.prove(goal, [(same, turned), (d.read(inner), inner)], [(times, [equation])]), value * times,
            most * times,
        )  # fmt: skip
        self._limited(made, most * times, [self._within[node]], [node])
        return made

    def floored(self, node: Node, larger: Larger, place: int, fraction_bits: int) -> tuple[Node, Floored]:
        """A number at one of two exponents, moved to the larger; what it counts there is its new value."""
        d, g, shift = self.d, self.g, larger.shifts[place]
        made, w = g.ashr(node, shift), node.width
        equation, value, most = self.of(node)
        # In ones' complement both are ± what a shift of the magnitude makes.
        sign = g.top(node)
        size = g.extract(g.ite(sign, g.not_(node), node), w - 2, 0)
        kept = g.lshr(size, shift)
        before = self._ones("a number in ones' complement", node, sign, size, [node])
        after = self._ones("a number that is shifted down", made, sign, kept, [node, shift])
        s = Poly.of(sign)
        moved = sign_of(sign) * Poly.of(kept) - s
        self._known[made] = after, moved, most
        self._limited(made, most, [self._within[node]], [node, shift])
        unit = weight(larger.code, fraction_bits)
        low, high, one = d.read(kept, 0), d.read(kept, 1), d.range(sign)
        fine = weight(larger.levels[place].code, fraction_bits)
        in_e = [(larger.distances[place], larger.levels[place].code)]
        lost = value * fine - moved * unit
        scale = unit * (Poly.of(shift) * -1).power_of_two()
        # value = ±size - sign, by both ways to write the number.
        own = [(fine, [before]), (fine * -1, [equation])]
        less = d.prove(lost, in_e, [(scale, [one, low]), (scale * s, [high]), *own])
        other = [(fine * -1, [before]), (fine, [equation])]
        rest = unit - scale - lost
        more = d.prove(rest, in_e, [(scale, [one, high]), (scale * s, [low]), *other])
        return made, Floored(less, more)

    def _ones(self, what: str, node: Node, sign: Node, size: Node, cut: list[Node]) -> int:
        """A turned node less 2^(w-1) less (±size - sign) = 0."""
        d, g, turned = self.d, self.g, self._offset(node)
        half = 1 << (node.width - 1)
        wide = g.zero_extend_to(size, node.width)
        more, less = (
            g.add_mod(g.const(half, node.width), wide),
            g.sub_mod(g.const(half - 1, node.width), wide),
        )
        chosen = g.ite(sign, less, more)
        same = d.equal(what, turned, chosen, (), (cut, []))
        up = d.read(more, d.lemma("that a magnitude fits", g.ule(more.args[0], more), (), ([size],)))
        down = d.read(less, d.lemma("that a magnitude fits", g.ule(wide, less.args[0]), (), ([size],)))
        goal = Poly.of(turned) - Poly.constant(half) - sign_of(sign) * Poly.of(size) + Poly.of(sign)
        reads = [(d.read(chosen), chosen), (up, more), (down, less), (d.read(wide), wide)]
        return d.prove(goal, [(same, turned), *reads])


@dataclass(frozen=True, slots=True)
class FlooredTerm:
    """c at the larger exponent: ±aligned units, and what that loses."""

    sign: Node
    aligned: Node
    most: int
    small: int
    floored: Floored
    far: Fraction


class TermFloor:
    """One term that is shifted to the larger of two exponents, its own being the second, and rounded down.

    `dropped`: whether it counts nothing where it lies further down than fraction_bits + 1.
    """

    def __init__(
        self, d: Derivation, x: KnownTerm, larger: Larger, fraction_bits: int, dropped: bool
    ) -> None:
        g, t = d.g, x.term
        self.d, self.g, self.x, self.larger, self.bits = d, g, x, larger, fraction_bits
        self.shift, self.distance = larger.shifts[1], larger.distances[1]
        if t.fraction_bits > fraction_bits:
            raise ProofError(f"c has {t.fraction_bits} fraction bits, but {fraction_bits} are kept")
        self.size = g.shift_left_const(t.significand, fraction_bits - t.fraction_bits)
        self.full = align(g, t, self.shift, fraction_bits, "RD")
        self.unit, self.fine = weight(larger.code, fraction_bits), weight(x.code, fraction_bits)
        self.lost = x.value - sign_of(t.sign) * Poly.of(self.full) * self.unit
        self.dropped, self.in_e = dropped, [(self.distance, x.code)]

    def made(self, value: int) -> FlooredTerm:
        """Both bounds; `value` is the theorem that the term's value is ±significand · 2^(…)."""
        d, g, t = self.d, self.g, self.x.term
        size = Poly.of(self.size)
        exact = self.x.value - sign_of(t.sign) * size * self.fine
        reads = [(d.read(self.size), self.size)] if self.size is not t.significand else []
        own = d.prove(exact, reads, [(1, [value])])
        less, more = self._floored(own)
        far, aligned = Fraction(0), self.full
        if self.dropped:
            far = Fraction(1, 2)
            less, more, aligned = self._dropped(own, less, more)
        most = 1 << self.size.width
        small = d.lemma(
            "the range of c", g.ule(aligned, g.const(most, aligned.width)), (),
            ([t.significand, t.sign, self.shift], []),
        )  # fmt: skip
        return FlooredTerm(t.sign, aligned, most, small, Floored(less, more), far)

    def _floored(self, own: int) -> tuple[int, int]:
        """The bounds of the term that is rounded down."""
        d, g, sign, size = self.d, self.g, self.x.term.sign, self.size
        kept = g.lshr(size, self.shift)
        back = g.shl_mod(kept, self.shift)
        up = g.and_(sign, g.not_(g.eq(back, size)))
        made = g.add_expand(kept, up)
        cuts = ([sign, self.x.term.significand, self.shift], [sign, size, self.shift])
        same = d.equal("that c is rounded down", self.full, made, (), cuts)
        fits = d.lemma("that c fits", g.ule(made.args[0], made), (), ([kept, up],))
        plain = [(same, self.full), (d.read(made, fits), made)]
        plain += [(d.read(y), y) for y in made.args if y.op == "zero_extend"]
        plain += self.in_e
        low, high = d.read(kept, 0), d.read(kept, 1)
        scale = self.unit * (Poly.of(self.shift) * -1).power_of_two()
        goals = self.lost, self.unit - scale - self.lost
        signs = (1, -1)
        positive, raised = g.is_zero(sign), g.is_zero(up)
        # A term that is not negative: nothing is added.
        yes = d.assume(positive)
        none = d.lemma("that a positive c is cut", raised, [yes], ([sign, g.eq(back, size)],))
        equations = [(d.fact(none), up), (d.fact(yes), sign)]
        first = [
            d.prove(goal, [*plain, *equations], [(scale, [i]), (s, [own])])
            for goal, s, i in zip(goals, signs, (low, high), strict=True)
        ]
        # A negative one that loses nothing, or is made larger by one unit.
        no = d.assume(g.not_(positive))
        minus = d.fact(d.lemma("that c is negative", g.eq(sign, g.truth(True)), [no], ([sign],)))
        equal = d.assume(raised)
        whole = d.lemma("that c loses nothing", g.eq(back, size), [no, equal], ([sign, g.eq(back, size)],))
        restored = d.lemma(
            "that c is restored", g.eq(g.lshr(back, self.shift), kept), (), ([size, self.shift],)
        )
        shifted = d.read(back, restored)
        rest = d.prove(
            Poly.of(size) - Poly.of(kept) * Poly.of(self.shift).power_of_two(),
            [(d.fact(whole), size), (shifted, back)],
        )
        equations = [(d.fact(equal), up), (minus, sign)]
        span = d.arith([(1, [low]), (1, [high])])
        second = [
            d.prove(goals[0], [*plain, *equations], [(scale * -1, [rest]), (1, [own])]),
            d.prove(goals[1], [*plain, *equations], [(scale, [rest]), (-1, [own]), (scale, [span])]),
        ]
        more = d.assume(g.not_(raised))
        one = d.fact(d.lemma("that c is made larger", g.eq(up, g.truth(True)), [more], ([up],)))
        inner = d.lemma("that c loses something", g.ult(back, size), [more], ([sign, size, self.shift],))
        some = d.prove(
            Poly.of(size) - Poly.of(kept) * Poly.of(self.shift).power_of_two() - Poly.constant(1),
            [(shifted, back)], [(1, [d.fact(inner)])],
        )  # fmt: skip
        equations = [(one, up), (minus, sign)]
        third = [
            d.prove(goals[0], [*plain, *equations], [(scale, [high]), (scale, []), (1, [own])]),
            d.prove(goals[1], [*plain, *equations], [(scale, [some]), (-1, [own])]),
        ]
        others = [d.cases(raised, i, j) for i, j in zip(second, third, strict=True)]
        less, most = (d.cases(positive, i, j) for i, j in zip(first, others, strict=True))
        return less, most

    def _dropped(self, own: int, less: int, more: int) -> tuple[int, int, Node]:
        """The bounds where the term counts nothing from a distance on."""
        d, g, shift, unit = self.d, self.g, self.shift, self.unit
        below = max(shift.width, (self.bits + 1).bit_length())
        wide = g.zero_extend_to(shift, below)
        far = g.ult(g.const(self.bits + 1, below), wide)
        aligned = g.ite(far, g.const(0, self.full.width), self.full)
        sign = self.x.term.sign
        lost = self.x.value - sign_of(sign) * Poly.of(aligned) * unit
        scale = unit * (Poly.of(shift) * -1).power_of_two()
        # Where c lies far below, the other is not shifted.
        other = unit * (Poly.of(self.larger.shifts[0]) * -1).power_of_two() * Fraction(1, 2)
        goals = lost + other, unit - scale - lost
        near, away = d.assume(g.not_(far)), d.assume(far)
        same = [(d.read(aligned), aligned)]
        is_near = [*same, (self._bit(far, near, 0), far)]
        here = [
            d.prove(goals[0], is_near, [(other, []), (1, [less])]),
            d.prove(goals[1], is_near, [(1, [more])]),
        ]
        is_far = [*same, (self._bit(far, away, 1), far), *self.in_e]
        # 2^shift is at least 2^(F + 2), and the significand at F bits is below 2^(F + 1).
        reads = [(d.read(wide), wide)] if wide is not shift else []
        gap = d.prove(Poly.of(shift) - Poly.constant(self.bits + 2), reads, [(1, [d.fact(away)])])
        ratio, size = d.power(gap), Poly.of(self.size)
        span, top = d.range(self.size), 1 << (self.bits + 2)
        room = top // 2 - (1 << self.size.width)
        if room < 0:
            raise ProofError("a dropped c may be larger than half a unit")
        s, bit = Poly.of(sign), d.range(sign)
        there = [
            d.prove(goals[0], is_far, [
                (unit * Fraction(1, 2), [self.larger.some_exact()]), (scale * (top // 2), [ratio]),
                (scale, [span]), (scale * (room + Fraction(1, 2)), []), (1, [own]), (scale * size * 2, [bit]),
            ]),
            d.prove(goals[1], is_far, [
                (scale * top, [ratio]), (scale, [span]), (scale * (top - (1 << self.size.width)), []),
                (-1, [own]), (scale * size * s * 2, []),
            ]),
        ]  # fmt: skip
        made = [d.cases(far, i, j) for i, j in zip(there, here, strict=True)]
        return made[0], made[1], aligned

    def _bit(self, bit: Node, theorem: int, value: int) -> int:
        """A bit that is assumed, or refused, as an equation."""
        d, g = self.d, self.g
        goal = g.eq(bit, g.const(value, 1))
        return d.fact(d.lemma("a bit of a case", goal, [theorem], ([bit],)))
