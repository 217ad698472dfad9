"""The designs that a device may have, by its order or near to others; apart, as nothing here asks it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np

from tcformal.design.axes import FRACTION_BITS, altered, around, axis_values, rare_values
from tcformal.design.names import resolve
from tcformal.design.rounding import EXACT_SUM, NAN_RULES, conversion
from tcformal.design.trees.arrangements import groups as blocks_of
from tcformal.design.trees.arrangements import running, tree_of, tree_unit
from tcformal.design.trees.tree import TREE_NAN_RULES, Step, Value, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.identification.operand_questions import Isolated
from tcformal.identification.order import Order
from tcformal.semantics.mma import check_nans
from tcformal.simulation.matrix_unit import padded_witness, replay
from tcformal.simulation.operands.batch import Batch, Raw, rows_of, witness_at
from tcformal.simulation.operands.inputs import without_nan
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result
from tcformal.simulation.structures import rounds_products

# ------------------------------------------------------------------ trees
#: The stage of sums that add up sums only; sums of products have the unit's own parameters, unless these are
#: rare ones.
_JOIN, _LAST, _PART = "join", "last", "part"


def hypotheses(
    spec: UnitSpec,
    order: Order,
    nan: tuple[int, str],
    own: Mapping[str, str],
    *,
    alone: bool = False,
    converted: bool = False,
    rare: Shapes | None = None,
) -> Iterator[UnitSpec]:
    """Tree units of a device's order, the plainest first.

    Masks do not show that a chain starts from +0 or from its first product, rounded, nor that operands are
    converted exactly before they are multiplied.  Sums of products share their parameters, and so do sums of
    sums; with `alone` the outermost one has its own, and sums of two may cut unless shapes are rare; with
    `converted` operands of eight bits are fp16 before they are multiplied.  `nan` is the word of an invalid
    operation, and the rule for NaN operands where the sums can have one; `own` are parameters that were
    measured, by name, those of the sum that takes c among them.  `rare` are shapes in place of those that
    catalogued designs have.
    """
    if order.root is None:
        return
    wide = format_named("fp16")
    if converted and (spec.scale_format is not None or max(spec.a_format.width, spec.b_format.width) > 8):
        return
    root = _staged(order.root, alone)
    wider = any(not conversion(f"RNE-{x}").fits(spec.d_format) for x in (rare or _usual(spec.d_format)).inner)
    # A whole chain that is rounded once more has one stage, apart from the last rounding.
    again = rare is not None and rare.twice and any(isinstance(x, Step) for x in root.children)
    if again or (root.stage and (wider or rare is not None)):
        root = _parts_named(root)
    cut = _cut(order, dict(zip(map(id, order.root.steps()), root.steps(), strict=True)))
    sums = [*starts(root)]
    if rare is not None and not rare.products:
        sums = [*dict.fromkeys((*sums, _first_alone(root)))]
    if rare is not None and rare.c_rounded:
        sums += [*map(_c_rounded, sums)]
    if rare is not None and rare.twice:
        sums = [Step((x if x.stage == _PART else replace(x, stage=_JOIN),)) for x in sums]
    for start in sums:
        unit = plain_tree(spec, start, nan, own) or plain_tree(spec, start, (nan[0], "word"), own)
        assert unit is not None
        assert unit.tree is not None
        tree = replace(unit.tree, converted=wide if converted else None)
        yield from structures(tree_unit(unit, tree), cut, pairs_cut=alone and rare is None, shapes=rare)


def framed(spec: UnitSpec, order: Order, nan: tuple[int, str], own: Mapping[str, str]) -> Iterator[UnitSpec]:
    """Tree units of a device's order whose inner sums of products keep the exponent of their largest term.

    Such a sum hides what the outer one hides, so that masks show some of it as parts that are added up before
    they are cut: blocks of equal length, of neighbours or strided, are tried.
    """
    if order.root is None:
        return
    kinds = itertools.product(_usual(spec.d_format).outer, (False, True))
    for root, (shape, normalise) in itertools.product(_in_frames(order, order.root), kinds):
        unit = plain_tree(spec, root, (nan[0], "word"), own)
        assert unit is not None
        assert unit.tree is not None
        cut = {"fraction_bits": _CUT, "normalise_products": normalise}
        inner = tuple((_PART, name, x) for name, x in (*cut.items(), ("normalised", False)))
        outer: Mapping[str, Any] = {**EXACT_SUM, **cut, "conversion": f"RNE-{shape}"}
        yield tree_unit(unit, replace(unit.tree, settings=inner), replace(unit.design, **outer))


def _in_frames(order: Order, root: Step) -> Iterator[Step]:
    """Orders whose inner sums of products are a stage: the sums that masks show, then equal blocks of k.

    A block holds neighbours, or every n-th product.  Blocks that are added one after the other to c hide what
    one sum that cuts terms off does.
    """
    groups = order.groups
    if (named := _blocks_named(root, {}, lambda ks: [ks])) is not None:
        yield named
    counts = {sum(isinstance(x, int) for x in step.children) for step in groups}
    for size in range(2, min(counts, default=0) + 1):
        if any(n % size for n in counts):
            continue
        for strided in (False, True)[: 1 + (size < max(counts))]:

            def blocks(ks: list[int], size: int = size, strided: bool = strided) -> list[list[int]]:
                n = len(ks) // size
                return [ks[i::n] if strided else ks[i * size : (i + 1) * size] for i in range(n)]

            if (made := _blocks_named(root, groups, blocks)) is not None:
                yield made
    k = len(root.children) - 1
    if not groups and order.fraction_bits.get(root) is not None and set(root.children) == {*range(k), "c"}:
        for size in (n for n in range(k // 2, 0, -1) if k % n == 0):
            chain = running(blocks_of(k, size), "c", _PART)
            assert isinstance(chain, Step)
            yield Step(chain.children)


def _blocks_named(
    step: Step, groups: Mapping[Step, object], blocks: Callable[[list[int]], list[list[int]]]
) -> Step | None:
    """An order with its sums of products named, those of `groups` in blocks; None without any."""
    whole = _with_blocks(step, groups, blocks)
    return whole if any(x.stage for x in whole.steps()) else None


def _with_blocks(
    step: Step,
    groups: Mapping[Step, object],
    blocks: Callable[[list[int]], list[list[int]]],
    outer: bool = True,
) -> Step:
    ks = [x for x in step.children if isinstance(x, int)]
    if len(ks) == len(step.children) > 1 and not outer and step not in groups:
        return Step(step.children, _PART)
    inner = [_with_blocks(x, groups, blocks, False) if isinstance(x, Step) else x for x in step.children]
    if step in groups:
        others = [x for x in inner if not isinstance(x, int)]
        return Step((*(Step(tuple(block), _PART) for block in blocks(ks)), *others))
    return Step(tuple(inner))


def starts(root: Step) -> Iterator[Step]:
    """The sums as they are, and with a +0 that masks do not show."""
    yield from dict.fromkeys((root, _from_zero(root)))


def plain_tree(spec: UnitSpec, root: Step, nan: tuple[int, str], own: Mapping[str, str]) -> UnitSpec | None:
    """The unit that sums in an order, its NaNs and some parameters given.

    None where such sums cannot have the rule for NaNs.
    """
    formats = {f"{name}_format": fmt for name, fmt in spec.operands.names().items()}
    settings = {"steps": root, "nan_word": hex(nan[0]), "nan_rule": nan[1], **own, **formats}
    if spec.scale_format is not None:
        settings["scale"] = f"{spec.scale_format.name}/{spec.scale_block}"
    with suppress(InputError):
        check_nans(nan[1], spec.operands)
        return resolve("tree@" + ",".join(f"{name}={value}" for name, value in settings.items()))
    return None


def nan_rule(
    spec: UnitSpec, order: Order | None, word: int, history: tuple[Batch, Raw], own: Mapping[str, str]
) -> str:
    """The rule for NaN operands that gives all words of a history in the order of the sums, if one does."""
    batch, answers = history
    rows = np.setdiff1d(np.arange(len(answers)), without_nan(spec, batch))
    root = None if order is None else order.root
    if root is None or not rows.size:
        return NAN_RULES[0]
    for rule in TREE_NAN_RULES:
        for start in starts(root):
            unit = plain_tree(spec, start, (word, rule), own)
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


def _cut(order: Order, staged: dict[int, Step]) -> dict[str, int | None]:
    """The least fraction bits of the sums of each stage, None for exact ones, where masks show them."""
    assert order.root is not None
    seen: dict[str, set[int | None]] = {}
    for step in order.root.steps():
        if step in order.fraction_bits:
            seen.setdefault(staged[id(step)].stage, set()).add(order.fraction_bits[step])
    some = {stage: {x for x in found if x is not None} for stage, found in seen.items()}
    return {
        stage: min(bits, default=None) for stage, bits in some.items() if not bits or None not in seen[stage]
    }


def _staged(step: Step, alone: bool, outer: bool = True) -> Step:
    """The sums with the names of their stages."""
    children = tuple(_staged(x, alone, False) if isinstance(x, Step) else x for x in step.children)
    inner = [x for x in children if isinstance(x, Step)]
    products = any(isinstance(x, int) for x in children)
    stage = "" if products or not inner else _JOIN
    if alone and outer and inner:
        stage = _LAST
    return Step(children, stage)


def _c_rounded(step: Step) -> Step:
    """The sums with c rounded as their results are before it is added."""
    inner = (_c_rounded(x) if isinstance(x, Step) else Step((x,)) if x == "c" else x for x in step.children)
    return Step(tuple(inner), step.stage)


def _parts_named(step: Step) -> Step:
    """The sums with a name for those of products: as inner sums these may keep more than D has."""
    children = tuple(_parts_named(x) if isinstance(x, Step) else x for x in step.children)
    return Step(children, step.stage or _PART)


def _from_zero(step: Step) -> Step:
    """The sums with a +0 in each that takes products only: a chain of two starts with the first one alone."""
    if all(isinstance(x, int) for x in step.children):
        first, *rest = step.children
        if len(rest) == 1:
            return Step((Step((first, "zero"), step.stage), *rest), step.stage)
        return Step((*step.children, "zero"), step.stage)
    return Step(tuple(_from_zero(x) if isinstance(x, Step) else x for x in step.children), step.stage)


def _first_alone(step: Step) -> Step:
    """The sums with the first product of a chain rounded before another one is added to it."""
    if len(step.children) == _PAIR and all(isinstance(x, int) for x in step.children):
        first, second = step.children
        return Step((Step((first,), step.stage), second), step.stage)
    return Step(tuple(_first_alone(x) if isinstance(x, Step) else x for x in step.children), step.stage)


def stage_of_c(unit: UnitSpec) -> str:
    """The stage of the sum of a tree that takes c; the outermost one's where none does."""
    assert unit.tree is not None
    root = unit.tree.root
    return next((step.stage for step in root.steps() if "c" in step.children), root.stage)


