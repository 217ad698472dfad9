"""The search by seeded vectors: what it finds separates, and it finds nothing where there is nothing."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.oracle.values import NumberClass, decode
from tcformal.query.assume import from_texts
from tcformal.query.explain.explain import explain_witness
from tcformal.query.pair import EqualityQuestion, question, search
from tcformal.simulation.matrix_unit import unit
from tcformal.simulation.operands.batch import batch

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
    again = q.replay(found.inputs())
    assert again.integers == again.oracle
    assert again.confirms


def test_nothing_is_found_where_units_agree() -> None:
    """Five carry bits hold what four do in a sum of five terms, on every vector."""
    assert search(asked("valpey@terms=5,carry_bits=3", "valpey@terms=5,carry_bits=4"), 0) is None
    assert search(asked(AMPERE, "ada/mma.m16n8k16.f32.f16.f16.f32"), 0) is None


@pytest.mark.parametrize(
    ("unit", "ours", "theirs"),
    [
        ("volta/mma.m8n8k4.f16.f16.f16.f16", -19, -20),
        ("ampere/mma.m16n8k16.f16.f16.f16.f16", -20, -21),
        ("hopper/mma.m16n8k16.f16.f16.f16.f16", -21, -22),
    ],
)
def test_neighbouring_exponents_of_zero_terms_are_told_apart(unit: str, ours: int, theirs: int) -> None:
    """A tie, and what is cut off beside it at the one exponent and kept at the other: no solver is needed."""
    q = asked(f"{unit}@zero_exponent={ours}", f"{unit}@zero_exponent={theirs}", "finite")
    found = search(q, 0)
    assert found is not None
    assert q.replay(found.inputs()).confirms


@pytest.mark.parametrize("unit", ["x86/tdpbf16ps", "x86/vdpbf16ps", "gaudi2/mme.fp32_ieee"])
def test_what_becomes_of_a_number_below_the_least_normal_one_is_told_without_a_solver(unit: str) -> None:
    q = asked(unit, f"{unit}@result_subnormals=signed_zero")
    found = search(q, 0)
    assert found is not None
    assert q.replay(found.inputs()).confirms


def test_assumptions_are_obeyed() -> None:
    for assume in (["finite", "normal"], ["c=1.5"], ["finite", "exponents=-3..3"]):
        q = asked(AMPERE, HOPPER, *assume)
        found = search(q, 0, 6000)
        assert found is not None, assume
        assert q.replay(found.inputs()).confirms
    assert search(asked(AMPERE, HOPPER, "exponents=0..0", "c=0"), 0) is None


def test_numbers_come_before_nan_and_inf() -> None:
    """A quarter of the vectors that separate these two do so by a NaN's encoding or an overflow."""
    q = asked(HOPPER, "cdna3/v_mfma_f32_32x32x8_f16")
    found = search(q, 0)
    assert found is not None
    assert all(
        decode(q.first.operands.d, r).kind is NumberClass.FINITE for r in q.replay(found.inputs()).integers
    )


def test_seeds_are_obeyed() -> None:
    q = asked(AMPERE, HOPPER)
    assert search(q, 3) == search(q, 3)
    assert search(q, 3) != search(q, 4)


def test_a_composed_unit_is_called_again() -> None:
    """K of two calls is one chain: each call adds the result of the one before, and is explained as that."""
    u = unit(EMULATED)
    x = batch(u.spec, 8, 60, 5)
    once = u.dot_bits(x.a[:, :4], x.b[:, :4], x.c)
    assert (u.dot_bits(x.a, x.b, x.c) == u.dot_bits(x.a[:, 4:], x.b[:, 4:], once)).all()
    q = asked(EMULATED, TURING_K8)
    found = search(q, 0)
    assert q.k == 8
    assert found is not None
    sums = [step for step in explain_witness(q.first, found).steps if step.scope.endswith("addition")]
    assert [step.operands[1] for step in sums] == ["c", "result of block call0.addition"]


def test_numbers_come_before_zeros_of_two_signs() -> None:
    """Both kinds separate a floor from a chain, and only a number says how far they are apart."""
    q = asked("mi300x:bf16", "fma@k=16,a_format=bf16,b_format=bf16")
    found = search(q, 0)
    assert found is not None
    assert any(word & 0x7FFFFFFF for word in q.replay(found.inputs()).integers)
