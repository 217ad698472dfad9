"""The oracle: one dot product of any design in exact fractions, written a second time from the papers.

This code is deliberately slow and plain.  Numbers are `Fraction`s, every rounding is a `floor`, and no width
is bounded unless a design bounds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from tcformal.checks import check_int
from tcformal.design.rounding import conversion
from tcformal.design.spec import Design, Products, SpecialValues
from tcformal.design.trees.tree import Step, Tree, stage_designs
from tcformal.design.unit import Emulation, UnitSpec
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError
from tcformal.oracle.blocks import chain_from_c, chain_from_zero, dot_block
from tcformal.oracle.products import (
    block_terms,
    counted_as_one,
    exact_specials,
    flushed,
    in_exponent_steps,
    in_order,
    ones,
    product,
)
from tcformal.oracle.sums import fused_sum
from tcformal.oracle.values import ExactValue, NumberClass, decode, encode_exact

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
    """The NaN of a block that ends as NaN, under a nan_rule other than `word`.

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
    """The NaN of `pair_chains`: c first, then the even chain, then the odd chain, earlier NaNs first.

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
    design: SpecialValues,
    pairs: Sequence[tuple[Word, Word]],
    results: Sequence[ExactValue],
    word: int | None,
    target: Format,
) -> int | None:
    """The NaN of a chain's last result, else None; `word` is the NaN of its start.

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


def tree_sum(
    step: Step, stages: Mapping[str, Design], products: Sequence[ExactValue], c: ExactValue
) -> ExactValue:
    """The sum of products and c in a tree's order, each sum rounded by its stage.

    Shapes: products: one value per k; stages: the design of each stage, by name.
    Zero, NaN, Inf: as `fused_sum`, sum by sum; a subnormal partial sum counts as a subnormal c does, and c
    comes with its subnormals already flushed.  The +0 that a sum may take in is one of its own result format.
    """
    design = stages[step.stage]
    terms: list[ExactValue] = []
    for child in step.children:
        if isinstance(child, Step):
            partial = tree_sum(child, stages, products, c)
            rounded = stages[child.stage].normalised
            terms.append(flushed(partial, design.c_subnormals) if rounded else partial)
        elif child == "zero":
            terms.append(ExactValue(NumberClass.FINITE, 0, Fraction(0), design.rho.e_min))
        else:
            terms.append(c if isinstance(child, str) else products[child])
    return fused_sum(design, terms, design.rho, step.c_place)


def tree_nan(
    tree: Tree,
    stages: Mapping[str, Design],
    products: Sequence[ExactValue],
    pairs: Sequence[tuple[Word, Word]],
    c: tuple[ExactValue, Word],
    target: Format,
    step: Step | None = None,
) -> int | None:
    """The NaN of a tree's sum, by default the root; None where the sum is no NaN.

    Shapes: pairs: the (a_k, b_k) as they come; c: its value and its word.
    Zero, NaN, Inf: the first NaN of a_k, b_k and the running sum, in the order of the tree's nan_rule, made
    quiet; the running sum's is c's, or else the first one of the inner sums by their least k.
    Source: as `nans.operand_nan`.
    """
    step = tree.root if step is None else step
    if tree_sum(step, stages, products, c[0]).kind is not NumberClass.NAN:
        return None
    of_a = of_b = None
    of_c: list[int | None] = []
    inner: list[int | None] = []
    for child in step.children:
        if isinstance(child, Step):
            inner.append(tree_nan(tree, stages, products, pairs, c, target, child))
        elif isinstance(child, int):
            of_a, of_b = (_quieted(word, target) for word in pairs[child])
        elif child == "c":
            of_c.append(_quieted(c[1], target))
    running = next((word for word in of_c + inner if word is not None), None)
    orders = {
        "first_operand": (of_a, of_b, running),
        "b_sum_a": (of_b, running, of_a),
        "a_sum_b": (of_a, running, of_b),
    }
    found = (word for word in orders[tree.nan_rule] if word is not None)
    return next(found, stages[step.stage].nan_word)


def _quieted(operand: Word, target: Format) -> int | None:
    """A quiet NaN from an operand that is a NaN, in the target's format; None for any other operand."""
    return quiet_nan(operand, target) if decode(*operand).kind is NumberClass.NAN else None


__all__ = ["dot", "product", "unit_dot"]


