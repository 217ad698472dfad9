"""`separate --all-pairs`: what it prints, its exit codes, and that a killed run goes on where it was."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import signals
from tcformal.cli import main
from tcformal.cli.all_pairs import LETTERS
from tcformal.query.pairs.all_pairs import PairOutcome
from tcformal.query.pairs.pairs import Pair, groups
from tcformal.query.question import Kind

ROOT = Path(__file__).resolve().parents[2]
#: The time limit counts on a busy machine too.
PATIENT = ["--time-limit", "300"]
TF32 = [pair for group in groups("tf32") for pair in group.pairs]
#: The verdicts of these pairs: two of the units compute the same, as a theorem says.
EQUAL = {"vortex/VX_tcu_fedp_dpi.tf32", "vortex/VX_tcu_fedp_bhf.tf32"}
VERDICTS = ["EQUIVALENT" if {p.first, p.second} == EQUAL else "SEPARATED" for p in TF32]


def pairs_of(data: Any) -> list[Any]:
    """The pairs of all groups of an answer."""
    return [pair for group in data["groups"] for pair in group["pairs"]]


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in this process, with no terminal and no wishes about colour."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TCFORMAL_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words: CliRunner().invoke(main, ["separate", *words])


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have every pair come to these verdicts, one after the other; the last stays."""

    def come_to(*kinds: Kind | None) -> None:
        def campaign(pairs: list[Pair], *_: Any) -> Iterator[PairOutcome]:
            for i, pair in enumerate(pairs):
                kind = kinds[min(i, len(kinds) - 1)]
                yield PairOutcome(pair=pair, kind=kind, reason=f"because of {i}", seconds=float(i))

        monkeypatch.setattr("tcformal.cli.all_pairs.campaign", campaign)

    return come_to


@pytest.mark.parametrize("kind", list(LETTERS), ids=str)
def test_only_open_questions_make_the_exit_code(
    run: Run, outcomes: Callable[..., None], kind: Kind | None
) -> None:
    outcomes(Kind.SEPARATED, kind, Kind.EQUIVALENT)
    shown = run("--all-pairs", "tf32")
    open_ = kind in (Kind.UNKNOWN, Kind.TIMEOUT, Kind.ERROR)
    assert shown.exit_code == (3 if open_ else 0)
    letter, word, _ = LETTERS[kind]
    row = next(line for line in shown.stdout.splitlines() if TF32[0].first in line.split())
    assert row.split()[:5] == ["1", "·", "s", letter, "="]
    told = f"{word}: {TF32[1].first} {TF32[1].second}: because of 1"
    assert (told in " ".join(shown.stdout.split())) == (open_ or kind is None)
    data = json.loads(run("--all-pairs", "tf32", "--json").stdout)
    assert data["counts"]["cannot_be_asked" if kind is None else kind.name] >= 1
    assert [p["verdict"] for p in data["groups"][0]["pairs"]][:2] == ["SEPARATED", kind and kind.name]


@pytest.mark.slow
def test_a_group_is_asked_and_kept(run: Run) -> None:
    first = json.loads(run("--all-pairs", "tf32", "--jobs", "2", "--json", *PATIENT).stdout)
    again = run("--all-pairs", "tf32", "--jobs", "2", "--json", *PATIENT)
    assert again.exit_code == 0
    second = json.loads(again.stdout)
    for data, served in ((first, False), (second, True)):
        assert [p["verdict"] for p in pairs_of(data)] == VERDICTS
        assert data["counts"]["SEPARATED"] == len(TF32) - 1
        (equal,) = (p for p in pairs_of(data) if p["verdict"] == "EQUIVALENT")
        assert "theorem" in equal["reason"]
        assert [tuple(p["units"]) for p in pairs_of(data)] == [(p.first, p.second) for p in TF32]
        assert all(p["served"] is served for p in pairs_of(data))
    separated = [[p for p in pairs_of(data) if p["verdict"] == "SEPARATED"] for data in (first, second)]
    witnesses = [[p["witness"] for p in pairs] for pairs in separated]
    assert witnesses[0] == witnesses[1]


