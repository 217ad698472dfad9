"""Which version of Coq has checked the sources: `python -m tcformal.theory.checked` checks and records it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache, lru_cache
from graphlib import TopologicalSorter
from pathlib import Path

from tcformal.backends.private import private_folder
from tcformal.errors import InputError

#: The folder of the sources, in which `_CoqProject` lists them in the order of their dependencies.
SOURCES = Path(__file__).parent / "coq"
#: The logical name of the folder: `From TC Require Import Spec`.
LOGICAL = "TC"
_REQUIRES = re.compile(rf"^From {LOGICAL} Require (?:Import|Export) ([\w\s]+)\.", re.MULTILINE)
#: Everything that the theorems rest on beside Coq's kernel: classical real numbers, and what they need.
AXIOMS = (
    "Coq.Logic.Classical_Prop.classic",
    "Coq.Logic.FunctionalExtensionality.functional_extensionality_dep",
    "Coq.Reals.ClassicalDedekindReals.sig_forall_dec",
    "Coq.Reals.ClassicalDedekindReals.sig_not_dec",
)


def source_names() -> list[str]:
    """The sources in the order in which they are compiled."""
    lines = (SOURCES / "_CoqProject").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.endswith(".v")]


def required(name: str) -> list[str]:
    """The sources that one of them requires itself."""
    text = (SOURCES / name).read_text(encoding="utf-8")
    return [f"{x}.v" for names in _REQUIRES.findall(text) for x in names.split()]


@cache
def sources_digest(name: str = "Unit.v") -> str:
    """SHA-256 of the sources that define a unit's circuit, plan, claims and specification.

    They are what `Unit.v` requires, or of integers `IntegerCircuit.v`, but for the theorems about the
    specification, whose proofs may change.
    """
    texts = [(SOURCES / x).read_bytes() for x in sorted(_closure(name, {"Theorems.v"}))]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def coq_version() -> str:
    """The version of the `coqc` that is installed; InputError without it."""
    done = subprocess.run([_coqc(), "--print-version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


def _coqc() -> str:
    program = shutil.which("coqc")
    if program is None:
        raise InputError(
            "expected coqc, which Debian has in the packages coq and libcoq-flocq, but found no such program"
        )
    return program


def coqc(folder: Path, name: str, timeout_s: float | None = None) -> str:
    """What `coqc` prints of one file of a folder, whose compiled files it may require.

    Errors: InputError without `coqc`, and with its message where the file does not compile.
    """
    command = [_coqc(), "-q", "-Q", ".", LOGICAL, name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout_s, check=False)
    if done.returncode:
        raise InputError(f"expected {name} to compile, but coqc says: {done.stderr.strip()[-2000:]}")
    return done.stdout


def compile_sources(folder: Path, last: str | None = None) -> None:
    """Copies the sources to a folder and compiles them there, all of them or up to one of them.

    Errors: InputError as `coqc`, and for a name that is none of the sources.
    """
    names = source_names()
    if last is not None:
        if last not in names:
            raise InputError(f"expected one of {', '.join(names)}, but got {last!r}")
        names = names[: names.index(last) + 1]
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(SOURCES / name, folder / name)
    ready = TopologicalSorter({name: required(name) for name in names})
    ready.prepare()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running: dict[Future[str], str] = {}
        while ready.is_active():
            running |= {pool.submit(coqc, folder, name): name for name in ready.get_ready()}
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                done.result()
                ready.done(running.pop(done))


def compiled_sources() -> Path:
    """A folder of all sources, compiled by the `coqc` that is installed, and kept for the next call.

    Errors: InputError as `coqc`.
    """
    texts = [coq_version().encode(), *((SOURCES / name).read_bytes() for name in source_names())]
    kept = private_folder("coq")
    folder = (kept or Path(tempfile.mkdtemp())) / hashlib.sha256(b"".join(texts)).hexdigest()[:16]
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            compile_sources(Path(made) / "sources")
            with contextlib.suppress(OSError):  # another process was first
                (Path(made) / "sources").rename(folder)
    return folder


#: Which version of Coq compiled the sources, and the digests of what it compiled.
CHECKED = SOURCES / "checked.json"


def source_of(theorem: str) -> str:
    """The source that states a theorem; InputError for a name that none of them states."""
    stated = re.compile(rf"^(?:Theorem|Lemma|Corollary) {re.escape(theorem)}\b", re.MULTILINE)
    for name in reversed(source_names()):
        if stated.search(_text(name)):
            return name
    raise InputError(f"expected a theorem of the sources in {SOURCES}, but got {theorem!r}")


def checked_with(name: str) -> str:
    """The version of Coq that has compiled a source, and all that it requires, as they are; else empty."""
    try:
        record = json.loads(CHECKED.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
    same = all(record["sources"].get(x) == _digest(x) for x in _closure(name))
    return record["coq"] if same else ""


def record_check() -> str:
    """Compile all sources in a folder of their own, record that they compile, and return Coq's version."""
    with tempfile.TemporaryDirectory() as folder:
        compile_sources(Path(folder))
    version = coq_version()
    made = {"coq": version, "sources": {name: _digest(name) for name in source_names()}}
    CHECKED.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    return version


def commands(file: str) -> str:
    """The command line that checks an instance with the shipped sources of theorems, compiled first."""
    compiled = f"coqc -q -Q . {LOGICAL} $x"
    return (
        f"cp -r {shlex.quote(str(SOURCES))} coq && "
        "for x in $(sed -n '/[.]v$/p;/^Theorems/q' coq/_CoqProject); "
        f"do (cd coq && {compiled}) || break; done && coqc -Q coq {LOGICAL} {shlex.quote(file)}"
    )


def _closure(name: str, left_out: Collection[str] = ()) -> set[str]:
    """A source and all sources that it requires, but those that are left out and what only these require."""
    found, waiting = set[str](), [name]
    while waiting:
        here = waiting.pop()
        if here not in found and here not in left_out:
            found.add(here)
            waiting += required(here)
    return found


@lru_cache(maxsize=64)
def _text(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")


def _digest(name: str) -> str:
    return hashlib.sha256(_text(name).encode()).hexdigest()


if __name__ == "__main__":
    sys.stdout.write(f"all sources compile with Coq {record_check()}\n")
