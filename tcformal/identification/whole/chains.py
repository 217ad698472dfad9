"""Chains of a unit's calls, added up as a tree: a product computed in an order that was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.steps import ConstantStep, InputStep, ProgramPlan
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.identification.whole.order import SumChain
from tcformal.programs.functions import Builder, StepValue, add, call, convert
from tcformal.simulation.arrays import from_raw, to_raw
from tcformal.simulation.evaluation import RunOptions, run_plan

#: Fused multiply–adds, and products that are rounded before they are added, in the formats of processors.
_FMA = {"fp32": "cdna1/v_mfma_f32_32x32x2f32", "fp64": "ampere/mma.m8n8k4.f64.f64.f64.f64"}
_WIDER = {"fp16": "fp32", "bf16": "fp32"}


@dataclass(frozen=True, slots=True)
class ChainUnits:
    """The units of an order's chains: `unit` of those from zero, `late` of terms after a sum.

    `last`: that of the last one of several chains; the sum of the others is added in its wider format.
    """

    unit: UnitSpec
    late: UnitSpec
    last: UnitSpec | None = None
    #: Whether a compiler makes code of it for the processor itself, which may mix them in one sum.
    own: bool = False

    def follows(self, order: SumChain) -> bool:
        """Whether an order has a place for each unit."""
        if self.last is not None:
            return len(order.base) > 1 and not order.ks and not order.base[-1].base
        return self.unit == self.late or order.joins

    @property
    def name(self) -> str:
        """The unit's name, and the other one's where they differ."""
        if self.last is not None:
            return f"{self.unit.name}, the last chain and the sum with it {self.last.name}"
        same = self.unit == self.late
        return self.unit.name if same else f"{self.unit.name}, where terms join a sum {self.late.name}"


def product_in_order(
    units: ChainUnits,
    order: SumChain,
    a: NDArray[Any],
    b: NDArray[Any],
    formats: tuple[Format, Format, Format],
) -> NDArray[Any]:
    """A·B with every chain as calls of a unit, from zero or from the sum of its base.

    Shapes: a [M, K], b [K, N]; D [M, N].
    Ranges and units: A and B of other formats than the unit's are converted to those, which holds all of
    their values; sums of chains are rounded to the unit's result to nearest, and D to its format.
    """
    unit = units.unit
    places, plan = _Chains(units, formats[2]).plan(order, a.shape[1])
    given = {
        "a": _converted("A", a, formats[0], unit.a_format)[:, None, places],
        "b": _converted("B", b, formats[1], unit.b_format).T[None, :, places],
    }
    d = run_plan(plan, given, RunOptions(progress=False))
    return from_raw(np.broadcast_to(d, (a.shape[0], b.shape[1])), formats[2])


def _converted(name: str, x: NDArray[Any], fmt: Format, wanted: Format) -> NDArray[Any]:
    raw = to_raw(name, x, fmt)
    if fmt == wanted:
        return raw
    return to_raw(name, x.astype(from_raw(np.zeros(1, np.uint8), wanted).dtype), wanted)


class _Chains:
    """The steps of one order."""

    def __init__(self, units: ChainUnits, output: Format) -> None:
        self.unit, self.late, self.last, self.output = units.unit, units.late, units.last, output
        self.steps = Builder()
        self.places: list[int] = []

    def plan(self, order: SumChain, k: int) -> tuple[list[int], ProgramPlan]:
        """The terms in the order in which chains take them, and the steps on rows in that order."""
        self.a, self.b = (
            self.steps.add(InputStep(fmt=fmt, length=k, name=x, letter=x))
            for x, fmt in (("a", self.unit.a_format), ("b", self.unit.b_format))
        )
        d = self.value(order) if self.last is None else self.mixed(order, self.last)
        if self.output != d.fmt:
            d = convert(self.steps, d, self.output.name)
        return self.places, ProgramPlan(tuple(self.steps.steps), d.index, k)

    def mixed(self, order: SumChain, last: UnitSpec) -> StepValue:
        """The sum of all chains but the last one, and that one on a unit of its own, in its format."""
        first, wide = self.value(SumChain((), order.base[:-1])), last.d_format.name
        places = order.base[-1].ks
        start = len(self.places)
        self.places += places
        zero = self.steps.add(ConstantStep(fmt=last.c_format, length=None, name="zero", word=0))
        a, b = (self.steps.slice(x, start, len(places)) for x in (self.a, self.b))
        return add(self.steps, call(self.steps, last, a, b, zero), convert(self.steps, first, wide), wide)

    def value(self, chain: SumChain) -> StepValue:
        """The value of a chain."""
        steps, wide = self.steps, self.unit.d_format
        total: StepValue | None = None
        for part in chain.base:
            made = self.value(part)
            total = made if total is None else add(steps, total, made, wide.name)
        if not chain.ks:
            assert total is not None
            return total
        unit = self.unit if total is None else self.late
        if total is None:
            total = steps.add(ConstantStep(fmt=self.unit.c_format, length=None, name="zero", word=0))
        start = len(self.places)
        self.places += _as_taken(unit, chain.ks)
        a, b = (steps.slice(x, start, len(chain.ks)) for x in (self.a, self.b))
        return call(steps, unit, a, b, total)


def _as_taken(unit: UnitSpec, ks: tuple[int, ...]) -> list[int]:
    """Terms in the places of calls in which a unit takes them in this order."""
    if unit.design.order != "odd_first":
        return list(ks)
    return [k for i in range(0, len(ks), 2) for k in sorted(ks[i : i + 2])]


def candidates(a: Format, b: Format, d: Format) -> Iterator[ChainUnits]:
    """The units of the formats whose sums can be chained, the processors' own arithmetic first."""
    wide = _WIDER.get(a.name, a.name)
    if a == b:
        fused = resolve(_FMA[wide])
        rounded = resolve("muladd@k=1," + ",".join(f"{x}_format={wide}" for x in "abcd"))
        yield ChainUnits(fused, fused, own=True)
        yield ChainUnits(fused, rounded, own=True)
        yield ChainUnits(rounded, fused, own=True)
        yield ChainUnits(rounded, rounded, own=True)
        if wide == "fp32" == a.name:
            # A dot product in C: products of floats, added up in a double.
            formats = "a_format=fp32,b_format=fp32,c_format=fp64,d_format=fp64"
            double = resolve(f"muladd@k=1,{formats},conversion=RNE-FP64,product_rounding=RNE-FP32")
            yield ChainUnits(double, double, own=True)
            yield ChainUnits(fused, fused, double, own=True)
            yield ChainUnits(rounded, rounded, double, own=True)
    known = distinct_designs(lambda u: u.operands.a == a and u.operands.b == b and u.scale_format is None)
    for name in known:
        unit = catalogue()[name]
        chained = unit.c_format == unit.d_format and unit.name not in _FMA.values()
        if chained and unit.d_format.width >= d.width:
            yield ChainUnits(unit, unit)
