"""Packed bytes: exponents of four products in a word, without their shared scale; and sums of narrow
products.

An 8-bit encoding has at most six exponent bits, so that a signed byte holds the sum of two exponents, with
room for a marker of zeros.  A scale shared by all products of a sum is added once to the largest exponent,
and once to the common power of two.

A group's exact sum is an integer sum if its terms are products of two inputs, node by node.  Each number
counts units of its format's smallest subnormal, and halves hold the sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tcformal.backends.concrete import Concrete
from tcformal.backends.lanes import WORD, Code, LaneValue
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Term
from tcformal.semantics.product import product
from tcformal.semantics.stages import Dot, GroupSum
from tcformal.semantics.unpack import unpack
from tcformal.simulation.kernels.lowering import Emit, LoweringRules
from tcformal.simulation.lowering import packed, placed
from tcformal.simulation.lowering.encoded import EncodedOperands, plain
from tcformal.simulation.lowering.packed import BYTE, HALF
from tcformal.simulation.lowering.products import Affine, Factor, Product, Reader

_COUNT = WORD // BYTE


@dataclass(frozen=True, slots=True)
class SharedApart:
    """The products of a sum with their shared exponent `shared` split off.

    Shapes: `words`, by side: the encodings of every product's factor; `formats`: theirs.
    Ranges and units: `constant`: that of every exponent; `high`: the largest of whole exponents.
    """

    products: list[Product]
    shared: tuple[Node, ...]
    words: tuple[list[Node], list[Node]]
    formats: tuple[Format, Format]
    constant: int
    zeros: bool
    high: int


def in_bytes(products: Sequence[Product], encodings: EncodedOperands, reader: Reader) -> SharedApart | None:
    """The products of a sum with 8-bit exponents and a shared part; None where bytes cannot hold them."""
    made: list[Product] = []
    words: tuple[list[Node], list[Node]] = [], []
    common: set[tuple[tuple[Node, ...], tuple[Format, Format], int, bool]] = set()
    for x in products:
        factors: list[Factor] = []
        rest: list[Node] = []
        formats: list[Format] = []
        for y, given in zip(x.factors, words, strict=True):
            found = encodings.apart(y)
            if found is None or found[0].fmt.width > BYTE or found[0].fmt.exponent_bits > BYTE - 2:
                return None
            encoding, atom = found
            given.append(encoding.word)
            constant, (low, high) = y.exponent.constant, reader.range(atom)
            exponent = Affine((atom,), constant)
            factors.append(replace(y, exponent=exponent, low=low + constant, high=high + constant))
            rest += [z for z in y.exponent.atoms if z is not atom]
            formats.append(encoding.fmt)
        made.append(replace(x, factors=(factors[0], factors[1])))
        constant = sum(y.exponent.constant for y in x.factors)
        common.add((tuple(rest), (formats[0], formats[1]), constant, x.zero_code is not None))
    if len(common) > 1 or len(made) % _COUNT:
        return None
    ((shared, both, constant, zeros),) = common
    return SharedApart(made, shared, words, both, constant, zeros, max(x.high for x in products))


def add_largest(
    e_max: Node, x: SharedApart, others: Sequence[Node], floor: int | None, ways: LoweringRules
) -> None:
    """Add the rule for the largest exponent of the products, of `others`, and of `floor` if given."""
    # A sum with it is below 0, and one of two numbers is not.
    of_zero = -(1 << max(fmt.exponent_bits for fmt in x.formats)) if x.zeros else None
    sums = []
    for i in range(0, len(x.products), _COUNT):
        sides = [
            ways.derive(words[i : i + _COUNT], packed.exponents(fmt, 0, of_zero))
            for words, fmt in zip(x.words, x.formats, strict=True)
        ]
        sums.append(ways.derive(sides, lambda code, y: packed.combined(code, "add", BYTE, *y)))
    n, m = len(sums), len(sums) + len(x.shared)

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        own = placed.larger(code, *packed.largest(code, list(given[:n]), BYTE))
        value = placed.added(code, [own, *given[n:m]], x.constant)
        if x.zeros:
            # The exponents of zero products alone decide nothing.
            none = code.compare("slt", own, code.const(0), WORD)
            value = code.select(none, code.const(0), value, min(0, value.low), max(0, value.high))
        rest = [*given[m:], *([] if floor is None else [code.const(floor)])]
        found = placed.largest(code, [value, *rest])
        return replace(found, high=max(x.high, *(y.high for y in rest), 0))

    ways.add(e_max, [*sums, *x.shared, *others], emit)


def add_groups(graph: Graph, k: int, stages: Dot, formats: Mapping[str, Format], ways: LoweringRules) -> None:
    """Add rules for the exact sums of product groups and their zero flags, where halves hold the sums."""
    a, b = formats["a"], formats["b"]
    groups = [x for block in stages.blocks for x in block.groups]
    if not groups or not all(
        plain(fmt) and fmt.exponent_bits <= 2 and largest_of(fmt) < 128 for fmt in (a, b)
    ):
        return
    place: dict[tuple[int, ...], int] = {}
    for i in range(k):
        numbers = [unpack(graph, graph.inputs[f"{x}[{i}]"], formats[x]) for x in "ab"]
        place[_nodes(product(graph, *numbers).term)] = i
    for group in groups:
        which = [place.get(_nodes(t), -1) for t in group.terms]
        if min(which) < 0 or len(which) % _COUNT or len(which) * largest_of(a) * largest_of(b) >> (HALF - 1):
            continue
        _add_group(graph, group, which, (a, b), ways)


def _add_group(
    graph: Graph, group: GroupSum, which: Sequence[int], formats: tuple[Format, Format], ways: LoweringRules
) -> None:
    products = []
    for i in range(0, len(which), _COUNT):
        sides = []
        for side, fmt in zip("ab", formats, strict=True):
            words = [graph.inputs[f"{side}[{j}]"] for j in which[i : i + _COUNT]]
            found = ways.derive(words, integers(fmt))
            sides.append([ways.derive((found,), packed.as_halves(upper)) for upper in (False, True)])
        products += [
            ways.derive(both, lambda code, y: packed.combined(code, "mul", HALF, *y))
            for both in zip(*sides, strict=True)
        ]
    # Units of the group's sum in one of the products of least numbers.
    up = group.scale + sum(1 - fmt.bias - fmt.fraction_bits for fmt in formats)
    most = len(which) * largest_of(formats[0]) * largest_of(formats[1])

    def total(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        value = given[0]
        for x in given[1:]:
            value = packed.combined(code, "add", HALF, value, x)
        low = code.apply("shl", WORD, value.text, code.word(HALF, WORD))
        parts = [code.apply("ashr", WORD, x, code.word(HALF, WORD)) for x in (low, value.text)]
        word = code.apply("add", WORD, *parts)
        word = code.apply("shl", WORD, word, code.word(up, WORD))
        return LaneValue(word, -(most << up), most << up, WORD)

    def zero(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        text = given[0].text
        for x in given[1:]:
            text = code.apply("or", WORD, text, x.text)
        return code.compare("eq", LaneValue(text, 0, (1 << WORD) - 1, WORD), code.const(0), WORD)

    ways.add(ways.of(group.total), products, total)
    ways.add(ways.of(group.zero), products, zero)


def _nodes(t: Term) -> tuple[int, ...]:
    return t.sign.index, t.significand.index, t.exponent.bits.index, t.zero.index


def largest_of(fmt: Format) -> int:
    """The largest number of a format, in units of its smallest subnormal."""
    g = Graph()
    term = unpack(g, g.const(fmt.largest, fmt.width), fmt).term
    significand, code = Concrete(g, [term.significand, term.exponent.bits])({})
    return significand << (code - 1)


def integers(fmt: Format) -> Emit:
    """Four numbers as signed bytes, in units of their format's smallest subnormal.

    Shapes: four encodings of numbers of a format with at most two bits of exponent.
    """

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        n, of = _COUNT * code.lanes, packed.kind(code, BYTE)
        word = packed.as_parts(code, packed.pack_encodings(code, given, fmt), BYTE)
        sign = 1 << (fmt.width - 1)
        size = made = code.new(f"and {of} {word}, {packed.every(sign - 1, BYTE)}")
        # From one exponent to the next, from the third on, a step of the encoding counts twice as much.
        for i in range(2, 1 << fmt.exponent_bits):
            at = packed.every(i << fmt.fraction_bits, BYTE)
            above = code.new(f"icmp ugt {of} {size}, {at}")
            larger = code.new(f"select <{n} x i1> {above}, {of} {size}, {of} {at}")
            beyond = code.new(f"sub {of} {larger}, {at}")
            for _ in range(1 << (i - 2)):
                made = code.new(f"add {of} {made}, {beyond}")
        minus = code.new(f"sub {of} zeroinitializer, {made}")
        bit = code.new(f"and {of} {word}, {packed.every(sign, BYTE)}")
        positive = code.new(f"icmp eq {of} {bit}, zeroinitializer")
        made = code.new(f"select <{n} x i1> {positive}, {of} {made}, {of} {minus}")
        return packed.as_whole(code, made, BYTE)

    return emit
