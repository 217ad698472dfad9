"""The port map between a unit's operands and an RTL module."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tcformal.checks import shown
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import scale_count
from tcformal.simulation.operands.witness import Witness

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
    widths, found = operand_widths(spec), []
    for text in texts:
        parsed = _MAPPED.fullmatch(text.strip())
        if parsed is None:
            raise InputError(f"expected OPERAND=PORT or OPERAND[i]=PORT[high:low], but got {shown(text)}")
        operand, element, port, high, low = parsed.groups()
        found.append(_bits(widths, ports, operand, element, port, high, low))
    named = {bits.operand.partition("[")[0] for bits in found}
    found += [_bits(widths, ports, name, None, name, None, None) for name in widths if name not in named]
    given = [bits.operand for bits in found]
    for name, (count, _) in widths.items():
        elements = [f"{name}[{i}]" for i in range(count)]
        times = [given.count(x) for x in (name, *elements)]
        if times not in ([1] + [0] * count, [0] + [1] * count):
            raise InputError(
                f"expected {name}, or each of {elements[0]} to {elements[-1]}, to be mapped once"
            )
    return found


def _bits(
    widths: Mapping[str, tuple[int, int]],
    ports: Mapping[str, int],
    operand: str,
    element: str | None,
    port: str,
    high: str | None,
    low: str | None,
) -> PortBits:
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
    for p in places:
        if p.operand != RESULT:
            values[p.port] = values.get(p.port, 0) | _value(p.operand, spec, w.inputs()) << p.low
    return values


def _value(operand: str, spec: UnitSpec, inputs: Mapping[str, int]) -> int:
    if operand in inputs:
        return inputs[operand]
    count, width = operand_widths(spec)[operand]
    return sum(inputs[f"{operand}[{i}]"] << i * width for i in range(count))


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
        pieces = list(
            _pieces(g, sorted((p for p in places if p.port == port), key=lambda p: p.low), port, width)
        )
        made[port] = g.concat(*reversed(pieces))
    return made


def _pieces(g: Graph, places: Sequence[PortBits], port: str, width: int) -> Iterator[Node]:
    """The bit fields of a port as nodes, lowest first; unmapped bits become fresh inputs."""
    at = 0
    for p in places:
        if p.low < at:
            raise InputError(f"expected one meaning for each bit of {port}, but bit {p.low} has two")
        if p.low > at:
            yield g.input(f"port {port}[{p.low - 1}:{at}]", p.low - at)
        yield _operand(g, p)
        at = p.high + 1
    if at < width:
        yield g.input(f"port {port}[{width - 1}:{at}]", width - at)


def _operand(g: Graph, p: PortBits) -> Node:
    if p.operand in g.inputs:
        return g.inputs[p.operand]
    elements = [node for name, node in g.inputs.items() if name.startswith(f"{p.operand}[")]
    return g.concat(*reversed(elements))
