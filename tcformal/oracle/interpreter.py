"""The oracle's program interpreter: every step in exact fractions, calls of units by the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from tcformal.design.arithmetic import NVIDIA_NAN, fma_chain
from tcformal.design.steps import (
    CallStep,
    ConstantStep,
    HeadroomStep,
    InputStep,
    JoinStep,
    MagnitudeStep,
    ProgramPlan,
    QuotientStep,
    RoundStep,
    ScaledProduct,
    SliceStep,
    conversion_into,
    format_of,
    nan_word_of,
)
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.products import multiply
from tcformal.oracle.rounded import round_to
from tcformal.oracle.sums import fused_sum
from tcformal.oracle.values import ExactValue, NumberClass, decode, encode_exact, exponent_of

_IEEE = fma_chain(fmt="fp32", nan_word=NVIDIA_NAN["fp32"])


def run_program(
    plan: ProgramPlan, a: Sequence[int], b: Sequence[int], c: int, **others: Sequence[int]
) -> list[list[int]]:
    """The values of every step's elements: encodings, or the integer of an exponent.

    Shapes: a, b: as many encodings as the plan's products; c: one; others: of further inputs, by letter.
    Zero, NaN, Inf: as the units' designs and IEEE 754 say.
    Errors: InputError for operands that do not fit.
    """
    given: Mapping[str, Sequence[int]] = {"a": a, "b": b, "c": [c], **others}
    if len(a) != plan.products or len(b) != plan.products:
        raise InputError(f"expected {plan.products} elements of a and b, but got {len(a)} and {len(b)}")
    known: list[list[int]] = []
    for step in plan.steps:
        if isinstance(step, InputStep):
            known.append(list(given[step.letter]))
        elif isinstance(step, ConstantStep):
            known.append([step.word])
        elif isinstance(step, SliceStep):
            count = step.length or 1
            row = known[step.source][step.start : step.start + count]
            known.append(row + [0] * (count - len(row)))
        elif isinstance(step, JoinStep):
            known.append([known[i][0] for i in step.items])
        elif isinstance(step, RoundStep):
            known.append(_all_rounded(plan, step, known))
        elif isinstance(step, QuotientStep):
            known.append([_divided(plan, step, known, i) for i in range(step.length or 1)])
        elif isinstance(step, MagnitudeStep):
            known.append([_magnitude(step, known[step.source])])
        elif isinstance(step, CallStep):
            known.append([_called(step, known)])
        elif isinstance(step, HeadroomStep):
            fmt = plan.steps[step.source].fmt
            known.append([_headroom(fmt, known[step.source], step.limit)] if fmt else [])
        else:
            raise InputError(f"expected a step of a program, but got {step!r}")
    return known


def program_result(
    plan: ProgramPlan, a: Sequence[int], b: Sequence[int], c: int, **others: Sequence[int]
) -> int:
    """The encoding of the program's result d."""
    return run_program(plan, a, b, c, **others)[plan.result][0]


