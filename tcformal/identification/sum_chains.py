"""The order in which a callable product sums, from masks, its variants, and its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.encodings.spec import Format
from tcformal.errors import DeviceError, TcformalError
from tcformal.simulation.arrays import dtypes

# ------------------------------------------------------------------ masks
#: A [M, K] and B [K, N] to D [M, N].
ProductFunction = Callable[[NDArray[Any], NDArray[Any]], Any]
#: Exponents of a mask's large numbers and of its small ones, by the format of A.
_EXPONENTS = {"fp64": (200, -200), "fp32": (60, -60), "tf32": (60, -60), "bf16": (60, -60), "fp16": (15, -24)}
#: Small terms that a result counts exactly, by the format of D.
_COUNTED = {"fp64": 1 << 24, "fp32": 1 << 24, "bf16": 1 << 8, "fp16": 1 << 10}
#: Orders that the elements of one product may have.
_MOST_ORDERS = 64


@dataclass(frozen=True, slots=True)
class SumChain:
    """A chain: each of `ks` in turn joins the sum of the chains in `base`, or the first of them zero."""

    ks: tuple[int, ...]
    base: tuple[SumChain, ...] = ()

    @property
    def size(self) -> int:
        """The number of terms."""
        return len(self.ks) + sum(x.size for x in self.base)

    def terms(self) -> Iterator[int]:
        """Every k, as often as it stands in the chains."""
        for x in self.base:
            yield from x.terms()
        yield from self.ks

    @property
    def joins(self) -> bool:
        """Whether single terms join a sum of chains."""
        return bool(self.base and self.ks) or any(x.joins for x in self.base)


@dataclass(frozen=True, slots=True, eq=False)
class OrderRegion:
    """Elements of D that are summed in one order.

    Shapes: `elements` [M, N], true for those.
    """

    order: SumChain
    elements: NDArray[np.bool_]


class NoProductOrderError(DeviceError):
    """A product whose results are no sums in an order."""


class ProductProbe:
    """A callable product of one shape, asked with masks.

    Errors: DeviceError for a callable that fails or gives no matrix of D's dtype; NoProductOrderError where
    the results are no counts, or there are too many orders.
    """

    def __init__(
        self, function: ProductFunction, a: Format, b: Format, d: Format, shape: tuple[int, int, int]
    ) -> None:
        self.function, self.a, self.b, self.d, self.shape = function, a, b, d, shape
        self.calls = 0
        self._sizes: dict[tuple[int, int], NDArray[np.int32]] = {}
        self._element = (0, 0)

    def run(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        """The callable's result, checked."""
        self.calls += 1
        try:
            d = np.asarray(self.function(a, b))
        except Exception as error:  # noqa: BLE001  whatever a function raises is a failure of the device
            told = str(error) if isinstance(error, TcformalError) else repr(error)
            raise DeviceError(f"expected a product from the function, but got: {told:.200}") from None
        wanted = dtypes()[self.d.name]
        if d.shape != (a.shape[0], b.shape[1]) or d.dtype != wanted:
            raise DeviceError(
                f"expected a product of shape {[a.shape[0], b.shape[1]]} and dtype {wanted}, but got "
                f"{list(d.shape)} of {d.dtype}"
            )
        return d

    def regions(self) -> list[OrderRegion]:
        """The orders of all elements; every pair of places is asked of all elements at once."""
        self._sizes.clear()
        m, n, k = self.shape
        left = np.ones((m, n), bool)
        found: list[OrderRegion] = []
        while left.any():
            if len(found) == _MOST_ORDERS:
                raise NoProductOrderError(
                    f"expected at most {_MOST_ORDERS} orders of sums among the elements of one product, but "
                    "there are more"
                )
            self._element = (int(np.argwhere(left)[0, 0]), int(np.argwhere(left)[0, 1]))
            self._asked: set[tuple[int, int]] = set()
            (order,) = self._children(list(range(k)), k + 1)
            same = left.copy()
            for pair in self._asked:
                same &= self._sizes[pair] == self._sizes[pair][self._element]
            found.append(OrderRegion(order, same))
            left &= ~same
        return found

    def parts_alike(self, times: int) -> list[SumChain]:
        """The largest sums that the first element always forms alike, as far as so many calls each show.

        Errors: NoProductOrderError as for `regions`.
        """
        self._sizes.clear()
        self._element = (0, 0)
        self._asked = set()
        left = list(range(self.shape[2]))
        found: list[tuple[SumChain, dict[int, int]]] = []
        while left:
            first, *others = left
            # A sum of s terms that always has the same terms is one of s terms in every call.
            sizes = {q: x for q in others if (x := self._always(first, q, times)) is not None}
            whole = [first]
            for size in sorted(set(sizes.values())):
                terms = [first, *(q for q in others if sizes.get(q, size + 1) <= size)]
                whole = terms if len(terms) == size else whole
            (order,) = self._children(whole, len(whole) + 1)
            found.append((order, {q: sizes[q] for q in whole[1:]}))
            left = [q for q in left if q not in whole]
        # What changes seldom is noticed late.
        for order, sizes in found:
            (first, *_) = sorted(order.terms())
            alike = all(self._always(first, q, 2) == size for q, size in sizes.items())
            if not alike:
                raise NoProductOrderError("masks show no sums that are always formed alike")
        return [order for order, _ in found]

    def _always(self, p: int, q: int, times: int) -> int | None:
        """How many terms the first element's smallest sum has that holds p and q; None where it varies."""
        seen = set()
        for _ in range(times):
            self._sizes[p, q] = self._lost(p, q) + 2
            seen.add(int(self._sizes[p, q][self._element]))
            if len(seen) > 1:
                return None
        return seen.pop()

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
        """How many terms the smallest partial sum of the element holds that has both p and q, for each q."""
        for q in others:
            self._asked.add((p, q))
            if (p, q) not in self._sizes:
                self._sizes[p, q] = self._lost(p, q) + 2
        return {q: int(self._sizes[p, q][self._element]) for q in others}

    def _lost(self, p: int, q: int) -> NDArray[np.int32]:
        """How many small terms each element loses beside a large one at p and its negative at q of k."""
        m, n, k = self.shape
        high, low = _EXPONENTS[self.a.name]
        few = _COUNTED[self.d.name]
        ones = np.ones((k, n), dtypes()[self.b.name])
        lost = np.zeros((m, n), np.int32)
        for start in range(0, k, few):
            mask = np.zeros(k)
            mask[start : start + few] = 2.0**low
            mask[p], mask[q] = 2.0**high, -(2.0**high)
            small = int((mask == 2.0**low).sum())
            if not small:
                continue
            row = mask.astype(dtypes()[self.a.name])
            kept = np.asarray(self.run(np.repeat(row[None], m, 0), ones), np.float64) / 2.0**low
            counts = np.where(np.abs(kept) <= small, kept, -1).astype(np.int32)
            wrong = (counts != kept) | (counts < 0) | (counts > small)
            if wrong.any():
                raise NoProductOrderError(
                    f"expected a count of at most {small} terms beside large ones at {p} and {q} of k, but "
                    f"got {kept[wrong][0]}"
                )
            lost += small - counts
        return lost


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


