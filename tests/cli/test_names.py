"""Names of processors on the command line: in answers and data, as filters, and in completion."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from tcformal.cli.unit_names import completions
from tcformal.query.claims.register import units_of
from tcformal.query.pairs.pairs import groups

Run = Callable[..., Result]
H100, A100 = "hopper/wgmma.m64n8k16.f32.f16.f16", "ampere/mma.m16n8k16.f32.f16.f16.f32"
ONES = ("--a", "1", "--b", "1", "--c", "-2^-25")


def test_an_answer_has_the_names_that_were_given_and_says_what_they_are(run: Run) -> None:
    result = run("separate", "H100", "a100@fraction_bits=25", "--json", "--no-certify")
    assert set(json.loads(result.stdout)["units"]) == {f"{A100}@fraction_bits=25", H100}
    result = run("explain", "H100", "a100@carry_bits=9", *ONES)
    answer, _, names = " ".join(result.stdout.split()).partition(f"h100:fp16 = {H100}; also hopper/mma.")
    assert f" a100:fp16 = {A100}; also ampere/mma." in names
    assert " h100:fp16 " in answer
    assert " a100:fp16@carry_bits=9 " in answer
    assert H100 not in answer
    assert A100 not in answer


@pytest.mark.parametrize(
    "words", [("eval", "h100", *ONES, "--json"), ("export", "h100", "--to", "json"), ("eval", H100, *ONES)]
)
def test_data_and_exports_have_the_whole_names(run: Run, words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.exit_code == 0
    assert H100 in result.stdout
    assert "h100" not in result.stdout.replace("NVIDIA H100", "")


def test_two_names_of_one_unit_are_both_explained(run: Run) -> None:
    result = run("eval", "h100", "h200:fp16", *ONES)
    for name in ("h100:fp16", "h200:fp16"):
        assert f"\n{name} = {H100}; also" in result.stdout


def test_a_name_of_one_command_is_not_of_the_next(run: Run) -> None:
    assert "h100" in run("eval", "h100", *ONES).stdout
    assert "h100" not in run("eval", H100, *ONES).stdout


def test_a_processor_chooses_by_its_architecture() -> None:
    assert [g.pairs for g in groups("v100")] == [g.pairs for g in groups("volta/")]
    assert [u.name for u in units_of(["product-order"], "t4")] == [
        u.name for u in units_of(["product-order"], "turing/")
    ]


def test_processors_and_their_formats_are_completed() -> None:
    assert completions("h10") == ["h100"]
    assert completions("H100:t") == ["H100:tf32"]
    assert completions("h100:e") == ["h100:e5m2", "h100:e4m3"]
    assert completions("hopper:bf") == ["hopper:bf16"]
    assert completions("nobody:") == []
    assert completions("h100:fp16@fraction") == ["h100:fp16@fraction_bits="]
