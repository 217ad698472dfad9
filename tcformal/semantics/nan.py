"""NaN words: which operand's NaN each step of a chain or of a tile hands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.formats.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.unpack import unpack

#: The label of a candidate for a step's NaN word; its place in the order of priority and its name follow.
LABEL = "nan_from"


@dataclass(frozen=True, slots=True)
class Carried:
    """What one step hands to the next: a number, and the word it has where it is NaN."""

    number: Number
    nan_word: Node


@dataclass(frozen=True, slots=True)
class Addend:
    """One product with the operands whose NaNs it may hand on, in their order of priority.

    Shapes: nans: a_k and b_k under nan_rule `first_operand`; none where every NaN has one word.
    """

    number: Number
    nans: tuple[Nan, ...]


@dataclass(frozen=True, slots=True)
class Nan:
    """An operand of a step as a NaN.

    Shapes: present u[1]; word u[fmt.width], or u[d.width] of a quiet NaN where `fmt` is None.
    Zero, NaN, Inf: where `present` is 0 the word means nothing.
    """

    name: str
    present: Node
    word: Node
    fmt: Format | None = None


def operand_nan(g: Graph, name: str, word: Node, fmt: Format) -> Nan:
    """An element of A or B as a NaN that a step may return."""
    return Nan(name, unpack(g, word, fmt).nan, word, fmt)


def carried_nan(name: str, x: Carried) -> Nan:
    """A running sum, or c, as a NaN that a step may return."""
    return Nan(name, x.number.nan, x.nan_word)


def first_nan(g: Graph, operands: Sequence[Nan], invalid: Node, target: Format) -> Node:
    """The word of a step's NaN result: of the first NaN among its operands, else of an invalid operation.

    Shapes: operands in the order of priority; invalid and the result u[target.width].
    Source: Intel SDM, VDPBF16PS; measured for TDPBF16PS (results/hardware).
    """
    word = invalid
    for x in reversed(operands):
        own = x.word if x.fmt is None else quiet_nan(g, x.word, x.fmt, target)
        word = g.ite(x.present, own, word)
    if word is not invalid:
        for i, x in enumerate(operands):
            g.label(f"{LABEL}.{i}.{x.name}", x.present)
    return word


def quiet_nan(g: Graph, word: Node, fmt: Format, target: Format) -> Node:
    """A NaN of an IEEE-like format made quiet and widened: sign kept, fraction bits left-aligned.

    Shapes: u[fmt.width] -> u[target.width]; target has at least the fraction bits of fmt.
    Source: Intel SDM, VDPBF16PS (a NaN operand is converted to a quiet NaN).
    """
    low, t = fmt.ignored_low_bits, fmt.fraction_bits
    fraction = g.extract(word, low + t - 1, low)
    quiet = g.or_(fraction, g.const(1 << (t - 1), t))
    wide = g.shift_left_const(quiet, target.fraction_bits + target.ignored_low_bits - t)
    ones = g.const((1 << target.exponent_bits) - 1, target.exponent_bits)
    return g.concat(g.top(word), ones, wide)
