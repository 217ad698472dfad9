"""However the program is called: one of four exit codes, a few sentences, no commands to a terminal."""

from __future__ import annotations

import random
from pathlib import Path

import click
import pytest

import fuzz.__main__ as fuzz_module
from fuzz.__main__ import fuzz
from fuzz.cases import WORKING, Case, commands, make_case
from fuzz.judge import bounded, call, call_apart, complaints
from fuzz.place import Place, make_place
from tcformal.cli.questions import evaluate

SEED = 20261122


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A folder of odd files."""
    return make_place(tmp_path_factory.mktemp("fuzz"), random.Random(SEED))


@pytest.mark.slow
def test_odd_calls_are_answered_well(tmp_path: Path) -> None:
    assert fuzz(tmp_path, 150, SEED) == []


@pytest.mark.long
def test_many_odd_calls_are_answered_well(tmp_path: Path) -> None:
    assert fuzz(tmp_path, 10_000, SEED + 1) == []


@pytest.mark.long
def test_odd_calls_of_the_program_itself_are_answered_well(tmp_path: Path) -> None:
    assert fuzz(tmp_path, 100, SEED + 2, apart=100) == []


def test_a_few_odd_calls_of_the_program_itself(place: Place) -> None:
    """In processes of their own: what a process adds are its streams, its signals and its exit."""
    for words in (
        ("eval", "x86/vdpbf16ps", "--a", "\x1b[2J,1", "--b", "1,1", "--json"),
        ("units", "\udcff"),
    ):
        case = Case(words)
        code, out, err = call_apart(case, place)
        assert (code, complaints(case, code, out, err)) == (2, [])


def test_every_option_of_every_command_comes_up(place: Place) -> None:
    """The long run leaves none out."""
    rng = random.Random(SEED)
    assert WORKING.keys() == commands().keys()
    used = {word.partition("=")[0] for _ in range(6_000) for word in make_case(rng, place).words}
    options = {
        word
        for command in commands().values()
        for option in command.params
        if isinstance(option, click.Option)
        for word in (*option.opts, *option.secondary_opts)
    }
    assert len(options) > 50
    assert options - used <= {
        "--all-pairs", "--all", "--claim", "--claims", "--prove", "--bound", "--points",
        "--words", "--elements", "--lengths", "--exponents",
    }  # fmt: skip


@pytest.mark.long
def test_working_words_work(place: Place) -> None:
    """What is made odd is a call that is answered."""
    with bounded(place):
        for name, words in WORKING.items():
            code, _, err = call(Case((*name.split(), *words)))
            # There is no record of that id, no archive of tiles or of Pyodide: these come near an answer.
            refused = name in ("results show", "results proof", "probe keep", "report")
            assert code in ((2,) if refused else (0, 1, 3)), (name, err)


GOOD = Case(("eval", "x86/vdpbf16ps", "--a", "1,2", "--b", "3,4", "--json"))


def test_a_good_call_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_module, "make_case", lambda *_: GOOD)
    assert fuzz(tmp_path, 1, SEED) == []


@pytest.mark.parametrize(
    ("defect", "word"),
    [
        (lambda *_: 1 / 0, "internal error"),
        (lambda *_: click.echo("\u202e"), "in output"),
        (lambda *_: click.echo("no JSON"), "no JSON"),
        (lambda *_: Path("precious").write_text("changed"), "changed precious"),
        (lambda *_: click.echo("x\n" * 500, err=True), "lines"),
        (lambda *_: (_ for _ in ()).throw(SystemExit(77)), "exit code 77"),
    ],
)
def test_a_defect_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, defect: object, word: str
) -> None:
    """A program that is made worse in one place does not pass that call, and the report can be pasted."""
    monkeypatch.setattr(fuzz_module, "make_case", lambda *_: GOOD)
    monkeypatch.setattr(evaluate, "print_json", defect)
    (report,) = fuzz(tmp_path / "after", 1, SEED)
    assert word in report
    assert report.endswith(f"cd {tmp_path / 'after'} && tcformal eval x86/vdpbf16ps --a 1,2 --b 3,4 --json")
