"""The statement of claim `error-bound` about CDNA3's sums, which round down (TR-FDPA and GTR-FDPA)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import AT_LEAST, Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, encoded, exponent_code
from tcformal.proofs.statements.error_bound import BlockBound, ErrorBound, StatedTerm
from tcformal.proofs.statements.product_loss import few_bits_loss
from tcformal.theory.stated_sum import NO_C, StatedSum


@dataclass(frozen=True, slots=True)
class RoundDownBound(ErrorBound):
    """The statement about sums of products that c is added to, both rounded down.

    A block's `units` are those that the products of one sum may lose, of few bits less than one each.
    `own`: a limit P of the exponents of
    products for each sum of a block, 1 or 2, inputs like E and at most E; two sums are rounded down where
    they meet, and a c far below them counts nothing.
    """

    own: tuple[Node, ...]
    #: That every P is at least the least normal exponent, and at most E.
    least_own: tuple[Node, ...]
    below: tuple[Node, ...]
    #: That c is zero, where it is supposed.
    no_c: Node | None
    #: Ulps of a result that its roundings may add, and take away.
    sides: tuple[Fraction, Fraction]
    #: What d may be above the exact sum; `bound` is what it may be below it.
    above: Poly

    @property
    def conclusions(self) -> tuple[tuple[str, Poly], ...]:
        """What d may be above less the error, and what it may be below plus the error."""
        return (self.relation, self.above - self.error), (self.relation, self.bound + self.error)

    @property
    def sum(self) -> StatedSum:
        """Which exact sum it is about: every operand as it is encoded, c supposed to be zero or not."""
        return StatedSum(c=self.unit.design.c_position if self.no_c is None else NO_C)

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """How many units of 2^(P - F), for each P, a block may add before it is rounded, and take away.

        Truncated products, both ways; a c that counts nothing; two sums, and c, that are rounded down.
        """
        units, sums = self.blocks[0].units, len(self.own)
        if self.no_c is not None:
            return Fraction(units), Fraction(units + sums - 1)
        return units + Fraction(sums - 1, 2), Fraction(units + sums)

    def lost(self, block: BlockBound) -> tuple[Poly, Poly]:
        """What a block may add before its result is rounded, and take away."""
        return _lost(self.e, self.own, self.shares, self.unit.design, block)

    def __str__(self) -> str:
        unit, design = self.unit, self.unit.design
        o, f, p = unit.operands, int(design.fraction_bits or 0), design.rho.fraction_bits
        wide, count = int(design.sum_fraction_bits or 0), len(self.blocks)
        more, less = (f"{x * count}" for x in self.shares)
        products = f"2^(P-{f})" if len(self.own) == 1 else f"(2^(P0-{f}) + 2^(P1-{f}))"
        low, high = [f"{less}·{products}"], [f"{more}·{products}"]
        for i, x in enumerate(self.blocks):
            ulp = "ulp(d)" if i == count - 1 else f"2^(E{x.grown - p:+d})"
            high.append(f"{ulp}/2")
            low += [f"2^(E{x.reach - wide:+d})", f"{ulp}·(1/2 + 2^-{wide - p})"]
        own = f"c ({o.c})" if self.no_c is None else "c = 0"
        words = ", ".join(f"{x}_0…{x}_{unit.k - 1} ({o.names()[x]})" for x in "ab")
        names = "P at least the exponent of every a_k·b_k" if len(self.own) == 1 else (
            "P0 and P1 at least the exponent of every a_k·b_k of even and of odd k"
        )  # fmt: skip
        return (
            f"for all encodings {words}, {own}, with d ({o.d}) what the unit makes of them, all of them "
            f"and d finite, and all integers from {self.least} to {(1 << CODE_BITS) - 1 - OFFSET}, {names}, "
            f"E at least these and the exponent of c, what is zero left out: "
            f"-({' + '.join(low)}) <= d - (Σ a_k·b_k + c) <= {' + '.join(high)}; the exponent of a word is "
            f"max(field, 1) - bias, that of a product the sum of its factors', and "
            f"ulp(d) = 2^(exponent of d - {p})"
        )


def round_down_bound(
    g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node, *, zero_c: bool = False
) -> RoundDownBound:
    """The statement about the node d of a graph as a function of input words.

    Shapes: words: for each product a_k and b_k.
    Ranges and units: `zero_c`: whether c is supposed to be zero, of units of one block.
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
    lowest = g.const(least + OFFSET, CODE_BITS)
    names = ("P",) if design.summation == "tr" else ("P0", "P1")
    products = tuple(g.input(name, CODE_BITS) for name in names)
    floor, least_own = g.ule(lowest, e), tuple(g.ule(lowest, x) for x in products)
    below = tuple(g.ule(x, e) for x in products)
    length = min(unit.k, design.products)
    if zero_c and length < unit.k:
        raise InputError(f"expected one block of products for c=0, but {unit.name} has {unit.k // length}")
    tops = [products[k % length % len(products)] for k in range(unit.k)]
    limits = tuple(
        g.or_(g.not_(t.nonzero), g.ule(t.code, top)) for t, top in zip(terms, [*tops, e], strict=True)
    )
    finite = [x.finite for t in terms for x in t.factors] + [made.finite]
    no_c = g.is_zero(own.significand) if zero_c else None
    known = (*finite, *limits, floor, *least_own, *below, *([] if no_c is None else [no_c]))
    hypotheses = tuple(dict.fromkeys(x for x in known if x.op != "const"))
    half = Fraction(1, 2)
    sides = (half, half + Fraction(1, 1 << (wide - design.rho.fraction_bits)))
    blocks = _blocks(unit, len(products), sides[1])
    stated = RoundDownBound(
        unit, g, d, e, tuple(terms), made, hypotheses, limits, floor, tuple(blocks), Poly.constant(0),
        AT_LEAST, least, sides[1], products, least_own, below, no_c, sides, Poly.constant(0),
    )  # fmt: skip
    above, under = Poly.constant(0), Poly.constant(0)
    p = design.rho.fraction_bits
    for i, x in enumerate(blocks):
        last = i == len(blocks) - 1
        ulp = made.weight(p) if last else (Poly.of(e) + Poly.constant(x.grown - p - OFFSET)).power_of_two()
        more, less = stated.lost(x)
        above, under = above + more + ulp * sides[0], under + less + ulp * sides[1]
    return replace(stated, bound=under, above=above)


