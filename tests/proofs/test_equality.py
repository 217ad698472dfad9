"""Claim `equality`: designs that differ in parameters of which lemmas speak, and others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.programs.chain import same_definition
from tcformal.proofs.claims.equality import equal_in_steps
from tcformal.proofs.claims.sums.changes import plain_form
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.separate import prove_equal
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.audit.claim_audit import audit_claim
from tcformal.store.store import Store

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
FP8 = "tfdpa@a_format=e4m3,b_format=e4m3,products=2,fraction_bits=13,conversion=RZ-E8M13,zero_exponent=-133"

#: Four products and c, with one bit for all that alignment cuts off.
STICKY = (
    "tfdpa@a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16,products=4,k=4,fraction_bits=6,"
    "carry_bits=3,lost_bits=sticky,zero_exponent=none,zero_terms=-9,conversion=RNE-E5M4"
)

#: Two halves of two products each, then c.
GTR = (
    "tfdpa@a_format=e2m1,b_format=e2m1,products=4,k=4,summation=gtr,c_position=last,fraction_bits=12,"
    "sum_fraction_bits=31,conversion=RNE-FP32,zero_sign=sum,zero_exponent=none"
)
#: Products of pieces of two bits; that of both lowest pieces is left out.
PIECES = (
    "tfdpa@a_format=e3m4,b_format=e3m4,products=1,k=1,fraction_bits=3,conversion=RZ-E8M13,"
    "zero_exponent=-3,piece_bits=2,dropped_pieces=1"
)
#: One that is not cut off, and zeros below its exponent.
WIDER, LOWER = PIECES.replace("fraction_bits=3", "fraction_bits=5"), PIECES.replace("=-3", "=-20")


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def parts(first: str, second: str, book: LemmaBook, k: int | None = None) -> list[str] | None:
    found = equal_in_steps(resolve(first), resolve(second), book, LIMITS, k)
    return None if found is None else [part.name for part in found.parts]


def test_each_parameter_that_changes_nothing_has_a_proof(book: LemmaBook) -> None:
    assert parts(FP8, f"{FP8},order=odd_first", book) == ["order=ascending or odd_first"]
    assert parts(FP8, f"{FP8},carry_bits=4", book) == ["carry_bits=exact or 4"]
    assert parts(f"{FP8},carry_bits=5", f"{FP8},carry_bits=4", book) == [
        "carry_bits=exact or 5", "carry_bits=exact or 4",
    ]  # fmt: skip
    both = parts(f"{FP8},carry_bits=4", f"{FP8},accumulation=sign_magnitude,order=odd_first", book)
    assert both == [
        "accumulation=twos_complement or sign_magnitude", "carry_bits=exact or 4",
        "order=ascending or odd_first",
    ]  # fmt: skip


def test_the_order_of_terms_is_no_matter_to_a_bit_that_any_of_them_sets(book: LemmaBook) -> None:
    assert parts(STICKY, f"{STICKY},order=odd_first", book) == ["order=ascending or odd_first"]


def test_even_and_odd_products_may_change_places(book: LemmaBook) -> None:
    """In the halves of GTR-FDPA, but not where odd ones are taken away."""
    assert parts(GTR, f"{GTR},order=odd_first", book) == ["order=ascending or odd_first"]
    taken = f"{GTR},negated=odd"
    assert parts(taken, f"{taken},order=odd_first", book) is not None
    assert parts(GTR, f"{taken},order=odd_first", book) is None


def test_pieces_that_alignment_cuts_off_may_be_left_out(book: LemmaBook) -> None:
    assert parts(PIECES, PIECES.replace("pieces=1", "pieces=0"), book) == ["dropped_pieces=1 or 0"]


def test_what_changes_a_result_has_none(book: LemmaBook) -> None:
    """Too few carry bits, a zero exponent above some term, an order that matters, and other parameters."""
    for first, second in (
        (FP8, f"{FP8},carry_bits=1"),
        (FP8, FP8.replace("-133", "-5")),
        (STICKY, f"{STICKY.replace('fraction_bits=6', 'fraction_bits=5')},order=odd_first"),
        (FP8, f"{FP8.replace('fraction_bits=13', 'fraction_bits=14')},order=odd_first"),
        (PIECES, PIECES.replace("pieces=1", "pieces=2")),
        *((x, x.replace("pieces=1", "pieces=0")) for x in (WIDER, LOWER)),
        (FP8, FP8),
        ("cdna1/v_mfma_f32_32x32x8f16", "cdna1/v_mfma_f32_32x32x8f16@order=odd_first"),
        (FP8, VOLTA),
    ):
        assert parts(first, second, book) is None, (first, second)


def test_a_unit_that_is_called_several_times_is_proved_call_by_call(book: LemmaBook) -> None:
    assert parts(FP8, f"{FP8},order=odd_first", book, k=4) == ["order=ascending or odd_first"]


def test_theorems_come_first_and_are_not_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    v = prove_equal(FP8, f"{FP8},order=odd_first", store=store)
    assert (v.kind, v.answers) == (Kind.EQUIVALENT, ())
    assert "pair_order_idle" in v.to_json()["steps"]["theorems"]
    assert v.seconds < 1
    assert not list(store.claims.all())
    assert (
        prove_equal(FP8, FP8.replace("fraction_bits=13", "fraction_bits=12"), store=store).kind
        is Kind.SEPARATED
    )


def test_two_units_are_proved_equal_and_the_proof_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In steps, where no theorem speaks."""
    monkeypatch.setattr("tcformal.proofs.separate.equal_by_theorem", lambda *_: None)
    store = Store(tmp_path)
    for served in (False, True):
        v = prove_equal(FP8, f"{FP8},order=odd_first", store=store)
        assert bool(v.served) is served
        assert (v.kind, v.answers) == (Kind.EQUIVALENT, ())
        assert v.steps is not None
        lemmas = v.to_json()["steps"]["lemmas"]
        assert lemmas
        assert all(lemma["certificate"] for lemma in lemmas)
    assert not list(store.entries())
    (claim,) = store.claims.all()
    assert audit_claim(store, claim).status is AuditStatus.HOLDS


