"""A working directory of odd files: of every kind that the command line reads, whole and damaged ones."""

from __future__ import annotations

import json
import lzma
import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from fuzz.odd import HOSTILE, JSON, changed, damaged, nested
from tcformal.cli import main
from tcformal.files import ENDING, read_packed

ROOT = Path(__file__).resolve().parents[2]
UNIT = "x86/vdpbf16ps"
#: Files of the project's results that are copied, and how many of their lines.
RECORDS = ("answers", "claims", "queries", "conformance", "kernels")
_LINES = 3

QUERY = """
title = "A question"
source = "nobody"
parameters = { terms = 2 }
[[ask]]
name = "{terms} and {x}"
cases = [{ x = 3 }, { x = 4 }]
separate = ["valpey@terms={terms},carry_bits={x}", "valpey@terms={terms}"]
expected = "SEPARATED"
[[ask]]
name = "evaluate"
unit = "tfdpa@products=2"
a = ["1", "2"]
b = ["1", "2"]
c = "0"
d = "5"
expected = "REPRODUCED"
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where cases run, and what they can be given."""

    root: Path
    #: Names of files by what they hold, relative to the root.
    files: dict[str, list[str]]
    #: Names of results folders.
    folders: list[str]

    def state(self) -> dict[str, tuple[int, int, int]]:
        """Everything that no case may change: all but results folders and `out`."""
        found = {}
        for folder, names, files in os.walk(self.root):
            if folder == str(self.root):
                names[:] = [name for name in names if name not in {"out", *self.folders}]
            for name in (*names, *files):
                seen = os.lstat(os.path.join(folder, name))
                size = 0 if name in names else seen.st_size
                found[os.path.relpath(os.path.join(folder, name), self.root)] = (
                    seen.st_mode,
                    size,
                    seen.st_ino,
                )
        return found


def make_place(root: Path, rng: random.Random) -> Place:
    """Fill a folder."""
    place = Place(root, {}, [])
    (root / "out").mkdir(parents=True)
    (root / "precious").write_text("precious\n")
    (root / "dot.v").write_text("module dot(input a, b, output d); assign d = a; endmodule\n")
    good = _good(root)
    for kind, (suffix, content) in good.items():
        names = place.files.setdefault(kind, [])
        for i in range(8):
            name = f"{kind}-{i}{suffix}"
            (root / name).write_bytes(content if i == 0 else _worse(rng, content))
            names.append(name)
    _odd_files(root, place)
    _folders(root, place, rng)
    return place


def _good(root: Path) -> dict[str, tuple[str, bytes]]:
    """One whole file of every kind, most of them made by the program itself."""
    plan, out = root / "plan.jsonl", root / "run"
    call = CliRunner().invoke
    made = call(
        main, ["probe", "plan", UNIT, "-o", str(plan), "--vectors", "4", "--no-stored", "--no-directed"]
    )
    assert made.exit_code == 0, made.output
    ran = call(
        main, ["probe", "run", str(plan), "--device", f"model:{UNIT}", "--results", str(out), "--json"]
    )
    assert ran.exit_code == 0, ran.output
    (results,) = out.rglob("*.jsonl")
    cases = {"a": ["1", "2"], "b": ["1", "2"], "c": "0", "expected": "5", "got": "6"}
    np.savez(
        root / "made.npz",
        a=np.zeros((2, 2), np.uint16),
        b=np.zeros((2, 2), np.uint16),
        c=np.zeros(2, np.uint32),
        expected=np.zeros(2, np.uint32),
        got=np.ones(2, np.uint32),
    )
    suites = sorted((ROOT / "results" / "suites").glob("*.json"), key=lambda path: path.stat().st_size)
    good = {
        "plan": (".jsonl", plan.read_bytes()),
        "results": (".jsonl", results.read_bytes()),
        "cases": (".json", json.dumps([cases]).encode()),
        "query": (".toml", QUERY.encode()),
        "witness": (
            ".json",
            json.dumps({"witness": {"a": ["0x0", "0x0"], "b": ["0x0", "0x0"], "c": "0x0"}}).encode(),
        ),
        "arrays": (".npz", (root / "made.npz").read_bytes()),
    }
    if suites:
        good["suite"] = (".json", suites[0].read_bytes())
    for path in (plan, root / "made.npz"):
        path.unlink()
    shutil.rmtree(out)
    return good


