"""Orders of sums, and the elements that have one, in words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tcformal.identification.whole.order import SumChain

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
    text = _run(ks)
    return (
        f"{described(base[0]) if len(base) == 1 else described(SumChain((), base))}, then {text}"
        if base
        else text
    )


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
