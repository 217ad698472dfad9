"""Inputs whose sums lie where few others do."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.simulation.operands.boundaries import rests
from tcformal.simulation.operands.pool import pool_of
from tcformal.simulation.replay import replay

#: A sum of few products and a narrow c: a subnormal factor moves the cut, which few sums show.
NARROW = "tfdpa@a_format=e4m3,b_format=e2m1,c_format=fp16,d_format=fp16,products=8,fraction_bits=25"


@pytest.mark.parametrize("formats", ["", "a_format=e2m1", "a_format=e2m3,b_format=e3m2"])
def test_a_bit_of_c_below_products_that_cancel_decides(formats: str) -> None:
    """The cut below a subnormal factor's product, normalised or not: no other family shows where it is."""
    changed = dict(x.split("=") for x in formats.split(",") if x)
    given = dict(x.split("=") for x in NARROW.partition("@")[2].split(","))
    name = "tfdpa@" + ",".join(f"{a}={b}" for a, b in (given | changed).items())
    unit, other = resolve(name), resolve(name + ",normalise_operands=true")
    pools = rests(unit, unit.k, 2000, 0), pool_of(unit, unit.k, 6000, 0)
    seen = [bool((replay(unit, x) != replay(other, x)).any()) for x in pools]
    assert seen == [True, False]
