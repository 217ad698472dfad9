"""The public names of the package: their table, types, docstrings, and that documents use no others."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tcformal
from tcformal.query.properties import PROPERTIES

ROOT = Path(__file__).resolve().parents[2]


def public() -> dict[str, Any]:
    """Every public name with what it stands for."""
    return {name: getattr(tcformal, name) for name in tcformal.__all__ if name != "__version__"}


def functions() -> list[str]:
    return [name for name, x in public().items() if not inspect.isclass(x)]


# ---------------------------------------------------------------------- names
def test_the_names_are_those_that_users_have() -> None:
    """A name that goes breaks somebody's program: this list is changed on purpose only."""
    listed = (ROOT / "tests" / "golden" / "public_names.txt").read_text(encoding="utf-8").split()
    assert sorted(tcformal.__all__) == sorted(listed)
    assert set(listed) <= set(dir(tcformal))


def test_no_room_hides_a_function() -> None:
    """Whichever of the two was used first."""
    code = (
        "import tcformal; a = tcformal.formats(); import tcformal.encodings.spec as s; b = tcformal.formats()"
    )
    subprocess.run([sys.executable, "-c", f"{code}; assert a == b and s.Format"], cwd=ROOT, check=True)
    rooms = {path.name for path in (ROOT / "tcformal").iterdir() if path.is_dir()}
    assert not rooms & {*tcformal.__all__}
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
    if name not in (
        "simulate",
        "quantise",
        "differences",
        "distances",
        "compare",
    ):  # arrays of any library that NumPy reads
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


# ---------------------------------------------------------------------- what the functions do
PAIR = ("valpey@terms=2,carry_bits=2", "valpey@terms=2")
#: A unit and a claim of which solvers say that it is true, and no theorem.
CLAIMED = ("valpey@terms=3,fraction_bits=5", "zero-products")


@pytest.mark.slow
def test_answers_are_kept_and_served(tmp_path: Path) -> None:
    store = tcformal.Store(tmp_path / "results")
    asked = partial(tcformal.prove_equal, *PAIR, solvers=["cadical"], store=store, certify=True)
    first = asked()
    assert first.kind is tcformal.Kind.EQUIVALENT
    assert not first.served
    assert asked().served
    assert not asked(fresh=True).served
    claim = tcformal.prove_claim(*CLAIMED, store=store, certify=True)
    assert (claim.kind, claim.answered_by) == (tcformal.Kind.HOLDS, "solvers")
    assert tcformal.prove_claim(*CLAIMED, store=store, certify=True).served
    assert not tcformal.prove_claim(*CLAIMED).served


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


def test_a_suite_takes_names_and_units() -> None:
    told: list[str] = []
    made = tcformal.suite(
        ["valpey@terms=2", tcformal.unit("valpey@terms=2,align_bits=1")], vectors=256, progress=told.append
    )
    assert isinstance(made, tcformal.Suite)
    assert len(made.inputs) == 1
    assert told
    varied = tcformal.suite("valpey@terms=2", vary=["fraction_bits=23..24"], vectors=256)
    assert len(varied.designs) == 2
    with pytest.raises(tcformal.InputError, match="expected at least two designs, but got 1"):
        tcformal.suite(["valpey@terms=2"], vary=["fraction_bits=23"])


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
