"""One dot product with accumulation: products, blocks over K, and the chain of block results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tcformal.design.rounding import bits_taken, conversion
from tcformal.design.spec import Design, Operands, check_integers
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import all_of
from tcformal.semantics.choice import Choice, ZeroExponent
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Number
from tcformal.semantics.pack import check_output_format, pack
from tcformal.semantics.product import (
    Scales,
    grouped_products,
    in_pieces,
    product,
    scaled_products,
    with_bits,
)
from tcformal.semantics.special import Addend, Carried, flush, limit_product, operand_nan, quiet_nan
from tcformal.semantics.stages import Block, Dot, GroupSum, Nan, Operand
from tcformal.semantics.sums.block import Summation
from tcformal.semantics.sums.halves import in_exponent_steps
from tcformal.semantics.sums.step import AS_IT_IS, convert_number
from tcformal.semantics.sums.sticky import at_exponent, product_of_ones, with_leading_one
from tcformal.semantics.unpack import unpack


@dataclass(frozen=True, slots=True)
class DotPlace:
    """The names of a partial dot product's operands within the whole: its k, its c and its result."""

    #: The k of each product; None for 0, 1, ….
    ks: Sequence[int] | None = None
    c: Operand = field(default_factory=lambda: Operand("c"))
    #: None for the result of its last block.
    made: Operand | None = None


#: A dot product that is no part of another.
WHOLE = DotPlace()


def dot(
    g: Graph,
    design: Design,
    formats: Operands,
    a: Sequence[Node],
    b: Sequence[Node],
    c: Node,
    scales: Scales | None = None,
    place: DotPlace = WHOLE,
) -> Dot:
    """d = Σ a_k·b_k + c as `design` computes it, block scales included.

    Shapes: a, b: K raw encodings u[a.width], u[b.width]; c: u[c.width]; result u[d.width].  `place` says
    what the products and c are called.
    Ranges and units: K is a multiple of min(K, design.products) [XIE Algorithm 5].
    Zero, NaN, Inf: as `fused_sum`; NaN results are words as design.nan_rule says.
    Errors: InputError for operand lists of unequal length, a K that the blocks do not divide, or a
    conversion that does not fit the result format.
    """
    check_dot(design, formats, len(a), len(b), scales)
    number = unpack(g, c, design.reading(formats.c))
    total = Carried(number, nan_of(g, design.nan_rule, design.nan_word, formats, c), place.c)
    blocks: list[Block] = []
    # Each block's result is the next one's c; nothing is packed between.
    length = min(len(a), design.products)
    for start in range(0, len(a), length):
        stop = start + length
        made = Operand("block", number=len(blocks))
        if place.made is not None and stop == len(a):
            made = place.made
        with g.scope(f"block{len(blocks)}"):
            words = list(zip(a[start:stop], b[start:stop], strict=True))
            products = [flushed_product(g, design, formats, x, y, k) for k, (x, y) in enumerate(words)]
            taken = range(start, stop)
            products = [
                negated(g, x) if design.subtracts(k) else x for k, x in zip(taken, products, strict=True)
            ]
            if scales is not None and design.group is None:
                products = scaled_products(g, products, scales, start)
            products = [limit_product(g, x, design.product_limit) for x in products]
            ks = tuple(range(start, stop)) if place.ks is None else tuple(place.ks[start:stop])
            named = [Operand("products", (k,)) for k in ks]
            groups: Sequence[GroupSum] = ()
            if design.group is not None:
                products, groups = grouped_products(g, products, design, scales, start)
                size = design.group
                named = [Operand("products", ks[i : i + size]) for i in range(0, length, size)]
            pieces = list(zip(products, named, strict=True))
            if design.piece_bits is not None:
                bits, dropped = design.piece_bits, design.dropped_pieces
                pieces = [(p, name) for x, name in pieces for p in in_pieces(g, x, bits, dropped)]
            addends = _addends(g, design, formats, pieces, words)
            c_number = flush(g, total.number, design.c_subnormals)
            if design.zero_terms is not None:
                c_number = at_exponent(g, with_leading_one(g, c_number), design.zero_terms)
            block = Summation(g, design, formats.d)
            total = block.run(addends, replace(total, number=c_number), made)
            word = pack(g, total.number, result_format(design, formats.d), total.nan_word)
            if design.zero_words == "skipped":
                word = g.ite(_idle(g, words), blocks[-1].result if blocks else c, word)
                total = replace(total, number=unpack(g, word, formats.d))
            if design.special_words == "numbers":
                total = replace(total, number=unpack(g, word, design.reading(formats.d)))
            g.label("result", word)
            blocks.append(Block(g.here, tuple(groups), tuple(block.steps), word))
    return Dot(blocks[-1].result, tuple(blocks))


def _idle(g: Graph, words: Sequence[tuple[Node, Node]]) -> Node:
    """Whether all words of A, or all of B, in a block are 0 [Esperanto tensor_fma16a32_execute]."""
    return g.or_(*(all_of(g, [g.is_zero(x) for x in side]) for side in zip(*words, strict=True)))


