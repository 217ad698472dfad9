"""Certificates: what the checker accepts, and everything that it is to refuse, with both of its engines."""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import lzma
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solve.stub_members import sum_question
from tcformal.interp.cnf import Cnf, to_cnf
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import to_json
from tcformal.solve import certificate as certificate_module
from tcformal.solve import drat
from tcformal.solve.certificate import (
    Certificate,
    CertificateError,
    certify,
    check_proof,
    check_steps,
    parse,
    unpack,
    verify,
)
from tcformal.solve.members import available, registry
from tcformal.solve.result import Limits, Status
from tcformal.solve.sat import TRIVIAL_PROOF, run_glucose
from tcformal.solve.worker import load_runner

SEED = 20261121
LIMITS = Limits(60.0, 4096, 0)
ROOT = Path(__file__).resolve().parents[2]

PROVING = [name for name in available() if registry[name].proves]


@pytest.fixture(params=["compiled", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The checker's engine."""
    if request.param == "python":
        monkeypatch.setattr(certificate_module, "_compiled_engine", lambda: None)
    return str(request.param)


def product_question(target: int) -> tuple[Graph, Node]:
    """Is `target` the product of two numbers of 6 bits?"""
    graph = Graph()
    x, y = graph.input("x", 6), graph.input("y", 6)
    return graph, graph.eq(graph.mul_expand(x, y), graph.const(target, 12))


def proved() -> tuple[Cnf, str]:
    """Clauses and a proof of several hundred steps that they cannot hold."""
    question = sum_question()
    return to_cnf(*question), run_glucose(*question, LIMITS).proof


def clauses(*rows: tuple[int, ...]) -> Cnf:
    """Clauses without a question."""
    return Cnf(max(abs(x) for row in rows for x in row), rows, {})


#: Satisfied by making variable 1 true only, which is the one way.
SATISFIABLE = clauses((1, 2), (-2,))


# ---------------------------------------------------------------------- what is accepted
@pytest.mark.parametrize("name", PROVING)
def test_the_proofs_of_each_member_are_accepted(name: str, engine: str) -> None:
    run = load_runner(registry[name].runner)
    for graph, assertion in (sum_question(), product_question(4093)):
        outcome = run(graph, assertion, LIMITS)
        assert outcome.status is Status.UNSAT
        made = certify(to_cnf(graph, assertion), outcome.proof, name)
        assert made.solver == name
        assert verify(to_cnf(graph, assertion), made) == made.steps > 5


def test_engines_count_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    cnf, proof = proved()
    steps = check_proof(cnf, proof)
    monkeypatch.setattr(certificate_module, "_compiled_engine", lambda: None)
    assert check_proof(cnf, proof) == steps


def test_the_certificate_names_its_checker(engine: str) -> None:
    compiled = f" with cdclkit-native {importlib.metadata.version('cdclkit-native')}"
    expected = f"dratify {importlib.metadata.version('dratify')}" + compiled * (engine == "compiled")
    assert certify(*proved(), "glucose").checker == expected


def test_what_is_said_of_a_certificate() -> None:
    cnf, proof = proved()
    made = certify(cnf, proof, "glucose")
    said = made.to_json()
    assert said.keys() == {"format", "sha256", "cnf_sha256", "solver", "checker", "steps", "seconds"}
    assert (said["format"], said["cnf_sha256"], said["steps"]) == ("DRAT", cnf.digest(), made.steps)
    assert said["sha256"] == made.sha256 == replace(made, seconds=9.0).sha256
    assert check_steps(cnf, unpack(made.proof)) == made.steps


def test_what_follows_a_refutation_is_not_kept(engine: str) -> None:
    rows = ((1, 2), (1, -2), (-1, 2), (-1, -2))
    made = certify(clauses(*rows), "1 0\n0\n2 0\n0\n", "someone")
    assert unpack(made.proof) == parse("1 0\n0\n")
    assert verify(clauses(*rows), made) == made.steps == 2
    refuted = clauses(*rows, (1,), (-1,))
    made = certify(refuted, "1 0\n0\n", "someone")
    assert unpack(made.proof) == []
    assert verify(refuted, made) == made.steps == 0


def test_an_empty_clause_needs_no_more(engine: str) -> None:
    graph = Graph()
    assert check_proof(to_cnf(graph, graph.truth(False)), TRIVIAL_PROOF) == 0


def test_a_definition_is_accepted(engine: str) -> None:
    """A step that does not follow but only names something new, as bounded variable addition makes them."""
    cnf = clauses((1, 2), (1, -2), (-1, 3), (-1, -3))
    definition = "4 -1 0\n4 -2 0\n-4 1 2 0\n"
    assert check_proof(cnf, definition + "1 0\n0\n") == 5


# ---------------------------------------------------------------------- what is refused
REFUSED: dict[str, tuple[str, str]] = {
    "nothing": ("", "refused it: every step verified, but the proof never derives the empty clause"),
    "a comment": ("c nothing\n", "refused it: every step verified, but the proof never derives"),
    "no end": ("1 0\n", "refused it: every step verified, but the proof never derives the empty clause"),
    "the end only": ("0\n", "refused it: clause is neither RUP nor RAT"),
    "a step that does not follow": ("-1 0\n0\n", "refused it: clause is neither RUP nor RAT"),
    "a step of variables without a clause": ("3 0\n-3 0\n0\n", "refused it: clause is neither RUP nor RAT"),
    "an unfinished step": ("1 0\n-1", "in DRAT form, but proof line 2: clause not terminated by 0"),
    "words": ("QED\n", "in DRAT form, but proof line 1: bad token 'QED'"),
    "a deletion inside a step": ("1 d 2 0\n", "in DRAT form, but proof line 1: 'd' inside a clause"),
    "binary": ("a\x02\x05\x00", "in DRAT form, but proof line 1: bad token"),
    "a huge variable": ("99999999999 0\n0\n", "in DRAT form, but proof step 1: literal 99999999999 names"),
    "a number of thousands of digits": ("9" * 5000 + " 0\n", "in DRAT form, but proof line 1: bad token"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_proofs_are_refused(case: str, engine: str) -> None:
    proof, reason = REFUSED[case]
    for refuse in (lambda: check_proof(SATISFIABLE, proof), lambda: certify(SATISFIABLE, proof, "someone")):
        with pytest.raises(CertificateError) as caught:
            refuse()
        text = str(caught.value)
        assert text.startswith("expected a proof ")
        assert reason in text
        assert "\n" not in text


@pytest.mark.parametrize(
    "proof",
    [
        "d 1 2 0\n-1 0\n0\n",  # the deleted clause has implied 1, so that -1 must not pass as a definition
        "d 2 1 0\n-1 0\n0\n",
        "1 0\nd 1 0\nd 1 2 0\n-1 0\n0\n",
        "1 3 0\nd 1 2 0\nd 1 3 0\n-1 0\n0\n",
    ],
)
def test_a_deletion_does_not_make_room_for_a_definition(proof: str, engine: str) -> None:
    with pytest.raises(CertificateError, match="refused it: clause is neither RUP nor RAT"):
        check_proof(SATISFIABLE, proof)


def test_no_random_proof_refutes_satisfiable_clauses(engine: str) -> None:
    """Random steps and deletions, every one of which may be allowed, never reach the empty clause."""
    rng = random.Random(SEED)

    def random_clause(variables: int, longest: int) -> tuple[int, ...]:
        chosen = rng.sample(range(1, variables + 1), rng.randint(1, longest))
        return tuple(rng.choice((v, -v)) for v in chosen)

    met = 0
    for _ in range(1500):
        rows = tuple(random_clause(4, 3) for _ in range(rng.randint(2, 7)))
        if not any(
            all(any(signs[abs(x) - 1] == (x > 0) for x in row) for row in rows)
            for signs in itertools.product((False, True), repeat=4)
        ):
            continue
        met += 1
        known = list(rows)
        for _ in range(rng.randint(1, 6)):
            lines = []
            for _ in range(rng.randint(1, 8)):
                if rng.random() < 0.5:
                    lines.append("d " + " ".join(map(str, rng.choice(known))) + " 0")
                else:
                    known.append(random_clause(5, 2))
                    lines.append(" ".join(map(str, known[-1])) + " 0")
            with pytest.raises(CertificateError):
                check_proof(Cnf(4, rows, {}), "\n".join(lines) + "\n0\n")
    assert met > 1000


def test_a_proof_without_its_last_steps_is_refused(engine: str) -> None:
    cnf, proof = proved()
    lines = proof.splitlines(keepends=True)
    for kept in (0, 1, len(lines) // 2, len(lines) - 1):
        with pytest.raises(CertificateError, match="never derives the empty clause"):
            check_proof(cnf, "".join(lines[:kept]))
    with pytest.raises(CertificateError, match="neither RUP nor RAT"):
        check_proof(cnf, "".join(lines[:5]) + "0\n")


def test_a_proof_of_another_question_is_refused(engine: str) -> None:
    _, proof = proved()
    for target in (4093, 63 * 62):
        with pytest.raises(CertificateError, match="refused it"):
            check_proof(to_cnf(*product_question(target)), proof)


def test_a_certificate_of_another_question_is_refused() -> None:
    cnf, proof = proved()
    made = certify(cnf, proof, "glucose")
    other = to_cnf(*product_question(4093))
    with pytest.raises(CertificateError) as caught:
        verify(other, made)
    assert str(caught.value) == (
        f"expected a certificate of the clauses {other.digest()[:12]}, but got one of {cnf.digest()[:12]}: "
        "the question or its encoding has changed"
    )
    with pytest.raises(CertificateError, match="refused it"):
        verify(other, replace(made, cnf_sha256=other.digest()))


# ---------------------------------------------------------------------- the packed proof
def small_certificate() -> tuple[Cnf, Certificate]:
    """A certificate of a few hundred bytes."""
    cnf = clauses((1, 2), (1, -2), (-1, 2), (-1, -2))
    return cnf, certify(cnf, "1 0\n0\n", "someone")


def test_a_flipped_bit_is_refused(engine: str) -> None:
    cnf, made = small_certificate()
    for position, bit in itertools.product(range(len(made.proof)), range(8)):
        bent = bytearray(made.proof)
        bent[position] ^= 1 << bit
        with pytest.raises(CertificateError, match=r"^expected (a proof|one whole)"):
            verify(cnf, replace(made, proof=bytes(bent)))


def test_a_flipped_bit_of_a_long_proof_is_refused() -> None:
    cnf, proof = proved()
    made = certify(cnf, proof, "glucose")
    rng = random.Random(SEED)
    for _ in range(50):
        bent = bytearray(made.proof)
        bent[rng.randrange(len(bent))] ^= 1 << rng.randrange(8)
        with pytest.raises(CertificateError):
            verify(cnf, replace(made, proof=bytes(bent)))


def test_a_cut_or_longer_file_is_refused() -> None:
    cnf, made = small_certificate()
    for length in range(len(made.proof)):
        with pytest.raises(CertificateError):
            verify(cnf, replace(made, proof=made.proof[:length]))
    for more in (b"\0", made.proof):
        with pytest.raises(CertificateError, match="the file is cut off or goes on"):
            verify(cnf, replace(made, proof=made.proof + more))


@pytest.mark.parametrize("proof", [b"", b"1 0\n0\n", bytes(range(64))], ids=["empty", "text", "bytes"])
def test_a_file_that_is_not_packed_is_refused(proof: bytes) -> None:
    with pytest.raises(CertificateError):
        unpack(proof)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"1 0\n0\n", "step 1 starts with byte 0x31"),
        (b"a\x02", "step 1 has no end"),
        (b"a\x02\0d\x82\0", "step 2 ends inside a literal"),
        (b"a\x01\0", "step 1 has a literal of no variable"),
        (b"a" + b"\x82" * 9 + b"\x02\0", "a literal of more than 8 bytes"),
    ],
)
def test_bytes_that_no_proof_has_are_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(CertificateError, match=sentence):
        unpack(lzma.compress(data))


# ---------------------------------------------------------------------- the packed form
_STEPS = st.lists(
    st.tuples(st.sampled_from("ad"), st.lists(st.integers(0, 1 << 40), max_size=5).map(tuple)), max_size=20
)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(_STEPS)
def test_packing_loses_nothing(steps: list[drat.Step]) -> None:
    assert drat.unpack(drat.pack(steps)) == steps


def test_the_form_is_the_binary_one_that_drat_trim_reads() -> None:
    """The example of its README: 61 7f 83 80 01 00 64 7f 83 80 01 00 is `-63 -8193 0`, `d -63 -8193 0`."""
    steps = parse("-63 -8193 0\nd -63 -8193 0\n")
    assert lzma.decompress(drat.pack(steps)).hex() == "617f8380010064" + "7f83800100"


def test_a_compact_proof_still_holds_and_is_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    cnf, proof = proved()
    steps = parse(proof)
    assert any(kind == "d" for kind, _ in steps)
    short = drat.compact(steps)
    assert all(kind == "a" for kind, _ in short)
    assert check_steps(cnf, short) == len(short) < len(steps)
    monkeypatch.setattr(drat, "_SHORT", 10)
    long = drat.compact(steps)
    assert check_steps(cnf, long) == len(long) == len(steps)
    assert all(a[1][:1] == b[1][:1] for a, b in zip(steps, long, strict=True))


# ---------------------------------------------------------------------- the checker's process
def ask_checker(folder: Path, proof: bytes | None, **changes: Any) -> dict[str, Any]:
    """The checker's answer on a proof of the sum question."""
    if proof is not None:
        (folder / "proof").write_bytes(proof)
    graph, assertion = sum_question()
    request: Mapping[str, Any] = {
        "dag": to_json(graph, {"assertion": assertion}),
        "proof": str(folder / "proof"),
        "packed": str(folder / "packed"),
        "solver": "someone",
        "time_s": 60.0,
        "memory_mb": 4096,
        "seed": 0,
        **changes,
    }
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tcformal.solve.checker", str(os.getpid())],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.count("\n") == 1
    return dict(json.loads(done.stdout))


def test_the_checkers_process_makes_the_certificate(tmp_path: Path) -> None:
    cnf, proof = proved()
    said = ask_checker(tmp_path, proof.encode())
    made = Certificate(proof=(tmp_path / "packed").read_bytes(), **said)
    assert made.solver == "someone"
    assert verify(cnf, made) == made.steps


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        (None, "expected a proof, but none was written"),
        (b"", "expected a proof of every step, but the checker refused it"),
        (b"1 0\n0\n", "expected a proof of every step, but the checker refused it"),
        (b"\xff\xfe", "'ascii' codec can't decode"),
    ],
)
def test_the_checkers_process_refuses(tmp_path: Path, proof: bytes | None, reason: str) -> None:
    said = ask_checker(tmp_path, proof)
    assert said.keys() == {"refused"}
    assert said["refused"].startswith(reason)
    assert not (tmp_path / "packed").exists()
