"""What each step of a dot product takes in: its numbers, that they are finite, their values and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import Encoded, encoded
from tcformal.proofs.statements.rounded_bound import RoundedBound
from tcformal.proofs.tactics.rounded.inputs import StatedInputs, Taken, UnitInputs
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, power
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.number import Number
from tcformal.semantics.special import flush, positive_zero
from tcformal.semantics.stages import Dot, DotStep, Operand
from tcformal.semantics.unpack import unpack


@dataclass(frozen=True, slots=True)
class SameWord:
    """Theorem: the value of a word less that of a number = 0; its exponent as an equation."""

    equal: int
    equations: list[Equation]


class StepNumbers:
    """The numbers that every step of a dot product takes in, and that they are finite where d is.

    `word` is what the unit makes, c the word that it starts from.
    """

    def __init__(self, z: IntegerSteps, inputs: UnitInputs, dot: Dot, word: Encoded, c: Node) -> None:
        self.z, self.d, self.g, self.dot, self.word, self.first = z, z.d, z.g, dot, word, c
        self.design, self.unit, self.products = inputs.design, inputs.unit, inputs
        #: What the latest step of each name made: its place.
        self._latest: dict[Operand, int] = {}
        #: That the words which operands are unpacked from are finite, by the steps that made them.
        self._of_words: dict[int, list[int]] = {}
        #: The words that blocks would give, by their last steps.
        words = {id(x.steps[-1]): x.result for x in dot.blocks}
        self._packed = {i: words[id(x)] for i, x in enumerate(dot.steps) if id(x) in words}

    # ------------------------------------------------------------------ numbers
    def number_of(self, x: Operand, steps: Sequence[DotStep]) -> Number:
        """The number that an operand is, as the definition has it."""
        g, design = self.g, self.design
        if x in self._latest:
            special = steps[self._latest[x]].specials
            if special is None:
                raise ProofError("a step is not rounded")
            made = special.result
            if x.kind == "parts":
                return unpack(g, self._packed[self._latest[x]], self.unit.operands.d)
            return flush(g, made, design.c_subnormals) if x.kind == "block" else made
        if x.kind == "products" and len(x.ks) == 1:
            return self.products.number(x.ks[0])
        if x.kind == "c":
            return flush(g, unpack(g, self.first, self.unit.operands.c), design.c_subnormals)
        if x.kind == "zero" and self.unit.emulation is not None:
            fmt = self.unit.operands.d
            return flush(g, unpack(g, g.const(0, fmt.width), fmt), design.c_subnormals)
        if x.kind == "zero":
            return positive_zero(g, design.step.fraction_bits, design.step.e_min)
        raise ProofError(f"no tactic is written for the operand {x.kind}")

    def numbers(self, steps: Sequence[DotStep]) -> list[list[tuple[Number, int | None]]]:
        """The operands of every step, and which step made them."""
        found = []
        for i, step in enumerate(steps):
            found.append([(self.number_of(x, steps), self._latest.get(x)) for x in step.operands])
            self._latest[step.made] = i
        self._latest = {}
        return found

    def clean(
        self, steps: Sequence[DotStep], numbers: Sequence[Sequence[tuple[Number, int | None]]]
    ) -> dict[int, list[int]]:
        """That every result is neither Inf nor NaN, because d is neither: from the last to the first."""
        d, g = self.d, self.g
        made: dict[int, list[int]] = {}
        last = len(steps) - 1
        for i in reversed(range(len(steps))):
            special = steps[i].specials
            if special is None:
                raise ProofError("a step is not rounded")
            x = special.result
            what = "that a result of a finite d is finite"
            if i == last:
                cut = [x.term.sign, x.term.significand, x.term.exponent.bits, x.inf, x.nan]
                given = [d.assume(self.word.finite)]
                made[i] = [d.lemma(what, g.not_(f), given, (cut,)) for f in (x.inf, x.nan)]
            if i not in made:
                raise ProofError("a result goes nowhere")
            over = [] if (r := steps[i].rounded) is None else [r.result.inf]
            flags = [f for y, _ in numbers[i] for f in (y.inf, y.nan, y.term.sign)]
            for y, j in numbers[i]:
                if j is not None:
                    goals = [g.not_(f) for f in (y.inf, y.nan)]
                    made[j] = [d.lemma(what, goal, made[i], ([*flags, *over],)) for goal in goals]
                    self._clean(made, j, steps[j], y)
        return made

    def _clean(self, made: dict[int, list[int]], j: int, step: DotStep, y: Number) -> None:
        """The same of a number that was packed, from that of the word."""
        special = step.specials
        if special is None or y.inf is special.result.inf:
            return
        x = special.result
        self._of_words[j] = made[j]
        cut = [x.term.sign, x.term.significand, x.term.exponent.bits, x.inf, x.nan]
        what = "that a packed number is finite"
        made[j] = [self.d.lemma(what, self.g.not_(f), made[j], (cut,)) for f in (x.inf, x.nan)]

    def packed(self, word: Encoded, x: SummedTerm, finite: int) -> SameWord:
        """Where a word is finite, it has the value of the number that it was packed from."""
        z, d, g, t = self.z, self.d, self.g, x.term
        given = [finite, *x.facts]
        cut = [t.sign, *x.inner]
        size = g.shift_left_const(t.significand, word.significand.width - t.significand.width)
        equations = []
        for what, one, other in (("sign", word.sign, t.sign), ("significand", word.significand, size)):
            equations.append((d.equal(f"the {what} of a word", one, other, given, (cut,)), one))
        bias = word.fmt.bias
        code = z.linear(
            "the exponent of a word",
            [word.exponent],
            [t.exponent.bits],
            -bias - t.exponent.low,
            given,
            (cut,),
        )
        extra = [(d.read(size), size)] if size is not t.significand else []
        equal = z.rewritten(word.value - x.value, [*equations, *extra, (code, word.exponent)])
        return SameWord(equal, [(code, word.exponent)])


class StepOperands(StepNumbers):
    """The operands of every step, in terms of the statement."""

    def __init__(self, z: IntegerSteps, stated: RoundedBound, dot: Dot) -> None:
        self.inputs = StatedInputs(z, stated)
        super().__init__(z, self.inputs, dot, stated.d, z.g.inputs["c"])
        self._taken: dict[int, Taken] = {}

    # ------------------------------------------------------------------ operands
    def taken(self, step: DotStep, numbers: Sequence[tuple[Number, int | None]]) -> list[Taken]:
        """What is known of the operands of a step."""
        made = []
        for x, (number, source) in zip(step.operands, numbers, strict=True):
            if source is not None:
                made.append(self._carried(number, source))
            elif x.kind == "products":
                made.append(self.inputs.product(x.ks[0], number))
            elif x.kind == "c":
                made.append(self.inputs.c(number))
            else:
                nothing = self.d.arith([])
                zero = self.inputs.summand(
                    number, SummedTerm(Poly.constant(0), number.term, nothing, 0, 0, ())
                )
                made.append(Taken(zero, Fraction(0), nothing, nothing))
        return made

    def made(self, i: int, taken: Taken) -> None:
        """Remember what a step made."""
        self._taken[i] = taken

    def _carried(self, number: Number, source: int) -> Taken:
        """The result of a step as an operand of another."""
        taken = self._taken[source]
        x = taken.summand
        if source in self._of_words:
            word = encoded(self.g, self._packed[source], self.unit.operands.d)
            finite = self.d.lemma(
                "that a word is finite", word.finite, self._of_words[source], ([self._packed[source]],)
            )
            same = self.packed(word, x, finite)
            x = replace(
                x,
                equation=self.d.arith([(-1, [same.equal])]),
                ranges=(),
                facts=(),
                inner=(self._packed[source],),
            )
            return replace(taken, summand=self.inputs.summand(number, x))
        if number.term is not x.term:
            # Flushed once more: nothing is left to flush.
            signs = self.z.signed(
                "a number flushed twice", (x.term.sign, x.term.significand),
                (number.term.sign, number.term.significand), x.facts, ([x.term.sign, *x.inner],),
            )  # fmt: skip
            weight = power(x.term.exponent, -x.term.fraction_bits)
            x = replace(x, equation=self.d.arith([(weight, [signs])]))
        return replace(taken, summand=self.inputs.summand(number, x))

    # ------------------------------------------------------------------ d
    def result(self, taken: Taken) -> SameWord:
        """That d is the last result."""
        return self.packed(self.word, taken.summand, self.d.assume(self.word.finite))
