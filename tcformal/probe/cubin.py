"""Kernels as cubins, and whether they hold the machine instruction that the unit stands for."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tcformal.design.unit import UnitSpec
from tcformal.errors import DeviceError
from tcformal.probe.instructions import Kernel, kernel
from tcformal.probe.sources import built, run_tool, sources

#: A line of nvdisasm: address, then the instruction, perhaps under a predicate.
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.a-z]*)")
#: Instructions that compute: what is named where the expected one is missing.
_ARITHMETIC = re.compile(r"(?:[HDQIOB]|UTC\w*)(?:G?MMA)\b|^[FHD](?:FMA|ADD|MUL)\d?\b")
_CUDA_HEADERS = ("probe.cuh", "fragments.h")


@dataclass(frozen=True, slots=True)
class Cubin:
    """A kernel, built."""

    kernel: Kernel
    path: Path
    #: The machine instruction that was found in it.
    instruction: str
    compiler: str


@cache
def compiler() -> tuple[str, str]:
    """nvcc and its release; DeviceError where there is none."""
    path = _tool("nvcc")
    if path is None:
        raise DeviceError("expected the CUDA compiler nvcc on PATH or under CUDA_HOME, but there is none")
    said = run_tool([path, "--version"], "say its version")
    release = re.search(r"release [\d.]+, V([\d.]+)", said)
    return path, f"nvcc {release[1] if release else 'of an unknown release'}"


@cache
def targets() -> frozenset[str]:
    """The targets that nvcc builds for, `sm_90` and the like."""
    listed = run_tool([compiler()[0], "--list-gpu-code"], "list its targets")
    return frozenset(listed.split())


def _tool(name: str) -> str | None:
    """A program of the CUDA toolkit: on PATH, under CUDA_HOME, or in NVIDIA's wheels."""
    found = shutil.which(name)
    if found is not None:
        return found
    return next((str(path) for path in _candidates(name) if os.access(path, os.X_OK)), None)


def _candidates(name: str) -> Iterator[Path]:
    for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if root:
            yield Path(root) / "bin" / name
    site = Path(sysconfig.get_path("purelib")) / "nvidia"
    yield from sorted(site.glob(f"*/bin/{name}"))


def disassembler() -> str:
    """nvdisasm; DeviceError where there is none."""
    path = _tool("nvdisasm")
    if path is None:
        raise DeviceError(
            "expected the disassembler nvdisasm (python -m pip install nvidia-cuda-nvdisasm), but there is "
            "none, and without it nobody knows which instruction was built"
        )
    return path


def cubin(spec: UnitSpec) -> Cubin:
    """The kernel of a unit, built and seen to hold its machine instruction.

    Errors: DeviceError where the unit has no kernel, the compiler does not know the target, or the compiler
    built the instruction from others.
    """
    made = kernel(spec)
    nvcc, version = compiler()
    if made.target.removesuffix("a") not in targets():
        raise DeviceError(
            f"expected a CUDA toolkit that builds for {made.target}, but {version} does not; "
            f"{spec.name} needs {'CUDA 12' if made.target == 'sm_70' else 'a newer one'}"
        )
    folder = sources("cuda")
    files = [folder / made.source, *(folder / name for name in _CUDA_HEADERS)]
    options = ["-cubin", f"-arch={made.target}", "-std=c++17", "-O3"]

    def build(target: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "instruction.h").write_text(made.header)
            words = [nvcc, *options, "-I", scratch, "-I", str(folder), str(files[0]), "-o", str(target)]
            run_tool(words, f"build {made.ptx} for {made.target}")

    path = built(files, [version, *options, made.header], build)
    found = instructions(path)
    return Cubin(made, path, _expected(spec, made, found), version)


def instructions(path: Path) -> Counter[str]:
    """The mnemonics of a cubin, with how often each stands in it."""
    text = run_tool([disassembler(), "-c", str(path)], "disassemble a kernel")
    return Counter(match[1].rstrip(".") for match in _INSTRUCTION.finditer(text))


def _expected(spec: UnitSpec, made: Kernel, found: Counter[str]) -> str:
    """The one machine instruction that the unit stands for; DeviceError where others stand in its place."""
    matching = {name: n for name, n in found.items() if re.match(made.mnemonic, name)}
    arithmetic = ", ".join(f"{n} {name}" for name, n in sorted(found.items()) if _ARITHMETIC.search(name))
    if spec.emulation is not None:
        if matching and sum(matching.values()) == 1:
            raise DeviceError(
                f"expected the compiler to compose {made.ptx} for {made.target}, "
                f"but it is one instruction: {arithmetic}"
            )
        return arithmetic
    total = sum(matching.values())
    if total not in made.counts:
        raise DeviceError(
            f"expected one {made.mnemonic} for {made.ptx} on {made.target}, but the compiler makes "
            f"{arithmetic or 'no arithmetic'} of it: that is no matrix instruction of this name"
        )
    return ", ".join(matching)
