"""How wide slices of integers may be, and how many products are exact, on one unit (Ozaki schemes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tcformal.bounds.theorems import Theorems
from tcformal.callbacks import Progress, ignore
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.matmul.unit import Unit, spec_of
from tcformal.oracle.values import encoded
from tcformal.solve.result import Limits
from tcformal.theory.claims import integer_sums
from tcformal.theory.instances import Instance

if TYPE_CHECKING:
    from tcformal.proofs.claim import ClaimVerdict
    from tcformal.proofs.prove import ClaimStore


@dataclass(frozen=True, slots=True)
class SliceWidth:
    """Integers of A and B of magnitudes up to `largest`, the bits of that, and the most products."""

    bits: int
    largest: int
    products: int


@dataclass(frozen=True, slots=True)
class ExactSlices:
    """What a theorem about sums of integers, or an error of less than 1, says of slices on one unit.

    Ranges and units: every sum of integers of magnitudes up to `most` is exact, partial sums of chained calls
    among them; `widths`: none where the claim is not proved, with the reason; `sharp`: one of most + 1 is not
    exact.
    """

    unit: UnitSpec
    most: int
    widths: tuple[SliceWidth, ...]
    claims: tuple[ClaimVerdict, ...]
    reason: str = ""
    sharp: bool = True
    steps: tuple[str, ...] = ()
    #: The theorem of the theory that says so; None where claims of the kernel do.
    theorem: Instance | None = None


def exact_slices(
    unit: str | Unit | UnitSpec,
    *,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: ClaimStore | None = None,
    fresh: bool = False,
    progress: Progress = ignore,
) -> ExactSlices:
    """The widths of integer slices whose products a unit sums exactly, and of how many, by the kernel.

    Shapes: any number of products, in calls one after the other.
    Ranges and units: a slice of b bits holds the integers of magnitudes up to 2^b - 1; the last row holds
    2^precision too, the largest integer up to which all are numbers of the formats.
    Zero, NaN, Inf: operands are finite; a zero may have either sign.
    Errors: InputError for a unit whose D cannot be the next C.
    Source: ozIMMU and GEMMul8; theorems `integers_fused` and `integers_any_order`; claim `integer-sums` where
    no theorem is written.  Integers are normal numbers, which is what they ask of the factors of units that
    flush others.  Other sums than those that they are written of are integers too, so that an error of less
    than 1 is 0: what is proved of the error gives a size, which need not be the largest.
    """
    spec = spec_of(unit)
    chained = spec.scale_format is None and spec.c_format == spec.d_format
    theorem = integer_sums(spec) if chained else None
    if theorem is not None:
        bits = int(theorem.numbers["exponent"])
        # 2^bits + 1 is no number of D.
        sharp = bits == spec.d_format.precision
        return ExactSlices(spec, 1 << bits, _widths(spec, 1 << bits), (), sharp=sharp, theorem=theorem)
    return _by_claims(spec, Theorems(store, limits or Limits(), solvers, certify, fresh, progress))


def _by_claims(spec: UnitSpec, known: Theorems) -> ExactSlices:
    """The widths by claim `integer-sums`, or by the error."""
    from tcformal.proofs.claims import register
    from tcformal.proofs.statements.integer_sums import largest_exact

    next_c = spec.scale_format is None and spec.c_format == spec.d_format and spec.tree is None
    steps = next_c and not register.refused("integer-sums", spec)
    if not register.of_products(spec) and not steps:
        return _by_error(spec, known)
    most = 1 << largest_exact(spec)
    if not known.holds(spec, "integer-sums"):
        if not register.of_products(spec):
            return _by_error(spec, known)
        return ExactSlices(spec, most, (), tuple(known.claims), known.missing().reason)
    return ExactSlices(spec, most, _widths(spec, most), tuple(known.claims))


def _by_error(spec: UnitSpec, known: Theorems) -> ExactSlices:
    """The widths that the error of one block, or of one rounding, gives."""
    from tcformal.bounds.claims.losses import integer_loss

    if spec.scale_format is not None or spec.c_format != spec.d_format or spec.tree is not None:
        raise InputError(f"expected a unit without scales whose D is its next C, but got {spec.name}")
    try:
        found = integer_loss(spec, known)
    except InputError as error:
        return ExactSlices(spec, 0, (), tuple(known.claims), str(error))
    if found.first is None or (found.least is not None and found.least > 0):
        return ExactSlices(spec, 0, (), found.claims, found.reason or "small sums may lose")
    # The largest one with κ·most < 1: the error is an integer, and so 0.
    inverse = 1 / found.first
    most = -(-inverse.numerator // inverse.denominator) - 1
    how = f"κ·{most} < 1, and sums of integers stay integers: the error is 0"
    return ExactSlices(
        spec, most, _widths(spec, most), found.claims, sharp=False, steps=(*found.steps, how),
        theorem=found.theorem,
    )  # fmt: skip


def _widths(spec: UnitSpec, most: int) -> tuple[SliceWidth, ...]:
    """How many products of each width a sum of that size holds."""
    bits = min(spec.a_format.precision, spec.b_format.precision)
    sizes = [(1 << b) - 1 for b in range(1, bits + 1)] + [1 << bits]
    return tuple(
        SliceWidth(size.bit_length(), size, most // size**2)
        for size in sizes
        if all(_holds(f, size) for f in (spec.a_format, spec.b_format)) and size**2 <= most
    )


def _holds(fmt: Format, size: int) -> bool:
    """Whether all integers up to a size that is a power of two, or one less, are numbers of a format."""
    return all(encoded(fmt, Fraction(x)) is not None for x in {1, size, max(size - 1, 1)})
