"""The columns of B decoded once for many products: records in blocks of steps that a core's cache holds."""

from __future__ import annotations

from tcformal.simulation.kernels.block import DecodedBlock, Words
from tcformal.simulation.kernels.gemm import Gemm
from tcformal.simulation.kernels.work import Work


class Prepared:
    """B, decoded for the kernels of a unit whose lanes are B's columns.

    Shapes: b [K, N], scale_b [scales, N] or None; `blocks`: by their first tile and step.
    Errors: none for encodings that fit their formats; they are read again where a NaN or Inf is met, so that
    nobody may write to them.
    """

    def __init__(self, gemm: Gemm, b: Words, scale_b: Words | None, work: Work) -> None:
        shape = gemm.shape
        tiles, steps = -(-b.shape[1] // shape.lanes), -(-b.shape[0] // shape.k)
        self.at_once = gemm.tile_steps
        self.blocks: dict[tuple[int, int], DecodedBlock] = {}
        for tile in range(0, tiles, gemm.panel_tiles):
            some = slice(tile, min(tile + gemm.panel_tiles, tiles))
            for step in range(0, steps, self.at_once):
                which = slice(step, min(step + self.at_once, steps))
                self.blocks[tile, step] = DecodedBlock(gemm, "b", b, scale_b, some, which, work, {})

    @property
    def finite(self) -> bool:
        """Whether no encoding is NaN or Inf."""
        return not any(block.flags.any() for block in self.blocks.values())

    @property
    def nbytes(self) -> int:
        """Bytes of all records."""
        return sum(block.nbytes for block in self.blocks.values())
