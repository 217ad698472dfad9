"""Names that share one design build one circuit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.ir.build import Graph
from tcformal.ir.walk import digest
from tcformal.semantics.chain import chained_dot, declare_inputs, definition, misnamed

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def test_names_of_one_design_build_one_circuit() -> None:
    """Turing's units and those of later architectures that share their design, of two lengths."""
    names = distinct_designs()["turing/mma.m16n8k8.f32.f16.f16.f32"]
    units = [catalogue()[name] for name in names]
    assert len({u.arch for u in units}) > 1
    seen: list[tuple[int, int]] = []
    assert misnamed({units[0].name: units}, lambda done, total: seen.append((done, total))) == {}
    assert seen[-1] == (len(units), len(units))


def test_a_name_of_another_design_is_noticed() -> None:
    volta = catalogue()[VOLTA]
    other = replace(volta, name="volta/other", design=replace(volta.design, fraction_bits=24))
    assert misnamed({VOLTA: [volta, other]}) == {"volta/other": VOLTA}


def test_the_command_says_how_many() -> None:
    result = CliRunner().invoke(main, ["units", "--arch", "volta", "--check"])
    assert result.exit_code == 0, result.output
    assert "names of 3 designs: each builds the circuit of its design" in result.output


def test_the_command_names_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.semantics.chain.misnamed", lambda *_: {"volta/other": VOLTA})
    result = CliRunner().invoke(main, ["units", "--arch", "volta", "--check"])
    assert result.exit_code == 1, result.output
    assert f"volta/other does not build the circuit of {VOLTA}" in result.output


def test_a_circuit_does_not_depend_on_name_and_tile() -> None:
    volta = catalogue()[VOLTA]
    other = replace(volta, name="volta/other", m=1, n=2, notes=("a remark",))
    digests = []
    for spec in (volta, other):
        g = Graph()
        digests.append(digest(g, {"d": chained_dot(g, spec, declare_inputs(g, spec, spec.k)).result}))
    assert digests == [definition(volta), definition(other)] == 2 * digests[:1]
