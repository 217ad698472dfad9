"""Distances of units that flush subnormals, or take products away, and of units that do not."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tcformal.analysis import distance
from tcformal.analysis.bounds.proved import CallBound, CallBounds
from tcformal.analysis.distance import (
    LargestDistance,
    MatrixOperands,
    apart_sums,
    distances,
    largest_distance,
)
from tcformal.design.names import resolve
from tcformal.encodings.spec import Format
from tcformal.errors import InvariantError
from tcformal.simulation import arrays
from tcformal.simulation.matrix_unit import unit
from tcformal.theory.stated_sum import LETTERS, StatedSum

F16 = {
    "cdna1": "cdna1/v_mfma_f32_32x32x8f16", "cdna2": "cdna2/v_mfma_f32_32x32x8f16",
    "volta": "volta/mma.m8n8k4.f32.f16.f16.f32", "turing": "turing/mma.m16n8k8.f32.f16.f16.f32",
    "amx": "x86/tdpfp16ps", "complex": "x86/tcmmrlfp16ps", "dot": "x86/vdpphps",
    "power": "power10/xvf16ger2pp",
}  # fmt: skip
BF16 = {
    "cdna1": "cdna1/v_mfma_f32_32x32x4bf16", "cdna2": "cdna2/v_mfma_f32_32x32x4bf16", "amx": "x86/tdpbf16ps",
    "arm": "arm/bfdot.ebf0", "gaudi": "gaudi/mme.bf16.cd8", "gaudi2": "gaudi2/mme.bf16",
    "ampere": "ampere/mma.m16n8k16.f32.bf16.bf16.f32",
}  # fmt: skip
FP32 = {
    "cdna1": "cdna1/v_mfma_f32_32x32x2f32", "gaudi": "gaudi/mme.fp32.cd8", "gaudi2": "gaudi2/mme.fp32_ieee",
}  # fmt: skip
FP8 = {
    "ada": "ada/mma.m16n8k32.f32.e5m2.e5m2.f32", "amx": "x86/tdpbf8ps",
    "hopper": "hopper/wgmma.m64n8k32.f32.e5m2.e5m2",
}  # fmt: skip
MIXED = {"ada": "ada/mma.m16n8k32.f32.e5m2.e4m3.f32", "amx": "x86/tdpbhf8ps"}


def drawn(rng: np.random.Generator, fmt: Format, shape: tuple[int, ...], least: int, most: int) -> np.ndarray:
    """Words of numbers with both signs, of exponents from the least one up; a quarter of them subnormal.

    Ranges and units: exponents are those of numbers, cut to what the format has.
    """
    t = fmt.fraction_bits
    field = rng.integers(max(least, fmt.e_min), min(most, fmt.e_max) + 1, shape) + fmt.bias
    if least < fmt.e_min:
        field[rng.random(shape) < 0.25] = 0
    words = (field << t) | rng.integers(0, 1 << t, shape) | (rng.integers(0, 2, shape) * fmt.sign_bit)
    return np.where(rng.random(shape) < 0.1, 0, words).astype(f"u{fmt.storage_bits // 8}")


def pairs(names: dict[str, str], *first: str) -> list[tuple[str, str]]:
    return [(names[x], names[y]) for x, y in itertools.product(first, names) if x != y]


#: Formats' least exponents of elements of A and B: subnormal ones of both, or of one beside large others.
CASES = [
    ((F16["cdna1"], F16["cdna2"]), -24, 10, -24, 10),
    ((F16["complex"], F16["volta"]), -24, 10, -24, 10),
    ((BF16["cdna1"], BF16["amx"]), -133, -120, 60, 80),
    ((FP32["cdna1"], FP32["gaudi2"]), -149, -120, 90, 100),
    ((FP8["amx"], FP8["ada"]), -16, 10, -16, 10),
]
MORE = [
    *((p, -24, 10, -24, 10) for p in pairs(F16, "cdna1", "cdna2", "complex")),
    *((p, -133, -120, 60, 80) for p in pairs(BF16, "cdna1", "amx")),
    *((p, 80, 100, -133, -110) for p in pairs(BF16, "cdna2", "gaudi")),
    *((p, -149, -120, 90, 100) for p in pairs(FP32, "cdna1")),
    *((p, -16, 10, -16, 10) for p in pairs(FP8, "amx")),
    *((p, -16, 10, -9, 5) for p in pairs(MIXED, "ada", "amx")),
]


@pytest.mark.parametrize(
    ("names", "low_a", "high_a", "low_b", "high_b"),
    [*CASES, *(pytest.param(*x, marks=pytest.mark.slow) for x in MORE if x not in CASES)],
)
def test_intervals_hold_what_units_do_with_subnormals(
    names: tuple[str, str], low_a: int, high_a: int, low_b: int, high_b: int
) -> None:
    """Each of them of the first unit's results, with and without c, from both."""
    spec, rng = resolve(names[0]), np.random.default_rng([abs(low_a), abs(high_b)])
    k = 2 * max(resolve(x).k for x in names) if spec.k > 2 else 8
    a = arrays.from_raw(drawn(rng, spec.a_format, (8, k), low_a, high_a), spec.a_format)
    b = arrays.from_raw(drawn(rng, spec.b_format, (k, 6), low_b, high_b), spec.b_format)
    c = arrays.from_raw(drawn(rng, spec.c_format, (8, 6), -60, 0), spec.c_format)
    d = None
    for last, exact in itertools.product((None, c), (False, True)):
        x = distances(*names, a, b, last, exact=exact)
        d = [unit(u).matmul(a, b, last).astype(np.float64) for u in names]
        assert x.covered.all()
        assert ((x.low <= d[1] - d[0]) & (d[1] - d[0] <= x.high)).all()
    assert d is not None
    assert (d[0] != d[1]).any()


