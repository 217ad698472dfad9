"""Parametric families: the designs of one structure as one DAG with the parameters as inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.known import KnownBits, known_bits
from tcformal.backends.vector import Lanes, evaluate
from tcformal.design.axes import altered, axis_values, rare_values
from tcformal.design.names import resolve, tree_name
from tcformal.design.rounding import MODES, conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import specialised
from tcformal.semantics.chain import declare_inputs
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
from tcformal.semantics.product import Scales
from tcformal.semantics.sums.tree_sum import tree_dot
from tcformal.simulation.operands.batch import Batch, Raw, columns, rows_of

# --------------------------------------------------------------------------------------------------- Families
#: Designs as one index per axis: [n, axes].
Designs = NDArray[np.int16]
#: Lanes that are evaluated at once: as many as caches hold.
_LANES = 1 << 13


@dataclass(frozen=True, slots=True)
class Axis:
    """One parameter of a family and the texts of its possible values."""

    name: str
    values: tuple[str, ...]

    def inputs(self) -> list[str]:
        """The names of the one-hot inputs, u[1] each: one per value but the last."""
        return [f"{self.name}={value}" for value in self.values[:-1]]


@dataclass(frozen=True, slots=True)
class Family:
    """A parametric family: the designs of one structure.

    Shapes: inputs of `graph`: those of a dot product, and those of each axis; `root`: the result.
    """

    graph: Graph
    root: Node
    axes: tuple[Axis, ...]
    #: The name of the design with those values, in the order of the axes.
    named: Callable[[Sequence[str]], str]

    @property
    def size(self) -> int:
        """The number of designs, that is of combinations of values."""
        return math.prod(len(axis.values) for axis in self.axes)

    def name(self, design: Sequence[int]) -> str:
        """The name of a design given by the index of its value on each axis."""
        return self.named([axis.values[i] for axis, i in zip(self.axes, design, strict=True)])

    @staticmethod
    def at_once(rows: int) -> int:
        """The designs that are evaluated at once for so many dot products."""
        return max(1, _LANES // max(1, rows))

    def outputs(self, designs: Designs, batch: Batch) -> Raw:
        """The results of each design for each dot product: raw encodings [designs, rows]."""
        rows = len(batch.c)
        results, each = [], self.at_once(rows)
        for start in range(0, len(designs), each):
            some = designs[start : start + each]
            inputs = {name: np.tile(x, len(some)) for name, x in columns(batch).items()}
            inputs |= self._parameters(np.repeat(some, rows, axis=0))
            results.append(
                evaluate(self.graph, self.root, inputs, n=len(some) * rows).reshape(len(some), rows)
            )
        return np.concatenate(results) if results else np.zeros((0, rows), np.uint64)

    def known(
        self, designs: Designs, batch: Batch, row: int | NDArray[np.intp], unknown: NDArray[np.bool_]
    ) -> KnownBits:
        """The known bits of each design's result for one dot product, with the parameters `unknown` left
        open.

        Shapes: row: one row of the batch for all designs, or [designs]; unknown: [designs, axes], or
        [1, axes] for every design.
        """
        values, masks = [], []
        for start in range(0, len(designs), _LANES):
            some = slice(start, start + _LANES)
            at = slice(row, row + 1) if isinstance(row, int) else row[some]
            hidden = unknown if len(unknown) == 1 else unknown[some]
            given = columns(rows_of(batch, at)) | self._parameters(designs[some])
            made = known_bits(self.graph, self.root, given, self._hidden(hidden))
            count = len(designs[some])
            values.append(np.broadcast_to(made.value, (count,)))
            masks.append(np.broadcast_to(made.unknown, (count,)))
        return KnownBits(np.concatenate(values), np.concatenate(masks))

    def at(self, batch: Batch, row: int) -> Family:
        """The family restricted to one dot product's operands: a smaller DAG for questions about it."""
        inputs = {name: int(x[0]) for name, x in columns(rows_of(batch, slice(row, row + 1))).items()}
        graph, root = specialised(self.graph, self.root, inputs)
        return replace(self, graph=graph, root=root)

    def parameters(self, design: NDArray[np.int16]) -> dict[str, int]:
        """The values of the axes' inputs for one design, by input name."""
        return {name: int(x[0]) for name, x in self._parameters(design[np.newaxis]).items()}

    def _parameters(self, designs: Designs) -> dict[str, Lanes]:
        return {
            name: (designs[:, column] == i).astype(np.uint64)
            for column, axis in enumerate(self.axes)
            for i, name in enumerate(axis.inputs())
        }

    def _hidden(self, unknown: NDArray[np.bool_]) -> Mapping[str, Lanes]:
        return {
            name: unknown[:, column]
            for column, axis in enumerate(self.axes)
            if unknown[:, column].any()
            for name in axis.inputs()
        }


