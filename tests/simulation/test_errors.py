"""Errors of matrix products against exact sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tcformal.analysis.bias import bias
from tcformal.analysis.drawn import DISTRIBUTIONS
from tcformal.analysis.errors import error_sample, measured, values_of
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError, UnknownNameError
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.programs import program_result
from tcformal.oracle.values import NumberClass, decode, encode_exact
from tcformal.simulation.runnable import computation
from tcformal.simulation.unit import Unit, unit

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


def test_a_sampled_mean_has_an_interval() -> None:
    x = bias(unit(HOPPER), 64, distribution="uniform", count=100)
    assert not x.exact
    assert x.low < x.relative < x.high < 0  # truncation of positive sums is biased towards zero
    sample = error_sample(unit(HOPPER), 64, elements=100, distribution="uniform").relative
    deviation = float(np.std(sample, ddof=1)) / np.sqrt(len(sample))
    # The normal distribution's quantiles at 0.025 and 0.975.
    assert (x.high - x.low) / deviation == pytest.approx(2 * 1.959963984540054)


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
