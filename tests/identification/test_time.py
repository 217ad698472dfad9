"""The time of an identification: long steps ask whether it is over, and what was not looked at is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from small_identify import ListedOnly
from tcformal.design.axes import neighbours
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import CallableDevice
from tcformal.identification import asker as asker_module
from tcformal.identification import conclusions as module
from tcformal.identification import survivors as survivors_module
from tcformal.identification.asker import Asker
from tcformal.identification.certify import Sameness, certified, settled_designs
from tcformal.identification.identification import IdentifyVerdict, Settled, to_record
from tcformal.identification.identify import identified
from tcformal.identification.survivors import ListedFamily, Search, Survivors, next_inputs
from tcformal.identification.verified import verify_identification
from tcformal.report.identified import identification_view
from tcformal.simulation.matrix_unit import Unit, replay
from tcformal.simulation.operands.batch import Batch
from tcformal.simulation.operands.inputs import pool_of
from tcformal.simulation.structures import Family
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.store import Store

FEW = resolve("hopper/mma.m8n8k4.f64.f64.f64.f64")
VOLTA = resolve("volta/mma.m8n8k4.f32.f16.f16.f32")


def asked(unit: UnitSpec) -> Asker:
    model = Unit(unit)
    return Asker(CallableDevice(model.dot_bits, "box"), unit.operands, unit.k)


def after(calls: int) -> Callable[[], bool]:
    """A time that is over when it was asked for so often."""
    left = [calls]

    def over() -> bool:
        left[0] -= 1
        return left[0] < 0

    return over


def listed(over: Callable[[], bool]) -> Survivors:
    """The neighbours of a design, and itself the last."""
    return Survivors(ListedFamily([*[*neighbours(VOLTA)][:30], VOLTA]), np.random.default_rng(0), over=over)


@pytest.mark.parametrize("parts", [0, 1])
def test_designs_that_were_not_evaluated_in_time_are_kept(parts: int) -> None:
    pool = pool_of(VOLTA, 4, 60, 1)
    answers = replay(VOLTA, pool)
    survivors, whole = listed(after(parts)), listed(lambda: False)
    count = survivors.count
    survivors.take(pool, answers)
    whole.take(pool, answers)
    assert whole.count < count - survivors_module._EACH * (1 - parts)
    assert survivors.count >= count - survivors_module._EACH * parts
    assert bool(survivors.count < count) is bool(parts)
    # What may refute the others waits.
    assert survivors.open
    assert not whole.open
    survivors.over = lambda: False
    survivors.settle()
    assert (survivors.count, survivors.open) == (whole.count, [])


def test_inputs_are_chosen_by_few_designs_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    outputs = ListedFamily.outputs

    def counted(self: ListedFamily, designs: Any, batch: Batch) -> Any:
        seen.append(len(designs))
        return outputs(self, designs, batch)

    monkeypatch.setattr(ListedFamily, "outputs", counted)
    pool = pool_of(VOLTA, 4, 60, 1)
    assert next_inputs([listed(lambda: False)], pool, 4)
    assert sum(seen) > survivors_module._EACH
    seen.clear()
    next_inputs([listed(lambda: False)], pool, 4, after(1))
    assert sum(seen) <= survivors_module._EACH


@pytest.mark.parametrize("over", [True, False])
def test_values_that_were_not_looked_at_in_time_are_undecided(over: bool) -> None:
    """No value is called refuted or proved, and the device is asked nothing."""
    asker = asked(VOLTA)
    asker.ask(pool_of(VOLTA, 4, 40, 1))
    probes = asker.probes
    search = Search(VOLTA, 4, asker.ask, alive=[listed(lambda: False)])
    same = Sameness(VOLTA, 4, seconds=0, over=lambda: over)
    others = [*neighbours(VOLTA)][:2]
    axes = certified(search, VOLTA, asker, same, lambda _: None)
    more = settled_designs(others, [], asker, same)
    assert len(axes) == search.count - 1
    assert len(more) == len(others)
    assert ({x.settled for x in (*axes, *more)} == {Settled.UNTRIED}) is over
    assert (asker.probes == probes) is over


@pytest.mark.slow
def test_a_design_whose_values_are_open_when_the_time_ends_is_not_called_the_only_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is left is said by axis; without a limit the same device is identified."""
    clock = [0.0]
    for x in (module, asker_module):
        monkeypatch.setattr(x, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    quickly = Sameness.quickly

    def slow(self: Sameness, other: UnitSpec) -> Any:
        clock[0] += 40
        return quickly(self, other)

    monkeypatch.setattr(Sameness, "quickly", slow)
    made = ListedOnly(asked(FEW), 100, lambda _: None, 50).whole()
    assert made.verdict is IdentifyVerdict.REMAINING, made.reason
    open_ = [x for x in made.axes if x.settled is Settled.UNTRIED]
    assert open_
    assert "the time ended" in made.reason
    assert all(x.axis in made.reason for x in open_)
    assert f"undecided: {open_[0].axis} = " in str(identification_view(made)[0])
    finding = verify_identification(to_record(made), Store(tmp_path))
    assert finding.status is not AuditStatus.FAILED, finding.reason
    monkeypatch.setattr(Sameness, "quickly", quickly)
    whole = ListedOnly(asked(FEW), 100, lambda _: None, 50).whole()
    assert whole.verdict is IdentifyVerdict.IDENTIFIED, whole.reason


@pytest.mark.slow
@pytest.mark.parametrize("name", ["volta/mma.m8n8k4.f32.f16.f16.f32", "et-soc-1/TensorFMA32"])
def test_a_limit_holds_for_the_whole_search(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes by work: a second is one evaluation of designs or of a unit."""
    clock = [0.0]
    for x in (module, asker_module):
        monkeypatch.setattr(x, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def ticking(of: Any, named: str) -> None:
        plain = getattr(of, named)

        def ticks(*args: Any, **more: Any) -> Any:
            clock[0] += 1
            return plain(*args, **more)

        monkeypatch.setattr(of, named, ticks)

    ticking(Unit, "dot_bits")
    ticking(Family, "outputs")
    ticking(Family, "known")
    unit = resolve(name)
    for seconds in (40, 120, 250):
        clock[0] = 0.0
        identified(asked(unit), vectors=100, seconds=seconds)
        assert clock[0] <= seconds + 40, (seconds, clock)
