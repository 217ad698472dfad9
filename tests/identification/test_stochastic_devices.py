"""Devices that round stochastically: the random bits, and the sum that is rounded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from identification.test_repeat import SPEC, shuffled
from small_identify import identify
from tcformal.design.names import resolve
from tcformal.devices.device import CallableDevice, Device
from tcformal.devices.registry import ModelDevice
from tcformal.identification.asker import Asker
from tcformal.identification.identification import Identification, IdentifyVerdict
from tcformal.identification.identify import identified as whole
from tcformal.identification.repeat import Repetition
from tcformal.identification.stochastic import plain_sums, with_mode, words_given
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch, rows_of


def drawing(name: str, bits: int, words: Callable[[np.random.Generator, int], Raw] | None = None) -> Device:
    """A device that rounds the sum of a design by words that it draws."""
    units, rng = [resolve(name.format(f"SR{bits}+{w}")) for w in range(1 << bits)], np.random.default_rng(3)

    def function(a: Raw, b: Raw, c: Raw) -> Raw:
        x = Batch(*(v.astype(np.uint64) for v in (a, b, c)))
        drawn = rng.integers(0, 1 << bits, len(c)) if words is None else words(rng, len(c))
        d = np.zeros(len(c), np.uint32)
        for w, unit in enumerate(units):
            if len(rows := np.flatnonzero(drawn == w)):
                d[rows] = replay(unit, rows_of(x, rows))
        return d

    return CallableDevice(function, "drawing")


def seen(device: Device, k: int) -> Identification:
    return identify(Asker(device, SPEC.operands, k), vectors=100)


@pytest.mark.parametrize(
    ("name", "bits", "k", "least", "sums"),
    [
        ("h100:fp16@conversion={}-FP32", 3, 8, 3, "hopper/"),
        ("v100:fp16@conversion={}-FP32", 2, 4, 1, "volta/"),
        ("exact@k=8,conversion={}-FP32", 2, 8, 2, "exact@"),
        ("exact@k=8,conversion={}-FP32", 5, 8, 5, "exact@"),
    ],
)
def test_a_sum_that_is_rounded_at_random(name: str, bits: int, k: int, least: int, sums: str) -> None:
    """Volta cuts terms to the bits of the result: sums between two neighbours show no random bits there."""
    found = seen(drawing(name, bits), k)
    assert found.verdict is IdentifyVerdict.NON_DETERMINISTIC
    assert found.repeated is not None
    assert (found.repeated.repetition, found.repeated.random_bits) == (Repetition.STOCHASTIC_ROUNDING, least)
    measured = found.measured or {}
    assert "stochastically" in measured["looks like"]
    assert sums in measured["what is rounded"]


def test_words_that_are_not_equally_likely_reject() -> None:
    """Always the same carries, or none: two neighbours, with frequencies that no design has."""

    def words(rng: np.random.Generator, n: int) -> Raw:
        return np.where(rng.random(n) < 0.2, 7, 0)

    found = seen(drawing("exact@k=8,conversion={}-FP32", 3, words), 8)
    assert found.repeated is not None
    assert (found.repeated.repetition, found.repeated.random_bits) == (Repetition.STOCHASTIC_ROUNDING, None)
    assert "what is rounded" not in (found.measured or {})


def test_a_random_order_rejects() -> None:
    found = seen(shuffled(), 8)
    assert found.repeated is not None
    assert found.repeated.repetition is Repetition.RANDOM_ORDER
    assert "what is rounded" not in (found.measured or {})


@pytest.mark.parametrize(
    ("name", "k", "modes"),
    [
        ("h100:fp16@conversion=SR5+9-FP32", 8, ["SR5+9", "SR2+1"]),
        ("exact@k=8,conversion=SR4+11-FP32", 8, ["SR4+11"]),
        ("exact@k=1,conversion=SR20+1-FP32", 1, []),
        ("h100:fp16", 8, []),
        *((f"exact@k=8,conversion={mode}-FP32", 8, []) for mode in ("RNE", "RNA", "RU", "RD", "RO", "RZ")),
    ],
)
def test_a_word_that_is_given_shows_where_sums_go_up(name: str, k: int, modes: list[str]) -> None:
    """One with more bits than places have, and other roundings, show none."""
    asker = Asker(ModelDevice(name), SPEC.operands, k)
    assert words_given(asker) == modes
    designs = with_mode([*plain_sums(asker), resolve("h100:fp16"), resolve("v100:fp16")], modes)
    x = batch(asker.spec, k, 300, 1)
    fitting = [u for u in designs if (replay(u, x) == asker.ask(x)).all()]
    assert bool(fitting) == bool(modes)


@pytest.mark.long
def test_a_device_with_one_word_is_a_design_with_that_word() -> None:
    unit = "volta/mma.m8n8k4.f16.f16.f16.f16@conversion=SR3+5-FP16"
    found = whole(Asker(ModelDevice(unit), resolve(unit).operands, 4), vectors=1000)
    assert found.verdict in (IdentifyVerdict.IDENTIFIED, IdentifyVerdict.REMAINING)
    assert found.simplest == unit
