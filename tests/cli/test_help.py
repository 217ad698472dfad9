"""The examples of every command and of README are understood, and run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from commands import commands
from tcformal.cli import main
from tcformal.cli.group import EXAMPLES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

#: Commands whose examples take more than a moment, or need what is not here: they are parsed.
PARSED = (
    "--all-pairs", "results show", "results proof", "campaign", "--device cpu", "probe keep", "probe devices",
    "probe compare",
    "--kernels", "valpey/carry-bits", "--claims", "-o ampere.json", "-o suite.h", "--certify",
    "check-rtl", "compare a100", "compare layer", "compare ampere", "explain-mismatch", "identify",
    "compare-programs", "tcformal report",
    "tcformal accuracy", "--plot", "figures mary",
)  # fmt: skip
#: Suites of real units; that of a small design is run.
_LONG_SUITE = re.compile(r"suite (ampere|hopper)/")


def examples(text: str) -> list[str]:
    """The commands that the help of a command shows."""
    return [line.strip() for line in text.splitlines() if line.startswith("    tcformal ")]


def parse(line: str) -> None:
    """Parse a command as the command line would, without running it."""
    program, *args = shlex.split(line)
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
QUICK = [x for x in LINES if not any(part in x for part in PARSED) and not _LONG_SUITE.search(x)]


def test_every_command_has_an_example_and_every_example_a_command() -> None:
    assert set(EXAMPLES) == set(PATHS) - {""}
    assert [line for path, lines in EXAMPLES.items() for line in lines
            if not line.startswith(f"tcformal {path}")] == []  # fmt: skip


@pytest.mark.parametrize("line", [*LINES, *README_LINES])
def test_an_example_is_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.json").touch()
    parse(line)


@pytest.mark.parametrize(
    "line", ["tcformal eval", "tcformal units --archs hopper", "tcformal suite --check gone"]
)
def test_another_example_rejects(line: str) -> None:
    with pytest.raises(click.UsageError):
        parse(line)


@pytest.mark.slow
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other in one folder, as they stand: what one writes, another one reads."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TCFORMAL_RESULTS", raising=False)
    failed = {}
    for line in QUICK:
        result = CliRunner().invoke(main, shlex.split(line)[1:])
        # Regions of units that differ are answered otherwise.
        otherwise = result.exit_code == 1 and "differ where all exponents are equal" in result.output
        if result.exit_code != 0 and not otherwise:
            failed[line] = (result.exit_code, result.output)
    assert failed == {}
    assert len(QUICK) >= 15


def test_the_readme_shows_a_command_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one, with the verdict and the divergence that the README shows."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, [*shlex.split(README_LINES[0])[1:], "--results", "answers"])
    assert result.exit_code == 0
    assert result.output.startswith("SEPARATED: ")
    assert "the alignment of " in result.output