# ------------------------------------------------------------------ variants
#: Terms of the longest chain in which only some products are fused.
_SHORT = 8
#: Kinds of chains in an order that are taken otherwise; those of any more kinds stay as they are.
_KINDS = 3


def variants(order: SumChain) -> Iterator[SumChain]:
    """The order itself, every chain turned, then chains of each kind taken in every way; each once.

    Masks cannot tell these apart, because every sum in them takes in the same terms.  Of the first two terms
    of a chain one is rounded before it is added, the other may be fused; of a short chain a compiler may fuse
    some products only.  Chains beside each other, the lanes of one register, are taken alike, and what is
    left over after them may be otherwise.
    """
    seen = set()
    for found in (order, turned(order), *_taken(order)):
        if found not in seen:
            seen.add(found)
            yield found


def turned(x: SumChain) -> SumChain:
    """The same order with the first two terms of every chain in turned places."""
    ks = x.ks if x.base else _turned(x.ks)
    return SumChain(ks, tuple(turned(y) for y in x.base))


def _turned(ks: tuple[int, ...]) -> tuple[int, ...]:
    return (*ks[1::-1], *ks[2:])


def _taken(order: SumChain) -> Iterator[SumChain]:
    """Chains from zero of one length are taken alike, but for the last one, with what is left over."""
    chains = list(_leaves(order))
    kinds: dict[tuple[int, bool], list[tuple[int, ...]]] = {}
    for i, ks in enumerate(chains):
        kinds.setdefault((len(ks), i + 1 == len(chains)), []).append(ks)
    varied = list(kinds.values())[-_KINDS:]
    # The ways of one kind are as many for each of its chains, and in the same places.
    for chosen in product(*(zip(*map(_ways, x), strict=True) for x in varied)):
        yield _changed(order, dict(zip(chain(*varied), chain(*chosen), strict=True)))


