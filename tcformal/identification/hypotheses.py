"""From an order of summation to tree units: chains from +0, converted operands, stages by role."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.design.rounding import NAN_RULES
from tcformal.design.trees.arrangements import tree_unit
from tcformal.design.trees.tree import TREE_NAN_RULES, Step
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError
from tcformal.identification.order.order import Order
from tcformal.identification.structures import Shapes, structures
from tcformal.semantics.mma import check_nans
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, rows_of
from tcformal.simulation.operands.inputs import without_nan

#: The stage of sums that add up sums only; sums of products have the unit's own parameters.
_JOIN, _LAST = "join", "last"


def hypotheses(
    spec: UnitSpec,
    order: Order,
    nan: tuple[int, str],
    *,
    alone: bool = False,
    converted: bool = False,
    negated: str = "none",
    rare: Shapes | None = None,
) -> Iterator[UnitSpec]:
    """Tree units of a device's order, the plainest first.

    Masks do not show that a chain starts from +0, nor that operands are converted exactly before they are
    multiplied.  Sums of products share their parameters, and so do sums of sums; with `alone` the outermost
    one has its own, and sums of two may cut; with `converted` operands of eight bits are fp16 before they are
    multiplied.  `nan` is the word of an invalid operation, and the rule for NaN operands where the sums can
    have one; `negated` says which products are subtracted.  `rare` are shapes in place of those that
    catalogued designs have.
    """
    if order.root is None:
        return
    wide = format_named("fp16")
    if converted and max(spec.a_format.width, spec.b_format.width) > 8:
        return
    root = _staged(order.root, alone)
    cut = _cut(order, dict(zip(map(id, order.root.steps()), root.steps(), strict=True)))
    sums = [*starts(root)]
    if rare is not None and rare.twice:
        sums = [Step((replace(x, stage=_JOIN),)) for x in sums]
    for start in sums:
        unit = plain_tree(spec, start, nan, negated) or plain_tree(spec, start, (nan[0], "word"), negated)
        assert unit is not None
        assert unit.tree is not None
        tree = replace(unit.tree, converted=wide if converted else None)
        yield from structures(
            tree_unit(unit, tree),
            cut,
            pairs_cut=alone,
            shapes=rare,
        )


def starts(root: Step) -> Iterator[Step]:
    """The sums as they are, and with a +0 that masks do not show."""
    yield from dict.fromkeys((root, _from_zero(root)))


def plain_tree(spec: UnitSpec, root: Step, nan: tuple[int, str], negated: str = "none") -> UnitSpec | None:
    """The unit that sums in an order, its NaNs given; None where such sums cannot have the rule for NaNs."""
    names = ",".join(f"{name}_format={fmt}" for name, fmt in spec.operands.names().items())
    with suppress(InputError):
        check_nans(nan[1], spec.operands)
        return resolve(f"tree@steps={root},nan_word={nan[0]:#x},nan_rule={nan[1]},negated={negated},{names}")
    return None


def nan_rule(
    spec: UnitSpec, order: Order | None, word: int, history: tuple[Batch, Raw], negated: str = "none"
) -> str:
    """The rule for NaN operands that gives all words of a history in the order of the sums, if one does."""
    batch, answers = history
    rows = np.setdiff1d(np.arange(len(answers)), without_nan(spec, batch))
    root = None if order is None else order.root
    if root is None or not rows.size:
        return NAN_RULES[0]
    for rule in TREE_NAN_RULES:
        for start in starts(root):
            unit = plain_tree(spec, start, (word, rule), negated)
            if unit is not None and (replay(unit, rows_of(batch, rows)) == answers[rows]).all():
                return rule
    return NAN_RULES[0]


def nan_variants(unit: UnitSpec, words: Sequence[tuple[int, int]] = ()) -> Iterator[UnitSpec]:
    """The unit with each other rule for NaNs that its formats allow, and with words that were seen.

    Shapes: the words of invalid operations and of factors that are NaN.  The parts of a composed unit see one
    word for NaN, so that they have no other rule.
    """
    if unit.emulation is not None:
        return
    own = unit.design.nan_rule if unit.tree is None else unit.tree.nan_rule
    made = {unit.name}
    for invalid, factor in words or [(unit.design.nan_word, unit.design.nan_word)]:
        for rule in NAN_RULES:
            text = f"nan_rule={rule}" if rule != own else ""
            text += "" if invalid == unit.design.nan_word else f",nan_word={invalid:#x}"
            text += f",factor_nan_word={factor:#x}" if rule == "products_c" and factor != invalid else ""
            with suppress(InputError):
                other = resolve(altered(unit, text.strip(",")))
                check_nans(rule, unit.operands)
                if other.name not in made:
                    made.add(other.name)
                    yield other


def _cut(order: Order, staged: dict[int, Step]) -> dict[str, bool]:
    """Whether the sums of each stage cut terms off, where masks show it."""
    assert order.root is not None
    seen: dict[str, set[bool]] = {}
    for step in order.root.steps():
        if step in order.fraction_bits:
            seen.setdefault(staged[id(step)].stage, set()).add(order.fraction_bits[step] is not None)
    return {stage: found.pop() for stage, found in seen.items() if len(found) == 1}


def _staged(step: Step, alone: bool, outer: bool = True) -> Step:
    """The sums with the names of their stages."""
    children = tuple(_staged(x, alone, False) if isinstance(x, Step) else x for x in step.children)
    inner = [x for x in children if isinstance(x, Step)]
    products = any(isinstance(x, int) for x in children)
    stage = "" if products or not inner else _JOIN
    if alone and outer and inner:
        stage = _LAST
    return Step(children, stage)


def _from_zero(step: Step) -> Step:
    """The sums with a +0 in each that takes products only: a chain of two starts with the first one alone."""
    if all(isinstance(x, int) for x in step.children):
        first, *rest = step.children
        if len(rest) == 1:
            return Step((Step((first, "zero")), *rest))
        return Step((*step.children, "zero"))
    return Step(tuple(_from_zero(x) if isinstance(x, Step) else x for x in step.children), step.stage)
