"""The error of one sum rounded to odd, whose tiny terms leave it where its own rounding gains little."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.statements.odd_gain import OddGain
from tcformal.proofs.tactics.bounds.aligned import TermError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.relative.blocks import BlockCase, RelativeProof
from tcformal.proofs.tactics.relative.odd_rounding.conversion import OddConversion
from tcformal.proofs.tactics.relative.odd_rounding.gaining import (
    Gain,
    GainingTerm,
    empty_gains,
    low_word,
    others,
)
from tcformal.proofs.tactics.relative.odd_rounding.terms import odd_moves
from tcformal.proofs.tactics.relative.products import SharpAlignment


class OddGainProof(RelativeProof):
    """The proof of one statement about one block from c = 0, every term and the sum rounded to odd."""

    @property
    def gain(self) -> OddGain:
        """What the statement says of gains."""
        return cast(OddGain, self.relative.gain)

    def _prepare(
        self, alignment: SharpAlignment, terms: list[TermError], x: SumConversion, finest: int
    ) -> None:
        super()._prepare(alignment, terms, x, finest)
        width, c = alignment.total.partials[0].node.width, self.stated.terms[-1].code
        self.of = {p.node: p.of for p in alignment.total.partials}
        self.gains: list[tuple[Gain, Gain]] = []
        for k, known in enumerate(terms):
            if alignment.summands[k].code is c:
                empty = self._empty(alignment, k)
                self.gains.append(empty_gains(self.d, self.g, known, alignment.unit, self.gain, width, empty))
            else:
                term = GainingTerm(alignment, k, self.gain, lambda k=k: alignment.normal(k))  # type: ignore[misc]
                self.gains.append(term.gains(known, width))
        self.alignment = alignment
        self.conversion = OddConversion(
            self.d, x, self.gain, self._reached(alignment), self._not_above(alignment)
        )

    def _not_above(self, alignment: SharpAlignment) -> int:
        """E - e_max >= 0."""
        d, wide = self.d, self.g.zero_extend_to(alignment.e_max, CODE_BITS + 1)
        equations = [(d.read(wide), wide), (d.read(alignment.e), alignment.e)]
        goal = Poly.of(self.stated.e) - Poly.of(alignment.e_max)
        return d.prove(goal, equations, [(1, [d.fact(alignment.reached())])])

    # ------------------------------------------------------------------ cases of the result's exponent
    def _case(self, case: BlockCase, goal: Poly, moves: tuple[int, int]) -> list[int]:
        if case.high:
            both = self._both(case, goal, moves)
            return self._above(case, both, self.relative.kept, self.total * self.relative.constant)
        d, g = self.d, self.g
        lower = g.ult(*case.codes)
        yes, no = d.assume(lower), d.assume(g.not_(lower))
        first = self._lower(case, yes)
        second = [self._equal(case, s, mine, no) for s, mine in zip((1, -1), moves, strict=True)]
        return [d.cases(lower, i, j) for i, j in zip(first, second, strict=True)]

    def _finished(self, case: BlockCase, sign: int, lost: Poly, parts: list[Part]) -> int:
        """constant · Σ|terms| - sign · (result - exact) >= 0 from what is lost at most, in powers of 2^E."""
        x, d = case.conversion, self.d
        value = self._value(x)
        parts = [*parts, (case.alignment.unit * -sign, [x.summed.equation])]
        i = d.prove(lost - (value - case.exact) * sign, [], parts)
        goal = self.total * self.relative.constant - (value - case.exact) * sign
        most = self.relative.constant
        return d.prove(goal, [], [(1, [i]), (most, [self.size_of_all]), (self.scale * most - lost, [])])

    def _lower(self, case: BlockCase, bit: int) -> list[int]:
        """Of a smaller exponent: the ulp is half of 2^(E - p) at most."""
        d, x, e = self.d, case.conversion, Poly.of(self.stated.e)
        own, room = self._power(-x.bits), self._power(-self.gain.fraction_bits)
        below = d.prove(e - Poly.of(x.code) - Poly.constant(1), case.equations, [(1, [d.fact(bit)])])
        half = own * Fraction(1, 2)
        larger = d.prove(half - x.ulp, [], [(x.ulp, [d.power(below)])])
        spare: list[Part] = [(1, [case.finest]), (half - room, [])]
        moves = odd_moves(x, half, [(1, [larger])], spare)
        made = []
        for sign, mine in zip((1, -1), moves, strict=True):
            lost, parts = self._lost(case, sign, half, mine)
            made.append(self._finished(case, sign, lost, parts))
        return made

    def _equal(self, case: BlockCase, sign: int, mine: int, bit: int) -> int:
        """Of the exponent E: some term counts units other than 0 and 1, or none does."""
        d, g, gain, unit = self.d, self.g, self.gain, case.alignment.unit
        room, own = self._power(-gain.fraction_bits), self._power(-case.conversion.bits)
        mine_of = [x[0 if sign > 0 else 1] for x in self.gains]
        bits = [others(g, x.low) for x in mine_of]
        some = g.or_(*bits)
        yes, no = d.assume(some), d.assume(g.not_(some))
        lost = room * (gain.units - 1 - gain.less) + own
        parts: list[Part] = [*self.whole[:1], (1, [mine]), *((1, [x.less]) for x in mine_of)]
        parts += [(unit * gain.less, [self._some(bits, yes)]), (gain.units - 1 - gain.less, [case.finest])]
        first = self._finished(case, sign, lost, parts)
        lost = room * gain.half
        parts = [(1, [x.even]) for x in mine_of]
        parts += [(1, [self.conversion.bounds(case, sign, bit)]), (gain.half, [case.finest])]
        parts.append((unit, [self._tiny([x.low for x in mine_of], bits, no, sign)]))
        return d.cases(some, first, self._finished(case, sign, lost, parts))

    def _some(self, bits: list[Node], given: int) -> int:
        """Σ bits - 1 >= 0 where some bit is 1, as the theorem `given` says."""
        d, g = self.d, self.g
        own = [n for n in bits if n.op != "const"]
        goal = Poly.constant(-1)
        for n in bits:
            goal = goal + Poly.of(n)
        absent = [d.assume(g.not_(n)) for n in own[:-1]]
        last = d.lemma("that some bit is 1", own[-1], [given, *absent], (own,))
        made = 0
        for k in reversed(range(len(own))):
            bit = last if k == len(own) - 1 else d.assume(own[k])
            one = d.fact(d.lemma("a bit of a case", g.eq(own[k], g.truth(True)), [bit], ([own[k]],)))
            rest: list[Part] = [(Poly.of(n), []) for i, n in enumerate(own) if i != k]
            here = d.prove(goal, [(one, own[k])], rest)
            made = here if k == len(own) - 1 else d.cases(own[k], here, made)
        return made

    def _tiny(self, lows: list[Node], bits: list[Node], none: int, sign: int) -> int:
        """The low bits of the sum less how many terms have some, where each has 0 or 1: at least 0."""
        d, g, size = self.d, self.g, self.gain.bits
        leaves = [g.any_bit(x) for x in lows]
        own = [n for n in dict.fromkeys(leaves) if n.op != "const"]
        counted = dict[Node, tuple[Node, int, int, Poly]]()
        for low, other, leaf in zip(lows, bits, leaves, strict=True):
            absent = d.lemma("that no term counts more", g.not_(other), [none], (bits,))
            wide = g.zero_extend_to(leaf, size + 1)
            same = d.lemma(
                "what a tiny term counts", g.eq(low, g.extract(wide, size - 1, 0)), [absent], ([low],)
            )
            read = d.prove(
                Poly.of(wide) - Poly.of(leaf), [(d.read(wide), wide)] if wide.op == "zero_extend" else []
            )
            counted[low] = wide, same, read, Poly.of(leaf)

        def tally(node: Node) -> tuple[Node, int, int, Poly]:
            low = low_word(g, node, size, sign)
            if node not in self.of:
                if low not in counted and node.op in ("sign_extend", "extract"):
                    below = low_word(g, node.args[0], size, sign)
                    made = tally(node.args[0])
                    if below is low:
                        return made
                    same = d.lemma("the low bits of a sum", g.eq(low, below), (), (node.args,))
                    given = [same, made[1]]
                    return made[0], d.lemma(
                        "how many terms a sum has", g.eq(low, g.extract(made[0], size - 1, 0)), given,
                        ([low, below, made[0]],),
                    ), *made[2:]  # fmt: skip
                return counted[low]
            of = self.of[node]
            parts = [tally(y) for y in of]
            total = g.add_mod(parts[0][0], parts[1][0])
            goal = g.eq(low, g.extract(total, size - 1, 0))
            cut = [*of, *(y[0] for y in parts)]
            same = d.lemma("how many terms a sum has", goal, [y[1] for y in parts], (cut,))
            fits = d.lemma("that terms can be counted", g.ule(total.args[0], total), (), (own, ()))
            value = parts[0][3] + parts[1][3]
            read = d.prove(
                Poly.of(total) - value, [(d.read(total, fits), total)], [(1, [y[2]]) for y in parts]
            )
            return total, same, read, value

        total, same, read, value = tally(self.alignment.total.bits)
        low = low_word(g, self.alignment.total.bits, size, sign)
        wide = g.zero_extend_to(low, size + 1)
        met = d.equal("how many terms a sum has", wide, total, [same], ([low, *own],))
        return d.prove(Poly.of(low) - value, [], [(-1, [d.read(wide)]), (1, [met]), (1, [read])])
