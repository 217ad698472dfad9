"""A solver portfolio, and an arbiter that checks answers before they count; apart, being imported lazily.

A model counts if it replays.  An UNSAT counts if its proof was checked, or if a second solver with another
encoding agrees.  Contradictory answers are reported as a disagreement, and a failing process costs only its
own answer.
"""

from __future__ import annotations

import functools
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from tcformal.checks import check_int
from tcformal.errors import CertificateError, InputError, WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable, to_json
from tcformal.solve.certificate import Certificate
from tcformal.solve.child import Child
from tcformal.solve.members import check_members, default_members, registry
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status


def _said(
    name: str, status: Status, seconds: float, reason: str, model: dict[str, int] | None = None
) -> SolverAnswer:
    """One member's answer, with the version of its package."""
    version = registry[name].version
    return SolverAnswer(
        solver=name, version=version, status=status, model=model, seconds=seconds, reason=reason
    )


class SolverRun:
    """One running solver process."""

    def __init__(self, name: str, graph: Graph, dag: str, limits: Limits, folder: Path) -> None:
        self.name = name
        self.member = registry[name]
        self.graph = graph
        #: Where a proof is, once the member has written one.
        self.proof = folder / f"{name}.drat"
        request = {
            "solver": name, "runner": self.member.runner, "dag": dag, "proof": str(self.proof),
            **limits.to_json(),
        }  # fmt: skip
        self.child = Child("tcformal.solve.worker", request, limits.time_s, folder, name)

    def result(self, stopped_by: str | None = None) -> SolverAnswer:
        """The answer of an ended process, or an answer that reports how it ended."""
        answer = self._answer_line()
        if answer is not None:
            return answer
        status, reason = self.child.ending()
        if stopped_by is not None:
            status, reason = Status.UNKNOWN, f"stopped: answered by {stopped_by}"
        return _said(self.name, status, self.child.seconds, reason)

    def _answer_line(self) -> SolverAnswer | None:
        """The complete answer line, if the process wrote one that fits the graph."""
        try:
            data = self.child.line()
            status, model = Status(data["status"]), None
            if status is Status.SAT:
                inputs = self.graph.inputs
                model = dict.fromkeys(inputs, 0)
                for name, text in data["model"].items():
                    model[name] = check_int(name, int(text, 16), low=0, high=(1 << inputs[name].width) - 1)
            return _said(self.name, status, float(data["seconds"]), str(data["reason"]), model)
        except (LookupError, ValueError, TypeError, AttributeError, InputError):
            return None


class ProofCheck:
    """A running check of one member's proof, in a process that is not a solver."""

    def __init__(self, solver: str, proof: Path, dag: str, limits: Limits) -> None:
        self.solver = solver
        self._packed = proof.with_suffix(".xz")
        request = {
            "dag": dag, "proof": str(proof), "packed": str(self._packed), "solver": solver, **limits.to_json()
        }  # fmt: skip
        self.child = Child("tcformal.solve.checker", request, limits.time_s, proof.parent, f"{solver}.check")

    def result(self) -> Certificate | CertificateError | str:
        """The certificate, the checker's refusal, or the reason why there is neither."""
        try:
            data = self.child.line()
            if "refused" in data:
                return CertificateError(str(data["refused"]))
            return Certificate(proof=self._packed.read_bytes(), **data)
        except (LookupError, ValueError, TypeError, OSError):
            return self.child.ending()[1]


#: Bits above which a word counts as wide.
WIDE = 64

#: The kinds of questions; the first one that fits is a question's kind.
KINDS: Mapping[str, str] = {
    "constant": "both sides build the same definition",
    "wide": f"words of more than {WIDE} bits: sums that keep every bit",
    "products": "dot products whose sums are cut",
    "sums": "no products: lemmas about sums and their order",
}


def kind_of(assertion: Node) -> str:
    """The benchmark category of the question whether some input makes `assertion` equal 1."""
    if assertion.op == "const":
        return "constant"
    nodes = reachable([assertion])
    if any(node.width > WIDE for node in nodes):
        return "wide"
    return "products" if any(node.op == "mul_expand" for node in nodes) else "sums"


@functools.cache
def measured() -> Mapping[str, Any]:
    """The benchmark's results: the machine, and each category's member order and median times."""
    text = resources.files("tcformal.solve").joinpath("order.json").read_text(encoding="utf-8")
    table: Mapping[str, Any] = json.loads(text)
    return table


def in_order(names: Sequence[str], assertion: Node) -> tuple[str, ...]:
    """Members in the start order for this question; unmeasured members come last."""
    order = measured()["kinds"][kind_of(assertion)]["order"]
    return tuple(sorted(names, key=lambda name: order.index(name) if name in order else len(order)))


ModelReplay = Callable[[Mapping[str, int]], bool]


