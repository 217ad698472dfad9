"""Many questions at once: which pairs there are, and that each answer is reached, kept and served once."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import campaign_calls
from campaign_calls import ask_in_vain, ask_marked, marked
from executors import Inline
from tcformal.design.catalog import catalogue
from tcformal.errors import InputError, NoAnswerError, UnknownNameError
from tcformal.ir.walk import digest
from tcformal.query.assume import Assumptions
from tcformal.query.options import SolveOptions
from tcformal.query.pair import question
from tcformal.query.pairs.all_pairs import Answer, AskOptions, PairOutcome, ask, campaign
from tcformal.query.pairs.pairs import Pair, groups, without_counterpart
from tcformal.query.pairs.pool import SturdyPool, cluster
from tcformal.query.question import Kind, Q, Question
from tcformal.query.verdict import Verdict
from tcformal.semantics.chain import circuit
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


def test_merged_units_build_one_definition() -> None:
    """On the same k, the first and the last name of the design of most names in each group."""
    assert sum(any(len(unit.names) > 1 for unit in group.units) for group in groups()) > 20
    for group in groups():
        names = max((unit.names for unit in group.units), key=len)
        first, last = catalogue()[names[0]], catalogue()[names[-1]]
        k = math.lcm(first.k, last.k)
        digests = {digest(graph, {"d": root}) for graph, root in (circuit(u, k) for u in (first, last))}
        assert len(digests) == 1, names


@pytest.mark.slow
def test_pairs_can_be_asked_or_say_why_not() -> None:
    for group in groups():
        for pair in group.pairs[:: -(-len(group.pairs) // 3)]:
            one, other = catalogue()[pair.first], catalogue()[pair.second]
            try:
                q = question(one, other, Assumptions())
            except InputError:
                assert one.scale_format is not None
            else:
                assert q.k == math.lcm(one.k, other.k)


def test_pairs_are_chosen_by_a_text_in_any_name() -> None:
    for text in ("tf32", "hopper/", "wgmma", "x86/"):
        every = {p: g for g in groups() for p in g.pairs}
        chosen = [p for g in groups(text) for p in g.pairs]
        names = {unit.name: unit.names for group in groups() for unit in group.units}
        expected = [p for p in every if any(text in n for s in (p.first, p.second) for n in names[s])]
        assert chosen == expected
        assert chosen
    assert groups("tf32")[0].formats == "fp32 = tf32 · tf32 + fp32"
    others = ("gaudi3/mme.tf32", "gaudi2/mme.tf32", "wormhole/MVMUL.tf32.fp32", "blackhole/MVMUL.tf32.fp32")
    every_one = (AMPERE, HOPPER, HOPPER_K4, CDNA3, *others)
    assert groups("tf32")[0].pairs == tuple(Pair(x, y) for x, y in combinations(every_one, 2))


def test_a_text_in_no_name_is_refused() -> None:
    sentence = r"^expected a known text of a unit's name, but got 'hoper': the closest are hopper"
    with pytest.raises(UnknownNameError, match=sentence):
        groups("hoper")


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


def test_answers_are_kept_and_not_asked_for_again() -> None:
    pool, kept = Inline(), Memory()
    first = by_pair(campaign(TF32[:2], TERMS, kept, here(pool)))
    assert [o.kind for o in first.values()] == [Kind.SEPARATED] * 2
    assert pool.calls == len(kept.verdicts) == 2
    again = by_pair(campaign(TF32[:2], TERMS, kept, here(pool)))
    assert pool.calls == 2
    assert {p: o.verdict for p, o in again.items()} == {p: o.verdict for p, o in first.items()}
    fresh = AskOptions(how=replace(TERMS.how, fresh=True))
    by_pair(campaign(TF32[:1], fresh, kept, here(pool)))
    assert pool.calls == 3


def test_no_pool_is_made_where_nothing_has_to_be_asked() -> None:
    def no_pool() -> AbstractContextManager[Executor]:
        raise AssertionError("expected no pool")

    assert by_pair(campaign([], TERMS, Memory(), no_pool)) == {}
    scaled = Pair(AMPERE, "hopper/mma.m16n8k16.f32.f16.f16.f32")
    same = Pair(AMPERE, AMPERE)
    found = by_pair(campaign([scaled, same], TERMS, Memory(), no_pool))
    assert found[same].kind is Kind.EQUIVALENT
    assert found[same].reason == "both units build the same definition"
    assert found[scaled].kind is None
    assert found[scaled].decided
    assert found[scaled].reason.startswith("expected two units of equal operand formats")


def test_a_failing_worker_costs_its_pair_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def some(pair: Pair, terms: AskOptions) -> Answer:
        return ask_in_vain(pair, terms) if pair == TF32[0] else ask(pair, terms)

    monkeypatch.setattr("tcformal.query.pairs.all_pairs.ask", some)
    kept = Memory()
    found = by_pair(campaign(TF32[:2], TERMS, kept, here(Inline())))
    assert found[TF32[0]].kind is Kind.ERROR
    assert not found[TF32[0]].decided
    assert found[TF32[0]].reason == f"no answer from a worker: ModuleNotFoundError: no module for {AMPERE}"
    assert found[TF32[1]].kind is Kind.SEPARATED
    assert len(kept.verdicts) == 1


def test_an_answer_to_another_definition_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Memory()
    monkeypatch.setattr("tcformal.query.pairs.all_pairs.ask", lambda *words: swapped(*ask(*words)))

    def swapped(digest: str, parts: Verdict[Any]) -> Answer:
        return digest[::-1], parts

    with pytest.raises(
        NoAnswerError, match=r"^expected workers with the definitions that are asked about here"
    ):
        by_pair(campaign(TF32[:1], TERMS, kept, here(Inline())))
    assert kept.verdicts == {}


def test_lost_workers_are_no_answer() -> None:
    class Lost(Inline):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            made: Future[Any] = Future()
            made.cancel()
            made.set_running_or_notify_cancel()
            return made

    sentence = r"^expected an answer to every pair, but the workers were lost$"
    with pytest.raises(NoAnswerError, match=sentence):
        by_pair(campaign(TF32[:1], TERMS, Memory(), here(Lost())))


def test_bad_assumptions_are_refused_before_anything_is_asked() -> None:
    pool = Inline()
    with pytest.raises(UnknownNameError, match="finit"):
        by_pair(campaign(TF32, AskOptions(assume=("finit",), how=TERMS.how), Memory(), here(pool)))
    assert pool.calls == 0


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
    monkeypatch.setattr("tcformal.query.pairs.all_pairs.ask", ask_marked)
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


def test_a_cluster_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra `distributed` is not installed")
    monkeypatch.setattr("tcformal.query.pairs.pool.CONNECT_S", 0.5)
    with (
        pytest.raises(
            NoAnswerError, match=r"^expected a Dask scheduler at tcp://127.0.0.1:9, but none answered"
        ),
        cluster("tcp://127.0.0.1:9"),
    ):
        pass
    with pytest.raises(InputError, match=r"^expected the address of a scheduler"), cluster("nowhere://here"):
        pass


def test_dask_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    sentence = r"^expected Dask to be installed for a scheduler, .*pip install 'tcformal\[distributed\]'$"
    with pytest.raises(InputError, match=sentence), cluster("tcp://127.0.0.1:9"):
        pass
