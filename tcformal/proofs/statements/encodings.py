"""Values of encodings as formulas: what a word of a format stands for, exactly."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.formats.spec import Format, Sign, Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly

#: Exponents as codes of so many bits: exponent + OFFSET.
CODE_BITS, OFFSET = 13, 1 << 12


@dataclass(frozen=True, slots=True)
class Encoded:
    """The fields of a word.

    Shapes: sign u[1], significand u[fmt.precision], exponent u[fmt.exponent_bits], finite u[1].
    Ranges and units: a finite word has the value
    (-1)^sign · significand · 2^(exponent - fmt.bias - fmt.fraction_bits).
    """

    fmt: Format
    sign: Node
    significand: Node
    exponent: Node
    finite: Node

    @property
    def value(self) -> Poly:
        """The exact value."""
        magnitude = Poly.of(self.significand) * self.weight(self.fmt.fraction_bits)
        return (Poly.constant(1) - Poly.of(self.sign) * 2) * magnitude

    def weight(self, fraction_bits: int) -> Poly:
        """2^(the word's exponent - fraction_bits)."""
        return (Poly.of(self.exponent) - Poly.constant(self.fmt.bias + fraction_bits)).power_of_two()


def encoded(g: Graph, word: Node, fmt: Format) -> Encoded:
    """The fields of a word of `fmt`; the exponent of a subnormal is that of the least normal number.

    Source: IEEE 754 §3.4; OCP OFP8 and OCP MX.
    """
    low = fmt.ignored_low_bits
    cut, end = low + fmt.fraction_bits, low + fmt.fraction_bits + fmt.exponent_bits
    field = g.extract(word, end - 1, cut)
    sign = g.bit(word, end) if fmt.sign is Sign.PRESENT else g.truth(False)
    normal = g.any_bit(field) if fmt.has_zero else g.truth(True)
    significand, exponent = normal, field
    fraction_zero = fraction_ones = g.truth(True)
    if fmt.fraction_bits:
        fraction = g.extract(word, cut - 1, low)
        significand = g.concat(normal, fraction)
        fraction_zero = g.is_zero(fraction)
        fraction_ones = g.eq(fraction, g.const((1 << fmt.fraction_bits) - 1, fmt.fraction_bits))
    if not fmt.subnormals:
        significand = g.ite(normal, significand, g.const(0, significand.width))
    if fmt.has_zero:
        exponent = g.or_(field, g.zero_extend_to(g.not_(normal), field.width))
    ones = g.eq(field, g.const((1 << fmt.exponent_bits) - 1, fmt.exponent_bits))
    other = {
        Specials.IEEE: ones,
        Specials.ALL_ONES_NAN: g.and_(ones, fraction_ones),
        Specials.NEGATIVE_ZERO_NAN: g.and_(g.and_(g.not_(normal), fraction_zero), sign),
        Specials.NONE: g.truth(False),
    }[fmt.specials]
    return Encoded(fmt, sign, significand, exponent, g.not_(other))


def below(g: Graph, x: tuple[Node, Node, Node], y: tuple[Node, Node, Node]) -> Node:
    """Whether x < y as numbers: u[1].

    Shapes: sign u[1], exponent u[e], significand u[m] of each, all exponents with one offset.
    Ranges and units: a significand has its leading bit, or its exponent is the least one.
    Zero: zeros of both signs are equal.
    """
    (s, *of_x), (t, *of_y) = x, y
    one, two = (g.concat(e, m) for e, m in (of_x, of_y))
    some = g.or_(g.any_bit(x[2]), g.any_bit(y[2]))
    return g.ite(s, g.ite(t, g.ult(two, one), some), g.and_(g.not_(t), g.ult(one, two)))


def exponent_code(g: Graph, factors: list[Encoded]) -> Node:
    """OFFSET + the sum of the exponents of some words: u[CODE_BITS]."""
    total = g.const(OFFSET - sum(x.fmt.bias for x in factors), CODE_BITS)
    for x in factors:
        total = g.add_mod(total, g.zero_extend_to(x.exponent, CODE_BITS))
    return total
