"""Many questions at once: which pairs there are, and that each answer is reached, kept and served once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import campaign_calls
from campaign_calls import ask_in_vain, ask_marked, marked
from executors import Inline
from tcformal.design.catalog import catalogue
from tcformal.errors import NoAnswerError
from tcformal.query.options import SolveOptions
from tcformal.query.pairs.campaign import Answer, AskOptions, PairOutcome, ask, campaign
from tcformal.query.pairs.cluster import cluster
from tcformal.query.pairs.pairs import Pair, groups, without_counterpart
from tcformal.query.pairs.pool import SturdyPool
from tcformal.query.question import Kind, Q, Question
from tcformal.query.verdict import Verdict
from tcformal.solve.result import Limits
from tcformal.store.store import Store

#: Generous: no answer here may depend on how busy the machine is.
TERMS = AskOptions(how=SolveOptions(limits=Limits(time_s=300.0, memory_mb=8192, seed=0)))

AMPERE, HOPPER = "ampere/mma.m16n8k8.f32.tf32.tf32.f32", "hopper/mma.m16n8k8.f32.tf32.tf32.f32"
HOPPER_K4, CDNA3 = "hopper/mma.m16n8k4.f32.tf32.tf32.f32", "cdna3/v_mfma_f32_16x16x8_xf32"
TF32 = [Pair(x, y) for x, y in combinations((AMPERE, HOPPER, HOPPER_K4, CDNA3), 2)]

Pools = Callable[[], AbstractContextManager[Executor]]


# ---------------------------------------------------------------------- which pairs
def independent_groups() -> dict[tuple[Any, ...], dict[tuple[Any, ...], list[str]]]:
    """Formats -> design -> names, from the units' parameters rather than from the designs themselves."""
    found: dict[tuple[Any, ...], dict[tuple[Any, ...], list[str]]] = {}
    for name, u in catalogue().items():
        scale = None if u.scale_format is None else u.scale_format.name
        formats = (*(f.name for f in (u.a_format, u.b_format, u.c_format, u.d_format)), scale, u.scale_block)
        parameters = dict(u.design.parameters())
        block = min(u.k, u.design.products)
        del parameters["products"]
        how = (u.k, str(u.emulation)) if u.emulation is not None else u.tree and str(u.tree.root)
        design = (block, how, *sorted((key, str(value)) for key, value in parameters.items()))
        found.setdefault(formats, {}).setdefault(design, []).append(name)
    return found


def test_groups_are_those_of_an_independent_computation() -> None:
    expected = [tuple(sorted(map(tuple, designs.values()))) for designs in independent_groups().values()]
    found = groups()
    assert sorted(e for e in expected if len(e) > 1) == sorted(
        tuple(sorted(unit.names for unit in group.units)) for group in found
    )
    assert sorted(e[0][0] for e in expected if len(e) == 1) == sorted(without_counterpart())
    for group in found:
        names = [unit.name for unit in group.units]
        assert [(p.first, p.second) for p in group.pairs] == list(combinations(names, 2))
    assert sum(len(group.pairs) for group in found) == 738


# ---------------------------------------------------------------------- asking without processes
class Memory:
    """A store without a file."""

    def __init__(self) -> None:
        self.verdicts: dict[str, Verdict[Any]] = {}

    def find(self, question: Q, *, certify: bool | None = None) -> Verdict[Q] | None:
        """The kept answer."""
        return self.verdicts.get(question.digest())

    def has(self, question: Question) -> bool:
        """Whether it was asked."""
        return question.digest() in self.verdicts

    def add(self, verdict: Verdict[Any]) -> None:
        """Keep an answer."""
        self.verdicts[verdict.question.digest()] = verdict

    def add_claim(self, v: object) -> None:
        """No claims are asked."""


def here(pool: Executor) -> Pools:
    """A pool that is there already."""
    return lambda: nullcontext(pool)


def by_pair(outcomes: Iterator[PairOutcome]) -> dict[Pair, PairOutcome]:
    """The outcomes by pair, each pair once."""
    found = list(outcomes)
    assert len({o.pair for o in found}) == len(found)
    return {o.pair: o for o in found}


