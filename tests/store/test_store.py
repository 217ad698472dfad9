"""The store: what is served again is what was answered, and nothing unchecked is served."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kept import (
    COMPLEMENT,
    FOUR,
    FOUR_25,
    FOUR_BITS,
    LIMITS,
    SIGNS,
    THREE_BITS,
    ask,
    certified,
    proof_kept,
    reopened,
    rewrite,
    same,
    scaled,
    separated,
    trivial,
    unserved,
    unsettled,
    vacuous,
)
from sampled import only
from tcformal.design.names import resolve
from tcformal.errors import InputError, RecordError
from tcformal.query.assume import from_texts
from tcformal.query.engine import answer
from tcformal.query.options import SolveOptions
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import Kind
from tcformal.query.separate import separate
from tcformal.query.verdict import Verdict
from tcformal.simulation.matrix_unit import Unit
from tcformal.store.audit.audit import AuditStatus, audit, select
from tcformal.store.certificates import PROOF
from tcformal.store.lines import append, read
from tcformal.store.store import Store

#: For each line of its input, starts a process that adds one proved answer over and over, and says so
#: after each: the imports are paid for once.
WRITER = """
import os, sys
from dataclasses import replace
from pathlib import Path
from kept import trivial
from tcformal.store.store import Store
store, verdict = Store(Path(sys.argv[1])), trivial()
for name in sys.stdin:
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
        for i in range(10**6):
            store.add(replace(verdict, seconds=float(i), reason=f"{name.strip()}-{i}." + "x" * 40_000))
            print(i, flush=True)
    os.waitpid(child, 0)
    print("over", flush=True)
