"""How wide slices of integers may be, and how many products are exact, on one unit (Ozaki schemes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.bounds.constants import Theorems
from tcformal.callbacks import Progress, ignore
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.matmul.unit import Unit, spec_of
from tcformal.oracle.values import encoded
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.claims import register
from tcformal.proofs.prove import ClaimStore
from tcformal.proofs.statements.integer_sums import largest_exact
from tcformal.solve.result import Limits


@dataclass(frozen=True, slots=True)
class SliceWidth:
    """Integers of A and B of magnitudes up to `largest`, the bits of that, and the most products."""

    bits: int
    largest: int
    products: int


@dataclass(frozen=True, slots=True)
class ExactSlices:
    """What claim `integer-sums` says of slices on one unit.

    Ranges and units: every sum of integers of magnitudes up to 2^most is exact, partial sums of chained calls
    among them; `widths`: none where the claim is not proved, with the reason.
    """

    unit: UnitSpec
    most: int
    widths: tuple[SliceWidth, ...]
    claims: tuple[ClaimVerdict, ...]
    reason: str = ""


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
    Errors: InputError for a unit of whose sums no such claim is written.
    Source: ozIMMU and GEMMul8; claim `integer-sums`, whose control is a sum of 2^most + 1 that is not exact.
    """
    spec = spec_of(unit)
    if not register.of_products(spec):
        raise InputError(
            f"expected a unit with truncated sums of products and c, of which claim integer-sums is written, "
            f"but got {spec.name}"
        )
    known = Theorems(store, limits or Limits(), solvers, certify, fresh, progress)
    most = largest_exact(spec)
    if not known.holds(spec, "integer-sums"):
        return ExactSlices(spec, most, (), tuple(known.claims), known.missing().reason)
    bits = min(spec.a_format.precision, spec.b_format.precision)
    sizes = [(1 << b) - 1 for b in range(1, bits + 1)] + [1 << bits]
    widths = [
        SliceWidth(size.bit_length(), size, (1 << most) // size**2)
        for size in sizes
        if all(_holds(f, size) for f in (spec.a_format, spec.b_format)) and size**2 <= 1 << most
    ]
    return ExactSlices(spec, most, tuple(widths), tuple(known.claims))


def _holds(fmt: Format, size: int) -> bool:
    """Whether all integers up to a size that is a power of two, or one less, are numbers of a format."""
    return all(encoded(fmt, Fraction(x)) is not None for x in {1, size, max(size - 1, 1)})
