"""The sharp error constant of every distinct design of the catalogue: what is proved, and what is attained.

    python -m benchmarks.sharp                    everything that benchmarks/sharp.jsonl does not have
    python -m benchmarks.sharp --time 3600        what begins within an hour
    python -m benchmarks.sharp --only NAME        one design again

writes benchmarks/sharp.md.  Each row is what `tcformal accuracy NAME` answers of one call.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tcformal.analysis.bounds.accuracy import accuracy
from tcformal.callbacks import processor_seconds
from tcformal.design.catalog import distinct_designs
from tcformal.errors import TcformalError
from tcformal.files import write_whole
from tcformal.version import processor

PAGE = Path(__file__).resolve().parent / "sharp.md"
ROWS = PAGE.with_suffix(".jsonl")
#: What was set: the gap in percent where products are cut in one sum rounded to zero, elsewhere, and seconds.
TRUNCATED, OTHERS, SECONDS = 0.01, 1.0, 60
#: Constants are shown in units of 2^-24.
_UNIT = 1 << 24


def measured(name: str) -> dict[str, Any]:
    """One row: the constants in units of 2^-24, the gap in percent, and seconds of the processor."""
    start = processor_seconds()
    row: dict[str, Any] = {"unit": name}
    try:
        x = accuracy(name, subnormals=False)
    except TcformalError as error:
        return {**row, "bound": None, "attained": None, "gap": None, "theorem": "", "reason": str(error)}
    assert x.attained is not None  # circuits are built of the catalogue's units
    row |= {
        "bound": None if x.bound is None else float(x.bound * _UNIT),
        "attained": float(x.attained.ratio * _UNIT),
        "gap": None if x.gap is None else 100 * float(x.gap),
        "theorem": "" if x.proved is None else x.proved.theorem.theorem,
        "steps": list(x.steps),
        "reason": x.reason,
    }
    return {**row, "seconds": round(processor_seconds() - start, 1)}


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table, the widest gaps first, and what it sums up to."""
    known = [row for row in rows if row["gap"] is not None]
    seconds = [row["seconds"] for row in rows if "seconds" in row]
    lines = [
        "# Sharp error constants", "",
        f"{len(rows)} of {len(distinct_designs())} distinct designs of the catalogue, one call from c = 0; "
        f"{processor()}.  Constants are sup |fl - xᵀy| / Σ|x_k·y_k| in units of 2^-24.",
        "The bound is an instance of a theorem, or follows from one by the steps that are printed (`tcformal "
        "accuracy NAME`); the attained value is of inputs that were replayed.  Seconds are of the processor.",
        "",
        f"* {len(known)} have a bound: {sum(row['gap'] <= TRUNCATED for row in known)} are attained within "
        f"{TRUNCATED} %, {sum(row['gap'] <= OTHERS for row in known)} within {OTHERS:.0f} %; "
        f"{len(rows) - len(known)} have none.",
    ]  # fmt: skip
    if seconds:
        lines.append(
            f"* Seconds: median {statistics.median(seconds):.1f}, most {max(seconds):.1f}; "
            f"{sum(x > SECONDS for x in seconds)} took more than {SECONDS}."
        )
    lines += ["", "| design | bound | attained | gap, % | s | theorem, or why there is none |"]
    lines.append("|---|---:|---:|---:|---:|---|")
    for row in sorted(rows, key=lambda row: (row["gap"] is None, -(row["gap"] or 0), row["unit"])):
        lines.append(
            f"| {row['unit']} | {_shown(row['bound'])} | {_shown(row['attained'])} | "
            f"{'' if row['gap'] is None else format(row['gap'], '.2g')} | {row.get('seconds', '')} | "
            f"{row['theorem'] if row['bound'] is not None else row['reason']} |"
        )
    return "\n".join(lines) + "\n"


def _shown(x: float | None) -> str:
    return "" if x is None else f"{x:.7g}"


def kept() -> dict[str, dict[str, Any]]:
    """The rows measured so far, by design."""
    if not ROWS.exists():
        return {}
    rows = (json.loads(line) for line in ROWS.read_text().splitlines())
    return {row["unit"]: row for row in rows}


@click.command()
@click.option("--only", multiple=True, help="These again.")
@click.option("--time", "seconds", type=float, help="Begin nothing after so many seconds.")
def main(only: tuple[str, ...], seconds: float | None) -> None:
    """Measure what is not kept yet and write the page."""
    start, rows = time.monotonic(), kept()
    for name in only or [name for name in sorted(distinct_designs()) if name not in rows]:
        if seconds is not None and time.monotonic() - start > seconds:
            break
        row = measured(name)
        rows = {**kept(), name: row}  # another run may have written meanwhile
        click.echo(json.dumps(row))
        write_whole(ROWS, "".join(json.dumps(rows[x]) + "\n" for x in sorted(rows)).encode())
    rows = {name: row for name, row in rows.items() if name in distinct_designs()}
    PAGE.write_text(page(list(rows.values())))


if __name__ == "__main__":
    main()
