"""The statement of claim `error-bound`: how far a result can be from the exact sum of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import ABOVE, AT_LEAST, Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, Encoded, encoded, exponent_code
from tcformal.theory.stated_sum import StatedSum


@dataclass(frozen=True, slots=True)
class StatedTerm:
    """One term of the exact sum: the product of some words.

    Shapes: code u[CODE_BITS] is OFFSET + the sum of their exponents; nonzero u[1].
    """

    name: str
    factors: tuple[Encoded, ...]
    code: Node
    nonzero: Node

    @property
    def value(self) -> Poly:
        """The exact value."""
        total = Poly.constant(1)
        for x in self.factors:
            total = total * x.value
        return total

    @property
    def fraction_bits(self) -> int:
        """Fraction bits of the exact product of the significands."""
        return sum(x.fmt.fraction_bits for x in self.factors)


@dataclass(frozen=True, slots=True)
class BlockBound:
    """What one block adds to the bound: units · 2^(E + reach - F), and ulps of its result.

    Ranges and units: the block's c has an exponent of at most E + reach, its result one of at most E + grown.
    """

    terms: int
    units: int | Fraction
    reach: int
    grown: int


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """The statement as data: every conclusion holds wherever all hypotheses are 1.

    Shapes: E u[CODE_BITS] is an input of its own, so that the statement speaks of every value of it.
    """

    unit: UnitSpec
    graph: Graph
    result: Node
    e: Node
    terms: tuple[StatedTerm, ...]
    d: Encoded
    hypotheses: tuple[Node, ...]
    #: The hypothesis about E of each term, and that about its least value.
    limits: tuple[Node, ...]
    floor: Node
    blocks: tuple[BlockBound, ...]
    bound: Poly
    relation: str
    least: int
    ulps: Fraction

    @property
    def sum(self) -> StatedSum:
        """Which exact sum it is about: every operand as it is encoded."""
        return StatedSum(c=self.unit.design.c_position)

    @property
    def error(self) -> Poly:
        """d less the exact sum."""
        total = self.d.value
        for x in self.terms:
            total = total - x.value
        return total

    @property
    def conclusions(self) -> tuple[tuple[str, Poly], ...]:
        """The bound less the error, and the bound plus the error."""
        return (self.relation, self.bound - self.error), (self.relation, self.bound + self.error)

    @property
    def roots(self) -> tuple[Node, ...]:
        """Every node that the statement names."""
        found = {
            n for _, p in self.conclusions for atoms, ex in p.terms for n in (*atoms, *(x for x, _ in ex))
        }
        return (*sorted(found, key=lambda n: n.index), *self.hypotheses, self.result)

    def __str__(self) -> str:
        o, f = self.unit.operands, self.unit.design.fraction_bits
        p = self.unit.design.rho.fraction_bits
        scale = f" and the scales {self.unit.scale_format}" if self.unit.scale_format is not None else ""
        product = "a_k·b_k" + (" (with both scales)" if scale else "")
        parts = []
        for i, x in enumerate(self.blocks):
            last = i == len(self.blocks) - 1
            own = "ulp(d)" if last else f"2^(E{x.grown - p:+d})"
            ulps = own if self.ulps == 1 else f"{own}/2"
            parts.append(f"{x.units}·2^(E{x.reach - (f or 0):+d}) + {ulps}")
        sign = "<" if self.relation == ABOVE else "<="
        words = ", ".join(f"{x}_0…{x}_{self.unit.k - 1} ({o.names()[x]})" for x in "ab")
        return (
            f"for all encodings {words}, c ({o.c}){scale}, with d ({o.d}) what the unit makes of them, all "
            f"of them and d finite, and every integer E from {self.least} to {(1 << CODE_BITS) - 1 - OFFSET} "
            f"that is at least the exponent of c and of every {product}, those that are zero left out: "
            f"|d - (Σ {product} + c)| {sign} {' + '.join(parts)}; the exponent of a word is max(field, 1) - "
            f"bias, that of a product the sum of its factors', and ulp(d) = 2^(exponent of d - {p})"
        )


def require_products(
    unit: UnitSpec, claim: str, *, groups: bool = False, normalised: bool = False, pieces: bool = False
) -> None:  # fmt: skip
    """Refuse units whose sums are not truncated ones of whole products, as they are encoded, and c.

    Where it is asked for, sums of `groups` of products may be the terms, subnormal factors `normalised`, and
    factors cut into `pieces`.
    """
    design = unit.design
    if design.fraction_bits is None or unit.emulation is not None:
        other = "one fused sum of products and c", f"{unit.name} is composed of others"
    elif design.framed:
        other = "terms aligned at one exponent", f"{unit.name} aligns c apart from the products"
    elif design.c_position != "joined":
        other = "c among the terms of the fused sum", f"{unit.name} adds it to the products' sum"
    elif design.group is not None and not groups:
        other = "products as terms", f"those of {unit.name} are sums of groups"
    elif design.piece_bits is not None and not pieces:
        other = "whole products as terms", f"{unit.name} cuts factors into pieces of {design.piece_bits} bits"
    elif design.normalise_operands and not normalised:
        other = "exponents as they are encoded", f"{unit.name} normalises subnormal factors"
    else:
        return
    raise InputError(f"expected {other[0]} for claim {claim}, but {other[1]}")


def error_bound(g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node) -> ErrorBound:
    """The statement about the node d of a graph as a function of input words.

    Shapes: words: for each product the words that it is the product of: a_k, b_k, and its scales.
    Errors: InputError for a unit whose statement is not written here.
    """
    design, o = unit.design, unit.operands
    require_products(unit, "error-bound", normalised=True, pieces=True)
    zero = design.zero_exponent
    bits, least = int(design.fraction_bits or 0), o.d.e_min
    if zero == "none":
        # The least exponent that a term can have.
        zero = min(-o.c.bias, -o.a.bias - o.b.bias)
    if not isinstance(zero, int) or zero > least:
        raise InputError(
            f"expected zero terms with an exponent of at most {least}, that of the least normal {o.d}, "
            f"for claim error-bound, but got zero_exponent={zero}"
        )
    scale = () if unit.scale_format is None else (unit.scale_format,) * 2
    formats = (o.a, o.b, *scale)
    terms = []
    for k, row in enumerate(words):
        factors = [encoded(g, word, fmt) for word, fmt in zip(row, formats, strict=True)]
        terms.append(_term(g, f"a[{k}]·b[{k}]", factors))
    terms.append(_term(g, "c", [encoded(g, c, o.c)]))
    made = encoded(g, d, o.d)
    e = g.input("E", CODE_BITS)
    floor = g.ule(g.const(least + OFFSET, CODE_BITS), e)
    limits = tuple(g.or_(g.not_(t.nonzero), g.ule(t.code, e)) for t in terms)
    finite = [x.finite for t in terms for x in t.factors] + [made.finite]
    hypotheses = tuple(dict.fromkeys(x for x in (*finite, *limits, floor) if x.op != "const"))
    ulps = Fraction(1, 2) if design.rho.mode in ("RNE", "RNA") else Fraction(1)
    blocks = _blocks(unit, sum(x.fraction_bits for x in formats), len(formats), ulps)
    bound, p = Poly.constant(0), design.rho.fraction_bits
    power = Poly.of(e) - Poly.constant(OFFSET)
    for i, x in enumerate(blocks):
        bound = bound + (power + Poly.constant(x.reach - bits)).power_of_two() * x.units
        last = i == len(blocks) - 1
        ulp = made.weight(p) if last else (power + Poly.constant(x.grown - p)).power_of_two()
        bound = bound + ulp * ulps
    return ErrorBound(
        unit, g, d, e, tuple(terms), made, hypotheses, limits, floor, tuple(blocks), bound,
        ABOVE if ulps == 1 else AT_LEAST, least, ulps,
    )  # fmt: skip


def pieces_of(unit: UnitSpec) -> tuple[int, ...]:
    """The places of the terms that a product is in the sum: of the products of pieces of its factors.

    Ranges and units: in pieces above the lowest bit; those left out are among them.
    """
    bits, o = unit.design.piece_bits, unit.operands
    if bits is None:
        return (unit.design.dropped_pieces,)
    counts = [range(-(-f.precision // bits)) for f in (o.a, o.b)]
    return tuple(i + j for i in counts[0] for j in counts[1])


def left_out(unit: UnitSpec) -> Fraction:
    """Units that a block loses by products of the lowest pieces that are left out, each below 2^(2·bits)."""
    design, o = unit.design, unit.operands
    size, lowest = design.piece_bits or 0, o.a.fraction_bits + o.b.fraction_bits
    lost = [x * size for x in pieces_of(unit) if x < design.dropped_pieces]
    each = sum((Fraction(2) ** (2 * size + x) for x in lost), Fraction(0))
    return each * min(unit.k, design.products) * Fraction(2) ** (int(design.fraction_bits or 0) - lowest)


def _term(g: Graph, name: str, factors: list[Encoded]) -> StatedTerm:
    nonzero = g.and_(*(g.any_bit(x.significand) for x in factors))
    return StatedTerm(name, tuple(factors), exponent_code(g, factors), nonzero)


def _blocks(unit: UnitSpec, product_bits: int, factors: int, ulps: Fraction) -> list[BlockBound]:
    """How the bound grows from block to block.

    With all terms of a sum below 2^(factors) and 2 at 2^E, a result whose exponent were above E + grown
    would be larger than the sum of everything before it with all errors so far.
    """
    design = unit.design
    bits, p = int(design.fraction_bits or 0), design.rho.fraction_bits
    length = min(unit.k, design.products)
    made: list[BlockBound] = []
    error, reach = Fraction(0), 0
    for i in range(unit.k // length):
        c_bits = p if i else unit.operands.c.fraction_bits
        terms = length * sum(x >= design.dropped_pieces for x in pieces_of(unit)) + 1
        units = terms - (max(product_bits, c_bits) <= bits) + left_out(unit)
        error += Fraction(units) * Fraction(2) ** (reach - bits)
        most = 2 + Fraction((i + 1) * length) * 2**factors + error
        grown = reach
        while most >= Fraction(2) ** (grown + 1) * (1 - ulps / 2**p):
            grown += 1
        error += ulps * Fraction(2) ** (grown - p)
        made.append(BlockBound(terms, units, reach, grown))
        reach = grown
    return made
