"""`prove --claim`: what it prints, its exit codes, and the words it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tcformal.cli import main

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def run(*words: str) -> Result:
    # Wide enough for every name to be on one line, whoever confirmed it.
    return CliRunner().invoke(main, ["prove", *words], env={"COLUMNS": "200"})


def test_a_claim_that_a_theorem_answers_names_it_and_what_it_rests_on(results_folder: Path) -> None:
    result = run(VOLTA, "--claim", "carry-bits")
    assert result.exit_code == 0, result.output
    first, *rest = result.stdout.splitlines()
    assert first == "HOLDS: 4 carry bits are enough for every sum: more, or no bound, change nothing"
    assert "theorem carry_bits_suffice of Irrelevant.v: carry_bits = 4" in rest
    assert any(line.startswith("rests on: ") for line in rest)
    assert len((results_folder / "claims.jsonl").read_text().splitlines()) == 1
    data = json.loads(run(VOLTA, "--claim", "carry-bits", "--json").stdout)
    assert (data["verdict"], data["answered_by"]) == ("HOLDS", "theorem")
    assert data["theorem"]["numbers"] == {"carry_bits": "4"}
    assert data["reason"] == data["theorem"]["says"]
    error = run(VOLTA, "--claim", "relative-error").stdout
    assert error.startswith(
        "HOLDS: |d - (Σ a_k·b_k + c)| <= 1/2097152·(Σ|a_k·b_k| + |c|) + η in one block of 4 products"
    )


def test_no_circuit_is_built_where_a_theorem_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.semantics.chain.unit_dot", None)
    for claim in ("relative-error", "carry-bits", "integer-sums", "product-order", "negation-symmetry"):
        result = run("tfdpa@products=1000000,fraction_bits=30", "--claim", claim)
        assert result.exit_code == 0, result.output
        assert f"{claim} of tfdpa@products=1000000,fraction_bits=30" in result.stdout


def test_nothing_that_asks_solvers_is_imported_for_a_theorem() -> None:
    code = (
        "import sys; from tcformal.cli import main\n"
        f"try: main(['prove', {VOLTA!r}, '--claim', 'relative-error'])\n"
        "except SystemExit as e: assert not e.code, e.code\n"
        "print(*(x for x in sys.modules if x.startswith(('tcformal', 'numpy', 'z3', 'cvc5'))), sep='\\n')"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(made.stdout.splitlines())
    heavy = {"numpy", "tcformal.store.store", "tcformal.query.claims.register", "tcformal.solve.portfolio"}
    assert "tcformal.query.claims.answered" in modules
    assert not modules & heavy


def test_the_instance_for_coq_is_written_with_the_command_that_checks_it(tmp_path: Path) -> None:
    file = tmp_path / "carry.v"
    result = run(VOLTA, "--claim", "carry-bits", "--coq", str(file))
    assert "carry_bits_suffice d s 4" in file.read_text()
    assert f"coqc -Q coq TC {file}" in result.stdout
    data = json.loads(run(VOLTA, "--claim", "carry-bits", "--coq", str(file), "--json").stdout)
    assert data["coq"]["file"] == str(file)
    assert str(file) in data["coq"]["command"]
    refuted = run("x86/tdpbf16ps", "--claim", "product-order", "--coq", str(file))
    assert refuted.exit_code == 2
    assert "expected a claim that a theorem answers for --coq, but VIOLATED: the order" in refuted.stderr
    for name in ("of-volta.v", "claim.txt", "1.v"):
        assert "such as Claim.v, but got " in run(VOLTA, "--claim", "carry-bits", "--coq", name).stderr
    assert "expected --coq with one unit and one claim" in run(VOLTA, VOLTA, "--coq", "x.v").stderr
    assert "expected --coq with one unit and one claim" in run(VOLTA, "--claim", "all", "--coq", "x").stderr


@pytest.mark.slow
def test_all_claims_of_a_unit_stand_in_one_line_with_its_name() -> None:
    """Each verdict as its first letter, under the letter of its claim, at 80 columns too."""
    done = CliRunner().invoke(main, ["prove", "--claim", "all", "--filter", VOLTA], env={"COLUMNS": "80"})
    data = json.loads(run("--claim", "all", "--filter", VOLTA, "--json").stdout)
    lines = done.stdout.splitlines()
    (row,) = (line.split() for line in lines if VOLTA in line)
    letters = {line.split()[1].rstrip(":"): line[0] for line in lines if line[1:3] == "  "}
    heads = next(line.split() for line in lines if line.startswith("a b "))
    said = dict(zip(heads, row, strict=False))
    assert len(data["claims"]) > 10
    for claim in data["claims"]:
        assert said[letters[claim["claim"]]] == claim["verdict"][0]
    for claim in data["refused"]:
        assert said[letters[claim["claim"]]] == "–"


def test_inputs_refute_a_claim_and_what_stands_in_a_theorems_way_is_said() -> None:
    result = run("x86/tdpbf16ps", "--claim", "product-order")
    assert result.exit_code == 1, result.output
    assert "VIOLATED: the order matters: products 0 and 1 exchanged change a result" in result.output
    assert "theorem product_order_idle is not about summation=two_chains" in result.output
    assert "replayed on integers and fractions" in result.output


def test_a_claim_that_is_refuted_exits_1_and_shows_the_witness() -> None:
    result = run("tfdpa@products=1,k=2", "--claim", "product-order")
    assert result.exit_code == 1, result.output
    assert "VIOLATED: the order matters: products 0 and 1 exchanged" in result.output
    assert "replayed on integers and fractions" in " ".join(result.output.split())


def test_several_units_make_a_table() -> None:
    result = run("--claim", "product-order", "--filter", "volta/")
    assert result.exit_code == 0, result.output
    assert "product-order: 3 HOLDS" in result.output
    assert max(map(len, result.stdout.splitlines())) <= 100


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
        "zero-exponent",
        "exact-sum",
    }
    assert {c["claim"]: c["verdict"] for c in data["claims"]} == {
        "product-order": "VIOLATED", "negation-symmetry": "HOLDS", "zero-products": "VIOLATED",
        "error-bound": "HOLDS", "monotonicity": "HOLDS", "integer-sums": "HOLDS",
        "relative-error": "HOLDS", "correctly-rounded": "VIOLATED",
    }  # fmt: skip


def test_kept_claims_are_verified_on_request(results_folder: Path) -> None:
    run(VOLTA, "--claim", "carry-bits")
    verify = ["results", "verify", "--claims"]
    result = CliRunner().invoke(main, verify)
    assert result.exit_code == 0, result.output
    assert f"carry-bits of {VOLTA} holds: HOLDS, theorem carry_bits_suffice: " in result.stdout
    data = json.loads(CliRunner().invoke(main, [*verify, "--json"]).stdout)
    assert [c["standing"] for c in data["claims"]] == ["holds"]
    path = results_folder / "claims.jsonl"
    path.write_text(path.read_text().replace("4 carry bits", "3 carry bits"))
    assert CliRunner().invoke(main, verify).exit_code == 1


@pytest.mark.slow
def test_a_claim_that_solvers_prove_says_so() -> None:
    """A question that no theorem answers: half the products of a sum of two that are rounded first."""
    unit = "tfdpa@products=2,k=2,a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16,zero_exponent=own"
    result = run(unit, "--claim", "zero-products", "--json")
    data = json.loads(result.stdout)
    assert data["verdict"] in ("HOLDS", "VIOLATED"), data["reason"]
    assert data["answered_by"] in ("theorem", "solvers", "witness")
