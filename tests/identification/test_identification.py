"""The record of an identification, and its check without the device: what each falsification breaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from small_identify import identify
from tcformal.design.axes import rivals
from tcformal.design.names import resolve
from tcformal.devices.device import CallableDevice
from tcformal.devices.registry import ModelDevice
from tcformal.errors import RecordError
from tcformal.identification.asker import Asker
from tcformal.identification.certify import Likeness, Sameness
from tcformal.identification.identification import (
    IDENTIFICATION,
    AxisOutcome,
    Identification,
    IdentifyVerdict,
    NearDesign,
    Settled,
    history_of,
    operands_of,
    to_record,
)
from tcformal.identification.identify import identified as whole
from tcformal.identification.order import order_of
from tcformal.identification.rates import Rate
from tcformal.identification.validation import Validated
from tcformal.identification.verified import verify_identification, verify_identifications
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, rows_of, together
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.lines import append
from tcformal.store.schema import sealed
from tcformal.store.store import Store

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
SPEC = resolve(UNIT)
OTHER = f"{UNIT}@fraction_bits=22"


@pytest.fixture(autouse=True)
def proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs that designs are the same are found at once: what a record must hold besides is tested here."""
    monkeypatch.setattr(Sameness, "compared", lambda *_: Likeness("a proof"))


@cache
def identified() -> Identification:
    """A class of one design, with one refuted value of an axis and one that the definition makes the same."""
    asker = Asker(ModelDevice(UNIT), SPEC.operands, 4)
    found = identify(asker, vectors=500)
    assert found.verdict is IdentifyVerdict.IDENTIFIED
    # What refutes the neighbours, which are not asked about here.
    pool = inputs_to_try(SPEC, 4, 6000, 5)
    apart = [np.flatnonzero(replay(u, pool) != replay(SPEC, pool))[:1] for u in rivals(SPEC, 4)]
    asker.ask(rows_of(pool, np.unique(np.concatenate(apart))))
    batch, answers = asker.history
    probe = int((replay(resolve(OTHER), batch) != answers).argmax())
    axes = (
        AxisOutcome("fraction_bits", "22", OTHER, Settled.REFUTED, probe),
        AxisOutcome("products", "8", f"{UNIT}@products=8", Settled.SAME, None, "the definition is the same"),
    )
    order = order_of(asker.ask, SPEC.operands, 4).measured
    return replace(
        found, axes=(*found.axes, *axes), growth=((len(answers), 2),), history=(batch, answers),
        probes=asker.probes, measured=order, survivors=2,
    )  # fmt: skip


@cache
def faulty() -> Identification:
    rng = np.random.default_rng(1)

    def function(a: Raw, b: Raw, c: Raw) -> Raw:
        d = replay(SPEC, Batch(*(x.astype(np.uint64) for x in (a, b, c))))
        return d ^ (rng.random(len(d)) < 0.005).astype(np.uint64) * np.uint64(len(d) > 1000)

    asker = Asker(CallableDevice(function, "worn"), SPEC.operands, 4)
    found = identify(asker, vectors=3000)
    assert found.verdict is IdentifyVerdict.FAULTY
    return replace(found, measured=order_of(lambda x: replay(SPEC, x), SPEC.operands, 4).measured)


def checked(record: dict[str, Any], folder: Path) -> tuple[AuditStatus, str]:
    finding = verify_identification(record, Store(folder))
    return finding.status, finding.reason


@pytest.mark.slow
def test_a_record_reads_back_and_holds(tmp_path: Path) -> None:
    record = to_record(identified())
    batch, answers = history_of(record)
    assert (batch.a == identified().history[0].a).all()
    assert (answers == identified().history[1]).all()
    assert operands_of(record).operands == SPEC.operands
    status, reason = checked(record, tmp_path)
    assert (status, reason.count("refutations hold")) == (AuditStatus.HOLDS, 1), reason
    assert checked(to_record(faulty()), tmp_path)[0] is AuditStatus.HOLDS


