"""Sums with a differently aligned c, RDNA3's and RDNA4's: a file for each vendor's own sum."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import align, effective_exponents, largest, lowered, shift_to
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.reduce import add_signed, signed_magnitude, sum_of_aligned
from tcformal.semantics.stages import Floored, Total
from tcformal.semantics.sums.step import truncated_total


def framed_total(
    g: Graph, products: Sequence[Number], c: Number, design: Design
) -> tuple[list[Total], Total]:
    """The sum of products and a c with c_fraction_bits, and the preceding group sums if there are any.

    Shapes: L products and c -> L / aligned_group totals, or none, and one total.
    Ranges and units: e_max is the largest of the products' exponents and of c's less what its bits exceed
    fraction_bits by; everything is cut to fraction_bits there.
    Zero: zero products have `zero_exponent`, in a group none; c as well, in both.
    Source: ROCm emulator, gfx11_dot2.h and gfx12_dot.h.
    """
    bits, of_c = design.fraction_bits, design.c_fraction_bits
    if bits is None or of_c is None:
        raise InputError("expected fraction_bits and c_fraction_bits for a sum with c apart, but got None")
    low = lowered(c.term, of_c - bits)
    terms = [x.term for x in products]
    if design.aligned_group is not None:
        return _grouped(g, terms, low, design, bits)
    exponents = effective_exponents(g, [*terms, low], design.zero_exponent)
    e_max, maximum = largest(g, exponents)
    g.label("e_max", e_max.bits, offset=e_max.low)
    aligned = []
    for term, exponent in zip(terms, exponents, strict=False):
        shift = shift_to(g, exponent, e_max)
        aligned.append((shift, align(g, term, shift, bits, design.alignment_rounding)))
    aligned.append(_aligned_c(g, low, exponents[-1], e_max, design, bits))
    total = sum_of_aligned(
        g, [*terms, low], aligned, e_max, bits, accumulation=design.accumulation, maximum=maximum
    )
    return [], total


def _grouped(
    g: Graph, terms: Sequence[Term], c: Term, design: Design, bits: int
) -> tuple[list[Total], Total]:
    """Sums of aligned products by group; then these sums and c, truncated again."""
    # Zero products have no exponent: one that no term and no c lies below stands for none.
    lowest = min(c.exponent.low, *(t.exponent.low for t in terms))
    size = design.aligned_group or len(terms)
    groups = []
    for i in range(0, len(terms), size):
        with g.scope(f"group{i // size}"):
            groups.append(truncated_total(g, terms[i : i + size], design, bits, lowest))
    zero = lowest if design.zero_exponent == "none" else design.zero_exponent
    (exponent,) = effective_exponents(g, [c], zero)
    e_max, _ = largest(g, [*(x.e_max for x in groups), exponent])
    g.label("e_max", e_max.bits, offset=e_max.low)
    floored = [Floored(by := shift_to(g, x.e_max, e_max), g.ashr(x.bits, by)) for x in groups]
    of_c = Floored(*_aligned_c(g, c, exponent, e_max, design, bits))
    addends = [*(x.kept for x in floored), signed_magnitude(g, c.sign, of_c.kept)]
    width = max(x.width for x in addends) + len(addends).bit_length()
    total = Total(add_signed(g, addends, width), e_max, bits, of=tuple(groups), floored=(*floored, of_c))
    g.label("sum", total.bits, signed=True, scale=bits)
    return groups, total


def _aligned_c(
    g: Graph, c: Term, exponent: Exponent, e_max: Exponent, design: Design, bits: int
) -> tuple[Node, Node]:
    """The shift of c to e_max and its magnitude there; zero where c is dropped."""
    shift = shift_to(g, exponent, e_max)
    kept = align(g, c, shift, bits, design.alignment_rounding)
    if design.vanished_c == "dropped":
        nothing = g.is_zero(align(g, c, shift, bits, "RZ"))
        # The unit of the sum, 2^(e_max - bits), lies above the least normal number.
        least = design.rho.e_min + bits
        coarse = g.truth(True)
        if e_max.low <= least:
            code = e_max.rebased(g, e_max.low, max(e_max.high, least))
            coarse = g.ult(g.const(least - e_max.low, code.width), code)
        kept = g.ite(g.and_(nothing, coarse), g.const(0, kept.width), kept)
    return shift, kept
