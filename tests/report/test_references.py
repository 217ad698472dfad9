"""The table of references: counts are those of kept outputs, and each verdict is its own program's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tcformal.errors import RecordError, TcformalError
from tcformal.identification.identification import IDENTIFICATION
from tcformal.report.references import (
    counted_references,
    identified_as,
    references,
    references_section,
)
from tcformal.store.file import RecordFile
from tcformal.store.schema import sealed

RESULTS = Path(__file__).parents[2] / "results"
SPIKE, WIDE = "Spike-55b4658d", "riscv/vfwbdot.vv.vlen128"


def no_warning(text: str) -> None:
    raise AssertionError(text)


def kept() -> dict[str, Any]:
    """The newest identification of Spike's widening dot product."""
    file = RecordFile(RESULTS, IDENTIFICATION, no_warning)
    found = [file.line(start).data for start in file.last_starts()]
    (data,) = [
        x for x in found
        if x and x["device"]["device"] == "Spike 55b4658d" and x["formats"]["a"] == "bf16" and x["k"] == 8
    ]  # fmt: skip
    return dict(data)


def folder_of(path: Path, *records: dict[str, Any]) -> Path:
    """A results folder with Spike's outputs, an EPYC's, and these identifications."""
    for name in (SPIKE, "AMD-EPYC"):
        shutil.copytree(RESULTS / "hardware" / name, path / "hardware" / name)
    text = "".join(f"{json.dumps(sealed(data))}\n" for data in records)
    (path / IDENTIFICATION.file).write_text(text, encoding="utf-8")
    return path


def test_a_reference_is_named_beside_its_outputs_and_its_verdict(tmp_path: Path) -> None:
    record = kept()
    rows = {row.unit.name: row for row in references(folder_of(tmp_path, record), no_warning)}
    # The EPYC is silicon, and no row.
    assert {row.device for row in rows.values()} == {"Spike 55b4658d"}
    row = rows[WIDE]
    assert (row.random, row.mismatches, row.identified) == (10**6, 0, sealed(record))
    assert rows["riscv/vfbdot.vv.vlen128"].identified is None
    # Two units have these formats: sums of 8 products are not those of 16.
    assert rows["riscv/vfwbdot.vv.vlen256"].identified is None
    shown = {cells[1]: cells for cells in references_section([*rows.values()]).rows}
    assert shown[WIDE][:3] == ("Spike 55b4658d", WIDE, "1,000,000")
    assert shown[WIDE][-1].startswith(f"{record['verdict']}, K = 8: ")
    assert shown["riscv/vfbdot.vv.vlen128"][-2:] == ("0", "not asked")
    outputs = sum(row.random + row.directed for row in rows.values())
    assert counted_references([*rows.values()]).rows == [
        ("Spike 55b4658d", str(len(rows)), f"{outputs:,}", "0", "1")
    ]


@pytest.mark.parametrize(
    "device",
    [{"program": "exec:another"}, {"device": "Spike 00000000"}, {"instruction": "vfbdot.vv.vlen128"}],
)
def test_another_programs_verdict_is_none_of_its(device: dict[str, str], tmp_path: Path) -> None:
    record = kept()
    record["device"] = record["device"] | device
    rows = {row.unit.name: row for row in references(folder_of(tmp_path, record), no_warning)}
    assert rows[WIDE].identified is None
    assert identified_as(None) == "not asked"


def test_a_reference_outside_the_space_has_a_nearest_design() -> None:
    near = [
        {"design": WIDE, "agrees": {"count": 7, "of": 9}},
        {"design": "x", "agrees": {"count": 1, "of": 9}},
    ]
    said = identified_as(kept() | {"verdict": "OUTSIDE THE SPACE", "reason": "none fits", "nearest": near})
    assert said == f"OUTSIDE THE SPACE, K = 8: none fits; {WIDE} gives 7 of 9"


def test_sums_of_the_units_own_length_come_first(tmp_path: Path) -> None:
    longer = kept() | {"k": 16, "date": "2099-01-01T00:00:00Z", "subject": "0" * 64}
    rows = {r.unit.name: r.identified for r in references(folder_of(tmp_path, kept(), longer), no_warning)}
    own, other = rows[WIDE], rows["riscv/vfwbdot.vv.vlen256"]
    assert own is not None
    assert other is not None
    assert (own["k"], other["k"]) == (8, 16)


def test_damaged_records_and_outputs_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, kept() | {"verdict": "PERHAPS"})
    with pytest.raises(TcformalError, match="verdict"):
        list(references(folder, no_warning))
    folder_of(tmp_path / "other", kept())
    part = tmp_path / "other" / "hardware" / SPIKE / "campaign-1.jsonl.xz"
    part.with_suffix("").write_text('{"kind": "run"}\n', encoding="utf-8")
    with pytest.raises(RecordError):
        list(references(tmp_path / "other", no_warning))
