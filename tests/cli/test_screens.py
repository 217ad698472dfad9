"""The start of the program, and lists that fit a screen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from click.testing import Result

from tcformal.design.aliases import ALIASES
from tcformal.design.names import resolve

Run = Callable[..., Result]


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
