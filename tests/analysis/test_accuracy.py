"""Sharp constants: proved bounds, and inputs that attain them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcformal.analysis.bounds.accuracy import Accuracy, accuracy, growth_with_length
from tcformal.analysis.bounds.attained import Construction
from tcformal.analysis.bounds.constants import theorem_constant
from tcformal.analysis.bounds.program.calls import CallBounds
from tcformal.analysis.bounds.slices import exact_slices
from tcformal.design.names import resolve
from tcformal.errors import InputError, InvariantError
from tcformal.oracle.values import decode, encode_exact
from tcformal.query.replay import oracle_result
from tcformal.theory.answers import in_the_way
from tcformal.theory.constants import constants
from tcformal.theory.stated_sum import LETTERS, NO_C, StatedSum

U = Fraction(1, 1 << 24)
#: Two products of five-bit significands, of which one is cut at 11 bits.
TOY = (
    "tfdpa@products=2,a_format=e5m4,b_format=e5m4,c_format=fp16,d_format=fp16,fraction_bits=11,"
    "conversion=RZ-FP16,zero_exponent=-20"
)
CHAIN = "sequential@products=2,a_format=e5m4,b_format=e5m4,c_format=fp16,d_format=fp16"


#: A sum whose register loses the largest sums.
WRAPPED = f"{TOY},carry_bits=0"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


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


@pytest.mark.parametrize(
    ("name", "length", "theorem", "most"),
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


def test_a_million_products_take_no_longer_than_a_few() -> None:
    unit = resolve("hopper/mma.m16n8k16.f32.f16.f16.f32")
    x = accuracy(unit, length=1 << 20)
    assert x.bound is not None
    assert x.attained is not None
    assert sum(times for _, times in x.attained.calls) == 1 << 16
    assert len(x.attained.calls) < 4
    assert x.gap is not None
    assert 0 <= x.gap < Fraction(1, 10)


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
    monkeypatch.setattr("tcformal.analysis.bounds.constants.relative_error", lambda _: None)
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


def test_inputs_that_lose_more_than_what_is_proved_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    less = ratio(accuracy(TOY, prove=False, subnormals=False)) * Fraction(999, 1000)
    monkeypatch.setattr("tcformal.theory.constants.Constants.of", lambda *_: less)
    with pytest.raises(InvariantError, match=rf"expected inputs of .* that lose at most {float(less):.7g}"):
        accuracy(TOY, subnormals=False)


def test_slices_that_are_exact() -> None:
    x = exact_slices(TOY)
    assert x.most == 1 << 11
    assert x.sharp
    assert [(w.bits, w.largest, w.products) for w in x.widths] == [
        (1, 1, 2048), (2, 3, 227), (3, 7, 41), (4, 15, 9), (5, 31, 2), (6, 32, 2),
    ]  # fmt: skip
    assert x.theorem is not None
    assert x.theorem.theorem == "integers_fused"


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
