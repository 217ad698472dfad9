"""Clock analysis of a flattened design: a single edge of one input port, or an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tcformal.errors import InputError

#: The controls of each kind of register that act without a clock: (port, parameter of polarity, word).
_SET_CLEAR = (("SET", "SET_POLARITY", "set"), ("CLR", "CLR_POLARITY", "reset"))
_ARST = (("ARST", "ARST_POLARITY", "reset"),)
_ALOAD = (("ALOAD", "ALOAD_POLARITY", "load"),)
_ENABLE = (("EN", "EN_POLARITY", "enable of a latch"),)
_CLOCKED: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "$dff": (), "$dffe": (), "$sdff": (), "$sdffe": (), "$sdffce": (), "$adff": _ARST, "$adffe": _ARST,
    "$dffsr": _SET_CLEAR, "$dffsre": _SET_CLEAR, "$aldff": _ALOAD, "$aldffe": _ALOAD,
}  # fmt: skip
_UNCLOCKED: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "$sr": _SET_CLEAR, "$dlatch": _ENABLE, "$adlatch": (*_ENABLE, *_ARST),
    "$dlatchsr": (*_ENABLE, *_SET_CLEAR),
}  # fmt: skip
#: Cells of one bit, as libraries of gates are mapped to; they are no part of Verilog.
_GATE_REGISTERS = ("$_DFF", "$_SDFF", "$_ALDFF", "$_DLATCH", "$_SR_", "$_FF_")
_EDGES = {True: "rising", False: "falling"}


@dataclass(frozen=True, slots=True)
class Control:
    """An asynchronous control: a set, reset, load or latch enable; `active` is None if a register
    drives it."""

    word: str
    signal: str
    active: bool | None

    @property
    def text(self) -> str:
        """The control as text: `asynchronous reset rst_n inactive`."""
        state = {True: "active", False: "inactive", None: "from a register"}[self.active]
        return f"asynchronous {self.word} {self.signal} {state}".replace("asynchronous enable", "enable")


@dataclass(frozen=True, slots=True)
class Clocking:
    """The clock of all registers: one edge of one bit of an input port, or none without registers."""

    port: str | None
    #: Such as `clk` or `clocks[1]`.
    signal: str
    rising: bool
    controls: tuple[Control, ...]

    @property
    def edge(self) -> str:
        """The clock edge, `rising` or `falling`."""
        return _EDGES[self.rising]

    def to_json(self) -> dict[str, Any]:
        """The clock, its edge, and the asynchronous controls, as plain data."""
        clock = None if self.port is None else {"signal": self.signal, "edge": self.edge}
        controls = [{"kind": c.word, "signal": c.signal, "active": c.active} for c in self.controls]
        return {"clock": clock, "asynchronous": controls}


def clocking(module: Mapping[str, Any], untied: Mapping[str, Any]) -> Clocking:
    """Find the clock of a module in yosys' JSON; `untied` is the module before inputs were tied.

    A set or reset without a clock has to be constant or a register, a latch has to be always open or closed:
    then one cycle of the clock says all that happens between two of its edges.
    Errors: InputError where registers have no clock, a constant one, one that logic makes, or several.
    """
    names, before = _names(module), _names(untied)
    ports = {bit: (name, i, len(port["bits"])) for name, port in module["ports"].items()
             if port["direction"] == "input" for i, bit in enumerate(port["bits"])}  # fmt: skip
    cells = {name: cell for name, cell in module["cells"].items() if _is_register(cell["type"])}
    held = {bit for cell in cells.values() for bit in cell["connections"].get("Q", ())}
    found: dict[tuple[str, bool], str] = {}
    controls: dict[Control, None] = {}
    for name, cell in cells.items():
        kind, wires = cell["type"], cell["connections"]
        register = _named(wires.get("Q", ()), names) or name
        old = untied["cells"].get(name, cell)["connections"]
        if kind not in _CLOCKED and kind not in _UNCLOCKED:
            raise InputError(f"expected registers with a clock of their own, but {register} is a {kind}")
        for port, polarity, word in _CLOCKED.get(kind) or _UNCLOCKED.get(kind) or ():
            if all(bit in ("0", "1") for bit in old[port]):
                continue  # the RTL's own constant: nothing is assumed
            signal = _named(old[port], before)
            high = _parameter(cell, polarity)
            for bit in wires[port]:
                if bit in held and word in ("set", "reset"):
                    controls[Control(word, signal, None)] = None
                elif bit in ("0", "1"):
                    controls[Control(word, signal, (bit == "1") == high)] = None
                else:
                    raise InputError(
                        f"expected the {word} to be constant once ports are tied, as only edges of the clock "
                        f"are followed, but that of {register} is {_source(bit, names, ports)}"
                    )
        if kind in _CLOCKED:
            (bit,) = wires["CLK"]
            if bit in ("0", "1", "x"):
                was = _named(old["CLK"], before)
                raise InputError(
                    f"expected a clock for {register}, but {was or 'its clock'} is constant"
                    + (" once ports are tied" if was else "")
                )
            if bit not in ports:
                raise InputError(
                    f"expected registers clocked by an input port itself, but {register} is clocked by "
                    f"{_source(bit, names, ports)}"
                )
            found.setdefault((bit, _parameter(cell, "CLK_POLARITY")), register)
    if len(found) > 1:
        texts = [f"{register} by the {_EDGES[rising]} edge of {_source(bit, names, ports)}"
                 for (bit, rising), register in found.items()]  # fmt: skip
        raise InputError(f"expected one edge of one clock, but got {len(texts)}: {', '.join(texts[:3])}")
    if not found:
        return Clocking(None, "", True, tuple(controls))
    ((bit, rising),) = found
    name, i, width = ports[bit]
    return Clocking(name, name if width == 1 else f"{name}[{i}]", rising, tuple(controls))


def _is_register(kind: str) -> bool:
    return kind in _CLOCKED or kind in _UNCLOCKED or kind == "$ff" or kind.startswith(_GATE_REGISTERS)


def _parameter(cell: Mapping[str, Any], name: str) -> bool:
    value = cell["parameters"][name]
    return bool(int(value, 2) if isinstance(value, str) else value)


def _names(module: Mapping[str, Any]) -> dict[Any, str]:
    """The name of each bit: a port, else a wire of the source, else a generated wire."""
    names: dict[Any, tuple[bool, int, str]] = {}
    for name, net in module["netnames"].items():
        for i, bit in enumerate(net["bits"]):
            text = name if len(net["bits"]) == 1 else f"{name}[{i}]"
            rank = (bool(net["hide_name"]), len(name), text)
            if bit not in names or rank < names[bit]:
                names[bit] = rank
    return {
        bit: text for bit, (hidden, _, text) in names.items() if not hidden and bit not in ("0", "1", "x")
    }


def _named(bits: Any, names: Mapping[Any, str]) -> str:
    """The name of a signal from its first bit, without the bit index if it has several."""
    name = next((names[bit] for bit in bits if bit in names), "")
    return name.partition("[")[0] if len(bits) > 1 else name


def _source(bit: Any, names: Mapping[Any, str], ports: Mapping[Any, tuple[str, int, int]]) -> str:
    """A description of a signal: an input port, a named signal, or unnamed logic."""
    if bit in ports:
        name, i, width = ports[bit]
        return name if width == 1 else f"{name}[{i}]"
    return f"{names[bit]}, which logic makes" if bit in names else "logic"