def _leaves(x: SumChain) -> Iterator[tuple[int, ...]]:
    """The terms of the chains from zero."""
    if not x.base:
        yield x.ks
    for y in x.base:
        yield from _leaves(y)


def _changed(x: SumChain, taken: dict[tuple[int, ...], SumChain]) -> SumChain:
    """A tree whose chains from zero are taken in other ways."""
    if not x.base:
        return taken.get(x.ks, x)
    return SumChain(x.ks, tuple(_changed(y, taken) for y in x.base))


def _ways(ks: tuple[int, ...]) -> Iterator[SumChain]:
    """A chain as it is and turned; a short one also so that some of its products join as a sum does."""
    for first in dict.fromkeys((ks, _turned(ks))):
        yield SumChain(first)
        if len(ks) > _SHORT:
            continue
        rounded = SumChain(first[:1])
        for j, k in enumerate(first[1:], 1):
            # The last products, after sums of fused ones, and after the first ones that are all rounded.
            yield SumChain(first[j:], (SumChain(first[:j]),))
            if j > 1:
                yield SumChain(first[j:], (rounded,))
            rounded = SumChain((), (rounded, SumChain((k,))))
        if len(ks) > 1:
            yield rounded


# ------------------------------------------------------------------ words
#: Terms in no plain order that are all listed.
_LISTED = 7


def described(order: SumChain) -> str:
    """An order in words."""
    ks, base = order.ks, order.base
    if base and not ks:
        sizes = [x.size for x in base]
        if all(_plain(x) for x in base) and _concatenated(base):
            return "blocks of k of " + "+".join(map(str, sizes)) + ", each from zero, added in order"
        return "(" + " + ".join(described(x) for x in base) + ")"
    before = described(base[0] if len(base) == 1 else SumChain((), base)) + ", then " if base else ""
    return f"{before}{_run(ks)}"


def elements_in_words(elements: NDArray[np.bool_]) -> str:
    """Which elements, in words; empty for all."""
    if elements.all():
        return ""
    rows, columns = np.flatnonzero(elements.any(1)), np.flatnonzero(elements.any(0))
    if elements[np.ix_(rows, columns)].all():
        parts = [
            f"{name} {_run(tuple(x.tolist())).removeprefix('k ').removeprefix('from ')}"
            for name, x, size in (("rows", rows, elements.shape[0]), ("columns", columns, elements.shape[1]))
            if len(x) < size
        ]
        return f"{', '.join(parts)}: "
    return f"{int(elements.sum())} elements: "


def _plain(x: SumChain) -> bool:
    return not x.base and x.ks == tuple(range(x.ks[0], x.ks[0] + len(x.ks)))


def _concatenated(base: tuple[SumChain, ...]) -> bool:
    return all(x.ks[-1] + 1 == y.ks[0] for x, y in pairwise(base))


def _run(ks: tuple[int, ...]) -> str:
    """Terms of k in words: ascending, ascending by a step, in swapped pairs, or listed."""
    steps = {y - x for x, y in pairwise(ks)}
    if len(ks) == 1 or (len(steps) == 1 and min(steps) > 0):
        by = f" by {min(steps)}" if steps and min(steps) > 1 else ""
        return f"k from {ks[0]} to {ks[-1]}{by}"
    shown = [*map(str, ks)] if len(ks) <= _LISTED else [*map(str, ks[: _LISTED - 1]), "…", str(ks[-1])]
    return f"k in the order {', '.join(shown)}"
