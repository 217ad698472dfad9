"""Matrix products a second time: orders as lists of additions, every addition in fractions by the oracle.

A product is a list of parts, a part a list of accumulators, an accumulator a list of runs [start, stop) of k
that calls of the unit take one after the other, filled up with zeros.  Words of fp32 unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.steps import conversion_into, nan_word_of
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format, Specials
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.products import multiply
from tcformal.oracle.sums import fused_sum
from tcformal.oracle.values import ExactValue, NumberClass, decode, encode_exact
from tcformal.programs.dag import SCALAR

FP32 = FORMATS["fp32"]
Runs = Sequence[tuple[int, int]]
Word = tuple[Format, int]


def rounded(fmt: Format, *terms: Sequence[Word], saturate: bool = False) -> Word:
    """The sum of products of one or two words, rounded once to nearest, ties to even."""
    exact = []
    for words in terms:
        value: ExactValue | None = None
        for of, word in words:
            factor = decode(of, word)
            value = factor if value is None else multiply(value, factor)
        assert value is not None
        exact.append(value)
    made = fused_sum(SCALAR, exact, conversion_into("RNE", fmt))
    if made.kind is NumberClass.NAN:
        return fmt, nan_word_of(fmt)
    if saturate or fmt.specials is not Specials.IEEE:
        largest = decode(fmt, fmt.largest).magnitude
        if made.kind is NumberClass.INF or made.magnitude > largest:
            return fmt, fmt.largest + made.sign * fmt.sign_bit
    if made.kind is NumberClass.INF:
        return fmt, fmt.infinity + made.sign * fmt.sign_bit
    return fmt, encode_exact(fmt, made.number, negative_zero=bool(made.sign))


def chain(u: UnitSpec, a: Sequence[int], b: Sequence[int], runs: Runs, c: int = 0) -> Word:
    """Calls of a unit from c on."""
    for start, stop in runs:
        for first in range(start, stop, u.k):
            last = min(first + u.k, stop)
            zeros = [0] * (u.k - (last - first))
            c = unit_dot(u, [*a[first:last], *zeros], [*b[first:last], *zeros], c)
    return u.d_format, c


def added(first: Word | None, second: Word) -> Word:
    """The sum in the second's format; the second itself where nothing is there yet."""
    return second if first is None else rounded(second[0], [first], [second])


def total(u: UnitSpec, a: Sequence[int], b: Sequence[int], accumulators: Sequence[Runs], zero: bool) -> Word:
    """A part: accumulators added up in order, to zero or to the first of them."""
    made: Word | None = (u.d_format, 0) if zero else None
    for runs in accumulators:
        made = added(made, chain(u, a, b, runs))
    assert made is not None
    return made
