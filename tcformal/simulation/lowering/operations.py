"""Operations of IEEE 754 on encodings, as the processor's own floats compute them."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.backends.lanes import DOUBLE, WORD, Code, LaneValue
from tcformal.encodings.spec import Format
from tcformal.simulation.kernels.lowering import Emit, as_float, as_word, float_kind

#: Formats whose values a float of some bits holds without loss.
OPERANDS = {WORD: ("fp16", "bf16", "tf32", "fp32"), DOUBLE: ("fp64",)}


def negated(bits: int) -> Emit:
    """Negation: the number with its sign bit flipped."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        text = code.apply("xor", bits, code.operand(given[0], bits), code.word(1 << (bits - 1), bits))
        return LaneValue(text, 0, (1 << bits) - 1, bits)

    return emit


def constant(word: int, bits: int) -> Emit:
    """A constant, given by its encoding."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        return LaneValue(code.word(word, bits), word, word, bits)

    return emit


def operation(name: str, bits: int) -> Emit:
    """An addition, multiplication or fused multiply–add (`add`, `mul`, `fma`) of numbers of a width."""

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
    """An encoding in a lane of its own width."""
    return LaneValue(code.operand(x, bits), 0, (1 << bits) - 1, bits)


def widened(fmt: Format) -> Emit:
    """Conversion to binary32; the encodings of binary32 and binary64 stay."""

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


def named(nan_word: int, fmt: Format, *, keeps: bool) -> Emit:
    """NaN replacement: c's NaN made quiet where the design keeps payloads, else the design's `nan_word`."""
    bits = fmt.width
    sign = 1 << (bits - 1)
    quiet = 1 << (fmt.fraction_bits - 1)

    def is_nan(code: Code, text: str) -> str:
        size = code.apply("and", bits, text, code.word(sign - 1, bits))
        return code.relate("ult", bits, code.word(fmt.infinity, bits), size)

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        result = code.operand(given[0], bits)
        quieted = code.choose(is_nan(code, result), bits, code.word(nan_word, bits), result)
        if keeps:
            c = code.operand(given[1], bits)
            own = code.apply("or", bits, c, code.word(quiet, bits))
            quieted = code.choose(is_nan(code, c), bits, own, quieted)
        return LaneValue(quieted, 0, (1 << bits) - 1, bits)

    return emit


def _suffix(code: Code, bits: int) -> str:
    return f"f{bits}" if code.lanes == 1 else f"v{code.lanes}f{bits}"
