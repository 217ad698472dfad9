"""The second version of the arithmetic: one dot product of any design, in fractions, from the papers.

Nothing here is meant to be fast.  Numbers are `Fraction`s, every rounding is a `floor`, and no width
is bounded except where a design bounds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tcformal.design.rounding import Conversion, conversion
from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.formats.spec import Format, Specials
from tcformal.oracle.values import Kind, Value, decode, encode_exact, exponent_of, power_of_two

_NAN = Value(Kind.NAN)


def dot(
    design: Design,
    a_format: Format,
    b_format: Format,
    c_format: Format,
    d_format: Format,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
) -> int:
    """D = C + sum of a_k b_k, raw encodings in and out.

    Shapes: a, b: K encodings, K a multiple of L = min(K, design.products); c: one of `c_format`.
    Ranges and units: block k takes elements kL ... kL+L-1, and the result of block k - 1, an encoding of
    `d_format`, as its c.
    Zero, NaN, Inf: subnormals are honoured; every NaN result is `design.nan_word`, and a NaN stays one
    through the later blocks.
    Errors: InputError for lengths that do not fit, encodings outside their width, a `d_format` that cannot
    hold the results, and a `nan_word` that is no NaN of it.
    Source: XIE Algorithms 4, 5 and 7, 4.2; VALPEY Algorithm 1.
    """
    _check_output(design, d_format)
    if len(a) != len(b):
        raise InputError(f"expected as many elements of b as of a ({len(a)}), but got {len(b)}")
    length = min(len(a), design.products)
    if length == 0 or len(a) % length:
        raise InputError(f"expected K to be a multiple of {design.products} and at least 1, but got {len(a)}")
    d = c
    d_or_c_format = c_format
    for start in range(0, len(a), length):
        block = range(start, start + length)
        products = [product(design, decode(a_format, a[k]), decode(b_format, b[k])) for k in block]
        d = _encode(design, d_format, dot_block(design, products, decode(d_or_c_format, d)))
        d_or_c_format = d_format
    return d


def product(design: Design, a: Value, b: Value) -> Value:
    """One product: exact and never renormalised, unless the design rounds it.

    Ranges and units: Exp(ab) = Exp(a) + Exp(b), so the significand is in [0, 4); a rounded product has
    the exponent of the rounded number, at least the conversion's e_min.
    Zero, NaN, Inf: NaN operand or Inf * 0 is NaN; signs multiply, those of zeros as well.
    Source: XIE Algorithm 7, step 1; 4.2.
    """
    kinds = {a.kind, b.kind}
    sign = (a.sign + b.sign) % 2
    if Kind.NAN in kinds or (Kind.INF in kinds and (a.is_zero or b.is_zero)):
        return _NAN
    if Kind.INF in kinds:
        return Value(Kind.INF, sign)
    exact = Value(Kind.FINITE, sign, a.magnitude * b.magnitude, a.exponent + b.exponent)
    if design.product_rounding is None:
        return exact
    return round_to(design, exact.sign, exact.magnitude, conversion(design.product_rounding))


def dot_block(design: Design, products: Sequence[Value], c: Value) -> Value:
    """The sum of one block's products and c in the design's order, converted with `design.conversion`.

    Shapes: products: L values.
    Zero, NaN, Inf: as `fused_sum`, step by step.
    Source: XIE Algorithms 4 to 7, Figure 2; FASI and VALPEY 4.3 (orders of accumulation).
    """
    if design.c_position == "joined":
        return fused_sum(design, [*products, c], design.rho)
    if design.c_position == "first":
        partial = c
        for term in products[:-1]:
            partial = fused_sum(design, [partial, term], design.step)
        return fused_sum(design, [partial, products[-1]], design.rho)
    if design.summation == "fused":
        partial = fused_sum(design, products, design.step)
    elif design.summation == "sequential":
        partial = products[0]
        for term in products[1:]:
            partial = fused_sum(design, [partial, term], design.step)
    else:
        partial = pairwise_sum(design, products)
    return fused_sum(design, [partial, c], design.rho)


def pairwise_sum(design: Design, products: Sequence[Value]) -> Value:
    """The products summed as a tree: neighbours level by level, an odd one out moves up as it is."""
    level = list(products)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [fused_sum(design, pair, design.step) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def fused_sum(design: Design, terms: Sequence[Value], target: Conversion) -> Value:
    """Align all terms at e_max, cut each one, add them exactly, convert once.

    Shapes: terms: n values.
    Ranges and units: a cut term is a multiple of 2^(e_max - fraction_bits); the sum, in that unit, wraps
    to 1 + (fraction_bits + 1 + carry_bits) bits in two's complement where carry_bits is given.
    Zero, NaN, Inf: a NaN, or infinities of both signs, give NaN; one infinity gives itself.  A sum of zero
    after the cut is an exact zero; its sign is `_sign_of_zero_sum`.
    Source: XIE Algorithm 7, steps 2 and 3; VALPEY Algorithm 1, steps 2 to 7.
    """
    if any(term.kind is Kind.NAN for term in terms):
        return _NAN
    signs_of_inf = {term.sign for term in terms if term.kind is Kind.INF}
    if signs_of_inf:
        return _NAN if len(signs_of_inf) == 2 else Value(Kind.INF, signs_of_inf.pop())
    addends = [term.number for term in terms]
    if design.fraction_bits is not None:
        unit = last_kept_bit(design, terms, design.fraction_bits)
        addends = [align(addend, unit, design.alignment_rounding) for addend in addends]
        total = sum(addends, Fraction(0))
        if design.carry_bits is not None:
            total = wrap(total, unit, 1 + (design.fraction_bits + 1 + design.carry_bits))
    else:
        total = sum(addends, Fraction(0))
    sign = int(total < 0) if total else _sign_of_zero_sum(terms, addends, target)
    return round_to(design, sign, abs(total), target)


def last_kept_bit(design: Design, terms: Sequence[Value], fraction_bits: int) -> Fraction:
    """The weight 2^(e_max - fraction_bits) of the last bit that alignment keeps.

    Shapes: terms: n finite values.
    Zero, NaN, Inf: zero terms have `design.zero_exponent`; where no term has an exponent, all are zeros and
    the weight is 1.
    Source: XIE Algorithm 7, line 8; e_zero as in its simulator 2.1.1; VALPEY Algorithm 1, step 2.
    """
    exponents = [e for e in (_exponent(design, term) for term in terms) if e is not None]
    return power_of_two(max(exponents) - fraction_bits) if exponents else Fraction(1)


def align(number: Fraction, unit: Fraction, mode: str) -> Fraction:
    """A signed term cut to a multiple of the last kept bit (XIE RZ_F; VALPEY Algorithm 1, steps 2c and 3)."""
    return round_integer(number / unit, mode) * unit


def wrap(total: Fraction, unit: Fraction, width: int) -> Fraction:
    """The sum, a whole number of units, as a two's complement integer of that many bits holds it."""
    modulus: int = 2**width
    count = math.floor(total / unit) % modulus
    return (count - modulus if 2 * count >= modulus else count) * unit


