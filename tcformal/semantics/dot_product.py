"""One dot product of a unit: a hardware design, a summation tree, or a compiler's composition."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.spec import Operands
from tcformal.design.trees.tree import Tree, stage_designs
from tcformal.design.unit import Emulation, UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.mma import WHOLE, DotPlace, dot
from tcformal.semantics.pack import converted_word, pack
from tcformal.semantics.product import Scales
from tcformal.semantics.stages import Block, Dot, DotStep, Operand
from tcformal.semantics.sums.step import fused_sum
from tcformal.semantics.sums.tree_sum import tree_dot
from tcformal.semantics.unpack import unpack


def unit_dot(
    g: Graph,
    spec: UnitSpec,
    a: Sequence[Node],
    b: Sequence[Node],
    c: Node,
    scale_a: Sequence[Node] = (),
    scale_b: Sequence[Node] = (),
    call: int | None = None,
) -> Dot:
    """The dot product d = Σ a_k·b_k + c as the unit computes it.

    Shapes: a, b: K raw encodings, K a multiple of the unit's block (its k, where it is emulated or a tree);
    scale_a, scale_b: one raw encoding per spec.scale_block of k, none for units without scales; call: the
    place of a composed unit or a tree among others that are called one after the other.
    Errors: InputError for lengths that do not fit, or scales where there are none to take.
    """
    scales = None
    if spec.scale_format is not None and spec.scale_block is not None:
        scales = Scales(fmt=spec.scale_format, block=spec.scale_block, a=scale_a, b=scale_b)
    elif scale_a or scale_b:
        raise InputError(f"expected no scales for {spec.name}, but got {len(scale_a)} and {len(scale_b)}")
    if spec.tree is not None:
        return _by_tree(g, spec, spec.tree, a, b, c, call, scales)
    if spec.emulation is None:
        return dot(g, spec.design, spec.operands, a, b, c, scales)
    if len(a) != spec.k:
        raise InputError(f"expected K={spec.k} for the emulated unit {spec.name}, but got {len(a)}")
    return _emulated(g, spec, spec.emulation, a, b, c, call)


def _by_tree(
    g: Graph,
    spec: UnitSpec,
    tree: Tree,
    a: Sequence[Node],
    b: Sequence[Node],
    c: Node,
    call: int | None,
    scales: Scales | None,
) -> Dot:
    """One call of a tree unit."""
    if len(a) != spec.k:
        raise InputError(f"expected K={spec.k} for the tree of {spec.name}, but got {len(a)}")
    place = WHOLE
    if call is not None:
        ks = range(call * spec.k, (call + 1) * spec.k)
        before = Operand("block", number=call - 1) if call else Operand("c")
        place = DotPlace(ks, before, Operand("block", number=call))
    stages = stage_designs(tree, spec.design)
    return tree_dot(g, tree, spec.design, stages, spec.operands, a, b, c, place, scales)


def _emulated(
    g: Graph,
    spec: UnitSpec,
    how: Emulation,
    a: Sequence[Node],
    b: Sequence[Node],
    c: Node,
    call: int | None,
) -> Dot:
    """One call of a compiler's composition: convert, run the parts in order from +0, add c.

    Source: CUDA 13.0 SASS: fp8 `mma` on sm_90 and sm_100 is two HMMA and an FADD.
    """
    o = spec.operands
    inner = Operands(a=how.converted, b=how.converted, c=o.d, d=o.d)
    wide: dict[str, list[Node]] = {}
    for letter, words, fmt in (("a", a, o.a), ("b", b, o.b)):
        wide[letter] = []
        for k, word in enumerate(words):
            with g.scope(f"converted.{letter}{k}"):
                wide[letter].append(converted_word(g, word, fmt, how.converted))
    total, parts = g.const(0, o.d.width), Operand("parts")
    first_k = 0 if call is None else call * spec.k
    stages: list[Block | DotStep] = []
    for i, part in enumerate(how.parts):
        place = DotPlace([first_k + k for k in part], parts if i else Operand("zero"), parts)
        of_a, of_b = ([wide[letter][k] for k in part] for letter in "ab")
        with g.scope(f"part{i}"):
            made = dot(g, spec.design, inner, of_a, of_b, total, place=place)
        total = made.result
        stages += made.stages
    with g.scope("addition"):
        design = how.addition
        operands = [unpack(g, total, o.d), unpack(g, c, o.c)]
        summed = fused_sum(g, operands, design, design.rho)
        stages.append(
            DotStep(
                scope=g.here, operands=(parts, Operand("call", number=call - 1) if call else Operand("c")),
                made=Operand("call", number=call), total=summed.total, rounded=summed.rounded,
                specials=summed.specials, conversion=design.conversion, exact=design.fraction_bits is None,
            )
        )  # fmt: skip
    return Dot(pack(g, summed.result, o.d, g.const(design.nan_word, o.d.width)), tuple(stages))
