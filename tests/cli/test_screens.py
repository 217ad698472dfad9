"""The start of the program, and lists that fit a screen."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable

import click
import pytest
from click.testing import Result

from tcformal.cli.command_list import COMMANDS
from tcformal.cli.group import main
from tcformal.design.aliases import ALIASES
from tcformal.design.names import resolve
from tcformal.report.text import SCREEN, console, table

Run = Callable[..., Result]


def test_the_summaries_are_those_of_the_commands() -> None:
    context = click.Context(main)
    for name, listed in COMMANDS.items():
        command = main.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(limit=1000) == listed.summary
        assert command.help


#: What a command does not import: that is most of its start.
HEAVY = {
    "--help": ("rich", "numpy", "tcformal.design.catalog", "tcformal.semantics"),
    "units": ("numpy", "llvmlite", "rich.progress", "tcformal.semantics"),
    "eval valpey@terms=2 --a 1 --b 1": ("numpy", "llvmlite", "rich.progress", "tcformal.solve"),
}


@pytest.mark.parametrize("words", list(HEAVY))
def test_a_command_imports_little(words: str) -> None:
    code = (
        "import sys\nfrom tcformal.cli import main\n"
        f"sys.argv = ['tcformal', *{words.split()!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in HEAVY[words] if f"'{name}'" in done.stderr] == []


@pytest.mark.parametrize(
    "words", ["units", "units --arch blackwell", "run --list", "formats", "results list", "--help"]
)
def test_lists_fit_a_screen(run: Run, words: str) -> None:
    """Names that leave no room in their row have a second line."""
    lines = run(*words.split()).output.splitlines()
    assert len(lines) <= 2 * SCREEN + 10
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", ["h100:fp16", "b200:mxf4", "mi300x:bf16", "spr:amx-bf16", "gaudi3:e4m3"])
def test_a_unit_fits_a_screen_and_cites_each_source_once(
    run: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run("units", name).output
    assert text.startswith(f"{name}: ")
    assert len(text.splitlines()) <= SCREEN
    assert [x for x in text.splitlines() if len(x) > 80] == []
    paths = re.findall(r"results/\S+", text)
    assert len(paths) == len(set(paths))


def test_what_is_left_out_is_said_and_listed(run: Run) -> None:
    short = run("units", "--arch", "blackwell").output
    assert "more designs: --designs lists them" in short
    every = run("units", "--arch", "blackwell", "--designs").output
    assert len(every.splitlines()) > len(short.splitlines())
    assert "more designs" not in every
    assert "valpey@…" in run("units").output


def test_a_misspelt_command_is_told_what_is_near(run: Run) -> None:
    result = run("seperate")
    assert result.exit_code == 2
    assert "expected a known command, but got 'seperate': the closest are separate" in result.output


def drawn(text: str, width: int) -> list[str]:
    """The lines of a cell of that width."""
    made = table("unit")
    made.add_row(text)
    out = console()
    out.width = width
    with out.capture() as captured:
        out.print(made)
    return [line.rstrip() for line in captured.get().splitlines()[1:]]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("hopper/mma.m16n8k16.f32.f16@fraction_bits=25,carry_bits=3",
         ["hopper/mma.m16n8k16.f32.f16@", "fraction_bits=25,", "carry_bits=3"]),
        ("v_mfma_f32_32x32x8_f16_with_another_name", ["v_mfma_f32_32x32x8_f16_with_", "another_name"]),
        ("a short word and volta/mma.m8n8k4.f32.f16.f16.f32",
         ["a short word and", "volta/mma.m8n8k4.f32.f16.", "f16.f32"]),
        ("0123456789abcdef0123456789abcdef", ["0123456789abcdef0123456789ab", "cdef"]),
        ("1.25 is no name", ["1.25 is no name"]),
    ],
)  # fmt: skip
def test_long_names_wrap_at_separators(text: str, lines: list[str]) -> None:
    assert drawn(text, 28) == lines


@pytest.mark.parametrize("alias", list(ALIASES))
def test_an_alias_is_the_design_that_it_stands_for(alias: str) -> None:
    family, _, settings = ALIASES[alias][0].partition("@")
    settings = settings.replace("RNE-D", "RNE-FP32")
    long = resolve(f"{family}@products=8,{settings}".rstrip(","))
    short = resolve(f"{alias}@k=8")
    assert (short.design, short.operands, short.k, short.name) == (
        long.design,
        long.operands,
        8,
        f"{alias}@k=8",
    )


def test_an_alias_takes_settings_as_any_name() -> None:
    assert resolve("muladd@k=4,d_format=fp16,c_format=fp16").design.product_rounding == "RNE-FP16"
    assert resolve("fma@products=2,k=8").design.products == 2
    assert resolve("fma@k=4,accumulator=RZ-FP32").design.accumulator == "RZ-FP32"
