"""Forged files under the commands: none turns an answer, and nothing is said to be checked that was not."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kept import COMPLEMENT, FOUR, FOUR_25, SIGNS, certified, keep_proof, rewrite, separated
from kept_kinds import property_holds, property_violated
from sampled import one_in
from tcformal.backends.cnf import to_cnf
from tcformal.cli import main
from tcformal.solve.certificate import CHECKER
from tcformal.solve.child import Child
from tcformal.store.certificates import NOT_KEPT
from tcformal.store.claim_records import CLAIM
from tcformal.store.schema import SEAL, digest_of, seal
from tcformal.store.store import Store

AMPERE, HOPPER = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
ORDER = ("tfdpa@products=1,k=2", "--claim", "product-order")
Z3 = {"name": "z3", "version": "1", "answer": "timeout", "seconds": 60.0, "reason": "", "model": None}
NOTHING = {"witness": None, "found_witness": None, "results": None}

SMALL = """
title = "Two units"
source = "VALPEY §4.3"
[[ask]]
name = "one fraction bit"
separate = ["tfdpa@products=4", "tfdpa@products=4,fraction_bits=25"]
expected = "SEPARATED"
[[ask]]
name = "minus zero"
property = "no-negative-zero"
unit = "valpey@terms=2,zero_sign=ieee"
expected = "VIOLATED"
"""


def run(*words: str) -> Result:
    """The command line in this process, on lines wide enough for every name."""
    return CliRunner().invoke(main, words, env={"COLUMNS": "250"})


def resealed(path: Path, change: Callable[[Any], Any], *, checked: bool = False) -> None:
    """Alter the last line of a file as a forger does, whatever its schema says."""
    lines = path.read_text().splitlines()
    record = json.loads(lines[-1])
    change(record)
    plain = {key: value for key, value in record.items() if key != SEAL}
    made = seal(plain) if checked else {**plain, SEAL: digest_of(plain)}
    path.write_text("\n".join([*lines[:-1], json.dumps(made)]) + "\n")


def _updated(change: dict[str, Any], record: Any) -> None:
    record.update(change)


def forged_certificate(folder: Path, q: Any, content: bytes) -> dict[str, Any]:
    """What a record says of a certificate whose file holds anything at all, every digest right."""
    return {
        **keep_proof(folder, content), "format": "DRUP", "solver": "kissat",
        "cnf_sha256": to_cnf(q.graph, q.asked).digest(), "checker": CHECKER, "steps": 4,
        "seconds": 0.1,
    }  # fmt: skip


@pytest.mark.parametrize("lemma", [False, True])
@pytest.mark.parametrize("answers", [[Z3], [{**Z3, "answer": "unsat"}], [{**Z3, "answer": "unsat"}] * 2])
def test_a_separated_pair_rewritten_as_equivalent_is_asked_again(
    results_folder: Path, answers: list[dict[str, Any]], lemma: bool
) -> None:
    """With solvers that timed out, or that the forger lets agree, and with an invented lemma."""
    store = Store(results_folder)
    store.add(separated())
    agreed = [{**a, "name": name} for a, name in zip(answers, ("z3", "kissat"), strict=False)]
    change = {"verdict": "EQUIVALENT", **NOTHING, "solvers": agreed, "confirmed_by": ["z3"]}
    more = {"lemmas": [{"name": "e_max", "sha256": "0" * 64}]} if lemma else {}
    resealed(store.path, lambda r: r.update(change | more))
    for command, code in (("separate", 0), ("prove", 1)):
        result = run(command, FOUR, FOUR_25)
        assert (result.exit_code, result.stdout.partition(":")[0]) == (code, "SEPARATED")
        assert "EQUIVALENT" not in result.stdout
    assert run("results", "verify").exit_code in (0, 1)


def test_a_violated_claim_rewritten_as_holds_is_answered_again(results_folder: Path) -> None:
    assert run("prove", *ORDER).exit_code == 1
    forged = {"verdict": "HOLDS", "reason": "no order changes the result", "parts": []}
    rewrite(results_folder / CLAIM.file, lambda r: r.update(forged), kind="claim")
    assert run("results", "verify", "--claims").exit_code == 1
    result = run("prove", *ORDER)
    assert result.exit_code == 1
    assert result.stdout.startswith("VIOLATED: ")
    assert "HOLDS" not in result.stdout


def test_a_file_of_outcomes_has_no_influence(results_folder: Path, tmp_path: Path) -> None:
    """Outcomes are made of verdicts when they are shown; a file of them is nobody's."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    first = run("run", str(path), "--json")
    lines = []
    for said in json.loads(first.stdout):
        plain = {**said, "outcome": "EQUIVALENT", "identity": "0" * 64, "answer": {**said["answer"]}}
        lines.append(json.dumps({**plain, SEAL: digest_of(plain)}))
    (results_folder / "queries.jsonl").write_text("\n".join(lines) + "\n")
    for _ in range(2):
        again = run("run", str(path), "--json")
        assert again.exit_code == 0
        assert [a["outcome"] for a in json.loads(again.stdout)] == ["SEPARATED", "VIOLATED"]
    assert "EQUIVALENT" not in run("run", str(path)).stdout


