"""Whole identifications: designs that are found again with no unit named, and devices that are none."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from small_identify import ListedOnly
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import CallableDevice
from tcformal.identification import conclusions
from tcformal.identification import identify as module
from tcformal.identification.asker import Asker
from tcformal.identification.identification import Identification, IdentifyVerdict, Settled, to_record
from tcformal.identification.identify import Identifying, identified
from tcformal.identification.operand_questions import first_sums, invalid_operations
from tcformal.identification.survivors import Search
from tcformal.identification.verified import verify_identification
from tcformal.semantics.chain import same_definition
from tcformal.simulation.matrix_unit import Unit, replay
from tcformal.simulation.operands.batch import Raw
from tcformal.simulation.operands.batch import batch as random_batch
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.store import Store

SCALED = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.ue8m0"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
#: Boxes of few products: each is found by default; those of many by the long run.
FEW = "hopper/mma.m8n8k4.f64.f64.f64.f64"
MANY = (
    VOLTA,
    "tfdpa@products=4,fraction_bits=27,conversion=RNE-FP32,zero_exponent=none",
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "ampere/mma.m16n8k16.f32.bf16.bf16.f32",
    "cdna2/v_mfma_f32_32x32x8f16",
    "cdna3/v_mfma_f32_32x32x8_f16",
    "tfdpa@products=12,fraction_bits=24,zero_exponent=none",
    "tree@steps=p(q(0..7)+q(8..15)+c),q.fraction_bits=24,q.conversion=RZ-FP32,p.fraction_bits=exact",
    "muladd@k=4,c_format=fp16,d_format=fp16",
    SCALED,
)


def asked(unit: UnitSpec, path: Path | None = None) -> Asker:
    """A function that computes what a unit computes, and says nothing of it."""
    model = Unit(unit)
    device = CallableDevice(lambda *operands: model.dot_bits(*operands), "box")
    return Asker(device, unit.operands, unit.k, unit.scale_format, unit.scale_block, path=path)


def found(name: str) -> Identification:
    return identified(asked(resolve(name)), vectors=3000)


def check(name: str, made: Identification, tmp_path: Path) -> None:
    unit = resolve(name)
    assert made.verdict is IdentifyVerdict.IDENTIFIED, made.reason
    assert made.probes - 45 <= 300
    assert made.batches <= 12
    one = resolve(made.classes[0][0])
    batch, answers = made.history
    assert (replay(one, batch) == answers).all()
    assert not any(x.settled is Settled.UNDECIDED for x in made.axes)
    # Neighbours of the unit are refuted, or proved to be the same.
    assert {x.settled for x in made.axes} >= {Settled.REFUTED}
    assert unit.operands == one.operands
    finding = verify_identification(to_record(made), Store(tmp_path))
    assert finding.status is AuditStatus.HOLDS, finding.reason


@pytest.mark.slow
def test_a_unit_is_found_from_its_formats_alone(tmp_path: Path) -> None:
    check(FEW, found(FEW), tmp_path)


def test_a_catalogued_design_is_tried_with_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit that is none of the trees of its order: neighbours that are left give all answers."""
    identifying = Identifying(asked(resolve(SCALED)), 0, lambda _: None)
    monkeypatch.setattr(identifying, "_trees", lambda *, alone: None)
    near = resolve(f"{SCALED}@fraction_bits=24"), resolve(f"{SCALED}@carry_bits=9")
    monkeypatch.setattr(module, "neighbours", lambda unit: near)
    monkeypatch.setattr(module, "distinct_designs", lambda allow: [SCALED])
    monkeypatch.setattr(identifying, "_concluded", lambda: None)
    identifying.whole()
    (family,) = identifying.search.alive
    left = [family.family.name((i,)) for i in family.values(0)]
    assert left == [SCALED, f"{SCALED}@carry_bits=9"]
    batch, _ = identifying.asker.history
    assert batch.scale_a is not None
    assert identifying.listed


@pytest.mark.long
@pytest.mark.parametrize("name", MANY)
def test_every_box_is_found(name: str, tmp_path: Path) -> None:
    check(name, found(name), tmp_path)


class _Rounds(Search):
    """A search that is unsettled for two rounds more, or settles nothing."""

    rounds: int = 0
    idle: bool = False

    @property
    def unsettled(self) -> str:
        """As that of every search."""
        return "structures" if self.rounds < 2 or self.idle else ""

    def run(self, most_rounds: int = 12, pools: int = 1) -> bool:
        """One round, in which something is asked."""
        self.rounds += 1
        return not self.idle


