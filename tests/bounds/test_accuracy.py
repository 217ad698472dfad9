"""Sharp constants: proved bounds, and inputs that attain them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from bounded_units import UNITS
from tcformal.bounds.accuracy import Accuracy, accuracy, growth_with_length
from tcformal.bounds.attained import Construction
from tcformal.bounds.claims.constants import _parts_lost, _rounded_down, claimed_constant
from tcformal.bounds.claims.paths import _holds_products, growth
from tcformal.bounds.constants import step_constant, theorem_constant
from tcformal.bounds.recurrence import as_much
from tcformal.bounds.slices import exact_slices
from tcformal.bounds.theorems import Theorems
from tcformal.design.names import resolve
from tcformal.errors import InputError, InvariantError
from tcformal.matmul.errors import values_of
from tcformal.matmul.unit import Unit
from tcformal.oracle.values import decode, encode_exact
from tcformal.proofs.statements.product_loss import block_of, product_loss
from tcformal.proofs.statements.relative_bound import beside_constant, relative_constant
from tcformal.proofs.statements.round_down_bound import RoundDownBound
from tcformal.query.replay import oracle_result
from tcformal.solve.result import Limits
from tcformal.theory.constants import constants

U = Fraction(1, 1 << 24)
#: Two products of five-bit significands, of which one is cut at 11 bits.
TOY = (
    "tfdpa@products=2,a_format=e5m4,b_format=e5m4,c_format=fp16,d_format=fp16,fraction_bits=11,"
    "conversion=RZ-FP16,zero_exponent=-20"
)
#: Products of few exponents, whose sum has more bits than the result.
GRID = (
    "tfdpa@products=2,a_format=e2m1,b_format=e3m2,c_format=fp16,d_format=fp16,fraction_bits=13,"
    "conversion=RZ-FP16,zero_exponent=-20"
)
#: What a product of two- and three-bit fractions loses of a unit at most, rounded up.
_FEW_BITS = Fraction(4033, 4096)
_FP8 = ("bf8", "fp8")
CHAIN = "sequential@products=2,a_format=e5m4,b_format=e5m4,c_format=fp16,d_format=fp16"


def lost(x: Accuracy) -> Fraction:
    """error / magnitude of the attaining inputs, computed anew on the oracle from the witness alone."""
    exact = magnitude = Fraction(0)
    state = 0
    for w, times in x.attained.calls:
        for _ in range(times):
            assert w.c == state
            for a, b in zip(w.a, w.b, strict=True):
                value = decode(x.unit.a_format, a).number * decode(x.unit.b_format, b).number
                exact, magnitude = exact + value, magnitude + abs(value)
            state = oracle_result(x.unit, w)
    return abs(decode(x.unit.d_format, state).number - exact) / magnitude


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("volta/mma.m8n8k4.f32.f16.f16.f32", 6),
        ("ampere/mma.m16n8k8.f32.f16.f16.f32", 8),
        ("hopper/mma.m16n8k16.f32.f16.f16.f32", 9),
    ],
)
def test_known_constants_are_attained(name: str, units: int) -> None:
    x = accuracy(name, prove=False)
    assert 1 - Fraction(1, 10**5) < x.attained.ratio / (units * U) < 1
    assert lost(x) == x.attained.ratio
    assert x.bound is None
    assert x.subnormal is not None
    assert x.subnormal.ratio > 500 * x.attained.ratio


@pytest.mark.parametrize(("length", "units"), [(4096, 2431.1), (128, 75.4)])
def test_a_chain_loses_in_every_call(length: int, units: float) -> None:
    x = accuracy("hopper/mma.m16n8k16.f32.f16.f16.f32", length=length, prove=False, subnormals=False)
    assert float(x.attained.ratio / U) == pytest.approx(units, abs=0.1)
    assert sum(times for _, times in x.attained.calls) == length // 16


def test_promotion_loses_half_an_ulp_each() -> None:
    x = accuracy("hopper/mma.m16n8k16.f32.f16.f16.f32", length=4096, promote=128)
    assert float(x.attained.ratio / U) == pytest.approx(106.48, abs=0.03)
    assert x.bound is not None
    assert x.bound < 107 * U


@pytest.mark.parametrize(
    ("name", "length", "theorem", "most"),
    [
        # To fp16 toward zero: an ulp of the first block, 15 of 16 parts of a unit more of any other.
        (TOY, 2, "relative_error_from_zero", Fraction(1, 1024)),
        (TOY, 4, "relative_error_from_zero", (1 + Fraction(1, 1024)) * (1 + Fraction(3, 2048)) - 1),
        (CHAIN, 4, "ordered_error_from_zero", (1 + Fraction(1, 2048)) ** 4 - 1),
        # Of 8 products 7 lose a unit of 2^-24, and of 512 blocks each but the first loses little more of c.
        ("cdna3/v_mfma_f32_32x32x8_f16", 8, "down_error_from_zero", Fraction(1603, 200) * U),
        ("cdna3/v_mfma_f32_32x32x8_f16", 4096, "down_error_from_zero", 527 * U),
    ],
)
def test_bounds_are_instances_of_theorems_and_nearly_attained(
    name: str, length: int, theorem: str, most: Fraction
) -> None:
    x = accuracy(name, length=length)
    found = constants(x.unit)
    assert found is not None
    assert x.bound == found.of(length) <= most
    assert x.proved.theorem is not None
    assert x.proved.theorem.theorem == theorem
    assert not x.proved.claims
    assert x.gap is not None
    assert 0 <= x.gap < Fraction(3, 5)
    assert lost(x) == x.attained.ratio
    low, high = x.model
    assert high is not None
    assert low <= high == x.bound / length


@pytest.mark.parametrize(
    "name",
    [
        "16x16x8_xf32", "32x32x4_2b_f16", "32x32x8_bf16",
        *(pytest.param(f"16x16x32_{a}_{b}", marks=pytest.mark.long) for a in _FP8 for b in _FP8),
    ],
)  # fmt: skip
def test_sums_rounded_down_lose_nearly_what_is_proved(name: str) -> None:
    x = accuracy(f"cdna3/v_mfma_f32_{name}")
    assert x.proved.theorem is not None
    assert x.proved.theorem.theorem == "down_error_from_zero"
    assert x.gap is not None
    assert 0 <= x.gap < Fraction(1, 200)


def test_a_million_products_take_no_longer_than_a_few() -> None:
    unit = resolve("hopper/mma.m16n8k16.f32.f16.f16.f32")
    x = accuracy(unit, length=1 << 20)
    assert x.bound is not None
    assert sum(times for _, times in x.attained.calls) == 1 << 16
    assert len(x.attained.calls) < 4
    assert x.gap is not None
    assert 0 <= x.gap < Fraction(1, 10)


def test_a_long_chain_of_roundings_has_a_bound() -> None:
    """Of one call of 64 products, each added to the sum before."""
    x = accuracy("sequential@format=fp32,products=64")
    assert x.bound is not None
    # Losses are added in fixed point, rounded up.
    assert x.bound <= (1 + U) ** 64 - 1 + Fraction(1, 1 << 100)
    assert x.gap is not None
    assert 0 <= x.gap < Fraction(1, 50)


def test_theorems_are_tried_before_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """No claim is asked for a unit that a theorem is written of, and no theorem is made up for another."""

    def refused(*_: object, **__: object) -> bool:
        raise AssertionError("no claim is to be asked")

    monkeypatch.setattr(Theorems, "holds", refused)
    known = Theorems(None, Limits(), None, None, False, lambda _: None)
    for name in ("volta/mma.m8n8k4.f32.f16.f16.f32", "cdna2/v_mfma_f32_32x32x8f16"):
        unit = resolve(name)
        found = step_constant(unit, 2 * unit.k, known)
        assert found.theorem is not None
        assert found.beside is not None
        assert found.first is not None
    other = resolve("rdna3/v_wmma_f32_16x16x16_f16")
    assert theorem_constant(other, other.k) is None
    with pytest.raises(AssertionError):
        step_constant(other, other.k, known)


def test_a_theorem_beside_no_c_is_not_taken_for_one_about_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.bounds.constants.relative_error", lambda _: None)
    monkeypatch.setattr(Theorems, "holds", lambda self, unit, claim, *, kept=True: True)
    known = Theorems(None, Limits(), None, None, False, lambda _: None)
    unit = resolve("volta/mma.m8n8k4.f32.f16.f16.f32")
    assert step_constant(unit, 2 * unit.k, known).theorem is not None
    assert step_constant(unit, 2 * unit.k, known, zero_c=False).theorem is None


@pytest.mark.parametrize(
    ("name", "least", "bits"),
    [
        ("volta/mma.m8n8k4.f32.f16.f16.f32", -126, None),
        # Sums with 13 fraction bits: of a c with more, some are cut.
        ("ada/mma.m16n8k32.f32.e5m2.e5m2.f32", -126, 13),
        # Pairs of products are rounded to a format of more exponents than that of results.
        ("power10/xvbf16ger2pp", -126, None),
    ],
)
def test_what_constants_of_theorems_are_about(name: str, least: int, bits: int | None) -> None:
    unit = resolve(name)
    found = theorem_constant(unit, 2 * unit.k)
    assert found is not None
    assert found.least == least
    assert found.sum is not None
    assert found.sum.c_bits == bits


@pytest.mark.parametrize("name", [pytest.param(TOY, marks=pytest.mark.long), CHAIN])
def test_no_random_input_exceeds_a_bound(name: str) -> None:
    """Normal operands that do not underflow, drawn with exponents near each other and far apart."""
    import random

    x, draw = accuracy(name, length=4, subnormals=False), random.Random(7)
    build = Construction(x.unit)
    fields = range(8, 23)
    for _ in range(300):
        pairs = [
            tuple(draw.choice(fields) << 4 | draw.randrange(16) | draw.randrange(2) << 9 for _ in "ab")
            for _ in range(4)
        ]
        state, exact, magnitude = 0, Fraction(0), Fraction(0)
        for start in (0, 2):
            call = build.call([(a, b) for a, b in pairs[start : start + 2]], state)
            state = oracle_result(x.unit, call)
        for a, b in pairs:
            value = decode(x.unit.a_format, a).number * decode(x.unit.b_format, b).number
            exact, magnitude = exact + value, magnitude + abs(value)
        end = decode(x.unit.d_format, state)
        if end.kind.name == "FINITE":
            assert x.bound is not None
            assert abs(end.number - exact) <= x.bound * magnitude


@pytest.mark.parametrize(
    ("fmt", "length", "exact"), [("e2m1", 4, True), ("e3m2", 4, False), ("e2m1", 64, False)]
)
def test_sums_of_few_exponents_lose_nothing(
    monkeypatch: pytest.MonkeyPatch, fmt: str, length: int, exact: bool
) -> None:
    """Products of e2m1 are multiples of 1/4 of at most 36: four of them fit in eleven bits, 64 do not."""
    monkeypatch.setattr(Theorems, "holds", lambda self, unit, claim, *, kept=True: True)
    x = accuracy(
        f"tfdpa@products=4,a_format={fmt},b_format={fmt},c_format=fp16,d_format=fp16,fraction_bits=11,"
        "conversion=RZ-FP16,zero_exponent=-20",
        length=length, subnormals=False,
    )  # fmt: skip
    assert x.bound is not None
    assert (x.bound == 0) == exact
    assert x.attained.ratio <= x.bound
    assert x.gap is not None
    assert ("and so 0" in " ".join(x.proved.steps)) == exact


def test_sums_on_a_grid_lose_no_more_than_an_ulp_less_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """All products of e2m1 and e3m2, two of them: the bound holds, and the sums that are built attain it."""
    monkeypatch.setattr(Theorems, "holds", lambda self, unit, claim, *, kept=True: True)
    x = accuracy(GRID, subnormals=False)
    # Products are multiples of 2^-5, sums are below 2^9: 11 bits leave 2^-2 of the largest ones.
    step = Fraction(1, 1 << 10) - Fraction(1, 1 << 13)
    assert x.bound == step / (1 + step)
    assert "it loses at most that less 2^-5" in x.proved.steps[-1]
    unit, o = Unit(x.unit), x.unit.operands
    words = [
        np.array(
            [w for w in range(1 << f.width) if not 0 < abs(decode(f, w).number) < Fraction(2) ** f.e_min]
        )
        for f in (o.a, o.b)
    ]
    pairs = np.array([(a, b) for a in words[0] for b in words[1]])
    exact = np.array([float(decode(o.a, a).number * decode(o.b, b).number) for a, b in pairs.tolist()])
    most = 0.0
    for (a, b), value in zip(pairs.tolist(), exact.tolist(), strict=True):
        if value < exact.max() / 2:
            continue  # of two products the larger one: others only change places or signs, or scale
        rows = np.column_stack([np.full(len(pairs), a), pairs[:, 0]]).astype(np.uint8)
        columns = np.column_stack([np.full(len(pairs), b), pairs[:, 1]]).astype(np.uint8)
        d = values_of(unit.dot_bits(rows, columns, np.zeros(len(pairs), np.uint16)), o.d)
        most = max(most, (np.abs(d - exact - value) / (np.abs(exact) + value)).max())
    assert most == float(x.attained.ratio)
    assert x.attained.ratio <= x.bound
    assert x.gap is not None


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("m64n8k32.kind::f8f6f4.f32.e4m3.e3m2", Fraction(255, 128)),
        ("m128n8k32.kind::mxf8f6f4.block32.f32.e2m1.e4m3.ue8m0", Fraction(7, 4)),
        ("m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", Fraction(2)),
    ],
)
def test_sums_are_filled_up_to_just_below_a_result(name: str, least: Fraction) -> None:
    """In units of 2^-24: with one scale, without one, and with one for each group."""
    x = accuracy(f"blackwell/tcgen05.{name}", prove=False, subnormals=False)
    assert x.attained.ratio > least * U * Fraction(9999, 10000)


@pytest.mark.parametrize(
    ("name", "least"),
    [("riscv/vfwbdot.vv.vlen128", Fraction(349, 100)), ("gaudi3/mme.fp32", Fraction(19, 10))],
)
def test_terms_that_are_cut_otherwise_lose_what_is_built(name: str, least: Fraction) -> None:
    """Aligned to odd, every tiny product counts a unit; one product alone loses nearly an ulp."""
    x = accuracy(name, prove=False, subnormals=False)
    assert x.attained.ratio > least * U
    assert lost(x) == x.attained.ratio


def test_scales_that_products_do_not_share_keep_them_apart() -> None:
    """Products of one scale lie near each other; of two, one can be lost beside another."""
    unit = resolve("blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.ue8m0")
    assert product_loss(unit, zero_c=True) == 0
    assert product_loss(replace(unit, scale_block=16), zero_c=True) >= Fraction(1, 2)


@pytest.mark.long
@pytest.mark.parametrize("size", [2, 1])
def test_the_kernel_proves_that_one_scale_loses_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And refuses it where a scale is one product's own."""
    unit = resolve("blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.ue8m0")
    design = replace(unit.design, products=2)
    monkeypatch.setattr("tcformal.proofs.statements.product_loss.one_scale", lambda _: True)
    x = accuracy(replace(unit, name="two", k=2, scale_block=size, design=design), subnormals=False)
    assert (x.bound is not None) == (size == 2), x.proved.reason


