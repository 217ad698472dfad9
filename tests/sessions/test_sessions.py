"""The pages of the documentation say what the commands on them print."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.page import (
    README,
    is_long,
    loose,
    masked,
    pages,
    renewed,
)

PAGES = [
    pytest.param(path, marks=[pytest.mark.long] if is_long(path.read_text(encoding="utf-8")) else [])
    for path in pages()
]


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_says_what_its_commands_print(path: Path, tmp_path: Path) -> None:
    """`make sessions` renews what is out of date."""
    text = path.read_text(encoding="utf-8")
    assert loose(renewed(text, tmp_path)) == loose(text)


@pytest.mark.long
def test_the_readme_says_what_its_commands_print(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    assert loose(renewed(text, tmp_path, ("console",))) == loose(text)


def test_another_output_is_noticed(tmp_path: Path) -> None:
    page = "```console\n$ tcformal eval valpey@terms=2 --a 1 --b 1 --c 1\nunit  3\n```\n\nand\n"
    new = renewed(page, tmp_path)
    assert "0x40000000" in new
    assert "unit  3" not in new
    assert new.endswith("```\n\nand\n")
    assert renewed(new, tmp_path) == new


def test_python_files_and_codes_are_run(tmp_path: Path) -> None:
    code = "from pathlib import Path\nprint(Path('x').read_text())\n"
    page = f"```text file=x\nhello\n```\n```python\n{code}```\n```output\n```\n"
    assert "```output\nhello\n```" in renewed(page, tmp_path)
    wrong = "```console\n$ tcformal eval nothing --a 1 --b 1\n```\n"
    assert "exit code 2\n" in renewed(wrong, tmp_path)
    with pytest.raises(ValueError, match="expected a line"):
        renewed("```console\n$ rm -r x\n```\n", tmp_path)


def test_what_differs_from_run_to_run_is_masked() -> None:
    assert masked("glucose 4.2.1 unsat 0.12 s  \n2026-11-22; 3 s in all") == (
        "SOLVER unsat … s\nYYYY-MM-DD; … s in all\n"
    )
