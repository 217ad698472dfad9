"""Designs by name, many at once: each gives what it gives alone."""

from __future__ import annotations

import numpy as np
import pytest

from tcformal.design.space import space
from tcformal.matmul.unit import Unit
from tcformal.matmul.worlds.members import Members
from tcformal.operands.batch import inputs_to_try, witness_at

SPACES = {
    "cut": (["valpey@terms=5"], ["carry_bits=2..4", "fraction_bits=20,200", "conversion=RZ-FP32,RO-FP32"]),
    "added in two ways": (["tfdpa@products=4,fraction_bits=24"], ["fraction_bits=24..27", "accumulation"]),
    "chains": (["sequential@products=4"], ["conversion=RNE-FP32,RZ-FP32", "c_subnormals", "order"]),
    "products": (["tfdpa@products=2,k=4"], ["products", "overflow", "zero_sign", "operand_subnormals"]),
    "no trees": (["cdna3/v_mfma_f32_32x32x8_f16"], ["conversion", "zero_sign"]),
}


@pytest.mark.parametrize("name", SPACES)
def test_many_designs_give_what_each_gives_alone(name: str) -> None:
    names, vary = SPACES[name]
    units = space(names, vary=vary).members
    members = Members(units, units[0].k)
    x = inputs_to_try(units[0], units[0].k, 200, 5)
    made = members.outputs(x)
    for unit, row in zip(units, made, strict=True):
        assert np.array_equal(row, Unit(unit).dot_bits(x.a, x.b, x.c)), unit.name
    some = list(range(len(units) - 1, -1, -2))
    assert np.array_equal(members.outputs(x, some), made[some])
    assert members.integers(witness_at(x, 7), some) == tuple(made[some, 7].tolist())