def test_products_that_are_subtracted_are_so_in_the_exact_sum() -> None:
    """As the oracle has it: of three products of 1 the second is subtracted."""
    build = Construction(resolve("x86/tcmmrlfp16ps"))
    one = encode_exact(build.a, Fraction(1))
    w = build.call([(one, one)] * 3, 0)
    assert sum(build.values(w)) == decode(build.unit.d_format, oracle_result(build.unit, w)).number == 1


def test_inputs_that_lose_more_than_what_is_proved_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Theorems, "holds", lambda self, unit, claim, *, kept=True: True)
    less = accuracy(TOY, prove=False, subnormals=False).attained.ratio * Fraction(999, 1000)
    monkeypatch.setattr("tcformal.theory.constants.Constants.of", lambda *_: less)
    with pytest.raises(InvariantError, match=rf"expected inputs of .* that lose at most {float(less):.7g}"):
        accuracy(TOY, subnormals=False)


def test_a_first_block_of_a_long_chain_is_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of few bits lose more beside a c than c itself does: of c = 0 that is what holds."""
    monkeypatch.setattr(Theorems, "holds", lambda self, unit, claim, *, kept=True: True)
    unit = resolve("ada/mma.m16n8k32.f16.e5m2.e5m2.f16")
    known = Theorems(None, Limits(), None, None, False, lambda _: None)
    short, long = (claimed_constant(unit, n, known) for n in (32, 16 * 64))
    assert short.first is not None
    assert long.first is not None
    assert long.beside is not None
    assert long.other is not None
    assert short.first == relative_constant(unit, 16, zero_c=True) < long.first == beside_constant(unit, 16)
    assert long.beside == beside_constant(unit, 16) > long.other == relative_constant(unit, 16, zero_c=False)
    # Where a later block would lose more of its own products, so much is given for the first one too.
    one = Fraction(1, 8)
    assert (1 + as_much(one, Fraction(1), one)) * (1 + one) == 2
    assert as_much(Fraction(1), one, one) == 1


def test_a_unit_without_a_theorem_has_no_bound() -> None:
    x = accuracy("rdna4/v_wmma_f32_16x16x16_f16", subnormals=False)
    assert x.bound is None
    assert x.gap is None
    assert "sums groups of them" in x.proved.reason


def test_a_design_without_a_sharp_statement_has_a_bound_too() -> None:
    """Products of more fraction bits than the sum keeps."""
    x = accuracy(TOY.replace("fraction_bits=11", "fraction_bits=7"), subnormals=False)
    assert [v.claim for v in x.proved.claims] == ["error-bound"]
    assert x.bound is not None
    assert 0 < x.attained.ratio <= x.bound


@pytest.mark.parametrize(("name", "share"), [("arm/bfdot.ebf0", 2), ("arm/bfdot.ebf1", 1)])
def test_one_rounding_of_two_products_is_bounded(name: str, share: int) -> None:
    """By one rounding at least, and by one on every step of the longest path at most."""
    x = accuracy(name, subnormals=False)
    assert x.bound is not None
    lost = share * U / (1 + share * U)
    assert lost * Fraction(9999, 10000) < x.attained.ratio <= x.bound <= (1 + share * U) ** 3 - 1


@pytest.mark.parametrize("name", [pytest.param(x, marks=pytest.mark.long) for x in UNITS])
def test_other_sums_have_bounds_from_their_error_bounds(name: str) -> None:
    """TR-FDPA, GTR-FDPA, groups and compositions: what is built and found stays below."""
    x = accuracy(UNITS[name](), subnormals=False)
    assert x.bound is not None, x.proved.reason
    assert 0 < x.attained.ratio <= x.bound
    if name.startswith(("tr", "gtr")):
        assert x.attained.ratio > x.bound * Fraction(4, 5)


@pytest.mark.parametrize(
    ("name", "products"),
    [
        ("v_mfma_f32_16x16x16_f16", Fraction(7)),
        # Products of bf8 and fp8 have few bits, and lose less than a unit each.
        ("v_mfma_f32_16x16x32_bf8_fp8", 1 + 7 * _FEW_BITS),
    ],
)
def test_sums_that_are_rounded_down_lose_little_of_c(name: str, products: Fraction) -> None:
    """As the statements say: units of products, the last floor, half an ulp; beside c another unit."""
    block = block_of(resolve(f"cdna3/{name}"))
    known = Theorems(None, Limits(), None, False, True, lambda *_: None)
    alone, beside = known.stated(block, zero_c=True), known.stated(block)
    assert isinstance(alone, RoundDownBound)
    assert isinstance(beside, RoundDownBound)
    unit, floor = Fraction(1, 1 << 24), Fraction(1, 1 << 31)
    ulps = Fraction(129, 1 << 31)
    first, _ = _parts_lost(alone, 0)
    later, c = _parts_lost(beside, 0)
    assert first == (products * unit + floor + ulps) / (1 - ulps)
    assert later == ((products + 1) * unit + floor + ulps) / (1 - ulps)
    assert c == (floor + ulps) / (1 - ulps)
    two = _rounded_down(alone, beside, True, known)
    assert two.first is not None
    assert two.other == c
    assert (1 + two.first) * (1 + c) >= 1 + later
    assert first <= two.first <= first * (1 + Fraction(1, 1 << 30))


def test_the_roundings_of_a_unit_are_counted_along_paths() -> None:
    """Sums of one number and products of few bits are exact; c comes in where the design says."""
    for name, longest, later in (
        ("ampere/mma.m8n8k4.f64.f64.f64.f64", 4, 4), ("cdna1/v_mfma_f32_32x32x8f16", 2, 2),
        ("cdna2/v_mfma_f32_32x32x8f16", 3, 2), ("x86/tdpbf16ps", 16, 1), ("x86/vdpbf16ps", 1, 2),
    ):  # fmt: skip
        unit = resolve(name)
        one, more = growth(unit, unit.k), growth(unit, 2 * unit.k)
        assert one.longest == more.longest == longest
        assert max(map(len, more.later)) == later
        assert not one.later
    # Two products: the second is the c of the step; two results to odd: one of them times 1.
    for name, step in (
        ("arm/bfdot.ebf1", "c_format=fp64,d_format=fp32"),
        ("arm/bfdot.ebf0", "b_format=e2m1"),
    ):
        assert all(step in x.name for x in growth(resolve(name), 2).steps)
    assert not _holds_products(resolve("ampere/mma.m8n8k4.f64.f64.f64.f64").operands)
    factors = more.factors({step.name: Fraction(1, 2) for step in more.steps})
    assert factors == (Fraction(3, 2), Fraction(9, 4), Fraction(9, 4))


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("cdna3/v_mfma_f32_32x32x8_f16", 7.99),
        pytest.param("cdna2/v_mfma_f32_32x32x8f16", 2.99, marks=pytest.mark.long),
        ("rtx-blackwell/mma.m16n8k16.f32.e4m3.e4m3.f32", 8.85),
        pytest.param("hopper/emulated.mma.m16n8k16.f32.e4m3.e4m3.f32", 10.33, marks=pytest.mark.long),
        pytest.param("blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", 1.99,
                     marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_inputs_are_found_by_ascent(name: str, units: float) -> None:
    x = accuracy(name, prove=False, subnormals=False)
    assert x.attained.ratio > units * U
    if not x.unit.scale_block:
        assert lost(x) == x.attained.ratio


def test_what_is_found_does_not_underflow() -> None:
    """Without the condition, results below the least normal number lose everything."""
    x = accuracy("rtx-blackwell/mma.m16n8k16.f16.e5m2.e5m2.f16", prove=False, subnormals=False)
    assert 8190 * U < x.attained.ratio < relative_constant(x.unit, 16, zero_c=True)
    assert abs(decode(x.unit.d_format, x.attained.ends).number) >= Fraction(1, 1 << 14)


def test_products_of_few_bits_lose_less_than_a_unit() -> None:
    """e4m3: 126/128 of a unit at most, e5m2: 15/16; halves count as any number of many bits."""
    fp8 = resolve("hopper/wgmma.m64n8k32.f32.e4m3.e4m3")
    assert Fraction(126, 128) <= product_loss(fp8, zero_c=True) < Fraction(127, 128)
    narrow = resolve("blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e5m2.e5m2")
    assert Fraction(15, 16) <= product_loss(narrow, zero_c=True) < Fraction(15, 16) + Fraction(1, 2048)
    assert product_loss(resolve("hopper/mma.m16n8k16.f32.f16.f16.f32"), zero_c=True) == 1
    # Rounded to odd, tiny products count a whole unit; products of few exponents are never so tiny.
    odd = [resolve(f"riscv/vfqbdot.{x}") for x in ("vv.vlen128.e4m3.e4m3", "alt.vv.vlen128.e5m2.e5m2")]
    parts = [replace(x, design=replace(x.design, c_position="joined", accumulator=None)) for x in odd]
    assert Fraction(31, 32) < product_loss(parts[0], zero_c=True) < Fraction(32, 33)
    assert product_loss(parts[1], zero_c=True) == product_loss(parts[0], zero_c=False) == 1
    # Where exponents are near each other, nothing is lost beside a c of zero.
    near = resolve("blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e3m2")
    assert product_loss(near, zero_c=True) == 0
    assert product_loss(near, zero_c=False) > Fraction(31, 32)
    found = accuracy(fp8, prove=False, subnormals=False).attained.ratio
    assert Fraction(99, 100) < found / relative_constant(fp8, 32, zero_c=True) < 1


def test_a_last_rounding_to_fewer_bits_is_attained() -> None:
    """Each of the four sums of a call of RDNA4 is rounded to binary32, then cut to bfloat16."""
    x = accuracy("rdna4/v_wmma_bf16_16x16x16_bf16", prove=False, subnormals=False)
    assert Fraction(387, 100) < x.attained.ratio * 128 < 4
    assert lost(x) == x.attained.ratio


def test_slices_that_are_exact() -> None:
    x = exact_slices(TOY)
    assert x.most == 1 << 11
    assert x.sharp
    assert [(w.bits, w.largest, w.products) for w in x.widths] == [
        (1, 1, 2048), (2, 3, 227), (3, 7, 41), (4, 15, 9), (5, 31, 2), (6, 32, 2),
    ]  # fmt: skip
    assert not x.claims
    assert x.theorem is not None
    assert x.theorem.theorem == "integers_fused"


def test_slices_of_other_sums_follow_from_an_error_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums without the claim, or whose claim is not proved, and those rounded down: the size is exact."""
    monkeypatch.setattr(Theorems, "holds", lambda self, unit, claim, *, kept=True: claim != "integer-sums")
    monkeypatch.setattr("tcformal.bounds.slices.integer_sums", lambda _: None)
    for name, least in (
        ("sequential@format=fp16,products=4", 2046),
        ("cdna3/v_mfma_f32_32x32x8_f16", 1 << 20),
    ):
        x = exact_slices(name)
        assert x.most >= least
        assert not x.sharp
        assert "the error is 0" in x.steps[-1]
        build, one = Construction(x.unit), encode_exact(x.unit.a_format, Fraction(1))
        c = encode_exact(x.unit.c_format, Fraction(x.most - 1))
        for sign in (0, x.unit.a_format.sign_bit):
            w = build.call([(one | sign, one)], c | (x.unit.c_format.sign_bit if sign else 0))
            assert abs(decode(x.unit.d_format, oracle_result(x.unit, w)).number) == x.most
    assert x.most < 1 << 24
    with pytest.raises(InputError, match="expected a unit without scales whose D is its next C"):
        exact_slices("blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0")


