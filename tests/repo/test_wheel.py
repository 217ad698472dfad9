"""The package as it is installed: from a wheel, in another folder, without the repository beside it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from lean import lean, lean_site

pytest.importorskip("hatchling", reason="the wheel is built by hatchling")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
QUERY = "disagreements/truncation"
AMPERE, HOPPER = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
OPERANDS = ["--a", "16384,...", "--b", "1,...", "--c", "-2^-11"]
#: From nothing to the first separated pair, in seconds of the processor: others may run beside the test.
STRANGERS_PATH_S = 90


def run(args: list[str], cwd: Path, path: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, *args], cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, installed from a wheel that is built for it."""
    made = tmp_path_factory.mktemp("wheel")
    tools = os.environ.get("PYTHONPATH", "")
    built = run(["-m", "hatchling", "build", "--target", "wheel", "--directory", str(made)], ROOT, tools)
    assert built.returncode == 0, built.stderr
    (wheel,) = made.glob("*.whl")
    site = made / "site"
    pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-compile",
        "--target",
        str(site),
    ]
    done = run([*pip, str(wheel)], made, tools)
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A working folder that has nothing to do with the repository."""
    return tmp_path


def tcformal(installed: Path, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return run(["-m", "tcformal", *args], cwd, str(installed))


def test_the_installed_package_is_the_one_that_runs(installed: Path, elsewhere: Path) -> None:
    where = run(["-c", "import tcformal; print(tcformal.__file__)"], elsewhere, str(installed))
    assert Path(where.stdout.strip()).is_relative_to(installed), where.stderr


def test_the_wheel_says_that_it_is_typed(installed: Path) -> None:
    assert (installed / "tcformal" / "py.typed").is_file()


def test_the_report_is_made_from_the_wheel(installed: Path, elsewhere: Path) -> None:
    """Its templates and scripts are there: what it lacks is what it is told to look for."""
    site = installed / "tcformal" / "report" / "site"
    mine = ROOT / "tcformal" / "report" / "site"
    for folder in ("templates", "static"):
        wanted = sorted(path.name for path in (mine / folder).iterdir())
        assert wanted == sorted(path.name for path in (site / folder).iterdir())
        assert wanted
    (elsewhere / "kept").mkdir()
    asked = ("report", "--results", "kept", "--out", "site", "--playground", "gone.tgz")
    result = tcformal(installed, elsewhere, *asked)
    assert result.returncode == 2
    assert "expected Pyodide's npm package at gone.tgz" in result.stderr


@pytest.mark.long
def test_the_source_archive_says_so_too(tmp_path: Path) -> None:
    """And holds the guide for contributors with its patches."""
    tools = os.environ.get("PYTHONPATH", "")
    built = run(["-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)], ROOT, tools)
    assert built.returncode == 0, built.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    assert {"tcformal/py.typed", "docs/CONTRIBUTING.md", "docs/changes/property.patch"} <= names


def test_every_query_file_is_in_the_wheel(installed: Path, elsewhere: Path) -> None:
    result = tcformal(installed, elsewhere, "run", "--list", "--json")
    assert result.returncode == 0, result.stderr
    root = ROOT / "queries"
    wanted = {p.relative_to(root).with_suffix("").as_posix() for p in root.rglob("*.toml")}
    assert {q["name"] for q in json.loads(result.stdout)} == wanted


def test_a_query_runs_from_the_wheel(installed: Path, elsewhere: Path) -> None:
    result = tcformal(installed, elsewhere, "run", QUERY, "--json", "--results", "answers")
    assert result.returncode == 0, result.stderr
    assert all(a["as_expected"] for a in json.loads(result.stdout))
    assert (elsewhere / "answers" / "answers.jsonl").is_file()


def test_a_mistake_in_a_users_file_names_file_and_key(installed: Path, elsewhere: Path) -> None:
    """The schema is in the wheel as well."""
    mine = elsewhere / "mine.toml"
    mine.write_text(
        'title = "t"\nsource = "XIE"\n[[ask]]\nname = "n"\nexpected = "MAYBE"\nproperty = "p"\nunit = "u"\n'
    )
    result = tcformal(installed, elsewhere, "run", str(mine))
    assert result.returncode == 2
    assert "mine.toml" in result.stderr
    assert "ask.1.expected" in result.stderr


# ------------------------------------------------------------------ without solvers and LLVM
@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lean_site(tmp_path_factory.mktemp("lean"))


def test_without_solvers_and_llvm_the_doctor_says_what_is_missing(
    installed: Path, site: Path, elsewhere: Path
) -> None:
    done = lean(installed, site, elsewhere, "doctor", "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    missing = {part["name"]: part for part in found["parts"] if part["state"] == "missing"}
    assert {"llvmlite", "python-sat", "z3-solver", "cvc5", "bitwuzla"} <= set(missing)
    assert not {"numpy", "click", "rich", "jsonschema", "ml_dtypes"} & set(missing)
    assert missing["passagemath-kissat"]["install"] == "python -m pip install 'tcformal[kissat]'"
    assert not found["complete"]


def test_without_solvers_and_llvm_models_are_evaluated_and_explained(
    installed: Path, site: Path, elsewhere: Path
) -> None:
    done = lean(installed, site, elsewhere, "eval", AMPERE, HOPPER, *OPERANDS)
    assert done.returncode == 0, done.stderr
    assert "0x46800000" in done.stdout
    assert "0x467fffff" in done.stdout
    done = lean(installed, site, elsewhere, "explain", AMPERE, HOPPER, *OPERANDS)
    assert done.returncode == 0, done.stderr
    assert "They diverge at the alignment of c" in done.stdout


#: Large enough for compiled kernels where LLVM is installed.
SIMULATED = """
import hashlib, sys
import numpy as np
import tcformal
rng = np.random.default_rng(5)
a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((64, 512), (512, 64)))
d = tcformal.simulate("hopper/mma.m16n8k16.f32.f16.f16.f32", a, b)
print(hashlib.sha256(d.tobytes()).hexdigest(), "llvmlite" in sys.modules)
"""


def test_without_llvm_numpy_simulates_the_same_bits(installed: Path, site: Path, elsewhere: Path) -> None:
    without = lean(installed, site, elsewhere, code=SIMULATED)
    assert without.returncode == 0, without.stderr
    compiled = run(["-c", SIMULATED], elsewhere, str(installed))
    assert compiled.stdout.split()[1] == "True", compiled.stderr
    assert without.stdout.split() == [compiled.stdout.split()[0], "False"]


#: Two outputs of a product, as files.
WRITTEN = (
    SIMULATED.rpartition("d = ")[0].replace("64, 512", "8, 32").replace("512, 64", "32, 8")
    + """
