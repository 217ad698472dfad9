"""`prove --claim`: what it prints, its exit codes, and the words it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tcformal.cli import main

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def run(*words: str) -> Result:
    # Wide enough for every name to be on one line, whoever confirmed it.
    return CliRunner().invoke(main, ["prove", *words], env={"COLUMNS": "200"})


def test_a_claim_that_holds_exits_0_and_names_its_lemmas() -> None:
    result = run(VOLTA, "--claim", "product-order")
    assert result.exit_code == 0, result.output
    assert "HOLDS: no order of the 4 products changes the result" in result.output
    assert "add_mod on 29 bits is associative" in result.output
    assert "3 proved" in result.output


def test_a_claim_that_is_refuted_exits_1_and_shows_the_witness() -> None:
    result = run("tfdpa@products=1,k=2", "--claim", "product-order")
    assert result.exit_code == 1, result.output
    assert "VIOLATED: the order matters" in result.output
    assert "replayed on integers and fractions" in " ".join(result.output.split())


def test_json_holds_every_lemma_and_the_composition() -> None:
    result = run(VOLTA, "--claim", "product-order", "--json", "--certify")
    data = json.loads(result.stdout)
    assert data["verdict"] == "HOLDS"
    assert {"name", "sha256", "decided_by", "confirmed_by", "certificate"} <= data["lemmas"][0].keys()
    assert all(lemma["certificate"]["format"] == "DRUP" for lemma in data["lemmas"])


def test_several_units_make_a_table() -> None:
    result = run("--claim", "product-order", "--filter", "volta/")
    assert result.exit_code == 0, result.output
    assert "product-order: 3 HOLDS" in result.output
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_one_unit_chosen_by_text_makes_a_table_too() -> None:
    result = run("--claim", "product-order", "--filter", "volta/mma.m8n8k4.f16")
    assert result.exit_code == 0, result.output
    assert "product-order: 1 HOLDS" in result.output


@pytest.mark.slow
def test_all_claims_skip_those_that_do_not_fit_one_unit() -> None:
    result = run(
        "sequential@products=2,k=2,a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16",
        "--claim",
        "all",
        "--json",
    )
    data = json.loads(result.stdout)
    assert result.exit_code == 1, result.output
    assert {r["claim"] for r in data["refused"]} == {
        "sign-magnitude",
        "carry-bits",
        "relative-error",
        "zero-exponent",
        "exact-sum",
    }
    assert {c["claim"]: c["verdict"] for c in data["claims"]} == {
        "product-order": "VIOLATED", "negation-symmetry": "HOLDS", "zero-products": "VIOLATED",
        "error-bound": "HOLDS", "monotonicity": "HOLDS", "integer-sums": "HOLDS",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((VOLTA, "--claim", "order"), "the closest are product-order"),
        ((VOLTA, VOLTA, "--claim", "all"), "expected at most one unit with --claim"),
        ((VOLTA, "--claim", "all", "--filter", "x"), "expected a unit or --filter"),
        ((VOLTA, "--claim", "all", "--assume", "finite"), "expected --assume with one unit and one claim"),
        (("--claim", "product-order", "--assume", "finite"), "expected --assume with one unit and one claim"),
        ((VOLTA, "--claim", "carry-bits", "--assume", "c=0"), "claim carry-bits uses (none), but got c=0x0"),
        ((VOLTA, "--claim", "negation-symmetry", "--explain"), "expected no --explain"),
        (("--claim", "all", "--filter", "no such unit"), "expected a unit that all fits"),
        ((VOLTA, VOLTA, "--filter", "x"), "expected --filter with --claim only"),
        ((VOLTA,), "expected two units or --claim"),
        (("x86/vdpbf16ps", "--claim", "carry-bits"), "truncated fused sum"),
    ],
)
def test_refused_words_exit_2_with_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_an_answered_claim_is_served_until_it_is_asked_afresh() -> None:
    """With --certify: a lemma that two solvers agreed on cannot be checked again, and is proved again."""
    words = ("valpey@terms=3,fraction_bits=5", "--claim", "sign-magnitude", "--certify")
    first, again, fresh = run(*words), run(*words), run(*words, "--fresh")
    assert [r.exit_code for r in (first, again, fresh)] == [0, 0, 0]
    assert ["--fresh asks again" in r.stderr for r in (first, again, fresh)] == [False, True, False]
    assert first.stdout.splitlines()[:4] == again.stdout.splitlines()[:4]


def test_a_claim_asked_afresh_is_kept_with_its_lemmas() -> None:
    words = ("valpey@terms=3,fraction_bits=5", "--claim", "sign-magnitude", "--certify")
    fresh, again = run(*words, "--fresh"), run(*words)
    assert (fresh.exit_code, again.exit_code) == (0, 0)
    assert "--fresh asks again" in again.stderr
    assert "is asked again" not in again.stderr


def test_kept_claims_are_verified_on_request(results_folder: Path) -> None:
    run("valpey@terms=3,fraction_bits=5", "--claim", "sign-magnitude", "--certify")
    verify = ["results", "verify", "--claims"]
    result = CliRunner().invoke(main, verify)
    assert result.exit_code == 0, result.output
    assert "sign-magnitude of valpey@terms=3,fraction_bits=5 holds: HOLDS, proved again on" in result.stdout
    data = json.loads(CliRunner().invoke(main, [*verify, "--json"]).stdout)
    assert [c["standing"] for c in data["claims"]] == ["holds"]
    (results_folder / "lemmas.jsonl").write_text("")
    result = CliRunner().invoke(main, [*verify, "sign-mag"])
    assert result.exit_code == 0
    assert "1 records hold" in result.stdout
    result = CliRunner().invoke(main, [*verify, "error-bound"])
    assert result.exit_code == 2
    assert "expected a text in the name of a claim or its unit, but got 'error-bound'" in result.stderr
    assert CliRunner().invoke(main, [*verify, "0123"]).exit_code == 2
