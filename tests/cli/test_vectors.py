"""`vectors`: operands and results of a unit in the forms that simulators read."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import tcformal
from tcformal.cli import main
from tcformal.cli.vectors import KINDS, vectors_of
from tcformal.errors import SolverDisagreementError
from tcformal.simulation.matrix_unit import replay, unit

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
SCALED = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["vectors", *words])


def results(rows: list[dict[str, list[int]]], name: str = VOLTA) -> list[int]:
    """The unit's results on operands by name."""
    a, b, c = (np.array([row[x] for row in rows], np.uint64) for x in "abc")
    return [int(x) for x in unit(name).dot_bits(a, b, c.reshape(-1))]


def test_every_form_holds_the_same_vectors() -> None:
    words = (VOLTA, "-n", "60", "--seed", "5")
    table = list(csv.DictReader(io.StringIO(run(*words).stdout)))
    rows = [{x: [int(w, 16) for w in row[x].split()] for x in "abcd"} for row in table]
    assert len(rows) == 60
    assert {row["kind"] for row in table} == set(KINDS)
    assert [row["d"][0] for row in rows] == results(rows)
    data = json.loads(run(*words, "--json").stdout)
    assert data["formats"] == {"a": "fp16", "b": "fp16", "c": "fp32", "d": "fp32"}
    assert [[int(x, 16) for x in v["a"]] for v in data["vectors"]] == [row["a"] for row in rows]
    assert [int(v["d"], 16) for v in data["vectors"]] == [row["d"][0] for row in rows]
    first, *lines = run(*words, "--format", "hex").stdout.splitlines()
    assert first.startswith("// ")
    assert [[int(w, 16) for w in line.split()] for line in lines] == [
        [w for x in "abcd" for w in row[x]] for row in rows
    ]
    header = run(*words, "--format", "c").stdout
    for x in "abcd":
        (block,) = re.findall(rf"vectors_{x}\[VECTORS_N\].*? = \{{\n(.*?)\n\}};", header, re.DOTALL)
        found = [int(w, 16) for w in re.findall(r"0x[0-9a-f]+", block)]
        assert found == [w for row in rows for w in row[x]]


def test_a_scaled_unit_has_its_scales() -> None:
    data = vectors_of(tcformal.unit(SCALED).spec, 12)
    assert {name: words.shape for name, (_, words) in data.columns().items()} == {
        "a": (12, 64), "b": (12, 64), "scale_a": (12, 2), "scale_b": (12, 2), "c": (12, 1), "d": (12, 1),
    }  # fmt: skip


def test_one_kind_alone_and_fewer_where_there_are_no_more(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    done = run(VOLTA, "--kind", "directed", "-n", "100000", "-o", str(path))
    assert done.exit_code == 0, done.output
    count = len(path.read_text().splitlines()) - 1
    assert f"{count}dotproductsof4terms" in "".join(done.stdout.split())
    assert 100 < count < 100_000


def test_a_wrong_result_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "tcformal.cli.vectors.replay"
    monkeypatch.setattr(wrong, lambda spec, x: replay(spec, x) ^ np.uint64(1))
    with pytest.raises(SolverDisagreementError, match="in fractions"):
        vectors_of(tcformal.unit(VOLTA).spec, 3)
