"""Matrix products of integers: compiled kernels against Python integers, wrapping and saturating."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import tcformal
from sampled import one_in
from tcformal.backends.lanes import WORD, Code, LaneValue
from tcformal.design.catalog import distinct_designs
from tcformal.design.integer_sums import range_of
from tcformal.design.names import resolve
from tcformal.design.rounding import Conversion
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.semantics.chain import staged_circuit
from tcformal.simulation.compiled import dot_call, dot_rows
from tcformal.simulation.kernels.cut import cuts
from tcformal.simulation.kernels.gemm import Gemm, MatrixWords
from tcformal.simulation.kernels.rules import any_word
from tcformal.simulation.kernels.threads import Work
from tcformal.simulation.lowering import integer_lanes
from tcformal.simulation.operands.batch import numbers

pytestmark = pytest.mark.usefixtures("own_kernels")

#: Between them every rule: pairs, single numbers, sums too large for a word, steps, narrower results.
UNITS = (
    "x86/vpdpbusds", "x86/vpdpbuuds", "x86/vpdpwssd", "x86/vpdpwssds", "x86/vpdpwsuds", "x86/vpdpwusds",
    "x86/vpdpwuuds", "x86/vpdpwuud", "x86/vpmaddubsw", "ampere/mma.m16n8k64.satfinite.s32.u4.s4.s32",
    "x86/vpdpbusds@summation=sequential", "x86/vpmaddubsw@conversion=WRAP-INT16",
    "x86/vpmaddubsw@summation=sequential,accumulator=SAT-INT16",
)  # fmt: skip
ALL = [x for x in distinct_designs() if resolve(x).d_format.integer]


def operands(u: UnitSpec, rows: int, k: int, columns: int) -> MatrixWords:
    """Random rows and columns, and those whose partial sums leave the range and come back; c at its ends."""
    rng = np.random.default_rng(k)

    def words(fmt: Format, shape: tuple[int, int]) -> NDArray[Any]:
        return rng.integers(0, 1 << fmt.width, shape, np.uint64).astype(f"u{fmt.storage_bits // 8}")

    def ends(fmt: Format) -> NDArray[Any]:
        least, most, half = fmt.sign_bit, fmt.largest, np.arange(k) < k // 2
        turns = (
            np.full(k, least),
            np.full(k, most),
            np.where(half, most, least),
            np.where(half, least, most),
        )
        return np.array([*turns, np.arange(k) % 2 * most, np.zeros(k, int)])

    a, b, c = (
        words(u.a_format, (rows, k)),
        words(u.b_format, (columns, k)),
        words(u.c_format, (rows, columns)),
    )
    a[:6], b[:6], b[-6:] = ends(u.a_format), ends(u.b_format), ends(u.b_format)
    near = np.array([u.c_format.sign_bit, u.c_format.largest])[:, None] + [[0, 1, 2], [0, -1, -2]]
    c[:, ::3] = rng.choice(near.ravel(), c[:, ::3].shape)
    return MatrixWords(a, np.ascontiguousarray(b.T), c)


def by_python(u: UnitSpec, x: MatrixWords) -> NDArray[Any]:
    """The encodings of the results: each step's exact sum, wrapped or saturated, one step after the other."""
    assert x.c is not None
    a, b = numbers(u.a_format, x.a, np.int64), numbers(u.b_format, x.b, np.int64)
    total = numbers(u.c_format, x.c, np.int64)
    _, stages = staged_circuit(u, u.k)
    steps = [(y.rounded.target, [k for z in y.operands for k in z.ks]) for y in stages.steps if y.rounded]
    for start in range(0, a.shape[1], u.k):
        for target, ks in steps:
            some = [start + k for k in ks if start + k < a.shape[1]]
            total = total + a[:, some] @ b[some]
            low, high = range_of(target)
            wrapped = (total - low) % (high - low + 1) + low
            total = np.clip(total, low, high) if target.saturates else wrapped
    return total.astype(f"u{u.d_format.storage_bits // 8}")


