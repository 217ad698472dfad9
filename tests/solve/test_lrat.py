"""The checker of certificates, the search for hints, and checkers that other people verified."""

from __future__ import annotations

import inspect
import random
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from solve.stub_members import sum_question
from tcformal.backends.cnf import Cnf, to_cnf
from tcformal.errors import CertificateError
from tcformal.ir.build import Graph
from tcformal.solve import drat
from tcformal.solve import lrat as check_module
from tcformal.solve.certificate import certify, hinted, lrat, lrat_text
from tcformal.solve.lrat import LratStep, check
from tcformal.solve.native import compiled
from tcformal.solve.result import Limits
from tcformal.solve.sat import run_cadical, run_glucose

SEED = 20261122

#: Numbered 1 to 5: without the last two, they are satisfied by 1 and 2 alone.
CLAUSES = ((1, 2), (1, -2), (-1, 2), (-1, -2, 3), (-3,))
#: 1 follows from clauses 1 and 2, and then there is a contradiction.
UNIT, END = LratStep(6, (1,), (1, 2)), LratStep(7, (), (6, 3, 5, 4))


def proved() -> tuple[Cnf, list[LratStep]]:
    """Clauses with a hinted proof of some hundred steps."""
    question = sum_question()
    cnf = to_cnf(*question)
    return cnf, lrat(cnf, certify(cnf, run_glucose(*question, Limits(60.0, 4096, 0)).proof, "glucose"))


# ---------------------------------------------------------------------- the checker
def test_steps_that_follow_are_accepted() -> None:
    assert check(3, CLAUSES, [UNIT, END]) == 2
    assert check(3, CLAUSES, [UNIT, LratStep(6, deleted=(1, 2)), END]) == 2
    assert check(3, CLAUSES, [UNIT._replace(ident=60), END._replace(ident=70, hints=(60, 3, 5, 4))]) == 2
    cnf, steps = proved()
    assert check(cnf.variables, cnf.clauses, steps) > 20


@pytest.mark.parametrize("run", [run_glucose, run_cadical])
def test_clauses_that_propagation_alone_refutes_need_no_step_of_a_solver(run: Any) -> None:
    g = Graph()
    x, y = g.input("x", 1), g.input("y", 1)
    assertion = g.and_(x, g.and_(g.not_(g.xor(x, y)), g.not_(y)))
    outcome = run(g, assertion, Limits(60.0, 4096, 0))
    cnf = to_cnf(g, assertion)
    assert certify(cnf, outcome.proof, "a solver").steps <= 1
    assert certify(cnf, "", "nobody").steps <= 1


