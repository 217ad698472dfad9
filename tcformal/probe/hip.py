"""`hip:N`: the MFMA instructions of an AMD GPU, each built, seen in the disassembly, and launched.

The probes were built and disassembled for every unit, and their layouts simulated; none has run on a GPU yet.
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

from tcformal.design.catalog import catalogue
from tcformal.design.unit import UnitSpec
from tcformal.errors import DeviceError, InputError
from tcformal.probe.device import Ability, base_name
from tcformal.probe.mfma import TARGETS, Mfma, mfma
from tcformal.probe.pipes import through
from tcformal.probe.sources import built, run_tool, sources
from tcformal.probe.tiles import TiledDevice, Tiles
from tcformal.query.families import Raw

#: Where the system describes the GPUs that compute.
_TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")
_ROCM = Path(os.environ.get("ROCM_PATH") or "/opt/rocm")
#: Releases of clang that know gfx942, newest first.
_CLANGS = ("amdclang++", *(f"clang++-{n}" for n in range(22, 16, -1)), "clang++")
_DEVICE_ONLY = ("--offload-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-DDEVICE_ONLY")
_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Amd:
    """A GPU as the system describes it."""

    index: int
    target: str

    @property
    def arch(self) -> str | None:
        """The architecture of the catalogue; None for one that it does not have."""
        return next((arch for arch, target in TARGETS.items() if target == self.target), None)


def gpus(topology: Path = _TOPOLOGY) -> list[Amd]:
    """The AMD GPUs of this machine, in the order of the system; none where there is no driver."""
    found: list[Amd] = []
    for folder in sorted(topology.glob("*"), key=lambda p: (len(p.name), p.name)):
        path = folder / "properties"
        facts = dict(line.split() for line in path.read_text().splitlines()) if path.exists() else {}
        version = int(facts.get("gfx_target_version", "0"))
        if version:
            major, rest = divmod(version, 10_000)
            minor, step = divmod(rest, 100)
            found.append(Amd(len(found), f"gfx{major}{minor:x}{step:x}"))
    return found


@dataclass(frozen=True, slots=True)
class Built:
    """A unit's kernel as it was seen in the disassembly."""

    made: Mfma
    compiler: str