@pytest.mark.long
@pytest.mark.parametrize(
    "settings",
    [
        "zero_exponent=none", "accumulation=sign_magnitude", "order=odd_first",
        "zero_exponent=none,accumulation=sign_magnitude,order=odd_first",
    ],
)  # fmt: skip
def test_a_whole_unit_is_proved_equal(settings: str) -> None:
    v = prove_equal(VOLTA, f"{VOLTA}@{settings}")
    assert v.kind is Kind.EQUIVALENT
    assert v.steps is not None


def test_one_circuit_is_recognised_in_another_order_of_nodes() -> None:
    """A chain of blocks and the tree of its sums; units that differ are not taken for one."""
    blocks = resolve(f"{FP8},k=4")
    tree = tree_of(blocks, 4)
    assert tree is not None
    assert tree.tree is not None
    assert same_definition(blocks, tree, 4)
    assert plain_form(tree, 4) is not None
    assert not same_definition(blocks, resolve(f"{FP8},k=4,carry_bits=4"), 4)


def test_an_exponent_of_zero_terms_above_others_may_cut_nothing_off(book: LemmaBook) -> None:
    """At -11 the lowest of 13 fraction bits is that of all c, 2^-24; at -10 it is above."""
    small = "tfdpa@a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16,products=1,fraction_bits=13"
    assert parts(f"{small},zero_exponent=-12", f"{small},zero_exponent=-11", book) == [
        "zero_exponent=-12 or -11"
    ]
    assert parts(f"{small},zero_exponent=-11", f"{small},zero_exponent=-10", book) is None
    assert parts(f"{small},zero_exponent=-11", f"{small},zero_exponent=own", book) is None


@pytest.mark.parametrize("change", ["zero_exponent=-133", "carry_bits=6"])
def test_a_stage_of_a_tree_is_changed_as_a_unit_is(change: str) -> None:
    """The parameters of the stage that cuts; what another stage sets for itself is not followed."""
    tree = "tree@steps=join((0+1)+c),fraction_bits=22,conversion=RNE-FP32,join.fraction_bits=exact"
    one, two = resolve(tree), resolve(f"{tree},{change}")
    book = LemmaBook(limits=LIMITS)
    v = equal_in_steps(one, two, book, LIMITS)
    assert v is not None
    assert v.kind is Kind.HOLDS
    assert plain_form(resolve(tree.replace("join.fraction_bits=exact", "join.carry_bits=4")), 2) is None
    assert equal_in_steps(one, resolve(f"{tree},carry_bits=1"), book, LIMITS) is None


