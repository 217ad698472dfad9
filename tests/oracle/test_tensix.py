"""Tenstorrent's MVMUL: the words of the vendor's simulator, and what of them each parameter is."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.test_c_apart import result
from sampled import one_in
from tcformal.design.names import resolve
from tcformal.oracle.exact import unit_dot
from tcformal.simulation.matrix_unit import unit

FULL, HALF = "blackhole/MVMUL.bf16.fp32", "blackhole/MVMUL.bf16.bf16"
FP16 = "blackhole/MVMUL.fp16.fp32"


@pytest.mark.parametrize(
    ("name", "a", "b", "c", "d"),
    [
        # A sum of -1 unit is -2^27 units on Wormhole.
        (FULL, ["-1"], ["1"], "0x3f7ffffe", 0xB4000000),
        ("wormhole/MVMUL.bf16.fp32", ["-1"], ["1"], "0x3f7ffffe", 0xC1800000),
        # An inner sum of zero keeps the exponent of its largest product, beside which c loses bits.
        (FULL, ["1024", "-1024"], ["1", "1"], "0x39400000", 0x39800000),
        (FULL, ["0"], ["0"], "0x39400000", 0x39400000),
        (FP16, ["0"], ["0"], "2^-60", 0),
        (FP16, ["0"], ["0"], "0x26800008", 0x26800000),
        # Ties of inner sums go up, those of c away from zero.
        (FULL, ["1", *["0"] * 7, "2^-12"], ["1", *["0"] * 7, "2^-12"], "0", 0x3F800001),
        (FULL, ["1", *["0"] * 7, "-2^-12"], ["1", *["0"] * 7, "2^-12"], "0", 0x3F800000),
        (FULL, ["1"], ["1"], "2^-24", 0x3F800001),
        (FULL, ["1"], ["1"], "-2^-24", 0x3F7FFFFE),
        # (1 + 2^-7)·(1 + 2^-5) in its four phases.
        (FULL, ["1.0078125"], ["1.03125"], "0", 0x3F800000),
        (f"{FULL}@b_bits=5..9", ["1.0078125"], ["1.03125"], "0", 0x3D000000),
        (f"{FULL}@a_bits=7..13", ["1.0078125"], ["1.03125"], "0", 0x3C000000),
        (f"{FULL}@a_bits=7..13,b_bits=5..9", ["1.0078125"], ["1.03125"], "0", 0x39800000),
        # Dst of 16 bits: 16 more than 4096 are 32 more.
        (HALF, ["1"] * 16, ["1"] * 16, "4096", 0x4581),
        # There is no Inf.
        (FULL, ["inf"], ["2^-20"], "0", 0x75800000),
        ("blackhole/MVMUL.fp16.fp16", ["60000"], ["1.5"], "0", 0x7D7C),
        ("blackhole/MVMUL.fp16.fp16", ["60000"], ["16"], "0", 0x7FFF),
    ],
)
def test_words_of_the_simulator(name: str, a: list[str], b: list[str], c: str, d: int) -> None:
    assert result(name, a, b, c) == d


@pytest.mark.slow
def test_6144_ones_in_dst_of_16_bits_are_8192() -> None:
    """From 4096 on every call adds a tie, which is rounded away from zero."""
    ones = np.full((1, 6144), 0x3F80, np.uint16)
    assert unit(HALF).dot_bits(ones, ones, np.zeros(1, np.uint16)).tolist() == [0x4600]
    assert unit(FULL).dot_bits(ones, ones, np.zeros(1, np.uint32)).tolist() == [0x45C00000]


@pytest.mark.parametrize(
    "name", one_in(2, [FULL, HALF, FP16, "blackhole/MVMUL.fp16.fp16", "wormhole/MVMUL.tf32.fp32"])
)
def test_lanes_and_oracle_agree_near_ties_and_ends(name: str) -> None:
    """Products of few bits at few exponents: half of the sums of groups cancel to a tie or to little."""
    u, rng = unit(name), np.random.default_rng(5)
    low, width = u.a_format.width - 1 - u.a_format.exponent_bits, u.a_format.width
    for middle in (u.a_format.bias, u.a_format.bias // 2, 2):
        exponents = rng.integers(max(0, middle - 7), middle + 8, (2, 150, 16)).astype(np.uint64)
        fractions = rng.integers(0, 4, (2, 150, 16)).astype(np.uint64) << np.uint64(low - 2)
        signs = rng.integers(0, 2, (2, 150, 16)).astype(np.uint64) << np.uint64(width - 1)
        a, b = signs | exponents << np.uint64(low) | fractions
        c = rng.integers(0, 1 << u.c_format.width, 150).astype(np.uint64)
        found = u.dot_bits(a, b, c)
        for i in range(150):
            wanted = unit_dot(u.spec, [int(x) for x in a[i]], [int(x) for x in b[i]], int(c[i]))
            assert int(found[i]) == wanted


def test_parameters_of_stages_alone_leave_the_order_as_it_is() -> None:
    made = resolve(f"{FP16}@sop.zero_exponent=-35")
    assert made.tree is not None
    assert str(made.tree.root) == "(sop(0..7)+sop(8..15)+c)"
    assert ("sop", "zero_exponent", -35) in made.tree.settings
    assert ("sop", "normalised", False) in made.tree.settings
