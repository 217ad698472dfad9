"""Sums in sign and magnitude: the step, the designs that have it, and those that refuse it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.semantics.reduce import add_sign_magnitude
from tcformal.simulation.matrix_unit import Unit, unit
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result

UNITS = (
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "hopper/mma.m16n8k16.f16.f16.f16.f16",
    "ada/mma.m16n8k32.f32.e4m3.e5m2.f32",
    "tfdpa@products=3,alignment_rounding=RNE",
)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (3, 2)])
def test_a_step_is_the_exact_sum(n: int, m: int) -> None:
    g = Graph()
    x = (g.input("s", 1), g.input("p", n))
    y = (g.input("t", 1), g.input("q", m))
    sign, magnitude = add_sign_magnitude(g, x, y)
    assert magnitude.width == max(n, m) + 1
    run = Concrete(g, [sign, magnitude])
    for s, p, t, q in product(range(2), range(1 << n), range(2), range(1 << m)):
        negative, size = run({"s": s, "p": p, "t": t, "q": q})
        assert (-1) ** negative * size == (-1) ** s * p + (-1) ** t * q


def raw(u: Unit, name: str, shape: tuple[int, ...], draw: np.random.Generator) -> NDArray[np.uint64]:
    fmt = getattr(u, f"{name}_format")
    return draw.integers(0, 1 << fmt.width, shape, dtype=np.uint64, endpoint=False)


@pytest.mark.parametrize("name", UNITS)
def test_results_are_those_of_twos_complement_and_of_the_oracle(name: str) -> None:
    mine = unit(name + ("," if "@" in name else "@") + "accumulation=sign_magnitude")
    its, draw = unit(name), np.random.default_rng(3)
    k = its.spec.k
    a, b, c = raw(its, "a", (2000, k), draw), raw(its, "b", (2000, k), draw), raw(its, "c", (2000,), draw)
    got = mine.dot_bits(a, b, c)
    np.testing.assert_array_equal(got, its.dot_bits(a, b, c))
    for i in range(100):
        w = Witness(tuple(map(int, a[i])), tuple(map(int, b[i])), int(c[i]))
        assert oracle_result(mine.spec, w) == got[i]


def test_the_default_is_twos_complement() -> None:
    assert resolve(UNITS[0]).design.accumulation == "twos_complement"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("accumulation=unary", "twos_complement, sign_magnitude|accumulation"),
        ("accumulation=sign_magnitude,carry_bits=3", "expected carry_bits=None with accumulation"),
        ("accumulation=sign_magnitude,fraction_bits=exact", "fraction_bits to be given with accumulation"),
    ],
)
def test_meaningless_combinations_are_refused(settings: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        resolve(f"tfdpa@{settings}")
