"""Two units separated, or proved equal: `separate` and `prove_equal`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tcformal.callbacks import Progress, ignore
from tcformal.design.unit import UnitSpec
from tcformal.matmul.unit import Unit, spec_of
from tcformal.query.assume import assumptions
from tcformal.query.engine import DEFAULT_LIMITS, answer
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.verdict import Verdict
from tcformal.solve.result import Limits


def separate(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    *,
    solvers: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    certify: bool | None = None,
    progress: Progress = ignore,
    **assumed: Any,
) -> Verdict[EqualityQuestion]:
    """Find simple inputs on which two units differ, or prove that there are none.

    Shapes: units of equal operand formats and scales; K is the least common multiple of their k.
    Assumptions: finite=True, normal=True, positive=True, nonzero=True, exponents=(lo, hi),
    scale_exponents=(lo, hi), c="0", factors="subnormal", products="outside-fp16", sum="inside-fp16".
    `certify`: True requires a checked proof of an EQUIVALENT or VACUOUS, False a second solver; None
    accepts either.
    Errors: InputError for unequal formats or bad assumptions; UnknownNameError for unknown units or
    solvers; MissingSolverError for a solver that is not installed.  A question without an answer gives a
    verdict, not an error: UNKNOWN, TIMEOUT, or ERROR with the evidence.
    """
    one, other = spec_of(first), spec_of(second)
    what = assumptions(one.operands.c, assumed)
    return answer(
        question(one, other, what), solvers=solvers, limits=limits, certify=certify, progress=progress
    )


def prove_equal(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    *,
    solvers: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    certify: bool | None = None,
    progress: Progress = ignore,
    **assumed: Any,
) -> Verdict[EqualityQuestion]:
    """Prove that two units agree on every input, or find inputs on which they differ.

    The same question as `separate`, with the same arguments and errors.  EQUIVALENT has a checked proof,
    or a second solver that confirms it.
    """
    return separate(
        first, second, solvers=solvers, limits=limits, certify=certify, progress=progress, **assumed
    )
