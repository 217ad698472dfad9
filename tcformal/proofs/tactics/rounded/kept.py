"""What a step hands on after its rounding: the rounded number, or 0 where results are flushed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.rounded import flags_of
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, in_range, power
from tcformal.proofs.tactics.rounded.lifted import leading, settled
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.number import Exponent
from tcformal.semantics.round import convert
from tcformal.semantics.stages import Rounded, SpecialCases


def before_flush(
    z: IntegerSteps, design: Design, rounded: Rounded, magnitude: Node, lsb: Exponent, fits: int
) -> tuple[Rounded, int]:
    """The conversion as it would be if it flushed nothing, and that it does not overflow.

    That is the record itself, unless the rounding makes zeros of what it finds tiny.
    """
    d, g = z.d, z.g
    if design.result_subnormals != "tiny_zero":
        return rounded, fits
    with g.scope(f"again.kept{rounded.kept.index}"):
        sign, target = rounded.result.term.sign, rounded.target
        plain = convert(g, sign, magnitude, lsb, target, overflow=design.overflow)
    if plain.normalised is not rounded.normalised:
        raise ProofError("a number that is flushed is not the one that it would be")
    over = g.not_(plain.result.inf)
    known = [*settled(d, plain), fits]
    return plain, d.lemma("that nothing overflows before it is flushed", over, known, (leading(plain),))


@dataclass(frozen=True, slots=True)
class KeptResult:
    """Theorems: the least normal number ∓ (rounded - value) >= 0.

    `equal`: rounded - value = 0, with `flush` where that bit is 1; else its theorem is that value = 0.
    `exponent`: the exponent's code less that of the rounded number = 0, where they are two nodes.
    """

    z: IntegerSteps
    value: Poly
    summand: SummedTerm
    above: int
    below: int
    equal: int
    flush: tuple[Node, int] | None
    exponent: list[Equation]

    def small(self, size: Poly, i: int, sign: int) -> int:
        """size ∓ value >= 0 from size ∓ rounded >= 0."""
        z, d = self.z, self.z.d
        if self.flush is None:
            return d.arith([(1, [i]), (sign, [self.equal])])
        kept, none = self.flush
        yes = d.arith([(1, [i]), (sign, [self.equal])])
        rest = z.rewritten(size - self.value * sign, [], [(size, []), (sign * -1, [none])])
        return d.cases(kept, yes, rest)


class ResultFlush:
    """Theorems about the result of a step, given those of its rounding `x` before anything is flushed."""

    def __init__(
        self, z: IntegerSteps, rounded: Rounded, special: SpecialCases, x: MagnitudeRounding, normal: int
    ) -> None:
        self.z, self.d, self.g, self.x, self.normal = z, z.d, z.g, x, normal
        self.rounded, self.term, self.flags = rounded, special.result.term, flags_of(special)
        #: Whether the rounding itself flushes: then what it rounds is `x`, and its record is another.
        self.tiny = rounded is not x.r

    def result(
        self, own: Node, whole: Sequence[Node], clean: Sequence[int], fits: int, flushed: Fraction
    ) -> KeptResult:
        """The result, less than `flushed` away from the rounded number; `own` is that one's sign."""
        z, d, x, t = self.z, self.d, self.x, self.term
        sig = x.significand
        signs = self._signs((t.sign, sig), (own, sig), clean, [whole, self.flags, [own]])
        rounded = sign_of(own) * Poly.of(sig) * x.ulp
        value = sign_of(t.sign) * Poly.of(t.significand) * power(t.exponent, 1 - x.p)
        exponent = self._exponent()
        summand = self.summand(value, clean, fits)
        if t.significand is sig:
            if flushed:
                raise ProofError("a subnormal result is not 0")
            equal = d.arith([(x.ulp * -1, [signs])])
            ends = [d.arith([(-1, [equal])]), d.arith([(1, [equal])])]
            return KeptResult(z, value, summand, ends[0], ends[1], equal, None, exponent)
        kept = self.g.eq(t.significand, sig) if self.tiny else self.g.top(sig)
        yes, no = d.assume(kept), d.assume(self.g.not_(kept))
        same = self._kept(yes)
        least = Poly.constant(flushed)
        # rounded - value = 0
        equal = z.rewritten(rounded - value, [same, *exponent], [(x.ulp * -1, [signs])])
        first = [d.arith([(-1, [equal]), (least, [])]), d.arith([(1, [equal]), (least, [])])]
        known, size = self.none(no)
        weight = Poly.constant(x.code.low + 1 - x.p).power_of_two()
        big = d.arith([(weight, [size]), *([] if self.tiny else [(weight, [])])])
        twice = Poly.of(sig) * weight * 2
        more = Poly.of(own) * twice
        known = [known[0], *exponent, known[1]]
        second = [
            z.rewritten(
                least - (rounded - value), known, [(1, [big]), *([(more, [])] if more.terms else [])]
            ),
            z.rewritten(least + (rounded - value), known, [(1, [big]), *z.rest(own, twice)]),
        ]
        none = z.rewritten(value, known)
        ends = [d.cases(kept, i, j) for i, j in zip(first, second, strict=True)]
        return KeptResult(z, value, summand, ends[0], ends[1], equal, (kept, none), exponent)

    def _exponent(self) -> list[Equation]:
        """The exponents of the result and of the rounded number are one."""
        code, x = self.term.exponent.bits, self.x
        if code is x.code.bits:
            return []
        known = [*settled(self.d, x.r), x.fits]
        return [(self.d.equal("the exponent of a result", code, x.code.bits, known, (leading(x.r),)), code)]

    def summand(self, value: Poly, clean: Sequence[int], fits: int) -> SummedTerm:
        """The result as an operand of other steps."""
        z, d, g, x, t = self.z, self.d, self.g, self.x, self.term
        over, nothing = self.rounded.result.inf, d.arith([])
        if not self.tiny:
            ranges, inner = x.bounded(), (x.significand, x.code.bits, over, *self.flags)
            facts = (*clean, x.fits, self.normal, *ranges)
            return SummedTerm(value, t, nothing, 0, 0, tuple(ranges), facts, inner)
        known, cut = [*settled(d, x.r), x.fits, fits, self.normal], leading(x.r)
        goal = g.or_(g.top(t.significand), g.is_zero(t.exponent.bits))
        normal = d.lemma("that a flushed result is normal", goal, known, (cut,))
        ranges = in_range(z, "the range of a flushed result", t.exponent, known, cut)
        inner = (t.significand, t.exponent.bits, over, *self.flags)
        return SummedTerm(value, t, nothing, 0, 0, tuple(ranges), (*clean, fits, normal, *ranges), inner)

    def _kept(self, yes: int) -> Equation:
        """What is not flushed is the rounded significand."""
        t, x = self.term, self.x
        if self.tiny:
            fact = self.d.fact(yes)
            return fact, t.significand
        cut = ([x.significand, x.r.result.inf],)
        return self.d.equal(
            "what is not flushed", t.significand, x.significand, [yes, x.fits], cut
        ), t.significand

    def none(self, no: int) -> tuple[list[Equation], int]:
        """What is flushed is 0, its exponent the least one; and how large its significand was at most."""
        d, g, x, t = self.d, self.g, self.x, self.term
        sig, code, zero = x.significand, x.code.bits, g.const(0, x.significand.width)
        if self.tiny:
            given, cut, most = [no, *settled(d, x.r), x.fits], (leading(x.r),), 1 << (sig.width - 1)
        else:
            given, cut, most = (
                [no, x.fits, self.normal],
                ([sig, code, x.r.result.inf],),
                (1 << (sig.width - 1)) - 1,
            )
        same = d.equal("what is flushed", t.significand, zero, given, cut)
        small = d.fact(d.lemma("that a subnormal is small", g.is_zero(code), given, cut))
        below = g.ule(sig, g.const(most, sig.width))
        size = d.fact(d.lemma("that a subnormal is small", below, given, cut))
        return [(same, t.significand), (small, code)], size

    def _signs(
        self, one: tuple[Node, Node], other: tuple[Node, Node], given: Sequence[int],
        cuts: Sequence[Sequence[Node]],
    ) -> int:  # fmt: skip
        """±significand - ±significand = 0: the signs of a sum and of its result differ on zeros alone."""
        whole, flags, own = cuts
        size = one[1]
        made: list[list[Node]] = [[*whole, *flags], [size, *flags, *own], []]
        return self.z.signed("the sign of a result", one, other, given, made)
