"""The error bound of a whole dot product: block by block, each result the next one's c."""

from __future__ import annotations

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.poly import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.statements.error_bound import ErrorBound
from tcformal.proofs.tactics.bounds.aligned import Alignment, Summand, sign_of
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.rounded import Conversion, RoundingError
from tcformal.proofs.tactics.bounds.summed import Addition
from tcformal.semantics.stages import Block, Dot, DotStep


class BoundProof:
    """The proof of one statement about one dot product."""

    def __init__(self, d: Derivation, stated: ErrorBound, dot: Dot) -> None:
        self.d, self.g, self.stated, self.dot = d, d.g, stated, dot

    def conclusions(self) -> list[int]:
        """Both theorems of the statement; ProofError with one sentence where a step is not found."""
        d, stated = self.d, self.stated
        if len(self.dot.blocks) != 1 or len(self.dot.stages) != 1:
            raise ProofError("no tactic is written for sums of several blocks")
        floor = d.assume(stated.floor)
        block = self.dot.blocks[0]
        above, below, code = self._block(block, floor)
        del code
        made = []
        for i, (_, goal) in zip((above, below), stated.conclusions, strict=True):
            if d.about(i) != goal:
                raise ProofError("the bound of the last block is not that of the statement")
            made.append(i)
        return made

    def _summands(self, block: Block) -> list[Summand]:
        """The terms of a block's sum as the statement knows them."""
        (step,) = block.steps
        if step.total is None or len(step.operands) != len(step.total.terms):
            raise ProofError("the block's terms are not its operands")
        found = []
        for x, aligned in zip(step.operands, step.total.terms, strict=True):
            k = len(self.stated.terms) - 1 if x.kind == "c" else x.ks[0]
            t = self.stated.terms[k]
            limit = self.d.assume(self.stated.limits[k])
            found.append(Summand(t.value, t.factors, aligned.term, t.code, t.nonzero, limit))
        return found

    def _block(self, block: Block, floor: int) -> tuple[int, int, Node]:
        d, stated = self.d, self.stated
        (step,) = block.steps
        if step.total is None or step.rounded is None or step.specials is None or step.floor is not None:
            raise ProofError("the block is no fused sum")
        bound = stated.blocks[0]
        summands = self._summands(block)
        alignment = Alignment(d, step.total, summands, stated.e, floor)
        terms = [alignment.term(k) for k in range(len(summands))]
        most = alignment.bounded()
        summed = Addition(d, step.total, terms).value()
        conversion = Conversion(
            d,
            step.total,
            alignment.e_max,
            summed,
            step.rounded,
            step.specials,
            self._clean(step),
            alignment.in_range(),
        )
        rounding = conversion.error()
        packed, same = conversion.packed(stated.d)
        unit = alignment.unit
        exact = all(t.exact_at_zero for t in terms)
        parts: list[Part] = [(bound.units, [most])]
        if exact:
            parts.append((unit, [alignment.some_exact()]))
        else:
            shares = [(-Poly.of(t.shift)).power_of_two() for t in terms if t.exact_at_zero]
            parts += [(unit * x, []) for x in shares]
        sum_ = (unit, [summed.equation])
        goals = [p for _, p in stated.conclusions]
        shown = []
        for goal, mine, each, sign in (
            (goals[0], rounding.above, [t.above for t in terms], 1),
            (goals[1], rounding.below, [t.below for t in terms], -1),
        ):
            total = [
                *parts,
                (1, [mine]),
                *((1, [i]) for i in each),
                (-sign, [packed]),
                (unit * -sign, [summed.equation]),
            ]
            shown.append(d.prove(goal, [(same, conversion.code)], total))
        del sum_
        return shown[0], shown[1], conversion.code

    def _clean(self, step: DotStep) -> list[int]:
        """That a result is neither Inf nor NaN, because d is neither."""
        d, g, result = self.d, self.g, step.specials.result
        given = [d.assume(self.stated.d.finite)]
        cut = [result.term.sign, result.term.significand, result.term.exponent.bits, result.inf, result.nan]
        return [
            d.lemma("that a result of a finite d is finite", g.not_(x), given, (cut, []))
            for x in (result.inf, result.nan)
        ]