def dot(
    design: Design,
    a_format: Format,
    b_format: Format,
    c_format: Format,
    d_format: Format,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    *,
    scale_format: Format | None = None,
    scale_block: int | None = None,
    scale_a: Sequence[int] = (),
    scale_b: Sequence[int] = (),
) -> int:
    """The dot product d = c + Σ a_k·b_k of a design, raw encodings in and out.

    Shapes: a, b: K encodings, K a multiple of L = min(K, design.products); c: one of `c_format`; scale_a,
    scale_b: one encoding of `scale_format` for every `scale_block` consecutive k, the last may be fewer.
    Ranges and units: block k takes elements kL ... kL+L-1, and the result of block k - 1, an encoding of
    `d_format`, as its c.
    Zero, NaN, Inf: subnormals as the design has them; a NaN result is `design.nan_word` or, under another
    nan_rule than `word`, an operand's NaN; a NaN stays one through the later blocks; a NaN scale gives NaN.
    Errors: InputError for lengths that do not fit, encodings outside their width, scales without a format or
    the reverse, groups that K or a block of scales would cut, a `d_format` that cannot hold the results, and
    a `nan_word` that is no NaN of it.
    Source: XIE Algorithms 2 and 4 to 11, §4.2; VALPEY Algorithm 1.
    """
    for word in (design.nan_word, design.factor_nan_word):
        if word is not None:
            _check_output(design.conversion, word, d_format)
    length = _block_length(design, a, b)
    scales = _scales(design, len(a), scale_format, scale_block, scale_a, scale_b)
    d, incoming_format = c, c_format
    if design.nan_rule != "word" and decode(c_format, c).kind is NumberClass.NAN:
        d, incoming_format = quiet_nan((c_format, c), d_format), d_format
    for start in range(0, len(a), length):
        block = range(start, start + length)
        if design.zero_words == "skipped" and 0 in (sum(a[k] for k in block), sum(b[k] for k in block)):
            continue
        incoming = flushed(decode(design.reading(incoming_format), d), design.c_subnormals)
        if design.zero_terms is not None and incoming.is_zero:
            incoming = counted_as_one(ones(incoming), design.zero_terms)
        terms = block_terms(
            design,
            [_operand(design, a_format, a[k]) for k in block],
            [_operand(design, b_format, b[k]) for k in block],
            [scales[k] for k in block],
            start,
            (a_format.fraction_bits, b_format.fraction_bits),
        )
        result = dot_block(design, terms, incoming)
        if result.kind is NumberClass.NAN and design.nan_rule != "word":
            pairs = in_order(design, [((a_format, a[k]), (b_format, b[k])) for k in block])
            d = operand_nan(design, pairs, terms, d, incoming, d_format)
        else:
            d = _encode(design, d_format, result)
        incoming_format = d_format
    return d


def _operand(design: Design, fmt: Format, word: int) -> ExactValue:
    """The exact value of an element of A or B, with its exponent rounded down to the design's step."""
    return in_exponent_steps(decode(design.reading(fmt), word), -fmt.bias, design.exponent_step)


def unit_dot(
    spec: UnitSpec,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    scale_a: Sequence[int] = (),
    scale_b: Sequence[int] = (),
) -> int:
    """One element of a unit's D, by its design, tree or emulation, block scales included.

    Shapes: as `dot`; for an emulated unit or a tree K is the unit's k.
    Errors: InputError as `dot`, also for scales of an emulated unit.
    """
    if spec.tree is not None:
        return _tree_dot(spec, spec.tree, a, b, c, scale_a, scale_b)
    if spec.emulation is not None:
        if spec.scale_format is not None or len(scale_a) or len(scale_b):
            raise InputError(f"expected no scales for the emulated {spec.name}, but got some")
        return _emulated_dot(spec, spec.emulation, a, b, c)
    return dot(
        spec.design,
        spec.a_format,
        spec.b_format,
        spec.c_format,
        spec.d_format,
        a,
        b,
        c,
        scale_format=spec.scale_format,
        scale_block=spec.scale_block,
        scale_a=scale_a,
        scale_b=scale_b,
    )


def _tree_dot(
    spec: UnitSpec,
    tree: Tree,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    scale_a: Sequence[int],
    scale_b: Sequence[int],
) -> int:
    """One call of a tree unit."""
    if len(a) != spec.k or len(b) != spec.k:
        raise InputError(
            f"expected {spec.k} elements of a and b for {spec.name}, but got {len(a)} and {len(b)}"
        )
    design, stages = spec.design, stage_designs(tree, spec.design)
    words = [(spec.a_format, a), (spec.b_format, b)]
    if (wide := tree.converted) is not None:
        words = [(wide, [_converted(fmt, word, wide) for word in row]) for fmt, row in words]
    of_a, of_b = ([decode(design.reading(fmt), word) for word in row] for fmt, row in words)
    scales = _scales(design, spec.k, spec.scale_format, spec.scale_block, scale_a, scale_b)
    products = block_terms(design, of_a, of_b, scales)
    c_value = flushed(decode(design.reading(spec.c_format), c), design.c_subnormals)
    if tree.nan_rule != "word":
        pairs = [((spec.a_format, x), (spec.b_format, y)) for x, y in zip(a, b, strict=True)]
        word = tree_nan(tree, stages, products, pairs, (c_value, (spec.c_format, c)), spec.d_format)
        if word is not None:
            return word
    result = tree_sum(tree.root, stages, products, c_value)
    last = stages[tree.root.stage]
    _check_output(last.conversion, last.nan_word, spec.d_format)
    return _encode(last, spec.d_format, result)


