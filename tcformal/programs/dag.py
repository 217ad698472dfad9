"""A program as one DAG: every step on its operands' nodes, calls of units included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tcformal.design import steps
from tcformal.design.arithmetic import NVIDIA_NAN, fma_chain
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.chain import OperandNodes, chained_dot, scale_count
from tcformal.semantics.dot_product import unit_dot
from tcformal.semantics.headroom import headroom, largest_magnitude
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.pack import pack, saturated
from tcformal.semantics.product import product
from tcformal.semantics.sums.quotient import quotient
from tcformal.semantics.sums.step import convert_number, fused_sum
from tcformal.semantics.unpack import unpack

#: Scalar operations: one IEEE operation rounded once, as an FFMA or FADD of a GPU.
SCALAR = fma_chain(fmt="fp32", nan_word=NVIDIA_NAN["fp32"])


class Held:
    """A value in a graph, as an encoding, as a number, or both, converted on demand."""

    def __init__(
        self, g: Graph, fmt: Format, *, word: Node | None = None, number: Number | None = None
    ) -> None:
        self._g, self.fmt, self._word, self._number = g, fmt, word, number

    @property
    def word(self) -> Node:
        """The node of the encoding, packed on demand."""
        if self._word is None:
            if self._number is None:
                raise InputError("expected a value with a number or an encoding, but got neither")
            nan = self._g.const(steps.nan_word_of(self.fmt), self.fmt.width)
            self._word = pack(self._g, self._number, self.fmt, nan)
        return self._word

    @property
    def number(self) -> Number:
        """The unpacked number, on demand."""
        if self._number is None:
            self._number = unpack(self._g, self.word, self.fmt)
        return self._number


@dataclass(frozen=True, slots=True)
class ProgramDag:
    """A program's DAG with the values of all its steps.

    Shapes: values: for each step its elements, one for a scalar, none for an exponent.
    """

    plan: steps.ProgramPlan
    values: tuple[tuple[Held, ...], ...]

    @property
    def result(self) -> Node:
        """The node of d's encoding."""
        return self.values[self.plan.result][0].word

    def words(self, step: int) -> list[Node]:
        """The nodes of the encodings of a step's elements."""
        return [x.word for x in self.values[step]]


def declared(g: Graph, plan: steps.ProgramPlan) -> dict[str, list[Node]]:
    """Declare a program's inputs in a graph: a[0], b[0], …, c."""
    nodes: dict[str, list[Node]] = {}
    for letter in "ab":
        width = plan.input_format(letter).width
        nodes[letter] = [g.input(f"{letter}[{i}]", width) for i in range(plan.products)]
    nodes["c"] = [g.input("c", plan.input_format("c").width)]
    return nodes


def program_dag(
    g: Graph, plan: steps.ProgramPlan, given: Mapping[str, Sequence[Node]], scope: str = "program"
) -> ProgramDag:
    """Build the steps of a program on given encodings.

    Shapes: given: a and b with as many encodings as the plan has products, c with one; labels lie below
    `scope`.
    Zero, NaN, Inf: as the units' designs and IEEE 754 say.
    Errors: InputError for operands that do not fit.
    """
    for step in plan.steps:
        if isinstance(step, steps.InputStep) and len(given[step.letter]) != (step.length or 1):
            raise InputError(
                f"expected {step.length or 1} encodings of {step.letter}, but got {len(given[step.letter])}"
            )
    circuit = _Circuit(g, given)
    with g.scope(scope):
        for step in plan.steps:
            with g.scope(step.name):
                circuit.add(step)
    return ProgramDag(plan, tuple(tuple(x) for x in circuit.values))


