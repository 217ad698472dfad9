"""A program as data: straight-line steps on scalars and vectors, without arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from tcformal.design.arithmetic import NVIDIA_NAN
from tcformal.design.rounding import Conversion
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError


@dataclass(frozen=True, slots=True)
class ScaledProduct:
    """An addend of a rounded sum: ± a product of one or two values · 2^(shift + Σ ± exponents), exact.

    Shapes: factors: numbers of steps; exponents: (number of a HeadroomStep, 1 or -1).
    """

    factors: tuple[int, ...]
    negative: bool = False
    shift: int = 0
    exponents: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """The base of all steps: format, length and name.

    Shapes: `length` elements, None for a scalar.
    """

    #: The fields that number the steps whose values this one uses; a description, with fields in braces.
    OPERANDS: ClassVar[tuple[str, ...]] = ()
    TEXT: ClassVar[str] = ""

    #: Format of its values; None for a step whose value is an integer exponent.
    fmt: Format | None
    length: int | None
    #: The variable of the program, unique among the steps.
    name: str = field(compare=False)

    @property
    def sources(self) -> tuple[int, ...]:
        """The indices of the steps whose values this step uses."""
        used = (getattr(self, name) for name in self.OPERANDS)
        return tuple(i for x in used for i in (x if isinstance(x, tuple) else (x,)))

    @property
    def text(self) -> str:
        """A short description of the step."""
        return self.TEXT.format(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputStep(PlanStep):
    """An input of the program: a, b or c."""

    TEXT = "input in {0.fmt}"
    letter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantStep(PlanStep):
    """A constant scalar, given by its encoding."""

    TEXT = "constant in {0.fmt}"
    word: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStep(PlanStep):
    """The exact sum of some products with one rounding, element by element; scalars are broadcast.

    Zero, NaN, Inf: as IEEE 754 has them.  In a format without Inf, and under `saturate`, a finite number or
    an Inf beyond the largest number becomes that; a NaN that the format lacks becomes its largest number.
    In a format without a sign what is below zero becomes NaN, and in one without zero what is below its least
    number, zero among it, becomes that.
    """

    addends: tuple[ScaledProduct, ...]
    mode: str
    saturate: bool = False

    @property
    def sources(self) -> tuple[int, ...]:
        return tuple(i for x in self.addends for i in (*x.factors, *(e for e, _ in x.exponents)))

    @property
    def target(self) -> Format:
        """The format of the rounded values."""
        if self.fmt is None:
            raise InputError(f"expected a format for {self.name}, but got none")
        return self.fmt

    @property
    def saturates(self) -> bool:
        """Whether overflow gives the largest number."""
        return self.saturate or self.target.specials is not Specials.IEEE

    @property
    def text(self) -> str:
        what = {1: "converted", 2: "sum"}.get(len(self.addends), "sum")
        if len(self.addends) == 1 and len(self.addends[0].factors) == 2:
            what = "product"
        elif any(len(x.factors) == 2 for x in self.addends):
            what = "fused multiply-add"
        return f"{what}, {self.mode} to {self.fmt}" + (", saturating" if self.saturate else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceStep(PlanStep):
    """Consecutive elements of a vector, padded with +0; a scalar where length is None."""

    OPERANDS = ("source",)
    source: int
    start: int

    @property
    def text(self) -> str:
        if self.length is None:
            return f"element {self.start}"
        return f"elements {self.start} to {self.start + self.length - 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinStep(PlanStep):
    """A vector of scalars of one format."""

    OPERANDS, TEXT = ("items",), "{0.length} values"
    items: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStep(PlanStep):
    """A unit's dot product of two vectors and c: calls chained over K, the last one padded with +0.

    `scales`: the vectors of block scales of a and of b, for a unit with scales; padding has scales of one.
    """

    OPERANDS, TEXT = ("a", "b", "c", "scales"), "call of {0.unit.name}"
    unit: UnitSpec
    a: int
    b: int
    c: int
    #: Elements of a and b.
    products: int
    scales: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomStep(PlanStep):
    """The headroom of a vector: the largest integer e with 2^e·|x| <= limit for all elements x.

    Zero, NaN, Inf: zeros, Inf and NaN do not count; without any other element, as if the smallest number
    above zero were there.
    """

    OPERANDS, TEXT = ("source",), "largest power of two that keeps the elements at most {0.limit}"
    source: int
    limit: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class MagnitudeStep(PlanStep):
    """The largest magnitude of a vector's elements, at least `least`: a scalar of their format.

    Zero, NaN, Inf: an Inf is the largest; a NaN among the elements gives the format's NaN.
    """

    OPERANDS, TEXT = ("source",), "largest magnitude of the elements"
    source: int
    #: An encoding without a sign.
    least: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotientStep(PlanStep):
    """A quotient with one rounding, element by element; scalars are broadcast.

    Zero, NaN, Inf: as IEEE 754 has them; a format without Inf saturates, as in a RoundStep.
    """

    OPERANDS, TEXT = ("dividend", "divisor"), "quotient, {0.mode} to {0.fmt}"
    dividend: int
    divisor: int
    mode: str


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """A compiled program for vectors of one length: its steps, and the index of the result."""

    steps: tuple[PlanStep, ...]
    result: int
    products: int

    @property
    def fmt(self) -> Format:
        """The format of the result."""
        return format_of(self.steps[self.result])

    def rounded(self) -> list[int]:
        """The indices of the steps that round."""
        return [i for i, step in enumerate(self.steps) if isinstance(step, RoundStep)]

    def input_format(self, letter: str) -> Format:
        """The format of a, b or c."""
        for step in self.steps:
            if isinstance(step, InputStep) and step.letter == letter:
                return format_of(step)
        raise InputError(f"expected an input {letter} of the program, but it has none")


def format_of(step: PlanStep) -> Format:
    """The format of a step's values; InputError for an integer exponent."""
    if step.fmt is None:
        raise InputError(f"expected a value with a format, but {step.name} is an exponent")
    return step.fmt


@lru_cache(maxsize=1 << 8)
def conversion_into(mode: str, fmt: Format) -> Conversion:
    """The conversion whose results are encodings of a format.

    Ranges and units: a format without Inf has one binade more than an IEEE format of its exponent bits;
    powers of two alone (e8m0) are rounded with one exponent bit more, and clamped afterwards.
    Errors: InputError for a format whose least exponent is not IEEE's, and for integers.
    """
    if not fmt.has_zero:
        return Conversion(mode, fmt.exponent_bits + 1, 0)
    if fmt.integer:
        raise InputError(f"expected a format of floats that values can be rounded to, but got {fmt}")
    above = int(fmt.specials is not Specials.IEEE)
    rounding = Conversion(mode, fmt.exponent_bits, fmt.fraction_bits, above)
    if (rounding.e_min, rounding.e_max) != (fmt.e_min, fmt.e_max):
        raise InputError(f"expected a format that values can be rounded to, but got {fmt}")
    return rounding


def nan_word_of(fmt: Format) -> int:
    """The NaN of a format: NVIDIA's NaN, the quiet NaN, or the largest number in a format without NaN."""
    if fmt.name in NVIDIA_NAN:
        return NVIDIA_NAN[fmt.name]
    if fmt.specials is Specials.IEEE:
        return fmt.infinity | 1 << (fmt.fraction_bits + fmt.ignored_low_bits - 1)
    return fmt.largest + (fmt.specials is Specials.ALL_ONES_NAN)
