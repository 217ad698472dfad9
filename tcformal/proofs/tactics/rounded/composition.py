"""The error bound of a whole dot product of rounded sums: each step on its own, then all errors added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.statements.rounded_bound import RoundedBound, StatedRounding
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.rounded import flags_of
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.inputs import Taken
from tcformal.proofs.tactics.rounded.integers import IntegerSteps, power
from tcformal.proofs.tactics.rounded.kept import ResultFlush, before_flush
from tcformal.proofs.tactics.rounded.operands import StepOperands
from tcformal.proofs.tactics.rounded.representable import RepresentableRounding
from tcformal.proofs.tactics.rounded.sums import PairSum, StickySum, SummedTerm
from tcformal.proofs.tactics.windows.fixed import FixedSum
from tcformal.proofs.tactics.windows.three import WindowSum
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import Dot, DotStep, Rounded


@dataclass(frozen=True, slots=True)
class StepError:
    """Theorems: lost ∓ (Σ operands - the result) >= 0."""

    taken: Taken
    above: int
    below: int


class RoundedProof:
    """The proof of one statement about one dot product."""

    def __init__(self, d: Derivation, stated: RoundedBound, dot: Dot) -> None:
        self.z, self.d, self.g, self.stated, self.dot = IntegerSteps(d), d, d.g, stated, dot
        self.floor = d.assume(stated.floor)
        self.operands, self.design = StepOperands(self.z, stated, dot), stated.unit.design

    def conclusions(self) -> list[int]:
        """Both theorems of the statement; ProofError with one sentence where a step is not found."""
        stated = self.stated
        steps = list(self.dot.steps)
        if len(steps) != len(stated.roundings):
            raise ProofError(f"{len(steps)} roundings are not the {len(stated.roundings)} of the statement")
        numbers = self.operands.numbers(steps)
        clean = self.operands.clean(steps, numbers)
        errors: list[StepError] = []
        for i, (step, rounding) in enumerate(zip(steps, stated.roundings, strict=True)):
            last = i == len(steps) - 1
            taken = self.operands.taken(step, numbers[i])
            errors.append(self._step(step, rounding, taken, clean[i], last))
            self.operands.made(i, errors[-1].taken)
        same = self.operands.result(errors[-1].taken)
        made = []
        for (_, goal), sign in zip(stated.conclusions, (-1, 1), strict=True):
            # d - Σ terms = -Σ (operands - result) of all steps.
            parts = [(1, [x.below if sign == -1 else x.above]) for x in errors]
            made.append(self.z.rewritten(goal, same.equations, [*parts, (sign, [same.equal])]))
        return made

    # ------------------------------------------------------------------ one step
    def _step(
        self, step: DotStep, stated: StatedRounding, taken: Sequence[Taken], clean: list[int], last: bool
    ) -> StepError:
        z, d, g = self.z, self.d, self.g
        if step.rounded is None or step.specials is None:
            raise ProofError("a step is not rounded")
        over = step.rounded.result.inf
        fits = d.lemma("that nothing overflows", g.not_(over), clean, ([over, *flags_of(step.specials)],))
        summands = [x.summand for x in taken]
        windows: WindowSum | None = None
        value = Poly.constant(0)
        for x in summands:
            value = value + x.value
        if step.total is None:
            (x,) = summands
            t = x.term
            own, whole = t.sign, [t.sign, t.significand, t.exponent.bits]
            lsb = t.exponent.shifted(-t.fraction_bits)
            plain, kept = before_flush(z, self.design, step.rounded, t.significand, lsb, fits)
            rounding = self._single(stated, plain, x, lsb, kept)
            bounds = [d.arith([(-1, [x.equation])]), d.arith([(1, [x.equation])])]
        else:
            if len(summands) > 2 and len(step.total.terms) == 2:
                summands = [FixedSum(z, summands[:-1]).summand(), summands[-1]]
            signs = [x.summand.term.sign for x in taken]
            exact: PairSum | WindowSum
            if len(summands) == 3:
                exact = windows = WindowSum(z, step.total, summands, stated.target.precision)
                sticky, bounds = None, []
            else:
                exact = pair = StickySum(z, step.total, summands).error()
                sticky, bounds = pair.sticky, list(pair.errors)
            own, whole = exact.summed.sign, [step.total.bits, step.total.e_max.bits, *signs]
            magnitude, lsb = exact.summed.magnitude, step.total.lsb
            plain, kept = before_flush(z, self.design, step.rounded, magnitude, lsb, fits)
            rounding = MagnitudeRounding(z, plain, magnitude, lsb, sticky, kept, exact.ranges)
        up, down = rounding.error()
        rounded = sign_of(own) * Poly.of(rounding.significand) * rounding.ulp
        loss = rounding.loss
        # loss ∓ (value - rounded) >= 0
        if windows is None:
            above = z.rewritten(loss - (value - rounded), [], [(1, [bounds[0]]), *z.mixed(own, up, down)])
            below = z.rewritten(loss + (value - rounded), [], [(1, [bounds[1]]), *z.mixed(own, down, up)])
        else:
            above, below = windows.rounded(rounding, (up, down))
        most = sum((x.most for x in taken), Fraction(0))
        less = d.arith([(1, [x.less]) for x in taken])
        more = d.arith([(1, [x.more]) for x in taken])
        normal = rounding.normal()
        cap, room = loss, Poly.constant(0)
        if stated.exact is None and not last:
            cap = self.operands.inputs.power(stated.grown + 1 - rounding.p) * stated.ulps
            room = cap
            smaller = self._grown(stated, rounding, normal, own, (above, below), (less, more), most)
            above, below = (d.arith([(1, [i]), (stated.ulps, [smaller])]) for i in (above, below))
        elif stated.exact:
            # The least ulp, where E is at least its exponent.
            least = d.power(self._least())
            room = self.operands.inputs.power(1 - rounding.p) * stated.ulps
            below_room = d.arith([(loss, [least])])
            less, more = (d.arith([(1, [i]), (1, [below_room])]) for i in (less, more))
        handed = ResultFlush(z, step.rounded, step.specials, rounding, normal)
        made = handed.result(own, whole, clean, fits, self.stated.flushed)
        result, flush = made.value, Poly.constant(self.stated.flushed)
        if last:
            cap = power(made.summand.term.exponent, 1 - rounding.p) * rounding.ulps
        total = [
            z.rewritten(cap + flush - (value - result) * sign, made.exponent, [(1, [i]), (1, [j])])
            for sign, i, j in ((1, above, made.above), (-1, below, made.below))
        ]
        if last:
            return StepError(Taken(made.summand, Fraction(0), 0, 0), total[0], total[1])
        # |result| <= |rounded| <= most · 2^E + cap
        size = self.operands.inputs.power(0) * most + room
        sizes = [d.arith([(1, [i]), (1, [j])]) for i, j in ((below, less), (above, more))]
        small = [made.small(size, i, sign) for i, sign in zip(sizes, (1, -1), strict=True)]
        if size.terms != (self.operands.inputs.power(0) * stated.size).terms:
            raise ProofError("a partial sum has another size than the statement says")
        return StepError(Taken(made.summand, stated.size, small[0], small[1]), total[0], total[1])

    def _single(
        self, stated: StatedRounding, rounded: Rounded, x: SummedTerm, lsb: Exponent, fits: int
    ) -> MagnitudeRounding:  # fmt: skip
        """The rounding of one product."""
        size = x.term.significand
        if stated.exact is None:
            return MagnitudeRounding(self.z, rounded, size, lsb, None, fits, x.ranges)
        made = RepresentableRounding(self.z, rounded, size, lsb, fits, x.ranges)
        if made.loss != Poly.constant(stated.exact):
            raise ProofError("a product loses something else than the statement says")
        return made

    def _least(self) -> int:
        """E - the least normal exponent of d >= 0."""
        e, least = self.stated.e, self.stated.least
        fact = self.d.fact(self.floor)
        return self.z.rewritten(Poly.of(e) - Poly.constant(least + OFFSET), [], [(1, [fact])])

    def _grown(
        self, stated: StatedRounding, x: MagnitudeRounding, normal: int, own: Node, errors: tuple[int, int],
        sizes: tuple[int, int], most: Fraction,
    ) -> int:  # fmt: skip
        """2^(E + grown) in ulps less the ulp of the result, whose exponent is no larger than that."""
        z, d, g = self.z, self.d, self.g
        e, code, top = self.stated.e, x.code, x.p - 1
        limit, one = z.total([e], stated.grown)
        mine, two = z.total([code.bits], code.low + OFFSET)
        above = g.ult(limit, mine)
        assumed = d.assume(above)
        equations = sorted([*one, *two], key=lambda y: -y[1].index)
        full = d.lemma(
            "that a result above E is normal", g.ule(g.const(1 << top, x.p), x.significand),
            [assumed, self.floor, normal], ([x.significand, code.bits],),
        )  # fmt: skip
        loss = x.ulp * x.ulps
        size = Poly.of(x.significand) * x.ulp
        parts = z.mixed(
            own, d.arith([(1, [errors[1]]), (1, [sizes[0]])]), d.arith([(1, [errors[0]]), (1, [sizes[1]])])
        )
        held = z.rewritten(self.operands.inputs.power(0) * most + loss - size, [], parts)
        over = Poly.of(code.bits) - Poly.of(e) + Poly.constant(code.low + OFFSET - stated.grown)
        ratio = d.power(z.rewritten(over - Poly.constant(1), equations, [(1, [d.fact(assumed)])]))
        scale = (Poly.constant(OFFSET) - Poly.of(e)).power_of_two()
        share = (1 - stated.ulps / 2**top) * 2 ** (stated.grown + 1)
        false = d.arith([(scale, [held]), (scale * x.ulp, [d.fact(full)]), (share, [ratio])])
        absent = d.refute(false, above)
        within = d.lemma("an exponent above E", g.ule(mine, limit), [absent], ([limit, mine],))
        less = d.power(z.rewritten(over * -1, equations, [(1, [d.fact(within)])]))
        return d.arith([(x.ulp, [less])])