@pytest.mark.parametrize(
    "content",
    [b"not a proof at all", pytest.param(lzma.compress(b"not a proof at all"), marks=pytest.mark.long)],
)
def test_what_is_no_proof_proves_nothing(results_folder: Path, content: bytes) -> None:
    """ampere and hopper differ, whatever file a record calls the proof that they do not."""
    assert run("separate", AMPERE, HOPPER).exit_code == 0
    store = Store(results_folder)
    from tcformal.store.answers import question_of

    (entry,) = store.records()
    made = forged_certificate(results_folder, question_of(entry.record), content)
    change = {
        "verdict": "EQUIVALENT", **NOTHING, "certificate": made, "confirmed_by": [],
        "solvers": [{**Z3, "name": "kissat", "answer": "unsat"}],
        "reason": f"kissat found none; the proof of kissat was checked by {CHECKER}",
    }  # fmt: skip
    resealed(store.path, lambda r: r.update(change), checked=True)
    for words in (("--certify",), ("--no-certify",), ()):
        result = run("prove", AMPERE, HOPPER, *words)
        assert (result.exit_code, result.stdout.partition(":")[0]) == (1, "SEPARATED")
        for lie in ("EQUIVALENT", "was checked"):
            assert lie not in result.stdout
        resealed(store.path, lambda r: r.update(change), checked=True)
    shown = run("results", "show", entry.digest)
    assert shown.stdout.startswith("UNKNOWN: kept as EQUIVALENT on ")
    assert ", refused: expected no inputs that refute EQUIVALENT, but " in " ".join(shown.stdout.split())
    assert run("results", "verify").exit_code == 1


