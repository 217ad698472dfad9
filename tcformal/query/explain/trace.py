"""The trace of one dot product as data, and the first stage at which two traces differ."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from tcformal.design.rounding import conversion
from tcformal.design.unit import UnitSpec
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import format_value
from tcformal.shown import Shown, short, view
from tcformal.simulation.operands.witness import Witness


@dataclass(frozen=True, slots=True)
class TermRow:
    """One addend of a sum, aligned.

    Ranges and units: `kept` is the part of `value` that the sum takes in, a multiple of
    2^(e_max - fraction_bits), or all of it where the sum is exact; `kept_bits` are the aligned
    magnitude's; `discarded` are the bits below, most significant first, without trailing zeros.
    """

    name: str
    negative: bool
    value: Fraction
    exponent: int
    kept_bits: str
    kept: Fraction
    discarded: str
    zero: bool


@dataclass(frozen=True, slots=True)
class Rounding:
    """The conversion of a sum to a format.

    Ranges and units: `bits` are the normalised magnitude's, the first of weight 2^exponent;
    `precision` of them were kept; `value` is the result as if exponents had no upper end.
    """

    conversion: str
    bits: str
    exponent: int
    precision: int
    #: Whether one unit in the last place was added to the kept bits.
    away: bool
    value: Fraction
    #: The result where `value` is too large for the conversion; else empty.
    overflow: str


@dataclass(frozen=True, slots=True)
class SumStep:
    """One step of a dot product: *align · add · normalise · round*.

    Zero, NaN, Inf: where `special` is not empty an operand was NaN or Inf, and the numbers of the
    finite path mean nothing.
    """

    scope: str
    e_max: int
    fraction_bits: int
    #: The names of the operands of the sum.
    operands: tuple[str, ...]
    #: The aligned addends: one for each operand, or the exact sum of the products and c.  Empty where
    #: a sum is taken without aligning its operands one by one.
    terms: tuple[TermRow, ...]
    #: Whether no bit is lost in alignment: what lies below the last bit makes that bit 1 (sticky).
    exact: bool
    #: The sum of the kept parts; after `wrapped`, what the sum's bits hold of it.
    total: Fraction
    total_bits: str
    #: Whether the sum of the kept parts has more bits than the design carries.
    wrapped: bool
    #: None where the sum is not rounded.
    rounding: Rounding | None
    #: `NaN`, `Inf` or `-Inf`, and the operands that cause it.
    special: str
    blamed: tuple[str, ...]
    #: Whose NaN the result is: `a[2]`, `c`, `an invalid operation`; empty where all NaNs are one word.
    nan_of: str
    #: Units of the last kept place by which the sum differs from that of the kept parts, and what moved it:
    #: complements of negatives, lost bits.
    moved: int = 0
    moved_by: str = ""
    #: How the normalised sum was cut before it was rounded (CDNA3); None where it was not.
    floor: Rounding | None = None

    @property
    def of_integers(self) -> bool:
        """Whether it is a sum of integers."""
        return self.rounding is not None and conversion(self.rounding.conversion).integer

    @property
    def title(self) -> str:
        """What the sum is of, or why it is special, in words."""
        if self.special:
            why = "; ".join(self.blamed) or "an operand is NaN or Inf"
            whose = f", that of {self.nan_of}" if self.nan_of else ""
            return f"{self.scope}: {why}; so the result is {self.special}{whose}"
        count = len(self.terms) or len(self.operands)
        zeros = sum(term.zero for term in self.terms)
        if self.of_integers:
            some = f" ({zeros} of them zero, not shown)" * bool(zeros)
            return f"{self.scope}: exact sum of {count} terms{some}"
        title = f"{self.scope}: {count} terms at e_max = {self.e_max}, "
        title += "exact sum, last bit sticky" if self.exact else f"{self.fraction_bits} fraction bits kept"
        return title + f" ({'all' if zeros == count else zeros} of them zero, not shown)" * bool(zeros)


@dataclass(frozen=True, slots=True)
class Trace(Shown):
    """The trace of one dot product on one unit.

    Ranges and units: `result` is a raw encoding of the D format; `block_results` those of the
    blocks in order (the last is the result).

    Examples:
        >>> trace = tcformal.explain("h100:fp16", [16384] + [0] * 15, [1] + [0] * 15, "-2^-11")
        >>> trace
        <Trace h100:fp16, 1 sum: 16777215*2^-10>
        >>> trace.steps[0].e_max
        14
    """

    unit: UnitSpec
    witness: Witness
    steps: tuple[SumStep, ...]
    block_results: tuple[int, ...]
    result: int

    def _summary(self) -> str:
        sums = f"{len(self.steps)} sum{'' if len(self.steps) == 1 else 's'}"
        return f"Trace {short(self.unit.shown)}, {sums}: {format_value(self.unit.operands.d, self.result)}"

    def _repr_svg_(self) -> str | None:
        return view("svg", self)


@dataclass(frozen=True, slots=True)
class Divergence(Shown):
    """The first stage at which two traces differ.

    Examples:
        >>> none = [0] * 15
        >>> tcformal.diverge("a100:fp16", "h100:fp16", [16384, *none], [1, *none], "-2^-11").stage
        'the alignment of c at block0'
    """

    stage: str
    first: str
    second: str
    #: Where a picture marks it: `special`, `term`, `e_max`, `sum`, `rounding`, `order` or `result`.
    part: str = ""
    #: The term, for `term`.
    term: str = ""
    #: The number of the sum, from 0; that after the last one for `result`.
    step: int = 0
    units: tuple[str, str] = field(default=("the first unit", "the second unit"), compare=False)

    def _summary(self) -> str:
        return f"Divergence at {self.stage}: {self.first} against {self.second}"


def divergence(first: Trace, second: Trace) -> Divergence | None:
    """The first stage at which two units differ on the same operands; None where no stage differs.

    Stages are compared in the order of the computation, as exact numbers rather than bits: special
    operands, each term and its alignment, the sum, the rounding.  Two sums of different terms are compared
    on the terms that they share; they diverge there if the results differ.
    """
    found = _divergence(first, second)
    return None if found is None else replace(found, units=(first.unit.shown, second.unit.shown))


def _divergence(first: Trace, second: Trace) -> Divergence | None:
    for step, (mine, theirs) in enumerate(zip(first.steps, second.steps, strict=False)):
        difference = _step_divergence(mine, theirs)
        if difference is not None:
            return replace(difference, step=step)
        if not _same_terms(mine, theirs):
            if first.result == second.result:
                return None
            where = f"the order of summation at {mine.scope}"
            return Divergence(where, _terms(mine), _terms(theirs), "order", step=step)
    if first.result != second.result:
        d, e = first.unit.operands.d, second.unit.operands.d
        results = format_value(d, first.result), format_value(e, second.result)
        last = min(len(first.steps), len(second.steps))
        return Divergence("the encoding of the result", *results, "result", step=last)
    return None


def _same_terms(mine: SumStep, theirs: SumStep) -> bool:
    return mine.scope == theirs.scope and mine.operands == theirs.operands


def _terms(step: SumStep) -> str:
    return (
        f"{len(step.operands)} terms, {step.operands[0]} … {step.operands[-1]}"
        if step.operands
        else step.scope
    )


def _step_divergence(mine: SumStep, theirs: SumStep) -> Divergence | None:
    """The first difference of two sums beyond their different sets of terms."""
    where, same = mine.scope, _same_terms(mine, theirs)
    if mine.special or theirs.special:
        if mine.special == theirs.special or not same:
            return None
        return Divergence(
            f"NaN and Inf at {where}", mine.special or "finite", theirs.special or "finite", "special"
        )
    difference = _term_divergence(mine, theirs, where, same)
    if difference is not None or not same:
        return difference
    if mine.total != theirs.total:
        what = "the carry bits of the sum" if mine.wrapped or theirs.wrapped else "the sum"
        notes = [", wrapped" if x.wrapped else ", exact" if x.exact else "" for x in (mine, theirs)]
        first, second = number_text(mine.total) + notes[0], number_text(theirs.total) + notes[1]
        return Divergence(f"{what} at {where}", first, second, "sum")
    one, other = mine.rounding, theirs.rounding
    if one is None or other is None or (one.value, one.overflow) == (other.value, other.overflow):
        return None
    what = "overflow" if one.value == other.value else "the rounding"
    first, second = (
        f"{(x.overflow if what == 'overflow' else '') or number_text(x.value)} ({x.conversion})"
        for x in (one, other)
    )
    return Divergence(f"{what} at {where}", first, second, "rounding")


def _term_divergence(mine: SumStep, theirs: SumStep, where: str, same: bool) -> Divergence | None:
    """The first difference in a term that both sums contain; None if these terms agree."""
    others = {t.name: t for t in theirs.terms}
    for term in mine.terms:
        other = others.get(term.name)
        if other is None or term.kept == other.kept:
            continue
        if term.value != other.value:
            return _differ(f"the value of {term.name}", where, term.value, other.value, term.name)
        if term.exponent != other.exponent:
            return _differ(f"the exponent of {term.name}", where, term.exponent, other.exponent, term.name)
        if mine.e_max == theirs.e_max:
            return _differ(f"the alignment of {term.name}", where, term.kept, other.kept, term.name)
        if not same:  # a term that only one of the sums takes in may have raised its e_max
            return None
        for x, y in zip(mine.terms, theirs.terms, strict=True):
            if x.exponent != y.exponent and not x.zero:
                return _differ(f"the exponent of {x.name}", where, x.exponent, y.exponent, x.name)
        return _differ("e_max", where, mine.e_max, theirs.e_max)
    return None


def _differ(
    what: str, where: str, mine: Fraction | int, theirs: Fraction | int, term: str = ""
) -> Divergence:
    values = number_text(Fraction(mine)), number_text(Fraction(theirs))
    return Divergence(f"{what} at {where}", *values, "term" if term else "e_max", term)