def measured_values(unit: UnitSpec, own: Iterable[str]) -> Iterator[UnitSpec]:
    """A tree unit with other values of parameters that were measured, one changed at a time."""
    values = axis_values(unit)
    of_c = f"{stage}." if (stage := stage_of_c(unit)) else ""
    rows = {f"{of_c}{name}": values[name] for name in ("fraction_bits", "c_bits") if "c_bits" in own}
    rows |= {name: values[name] for name in ("operand_rounding",) if name in own}
    if rows and "c_bits" in own:
        rows[f"{of_c}c_alignment_rounding"] = rare_values(unit)["c_alignment_rounding"]
    for name, value in ((name, value) for name, row in rows.items() for value in row):
        with suppress(InputError):
            made = resolve(altered(unit, f"{name}={value}"))
            if made.name != unit.name:
                yield made


# ------------------------------------------------------------------ structures
#: Shapes that results of an inner or the outer sum, and rounded products, can have, by the format of D.
_INNER: dict[str, tuple[str, ...]] = {
    "fp32": ("FP32",), "fp16": ("FP32", "FP16"), "bf16": ("FP32", "BF16"), "fp64": ("FP64",),
}  # fmt: skip
_OUTER: dict[str, tuple[str, ...]] = {
    "fp32": ("FP32", "E8M13"), "fp16": ("FP16",), "bf16": ("BF16",), "fp64": ("FP64",),
}  # fmt: skip
#: Shapes of inner sums and of products that no catalogued design has.
_PARTIAL = ("FP32", "FP16", "BF16", "FP64", "E8M10", "E8M13")
#: Exponent bits of narrow ones, and fraction bits from which on an inner sum counts as a wide one.
_FEW_EXPONENTS, _SEEN = 5, 40
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
    #: Whether c may be rounded before it is added, too.
    c_rounded: bool = False
    #: Shapes of inner sums whose width was measured, by stage.
    measured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Whether sums of two products cut them off before they are rounded.
    pairs: bool = False

    def of(self, stage: str, *, outermost: bool) -> tuple[str, ...]:
        """The shapes of the sums of a stage."""
        return self.outer if outermost else self.measured.get(stage, self.inner)


