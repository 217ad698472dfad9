"""Public questions about units: `separate`, `prove_equal`, `check_property`; apart, being public names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tcformal.design.unit import UnitSpec
from tcformal.query.assume import Assumptions
from tcformal.query.engine import kept_or_answered
from tcformal.query.options import AnswerStore, SolveOptions, solve_options
from tcformal.query.pair import EqualityQuestion, question, theorems_on
from tcformal.query.verdict import Verdict
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.solve.result import Limits

if TYPE_CHECKING:
    from tcformal.query.properties import PropertyQuestion


def separate(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    *,
    assumptions: Assumptions | None = None,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: AnswerStore | None = None,
    fresh: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Verdict[EqualityQuestion]:
    """Find simple inputs on which two units differ, or prove that none exist.

    Shapes: units of equal operand formats and scales; K is the least common multiple of their k, and a unit
    of fewer products is called several times, each result the next c.
    Ranges and units: `assumptions` bound the operands, None for none; `limits` hold for each solver, 60 s
    and 8 GiB unless given; `solvers` are names in order of start, None for all that are installed;
    `certify` True asks for a checked proof of an EQUIVALENT or VACUOUS, False for a second solver, None for
    what comes first; `store` serves a kept answer, unless `fresh`, and keeps a new one; `progress` is called
    with what is being done.
    Zero, NaN, Inf: results are compared as encodings, so that +0 and -0 differ, and two words for NaN.
    Errors: InputError for unequal formats or assumptions that do not fit the units; UnknownNameError for
    unknown units or solvers; MissingSolverError for a solver that is not installed; RecordError for an
    answer that cannot be kept.  No answer is a verdict, not an error: UNKNOWN, TIMEOUT, or ERROR with the
    evidence.
    Source: the units' own.

    Examples:
        >>> verdict = tcformal.separate("a100:fp16", "h100:fp16")
        >>> verdict
        <SEPARATED a100:fp16 ≠ h100:fp16, 1 product, c=-2^-25>
        >>> [hex(x) for x in verdict.results]
        ['0x3f800000', '0x3f7fffff']
    """
    q = question(spec_of(first), spec_of(second), assumptions or Assumptions())
    return kept_or_separated(
        q, solve_options(limits, solvers, certify, store, fresh=fresh, progress=progress)
    )


def kept_or_separated(q: EqualityQuestion, how: SolveOptions) -> Verdict[EqualityQuestion]:
    """The stored answer to a question about two units, or a new one, which is stored.

    Theorems on the parameters come first; they are applied again each time, and not kept.
    Errors: those of `query.engine.kept_or_answered`.
    """
    return kept_or_answered(q, how, equal=theorems_on(q, how.solvers))


def prove_equal(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    *,
    assumptions: Assumptions | None = None,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: AnswerStore | None = None,
    fresh: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Verdict[EqualityQuestion]:
    """Prove that two units agree on every input, or find inputs on which they differ.

    The same question as `separate`; EQUIVALENT is the verdict hoped for, with a checked proof or confirmed
    by a second solver.
    Shapes: as for `separate`.
    Ranges and units: as for `separate`.
    Zero, NaN, Inf: as for `separate`.
    Errors: those of `separate`.
    Source: the units' own.

    Examples:
        >>> tcformal.prove_equal("valpey@terms=2,carry_bits=2", "valpey@terms=2")
        <EQUIVALENT valpey@terms=2,carry_bits=2 = valpey@terms=2>
    """
    return separate(
        first, second, assumptions=assumptions, limits=limits, solvers=solvers, certify=certify,
        store=store, fresh=fresh, progress=progress,
    )  # fmt: skip


def check_property(
    unit: str | Unit | UnitSpec,
    name: str,
    *,
    assumptions: Assumptions | None = None,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: AnswerStore | None = None,
    fresh: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Verdict[PropertyQuestion]:
    """Prove that a property holds of a unit on every input, or give inputs that violate it.

    Shapes: one call of the unit on its k products, or two that the property compares.
    Ranges and units: `name` is a property that query files may name, such as `monotonic-in-c`; the other
    arguments are those of `separate`.
    Zero, NaN, Inf: as the property says.
    Errors: UnknownNameError for an unknown property, unit or solver; InputError for a unit that the property
    does not fit; otherwise those of `separate`.
    Source: the unit's own.

    Examples:
        >>> tcformal.check_property("valpey@terms=2,zero_sign=ieee", "no-negative-zero")
        <VIOLATED no-negative-zero of valpey@terms=2,zero_sign=ieee, 1 product, c=-0>
    """
    from tcformal.query.properties import property_question  # of properties alone

    q = property_question(name, spec_of(unit), assumptions or Assumptions())
    return kept_or_answered(q, solve_options(limits, solvers, certify, store, fresh=fresh, progress=progress))
