"""Splits: a single-precision value as the sum of two half-precision ones, the remainder scaled or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tcformal.checks import check_choice
from tcformal.design.arithmetic import NVIDIA_NAN, fma_chain
from tcformal.design.rounding import Conversion
from tcformal.formats.catalog import FORMATS
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.pack import pack
from tcformal.semantics.sums.step import convert_number, fused_sum
from tcformal.semantics.unpack import unpack

HALF, SINGLE = FORMATS["fp16"], FORMATS["fp32"]

#: How a split may round: what its text and its authors' script do, and what hardware converts by default.
SPLIT_ROUNDINGS = ("RNE", "RZ")
#: log2 of the factor by which Ootomo and Yokota scale a remainder before it is rounded.
SCALE_BITS = 11
#: Additions outside the unit: one IEEE sum rounded once, as an FFMA or FADD of the same GPU.
OUTSIDE = fma_chain(fmt="fp32", nan_word=NVIDIA_NAN["fp32"])


@dataclass(frozen=True, slots=True)
class Split:
    """One value in parts.

    Shapes: raw encodings u[16] of fp16.
    """

    #: hi = fp16(v)
    high: Node
    #: lo = fp16(v - hi)
    low: Node
    #: lo' = fp16((v - hi) · 2^11)
    scaled: Node


def split(g: Graph, word: Node, rounding: str) -> Split:
    """Split an fp32 encoding, each part rounded by `rounding`.

    Shapes: u[32] -> three of u[16].
    Ranges and units: v - hi is exact and rounded once.  On a GPU it is an fp32 subtraction, exact as
    well unless hi has overflowed or been clipped (|v| >= 2^16).
    Zero, NaN, Inf: IEEE 754 throughout: Inf or an overflow leaves -Inf or NaN as the remainder.
    Errors: UnknownNameError for another rounding.
    Source: OOTOMO equations 18 to 21; VALPEY §6.
    """
    check_choice("split rounding", rounding, SPLIT_ROUNDINGS)
    half = Conversion(rounding, HALF.exponent_bits, HALF.fraction_bits)
    value = unpack(g, word, SINGLE)
    with g.scope("high"):
        high = convert_number(g, value, OUTSIDE, half).result
    minus = replace(high, term=replace(high.term, sign=g.not_(high.term.sign)))
    with g.scope("low"):
        low = fused_sum(g, [value, minus], OUTSIDE, half).result
    with g.scope("scaled"):
        up = [scaled(value, SCALE_BITS), scaled(minus, SCALE_BITS)]
        remainder = fused_sum(g, up, OUTSIDE, half).result
    nan = g.const(NVIDIA_NAN["fp16"], HALF.width)
    return Split(*(pack(g, part, HALF, nan) for part in (high, low, remainder)))


def scaled(x: Number, bits: int) -> Number:
    """The number times 2^bits, exactly: only the offset of its exponent moves."""
    return replace(x, term=replace(x.term, exponent=x.term.exponent.shifted(bits)))
