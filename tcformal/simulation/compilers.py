"""Compilers of CUDA C++, the driver that loads what they build, and the cache of built files.

NVRTC is preferred to nvcc: it takes a tenth of its time.  It comes with cuda-core, through
cuda-bindings, and needs no GPU to compile.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tcformal.backends.private import is_private, private_folder
from tcformal.errors import DeviceError
from tcformal.installed import install

# ----------------------------------------------- The driver; it loads no code of a later release than its own
_NAMES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
#: What builds kernels for the newest drivers, and for those of CUDA 12.
CUDA, CUDA_12 = install("cuda"), install("cuda12")


@cache
def supported() -> tuple[int, int] | None:
    """The newest release of CUDA that the driver supports; None where there is no driver."""
    release = ctypes.c_int()
    for name in _NAMES:
        try:
            code = ctypes.CDLL(name).cuDriverGetVersion(ctypes.byref(release))
        except (OSError, AttributeError):
            continue
        return None if code else (release.value // 1000, release.value % 1000 // 10)
    return None


def check_driver(compiler: str, release: tuple[int, int], driver: tuple[int, int] | None = None) -> None:
    """Refuse a compiler of a newer major release than the driver, by default the machine's, supports.

    Within a major release a driver loads the code of any compiler (CUDA's minor version compatibility).
    Errors: DeviceError that names both, and the extra that builds for the driver.
    """
    driver = driver or supported()
    if driver is not None and release[0] > driver[0]:
        remedy = f"or take the extra for CUDA 12: {CUDA_12}" if driver[0] == 12 else "which is too old"
        raise DeviceError(
            f"expected a driver for CUDA {release[0]}, the release of {compiler}, but this one supports CUDA "
            f"{driver[0]}.{driver[1]} and loads no newer kernels: update the driver, {remedy}"
        )


# ---------------------------------------------- Runs of compilers, and the cache of the files that they build
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


def built(files: Sequence[Path], command: Sequence[str], build: Callable[[Path], object]) -> Path:
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


#: Seconds that a tool may take.
_SECONDS = 300.0


def run_tool(words: Sequence[str], what: str, *, environment: Mapping[str, str] | None = None) -> str:
    """Run a compiler or another tool and return its output; `environment` extends this process's.

    Errors: DeviceError with the tool's first error message where it fails.
    """
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=_SECONDS,
            env=None if environment is None else {**os.environ, **environment},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeviceError(f"expected {words[0]} to {what}, but got: {error}") from None
    if done.returncode:
        said = (done.stderr + done.stdout).strip()
        raise DeviceError(
            f"expected {words[0]} to {what}, but got: {complaint(said) if said else done.returncode}"
        )
    return done.stdout


# -------------------------------------------------------------------------------------------------- Compilers
_OPTIONS = ("-std=c++17",)


class Compiler(ABC):
    """A compiler from CUDA C++ to a cubin."""

    #: Name and release; the release as major and minor number.
    version: str
    release: tuple[int, int]
    #: Targets that it builds for, `sm_90` and the like.
    targets: frozenset[str]

    @abstractmethod
    def compile(self, source: Path, include: Sequence[Path], target: str, what: str) -> bytes:
        """Compile a source to a cubin; DeviceError with `what` and the first error message."""


class Nvcc(Compiler):
    """nvcc of a CUDA toolkit; DeviceError where there is none."""

    def __init__(self) -> None:
        path = tool("nvcc")
        if path is None:
            raise DeviceError("expected the CUDA compiler nvcc on PATH or under CUDA_HOME, but there is none")
        self._path = path
        output = run_tool([path, "--version"], "say its version")
        found = re.search(r"release (\d+)\.(\d+), V([\d.]+)", output)
        if found is None:
            raise DeviceError(f"expected {path} to say its release, but got: {first_line(output)}")
        self.version, self.release = f"nvcc {found[3]}", (int(found[1]), int(found[2]))
        self.targets = frozenset(run_tool([path, "--list-gpu-code"], "list its targets").split())

    def compile(self, source: Path, include: Sequence[Path], target: str, what: str) -> bytes:
        paths = [word for folder in include for word in ("-I", str(folder))]
        with tempfile.TemporaryDirectory() as scratch:
            made = Path(scratch) / "out.cubin"
            words = [self._path, "-cubin", f"-arch={target}", "-O3", *_OPTIONS, *paths, str(source)]
            run_tool([*words, "-o", str(made)], what)
            return made.read_bytes()


class CoreNvrtc(Compiler):
    """NVRTC through cuda-core; DeviceError where the package or the library is missing."""

    def __init__(self) -> None:
        core, bindings = _module("cuda.core"), _module("cuda.bindings.nvrtc")
        try:
            self._program, self._options = core.Program, core.ProgramOptions
            (_, major, minor), (_, archs) = bindings.nvrtcVersion(), bindings.nvrtcGetSupportedArchs()
        except Exception as error:  # the bindings find the library when it is first used
            raise DeviceError(f"expected the library NVRTC, but got: {first_line(error)}") from error
        self.version, self.release = f"NVRTC {major}.{minor}", (int(major), int(minor))
        self.targets = frozenset(f"sm_{arch}" for arch in archs)

    def compile(self, source: Path, include: Sequence[Path], target: str, what: str) -> bytes:
        options = self._options(
            arch=target, std="c++17", include_path=[str(folder) for folder in include], name=source.name,
            device_int128=True,
        )  # fmt: skip
        try:
            made = self._program(source.read_text(), "c++", options).compile("cubin")
        except Exception as error:
            raise DeviceError(f"expected {self.version} to {what}, but got: {complaint(error)}") from error
        return bytes(made.code)


#: All compilers, in order of preference.
KINDS: tuple[type[Compiler], ...] = (CoreNvrtc, Nvcc)


@cache
def compiler() -> Compiler:
    """The first installed compiler whose kernels the driver, if there is one, can load.

    Errors: DeviceError with the packages to install where there is none, and where the driver is older
    than every compiler.
    """
    refused = None
    for kind in KINDS:
        try:
            made = kind()
        except DeviceError:
            continue
        try:
            check_driver(made.version, made.release)
        except DeviceError as error:
            refused = refused or error
            continue
        return made
    raise refused or DeviceError(
        "expected a compiler for CUDA, nvcc or NVRTC ("
        f"{CUDA}, or for a driver of CUDA 12: {CUDA_12}), but there is none"
    )


def tool(name: str) -> str | None:
    """The path of a program of the CUDA toolkit: on PATH, under CUDA_HOME, or in NVIDIA's wheels."""
    there = (str(path) for path in _candidates(name) if os.access(path, os.X_OK))
    return shutil.which(name) or next(there, None)


def _candidates(name: str) -> Iterator[Path]:
    for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if root:
            yield Path(root) / "bin" / name
    site = Path(sysconfig.get_path("purelib")) / "nvidia"
    yield from sorted(site.glob(f"*/bin/{name}"))


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise DeviceError(f"expected the package {name}, but got: {first_line(error)}") from error


def first_line(error: object) -> str:
    """The first line of an exception's message."""
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


def complaint(error: object) -> str:
    """The first line of a compiler's log that names an error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "error" in line or "fatal" in line), first_line(error))
