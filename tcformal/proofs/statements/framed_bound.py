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
from tcformal.proofs.statements.relative_bound import RelativeBound, at, magnitude
from tcformal.proofs.statements.rounded_bound import log2


@dataclass(frozen=True, slots=True)
class FramedLoss:
    """What a block loses: of c in units of |c|, and of the products in units of Σ|a_k·b_k|.

    Every product may lose a unit of 2^(E - F), E the largest exponent of the products and of c less
    `lowered`, and c one unless it has E; the conversion half an ulp.  All units are lost against the sign of
    c, and of c's own sign the product that has E loses none: only one of the other sign is complemented.
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
        """Where a product has E, of the other sign than c."""
        return self.of(self.products + (not self.zero_c))

    @property
    def same(self) -> Fraction:
        """Where a product of c's sign has E."""
        return self.of(self.products - 1 + (not self.zero_c))

    @property
    def along(self) -> Fraction:
        """On the side of c's sign, of everything: what the conversion loses of a result."""
        return self.share * (1 + max(self.beside, self.most))

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
    """The statement about one block, a bound for either side of c's sign.

    Shapes: `same` u[1] for each product: whether it has c's sign, that of a zero too, which `frame` is.
    Ranges and units: the exponent of c counts `lowered` less than it is.
    """

    framed: FramedLoss | None = None
    frame: Node | None = None
    same: tuple[Node, ...] = ()

    @property
    def beside(self) -> Fraction:
        """What the error is at most in units of Σ|a_k·b_k|, beside `constant` of |c|."""
        assert self.framed is not None
        return self.framed.beside

    @property
    def direction(self) -> Poly:
        """1 where c is not negative, else -1."""
        assert self.frame is not None
        return Poly.constant(1) - Poly.of(self.frame) * 2

    @property
    def sides(self) -> tuple[Poly, Poly]:
        """What is lost at most against c's sign, and along it."""
        assert self.framed is not None
        loss, against = self.framed, Poly.constant(self.flushed)
        for t, same in zip(self.base.terms[:-1], self.same, strict=True):
            less = Poly.of(same) * (loss.beside - loss.same)
            against = against + magnitude(t.factors) * (Poly.constant(loss.beside) - less)
        if not self.zero_c:
            against = against + magnitude(self.base.terms[-1].factors) * loss.most
        return against, self.magnitudes * loss.along + Poly.constant(self.flushed)

    @property
    def conclusions(self) -> tuple[tuple[str, Poly], ...]:
        """What is lost at most against c's sign, less what is; and along it."""
        against, along = self.sides
        moved = self.direction * self.base.error
        return (AT_LEAST, against + moved), (AT_LEAST, along - moved)

    def __str__(self) -> str:
        assert self.framed is not None
        loss, (start, _) = self.framed, RelativeBound.__str__(self).split(": |d", 1)
        exact, total, of_c = "Σ a_k·b_k", "Σ|a_k·b_k|", ""
        if not self.zero_c:
            exact, total, of_c = f"({exact} + c)", f"({total} + |c|)", f" + {loss.most} · |c|"
        more = f" + 2^{log2(self.flushed)}" if self.flushed else ""
        return (
            f"{start}, s the sign of c: -s·(d - {exact}) <= {loss.same} · Σ|a_k·b_k| of the products with "
            f"that sign + {loss.beside} · Σ|a_k·b_k| of the others{of_c}{more} and s·(d - {exact}) <= "
            f"{loss.along} · {total}{more}; the exponent of a product is that of its factors, added, that of "
            f"c counts {loss.lowered} less"
        )


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
        attained, known, flushed, framed=loss, frame=own.sign,
        same=tuple(g.not_(g.xor(g.xor(*(x.sign for x in t.factors)), own.sign)) for t in terms[:-1]),
    )  # fmt: skip
