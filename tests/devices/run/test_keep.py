"""Recorded tiles kept as results, and results of which only a digest was kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.devices import runs as pieces
from tcformal.devices.entries import random_line
from tcformal.devices.plan import Random
from tcformal.devices.recorded import keep_tiles
from tcformal.devices.sealed import CAMPAIGN, SCHEMA
from tcformal.errors import InputError, RecordError
from tcformal.identification import refutation as comparison
from tcformal.identification.refutation import compare, recheck
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import Raw, batch, inputs_digest
from tcformal.store import lines
from tcformal.store.schema import sealed

UNIT = "x86/vdpbf16ps"
SPEC = unit(UNIT).spec


def arrays(seed: int = 1, tiles: int = 2) -> dict[str, Raw]:
    """Tiles of 3 rows and 4 columns, NaNs among the operands, with what the model gives."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0x7F00, 0x8000, (tiles, n, 2)).astype(np.uint16) for n in (3, 4))
    c = rng.integers(0, 1 << 32, (tiles, 3, 4)).astype(np.uint32)
    rows = np.repeat(a, 4, axis=1).reshape(-1, 2), np.tile(b, (1, 3, 1)).reshape(-1, 2)
    d = unit(UNIT).dot_bits(*rows, c.reshape(-1)).reshape(c.shape)
    return {"A": a, "B": b, "C": c, "D": d}


def archive(folder: Path, **changes: Raw) -> Path:
    path = folder / "tiles.npz"
    made = arrays() | changes
    np.savez(path, A=made["A"], B=made["B"], C=made["C"], D=made["D"])
    return path


def test_tiles_become_results(tmp_path: Path) -> None:
    """They replay, their names say row and column, and no folder of this machine stands in them."""
    path, count, wrong = keep_tiles(archive(tmp_path), SPEC, "Some CPU", tmp_path / "out")
    assert path == tmp_path / "out" / "hardware" / "Some-CPU" / "x86" / "vdpbf16ps.jsonl"
    assert (count, wrong) == (24, 0)
    found = compare(path)
    assert (found.holds, found.count) == (True, 24)
    refuted = {r.design.name: r.where for r in found.refuted}
    assert refuted[f"{UNIT}@nan_rule=word"].startswith("tiles/")
    assert str(tmp_path) not in path.read_text()


def test_another_device_is_refuted(tmp_path: Path) -> None:
    d = arrays()["D"].copy()
    d[1, 2, 3] ^= 1
    path, _, wrong = keep_tiles(archive(tmp_path, D=d), SPEC, "cpu", tmp_path / "out")
    assert wrong == 1
    found = compare(path)
    assert not found.holds
    assert {r.where for r in found.refuted if r.design.name == UNIT} == {"tiles/1/2,3"}


