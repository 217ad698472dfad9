"""A model against its device: rates of misfits, misfits that stay, and simpler ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from small_identify import identify
from tcformal.design.names import resolve
from tcformal.devices.device import CallableDevice
from tcformal.devices.registry import ModelDevice
from tcformal.errors import DeviceError, InputError, RecordError
from tcformal.identification.asker import Asker
from tcformal.identification.identification import IdentifyVerdict
from tcformal.identification.validation import validate
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of
from tcformal.simulation.operands.inputs import every_product
from tcformal.store.schema import sealed

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
SPEC = resolve(UNIT)


def asker(wrong: Callable[[Batch, Raw], Raw], path: Path | None = None) -> Asker:
    """A model with some results changed."""

    def function(a: Raw, b: Raw, c: Raw) -> Raw:
        batch = Batch(*(x.astype(np.uint64) for x in (a, b, c)))
        return wrong(batch, replay(SPEC, batch))

    return Asker(CallableDevice(function, "box"), SPEC.operands, 4, path=path)


def test_a_right_model_has_no_misfit_and_a_bound() -> None:
    it = asker(lambda _, d: d)
    found = validate(it, SPEC, 25_000)
    assert (found.misfits.count, found.misfits.of, found.shown) == (0, 25_000, ())
    assert found.misfits.interval()[1] == pytest.approx(1 - 0.025 ** (1 / 25_000))
    assert (it.checked, it.probes, it.history[1].size) == (25_000, 0, 0)


@pytest.mark.parametrize("vectors", [70_000, 60_000])
def test_a_table_with_one_wrong_product_is_refuted(vectors: int) -> None:
    """One of the 64,516 products of e4m3 is wrong, in one lane: fewer inputs do not hold all."""
    spec = resolve("tree@steps=(0..3+c),a_format=e4m3,b_format=e4m3,c_format=fp32,d_format=fp32")

    def table(a: Raw, b: Raw, c: Raw) -> Raw:
        wrong = (a[:, 2] == 0x4B) & (b[:, 2] == 0x53)
        words = Batch(*(x.astype(np.uint64) for x in (a, b, c)))
        d: Raw = replay(spec, words) ^ wrong.astype(np.uint64)
        return d

    found = validate(Asker(CallableDevice(table, "table"), spec.operands, 4), spec, vectors)
    assert found.misfits.of == vectors
    assert (found.misfits.count > 0) is (vectors == 70_000)


def test_all_pairs_of_short_operands_stand_at_every_place() -> None:
    formats = "c_format=fp32,d_format=fp32"
    for name, pairs in (("e2m1", 256), ("bf16", 128**2), ("e5m2", 248**2)):
        spec = resolve(f"tree@steps=(0..2+c),a_format={name},b_format={name},{formats}")
        every = every_product(spec, 3, 1)
        assert every is not None
        for i in range(3):
            assert len({*zip(every.a[:, i].tolist(), every.b[:, i].tolist(), strict=True)}) == pairs
    assert every_product(resolve(f"tree@steps=(0..2+c),a_format=fp16,b_format=fp16,{formats}"), 3, 1) is None


def test_a_random_fault_does_not_stay() -> None:
    rng = np.random.default_rng(1)
    found = validate(asker(lambda _, d: d ^ (rng.random(len(d)) < 1e-3).astype(np.uint64)), SPEC, 30_000)
    low, high = found.misfits.interval()
    assert low < 1e-3 < high
    assert found.shown
    assert not any(misfit.stays or misfit.simpler for misfit in found.shown)


def test_a_misfit_that_stays_is_shrunk_on_the_device() -> None:
    """A device that gives another result where the third product is negative."""

    def wrong(x: Batch, d: Raw) -> Raw:
        negative = (x.a[:, 2] ^ x.b[:, 2]) >> np.uint64(15) & np.uint64(1)
        return np.where(x.a[:, 2] != 0, d ^ negative, d)

    it = asker(wrong)
    found = validate(it, SPEC, 2_000)
    assert len(found.shown) == 16
    assert found.misfits.count > 500
    assert all(misfit.stays for misfit in found.shown)
    simple = [misfit.simpler for misfit in found.shown if misfit.simpler is not None]
    assert len(simple) == 3
    for w in (misfit.witness for misfit in simple):
        assert sum(1 for x, y in zip(w.a, w.b, strict=True) if x or y) == 1
        assert w.c == 0
        batch = batch_of([w])
        assert (it.ask(batch) != replay(SPEC, batch)).all()


def test_another_model_is_refuted() -> None:
    other = resolve(f"{UNIT}@alignment_rounding=RNE")
    found = validate(Asker(ModelDevice(UNIT), SPEC.operands, 4), other, 2_000)
    assert found.misfits.count > 10
    for misfit in found.shown:
        batch = batch_of([misfit.witness])
        assert (int(replay(SPEC, batch)[0]), int(replay(other, batch)[0])) == (misfit.given, misfit.designed)


def test_what_is_kept_is_not_drawn_again(tmp_path: Path) -> None:
    """Not even for another model: the answers are made from the first one and the misfits."""
    path, calls = tmp_path / "answers.jsonl", []

    def wrong(x: Batch, d: Raw) -> Raw:
        calls.append(len(d))
        if len(calls) == 3 and not path.with_suffix(".ok").exists():
            raise DeviceError("expected a card, but it is gone")
        return np.where(x.c % np.uint64(7) == 0, d ^ np.uint64(1), d)

    with pytest.raises(DeviceError, match="it is gone"):
        validate(asker(wrong, path), SPEC, 30_000)
    path.with_suffix(".ok").touch()
    first = validate(asker(wrong, path), SPEC, 30_000)
    assert calls[:4] == [10_000] * 4
    calls.clear()
    again = validate(asker(wrong, path), SPEC, 30_000)
    assert 10_000 not in calls
    assert (again.misfits, again.shown) == (first.misfits, first.shown)
    other = resolve(f"{UNIT}@fraction_bits=22")
    fresh = validate(asker(wrong), other, 30_000)
    assert validate(asker(wrong, path), other, 30_000).misfits == fresh.misfits


def test_altered_answers_reject(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    validate(asker(lambda _, d: d, path), SPEC, 100)
    head, line = (json.loads(text) for text in path.read_text().splitlines())
    for changed in (
        {**line, "mismatches": {"5": "0x00000001"}},
        {**line, "mismatches": {"500": "0x00000001"}},
        {**line, "model": f"{UNIT}@fraction_bits=12"},
        {**line, "inputs": "0" * 64},
        {**line, "generator": "x"},
    ):
        path.write_text(f"{json.dumps(head)}\n{json.dumps(sealed(changed))}\n")
        with pytest.raises(RecordError, match=r"seed 1 in .*answers\.jsonl"):
            validate(asker(lambda _, d: d, path), SPEC, 100)


def test_no_inputs_reject() -> None:
    with pytest.raises(InputError, match="expected an integer from 1 to"):
        validate(asker(lambda _, d: d), SPEC, 0)


@pytest.mark.parametrize(
    ("calls", "verdict"),
    [
        # Every time: no design gives it.
        pytest.param(range(1, 10_000), IdentifyVerdict.OUTSIDE, marks=pytest.mark.slow),
        # In the long call of the comparison alone.
        (range(2000, 2001), IdentifyVerdict.CONTRADICTORY),
    ],
)
def test_misfits_that_stay_refute_the_design(
    calls: range, verdict: IdentifyVerdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device that gives another result for one c of 16, in calls of some lengths."""
    monkeypatch.setattr("tcformal.identification.validation._SHRUNK", 0)
    spec = resolve("arm/fmopa.d")

    def box(a: Raw, b: Raw, c: Raw) -> Raw:
        d = replay(spec, Batch(*(x.astype(np.uint64) for x in (a, b, c))))
        return np.where(c & 15 == 9, d ^ np.uint64(1), d) if len(c) in calls else d

    made = identify(Asker(CallableDevice(box, "box"), spec.operands, 1), vectors=2000)
    assert made.verdict is verdict, made.reason
    assert bool(made.nearest) == (verdict is IdentifyVerdict.OUTSIDE)
