"""`tcformal suite`: its forms, its exit codes, and a C compiler's opinion of the header."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from tcformal.design.names import resolve
from tcformal.oracle.exact import unit_dot
from tcformal.query.suites.made import from_json
from tcformal.simulation.replay import oracle_result

#: Three designs that vectors tell apart: no solver is asked.
THREE = ("tfdpa@products=2", "--vary", "conversion=RZ-FP32,RU-FP32,RD-FP32", "--vectors", "512")

#: Sees every design fit its own results and no other's, and the separator name an input that separates.
PROGRAM = r"""
#include <stdio.h>
#include "tests.h"

int main(void)
{
    int wrong = 0;
    for (int i = 0; i < MODES_DESIGNS; i++) {
        uint32_t d[MODES_INPUTS];
        for (int n = 0; n < MODES_INPUTS; n++)
            d[n] = modes_d[n][i];
        for (int j = 0; j < MODES_DESIGNS; j++) {
            int n = modes_separator[i][j];
            wrong += modes_fits(d, j) != (modes_class[i] == modes_class[j]);
            wrong += n < 0 ? i != j : modes_d[n][i] == modes_d[n][j];
        }
    }
    printf("%s %x %x %x %d\n", modes_designs[0], modes_a[0][0], modes_b[0][0], (unsigned)modes_c[0], MODES_K);
    return wrong;
}
"""

Run = Callable[..., Result]


@pytest.fixture
def run(run: Run) -> Run:
    """Run the command in this process."""
    return partial(run, "suite")


def test_json_is_checked_and_damage_noticed(run: Run, tmp_path: Path) -> None:
    result = run(*THREE, "--json")
    assert result.exit_code == 0
    made = from_json(json.loads(result.stdout))
    table = [[oracle_result(spec, w) for spec in made.designs] for w in made.inputs]
    assert [tuple(row) for row in table] == list(made.results)
    path = tmp_path / "s.json"
    path.write_text(result.stdout)
    fine = run("--check", str(path))
    assert (fine.exit_code, fine.stdout) == (0, "2 inputs and 3 designs: nothing is wrong\n")

    data = json.loads(result.stdout)
    del data["inputs"][0]
    path.write_text(json.dumps(data))
    damaged = run("--check", str(path), "--json")
    assert damaged.exit_code == 1
    assert "but there is none" in json.loads(damaged.stdout)["wrong"][0]

    path.write_text("{}")
    assert run("--check", str(path)).exit_code == 2
    path.write_text("no")
    assert run("--check", str(path)).exit_code == 2
    assert run(*THREE, "--check", str(path)).exit_code == 2


def test_csv_has_a_column_for_each_design(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    result = run(*THREE, "--format", "csv", "-o", str(path))
    assert (result.exit_code, result.stdout) == (0, "")
    for row in csv.DictReader(io.StringIO(path.read_text())):
        a, b = ([int(x, 16) for x in row[name].split()] for name in ("a", "b"))
        named = {name: int(word, 16) for name, word in row.items() if name.startswith("tfdpa@")}
        assert len(named) == 3
        for name, word in named.items():
            assert unit_dot(resolve(name), a, b, int(row["c"], 16)) == word


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to compile the header with")
def test_the_header_compiles_without_a_warning(run: Run, tmp_path: Path) -> None:
    made = run(*THREE, "--format", "c", "--prefix", "modes", "-o", str(tmp_path / "tests.h"))
    assert made.exit_code == 0
    (tmp_path / "main.c").write_text(PROGRAM)
    words = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "main.c", "-o", "main"]
    compiled = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (compiled.returncode, compiled.stderr) == (0, "")
    ran = subprocess.run([tmp_path / "main"], capture_output=True, text=True)
    assert ran.returncode == 0
    json_of = json.loads(run(*THREE, "--json").stdout)
    first = json_of["inputs"][0]
    words = [json_of["designs"][0], *(first[x][0]["hex"] for x in "ab"), first["c"]["hex"]]
    assert ran.stdout.split()[0] == words[0]
    assert [int(x, 16) for x in ran.stdout.split()[1:4]] == [int(x, 16) for x in words[1:]]


def test_scales_are_written_too(run: Run) -> None:
    name = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
    result = run(name, "--vary", "fraction_bits=24,25", "--vectors", "256", "--format", "c")
    assert result.exit_code == 0
    assert "static const uint8_t suite_scale_a[1][1]" in result.stdout


def test_an_undecided_pair_is_no_answer(run: Run) -> None:
    """What was told apart before the time was over is kept."""
    words = ("valpey@terms=5", "--vary", "carry_bits=3,4", "--vary", "conversion=RZ-FP32,RU-FP32",
             "--vectors", "1024", "--total-time", "0.001")  # fmt: skip
    result = run(*words)
    assert result.exit_code == 3
    assert "undecided: @terms=5,carry_bits=3,conversion=RZ-FP32 and @terms=5" in " ".join(
        result.stdout.split()
    )
    made = json.loads(run(*words, "--json").stdout)
    assert made["inputs"]
    assert len(made["undecided"]) == 2
    header = run("valpey@terms=5", "--vary", "carry_bits=3,4", "--total-time", "0.001", "--format", "c")
    assert header.exit_code == 2
    assert "for a C header" in header.stderr
