"""Pruning: what cannot be served goes, what can stays, and no writer loses anything."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from kept import certified, rewrite, same, separated, trivial, vacuous
from tcformal.cli import main
from tcformal.query.claims.answered import prove_claim
from tcformal.store.audit import prune as pruning
from tcformal.store.audit.audit import State, state
from tcformal.store.audit.prune import Pruned, prune
from tcformal.store.certificates import PROOF
from tcformal.store.claim_records import CLAIM
from tcformal.store.schema import SEAL, seal
from tcformal.store.store import Entry, Store

CARRY = ("volta/mma.m8n8k4.f32.f16.f16.f32", "carry-bits")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two answers that can be served, and everything that cannot."""
    store = Store(tmp_path)
    store.add(separated())  # superseded
    store.add(replace(separated(), seconds=2.0))
    store.add(certified())
    store.add(vacuous())
    rewrite(store.path, lambda record: record.update(seconds=0.5), sealed=False)  # damaged
    store.add(same())
    rewrite(store.path, lambda record: record["question"].update(sha256="0" * 64))  # stale
    with store.path.open("a") as stream:
        stream.write("nonsense\n\n")
    return store


def names(folder: Path) -> set[str]:
    """The digests of the proofs."""
    return {json.loads(line)["sha256"] for line in (folder / PROOF.file).read_text().splitlines()}


def test_answers_that_cannot_be_served_are_taken_out(store: Store) -> None:
    made = certified().certificate
    assert made is not None
    assert prune(store) == Pruned(answers=4, claims=0, certificates=1)
    assert names(store.folder) == {made.sha256}
    here = Store(store.folder)
    found = here.find(separated().question)
    assert found is not None
    assert found.seconds == 2.0
    proved = here.find(certified().question)
    assert proved is not None
    assert proved.checked
    assert [e.record["verdict"] for e in here.records()] == ["SEPARATED", "EQUIVALENT"]
    assert prune(here) == Pruned(0, 0, 0)
    assert here.broken() == []


def test_claims_that_nobody_can_ask_are_taken_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add_claim(prove_claim(*CARRY))
    path = tmp_path / CLAIM.file
    record = json.loads(path.read_text())
    plain = {key: value for key, value in record.items() if key != SEAL}
    for change in ({"claim": "gone"}, {"unit": "gone/unit"}, {"seconds": 2.0}):
        with path.open("a") as stream:
            stream.write(json.dumps(seal({**plain, **change}, "claim")) + "\n")
    assert prune(Store(tmp_path)) == Pruned(answers=0, claims=3, certificates=0)
    (stays,) = Store(tmp_path).claims.all()
    assert stays["seconds"] == 2.0


def test_an_answer_that_comes_between_judging_and_taking_out_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its certificate, which no line named when the records were judged, stays with it."""
    late = Store(store.folder)

    def judged(entry: Entry) -> State:
        if not late.has(trivial().question):
            late.add(trivial())
        return state(entry)

    monkeypatch.setattr(pruning, "state", judged)
    assert prune(store).answers == 4
    here = Store(store.folder)
    found = here.find(trivial().question)
    assert found is not None
    assert found.checked


def test_a_file_that_was_replaced_meanwhile_is_judged_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [0]

    def judged(entry: Entry) -> State:
        calls[0] += 1
        if calls[0] == 1:
            monkeypatch.setattr(pruning, "state", state)
            prune(Store(store.folder))
        return state(entry)

    monkeypatch.setattr(pruning, "state", judged)
    prune(store)
    assert [e.record["verdict"] for e in Store(store.folder).records()] == ["SEPARATED", "EQUIVALENT"]


@pytest.mark.slow
def test_a_writer_at_work_loses_nothing(store: Store) -> None:
    """It adds an answer with its certificate over and over, while everything else is taken out around it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            mine = Store(store.folder)
            for i in range(40):
                mine.add(replace(vacuous(), seconds=float(i)))
            code = 0
        finally:
            os._exit(code)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        prune(Store(store.folder))
    here = Store(store.folder)
    found = here.find(vacuous().question)
    assert found is not None
    assert (found.seconds, found.checked) == (39.0, True)


def test_the_command_says_what_it_took_out(store: Store) -> None:
    words = ["results", "prune", "--results", str(store.folder)]
    data = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert data == {"answers": 4, "claims": 0, "certificates": 1, "packed": 0}
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0
    assert result.stdout.endswith(": 0 answers, 0 claims, 0 certificates\n")
    nowhere = ["results", "prune", "--results", str(store.folder / "nowhere")]
    assert CliRunner().invoke(main, nowhere).exit_code == 0
    assert not (store.folder / "nowhere").exists()
