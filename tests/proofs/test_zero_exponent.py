"""Claim `zero-exponent`: proved below all terms, and never where the exponent of zero terms shows."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import tcformal.proofs.claims.zero_exponent as zero
from tcformal.design.names import resolve
from tcformal.design.rounding import ZERO_EXPONENTS
from tcformal.design.space import space
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.programs.chain import chained_dot, circuit, declare_inputs
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.claims.equality import deciders, equal_in_steps
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import LemmaBook
from tcformal.query.question import Kind
from tcformal.query.replay import oracle_result
from tcformal.solve.result import Limits
from tcformal.suites.suite import suite

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
FP8 = "tfdpa@a_format=e4m3,b_format=e4m3,products=2,fraction_bits=13,conversion=RZ-E8M13,zero_exponent=-133"
TO_NEAREST = "turing/mma.m16n8k8.f16.f16.f16.f16"
SCALED = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.ue8m0"


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def prove(name: str, book: LemmaBook) -> ClaimVerdict:
    return prove_claim(resolve(name), "zero-exponent", book=book, limits=LIMITS)


def with_zero(spec: UnitSpec, exponent: int) -> UnitSpec:
    design = replace(spec.design, zero_exponent=exponent)
    return replace(spec, name=f"{spec.name},zero_exponent={exponent}", design=design)


@pytest.mark.long
@pytest.mark.parametrize("name", ["volta/mma.m8n8k4.f32.f16.f16.f32", FP8])
def test_what_lies_below_every_term_is_not_seen(name: str, book: LemmaBook) -> None:
    v = prove(name, book)
    assert v.kind is Kind.HOLDS, v.reason
    assert [p.name for p in v.parts] == ["every exponent from -40000 to -127"]
    assert all(lemma.holds for lemma in v.lemmas)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            "tfdpa@products=1,a_format=e5m2,b_format=e4m3,c_format=fp16,d_format=fp16,fraction_bits=13,"
            "conversion=RNE-FP16,zero_exponent=-21",
            id="counted from above none's code",
        ),
        pytest.param(
            "tfdpa@products=1,k=2,a_format=e4m3,b_format=e4m3,fraction_bits=13,conversion=RZ-E8M13,"
            "zero_exponent=-132",
            id="c at the code of none",
            marks=pytest.mark.long,
        ),
    ],
)
def test_codes_of_zero_terms_need_not_be_below_those_of_c(name: str, book: LemmaBook) -> None:
    v = prove(name, book)
    assert v.kind is Kind.HOLDS, v.reason
    assert all(lemma.holds for lemma in v.lemmas)


def test_an_exponent_among_those_of_the_terms_is_not_proved_away(
    book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """-100 lies above a small c, whose bits a zero product then cuts off."""
    monkeypatch.setattr(zero, "least", lambda spec: (-12, -99))
    v = prove(FP8, book)
    assert v.kind is Kind.UNKNOWN
    assert "was not proved equal" in v.reason


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ampere/mma.m16n8k8.f32.f16.f16.f32", -127),
        ("ampere/mma.m16n8k8.f32.bf16.bf16.f32", -253),
        (SCALED, -255),
    ],
)
def test_only_exponents_below_every_term_are_asked_about(name: str, expected: int) -> None:
    assert min(zero.least(resolve(name))) - 1 == expected


@pytest.mark.parametrize("name", [FP8, f"{FP8},k=4", FP8.replace("-133", "none")])
def test_an_exponent_that_is_an_input_is_that_of_the_design(name: str) -> None:
    """The circuit with a free exponent, at any z that a design can have, against units whose z is fixed."""
    spec, draw = resolve(name), random.Random(3)
    g = Graph()
    low, high = ZERO_EXPONENTS
    free = chained_dot(g, spec, declare_inputs(g, spec, spec.k), zero.free_exponent(g, low, high))
    run = Concrete(g, [free.result])
    for z in (
        low,
        -1000,
        -133,
        -127,
        -100,
        -20,
        0,
        5,
        100,
        high,
        *(draw.randint(-200, 100) for _ in range(20)),
    ):
        other = with_zero(spec, z)
        fixed = Concrete(circuit(other, other.k)[0], [circuit(other, other.k)[1]])
        for _ in range(20):
            words = {n: draw.getrandbits(x.width) for n, x in g.inputs.items()}
            some = {n: draw.choice((0, word, word)) for n, word in words.items()}
            assert run({**some, "zero_exponent": z - low}) == fixed(some)


def test_codes_beyond_the_largest_exponent_stand_for_it() -> None:
    g = Graph()
    made = zero.free_exponent(g, -10, -3)
    run = Concrete(g, [made.bits])
    assert made.bits.width == 3
    assert [run({"zero_exponent": code})[0] + made.low for code in range(8)] == list(range(-10, -2))
    g = Graph()
    made = zero.free_exponent(g, -10, -5)
    run = Concrete(g, [made.bits])
    assert [run({"zero_exponent": code})[0] for code in range(8)] == [0, 1, 2, 3, 4, 5, 5, 5]


@pytest.mark.parametrize("name", [SCALED, "ampere/mma.m16n8k16.f32.bf16.bf16.f32", TO_NEAREST])
def test_an_exponent_above_other_terms_is_refuted(name: str, book: LemmaBook) -> None:
    """The witness gives both results on the oracle too, and more than one zero exponent is behind them."""
    v = prove(name, book)
    assert v.kind is Kind.VIOLATED
    (part,) = v.parts
    assert part.witness is not None
    units = (v.unit, with_zero(v.unit, min(zero.least(v.unit)) - 1))
    assert part.witness.results == tuple(oracle_result(u, part.witness.first) for u in units)
    assert len(set(part.witness.results)) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hopper/wgmma.m64n8k32.f16.e5m2.e5m2", "expected terms whose exponents are above -21"),
        ("cdna1/v_mfma_f32_32x32x8f16", "expected a truncated fused sum"),
        ("ampere/mma.m16n8k8.f32.f16.f16.f32@zero_exponent=own", "expected one exponent for zero terms"),
    ],
)
def test_other_units_are_refused(name: str, said: str, book: LemmaBook) -> None:
    with pytest.raises(InputError, match=said):
        prove(name, book)


@pytest.mark.long
def test_two_designs_are_equal_in_steps_only_below_all_terms(book: LemmaBook) -> None:
    base = resolve(FP8)
    found = equal_in_steps(base, with_zero(base, -139), book, LIMITS)
    assert found is not None
    assert "zero_exponent=-133 or -139" in found.reason
    assert len(deciders(found)) > 1
    other = replace(base, design=replace(base.design, fraction_bits=14, zero_exponent=-139))
    for second in (with_zero(base, -100), other):
        assert equal_in_steps(base, second, book, LIMITS) is None


@pytest.mark.long
def test_a_suite_uses_the_claim_where_designs_agree() -> None:
    made = suite(space([FP8], vary=["zero_exponent=-139,-133,-100"]), limits=LIMITS, vectors=512)
    classes = {d.design.zero_exponent: c for d, c in zip(made.designs, made.classes, strict=True)}
    assert classes[-139] == classes[-133] != classes[-100]
    assert not made.undecided
    assert any("zero_exponent=" in e.reason for e in made.equal)
