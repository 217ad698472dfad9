"""The statement of claim `error-bound` about compositions: truncated sums, then c."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.unit import Emulation, UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import AT_LEAST, Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, encoded, exponent_code
from tcformal.proofs.statements.error_bound import BlockBound, ErrorBound, StatedTerm
from tcformal.theory.stated_sum import StatedSum


@dataclass(frozen=True, slots=True)
class ComposedBound(ErrorBound):
    """The statement about truncated sums, each from the result of the one before, and c added at the end.

    `blocks` are the parts; E says nothing of c, which takes part in the last rounding only.
    """

    @property
    def sum(self) -> StatedSum:
        """Which exact sum it is about: every operand as it is encoded, c added to the products' sum."""
        return StatedSum(c="last")

    def __str__(self) -> str:
        unit, design = self.unit, self.unit.design
        o, f, p = unit.operands, int(design.fraction_bits or 0), design.rho.fraction_bits
        parts = []
        for x in self.blocks:
            ulp = f"2^(E{x.grown - p:+d})"
            parts += [f"{x.units}·2^(E{x.reach - f:+d})", ulp if self.ulps == 1 else f"{ulp}/2"]
        words = ", ".join(f"{x}_0…{x}_{unit.k - 1} ({o.names()[x]})" for x in "ab")
        return (
            f"for all encodings {words}, c ({o.c}), with d ({o.d}) what the unit makes of them, all of them "
            f"and d finite, and every integer E from {self.least} to {(1 << CODE_BITS) - 1 - OFFSET} that is "
            f"at least the exponent of every a_k·b_k that is not zero: "
            f"|d - (Σ a_k·b_k + c)| <= {' + '.join(parts)} + ulp(d)/2; the exponent of a word is "
            f"max(field, 1) - bias, that of a product the sum of its factors', and "
            f"ulp(d) = 2^(exponent of d - {o.d.fraction_bits})"
        )


def composed_bound(
    g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node
) -> ComposedBound:
    """The statement about the node d of a graph as a function of input words.

    Shapes: words: for each product a_k and b_k.
    Errors: InputError for a unit whose statement is not written here.
    """
    design, o, how = unit.design, unit.operands, unit.emulation
    zero, least, bits = design.zero_exponent, o.d.e_min, design.fraction_bits
    if how is None or bits is None or design.summation != "fused" or design.c_position != "joined":
        raise InputError(f"expected truncated sums of converted products, but {unit.name} has others")
    if how.addition.rho.mode != "RNE" or not how.addition.rho.fits(o.d):
        raise InputError(f"expected an addition of c to the nearest, but {unit.name} has another")
    if not isinstance(zero, int) or zero > least:
        raise InputError(
            f"expected zero terms with an exponent of at most {least}, that of the least normal {o.d}, "
            f"for claim error-bound, but got zero_exponent={zero}"
        )
    terms = []
    for k, (a, b) in enumerate(words):
        factors = [encoded(g, a, o.a), encoded(g, b, o.b)]
        nonzero = g.and_(*(g.any_bit(x.significand) for x in factors))
        terms.append(StatedTerm(f"a[{k}]·b[{k}]", tuple(factors), exponent_code(g, factors), nonzero))
    own, made, e = encoded(g, c, o.c), encoded(g, d, o.d), g.input("E", CODE_BITS)
    floor = g.ule(g.const(least + OFFSET, CODE_BITS), e)
    limits = tuple(g.or_(g.not_(t.nonzero), g.ule(t.code, e)) for t in terms)
    terms.append(StatedTerm("c", (own,), exponent_code(g, [own]), g.any_bit(own.significand)))
    finite = [x.finite for t in terms for x in t.factors] + [made.finite]
    hypotheses = tuple(dict.fromkeys(x for x in (*finite, *limits, floor) if x.op != "const"))
    ulps = Fraction(1, 2) if design.rho.mode in ("RNE", "RNA") else Fraction(1)
    blocks = _parts(unit, how, ulps, bits)
    bound, p = Poly.constant(0), design.rho.fraction_bits
    power = Poly.of(e) - Poly.constant(OFFSET)
    for x in blocks:
        bound = bound + (power + Poly.constant(x.reach - bits)).power_of_two() * x.units
        bound = bound + (power + Poly.constant(x.grown - p)).power_of_two() * ulps
    bound = bound + made.weight(o.d.fraction_bits) * Fraction(1, 2)
    return ComposedBound(
        unit, g, d, e, tuple(terms), made, hypotheses, limits, floor, tuple(blocks), bound, AT_LEAST, least,
        ulps,
    )  # fmt: skip


def _parts(unit: UnitSpec, how: Emulation, ulps: Fraction, bits: int) -> list[BlockBound]:
    """How the bound grows from part to part, as that of `error_bound` does, from a c of 0."""
    p, made = unit.design.rho.fraction_bits, list[BlockBound]()
    error, reach, met = Fraction(0), 0, 0
    kept = max(2 * how.converted.fraction_bits, p) <= bits
    for part in how.parts:
        if len(part) > unit.design.products:
            raise InputError(f"expected parts of one sum each, but {unit.name} has others")
        terms = len(part) + 1
        error += Fraction(terms - kept) * Fraction(2) ** (reach - bits)
        met += len(part)
        grown = reach
        while 4 * met + error >= Fraction(2) ** (grown + 1) * (1 - ulps / 2**p):
            grown += 1
        error += ulps * Fraction(2) ** (grown - p)
        made.append(BlockBound(terms, terms - kept, reach, grown))
        reach = grown
    return made
