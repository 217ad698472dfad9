"""The order in which a callable product sums, from masks: every element of a result is a probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.errors import DeviceError
from tcformal.formats.spec import Format
from tcformal.matmul.arrays import dtypes

#: A [M, K] and B [K, N] to D [M, N].
ProductFunction = Callable[[NDArray[Any], NDArray[Any]], Any]
#: Exponents of a mask's large numbers and of its small ones, by the format of A.
_EXPONENTS = {"fp64": (200, -200), "fp32": (60, -60), "tf32": (60, -60), "bf16": (60, -60), "fp16": (15, -24)}
#: Small terms that a result counts exactly, by the format of D.
_COUNTED = {"fp64": 1 << 24, "fp32": 1 << 24, "bf16": 1 << 8, "fp16": 1 << 10}


@dataclass(frozen=True, slots=True)
class SumChain:
    """A chain: each of `ks` in turn joins the sum of the chains in `base`, or the first of them zero."""

    ks: tuple[int, ...]
    base: tuple[SumChain, ...] = ()

    @property
    def size(self) -> int:
        """The number of terms."""
        return len(self.ks) + sum(x.size for x in self.base)


class NoProductOrderError(DeviceError):
    """A product whose results are no sums in one order."""


class ProductProbe:
    """A callable product of one shape, asked with masks.

    Errors: DeviceError for a callable that fails or gives no matrix of D's dtype; NoProductOrderError where
    the results are no counts, or elements of one call are summed in different orders.
    """

    def __init__(
        self, function: ProductFunction, a: Format, b: Format, d: Format, shape: tuple[int, int, int]
    ) -> None:
        self.function, self.a, self.b, self.d, self.shape = function, a, b, d, shape
        self.calls = 0
        self._sizes: dict[tuple[int, int], int] = {}

    def run(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        """The callable's result, checked."""
        self.calls += 1
        try:
            d = np.asarray(self.function(a, b))
        except Exception as error:  # noqa: BLE001  whatever a function raises is a failure of the device
            raise DeviceError(f"expected a product from the function, but got: {error!r:.200}") from None
        wanted = dtypes()[self.d.name]
        if d.shape != (a.shape[0], b.shape[1]) or d.dtype != wanted:
            raise DeviceError(
                f"expected a product of shape {[a.shape[0], b.shape[1]]} and dtype {wanted}, but got "
                f"{list(d.shape)} of {d.dtype}"
            )
        return d

    def order(self) -> SumChain:
        """The chains of all sums of the shape."""
        self._sizes.clear()
        k = self.shape[2]
        (whole,) = self._children(list(range(k)), k + 1)
        return whole

    def _children(self, leaves: Sequence[int], size: int) -> list[SumChain]:
        """The subtrees that are added at a node of so many leaves, which hold some of them."""
        found = []
        left = list(leaves)
        while left:
            first, *others = left
            sizes = self._joint_sizes(first, others)
            left = [q for q in others if sizes[q] >= size]
            node = SumChain((first,))
            for step in sorted({x for x in sizes.values() if x < size}):
                node = _joined(node, self._children([q for q in others if sizes[q] == step], step))
            found.append(node)
        return found

    def _joint_sizes(self, p: int, others: Sequence[int]) -> dict[int, int]:
        """How many terms the smallest partial sum holds that has both p and q, for each q."""
        asked = [q for q in others if (p, q) not in self._sizes]
        m, n, k = self.shape
        rows = m >= n
        at_once = max(m, n)
        high, low = _EXPONENTS[self.a.name]
        kind = dtypes()[self.a.name if rows else self.b.name]
        few = _COUNTED[self.d.name]
        lost = dict.fromkeys(asked, 0)
        work = [(q, start) for q in asked for start in range(0, k, few)]
        for first in range(0, len(work), at_once):
            some = work[first : first + at_once]
            masks = np.zeros((at_once, k), np.float64)
            for row, (q, start) in enumerate(some):
                masks[row, start : start + few] = 2.0**low
                masks[row, p], masks[row, q] = 2.0**high, -(2.0**high)
            left = masks.astype(kind)
            ones = np.ones((k, n) if rows else (m, k), dtypes()[self.b.name if rows else self.a.name])
            d = self.run(left, ones) if rows else self.run(ones, np.ascontiguousarray(left.T))
            counts = np.asarray(d if rows else d.T, np.float64) / 2.0**low
            for row, (q, _) in enumerate(some):
                small = int((masks[row] == 2.0**low).sum())
                if (counts[row] != counts[row, 0]).any():
                    raise NoProductOrderError(
                        f"expected one order for all elements, but terms {p} and {q} of k meet elsewhere in "
                        "some of them"
                    )
                kept = counts[row, 0]
                if not 0 <= kept <= small or kept != int(kept):
                    raise NoProductOrderError(
                        f"expected a count of at most {small} terms beside large ones at {p} and {q} of k, "
                        f"but got {kept}"
                    )
                lost[q] += small - int(kept)
        self._sizes |= {(p, q): count + 2 for q, count in lost.items()}
        return {q: self._sizes[p, q] for q in others}


def _joined(node: SumChain, children: list[SumChain]) -> SumChain:
    """A node of what was found so far and further subtrees: single terms go on with a chain."""
    leaves = [x for x in (node, *children) if x.size == 1]
    sums = [x for x in (node, *children) if x.size > 1]
    if not sums:
        return SumChain(tuple(sorted(x.ks[0] for x in leaves)))
    added = tuple(x.ks[0] for x in leaves)
    if len(sums) == 1:
        return SumChain(sums[0].ks + added, sums[0].base)
    if sums[0] is node and not node.ks:
        # One sum after the other joins what was added up before.
        return SumChain(added, (*node.base, *sums[1:]))
    return SumChain(added, tuple(sums))
