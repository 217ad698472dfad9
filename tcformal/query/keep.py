"""Kept answers: a question is asked only where no answer to it is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from tcformal.callbacks import Progress, ignore
from tcformal.errors import RecordError
from tcformal.query.engine import answer
from tcformal.query.kinds.register import kind_of
from tcformal.query.question import Kind, Q, Question
from tcformal.query.verdict import DECIDED, Verdict
from tcformal.solve.result import Limits
from tcformal.theory.equality import EqualByTheorem


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
    equal: EqualByTheorem | None = None,
) -> Verdict[Q]:
    """The kept answer to a question, or else a new one, which is kept.

    `fresh` asks again whatever is kept; without a store nothing is kept.  A kept answer whose evidence was
    not checked is asked again; where that ends without an answer, it stays in the store.
    `equal`: theorems by which two units are one, which answer the question whatever is kept.
    `unkept` takes the error of an answer that cannot be kept; the answer is then returned all the same.
    Errors: those of `answer`; RecordError, unless `unkept` takes it, where an answer cannot be kept.
    """
    # Under assumptions a kept answer also has inputs that obey them.
    at_once = equal is not None and not kind_of(q).assumptions(q)
    kept = None if store is None or fresh or at_once else store.find(q, certify=certify)
    known = kept is not None and kept.checked
    v = kept
    if kept is None or not kept.checked:
        v = answer(
            q, solvers=solvers, limits=limits or Limits(), certify=certify, jobs=jobs,
            progress=progress or ignore, equal=equal,
        )  # fmt: skip
        if kept is not None and v.kind not in DECIDED:
            return v if v.kind is Kind.ERROR else asked_in_vain(kept, v)
    assert v is not None
    # An answer to other units of the same definition is kept under these names too.
    if store is not None and not ((known or equal is not None) and store.has(q)):
        try:
            store.add(v)
        except RecordError as error:
            if unkept is None:
                raise
            unkept(error)
    return v


def asked_in_vain(kept: Verdict[Q], again: Verdict[Q]) -> Verdict[Q]:
    """The verdict where a kept answer was not checked, and asking again gave none."""
    reason = f"{kept.reason}; asked again: {again.reason}"
    return replace(again, kind=Kind.UNKNOWN, reason=reason, served=kept.served, checked=False)
