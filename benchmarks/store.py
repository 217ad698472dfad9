"""Kept answers among many: seconds and memory of `separate`, `prove` and `results list`, on one page.

    python -m benchmarks.store

writes benchmarks/store.md.  Each command runs in a process of its own on a folder of so many kept answers.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from tcformal.report.text import console, table
from tcformal.store.schema import SEAL, digest_of
from tcformal.store.store import Store
from tcformal.version import processor

PAGE = Path(__file__).resolve().parent / "store.md"

FIRST, SECOND = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
CARRY = tuple(f"valpey@terms=5,carry_bits={bits}" for bits in (3, 4))

#: What is measured: words of the command, and what a person calls it.
COMMANDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("separate, a kept witness", ("separate", FIRST, SECOND)),
    ("prove, a kept certificate", ("prove", *CARRY)),
    ("results list", ("results", "list")),
)
COUNTS = (1_000, 10_000, 100_000)
REPETITIONS = 5

#: What was set for 10^5 answers: seconds on an idle core, and MB.
GOAL_S, GOAL_MB = 1.0, 200


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took: wall and processor seconds of it and its children, its own highest memory."""

    wall_s: float
    processor_s: float
    megabytes: float


def copies(record: Mapping[str, Any], count: int) -> Iterator[bytes]:
    """Sealed lines like a record's, each about another question: other assumptions, another definition."""
    plain = {key: value for key, value in record.items() if key != SEAL}
    for i in range(count):
        question = {
            **record["question"],
            "assumptions": [f"exponents=-{i // 1000}..{i % 1000}"],
            "sha256": sha256(str(i).encode()).hexdigest(),
        }
        made = {**plain, "question": question}
        yield json.dumps({**made, SEAL: digest_of(made)}, ensure_ascii=False).encode() + b"\n"


def fill(folder: Path, count: int) -> None:
    """Put so many more answers before those that a folder holds."""
    path = Store(folder).path
    kept = path.read_bytes()
    record = json.loads(kept.splitlines()[0])
    with path.open("wb") as stream:
        stream.writelines(copies(record, count))
        stream.write(kept)


def cost(words: Sequence[str], folder: Path) -> Cost:
    """Run the command line in a process of its own; its exit code has to be 0."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        words = [sys.executable, "-m", "tcformal", *words, "--results", str(folder)]
        os.execv(sys.executable, words)
    _, status, used = os.wait4(child, 0)
    wall = time.monotonic() - start
    if os.waitstatus_to_exitcode(status):
        raise click.ClickException(f"expected {' '.join(words)} to succeed, but got status {status}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each number."""
    return Cost(
        *(statistics.median(getattr(c, key) for c in costs) for key in ("wall_s", "processor_s", "megabytes"))
    )


@click.command()
@click.option("--repetitions", default=REPETITIONS, show_default=True, help="Runs of each command.")
def main(repetitions: int) -> None:
    """Measure and write the page."""
    busy = os.getloadavg()[0]
    lines = [
        "# Kept answers among many",
        "",
        f"{date.today().isoformat()}, {platform.machine()}, {os.cpu_count()} cores, {processor()}, load "
        f"{busy:.1f} at the start; median of {repetitions}.",
        "",
        "Each command in a process of its own, the start of Python included, on a folder of so many answers "
        "of 4 kB. Processor seconds are those of the process and its children, which other programs disturb "
        "less than the clock; MB is the highest memory of the process or a child. Goal for 100,000 answers: "
        f"{GOAL_S:g} s on an idle core, {GOAL_MB} MB.",
        "",
        "| command | answers | seconds | processor s | MB |",
        "|---|---:|---:|---:|---:|",
    ]
    made = table("command", ">answers", ">seconds", ">processor s", ">MB")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for words in (COMMANDS[0][1], (*COMMANDS[1][1], "--certify")):
            cost(words, folder)
        have = 0
        for count in COUNTS:
            fill(folder, count - have)
            have = count
            for what, words in COMMANDS:
                x = median([cost(words, folder) for _ in range(repetitions)])
                cells = (
                    what, f"{count:,}", f"{x.wall_s:.2f}", f"{x.processor_s:.2f}", f"{x.megabytes:.0f}"
                )  # fmt: skip
                made.add_row(*cells)
                lines.append(f"| {' | '.join(cells)} |")
    console().print(made)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
