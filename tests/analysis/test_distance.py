"""The distance of two units: intervals that hold the other unit's results, and inputs far apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

from sampled import one_in
from tcformal.analysis.bounds.proved import CallBound, CallBounds
from tcformal.analysis.differences import differences
from tcformal.analysis.distance import LargestDistance, distances, largest_distance
from tcformal.cli import main
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, InvariantError
from tcformal.oracle.values import decode
from tcformal.simulation.matrix_unit import unit
from tcformal.simulation.operands.witness import scale_values
from tcformal.simulation.replay import oracle_result
from tcformal.theory.stated_sum import NO_C, StatedSum, normal_sum, sum_of

AMPERE, HOPPER = (f"{x}/mma.m16n8k16.f32.f16.f16.f32" for x in ("ampere", "hopper"))
#: What the theorems of one call say, in units of 2^-24: of its products, and of c.
CALLS = {AMPERE: 17, HOPPER: 11}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Constants a little above those that are proved, without their proofs."""

    def of(self: CallBounds, u: UnitSpec, products: int, needed: StatedSum) -> CallBound:
        each = Fraction(CALLS[u.name] + (0 if needed.c == NO_C else 3), 1 << 24)
        own = (1 + each) ** -(-products // 16) - 1
        return CallBound(own, own, -126, normal_sum(u) if needed.normal else sum_of(u))

    monkeypatch.setattr(CallBounds, "of", of)
    return iter(())


def matrices(k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positive, cancelling and widely spread rows."""
    rng = np.random.default_rng(k)
    a, b = rng.standard_normal((12, k)), rng.standard_normal((k, 10))
    a[:4], b[:, :3] = np.abs(a[:4]), np.abs(b[:, :3])
    a[4:8] *= 2.0 ** rng.integers(-10, 4, (4, k))
    return a.astype(np.float16), b.astype(np.float16), rng.standard_normal((12, 10)).astype(np.float32)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("with_c", [False, True])
def test_the_other_units_results_lie_inside(exact: bool, with_c: bool) -> None:
    a, b, c = matrices(40)
    last = c if with_c else None
    x = distances(AMPERE, HOPPER, a, b, last, exact=exact)
    d1, d2 = (unit(u).matmul(a, b, last).astype(np.float64) for u in (AMPERE, HOPPER))
    assert x.covered.all()
    assert ((x.low <= d2 - d1) & (d2 - d1 <= x.high)).all()
    assert (d1 != d2).any()
    # Not by being wide: 3 calls lose at most 3·(17 + 11) units, with c some more.
    sizes = np.abs(a).astype(float) @ np.abs(b).astype(float) + (np.abs(c) if with_c else 0)
    assert ((x.high - x.low) / sizes * 2**24 < (110 if exact else 2 * 120)).all()


@pytest.mark.usefixtures("known")
def test_products_that_are_lost_beside_c_are_in_its_share() -> None:
    """Each is cut by half a unit of c's, which is more than all products are."""
    a, b = np.full((1, 16), 1.5 * 2.0**-12, np.float16), np.full((16, 1), 2.0**-12, np.float16)
    c = np.ones((1, 1), np.float32)
    x = distances(AMPERE, HOPPER, a, b, c)
    d1, d2 = (float(unit(u).matmul(a, b, c)[0, 0]) for u in (AMPERE, HOPPER))
    assert d1 != d2
    assert x.low[0, 0] <= d2 - d1 <= x.high[0, 0]


@pytest.mark.usefixtures("known")
def test_a_subnormal_factor_is_no_normal_one() -> None:
    """Products are cut beside 2 where it is 1: 15 units are lost of a sum of 1, not of 2."""
    a, b = np.full((1, 16), 1.999 * 2.0**-13, np.float16), np.full((16, 1), 2.0**-12, np.float16)
    a[0, 0], b[0, 0] = 2.0**-15, 2.0**15
    x = distances(AMPERE, HOPPER, a, b, exact=True)
    d1, d2 = (float(unit(u).matmul(a, b)[0, 0]) for u in (AMPERE, HOPPER))
    exact = a.astype(float) @ b.astype(float)
    assert (exact[0, 0] - d2) * 2**24 > CALLS[HOPPER]
    assert x.low[0, 0] <= d2 - d1 <= x.high[0, 0]


@pytest.mark.usefixtures("known")
def test_an_exact_error_narrows_the_interval() -> None:
    a, b, _ = matrices(32)
    plain, sharper = (distances(AMPERE, HOPPER, a, b, exact=e) for e in (False, True))
    assert (sharper.high - sharper.low < plain.high - plain.low).all()


@pytest.mark.usefixtures("known")
def test_a_first_result_that_breaks_its_theorem_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CALLS, AMPERE, 0)
    a, b, _ = matrices(16)
    with pytest.raises(InvariantError, match="away from its exact sum, as is proved"):
        distances(AMPERE, HOPPER, a, b, exact=True)


@pytest.mark.slow
def test_products_that_one_unit_takes_away_are_apart_twice() -> None:
    added, taken = "x86/tdpfp16ps", "x86/tcmmrlfp16ps"
    ones = np.ones((1, 2), np.float16)
    x = distances(added, taken, ones, ones.T)
    assert x.low[0, 0] <= -2 <= x.high[0, 0] < -1.99
    assert largest_distance(added, taken, length=2).bound > 2


@pytest.mark.usefixtures("known")
def test_what_is_not_covered_says_so() -> None:
    """NaN, overflow and underflow: the interval is everything."""
    a, b, _ = matrices(16)
    a[0, 3], a[1, 3] = np.nan, np.inf
    x = distances(AMPERE, HOPPER, a, b)
    assert not x.covered[:2].any()
    assert x.covered[2:].all()
    assert (x.low[0] == -np.inf).all()
    assert (x.high[0] == np.inf).all()
    for c in (2.0**-140, 2.0**127):
        assert not distances(AMPERE, HOPPER, a[2:3], b[:, :1], np.full((1, 1), c, np.float32)).covered.any()


@pytest.mark.usefixtures("known")
def test_subnormal_factors_count_as_the_least_normal_number() -> None:
    a, b, _ = matrices(16)
    a[2, 5] = 2**-14
    before = distances(AMPERE, HOPPER, a, b)
    a[2, 5] = 2**-20
    after = distances(AMPERE, HOPPER, a, b)
    assert after.covered.all()
    assert (after.high[2] >= before.high[2]).all()
    assert (after.high[3:] == before.high[3:]).all()


@pytest.mark.usefixtures("known")
def test_the_largest_distance_is_replayed() -> None:
    """Ampere loses eight units more than Hopper where 15 products lie just below its last place."""
    x = largest_distance(AMPERE, HOPPER)
    assert float(x.attained * 2**24) > 7.9
    assert float(x.bound * 2**24) == 28
    with pytest.raises(InvariantError, match="as is proved, but replayed ones are"):
        LargestDistance(
            units=x.units, length=16, bound=Fraction(1, 1 << 24), attained=x.attained, inputs=x.inputs,
            results=x.results,
        )  # fmt: skip


def test_units_that_do_not_fit_are_refused() -> None:
    a, b, _ = matrices(16)
    with pytest.raises(InputError, match="numbers of A that bf16 of hopper/"):
        distances(AMPERE, "hopper/mma.m16n8k16.f32.bf16.bf16.f32", a, b)
    mx = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0"
    with pytest.raises(InputError, match="two units without scales"):
        distances(mx, mx, a, b)


@pytest.mark.parametrize("exact", [False, True])
def test_intervals_hold_results_of_unlike_formats(*, exact: bool) -> None:
    """Of numbers of e4m3 on its unit and on one of fp16, and of sums in fp16 beside those in fp32."""
    rng, e4m3 = np.random.default_rng(5), ml_dtypes.float8_e4m3fn
    a = (rng.uniform(1, 2, (6, 64)) * 2.0 ** rng.integers(-5, 3, (6, 64))).astype(e4m3)
    b = rng.uniform(-2, -1, (64, 6)).astype(e4m3)
    narrow, fp8 = "hopper/mma.m16n8k16.f16.f16.f16.f16", "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
    for first, second in ((fp8, HOPPER), (HOPPER, fp8), (HOPPER, narrow)):
        operands = (a, b) if fp8 in (first, second) else (a.astype(np.float16), b.astype(np.float16))
        x = distances(first, second, *operands, exact=exact)
        assert x.covered.all()
        d1, d2 = (d.astype(float) for d in differences(first, second, *operands).results)
        assert ((x.low <= d2 - d1) & (d2 - d1 <= x.high)).all()
        assert (d1 != d2).any()


NV = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
#: Units of unlike formats, the distance that inputs show, and the bound, in units of 2^-24.
UNLIKE = (
    (NV, "blackwell/mma.m16n8k16.f32.bf16.bf16.f32", 1.5, 40),
    ("hopper/mma.m16n8k16.f16.f16.f16.f16", HOPPER, 8000, 8210),
    ("hopper/wgmma.m64n8k32.f32.e4m3.e4m3", HOPPER, 60000, 63000),
    ("b200:mxf8", "b200:e4m3", 0, 40),
    (NV, NV.replace("nvf4.block16", ".block32").replace("ue4m3", "ue8m0"), 0, 5),
)


@pytest.mark.parametrize(("first", "second", "shown", "most"), one_in(2, UNLIKE))
def test_units_of_unlike_formats_are_compared_on_numbers_that_both_hold(
    first: str, second: str, shown: float, most: float
) -> None:
    """Both results are computed again from the values of both rows of words, which are the same."""
    x = largest_distance(first, second)
    assert shown <= float(x.attained * 2**24) <= float(x.bound * 2**24) <= most
    assert x.inputs_of_second is not None
    rows = []
    for u, w, result in zip(x.units, (x.inputs, x.inputs_of_second), x.results, strict=True):
        assert oracle_result(u, w) == result
        by = [s.number for k in range(len(w.a)) for _, s in scale_values(u, w, k)] or [Fraction(1)] * 2 * len(
            w.a
        )
        pairs = zip(w.a, w.b, by[::2], by[1::2], strict=True)
        terms = [decode(u.a_format, p).number * s * decode(u.b_format, q).number * t for p, q, s, t in pairs]
        rows.append((sum(terms), sum(map(abs, terms)), decode(u.d_format, result).number))
    assert rows[0][:2] == rows[1][:2]
    assert abs(rows[0][2] - rows[1][2]) == x.attained * rows[0][1]


@pytest.mark.usefixtures("known")
def test_the_command_prints_both() -> None:
    done = CliRunner().invoke(main, ["distance", AMPERE, HOPPER, "-v"])
    assert done.exit_code == 0
    assert "28·2^-24" in done.stdout
    assert "7.99999" in done.stdout
    assert f"tcformal eval {AMPERE} {HOPPER}" in done.stdout
    made = json.loads(CliRunner().invoke(main, ["distance", AMPERE, HOPPER, "--json"]).stdout)
    assert made["bound"]["value"] == 28 / 2**24


@pytest.mark.slow
def test_distances_by_theorems() -> None:
    """The constants of both units are those of theorems."""
    a, b, _ = matrices(32)
    x = distances(AMPERE, HOPPER, a, b)
    d1, d2 = (unit(u).matmul(a, b).astype(np.float64) for u in (AMPERE, HOPPER))
    assert ((x.low <= d2 - d1) & (d2 - d1 <= x.high)).all()
