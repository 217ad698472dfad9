"""Placement of independent dot products on matrix tiles, at varying positions.

A unit computes D[m, n] = A[m, k] · B[k, n] + C[m, n].  Dot products that share no operand are placed on
different rows and different columns, min(m, n) to a tile.  The pairing of rows and columns changes from
tile to tile.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.other_names import sparse_names
from tcformal.design.unit import UnitSpec, base_instruction
from tcformal.devices.device import Device
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import DeviceError, TcformalError
from tcformal.simulation.operands.batch import Batch, Raw, rows_of

#: Rotation of the batch for the second run, in rows: no divisor of a tile's size.
TURN = 5


@dataclass(frozen=True, slots=True)
class Tiles:
    """The matrices of t tiles as raw encodings in the smallest unsigned integer types.

    Shapes: a [t, m, k]; b [t, n, k], each column of B in order of k; c [t, m, n]; scale_a [t, m, s] and
    scale_b [t, n, s], or None.
    """

    a: Raw
    b: Raw
    c: Raw
    scale_a: Raw | None
    scale_b: Raw | None


@dataclass(frozen=True, slots=True)
class Places:
    """The tile, row and column of each dot product of a batch."""

    tile: NDArray[np.intp]
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    count: int

    @staticmethod
    def of(n_dots: int, m: int, n: int) -> Places:
        """Positions on tiles of m × n; m · n dot products use every position once.

        Along the longer side the positions advance by one from tile to tile (`place_of` in
        hw_probes/cuda/places.h).
        """
        per_tile = min(m, n)
        tile, i = np.divmod(np.arange(n_dots), per_tile)
        count = -(-n_dots // per_tile)
        if m > n:
            return Places(tile, (i + tile) % m, i, count)
        return Places(tile, i, (i + tile) % n, count)


def placed(spec: UnitSpec, batch: Batch, at: Places) -> Tiles:
    """The tiles of a batch; operands outside every dot product are zero."""
    o, scale = spec.operands, spec.scale_format

    def rows(words: Raw, fmt: Format, height: int, place: NDArray[np.intp]) -> Raw:
        tiles = np.zeros((at.count, height, words.shape[1]), f"u{fmt.storage_bits // 8}")
        tiles[at.tile, place] = words
        return tiles

    a, b = rows(batch.a, o.a, spec.m, at.row), rows(batch.b, o.b, spec.n, at.column)
    c = np.zeros((at.count, spec.m, spec.n), f"u{o.c.storage_bits // 8}")
    c[at.tile, at.row, at.column] = batch.c
    if scale is None or batch.scale_a is None or batch.scale_b is None:
        return Tiles(a, b, c, None, None)
    scale_a = rows(batch.scale_a, scale, spec.m, at.row)
    return Tiles(a, b, c, scale_a, rows(batch.scale_b, scale, spec.n, at.column))


class PlacedDevice(Device):
    """A device that computes tiles: each dot product runs at two positions, which must agree."""

    @abstractmethod
    def twice(self, spec: UnitSpec, batch: Batch) -> tuple[Raw, Raw]:
        """The results of each dot product at two positions.

        Errors: DeviceError where the device fails.
        """

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The results of a batch; DeviceError where a result depends on the position."""
        first, second = self.twice(spec, batch)
        moved = np.flatnonzero(first != second)
        if moved.size:
            row = int(moved[0])
            raise DeviceError(
                f"expected {self.name} to give one result for one dot product wherever it stands, but "
                f"dot product {row} gives {int(first[row]):#x} and, at another place, {int(second[row]):#x}",
                first[:row].tolist(),
            )
        return first


class GpuDevice(PlacedDevice):
    """A GPU whose kernels are built for one unit each, and disassembled before they are run."""

    #: The architecture of the catalogue; None for one that it does not know.
    _arch: str | None
    #: What the GPU is called, and details of it.
    _what: tuple[str, ...]

    def units(self) -> list[str]:
        return units_of(self._arch)

    def check(self, spec: UnitSpec, k: int) -> None:
        """Raise DeviceError for a unit of another architecture, or another number of products than its k."""
        wanted = base_instruction(spec).partition("/")[0]
        if wanted != self._arch:
            what, *details = self._what
            details.append(self._arch or "which the catalogue does not know")
            found = f"{self.name} is a {what} ({', '.join(details)})"
            raise DeviceError(f"expected a GPU of {wanted} for {spec.shown}, but {found}")
        if k != spec.k:
            raise DeviceError(f"expected dot products of {spec.k} terms for {spec.shown}, but got {k}")


def units_of(arch: str | None) -> list[str]:
    """The units of an architecture, and its sparse instructions."""
    units = catalogue()
    return [name for name in (*units, *sparse_names(units)) if name.startswith(f"{arch}/")]


def words_between(b: Format) -> list[int]:
    """The words that stand in turn where a sparse instruction selects none of B; no result depends on them.

    They are 0, all ones (NaN, or a number), the largest number, and Inf where there is one.
    """
    return [0, (1 << b.width) - 1, b.largest, *([b.infinity] if b.specials is Specials.IEEE else [])]


def build_failure(build: Callable[[UnitSpec], object], name: str) -> str:
    """Build the kernel of a unit ahead of its use; the reason of a failed build, or an empty text."""
    try:
        build(resolve(name))
    except TcformalError as error:
        return str(error)
    return ""


class TiledDevice(PlacedDevice):
    """A device whose `launch` computes whole tiles."""

    @abstractmethod
    def launch(self, spec: UnitSpec, tiles: Tiles) -> Raw:
        """Compute D [t, m, n] of t tiles; DeviceError where the device fails."""

    def twice(self, spec: UnitSpec, batch: Batch) -> tuple[Raw, Raw]:
        """The results of each dot product at two positions: the batch is run again in rotated order."""
        first = self._once(spec, batch)
        order = np.roll(np.arange(len(batch.c)), TURN)
        second = np.empty_like(first)
        second[order] = self._once(spec, rows_of(batch, order))
        return first, second

    def _once(self, spec: UnitSpec, batch: Batch) -> Raw:
        at = Places.of(len(batch.c), spec.m, spec.n)
        d = self.launch(spec, placed(spec, batch, at))
        return d[at.tile, at.row, at.column].astype(np.uint64)
