"""Exact sums, correctly rounded results and where sums of integers end, as instances that coqc checks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coq_instances import check_instances, refused
from tcformal.design.catalog import catalogue, distinct_designs, floating
from tcformal.design.names import resolve
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.values import decode
from tcformal.theory.claims import claim_instance
from tcformal.theory.regions import exactness, integers_end

EXACT = "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e3m2"


def test_least_width() -> None:
    made = exactness(resolve(EXACT), zero_c=True)
    assert made is not None
    assert made.width == 25
    assert made.sum is not None
    assert made.result is not None
    fewer = exactness(resolve(f"{EXACT}@fraction_bits=24"), zero_c=True)
    assert fewer is not None
    assert fewer.sum is None
    assert "25 fraction bits" in fewer.failed[0]
    # The largest product, its negative and the least one: 24 fraction bits lose the last.
    a, b = [0x78, 0x78, 0x01], [0x1C, 0x3C, 0x01]
    results = [
        unit_dot(resolve(x), [*a, *[0] * 29], [*b, *[0] * 29], 0)
        for x in (EXACT, f"{EXACT}@fraction_bits=24")
    ]
    assert [decode(resolve(EXACT).operands.d, x).magnitude for x in results][1] == 0
    assert results[0] != results[1]


def test_integers_end_where_they_are_exact_up_to() -> None:
    """Of each design that sums integers; sums of groups have no such theorem yet."""
    for name in distinct_designs(floating):
        unit = catalogue()[name]
        exact = claim_instance(unit, "integer-sums") is not None
        assert (exact and unit.design.group is None) == (integers_end(unit) is not None), name


@pytest.mark.debian
def test_instances_are_checked_and_wrong_ones_refused(compiled: Path) -> None:
    made = exactness(resolve(EXACT), zero_c=True)
    end = integers_end(resolve("hopper/emulated.mma.m16n8k16.f32.e5m2.e4m3.f32"))
    order = claim_instance(resolve("hopper/emulated.mma.m16n8k16.f32.e5m2.e4m3.f32"), "monotonicity")
    assert made is not None
    assert made.sum is not None
    assert made.result is not None
    assert end is not None
    assert order is not None
    right = [made.sum, made.result, end, order]
    check_instances(compiled, right)
    narrow = resolve(f"{EXACT}@fraction_bits=24")
    wrong = [
        replace(made.sum, unit=narrow), replace(made.result, unit=narrow),
        replace(end, arguments=("25",), conditions=("integers_end_ok d 25 = true",)),
        replace(order, unit=resolve("hopper/mma.m16n8k8.f32.f16.f16.f32")),
    ]  # fmt: skip
    assert refused(compiled, [*wrong, *right]) == [True] * len(wrong) + [False] * len(right)
