"""An identification whose last comparison refutes what it found begins again, and not without end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import CallableDevice
from tcformal.identification.asker import Asker
from tcformal.identification.conclusions import MOST_BEGUN
from tcformal.identification.identification import Identification, IdentifyVerdict, to_record
from tcformal.identification.identify import Identifying
from tcformal.identification.rates import Rate
from tcformal.identification.validation import Misfit, Validated
from tcformal.identification.verified import verify_identification
from tcformal.simulation.matrix_unit import Unit, replay
from tcformal.simulation.operands.batch import batch as random_batch
from tcformal.simulation.operands.batch import batch_of, witness_at
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.store import Store

#: What is inside, and what seemed to be.
INSIDE, SEEMED = map(
    resolve, ("volta/mma.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32@fraction_bits=24")
)


class _Listed(Identifying):
    """Few candidates, and a note of what begins."""

    units: tuple[UnitSpec, ...] = ()
    starts: tuple[int, ...] = ()
    remembered: tuple[UnitSpec | None, ...] = ()

    def _candidates(self) -> list[UnitSpec]:
        return list(self.units)

    def whole(self) -> Identification:
        """How often it began before."""
        type(self).starts += (self.begun,)
        type(self).remembered += (self.nearly,)
        return self._made(IdentifyVerdict.OUTSIDE, "begun again")


def refuted(
    begun: int, *units: UnitSpec, words: tuple[int, int] | None = None
) -> tuple[_Listed, Identification | None]:
    """An identification that began so often, and what comes of a comparison that refuted its design.

    `words`: the results that are said to differ, in place of those that do.
    """
    model = Unit(INSIDE)
    asker = Asker(CallableDevice(model.dot_bits, "box"), INSIDE.operands, INSIDE.k)
    pool = random_batch(INSIDE, INSIDE.k, 400, 3)
    rows = np.flatnonzero(replay(INSIDE, pool) != replay(SEEMED, pool))
    w = witness_at(pool, int(rows[0]))
    given, designed = words or [int(replay(u, batch_of([w]))[0]) for u in (INSIDE, SEEMED)]
    made = _Listed(asker, 100, lambda _: None, begun=begun)
    made.units, made.search.space = units, 100
    made.validated = Validated(SEEMED, Rate(50, 100), (Misfit(w, given, (given,) * 4, designed),))
    return made, made._refuted_late(SEEMED)


def test_a_refuted_design_begins_the_search_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Listed, "starts", ())
    _, found = refuted(0, INSIDE)
    assert found is not None
    assert (found.reason, _Listed.starts) == ("begun again", (1,))


@pytest.mark.parametrize(
    ("words", "nearly"), [((1 << 31, 0), SEEMED), ((0, 0x7FC00000), None), ((0, 1), None), (None, None)]
)
def test_a_design_of_which_signs_of_zeros_alone_are_wrong_is_remembered(
    words: tuple[int, int] | None, nearly: UnitSpec | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Listed, "remembered", ())
    refuted(0, INSIDE, words=words)
    assert _Listed.remembered == (nearly,)


@pytest.mark.parametrize("nearly", [SEEMED, None])
def test_beside_such_a_design_no_sums_of_other_shapes_are_tried(
    nearly: UnitSpec | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Unit(INSIDE)
    made = Identifying(Asker(CallableDevice(model.dot_bits, "box"), INSIDE.operands, INSIDE.k), 0, print)
    made.nearly = nearly
    done: list[object] = []
    for name in (
        "_narrow_sums",
        "_listed",
        "_words_given",
        "_asked_again",
        "_narrow_operands",
        "_looks_like",
    ):
        monkeypatch.setattr(made, name, lambda: None)
    monkeypatch.setattr(made, "_nearby", done.append)
    monkeypatch.setattr(made, "_beside", lambda: done.append("beside"))
    monkeypatch.setattr(made, "_trees", lambda *, alone: done.append("trees"))
    monkeypatch.setattr(made, "_concluded", lambda: done.append("concluded"))
    monkeypatch.setattr("tcformal.identification.kinds.is_no_sum", lambda _: False)
    made._beyond_trees()
    assert done == ([1, 2, "concluded"] if nearly else [1, "beside", "trees", "concluded"])
    assert made.sure == (nearly is not None)
    if nearly is not None:
        assert made.broken["looks like"] == f"{SEEMED.name}, but for the signs of some zeros"


@pytest.mark.parametrize(
    ("units", "verdict"),
    [((SEEMED, INSIDE), IdentifyVerdict.REMAINING), ((SEEMED,), IdentifyVerdict.OUTSIDE)],
)
def test_it_does_not_begin_without_end(
    units: tuple[UnitSpec, ...], verdict: IdentifyVerdict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What gives all answers then is said to be left, and nothing is said to be compared."""
    monkeypatch.setattr(_Listed, "starts", ())
    _, found = refuted(MOST_BEGUN, *units)
    assert found is not None
    assert (found.verdict, _Listed.starts) == (verdict, ())
    assert found.classes == (((INSIDE.name,),) if INSIDE in units else ())
    assert found.validated is None
    assert "other inputs than these" in found.untested
    finding = verify_identification(to_record(found), Store(tmp_path))
    # That nothing fits is refused where a catalogued design does; what remains is not shown to be the same.
    wanted = AuditStatus.UNCHECKED if INSIDE in units else AuditStatus.FAILED
    assert finding.status is wanted, finding.reason
