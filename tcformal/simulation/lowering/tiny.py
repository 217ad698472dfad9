"""Tininess after rounding: binary32 results below 2^-126 with unbounded exponent, though they round to
2^-126.

Tininess is read off the same operation on numbers 2^RAISED times as large: it rounds to as many bits, but
within the normal range, unless a number overflows.  If the addend overflows, or a factor that is not
multiplied by zero, the exact result is zero or has only bits far above 2^-126: an Inf or NaN is then not
tiny, and no flush is needed.  If a factor overflows that is multiplied by zero, the result is the addend,
which is never subnormal where that can happen.
"""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.backends.lanes import WORD, Code, LaneValue
from tcformal.simulation.kernels.lowering import Emit, as_float, as_word, float_kind
from tcformal.simulation.lowering.operations import operation

#: The exponent of the power of two by which numbers are raised.
RAISED = 32
#: Encodings of binary32: that power, and the least normal number times it.
_POWER, _LEAST = (127 + RAISED) << 23, (1 + RAISED) << 23
_SIGN = 1 << (WORD - 1)


def raised(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """A number times 2^RAISED: Inf where that overflows."""
    x = as_float(code, LaneValue(code.operand(given[0], WORD), 0, (1 << WORD) - 1, WORD))
    power = as_float(code, LaneValue(code.word(_POWER, WORD), 0, (1 << WORD) - 1, WORD))
    return as_word(code, code.new(f"fmul {float_kind(code, WORD)} {x}, {power}"), WORD)


def zeroed(name: str) -> Emit:
    """A result flushed to zero where the same operation (`mul`, `fma`) on raised numbers is tiny.

    Shapes: the raised operands, then the result; encodings of binary32.
    Zero, NaN, Inf: stay what they are.
    """

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        *operands, made = given
        text = code.operand(made, WORD)
        word = code.operand(operation(name, WORD)(code, operands), WORD)
        size = code.apply("and", WORD, word, code.word(_SIGN - 1, WORD))
        # Magnitudes are in the order of their encodings, and a NaN is above them.
        below = code.relate("ult", WORD, size, code.word(_LEAST, WORD))
        sign = code.apply("and", WORD, text, code.word(_SIGN, WORD))
        return LaneValue(code.choose(below, WORD, sign, text), 0, (1 << WORD) - 1, WORD)

    return emit
