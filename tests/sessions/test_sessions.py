"""The pages of the documentation say what the commands on them print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

import tcformal
from sessions.notebook import executed, notebooks
from sessions.page import (
    blocks,
    loose,
    masked,
    needs,
    pages,
    pictures,
    renewed,
)
from tcformal.cli import main

PAGES = [
    pytest.param(path, marks=[getattr(pytest.mark, name)] if name else [])
    for path in pages()
    for name in [needs(path.read_text(encoding="utf-8"))]
]
ROOT = Path(__file__).resolve().parents[2]
#: Who does something from nothing, and the page that is the transcript.
READERS = (
    "new-device", "error-bound", "two-outputs", "simulator", "audit", "add-a-unit",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_says_what_its_commands_print(path: Path, tmp_path: Path) -> None:
    """README, too; `make sessions` renews what is out of date."""
    text = path.read_text(encoding="utf-8")
    assert loose(renewed(text, tmp_path)) == loose(text)


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_cells_make(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = path.read_text(encoding="utf-8")
    assert loose(executed(text, tmp_path)) == loose(text)


def test_of_a_notebook_the_last_value_of_a_cell_is_shown(tmp_path: Path) -> None:
    code = ["import tcformal\n", "print(1)\n", "tcformal.formats()['fp16']"]
    cell = {"cell_type": "code", "execution_count": None, "outputs": [], "source": code}
    made = json.loads(executed(json.dumps({"cells": [cell, {**cell, "source": ["x = 1"]}]}), tmp_path))
    printed, shown = made["cells"][0]["outputs"]
    assert printed["text"] == ["1\n"]
    assert shown["data"]["text/plain"][0].startswith("<Format fp16")
    assert shown["data"]["text/html"][0].startswith("<pre")
    assert made["cells"][1]["outputs"] == []


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.stem)
def test_every_picture_of_a_page_is_there(path: Path) -> None:
    for name in pictures(path.read_text(encoding="utf-8")):
        assert "<svg " in (path.parent / name).read_text(encoding="utf-8")


def test_each_of_the_seven_readers_has_a_session() -> None:
    found = {path.stem: path.read_text(encoding="utf-8") for path in pages()}
    for name in READERS:
        assert sum(block.kind in ("console", "python") for block in blocks(found[name])) >= 3


def _calls(text: str) -> Iterator[list[str]]:
    """The words of every call of tcformal on a page: in blocks, and in the text between them."""
    shown = [block.text for block in blocks(text) if block.kind in ("console", "sh")]
    between = re.findall(r"(?<!`)`(tcformal [a-z][^`]*)`(?!`)", text)
    for line in "\n".join(shown).replace("\\\n", " ").splitlines() + between:
        words = re.sub(r"^\$ ", "", line).split(" | ")[0].split()
        if words[:1] == ["tcformal"]:
            yield words[1:]


def _unknown(words: list[str]) -> str:
    """The first word of a call that is no command or option of it; empty if there is none."""
    command: click.Command = main
    for word in words:
        if isinstance(command, click.Group) and not word.startswith("-"):
            found = command.get_command(click.Context(command), word)
            if found is None:
                return word
            command = found
        elif word.startswith("--"):
            options = [name for x in command.params for name in (*x.opts, *x.secondary_opts)]
            if word.partition("=")[0] not in (*options, "--help", "--version"):
                return word
    return ""


def test_every_command_on_a_page_is_there() -> None:
    """Those too that no test runs: they want hardware, or stand in a sentence."""
    assert _unknown(["probe", "run", "plan.json", "--devise", "cpu"]) == "--devise"
    assert _unknown(["seperate"]) == "seperate"
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for words in _calls(path.read_text(encoding="utf-8")):
            assert _unknown(words) == "", f"{path.name}: {' '.join(words)}"


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.stem)
def test_what_a_page_shows_of_tcformal_is_run_or_marked(path: Path) -> None:
    for block in blocks(path.read_text(encoding="utf-8")):
        lines = [line for line in block.text.splitlines() if line.startswith(("tcformal ", "$ tcformal "))]
        assert not lines or block.kind in ("console", "sh", "output"), lines


def test_of_a_long_output_the_first_or_last_lines_are_shown(tmp_path: Path) -> None:
    line = "$ tcformal eval valpey@terms=2 --a 1 --b 1 --c 1"
    whole = renewed(f"```console\n{line}\n```\n", tmp_path).splitlines()[2:-1]
    assert len(whole) > 1
    for part, shown in (("head", whole[:1]), ("tail", whole[-1:])):
        new = renewed(f"```console\n{line} | {part} -1\n```\n", tmp_path)
        assert new == "\n".join(["```console", f"{line} | {part} -1", *shown, "```", ""])


def test_another_output_is_noticed(tmp_path: Path) -> None:
    page = "```console\n$ tcformal eval valpey@terms=2 --a 1 --b 1 --c 1\nunit  3\n```\n\nand\n"
    new = renewed(page, tmp_path)
    assert "0x40000000" in new
    assert "unit  3" not in new
    assert new.endswith("```\n\nand\n")
    assert renewed(new, tmp_path) == new


def test_python_files_and_codes_are_run(tmp_path: Path) -> None:
    code = "from pathlib import Path\nprint(Path('x').read_text())\n"
    page = f'```text title="x"\nhello\n```\n```python\n{code}```\n```output\n```\n'
    assert "```output\nhello\n```" in renewed(page, tmp_path)
    wrong = "```console\n$ tcformal eval nothing --a 1 --b 1\n```\n"
    assert "exit code 2\n" in renewed(wrong, tmp_path)
    with pytest.raises(ValueError, match="expected a line"):
        renewed("```console\n$ rm -r x\n```\n", tmp_path)


def test_what_differs_from_run_to_run_is_masked() -> None:
    assert masked("glucose 4.2.1 unsat 0.12 s  \n2026-11-22; 3 s in all") == (
        "SOLVER unsat … s\nYYYY-MM-DD; … s in all\n"
    )


def test_the_reference_describes_every_public_name() -> None:
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^::: (\S+)\.(\w+)$", text, re.MULTILINE)
    assert {name for _, name in named} == {*tcformal.__all__} - {"__version__"}
    for module, name in named:
        assert getattr(import_module(module), name) is getattr(tcformal, name)


def test_the_site_has_every_page() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"[:-] (\S+\.md)$", site, re.MULTILINE))
    elsewhere = {"how-to/rented-hour.md", "how-to/notebook.md", "reference/queries.md"}
    docs = ROOT / "docs"
    assert listed - elsewhere == {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
