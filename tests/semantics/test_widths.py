"""Widths are as narrow as they can be and no narrower: the largest sums, and the carries out of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sampled import one_in
from tcformal.backends.concrete import Concrete
from tcformal.design.rounding import MODES, Conversion
from tcformal.design.spec import Products
from tcformal.encodings.catalog import FORMATS
from tcformal.ir.build import Graph
from tcformal.semantics.align import distance_below, effective_exponents, largest_exponent
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.product import grouped_products, product
from tcformal.semantics.reduce import align_all, sum_of_aligned
from tcformal.semantics.round import convert
from tcformal.semantics.stages import Total
from tcformal.semantics.sums import windows
from tcformal.semantics.unpack import unpack

#: Addends of one sum: around the powers of two at which a sum takes another bit, up to 64 and c.
COUNTS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65)


def largest_products(g: Graph, name: str, count: int, sign: int) -> list[Number]:
    """The product of the largest number of a format and itself, `count` times, of one sign."""
    fmt = FORMATS[name]
    a = unpack(g, g.const(fmt.largest, fmt.width), fmt)
    b = unpack(g, g.const(fmt.largest | sign << (fmt.width - 1), fmt.width), fmt)
    return [product(g, a, b) for _ in range(count)]


def full(g: Graph, width: int, sign: int, exponents: tuple[int, int]) -> Term:
    """A significand of ones at the highest of some exponents."""
    low, high = exponents
    code = g.const(high - low, max(1, (high - low).bit_length()))
    ones = g.const((1 << width) - 1, width)
    return Term(g.const(sign, 1), ones, Exponent(code, low, high), width - 1, g.truth(False))


def value(g: Graph, total: Total) -> Fraction:
    """What a total of constants stands for."""
    raw, code = Concrete(g, [total.bits, total.e_max.bits])({})
    signed = raw - (raw >> (total.bits.width - 1) << total.bits.width)
    return signed * Fraction(2) ** (code + total.e_max.low - total.fraction_bits)


def number(g: Graph, x: Term) -> Fraction:
    """What a term of constants stands for."""
    sign, raw, code = Concrete(g, [x.sign, x.significand, x.exponent.bits])({})
    return (-raw if sign else raw) * Fraction(2) ** (code + x.exponent.low - x.fraction_bits)


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["e2m1", "e4m3", "fp16"])
def test_a_group_holds_its_largest_sum(name: str, count: int, sign: int) -> None:
    g = Graph()
    members = largest_products(g, name, count, sign)
    (total,), _ = grouped_products(g, members, Products(products=count, group=count), None, 0)
    assert number(g, total.term) == count * number(g, members[0].term)


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["e2m1", "e4m3", "fp16"])
def test_a_fixed_window_holds_its_largest_sum(name: str, count: int, sign: int) -> None:
    """All products together, beside a c of zero and beside one as large as they are."""
    g = Graph()
    products = [x.term for x in largest_products(g, name, count, sign)]
    window = windows.fixed_sum(g, products)
    assert number(g, window) == count * number(g, products[0])
    total = windows.exact_total(g, [*products, products[0]], 24)
    assert value(g, total) == (count + 1) * number(g, products[0])


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("rounding", MODES)
@pytest.mark.parametrize("accumulation", ["twos_complement", "sign_magnitude"])
@pytest.mark.parametrize("count", one_in(3, COUNTS[:-3]))
def test_an_aligned_sum_holds_its_largest_value(
    count: int, accumulation: str, rounding: str, sign: int
) -> None:
    """Significands of ones, cut by rounding up among others: all of one sign, at one exponent."""
    for width, bits in ((4, 2), (4, 3), (3, 5), (8, 1)):
        g = Graph()
        terms = [full(g, width, sign, (-3, 4)) for _ in range(count)]
        exponents = effective_exponents(g, terms, "none")
        e_max = largest_exponent(g, exponents)
        aligned = align_all(g, terms, exponents, e_max, bits, rounding)
        total = sum_of_aligned(g, terms, aligned, e_max, bits, accumulation=accumulation)
        (one,) = Concrete(g, [aligned[0][1]])({})
        assert Concrete(g, [distance_below(g, exponents[0], e_max)])({}) == [0]
        assert value(g, total) == (-1) ** sign * count * one * Fraction(2) ** (4 - bits)


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("top", range(-2, 40))
def test_a_carry_out_of_the_largest_exponent_overflows(top: int, sign: int) -> None:
    """Eight ones that round up to a power of two, whose exponent may need another bit than its code."""
    target = Conversion("RNE", 3, 2)
    g = Graph()
    low = target.e_min - 7
    code = g.const(top - 7 - low, max(1, (top - 7 - low).bit_length()))
    x = convert(
        g, g.const(sign, 1), g.const(255, 8), Exponent(code, low, top - 7), target, overflow="infinity"
    ).result
    inf, significand, exponent = Concrete(g, [x.inf, x.term.significand, x.term.exponent.bits])({})
    assert inf == (top + 1 > target.e_max)
    if not inf:
        assert (significand, exponent + target.e_min) == (4, top + 1)
