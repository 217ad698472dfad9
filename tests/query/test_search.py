"""The search by seeded vectors: what it finds separates, and it finds nothing where there is nothing."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.oracle.values import NumberClass, decode
from tcformal.query.assume import from_texts
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.replay import replay
from tcformal.query.search import search

AMPERE, HOPPER = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"
EMULATED = "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32"
FP4 = "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f16.e2m1.e2m1"
TURING_K8 = "turing/mma.m16n8k8.f32.f16.f16.f32"


def asked(first: str, second: str, *assume: str) -> EqualityQuestion:
    """The question of two named units."""
    one, other = resolve(first), resolve(second)
    return question(one, other, from_texts(one.operands.c, assume))


@pytest.mark.parametrize(
    "names",
    [
        (AMPERE, HOPPER),
        (EMULATED, TURING_K8),
        ("cdna1/v_mfma_f32_32x32x4bf16", "arm/bfdot.ebf1"),
        ("hopper/emulated.mma.m16n8k16.f32.e4m3.e4m3.f32", "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"),
        (FP4, f"{FP4}@normalise_operands=true"),
    ],
)
def test_what_is_found_separates(names: tuple[str, str]) -> None:
    q = asked(*names)
    found = search(q, 0)
    assert found is not None
    again = replay(q, found)
    assert again.integers == again.oracle
    assert again.separates


def test_nothing_is_found_where_units_agree() -> None:
    """Five carry bits hold what four do in a sum of five terms, on every vector."""
    assert search(asked("valpey@terms=5,carry_bits=3", "valpey@terms=5,carry_bits=4"), 0) is None
    assert search(asked(AMPERE, "ada/mma.m16n8k16.f32.f16.f16.f32"), 0) is None


def test_assumptions_are_obeyed() -> None:
    for assume in (["finite", "normal"], ["c=1.5"], ["finite", "exponents=-3..3"]):
        q = asked(AMPERE, HOPPER, *assume)
        found = search(q, 0, 6000)
        assert found is not None, assume
        assert replay(q, found).separates
    assert search(asked(AMPERE, HOPPER, "exponents=0..0", "c=0"), 0) is None


def test_numbers_come_before_nan_and_inf() -> None:
    """A quarter of the vectors that separate these two do so by a NaN's encoding or an overflow."""
    q = asked(HOPPER, "cdna3/v_mfma_f32_32x32x8_f16")
    found = search(q, 0)
    assert found is not None
    assert all(decode(q.first.operands.d, r).kind is NumberClass.FINITE for r in replay(q, found).integers)


def test_seeds_are_obeyed() -> None:
    q = asked(AMPERE, HOPPER)
    assert search(q, 3) == search(q, 3)
    assert search(q, 3) != search(q, 4)
