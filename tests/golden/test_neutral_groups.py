"""HAWKEYE's Algorithm 4 on the model of ampere: no set that its rule cancels is neutral."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.values import parse_value
from tcformal.simulation.matrix_unit import Unit

FP16, FP32 = FORMATS["fp16"], FORMATS["fp32"]
AMPERE = Unit(resolve("ampere/mma.m16n8k16.f32.f16.f16.f32"))
HALF = {text: parse_value(FP16, text) for text in ("0", "2^10", "-2^10", "2^-10")}
SINGLE = {text: parse_value(FP32, text) for text in ("0", "2^20", "-2^20", "-2^23", "2^-20")}

#: +1 and -1 for elements of the set, 0 for the others; element 0 is c.
Signs = NDArray[np.int64]


def results(signs: Signs) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Both results of Algorithm 4 for each row of 17 signs: the set cancelled, and the set zero."""
    products = signs[:, 1:]
    b = np.where(products == 0, HALF["2^-10"], np.where(products > 0, HALF["2^10"], HALF["-2^10"]))
    a = np.where(products == 0, HALF["2^-10"], HALF["2^10"])
    first = signs[:, 0]
    c = np.where(first == 0, SINGLE["2^-20"], np.where(first > 0, SINGLE["2^20"], SINGLE["-2^20"]))
    cancelled = AMPERE.dot_bits(a.astype(np.uint64), b.astype(np.uint64), c.astype(np.uint64))
    empty = np.where(products == 0, HALF["2^-10"], HALF["0"]).astype(np.uint64)
    c = np.where(first == 0, SINGLE["2^-20"], SINGLE["0"])
    return cancelled, AMPERE.dot_bits(empty, empty, c.astype(np.uint64))


def even_sets() -> Iterator[list[int]]:
    """Every set of 2, 4, … 16 of the 17 elements, every second one negated."""
    for bits in range(1, 1 << 17):
        chosen = [i for i in range(17) if bits >> i & 1]
        if len(chosen) % 2 == 0:
            row = [0] * 17
            for place, i in enumerate(chosen):
                row[i] = 1 if place % 2 == 0 else -1
            yield row


def side(plus: int, minus: int) -> list[int]:
    """Eight products, so many of them positive and negated elements of the set."""
    return [*[1] * plus, *[-1] * minus, *[0] * (8 - plus - minus)]


def halves() -> Iterator[list[int]]:
    """Every way to negate half of a set, up to the order of the first and of the last eight products."""
    sides = [(plus, minus) for plus in range(9) for minus in range(9 - plus)]
    for c in (-1, 0, 1):
        for p, m in sides:
            for q, n in sides:
                if p + q + max(c, 0) == m + n + max(-c, 0) > 0:
                    yield [c, *side(p, m), *side(q, n)]


def test_no_even_set_is_neutral() -> None:
    """All 65,535 sets; and every half that can be negated, up to the order within eight products."""
    for rows in (list(even_sets()), list(halves())):
        cancelled, empty = results(np.array(rows))
        assert not (cancelled == empty).any()
    assert len(list(even_sets())) == 2**16 - 1


def test_c_and_eight_products_are_neutral_where_c_cancels_them() -> None:
    """c = -8·2^20, which Algorithm 4 never sets; the last eight products are no such group."""
    a = np.array([[HALF["2^10"]] * 8 + [HALF["2^-10"]] * 8, [HALF["2^-10"]] * 8 + [HALF["2^10"]] * 8])
    a = a.astype(np.uint64)
    zero = np.where(a == HALF["2^10"], HALF["0"], a).astype(np.uint64)
    c = np.array([SINGLE["-2^23"]] * 2, dtype=np.uint64)
    same = AMPERE.dot_bits(a, a, c) == AMPERE.dot_bits(zero, zero, np.zeros(2, dtype=np.uint64))
    assert same.tolist() == [True, False]
