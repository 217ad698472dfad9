"""The portfolio: what counts as an answer, and that one member's failure costs its own answer only."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dags import evaluate, random_graph, random_inputs
from sampled import one_in
from signals import interrupts
from solve.stub_members import Stub
from tcformal.errors import InputError, MissingSolverError, NoAnswerError, UnknownNameError, WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve.members import Member, available, check_members, registry
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Limits, SolverAnswer, Status

LIMITS = Limits(60.0, 4096, 1)
SHORT = Limits(2.0, 4096, 1)

#: The members with an encoding of their own.
SMT = ["bitwuzla", "cvc5", "z3"]


def easy(target: int = 5) -> tuple[Graph, Node, Callable[[Mapping[str, int]], bool]]:
    """x * y = target over 4 bits each, and its replay; an input stands by that it does not mention."""
    graph = Graph()
    x, y = graph.input("x", 4), graph.input("y", 4)
    graph.input("idle", 9)
    assertion = graph.eq(graph.mul_expand(x, y), graph.const(target, 8))
    return graph, assertion, lambda model: evaluate(graph, [assertion], model) == [1]


#: 251 is prime and wider than a factor.
IMPOSSIBLE = 251


def by_name(answers: tuple[SolverAnswer, ...]) -> dict[str, SolverAnswer]:
    return {answer.solver: answer for answer in answers}


# ---------------------------------------------------------------------- real solvers
def test_sat_is_replayed_and_stops_the_rest() -> None:
    graph, assertion, replay = easy()
    decision = decide(graph, assertion, members=SMT, limits=LIMITS, replay=replay, jobs=1)
    assert decision.status is Status.SAT
    assert decision.model is not None
    assert replay(decision.model)
    assert decision.model["idle"] == 0
    assert decision.reason == "bitwuzla answered sat with a model that replays"
    assert [a.solver for a in decision.answers] == ["bitwuzla", "cvc5", "z3"]
    assert [a.reason for a in decision.answers[1:]] == ["not started: answered by bitwuzla"] * 2
    assert all(a.version for a in decision.answers)


def test_unsat_is_confirmed_by_a_second_solver() -> None:
    graph, assertion, replay = easy(IMPOSSIBLE)
    decision = decide(graph, assertion, members=SMT, limits=LIMITS, replay=replay, jobs=1)
    assert decision.status is Status.UNSAT
    assert decision.confirmed_by == ("cvc5",)
    assert decision.reason == "bitwuzla answered unsat, confirmed by cvc5"
    assert by_name(decision.answers)["z3"].status is Status.UNKNOWN


@pytest.mark.parametrize("member", available())
def test_each_member_alone_without_confirmation(member: str) -> None:
    graph, assertion, _ = easy(IMPOSSIBLE)
    decision = decide(graph, assertion, members=[member], limits=LIMITS, confirm=False)
    assert decision.status is Status.UNSAT
    assert decision.confirmed_by == ()
    assert decision.reason == f"{member} answered unsat, unconfirmed as asked"


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_is_asked_too(value: int) -> None:
    graph = Graph()
    decision = decide(graph, graph.const(value, 1), limits=LIMITS)
    assert decision.status is (Status.SAT if value else Status.UNSAT)
    assert {a.solver for a in decision.answers} == set(available())


def test_random_graphs_are_decided_as_evaluated() -> None:
    rng = random.Random(7)
    for _ in range(4):
        graph, roots = random_graph(rng, 3, 40, 16)
        inputs = random_inputs(rng, graph)
        pairs = zip(roots, evaluate(graph, roots, inputs), strict=True)
        assertion = graph.and_(*[graph.eq(root, graph.const(value, root.width)) for root, value in pairs])

        def replay(model: Mapping[str, int], graph: Graph = graph, assertion: Node = assertion) -> bool:
            return evaluate(graph, [assertion], model) == [1]

        assert decide(graph, assertion, limits=LIMITS, replay=replay).status is Status.SAT


def test_a_request_of_megabytes_passes(stub: Stub) -> None:
    graph = Graph()
    x = y = graph.input("x", 64)
    rng = random.Random(3)
    for _ in range(12_000):
        y = graph.xor(graph.add_mod(y, x), graph.const(rng.getrandbits(64), 64))
    decision = decide(graph, graph.bit(y, 0), members=[stub("tells_seed")], limits=Limits(60.0, 4096, 9))
    assert decision.answers[0].reason == "seed 9, 4096 MB, 60.0 s"


# ---------------------------------------------------------------------- members that fail
FAILURES = [
    ("hang", Status.TIMEOUT, "no answer in 2 s"),
    ("leave", Status.CRASH, "the process exited with status 7 without a readable answer"),
    ("killed", Status.CRASH, "the process was ended by signal 9 without a readable answer"),
    (
        "aborts_without_memory",
        Status.MEMORY,
        "the process was ended by signal 6 without a readable answer (t",
    ),
    ("exhaust", Status.MEMORY, "ran out of memory (MemoryError"),
    ("raises", Status.CRASH, "ValueError: the solver tripped"),
    ("not_installed", Status.MISSING, "ModuleNotFoundError"),
    ("gives_up", Status.UNKNOWN, "gave up"),
    ("says_sat_too_wide", Status.CRASH, "the process exited with status 0 without a readable answer"),
]


@pytest.mark.parametrize(("runner", "status", "reason"), one_in(3, FAILURES))
def test_a_failure_costs_its_own_answer_only(stub: Stub, runner: str, status: Status, reason: str) -> None:
    graph, assertion, replay = easy()
    limits = {"hang": SHORT, "exhaust": Limits(60.0, 300, 1)}.get(runner, LIMITS)
    decision = decide(
        graph, assertion, members=[stub(runner), "bitwuzla"], limits=limits, replay=replay, jobs=1
    )
    failed = by_name(decision.answers)[runner]
    assert failed.status is status
    assert failed.reason.startswith(reason)
    assert failed.version
    assert decision.status is Status.SAT
    assert not decision.disagreement


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_member_fails_and_the_portfolio_ends(stub: Stub, jobs: int) -> None:
    graph, assertion, _ = easy()
    members = [stub(name) for name in ("leave", "killed", "raises", "not_installed")]
    decision = decide(graph, assertion, members=members, limits=LIMITS, jobs=jobs)
    assert decision.status is Status.CRASH
    assert decision.reason.startswith("every solver failed (")
    assert not decision.disagreement
    assert len(decision.answers) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("others", "status", "reason"),
    [
        (["hang", "leave"], Status.TIMEOUT, "no solver answered in time (leave: crash; hang: timeout)"),
        (["gives_up"], Status.UNKNOWN, "no solver decided (gives_up: unknown)"),
        (
            ["says_unsat"],
            Status.UNKNOWN,
            "says_unsat answered unsat, but no other solver confirmed it (none was",
        ),
        (
            ["says_unsat", "leave"],
            Status.UNKNOWN,
            "says_unsat answered unsat, but no other solver confirmed it (",
        ),
        (
            ["says_unsat", "hang"],
            Status.TIMEOUT,
            "says_unsat answered unsat, but no other solver confirmed it (",
        ),
    ],
)
def test_no_answer_says_why(stub: Stub, others: list[str], status: Status, reason: str) -> None:
    graph, assertion, _ = easy(IMPOSSIBLE)
    # Long enough for the other one to start and end on a machine that is slow.
    limits = Limits(6.0, 4096, 1) if "hang" in others else LIMITS
    decision = decide(graph, assertion, members=[stub(n) for n in others], limits=limits, jobs=2)
    assert decision.status is status
    assert decision.reason.startswith(reason)
    assert decision.model is None


# ---------------------------------------------------------------------- members that lie
def test_a_model_that_does_not_replay_is_a_disagreement(stub: Stub) -> None:
    graph, assertion, replay = easy()
    decision = decide(
        graph, assertion, members=[stub("says_sat_ones"), "z3"], limits=LIMITS, replay=replay, jobs=1
    )
    assert decision.status is Status.CRASH
    assert decision.disagreement
    assert decision.reason == "disagreement: says_sat_ones answered sat, but its model does not replay"
    assert by_name(decision.answers)["says_sat_ones"].model == {"x": 15, "y": 15, "idle": 0}


def test_sat_against_unsat_is_a_disagreement(stub: Stub) -> None:
    graph, assertion, replay = easy()
    decision = decide(
        graph, assertion, members=[stub("says_unsat"), "z3"], limits=LIMITS, replay=replay, jobs=1
    )
    assert decision.status is Status.CRASH
    assert decision.disagreement
    assert decision.reason == "disagreement: z3 answered sat, but says_unsat answered unsat"
    assert {a.status for a in decision.answers} == {Status.SAT, Status.UNSAT}
    assert decision.model is None


def test_one_package_does_not_confirm_itself(stub: Stub) -> None:
    graph, assertion, _ = easy()
    members = [stub("says_unsat", "pytest"), stub("chatters", "pytest")]
    decision = decide(graph, assertion, members=members, limits=LIMITS)
    assert decision.status is Status.UNKNOWN
    assert "no other solver confirmed it" in decision.reason


# ---------------------------------------------------------------------- processes
def _gone(pid: int) -> bool:
    """True once the process has ended, a zombie that nobody reaps included."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def _all_gone(pids: list[int]) -> bool:
    for _ in range(500):
        if all(_gone(pid) for pid in pids):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.slow
