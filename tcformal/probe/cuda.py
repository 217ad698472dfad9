"""`cuda:N`: the matrix instructions of an NVIDIA GPU, each built, seen in the disassembly, and launched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tcformal.design.catalog import catalogue
from tcformal.design.unit import UnitSpec
from tcformal.errors import DeviceError, InputError
from tcformal.probe.cubin import Cubin, cubin
from tcformal.probe.device import Ability, base_name
from tcformal.probe.gpu import Gpu, gpu_count
from tcformal.probe.tiles import TiledDevice, Tiles
from tcformal.query.families import Raw

#: Architecture of the catalogue by compute capability.  Kernels for sm_80 run on 8.6 and 8.7 too; those of
#: architecture-specific targets on no other.
_ARCH = {
    (7, 0): "volta", (7, 5): "turing", (8, 0): "ampere", (8, 6): "ampere", (8, 7): "ampere", (8, 9): "ada",
    (9, 0): "hopper", (10, 0): "blackwell", (12, 0): "rtx-blackwell",
}  # fmt: skip


class Launcher(Protocol):
    """What is needed of a GPU; `gpu.Gpu` is one."""

    @property
    def name(self) -> str:
        """The product's name."""

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability."""

    def driver(self) -> str:
        """The driver's version."""

    def launch(self, made: Cubin, inputs: Sequence[Raw], output: Raw, count: int) -> Raw:
        """The output of a kernel on `count` tiles; DeviceError where it fails."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A GPU as `devices` lists it."""

    name: str
    description: str
    arch: str | None

    def abilities(self) -> Sequence[Ability]:
        """The families of instructions of its architecture."""
        if self.arch is None:
            return [Ability("no unit of the catalogue", missing="no architecture of the catalogue")]
        names = [name for name in catalogue() if name.startswith(f"{self.arch}/")]
        families = dict.fromkeys(re.split(r"\.m\d", name.partition("/")[2])[0] for name in names)
        return [Ability(f"{self.arch}/{family}.…", family) for family in families]


def gpus() -> Iterator[Listed]:
    """The GPUs of this machine; DeviceError where there are none, or what it takes to use them is missing."""
    for index in range(gpu_count()):
        gpu = Gpu(index)
        major, minor = gpu.capability
        yield Listed(f"cuda:{index}", f"{gpu.name} (sm_{major}{minor})", _ARCH.get(gpu.capability))


class CudaDevice(TiledDevice):
    """One GPU; `launcher` stands for it in tests.

    Errors: InputError for what is no number; DeviceError where there is no such GPU.
    """

    def __init__(self, text: str, launcher: Launcher | None = None) -> None:
        if not text.isdecimal():
            raise InputError(f"expected the number of a GPU after cuda:, but got {text!r}")
        self.name = f"cuda:{text}"
        self._gpu: Launcher = Gpu(int(text)) if launcher is None else launcher

    def abilities(self) -> Sequence[Ability]:
        """The families of instructions of its architecture."""
        return Listed(self.name, self._gpu.name, _ARCH.get(self._gpu.capability)).abilities()

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """GPU, driver, compiler and machine instruction, which is built to see it."""
        arch = _ARCH.get(self._gpu.capability)
        wanted = base_name(spec).partition("/")[0]
        if wanted != arch:
            major, minor = self._gpu.capability
            raise DeviceError(
                f"expected a GPU of {wanted} for {spec.name}, but {self.name} is a {self._gpu.name} "
                f"(sm_{major}{minor}, {arch or 'which the catalogue does not know'})"
            )
        if k != spec.k:
            raise DeviceError(f"expected dot products of {spec.k} terms for {spec.name}, but got {k}")
        made = cubin(spec)
        return {
            "device": self._gpu.name,
            "driver": self._gpu.driver(),
            "compiler": made.compiler,
            "ptx": made.kernel.ptx,
            "instruction": made.instruction,
        }

    def launch(self, spec: UnitSpec, tiles: Tiles) -> Raw:
        """D of all tiles: one launch."""
        none = np.zeros(1, np.uint8)
        scales = [none if s is None else s for s in (tiles.scale_a, tiles.scale_b)]
        inputs = [tiles.a, tiles.b, tiles.c, *scales]
        return self._gpu.launch(cubin(spec), inputs, np.empty_like(tiles.c), len(tiles.a))
