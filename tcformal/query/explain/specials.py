"""NaN and Inf operands of a dot product, and the operands that cause a NaN or Inf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.design.unit import UnitSpec
from tcformal.ir.node import Node
from tcformal.oracle.products import exact_specials, group_term, multiply, product
from tcformal.oracle.values import ExactValue, NumberClass, decode
from tcformal.semantics.stages import DotStep, Operand
from tcformal.simulation.operands.factors import scale_values
from tcformal.simulation.operands.names import group_name, groups, product_name
from tcformal.simulation.operands.witness import Witness


@dataclass(frozen=True, slots=True)
class Special:
    """A NaN or infinite operand of a sum: `NaN`, `Inf` or `-Inf`, and its causes."""

    what: str
    #: One clause for each cause: `scale_a[0] is NaN`.
    why: tuple[str, ...]


def special_operands(spec: UnitSpec, w: Witness, texts: Sequence[str]) -> dict[str, Special]:
    """The NaN and infinite operands of a sum (c, products, groups of products), by their names in the sum.

    Shapes: texts: the text of each product's scales, as used in the names.
    """
    o, design = spec.operands, spec.design
    values = {"c": decode(o.c, w.c)}
    parts: dict[str, list[tuple[str, ExactValue]]] = {}
    pairs = [(decode(o.a, x), decode(o.b, y)) for x, y in zip(w.a, w.b, strict=True)]
    for i, (x, y) in enumerate(pairs) if design.group is None else ():
        scales = scale_values(spec, w, i)
        name = product_name(i, texts)
        values[name] = product(design, x, y, [value for _, value in scales])
        parts[name] = [(product_name(i), multiply(x, y)), *scales] if scales else []
    products = [product(design, x, y) for x, y in pairs]
    for group in groups(spec, len(w.a)):
        scales = scale_values(spec, w, group[0])
        members = [products[i] for i in group]
        name = group_name(group, texts)
        values[name] = group_term(design, members, [value for _, value in scales])
        own = [(group_name(group), group_term(design, members, ()))]
        if exact_specials(members) is not None:
            own = [(product_name(i), products[i]) for i in group]
        parts[name] = [*own, *scales]
    return {
        name: Special(special_text(value), _causes(name, value, parts.get(name, [])))
        for name, value in values.items()
        if value.kind is not NumberClass.FINITE
    }


def _causes(name: str, value: ExactValue, parts: Sequence[tuple[str, ExactValue]]) -> tuple[str, ...]:
    """The NaN parts of a NaN or Inf; else infinite parts, and zero scales that make it NaN; else itself."""
    by_kind = {kind: [(n, v) for n, v in parts if v.kind is kind] for kind in NumberClass}
    blamed = by_kind[NumberClass.NAN] or by_kind[NumberClass.INF]
    if value.kind is NumberClass.NAN and blamed and not by_kind[NumberClass.NAN]:
        blamed = blamed + [
            (n, v) for n, v in by_kind[NumberClass.FINITE] if v.is_zero and n.startswith("scale")
        ]
    return tuple(f"{n} is {special_text(v) or 0}" for n, v in blamed or [(name, value)])


def nan_owner(step: DotStep, values: Mapping[Node, int], owners: Mapping[Operand, str]) -> str:
    """The operand whose NaN a step hands on, `an invalid operation` where none is NaN.

    Shapes: values: of the step's nodes; owners: whose NaN each of its operands is.
    Empty where the design gives every NaN one word.
    """
    for nan in step.nans:
        if values[nan.present]:
            return f"{nan.name}[{nan.operand.ks[0]}]" if nan.operand.ks else owners[nan.operand]
    return "an invalid operation" if step.nans else ""


def special_text(value: ExactValue) -> str:
    """`NaN`, `Inf` or `-Inf`; empty for a finite number."""
    if value.kind is NumberClass.FINITE:
        return ""
    return "NaN" if value.kind is NumberClass.NAN else "-Inf" if value.sign else "Inf"