def test_a_timeout_ends_the_whole_group(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_PIDS", str(tmp_path / "pids"))
    graph, assertion, _ = easy()
    decision = decide(graph, assertion, members=[stub("hang_with_child")], limits=SHORT)
    assert decision.status is Status.TIMEOUT
    assert _all_gone([int(pid) for pid in (tmp_path / "pids").read_text().split()])


def test_an_interrupt_ends_the_children(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv("STUB_PIDS", str(pids))
    graph, assertion, _ = easy()

    def interrupt() -> None:
        with contextlib.suppress(FileNotFoundError):
            for _ in range(1000):
                if pids.exists() and pids.read_text().endswith("\n"):
                    break
                time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with interrupts(), pytest.raises(KeyboardInterrupt):
        decide(graph, assertion, members=[stub("hang_with_child")], limits=LIMITS)
    thread.join()
    assert _all_gone([int(pid) for pid in pids.read_text().split()])


def test_a_replay_that_raises_ends_the_children(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv("STUB_PIDS", str(pids))
    graph, assertion, _ = easy()

    def replay(model: Mapping[str, int]) -> bool:
        for _ in range(1000):
            if pids.exists() and pids.read_text().endswith("\n"):
                break
            time.sleep(0.01)
        raise WidthError("the replay tripped")

    with pytest.raises(WidthError, match="the replay tripped"):
        decide(
            graph,
            assertion,
            members=[stub("hang_with_child"), "bitwuzla"],
            limits=LIMITS,
            replay=replay,
            jobs=2,
        )
    assert _all_gone([int(pid) for pid in pids.read_text().split()])


# ---------------------------------------------------------------------- arguments
def test_unknown_solver_is_rejected() -> None:
    graph, assertion, _ = easy()
    with pytest.raises(UnknownNameError) as caught:
        decide(graph, assertion, members=["bitwuzzla"], limits=LIMITS)
    assert str(caught.value) == "expected a known solver, but got 'bitwuzzla': the closest are bitwuzla"


def test_missing_solver_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry, "gone", Member("no-such-distribution", "nowhere:run"))
    assert "gone" not in available()
    with pytest.raises(MissingSolverError) as caught:
        check_members(["z3", "gone"])
    assert str(caught.value) == (
        "expected solver gone to be installed, but its package is missing: pip install no-such-distribution"
    )


def test_no_solver_at_all_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(registry):
        monkeypatch.setitem(registry, name, Member(f"no-such-{name}", "nowhere:run"))
    graph, assertion, _ = easy()
    with pytest.raises(NoAnswerError) as caught:
        decide(graph, assertion, limits=LIMITS)
    assert str(caught.value) == (
        "expected at least one solver to be installed, but found none: "
        "python -m pip install 'tcformal[solvers]'"
    )


def test_a_missing_solver_of_an_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry, "kissat", Member("no-such-kissat", "nowhere:run", extra="kissat"))
    with pytest.raises(MissingSolverError, match=r"missing: python -m pip install 'tcformal\[kissat\]'$"):
        check_members(["kissat"])


@pytest.mark.parametrize(
    ("members", "found"), [([], "none"), (["z3", "z3"], "z3, z3"), (["z3", "cvc5", "z3"], "z3, cvc5, z3")]
)
def test_members_rejects(members: list[str], found: str) -> None:
    graph, assertion, _ = easy()
    with pytest.raises(InputError) as caught:
        decide(graph, assertion, members=members, limits=LIMITS)
    assert str(caught.value) == f"expected one or more different solvers, but got {found}"


def test_jobs_rejects() -> None:
    graph, assertion, _ = easy()
    with pytest.raises(InputError, match="expected an integer of at least 1 for jobs, but got 0"):
        decide(graph, assertion, limits=LIMITS, jobs=0)


def test_a_wide_assertion_is_rejected() -> None:
    graph, _, _ = easy()
    with pytest.raises(WidthError, match="expected an assertion of width 1, but got width 4"):
        decide(graph, graph.inputs["x"], limits=LIMITS)
