"""Instructions of lowering rules: packed lanes, powers of two, and products truncated to integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.backends.lanes import TRUTH, WORD, Code, LaneValue
from tcformal.encodings.spec import Format
from tcformal.simulation.kernels.rules import any_word, as_float, as_word, float_kind

# ---------------------------------------------------- Packed lanes: two halves or four bytes of a 32-bit word
#: Bits of an encoding, or of an exponent, beside others.
BYTE, HALF = 8, 16


def kind(code: Code, bits: int) -> str:
    """The LLVM type of a lane that is split into parts of `bits` bits."""
    return f"<{WORD // bits * code.lanes} x i{bits}>"


def every(value: int, bits: int) -> str:
    """The LLVM constant that repeats a number in every part."""
    return f"splat (i{bits} {value & ((1 << bits) - 1)})"


def repeated(value: int, bits: int) -> int:
    """The word that repeats a number in every part."""
    return sum((value & ((1 << bits) - 1)) << at for at in range(0, WORD, bits))


def as_parts(code: Code, x: LaneValue, bits: int) -> str:
    """Bit cast from a word to a vector of its parts."""
    return code.new(f"bitcast {code.kind(WORD)} {code.operand(x, WORD)} to {kind(code, bits)}")


def as_whole(code: Code, text: str, bits: int) -> LaneValue:
    """Bit cast from a vector of parts to words."""
    word = code.new(f"bitcast {kind(code, bits)} {text} to {code.kind(WORD)}")
    return any_word(word)


def read_bits(fmt: Format) -> int:
    """The number of bits of an encoding that one part holds."""
    return min(fmt.width, HALF)


def pack_encodings(code: Code, given: Sequence[LaneValue], fmt: Format) -> LaneValue:
    """Encodings packed into one word.

    Shapes: two encodings, or four of at most a byte.  Of an encoding wider than a half the upper half is
    packed, whose fraction is zero just where the whole fraction is.
    """
    words = [code.operand(x, WORD) for x in given]
    bits = WORD // len(words)
    if fmt.width > HALF:
        low = code.apply("lshr", WORD, _folded(code, words[0], fmt), code.word(HALF, WORD))
        upper = ((1 << HALF) - 1) << HALF
        high = code.apply("and", WORD, _folded(code, words[1], fmt), code.word(upper, WORD))
        made = code.apply("or", WORD, low, high)
    else:
        made = words[0]
        for i, text in enumerate(words[1:], 1):
            made = code.apply("or", WORD, made, code.apply("shl", WORD, text, code.word(i * bits, WORD)))
    return any_word(made)


def _folded(code: Code, x: str, fmt: Format) -> str:
    """An encoding whose low fraction bits are OR-ed into its upper half."""
    places = HALF - fmt.ignored_low_bits
    low = code.apply("and", WORD, x, code.word(((1 << places) - 1) << fmt.ignored_low_bits, WORD))
    return code.apply("or", WORD, x, code.apply("shl", WORD, low, code.word(places, WORD)))


def exponents(
    fmt: Format, constant: int, of_zero: int | None, code: Code, given: Sequence[LaneValue]
) -> LaneValue:
    """The exponent codes of two or four numbers plus a constant, packed.

    Shapes: as `pack_encodings`.
    Zero, NaN, Inf: a zero has `of_zero`, or, where that is None, the code of a subnormal number, which is 1.
    """
    bits = WORD // len(given)
    x, of = pack_encodings(code, given, fmt), kind(code, bits)
    count, low = WORD // bits * code.lanes, read_bits(fmt) - 1 - fmt.exponent_bits
    # Nothing of a part comes down into the one below it: what is below its exponent is 0.
    mask = ((1 << fmt.exponent_bits) - 1) << low
    field = code.apply("and", WORD, x.text, code.word(repeated(mask, bits), WORD))
    field = code.apply("lshr", WORD, field, code.word(low, WORD))
    field = as_parts(code, any_word(field), bits)
    none = code.new(f"icmp eq {of} {field}, zeroinitializer")
    made = code.new(f"select <{count} x i1> {none}, {of} {every(1, bits)}, {of} {field}")
    if constant:
        made = code.new(f"add {of} {made}, {every(constant, bits)}")
    if of_zero is not None:
        size = (1 << (read_bits(fmt) - 1)) - 1
        text = code.apply("and", WORD, x.text, code.word(repeated(size, bits), WORD))
        text = as_parts(code, any_word(text), bits)
        zero = code.new(f"icmp eq {of} {text}, zeroinitializer")
        made = code.new(f"select <{count} x i1> {zero}, {of} {every(of_zero, bits)}, {of} {made}")
    return as_whole(code, made, bits)


def packed_halves(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """Two 16-bit numbers packed into one word."""
    low = code.binary("and", given[0], code.const((1 << HALF) - 1), WORD)
    high = code.binary("shl", given[1], code.const(HALF), WORD)
    return any_word(code.apply("or", WORD, low, high))


def combined(name: str, bits: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The part-wise sum (`add`), product (`mul`) or maximum (`max`) of two packed words."""
    of, count = kind(code, bits), WORD // bits * code.lanes
    first, second = (as_parts(code, x, bits) for x in given)
    if name != "max":
        result = code.new(f"{name} {of} {first}, {second}")
    else:
        above = code.new(f"icmp slt {of} {first}, {second}")
        result = code.new(f"select <{count} x i1> {above}, {of} {second}, {of} {first}")
    return replace(given[0], text=as_whole(code, result, bits).text)


