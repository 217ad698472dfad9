"""`tcformal export`: files and standard output, and one sentence for each mistake."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from exported_runs import design_of
from tcformal.backends.export.formats import FORMATS, written
from tcformal.cli import main

UNIT = "valpey@terms=2"


def export(*words: str | Path) -> Result:
    """One call of the command."""
    return CliRunner().invoke(main, ["export", *map(str, words)])


@pytest.mark.parametrize("to", FORMATS)
def test_file_and_output_are_the_same(to: str, tmp_path: Path) -> None:
    """Binary formats too."""
    path = tmp_path / "file"
    right = written(design_of(UNIT), to)
    printed, kept = export(UNIT, "--to", to), export(UNIT, "--to", to, "-o", path)
    assert (printed.exit_code, printed.stdout_bytes, printed.stderr) == (0, right, "")
    assert (kept.exit_code, kept.stderr, path.read_bytes()) == (0, "", right)
    assert kept.stdout.startswith(f"{path}: d = a·b + c of {UNIT} as {to}, {len(right)} bytes")


def test_json_is_one_object() -> None:
    """The option that every command has."""
    assert export(UNIT, "--json").stdout == export(UNIT, "--to", "json").stdout


def test_binary_aiger_is_not_written_to_a_terminal() -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-P", "-m", "tcformal", "export", "valpey@terms=2", "--to", "aiger"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, check=False
    )
    os.close(theirs)
    assert done.returncode == 2
    assert b"expected -o FILE for aiger" in done.stderr
    os.close(ours)
    piped = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
    assert piped.startswith(b"aig ")
