"""The structures of one order of summation: which sums are exact or normalise, and the shapes of results."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tcformal.design.rounding import EXACT_SUM, conversion
from tcformal.design.trees.arrangements import tree_unit
from tcformal.design.trees.tree import Value, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identification.asking.alone import Isolated
from tcformal.simulation.structures import rounds_products

#: Shapes that results of an inner or the outer sum, and rounded products, can have, by the format of D.
_INNER: dict[str, tuple[str, ...]] = {
    "fp32": ("FP32",), "fp16": ("FP32", "FP16"), "bf16": ("FP32", "BF16"), "fp64": ("FP64",),
}  # fmt: skip
_OUTER: dict[str, tuple[str, ...]] = {
    "fp32": ("FP32", "E8M13"), "fp16": ("FP16",), "bf16": ("BF16",), "fp64": ("FP64",),
}  # fmt: skip
#: Shapes of inner sums and of products that no catalogued design has, and exponent bits of products.
_PARTIAL = ("FP32", "FP16", "BF16", "FP64", "E8M10", "E8M13")
_EXPONENTS = (8, 5)
#: Fraction bits that stand for a sum that cuts; every number is a value of the axis.
_CUT = 24
#: Operands of a sum that is exact before it is rounded, unless something else is known.
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Shapes:
    """Shapes that results of inner sums, of the outer one, and rounded products can have."""

    inner: tuple[str, ...]
    outer: tuple[str, ...]
    #: Without any, products are exact; beside some, those that are exact are left out.
    products: tuple[str, ...]
    #: Whether the whole sum is rounded once more than the order shows.
    twice: bool = False


def structures(
    unit: UnitSpec,
    cut: Mapping[str, bool] = MappingProxyType({}),
    *,
    pairs_cut: bool = False,
    shapes: Shapes | None = None,
) -> Iterator[UnitSpec]:
    """Every structure of a tree unit's order; parameters that are axes are the unit's.

    `cut` says of a stage whether its sums cut terms off, where that is known.  A sum of one operand rounds it
    only, so that it is exact; sums of two are taken to be exact before they are rounded, unless `pairs_cut`;
    sums of results have nothing to normalise.  `shapes`: other shapes than those of the catalogued designs.
    """
    if unit.tree is None:
        raise InputError(f"expected a tree of sums for structures, but got {unit.name}")
    root = unit.tree.root
    usual = shapes or _usual(unit.operands.d.name)
    stages = sorted({step.stage for step in root.steps()})
    kinds = []
    for stage in stages:
        steps = [step for step in root.steps() if step.stage == stage]
        products = any(isinstance(x, int) for step in steps for x in step.children)
        sums: list[tuple[int | None, bool]] = []
        most = max(len(step.children) for step in steps)
        if most > 1 and cut.get(stage, most > _PAIR or pairs_cut):
            sums += [(_CUT, False), *([(_CUT, True)] if products else [])]
        if not cut.get(stage, False):
            sums.append((None, False))
        kinds.append(list(itertools.product(sums, usual.outer if stage == root.stage else usual.inner)))
    rounded = [None, *(f"RNE-{shape}" for shape in usual.products)]
    if shapes is not None and usual.products:
        rounded = rounded[1:]
    seen = set()
    for products_to, chosen in itertools.product(rounded, itertools.product(*kinds)):
        if products_to is not None and not _is_read(
            unit, products_to, dict(zip(stages, chosen, strict=True))
        ):
            continue
        if usual.twice and len({x[1].partition(":")[0] for x in chosen}) == 1:
            continue  # the second rounding changes nothing
        with suppress(InputError):
            made = _with(unit, dict(zip(stages, chosen, strict=True)), products_to)
            if (key := _structure(made)) not in seen:
                seen.add(key)
                yield made


def _usual(d: str) -> Shapes:
    """The shapes that catalogued designs of a format of D have; its own for another format."""
    own = tuple(_INNER.get(d, ()))
    return Shapes(own, _OUTER.get(d, ()), own)


def rare_shapes(spec: UnitSpec, alone: Isolated) -> list[Shapes]:
    """Shapes that terms alone allow and no catalogued design has: those of the fewest rare parameters first.

    None has fewer bits than were seen to come through it.
    """
    d = spec.d_format
    own, bits = f"E{d.exponent_bits}M{d.fraction_bits}", max(1, alone.product_bits, alone.c_bits)
    named = dict.fromkeys((*_OUTER.get(d.name, (own,)), f"E{d.exponent_bits}M{bits}"))
    outer = {
        conversion(f"RNE-{x}"): x for x in reversed(named) if conversion(f"RNE-{x}").fraction_bits >= bits
    }
    limit = "" if alone.limit is None else f":{alone.limit}"
    last = tuple(f"{x}{limit}" for x in outer.values())
    inner = tuple(x for x in _PARTIAL if conversion(f"RNE-{x}").fraction_bits >= bits)
    # Products that lose bits show how many they keep, unless the result is as narrow.
    most = spec.a_format.fraction_bits + spec.b_format.fraction_bits + 1
    least = max(1, min(alone.product_bits, bits))
    kept = range(least, most) if least >= bits else range(least, least + 1)
    shapes = [*_PARTIAL, *(f"E{e}M{m}" for m in kept for e in _EXPONENTS)]
    fit = {x: conversion(f"RNE-{x}") for x in shapes}
    products = {fit[x]: x for x in reversed(shapes) if fit[x].fraction_bits in kept or x == "FP32"}
    rounded = tuple(products.values())
    return [Shapes(inner, last, some, twice) for some in ((), rounded) for twice in (False, True)]


def _is_read(
    unit: UnitSpec, products_to: str, stages: Mapping[str, tuple[tuple[int | None, bool], str]]
) -> bool:
    """Whether rounded products can give other results than exact ones of some structure.

    Products that are normal numbers of the target as they are only become normalised: an exact sum does not
    see that, and one that cuts terms off sees it as `normalise_products` has it, but for a c beside them.
    """
    assert unit.tree is not None
    return rounds_products(unit, products_to) or any(
        stages[step.stage][0][0] is not None and not stages[step.stage][0][1] and "c" in step.children
        for step in unit.tree.root.steps()
        if any(isinstance(x, int) for x in step.children)
    )


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
    made = replace(unit.tree, settings=tuple(rows))
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
