"""Completion of commands, options and names of units, as a shell asks for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tcformal.cli.unit_names import completions

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., Result]


def asked(words: str, word: int) -> list[str]:
    """What bash is told about the word of that number."""
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "_TCFORMAL_COMPLETE": "bash_complete", "COMP_WORDS": words,
        "COMP_CWORD": str(word),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tcformal"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_names_go_on_step_by_step() -> None:
    assert completions("ho") == ["hopper/"]
    assert completions("fm") == ["fma@", "fma-c-last@"]
    assert completions("hopper/mma.m16n8k16.f32.f") == ["hopper/mma.m16n8k16.f32.f16.f16.f32"]
    assert completions("valpey@terms=5,carry") == ["valpey@terms=5,carry_bits="]
    assert completions("nothing") == []


def test_a_shell_is_told_commands_and_units() -> None:
    assert asked("tcformal se", 1) == ["separate"]
    assert asked("tcformal explain hopper/mma.m16n8k16.f32.b", 2) == ["hopper/mma.m16n8k16.f32.bf16.bf16.f32"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(run: Run, shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_TCFORMAL_COMPLETE" in result.output
    assert "tcformal" in result.output


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_a_name(run: Run, tmp_path: Path) -> None:
    """The script that is printed, in a bash of its own."""
    program = tmp_path / "tcformal"
    program.write_text(f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -P -m tcformal\n")
    program.chmod(0o755)
    script = run("completion", "bash").output
    words = "COMP_WORDS=(tcformal units volta/mma.m8n8k4.f32.f16.f16.f3); COMP_CWORD=2"
    asking = f"{words}; _tcformal_completion tcformal"
    done = subprocess.run(
        ["bash", "-c", f'{script}\n{asking}\necho "${{COMPREPLY[@]}}"'],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "volta/mma.m8n8k4.f32.f16.f16.f32", done.stderr
