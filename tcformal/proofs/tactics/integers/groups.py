"""A group of products that are integers, as one term of a sum: its sum is an integer, exactly."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import exponent_code
from tcformal.proofs.statements.error_bound import StatedTerm
from tcformal.proofs.statements.grouped_bound import StatedGroup
from tcformal.proofs.statements.integer_sums import IntegerSum, WholeNumber, whole_number
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.groups import PlacedProduct, group_value
from tcformal.proofs.tactics.bounds.summed import Addition, SignedSum, added_in_pairs
from tcformal.proofs.tactics.bounds.terms import KnownTerm, shown_value, sign_of, weight
from tcformal.proofs.tactics.integers.wholes import (
    Reach,
    WholeTerm,
    below,
    exponent_limits,
    stated_term,
    whole_magnitude,
)
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import GroupSum, Total


class IntegerGroup:
    """Theorems about one group; `taken` is the sum of the magnitudes of its products."""

    def __init__(self, d: Derivation, reach: Reach, stated: IntegerSum, ks: tuple[int, ...]) -> None:
        self.d, self.g, self.reach, self.stated, self.ks = d, d.g, reach, stated, ks
        self.wholes = [stated.wholes[k] for k in ks]
        self.taken = Poly.constant(0)
        for w in self.wholes:
            self.taken = self.taken + Poly.of(w.magnitude)

    def term(self, summed: GroupSum, term: Term, bound: int) -> WholeTerm:
        """The group as a term that is an integer; `bound`: 2^most less the magnitudes is at least 0."""
        d, g = self.d, self.g
        if self.reach.room:
            raise ProofError("no tactic is written for a group beside a term of 2^B that cuts it")
        group = self._group()
        shown = group_value(d, summed, group, term)
        products = [self._product(k) for k in self.ks]
        total, within = self._sum(products)
        room = d.prove(
            Poly.constant(1 << self.reach.most) - Poly.of(total.magnitude), [], [(1, [bound]), (1, [within])]
        )
        power = weight(group.code, term.fraction_bits)
        # ±significand · 2^(exponent - fraction bits) = ±total
        parts: list[Part] = [(-1, [shown]), *((1, [x.value]) for x, _ in products), (-1, [total.equation])]
        signed = sign_of(term.sign) * Poly.of(term.significand) * power
        same = d.prove(signed - sign_of(total.sign) * Poly.of(total.magnitude), [], parts)
        equal = self._unsigned(term, total, power, same)
        w = whole_number(g, term.significand, group.code, term.fraction_bits, self.reach.most)
        given = self._whole(w, total.magnitude, equal, room, power)
        magnitude = whole_magnitude(d, w, term.fraction_bits, given)
        left = d.prove(
            self.taken - Poly.of(w.magnitude), [], [(1, [within]), (-1, [magnitude]), (-1, [equal])]
        )
        (goal,) = exponent_limits(d, self.reach, group.code, group.nonzero, w)
        limit = d.lemma("the exponent of a group", goal, [i for _, x in products for i in x.limits])
        empty = d.lemma("that a zero group is empty", g.or_(group.nonzero, g.is_zero(term.significand)))
        known = KnownTerm(group.value, (), term, group.code, group.nonzero, limit, shown=shown)
        return WholeTerm(known, w, given, magnitude, (limit,), empty, self.taken, left)

    # ------------------------------------------------------------------ products
    def _group(self) -> StatedGroup:
        """The terms of the statement, with the scales that they share taken out."""
        g, terms = self.g, [self.stated.terms[k] for k in self.ks]
        members = []
        for t in terms:
            pair = t.factors[:2]
            some = g.and_(*(g.any_bit(x.significand) for x in pair))
            members.append(StatedTerm(t.name, pair, exponent_code(g, list(pair)), some))
        scales = terms[0].factors[2:]
        nonzero = g.and_(g.or_(*(m.nonzero for m in members)), *(g.any_bit(x.significand) for x in scales))
        code = exponent_code(g, list(scales))
        return StatedGroup("a group", scales, code, nonzero, self.ks, tuple(members))

    def _product(self, k: int) -> tuple[PlacedProduct, WholeTerm]:
        """A product with its scales: its value less ±magnitude is 0."""
        d, g, t, w = self.d, self.g, self.stated.terms[k], self.stated.wholes[k]
        signs = [x.sign for x in t.factors if x.sign.op != "const"]
        sign = signs[0]
        for x in signs[1:]:
            sign = g.xor(sign, x)
        none = Exponent(g.const(0, 1), 0, 0)
        number = Term(sign, w.significand, none, t.fraction_bits, g.is_zero(w.significand))
        known = KnownTerm(t.value, t.factors, number, t.code, t.nonzero, 0)
        made = stated_term(d, self.reach, t, w, known, self.stated.normal[k])
        shown = shown_value(d, known, "a product of a group")
        goal = t.value - sign_of(sign) * Poly.of(w.magnitude)
        value = d.prove(goal, [], [(1, [shown]), (sign_of(sign) * -1, [made.magnitude])])
        most = (1 << w.magnitude.width) - 1
        top = g.const(most, w.magnitude.width)
        small = d.lemma("the range of a node", g.ule(w.magnitude, top), (), ([w.magnitude],))
        return PlacedProduct(sign, w.magnitude, most, small, value), made

    def _sum(self, products: Sequence[tuple[PlacedProduct, WholeTerm]]) -> tuple[SignedSum, int]:
        """The sum of ±magnitudes, and that the magnitudes less its own are at least 0."""
        d, g = self.d, self.g
        terms = [x for x, _ in products]
        width = sum(x.most for x in terms).bit_length() + 2
        level = [g.wrap_to_mod(signed_magnitude(g, x.sign, x.aligned), width) for x in terms]
        node, partials = added_in_pairs(g, level)
        total = Total(node, Exponent(g.const(0, 1), 0, 0), 0, partials=partials)
        made = Addition(d, total, terms).value()
        s, one = Poly.of(made.sign), d.range(made.sign)
        parts: list[Part] = [(sign_of(made.sign) * -1, [made.equation])]
        for x in terms:
            # |n| - (1 - 2s)(1 - 2t)·n = 2·n·(s·(1 - t) + t·(1 - s))
            n = Poly.of(x.aligned) * 2
            parts += [(n * s, [d.range(x.sign)]), (n * Poly.of(x.sign), [one])]
        return made, d.prove(self.taken - Poly.of(made.magnitude), [], parts)

    # ------------------------------------------------------------------ the group
    def _unsigned(self, term: Term, total: SignedSum, power: Poly, same: int) -> int:
        """significand · 2^(exponent - fraction bits) - total = 0 from the same with signs."""
        d, g, n = self.d, self.g, total.magnitude
        goal, sign = Poly.of(term.significand) * power - Poly.of(n), sign_of(total.sign)
        if term.sign is total.sign:
            return d.prove(goal, [], [(sign, [same])])
        alike = g.eq(term.sign, total.sign)
        yes, no = d.assume(alike), d.assume(g.not_(alike))
        first = d.prove(goal, [(d.fact(yes), term.sign)], [(sign, [same])])
        # Signs that differ: both are 0.
        other = d.equal("signs that differ", term.sign, g.not_(total.sign), [no], ([term.sign, total.sign],))
        turned = d.prove(
            Poly.of(term.significand) * power + Poly.of(n),
            [(other, term.sign), (d.read(g.not_(total.sign)), g.not_(total.sign))], [(sign * -1, [same])],
        )  # fmt: skip
        some = g.any_bit(n)
        least = d.fact(
            d.lemma("that some bit is set", g.ule(g.const(1, n.width), n), [d.assume(some)], ([n],))
        )
        size = Poly.of(term.significand) * power
        gone = d.refute(d.arith([(-1, [turned]), (1, [least]), (size, [])]), some)
        zero = d.fact(d.lemma("that a sum is 0", g.is_zero(n), [gone], ([n],)))
        second = d.prove(goal, [(zero, n)], [(1, [d.prove(size, [(zero, n)], [(1, [turned])])])])
        return d.cases(alike, first, second)

    def _whole(self, w: WholeNumber, total: Node, equal: int, room: int, power: Poly) -> tuple[int, ...]:
        """That the group is whole and small: it is `total`, which is at most 2^most."""
        d, g = self.d, self.g
        some = g.any_bit(w.significand)
        yes, no = d.assume(some), d.assume(g.not_(some))
        cut = ([w.significand, w.below],)
        nothing = [d.lemma("that an empty group is whole", x, [no], cut) for x in (w.whole, w.small)]
        up = Poly.of(w.below).power_of_two()
        reads = [
            (d.read(w.placed), w.placed),
            (d.read(w.below, self._fits(w, yes, equal, room, power)), w.below),
        ]
        placed = d.prove(Poly.of(w.placed) - Poly.of(total) * up, reads, [(up, [equal])])
        same, floor = self._floor(w, total, placed)
        small = d.lemma(
            "that a group is small", w.small, [same, below(d, total, 1 << self.reach.most, room)],
            ([w.floor, total],),
        )  # fmt: skip
        undone = d.lemma(
            "that a shift is undone", g.eq(g.lshr(w.back, w.below), w.floor), [], ([w.placed, w.below],)
        )
        back = d.prove(
            Poly.of(w.back) - Poly.of(w.placed), [(d.read(w.back, undone), w.back)],
            [(up, [floor]), (-1, [placed])],
        )  # fmt: skip
        apart = [(g.ult(w.back, w.placed), 1), (g.ult(w.placed, w.back), -1)]
        whole = d.lemma(
            "that a group is whole", w.whole,
            [d.refute(d.arith([(1, [d.fact(d.assume(x))]), (q, [back])]), x) for x, q in apart],
            ([w.back, w.placed],),
        )  # fmt: skip
        return tuple(d.cases(some, i, j) for i, j in zip((whole, small), nothing, strict=True))

    def _fits(self, w: WholeNumber, some: int, equal: int, room: int, power: Poly) -> int:
        """That the exponent of a group that is not zero is at most that of 2^most in its lowest bit."""
        d, g, s = self.d, self.g, w.significand
        most, last = self.reach.most, w.below.args[0]
        far = g.ult(last, w.code)
        ratio = d.power(d.fact(d.assume(far)))
        least = d.fact(d.lemma("that some bit is set", g.ule(g.const(1, s.width), s), [some], ([s],)))
        wrong = d.arith([(power, [least]), (2 << most, [ratio]), (-1, [equal]), (1, [room])])
        return d.lemma("that a group has a place", g.ule(w.code, last), [d.refute(wrong, far)], ([w.code],))

    def _floor(self, w: WholeNumber, total: Node, placed: int) -> tuple[int, int]:
        """That nothing of a group lies below 1, as a bit, and that its floor less `total` is 0."""
        d, g = self.d, self.g
        up, down = (Poly.of(w.below) * q for q in (1, -1))
        up, down = up.power_of_two(), down.power_of_two()
        width = max(w.floor.width, total.width)
        one, two = sides = [g.zero_extend_to(x, width) for x in (w.floor, total)]
        reads = [(d.read(x), x) for x in sides if x.op == "zero_extend"]
        false, less, more = Poly.constant(-1), g.ult(one, two), g.ult(two, one)
        # floor · 2^below <= placed < (floor + 1) · 2^below
        low = d.prove(
            false, reads, [(up, [d.fact(d.assume(less))]), (1, [d.read(w.floor, 1)]), (1, [placed])]
        )
        high = d.prove(
            false, reads,
            [(1, [d.fact(d.assume(more))]), (down, [d.read(w.floor, 0)]), (down * -1, [placed])],
        )  # fmt: skip
        known = [d.refute(low, less), d.refute(high, more)]
        same = d.lemma("that a group is its sum", g.eq(one, two), known, (sides,))
        fact = d.equal("that a group is its sum", one, two, [same], (sides,))
        return same, d.prove(
            Poly.of(w.floor) - Poly.of(total),
            [],
            [
                (1, [fact]),
                *((q, [d.read(x)]) for q, x in zip((-1, 1), sides, strict=True) if x.op == "zero_extend"),
            ],
        )
