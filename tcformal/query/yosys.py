"""Yosys as RTL reader: it parses, flattens and evaluates a design, and its clock is found."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.checks import shown
from tcformal.errors import InputError, NoAnswerError
from tcformal.installed import install
from tcformal.shown import JsonObject

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

    def to_json(self) -> JsonObject:
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
    cells = {
        name: cell
        for name, cell in module["cells"].items()
        if cell["type"] in (*_CLOCKED, *_UNCLOCKED, "$ff") or cell["type"].startswith(_GATE_REGISTERS)
    }
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


#: What yosys' `check` says, with the name of the wire.
_UNDRIVEN = re.compile(r"Wire \S+?\.(\S+(?: \[\d+\])?) is used but has no driver")
_LOOP = re.compile(r"found logic loop in module \S+", re.IGNORECASE)
#: Cells whose outputs are no function of the design's inputs and registers.
_FREE = ("$anyconst", "$anyseq", "$allconst", "$allseq", "$initstate", "$get_tag", "$overwrite_tag")


def check_drivers(module: Mapping[str, Any], rtlil: str) -> None:
    """Raise InputError for inout ports, tri-states, black boxes and multiply driven wires.

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
    """Raise InputError for memories that are read but never written or initialised."""
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
    """Raise InputError for undriven wires and combinational loops in the log of yosys' `check`."""
    if undriven := _UNDRIVEN.search(log):
        raise InputError(
            f"expected a driver of each wire, but nothing drives {undriven.group(1).lstrip(chr(92))}"
        )
    if _LOOP.search(log):
        raise InputError("expected logic that does not feed itself without a register, but got a loop")


