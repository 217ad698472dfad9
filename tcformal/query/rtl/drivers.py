"""What drives each wire of a flattened design: one thing of known value, or one sentence about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tcformal.errors import InputError

#: What yosys' `check` says, with the name of the wire.
_UNDRIVEN = re.compile(r"Wire \S+?\.(\S+(?: \[\d+\])?) is used but has no driver")
_LOOP = re.compile(r"found logic loop in module \S+", re.IGNORECASE)
#: Cells whose outputs are no function of the design's inputs and registers.
_FREE = ("$anyconst", "$anyseq", "$allconst", "$allseq", "$initstate", "$get_tag", "$overwrite_tag")


def check_drivers(module: Mapping[str, Any], rtlil: str) -> None:
    """Refuse inout ports, tri-state, black boxes and wires with several drivers.

    `module` and `rtlil` are the same design in JSON and in RTLIL before anything was simplified.
    """
    for name, port in module["ports"].items():
        if port["direction"] == "inout":
            raise InputError(f"expected ports that are inputs or outputs, but {name} is an inout")
        if "z" in port["bits"]:
            raise InputError(f"expected RTL without tri-state, but {name} is z")
    names = {bit: name for name, net in module["netnames"].items() if not net["hide_name"]
             for bit in net["bits"]}  # fmt: skip
    for name, cell in module["cells"].items():
        kind, wires = cell["type"], cell["connections"]
        ways = cell["port_directions"]
        outputs = (bit for port, bits in wires.items() if ways.get(port) == "output" for bit in bits)
        at = next((names[bit] for bit in outputs if bit in names), name)
        if not kind.startswith("$"):
            raise InputError(f"expected the content of every module, but {name} is a black box ({kind})")
        if kind == "$tribuf" or any("z" in bits for bits in wires.values()):
            raise InputError(f"expected RTL without tri-state, but {at} may be z")
        if kind in _FREE:
            raise InputError(f"expected RTL that is no statement of a property, but {at} comes from {kind}")
    if (wire := next(_driven_twice(module, rtlil), None)) is not None:
        raise InputError(f"expected one driver of each wire, but {wire.lstrip(chr(92))} has several")


def check_memories(module: Mapping[str, Any]) -> None:
    """Refuse memories that are read and neither written nor given a content."""
    kinds: dict[str, set[str]] = {}
    for cell in module["cells"].values():
        memory = str(cell["parameters"].get("MEMID", ""))
        kinds.setdefault(memory, set()).add(re.sub(r"_v\d$", "", cell["type"]))
    for memory, found in kinds.items():
        if "$memrd" in found and not found & {"$memwr", "$meminit"}:
            raise InputError(
                f"expected memories that are written or have a content, but {memory.lstrip(chr(92))} "
                "is only read"
            )


def check_undriven(log: str) -> None:
    """Refuse wires that are used and not driven, and logic that feeds itself, as yosys' `check` says."""
    if undriven := _UNDRIVEN.search(log):
        raise InputError(
            f"expected a driver of each wire, but nothing drives {undriven.group(1).lstrip(chr(92))}"
        )
    if _LOOP.search(log):
        raise InputError("expected logic that does not feed itself without a register, but got a loop")


def undefined_bits(module: Mapping[str, Any]) -> int:
    """The number of undefined bits (x) that cells and ports of a module use.

    A selection from a word by an index that may lie beyond it counts as one.
    """
    cells = list(module["cells"].values())
    used = [bits for cell in cells for bits in cell["connections"].values()]
    used += [port["bits"] for port in module["ports"].values()]
    beyond = sum(_may_lie_beyond(cell["parameters"]) for cell in cells if cell["type"] == "$shiftx")
    return beyond + sum(1 for bits in used for bit in bits if bit == "x")


def _may_lie_beyond(parameters: Mapping[str, str]) -> bool:
    whole, index, width = (int(parameters[name], 2) for name in ("A_WIDTH", "B_WIDTH", "Y_WIDTH"))
    return int(parameters["B_SIGNED"], 2) == 1 or index > 32 or (1 << index) - 1 + width > whole


#: A wire, or some of its bits, as RTLIL writes them.
_WIRE = re.compile(r"([\\$]\S+)(?: \[(\d+)(?::(\d+))?\])?")


def _driven_twice(module: Mapping[str, Any], rtlil: str) -> Iterator[str]:
    """The wires with a bit that several of cells, connections and input ports drive.

    yosys' `check` does not see those of which one is a constant.
    """
    rows = [line.split() for line in re.findall(r"^  wire (.*)$", rtlil, re.MULTILINE)]
    widths = {row[-1]: int(row[row.index("width") + 1]) if "width" in row else 1 for row in rows}
    driven = {row[-1]: (1 << widths[row[-1]]) - 1 for row in rows if "input" in row}
    for left in _driven(module, rtlil):
        # Without braces it is one wire; what stands behind it is its source.
        found = list(_WIRE.finditer(left)) if left.startswith("{") else [_WIRE.match(left)]
        for wire, top, bottom in (x.groups() for x in found if x is not None):
            high = widths.get(wire, 1) - 1 if top is None else int(top)
            low = int(bottom or top or 0)
            bits = ((1 << (high - low + 1)) - 1) << low
            if driven.get(wire, 0) & bits:
                yield wire
            driven[wire] = driven.get(wire, 0) | bits


def _driven(module: Mapping[str, Any], rtlil: str) -> Iterator[str]:
    """The driven side of each connection, and the outputs of each cell."""
    ways: Mapping[str, str] = {}
    for line in rtlil.splitlines():
        if line.startswith("  cell "):
            ways = module["cells"][line.split()[2].removeprefix("\\")]["port_directions"]
        elif line.startswith("  connect "):
            yield line[10:].partition(" } ")[0]
        elif line.startswith("    connect "):
            port, _, wires = line[12:].partition(" ")
            if ways[port.removeprefix("\\")] == "output":
                yield wires
