"""Programs evaluated on arrays: step by step, in bands of rows, with neighbouring accumulators fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from tcformal.backends import machine
from tcformal.backends.lanes import WORD
from tcformal.checks import check_int
from tcformal.design.steps import (
    CallStep,
    ConstantStep,
    HeadroomStep,
    InputStep,
    JoinStep,
    MagnitudeStep,
    PlanStep,
    ProgramPlan,
    QuotientStep,
    RoundStep,
    ScaledProduct,
    SliceStep,
    format_of,
)
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.programs.dag import program_dag
from tcformal.semantics.headroom import headroom, largest_magnitude
from tcformal.semantics.unpack import unpack
from tcformal.simulation import compiled
from tcformal.simulation.arrays import filled, scales_of_call
from tcformal.simulation.kernels.elements import Elements
from tcformal.simulation.kernels.gemm import FEW, Gemm, MatrixWords, Prepared
from tcformal.simulation.kernels.rules import LoweringRules
from tcformal.simulation.kernels.source import Promotion
from tcformal.simulation.kernels.threads import Work
from tcformal.simulation.lowering.ieee import add_rounded
from tcformal.simulation.matrix_unit import PreparedOperand, Unit
from tcformal.simulation.operands.batch import Raw


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a program runs: `threads`, `progress` and `device` as for `Unit.matmul`; `prepared`: B decoded."""

    threads: int | None = None
    progress: bool | None = None
    device: str | None = None
    prepared: PreparedOperand | None = None


# -------------------------------------- Data flow: needed steps, the axes that each depends on, and last uses
def needed_by(plan: ProgramPlan) -> set[int]:
    """The indices of the steps that the result depends on."""
    needed, stack = set(), [plan.result]
    while stack:
        i = stack.pop()
        if i not in needed:
            needed.add(i)
            stack += plan.steps[i].sources
    return needed


def last_uses(plan: ProgramPlan, steps: set[int]) -> dict[int, list[int]]:
    """The values that are dead after each step, restricted to values that only `steps` use."""
    last: dict[int, int] = {}
    elsewhere = {plan.result}
    for i in sorted(needed_by(plan)):
        for source in plan.steps[i].sources:
            last[source] = i
            if i not in steps:
                elsewhere.add(source)
    done: dict[int, list[int]] = {}
    for source, i in last.items():
        if source not in elsewhere:
            done.setdefault(i, []).append(source)
    return done


def axes_of(plan: ProgramPlan, given: Mapping[str, Raw]) -> list[set[int]]:
    """For each step the axes on which its values depend: rows (0), columns (1)."""
    axes: list[set[int]] = []
    for s in plan.steps:
        own = {axis for axis in (0, 1) if isinstance(s, InputStep) and given[s.letter].shape[axis] > 1}
        axes.append(own.union(*(axes[i] for i in s.sources)))
    return axes


# --------------------------------- Fused accumulators: neighbouring ones that one kernel computes and adds up
#: Rounded steps by which one accumulator joins the sum at most: a longer run is not looked through, or a
#: program of many rounded steps and no accumulators would be looked through again from each of them.
LONGEST_JOIN = 8


@dataclass(frozen=True, slots=True)
class Accumulators:
    """A run of accumulators over neighbouring k, each started from zero and added by one rule.

    Shapes: k from `start` to `stop`, `products` in each accumulator but the last one; `joins` takes `total`,
    `full` and one scalar for each factor, `factors[i][j]` the step with factor i of accumulator j.
    """

    unit: UnitSpec
    start: int
    stop: int
    products: int
    #: Letters of the inputs, the step with the sum before (None: zero), and the step with the last sum.
    a: str
    b: str
    total: int | None
    result: int
    joins: ProgramPlan
    factors: tuple[tuple[int, ...], ...]
    #: The steps that are nobody else's: they are not computed one by one.
    inside: frozenset[int]


@lru_cache(maxsize=256)
def accumulators(plan: ProgramPlan) -> tuple[Accumulators, ...]:
    """The maximal runs of at least two accumulators that one kernel can compute."""
    if not any(isinstance(step, CallStep) for step in plan.steps):
        return ()
    users: dict[int, set[int]] = {}  # the steps that use each step's value
    for i in needed_by(plan):
        for source in plan.steps[i].sources:
            users.setdefault(source, set()).add(i)
    runs: list[Accumulators] = []
    for i in sorted(needed_by(plan)):
        made = _joined(plan, i, users, {x.result for x in runs})
        if made is None:
            continue
        before = runs[-1] if runs else None
        if before is not None and _follows(before, made, users):
            runs[-1] = replace(
                before, stop=made.stop, result=i, inside=before.inside | made.inside | {before.result},
                factors=tuple((*x, *y) for x, y in zip(before.factors, made.factors, strict=True)),
            )  # fmt: skip
        else:
            runs.append(made)
    return tuple(x for x in runs if x.stop - x.start > x.products)


