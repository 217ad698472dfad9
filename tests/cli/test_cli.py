"""The command line: what it prints, its exit codes, and one sentence for every bad input."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from rich.text import Text

import tcformal
from tcformal.cli import main
from tcformal.design.catalog import catalogue
from tcformal.encodings.catalog import FORMATS
from tcformal.report.text import SCREEN, console
from tcformal.solve.members import Member, registry
from tcformal.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
AMPERE, HOPPER = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"
AMPERE_K8, TURING_K8 = "ampere/mma.m16n8k8.f32.f16.f16.f32", "turing/mma.m16n8k8.f32.f16.f16.f32"
FOUR = "tfdpa@products=4"
#: The time limit counts for equal units too; a busy machine must not matter.
PATIENT = ["--time-limit", "300"]

Run = Callable[..., Result]


def process(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as `python -m tcformal`."""
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        [sys.executable, "-m", "tcformal", *words],
        cwd=ROOT,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


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
def test_units_are_listed(run: Run) -> None:
    result = run("units", "--arch", "ampere", "--all")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = readable(result.stdout)
    names = [name for name in tcformal.units() if name.startswith("ampere/")]
    assert [name for name in names if not any(line.split()[:1] == [name] for line in lines)] == []
    data = parsed(run("units", "--arch", "ampere", "--all", "--json"))
    assert [u["name"] for u in data] == names


def test_every_unit_is_in_the_json(run: Run) -> None:
    assert [u["name"] for u in parsed(run("units", "--all", "--json"))] == tcformal.units()


def test_names_in_the_list_are_whole(run: Run) -> None:
    """Each name of the list can be copied, however long it is."""
    words = set(run("units", "--designs").stdout.split())
    shown = [u["name"] for u in parsed(run("units", "--json"))]
    assert len(shown) > 100
    assert set(shown) <= words


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


@pytest.mark.parametrize("name", [AMPERE, f"{AMPERE}@fraction_bits=25", "valpey@terms=5,carry_bits=3"])
def test_one_unit_is_shown_with_its_sources(run: Run, name: str) -> None:
    """In full: a row for each parameter; else each parameter once, within a screen."""
    short, result = run("units", name), run("units", name, "-v")
    assert (short.exit_code, result.exit_code, short.stderr, result.stderr) == (0, 0, "", "")
    lines = readable(result.stdout)
    data = parsed(run("units", name, "--json"))
    assert lines[0].startswith(f"{name}: T-FDPA, d = ")
    assert data["name"] == name
    assert len(short.stdout.splitlines()) <= SCREEN
    said = " ".join(readable(short.stdout)).partition(" error of ")[2]
    once = {n: len(re.findall(rf"(?<!\w){n}=", said)) for n in data["parameters"]}
    assert once == dict.fromkeys(data["parameters"], 1)
    for parameter, fact in data["parameters"].items():
        row = next(line for line in lines if line.split()[:1] == [parameter])
        assert fact["source"]
        assert f"  {fact['evidence']}  " in row
        assert fact["source"].split()[0] in row
    assert data["parameters"]["nan_word"]["value"] == tcformal.unit(name).design.nan_word


def test_formats_are_listed(run: Run) -> None:
    result = run("formats")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = readable(result.stdout)
    assert [name for name in FORMATS if not any(line.split()[:1] == [name] for line in lines)] == []
    data = parsed(run("formats", "--json"))
    assert [f["name"] for f in data] == list(FORMATS)
    assert [f["bits"] for f in data] == [f.width for f in FORMATS.values()]


def test_one_format_is_shown_with_what_its_bits_are(run: Run) -> None:
    assert "13 low bits ignored" in " ".join(run("formats", "tf32").stdout.split())
    assert "sign bit ignored" in " ".join(run("formats", "ue4m3").stdout.split())
    (data,) = parsed(run("formats", "bfloat16", "--json"))
    assert (data["name"], data["bits"], data["exponent_bits"], data["e_max"]) == ("bf16", 16, 8, 127)


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


