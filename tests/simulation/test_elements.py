"""One definition on arrays: compiled against lanes, single words and odd ends included."""

from __future__ import annotations

import numpy as np
import pytest

from tcformal.backends import machine
from tcformal.ir.build import Graph
from tcformal.simulation.kernels import elements
from tcformal.simulation.kernels.elements import Elements


def definition() -> Elements:
    """x · y + z, of 8, 16 and 32 bits, modulo 2^32."""
    g = Graph()
    x, y, z = g.input("x", 8), g.input("y", 16), g.input("z", 32)
    product = g.zero_extend_to(g.mul_expand(x, y), 32)
    return Elements(g, g.add_mod(product, z), ("x", "y", "z"), (8, 16, 32), 32)


@pytest.mark.skipif(not machine.available(), reason="llvmlite is not installed")
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (67, 33)])
def test_compiled_elements_are_those_on_lanes(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 1 << 8, shape).astype(np.uint8)
    y = rng.integers(0, 1 << 16, (shape[0], 1)).astype(np.uint16)
    z = np.array([[0xFFFFFFF0]], np.uint32)
    wanted = (x.astype(np.uint64) * y + z.astype(np.uint64)).astype(np.uint32)
    lanes = definition()([x, y, z], shape)
    monkeypatch.setattr(elements, "_WORTH_COMPILING", 0)
    made = definition()([x, y, z], shape)
    assert made.dtype == lanes.dtype == np.uint32
    assert (lanes == wanted).all()
    assert (made == wanted).all()
