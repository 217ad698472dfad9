"""Debian's berkeley-abc decides whether some input sets a root of a network."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tcformal.errors import NoAnswerError
from tcformal.independent.gates import Network

PROGRAM = "berkeley-abc"
#: Rewriting, sweeping by simulation and SAT, and a SAT solver; before it, where inputs are expected, random
#: vectors and the SAT solver alone.
_PROOF, _FINDERS = "iprove", ("sim -F 1 -W 1000", "strash; dsat")
#: How the line begins with which abc says that no input sets the root, some input does, or it gives up.
_NONE, _FOUND, _OPEN = "UNSATISFIABLE ", ("SATISFIABLE ", "Simulation of 1 frame "), "UNDECIDED"


@dataclass(frozen=True, slots=True)
class AbcAnswer:
    """The answer about one root: `decided` is False where the time ran out or abc gave up.

    Ranges and units: `inputs` set the root, by name, where there are any; None where no input does.
    """

    decided: bool
    inputs: Mapping[str, int] | None = None


def check_installed() -> None:
    """NoAnswerError where berkeley-abc is not on the path."""
    if shutil.which(PROGRAM) is None:
        raise NoAnswerError(
            f"expected the program {PROGRAM}, but it is not installed: apt-get install {PROGRAM}"
        )


def ask_abc(net: Network, root: str, seconds: float, *, expected: bool = False) -> AbcAnswer:
    """Ask abc whether some input sets a root of one bit; where one is `expected`, vectors are tried first.

    Ranges and units: `seconds` for each of abc's commands.

    A counterexample is believed only after it has been evaluated on the gates that abc was given.
    Errors: NoAnswerError where abc is not installed, says neither, or its inputs do not set the root.
    """
    check_installed()
    with tempfile.TemporaryDirectory(prefix="tcformal-abc-") as name:
        folder = Path(name)
        (folder / "miter.aig").write_bytes(net.aiger(root))
        for command in (*(_FINDERS if expected else ()), _PROOF):
            lines, bits = _run(folder, command, seconds)
            if bits:
                break
    if any(line.startswith(_NONE) for line in lines):
        return AbcAnswer(decided=True)
    if not lines or any(line.startswith(_OPEN) for line in lines):
        return AbcAnswer(decided=False)
    if not bits:
        raise NoAnswerError(f"expected an answer of {PROGRAM}, but got {lines[-1]!r}")
    inputs = net.values([int(bit) for bit in bits])
    if net.evaluate([inputs])[0][root] != 1:
        raise NoAnswerError(f"expected inputs of {PROGRAM} that set {root}, but they do not")
    return AbcAnswer(decided=True, inputs=inputs)


def _run(folder: Path, command: str, seconds: float) -> tuple[list[str], str]:
    """What one command of abc says about the file, and the bits of the inputs that it found.

    No line where the time is up; no bits where it found none.
    """
    try:
        done = subprocess.run(
            [PROGRAM, "-q", f"read_aiger miter.aig; {command}; write_cex inputs"], cwd=folder,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return [], ""
    lines = done.stdout.splitlines() or [f"nothing, with exit code {done.returncode}"]
    if not any(line.startswith(_FOUND) for line in lines):
        return lines, ""
    return lines, (folder / "inputs").read_text().partition("#")[0].strip()
