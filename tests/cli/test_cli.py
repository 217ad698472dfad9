"""The command line: what it prints, its exit codes, and one sentence for every bad input."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tcformal.solve.members import Member, registry
from tcformal.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
AMPERE, HOPPER = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"
AMPERE_K8, TURING_K8 = "ampere/mma.m16n8k8.f32.f16.f16.f32", "turing/mma.m16n8k8.f32.f16.f16.f32"
FOUR = "tfdpa@products=4"
#: The time limit counts for equal units too; a busy machine must not matter.
PATIENT = ["--time-limit", "300"]

Run = Callable[..., Result]


def parsed(result: Result) -> Any:
    assert result.stderr == ""
    return json.loads(result.stdout)


def readable(text: str, *, but: str = "bit by bit: ") -> list[str]:
    """The lines of an output, after it was seen to fit and to hold no escape codes."""
    lines = text.splitlines()
    assert "\x1b" not in text
    # The command to copy stays on one line.
    assert [line for line in lines if len(line) > 100 and not line.startswith(but)] == []
    return lines


# ---------------------------------------------------------------------- units and formats
@pytest.mark.parametrize(
    "words",
    [("--arch", "hopper", "--format", "tf32"), ("--format", "e4m3"), ("--evidence", "recorded")],
)
def test_units_are_filtered(run: Run, words: tuple[str, ...]) -> None:
    data = parsed(run("units", *words, "--json"))
    assert data
    for u in data:
        if "--arch" in words:
            assert u["name"].startswith("hopper/")
        if "--format" in words:
            assert words[words.index("--format") + 1] in (u["formats"]["a"], u["formats"]["b"])
        if "--evidence" in words:
            assert u["parameters"]["fraction_bits"]["evidence"] == "recorded"


# ---------------------------------------------------------------------- values
@pytest.mark.parametrize(
    ("a", "b", "c", "value", "word"),
    [
        ("1.5,2,0,0", "2,0.25,0,0", "1", "4.5", "0x40900000"),
        ("2^-24,...", "1,...", "0", "2^-24", "0x33800000"),
        ("0x3c00,...", "0x4000,...", "0x3f800000", "3", "0x40400000"),
        ("-inf,...", "1,...", "0", "-inf", "0xff800000"),
        ("nan,...", "1,...", "0", "nan(0x7fffffff)", "0x7fffffff"),
        ("...", "...", "-0", "0", "0x00000000"),
        ("1,1,1,1,...", "1,1,1,1", "-1.5", "2.5", "0x40200000"),
        (" 1 , 1 , ... ", "1/4,1e-0,0x1.8p0,0", "1.5*2^7", "193.25", "0x43414000"),
    ],
)
def test_values_are_read_as_people_write_them(
    run: Run, a: str, b: str, c: str, value: str, word: str
) -> None:
    words = ["eval", FOUR, "--a", a, "--b", b, "--c", c]
    result = run(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    shown, rounded, encoding = readable(result.stdout)[-1].partition(" (~")
    row = f"{shown} {encoding.partition(')')[2]}" if rounded else shown
    assert row.split() == [FOUR, value, word]
    assert parsed(run(*words, "--json")) == [{"unit": FOUR, "value": value, "hex": word}]


# ---------------------------------------------------------------------- separate and prove
def test_separate_finds_explains_and_exits_0(run: Run) -> None:
    result = run("separate", AMPERE, HOPPER, *PATIENT)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = readable(result.stdout)
    assert lines[0].startswith("SEPARATED: ")
    assert any(line.startswith("They diverge at the alignment of ") for line in lines)
    assert not any(line.startswith("block0") for line in lines)


def test_the_printed_command_gives_the_same_results(run: Run) -> None:
    """`bit by bit: tcformal explain …` is read by a shell and shows what was found."""
    for pair in ((AMPERE, HOPPER), (AMPERE_K8, "hopper/mma.m16n8k16.f32.f16.f16.f32")):
        result = run("separate", *pair, *PATIENT)
        line = next(line for line in result.stdout.splitlines() if line.startswith("bit by bit: "))
        program, *words = shlex.split(line.removeprefix("bit by bit: "))
        assert program == "tcformal"
        again = run(*words)
        assert again.exit_code == 0
        data = parsed(run(*words, "--json"))
        assert [u["unit"] for u in data["units"]] == list(pair)
        found = [line.split() for line in result.stdout.splitlines() if line.startswith(pair)]
        assert [row[-1] for row in found[:2]] == [u["hex"] for u in data["units"]]
        stage = data["part_at"]["stage"]
        assert f"They diverge at {stage}:" in result.stdout
        assert f"They diverge at {stage}:" in again.stdout


def test_separate_as_json(run: Run) -> None:
    hopper = AMPERE_K8.replace("ampere", "hopper")
    # One solver: two runs give one witness.
    words = ["separate", AMPERE_K8, hopper, "--assume", "positive", "--solvers", "bitwuzla", *PATIENT]
    plain = parsed(run(*words, "--json"))
    data = parsed(run(*words, "--json", "--explain"))
    assert "explanation" not in plain
    assert data["verdict"] == plain["verdict"] == "SEPARATED"
    assert data["witness"] == plain["witness"]
    assert data["assumptions"] == ["no operand has its sign bit set"]
    assert data["tcformal"] == VERSION
    assert [u["hex"] for u in data["explanation"]["units"]] == [
        data["results"][side]["hex"] for side in ("first", "second")
    ]
    text = run(*words).stdout
    assert "assumed: no operand has its sign bit set" in text.splitlines()
    assert data["reason"] in " ".join(text.split())
    for operands in ("a", "b"):
        for x in data["witness"][operands]:
            assert int(x["hex"], 16) == 0 or f"{x['value']} ({x['hex']})" in text


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        pytest.param(("separate", AMPERE_K8, TURING_K8), 1, "EQUIVALENT", id="separate-equal-units"),
        pytest.param(("prove", AMPERE_K8, TURING_K8), 0, "EQUIVALENT", id="prove-equal-units"),
        pytest.param(("prove", AMPERE, HOPPER), 1, "SEPARATED", id="prove-different-units"),
        pytest.param(
            ("prove", AMPERE, HOPPER, "--assume", "normal", "--assume", "c=0"),
            1,
            "VACUOUS",
            id="prove-vacuous",
        ),
        pytest.param(
            ("separate", AMPERE, HOPPER, "--assume", "exponents=200..210", "--assume", "nonzero"),
            1,
            "VACUOUS",
            id="separate-vacuous",
        ),
        pytest.param(
            ("prove", AMPERE_K8, TURING_K8, "--solvers", "z3"),
            3,
            "UNKNOWN",
            id="prove-unconfirmed",
            marks=pytest.mark.long,
        ),
        pytest.param(
            ("separate", AMPERE_K8, TURING_K8, "--solvers", "z3"), 3, "UNKNOWN", id="separate-unconfirmed"
        ),
    ],
)
def test_exit_codes_of_verdicts(run: Run, words: tuple[str, ...], code: int, verdict: str) -> None:
    result = run(*words, *PATIENT)
    assert result.exit_code == code
    assert result.stderr == ""
    assert readable(result.stdout)[0].startswith(f"{verdict}: ")
    as_json = run(*words, *PATIENT, "--json")
    assert as_json.exit_code == code
    assert parsed(as_json)["verdict"] == verdict


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members that misbehave, each as a package of its own."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "solve"))
    for name, package in (
        ("hang", "pytest"),
        ("gives_up", "pluggy"),
        ("says_sat_ones", "pip"),
        ("leave", "numpy"),
    ):
        monkeypatch.setitem(registry, name, Member(package, f"stub_members:{name}"))


@pytest.mark.usefixtures("stubs")
@pytest.mark.parametrize(
    ("solver", "verdict"),
    [("hang", "TIMEOUT"), ("gives_up", "UNKNOWN"), ("says_sat_ones", "ERROR"), ("leave", "ERROR")],
)
@pytest.mark.parametrize("command", ["separate", "prove"])
def test_no_answer_exits_3(run: Run, command: str, solver: str, verdict: str) -> None:
    limit = "1" if solver == "hang" else "300"
    result = run(command, AMPERE, HOPPER, "--solvers", solver, "--time-limit", limit)
    assert result.exit_code == 3
    assert result.stdout.startswith(f"{verdict}: ")
    assert "SEPARATED" not in result.stdout


# ---------------------------------------------------------------------- bad input
ONES = ("--a", "1,...", "--b", "1,...")
BAD: list[Any] = [
    pytest.param(
        ("units", "amper/mma.m16n8k16.f32.f16.f16.f32"),
        "expected a known unit, but got 'amper/mma.m16n8k16.f32.f16.f16.f32': the closest are ampere/mma.",
        id="unknown-unit",
    ),
    pytest.param(
        ("eval", f"{AMPERE}@fractionbits=3", *ONES),
        f"expected a known parameter of {AMPERE}, but got 'fractionbits': the closest are fraction_bits",
        id="unknown-parameter",
    ),
    pytest.param(
        ("eval", f"{AMPERE}@fraction_bits=many", *ONES),
        "expected an integer for fraction_bits, but got 'many'",
        id="bad-parameter",
    ),
    pytest.param(
        ("eval", f"{AMPERE}@fraction_bits=0", *ONES),
        "expected an integer from 1 to 256 for fraction_bits, but got 0",
        id="parameter-range",
    ),
    pytest.param(
        ("eval", f"{AMPERE}@fraction_bits", *ONES),
        f"expected parameters as name=value after @ in '{AMPERE}@fraction_bits', but got 'fraction_bits'",
        id="parameter-without-value",
    ),
    pytest.param(
        ("eval", FOUR, "--a", "0x13c00,...", "--b", "1,..."),
        "expected a raw encoding of fp16 below 0x10000, but got '0x13c00'",
        id="wide-encoding",
    ),
    pytest.param(
        ("eval", FOUR, "--a", "1,1", "--b", "1,..."),
        f"expected 4 values for a of {FOUR}, but got 2",
        id="short-list",
    ),
    pytest.param(
        ("explain", FOUR, "--a", "1,...", "--b", "1,1,1,1,1,..."),
        f"expected 4 values for b of {FOUR}, but got 5",
        id="long-list",
    ),
    pytest.param(
        ("eval", FOUR, "--a", "", "--b", "1,..."),
        f"expected 4 values for a of {FOUR}, but got 1",
        id="empty-list",
    ),
    pytest.param(
        ("separate", AMPERE, "ampere/mma.m16n8k16.f32.bf16.bf16.f32"),
        f"expected two units of equal operand formats, but A is fp16 in {AMPERE} and bf16 in ",
        id="unequal-formats",
    ),
    pytest.param(
        ("eval", FOUR, "--a", "65520,...", "--b", "1,..."),
        "expected a value that fp16 holds exactly, but got 65520: the largest is 65504",
        id="too-large",
    ),
    pytest.param(
        ("eval", FOUR, "--a", "0.1,...", "--b", "1,..."),
        "expected a value that fp16 holds exactly, but got 0.1: its neighbours are ",
        id="inexact",
    ),
    pytest.param(
        ("eval", FOUR, "--a", "one,...", "--b", "1,..."),
        "expected a value such as 1.5, 1e-3, 1/4, 2^-24, 1.5*2^7, 0x1.8p3, inf, nan or a raw encoding",
        id="no-value",
    ),
    pytest.param(
        ("eval", f"{FOUR},a_format=e2m1", "--a", "nan,...", "--b", "1,..."),
        "expected a finite value, because e2m1 has no NaN, but got 'nan'",
        id="nan-without-nan",
    ),
    pytest.param(
        ("eval", f"{FOUR},a_format=e4m3", "--a", "inf,...", "--b", "1,..."),
        "expected a finite value, because e4m3 has no Inf, but got 'inf'",
        id="inf-without-inf",
    ),
    pytest.param(("units", "--arch", "kepler"), "expected a", id="unknown-architecture"),
    pytest.param(
        ("units", "--format", "fp7"), "expected a known format, but got 'fp7': ", id="unknown-filter"
    ),
    pytest.param(("formats", "fp12"), "expected a known format, but got 'fp12': ", id="unknown-format"),
    pytest.param(
        ("separate", AMPERE, HOPPER, "--solvers", "z4"),
        "expected a known solver, but got 'z4': the closest are z3",
        id="unknown-solver",
    ),
    pytest.param(
        ("separate", AMPERE, HOPPER, "--solvers", "z3,z3"),
        "expected one or more different solvers, but got z3, z3",
        id="solver-twice",
    ),
    pytest.param(
        ("separate", AMPERE, HOPPER, "--solvers", ""), "expected a known solver, but got ''", id="no-solver"
    ),
    pytest.param(
        ("separate", AMPERE, HOPPER, "--time-limit", "0"),
        "expected a number above zero for --time-limit, but got 0.0",
        id="no-time",
    ),
    pytest.param(
        ("separate", AMPERE, HOPPER, "--time-limit", "inf"),
        "expected at most 1000000000 s for time_s, but got inf",
        id="endless-time",
    ),
    pytest.param(
        ("prove", AMPERE, HOPPER, "--time-limit", "soon"),
        "Invalid value for '--time-limit': 'soon' is not a valid float.",
        id="no-number",
    ),
    pytest.param(
        ("prove", AMPERE, HOPPER, "--memory-limit", "0"),
        "expected an integer of at least 1 for --memory-limit, but got 0",
        id="no-memory",
    ),
    pytest.param(
        ("prove", AMPERE, HOPPER, "--seed", "-1"),
        "expected an integer from 0 to 2147483647 for seed, but got -1",
        id="negative-seed",
    ),
    pytest.param(
        ("separate", AMPERE, HOPPER, "--assume", "finte"),
        "expected a known assumption, but got 'finte': the closest are finite",
        id="unknown-assumption",
    ),
    pytest.param(
        ("separate", AMPERE, HOPPER, "--assume", "exponents"),
        "expected assumption exponents with a value, such as exponents=-14..15, but got none",
        id="assumption-without-value",
    ),
    pytest.param(
        ("separate", AMPERE, HOPPER, "--frobnicate"), "No such option '--frobnicate'.", id="unknown-option"
    ),
    pytest.param(("separate", AMPERE), "expected two units or --all-pairs, but got", id="missing-unit"),
    pytest.param(("eval", AMPERE, "--a", "1,..."), "Missing option '--b'.", id="missing-option"),
    pytest.param(("divide", AMPERE), "expected a known command, but got 'divide': ", id="unknown-command"),
]


@pytest.mark.parametrize(("words", "sentence"), BAD)
def test_bad_input_is_one_sentence(run: Run, words: tuple[str, ...], sentence: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {sentence}")
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")
    if words[0] not in ("divide",):
        as_json = run(*words, "--json")
        assert (as_json.exit_code, as_json.stdout, as_json.stderr) == (2, "", result.stderr)


def test_a_failure_of_our_own_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def trip(name: str) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("tcformal.cli.questions.evaluate.resolve", trip)
    result = run("eval", AMPERE, *ONES)
    assert result.exit_code == 3
    assert result.stderr == "error: internal error, please report it: ZeroDivisionError: of all things\n"
    monkeypatch.setenv("TCFORMAL_DEBUG", "1")
    assert isinstance(run("eval", AMPERE, *ONES).exception, ZeroDivisionError)


# ---------------------------------------------------------------------- terminals, pipes, processes
@pytest.mark.parametrize(
    "words", ["units --all", "units --all --arch hopper --json", f"units {AMPERE}", "formats --json"]
)
def test_a_closed_pipe_leaves_no_traceback(words: str) -> None:
    command = f'{{ "{sys.executable}" -m tcformal {words}; echo "code $?" >&2; }} | head -n 1'
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stderr == "code 0\n"
    assert len(done.stdout.splitlines()) == 1
