"""Several solvers on one question, each in its own process; what they say is checked before it counts.

A model counts when it replays, an UNSAT when its proof has been checked or a second solver that sees the
question in another encoding says the same; answers that cannot both be right are reported as a
disagreement, and whatever goes wrong in one process costs that answer only.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tcformal.checks import check_int
from tcformal.errors import InputError, WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import to_json
from tcformal.solve.certificate import Certificate, CertificateError
from tcformal.solve.members import check_members, default_members, registry
from tcformal.solve.order import in_order
from tcformal.solve.process import Child
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status

Replay = Callable[[Mapping[str, int]], bool]

#: Seconds between two looks at the running processes.
POLL_S = 0.005

#: Seconds without any news after which one more member is started than there are cores for.
PATIENCE_S = 10.0


class _Run:
    """One member at work."""

    def __init__(self, name: str, graph: Graph, dag: str, limits: Limits, folder: Path) -> None:
        self.name = name
        self.member = registry[name]
        self.graph = graph
        #: Where a proof is, once the member has written one.
        self.proof = folder / f"{name}.drat"
        request = {
            "solver": name,
            "distribution": self.member.distribution,
            "runner": self.member.runner,
            "dag": dag,
            "time_s": limits.time_s,
            "memory_mb": limits.memory_mb,
            "seed": limits.seed,
            "proof": str(self.proof),
        }
        self.child = Child("tcformal.solve.worker", request, limits.time_s, folder, name)

    def result(self, stopped_by: str | None = None) -> SolverAnswer:
        """What an ended process said, or how it ended when it said nothing."""
        said = self._said()
        if said is not None:
            return said
        status, reason = self.child.ending()
        if stopped_by is not None:
            status, reason = Status.UNKNOWN, f"stopped: answered by {stopped_by}"
        return SolverAnswer(
            solver=self.name,
            version=self.member.version,
            status=status,
            seconds=self.child.seconds,
            reason=reason,
        )

    def _said(self) -> SolverAnswer | None:
        """The full answer line, if one was written and it fits the graph."""
        try:
            data = self.child.line()
            status, model = Status(data["status"]), None
            if status is Status.SAT:
                inputs = self.graph.inputs
                model = dict.fromkeys(inputs, 0)
                for name, text in data["model"].items():
                    model[name] = check_int(name, int(text, 16), low=0, high=(1 << inputs[name].width) - 1)
            return SolverAnswer(
                solver=self.name,
                version=str(data["version"]),
                status=status,
                model=model,
                seconds=float(data["seconds"]),
                reason=str(data["reason"]),
            )
        except (LookupError, ValueError, TypeError, AttributeError, InputError):
            return None


class _Check:
    """The proof of one member under examination, by a program that is no solver."""

    def __init__(self, solver: str, proof: Path, dag: str, limits: Limits) -> None:
        self.solver = solver
        self._packed = proof.with_suffix(".xz")
        request = {
            "dag": dag,
            "proof": str(proof),
            "packed": str(self._packed),
            "solver": solver,
            "time_s": limits.time_s,
            "memory_mb": limits.memory_mb,
        }
        self.child = Child("tcformal.solve.checker", request, limits.time_s, proof.parent, f"{solver}.check")

    def result(self) -> Certificate | CertificateError | str:
        """The certificate, the checker's refusal, or why the checker said neither."""
        try:
            data = self.child.line()
            if "refused" in data:
                return CertificateError(str(data["refused"]))
            return Certificate(proof=self._packed.read_bytes(), **data)
        except (LookupError, ValueError, TypeError, OSError):
            return self.child.ending()[1]


