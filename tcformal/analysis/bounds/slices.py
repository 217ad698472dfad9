"""Slice widths of Ozaki schemes: integer products that a unit sums exactly; apart from the command."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcformal.analysis.bounds.proved import theorem_constant
from tcformal.design.integer_sums import integer_sums as sums_of_integers
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.values import encoded
from tcformal.shown import Shown, short
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.theory.claims import integer_sums
from tcformal.theory.instances import Instance
from tcformal.theory.integer_theorems import integer_claim
from tcformal.theory.regions import integers_end
from tcformal.theory.theorems import in_the_way


@dataclass(frozen=True, slots=True)
class SliceWidth:
    """A slice width: the largest integer magnitude, its bits, and the maximal number of products."""

    bits: int
    largest: int
    products: int


@dataclass(frozen=True, slots=True)
class ExactSlices(Shown):
    """The slice widths of one unit, by a theorem on integer sums or an error below 1.

    Ranges and units: every sum of integers of magnitudes up to `most` is exact, partial sums of chained calls
    among them; `widths`: none where no theorem says so, with the reason; `sharp`: one of most + 1 is not
    exact.

    Examples:
        >>> tcformal.exact_slices("h100:fp16").widths[3]
        SliceWidth(bits=4, largest=15, products=74565)
    """

    unit: UnitSpec
    most: int
    widths: tuple[SliceWidth, ...]
    reason: str = ""
    sharp: bool = False
    steps: tuple[str, ...] = ()
    #: The theorem that says so.
    theorem: Instance | None = None

    def _summary(self) -> str:
        bits = [w.bits for w in self.widths]
        known = f"sums up to {self.most}, slices of {bits[0]} to {bits[-1]} bits" if bits else self.reason
        return f"ExactSlices {short(self.unit.shown)}: {known}"


def exact_slices(unit: str | Unit | UnitSpec) -> ExactSlices:
    """The integer slice widths whose products a unit sums exactly, with the maximal lengths.

    Shapes: any number of products, in calls one after the other where D can be the next C, else in one call.
    Ranges and units: a slice of b bits holds the integers of magnitudes up to 2^b - 1; the last row holds
    2^precision too, the largest integer up to which all are numbers of the formats.
    Zero, NaN, Inf: operands are finite; a zero may have either sign.  Scales are 1.
    Errors: InputError for a unit with scales, or whose D cannot be the next C, where no theorem is written.
    Source: ozIMMU and GEMMul8; theorems `integers_fused`, `integers_any_order`, `integers_terms` and
    `integers_end`.  Integers are normal numbers, which is what they ask of the factors of units that flush
    others.  Other sums than those that they are written of are integers too, so that an error of less than 1
    is 0: what is proved of the error gives a size, which need not be the largest.

    Examples:
        >>> tcformal.exact_slices("h100:fp16")
        <ExactSlices h100:fp16: sums up to 16777216, slices of 1 to 12 bits>
    """
    spec = spec_of(unit)
    if spec.d_format.integer:
        most, largest = sums_of_integers(spec).high, min(spec.a_format.largest, spec.b_format.largest)
        rows = tuple(x for x in _widths(spec, most) if x.largest <= largest)
        return ExactSlices(spec, most, rows, sharp=True, theorem=integer_claim(spec, "integer-sums"))
    theorem = integer_sums(spec)
    if theorem is None:
        return _by_error(spec)
    most = 1 << int(theorem.numbers["exponent"])
    sharp = integers_end(spec) is not None
    return ExactSlices(spec, most, _widths(spec, most), sharp=sharp, theorem=theorem)


def _by_error(spec: UnitSpec) -> ExactSlices:
    """The slice widths that follow from the error constant of one block."""
    if spec.scale_format is not None or spec.c_format != spec.d_format:
        raise InputError(f"expected a unit without scales whose D is its next C, but got {spec.name}")
    proved, design = theorem_constant(spec), spec.design
    # A complement is a unit below what it stands for, and lost bits leave fractions: no integers.
    whole = design.accumulation != "ones_complement" and design.lost_bits == "cut"
    if proved is None or proved.beside is None or not whole:
        return ExactSlices(spec, 0, (), in_the_way(spec, "integer-sums"))
    if proved.least > 0:
        return ExactSlices(spec, 0, (), "small sums may lose")
    k = max(proved.beside, proved.constants.first, proved.constants.other)
    # The largest one with κ·most < 1: the error is an integer, and so 0.
    most = -(-k.denominator // k.numerator) - 1
    how = (
        f"a block of {proved.constants.size} products loses κ = {k} of the magnitudes at most",
        f"κ·{most} < 1, and sums of integers stay integers: the error is 0",
    )
    return ExactSlices(spec, most, _widths(spec, most), steps=how, theorem=proved.theorem)


def _widths(spec: UnitSpec, most: int) -> tuple[SliceWidth, ...]:
    """The maximal number of products of each slice width in a sum of bounded size."""
    bits = min(spec.a_format.precision, spec.b_format.precision)
    sizes = [(1 << b) - 1 for b in range(1, bits + 1)] + [1 << bits]
    return tuple(
        SliceWidth(size.bit_length(), size, most // size**2)
        for size in sizes
        if all(_holds(f, size) for f in (spec.a_format, spec.b_format)) and size**2 <= most
    )


def _holds(fmt: Format, size: int) -> bool:
    """Whether a format represents all integers up to a power of two, or to one less."""
    return all(encoded(fmt, Fraction(x)) is not None for x in {1, size, max(size - 1, 1)})