def undefined_bits(module: Mapping[str, Any]) -> int:
    """The number of undefined bits (x) in cells and ports of a module.

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
    """The wires with a bit that has several drivers among cells, connections and input ports.

    yosys' `check` does not see those of which one is a constant.
    """
    rows = [line.split() for line in re.findall(r"^  wire (.*)$", rtlil, re.MULTILINE)]
    widths = {row[-1]: int(row[row.index("width") + 1]) if "width" in row else 1 for row in rows}
    driven = {row[-1]: (1 << widths[row[-1]]) - 1 for row in rows if "input" in row}
    for left in _driven(module, rtlil):
        # Without braces it is one wire; what stands behind it is its source.
        wires = list(_WIRE.finditer(left)) if left.startswith("{") else [_WIRE.match(left)]
        for wire, top, bottom in (x.groups() for x in wires if x is not None):
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


#: Processes and hierarchy become cells.  Nothing is simplified yet: that would choose values for z and for x,
#: and one of several drivers.
_FLATTEN = "hierarchy -check -top {top}; proc -noopt; setattr -mod -unset keep_hierarchy *; flatten"
#: What is left of the logic without choosing values for x.
_CLEAN = ("opt_expr -keepdc", "opt_clean")
#: Enables, resets and latches become logic around plain registers; undefined bits become zeros.
_PLAIN = ("async2sync", "dffunmap", *_CLEAN, "write_json plain.json", "chtype -set $shift t:$shiftx",
          "setundef -zero", *_CLEAN, "write_rtlil plain.il", "write_btor plain.btor")  # fmt: skip
#: Seconds for reading; for one evaluation.
_READ_S, _EVALUATE_S = 600.0, 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RtlSource:
    """The source files of a design, its top module, and the reading options.

    Ranges and units: `parameters` and `defines` are texts NAME=VALUE.
    """

    files: Sequence[Path]
    top: str
    parameters: Sequence[str] = ()
    defines: Sequence[str] = ()
    includes: Sequence[Path] = ()
    #: The program: Debian's yosys, or another one of its commands.
    program: str = "yosys"
    #: Whether its frontend slang reads the files; yosys' own one knows little of SystemVerilog.
    slang: bool = False

    def commands(self) -> list[str]:
        """The yosys commands that read the files."""
        include = [f"-I{path.resolve()}" for path in self.includes]
        define = [f"-D{text}" for text in self.defines]
        files = [str(path.resolve()) for path in self.files]
        if self.slang:
            parameter = [x for text in self.parameters for x in ("-G", text)]
            return [
                " ".join(["read_slang --threads 1 --top", self.top, *include, *define, *parameter, *files])
            ]
        read = [" ".join(["read_verilog -sv", *include, *define, *files])]
        for text in self.parameters:
            name, _, value = text.partition("=")
            read.append(f"chparam -set {name} {value} {self.top}")
        return read


#: A line in which yosys or slang names an error.
_ERROR = re.compile(r"ERROR|\berror:|Assert")


class FlatRtl:
    """A design that yosys has flattened into a folder.

    Shapes: `inputs` and `outputs` hold the width of each port by name.
    Errors: NoAnswerError where the program is missing; InputError for what it cannot read, with the first
    error that it names; for inout ports, tri-state, black boxes, several drivers, memories without content.
    """

    def __init__(self, source: RtlSource, folder: Path) -> None:
        self._program, self._folder, self._top = source.program, folder, source.top
        for path in source.files:
            if not path.is_file():
                raise InputError(f"expected a file of RTL, but got {path}")
        self._run(
            [*source.commands(), *_FLATTEN.format(top=source.top).split("; "), "write_rtlil raw.il",
             "write_json raw.json", *_CLEAN, "memory", *_CLEAN, "write_rtlil flat.il",
             "write_json flat.json"],
            _READ_S,
        )  # fmt: skip
        raw = self._module("raw.json")
        check_drivers(raw, (folder / "raw.il").read_text())
        check_memories(raw)
        self._flat = self._module("flat.json")
        ports = {name: (port["direction"], len(port["bits"])) for name, port in raw["ports"].items()}
        self.inputs = {name: width for name, (way, width) in ports.items() if way == "input"}
        self.outputs = {name: width for name, (way, width) in ports.items() if way == "output"}

    def _module(self, name: str) -> Mapping[str, Any]:
        modules = json.loads((self._folder / name).read_text())["modules"]
        found: Mapping[str, Any] = next(
            m for key, m in modules.items() if key == self._top or int(m["attributes"].get("top", "0"), 2)
        )
        return found

    def compiled(self, ties: Mapping[str, int], output: str) -> tuple[str, Clocking, int]:
        """The logic of one output with tied inputs: a BTOR2 netlist, its clock, its undefined bits.

        Errors: InputError for a tie that is no input or does not fit it; those of `clocking`; wires that
        nothing drives; logic that feeds itself.
        """
        for name, value in ties.items():
            if not 0 <= value < 1 << self.inputs.get(name, 0):
                raise InputError(
                    f"expected an input port that holds the tied value, but got {name}={shown(value)}"
                )
        others = [f"delete -output */{name}" for name in self.outputs if name != output]
        log = self._run(
            ["read_rtlil flat.il", *others, *self._tied({n: (v, self.inputs[n]) for n, v in ties.items()}),
             *_CLEAN, "check", "write_rtlil tied.il", "write_json tied.json"],
            _READ_S,
        )  # fmt: skip
        tied = self._module("tied.json")
        check_undriven(log)
        clocked = clocking(tied, self._flat)
        self._run(["read_rtlil tied.il", *_PLAIN], _READ_S)
        return (self._folder / "plain.btor").read_text(), clocked, undefined_bits(self._module("plain.json"))

    @staticmethod
    def _tied(values: Mapping[str, tuple[int, int]]) -> list[str]:
        """The yosys commands that tie inputs to constants (value, width)."""
        return [
            command
            for name, (value, width) in values.items()
            for command in (f"delete -input */{name}", f"connect -set {name} {width}'b{value:0{width}b}")
        ]

    def evaluate(self, inputs: Mapping[str, tuple[int, int]], output: str, cycles: int) -> int | None:
        """Evaluate one output in yosys on constant inputs (value, width) after `cycles` clock edges.

        None where it names no value of defined bits.
        """
        # Constants first: what they fold away does not reach yosys' SAT solver.
        log = self._run(
            ["read_rtlil plain.il", *self._tied(inputs), "opt", f"sat -seq {cycles + 1} -show {output}"],
            _EVALUATE_S,
        )
        rows = re.findall(rf"^\s+(\d+) \\{re.escape(output)}\s.*\s([01]+)\s*$", log, re.MULTILINE)
        values = {int(time): int(bits, 2) for time, bits in rows}
        return values.get(cycles + 1)

    def _run(self, commands: Sequence[str], seconds: float) -> str:
        """Run yosys and return its output; InputError with its error message where it fails."""
        if shutil.which(self._program) is None:
            how = install("rtl") if "yowasp" in self._program else "apt-get install yosys"
            raise NoAnswerError(f"expected the program {self._program}, but it is not installed: {how}")
        (self._folder / "commands.ys").write_text("\n".join([*commands, ""]))
        try:
            done = subprocess.run(
                [self._program, "-s", "commands.ys"], cwd=self._folder, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NoAnswerError(f"expected {self._program} to end in {seconds:g} s, but it did not") from None
        if done.returncode != 0:
            lines = [x for x in (done.stdout + done.stderr).splitlines() if _ERROR.search(x)]
            raise InputError(
                f"expected RTL that {self._program} reads, but got: {(lines or ['no message'])[0].strip()}"
            )
        return done.stdout + done.stderr
