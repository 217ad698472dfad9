"""Files of sweeps: what is no record is passed over with a sentence, and never ends the sweep."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tcformal.analysis.sweeps import compiled, conformance
from tcformal.analysis.sweeps.exported import ExportRecord
from tcformal.analysis.sweeps.records import append, records
from tcformal.cli import main
from tcformal.store.schema import SEAL, digest_of

UNIT = "x86/vdpbf16ps"
RECORD = conformance.SweepRecord(
    unit=UNIT, names=1, definition="0", vectors=2, seed=1, integer_mismatches=0, oracle_mismatches=0,
    examples=("one",), results="0",
)  # fmt: skip
COMPARED = compiled.Compared(
    unit=UNIT,
    definition="0",
    kernels="0",
    outputs=2,
    seed=1,
    specials=0,
    mismatches=0,
    examples=(),
    results="0",
)
EXPORTED = ExportRecord(
    unit=UNIT, to="c", definition="0", file="0", tools=("gcc",), refused="", vectors=2, seed=1, mismatches=0,
    examples=(),
)  # fmt: skip


@pytest.mark.parametrize("record", [RECORD, COMPARED, EXPORTED])
def test_every_altered_field_is_noticed(tmp_path: Path, record: Any) -> None:
    path, told = tmp_path / "x.jsonl", list[str]()
    plain = asdict(record)
    good = {**plain, SEAL: digest_of(plain)}
    bad: list[Any] = [plain, *({k: v for k, v in good.items() if k != name} for name in good)]
    # Other values of the right types, under the old digest.
    bad += [{**good, name: x + 1 if isinstance(x, int) else [*x, "x"] if isinstance(x, tuple) else x + "x"}
            for name, x in plain.items()]  # fmt: skip
    others: tuple[Any, ...] = (None, True, 1.5, [1], {"": ""})
    bad += [{**good, name: other} for name in good for other in others]
    bad += [{**good, "more": 1}, {}, {"unit": UNIT}]
    lines = [good, *bad, "text", None, 3, good]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"torn')
    assert records(path, type(record), told.append) == [record, record]
    assert len(told) == len(lines) - 2
    assert all("it is passed over" in sentence for sentence in told)
    append(tmp_path / "new.jsonl", record)
    assert records(tmp_path / "new.jsonl", type(record), told.append) == [record]


@pytest.mark.parametrize("name", ["conformance", "kernels"])
def test_a_sweep_goes_on_among_foreign_lines(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.jsonl").write_text('{"unit": 1}\n[]\n' + '{"unit": "x"}\n' * 50)
    words = ["sweep", "--only", "no unit is called so", "--results", str(tmp_path)]
    done = CliRunner().invoke(main, [*words, *(["--kernels"] if name == "kernels" else [])])
    assert done.exit_code == 0
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == 9
    assert warnings[-1] == "warning: 44 more such sentences are not shown"
