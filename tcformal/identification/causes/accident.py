"""How likely it is that one of many designs gives a wrong result by accident."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from tcformal.analysis.differences import ulp_distance
from tcformal.encodings.spec import Format
from tcformal.simulation.operands.batch import Raw


def by_accident(fmt: Format, expected: Raw, got: Raw, results: Iterable[Raw]) -> float | None:
    """The chance that some design gives a value drawn from all that lie as near the expected result as `got`.

    Shapes: all arrays alike, an element for each result; `results`: what each design gives.
    Ranges and units: of the elements that differ, by s values of the format, each has 2·s values as near; the
    chance is the share of their combinations that designs give.  Elements that do not differ count as no
    evidence, so that the chance is rather too large.
    Zero, NaN, Inf: None where one of two results is NaN or Inf and the other another one, or none differs.
    """
    expected, got = expected.ravel(), got.ravel()
    steps = ulp_distance(fmt, expected, got)
    apart = steps > 0
    if not apart.any() or (steps < 0).any():
        return None
    near = set()
    for words in results:
        some = words.ravel()[apart].astype(np.uint64)
        far = ulp_distance(fmt, expected[apart], some)
        if ((far > 0) & (far <= steps[apart])).all():
            near.add(some.tobytes())
    if not near:
        return 0.0
    return min(1.0, math.exp(math.log(len(near)) - float(np.log(2.0 * steps[apart]).sum())))