def one(a: float, b: float, dtype: Any = np.float16) -> tuple[np.ndarray, np.ndarray]:
    return np.array([[a]], dtype), np.array([[b]], dtype)


@pytest.mark.parametrize("other", ["cdna1", "volta", "turing"])
def test_a_flushed_factor_moves_the_interval(other: str) -> None:
    a, b = one(-32768, -(2.0**-24))
    x = distances(F16[other], F16["cdna2"], a, b, np.zeros((1, 1), np.float32))
    assert x.covered.all()
    assert x.low[0, 0] <= -(2.0**-9) <= x.high[0, 0] < -0.99 * 2.0**-9


@pytest.mark.parametrize("exact", [False, True])
def test_products_that_one_unit_takes_away_move_the_interval(exact: bool) -> None:
    ones = np.ones((1, 2), np.float16)
    x = distances(F16["amx"], F16["complex"], ones, ones.T, exact=exact)
    assert -2.00001 < x.low[0, 0] <= -2 <= x.high[0, 0] < -1.99999
    same = distances(F16["amx"], F16["complex"], ones[:, :1], ones[:1], exact=exact)
    assert -0.00001 < same.low[0, 0] <= 0 <= same.high[0, 0] < 0.00001


def test_a_c_with_more_bits_than_a_theorem_speaks_of_counts_for_itself() -> None:
    """Nothing but c: Ada keeps 13 bits of it, the other unit all."""
    ada, amx = FP8["ada"], FP8["amx"]
    a = np.zeros((1, 32), arrays.dtypes()["e5m2"])
    for c in (1.75 + 2.0**-13 - 2.0**-20, 1 + 2.0**-13 - 2.0**-23, -1 - 2.0**-13 + 2.0**-20):
        last = np.full((1, 1), c, np.float32)
        for names in ((ada, amx), (amx, ada)):
            x = distances(*names, a, a.T, last)
            first, second = (float(unit(u).matmul(a, a.T, last)[0, 0]) for u in names)
            assert x.covered.all()
            assert first != second
            assert x.low[0, 0] <= second - first <= x.high[0, 0]
    stated = CallBounds()
    found = stated.of(resolve(ada), 32, StatedSum(normal=LETTERS, c_bits=13))
    assert found.sum.c_bits == 13
    longer = stated.of(resolve(ada), 32, StatedSum(normal=LETTERS, c_bits=14))
    assert longer.sum.c_bits is None
    assert longer.other > found.other


