"""The public names of the package: their table, types, docstrings, and that documents use no others."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tcformal
from tcformal.query.kinds.property.properties import PROPERTIES

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"


def public() -> dict[str, Any]:
    """Every public name with what it stands for."""
    return {name: getattr(tcformal, name) for name in tcformal.__all__ if name != "__version__"}


def functions() -> list[str]:
    return [name for name, x in public().items() if not inspect.isclass(x)]


def typed_imports(text: str) -> dict[str, str]:
    """The names that a module imports for type checkers only, with the modules that they come from."""
    (block,) = [
        n for n in ast.parse(text).body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n)
    ]
    froms = [n for n in block.body if isinstance(n, ast.ImportFrom)]
    return {alias.name: str(n.module) for n in froms for alias in n.names}


def python_examples(text: str) -> list[str]:
    """The Python code of a document."""
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


# ---------------------------------------------------------------------- names
def test_the_names_are_those_of_the_lazy_table_and_of_the_types() -> None:
    text = (ROOT / "tcformal" / "__init__.py").read_text(encoding="utf-8")
    assert sorted(tcformal.__all__) == sorted({*tcformal._HOME, "__version__"})
    assert typed_imports(text) == tcformal._HOME
    assert set(tcformal.__all__) <= set(dir(tcformal))


def test_every_name_is_at_home_where_the_table_says() -> None:
    """Not where another module imports it from."""
    for name, value in public().items():
        assert value.__module__ == tcformal._HOME[name], name


def test_formats_are_listed() -> None:
    assert tcformal.formats()["bf16"].width == 16
    assert isinstance(tcformal.formats()["bf16"], tcformal.Format)


def test_errors_are_one_tree() -> None:
    errors = [x for name, x in public().items() if name.endswith("Error")]
    assert len(errors) == 10
    assert all(issubclass(e, tcformal.TcformalError) for e in errors)


def test_designs_and_units_are_listed_by_what_they_are() -> None:
    ampere = tcformal.units(arch="ampere", format="bf16")
    assert ampere
    assert all(name.startswith("ampere/") for name in ampere)
    shared = tcformal.designs(arch="ampere", format="bf16")
    assert sorted(name for names in shared.values() for name in names) == sorted(ampere)
    assert tcformal.designs(operation="T-FDPA").keys() <= tcformal.designs().keys()
    with pytest.raises(tcformal.UnknownNameError, match="expected a known architecture, but got 'amper'"):
        tcformal.units(arch="amper")


# ---------------------------------------------------------------------- types
@pytest.mark.parametrize("name", functions())
def test_arguments_are_typed(name: str) -> None:
    """No argument is caught by **, and none of a question's is Any."""
    signature = inspect.signature(public()[name])
    kinds = {p.kind for p in signature.parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    if name not in ("simulate", "differences", "distances"):  # arrays of any library that NumPy reads
        assert not [p for p in signature.parameters.values() if "Any" in str(p.annotation)]


@pytest.mark.long
def test_the_package_says_that_it_is_typed(tmp_path: Path) -> None:
    """A user's program is checked against the types of the installed package."""
    assert (ROOT / "tcformal" / "py.typed").is_file()
    program = tmp_path / "program.py"
    program.write_text(
        "import tcformal\n"
        "v = tcformal.separate('a', tcformal.unit('b'), assumptions=tcformal.Assumptions(('finite',)))\n"
        "reveal_type(v.kind)\nreveal_type(tcformal.formats())\n"
        "tcformal.prove_equal('a', 'b', finite=True)\n",
        encoding="utf-8",
    )
    env = {**os.environ, "MYPYPATH": str(ROOT)}
    # The options of `make test`, strict among them: what it has found of the package is taken from its cache.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary",
         "--config-file", str(ROOT / "pyproject.toml"), str(program)],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert 'Revealed type is "tcformal.query.question.Kind"' in lines[0], done.stdout + done.stderr
    assert "dict[str, tcformal.encodings.spec.Format]" in lines[1]
    assert 'Unexpected keyword argument "finite" for "prove_equal"' in lines[2]


