"""The committed outputs of real hardware: read back and held against the models as they are now."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tcformal.probe.compare import compare
from tcformal.probe.recheck import recheck
from tcformal.probe.replay import replay
from tcformal.probe.results import mismatches_in, pieces_of, read_runs, unit_of

HARDWARE = Path(__file__).parents[2] / "results" / "hardware"
SINGLE = sorted(p for p in HARDWARE.rglob("*.jsonl") if not p.name.startswith("campaign-"))
CAMPAIGNS = sorted({p.parent for p in HARDWARE.rglob("campaign-*.jsonl")})
VDP = [p for p in SINGLE if p.name == "vdpbf16ps.jsonl"]


def test_there_are_some() -> None:
    """More than 10^6 dot products of a real dot-product instruction, from a run that came to its end."""
    (path,) = VDP
    (run,) = read_runs(path)
    assert run.ended
    random = [line for line in run.done if line["kind"] == "random"]
    assert sum(line["count"] for line in random) >= 10**6
    assert len(run.done) - len(random) > 1000


@pytest.mark.parametrize("path", SINGLE, ids=lambda p: p.stem[:40])
def test_a_file_replays(path: Path) -> None:
    """Its directed dot products, and the first of its random ones."""
    for run in read_runs(path):
        spec = unit_of(run, path)
        for piece in pieces_of(run, path):
            assert np.array_equal(replay(spec, piece.batch), piece.outputs)
            if len(piece.outputs) > 10_000:
                break


@pytest.mark.long
@pytest.mark.parametrize("path", [*SINGLE, *CAMPAIGNS], ids=lambda p: p.stem[:40])
def test_all_of_a_file_replays(path: Path) -> None:
    """Mismatches are those that were found when it was measured."""
    for checked in recheck(path):
        kept = [run for run in read_runs(path) if run.head["unit"] == checked.unit][-1]
        found = sum(mismatches_in(line) for line in kept.done)
        assert checked.mismatches == found


def test_wrong_designs_are_refuted_by_name(tmp_path: Path) -> None:
    """The other order and the wrong subnormals, by what the processor gave for directed inputs alone."""
    (path,) = VDP
    lines = path.read_text().splitlines()
    directed = tmp_path / "directed.jsonl"
    kept = [line for line in lines if json.loads(line)["kind"] not in ("random", "end")]
    directed.write_text("\n".join(kept) + "\n")
    found = compare(directed)
    assert found.survives
    assert "did not come to its end" in found.lacks
    refuted = {r.design.name.partition("@")[2]: r for r in found.refuted if "@" in r.design.name}
    for change in (
        "order=ascending", "operand_subnormals=kept", "c_subnormals=kept", "result_subnormals=kept",
        "rounding=RZ", "product_rounding=RNE-FP32", "nan_rule=word",
    ):  # fmt: skip
        assert refuted[change].where
        assert refuted[change].given != refuted[change].designed
    assert all(path.stat().st_size < 16 << 20 for path in HARDWARE.rglob("*"))
    assert sum(path.stat().st_size for path in HARDWARE.rglob("*.jsonl")) < 50_000_000
