"""Bounds of programs whose scales are quotients: nearly attained, not exceeded, refused where none holds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from tcformal.analysis.bounds.error_propagation import Scale, StepErrors
from tcformal.analysis.bounds.proved import CallBounds
from tcformal.analysis.bounds.word_forms import Range
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.values import decode, encode_exact
from tcformal.programs.program import Program, program

FP32 = format_named("fp32")
DEEPGEMM = "deepgemm-fp8-fp32"


def bound(p: Program, n: int, exponents: Range | None = None) -> Fraction:
    return StepErrors(p.plan(n), exponents, CallBounds()).constant()


def lost(p: Program, a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """error / Σ|a_k·b_k|, by the oracle."""
    plan = p.plan(len(a))
    first, second = ([encode_exact(FP32, x) for x in row] for row in (a, b))
    d = program_result(plan, first, second, 0)
    exact = [x * y for x, y in zip(a, b, strict=True)]
    return abs(decode(plan.fmt, d).number - sum(exact)) / sum(map(abs, exact))


def beside(n: int) -> list[list[Fraction]]:
    """The largest element beside a small one, and others half an ulp of e4m3 above a number of it."""
    small = Fraction(17, 1024)
    rest = [Fraction(17)] * (n - 2)
    return [[Fraction(448), small, *rest], [small, Fraction(448), *rest]]


@pytest.mark.parametrize("reciprocal", [False, True])
def test_scales_that_are_quotients_have_a_bound(reciprocal: bool) -> None:
    """Both words lose 1/17 of themselves, the call what is proved of it; of scales, their errors are left."""
    p = program(f"{DEEPGEMM}@reciprocal={str(reciprocal).lower()}")
    most = bound(p, 32)
    words = (1 + Fraction(1, 17)) ** 2 - 1
    assert words < most < words + Fraction(125023, 33550336) * (1 + words) + Fraction(1, 10**5)
    worst, rng = lost(p, *beside(32)), random.Random(3)
    for _ in range(6):
        rows = [[Fraction(rng.randint(1 << 20, 1 << 24), 1 << 22) * rng.choice([1, -1]) for _ in range(32)]
                for _ in range(2)]  # fmt: skip
        worst = max(worst, lost(p, *rows))
    assert most * Fraction(9, 10) < worst <= most


def test_what_underflows_beside_the_largest_element_is_lost_whole() -> None:
    """Why the bound says that no word is subnormal: without that there is no constant below 1."""
    assert lost(program(DEEPGEMM), [Fraction(1), Fraction(1, 1 << 20)], [Fraction(0), Fraction(1)]) == 1


def test_a_range_of_exponents_is_refused() -> None:
    with pytest.raises(InputError, match="expected no range of exponents where scales depend on data"):
        bound(program(DEEPGEMM), 4, Range(-14, 14))


def test_words_that_saturate_are_refused() -> None:
    p = program(DEEPGEMM)
    fits, cut = (replace(p, body=p.body.replace("largest(word)", x)) for x in ("463", "465"))
    assert bound(fits, 4) < Fraction(1, 7)
    with pytest.raises(InputError, match=r"expected words that fit e4m3, but the largest of 0\.p do not"):
        bound(cut, 4)


def test_scales_that_do_not_cancel_or_divide_words_are_refused() -> None:
    p = program(DEEPGEMM)
    with pytest.raises(InputError, match="expected a result whose scales cancel"):
        bound(replace(p, body=p.body.replace("fma(left * right,", "fma(left * left,")), 4)
    with pytest.raises(InputError, match=r"expected scales and positive constants, but .* divides other"):
        bound(replace(p, body="d = c\nfor x, y in elements(a, b):\n    d = d + (x / y) * y\n"), 2)


def test_errors_of_scales_add_up() -> None:
    e = Fraction(1, 100)
    one, two = Scale(Fraction(3), ((1, 1),), e), Scale(Fraction(2), ((1, 1), (4, -1)), e)
    assert one.times(two) == Scale(Fraction(6), ((1, 2), (4, -1)), (1 + e) ** 2 - 1)
    assert one.over(two) == Scale(Fraction(3, 2), ((4, 1),), (1 + e) / (1 - e) - 1)
    assert one.rounded(FP32, "RZ").error == (1 + e) * (1 + Fraction(1, 1 << 23)) - 1
