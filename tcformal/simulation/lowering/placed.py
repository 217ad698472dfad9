"""Instructions for aligned products: exponents, powers of two, and products truncated to integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.backends.lanes import TRUTH, WORD, Code, LaneValue
from tcformal.simulation.kernels.lowering import Emit, as_float, as_word, float_kind
from tcformal.simulation.lowering.packed import HALF, combined, packed_halves

#: Of binary32: bits of a fraction field, bias, largest exponent code of a number.
FIELD, BIAS, _TOP = 23, 127, 254


def added(code: Code, given: Sequence[LaneValue], constant: int) -> LaneValue:
    """The sum of several integers and a constant."""
    value = code.const(constant)
    for y in given:
        value = plus(code, value, y)
    return value


def number(signs: int, exponent: int | None) -> Emit:
    """A signed significand as a float, times 2^(`exponent` + the given exponents) if `exponent` is given.

    Shapes: the truth values of so many signs, the significand, then numbers that add up to its exponent.
    """

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        value = given[signs]
        for sign in given[:signs]:
            negative = minus(code, code.const(0), value)
            largest = max(abs(value.low), abs(value.high))
            value = code.select(sign, negative, value, -largest, largest)
        kind = float_kind(code, WORD)
        made = code.new(f"sitofp {code.kind(WORD)} {code.operand(value, WORD)} to {kind}")
        if exponent is not None:
            field = added(code, given[signs + 1 :], BIAS + exponent)
            up = code.binary("shl", field, code.const(FIELD), WORD)
            power = as_float(code, LaneValue(up, 0, (1 << WORD) - 1, WORD))
            made = code.new(f"fmul {kind} {made}, {power}")
        return as_word(code, made, WORD)

    return emit


def plus(code: Code, x: LaneValue, y: LaneValue) -> LaneValue:
    """The sum of two integers."""
    low, high = x.low + y.low, x.high + y.high
    if low == high:
        return code.const(low)
    return code.value(code.binary("add", x, y, WORD), low, high, WORD)


def larger(code: Code, x: LaneValue, y: LaneValue) -> LaneValue:
    """The maximum of two integers."""
    low, high = max(x.low, y.low), max(x.high, y.high)
    first = LaneValue(code.operand(x, WORD), x.low, x.high, WORD)
    second = LaneValue(code.operand(y, WORD), y.low, y.high, WORD)
    above = LaneValue(code.relate("slt", WORD, first.text, second.text), 0, 1, TRUTH)
    return LaneValue(code.choose(above.text, WORD, second.text, first.text), low, high, WORD)


def largest(code: Code, values: list[LaneValue]) -> LaneValue:
    """The maximum of several integers."""
    while len(values) > 1:
        level = [larger(code, *values[i : i + 2]) for i in range(0, len(values) - 1, 2)]
        values = level + values[2 * len(level) :]
    return values[0]


def power(by: int, *, whole: bool = True) -> Emit:
    """The power 2^(by - e_max + exponents) as a float, clamped to 0 below and to 2^127 above.

    Ranges and units: the exponents that are given add up to the `whole` one of a product, or to a part of it.
    """

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        e_max, *exponents = given
        field = minus(code, code.const(BIAS + by), e_max)
        for x in exponents:
            field = plus(code, field, x)
        if exponents and whole:
            # No product's exponent is above the largest one.
            field = replace(field, high=min(field.high, BIAS + by))
        if field.low < 0:
            field = larger(code, field, code.const(0))
        if field.high > _TOP:
            below = code.compare("slt", field, code.const(_TOP), WORD)
            field = code.select(below, field, code.const(_TOP), min(field.low, _TOP), _TOP)
        up = code.binary("shl", field, code.const(FIELD), WORD)
        return LaneValue(up, 0, (1 << WORD) - 1, WORD)

    return emit


def below(by: int) -> Emit:
    """The exponent field of 2^(by - e_max), repeated in both halves of a word."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        field = minus(code, code.const(BIAS + by), given[0])
        return packed_halves(code, [field, field])

    return emit


def fields(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The packed sums of exponent fields and exponents, clamped to 0."""
    none = LaneValue(code.word(0, WORD), 0, 0, WORD)
    return combined(code, "max", HALF, combined(code, "add", HALF, *given), none)


def power_of_half(which: int) -> Emit:
    """The power of two whose exponent field is in the lower half (0) or in the upper half (1)."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        text = given[0].text
        if which:
            text = code.apply("lshr", WORD, text, code.word(HALF, WORD))
        word = code.apply("shl", WORD, text, code.word(FIELD, WORD))
        return LaneValue(word, 0, (1 << WORD) - 1, WORD)

    return emit


def minus(code: Code, x: LaneValue, y: LaneValue) -> LaneValue:
    """The difference of two integers."""
    return code.value(code.binary("sub", x, y, WORD), x.low - y.high, x.high - y.low, WORD)


def product(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The product of two floats."""
    a, b = (as_float(code, x) for x in given)
    return as_word(code, code.new(f"fmul {float_kind(code, WORD)} {a}, {b}"), WORD)


def scaled(most: int) -> Emit:
    """The product of a float and a power of two, truncated to an integer of magnitude at most `most`."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        kind = float_kind(code, WORD)
        x, power = (as_float(code, y) for y in given)
        placed = code.new(f"fmul {kind} {x}, {power}")
        integer = code.new(f"fptosi {kind} {placed} to {code.kind(WORD)}")
        return LaneValue(integer, -most, most, WORD)

    return emit
