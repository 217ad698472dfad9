"""The trace of one dot product as data: sums, terms, and roundings."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcformal.callbacks import view
from tcformal.design.unit import UnitSpec
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


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of one dot product on one unit.

    Ranges and units: `result` is a raw encoding of the D format; `block_results` those of the
    blocks in order (the last is the result).
    """

    unit: UnitSpec
    witness: Witness
    steps: tuple[SumStep, ...]
    block_results: tuple[int, ...]
    result: int

    def _repr_svg_(self) -> str | None:
        return view("trace_svg", self)
