"""Compilers of CUDA C++: NVRTC from Python packages, or nvcc of a toolkit.

NVRTC is preferred: it takes a tenth of nvcc's time.  It comes with cuda-core, through
cuda-bindings, and needs no GPU to compile.
"""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tcformal.errors import DeviceError
from tcformal.simulation.gpu.driver import CUDA, CUDA_12, check_driver
from tcformal.simulation.gpu.tools import run_tool

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
        """Compile a source to a cubin with nvcc."""
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
        """Compile a source to a cubin with NVRTC."""
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
    program = shutil.which(name)
    if program is not None:
        return program
    return next((str(path) for path in _candidates(name) if os.access(path, os.X_OK)), None)


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
