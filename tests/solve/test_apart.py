"""Kept certificates checked in a process of their own, and files made to fill the memory of their readers."""

from __future__ import annotations

import lzma
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from solve.stub_members import sum_question
from tcformal.interp.cnf import to_cnf
from tcformal.solve import drat
from tcformal.solve.certificate import Certificate, CertificateError, UncheckedError, certify, unpack
from tcformal.solve.processes import isolated
from tcformal.solve.processes.isolated import verify_isolated
from tcformal.solve.processes.process import Child
from tcformal.solve.result import Limits
from tcformal.solve.sat import run_glucose

LIMITS = Limits(60.0, 4096, 0)


@pytest.fixture(scope="module")
def made() -> Certificate:
    """A certificate of several hundred steps."""
    question = sum_question()
    return certify(to_cnf(*question), run_glucose(*question, LIMITS).proof, "glucose")


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def bomb(megabytes: int) -> bytes:
    """A small file of a great many steps: each adds the clause of variable 1."""
    packer = lzma.LZMACompressor(preset=6)
    block = b"a\x02\x00" * (1 << 20)
    return b"".join(packer.compress(block[: 1 << 20]) for _ in range(megabytes)) + packer.flush()


def test_a_certificate_holds_apart(made: Certificate, tmp_path: Path) -> None:
    assert verify_isolated(*sum_question(), made, LIMITS) == made.steps > 5
    assert list(tmp_path.iterdir()) == []


def test_a_certificate_of_other_clauses_is_refused(made: Certificate, tmp_path: Path) -> None:
    graph, assertion = sum_question()
    with pytest.raises(CertificateError, match=r"^expected a certificate of the clauses "):
        verify_isolated(graph, graph.not_(assertion), made, LIMITS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("proof", [b"not a proof at all", b"", drat.pack([("a", (0,))]), drat.pack([])])
def test_what_is_no_proof_is_refused(made: Certificate, proof: bytes) -> None:
    with pytest.raises(
        CertificateError, match=r"^expected (one whole packed proof|a proof of every step)"
    ) as caught:
        verify_isolated(*sum_question(), replace(made, proof=proof), LIMITS)
    assert not isinstance(caught.value, UncheckedError)


def test_a_small_file_that_unpacks_to_all_of_the_memory_is_refused(made: Certificate) -> None:
    """300 MB in some 46 kB, here and apart."""
    proof = bomb(300)
    assert len(proof) < 50_000
    with pytest.raises(
        CertificateError, match=rf"its {len(proof)} bytes unpack to more than {drat.most(proof)}$"
    ):
        unpack(proof)
    with pytest.raises(CertificateError, match="unpack to more than"):
        verify_isolated(*sum_question(), replace(made, proof=proof), Limits(60.0, 1024, 0))


def test_a_proof_that_could_not_be_read_back_is_not_kept() -> None:
    with pytest.raises(ValueError, match=r"^it has 3000000 bytes, of which \d+ could be read back$"):
        drat.pack([("a", (0,))] * 1_000_000)


def test_limits_that_do_not_suffice_are_no_refusal(made: Certificate, tmp_path: Path) -> None:
    for limits in (Limits(0.01, 4096, 0), Limits(60.0, 8, 0)):
        with pytest.raises(
            UncheckedError, match=r"^expected the certificate to be checked in .* MiB, but got: "
        ) as e:
            verify_isolated(*sum_question(), made, limits)
        assert e.value.exit_code == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"steps": null}', "nonsense"])
def test_a_checker_that_does_not_answer_is_no_refusal(
    made: Certificate, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    class Mute(Child):
        def __init__(self, module: str, *rest: Any) -> None:
            super().__init__("calendar", *rest)

        def line(self) -> object:
            self._out.write_text(line + "\n")
            return super().line()

    monkeypatch.setattr(isolated, "Child", Mute)
    with pytest.raises(UncheckedError):
        verify_isolated(*sum_question(), made, LIMITS)