def differences(name: str, k: int, side: str = "a", rows: int = 19, columns: int = 41) -> int:
    u = resolve(name)
    x = operands(u, rows, k, columns)
    with Work(1, progress=False) as work:
        d = Gemm(dot_call(u), side).multiply(x, work)
    return int((d != by_python(u, x)).sum())


@pytest.mark.parametrize("name", one_in(3, UNITS))
def test_kernels_give_what_python_integers_give(name: str) -> None:
    assert [differences(name, 4096), differences(name, 131, "b"), differences(name, 96, rows=7)] == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_every_design(name: str) -> None:
    assert differences(name, 4096) == 0


@pytest.mark.parametrize("name", one_in(3, UNITS))
def test_dot_products_by_rows(name: str) -> None:
    u = resolve(name)
    x = operands(u, 24, 8 * u.k, 24)
    i, j = np.indices((24, 24)).reshape(2, -1)
    assert x.c is not None
    d = dot_rows(u)(x.a[i], np.ascontiguousarray(x.b.T[j]), x.c[i, j])
    assert np.array_equal(d.reshape(24, 24), by_python(u, x))


@pytest.mark.parametrize("name", sorted({*ALL, *UNITS}))
def test_every_design_has_a_rule(name: str) -> None:
    """Without one a kernel is ten times slower."""
    made = cuts(dot_call(resolve(name)), rules=True)[0]["finite"]
    assert getattr(made.rules[made.root.index].emit, "func", None) is integer_lanes._encoding


def test_a_sum_that_no_word_holds_has_no_rule() -> None:
    """A c of 32 bits and a sum that is taken modulo 2^16."""
    name = "x86/vpdpwssds@accumulator=WRAP-INT16,summation=sequential"
    made = cuts(dot_call(resolve(name)), rules=True)[0]["finite"]
    assert made.root.index not in made.rules
    assert differences(name, 64) == 0


@pytest.mark.parametrize("name", one_in(3, [x for x in UNITS if resolve(x).design.rho.saturates]))
def test_saturation_that_is_left_out_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = integer_lanes._converted

    def wrapped(target: Conversion, less: bool, code: Code, given: Sequence[LaneValue]) -> LaneValue:
        return right(replace(target, saturates=False, wraps=True), less, code, given)

    monkeypatch.setattr(integer_lanes, "_converted", wrapped)
    assert differences(name, 64)


def test_a_quarter_that_is_off_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = integer_lanes._by_quarter

    def lower(code: Code, c: LaneValue, quarter: LaneValue, rest: LaneValue) -> LaneValue:
        return right(code, c, any_word(code.binary("sub", quarter, code.const(1 << 29), WORD)), rest)

    monkeypatch.setattr(integer_lanes, "_by_quarter", lower)
    assert differences("x86/vpdpwsuds", 2)


def test_a_sum_that_no_word_holds_is_not_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word does not hold 2^31, the sum of all least factors, though it holds the negative."""
    right = integer_lanes._converted

    def added(target: Conversion, less: bool, code: Code, given: Sequence[LaneValue]) -> LaneValue:
        assert less
        total, part = given
        negative = code.apply("sub", WORD, code.word(0, WORD), part.text)
        return right(target, False, code, [total, LaneValue(negative, *integer_lanes._WORDS[True], WORD)])

    assert differences("x86/vpdpwssds", 2) == 0
    monkeypatch.setattr(integer_lanes, "_converted", added)
    assert differences("x86/vpdpwssds", 2)


def test_dtypes_of_integers() -> None:
    a = np.array([[1, -8]], ml_dtypes.int4)
    assert tcformal.simulate("a100:int4", a, a.T).tolist() == [[65]]
    with pytest.raises(InputError, match="expected dtype int8 for A"):
        tcformal.simulate("h100:int8", np.ones((1, 1), np.float32), np.ones((1, 1), np.int8))