def test_slices_of_units_that_add_in_steps() -> None:
    """The theorem says more than the error, and its size is the largest."""
    for name, most in (("x86/vdpbf16ps", 1 << 24), ("power10/xvf64gerpp", 1 << 53)):
        x = exact_slices(name)
        assert x.most == most
        assert x.sharp
        assert x.widths
        assert x.theorem is not None
        assert x.theorem.theorem in ("integers_fused", "integers_any_order")


def test_growth_with_the_length() -> None:
    x = accuracy("hopper/mma.m16n8k16.f32.f16.f16.f32", length=100, prove=False, subnormals=False)
    rows = growth_with_length(x)
    assert [n for n, *_ in rows] == [16, 32, 64, 100]
    assert [float(a / U) for *_, a in rows] == pytest.approx([9, 18.5, 37.5, 60], abs=0.001)
    assert rows[-1] == (100, None, x.attained.ratio)


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        (TOY, {"length": 0}, "expected an integer from 1 to 1048576 for length, but got 0"),
        (TOY, {"promote": 2}, "expected a unit with fp32 results to promote, but got fp16"),
        ("volta/mma.m8n8k4.f32.f16.f16.f16", {"length": 8}, "expected a length of at most 4"),
    ],
)
def test_accuracy_rejects(name: str, arguments: dict[str, int], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        accuracy(name, prove=False, **arguments)  # type: ignore[arg-type]
    assert sentence in str(error.value)


def test_the_families_of_products_are_as_close_as_they_can_be() -> None:
    """Below 2^0, e4m3's products come up to 126/128, the most of all 8·8 significands."""
    spec = resolve("hopper/wgmma.m64n8k32.f32.e4m3.e4m3")
    pair = Construction(spec).below(0)
    assert pair is not None
    values = [decode(spec.a_format, pair[0]).number, decode(spec.b_format, pair[1]).number]
    assert values[0] * values[1] == Fraction(126, 128)
