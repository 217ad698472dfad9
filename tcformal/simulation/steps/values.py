"""The values of a program's steps on arrays, on NumPy lanes or compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tcformal.backends import machine
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
from tcformal.simulation import compiled
from tcformal.simulation.kernels.lowering import LoweringRules
from tcformal.simulation.operands.random import Raw
from tcformal.simulation.steps.accumulators import Accumulators, accumulators
from tcformal.simulation.steps.operations import headroom_operation, larger_magnitude, operation, quotient
from tcformal.simulation.steps.order import axes_of, last_uses, needed_by
from tcformal.simulation.unit import Unit

if TYPE_CHECKING:
    from tcformal.simulation.kernels.gemm import Prepared

if TYPE_CHECKING:
    from tcformal.simulation.kernels.gemm import Gemm, Prepared
    from tcformal.simulation.kernels.promoted import Promotion


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
    options: Mapping[str, Any],
) -> Raw:  # fmt: skip
    """The final sum of a run of accumulators: encodings [rows, columns, 1].

    Shapes: given: by letter [rows, 1, K] and [1, columns, K]; known: the values of the factors' steps and of
    the sum before.
    """
    from tcformal.simulation.kernels.gemm import MatrixWords
    from tcformal.simulation.kernels.work import Work

    unit, steps = x.unit, -(-x.products // x.unit.k)
    a, b = given[x.a][:, 0, x.start : x.stop], given[x.b][0, :, x.start : x.stop].T
    (m, _), n = a.shape, b.shape[1]
    a, b = (
        y.astype(f"u{f.storage_bits // 8}", copy=False) for y, f in ((a, unit.a_format), (b, unit.b_format))
    )
    total = None if x.total is None else np.broadcast_to(known[x.total][:, :, 0], (m, n))
    factors = {f"x{i}": [known[j].reshape(-1) for j in which] for i, which in enumerate(x.factors)}
    side = compiled.broadcast_side(m, n)
    gemm = promoted_gemm(unit, side, x.joins, sides, steps)
    prepared: Prepared | None = None
    kept = options.get("prepared")
    if kept is not None and kept.spec == unit and x.b == "b" and x.stop <= kept.shape[0] and side == "a":
        prepared = kept.part(x.start, x.stop, gemm)
    with Work(options.get("threads"), options.get("progress")) as work:
        words = MatrixWords(a, b, total, prepared=prepared, factors=factors)
        return gemm.multiply(words, work)[:, :, None]


def takes(x: Accumulators, m: int, n: int) -> bool:
    """Whether a fused kernel pays: whole calls, enough rows, and few calls per accumulator."""
    from tcformal.simulation.kernels.gemm import FEW

    whole = x.products % x.unit.k == 0 and x.products <= _LONGEST
    return machine.available() and whole and min(m, n) > FEW and compiled.large(m * n * (x.stop - x.start))


@lru_cache(maxsize=64)
def promoted_gemm(
    unit: UnitSpec, broadcast_side: str, joins: ProgramPlan, sides: tuple[str, ...], calls: int
) -> Gemm:
    """The fused kernels of a unit with two-level accumulation.

    Shapes: sides: of each factor that `joins` takes, `a` or `b`; an accumulator is full after `calls`.
    """
    from tcformal.simulation.kernels.gemm import Gemm

    return Gemm(compiled.dot_call(unit), broadcast_side, _promotion(joins, sides, calls))


def _promotion(joins: ProgramPlan, sides: tuple[str, ...], calls: int) -> Promotion:
    from tcformal.simulation.kernels.promoted import Promotion
    from tcformal.simulation.lowering.rounded import add_rounded

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

    def __init__(self, plan: ProgramPlan, given: Mapping[str, Raw], options: dict[str, Any]) -> None:
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
        if self.options.get("device") is not None:
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
        return run([self.known[i] for i in order], shape, self.options.get("threads"))

    def _scaled(
        self, step: RoundStep, order: Sequence[int], formats: tuple[Format, ...], shape: tuple[int, ...]
    ) -> Raw:
        """The values of a rounding step with data-dependent powers of two."""
        threads = self.options.get("threads")
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
        flat = most.reshape(-1)
        code = run({"c": flat}, flat.size).astype(np.int64)
        return (code + low).reshape(most.shape)

    def _divided(self, step: QuotientStep) -> Raw:
        x, y = (format_of(self.plan.steps[i]) for i in step.sources)
        operands = [self.known[i] for i in step.sources]
        shape = np.broadcast_shapes(*(v.shape for v in operands))
        run = quotient((x, y), format_of(step), step.mode)
        return run(operands, shape, self.options.get("threads"))

    def _magnitude(self, step: MagnitudeStep) -> Raw:
        """The largest magnitude over the last axis, by halving."""
        run, rest = larger_magnitude(format_of(step), step.least), self.known[step.source]
        while True:
            half = (rest.shape[2] + 1) // 2
            two = [rest[:, :, :half], rest[:, :, rest.shape[2] - half :]]
            rest = run(two, two[0].shape, self.options.get("threads"))
            if half == 1:
                return rest

    def _prepared(self, step: CallStep) -> Prepared | None:
        """The rows of B decoded beforehand, if a step takes the prepared B."""
        kept, b = self.options.get("prepared"), self.plan.steps[step.b]
        start, stop = 0, b.length or 1
        if isinstance(b, SliceStep):
            start, stop, b = b.start, b.start + (b.length or 1), self.plan.steps[b.source]
        given = isinstance(b, InputStep) and b.letter == "b"
        if kept is None or not given or kept.spec != step.unit or stop > kept.shape[0]:
            return None
        part: Prepared | None = kept.part(start, stop)
        return part

    def _called(self, step: CallStep) -> Raw:
        from tcformal.simulation.kernels.gemm import MatrixWords

        unit, o = Unit(step.unit), step.unit.operands
        a, b, c = (self.known[i] for i in (step.a, step.b, step.c))
        a, b, c = (
            x.astype(f"u{fmt.storage_bits // 8}", copy=False) for x, fmt in ((a, o.a), (b, o.b), (c, o.c))
        )
        if a.shape[1] == 1 and b.shape[0] == 1 and (a.shape[0] > 1 or b.shape[1] > 1):
            m, n = a.shape[0], b.shape[1]
            last = None if c.shape[:2] == (1, 1) and not c.any() else np.broadcast_to(c[:, :, 0], (m, n))
            if a.shape[2] > unit.k and o.c != o.d:
                raise InputError(f"expected K of at most {unit.k} for {unit.name}, but got K={a.shape[2]}")
            given = MatrixWords(a[:, 0, :], b[0].T, last, prepared=self._prepared(step))
            how = (self.options.get(name) for name in ("threads", "progress", "device"))
            return compiled.multiply_words(step.unit, given, *how)[:, :, None]
        rows = np.broadcast_shapes(a.shape[:2], b.shape[:2], c.shape[:2])
        flat = [np.broadcast_to(x, (*rows, x.shape[2])).reshape(-1, x.shape[2]) for x in (a, b)]
        d, before = np.broadcast_to(c, (*rows, 1)).reshape(-1), None
        for start in range(0, flat[0].shape[1], step.unit.k):
            both = np.stack([filled(x[:, start : start + step.unit.k], step.unit.k) for x in flat])
            # What changed nothing changes nothing when it is done again.
            if before is None or not np.array_equal(both, before):
                made = unit.dot_bits(both[0], both[1], d)
                d, before = made, both if np.array_equal(made, d) else None
        return d.reshape(*rows, 1)


class RememberedRun(ArrayRun):
    """An evaluation that keeps the values of all steps in a memo, by how they are computed."""

    def __init__(
        self, plan: ProgramPlan, given: Mapping[str, Raw], options: dict[str, Any], memo: dict[Any, Raw]
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


def filled(x: Raw, k: int) -> Raw:
    """Rows padded with +0 to length k along the last axis."""
    if x.shape[-1] == k:
        return x
    whole = np.zeros((*x.shape[:-1], k), x.dtype)
    whole[..., : x.shape[-1]] = x
    return whole
