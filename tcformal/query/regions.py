"""Regions of a format: whether an exact value is inside or outside it, in its normal range or below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.checks import check_choice
from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.sums.step import fused_sum

#: The regions of a format, each with the text that describes a value in it.
REGIONS: dict[str, str] = {
    "inside": "a finite number of",
    "outside": "no finite number of",
    "normal": "in magnitude from the least normal number on, and below overflow, in",
    "subnormal": "not zero, and in magnitude below the least normal number, in",
}


@dataclass(frozen=True, slots=True)
class Region:
    """A region of a format: `outside-fp16`."""

    name: str
    format: Format

    def __str__(self) -> str:
        return f"{self.name}-{self.format.name}"

    @property
    def text(self) -> str:
        """The description of a value in the region: `no finite number of fp16`."""
        return f"{REGIONS[self.name]} {self.format.name}"


def parse_region(text: str, key: str) -> Region:
    """The region of a text such as `outside-fp16`; `key` names the assumption in errors.

    Errors: UnknownNameError for an unknown region or format, InputError for a format whose exponents and
    specials are not those of IEEE 754.
    """
    name, dash, fmt = text.partition("-")
    if not dash:
        raise InputError(f"expected {key} as one of {', '.join(REGIONS)} and a format, such as inside-fp16, "
                         f"but got {text!r}")  # fmt: skip
    found = Region(check_choice(f"region for {key}", name, REGIONS), format_named(fmt))
    if found.format.specials is not Specials.IEEE or found.format.ignored_low_bits:
        raise InputError(f"expected an IEEE 754 format for {key}, but got {found.format.name}")
    return found


def in_region(g: Graph, numbers: Sequence[Number], where: Region) -> Node:
    """1 where the exact sum of the numbers is in the region.

    Shapes: one or more numbers -> u[1].
    Ranges and units: a value is a number of a format exactly where rounding it down and up agree; it is
    normal where rounding it to zero gives a normal number.
    Zero, NaN, Inf: zero is inside; where an operand is NaN or Inf the result is 0.
    """
    finite = g.not_(g.or_(g.truth(False), *(flag for x in numbers for flag in (x.nan, x.inf))))
    if where.name in ("inside", "outside"):
        down, up = (_rounded(g, numbers, mode, where.format) for mode in ("RD", "RU"))
        exact = g.and_(*(g.eq(x, y) for x, y in zip(_parts(down), _parts(up), strict=True)))
        return g.and_(finite, exact if where.name == "inside" else g.not_(exact))
    cut = _rounded(g, numbers, "RZ", where.format)
    below = g.not_(g.top(cut.term.significand))
    if where.name == "normal":
        return g.and_(finite, g.not_(below), g.not_(cut.inf))
    down, up = (_rounded(g, numbers, mode, where.format) for mode in ("RD", "RU"))
    nothing = g.and_(down.term.zero, up.term.zero)
    return g.and_(finite, below, g.not_(cut.inf), g.not_(nothing))


def _rounded(g: Graph, numbers: Sequence[Number], mode: str, fmt: Format) -> Number:
    """The exact sum rounded once; with RZ a value that is too large becomes Inf, which is not normal."""
    target = Conversion(mode, fmt.exponent_bits, fmt.fraction_bits)
    design = Design(
        products=1, conversion=f"{mode}-E{fmt.exponent_bits}M{fmt.fraction_bits}", nan_word=0,
        overflow="infinity" if mode == "RZ" else "ieee",
    )  # fmt: skip
    with g.scope(mode):
        return fused_sum(g, numbers, design, target).result


def _parts(x: Number) -> tuple[Node, ...]:
    return x.term.sign, x.term.exponent.bits, x.term.significand, x.inf
