"""Every distinct design, exported in every format, in the tools of their users, on the same random inputs.

    PYTHONPATH=tests python -m benchmarks.exports               what results/exports.jsonl does not have
    PYTHONPATH=tests python -m benchmarks.exports --time 240    what begins within four minutes
    PYTHONPATH=tests python -m benchmarks.exports --only NAME   designs with this text in their names

Needs the Debian packages verilator, yosys and berkeley-abc, and gcc.  A record is that of one file: where the
exporter writes another, the design is read and run again.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import click

from exported_runs import (
    Given,
    Reader,
    design_of,
    expected,
    read_aiger,
    read_btor2,
    read_c,
    read_json,
    read_verilator,
    read_z3_gates,
    run,
    seeded,
)
from tcformal.analysis.records import EXPORTS, ExportRecord, append, held
from tcformal.backends.export.exportable import ExportedDesign
from tcformal.backends.export.formats import FORMATS, written
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.semantics.chain import definition
from tcformal.simulation.operands.batch import batch, witness_at
from tcformal.simulation.operands.witness import explain_command, in_hex

SEED, VECTORS = 20261101, 10_000
#: bitwuzla's reader of BTOR2 solves two questions for each input.
FEW = 4


def _lint(design: ExportedDesign, path: Path, rows: list[Given]) -> list[int]:
    """Verilator with all warnings on and yosys take the module; Verilator runs it."""
    source = path.with_suffix(".lint.sv")
    source.write_bytes(path.read_bytes())
    run(["verilator", "--lint-only", "-Wall", "-Wno-UNUSED", "-Wno-DECLFILENAME", source])
    script = f"read_verilog -sv {source}; hierarchy -check -top {design.name}; proc; check -assert"
    run(["yosys", "-q", "-p", script])
    return read_verilator(design, path, rows)


def _abc(design: ExportedDesign, path: Path, rows: list[Given]) -> list[int]:
    """abc takes the gates; a small reader evaluates them."""
    source = path.with_suffix(".aig")
    source.write_bytes(path.read_bytes())
    said = run(["berkeley-abc", "-c", f"read_aiger {source}; print_stats"])
    bits = sum(len(p.inputs) * p.width for p in design.ports)
    assert re.search(rf"i/o = *{bits}/ *{design.root.width} ", said), said[-300:]
    return read_aiger(design, path, rows)


#: What reads and runs a format, its tools, and on how many inputs.
READ: dict[
    str, tuple[Callable[[ExportedDesign, Path, list[Given]], list[int]] | Reader, tuple[str, ...], int]
] = {
    "smtlib": (read_z3_gates, ("z3",), VECTORS),
    "btor2": (read_btor2, ("bitwuzla",), FEW),
    "aiger": (_abc, ("berkeley-abc",), VECTORS),
    "verilog": (_lint, ("verilator", "yosys"), VECTORS),
    "c": (read_c, ("gcc",), VECTORS),
    "json": (read_json, ("tcformal",), VECTORS),
}


@cache
def named(tool: str) -> str:
    """A tool with its version."""
    packages = {"z3": "z3-solver", "bitwuzla": "bitwuzla", "tcformal": "tcformal"}
    if tool in packages:
        return f"{tool} {version(packages[tool])}"
    if tool == "berkeley-abc":
        return f"{tool} {run(['dpkg-query', '-W', '-f', '${Version}', tool])}"
    return run([tool, "-V" if tool == "yosys" else "--version"]).splitlines()[0]


def judged(
    name: str, to: str, text: bytes, rows: list[Given], right: list[int], folder: Path
) -> ExportRecord:
    """One design in one format: whether its tools take the file, and on how many inputs they differ."""
    read, tools, count = READ[to]
    folder.mkdir()
    (folder / "design").write_bytes(text)
    refused, found, spec = "", list[int](), resolve(name)
    try:
        found = read(design_of(name), folder / "design", rows[:count])
        assert len(found) == len(rows[:count]), f"expected {len(rows[:count])} results, but got {len(found)}"
    except (AssertionError, subprocess.TimeoutExpired) as error:
        refused, found = (str(error).strip().splitlines() or ["no sentence"])[0][:300], []
    wrong = [i for i, x in enumerate(found) if x != right[i]]
    x = batch(spec, spec.k, len(rows), SEED)
    examples = [
        f"{explain_command([name], witness_at(x, i), in_hex(spec))}  # {found[i]:#x} {right[i]:#x}"
        for i in wrong[:3]
    ]
    return ExportRecord(
        unit=name, to=to, definition=definition(spec), file=hashlib.sha256(text).hexdigest(),
        tools=tuple(map(named, tools)), refused=refused, vectors=len(found), seed=SEED,
        mismatches=len(wrong), examples=tuple(examples),
    )  # fmt: skip


def sweep(path: Path, names: list[str], formats: list[str], vectors: int = VECTORS) -> Iterator[ExportRecord]:
    """Judge each design in each format of which the file holds no record, appending every record at once."""
    known = {(r.unit, r.to): r.file for r in held(path) if r.good}
    for name in names:
        texts = {to: written(design_of(name), to) for to in formats}
        todo = {to: x for to, x in texts.items() if known.get((name, to)) != hashlib.sha256(x).hexdigest()}
        rows = seeded(name, vectors, SEED) if todo else []
        right = expected(design_of(name), rows) if todo else []
        for to, text in todo.items():
            with tempfile.TemporaryDirectory() as folder:
                record = judged(name, to, text, rows, right, Path(folder) / to)
            append(path, record)
            yield record


@click.command()
@click.option(
    "--only", multiple=True, help="Only designs with this text in their names, or another one given so."
)
@click.option("--to", "formats", multiple=True, type=click.Choice(list(FORMATS)), help="Only these formats.")
@click.option("--time", "seconds", type=float, help="Begin nothing after so many seconds.")
@click.option(
    "--results", "folder", default="results", type=click.Path(path_type=Path), help="The results folder."
)
def main(only: tuple[str, ...], formats: tuple[str, ...], seconds: float | None, folder: Path) -> None:
    """Read and run what is not kept yet; exit code 1 where a kept record is not good."""
    start, path = time.monotonic(), folder / EXPORTS
    names = [name for name in distinct_designs() if not only or any(text in name for text in only)]
    for record in sweep(path, names, list(formats or FORMATS)):
        word = record.refused or f"{record.mismatches} of {record.vectors} differ"
        click.echo(f"{record.unit} {record.to}: {word}")
        if seconds is not None and time.monotonic() - start > seconds:
            break
    records = held(path)
    bad = [r for r in records if not r.good]
    click.echo(f"{len(records)} of {len(distinct_designs()) * len(FORMATS)} files kept; {len(bad)} not good")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