def structures(
    unit: UnitSpec,
    cut: Mapping[str, int | None] = MappingProxyType({}),
    *,
    pairs_cut: bool = False,
    shapes: Shapes | None = None,
) -> Iterator[UnitSpec]:
    """Every structure of a tree unit's order; parameters that are axes are the unit's.

    `cut` has the fraction bits of a stage's sums, None for exact ones, where that is known.  A sum of one
    operand rounds it only, so that it is exact; sums of two are taken to be exact before they are rounded,
    unless `pairs_cut`.  `shapes`: other shapes than those of the catalogued designs.
    """
    if unit.tree is None:
        raise InputError(f"expected a tree of sums for structures, but got {unit.name}")
    root = unit.tree.root
    usual = shapes or _usual(unit.operands.d)
    stages = sorted({step.stage for step in root.steps()})
    kinds = []
    for stage in stages:
        steps = [step for step in root.steps() if step.stage == stage]
        products = any(isinstance(x, int) for step in steps for x in step.children)
        sums: list[tuple[int | None, bool]] = []
        most = max(len(step.children) for step in steps)
        pairs = usual.pairs and products and most == _PAIR
        cuts = cut[stage] is not None if stage in cut else None
        if most > 1 and (most > _PAIR or pairs_cut or pairs if cuts is None else cuts):
            sums += [(_CUT, False), (_CUT, True)]
        if not pairs and (most == 1 or not cuts):
            sums.append((None, False))
        kinds.append(list(itertools.product(sums, usual.of(stage, outermost=stage == root.stage))))
    rounded = [None, *(f"RNE-{shape}" for shape in usual.products)]
    if shapes is not None and usual.products:
        rounded = rounded[1:]
    seen = set()
    # Few sums that cut terms off are few parameters.
    fewest = sorted(itertools.product(*kinds), key=lambda of: sum(bits is not None for (bits, _), _ in of))
    for products_to, chosen in itertools.product(rounded, fewest):
        of_stages = dict(zip(stages, chosen, strict=True))
        if products_to is not None and not _is_read(unit, products_to, of_stages, cut):
            continue
        normalised = [stage for stage, ((_, x), _) in of_stages.items() if x]
        if not all(_normalises(unit, x, of_stages, cut, products_to) for x in normalised):
            continue  # the same as without
        shapes_of_one = {of_stages[x.stage][1] for x in root.steps() if x != root and _is_one_product(x)}
        if any(not rounds_products(unit, f"RNE-{shape}") for shape in shapes_of_one):
            continue  # one product alone is not rounded
        of_c = {of_stages[x.stage][1] for x in root.steps() if x.children == ("c",)}
        if any(_holds(shape, unit.c_format) for shape in of_c):
            continue  # nor is c alone
        if usual.twice and len({x[1].partition(":")[0] for x in chosen}) == 1:
            continue  # the second rounding changes nothing
        with suppress(InputError):
            made = _with(unit, of_stages, products_to)
            if (key := _structure(made)) not in seen:
                seen.add(key)
                yield made


