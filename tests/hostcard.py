"""A GPU made of this machine: the probes' own code fills and empties tiles, and a model multiplies."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

from tcformal.devices.device import sources
from tcformal.simulation.card import Card
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import Batch, Raw

HERE = Path(__file__).parent / "devices"
KERNELS = ("spread_rows", "spread_c", "gather_d")


@cache
def movers() -> Any:
    """tiles.cu as a library; skips where there is no C++ compiler."""
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler (g++) builds the simulation here")
    made = Path(mkdtemp()) / "movers.so"
    subprocess.run(
        ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-w", "-DSIMULATED", '-DSOURCE="tiles.cu"',
         "-I", str(HERE), "-I", str(sources("cuda")), str(HERE / "movers.cc"), "-o", str(made)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return ctypes.CDLL(str(made))


class HostCard(Card):
    """See the module; `broken` is what the driver says of every launch."""

    def __init__(self, model: str, capability: tuple[int, int] = (8, 0), *, broken: str = "") -> None:
        self.name, self.capability, self.library = "Simulated A100", capability, "a simulation"
        self.broken = broken
        self.uploads = 0
        self._spec = unit(model).spec
        self._held: set[int] = set()

    def driver(self) -> str:
        return "580.1"

    def empty(self, size: int) -> Any:
        made = np.full(size, 0xA5, np.uint8)  # memory holds whatever was there
        self._held.add(id(made))
        return made

    def put(self, array: Raw) -> Any:
        self.uploads += 1
        made = self.empty(array.nbytes)
        made[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return made

    def get(self, memory: Any, size: int) -> Raw:
        made: Raw = memory[:size].copy()
        return made

    def free(self, memory: Any) -> None:
        self._held.remove(id(memory))

    @property
    def held(self) -> int:
        """Pieces of memory that were not given back."""
        return len(self._held)

    def launch(self, path: Path, name: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        assert path.exists()
        if self.broken:
            raise RuntimeError(self.broken)
        if name != "probe":
            source, to, tiles, count, turn, m, n, *rest = arguments
            x, y = (*rest, 0)[:2]
            movers().launch(
                KERNELS.index(name), blocks, threads, ctypes.c_void_p(source.ctypes.data),
                ctypes.c_void_p(to.ctypes.data), *(ctypes.c_ulonglong(int(v)) for v in (tiles, count, turn)),
                *map(int, (m, n, x, y)),
            )  # fmt: skip
            return
        self._multiply(*arguments)

    def _multiply(self, a: Any, b: Any, c: Any, d: Any, scale_a: Any, scale_b: Any, count: Any) -> None:
        s, o, t = self._spec, self._spec.operands, int(count)

        def seen(memory: Any, bits: int, *shape: int) -> Raw:
            size = t * int(np.prod(shape)) * bits // 8
            made: Raw = memory[:size].view(f"u{bits // 8}").reshape(t, *shape).astype(np.uint64)
            return made

        aa, bb = seen(a, o.a.storage_bits, s.m, s.k), seen(b, o.b.storage_bits, s.n, s.k)
        cc = seen(c, o.c.storage_bits, s.m, s.n)
        tile, i, j = (x.reshape(-1) for x in np.indices(cc.shape))
        scales: list[Raw | None] = [None, None]
        if s.scale_format is not None and s.scale_block is not None:
            blocks = s.k // s.scale_block
            scales = [seen(scale_a, 8, s.m, blocks)[tile, i], seen(scale_b, 8, s.n, blocks)[tile, j]]
        made = replay(s, Batch(aa[tile, i], bb[tile, j], cc[tile, i, j], *scales))
        width = o.d.storage_bits // 8
        d[: t * s.m * s.n * width] = made.astype(f"u{width}").view(np.uint8)