class _Hearing:
    """The answers so far, and what follows from them."""

    def __init__(self, replay: Replay | None, confirm: bool, certify: bool | None) -> None:
        self.replay = replay
        self.confirm = confirm
        #: True: only a checked proof confirms; False: only a second solver; None: whichever comes first.
        self.certify = certify
        self.answers: list[SolverAnswer] = []
        self.certificate: Certificate | None = None
        self._refuted: list[str] = []

    def hear(self, answer: SolverAnswer) -> None:
        """Take one answer in; a model is replayed here, once."""
        self.answers.append(answer)
        if answer.model is not None and self.replay is not None and not self.replay(answer.model):
            self._refuted.append(answer.solver)

    def hear_check(self, solver: str, found: Certificate | CertificateError | str) -> None:
        """Take in what became of one member's proof.

        A proof that is refused takes its UNSAT with it; where the checker itself failed, the UNSAT stays
        and needs a second solver.
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

    def settled(self) -> Decision | None:
        """The decision, once no further answer is needed for it."""
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
        """The decision from one or more UNSAT and no SAT, if they suffice."""
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
        """The decision when every member has ended and nothing is settled."""
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
    ) -> Decision:
        return Decision(
            status=status, model=model, answers=tuple(self.answers), confirmed_by=confirmed_by, reason=reason,
            certificate=self.certificate if status is Status.UNSAT else None,
        )  # fmt: skip

    def _disagree(self, reason: str) -> Decision:
        return Decision(
            status=Status.CRASH,
            answers=tuple(self.answers),
            reason=f"disagreement: {reason}",
            disagreement=True,
        )


def decide(
    graph: Graph,
    assertion: Node,
    *,
    members: Sequence[str] | None = None,
    limits: Limits,
    replay: Replay | None = None,
    jobs: int | None = None,
    confirm: bool = True,
    certify: bool | None = None,
) -> Decision:
    """Decide whether some input makes `assertion` equal 1, by asking up to `jobs` members at a time.

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
        return race.run(names, _Hearing(replay, confirm, certify))


class _Race:
    """The processes that work on one question."""

    def __init__(self, graph: Graph, dag: str, limits: Limits, folder: Path, slots: int) -> None:
        self.graph = graph
        self.dag = dag
        self.limits = limits
        self.folder = folder
        self.slots = slots
        self.running: list[_Run] = []
        self.checking: list[_Check] = []

    def run(self, names: Sequence[str], hearing: _Hearing) -> Decision:
        """Start members, hear them and have proofs checked until the question is settled."""
        waiting = list(names)
        news = time.monotonic()
        try:
            while (waiting or self.running or self.checking) and hearing.settled() is None:
                patient = time.monotonic() - news < PATIENCE_S
                free = len(self.running) + len(self.checking) < self.slots
                name = next((n for n in waiting if not patient or (free and self._needs(n, hearing))), None)
                if name is not None:
                    waiting.remove(name)
                    self.running.append(_Run(name, self.graph, self.dag, self.limits, self.folder))
                    news = time.monotonic()
                elif self._listen(hearing):
                    news = time.monotonic()
                else:
                    time.sleep(POLL_S)
            self._stop(waiting, hearing)
        finally:
            for child in [x.child for x in self.running] + [x.child for x in self.checking]:
                child.kill()
        return hearing.settled() or hearing.exhausted()

    def _needs(self, name: str, hearing: _Hearing) -> bool:
        """Whether one more member can help while those at work go on.

        Once an UNSAT was heard and a proof is on its way, a second proof would only slow that one down,
        and where nothing but a proof is wanted, so would everybody else.
        """
        proving = bool(self.checking) or any(run.member.proves for run in self.running)
        if not proving or all(answer.status is not Status.UNSAT for answer in hearing.answers):
            return True
        return not hearing.certify and not registry[name].proves

    def _listen(self, hearing: _Hearing) -> bool:
        """Hear every process that has ended; False when none has."""
        checked = [check for check in self.checking if check.child.over()]
        for check in checked:
            self.checking.remove(check)
            hearing.hear_check(check.solver, check.result())
        ended = [run for run in self.running if run.child.over()]
        for run in ended:
            self.running.remove(run)
            answer = run.result()
            hearing.hear(answer)
            wanted = hearing.confirm and hearing.certify is not False and hearing.certificate is None
            if answer.status is Status.UNSAT and run.member.proves and wanted:
                self.checking.append(_Check(run.name, run.proof, self.dag, self.limits))
        return bool(checked or ended)

    def _stop(self, waiting: Sequence[str], hearing: _Hearing) -> None:
        """End what still runs once the question is settled, and record each member as stopped."""
        made = hearing.certificate
        by = made.solver if made is not None else hearing.answers[-1].solver if hearing.answers else "none"
        while self.running:
            self.running[0].child.kill()
            run = self.running.pop(0)
            hearing.hear(run.result(stopped_by=by))
        for name in waiting:
            hearing.hear(
                SolverAnswer(
                    solver=name,
                    version=registry[name].version,
                    status=Status.UNKNOWN,
                    seconds=0.0,
                    reason=f"not started: answered by {by}",
                )
            )
