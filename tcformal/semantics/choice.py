"""Symbolic parameters: a design some of whose parameters are inputs of the DAG.

Such a design stands for many: one DAG computes their results on one input in parallel lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Literal, NoReturn

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent


class Data:
    """A symbolic parameter; comparison with a word or a number is an error."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError(f"expected a parameter that is known, but {self!r:.60} is data")


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Data):
    """A symbolic word, in one-hot form.

    Shapes: `others`: for every word but `last`, u[1], 1 where it is chosen; `last` where none is.
    """

    others: Mapping[str, Node]
    last: str


@dataclass(frozen=True, slots=True, eq=False)
class OpenBits(Data):
    """A symbolic number of fraction bits: `most` minus `fewer`, an exponent of at least 0."""

    most: int
    fewer: Exponent


@dataclass(frozen=True, slots=True, eq=False)
class OpenZero(Data):
    """A symbolic exponent of zero terms: `exponent`, or the encoding's own, or none.

    Shapes: own u[1], none u[1], never both 1.
    """

    own: Node
    none: Node
    exponent: Exponent


@dataclass(frozen=True, slots=True, eq=False)
class OpenCarry(Data):
    """A symbolic width of a sum: u[w], sign included; a sufficient width never wraps."""

    width: Node


#: A known exponent of zero terms, a rule, or one that is data.
ZeroExponent = int | Literal["own", "none"] | Exponent | OpenZero


@dataclass(frozen=True, slots=True)
class OpenConversion(Conversion):
    """A conversion with a symbolic rounding mode; `mode` is that of its name."""

    modes: Choice | None = None


def opened(base: Design, **parameters: object) -> Design:
    """A design with symbolic parameters.

    Nothing is checked: whoever reads such a parameter has to expect a choice, and is refused a comparison.
    """
    design = object.__new__(Design)
    for field in fields(Design):
        object.__setattr__(design, field.name, parameters.get(field.name, getattr(base, field.name)))
    return design


def chosen(g: Graph, parameter: str | Choice, word: str) -> Node:
    """The node that is 1 where a parameter equals a word; constant for a known parameter."""
    return by_choice(g, parameter, lambda x: g.truth(x == word))


def by_choice(g: Graph, parameter: str | Choice, value: Callable[[str], Node]) -> Node:
    """A multiplexer: the value that belongs to a parameter's word."""
    if isinstance(parameter, str):
        return value(parameter)
    result = value(parameter.last)
    for word, node in parameter.others.items():
        result = g.ite(node, value(word), result)
    return result


def mode_of(target: Conversion) -> str | Choice:
    """The rounding mode of a conversion, possibly symbolic."""
    if isinstance(target, OpenConversion) and target.modes is not None:
        return target.modes
    return target.mode
