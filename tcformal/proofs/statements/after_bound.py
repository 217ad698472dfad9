"""The statement of claim `error-bound` about truncated sums of products that c is added to exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import AT_LEAST, Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, encoded
from tcformal.proofs.statements.error_bound import BlockBound
from tcformal.proofs.statements.rounded_bound import RoundedBound, StatedRounding, marked, stated_terms


@dataclass(frozen=True, slots=True)
class AfterBound(RoundedBound):
    """The statement about one truncated sum of products, then c, then one rounding.

    `blocks` has the sum of the products; E says nothing of c, which nothing is cut off.
    """

    def __str__(self) -> str:
        design, o, (block,) = self.unit.design, self.unit.operands, self.blocks
        a, b, c = marked(design)
        parts = [f"{block.units}·2^(E-{design.fraction_bits})"]
        if self.flushed:
            parts.append(f"2^{self.least_normal}")
        parts.append("ulp(d)" if self.ulps == 1 else "ulp(d)/2")
        words = ", ".join(f"{x}_0…{x}_{self.unit.k - 1} ({o.names()[x]})" for x in "ab")
        marks = " FTZ(x) is x, or 0 where x is subnormal;" if "FTZ" in a + b + c else ""
        return (
            f"for all encodings {words}, c ({o.c}), with d ({o.d}) what the unit makes of them, all of them "
            f"and d finite, and every integer E from {self.least} to {(1 << CODE_BITS) - 1 - OFFSET} that is "
            f"at least the exponent of every {a}·{b} that is not zero: "
            f"|d - (Σ {a}·{b} + {c})| <= {' + '.join(parts)};{marks} the exponent of a word is "
            f"max(field, 1) - bias, that of a product the sum of its factors', and ulp(d) = "
            f"2^(exponent of d - {design.rho.fraction_bits})"
        )

    @property
    def least_normal(self) -> int:
        """The exponent of the least normal d."""
        return self.unit.operands.d.e_min


def after_bound(g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node) -> AfterBound:
    """The statement about the node d of a graph as a function of input words.

    Shapes: words: for each product a_k and b_k.
    Errors: InputError for a unit whose statement is not written here.
    """
    design, o, bits = unit.design, unit.operands, unit.design.fraction_bits
    if design.c_position != "after" or bits is None or unit.k > design.products:
        raise InputError(f"expected one sum of products, then c, but {unit.name} has others")
    if design.dropped_pieces:
        raise InputError(
            f"expected whole products for claim error-bound, but {unit.name} leaves {design.dropped_pieces} "
            f"of their pieces out"
        )
    if design.zero_exponent != "none" or design.alignment_rounding != "RZ" or design.carry_bits is not None:
        raise InputError(
            f"expected terms that are cut toward zero, those that are zero left out, for claim error-bound, "
            f"but {unit.name} has others"
        )
    terms = stated_terms(g, unit, words, c)
    made, e = encoded(g, d, o.d), g.input("E", CODE_BITS)
    # A zero product has the least exponent that any of them can have.
    down = (o.a.fraction_bits, o.b.fraction_bits) if design.normalise_operands else (0, 0)
    least = max(o.d.e_min, -o.a.bias - o.b.bias - sum(down))
    floor = g.ule(g.const(least + OFFSET, CODE_BITS), e)
    limits = tuple(g.or_(g.not_(t.nonzero), g.ule(t.code, e)) for t in terms[:-1])
    finite = [x.finite for t in terms for x in t.factors] + [made.finite]
    hypotheses = tuple(dict.fromkeys(x for x in (*finite, *limits, floor) if x.op != "const"))
    # Every product of two pieces is a term.
    count = unit.k * unit.pieces
    units = count - (o.a.fraction_bits + o.b.fraction_bits <= bits)
    block = BlockBound(count, units, 0, 0)
    rounding = StatedRounding((unit.k, unit.k + 1), design.rho, Fraction(0), 0, None)
    flushed = Fraction(0) if design.result_subnormals == "kept" else Fraction(2) ** o.d.e_min
    bound = (Poly.of(e) - Poly.constant(OFFSET + bits)).power_of_two() * units + Poly.constant(flushed)
    bound = bound + made.weight(design.rho.fraction_bits) * rounding.ulps
    return AfterBound(
        unit, g, d, e, tuple(terms), made, hypotheses, limits, floor, (block,), bound, AT_LEAST, least,
        rounding.ulps, (rounding,), flushed,
    )  # fmt: skip