def test_a_subnormal_c_counts_as_the_least_normal_number() -> None:
    """Of a unit whose c has fewer exponents than its results."""
    name = "volta/mma.m8n8k4.f32.f16.f16.f16"
    a, b = one(1.0, 2.0**-14)
    for c in (2.0**-20, 2.0**-24):
        last = np.full((1, 1), c, np.float16)
        given = MatrixOperands(resolve(name), arrays.product(resolve(name), a, b, last, None, None))
        assert given.last[0, 0] == c
        assert given.raised_last[0, 0] == 2.0**-14
        x = distances(name, name, a, b, last)
        assert x.covered.all()
        assert x.high[0, 0] > 0


def test_elements_of_which_a_theorem_speaks() -> None:
    """Not those with a subnormal c, nor with one of more bits."""
    u = resolve("volta/mma.m8n8k4.f32.f16.f16.f16")
    a, b = np.ones((1, 1), np.float16), np.ones((1, 3), np.float16)
    c = np.array([[2.0**-20, 1.25, 1.5]], np.float16)
    given = MatrixOperands(u, arrays.product(u, a, b, c, None, None))
    assert given.inside(StatedSum()).tolist() == [[True, True, True]]
    assert given.inside(StatedSum(normal=LETTERS)).tolist() == [[False, True, True]]
    assert given.inside(StatedSum(c_bits=1)).tolist() == [[True, False, True]]
    # A flushed c moves the sum as a flushed factor does.
    more, margin = apart_sums(given, given.values, given.summed(LETTERS, u))
    assert np.abs(np.add(more, [2.0**-20, 0, 0])).max() <= margin.max() < 2.0**-40


def test_what_underflows_beside_subnormal_factors_is_not_covered() -> None:
    bf16 = arrays.dtypes()["bf16"]
    for a, covered in ((2.0**60, True), (2.0**-10, False)):
        x = distances(BF16["cdna1"], BF16["ampere"], *one(2.0**-130, a, bf16))
        assert x.covered.all() == covered


def test_a_bound_that_an_element_exceeds_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its operands; of the first unit, whose results are computed."""
    a, b = one(1.0009765625, 1.0009765625)
    c = np.full((1, 1), 2.0**-30, np.float32)
    assert distances(F16["volta"], F16["cdna1"], a, b, c, exact=True).covered.all()
    less = CallBound(Fraction(1, 1 << 40), Fraction(0), -126, StatedSum())
    monkeypatch.setattr(CallBounds, "of", lambda *_: less)
    with pytest.raises(
        InvariantError, match=r"\(0, 0\) of volta.* as is proved, .* a = 0x3c01, b = 0x3c01, c = 0x"
    ):
        distances(F16["volta"], F16["cdna1"], a, b, c, exact=True)


def test_the_largest_distance_of_units_with_other_signs() -> None:
    """Twice the products that the one takes away; of one product nothing is taken away."""
    other = f"{F16['dot']}@negated=odd"
    x = largest_distance(F16["dot"], other, length=2)
    assert 2 == x.attained <= x.bound < Fraction(2001, 1000)
    assert x.other_signs
    alone = largest_distance(F16["dot"], other, length=1)
    assert alone.bound < Fraction(1, 1000)
    assert not alone.other_signs
    with pytest.raises(InvariantError, match=r"as is proved, .* apart: a = 0x"):
        LargestDistance(
            units=x.units, length=2, bound=Fraction(1), attained=x.attained, inputs=x.inputs,
            results=x.results,
        )  # fmt: skip


def test_a_share_of_c_is_in_the_error() -> None:
    stated = CallBound(Fraction(1, 4), Fraction(1, 2), -126, StatedSum())
    found = distance._error(stated, np.full((1, 1), 8.0), np.full((1, 1), 16.0))
    assert 10 <= found[0, 0] < 10.0001
