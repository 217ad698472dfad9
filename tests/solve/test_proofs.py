"""The portfolio and proofs: an UNSAT of our own clauses counts with a checked proof, not without."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dags import evaluate
from sampled import one_in
from solve.stub_members import Stub, sum_question
from tcformal.backends.cnf import to_cnf
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve import portfolio
from tcformal.solve.certificate import verify
from tcformal.solve.child import Child
from tcformal.solve.members import available, registry
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Decision, Limits, Status

LIMITS = Limits(60.0, 4096, 1)
SHORT = Limits(2.0, 4096, 1)
SEED = 20261121

PROVING = [name for name in available() if registry[name].proves]


def factors(target: int) -> tuple[Graph, Node]:
    """Is `target` the product of two numbers of 5 bits?  (961 is, 997 is prime.)"""
    graph = Graph()
    x, y = graph.input("x", 5), graph.input("y", 5)
    return graph, graph.eq(graph.mul_expand(x, y), graph.const(target, 10))


def ask(target: int, *members: str, **options: Any) -> Decision:
    """Decide on `target`, with a replay."""
    graph, assertion = factors(target)
    options = {"limits": LIMITS, "jobs": 1, **options}
    return decide(
        graph,
        assertion,
        members=members,
        replay=lambda model: evaluate(graph, [assertion], model) == [1],
        **options,
    )


def said(decision: Decision, solver: str) -> tuple[Status, str]:
    """How one member ended."""
    (found,) = ((a.status, a.reason) for a in decision.answers if a.solver == solver)
    return found


# ---------------------------------------------------------------------- what confirms
@pytest.mark.parametrize("member", PROVING)
def test_a_checked_proof_confirms(member: str) -> None:
    decision = ask(997, member, certify=True)
    assert decision.status is Status.UNSAT
    made = decision.certificate
    assert made is not None
    assert made.solver == member
    assert verify(to_cnf(*factors(997)), made) == made.steps
    assert decision.reason == f"{member} answered unsat; the proof of {member} was checked by {made.checker}"


@pytest.mark.parametrize("certify", [True, None])
def test_sat_needs_no_proof(certify: bool | None) -> None:
    decision = ask(961, *PROVING, certify=certify)
    assert decision.status is Status.SAT
    assert decision.model == {"x": 31, "y": 31}
    assert decision.certificate is None


def test_proofs_of_constant_answers() -> None:
    graph = Graph()
    made = decide(graph, graph.truth(False), limits=LIMITS, certify=True).certificate
    assert made is not None
    assert verify(to_cnf(graph, graph.truth(False)), made) == 0


def test_own_clauses_do_not_confirm_each_other() -> None:
    decision = ask(997, *PROVING, certify=False)
    assert decision.status is Status.UNKNOWN
    assert decision.certificate is None
    assert decision.reason == (
        f"{' and '.join(PROVING)} answered unsat, but no other solver confirmed it (none was asked)"
    )


@pytest.mark.parametrize("second", ["bitwuzla", "z3", "cvc5"])
def test_another_encoding_confirms(second: str) -> None:
    decision = ask(997, "glucose", second, certify=False)
    assert decision.status is Status.UNSAT
    assert decision.certificate is None
    assert decision.reason == f"glucose answered unsat, confirmed by {second}"


def test_without_confirmation_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "ProofCheck", None)
    decision = ask(997, "glucose", confirm=False)
    assert decision.status is Status.UNSAT
    assert decision.reason == "glucose answered unsat, unconfirmed as asked"


def test_a_proof_is_asked_of_solvers_that_write_them() -> None:
    with pytest.raises(InputError) as caught:
        ask(997, "z3", "cvc5", certify=True)
    proving = ", ".join(name for name, member in registry.items() if member.proves)
    assert str(caught.value) == f"expected a solver that writes proofs ({proving}), but got z3, cvc5"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("certify", "asked"),
    [
        (True, ["says_unsat", "proves_slowly"]),  # only a proof is wanted, and one is on its way
        (None, ["says_unsat", "proves_slowly", "gives_up"]),  # another encoding may confirm before the proof
    ],
)
def test_nobody_is_started_who_cannot_help(stub: Stub, certify: bool | None, asked: list[str]) -> None:
    """Once an UNSAT was heard, those that could only slow the proof down wait."""
    members = [stub("says_unsat"), stub("proves_slowly", proves=True), "glucose", stub("gives_up")]
    decision = ask(997, *members, certify=certify, jobs=2)
    assert decision.status is Status.UNSAT
    assert decision.confirmed_by == ("proves_slowly",)
    assert (decision.certificate is None) == (certify is None)
    started = [a.solver for a in decision.answers if not a.reason.startswith("not started: ")]
    assert sorted(started) == sorted(asked)


def test_those_held_back_are_started_when_the_proof_fails(stub: Stub) -> None:
    members = [stub("says_unsat"), stub("proves_nothing", proves=True), "glucose"]
    decision = ask(997, *members, certify=True, jobs=2)
    assert decision.status is Status.UNSAT
    assert decision.certificate is not None
    assert decision.certificate.solver == "glucose"


# ---------------------------------------------------------------------- solvers that lie
LIES = [
    ("proves_nothing", "expected a proof of every step, but added clause"),
    ("proves_another_question", "expected a proof "),
    ("writes_no_proof", "expected a proof, but none was written"),
    ("stops_before_the_end", "expected a proof"),
]


@pytest.mark.parametrize("certify", one_in(2, [True, None]))
@pytest.mark.parametrize(("runner", "reason"), LIES)
def test_a_proof_that_is_refused_counts_for_nothing(
    stub: Stub, runner: str, reason: str, certify: bool | None
) -> None:
    decision = ask(997, stub(runner, proves=True), certify=certify)
    assert decision.status is Status.CRASH
    assert decision.certificate is None
    status, why = said(decision, runner)
    assert status is Status.CRASH
    assert why.startswith(f"answered unsat, but its proof was not accepted: {reason}")
    assert decision.reason == f"every solver failed ({runner}: crash)"


@pytest.mark.parametrize("runner", ["proves_nothing", "proves_another_question", "writes_no_proof"])
def test_a_false_unsat_is_outlived(stub: Stub, runner: str) -> None:
    """The next member's answer is heard once the proof is refused."""
    decision = ask(961, stub(runner, proves=True), "z3")
    assert decision.status is Status.SAT
    assert decision.model == {"x": 31, "y": 31}
    assert not decision.disagreement


