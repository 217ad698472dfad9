"""Certificates: what is accepted and what is refused, by the search in Python and compiled."""

from __future__ import annotations

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
from tcformal.backends.cnf import Cnf, to_cnf
from tcformal.errors import CertificateError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import to_json
from tcformal.solve import certificate, drat
from tcformal.solve.certificate import CHECKER, Certificate, certify, unpack, verify
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
    """What the search for hints runs as."""
    monkeypatch.setattr(certificate, "_COMPILED_FROM", 0 if request.param == "compiled" else 1 << 60)
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


def test_searches_in_python_and_compiled_find_the_same_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    cnf, proof = proved()
    found = []
    for least in (0, 1 << 60):
        monkeypatch.setattr(certificate, "_COMPILED_FROM", least)
        found.append(certificate.hinted(cnf, drat.parse(proof), trimmed=True))
    assert found[0] == found[1]
    assert sum(len(step.hints) for step in found[0]) > 100


def test_many_short_searches_are_worth_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two alike searches runs as machine code, where both together are long enough."""
    cnf, proof = proved()
    steps = drat.parse(proof)
    literals = sum(map(len, cnf.clauses)) + sum(len(clause) for kind, clause in steps if kind == "a")
    monkeypatch.setattr(certificate._Search, "seen", 0)
    monkeypatch.setattr(certificate, "_COMPILED_FROM", literals + 1)
    code, runs = certificate.machine_code(), list[str]()

    def machine_code() -> object:
        runs.append("compiled")
        return code

    monkeypatch.setattr(certificate, "machine_code", machine_code)
    first = certificate.hinted(cnf, steps, trimmed=True)
    assert runs == []
    assert certificate.hinted(cnf, steps, trimmed=True) == first
    assert runs
    assert certificate._Search.seen == 2 * literals


def test_what_is_said_of_a_certificate() -> None:
    cnf, proof = proved()
    made = certify(cnf, proof, "glucose")
    said = made.to_json()
    assert said.keys() == {"format", "sha256", "cnf_sha256", "solver", "checker", "steps", "seconds"}
    assert (said["format"], said["cnf_sha256"], said["steps"]) == ("DRUP", cnf.digest(), made.steps)
    assert (said["checker"], said["sha256"]) == (CHECKER, replace(made, seconds=9.0).sha256)
    assert verify(cnf, made) == made.steps == len(unpack(made.proof))


def test_only_what_a_refutation_needs_is_kept(engine: str) -> None:
    rows = ((1, 2), (1, -2), (-1, 2), (-1, -2), (3, 1), (3, -1))
    made = certify(clauses(*rows), "3 0\n1 0\n0\n2 0\n0\n", "someone")
    assert unpack(made.proof) == drat.parse("1 0\n")
    assert verify(clauses(*rows), made) == made.steps == 1
    refuted = clauses(*rows, (1,), (-1,))
    made = certify(refuted, "1 0\n0\n", "someone")
    assert unpack(made.proof) == []
    assert verify(refuted, made) == made.steps == 0


def test_a_trimmed_proof_is_shorter(engine: str) -> None:
    cnf, proof = proved()
    made = certify(cnf, proof, "glucose")
    assert made.steps < sum(kind == "a" for kind, _ in drat.parse(proof))
    assert {kind for kind, _ in unpack(made.proof)} == {"a"}


def test_an_empty_clause_needs_no_more(engine: str) -> None:
    graph = Graph()
    assert certify(to_cnf(graph, graph.truth(False)), TRIVIAL_PROOF, "someone").steps == 0


def test_a_definition_is_refused(engine: str) -> None:
    """What does not follow but only names something new is no step of a certificate."""
    cnf = clauses((1, 2, 3), (1, -2), (-1, 2), (-1, -2), (1, -3))
    with pytest.raises(CertificateError, match="a proof in 3 variables, but got a literal of variable 4"):
        certify(cnf, "4 -1 0\n4 -2 0\n-4 1 2 0\n1 0\n0\n", "someone")
    four = Cnf(4, cnf.clauses, {})
    with pytest.raises(CertificateError, match="added clause 1 does not follow by unit propagation"):
        certify(four, "4 3 0\n1 0\n0\n", "someone")


# ---------------------------------------------------------------------- what is refused
NO_END = "of the empty clause, but it never gets there"
NOT_FOLLOWING = "of every step, but added clause 1 does not follow by unit propagation"
REFUSED: dict[str, tuple[str, str]] = {
    "nothing": ("", NO_END),
    "no end": ("1 0\n", NO_END),
    "a true clause": ("1 -1 0\n", NO_END),
    "the end only": ("0\n", NOT_FOLLOWING),
    "a step that does not follow": ("-1 0\n0\n", NOT_FOLLOWING),
    "a step of variables without a clause": (
        "3 0\n-3 0\n0\n",
        "in 2 variables, but got a literal of variable 3",
    ),
    "an unfinished step": ("1 0\n-1", "but line 2 does not end with its one 0"),
    "two steps in a line": ("1 0 2 0\n", "but line 1 does not end with its one 0"),
    "an empty line": ("\n", "but line 1 is ''"),
    "words": ("QED\n", "but line 1 is 'QED'"),
    "a comment": ("c nothing\n", "but line 1 is 'c nothing'"),
    "a deletion inside a step": ("1 d 2 0\n", "but line 1 is '1 d 2 0'"),
    "binary": ("a\x02\x05\x00", "but line 1 is "),
    "a huge variable": ("99999999999 0\n0\n", "but got a literal of variable 99999999999"),
    "a number of thousands of digits": ("9" * 5000 + " 0\n", "but line 1 is "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_proofs_are_refused(case: str, engine: str) -> None:
    proof, reason = REFUSED[case]
    with pytest.raises(CertificateError) as caught:
        certify(SATISFIABLE, proof, "someone")
    text = str(caught.value)
    assert text.startswith("expected a proof ")
    assert reason in text
    assert "\n" not in text


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
                certify(Cnf(5, rows, {}), "\n".join(lines) + "\n0\n", "someone")
    assert met > 1000


def test_a_proof_without_its_last_steps_is_refused(engine: str) -> None:
    cnf, proof = proved()
    lines = proof.splitlines(keepends=True)
    for kept in (0, 1, len(lines) // 4):
        with pytest.raises(CertificateError, match="never gets there"):
            certify(cnf, "".join(lines[:kept]), "someone")
    with pytest.raises(CertificateError, match="does not follow"):
        certify(cnf, "".join(lines[:5]) + "0\n", "someone")


def test_a_proof_of_another_question_is_refused(engine: str) -> None:
    _, proof = proved()
    for target in (4093, 63 * 62):
        with pytest.raises(CertificateError, match=r"does not follow|variables, but got"):
            certify(to_cnf(*product_question(target)), proof, "someone")


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
    with pytest.raises(CertificateError, match=r"does not follow|variables, but got"):
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


@pytest.mark.slow
def test_packing_loses_nothing() -> None:
    check_packing(60)


@pytest.mark.long
def test_packing_loses_nothing_of_many() -> None:
    check_packing(2000)


def check_packing(examples: int) -> None:
    """Each takes a hundredth of a second, in which xz fills its tables."""

    @settings(deadline=None, max_examples=examples, derandomize=True)
    @given(_STEPS)
    def check(steps: list[drat.DratStep]) -> None:
        assert drat.unpack(drat.pack(steps)) == steps

    check()


def test_the_form_is_the_binary_one_that_drat_trim_reads() -> None:
    """The example of its README: 61 7f 83 80 01 00 64 7f 83 80 01 00 is `-63 -8193 0`, `d -63 -8193 0`."""
    steps = drat.parse("-63 -8193 0\nd -63 -8193 0\n")
    assert lzma.decompress(drat.pack(steps)).hex() == "617f8380010064" + "7f83800100"


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
        (b"", "expected a proof of the empty clause, but it never gets there"),
        (b"1 0\n0\n", "expected a proof of every step, but added clause 1 does not follow"),
        (b"\xff\xfe", "'ascii' codec can't decode"),
    ],
)
def test_the_checkers_process_refuses(tmp_path: Path, proof: bytes | None, reason: str) -> None:
    said = ask_checker(tmp_path, proof)
    assert said.keys() == {"refused"}
    assert said["refused"].startswith(reason)
    assert not (tmp_path / "packed").exists()
