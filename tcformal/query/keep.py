"""Stored answers: a question goes to the engine only if the store has no answer."""

from __future__ import annotations

from dataclasses import replace

from tcformal.errors import RecordError
from tcformal.query.engine import answer
from tcformal.query.kinds.register import kind_of
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind, Q
from tcformal.query.verdict import DECIDED, Verdict
from tcformal.theory.equality import EqualByTheorem


def kept_or_answered(q: Q, how: SolveOptions, *, equal: EqualByTheorem | None = None) -> Verdict[Q]:
    """The stored answer to a question, or a new one, which is stored.

    A kept answer whose evidence was not checked is asked again; where that ends without an answer, it stays
    in the store.  `equal`: theorems by which two units are one, which answer the question whatever is kept.
    Errors: those of `answer`; RecordError, unless `how.unkept` takes it, where an answer cannot be kept.
    """
    store = how.store()
    # Under assumptions a kept answer also has inputs that obey them.
    at_once = equal is not None and not kind_of(q).assumptions(q)
    kept = None if store is None or how.fresh or at_once else store.find(q, certify=how.certify)
    known = kept is not None and kept.checked
    v = kept
    if kept is None or not kept.checked:
        v = answer(q, how, equal=equal)
        if kept is not None and v.kind not in DECIDED:
            return v if v.kind is Kind.ERROR else undecided_again(kept, v)
    assert v is not None
    # An answer to other units of the same definition is kept under these names too.
    if store is not None and not ((known or equal is not None) and store.has(q)):
        try:
            store.add(v)
        except RecordError as error:
            if how.unkept is None:
                raise
            how.unkept(error)
    return v


def undecided_again(kept: Verdict[Q], again: Verdict[Q]) -> Verdict[Q]:
    """The verdict UNKNOWN after a stored answer could not be checked and a new attempt failed."""
    reason = f"{kept.reason}; asked again: {again.reason}"
    return replace(again, kind=Kind.UNKNOWN, reason=reason, served=kept.served, checked=False)
