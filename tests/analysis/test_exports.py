"""Exported designs in the tools of their users: what a tool refuses, or computes otherwise, is recorded."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.exports import READ, judged, sweep
from exported_runs import design_of, expected, read_aiger, read_z3_gates, seeded
from tcformal.analysis.records import ExportRecord, append, held
from tcformal.backends.export.formats import FORMATS, written
from tcformal.design.names import resolve
from tcformal.report.results import exports_section
from tcformal.semantics.chain import definition

UNIT = "x86/vdpbf16ps"


def test_every_format_is_read() -> None:
    assert READ.keys() == FORMATS.keys()


def test_only_what_is_not_kept_is_read(tmp_path: Path) -> None:
    """A record of another file, or one that is not good, is no reason to leave a design out."""
    path = tmp_path / "exports.jsonl"
    (first,) = sweep(path, [UNIT], ["json"], 12)
    assert first.good
    assert (first.unit, first.to, first.vectors, first.examples) == (UNIT, "json", 12, ())
    assert [*sweep(path, [UNIT], ["json"], 12)] == []
    for other in (replace(first, file="0" * 64), replace(first, mismatches=1), replace(first, refused="x")):
        append(path, other)
        assert [*sweep(path, [UNIT], ["json"], 12)] == [first]
    assert held(path) == [first]


def test_another_result_is_a_mismatch_with_its_inputs(tmp_path: Path) -> None:
    rows = seeded(UNIT, 12, 1)
    right = expected(design_of(UNIT), rows)
    wrong = [*right[:5], right[5] ^ 1, *right[6:]]
    record = judged(UNIT, "json", written(design_of(UNIT), "json"), rows, wrong, tmp_path / "json")
    assert (record.mismatches, record.good, len(record.examples)) == (1, False, 1)
    assert record.examples[0].startswith(f"tcformal explain {UNIT} --a ")


def test_a_file_that_its_compiler_does_not_take_is_refused(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc here")
    text = written(design_of(UNIT), "c").replace(b"return", b"retrun")
    record = judged(UNIT, "c", text, seeded(UNIT, 2, 1), [0, 0], tmp_path / "c")
    assert record.refused
    assert (record.good, record.vectors) == (False, 0)


@pytest.mark.parametrize("to", ["smtlib", "aiger"])
def test_rows_of_bits_are_those_of_each_run(to: str, tmp_path: Path) -> None:
    """A number of runs that fills no byte, on which the readers of whole rows give each result."""
    design, rows = design_of("tfdpa@products=2"), seeded("tfdpa@products=2", 13, 3)
    (tmp_path / "design").write_bytes(written(design, to))
    read = read_z3_gates if to == "smtlib" else read_aiger
    assert read(design, tmp_path / "design", rows) == expected(design, rows)


def test_the_report_counts_refused_files_and_mismatches() -> None:
    good = ExportRecord(
        unit=UNIT, to="c", definition=definition(resolve(UNIT)), file="0", tools=("gcc 12",), refused="",
        vectors=10_000, seed=1, mismatches=0, examples=(),
    )  # fmt: skip
    other = "x86/tdpbf16ps"
    bad = replace(good, unit=other, definition=definition(resolve(other)), mismatches=3)
    refused = replace(bad, refused="no", vectors=0, mismatches=0)
    stale = replace(bad, definition="0")
    assert exports_section([]).rows == exports_section([stale]).rows == []
    for records, row in (
        ([good], ("c", "gcc 12", "1", "0", "10,000", "0")),
        ([good, bad], ("c", "gcc 12", "2", "0", "10,000", "3")),
        ([good, refused, stale], ("c", "gcc 12", "2", "1", "10,000", "0")),
    ):
        assert exports_section(records).rows == [row]
