"""Archives of recordings that are empty, odd, or promise more than there is: one sentence, and no memory."""

from __future__ import annotations

import io
import os
import resource
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tcformal.devices.gather import from_file, from_store
from tcformal.devices.plan import make_plan
from tcformal.devices.recorded import RecordedDevice, read_archive
from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.simulation.matrix_unit import unit

SPEC = unit("volta/mma.m8n8k4.f32.f16.f16.f32").spec


def member(array: np.ndarray, **changed: object) -> bytes:
    """An array as NumPy writes it, with other things in its header."""
    stream = io.BytesIO()
    header = {"descr": "<u4", "fortran_order": False, "shape": array.shape} | changed
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + array.tobytes()


ONES = np.full((2, 4), 0x3F800000, np.uint32)
WORDS = np.zeros(2, np.uint32)
WHOLE = {"a": member(ONES), "b": member(ONES), "c": member(WORDS), "d": member(WORDS + np.uint32(0x40800000))}
EMPTY = {name: member(np.zeros((0, 4) if name in "ab" else 0, np.uint32)) for name in "abcd"}
HUGE = member(ONES, shape=(10**10, 4))


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(f"{name}.npy", content)
    return path


def test_a_whole_archive_is_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", WHOLE)
    assert [x.tolist() for x in read_archive(path)[:1]] == [ONES.tolist()]
    assert len(RecordedDevice(str(path)).operands(SPEC)) == 1


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({}, "but got: .*There is no item"),
        ({**WHOLE, "a": b""}, "but got: "),
        ({**WHOLE, "a": HUGE}, "at most 16777216 words in a .* but there are 40000000000"),
        ({**WHOLE, "a": member(ONES, shape=(2, -4))}, "at most 16777216 words"),
        ({**WHOLE, "a": member(ONES, shape=(2, 5))}, "expected 40 bytes in a"),
        ({**WHOLE, "a": WHOLE["a"] + bytes(1_000_000)}, "expected 32 bytes in a"),
        ({**WHOLE, "a": member(ONES, descr="|O")}, "expected words as uint32 in .*, but a holds object"),
        ({**WHOLE, "a": member(ONES, descr="<f4")}, "expected words as uint32"),
        ({**WHOLE, "a": member(ONES, descr=[("x", "<u4")])}, "expected words as uint32"),
        ({**WHOLE, "a": b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 0xFFFF}, "but got: "),
        ({**WHOLE, "a": b"\x93NUMPY\x09\x00"}, "but got: "),
        (EMPTY, r"expected a, b \[n, K\] and c, d \[n\]"),
        ({**WHOLE, "c": member(np.zeros(3, np.uint32))}, r"expected a, b \[n, K\] and c, d \[n\]"),
    ],
)  # fmt: skip
def test_odd_archives_reject(members: dict[str, bytes], sentence: str, tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", members)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (lambda: read_archive(path), lambda: list(from_file(SPEC, path))):
        with pytest.raises(RecordError, match=sentence) as caught:
            read()
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600 + len(str(path))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x05\x06" + bytes(18), b"\x80\x04."])
def test_files_that_are_no_archives_reject(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    with pytest.raises(RecordError, match="expected arrays a, b, c and d"):
        RecordedDevice(str(path)).operands(SPEC)


def test_folders_and_pipes_reject(tmp_path: Path) -> None:
    """As an archive, as witnesses: nothing is waited for."""
    (tmp_path / "folder.npz").mkdir()
    os.mkfifo(tmp_path / "pipe.npz")
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("folder.npz", "pipe.npz", "pipe.json", "."):
        with pytest.raises(TcformalError, match="but it is none"):
            list(from_file(SPEC, tmp_path / name))


def test_odd_witnesses_reject(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    for text in ("[" * 100_000, '{"a":' * 50_000, "\udcff"):
        path.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(InputError, match="expected JSON") as caught:
            list(from_file(SPEC, path))
        assert len(str(caught.value)) < 400
    path.write_text("[" * 900 + '{"a": ["0x0"], "b": ["0x0"]}' + "]" * 900)
    assert len(list(from_file(SPEC, path))) == 1
    (tmp_path / "answers.jsonl").write_text(
        '{"question": [], "witness": {}}\n{"question": "x", "witness": 1}\n'
    )
    assert list(from_store(SPEC, tmp_path, 4)) == []


def test_numbers_of_vectors_have_a_limit() -> None:
    for vectors in (10**22, 10**9 + 1, -1):
        with pytest.raises(InputError, match="from 0 to 1000000000 for random dot products"):
            make_plan(SPEC, [], vectors=vectors, seed=1)
