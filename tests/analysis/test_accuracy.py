"""Sharp constants: proved bounds, and inputs that attain them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from bounded_units import UNITS
from sampled import one_in
from tcformal.analysis.bounds.accuracy import Accuracy, accuracy, growth_with_length
from tcformal.analysis.bounds.attained import Construction
from tcformal.analysis.bounds.proved import CallBounds, theorem_constant
from tcformal.analysis.bounds.slices import exact_slices
from tcformal.analysis.samples import values_of
from tcformal.cli import main
from tcformal.design.names import resolve
from tcformal.errors import InputError, InvariantError
from tcformal.oracle.values import decode, encode_exact
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.replay import oracle_result
from tcformal.theory.constants import PARTS, constants, near, product_share
from tcformal.theory.stated_sum import LETTERS, NO_C, StatedSum
from tcformal.theory.theorems import in_the_way

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
_FP8 = ("bf8", "fp8")
CHAIN = "sequential@products=2,a_format=e5m4,b_format=e5m4,c_format=fp16,d_format=fp16"


#: A sum whose register loses the largest sums.
WRAPPED = f"{TOY},carry_bits=0"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
WIDE = "hopper/mma.m16n8k16.f32.f16.f16.f32"


def ratio(x: Accuracy) -> Fraction:
    """What the inputs that were built lose."""
    assert x.attained is not None
    return x.attained.ratio


def lost(x: Accuracy) -> Fraction:
    """error / magnitude of the attaining inputs, computed anew on the oracle from the witness alone."""
    exact = magnitude = Fraction(0)
    state = 0
    assert x.attained is not None
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
    assert 1 - Fraction(1, 10**5) < ratio(x) / (units * U) < 1
    assert lost(x) == ratio(x)
    assert x.bound is None
    assert x.subnormal is not None
    assert x.subnormal.ratio > 500 * ratio(x)


@pytest.mark.parametrize(("length", "units"), [(4096, 2431.1), (128, 75.4)])
def test_a_chain_loses_in_every_call(length: int, units: float) -> None:
    x = accuracy("hopper/mma.m16n8k16.f32.f16.f16.f32", length=length, prove=False, subnormals=False)
    assert float(ratio(x) / U) == pytest.approx(units, abs=0.1)
    assert x.attained is not None
    assert sum(times for _, times in x.attained.calls) == length // 16


def test_promotion_loses_half_an_ulp_each() -> None:
    x = accuracy("hopper/mma.m16n8k16.f32.f16.f16.f32", length=4096, promote=128)
    assert float(ratio(x) / U) == pytest.approx(106.48, abs=0.03)
    assert x.bound is not None
    assert x.bound < 107 * U


@pytest.mark.parametrize(
    ("name", "length", "theorem", "most"),
    one_in(
        3,
        [
            # To fp16 toward zero: an ulp of the first block, 15 of 16 parts of a unit more of any other.
            (TOY, 2, "relative_error_from_zero", Fraction(1, 1024)),
            (TOY, 4, "relative_error_from_zero", (1 + Fraction(1, 1024)) * (1 + Fraction(3, 2048)) - 1),
            (CHAIN, 4, "ordered_error_from_zero", (1 + Fraction(1, 2048)) ** 4 - 1),
            # c loses nothing beside the products of 256 blocks: half an ulp each, and the units of the first.
            ("gaudi2/mme.fp8_152", 4096, "piecewise_error_from_zero", 271 * U),
            ("gaudi3/mme.fp16", 2, "piecewise_error_from_zero", 4 * U),
            # Of products of c's sign a unit less than of others, and 3/2 of c: half an ulp, and half a unit.
            ("rdna3/v_wmma_f32_16x16x16_f16", 4, "framed_relative", Fraction(4000001, 10**6) * U),
            ("rdna3/v_wmma_f32_16x16x16_f16", 64, "framed_relative", Fraction(4850008, 10**5) * U),
            ("rdna4/v_wmma_f32_16x16x16_f16", 64, "framed_relative", Fraction(2550002, 10**5) * U),
            # Of 8 products 7 lose a unit of 2^-24, and all 512 blocks but the first lose little more of c.
            ("cdna3/v_mfma_f32_32x32x8_f16", 8, "down_error_from_zero", Fraction(1603, 200) * U),
            ("cdna3/v_mfma_f32_32x32x8_f16", 4096, "down_error_from_zero", 527 * U),
        ],
    ),
)
def test_bounds_are_instances_of_theorems_and_nearly_attained(
    name: str, length: int, theorem: str, most: Fraction
) -> None:
    x = accuracy(name, length=length)
    found = constants(x.unit)
    assert found is not None
    assert x.bound is not None
    assert x.bound == found.of(length) <= most
    assert x.proved is not None
    assert x.proved.theorem.theorem == theorem
    assert x.gap is not None
    assert 0 <= x.gap < Fraction(3, 5)
    assert lost(x) == ratio(x)
    low, high = x.model
    assert high is not None
    assert low is not None
    assert low <= high == x.bound / length


@pytest.mark.parametrize(
    "name",
    one_in(3, [
        "16x16x8_xf32", "32x32x4_2b_f16", "32x32x8_bf16",
        *(pytest.param(f"16x16x32_{a}_{b}", marks=pytest.mark.long) for a in _FP8 for b in _FP8),
    ]),
)  # fmt: skip
def test_sums_rounded_down_lose_nearly_what_is_proved(name: str) -> None:
    x = accuracy(f"cdna3/v_mfma_f32_{name}")
    assert x.proved is not None
    assert x.proved.theorem.theorem == "down_error_from_zero"
    assert x.gap is not None
    assert 0 <= x.gap < Fraction(1, 200)


def test_a_million_products_take_no_longer_than_a_few() -> None:
    unit = resolve("hopper/mma.m16n8k16.f32.f16.f16.f32")
    x = accuracy(unit, length=1 << 20)
    assert x.bound is not None
    assert x.attained is not None
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
    found = theorem_constant(unit)
    assert found is not None
    assert found.least == least
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
def test_sums_of_few_exponents_lose_nothing(fmt: str, length: int, exact: bool) -> None:
    """Products of e2m1 are multiples of 1/4 of at most 36: four of them fit in eleven bits, 64 do not."""
    x = accuracy(
        f"tfdpa@products=4,a_format={fmt},b_format={fmt},c_format=fp16,d_format=fp16,fraction_bits=11,"
        "conversion=RZ-FP16,zero_exponent=-20",
        length=length, subnormals=False,
    )  # fmt: skip
    assert x.bound is not None
    assert (x.bound == 0) == exact
    assert ratio(x) <= x.bound
    assert x.gap is not None
    assert ("and so 0" in " ".join(x.steps)) == exact


def test_sums_on_a_grid_lose_no_more_than_an_ulp_less_a_step() -> None:
    """All products of e2m1 and e3m2, two of them: the bound holds, and the sums that are built attain it."""
    x = accuracy(GRID, subnormals=False)
    # Products are multiples of 2^-5, sums are below 2^9: 11 bits leave 2^-2 of the largest ones.
    step = Fraction(1, 1 << 10) - Fraction(1, 1 << 13)
    assert x.bound == step / (1 + step)
    assert "it loses at most that less 2^-5" in x.steps[-1]
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
    assert most == float(ratio(x))
    assert ratio(x) <= x.bound
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
    assert ratio(x) > least * U * Fraction(9999, 10000)


@pytest.mark.parametrize(
    ("name", "least"),
    [("riscv/vfwbdot.vv.vlen128", Fraction(349, 100)), ("gaudi3/mme.fp32", Fraction(19, 10))],
)
def test_terms_that_are_cut_otherwise_lose_what_is_built(name: str, least: Fraction) -> None:
    """Aligned to odd, every tiny product counts a unit; one product alone loses nearly an ulp."""
    x = accuracy(name, prove=False, subnormals=False)
    assert ratio(x) > least * U
    assert lost(x) == ratio(x)


def test_products_that_are_subtracted_are_so_in_the_exact_sum() -> None:
    """As the oracle has it: of three products of 1 the second is subtracted."""
    build = Construction(resolve("x86/tcmmrlfp16ps"))
    one = encode_exact(build.a, Fraction(1))
    w = build.call([(one, one)] * 3, 0)
    assert sum(build.values(w)) == decode(build.unit.d_format, oracle_result(build.unit, w)).number == 1


def test_a_unit_without_a_theorem_has_no_bound() -> None:
    """And what stands in the way of one."""
    x = accuracy(WRAPPED, subnormals=False)
    assert x.bound is None
    assert x.gap is None
    assert x.proved is None
    assert x.reason == in_the_way(x.unit, "relative-error; c=0x0")
    with pytest.raises(InputError) as refused:
        CallBounds().of(x.unit, 2, StatedSum(normal=LETTERS))
    assert str(refused.value) == x.reason


def test_a_theorem_beside_no_c_is_not_taken_for_one_about_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.analysis.bounds.proved.relative_error", lambda _: None)
    for name, other in (
        (VOLTA, "error_in_exponents"),
        ("hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16", None),
    ):
        unit, known = resolve(name), CallBounds()
        found = theorem_constant(unit)
        assert found is not None
        assert found.sum.c == NO_C
        assert not known.of(unit, unit.k, StatedSum(normal=LETTERS, c=NO_C)).other
        if other is None:
            with pytest.raises(InputError, match="expected a theorem about any c"):
                known.of(unit, unit.k, StatedSum(normal=LETTERS))
        else:
            assert known.of(unit, unit.k, StatedSum(normal=LETTERS)).other
            assert known.theorems[-1].theorem == other


@pytest.mark.parametrize(
    ("name", "length", "promote"),
    [
        ("tfdpa@products=1000000,fraction_bits=30", 1_000_000, None),
        ("tfdpa@products=257,fraction_bits=24", 1 << 20, 4096),
        (f"{TOY},k=5000", 5000, None),
    ],
)
def test_sums_too_long_to_build_have_a_bound(name: str, length: int, promote: int | None) -> None:
    """The theorem's constant, and no inputs."""
    x = accuracy(name, length=length, promote=promote)
    found = constants(x.unit)
    assert found is not None
    assert x.bound is not None
    if promote is None:
        assert x.bound == found.of(length)
    else:
        assert found.of(promote) < x.bound < found.of(length)
    assert (x.attained, x.subnormal, x.gap) == (None, None, None)
    assert x.not_built
    assert x.model == (None, x.bound / length)
    assert growth_with_length(x)[-1] == (length, x.bound, None)


