"""Compiler runs, and the cache of the files that they build."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from tcformal.backends.private import is_private, private_folder
from tcformal.errors import DeviceError


def cache_folder() -> Path:
    """The folder of built probes: the user's cache folder, or a temporary one where that is not writable.

    Errors: as `files.private.private_folder`.
    """
    return private_folder("probes") or _temporary()


@cache
def _temporary() -> Path:
    """The path of a private folder of this process, removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="tcformal-probes-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def built(files: Sequence[Path], command: Sequence[str], build: Callable[[Path], None]) -> Path:
    """Build files with `build`, or take them from the cache keyed by the sources' content and the `command`.

    `command` is everything else that determines the result: compiler, version, options.  A file that other
    users could have written is built again.
    """
    key = hashlib.sha256("\0".join(command).encode())
    for file in files:
        key.update(file.read_bytes())
    target = cache_folder() / key.hexdigest()[:32]
    if not is_private(target):
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            part = Path(scratch) / "out"
            build(part)
            os.chmod(part, 0o700)
            os.replace(part, target)
    return target


def run_tool(
    words: Sequence[str], what: str, *, seconds: float = 300.0, environment: Mapping[str, str] | None = None
) -> str:
    """Run a compiler or another tool and return its output; `environment` extends this process's.

    Errors: DeviceError with the tool's first error message where it fails.
    """
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=seconds,
            env=None if environment is None else {**os.environ, **environment},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeviceError(f"expected {words[0]} to {what}, but got: {error}") from None
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        first = next(
            (line for line in lines if "error" in line or "fatal" in line), lines[0] if lines else ""
        )
        raise DeviceError(f"expected {words[0]} to {what}, but got: {first.strip() or done.returncode}")
    return done.stdout
