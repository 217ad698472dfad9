"""Stacks of products on units, and where two units' products part."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tcformal
from tcformal.errors import InputError
from tcformal.query.explain.divergence import divergence
from tcformal.query.explain.explain import explain_witness

AMPERE, HOPPER = (f"{arch}/mma.m16n8k8.f32.f16.f16.f32" for arch in ("ampere", "hopper"))


def normal(seed: int, shape: tuple[int, ...], dtype: Any = np.float16) -> NDArray[Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def one_by_one(name: str, a: Any, b: Any, c: Any = None) -> NDArray[Any]:
    """Every matrix of a stack on its own."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, stack + x.shape[-2:]) for x in (a, b))
    shape = (*stack, a.shape[-2], b.shape[-1])
    c = np.zeros(shape, np.float32) if c is None else np.broadcast_to(c, shape)
    d = np.empty(shape, np.float32)
    for place in np.ndindex(stack):
        d[place] = tcformal.unit(name).matmul(a[place], b[place], c[place])
    return d


# ------------------------------------------------------------------ simulate
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 20), (6, 20, 2)),
        ((3, 4), (2, 4, 5)),
        ((1, 1, 1), (1, 1, 1)),
    ],
)
def test_stacks_broadcast_as_in_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = normal(1, a), normal(2, b)
    d = tcformal.simulate(HOPPER, x, y)
    assert d.shape == np.matmul(x, y).shape
    assert d.dtype == np.float32
    assert np.array_equal(d, one_by_one(HOPPER, x, y))
    assert np.allclose(d, np.matmul(x.astype(float), y.astype(float)), atol=1e-4)


@pytest.mark.parametrize(
    ("a", "b", "c", "sentence"),
    [
        ((4,), (4, 5), None, "expected A of shape [..., M, K]"),
        ((3, 4), (5, 4), None, "expected A of shape [..., M, K]"),
        ((0, 4), (4, 5), None, "with axes of at least 1, but got [0, 4] and [4, 5]"),
        ((2, 3, 4), (0, 4, 5), None, "with axes of at least 1"),
        ((2, 3, 4), (3, 4, 5), None, "expected leading axes of A and B that broadcast, but got [2] and [3]"),
        ((3, 4), (4, 5), (4, 5), "expected C of a shape that broadcasts to [3, 5], but got [4, 5]"),
    ],
)
def test_shapes_reject(a: Any, b: Any, c: Any, sentence: str) -> None:
    given = None if c is None else normal(3, c, np.float32)
    with pytest.raises(InputError, match=re.escape(sentence)):
        tcformal.simulate(HOPPER, normal(1, a), normal(2, b), given)


# ------------------------------------------------------------------ differences
def test_the_first_difference_is_found_and_explained() -> None:
    """A product that only a fraction bit more keeps stands in the third stretch of one element."""
    a, b = np.ones((4, 40), np.float16), np.zeros((40, 3), np.float16)
    c = np.zeros((4, 3), np.float32)
    a[2, 20], b[20, 1] = 2.0**14, 1
    c[:, 1] = -(2.0**-11)
    found = tcformal.differences(AMPERE, HOPPER, a, b, c)
    assert [u.name for u in found.units] == [AMPERE, HOPPER]
    assert found.count == 1
    assert (found.steps != 0).sum() == 1
    assert found.largest == found.steps[2, 1] == 1
    first = found.first
    assert first is not None
    assert (first.row, first.column, first.start, first.stop) == (2, 1, 16, 24)
    assert first.witness.a[4] == np.float16(2.0**14).view(np.uint16)
    assert first.witness.c == c[2, 1].view(np.uint32)
    traces = [explain_witness(u, first.witness) for u in found.units]
    assert tuple(t.result for t in traces) == first.results
    parted = divergence(*traces)
    assert parted is not None
    assert parted.stage == "the alignment of c at block0"
    assert first.command.startswith(f"tcformal explain {AMPERE} {HOPPER} --a 0x3c00,")
