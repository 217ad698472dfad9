"""Sums of products of integers: pairs of 16-bit factors in words, whose products an instruction adds.

The sum of one step's products is exact in 32 bits, or taken modulo 2^32 where the step wraps.  Two products
may add up to more before a step saturates: those without sign are added one after the other.  A signed sum
that reaches 2^31 is subtracted with the other sign, for which there is room.  A larger one is taken modulo
2^32, and a quarter of it tells whether that is the sum itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from tcformal.backends.lanes import WORD, Code, LaneValue
from tcformal.backends.machine import x86
from tcformal.design.integer_sums import numbers_of, products_range, range_of
from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.stages import Dot, Operand
from tcformal.simulation.kernels.rules import LoweringRules, any_word, vector_suffix
from tcformal.simulation.lowering.instructions import HALF, as_parts, kind, larger, packed_halves, plus

#: Parameters that are read here, or that steps speak of; any other one has to have its default value.
_KNOWN = {"products", "summation", "c_position", "order", "conversion", "accumulator", "nan_word"}
#: The least and the largest number of 32 bits, by whether there is a sign, and of a signed half.
_WORDS = {True: (-(1 << (WORD - 1)), (1 << (WORD - 1)) - 1), False: (0, (1 << WORD) - 1)}
_HALVES = -(1 << (HALF - 1)), (1 << (HALF - 1)) - 1
#: The instruction of x86 that multiplies pairs of halves and adds each two products, by words of a register.
_PAIRS = {4: "sse2.pmadd.wd", 8: "avx2.pmadd.wd", 16: "avx512.pmaddw.d.512"}
#: Bits of a sum below its quarter.
_REST = 2


def add_integers(graph: Graph, spec: UnitSpec, stages: Dot, ways: LoweringRules) -> bool:
    """Add a rule for the result of a unit of integers, each of whose steps adds products to one number."""
    others = (f for f in fields(Design) if f.name not in _KNOWN)
    if not spec.d_format.integer or spec.tree is not None or spec.d_format.width > WORD:
        return False
    if any(getattr(spec.design, f.name) != f.default for f in others):
        return False
    carried, reach = Operand("c"), numbers_of(spec.c_format)
    total = ways.derive((graph.inputs["c"],), _factors, spec.c_format, "number")
    for step in stages.steps:
        products = [x for x in step.operands if x != carried]
        one = len(products) == len(step.operands) - 1 and all(x.kind == "products" for x in products)
        if not one or step.rounded is None:
            return False
        target = step.rounded.target
        parts, less = _parts(graph, spec, [k for x in products for k in x.ks], target, reach, ways)
        if not parts:
            return False
        total, reach = ways.derive((total, *parts), _converted, target, less), range_of(target)
        carried = step.made
    ways.add(ways.of(stages.result), (total,), _encoding, spec.d_format)
    return True


def _parts(
    graph: Graph, spec: UnitSpec, ks: Sequence[int], target: Conversion, reach: tuple[int, int],
    ways: LoweringRules,
) -> tuple[list[Node], bool]:  # fmt: skip
    """The words that a step adds to a number from `reach[0]` to `reach[1]`, and whether it subtracts them.

    No words where 32 bits do not hold the sum.
    """
    halves = [_inside(numbers_of(f), _HALVES) for f in (spec.a_format, spec.b_format)]
    (low, high), whole = _WORDS[target.signed], range_of(target) == _WORDS[target.signed]
    least, most = (len(ks) * x for x in products_range(spec))
    products = _products(graph, spec, ks, "pair" if all(halves) else "number", "", ways)
    if whole and target.wraps:
        return [ways.derive(products, _sum, low, high)], False
    if not _inside(reach, (low, high)):
        return [], False
    if _inside((least, most), (low, high) if whole else (low - reach[0], high - reach[1])):
        return [ways.derive(products, _sum, least, most)], False
    if not whole or len(ks) > 2:
        return [], False
    if not target.signed:
        return (products if least == 0 else []), False
    if all(halves) and _inside((-most, -least), (low, high)):
        return [ways.derive(products, _negative, -most, -least)], True
    if not any(halves) or max(-least, most) >> WORD:
        return [], False
    split = "b" if halves[0] else "a"
    both = [_products(graph, spec, ks, part, split, ways) for part in ("quarter", "rest")]
    return [x for (x,) in both], False


def _inside(x: tuple[int, int], y: tuple[int, int]) -> bool:
    return y[0] <= x[0] and x[1] <= y[1]


def _products(
    graph: Graph, spec: UnitSpec, ks: Sequence[int], part: str, split: str, ways: LoweringRules
) -> list[Node]:
    """The products of single numbers, or the sums of two of `part` of one side's numbers with the other's."""
    sides = []
    for side, fmt in (("a", spec.a_format), ("b", spec.b_format)):
        words = [graph.inputs[f"{side}[{k}]"] for k in ks]
        own = part if side == split or part == "number" else "pair"
        by = 1 if own == "number" else 2
        sides.append([ways.derive(words[i : i + by], _factors, fmt, own) for i in range(0, len(ks), by)])
    emit = _product if part == "number" else _pair_product
    return [ways.derive(both, emit) for both in zip(*sides, strict=True)]


def _factors(fmt: Format, part: str, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The number of an encoding, or one or two of them, their `quarter` or its `rest`, as signed halves."""
    numbers = [code.signed(x, fmt.width) if fmt.sign_bit else x for x in given]
    if part == "number":
        return numbers[0]
    if part != "pair":
        name, by = ("ashr", _REST) if part == "quarter" else ("and", (1 << _REST) - 1)
        numbers = [any_word(code.binary(name, x, code.const(by), WORD)) for x in numbers]
    return packed_halves(code, [*numbers, code.const(0)][:2])


