"""Published tables of errors on GPUs: their lines from the units here, digit by digit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcformal.analysis.khattak import COLUMNS, UNITS, PublishedTable, differences, entries, tables
from tcformal.cli import main
from tcformal.errors import InputError

#: Lines of the published tables (MATLAB-tensor-core, b12b5a7): n, error, bound.
PUBLISHED = {
    PublishedTable("fp16", "v100", 1): (
        ("10", "2.533386e-05", "9.775313e-04"),
        ("18", "1.508825e-04", "9.788430e-04"),
        ("33", "2.227115e-04", "9.825883e-04"),
    ),
    PublishedTable("e5m2", "h100", 1): (
        ("10", "1.026486e-02", "2.500010e-01"),
        ("18", "1.204863e-01", "2.500025e-01"),
        ("33", "4.384564e-02", "2.500066e-01"),
    ),
}


def test_the_tables_are_of_eight_gpus() -> None:
    assert len(tables()) == 3 * len(UNITS) == 45
    assert len({t.gpu for t in tables()}) == 8
    assert tables()[0].file == "matmul_test_binary16_binary32_words_1_model_v100.dat"


@pytest.mark.parametrize("table", PUBLISHED, ids=str)
def test_lines_are_the_published_ones(table: PublishedTable) -> None:
    """The first product has words to nearest, the others toward zero: the kept mode of the source."""
    wanted = PUBLISHED[table]
    assert tuple(x.row() for x in entries([table], count=len(wanted))) == wanted


def test_later_words_continue_the_numbers() -> None:
    (line,) = entries([PublishedTable("fp16", "a100", 2)], count=1)
    assert line.row()[:2] == ("10", "8.892493e-08")


def test_a_digit_that_differs_is_named(tmp_path: Path) -> None:
    table = PublishedTable("fp16", "v100", 1)
    lines = [" ".join(COLUMNS), *(" ".join(x) for x in PUBLISHED[table])]
    (tmp_path / table.file).write_text("\n".join(lines))
    words = ["figures", "khattak-gemm", "--points", "2", "--words", "1", "--unit", UNITS["fp16", "v100"]]
    found = CliRunner().invoke(main, [*words, "--published", str(tmp_path)])
    assert found.exit_code == 0, found.output
    assert "6 of 6 numbers are the published ones" in found.output
    (tmp_path / table.file).write_text("\n".join(lines).replace("1.508825", "1.508826"))
    other = CliRunner().invoke(main, [*words, "--json", "--published", str(tmp_path)])
    assert other.exit_code == 1
    assert "n = 18: error is 1.508825e-04, published 1.508826e-04" in other.stderr
    assert [x["n"] for x in json.loads(other.stdout)] == [10, 18]
    (tmp_path / table.file).write_text("nothing")
    lines_made = list(entries([table], count=1))
    with pytest.raises(InputError, match="expected the columns n error bound"):
        list(differences(tmp_path, lines_made))


def test_what_no_table_is_of_is_refused() -> None:
    words = ["figures", "khattak-gemm", "--points", "1"]
    found = CliRunner().invoke(main, [*words, "--words", "5"])
    assert (found.exit_code, found.stdout) == (2, "")
    assert "expected the words of some table, but got 5" in found.stderr
    known = UNITS["fp16", "v100"]
    other = CliRunner().invoke(main, [*words, "--unit", known, "--unit", "x86/vdpbf16ps"])
    assert (other.exit_code, other.stdout) == (2, "")
    assert "x86/vdpbf16ps" in other.stderr
    assert CliRunner().invoke(main, [*words, "--real"]).exit_code == 2
    with pytest.raises(InputError, match="count"):
        list(entries(tables()[:1], count=21))
