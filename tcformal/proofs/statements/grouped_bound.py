"""Statements of claim `error-bound` about sums of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import ABOVE, Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, encoded, exponent_code
from tcformal.proofs.statements.error_bound import BlockBound, ErrorBound, StatedTerm


@dataclass(frozen=True, slots=True)
class StatedGroup(StatedTerm):
    """The exact sum of the products of some k, times the group's scales, which are its `factors`.

    Shapes: code u[CODE_BITS] is OFFSET + the sum of the scales' exponents; nonzero u[1] is 1 where some
    product is not zero and no scale is, although the sum may be zero.
    """

    ks: tuple[int, ...]
    members: tuple[StatedTerm, ...]

    @property
    def value(self) -> Poly:
        """The exact value."""
        scale, total = Poly.constant(1), Poly.constant(0)
        for x in self.factors:
            scale = scale * x.value
        for m in self.members:
            total = total + m.value
        return total * scale


@dataclass(frozen=True, slots=True)
class GroupedBound(ErrorBound):
    """The statement about a truncated sum of groups and c."""

    def __str__(self) -> str:
        unit = self.unit
        o, f, size = unit.operands, unit.design.fraction_bits, unit.design.group
        p, groups = unit.design.rho.fraction_bits, len(self.terms) - 1
        (block,) = self.blocks
        words = ", ".join(f"{x}_0…{x}_{unit.k - 1} ({o.names()[x]})" for x in "ab")
        return (
            f"for all encodings {words}, c ({o.c}) and the scales {unit.scale_format}, with d ({o.d}) what "
            f"the unit makes of them, all of them and d finite, and every integer E from {self.least} to "
            f"{(1 << CODE_BITS) - 1 - OFFSET} that is at least the exponent of c, unless c is zero, and the "
            f"sum of both scales' exponents of each of the {groups} groups of {size} products, those left "
            f"out whose scales or products are all zero: |d - (Σ a_k·b_k (with both scales) + c)| < "
            f"{block.units}·2^(E-{f}) + ulp(d); the exponent of a word is max(field, 1) - bias, "
            f"that of a scale without zeros its field - bias, and ulp(d) = 2^(exponent of d - {p})"
        )


def grouped_bound(
    g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node
) -> GroupedBound:
    """The statement about the node d of a graph as a function of input words.

    Shapes: words: for each product a_k, b_k, and both its scales.
    Errors: InputError for a unit whose statement is not written here.
    """
    design, o, scale = unit.design, unit.operands, unit.scale_format
    size, bits, zero, least = design.group, design.fraction_bits, design.zero_exponent, o.d.e_min
    if size is None or bits is None or scale is None or unit.scale_block is None or unit.scale_block % size:
        raise InputError(f"expected scaled groups as the terms of one sum, but {unit.name} has other terms")
    if design.rho.mode != "RZ" or unit.k > design.products:
        raise InputError(f"expected one sum that is rounded to zero, but {unit.name} has another")
    if not isinstance(zero, int) or zero > least:
        raise InputError(
            f"expected zero terms with an exponent of at most {least}, that of the least normal {o.d}, "
            f"for claim error-bound, but got zero_exponent={zero}"
        )
    terms: list[StatedTerm] = []
    for first in range(0, unit.k, size):
        ks = tuple(range(first, first + size))
        terms.append(_group(g, unit, ks, [words[k] for k in ks], scale))
    own = encoded(g, c, o.c)
    terms.append(StatedTerm("c", (own,), exponent_code(g, [own]), g.any_bit(own.significand)))
    made, e = encoded(g, d, o.d), g.input("E", CODE_BITS)
    floor = g.ule(g.const(least + OFFSET, CODE_BITS), e)
    limits = tuple(g.or_(g.not_(t.nonzero), g.ule(t.code, e)) for t in terms)
    finite = [made.finite]
    for t in terms:
        finite += [x.finite for m in getattr(t, "members", ()) for x in m.factors]
        finite += [x.finite for x in t.factors]
    hypotheses = tuple(dict.fromkeys(x for x in (*finite, *limits, floor) if x.op != "const"))
    # A term whose exponent is the largest loses nothing where all its bits are kept.
    products = o.a.fraction_bits + o.b.fraction_bits - o.a.e_min - o.b.e_min
    kept = max(products + 2 * scale.fraction_bits, o.c.fraction_bits) <= bits
    block = BlockBound(len(terms), len(terms) - kept, 0, 0)
    power = (Poly.of(e) - Poly.constant(OFFSET + bits)).power_of_two()
    bound = power * block.units + made.weight(design.rho.fraction_bits)
    return GroupedBound(
        unit, g, d, e, tuple(terms), made, hypotheses, limits, floor, (block,), bound, ABOVE, least,
        Fraction(1),
    )  # fmt: skip


def _group(
    g: Graph, unit: UnitSpec, ks: tuple[int, ...], words: Sequence[Sequence[Node]], scale: Format
) -> StatedGroup:
    """One group, whose scales are those of all its products."""
    o, members = unit.operands, []
    for k, (a, b, *_) in zip(ks, words, strict=True):
        factors = [encoded(g, a, o.a), encoded(g, b, o.b)]
        nonzero = g.and_(*(g.any_bit(x.significand) for x in factors))
        members.append(StatedTerm(f"a[{k}]·b[{k}]", tuple(factors), exponent_code(g, factors), nonzero))
    scales = [encoded(g, word, scale) for word in words[0][2:]]
    some = g.or_(*(m.nonzero for m in members))
    nonzero = g.and_(some, *(g.any_bit(x.significand) for x in scales))
    name = f"the group of k = {ks[0]} to {ks[-1]}"
    return StatedGroup(name, tuple(scales), exponent_code(g, scales), nonzero, ks, tuple(members))
