"""Instances of theorems, many in one file for Coq: what takes its time is to require the sources."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tcformal.theory.checked import LOGICAL, coqc
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
