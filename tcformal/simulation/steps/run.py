"""A program on arrays, in bands of rows, so that intermediate values stay in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tcformal.checks import check_int
from tcformal.design.steps import ProgramPlan
from tcformal.simulation.operands.random import Raw
from tcformal.simulation.steps.order import needed_by, of_rows_and_columns
from tcformal.simulation.steps.values import ArrayRun, RememberedRun

#: Elements of a value that are computed at a time: an array of fp32 that large is taken from memory that was
#: used before, and a larger one from new pages.
_ELEMENTS = 1 << 21


def run_plan(
    plan: ProgramPlan, given: Mapping[str, Raw], options: dict[str, Any], memo: dict[Any, Raw] | None = None
) -> Raw:
    """Evaluate a plan on arrays of encodings, and return the encodings of its result.

    Shapes: given: by letter [rows, columns, elements], rows or columns 1 where it does not depend on them;
    result [rows, columns], likewise.
    Ranges and units: `options`: as for `Unit.matmul`, and `prepared`, what was made of B before; `memo` keeps
    the values of steps for other plans on the same operands.
    Errors: InputError for a number of threads below 1.
    """
    if options.get("threads") is not None:
        check_int("threads", options["threads"], low=1)
    if memo is not None:
        return RememberedRun(plan, given, options, memo).result()
    rows, columns = (max(x.shape[axis] for x in given.values()) for axis in (0, 1))
    if rows * columns <= _ELEMENTS:
        return ArrayRun(plan, given, options).result()
    return _in_bands(plan, given, options, max(1, _ELEMENTS // columns))


def _in_bands(plan: ProgramPlan, given: Mapping[str, Raw], options: dict[str, Any], rows: int) -> Raw:
    """The result computed in bands of `rows` rows; steps independent of rows or columns run once."""
    needed = needed_by(plan)
    both = of_rows_and_columns(plan, given) & needed
    if plan.result not in both:
        return ArrayRun(plan, given, options).result()
    whole = ArrayRun(plan, given, options)
    whole.run(needed - both)
    taken = {j for i in both for j in plan.steps[i].sources} - both
    d: Raw | None = None
    for start in range(0, max(x.shape[0] for x in given.values()), rows):
        band = slice(start, start + rows)
        part = ArrayRun(plan, {k: _rows(x, band) for k, x in given.items()}, options)
        part.known = {j: _rows(whole.known[j], band) for j in taken}
        part.run(both)
        result = part.known[plan.result][:, :, 0]
        if d is None:
            shape = (max(x.shape[0] for x in given.values()), result.shape[1])
            d = np.empty(shape, f"u{plan.fmt.storage_bits // 8}")
        d[band] = result
    assert d is not None
    return d


def _rows(x: Raw, band: slice) -> Raw:
    """The rows `band` of a value, or the value itself if it is broadcast over rows."""
    return x[band] if x.shape[0] > 1 else x
