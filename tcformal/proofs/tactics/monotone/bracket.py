"""One conversion: between which numbers of the kept bits a magnitude lies."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.integers import Equation, power
from tcformal.proofs.tactics.rounded.lifted import leading, normalised


@dataclass(frozen=True, slots=True)
class Bracket:
    """Theorems about a magnitude M that is known but for `lost`, at most the weight of its lowest bit.

    `floor`: M - lost - kept·unit >= 0; `ceiling`: (kept + 1)·unit - M - lost >= 0; `upper`: where it is
    rounded up, M - lost - (kept + 1/2)·unit >= 0; `lower`: where it is not, (kept + 1/2)·unit - M - lost
    >= 0; `none`: of a magnitude that is empty, -M - lost >= 0.
    Shapes: kept u[p], away u[1], height u[any]: unit = 2^(height + a number); empty u[1].
    """

    kept: Node
    away: Node
    height: Node
    empty: Node
    unit: Poly
    floor: int
    ceiling: int
    upper: int
    lower: int
    none: int
    #: That kept has its leading bit unless the height is 0 or the magnitude empty; that nothing is kept of
    #: one that is.
    normal: int
    nothing: int


class BracketedRounding(MagnitudeRounding):
    """Theorems about one record of a conversion: where the magnitude lies by what is kept of it."""

    def bracket(self) -> Bracket:
        """Between which numbers the magnitude lies."""
        d, g, r = self.d, self.g, self.r
        if r.target.mode not in ("RNE", "RNA", "RZ"):
            raise ProofError(f"no tactic is written for the order of numbers rounded by {r.target.mode}")
        lifts = self._started()
        low = g.extract(r.normalised, self.n - self.p - 1, 0)
        whole = g.concat(r.kept, low)
        same = d.equal("what is kept and what is cut", r.normalised, whole, (), ([r.normalised],))
        self.equations: list[Equation] = [
            (same, r.normalised), (d.read(whole), whole), *self._exponents(),
        ]  # fmt: skip
        if self.padded is not self.source:
            self.equations.insert(0, (d.read(self.padded), self.padded))
        full, nothing = 1 << (self.n - self.p), g.const(0, low.width)
        rows = [
            ((nothing, 0), (low, 0), Poly.of(low)),
            ((low, 0), (nothing, full), Poly.constant(full) - Poly.of(low)),
        ]
        floor, ceiling = self._cut_off(low, rows)
        ulp = self.fine * (1 << (self.n - self.p))
        kept = Poly.of(r.kept) * ulp
        made = [
            self._placed(kept, lifts[1], floor, 1),
            self._placed(kept + ulp, lifts[0], ceiling, -1),
        ]
        # Rounding toward zero never goes up, and what is not rounded up is all that it can be.
        middle = kept + ulp * self.ulps
        halves = [made[0], made[1]]
        if r.away.op != "const":
            up, down = self._core(low)
            yes, no = d.assume(r.away), d.assume(g.not_(r.away))
            # most ∓ (low - away·2^(n - p))
            above = self._halved(down, yes, 1)
            below = self._halved(up, no, 0)
            halves = [
                self._placed(middle, lifts[1], above, 1), self._placed(middle, lifts[0], below, -1)
            ]  # fmt: skip
        empty = g.is_zero(r.magnitude)
        done = [normalised(d, r), self.within]
        normal = g.or_(g.top(r.kept), g.is_zero(r.height), empty)
        nothing = g.or_(g.not_(empty), g.and_(g.is_zero(r.kept), g.not_(r.away)))
        facts = [
            d.lemma("what is kept of a magnitude", normal, done, (leading(r),)),
            d.lemma("what is kept of zero", nothing, (), ([r.magnitude, r.limit],)),
        ]
        return Bracket(
            r.kept, r.away, r.height, empty, ulp, made[0], made[1], halves[0], halves[1],
            self._none(lifts[0], empty), facts[0], facts[1],
        )  # fmt: skip

    def _halved(self, i: int, given: int, value: int) -> int:
        """A theorem on what is rounded off, with the bit that says whether it is rounded up."""
        bit = self.z.bit(given, self.r.away, value)
        goal = self.d.about(i)
        swapped = Poly({m: q for m, q in goal.terms.items() if bit[1] not in m[0]})
        more = Poly({
            (tuple(n for n in atoms if n is not bit[1]), e): q * value
            for (atoms, e), q in goal.terms.items() if bit[1] in atoms
        })  # fmt: skip
        return self.z.rewritten(swapped + more, [], [(1, [i]), *self._bit_out(goal, bit)])

    def _bit_out(self, goal: Poly, bit: Equation) -> list[Part]:
        """What turns a bit into its value."""
        sign = self.d.about(bit[0]).terms[((bit[1],), ())]
        factor = Poly({
            (tuple(n for n in atoms if n is not bit[1]), e): -q * sign
            for (atoms, e), q in goal.terms.items() if bit[1] in atoms
        })  # fmt: skip
        return [(factor, [bit[0]])] if factor.terms else []

    def _placed(self, end: Poly, lift: int | None, core: int, sign: int) -> int:
        """sign · (M - end) - lost >= 0 from the same of what is normalised."""
        fine = self.unit * (Poly.of(self.r.distance) * -1).power_of_two()
        goal = (self._here - end) * sign - self._lost
        parts: list[Part] = [(fine, [core]), *([] if lift is None else [(1, [lift])])]
        return self.z.rewritten(goal, self.equations, [*parts, (fine * -sign, [self.shifted])])

    @property
    def _here(self) -> Poly:
        return Poly.of(self.source) * power(self.lsb)

    @property
    def _lost(self) -> Poly:
        none = Poly.constant(0)
        return none if self.sticky is None else Poly.of(self.sticky.lost) * power(self.low)

    def _none(self, lift: int | None, empty: Node) -> int:
        """-M - lost >= 0 of a magnitude of which nothing is left."""
        d, g, r = self.d, self.g, self.r
        given = d.assume(empty)
        fact = d.fact(given)
        sign = d.about(fact).terms[((r.magnitude,), ())]
        equations = [] if self.padded is self.source else [(d.read(self.padded), self.padded)]
        if self.odd is not None:
            no = g.truth(False)
            cut = ([r.magnitude, self.lost],)
            equations.append(
                (d.equal("that zero lost nothing", self.lost, no, [given, self.odd], cut), self.lost)
            )
        parts: list[Part] = [] if lift is None else [(1, [lift])]
        parts.append((self.unit * (-1 * sign), [fact]))
        return self.z.rewritten(self._here * -1 - self._lost, equations, parts)
