"""Errors of matrix products against exact sums."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tcformal.analysis.bias import _followed, _Law, bias
from tcformal.analysis.differences import differences
from tcformal.analysis.samples import (
    DISTRIBUTIONS,
    drawn,
    error_sample,
    growth,
    measured,
    values_of,
    weighted,
)
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError, UnknownNameError
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.values import NumberClass, decode, encode_exact
from tcformal.simulation.matrix_unit import Unit, unit
from tcformal.simulation.runnable import computation

AMPERE, HOPPER = (f"{x}/mma.m16n8k16.f32.f16.f16.f32" for x in ("ampere", "hopper"))


@pytest.mark.parametrize(
    "name", ["fp16", "bf16", "tf32", "e4m3", "e2m1", "e4m7[no-subnormals]", "fp32", "e8m0"]
)
def test_values_are_those_of_the_oracle(name: str) -> None:
    fmt = format_named(name)
    words = np.random.default_rng(3).integers(0, 1 << fmt.width, 200, dtype=np.uint64)
    words = words.astype(f"u{fmt.storage_bits // 8}")
    for word, x in zip(words.tolist(), values_of(words, fmt).tolist(), strict=True):
        value = decode(fmt, word)
        if value.kind is NumberClass.FINITE:
            assert Fraction(x) == value.number
        else:
            assert not np.isfinite(x)


@pytest.mark.parametrize("name", ["e4m3", "e3m4[bias=5]"])
def test_drawn_numbers_are_the_nearest(name: str) -> None:
    """Of each number the nearest value, as a comparison with every value of the format says."""
    fmt, n = format_named(name), 50
    values = np.array([float(decode(fmt, x).number) for x in range(1 << fmt.width)
                       if decode(fmt, x).kind is NumberClass.FINITE])  # fmt: skip
    found = values_of(drawn(np.random.default_rng(1), fmt, (n,), "normal").astype(np.uint8), fmt)
    x = np.random.default_rng(1).standard_normal(n)
    assert np.abs(found - x).tolist() == [np.abs(values - y).min() for y in x]


def test_errors_are_exact() -> None:
    """a·b of the first element summed in fractions; u = 2^-24."""
    u = unit(HOPPER)
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((3, 40)).astype(np.float16), rng.standard_normal((40, 2)).astype(np.float16)
    s = measured(u, a, b)
    d = u.matmul(a, b)
    pairs = [(Fraction(float(x)), Fraction(float(y))) for x, y in zip(a[0], b[:, 0], strict=True)]
    error = Fraction(float(d[0, 0])) - sum((x * y for x, y in pairs), Fraction(0))
    size = sum((abs(x * y) for x, y in pairs), Fraction(0))
    assert s.errors[0] == float(error)
    assert s.relative[0] == pytest.approx(float(error / size * 2**24), rel=1e-12)
    assert s.not_finite == 0


def test_results_that_are_not_finite_are_counted() -> None:
    a = np.full((1, 16), 60000, np.float16)
    a[0, 3] = np.nan
    s = measured(unit(HOPPER), a, np.ones((16, 2), np.float16))
    assert (s.errors.size, s.not_finite, s.quantiles) == (0, 2, {})


def test_growth_is_reproducible_and_below_the_constant() -> None:
    found = growth(unit(AMPERE), [16, 64], elements=64)
    assert [s.length for s in found] == [16, 64]
    again = error_sample(unit(AMPERE), 64, elements=64)
    assert (again.relative == found[1].relative).all()
    assert max(found[0].quantiles.values()) < 17


def test_a_mean_over_all_encodings_is_exact() -> None:
    """Every pair of e2m1 multiplied and added on a unit that keeps two fraction bits, against fractions."""
    u = unit(
        "tfdpa@a_format=e2m1,b_format=e2m1,products=2,fraction_bits=4,conversion=RZ-E8M1,zero_exponent=none"
    )
    x = bias(u, 1)
    fmt = format_named("e2m1")
    # Zeros of either sign are one value: 15 values of 16 encodings.
    words = [w for w in range(16) if w != 8]
    total = Fraction(0)
    for p in words:
        for q in words:
            a, b = np.array([[p, 0]], np.uint8), np.array([[q, 0]], np.uint8)
            d = int(u.dot_bits(a, b, np.zeros(1, np.uint32))[0])
            exact = decode(fmt, p).number * decode(fmt, q).number
            total += decode(format_named("fp32"), d).number - exact
    assert (x.exact, x.count, x.mean) == (True, 225, total / 225)


#: Rounded down, so that the mean is not 0 by symmetry.
DOWN = "c_format=e5m2,d_format=e5m2,accumulator=RD-E5M2,conversion=RD-E5M2"


def test_a_chain_is_followed_sum_by_sum() -> None:
    """A chain of fused multiply-adds: as over all tuples, which are few enough to be counted here."""
    u = unit(f"sequential@products=2,a_format=e2m1[no-subnormals],b_format=e2m1[no-subnormals],{DOWN}")
    laws = [weighted(f, "encodings") for f in (u.a_format, u.b_format)]
    assert laws[0] is not None
    assert laws[1] is not None
    every, followed = bias(u, 2), _followed(u, _Law(laws[0], laws[1]), 2)
    assert followed is not None
    assert (every.exact, followed.exact, followed.count) == (True, True, every.count)
    assert followed.mean == every.mean < 0


def test_a_long_chain_has_an_exact_mean() -> None:
    """225^16 tuples are followed, and samples agree."""
    u = unit(f"sequential@products=16,a_format=e2m1,b_format=e2m1,{DOWN}")
    x = bias(u, 16)
    assert (x.exact, x.count) == (True, 225**16)
    d = error_sample(u, 16, elements=4096, distribution="encodings").errors
    assert abs(float(np.mean(d)) - float(x.mean)) < 4 * float(np.std(d)) / math.sqrt(len(d))
    assert x.mean < -1


#: Values with weights for A, others for B.
LAW = "1:3,-1/2:1,0:2;3:1/2,-3.5:1/4"


@pytest.mark.parametrize("name", ["volta/mma.m8n8k4.f32.f16.f16.f32@fraction_bits=2", "block-fma"])
def test_a_mean_over_values_with_weights_is_exact(name: str) -> None:
    """Every pair of values with its weights, by the oracle; of a unit and of a program."""
    x = computation(name)
    rows = [(Fraction(1), 3), (Fraction(-1, 2), 1), (Fraction(0), 2)]
    columns = [(Fraction(3), 2), (Fraction(-7, 2), 1)]
    fmt, total, weights = x.a_format, Fraction(0), 0
    for ((p, q), u), ((r, s), v) in product(*[[((a, b), i * j) for a, i in rows for b, j in columns]] * 2):
        first, second = ([encode_exact(fmt, y) for y in z] for z in ((p, r), (q, s)))
        if isinstance(x, Unit):
            rest = [0] * (x.k - 2)
            d = decode(x.d_format, unit_dot(x.spec, first + rest, second + rest, 0)).number
        else:
            d = decode(x.d_format, program_result(x.program.plan(2), first, second, 0)).number
        total, weights = total + (d - p * q - r * s) * u * v, weights + u * v
    found = bias(x, 2, distribution=LAW)
    assert (found.exact, found.count) == (True, 36)
    assert found.mean == total / weights
    if isinstance(x, Unit):
        assert found.mean


def test_signs_of_factors_are_counted_once() -> None:
    """4^12 tuples of ±1 on Hopper, exactly; with -1 as often as 1 nothing is lost on average."""
    found = bias(unit(HOPPER), 12, distribution="1:1,-1:1")
    assert (found.exact, found.count, found.mean) == (True, 4**12, Fraction(0))


def test_samples_have_the_weights() -> None:
    words = drawn(np.random.default_rng(1), format_named("fp32"), (4000,), LAW, "b")
    values = values_of(words.astype(np.uint32), format_named("fp32"))
    assert set(values.tolist()) == {3.0, -3.5}
    assert 0.62 < float((values == 3).mean()) < 0.71


@pytest.mark.parametrize(
    ("distribution", "sentence"),
    [
        ("1:0", "a weight above 0, but got '1:0'"), ("inf:1", "a finite VALUE:WEIGHT"),
        ("1:1,2/2:1", "each value once in a distribution, but got '2/2' twice"), ("1:x", "a weight above 0"),
        ("1/3:1", "fp16"), ("1:-1", "a weight above 0"), ("normal;gauss", "a known distribution"),
    ],
)  # fmt: skip
def test_distributions_that_do_not_fit(distribution: str, sentence: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=re.escape(sentence)):
        bias(unit(HOPPER), 2, distribution=distribution)


def test_pairs_of_wide_formats_are_not_counted_one_by_one() -> None:
    """Two formats of 16 bits have 4·10^9 pairs: their mean is one of random rows."""
    x = bias(unit(HOPPER), 2, count=50)
    assert not x.exact
    assert x.low <= x.relative <= x.high


def test_a_sampled_mean_has_an_interval() -> None:
    x = bias(unit(HOPPER), 64, distribution="uniform", count=100)
    assert not x.exact
    assert x.low < x.relative < x.high < 0  # truncation of positive sums is biased towards zero
    sample = error_sample(unit(HOPPER), 64, elements=100, distribution="uniform").relative
    deviation = float(np.std(sample, ddof=1)) / np.sqrt(len(sample))
    # The normal distribution's quantiles at 0.025 and 0.975.
    assert (x.high - x.low) / deviation == pytest.approx(2 * 1.959963984540054)


def test_cancellation_does_not_enlarge_relative_differences() -> None:
    """1 + 2^-14·2^-11 - 1: many ulps of a small result, and less than 2 units of u·|A||B|."""
    a = np.array([[1, 2**-14, -1] + [0] * 13], np.float16)
    b = np.array([[1], [2**-11], [1]] + [[0]] * 13, np.float16)
    found = differences(
        "volta/mma.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32@fraction_bits=26", a, b
    )
    assert found.largest > 10**6
    assert 0 < float(found.relative.max()) < 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"length": 0}, "for length, but got 0"),
        ({"length": 4, "elements": 0}, "for elements, but got 0"),
        ({"length": 4, "distribution": "cauchy"}, f"expected one of {', '.join(DISTRIBUTIONS)}"),
    ],
)
def test_error_sample_rejects(arguments: dict[str, int], sentence: str) -> None:
    with pytest.raises((InputError, UnknownNameError)) as error:
        error_sample(unit(HOPPER), **arguments)  # type: ignore[arg-type]
    assert sentence in str(error.value) or "cauchy" in str(error.value)
