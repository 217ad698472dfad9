"""The list of mutants fits the sources, and its runner tells caught ones from survivors."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutants import run as runner
from mutants.mutant import Mutant, MutantError, named_tests, read

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = read()


# ---------------------------------------------------------------------- what is no mutant
def small(folder: Path) -> Path:
    """A package of one module, and tests of it that notice half of what could be wrong."""
    (folder / "tcformal").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "tcformal" / "__init__.py").write_text(
        '"""A package."""\n\n\ndef twice(x: int) -> int:\n    """2x."""\n    return x + x\n\n\n'
        "def thrice(x: int) -> int:\n    return 3 * x  # three of them\n"
    )
    (folder / "tests" / "test_it.py").write_text(
        "import tcformal\n\ndef test_twice():\n    assert tcformal.twice(3) == 6\n\n"
        "def test_nothing():\n    assert tcformal.thrice\n\n"
        "def test_wrong():\n    assert tcformal.twice(3) == 7\n"
    )
    return folder


def mutant(text: str, becomes: str, *tests: str) -> Mutant:
    return Mutant(
        f"{text} {becomes}", "ir", "tcformal/__init__.py", text, becomes, tests or ("tests/test_it.py",)
    )


@pytest.mark.parametrize(
    ("text", "becomes", "sentence"),
    [
        ("x - x", "x", "once in tcformal/__init__.py, but it is there 0 times"),
        ("(x: int)", "(x: float)", "once in tcformal/__init__.py, but it is there 2 times"),
        ("three of them", "four of them", "expected a change of meaning"),
        ("2x.", "Two x.", "expected a change of meaning"),
        ("return 3 * x", "return (3 * x)", "expected a change of meaning"),
        ("return 3 * x", "return 3 *", "expected Python"),
    ],
)
def test_what_is_no_mutant_is_refused(text: str, becomes: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(MutantError) as caught:
        mutant(text, becomes).changed(small(tmp_path))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            '[[mutant]]\nname = "a"\n',
            "expected the keys name, layer, file, text, becomes, tests, but got name",
        ),
        (
            2 * '[[mutant]]\nname = "a"\nlayer = ""\nfile = ""\ntext = ""\nbecomes = ""\ntests = ["t"]\n',
            "every name once",
        ),
    ],
)
def test_entries_that_are_not_complete_are_refused(rows: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "list.toml").write_text(rows)
    with pytest.raises(MutantError, match=sentence):
        read(tmp_path / "list.toml")


# ---------------------------------------------------------------------- the runner
def listed(folder: Path, *mutants: Mutant) -> Path:
    """A list of them."""
    rows = [
        f'[[mutant]]\nname = "{m.name}"\nlayer = "{m.layer}"\nfile = "{m.file}"\ntext = "{m.text}"\n'
        f'becomes = "{m.becomes}"\ntests = {list(m.tests)}\n'
        for m in mutants
    ]
    path = folder / "list.toml"
    path.write_text("\n".join(rows))
    return path


def outcome(folder: Path, *mutants: Mutant) -> tuple[int, str]:
    """The exit status of a run, and what it said."""
    said: list[str] = []
    status = runner.run(small(folder), listed(folder, *mutants), [], said.append)
    return status, "\n".join(said)


TWICE, NOTHING = "tests/test_it.py::test_twice", "tests/test_it.py::test_nothing"


def test_caught_ones_are_told_from_survivors(tmp_path: Path) -> None:
    """Where a package cannot be imported every test fails, whatever it looks at: that is not caught."""
    status, said = outcome(
        tmp_path,
        mutant("x + x", "x * x", TWICE),
        mutant("3 * x", "4 * x", NOTHING),
        mutant("def thrice", "import nothing\\n\\n\\ndef thrice", TWICE),
    )
    assert status == 1
    ends = [line[:11].rstrip() for line in said.splitlines() if " ir " in line]
    assert ends == ["caught", "SURVIVED", "did not run"]
    assert "1 of 3 mutants caught" in said


def test_all_caught_is_success(tmp_path: Path) -> None:
    status, said = outcome(tmp_path, mutant("x + x", "x * x", TWICE))
    assert (status, "1 of 1 mutants caught" in said) == (0, True)


def test_tests_that_fail_by_themselves_catch_nothing(tmp_path: Path) -> None:
    status, said = outcome(tmp_path, mutant("x + x", "x * x", "tests/test_it.py::test_wrong"))
    assert status == 1
    assert "expected these tests to pass without a mutant, but: FAILED tests/test_it.py::test_wrong" in said
    assert "caught" not in said


@pytest.mark.slow
def test_a_mutant_without_end_is_not_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "LIMIT_S", 3.0)
    status, said = outcome(tmp_path, mutant("return x + x", "return sum(iter(int, 1))", TWICE))
    assert status == 1
    assert "timed out" in said


def test_a_list_that_does_not_fit_is_bad_input(tmp_path: Path) -> None:
    status, said = outcome(tmp_path, mutant("x - x", "x"))
    assert (status, "but it is there 0 times" in said) == (2, True)


def test_words_choose_mutants() -> None:
    assert runner.chosen(MUTANTS, ["oracle"]) == [m for m in MUTANTS if m.layer == "oracle"]
    assert runner.chosen(MUTANTS, []) == MUTANTS
    with pytest.raises(MutantError, match="expected mutants of no such word"):
        runner.chosen(MUTANTS, ["no such word"])


def test_tests_inside_a_named_file_are_run_with_it() -> None:
    both = [mutant("a", "b", "f.py", "g.py::test_x"), mutant("a", "c", "f.py::test_y", "g.py::test_x")]
    assert named_tests(both) == ["f.py", "g.py::test_x"]