class Arbiter:
    """The arbiter of a portfolio: it collects answers and derives the decision that they support."""

    def __init__(self, replay: ModelReplay | None, confirm: bool, certify: bool | None) -> None:
        self.replay = replay
        self.confirm = confirm
        #: True: only a checked proof confirms; False: only a second solver; None: whichever comes first.
        self.certify = certify
        self.answers: list[SolverAnswer] = []
        self.certificate: Certificate | None = None
        self._refuted: list[str] = []

    def add_answer(self, answer: SolverAnswer) -> None:
        """Add one answer; a model is replayed here, once."""
        self.answers.append(answer)
        if answer.model is not None and self.replay is not None and not self.replay(answer.model):
            self._refuted.append(answer.solver)

    def add_proof_check(self, solver: str, found: Certificate | CertificateError | str) -> None:
        """Add the result of checking one member's proof.

        A refused proof invalidates its UNSAT; where the checker itself failed, the UNSAT stays and needs
        a second solver.
        """
        if isinstance(found, Certificate):
            self.certificate = found
            return
        (i,) = (i for i, answer in enumerate(self.answers) if answer.solver == solver)
        if isinstance(found, CertificateError):
            reason = f"answered unsat, but its proof was not accepted: {found}"
            self.answers[i] = replace(self.answers[i], status=Status.CRASH, reason=reason)
        else:
            reason = f"answered unsat; its proof was not checked: {found}"
            self.answers[i] = replace(self.answers[i], reason=reason)

    def _of(self, status: Status) -> list[SolverAnswer]:
        return [a for a in self.answers if a.status is status]

    def decision(self) -> Decision | None:
        """The decision, as soon as no further answer is needed."""
        sat, unsat = self._of(Status.SAT), self._of(Status.UNSAT)
        if self._refuted:
            return self._disagree(f"{self._refuted[0]} answered sat, but its model does not replay")
        if sat and unsat:
            return self._disagree(f"{sat[0].solver} answered sat, but {unsat[0].solver} answered unsat")
        if sat:
            replayed = "" if self.replay is None else " with a model that replays"
            agreeing = tuple(a.solver for a in sat[1:])
            return self._decide(Status.SAT, f"{sat[0].solver} answered sat{replayed}", sat[0].model, agreeing)
        return self._unsat(unsat) if unsat else None

    def _unsat(self, unsat: Sequence[SolverAnswer]) -> Decision | None:
        """The decision from UNSAT answers without any SAT, if they suffice."""
        first = unsat[0].solver
        member = registry[first]
        agreeing = tuple(a.solver for a in unsat[1:] if registry[a.solver].confirms(member))
        if self.certificate is not None:
            proof = f"; the proof of {self.certificate.solver} was checked by {self.certificate.checker}"
        elif not self.confirm:
            proof = "" if agreeing else ", unconfirmed as asked"
        elif self.certify or not agreeing:
            return None
        else:
            proof = ""
        also = f", confirmed by {' and '.join(agreeing)}" if agreeing else ""
        return self._decide(Status.UNSAT, f"{first} answered unsat{also}{proof}", None, agreeing)

    def exhausted(self) -> Decision:
        """The decision after all members have ended without a decision."""
        unsat = self._of(Status.UNSAT)
        others = [a for a in self.answers if a not in unsat]
        ends = "; ".join(f"{a.solver}: {a.status.value}" for a in others)
        kinds = {a.status for a in others}
        if unsat:
            status = Status.TIMEOUT if kinds == {Status.TIMEOUT} else Status.UNKNOWN
            who = " and ".join(a.solver for a in unsat)
            lacking = "no proof of it was checked" if self.certify else "no other solver confirmed it"
            return self._decide(status, f"{who} answered unsat, but {lacking} ({ends or 'none was asked'})")
        if Status.TIMEOUT in kinds:
            return self._decide(Status.TIMEOUT, f"no solver answered in time ({ends})")
        if kinds & {Status.UNKNOWN, Status.MEMORY}:
            return self._decide(Status.UNKNOWN, f"no solver decided ({ends})")
        return self._decide(Status.CRASH, f"every solver failed ({ends})")

    def _decide(
        self,
        status: Status,
        reason: str,
        model: dict[str, int] | None = None,
        confirmed_by: tuple[str, ...] = (),
        disagreement: bool = False,
    ) -> Decision:
        return Decision(
            status=status, model=model, answers=tuple(self.answers), confirmed_by=confirmed_by, reason=reason,
            certificate=self.certificate if status is Status.UNSAT else None, disagreement=disagreement,
        )  # fmt: skip

    def _disagree(self, reason: str) -> Decision:
        return self._decide(Status.CRASH, f"disagreement: {reason}", disagreement=True)


#: Seconds between two looks at the running processes.
POLL_S = 0.005

#: Seconds without any news after which one more member is started than there are cores for.
PATIENCE_S = 10.0


