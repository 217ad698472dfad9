"""`hip:N`: the MFMA instructions of an AMD GPU, each built, disassembled and launched.

One process launches all kernels, from the disassembled code objects.  The probes of all units were built and
disassembled, and their layouts simulated; none has run on a GPU yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tcformal.design.catalog import catalogue
from tcformal.design.unit import UnitSpec, base_name
from tcformal.devices.device import Ability, gpu_number
from tcformal.devices.hip.hipruntime import HipRuntime
from tcformal.devices.hip.mfma import TARGETS
from tcformal.devices.hip.rocm import CodeObject, build, code_object
from tcformal.devices.tiles import TiledDevice, Tiles
from tcformal.errors import DeviceError
from tcformal.simulation.operands.batch import Raw

#: Threads of a wavefront: one block.
_LANES = 64


def abilities_of(target: str) -> Sequence[Ability]:
    """The abilities of a GPU with a compiler target such as `gfx90a`."""
    arch = arch_of(target)
    if arch is None:
        return [Ability("no unit of the catalogue", missing=f"{target} is not in the catalogue")]
    return [Ability(f"{arch}/v_mfma_…", "v_mfma")]


def arch_of(target: str) -> str | None:
    """The catalogue's architecture of a compiler target; None for an unknown target."""
    return next((arch for arch, name in TARGETS.items() if name == target), None)


class HipDevice(TiledDevice):
    """An AMD GPU; `runtime` defaults to this machine's HIP library.

    Errors: InputError for a text that is no number; DeviceError without a library or such a GPU.
    """

    def __init__(self, text: str, runtime: HipRuntime | None = None) -> None:
        index = gpu_number("hip", text)
        self.name = f"hip:{index}"
        self._runtime = runtime or HipRuntime()
        count = self._runtime.count()
        if index >= count:
            raise DeviceError(f"expected an AMD GPU as {self.name}, but HIP lists {count or 'none'}")
        self._runtime.select(index)
        self._target = self._runtime.target(index)
        self._product = self._runtime.name(index) or self._target
        self._arch = arch_of(self._target)
        self._kernels: dict[str, CodeObject] = {}

    def abilities(self) -> Sequence[Ability]:
        """The instructions of its architecture."""
        return abilities_of(self._target)

    def units(self) -> list[str]:
        """All units of its architecture."""
        return [name for name in catalogue() if name.startswith(f"{self._arch}/")]

    def builder(self) -> Callable[[str], str]:
        """The function that builds kernels, callable in any process."""
        return build

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of GPU, driver, library, compiler and machine instruction; builds the kernel."""
        wanted = base_name(spec).partition("/")[0]
        if wanted != self._arch:
            raise DeviceError(
                f"expected a GPU of {wanted} for {spec.name}, but {self.name} is a {self._target} "
                f"({self._arch or 'which the catalogue does not know'})"
            )
        if k != spec.k:
            raise DeviceError(f"expected dot products of {spec.k} terms for {spec.name}, but got {k}")
        kernel = self._kernel(spec)
        return {
            "device": self._product, "driver": self._runtime.driver(), "target": self._target,
            "library": self._runtime.version(), "compiler": kernel.compiler,
            "intrinsic": kernel.made.intrinsic, "instruction": kernel.made.mnemonic,
        }  # fmt: skip

    def launch(self, spec: UnitSpec, tiles: Tiles) -> Raw:
        """Run all tiles in one launch."""
        kernel = self._kernel(spec)
        d, count = np.empty_like(tiles.c), len(tiles.c)
        blocks = -(-count // kernel.made.blocks)
        self._runtime.run(kernel.path, blocks, _LANES, (tiles.a, tiles.b, tiles.c), d, count)
        return d

    def _kernel(self, spec: UnitSpec) -> CodeObject:
        name = base_name(spec)
        if name not in self._kernels:
            self._kernels[name] = code_object(spec)
        return self._kernels[name]
