"""Aligned terms that are made odd: those that count another number of units than 0 or 1 gain less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.statements.odd_gain import OddGain
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.terms import sign_of, weight
from tcformal.proofs.tactics.relative.odd_rounding.terms import OddTerm, mixed
from tcformal.semantics.reduce import signed_magnitude

ONE = Poly.constant(1)


def low_word(g: Graph, node: Node, bits: int, sign: int) -> Node:
    """The low bits of a number in two's complement, or with the sign -1 of its opposite."""
    low = g.extract(node, bits - 1, 0)
    return g.neg_mod(low) if sign < 0 else low


def others(g: Graph, low: Node) -> Node:
    """Whether low bits are other than 0 and 1."""
    return g.ult(g.const(1, low.width), low)


def any_low(g: Graph, low: Node) -> Node:
    """Whether low bits are other than 0."""
    return g.any_bit(low)


@dataclass(frozen=True, slots=True)
class Gain:
    """Theorems about one aligned term on one side, x being ±(its value - ±aligned·u), `low` its low bits.

    `less`: u·(1 - 2^-shift) - less·u·others(low) + x >= 0; `even`: u·any(low) + x >= 0.
    """

    low: Node
    less: int
    even: int


class GainingTerm(OddTerm):
    """One aligned product of few bits; `normal` are the theorems that its factors are normal."""

    def __init__(self, alignment: Alignment, k: int, gain: OddGain, normal: Callable[[], list[int]]) -> None:
        super().__init__(alignment, k)
        self.gain, self.normal = gain, normal
        self.made = alignment.total.terms[k]
        self.shift, self.size = self.made.shift, self.made.term.significand
        self.share = (Poly.of(self.shift) * -1).power_of_two()
        unit, x = alignment.unit, alignment.summands[k]
        self.gap = Poly.of(self.size) * weight(x.code, self.made.term.fraction_bits)
        self.gap = self.gap - Poly.of(self.made.aligned) * unit
        own = [f.significand for f in x.factors]
        self.deep = ([*own, self.shift], [self.size, self.shift], [self.shift])

    def gains(self, known: TermError, width: int) -> tuple[Gain, Gain]:
        """Both sides of the term: what d may be above, and below."""
        d, g, t, bits = self.d, self.g, self.made.term, self.gain.bits
        word = g.wrap_to_mod(signed_magnitude(g, t.sign, self.made.aligned), width)
        own = [low_word(g, self.made.aligned, bits, s) for s in (1, -1)]
        less, even = zip(*(self._side(low, s) for low, s in zip(own, (1, -1), strict=True)), strict=True)
        unit, made = self.alignment.unit, list[Gain]()
        goal = (ONE - self.share) * unit
        moved = self.alignment.summands[self.k].value - sign_of(t.sign) * Poly.of(self.made.aligned) * unit
        for s in (1, -1):
            low = low_word(g, word, bits, s)
            plus, minus = (0, 1) if s > 0 else (1, 0)
            found = []
            for kind, of, pair in ((others, goal, less), (any_low, Poly.constant(0), even)):
                node, mine = kind(g, low), [kind(g, y) for y in own]
                chosen = g.ite(t.sign, mine[minus], mine[plus])
                same = d.equal("the low bits of a term", node, chosen, (), ([t.sign, self.made.aligned],))
                reads = [(same, node)] if node is not chosen else []
                reads += [(d.read(chosen), chosen)] if chosen.op == "ite" else []
                rate = -self.gain.less if kind is others else Fraction(1)
                whole = of + Poly.of(node) * unit * rate + moved * s
                found.append(d.prove(
                    whole, reads, [*mixed(d, t.sign, pair[plus], pair[minus]), (s, [known.value])]
                ))  # fmt: skip
            made.append(Gain(low, found[0], found[1]))
        return made[0], made[1]

    def _side(self, low: Node, s: int) -> tuple[int, int]:
        """Of unsigned numbers: what is gained (s = 1) or lost (-1), where `low` are the units that count."""
        d, g, unit = self.d, self.g, self.alignment.unit
        x = self.alignment.summands[self.k]
        other, some_low = others(g, low), g.any_bit(low)
        whole = (ONE - self.share) * unit
        goals = whole - Poly.of(other) * unit * self.gain.less, Poly.of(some_low) * unit
        goals = goals[0] + self.gap * s, goals[1] + self.gap * s
        some, none = d.assume(x.nonzero), d.assume(g.not_(x.nonzero))
        rough = self._nonzero(some, whole + self.gap, whole - self.gap)[0 if s > 0 else 1]
        shown = self._less(goals[0], other, rough, some, s), self._even(goals[1], some_low, rough, some, s)
        empty = d.lemma("that the zero term is empty", g.is_zero(self.size), [none], (x.own,))
        zeros = [(d.fact(empty), self.size)]
        for n in (self.made.aligned, other, some_low):
            i = d.lemma("that a zero term adds nothing", g.is_zero(n), [empty], ([self.size, self.shift],))
            zeros.append((d.fact(i), n))
        spread = d.power(d.arith([(Poly.of(self.shift), [])]))
        nothing = d.prove(goals[0], zeros, [(unit * self.share, [spread])]), d.prove(goals[1], zeros)
        return d.cases(x.nonzero, shown[0], nothing[0]), d.cases(x.nonzero, shown[1], nothing[1])

    def _up(self, value: int) -> tuple[int, int]:
        """The theorem that the term is made odd, or is not; and what the bit is."""
        d, g = self.d, self.g
        i = d.assume(self.up if value else g.not_(self.up))
        return i, d.fact(d.lemma("a bit of a case", g.eq(self.up, g.const(value, 1)), [i], ([self.up],)))

    def _bit(self, node: Node, value: int) -> tuple[int, tuple[int, Node]]:
        d, g = self.d, self.g
        i = d.assume(node if value else g.not_(node))
        cuts = ([node], [g.not_(node)])
        return i, (d.fact(d.lemma("a bit of a case", g.eq(node, g.const(value, 1)), [i], cuts)), node)

    def _placed(self, some: int, value: int) -> list[tuple[int, Node]]:
        """What is known of a term that is not zero, and is made odd or is not."""
        made = [(self.alignment.distance(self.k, some), self.alignment.summands[self.k].code)]
        made += [(self.raised, self.made.aligned), (self._up(value)[1], self.up)]
        return made + ([(self.d.read(self.placed), self.placed)] if self.placed.op == "concat" else [])

    def _less(self, goal: Poly, other: Node, rough: int, some: int, s: int) -> int:
        """The first theorem of a term that is not zero."""
        d, unit, less = self.d, self.alignment.unit, self.gain.less
        yes, is_other = self._bit(other, 1)
        _, is_none = self._bit(other, 0)
        plain = d.prove(goal, [is_none], [(1, [rough])])
        scale = unit * self.share
        low, high = d.read(self.kept, 0), d.read(self.kept, 1)
        # A term whose low bits are other than 0 and 1 is shifted.
        g, least = self.g, self.gain.least
        far = d.fact(d.lemma(
            "that such a term is shifted", g.ule(g.const(least, self.shift.width), self.shift), [yes, some],
            ([self.size, self.shift],),
        ))  # fmt: skip
        ratio = d.power(d.prove(Poly.of(self.shift) - Poly.constant(least), [], [(1, [far])]))
        room: list[Part] = [(scale, [ratio])]
        if s > 0:
            # Not made odd, it gains nothing.
            same = [*self._placed(some, 0), is_other]
            rest = [*room, (unit * self.gain.loss, [])]
            still = d.prove(goal, same, [*rest, (scale, [low])])
            raised = self._near(goal, is_other, room, yes, some, 1)
            return d.cases(other, d.cases(self.up, raised, still), plain)
        same = [*self._placed(some, 1), is_other]
        gone = d.prove(goal, same, [(scale, [high]), (unit * (1 - less), [])])
        lost = self._near(goal, is_other, room, yes, some, 0)
        return d.cases(other, d.cases(self.up, gone, lost), plain)

    def _near(
        self, goal: Poly, is_other: tuple[int, Node], room: list[Part], yes: int, some: int, up: int
    ) -> int:
        """What is gained by being made odd, or lost by being cut: as a lemma about the significands."""
        d, g, width = self.d, self.g, self.placed.width
        case = self._up(up)[0]
        given = [some, yes, case, *self.normal()]
        shift, cuts = self.shift, self.deep
        goal_near = g.ule(shift, g.const(width, shift.width))
        near = d.lemma("that such a term is not far", goal_near, [some, yes, case], ([self.size, shift],))
        one, wide = g.const(1, 2 * width + 1), g.zero_extend_to(self.made.aligned, 2 * width + 1)
        power, up_node = g.shl_mod(one, shift), g.shl_mod(wide, shift)
        equations = list[tuple[int, Node]]()
        for x, y in ((power, one), (up_node, wide)):
            fits = d.lemma(
                "that a shift fits", g.eq(g.lshr(x, shift), y), [near], ([self.made.aligned, shift],)
            )
            equations.append((d.read(x, fits), x))
        mask = g.sub_mod(power, one)
        least = d.lemma("that a power of two is not zero", g.ule(one, power), [near], ([shift],))
        equations.insert(0, (d.read(mask, least), mask))
        parts, share = self.gain.loss.denominator, self.gain.loss.numerator
        lost, first, second = (
            g.mul_expand(x, g.const(y, y.bit_length()))
            for x, y in ((mask, share), (up_node, parts), (self.placed, parts))
        )
        size = max(lost.width, first.width, second.width)
        wider = [g.zero_extend_to(x, size) for x in (lost, first, second)]
        reads = [
            (d.read(x), x) for x in (*wider, lost, first, second) if x.op in ("zero_extend", "mul_expand")
        ]
        x, y = (wider[1], wider[2]) if up else (wider[2], wider[1])
        most = g.add_expand(wider[0], y)
        fits = d.lemma("that both fit", g.ule(most.args[0], most), (), (wider,))
        smaller = g.ule(g.zero_extend_to(x, most.width), most)
        fact = d.fact(d.lemma("what such a term gains", smaller, [*given, near], cuts))
        own = [(d.read(most, fits), most)]
        own += [(d.read(n), n) for n in (*most.args, *smaller.args) if n.op == "zero_extend"]
        alignment = self.alignment
        scale = Poly.of(alignment.e_max) - Poly.constant(OFFSET + alignment.total.fraction_bits)
        scale = (scale - Poly.of(shift)).power_of_two() * Fraction(1, parts)
        plain = [(alignment.distance(self.k, some), alignment.summands[self.k].code)]
        placed = [(d.read(self.placed), self.placed)] if self.placed.op == "concat" else []
        return d.prove(
            goal, [is_other, *own, *reads, *equations, (d.read(wide), wide), *placed, *plain],
            [(scale, [fact]), *room, (alignment.unit * self.share * self.gain.loss, [])],
        )  # fmt: skip

    def _even(self, goal: Poly, some_low: Node, rough: int, some: int, s: int) -> int:
        """The second theorem of a term that is not zero: an even number of units is exact."""
        d, g, unit = self.d, self.g, self.alignment.unit
        scale = unit * self.share
        _, is_some = self._bit(some_low, 1)
        no, is_none = self._bit(some_low, 0)
        odd = d.prove(goal, [is_some], [(1, [rough]), (scale, [])])
        cut = d.lemma("that an even number is not made odd", g.not_(self.up), [no], self.cuts)
        exact = d.lemma("that an even number is exact", g.eq(self.back, self.placed), [no], self.cuts)
        restored = d.lemma(
            "that a shift back loses nothing", g.eq(g.lshr(self.back, self.shift), self.kept), (),
            ([self.placed, self.shift],),
        )  # fmt: skip
        zero = d.fact(d.lemma("a bit of a case", g.is_zero(self.up), [cut], ([self.up],)))
        rest = d.prove(
            Poly.of(self.placed) - Poly.of(self.kept) * Poly.of(self.shift).power_of_two(),
            [(d.fact(exact), self.placed), (d.read(self.back, restored), self.back)],
        )
        made = [(self.alignment.distance(self.k, some), self.alignment.summands[self.k].code)]
        made += [(self.raised, self.made.aligned), (zero, self.up)]
        made += [(d.read(self.placed), self.placed)] if self.placed.op == "concat" else []
        return d.cases(some_low, odd, d.prove(goal, [is_none, *made], [(scale * s, [rest])]))


def empty_gains(
    d: Derivation, g: Graph, known: TermError, unit: Poly, gain: OddGain, width: int, empty: int
) -> tuple[Gain, Gain]:
    """Both sides of a c of 0, as the theorem `empty` says of what is aligned."""
    word, made = g.wrap_to_mod(signed_magnitude(g, known.sign, known.aligned), width), list[Gain]()
    for s, i in ((1, known.above), (-1, known.below)):
        low = low_word(g, word, gain.bits, s)
        equations = []
        for n in (others(g, low), g.any_bit(low)):
            none = d.lemma(
                "that nothing has no low bits", g.is_zero(n), [empty], ([known.sign, known.aligned],)
            )
            equations += [(d.fact(none), n)] if n.op != "const" else []
        p = d.about(i)
        less = d.prove(p - Poly.of(others(g, low)) * unit * gain.less, equations, [(1, [i])])
        even = d.prove(p + Poly.of(g.any_bit(low)) * unit, equations, [(1, [i])])
        made.append(Gain(low, less, even))
    return made[0], made[1]
