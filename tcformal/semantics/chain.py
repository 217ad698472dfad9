"""A unit's dot product of any length as one DAG: calls chained over K."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from tcformal.callbacks import Advance, ignore_count
from tcformal.design.rounding import MOST_BUILT
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest
from tcformal.semantics.dot_product import unit_dot
from tcformal.semantics.stages import Block, Dot, DotStep

#: The most products of one call of which a circuit is built.
MOST_CALLED = 4096


@dataclass(frozen=True, slots=True)
class OperandNodes:
    """The input nodes of one dot product.

    Shapes: a, b: K raw encodings; scale_a, scale_b: one per block of k, empty without scales.
    """

    a: list[Node]
    b: list[Node]
    c: Node
    scale_a: list[Node]
    scale_b: list[Node]


def scale_count(spec: UnitSpec, k: int) -> int:
    """The number of block scales per operand for K products; 0 for a unit without scales."""
    return 0 if spec.scale_block is None else -(-k // spec.scale_block)


def not_built(spec: UnitSpec) -> str:
    """The reason why a unit is too large for a circuit; empty if it is not."""
    block = min(spec.k, spec.design.products)
    if block <= MOST_BUILT and spec.k <= MOST_CALLED:
        return ""
    return (
        f"expected at most {MOST_BUILT} products in a sum and {MOST_CALLED} in a call where a circuit is "
        f"built, but got {block} and {spec.k}"
    )


def check_built(spec: UnitSpec) -> None:
    """Raise InputError for a unit that is too large for a circuit."""
    if sentence := not_built(spec):
        raise InputError(f"{sentence}; theorems are about any number: prove --claim")


def declare_inputs(g: Graph, spec: UnitSpec, k: int) -> OperandNodes:
    """Declare the inputs of one dot product of `spec`: a[0], b[0], …, c, scale_a[0], …."""
    check_built(spec)
    a, b = [], []
    for i in range(k):
        a.append(g.input(f"a[{i}]", spec.operands.a.width))
        b.append(g.input(f"b[{i}]", spec.operands.b.width))
    c = g.input("c", spec.operands.c.width)
    count, width = scale_count(spec, k), 0 if spec.scale_format is None else spec.scale_format.width
    scales = [[g.input(f"scale_{x}[{i}]", width) for i in range(count)] for x in "ab"]
    return OperandNodes(a, b, c, *scales)


def filled(g: Graph, spec: UnitSpec, x: OperandNodes) -> OperandNodes:
    """The operands with products 0·0 and scales of 1 up to whole calls of a unit, as units are replayed."""
    more, k = -len(x.a) % spec.k, len(x.a)
    a, b = ([*w, *[g.const(0, f.width)] * more] for w, f in ((x.a, spec.a_format), (x.b, spec.b_format)))
    scales, scale = (x.scale_a, x.scale_b), spec.scale_format
    if more and scale is not None:
        ones = [g.const(scale.one, scale.width)] * (scale_count(spec, k + more) - scale_count(spec, k))
        scales = ([*x.scale_a, *ones], [*x.scale_b, *ones])
    return OperandNodes(a, b, x.c, *scales)


def chained_dot(g: Graph, spec: UnitSpec, x: OperandNodes) -> Dot:
    """Apply a unit to consecutive runs of k products, each result being the next c; all stages are kept.

    A hardware unit takes them as blocks of one dot product: a block hands its result on as a call
    does, and the encoding between two calls loses nothing, because the number is already rounded to
    its format.  A composed unit, or a tree, is called again.
    Errors: InputError for more products than a circuit is built of.
    """
    check_built(spec)
    if spec.emulation is None and spec.tree is None:
        design = spec.design
        if spec.k < design.products:
            spec = replace(spec, design=replace(design, products=spec.k))
        return unit_dot(g, spec, x.a, x.b, x.c, x.scale_a, x.scale_b)
    if len(x.a) == spec.k:
        return unit_dot(g, spec, x.a, x.b, x.c, x.scale_a, x.scale_b)
    c = x.c
    stages: list[Block | DotStep] = []
    for call, start in enumerate(range(0, len(x.a), spec.k)):
        stop = start + spec.k
        # A composed unit labels its stages as one call does.
        with g.scope(f"call{call}"):
            each = slice(None)
            if spec.scale_block is not None:
                each = slice(start // spec.scale_block, stop // spec.scale_block)
            scales = x.scale_a[each], x.scale_b[each]
            made = unit_dot(g, spec, x.a[start:stop], x.b[start:stop], c, *scales, call=call)
        c = made.result
        stages += made.stages
    return Dot(c, tuple(stages))


def staged_circuit(spec: UnitSpec, k: int) -> tuple[Graph, Dot]:
    """The circuit of K products on one unit in a new graph, with all stages; the result is d."""
    return _staged(arithmetic(spec), k)


def arithmetic(spec: UnitSpec) -> UnitSpec:
    """A unit without fields that do not affect a dot product: a cache key for circuits."""
    # Errors about the lengths of composed units and trees say their names.
    named = spec.emulation is not None or spec.tree is not None
    return replace(spec, name=spec.name if named else "", m=1, n=1, notes=())


# As many as a unit has neighbours that outputs are compared with.
@lru_cache(maxsize=192)
def _staged(spec: UnitSpec, k: int) -> tuple[Graph, Dot]:
    g = Graph()
    return g, chained_dot(g, spec, declare_inputs(g, spec, k))


def definition(spec: UnitSpec, k: int | None = None) -> str:
    """SHA-256 of a unit's circuit for K products, by default its own k."""
    graph, root = circuit(spec, spec.k if k is None else k)
    return digest(graph, {"d": root})