def _holds(shape: str, fmt: Format) -> bool:
    """Whether results of a shape are all numbers of a format, as they are."""
    to = conversion(f"RNE-{shape}")
    return fmt.fraction_bits <= to.fraction_bits and to.e_min <= fmt.e_min and fmt.e_max <= to.e_max


def _is_one_product(step: Step) -> bool:
    return len(step.children) == 1 and isinstance(step.children[0], int)


def _usual(d: Format) -> Shapes:
    """The shapes that catalogued designs of a format of D have; fp32's and its own for another format."""
    own = f"E{d.exponent_bits}M{d.fraction_bits}"
    inner, outer = _INNER.get(d.name, ("FP32", own)), _OUTER.get(d.name, (own,))
    return Shapes(inner, outer, inner)


def rare_shapes(
    spec: UnitSpec, order: Order | None, alone: Isolated, inner: Mapping[bool, int]
) -> list[Shapes]:
    """Shapes that terms alone and inner sums allow: those of the fewest rare parameters first.

    None has fewer bits than were seen to come through it.  `inner`: as of `inner_bits`; an inner sum that
    cuts terms off hides what its result keeps.  Where masks show no order, only inner sums are rare.
    """
    d = spec.d_format
    own, bits = f"E{d.exponent_bits}M{d.fraction_bits}", max(1, alone.product_bits, alone.c_bits)
    named = dict.fromkeys((*_OUTER.get(d.name, (own,)), f"E{d.exponent_bits}M{bits}"))
    fitting = [x for x in named if conversion(f"RNE-{x}").fraction_bits >= bits]
    outer = {conversion(f"RNE-{x}"): x for x in reversed(fitting)}
    limit = "" if alone.limit is None else f":{alone.limit}"
    last = tuple(f"{x}{limit}" for x in outer.values())
    partial = tuple(x for x in _PARTIAL if conversion(f"RNE-{x}").fraction_bits >= bits)
    exponents = _exponents(d, alone)
    hidden = {} if order is None else _hidden(spec, order, inner)
    # Sums that are as narrow as D show no end of their own.
    of_d = [d.exponent_bits] if d.exponent_bits <= _FEW_EXPONENTS else []
    beyond = [*_beyond_alone(spec, alone, exponents)]
    of_sums = dict.fromkeys((*of_d, *exponents, *beyond))
    # Few exponents of products say nothing of sums of their sums.
    joined = dict.fromkeys((max(8, d.exponent_bits), *of_sums))
    measured = {
        stage: tuple(dict.fromkeys((*(_shape(e, inner[products]) for e in of), *hidden.get(products, ()))))
        for stage, products, of in (("", True, of_sums), (_PART, True, of_sums), (_JOIN, False, joined))
        if products in inner
    }
    # Products that lose bits show how many they keep, unless the result is as narrow.
    most = spec.a_format.fraction_bits + spec.b_format.fraction_bits + 1
    least = max(1, min(alone.product_bits, bits))
    kept = range(least, most) if least >= bits else range(least, least + 1)
    of_products = (*exponents, *(beyond if len(kept) == 1 else ()))
    shapes = [*_PARTIAL, *(f"E{e}M{m}" for m in kept for e in of_products)]
    fit = {x: conversion(f"RNE-{x}") for x in shapes}
    usual = [x for x in _usual(d).products if x in fit and fit[x].fraction_bits >= least]
    products = {fit[x]: x for x in reversed(shapes) if fit[x].fraction_bits in kept or x in usual}
    rounded = tuple(products.values())
    narrow = alone.c_bits < spec.c_format.fraction_bits
    rows = [
        Shapes(partial, last, some, twice, narrow and not (twice or some), measured)
        for some in ((), rounded)
        for twice in (False, True)
    ]
    if order is None or order.root is None:
        return rows[:1]  # many orders are tried with them
    if inner.get(True, d.fraction_bits) < d.fraction_bits:
        rows.insert(1, replace(rows[0], pairs=True))
    # Products that keep less than is seen of them, and than sums of them keep, are no exact ones.
    seen = min(most - 1, d.fraction_bits, inner.get(True, most))
    return [x for x in rows if x.products] if alone.product_bits < seen else rows


