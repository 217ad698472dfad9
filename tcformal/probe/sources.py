"""The probe sources, in the repository and in an installed package, and the folder of built probes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from tcformal.errors import DeviceError

_PACKAGE = Path(__file__).resolve().parents[1]


def sources(family: str) -> Path:
    """The folder of one family of probes: `cpu`, `cuda`; DeviceError where the sources are not installed."""
    for root in (_PACKAGE / "hw_probes", _PACKAGE.parent / "hw_probes"):
        if (root / family).is_dir():
            return root / family
    raise DeviceError(f"expected the probe sources hw_probes/{family} beside the package, but there are none")


@cache
def cache_folder() -> Path:
    """Where built probes are kept: the user's cache folder, or a temporary one where that is not writable."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "tcformal" / "probes"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="tcformal-probes-"))


def built(files: Sequence[Path], command: Sequence[str], build: Callable[[Path], None]) -> Path:
    """A file that `build` makes at the path it is given; made once for one content of the sources.

    `command` is all that decides what comes out of them: compiler, version, options.
    """
    made = hashlib.sha256("\0".join(command).encode())
    for file in files:
        made.update(file.read_bytes())
    target = cache_folder() / made.hexdigest()[:32]
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            part = Path(scratch) / "out"
            build(part)
            os.replace(part, target)
    return target


def run_tool(
    words: Sequence[str], what: str, *, seconds: float = 300.0, environment: Mapping[str, str] | None = None
) -> str:
    """The output of a compiler or another tool; `environment` is added to this process's own.

    Errors: DeviceError with its first complaint where it fails.
    """
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=seconds,
            env=None if environment is None else {**os.environ, **environment},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeviceError(f"expected {words[0]} to {what}, but got: {error}") from None
    if done.returncode:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        first = next((line for line in said if "error" in line or "fatal" in line), said[0] if said else "")
        raise DeviceError(f"expected {words[0]} to {what}, but got: {first.strip() or done.returncode}")
    return done.stdout
