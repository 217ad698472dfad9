"""What records, devices, programs and names of files say reaches a terminal as text, never as commands."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.progress import Progress, TextColumn
from rich.text import Text

from sampled import one_in
from tcformal.callbacks import SHORT_NAMES, ShortNames
from tcformal.cli import main
from tcformal.encodings.catalog import FORMATS
from tcformal.report.escape import (
    LONGEST,
    complain,
    print_json,
    printable,
    printable_json,
    say,
    sentence,
    tell_names,
)
from tcformal.report.text import WIDTH, console, short_value, table

ROOT = Path(__file__).resolve().parents[2]
#: Clears the screen, sets the title, links, rings, overprints; C1 codes; marks of direction; half a pair.
HOSTILE = (
    "\x1b[2J\x1b]0;title\x07\x1b]8;;http://x\x07\r\b\x9b31m\x85\u202e\u2066\u2028\u200b\ufeff\ud800\x00\x7f"
)
#: Everything that a text may not hold on its way to a terminal.
UNSAFE = re.compile("[^\n -~\xa1-\xac\xae-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\ud7ff\ue000-\U0010ffff]")


@pytest.mark.parametrize("text", [HOSTILE, *HOSTILE])
def test_what_a_terminal_would_obey_is_escaped(text: str) -> None:
    shown = printable(text)
    assert not UNSAFE.search(shown)
    assert shown.isascii()
    assert shown.encode().decode("unicode_escape") == text


def test_what_shows_itself_stays() -> None:
    text = "2^-24 · −0 × Σ é 𝔸 … – '\"\\x1b[2J\n  two lines"
    assert printable(text) == text


def test_json_says_it_all_in_escapes() -> None:
    value = {HOSTILE: [HOSTILE, "é𝔸", 1.5, None], "tag": "\U000e0041\U0010ffff"}
    shown = printable_json(value)
    assert not UNSAFE.search(shown)
    assert json.loads(shown) == value
    assert "é𝔸" in shown


def test_a_sentence_is_one_line_and_not_too_long() -> None:
    assert sentence(" a\n b\t\x1b ") == "a b \\x1b"
    for text in ("x" * 10**6, "\x00" * 10**6, "a b\n" * 10**6, "\x1b" * LONGEST):
        shown = sentence(text)
        assert len(shown) <= LONGEST + 60
        assert re.search(r" … \(\d+ characters\) … ", shown)


def test_every_printer_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    made = table("a", f">{HOSTILE}", title=HOSTILE)
    made.add_row(HOSTILE, "[/x] [link=http://x]text[/link] :warning:")
    console().print(made)
    console().print(HOSTILE, Text(HOSTILE))
    console().print("[bold]no markup[/bold]")
    with Progress(TextColumn("{task.description}", markup=False), console=console(stderr=True)) as bar:
        bar.add_task(f"[/x]{HOSTILE}", total=1)
    with console(stderr=True).status(Text(HOSTILE)):
        pass
    say(HOSTILE)
    say(HOSTILE, err=True)
    complain("error", HOSTILE)
    print_json([HOSTILE])
    out, err = capsys.readouterr()
    assert not UNSAFE.search(out), out
    assert not UNSAFE.search(err), err
    assert "[bold]no markup[/bold]" in out
    assert "[link=http://x]" in out


def test_styles_of_our_own_still_reach_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with (out := console()).capture() as captured:
        out.print(Text(f"red{HOSTILE}", style="red"))
    assert captured.get().startswith("\x1b[31mred\\x1b[2J")


def _examples_left_out(code: str) -> str:
    """The code without the lines of its docstrings that are typed in Python."""
    return re.sub(r"^ *(>>>|\.\.\.) .*$", "", code, flags=re.MULTILINE)


def test_no_command_prints_past_the_printers() -> None:
    """What is printed goes through the sanitiser; recheck speaks its own protocol."""
    allowed = {"report/escape.py", "store/audit/recheck.py"}
    found = {
        path.relative_to(ROOT / "tcformal").as_posix()
        for path in (ROOT / "tcformal").rglob("*.py")
        if re.search(r"click\.(secho|echo)\(|(?<![\w.])print\(", _examples_left_out(path.read_text()))
    }
    assert found <= allowed


@pytest.mark.parametrize("columns", ["²", "٣", "-1", "0", "99999999999999999999", "1e3", "", " 80"])
def test_odd_columns(columns: str) -> None:
    # Undone before the test ends: the test runner's own reports read them, too.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", columns)
        patch.setenv("LINES", columns)
        width, code = console().width, CliRunner().invoke(main, ["formats"]).exit_code
    assert width in (WIDTH, 40)
    assert code == 0


# ---------------------------------------------------------------------- on the command line
def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, list(words))
    assert not UNSAFE.search(done.stdout), done.stdout
    assert not UNSAFE.search(done.stderr), done.stderr
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("name", [HOSTILE.replace("\x00", "").replace("\ud800", "\udcff"), "x" * 10**6])
@pytest.mark.parametrize(
    "words",
    [
        ("units",),
        ("formats",),
        ("run",),
        ("separate", "x86/vdpbf16ps"),
        ("probe", "run"),
        ("no such command",),
    ],
)
def test_names_in_errors(words: tuple[str, ...], name: str) -> None:
    code, out, err = run(*words, name)
    assert (code, out) == (2, "")
    assert len(err) < LONGEST + 300


def test_a_folder_of_results_with_an_odd_name(tmp_path: Path) -> None:
    folder = tmp_path / "\x1b[2J\u202e[/x]"
    folder.mkdir(parents=True)
    words = ("x86/vdpbf16ps", "--lengths", "2", "--elements", "1", "--sweep", "--jobs", "1")
    code, _, err = run("statistics", *words, "--results", str(folder))
    assert code == 0
    assert "\\x1b[2J\\u202e[/x]" in err


def test_a_device_that_says_odd_things(tmp_path: Path) -> None:
    """A program's name, its description of itself, and its last words on standard error."""
    program = tmp_path / "\x1b[31mdevice"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.stdin.readline()\n"
        'sys.stdout.write(\'{"error": "\\\\u001b[2J\\\\u202e\\\\ud800"}\\n\')\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    plan = tmp_path / "plan.jsonl"
    assert run("probe", "plan", "x86/vdpbf16ps", "-o", str(plan), "--vectors", "2")[0] == 0
    device = f"exec:'{program}'"
    code, out, err = run("probe", "run", str(plan), "--device", device)
    assert (code, out) == (3, "")
    assert "\\x1b[2J\\u202e\\ud800" in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
