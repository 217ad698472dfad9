"""Factors whose subnormals count as zeros are the same whether they are normalised or not."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.semantics.chain import distinct_definitions, same_definition
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import rows_of, witness_at
from tcformal.simulation.operands.inputs import pool_of
from tcformal.simulation.replay import oracle_result

SUM = "tfdpa@products=2,k=2,fraction_bits=9,a_format=e5m2,b_format=e4m3,c_format=fp16,d_format=fp16"
FLUSHED = f"{SUM},operand_subnormals=signed_zero"


@pytest.mark.parametrize("zero", ["none", "-20", "-8"])
def test_what_counts_as_a_zero_is_not_normalised(zero: str) -> None:
    plain = resolve(f"{FLUSHED},zero_exponent={zero}")
    made = resolve(f"{FLUSHED},zero_exponent={zero},normalise_operands=true")
    assert same_definition(plain, made, 2)
    assert distinct_definitions([plain, made, plain], 2) == [plain]
    tried = pool_of(made, 2, 60, 1)
    results = [oracle_result(made, witness_at(tried, row)) for row in range(len(tried.c))]
    assert list(replay(made, tried)) == results


@pytest.mark.parametrize("design", [f"{FLUSHED},zero_exponent=own", SUM, f"{FLUSHED},b_subnormals=kept"])
def test_what_stays_or_is_read_is_normalised(design: str) -> None:
    """A zero whose exponent decides, and subnormals of both factors or of one."""
    plain, made = resolve(design), resolve(f"{design},normalise_operands=true")
    assert not same_definition(plain, made, 2)
    assert distinct_definitions([made, plain, made], 2) == [made, plain]
    tried = rows_of(pool_of(made, 2, 120, 1), slice(0, 60))
    results = [oracle_result(made, witness_at(tried, row)) for row in range(len(tried.c))]
    assert list(replay(made, tried)) == results