def seen(spec: UnitSpec) -> Built:
    """The kernel of a unit, built and seen to hold its machine instruction, once.

    Errors: DeviceError where there is no compiler or disassembler, or the instruction is not there.
    """
    made = mfma(spec)
    clang, version = compiler()
    folder = sources("hip")

    def make(path: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            words = [clang, "-x", "hip", f"--offload-arch={made.target}", *_DEVICE_ONLY, "-O3"]
            words += [*_include(made, Path(scratch)), "-c", str(folder / "mfma.hip"), "-o", str(path)]
            run_tool(words, f"build {made.mnemonic} for {made.target}")

    path = built(_files(folder), [version, made.target, made.header, *_DEVICE_ONLY], make)
    text = run_tool([disassembler(), "-d", str(path)], "disassemble a kernel")
    found = re.findall(r"\bv_mfma\w+", text)
    if found != [made.mnemonic]:
        raise DeviceError(
            f"expected one {made.mnemonic} for {spec.name} on {made.target}, but the compiler makes "
            f"{', '.join(found) or 'no matrix instruction'} of {made.intrinsic}"
        )
    return Built(made, version)


def _include(made: Mfma, scratch: Path) -> list[str]:
    (scratch / "instruction.h").write_text(made.header)
    return ["-I", str(scratch), "-I", str(sources("hip"))]


def _files(folder: Path) -> list[Path]:
    return [folder / "mfma.hip", folder / "layout.h"]


def program(made: Mfma) -> Path:
    """The program that runs a kernel; DeviceError where there is no hipcc, or it fails."""
    hipcc = _tool("hipcc", ("hipcc",))
    version = run_tool([hipcc, "--version"], "say its version").splitlines()[0]

    def make(path: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            words = [hipcc, f"--offload-arch={made.target}", "-O3", *_include(made, Path(scratch))]
            run_tool([*words, str(sources("hip") / "mfma.hip"), "-o", str(path)], f"build {made.mnemonic}")

    return built(_files(sources("hip")), [version, made.target, made.header, "program"], make)


@cache
def compiler() -> tuple[str, str]:
    """A clang that builds for AMD's GPUs, and its version; DeviceError where there is none."""
    path = _tool("clang", _CLANGS)
    return path, run_tool([path, "--version"], "say its version").splitlines()[0]


def disassembler() -> str:
    """The llvm-objdump of the compiler's own release; DeviceError where there is none."""
    return _tool("llvm-objdump", (str(Path(compiler()[0]).resolve().with_name("llvm-objdump")),))


def _tool(what: str, names: Sequence[str]) -> str:
    for name in names:
        for found in (shutil.which(name), *map(str, (_ROCM / "bin" / name, _ROCM / "llvm" / "bin" / name))):
            if found is not None and os.access(found, os.X_OK):
                return found
    raise DeviceError(
        f"expected {what} of ROCm, or of LLVM 17 or newer where it will do, but there is none: install ROCm, "
        "or set ROCM_PATH"
    )


class HipDevice(TiledDevice):
    """One AMD GPU; `found` are the GPUs of this machine unless given.

    Errors: InputError for what is no number; DeviceError where there is no such GPU.
    """

    def __init__(self, text: str, found: Sequence[Amd] | None = None) -> None:
        if not text.isdecimal():
            raise InputError(f"expected the number of a GPU after hip:, but got {text!r}")
        self.name = f"hip:{text}"
        here = gpus() if found is None else found
        if int(text) >= len(here):
            raise DeviceError(
                f"expected an AMD GPU as {self.name}, but the system lists {len(here) or 'none'}"
            )
        self._gpu = here[int(text)]
        self._programs: dict[str, Path] = {}

    def abilities(self) -> Sequence[Ability]:
        """The instructions of its architecture."""
        if self._gpu.arch is None:
            return [
                Ability("no unit of the catalogue", missing=f"{self._gpu.target} is not in the catalogue")
            ]
        return [Ability(f"{self._gpu.arch}/v_mfma_…", "v_mfma")]

    def units(self) -> list[str]:
        """All units of its architecture."""
        return [name for name in catalogue() if name.startswith(f"{self._gpu.arch}/")]

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """GPU, driver, compiler and machine instruction, which is built to see it."""
        wanted = base_name(spec).partition("/")[0]
        if wanted != self._gpu.arch:
            raise DeviceError(
                f"expected a GPU of {wanted} for {spec.name}, but {self.name} is a {self._gpu.target} "
                f"({self._gpu.arch or 'which the catalogue does not know'})"
            )
        if k != spec.k:
            raise DeviceError(f"expected dot products of {spec.k} terms for {spec.name}, but got {k}")
        kernel = seen(spec)
        path = self._programs[base_name(spec)] = program(kernel.made)
        lines = run_tool([str(path), "devices"], "list the GPUs").splitlines()
        facts = lines[self._gpu.index].split("\t") if self._gpu.index < len(lines) else []
        target, name, driver = (*facts, "", "", "")[:3]
        if target.partition(":")[0] != kernel.made.target:
            raise DeviceError(
                f"expected {self.name} to be a {kernel.made.target}, but HIP lists {target or 'no such GPU'}"
            )
        return {
            "device": name or target, "driver": driver, "target": target, "compiler": kernel.compiler,
            "intrinsic": kernel.made.intrinsic, "instruction": kernel.made.mnemonic,
        }  # fmt: skip

    def launch(self, spec: UnitSpec, tiles: Tiles) -> Raw:
        """D of all tiles: one process."""
        name = base_name(spec)
        if name not in self._programs:
            self._programs[name] = program(seen(spec).made)
        words = [str(self._programs[name]), str(self._gpu.index)]
        return through(words, tiles, mfma(spec).mnemonic, _SECONDS)


def listed() -> Iterator[tuple[str, str, Sequence[Ability]]]:
    """The AMD GPUs of this machine as `probe devices` lists them."""
    for gpu in gpus():
        device = HipDevice(str(gpu.index), gpus())
        yield device.name, gpu.target, device.abilities()
