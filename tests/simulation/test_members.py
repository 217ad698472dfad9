"""Designs by name, many at once: each gives what it gives alone."""

from __future__ import annotations

import numpy as np
import pytest

from sampled import one_in
from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.design.space import space
from tcformal.query.suites.panel import Panel
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import together, witness_at
from tcformal.simulation.operands.inputs import inputs_to_try, pool_of
from tcformal.simulation.structures import structure_of

SPACES = {
    "cut": (["valpey@terms=5"], ["carry_bits=0..2", "fraction_bits=20,200", "conversion=RZ-FP32,RO-FP32"]),
    "added in two ways": (["tfdpa@products=4,fraction_bits=24"], ["fraction_bits=24..27", "accumulation"]),
    "chains": (["sequential@products=4"], ["conversion=RNE-FP32,RZ-FP32", "c_subnormals", "order"]),
    "products": (["tfdpa@products=2,k=4"], ["products", "overflow", "zero_sign", "operand_subnormals"]),
    "sums that are not normalised": (
        ["blackhole/MVMUL.fp16.fp32"],
        ["sop.zero_exponent=-30,none", "result_subnormals=tiny_zero,kept", "sop.alignment_rounding=RNA,RNU"],
    ),
    "not normalised, of any width": (
        ["tree@steps=(s(0..3)+s(4..7)+c),s.normalised=false,s.fraction_bits=12,fraction_bits=24"],
        ["s.fraction_bits=10..13", "fraction_bits=20,24", "s.carry_bits=1,exact", "zero_exponent=-9,none"],
    ),
    "no trees": (["cdna3/v_mfma_f32_32x32x8_f16"], ["conversion", "zero_sign"]),
}


@pytest.mark.parametrize("name", one_in(2, SPACES))
def test_many_designs_give_what_each_gives_alone(name: str) -> None:
    names, vary = SPACES[name]
    units = space(names, vary=vary).members
    panel = Panel(units)
    x = together(inputs_to_try(units[0], units[0].k, 150, 5), pool_of(units[0], units[0].k, 150, 5))
    made = panel.evaluate(x)
    for unit, row in zip(units, made, strict=True):
        assert np.array_equal(row, Unit(unit).dot_bits(x.a, x.b, x.c)), unit.name
    some = list(range(len(units) - 1, -1, -2))
    assert np.array_equal(panel.evaluate(x, some), made[some])
    assert panel.integers(witness_at(x, 7), some) == tuple(made[some, 7].tolist())


def test_designs_of_other_shapes_are_of_another_structure() -> None:
    """What no parameter of a structure's DAG says: the shape of results, an exact sum, the word of a NaN."""
    others = ("conversion=RZ-E8M13", "fraction_bits=exact", "nan_word=0x7fffffff", "normalise_products=true")
    one = resolve("tree@steps=(0..3+c),fraction_bits=24")
    assert len({structure_of(resolve(altered(one, x))) for x in others} | {structure_of(one)}) == 5
    for x in ("conversion=RNE-FP32", "fraction_bits=20", "carry_bits=2", "zero_sign=ieee"):
        assert structure_of(resolve(altered(one, x))) == structure_of(one)
