"""How questions are answered: solvers, their limits, evidence, and where answers are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tcformal.callbacks import Progress, ignore
from tcformal.errors import RecordError
from tcformal.solve.result import Limits

if TYPE_CHECKING:  # a theorem's answer builds no circuits
    from tcformal.query.question import Q, Question
    from tcformal.query.verdict import Verdict


class AnswerStore(Protocol):
    """Where answers are kept and served again, such as `tcformal.Store`."""

    def find(self, question: Q, *, certify: bool | None = None) -> Verdict[Q] | None:
        """The kept answer, its evidence checked again; None where the question has to be asked.

        UNKNOWN, and not `checked`, where its evidence is missing or takes too long to check.
        """

    def has(self, question: Question) -> bool:
        """Whether there is a record about this very question."""

    def add(self, verdict: Verdict[Any]) -> object:
        """Keep an answer."""

    def add_claim(self, v: Any) -> None:
        """Keep a claim's answer, a `ClaimVerdict`."""


def no_store() -> None:
    """Keep nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveOptions:
    """How questions are answered; the defaults ask every installed solver, and keep nothing."""

    #: Members of the portfolio in order of start; None for all that are installed.
    solvers: Sequence[str] | None = None
    #: Of each solver.
    limits: Limits = field(default_factory=Limits)
    #: True asks for a checked proof of an unsat answer, False for a second solver, None for what comes first.
    certify: bool | None = None
    #: Solver processes at a time; None for one on each processor.
    jobs: int | None = None
    #: Gives the store that serves and keeps answers, when it is needed.
    store: Callable[[], AnswerStore | None] = no_store
    #: Whether to ask again, whatever answer is kept.
    fresh: bool = False
    #: Takes what is being done, in a few words.
    progress: Progress = ignore
    #: Takes the error of an answer that cannot be kept; None to raise it.
    unkept: Callable[[RecordError], None] | None = None


def solve_options(
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: AnswerStore | None = None,
    *,
    fresh: bool = False,
    progress: Progress | None = None,
) -> SolveOptions:
    """The options that the arguments of a public function stand for; None is the default of each."""
    return SolveOptions(
        solvers=solvers, limits=limits or Limits(), certify=certify, store=lambda: store, fresh=fresh,
        progress=progress or ignore,
    )  # fmt: skip
