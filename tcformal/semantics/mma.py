"""One dot product with accumulation: blocks over K, each summed as its design says."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.spec import Design, Operands
from tcformal.errors import InputError
from tcformal.formats.spec import Format, Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.pack import check_output_format, pack
from tcformal.semantics.product import Scales, grouped_products, product, scaled_products
from tcformal.semantics.round_down import rounded_down_sum
from tcformal.semantics.special import (
    Addend,
    Carried,
    carried_nan,
    first_nan,
    flush,
    limit_product,
    operand_nan,
    positive_zero,
    quiet_nan,
)
from tcformal.semantics.step import convert_number, fused_sum
from tcformal.semantics.unpack import unpack


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
            addends = _addends(g, design, formats, products, words)
            number = flush(g, c.number, design.c_subnormals)
            c = _block(g, design, addends, Carried(number, c.nan_word), formats.d)
            g.label("result", pack(g, c.number, formats.d, c.nan_word))
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


def _addends(
    g: Graph, design: Design, formats: Operands, products: list[Number], words: Sequence[tuple[Node, Node]]
) -> list[Addend]:
    """The products of a block in the design's order, each with the operands whose NaNs it hands on."""
    count = len(products)
    if design.nan_rule == "word":
        made = [Addend(x, ()) for x in products]
    else:
        made = [
            Addend(x, (operand_nan(g, "a", a, formats.a), operand_nan(g, "b", b, formats.b)))
            for x, (a, b) in zip(products, words, strict=True)
        ]
    return [made[i if design.order == "ascending" else i ^ 1] for i in range(count)]


def _nan_of(g: Graph, design: Design, formats: Operands, c: Node) -> Node:
    """The word of a NaN that c is, or of every NaN."""
    if design.nan_rule == "word":
        return g.const(design.nan_word, formats.d.width)
    return quiet_nan(g, c, formats.c, formats.d)


def _block(g: Graph, design: Design, addends: list[Addend], c: Carried, d: Format) -> Carried:
    """Sum one block's products and c in the design's order.

    NaN: each step's operands in their order of priority: a_k, b_k, the running total; the even chain, the
    odd one; c, the sum of the products.
    """
    if design.product_rounding is not None:
        addends = _round_products(g, design, addends)
    products = [x.number for x in addends]
    if design.c_position == "joined":
        return Carried(fused_sum(g, [*products, c.number], design, design.rho), c.nan_word)
    if design.c_position == "first":
        return _accumulate(g, design, addends, c, d, last=True)
    if design.summation in ("tr", "gtr"):
        return Carried(rounded_down_sum(g, products, c.number, design), c.nan_word)
    invalid = _invalid(g, design, d)
    total = _without_c(g, design, addends, invalid, d)
    with g.scope("last"):
        word = first_nan(g, [carried_nan("c", c), carried_nan("total", total)], invalid, d)
        return Carried(fused_sum(g, [total.number, c.number], design, design.rho), word)


def _invalid(g: Graph, design: Design, d: Format) -> Node:
    """The word of an invalid operation."""
    return g.const(design.nan_word, d.width)


def _without_c(g: Graph, design: Design, addends: list[Addend], invalid: Node, d: Format) -> Carried:
    """The products of a block summed among themselves, c coming last."""
    step, products = design.step, [x.number for x in addends]
    if design.summation == "fused":
        with g.scope("products"):
            return Carried(fused_sum(g, products, design, step), invalid)
    if design.summation == "pairwise":
        return Carried(_tree(g, design, products), invalid)
    if design.summation == "two_chains":
        chains = []
        for name, half in (("even", addends[0::2]), ("odd", addends[1::2])):
            with g.scope(name):
                zero = positive_zero(g, step.fraction_bits, step.e_min)
                chains.append(_accumulate(g, design, half, Carried(zero, invalid), d, last=False))
        with g.scope("both"):
            even, odd = chains
            word = first_nan(g, [carried_nan("even", even), carried_nan("odd", odd)], invalid, d)
            return Carried(fused_sum(g, [even.number, odd.number], design, step), word)
    return _accumulate(g, design, addends[1:], Carried(products[0], invalid), d, last=False)


def _accumulate(
    g: Graph, design: Design, addends: list[Addend], total: Carried, d: Format, *, last: bool
) -> Carried:
    """Add products to a running total one by one; with `last`, the final step is the conversion."""
    invalid = _invalid(g, design, d)
    for i, x in enumerate(addends):
        final = last and i == len(addends) - 1
        with g.scope(f"step{i}"):
            word = first_nan(g, [*x.nans, carried_nan("total", total)], invalid, d)
            number = fused_sum(g, [total.number, x.number], design, design.rho if final else design.step)
        total = Carried(number, word)
    return total


def _round_products(g: Graph, design: Design, addends: list[Addend]) -> list[Addend]:
    rounded = []
    for i, x in enumerate(addends):
        with g.scope(f"product{i}"):
            rounded.append(Addend(convert_number(g, x.number, design, design.product_conversion), x.nans))
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
