"""yosys reads somebody's RTL, flattens it, and evaluates it on inputs."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcformal.errors import InputError, NoAnswerError
from tcformal.installed import install

#: Processes, hierarchy, memories and enables and resets of registers become plain cells and registers.
_FLATTEN = "hierarchy -check -top {top}; proc; flatten; memory; async2sync; dffunmap; opt_expr; opt_clean"
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
    """A design that yosys has read, flattened and written into a folder.

    Errors: NoAnswerError where the program is missing; InputError for what it cannot read, with the first
    error that it names.
    """

    def __init__(self, source: RtlSource, folder: Path) -> None:
        self._program, self._folder = source.program, folder
        for path in source.files:
            if not path.is_file():
                raise InputError(f"expected a file of RTL, but got {path}")
        flatten = _FLATTEN.format(top=source.top)
        self._run(
            [*source.commands(), *flatten.split("; "), "write_rtlil flat.il", "write_btor flat.btor"], _READ_S
        )
        #: The netlist in BTOR2.
        self.btor2 = (folder / "flat.btor").read_text()

    def evaluate(self, inputs: Mapping[str, tuple[int, int]], output: str, cycles: int) -> int | None:
        """The output on constant inputs (value, width) after some clock edges, as yosys finds it.

        None where it names no value of defined bits.
        """
        # Constants first: what they fold away does not reach yosys' SAT solver.
        given = [
            command
            for name, (value, width) in inputs.items()
            for command in (f"delete -input {name}", f"connect -set {name} {width}'b{value:0{width}b}")
        ]
        log = self._run(
            ["read_rtlil flat.il", *given, "opt", f"sat -seq {cycles + 1} -show {output}"], _EVALUATE_S
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
        return done.stdout
