"""Designs and dot products by value, for the tests of the oracle."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np

from tcformal.design.spec import Design
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.oracle.exact import dot
from tcformal.oracle.values import format_value, parse_value

FP32, FP16, BF16 = FORMATS["fp32"], FORMATS["fp16"], FORMATS["bf16"]
NAN32, NAN16 = 0x7FFFFFFF, 0x7FFF
ROUNDED = {"product_rounding": "RNE-FP32", "accumulator": "RNE-FP32"}


def tfdpa(
    products: int, fraction_bits: int, zero_exponent: int | str = "none", rho: str = "RZ-FP32", **rest: object
) -> Design:
    """A truncated fused dot product of NVIDIA (XIE T-FDPA)."""
    nan_word = NAN16 if rho == "RNE-FP16" else NAN32
    parameters = {"conversion": rho, "nan_word": nan_word, "zero_exponent": zero_exponent} | rest
    return Design(products=products, fraction_bits=fraction_bits, **parameters)  # type: ignore[arg-type]


def ieee(products: int = 1, **rest: object) -> Design:
    """A design of exact sums that rounds and overflows as IEEE 754 does."""
    parameters = {
        "conversion": "RNE-FP32",
        "nan_word": 0x7FC00000,
        "zero_sign": "ieee",
        "overflow": "ieee",
    } | rest
    return Design(products=products, **parameters)  # type: ignore[arg-type]


FMA = ieee()


def ftz_add_mul(products: int, **changes: object) -> Design:
    """FTZ-AddMul of CDNA2 (XIE Algorithm 2)."""
    flushing = {"operand_subnormals": "positive_zero", "c_subnormals": "positive_zero"}
    order = {"summation": "pairwise", "c_position": "last", "result_subnormals": "signed_zero"}
    return ieee(products, **(ROUNDED | flushing | order | changes))


def tr_fdpa(products: int, summation: str = "tr", **changes: object) -> Design:
    """TR-FDPA and GTR-FDPA of CDNA3 (XIE Algorithms 10 and 11)."""
    bits = {"fraction_bits": 24, "sum_fraction_bits": 31, "product_limit": 128}
    order = {"summation": summation, "c_position": "last", "zero_sign": "sum"}
    return ieee(products, **(bits | order | changes))


def x86_chain(products: int = 2, **changes: object) -> Design:
    """`vdpbf16ps` of AVX512_BF16."""
    kinds = ("operand_subnormals", "c_subnormals", "result_subnormals")
    order = {
        "summation": "sequential",
        "c_position": "first",
        "accumulator": "RNE-FP32",
        "order": "odd_first",
    }
    nans = {"nan_rule": "first_operand", "nan_word": 0xFFC00000}
    return ieee(products, **(dict.fromkeys(kinds, "signed_zero") | order | nans | changes))


def evaluate(
    design: Design,
    operands: Format,
    a: Sequence[str],
    b: Sequence[str],
    c: str = "0",
    accumulator: Format = FP32,
    *,
    scales: tuple[Format, int, Sequence[str], Sequence[str]] | None = None,
) -> str:
    """`dot` with values as people write them; scales: format, k that share one, those of a and of b."""
    words_a, words_b = ([parse_value(operands, text) for text in texts] for texts in (a, b))
    word_c = parse_value(accumulator, c)
    if scales is None:
        d = dot(design, operands, operands, accumulator, accumulator, words_a, words_b, word_c)
    else:
        fmt, block, *texts = scales
        scale_a, scale_b = ([parse_value(fmt, text) for text in side] for side in texts)
        d = dot(
            design,
            operands,
            operands,
            accumulator,
            accumulator,
            words_a,
            words_b,
            word_c,
            scale_format=fmt,
            scale_block=block,
            scale_a=scale_a,
            scale_b=scale_b,
        )
    return format_value(accumulator, d)


def as_float(word: int) -> float:
    """The number of an fp32 word."""
    return float(struct.unpack("<f", struct.pack("<I", word))[0])


def as_word(value: float) -> int:
    """The fp32 word nearest to a number."""
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))


def fma32(a: int, b: int, c: int) -> int:
    """a * b + c rounded once to fp32: the double sum is rounded to odd, then to nearest."""
    p, z = as_float(a) * as_float(b), as_float(c)
    s = p + z
    if not math.isfinite(s):
        return 0x7FC00000 if math.isnan(s) else as_word(s)
    t = s - p
    error = (p - (s - t)) + (z - t)
    if error and struct.unpack("<Q", struct.pack("<d", s))[0] % 2 == 0:
        s = math.nextafter(s, math.copysign(math.inf, error))
    return as_word(s)