def same_definition(first: UnitSpec, second: UnitSpec, k: int) -> bool:
    """Whether two units of equal formats have isomorphic circuits for K products, filled up with zeros."""
    if arithmetic(first) == arithmetic(second):
        return True
    return _same_definition(arithmetic(first), arithmetic(second), k)


def distinct_definitions(units: Sequence[UnitSpec], k: int) -> list[UnitSpec]:
    """The first of some units of equal formats for each circuit of K products, filled up with zeros."""
    g, first = Graph(), dict[int, UnitSpec]()
    if not units:
        return []
    x = declare_inputs(g, units[0], k)
    for i, unit in enumerate(units):
        with g.scope(f"unit{i}"):
            first.setdefault(id(chained_dot(g, unit, filled(g, unit, x)).result), unit)
    return [*first.values()]


@lru_cache(maxsize=1024)
def _same_definition(first: UnitSpec, second: UnitSpec, k: int) -> bool:
    g = Graph()
    x = declare_inputs(g, first, k)
    results = []
    for side, spec in (("A", first), ("B", second)):
        with g.scope(side):
            results.append(chained_dot(g, spec, filled(g, spec, x)).result)
    return results[0] is results[1]


def circuit(spec: UnitSpec, k: int) -> tuple[Graph, Node]:
    """The circuit of K products on one unit: a new graph and the node of d."""
    g, dot = staged_circuit(spec, k)
    return g, dot.result


def common_k(*specs: UnitSpec) -> int:
    """The least common multiple of the units' k; InputError if a unit cannot be chained to it."""
    k = math.lcm(*(spec.k for spec in specs))
    for spec in specs:
        if spec.k != k and spec.operands.c != spec.operands.d:
            raise InputError(
                f"expected units of equal k, because {spec.name} cannot be chained: "
                f"its C is {spec.operands.c.name} and its D is {spec.operands.d.name}"
            )
        if spec.k != k and spec.k % (spec.scale_block or 1):
            raise InputError(
                f"expected units of equal k, because {spec.name} cannot be chained: "
                f"its k is {spec.k}, which cuts a block of {spec.scale_block} that share a scale"
            )
    return k


def misnamed(designs: Mapping[str, Sequence[UnitSpec]], advance: Advance = ignore_count) -> dict[str, str]:
    """The names whose circuit differs from that of their design's first name, with that name.

    Shapes: designs: the units that share a design, by a name of it.  Units of different k are compared at
    the least common multiple of their k, where the shorter one is applied to consecutive runs.
    Ranges and units: circuits are compared by the SHA-256 of their serialised nodes, inputs by name; equal
    circuits give equal results.
    """
    digest = cache(definition)
    wrong: dict[str, str] = {}
    pairs = [(units[0], u) for units in designs.values() for u in units]
    for done, (first, u) in enumerate(pairs, 1):
        k = math.lcm(first.k, u.k)
        if digest(arithmetic(u), k) != digest(arithmetic(first), k):
            wrong[u.name] = first.name
        advance(done, len(pairs))
    return wrong
