"""Sums of aligned products on floats, and all rules of a unit; apart, because kernels know no designs.

Each product is a multiplication of floats; the conversion to an integer cuts it off.
A product of signed significands of at most 24 bits in all is exact in binary32, and so is its product with a
power of two; the conversion to an integer truncates as alignment does.  No step rounds: a number below the
normal range is less than 1 and becomes 0, rounded or flushed, so that the processor's rounding mode has no
effect.  The conditions follow from static bounds of significands and exponents; a sum that violates them
keeps its operators.

Most designs give zero products a fixed exponent.  If it never decides the maximum, because another term is at
least as large or all exponents lie above it, the exponent of a zero operand is set so low that no product
with it decides the maximum, and no selection is needed.  Exponents are compared two or four at a time
(packed bytes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tcformal.backends.concrete import Concrete
from tcformal.backends.lanes import DOUBLE, WORD, Code, LaneValue, lane_for
from tcformal.backends.machine import floats
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Term
from tcformal.semantics.product import product
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Dot, GroupSum, Maximum, Rounded, Total
from tcformal.semantics.unpack import unpack
from tcformal.simulation.kernels.rules import LoweringRules, any_word, vector_suffix
from tcformal.simulation.lowering import encoded, instructions
from tcformal.simulation.lowering.binary32 import add_rounding
from tcformal.simulation.lowering.encoded import (
    Affine,
    EncodedOperands,
    Factor,
    Product,
    Reader,
    leaves,
    plain,
    raised_by,
    wide_word,
    widens,
)
from tcformal.simulation.lowering.ieee import add_ieee
from tcformal.simulation.lowering.instructions import (
    BIAS,
    BYTE,
    FIELD,
    HALF,
    as_parts,
    as_whole,
    every,
    kind,
    pack_encodings,
    read_bits,
)
from tcformal.simulation.lowering.integer_lanes import add_integers
from tcformal.simulation.lowering.shifts import add_shifts


# -------------------------- NaN and Inf: one flag for all encodings of a side, up to four encodings at a time
def add_special(
    graph: Graph, formats: Mapping[str, Format], ways: LoweringRules, wide: Format | None = None
) -> None:
    """Replace each side's NaN and Inf flags by one flag over its encodings; other flags stay.

    Shapes: `formats`: of the inputs a[0], a[1], … and b[0], b[1], …, by side; `wide`: the one that all are
    converted to, which keeps NaN, Inf and numbers apart, or None.
    """
    for side, fmt in formats.items():
        words = [word for name, word in graph.inputs.items() if name.startswith(f"{side}[")]
        alone = fmt.specials is Specials.IEEE and fmt.width in (WORD, DOUBLE) and not fmt.ignored_low_bits
        if not (alone or plain(fmt)) or not widens(fmt, wide) or fmt.specials is Specials.NONE:
            continue
        bits = BYTE if fmt.width <= BYTE and not len(words) % (WORD // BYTE) else HALF
        bits = fmt.width if alone else bits
        count = max(1, WORD // bits)
        if len(words) % count:
            continue
        numbers = [unpack(graph, wide_word(graph, word, fmt, wide), wide or fmt) for word in words]
        known = {x.index for number in numbers for x in (number.nan, number.inf)}
        flags = {x.index for x in ways.flags[side]}
        if not flags & known:
            continue
        found: tuple[Node, ...] = ()
        for i in range(0, len(words), count):
            found = (ways.derive((*found, *words[i : i + count]), _farthest, fmt, bits),)
        others = [x for x in ways.flags[side] if x.index not in known]
        ways.flags[side] = [ways.derive(found, _any_special, fmt, bits), *others]


def _farthest(fmt: Format, bits: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The largest magnitude of packed encodings; the least distance from -0 where -0 is the NaN.

    Shapes: what was found before, where anything was, and the encodings of a word, or one that is a word.
    """
    if bits >= WORD:
        size = (1 << (bits - 1)) - 1
        made = code.apply("and", bits, code.operand(given[-1], bits), code.word(size, bits))
        if len(given) > 1:
            further = code.relate("ult", bits, given[0].text, made)
            made = code.choose(further, bits, made, given[0].text)
        return LaneValue(made, 0, size, bits)

    n = WORD // bits
    words, x = kind(code, bits), as_parts(code, pack_encodings(code, given[-n:], fmt), bits)
    top = 1 << (read_bits(fmt) - 1)
    how, name, value = ("ult", "xor", top) if _of_minus_zero(fmt) else ("ugt", "and", top - 1)
    made = code.new(f"{name} {words} {x}, {every(value, bits)}")
    if len(given) > n:
        before = as_parts(code, given[0], bits)
        further = code.new(f"icmp {how} {words} {made}, {before}")
        made = code.new(f"select <{n * code.lanes} x i1> {further}, {words} {made}, {words} {before}")
    return as_whole(code, made, bits)


