"""`programs`, `compare-programs` and `explain` of a program, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sampled import one_in
from tcformal.cli import main

MINE = """
title = "one product of rounded words"
source = "mine"
inputs = { a = "fp32", b = "fp32", c = "fp32" }
parameters = { word = "bf16" }
body = \"\"\"
d = c
for x, y in elements(convert(a, word), convert(b, word)):
    d = fma(x, y, d, fp32)
\"\"\"
"""


def call(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A user's file in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TCFORMAL_RESULTS", raising=False)
    (tmp_path / "mine.toml").write_text(MINE, encoding="utf-8")
    return "mine.toml"


def test_programs_are_listed_and_shown(mine: str) -> None:
    listed = call("programs")
    assert listed.exit_code == 0
    assert "bf16x9" in listed.output
    rows = json.loads(call("programs", "--json").output)
    assert {"name", "title", "source", "body", "parameters"} <= rows[0].keys()
    shown = call("programs", f"{mine}@word=fp16", "--length", "2")
    assert "parameter word = fp16" in shown.output
    assert "fused multiply-add, RNE to fp32" in shown.output
    assert "steps" in json.loads(call("programs", mine, "--length", "2", "--json").output)


def test_a_program_is_explained(mine: str) -> None:
    """A user's program without calls, and one with: each call bit by bit."""
    plain = call("explain", mine, "--a", "1.00390625,2", "--b", "1,2", "--c", "2^-30")
    assert plain.exit_code == 0
    assert "d = 5 " in plain.output
    calls = call("explain", "ootomo-yokota", "--a", "1.25", "--b", "3")
    assert "e_max" in calls.output or "aligned" in calls.output
    data = json.loads(call("explain", "ootomo-yokota", "--a", "1.25", "--b", "3", "--json").output)
    assert data["value"] == "3.75"
    assert any("call" in stage for stage in data["stages"])


