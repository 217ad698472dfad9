"""Few inputs that split many designs into classes: greedy, by how many pairs each input tells apart.

Where pairs are too many to be listed, an input is what it makes of the designs: a label for each.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tcformal.query.suites.cover import Cover
from tcformal.query.suites.panel import Results

_Labels = NDArray[np.intp]


def split_cover(results: Results, costs: Sequence[int]) -> Cover:
    """Inputs that tell apart all designs that any of them does, each of them needed; cheap ones preferred.

    Shapes: results [designs, inputs], a cost for each input.
    """
    columns = [_dense(column) for column in results.T]
    alone = [_together(column) for column in columns]
    picked, labels = _greedy(columns, alone, costs)
    return Cover(tuple(sorted(_needed(columns, picked, labels, costs))), _least(columns, alone, labels))


def telling_rows(labels: NDArray[np.intp], results: Results, most: int) -> list[int]:
    """At most so many inputs that split designs of equal labels, those that tell most pairs apart first."""
    _, first, label = np.unique(labels, return_index=True, return_inverse=True)
    # Most inputs tell nothing apart where few designs are left: they are passed over all at once.
    telling = np.flatnonzero((results != results[first[label.reshape(-1)]]).any(axis=0))
    columns = [_dense(column) for column in results.T[telling]]
    picked = _greedy(columns, [0] * len(columns), [0] * len(columns), labels, most)[0] if columns else []
    return [int(telling[i]) for i in picked]


def _greedy(
    columns: Sequence[_Labels],
    alone: Sequence[int],
    costs: Sequence[int],
    start: _Labels | None = None,
    most: int | None = None,
) -> tuple[list[int], _Labels]:
    """Inputs taken one by one, each the one that tells most pairs apart that are still together.

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
    """A lower bound: so many inputs at least are needed for the classes, and for the pairs."""
    classes, pairs = _classes(labels), _together(np.zeros_like(labels)) - _together(labels)
    results = sorted((_classes(column) for column in columns), reverse=True)
    every = _together(np.zeros_like(labels))
    apart = sorted((every - together for together in alone), reverse=True)
    made, told, n = 1, 0, 0
    while made < classes or told < pairs:
        made, told, n = made * results[n], told + apart[n], n + 1
    return n


def _needed(
    columns: Sequence[_Labels], picked: Sequence[int], labels: _Labels, costs: Sequence[int]
) -> list[int]:
    """The inputs without those that the others make unnecessary, dear ones looked at first.

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
    """Labels of what has one label in both, not from 0 on."""
    return labels * np.intp(int(column.max()) + 1) + column


def _equal_pairs(labels: _Labels) -> int:
    """As `_together`, for any labels."""
    ordered = np.sort(labels)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    counts = np.diff(ends, prepend=-1)
    return int((counts * (counts - 1) // 2).sum())


def _dense(column: NDArray[np.uint64] | _Labels) -> _Labels:
    """Labels from 0 on."""
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def _classes(labels: _Labels) -> int:
    return int(labels.max()) + 1


def _together(labels: _Labels) -> int:
    """Pairs of designs with one label."""
    counts = np.bincount(labels)
    return int((counts * (counts - 1) // 2).sum())
