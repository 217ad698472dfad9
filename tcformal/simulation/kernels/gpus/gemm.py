"""Matrix products of raw encodings on a GPU: operands brought there and decoded, one launch for the product.

As on a processor, one kernel is compiled for finite operands and another for any.  A GPU runs the second one
on the whole product if an operand is NaN or Inf.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.errors import DeviceError
from tcformal.simulation.gpu.card import Card
from tcformal.simulation.gpu.compilers import first_line
from tcformal.simulation.kernels.cut import DotCall, cuts
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.kernels.gpus.text import THREADS, GpuText, gpu_text
from tcformal.simulation.kernels.multiply import Shape
from tcformal.simulation.kernels.work import Words

#: Rows of a thread: B's values are read once for all of them.  On an H100 4 were faster than 8 and 16.
ROWS = 4


@dataclass(frozen=True, slots=True)
class Placed:
    """The operands of one product in GPU memory, decoded for one kernel.

    Shapes: D [m, n], in `steps` steps.
    """

    which: str
    m: int
    n: int
    steps: int
    memory: tuple[Any, ...]
    d: Any
    has_c: bool


class GpuGemm:
    """The matrix-product kernels of one step on one GPU.

    Errors: DeviceError where the compiler refuses them; WidthError for a dot product that needs integers of
    more than 128 bits.
    """

    def __init__(self, step: DotCall, card: Card, rows: int = ROWS) -> None:
        self.step, self.card, self.rows = step, card, rows
        self._cuts, self._rare = cuts(step)
        self._programs: dict[str, tuple[GpuText, Path]] = {}

    def text(self, which: str) -> GpuText:
        """The C text of the kernels for `finite` or for `any` operands."""
        step = self.step
        shape = Shape(
            k=step.k,
            scales=step.scales,
            storage=step.storage,
            broadcast_side="a",
            lanes=1,
            chained=step.chained,
        )
        return gpu_text(self._cuts[which], shape, self._rare, self.rows)

    def program(self, which: str) -> tuple[GpuText, Path]:
        """The C text of the kernels, and the file built from it."""
        if which not in self._programs:
            text = self.text(which)
            self._programs[which] = text, self.card.program(text.text, "build the kernels of a unit")
        return self._programs[which]

    def multiply(self, x: MatrixWords) -> Words:
        """The matrix product D = A·B + C, [M, N] raw encodings; K is padded with zeros to whole steps.

        Errors: DeviceError where the GPU fails, with what its library says.
        """
        try:
            placed = self.place(x)
            self.launch(placed)
            d = self.result(placed)
            self.free(placed)
        except DeviceError:
            raise
        except Exception as error:  # each library has errors of its own
            text = f"expected {self.card.name} to multiply, but {self.card.library} says: {first_line(error)}"
            raise DeviceError(text) from error
        return d

    def place(self, x: MatrixWords) -> Placed:
        """Copy the operands to the GPU, and decode them there."""
        card, storage = self.card, self.step.storage
        m, k, n = x.shape
        steps = -(-k // self.step.k)
        none = np.zeros(1, np.uint64)
        c = card.put(none if x.c is None else _as(x.c, storage["c"]))
        d = card.empty(m * n * storage["d"] // 8)
        sides = (("a", x.a, x.scale_a, m), ("b", x.b, x.scale_b, n))
        raw = [card.put(_as(words, storage[side])) for side, words, _, _ in sides]
        scales = [card.put(none if s is None else _as(s, storage["scale"])) for _, _, s, _ in sides]
        lengths = [
            0 if scale is None else scale.shape[1 if side == "a" else 0] for side, _, scale, _ in sides
        ]
        records: list[Any] = []
        for which in ("finite", "any"):
            text, path = self.program(which)
            flag = card.put(np.zeros(1, np.uint32))
            records = [card.empty(4 * text.words[side] * count * steps) for side, _, _, count in sides]
            for i, (side, _, _, count) in enumerate(sides):
                sizes = (count, k, lengths[i], steps, self.step.scale_one)
                arguments = (raw[i], scales[i], records[i], flag, *map(np.uint32, sizes))
                card.launch(path, f"decode_{side}", -(-count * steps // THREADS), THREADS, arguments)
            rare = which == "finite" and card.get(flag, 4).any()
            for memory in (flag, *(records if rare else ())):
                card.free(memory)
            if not rare:
                break
        for memory in (*raw, *scales):
            card.free(memory)
        return Placed(which, m, n, steps, (*records, c), d, x.c is not None)

    def launch(self, placed: Placed) -> None:
        """Start the product of placed operands; repeated launches are allowed."""
        text, path = self.program(placed.which)
        sizes = (placed.m, placed.n, placed.steps, placed.has_c)
        blocks = -(-placed.n // THREADS) * -(-placed.m // text.rows)
        arguments = (*placed.memory, placed.d, *map(np.uint32, sizes))
        self.card.launch(path, "multiply", blocks, THREADS, arguments)

    def result(self, placed: Placed) -> Words:
        """Copy D back, once every launch has ended."""
        width = self.step.storage["d"] // 8
        words = self.card.get(placed.d, placed.m * placed.n * width)
        return words.view(f"u{width}").reshape(placed.m, placed.n)

    def free(self, placed: Placed) -> None:
        """Free the GPU memory of a product."""
        for memory in (*placed.memory, placed.d):
            self.card.free(memory)


def _as(words: Words, bits: int) -> Words:
    return np.ascontiguousarray(words.astype(f"u{bits // 8}", copy=False))
