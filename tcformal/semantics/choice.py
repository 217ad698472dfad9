"""Parameters that are data: a design of which some parameters are inputs of the DAG.

Such a design stands for many: their results on one input are those of one DAG on many lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from tcformal.design.rounding import Conversion
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter that is one of some words, chosen by data.

    Shapes: `others`: for every word but `last`, u[1], 1 where it is chosen; `last` where none is.
    """

    others: Mapping[str, Node]
    last: str


@dataclass(frozen=True, slots=True)
class OpenBits:
    """Fraction bits that are data: `most` less `fewer`, an exponent of at least 0."""

    most: int
    fewer: Exponent


@dataclass(frozen=True, slots=True)
class OpenZero:
    """An exponent of zero terms that is data: `exponent`, or the encoding's own, or none.

    Shapes: own u[1], none u[1], never both 1.
    """

    own: Node
    none: Node
    exponent: Exponent


@dataclass(frozen=True, slots=True)
class OpenCarry:
    """Bits of a sum that are data: u[w], the sign among them; where no fewer than it needs, nothing wraps."""

    width: Node


#: A known exponent of zero terms, a rule, or one that is data.
ZeroExponent = int | Literal["own", "none"] | Exponent | OpenZero


@dataclass(frozen=True, slots=True)
class OpenConversion(Conversion):
    """A conversion whose rounding mode is data; `mode` is that of its name."""

    modes: Choice | None = None


class Arithmetic(Protocol):
    """What one sum reads of a design: of each parameter a value, or a choice."""

    @property
    def fraction_bits(self) -> int | OpenBits | None:
        """As `Design.fraction_bits`."""

    @property
    def alignment_rounding(self) -> str | Choice:
        """As `Design.alignment_rounding`."""

    @property
    def normalise_products(self) -> bool:
        """As `Design.normalise_products`."""

    @property
    def zero_exponent(self) -> ZeroExponent:
        """As `Design.zero_exponent`."""

    @property
    def carry_bits(self) -> int | OpenCarry | None:
        """As `Design.carry_bits`."""

    @property
    def accumulation(self) -> str:
        """As `Design.accumulation`."""

    @property
    def result_subnormals(self) -> str | Choice:
        """As `Design.result_subnormals`."""

    @property
    def zero_sign(self) -> str | Choice:
        """As `Design.zero_sign`."""

    @property
    def overflow(self) -> str | Choice:
        """As `Design.overflow`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSum:
    """The parameters of one sum, each a value or a choice: an `Arithmetic` made by hand."""

    rho: Conversion
    fraction_bits: int | OpenBits | None = None
    alignment_rounding: str | Choice = "RZ"
    normalise_products: bool = False
    zero_exponent: ZeroExponent = "none"
    carry_bits: int | OpenCarry | None = None
    accumulation: str = "twos_complement"
    result_subnormals: str | Choice = "kept"
    zero_sign: str | Choice = "positive"
    overflow: str | Choice = "infinity"


def chosen(g: Graph, parameter: str | Choice, word: str) -> Node:
    """1 where a parameter is a word; a constant where the parameter is known."""
    return by_choice(g, parameter, lambda x: g.truth(x == word))


def by_choice(g: Graph, parameter: str | Choice, value: Callable[[str], Node]) -> Node:
    """The value that belongs to the word that a parameter is."""
    if isinstance(parameter, str):
        return value(parameter)
    made = value(parameter.last)
    for word, node in parameter.others.items():
        made = g.ite(node, value(word), made)
    return made


def mode_of(target: Conversion) -> str | Choice:
    """The rounding mode of a conversion, which may be data."""
    if isinstance(target, OpenConversion) and target.modes is not None:
        return target.modes
    return target.mode
