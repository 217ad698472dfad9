"""Several solvers on one question, each in its own process; what they say is checked before it counts.

A model counts when it replays, an UNSAT when a second solver says the same; answers that cannot both
be right are reported as a disagreement, and whatever goes wrong in one process costs that answer only.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tcformal.checks import check_int
from tcformal.errors import InputError, WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import to_json
from tcformal.solve.members import check_members, default_members, registry
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status, tells_of_memory

Replay = Callable[[Mapping[str, int]], bool]

#: Seconds between two looks at the running processes.
POLL_S = 0.005

#: Bytes of a process's last words that are looked at.
_TAIL = 4096


def _environment() -> dict[str, str]:
    """The caller's environment, in which the worker also finds this package when it is not installed."""
    root = Path(__file__).resolve().parents[2]
    paths = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    if root.name != "site-packages":
        paths.insert(0, str(root))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class _Run:
    """One member at work: a process that leads its own group, with files for its three streams."""

    def __init__(self, name: str, graph: Graph, dag: str, limits: Limits, folder: Path) -> None:
        self.name = name
        self.member = registry[name]
        self.graph = graph
        self.timed_out = False
        self._out, self._err = folder / f"{name}.out", folder / f"{name}.err"
        request = {
            "solver": name,
            "distribution": self.member.distribution,
            "runner": self.member.runner,
            "dag": dag,
            "time_s": limits.time_s,
            "memory_mb": limits.memory_mb,
            "seed": limits.seed,
        }
        asked = folder / f"{name}.in"
        asked.write_text(json.dumps(request))
        self._start = time.monotonic()
        self._deadline = self._start + limits.time_s
        with asked.open("rb") as stdin, self._out.open("wb") as stdout, self._err.open("wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tcformal.solve.worker"],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=_environment(),
                start_new_session=True,
            )

    def over(self) -> bool:
        """True when the process has ended, or has been ended because its time is up."""
        if self._process.poll() is None:
            if time.monotonic() < self._deadline:
                return False
            self.timed_out = True
        self.kill()
        return True

    def kill(self) -> None:
        """End the process and everything it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def result(self, stopped_by: str | None = None) -> SolverAnswer:
        """What an ended process said, or how it ended when it said nothing."""
        said = self._said()
        if said is not None:
            return said
        status, reason = self._ending()
        if stopped_by is not None:
            status, reason = Status.UNKNOWN, f"stopped: answered by {stopped_by}"
        elif self.timed_out:
            status, reason = Status.TIMEOUT, f"no answer in {self._deadline - self._start:g} s"
        return SolverAnswer(
            solver=self.name,
            version=self.member.version,
            status=status,
            seconds=time.monotonic() - self._start,
            reason=reason,
        )

    def _said(self) -> SolverAnswer | None:
        """The full answer line, if one was written and it fits the graph."""
        try:
            data = json.loads(self._out.read_bytes().splitlines()[-1])
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

    def _ending(self) -> tuple[Status, str]:
        """How a process that gave no answer ended, in its own last words."""
        code = self._process.returncode
        words = self._err.read_bytes()[-_TAIL:].decode(errors="replace").strip()
        how = f"exited with status {code}" if code >= 0 else f"was ended by signal {-code}"
        last = f" ({words.splitlines()[-1]})" if words else ""
        status = Status.MEMORY if tells_of_memory(words) else Status.CRASH
        return status, f"the process {how} without a readable answer{last}"


class _Hearing:
    """The answers so far, and what follows from them."""

    def __init__(self, replay: Replay | None, confirm: bool) -> None:
        self.replay = replay
        self.confirm = confirm
        self.answers: list[SolverAnswer] = []
        self._refuted: list[str] = []

    def hear(self, answer: SolverAnswer) -> None:
        """Take one answer in; a model is replayed here, once."""
        self.answers.append(answer)
        if answer.model is not None and self.replay is not None and not self.replay(answer.model):
            self._refuted.append(answer.solver)

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
        if unsat:
            source = registry[unsat[0].solver].distribution
            agreeing = tuple(a.solver for a in unsat[1:] if registry[a.solver].distribution != source)
            if agreeing or not self.confirm:
                also = f", confirmed by {' and '.join(agreeing)}" if agreeing else ", unconfirmed as asked"
                return self._decide(Status.UNSAT, f"{unsat[0].solver} answered unsat{also}", None, agreeing)
        return None

    def exhausted(self) -> Decision:
        """The decision when every member has ended and nothing is settled."""
        unsat = self._of(Status.UNSAT)
        others = [a for a in self.answers if a not in unsat]
        ends = "; ".join(f"{a.solver}: {a.status.value}" for a in others)
        kinds = {a.status for a in others}
        if unsat:
            status = Status.TIMEOUT if kinds == {Status.TIMEOUT} else Status.UNKNOWN
            who = " and ".join(a.solver for a in unsat)
            return self._decide(
                status, f"{who} answered unsat, but no other solver confirmed it ({ends or 'none was asked'})"
            )
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
            status=status, model=model, answers=tuple(self.answers), confirmed_by=confirmed_by, reason=reason
        )

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
) -> Decision:
    """Decide whether some input makes `assertion` equal 1, by asking up to `jobs` members at a time.

    Shapes: `assertion` has width 1; models hold an unsigned value for every input of the graph.
    `members` are all installed ones unless named; `replay` says whether a model really does it;
    without `confirm` a single UNSAT is believed.  Each member may use all of `limits` for itself.
    Errors: UnknownNameError or MissingSolverError for a member that cannot be asked, InputError for
    other arguments that do not fit, WidthError for an assertion wider than one bit.
    """
    names = default_members() if members is None else check_members(members)
    slots = check_int("jobs", (os.cpu_count() or 1) if jobs is None else jobs, low=1)
    if assertion.width != 1:
        raise WidthError(f"expected an assertion of width 1, but got width {assertion.width}")
    dag = to_json(graph, {"assertion": assertion})
    hearing = _Hearing(replay, confirm)
    waiting, running = deque(names), deque[_Run]()
    with tempfile.TemporaryDirectory(prefix="tcformal-") as folder:
        try:
            while (waiting or running) and hearing.settled() is None:
                while waiting and len(running) < slots:
                    running.append(_Run(waiting.popleft(), graph, dag, limits, Path(folder)))
                ended = [run for run in running if run.over()]
                for run in ended:
                    running.remove(run)
                    hearing.hear(run.result())
                if not ended:
                    time.sleep(POLL_S)
            _stop(running, waiting, hearing)
        finally:
            for run in running:
                run.kill()
    return hearing.settled() or hearing.exhausted()


def _stop(running: deque[_Run], waiting: deque[str], hearing: _Hearing) -> None:
    """End what still runs once the question is settled, and record each member as stopped."""
    by = hearing.answers[-1].solver
    while running:
        running[0].kill()
        run = running.popleft()
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
