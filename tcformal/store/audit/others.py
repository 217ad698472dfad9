"""Checkers by other people, and what they say of an answer's files; apart, because lists run none."""

from __future__ import annotations

import contextlib
import enum
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from tcformal.errors import TcformalError
from tcformal.theory.checked import AXIOMS, LOGICAL, compiled_sources

#: The files of an answer: clauses and their proof, and-gates whose output is never 1 or can be 1, Coq.
CLAUSES, PROOF, NEVER, CAN_BE = "question.cnf", "proof.lrat", "question.aig", "inputs.aig"
#: What ACL2 is given; it has to name its files itself.
ACL2_LINES = f"""\
(include-book "projects/sat/lrat/stobj-based/run" :dir :system)
(lrat::lrat-check "{CLAUSES}" "{PROOF}")
"""
_ACL2_FILE = "check.lisp"


class CheckStatus(enum.Enum):
    """What came of one check."""

    ACCEPTED = "accepted"
    REJECTED = "REJECTED"
    UNDECIDED = "no answer"
    MISSING = "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of an answer: who checked what, by which command, and what came of it."""

    what: str
    by: str
    status: CheckStatus
    #: One sentence or line.
    said: str
    #: A line for a shell in the folder of the files; empty for a check by this program.
    command: str = ""
    seconds: float = 0.0
    #: Whether the checker is a program by other people.
    independent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checker:
    """A program by other people, the files that it decides, and what it prints then.

    `accepts` and `refuses` are patterns; where neither is found, the program has not decided.
    """

    name: str
    programs: tuple[str, ...]
    install: str
    reads: str
    #: `{0}` stands for the program, `{1}` for the file, `{2}` for the compiled theorems.
    command: str
    accepts: str
    refuses: str


_ABC = ("ABC", ("berkeley-abc", "abc", "yosys-abc"), "apt-get install berkeley-abc")
_CHECKERS = (
    _Checker(
        name="Coq", programs=("coqc",), install="apt-get install coq libcoq-flocq", reads="*.v",
        command=f"{{0}} -q -Q {{2}} {LOGICAL} {{1}}", refuses=r"^Error",
        accepts=r"^Axioms:|^Closed under the global context",
    ),
    _Checker(
        name="cake_lpr", programs=("cake_lpr",), install="cake_lpr of CakeML, from its sources", reads=PROOF,
        command=f"{{0}} {CLAUSES} {{1}}", accepts=r"^s VERIFIED UNSAT", refuses=r"^c ",
    ),
    _Checker(
        name="ACL2", programs=("acl2",), install="apt-get install acl2 acl2-books", reads=PROOF,
        command=f"{{0}} < {_ACL2_FILE}", accepts=r"s VERIFIED", refuses=r"s FAILED|ACL2 Error in TOP-LEVEL",
    ),
    _Checker(
        name=_ABC[0], programs=_ABC[1], install=_ABC[2], reads=NEVER,
        command='{0} -c "read {1}; iprove"', accepts=r"^UNSATISFIABLE", refuses=r"^SATISFIABLE",
    ),
    _Checker(
        name=_ABC[0], programs=_ABC[1], install=_ABC[2], reads="*inputs.aig",
        command='{0} -c "read {1}; iprove"', accepts=r"^SATISFIABLE", refuses=r"^UNSATISFIABLE",
    ),
)  # fmt: skip


def checks_by_others(
    folder: Path, files: dict[str, bytes], seconds: float, tell: Callable[[str], None]
) -> list[Check]:
    """Write the files of an answer to a folder, and run every checker that is installed on those it decides.

    `seconds`: the time limit of each; the theorems in Coq are compiled first, once on a machine, without one.
    Errors: TcformalError for theorems that do not compile, OSError where files cannot be written.
    """
    if PROOF in files:
        files[_ACL2_FILE] = ACL2_LINES.encode()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    made = []
    for name in files:
        for checker in _CHECKERS:
            if fnmatch(name, checker.reads):
                tell(f"{checker.name}: {name}")
                made.append(_check(checker, folder, name, seconds, tell))
    return made


def _check(x: _Checker, folder: Path, name: str, seconds: float, tell: Callable[[str], None]) -> Check:
    program = next((p for p in x.programs if shutil.which(p)), None)
    if program is None:
        command = x.command.format(x.programs[0], name, "coq")
        return Check(
            what=name, by=x.name, status=CheckStatus.MISSING, said=f"not installed: {x.install}",
            command=command, independent=True,
        )  # fmt: skip
    sources = ""
    if "{2}" in x.command:
        tell("Coq: the theorems, which takes minutes once")
        sources = str(compiled_sources())
    command, start = x.command.format(program, name, sources), time.monotonic()
    status, said = _decided(x, _output(command, folder, seconds))
    return Check(
        what=name, by=x.name, status=status, said=said or f"no answer in {seconds:g} s", command=command,
        seconds=round(time.monotonic() - start, 1), independent=True,
    )  # fmt: skip


def _output(command: str, folder: Path, seconds: float) -> str | None:
    """What a line of shell prints in a folder; None where it does not end in time."""
    with subprocess.Popen(
        command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            return process.communicate(timeout=seconds)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)


def _decided(x: _Checker, text: str | None) -> tuple[CheckStatus, str]:
    """The status that an output says, and its line that says so; no line without an output."""
    if text is None:
        return CheckStatus.UNDECIDED, ""
    for status, pattern in ((CheckStatus.REJECTED, x.refuses), (CheckStatus.ACCEPTED, x.accepts)):
        if found := re.search(pattern, text, re.MULTILINE):
            line = text[found.start() :].partition("\n")[0]
            if x.name == "Coq":
                return _with_axioms(text, found.start(), status)
            return status, found.group() if status is CheckStatus.ACCEPTED else " ".join(line.split())
    lines = text.strip().splitlines()
    return CheckStatus.UNDECIDED, f"neither yes nor no: {lines[-1][:200] if lines else 'no output'}"


def _with_axioms(text: str, at: int, status: CheckStatus) -> tuple[CheckStatus, str]:
    """What Coq says of a file: its error, or that it takes it, and on which axioms."""
    if status is CheckStatus.REJECTED:
        return status, " ".join(text[at:].split())[:200]
    known = {name.rpartition(".")[2] for name in AXIOMS}
    axioms = [name.rpartition(".")[2] for name in re.findall(r"^([\w.']+) :", text[at:], re.MULTILINE)]
    if others := [name for name in axioms if name not in known]:
        return CheckStatus.REJECTED, f"it rests on axioms that the theorems do not have: {', '.join(others)}"
    return status, f"takes it, with {len(axioms)} axioms of classical real numbers" if axioms else "takes it"


def raised(what: str, check: Callable[[], str]) -> Check:
    """A check by this program, which is refused where it raises."""
    start = time.monotonic()
    try:
        status, said = CheckStatus.ACCEPTED, check()
    except TcformalError as error:
        status, said = CheckStatus.REJECTED, str(error)
    return Check(what=what, by="tcformal", status=status, said=said,
                 seconds=round(time.monotonic() - start, 1))  # fmt: skip
