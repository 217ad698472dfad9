"""An RTL module in the role of a unit: its ports, its netlist, its question; apart from the command on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from tcformal.checks import check_int, shown
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, NoAnswerError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.oracle.values import value_data
from tcformal.query.assume import Assumptions, assume_of_unit
from tcformal.query.pair import EqualityQuestion, EqualityReplay
from tcformal.query.question import RawInputs
from tcformal.query.yosys import Clocking, FlatRtl, RtlSource
from tcformal.semantics.chain import chained_dot, declare_inputs, scale_count
from tcformal.shown import JsonObject
from tcformal.simulation.operands.witness import Witness, by_value, explain_command
from tcformal.simulation.replay import oracle_result

#: `a=x`, `a[1]=x[31:16]`, `d=y[7]`.
_MAPPED = re.compile(r"(\w+)(?:\[(\d{1,9})\])?=(\w+)(?:\[(\d{1,9})(?::(\d{1,9}))?\])?")
#: `rst_n=1`, `mode=0x3`, `mode=3'b101`, `mode=3'h5`.
_TIED = re.compile(
    r"(\w+)=(?:(0[xX][0-9a-fA-F]+|\d{1,999})|\d+'b([01]+)|\d+'h([0-9a-fA-F]+)|\d+'d(\d{1,999}))"
)
RESULT = "d"


@dataclass(frozen=True, slots=True)
class PortBits:
    """The bits `high` to `low` of a port, which carry an operand, an element, or the result."""

    operand: str
    port: str
    high: int
    low: int


def tied(text: str) -> tuple[str, int]:
    """Parse a constant port such as `rst_n=1`; InputError for another text."""
    match = _TIED.fullmatch(text.strip())
    if match is None:
        raise InputError(f"expected NAME=VALUE, such as rst_n=1 or mode=3'b101, but got {shown(text)}")
    name, plain, binary, hexadecimal, decimal = match.groups()
    if plain is not None:
        return name, int(plain, 0)
    return name, int(binary or hexadecimal or decimal, 2 if binary else 16 if hexadecimal else 10)


def operand_widths(spec: UnitSpec) -> dict[str, tuple[int, int]]:
    """The number of elements and their width in bits, for each operand and the result."""
    o, k = spec.operands, spec.k
    widths = {"a": (k, o.a.width), "b": (k, o.b.width), "c": (1, o.c.width), RESULT: (1, o.d.width)}
    if spec.scale_format is not None:
        count = scale_count(spec, k)
        widths |= dict.fromkeys(("scale_a", "scale_b"), (count, spec.scale_format.width))
    return widths


def mapped(spec: UnitSpec, texts: Sequence[str], ports: Mapping[str, int]) -> list[PortBits]:
    """Parse port maps `OPERAND=PORT[high:low]` or `OPERAND[i]=PORT[high:low]` into the bits of each operand.

    An operand that no text names is looked for in a port of its own name; element 0 has the lowest bits.
    Errors: InputError for other texts, ports and bits that do not exist, and other widths.
    """
    widths = operand_widths(spec)
    found = [_bits(widths, ports, text) for text in texts]
    named = {bits.operand.partition("[")[0] for bits in found}
    found += [_bits(widths, ports, f"{name}={name}") for name in widths if name not in named]
    given = [bits.operand for bits in found]
    for name, (count, _) in widths.items():
        elements = [f"{name}[{i}]" for i in range(count)]
        times = [given.count(x) for x in (name, *elements)]
        if times not in ([1] + [0] * count, [0] + [1] * count):
            raise InputError(
                f"expected {name}, or each of {elements[0]} to {elements[-1]}, to be mapped once"
            )
    return found


def _bits(widths: Mapping[str, tuple[int, int]], ports: Mapping[str, int], text: str) -> PortBits:
    parsed = _MAPPED.fullmatch(text.strip())
    if parsed is None:
        raise InputError(f"expected OPERAND=PORT or OPERAND[i]=PORT[high:low], but got {shown(text)}")
    operand, element, port, high, low = parsed.groups()
    if operand not in widths:
        raise InputError(f"expected one of {', '.join(widths)} as the operand, but got {operand!r}")
    count, width = widths[operand]
    if element is not None and int(element) >= count:
        raise InputError(f"expected an element of {operand} below {count}, but got {operand}[{element}]")
    if port not in ports:
        raise InputError(f"expected {operand} in a port of the module ({', '.join(ports)}), but got {port!r}")
    top = ports[port] - 1 if high is None else int(high)
    bottom = 0 if high is None else int(low or high)
    if not bottom <= top < ports[port]:
        raise InputError(f"expected bits of {port}, which has {ports[port]}, but got [{top}:{bottom}]")
    needed = width if element is not None else count * width
    name = operand if element is None else f"{operand}[{element}]"
    if top - bottom + 1 != needed:
        raise InputError(f"expected {needed} bits for {name}, but got {port}[{top}:{bottom}]")
    return PortBits(name, port, top, bottom)


def port_values(
    places: Sequence[PortBits], ties: Mapping[str, int], spec: UnitSpec, w: Witness
) -> dict[str, int]:
    """The value of every mapped or tied input port on a witness, with zero in unmapped bits."""
    values = dict(ties)
    inputs, widths = w.inputs(), operand_widths(spec)
    for p in (p for p in places if p.operand != RESULT):
        if p.operand in inputs:
            value = inputs[p.operand]
        else:
            count, width = widths[p.operand]
            value = sum(inputs[f"{p.operand}[{i}]"] << i * width for i in range(count))
        values[p.port] = values.get(p.port, 0) | value << p.low
    return values


def port_nodes(
    g: Graph, places: Sequence[PortBits], ties: Mapping[str, int], ports: Mapping[str, int]
) -> dict[str, Node]:
    """The node of every input port: mapped operands, and constants for tied ports.

    All other bits are fresh inputs `port NAME[high:low]`.
    Errors: InputError for a tie that is no port or does not fit, and for bits with two meanings.
    """
    for name, value in ties.items():
        if name not in ports or not 0 <= value < 1 << ports[name]:
            raise InputError(
                f"expected an input port that holds the tied value, but got {name}={shown(value)}"
            )
    made = {}
    for port, width in ports.items():
        if port in ties:
            made[port] = g.const(ties[port], width)
            if any(p.port == port for p in places):
                raise InputError(f"expected {port} to be mapped or tied, but it is both")
            continue
        own = sorted((p for p in places if p.port == port), key=lambda p: p.low)
        made[port] = g.concat(*reversed([*_pieces(g, own, port, width)]))
    return made


def _pieces(g: Graph, places: Sequence[PortBits], port: str, width: int) -> Iterator[Node]:
    """The bit fields of a port as nodes, lowest first; unmapped bits become fresh inputs."""
    at = 0
    for p in places:
        if p.low < at:
            raise InputError(f"expected one meaning for each bit of {port}, but bit {p.low} has two")
        if p.low > at:
            yield g.input(f"port {port}[{p.low - 1}:{at}]", p.low - at)
        elements = [node for name, node in g.inputs.items() if name.startswith(f"{p.operand}[")]
        yield g.inputs[p.operand] if p.operand in g.inputs else g.concat(*reversed(elements))
        at = p.high + 1
    if at < width:
        yield g.input(f"port {port}[{width - 1}:{at}]", width - at)


@dataclass(frozen=True, slots=True)
class RtlQuestion(EqualityQuestion):
    """The question whether a module ever differs from a unit; results are the unit's, then the module's.

    Answers are not kept, because the files may change.
    """

    KIND = "rtl"

    module: str
    #: The result of the module on a witness, found by the tool that read it.
    evaluate: Callable[[Witness], int]

    @property
    def names(self) -> tuple[str, str]:
        """The names of the unit and of the module."""
        return self.first.name, self.module

    def replay(self, inputs: RawInputs) -> EqualityReplay:
        w = Witness.of(inputs, self.k)
        assumed, _, unit, module = self.evaluator()(w.inputs())
        oracle = oracle_result(self.first, w), self.evaluate(w)
        return EqualityReplay(w, bool(assumed), (unit, module), oracle)

    def found_text(self, finder: str) -> str:
        return f"{finder} found inputs; replayed on integers, on exact fractions, and by yosys on the RTL"

    def none_text(self, deciders: str) -> str:
        same = "the netlist folds into the unit's definition; " if self.same_definition else ""
        return f"{same}{deciders} found no inputs on which they differ"

    def results_data(self, replayed: EqualityReplay) -> JsonObject:
        pairs = zip(("unit", "module"), replayed.integers, strict=True)
        return {"results": {name: value_data(self.first.operands.d, raw) for name, raw in pairs}}

    def commands(self, replayed: EqualityReplay) -> list[str]:
        return [explain_command([self.first.name], replayed.witness, by_value(self.first), command="eval")]


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
        content = {r: g.input(f"register {r}", _width(self.rows, r)) for r in self.registers}
        for _ in range(cycles):
            values = self._cycle(g, given, content)
            content = {r: values[after] for r, after in self.registers.items()}
        values = self._cycle(g, given, content)
        return {row[3]: values[int(row[2])] for row in self.rows.values() if row[1] == "output"}

    def _cycle(self, g: Graph, given: Mapping[str, Node], content: Mapping[int, Node]) -> dict[int, Node]:
        """Evaluate every line in one clock cycle; key -n holds the complement of line n."""
        made: dict[int, Node] = {}
        for number, row in self.rows.items():
            kind = row[1]
            if kind in ("sort", "output", "next", "init"):
                continue
            width = _width(self.rows, number)
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
        ports = {r[3]: _width(rows, n) for n, r in rows.items() if r[1] == "input" and len(r) > 3}
        results = {r[3]: _width(rows, abs(int(r[2]))) for r in rows.values() if r[1] == "output"}
        registers = {int(r[3]): int(r[4]) for r in rows.values() if r[1] == "next"}
    except (IndexError, KeyError, ValueError) as error:
        raise InputError(f"expected a netlist in BTOR2, but got one with {error!r}") from error
    return RtlNetlist(rows, ports, results, registers)


def _width(rows: Mapping[int, _Row], number: int) -> int:
    return int(rows[int(rows[number][2])][3])


# ------------------------------------------------------------------------------ operators
def _inverted(make: Callable[..., Node]) -> Callable[..., Node]:
    return lambda g, *args: g.not_(make(g, *args))


def _swapped(make: Callable[..., Node]) -> Callable[..., Node]:
    return lambda g, x, y: make(g, y, x)


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


_OPERATORS: dict[str, tuple[int, Callable[..., Node]]] = {
    "not": (1, Graph.not_),
    "neg": (1, Graph.neg_mod),
    "inc": (1, lambda g, x: g.add_mod(x, g.const(1, x.width))),
    "dec": (1, lambda g, x: g.sub_mod(x, g.const(1, x.width))),
    "redor": (1, Graph.any_bit),
    "redand": (1, lambda g, x: g.is_zero(g.not_(x))),
    "redxor": (1, lambda g, x: reduce(g.xor, (g.bit(x, i) for i in range(x.width)))),
    "and": (2, Graph.and_),
    "nand": (2, _inverted(Graph.and_)),
    "or": (2, Graph.or_),
    "nor": (2, _inverted(Graph.or_)),
    "xor": (2, Graph.xor),
    "xnor": (2, _inverted(Graph.xor)),
    "implies": (2, lambda g, x, y: g.or_(g.not_(x), y)),
    "iff": (2, Graph.eq),
    "eq": (2, Graph.eq),
    "neq": (2, _inverted(Graph.eq)),
    "ult": (2, Graph.ult),
    "ulte": (2, Graph.ule),
    "ugt": (2, _swapped(Graph.ult)),
    "ugte": (2, _swapped(Graph.ule)),
    "slt": (2, Graph.slt),
    "slte": (2, Graph.sle),
    "sgt": (2, _swapped(Graph.slt)),
    "sgte": (2, _swapped(Graph.sle)),
    "add": (2, Graph.add_mod),
    "sub": (2, Graph.sub_mod),
    "mul": (2, _product),
    "sll": (2, Graph.shl_mod),
    "srl": (2, Graph.lshr),
    "sra": (2, Graph.ashr),
    "concat": (2, Graph.concat),
    "ite": (3, Graph.ite),
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

    def assumed(self) -> JsonObject:
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
