"""Compiled code is run only from folders and files that nobody else may write."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tcformal.backends import machine
from tcformal.backends.private import is_private, private_folder, read_private
from tcformal.errors import InputError, RecordError
from tcformal.simulation import compilers


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tcformal"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_folders_are_made_for_their_user_alone(cache: Path) -> None:
    before = os.umask(0)
    try:
        assert private_folder("kernels") == cache / "kernels"
    finally:
        os.umask(before)
    assert (mode(cache), mode(cache / "kernels")) == (0o700, 0o700)


def test_a_folder_that_others_could_only_read_is_closed(cache: Path) -> None:
    (cache / "probes").mkdir(parents=True)
    (cache / "probes").chmod(0o755)
    assert private_folder("probes") == cache / "probes"
    assert mode(cache / "probes") == 0o700


def open_to_others(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o770)


def linked(folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    (folder.parent.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent.parent / "elsewhere")


def a_file(folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("")


@pytest.mark.parametrize("below", ["", "kernels"])
@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (open_to_others, r"one that others may write \(mode 770\)"),
        (linked, "something else"),
        (a_file, "something else"),
    ],
)
def test_a_folder_that_others_may_write_is_refused(
    cache: Path, make: Callable[[Path], None], problem: str, below: str
) -> None:
    make(cache / below)
    with pytest.raises(
        RecordError, match=rf"^expected a folder of your own .* at {cache / below}, but got {problem}: "
    ):
        private_folder("kernels")


def test_a_folder_of_another_user_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private_folder("kernels")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(RecordError, match=rf"but got one of user {os.getuid()}: remove it"):
        private_folder("kernels")


def test_kernels_and_probes_refuse_such_a_folder(cache: Path) -> None:
    open_to_others(cache)
    for folder in (machine.cache_folder, compilers.cache_folder):
        with pytest.raises(RecordError, match=r"^expected a folder of your own"):
            folder()


def test_a_relative_cache_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    for folder in (machine.cache_folder, compilers.cache_folder):
        with pytest.raises(
            InputError, match=r"^expected an absolute path in XDG_CACHE_HOME, but got 'cache'$"
        ):
            folder()


def test_without_a_place_there_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert private_folder("kernels") is None
    assert compilers.cache_folder().is_dir()


def test_a_file_that_others_may_write_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "code"
    path.write_bytes(b"code")
    path.chmod(0o600)
    assert read_private(path) == b"code"
    assert is_private(path)
    path.chmod(0o620)
    link = tmp_path / "link"
    link.symlink_to(path)
    for other in (path, link, tmp_path / "none", tmp_path):
        assert read_private(other) is None
        assert not is_private(other)


def test_a_probe_that_others_may_have_written_is_built_again(tmp_path: Path) -> None:
    source = tmp_path / "source.c"
    source.write_text("int main;")

    def build(part: Path) -> None:
        part.write_text("ours")

    made = compilers.built([source], ["cc"], build)
    assert mode(made) == 0o700
    made.write_text("theirs")
    made.chmod(0o722)
    assert compilers.built([source], ["cc"], build) == made
    assert made.read_text() == "ours"
    assert mode(made) == 0o700
