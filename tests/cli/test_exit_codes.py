"""What a person sees when the input is bad or the answer is another: one sentence, the right exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from tcformal.cli import main
from tcformal.solve.members import Member, registry

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
AMPERE = "ampere/mma.m16n8k16.f32.f16.f16.f32"
ONES = ["--a", "1,1,1,1", "--b", "1,1,1,1"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


BAD = {
    "unknown unit": (["eval", "volta/mma.m8n8k4.f32.f16.f16.f33", *ONES], "expected a known unit, but got"),
    "unknown family parameter": (
        ["units", "valpey@termz=5"],
        "expected a known parameter of valpey, but got",
    ),
    "bad parameter value": (["units", "valpey@terms=five"], "expected an integer for terms, but got 'five'"),
    "wrong width": (
        ["eval", VOLTA, "--a", "0x13c00,1,1,1", "--b", "1,1,1,1"],
        "expected a raw encoding of fp16 below 0x10000, but got '0x13c00'",
    ),
    "wrong length": (
        ["eval", VOLTA, "--a", "1,1,1", "--b", "1,1,1,1"],
        f"expected 4 values for a of {VOLTA}, but got 3",
    ),
    "unequal formats": (
        ["separate", AMPERE, "ampere/mma.m16n8k16.f32.bf16.bf16.f32"],
        "expected two units of equal operand formats, but A is fp16 in",
    ),
    "a value that does not fit": (["eval", VOLTA, "--a", "0.1,1,1,1", "--b", "1,1,1,1"], "0.1"),
    "unreadable value": (["explain", VOLTA, "--a", "one,1,1,1", "--b", "1,1,1,1"], "but got 'one'"),
    "a NaN where there is none": (
        ["eval", "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e2m1.e2m1", "--a", "nan,...", "--b", "1,..."],
        "e2m1",
    ),
    "unknown solver": (["prove", VOLTA, VOLTA, "--solvers", "z4"], "expected a known solver, but got 'z4'"),
    "no time": (["separate", VOLTA, VOLTA, "--time-limit", "0"], "expected a number above zero for time_s"),
    "no memory": (
        ["separate", VOLTA, VOLTA, "--memory-limit", "0"],
        "expected an integer of at least 1 for memory_mb, but got 0",
    ),
    "negative seed": (["prove", VOLTA, VOLTA, "--seed", "-1"], "for seed, but got -1"),
    "unknown assumption": (
        ["separate", VOLTA, VOLTA, "--assume", "finit"],
        "expected a known assumption, but got 'finit': the closest are finite",
    ),
    "bad exponents": (
        ["separate", VOLTA, VOLTA, "--assume", "exponents=9..1"],
        "expected",
    ),
    "emulated": (["units", "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"], "the compiler emulates"),
    "unknown option": (["units", "--archh", "volta"], "No such option"),
    "unknown command": (["separat", VOLTA, VOLTA], "No such command 'separat'"),
    "missing operand": (["separate", VOLTA], "Missing argument"),
    "not a number": (["separate", VOLTA, VOLTA, "--time-limit", "soon"], "'soon' is not a valid float"),
    "unknown format": (["formats", "fp17"], "expected a known format, but got 'fp17'"),
}


@pytest.mark.parametrize("case", BAD, ids=list(BAD))
def test_bad_input_is_one_sentence_and_exit_code_2(case: str) -> None:
    arguments, sentence = BAD[case]
    result = run(*arguments)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    assert sentence in lines[0]
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_a_missing_solver_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry, "cvc5", Member("no-such-cvc5", "nowhere:run"))
    result = run("prove", VOLTA, VOLTA, "--solvers", "cvc5")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "error: expected solver cvc5 to be installed, but its package is missing: pip install no-such-cvc5"
    ]


def test_no_solver_at_all_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(registry):
        monkeypatch.setitem(registry, name, Member(f"no-such-{name}", "nowhere:run"))
    result = run("prove", VOLTA, f"{VOLTA}@fraction_bits=22")
    assert result.exit_code == 3
    assert result.stderr.startswith("error: expected at least one solver to be installed, but found none")


TURING = "turing/mma.m8n8k4.f32.f16.f16.f32"


@pytest.mark.parametrize(
    ("command", "second", "code", "word"),
    [
        ("separate", f"{TURING}@fraction_bits=24", 0, "SEPARATED"),
        ("separate", TURING, 1, "EQUIVALENT"),
        ("prove", TURING, 0, "EQUIVALENT"),
        ("prove", f"{TURING}@fraction_bits=24", 1, "SEPARATED"),
    ],
)
def test_answers_and_exit_codes(command: str, second: str, code: int, word: str) -> None:
    result = run(command, VOLTA, second)
    assert result.exit_code == code
    assert result.stdout.startswith(f"{word}: ")
    assert all(len(line) <= 100 for line in result.stdout.splitlines() if "tcformal explain" not in line)


def test_no_answer_in_time_is_exit_code_3() -> None:
    result = run("prove", "valpey@terms=9", "valpey@terms=9,carry_bits=5", "--time-limit", "0.05")
    assert result.exit_code == 3
    assert result.stdout.startswith("TIMEOUT: ")


def test_contradicting_assumptions_are_vacuous() -> None:
    result = run("separate", VOLTA, TURING, "--assume", "normal", "--assume", "exponents=30..40")
    assert result.exit_code == 1
    assert result.stdout.startswith("VACUOUS: ")


def test_json_holds_the_same_facts() -> None:
    result = run("separate", VOLTA, f"{TURING}@fraction_bits=24", "--json")
    found = json.loads(result.stdout)
    assert found["verdict"] == "SEPARATED"
    assert found["replayed_on"] == ["integers", "fractions"]
    assert found["results"]["first"] != found["results"]["second"]
    a = ",".join(x["hex"] for x in found["witness"]["a"])
    b = ",".join(x["hex"] for x in found["witness"]["b"])
    c = found["witness"]["c"]["hex"]
    again = run("eval", VOLTA, f"{TURING}@fraction_bits=24", "--a", a, "--b", b, "--c", c, "--json")
    assert [r["hex"] for r in json.loads(again.stdout)] == [
        found["results"]["first"]["hex"],
        found["results"]["second"]["hex"],
    ]


@pytest.mark.parametrize(
    ("a", "value"),
    [
        ("1.5,...", "1.5"),
        ("2^-24,...", "2^-24"),
        ("0x3c00,...", "1"),
        ("-inf,...", "-inf"),
        ("1/8,...", "0.125"),
    ],
)
def test_values_are_read_as_people_write_them(a: str, value: str) -> None:
    result = run("eval", VOLTA, "--a", a, "--b", "1,...", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)[0]["value"] == value


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100"}
    command = [sys.executable, "-m", "tcformal", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)


def test_a_real_process_prints_no_traceback_and_no_colour() -> None:
    bad = process("eval", "nowhere/nothing", "--a", "1", "--b", "1")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert len(bad.stderr.splitlines()) == 1
    good = process("explain", VOLTA, "--a", "1.5,2^-20,...", "--b", "1,1,...", "--c", "2^10")
    assert good.returncode == 0
    assert "\x1b" not in good.stdout
    assert "|" in good.stdout


def test_a_closed_pipe_is_quiet() -> None:
    script = f'"{sys.executable}" -m tcformal units --all | head -n 1'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
