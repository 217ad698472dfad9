"""Seconds of `tcformal accuracy NAME --length 4096` as a user runs it: all programs, units with promotion.

    python -m benchmarks.long                     every row that benchmarks/long.jsonl does not have
    python -m benchmarks.long --only NAME         one of them again

writes benchmarks/long.md.  Each command runs as a program of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tcformal.callbacks import processor_seconds
from tcformal.files import write_whole
from tcformal.programs.program import known_programs
from tcformal.version import processor

PAGE = Path(__file__).resolve().parent / "long.md"
ROWS = PAGE.with_suffix(".jsonl")
#: Units, with promotion after so many products.
UNITS = {"hopper/mma.m16n8k16.f32.f16.f16.f32": 128, "hopper/wgmma.m64n8k32.f32.e4m3.e4m3": 128}
#: What was set, in seconds of the processor.
LENGTH, SECONDS = 4096, 2.0


def measured(name: str) -> dict[str, Any]:
    """One row: the bound and the attained ratio, and seconds of the processor."""
    words = ["accuracy", name, "--length", str(LENGTH), "--json"]
    words += ["--promote", str(UNITS[name])] if name in UNITS else []
    before = processor_seconds()
    done = subprocess.run([sys.executable, "-m", "tcformal", *words], capture_output=True, text=True)
    row: dict[str, Any] = {"name": name, "seconds": round(processor_seconds() - before, 1)}
    data = json.loads(done.stdout) if done.stdout else {}
    for what in ("bound", "attained"):
        row[what] = None if data.get(what) is None else data[what]["value"]
    row["reason"] = data.get("proof", {}).get("reason", "") or done.stderr.strip()
    return row


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table, and what it sums up to."""
    bounds = [row for row in rows if row["bound"] is not None]
    slow = [row for row in bounds if row["seconds"] > SECONDS]
    lines = [
        f"# Errors of {LENGTH} products: how long an answer takes", "",
        f"`tcformal accuracy NAME --length {LENGTH}`, of units with `--promote {max(UNITS.values())}`, as a "
        f"program of its own; {processor()}.  Constants are of Σ|a_k·b_k|, seconds are of the processor.",
        "",
        f"* {len(bounds)} of {len(rows)} have a bound; {len(slow)} of them took more than {SECONDS:.0f} s.",
        "", "| program or unit | bound | attained | s | why there is no bound |",
        "|---|---:|---:|---:|---|",
    ]  # fmt: skip
    for row in rows:
        known = ("" if row[what] is None else f"{row[what]:.6g}" for what in ("bound", "attained"))
        why = "" if row["bound"] is not None else row["reason"]
        lines.append(f"| {row['name']} | {' | '.join(known)} | {row['seconds']} | {why} |")
    return "\n".join(lines) + "\n"


def kept() -> dict[str, dict[str, Any]]:
    """The rows measured so far, by name."""
    if not ROWS.exists():
        return {}
    rows = (json.loads(line) for line in ROWS.read_text().splitlines())
    return {row["name"]: row for row in rows}


@click.command()
@click.option("--only", multiple=True, help="These again.")
@click.option("--time", "seconds", type=float, help="Begin nothing after so many seconds.")
def main(only: tuple[str, ...], seconds: float | None) -> None:
    """Measure what is not kept yet and write the page."""
    names, rows, start = [*known_programs(), *UNITS], kept(), time.monotonic()
    for name in only or [x for x in names if x not in rows]:
        if seconds is not None and time.monotonic() - start > seconds:
            break
        row = measured(name)
        rows = {**kept(), name: row}  # another run may have written meanwhile
        click.echo(json.dumps(row))
        write_whole(ROWS, "".join(json.dumps(rows[x]) + "\n" for x in names if x in rows).encode())
    PAGE.write_text(page([rows[x] for x in names if x in rows]))


if __name__ == "__main__":
    main()