def _emulated_dot(spec: UnitSpec, emulation: Emulation, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """One call of a compiler's composition: the parts chained from +0, then c.

    Zero, NaN, Inf: `emulation.addition` decides for the last sum, its operand_subnormals for the partial
    result and its c_subnormals for c; a NaN there is its nan_word.
    Source: CUDA 13.0 SASS of fp8 mma.sync on sm_90.
    """
    if len(a) != spec.k or len(b) != spec.k:
        raise InputError(
            f"expected {spec.k} elements of a and b for {spec.name}, but got {len(a)} and {len(b)}"
        )
    addition, inner, d_format = emulation.addition, emulation.converted, spec.d_format
    _check_output(addition.conversion, addition.nan_word, d_format)
    words_a = [_converted(spec.a_format, word, inner) for word in a]
    words_b = [_converted(spec.b_format, word, inner) for word in b]
    r = 0
    for part in emulation.parts:
        part_a, part_b = [words_a[k] for k in part], [words_b[k] for k in part]
        r = dot(spec.design, inner, inner, d_format, d_format, part_a, part_b, r)
    terms = [
        flushed(decode(d_format, r), addition.operand_subnormals),
        flushed(decode(spec.c_format, c), addition.c_subnormals),
    ]
    return _encode(addition, d_format, fused_sum(addition, terms, addition.rho))


def _converted(fmt: Format, bits: int, target: Format) -> int:
    """An encoding converted exactly to another format; ValueTextError where that is impossible."""
    value = decode(fmt, bits)
    if value.kind is NumberClass.NAN:
        return quiet_nan((fmt, bits), target)
    return _pack(target, value)


def _block_length(design: Products, a: Sequence[int], b: Sequence[int]) -> int:
    """The block length L, after a check of the operands' lengths."""
    if len(a) != len(b):
        raise InputError(f"expected as many elements of b as of a ({len(a)}), but got {len(b)}")
    length = min(len(a), design.products)
    if length == 0 or len(a) % length:
        raise InputError(f"expected K to be a multiple of {design.products} and at least 1, but got {len(a)}")
    if design.group is not None and length % design.group:
        raise InputError(f"expected K to be a multiple of group={design.group}, but got {len(a)}")
    return length


def _scales(
    design: Products,
    k: int,
    scale_format: Format | None,
    scale_block: int | None,
    scale_a: Sequence[int],
    scale_b: Sequence[int],
) -> list[tuple[ExactValue, ...]]:
    """The two scales of each of K elements; empty for a unit without scales."""
    if scale_format is None or scale_block is None:
        if scale_format is not None or scale_block is not None or len(scale_a) or len(scale_b):
            raise InputError("expected scales, scale_format and scale_block together, but some are missing")
        return [()] * k
    check_int("scale_block", scale_block, low=1)
    if design.group is not None and scale_block % design.group:
        raise InputError(
            f"expected scale_block to be a multiple of group={design.group}, but got {scale_block}"
        )
    count = -(-k // scale_block)
    for name, words in (("a", scale_a), ("b", scale_b)):
        if len(words) != count:
            raise InputError(f"expected {count} scales of {name} for K = {k}, but got {len(words)}")
    pairs = [
        (decode(scale_format, x), decode(scale_format, y)) for x, y in zip(scale_a, scale_b, strict=True)
    ]
    return [pairs[i // scale_block] for i in range(k)]


@lru_cache(maxsize=1024)
def _check_output(rho_text: str, nan_word: int, d_format: Format) -> None:
    rho = conversion(rho_text)
    if d_format.integer and rho.fits(d_format) and not nan_word:
        return
    if d_format.specials is not Specials.IEEE or not rho.fits(d_format) or rho.e_min != d_format.e_min:
        raise InputError(f"expected an output format that holds {rho_text}, but got {d_format}")
    if nan_word >= 2**d_format.width or decode(d_format, nan_word).kind is not NumberClass.NAN:
        raise InputError(f"expected nan_word to be a NaN of {d_format}, but got {nan_word:#x}")


def _encode(design: Design, d_format: Format, d: ExactValue) -> int:
    """The raw encoding of a block's result."""
    if design.rho.head_room > 0:
        d_format = d_format.all_numbers
    return design.nan_word if d.kind is NumberClass.NAN else _pack(d_format, d)


def _pack(fmt: Format, value: ExactValue) -> int:
    """The raw encoding of a representable number or an infinity."""
    if value.kind is NumberClass.INF:
        sign_bit: int = value.sign * 2 ** (fmt.width - 1)
        return fmt.infinity + sign_bit
    return encode_exact(fmt, value.number, negative_zero=bool(value.sign))