def test_a_violated_property_rewritten_as_holds_is_asked_again(results_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    v = property_violated()
    store = Store(results_folder)
    store.add(v)
    real = property_holds().certificate
    assert real is not None
    for content in (b"not a proof at all", real.proof):
        made = forged_certificate(results_folder, v.question, content)
        change = {
            "verdict": "HOLDS", **NOTHING, "certificate": made, "confirmed_by": [],
            "solvers": [{**Z3, "name": "kissat", "answer": "unsat"}],
        }  # fmt: skip
        resealed(store.path, partial(_updated, change), checked=True)
        result = run("run", str(path), "--json")
        assert result.exit_code == 0
        assert [a["outcome"] for a in json.loads(result.stdout)] == ["SEPARATED", "VIOLATED"]
        assert "is not used: " in result.stderr


def in_no_time(self: Child) -> bool:
    """A process that has no time to answer, however fast it is."""
    self.timed_out = True
    self.kill()
    return True


@pytest.mark.slow
def test_what_takes_too_long_to_check_is_marked(
    results_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked again; without an answer it is UNKNOWN, exits with 3, and never counts as expected."""
    date = Store(results_folder).add(certified())["date"][:10]
    words = (SIGNS, COMPLEMENT, "--assume", "c=0", "--time-limit", "0.001", "--solvers", "cadical,z3")
    monkeypatch.setattr("tcformal.store.rechecker.BUDGET_S", 0.0)
    monkeypatch.setattr(Child, "over", in_no_time)
    for command in ("prove", "separate"):
        for certify in ((), ("--certify",), ("--no-certify",)):
            result = run(command, *words, *certify)
            assert result.exit_code == 3
            said = " ".join(result.stdout.split())
            assert "was checked" not in said
            if certify != ("--no-certify",):  # which asks for a second solver, and has none to check
                assert said.startswith(f"UNKNOWN: kept as EQUIVALENT on {date}, not checked; asked again: ")
        Store(results_folder).add(certified())
    data = json.loads(run("prove", *words, "--json").stdout)
    assert (data["verdict"], data["checked"], data["certificate"]) == ("UNKNOWN", False, None)
    path = tmp_path / "one.toml"
    path.write_text(
        'title = "One"\nsource = "none"\n[[ask]]\nname = "signs"\nexpected = "EQUIVALENT"\n'
        f'separate = ["{SIGNS}", "{COMPLEMENT}"]\nassume = ["c=0"]\n'
    )
    result = run("run", str(path), "--time-limit", "0.001")
    assert result.exit_code == 3
    said = f"UNKNOWN, expected EQUIVALENT: kept as EQUIVALENT on {date}, not checked"
    assert said in " ".join(result.stdout.split())
    monkeypatch.undo()
    monkeypatch.setenv("TCFORMAL_RESULTS", str(results_folder))
    monkeypatch.setattr("tcformal.store.rechecker.BUDGET_S", 300.0)
    result = run("prove", *words)
    assert (result.exit_code, result.stdout.partition(":")[0]) == (0, "EQUIVALENT")
    assert "kept answer of" in result.stdout
    assert "the proof of cadical was checked by tcformal's LRAT checker" in " ".join(result.stdout.split())


#: Others of the kind: the evidence that a forger names, or leaves out.
CERTIFICATES: dict[str, Callable[[Any], dict[str, Any] | None]] = {
    "not kept": lambda made: {**made, "file": NOT_KEPT},
    "missing": lambda made: {**made, "sha256": "0" * 64},
    "none": lambda _: None,
    "of another question": lambda made: made,
}


@pytest.mark.parametrize("which", one_in(3, CERTIFICATES))
@pytest.mark.parametrize("certify", [(), ("--certify",), ("--no-certify",)])
def test_a_separated_pair_with_invented_evidence_is_separated(
    results_folder: Path, which: str, certify: tuple[str, ...]
) -> None:
    """Vectors come before any kept answer that says that there is no difference."""
    store = Store(results_folder)
    store.add(certified())
    made = store.records()[0].record["certificate"]
    store.add(separated())
    told = [{**Z3, "name": name, "answer": "unsat"} for name in ("cadical", "z3")]
    forged = {
        "verdict": "EQUIVALENT", **NOTHING, "solvers": told, "confirmed_by": ["z3"],
        "certificate": CERTIFICATES[which](made),
    }  # fmt: skip
    resealed(store.path, lambda r: r.update(forged), checked=True)
    listed = json.loads(run("results", "list", "--json").stdout)[-1]
    assert (listed["verdict"], listed["reason"]) == (
        "UNKNOWN", f"kept as EQUIVALENT on {listed['date'][:10]}, not checked"
    )  # fmt: skip
    shown = run("results", "show", listed["id"])
    assert shown.stdout.startswith("UNKNOWN: kept as EQUIVALENT on ")
    found = Store(results_folder).find(separated().question)
    assert found is None
    result = run("prove", FOUR, FOUR_25, *certify)
    assert (result.exit_code, result.stdout.partition(":")[0]) == (1, "SEPARATED")
    assert "EQUIVALENT" not in result.stdout


@pytest.mark.parametrize("which", one_in(3, ["not kept", "missing", "none"]))
def test_invented_evidence_that_no_vector_refutes_decides_nothing(results_folder: Path, which: str) -> None:
    """In Python too: of two designs that differ where no vector lies, UNKNOWN until somebody answers."""
    store = Store(results_folder)
    store.add(certified())
    date = store.records()[0].record["date"][:10]
    made = store.records()[0].record["certificate"]
    told = [{**Z3, "name": name, "answer": "unsat"} for name in ("cadical", "z3")]
    change = {"solvers": told, "confirmed_by": ["z3"], "certificate": CERTIFICATES[which](made)}
    resealed(store.path, lambda r: r.update(change), checked=True)
    for certify in (None, True, False):
        v = Store(results_folder).find(certified().question, certify=certify)
        assert v is not None
        said = v.kind.name, v.checked, v.reason
        assert said == ("UNKNOWN", False, f"kept as EQUIVALENT on {date}, not checked")
        assert (v.certificate, v.answers, v.confirmed_by) == (None, (), ())
    line = store.path.read_bytes()
    words = ("prove", SIGNS, COMPLEMENT, "--assume", "c=0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Child, "over", in_no_time)
        assert json.loads(run(*words, "--json").stdout)["verdict"] == "UNKNOWN"
    assert store.path.read_bytes() == line  # what may be a true answer stays
    # By solvers: a proof in steps is kept as a claim.
    assert run(*words, "--certify", "--solvers", "cadical,kissat").stdout.startswith("EQUIVALENT: ")
    again = Store(results_folder).find(certified().question)
    assert again is not None
    assert again.checked
