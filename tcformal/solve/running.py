"""One running solver, and one proof being checked, each in a process of its own."""

from __future__ import annotations

from pathlib import Path

from tcformal.checks import check_int
from tcformal.errors import CertificateError, InputError
from tcformal.ir.build import Graph
from tcformal.solve.certificate import Certificate
from tcformal.solve.members import registry
from tcformal.solve.processes.process import Child
from tcformal.solve.result import Limits, SolverAnswer, Status


class SolverRun:
    """One running solver."""

    def __init__(self, name: str, graph: Graph, dag: str, limits: Limits, folder: Path) -> None:
        self.name = name
        self.member = registry[name]
        self.graph = graph
        #: Where a proof is, once the member has written one.
        self.proof = folder / f"{name}.drat"
        request = {
            "solver": name,
            "runner": self.member.runner,
            "dag": dag,
            **limits.to_json(),
            "proof": str(self.proof),
        }
        self.child = Child("tcformal.solve.worker", request, limits.time_s, folder, name)

    def result(self, stopped_by: str | None = None) -> SolverAnswer:
        """The answer of an ended process, or the way it ended without one."""
        answer = self._said()
        if answer is not None:
            return answer
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
                version=self.member.version,
                status=status,
                model=model,
                seconds=float(data["seconds"]),
                reason=str(data["reason"]),
            )
        except (LookupError, ValueError, TypeError, AttributeError, InputError):
            return None


class ProofCheck:
    """The check of one member's proof, by a program that is no solver."""

    def __init__(self, solver: str, proof: Path, dag: str, limits: Limits) -> None:
        self.solver = solver
        self._packed = proof.with_suffix(".xz")
        request = {
            "dag": dag,
            "proof": str(proof),
            "packed": str(self._packed),
            "solver": solver,
            **limits.to_json(),
        }
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
