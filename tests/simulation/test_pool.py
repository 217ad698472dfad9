"""Pools of inputs: what shows the cut of sums in formats of few exponents."""

from __future__ import annotations

import pytest

from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.simulation.operands.pool import pool_of
from tcformal.simulation.replay import replay

#: Sums of which nothing is cut but far below products near the largest.
FP8 = "tfdpa@a_format=e4m3,b_format=e4m3,c_format=fp16,d_format=fp16,products=4,fraction_bits=25"


@pytest.mark.parametrize("mode", ["RD", "RU"])
def test_what_is_cut_below_the_largest_products_is_seen(mode: str) -> None:
    unit = resolve(FP8)
    other = resolve(altered(unit, f"alignment_rounding={mode}"))
    pool = pool_of(unit, unit.k, 900, 1)
    assert (replay(unit, pool) != replay(other, pool)).any()