REFUSED: dict[str, tuple[list[LratStep], str]] = {
    "no steps": ([], "never gets there"),
    "no empty clause": ([UNIT], "never gets there"),
    "the empty clause alone": ([LratStep(6)], "hints that end in a contradiction, but these do not"),
    "a hint too few": ([UNIT._replace(hints=(1,)), END], "step 6 was refused: expected hints that end in"),
    "a wrong hint": ([UNIT._replace(hints=(1, 4)), END], "hints that are unit, but clause 4 is not"),
    "hints in another order": ([UNIT, END._replace(hints=(6, 4, 3, 5))], "unit, but clause 4 is not"),
    "a hint that is satisfied": ([UNIT, END._replace(hints=(6, 1, 3, 5, 4))], "unit, but clause 1 is not"),
    "a hint twice": ([UNIT, END._replace(hints=(6, 6, 3, 5, 4))], "unit, but clause 6 is not"),
    "a hint that is no clause": ([UNIT._replace(hints=(1, 9)), END], "but there is no clause 9"),
    "a hint from below 1": ([UNIT._replace(hints=(0,)), END], "but there is no clause 0"),
    "a negative hint": ([UNIT._replace(hints=(-1, 1, 2)), END], "but there is no clause -1"),
    "a step as its own hint": ([LratStep(6, (), (6,))], "but there is no clause 6"),
    "a dropped step": ([END], "step 7 was refused: expected hints that are clauses, but"),
    "a deleted hint": ([LratStep(5, deleted=(2,)), UNIT, END], "there is no clause 2"),
    "a clause deleted twice": ([UNIT, LratStep(6, deleted=(1, 1)), END], "but there is no clause 1"),
    "a deletion of nothing": ([LratStep(5, deleted=(9,)), UNIT, END], "to delete, but there is no clause 9"),
    "a number that is used": ([UNIT._replace(ident=5), END], "step 5 was refused: expected a number above 5"),
    "numbers that go down": ([UNIT._replace(ident=8), END], "step 7 was refused: expected a number above 8"),
    "another clause": ([UNIT._replace(clause=(-1,)), END], "hints that are unit, but clause 1 is not"),
    "a literal out of range": ([UNIT._replace(clause=(1, 4)), END], "of 3 variables, but got (1, 4)"),
    "the literal 0": ([UNIT._replace(clause=(1, 0)), END], "literals of 3 variables, but got (1, 0)"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_forged_steps_are_refused(case: str) -> None:
    steps, reason = REFUSED[case]
    with pytest.raises(CertificateError) as caught:
        check(3, CLAUSES, steps)
    assert str(caught.value).startswith("expected a proof of ")
    assert reason in str(caught.value)


def test_altered_steps_never_refute_what_can_be_satisfied() -> None:
    """Whatever hints are given: clauses with a model, found beforehand, are not refuted."""
    rng = random.Random(SEED)
    for _ in range(2000):
        model = [rng.choice((v, -v)) for v in range(1, 5)]
        rows = [rng.sample(range(1, 5), rng.randint(1, 3)) for _ in range(rng.randint(3, 9))]
        rows = [[rng.choice((v, -v)) for v in row] for row in rows]
        for row in rows:
            row[0] = model[abs(row[0]) - 1]
        steps = []
        for ident in range(len(rows) + 1, len(rows) + 6):
            clause = tuple(rng.choice((v, -v)) for v in rng.sample(range(1, 5), rng.randint(0, 2)))
            steps.append(LratStep(ident, clause, tuple(rng.choices(range(ident), k=rng.randint(1, 5)))))
        with pytest.raises(CertificateError):
            check(4, rows, steps)


@pytest.mark.parametrize("part", ["hints", "clause"])
def test_each_step_of_a_proof_is_checked(part: str) -> None:
    cnf, steps = proved()
    for i, step in [*enumerate(steps)][::37]:
        if not step.deleted:
            bent = step._replace(hints=step.hints[:-1]) if part == "hints" else step._replace(clause=())
            if bent != step:
                with pytest.raises(CertificateError, match=f"step {step.ident} was refused"):
                    check(cnf.variables, cnf.clauses, [*steps[:i], bent])


def test_the_checker_imports_nothing_but_its_error() -> None:
    lines = [line for line in inspect.getsource(check_module).splitlines() if "import " in line]
    assert [line for line in lines if "tcformal" in line] == ["from tcformal.errors import CertificateError"]
    assert len(inspect.getsource(check_module).splitlines()) < 80


# ---------------------------------------------------------------------- the search for hints
def test_no_hint_is_satisfied_and_no_step_is_missing() -> None:
    """Clauses true at the top, repeated units, deletions of reasons: the checker accepts what is found."""
    cnf = Cnf(3, CLAUSES, {})
    for proof in ("1 0\n", "2 1 0\n1 0\n1 0\n2 0\n0\n", "d -3 0\n1 0\nd 1 0\n2 0\n", "-2 3 1 0\n1 0\n"):
        for trimmed in (False, True):
            steps = hinted(cnf, drat.parse(proof), trimmed=trimmed)
            assert check(3, CLAUSES, steps) >= 1


def test_random_refutations_are_found_and_checked() -> None:
    rng = random.Random(SEED)
    found = 0
    for _ in range(300):
        rows = tuple(tuple(rng.choice((v, -v)) for v in rng.sample(range(1, 5), 3)) for _ in range(40))
        units = [(rng.choice((v, -v)),) for v in rng.sample(range(1, 5), 3)]
        lines = "".join(" ".join(map(str, row)) + " 0\n" for row in units)
        try:
            steps = hinted(Cnf(4, rows, {}), drat.parse("1 2 0\n1 -2 0\n1 0\n" + lines + "0\n"), trimmed=True)
        except CertificateError:
            continue
        assert check(4, rows, steps) >= 1
        found += 1
    assert found > 50


@pytest.mark.parametrize(
    "source",
    [
        "def f(x: Ints) -> None:\n    for i in x:\n        pass\n",
        "def f(x: Ints) -> None:\n    x[0] = x[0] // 2\n",
        "def f(x: Ints) -> None:\n    x[0] = 1.5\n",
        "def f(x: Ints) -> None:\n    if x[0]:\n        x[0] = 1\n",
        "def f(x: float) -> None:\n    return\n",
    ],
)
def test_what_is_not_compiled_is_refused(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("written")
    monkeypatch.setattr(inspect, "getsource", lambda _: source)
    with pytest.raises(ValueError, match="expected "):
        compiled(module, "f")


# ---------------------------------------------------------------------- verified checkers
def verdicts(folder: Path, cnf: Cnf, proofs: dict[str, str]) -> dict[str, bool]:
    """Whether ACL2's verified checker accepts proofs: judged by what it writes; its exit code is always 0."""
    (folder / "question.cnf").write_text(cnf.dimacs())
    said = {}
    for name, text in proofs.items():
        (folder / "proof.lrat").write_text(text)
        lines = (
            '(include-book "projects/sat/lrat/stobj-based/run" :dir :system)\n'
            f'(lrat::lrat-check "{folder}/question.cnf" "{folder}/proof.lrat")\n'
        )
        done = subprocess.run(
            ["acl2"], input=lines, capture_output=True, text=True, check=False, timeout=120, cwd=folder
        )
        said[name] = "s VERIFIED" in done.stdout
        assert said[name] != ("s FAILED" in done.stdout or "ACL2 Error in TOP-LEVEL" in done.stdout)
    return said


@pytest.mark.debian
def test_acl2s_verified_checker_accepts_our_proofs_and_no_forged_one(tmp_path: Path) -> None:
    cnf, steps = proved()
    last = steps[-1]
    forged = {
        "without its last hint": [*steps[:-1], last._replace(hints=last.hints[:-1])],
        "without a step": [step for step in steps if step.ident != last.hints[0]],
        "without the empty clause": steps[:-1],
    }
    assert last.hints[0] > len(cnf.clauses)
    said = verdicts(tmp_path, cnf, {k: lrat_text(v) for k, v in {"ours": steps, **forged}.items()})
    assert said == {"ours": True, **dict.fromkeys(forged, False)}


@pytest.mark.debian
@pytest.mark.skipif(shutil.which("cake_lpr") is None, reason="cake_lpr is no package of Debian")
def test_cake_lpr_accepts_our_proofs_and_no_forged_one(tmp_path: Path) -> None:
    cnf, steps = proved()
    question, proof = tmp_path / "question.cnf", tmp_path / "proof.lrat"
    question.write_text(cnf.dimacs())
    for kept, verdict in ((steps, True), (steps[:-1], False)):
        proof.write_text(lrat_text(kept))
        done = subprocess.run(
            ["cake_lpr", str(question), str(proof)], capture_output=True, text=True, check=False
        )
        assert ("s VERIFIED UNSAT" in done.stdout) is verdict