def _any_special(fmt: Format, bits: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """Whether the extreme encoding of any part is NaN or Inf."""
    if bits >= WORD:
        return code.compare("ult", code.const(fmt.largest), given[0], bits)
    words, x = kind(code, bits), as_parts(code, given[0], bits)
    largest = fmt.largest >> (fmt.width - read_bits(fmt))
    how, value = ("eq", 0) if _of_minus_zero(fmt) else ("ugt", largest)
    there = code.new(f"icmp {how} {words} {x}, {every(value, bits)}")
    made = as_whole(code, code.new(f"sext <{WORD // bits * code.lanes} x i1> {there} to {words}"), bits)
    return code.compare("ne", made, code.const(0), WORD)


def _of_minus_zero(fmt: Format) -> bool:
    return fmt.specials is Specials.NEGATIVE_ZERO_NAN


# -------- Packed bytes: exponents of four products in a word, and sums of narrow products
# An 8-bit encoding has at most six exponent bits, so that a signed byte holds the sum of two exponents, with
# room for a marker of zeros.  A scale shared by all products of a sum is added once to the largest exponent,
# and once to the common power of two.
#
# A group's exact sum is an integer sum if its terms are products of two inputs, node by node.  Each number
# counts units of its format's smallest subnormal, and halves hold the sum.
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
            ways.derive(words[i : i + _COUNT], instructions.exponents, fmt, 0, of_zero)
            for words, fmt in zip(x.words, x.formats, strict=True)
        ]
        sums.append(ways.derive(sides, instructions.combined, "add", BYTE))
    n, m = len(sums), len(sums) + len(x.shared)

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        own = instructions.larger(code, *instructions.largest_parts(code, list(given[:n]), BYTE))
        value = instructions.added(code, [own, *given[n:m]], x.constant)
        if x.zeros:
            # The exponents of zero products alone decide nothing.
            none = code.compare("slt", own, code.const(0), WORD)
            value = code.select(none, code.const(0), value, min(0, value.low), max(0, value.high))
        rest = [*given[m:], *([] if floor is None else [code.const(floor)])]
        found = instructions.largest(code, [value, *rest])
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
            found = ways.derive(words, integers, fmt)
            sides.append([ways.derive((found,), instructions.as_halves, upper) for upper in (False, True)])
        products += [
            ways.derive(both, instructions.combined, "mul", HALF) for both in zip(*sides, strict=True)
        ]
    # Units of the group's sum in one of the products of least numbers.
    up = group.scale + sum(1 - fmt.bias - fmt.fraction_bits for fmt in formats)
    most = len(which) * largest_of(formats[0]) * largest_of(formats[1])

    def total(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        value = given[0]
        for x in given[1:]:
            value = instructions.combined("add", HALF, code, (value, x))
        low = code.apply("shl", WORD, value.text, code.word(HALF, WORD))
        parts = [code.apply("ashr", WORD, x, code.word(HALF, WORD)) for x in (low, value.text)]
        word = code.apply("add", WORD, *parts)
        word = code.apply("shl", WORD, word, code.word(up, WORD))
        return LaneValue(word, -(most << up), most << up, WORD)

    def zero(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        text = given[0].text
        for x in given[1:]:
            text = code.apply("or", WORD, text, x.text)
        return code.compare("eq", any_word(text), code.const(0), WORD)

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


def integers(fmt: Format, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """Four numbers as signed bytes, in units of their format's smallest subnormal.

    Shapes: four encodings of numbers of a format with at most two bits of exponent.
    """
    n, of = _COUNT * code.lanes, instructions.kind(code, BYTE)
    word = instructions.as_parts(code, instructions.pack_encodings(code, given, fmt), BYTE)
    sign = 1 << (fmt.width - 1)
    size = made = code.new(f"and {of} {word}, {instructions.every(sign - 1, BYTE)}")
    # From one exponent to the next, from the third on, a step of the encoding counts twice as much.
    for i in range(2, 1 << fmt.exponent_bits):
        at = instructions.every(i << fmt.fraction_bits, BYTE)
        above = code.new(f"icmp ugt {of} {size}, {at}")
        larger = code.new(f"select <{n} x i1> {above}, {of} {size}, {of} {at}")
        beyond = code.new(f"sub {of} {larger}, {at}")
        for _ in range(1 << (i - 2)):
            made = code.new(f"add {of} {made}, {beyond}")
    minus = code.new(f"sub {of} zeroinitializer, {made}")
    bit = code.new(f"and {of} {word}, {instructions.every(sign, BYTE)}")
    positive = code.new(f"icmp eq {of} {bit}, zeroinitializer")
    made = code.new(f"select <{n} x i1> {positive}, {of} {made}, {of} {minus}")
    return instructions.as_whole(code, made, BYTE)


# ----------------------------------------------------------------------------------- Sums of aligned products
#: Bits of a significand of binary32.
_PRECISION = 24
#: Magnitudes that a conversion to a signed integer of 32 bits takes.
_LARGEST = (1 << 31) - 1
#: The exponent of the least factors of floats that have their exponents and are no halves.
_LEAST = -30


def add_aligned(
    graph: Graph, root: Node, stages: Dot, formats: Mapping[str, Format], ways: LoweringRules,
    wide: Format | None = None,
) -> None:  # fmt: skip
    """Add lowering rules for the sums of aligned products among the stages of a dot product.

    Shapes: `formats`: of the inputs' encodings, by side; `wide`: the one that all are converted to, or None.
    """
    sums = _Sums(graph, root, EncodedOperands(graph, ways, formats, wide), ways)
    add_special(graph, formats, ways, wide)
    for step in stages.steps:
        if step.total is not None and step.total.maximum is not None:
            sums.add(step.total, step.total.maximum)


class _Sums:
    """A builder of the rules for sums of aligned products in one dot product."""

    def __init__(self, graph: Graph, root: Node, encodings: EncodedOperands, ways: LoweringRules) -> None:
        self._graph, self._ways, self._reader = graph, ways, Reader(graph, root, ways)
        self._encodings = encodings

    def add(self, total: Total, maximum: Maximum) -> None:
        """Add the rules of one sum where its conditions hold."""
        found = leaves(maximum)
        if len(found) != len(total.terms):
            return
        products: list[Product] = []
        others: list[Node] = []
        for term, leaf in zip(total.terms, found, strict=True):
            product = self._reader.product(term, leaf)
            if product is None:
                others.append(self._ways.of(leaf.code))
            else:
                products.append(product)
        codes = {x.zero_code for x in products if x.zero_code is not None}
        if any(max(abs(x.low), abs(x.high)) >> (HALF - 3) for x in products):
            return
        if not products or any(not self._reader.holds(x) for x in others):
            return
        floor: int | None = None
        if codes and not any(self._reader.range(x)[0] >= max(codes) for x in others):
            # Nothing else keeps zero products from deciding: their exponent does, where no other is below it.
            if len(codes) > 1 or max(codes) > min(x.low for x in products):
                return
            floor = max(codes)
        e_max = self._ways.of(maximum.code)
        products = [replace(x, exponents=self._exponents(x)) for x in products]
        apart = in_bytes(products, self._encodings, self._reader)
        if apart is not None:
            add_largest(e_max, apart, [*others], floor, self._ways)
            self._terms(e_max, apart.products, self._powers(e_max, [], apart.products), apart.shared)
            return
        pairs = list(zip(products[0::2], products[1::2], strict=False))
        sums = [self._added(x, y) for x, y in pairs]
        self._largest(e_max, sums, products, others, floor)
        self._terms(e_max, products, self._powers(e_max, sums, products))

    def _exponents(self, x: Product) -> tuple[Node, ...]:
        """Each factor's exponent; that of a zero is so low that no product with it decides the maximum."""
        most = _beyond(x)
        exponents = []
        for factor in x.factors:
            zeros = factor.zeros if x.zero_code is not None else ()
            n = len(zeros)

            def emit(
                code: Code, given: Sequence[LaneValue], n: int = n, factor: Factor = factor, low: int = -most
            ) -> LaneValue:
                value = instructions.added(code, given[n:], factor.exponent.constant)
                for zero in given[:n]:
                    value = code.select(zero, code.const(low), value, min(low, value.low), value.high)
                return value

            exponents.append(self._ways.derive([*zeros, *factor.exponent.atoms], emit))
        return tuple(exponents)

    def _largest(
        self, e_max: Node, sums: Sequence[Node], products: Sequence[Product], others: Sequence[Node],
        floor: int | None,
    ) -> None:  # fmt: skip
        """Add the rule for the largest exponent: a packed maximum without selection for zero products."""
        n = len(sums)
        alone = products[2 * n :]
        high = max(x.high for x in products)

        def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
            values = instructions.largest_parts(code, list(given[:n]), HALF)
            rest = given[n:]
            for _ in alone:
                values.append(instructions.plus(code, rest[0], rest[1]))
                rest = rest[2:]
            values += rest
            if floor is not None:
                values.append(code.const(floor))
            found = instructions.largest(code, values)
            return replace(found, high=max(high, *(x.high for x in rest), floor or 0))

        self._ways.add(e_max, [*sums, *(y for x in alone for y in x.exponents), *others], emit)

    def _added(self, x: Product, y: Product) -> Node:
        """The exponents of two products, packed in halves."""
        sides = [self._packed(x, y, side) for side in (0, 1)]
        return self._ways.derive(sides, instructions.combined, "add", HALF)

    def _powers(
        self, e_max: Node, sums: Sequence[Node], products: Sequence[Product]
    ) -> Callable[[Product, int], Node]:
        """The power 2^(raised - e_max + exponent) of each product as a float, packed in pairs where halves
        fit."""
        _, top = self._reader.range(e_max)
        most = top + BIAS + FIELD + max(2 * _beyond(x) for x in products)
        place = {id(x): i for i, x in enumerate(products)}
        made: dict[tuple[int, int], Node] = {}

        def power(x: Product, raised: int) -> Node:
            pair, half = divmod(place[id(x)], 2)
            if pair >= len(sums) or most >> (HALF - 1):
                return self._ways.derive([e_max, *x.exponents], instructions.power, raised, True)
            if (raised, -1) not in made:
                made[raised, -1] = self._ways.derive([e_max], instructions.below, raised)
            if (raised, pair) not in made:
                made[raised, pair] = self._ways.derive([made[raised, -1], sums[pair]], instructions.fields)
            return self._ways.derive([made[raised, pair]], instructions.power_of_half, half)

        return power

    def _packed(self, x: Product, y: Product, side: int) -> Node:
        """The exponents of one factor of each of two products, packed; read off the encodings if possible."""
        zeros = [None if p.zero_code is None else -_beyond(p) for p in (x, y)]
        factors = [p.factors[side] for p in (x, y)]
        words = [self._encodings.of(factor) for factor in factors]
        constants = [factor.exponent.constant for factor in factors]
        if (
            words[0] is None or words[1] is None or words[0].fmt != words[1].fmt
            or constants[0] != constants[1] or zeros[0] != zeros[1]
        ):  # fmt: skip
            return self._ways.derive((x.exponents[side], y.exponents[side]), instructions.packed_halves)
        both = words[0].word, words[1].word
        return self._ways.derive(both, instructions.exponents, words[0].fmt, constants[0], zeros[0])

    def _lowest(self, x: Factor) -> int:
        """The exponent of the smallest numbers that a factor is converted to as a float."""
        word = self._encodings.of(x)
        if word is None or not encoded.as_half(word.fmt):
            return _LEAST
        return encoded.own_exponent(word.fmt) - x.exponent.constant + x.low

    def _float(self, x: Factor, exponent: int | None) -> Node:
        """A factor as a float: its signed significand, times 2^(`exponent` + its own) if an exponent is
        given."""
        word = self._encodings.of(x)
        if word is not None:
            emit = encoded.significand(word.fmt) if exponent is None else encoded.number(word.fmt, exponent)
            if emit is not None:
                return self._ways.derive((word.word,), emit)
        atoms = () if exponent is None else x.exponent.atoms
        return self._ways.derive(
            [*x.signs, x.significand, *atoms], instructions.number, len(x.signs), exponent
        )

    def _terms(
        self, e_max: Node, products: Sequence[Product], power: Callable[[Product, int], Node],
        shared: Sequence[Node] = (),
    ) -> None:  # fmt: skip
        """Add rules for the signed aligned terms that floats represent, with `shared` in every exponent."""
        scales: dict[int, Node] = {}
        for x in products:
            t = x.term
            aligned = self._ways.of(t.aligned)
            widths = [y.significand.width for y in x.factors]
            raised = raised_by(aligned, self._ways.of(t.shift), [y.significand for y in x.factors])
            if raised is None or sum(widths) > _PRECISION or raised > FIELD:
                continue
            most = ((1 << widths[0]) - 1) * ((1 << widths[1]) - 1)
            most = most << raised if raised >= 0 else most >> -raised
            if most > _LARGEST:
                continue
            signed = signed_magnitude(self._graph, self._ways.of(t.term.sign), aligned)
            # Exponents in the floats themselves where no number leaves the range: one power of two for all.
            lowest = [self._lowest(y) for y in x.factors]
            least = sum(lowest)
            inside = x.high - x.low + sum(widths) + least <= BIAS and raised - least <= BIAS
            spans = all(
                y.high - y.low + y.significand.width + low <= BIAS
                for y, low in zip(x.factors, lowest, strict=True)
            )
            own = inside and spans
            floats = [
                self._float(y, y.exponent.constant - y.low + low if own else None)
                for y, low in zip(x.factors, lowest, strict=True)
            ]
            both = self._ways.derive(floats, instructions.product)
            if own:
                by = raised + x.low - least
                if by not in scales:
                    scales[by] = self._ways.derive([e_max, *shared], instructions.power, by, False)
                self._ways.add(signed, [both, scales[by]], instructions.scaled, most)
            else:
                self._ways.add(signed, [both, power(x, raised)], instructions.scaled, most)


def _beyond(x: Product) -> int:
    """A bound that exceeds the magnitude of every exponent of a product's factors."""
    return max(abs(y) for factor in x.factors for y in (factor.low, factor.high)) + 1


# --------------------------------------------------------------------------------- All rules of a dot product
def add_leading(stages: Dot, ways: LoweringRules) -> None:
    """Add leading-zero-count rules for the normalisation shifts of all conversions up to 64 bits."""
    for step in stages.steps:
        for rounded in (step.rounded, None if step.floor is None else step.floor.rounded):
            if rounded is not None and 1 < rounded.magnitude.width <= DOUBLE:
                _add(rounded, ways)


def _add(rounded: Rounded, ways: LoweringRules) -> None:
    """Add the rules for one normalisation: a leading-zero count, and the shift by it."""
    magnitude, limit = ways.of(rounded.magnitude), ways.of(rounded.limit)
    distance, width = ways.of(rounded.distance), magnitude.width
    if distance.op == "const" or magnitude.op == "const":
        return
    largest = (1 << distance.width) - 1
    # The magnitude itself may have narrower lanes: no bit of it is lost when it is shifted in these.
    lane = lane_for(0, (1 << width) - 1)

    def count(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        most, kind = code.unsigned(given[1], limit.width), code.kind(lane)
        text = code.operand(code.unsigned(given[0], width), lane)
        zeros = code.new(f"call {kind} @llvm.ctlz.{vector_suffix(code, 'i', lane)}({kind} {text}, i1 false)")
        zeros = code.apply("sub", lane, zeros, code.word(lane - width, lane))
        found = code.value(zeros, 0, width, lane)
        for top in (code.const(largest), most):
            if found.high > top.low:
                bits = max(found.bits, top.bits)
                low, high = min(found.low, top.low), min(found.high, top.high)
                texts = code.operand(found, bits), code.operand(top, bits)
                below = code.relate("ult", bits, *texts)
                found = code.value(code.choose(below, bits, *texts), low, high, bits)
        return found

    def shift(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        moved = code.binary("shl", code.unsigned(given[0], width), given[1], lane)
        return LaneValue(moved, 0, (1 << width) - 1, lane)

    ways.add(distance, (magnitude, limit), count)
    ways.add(ways.of(rounded.normalised), (magnitude, distance), shift)


def add_rules(spec: UnitSpec, graph: Graph, stages: Dot, root: Node, ways: LoweringRules) -> None:
    """Add all rules of one call, for its result `root` with finite operands of A and B."""
    formats = {"a": spec.a_format, "b": spec.b_format}
    if floats() and add_ieee(graph, spec, stages, ways):
        add_special(graph, formats, ways)
        return
    if add_integers(graph, spec, stages, ways):
        return
    add_leading(stages, ways)
    add_rounding(graph, spec, stages, ways)
    wide = None if spec.emulation is None else spec.emulation.converted
    add_groups(graph, spec.k, stages, formats, ways)
    add_aligned(graph, root, stages, formats, ways, wide)
    add_shifts(graph, root, Reader(graph, root, ways), ways)