def _follows(before: Accumulators, x: Accumulators, users: Mapping[int, set[int]]) -> bool:
    """Whether an accumulator continues a run whose last sum has no other user."""
    same = (before.unit, before.a, before.b, before.joins) == (x.unit, x.a, x.b, x.joins)
    full = (before.stop - before.start) % before.products == 0
    own = users[before.result] <= {*x.inside, x.result}
    fits = x.total == before.result and x.start == before.stop and x.products <= before.products
    return same and full and own and fits


def _joined(
    plan: ProgramPlan, last: int, users: Mapping[int, set[int]], sums: set[int]
) -> Accumulators | None:
    """The accumulator that a rounded sum adds to the previous sum; None for any other step."""
    steps = plan.steps
    calls: list[int] = []
    totals: list[int] = []
    scalars: list[int] = []
    rounded: list[int] = []
    stack, seen = [last], set[int]()
    while stack:
        i = stack.pop()
        if i in seen:
            continue
        seen.add(i)
        step = steps[i]
        if isinstance(step, RoundStep) and i not in sums:
            if step.length is not None or step.saturates or any(x.exponents for x in step.addends):
                return None
            rounded.append(i)
            stack += step.sources
        elif isinstance(step, CallStep):
            calls.append(i)
        elif isinstance(step, ConstantStep) or i in sums:
            totals.append(i)
        elif step.length is None:
            scalars.append(i)
        else:
            return None
        if len(calls) > 2 or len(totals) > 1 or len(rounded) > LONGEST_JOIN:
            return None
    if len(calls) == 2 and not totals:
        totals = [calls.pop(calls.index(min(calls)))]
    if len(calls) != 1 or len(totals) != 1:
        return None
    (call,), (total,) = calls, totals
    inside = frozenset({call, *rounded} - {last})
    run = _run(plan, call)
    if run is None or any(not users[i] <= {*inside, last} for i in inside):
        return None
    zero = isinstance(steps[total], ConstantStep)
    if zero and steps[total].word != 0:  # type: ignore[attr-defined]
        return None
    unit, start, stop, a, b = run
    joins = _joining(plan, (total, call), scalars, sorted(rounded))
    wide = unit.d_format
    if joins.fmt != wide or format_of(joins.steps[0]) != wide:
        return None
    if any(format_of(steps[i]).storage_bits > WORD for i in scalars):
        return None
    return Accumulators(
        unit=unit, start=start, stop=stop, products=stop - start, a=a, b=b, total=None if zero else total,
        result=last, joins=joins, factors=tuple((i,) for i in scalars), inside=inside,
    )  # fmt: skip


def _run(plan: ProgramPlan, call: int) -> tuple[UnitSpec, int, int, str, str] | None:
    """The unit, k range and inputs of a call that starts from zero; None for any other call."""
    step = plan.steps[call]
    if not isinstance(step, CallStep):
        return None
    c, a, b = (plan.steps[i] for i in (step.c, step.a, step.b))
    unit = step.unit
    whole = unit.c_format == unit.d_format and unit.scale_format is None
    if not isinstance(c, ConstantStep) or c.word or not whole:
        return None
    if not isinstance(a, SliceStep) or not isinstance(b, SliceStep):
        return None
    from_a, from_b = plan.steps[a.source], plan.steps[b.source]
    if not isinstance(from_a, InputStep) or not isinstance(from_b, InputStep):
        return None
    length = a.length or 1
    alike = (a.start, a.length) == (b.start, b.length)
    if not alike or a.start + length > min(from_a.length or 1, from_b.length or 1):
        return None
    return unit, a.start, a.start + length, from_a.letter, from_b.letter


def _joining(
    plan: ProgramPlan, two: Sequence[int], scalars: Sequence[int], rounded: Sequence[int]
) -> ProgramPlan:
    """The rounding steps of an accumulation as a separate program from the old sum to the new one."""
    names = ("total", "full", *(f"x{i}" for i in range(len(scalars))))
    place: dict[int, int] = {}
    steps: list[PlanStep] = []
    for name, i in zip(names, (*two, *scalars), strict=True):
        place[i] = len(steps)
        steps.append(InputStep(fmt=format_of(plan.steps[i]), length=None, name=name, letter=name))
    for i in rounded:
        step = plan.steps[i]
        assert isinstance(step, RoundStep)
        place[i] = len(steps)
        addends = tuple(replace(x, factors=tuple(place[j] for j in x.factors)) for x in step.addends)
        steps.append(replace(step, name=f"s{len(steps)}", addends=addends))
    return ProgramPlan(tuple(steps), len(steps) - 1, 0)