def test_tiles_are_compared_together_as_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first tile that refutes a design gives the input, however many are put to the design at once."""
    made = arrays(2, tiles=6)
    made["D"][4, 1, 1] ^= 1
    made["D"][2, 0, 3] ^= 1
    path, *_ = keep_tiles(archive(tmp_path, **made), SPEC, "cpu", tmp_path / "out")
    found = [compare(path)]
    monkeypatch.setattr(comparison, "_FIRST_WORDS", 3 * 24)
    found.append(compare(path))
    for module, name in ((comparison, "_FIRST_WORDS"), (comparison, "_WORDS"), (pieces, "_TOGETHER")):
        monkeypatch.setattr(module, name, 1)
    found.append(compare(path))
    # How much of a refuted design is counted, and so its rank, depends on what is put to it at once.
    said = [{r.design.name: (r.where, r.witness, r.given, r.designed) for r in x.refuted} for x in found]
    assert said[0] == said[1] == said[2]
    assert found[0].survivors == found[1].survivors == found[2].survivors
    assert {r.where for r in found[0].refuted if r.design.name == UNIT} == {"tiles/2/0,3"}


def test_a_block_without_outputs_adds_nothing(tmp_path: Path) -> None:
    """A device that fails at the first dot product of a block leaves such a line."""
    path, *_ = keep_tiles(archive(tmp_path), SPEC, "cpu", tmp_path / "out")
    rows = [json.loads(line) for line in path.read_text().splitlines()][:-1]
    rows[-1] |= {"count": 0, "d": "", "mismatches": 0, "partial": True}
    path.write_text("".join(json.dumps(sealed(row)) + "\n" for row in rows))
    assert compare(path).count == 12


def test_an_altered_tile_rejects(tmp_path: Path) -> None:
    path, *_ = keep_tiles(archive(tmp_path), SPEC, "cpu", tmp_path / "out")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    block = next(row for row in rows if row["kind"] == "operands")
    block["a"][0], block["a"][1] = block["a"][1], block["a"][0]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(RecordError, match="as it was written, but it was altered"):
        compare(path)
    # A digest made anew does not help: the block's name is the digest of its operands.
    path.write_text("".join(json.dumps(sealed(row)) + "\n" for row in rows))
    with pytest.raises(RecordError, match="to have the digest that stands there"):
        compare(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"A": np.zeros((2, 3, 3), np.uint16)}, r"expected A \[tiles, m, K\]"),
        ({"C": np.zeros((2, 4, 3), np.uint32)}, r"expected A \[tiles, m, K\]"),
        ({"A": np.zeros((2, 3, 2), np.uint32)}, "expected words as uint16 in .*, but A holds uint32"),
        ({"D": np.zeros((2, 3, 4), np.float32)}, "expected words as uint32 in .*, but D holds float32"),
        ({"C": np.zeros((0, 3, 4), np.uint32), "D": np.zeros((0, 3, 4), np.uint32)}, r"\[tiles, m, K\]"),
    ],
)
def test_other_arrays_reject(changes: dict[str, Raw], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=sentence):
        keep_tiles(archive(tmp_path, **changes), SPEC, "cpu", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_no_archive_rejects(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no archive")
    np.savez(tmp_path / "lower.npz", a=np.zeros(1))
    for name in ("text.npz", "lower.npz", "missing.npz"):
        with pytest.raises(RecordError, match="arrays A, B, C and D"):
            keep_tiles(tmp_path / name, SPEC, "cpu", tmp_path / "out")
    scaled = unit("rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0").spec
    with pytest.raises(InputError, match="expected a unit without scales"):
        keep_tiles(archive(tmp_path), scaled, "cpu", tmp_path / "out")


def test_command(tmp_path: Path) -> None:
    """Exit 0 where all results are the model's, 1 where not, 2 where the file is there already."""
    words = ["probe", "keep", str(archive(tmp_path)), "--unit", UNIT, "--results", str(tmp_path / "out")]
    kept = CliRunner().invoke(main, [*words, "--device", "first", "--json"])
    assert kept.exit_code == 0
    assert json.loads(kept.stdout)["dot_products"] == 24
    again = CliRunner().invoke(main, [*words, "--device", "first"])
    assert isinstance(again.exception, RecordError) or again.exit_code == 2
    archive(tmp_path, D=arrays()["D"] ^ np.uint32(1))
    other = CliRunner().invoke(main, [*words, "--device", "second"])
    assert other.exit_code == 1
    assert "24 of them not as" in other.stdout


# --------------------------------------------------------------------- digests without outputs
def sealed_run(folder: Path, outputs: Raw) -> Path:
    """Results of one random item, all of them mismatches of an older definition: too many to be kept."""
    x = batch(SPEC, 2, 200, 1)
    item = Random("random/1", 1, 200, inputs_digest(x))
    path = folder / "run.jsonl"
    lines.append(path, sealed({
        "kind": "run", "schema": SCHEMA, "unit": UNIT, "k": 2, "device": {"device": "cpu"}, "plan": CAMPAIGN,
        "definition": "0" * 64, "tcformal": "0", "date": "2026-01-02T03:04:05+00:00",
    }))  # fmt: skip
    line = random_line(SPEC, item, outputs, outputs ^ np.uint64(1), most=0)
    assert line["not_kept"] == 200
    lines.append(path, sealed(line))
    return path


def test_a_digest_of_the_models_outputs_is_compared(tmp_path: Path) -> None:
    """A model that was wrong when it was measured, and is right now, is confirmed by the digest alone."""
    path = sealed_run(tmp_path, replay(SPEC, batch(SPEC, 2, 200, 1)))
    (checked,) = recheck(path)
    assert (checked.count, checked.sealed, checked.mismatches) == (200, 0, 0)
    assert compare(path).sealed == 0
    assert compare(path).count == 200


def test_a_digest_of_other_outputs_stays_sealed(tmp_path: Path) -> None:
    outputs = replay(SPEC, batch(SPEC, 2, 200, 1))
    outputs[7] ^= np.uint64(1)
    (checked,) = recheck(sealed_run(tmp_path, outputs))
    assert (checked.count, checked.sealed, checked.mismatches) == (0, 200, 200)
