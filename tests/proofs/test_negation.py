"""Claim `negation-symmetry`: proved of symmetric designs, refuted or left open for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import tcformal.proofs.claims.negation as negation
from compositions import assert_classes_agree
from tcformal.design.names import resolve
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.catalog import FORMATS
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.programs.chain import circuit, declare_inputs
from tcformal.proofs.claim import Asking, ClaimVerdict, PartStatus
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.floors import without_floors
from tcformal.query.assume import Assumptions
from tcformal.query.kinds.property import properties
from tcformal.query.kinds.property.properties import negation_symmetry
from tcformal.query.kinds.property.question import PropertyQuestion, property_question, replay_property
from tcformal.query.question import Kind
from tcformal.query.replay import oracle_result
from tcformal.semantics.number import Number
from tcformal.semantics.special import with_specials
from tcformal.semantics.stages import SpecialCases
from tcformal.semantics.unpack import unpack
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
CDNA3 = "cdna3/v_mfma_f32_32x32x8_f16"
HALF, BFLOAT = "cdna3/v_mfma_f32_32x32x4_2b_f16", "cdna3/v_mfma_f32_32x32x4_2b_bf16"
#: Symmetric in all but one rounding.
TO_ONE_SIDE = ("valpey@terms=2,alignment_rounding=RD", "valpey@terms=2,conversion=RU-FP32")


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests: lemmas that units share are decided once."""
    return LemmaBook(limits=LIMITS)


def prove(name: str, book: LemmaBook, assumed: str = "") -> ClaimVerdict:
    return prove_claim(resolve(name), f"negation-symmetry{assumed}", book=book, limits=LIMITS)


def assert_proved(v: ClaimVerdict) -> None:
    assert v.kind is Kind.HOLDS, v.reason
    assert all(lemma.holds for lemma in v.lemmas)
    known = {lemma.sha256 for lemma in v.lemmas}
    assert all(sha in known for p in v.parts for s in p.steps for sha in s.lemmas)


@pytest.mark.parametrize(
    "name",
    [
        "valpey@terms=2,fraction_bits=5",
        pytest.param(VOLTA, marks=pytest.mark.long),
        pytest.param("x86/vdpbf16ps", marks=pytest.mark.long),
        pytest.param("arm/bfdot.ebf0", marks=pytest.mark.long),
        pytest.param("cdna1/v_mfma_f32_32x32x4bf16", marks=pytest.mark.long),
    ],
)
def test_one_design_of_each_vendor_is_symmetric(name: str, book: LemmaBook) -> None:
    assert_proved(prove(name, book))


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "ampere/mma.m16n8k16.f32.f16.f16.f32", "ampere/mma.m8n8k4.f64.f64.f64.f64",
        "hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "cdna1/v_mfma_f32_32x32x8f16",
        "cdna2/v_mfma_f32_32x32x8f16", "x86/tdpbf16ps", "arm/bfdot.ebf1",
        "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    ],
)  # fmt: skip
def test_one_unit_of_each_family_is_symmetric(name: str, book: LemmaBook) -> None:
    assert_proved(prove(name, book))


@pytest.mark.long
@pytest.mark.parametrize("name", [CDNA3, *TO_ONE_SIDE])
def test_rounding_to_one_side_is_shown(name: str, book: LemmaBook) -> None:
    v = prove(name, book)
    assert v.kind is Kind.VIOLATED
    (witness,) = (p.witness for p in v.parts if p.witness is not None)
    graph, root = circuit(v.unit, v.unit.k)
    run = Concrete(graph, [root])
    for operands, result in zip((witness.first, witness.second), witness.results, strict=True):
        assert run(operands.inputs()) == [result] == [oracle_result(v.unit, operands)]
    sign = 1 << (v.unit.operands.d.width - 1)
    assert witness.results[0] ^ sign != witness.results[1]


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        HALF,
        pytest.param(CDNA3, marks=pytest.mark.long),
        pytest.param(BFLOAT, marks=pytest.mark.long),
    ],
)
def test_sums_are_symmetric_where_c_is_zero(name: str, book: LemmaBook) -> None:
    """Those of bf16 where no product lies below the least normal number of fp32."""
    v = prove(name, book, "; exponents=-63..127; c=0x0" if name == BFLOAT else "; c=0x0")
    assert_proved(v)
    floors = next(s for s in v.parts[0].steps if s.name == "floors")
    assert floors.proved
    assert set(floors.lemmas) <= {lemma.sha256 for lemma in v.lemmas}