def largest_parts(code: Code, values: list[LaneValue], bits: int) -> list[LaneValue]:
    """The maximum of all lower parts and that of all upper parts, over packed words."""
    while len(values) > 1:
        level = [combined("max", bits, code, values[i : i + 2]) for i in range(0, len(values) - 1, 2)]
        values = level + values[2 * len(level) :]
    if bits == BYTE:
        values = [_of_bytes(code, x) for x in values]
    maxima = []
    for x in values:
        up = LaneValue(code.binary("shl", x, code.const(HALF), WORD), x.low, x.high, WORD)
        for half in (up, x):
            text = code.apply("ashr", WORD, half.text, code.word(HALF, WORD))
            maxima.append(LaneValue(text, -(1 << (bits - 1)), (1 << (bits - 1)) - 1, WORD))
    return maxima


def _of_bytes(code: Code, x: LaneValue) -> LaneValue:
    """The maximum of the two bytes of each half, as a half."""
    return combined("max", HALF, code, [as_halves(upper, code, [x]) for upper in (False, True)])


def as_halves(upper: bool, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The lower or upper byte of each half, sign-extended to the half."""
    of, by = kind(code, HALF), every(BYTE, HALF)
    text = as_parts(code, given[0], HALF)
    if not upper:
        text = code.new(f"shl {of} {text}, {by}")
    return as_whole(code, code.new(f"ashr {of} {text}, {by}"), HALF)


# ----------------------------------------------- Exponents, powers of two, and products truncated to integers
#: Of binary32: bits of a fraction field, bias, largest exponent code of a number.
FIELD, BIAS, _TOP = 23, 127, 254


def added(code: Code, given: Sequence[LaneValue], constant: int) -> LaneValue:
    """The sum of several integers and a constant."""
    value = code.const(constant)
    for y in given:
        value = plus(code, value, y)
    return value


def number(signs: int, exponent: int | None, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """A signed significand as a float, times 2^(`exponent` + the given exponents) if `exponent` is given.

    Shapes: the truth values of so many signs, the significand, then numbers that add up to its exponent.
    """
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
        power = as_float(code, any_word(up))
        made = code.new(f"fmul {kind} {made}, {power}")
    return as_word(code, made, WORD)


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


def power(by: int, whole: bool, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The power 2^(by - e_max + exponents) as a float, clamped to 0 below and to 2^127 above.

    Ranges and units: the exponents that are given add up to the `whole` one of a product, or to a part of it.
    """
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
    return any_word(up)


def below(by: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The exponent field of 2^(by - e_max), repeated in both halves of a word."""
    field = minus(code, code.const(BIAS + by), given[0])
    return packed_halves(code, [field, field])


def fields(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The packed sums of exponent fields and exponents, clamped to 0."""
    none = LaneValue(code.word(0, WORD), 0, 0, WORD)
    return combined("max", HALF, code, (combined("add", HALF, code, given), none))


def power_of_half(which: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The power of two whose exponent field is in the lower half (0) or in the upper half (1)."""
    text = given[0].text
    if which:
        text = code.apply("lshr", WORD, text, code.word(HALF, WORD))
    word = code.apply("shl", WORD, text, code.word(FIELD, WORD))
    return any_word(word)


def minus(code: Code, x: LaneValue, y: LaneValue) -> LaneValue:
    """The difference of two integers."""
    return code.value(code.binary("sub", x, y, WORD), x.low - y.high, x.high - y.low, WORD)


def product(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The product of two floats."""
    a, b = (as_float(code, x) for x in given)
    return as_word(code, code.new(f"fmul {float_kind(code, WORD)} {a}, {b}"), WORD)


def scaled(most: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The product of a float and a power of two, truncated to an integer of magnitude at most `most`."""
    kind = float_kind(code, WORD)
    x, power = (as_float(code, y) for y in given)
    placed = code.new(f"fmul {kind} {x}, {power}")
    integer = code.new(f"fptosi {kind} {placed} to {code.kind(WORD)}")
    return LaneValue(integer, -most, most, WORD)