def test_several_units_are_evaluated(run: Run) -> None:
    words = ["eval", AMPERE, HOPPER, TURING_K8, "--a", "2048,-2^-14,...", "--b", "1,1,..."]
    result = run(*words)
    assert result.exit_code == 0
    lines = readable(result.stdout)
    said = " ".join(result.stdout.split())
    assert said.startswith(f"They differ: 2048 on {AMPERE}, {TURING_K8} and 2047.999878 on {HOPPER} ")
    rows = [line.split() for line in lines if line.endswith(tuple("0123456789abcdef")) and " 0x" in line]
    data = parsed(run(*words, "--json"))
    assert [row[0] for row in rows] == [entry["unit"] for entry in data] == [AMPERE, HOPPER, TURING_K8]
    assert [row[-1] for row in rows] == [entry["hex"] for entry in data]
    assert [entry["hex"] for entry in data] == ["0x45000000", "0x44ffffff", "0x45000000"]
    assert "16777215*2^-13 (~2047.999878)" in result.stdout


def test_programs_are_evaluated_beside_units(run: Run) -> None:
    """As long as the values are many; fp16 holds 2049 as 2048, and fp32 as it is."""
    words = ["eval", "convert@word=fp16", "fma-chain", "--a", "2049", "--b", "1"]
    result = run(*words)
    assert result.exit_code == 0
    assert result.stdout.startswith("They differ: 2048 on convert@word=fp16 and 2049 on fma-chain")
    assert [row["hex"] for row in parsed(run(*words, "--json"))] == ["0x6800", "0x45001000"]
    assert run("eval", "fma-chain", "--a", "1:3", "--b", "2:3").stdout.startswith("d = 6")
    refused = run("eval", "fma-chain", "--a", "1", "--b", "1", "--scale-a", "1")
    assert "expected no --scale-a with a program, but got one for fma-chain" in refused.stderr
    assert "as many values of b as of a" in run("eval", "fma-chain", "--a", "1,2", "--b", "1").stderr


# ---------------------------------------------------------------------- explain
def test_one_result_is_explained(run: Run) -> None:
    words = ["explain", FOUR, "--a", "2048,-2^-14,...", "--b", "1,1,...", "--c", "2^-60"]
    result = run(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = readable(result.stdout)
    data = parsed(run(*words, "--json"))
    (unit,) = data["units"]
    (step,) = unit["steps"]
    assert "part_at" not in data
    assert lines[0] == f"d = {unit['value']} ({unit['hex']})"
    assert lines[1] == unit["unit"] == FOUR
    assert lines[2].startswith(
        f"block0: 5 terms at e_max = {step['e_max']}, {step['fraction_bits']} fraction"
    )
    for term in step["terms"]:
        row = next((line for line in lines if line.startswith(f"{term['name']} = ")), None)
        assert (row is None) == (term["value"] == "0")
        if row is not None:
            assert row.startswith(f"{term['name']} = {term['value']} ")
            assert f" {term['exponent']}  " in row
    assert f"sum = {step['sum']} " in result.stdout
    assert lines[-1] == "" or lines[-1].startswith("result")
    assert f"result: {unit['value']} ({unit['hex']})" in lines


def test_two_units_are_compared(run: Run) -> None:
    words = ["explain", AMPERE, HOPPER, "--a", "2048,-2^-14,...", "--b", "1,1,..."]
    result = run(*words)
    assert result.exit_code == 0
    text = "\n".join(readable(result.stdout))
    part = parsed(run(*words, "--json"))["part_at"]
    assert part == {"stage": "the alignment of a[1]·b[1] at block0", "values": ["0", "-2^-14"]}
    assert f"They diverge at {part['stage']}:\n  {AMPERE}: 0\n  {HOPPER}: -2^-14" in text


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(
            ("sequential@terms=4", "--a", "1,2,3", "--b", "1,1,2^-24", "--c", "2^-30"), id="sequential"
        ),
        pytest.param((AMPERE, "--a", "2^-24,...", "--b", "2^-24,...", "--c", "-2^-149"), id="subnormal"),
        pytest.param(
            (AMPERE, "--a", "65504,2^-24,...", "--b", "65504,2^-24,...", "--c", "2^-149"), id="long-runs"
        ),
        pytest.param((AMPERE, HOPPER, "--a", "1,nan,...", "--b", "1,1,...", "--c", "inf"), id="nan"),
        pytest.param(
            ("tfdpa@fraction_bits=exact,k=8", "--a", "1,...", "--b", "1,...", "--c", "2^-149"), id="exact"
        ),
        pytest.param(
            ("ampere/mma.m8n8k4.f64.f64.f64.f64", "--a", "1,1/4,2^-1000,...", "--b", "1,...", "--c", "3"),
            id="fp64",
        ),
        pytest.param((AMPERE_K8, AMPERE, "--a", "1,...", "--b", "1,...", "--c", "1"), id="different-k"),
    ],
)
def test_pictures_fit(run: Run, words: tuple[str, ...]) -> None:
    result = run("explain", *words)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = readable(result.stdout)
    assert sum(line.startswith("result: ") for line in lines) == sum("/" in w or "@" in w for w in words[:2])
    assert parsed(run("explain", *words, "--json"))["units"]


