"""Factors as floats: fast conversion of an encoding to binary32, by moving its fields.

The fields of binary32 contain those of a narrower format: an encoding moved to them is its number times a
power of two, and a subnormal encoding stays one.  A rule applies to a factor whose sign, significand and
exponent are the nodes that `unpack` makes of one input; any other factor keeps its operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import WORD, Code, LaneValue
from tcformal.backends.machine import floats
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.pack import converted_word
from tcformal.semantics.unpack import unpack
from tcformal.simulation.kernels.lowering import Emit, LoweringRules, as_float, as_word, float_kind
from tcformal.simulation.lowering.packed import BYTE, HALF
from tcformal.simulation.lowering.placed import BIAS, FIELD
from tcformal.simulation.lowering.products import Factor

#: Bits of an exponent field of binary32.
_EXPONENT = 8
#: Of binary16: bits of a fraction field and of an exponent field, bias.
_HALF_FIELD, _HALF_EXPONENT, _HALF_BIAS = 10, 5, 15


@dataclass(frozen=True, slots=True)
class Encoding:
    """The input that a factor is unpacked from, with its format."""

    word: Node
    fmt: Format


class EncodedOperands:
    """The encodings of a dot product's factors, by the nodes into which `unpack` splits them.

    Shapes: `formats`: those of the inputs a[0], a[1], … and b[0], b[1], …, by side; `wide`: the one that all
    are converted to before they are unpacked, or None.
    """

    def __init__(
        self, graph: Graph, ways: LoweringRules, formats: Mapping[str, Format], wide: Format | None = None
    ) -> None:
        self._found: dict[tuple[int, ...], Encoding] = {}
        for name, word in list(graph.inputs.items()):
            fmt = formats.get(name.partition("[")[0])
            if fmt is None or not plain(fmt) or not widens(fmt, wide):
                continue
            x = unpack(graph, wide_word(graph, word, fmt, wide), wide or fmt).term
            nodes = [ways.of(y).index for y in (x.sign, x.significand, x.zero, x.exponent.bits)]
            found = Encoding(word, fmt)
            if wide is not None and wide != fmt:
                found = Encoding(ways.derive((word,), _widened(fmt)), wide)
            self._found[tuple(nodes)] = found

    def of(self, x: Factor) -> Encoding | None:
        """The encoding that a factor equals; None for any other factor."""
        encoding = self.apart(x)
        return None if encoding is None or len(x.exponent.atoms) > 1 else encoding[0]

    def apart(self, x: Factor) -> tuple[Encoding, Node] | None:
        """The encoding of a factor whose exponent includes a scale, with the encoding's own exponent."""
        if not len(x.signs) == len(x.zeros) == 1:
            return None
        for atom in x.exponent.atoms:
            code = atom
            while code.op == "zero_extend":
                (code,) = code.args
            nodes = x.signs[0].index, x.significand.index, x.zeros[0].index, code.index
            if nodes in self._found:
                return self._found[nodes], atom
        return None


def plain(fmt: Format) -> bool:
    """Whether an encoding is sign, exponent and fraction with subnormals, in a half or in a binary32-like
    word.

    It is at most one half, or a word whose fields stand where those of binary32 do.
    """
    read = 1 + fmt.exponent_bits + fmt.fraction_bits
    half = read == fmt.width <= HALF
    word = read + fmt.ignored_low_bits == fmt.width == WORD and fmt.exponent_bits == _EXPONENT
    # What is read of the lower half has room in the upper one.
    word = word and 0 <= 2 * (HALF - fmt.ignored_low_bits) <= fmt.fraction_bits
    return (half or word) and fmt.sign is Sign.PRESENT and fmt.has_zero and fmt.subnormals


def number(fmt: Format, exponent: int) -> Emit | None:
    """A number as a float: its signed integer significand times 2^(exponent code + `exponent`).

    Shapes: one encoding.
    Zero, NaN, Inf: the code of a subnormal number is 1; an encoding of NaN or Inf is read as a number.
    None where the power of two that is left is not a normal float.
    """
    half = as_half(fmt)
    by = exponent + fmt.fraction_bits + (_HALF_BIAS if half else BIAS)
    if not 1 - BIAS <= by <= BIAS or fmt.width > HALF:
        return None
    kept = ((1 << (fmt.width - 1)) - 1) << (FIELD - fmt.fraction_bits) | 1 << (WORD - 1)

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        if half:
            return scaled(code, as_word(code, _half(code, given[0], fmt), WORD))
        text = _in_place(code, given[0], fmt)
        if fmt.exponent_bits < _EXPONENT:
            text = code.apply("and", WORD, text, code.word(kept, WORD))
        return scaled(code, LaneValue(text, 0, (1 << WORD) - 1, WORD))

    def scaled(code: Code, x: LaneValue) -> LaneValue:
        if not by:
            return x
        power = as_float(code, LaneValue(code.word((BIAS + by) << FIELD, WORD), 0, (1 << WORD) - 1, WORD))
        return as_word(code, code.new(f"fmul {float_kind(code, WORD)} {as_float(code, x)}, {power}"), WORD)

    return emit


def _in_place(code: Code, x: LaneValue, fmt: Format) -> str:
    """An encoding with its fields aligned to those of binary32, and its sign copied above them."""
    text = code.operand(x, WORD)
    # The sign to the top, and from there down again, with copies of it, to leave the fraction in place.
    if fmt.width < WORD:
        text = code.apply("shl", WORD, text, code.word(WORD - fmt.width, WORD))
    if fmt.exponent_bits < _EXPONENT:
        text = code.apply("ashr", WORD, text, code.word(_EXPONENT - fmt.exponent_bits, WORD))
    return text


