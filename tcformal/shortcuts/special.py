"""One flag for all encodings of a side that are NaN or Inf, off their encodings, two at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tcformal.formats.spec import Format, Specials
from tcformal.interp.lanes import WORD, Code, LaneValue
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.kernels.shortcuts import Emit, Shortcuts
from tcformal.semantics.unpack import unpack
from tcformal.shortcuts.encoded import as_whole, every, half_words, pair, plain, read_bits, wide_word, widens


def add_special(
    graph: Graph, formats: Mapping[str, Format], ways: Shortcuts, wide: Format | None = None
) -> None:
    """One flag of each side for all its encodings that are NaN or Inf, where the flags are no others.

    Shapes: `formats`: of the inputs a[0], a[1], … and b[0], b[1], …, by side; `wide`: the one that all are
    converted to, which keeps NaN, Inf and numbers apart, or None.
    """
    for side, fmt in formats.items():
        words = [word for name, word in graph.inputs.items() if name.startswith(f"{side}[")]
        if not plain(fmt) or not widens(fmt, wide) or fmt.specials is Specials.NONE or len(words) % 2:
            continue
        numbers = [unpack(graph, wide_word(graph, word, fmt, wide), wide or fmt) for word in words]
        known = {x.index for number in numbers for x in (number.nan, number.inf)}
        flags = {x.index for x in ways.flags[side]}
        if not flags or not flags <= known:
            continue
        found: tuple[Node, ...] = ()
        for x, y in zip(words[0::2], words[1::2], strict=True):
            found = (ways.derive((*found, x, y), _farthest(fmt)),)
        ways.flags[side] = [ways.derive(found, _beyond(fmt))]


def _farthest(fmt: Format) -> Emit:
    """The largest size of encodings, in halves; where -0 is the NaN, the least distance from that.

    Shapes: what was found before, where anything was, and two encodings.
    """

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        words, x = half_words(code), pair(code, given[-2:], fmt)
        top = 1 << (read_bits(fmt) - 1)
        how, name, value = ("ult", "xor", top) if _of_minus_zero(fmt) else ("ugt", "and", top - 1)
        made = code.new(f"{name} {words} {x}, {every(value)}")
        if len(given) > 2:
            before = code.new(f"bitcast {code.kind(WORD)} {given[0].text} to {words}")
            further = code.new(f"icmp {how} {words} {made}, {before}")
            made = code.new(f"select <{2 * code.lanes} x i1> {further}, {words} {made}, {words} {before}")
        return as_whole(code, made)

    return emit


def _beyond(fmt: Format) -> Emit:
    """Whether the farthest encoding of either half is NaN or Inf."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        words = half_words(code)
        x = code.new(f"bitcast {code.kind(WORD)} {given[0].text} to {words}")
        largest = fmt.largest >> (fmt.width - read_bits(fmt))
        how, value = ("eq", 0) if _of_minus_zero(fmt) else ("ugt", largest)
        there = code.new(f"icmp {how} {words} {x}, {every(value)}")
        made = as_whole(code, code.new(f"sext <{2 * code.lanes} x i1> {there} to {words}"))
        return code.compare("ne", made, code.const(0), WORD)

    return emit


def _of_minus_zero(fmt: Format) -> bool:
    return fmt.specials is Specials.NEGATIVE_ZERO_NAN
