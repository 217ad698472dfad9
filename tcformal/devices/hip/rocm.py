"""Kernels for AMD GPUs as code objects, checked for the machine instruction of their unit.

Any clang with the target suffices: a code object needs neither the headers nor the libraries of ROCm.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.hip.mfma import Mfma, mfma
from tcformal.devices.sources import sources
from tcformal.errors import DeviceError, TcformalError
from tcformal.simulation.compilers import built, run_tool

#: What builds for gfx942: ROCm's own clang, releases that know the target, newest first, and hipcc.
_CLANGS = ("amdclang++", *(f"clang++-{n}" for n in range(22, 16, -1)), "clang++", "hipcc")
_OPTIONS = ("--offload-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O3")
#: Where CUDA's nvcc is on the path, hipcc builds for NVIDIA unless the platform is set.
_PLATFORM = {"HIP_PLATFORM": "amd"}


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A built and disassembled kernel of a unit."""

    made: Mfma
    path: Path
    compiler: str


def code_object(spec: UnitSpec) -> CodeObject:
    """Build the kernel of a unit once, and check that it contains the unit's machine instruction.

    Errors: DeviceError where there is no compiler or disassembler, or the instruction is missing.
    """
    instruction = mfma(spec)
    clang, version = compiler()
    folder = sources("hip")

    def make(path: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "instruction.h").write_text(instruction.header)
            words = [clang, "-x", "hip", f"--offload-arch={instruction.target}", *_OPTIONS, "-I", scratch]
            words += ["-I", str(folder), "-c", str(folder / "mfma.hip"), "-o", str(path)]
            run_tool(words, f"build {instruction.mnemonic} for {instruction.target}", environment=_PLATFORM)

    files = [folder / "mfma.hip", folder / "layout.h"]
    path = built(files, [clang, version, instruction.target, instruction.header, *_OPTIONS], make)
    _expect(spec, instruction, instructions(path))
    return CodeObject(instruction, path, version)


def build(name: str) -> str:
    """Build the kernel of a unit ahead of its use; the reason of a failed build, or an empty text."""
    try:
        code_object(resolve(name))
    except TcformalError as error:
        return str(error)
    return ""


def instructions(path: Path) -> list[str]:
    """The matrix instructions of a code object in order, cached beside it."""

    def make(kept: Path) -> None:
        text = run_tool([disassembler(), "-d", str(path)], "disassemble a kernel")
        kept.write_text("\n".join(re.findall(r"\bv_mfma\w+", text)))

    return built([path], ["mnemonics", disassembler()], make).read_text().split()


def _expect(spec: UnitSpec, made: Mfma, found: Sequence[str]) -> None:
    if found != [made.mnemonic]:
        raise DeviceError(
            f"expected one {made.mnemonic} for {spec.name} on {made.target}, but the compiler makes "
            f"{', '.join(found) or 'no matrix instruction'} of {made.intrinsic}"
        )


def roots() -> Iterator[Path]:
    """The folders where ROCm may be installed."""
    for root in (os.environ.get("ROCM_PATH"), "/opt/rocm"):
        if root:
            yield Path(root)


@cache
def compiler() -> tuple[str, str]:
    """A clang with AMD GPU targets, and its version; DeviceError where none is installed."""
    path = _tool("clang", [name for clang in _CLANGS for name in _places(clang)])
    lines = run_tool([path, "--version"], "say its version", environment=_PLATFORM).splitlines()
    return path, lines[0] if lines else "of an unknown release"


@cache
def disassembler() -> str:
    """The llvm-objdump of the compiler's release; DeviceError where it is missing."""
    beside = Path(compiler()[0]).resolve().parent
    near = [beside, beside.parent / "llvm" / "bin", beside.parent / "lib" / "llvm" / "bin"]
    return _tool("llvm-objdump", [str(folder / "llvm-objdump") for folder in near])


def _places(name: str) -> Iterator[str]:
    yield shutil.which(name) or ""
    for root in roots():
        yield from (str(root / "bin" / name), str(root / "llvm" / "bin" / name))


def _tool(what: str, paths: Sequence[str]) -> str:
    for path in paths:
        if path and os.access(path, os.X_OK):
            return path
    raise DeviceError(
        f"expected {what} of ROCm, or of LLVM 17 or newer, but there is none: install ROCm, or set ROCM_PATH"
    )
