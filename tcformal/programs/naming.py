"""A consistency check of the catalogue: names that share a design must build one circuit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

from tcformal.callbacks import Advance, ignore_count
from tcformal.design.unit import UnitSpec
from tcformal.programs.chain import arithmetic, definition


def misnamed(designs: Mapping[str, Sequence[UnitSpec]], advance: Advance = ignore_count) -> dict[str, str]:
    """The names whose circuit differs from that of their design's first name, with that name.

    Shapes: designs: the units that share a design, by a name of it.  Units of different k are compared at
    the least common multiple of their k, where the shorter one is applied to consecutive runs.
    Ranges and units: circuits are compared by the SHA-256 of their serialised nodes, inputs by name; equal
    circuits give equal results.
    """
    digest = cache(definition)
    wrong: dict[str, str] = {}
    total, done = sum(map(len, designs.values())), 0
    for units in designs.values():
        first = units[0]
        for u in units:
            k = math.lcm(first.k, u.k)
            if digest(arithmetic(u), k) != digest(arithmetic(first), k):
                wrong[u.name] = first.name
            done += 1
            advance(done, total)
    return wrong
