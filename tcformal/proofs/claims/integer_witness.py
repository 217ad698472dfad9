"""A witness that sums of integers just above the proved size are not exact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format
from tcformal.operands.witness import Witness
from tcformal.oracle.values import decode, encoded
from tcformal.programs.chain import scale_count
from tcformal.proofs.claim import Counterexample
from tcformal.query.replay import results_of


def one_too_large(spec: UnitSpec, most: int, *, subnormal: bool = False) -> Counterexample | None:
    """Integers that add up to 2^most + 1, and some that add up to 2^most, with one result; None for none.

    Where results are rounded up, some that add up to 2^most + 2 have the same result.  The factors of one
    product are subnormal numbers where that is asked for, and none otherwise.
    """
    for w in _sums(spec, most, subnormal):
        for other in _beside(spec, w, most):
            if exact_sum(spec, w) - (1 << most) != 1 or exact_sum(spec, other) - (1 << most) not in (0, 2):
                continue
            results = (results_of(spec, other), results_of(spec, w))
            if results[0] == results[1]:
                return Counterexample(first=w, second=other, results=results, found_by="construction")
    return None


def _beside(spec: UnitSpec, w: Witness, most: int) -> Iterator[Witness]:
    """The same without c, without the product, and with a c that is one more."""
    yield replace(w, c=0)
    yield replace(w, a=(0,) * len(w.a))
    for c in (2, (1 << most) + 2):
        word = encoded(spec.operands.c, Fraction(c))
        if word is not None:
            yield replace(w, c=word)


def exact_sum(spec: UnitSpec, w: Witness) -> Fraction:
    """The exact sum of finite operands, with the scales of each block."""
    o, total = spec.operands, decode(spec.operands.c, w.c).number
    for k, (a, b) in enumerate(zip(w.a, w.b, strict=True)):
        term = decode(o.a, a).number * decode(o.b, b).number
        if spec.design.subtracts(k):
            term = -term
        if spec.scale_format is not None and spec.scale_block is not None:
            for row in (w.scale_a, w.scale_b):
                term *= decode(spec.scale_format, row[k // spec.scale_block]).number
        total += term
    return total


def _sums(spec: UnitSpec, most: int, subnormal: bool) -> Iterator[Witness]:
    """One product, the last that is added, and c: 2^most and 1, either way; each candidate is tried."""
    o, scale = spec.operands, spec.scale_format
    count = scale_count(spec, spec.k)
    formats = (o.a, o.b, *(() if scale is None else (scale, scale)))
    place = max((k for k in range(spec.k) if not spec.design.subtracts(k)), default=spec.k - 1)
    before, after = (0,) * place, (0,) * (spec.k - 1 - place)
    for product, c in ((1, 1 << most), (1 << most, 1)):
        word = encoded(o.c, Fraction(c))
        for values in () if word is None else _factors(formats, Fraction(product), subnormal):
            words = [encoded(fmt, x) for fmt, x in zip(formats, values, strict=True)]
            made = [x for x in words if x is not None]
            if len(made) == len(formats) and subnormal == any(map(_is_subnormal, formats, made)):
                a, b, *scales = made
                one, two = (*before, a, *after), (*before, b, *after)
                yield Witness(one, two, int(word or 0), *((x,) * count for x in scales))


def _factors(formats: Sequence[Format], product: Fraction, subnormal: bool) -> Iterator[tuple[Fraction, ...]]:
    """Powers of two with a product: any two of one operand each, or of scales beside equal operands."""
    powers = sorted((Fraction(2) ** e for e in range(-150, 128)), key=lambda x: max(x, 1 / x))
    beside: tuple[Fraction, ...] = ()
    if len(formats) > 2:
        beside = tuple(
            min(x for x in powers if encoded(fmt, x) is not None) if subnormal else Fraction(1)
            for fmt in formats[:2]
        )
    for x in powers:
        yield *beside, x, product / (x * prod(beside))


def _is_subnormal(fmt: Format, word: int) -> bool:
    return decode(fmt, word).is_subnormal
