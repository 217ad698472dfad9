"""One dot product with accumulation: blocks over K, each summed as its design says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.design.spec import Design, Operands
from tcformal.errors import InputError
from tcformal.formats.spec import Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.pack import check_output_format, pack
from tcformal.semantics.product import product
from tcformal.semantics.round_down import rounded_down_sum
from tcformal.semantics.scale import Scales, grouped_products, scaled_products
from tcformal.semantics.special import flush, limit_product, positive_zero, quiet_nan
from tcformal.semantics.step import convert_number, fused_sum
from tcformal.semantics.unpack import unpack


@dataclass(frozen=True, slots=True)
class Carried:
    """What one block hands to the next: a number, and the word it has where it is NaN."""

    number: Number
    nan_word: Node


def dot(
    g: Graph,
    design: Design,
    formats: Operands,
    a: Sequence[Node],
    b: Sequence[Node],
    c: Node,
    scales: Scales | None = None,
) -> Node:
    """d = Σ a_k·b_k + c as `design` computes it, block scales included.

    Shapes: a, b: K raw encodings u[a.width], u[b.width]; c: u[c.width]; result u[d.width].
    Ranges and units: K is a multiple of min(K, design.products) [XIE Algorithm 5].
    Zero, NaN, Inf: as `fused_sum`; NaN results are words as design.nan_rule says.
    Errors: InputError for operand lists of unequal length, a K that the blocks do not divide, or a
    conversion that does not fit the result format.
    """
    check_dot(design, formats, len(a), len(b), scales)
    first = Carried(unpack(g, c, formats.c), _nan_of(g, design, formats, c))
    total = chain(g, design, formats, a, b, first, scales)
    return pack(g, total.number, formats.d, total.nan_word)


def chain(
    g: Graph,
    design: Design,
    formats: Operands,
    a: Sequence[Node],
    b: Sequence[Node],
    c: Carried,
    scales: Scales | None = None,
) -> Carried:
    """The blocks of one dot product, each block's result the next one's c; nothing is packed between."""
    length = min(len(a), design.products)
    for start in range(0, len(a), length):
        with g.scope(f"block{start // length}"):
            stop = start + length
            words = list(zip(a[start:stop], b[start:stop], strict=True))
            products = [_product(g, design, formats, x, y) for x, y in words]
            if scales is not None and design.group is None:
                products = scaled_products(g, products, scales, start)
            products = [limit_product(g, x, design.product_limit) for x in products]
            if design.group is not None:
                products = grouped_products(g, products, design.group, scales, start)
            order = _order(design, len(products))
            number = flush(g, c.number, design.c_subnormals)
            ordered = [products[i] for i in order]
            nan_word = c.nan_word
            if design.nan_rule == "first_operand":
                ordered_words = [words[i] for i in order]
                number, nan_word = _stepwise(g, design, formats, ordered, ordered_words, number, nan_word)
            else:
                number = _block(g, design, ordered, number)
            c = Carried(number, nan_word)
            g.label("result", pack(g, number, formats.d, nan_word))
    return c


def check_dot(design: Design, formats: Operands, k: int, k_of_b: int, scales: Scales | None) -> None:
    """Refuse shapes and formats that `dot` cannot take."""
    if k != k_of_b or k < 1:
        raise InputError(f"expected a and b of one length of at least 1, but got {k} and {k_of_b}")
    if k % min(k, design.products):
        raise InputError(f"expected K to be a multiple of {design.products} products, but got K={k}")
    if not design.rho.fits(formats.d):
        raise InputError(f"expected a conversion into {formats.d.name}, but got {design.conversion}")
    if design.nan_rule == "first_operand":
        for fmt in (formats.a, formats.b, formats.c):
            if fmt.specials is not Specials.IEEE or fmt.fraction_bits > formats.d.fraction_bits:
                raise InputError(
                    f"expected operands with NaNs that {formats.d.name} can hold for nan_rule=first_operand, "
                    f"but got {fmt.name}"
                )
    if scales is not None:
        blocks = -(-k // scales.block)
        if len(scales.a) != blocks or len(scales.b) != blocks:
            raise InputError(
                f"expected {blocks} scales of a and of b for K={k} in blocks of {scales.block}, "
                f"but got {len(scales.a)} and {len(scales.b)}"
            )
    check_output_format(formats.d, design.nan_word)


def _product(g: Graph, design: Design, formats: Operands, x: Node, y: Node) -> Number:
    rule = design.operand_subnormals
    a, b = flush(g, unpack(g, x, formats.a), rule), flush(g, unpack(g, y, formats.b), rule)
    return product(g, a, b)


def _order(design: Design, count: int) -> list[int]:
    if design.order == "ascending":
        return list(range(count))
    return [i ^ 1 for i in range(count)]


def _nan_of(g: Graph, design: Design, formats: Operands, c: Node) -> Node:
    """The word of a NaN that c is, or of every NaN."""
    if design.nan_rule == "word":
        return g.const(design.nan_word, formats.d.width)
    return quiet_nan(g, c, formats.c, formats.d)


def _block(g: Graph, design: Design, products: list[Number], c: Number) -> Number:
    """Sum one block's products and c in the design's order."""
    if design.product_rounding is not None:
        products = _round_products(g, design, products)
    if design.c_position == "joined":
        return fused_sum(g, [*products, c], design, design.rho)
    if design.c_position == "first":
        return _accumulate(g, design, products, c, last=True)
    if design.summation in ("tr", "gtr"):
        return rounded_down_sum(g, products, c, design)
    total = _without_c(g, design, products)
    with g.scope("last"):
        return fused_sum(g, [total, c], design, design.rho)


def _without_c(g: Graph, design: Design, products: list[Number]) -> Number:
    """The products of a block summed among themselves, c coming last."""
    step = design.step
    if design.summation == "fused":
        with g.scope("products"):
            return fused_sum(g, products, design, step)
    if design.summation == "pairwise":
        return _tree(g, design, products)
    if design.summation == "two_chains":
        chains = []
        for name, half in (("even", products[0::2]), ("odd", products[1::2])):
            with g.scope(name):
                zero = positive_zero(g, step.fraction_bits, step.e_min)
                chains.append(_accumulate(g, design, half, zero, last=False))
        with g.scope("both"):
            return fused_sum(g, chains, design, step)
    return _accumulate(g, design, products[1:], products[0], last=False)


def _accumulate(g: Graph, design: Design, products: list[Number], total: Number, *, last: bool) -> Number:
    """Add products to a running total one by one; with `last`, the final step is the conversion."""
    for i, x in enumerate(products):
        final = last and i == len(products) - 1
        with g.scope(f"step{i}"):
            total = fused_sum(g, [total, x], design, design.rho if final else design.step)
    return total


def _stepwise(
    g: Graph,
    design: Design,
    formats: Operands,
    products: list[Number],
    words: list[tuple[Node, Node]],
    total: Number,
    nan_word: Node,
) -> tuple[Number, Node]:
    """A chain that starts with c and carries NaN words along.

    NaN: of each step's operands a_k, b_k and the running total the first NaN gives the word; an
    invalid operation gives design.nan_word.
    Source: Intel SDM, VDPBF16PS.
    """
    invalid = g.const(design.nan_word, formats.d.width)
    if design.product_rounding is not None:
        products = _round_products(g, design, products)
    for i, (x, (word_a, word_b)) in enumerate(zip(products, words, strict=True)):
        final = i == len(products) - 1
        nan_a, nan_b = unpack(g, word_a, formats.a).nan, unpack(g, word_b, formats.b).nan
        word = g.ite(total.nan, nan_word, invalid)
        word = g.ite(nan_b, quiet_nan(g, word_b, formats.b, formats.d), word)
        nan_word = g.ite(nan_a, quiet_nan(g, word_a, formats.a, formats.d), word)
        with g.scope(f"step{i}"):
            total = fused_sum(g, [total, x], design, design.rho if final else design.step)
    return total, nan_word


def _round_products(g: Graph, design: Design, products: list[Number]) -> list[Number]:
    rounded = []
    for i, x in enumerate(products):
        with g.scope(f"product{i}"):
            rounded.append(convert_number(g, x, design, design.product_conversion))
    return rounded


def _tree(g: Graph, design: Design, numbers: list[Number]) -> Number:
    """A balanced tree of two-term sums; an odd one out passes to the next level."""
    level = 0
    while len(numbers) > 1:
        pairs = []
        for i in range(0, len(numbers) - 1, 2):
            with g.scope(f"level{level}.pair{i // 2}"):
                pairs.append(fused_sum(g, numbers[i : i + 2], design, design.step))
        numbers = pairs + numbers[2 * len(pairs) :]
        level += 1
    return numbers[0]