class _Circuit:
    """A program's DAG under construction: the values of the steps so far."""

    def __init__(self, g: Graph, given: Mapping[str, Sequence[Node]]) -> None:
        self.g, self.given = g, given
        self.values: list[list[Held]] = []
        self.exponents: dict[int, Exponent] = {}

    def add(self, step: steps.PlanStep) -> None:
        """Build the nodes of the next step."""
        g, values = self.g, self.values
        made: list[Held] = []
        if isinstance(step, steps.InputStep):
            made = [Held(g, steps.format_of(step), word=x) for x in self.given[step.letter]]
        elif isinstance(step, steps.ConstantStep):
            fmt = steps.format_of(step)
            made = [Held(g, fmt, word=g.const(step.word, fmt.width))]
        elif isinstance(step, steps.SliceStep):
            fmt, count = steps.format_of(step), step.length or 1
            made = list(values[step.source][step.start : step.start + count])
            made += [Held(g, fmt, word=g.const(0, fmt.width))] * (count - len(made))
        elif isinstance(step, steps.JoinStep):
            made = [values[i][0] for i in step.items]
        elif isinstance(step, steps.RoundStep | steps.QuotientStep):
            for i in range(step.length or 1):
                with g.scope("value" if step.length is None else str(i)):
                    made.append(self._rounded(step, i))
        elif isinstance(step, steps.MagnitudeStep):
            words, fmt = [x.word for x in values[step.source]], steps.format_of(step)
            made = [Held(g, fmt, word=largest_magnitude(g, words, fmt, step.least))]
        elif isinstance(step, steps.CallStep):
            made = [self._called(step)]
        elif isinstance(step, steps.HeadroomStep):
            source = values[step.source]
            numbers, fmt = [x.number for x in source], source[0].fmt
            self.exponents[len(values)] = headroom(g, numbers, fmt, step.limit)
        else:
            raise InputError(f"expected a step of a program, but got {step!r}")
        values.append(made)

    def _rounded(self, step: steps.RoundStep | steps.QuotientStep, i: int) -> Held:
        if isinstance(step, steps.QuotientStep):
            return self._divided(step, i)
        g, target = self.g, steps.conversion_into(step.mode, step.target)
        # What is scaled is unpacked first: kept questions number their nodes in this order.
        order = sorted(range(len(step.addends)), key=lambda n: not step.addends[n].shift)
        made = {n: self._addend(step.addends[n], i) for n in order}
        numbers = [made[n] for n in range(len(made))]
        if len(numbers) == 1:
            rounded = convert_number(g, numbers[0], SCALAR, target).result
        else:
            rounded = fused_sum(g, numbers, SCALAR, target).result
        if step.saturates:
            rounded = saturated(g, rounded, step.target)
        return Held(g, step.target, number=rounded)

    def _addend(self, x: steps.ScaledProduct, i: int) -> Number:
        g = self.g
        factors = [self._element(source, i) for source in x.factors]
        number = factors[0] if len(factors) == 1 else product(g, *factors)
        term = number.term
        exponent = term.exponent
        for source, sign in x.exponents:
            power = self.exponents[source]
            exponent = exponent.plus(g, power if sign > 0 else power.negated(g))
        if x.shift:
            exponent = exponent.shifted(x.shift)
        sign_bit = g.not_(term.sign) if x.negative else term.sign
        return replace(number, term=replace(term, sign=sign_bit, exponent=exponent))

    def _element(self, source: int, i: int) -> Number:
        """Element i of a vector; a scalar is broadcast."""
        elements = self.values[source]
        return elements[i if len(elements) > 1 else 0].number

    def _divided(self, step: steps.QuotientStep, i: int) -> Held:
        fmt = steps.format_of(step)
        x, y = self._element(step.dividend, i), self._element(step.divisor, i)
        ratio = quotient(self.g, x, y, SCALAR, steps.conversion_into(step.mode, fmt))
        ratio = saturated(self.g, ratio, fmt) if fmt.specials is not Specials.IEEE else ratio
        return Held(self.g, fmt, number=ratio)

    def _called(self, step: steps.CallStep) -> Held:
        g, spec = self.g, step.unit
        a, b = ([x.word for x in self.values[source]] for source in (step.a, step.b))
        c, d, rest = self.values[step.c][0].word, spec.operands.d, -len(a) % spec.k
        a += [g.const(0, spec.operands.a.width)] * rest
        b += [g.const(0, spec.operands.b.width)] * rest
        of_a, of_b = [[x.word for x in self.values[source]] for source in step.scales] or ([], [])
        if spec.scale_format is not None:
            one = g.const(spec.scale_format.one, spec.scale_format.width)
            of_a, of_b = (x + [one] * (scale_count(spec, len(a)) - len(x)) for x in (of_a, of_b))
        if len(a) == spec.k:
            return Held(g, d, word=unit_dot(g, spec, a, b, c, of_a, of_b).result)
        return Held(g, d, word=chained_dot(g, spec, OperandNodes(a, b, c, of_a, of_b)).result)


def program_circuit(plan: steps.ProgramPlan) -> tuple[Graph, ProgramDag]:
    """A program's DAG in a new graph."""
    g = Graph()
    return g, program_dag(g, plan, declared(g, plan))