@pytest.mark.parametrize(
    "name",
    [
        BFLOAT,
        pytest.param("cdna3/v_mfma_f32_16x16x32_fp8_fp8", marks=pytest.mark.long),
    ],
)
def test_a_c_of_zero_does_not_cure_the_other_sums(name: str, book: LemmaBook) -> None:
    """The witness obeys the assumption, and its results on the oracle are no opposites."""
    v = prove(name, book, "; c=0x0")
    assert v.kind is Kind.VIOLATED
    (witness,) = (p.witness for p in v.parts if p.witness is not None)
    assert (witness.first.c, witness.second.c) == (0, 0x80000000)
    for operands, result in zip((witness.first, witness.second), witness.results, strict=True):
        assert result == oracle_result(v.unit, operands)


@pytest.mark.parametrize(("name", "c", "lowest"), [(BFLOAT, 0, None), (BFLOAT, 0, -126), (HALF, 1, None)])
def test_floors_that_round_are_not_proved_away(
    name: str, c: int, lowest: int | None, book: LemmaBook
) -> None:
    """Of bf16 the floor cuts sums below 2^-126, which nothing here excludes; of fp16 beside a c of 2^-149."""
    spec, g = resolve(name), Graph()
    x = declare_inputs(g, spec, spec.k)
    (one, _) = negation_symmetry(g, spec, x).calls
    proof = Composition(g, book)
    supposed = g.eq(x.c, g.const(c, 32))
    proof.suppose(supposed, True)
    assert not without_floors(proof, one.dot, unpack(g, x.c, spec.operands.c), [supposed], lowest)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("; finite", r"claim negation-symmetry uses \(c, exponents\), but got finite"),
        ("; exponents=-63..127", "expected c=0 beside the exponents"),
        ("; c=0; c=0", "expected each assumption once, but got c twice"),
    ],
)
def test_assumptions_that_the_proof_cannot_use_are_refused(asked: str, said: str, book: LemmaBook) -> None:
    with pytest.raises(InputError, match=said):
        prove(CDNA3, book, asked)


