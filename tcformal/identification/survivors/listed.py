"""A family of designs listed by name: what no tree of sums with parameters as inputs describes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.known import KnownBits
from tcformal.design.unit import UnitSpec
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, rows_of
from tcformal.simulation.structures import Axis, Designs


class ListedFamily:
    """Designs of equal formats, one after the other: a family with one axis."""

    def __init__(self, designs: Sequence[UnitSpec]) -> None:
        self._designs = list(designs)
        self.axes = (Axis("design", tuple(u.name for u in designs)),)
        self._replayed: dict[tuple[int, bytes], Raw] = {}

    @property
    def size(self) -> int:
        """The number of designs."""
        return len(self._designs)

    def name(self, design: Sequence[int]) -> str:
        """The name of one design."""
        return self._designs[design[0]].name

    def outputs(self, designs: Designs, batch: Batch) -> Raw:
        """As `Family.outputs`."""
        return np.stack([self._given(int(i), batch) for i in designs[:, 0]])

    def at(self, batch: Batch, row: int) -> ListedFamily:
        """As `Family.at`: these designs are evaluated once for each input anyway."""
        return self

    def known(
        self, designs: Designs, batch: Batch, row: int | NDArray[np.intp], unknown: NDArray[np.bool_]
    ) -> KnownBits:
        """As `Family.known`."""
        rows = np.broadcast_to(np.asarray(row, np.intp), len(designs))
        hidden = np.broadcast_to(unknown[:, 0], len(designs))
        value = np.zeros(len(designs), np.uint64)
        for i in np.unique(designs[:, 0]):
            at = np.flatnonzero((designs[:, 0] == i) & ~hidden)
            if at.size:
                value[at] = self._given(int(i), rows_of(batch, np.unique(rows[at])))[
                    np.unique(rows[at], return_inverse=True)[1]
                ]
        ones = np.uint64((1 << self._designs[0].d_format.width) - 1)
        return KnownBits(value, np.where(hidden, ones, np.uint64(0)))

    def _given(self, design: int, batch: Batch) -> Raw:
        """What one design gives, evaluated once."""
        key = design, b"".join(x.tobytes() for x in batch.named().values())
        if key not in self._replayed:
            self._replayed[key] = replay(self._designs[design], batch)
        return self._replayed[key]
