"""Instances of theorems, many in one file for Coq: what takes its time is to require the sources."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tcformal.errors import InputError
from tcformal.theory.checked import LOGICAL, coqc, source_names
from tcformal.theory.instances import HEADER, Instance, coq_instance


def _module(i: int, x: Instance) -> str:
    # What an instance assumes is that of its theorem, and takes long to collect.
    text = coq_instance(x).removeprefix(HEADER).replace("Print Assumptions instance.\n", "")
    return f"Module M{i}.\n{text}"


def check_instances(folder: Path, instances: Sequence[Instance]) -> None:
    """`coqc` takes all instances; InputError where it refuses one."""
    modules = [f"{_module(i, x)}End M{i}.\n" for i, x in enumerate(instances)]
    (folder / "Instances.v").write_text("".join([HEADER, *modules]), encoding="utf-8")
    coqc(folder, "Instances.v")


def refused(folder: Path, instances: Sequence[Instance]) -> list[bool]:
    """Whether Coq refuses each instance: `coqtop` goes on behind an error."""
    modules = [f"{_module(i, x)}Abort All.\nEnd M{i}.\nCheck next.\n" for i, x in enumerate(instances)]
    command = ["coqtop", "-q", "-Q", ".", LOGICAL]
    done = subprocess.run(
        command, input="".join([HEADER, *modules]), cwd=folder, capture_output=True, text=True, check=True
    )
    *found, _ = done.stderr.split("Error: The reference next was not found")
    assert len(found) == len(instances), done.stderr
    return ["Error:" in x for x in found]


def checked_axioms(folder: Path, timeout_s: float | None = None) -> list[str]:
    """The axioms that `coqchk`, which checks compiled sources anew, finds in all of them.

    Errors: InputError without `coqchk`, and with its message where it refuses a file.
    """
    program = shutil.which("coqchk")
    if program is None:
        raise InputError("expected coqchk, which Debian has in the package coq, but found no such program")
    modules = [f"{LOGICAL}.{name.removesuffix('.v')}" for name in source_names()]
    command = [program, "-silent", "-o", "-Q", ".", LOGICAL, *modules]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout_s, check=False)
    if done.returncode:
        raise InputError(f"expected the sources to be right, but coqchk says: {done.stderr.strip()[-2000:]}")
    part = (done.stdout + done.stderr).partition("* Axioms:")[2].partition("\n* ")[0]
    return [line.strip() for line in part.splitlines() if line.strip() not in ("", "<none>")]
