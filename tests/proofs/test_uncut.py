"""Sums of which nothing is cut off: intervals of exponents against every input, or against vectors."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.matmul.replay import replay
from tcformal.operands.batch import together
from tcformal.operands.few import few
from tcformal.operands.pool import pool_of
from tcformal.operands.random import Batch
from tcformal.proofs.claim import PartStatus
from tcformal.proofs.claims.equality import equal_in_steps
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.claims.sums.changes import one_by_one
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.separate import separate
from tcformal.proofs.tactics.uncut import exact_form, reach
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=20.0)
SMALL = "tfdpa@products=2,a_format=e2m1,b_format=e2m1,c_format=e2m1,d_format=fp16,conversion=RNE-FP16"
E4M3 = "tfdpa@products=16,a_format=e4m3,b_format=e4m3"


def every_small_input() -> Batch:
    """All a and c of e2m1, and enough b: the least, the largest, both signs, a zero."""
    a, b, c = range(16), (0, 1, 7, 15), range(16)
    rows = np.array(list(itertools.product(a, a, b, b, c)), np.uint64)
    return Batch(rows[:, :2], rows[:, 2:4], rows[:, 4])


def same(unit: UnitSpec, tried: Batch) -> bool:
    """Whether a unit gives the results of exact sums on all of the inputs."""
    return bool((replay(unit, tried) == replay(exact_form(unit), tried)).all())


@pytest.mark.parametrize(
    "change",
    [
        "", ",normalise_products=true", ",zero_exponent=3", ",zero_exponent=own", ",alignment_rounding=RU",
        ",piece_bits=1", ",c_position=after", ",normalise_operands=true", ",carry_bits=3", ",carry_bits=2",
        ",accumulation=sign_magnitude",
    ],
)  # fmt: skip
def test_sums_are_exact_from_the_width_on_that_is_said(change: str) -> None:
    """On every input: none is cut with so many bits, and with one fewer some is."""
    r = reach(resolve(SMALL + ",fraction_bits=1" + change), Assumptions(), 2)
    assert r is not None
    tried = every_small_input()
    for bits in range(max(1, r.width - 2), r.width + 3):
        unit = resolve(f"{SMALL},fraction_bits={bits}{change}")
        if r.kept(unit):
            assert same(unit, tried), bits
        if bits == r.width - 1:
            assert not same(unit, tried), bits
    enough = resolve(f"{SMALL},fraction_bits={r.width}{change}")
    assert r.kept(enough) == same(enough, tried)


@pytest.mark.parametrize(
    ("assumed", "width"),
    [
        (["c=0"], 34), (["c=1"], 34), (["c=2^20"], 38), (["c=2^-30"], 46), (["c=1048577*2^-40"], 56),
        (["exponents=-3..3"], 32), (["exponents=-20..3", "c=0"], 24), (["exponents=-6..-6"], 23), ([], 276),
        (["c=0", "finite"], 34),
    ],
)  # fmt: skip
def test_what_is_assumed_of_exponents_and_c_decides_the_width(assumed: list[str], width: int) -> None:
    unit = resolve(E4M3)
    r = reach(unit, from_texts(unit.c_format, assumed), unit.k)
    assert r is not None
    assert r.width == width


def test_a_later_block_takes_any_result_in() -> None:
    """c = 0 is that of the first block alone."""
    unit = resolve("tfdpa@products=8,k=16,a_format=e4m3,b_format=e4m3")
    none = from_texts(unit.c_format, ["c=0"])
    one, two = reach(unit, none, 8), reach(unit, none, 16)
    assert one is not None
    assert two is not None
    assert (one.width, two.width) == (34, 276)


@pytest.mark.parametrize(
    "name",
    [
        "x86/tdpbf16ps", "nvdla/cmac.fp16", "vortex/VX_tcu_fedp_tfr.fp16", "rdna4/v_wmma_f32_16x16x16_f16",
        "rdna3/v_wmma_f32_16x16x16_f16", "cdna3/v_mfma_f32_32x32x8_f16", "et-soc-1/TensorFMA16A32",
        "hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32",
    ],
)  # fmt: skip
def test_nothing_is_said_of_other_sums(name: str) -> None:
    unit = resolve(name)
    assert reach(unit, Assumptions(), unit.k) is None


@pytest.mark.parametrize(
    "name",
    [
        "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
        "gaudi2/mme.fp8_143",
    ],
)
def test_scales_and_groups_reach_as_far_as_is_said(name: str) -> None:
    """With so many bits, seeded inputs see no bit lost; with half as many, they do."""
    unit = resolve(name)
    what = Assumptions() if unit.design.c_position == "after" else from_texts(unit.c_format, ["c=0"])
    r = reach(unit, what, unit.k)
    assert r is not None
    tried = together(pool_of(unit, unit.k, 3000, 0), few(unit, unit.k, 1000, 0))
    if what.c is not None:
        tried.c[:] = 0
    for bits, kept in ((r.width, True), (r.width // 4, False)):
        other = replace(unit, design=replace(unit.design, fraction_bits=bits))
        assert r.kept(other) is kept
        assert same(other, tried) is kept


# --------------------------------------------------------------------- two units
@pytest.mark.parametrize("what", [["c=0"], ["c=0", "finite"], ["c=1.5"], ["exponents=-6..6"]])
def test_units_of_exact_sums_are_equal_without_a_solver(what: list[str]) -> None:
    one, two = f"{E4M3},fraction_bits=42", f"{E4M3},fraction_bits=60,alignment_rounding=RU,carry_bits=9"
    v = separate(one, two, assumptions=Assumptions.of(one, *what), limits=LIMITS)
    assert v.kind is Kind.EQUIVALENT
    assert v.answers == ()
    assert v.steps is not None
    assert "multiples of 2^" in v.reason
    assert v.allowed is not None


@pytest.mark.parametrize(
    ("one", "two", "what"),
    [
        ("fraction_bits=33", "fraction_bits=60", ["c=0"]),
        ("fraction_bits=34", "fraction_bits=60", ["c=2^20"]),
        ("fraction_bits=34", "fraction_bits=60", []),
        ("fraction_bits=34", "fraction_bits=60,carry_bits=3", ["c=0"]),
        ("fraction_bits=34", "fraction_bits=60,zero_exponent=90", ["c=0"]),
        ("fraction_bits=34", "fraction_bits=60,conversion=RNE-FP32", ["c=0"]),
    ],
)
def test_units_that_differ_are_told_apart(one: str, two: str, what: list[str]) -> None:
    first = f"{E4M3},{one}"
    v = separate(first, f"{E4M3},{two}", assumptions=Assumptions.of(first, *what), limits=LIMITS)
    assert v.kind is Kind.SEPARATED


@pytest.mark.long
def test_assumptions_that_nothing_obeys_prove_no_units_equal() -> None:
    one = f"{E4M3},fraction_bits=42"
    what = Assumptions.of(one, "positive", "c=-1", "exponents=-6..6")
    v = separate(one, f"{E4M3},fraction_bits=60", assumptions=what, limits=LIMITS)
    assert v.kind is Kind.VACUOUS


def test_the_proof_is_made_again_from_its_name() -> None:
    claim = "equality; tfdpa@products=16,a_format=e4m3,b_format=e4m3,fraction_bits=60; c=0x0"
    book = LemmaBook(limits=LIMITS)
    v = prove_claim(resolve(f"{E4M3},fraction_bits=34"), claim, book=book, limits=LIMITS)
    assert v.kind is Kind.HOLDS
    assert [p.steps[0].how for p in v.parts] == ["intervals of exponents"] * 2
    with pytest.raises(InputError):
        prove_claim(resolve(f"{E4M3},fraction_bits=33"), claim, book=book, limits=LIMITS)
    with pytest.raises(InputError):
        prove_claim(
            resolve(f"{E4M3},fraction_bits=34"), claim.removesuffix("; c=0x0"), book=book, limits=LIMITS
        )


# --------------------------------------------------------------------- chains and blocks of one product
CHAINS = [
    ("arm/fmopa.s", "fma@k=1,a_format=fp32,b_format=fp32"),
    ("arm/fmopa.s", "fma@k=4,a_format=fp32,b_format=fp32"),
    ("cdna3/v_mfma_f32_16x16x4_f32", "fma@k=4,a_format=fp32,b_format=fp32"),
    ("cdna2/v_mfma_f64_4x4x4f64", "fma@k=4,a_format=fp64,b_format=fp64,c_format=fp64,d_format=fp64"),
    ("arm/fmopa.s", "sequential@products=1,a_format=fp32,b_format=fp32,accumulator=RNE-FP64"),
]


@pytest.mark.parametrize(("unit", "chain"), CHAINS)
def test_a_chain_is_one_product_after_the_other_joined_with_c(unit: str, chain: str) -> None:
    made = equal_in_steps(resolve(chain), resolve(unit), LemmaBook(limits=LIMITS), LIMITS, resolve(chain).k)
    assert made is not None
    assert made.kind is Kind.HOLDS


def test_the_proof_of_a_chain_comes_before_solvers() -> None:
    v = separate(*CHAINS[0], limits=LIMITS)
    assert v.kind is Kind.EQUIVALENT
    assert v.steps is not None


def test_a_chain_that_rounds_otherwise_is_no_such_blocks() -> None:
    assert one_by_one(resolve("x86/vdpbf16ps")) is None
    assert one_by_one(resolve("fp64@k=4,a_format=fp32,b_format=fp32")) is None
    assert one_by_one(resolve("arm/fmopa.s")) is None
    v = separate("arm/fmopa.s", "fma@k=1,a_format=fp32,b_format=fp32,rounding=RZ", limits=LIMITS)
    assert v.kind is Kind.SEPARATED


# --------------------------------------------------------------------- claims
def claimed(name: str, claim: str) -> tuple[Kind, list[tuple[PartStatus, bool]]]:
    """A claim's verdict, and its parts."""
    v = prove_claim(resolve(name), claim, book=LemmaBook(limits=LIMITS), limits=LIMITS)
    return v.kind, [(p.status, p.control) for p in v.parts]


