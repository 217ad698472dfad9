"""Dot products whose rows have operands of their own: rows are lanes, decoded where they are used."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcformal.backends.lanes import DOUBLE, WORD
from tcformal.backends.machine import Module, vector_bits
from tcformal.simulation.kernels.block import Words
from tcformal.simulation.kernels.cut import DotCall, cuts
from tcformal.simulation.kernels.thin.dot_text import dots, turned_pieces
from tcformal.simulation.kernels.thin.text import steps_at_once
from tcformal.simulation.kernels.work import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes of rows taken together that are fetched before the last ones are done, and how far ahead others are.
_LONG, _AHEAD = 1 << 17, 512
_ARGUMENTS = (*[ctypes.c_void_p] * 7, *[ctypes.c_int64] * 7)


class DotRows:
    """The kernels of one call, for rows of finite operands and for any.

    Errors: RuntimeError where LLVM refuses the code.
    """

    def __init__(self, step: DotCall) -> None:
        self._step = step
        self._cuts, rare = cuts(step, shortcuts=True)
        self._rare = [*rare["a"], *rare["b"]]
        self._kernels: dict[tuple[str, int], Any] = {}
        most = vector_bits() // WORD
        # No processor has lanes for wider integers: one at a time is the fastest.
        self._lanes = {
            which: most if dots(step, x, (), most)[1] <= DOUBLE else 1 for which, x in self._cuts.items()
        }
        #: Steps whose sums stay in registers, where there are so many.
        self._at_once = steps_at_once(step, self._cuts["finite"])

    def text(self, which: str, at_once: int = 1) -> str:
        """The module for `finite` operands, or for `any`."""
        flags = self._rare if which == "finite" else ()
        return dots(self._step, self._cuts[which], flags, self._lanes[which], at_once)[0]

    @property
    def digest(self) -> str:
        """SHA-256 of the code of both kernels: other code has to be compared again."""
        texts = [self.text(which, n) for which in self._cuts for n in sorted({1, self._at_once})]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    def __call__(
        self, a: Words, b: Words, c: Words, scale_a: Words | None = None, scale_b: Words | None = None
    ) -> Words:
        """d = Σ a_k·b_k + c: raw encodings in the formats' storage.

        Shapes: a, b [n, K] with K whole calls, c [n], scale_a, scale_b [n, scales of all calls] where there
        are scales -> [n].
        Errors: none for words that fit their formats; nothing is modified.
        """
        d = np.empty(len(c), f"u{self._step.storage['d'] // 8}")
        scales = [x for x in (scale_a, scale_b) if x is not None]
        flags = self._run("finite", [a, b, c], scales, d)
        some = np.flatnonzero(np.repeat(flags, self._lanes["finite"])[: len(c)])
        if some.size:
            again = np.empty(some.size, d.dtype)
            self._run("any", [x[some] for x in (a, b, c)], [x[some] for x in scales], again)
            d[some] = again
        return d

    def _run(
        self, which: str, given: Sequence[Words], scales: Sequence[Words], d: Words
    ) -> NDArray[np.uint8]:
        """Fill d from a, b and c; what comes back says which tiles of it are not to be used."""
        lanes = self._lanes[which]
        given = [_in_rows(x) for x in given]
        n, k = given[0].shape
        steps = k // self._step.k
        flags = np.zeros(-(-n // lanes), np.uint8)
        # Scales are few: they are put side by side.
        turned = [np.full((x.shape[1], len(flags) * lanes), self._step.scale_one, x.dtype) for x in scales]
        for all_of, x in zip(turned, scales, strict=True):
            all_of[:, :n] = x.T
        if self._step.chained:
            # Sums wait where the next step takes them from.
            d[:] = given[2]
            given[2] = d
        # Rows are read in whole pieces: the last ones, whose ends nothing follows, are put where zeros do.
        pieces = turned_pieces(self._step, lanes)
        group, beyond, left, several = 1, 0, 0, 1
        if pieces:
            group, beyond = pieces["a"].tiles, -k % (pieces["a"].steps * self._step.k)
            several = self._at_once
            left = steps % pieces["a"].steps if several > 1 else 0
        # Whole pieces first, then the steps that are left.
        ranges = ((0, steps - left, several), (steps - left, steps, 1))
        parts = [(first, last, self._kernel(which, n)) for first, last, n in ranges if first < last]
        whole = max(0, n - -(-beyond // k)) // lanes

        def some(x: Sequence[Words], to: Words, tiles: slice, first: int) -> None:
            at = [y.ctypes.data + tiles.start * lanes * y.strides[0] for y in (*x, to)]
            apart = [y.strides[0] // y.itemsize for y in x[:2]]
            # The same place of the next rows, or of long ones the next places.
            sizes = [group * lanes * y.strides[0] for y in x[:2]]
            ahead = [size if size <= _LONG else _AHEAD for size in sizes]
            tile = first + tiles.start
            at += [y.ctypes.data + tile * lanes * y.itemsize for y in turned] or [0, 0]
            for start, stop, kernel in parts:
                places = [at[i] + start * self._step.k * x[i].itemsize for i in range(2)] + at[2:]
                counts = tiles.stop - tiles.start, stop - start, *apart, *ahead, len(flags) * lanes
                kernel.dots(*places, flags.ctypes.data + tile, *counts)

        with Work(progress=False) as work:
            work.split(whole, lanes * k, lambda tiles: some(given, d, tiles, 0))
        rest = n - whole * lanes
        if rest:
            tiles, ends = -(-rest // lanes), []
            for x in given:
                end = np.zeros((tiles * lanes, *[k + beyond] * (x.ndim - 1)), x.dtype)
                end[(slice(rest), *[slice(k)] * (x.ndim - 1))] = x[-rest:]
                ends.append(end)
            last = ends[2] if self._step.chained else np.empty(tiles * lanes, d.dtype)
            some(ends, last, slice(0, tiles), whole)
            d[-rest:] = last[:rest]
        return flags

    def _kernel(self, which: str, at_once: int) -> Any:
        if (which, at_once) not in self._kernels:
            self._kernels[which, at_once] = Module(self.text(which, at_once), {"dots": _ARGUMENTS})
        return self._kernels[which, at_once]


def _in_rows(x: Words) -> Words:
    """An array whose rows are runs in memory, one after the other."""
    aligned = x.flags.aligned and x.strides[-1] == x.itemsize and not x.strides[0] % x.itemsize
    return x if aligned and x.strides[0] >= x.shape[-1] ** (x.ndim - 1) * x.itemsize else x.copy()