def check_dot(design: Design, formats: Operands, k: int, k_of_b: int, scales: Scales | None) -> None:
    """Raise InputError for shapes and formats that `dot` does not support."""
    if k != k_of_b or k < 1:
        raise InputError(f"expected a and b of one length of at least 1, but got {k} and {k_of_b}")
    if k % min(k, design.products):
        raise InputError(f"expected K to be a multiple of {design.products} products, but got K={k}")
    if design.zero_words == "skipped" and formats.c != formats.d:
        raise InputError(
            f"expected C and D of one format for zero_words=skipped, but got {formats.c} and {formats.d}"
        )
    if not design.rho.fits(formats.d):
        raise InputError(f"expected a conversion into {formats.d.name}, but got {design.conversion}")
    check_integers(design, formats)
    check_nans(design.nan_rule, formats)
    if scales is not None:
        blocks = -(-k // scales.block)
        if len(scales.a) != blocks or len(scales.b) != blocks:
            raise InputError(
                f"expected {blocks} scales of a and of b for K={k} in blocks of {scales.block}, "
                f"but got {len(scales.a)} and {len(scales.b)}"
            )
    for word in (design.nan_word, design.factor_nan_word):
        if word is not None:
            check_output_format(formats.d, word)


def result_format(design: Design, fmt: Format) -> Format:
    """The format of D as results are written: its top binade has numbers where the conversion has them."""
    return fmt.all_numbers if design.rho.head_room > 0 else fmt


def check_nans(rule: str, formats: Operands) -> None:
    """Raise InputError where a NaN rule would propagate operand NaNs that the formats lack."""
    formats_with_nans = {"word": (), "products_c": (formats.c,)}.get(rule, (formats.a, formats.b, formats.c))
    for fmt in formats_with_nans:
        has = fmt.specials in (Specials.IEEE, Specials.ALL_ONES_NAN)
        if not has or fmt.fraction_bits > formats.d.fraction_bits:
            raise InputError(
                f"expected operands with NaNs that {formats.d.name} can hold "
                f"for nan_rule={rule}, but got {fmt.name}"
            )


def flushed_product(g: Graph, design: Design, formats: Operands, x: Node, y: Node, k: int = 0) -> Number:
    """The exact product of two encodings, number k, after the design's rule for subnormals."""
    a, b = factors_of_product(g, design, formats, x, y, k)
    if design.zero_terms is not None:
        return product_of_ones(g, a, b, design.zero_terms)
    return product(g, a, b)


def factors_of_product(
    g: Graph, design: Design, formats: Operands, x: Node, y: Node, k: int = 0
) -> tuple[Number, Number]:
    """Two encodings as the multiplier reads them: flushed, rounded, normalised, in exponent steps."""
    rule = design.operand_subnormals
    of_b = rule if design.b_subnormals is None else design.b_subnormals
    a = flush(g, unpack(g, x, design.reading(formats.a)), rule)
    b = flush(g, unpack(g, y, design.reading(formats.b)), of_b)
    if design.operand_rounding is not None:
        rounded = []
        for name, z in (("a", a), ("b", b)):
            with g.scope(f"rounded.{name}{k}"):
                made = convert_number(g, z, AS_IT_IS, conversion(design.operand_rounding))
                rounded.append(made.result)
        a, b = rounded
    if design.normalise_operands:
        a, b = (
            z
            if _nothing_to_normalise(design.zero_exponent, how)
            else replace(z, term=normalise_term(g, z.term))
            for z, how in ((a, rule), (b, of_b))
        )
    a, b = (
        z if bits is None else with_bits(g, z, *bits_taken(bits))
        for z, bits in ((a, design.a_bits), (b, design.b_bits))
    )
    if design.exponent_step != 1:
        step = design.exponent_step
        a, b = in_exponent_steps(g, a, formats.a, step), in_exponent_steps(g, b, formats.b, step)
    return a, b


def _nothing_to_normalise(zero: ZeroExponent, rule: str | Choice) -> bool:
    """Whether normalisation has no effect: subnormals are flushed, and zeros' exponents are not read."""
    unread = isinstance(zero, int) or (isinstance(zero, str) and zero == "none")
    return unread and isinstance(rule, str) and rule in ("positive_zero", "signed_zero")


def negated(g: Graph, x: Number) -> Number:
    """A product with the opposite sign, for zeros and infinities too; NaNs are unchanged."""
    return replace(x, term=replace(x.term, sign=g.not_(x.term.sign)))


def _addends(
    g: Graph,
    design: Design,
    formats: Operands,
    products: Sequence[tuple[Number, Operand]],
    words: Sequence[tuple[Node, Node]],
) -> list[Addend]:
    """The products of a block in the design's order, each with the operands whose NaNs it propagates."""
    count = len(products)
    if design.nan_rule == "word":
        addends = [Addend(x, (), name) for x, name in products]
    else:
        addends = [
            Addend(x, factors_nans(g, formats, name, both), name)
            for (x, name), both in zip(products, words, strict=True)
        ]
    return [addends[i if design.order == "ascending" else i ^ 1] for i in range(count)]


def factors_nans(g: Graph, formats: Operands, product: Operand, words: tuple[Node, Node]) -> tuple[Nan, Nan]:
    """A product's factors as candidate NaNs of a step."""
    a, b = words
    return operand_nan(g, "a", product, a, formats.a), operand_nan(g, "b", product, b, formats.b)


def nan_of(g: Graph, rule: str, every: int, formats: Operands, c: Node) -> Node:
    """The NaN word of a result: the fixed word, or c made quiet."""
    return g.const(every, formats.d.width) if rule == "word" else quiet_nan(g, c, formats.c, formats.d)
