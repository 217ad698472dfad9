"""How far results fall where an operand grows: found, replayed, and never of what is monotone."""

from __future__ import annotations

import json
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tcformal.analysis.monotonicity import Fall, FallSearch, Monotonicity, monotonicity
from tcformal.cli import main
from tcformal.errors import InputError, InvariantError
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.values import decode
from tcformal.query.question import Kind
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.runnable import RunnableProgram, computation

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
_E4M1 = "a_format=e2m1,b_format=e2m1,c_format=e4m1,d_format=e4m1,zero_sign=ieee"
FMA = f"sequential@products=1,accumulator=RNE-E4M1,conversion=RNE-E4M1,overflow=ieee,{_E4M1}"


def value(x: Unit | RunnableProgram, w: Witness) -> Fraction:
    """The result by the oracle."""
    if isinstance(x, Unit):
        return decode(x.d_format, unit_dot(x.spec, w.a, w.b, w.c)).number
    return decode(x.d_format, program_result(x.program.plan(len(w.a)), w.a, w.b, w.c)).number


def checked(x: Unit | RunnableProgram, f: Fall) -> None:
    """One operand grows, everything else stays, and the result falls by what is said."""
    changed = [
        (fmt, p, q)
        for fmt, rows in (
            (x.a_format, (f.first.a, f.second.a)), (x.b_format, (f.first.b, f.second.b)),
            (x.c_format, ((f.first.c,), (f.second.c,))),
        )
        for p, q in zip(*rows, strict=True)
        if p != q
    ]  # fmt: skip
    assert len(changed) == 1
    (fmt, p, q), = changed  # fmt: skip
    assert decode(fmt, p).number < decode(fmt, q).number
    assert value(x, f.first) - value(x, f.second) == f.fall > 0


@pytest.mark.parametrize(
    ("name", "length", "ulps", "relative"),
    [(VOLTA, 4, 1, 1.99), pytest.param("markidis", 4, 1, 1.0, marks=pytest.mark.slow)],
)
def test_results_fall_where_c_crosses_a_power_of_two(
    name: str, length: int, ulps: int, relative: float
) -> None:
    """FASI's 1 ulp on Volta, and nearly two units of u·(Σ|a_k·b_k| + |c|) for terms of any signs."""
    x = computation(name)
    m = monotonicity(name, length=length)
    assert {f.operand for f in m.falls} == {"c"}
    for f in m.falls:
        checked(x, f)
        assert f.growth > 0
    largest = m.largest("c")
    assert largest is not None
    assert largest.ulps >= ulps
    assert max(f.relative for f in m.falls) > relative
    assert (m.largest("a"), m.claim, m.proved) == (None, None, False)


@pytest.mark.slow
def test_a_factor_that_grows_may_lower_a_compensated_sum() -> None:
    x, m = computation("kahan"), monotonicity("kahan", length=3)
    f = m.largest("a")
    assert f is not None
    assert f.operand == "a[0]"
    checked(x, f)


def test_what_is_monotone_never_falls() -> None:
    """A fused multiply-add of few bits."""
    m = monotonicity(FMA, prove=False)
    assert (m.falls, m.claim, m.proved) == ((), None, False)
    assert [m.verdict(x) for x in "ca"] == [Kind.UNKNOWN] * 2


@pytest.mark.slow
def test_what_is_proved_has_no_defect() -> None:
    """A larger c gives no smaller result: the kernel's claim."""
    m = monotonicity(FMA)
    assert m.claim is not None
    assert (m.falls, m.proved) == ((), True)
    assert [m.verdict(x) for x in "ca"] == [Kind.HOLDS, Kind.UNKNOWN]


@pytest.mark.parametrize("checked", [True, False])
def test_the_theorem_speaks_of_c_alone(checked: bool) -> None:
    """And only where its proof was checked."""
    claim: Any = SimpleNamespace(kind=Kind.HOLDS, checked=checked)
    m = Monotonicity(name="a unit", length=1, falls=(), claim=claim)
    assert [m.verdict(x) for x in "ca"] == [Kind.HOLDS if checked else Kind.UNKNOWN, Kind.UNKNOWN]


def test_what_does_not_fall_is_no_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that a search takes for falls are counted again."""
    a = np.zeros((2, 4), np.uint64)
    rows = (a, a[0], np.array([0x3F800000, 0x3F800001], np.uint64))
    monkeypatch.setattr(FallSearch, "best", lambda self: rows)
    with pytest.raises(InvariantError, match="expected a fall of volta"):
        monotonicity(VOLTA)


def test_what_a_claim_is_not_about_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum that truncates, of which no fall is found."""
    monkeypatch.setattr(FallSearch, "best", lambda self: None)
    m = monotonicity(VOLTA)
    assert (m.claim, m.verdict("c")) == (None, Kind.UNKNOWN)


def test_the_command_says_what_falls() -> None:
    done = CliRunner().invoke(main, ["monotonicity", VOLTA, "--json", "--no-prove"])
    assert done.exit_code == 0
    made = json.loads(done.stdout)
    assert [(f["operand"], f["ulps"] >= 1) for f in made["falls"]] == [("c", True)] * 2
    assert made["verdicts"] == {"c": "VIOLATED", "a": "UNKNOWN"}
    shown = CliRunner().invoke(main, ["monotonicity", VOLTA, "-v"]).stdout
    assert "c" in shown
    assert f"tcformal eval {VOLTA}" in shown
    assert "no larger factor gives a smaller result: UNKNOWN" in " ".join(shown.split())


@pytest.mark.parametrize("length", [0, 5000])
def test_lengths_out_of_range(length: int) -> None:
    with pytest.raises(InputError, match="for length"):
        monotonicity(VOLTA, length=length)