def test_a_failing_worker_costs_its_pair_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def some(pair: Pair, terms: AskOptions) -> Answer:
        return ask_in_vain(pair, terms) if pair == TF32[0] else ask(pair, terms)

    monkeypatch.setattr("tcformal.query.pairs.campaign.ask", some)
    kept = Memory()
    found = by_pair(campaign(TF32[:2], TERMS, kept, here(Inline())))
    assert found[TF32[0]].kind is Kind.ERROR
    assert not found[TF32[0]].decided
    assert found[TF32[0]].reason == f"no answer from a worker: ModuleNotFoundError: no module for {AMPERE}"
    assert found[TF32[1]].kind is Kind.SEPARATED
    assert len(kept.verdicts) == 1


def test_an_answer_to_another_definition_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Memory()
    monkeypatch.setattr("tcformal.query.pairs.campaign.ask", lambda *words: swapped(*ask(*words)))

    def swapped(digest: str, parts: dict[str, Any]) -> Answer:
        return digest[::-1], parts

    with pytest.raises(
        NoAnswerError, match=r"^expected workers with the definitions that are asked about here"
    ):
        by_pair(campaign(TF32[:1], TERMS, kept, here(Inline())))
    assert kept.verdicts == {}


# ---------------------------------------------------------------------- asking in processes
def kill_one_at_work(marks: Path, pairs: list[Pair], killed: list[int], stop: threading.Event) -> None:
    """Kill the first process that says it is at the second of the pairs."""
    while not stop.is_set():
        path = marked(marks, pairs[1])
        pids = path.read_text().split() if path.exists() else []
        if pids:
            os.kill(int(pids[0]), signal.SIGKILL)
            killed.append(int(pids[0]))
            return
        time.sleep(0.01)


@contextmanager
def a_killer(marks: Path, pairs: list[Pair]) -> Iterator[list[int]]:
    """Kills one worker in the middle of a call, meanwhile."""
    stop, killed = threading.Event(), list[int]()
    thread = threading.Thread(target=kill_one_at_work, args=(marks, pairs, killed, stop))
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


def assert_recovered(marks: Path, found: dict[Pair, PairOutcome], killed: list[int], kept: Store) -> None:
    """Every pair is answered and kept once; the pair whose worker was killed was asked twice."""
    assert [o.kind for o in found.values()] == [Kind.SEPARATED] * len(TF32), found
    assert set(found) == set(TF32)
    tries = {pair: len(marked(marks, pair).read_text().split()) for pair in TF32}
    assert len(killed) == 1
    assert tries[TF32[1]] == 2
    again = by_pair(campaign(TF32, TERMS, kept, no_workers))
    assert all(o.served for o in again.values())
    lines = [(e.record["question"]["first"], e.record["question"]["second"]) for e in kept.records()]
    assert Counter(lines) == Counter((p.first, p.second) for p in TF32)


def no_workers() -> AbstractContextManager[Executor]:
    """Nothing may be asked."""
    raise AssertionError("expected every answer to be kept")


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have workers say what they are at, in this folder."""
    folder = tmp_path / "marks"
    folder.mkdir()
    monkeypatch.setenv(campaign_calls.MARKS, str(folder))
    monkeypatch.setattr("tcformal.query.pairs.campaign.ask", ask_marked)
    return folder


@pytest.mark.slow
def test_a_pool_with_a_killed_worker_answers_every_pair(marks: Path, results_folder: Path) -> None:
    kept = Store(results_folder)
    with a_killer(marks, TF32) as killed:
        found = by_pair(campaign(TF32, TERMS, kept, partial(SturdyPool, 2)))
    assert_recovered(marks, found, killed, kept)
    assert multiprocessing.active_children() == []


@pytest.fixture
def scheduler(marks: Path) -> Iterator[str]:
    """The address of a cluster of two workers on this machine."""
    distributed = pytest.importorskip("distributed", reason="the extra `distributed` is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=60
    ) as made:
        yield made.scheduler_address


@pytest.mark.long
def test_a_cluster_with_a_killed_worker_answers_every_pair(
    marks: Path, scheduler: str, results_folder: Path
) -> None:
    kept = Store(results_folder)
    with a_killer(marks, TF32) as killed:
        found = by_pair(campaign(TF32, TERMS, kept, partial(cluster, scheduler)))
    assert_recovered(marks, found, killed, kept)
