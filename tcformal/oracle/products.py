"""The oracle's terms of one block: exact or rounded products, scaled singly or by group."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from tcformal.design.rounding import bits_taken, conversion
from tcformal.design.spec import Design, Products, Rounding
from tcformal.oracle.numerals import exact_sum, in_units, power_of_two
from tcformal.oracle.rounded import round_to, sign_of_sum
from tcformal.oracle.values import ExactValue, NumberClass, exponent_of

NAN = ExactValue(NumberClass.NAN)
_AS_IT_IS = Rounding(conversion="RNE-FP32", zero_sign="ieee")
Element = TypeVar("Element")


def flushed(operand: ExactValue, rule: str) -> ExactValue:
    """An operand after the rule `operand_subnormals` or `c_subnormals`; a flushed zero keeps its exponent."""
    if rule == "kept" or not operand.is_subnormal:
        return operand
    if rule == "hidden_bit":
        magnitude = operand.magnitude / 2 + power_of_two(operand.exponent - 1)
        return operand._replace(magnitude=magnitude, exponent=operand.exponent - 1)
    return ExactValue(
        NumberClass.FINITE, operand.sign if rule == "signed_zero" else 0, Fraction(0), operand.exponent
    )


def multiply(x: ExactValue, y: ExactValue) -> ExactValue:
    """The exact product, never renormalised.

    Ranges and units: Exp(xy) = Exp(x) + Exp(y), so the significand of two operands' product is in [0, 4).
    Zero, NaN, Inf: a NaN or Inf * 0 is NaN; signs multiply, those of zeros as well.
    Source: XIE Algorithm 7, step 1, §4.2.
    """
    sign = (x.sign + y.sign) % 2
    zeros = [z for z in (x, y) if z.is_zero and not z.cancelled]
    if x.kind is not NumberClass.FINITE or y.kind is not NumberClass.FINITE:
        if NumberClass.NAN in (x.kind, y.kind) or zeros:
            return NAN
        return ExactValue(NumberClass.INF, sign)
    cancelled = (x.cancelled or y.cancelled) and not zeros
    return ExactValue(NumberClass.FINITE, sign, x.magnitude * y.magnitude, x.exponent + y.exponent, cancelled)


def product(
    design: Design, a: ExactValue, b: ExactValue, scales: Sequence[ExactValue] = (), k: int = 0
) -> ExactValue:
    """One product with its scales: exact and unnormalised, unless the design rounds it.

    Shapes: scales: those that act on this product alone.
    Ranges and units: as `multiply`; a rounded product has the exponent of the rounded number, at least the
    conversion's e_min.
    Zero, NaN, Inf: as `multiply`, subnormal operands first flushed as the design says; an exact product of
    2^product_limit and more in magnitude is an Inf of its sign.
    Source: XIE Algorithms 1, 7 and 8, step 1, §4.2.
    """
    of_b = design.operand_subnormals if design.b_subnormals is None else design.b_subnormals
    a, b = flushed(a, design.operand_subnormals), flushed(b, of_b)
    if design.operand_rounding is not None:
        how = conversion(design.operand_rounding)
        a, b = (
            round_to(_AS_IT_IS, x.sign, x.magnitude, how) if x.kind is NumberClass.FINITE else x
            for x in (a, b)
        )
    if design.normalise_operands:
        a, b = (x._replace(exponent=exponent_of(x.magnitude)) if x.is_subnormal else x for x in (a, b))
    a, b = bits_of(a, design.a_bits), bits_of(b, design.b_bits)
    exact = multiply(a, b)
    if design.zero_terms is not None and exact.is_zero:
        exact = counted_as_one(multiply(ones(a), ones(b)), design.zero_terms)
    if design.negated in ("all", ("even", "odd")[k % 2]):
        exact = exact._replace(sign=1 - exact.sign)
    for scale in scales:
        exact = multiply(exact, scale)
    if exact.kind is not NumberClass.FINITE:
        return exact
    if design.product_limit is not None and exact.magnitude >= power_of_two(design.product_limit):
        return ExactValue(NumberClass.INF, exact.sign)
    if design.product_rounding is None:
        return exact
    return round_to(design, exact.sign, exact.magnitude, conversion(design.product_rounding))


def bits_of(x: ExactValue, bits: str | None) -> ExactValue:
    """A factor reduced to some bits of its significand, with the exponent of the first of them.

    Zero, NaN, Inf: nothing left of a number is no zero, but one that `cancelled`.
    Source: ttsim, mvmul (fidelity phases).
    """
    if bits is None or x.kind is not NumberClass.FINITE:
        return x
    first, last = bits_taken(bits)
    numerator, whole = in_units(x.magnitude, x.exponent - last)
    left = numerator // whole % 2 ** (last - first + 1)
    magnitude = left * power_of_two(x.exponent - last)
    gone = not left and bool(x.magnitude)
    return x._replace(magnitude=magnitude, exponent=x.exponent - first, cancelled=gone)


def ones(x: ExactValue) -> ExactValue:
    """A zero with the significand of a one of its sign; any other number unchanged."""
    return x._replace(magnitude=power_of_two(x.exponent)) if x.is_zero else x


def counted_as_one(x: ExactValue, zero_terms: int) -> ExactValue:
    """The term that replaces a zero: its significand at the exponent `zero_terms`.

    Source: Vortex, VX_tcu_tfr_mul_f16.sv and VX_tcu_tfr_mul_join.sv: hidden bits of zeros, exponent code 0.
    """
    significand = x.magnitude / power_of_two(x.exponent)
    return x._replace(magnitude=significand * power_of_two(zero_terms), exponent=zero_terms)


def block_terms(
    design: Design,
    a: Sequence[ExactValue],
    b: Sequence[ExactValue],
    scales: Sequence[Sequence[ExactValue]],
    first: int = 0,
    precisions: tuple[int, int] = (0, 0),
) -> list[ExactValue]:
    """The terms that one block adds to c, in the design's order; groups are formed in order of k.

    Shapes: a, b, scales: L values and, for each k, none or the two scales that act on it; L terms, or
    L / group; first: the k of the block's first product; precisions: as in `pieces`.
    """
    if design.group is None:
        rows = zip(a, b, scales, strict=True)
        products = [product(design, x, y, s, first + i) for i, (x, y, s) in enumerate(rows)]
        if design.lost_bits == "halves":
            products = [with_factors(x, y, z, precisions) for x, y, z in zip(products, a, b, strict=True)]
        if design.piece_bits is not None:
            return [y for k, x in enumerate(products) for y in pieces(design, a[k], b[k], x, precisions)]
        return in_order(design, products)
    products = [product(design, x, y, (), first + i) for i, (x, y) in enumerate(zip(a, b, strict=True))]
    starts = range(0, len(products), design.group)
    return [group_term(design, products[k : k + design.group], scales[k]) for k in starts]


def with_factors(
    product: ExactValue, a: ExactValue, b: ExactValue, precisions: tuple[int, int]
) -> ExactValue:
    """A product with its factors' integer significands attached."""
    if product.kind is not NumberClass.FINITE:
        return product
    counts = []
    for x, t in ((a, precisions[0]), (b, precisions[1])):
        numerator, whole = in_units(x.magnitude, x.exponent - t)
        counts.append(numerator // whole)
    return product._replace(factors=(counts[0], counts[1]))


def in_exponent_steps(x: ExactValue, lowest: int, step: int) -> ExactValue:
    """An operand with its exponent rounded down to a multiple of `step` above that of code 0.

    Source: NVDLA, NV_NVDLA_cmac.h, cal_fp16_exp.
    """
    return x._replace(exponent=lowest + (x.exponent - lowest) // step * step)


def pieces(
    design: Products, a: ExactValue, b: ExactValue, product: ExactValue, precisions: tuple[int, int]
) -> list[ExactValue]:
    """A product split into products of its factors' pieces, each with the whole product's exponent.

    Shapes: a, b: the factors, before subnormals are flushed or normalised; precisions: the fraction bits of
    their formats.
    Zero, NaN, Inf: a product that is none of these numbers stays one term.
    Source: Gaudi 3, fma_mul_add_tree_n.
    """
    if product.kind is not NumberClass.FINITE or product.is_zero or design.piece_bits is None:
        return [product]
    rows = []
    for x, t in ((a, precisions[0]), (b, precisions[1])):
        own = exponent_of(x.magnitude) if design.normalise_operands else x.exponent
        numerator, whole = in_units(x.magnitude, own - t)
        count, size, cut = numerator // whole, 2**design.piece_bits, []
        while t >= 0:
            cut.append(count % size * power_of_two(own - t))
            count, t = count // size, t - design.piece_bits
        rows.append(cut)
    return [
        ExactValue(NumberClass.FINITE, product.sign, p * q, product.exponent)
        for i, p in enumerate(rows[0])
        for j, q in enumerate(rows[1])
        if i + j >= design.dropped_pieces
    ]


def in_order(design: Products, items: Sequence[Element]) -> list[Element]:
    """A block's items in the design's order of k: 1, 0, 3, 2, … under order `odd_first`."""
    if design.order == "ascending":
        return list(items)
    pairs = [items[k : k + 2] for k in range(0, len(items), 2)]
    return [item for pair in pairs for item in reversed(pair)]


def group_term(design: Design, products: Sequence[ExactValue], scales: Sequence[ExactValue]) -> ExactValue:
    """The exact scaled sum of a group's products, as one term.

    Shapes: products: G values; scales: none, or the two of the group.
    Ranges and units: the exponent is the sum of the scales' exponents (0 without scales) and group_exponent.
    Zero, NaN, Inf: a sum of infinities as in `exact_specials`; the sum of products that are not all zero is
    `cancelled` where it is zero, and stays so unless a scale is zero; under zero_group `scale` any sum is.
    Source: XIE Algorithm 9, step 1; MMA-Sim 2.1.1 (e_zero of groups); CUTE, ccode/fmac.h (nvfp4mac).
    """
    special = exact_specials(products)
    if special is None:
        numbers = [p.number for p in products]
        total = exact_sum(numbers)
        sign = sign_of_sum(total, [p.sign for p in products], numbers, design.step.mode)
        term = ExactValue(
            NumberClass.FINITE,
            sign,
            abs(total),
            0,
            total == 0 and (any(numbers) or design.zero_group == "scale"),
        )
    else:
        term = special
    for scale in scales:
        term = multiply(term, scale)
    return term._replace(exponent=term.exponent + design.group_exponent)


def exact_specials(terms: Sequence[ExactValue]) -> ExactValue | None:
    """The special result of a sum: NaN for a NaN or infinities of both signs, else the Inf.

    Source: XIE §4.2.
    """
    if all(term.kind is NumberClass.FINITE for term in terms):
        return None
    if any(term.kind is NumberClass.NAN for term in terms):
        return NAN
    signs = {term.sign for term in terms if term.kind is NumberClass.INF}
    return NAN if len(signs) == 2 else ExactValue(NumberClass.INF, signs.pop())