# ---------------------------------------------------------------------------------- Families of trees of sums
#: Parameters of a sum that cuts terms off.
_OF_ANY_CUTTING = ("alignment_rounding", "zero_exponent")
_OF_CUTTING = ("fraction_bits", *_OF_ANY_CUTTING, "carry_bits")
#: Parameters of the products, of c and of every result: one value for all stages.
_EVERYWHERE = ("operand_subnormals", "c_subnormals", "result_subnormals", "zero_sign", "overflow")
#: The one of B alone, where it is not that of A.
_OF_B = "b_subnormals"


class _Opened:
    """The parameters of a family under construction: each becomes an axis with inputs on first use."""

    def __init__(self, g: Graph, values: Mapping[str, Sequence[str]]) -> None:
        self.g, self.values = g, values
        self.axes: list[Axis] = []

    def varies(self, name: str) -> bool:
        """Whether a parameter has several values in the family."""
        return len(self.values.get(name, ())) > 1

    def choice(self, name: str, words: Sequence[str] | None = None) -> Choice:
        """A one-hot choice among words: by default among the texts of the axis' values."""
        axis = Axis(name, tuple(self.values[name]))
        self.axes.append(axis)
        nodes = [self.g.input(text, 1) for text in axis.inputs()]
        of = tuple(words or axis.values)
        return Choice(dict(zip(of, nodes, strict=False)), of[-1])

    def number(self, x: Choice, numbers: dict[str, int]) -> Exponent:
        """A multiplexer that maps the chosen word to its number."""
        low, high = min(numbers.values()), max(numbers.values())
        width = bits_for(high - low)
        return Exponent(
            by_choice(self.g, x, lambda word: self.g.const(numbers[word] - low, width)), low, high
        )

    def conversion(self, name: str, text: str) -> OpenConversion:
        """A conversion with a symbolic rounding mode; width and range are those of `text`."""
        fixed = conversion(text)
        modes = self.choice(name, [value.partition("-")[0] for value in self.values[name]])
        return OpenConversion(**{x.name: getattr(fixed, x.name) for x in fields(fixed)}, modes=modes)


