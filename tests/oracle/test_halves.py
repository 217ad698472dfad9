"""Products cut as the halves that a multiplier leaves: the words of NVDLA's C model."""

from __future__ import annotations

import random

import numpy as np
import pytest

from oracle.test_c_apart import result
from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.oracle.exact import unit_dot
from tcformal.semantics.sums.halves import halves
from tcformal.simulation.matrix_unit import unit
from tcformal.simulation.operands.batch import Batch

CMAC = "nvdla/cmac.fp16"


@pytest.mark.parametrize(
    ("a", "b", "d"),
    [
        (["2", "2^-12"], ["1", "1"], 0x4000007FE0000000),
        (["1", "1"], ["2", "2^-12"], 0x4000007FE0000000),
        (["2", "2^-12"], ["1", "-1"], 0x3FFFFF0000000000),
        # The second factor is recoded: a·b and b·a differ.
        (["2", "0x220c"], ["1", "0x3d70"], 0x400020E140000000),
        (["2", "0x3d70"], ["1", "0x220c"], 0x400020E120000000),
        (["0x0001"], ["0x0001"], 0x3CF0000000000000),
        (["0x7bff", "0x0001"], ["0x7bff", "0x03ff"], 0x41EFF80080000000),
        (["0x7bff", "0x1001"], ["0x7bff", "-0.75"], 0x41EFF80080000000),
        (["1", "-1", "0"], ["1", "1", "-0"], 0x0000000000000000),
        (["-0"], ["0"], 0x0000000000000000),
        (["nan", "1"], ["1", "1"], 0x7FF8000000000000),
    ],
)
def test_the_sum_of_one_atomic_operation(a: list[str], b: list[str], d: int) -> None:
    """As NVDLA's C model gives it, the sum as a double."""
    assert result(CMAC, a, b, "0") == d


def test_two_halves_are_a_product_and_an_offset() -> None:
    g = Graph()
    x, y, sign = g.input("x", 14), g.input("y", 14), g.input("sign", 1)
    both = halves(g, x, y, sign)
    circuit, rng = Concrete(g, list(both)), random.Random(1)
    for _ in range(200):
        values = {"x": rng.randrange(1 << 14), "y": rng.randrange(1 << 14), "sign": rng.randrange(2)}
        made = circuit(values)
        product = values["x"] * values["y"] * (-1 if values["sign"] else 1)
        assert sum(made) == product + 0x55550000


def test_lanes_and_oracle_agree_on_sums_of_64() -> None:
    spec, rng = resolve(CMAC), np.random.default_rng(2)
    words = [rng.integers(0, 1 << 16, (40, 64)).astype(np.uint64) & np.uint64(0xF7FF) for _ in range(2)]
    batch = Batch(words[0], words[1], np.zeros(40, np.uint64))
    made = unit(CMAC).dot_bits(batch.a, batch.b, batch.c)
    for row in range(40):
        a, b = ([int(x) for x in side[row]] for side in words)
        assert unit_dot(spec, a, b, 0) == int(made[row])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("exponent_step=3", "expected a power of two for exponent_step, but got 3"),
        ("c_position=joined", "expected c_position=after with lost_bits=halves, but got joined"),
        (
            "lost_bits=cut,operand_subnormals=signed_zero",
            "expected operand_subnormals=kept with exponent_step=4",
        ),
    ],
)
def test_what_no_source_gives_a_meaning_rejects(change: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}"):
        resolve(f"{CMAC}@{change}")


def test_wider_factors_reject() -> None:
    name = "tfdpa@a_format=fp32,b_format=fp32,products=1,zero_exponent=none,lost_bits=halves,c_position=after"
    zeros = np.zeros((1, 1), np.uint64)
    with pytest.raises(InputError, match=r"^expected factors of at most 15 bits to be cut as halves, but"):
        unit(name).dot_bits(zeros, zeros, zeros[:, 0])


def test_more_bits_than_a_product_has() -> None:
    """Nothing is lost at the largest exponent, and 2·1 + 2^-12·1 is exact."""
    assert result(f"{CMAC}@fraction_bits=40", ["2", "2^-12"], ["1", "1"], "0") == 0x4000008000000000
