"""The question whether a property holds of one unit on every input: its DAG, replay, search and shrinking."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tcformal.backends.concrete import Concrete
from tcformal.backends.vector import Vector
from tcformal.checks import check_choice
from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import declare_inputs
from tcformal.query.assume import Assumptions, assume_of_unit
from tcformal.query.kinds.property.properties import PROPERTIES, Case
from tcformal.query.question import Question
from tcformal.query.replay import oracle_result
from tcformal.query.search import VECTORS
from tcformal.simulation.operands.batch import columns
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.operands.witness import Witness

#: Exponents above 2^0 at which a step of an operand is tried.
_ABOVE = 24


@dataclass(frozen=True, slots=True)
class PropertyQuestion(Question):
    """Does a property hold of a unit on every input?

    Shapes: inputs a[0], b[0], …, c and those that the property adds (such as c2) are raw encodings.
    """

    name: str
    unit: UnitSpec
    k: int
    assumptions: Assumptions
    graph: Graph
    case: Case
    #: 1 where every assumption holds.
    assumed: Node
    #: 1 where the assumptions hold and the property does not.
    violated: Node

    @property
    def asked(self) -> Node:
        """The node that is 1 where the assumptions hold and the property does not."""
        return self.violated


@dataclass(frozen=True, slots=True)
class PropertyReplay:
    """The results of all calls of a property on one set of inputs.

    Ranges and units: results are raw encodings of the D format, one for each call.
    """

    assumed: bool
    operands: tuple[Witness, ...]
    integers: tuple[int, ...]
    oracle: tuple[int, ...]
    #: Whether the property is violated: on the DAG, and on exact values.
    violated: tuple[bool, bool]

    @property
    def violates(self) -> bool:
        """Whether DAG, integers and oracle agree that the inputs satisfy the assumptions and violate the
        property."""
        return self.assumed and self.integers == self.oracle and all(self.violated)

    @property
    def confirms(self) -> bool:
        """Whether the replay confirms the answer: the property is violated."""
        return self.violates


def property_question(
    name: str, unit: UnitSpec, what: Assumptions, graph: Graph | None = None
) -> PropertyQuestion:
    """Build the question whether the named property holds of a unit, in an empty or a new graph.

    Errors: UnknownNameError for an unknown property, InputError for a unit that the property does not
    fit.
    """
    check_choice("property", name, list(PROPERTIES))
    g = Graph() if graph is None else graph
    x = declare_inputs(g, unit, unit.k)
    case = PROPERTIES[name].build(g, unit, x)
    assumed = assume_of_unit(g, what, unit, x)
    return PropertyQuestion(name, unit, unit.k, what, g, case, assumed, g.and_(assumed, case.violated))


def replay_property(q: PropertyQuestion, inputs: Mapping[str, int]) -> PropertyReplay:
    """Run inputs through every call on integers and on the oracle, and check the property on both."""
    rows = [[*c.operands.a, *c.operands.b, c.operands.c, *c.operands.scale_a, *c.operands.scale_b]
            for c in q.case.calls]  # fmt: skip
    roots = [q.assumed, q.violated, *(n for row in rows for n in row), *(c.result for c in q.case.calls)]
    values = list(Concrete(q.graph, roots)(inputs))
    assumed, violated, rest = bool(values[0]), bool(values[1]), values[2:]
    operands = []
    for row, call in zip(rows, q.case.calls, strict=True):
        here, rest = rest[: len(row)], rest[len(row) :]
        k, n = len(call.operands.a), len(call.operands.scale_a)
        tail = here[2 * k + 1 :]
        operands.append(
            Witness(tuple(here[:k]), tuple(here[k : 2 * k]), here[2 * k], tuple(tail[:n]), tuple(tail[n:]))
        )
    oracle = tuple(oracle_result(q.unit, w) for w in operands)
    judged = q.case.check(operands, oracle)
    return PropertyReplay(assumed, tuple(operands), tuple(rest), oracle, (violated, judged))


def by_vectors(q: PropertyQuestion, seed: int) -> dict[str, int] | None:
    """The first seeded vector that violates the property; None where none does.

    An input that a property adds to an operand (c2 to c) is the next encoding above it.  In every second
    vector that operand is the last number below a power of two and large beside the products, all of them
    positive: one step then changes how much alignment cuts off.
    """
    tried = columns(inputs_to_try(q.unit, q.k, VECTORS, seed))
    if q.assumptions.c is not None:
        tried["c"] = np.full(VECTORS, q.assumptions.c, np.uint64)
    o = q.unit.operands
    beside = {"c2": ("c", o.c), "a2": ("a[0]", o.a)}
    for name, (operand, fmt) in beside.items():
        if name in q.graph.inputs:
            for column in tried:
                magnitude = (1 << ((o.a if column[0] == "a" else o.b).width - 1)) - 1
                if column[0] in "ab":
                    tried[column][::2] &= np.uint64(magnitude)
            shift = fmt.fraction_bits + fmt.ignored_low_bits
            ones = np.uint64((1 << shift) - (1 << fmt.ignored_low_bits))
            above = np.arange(VECTORS, dtype=np.uint64) % np.uint64(_ABOVE) + np.uint64(fmt.bias)
            base = np.array(tried[operand], dtype=np.uint64)
            base[::2] = (np.minimum(above, np.uint64(fmt.e_max + fmt.bias)) << np.uint64(shift) | ones)[::2]
            tried[operand] = base
            tried[name] = (base + np.uint64(1 << fmt.ignored_low_bits)) & np.uint64((1 << fmt.width) - 1)
    (violated,) = Vector(q.graph, tried).run([q.violated])
    for row in np.flatnonzero(np.broadcast_to(violated, (VECTORS,))):
        model = {name: int(column[row]) for name, column in tried.items()}
        if replay_property(q, model).violates:
            return model
    return None


def shrink_inputs(q: PropertyQuestion, found: Mapping[str, int], *, seconds: float = 4.0) -> dict[str, int]:
    """Greedy shrinking: inputs that still violate the property, with more zeros and fewer bits."""
    deadline = time.monotonic() + seconds
    best = dict(found)
    changed = True
    while changed and time.monotonic() < deadline:
        changed = False
        for name in best:
            for value in _simpler(best[name]):
                tried = {**best, name: value}
                if time.monotonic() < deadline and replay_property(q, tried).violates:
                    best, changed = tried, True
                    break
    return best


def _simpler(raw: int) -> list[int]:
    """Smaller encodings: zero, and the encoding without its low bits or without one bit."""
    bits = [i for i in range(raw.bit_length()) if raw >> i & 1]
    tried = [0, *(raw >> i << i for i in reversed(bits)), *(raw & ~(1 << i) for i in bits)]
    return [value for value in dict.fromkeys(tried) if value != raw]
