"""Exact errors of results, in fractions, independent of the DAG."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import NumberClass, decode, exponent_of

SINGLE = FORMATS["fp32"]


def exact_products(
    a_format: Format, b_format: Format, a: Sequence[int], b: Sequence[int]
) -> list[Fraction] | None:
    """The exact products a_k·b_k of encodings; None where one is not finite."""
    rows = [(decode(a_format, x), decode(b_format, y)) for x, y in zip(a, b, strict=True)]
    if any(v.kind is not NumberClass.FINITE for row in rows for v in row):
        return None
    return [x.number * y.number for x, y in rows]


def exact_sum(products: Sequence[Fraction] | None, c_format: Format, c: int) -> Fraction | None:
    """The exact sum of products and c; None where c or a product is not finite."""
    last = decode(c_format, c)
    if products is None or last.kind is not NumberClass.FINITE:
        return None
    return sum(products, last.number)


def error(result: int, exact: Fraction, fmt: Format = SINGLE) -> Fraction | None:
    """The error |result - exact| of an encoding; None for a result that is not finite."""
    value = decode(fmt, result)
    return abs(value.number - exact) if value.kind is NumberClass.FINITE else None


def ulp(number: Fraction, fmt: Format = SINGLE) -> Fraction:
    """The ulp of a format at a nonzero number, without an exponent range."""
    if not number:
        raise InputError("expected a number other than zero for its unit in the last place, but got 0")
    return power_of_two(exponent_of(abs(number)) - fmt.fraction_bits)