# ------------------------------------------------------------------- Single steps as element-wise definitions
def _names(count: int) -> tuple[str, ...]:
    return ("c", *(f"a[{i}]" for i in range(count - 1)))


def _alone(formats: Sequence[Format], last: RoundStep | QuotientStep) -> Elements:
    """An element-wise definition of one step on inputs of these formats."""
    names = _names(len(formats))
    inputs: list[PlanStep] = [
        InputStep(fmt=f, length=None, name=name, letter=name) for f, name in zip(formats, names, strict=True)
    ]
    g = Graph()
    given = {name: [g.input(name, f.width)] for f, name in zip(formats, names, strict=True)}
    made = program_dag(g, ProgramPlan((*inputs, last), len(inputs), 0), given)
    storage = tuple(f.storage_bits for f in formats)
    return Elements(g, made.result, names, storage, format_of(last).storage_bits)


@lru_cache(maxsize=256)
def operation(
    formats: tuple[Format, ...], addends: tuple[ScaledProduct, ...], fmt: Format, mode: str, saturate: bool
) -> Elements:
    """An element-wise rounded sum of products."""
    last = RoundStep(fmt=fmt, length=None, name="d", addends=addends, mode=mode, saturate=saturate)
    elements = _alone(formats, last)
    if not last.saturates:
        ways = LoweringRules()
        operands = [(elements.graph.inputs[name], f) for f, name in zip(formats, elements.names, strict=True)]
        add_rounded(elements.root, operands, addends, fmt, mode, ways)
        elements.rules = ways.by_index
    return elements


@lru_cache(maxsize=64)
def quotient(formats: tuple[Format, Format], fmt: Format, mode: str) -> Elements:
    """An element-wise rounded quotient."""
    last = QuotientStep(fmt=fmt, length=None, name="d", dividend=0, divisor=1, mode=mode)
    return _alone(formats, last)


@lru_cache(maxsize=64)
def larger_magnitude(fmt: Format, least: int) -> Elements:
    """An element-wise maximum of two magnitudes."""
    g = Graph()
    words = [g.input(name, fmt.width) for name in _names(2)]
    root = largest_magnitude(g, words, fmt, least)
    return Elements(g, root, _names(2), (fmt.storage_bits,) * 2, fmt.storage_bits)


@lru_cache(maxsize=64)
def headroom_operation(fmt: Format, limit: Any) -> tuple[Elements, int]:
    """An element-wise headroom of one number, with its least value."""
    g = Graph()
    e = headroom(g, [unpack(g, g.input("c", fmt.width), fmt)], fmt, limit)
    return Elements(g, e.bits, ("c",), (fmt.storage_bits,), WORD), e.low


# -------------------------------------------------------------------------------------------- Values of steps
#: Products of an accumulator whose decoded operands a core keeps in its fastest cache.
_LONGEST = 512


def sides_of(x: Accumulators, axes: Sequence[set[int]]) -> tuple[str, ...] | None:
    """For each factor the side whose rows or columns it scales; None for a factor of both.

    Shapes: axes: of each step of the plan the axes of the result that its value depends on.
    """
    sides = []
    for steps in x.factors:
        along = set[int]().union(*(axes[i] for i in steps))
        if len(along) > 1:
            return None
        sides.append("b" if 1 in along else "a")
    return tuple(sides)


