"""yosys reads somebody's RTL, flattens it, and evaluates it on inputs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.checks import shown
from tcformal.errors import InputError, NoAnswerError
from tcformal.installed import install
from tcformal.query.rtl.clocks import Clocking, clocking
from tcformal.query.rtl.drivers import check_drivers, check_memories, check_undriven, undefined_bits

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
    """The files of a design, its top module, and how they are read.

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
        """The commands of yosys that read the files."""
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
    """A design that yosys has read and flattened into a folder.

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

    def _module(self, name: str) -> dict[str, Any]:
        modules = json.loads((self._folder / name).read_text())["modules"]
        found = [
            m for key, m in modules.items() if key == self._top or int(m["attributes"].get("top", "0"), 2)
        ]
        return dict(found[0])

    def compiled(self, ties: Mapping[str, int], output: str) -> tuple[str, Clocking, int]:
        """The logic of one output with some inputs tied: a netlist in BTOR2, its clock, its undefined bits.

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
        """The commands that give inputs a value (value, width)."""
        return [
            command
            for name, (value, width) in values.items()
            for command in (f"delete -input */{name}", f"connect -set {name} {width}'b{value:0{width}b}")
        ]

    def evaluate(self, inputs: Mapping[str, tuple[int, int]], output: str, cycles: int) -> int | None:
        """The output on constant inputs (value, width) after some clock edges, as yosys finds it.

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
        """What yosys prints; InputError with its own error where it fails."""
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
