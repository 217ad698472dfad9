"""Fused sums of the oracle: terms aligned, added exactly, converted once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Alignment, Design
from tcformal.oracle.numerals import exact_sum, in_units, of_units, power_of_two
from tcformal.oracle.products import exact_specials
from tcformal.oracle.rounded import round_to, round_units, sign_of_sum, wrap
from tcformal.oracle.values import ExactValue, NumberClass, exponent_of


def fused_sum(
    design: Design, terms: Sequence[ExactValue], target: Conversion, c: int | None = None
) -> ExactValue:
    """A fused sum: align all terms at e_max, truncate each, add exactly, convert once.

    Shapes: terms: n values; c: the place of c among them.
    Zero, NaN, Inf: specials as `exact_specials`.  A sum of zero after the cut is an exact zero; its sign is
    `sign_of_sum`, terms that were cut to zero counting as zeros of their sign.
    Source: XIE Algorithm 7, steps 2 and 3; VALPEY Algorithm 1, steps 2 to 7.
    """
    special = exact_specials(terms)
    if special is not None:
        return special
    if design.lost_bits == "jammed":
        total, sign = jammed_sum(design, terms, target.mode)
    else:
        total, sign = aligned_sum(design, terms, target.mode if design.normalised else "RNE", c)
    if not design.normalised:
        return kept_frame(design, terms, total, sign if design.zero_sign == "ieee" else 0)
    if design.lost_bits == "sticky" and total:
        e_max, carry = largest_exponent(design, terms), design.carry_bits
        if e_max is not None and carry is not None and -total == power_of_two(e_max + carry + 1):
            negative = int(design.zero_sign == "sum")
            return ExactValue(NumberClass.FINITE, negative, Fraction(0), target.e_min)
        total = abs(total) + left_over(design, terms, total)
    return round_to(design, sign, abs(total), target)


def kept_frame(design: Design, terms: Sequence[ExactValue], total: Fraction, sign: int) -> ExactValue:
    """A sum as a term with the exponent of its largest term, zero as well; a small one is a plain zero.

    Zero: `sign` is that of a sum of 0.
    Source: ttsim, mvmul.
    """
    e_max, least = largest_exponent(design, terms), design.rho.e_min
    if e_max is None or (design.result_subnormals != "kept" and e_max < least):
        return ExactValue(NumberClass.FINITE, 0 if total else sign, Fraction(0), least)
    sign = int(total < 0) if total else sign
    return ExactValue(NumberClass.FINITE, sign, abs(total), e_max, not total, framed=True)


def aligned_sum(
    design: Design, terms: Sequence[ExactValue], mode: str, c: int | None = None
) -> tuple[Fraction, int]:
    """The sum of the truncated terms, with its sign if `mode` is the next rounding.

    Shapes: terms: n finite values, n at least 1; c: the place of c among them.
    Ranges and units: a cut term is a multiple of 2^(e_max - fraction_bits); the sum, in that unit, wraps
    to 1 + (fraction_bits + 1 + carry_bits) bits in two's complement where carry_bits is given.
    """
    addends = [term.number for term in terms]
    signs = [term.sign for term in terms]
    if design.fraction_bits is None:
        total = exact_sum(addends)
        return total, sign_of_sum(total, signs, addends, mode)
    of = [x for i, x in enumerate(terms) if i != c] if design.e_max_of == "products" else []
    e_max = largest_exponent(design, of or terms)
    bits = design.second_fraction_bits or max(design.fraction_bits, (c is not None and design.c_bits) or 0)
    unit = 0 if e_max is None else e_max - bits
    counts = [
        cut_once_or_twice(design, addend, e_max, bits, i == c) if addend and e_max is not None else 0
        for i, addend in enumerate(addends)
    ]
    if design.lost_bits == "halves":
        counts = [cut_in_halves(term, unit) if term.magnitude else 0 for term in terms]
    count = sum(counts)
    if design.carry_bits is not None:
        count = wrap(count, 1 + (bits + 1 + design.carry_bits))
    if design.minus_one is not None and count == -1:
        count = -(2**design.minus_one)
    if design.summation == "fused" and design.sum_fraction_bits is not None and e_max is not None:
        count //= 2 ** (bits - design.sum_fraction_bits)
        unit = e_max - design.sum_fraction_bits
    total = of_units(count, unit)
    return total, sign_of_sum(total, signs, counts, mode)


def cut_once_or_twice(design: Alignment, addend: Fraction, e_max: int, bits: int, is_c: bool) -> int:
    """An aligned term in units of 2^(e_max - bits), after each of its roundings.

    Source: ttsim, fpu_accum_normalize_encode.
    """
    mode, first = design.alignment_rounding, design.fraction_bits
    if is_c:
        mode, first = design.c_alignment_rounding or mode, design.c_bits or first
    for kept in (first, design.second_fraction_bits):
        if kept is not None:
            addend = of_units(round_units(addend, e_max - kept, mode), e_max - kept)
    numerator, whole = in_units(addend, e_max - bits)
    return numerator // whole


def jammed_sum(design: Design, terms: Sequence[ExactValue], mode: str) -> tuple[Fraction, int]:
    """The sum of terms with jammed lost bits: a fraction above the sum of floors, truncated.

    Shapes: terms: the products, then c; signs are counted from the largest one's, c before the products.
    Source: Esperanto emulator, fpu/tensors.cpp, f32_add3.
    """
    e_max = largest_exponent(design, terms)
    live = [x for x in (terms[-1], *terms[:-1]) if not x.is_zero]
    if e_max is None or not live:
        return Fraction(0), sign_of_sum(Fraction(0), [x.sign for x in terms], [0] * len(terms), mode)

    def own(x: ExactValue) -> int:
        return exponent_of(x.magnitude) if design.normalise_products else x.exponent

    largest = max(live, key=own)
    frame = -1 if largest.sign else 1
    units = [frame * x.number / power_of_two(e_max - (design.fraction_bits or 0)) for x in terms]
    floors = [u.numerator // u.denominator for u in units]
    eighths = 8 * sum(floors)
    if floors != units:
        last = 0 if largest is terms[-1] else -1
        eighths += 5 if units[last] < 0 and floors[last] != units[last] else 1
    count = (eighths + 4) // 8 if abs(eighths) < 8 else abs(eighths) // 8 * (1 if eighths > 0 else -1)
    total = of_units(frame * count, e_max - (design.fraction_bits or 0))
    if eighths:
        return total, int((eighths < 0) != bool(largest.sign))
    return total, sign_of_sum(total, [x.sign for x in terms], units, mode)


def cut_in_halves(term: ExactValue, unit: int) -> int:
    """A product in units, as two Booth halves and an offset, each rounded down.

    Shapes: a term other than zero with its factors, the second of which is recoded.
    Source: NVDLA, NV_NVDLA_cmac.h, cal_fp16_booth.
    """
    x, y = term.factors or (0, 0)
    digits = [y // 4**i % 4 for i in range(8)]
    below = [0, *(d // 2 for d in digits[:-1])]
    rows, carries = [], []
    for d, carried in zip(digits, below, strict=True):
        digit = d + carried - (4 if d >= 2 else 0)
        digit = -digit if term.sign else digit
        rows.append((2**16 - 1 if digit < 0 else 2**16) + digit * x)
        carries.append(int(digit < 0))
    placed = []
    for first in (0, 4):
        half = [
            4**i * rows[i] + (4 ** (i - 1) * carries[i - 1] if i > first else 0)
            for i in range(first, first + 4)
        ]
        placed += saved([*half, 4 ** (first + 3) * carries[first + 3]])
    numerator, whole = in_units(term.magnitude, unit)
    divisor = Fraction(x * y * whole, numerator)
    offset = sum(4**i * 2**16 for i in range(8))
    return sum(int(half // divisor) for half in saved(placed)) - int(offset // divisor)


def saved(rows: Sequence[int]) -> list[int]:
    """Carry-save addition: two numbers with the same sum, by repeated 3:2 compression."""
    rows = list(rows)
    while len(rows) > 2:
        threes = [rows[i : i + 3] for i in range(0, len(rows) // 3 * 3, 3)]
        rest = rows[len(threes) * 3 :]
        rows = [y for a, b, c in threes for y in (a ^ b ^ c, 2 * ((a & b) | (b & c) | (a & c)))] + rest
    return rows


def left_over(design: Alignment, terms: Sequence[ExactValue], total: Fraction) -> Fraction:
    """The sticky bit of a truncated sum: a tiny positive number if alignment lost any bits.

    Ranges and units: far less than half of the last bit that any rounding of `total` keeps.
    Source: Vortex, VX_tcu_tfr_align.sv and VX_tcu_tfr_norm_round.sv (sticky bits).
    """
    e_max = largest_exponent(design, terms)
    if e_max is None or design.fraction_bits is None:
        return Fraction(0)
    exact = [in_units(abs(x.number), e_max - design.fraction_bits) for x in terms]
    return abs(total) * power_of_two(-400) if any(n % whole for n, whole in exact) else Fraction(0)


def largest_exponent(design: Alignment, terms: Sequence[ExactValue]) -> int | None:
    """The alignment exponent e_max; None if all terms are zeros without exponents.

    Shapes: terms: n finite values.
    Zero, NaN, Inf: zero terms have `design.zero_exponent`.
    Source: XIE Algorithm 7, line 8; MMA-Sim 2.1.1 (e_zero); VALPEY Algorithm 1, step 2.
    """
    exponents = [e for e in (_exponent(design, term) for term in terms) if e is not None]
    return max(exponents) if exponents else None


def _exponent(design: Alignment, term: ExactValue) -> int | None:
    """A term's exponent for e_max; None if it takes no part."""
    if not term.is_zero:
        normalises = design.normalise_products and not term.framed
        return exponent_of(term.magnitude) if normalises else term.exponent
    if term.cancelled:
        return term.exponent
    if isinstance(design.zero_exponent, int):
        return design.zero_exponent
    return term.exponent if design.zero_exponent == "own" else None