def promoted_words(
    x: Accumulators, sides: tuple[str, ...], given: Mapping[str, Raw], known: Mapping[int, Raw],
    options: RunOptions,
) -> Raw:  # fmt: skip
    """The final sum of a run of accumulators: encodings [rows, columns, 1].

    Shapes: given: by letter [rows, 1, K] and [1, columns, K]; known: the values of the factors' steps and of
    the sum before.
    """
    unit, steps = x.unit, -(-x.products // x.unit.k)
    a, b = given[x.a][:, 0, x.start : x.stop], given[x.b][0, :, x.start : x.stop].T
    (m, _), n = a.shape, b.shape[1]
    a, b = _stored(a, unit.a_format), _stored(b, unit.b_format)
    total = None if x.total is None else np.broadcast_to(known[x.total][:, :, 0], (m, n))
    factors = {f"x{i}": [known[j].reshape(-1) for j in which] for i, which in enumerate(x.factors)}
    side = compiled.broadcast_side(m, n)
    gemm = promoted_gemm(unit, side, x.joins, sides, steps)
    prepared, kept = None, options.prepared
    if kept is not None and kept.spec == unit and x.b == "b" and x.stop <= kept.shape[0] and side == "a":
        prepared = kept.part(x.start, x.stop, gemm)
    with Work(options.threads, options.progress) as work:
        words = MatrixWords(a, b, total, prepared=prepared, factors=factors)
        return gemm.multiply(words, work)[:, :, None]


def takes(x: Accumulators, m: int, n: int) -> bool:
    """Whether a fused kernel pays: whole calls, enough rows, and few calls per accumulator."""
    whole = x.products % x.unit.k == 0 and x.products <= _LONGEST
    return machine.available() and whole and min(m, n) > FEW and compiled.large(m * n * (x.stop - x.start))


@lru_cache(maxsize=64)
def promoted_gemm(
    unit: UnitSpec, broadcast_side: str, joins: ProgramPlan, sides: tuple[str, ...], calls: int
) -> Gemm:
    """The fused kernels of a unit with two-level accumulation.

    Shapes: sides: of each factor that `joins` takes, `a` or `b`; an accumulator is full after `calls`.
    """
    return Gemm(compiled.dot_call(unit), broadcast_side, _promotion(joins, sides, calls))


def _promotion(joins: ProgramPlan, sides: tuple[str, ...], calls: int) -> Promotion:
    g, ways = Graph(), LoweringRules()
    inputs = [step for step in joins.steps if isinstance(step, InputStep)]
    dag = program_dag(g, joins, {x.letter: [g.input(x.letter, format_of(x).width)] for x in inputs})
    for i in joins.rounded():
        step = joins.steps[i]
        assert isinstance(step, RoundStep)
        order = tuple(dict.fromkeys(step.sources))
        operands = [(dag.words(j)[0], format_of(joins.steps[j])) for j in order]
        addends = tuple(replace(x, factors=tuple(order.index(j) for j in x.factors)) for x in step.addends)
        add_rounded(dag.words(i)[0], operands, addends, step.target, step.mode, ways)
    names = [x.letter for x in inputs[2:]]
    factors = {side: tuple(n for n, s in zip(names, sides, strict=True) if s == side) for side in "ab"}
    return Promotion(g, dag.result, calls, factors, ways.by_index)


@dataclass(frozen=True, slots=True)
class ScaledSum:
    """A rounded sum of scaled products with its operands, ready for an element-wise operation.

    Shapes: `addends` take the arrays `operands` of encodings of `formats`; their powers of two are known.
    """

    formats: tuple[Format, ...]
    addends: tuple[ScaledProduct, ...]
    operands: list[Raw]


def with_factors(
    step: RoundStep, order: Sequence[int], formats: tuple[Format, ...], known: Mapping[int, Raw]
) -> ScaledSum | None:
    """The sum with each data-dependent power of two turned into a factor.

    Shapes: order: the steps whose values the addends are made of, with their `formats` and their arrays in
    `known`, where the exponents of two are too.
    None where an addend has two factors already, or a power is no normal number of binary32, or of binary64
    for its values.
    """
    made, operands, more = [], [known[i] for i in order], list(formats)
    for x in step.addends:
        factors = tuple(order.index(i) for i in x.factors)
        if not x.exponents:
            made.append(ScaledProduct(factors, x.negative, x.shift))
            continue
        fmt = FORMATS["fp64" if formats[factors[0]].storage_bits == 64 else "fp32"]
        if len(factors) > 1:
            return None
        ends = [sorted(sign * int(e) for e in (known[i].min(), known[i].max())) for i, sign in x.exponents]
        if (
            x.shift + sum(low for low, _ in ends) < fmt.e_min
            or x.shift + sum(high for _, high in ends) > fmt.e_max
        ):
            return None
        operands.append(_power(x, fmt, known))
        more.append(fmt)
        made.append(ScaledProduct((*factors, len(more) - 1), x.negative))
    return ScaledSum(tuple(more), tuple(made), operands)


def by_kind(
    step: RoundStep, order: Sequence[int], formats: tuple[Format, ...], known: Mapping[int, Raw],
    shape: tuple[int, ...],
) -> list[tuple[Any, ScaledSum]]:  # fmt: skip
    """The sums split by the combinations of powers of two that occur, with their elements' places.

    Shapes: places index arrays of `shape` flattened; the operands are those elements.
    """
    totals = [_flat(_total(x, known), shape) for x in step.addends]
    key = np.zeros(totals[0].shape, np.int64)
    for t in totals:
        _, codes = np.unique(t, return_inverse=True)
        # Codes are renumbered after each addend, so that they never outgrow an integer.
        _, key = np.unique(key * (int(codes.max()) + 1) + codes.reshape(-1), return_inverse=True)
    found = []
    for kind in range(int(key.max()) + 1):
        places = np.flatnonzero(key.reshape(-1) == kind)
        addends = tuple(
            replace(
                x, factors=tuple(order.index(i) for i in x.factors), shift=int(t[places[0]]), exponents=()
            )
            for x, t in zip(step.addends, totals, strict=True)
        )
        some = [_flat(known[i], shape)[places] for i in order]
        found.append((places, ScaledSum(formats, addends, some)))
    return found


def _power(x: ScaledProduct, fmt: Format, known: Mapping[int, Raw]) -> Raw:
    """The encodings of an addend's power of two, built in the exponent field."""
    word: Any = np.dtype(f"u{fmt.storage_bits // 8}").type
    words = np.full((1, 1, 1), (x.shift + fmt.bias) << fmt.fraction_bits, word)
    for i, sign in x.exponents:
        words = words + ((sign * known[i]).astype(word) << word(fmt.fraction_bits))
    return np.asarray(words)


def _total(x: ScaledProduct, known: Mapping[int, Raw]) -> Raw:
    """The exponent of an addend's power of two, without broadcasting."""
    total: Any = np.full((1, 1, 1), x.shift, np.int32)
    for i, sign in x.exponents:
        total = total + sign * known[i].astype(np.int32)
    return np.asarray(total)


def _flat(x: Raw, shape: tuple[int, ...]) -> Raw:
    return np.broadcast_to(x, shape).reshape(-1)


class ArrayRun:
    """One evaluation of a plan: the values of its steps on arrays.

    Shapes: every value is [rows, columns, elements]: rows or columns 1 where it does not depend on them.
    """

    def __init__(self, plan: ProgramPlan, given: Mapping[str, Raw], options: RunOptions) -> None:
        self.plan, self.given, self.options = plan, given, options
        self.known: dict[int, Raw] = {}

    def result(self) -> Raw:
        """The encodings of the result d: [rows, columns]."""
        self.run(needed_by(self.plan))
        d = self.known[self.plan.result][:, :, 0]
        return d.astype(f"u{self.plan.fmt.storage_bits // 8}")

    def run(self, needed: set[int]) -> None:
        """Evaluate some steps in order, and drop each value after its last use among them."""
        last = last_uses(self.plan, needed)
        together = self._together(needed)
        inside = set[int]().union(*(x.inside for x, _ in together.values()))
        for i, step in enumerate(self.plan.steps):
            if i in needed and i not in inside:
                if i in together:
                    self.known[i] = promoted_words(*together[i], self.given, self.known, self.options)
                else:
                    self.known[i] = self._value(step)
                for done in last.get(i, ()):
                    self.known.pop(done, None)

    def _together(self, needed: set[int]) -> dict[int, tuple[Accumulators, tuple[str, ...]]]:
        """The fused runs of accumulators with their factors' sides, by the step of the final sum."""
        if self.options.device is not None:
            return {}
        axes = axes_of(self.plan, self.given)
        fused = {}
        for x in accumulators(self.plan):
            if {*x.inside, x.result} <= needed and self.given[x.a].shape[1] == self.given[x.b].shape[0] == 1:
                m, n = self.given[x.a].shape[0], self.given[x.b].shape[1]
                sides = sides_of(x, axes)
                if sides is not None and takes(x, m, n):
                    fused[x.result] = x, sides
        return fused

    def _value(self, step: PlanStep) -> Raw:
        if isinstance(step, InputStep):
            return self.given[step.letter]
        if isinstance(step, ConstantStep):
            return np.full((1, 1, 1), step.word, f"u{format_of(step).storage_bits // 8}")
        if isinstance(step, SliceStep):
            source, count = self.known[step.source], step.length or 1
            return filled(source[:, :, step.start : step.start + count], count)
        if isinstance(step, JoinStep):
            rows = [self.known[i] for i in step.items]
            shape = np.broadcast_shapes(*(x.shape for x in rows))
            return np.concatenate([np.broadcast_to(x, shape) for x in rows], axis=2)
        if isinstance(step, RoundStep):
            return self._rounded(step)
        if isinstance(step, CallStep):
            return self._called(step)
        if isinstance(step, HeadroomStep):
            return self._headroom(step)
        if isinstance(step, QuotientStep):
            return self._divided(step)
        if isinstance(step, MagnitudeStep):
            return self._magnitude(step)
        raise InputError(f"expected a step of a program, but got {step!r}")

    def _rounded(self, step: RoundStep) -> Raw:
        order = tuple(dict.fromkeys(i for x in step.addends for i in x.factors))
        powers = tuple(dict.fromkeys(i for x in step.addends for i, _ in x.exponents))
        formats = tuple(format_of(self.plan.steps[i]) for i in order)
        step_of = {i: n for n, i in enumerate(order)}
        shapes = {self.known[i].shape for i in (*order, *powers)}
        shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        if powers:
            return self._scaled(step, order, formats, shape)
        addends = tuple(
            ScaledProduct(tuple(step_of[i] for i in x.factors), x.negative, x.shift) for x in step.addends
        )
        run = operation(formats, addends, step.fmt, step.mode, step.saturate)
        return run([self.known[i] for i in order], shape, self.options.threads)

    def _scaled(
        self, step: RoundStep, order: Sequence[int], formats: tuple[Format, ...], shape: tuple[int, ...]
    ) -> Raw:
        """The values of a rounding step with data-dependent powers of two."""
        threads = self.options.threads
        whole = with_factors(step, order, formats, self.known)
        if whole is not None:
            run = operation(whole.formats, whole.addends, step.fmt, step.mode, step.saturate)
            return run(whole.operands, shape, threads)
        d = np.empty(int(np.prod(shape)), f"u{format_of(step).storage_bits // 8}")
        for places, some in by_kind(step, order, formats, self.known, shape):
            run = operation(some.formats, some.addends, step.fmt, step.mode, step.saturate)
            d[places] = run(some.operands, (places.size,), threads)
        return d.reshape(shape)

    def _headroom(self, step: HeadroomStep) -> Raw:
        source = self.known[step.source]
        fmt = format_of(self.plan.steps[step.source])
        # The largest magnitude of a row decides; encodings of magnitudes are in the order of the numbers.
        body = source.astype(np.uint64) & np.uint64((1 << (fmt.width - 1)) - 1)
        body = np.where(body > np.uint64(fmt.largest), np.uint64(0), body)
        most = body.max(axis=2, keepdims=True)
        run, low = headroom_operation(fmt, step.limit)
        code: Any = run([most], most.shape, self.options.threads).astype(np.int64)
        return np.asarray(code + low)

    def _divided(self, step: QuotientStep) -> Raw:
        x, y = (format_of(self.plan.steps[i]) for i in step.sources)
        operands = [self.known[i] for i in step.sources]
        shape = np.broadcast_shapes(*(v.shape for v in operands))
        run = quotient((x, y), format_of(step), step.mode)
        return run(operands, shape, self.options.threads)

    def _magnitude(self, step: MagnitudeStep) -> Raw:
        """The largest magnitude over the last axis, by halving."""
        run, rest = larger_magnitude(format_of(step), step.least), self.known[step.source]
        while True:
            half = (rest.shape[2] + 1) // 2
            two = [rest[:, :, :half], rest[:, :, rest.shape[2] - half :]]
            rest = run(two, two[0].shape, self.options.threads)
            if half == 1:
                return rest

    def _prepared(self, step: CallStep) -> Prepared | None:
        """The rows of B decoded beforehand, if a step takes the prepared B."""
        kept, b = self.options.prepared, self.plan.steps[step.b]
        start, stop = 0, b.length or 1
        if isinstance(b, SliceStep):
            start, stop, b = b.start, b.start + (b.length or 1), self.plan.steps[b.source]
        given = isinstance(b, InputStep) and b.letter == "b"
        if kept is None or not given or kept.spec != step.unit or stop > kept.shape[0]:
            return None
        return kept.part(start, stop)

    def _called(self, step: CallStep) -> Raw:
        unit, o = Unit(step.unit), step.unit.operands
        a, b, c = (_stored(self.known[i], f) for i, f in ((step.a, o.a), (step.b, o.b), (step.c, o.c)))
        if a.shape[1] == 1 and b.shape[0] == 1 and (a.shape[0] > 1 or b.shape[1] > 1):
            m, n = a.shape[0], b.shape[1]
            last = None if c.shape[:2] == (1, 1) and not c.any() else np.broadcast_to(c[:, :, 0], (m, n))
            if a.shape[2] > unit.k and o.c != o.d:
                raise InputError(f"expected K of at most {unit.k} for {unit.name}, but got K={a.shape[2]}")
            given = MatrixWords(a[:, 0, :], b[0].T, last, prepared=self._prepared(step))
            if step.scales:
                of_a, of_b = (self.known[i] for i in step.scales)
                of_a = np.broadcast_to(of_a[:, 0, :], (m, of_a.shape[2]))
                given = replace(given, scale_a=of_a, scale_b=np.broadcast_to(of_b[0], (n, of_b.shape[2])).T)
            how = self.options
            made = compiled.multiply_words(step.unit, given, how.threads, how.progress, how.device)
            return made[:, :, None]
        operands = [a, b, c, *(self.known[i] for i in step.scales)]
        rows = np.broadcast_shapes(*(x.shape[:2] for x in operands))
        flat = [np.broadcast_to(x, (*rows, x.shape[2])).reshape(-1, x.shape[2]) for x in operands]
        d, before = flat.pop(2).reshape(-1), list[Raw]()
        for call in range(-(-flat[0].shape[1] // step.unit.k)):
            words = call_words(step.unit, flat, call)
            # What changed nothing changes nothing when it is done again.
            if not before or not all(np.array_equal(x, y) for x, y in zip(words, before, strict=True)):
                made = unit.dot_bits(words[0], words[1], d, *words[2:])
                d, before = made, words if np.array_equal(made, d) else []
        return d.reshape(*rows, 1)


class RememberedRun(ArrayRun):
    """An evaluation that keeps the values of all steps in a memo, by how they are computed."""

    def __init__(
        self, plan: ProgramPlan, given: Mapping[str, Raw], options: RunOptions, memo: dict[Any, Raw]
    ) -> None:
        super().__init__(plan, given, options)
        self.memo = memo
        self.kinds: dict[int, Any] = {}

    def _together(self, needed: set[int]) -> dict[int, tuple[Accumulators, tuple[str, ...]]]:
        return {}  # other plans may take the single sums

    def value(self, step: PlanStep) -> Raw:
        """The value of a step whose operands are known."""
        return self._value(step)

    def _value(self, step: PlanStep) -> Raw:
        key = self.kind(step)
        if key not in self.memo:
            self.memo[key] = super()._value(step)
        return self.memo[key]

    def kind(self, step: PlanStep) -> Any:
        """The key of a step, equal in all plans: its own fields and its operands' keys."""
        own = id(step)
        if own not in self.kinds:
            sources = tuple(self.kind(self.plan.steps[i]) for i in step.sources)
            if isinstance(step, RoundStep):
                shapes = tuple((len(x.factors), x.negative, x.shift) for x in step.addends)
                what: Any = (shapes, step.mode, step.saturate)
            elif isinstance(step, CallStep):
                what = step.unit
            elif isinstance(step, SliceStep):
                what = step.start
            elif isinstance(step, ConstantStep):
                what = step.word
            else:
                what = step if not sources else None
            # Nested keys would grow with every step: each is known by the number of its first use.
            full = (type(step), step.fmt, step.length, what, sources)
            self.kinds[own] = self.memo.setdefault(("number", full), np.array(len(self.memo))).item()
        return self.kinds[own]


def _stored(x: Raw, fmt: Format) -> Raw:
    return x.astype(f"u{fmt.storage_bits // 8}", copy=False)


# ----------------------------- Whole programs, in bands of rows so that intermediate values stay in the cache
#: Elements of a value that are computed at a time: an array of fp32 that large is taken from memory that was
#: used before, and a larger one from new pages.
_ELEMENTS = 1 << 21


def run_plan(
    plan: ProgramPlan, given: Mapping[str, Raw], options: RunOptions, memo: dict[Any, Raw] | None = None
) -> Raw:
    """Evaluate a plan on arrays of encodings, and return the encodings of its result.

    Shapes: given: by letter [rows, columns, elements], rows or columns 1 where it does not depend on them;
    result [rows, columns], likewise.
    Ranges and units: `memo` keeps the values of steps for other plans on the same operands.
    Errors: InputError for a number of threads below 1.
    """
    if options.threads is not None:
        check_int("threads", options.threads, low=1)
    if memo is not None:
        return RememberedRun(plan, given, options, memo).result()
    rows, columns = (max(x.shape[axis] for x in given.values()) for axis in (0, 1))
    if rows * columns <= _ELEMENTS:
        return ArrayRun(plan, given, options).result()
    return _in_bands(plan, given, options, max(1, _ELEMENTS // columns))


def _in_bands(plan: ProgramPlan, given: Mapping[str, Raw], options: RunOptions, rows: int) -> Raw:
    """The result computed in bands of `rows` rows; steps independent of rows or columns run once."""
    needed = needed_by(plan)
    # Values that depend on rows and columns are as large as the result.
    both = {i for i, axes in enumerate(axes_of(plan, given)) if len(axes) == 2} & needed
    if plan.result not in both:
        return ArrayRun(plan, given, options).result()
    whole = ArrayRun(plan, given, options)
    whole.run(needed - both)
    taken = {j for i in both for j in plan.steps[i].sources} - both
    d: Raw | None = None
    for start in range(0, max(x.shape[0] for x in given.values()), rows):
        band = slice(start, start + rows)
        part = ArrayRun(plan, {k: _rows(x, band) for k, x in given.items()}, options)
        part.known = {j: _rows(whole.known[j], band) for j in taken}
        part.run(both)
        result = part.known[plan.result][:, :, 0]
        if d is None:
            shape = (max(x.shape[0] for x in given.values()), result.shape[1])
            d = np.empty(shape, f"u{plan.fmt.storage_bits // 8}")
        d[band] = result
    assert d is not None
    return d


def _rows(x: Raw, band: slice) -> Raw:
    """The rows `band` of a value, or the value itself if it is broadcast over rows."""
    return x[band] if x.shape[0] > 1 else x


# ----------------------------- Many plans on the same operands: a unit is evaluated once for all
def results_of(plans: Sequence[ProgramPlan], given: Mapping[str, Raw], memo: dict[Any, Raw]) -> list[Raw]:
    """The encodings of each plan's result: [elements].

    Shapes: given: by letter [elements, 1, length], or 1 in place of elements.
    Ranges and units: `memo`, an empty dict at first, keeps the values of all steps on these operands.
    """
    runs = [RememberedRun(plan, given, RunOptions(), memo) for plan in plans]
    while _calls(runs, memo):
        pass
    n = max(x.shape[0] for x in given.values())
    return [
        np.broadcast_to(RememberedRun(plan, given, RunOptions(), memo).result()[:, 0], n) for plan in plans
    ]


def _calls(runs: Sequence[RememberedRun], memo: dict[Any, Raw]) -> bool:
    """Evaluate every call whose operands are known; whether there was one."""
    waiting: dict[UnitSpec, dict[Any, tuple[Raw, ...]]] = {}
    for run in runs:
        for i, step in enumerate(run.plan.steps):
            if i in run.known or any(j not in run.known for j in step.sources):
                continue
            key = run.kind(step) if isinstance(step, CallStep) else None
            if isinstance(step, CallStep) and key not in memo:
                operands = tuple(run.known[j] for j in step.sources)
                waiting.setdefault(step.unit, {})[key] = operands
            else:
                run.known[i] = run.value(step)
    for unit, calls in waiting.items():
        memo |= zip(calls, _side_by_side(unit, list(calls.values())), strict=True)
    return bool(waiting)


def _side_by_side(unit: UnitSpec, calls: Sequence[tuple[Raw, ...]]) -> list[Raw]:
    """Each chain of calls of one unit, as many products at a time as one call takes: [elements, 1, 1].

    Shapes: of a call: a, b, c and, of a unit with scales, those of a and of b.
    """
    n = max(x.shape[0] for call in calls for x in call)
    o, model = unit.operands, Unit(unit)
    formats = (o.a, o.b, o.c, *[f for f in (unit.scale_format,) * 2 if f is not None])
    rows = [
        [
            np.broadcast_to(x[:, 0, :], (n, x.shape[2])).astype(f"u{fmt.storage_bits // 8}")
            for x, fmt in zip(call, formats, strict=True)
        ]
        for call in calls
    ]
    d = [x.pop(2)[:, 0] for x in rows]
    calls_in_a_row = -(-max(x[0].shape[1] for x in rows) // unit.k)
    compiled.expect_rows(unit, calls_in_a_row)
    for call in range(calls_in_a_row):
        active = [i for i, x in enumerate(rows) if x[0].shape[1] > call * unit.k]
        given = zip(*(call_words(unit, rows[i], call) for i in active), strict=True)
        first, second, *scales = (np.concatenate(x) for x in given)
        made = model.dot_bits(first, second, np.concatenate([d[i] for i in active]), *scales)
        for i, part in zip(active, np.split(made, len(active)), strict=True):
            d[i] = part
    return [x[:, None, None] for x in d]


def call_words(unit: UnitSpec, rows: Sequence[Raw], call: int) -> list[Raw]:
    """The words that one call of a chain takes, filled up with zeros, and with scales of one.

    Shapes: rows: a, b [n, K] and, of a unit with scales, those of a and of b [n, ⌈K / block⌉].
    """
    k, count = unit.k, scales_of_call(unit)
    made = [filled(x[:, call * k : (call + 1) * k], k) for x in rows[:2]]
    if unit.scale_format is not None:
        blocks = slice(call * count, (call + 1) * count)
        made += [filled(x[:, blocks], count, unit.scale_format.one) for x in rows[2:]]
    return made