@pytest.mark.long
@pytest.mark.parametrize(
    ("unit", "changed"),
    [
        ("x86/vdpbf16ps", "overflow=infinity"),
        ("cdna2/v_mfma_f32_32x32x4bf16", "overflow=infinity"),
        ("sequential@products=2,k=2,summation=two_chains", ""),
    ],
)
def test_a_design_is_the_tree_of_its_sums_written_in_another_order(
    unit: str, changed: str, book: LemmaBook
) -> None:
    spec = resolve(unit)
    made = tree_of(spec, spec.k)
    assert made is not None
    assert not same_definition(spec, made, spec.k)
    other = resolve(",".join(filter(None, (made.name, changed))))
    found = parts(unit, other.name, book)
    assert found is not None
    assert found[0] == "the order in which a sum's terms are written"
    assert parts(unit, altered(made, "conversion=RZ-FP32"), book) is None


#: Two fused halves of fp16 products, which fp32 holds, and c: only the last sum may overflow.
HALVES = (
    "tree@steps=join((0+1)+(2+3)+c),join.conversion=RNE-FP32,join.fraction_bits=exact,fraction_bits=24,"
    "conversion=RZ-FP32"
)


def test_an_overflow_that_cannot_be_is_not_read(book: LemmaBook) -> None:
    assert parts(HALVES, f"{HALVES},overflow=infinity", book) == ["overflow=ieee or infinity"]
    wide = f"{HALVES},a_format=bf16,b_format=bf16"
    assert parts(wide, f"{wide},overflow=infinity", book) is None


def test_a_zero_exponent_of_inner_sums_is_proved_with_the_sum_that_reads_their_bits(book: LemmaBook) -> None:
    plain = f"{HALVES},overflow=infinity"
    assert parts(plain, f"{plain},zero_exponent=-133", book) == ["zero_exponent=none or -133"]
    assert parts(plain, f"{plain},zero_exponent=-20", book) is None


def test_roundings_of_products_that_are_exact_or_flushed_are_one(book: LemmaBook) -> None:
    """Products of bf16 are exact in fp32 unless they are subnormal."""
    flushed = tree_of(resolve("arm/bfdot.ebf0"), 2)
    assert flushed is not None
    assert parts(flushed.name, altered(flushed, "product_rounding=RNE-FP32"), book) == [
        "product_rounding=RO-FP32 or RNE-FP32"
    ]
    kept = resolve(altered(flushed, "result_subnormals=kept"))
    assert parts(kept.name, altered(kept, "product_rounding=RNE-FP32"), book) is None
    assert parts(flushed.name, altered(flushed, "product_rounding=RNE-FP16"), book) is None


#: Two products without c, the factors as they are or converted first.
PLAIN = "tree@steps=(0+1),{}fraction_bits={},zero_exponent=-133,a_format={},b_format={}"


def test_converted_factors_whose_sum_is_cut_have_no_proof(book: LemmaBook) -> None:
    """A subnormal factor raises the exponent at which the other product is cut."""
    one, two = (PLAIN.format(how, 4, "e4m3", "e4m3") for how in ("converted=fp16,", ""))
    assert parts(one, two, book) is None


@pytest.mark.long
def test_converted_factors_change_nothing_where_none_is_cut(book: LemmaBook) -> None:
    ends = [PLAIN.format(how, 25, "e2m1", "e2m1") for how in ("converted=fp16,", "")]
    for first, second in (ends, ends[::-1]):
        assert parts(first, second, book) == ["factors that are converted before they are multiplied"]


@pytest.mark.long
def test_converted_factors_of_two_sums_change_nothing(book: LemmaBook) -> None:
    """The second sum takes the first one's result in: it is a multiple of the products' least bit."""
    chain = "tree@steps=(2+3+(0+1+z)),{}fraction_bits=25,zero_exponent=-133,a_format=e4m3,b_format=e4m3"
    one, two = (chain.format(how) for how in ("converted=fp16,", ""))
    assert parts(one, two, book) is not None


#: Sums of CDNA3, which are rounded down before they are rounded.
TWICE = "cdna3/v_mfma_f32_32x32x4_2b_f16"


def test_a_floor_that_cannot_overflow_reads_no_overflow(book: LemmaBook) -> None:
    assert parts(TWICE, f"{TWICE}@overflow=infinity", book) == ["overflow=ieee or infinity"]


@pytest.mark.long
def test_a_sum_that_is_rounded_down_may_be_in_sign_and_magnitude(book: LemmaBook) -> None:
    assert parts(TWICE, f"{TWICE}@accumulation=sign_magnitude", book) == [
        "accumulation=twos_complement or sign_magnitude"
    ]
