"""Claims answered by a theorem, by inputs that refute them, by solvers, or not at all; what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcformal.design.names import resolve
from tcformal.errors import InputError, UnknownNameError
from tcformal.oracle.exact import unit_dot
from tcformal.query.assume import from_texts
from tcformal.query.claims.answered import prove_claim
from tcformal.query.claims.claim_verdict import ClaimVerdict
from tcformal.query.claims.register import CLAIMS, conditions, refused, units_of
from tcformal.query.claims.witnesses import Move, exact_form, moves_of, rounded_once
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.store.store import Store
from tcformal.theory.theorems import STATEMENTS

VOLTA, AMX = "volta/mma.m8n8k4.f32.f16.f16.f32", "x86/tdpbf16ps"
CDNA3 = "cdna3/v_mfma_f32_32x32x8_f16"
SCALED = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
SMALL = "a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16"


def shown(v: ClaimVerdict) -> tuple[int, int]:
    """The results of the inputs that refute a claim, which the oracle gives again of the unit."""
    found = next(p.witness for p in v.parts if p.witness is not None)
    w = found.first
    assert unit_dot(v.unit, w.a, w.b, w.c, w.scale_a, w.scale_b) == found.results[0]
    assert found.results[0] != found.results[1] or v.claim == "monotonicity"
    return found.results


@pytest.mark.parametrize(
    ("unit", "claim"),
    [
        (AMX, "product-order"),
        ("tfdpa@products=1,k=2", "product-order"),
        ("ampere/mma.m16n8k16.f32.bf16.bf16.f32", "zero-exponent"),
        (CDNA3, "negation-symmetry"),
        (VOLTA, "correctly-rounded"),
        (VOLTA, "exact-sum"),
        (f"sequential@products=2,k=2,{SMALL}", "zero-products"),
    ],
)
def test_what_is_false_is_refuted_by_inputs(unit: str, claim: str) -> None:
    v = prove_claim(unit, claim, limits=Limits(time_s=20.0))
    assert (v.kind, v.answered_by) == (Kind.VIOLATED, "witness")
    assert v.theorem is None
    assert v.in_the_way or v.in_the_way in v.reason
    shown(v)


@pytest.mark.parametrize("claim", ["carry-bits", "product-order", "relative-error", "integer-sums"])
def test_what_a_theorem_says_needs_nothing_else(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.query.engine.answer", None)
    monkeypatch.setattr("tcformal.query.claims.witnesses.constructed_witness", None)
    v = prove_claim(VOLTA, claim)
    assert (v.kind, v.answered_by, v.parts, v.in_the_way) == (Kind.HOLDS, "theorem", (), "")


@pytest.mark.slow
def test_a_question_that_no_theorem_answers_goes_to_solvers(tmp_path: Path) -> None:
    """Its answer is kept as a question's, and served again after its proof was checked."""
    unit, store = f"tfdpa@products=2,k=2,{SMALL},normalise_products=true,carry_bits=3", Store(tmp_path)
    first = prove_claim(unit, "zero-products", store=store, certify=True)
    if first.answered_by != "solvers":
        pytest.skip(f"answered by {first.answered_by}")
    again = prove_claim(unit, "zero-products", store=store, certify=True)
    assert (first.kind, again.kind) == (Kind.HOLDS, Kind.HOLDS)
    assert first.asked is not None
    assert first.asked.certificate is not None
    assert (first.served, again.checked) == ("", True)
    assert again.served


def test_what_is_no_single_question_is_open_with_what_stands_in_the_way() -> None:
    v = prove_claim("nvdla/cmac.fp16", "error-bound")
    if v.kind is Kind.HOLDS:
        pytest.skip("a theorem answers it")
    assert (v.kind, v.answered_by) == (Kind.UNKNOWN, "nothing")
    assert v.reason


@pytest.mark.parametrize(
    ("unit", "claim", "said"),
    [
        ("x86/vdpbf16ps", "carry-bits", "for claim carry-bits, but got x86/vdpbf16ps"),
        ("x86/vdpbf16ps", "sign-magnitude", "for claim sign-magnitude"),
        ("x86/vdpbf16ps", "zero-exponent", "for claim zero-exponent"),
        ("x86/vdpbf16ps", "exact-sum", "for claim exact-sum"),
        (VOLTA, "monotonicity", "expected sums that are exact and then rounded for claim monotonicity"),
        (
            "hopper/emulated.mma.m16n8k32.f32.e5m2.e4m3.f32",
            "zero-products",
            "expected an instruction that half",
        ),
    ],
)
def test_units_that_a_claim_says_nothing_of_are_refused(unit: str, claim: str, said: str) -> None:
    assert said in refused(claim, resolve(unit))
    with pytest.raises(InputError, match=r"^expected "):
        prove_claim(unit, claim)


def test_names_and_assumptions_that_a_claim_does_not_know_are_refused() -> None:
    assert set(CLAIMS) == set(STATEMENTS)
    with pytest.raises(UnknownNameError, match="product-order"):
        prove_claim(VOLTA, "order")
    with pytest.raises(InputError, match=r"uses \(none\), but got c=0x0"):
        prove_claim(VOLTA, "carry-bits", assumptions=from_texts(resolve(VOLTA).operands.c, ["c=0"]))
    with pytest.raises(InputError, match="expected assumptions that zeros obey"):
        conditions("negation-symmetry; c=0x7f800000; exponents=200..300", resolve(VOLTA))
    with pytest.raises(InputError, match="expected agreement; UNIT"):
        prove_claim(VOLTA, "agreement")
    with pytest.raises(InputError, match="other than spread"):
        prove_claim(VOLTA, f"agreement; {VOLTA}; finite; spread=2")


def test_each_design_that_a_claim_is_about_is_asked_once() -> None:
    asked = [u.name for u in units_of(["carry-bits"], "volta/")]
    assert len(asked) == len(set(asked)) > 1
    assert not [*units_of(["carry-bits"], "no such unit")]


def test_scaled_products_change_places_with_their_scales() -> None:
    spec = resolve(SCALED)
    moves = moves_of(spec)
    block = spec.scale_block
    assert block is not None
    assert all((m.first + 1) % block for m in moves if m.size == 1)
    assert Move(1).of([0, 1, 2, 3]) == [0, 2, 1, 3]
    assert Move(0, 2).of([0, 1, 2, 3]) == [2, 3, 0, 1]
    assert (Move(1).of_scales([5, 6]), Move(0, 2).of_scales([5, 6])) == ([5, 6], [6, 5])


def test_the_units_that_claims_about_sums_name_are_exact() -> None:
    """The exact sum rounded once is the oracle's, of a design that loses bits and one that does not."""
    spec = resolve(VOLTA)
    once, exact = rounded_once(spec), exact_form(spec)
    a, b = [0x3C00, 0x3C00, 0x0001, 0x0000], [0x7800, 0xF800, 0x0001, 0x0000]
    results = {unit_dot(u, a, b, 0) for u in (once, exact)}
    assert len(results) == 1
    assert unit_dot(spec, a, b, 0) not in results
