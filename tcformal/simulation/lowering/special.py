"""NaN and Inf detection: one flag for all encodings of a side, up to four encodings at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tcformal.backends.lanes import DOUBLE, WORD, Code, LaneValue
from tcformal.encodings.spec import Format, Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.unpack import unpack
from tcformal.simulation.kernels.lowering import Emit, LoweringRules
from tcformal.simulation.lowering.encoded import plain, wide_word, widens
from tcformal.simulation.lowering.packed import (
    BYTE,
    HALF,
    as_parts,
    as_whole,
    every,
    kind,
    pack_encodings,
    read_bits,
)


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
            found = (ways.derive((*found, *words[i : i + count]), _farthest(fmt, bits)),)
        others = [x for x in ways.flags[side] if x.index not in known]
        ways.flags[side] = [ways.derive(found, _beyond(fmt, bits)), *others]


def _farthest(fmt: Format, bits: int) -> Emit:
    """The largest magnitude of packed encodings; the least distance from -0 where -0 is the NaN.

    Shapes: what was found before, where anything was, and the encodings of a word, or one that is a word.
    """

    def whole(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        size = (1 << (bits - 1)) - 1
        made = code.apply("and", bits, code.operand(given[-1], bits), code.word(size, bits))
        if len(given) > 1:
            further = code.relate("ult", bits, given[0].text, made)
            made = code.choose(further, bits, made, given[0].text)
        return LaneValue(made, 0, size, bits)

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
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

    return emit if bits < WORD else whole


def _beyond(fmt: Format, bits: int) -> Emit:
    """Whether the extreme encoding of any part is NaN or Inf."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        words, x = kind(code, bits), as_parts(code, given[0], bits)
        largest = fmt.largest >> (fmt.width - read_bits(fmt))
        how, value = ("eq", 0) if _of_minus_zero(fmt) else ("ugt", largest)
        there = code.new(f"icmp {how} {words} {x}, {every(value, bits)}")
        made = as_whole(code, code.new(f"sext <{WORD // bits * code.lanes} x i1> {there} to {words}"), bits)
        return code.compare("ne", made, code.const(0), WORD)

    def whole(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        return code.compare("ult", code.const(fmt.largest), given[0], bits)

    return emit if bits < WORD else whole


def _of_minus_zero(fmt: Format) -> bool:
    return fmt.specials is Specials.NEGATIVE_ZERO_NAN
