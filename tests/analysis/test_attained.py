"""Inputs that are built to lose: kept units shared out among products of few bits, and sums to odd."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcformal.analysis.bounds.ascent import of_cut_terms
from tcformal.analysis.bounds.attained import Construction, _losses
from tcformal.design.catalog import catalogue
from tcformal.oracle.values import decode

U = Fraction(1, 1 << 24)


@pytest.mark.parametrize(
    ("name", "units"),
    [
        # Four products of 1.875 units bring a sum to nearest to a tie, and lose 7/8 of a unit each.
        ("hopper/wgmma.m64n8k32.f16.e5m2.e5m2", 66931.9),
        ("ada/mma.m16n8k32.f16.e5m2.e5m2.f16", 74547.2),
        # Three bring a sum that is cut to three units above a result; one of 3.75 units loses no less.
        ("rtx-blackwell/mma.m16n8k16.f32.e5m2.e5m2.f32", 8.4374),
    ],
)
def test_units_that_are_kept_are_shared_out(name: str, units: float) -> None:
    unit = catalogue()[name]
    found = Construction(unit).best(unit.k)
    assert units * U < found.ratio < (units + max(units / 10**4, 1e-3)) * U


@pytest.mark.parametrize("bits", [(2, 2), (3, 2), (3, 3), (1, 1)])
def test_what_a_product_loses_beside_its_whole_part(bits: tuple[int, int]) -> None:
    rows = _losses(*bits, 7)
    assert len(rows) == 8
    for whole, row in enumerate(rows):
        if row is None:
            continue
        loss, x, y, shift = row
        assert x * y * Fraction(2) ** shift == whole + loss
        assert 0 <= loss < 1
        pairs = ((i, j) for i in range(1 << bits[0], 2 << bits[0]) for j in range(1 << bits[1], 2 << bits[1]))
        values = (i * j * Fraction(2) ** s for i, j in pairs for s in range(-8, 8))
        assert all(v - whole <= loss for v in values if whole <= v < whole + 1)


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("riscv/vfwbdot.vv.vlen128", 3.4997),
        # Two products share what one of e5m2 cannot be: 6.125 and 12.25 units above an even result.
        ("riscv/vfqbdot.alt.vv.vlen128.e5m2.e5m2", 3.7031),
        # Of fifteen products eleven are negative, and cut: all of them gain 31/32 of a unit.
        ("riscv/vfqbdot.vv.vlen128.e4m3.e4m3", 3.6914),
    ],
)
def test_sums_to_odd_are_raised_as_far_as_they_can_be(name: str, units: float) -> None:
    unit = catalogue()[name]
    build = Construction(unit)
    best = max(of_cut_terms(build, unit.k, build.exponents()), key=lambda x: x.ratio)
    assert best.ratio > units * U
    ((w, _),) = best.calls
    assert decode(unit.d_format, best.ends).number > sum(build.values(w))