@pytest.mark.parametrize(("idle", "rounds"), [(False, 2), (True, 1)])
def test_rounds_that_run_out_go_on(idle: bool, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first rounds leave is asked later, until a round asks nothing."""
    identifying = Identifying(asked(resolve(FEW)), 0, lambda _: None)
    search = identifying.search = _Rounds(identifying.spec, identifying.k, identifying.asker.ask)
    search.idle = idle
    ended: Any = object()
    monkeypatch.setattr(identifying, "_candidates", list)
    monkeypatch.setattr(identifying, "_asked_again", lambda: ended)
    assert identifying._concluded() is ended
    assert search.rounds == rounds


@pytest.mark.long
def test_few_rounds_at_first_end_in_the_same_class(monkeypatch: pytest.MonkeyPatch) -> None:
    for x in (module, conclusions):
        monkeypatch.setattr(x, "ROUNDS", 1)
    made = identified(asked(resolve(FEW)), vectors=0)
    assert made.verdict is IdentifyVerdict.IDENTIFIED, made.reason
    assert made.validated is None
    assert "other inputs than these" in made.untested


@pytest.mark.slow
def test_structures_that_were_not_looked_at_leave_designs(monkeypatch: pytest.MonkeyPatch) -> None:
    """However well one design fits: nothing is called unique while others wait."""
    for x in (module, conclusions):
        monkeypatch.setattr(x, "ROUNDS", 1)
    monkeypatch.setattr(Search, "run", lambda self, most, pools=1: self._run(1))
    made = identified(asked(resolve(FEW)), vectors=0)
    assert made.verdict is IdentifyVerdict.REMAINING
    assert re.search(
        r"but [1-9][0-9]* structures and [0-9]+ answers were not looked at to the end", made.reason
    )


@pytest.mark.slow
def test_a_device_that_is_no_sum_is_outside_the_space() -> None:
    unit = resolve(VOLTA)
    device = CallableDevice(lambda a, b, c: np.zeros(len(c), np.uint32), "zeros")
    made = identified(Asker(device, unit.operands, unit.k), vectors=100)
    assert made.verdict is IdentifyVerdict.CONSTANT


class _Small(Identifying):
    """The plain sums only, none of the stages that few devices have."""

    def _asked_again(self) -> None:
        """A device that is wrong every time says the same again."""

    def _beside(self) -> None:
        """Nothing near is tried."""


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "reason"), [(1, "gives all but 1 of"), (40, "no design of the space")])
def test_answers_are_set_aside_where_a_design_gives_all_others(
    wrong: int, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One input, or many, to which a device gives a wrong answer every time it is asked."""
    monkeypatch.setattr(module, "hypotheses", lambda *args, **more: ())
    monkeypatch.setattr(module, "neighbours", lambda unit: ())
    unit = resolve(FEW)
    model = Unit(unit)
    seen: dict[bytes, int] = {}

    def box(a: Raw, b: Raw, c: Raw) -> Raw:
        keys = [x.tobytes() + y.tobytes() + z.tobytes() for x, y, z in zip(a, b, c, strict=True)]
        numbers = [seen.setdefault(key, len(seen)) for key in keys]
        flipped = np.array([18 <= n < 18 + wrong for n in numbers])
        return model.dot_bits(a, b, c) ^ (flipped.astype(np.uint64) << np.uint64(20))

    made = _Small(Asker(CallableDevice(box, "box"), unit.operands, unit.k), 200, lambda _: None).whole()
    assert made.verdict is IdentifyVerdict.OUTSIDE, made.reason
    assert reason in made.reason
    finding = verify_identification(to_record(made), Store(tmp_path))
    assert finding.status is AuditStatus.UNCHECKED, finding.reason
    assert finding.reason.endswith("what was measured of the order follows from no design")


#: An identification whose device notes what it is asked, and ends the process in one of its calls.
KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from test_boxes import FEW, identified, resolve
from tcformal.identification.asker import Asker
from tcformal.simulation.matrix_unit import Unit
from tcformal.devices.registry import CallableDevice
unit, calls = resolve(FEW), []
def box(a, b, c):
    with open({log!r}, "a") as file:
        for x, y, z in zip(a.tolist(), b.tolist(), c.tolist()):
            file.write(f"{{len(calls)}} {{(*x, *y, z)}}\\n")
    calls.append(len(c))
    if len(calls) == {at}:
        os._exit(9)
    return Unit(unit).dot_bits(a, b, c) ^ {lie}
found = identified(Asker(CallableDevice(box, "box"), unit.operands, unit.k, path=Path({path!r})), vectors=500)
print(found.verdict.value)
"""


def run_killed(folder: Path, at: int, lie: int = 0) -> tuple[int, list[str], list[tuple[int, str]]]:
    """One run that ends in its call `at`: how it ended, its last line, and every input with its call."""
    log = folder / "asked.txt"
    log.write_text("")
    text = KILLED.format(
        folder=str(Path(__file__).parent), log=str(log), path=str(folder / "answers.jsonl"), at=at, lie=lie
    )
    done = subprocess.run([sys.executable, "-c", text], check=False, capture_output=True, text=True)
    asked = [line.split(" ", 1) for line in log.read_text().splitlines()]
    said = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode, said[-1:], [(int(n), x) for n, x in asked]


@pytest.mark.long
def test_a_whole_run_that_is_killed_again_and_again_goes_on(tmp_path: Path) -> None:
    """What is on the disk is asked again in the first call only, a few inputs; a lie is noticed."""
    known: set[str] = set()
    for at in (2, 4, 3):
        code, _, asked = run_killed(tmp_path, at)
        assert code == 9
        again = [call for call, x in asked if x in known]
        assert set(again) <= {0}
        assert len(again) <= 32
        # The call in which the process ended has not been answered.
        known |= {x for call, x in asked if call < at - 1}
    code, last, _ = run_killed(tmp_path, 0, lie=1)
    assert code == 1
    assert "to answer as before" in last[0]
    code, last, asked = run_killed(tmp_path, 0)
    assert (code, last) == (0, ["IDENTIFIED"])
    # Some of the inputs drawn for the comparison, 500 in one call, are such as are asked before.
    sizes = Counter(call for call, _ in asked)
    assert {call for call, x in asked if x in known and sizes[call] != 500} <= {0}


def wrong_once(unit: UnitSpec, call: int, row: int, bit: int = 40) -> CallableDevice:
    """A model whose answer to one input of one call, from 0 on, has a wrong bit."""
    model, count = Unit(unit), itertools.count()

    def device(a: Raw, b: Raw, c: Raw) -> Raw:
        d = model.dot_bits(a, b, c)
        if next(count) == call:
            d[row] ^= d.dtype.type(1 << bit)
        return d

    return CallableDevice(device, "box")


SUMS = len(first_sums(resolve(FEW), 4).c)
NANS = SUMS + len(invalid_operations(resolve(FEW), 4).c)


@pytest.mark.parametrize(
    ("call", "row"),
    [
        pytest.param(0, -1, marks=pytest.mark.long),
        pytest.param(1, SUMS - 1, marks=pytest.mark.long),
        pytest.param(1, NANS - 1, marks=pytest.mark.slow),
    ],
)
def test_a_wrong_answer_does_not_refute_the_design(call: int, row: int) -> None:
    """During the repeated look, for the layout, or to NaNs: what does not come again is a fault."""
    unit = resolve(FEW)
    asker = Asker(wrong_once(unit, call, row), unit.operands, unit.k)
    made = identified(asker, vectors=500)
    assert made.verdict is IdentifyVerdict.FAULTY, made.reason
    assert "came once only" in made.reason
    assert not asker.aside
    assert same_definition(resolve(made.classes[0][0]), unit, unit.k)


@pytest.mark.slow
def test_a_wrong_answer_does_not_refute_a_tree_that_is_not_catalogued() -> None:
    """It comes before what devices outside look like, for which every input is asked again."""
    formats = "a_format=fp16,b_format=fp16,c_format=fp32,d_format=fp32"
    unit = resolve(f"tree@steps=((0+1)+(2+3)+c),fraction_bits=21,conversion=RZ-FP32,{formats}")
    made = identified(Asker(wrong_once(unit, 1, 3, 21), unit.operands, 4), vectors=100, seconds=60)
    assert made.verdict is IdentifyVerdict.FAULTY, made.reason
    assert made.classes[0][0].startswith("tree@")


def test_a_class_has_no_design_that_a_later_answer_refutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Certifying asks more; a design that gave all answers until then leaves the class, and is refuted."""
    unit = resolve(VOLTA)
    near = f"{VOLTA}@zero_sign=ieee"

    class Near(ListedOnly):
        def _candidates(self) -> list[UnitSpec]:
            # Zero results are not asked for until then.
            return [unit, resolve(near)]

    monkeypatch.setattr(conclusions, "certified", lambda *_: [])
    asker = asked(unit)
    asker.ask(random_batch(unit, 4, 50, 3))
    made = Near(asker, 0, lambda _: None)._concluded()
    assert made.classes == ((VOLTA,),)
    assert [(x.axis, x.value, x.settled) for x in made.axes] == [("design", near, Settled.REFUTED)]
