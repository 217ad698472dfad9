"""The arbiter of a portfolio: it decides from the members' answers, replays and checked proofs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tcformal.errors import CertificateError
from tcformal.solve.certificate import Certificate
from tcformal.solve.members import registry
from tcformal.solve.result import Decision, SolverAnswer, Status

ModelReplay = Callable[[Mapping[str, int]], bool]


class Arbiter:
    """The answers so far, and the decision that they support."""

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
        """The decision when every member has ended without one."""
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