def parametric_family(
    unit: UnitSpec, values: Mapping[str, Sequence[str]] | None = None, *, rare: bool = False
) -> Family:
    """The parametric family of one structure: a tree of sums with fixed formats and free parameters.

    Every other parameter takes each value of the list of axes; with `values`, by axis, a parameter with
    several takes these, and any other is the unit's.  With `rare`, subnormals of B are a parameter of their
    own, and overflow can give the largest number.
    Errors: InputError for a unit that is no tree.
    """
    if unit.tree is None:
        raise InputError(f"expected a tree of sums for a family of designs, but got {unit.name}")
    if values is None:
        values = _every_value(unit, rare)
    g = Graph()
    x = declare_inputs(g, unit, unit.k)
    made = _Opened(g, values)
    shared: dict[str, object] = {
        name: made.choice(name) for name in (*_EVERYWHERE, _OF_B) if made.varies(name)
    }
    if made.varies("product_rounding"):
        shared["product_rounding"] = made.conversion("product_rounding", str(unit.design.product_rounding))
    stages = {stage: _stage(made, prefix, design, shared) for stage, prefix, design in _stages(unit)}
    scales = None
    if unit.scale_format is not None and unit.scale_block is not None:
        scales = Scales(fmt=unit.scale_format, block=unit.scale_block, a=x.scale_a, b=x.scale_b)
    design = opened(unit.design, **shared)
    dot = tree_dot(g, unit.tree, design, stages, unit.operands, x.a, x.b, x.c, scales=scales)
    axes = tuple(made.axes)

    def named(values: Sequence[str]) -> str:
        chosen = {axis.name: value for axis, value in zip(axes, values, strict=True)}
        if chosen.get(_OF_B) == chosen.get("operand_subnormals"):
            chosen.pop(_OF_B, None)
        settings = ",".join(f"{name}={value}" for name, value in chosen.items())
        whole = resolve(altered(unit, settings))
        assert whole.tree is not None
        return tree_name(whole, whole.design, whole.tree)

    return Family(g, dot.result, axes, named)


def point_of(unit: UnitSpec) -> dict[str, str]:
    """The coordinates of a tree unit in its structure's family: its value on each axis."""
    design = unit.design
    point = {name: _text(getattr(design, name)) for name in _EVERYWHERE}
    if design.product_rounding is not None:
        point["product_rounding"] = design.product_rounding
    for _, prefix, own in _stages(unit):
        cutting = _OF_CUTTING if _one_cut(own) else _OF_ANY_CUTTING
        names: tuple[str, ...] = ("conversion",) if own.normalised else ()
        names += () if own.fraction_bits is None else cutting
        point |= {f"{prefix}{name}": _text(getattr(own, name)) for name in names}
    return point


def structure_of(unit: UnitSpec) -> Hashable:
    """A hashable key of a tree unit's structure: units with equal keys belong to one family."""
    assert unit.tree is not None
    axes = {*point_of(unit)}
    tree = unit.tree
    parts: list[Hashable] = [tree.root, tree.converted, tree.nan_rule, unit.operands, *sorted(axes)]
    parts += [unit.scale_format, unit.scale_block]
    for stage, prefix, design in [("", "", unit.design), *_stages(unit)]:
        parts.append(stage)
        for field in fields(design):
            value = getattr(design, field.name)
            if f"{prefix}{field.name}" not in axes and field.name not in _EVERYWHERE:
                parts.append((field.name, value))
            elif field.name in ("conversion", "product_rounding"):
                parts.append((field.name, str(value).partition("-")[2]))
    return tuple(parts)


def rounds_products(unit: UnitSpec, target: str) -> bool:
    """Whether a product of A and B can be inexact, subnormal or too large in a conversion's target."""
    a, b, to = unit.a_format, unit.b_format, conversion(target)
    return (
        a.fraction_bits + b.fraction_bits + 2 > to.precision
        or a.least_exponent + b.least_exponent < to.e_min
        or a.e_max + b.e_max + 1 > to.e_max
    )


def _stages(unit: UnitSpec) -> list[tuple[str, str, Design]]:
    """The stages of a tree: each stage's name, the prefix of its axes, and its design."""
    assert unit.tree is not None
    designs = stage_designs(unit.tree, unit.design)
    return [(stage, f"{stage}." if stage else "", design) for stage, design in designs.items()]


