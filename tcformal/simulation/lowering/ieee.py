"""Dot products whose every step is an operation of IEEE 754, on the processor's own floats.

A step that adds two numbers exactly and rounds to nearest in binary32 or binary64 is an IEEE addition.  If
one of them is an unrounded product it is a fused multiply-add; a product with its own rounding is a
multiplication.  Sums of several products, and rounding to odd, are computed in binary64 (`sums64`).  The
design must treat zeros, subnormals and overflow as IEEE 754 does; flushing works on encodings, and NaNs get
the design's words.  Operands of A and B are finite here: a NaN comes from c, or from infinities of both
signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from tcformal.backends.lanes import DOUBLE, WORD, Code, LaneValue
from tcformal.design.rounding import Conversion
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.stages import Block, Dot, DotStep, Operand
from tcformal.simulation.kernels.lowering import LoweringRules
from tcformal.simulation.lowering import sums64, tiny
from tcformal.simulation.lowering.operations import OPERANDS, named, operation, widened

#: Rounding to odd, which no processor does in binary32 itself.
_ODD = Conversion("RO", 8, 23)
#: Conversions that a processor's operations make, and the bits of their encodings.
_NATIVE = {Conversion("RNE", 8, 23): WORD, Conversion("RNE", 11, 52): DOUBLE, _ODD: WORD}
#: Parameters that are read here, or that steps speak of; any other one has to have its default value.
_KNOWN = {
    "products", "summation", "c_position", "order", "group", "product_limit", "product_rounding",
    "accumulator", "conversion", "operand_subnormals", "c_subnormals", "result_subnormals", "nan_word",
    "nan_rule", "zero_sign", "overflow", "zero_exponent",
}  # fmt: skip


def add_ieee(graph: Graph, spec: UnitSpec, stages: Dot, ways: LoweringRules) -> bool:
    """Add a rule for the result of a dot product whose steps are all IEEE operations; else add none."""
    design, o = spec.design, spec.operands
    if spec.emulation is not None or spec.tree is not None or spec.scale_format is not None:
        return False
    others = (f for f in fields(design) if f.name not in _KNOWN)
    if any(getattr(design, f.name) != f.default for f in others):
        return False
    bits = _NATIVE.get(design.rho)
    if bits is None or o.c != o.d or o.d.width != bits or not design.rho.fits(o.d):
        return False
    if any(fmt.name not in OPERANDS[bits] for fmt in (o.a, o.b)) or design.zero_sign != "ieee":
        return False
    if design.product_limit is not None or design.group is not None:
        return False
    steps = _Steps(graph, spec, bits, ways)
    for stage in stages.stages:
        if not isinstance(stage, Block) or not all(steps.take(step) for step in stage.steps):
            return False
    words = named(design.nan_word, o.d, keeps=design.nan_rule != "word")
    ways.add(ways.of(stages.result), (steps.last, graph.inputs["c"]), words)
    return True


class _Steps:
    """A builder of the rules of one dot product: each step is a node for the encoding of its result."""

    def __init__(self, graph: Graph, spec: UnitSpec, bits: int, ways: LoweringRules) -> None:
        self._graph, self._spec, self._bits, self._ways = graph, spec, bits, ways
        self._known: dict[Operand, Node] = {}
        c = graph.inputs["c"]
        self.last = c
        self._known[Operand("c")] = self._flushed(c, spec.operands.c, spec.design.c_subnormals)

    def take(self, step: DotStep) -> bool:
        """Add the rule of one step; false for a step that is no IEEE operation."""
        design, rounded = self._spec.design, step.rounded
        if rounded is None or step.floor is not None or not step.exact:
            return False
        if _NATIVE.get(rounded.target) != self._bits or design.overflow == "largest":
            return False
        odd = rounded.target == _ODD
        if odd and (design.result_subnormals == "kept" or design.overflow != "infinity"):
            return False
        known = [x for x in step.operands if self._value(x) is not None]
        exact = [x for x in step.operands if self._value(x) is None]
        if any(x.kind != "products" or len(x.ks) != 1 for x in exact):
            return False
        products = [self._factors(x.ks[0]) for x in exact]
        factors = [y for pair in products for y in pair]
        values = [y for x in known if (y := self._value(x)) is not None]
        counts = len(exact), len(known)
        name = {(1, 0): "mul", (1, 1): "fma", (0, 2): "add"}.get(counts)
        o = self._spec.operands
        if odd and name in ("mul", "add"):
            emit = sums64.rounded_to_odd(name)
        elif name is not None and not odd:
            emit = operation(name, self._bits)
        elif name is None and self._bits == WORD and not odd and sums64.fits(o.a, o.b, *counts):
            emit = sums64.rounded_sum(o.a, o.b, *counts)
        else:
            return False
        made = self._ways.derive([*factors, *values], emit)
        if design.result_subnormals == "tiny_zero" and name != "add":
            if odd or name is None or not self._raisable():
                return False
            # One factor of each product, and the number.
            raised = [self._ways.derive((x,), tiny.raised) for x in (factors[0], *values)]
            made = self._ways.derive([raised[0], factors[1], *raised[1:], made], tiny.zeroed(name))
        elif design.result_subnormals != "kept":
            # Where a sum of two numbers is below normal nothing is rounded: it is tiny itself.
            made = self._flushed(made, o.d, "signed_zero")
        self.last = made
        if step.made.kind == "block":
            # The c of the next block is flushed once more.
            made = self._flushed(made, o.c, design.c_subnormals)
        self._known[step.made] = made
        return True

    def _raisable(self) -> bool:
        """Whether `tiny` is valid: raised factors stay finite, or no addend is subnormal."""
        a = self._spec.operands.a
        stays = (1 << a.exponent_bits) - a.bias + tiny.RAISED < 1 << 7
        return self._bits == WORD and (stays or self._spec.design.c_subnormals != "kept")

    def _value(self, x: Operand) -> Node | None:
        if x.kind == "zero":
            return self._graph.const(0, self._bits)
        return self._known.get(x)

    def _factors(self, k: int) -> tuple[Node, Node]:
        """Both factors of product `k`, as encodings of the processor's float width."""
        words = []
        for name, fmt in (("a", self._spec.operands.a), ("b", self._spec.operands.b)):
            word = self._graph.inputs[f"{name}[{k}]"]
            kept = self._flushed(word, fmt, self._spec.design.operand_subnormals)
            words.append(self._ways.derive((kept,), widened(fmt)))
        return words[0], words[1]

    def _flushed(self, x: Node, fmt: Format, rule: str) -> Node:
        """An encoding with subnormals flushed to +0 or to a zero of their sign, by `rule`."""
        if rule == "kept":
            return x
        assert rule in ("signed_zero", "positive_zero"), rule
        top = 1 << (fmt.width - 1)

        def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
            bits = given[0].bits
            text = code.operand(given[0], bits)
            size = code.apply("and", bits, text, code.word(top - 1, bits))
            least = 1 << (fmt.fraction_bits + fmt.ignored_low_bits)
            # Less one, a zero is the largest number of all.
            less = code.apply("sub", bits, size, code.word(1, bits))
            below = code.relate("ult", bits, less, code.word(least - 1, bits))
            sign = code.word(0, bits)
            if rule == "signed_zero":
                sign = code.apply("and", bits, text, code.word(top, bits))
            return LaneValue(code.choose(below, bits, sign, text), 0, 2 * top - 1, bits)

        return self._ways.derive((x,), emit)
