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
def test_two_units_are_compared(run: Run) -> None:
    words = ["explain", AMPERE, HOPPER, "--a", "2048,-2^-14,...", "--b", "1,1,..."]
    result = run(*words)
    assert result.exit_code == 0
    text = "\n".join(readable(result.stdout))
    part = parsed(run(*words, "--json"))["part_at"]
    assert part == {"stage": "the alignment of a[1]·b[1] at block0", "values": ["0", "-2^-14"]}
    assert f"They diverge at {part['stage']}:\n  {AMPERE}: 0\n  {HOPPER}: -2^-14" in text


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
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("separate", AMPERE, HOPPER, "--assume", "exponents=200..210", "--assume", "nonzero"),
            1,
            "VACUOUS",
            id="separate-vacuous",
            marks=pytest.mark.slow,
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
    assert run("separate", "-h").exit_code == 0
    assert run("--version").stdout == f"tcformal, version {VERSION}\n"
    bare = run()
    assert bare.exit_code == 2


# ---------------------------------------------------------------------- terminals, pipes, processes
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
    "words",
    [
        pytest.param("units --all", marks=pytest.mark.slow),
        "units --all --arch hopper --json",
        f"units {AMPERE}",
        "formats --json",
    ],
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
