"""The question whether an RTL module ever differs from a unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.checks import check_int
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, NoAnswerError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.oracle.values import value_data
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.query.assume import Assumptions, assume_of_unit
from tcformal.query.kinds.equality import Equality
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import RawInputs
from tcformal.query.replay import EqualityReplay, oracle_result
from tcformal.query.rtl.clocks import Clocking
from tcformal.query.rtl.ports import RESULT, PortBits, mapped, port_nodes, port_values
from tcformal.query.rtl.yosys import FlatRtl, RtlSource
from tcformal.simulation.operands.witness import Witness, by_value, explain_command


@dataclass(frozen=True, slots=True)
class RtlQuestion(EqualityQuestion):
    """The question whether a module ever differs from a unit; results are the unit's, then the module's."""

    module: str
    #: The result of the module on a witness, found by the tool that read it.
    evaluate: Callable[[Witness], int]

    @property
    def names(self) -> tuple[str, str]:
        """The names of the unit and of the module."""
        return self.first.name, self.module


class RtlEquality(Equality):
    """A unit and a module on shared operands; answers are not stored, because the files may change."""

    name = "rtl"

    def replay(self, q: EqualityQuestion, inputs: RawInputs) -> EqualityReplay:
        """Run the unit on integers and on the oracle, and the module on its netlist and in yosys."""
        assert isinstance(q, RtlQuestion)
        w = Witness.of(inputs, q.k)
        assumed, _, unit, module = q.evaluator()(w.inputs())
        return EqualityReplay(w, bool(assumed), (unit, module), (oracle_result(q.first, w), q.evaluate(w)))

    def found_text(self, q: EqualityQuestion, finder: str) -> str:
        """The reason of SEPARATED: the solver that found the witness, and the replays."""
        return f"{finder} found inputs; replayed on integers, on exact fractions, and by yosys on the RTL"

    def none_text(self, q: EqualityQuestion, deciders: str) -> str:
        """The reason of EQUIVALENT: the solvers that found none."""
        same = "the netlist folds into the unit's definition; " if q.same_definition else ""
        return f"{same}{deciders} found no inputs on which they differ"

    def build(self, parts: Mapping[str, Any], graph: Graph | None = None) -> EqualityQuestion:
        """Always raises InputError: RTL files are no part of a record."""
        raise InputError("expected a question of units, but got one of RTL, whose answers are not kept")

    def results_data(self, q: EqualityQuestion, replayed: EqualityReplay) -> dict[str, Any]:
        """The results of the unit and of the module."""
        pairs = zip(("unit", "module"), replayed.integers, strict=True)
        return {"results": {name: value_data(q.first.operands.d, raw) for name, raw in pairs}}

    def commands(self, q: EqualityQuestion, replayed: EqualityReplay) -> list[str]:
        """The `tcformal eval` command of the unit on the witness."""
        return [explain_command([q.first.name], replayed.witness, by_value(q.first), command="eval")]


#: The one of its kind.
RTL = RtlEquality()


_BENCH = """\
// {module} against {unit}: on these inputs the unit gives {expected} and the netlist {got}.
// Prints both and ends.
`timescale 1ns / 1ns
module tcformal_bench;
{declarations}
  wire [{top}:0] {output};
  {module}{parameters} dut ({connections});
  initial begin
{edges}    #1;
    $display("{module}: %h, {unit}: {expected_hex}", {result});
    if ({result} === {width}'h{expected_hex}) $display("AGREE");
    else $display("DIFFER");
    $finish;
  end
endmodule
"""


def witness_bench(q: EqualityQuestion, module: RtlModule, replayed: EqualityReplay) -> str:
    """A SystemVerilog test bench: the witness at the ports, `latency` clock edges, then the result.

    Shapes: input ports that carry no operand, are not tied and are no clock are zero.
    """
    values, p = module.port_values(q.first, replayed.witness), module.result
    lines, clock = [], module.clocking
    for port, width in module.flat.inputs.items():
        idle = 0 if port != clock.port or clock.rising else (1 << width) - 1
        value, _ = values.get(port, (idle, width))
        lines.append(f"  reg [{width - 1}:0] {port} = {width}'h{value:x};")
    edges = ""
    if module.latency and clock.port is not None:
        edges = f"    repeat ({2 * module.latency}) begin #1; {clock.port} = ~{clock.port}; end\n"
    whole = module.flat.outputs[p.port]
    d = q.first.operands.d
    settings = ", ".join(f".{name}({value})" for name, _, value in
                         (text.partition("=") for text in module.source.parameters))  # fmt: skip
    return _BENCH.format(
        module=module.source.top,
        parameters=f" #({settings})" if settings else "",
        unit=q.first.name,
        expected=value_data(d, replayed.integers[0])["value"],
        got=value_data(d, replayed.integers[1])["value"],
        declarations="\n".join(lines),
        top=whole - 1,
        output=p.port,
        connections=", ".join(f".{port}({port})" for port in [*module.flat.inputs, p.port]),
        edges=edges,
        result=p.port if p.high - p.low + 1 == whole else f"{p.port}[{p.high}:{p.low}]",
        width=p.high - p.low + 1,
        expected_hex=f"{replayed.integers[0]:0{-(-d.width // 4)}x}",
    )


_Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RtlNetlist:
    """A BTOR2 netlist: its lines by number.

    Shapes: `inputs` and `outputs` hold the width of each port by name.
    """

    rows: Mapping[int, _Row]
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    #: The register that each `next` line belongs to, with the line of its next content.
    registers: Mapping[int, int]

    def unrolled(self, g: Graph, given: Mapping[str, Node], cycles: int) -> dict[str, Node]:
        """Unroll the netlist: its outputs `cycles` clock edges after constant inputs are applied.

        Registers hold fresh inputs `register N` at first.
        Errors: InputError for an operator that the reader does not know.
        """
        content = {r: g.input(f"register {r}", self._width(r)) for r in self.registers}
        for _ in range(cycles):
            values = self._cycle(g, given, content)
            content = {r: values[after] for r, after in self.registers.items()}
        values = self._cycle(g, given, content)
        return {row[3]: values[int(row[2])] for row in self.rows.values() if row[1] == "output"}

    def _width(self, number: int) -> int:
        return int(self.rows[int(self.rows[number][2])][3])

    def _cycle(self, g: Graph, given: Mapping[str, Node], content: Mapping[int, Node]) -> dict[int, Node]:
        """Evaluate every line in one clock cycle; key -n holds the complement of line n."""
        made: dict[int, Node] = {}
        for number, row in self.rows.items():
            kind = row[1]
            if kind in ("sort", "output", "next", "init"):
                continue
            width = self._width(number)
            if kind == "state":
                # A register that nothing drives keeps what it holds.
                held = content.get(number)
                made[number] = g.input(f"register {number}", width) if held is None else held
            elif kind == "input":
                # One without a name stands for a register that nothing loads.
                made[number] = given[row[3]] if len(row) > 3 else g.input(f"register {number}", width)
            elif kind in _CONSTANTS:
                made[number] = g.const(_CONSTANTS[kind](row[3:], width) & ((1 << width) - 1), width)
            elif kind in _INDEXED:
                count, change = _INDEXED[kind]
                made[number] = change(g, _operand(g, made, row[3]), *map(int, row[4 : 4 + count]))
            elif kind in _OPERATORS:
                arity, make = _OPERATORS[kind]
                made[number] = make(g, *(_operand(g, made, x) for x in row[3 : 3 + arity]))
            else:
                raise InputError(f"expected an operator that can be compared, but got {kind} in the RTL")
        return made


def _operand(g: Graph, made: Mapping[int, Node], text: str) -> Node:
    number = int(text)
    return made[number] if number > 0 else g.not_(made[-number])


def read_netlist(text: str) -> RtlNetlist:
    """Parse a BTOR2 file.

    Errors: InputError for lines that are no BTOR2, memories, and two ports of one name.
    """
    rows: dict[int, _Row] = {}
    try:
        for line in text.splitlines():
            words = tuple(line.partition(";")[0].split())
            if not words or words[0] == "BTOR":
                continue
            if words[1] == "sort" and words[2] != "bitvec":
                raise InputError("expected RTL without memories, but got one: an array")
            if words[1] not in ("constraint", "bad", "fair", "justice"):
                rows[int(words[0])] = words
        net = RtlNetlist(rows, {}, {}, {int(r[3]): int(r[4]) for r in rows.values() if r[1] == "next"})
        ports = [(r[3], net._width(n)) for n, r in rows.items() if r[1] == "input" and len(r) > 3]
        results = [(r[3], net._width(abs(int(r[2])))) for r in rows.values() if r[1] == "output"]
    except (IndexError, KeyError, ValueError) as error:
        raise InputError(f"expected a netlist in BTOR2, but got one with {error!r}") from error
    return RtlNetlist(rows, dict(ports), dict(results), net.registers)


# ------------------------------------------------------------------------------ operators
def _same(name: str) -> Callable[..., Node]:
    return lambda g, *args: getattr(g, name)(*args)


def _inverted(name: str) -> Callable[..., Node]:
    return lambda g, *args: g.not_(getattr(g, name)(*args))


def _swapped(name: str) -> Callable[..., Node]:
    return lambda g, x, y: getattr(g, name)(y, x)


def _narrowed(g: Graph, x: Node) -> Node:
    """A node without leading zeros that are known structurally."""
    if x.op == "zero_extend":
        return _narrowed(g, x.args[0])
    if x.op == "concat" and x.args[0].op == "const" and x.args[0].params[1] == 0:
        return _narrowed(g, x.args[1])
    return x


def _product(g: Graph, x: Node, y: Node) -> Node:
    """The product x · y modulo 2^width, computed from factors without known leading zeros."""
    whole = g.mul_expand(_narrowed(g, x), _narrowed(g, y))
    return g.zero_extend_to(whole, x.width) if whole.width <= x.width else g.extract(whole, x.width - 1, 0)


def _parity(g: Graph, x: Node) -> Node:
    parity = g.bit(x, 0)
    for i in range(1, x.width):
        parity = g.xor(parity, g.bit(x, i))
    return parity


_OPERATORS: dict[str, tuple[int, Callable[..., Node]]] = {
    "not": (1, _same("not_")),
    "neg": (1, _same("neg_mod")),
    "inc": (1, lambda g, x: g.add_mod(x, g.const(1, x.width))),
    "dec": (1, lambda g, x: g.sub_mod(x, g.const(1, x.width))),
    "redor": (1, _same("any_bit")),
    "redand": (1, lambda g, x: g.is_zero(g.not_(x))),
    "redxor": (1, _parity),
    "and": (2, _same("and_")),
    "nand": (2, _inverted("and_")),
    "or": (2, _same("or_")),
    "nor": (2, _inverted("or_")),
    "xor": (2, _same("xor")),
    "xnor": (2, _inverted("xor")),
    "implies": (2, lambda g, x, y: g.or_(g.not_(x), y)),
    "iff": (2, _same("eq")),
    "eq": (2, _same("eq")),
    "neq": (2, _inverted("eq")),
    "ult": (2, _same("ult")),
    "ulte": (2, _same("ule")),
    "ugt": (2, _swapped("ult")),
    "ugte": (2, _swapped("ule")),
    "slt": (2, _same("slt")),
    "slte": (2, _same("sle")),
    "sgt": (2, _swapped("slt")),
    "sgte": (2, _swapped("sle")),
    "add": (2, _same("add_mod")),
    "sub": (2, _same("sub_mod")),
    "mul": (2, _product),
    "sll": (2, _same("shl_mod")),
    "srl": (2, _same("lshr")),
    "sra": (2, _same("ashr")),
    "concat": (2, _same("concat")),
    "ite": (3, _same("ite")),
}

_INDEXED: dict[str, tuple[int, Callable[..., Node]]] = {
    "slice": (2, lambda g, x, high, low: g.extract(x, high, low)),
    "uext": (1, lambda g, x, more: g.zero_extend_to(x, x.width + more)),
    "sext": (1, lambda g, x, more: g.sign_extend_to(x, x.width + more)),
}

_CONSTANTS: dict[str, Callable[[_Row, int], int]] = {
    "const": lambda words, _: int(words[0], 2),
    "constd": lambda words, _: int(words[0]),
    "consth": lambda words, _: int(words[0], 16),
    "zero": lambda words, _: 0,
    "one": lambda words, _: 1,
    "ones": lambda words, width: (1 << width) - 1,
}


#: Most clock cycles that are unrolled.
MOST_CYCLES = 256


@dataclass(frozen=True, slots=True)
class RtlModule:
    """A module in the role of a unit: its netlist, operand ports, and latency.

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
        """The output port of the result."""
        return next(p for p in self.places if p.operand == RESULT)

    def port_values(self, spec: UnitSpec, w: Witness) -> dict[str, tuple[int, int]]:
        """The value and width of every connected input port on a witness."""
        values = port_values(self.places, self.ties, spec, w)
        return {port: (value, self.flat.inputs[port]) for port, value in values.items()}

    def assumed(self) -> dict[str, Any]:
        """The assumptions of an answer about the module: clock, constant inputs, undefined bits."""
        return {
            **self.clocking.to_json(), "latency": self.latency, "ties": dict(self.ties),
            "undefined": self.undefined,
        }  # fmt: skip

    def evaluate(self, spec: UnitSpec, w: Witness) -> int:
        """Evaluate a witness in yosys; NoAnswerError where that gives no result."""
        p = self.result
        inputs = {port: x for port, x in self.port_values(spec, w).items() if port not in self.ties}
        whole = self.flat.evaluate(inputs, p.port, self.latency)
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
    """Read RTL and map a unit's operands to its ports; `folder` is an empty one for work files.

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
    """Build the question whether a module ever differs from one call of a unit.

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
