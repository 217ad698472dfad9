"""NVDLA's sums: exponents in steps, and products truncated as two carry-save halves of a Booth multiplier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import shift_to
from tcformal.semantics.number import Exponent, Number, Term, bits_for
from tcformal.semantics.reduce import split_sign, sum_of_aligned
from tcformal.semantics.stages import Maximum, Total

#: Bits of a factor, of the sum of the halves, and digits of two bits of the factor that is recoded.
_FACTOR, _WIDTH, _DIGITS = 16, 32, 8
#: What every digit adds to the halves' sum, in place of the bits of its sign.
_OFFSET = sum(1 << (_FACTOR + 2 * i) for i in range(_DIGITS))


def in_exponent_steps(g: Graph, x: Number, fmt: Format, step: int) -> Number:
    """A number with its exponent rounded down to a multiple of `step` above code 0, its significand shifted
    up.

    Shapes: significand u[n] -> u[n + step - 1].
    Source: NVDLA, NV_NVDLA_CMAC_CORE_MAC_exp.v and NV_NVDLA_cmac.h, cal_fp16_exp (exponents of radix 16).
    """
    term, lowest, bits = x.term, -fmt.bias, step.bit_length() - 1
    high = term.exponent.high
    code = term.exponent.rebased(g, lowest, high)
    code = g.zero_extend_to(code, max(code.width, bits + 1))
    up = g.extract(code, bits - 1, 0)
    wide = g.zero_extend_to(term.significand, term.significand.width + step - 1)
    steps = g.shift_left_const(g.extract(code, code.width - 1, bits), bits)
    top = (high - lowest) // step * step
    exponent = Exponent(g.extract(steps, bits_for(top) - 1, 0), lowest, lowest + top)
    return replace(x, term=replace(term, significand=g.shl_mod(wide, up), exponent=exponent))


def total_of_halves(
    g: Graph,
    terms: Sequence[Term],
    exponents: Sequence[Exponent],
    e_max: Exponent,
    bits: int,
    maximum: Maximum,
) -> Total:
    """The sum of products whose two halves are each rounded down to `bits`, and the offset likewise.

    Shapes: terms: products of factors of at most 15 bits.
    Ranges and units: a term differs from the rounded down one by a unit at most.
    Zero: a zero gives 0.
    Source: NVDLA, NV_NVDLA_CMAC_CORE_MAC_mul.v (pp_fp16_0_sft, pp_fp16_1_sft, pp_sign_tag).
    """
    cut, aligned = [], []
    for term, exponent in zip(terms, exponents, strict=True):
        shift = shift_to(g, exponent, e_max)
        up, down = max(0, bits - term.fraction_bits), max(0, term.fraction_bits - bits)
        amount = g.add_expand(shift, g.const(down, bits_for(down))) if down else shift
        x, y = term.factors
        first, second = (g.shift_left_const(half, up) for half in halves(g, x, y, term.sign))
        offset = g.lshr(g.const(_OFFSET << up, _WIDTH + up), amount)
        both = g.add_mod(g.lshr(first, amount), g.lshr(second, amount))
        negative, magnitude = split_sign(g, g.sub_mod(both, offset))
        cut.append(replace(term, sign=g.and_(negative, g.not_(term.zero)), factors=()))
        aligned.append((shift, g.ite(term.zero, g.const(0, magnitude.width), magnitude)))
    return sum_of_aligned(g, cut, aligned, e_max, bits, maximum=maximum)


def halves(g: Graph, x: Node, y: Node, sign: Node) -> tuple[Node, Node]:
    """A radix-4 Booth multiplier: two numbers whose sum is ±x·y and a constant offset, without carries.

    Shapes: x, y: u[n], n at most 15; sign u[1]; halves u[32].
    Ranges and units: each digit of -2 to 2 gives a row of 17 bits, its sign bit inverted, and a carry in the
    next row; rows of four digits and a carry are added by threes, then both results.
    Source: NVDLA, NV_NVDLA_CMAC_CORE_MAC_mul.v, NV_DW02_tree.v.
    """
    if max(x.width, y.width) >= _FACTOR:
        raise InputError(
            f"expected factors of at most 15 bits to be cut as halves, but got {x.width}, {y.width}"
        )
    once, code = g.zero_extend_to(x, _FACTOR), g.zero_extend_to(g.shift_left_const(y, 1), 2 * _DIGITS + 1)
    twice = g.zero_extend_to(g.shift_left_const(g.zero_extend_to(x, _FACTOR - 1), 1), _FACTOR)
    rows: list[list[Node]] = [[], []]
    carry = g.const(0, _WIDTH)
    for i in range(_DIGITS):
        low, middle, high = (g.xor(sign, g.bit(code, 2 * i + j)) for j in range(3))
        one, two = g.xor(middle, low), g.and_(g.not_(g.xor(middle, low)), g.xor(high, middle))
        magnitude = g.ite(one, once, g.ite(two, twice, g.const(0, _FACTOR)))
        negative = g.and_(high, g.or_(one, two))
        row = g.concat(g.not_(negative), g.ite(negative, g.not_(magnitude), magnitude))
        placed = g.zero_extend_to(g.shift_left_const(row, 2 * i), _WIDTH)
        half = rows[i // (_DIGITS // 2)]
        half.append(g.or_(placed, carry) if half else placed)
        carry = g.zero_extend_to(g.shift_left_const(negative, 2 * i), _WIDTH)
        if len(half) == _DIGITS // 2:
            half.append(carry)
    first, second = _without_carries(g, [x for half in rows for x in _without_carries(g, half)])
    return first, second


def _without_carries(g: Graph, rows: list[Node]) -> list[Node]:
    """Carry-save addition: two numbers with the same sum, by repeated 3:2 compression."""
    while len(rows) > 2:
        sums = []
        for i in range(0, len(rows) - 2, 3):
            x, y, z = rows[i : i + 3]
            carries = g.or_(g.and_(x, y), g.and_(y, z), g.and_(x, z))
            sums += [g.xor(g.xor(x, y), z), g.shl_mod(carries, g.const(1, 1))]
        rows = sums + rows[len(rows) - len(rows) % 3 :]
    return rows
