"""Two programs compared: inputs and proofs by solvers, random rows for long ones, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import tcformal
from tcformal.backends.concrete import Concrete
from tcformal.errors import InputError, UnknownNameError
from tcformal.oracle.values import parse_value
from tcformal.programs.program import Program, program
from tcformal.query.assume import Assumptions
from tcformal.query.comparison.drawn import draw, drawn_rows
from tcformal.query.comparison.error_comparison import ErrorComparison, error_comparison
from tcformal.query.comparison.parameters import ProgramPair
from tcformal.query.programs import compare_programs
from tcformal.query.question import Kind
from tcformal.simulation.operands.witness import Witness
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
    assert run.confirms
    assert run.ulps is not None
    assert run.ulps[1] <= Fraction(1, 2) < run.ulps[0]
    data = found.to_json()
    assert data["programs"] == ["bf16x9", "fma-chain"]
    assert data["means"] == "solver"


@pytest.mark.slow
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


@pytest.mark.long
def test_a_difference_of_results() -> None:
    """CUTLASS's and Triton's words differ."""
    found = compare_programs(
        "cutlass-3xtf32", "triton-3xtf32", assumptions=NO_C, differ=True, limits=LIMITS
    )  # fmt: skip
    assert found.kind is Kind.VIOLATED
    assert found.results is not None
    assert found.results[0] != found.results[1]


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
    q = found.verdict.question
    return q.build(q.parts())


def test_long_products_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """512 fp8 products: flat accumulation is worse in many rows, promoted in few; counts add up."""
    monkeypatch.setattr("tcformal.query.programs._PRODUCTS", 1 << 15)
    flat = compare_programs("chained", "deepgemm-fp8", length=512, assumptions=NO_C, limits=LIMITS)
    assert flat.kind is Kind.VIOLATED
    assert flat.means == "search"
    assert flat.drawn is not None
    assert flat.drawn.worse > 4 * flat.drawn.better
    assert flat.drawn.worse + flat.drawn.better + flat.drawn.equal <= flat.drawn.compared
    assert "rows" in flat.to_json()
    same = compare_programs("chained", "chained", length=40, assumptions=NO_C, limits=LIMITS)
    assert same.kind is Kind.UNKNOWN
    assert "says nothing about the others" in same.reason


def test_errors_are_exact() -> None:
    """On random rows the DAG's errors, exact values and verdicts are those of the fractions."""
    shown = 0
    for q in (
        pair("bf16x9@bands=2", "fma-chain", 2, assumptions=Assumptions()),
        pair("deepgemm-fp8", "chained", 3, assumptions=Assumptions(), more_than=Fraction(1, 4)),
        pair("bf16x9@bands=2", "kahan", 2, assumptions=Assumptions(), more_than=Fraction(3, 1 << 22),
             counted_in="sum"),
    ):  # fmt: skip
        x = drawn_rows(q.parameters, 24, 5)
        for i in range(24):
            w = Witness(tuple(map(int, x.a[i])), tuple(map(int, x.b[i])), int(x.c[i]))
            run = q.replay(w.inputs())
            assert run.assumed, w
            assert run.integers == run.oracle
            assert run.same_errors, w
            assert run.violated == run.confirms
            by = {"ulp": run.excess_ulps, "sum": run.excess_share}[q.parameters.measure]
            least = q.parameters.more_than
            larger = run.excess is not None and run.excess > 0
            assert run.violated == (larger if least is None else by is not None and by > least)
            shown += run.violated
    assert shown > 5


def test_random_rows_obey_the_assumptions() -> None:
    """Signs, zeros, c and exponents."""
    what = pair("fma-chain", "kahan", 5, assumptions=Assumptions(("positive", "nonzero"), (-3, 4))).parameters
    q = error_comparison(what)
    run, x = Concrete(q.graph, [q.assumed]), drawn_rows(what, 40, 1)
    for i in range(40):
        assert run(Witness(tuple(map(int, x.a[i])), tuple(map(int, x.b[i])), int(x.c[i])).inputs()) == [1]
    assert draw(what, 40, 1).tried == 40


def test_replay_refuses_what_does_not_violate() -> None:
    """A DAG that says otherwise, wrong errors and equal results are no witnesses."""
    q = pair("bf16x9", "fma-chain")
    one = parse_value(q.parameters.formats["a"], "1")
    exact = Witness((one,), (one,), 0).inputs()
    assert not q.replay(exact).confirms
    assert not replace(q, violated=q.graph.truth(True)).replay(exact).confirms
    differ = pair("bf16x9", "fma-chain", results_differ=True)
    assert not replace(differ, violated=differ.graph.truth(True)).replay(exact).confirms


def test_what_does_not_fit_is_refused() -> None:
    """Unlike inputs, measures, means and lengths."""
    with pytest.raises(InputError, match="two programs of equal inputs"):
        compare_programs("chained", "fma-chain")
    with pytest.raises(UnknownNameError, match="measure of an excess"):
        compare_programs("bf16x9", "fma-chain", counted_in="ulps")
    with pytest.raises(UnknownNameError, match="means"):
        compare_programs("bf16x9", "fma-chain", means="guess")
    with pytest.raises(InputError, match="an excess or a difference"):
        compare_programs("bf16x9", "fma-chain", more_than=1, differ=True)
    with pytest.raises(InputError, match="length"):
        compare_programs("bf16x9", "fma-chain", length=0)
    with pytest.raises(InputError, match="no assumption spread"):
        compare_programs("bf16x9", "fma-chain", assumptions=Assumptions(spread=3))
    wide = Program(
        name="w", title="t", source="s", inputs={"a": "fp32", "b": "fp32", "c": "fp32"},
        body="d = fma(a[0], b[0], c, fp64)",
    )  # fmt: skip
    with pytest.raises(InputError, match="results of one format"):
        compare_programs(wide, "fma-chain", differ=True)