def _worse(rng: random.Random, content: bytes) -> bytes:
    """A file with one line or one value changed, or damaged."""
    try:
        rows = [json.loads(line) for line in content.splitlines()]
    except ValueError:
        return damaged(rng, content)
    if rng.random() < 0.3:
        return damaged(rng, content)
    i = rng.randrange(len(rows))
    rows[i] = changed(rng, rows[i])
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _odd_files(root: Path, place: Place) -> None:
    """Files that are none, and files of everything."""
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    (root / "link").symlink_to("precious")
    (root / "dangling").symlink_to("nothing")
    (root / "loop").symlink_to("loop")
    for name, content in {
        "empty": b"",
        "zero": b"\0" * 5000,
        "deep": nested(100_000).encode(),
        "nan": b"NaN",
        "digits": b"9" * 6000,
        "latin": b"\xff\xfe\xfd",
        "escape": HOSTILE.encode("utf-8", "surrogateescape"),
        "array": b"[1, 2]",
        "surrogate": b'{"a": ["\\ud800"], "b": ["1"], "c": "\\ud800", "expected": "\\ud800", "got": "1"}',
    }.items():
        for suffix in (".json", ".toml", ".npz"):
            (root / f"{name}{suffix}").write_bytes(content)
    odd = [path.name for path in root.iterdir() if path.name not in {"out", "precious"}]
    place.files["any"] = sorted(
        {*odd, "missing", "missing.toml", "/dev/null", "/dev/zero", "", "x" * 300, HOSTILE}
    )


def _folders(root: Path, place: Place, rng: random.Random) -> None:
    """Results folders: none, empty, copies of the project's own, with lines and certificates altered."""
    place.folders.extend(("r-none", "r-empty"))
    (root / "r-empty").mkdir()
    own, proofs = _own()
    records = {name: [json.loads(text) for text in texts] for name, texts in own.items()}
    for i in range(8):
        folder = root / f"r-{i}"
        (folder / "certificates").mkdir(parents=True)
        place.folders.append(folder.name)
        for name, rows in records.items():
            texts = [json.dumps(changed(rng, row) if rng.random() < 0.5 * (i > 0) else row) for row in rows]
            content = "".join(f"{text}\n" for text in texts).encode()
            (folder / f"{name}.jsonl").write_bytes(damaged(rng, content) if i > 5 else content)
        (folder / "proofs.jsonl").write_bytes(damaged(rng, proofs) if i > 2 else proofs)
    (root / "r-foreign").mkdir()
    foreign = "".join(json.dumps(value) + "\n" for value in (*JSON, {"unit": 1}, {"examples": 3})) + nested(
        3000
    )
    for name in RECORDS:
        (root / "r-foreign" / f"{name}.jsonl").write_text(foreign)
    (root / "r-links").mkdir()
    (root / "r-pipes").mkdir()
    (root / "r-folders").mkdir()
    for name in RECORDS:
        (root / "r-links" / f"{name}.jsonl").symlink_to(root / "precious")
        (root / "r-links" / f"{name}.jsonl.torn").symlink_to(root / "precious")
        os.mkfifo(root / "r-pipes" / f"{name}.jsonl")
        (root / "r-folders" / f"{name}.jsonl").mkdir()
    (root / "r-bomb" / "certificates").mkdir(parents=True)
    for row in records["answers"]:
        if row.get("certificate"):
            row["certificate"]["file"] = f"certificates/{row['certificate']['sha256']}.drat.xz"
            (root / "r-bomb" / row["certificate"]["file"]).write_bytes(_bomb())
    (root / "r-bomb" / "answers.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in records["answers"])
    )
    place.folders.extend(("r-foreign", "r-links", "r-pipes", "r-folders", "r-bomb", "r-default"))


@cache
def _bomb() -> bytes:
    """A small file that unpacks to thirty megabytes of steps."""
    return lzma.compress(b"a\x02\0" * 10_000_000)


@cache
def _own() -> tuple[dict[str, list[str]], bytes]:
    """The first short lines of the project's own files of records, and the file of the proofs they name."""
    records = {name: _lines_of(name) for name in RECORDS}
    made = [row.get("certificate") for row in records["answers"]]
    named = {said["sha256"] for said in made if said}
    kept = [json.dumps(row) for row in _rows("proofs") if row["sha256"] in named]
    proofs = "".join(f"{text}\n" for text in kept).encode()
    return {name: [json.dumps(row) for row in rows] for name, rows in records.items()}, proofs


def _lines_of(name: str) -> list[dict[str, Any]]:
    """The first short lines of one of the project's own files of records."""
    short = (row for row in _rows(name) if len(json.dumps(row)) < 20_000)
    return [row for row, _ in zip(short, range(_LINES), strict=False)]


def _rows(name: str) -> Iterator[dict[str, Any]]:
    """The rows of one of the project's own files of records, packed ones first."""
    path = ROOT / "results" / f"{name}.jsonl"
    packed = path.with_name(path.name + ENDING)
    for content in (
        read_packed(packed) if packed.exists() else b"",
        path.read_bytes() if path.exists() else b"",
    ):
        yield from map(json.loads, content.splitlines())