def _pair_product(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The sum of the products of two pairs of signed halves, modulo 2^32."""
    if x86() and (name := _PAIRS.get(code.lanes)):
        of, (x, y) = kind(code, HALF), (as_parts(code, x, HALF) for x in given)
        return any_word(code.new(f"call {code.kind(WORD)} @llvm.x86.{name}({of} {x}, {of} {y})"))
    by, texts = code.word(HALF, WORD), [code.operand(x, WORD) for x in given]
    upper = [code.apply("ashr", WORD, x, by) for x in texts]
    lower = [code.apply("ashr", WORD, code.apply("shl", WORD, x, by), by) for x in texts]
    both = [code.apply("mul", WORD, *x) for x in (lower, upper)]
    return any_word(code.apply("add", WORD, *both))


def _product(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The product of two numbers, modulo 2^32."""
    return any_word(code.binary("mul", given[0], given[1], WORD))


def _sum(low: int, high: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The sum of some words modulo 2^32, a number from `low` to `high`."""
    text = code.operand(given[0], WORD)
    for x in given[1:]:
        text = code.apply("add", WORD, text, code.operand(x, WORD))
    return LaneValue(text, low, high, WORD)


def _negative(low: int, high: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The sum of some words modulo 2^32 with the other sign, a number from `low` to `high`."""
    total = _sum(-high, -low, code, given)
    return LaneValue(code.apply("sub", WORD, code.word(0, WORD), total.text), low, high, WORD)


def _converted(target: Conversion, less: bool, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """A number plus its `_parts`, or with `less` minus them, in a target's range: modulo it, or saturated."""
    total, *parts = given
    (low, high), whole = range_of(target), range_of(target) == _WORDS[target.signed]
    if whole and target.wraps:
        return LaneValue(code.binary("add", total, parts[0], WORD), low, high, WORD)
    if whole and target.signed and len(parts) == 2:
        return _by_quarter(code, total, *parts)
    if whole:
        kept = f"{'s' if target.signed else 'u'}{'sub' if less else 'add'}.sat"
        name = f"@llvm.{kept}.{vector_suffix(code, 'i', WORD)}"
        of, text = code.kind(WORD), code.operand(total, WORD)
        for x in parts:
            text = code.new(f"call {of} {name}({of} {text}, {of} {code.operand(x, WORD)})")
        return LaneValue(text, low, high, WORD)
    total = plus(code, total, parts[0])
    if target.wraps:
        bits = target.fraction_bits + target.signed
        return code.signed(total, bits) if target.signed else code.unsigned(total, bits)
    total = larger(code, total, code.const(low))
    beyond = code.compare("slt", code.const(high), total, WORD)
    return code.select(beyond, code.const(high), total, low, high)


def _by_quarter(code: Code, c: LaneValue, quarter: LaneValue, rest: LaneValue) -> LaneValue:
    """The sum c + 4·quarter + rest, saturated to 32 bits; `rest` is below 2^18."""

    def word(name: str, x: str, y: str | int) -> str:
        return code.apply(name, WORD, x, code.word(y, WORD) if isinstance(y, int) else y)

    low, high = _WORDS[True]
    total = word("add", c.text, word("add", word("shl", quarter.text, _REST), rest.text))
    size = word("add", word("ashr", c.text, _REST), quarter.text)
    # Either is about a quarter of the sum, or they are 2^30 apart.
    apart = word("sub", word("ashr", total, _REST), size)
    near = 1 << (WORD - 4)
    inside = code.relate("ult", WORD, word("add", apart, near), code.word(2 * near, WORD))
    end = word("xor", word("ashr", size, WORD - 1), high)
    return LaneValue(code.choose(inside, WORD, total, end), low, high, WORD)


def _encoding(fmt: Format, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The encoding of a number."""
    return code.unsigned(given[0], fmt.width)
