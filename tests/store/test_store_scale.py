"""Many kept answers: only those that are asked for are parsed, and memory stays small."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.store import COMMANDS, GOAL_MB, cost, fill
from kept import FOUR, FOUR_25, certified, separated
from tcformal.cli import main
from tcformal.store import file as record_file
from tcformal.store.lines import Line, backwards, text_at
from tcformal.store.schema import check
from tcformal.store.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """10^4 answers to other questions before two that are asked for."""
    store = Store(tmp_path)
    store.add(separated())
    store.add(certified())
    fill(tmp_path, 10_000)
    return tmp_path


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where the lines start that are parsed."""
    places: list[int] = []

    def counted(path: Path, start: int) -> bytes:
        places.append(start)
        return text_at(path, start)

    monkeypatch.setattr(record_file, "text_at", counted)
    return places


@pytest.mark.slow
def test_only_what_is_asked_for_is_parsed(folder: Path, parsed: list[int]) -> None:
    store = Store(folder)
    assert len(store.answers.starts()) == 10_002
    assert store.find(separated().question) is not None
    assert len(parsed) == 1
    assert store.find(certified().question) is not None
    assert store.find(separated().question) is not None
    assert len(parsed) == 3  # with the line of its proof
    check(Store(folder).answers.line(store.answers.starts()[5000]).data or {})


@pytest.mark.slow
def test_the_commands_parse_no_more(folder: Path, parsed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(path: Path) -> Iterator[tuple[int, Line]]:
        for start, line in backwards(path):
            read.append(start)
            yield start, line

    monkeypatch.setattr(record_file, "backwards", counted)
    result = CliRunner().invoke(main, ["separate", FOUR, FOUR_25, "--results", str(folder)])
    assert result.exit_code == 0
    assert "kept answer of" in result.stdout
    assert len(set(parsed)) == 1
    parsed.clear()
    result = CliRunner().invoke(main, ["results", "list", "--last", "20", "--results", str(folder)])
    assert result.exit_code == 0
    assert "20 records, the newest in" in " ".join(result.stdout.split())
    assert parsed == []
    assert len(read) == 20


@pytest.mark.long
def test_the_memory_of_the_commands_among_many_answers(tmp_path: Path) -> None:
    """Each in a process of its own, on 10^5 answers."""
    for _, words in COMMANDS[:2]:
        cost((*words, "--certify") if words[0] == "prove" else words, tmp_path)
    fill(tmp_path, 100_000)
    for what, words in COMMANDS:
        assert cost(words, tmp_path).megabytes < GOAL_MB, what
