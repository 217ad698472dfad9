"""Devices that give several answers to one input, and devices whose operands meet in another order."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tcformal.design.names import resolve
from tcformal.devices.device import CallableDevice
from tcformal.devices.registry import ModelDevice
from tcformal.errors import InputError
from tcformal.identification.asker import Asker
from tcformal.identification.operand_questions import find_layout
from tcformal.identification.rates import Rate
from tcformal.identification.repeat import Repeated, Repetition, repeat, ulp_places
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch, batch_of

SPEC = resolve("ampere/mma.m16n8k8.f32.f16.f16.f32")
Floats = NDArray[np.float64]


def floats(device: Callable[[Floats, Floats], Floats]) -> CallableDevice:
    """A device that computes with the products, exact in doubles, and c; it gives NaN for NaN."""

    def function(a: Raw, b: Raw, c: Raw) -> Raw:
        with np.errstate(all="ignore"):
            x, y = (v.view(np.float16).astype(np.float64) for v in (a, b))
            d = device(x * y, c.view(np.float32).astype(np.float64)).astype(np.float32)
        return np.where(np.isnan(d), np.uint32(0x7FFFFFFF), d.view(np.uint32))

    return CallableDevice(function, "floats")


def stochastic(bits: int) -> CallableDevice:
    """Exact sums, to which random bits below the last place of fp32 are added before they are cut."""
    rng = np.random.default_rng(1)

    def device(products: Floats, c: Floats) -> Floats:
        # Sums of few-bit terms near 1 are exact in doubles.
        total = products.sum(axis=1) + c
        _, exponent = np.frexp(total)
        step = np.ldexp(1.0, exponent - 24 - bits)
        kept = np.trunc(np.abs(total) / step) + rng.integers(0, 1 << bits, len(c))
        return np.asarray(np.copysign(np.floor(kept / (1 << bits)) * step * (1 << bits), total), np.float64)

    return floats(device)


def shuffled() -> CallableDevice:
    """A chain of fp32 additions, in another order each time."""
    rng = np.random.default_rng(1)

    def device(products: Floats, c: Floats) -> Floats:
        terms = rng.permuted(np.concatenate([products, c[:, None]], axis=1), axis=1)
        total = terms[:, 0]
        for i in range(1, terms.shape[1]):
            total = (total + terms[:, i]).astype(np.float32).astype(np.float64)
        return total

    return floats(device)


def noisy(rate: float) -> CallableDevice:
    """A model with a wrong bit in some results."""
    rng = np.random.default_rng(1)

    def function(a: Raw, b: Raw, c: Raw) -> Raw:
        d = replay(SPEC, Batch(*(x.astype(np.uint64) for x in (a, b, c))))
        wrong = rng.random(len(d)) < rate
        return d ^ (wrong.astype(np.uint64) << rng.integers(0, 31, len(d), dtype=np.uint64))

    return CallableDevice(function, "noisy")


def looked(device: CallableDevice | ModelDevice) -> tuple[Repeated, Asker]:
    asker = Asker(device, SPEC.operands, 8)
    return repeat(asker), asker


def test_a_model_gives_one_answer() -> None:
    found, asker = looked(ModelDevice(SPEC.name))
    assert (found.repetition, found.other, found.most) == (Repetition.DETERMINISTIC, Rate(0, 45), None)
    assert (asker.probes, asker.batches) == (45, 1)


@pytest.mark.parametrize("bits", [1, 2, 5])
def test_stochastic_rounding_shows_its_random_bits(bits: int) -> None:
    """The probability of rounding up is the place in the ulp, cut to the random bits."""
    found, asker = looked(stochastic(bits))
    assert (found.repetition, found.random_bits) == (Repetition.STOCHASTIC_ROUNDING, bits)
    for x in found.places:
        low, high = x.up.interval(0.9999)
        assert low <= int(x.place * (1 << bits)) / (1 << bits) <= high
    assert found.most is not None
    assert len(found.most[1]) == 2
    assert asker.batches == 2


def test_a_rounding_with_other_probabilities_has_no_random_bits() -> None:
    """Up or down with one probability, wherever the sum lies."""
    rng = np.random.default_rng(1)

    def device(products: Floats, c: Floats) -> Floats:
        total = products.sum(axis=1) + c
        low = total.astype(np.float32)
        low = np.where(low > total, np.nextafter(low, np.float32(-np.inf)), low)
        up = (low != total) & (rng.random(len(c)) < 0.3)
        return np.asarray(np.where(up, np.nextafter(low, np.float32(np.inf)), low), np.float64)

    found, _ = looked(floats(device))
    assert (found.repetition, found.random_bits) == (Repetition.STOCHASTIC_ROUNDING, None)


def test_a_random_order_is_no_stochastic_rounding() -> None:
    found, _ = looked(shuffled())
    assert found.repetition is Repetition.RANDOM_ORDER
    assert (found.places, found.random_bits) == ((), None)
    assert found.most is not None
    assert len(found.most[1]) > 2


def test_noise_changes_exact_sums_too() -> None:
    found, _ = looked(noisy(0.05))
    assert found.repetition is Repetition.NOISE
    low, high = found.other.interval()
    assert low < 0.05 < high


def test_places_in_the_ulp_are_exact_sums() -> None:
    """For formats of many ranges: the lower neighbour under RZ, the upper one under RU."""
    for unit in (
        SPEC.name, "hopper/wgmma.m64n8k32.f16.e4m3.e4m3", "x86/vdpbf16ps",
        "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e2m1.e2m1",
    ):  # fmt: skip
        o = resolve(unit).operands
        names = ",".join(f"{x}_format={fmt}" for x, fmt in o.names().items())
        down, up = (
            resolve(f"tfdpa@fraction_bits=exact,products=4,{names},conversion={mode}-{o.d.name.upper()}")
            for mode in ("RZ", "RU")
        )
        places = ulp_places(down, 4)
        assert [place for place, _ in places.inputs] == [
            Fraction(3, 4),
            *(Fraction(1, 1 << i) for i in range(1, 8)),
        ]
        x = batch_of([w for _, w in places.inputs])
        assert set(replay(down, x).tolist()) == {places.low}
        assert set(replay(up, x).tolist()) == {places.low + 1}


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # Quantiles of the beta distribution as statistical libraries give them: at 0.025 with the parameters
        # count and of - count + 1, at 0.975 with count + 1 and of - count.
        (0, 1, 0.0, 0.975),
        (0, 10, 0.0, 0.30849710781876083),
        (0, 100_000, 0.0, 3.6888114e-5),
        (1, 1, 0.025, 1.0),
        (10, 10, 0.6915028921812392, 1.0),
        (1, 2, 0.012579117, 0.987420883),
        (3, 10, 0.06673951, 0.65245285),
        (500, 1000, 0.4685492, 0.5314508),
    ],
)
def test_rates_have_the_intervals_of_clopper_and_pearson(
    count: int, of: int, low: float, high: float
) -> None:
    assert Rate(count, of).interval() == pytest.approx((low, high), rel=1e-6)
    assert Rate(of - count, of).interval() == pytest.approx((1 - high, 1 - low), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize(("count", "of"), [(0, 7), (1, 7), (4, 7), (7, 7), (12, 400), (399, 400)])
def test_each_side_of_an_interval_misses_with_half_of_the_rest(
    count: int, of: int, confidence: float
) -> None:
    """Both tails of the binomial distribution, summed in exact fractions."""

    def tail(p: float, counts: range) -> float:
        x = Fraction(p)
        return float(sum(math.comb(of, i) * x**i * (1 - x) ** (of - i) for i in counts))

    low, high = Rate(count, of).interval(confidence)
    miss = pytest.approx((1 - confidence) / 2, rel=1e-9)
    assert (low == 0) if count == 0 else (tail(low, range(count, of + 1)) == miss)
    assert (high == 1) if count == of else (tail(high, range(count + 1)) == miss)


def test_rates_reject_more_events_than_trials() -> None:
    for count, of in ((3, 2), (-1, 2), (0, 0)):
        with pytest.raises(InputError, match="expected a count of at most"):
            Rate(count, of)


@pytest.mark.parametrize(
    ("unit", "k"),
    [(SPEC.name, 8), ("hopper/wgmma.m64n8k32.f16.e4m3.e4m3", 32), ("cdna1/v_mfma_f32_32x32x1f32", 1)],
)
def test_the_plain_layout_is_confirmed(unit: str, k: int) -> None:
    asker = Asker(ModelDevice(unit), resolve(unit).operands, k)
    assert find_layout(asker).plain
    assert asker.probes == 1 + (k - 1).bit_length()
    assert asker.layout is None


@pytest.mark.parametrize("seed", range(4))
def test_a_permuted_layout_is_found(seed: int) -> None:
    """Any permutation, the least one included; afterwards the device answers as the model."""
    order = np.arange(8)
    order[:2] = (1, 0)
    order = np.random.default_rng(seed).permutation(8) if seed else order

    def function(a: Raw, b: Raw, c: Raw) -> Raw:
        return replay(SPEC, Batch(*(x.astype(np.uint64) for x in (a, b[:, order], c))))

    asker = Asker(CallableDevice(function, "permuted"), SPEC.operands, 8)
    assert find_layout(asker).order == tuple(order.tolist())
    assert asker.probes <= 2 * 4 + 6
    inputs = batch(SPEC, 8, 200, 1)
    assert (asker.ask(inputs) == replay(SPEC, inputs)).all()


@pytest.mark.parametrize(
    "pairs",
    [lambda a, b: (a[:, :7], b[:, :7]), lambda a, b: (a, b[:, [0, 1, 2, 3, 4, 5, 6, 6]])],
    ids=["the last product left out", "one b twice"],
)
def test_what_is_no_pairing_of_k_products_rejects(pairs: Callable[[Raw, Raw], tuple[Raw, Raw]]) -> None:
    def function(a: Raw, b: Raw, c: Raw) -> Raw:
        x, y = pairs(a, b)
        return replay(SPEC, Batch(*(v.astype(np.uint64) for v in (x, y, c))))

    found = find_layout(Asker(CallableDevice(function, "odd"), SPEC.operands, 8))
    assert found.order is None
    assert not found.plain


def test_rows_that_influence_each_other_are_not_deterministic() -> None:
    def function(a: Raw, b: Raw, c: Raw) -> Raw:
        d = replay(SPEC, Batch(*(x.astype(np.uint64) for x in (a, b, c))))
        return d ^ (np.roll(c, 1) & np.uint64(1))

    assert repeat(Asker(CallableDevice(function, "leaks"), SPEC.operands, 8)).repetition is Repetition.NOISE
