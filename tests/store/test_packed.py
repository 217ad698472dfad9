"""Packed records: served like others, added to, pruned, and refused where they are not what was packed."""

from __future__ import annotations

import json
import lzma
import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from kept import certified, reopened, same, separated, vacuous
from tcformal import files
from tcformal.cli import main
from tcformal.errors import RecordError
from tcformal.store.audit.prune import Pruned, prune
from tcformal.store.certificates import PROOF
from tcformal.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Three packed answers, and one added since."""
    store = Store(tmp_path)
    for v in (separated(), certified(), same()):
        store.add(v)
    assert prune(store, pack=True) == Pruned(0, 0, 0)
    store.add(vacuous())
    return store


def verdicts(store: Store) -> list[str]:
    """The verdicts of a store, in the order of its lines."""
    return [entry.record["verdict"] for entry in store.records()]


@pytest.mark.slow
def test_packed_answers_are_served_before_and_after_they_are_packed(store: Store) -> None:
    for here in (store, reopened(store)[0]):
        assert verdicts(here) == ["SEPARATED", "EQUIVALENT", "EQUIVALENT", "VACUOUS"]
        for v in (separated(), certified(), vacuous()):
            found = here.find(v.question)
            assert found is not None
            assert found.kind is v.kind
        assert here.broken() == []
    assert len(store.path.read_text().splitlines()) == 1
    assert (store.folder / PROOF.file).exists()


def test_a_newer_answer_comes_before_a_packed_one(store: Store) -> None:
    store.add(replace(separated(), seconds=7.0))
    for here in (store, reopened(store)[0]):
        found = here.find(separated().question)
        assert found is not None
        assert found.seconds == 7.0
    assert prune(reopened(store)[0]) == Pruned(1, 0, 0)
    assert sorted(verdicts(store)) == ["EQUIVALENT", "EQUIVALENT", "SEPARATED", "VACUOUS"]
    words = ["results", "prune", "--pack", "--json", "--results", str(store.folder)]
    assert json.loads(CliRunner().invoke(main, words).stdout)["answers"] == 0
    assert store.path.read_text() == ""
    assert sorted(verdicts(reopened(store)[0])) == ["EQUIVALENT", "EQUIVALENT", "SEPARATED", "VACUOUS"]


def altered(store: Store, content: bytes) -> Store:
    """The store with other packed lines, as another process finds it."""
    store.answers.packed_path.write_bytes(content)
    return reopened(store)[0]


def test_a_forged_packed_answer_is_not_served(store: Store) -> None:
    lines = lzma.decompress(store.answers.packed_path.read_bytes())
    here = altered(store, lzma.compress(lines.replace(b'"SEPARATED"', b'"EQUIVALENT"')))
    assert here.find(separated().question) is None


@pytest.mark.parametrize("damage", ["cut", "longer", "bomb", "no xz", "no end", "link", "pipe", "folder"])
def test_what_was_not_packed_here_is_refused(
    store: Store, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.answers.packed_path
    whole = path.read_bytes()
    contents = {
        "cut": whole[:-7], "longer": whole + whole, "bomb": lzma.compress(b"{}\n" * 50_000), "no xz": b"{}\n",
        "no end": lzma.compress(b"{}"),
    }  # fmt: skip
    if damage == "bomb":
        monkeypatch.setattr(files, "LARGEST_CONTENT", 100_000)
    if damage in contents:
        path.write_bytes(contents[damage])
    else:
        path.rename(store.folder / "real")
        if damage == "link":
            path.symlink_to(store.folder / "real")
        elif damage == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir()
    with pytest.raises(RecordError, match=r"^expected (a regular file|a file|one whole file|whole lines)"):
        reopened(store)[0].records()


def test_what_could_not_be_read_back_is_not_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.add(separated())
    monkeypatch.setattr(files, "LARGEST_CONTENT", 10)
    with pytest.raises(RecordError, match=r"^expected at most 10 bytes to pack in "):
        prune(store, pack=True)
    monkeypatch.undo()
    assert verdicts(reopened(store)[0]) == ["SEPARATED"]
