"""The statement of claim `relative-error` where c keeps more bits than the products (RDNA3's sums)."""

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
from tcformal.proofs.statements.relative_bound import RelativeBound, at


@dataclass(frozen=True, slots=True)
class FramedLoss:
    """What a block loses: of c in units of |c|, and of the products in units of Σ|a_k·b_k|.

    Every product may lose a unit of 2^(E - F), E the largest exponent of the products and of c less
    `lowered`, and c one unless it has E; the conversion half an ulp.
    """

    products: int
    lowered: int
    fraction_bits: int
    places: int
    zero_c: bool

    @property
    def share(self) -> Fraction:
        """What the conversion loses of a result."""
        return Fraction(1, 1 << self.places + 1)

    def of(self, units: Fraction | int) -> Fraction:
        """The part of 2^E that so many units and the conversion are."""
        return (Fraction(units) / (1 << self.fraction_bits) + self.share) / (1 - self.share)

    @property
    def beside(self) -> Fraction:
        """Where a product has E."""
        return self.of(self.products + (not self.zero_c))

    @property
    def most(self) -> Fraction:
        """Where c has E; from c = 0, of the products."""
        return self.beside if self.zero_c else self.of(Fraction(self.products, 1 << self.lowered))


def framed_loss(unit: UnitSpec, products: int, *, zero_c: bool) -> FramedLoss:
    """What one block loses at most.

    Errors: InputError for a unit whose statement is not written here.
    """
    design = unit.design
    bits, of_c = design.fraction_bits, design.c_fraction_bits
    if bits is None or of_c is None or design.aligned_group is not None:
        raise InputError(f"expected products and c in one sum, but {unit.name} sums groups of them")
    if design.step.mode != "RNE" or design.step != design.rho or design.accumulation != "ones_complement":
        raise InputError(f"expected sums of complements to the nearest, but {unit.name} has others")
    if unit.scale_format is not None or design.vanished_c != "cut" or design.alignment_rounding != "RZ":
        raise InputError(f"expected products and c that are cut, but {unit.name} has others")
    return FramedLoss(products, of_c - bits, bits, design.rho.fraction_bits, zero_c)


@dataclass(frozen=True, slots=True)
class FramedBound(RelativeBound):
    """The statement about one block; the exponent of c counts `lowered` less than it is."""

    framed: FramedLoss | None = None

    @property
    def beside(self) -> Fraction:
        """What the error is at most in units of Σ|a_k·b_k|, beside `constant` of |c|."""
        assert self.framed is not None
        return self.framed.beside

    def __str__(self) -> str:
        assert self.framed is not None
        return f"{RelativeBound.__str__(self)}, that of c counts {self.framed.lowered} less"


def framed_bound(
    g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node, *, zero_c: bool
) -> FramedBound:
    """The statement about the node d of a graph as a function of the words of one block.

    Shapes: words: for each product a_k and b_k.
    Errors: InputError for a unit whose statement is not written here.
    """
    o, loss = unit.operands, framed_loss(unit, len(words), zero_c=zero_c)
    terms = []
    for k, (a, b) in enumerate(words):
        factors = [encoded(g, a, o.a), encoded(g, b, o.b)]
        nonzero = g.and_(*(g.any_bit(x.significand) for x in factors))
        terms.append(StatedTerm(f"a[{k}]·b[{k}]", tuple(factors), exponent_code(g, factors), nonzero))
    own = encoded(g, c, o.c)
    code = g.add_mod(
        g.const(OFFSET - o.c.bias - loss.lowered, CODE_BITS), g.zero_extend_to(own.exponent, CODE_BITS)
    )
    terms.append(StatedTerm("c", (own,), code, g.any_bit(own.significand)))
    made, e, least = encoded(g, d, o.d), g.input("E", CODE_BITS), o.d.e_min
    floor = g.ule(g.const(least + OFFSET, CODE_BITS), e)
    limits = tuple(g.or_(g.not_(t.nonzero), g.ule(t.code, e)) for t in terms)
    finite = [x.finite for t in terms for x in t.factors] + [made.finite]
    hypotheses = tuple(dict.fromkeys(x for x in (*finite, *limits, floor) if x.op != "const"))
    block = BlockBound(len(terms), len(terms), 0, 0)
    base = ErrorBound(
        unit, g, d, e, tuple(terms), made, hypotheses, limits, floor, (block,), Poly.constant(0), AT_LEAST,
        least, Fraction(1, 2),
    )  # fmt: skip
    used = terms[:-1] if zero_c else terms
    normal = tuple(
        tuple(g.or_(g.is_zero(x.significand), g.top(x.significand)) for x in t.factors) for t in used
    )
    attained = g.or_(*(at(g, t, e) for t in used))
    known: Node = g.is_zero(own.significand) if zero_c else g.truth(True)
    flushed = Fraction(2) ** (least + 1) if unit.design.result_subnormals == "tiny_zero" else Fraction(0)
    return FramedBound(
        base, zero_c, loss.most, Fraction(len(words)), Fraction(0), Fraction(1, 2), Fraction(1), normal,
        attained, known, flushed, framed=loss,
    )  # fmt: skip
