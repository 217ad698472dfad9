"""Sharp constants: proved bounds, and inputs that attain them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcformal.bounds.accuracy import Accuracy, accuracy
from tcformal.bounds.attained import Construction
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.oracle.values import decode
from tcformal.query.replay import oracle_result

U = Fraction(1, 1 << 24)
#: Two products of five-bit significands, of which one is cut at 11 bits.
TOY = (
    "tfdpa@products=2,a_format=e5m4,b_format=e5m4,c_format=fp16,d_format=fp16,fraction_bits=11,"
    "conversion=RZ-FP16,zero_exponent=-20"
)
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
    x = accuracy("hopper/mma.m16n8k16.f32.f16.f16.f32", length=4096, promote=128, prove=False)
    assert float(x.attained.ratio / U) == pytest.approx(106.48, abs=0.03)


@pytest.mark.parametrize(
    ("name", "length", "bound"),
    [
        pytest.param(TOY, 2, Fraction(1, 1023), marks=pytest.mark.long),
        (TOY, 4, (1 + Fraction(1, 682)) ** 2 - 1),
        (CHAIN, 4, (1 + Fraction(1, 2047)) ** 4 - 1),
    ],
)
def test_bounds_are_proved_and_nearly_attained(name: str, length: int, bound: Fraction) -> None:
    x = accuracy(name, length=length)
    assert x.bound == bound
    assert [v.kind.name for v in x.proved.claims] == ["HOLDS"]
    assert x.gap is not None
    assert 0 <= x.gap < Fraction(3, 5)
    assert lost(x) == x.attained.ratio
    low, high = x.model
    assert high is not None
    assert low <= high == bound / length


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


def test_a_unit_without_a_theorem_has_no_bound() -> None:
    x = accuracy("cdna3/v_mfma_f32_32x32x8_f16")
    assert x.bound is None
    assert x.gap is None
    assert "sums otherwise" in x.proved.reason


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        (TOY, {"length": 0}, "expected an integer from 1 to 1048576 for length, but got 0"),
        (TOY, {"promote": 2}, "expected a unit with fp32 results to promote, but got fp16"),
        ("tree@steps=(0..3+c)", {}, "expected a unit whose design names its order"),
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
