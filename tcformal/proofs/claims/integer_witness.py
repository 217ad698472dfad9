"""A witness that sums of integers just above the proved size are not exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format
from tcformal.operands.witness import Witness
from tcformal.oracle.values import decode, encoded
from tcformal.proofs.claim import Counterexample, results_of


def one_too_large(spec: UnitSpec, most: int) -> Counterexample | None:
    """Integers that add up to 2^most + 1, and some that add up to 2^most, with one result; None for none."""
    for w in _sums(spec, most):
        for alone in (replace(w, c=0), replace(w, a=(*w.a[:-1], 0))):
            sums = [exact_sum(spec, x) for x in (alone, w)]
            if sums != [1 << most, (1 << most) + 1]:
                continue
            results = (results_of(spec, alone), results_of(spec, w))
            if results[0] == results[1]:
                return Counterexample(first=w, second=alone, results=results, found_by="construction")
    return None


def exact_sum(spec: UnitSpec, w: Witness) -> Fraction:
    """The exact sum of finite operands, with the scales of each block."""
    o, total = spec.operands, decode(spec.operands.c, w.c).number
    for k, (a, b) in enumerate(zip(w.a, w.b, strict=True)):
        term = decode(o.a, a).number * decode(o.b, b).number
        if spec.scale_format is not None and spec.scale_block is not None:
            for row in (w.scale_a, w.scale_b):
                term *= decode(spec.scale_format, row[k // spec.scale_block]).number
        total += term
    return total


def _sums(spec: UnitSpec, most: int) -> Iterator[Witness]:
    """One product, the last, and c: 2^most and 1, either way; each candidate is tried."""
    for product, c in ((1, 1 << most), (1 << most, 1)):
        word = encoded(spec.operands.c, Fraction(c))
        if word is not None:
            for a, b, scale_a, scale_b in _products(spec, product):
                yield _one_product(spec, a, b, word, scale_a, scale_b)


def _one_product(spec: UnitSpec, a: int, b: int, c: int, scale_a: int, scale_b: int) -> Witness:
    zeros = (0,) * (spec.k - 1)
    scales = -(-spec.k // spec.scale_block) if spec.scale_block else 0
    return Witness((*zeros, a), (*zeros, b), c, (scale_a,) * scales, (scale_b,) * scales)


def _products(spec: UnitSpec, value: int) -> Iterator[tuple[int, int, int, int]]:
    """Words of factors that are powers of two, with a product: the smallest ones with scales, or any two."""
    o = spec.operands
    powers = [Fraction(2) ** e for e in range(-150, 128)]
    scale = spec.scale_format
    if scale is None:
        for x in powers:
            yield from _words((o.a, o.b), (x, value / x))
        return
    least = [min(x for x in powers if encoded(fmt, x) is not None) for fmt in (o.a, o.b)]
    for x in powers:
        yield from _words((o.a, o.b, scale, scale), (*least, x, value / (x * least[0] * least[1])))


def _words(formats: tuple[Format, ...], values: tuple[Fraction, ...]) -> Iterator[tuple[int, int, int, int]]:
    words = [encoded(fmt, x) for fmt, x in zip(formats, values, strict=True)]
    made = [x for x in words if x is not None]
    if len(made) == len(formats):
        a, b, *scales = made
        yield a, b, *(scales or (0, 0))
