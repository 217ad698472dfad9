"""The newest record about each thing: altered and torn lines are not it, and each of them is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tcformal.store import file as record_file
from tcformal.store.certificates import PROOF
from tcformal.store.file import RecordFile
from tcformal.store.schema import check, seal


def kept_proof(name: str, seconds: float) -> dict[str, Any]:
    """A record of a proof, told from others about the same by its text."""
    return seal({"sha256": name * 64, "proof": str(seconds)}, PROOF.name)


def opened(folder: Path, *lines: dict[str, Any] | str) -> tuple[RecordFile, list[str]]:
    """A file of these lines, and what is told of it."""
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / PROOF.file).write_text("".join(text + "\n" for text in texts))
    told: list[str] = []
    return RecordFile(folder, PROOF, told.append), told


def altered(record: dict[str, Any]) -> dict[str, Any]:
    """Another proof under the old seal."""
    return {**record, "proof": "because"}


def test_the_last_counts(tmp_path: Path) -> None:
    kept, told = opened(tmp_path, kept_proof("a", 1.0), kept_proof("b", 2.0), kept_proof("a", 3.0))
    found = kept.newest("a" * 64)
    assert found is not None
    assert found["proof"] == "3.0"
    assert [float(r["proof"]) for r in kept.all()] == [3.0, 2.0]
    assert kept.newest("c" * 64) is None
    assert kept.broken() == told == []


def test_an_altered_line_gives_way_to_the_one_before(tmp_path: Path) -> None:
    kept, told = opened(tmp_path, kept_proof("a", 1.0), altered(kept_proof("a", 2.0)))
    found = kept.newest("a" * 64)
    assert found is not None
    assert float(found["proof"]) == 1.0
    assert kept.newest("a" * 64) is found
    (sentence,) = told
    assert sentence.startswith(
        f"line 2 of {tmp_path / PROOF.file} is not used: expected a record that nobody altered"
    )
    assert kept.broken() == told


def test_every_broken_line_is_named(tmp_path: Path) -> None:
    """Those as well that newer ones have replaced; and asking costs no record."""
    lines = (
        altered(kept_proof("a", 1.0)),
        "{half",
        {"sha256": 7},
        kept_proof("a", 2.0),
        kept_proof("b", 3.0),
    )
    kept, _ = opened(tmp_path, *lines)
    said = kept.broken()
    assert ["line 1" in said[0], "line 2" in said[1], "line 3" in said[2]] == [True] * 3
    assert len(said) == 3
    assert kept.broken() == said
    assert [float(r["proof"]) for r in kept.all()] == [2.0, 3.0]


def test_what_was_added_is_the_newest(tmp_path: Path) -> None:
    kept, _ = opened(tmp_path, kept_proof("a", 1.0))
    kept.add(kept_proof("a", 2.0))
    kept.add(kept_proof("b", 3.0))
    assert [float(r["proof"]) for r in kept.all()] == [2.0, 3.0]


def test_only_what_is_asked_for_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def counted(record: dict[str, Any], kind: str) -> None:
        seen.append(record["sha256"][0])
        check(record, kind)

    monkeypatch.setattr(record_file, "check", counted)
    kept, _ = opened(tmp_path, *(kept_proof(name, 1.0) for name in "abcdef"))
    assert kept.newest("c" * 64) is kept.newest("c" * 64)
    assert seen == ["c"]