def test_a_comparison_finds_inputs_and_keeps_them(mine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's program against the package's: exit 1, served again, and shown among the results."""
    monkeypatch.setattr("tcformal.query.programs._PRODUCTS", 1 << 10)
    words = ("compare-programs", mine, "fma-chain", "--assume", "c=0", "--more-than", "8")
    first = call(*words)
    assert first.exit_code == 1, first.output
    assert "VIOLATED" in first.output
    assert "tcformal explain mine.toml" in first.output
    again = json.loads(call(*words, "--json").output)
    assert again["served"]
    assert again["means"] == "solver"
    assert mine in call("results", "list").output
    long = call(
        "compare-programs", mine, "fma-chain", "--length", "40", "--assume", "c=0", "--means", "search"
    )
    assert long.exit_code == 1
    assert "means: search" in long.output


@pytest.mark.parametrize(
    ("rounding", "c", "results"), one_in(2, [("RU", "1.25", "1 2"), ("RZ", "1.5", "2 1")])
)
def test_roundings_to_e8m0_part_on_the_simplest_inputs(
    rounding: str, c: str, results: str, tmp_path: Path
) -> None:
    """A result without Inf has simple inputs too; the first line says that results differ."""
    other, kept = f"convert@rounding={rounding}", ["--results", str(tmp_path)]
    words = ["compare-programs", "convert", other, "--differ", "--assume", "positive", *kept]
    done = call(*words)
    assert done.exit_code == 1
    assert done.stdout.startswith(f"VIOLATED: the results of convert and {other} differ; vectors found")
    data = json.loads(call(*words, "--json").stdout)
    assert data["witness"]["c"]["value"] == c
    assert " ".join(x["value"] for x in data["results"].values()) == results
    same = call(
        "compare-programs", "convert", "convert@rounding=RNA", "--differ", "--assume", "positive", *kept
    )
    assert same.exit_code == 0
    assert same.stdout.startswith("HOLDS")


@pytest.mark.parametrize(
    ("name", "d"), [("mx", "9.5"), ("nvfp4", "10485761*2^-20"), ("chained@unit=b200:mxf8", "9.5")]
)
def test_programs_with_block_scales_are_asked_and_measured(name: str, d: str) -> None:
    """Scales of one unless they are given; no bound is known, and the answer says why.

    NVFP4 makes 0.75 of 0.5 beside 4, which a tie rounds to 1; the scales' errors are the last bit.
    """
    assert call("eval", name, "--a", "2,3", "--b", "4,0.5").stdout.startswith(f"d = {d}")
    done = call("accuracy", name, "--length", "32")
    assert done.exit_code == 3
    assert "no bound:" in done.stdout
    assert call("explain", name, "--a", "2,3", "--b", "4,0.5").stdout.startswith(f"d = {d}")


def test_a_program_is_exported(mine: str) -> None:
    """SMT-LIB, and a C header, of two products."""
    text = call("export", mine, "--length", "2", "--to", "smtlib")
    assert text.exit_code == 0, text.output
    assert "(declare-const |a_1|" in text.output or "(declare-const a_1" in text.output
    assert "one product of rounded words" in text.output
    header = call("export", "chained", "--to", "c")
    assert "calls: hopper/wgmma.m64n8k32.f32.e4m3.e4m3" in header.output


def test_the_error_of_a_program_is_bounded(mine: str) -> None:
    given = ("accuracy", f"{mine}@word=tf32", "--length", "2")
    shown = call(*given)
    assert shown.exit_code == 0
    assert "the bound holds for: c = 0; every element is zero, or normal" in shown.output
    data = json.loads(call(*given, "--exponents", "-2..2", "--json").output)
    assert data["exponents"] == [-2, 2]
    # Two words that are cut to 11 bits, and two sums to 24.
    assert 2.0**-11 < data["attained"]["value"] <= data["bound"]["value"] < 1.001 * 2.0**-10
    assert call(*given, "--no-prove").exit_code == 0
    refused = call("accuracy", f"{mine}@word=e4m3", "--length", "2")
    assert refused.exit_code == 3
    assert "no bound: expected words that do not overflow e4m3" in refused.output


@pytest.mark.slow
def test_a_program_that_loses_more_is_worse_on_the_inputs_found() -> None:
    """A unit that flushes the second words; nothing is said with an assumption that inputs may not meet."""
    given = ("compare-programs", "markidis@unit=cdna2/v_mfma_f32_32x32x8f16", "fma-chain", "--length", "1")
    asked = (*given, "--assume", "c=0", "--assume", "exponents=-6..14", "--means", "theorem", "--in", "sum")
    done = call(*asked, "--more-than", "2^-17")
    assert done.exit_code == 1
    assert "1/131072·Σ|a·b|: VIOLATED by 0.000" in done.output.splitlines()[0]
    assert call(*asked, "--more-than", "2^-9").exit_code == 0
    assert call(*asked, "--more-than", "2^-17", "--assume", "nonzero").exit_code == 3
    positive = json.loads(call(*asked, "--more-than", "2^-17", "--assume", "positive", "--json").output)
    signs = any(int(word, 16) >> 31 for letter in "ab" for word in positive["attained"][letter])
    assert positive["verdict"] == ("UNKNOWN" if signs else "VIOLATED")


def test_a_program_is_not_worse_by_a_theorem(mine: str) -> None:
    """64 products, of which no solver could say it: the error of the one alone is small enough."""
    given = ("compare-programs", "pairwise", "fma-chain", "--length", "64", "--means", "theorem")
    asked = (*given, "--assume", "c=0", "--in", "sum", "--more-than")
    held = call(*asked, "1/1000000")
    assert held.exit_code == 0
    assert "err(pairwise) <= err(fma-chain) + 1/1000000·Σ|a·b|: HOLDS" in held.output
    assert call(*asked, "1/10000000").exit_code == 3
    assert json.loads(call(*asked, "1/10000000", "--json").output)["verdict"] == "UNKNOWN"
    assert call(*given, "--in", "sum", "--more-than", "1").exit_code == 2
    assert call(*given, "--assume", "c=0").exit_code == 2