PROVED = (Kind.HOLDS, [(PartStatus.HOLDS, False), (PartStatus.VIOLATED, True)])
REFUTED = (Kind.VIOLATED, [(PartStatus.VIOLATED, False)])
NEAREST = f"{E4M3},conversion=RNE-FP32"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "claim", "found"),
    [
        (f"{E4M3},fraction_bits=34", "exact-sum; c=0x0", PROVED),
        (f"{E4M3},fraction_bits=33", "exact-sum; c=0x0", REFUTED),
        (f"{E4M3},fraction_bits=40", "exact-sum", REFUTED),
        (f"{E4M3},fraction_bits=34,carry_bits=4", "exact-sum; c=0x0", REFUTED),
        (f"{E4M3},fraction_bits=34,carry_bits=5", "exact-sum; c=0x0", PROVED),
        ("gaudi2/mme.fp8_143", "exact-sum", REFUTED),
        ("gaudi2/mme.fp8_143@fraction_bits=32", "exact-sum", PROVED),
        (f"{NEAREST},fraction_bits=34", "correctly-rounded; c=0x0", PROVED),
        (f"{NEAREST},fraction_bits=33", "correctly-rounded; c=0x0", REFUTED),
        (f"{NEAREST},fraction_bits=34,operand_subnormals=signed_zero", "correctly-rounded; c=0x0", REFUTED),
        (f"{E4M3},fraction_bits=34,conversion=RZ-E8M13", "correctly-rounded; c=0x0", REFUTED),
        ("tfdpa@products=4,a_format=e5m2,b_format=e5m2,d_format=fp16,c_format=fp16,fraction_bits=64,"
         "conversion=RZ-FP16", "correctly-rounded", REFUTED),
        ("x86/tdpbf16ps", "correctly-rounded", REFUTED),
    ],
)  # fmt: skip
def test_claims_hold_with_the_least_width_or_have_a_witness(
    name: str, claim: str, found: tuple[Kind, list[tuple[PartStatus, bool]]]
) -> None:
    assert claimed(name, claim) == found


def test_a_fused_step_is_rounded_once_and_a_chain_is_not() -> None:
    assert claimed("arm/fmopa.s", "correctly-rounded")[0] is Kind.HOLDS
    assert claimed("fma@k=1,a_format=fp32,b_format=fp32", "correctly-rounded")[0] is Kind.HOLDS
    assert claimed("fma@k=2,a_format=fp32,b_format=fp32", "correctly-rounded")[0] is Kind.VIOLATED


def test_what_is_exact_as_defined_has_no_claim_of_its_sums() -> None:
    with pytest.raises(InputError, match="expected terms that are aligned one by one and cut"):
        claimed("arm/fmopa.s", "exact-sum")