def test_inputs_that_lose_more_than_what_is_proved_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    less = ratio(accuracy(TOY, prove=False, subnormals=False)) * Fraction(999, 1000)
    monkeypatch.setattr("tcformal.theory.constants.Constants.of", lambda *_: less)
    with pytest.raises(InvariantError, match=rf"expected inputs of .* that lose at most {float(less):.7g}"):
        accuracy(TOY, subnormals=False)


def test_products_of_more_bits_than_the_sum_keeps_have_a_bound_too() -> None:
    """Two products and a c that may each lose a unit of 2^-7 of the largest, and an ulp."""
    x = accuracy(TOY.replace("fraction_bits=11", "fraction_bits=7"), subnormals=False)
    assert x.proved is not None
    assert x.proved.theorem.theorem == "error_in_exponents"
    ulp = Fraction(1, 1 << 10)
    assert 0 < ratio(x) <= (x.bound or 0) == (Fraction(3, 1 << 7) + ulp) / (1 - ulp)


@pytest.mark.parametrize(("name", "share"), [("arm/bfdot.ebf0", 2), ("arm/bfdot.ebf1", 1)])
def test_one_rounding_of_two_products_is_bounded(name: str, share: int) -> None:
    """By one rounding at least, and by one on every step of the longest path at most."""
    x = accuracy(name, subnormals=False)
    assert x.bound is not None
    lost = share * U / (1 + share * U)
    most = (1 + share * U) ** 3 - 1 + Fraction(1, 1 << 100)
    assert lost * Fraction(9999, 10000) < ratio(x) <= x.bound <= most


