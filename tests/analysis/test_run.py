"""Running query files: outcomes, golden inputs on three interpretations, and what is kept and served."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sampled import one_in
from tcformal.analysis import asks as running
from tcformal.analysis.asks import evaluate_three, golden_witness, run, run_query
from tcformal.analysis.queryfile import Ask, find, known_queries, load
from tcformal.cli import main
from tcformal.design.names import resolve
from tcformal.query.options import solve_options
from tcformal.solve.result import Limits
from tcformal.store.store import Store

LIMITS = Limits(120.0, 8192, 0)

GOLDEN = [
    pytest.param(ask, id=f"{name}: {ask.name}")
    for name in known_queries()
    for ask in find(name).concrete()
    if ask.kind == "evaluate"
]

SMALL = """
title = "Carry bits"
source = "VALPEY §4.3"
[[ask]]
name = "too few"
separate = ["valpey@terms=3,carry_bits=1", "valpey@terms=3,carry_bits=2"]
expected = "SEPARATED"
[[ask]]
name = "enough"
separate = ["valpey@terms=3,carry_bits=2", "valpey@terms=3,carry_bits=3"]
expected = "EQUIVALENT"
[[ask]]
name = "no minus zero"
property = "no-negative-zero"
unit = "volta/mma.m8n8k4.f32.f16.f16.f32"
expected = "VIOLATED"
[[ask]]
name = "golden"
unit = "valpey@terms=3"
a = ["2"]
b = ["1"]
c = "-2^-40"
d = "{d}"
cases = [{ d = "2" }, { d = "3" }]
expected = "REPRODUCED"
"""


@pytest.mark.parametrize("ask", one_in(4, GOLDEN))
def test_golden_inputs_on_all_three_interpretations(ask: Ask) -> None:
    spec = resolve(ask.body["unit"])
    results = evaluate_three(spec, golden_witness(spec, ask.body["a"], ask.body["b"], ask.body["c"]))
    assert len(set(results.values())) == 1
    outcome, _ = running.ASKERS["evaluate"](ask, solve_options(LIMITS, store=Store(Path("unused"))))
    assert outcome == ask.expected


def test_a_file_is_run_kept_and_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    query = load(path)
    store = Store(tmp_path / "results")
    how = solve_options(LIMITS, certify=True, store=store)
    done = list(run(query, query.concrete(), how))
    outcomes = ["SEPARATED", "EQUIVALENT", "HOLDS", "REPRODUCED", "DIFFERENT"]
    assert [a.outcome for a in done] == outcomes
    assert [a.as_expected for a in done] == [True, True, False, True, False]
    # Only verdicts are kept: what a question came to is made of them again.
    assert [e.record["verdict"] for e in store.records()] == outcomes[:3]
    lines = store.path.read_bytes()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("asked again")

    # Golden inputs are evaluated again, because that is as cheap as looking.
    monkeypatch.setattr("tcformal.query.engine.answer", never)
    again = list(run(query, query.concrete(), how))
    assert [a.outcome for a in again] == outcomes
    assert all(a.served for a in again[:3])
    assert store.path.read_bytes() == lines
    with pytest.raises(AssertionError, match="asked again"):
        list(run(query, query.concrete(), solve_options(LIMITS, store=store, fresh=True)))


def test_a_kept_answer_of_another_definition_is_not_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    query = load(path)
    ask = query.concrete()[2]
    store = Store(tmp_path / "results")
    how = solve_options(LIMITS, certify=True, store=store)
    assert [a.served for a in run(query, [ask], how)] == [""]
    assert [bool(a.served) for a in run(query, [ask], how)] == [True]
    text = store.path.read_text(encoding="utf-8")
    digest = store.records()[0].digest
    store.path.write_text(text.replace(digest, "0" * 64), encoding="utf-8")
    how = solve_options(LIMITS, certify=True, store=Store(tmp_path / "results"))
    assert [a.served for a in run(query, [ask], how)] == [""]


def test_a_statement_holds_what_its_readers_need(tmp_path: Path) -> None:
    """`run --statements`: the source's formula, the inputs, both results, and commands that repeat them."""
    folder, results = tmp_path / "texts", str(tmp_path / "results")
    asked = ["run", "power/xvbf16ger2", "--statements", str(folder), "--results", results]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    text = (folder / "power-xvbf16ger2.md").read_text()
    for wanted in (
        "Power ISA 3.1B", "its exponent unbounded", "SEPARATED", "first 0; second 2^-149",
        "`tcformal eval power10/xvbf16ger2pp power10/xvbf16ger2pp@accumulator=RNE-FP32 --a",
        "`tcformal run power/xvbf16ger2 --fresh`",
    ):  # fmt: skip
        assert wanted in text, wanted


@pytest.mark.parametrize(
    ("bound", "attained", "outcome"),
    [("4.0001", "1", "BOUNDED"), ("3.9", "1", "FOUND"), ("4.0001", "4.01", "UNKNOWN")],
)
def test_an_error_is_bounded_where_both_numbers_are_met(
    tmp_path: Path, bound: str, attained: str, outcome: str
) -> None:
    path = tmp_path / "error.toml"
    path.write_text(
        'title = "x"\nsource = "me"\n[[ask]]\nname = "one"\nexpected = "BOUNDED"\n'
        f'error = {{ of = "fma-chain", length = 4, bound = "{bound}", attained = "{attained}" }}\n'
    )
    (found,) = run_query(path)
    assert found.outcome == outcome
    assert found.answer["reason"].startswith("at most 4")
    assert found.as_expected == (outcome == "BOUNDED")


@pytest.mark.parametrize(
    ("asked", "outcome", "reason"),
    [
        ('of = "kahan", length = 8, elements = 16, random = "1.251"', "REPRODUCED", "16 products of 8"),
        ('of = "kahan", length = 8, elements = 16, random = "1.252"', "DIFFERENT", "largest 1.251"),
        ('of = "volta/mma.m8n8k4.f32.f16.f16.f32", falls = "1"', "FOUND", "falls by 1 ulps"),
        ('of = "volta/mma.m8n8k4.f32.f16.f16.f32", falls = "3"', "UNKNOWN", "falls by 1 ulps"),
        ('of = "pairwise", length = 1, falls = "1"', "UNKNOWN", "none found"),
    ],
)
def test_what_is_measured_is_compared_with_what_is_stated(
    tmp_path: Path, asked: str, outcome: str, reason: str
) -> None:
    """Random products to four digits; falls by the least that is stated."""
    path = tmp_path / "measure.toml"
    path.write_text(
        f'title = "x"\nsource = "me"\n[[ask]]\nname = "one"\nexpected = "FOUND"\nmeasure = {{ {asked} }}\n'
    )
    (found,) = run_query(path)
    assert found.outcome == outcome
    assert reason in found.answer["reason"]
