"""Recorded tiles kept as results, and results of which only a digest was kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tcformal.devices.log.written import random_line
from tcformal.devices.plan.plan import Random
from tcformal.devices.run.keep import keep_tiles
from tcformal.devices.sealed import CAMPAIGN, SCHEMA
from tcformal.errors import RecordError
from tcformal.identification.compare import compare
from tcformal.identification.recheck import recheck
from tcformal.simulation.operands.random import Raw, batch
from tcformal.simulation.operands.text import inputs_digest
from tcformal.simulation.replay import replay
from tcformal.simulation.unit import unit
from tcformal.store import write
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


# --------------------------------------------------------------------- digests without outputs
def sealed_run(folder: Path, outputs: Raw) -> Path:
    """Results of one random item, all of them mismatches of an older definition: too many to be kept."""
    x = batch(SPEC, 2, 200, 1)
    item = Random("random/1", 1, 200, inputs_digest(x))
    path = folder / "run.jsonl"
    write.append(path, sealed({
        "kind": "run", "schema": SCHEMA, "unit": UNIT, "k": 2, "device": {"device": "cpu"}, "plan": CAMPAIGN,
        "definition": "0" * 64, "tcformal": "0", "date": "2026-01-02T03:04:05+00:00",
    }))  # fmt: skip
    line = random_line(SPEC, item, outputs, outputs ^ np.uint64(1), most=0)
    assert line["not_kept"] == 200
    write.append(path, sealed(line))
    return path


def test_a_digest_of_other_outputs_stays_sealed(tmp_path: Path) -> None:
    outputs = replay(SPEC, batch(SPEC, 2, 200, 1))
    outputs[7] ^= np.uint64(1)
    (checked,) = recheck(sealed_run(tmp_path, outputs))
    assert (checked.count, checked.sealed, checked.mismatches) == (0, 200, 200)