@pytest.mark.parametrize(
    "words", one_in(3, [["formats"], ["formats", "--json"], ["--help"], ["units", "nonsense"]])
)
def test_a_full_disk_is_one_sentence(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tcformal", *words],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == (2 if "nonsense" in words else 3)
        assert done.stderr.startswith("error: expected ")
        assert done.stderr.count("\n") == 1
        silent = subprocess.run(
            [sys.executable, "-m", "tcformal", *words], cwd=ROOT, stdout=full, stderr=full, check=False
        )
        assert silent.returncode == done.returncode


@pytest.mark.parametrize(
    ("raw", "text"),
    [(0x7FC00000, "nan(0x7fc00000)"), (0xFF800000, "-inf"), (0x3F800000, "1"), (0x3FFFFBFF, "1.999877810")],
)
def test_a_short_value_is_whole(raw: int, text: str) -> None:
    assert short_value(FORMATS["fp32"], raw) == text


def test_of_many_names_a_few_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A campaign has hundreds of sparse instructions, each of which stands for a dense unit."""
    token = SHORT_NAMES.set(ShortNames(said={f"x{i}": f"x{i} = unit {i}" for i in range(40)}, shown=True))
    try:
        tell_names()
    finally:
        SHORT_NAMES.reset(token)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:-1] == [f"x{i} = unit {i}" for i in range(len(lines) - 1)]
    assert len(lines) <= 5
    assert "40" in lines[-1]