@pytest.mark.parametrize("runner", ["proves_nothing", "proves_another_question", "writes_no_proof"])
def test_a_refused_proof_is_no_second_opinion(stub: Stub, runner: str) -> None:
    decision = ask(997, stub(runner, proves=True), "z3")
    assert decision.status is Status.UNKNOWN
    assert decision.confirmed_by == ()
    assert decision.reason == f"z3 answered unsat, but no other solver confirmed it ({runner}: crash)"


def test_a_right_answer_with_a_wrong_proof_is_proved_by_another(stub: Stub) -> None:
    decision = ask(997, stub("proves_nothing", proves=True), "glucose", certify=True)
    assert decision.status is Status.UNSAT
    assert decision.certificate is not None
    assert decision.certificate.solver == "glucose"
    assert said(decision, "proves_nothing")[0] is Status.CRASH


def test_a_wrong_model_is_a_disagreement(stub: Stub) -> None:
    decision = ask(997, stub("says_sat_ones", proves=True), certify=True)
    assert decision.status is Status.CRASH
    assert decision.disagreement
    assert decision.reason == "disagreement: says_sat_ones answered sat, but its model does not replay"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runner", "status", "reason"),
    [
        ("hang", Status.TIMEOUT, "no answer in 6 s"),
        ("killed", Status.CRASH, "the process was ended by signal 9 without a readable answer"),
        ("never_stops_proving", Status.MEMORY, "ran out of memory"),
        ("fills_the_disk", Status.CRASH, "OSError: [Errno 27] File too large"),
    ],
)
def test_a_prover_that_fails_costs_its_answer_only(
    stub: Stub, runner: str, status: Status, reason: str
) -> None:
    # The other one's proof is made and checked in that time, on a slow machine too.
    limits = {"hang": Limits(6.0, 4096, 1), "never_stops_proving": Limits(60.0, 500, 1)}.get(runner, LIMITS)
    decision = ask(997, stub(runner, proves=True), "glucose", certify=True, limits=limits)
    assert said(decision, runner)[0] is status
    assert said(decision, runner)[1].startswith(reason)
    assert decision.status is Status.UNSAT
    assert decision.certificate is not None


