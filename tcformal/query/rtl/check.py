"""The question whether somebody's RTL ever differs from a unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.checks import check_int
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, NoAnswerError
from tcformal.ir.build import Graph
from tcformal.ir.walk import reachable
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.query.assume import Assumptions, assume_of_unit
from tcformal.query.kinds.rtl import RtlQuestion
from tcformal.query.rtl.clocks import Clocking
from tcformal.query.rtl.netlist import RtlNetlist, read_netlist
from tcformal.query.rtl.ports import RESULT, PortBits, mapped, port_nodes, port_values
from tcformal.query.rtl.yosys import FlatRtl, RtlSource
from tcformal.simulation.operands.witness import Witness

#: Most clock cycles that are unrolled.
MOST_CYCLES = 256


@dataclass(frozen=True, slots=True)
class RtlModule:
    """A module that stands for a unit: its netlist, where its operands are, and when its result is there.

    Ranges and units: `latency` in clock edges from the operands to the result.
    """

    source: RtlSource
    netlist: RtlNetlist
    places: Sequence[PortBits]
    ties: Mapping[str, int]
    latency: int
    flat: FlatRtl
    clocking: Clocking
    #: The number of undefined bits (x), which are zeros here.
    undefined: int

    @property
    def result(self) -> PortBits:
        """The port of the result."""
        return next(p for p in self.places if p.operand == RESULT)

    def port_values(self, spec: UnitSpec, w: Witness) -> dict[str, tuple[int, int]]:
        """The value and width of every input port on a witness, the ports that carry nothing left out."""
        values = port_values(self.places, self.ties, spec, w)
        return {port: (value, self.flat.inputs[port]) for port, value in values.items()}

    def assumed(self) -> dict[str, Any]:
        """What an answer about the module assumes: its clock, constant inputs, undefined bits."""
        return {
            **self.clocking.to_json(), "latency": self.latency, "ties": dict(self.ties),
            "undefined": self.undefined,
        }  # fmt: skip

    def evaluate(self, spec: UnitSpec, w: Witness) -> int:
        """The result on a witness as yosys finds it; NoAnswerError where it finds none."""
        p = self.result
        given = {port: x for port, x in self.port_values(spec, w).items() if port not in self.ties}
        whole = self.flat.evaluate(given, p.port, self.latency)
        if whole is None:
            raise NoAnswerError(f"expected a value of {p.port} from {self.source.program}, but got none")
        return whole >> p.low & ((1 << (p.high - p.low + 1)) - 1)


def read_module(
    source: RtlSource,
    spec: UnitSpec,
    folder: Path,
    *,
    maps: Sequence[str],
    ties: Mapping[str, int],
    latency: int,
) -> RtlModule:
    """Read the RTL and find the operands of a unit in its ports; `folder` is an empty one for its files.

    Errors: those of `FlatRtl`, `read_netlist` and `mapped`; InputError for a latency outside 0 to 256, and
    for a clock that carries an operand.
    """
    check_int("--latency", latency, low=0, high=MOST_CYCLES)
    flat = FlatRtl(source, folder)
    places = mapped(spec, maps, {**flat.inputs, **flat.outputs})
    for p in places:
        if p.port not in (flat.outputs if p.operand == RESULT else flat.inputs):
            raise InputError(
                f"expected operands in inputs and d in an output, but {p.operand} is in {p.port}"
            )
        if p.port in ties:
            raise InputError(f"expected {p.port} to be mapped or tied, but it is both")
    btor2, clocked, undefined = flat.compiled(ties, next(p.port for p in places if p.operand == RESULT))
    if taken := [p.operand for p in places if p.port == clocked.port]:
        raise InputError(
            f"expected a clock that carries no operand, but registers are clocked by {clocked.signal}, "
            f"which carries {taken[0]}"
        )
    return RtlModule(source, read_netlist(btor2), places, ties, latency, flat, clocked, undefined)


def rtl_question(spec: UnitSpec, module: RtlModule, what: Assumptions) -> RtlQuestion:
    """The question whether a module ever differs from one call of a unit.

    The operands stand at the module's inputs for all cycles of the latency, from registers of any content.
    Errors: InputError where the result depends on more than the operands.
    """
    g = Graph()
    x = declare_inputs(g, spec, spec.k)
    own = set(g.inputs)
    unit = chained_dot(g, spec, x).result
    inputs = [p for p in module.places if p.operand != RESULT]
    given = port_nodes(g, inputs, module.ties, module.flat.inputs)
    p = module.result
    whole = module.netlist.unrolled(g, given, module.latency)[p.port]
    made = g.extract(whole, p.high, p.low)
    names = {g.input_name(node) for node in reachable([made]) if node.op == "input"} - own
    # The clock is no value: a design that computes with it has another result in each half of a cycle.
    if free := sorted(name.removeprefix("port ") for name in names if name.startswith("port ")):
        raise InputError(
            f"expected every port that d depends on to be mapped or tied, but got more: {', '.join(free)}"
        )
    if names:
        raise InputError(
            f"expected d to depend on nothing but the operands {module.latency} clock edges after them, but "
            f"it depends on what {len(names)} registers held before: a pipeline has a larger latency"
        )
    assumed = assume_of_unit(g, what, spec, x)
    differ = g.and_(assumed, g.not_(g.eq(unit, made)))
    return RtlQuestion(
        spec, spec, spec.k, what, g, (unit, made), assumed, differ, module.source.top,
        lambda w: module.evaluate(spec, w),
    )  # fmt: skip