@pytest.mark.long
@pytest.mark.parametrize("name", [pytest.param(TO_ONE_SIDE[0], marks=pytest.mark.long), TO_ONE_SIDE[1]])
def test_what_is_not_symmetric_is_not_proved_either(
    name: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without vectors and solvers that find the witness, the steps of the proof must fail on their own."""
    monkeypatch.setattr(negation, "refuted_by_vectors", lambda *_: None)
    monkeypatch.setattr(negation, "refuted_by_solvers", lambda *_: None)
    v = prove(name, book)
    assert v.kind is not Kind.HOLDS
    assert all(p.status is PartStatus.OPEN for p in v.parts)


@pytest.mark.parametrize(
    "name",
    [
        "valpey@terms=2",
        pytest.param(TO_ONE_SIDE[0], marks=pytest.mark.long),
        TO_ONE_SIDE[1],
        pytest.param("sequential@products=2,k=2", marks=pytest.mark.long),
    ],
)
def test_nodes_made_equal_are_equal(name: str, book: LemmaBook) -> None:
    spec = resolve(name)
    g = Graph()
    case = negation_symmetry(g, spec, declare_inputs(g, spec, spec.k))
    ask = Asking(spec, book, LIMITS, None, lambda _: None)
    proof = negation._NegationProof(ask, g, case, case.calls[0].operands.c)
    proof.numbers()
    assert_classes_agree(proof.c)


@pytest.mark.parametrize(("low", "proved"), [(-80, False), (-63, True)])
def test_exponents_below_those_supposed_are_not_proved(low: int, proved: bool, book: LemmaBook) -> None:
    spec, g = resolve(BFLOAT), Graph()
    case = negation_symmetry(g, spec, declare_inputs(g, spec, spec.k))
    assumed = Assumptions(exponents=(low, 127), c=0)
    ask = Asking(spec, book, LIMITS, None, lambda _: None, assumed=assumed)
    assert bool(negation._NegationProof(ask, g, case, case.calls[0].operands.c).before) is proved


def small_chain() -> UnitSpec:
    """A chain from c, the one operand that can be NaN; its formats are small, and so are its proofs."""
    base = resolve("sequential@products=2,k=2,c_position=first,a_format=e2m1,b_format=e2m1")
    few: dict[str, Any] = {
        "conversion": "RNE-E5M2",
        "accumulator": "RNE-E5M2",
        "product_rounding": None,
        "nan_word": 0x7E,
    }
    operands = replace(base.operands, c=FORMATS["e5m2"], d=FORMATS["e5m2"])
    return replace(base, name="small chain", operands=operands, design=replace(base.design, **few))


@pytest.mark.long
def test_a_nan_inside_that_leaves_no_trace_is_not_proved_away(
    book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A circuit that is its own mirror where no sum is NaN, and whose last sum forgets that one was."""

    def forgetful(g: Graph, numbers: Sequence[Number], rounded: Number, design: Design) -> SpecialCases:
        if len(_inside(g)) % 2:
            numbers = [replace(x, nan=g.truth(False)) for x in numbers]
        return with_specials(g, numbers, rounded, design)

    monkeypatch.setattr("tcformal.semantics.sums.step.with_specials", forgetful)
    v = prove_claim(small_chain(), "negation-symmetry", book=book, limits=LIMITS)
    assert v.kind is not Kind.HOLDS
    status = {p.name: p.status for p in v.parts}
    assert status["no number inside the unit is NaN"] is PartStatus.HOLDS
    assert status["some number inside the unit is NaN"] is PartStatus.OPEN


def _inside(g: Graph) -> list[str]:
    """The sums labelled so far, both sides together: an odd one of them is a side's last."""
    return [name for name in g.labels if name.endswith(".nan")]


FNUZ = "tfdpa@products=1,a_format=e4m3fnuz,b_format=e4m3fnuz"


def without_minus_zero() -> PropertyQuestion:
    return property_question("negation-symmetry", resolve(FNUZ), Assumptions())


@pytest.mark.parametrize("a", [0x00, 0x80])
def test_what_has_no_opposite_is_its_own(a: int) -> None:
    """Without -0 the zero and the NaN of a format differ in the sign bit only, and are not turned."""
    seen = replay_property(without_minus_zero(), {"a[0]": a, "b[0]": 0x40, "c": 0})
    assert [w.a for w in seen.operands] == [(a,), (a,)]
    assert not seen.violates


def test_operands_that_are_no_opposites_are_no_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle judges the turned operands as well as the results."""
    plain = lambda g, word, fmt: g.xor(word, g.const(1 << (fmt.width - 1), fmt.width))  # noqa: E731
    monkeypatch.setattr(properties, "_negated", plain)
    seen = replay_property(without_minus_zero(), {"a[0]": 0x80, "b[0]": 0x40, "c": 0})
    assert seen.violated == (True, False)
    assert not seen.violates


@pytest.mark.long
def test_a_design_without_minus_zero_is_symmetric(book: LemmaBook) -> None:
    assert_proved(prove(FNUZ, book))


def test_composed_units_are_refused(book: LemmaBook) -> None:
    with pytest.raises(InputError, match="expected a hardware unit for claim negation-symmetry"):
        prove("hopper/emulated.mma.m16n8k16.f32.e4m3.e4m3.f32", book)