def test_nan_is_traced_to_its_operand(run: Run) -> None:
    result = run("explain", AMPERE, "--a", "1,nan,...", "--b", "1,1,...")
    assert "block0: a[1]·b[1] is NaN; so the result is NaN" in result.stdout
    assert "block1: result of block 0 is NaN; so the result is NaN" in result.stdout


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
        words_shown = [row[-1] for row in found if row[-1].startswith("0x")]
        assert words_shown[:2] == [u["hex"] for u in data["units"]]
        stage = data["part_at"]["stage"]
        assert f"They diverge at {stage}:" in result.stdout
        assert f"They diverge at {stage}:" in again.stdout


def test_separate_with_an_explanation(run: Run) -> None:
    text = run("separate", AMPERE_K8, f"{AMPERE_K8}@fraction_bits=25", "--explain", *PATIENT).stdout
    lines = readable(text)
    assert sum(line.startswith("block0: 9 terms at e_max") for line in lines) == 2
    assert sum(line.startswith("result: ") for line in lines) == 2
    assert "bit by bit" not in text


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
            ("prove", AMPERE, HOPPER, "--assume", "finite", "--assume", "c=nan"),
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


def test_no_solver_at_all_exits_3(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(registry):
        monkeypatch.setitem(registry, name, Member(f"no-such-{name}", "nowhere:run"))
    result = run("prove", AMPERE_K8, TURING_K8)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith(
        "error: expected at least one solver to be installed, but found none: python -m pip "
    )


def test_seed_and_limits_are_recorded(run: Run) -> None:
    words = ("prove", AMPERE_K8, TURING_K8, "--seed", "7", "--time-limit", "299.5", "--memory-limit", "4096")
    assert parsed(run(*words, "--json"))["limits"] == {"time_s": 299.5, "memory_mb": 4096, "seed": 7}


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
    pytest.param(("separate", AMPERE, HOPPER, "--frobnicate"), "No such option", id="unknown-option"),
    pytest.param(("separate", AMPERE), "expected two units or --all-pairs, but got", id="missing-unit"),
    pytest.param(
        ("eval", AMPERE, "--a", "1,..."),
        "expected --b, but got none, as in: tcformal eval ",
        id="missing-option",
    ),
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


def test_a_missing_solver_is_named_with_its_package(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry, "cvc5", Member("no-such-cvc5", registry["cvc5"].runner))
    result = run("separate", AMPERE, HOPPER, "--solvers", "bitwuzla,cvc5")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "error: expected solver cvc5 to be installed, but its package is missing: pip install no-such-cvc5\n"
    )


def test_the_others_answer_where_one_solver_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry, "z3", Member("no-such-z3", registry["z3"].runner))
    data = parsed(run("prove", AMPERE_K8, TURING_K8, *PATIENT, "--json"))
    assert data["verdict"] == "EQUIVALENT"
    assert {s["name"] for s in data["solvers"]} == set(registry) - {"z3"}


