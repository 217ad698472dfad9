"""Files of records: what is no record is passed over with a sentence."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tcformal.analysis.records import ExportRecord, append, records
from tcformal.store.schema import SEAL, digest_of

UNIT = "x86/vdpbf16ps"
EXPORTED = ExportRecord(
    unit=UNIT, to="c", definition="0", file="0", tools=("gcc",), refused="", vectors=2, seed=1, mismatches=0,
    examples=(),
)  # fmt: skip


def test_every_altered_field_is_noticed(tmp_path: Path) -> None:
    record, path, told = EXPORTED, tmp_path / "x.jsonl", list[str]()
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
