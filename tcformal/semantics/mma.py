"""One dot product with accumulation: blocks over K, each summed as its design says."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.spec import Design, Operands
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.pack import check_output_format, pack
from tcformal.semantics.product import product
from tcformal.semantics.reduce import convert_number, fused_sum
from tcformal.semantics.unpack import unpack


def dot(
    g: Graph,
    design: Design,
    formats: Operands,
    a: Sequence[Node],
    b: Sequence[Node],
    c: Node,
) -> Node:
    """d = Σ a_k·b_k + c as `design` computes it.

    Shapes: a, b: K raw encodings u[a.width], u[b.width]; c: u[c.width]; result u[d.width].
    Ranges and units: K is a multiple of min(K, design.products) [XIE Algorithm 5].
    Zero, NaN, Inf: as `fused_sum`; every NaN result is design.nan_word.
    Errors: InputError for operand lists of unequal length, a K that the blocks do not divide, or a
    conversion that does not fit the result format.
    """
    k = len(a)
    check_dot(design, formats, k, len(b))
    length = min(k, design.products)
    numbers_a = [unpack(g, word, formats.a) for word in a]
    numbers_b = [unpack(g, word, formats.b) for word in b]
    result = unpack(g, c, formats.c)
    for start in range(0, k, length):
        with g.scope(f"block{start // length}"):
            stop = start + length
            pairs = zip(numbers_a[start:stop], numbers_b[start:stop], strict=True)
            result = _block(g, design, [product(g, x, y) for x, y in pairs], result)
            g.label("result", pack(g, result, formats.d, design.nan_word))
    return pack(g, result, formats.d, design.nan_word)


def check_dot(design: Design, formats: Operands, k: int, k_of_b: int) -> None:
    """Refuse shapes and formats that `dot` cannot take."""
    if k != k_of_b or k < 1:
        raise InputError(f"expected a and b of one length of at least 1, but got {k} and {k_of_b}")
    if k % min(k, design.products):
        raise InputError(f"expected K to be a multiple of {design.products} products, but got K={k}")
    if not design.rho.fits(formats.d):
        raise InputError(f"expected a conversion into {formats.d.name}, but got {design.conversion}")
    check_output_format(formats.d, design.nan_word)


def _block(g: Graph, design: Design, products: list[Number], c: Number) -> Number:
    """Sum one block's products and c in the design's order."""
    if design.product_rounding is not None:
        products = _round_products(g, design, products)
    step, rho = design.step, design.rho
    if design.c_position == "joined":
        return fused_sum(g, [*products, c], design, rho)
    if design.c_position == "first":
        total = c
        for i, x in enumerate(products):
            with g.scope(f"step{i}"):
                total = fused_sum(g, [total, x], design, rho if i == len(products) - 1 else step)
        return total
    if design.summation == "fused":
        with g.scope("products"):
            total = fused_sum(g, products, design, step)
    elif design.summation == "pairwise":
        total = _tree(g, design, products)
    else:
        total = products[0]
        for i, x in enumerate(products[1:]):
            with g.scope(f"step{i}"):
                total = fused_sum(g, [total, x], design, step)
    with g.scope("last"):
        return fused_sum(g, [total, c], design, rho)


def _round_products(g: Graph, design: Design, products: list[Number]) -> list[Number]:
    target = design.product_conversion
    rounded = []
    for i, x in enumerate(products):
        with g.scope(f"product{i}"):
            rounded.append(convert_number(g, x, design, target))
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
