"""Pages whose commands are run: every output on them is what the commands print.

A page is Markdown.  A block ```` ```console ```` holds lines `$ tcformal …`, each followed by its output, and
perhaps `exit code N`; of a line that ends with `| head -N` or `| tail -N`, by so many lines of it.  A block
```` ```python ```` is run, and the block ```` ```output ```` after it is what it prints; a block
```` ```text file=NAME ```` is written to that file.  Blocks share a folder, and Python blocks their names.
Masked, on the page and in what is compared, are what differs from run to run: seconds, dates, and which of
the racing solvers was first; white space is not compared, because their names are not equally long.  A page
whose first line is `<!-- long -->` is run by the long tests.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tcformal.cli import main

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
FOLDERS = tuple(ROOT / "docs" / name for name in ("tutorials", "how-to", "explanation"))

#: What differs from run to run, and what stands for it.
MASKS = (
    (re.compile(r"\b\d+(\.\d+)? s\b"), "… s"),
    (re.compile(r"(?<=tcformal's)( +)\d+\.\d+\b"), r"\1…"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "YYYY-MM-DD"),
    (re.compile(r"\b(kissat|glucose|cadical|bitwuzla|z3|cvc5)\b( \d+(\.\w+)*)?"), "SOLVER"),
)
_PART = re.compile(r" \| (head|tail) -(\d+)$")
_FENCE = re.compile(r"^```(\w*)(?: file=(\S+))?[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page: its kind, its text, and where the text stands."""

    kind: str
    file: str
    text: str
    start: int
    end: int


def pages() -> list[Path]:
    """Every page with blocks that are run."""
    return [README, *(path for folder in FOLDERS for path in sorted(folder.glob("*.md")))]


def is_long(text: str) -> bool:
    """Whether a page is left to the long tests."""
    return text.startswith("<!-- long -->\n")


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(m[1], m[2] or "", m[3], m.start(3), m.end(3)) for m in _FENCE.finditer(text)]


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
    with contextlib.chdir(folder):
        for block in blocks(text):
            new = block.text
            if block.kind == "console":
                # A block that only lists commands has no output.
                new = "".join(_called(line) for line in commands(block.text)) or block.text
            elif block.kind == "python":
                printed = _printed(block.text, names)
            elif block.kind == "output":
                new = masked(printed)
            elif block.file:
                Path(block.file).write_text(block.text, encoding="utf-8")
            made += [text[done : block.start], new]
            done = block.end
    return "".join([*made, text[done:]])


def _called(line: str) -> str:
    """A command line with what the command prints, its error if it ends with one, and its code if not 0.

    Of a line that ends with `| head -N` or `| tail -N`: the first or last N lines of what the command prints.
    """
    command, *part = _PART.split(line)
    program, *words = shlex.split(command.replace("\\\n", " "))
    if program != "tcformal":
        raise ValueError(f"expected a line `$ tcformal …`, but got {line!r}")
    environment = {"TCFORMAL_RESULTS": None, "COLUMNS": None, "TCFORMAL_DEBUG": "1"}
    done = CliRunner(env=environment).invoke(main, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if part:
        lines, n = done.stdout.rstrip().splitlines(), int(part[1])
        shown = "\n".join(lines[:n] if part[0] == "head" else lines[-n:])
        return f"$ {line}\n{masked(shown)}"
    code = f"exit code {done.exit_code}\n" if done.exit_code else ""
    shown = done.stdout + "".join(done.stderr.splitlines(keepends=True)[-1:] if done.exit_code > 1 else [])
    return f"$ {line}\n{masked(shown)}{code}"


def _printed(code: str, names: dict[str, Any]) -> str:
    """What Python code prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "page", "exec"), names)
    return out.getvalue()
