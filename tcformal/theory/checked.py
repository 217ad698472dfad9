"""Which version of Coq has checked the sources: `python -m tcformal.theory.checked` checks and records it."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from tcformal.errors import InputError
from tcformal.theory.sources import LOGICAL, SOURCES, compile_sources, required, source_names

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
    known = record["sources"]
    return record["coq"] if all(known.get(x) == _digest(x) for x in _required(name)) else ""


def record_check() -> str:
    """Compile all sources in a folder of their own, record that they compile, and return Coq's version."""
    with tempfile.TemporaryDirectory() as folder:
        compile_sources(Path(folder))
    done = subprocess.run(["coqc", "--print-version"], capture_output=True, text=True, check=True)
    version = done.stdout.split()[0]
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


def _required(name: str) -> set[str]:
    """A source and all sources that it requires."""
    found, waiting = set[str](), [name]
    while waiting:
        here = waiting.pop()
        if here not in found:
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