def decide(
    graph: Graph,
    assertion: Node,
    *,
    members: Sequence[str] | None = None,
    limits: Limits,
    replay: ModelReplay | None = None,
    jobs: int | None = None,
    confirm: bool = True,
    certify: bool | None = None,
) -> Decision:
    """Decide whether some input makes `assertion` equal 1, with up to `jobs` solvers at a time.

    Shapes: `assertion` has width 1; models hold an unsigned value for every input of the graph.
    `members` are all installed ones unless named, in the order that was measured for such questions;
    `replay` says whether a model really does it; an UNSAT is confirmed by a checked proof or a second
    solver, whichever comes first: by a proof only where `certify` is True, by a solver only where it is
    False, and believed at once without `confirm`.
    Each member and each check may use all of `limits` for itself; when nothing has been heard for
    PATIENCE_S seconds, one more member is started.
    Errors: UnknownNameError or MissingSolverError for a member that cannot be asked, InputError for
    other arguments that do not fit, WidthError for an assertion wider than one bit.
    """
    names = in_order(default_members(), assertion) if members is None else check_members(members)
    slots = check_int("jobs", (os.cpu_count() or 1) if jobs is None else jobs, low=1)
    if assertion.width != 1:
        raise WidthError(f"expected an assertion of width 1, but got width {assertion.width}")
    if certify and not any(registry[name].proves for name in names):
        proving = ", ".join(name for name, member in registry.items() if member.proves)
        raise InputError(f"expected a solver that writes proofs ({proving}), but got {', '.join(names)}")
    with tempfile.TemporaryDirectory(prefix="tcformal-") as folder:
        race = _Race(graph, to_json(graph, {"assertion": assertion}), limits, Path(folder), slots)
        return race.run(names, Arbiter(replay, confirm, certify))


class _Race:
    """The running processes of one question."""

    def __init__(self, graph: Graph, dag: str, limits: Limits, folder: Path, slots: int) -> None:
        self.graph = graph
        self.dag = dag
        self.limits = limits
        self.folder = folder
        self.slots = slots
        self.running: list[SolverRun] = []
        self.checking: list[ProofCheck] = []

    def run(self, names: Sequence[str], arbiter: Arbiter) -> Decision:
        """Start members, collect answers and check proofs until a decision."""
        waiting = list(names)
        news = time.monotonic()
        try:
            while (waiting or self.running or self.checking) and arbiter.decision() is None:
                patient = time.monotonic() - news < PATIENCE_S
                free = len(self.running) + len(self.checking) < self.slots
                name = next((n for n in waiting if not patient or (free and self._needs(n, arbiter))), None)
                if name is not None:
                    waiting.remove(name)
                    self.running.append(SolverRun(name, self.graph, self.dag, self.limits, self.folder))
                    news = time.monotonic()
                elif self._collect(arbiter):
                    news = time.monotonic()
                else:
                    time.sleep(POLL_S)
            self._stop(waiting, arbiter)
        finally:
            for child in [x.child for x in self.running] + [x.child for x in self.checking]:
                child.kill()
        return arbiter.decision() or arbiter.exhausted()

    def _needs(self, name: str, arbiter: Arbiter) -> bool:
        """Whether starting one more member can contribute to the decision.

        Once an UNSAT was heard and a proof is on its way, a second proof would only slow that one down,
        and where nothing but a proof is wanted, so would everybody else.
        """
        proving = bool(self.checking) or any(run.member.proves for run in self.running)
        if not proving or all(answer.status is not Status.UNSAT for answer in arbiter.answers):
            return True
        return not arbiter.certify and not registry[name].proves

    def _collect(self, arbiter: Arbiter) -> bool:
        """Collect the answers of ended processes; False if none has ended."""
        checked = [check for check in self.checking if check.child.over()]
        for check in checked:
            self.checking.remove(check)
            arbiter.add_proof_check(check.solver, check.result())
        ended = [run for run in self.running if run.child.over()]
        for run in ended:
            self.running.remove(run)
            answer = run.result()
            arbiter.add_answer(answer)
            wanted = arbiter.confirm and arbiter.certify is not False and arbiter.certificate is None
            if answer.status is Status.UNSAT and run.member.proves and wanted:
                self.checking.append(ProofCheck(run.name, run.proof, self.dag, self.limits))
        return bool(checked or ended)

    def _stop(self, waiting: Sequence[str], arbiter: Arbiter) -> None:
        """End the running members after the decision, and record them as stopped."""
        proof = arbiter.certificate
        by = proof.solver if proof is not None else arbiter.answers[-1].solver if arbiter.answers else "none"
        while self.running:
            self.running[0].child.kill()
            run = self.running.pop(0)
            arbiter.add_answer(run.result(stopped_by=by))
        for name in waiting:
            arbiter.add_answer(_said(name, Status.UNKNOWN, 0.0, f"not started: answered by {by}"))
