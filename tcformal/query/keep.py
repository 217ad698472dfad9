"""Kept answers: a question is asked only where no answer to it is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tcformal.callbacks import Progress, ignore
from tcformal.errors import RecordError
from tcformal.query.engine import FindSteps, answer
from tcformal.query.question import Q, Question
from tcformal.query.verdict import Verdict
from tcformal.solve.result import Limits


class AnswerStore(Protocol):
    """Where answers are kept and served again, such as `tcformal.Store`."""

    def find(self, question: Q, *, certify: bool | None = None) -> Verdict[Q] | None:
        """The kept answer, its evidence checked again; None where the question has to be asked."""

    def has(self, question: Question) -> bool:
        """Whether there is a record about this very question."""

    def add(self, verdict: Verdict[Any]) -> object:
        """Keep an answer."""


def kept_or_answered(
    q: Q,
    store: AnswerStore | None,
    *,
    fresh: bool = False,
    solvers: Sequence[str] | None = None,
    limits: Limits | None = None,
    certify: bool | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    unkept: Callable[[RecordError], None] | None = None,
    find_steps: FindSteps[Q] | None = None,
) -> Verdict[Q]:
    """The kept answer to a question, or else a new one, which is kept.

    `fresh` asks again whatever is kept; without a store nothing is kept.
    `unkept` takes the error of an answer that cannot be kept; the answer is then returned all the same.
    Errors: those of `answer`; RecordError, unless `unkept` takes it, where an answer cannot be kept.
    """
    v = None if store is None or fresh else store.find(q, certify=certify)
    known = v is not None
    if v is None:
        v = answer(
            q, solvers=solvers, limits=limits or Limits(), certify=certify, jobs=jobs,
            progress=progress or ignore, find_steps=find_steps,
        )  # fmt: skip
    # An answer to other units of the same definition is kept under these names too.
    # A proof in steps is kept by whoever finds it.
    if store is not None and v.steps is None and not (known and store.has(q)):
        try:
            store.add(v)
        except RecordError as error:
            if unkept is None:
                raise
            unkept(error)
    return v