def _every_value(unit: UnitSpec, rare: bool = False) -> dict[str, list[str]]:
    """The axes of a family: the values that each parameter can have in the structure."""
    values = {name: [*map(str, row)] for name, row in axis_values(replace(unit, tree=None)).items()}
    made = {name: values[name] for name in _EVERYWHERE}
    if rare:
        more = rare_values(unit)
        made |= {name: [*map(str, more[name])] for name in ("overflow", _OF_B)}

    def modes(text: str) -> list[str]:
        return [f"{mode}-{text.partition('-')[2]}" for mode in MODES]

    if unit.design.product_rounding is not None and rounds_products(unit, unit.design.product_rounding):
        made["product_rounding"] = modes(unit.design.product_rounding)
    for _, prefix, design in _stages(unit):
        if design.normalised:
            made[f"{prefix}conversion"] = modes(design.conversion)
        if design.fraction_bits is not None:
            # Numbers near to those of the stage; what it rounds to may be no result of a unit.
            of_stage = replace(design, conversion=unit.design.conversion, normalised=True)
            own = axis_values(replace(unit, tree=None, design=of_stage))
            made |= {
                f"{prefix}{name}": [x for x in map(str, own[name]) if (name, x) != ("fraction_bits", "exact")]
                for name in (_OF_CUTTING if _one_cut(design) else _OF_ANY_CUTTING)
            }
    return made


def _one_cut(design: Design) -> bool:
    """Whether a sum's terms are cut to one number of bits, which is then an axis of a family."""
    own = (design.c_bits, design.second_fraction_bits, design.minus_one)
    return own == (None, None, None) and (design.sum_fraction_bits is None or design.summation != "fused")


def _text(value: object) -> str:
    return "exact" if value is None else str(value)


def _stage(made: _Opened, prefix: str, design: Design, shared: dict[str, object]) -> Design:
    """The design of one stage with symbolic parameters."""
    own: dict[str, object] = {}
    if made.varies(f"{prefix}conversion"):
        own["conversion"] = made.conversion(f"{prefix}conversion", design.conversion)
    if design.fraction_bits is None:
        return opened(design, **shared, **own)
    most, fewer = design.fraction_bits, Exponent(made.g.const(0, 1), 0, 0)
    for name in ("fraction_bits", "carry_bits"):
        if made.varies(f"{prefix}{name}") and not _one_cut(design):
            raise InputError(
                f"expected one value of {prefix}{name} in a family of sums that are cut more than once, "
                "but got several"
            )
    if made.varies(f"{prefix}fraction_bits"):
        bits = {word: int(word) for word in made.values[f"{prefix}fraction_bits"]}
        most = max(bits.values())
        of_bits = made.choice(f"{prefix}fraction_bits")
        fewer = made.number(of_bits, {word: most - n for word, n in bits.items()})
        own["fraction_bits"] = OpenBits(most, fewer)
    if made.varies(f"{prefix}alignment_rounding"):
        own["alignment_rounding"] = made.choice(f"{prefix}alignment_rounding")
    if made.varies(f"{prefix}zero_exponent"):
        own["zero_exponent"] = _zero(made, made.choice(f"{prefix}zero_exponent"))
    if made.varies(f"{prefix}carry_bits"):
        own["carry_bits"] = OpenCarry(
            _sum_width(made.g, made.choice(f"{prefix}carry_bits"), most, fewer, design)
        )
    elif design.carry_bits is not None and "fraction_bits" in own:
        carry = Choice({}, str(design.carry_bits))
        own["carry_bits"] = OpenCarry(_sum_width(made.g, carry, most, fewer, design))
    return opened(design, **shared, **own)


def _zero(made: _Opened, zero: Choice) -> OpenZero:
    """The symbolic exponent of zero terms."""
    words = [*zero.others, zero.last]
    numbers = {word: int(word) for word in words if word not in ("own", "none")}
    low = min(numbers.values(), default=0)
    exponent = made.number(zero, {word: numbers.get(word, low) for word in words})
    return OpenZero(chosen(made.g, zero, "own"), chosen(made.g, zero, "none"), exponent)


def _sum_width(g: Graph, carry: Choice, most: int, fewer: Exponent, design: Design) -> Node:
    """The symbolic width of the sum: sign, units bit, carry bits and fraction bits; all ones if exact."""
    carries = [int(word) for word in (*carry.others, carry.last) if word != "exact"]
    # All ones stand for more bits than any exact sum has.
    width = 8 if most + max(carries, default=0) <= 128 and design.e_max_of == "terms" else 12
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