def _hidden(spec: UnitSpec, order: Order, inner: Mapping[bool, int]) -> dict[bool, tuple[str, ...]]:
    """Shapes of more bits than came through inner sums of products, and of sums, that may cut them off.

    A sum that fp32 holds as it is, is no other one in fp64.
    """
    made: dict[bool, tuple[str, ...]] = {}
    a, b, to = spec.a_format, spec.b_format, conversion("RNE-FP32")
    for outer in () if order.root is None else order.root.steps():
        for step in (x for x in outer.children if isinstance(x, Step) and len(x.children) > _PAIR):
            products, cut = any(isinstance(x, int) for x in step.children), order.fraction_bits.get(step, 0)
            if cut is None or cut > (bits := inner.get(products, -1)):
                continue
            above = 1 + products + len(step.children).bit_length()
            held = (
                bits + above <= to.precision and a.e_max + b.e_max + above + spec.k.bit_length() <= to.e_max
                and to.e_min <= a.least_exponent + b.least_exponent and spec.scale_format is None
            )  # fmt: skip
            shapes = ("FP32",) if held else ("FP32", "FP64")
            made[products] = tuple(x for x in shapes if conversion(f"RNE-{x}").fraction_bits > bits)
    return made


def _exponents(d: Format, alone: Isolated) -> tuple[int, ...]:
    """Exponent bits that rounded products and inner sums can have: few only where terms alone show an end.

    Both, where factors reach no exponent that would show it.
    """
    end = 1 - (1 << (_FEW_EXPONENTS - 1))
    wide = (max(8, d.exponent_bits),)
    if d.exponent_bits <= _FEW_EXPONENTS:
        return wide
    shown = [e for e in range(_FEW_EXPONENTS + 1, wide[0]) if alone.product_limit == 1 << (e - 1)]
    if shown and alone.limit is None:
        return (*shown,)
    if alone.product_limit == 1 - end or alone.least > max(end, alone.floor):
        return (_FEW_EXPONENTS,)
    return (*wide, _FEW_EXPONENTS) if alone.floor > end else wide


