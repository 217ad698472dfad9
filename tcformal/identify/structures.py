"""The structures of one order of summation: which sums are exact or normalise, and the shapes of results."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tcformal.design.arrangements import tree_unit
from tcformal.design.spec import EXACT_SUM
from tcformal.design.tree import Tree, Value, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError

#: Shapes that results of an inner or the outer sum, and rounded products, can have, by the format of D.
_INNER: dict[str, tuple[str, ...]] = {
    "fp32": ("FP32", "E8M13"), "fp16": ("FP32", "FP16"), "bf16": ("FP32", "BF16"), "fp64": ("FP64",),
}  # fmt: skip
_OUTER: dict[str, tuple[str, ...]] = {
    "fp32": ("FP32", "E8M13"), "fp16": ("FP16",), "bf16": ("BF16",), "fp64": ("FP64",),
}  # fmt: skip
#: Fraction bits that stand for a sum that cuts; every number is a value of the axis.
_CUT = 24


def structures(unit: UnitSpec) -> Iterator[UnitSpec]:
    """Every structure of a tree unit's order, the unit's own first; parameters that are axes are the unit's.

    A sum of one operand rounds it only, so that it is exact.
    """
    if unit.tree is None:
        raise InputError(f"expected a tree of sums for structures, but got {unit.name}")
    yield unit
    d = unit.operands.d.name
    stages = sorted({step.stage for step in unit.tree.root.steps()})
    arity = {s: max(len(x.children) for x in unit.tree.root.steps() if x.stage == s) for s in stages}
    kinds = []
    for stage in stages:
        shapes = _OUTER[d] if stage == unit.tree.root.stage else _INNER[d]
        sums = [(None, False)] if arity[stage] == 1 else [(_CUT, False), (None, False), (_CUT, True)]
        kinds.append(list(itertools.product(sums, shapes)))
    rounded = (None, *(f"RNE-{shape}" for shape in _INNER[d]))
    seen = {_structure(unit)}
    for products, chosen in itertools.product(rounded, itertools.product(*kinds)):
        with suppress(InputError):
            made = _with(unit, dict(zip(stages, chosen, strict=True)), products)
            if (key := _structure(made)) not in seen:
                seen.add(key)
                yield made


def _with(
    unit: UnitSpec, stages: Mapping[str, tuple[tuple[int | None, bool], str]], products: str | None
) -> UnitSpec:
    """The unit with sums of those kinds and shapes."""
    assert unit.tree is not None
    own: dict[str, Any] = {**EXACT_SUM, "product_rounding": products}
    rows: list[tuple[str, str, Value]] = []
    for stage, ((bits, normalise), shape) in stages.items():
        given: dict[str, Value] = {
            "fraction_bits": bits, "normalise_products": normalise, "conversion": f"RNE-{shape}",
        }  # fmt: skip
        if stage:
            rows += [(stage, name, value) for name, value in given.items()]
        else:
            own |= given
    made = Tree(unit.tree.root, tuple(rows), unit.tree.converted)
    return tree_unit(unit, made, replace(unit.design, **own))


def _structure(unit: UnitSpec) -> tuple[object, ...]:
    """What units of one structure share."""
    assert unit.tree is not None
    designs = stage_designs(unit.tree, unit.design)
    rounded = unit.design.product_rounding
    kinds = [
        (x.fraction_bits is None, x.normalise_products, x.conversion.partition("-")[2])
        for x in (designs[step.stage] for step in unit.tree.root.steps())
    ]
    return rounded and rounded.partition("-")[2], tuple(kinds)
