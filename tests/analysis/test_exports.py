"""Exported designs in the tools of their users: what a tool refuses, or computes otherwise, is recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.exports import judged
from exported_runs import design_of, expected, seeded
from tcformal.backends.export.register import written

UNIT = "x86/vdpbf16ps"


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