@pytest.mark.parametrize("name", [pytest.param(x, marks=pytest.mark.long) for x in UNITS])
def test_other_sums_lose_no_more_than_a_bound(name: str) -> None:
    """TR-FDPA, GTR-FDPA, groups and compositions: a bound that inputs stay below, or a reason."""
    x = accuracy(UNITS[name](), subnormals=False)
    assert (x.bound is None) == bool(x.reason)
    assert 0 < ratio(x) <= (1 if x.bound is None else x.bound)


@pytest.mark.parametrize(
    ("name", "longest"),
    [
        ("vortex/VX_tcu_fedp_dpi.fp16", 2),
        pytest.param("gaudi/mme.bf16.cd5", 3, marks=pytest.mark.long),
        pytest.param("gaudi/mme.fp16.cd8", 3, marks=pytest.mark.long),
        pytest.param("gaudi/mme.fp32.cd8", 4, marks=pytest.mark.long),
    ],
)
def test_trees_lose_as_much_as_their_longest_path_has_roundings(name: str, longest: int) -> None:
    """The first product of a chain is added to +0, which is exact unless it has more bits than the sum."""
    x = accuracy(name, subnormals=False)
    assert x.bound is not None
    assert (longest - Fraction(1, 100)) * U < ratio(x) <= x.bound < (longest + Fraction(1, 100)) * U


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
    assert ratio(x) > units * U
    if not x.unit.scale_block:
        assert lost(x) == ratio(x)


