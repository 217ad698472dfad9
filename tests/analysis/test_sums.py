"""Distances of units that flush subnormals, or take products away, and of units that do not."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tcformal.analysis.bounds.program.calls import CallBound, CallBounds
from tcformal.analysis.distance.distance import distances
from tcformal.design.names import resolve
from tcformal.encodings.spec import Format
from tcformal.errors import InvariantError
from tcformal.simulation import arrays
from tcformal.simulation.unit import unit
from tcformal.theory.stated_sum import StatedSum

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
