"""Units of integers: circuits, kernels and the oracle against plain integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sampled import one_in
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.exact import unit_dot
from tcformal.simulation.matrix_unit import Unit, replay
from tcformal.simulation.operands.batch import Batch, rows_of, witness_at
from tcformal.simulation.operands.inputs import inputs_to_try, integers

UNITS = list(distinct_designs(lambda u: u.operands.d.integer))
#: Dot products of each unit on the oracle.
ON_ORACLE = 300


def numbers(fmt: Format, words: NDArray[Any]) -> NDArray[np.int64]:
    wide = words.astype(np.int64)
    return wide - (wide >= fmt.sign_bit) * (1 << fmt.width) if fmt.sign_bit else wide


def expected(u: UnitSpec, x: Batch) -> list[int]:
    """The results by integers of 64 bits: one sum, reduced or cut to the range of the result."""
    o = u.operands
    total = numbers(o.c, x.c) + (numbers(o.a, x.a) * numbers(o.b, x.b)).sum(axis=1)
    if u.design.conversion.startswith("SAT"):
        low = -(1 << (o.d.width - 1)) if o.d.sign_bit else 0
        total = total.clip(low, low + (1 << o.d.width) - 1)
    results: list[int] = (total % (1 << o.d.width)).tolist()
    return results


@pytest.mark.parametrize("count", [500, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", one_in(3, UNITS))
def test_circuits_and_the_oracle_are_integers(name: str, count: int) -> None:
    u = catalogue()[name]
    for x in (inputs_to_try(u, u.k, count, 5), integers(u, u.k, count, 6)):
        wanted = expected(u, x)
        assert replay(u, x).tolist() == wanted
        rows = np.linspace(0, count - 1, ON_ORACLE // u.k + 20, dtype=np.intp)
        some = [witness_at(rows_of(x, rows), i) for i in range(len(rows))]
        assert [unit_dot(u, w.a, w.b, w.c) for w in some] == [wanted[i] for i in rows]


def test_the_drawn_inputs_overflow_at_both_ends() -> None:
    u = resolve("x86/vpdpbusds")
    d = replay(u, integers(u, u.k, 1000, 1)).tolist()
    assert d.count(0x7FFFFFFF) > 100
    assert d.count(0x80000000) > 100


def test_partial_sums_that_saturate_are_another_unit() -> None:
    once = resolve("x86/vpdpbusds")
    steps = resolve("x86/vpdpbusds@summation=sequential,c_position=first,accumulator=SAT-INT32")
    a, b, c = np.array([[1, 1, 0, 0]], np.uint8), np.array([[1, 255, 0, 0]], np.uint8), 0x7FFFFFFF
    got = [int(Unit(u).dot_bits(a, b, np.array([c], np.uint32))[0]) for u in (once, steps)]
    assert got == [0x7FFFFFFF, 0x7FFFFFFE]
    assert [unit_dot(u, a[0].tolist(), b[0].tolist(), c) for u in (once, steps)] == got


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("fraction_bits=8", "expected fraction_bits=None for int32 = int8 · int8 + int32, but got 8"),
        ("conversion=RNE-FP32", "expected a conversion into int32"),
        ("conversion=WRAP-UINT32", "expected a conversion into int32"),
        ("conversion=WRAP-INT16", "expected a conversion into int32"),
        ("conversion=RNE-Q31.0", "expected a conversion into int32"),
        ("operand_subnormals=signed_zero", "expected operand_subnormals=kept"),
        ("nan_word=1", "expected nan_word=0"),
        ("negated=odd", "expected negated=none"),
        (
            "summation=sequential,c_position=first,accumulator=RNE-FP32",
            "expected an accumulator such as SAT-INT32",
        ),
    ],
)
def test_a_design_of_integers_rejects(settings: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence.replace("+", r"\+")):
        resolve(f"hopper/wgmma.m64n8k32.s32.s8.s8@{settings}")


def test_formats_of_integers() -> None:
    assert format_named("int6").largest == 31
    assert format_named("uint6").largest == 63
    assert format_named("s8") == format_named("int8")
    assert format_named("u4") == format_named("uint4")
    with pytest.raises(
        InputError, match="expected an integer from 2 to 64 for the bits of int99, but got 99"
    ):
        format_named("int99")
    with pytest.raises(InputError, match="expected a floating-point format to change, but got int8"):
        format_named("int8[bias=3]")
