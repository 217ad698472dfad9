"""Dot products whose every step is an operation of IEEE 754, on the processor's own floats.

A step that adds two numbers exactly and rounds to nearest in binary32 or binary64 is an addition, or a fused
multiply–add where one of them is a product that was not rounded; a product rounded on its own is a
multiplication.  Sums of several products, and what is rounded to odd, are made in binary64 (`sums64`).
Zeros, subnormals and overflow are as IEEE 754 says, which the design has to say too; flushing is done on
encodings, and NaNs are given their words.  Only operands of A and B that are finite come here: a NaN is c's,
or an infinite sum met one of the other sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from tcformal.design.rounding import Conversion
from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format
from tcformal.interp.lanes import DOUBLE, WORD, Code, LaneValue
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.kernels.shortcuts import Emit, Shortcuts, as_float, as_word, float_kind
from tcformal.semantics.stages import Block, Dot, DotStep, Operand
from tcformal.shortcuts import sums64

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
#: Formats whose values a processor brings to binary32 without loss, or to binary64 itself.
_OPERANDS = {WORD: ("fp16", "bf16", "tf32", "fp32"), DOUBLE: ("fp64",)}


def add_ieee(graph: Graph, spec: UnitSpec, stages: Dot, ways: Shortcuts) -> bool:
    """A shortcut for the result of a dot product all of whose steps are such operations, where they are."""
    design, o = spec.design, spec.operands
    if spec.emulation is not None or spec.tree is not None or spec.scale_format is not None:
        return False
    others = (f for f in fields(design) if f.name not in _KNOWN)
    if any(getattr(design, f.name) != f.default for f in others) or design.result_subnormals == "tiny_zero":
        return False
    bits = _NATIVE.get(design.rho)
    if bits is None or o.c != o.d or o.d.width != bits or not design.rho.fits(o.d):
        return False
    if any(fmt.name not in _OPERANDS[bits] for fmt in (o.a, o.b)) or design.zero_sign != "ieee":
        return False
    if design.product_limit is not None or design.group is not None:
        return False
    steps = _Steps(graph, spec, bits, ways)
    for stage in stages.stages:
        if not isinstance(stage, Block) or not all(steps.take(step) for step in stage.steps):
            return False
    named = _named(design.nan_word, o.d, keeps=design.nan_rule != "word")
    ways.add(ways.of(stages.result), (steps.last, graph.inputs["c"]), named)
    return True


class _Steps:
    """The steps of one dot product, each a node that stands for the encoding of its result."""

    def __init__(self, graph: Graph, spec: UnitSpec, bits: int, ways: Shortcuts) -> None:
        self._graph, self._spec, self._bits, self._ways = graph, spec, bits, ways
        self._known: dict[Operand, Node] = {}
        c = graph.inputs["c"]
        self.last = c
        self._known[Operand("c")] = self._flushed(c, spec.operands.c, spec.design.c_subnormals)

    def take(self, step: DotStep) -> bool:
        """Take a step in; false for one that is no operation of IEEE 754."""
        design, rounded = self._spec.design, step.rounded
        if rounded is None or step.floor is not None or not step.exact:
            return False
        if _NATIVE.get(rounded.target) != self._bits:
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
            emit = self._operation(name)
        elif name is None and self._bits == WORD and not odd and sums64.fits(o.a, o.b, *counts):
            emit = sums64.rounded_sum(o.a, o.b, *counts)
        else:
            return False
        made = self._ways.derive([*factors, *values], emit)
        if design.result_subnormals != "kept":
            made = self._flushed(made, o.d, design.result_subnormals)
        self.last = made
        if step.made.kind == "block":
            # The c of the next block is flushed once more.
            made = self._flushed(made, o.c, design.c_subnormals)
        self._known[step.made] = made
        return True

    def _value(self, x: Operand) -> Node | None:
        if x.kind == "zero":
            return self._graph.const(0, self._bits)
        return self._known.get(x)

    def _factors(self, k: int) -> tuple[Node, Node]:
        """Both factors of a product, as encodings of this width."""
        made = []
        for name, fmt in (("a", self._spec.operands.a), ("b", self._spec.operands.b)):
            word = self._graph.inputs[f"{name}[{k}]"]
            kept = self._flushed(word, fmt, self._spec.design.operand_subnormals)
            made.append(self._ways.derive((kept,), _widened(fmt)))
        return made[0], made[1]

    def _flushed(self, x: Node, fmt: Format, rule: str) -> Node:
        """An encoding whose subnormals are zeros: +0, or of their sign; zeros stay as they are."""
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

    def _operation(self, name: str) -> Emit:
        """An addition, multiplication or fused multiply–add of numbers of this width."""
        bits = self._bits

        def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
            kind = float_kind(code, bits)
            x = [as_float(code, _sized(code, value, bits)) for value in given]
            if name == "fma":
                made = code.new(
                    f"call {kind} @llvm.fma.{_suffix(code, bits)}({', '.join(f'{kind} {y}' for y in x)})"
                )
            else:
                made = code.new(f"f{name} {kind} {x[0]}, {x[1]}")
            return as_word(code, made, bits)

        return emit


def _sized(code: Code, x: LaneValue, bits: int) -> LaneValue:
    """An encoding in lanes of its own width."""
    return LaneValue(code.operand(x, bits), 0, (1 << bits) - 1, bits)


def _widened(fmt: Format) -> Emit:
    """The encoding of a value in binary32; one of binary32 or binary64 is that already."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        x = given[0]
        if fmt.name == "bf16":
            return LaneValue(
                code.binary("shl", x, code.const(WORD - fmt.width), WORD), 0, (1 << WORD) - 1, WORD
            )
        if fmt.name == "tf32":
            kept = (1 << fmt.width) - (1 << fmt.ignored_low_bits)
            return LaneValue(code.binary("and", x, code.const(kept), WORD), 0, kept, WORD)
        if fmt.name != "fp16":
            return x
        half = "half" if code.lanes == 1 else f"<{code.lanes} x half>"
        text = code.new(f"bitcast {code.kind(16)} {code.operand(x, 16)} to {half}")
        return as_word(code, code.new(f"fpext {half} {text} to {float_kind(code, WORD)}"), WORD)

    return emit


def _named(nan_word: int, fmt: Format, *, keeps: bool) -> Emit:
    """A result whose NaN has its word: that of c made quiet where the design keeps words, else `nan_word`."""
    bits = fmt.width
    sign = 1 << (bits - 1)
    quiet = 1 << (fmt.fraction_bits - 1)

    def is_nan(code: Code, text: str) -> str:
        size = code.apply("and", bits, text, code.word(sign - 1, bits))
        return code.relate("ult", bits, code.word(fmt.infinity, bits), size)

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        result, c = (code.operand(x, bits) for x in given)
        made = code.choose(is_nan(code, result), bits, code.word(nan_word, bits), result)
        if keeps:
            own = code.apply("or", bits, c, code.word(quiet, bits))
            made = code.choose(is_nan(code, c), bits, own, made)
        return LaneValue(made, 0, (1 << bits) - 1, bits)

    return emit


def _suffix(code: Code, bits: int) -> str:
    return f"f{bits}" if code.lanes == 1 else f"v{code.lanes}f{bits}"
