"""Several solvers on one question, each in its own process; what they say is checked before it counts.

A model counts when it replays, an UNSAT when its proof has been checked or a second solver that sees the
question in another encoding says the same; answers that cannot both be right are reported as a
disagreement, and whatever goes wrong in one process costs that answer only.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tcformal.checks import check_int
from tcformal.errors import InputError, WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import to_json
from tcformal.solve.arbiter import Arbiter, ModelReplay
from tcformal.solve.members import check_members, default_members, registry
from tcformal.solve.order import in_order
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status
from tcformal.solve.running import ProofCheck, SolverRun

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
        return race.run(names, Arbiter(replay, confirm, certify))


class _Race:
    """The processes that work on one question."""

    def __init__(self, graph: Graph, dag: str, limits: Limits, folder: Path, slots: int) -> None:
        self.graph = graph
        self.dag = dag
        self.limits = limits
        self.folder = folder
        self.slots = slots
        self.running: list[SolverRun] = []
        self.checking: list[ProofCheck] = []

    def run(self, names: Sequence[str], arbiter: Arbiter) -> Decision:
        """Start members, collect answers and check proofs until there is a decision."""
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
        """Whether one more member can help while those at work go on.

        Once an UNSAT was heard and a proof is on its way, a second proof would only slow that one down,
        and where nothing but a proof is wanted, so would everybody else.
        """
        proving = bool(self.checking) or any(run.member.proves for run in self.running)
        if not proving or all(answer.status is not Status.UNSAT for answer in arbiter.answers):
            return True
        return not arbiter.certify and not registry[name].proves

    def _collect(self, arbiter: Arbiter) -> bool:
        """Collect the answer of every process that has ended; False when none has."""
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
        """End the running members after the decision, and record each as stopped."""
        made = arbiter.certificate
        by = made.solver if made is not None else arbiter.answers[-1].solver if arbiter.answers else "none"
        while self.running:
            self.running[0].child.kill()
            run = self.running.pop(0)
            arbiter.add_answer(run.result(stopped_by=by))
        for name in waiting:
            arbiter.add_answer(
                SolverAnswer(
                    solver=name,
                    version=registry[name].version,
                    status=Status.UNKNOWN,
                    seconds=0.0,
                    reason=f"not started: answered by {by}",
                )
            )
