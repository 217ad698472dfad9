"""The statement of claim `relative-error`: the error of one block in terms of the sum of magnitudes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.rounding import NEAREST
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import AT_LEAST, Poly
from tcformal.proofs.statements.after_bound import AfterBound, after_bound
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, Encoded
from tcformal.proofs.statements.error_bound import ErrorBound, StatedTerm, error_bound
from tcformal.proofs.statements.odd_gain import OddGain, odd_gain
from tcformal.proofs.statements.product_loss import product_loss
from tcformal.proofs.statements.rounded_bound import log2
from tcformal.proofs.statements.tied_loss import Tied, tied
from tcformal.theory.stated_sum import NO_C, StatedSum, normal_sum

#: A statement about what is kept and lost together has a longer proof: it is made where it says so much less.
_WORTH = Fraction(1, 256)


@dataclass(frozen=True, slots=True)
class RelativeBound:
    """The statement as data: every conclusion holds wherever all hypotheses are 1.

    Ranges and units: `constant` is what the error is at most, in units of Σ|a_k·b_k| + |c|; `kept` is how
    many units of 2^(E - F) the terms of the sum lose, and `share` how much of an ulp its rounding, beyond.
    With `tied`, the products count `beside` each in place of `constant`.
    """

    base: ErrorBound
    zero_c: bool
    constant: Fraction
    kept: Fraction
    #: Units by which the sum, cut, loses less than nothing: they make up for some of its rounding.
    spare: Fraction
    share: Fraction
    #: How much of a unit one product loses at most.
    loss: Fraction
    #: Of every operand that it is zero or normal, that E is an exponent of a term, and what is known of c.
    normal: tuple[tuple[Node, ...], ...]
    attained: Node
    known_c: Node
    #: What is lost besides where results that are subnormal become 0.
    flushed: Fraction = Fraction(0)
    tied: Tied | None = None
    gain: OddGain | None = None

    @property
    def sum(self) -> StatedSum:
        """Which exact sum it is about: that of operands that are zero or normal, and what is known of c."""
        return relative_sum(self.base.unit, zero_c=self.zero_c)

    @property
    def beside(self) -> Fraction:
        """What the error is at most in units of Σ|a_k·b_k|, beside `constant` of |c|."""
        return self.constant if self.tied is None or self.zero_c else self.tied.most_beside

    @property
    def graph(self) -> Graph:
        """The graph of the base statement."""
        return self.base.graph

    @property
    def terms(self) -> tuple[StatedTerm, ...]:
        """The terms that the magnitudes are summed of."""
        return self.base.terms[:-1] if self.zero_c else self.base.terms

    @property
    def magnitudes(self) -> Poly:
        """Σ|a_k·b_k| + |c|."""
        total = Poly.constant(0)
        for t in self.terms:
            total = total + magnitude(t.factors)
        return total

    @property
    def hypotheses(self) -> tuple[Node, ...]:
        """Those of the base statement, and those about normal operands, E and c."""
        own = [*(x for row in self.normal for x in row), self.attained, self.known_c]
        return tuple(dict.fromkeys([*self.base.hypotheses, *(x for x in own if x.op != "const")]))

    @property
    def conclusions(self) -> tuple[tuple[str, Poly], ...]:
        """The bound less the error, and the bound plus the error."""
        bound = self.magnitudes * self.constant + Poly.constant(self.flushed)
        if self.beside != self.constant:
            for t in self.base.terms[:-1]:
                bound = bound + magnitude(t.factors) * (self.beside - self.constant)
        return (AT_LEAST, bound - self.base.error), (AT_LEAST, bound + self.base.error)

    @property
    def roots(self) -> tuple[Node, ...]:
        """Every node that the statement names."""
        return (*dict.fromkeys((*self.base.roots, *self.hypotheses)),)

    def __str__(self) -> str:
        unit, design = self.base.unit, self.base.unit.design
        o, p = unit.operands, design.rho.fraction_bits
        words = ", ".join(f"{x}_0…{x}_{unit.k - 1} ({o.names()[x]})" for x in "ab")
        scales = " and scales" if unit.scale_format is not None else ""
        c = "c = 0" if self.zero_c else f"c ({o.c}) of at most {p} fraction bits"
        total = "Σ|a_k·b_k|" if self.zero_c else "(Σ|a_k·b_k| + |c|)"
        exact = "Σ a_k·b_k" if self.zero_c else "(Σ a_k·b_k + c)"
        more = f" + 2^{log2(self.flushed)}" if self.flushed else ""
        bound = f"{self.constant} · {total}"
        if self.beside != self.constant:
            bound = f"{self.beside} · Σ|a_k·b_k| + {self.constant} · |c|"
        return (
            f"for all encodings {words}{scales} and {c}, each zero or normal, with d ({o.d}) what one block "
            f"of {unit.k} products makes of them, all of them and d finite, and the largest exponent E of "
            f"the terms that are not zero from {self.base.least} to {(1 << CODE_BITS) - 1 - OFFSET}: "
            f"|d - {exact}| <= {bound}{more}; the exponent of a product is that of its "
            f"factors, added"
        )


def magnitude(factors: Sequence[Encoded]) -> Poly:
    """The magnitude of a product of words."""
    total = Poly.constant(1)
    for x in factors:
        total = total * Poly.of(x.significand) * x.weight(x.fmt.fraction_bits)
    return total


def relative_bound(
    g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node, *, zero_c: bool
) -> RelativeBound:
    """The statement about the node d of a graph as a function of the words of one block.

    Shapes: words: for each product the words that it is the product of: a_k, b_k, and its scales.
    Errors: InputError for a unit whose statement is not written here.
    """
    design, after = unit.design, unit.design.c_position == "after"
    if after and not zero_c:
        raise InputError(f"expected c=0 for claim relative-error about {unit.name}, which adds c last")
    if after and design.piece_bits is not None:
        raise InputError(
            f"expected whole products as terms for claim relative-error, but {unit.name} cuts factors into "
            f"pieces of {design.piece_bits} bits"
        )
    base = (after_bound if after else error_bound)(g, unit, words, c, d)
    bits, p = int(design.fraction_bits or 0), design.rho.fraction_bits
    if design.rho.mode not in (*NEAREST, "RZ", "RO"):
        raise InputError(
            f"expected a conversion to nearest or toward zero, or to odd, for claim relative-error, "
            f"but got {design.conversion}"
        )
    if len(base.blocks) != 1:
        raise InputError(f"expected one block, but {unit.name} has {len(base.blocks)}")
    product_bits = base.terms[0].fraction_bits
    if bits < max(p, product_bits):
        raise InputError(
            f"expected at least {max(p, product_bits)} fraction bits for claim relative-error, but got {bits}"
        )
    terms = base.terms[:-1] if zero_c else base.terms
    share, kept, loss = _losses(unit, len(words), zero_c)
    constant = relative_constant(unit, unit.k, zero_c=zero_c)
    if (together := _tied(unit, unit.k, zero_c)) is not None:
        kept, loss = together.kept, together.loss
    normal = tuple(
        tuple(g.or_(g.is_zero(x.significand), g.top(x.significand)) for x in t.factors) for t in terms
    )
    attained = g.or_(*(at(g, t, base.e) for t in terms)) if len(terms) > 1 else at(g, terms[0], base.e)
    more, spare = max(kept, Fraction(0)), max(-kept, Fraction(0))
    return RelativeBound(
        base, zero_c, constant, more, spare, share, loss, normal, attained,
        _known(g, base.terms[-1].factors[0], relative_sum(unit, zero_c=zero_c)),
        # What is lost for being flushed counts twice: a part of it is lost of the bound itself.
        2 * (base.flushed if isinstance(base, AfterBound) else _flushed(unit)),
        together,
        _gain(unit, unit.k, zero_c),
    )  # fmt: skip


def _flushed(unit: UnitSpec) -> Fraction:
    """What a result loses that is made 0 because it is tiny, of sums that remember what was cut off."""
    sticky = unit.design.lost_bits == "sticky" and unit.design.result_subnormals == "tiny_zero"
    return Fraction(2) ** unit.operands.d.e_min if sticky else Fraction(0)


def _losses(unit: UnitSpec, products: int, zero_c: bool) -> tuple[Fraction, Fraction, Fraction]:
    """How much of an ulp the conversion loses, how many units of 2^(E - F) the sum besides, and one product.

    All terms but the largest lose up to a unit, of products what `product_loss` says, which is the largest
    where that loses less; a sum that is cut, or rounded to odd, loses a unit less than an ulp.
    """
    nearest, loss = unit.design.rho.mode in NEAREST, product_loss(unit, zero_c=zero_c)
    share, cut = (Fraction(1, 2), 0) if nearest else (Fraction(1), 1)
    largest = loss if zero_c else min(loss, Fraction(1))
    return share, products * loss + (not zero_c) - largest - cut, loss


def relative_constant(unit: UnitSpec, products: int, *, zero_c: bool) -> Fraction:
    """What the error of a block is at most, in units of Σ|a_k·b_k| + |c|.

    (K·2^-F + h·2^-p) / (1 - h·2^-p): with m products of which each loses λ units at most, and c one unless it
    is zero, K = (m - 1)·λ + 1 - 1, or 0 where that is negative, and h = 1 for sums cut to p bits, K =
    (m - 1)·λ + 1 and h = 1/2 for those rounded to nearest.  Where losses are tied to what is kept, what
    `Tied.most` says.
    """
    found = _tied(unit, products, zero_c) or _gain(unit, products, zero_c)
    return _plain(unit, products, zero_c) if found is None else found.most


def beside_constant(unit: UnitSpec, products: int) -> Fraction:
    """What the error of a block is at most in units of Σ|a_k·b_k| where c has `relative_constant`."""
    found = _tied(unit, products, False)
    return _plain(unit, products, False) if found is None else found.most_beside


def _plain(unit: UnitSpec, products: int, zero_c: bool) -> Fraction:
    """The constant of sums whose losses are counted one by one."""
    share, kept, _ = _losses(unit, products, zero_c)
    bits, p = int(unit.design.fraction_bits or 0), unit.design.rho.fraction_bits
    ulp = share * Fraction(1, 1 << p)
    return (max(kept, Fraction(0)) / (1 << bits) + ulp) / (1 - ulp)


def _tied(unit: UnitSpec, products: int, zero_c: bool) -> Tied | None:
    """What is kept and lost together where the bound is so visibly less."""
    if product_loss(unit, zero_c=zero_c) in (0, 1):
        return None
    found = tied(unit, products, zero_c=zero_c)
    if found is None or found.most > _plain(unit, products, zero_c) * (1 - _WORTH):
        return None
    return found


def at(g: Graph, t: StatedTerm, e: Node) -> Node:
    """Whether a term is not zero and has the exponent E."""
    return g.and_(t.nonzero, g.eq(t.code, e))


def relative_sum(unit: UnitSpec, *, zero_c: bool) -> StatedSum:
    """Which exact sum the statement about a unit is about.

    Of c it speaks where that is zero, or has no more bits than a result, so that c alone is one.
    """
    if zero_c:
        return normal_sum(unit, c=NO_C)
    p = unit.design.rho.fraction_bits
    longer = not unit.design.framed and unit.operands.c.fraction_bits > p
    return normal_sum(unit, c_bits=p if longer else None)


def _known(g: Graph, c: Encoded, stated: StatedSum) -> Node:
    """That c is zero, or that it has no more fraction bits than the sum's may have."""
    if stated.c == NO_C:
        return g.is_zero(c.significand)
    if stated.c_bits is None:
        return g.truth(True)
    return g.is_zero(g.extract(c.significand, c.fmt.fraction_bits - stated.c_bits - 1, 0))


def _gain(unit: UnitSpec, products: int, zero_c: bool) -> OddGain | None:
    """What a sum rounded to odd gains at most, where that is so visibly less than all could."""
    if not zero_c or product_loss(unit, zero_c=True) != 1:
        return None
    found = odd_gain(unit, products)
    return found if found is not None and found.most < _plain(unit, products, zero_c) * (1 - _WORTH) else None
