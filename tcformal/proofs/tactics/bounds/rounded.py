"""The conversion of a sum: what rounding loses, and the word that the result is packed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, Encoded, exponent_code
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.summed import SignedSum
from tcformal.proofs.tactics.bounds.terms import code_of, sign_of, weight
from tcformal.semantics.stages import Rounded, SpecialCases, Total

#: Modes that lose at most half a unit in the last place; the others lose less than one.
NEAREST = ("RNE", "RNA")


@dataclass(frozen=True, slots=True)
class RoundingError:
    """Theorems about a conversion, x being the value of the result less ±magnitude·u.

    `above`: ulps·ulp - x > 0, or >= 0 for the nearest; `below`: the same of -x.
    Shapes: code u[CODE_BITS], the exponent of the result; ulp = 2^(exponent - fraction bits).
    """

    value: Poly
    code: Node
    above: int
    below: int


class SumConversion:
    """One conversion: of the sum `total`, whose sign and magnitude are `summed`, to a number.

    `clean` are the theorems that the number is neither Inf nor NaN, `in_range` those about e_max.
    """

    def __init__(
        self, d: Derivation, total: Total, e_max: Node, summed: SignedSum, rounded: Rounded,
        specials: SpecialCases, clean: Sequence[int], in_range: Sequence[int],
    ) -> None:  # fmt: skip
        self.d, self.g, self.total, self.e_max = d, d.g, total, e_max
        self.summed, self.rounded, self.specials, self.clean = summed, rounded, specials, clean
        self.result = specials.result
        self.term = self.result.term
        self.code = code_of(self.g, self.term.exponent)
        self.bits = rounded.target.fraction_bits
        self.ulp = weight(self.code, self.bits)
        self.unit = weight(e_max, total.fraction_bits)
        #: How much closer the result is shown to be.
        self.slack = Poly.constant(0)
        #: How much further away a result may be that is flushed.
        self.flushed = Fraction(0)
        #: What the result is made of.
        self.inner: tuple[Node, ...] = ()
        #: What the conversion is a function of; bits of bits are taken from the widest node at once.
        code = total.e_max.bits
        whole = [summed.whole, summed.sign]
        self.cuts: tuple[list[Node], ...] = ([*whole, code], [*whole, *code.args])
        over = rounded.result.inf
        fine = self.g.not_(over)
        overflow = d.lemma("that nothing overflows", fine, clean, ([over, *flags_of(specials)],))
        #: On what the conversion relies.
        self.given = [overflow, *in_range]

    def error(self) -> RoundingError:
        """Both bounds of what the conversion loses."""
        d, size = self.d, Poly.of(self.term.significand) * self.ulp
        exact = Poly.of(self.summed.magnitude) * self.unit
        signs = self._signs()
        sign, s = sign_of(self.summed.sign), Poly.of(self.summed.sign)
        value = sign_of(self.term.sign) * size
        moved = value - sign * exact
        one = d.range(self.summed.sign)
        ulp = self.ulp * (Fraction(1, 2) if self.rounded.target.mode in NEAREST else 1) - self.slack
        same = (self.ulp * -1, [signs]) if d.about(signs).terms else (0, [])
        less = (self.ulp, [signs]) if d.about(signs).terms else (0, [])
        if self.rounded.target.mode in NEAREST:
            over, under = self._nearest(ulp - size + exact, ulp + size - exact)
            # ulp - (1 - 2s)·x = (1 - s)·(ulp - x) + s·(ulp + x)
            above = d.prove(ulp - moved, [], [(1, [one, over]), (s, [under]), same])
            below = d.prove(ulp + moved, [], [(1, [one, under]), (s, [over]), less])
        elif self.rounded.target.mode == "RZ":
            low, up = self._floor(exact - size, ulp - exact + size)
            above = d.prove(ulp - moved, [], [(1, [up]), (2, [one, low]), same])
            below = d.prove(ulp + moved, [], [(1, [up]), (s * 2, [low]), less])
        else:
            raise ProofError(f"no tactic is written for rounding {self.rounded.target.mode}")
        return RoundingError(value, self.code, above, below)

    # ------------------------------------------------------------------ signs
    def _signs(self) -> int:
        """(±significand of the result) - (that with the sum's sign) = 0: signs differ on zeros alone."""
        d, g, mine, own = self.d, self.g, self.term.sign, self.summed.sign
        size = Poly.of(self.term.significand)
        goal = sign_of(mine) * size - sign_of(own) * size
        if mine is own:
            return d.arith([])
        same = g.eq(mine, own)
        yes, no = d.assume(same), d.assume(g.not_(same))
        zero = d.lemma(
            "that the sign of a result is that of its sum", g.is_zero(self.term.significand),
            [no, *self.clean], self._sign_cuts(),
        )  # fmt: skip
        return d.cases(
            same,
            d.prove(goal, [(d.fact(yes), max(mine, own, key=lambda n: n.index))]),
            d.prove(goal, [(d.fact(zero), self.term.significand)]),
        )

    def _sign_cuts(self) -> tuple[list[Node], ...]:
        """What the sign of a result is a function of."""
        return [self.summed.sign, self.term.significand, *flags_of(self.specials)], *self.cuts

    # ------------------------------------------------------------------ magnitudes
    def _placed(self, room: int) -> tuple[Node, Node, tuple[int, Node], int]:
        """The magnitude with zeros below, how far the result's exponent shifts it, and that in exponents.

        The last are the equation of the shift, and that the sum is not zero, under which it holds.
        """
        d, g, p = self.d, self.g, self.term.significand.width
        big = g.shift_left_const(self.summed.magnitude, p + room)
        ahead = self.total.fraction_bits - self.bits + p
        if ahead < 0:
            raise ProofError(f"a sum of {self.total.fraction_bits} fraction bits is rounded to {self.bits}")
        top = g.add_mod(self.code, g.const(ahead, CODE_BITS))
        amount = g.sub_mod(top, self.e_max)
        some = d.assume(g.not_(g.is_zero(self.summed.magnitude)))
        fits = d.lemma(
            "that an exponent has a code", g.ule(top.args[0], top), (), ([self.term.exponent.bits],)
        )
        below = d.lemma(
            "that a result is not above its sum", g.ule(self.e_max, top), [some, *self.given], self.cuts
        )
        goal = Poly.of(amount) - Poly.of(self.code) - Poly.constant(ahead) + Poly.of(self.e_max)
        distance = d.prove(goal, [(d.read(amount, below), amount), (d.read(top, fits), top)])
        return big, amount, (distance, amount), some

    def _both(self, goals: Sequence[Poly], shown: Sequence[int]) -> tuple[int, int]:
        """Two bounds, shown of a sum that is not zero, of any sum: a zero one has a zero result."""
        d, g, size = self.d, self.g, self.term.significand
        zero = g.is_zero(self.summed.magnitude)
        none = d.assume(zero)
        empty = d.lemma("that a zero sum has a zero result", g.is_zero(size), [none, *self.given], self.cuts)
        nothing = [(d.fact(none), self.summed.magnitude), (d.fact(empty), size), *self._zero(none)]
        made = []
        for goal, i in zip(goals, shown, strict=True):
            left = Poly({m: q for m, q in goal.terms.items() if not m[0]})
            made.append(d.cases(zero, d.prove(goal, nothing, [(left, [])] if left.terms else []), i))
        return made[0], made[1]

    def _floor(self, low_goal: Poly, up_goal: Poly, more: Sequence[int] = ()) -> tuple[int, int]:
        """0 <= magnitude·u - significand·ulp < ulp."""
        d, g = self.d, self.g
        big, amount, distance, some = self._placed(0)
        kept = g.lshr(big, amount)
        wide = g.zero_extend_to(self.term.significand, big.width)
        same = d.equal("that a result is its sum cut", wide, kept, [some, *more, *self.given], self.cuts)
        scale = self.unit * _power(-self.term.significand.width)
        equations = [(same, kept), (d.read(wide), wide), (d.read(big), big), distance]
        low = d.prove(low_goal, equations, [(scale, [d.read(kept, 0)])])
        up = d.prove(up_goal, equations, [(scale, [d.read(kept, 1)]), (scale, [])])
        return self._both((low_goal, up_goal), (low, up))

    def _nearest(self, over_goal: Poly, under_goal: Poly) -> tuple[int, int]:
        """|magnitude·u - significand·ulp| <= ulp / 2, by what half an ulp goes into the magnitude."""
        d, g = self.d, self.g
        big, amount, distance, some = self._placed(1)
        half = g.lshr(big, amount)
        inner = g.concat(self.term.significand, g.const(0, 1))
        twice = g.zero_extend_to(inner, big.width)
        raised, odd = (g.add_mod(x, g.const(1, big.width)) for x in (half, twice))
        back = g.shl_mod(half, amount)
        exact, up = g.eq(twice, half), g.eq(twice, raised)
        tie = g.and_(g.eq(odd, half), g.eq(back, big))
        what = "that a result is the nearest to its sum"
        known = d.lemma(what, g.or_(exact, up, tie), [some, *self.given], self.cuts)
        scale = self.unit * _power(-self.term.significand.width - 1)
        ulp = self.ulp * Fraction(1, 2)
        plain = [(d.read(twice), twice), (d.read(inner), inner), (d.read(big), big), distance]
        low, high = self._remainder(half, big, amount)
        # The result is at most the magnitude: 2·significand = half.
        down = d.assume(exact)
        equations = [(d.fact(down), half), *plain]
        first = [
            d.prove(over_goal, equations, [(scale, [low]), (ulp, [])]),
            d.prove(under_goal, equations, [(scale, [high])]),
        ]
        # It is above: 2·significand = half + 1.
        more = d.assume(up)
        fits = d.lemma(
            "that half a unit more fits", g.ule(raised.args[0], raised), (), ([self.summed.whole, amount],)
        )
        equations = [(d.read(raised, fits), half), (d.fact(more), raised), *plain]
        second = [
            d.prove(over_goal, equations, [(scale, [low])]),
            d.prove(under_goal, equations, [(scale, [high]), (ulp, [])]),
        ]
        # It is exactly half a unit below: 2·significand + 1 = half, and nothing is left.
        absent = [d.assume(g.not_(x)) for x in (exact, up)]
        tied = d.lemma("that a tie is exact", tie, [known, *absent], ([exact, up, tie],))
        met, whole = (d.lemma("a part of a tie", x, [tied], (list(tie.args),)) for x in tie.args)
        if tie.args[0].args != g.eq(odd, half).args:
            met, whole = whole, met
        kept = d.lemma(
            "that a tie loses nothing", g.eq(g.lshr(back, amount), half), [whole], ([big, amount],)
        )
        fits = d.lemma("that half a unit fits", g.ule(odd.args[0], odd), (), ([self.term.significand],))
        rest = d.prove(
            Poly.of(big) - Poly.of(half) * Poly.of(amount).power_of_two(),
            [(d.fact(whole), big), (d.read(back, kept), back)],
        )
        equations = [(d.fact(met), half), (d.read(odd, fits), odd), *plain]
        third = [
            d.prove(over_goal, equations, [(scale, [low]), (ulp * 2, [])]),
            d.prove(under_goal, equations, [(scale, [low]), (scale * -2, [rest])]),
        ]
        others = [d.cases(up, i, j) for i, j in zip(second, third, strict=True)]
        shown = [d.cases(exact, i, j) for i, j in zip(first, others, strict=True)]
        return self._both((over_goal, under_goal), shown)

    def _zero(self, none: int) -> list[tuple[int, Node]]:
        """What else is 0 where the sum is."""
        del none
        return []

    def _remainder(self, half: Node, big: Node, amount: Node) -> tuple[int, int]:
        """What is left of the magnitude below half an ulp is at least 0, and less than half an ulp."""
        del big, amount
        return self.d.read(half, 0), self.d.arith([(1, [self.d.read(half, 1)]), (1, [])])

    # ------------------------------------------------------------------ words
    def normal(self) -> list[int]:
        """That a result has its leading bit, except at the least exponent, and its exponent its range."""
        g, t = self.g, self.term
        bits, span = t.exponent.bits, t.exponent.high - t.exponent.low
        bounded = g.truth(True) if span >> bits.width else g.ule(bits, g.const(span, bits.width))
        goals = {"normal": g.or_(g.top(t.significand), g.is_zero(bits)), "bounded": bounded}
        return [
            self.d.lemma(f"that a result is {x}", goal, self.given, self.cuts) for x, goal in goals.items()
        ]

    def packed(self, d_word: Encoded, finite: int | None = None) -> tuple[int, int]:
        """Where d is finite, as `finite` may show, it and the result have one value, and one exponent."""
        d, g, t = self.d, self.g, self.term
        given = [d.assume(d_word.finite) if finite is None else finite]
        cut = [t.sign, t.significand, t.exponent.bits, self.result.inf, self.result.nan]
        given += self.normal()
        wider = t.significand.args if t.significand.op == "extract" else ()
        cuts: tuple[list[Node], ...] = ([*cut, *wider], [])
        size = g.shift_left_const(t.significand, d_word.significand.width - t.significand.width)
        code = exponent_code(g, [d_word])
        equations = []
        for what, x, y in (
            ("sign", d_word.sign, t.sign), ("significand", d_word.significand, size),
            ("exponent", code, self.code),
        ):  # fmt: skip
            equations.append((d.equal(f"the {what} of d", x, y, given, cuts), x))
        extra = [(d.read(size), size)] if size is not t.significand else []
        [(code_equation, _)] = [equations.pop()]
        fields = d.expanded(code, [d_word.exponent], "an exponent")
        shown = d.prove(
            Poly.of(d_word.exponent) + Poly.constant(OFFSET - d_word.fmt.bias) - Poly.of(self.code),
            [(code_equation, self.code), *fields],
        )
        total = d_word.value - sign_of(t.sign) * Poly.of(t.significand) * self.ulp
        return d.prove(total, [*equations, *extra, (shown, d_word.exponent)]), shown


def flags_of(x: SpecialCases) -> list[Node]:
    """What the special cases of a step are made of."""
    return [x.some_nan, x.positive_inf, x.negative_inf]


def _power(k: int) -> Poly:
    return Poly.constant(k).power_of_two()