def round_to(design: Design, sign: int, magnitude: Fraction, target: Conversion) -> Value:
    """The conversion of (-1)^sign * magnitude: rounded once, subnormals produced.

    Ranges and units: a multiple of 2^(e - fraction_bits), e the exponent of the magnitude and at least
    e_min; the result's exponent is its own, at least e_min.
    Zero, NaN, Inf: zero results keep the sign under zero_sign `ieee`, and are +0 under `positive`; a result
    that is too large after rounding as if exponents had no end overflows as `design.overflow` says.
    Source: XIE Table 2; IEEE 754-2019 4.3 and 7.4.
    """
    e = max(exponent_of(magnitude), target.e_min) if magnitude else target.e_min
    unit = power_of_two(e - target.fraction_bits)
    signed = -magnitude if sign else magnitude
    rounded = abs(round_integer(signed / unit, target.mode)) * unit
    if rounded >= power_of_two(target.e_max + 1):
        if design.overflow == "infinity" or target.mode in ("RNE", "RNA", "RD" if sign else "RU"):
            return Value(Kind.INF, sign)
        rounded = (2 - Fraction(1, 2**target.fraction_bits)) * power_of_two(target.e_max)
    if rounded == 0:
        return Value(Kind.FINITE, sign if design.zero_sign == "ieee" else 0, rounded, target.e_min)
    return Value(Kind.FINITE, sign, rounded, max(exponent_of(rounded), target.e_min))


def round_integer(number: Fraction, mode: str) -> int:
    """A signed number rounded to an integer by one of MODES."""
    if mode == "RD":
        return math.floor(number)
    if mode == "RU":
        return -math.floor(-number)
    sign = -1 if number < 0 else 1
    below = math.floor(abs(number))
    rest = abs(number) - below
    half = Fraction(1, 2)
    if mode == "RNA" and rest >= half:
        below += 1
    if mode == "RNE" and (rest > half or (rest == half and below % 2 == 1)):
        below += 1
    return sign * below


def _exponent(design: Design, term: Value) -> int | None:
    """The exponent with which a term takes part in e_max; None: it does not."""
    if not term.is_zero:
        return exponent_of(term.magnitude) if design.normalise_products else term.exponent
    if isinstance(design.zero_exponent, int):
        return design.zero_exponent
    return term.exponent if design.zero_exponent == "own" else None


def _sign_of_zero_sum(terms: Sequence[Value], addends: Sequence[Fraction], target: Conversion) -> int:
    """The sign of an exact zero sum: of zeros that agree, theirs; else minus under RD only (IEEE 754 6.3)."""
    signs = {term.sign for term in terms}
    if not any(addends) and len(signs) == 1:
        return signs.pop()
    return int(target.mode == "RD")


def _check_output(design: Design, d_format: Format) -> None:
    rho = design.rho
    if d_format.specials is not Specials.IEEE or not rho.fits(d_format) or rho.e_min != d_format.e_min:
        raise InputError(f"expected an output format that holds {design.conversion}, but got {d_format}")
    if design.nan_word >= 2**d_format.width or decode(d_format, design.nan_word).kind is not Kind.NAN:
        raise InputError(f"expected nan_word to be a NaN of {d_format}, but got {design.nan_word:#x}")


def _encode(design: Design, d_format: Format, d: Value) -> int:
    """The raw encoding of a block's result."""
    if d.kind is Kind.NAN:
        return design.nan_word
    if d.kind is Kind.INF:
        sign_bit: int = d.sign * 2 ** (d_format.width - 1)
        return d_format.infinity + sign_bit
    return encode_exact(d_format, d.number, negative_zero=bool(d.sign))
