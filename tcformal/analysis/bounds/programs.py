"""The error of a program in units of Σ|a_k·b_k|: a bound from its words and calls, inputs that come near."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcformal.analysis.bounds.attained import words_text
from tcformal.analysis.bounds.program.calls import CallBounds
from tcformal.analysis.bounds.program.near import Near, nearest
from tcformal.analysis.bounds.program.steps import StepErrors
from tcformal.analysis.bounds.program.words import EXPONENTS, Range
from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_int
from tcformal.design.steps import HeadroomStep, MagnitudeStep
from tcformal.errors import InputError, InvariantError
from tcformal.oracle.programs import program_result
from tcformal.oracle.values import NumberClass, decode
from tcformal.programs.program import LONGEST, Program, program_of
from tcformal.simulation.runnable import RunnableProgram
from tcformal.theory.instances import Instance


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramAccuracy:
    """What is known of sup |d - Σ a_k·b_k| / Σ|a_k·b_k| for a program and a length, c being 0.

    Ranges and units: `bound` is None where none follows, with the `reason`; `near` are the inputs found that
    lose most.
    """

    program: Program
    length: int
    #: Exponents of elements that are not zero; None where scales depend on data.
    exponents: tuple[int, int] | None
    bound: Fraction | None
    near: Near
    #: What a call of each unit loses, in sentences.
    steps: tuple[str, ...]
    reason: str = ""
    #: The theorems that the constants of calls are instances of.
    theorems: tuple[Instance, ...] = ()

    def __post_init__(self) -> None:
        if self.exceeded and self.inside:
            assert self.bound is not None
            raise InvariantError(
                f"expected inputs of {self.program.name} that lose at most {float(self.bound):.7g} of "
                f"Σ|a_k·b_k|, as is proved, but replayed ones lose {float(self.near.ratio):.7g}: "
                f"a = {words_text(self.near.a)}, b = {words_text(self.near.b)}"
            )

    @property
    def exceeded(self) -> bool:
        """Whether the inputs lose more than the bound."""
        return self.bound is not None and self.near.ratio > self.bound

    @property
    def inside(self) -> bool:
        """Whether the inputs are such as the bound is about: with scales from data nothing is subnormal."""
        return self.exponents is not None or self.near.plain(self.program)

    @property
    def gap(self) -> Fraction | None:
        """1 - attained / bound; None without a bound, 0 where both are 0."""
        if self.bound is None:
            return None
        return 1 - self.near.ratio / self.bound if self.bound else Fraction(0)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Under which the bound holds."""
        if self.exponents is None:
            return ("c = 0", "no element, scale, word or result is subnormal or overflows")
        low, high = self.exponents
        return ("c = 0", f"every element is zero, or normal with an exponent from {low} to {high}")


def program_accuracy(
    program: str | Program | RunnableProgram,
    *,
    length: int,
    exponents: tuple[int, int] = EXPONENTS,
    prove: bool = True,
    progress: Progress = ignore,
) -> ProgramAccuracy:
    """The largest error of a program in units of Σ|a_k·b_k|: a bound, and inputs that come near.

    Shapes: `length` products; c is 0.
    Ranges and units: `exponents` of elements that are not zero, least and largest, cut to those of the normal
    numbers of the input formats; they do not count where scales depend on data.  What underflows in the range
    is counted.  `prove`: False leaves the bound out.
    Zero, NaN, Inf: elements are zero or normal.
    Errors: InputError for a length or exponents out of range.  A step of which nothing is known, what may
    overflow, or a unit to which no theorem applies leaves `bound` None, with the reason.
    Source: roundings by their definition, calls by the theorems of `accuracy`; words are sums of the
    element and of rounding errors, whose cancellations are exact.
    """
    p = program_of(program.program if isinstance(program, RunnableProgram) else program)
    n = check_int("length", length, low=1, high=LONGEST)
    low = check_int("the least exponent", exponents[0], low=-16400, high=16400)
    high = check_int("the largest exponent", exponents[1], low=low, high=16400)
    plan = p.plan(n)
    formats = (p.input_format("a"), p.input_format("b"))
    low, high = max(low, *(f.e_min for f in formats)), min(high, *(f.e_max for f in formats))
    if low > high:
        raise InputError(f"expected exponents that the inputs of {p.name} have, but got {exponents}")
    scaled = any(isinstance(step, HeadroomStep | MagnitudeStep) for step in plan.steps)
    among = None if scaled else Range(low, high)
    progress("looking for inputs")
    near = nearest(p, n, among)
    bound, reason = None, "no proof was asked for"
    bounds = CallBounds()
    if prove:
        try:
            bound, reason = StepErrors(plan, among, bounds).constant(), ""
        except InputError as error:
            reason = str(error)
    return ProgramAccuracy(
        program=p, length=n, exponents=None if scaled else (low, high), bound=bound, near=near,
        steps=tuple(_sentences(bounds)), reason=reason, theorems=bounds.theorems,
    )  # fmt: skip


def excess(x: ProgramAccuracy, other: Program) -> Fraction | None:
    """How much more the program loses than another one on the inputs found, in units of Σ|a_k·b_k|.

    Ranges and units: exact; None where the other one takes other formats, or gives no finite result.
    """
    near, plan = x.near, other.plan(x.length)
    if any(x.program.input_format(letter) != other.input_format(letter) for letter in "ab"):
        return None
    formats = (other.input_format("a"), other.input_format("b"))
    exact = sum(
        (
            decode(formats[0], p).number * decode(formats[1], q).number
            for p, q in zip(near.a, near.b, strict=True)
        ),
        Fraction(0),
    )
    d = decode(plan.fmt, program_result(plan, near.a, near.b, 0))
    if d.kind is not NumberClass.FINITE or not near.magnitude:
        return None
    return (near.error - abs(d.number - exact)) / near.magnitude


def _sentences(bounds: CallBounds) -> list[str]:
    """The constants of calls."""
    return [
        f"{name}: a call of {n} products loses at most {float(x.own):.6g} of their magnitudes"
        + (f" and {float(x.other):.6g} of |c|" if x.other else "")
        for (name, n, _), x in bounds.used.items()
    ]