def _lost(
    e: Node, own: Sequence[Node], shares: tuple[Fraction, Fraction], design: Design, x: BlockBound
) -> tuple[Poly, Poly]:
    bits, wide = int(design.fraction_bits or 0), int(design.sum_fraction_bits or 0)
    near = Poly.constant(0)
    for top in own:
        near = near + (Poly.of(top) - Poly.constant(bits + OFFSET)).power_of_two()
    # The sum of the products keeps more bits than c where c is the larger one.
    cut = (Poly.of(e) + Poly.constant(x.reach - wide - OFFSET)).power_of_two()
    return near * shares[0], near * shares[1] + cut


def _blocks(unit: UnitSpec, sums: int, ulps: Fraction) -> list[BlockBound]:
    """How the bound below, which is the larger one, grows from block to block (as that of `error_bound`)."""
    design = unit.design
    bits, wide = int(design.fraction_bits or 0), int(design.sum_fraction_bits or 0)
    p, length = design.rho.fraction_bits, min(unit.k, design.products)
    made: list[BlockBound] = []
    error, reach = Fraction(0), 0
    for i in range(unit.k // length):
        units = (length // sums - 1) * few_bits_loss(unit)
        error += (units + sums) * sums / (1 << bits) + Fraction(2) ** (reach - wide)
        most = 2 + Fraction((i + 1) * length) * 4 + error
        grown = reach
        while most >= Fraction(2) ** (grown + 1) * (1 - ulps / 2**p):
            grown += 1
        error += ulps * Fraction(2) ** (grown - p)
        made.append(BlockBound(length + 1, units, reach, grown))
        reach = grown
    return made
