"""The shortcuts of a unit's dot product: those of IEEE 754's operations, or of single stages."""

from __future__ import annotations

from tcformal.backends.machine import floats
from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.stages import Dot
from tcformal.simulation.kernels.shortcuts import Shortcuts
from tcformal.simulation.lowering.aligned import add_aligned
from tcformal.simulation.lowering.ieee import add_ieee
from tcformal.simulation.lowering.leading import add_leading
from tcformal.simulation.lowering.quarters import add_groups
from tcformal.simulation.lowering.special import add_special


def add_shortcuts(spec: UnitSpec, graph: Graph, stages: Dot, root: Node, ways: Shortcuts) -> None:
    """All shortcuts of one call, whose result is `root` where no operand of A and B is NaN or Inf."""
    formats = {"a": spec.a_format, "b": spec.b_format}
    if floats() and add_ieee(graph, spec, stages, ways):
        add_special(graph, formats, ways)
        return
    add_leading(stages, ways)
    wide = None if spec.emulation is None else spec.emulation.converted
    add_groups(graph, spec.k, stages, formats, ways)
    add_aligned(graph, root, stages, formats, ways, wide)
