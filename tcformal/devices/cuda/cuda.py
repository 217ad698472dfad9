"""`cuda:N`: the matrix instructions of an NVIDIA GPU, each built, disassembled and launched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tcformal.design.catalog import catalogue
from tcformal.design.unit import UnitSpec, base_name
from tcformal.devices.cuda.cubin import Cubin, build, cubin, tiles
from tcformal.devices.device import Ability, gpu_number
from tcformal.devices.tiles import TURN, PlacedDevice
from tcformal.errors import DeviceError
from tcformal.simulation import card as cards
from tcformal.simulation.card import Card
from tcformal.simulation.compilers import first_line
from tcformal.simulation.operands.batch import Batch, Raw, rows_of

#: Architecture of the catalogue by compute capability.  Kernels for sm_80 run on 8.6 and 8.7 too; those of
#: architecture-specific targets on no other.
_ARCH = {
    (7, 0): "volta", (7, 5): "turing", (8, 0): "ampere", (8, 6): "ampere", (8, 7): "ampere", (8, 9): "ada",
    (9, 0): "hopper", (10, 0): "blackwell", (12, 0): "rtx-blackwell",
}  # fmt: skip
#: Dot products of one launch at most, and threads of a block that moves them.
_MOST, _THREADS = 1 << 17, 256
#: Blocks of a launch whose kernel goes on from tile to tile.
_MOST_BLOCKS = 1 << 16


@dataclass(frozen=True, slots=True)
class ListedGpu:
    """A GPU in the list of devices: it is named, but not opened."""

    name: str
    description: str
    arch: str | None

    def abilities(self) -> Sequence[Ability]:
        """The families of instructions of its architecture."""
        if self.arch is None:
            return [Ability("no unit of the catalogue", missing="no architecture of the catalogue")]
        families = dict.fromkeys(
            re.split(r"\.m\d", name.partition("/")[2])[0] for name in _units_of(self.arch)
        )
        return [Ability(f"{self.arch}/{family}.…", family) for family in families]


def _units_of(arch: str | None) -> list[str]:
    return [name for name in catalogue() if name.startswith(f"{arch}/")]


def gpus() -> Iterator[ListedGpu]:
    """The GPUs of this machine; DeviceError where there are none, or where packages for them are missing."""
    for index in range(cards.count()):
        gpu = cards.card(index)
        major, minor = gpu.capability
        yield ListedGpu(f"cuda:{index}", f"{gpu.name} (sm_{major}{minor})", _ARCH.get(gpu.capability))


class CudaDevice(PlacedDevice):
    """An NVIDIA GPU; `card` replaces the library in tests.

    Errors: InputError for a text that is no number; DeviceError for a GPU that does not exist.
    """

    def __init__(self, text: str, card: Card | None = None) -> None:
        index = gpu_number("cuda", text)
        self.name = f"cuda:{index}"
        self._card = cards.card(index) if card is None else card
        self._arch = _ARCH.get(self._card.capability)
        self._cubins: dict[str, Cubin] = {}
        #: The batch that is on the GPU, and where: units that share operands are run one after the other.
        self._held: tuple[Batch, list[Any]] | None = None

    def abilities(self) -> Sequence[Ability]:
        """The families of instructions of its architecture."""
        return ListedGpu(self.name, self._card.name, self._arch).abilities()

    def units(self) -> list[str]:
        """All units of its architecture."""
        return _units_of(self._arch)

    def builder(self) -> Callable[[str], str]:
        """The function that builds kernels, callable in any process."""
        return build

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of GPU, driver, compiler and machine instruction; builds the kernel."""
        wanted = base_name(spec).partition("/")[0]
        if wanted != self._arch:
            major, minor = self._card.capability
            raise DeviceError(
                f"expected a GPU of {wanted} for {spec.name}, but {self.name} is a {self._card.name} "
                f"(sm_{major}{minor}, {self._arch or 'which the catalogue does not know'})"
            )
        if k != spec.k:
            raise DeviceError(f"expected dot products of {spec.k} terms for {spec.name}, but got {k}")
        made = self._cubin(spec)
        return {
            "device": self._card.name,
            "driver": self._call("the driver's version", self._card.driver),
            "library": self._card.library,
            "compiler": made.compiler,
            "ptx": made.kernel.ptx,
            "instruction": made.instruction,
        }

    def _cubin(self, spec: UnitSpec) -> Cubin:
        name = base_name(spec)
        if name not in self._cubins:
            self._cubins[name] = cubin(spec)
        return self._cubins[name]

    def twice(self, spec: UnitSpec, batch: Batch) -> tuple[Raw, Raw]:
        """The results of each dot product at two positions in a tile."""
        results = []
        for start in range(0, len(batch.c), _MOST):
            part = batch if len(batch.c) <= _MOST else rows_of(batch, slice(start, start + _MOST))
            results.append(self._call("to run a kernel", partial(self._launched, spec, part)))
        first, second = (np.concatenate(turn) for turn in zip(*results, strict=True))
        return first, second

    def _call(self, what: str, call: Callable[[], Any]) -> Any:
        """Call the library, and turn its errors into a DeviceError of one sentence."""
        try:
            return call()
        except DeviceError:
            raise
        except Exception as error:  # each library has errors of its own
            self._held = None
            text = f"expected {self._card.name} {what}, but {self._card.library} says: {first_line(error)}"
            raise DeviceError(text) from error

    def _launched(self, spec: UnitSpec, batch: Batch) -> tuple[Raw, Raw]:
        """Run a batch: place operands on tiles, execute the instruction, collect results at both
        positions."""
        made, n = self._cubin(spec), len(batch.c)
        move = tiles(made.kernel.target)
        count = -(-n // min(spec.m, spec.n))
        held = self._uploaded(spec, batch)
        sizes = [0 if array is None else array.nbytes // n for array in _words(spec, batch)]
        tile_bytes = [spec.m * sizes[0], spec.n * sizes[1], spec.m * spec.n * sizes[2],
                      spec.m * sizes[3], spec.n * sizes[4]]  # fmt: skip
        spread = [self._card.empty(max(1, count * size)) for size in tile_bytes]
        width = spec.operands.d.storage_bits // 8
        d, out = self._card.empty(count * spec.m * spec.n * width), self._card.empty(n * width)
        m, wide = np.int32(spec.m), np.int32(spec.n)
        found: list[Raw] = []
        for turn in (0, TURN):
            common = (np.uint64(count), np.uint64(n), np.uint64(turn), m, wide)

            def moved(name: str, rows: int, source: Any, to: Any, *rest: int, common: Any = common) -> None:
                blocks = -(-count * rows // _THREADS)
                words = (source, to, *common, *map(np.int32, rest))
                self._card.launch(move, name, blocks, _THREADS, words)

            for i, (side, rows) in enumerate(((0, spec.m), (1, spec.n), (0, 0), (0, spec.m), (1, spec.n))):
                if i == 2:
                    moved("spread_c", spec.m * spec.n, held[2], spread[2], sizes[2])
                elif sizes[i]:
                    moved("spread_rows", rows, held[i], spread[i], side, sizes[i])
            arguments = (*spread[:3], d, *spread[3:], np.uint64(count))
            self._card.launch(made.path, "probe", grid_of(made, count), made.kernel.threads, arguments)
            moved("gather_d", spec.m * spec.n, d, out, width)
            found.append(self._card.get(out, n * width).view(f"u{width}").astype(np.uint64))
        for memory in (*spread, d, out):
            self._card.free(memory)
        return found[0], found[1]

    def _uploaded(self, spec: UnitSpec, batch: Batch) -> list[Any]:
        """Copy a batch's operands to the GPU; those of the last batch are cached for the next unit."""
        if self._held is None or self._held[0] is not batch:
            if self._held is not None:
                for memory in self._held[1]:
                    self._card.free(memory)
            none = np.zeros(1, np.uint8)
            there = [self._card.put(none if x is None else x) for x in _words(spec, batch)]
            self._held = (batch, there)
        return self._held[1]


def _words(spec: UnitSpec, batch: Batch) -> list[Raw | None]:
    """The operands of a batch, packed into the words that a kernel reads."""
    o, scale = spec.operands, spec.scale_format
    formats = (o.a, o.b, o.c, scale, scale)
    arrays = (batch.a, batch.b, batch.c, batch.scale_a, batch.scale_b)
    return [
        None if array is None or fmt is None else array.astype(f"u{fmt.storage_bits // 8}", copy=False)
        for array, fmt in zip(arrays, formats, strict=True)
    ]


def grid_of(made: Cubin, count: int) -> int:
    """The number of blocks in a launch on `count` tiles."""
    blocks = -(-count // made.kernel.tiles_per_block)
    # Kernels of one tile to a block go on by the size of the grid; the others do one round.
    return min(blocks, _MOST_BLOCKS) if made.kernel.tiles_per_block == 1 else blocks
