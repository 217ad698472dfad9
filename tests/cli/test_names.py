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


def test_a_plain_computation_has_the_formats_and_k_of_the_unit_beside_it(run: Run) -> None:
    said = run("eval", "mi300x:bf16", "fma", "exact@k=2", *ONES).stdout
    assert " fma@k=16,a_format=bf16,b_format=bf16 " in " ".join(said.split())
    assert " exact@k=2,a_format=bf16,b_format=bf16 " in " ".join(said.split())
    assert run("prove", "mi300x:fp64", "fma").stdout.startswith("EQUIVALENT")
    assert run("separate", "fma", "h100:e4m3", "--no-certify").stdout.startswith("SEPARATED")
    # Formats that are given stay, and are refused where they differ.
    assert run("separate", "h100:bf16", "fma@a_format=fp16").exit_code == 2
    # Alone, it is what it was.
    assert "fma " in run("eval", "fma", *ONES).stdout


def test_the_mean_of_drawn_results_is_held_against_the_exact_sum(run: Run) -> None:
    name, ulp = "fma@k=1,d_format=bf16,rounding=SR4", 2.0**-7
    for c, bias in ((ulp / 4, "no bias"), (ulp / 64, f"bias -{ulp / 64:.10g}")):
        said = run("eval", name, "--a", "1", "--b", "1", "--c", str(c)).stdout.splitlines()[-1]
        assert said.startswith("mean ")
        assert bias in said or f"(~-{ulp / 64:.4g})" in said
    assert "mean" not in run("eval", name, "--a", "inf", "--b", "1").stdout


def test_one_scale_alone_is_that_of_every_block(run: Run) -> None:
    operands = ("b200:nvf4", "--a", "1:64", "--b", "1:64")
    once, each = (run("eval", *operands, "--scale-a", text).stdout for text in ("2", "2,2,2,2"))
    assert once == each
    assert once.startswith("d = 128\n")


def test_a_word_of_nan_that_is_a_number_is_said_as_one(run: Run) -> None:
    said = run("eval", "wormhole/MVMUL.fp16.fp16", "--a", "65504", "--b", "2").stdout
    assert said.startswith("d = 130048\n")
    assert "0x7ff0" in said