def _beyond_alone(spec: UnitSpec, alone: Isolated, exponents: Sequence[int]) -> Iterator[int]:
    """Exponent bits whose ends no product of two normal numbers shows, though sums and subnormals do."""
    a, b = spec.a_format, spec.b_format
    for e in range(_FEW_EXPONENTS + 1, max(exponents)):
        least, most = 2 - (1 << e - 1), (1 << e - 1) - 1
        shown = alone.product_limit is not None or alone.least > alone.floor
        reached = most < a.e_max + b.e_max or least > a.e_min + b.e_min
        sums = most < a.e_max + b.e_max + 2 + spec.k.bit_length()
        subnormal = least > a.least_exponent + b.least_exponent
        if not shown and not reached and (sums or subnormal):
            yield e


def _shape(exponent_bits: int, bits: int) -> str:
    """The name of a shape; one of at most 40 bits seen is an fp64 number."""
    if bits >= _SEEN:
        return "FP64"
    made = conversion(f"RNE-E{exponent_bits}M{bits}")
    return next((x for x in _PARTIAL if conversion(f"RNE-{x}") == made), f"E{exponent_bits}M{bits}")


#: Whether and how the sums of a stage cut terms off, and the shape of their results.
Kind = tuple[tuple[int | None, bool], str]


def _normalises(
    unit: UnitSpec,
    stage: str,
    stages: Mapping[str, Kind],
    cut: Mapping[str, int | None],
    products_to: str | None,
) -> bool:
    """Whether sums of a stage that cut terms off can tell subnormal terms from normalised ones.

    Exact products they tell.  Of rounded ones, results and c they do where the last places of some lie below
    what is cut off beside subnormal ones.
    """
    assert unit.tree is not None
    terms: list[tuple[int, int]] = []
    for step in unit.tree.root.steps():
        if step.stage != stage:
            continue
        inner = [f"RNE-{stages[x.stage][1]}" for x in step.children if isinstance(x, Step)]
        if any(isinstance(x, int) for x in step.children):
            if products_to is None:
                return True
            inner.append(products_to)
        terms += [(x.e_min, x.fraction_bits) for x in map(conversion, inner)]
        if "c" in step.children:
            terms.append((unit.c_format.e_min, unit.c_format.fraction_bits))
    kept = cut.get(stage) or FRACTION_BITS[0]  # as few as can be, where masks show nothing
    return min(e - bits for e, bits in terms) < max(e for e, _ in terms) - kept


