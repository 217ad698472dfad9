"""The values between stages: exponents with static ranges, terms, and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.build import Graph
from tcformal.ir.node import Node


def bits_for(largest: int) -> int:
    """The number of bits that represent all integers from 0 to `largest`, at least one."""
    return max(1, largest.bit_length())


@dataclass(frozen=True, slots=True)
class Exponent:
    """A signed exponent in offset (biased) code, with a static range.

    Shapes: bits u[w], w just wide enough for `high - low`.
    Ranges and units: exponent = bits + low, in [low, high] for every finite value; both bounds are
    known while the circuit is built.
    """

    bits: Node
    low: int
    high: int

    def rebased(self, g: Graph, low: int, high: int) -> Node:
        """The code of the exponent under another offset, for low <= self.low and high >= self.high."""
        width = bits_for(max(high, self.high) - low)
        wide = g.zero_extend_to(self.bits, max(width, self.bits.width))
        moved = g.add_mod(wide, g.const(self.low - low, wide.width))
        return _kept(g, moved, width)

    def plus(self, g: Graph, other: Exponent) -> Exponent:
        """The sum of two exponents."""
        low, high = self.low + other.low, self.high + other.high
        total = g.add_expand(self.bits, other.bits)
        return Exponent(_kept(g, total, bits_for(high - low)), low, high)

    def negated(self, g: Graph) -> Exponent:
        """The negated exponent."""
        top = g.const(self.high - self.low, self.bits.width)
        return Exponent(g.sub_mod(top, self.bits), -self.high, -self.low)

    def raised(self, g: Graph, low: int) -> Exponent:
        """The exponent in a narrower code, where it is known to be at least `low`."""
        floor = g.const(low - self.low, self.bits.width)
        g.invariant(lambda: g.ule(floor, self.bits), f"an exponent is at least {low}")
        moved = g.sub_mod(self.bits, floor)
        return Exponent(_kept(g, moved, bits_for(self.high - low)), low, self.high)

    def shifted(self, by: int) -> Exponent:
        """The exponent plus a constant: only the offset changes."""
        return Exponent(self.bits, self.low + by, self.high + by)

    def bounded(self, g: Graph) -> Node:
        """The node that is 1 where the exponent lies in [low, high]."""
        span = self.high - self.low
        return g.truth(True) if span >> self.bits.width else g.ule(self.bits, g.const(span, self.bits.width))


def _kept(g: Graph, code: Node, width: int) -> Node:
    """The low bits of an exponent's code whose high bits are known to be zero."""
    if width < code.width:
        g.invariant(
            lambda: g.is_zero(g.extract(code, code.width - 1, width)),
            "what is cut off an exponent's code is zero",
        )
    return g.extract(code, width - 1, 0)


@dataclass(frozen=True, slots=True)
class Term:
    """A finite addend in sign and magnitude.

    Shapes: sign u[1], significand u[n], zero u[1].
    Ranges and units: value = (-1)^sign · significand · 2^(exponent - fraction_bits); the
    significand may be unnormalised (XIE §4.1.3: products lie in [0, 4), subnormals in [0, 1)).
    Zero, NaN, Inf: `zero` is 1 exactly when the significand is 0; the exponent then is the
    encoding's own.  NaN and Inf are not terms.
    """

    sign: Node
    significand: Node
    exponent: Exponent
    fraction_bits: int
    zero: Node
    #: The two significands that this one is the product of, where it is one.
    factors: tuple[Node, ...] = ()
    #: Whether it is a sum that keeps the exponent of its largest term.
    framed: bool = False

    @property
    def weight_bits(self) -> int:
        """The number of significand bits above the binary point."""
        return self.significand.width - self.fraction_bits


@dataclass(frozen=True, slots=True)
class Number:
    """A term with flags for NaN and Inf.

    Zero, NaN, Inf: where `nan` or `inf` is 1 the magnitude of `term` means nothing; the sign of an
    Inf is the term's sign.  `nan` and `inf` are never both 1.
    """

    term: Term
    nan: Node
    inf: Node


def finite(g: Graph, numbers: Sequence[Number]) -> Node:
    """The node that is 1 where no number is NaN or Inf."""
    return g.not_(g.or_(g.truth(False), *(flag for x in numbers for flag in (x.nan, x.inf))))
