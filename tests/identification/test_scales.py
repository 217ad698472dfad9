"""Devices with block scales: what the top bits of scales do, and sums of whole blocks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import CallableDevice
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.identification import certify, conclusions
from tcformal.identification.asker import Asker
from tcformal.identification.certify import Likeness, Sameness
from tcformal.identification.identification import (
    AxisOutcome,
    Identification,
    IdentifyVerdict,
    Settled,
    to_record,
)
from tcformal.identification.identify import Identifying, identified
from tcformal.identification.operand_questions import scale_format, scale_signs
from tcformal.identification.survivors import Search
from tcformal.identification.verified import verify_identification
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.store import Store

_FP4 = ",a_format=e2m1,b_format=e2m1,c_format=fp32,d_format=fp32,scale="
#: A chain of two blocks, exact sums before each is rounded.
CHAIN = "tree@steps=(2+3+(0+1+c))" + _FP4


def asked(name: str, told: str, changed: Callable[[Raw], Raw] = lambda x: x) -> Asker:
    """A device that computes what a design does and is said to have other scales; A's are changed before."""
    unit, fmt = resolve(name), FORMATS[told]

    def device(a: Raw, b: Raw, c: Raw, scale_a: Raw, scale_b: Raw) -> Raw:
        return replay(unit, Batch(a, b, c, changed(scale_a), scale_b))

    return Asker(CallableDevice(device, "box"), unit.operands, unit.k, fmt, unit.scale_block)


@pytest.mark.parametrize(
    ("is_", "told"), [*itertools.product(("e4m3", "ue4m3"), ("e4m3", "ue4m3")), ("e8m0", "e8m0")]
)
def test_the_sign_of_scales_shows(is_: str, told: str) -> None:
    assert scale_format(asked(f"{CHAIN}{is_}/2", told)) == FORMATS[is_]


def test_a_sign_that_counts_on_one_side_is_that_of_no_format() -> None:
    one_sided = asked(f"{CHAIN}e4m3/2", "ue4m3", lambda x: np.asarray(x & np.uint64(0x7F)))
    assert scale_format(one_sided) is None


def test_scales_without_a_sign_are_asked_nothing() -> None:
    for name in (f"{CHAIN}e8m0/2", "tree@steps=(0+1+c)"):
        spec = resolve(name)
        assert not len(scale_signs(spec, spec.k).c)


@pytest.mark.slow
def test_a_design_whose_scales_have_a_sign_is_found(tmp_path: Path) -> None:
    """It is said to have others; the device is told of those in every call, and the record holds."""
    asker, told = asked(f"{CHAIN}e4m3/2", "ue4m3"), set[Format | None]()
    run = asker.device.run

    def heard(spec: Any, batch: Batch) -> Raw:
        told.add(spec.scale_format)
        return run(spec, batch)

    asker.device.run = heard  # type: ignore[method-assign]
    found = identified(asker, vectors=2000)
    assert found.verdict in (IdentifyVerdict.IDENTIFIED, IdentifyVerdict.REMAINING), found.reason
    assert found.simplest is not None
    assert "scale=e4m3/2" in found.simplest
    assert found.measured is not None
    assert found.measured["scales"] == "e4m3: their sign counts"
    assert told == {FORMATS["ue4m3"]}
    record = to_record(found)
    finding = verify_identification(record, Store(tmp_path))
    assert finding.status is AuditStatus.HOLDS, finding.reason
    record = to_record(replace(found, measured={**found.measured, "scales": "e4m3: their sign is ignored"}))
    assert verify_identification(record, Store(tmp_path)).status is AuditStatus.FAILED


def test_a_late_answer_refutes_before_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = object()
    unit = resolve("tree@steps=(0+1+c)")
    asker = Asker(CallableDevice(lambda *x: replay(unit, Batch(*x)), "box"), unit.operands, unit.k)
    identifying = Identifying(asker, 100, lambda _: None)
    monkeypatch.setattr(identifying, "_candidates", lambda: [unit])
    monkeypatch.setattr(identifying, "_refuted_late", lambda _: made)

    def certified(*_: object) -> Identification:
        raise AssertionError("a proof was tried")

    monkeypatch.setattr(conclusions, "certified", certified)
    assert identifying._concluded() is made


def test_solvers_have_little_time_where_scales_have_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of four factors: none of them settles two of these."""
    limits: list[float] = []

    class Stop(Exception):
        """What ends a question."""

    def answer(_: object, options: Any) -> None:
        limits.append(options.limits.time_s)
        raise Stop

    monkeypatch.setattr("tcformal.query.engine.answer", answer)
    monkeypatch.setattr(Sameness, "by_theorem", lambda *_: Likeness())
    for scale in ("ue4m3/2", "e8m0/2"):
        base = resolve(CHAIN + scale)
        with pytest.raises(Stop):
            Sameness(base, 4, seconds=150).by_solvers(resolve(f"{CHAIN}{scale},conversion=RZ-FP32"))
    assert limits == [certify._LEAST, 10.0]


def test_no_proof_is_tried_of_values_of_sums_of_which_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Inputs may tell such a value from the design, theorems and solvers are not asked."""
    base, sums, value = (resolve(f"{CHAIN}e8m0/2{x}") for x in ("", ",zero_sign=sum", ",conversion=RZ-FP32"))
    family: Any = object()
    none = np.zeros((1, 0), np.int16)
    rows = [
        certify._OtherValue(family, none, certify._STRUCTURE, sums.name, sums.name),
        certify._OtherValue(family, none, "conversion", "RZ-FP32", value.name),
    ]
    asked_of: list[tuple[str, str]] = []

    class Noting(Sameness):
        """Knows nothing, and notes what it is asked."""

        def quickly(self, other: UnitSpec) -> Likeness:
            """Nothing."""
            asked_of.append(("quickly", other.name))
            return Likeness()

        def by_solvers(self, other: UnitSpec) -> Likeness:
            """Nothing."""
            asked_of.append(("solvers", other.name))
            return Likeness()

        def by_inputs(self, other: UnitSpec) -> Likeness:
            """Nothing."""
            asked_of.append(("inputs", other.name))
            return Likeness()

    def outcomes(values: Any, *_: object) -> dict[str, AxisOutcome]:
        return {x.name: x.outcome(Settled.UNDECIDED) for x in values}

    monkeypatch.setattr(certify, "_values", lambda *_: rows)
    monkeypatch.setattr(certify, "_outcomes", outcomes)
    asker = asked(base.name, "e8m0")
    search = Search(asker.spec, asker.k, asker.ask, alive=[family])
    certify.certified(search, base, asker, Noting(base, 4), lambda _: None)
    assert asked_of == [("quickly", sums.name), ("inputs", value.name), ("solvers", sums.name)]