# ---------------------------------------------------------------------- checkers that fail
@pytest.mark.slow
def test_a_proof_too_long_to_check_costs_the_certificate(stub: Stub) -> None:
    runner = stub("repeats_a_true_step", proves=True)
    decision = ask(997, runner, limits=Limits(60.0, 700, 1))
    assert decision.status is Status.UNKNOWN
    assert decision.reason == f"{runner} answered unsat, but no other solver confirmed it (none was asked)"
    assert said(decision, runner)[0] is Status.UNSAT
    assert said(decision, runner)[1].startswith("answered unsat; its proof was not checked: the process")


CHECKERS = [
    ("hangs", "no answer in 2 s"),
    ("leaves", "the process exited with status 9 without a readable answer"),
    ("runs out of memory", "the process exited with status 1 without a readable answer (MemoryError)"),
    pytest.param(
        "says too little",
        "the process exited with status 0 without a readable answer",
        marks=pytest.mark.long,
    ),
    pytest.param(
        "writes no packed proof",
        "the process exited with status 0 without a readable answer",
        marks=pytest.mark.long,
    ),
    ("says nothing", "the process exited with status 0 without a readable answer"),
]


class StubChecker(Child):
    """Runs the stub in place of the checker."""

    def __init__(self, module: str, *rest: Any) -> None:
        super().__init__("stub_checkers" if module == "tcformal.solve.checker" else module, *rest)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "reason"), CHECKERS)
def test_a_checker_that_fails_costs_the_certificate(
    how: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parent))
    monkeypatch.setenv("STUB_CHECKER", how)
    monkeypatch.setattr(portfolio, "Child", StubChecker)
    alone = ask(997, "glucose", limits=SHORT, certify=True)
    assert alone.status is Status.UNKNOWN
    assert alone.reason == "glucose answered unsat, but no proof of it was checked (none was asked)"
    assert said(alone, "glucose") == (Status.UNSAT, f"answered unsat; its proof was not checked: {reason}")
    together = ask(997, "glucose", "z3", limits=SHORT)
    assert together.status is Status.UNSAT
    assert together.certificate is None
    assert together.confirmed_by == ("z3",)


# ---------------------------------------------------------------------- kill -9
class Mortal(Child):
    """A process that is killed after a random while, if it still runs then."""

    rng = random.Random(SEED)

    def __init__(self, *rest: Any) -> None:
        super().__init__(*rest)
        self._end = self.seconds + self.rng.choice((0.02, 0.1, 0.3, 0.6, 1.2)) * self.rng.random()
        self.struck = False

    def over(self) -> bool:
        if self.seconds > self._end and not self.struck:
            self.struck = True
            self._process.kill()
        return super().over()


@pytest.mark.parametrize("jobs", one_in(3, [pytest.param(1, marks=pytest.mark.long), 3]))
@pytest.mark.parametrize("certify", [True, None, False])
def test_killed_processes_never_make_a_wrong_answer(
    jobs: int, certify: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Solvers and checkers are ended by SIGKILL at random moments: the right answer, or none."""
    monkeypatch.setattr(portfolio, "Child", Mortal)
    for target in (961, 997):
        decision = ask(target, *PROVING, "bitwuzla", "z3", jobs=jobs, certify=certify)
        right = Status.SAT if target == 961 else Status.UNSAT
        assert decision.status in (right, Status.CRASH, Status.UNKNOWN), decision.reason
        assert not decision.disagreement
        if decision.status is Status.SAT:
            assert decision.model == {"x": 31, "y": 31}
        if decision.certificate is not None:
            assert verify(to_cnf(*factors(target)), decision.certificate) == decision.certificate.steps


def test_the_stubs_question_is_unsatisfiable() -> None:
    """The proof of another question is a real one."""
    graph, assertion = sum_question()

    def never(model: Mapping[str, int]) -> bool:
        return False

    assert decide(graph, assertion, limits=LIMITS, replay=never).status is Status.UNSAT