@pytest.mark.slow
def test_the_newest_record_of_a_subject_is_checked(tmp_path: Path) -> None:
    old = to_record(replace(identified(), survivors=7))
    for record in (old, to_record(identified()), to_record(faulty())):
        append(tmp_path / IDENTIFICATION.file, record)
    found = verify_identifications(Store(tmp_path), lambda _: None)
    assert [(x.device, x.verdict, x.status) for x in found] == [
        (f"model:{UNIT}", "IDENTIFIED", AuditStatus.HOLDS), ("callable:worn", "FAULTY", AuditStatus.HOLDS),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_value_without_a_proof_is_not_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives all answers, but nothing shows that it gives them on all inputs."""
    monkeypatch.setattr(Sameness, "compared", lambda *_: Likeness())
    wide = AxisOutcome("carry_bits", "9", f"{UNIT}@carry_bits=9", Settled.SAME, None, "a proof")
    status, reason = checked(to_record(replace(identified(), axes=(wide,))), tmp_path)
    assert status is AuditStatus.UNCHECKED, reason
    assert f"but nothing here proves {UNIT}@carry_bits=9, " in reason


@pytest.mark.slow
def test_a_theorem_is_applied_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = AxisOutcome(
        "carry_bits", "9", f"{UNIT}@carry_bits=9", Settled.SAME, None, "theorem carry_bits_suffice"
    )
    record = to_record(replace(identified(), axes=(*identified().axes, wide), survivors=3,
                               growth=((len(identified().history[1]), 3),)))  # fmt: skip
    assert checked(record, tmp_path)[0] is AuditStatus.HOLDS
    monkeypatch.setattr(Sameness, "by_theorem", lambda *_: Likeness())
    status, reason = checked(record, tmp_path)
    assert status is AuditStatus.FAILED
    assert "to be the same by theorem" in reason


def twice(x: Identification) -> Identification:
    """The first input of the history again."""
    (batch, answers), first = x.history, slice(0, 1)
    return replace(x, history=(together(batch, rows_of(batch, first)), np.append(answers, answers[first])))


def axis(**more: Any) -> Callable[[Identification], Identification]:
    """The refuted value alone, with something else about it."""
    return lambda x: replace(x, axes=(replace(x.axes[-2], **more),))


def same(**more: Any) -> Callable[[Identification], Identification]:
    """The value that is the same alone, with something else about it."""
    return lambda x: replace(x, axes=(replace(x.axes[-1], **more),))


def with_model(x: Identification, name: str) -> Validated:
    """The comparison as if it were of another design."""
    assert x.validated is not None
    return replace(x.validated, model=resolve(name))


def classes(*rows: tuple[str, ...]) -> Callable[[Identification], Identification]:
    """Other classes."""
    return lambda x: replace(x, classes=rows, survivors=2, growth=((len(x.history[1]), 2),))


def near(agrees: int, unfit: tuple[int, ...] = ()) -> Callable[[Identification], Identification]:
    """A nearest design with so many answers but the last."""
    return lambda x: replace(
        x, unfit=unfit, nearest=(NearDesign(UNIT, Rate(len(x.history[1]) - agrees, len(x.history[1]))),)
    )


FALSE: dict[str, tuple[Callable[[Identification], Identification], str]] = {
    "a member that gives other answers": (classes((UNIT, OTHER)), "to give all"),
    "no class": (classes(), "expected classes for IDENTIFIED"),
    "two classes": (classes((UNIT,), (UNIT,)), "one if it is unique, but got"),
    "more members than survivors": (classes((UNIT, UNIT, UNIT)), "at most 2 designs"),
    "an answer changed": (
        lambda x: replace(x, history=(x.history[0], x.history[1] ^ np.uint64(1))),
        "to give all",
    ),
    "an input twice": (twice, "every input of the history once"),
    "fewer dot products than inputs": (lambda x: replace(x, probes=3), "expected at least"),
    "other survivors": (lambda x: replace(x, growth=((300, 5),)), "survivors after the last batch"),
    "survivors that return": (lambda x: replace(x, growth=((1, 1), (300, 2))), "expected fewer survivors"),
    "an input that refutes nothing": (axis(design=UNIT), "to refute"),
    "an input that does not exist": (axis(probe=10**6), "to refute"),
    "a refutation without an input": (axis(probe=None), "expected a refuting input exactly"),
    "the same, but refuted": (same(design=OTHER), "to give as many answers"),
    "identified with an undecided value": (same(settled=Settled.UNDECIDED), "no undecided axis"),
    "a design of other formats": (classes(("cdna1/v_mfma_f32_32x32x4bf16",)), "but .* has others"),
    "a design that does not exist": (classes(("volta/nothing",)), "expected a known unit"),
    "another rate of agreement": (near(3), "answers of volta"),
    "an input that fits": (near(0, (0,)), "to fit no design"),
    "another verdict": (
        lambda x: replace(x, verdict=IdentifyVerdict.REMAINING),
        "expected IDENTIFIED",
    ),
    "a verdict of faults": (
        lambda x: replace(x, verdict=IdentifyVerdict.FAULTY),
        "expected IDENTIFIED",
    ),
    "no answer twice": (
        lambda x: replace(x, verdict=IdentifyVerdict.NON_DETERMINISTIC, classes=(), axes=(), validated=None),
        "where repeated answers differ",
    ),
    "outside, though a design fits": (
        lambda x: replace(x, verdict=IdentifyVerdict.OUTSIDE, classes=(), axes=(), validated=None),
        "no design to give all answers",
    ),
    "another order": (lambda x: replace(x, measured={"order": "((0..3)+c)"}), "to be measured"),
    "less that was not tested": (lambda x: replace(x, untested=x.untested[:1]), "what was not tested"),
    "a comparison with another design": (
        lambda x: replace(x, validated=with_model(x, OTHER)),
        "with the simplest design",
    ),
    "a history of one answer": (
        lambda x: replace(x, history=(rows_of(x.history[0], slice(0, 1)), x.history[1][:1])),
        "to refute",
    ),
    "no growth": (lambda x: replace(x, growth=()), "survivors after each batch"),
    "identified with misfits": (
        lambda x: replace(x, validated=faulty().validated),
        "expected misfits as IDENTIFIED allows",
    ),
}


@pytest.mark.parametrize("what", FALSE)
def test_a_false_record_fails(what: str, tmp_path: Path) -> None:
    change, sentence = FALSE[what]
    status, reason = checked(to_record(change(identified())), tmp_path)
    assert status is AuditStatus.FAILED
    with pytest.raises(RecordError, match=sentence):
        raise RecordError(reason)


@pytest.mark.parametrize("row", [0, 20, 40])
def test_one_answer_identifies_nothing(row: int, tmp_path: Path) -> None:
    """Neither with a list of other values, nor without one."""
    (batch, answers), one = identified().history, slice(row, row + 1)
    alone = {"history": (rows_of(batch, one), answers[one]), "axes": ()}
    status, reason = checked(to_record(replace(identified(), **alone)), tmp_path)  # type: ignore[arg-type]
    assert status is not AuditStatus.HOLDS, reason


def test_false_misfits_fail(tmp_path: Path) -> None:
    record = to_record(faulty())
    shown = record["validated"]["shown"][0]
    other = f"{int(shown['designed'], 16) ^ 1:#010x}"
    for change in (
        {"designed": other}, {"given": shown["designed"]}, {"stays": not shown["stays"]},
        {"given": "0x123"}, {"input": {**shown["input"], "a": ["0x0000"] * 3}},
    ):  # fmt: skip
        text = json.loads(json.dumps(record))
        text["validated"]["shown"][0] |= change
        assert checked(sealed(text), tmp_path)[0] is AuditStatus.FAILED, change
    text = json.loads(json.dumps(record))
    text["validated"]["interval"][1] = 1e-9
    assert "expected the interval" in checked(sealed(text), tmp_path)[1]


def test_altered_records_fail(tmp_path: Path) -> None:
    record = to_record(identified())
    for altered, sentence in (
        ({**record, "reason": "x"}, "expected a record that nobody altered"),
        (sealed({**record, "verdict": "SURE"}), "expected a record as its schema says"),
        (sealed({**record, "device": {"device": "another"}}), "digest of device, formats and K"),
        (sealed({**record, "history": {**record["history"], "d": "0" * len(record["history"]["d"])}}),
         "expected a history of the digest"),
    ):  # fmt: skip
        status, reason = checked(altered, tmp_path)
        assert status is AuditStatus.FAILED
        assert sentence in reason


@pytest.mark.slow
def test_the_verdicts_of_other_devices(tmp_path: Path) -> None:
    """Outside the space, with the nearest design; non-deterministic, with the spread; each record holds."""
    rng = np.random.default_rng(1)

    def noisy(a: Raw, b: Raw, c: Raw) -> Raw:
        d = replay(SPEC, Batch(*(x.astype(np.uint64) for x in (a, b, c))))
        return d ^ rng.integers(0, 2, len(d), dtype=np.uint64)

    for device, verdict in (
        (ModelDevice(f"{UNIT}@alignment_rounding=RNE"), IdentifyVerdict.OUTSIDE),
        (CallableDevice(noisy, "noisy"), IdentifyVerdict.NON_DETERMINISTIC),
        (CallableDevice(lambda a, b, c: c, "c alone"), IdentifyVerdict.OUTSIDE),
    ):
        found = identify(Asker(device, SPEC.operands, 4), vectors=100)
        assert found.verdict is verdict
        status, reason = checked(to_record(found), tmp_path)
        # What was measured of an order that no design has follows from nothing else in the record.
        outside = verdict is IdentifyVerdict.OUTSIDE and bool(found.measured)
        assert status is (AuditStatus.UNCHECKED if outside else AuditStatus.HOLDS), reason


@pytest.mark.long
@pytest.mark.parametrize(("name", "varied"), [("gaudi2/mme.bf16", False), (UNIT, True)])
def test_what_was_not_tried_is_not_said_to_be_refuted(name: str, varied: bool) -> None:
    """Trees of sums have no c that is added to a sum without a rounding: its parameters were not varied."""
    unit = resolve(name)
    found = whole(Asker(ModelDevice(name), unit.operands, unit.k), vectors=100)
    assert found.verdict is IdentifyVerdict.IDENTIFIED
    assert ("every other value of each parameter" in found.reason) is varied
    assert any("parameters between" in text for text in found.untested) is not varied