def _is_read(
    unit: UnitSpec, products_to: str, stages: Mapping[str, Kind], cut: Mapping[str, int | None]
) -> bool:
    """Whether rounded products can give other results than exact ones of some structure.

    Products that are normal numbers of the target as they are only become normalised: an exact sum does not
    see that, and one that cuts terms off sees it as `normalise_products` has it, but for a subnormal c beside
    them of which, or of products below it, bits are cut off.
    """
    assert unit.tree is not None
    c = unit.c_format
    last = min(c.least_exponent, unit.a_format.least_exponent + unit.b_format.least_exponent)
    return rounds_products(unit, products_to) or any(
        stages[step.stage][0][0] is not None
        and not stages[step.stage][0][1]
        and "c" in step.children
        and last < c.e_min - (cut.get(step.stage) or _CUT)
        for step in unit.tree.root.steps()
        if any(isinstance(x, int) for x in step.children)
    )


def _with(unit: UnitSpec, stages: Mapping[str, Kind], products: str | None) -> UnitSpec:
    """The unit with sums of those kinds and shapes."""
    assert unit.tree is not None
    given: dict[str, dict[str, Value]] = {
        stage: {"fraction_bits": bits, "normalise_products": normalise, "conversion": f"RNE-{shape}"}
        for stage, ((bits, normalise), shape) in stages.items()
    }
    if unit.design.c_bits is not None:
        measured = unit.design.fraction_bits, unit.design.c_bits
        given[stage_of_c(unit)] |= dict(zip(("fraction_bits", "c_bits"), measured, strict=True))
    if unit.design.e_max_of != "terms":
        given[stage_of_c(unit)]["e_max_of"] = unit.design.e_max_of
    rows = tuple((stage, name, x) for stage, row in given.items() if stage for name, x in row.items())
    own: Mapping[str, Any] = {**EXACT_SUM, "product_rounding": products, **given.get("", {})}
    return tree_unit(unit, replace(unit.tree, settings=rows), replace(unit.design, **own))


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


# ------------------------------------------------------------------ near designs
#: Answers that are tried one by one before a design is evaluated on all, and designs that are found at most.
_ROWS, _MOST = 48, 64
#: Answers by which a number of bits is chosen.
_SOME = 500
#: Misfits of a design by which combinations of parameters are chosen.
_MISFITS = 4
#: Parameters of which a neighbour has a number near.
_NEAR = {"fraction_bits": (-2, -1, 1, 2), "sum_fraction_bits": (-2, -1, 1, 2), "carry_bits": (-2, -1, 1, 2)}


