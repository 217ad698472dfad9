"""Pages whose commands are run: every output on them is what the commands print.

A page is Markdown.  A block ```` ```console ```` holds lines `$ tcformal …`, each followed by its output, and
perhaps `exit code N`; of a line that ends with `| head -N` or `| tail -N`, by so many lines of it, and of one
that ends with `> FILE`, by none.  Other programs are run by the shell, where PROGRAMS names them.  A block
```` ```python ```` is run, and the block ```` ```output ```` after it is what it prints.  A block with
`title="NAME"` is written to that file.  Blocks share a folder, and Python blocks their names; inside tabs
they are indented.  A block ```` ```sh ```` is not run: it needs what a test has not.
Masked, on the page and in what is compared, are what differs from run to run: seconds, dates, and which of
the racing solvers was first; white space is not compared, because their names are not equally long.  A page
whose first line is `<!-- long -->` is run by the long tests, one with `<!-- debian -->` where Debian's
packages are, and one with `<!-- copy -->` in a copy of the checkout.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from click.testing import CliRunner

from tcformal.cli import main

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
FOLDERS = tuple(ROOT / "docs" / name for name in ("tutorials", "how-to", "explanation"))

#: What differs from run to run, and what stands for it.
MASKS = (
    (re.compile(r"\b\d+(\.\d+)? ?s\b"), "… s"),
    (re.compile(r"\b[\d.e+]+ ?[kMGT]?MAC/s"), "… MAC/s"),
    (re.compile(r"-[0-9a-f]{12}(?=/)"), "-…"),
    (re.compile(r"(?<=tcformal's)( +)\d+\.\d+\b"), r"\1…"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "YYYY-MM-DD"),
    (re.compile(r"\b(kissat|glucose|cadical|bitwuzla|z3|cvc5)\b( \d+(\.\w+)*)?"), "SOLVER"),
)
#: Folders of the checkout that a contributor's page changes or runs.
COPIED = ("tcformal", "tests", "hw_probes", "queries")
#: Programs that pages may call beside tcformal.
PROGRAMS = ("python", "cc", "git", "./")
_PART = re.compile(r" \| (head|tail) -(\d+)$")
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w*)(?: title=\"(?P<file>[^\"]+)\")?[ \t]*\n"
    r"(?P<text>.*?)^(?P=indent)```[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page: its kind, its text without the indent, and where the text stands."""

    kind: str
    file: str
    indent: str
    text: str
    start: int
    end: int


def pages() -> list[Path]:
    """Every page with blocks that are run."""
    return [README, *(path for folder in FOLDERS for path in sorted(folder.glob("*.md")))]


def needs(text: str) -> str:
    """Which tests run a page: `long`, `debian`, or none of these."""
    found = re.match(r"<!-- (long|debian) -->\n", text)
    return found[1] if found else ""


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(
            m["kind"],
            m["file"] or "",
            m["indent"],
            re.sub(f"^{m['indent']}", "", m["text"], flags=re.MULTILINE),
            m.start("text"),
            m.end("text"),
        )
        for m in _FENCE.finditer(text)
    ]


def masked(text: str) -> str:
    """A text without what differs from run to run, nor spaces at the ends of lines."""
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


def loose(text: str) -> str:
    """A masked text whose lines and columns may lie otherwise: the names of solvers are not equally long."""
    return re.sub(r"(SOLVER and )+SOLVER", "SOLVER", " ".join(text.split()))


def commands(text: str) -> Iterator[str]:
    """The command lines of a console block; a line that ends with a backslash goes on."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            words = line[2:]
            while words.endswith("\\"):
                words += "\n" + next(lines)
            yield words


def pictures(text: str) -> list[str]:
    """The files of the pictures on a page, as its text names them."""
    return re.findall(r"!\[[^\]]*\]\((\S+\.svg)\)", text)


def renewed(text: str, folder: Path) -> str:
    """The page with every output as it is now; run in `folder`, which is the working directory meanwhile."""
    made, done, names, printed = [], 0, dict[str, Any](), ""
    if "<!-- copy -->\n" in text:
        for name in COPIED:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", folder)
    with contextlib.chdir(folder):
        for block in blocks(text):
            new = block.text
            if block.file:
                Path(block.file).write_text(block.text, encoding="utf-8")
            elif block.kind == "console":
                new = "".join(_called(line) for line in commands(block.text))
            elif block.kind == "python":
                printed = _printed(block.text, names)
            elif block.kind == "output":
                new = masked(printed)
            made += [text[done : block.start], textwrap.indent(new, block.indent)]
            done = block.end
    return "".join([*made, text[done:]])


def _called(line: str) -> str:
    """A command line with what the command prints, its error if it ends with one, and its code if not 0.

    Of a line that ends with `| head -N` or `| tail -N`: the first or last N lines of what the command prints.
    """
    command, *part = _PART.split(line)
    command, _, file = command.partition(" > ")
    if command.startswith("tcformal "):
        code, out, said = _own(shlex.split(command.replace("\\\n", " "))[1:])
    elif command.startswith(PROGRAMS):
        code, out, said = _other(command)
    else:
        raise ValueError(f"expected a line `$ tcformal …`, but got {line!r}")
    if file:
        Path(file).write_text(out, encoding="utf-8")
        out = ""
    if part:
        if code > 1:
            raise ValueError(f"expected an answer of {line!r}, but got: {said}")
        lines, n = out.rstrip().splitlines(), int(part[1])
        shown = "\n".join(lines[:n] if part[0] == "head" else lines[-n:])
        return f"$ {line}\n{masked(shown)}"
    shown = out + "".join(said.splitlines(keepends=True)[-1:] if code > 1 else [])
    return f"$ {line}\n{masked(shown)}" + (f"exit code {code}\n" if code else "")


def _own(words: list[str]) -> tuple[int, str, str]:
    """The exit code, output and errors of a command of tcformal, called here."""
    environment = {"TCFORMAL_RESULTS": None, "COLUMNS": None, "TCFORMAL_DEBUG": "1"}
    done = CliRunner(env=environment).invoke(main, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def _other(line: str) -> tuple[int, str, str]:
    """The same of another program, of which `python` is this one."""
    own = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "TCFORMAL_RESULTS")} | own
    done = subprocess.run(
        line, shell=True, text=True, capture_output=True, timeout=300, check=False, env=environment
    )
    return done.returncode, done.stdout, done.stderr


def _printed(code: str, names: dict[str, Any]) -> str:
    """What Python code prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), mock.patch.dict(os.environ):
        os.environ.pop("COLUMNS", None)
        exec(compile(code, "page", "exec"), names)
    return out.getvalue()