def test_a_failure_of_our_own_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def trip(name: str) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("tcformal.cli.evaluate.resolve", trip)
    result = run("eval", AMPERE, *ONES)
    assert result.exit_code == 3
    assert result.stderr == "error: internal error, please report it: ZeroDivisionError: of all things\n"
    monkeypatch.setenv("TCFORMAL_DEBUG", "1")
    assert isinstance(run("eval", AMPERE, *ONES).exception, ZeroDivisionError)


def test_help_is_help(run: Run) -> None:
    assert run("--help").exit_code == 0
    assert run("separate", "-h").exit_code == 0
    assert run("--version").stdout == f"tcformal, version {VERSION}\n"
    bare = run()
    assert bare.exit_code == 2
    assert "\nCompare and explain\n" in bare.stdout + bare.stderr
    for name in main.commands:
        result = run(name, "--help")
        assert result.exit_code == 0
        assert "Traceback" not in result.output


# ---------------------------------------------------------------------- terminals, pipes, processes
def test_columns_are_obeyed_and_nonsense_is_not(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, widest in (("70", 70), ("3", 100), ("wide", 100), ("", 100)):
        monkeypatch.setenv("COLUMNS", columns)
        result = run("formats")
        assert result.exit_code == 0
        assert max(map(len, result.stdout.splitlines())) <= widest


def test_a_terminal_is_coloured_unless_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert console().color_system
    monkeypatch.setenv("NO_COLOR", "1")
    plain = console()
    assert plain.color_system is None
    with plain.capture() as capture:
        plain.print(Text("text", style="bold red"))
    assert capture.get() == "text\n"


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1", "FORCE_COLOR": "1", "TERM": "xterm"}])
def test_a_process_prints_no_escape_codes(environment: dict[str, str]) -> None:
    done = process("units", AMPERE, **environment)
    assert done.returncode == 0
    assert done.stderr == ""
    assert readable(done.stdout)[0].startswith(f"{AMPERE}: ")


def test_a_process_separates_and_explains() -> None:
    done = process("separate", AMPERE, HOPPER, "--explain", *PATIENT)
    assert done.returncode == 0
    assert done.stderr == ""
    assert readable(done.stdout)[0].startswith("SEPARATED: ")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("prove", AMPERE_K8, TURING_K8, *PATIENT), 0),
        pytest.param(("separate", AMPERE_K8, TURING_K8, *PATIENT), 1, marks=pytest.mark.long),
        (("units", "nothing"), 2),
        (("prove", AMPERE_K8, TURING_K8, "--time-limit", "0.001"), 3),
    ],
)
def test_exit_codes_of_processes(words: tuple[str, ...], code: int) -> None:
    done = process(*words)
    assert done.returncode == code
    assert "Traceback" not in done.stdout + done.stderr
    assert (done.stdout == "") == (code == 2)
    assert done.stderr == "" or done.stderr.startswith("error: expected a known unit, but got 'nothing'")


@pytest.mark.parametrize(
    "words", ["units --all", "units --all --arch hopper --json", f"units {AMPERE}", "formats --json"]
)
def test_a_closed_pipe_leaves_no_traceback(words: str) -> None:
    command = f'{{ "{sys.executable}" -m tcformal {words}; echo "code $?" >&2; }} | head -n 1'
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stderr == "code 0\n"
    assert len(done.stdout.splitlines()) == 1


def test_a_closed_pipe_from_the_start_leaves_no_traceback() -> None:
    """Nobody reads at all: the write fails at once."""
    words = "units --all --arch hopper"
    command = f'{{ sleep 1; "{sys.executable}" -m tcformal {words}; echo "code $?" >&2; }} | true'
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stderr == "code 0\n"


def test_a_name_in_the_catalogue_needs_no_quotes() -> None:
    """No shell takes a unit's name for anything else."""
    assert all(shlex.quote(name) == name for name in catalogue())
