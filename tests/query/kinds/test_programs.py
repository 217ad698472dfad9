"""Two programs compared: inputs and proofs by solvers, random rows for long ones, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import tcformal
from tcformal.programs.program import program
from tcformal.query.assume import Assumptions
from tcformal.query.kinds.comparison.pair import ProgramPair
from tcformal.query.kinds.comparison.programs import PROGRAMS
from tcformal.query.kinds.comparison.question import ErrorComparison, error_comparison
from tcformal.query.programs import compare_programs
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.store.store import Store

LIMITS = Limits(time_s=60, memory_mb=8192, seed=0)
NO_C = Assumptions(c=0)
HALVES = "volta/mma.m8n8k4.f32.f16.f16.f32"


def pair(worse: str, other: str, products: int = 1, **more: object) -> ErrorComparison:
    """The question of two programs."""
    settings = {"assumptions": NO_C, **more}
    return error_comparison(
        ProgramPair(worse=program(worse), other=program(other), products=products, **settings)  # type: ignore[arg-type]
    )


def test_bf16x9_is_worse_than_an_fma() -> None:
    """Inputs are found at once, replay on integers and fractions, and name the means."""
    found = compare_programs("bf16x9", "fma-chain", assumptions=NO_C, limits=LIMITS)
    assert found.kind is Kind.VIOLATED
    assert found.means == "solver"
    assert found.verdict is not None
    run = found.verdict.replayed
    assert run.violates
    assert run.ulps is not None
    assert run.ulps[1] <= Fraction(1, 2) < run.ulps[0]
    data = found.to_json()
    assert data["programs"] == ["bf16x9", "fma-chain"]
    assert data["means"] == "solver"


def test_never_worse_is_proved() -> None:
    """One call and nothing else is never another than the same call and + 0."""
    unit = f"unit={HALVES}"
    found = compare_programs(
        f"added-outside@{unit}", f"chained@{unit},word=fp16", assumptions=NO_C, limits=LIMITS, more_than=0
    )
    assert found.kind is Kind.HOLDS
    assert found.verdict is not None
    assert found.verdict.certificate is not None or found.verdict.confirmed_by
    assert found.witness is None


def test_answers_are_kept(tmp_path: Path) -> None:
    """The same question is served, a program from a file with all its text."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'title = "t"\nsource = "s"\ninputs = { a = "fp32", b = "fp32", c = "fp32" }\n'
        'parameters = { word = "bf16" }\nbody = "d = fma(convert(a[0], word), b[0], c, fp32)"\n',
        encoding="utf-8",
    )
    store = Store(tmp_path / "results")
    first = compare_programs(str(path), "fma-chain", assumptions=NO_C, limits=LIMITS, store=store)
    path.unlink()
    kept = store.find(_question(first))
    assert kept is not None
    assert kept.kind is Kind.VIOLATED
    assert kept.inputs == first.verdict.inputs  # type: ignore[union-attr]
    assert kept.served


def _question(found: tcformal.ProgramsCompared) -> ErrorComparison:
    assert found.verdict is not None
    return PROGRAMS.build(PROGRAMS.parts(found.verdict.question))
