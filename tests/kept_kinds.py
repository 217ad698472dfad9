"""Verdicts to keep on properties and algorithms, made without solver processes: each is true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kept import LIMITS, said
from tcformal.backends.cnf import to_cnf
from tcformal.design.names import resolve
from tcformal.query.assume import from_texts
from tcformal.query.comparison.error_comparison import comparison_parameters, error_comparison
from tcformal.query.properties import property_question
from tcformal.query.question import Kind, Question
from tcformal.query.verdict import Verdict, reason_of
from tcformal.solve.certificate import certify
from tcformal.solve.result import Status
from tcformal.solve.sat import run_cadical
from tcformal.version import VERSION

TWO, VOLTA = "valpey@terms=2", "volta/mma.m8n8k4.f32.f16.f16.f32"
Any_ = Verdict[Any]


def _property(unit: str, *assumed: str) -> Question:
    spec = resolve(unit)
    return property_question("no-negative-zero", spec, from_texts(spec.operands.c, assumed))


def _algorithm(*assumed: str) -> Question:
    """One product of ones and the like: Markidis errs no more than Ootomo and Yokota where c is zero."""
    spec = resolve(VOLTA)
    what = from_texts(spec.operands.c, assumed)
    return error_comparison(comparison_parameters(spec, products=1, worse="markidis", assumptions=what))


def _found(q: Question, inputs: dict[str, int]) -> Any_:
    answers = (said("vectors", Status.SAT, model=inputs),)
    return _verdict(q, q.FOUND, answers=answers, inputs=inputs, found_inputs=inputs,
                    replayed=q.replay(inputs))  # fmt: skip


def _none(q: Question, *, vacuous: bool = False, allowed: dict[str, int] | None = None) -> Any_:
    root = q.assumed if vacuous else q.asked
    outcome = run_cadical(q.graph, root, LIMITS)
    assert outcome.status is Status.UNSAT
    made = certify(to_cnf(q.graph, root), outcome.proof, "cadical")
    kind = Kind.VACUOUS if vacuous else q.NONE
    answers = (said("cadical", Status.UNSAT),)
    return _verdict(q, kind, answers=answers, certificate=made, allowed=allowed)


def _verdict(q: Question, kind: Kind, **more: Any) -> Any_:
    made = Verdict(kind=kind, reason="", question=q, limits=LIMITS, seconds=1.25, version=VERSION, **more)
    return replace(made, reason=reason_of(kind, q, made.answers, made.certificate))


def property_violated() -> Any_:
    """A design whose zeros have signs gives -0."""
    q = _property(f"{TWO},zero_sign=ieee")
    found = q.search(0)
    assert found is not None
    return _found(q, found)


def property_holds() -> Any_:
    """One whose zeros have none does not, with the proof."""
    return _none(_property(TWO))


def property_holds_assumed() -> Any_:
    """The same where c is zero, with the proof."""
    q = _property(TWO, "c=0")
    return _none(q, allowed=dict.fromkeys(q.graph.inputs, 0))


def property_vacuous() -> Any_:
    """A finite number that is NaN, with the proof."""
    return _none(_property(TWO, "finite", "c=nan"), vacuous=True)


def algorithm_violated() -> Any_:
    """A sum of one product and c that the unit truncates and fp32 rounds."""
    return _found(_algorithm(), {"a[0]": 15859, "b[0]": 15389, "c": 1018651881})


def algorithm_holds() -> Any_:
    """Products in [1, 4) are exact where c is zero, with the proof."""
    ones = {"a[0]": 0x3C00, "b[0]": 0x3C00, "c": 0}
    return _none(_algorithm("c=0", "exponents=0..0", "positive"), allowed=ones)


def algorithm_vacuous() -> Any_:
    """An infinite c among finite numbers, with the proof."""
    return _none(_algorithm("c=inf"), vacuous=True)
