"""The error of one truncated sum where products lose the less, the more they bring below an ulp."""

from __future__ import annotations

from typing import cast

from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.error_bound import StatedTerm
from tcformal.proofs.statements.relative_bound import magnitude
from tcformal.proofs.statements.tied_loss import Tied
from tcformal.proofs.tactics.bounds.aligned import TermError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.relative.blocks import BlockCase, RelativeProof
from tcformal.proofs.tactics.relative.low_bits import LowBits, TiedTerm
from tcformal.proofs.tactics.relative.low_conversion import LowConversion
from tcformal.proofs.tactics.relative.products import SharpAlignment


class TiedProof(RelativeProof):
    """The proof of one statement about one block whose conversion loses what is below an ulp.

    Of a result whose exponent is at most E, that is at most what all terms have there: `rate` of it is
    counted with them, and the rest as always.
    """

    @property
    def tied(self) -> Tied:
        """What the statement says of losses."""
        return cast(Tied, self.relative.tied)

    def _prepare(
        self, alignment: SharpAlignment, terms: list[TermError], x: SumConversion, finest: int
    ) -> None:
        c = self.stated.terms[-1].code
        self.low = LowBits(self.d, alignment, terms, self.tied, c)
        self.made: list[TiedTerm] = []
        for k in range(len(terms)):
            beside = alignment.summands[k].code is c
            empty = self._empty(alignment, k) if beside and self.relative.zero_c else None
            self.made.append(self.low.term(k, beside, empty))
        shares = self._shares(alignment, terms)
        self.whole = [(alignment.unit * self.tied.loss, [shares])]
        self.below = LowConversion(self.d, x, self.tied, self._reached(alignment))
        self.size_of_all = self._largest()
        self.beside = None if self.relative.zero_c else self._sizes(alignment, terms)

    # ------------------------------------------------------------------ what is lost
    def _lost(self, x: BlockCase, sign: int, goal: Poly, mine: int) -> tuple[Poly, list[Part]]:
        t, unit = self.tied, x.alignment.unit
        room = self._power(-t.fraction_bits)
        parts = [*self.whole, *((1, [y.side(sign)]) for y in self.made)]
        lost, more = room * t.kept, t.more
        if x.high:
            # What is below an ulp of a larger result is not counted.
            parts += [(unit * t.rate * y.low(sign), []) for y in self.made]
            parts += [(1, [mine]), (t.kept - t.cut * t.rate, [x.finest]), (room * t.cut * t.rate, [])]
            if not self.relative.zero_c:
                share = self._share(x.alignment, x.terms, self.stated.terms[-1])
                lost = lost + room * more
                parts += [(more, [x.finest]), (unit * share * more, [])]
            return lost + goal, parts
        held, total = self.below.bounds(x, sign), self.low.added(sign)
        parts += [(1 - t.rate, [mine]), (t.rate, [held]), (unit * t.rate, [total]), (t.kept, [x.finest])]
        if not self.relative.zero_c:
            c = self.stated.terms[-1]
            share = self._share(x.alignment, x.terms, c)
            less = self._less(x.alignment, c)
            lost = lost + (room - room * share) * more
            parts.append((more, [less, x.finest]))
        return lost + goal * (1 - t.rate), parts

    def _less(self, alignment: SharpAlignment, t: StatedTerm) -> int:
        """1 - 2^-shift >= 0 of a term."""
        (made,) = (
            y for y, x in zip(alignment.total.terms, alignment.summands, strict=True) if x.code is t.code
        )
        spread = self.d.power(self.d.arith([(Poly.of(made.shift), [])]))
        return self.d.arith([((Poly.of(made.shift) * -1).power_of_two(), [spread])])

    # ------------------------------------------------------------------ in terms of the magnitudes
    def _bound(self) -> Poly:
        """What the error is at most."""
        total = self.total * self.relative.constant
        for t in () if self.relative.zero_c else self.stated.terms[:-1]:
            total = total + magnitude(t.factors) * (self.relative.beside - self.relative.constant)
        return total

    def _sizes(self, alignment: SharpAlignment, terms: list[TermError]) -> int:
        """The bound less what is lost of 2^E: the more, the further c is shifted."""
        d, r, c = self.d, self.relative, self.stated.terms[-1]
        share = self._share(alignment, terms, c)
        more = r.beside - r.constant
        goal = self._bound() - self.scale * r.constant - (self.scale - self.scale * share) * more

        def proof(k: int, t: StatedTerm, bit: int) -> int:
            size = self._size_at(k, t, bit)
            parts: list[Part] = [
                (magnitude(y.factors) * (r.constant if y is c else r.beside), [])
                for y in r.terms if y is not t
            ]  # fmt: skip
            if t is c:
                parts += [(r.constant, [size]), (self.scale * more, [self._unshifted(alignment, t, bit)])]
            else:
                parts += [(r.beside, [size]), (self.scale * share * more, [])]
            return d.prove(goal, [], parts)

        return self._by_term(goal, proof)

    def _scaled(self, case: BlockCase, both: list[int]) -> list[int]:
        d, t, bound = self.d, self.tied, self._bound()
        if case.high:
            kept = t.kept + (0 if self.relative.zero_c else t.more)
            return self._above(case, both, kept, bound)
        made = (self.relative.constant, self.size_of_all) if self.beside is None else (1, self.beside)
        value = self._value(case.conversion)
        return [
            d.prove(bound - (value - case.exact) * sign, [], [(1, [i]), (made[0], [made[1]])])
            for sign, i in zip((1, -1), both, strict=True)
        ]