@dataclass(slots=True)
class Nearby:
    """The designs beside some others that give all of some answers, one or two parameters changed.

    Each is evaluated on the Fraction oracle until an answer refutes it, which costs less than a circuit.
    Shapes: answers that are no NaN: which word these are is asked apart.  `over` says that the time is.
    """

    batch: Batch
    answers: Raw
    over: Callable[[], bool]
    #: Designs that were tried; whether all were.
    tried: int = 0
    whole: bool = True
    _rows: list[int] = field(default_factory=list)
    #: Misfits of the base that a combination of parameters has to change.
    _missed: int = 0

    def found(self, bases: Sequence[UnitSpec], changes: int, limit: int | None = None) -> list[UnitSpec]:
        """Those with so many parameters changed of the first of some bases that has any.

        `limit`: the exponent from which results overflow, where that is below the end of the format.
        """
        for base in bases:
            self._rows = self._telling(base)
            made: dict[str, UnitSpec] = {}
            settings = list(_settings(base, limit, near=changes > 1))
            touched = self._touched(base, settings) if changes > 1 else {}
            for chosen in combinations(settings, changes):
                if len({name for name, _ in chosen}) < changes:
                    continue
                if touched and len(set().union(*(touched[x] for x in chosen))) < self._missed:
                    continue
                if self.over():
                    self.whole = False
                    break
                if (u := self._fitting(base, chosen)) is not None and (
                    replay(u, self.batch) == self.answers
                ).all():
                    made.setdefault(u.name, u)
                    if len(made) >= _MOST:
                        break
            if made or not self.whole:
                return list(made.values())
        return []

    def of_other_widths(self, bases: Iterable[UnitSpec]) -> Iterator[UnitSpec]:
        """The bases that give more answers with another number of bits, near or far, each with its best."""
        rows = np.random.default_rng(0).permutation(len(self.answers))[:_SOME]
        batch, answers = rows_of(self.batch, rows), self.answers[rows]
        for base in bases:
            best, most = base, int((replay(base, batch) == answers).sum())
            for name, value in _settings(base, None, near=False):
                if name not in _NEAR or self.over():
                    continue
                with suppress(InputError):
                    u = resolve(altered(base, f"{name}={value}"))
                    self.tried += 1
                    if (right := int((replay(u, batch) == answers).sum())) > most:
                        best, most = u, right
            if best is not base:
                yield best

    def _telling(self, base: UnitSpec) -> list[int]:
        """Answers to try first: those that the base does not give, then some of all others."""
        right = replay(base, self.batch) == self.answers
        order = np.random.default_rng(0).permutation(len(self.answers))
        return [int(i) for i in order[np.argsort(right[order], kind="stable")][:_ROWS]]

    def _touched(
        self, base: UnitSpec, settings: Iterable[tuple[str, object]]
    ) -> dict[tuple[str, object], frozenset[int]]:
        """For each parameter set alone, the first misfits of a base to which it gives another result.

        A combination that is to give all answers has to change the result of each of them.  A value that
        the base cannot have alone may change any.
        """
        wrong = [
            row for row in self._rows if oracle_result(base, self._input(base, row)) != self.answers[row]
        ]
        rows = wrong[:_MISFITS]
        given = [oracle_result(base, self._input(base, row)) for row in rows]
        self._missed = len(rows)
        made = {}
        for name, value in settings:
            made[name, value] = frozenset(rows)
            with suppress(InputError):
                u = resolve(altered(base, f"{name}={value}"))
                results = zip(rows, given, strict=True)
                changed = (row for row, d in results if oracle_result(u, self._input(u, row)) != d)
                made[name, value] = frozenset(changed)
        return made

    def _input(self, unit: UnitSpec, row: int) -> Witness:
        return padded_witness(unit, witness_at(self.batch, row))

    def _fitting(self, base: UnitSpec, chosen: Iterable[tuple[str, object]]) -> UnitSpec | None:
        """The base with parameters set, where it is another design and gives the answers that are tried."""
        try:
            u = resolve(altered(base, ",".join(f"{name}={value}" for name, value in chosen)))
            if u.design == base.design:
                return None
            self.tried += 1
            for place, row in enumerate(self._rows):
                if oracle_result(u, self._input(u, row)) != int(self.answers[row]):
                    # What refutes one refutes many: it is tried first from now on.
                    self._rows.insert(0, self._rows.pop(place))
                    return None
        except InputError:
            return None  # a combination that means nothing
        return u


def as_bases(units: Iterable[UnitSpec], k: int) -> Iterator[UnitSpec]:
    """Units whose parameters can be changed: a composed one as the tree of its sums."""
    for u in units:
        if u.emulation is None:
            yield u
        elif (made := tree_of(u, k) if k % u.k == 0 else None) is not None:
            yield made


def numbers_only(d: Format, batch: Batch, answers: Raw) -> tuple[Batch, Raw]:
    """The inputs whose answer is no NaN."""
    rows = np.flatnonzero(~np.asarray(d.is_nan(answers)))
    return rows_of(batch, rows), answers[rows]


def _settings(base: UnitSpec, limit: int | None, *, near: bool) -> Iterator[tuple[str, object]]:
    """Every other value of each parameter; `near`: numbers of bits near to the base's only."""
    values = {name: list(row) for name, row in axis_values(base).items()}
    for name, steps in _NEAR.items() if near else ():
        some = around(getattr(base.design, name), steps)
        values[name] = [x for x in values[name] if not isinstance(x, int) or x in some]
    for name, row in rare_values(base).items():
        values[name] = [*dict.fromkeys((*values.get(name, ()), *row))]
    if limit is not None:
        values["conversion"] = [f"{x}:{limit}" for x in (base.design.conversion, *values["conversion"])]
    values["nan_word"] = values["nan_rule"] = []
    return ((name, value) for name, row in values.items() for value in row)