"""

MADE = [separated, scaled, same, trivial, certified, vacuous]


def without_mark(v: Verdict[EqualityQuestion]) -> dict[str, Any]:
    """A verdict as data, but for the remark that it was served."""
    return {key: x for key, x in v.to_json().items() if key not in ("served", "answered")}


# ---------------------------------------------------------------------- serving
@pytest.mark.parametrize("made", only([separated, certified], MADE))
def test_a_served_answer_is_the_answer(
    store: Store, told: list[str], made: Callable[[], Verdict[EqualityQuestion]]
) -> None:
    v = made()
    record = store.add(v)
    for here in (store, reopened(store)[0]):
        q = ask(*v.question.names, *v.question.assumptions.spellings())
        proved = v.witness is not None or v.certificate is not None
        for certify in (None, True, *(() if proved else (False,))):
            # That two solvers agreed cannot be checked again.
            assert unserved(here.find(q, certify=certify)) is not proved
        again = here.find(q)
        assert again is not None
        if not proved:
            assert again.reason == f"kept as {v.kind.name} on {record['date'][:10]}, not checked"
            continue
        assert without_mark(again) == without_mark(v)
        assert again.served == record["date"]
        assert again.to_json()["served"] is True
        assert v.to_json()["served"] is False
        for key in ("witness", "found", "results", "answers", "certificate", "seconds", "limits", "version"):
            assert getattr(again, key) == getattr(v, key)
    assert told == []


def test_a_solvers_answer_is_served(store: Store) -> None:
    """From the solvers to the file and back."""
    for first, second in ((FOUR, FOUR_25), (THREE_BITS, FOUR_BITS)):
        fresh = answer(ask(first, second), SolveOptions(limits=replace(LIMITS, time_s=300.0), certify=True))
        store.add(fresh)
        again = store.find(ask(first, second))
        assert again is not None
        assert without_mark(again) == without_mark(fresh)


def _named(theorems: list[str], record: dict[str, Any]) -> None:
    record["theorems"] = theorems


WIDTHS = "tfdpa@products=2,a_format=e4m3,b_format=e4m3,fraction_bits="


@pytest.mark.parametrize(
    ("equal", "assumed"),
    [
        ((f"{FOUR_25},carry_bits=5", f"{FOUR_25},carry_bits=7"), ()),
        ((f"{WIDTHS}34", f"{WIDTHS}60"), ("c=0",)),
    ],
)
def test_theorems_by_which_units_are_equal_are_kept_and_applied_again(
    store: Store, equal: tuple[str, str], assumed: tuple[str, ...]
) -> None:
    what = from_texts(resolve(equal[0]).c_format, assumed)
    if assumed:
        assert separate(*equal, limits=LIMITS).kind is Kind.SEPARATED
    fresh = separate(*equal, assumptions=what, limits=LIMITS, store=store)
    assert fresh.theorems is not None
    assert fresh.kind is Kind.EQUIVALENT
    again = store.find(ask(*equal, *assumed))
    assert again is not None
    assert again.theorems == fresh.theorems
    (entry,) = store.records()
    found = audit(store, entry)
    assert (found.status, found.reason) == (AuditStatus.HOLDS, fresh.reason)
    for named in ([], ["zero_exponent_idle"]):
        rewrite(store.path, partial(_named, named))
        assert Store(store.folder).find(ask(*equal, *assumed)) is None


def test_that_assumptions_can_hold_is_kept_as_evidence(store: Store) -> None:
    """An EQUIVALENT under assumptions comes with inputs that obey them; no other verdict does."""
    fresh = answer(
        ask(SIGNS, COMPLEMENT, "c=0"), SolveOptions(limits=replace(LIMITS, time_s=300.0), certify=True)
    )
    assert fresh.kind is Kind.EQUIVALENT
    assert fresh.allowed is not None
    record = store.add(fresh)
    assert record["allowed"]["c"]["value"] == "0"
    again = store.find(ask(SIGNS, COMPLEMENT, "c=0"))
    assert again is not None
    assert (again.allowed, again.checked) == (fresh.allowed, True)
    assert store.add(separated())["allowed"] is None
    assert store.add(vacuous())["allowed"] is None


@pytest.mark.parametrize("kind", [Kind.TIMEOUT, Kind.UNKNOWN, Kind.ERROR])
def test_no_answer_is_kept_but_asked_again(store: Store, told: list[str], kind: Kind) -> None:
    v = unsettled(kind)
    store.add(v)
    assert [e.record["verdict"] for e in store.records()] == [kind.name]
    assert store.find(v.question) is None
    assert told == []


def test_later_lines_supersede(store: Store) -> None:
    q = separated().question
    store.add(unsettled())
    store.add(replace(separated(), seconds=1.0))
    store.add(replace(separated(), seconds=2.0))
    found = store.find(q)
    assert found is not None
    assert found.seconds == 2.0
    assert len(store.records()) == 1
    assert len(store.path.read_text().splitlines()) == 3
    store.add(unsettled())
    assert store.find(q) is None


def test_an_answer_of_another_process_is_seen(store: Store) -> None:
    v = separated()
    assert store.find(v.question) is None
    reopened(store)[0].add(v)
    assert store.find(v.question) is not None
    shutil.rmtree(store.folder)
    assert store.find(v.question) is None
    store.add(v)
    assert store.find(v.question) is not None


def test_other_questions_are_not_served(store: Store) -> None:
    store.add(separated())
    assert store.find(ask(FOUR, FOUR_25, "finite")) is None
    assert store.find(ask(FOUR_25, FOUR)) is None
    assert store.find(ask(FOUR, "tfdpa@products=4,fraction_bits=26")) is None


def test_units_of_one_definition_share_an_answer(store: Store) -> None:
    """The pair asked for is named, and gets a line of its own when the answer is kept."""
    store.add(separated())
    q = ask("tfdpa@products=4,fraction_bits=24", FOUR_25)
    assert not store.has(q)
    found = store.find(q)
    assert found is not None
    assert found.question.names == q.names
    assert found.witness == separated().witness
    date = store.add(found)["date"]
    assert store.has(q)
    assert date == found.served
    assert len(store.records()) == 2


def test_formats_of_another_width_share_nothing(store: Store) -> None:
    """All equal pairs without assumptions build one definition; k and formats still tell them apart."""
    store.add(same())
    other = ask("ampere/mma.m16n8k16.f32.f16.f16.f32", "ampere/mma.m16n8k16.f32.f16.f16.f32")
    assert other.digest() == same().question.digest()
    assert store.find(other) is None


@pytest.mark.slow
def test_a_wish_for_a_certificate_is_heard(store: Store) -> None:
    store.add(same())
    store.add(certified())
    q, proved = same().question, certified().question
    assert store.find(proved, certify=False) is None
    assert all(unserved(store.find(q, certify=wish)) for wish in (None, True, False))
    assert store.find(proved, certify=True) is not None
    store.add(separated())
    assert store.find(separated().question, certify=True) is not None


def test_a_unit_that_its_name_does_not_give_back_rejects(store: Store) -> None:
    v = separated()
    other = replace(resolve(FOUR_25), name=FOUR)
    strange = replace(v, question=replace(v.question, second=other))
    with pytest.raises(RecordError, match=r"^expected a unit that its name gives back, but got 'tfdpa@"):
        store.add(strange)
    nameless = replace(v, question=replace(v.question, second=replace(other, name="mine")))
    with pytest.raises(RecordError, match=r"^expected a unit that its name gives back, but got 'mine'$"):
        store.add(nameless)
    assert not store.folder.exists()


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["finite", "nonzero"],
        ["exponents=-14..15"],
        ["c=0x3c000000", "positive"],
        ["c=-0", "normal"],
        ["factors=subnormal", "products=outside-fp16", "sum=inside-bf16"],
    ],
)
def test_assumptions_are_spelled_as_they_are_read(texts: list[str]) -> None:
    fmt = Unit(resolve(FOUR)).c_format
    what = from_texts(fmt, texts)
    assert from_texts(fmt, what.spellings()) == what


# ---------------------------------------------------------------------- files
def test_lines_that_hold_no_answer_are_told_and_passed_over(store: Store) -> None:
    store.add(separated())
    with store.path.open("a") as stream:
        stream.write('nonsense\n{"question": 1}\n{"question": {"k": 1e999, "formats": 1, "assumptions": 1,'
                     ' "sha256": []}}\n{"unit": "x"}\n{"torn')  # fmt: skip
    here, told = reopened(store)
    assert here.find(separated().question) is not None
    assert len(here.records()) == 1
    assert len(here.broken()) == 4
    assert len(told) == 5
    assert told[-1].endswith("left by a writer that was stopped")
    here.add(same())
    assert len(here.records()) == 2
    assert here.find(same().question, certify=False) is not None


def test_a_certificate_is_in_place_before_its_line(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop_at(name: str) -> Callable[[Path, Any, Any], None]:
        def stop(path: Path, *rest: Any) -> None:
            if path.name == name:
                raise RecordError("no room")
            append(path, *rest)

        return stop

    monkeypatch.setattr("tcformal.store.file.append", stop_at(store.path.name))
    with pytest.raises(RecordError):
        store.add(certified())
    assert proof_kept(store.folder) == getattr(certified().certificate, "proof", None)
    assert store.records() == []
    monkeypatch.undo()
    monkeypatch.setattr("tcformal.store.file.append", stop_at(PROOF.file))
    with pytest.raises(RecordError):
        store.add(vacuous())
    assert not store.path.exists()


@pytest.mark.slow
def test_writers_killed_at_any_moment_leave_whole_answers(store: Store) -> None:
    """Every answer that was acknowledged is there, and what is served is whole."""
    moments = random.Random(7)
    words = [sys.executable, "-c", WRITER, str(store.folder)]
    path = ":".join(p for p in sys.path if p)
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": path}
    ) as starter:
        assert starter.stdin is not None
        assert starter.stdout is not None
        for number in range(8):
            print(number, file=starter.stdin, flush=True)
            child = int(starter.stdout.readline())
            acknowledged = [starter.stdout.readline()]
            time.sleep(moments.uniform(0, 0.03))
            os.kill(child, signal.SIGKILL)
            while (heard := starter.stdout.readline()) != "over\n":
                acknowledged.append(heard)
            mine = [line.data["reason"].partition(".")[0] for line in read(store.path) if line.data]
            mine = [reason for reason in mine if reason.startswith(f"{number}-")]
            assert mine == [f"{number}-{i}" for i in range(len(mine))]
            assert len(mine) in (len(acknowledged), len(acknowledged) + 1)
            found = reopened(store)[0].find(same().question, certify=True)
            assert found is not None
            assert found.seconds == len(mine) - 1
            assert found.checked
        starter.stdin.close()
    assert audit(store, store.records()[0]).status is AuditStatus.HOLDS
    assert store.broken() == []


def test_a_record_is_named_by_the_start_of_its_id(store: Store) -> None:
    for made in (separated, same, certified, vacuous):
        store.add(made())
    entries = store.records()
    assert select(entries, ()) == entries
    assert select(entries, (entries[2].id[:12], entries[0].digest[:8].upper())) == [entries[0], entries[2]]
    for start in ("", "xyz"):
        with pytest.raises(InputError, match=r"^expected the start of a record's id, but got "):
            select(entries, (start,))
