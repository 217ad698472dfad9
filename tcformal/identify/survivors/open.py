"""Worlds from structures: the DAG of a tree of sums whose parameters are inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.design.axes import altered, axis_values
from tcformal.design.names import resolve, tree_name
from tcformal.design.rounding import MODES, conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identify.survivors.world import Axis, World
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import declare_inputs
from tcformal.semantics.choice import (
    Choice,
    OpenBits,
    OpenCarry,
    OpenConversion,
    OpenZero,
    by_choice,
    chosen,
    opened,
)
from tcformal.semantics.number import Exponent, bits_for
from tcformal.semantics.sums.tree import tree_dot

#: Parameters of the products, of c and of every result: one value for all stages.
_EVERYWHERE = ("operand_subnormals", "c_subnormals", "result_subnormals", "zero_sign", "overflow")


class _Opened:
    """The inputs of a world's axes, made as they are asked for."""

    def __init__(self, g: Graph) -> None:
        self.g = g
        self.axes: list[Axis] = []

    def choice(self, name: str, values: Sequence[str], words: Sequence[str] | None = None) -> Choice:
        """A parameter that is one of some words, the axis' values unless given."""
        axis = Axis(name, tuple(values))
        self.axes.append(axis)
        nodes = [self.g.input(text, 1) for text in axis.inputs()]
        of = tuple(words or values)
        return Choice(dict(zip(of, nodes, strict=False)), of[-1])

    def number(self, x: Choice, numbers: dict[str, int]) -> Exponent:
        """The number that belongs to the word that is chosen."""
        low, high = min(numbers.values()), max(numbers.values())
        width = bits_for(high - low)
        return Exponent(
            by_choice(self.g, x, lambda word: self.g.const(numbers[word] - low, width)), low, high
        )

    def conversion(self, name: str, text: str) -> OpenConversion:
        """A conversion into the shape of another, in any rounding."""
        shape, known = text.partition("-")[2], conversion(text)
        modes = self.choice(name, [f"{mode}-{shape}" for mode in MODES], tuple(MODES))
        return OpenConversion(known.mode, known.exponent_bits, known.fraction_bits, known.head_room, modes)


def world_of(unit: UnitSpec) -> World:
    """The designs of one structure: a tree of sums, some exact, some normalising, and the shapes of results.

    Every other parameter takes each value of the list of axes.
    Errors: InputError for a unit that is no tree.
    """
    if unit.tree is None:
        raise InputError(f"expected a tree of sums for a world of designs, but got {unit.name}")
    g = Graph()
    x = declare_inputs(g, unit, unit.k)
    made = _Opened(g)
    values = axis_values(replace(unit, tree=None))
    shared: dict[str, object] = {name: made.choice(name, [*map(str, values[name])]) for name in _EVERYWHERE}
    if unit.design.product_rounding is not None:
        shared["product_rounding"] = made.conversion("product_rounding", unit.design.product_rounding)
    stages = {
        stage: _stage(made, f"{stage}." if stage else "", replace(unit, tree=None, design=design), shared)
        for stage, design in stage_designs(unit.tree, unit.design).items()
    }
    dot = tree_dot(g, unit.tree, opened(unit.design, **shared), stages, unit.operands, x.a, x.b, x.c)
    axes = tuple(made.axes)

    def named(values: Sequence[str]) -> str:
        settings = ",".join(f"{axis.name}={value}" for axis, value in zip(axes, values, strict=True))
        whole = resolve(altered(unit, settings))
        assert whole.tree is not None
        return tree_name(whole.operands, whole.design, whole.tree)

    return World(g, dot.result, axes, named)


def _stage(made: _Opened, prefix: str, unit: UnitSpec, shared: dict[str, object]) -> Design:
    """The design of one stage with its parameters as data."""
    design, g = unit.design, made.g
    own: dict[str, object] = {"conversion": made.conversion(f"{prefix}conversion", design.conversion)}
    if design.fraction_bits is not None:
        values = {name: [*map(str, row)] for name, row in axis_values(unit).items()}
        bits = [value for value in values["fraction_bits"] if value != "exact"]
        most = max(map(int, bits))
        of_bits = made.choice(f"{prefix}fraction_bits", bits)
        fewer = made.number(of_bits, {word: most - int(word) for word in bits})
        own["fraction_bits"] = OpenBits(most, fewer)
        own["alignment_rounding"] = made.choice(f"{prefix}alignment_rounding", values["alignment_rounding"])
        own["zero_exponent"] = _zero(made, made.choice(f"{prefix}zero_exponent", values["zero_exponent"]))
        carry = made.choice(f"{prefix}carry_bits", values["carry_bits"])
        own["carry_bits"] = OpenCarry(_sum_width(g, carry, most, fewer))
    return opened(design, **shared, **own)


def _zero(made: _Opened, zero: Choice) -> OpenZero:
    """The exponent of zero terms that is chosen."""
    words = [*zero.others, zero.last]
    numbers = {word: int(word) for word in words if word not in ("own", "none")}
    low = min(numbers.values(), default=0)
    exponent = made.number(zero, {word: numbers.get(word, low) for word in words})
    return OpenZero(chosen(made.g, zero, "own"), chosen(made.g, zero, "none"), exponent)


def _sum_width(g: Graph, carry: Choice, most: int, fewer: Exponent) -> Node:
    """Bits of the sum: sign, units bit, carry bits and fraction bits; more than any sum has, if exact."""
    width = 8
    bits = g.sub_mod(g.const(most, width), g.zero_extend_to(fewer.bits, width))
    return by_choice(
        g,
        carry,
        lambda word: (
            g.const((1 << width) - 1, width)
            if word == "exact"
            else g.add_mod(bits, g.const(2 + int(word), width))
        ),
    )
