"""Options for answering questions: solvers, limits, evidence, and the store."""

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
    """The interface of a store of answers, such as `tcformal.Store`."""

    def find(self, question: Q, *, certify: bool | None = None) -> Verdict[Q] | None:
        """The stored answer to a question after its evidence was checked; None where none is usable.

        UNKNOWN, and not `checked`, where its evidence is missing or takes too long to check.
        """

    def has(self, question: Question) -> bool:
        """Whether a record about this exact question exists."""

    def add(self, verdict: Verdict[Any]) -> object:
        """Store an answer."""

    def add_claim(self, v: Any) -> None:
        """Store the answer to a claim, a `ClaimVerdict`."""


def no_store() -> None:
    """The default store: nothing is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveOptions:
    """Options for answering questions; by default all installed solvers, and no store."""

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
    """The options from a public function's arguments; None selects each default."""
    return SolveOptions(
        solvers=solvers, limits=limits or Limits(), certify=certify, store=lambda: store, fresh=fresh,
        progress=progress or ignore,
    )  # fmt: skip
