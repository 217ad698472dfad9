"""What is known of a program's steps before their errors: values, powers, and ways to the result."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from tcformal.analysis.bounds.program.scales import Scale
from tcformal.analysis.bounds.program.sums import ErrorForm
from tcformal.analysis.bounds.program.words import Powers, WordForm, exponent, joined
from tcformal.design.rounding import NEAREST
from tcformal.design.steps import (
    CallStep,
    JoinStep,
    MagnitudeStep,
    PlanStep,
    ProgramPlan,
    RoundStep,
    ScaledProduct,
    SliceStep,
    format_of,
)
from tcformal.errors import InputError
from tcformal.oracle.values import decode
from tcformal.theory.stated_sum import LETTERS, NO_C, StatedSum


class WordRow:
    """A word of consecutive elements, zeros beyond the last one; `length` None: a single element."""

    __slots__ = ("length", "start", "word")

    def __init__(self, word: WordForm, start: int, length: int | None) -> None:
        self.word, self.start, self.length = word, start, length


#: A step's value: words of elements, one total, totals, a constant, a scale, or nothing for an exponent.
StepForm = WordRow | ErrorForm | list[ErrorForm] | Fraction | Scale | None


def gives_c(step: CallStep) -> bool:
    """Whether a call on zeros gives its c: a result already, and no bit of it is cut."""
    design, o = step.unit.design, step.unit.operands
    return design.summation == "fused" and design.c_fraction_bits is None and o.c == o.d


def needed_sum(step: CallStep, plan: ProgramPlan, normal: frozenset[str], *, zero_c: bool) -> StatedSum:
    """The sum that a theorem about a call is to be about.

    Ranges and units: `normal`: which of its operands are never subnormal.  All products are added; what is
    flushed is counted as lost; c is normal, with the bits that its step gives.
    """
    return StatedSum(
        flushed=LETTERS, normal=normal | {"c"}, c=NO_C if zero_c else step.unit.design.c_position,
        c_bits=result_bits(plan.steps[step.c]),
    )  # fmt: skip


def check_small(step: CallStep, products: ErrorForm, c: ErrorForm, least: int) -> None:
    """InputError where a product may be below 2^least, or c below that or subnormal.

    A number that is a multiple of a power of two is at least that, or zero.
    """
    for what, x, low in (("products", products, least), ("c", c, max(least, step.unit.c_format.e_min))):
        if not x.zero and (x.grid is None or x.grid < low):
            raise InputError(
                f"expected {what} of at least 2^{low} for {step.unit.name}, but some may be smaller"
            )


def result_bits(step: PlanStep) -> int:
    """The fraction bits that results of a step have at most."""
    if isinstance(step, CallStep) and step.unit.tree is None and step.unit.emulation is None:
        return step.unit.design.rho.fraction_bits
    return format_of(step).fraction_bits


def powers_of(x: ScaledProduct) -> Powers:
    """The powers of two of an addend that depend on data."""
    found: Powers = ()
    for source, sign in x.exponents:
        found = joined(found, ((source, sign),))
    return found


@cache
def _signed_power(shift: int, negative: bool) -> Scale:
    return Scale(Fraction(2) ** shift * (-1 if negative else 1))


def parted(x: ScaledProduct, values: Sequence[StepForm]) -> tuple[Scale, list[StepForm]]:
    """What an addend is scaled by, with its sign, and its other factors, by the values of all of them."""
    own, rest = _signed_power(x.shift, x.negative), list[StepForm]()
    if x.exponents:
        own = Scale(own.factor, powers_of(x))
    for value in values:
        # Not by isinstance, which takes most of the time here: the class of a fraction is an abstract one's.
        if type(value) is Fraction:
            own = own.times(Scale(value))
        elif isinstance(value, Scale):
            own = own.times(value)
        else:
            rest.append(value)
    return own, rest


def check_saturation(step: RoundStep, w: WordForm, share: Fraction, plan: ProgramPlan) -> None:
    """InputError where a word over the largest magnitude may be cut to the largest number of its format.

    Ranges and units: `share`: what |w| is at most in units of the element over the magnitude, at most 1.
    """
    target = step.target
    (source, times) = w.powers[0] if len(w.powers) == 1 else (0, 0)
    if times != -1 or not isinstance(plan.steps[source], MagnitudeStep):
        return
    # To nearest, what is less than half an ulp beyond it is rounded to it.
    most = decode(target, target.largest).magnitude
    ulp = Fraction(2) ** (exponent(most) - target.fraction_bits)
    if share > most + (ulp / 2 if step.mode in NEAREST else 0):
        raise InputError(f"expected words that fit {target.name}, but the largest of {step.name} do not")


def paths(plan: ProgramPlan) -> tuple[list[np.ndarray], dict[int, list[int]]]:
    """How many ways lead from each element of each step's value to the result, and what is done when.

    Ranges and units: 2 stands for more; an error on one way cannot cancel.  Of each step those whose values
    nothing takes after it.
    """
    ways = [np.zeros(1 if s.length is None else s.length, np.int64) for s in plan.steps]
    ways[plan.result] += 1
    last: dict[int, int] = {}
    for i in range(len(plan.steps) - 1, -1, -1):
        step, own = plan.steps[i], np.minimum(ways[i], 2)
        for j in step.sources:
            last.setdefault(j, i)
        if isinstance(step, SliceStep):
            there = ways[step.source][step.start : step.start + own.size]
            there += own[: there.size]
        elif isinstance(step, JoinStep):
            for n, j in enumerate(step.items):
                ways[j] += own[n]
        else:
            for j in step.sources:
                same = isinstance(step, RoundStep) and ways[j].size == own.size
                ways[j] += own if same else own.sum()
    done: dict[int, list[int]] = {}
    for j, i in last.items():
        if j != plan.result:
            done.setdefault(i, []).append(j)
    return ways, done
