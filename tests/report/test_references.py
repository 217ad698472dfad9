"""The table of references: counts are those of kept outputs, and each verdict is its own program's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tcformal.errors import RecordError, TcformalError
from tcformal.identification.record.identification import IDENTIFICATION
from tcformal.report.devices.references import identified_as, references, references_section
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
    text = "\n".join(references_section([*rows.values()]))
    assert f"| Spike 55b4658d | `{WIDE}` | 1,000,000 |" in text
    assert f"{record['verdict']}, K = 8: " in text
    assert "| 0 | not asked |" in text


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


def test_damaged_records_and_outputs_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, kept() | {"verdict": "PERHAPS"})
    with pytest.raises(TcformalError, match="verdict"):
        list(references(folder, no_warning))
    folder_of(tmp_path / "other", kept())
    part = tmp_path / "other" / "hardware" / SPIKE / "campaign-1.jsonl.xz"
    part.with_suffix("").write_text('{"kind": "run"}\n', encoding="utf-8")
    with pytest.raises(RecordError):
        list(references(tmp_path / "other", no_warning))
