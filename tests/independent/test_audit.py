"""`results verify --independent`: berkeley-abc on gates of the second definition."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kept import ask, certified, rewrite, same, separated, trivial, vacuous
from tcformal.cli import main
from tcformal.design.names import resolve
from tcformal.errors import InputError, NoAnswerError
from tcformal.independent.abc import ask_abc
from tcformal.independent.gates import network
from tcformal.ir.build import Graph
from tcformal.ir.walk import to_json
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import LemmaBook, statement
from tcformal.query.kinds.register import kind_of
from tcformal.solve.result import Limits
from tcformal.store.audit import independent
from tcformal.store.audit.audit import AuditFinding, AuditStatus
from tcformal.store.audit.independent import AbcBook, audit_claim_independently, audit_independently
from tcformal.store.audit.log import AuditLog
from tcformal.store.schema import seal
from tcformal.store.store import Entry, Store

SECONDS = 60.0
CLAIM, UNIT = "sign-magnitude", "valpey@terms=2,fraction_bits=5"


def test_without_abc_one_sentence(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store.add(separated())
    monkeypatch.setenv("PATH", str(tmp_path))
    run = CliRunner().invoke(main, ["results", "verify", "--independent", "--results", str(store.folder)])
    assert run.exit_code == 3
    assert run.output == (
        "error: expected the program berkeley-abc, but it is not installed: apt-get install berkeley-abc\n"
    )


# ------------------------------------------------------------------------------ abc itself
def sums(width: int, wrong: bool) -> str:
    """x + y = y + x for all inputs, or all but one pair of them."""
    g = Graph(folded=False)
    x, y = g.input("x", width), g.input("y", width)
    left, right = g.add_mod(x, y), g.add_mod(y, g.add_mod(g.sub_mod(x, y), y))
    if wrong:
        odd = g.and_(g.eq(x, g.const(5, width)), g.eq(y, g.const(1 << width - 1, width)))
        right = g.ite(odd, g.not_(right), right)
    return to_json(g, {"differ": g.not_(g.eq(left, right))})


@pytest.mark.debian
def test_abc_proves_an_equality() -> None:
    found = ask_abc(network(sums(24, wrong=False)), "differ", SECONDS)
    assert (found.decided, found.inputs) == (True, None)


@pytest.mark.debian
def test_abc_refuses_a_false_equality() -> None:
    """False of one pair of inputs in 2^48; abc names it."""
    found = ask_abc(network(sums(24, wrong=True)), "differ", SECONDS)
    assert found.inputs == {"x": 5, "y": 1 << 23}


@pytest.mark.debian
def test_abc_has_a_time_limit() -> None:
    """The factors of the product of two primes of 44 bits."""
    g = Graph(folded=False)
    x, y = g.input("x", 44), g.input("y", 44)
    one, number = g.const(1, 44), g.const(17592186044399 * 12297829382429, 88)
    root = g.and_(g.eq(g.mul_expand(x, y), number), g.ult(one, x), g.ult(one, y))
    assert not ask_abc(network(to_json(g, {"root": root})), "root", 1.0).decided


@pytest.mark.parametrize("said", ["", "UNSATISFIABL"])
def test_what_is_no_answer_rejects(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of that name that ends without one of abc's answers."""
    program = tmp_path / "berkeley-abc"
    program.write_text(f"#!/bin/sh\necho {said}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(NoAnswerError, match="expected an answer of berkeley-abc"):
        ask_abc(network(sums(2, wrong=False)), "differ", SECONDS)


def test_inputs_that_do_not_set_the_root_reject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "berkeley-abc"
    program.write_text("#!/bin/sh\necho 'SATISFIABLE (output = 0)'\necho 01010101 > inputs\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(NoAnswerError, match="expected inputs of berkeley-abc that set differ"):
        ask_abc(network(sums(4, wrong=True)), "differ", SECONDS)


# ------------------------------------------------------------------------------ answers and claims
@pytest.mark.debian
@pytest.mark.parametrize("made", [separated, same, trivial, certified, vacuous])
def test_true_answers_hold(store: Store, made: Callable[[], Any]) -> None:
    store.add(made())
    (entry,) = store.records()
    finding = audit_independently(entry, SECONDS)
    assert finding.status is AuditStatus.HOLDS, finding.reason


@pytest.mark.debian
def test_a_false_answer_fails(store: Store) -> None:
    """Two units said to be EQUIVALENT that are not, under a valid digest."""
    store.add(trivial())
    record = store.records()[0].record
    lie = seal({**record, "question": {**record["question"], **_differing()}}, "answer")
    store.answers.add(lie)
    entry = Store(store.folder).records()[-1]
    finding = audit_independently(entry, SECONDS)
    assert (finding.status, finding.reason) == (
        AuditStatus.FAILED, "expected EQUIVALENT of berkeley-abc too, but it found inputs",
    )  # fmt: skip


def _differing() -> dict[str, Any]:
    q = ask("ampere/mma.m16n8k8.f32.f16.f16.f32", "ampere/mma.m16n8k8.f32.f16.f16.f32@fraction_bits=25")
    return {**kind_of(q).parts(q), "sha256": q.digest()}


def test_a_false_witness_fails(store: Store) -> None:
    """It is evaluated on the independent gates before abc is asked."""
    store.add(separated())

    def lie(record: Any) -> None:
        record["witness"]["a"][0] = {"hex": "0x3c00", "value": "1"}

    rewrite(store.answers.path, lie)
    (entry,) = Store(store.folder).records()
    finding = audit_independently(entry, SECONDS)
    assert (finding.status, finding.reason) == (
        AuditStatus.FAILED, "expected a witness that sets asked on the independent gates, but it does not",
    )  # fmt: skip


@pytest.mark.debian
def test_a_claim_holds_and_its_lemmas_are_decided(store: Store) -> None:
    limits = Limits(60.0, 8192, 0)
    store.add_claim(
        prove_claim(resolve(UNIT), CLAIM, book=LemmaBook(limits=limits, keeper=store.lemmas), limits=limits)
    )
    book = AbcBook(store, SECONDS)
    (record,) = store.claims.all()
    finding = audit_claim_independently(book, record)
    assert finding.status is AuditStatus.HOLDS, finding.reason
    assert book.checked == set(record["lemmas"])


@pytest.mark.debian
def test_a_false_lemma_fails(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its certificate says."""
    limits = Limits(60.0, 8192, 0)
    store.add_claim(
        prove_claim(resolve(UNIT), CLAIM, book=LemmaBook(limits=limits, keeper=store.lemmas), limits=limits)
    )
    g = Graph()
    x = g.input("x", 4)
    false = statement([(x, g.not_(x))], [], {})
    monkeypatch.setattr(
        independent, "network", lambda _: network(to_json(false.graph, {"assertion": false.assertion}))
    )
    (record,) = store.claims.all()
    finding = audit_claim_independently(AbcBook(store, SECONDS), record)
    assert finding.status is AuditStatus.FAILED
    assert finding.reason.endswith("but berkeley-abc found inputs")


@pytest.mark.debian
def test_the_command(store: Store) -> None:
    store.add(separated())
    store.add(certified())
    verify = ["results", "verify", "--independent", "--results", str(store.folder)]
    run = CliRunner().invoke(main, [*verify, "--json"])
    assert run.exit_code == 0
    assert json.loads(run.output)["holds"] == 2
    log = ["--log", str(store.folder / "log")]
    first, second = (CliRunner().invoke(main, [*verify, *log]).output for _ in range(2))
    assert first.splitlines()[-1] == "2 records hold, 0 failed, 0 not re-checkable, 0 without an answer"
    assert second == first.replace("an answer", "an answer; 2 of them were checked by earlier runs")


def test_what_a_log_lists_is_not_checked_again(store: Store, tmp_path: Path) -> None:
    """Of the same record, way and program only; what failed is checked again."""
    store.add(separated())
    (entry,) = store.records()
    path, asked = tmp_path / "log", list[AuditStatus]()

    def run(status: AuditStatus, way: str = "a", record: Entry = entry) -> AuditStatus:
        def check(e: Entry) -> AuditFinding:
            asked.append(status)
            return AuditFinding(e, status, "")

        return AuditLog(path, way).answers(check)(record).status

    assert run(AuditStatus.FAILED) is AuditStatus.FAILED
    assert run(AuditStatus.HOLDS) is AuditStatus.HOLDS
    assert run(AuditStatus.FAILED) is AuditStatus.HOLDS
    assert len(asked) == 2
    assert run(AuditStatus.FAILED, way="b") is AuditStatus.FAILED
    altered = replace(entry, record={**entry.record, "reason": "altered"})
    assert run(AuditStatus.FAILED, record=altered) is AuditStatus.FAILED
    with path.open("a") as file:
        file.write('["a, ')  # a run that was killed
    assert run(AuditStatus.HOLDS, way="c") is AuditStatus.HOLDS
    assert run(AuditStatus.FAILED, way="c") is AuditStatus.HOLDS
    assert run(AuditStatus.UNCHECKED, way="d") is AuditStatus.UNCHECKED
    assert run(AuditStatus.FAILED, way="d") is AuditStatus.UNCHECKED  # a repeated run comes to the others
    path.write_text(re.sub(r", [0-9a-f]{16}", ", another program", path.read_text()))
    assert run(AuditStatus.FAILED) is AuditStatus.FAILED
    path.write_text("# Notes\n")
    with pytest.raises(InputError, match="expected a log of findings"):
        AuditLog(path, "a")


@pytest.mark.parametrize("option", ["--log", "--time-limit"])
def test_options_without_abc_are_refused(option: str) -> None:
    run = CliRunner().invoke(main, ["results", "verify", option, "5"])
    assert run.exit_code == 2
    assert f"expected {option} with --independent only" in run.output


def test_no_time_at_all_is_refused() -> None:
    run = CliRunner().invoke(main, ["results", "verify", "--independent", "--time-limit", "0"])
    assert run.exit_code == 2
    assert "--time-limit" in run.output


def test_proofs_that_are_not_read_are_not_trimmed() -> None:
    run = CliRunner().invoke(main, ["results", "verify", "--independent", "--trim"])
    assert run.exit_code == 2
    assert "expected --independent, which reads no proof, or --trim, but got both" in run.output
