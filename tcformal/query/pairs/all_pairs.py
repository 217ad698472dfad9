"""A campaign over many pairs of units, answered by an executor's workers; apart from the command on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, as_completed
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from typing import Any, cast

from tcformal.design.names import resolve
from tcformal.errors import InputError, NoAnswerError
from tcformal.query.assume import from_texts
from tcformal.query.engine import answer, undecided_again
from tcformal.query.options import AnswerStore, SolveOptions
from tcformal.query.pair import EqualityQuestion, question, theorems_on
from tcformal.query.pairs.pairs import Pair
from tcformal.query.question import Kind
from tcformal.query.verdict import DECIDED, Verdict
from tcformal.shown import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """The options that all pairs of a campaign share."""

    #: Assumptions in the spelling of the command line.
    assume: tuple[str, ...] = ()
    #: Without a store: workers keep nothing.
    how: SolveOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutcome:
    """The answer to one pair."""

    pair: Pair
    #: None for a pair that cannot be asked.
    kind: Kind | None
    #: One sentence.
    reason: str
    #: The time of the answer, which may be an earlier run's.
    seconds: float = 0.0
    #: Whether the answer was served from the store.
    served: bool = False
    #: Whether the evidence was checked in this run.
    checked: bool = True
    #: The verdict as plain data; None where there is none.
    verdict: JsonObject | None = None

    @property
    def decided(self) -> bool:
        """Whether the pair is settled: a decided verdict, or a pair that cannot be asked."""
        return self.checked and self.kind not in (Kind.UNKNOWN, Kind.TIMEOUT, Kind.ERROR)


def build(pair: Pair, options: AskOptions) -> EqualityQuestion:
    """Build the question of one pair; InputError where it is invalid."""
    one, other = resolve(pair.first), resolve(pair.second)
    return question(one, other, from_texts(one.operands.c, options.assume))


#: The result of a worker: the digest of the question, and the verdict without it, whose graph is large.
Answer = tuple[str, Verdict[Any]]


def ask(pair: Pair, options: AskOptions) -> Answer:
    """Answer one pair in a worker with one solver process at a time, since workers occupy every core."""
    q = build(pair, options)
    verdict = answer(q, replace(options.how, jobs=1), equal=theorems_on(q, options.how.solvers))
    return q.digest(), replace(verdict, question=cast(Any, None))


def campaign(
    pairs: Iterable[Pair],
    options: AskOptions,
    kept: AnswerStore,
    pool: Callable[[], AbstractContextManager[Executor]],
) -> Iterator[PairOutcome]:
    """Answer every pair without a stored answer, those of few products first; yields outcomes on arrival.

    `pool` is entered before the first question and left after the last answer, or when the caller stops
    the iteration.  A run that is killed loses only the answers that had not arrived.
    Errors: InputError for assumptions that do not fit; NoAnswerError for lost workers, and for workers
    with other definitions.
    """
    workers: Executor | None = None
    running: dict[Future[Answer], _InWorker] = {}
    with ExitStack() as stack:
        for pair in sorted(pairs, key=lambda p: math.lcm(resolve(p.first).k, resolve(p.second).k)):
            early = _known_outcome(pair, options, kept)
            if isinstance(early, PairOutcome):
                yield early
            else:
                workers = workers or stack.enter_context(pool())
                running[workers.submit(ask, pair, options)] = pair, early
            # Answers that have arrived are kept at once, not after the last question has been built.
            for done in [future for future in running if future.done()]:
                yield _new_outcome(done, running.pop(done), options, kept)
        for done in as_completed(running):
            yield _new_outcome(done, running[done], options, kept)


#: A pair in a worker, and its kept answer, whose evidence was not checked.
_InWorker = tuple[Pair, Verdict[EqualityQuestion] | None]


def _known_outcome(
    pair: Pair, options: AskOptions, kept: AnswerStore
) -> PairOutcome | Verdict[EqualityQuestion] | None:
    """The outcome that needs no solver: a stored answer, or two units of one definition.

    Else the kept answer whose evidence was not checked, or None.
    """
    from_texts(resolve(pair.first).operands.c, options.assume)
    try:
        q = build(pair, options)
    except InputError as error:
        return PairOutcome(pair=pair, kind=None, reason=str(error))
    if q.same_definition and not q.assumptions:
        return PairOutcome(pair=pair, kind=Kind.EQUIVALENT, reason="both units build the same definition")
    verdict = None if options.how.fresh else kept.find(q, certify=options.how.certify)
    return _outcome(pair, verdict) if verdict is not None and verdict.checked else verdict


def _new_outcome(
    done: Future[Answer], asked: _InWorker, options: AskOptions, kept: AnswerStore
) -> PairOutcome:
    """The outcome of a finished call; its answer is stored."""
    pair, before = asked
    try:
        digest, arrived = done.result()
    except CancelledError as error:
        raise NoAnswerError("expected an answer to every pair, but the workers were lost") from error
    except Exception as error:  # noqa: BLE001  whatever goes wrong in a worker costs its own pair only
        text = " ".join(str(error).split())
        why = text if isinstance(error, NoAnswerError) else f"{type(error).__name__}: {text}"
        return PairOutcome(pair=pair, kind=Kind.ERROR, reason=f"no answer from a worker: {why}")
    q = build(pair, options)
    if digest != q.digest():
        raise NoAnswerError(
            f"expected workers with the definitions that are asked about here, but {pair.first} and "
            f"{pair.second} are {digest[:12]} there and {q.digest()[:12]} here"
        )
    verdict: Verdict[EqualityQuestion] = replace(arrived, question=q)
    if before is not None and verdict.kind not in DECIDED:
        return _outcome(pair, verdict if verdict.kind is Kind.ERROR else undecided_again(before, verdict))
    kept.add(verdict)
    return _outcome(pair, verdict)


def _outcome(pair: Pair, verdict: Verdict[EqualityQuestion]) -> PairOutcome:
    return PairOutcome(
        pair=pair, kind=verdict.kind, reason=verdict.reason, seconds=verdict.seconds,
        served=bool(verdict.served), checked=verdict.checked, verdict=verdict.to_json(),
    )  # fmt: skip
