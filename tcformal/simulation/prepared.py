"""Prepared weights: B decoded once for many products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcformal.backends import machine
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.simulation import arrays
from tcformal.simulation.compiled import gemm

if TYPE_CHECKING:  # imported where they are used, as in tcformal.simulation.compiled
    from tcformal.simulation.kernels.gemm import Gemm, Prepared


class PreparedOperand:
    """A decoded B with its scales, as `Unit.prepare` returns it.

    Shapes: `values` [K, N] and `scales` [⌈K / scale_block⌉, N] or None: copies, read-only.
    Ranges and units: memory: about six times the encodings'.
    """

    def __init__(
        self, spec: UnitSpec, values: Any, scales: Any = None, *, threads: int | None = None
    ) -> None:
        self.spec, self._threads = spec, threads
        self.values, self.scales = _kept(values), None if scales is None else _kept(scales)
        shape = self.values.shape
        if len(shape) != 2 or 0 in shape:
            raise InputError(f"expected B of shape [K, N] with K, N >= 1 to prepare, but got {list(shape)}")
        # What does not fit is refused now, as a product would refuse it.
        one = np.zeros((1, shape[0]), arrays.dtype_of(spec.a_format))
        ones = None
        if self.scales is not None and spec.scale_format is not None:
            ones = np.zeros((1, self.scales_count), arrays.dtype_of(spec.scale_format))
        self._words = arrays.product(spec, one, self.values, None, ones, self.scales)
        self._parts: dict[tuple[int, int, int], Prepared] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """The sizes K, N."""
        k, n = self.values.shape
        return k, n

    @property
    def nbytes(self) -> int:
        """The size of the decoded records so far, in bytes."""
        return sum(x.nbytes for x in self._parts.values())

    def part(self, start: int, stop: int, kernels: Gemm | None = None) -> Prepared | None:
        """The decoded rows of B from `start` to `stop`, cached; None without LLVM.

        Ranges and units: `kernels`: those that take it, None for the unit's own.
        Errors: InputError for a part of a B with scales.
        """
        from tcformal.simulation.kernels.gemm import Prepared
        from tcformal.simulation.kernels.work import Work

        if not machine.available():
            return None
        if self.scales is not None and (start, stop) != (0, self.shape[0]):
            raise InputError(f"expected all rows of a B with scales, but got {start} to {stop}")
        kernels = gemm(self.spec, "a") if kernels is None else kernels
        key = start, stop, kernels.tile_steps
        if key not in self._parts:
            with Work(self._threads, progress=False) as work:
                b, scales = self._words.b[start:stop], self._words.scale_b
                self._parts[key] = Prepared(kernels, b, scales, work)
        return self._parts[key]

    def check(self, spec: UnitSpec) -> None:
        """Raise InputError unless B was prepared for this unit."""
        if spec != self.spec:
            raise InputError(f"expected B prepared for {spec.name}, but got one for {self.spec.name}")

    @property
    def scales_count(self) -> int:
        """The number of block scales per column of B."""
        return -(-self.shape[0] // (self.spec.scale_block or 1))


def _kept(x: Any) -> NDArray[Any]:
    """A read-only copy of an array in the same memory order."""
    copy = np.array(x, order="K", copy=True)
    copy.flags.writeable = False
    return copy
