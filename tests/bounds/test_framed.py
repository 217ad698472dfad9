"""Constants of sums that are rounded to fp32 and then to fewer bits: those of both roundings."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tcformal.bounds.accuracy import accuracy
from tcformal.bounds.claims.framed import _conversion, _once
from tcformal.bounds.constants import step_constant
from tcformal.bounds.theorems import Theorems
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.matmul.unit import Unit
from tcformal.oracle.values import encode_exact
from tcformal.solve.result import Limits

TWICE = "rdna3/v_wmma_bf16_16x16x16_bf16"


def known() -> Theorems:
    """Theorems without a store."""
    return Theorems(None, Limits(), None, None, False, lambda _: None)


def test_both_roundings_make_the_result() -> None:
    """Of one block of ordinary numbers, on the units that the constants are taken from."""
    rng = np.random.default_rng(5)
    unit, part, second = resolve(TWICE), _once(resolve(TWICE)), _conversion(resolve(TWICE))
    count, size = 2000, unit.design.products
    a, b = (rng.integers(0x3E00, 0x4200, (count, size)).astype(np.uint16) for _ in range(2))
    signs = rng.integers(0, 2, (count, size)).astype(np.uint16) << np.uint16(15)
    c = rng.integers(0x3E00, 0x4200, count).astype(np.uint16)
    wide = Unit(part).dot_bits(a | signs, b, c.astype(np.uint32) << np.uint32(16))
    one = np.full((count, 1), encode_exact(second.b_format, Fraction(1)), np.uint8)
    made = Unit(second).dot_bits(wide[:, None], one, np.zeros(count, np.uint16))
    assert (Unit(unit).dot_bits(a | signs, b, c) == made).all()


def test_what_is_rounded_twice_loses_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much as the sums, and an ulp of 2^-7 of what they make."""
    monkeypatch.setattr(Theorems, "holds", lambda self, unit, claim, *, kept=True: True)
    unit, ulp = resolve(TWICE), Fraction(1, 1 << 7)
    once, twice = (step_constant(x, 16, known()) for x in (_once(unit), unit))
    for x, y in ((once.first, twice.first), (once.other, twice.other), (once.beside, twice.beside)):
        assert x is not None
        assert y is not None
        assert y >= (1 + x) * (1 + ulp) - 1 > x + ulp
    alone = step_constant(unit, 2, known())
    assert alone.first is not None
    assert alone.other is None
    gap = accuracy(TWICE, subnormals=False).gap
    assert gap is not None
    assert 0 < gap < Fraction(1, 10)


@pytest.mark.parametrize("change", ["fraction_bits=23", "c_fraction_bits=25", "products=4"])
def test_other_sums_have_no_such_bound(change: str) -> None:
    """No unit is known that makes them."""
    with pytest.raises(InputError, match=r"^expected a unit with the sums of .* in fp32, but none is known$"):
        _once(resolve(f"{TWICE}@{change}"))


def test_other_results_have_no_such_bound() -> None:
    with pytest.raises(InputError, match=r"^expected results with the exponents of fp32, but "):
        _conversion(resolve("rdna3/v_wmma_f16_16x16x16_f16"))
