"""A results folder that is somebody else's copy: nothing but regular files is read, written or waited for."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tcformal.errors import RecordError
from tcformal.files import read_regular, write_whole
from tcformal.store.lines import ASIDE, append, read


def linked(path: Path) -> str:
    """A link to a file that is not to be touched."""
    path.symlink_to(path.parent / "precious")
    return "a link"


def dangling(path: Path) -> str:
    """A link to a file that is not there, and is not to be made."""
    path.symlink_to(path.parent / "made by the link")
    return "a link"


def piped(path: Path) -> str:
    """A pipe that nobody writes to."""
    os.mkfifo(path)
    return "a pipe"


def folder(path: Path) -> str:
    """A folder."""
    path.mkdir()
    return "a folder"


def listening(path: Path) -> str:
    """A socket."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    return "a socket"


KINDS: tuple[Callable[[Path], str], ...] = (linked, dangling, piped, folder, listening)
ACTS: dict[str, Callable[[Path], object]] = {
    "read": read,
    "append": lambda path: append(path, {"n": 1}),
    "write_whole": lambda path: write_whole(path, b"new"),
    "read_regular": lambda path: read_regular(path, 100),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("act", ACTS)
def test_what_is_no_regular_file_is_refused_at_once(
    short_path: Path, kind: Callable[[Path], str], act: str
) -> None:
    precious = short_path / "precious"
    precious.write_bytes(b"precious\n")
    path = short_path / "x.jsonl"
    word = kind(path)
    before = os.lstat(path)
    with pytest.raises(RecordError, match=f"^expected a regular file at {path}, but got {word}$"):
        ACTS[act](path)
    assert precious.read_bytes() == b"precious\n"
    assert os.lstat(path).st_ino == before.st_ino
    assert sorted(short_path.iterdir()) == sorted([precious, path])


@pytest.fixture
def short_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose name is short enough for a socket: the working directory."""
    monkeypatch.chdir(tmp_path)
    return Path()


def test_a_device_is_refused() -> None:
    for act in ACTS.values():
        with pytest.raises(RecordError, match=r"^expected a regular file at /dev/zero, but got a device$"):
            act(Path("/dev/zero"))


@pytest.mark.parametrize("kind", KINDS)
def test_torn_lines_are_not_written_through_a_link(short_path: Path, kind: Callable[[Path], str]) -> None:
    """The file beside is a name in the same folder: a torn line stays where it is rather than go anywhere."""
    precious, path = short_path / "precious", short_path / "x.jsonl"
    precious.write_bytes(b"precious\n")
    path.write_bytes(b'{"n": 1}\n{"torn')
    word = kind(path.with_name(path.name + ASIDE))
    with pytest.raises(RecordError, match=f"^expected a regular file at x.jsonl{ASIDE}, but got {word}$"):
        append(path, {"n": 2})
    assert precious.read_bytes() == b"precious\n"
    assert path.read_bytes() == b'{"n": 1}\n{"torn'
    assert not (short_path / "made by the link").exists()


def test_a_larger_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with pytest.raises(RecordError, match=r"^expected a file of at most 4 bytes at .*x, but it is larger$"):
        read_regular(path, 4)
    with pytest.raises(RecordError, match=r"but got: No such file or directory$"):
        read_regular(tmp_path / "none", 4)