def significand(fmt: Format) -> Emit:
    """The signed integer significand of an encoding, as a float.

    Shapes: one encoding.
    Zero, NaN, Inf: a subnormal number has that place taken away again, which is exact; NaN and Inf are
    read as numbers.
    """
    one, sign = (BIAS + fmt.fraction_bits) << FIELD, 1 << (WORD - 1)
    kept = sign | ((1 << fmt.fraction_bits) - 1) << (FIELD - fmt.fraction_bits)
    field = ((1 << fmt.exponent_bits) - 1) << FIELD

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        def with_place(mask: int) -> str:
            text = code.apply("and", WORD, word, code.word(mask, WORD))
            text = code.apply("or", WORD, text, code.word(one, WORD))
            return as_float(code, LaneValue(text, 0, (1 << WORD) - 1, WORD))

        word = _in_place(code, given[0], fmt)
        normal, place = with_place(kept), with_place(sign)
        below = as_word(code, code.new(f"fsub {float_kind(code, WORD)} {normal}, {place}"), WORD)
        exponent = code.apply("and", WORD, word, code.word(field, WORD))
        none = code.relate("eq", WORD, exponent, code.word(0, WORD))
        made = code.choose(none, WORD, below.text, as_word(code, normal, WORD).text)
        return LaneValue(made, 0, (1 << WORD) - 1, WORD)

    return emit


def as_half(fmt: Format) -> bool:
    """Whether moving an encoding's fields gives a binary16 number that equals it up to a power of two.

    NaN, Inf: a number with the exponent that binary16 keeps for them is none of its numbers.
    """
    room = fmt.exponent_bits <= _HALF_EXPONENT and fmt.fraction_bits <= _HALF_FIELD
    finite = fmt.largest >> fmt.fraction_bits < (1 << _HALF_EXPONENT) - 1
    return floats() and room and finite and fmt.width in (BYTE, HALF)


def own_exponent(fmt: Format) -> int:
    """The cheapest exponent for the conversion of a number through binary16."""
    return -_HALF_BIAS - fmt.fraction_bits


def widens(fmt: Format, wide: Format | None) -> bool:
    """Whether no conversion is needed, or binary16 (`wide`) contains all numbers of an 8-bit format."""
    if wide is None or wide == fmt:
        return True
    binary16 = wide.exponent_bits == _HALF_EXPONENT and wide.fraction_bits == _HALF_FIELD
    binary16 = binary16 and wide.bias == _HALF_BIAS and plain(wide) and wide.specials is Specials.IEEE
    largest = (fmt.largest >> fmt.fraction_bits) - fmt.bias
    least = 1 - fmt.bias - fmt.fraction_bits
    inside = largest <= _HALF_BIAS and least >= 1 - _HALF_BIAS - _HALF_FIELD
    return binary16 and as_half(fmt) and fmt.width == BYTE and inside


def wide_word(graph: Graph, word: Node, fmt: Format, wide: Format | None) -> Node:
    """The encoding that is unpacked: an input, or the input converted to the wide format."""
    if wide is None or wide == fmt:
        return word
    with graph.scope(f"wide{word.index}"):
        return converted_word(graph, word, fmt, wide)


def _widened(fmt: Format) -> Emit:
    """The exact conversion of an encoding to binary16, for a number whose fields fit there.

    Shapes: one encoding.
    Zero, NaN, Inf: a zero keeps its sign; NaN and Inf are read as numbers.
    """

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        half = "half" if code.lanes == 1 else f"<{code.lanes} x half>"
        kind, power = float_kind(code, WORD), (BIAS + _HALF_BIAS - fmt.bias) << FIELD
        by = as_float(code, LaneValue(code.word(power, WORD), 0, (1 << WORD) - 1, WORD))
        made = code.new(f"fmul {kind} {_half(code, given[0], fmt)}, {by}")
        made = code.new(f"fptrunc {kind} {made} to {half}")
        made = code.new(f"bitcast {half} {made} to {code.kind(HALF)}")
        return LaneValue(code.resize("zext", made, HALF, WORD), 0, (1 << HALF) - 1, WORD)

    return emit


def _half(code: Code, x: LaneValue, fmt: Format) -> str:
    """The binary16 number with an encoding's fields; its conversion meets no subnormal float."""
    text = code.operand(x, HALF)
    spare = _HALF_EXPONENT - fmt.exponent_bits
    if fmt.width == BYTE:
        if spare:
            # With copies of the sign, which end above the fields.
            text = code.resize("sext", code.operand(x, BYTE), BYTE, HALF)
        text = code.apply("shl", HALF, text, code.word(_HALF_FIELD - fmt.fraction_bits, HALF))
        if spare:
            kept = ((1 << (fmt.width - 1)) - 1) << (_HALF_FIELD - fmt.fraction_bits) | 1 << (HALF - 1)
            text = code.apply("and", HALF, text, code.word(kept, HALF))
    kind = "half" if code.lanes == 1 else f"<{code.lanes} x half>"
    made = code.new(f"bitcast {code.kind(HALF)} {text} to {kind}")
    return code.new(f"fpext {kind} {made} to {float_kind(code, WORD)}")