def test_a_scheduler_that_is_not_there_is_no_answer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra `distributed` is not installed")
    monkeypatch.setattr("tcformal.query.pairs.pool.CONNECT_S", 0.5)
    refused = run("--all-pairs", "tf32", "--scheduler", "tcp://127.0.0.1:9")
    assert refused.exit_code == 3
    assert "error: expected a Dask scheduler at tcp://127.0.0.1:9, but none answered" in refused.stderr


# ---------------------------------------------------------------------- killed runs
def started(folder: Path) -> subprocess.Popen[str]:
    """A run of its own, on one group of formats."""
    words = ["separate", "--all-pairs", "tf32", "--jobs", "2", "--json", "--results", str(folder), *PATIENT]
    return subprocess.Popen(
        [sys.executable, "-m", "tcformal", *words],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def kept(folder: Path) -> list[str]:
    """The whole lines of answers that are on the disk."""
    path = folder / "answers.jsonl"
    return path.read_text().splitlines(keepends=True) if path.exists() else []


def whole(lines: list[str]) -> list[str]:
    """Without a last line that was cut short."""
    return [line for line in lines if line.endswith("\n")]


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """SIGKILL at random moments: what was kept stays, nothing is asked twice, and every pair is answered."""
    rng = random.Random(7)
    before: list[str] = []
    for answered in (0, 2, 4):
        with started(tmp_path) as process:
            while len(whole(kept(tmp_path))) < answered and process.poll() is None:
                time.sleep(0.01)
            time.sleep(rng.random() * 2.0)
            process.send_signal(signal.SIGKILL)
        now = whole(kept(tmp_path))
        assert now[: len(before)] == before
        before = now
    with started(tmp_path) as process:
        assert process.stdout is not None
        data = json.loads(process.stdout.read())
    assert process.returncode == 0
    found = pairs_of(data)
    assert [p["verdict"] for p in found] == VERDICTS
    assert sum(p["served"] for p in found) == len(before)
    after = whole(kept(tmp_path))
    assert after[: len(before)] == before
    asked = [json.loads(line)["question"] for line in after]
    assert sorted((q["first"], q["second"]) for q in asked) == sorted((p.first, p.second) for p in TF32)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (signal.SIGINT, "interrupted"),
        pytest.param(signal.SIGTERM, "ended by SIGTERM", marks=pytest.mark.long),
        pytest.param(signal.SIGHUP, "ended by SIGHUP", marks=pytest.mark.long),
    ],
)
def test_an_interrupted_run_says_so_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals, sentence: str
) -> None:
    """Ctrl-C reaches the whole group, the others reach the program: no worker, no temporary folder stays."""
    results, scratch = tmp_path / "results", tmp_path / "scratch"
    scratch.mkdir()
    words = ["separate", "--all-pairs", "bf16", "--jobs", "1", "--results", str(results), *PATIENT]
    with signals.started(
        [sys.executable, "-m", "tcformal", *words], cwd=ROOT, env={**os.environ, "TMPDIR": str(scratch)}
    ) as process:
        while not kept(results) and process.poll() is None:
            time.sleep(0.01)
        (os.killpg if number is signal.SIGINT else os.kill)(process.pid, number)
        out, err = process.communicate()
    assert process.returncode == 128 + number
    assert out == ""
    assert err.splitlines()[-1] == f"error: {sentence}"
    assert "Traceback" not in err
    deadline = time.monotonic() + 120.0
    while exists(process.pid):
        assert time.monotonic() < deadline, "a process of the run is still there"
        time.sleep(0.05)
    assert list(scratch.iterdir()) == []


def exists(group: int) -> bool:
    """Whether a process of that group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
