"""Evidence checked in another process: what holds, what is refused, and what stays when time is up."""

from __future__ import annotations

import contextlib
import lzma
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from solve.stub_members import sum_question
from tcformal.backends.cnf import to_cnf
from tcformal.design.names import resolve
from tcformal.errors import CertificateError
from tcformal.ir.walk import to_json
from tcformal.semantics.chain import staged_circuit
from tcformal.solve import drat
from tcformal.solve.certificate import Certificate, certify, unpack
from tcformal.solve.result import Limits
from tcformal.solve.sat import run_glucose
from tcformal.store.audit import recheck
from tcformal.store.audit.recheck import CheckBench, DeadlineError, deadline
from tcformal.store.certificates import CertificateFile, certificate_record
from tcformal.store.rechecker import Rechecker

LIMITS = Limits(120.0, 8192, 0)
LONG_S = 120.0
UNIT = "valpey@terms=3"


@pytest.fixture(scope="module")
def made() -> Certificate:
    """A certificate of several hundred steps."""
    question = sum_question()
    return certify(to_cnf(*question), run_glucose(*question, LIMITS).proof, "glucose")


@pytest.fixture(scope="module")
def checker() -> Iterator[Rechecker]:
    """A checking process, which one test after the other asks."""
    checker = Rechecker()
    yield checker
    checker.close()


def checked(
    checker: Rechecker, folder: Path, made: Certificate, *, seconds: float = LONG_S
) -> dict[str, Any]:
    """What the process finds of a certificate of the question that sums are commutative."""
    graph, assertion = sum_question()
    CertificateFile(folder).keep(made)
    dag = to_json(graph, {"assertion": assertion})
    return checker.proof(dag, folder, certificate_record(made), seconds)


def test_a_certificate_holds(made: Certificate, checker: Rechecker, tmp_path: Path) -> None:
    found = checked(checker, tmp_path, made)
    assert found == {"steps": made.steps, "checker": made.checker}
    assert made.steps > 5


def test_a_relative_folder_is_one_of_the_present_working_directory(
    made: Certificate, checker: Rechecker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the process was started in another one."""
    for place in ("first", "second"):
        (tmp_path / place).mkdir()
        monkeypatch.chdir(tmp_path / place)
        assert checked(checker, Path(f"results-{place}"), made)["steps"] == made.steps


def test_a_certificate_of_other_clauses_is_refused(
    made: Certificate, checker: Rechecker, tmp_path: Path
) -> None:
    graph, assertion = sum_question()
    CertificateFile(tmp_path).keep(made)
    dag = to_json(graph, {"assertion": graph.not_(assertion)})
    found = checker.proof(dag, tmp_path, certificate_record(made), LONG_S)
    assert found["refused"].startswith("expected a certificate of the clauses ")


@pytest.mark.parametrize("proof", [b"not a proof at all", b"", drat.pack([("a", (0,))]), drat.pack([])])
def test_what_is_no_proof_is_refused(
    made: Certificate, checker: Rechecker, tmp_path: Path, proof: bytes
) -> None:
    found = checked(checker, tmp_path, replace(made, proof=proof))
    assert found["refused"].startswith(("expected one whole packed proof", "expected a proof of "))


def bomb(megabytes: int) -> bytes:
    """A small file of a great many steps: each adds the clause of variable 1."""
    packer = lzma.LZMACompressor(preset=0)
    block = b"a\x02\x00" * (1 << 20)
    return b"".join(packer.compress(block[: 1 << 20]) for _ in range(megabytes)) + packer.flush()


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_all_of_the_memory_is_refused(
    made: Certificate, checker: Rechecker, tmp_path: Path
) -> None:
    """300 MB in some 46 kB, here and there."""
    proof = bomb(300)
    assert len(proof) < 50_000
    with pytest.raises(
        CertificateError, match=rf"its {len(proof)} bytes unpack to more than {drat.most(proof)}$"
    ):
        unpack(proof)
    assert "unpack to more than" in checked(checker, tmp_path, replace(made, proof=proof))["refused"]


def test_a_proof_that_could_not_be_read_back_is_not_kept() -> None:
    with pytest.raises(ValueError, match=r"^it has 3000000 bytes, of which \d+ could be read back$"):
        drat.pack([("a", (0,))] * 1_000_000)


def test_the_process_outlives_a_late_request(made: Certificate, checker: Rechecker, tmp_path: Path) -> None:
    assert "steps" in checked(checker, tmp_path, made)
    assert checker._process is not None
    pid = checker._process.pid
    assert checked(checker, tmp_path, made, seconds=0.0) == {"late": True}
    assert checked(checker, tmp_path, made)["steps"] == made.steps
    assert checker._process.pid == pid


@pytest.mark.parametrize("line", ["", "[]", "{}", "nonsense"])
def test_a_checker_that_gives_no_answer_is_late(
    made: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr("tcformal.store.rechecker._MODULE", "silent_checker")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    monkeypatch.setenv("CHECKER_SAYS", line)
    with contextlib.closing(Rechecker()) as silent:
        assert checked(silent, tmp_path, made) == {"late": True}


def test_a_deadline_ends_what_is_at_work_and_nothing_else() -> None:
    def spin() -> None:
        with deadline(0.01):
            while True:
                pass

    with pytest.raises(DeadlineError):
        spin()
    with deadline(LONG_S):
        pass


def test_a_deadline_counts_the_work_of_the_processor_alone() -> None:
    """What others do on the machine meanwhile makes no check late."""
    with deadline(0.1):
        time.sleep(0.2)


def test_an_alarm_that_is_lost_rings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a finalizer raises is ignored, an alarm's error too."""

    class Slow:
        def __del__(self) -> None:
            end = time.process_time() + 0.1
            while time.process_time() < end:
                pass

    monkeypatch.setattr(recheck, "_AGAIN_S", 0.05)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)

    def work() -> None:
        with recheck.deadline(0.02):
            Slow()
            while time.monotonic() < end:
                pass

    end = time.monotonic() + 20
    with pytest.raises(recheck.DeadlineError):
        work()
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_an_alarm_that_rings_at_once_is_put_off_again() -> None:
    for _ in range(50):
        with contextlib.suppress(recheck.DeadlineError), recheck.deadline(0.0):
            end = time.process_time() + 0.01
            while time.process_time() < end:
                pass
        assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


@pytest.mark.slow
def test_what_was_cut_off_is_not_cached(tmp_path: Path) -> None:
    """A circuit that is at work when time is up may lack nodes: it is built anew."""
    unit = resolve(UNIT)
    before = staged_circuit(unit, unit.k)
    assert staged_circuit(unit, unit.k) is before
    bench = CheckBench()
    bench.tidy()
    assert staged_circuit(unit, unit.k) is before
    assert bench.answer({"dag": "", "certificate": {}, "folder": str(tmp_path), "seconds": 0.0}) == {
        "late": True
    }
    bench.tidy()
    assert staged_circuit(unit, unit.k) is not before
