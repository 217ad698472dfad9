"""Public objects as people see them: `repr`, `print`, `dir`, and notebooks."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import tcformal
from sampled import one_in
from tcformal.cli import main
from tcformal.shown import LONGEST, Shown, short

AMPERE, HOPPER = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
OPERANDS = ([16384] + [0] * 15, [1] + [0] * 15, "-2^-11")
SIDES = np.ones((2, 16), np.float16), np.full((16, 3), 0.25, np.float16)

#: An answer of each kind, and the command that prints it; None where there is none.
ANSWERS: dict[str, tuple[Callable[[], Any], str | None]] = {
    "verdict": (lambda: tcformal.separate("valpey@terms=2", "valpey@terms=2,fraction_bits=3"),
                "separate valpey@terms=2 valpey@terms=2,fraction_bits=3"),
    "claim": (lambda: tcformal.prove_claim("valpey@terms=3", "product-order"),
              "prove valpey@terms=3 --claim product-order"),
    "property": (lambda: tcformal.check_property("valpey@terms=2,zero_sign=ieee", "no-negative-zero"), None),
    "accuracy": (lambda: tcformal.accuracy("valpey@terms=2"), "accuracy valpey@terms=2"),
    "program accuracy": (lambda: tcformal.program_accuracy("fma-chain", length=1),
                         "accuracy fma-chain --length 1"),
    "slices": (lambda: tcformal.exact_slices(HOPPER), f"exact {HOPPER}"),
    "distance": (lambda: tcformal.largest_distance(AMPERE, HOPPER), f"distance {AMPERE} {HOPPER}"),
    "monotonicity": (lambda: tcformal.monotonicity("volta/mma.m8n8k4.f32.f16.f16.f32"),
                     "monotonicity volta/mma.m8n8k4.f32.f16.f16.f32"),
    "trace": (lambda: tcformal.explain(HOPPER, *OPERANDS),
              f"explain {HOPPER} --a 16384,... --b 1,... --c -2^-11"),
    "program trace": (lambda: tcformal.explain_program("fma-chain", [1.25, 3], [1, 2]),
                      "explain fma-chain --a 1.25,3 --b 1,2"),
    "divergence": (lambda: tcformal.diverge(AMPERE, HOPPER, *OPERANDS), None),
    "suite": (lambda: tcformal.suite("valpey@terms=2", vary=["fraction_bits=23..24"]),
              "suite valpey@terms=2 --vary fraction_bits=23..24"),
    "unit": (lambda: tcformal.unit(HOPPER), f"units {HOPPER}"),
    "format": (lambda: tcformal.formats()["bf16"], None),
    "program": (lambda: tcformal.program("markidis"), "programs markidis"),
    "recipe": (lambda: tcformal.recipes()["cublaslt-66"], "recipes cublaslt-66"),
    "gemm": (lambda: tcformal.gemm(HOPPER, "cublaslt-66"), None),
    "differences": (lambda: tcformal.differences(AMPERE, HOPPER, *SIDES), None),
    "distances": (lambda: tcformal.distances(AMPERE, HOPPER, *SIDES), None),
    "comparison": (lambda: tcformal.compare_programs("cutlass-3xtf32", "triton-3xtf32", differ=True), None),
    "prepared": (lambda: tcformal.unit(HOPPER).prepare(SIDES[1]), None),
    "question": (lambda: tcformal.run_query("disagreements/truncation")[0], None),
    "design": (lambda: tcformal.unit("valpey@terms=2").design, None),
    "assumptions": (lambda: tcformal.Assumptions(("finite",), exponents=(-14, 15)), None),
    "witness": (lambda: tcformal.separate(AMPERE, HOPPER).witness, None),
    "store": (lambda: tcformal.Store("results"), None),
}  # fmt: skip


def words(text: str) -> set[str]:
    """The words of a text but for times, which differ from run to run."""
    return {word for word in text.split() if not word[0].isdigit()}


@pytest.mark.parametrize("name", one_in(2, ANSWERS))
def test_an_answer_is_shown_in_a_line_and_as_its_command_prints_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCFORMAL_RESULTS", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    make, command = ANSWERS[name]
    answer = make()
    line = repr(answer)
    assert isinstance(answer, Shown)
    assert line[0] + line[-1] == "<>"
    assert len(line) <= LONGEST
    assert line.isprintable()
    assert not [x for x in dir(answer) if x.startswith("_")]
    assert (answer._repr_html_() or "<").startswith("<")
    if command is not None:
        done = CliRunner().invoke(main, command.split())
        assert words(str(answer)) <= words(done.stdout), done.output


def test_long_names_are_cut_in_the_middle() -> None:
    name = f"{HOPPER}@fraction_bits=24,carry_bits=3,zero_exponent=-130,zero_sign=ieee,order=odd_first"
    assert short(AMPERE) == AMPERE
    assert len(short(name)) == 48
    assert short(name).startswith("hopper/mma")
    assert short(name).endswith("order=odd_first")
    assert len(repr(tcformal.unit(name))) <= LONGEST


def test_where_nobody_makes_views_objects_still_show_themselves() -> None:
    """The package's own modules, used without its root or without the packages for tables."""
    code = (
        "import sys; sys.modules['rich'] = None; import tcformal\n"
        "u = tcformal.unit('valpey@terms=2'); assert str(u) == repr(u); assert u._repr_html_() is None"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_lists_its_names_and_imports_nothing() -> None:
    code = "import sys, tcformal; print(*dir(tcformal)); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, modules = (line.split() for line in done.stdout.splitlines())
    assert names == sorted(tcformal.__all__)
    assert not {"numpy", "rich", "click", "tcformal.query.verdict"} & {*modules}


def test_every_public_class_of_values_is_shown() -> None:
    classes = [x for name in tcformal.__all__ if inspect.isclass(x := getattr(tcformal, name))]
    plain = {"IdentifyVerdict", "Kind", "Limits"}  # whose own `repr` is short
    assert {x.__name__ for x in classes if not issubclass(x, (Shown, Exception))} == plain
