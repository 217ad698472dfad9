"""The statement of claim `error-bound` about CDNA3's sums, which round down (TR-FDPA and GTR-FDPA)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import AT_LEAST, Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, encoded, exponent_code
from tcformal.proofs.statements.error_bound import BlockBound, ErrorBound, StatedTerm


@dataclass(frozen=True, slots=True)
class RoundDownBound(ErrorBound):
    """The statement about sums of products that c is added to, both rounded down.

    A block's `units` are those that its products may lose.  `halves`: sums of products per block, 1 or 2, of
    which two are rounded down where they meet; two also means that a c far below counts nothing.
    """

    halves: int
    #: Ulps of a result that its roundings may add, and take away.
    sides: tuple[Fraction, Fraction]
    #: What d may be above the exact sum; `bound` is what it may be below it.
    above: Poly

    @property
    def conclusions(self) -> tuple[tuple[str, Poly], ...]:
        """What d may be above less the error, and what it may be below plus the error."""
        return (self.relation, self.above - self.error), (self.relation, self.bound + self.error)

    def lost(self, block: BlockBound) -> tuple[Poly, Poly]:
        """What a block may add before its result is rounded, and take away."""
        return _lost(self.e, int(self.unit.design.fraction_bits or 0), block, self.halves)

    def __str__(self) -> str:
        unit, design = self.unit, self.unit.design
        o, f, p = unit.operands, int(design.fraction_bits or 0), design.rho.fraction_bits
        low, high = [], []
        for i, x in enumerate(self.blocks):
            last = i == len(self.blocks) - 1
            ulp = "ulp(d)" if last else f"2^(E{x.grown - p:+d})"
            joined = f"2^(E{x.reach - f:+d})"
            high += [f"{x.units}·2^(E-{f})", *([f"{joined}/2"] if self.halves == 2 else []), f"{ulp}/2"]
            at_e = x.units + self.halves - 1
            low += [f"{at_e + 1}·2^(E-{f})"] if not x.reach else [f"{at_e}·2^(E-{f})", joined]
            low.append(f"{ulp}·(1/2 + 2^-{int(design.sum_fraction_bits or 0) - p})")
        words = ", ".join(f"{x}_0…{x}_{unit.k - 1} ({o.names()[x]})" for x in "ab")
        return (
            f"for all encodings {words}, c ({o.c}), with d ({o.d}) what the unit makes of them, all of them "
            f"and d finite, and every integer E from {self.least} to {(1 << CODE_BITS) - 1 - OFFSET} that is "
            f"at least the exponent of c and of every a_k·b_k, those that are zero left out: "
            f"-({' + '.join(low)}) <= d - (Σ a_k·b_k + c) <= {' + '.join(high)}; the exponent of a word is "
            f"max(field, 1) - bias, that of a product the sum of its factors', and "
            f"ulp(d) = 2^(exponent of d - {p})"
        )


def round_down_bound(
    g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node
) -> RoundDownBound:
    """The statement about the node d of a graph as a function of input words.

    Shapes: words: for each product a_k and b_k.
    Errors: InputError for a unit whose statement is not written here.
    """
    design, o = unit.design, unit.operands
    bits, wide = design.fraction_bits, design.sum_fraction_bits
    if design.summation not in ("tr", "gtr") or bits is None or wide is None or unit.scale_format is not None:
        raise InputError(f"expected sums that are rounded down (TR-FDPA), but {unit.name} has others")
    if design.rho.mode != "RNE" or design.sum_rounding != "RD" or wide < design.rho.fraction_bits:
        raise InputError(f"expected sums rounded down and to the nearest, but {unit.name} has others")
    terms = []
    for k, (a, b) in enumerate(words):
        factors = [encoded(g, a, o.a), encoded(g, b, o.b)]
        nonzero = g.and_(*(g.any_bit(x.significand) for x in factors))
        terms.append(StatedTerm(f"a[{k}]·b[{k}]", tuple(factors), exponent_code(g, factors), nonzero))
    own = encoded(g, c, o.c)
    terms.append(StatedTerm("c", (own,), exponent_code(g, [own]), g.any_bit(own.significand)))
    made, e, least = encoded(g, d, o.d), g.input("E", CODE_BITS), o.d.e_min
    floor = g.ule(g.const(least + OFFSET, CODE_BITS), e)
    limits = tuple(g.or_(g.not_(t.nonzero), g.ule(t.code, e)) for t in terms)
    finite = [x.finite for t in terms for x in t.factors] + [made.finite]
    hypotheses = tuple(dict.fromkeys(x for x in (*finite, *limits, floor) if x.op != "const"))
    halves = 2 if design.summation == "gtr" else 1
    half = Fraction(1, 2)
    sides = (half, half + Fraction(1, 1 << (wide - design.rho.fraction_bits)))
    blocks = _blocks(unit, halves, sides[1], bits)
    above, below = Poly.constant(0), Poly.constant(0)
    p = design.rho.fraction_bits
    for i, x in enumerate(blocks):
        last = i == len(blocks) - 1
        ulp = made.weight(p) if last else (Poly.of(e) + Poly.constant(x.grown - p - OFFSET)).power_of_two()
        more, less = _lost(e, bits, x, halves)
        above, below = above + more + ulp * sides[0], below + less + ulp * sides[1]
    return RoundDownBound(
        unit, g, d, e, tuple(terms), made, hypotheses, limits, floor, tuple(blocks), below, AT_LEAST, least,
        sides[1], halves, sides, above,
    )  # fmt: skip


def _lost(e: Node, bits: int, x: BlockBound, halves: int) -> tuple[Poly, Poly]:
    near, far = ((Poly.of(e) + Poly.constant(by - bits - OFFSET)).power_of_two() for by in (0, x.reach))
    # Truncated products, both ways; c that counts nothing; halves, and c or the sum of the products, cut.
    above = near * x.units + far * Fraction(halves - 1, 2)
    return above, near * (x.units + halves - 1) + far


def _blocks(unit: UnitSpec, halves: int, ulps: Fraction, bits: int) -> list[BlockBound]:
    """How the bound below, which is the larger one, grows from block to block (as that of `error_bound`)."""
    p, length = unit.design.rho.fraction_bits, min(unit.k, unit.design.products)
    made: list[BlockBound] = []
    error, reach = Fraction(0), 0
    for i in range(unit.k // length):
        units = length - halves
        unit_at_e = Fraction(1, 1 << bits)
        error += (units + halves - 1 + Fraction(2) ** reach) * unit_at_e
        most = 2 + Fraction((i + 1) * length) * 4 + error
        grown = reach
        while most >= Fraction(2) ** (grown + 1) * (1 - ulps / 2**p):
            grown += 1
        error += ulps * Fraction(2) ** (grown - p)
        made.append(BlockBound(length + 1, units, reach, grown))
        reach = grown
    return made
