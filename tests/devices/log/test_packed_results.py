"""Packed files of results are found by the names that they had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.devices import runs as packing
from tcformal.devices.runs import files_of, pack, read_runs
from tcformal.devices.sealed import SUMMARY, read_summary
from tcformal.errors import RecordError
from tcformal.files import read_packed
from tcformal.store.schema import sealed

KEPT = Path(__file__).parents[3] / "results" / "hardware" / "AMD-EPYC" / "x86" / "vdpbf16ps.jsonl.xz"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of results, unpacked."""
    made = tmp_path / KEPT.stem
    made.write_bytes(read_packed(KEPT))
    return made


def test_a_packed_file_holds_the_same_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_runs(path)
    size = path.stat().st_size
    monkeypatch.setattr(packing, "_LONG", size)
    (path.parent / "hardware").mkdir()
    path = path.rename(path.parent / "hardware" / path.name)
    (path.parent / "short.jsonl").write_text("nonsense\n")
    words = ["results", "prune", "--pack", "--results", str(path.parents[1])]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, path.exists()) == (0, False)
    assert done.stdout.endswith("packed: 1 results of devices and products\n")
    (packed,) = files_of(path)
    assert packed.stat().st_size < size / 5
    for name in (path, packed):
        assert [(run.head, run.done, run.ended) for run in read_runs(name)] == [
            (run.head, run.done, run.ended) for run in before
        ]


def test_results_of_products_are_packed_and_what_comes_later_is_added(tmp_path: Path) -> None:
    """A line that is no record, and a packed file that was cut off, are refused, and nothing is lost."""
    path, packed = tmp_path / "AMD" / "numpy.jsonl", tmp_path / "AMD" / "numpy.jsonl.xz"
    path.parent.mkdir()
    for content in (b'{"m": 1}\n', b'{"m": 2}\n'):
        path.write_bytes(content)
        assert (packing.pack_products(tmp_path), path.exists()) == (1, False)
    assert read_packed(packed) == b'{"m": 1}\n{"m": 2}\n'
    path.write_bytes(b'{"m": 3}\n{"m"')
    with pytest.raises(RecordError, match=r"expected a record in line 2 of .*numpy\.jsonl"):
        packing.pack_products(tmp_path)
    path.write_bytes(b'{"m": 3}\n')
    packed.write_bytes(packed.read_bytes()[:-4])
    with pytest.raises(RecordError):
        packing.pack_products(tmp_path)
    assert path.exists()


def test_a_packed_summary_is_read_and_an_altered_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_summary(tmp_path) is None
    data = sealed({"device": "x", "units": []})
    (tmp_path / SUMMARY).write_text(json.dumps(data))
    assert packing.pack_all(tmp_path) == 0
    monkeypatch.setattr(packing, "_LONG", 10)
    assert (packing.pack_all(tmp_path), (tmp_path / SUMMARY).exists()) == (1, False)
    assert read_summary(tmp_path) == data
    (tmp_path / SUMMARY).write_text(json.dumps({**data, "device": "y"}))
    packing.pack_all(tmp_path)
    with pytest.raises(RecordError, match="it was altered"):
        read_summary(tmp_path)


def test_parts_of_a_campaign_are_found_packed(path: Path) -> None:
    path = path.rename(path.with_name("campaign-1.jsonl"))
    assert files_of(path.parent) == [path]
    packed = pack(path)
    assert files_of(path.parent) == [packed]
    assert len(read_runs(path.parent)) == 1


def test_a_later_part_continues_the_first_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines belong to runs that began before; packed one by one in any order, and all at once."""
    text = path.read_text().splitlines(keepends=True)
    parts = [path.with_name(f"campaign-{i}.jsonl") for i in (1, 2, 3)]
    path.unlink()
    for number, part in enumerate(parts):
        part.write_text("".join(text[number * 500 : (number + 1) * 500 if number < 2 else None]))
    before = [(run.head, run.done, run.ended) for run in read_runs(path.parent)]
    with pytest.raises(RecordError, match="before line 1 of"):
        read_runs(parts[1])
    packed = pack(parts[1])
    assert files_of(path.parent) == [parts[0], packed, parts[2]]
    monkeypatch.setattr(packing, "_LONG", 1_000_000)
    assert packing.pack_all(path.parent) == 0
    assert [pack(part).exists() for part in (parts[2], parts[0])] == [True, True]
    assert [(run.head, run.done, run.ended) for run in read_runs(path.parent)] == before


def test_a_part_of_a_damaged_campaign_is_not_packed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_LONG", 1)
    second = path.with_name("campaign-2.jsonl")
    second.write_text("nonsense\n")
    path = path.rename(path.with_name("campaign-1.jsonl"))
    for packing_of in (pack, lambda path: packing.pack_all(path.parent)):
        with pytest.raises(RecordError, match="campaign-2"):
            packing_of(path)
    assert sorted(path.parent.iterdir()) == [path, second]


def test_nothing_packed_is_overwritten(path: Path) -> None:
    pack(path)
    path.write_bytes(read_packed(KEPT))
    with pytest.raises(RecordError, match=r"^expected no file at "):
        pack(path)


def test_what_holds_no_results_is_not_packed(path: Path) -> None:
    path.write_text("nonsense\n")
    with pytest.raises(RecordError):
        pack(path)
    assert [*path.parent.iterdir()] == [path]


def test_an_altered_packed_file_is_refused(path: Path) -> None:
    packed = pack(path)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(RecordError, match="packed with xz"):
        read_runs(path)