# ---------------------------------------------------------------------- documents
@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(python_examples(README.read_text(encoding="utf-8")))))
def test_the_readme_examples_run(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they stand, one after the other in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(python_examples(README.read_text(encoding="utf-8"))[number], "README.md", "exec"), names)
    assert names["tcformal"] is tcformal


# ---------------------------------------------------------------------- what the functions do
def test_a_property_is_checked_under_assumptions() -> None:
    unit = tcformal.unit("valpey@terms=2,zero_sign=ieee")
    violated = tcformal.check_property(unit, "no-negative-zero")
    assert violated.kind is tcformal.Kind.VIOLATED
    assert violated.witness is not None
    assert tcformal.explain(unit, violated.witness).result == 1 << 31
    positive = tcformal.Assumptions(("positive",))
    assert tcformal.check_property(unit, "no-negative-zero", assumptions=positive).kind is tcformal.Kind.HOLDS
    with pytest.raises(tcformal.UnknownNameError, match="expected a known property, but got 'no-zero'"):
        tcformal.check_property(unit, "no-zero")


def test_a_query_is_run_by_name_and_by_path(tmp_path: Path) -> None:
    done = tcformal.run_query("disagreements/truncation")
    assert done
    assert all(a.as_expected for a in done)
    assert isinstance(done[0], tcformal.Answered)
    assert not list(tmp_path.iterdir())
    with pytest.raises(tcformal.InputError, match="expected an ask with 'nothing' in its name"):
        tcformal.run_query("disagreements/truncation", only="nothing")
    with pytest.raises(tcformal.InputError):
        tcformal.run_query(tmp_path / "missing.toml")


def test_units_diverge_on_lists_and_on_witnesses() -> None:
    ampere, hopper = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
    none = [0] * 15
    found = tcformal.diverge(ampere, hopper, [16384, *none], [1, *none], "-2^-11")
    assert isinstance(found, tcformal.Divergence)
    assert found.stage == "the alignment of c at block0"
    verdict = tcformal.separate(ampere, hopper)
    assert verdict.witness is not None
    assert tcformal.diverge(ampere, tcformal.unit(hopper), verdict.witness) is not None
    assert tcformal.diverge(ampere, ampere, verdict.witness) is None
    # The other unit takes eight products at a time, and sixteen are compared.
    short = tcformal.diverge("ampere/mma.m16n8k8.f32.f16.f16.f32", ampere, [1, *none], [1, *none], 0)
    assert short is None
    with pytest.raises(tcformal.InputError, match="expected 16 values for a of"):
        tcformal.diverge(ampere, hopper, [1], [1], 0)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tcformal.Assumptions(("finit",)), "expected a known assumption, but got 'finit'"),
        (lambda: tcformal.Assumptions(exponents=(3, 1)), "expected an integer from 3 to 40000"),
        (lambda: tcformal.Assumptions(c=-1), "expected an integer of at least 0 for assumption c"),
        (lambda: tcformal.Assumptions(factors="odd"), "expected a known assumption factors"),
        (lambda: tcformal.Assumptions.of("valpey@terms=2", "c=1e99"), "expected a value that fp32 holds"),
        (lambda: tcformal.Limits(time_s=0), "time_s"),
    ],
)
def test_bad_arguments_reject(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(tcformal.InputError, match=re.escape(sentence)):
        make()


def test_assumptions_are_read_as_the_command_line_reads_them() -> None:
    unit = tcformal.unit("valpey@terms=2")
    read = tcformal.Assumptions.of(unit, "finite", "exponents=-14..15", "c=1")
    assert read == tcformal.Assumptions(("finite",), exponents=(-14, 15), c=0x3F800000)
    assert "no-negative-zero" in PROPERTIES
