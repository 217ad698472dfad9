"""Set cover: fewest inputs that distinguish every pair, greedy first, then by exact search within a budget.

A candidate is a bit mask: the set of pairs that it distinguishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
    best = _irredundant(_greedy(masks, costs, universe), masks, costs, universe)
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


def irredundant(masks: Sequence[int], costs: Sequence[int], universe: int) -> list[int]:
    """The candidates without redundant ones, which are sought from the most expensive down."""
    return _irredundant(list(range(len(masks))), masks, costs, universe)


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


def _irredundant(chosen: list[int], masks: Sequence[int], costs: Sequence[int], universe: int) -> list[int]:
    """A cover without redundant candidates, which are sought from the most expensive down."""
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
