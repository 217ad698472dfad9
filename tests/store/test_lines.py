"""Files of JSON lines: whole lines only, whatever happens to their writers."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tcformal.errors import RecordError
from tcformal.files import write_whole
from tcformal.store.lines import (
    ASIDE,
    LARGEST_FILE,
    Mark,
    append,
    append_all,
    backwards,
    parse_line,
    read,
    scan,
    text_at,
)

#: Adds lines of 60 kB with its own number and a count, and says so after each.
WRITER = """
import sys
from pathlib import Path
from tcformal.store.lines import append
path, me, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for i in range(count):
    append(path, {"writer": me, "count": i, "text": "é" * int(sys.argv[4])})
    print(i, flush=True)
"""


def writer(path: Path, me: str, count: int, size: int) -> subprocess.Popen[str]:
    """A process that adds lines."""
    words = [sys.executable, "-c", WRITER, str(path), me, str(count), str(size)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def rows(path: Path) -> list[object]:
    """The objects of a file."""
    return [line.data for line in read(path) if line.data is not None]


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "made" / "on demand" / "x.jsonl"
    assert read(path) == []
    written: list[dict[str, object]] = [{"n": 1, "text": "2^-24 · −0\n\u2028"}, {"n": 2}]
    for data in written:
        append(path, data)
    assert rows(path) == written
    assert [line.number for line in read(path)] == [1, 2]
    assert path.read_bytes().count(b"\n") == 2
    assert list(path.parent.iterdir()) == [path]


def scanned(path: Path, since: Mark) -> tuple[list[object], Mark]:
    """The objects of a file after a place, and the place where they end."""
    found: list[object] = []
    mark = scan(path, since, lambda _, text: found.append(json.loads(text)))
    return found, mark


def test_reading_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert scanned(path, Mark()) == ([], Mark())
    append(path, {"n": 1})
    _, mark = scanned(path, Mark())
    assert scanned(path, mark) == ([], mark)
    append(path, {"n": 2})
    found, mark = scanned(path, mark)
    assert (found, mark.lines) == ([{"n": 2}], 2)
    write_whole(path, b'{"n": 9}\n')
    found, after = scanned(path, mark)
    assert (found, after) == ([], Mark(after.file))
    assert after.file != mark.file
    assert scanned(path, after)[0] == [{"n": 9}]


@pytest.mark.parametrize("text", ["nonsense", "[1]", '{"x": NaN}', "{" * 100_000, '"half', "\x00", "{}x"])
def test_a_line_without_an_object_is_named_and_passed_over(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"n": 1}}\n{text}\n\n{{"n": 2}}\n')
    found = read(path)
    assert rows(path) == [{"n": 1}, {"n": 2}]
    (bad,) = [line for line in found if line.data is None]
    assert bad.number == 2
    assert not bad.torn
    assert bad.problem.startswith(f"expected a whole JSON object in line 2 of {path}, but got ")


@pytest.mark.parametrize("cut", [1, 7, 20, 100_000])
def test_a_torn_last_line_is_set_aside(tmp_path: Path, cut: int) -> None:
    """It is told to readers, moved away by the next writer, and never joined to its line."""
    path, told = tmp_path / "x.jsonl", list[str]()
    append(path, {"n": 1})
    line = json.dumps({"n": 2, "text": "x" * 200_000}).encode()
    with path.open("ab") as stream:
        stream.write(line[:cut])
    found, (_, mark) = read(path), scanned(path, Mark())
    assert [(x.data, x.torn) for x in found] == [({"n": 1}, False), (None, True)]
    append(path, {"n": 3}, told.append)
    assert rows(path) == [{"n": 1}, {"n": 3}]
    assert scanned(path, mark)[0] == [{"n": 3}]
    assert path.with_name(path.name + ASIDE).read_bytes() == line[:cut] + b"\n"
    assert len(told) == 1
    assert told[0].startswith(f"a torn last line of {path} was moved to {path}{ASIDE}")


def test_a_last_line_that_lacks_only_its_end_is_kept(tmp_path: Path) -> None:
    path, told = tmp_path / "x.jsonl", list[str]()
    path.write_text('{"n": 1}\n{"n": 2}')
    assert rows(path) == [{"n": 1}, {"n": 2}]
    append(path, {"n": 3}, told.append)
    assert rows(path) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert told == []


def test_data_that_is_not_json_rejects(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with pytest.raises(ValueError, match="not JSON compliant"):
        append(path, {"n": float("inf")})
    assert not path.exists()


def test_a_place_that_cannot_be_written_rejects(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("file/x.jsonl", "x" * 300, "zero\0", "half a pair \ud800"):
        for act in (lambda p: append(p, {}), lambda p: write_whole(p, b""), read):
            with pytest.raises(RecordError, match=r"^expected (a file that can be|the name of a file)"):
                act(tmp_path / name)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_file_that_would_fill_the_memory_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.touch()
    os.truncate(path, LARGEST_FILE + 1)
    with pytest.raises(RecordError, match=f"but got: {LARGEST_FILE + 1} bytes, of which at most"):
        read(path)


def test_half_a_pair_of_surrogates_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    append_all(path, [{"device": "\ud800"}, {"device": "é"}])
    assert rows(path) == [{"device": "\ud800"}, {"device": "é"}]


def test_a_full_disk_leaves_nothing_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    append(path, {"n": 1})
    whole, write = path.read_bytes(), os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: write(file, data[:3], at))
    with pytest.raises(RecordError, match=r"only 3 of 9 bytes were written"):
        append(path, {"n": 2})
    assert path.read_bytes() == whole


def test_whole_files_replace_whole_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.bin"
    write_whole(path, b"first")

    def fail(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(RecordError):
        write_whole(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    writers = [writer(path, name, 200, 300) for name in ("one", "two")]
    for process in writers:
        process.communicate()
        assert process.returncode == 0
    found = read(path)
    assert [line.problem for line in found if line.problem] == []
    for name in ("one", "two"):
        mine = [line.data["count"] for line in found if line.data and line.data["writer"] == name]
        assert mine == list(range(200))
    assert len(found) == 400


@pytest.mark.slow
def test_a_killed_writer_leaves_whole_lines(tmp_path: Path) -> None:
    """Each line that was acknowledged is there, in order, after twenty writers killed at any moment."""
    path, moments = tmp_path / "x.jsonl", random.Random(20261)
    heard: dict[str, int] = {}
    for number in range(20):
        process = writer(path, str(number), 10**6, 60_000)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moments.uniform(0, 0.03))
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[0].split()
        heard[str(number)] = int(said[-1]) if said else 0
        found = read(path)
        assert [line.problem for line in found if line.problem and not line.torn] == []
        assert [line for line in found[:-1] if line.torn] == []
    append(path, {"writer": "last"})
    found = read(path)
    assert [line.problem for line in found if line.problem] == []
    for name, last in heard.items():
        mine = [line.data["count"] for line in found if line.data and line.data["writer"] == name]
        assert mine == list(range(len(mine)))
        assert len(mine) in (last + 1, last + 2)
    assert found[-1].data == {"writer": "last"}


def test_several_lines_are_added_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    append_all(path, ({"n": n} for n in range(3)))
    append_all(path, [])
    append_all(path, [{"n": 3}])
    assert rows(path) == [{"n": n} for n in range(4)]


def test_lines_that_cannot_be_written_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle of the second line: the first is not kept either, what was there is."""
    path = tmp_path / "x.jsonl"
    append(path, {"n": 0})
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: whole(file, data[:12], at))
    with pytest.raises(RecordError, match="only 12 of 18 bytes were written"):
        append_all(path, [{"n": 1}, {"n": 2}])
    assert rows(path) == [{"n": 0}]
    assert path.read_bytes() == b'{"n": 0}\n'


@pytest.mark.parametrize("step", [1, 7, 64, 1 << 18])
def test_lines_come_backwards_from_the_same_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Blank lines, lines that hold nothing, and a last one without an end among them."""
    monkeypatch.setattr("tcformal.store.lines._STEP", step)
    random_ = random.Random(step)
    path = tmp_path / "x"
    assert list(backwards(path)) == []
    for end in ("", "\n", '{"n": 1}', '{"torn'):
        parts = ['{"n": 2, "text": "é"}\n', "\n", "nonsense\n", " \n", '{"text": "' + "x" * 100 + '"}\n']
        path.write_text("".join(random_.choices(parts, k=12)) + end)
        found = list(backwards(path))
        assert [line.data for _, line in found[::-1]] == [line.data for line in read(path)]
        texts = [text_at(path, start) for start, _ in found]
        assert [parse_line(path, 0, text).data for text in texts] == [line.data for _, line in found]
