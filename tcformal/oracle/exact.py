"""The second version of the arithmetic: one dot product of any design, in fractions, from the papers.

Nothing here is meant to be fast.  Numbers are `Fraction`s, every rounding is a `floor`, and no width
is bounded except where a design bounds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from tcformal.checks import check_int
from tcformal.design.rounding import conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, Tree, stage_designs
from tcformal.design.unit import Emulation, UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.oracle.blocks import dot_block
from tcformal.oracle.nans import Word, operand_nan, quiet_nan
from tcformal.oracle.products import (
    block_terms,
    counted_as_one,
    flushed,
    in_exponent_steps,
    in_order,
    ones,
    product,
)
from tcformal.oracle.sums import fused_sum
from tcformal.oracle.values import ExactValue, NumberClass, decode, encode_exact


def tree_sum(
    step: Step, stages: Mapping[str, Design], products: Sequence[ExactValue], c: ExactValue
) -> ExactValue:
    """The products and c summed as a tree says, each sum rounded by its stage.

    Shapes: products: one value per k; stages: the design of each stage, by name.
    Zero, NaN, Inf: as `fused_sum`, sum by sum; a subnormal partial sum counts as a subnormal c does, and c
    comes with its subnormals already flushed.  The +0 that a sum may take in is one of its own result format.
    """
    design = stages[step.stage]
    terms = []
    for child in step.children:
        if isinstance(child, Step):
            partial = tree_sum(child, stages, products, c)
            terms.append(flushed(partial, design.c_subnormals))
        elif child == "zero":
            terms.append(ExactValue(NumberClass.FINITE, 0, Fraction(0), design.rho.e_min))
        else:
            terms.append(c if isinstance(child, str) else products[child])
    return fused_sum(design, terms, design.rho)


def tree_nan(
    tree: Tree,
    stages: Mapping[str, Design],
    products: Sequence[ExactValue],
    pairs: Sequence[tuple[Word, Word]],
    c: tuple[ExactValue, Word],
    target: Format,
    step: Step | None = None,
) -> int | None:
    """The NaN word of a sum of a tree, the outermost one unless given; None where the sum is no NaN.

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
    """An operand's NaN in the target's format; None where it is none."""
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
    """D = C + sum of a_k b_k, raw encodings in and out.

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
        incoming = flushed(decode(incoming_format, d), design.c_subnormals)
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
    """An element of A or B, with the exponent that it has in the unit."""
    return in_exponent_steps(decode(fmt, word), -fmt.bias, design.exponent_step)


def unit_dot(
    spec: UnitSpec,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    scale_a: Sequence[int] = (),
    scale_b: Sequence[int] = (),
) -> int:
    """One element of a unit's D, with its scales, its emulation or its tree.

    Shapes: as `dot`; for an emulated unit or a tree K is the unit's k.
    Errors: InputError as `dot`, also for scales of an emulated unit.
    """
    if spec.tree is not None:
        return _tree_dot(spec, spec.tree, a, b, c)
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


def _tree_dot(spec: UnitSpec, tree: Tree, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """What a unit that sums as a tree says computes in one call."""
    if len(a) != spec.k or len(b) != spec.k:
        raise InputError(
            f"expected {spec.k} elements of a and b for {spec.name}, but got {len(a)} and {len(b)}"
        )
    design, stages = spec.design, stage_designs(tree, spec.design)
    words = [(spec.a_format, a), (spec.b_format, b)]
    if (wide := tree.converted) is not None:
        words = [(wide, [_converted(fmt, word, wide) for word in row]) for fmt, row in words]
    of_a, of_b = ([decode(fmt, word) for word in row] for fmt, row in words)
    products = block_terms(design, of_a, of_b, [()] * spec.k)
    c_value = flushed(decode(spec.c_format, c), design.c_subnormals)
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
    """What a compiler's composition computes: the parts from +0, one after the other, then c.

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
    """An encoding in another format, exactly; ValueTextError where the format does not hold the value."""
    value = decode(fmt, bits)
    if value.kind is NumberClass.NAN:
        return quiet_nan((fmt, bits), target)
    return _pack(target, value)


def _block_length(design: Design, a: Sequence[int], b: Sequence[int]) -> int:
    """L, for operands that the design can take."""
    if len(a) != len(b):
        raise InputError(f"expected as many elements of b as of a ({len(a)}), but got {len(b)}")
    length = min(len(a), design.products)
    if length == 0 or len(a) % length:
        raise InputError(f"expected K to be a multiple of {design.products} and at least 1, but got {len(a)}")
    if design.group is not None and length % design.group:
        raise InputError(f"expected K to be a multiple of group={design.group}, but got {len(a)}")
    return length


def _scales(
    design: Design,
    k: int,
    scale_format: Format | None,
    scale_block: int | None,
    scale_a: Sequence[int],
    scale_b: Sequence[int],
) -> list[tuple[ExactValue, ...]]:
    """For each of K elements the two scales that act on it; nothing where there are no scales."""
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
    if d_format.specials is not Specials.IEEE or not rho.fits(d_format) or rho.e_min != d_format.e_min:
        raise InputError(f"expected an output format that holds {rho_text}, but got {d_format}")
    if nan_word >= 2**d_format.width or decode(d_format, nan_word).kind is not NumberClass.NAN:
        raise InputError(f"expected nan_word to be a NaN of {d_format}, but got {nan_word:#x}")


def _encode(design: Design, d_format: Format, d: ExactValue) -> int:
    """The raw encoding of a block's result."""
    return design.nan_word if d.kind is NumberClass.NAN else _pack(d_format, d)


def _pack(fmt: Format, value: ExactValue) -> int:
    """The raw encoding of a number or an infinity that the format holds."""
    if value.kind is NumberClass.INF:
        sign_bit: int = value.sign * 2 ** (fmt.width - 1)
        return fmt.infinity + sign_bit
    return encode_exact(fmt, value.number, negative_zero=bool(value.sign))
