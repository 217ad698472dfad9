"""NaN results that are one of the operands' NaNs, made quiet and moved into the result's format."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.spec import Design
from tcformal.encodings.spec import Format, Sign
from tcformal.oracle.blocks import chain_from_c, chain_from_zero
from tcformal.oracle.products import exact_specials
from tcformal.oracle.sums import fused_sum
from tcformal.oracle.values import ExactValue, NumberClass, decode

#: An operand as it comes: its format and its raw encoding.
Word = tuple[Format, int]


def quiet_nan(operand: Word, target: Format) -> int:
    """The quiet NaN of `target` with an operand NaN's sign and fraction, the fraction aligned left.

    Ranges and units: exponent bits all ones, top fraction bit set; low fraction bits are dropped where
    `target` has fewer.  Ignored low bits of the operand are no fraction bits.
    Errors: InputError where `target` has no infinities, and so no NaN with a fraction of its own.
    Source: IEEE 754 §6.2.3; Intel SDM volume 1, §4.8.3.5.
    """
    fmt, bits = operand
    sign = bits // 2 ** (fmt.width - 1) if fmt.sign is Sign.PRESENT else 0
    fraction = bits // 2**fmt.ignored_low_bits % 2**fmt.fraction_bits
    moved = fraction * 2**target.fraction_bits // 2**fmt.fraction_bits
    top: int = 2 ** (target.fraction_bits - 1)
    if moved < top:
        moved += top
    word: int = sign * 2 ** (target.width - 1) + target.infinity + moved * 2**target.ignored_low_bits
    return word


def operand_nan(
    design: Design,
    pairs: Sequence[tuple[Word, Word]],
    products: Sequence[ExactValue],
    c: int,
    c_value: ExactValue,
    target: Format,
) -> int:
    """The NaN word of a block that ends as NaN, under a nan_rule other than `word`.

    Shapes: pairs: the (a_k, b_k) of the block in the design's order; products: theirs; c: an encoding of
    `target`, where it is a NaN; c_value: c as the sum takes it.
    Zero, NaN, Inf: a chain's word is as `_word_of_chain`; of two chains the even one's NaN comes before the
    odd one's, and c's before that of their sum, but after that of the sum of a pair (`a_sum_b`);
    `design.nan_word` where no operand of the last sum is a NaN.  Under `products_c` a NaN factor has a word
    of its own, and an invalid product, or infinities of both signs among the products, come before c.
    Source: Intel SDM, VDPBF16PS (order of priority: src1.lo, src2.lo, src1.hi, src2.hi, destination);
    measured for tdpbf16ps and, in the other order, for DMMA (results/hardware); QEMU, for Power.
    """
    c_word = c if c_value.kind is NumberClass.NAN else None
    if design.nan_rule == "products_c":
        if design.factor_nan_word is not None and any(
            decode(*operand).kind is NumberClass.NAN for pair in pairs for operand in pair
        ):
            return design.factor_nan_word
        alone = exact_specials(products)
        invalid = alone is not None and alone.kind is NumberClass.NAN
        return design.nan_word if invalid or c_word is None else c_word
    if (design.summation, design.c_position) == ("fused", "last"):
        both = [products[0], fused_sum(design, products, design.step)]
        word = _word_of_chain(design, pairs, both, None, target)
        return next(nan for nan in (word, c_word, design.nan_word) if nan is not None)
    if design.summation == "pair_chains":
        return _word_of_pairs(design, pairs, products, c_word, target)
    if design.summation == "two_chains":
        words = [c_word]
        for half in (slice(0, None, 2), slice(1, None, 2)):
            results = chain_from_zero(design, products[half])[1:]
            words.append(_word_of_chain(design, pairs[half], results, None, target))
        # Even chain or odd one, or infinities that cancel between them: none of these is c.
        words.append(design.nan_word)
        return next(word for word in words if word is not None)
    word = _word_of_chain(design, pairs, chain_from_c(design, products, c_value), c_word, target)
    return design.nan_word if word is None else word


def _word_of_pairs(
    design: Design,
    pairs: Sequence[tuple[Word, Word]],
    products: Sequence[ExactValue],
    c: int | None,
    target: Format,
) -> int:
    """The word of `pair_chains`: c; then the chain of even pairs, then that of odd ones, earlier NaNs first.

    Zero, NaN, Inf: a product's word is that of a, then b, else nan_word; infinities that meet give nan_word.
    """
    if c is not None:
        return c
    for place in (0, 2):
        total = ExactValue(NumberClass.FINITE, 0, products[0].magnitude * 0, design.step.e_min)
        for i in range(place, len(products), 4):
            for pair, value in zip(pairs[i : i + 2], products[i : i + 2], strict=True):
                if value.kind is NumberClass.NAN:
                    nans = [quiet_nan(x, target) for x in pair if decode(*x).kind is NumberClass.NAN]
                    return (nans or [design.nan_word])[0]
            both = fused_sum(design, products[i : i + 2], design.step)
            total = fused_sum(design, [total, both], design.step)
            if total.kind is NumberClass.NAN:
                return design.nan_word
    return design.nan_word


def _word_of_chain(
    design: Design,
    pairs: Sequence[tuple[Word, Word]],
    results: Sequence[ExactValue],
    word: int | None,
    target: Format,
) -> int | None:
    """The word of a chain's last result where it is a NaN, else None; `word`: that of its start.

    Shapes: results: the value after each step.
    Zero, NaN, Inf: a step that gives NaN gives the first NaN of a_k, b_k and the sum before it, or of b_k,
    that sum and a_k, or of a_k, that sum and b_k, made quiet; `design.nan_word` where none is one (Inf * 0,
    Inf - Inf, a NaN scale).
    """
    for pair, result in zip(pairs, results, strict=True):
        if result.kind is not NumberClass.NAN:
            continue
        a, b = (
            quiet_nan(operand, target) if decode(*operand).kind is NumberClass.NAN else None
            for operand in pair
        )
        orders = {"first_operand": (a, b, word), "b_sum_a": (b, word, a), "a_sum_b": (a, word, b)}
        word = next((nan for nan in orders[design.nan_rule] if nan is not None), design.nan_word)
    return word