def test_what_is_found_does_not_underflow() -> None:
    """Without the condition, results below the least normal number lose everything."""
    x = accuracy("rtx-blackwell/mma.m16n8k16.f16.e5m2.e5m2.f16", prove=False, subnormals=False)
    found = constants(x.unit)
    assert found is not None
    assert x.attained is not None
    assert 8190 * U < ratio(x) < found.of(16)
    assert abs(decode(x.unit.d_format, x.attained.ends).number) >= Fraction(1, 1 << 14)


def test_products_of_few_bits_lose_less_than_a_unit() -> None:
    """e4m3: 126/128 of a unit at most, e5m2: 15/16; halves count as any number of many bits."""
    fp8 = resolve("hopper/wgmma.m64n8k32.f32.e4m3.e4m3")
    assert Fraction(126, 128) <= Fraction(product_share(fp8), PARTS) < Fraction(127, 128)
    narrow = resolve("blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e5m2.e5m2")
    assert Fraction(15, 16) <= Fraction(product_share(narrow), PARTS) < Fraction(15, 16) + Fraction(1, 2048)
    assert product_share(resolve("hopper/mma.m16n8k16.f32.f16.f16.f32")) == PARTS
    known = constants(fp8)
    assert known is not None
    assert Fraction(99, 100) < ratio(accuracy(fp8, prove=False, subnormals=False)) / known.of(32) < 1


def test_scales_that_products_do_not_share_keep_them_apart() -> None:
    """Products of one scale lie near each other; of two, one can be lost beside another."""
    unit = resolve("blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.ue8m0")
    assert near(unit)
    assert not near(replace(unit, scale_block=16))


def test_a_last_rounding_to_fewer_bits_is_attained() -> None:
    """Each of the four sums of a call of RDNA4 is rounded to binary32, then cut to bfloat16."""
    x = accuracy("rdna4/v_wmma_bf16_16x16x16_bf16", prove=False, subnormals=False)
    assert Fraction(387, 100) < ratio(x) * 128 < 4
    assert lost(x) == ratio(x)


def test_slices_that_are_exact() -> None:
    x = exact_slices(TOY)
    assert x.most == 1 << 11
    assert x.sharp
    assert [(w.bits, w.largest, w.products) for w in x.widths] == [
        (1, 1, 2048), (2, 3, 227), (3, 7, 41), (4, 15, 9), (5, 31, 2), (6, 32, 2),
    ]  # fmt: skip
    assert x.theorem is not None
    assert x.theorem.theorem == "integers_fused"


def test_slices_of_other_sums_follow_from_an_error_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of which no theorem on integers is written: the size is exact, and need not be the largest."""
    monkeypatch.setattr("tcformal.analysis.bounds.slices.integer_sums", lambda _: None)
    for name, least in (("sequential@format=fp16,products=4", 500), (VOLTA, 1 << 20)):
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
    assert not exact_slices(WRAPPED).widths
    # Ones' complements of integers are none, so that a small error is not 0.
    assert not exact_slices("rdna3/v_wmma_bf16_16x16x16_bf16").widths
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
    assert [float((a or 0) / U) for *_, a in rows] == pytest.approx([9, 18.5, 37.5, 60], abs=0.001)
    assert rows[-1] == (100, None, ratio(x))


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


@pytest.mark.parametrize(
    ("names", "within", "code", "said"),
    [
        ((WIDE,), "15*2^-24", 0, f"{WIDE}: errors of 16 products are within 15*2^-24·Σ|x_k·y_k|: at "),
        ((WIDE, VOLTA), "15*2^-24", 1, f"{VOLTA}: errors of 16 products are not within 15*2^-24"),
        ((WIDE,), "2^-25", 1, f"{WIDE}: errors of 16 products are not within 2^-25·Σ|x_k·y_k|: "),
        (
            ("mx",),
            "4",
            3,
            "mx: errors of 16 products are within 4·Σ|x_k·y_k| as far as is known: neither ",
        ),
        ((WIDE,), "much", 2, "expected a part of Σ|x·y| such as 15*2^-24 for --within, but got much"),
    ],
)
def test_a_stated_bound_is_held_or_refuted(names: tuple[str, ...], within: str, code: int, said: str) -> None:
    words = ["accuracy", *names, "--length", "16", "--within", within]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == code
    shown = " ".join((done.stdout if code != 2 else done.stderr).split())
    assert said in shown
    assert code == 2 or shown.startswith(said)
    if code != 2:
        made = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
        rows = made if isinstance(made, list) else [made]
        assert {0: True, 1: False, 3: None}[code] in [row["within"] for row in rows]