def _called(step: CallStep, known: Sequence[Sequence[int]]) -> int:
    """The result of chained calls, with products 0·0 as padding."""
    spec, d = step.unit, known[step.c][0]
    a, b, scales = known[step.a], known[step.b], [known[i] for i in step.scales]
    last_call: tuple[list[list[int]], int] | None = None
    for call, start in enumerate(range(0, len(a), spec.k)):
        rest = [0] * max(0, start + spec.k - len(a))
        words = [[*a[start : start + spec.k], *rest], [*b[start : start + spec.k], *rest]]
        if spec.scale_format is not None and spec.scale_block is not None:
            count = -(-spec.k // spec.scale_block)
            blocks = [list(x[call * count : (call + 1) * count]) for x in scales]
            words += [x + [spec.scale_format.one] * (count - len(x)) for x in blocks]
        # The same call on the same words is one computation.
        if (words, d) != last_call:
            last_call, d = (words, d), unit_dot(spec, words[0], words[1], d, *words[2:])
    return d


def _all_rounded(plan: ProgramPlan, step: RoundStep, known: Sequence[Sequence[int]]) -> list[int]:
    """Every element of a rounded vector; equal operands are computed once."""
    elements, by_operands = list[int](), dict[tuple[int, ...], int]()
    rows = [known[j] for j in step.sources]
    for i in range(step.length or 1):
        words = tuple(row[i if len(row) > 1 or i == 0 else 0] for row in rows)
        if words not in by_operands:
            by_operands[words] = _rounded(plan, step, known, i)
        elements.append(by_operands[words])
    return elements


def _rounded(plan: ProgramPlan, step: RoundStep, known: Sequence[Sequence[int]], i: int) -> int:
    terms = [_addend(plan, x, known, i) for x in step.addends]
    rounded = fused_sum(_IEEE, terms, conversion_into(step.mode, step.target))
    return _encoded(step.target, rounded, step.saturates)


def _encoded(fmt: Format, made: ExactValue, saturates: bool) -> int:
    """A rounded value's encoding in the format."""
    if fmt.sign is not Sign.PRESENT:
        below_zero = made.sign and not made.is_zero
        made = ExactValue(NumberClass.NAN) if below_zero else made._replace(sign=0)
    if made.kind is NumberClass.NAN:
        return nan_word_of(fmt)
    if saturates:
        if not fmt.has_zero and made.kind is NumberClass.FINITE:
            made = made._replace(magnitude=max(made.magnitude, power_of_two(fmt.e_min)))
        largest = decode(fmt, fmt.largest).magnitude
        if made.kind is NumberClass.INF or made.magnitude > largest:
            return fmt.largest + made.sign * fmt.sign_bit
    elif made.kind is NumberClass.INF:
        return fmt.infinity + made.sign * fmt.sign_bit
    return encode_exact(fmt, made.number, negative_zero=bool(made.sign))


def _divided(plan: ProgramPlan, step: QuotientStep, known: Sequence[Sequence[int]], i: int) -> int:
    x, y = (_value(plan, source, known, i) for source in step.sources)
    fmt, sign = format_of(step), x.sign ^ y.sign
    infinite = x.kind is NumberClass.INF, y.kind is NumberClass.INF
    if NumberClass.NAN in (x.kind, y.kind) or all(infinite) or (x.is_zero and y.is_zero):
        quotient = ExactValue(NumberClass.NAN)
    elif infinite[0] or y.is_zero:
        quotient = ExactValue(NumberClass.INF, sign)
    else:
        size = Fraction(0) if infinite[1] else x.magnitude / y.magnitude
        quotient = round_to(_IEEE, sign, size, conversion_into(step.mode, fmt))
    return _encoded(fmt, quotient, fmt.specials is not Specials.IEEE)


def _magnitude(step: MagnitudeStep, words: Sequence[int]) -> int:
    fmt = format_of(step)
    values = [decode(fmt, x) for x in words]
    if any(v.kind is NumberClass.NAN for v in values):
        return nan_word_of(fmt)
    if any(v.kind is NumberClass.INF for v in values):
        return fmt.infinity
    return encode_exact(fmt, max(decode(fmt, step.least).magnitude, *(v.magnitude for v in values)))


def _addend(plan: ProgramPlan, x: ScaledProduct, known: Sequence[Sequence[int]], i: int) -> ExactValue:
    """The exact product of one addend, with its sign and power of two."""
    product: ExactValue | None = None
    for source in x.factors:
        value = _value(plan, source, known, i)
        product = value if product is None else multiply(product, value)
    if product is None:
        raise InputError("expected a product of one or two values, but got none")
    power = x.shift + sum(sign * known[source][0] for source, sign in x.exponents)
    sign_bit = 1 - product.sign if x.negative else product.sign
    if not power and not x.negative:
        return product
    if product.kind is not NumberClass.FINITE:
        return product._replace(sign=sign_bit)
    return product._replace(
        sign=sign_bit, magnitude=product.magnitude * power_of_two(power), exponent=product.exponent + power
    )


def _value(plan: ProgramPlan, source: int, known: Sequence[Sequence[int]], i: int) -> ExactValue:
    """Element i of a step's vector; a scalar is broadcast."""
    row = known[source]
    return decode(format_of(plan.steps[source]), row[i if len(row) > 1 or i == 0 else 0])


def _headroom(fmt: Format, words: Sequence[int], limit: Fraction) -> int:
    values = [decode(fmt, x) for x in words]
    magnitudes = [v.magnitude for v in values if v.kind is NumberClass.FINITE and v.magnitude]
    largest = max(magnitudes, default=power_of_two(fmt.e_min - fmt.fraction_bits))
    return exponent_of(limit / largest)
