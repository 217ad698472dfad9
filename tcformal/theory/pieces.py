"""Products in pieces, and c added to a sum of products: what a block loses, as `PieceErrors.v` has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.rounding import NEAREST
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import PARTS, always_infinite, product_share, term_facts, truncated_ok
from tcformal.theory.design import block_size


@dataclass(frozen=True, slots=True)
class ProductLoss:
    """Parts of a unit that a product loses wherever it is cut, and at its own exponent; what is left out."""

    share: int
    own: int
    rest: int


@dataclass(frozen=True, slots=True)
class Piecewise:
    """What a block loses, of its products' magnitudes from c = 0 and beside any c, and of |c|.

    Ranges and units: in units of 2^-F / `PARTS`; `product` in parts of a unit.
    """

    product: ProductLoss
    first: int
    later: int
    of_c: int


def fine(unit: UnitSpec, parts: int) -> Fraction:
    """Parts of 2^-F."""
    return Fraction(parts, PARTS << int(unit.design.fraction_bits or 0))


def joined(unit: UnitSpec) -> bool | None:
    """Whether c is a term of the block's sum; None where it is not added to that either: `piecewise_sum`."""
    d = unit.design
    if unit.tree is not None or unit.emulation is not None or d.order != "ascending" or d.group is not None:
        return None
    if d.summation != "fused" or d.lost_bits != "cut" or d.framed or d.zero_words != "summed":
        return None
    if d.rho.integer_bits is not None or d.c_position not in ("joined", "after"):
        return None
    return d.c_position == "joined"


def product_loss(unit: UnitSpec, *, leading: bool = True) -> ProductLoss | None:
    """The least for which `product_loss` holds; `leading`: factors have leading bits."""
    d, terms, bits = unit.design, term_facts(unit), unit.design.fraction_bits
    if terms is None or bits is None or bits < 0:
        return None
    if d.piece_bits is None:
        share = product_share(unit) if leading else PARTS
        return ProductLoss(share, 0, 0) if terms.bits <= bits else None
    size, dropped = d.piece_bits, d.dropped_pieces
    places = [f.fraction_bits for f in (unit.a_format, unit.b_format)]
    counts = [t // size + 1 for t in places]
    levels = [i + j for i in range(counts[0]) for j in range(counts[1])]
    kept, total = [x for x in levels if x >= dropped], sum(places)
    left_out = sum(((1 << size) - 1) ** 2 << size * x for x in levels if x < dropped)
    return ProductLoss(
        max(_share(size, kept, k) for k in range(1, size * sum(counts) + 1)),
        _share(size, kept, total - bits) if total > bits else 0,
        -(-(left_out * PARTS << bits) >> total),
    )


def _share(size: int, levels: Iterable[int], k: int) -> int:
    """Parts of a unit that pieces at these places lose where they are cut at bit k: `loses_units`."""
    units = sum((1 << min(size * (x + 2), k)) - (1 << min(size * x, k)) for x in levels)
    return -(-units * PARTS >> k)


def piecewise(unit: UnitSpec) -> Piecewise | None:
    """The losses of a unit; None where `piecewise_ok` does not hold."""
    d, with_c, product, n = unit.design, joined(unit), product_loss(unit), block_size(unit)
    if with_c is None or product is None or d.alignment_rounding != "RZ":
        return None
    shift = int(d.fraction_bits or 0) - d.rho.fraction_bits - (d.rho.mode in NEAREST)
    if shift < 0 or not (_truncated(unit) if with_c else _apart(d)):
        return None
    beside, ulp = product.share * (n - 1) + product.own, PARTS << shift
    if not with_c:
        return Piecewise(product, beside + ulp + product.rest, beside + ulp + product.rest, ulp)

    def one(lost: int) -> int:
        """`kappa_parts`, and what is left out."""
        return (lost if d.rho.mode in NEAREST else max(lost - PARTS, 0)) + ulp + product.rest

    later = one(max(beside + PARTS, product.share * n))
    return Piecewise(product, one(beside), later, later)


def exponent_units(unit: UnitSpec) -> tuple[ProductLoss, Fraction] | None:
    """The loss of a product, and of a block in units of 2^(E-F): `piecewise_exponents_ok`; None elsewhere."""
    d, with_c, product, n = unit.design, joined(unit), product_loss(unit, leading=False), block_size(unit)
    if with_c is None or product is None or d.alignment_rounding != "RZ":
        return None
    zero = d.zero_exponent
    if with_c and not (
        d.carry_bits is None and not d.normalise_products and always_infinite(d, d.rho)
        and (zero == "none" or (isinstance(zero, int) and zero <= d.rho.e_min))
    ):  # fmt: skip
        return None
    if not with_c and not _apart(d):
        return None
    lost = product.share * n + PARTS if with_c else product.share * (n - 1) + product.own
    return product, Fraction(lost + product.rest * n, PARTS)


def _truncated(unit: UnitSpec) -> bool:
    d = unit.design
    bits = int(d.fraction_bits or 0)
    return truncated_ok(unit) and d.c_subnormals == "kept" and unit.c_format.fraction_bits <= bits


def _apart(d: Design) -> bool:
    """`apart_ok`, and that no result is flushed when it is the next block's c."""
    return (
        always_infinite(d, d.rho) and d.carry_bits is None and not d.normalise_products
        and d.zero_exponent == "none" and d.c_subnormals != "hidden_bit"
        and (d.c_subnormals == "kept" or d.result_subnormals != "kept")
    )  # fmt: skip
