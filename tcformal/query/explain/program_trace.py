"""Explanation of a program's result: the value of every stage, and the trace of every call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tcformal.backends.concrete import Concrete
from tcformal.checks import shown
from tcformal.design.steps import CallStep, ConstantStep, InputStep, ProgramPlan, SliceStep, format_of
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.ir.node import Node
from tcformal.oracle.values import format_value
from tcformal.programs.dag import program_circuit
from tcformal.programs.program import Program, program_of
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Trace
from tcformal.semantics.chain import scale_count
from tcformal.shown import Shown, short
from tcformal.simulation.operands.given import word_of
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.runnable import RunnableProgram


@dataclass(frozen=True, slots=True)
class ProgramStage:
    """One step of a program on one input.

    Shapes: words: the encodings of its elements, one for a scalar.
    """

    name: str
    text: str
    fmt: Format
    words: tuple[int, ...]
    #: The unit's own stages, for a call.
    trace: Trace | None


@dataclass(frozen=True, slots=True)
class ProgramTrace(Shown):
    """Every stage of a program on one input, in order, and the encoding of d.

    Examples:
        >>> [stage.name for stage in tcformal.explain_program("fma-chain", [1.25, 3], [1, 2]).stages]
        ['0.d', '1.d']
    """

    program: Program
    witness: Witness
    stages: tuple[ProgramStage, ...]
    result: int

    def _summary(self) -> str:
        name, result = short(self.program.name), format_value(self.fmt, self.result)
        return f"ProgramTrace {name}, {len(self.stages)} stages: {result}"

    @property
    def fmt(self) -> Format:
        """The format of d."""
        return self.program.plan(len(self.witness.a)).fmt


def explain_program(
    program: str | Program | RunnableProgram,
    a: Sequence[int | float | str] | Witness,
    b: Sequence[int | float | str] = (),
    c: int | float | str = 0,
) -> ProgramTrace:
    """Explain one dot product of a program: the value of each stage and the trace of each call.

    Shapes: a, b: any number of values, as many of b as of a; c: one value; or all of them as a witness.
    Ranges and units: values as people write them, or numbers; each must be exactly a value of its format.
    Zero, NaN, Inf: any operand may be one.
    Errors: InputError for lists of unequal length or a value that its format cannot hold.
    Source: the program's own.

    Examples:
        >>> tcformal.explain_program("fma-chain", [1.25, 3], [1, 2])
        <ProgramTrace fma-chain, 2 stages: 7.25>
    """
    p = program_of(program.program if isinstance(program, RunnableProgram) else program)
    w = a if isinstance(a, Witness) else program_witness(p, a, b, c)
    plan = p.plan(len(w.a))
    run, named, slots = _evaluator(plan)
    values = run({name: x for name, x in w.inputs().items() if name in named})
    words = {i: tuple(values[slot]) for i, slot in slots.items()}
    stages = []
    for i, step in enumerate(plan.steps):
        if i not in words or isinstance(step, (InputStep, ConstantStep, SliceStep)):
            continue
        trace = None
        if isinstance(step, CallStep):
            k = -(-step.products // step.unit.k) * step.unit.k
            of_a, of_b = (words[x] + (0,) * (k - step.products) for x in (step.a, step.b))
            one = 0 if step.unit.scale_format is None else step.unit.scale_format.one
            scales = (words[x] + (one,) * (scale_count(step.unit, k) - len(words[x])) for x in step.scales)
            trace = explain_witness(step.unit, Witness(of_a, of_b, words[step.c][0], *scales))
        stages.append(ProgramStage(step.name, step.text, format_of(step), words[i], trace))
    return ProgramTrace(p, w, tuple(stages), words[plan.result][0])


@lru_cache(maxsize=16)
def _evaluator(plan: ProgramPlan) -> tuple[Concrete, frozenset[str], dict[int, slice]]:
    """An evaluator of all steps' encodings, its inputs, and each step's slice of its outputs."""
    g, made = program_circuit(plan)
    roots: list[Node] = []
    slots: dict[int, slice] = {}
    for i, step in enumerate(plan.steps):
        if step.fmt is not None:
            words = made.words(i)
            slots[i] = slice(len(roots), len(roots) + len(words))
            roots += words
    return Concrete(g, roots), frozenset(g.inputs), slots


def program_witness(
    p: Program, a: Sequence[int | float | str], b: Sequence[int | float | str], c: int | float | str
) -> Witness:
    """The raw encodings of a program's operands, from numbers or text."""
    rows = []
    for letter, values in (("a", a), ("b", b)):
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise InputError(f"expected a list of values for {letter}, but got {shown(values)}")
        rows.append(tuple(word_of(p.input_format(letter), x) for x in values))
    if len(rows[0]) != len(rows[1]) or not rows[0]:
        raise InputError(
            f"expected as many values of b as of a, at least 1, but got {len(rows[0])} and {len(rows[1])}"
        )
    return Witness(rows[0], rows[1], word_of(p.input_format("c"), c))
