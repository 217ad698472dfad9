"""Set cover: fewest inputs that distinguish every pair, greedy first, then by exact search within a budget.

A candidate is a bit mask: the set of pairs that it distinguishes.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcformal.simulation.operands.batch import Raw

#: Steps of the exact search; one looks at every candidate once.
STEPS = 3000


@dataclass(frozen=True, slots=True)
class Cover:
    """An irredundant cover, with a lower bound on the size of any cover."""

    #: Indices of candidates, ascending.
    chosen: tuple[int, ...]
    #: No choice among the candidates has fewer than this many.
    at_least: int


def cover(masks: Sequence[int], costs: Sequence[int], universe: int, *, steps: int = STEPS) -> Cover:
    """A small cover of `universe` by candidates' masks; cheap candidates are preferred.

    Ranges: `universe` is covered by all masks together.
    `at_least` is the size of the choice where the exact search came to its end.
    """
    best = irredundant(masks, costs, universe, _greedy(masks, costs, universe))
    at_least = _counted(masks, universe)
    search = _CoverSearch(masks, universe, steps)
    while at_least < len(best):
        smaller = search.within(universe, at_least)
        if smaller is not None:
            best = smaller
        elif search.steps < 0:
            break
        else:
            at_least += 1
    return Cover(tuple(sorted(_cheaper(best, masks, costs, universe))), at_least)


def covered_only_by(chosen: Sequence[int], masks: Sequence[int], universe: int, one: int) -> int:
    """The elements that only the candidate `one` covers."""
    rest = 0
    for i in chosen:
        if i != one:
            rest |= masks[i]
    return universe & ~rest


def _greedy(masks: Sequence[int], costs: Sequence[int], universe: int) -> list[int]:
    """Greedy set cover: the candidate that covers most of the rest, then the cheapest."""
    chosen: list[int] = []
    left = universe
    while left:
        gain, _, i = max(((m & left).bit_count(), -costs[i], i) for i, m in enumerate(masks))
        if not gain:
            raise ValueError("expected masks whose union is the universe")
        chosen.append(i)
        left &= ~masks[i]
    return chosen


def irredundant(
    masks: Sequence[int], costs: Sequence[int], universe: int, chosen: Sequence[int] | None = None
) -> list[int]:
    """A cover, by default of all candidates, without redundant ones, sought from the most expensive down."""
    chosen = range(len(masks)) if chosen is None else chosen
    kept = list(chosen)
    for one in sorted(chosen, key=lambda i: -costs[i]):
        if not covered_only_by(kept, masks, universe, one):
            kept.remove(one)
    return kept


def _cheaper(chosen: list[int], masks: Sequence[int], costs: Sequence[int], universe: int) -> list[int]:
    """Replace each candidate by the cheapest that covers what only it covers."""
    kept = list(chosen)
    for one in sorted(chosen, key=lambda i: -costs[i]):
        own = covered_only_by(kept, masks, universe, one)
        fitting = [i for i, m in enumerate(masks) if not own & ~m]
        kept[kept.index(one)] = min(fitting, key=lambda i: (costs[i], i))
    return kept


def _counted(masks: Sequence[int], universe: int) -> int:
    """The counting bound: the least number of largest masks with enough elements."""
    sizes = sorted(((m & universe).bit_count() for m in masks), reverse=True)
    total, needed = 0, universe.bit_count()
    for n, size in enumerate(sizes):
        if total >= needed:
            return n
        total += size
    return len(sizes)


class _CoverSearch:
    """An exact search for a cover of a given size, with a budget of steps."""

    def __init__(self, masks: Sequence[int], universe: int, steps: int) -> None:
        self.masks = masks
        self.steps = steps
        size = -(-universe.bit_length() // 8)
        counts = np.zeros(8 * size, np.int64)
        for mask in masks:
            packed = np.frombuffer((mask & universe).to_bytes(size, "little"), np.uint8)
            counts += np.unpackbits(packed, bitorder="little")
        #: The elements as bits, those that fewest candidates cover first.
        self._rarest = [1 << int(i) for i in np.argsort(counts, kind="stable") if universe >> int(i) & 1]

    def within(self, left: int, size: int) -> list[int] | None:
        """A cover of the remaining elements by at most `size` candidates; None if none exists or the budget
        ends."""
        if not left:
            return []
        self.steps -= 1
        if not size or self.steps < 0:
            return None
        gains = [(mask & left).bit_count() for mask in self.masks]
        if max(gains) * size < left.bit_count():
            return None
        # One of the few candidates that cover the rarest element has to be chosen.
        rarest = next(bit for bit in self._rarest if bit & left)
        branches = [i for i, mask in enumerate(self.masks) if mask & rarest]
        for i in sorted(branches, key=lambda i: -gains[i]):
            rest = self.within(left & ~self.masks[i], size - 1)
            if rest is not None:
                return [i, *rest]
            if self.steps < 0:
                return None
        return None


_Labels = NDArray[np.intp]


def split_cover(results: Raw, costs: Sequence[int]) -> Cover:
    """An irredundant set of inputs that distinguishes all distinguishable designs; cheap ones are preferred.

    Shapes: results [designs, inputs], a cost for each input.
    """
    columns = [_dense(column) for column in results.T]
    alone = [_together(column) for column in columns]
    picked, labels = _greedy_split(columns, alone, costs)
    return Cover(tuple(sorted(_needed(columns, picked, labels, costs))), _least(columns, alone, labels))


def distinguishing_rows(labels: NDArray[np.intp], results: Raw, most: int) -> list[int]:
    """At most `most` inputs that split designs of equal labels, chosen greedily by distinguished pairs."""
    _, first, label = np.unique(labels, return_index=True, return_inverse=True)
    # Most inputs tell nothing apart where few designs are left: they are passed over all at once.
    distinguishing = np.flatnonzero((results != results[first[label.reshape(-1)]]).any(axis=0))
    columns = [_dense(column) for column in results.T[distinguishing]]
    zeros = [0] * len(columns)
    picked = _greedy_split(columns, zeros, zeros, labels, most)[0] if columns else []
    return [int(distinguishing[i]) for i in picked]


def _greedy_split(
    columns: Sequence[_Labels],
    alone: Sequence[int],
    costs: Sequence[int],
    start: _Labels | None = None,
    most: int | None = None,
) -> tuple[list[int], _Labels]:
    """Greedy selection: always the input that distinguishes most remaining pairs.

    What an input tells apart only becomes less, so that the largest bound that is still true is the best.
    """
    labels = np.zeros(len(columns[0]), np.intp) if start is None else start
    left = _together(labels)
    heap = [(pairs - left, costs[row], row) for row, pairs in enumerate(alone)]
    heapq.heapify(heap)
    picked: list[int] = []
    while heap and left and (most is None or len(picked) < most):
        _, cost, row = heapq.heappop(heap)
        both = _joined(labels, columns[row])
        entry = (_equal_pairs(both) - left, cost, row)
        if heap and entry > heap[0]:
            if entry[0]:
                heapq.heappush(heap, entry)
            continue
        if not entry[0]:
            break
        picked.append(row)
        labels, left = _dense(both), left + entry[0]
    return picked, labels


def _least(columns: Sequence[_Labels], alone: Sequence[int], labels: _Labels) -> int:
    """A lower bound on the number of inputs, from the numbers of classes and of pairs."""
    classes, pairs = _classes(labels), _together(np.zeros_like(labels)) - _together(labels)
    results = sorted((_classes(column) for column in columns), reverse=True)
    every = _together(np.zeros_like(labels))
    apart = sorted((every - together for together in alone), reverse=True)
    reached, separated, n = 1, 0, 0
    while reached < classes or separated < pairs:
        reached, separated, n = reached * results[n], separated + apart[n], n + 1
    return n


def _needed(
    columns: Sequence[_Labels], picked: Sequence[int], labels: _Labels, costs: Sequence[int]
) -> list[int]:
    """The selected inputs without redundant ones, which are sought from the most expensive down.

    Labels are added up as random words: a sum that two designs share by chance only keeps an input.
    """
    rng = np.random.default_rng(0)
    words = {row: rng.integers(0, 1 << 64, _classes(columns[row]), np.uint64)[columns[row]] for row in picked}
    total = np.zeros(len(labels), np.uint64)
    for word in words.values():
        total += word
    kept = list(picked)
    for row in sorted(picked, key=lambda row: -costs[row]):
        if len(np.unique(total - words[row])) == _classes(labels):
            total -= words[row]
            kept.remove(row)
    return kept


def _joined(labels: _Labels, column: _Labels) -> _Labels:
    """Labels of the common refinement of two partitions, not contiguous."""
    return labels * np.intp(int(column.max()) + 1) + column


def _equal_pairs(labels: _Labels) -> int:
    """The number of pairs with equal labels, for labels of any values."""
    ordered = np.sort(labels)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    counts = np.diff(ends, prepend=-1)
    return int((counts * (counts - 1) // 2).sum())


def _dense(column: NDArray[np.uint64] | _Labels) -> _Labels:
    """Labels renumbered from 0 on."""
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def _classes(labels: _Labels) -> int:
    return int(labels.max()) + 1


def _together(labels: _Labels) -> int:
    """The number of pairs with equal labels, for labels from 0 on."""
    counts = np.bincount(labels)
    return int((counts * (counts - 1) // 2).sum())
