"""Constants of theorems against random calls: none loses more, from zero or beside any c."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tcformal.analysis.bounds.proved import exponent_constant, theorem_constant
from tcformal.analysis.samples import values_of
from tcformal.design.catalog import distinct_designs, floating
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, product_signs
from tcformal.encodings.spec import Format, Sign
from tcformal.simulation.matrix_unit import Unit

SOME = (
    "volta/mma.m8n8k4.f32.f16.f16.f32", "ada/mma.m16n8k32.f32.e5m2.e5m2.f32", "x86/tcmmrlfp16ps",
    "cdna2/v_mfma_f32_32x32x8f16", "arm/bfdot.ebf0", "hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16",
    "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.ue8m0",
    "cdna3/v_mfma_f32_16x16x8_xf32", "cdna3/v_mfma_f32_16x16x32_fp8_bf8", "gaudi2/mme.fp8_152",
    "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32", "vortex/VX_tcu_fedp_tfr.bf16", "et-soc-1/TensorFMA32",
    "gaudi3/mme.tf32", "rdna3/v_wmma_f32_16x16x16_f16", "rdna4/v_wmma_f16_16x16x16_f16",
)  # fmt: skip


def drawn(
    rng: np.random.Generator, f: Format, shape: tuple[int, ...], spread: int
) -> NDArray[np.unsignedinteger]:
    """Zeros and normal numbers, some of few bits, with exponents about 0."""
    field = np.clip(rng.integers(-spread, spread + 1, shape), f.e_min, f.e_max - 1) + f.bias
    fraction = rng.integers(0, 1 << f.fraction_bits, shape, dtype=np.uint64)
    ends = np.where(rng.random(shape) < 0.5, 0, (1 << f.fraction_bits) - 1).astype(np.uint64)
    fraction = np.where(rng.random(shape) < 0.4, ends, fraction)
    words = (field.astype(np.uint64) << np.uint64(f.fraction_bits) | fraction) << np.uint64(
        f.ignored_low_bits
    )
    if f.sign is Sign.PRESENT:
        words |= rng.integers(0, 2, shape, dtype=np.uint64) * np.uint64(f.sign_bit)
    return np.where(rng.random(shape) < 0.15, 0, words).astype(f"u{f.storage_bits // 8}")


def most_lost(unit: UnitSpec, spread: int, bits: int | None, *, with_c: bool) -> float:
    """What random calls lose at most, in units of Σ|x_k·y_k| + |c|; `bits` that c has at most."""
    rng, rows = np.random.default_rng(spread), 1000
    a, b = (drawn(rng, f, (rows, unit.k), spread) for f in (unit.a_format, unit.b_format))
    c = drawn(rng, unit.c_format, (rows,), 2 * spread) if with_c else np.zeros(rows, a.dtype)
    cut = 0 if bits is None else unit.c_format.fraction_bits - bits
    c = np.asarray((c.astype(np.uint64) >> np.uint64(cut)) << np.uint64(cut))
    c = c.astype(f"u{unit.c_format.storage_bits // 8}")
    scales, weight = [], np.ones((rows, unit.k), np.longdouble)
    if unit.scale_format is not None:
        one, size = unit.scale_format.one, unit.scale_block or unit.k
        scales = [rng.integers(one - 3, one + 4, (rows, -(-unit.k // size))).astype(np.uint8) for _ in "ab"]
        for words in scales:
            weight = weight * values_of(words, unit.scale_format)[:, np.arange(unit.k) // size]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        d = values_of(Unit(unit).dot_bits(a, b, c, *scales), unit.d_format).astype(np.longdouble)
        x, y, z = (values_of(v, f).astype(np.longdouble)
                   for v, f in ((a, unit.a_format), (b, unit.b_format), (c, unit.c_format)))  # fmt: skip
        terms = x * y * weight * np.array(product_signs(unit, unit.k))
        exact, size = terms.sum(1) + z, np.abs(terms).sum(1) + np.abs(z)
        ratio = np.abs(d - exact) / size
    least = 2.0**unit.d_format.e_min
    large = (np.maximum(np.abs(terms).max(1), np.abs(z)) >= least) & ((np.abs(d) >= least) | (d == exact))
    return float(np.where(np.isfinite(ratio) & large, ratio, 0).max())


@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=[] if x in SOME else [pytest.mark.long]) for x in distinct_designs(floating)],
)
@pytest.mark.parametrize("spread", [1, 4, 10])
def test_no_random_call_loses_more(name: str, spread: int) -> None:
    unit = resolve(name)
    found = theorem_constant(unit)
    if found is None:
        assert name not in SOME
        return
    slack = 1 + 1e-9
    assert most_lost(unit, spread, None, with_c=False) <= float(found.constants.of(unit.k)) * slack
    most = found.bound_with_c(unit.k)
    if unit.c_format == unit.d_format and most is not None:
        assert most_lost(unit, spread, found.sum.c_bits, with_c=True) <= float(most) * slack


def most_lost_of_any(unit: UnitSpec, least: int, seed: int) -> float:
    """The same of subnormal factors beside large ones, and of any c; each counts as a normal number at least.

    Ranges and units: of calls whose products are multiples of 2^least, as c is.
    """
    rng, rows = np.random.default_rng(seed), 2000
    a, b, c = unit.a_format, unit.b_format, unit.c_format
    # Exponents of the larger factor from which on all products are such.
    low = [max(g.e_min - 1, least - f.e_min + f.fraction_bits + g.fraction_bits) for f, g in ((a, b), (b, a))]
    sides = [(a, a.e_min - 1, a.e_min + 2), (b, low[0], low[0] + 8 * seed)]
    if seed % 2:
        sides = [(a, low[1], low[1] + 8 * seed), (b, b.e_min - 1, b.e_min + 2)]
    sides.append((c, max(c.e_min - 1, least + c.fraction_bits), max(c.e_min, least) + c.fraction_bits + 4))
    words: list[NDArray[np.unsignedinteger]] = []
    for f, lowest, highest in sides:
        shape = (rows,) if f is sides[2][0] and len(words) == 2 else (rows, unit.k)
        field = np.clip(rng.integers(lowest, highest + 1, shape) + f.bias, 0, (1 << f.exponent_bits) - 2)
        row = (field << f.fraction_bits | rng.integers(0, 1 << f.fraction_bits, shape)) << f.ignored_low_bits
        row |= rng.integers(0, 2, shape) * f.sign_bit
        words.append(np.where(rng.random(shape) < 0.1, 0, row).astype(f"u{f.storage_bits // 8}"))
    d = values_of(Unit(unit).dot_bits(*words), unit.d_format).astype(np.longdouble)
    x, y, z = (values_of(w, f).astype(np.longdouble) for w, (f, *_) in zip(words, sides, strict=True))
    terms = x * y * np.array(product_signs(unit, unit.k))
    high = [
        np.where(v == 0, 0, np.maximum(np.abs(v), np.longdouble(2) ** f.e_min))
        for v, (f, *_) in zip((x, y, z), sides, strict=True)
    ]
    size = (high[0] * high[1]).sum(1) + high[2]
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.abs(d - terms.sum(1) - z) / size
    return float(np.where(np.isfinite(ratio), ratio, 0).max())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(x, marks=[] if x in SOME or "turing" in x else [pytest.mark.long])
        for x in distinct_designs(floating) if exponent_constant(resolve(x)) is not None
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", [1, 2])
def test_no_random_call_of_subnormal_factors_loses_more(name: str, seed: int) -> None:
    unit = resolve(name)
    found = exponent_constant(unit)
    assert found is not None
    most = found.bound_with_c(unit.k)
    assert most is not None
    lost = most_lost_of_any(unit, found.least, seed)
    assert lost <= float(most) * (1 + 1e-9)


def test_what_loses_more_than_a_constant_is_seen() -> None:
    """A constant of one part of two is refuted by the same calls."""
    unit = resolve("hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16")
    found = theorem_constant(unit)
    assert found is not None
    one = replace(found.constants, blocks=1)
    assert one.of(unit.k) < most_lost(unit, 10, None, with_c=False)


def test_few_products_of_a_composition_are_those_of_all_parts() -> None:
    """Of 32 products the first 16 are in both parts, each of which is rounded."""
    unit = resolve("hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32")
    found = theorem_constant(unit)
    assert found is not None
    assert found.constants.blocks == 2
    assert unit.emulation is not None
    assert {k // 16 for k in unit.emulation.parts[0]} == {0, 1}
    assert found.constants.of(16) == found.constants.of(32) > found.constants.first
    # A second call adds to the first one's sum.
    assert found.constants.of(33) == (1 + found.constants.of(32)) * (1 + Fraction(1, 1 << 24)) - 1
