"""All lowering rules of a unit's dot product: whole IEEE operations, or single stages."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.backends.lanes import DOUBLE, Code, LaneValue, lane_for
from tcformal.backends.machine import floats
from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.stages import Dot, Rounded
from tcformal.simulation.kernels.lowering import LoweringRules
from tcformal.simulation.lowering.aligned import add_aligned
from tcformal.simulation.lowering.ieee import add_ieee
from tcformal.simulation.lowering.quarters import add_groups
from tcformal.simulation.lowering.special import add_special


def add_leading(stages: Dot, ways: LoweringRules) -> None:
    """Add leading-zero-count rules for the normalisation shifts of all conversions up to 64 bits."""
    for step in stages.steps:
        for rounded in (step.rounded, None if step.floor is None else step.floor.rounded):
            if rounded is not None and 1 < rounded.magnitude.width <= DOUBLE:
                _add(rounded, ways)


def _add(rounded: Rounded, ways: LoweringRules) -> None:
    """Add the rules for one normalisation: a leading-zero count, and the shift by it."""
    magnitude, limit = ways.of(rounded.magnitude), ways.of(rounded.limit)
    distance, width = ways.of(rounded.distance), magnitude.width
    if distance.op == "const" or magnitude.op == "const":
        return
    largest = (1 << distance.width) - 1
    # The magnitude itself may have narrower lanes: no bit of it is lost when it is shifted in these.
    lane = lane_for(0, (1 << width) - 1)

    def count(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        most, kind = code.unsigned(given[1], limit.width), code.kind(lane)
        text = code.operand(code.unsigned(given[0], width), lane)
        zeros = code.new(f"call {kind} @llvm.ctlz.{_suffix(code, lane)}({kind} {text}, i1 false)")
        zeros = code.apply("sub", lane, zeros, code.word(lane - width, lane))
        found = code.value(zeros, 0, width, lane)
        for top in (code.const(largest), most):
            if found.high > top.low:
                bits = max(found.bits, top.bits)
                low, high = min(found.low, top.low), min(found.high, top.high)
                texts = code.operand(found, bits), code.operand(top, bits)
                below = code.relate("ult", bits, *texts)
                found = code.value(code.choose(below, bits, *texts), low, high, bits)
        return found

    def shift(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        moved = code.binary("shl", code.unsigned(given[0], width), given[1], lane)
        return LaneValue(moved, 0, (1 << width) - 1, lane)

    ways.add(distance, (magnitude, limit), count)
    ways.add(ways.of(rounded.normalised), (magnitude, distance), shift)


def _suffix(code: Code, bits: int) -> str:
    return f"i{bits}" if code.lanes == 1 else f"v{code.lanes}i{bits}"


def add_rules(spec: UnitSpec, graph: Graph, stages: Dot, root: Node, ways: LoweringRules) -> None:
    """Add all rules of one call, for its result `root` with finite operands of A and B."""
    formats = {"a": spec.a_format, "b": spec.b_format}
    if floats() and add_ieee(graph, spec, stages, ways):
        add_special(graph, formats, ways)
        return
    add_leading(stages, ways)
    wide = None if spec.emulation is None else spec.emulation.converted
    add_groups(graph, spec.k, stages, formats, ways)
    add_aligned(graph, root, stages, formats, ways, wide)