np.save("a", a), np.save("b", b)
for arch in ("ampere", "hopper"):
    np.save(arch, tcformal.simulate(f"{arch}/mma.m16n8k16.f32.f16.f16.f32", a, b))
"""
)


def test_without_solvers_and_llvm_outputs_are_compared(installed: Path, site: Path, elsewhere: Path) -> None:
    assert lean(installed, site, elsewhere, code=WRITTEN).returncode == 0
    words = ("compare", "ampere.npy", "hopper.npy", "--a", "a.npy", "--b", "b.npy")
    done = lean(installed, site, elsewhere, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ROUNDING: ")


@pytest.mark.long
def test_without_solvers_a_theorem_answers_and_its_sources_are_there(
    installed: Path, site: Path, elsewhere: Path
) -> None:
    done = lean(installed, site, elsewhere, "prove", AMPERE, "--claim", "carry-bits", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["theorem"]["name"] == "carry_bits_suffice"
    theory = Path("tcformal") / "theory" / "coq"
    shipped = {path.name for path in (installed / theory).iterdir()}
    assert {"_CoqProject", "Theorems.v", "checked.json"} <= shipped
    assert {path.name for path in (ROOT / theory).glob("*.v")} <= shipped


@pytest.mark.long
def test_without_solvers_a_proof_says_what_to_install(installed: Path, site: Path, elsewhere: Path) -> None:
    done = lean(installed, site, elsewhere, "prove", "valpey@terms=2,carry_bits=2", "valpey@terms=2")
    assert done.returncode == 3
    assert done.stderr.strip().splitlines()[-1] == (
        "error: expected at least one solver to be installed, but found none: "
        "python -m pip install 'tcformal[solvers]'"
    )


# ------------------------------------------------------------------ what pip brings
def test_the_parts_that_the_doctor_knows_are_those_that_pip_brings() -> None:
    """The packages of each installation, and no extra that is not there."""
    from tcformal.installed import PACKAGES

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {text.partition(">=")[0] for text in project["dependencies"]}
    assert {p.distribution for p in PACKAGES if not p.extra} == asked
    for package in PACKAGES:
        if package.extra:
            extra = [text.partition(">=")[0] for text in project["optional-dependencies"][package.extra]]
            assert package.distribution in {text.partition("[")[0] for text in extra}
    for extra in set(project["optional-dependencies"]) - {"dev", "docs", "cuda12"}:
        assert extra in {p.extra for p in PACKAGES}


@pytest.mark.long
def test_from_nothing_to_the_first_separated_pair(tmp_path: Path, elsewhere: Path) -> None:
    """A fresh environment, the wheel with all that it needs, one command; then the other main jobs.

    pip takes the packages from wherever it is configured to.
    """
    tools = os.environ.get("PYTHONPATH", "")
    built = run(["-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)], ROOT, tools)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TCFORMAL"))}

    def call(*words: str) -> str:
        done = subprocess.run(
            words, cwd=elsewhere, env=clean, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def used() -> float:
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return spent.ru_utime + spent.ru_stime

    start = used()
    call(sys.executable, "-m", "venv", str(tmp_path / "fresh"))
    call(str(tmp_path / "fresh" / "bin" / "pip"), "install", "--quiet", f"{wheel}[solvers]")
    program = str(tmp_path / "fresh" / "bin" / "tcformal")
    assert call(program, "separate", AMPERE, HOPPER, "--explain").startswith("SEPARATED: ")
    assert used() - start < STRANGERS_PATH_S
    assert "0x467fffff" in call(program, "eval", HOPPER, *OPERANDS)
    assert "They diverge" in call(program, "explain", AMPERE, HOPPER, *OPERANDS)
    assert call(program, "run", QUERY)
    assert call(program, "prove", "valpey@terms=2,carry_bits=2", "valpey@terms=2", "--certify").startswith(
        "EQ"
    )
    assert json.loads(call(program, "doctor", "--json"))["complete"]
    assert "0x467fffff" in call(
        str(tmp_path / "fresh" / "bin" / "python"), "-m", "tcformal", "eval", HOPPER, *OPERANDS
    )
