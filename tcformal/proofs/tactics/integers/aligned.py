"""One sum of integers: nothing of a term lies below the lowest bit, and nothing of their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET
from tcformal.proofs.tactics.bounds.aligned import Alignment
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.summed import Addition, SignedSum, SignedTerm
from tcformal.proofs.tactics.bounds.terms import shown_value, sign_of, weight
from tcformal.proofs.tactics.integers.beside import beside_a_power, powers
from tcformal.proofs.tactics.integers.wholes import Reach, WholeTerm, exponent_limits, is_power
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Total


@dataclass(frozen=True, slots=True)
class AlignedInteger:
    """Theorems about one aligned term.

    `low`: that no bit of it weighs less than 1.  `value`: aligned · u - magnitude = 0, u being the unit of
    the sum.  `signed`: the term's value less ±magnitude is 0.
    """

    sign: Node
    aligned: Node
    magnitude: Node
    #: The largest that `aligned` can be, and the theorem that it is not larger.
    most: int
    small: int
    low: int
    value: int
    signed: int


@dataclass(frozen=True, slots=True)
class IntegerTotal:
    """Theorem `value`: ±whole - Σ ±magnitudes = 0; `low`: no bit of the sum weighs less than 1."""

    summed: SignedSum
    whole: Node
    low: int
    value: int


class IntegerAlignment:
    """The terms of one truncated sum, all of them integers, at its e_max."""

    def __init__(self, d: Derivation, total: Total, terms: Sequence[WholeTerm], reach: Reach) -> None:
        self.d, self.g, self.total, self.terms, self.reach = d, d.g, total, terms, reach
        g = self.g
        self.e = g.const(OFFSET + reach.fraction_bits + reach.room, CODE_BITS)
        known = [x.known for x in terms]
        self.at = Alignment(d, total, known, self.e, known[0].limit)
        self.e_max = self.at.e_max
        self.unit = weight(self.e_max, total.fraction_bits)
        #: By how many bits the lowest bit of the sum, `room` bits further down, lies below 1.
        self.depth = g.sub_mod(self.e, self.e_max)
        #: Whether some term is 2^most.
        self.some = powers(d, terms)[-1]
        self.reached = self._reached()
        self.depth_read = d.read(self.depth, self.reached[0])
        self.deep = d.lemma(
            "the depth of a sum", g.ule(self.depth, self.e), self.reached[:1], ([self.e_max],)
        )

    # ------------------------------------------------------------------ exponents
    def _reached(self) -> list[int]:
        """e_max is at most the largest exponent, and less than that unless some term is 2^most."""
        d, g, at = self.d, self.g, self.at
        shown: list[list[int]] = []
        for leaf, x in zip(at.leaves, self.terms, strict=True):
            goals = exponent_limits(d, self.reach, at.coded(leaf), g.truth(True), x.whole)
            cut = ([x.whole.magnitude, *x.known.own],)
            what = "an exponent in reach"
            shown.append([
                d.lemma(what, goal, [i, *x.known.facts], cut)
                for goal, i in zip(goals, x.limits, strict=True)
            ])  # fmt: skip
        f = self.reach.fraction_bits
        goals = [g.ule(self.e_max, self.e)]
        if self.reach.room:
            goals.append(g.or_(g.ule(self.e_max, g.const(OFFSET + f, CODE_BITS)), self.some))
        cut = ([*at.leaves, *(x.whole.magnitude for x in self.terms)],)
        return [
            d.lemma("e_max in reach", goal, [*at.ranges, *(row[i] for row in shown)], cut)
            for i, goal in enumerate(goals)
        ]

    def _alone(self, bounds: Sequence[int]) -> list[int]:
        """Of each term, that the sum has depth, or the term is zero, or 2^most."""
        d, g, made = self.d, self.g, list[int]()
        for x, beside in zip(self.terms, beside_a_power(d, self.terms, bounds), strict=True):
            n = x.whole.magnitude
            goal = g.or_(g.any_bit(self.depth), g.is_zero(n), is_power(d, n))
            cut = ([self.e_max, self.some, n],)
            made.append(d.lemma("the depth of a sum", goal, [beside, *self.reached], cut))
        return made

    # ------------------------------------------------------------------ terms
    def low(self, x: Node) -> Node:
        """Whether no bit of a node that counts units of the sum weighs less than 1."""
        placed = self.g.shift_left_const(x, self.reach.room)
        return self.g.eq(self.g.shl_mod(self.g.lshr(placed, self.depth), self.depth), placed)

    def exact(self, x: Node, low: int) -> tuple[Node, int]:
        """The integer that a node of which `low` holds counts, and the theorem x · u - integer = 0."""
        d, g, room = self.d, self.g, self.reach.room
        placed = g.shift_left_const(x, room)
        whole = g.lshr(placed, self.depth)
        back = g.shl_mod(whole, self.depth)
        undone = d.lemma(
            "that a shift is undone", g.eq(g.lshr(back, self.depth), whole), [], ([x, self.depth],)
        )
        same = d.equal("that nothing lies below 1", placed, back, [low], ([placed, back],))
        power = Poly.of(self.depth).power_of_two()
        parts: list[Part] = [(1, [same]), (1, [d.read(back, undone)])]
        if room:
            parts.append((-1, [d.read(placed)]))
        shifted = d.prove(Poly.of(x) * (1 << room) - Poly.of(whole) * power, [], parts)
        inverse = (Poly.of(self.depth) * -1).power_of_two()
        goal = Poly.of(x) * self.unit - Poly.of(whole)
        return whole, d.prove(goal, [(self.depth_read, self.depth)], [(inverse, [shifted])])

    def aligned(self, bounds: Sequence[int]) -> list[AlignedInteger]:
        """Every term.

        Shapes: bounds: of each term, that 2^most less the magnitudes up to it is at least 0.
        """
        alone = self._alone(bounds) if self.reach.room else [0] * len(self.terms)
        return [self._term(k, i) for k, i in enumerate(alone)]

    def _term(self, k: int, alone: int) -> AlignedInteger:
        d, g, x, made = self.d, self.g, self.terms[k], self.total.terms[k]
        t, w, at = made.term, x.whole, self.at
        if t.significand is not w.significand:
            raise ProofError(f"the significand of term {k} is not that of the statement")
        kept = made.aligned
        # How far an integer is shifted right: by e_max less its exponent, then down to 1.
        ahead = self.reach.most + t.fraction_bits - self.reach.fraction_bits - self.reach.room
        shift = g.zero_extend_to(made.shift, CODE_BITS)
        moved = g.add_mod(g.add_mod(self.depth, shift), g.const(ahead % (1 << CODE_BITS), CODE_BITS))
        given = [*x.known.facts, at.below_root[k], at.ranges[k], *at.rooted, *self.reached[:1]]
        placed = d.lemma(
            f"the place of term {k}", g.or_(g.not_(x.known.nonzero), g.eq(moved, w.below)), given,
            ([at.root, *x.known.own],),
        )  # fmt: skip
        given = [*x.given, x.empty, placed, self.deep, *([alone] if self.reach.room else [])]
        # Bits of bits are taken from the widest node at once.
        bits = t.significand.args if t.significand.op == "extract" else (t.significand,)
        cut = ([*bits, self.depth, made.shift, w.below, x.known.nonzero],)
        whole = g.lshr(g.shift_left_const(kept, self.reach.room), self.depth)
        width = max(whole.width, w.magnitude.width)
        same = g.eq(g.zero_extend_to(whole, width), g.zero_extend_to(w.magnitude, width))
        low = d.lemma("that no bit of an integer is lost", self.low(kept), given, cut)
        equal = d.lemma("that an integer is kept", same, given, cut)
        whole, value = self.exact(kept, low)
        parts: list[Part] = [(1, [value])]
        sides = [g.zero_extend_to(y, width) for y in (whole, w.magnitude)]
        parts.append((1, [d.equal("that an integer is kept", sides[0], sides[1], [equal], (sides,))]))
        parts += [(q, [d.read(y)]) for q, y in zip((-1, 1), sides, strict=True) if y.op == "zero_extend"]
        goal = Poly.of(kept) * self.unit - Poly.of(w.magnitude)
        value = d.prove(goal, [], parts)
        ahead = self.total.fraction_bits - t.fraction_bits
        most = (1 << t.significand.width) - 1 << max(0, ahead) >> max(0, -ahead)
        small = d.lemma(
            "the range of a term", g.ule(kept, g.const(most, kept.width)), (),
            ([t.significand, made.shift], [made.shift]),
        )  # fmt: skip
        stated = shown_value(d, x.known, f"term {k}")
        signed = d.prove(
            x.known.value - sign_of(t.sign) * Poly.of(w.magnitude), [],
            [(1, [stated]), (sign_of(t.sign) * -1, [x.magnitude])],
        )  # fmt: skip
        return AlignedInteger(t.sign, kept, w.magnitude, most, small, low, value, signed)

    # ------------------------------------------------------------------ sum
    def sum(self, terms: Sequence[AlignedInteger]) -> IntegerTotal:
        """The sum of all terms."""
        d = self.d
        added = IntegerAddition(self, terms)
        summed = added.value()
        low = d.lemma(
            "that no bit of a sum is lost", self.low(summed.magnitude), [added.lows[self.total.bits]],
            ([self.total.bits, self.depth],),
        )  # fmt: skip
        whole, value = self.exact(summed.magnitude, low)
        sign = sign_of(summed.sign)
        goal = sign * Poly.of(whole)
        parts: list[Part] = [(self.unit, [summed.equation]), (sign * -1, [value])]
        for x in terms:
            goal = goal - sign_of(x.sign) * Poly.of(x.magnitude)
            parts.append((sign_of(x.sign), [x.value]))
        return IntegerTotal(summed, whole, low, d.prove(goal, [], parts))


class IntegerAddition(Addition):
    """Partial sums of integers: no bit of them weighs less than 1."""

    def __init__(self, of: IntegerAlignment, terms: Sequence[AlignedInteger]) -> None:
        super().__init__(of.d, of.total, terms)
        self._at = of
        #: For each node that no bit of it weighs less than 1.
        self.lows: dict[Node, int] = {}
        self._low_of = {x.aligned: x.low for x in terms}

    def _low(self, node: Node, given: Sequence[int], cut: Sequence[Node]) -> None:
        if node not in self.lows:
            what = "that no bit of a partial sum is lost"
            self.lows[node] = self.d.lemma(what, self._at.low(node), given, ([*cut, self._at.depth],))

    def addend(self, x: SignedTerm, width: int) -> None:
        """±aligned in the width of the sum."""
        super().addend(x, width)
        node = self.g.wrap_to_mod(signed_magnitude(self.g, x.sign, x.aligned), width)
        self._low(node, [self._low_of[x.aligned]], [x.sign, x.aligned])

    def of(self, node: Node) -> tuple[int, Poly, int]:
        """A node of the sum that is a partial sum in another width."""
        made = super().of(node)
        if node not in self.lows:
            self._low(node, [self.lows[node.args[0]]], node.args)
        return made

    def partial(self, node: Node, of: Sequence[Node]) -> None:
        """The sum of two."""
        super().partial(node, of)
        self._low(node, [self.lows[x] for x in of], of)
