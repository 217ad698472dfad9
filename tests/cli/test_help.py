"""The examples of every command and of README are understood, and run."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

import tcformal
from commands import commands
from tcformal.cli import main
from tcformal.cli.command_list import COMMANDS, EXAMPLES, SLOW_EXAMPLES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def parse(line: str) -> None:
    """Parse a command as the command line would, without running it."""
    program, *args = shlex.split(line, comments=True)
    assert program == "tcformal"
    command: click.Command = main
    context = main.make_context(program, args)
    while isinstance(command, click.Group):
        name, found, args = command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        command, context = found, found.make_context(name, args, parent=context)


PATHS = dict(commands())
LINES = [line for lines in EXAMPLES.values() for line in lines]
README_LINES = re.findall(r"^\$ (tcformal .*?)(?: \| (?:head|tail) -\d+)?$", README, re.MULTILINE)


def test_every_command_has_two_examples_and_every_example_a_command() -> None:
    assert set(EXAMPLES) == set(PATHS) - {""}
    assert {path: lines for path, lines in EXAMPLES.items() if len(lines) != 2} == {}
    groups = [path for path, command in PATHS.items() if isinstance(command, click.Group)]
    assert [line for path, lines in EXAMPLES.items() for line in lines
            if not line.startswith(f"tcformal {path} ") and f"tcformal {path}" != line] == []  # fmt: skip
    assert set(groups) == {"", "probe", "results"}


def test_the_help_lists_every_command_with_a_line_and_fits_a_screen() -> None:
    result = CliRunner().invoke(main, ["--help"], terminal_width=80)
    lines = result.output.splitlines()
    assert [name for name in COMMANDS if not any(x.split()[:1] == [name] for x in lines)] == []
    assert [x.section for x in COMMANDS.values() if x.section not in lines] == []
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("path", EXAMPLES)
def test_the_help_of_a_command_ends_with_its_examples(path: str) -> None:
    output = CliRunner().invoke(main, [*path.split(), "--help"]).output
    assert [line for line in EXAMPLES[path] if f"  {line}\n" not in output] == []


@pytest.mark.parametrize("line", [*dict.fromkeys(LINES), *README_LINES])
def test_an_example_is_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parse(line.partition(" > ")[0])


@pytest.mark.parametrize(
    "line", ["tcformal eval", "tcformal units --archs hopper", "tcformal suite --check gone"]
)
def test_another_example_rejects(line: str) -> None:
    with pytest.raises(click.UsageError):
        parse(line)


@pytest.mark.parametrize(
    ("words", "lacks"),
    [("eval x", "expected --a, but got none, as in: tcformal eval "),
     ("probe run", "expected PLAN, but got none, as in: tcformal probe run plan.json "),
     ("simulate a b -o d.npy", "expected --on, but got none, as in: tcformal simulate a.npy b.npy --on "),
     ("separate", ", as in: tcformal separate "),
     ("export x", ", as in: tcformal export ")],
)  # fmt: skip
def test_what_is_missing_is_said_with_an_example(words: str, lacks: str) -> None:
    result = CliRunner().invoke(main, words.split())
    assert result.exit_code == 2
    assert lacks in result.output


def write_inputs() -> None:
    """The files that examples name, in the working directory."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((24, 48), (48, 24)))
    np.save("a.npy", a)
    np.save("b.npy", b)
    np.save("c.npy", rng.standard_normal((24, 24)).astype(np.float32))
    for name, arch in (("a100", "ampere"), ("h100", "hopper")):
        np.save(f"{name}.npy", tcformal.simulate(f"{arch}/mma.m16n8k16.f32.f16.f16.f32", a, b))
    u = tcformal.unit("x86/tdpbf16ps")
    words, c = rng.integers(0x3F00, 0x4000, (2, 4, u.k)).astype(np.uint16), np.zeros(4, np.uint32)
    d = u.dot_bits(words[0], words[1], c)
    np.savez("tiles.npz", A=words[0][:, None], B=words[1][:, None], C=c[:, None, None], D=d[:, None, None])
    CliRunner().invoke(main, ["export", "valpey@terms=2", "--to", "verilog", "-o", "valpey.sv"])
    text = Path("valpey.sv").read_text(encoding="utf-8")
    Path("dot.v").write_text(re.sub(r"\bmodule \w+", "module dot", text, count=1), encoding="utf-8")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what examples read: arrays, a plan, a device, results of hardware, kept answers."""
    path = tmp_path_factory.mktemp("examples")
    with contextlib.chdir(path):
        write_inputs()
        for line in (
            "probe template > box.py", *EXAMPLES["separate"][:1], *EXAMPLES["prove"][:1],
            *EXAMPLES["probe plan"][:1], *EXAMPLES["probe run"][:1],
        ):  # fmt: skip
            run_line(line.removeprefix("tcformal "))
    return path


#: Examples that print files, for programs.
FILES = re.compile(
    r"--json|--csv|template|completion|vectors|units |export|explain-mismatch|identify-product|compare "
)
#: Lines that are copied: commands and the paths of files.
COPIED = re.compile(
    r"[0-9a-f]{12} holds: |(bit by bit: )?tcformal |(\d+ x )?tcformal |\S*/\S*$|package: |coqc "
)
#: Lines of the longest answer: a screen, and what short names stand for.
MOST_LINES = 52


def run_line(line: str) -> Result:
    """Run an example, perhaps into a file, in the working directory; its results go to `results`."""
    words, _, file = line.removeprefix("tcformal ").partition(" > ")
    result = CliRunner().invoke(
        main, shlex.split(words, comments=True), env={"TCFORMAL_RESULTS": None, "COLUMNS": "80"}
    )
    if file:
        Path(file).write_text(result.stdout, encoding="utf-8")
    return result


@pytest.mark.parametrize(
    "line",
    [pytest.param(x, marks=pytest.mark.slow) if x in SLOW_EXAMPLES else x for x in dict.fromkeys(LINES)],
)
def test_an_example_runs(line: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a copy of the folder, so that the order does not matter; what people read fits 80 columns."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    if " audit " in line:
        monkeypatch.setenv("PATH", "")
    result = run_line(line)
    code = re.search(r"# exit (\d)", line)
    assert result.exit_code == (int(code[1]) if code else 0), result.output
    assert result.output.partition("\n")[0].strip() != "" or " -o " in line, result.output
    if not FILES.search(line):
        wide = [x for x in result.stdout.splitlines() if len(x) > 80 and not COPIED.match(x)]
        assert (wide, len(result.stdout.splitlines()) <= MOST_LINES) == ([], True)


def test_the_readme_shows_a_command_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one, with the verdict and the divergence that the README shows."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, [*shlex.split(README_LINES[0])[1:], "--results", "answers"])
    assert result.exit_code == 0
    assert result.output.startswith("SEPARATED: ")
    assert "the alignment of " in result.output
