"""One block: its products and c summed in the design's order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.oracle.framed import framed_sum
from tcformal.oracle.products import exact_specials
from tcformal.oracle.round_down import round_down_sum
from tcformal.oracle.rounding import round_to, sign_of_sum
from tcformal.oracle.sums import aligned_sum, fused_sum
from tcformal.oracle.values import ExactValue, NumberClass


def dot_block(design: Design, products: Sequence[ExactValue], c: ExactValue) -> ExactValue:
    """The sum of one block's products and c, converted with `design.conversion`.

    Shapes: products: L values (groups count as one), in the design's order.
    Zero, NaN, Inf: as `fused_sum`, step by step; c comes with its subnormals already flushed.
    Source: XIE Algorithms 2, 4 to 11, Figure 2; FASI and VALPEY §4.3 (orders of accumulation);
    Intel SDM, TDPBF16PS (two chains).
    """
    if design.summation in ("tr", "gtr"):
        return round_down_sum(design, products, c)
    if design.framed:
        return framed_sum(design, products, c)
    if design.c_position == "joined":
        return fused_sum(design, [*products, c], design.rho)
    if design.c_position == "after":
        return products_then_c(design, products, c)
    if design.c_position == "first":
        return chain_from_c(design, products, c)[-1]
    if design.summation == "fused":
        partial = fused_sum(design, products, design.step)
    elif design.summation == "sequential":
        partial = chain(design, products[0], products[1:])
    elif design.summation == "pair_chains":
        partial = pair_chains(design, products)
    elif design.summation == "pairwise":
        partial = pairwise_sum(design, products)
    else:
        partial = two_chains(design, products)
    return fused_sum(design, [partial, c], design.rho)


def products_then_c(design: Design, products: Sequence[ExactValue], c: ExactValue) -> ExactValue:
    """The cut products added up; c added to that without a cut; the whole rounded once.

    Zero, NaN, Inf: specials as `exact_specials`; the sign of a zero as IEEE 754 gives it, for the sum of the
    products and then for that with c.
    Source: Gaudi 2, fma_mul_add_tree_n (add_C_before_norm).
    """
    special = exact_specials([*products, c])
    if special is not None:
        return special
    mode = design.rho.mode
    first, sign = aligned_sum(design, products, mode)
    both = [first, c.number]
    total = first + c.number
    return round_to(design, sign_of_sum(total, [sign, c.sign], both, mode), abs(total), design.rho)


def chain(design: Design, start: ExactValue, terms: Sequence[ExactValue]) -> ExactValue:
    """The start plus one term after the other, each sum rounded as a partial sum."""
    partial = start
    for term in terms:
        partial = fused_sum(design, [partial, term], design.step)
    return partial


def chain_from_c(design: Design, products: Sequence[ExactValue], c: ExactValue) -> list[ExactValue]:
    """The result of each step of a chain that starts with c; the last step takes the final conversion."""
    results: list[ExactValue] = []
    for k, term in enumerate(products):
        target = design.rho if k == len(products) - 1 else design.step
        results.append(fused_sum(design, [results[-1] if results else c, term], target))
    return results


def pairwise_sum(design: Design, products: Sequence[ExactValue]) -> ExactValue:
    """The products summed as a tree: neighbours level by level, an odd one out moves up as it is."""
    level = list(products)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [fused_sum(design, pair, design.step) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def two_chains(design: Design, products: Sequence[ExactValue]) -> ExactValue:
    """Even-index and odd-index products in a chain each, then their sum."""
    even, odd = (chain_from_zero(design, products[first::2])[-1] for first in (0, 1))
    return fused_sum(design, [even, odd], design.step)


def pair_chains(design: Design, products: Sequence[ExactValue]) -> ExactValue:
    """Sums of two neighbours; the first, third, … of them in a chain, the others in another; their sum."""
    sums = [fused_sum(design, products[i : i + 2], design.step) for i in range(0, len(products), 2)]
    return two_chains(design, sums)


def chain_from_zero(design: Design, products: Sequence[ExactValue]) -> list[ExactValue]:
    """A +0 of the accumulator, and the result of each step of the chain that starts with it."""
    results = [ExactValue(NumberClass.FINITE, 0, Fraction(0), design.step.e_min)]
    for term in products:
        results.append(fused_sum(design, [results[-1], term], design.step))
    return results
