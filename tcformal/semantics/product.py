"""Exact products: unnormalised, exponents added, with block scales on products or on groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcformal.design.spec import Products
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import all_of, any_of, lowered
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.reduce import add_signed, shifted_up, signed_magnitude, split_sign
from tcformal.semantics.stages import GroupSum
from tcformal.semantics.unpack import unpack


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """The unpacked block scales of one dot product.

    Shapes: a, b: one raw encoding of `fmt` per `block` consecutive k.
    """

    fmt: Format
    block: int
    a: Sequence[Node]
    b: Sequence[Node]

    def of(self, g: Graph, k: int) -> tuple[Number, Number]:
        """The unpacked scales of element k."""
        i = k // self.block
        return unpack(g, self.a[i], self.fmt), unpack(g, self.b[i], self.fmt)


def product(g: Graph, a: Number, b: Number) -> Number:
    """The exact product of two numbers.

    Shapes: significands u[p], u[q] -> u[p + q].
    Ranges and units: significand in [0, 4), exponent the sum of the operands' exponents.
    Zero, NaN, Inf: NaN where an operand is NaN or one is Inf and the other zero; Inf where an
    operand is Inf otherwise; the sign of a zero product is the exclusive or of the signs.
    Source: XIE Algorithm 7, step 1, and §4.2.
    """
    sign = g.xor(a.term.sign, b.term.sign)
    significand, factors = _multiply(g, a.term, b.term)
    term = Term(
        sign=sign,
        significand=significand,
        exponent=a.term.exponent.plus(g, b.term.exponent),
        fraction_bits=a.term.fraction_bits + b.term.fraction_bits,
        zero=g.or_(a.term.zero, b.term.zero),
        factors=factors,
    )
    inf_times_zero = g.or_(g.and_(a.inf, b.term.zero), g.and_(a.term.zero, b.inf))
    nan = g.or_(a.nan, b.nan, inf_times_zero)
    inf = g.and_(g.or_(a.inf, b.inf), g.not_(nan))
    return Number(term, nan, inf)


def with_bits(g: Graph, x: Number, first: int, last: int) -> Number:
    """A factor with some bits of its significand alone, at an exponent lowered by the number of the first.

    Shapes: significand u[n], its bits counted from the top -> u[last - first + 1], zeros below its own.
    Zero, NaN, Inf: a factor whose bits are zero is no zero term and keeps its exponent; NaN and Inf stay.
    Source: ttsim, mvmul and fpu_exp_prod_adj (fidelity phases).
    """
    term, count = x.term, last - first + 1
    wide = g.shift_left_const(term.significand, max(0, last + 1 - term.significand.width))
    top = wide.width - 1 - first
    taken = g.extract(wide, top, top - count + 1)
    moved = replace(term, significand=taken, exponent=term.exponent.shifted(-first), fraction_bits=count - 1)
    return replace(x, term=moved)


def in_pieces(g: Graph, x: Number, bits: int, dropped: int) -> list[Number]:
    """An exact product as a list of products of its factors' `bits`-bit pieces, lowest first.

    Ranges and units: each has the product's exponent and its own place below the binary point; those of
    pieces whose numbers add up to less than `dropped` are left out.
    Zero, NaN, Inf: a NaN or Inf is one in every piece.
    Source: Gaudi 3, fma_mul_add_tree_n (products of halves and of thirds).
    """
    term, rows = x.term, []
    for factor in term.factors:
        tops = range(0, factor.width, bits)
        rows.append([g.extract(factor, min(i + bits, factor.width) - 1, i) for i in tops])
    pieces = []
    for i, p in enumerate(rows[0]):
        for j, q in enumerate(rows[1]):
            if i + j >= dropped:
                placed = g.shift_left_const(g.mul_expand(p, q), bits * (i + j))
                whole = g.zero_extend_to(placed, term.significand.width)
                pieces.append(
                    replace(x, term=replace(term, significand=whole, zero=g.is_zero(whole), factors=()))
                )
    return pieces


def _multiply(g: Graph, x: Term, y: Term) -> tuple[Node, tuple[Node, ...]]:
    """The exact significand product and its factors; a pure power-of-two scale has significand 1."""
    for one, other in ((x.significand, y), (y.significand, x)):
        if one.op == "const" and one.width == 1 and one.params[1] == 1:
            return other.significand, other.factors
    return g.mul_expand(x.significand, y.significand), (x.significand, y.significand)


def scaled_products(g: Graph, products: Sequence[Number], scales: Scales, start: int) -> list[Number]:
    """Each product times its two scales: exponents added, significands multiplied.

    Shapes: products of k = start, start + 1, … -> as many numbers.
    Zero, NaN, Inf: a NaN scale makes NaN, of a zero product too.
    Source: XIE Algorithm 8 (ST-FDPA).
    """
    result = []
    for i, x in enumerate(products):
        alpha, beta = scales.of(g, start + i)
        result.append(product(g, product(g, x, alpha), beta))
    return result


def grouped_products(
    g: Graph, products: Sequence[Number], design: Products, scales: Scales | None, start: int
) -> tuple[list[Number], list[GroupSum]]:
    """The exact scaled sum of each group of products, one term per group.

    Shapes: L products -> L / group numbers, and the sums before they are scaled.
    Ranges and units: the significand is the group's sum in units of its lowest weight times the
    scales' significands; the exponent is the sum of the scales' exponents, 0 without scales, and the
    design's group_exponent.
    Zero, NaN, Inf: `zero` where a scale's significand is zero or, unless zero_group says otherwise, every
    product of the group; a group that merely sums to zero keeps its exponent.
    Source: XIE Algorithm 9 (GST-FDPA); MMA-Sim 2.1.1 (what counts as zero); CUTE, ccode/fmac.h (nvfp4mac).
    """
    group = design.group or 1
    result, sums = [], []
    for first in range(0, len(products), group):
        members = products[first : first + group]
        with g.scope(f"group{first // group}"):
            total, group_sum = _group_sum(g, members)
        sums.append(group_sum)
        if design.zero_group == "scale":
            total = replace(total, term=replace(total.term, zero=g.truth(False)))
        if scales is not None:
            alpha, beta = scales.of(g, start + first)
            total = product(g, total, product(g, alpha, beta))
        result.append(replace(total, term=lowered(total.term, -design.group_exponent)))
    return result, sums


def _group_sum(g: Graph, members: Sequence[Number]) -> tuple[Number, GroupSum]:
    """The exact fixed-point sum of narrow-format products."""
    terms = [x.term for x in members]
    lowest = min(t.exponent.low - t.fraction_bits for t in terms)
    highest = max(t.exponent.high + t.weight_bits for t in terms)
    width = highest - lowest
    placed = []
    for t in terms:
        up = t.exponent.shifted(-t.fraction_bits).rebased(g, lowest, t.exponent.high)
        placed.append(shifted_up(g, g.zero_extend_to(t.significand, max(width, t.significand.width)), up))
    addends = [signed_magnitude(g, t.sign, x) for t, x in zip(terms, placed, strict=True)]
    total = add_signed(g, addends, width + 1 + len(terms).bit_length())
    g.label("total", total, signed=True, scale=-lowest)
    sign, magnitude = split_sign(g, total)
    zero = g.label("zero", all_of(g, [t.zero for t in terms]))
    group = GroupSum(g.here, total, -lowest, zero, tuple(terms), tuple(placed))
    positive = any_of(g, [g.and_(x.inf, g.not_(x.term.sign)) for x in members])
    negative = any_of(g, [g.and_(x.inf, x.term.sign) for x in members])
    nan = g.or_(any_of(g, [x.nan for x in members]), g.and_(positive, negative))
    infinite = g.and_(g.or_(positive, negative), g.not_(nan))
    sign = g.ite(infinite, negative, sign)
    unit = Exponent(g.const(0, 1), 0, 0)
    return Number(Term(sign, magnitude, unit, -lowest, zero), nan, infinite), group
