"""The committed outputs of a real `vdpbf16ps`: how many there are, and which designs they refute."""

from __future__ import annotations

import json
from pathlib import Path

from tcformal.identify.compare import compare
from tcformal.probe.log.results import read_runs

HARDWARE = Path(__file__).parents[2] / "results" / "hardware"
VDP = sorted(HARDWARE.rglob("vdpbf16ps.jsonl*"))


def test_there_are_some() -> None:
    """More than 10^6 dot products of a real dot-product instruction, from a run that came to its end."""
    (path,) = VDP
    (run,) = read_runs(path)
    assert run.ended
    random = [line for line in run.done if line["kind"] == "random"]
    assert sum(line["count"] for line in random) >= 10**6
    assert len(run.done) - len(random) > 1000


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
