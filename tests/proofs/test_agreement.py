"""Claim `agreement`: the spread within which two units agree, and never one within which they differ."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import tcformal.proofs.claims.agreement as claims
from tcformal.cli import main
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.operands.batch import witness_at
from tcformal.operands.spread import close
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.proofs.claim import Asking, PartStatus
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.claims.sums import order_within
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.prove import kept_or_proved
from tcformal.proofs.region import AT_ONCE
from tcformal.proofs.tactics.counts import shifted
from tcformal.proofs.tactics.counts.counted import CountedTerms
from tcformal.proofs.tactics.counts.in_turn import known_sums
from tcformal.proofs.tactics.counts.lost import lost_at
from tcformal.query.assume import Assumptions
from tcformal.query.nearest import Nearest, falling, nearest
from tcformal.query.pair import question
from tcformal.query.pairs.variants import variants
from tcformal.query.question import Kind
from tcformal.query.replay import oracle_result, replay
from tcformal.semantics.stages import Rounded
from tcformal.solve.result import Limits
from tcformal.store.store import Store

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
SMALL = (
    "tfdpa@products=2,a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16,conversion=RZ-FP16,"
    "zero_exponent=-40,fraction_bits="
)
WITHOUT_C = Assumptions(("finite",), c=0)
AMPERE, HOPPER = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"
FP8 = ("hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3")


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def asking(first: str, second: str, what: Assumptions, book: LemmaBook) -> Asking:
    claim = claims.agreement_claim(resolve(second), what)
    return Asking(resolve(first), book, LIMITS, None, lambda _: None, claim=claim)


def test_one_more_fraction_bit_agrees_up_to_what_the_fewer_keep(book: LemmaBook, tmp_path: Path) -> None:
    """Products of two fraction bits in sums of 3 and 4: proved at spread 1, not at 2; kept and served."""
    store, first, second = Store(tmp_path), resolve(SMALL + "3"), resolve(SMALL + "4")
    kept = LemmaBook(limits=LIMITS, keeper=store.lemmas, certify=True)
    claim = claims.agreement_claim(second, WITHOUT_C)
    v = kept_or_proved(first, claim, store, book=kept, limits=LIMITS)
    assert v.kind is Kind.HOLDS
    assert [(p.name, p.status, p.control) for p in v.parts] == [
        ("spread 1", PartStatus.HOLDS, False),
        ("spread 2", PartStatus.VIOLATED, True),
    ]
    assert v.reason == "the units agree within spread 1, and differ at spread 2"
    assert " agree on all inputs within spread 1, " in v.composition
    witness = v.parts[1].witness
    assert witness is not None
    for spread, said in ((1, False), (2, True)):
        q = question(first, second, replace(WITHOUT_C, spread=spread))
        assert replay(q, witness.first).confirms is said
    # No operands tried within the spread separate; the proof speaks of all of them.
    tried = close(first, 2, 300, 5, 1)
    q = question(first, second, replace(WITHOUT_C, spread=1))
    assert not any(replay(q, replace(witness_at(tried, i), c=0)).confirms for i in range(300))
    again = Store(tmp_path).find_claim(claim, first)
    assert again is not None
    assert again.kind is Kind.HOLDS
    assert again.served


def test_where_a_proof_is_refused_more_vectors_are_tried(
    book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a witness that lies too far off, a nearer one is found, and the region below it proved."""
    real = nearest(question(resolve(SMALL + "3"), resolve(SMALL + "4"), WITHOUT_C), 0)
    assert real is not None
    monkeypatch.setattr(claims, "nearest", lambda *_: Nearest(real.witness, 4))
    finding, _ = claims.agreement(asking(SMALL + "3", SMALL + "4", WITHOUT_C, book))
    assert [(p.name, p.status) for p in finding.parts] == [
        ("spread 1", PartStatus.HOLDS), ("spread 2", PartStatus.VIOLATED)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("second", "spread"),
    [
        (SMALL + "4", 2),
        (SMALL.replace("RZ-FP16", "RZ-E5M2") + "4", 1),
        (SMALL + "3,alignment_rounding=RU", 2),
        (SMALL + "3,carry_bits=1", 1),
    ],
)
def test_a_false_region_is_refused(second: str, spread: int, book: LemmaBook) -> None:
    """One spread further, shorter results, another cut, and sums that wrap: no proof is found."""
    ask = asking(SMALL + "3", second, WITHOUT_C, book)
    part, _ = claims.inside(ask, resolve(second), replace(WITHOUT_C, spread=spread))
    assert part.status is PartStatus.OPEN
    assert "found none: it is false of some values of what it is cut at" in part.note


@pytest.mark.parametrize(("zero", "status"), [(1, PartStatus.HOLDS), (2, PartStatus.OPEN)])
def test_zeros_above_small_terms_lose_what_the_formats_have_below_them(
    zero: int, status: PartStatus, book: LemmaBook
) -> None:
    """The least product is a multiple of 2^-2; sums of 3 bits at 2^1 have that bit, those at 2^2 do not."""
    first, second = SMALL.replace("exponent=-40", f"exponent={zero}") + "3", SMALL + "4"
    part, _ = claims.inside(
        asking(first, second, WITHOUT_C, book), resolve(second), replace(WITHOUT_C, spread=1)
    )
    assert part.status is status


@pytest.mark.long
def test_what_is_proved_of_all_exponents_is_not_proved_again_of_some(
    book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second question whose assumptions are stronger; a book of its own asks anew."""
    calls, made = list[Assumptions](), claims.inside

    def seen(ask: Asking, second: UnitSpec, what: Assumptions) -> Any:
        calls.append(what)
        return made(ask, second, what)

    monkeypatch.setattr(claims, "inside", seen)
    for what, among, n in (
        (WITHOUT_C, book, 1),
        (replace(WITHOUT_C, exponents=(0, 2)), book, 1),
        (WITHOUT_C, LemmaBook(limits=LIMITS), 2),
    ):
        finding, _ = claims.agreement(asking(SMALL + "5", SMALL + "4", what, among))
        assert finding.parts[0].status is PartStatus.HOLDS
        assert [x.exponents for x in calls] == [None] * n


def test_what_is_proved_of_a_unit_is_not_taken_for_another_of_its_name(book: LemmaBook) -> None:
    proved, _ = claims.agreement(asking(SMALL + "5", SMALL + "4", WITHOUT_C, book))
    assert proved.parts[0].status is PartStatus.HOLDS
    ask = asking(SMALL + "5", SMALL + "4", WITHOUT_C, book)
    other = replace(resolve(SMALL + "3"), name=SMALL + "5")
    what = replace(WITHOUT_C, spread=int(proved.parts[0].name.partition(" ")[2]))
    part, _ = claims._tried(replace(ask, spec=other), resolve(SMALL + "4"), what)
    assert part.status is PartStatus.OPEN


@pytest.mark.parametrize(
    ("unit", "spread", "where"),
    [
        (SMALL + "3", 1, ""),
        ("power10/xvbf16ger2pp", 1, ""),  # whose sum before the last one has 15 bits of exponent
        (SMALL + "3", 2, "A.block0"),
        (SMALL + "3,carry_bits=1", 1, "A.block0"),
        (SMALL.replace("RZ-FP16", "RZ-E5M2").replace("products=2", "k=4,products=2") + "3", 1, "A.block0"),
    ],
)
def test_what_a_sum_loses_is_seen(unit: str, spread: int, where: str, book: LemmaBook) -> None:
    """Bits that are cut off, a sum that wraps, and a first block that is rounded, but not the last one."""
    ask, what = asking(unit, unit, WITHOUT_C, book), replace(WITHOUT_C, spread=spread)
    x, dots, c = claims.built(ask, resolve(unit), what)
    assert (f" but {where} is another on inputs " in lost_at(c.graph, ask.spec, x, dots, what, 0)) is bool(
        where
    )


EXACT = "a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16"
NEAREST = SMALL.replace("RZ-FP16", "RNE-FP16") + "5"


@pytest.mark.slow
@pytest.mark.parametrize(
    "second",
    [
        f"tfdpa@products=2,{EXACT},fraction_bits=exact,conversion=RNE-FP16,zero_sign=ieee,c_position=last",
        *(
            pytest.param(f"sequential@products={products},{EXACT}{more}", marks=pytest.mark.long)
            for products, more in (
                (2, ""),
                (2, ",order=odd_first,c_position=last"),
                (4, ",summation=pairwise"),
            )
        ),
    ],
)
def test_sums_that_are_exact_before_they_are_rounded_are_counted(second: str, book: LemmaBook) -> None:
    """Products apart from c, chains in two orders, pairs: proved where vectors show no difference."""
    unit = resolve(second)
    first = resolve(NEAREST.replace("products=2", f"products={unit.k}"))
    outside = nearest(question(first, unit, WITHOUT_C), 0)
    assert outside is not None
    assert outside.spread == 4
    ask = asking(first.name, second, WITHOUT_C, book)
    for spread, status in ((3, PartStatus.HOLDS), (4, PartStatus.OPEN)):
        part, _ = claims.inside(ask, unit, replace(WITHOUT_C, spread=spread))
        assert part.status is status


@pytest.mark.slow
def test_a_sum_that_goes_on_unrounded_is_counted(book: LemmaBook) -> None:
    """Two cut sums, to the second of which c is added at the end: one number, for c = 0 nowhere another."""
    more = "fraction_bits=5,conversion=RNE-FP16,zero_exponent=none,c_position=after"
    second = resolve(f"tfdpa@products=2,{EXACT},{more}")
    assert nearest(question(resolve(NEAREST), second, WITHOUT_C), 0) is None
    ask = asking(NEAREST, second.name, WITHOUT_C, book)
    part, _ = claims.inside(ask, second, replace(WITHOUT_C, spread=3))
    assert part.status is PartStatus.HOLDS, part.note


def test_a_tree_has_regions_too() -> None:
    """Two orders of one chain, whose results keep two fraction bits, differ where all exponents are equal."""
    formats = "a_format=e2m1,b_format=e2m1,c_format=e5m2,d_format=e5m2,conversion=RNE-E5M2"
    first, second = (f"tree@steps={order},{formats}" for order in ("((0+c)+1)", "(0+(c+1))"))
    claim = claims.agreement_claim(resolve(second), WITHOUT_C)
    v = prove_claim(resolve(first), claim, book=LemmaBook(limits=LIMITS, idle=True), limits=LIMITS)
    (*_, shown) = v.parts
    assert (shown.name, shown.status, shown.control) == ("spread 0", PartStatus.VIOLATED, False)
    assert v.kind is Kind.VIOLATED


def test_a_chain_that_rounds_is_not_its_exact_sum(book: LemmaBook) -> None:
    """Two fraction bits of the results: both units differ at spread 0, and no proof is found."""
    few = EXACT.replace("fp16", "e5m2")
    first, second = (f"{x}@products=2,{few}" for x in ("sequential", "tfdpa"))
    second += ",fraction_bits=exact,conversion=RNE-E5M2"
    outside = nearest(question(resolve(first), resolve(second), WITHOUT_C), 0)
    assert outside is not None
    assert outside.spread == 0
    ask = asking(first, second, WITHOUT_C, book)
    part, _ = claims.inside(ask, resolve(second), replace(WITHOUT_C, spread=0))
    assert part.status is PartStatus.OPEN
    assert "a number is its count" in part.note


@pytest.mark.long
def test_a_wide_count_is_rounded_as_its_sum_bit_by_bit(
    book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The distance between both units one bit at a time; a false region is refused in this way too."""
    monkeypatch.setattr(shifted, "_NARROW", 0)
    alike = list[bool]()

    def seen(w: CountedTerms, made: Rounded, exact: Rounded, *rest: Any) -> None:
        own = w.rebuilt(made.parts[1:])
        alike.append(all(w.c.equal(own[x], y) for x, y in zip(made.parts[1:], exact.parts[1:], strict=True)))
        take_over(w, made, exact, *rest)

    take_over = CountedTerms.take_over
    monkeypatch.setattr(CountedTerms, "take_over", seen)
    for more, spread, holds in (("4", 1, True), ("4", 2, False), ("3,alignment_rounding=RU", 2, False)):
        ask = asking(SMALL + "3", SMALL + more, WITHOUT_C, book)
        part, _ = claims.inside(ask, resolve(SMALL + more), replace(WITHOUT_C, spread=spread))
        assert (part.status is PartStatus.HOLDS) is holds
        if holds:
            assert alike == [True, True]


def test_spreads_are_tried_downwards_in_growing_steps() -> None:
    """The largest one first, and 0 last."""
    assert [list(falling(spread)) for spread in (-1, 0, 2, 5, 12)] == [
        [], [0], [2, 1, 0], [5, 4, 2, 0], [12, 11, 9, 5, 0]
    ]  # fmt: skip


def test_without_proofs_a_region_is_left_open_below_its_witness() -> None:
    """Neither proved within the spread nor said to be; what vectors refute is refuted all the same."""
    idle = LemmaBook(limits=LIMITS, idle=True)
    claim = claims.agreement_claim(resolve(SMALL + "4"), WITHOUT_C)
    v = prove_claim(resolve(SMALL + "3"), claim, book=idle, limits=LIMITS)
    assert v.kind is Kind.UNKNOWN
    assert [(p.name, p.status) for p in v.parts] == [
        ("spread 1", PartStatus.OPEN), ("spread 2", PartStatus.VIOLATED)
    ]  # fmt: skip
    assert "no proof was tried" in v.reason
    assert idle.lemmas == {}
    same = claims.agreement_claim(resolve(SMALL + "3"), WITHOUT_C)
    assert prove_claim(resolve(SMALL + "3"), same, book=idle, limits=LIMITS).kind is Kind.UNKNOWN


def test_without_proofs_a_region_says_which_sum_no_proof_would_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that loses bits below the witness, and one of a kind that is not known."""
    idle = LemmaBook(limits=LIMITS, idle=True)
    real = nearest(question(resolve(SMALL + "3"), resolve(SMALL + "4"), WITHOUT_C), 0)
    assert real is not None
    monkeypatch.setattr(claims, "nearest", lambda *_: Nearest(real.witness, 3))
    lost, _ = claims.agreement(asking(SMALL + "3", SMALL + "4", WITHOUT_C, idle))
    assert "but A.block0 is another on inputs within spread 2" in lost.parts[0].note
    monkeypatch.setattr(claims, "nearest", lambda *_: None)
    windows = "cdna1/v_mfma_f32_32x32x4bf16"
    unknown, _ = claims.agreement(asking(windows, windows, WITHOUT_C, idle))
    assert unknown.parts[0].note == "expected a sum aligned at e_max at A.block0, but got another"


def test_units_that_differ_at_once_have_no_region(book: LemmaBook) -> None:
    """Another length of blocks: a witness whose terms all have one exponent."""
    claim = claims.agreement_claim(resolve(HOPPER), Assumptions(("finite",)))
    v = prove_claim(resolve(AMPERE), claim, book=book, limits=LIMITS)
    assert v.kind is Kind.VIOLATED
    assert [(p.name, p.status, p.control) for p in v.parts] == [("spread 0", PartStatus.VIOLATED, False)]
    assert AT_ONCE in v.reason
    assert AT_ONCE in v.composition
    assert "agree" not in v.reason + v.composition
    (part,) = v.parts
    assert part.witness is not None
    spread = replace(Assumptions(("finite",)), spread=0)
    q = question(resolve(AMPERE), resolve(HOPPER), spread)
    assert replay(q, part.witness.first).confirms


def test_a_witness_that_does_not_replay_leaves_the_region_open(
    book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs of another spread than is said of them refute nothing."""
    real = nearest(question(resolve(SMALL + "3"), resolve(SMALL + "4"), WITHOUT_C), 0)
    assert real is not None
    assert real.spread > 0
    monkeypatch.setattr(claims, "nearest", lambda *_: Nearest(real.witness, 0))
    claim = claims.agreement_claim(resolve(SMALL + "4"), WITHOUT_C)
    v = prove_claim(resolve(SMALL + "3"), claim, book=book, limits=LIMITS)
    assert (v.kind, v.composition) == (Kind.UNKNOWN, "")


def test_sums_of_another_kind_are_refused_before_a_lemma_is_asked(book: LemmaBook) -> None:
    """Three terms in windows have no e_max: nothing is proved, and no smaller spread tried."""
    first, second = "hopper/mma.m16n8k8.f32.bf16.bf16.f32", "cdna1/v_mfma_f32_32x32x4bf16"
    ask = asking(first, second, Assumptions(("finite",), (-60, 60), 0), book)
    finding, lemmas = claims.agreement(ask)
    (part,) = (p for p in finding.parts if not p.control)
    assert (part.status, lemmas) == (PartStatus.OPEN, [])
    assert part.note == "expected a sum aligned at e_max at B.block0, but got another"


def test_a_question_that_takes_too_long_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemmas are asked for a time only; what was not reached then is said."""
    monkeypatch.setattr(claims, "PATIENCE", 0)
    finding, _ = claims.agreement(asking(SMALL + "3", SMALL + "4", WITHOUT_C, LemmaBook(limits=LIMITS)))
    held = [p for p in finding.parts if not p.control]
    assert held
    assert all(p.status is PartStatus.OPEN for p in held)
    assert [p.note for p in held] == [
        "expected a proof in 0 seconds of the processor for one question, but got as far as terms"
    ]


@pytest.mark.parametrize(
    "name", ["cdna3/v_mfma_f32_32x32x8_bf16", "cdna3/v_mfma_f32_16x16x32_fp8_fp8", FP8[0]]
)
def test_sums_that_are_counted_are_not_refused(name: str) -> None:
    """Sums that are floored first, groups, and plain ones."""
    spec, g = resolve(name), Graph()
    known_sums(chained_dot(g, spec, declare_inputs(g, spec, spec.k)))


def test_names_are_read_again() -> None:
    first, second = resolve(AMPERE), resolve(HOPPER)
    for what in variants(first, second):
        assert claims.read_agreement(claims.agreement_claim(second, what), first) == (second, what)
    with pytest.raises(InputError, match="expected assumptions other than spread"):
        claims.read_agreement(f"agreement; {HOPPER}; spread=2", first)


def test_the_command_names_what_was_shown_and_exits_with_it(tmp_path: Path) -> None:
    """No region: 1, and no claim holds; a region of every input: 0."""
    rest = ["--assume", "finite", "--json", "--results", str(tmp_path)]
    done = CliRunner().invoke(main, ["region", AMPERE, HOPPER, *rest])
    assert done.exit_code == 1, done.output
    (found,) = json.loads(done.stdout)
    assert found["shown"] == "none"
    assert found["agree_up_to_spread"] is None
    assert found["proof"]["verdict"] == "VIOLATED"
    assert "HOLDS" not in done.stdout
    done = CliRunner().invoke(main, ["region", AMPERE, AMPERE, *rest])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(main, ["region", AMPERE]).exit_code == 2
    assert CliRunner().invoke(main, ["region", AMPERE, HOPPER, "--all"]).exit_code == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("pair", "what", "spread"),
    [
        (FP8, WITHOUT_C, 1),
        ((FP8[1], "rtx-blackwell/mma.m16n8k16.f32.e4m3.e4m3.f32"), WITHOUT_C, 12),
        (("turing/mma.m16n8k8.f32.f16.f16.f32", "hopper/mma.m16n8k8.f32.f16.f16.f32"),
         Assumptions(("finite",)), 1),
    ],
)  # fmt: skip
def test_units_of_the_catalogue(
    pair: tuple[str, str], what: Assumptions, spread: int, book: LemmaBook
) -> None:
    """One block of more fraction bits, two blocks for one, and another format of results."""
    claim = claims.agreement_claim(resolve(pair[1]), what)
    v = prove_claim(resolve(pair[0]), claim, book=book, limits=LIMITS)
    assert v.kind is Kind.HOLDS
    assert v.parts[0].name == f"spread {spread}"


FOUR = SMALL.replace("tfdpa@products=2", "tfdpa@products=2,k=4")


@pytest.mark.long
@pytest.mark.parametrize("shape", ["products=1,k=2", pytest.param("products=2,k=4", marks=pytest.mark.long)])
def test_no_order_matters_within_a_spread_that_loses_nothing(shape: str, book: LemmaBook) -> None:
    """Two blocks, the first of which has a sum that fits its format: every order is proved."""
    unit = resolve(f"{FOUR.replace('products=2,k=4', shape)}8")
    v = prove_claim(unit, "product-order; finite; c=0x0; spread=2", book=book, limits=LIMITS)
    assert v.kind is Kind.HOLDS, v.reason
    assert [p.name for p in v.parts] == ["products 0 and 1 exchanged", "all products moved by one place"]
    assert all(lemma.holds for lemma in v.lemmas)


def test_an_order_that_matters_is_shown_within_the_spread(book: LemmaBook) -> None:
    """Three fraction bits do not keep products of spread 6; the witness obeys the assumptions."""
    unit, claim = resolve(f"{FOUR}3"), "product-order; finite; c=0x0; spread=4"
    v = prove_claim(unit, claim, book=book, limits=LIMITS)
    assert v.kind is Kind.VIOLATED
    witness = next(p.witness for p in v.parts if p.witness is not None)
    assert witness.first.c == 0
    assert sorted(zip(witness.first.a, witness.first.b, strict=True)) == sorted(
        zip(witness.second.a, witness.second.b, strict=True)
    )
    assert witness.results == tuple(oracle_result(unit, w) for w in (witness.first, witness.second))
    q = question(unit, unit, Assumptions(("finite",), c=0, spread=4))
    assert Concrete(q.graph, [q.assumed])(witness.first.inputs()) == [1]


def test_operands_beyond_the_spread_refute_no_order(book: LemmaBook) -> None:
    """Beside c = 1024 the order of products matters, but none of them has the exponent of c."""
    unit, refuted = resolve(f"{FOUR}8"), {}
    for spread in (0, 12):
        ask = Asking(
            unit,
            book,
            LIMITS,
            None,
            lambda _: None,
            assumed=Assumptions(("finite",), c=0x6400, spread=spread),
        )
        refuted[spread] = order_within._order_shown(ask, [1, 2, 3, 0]) is not None
    assert refuted == {0: False, 12: True}


def test_an_order_that_matters_is_not_proved(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_within, "_order_shown", lambda *_: None)
    v = prove_claim(resolve(f"{FOUR}3"), "product-order; finite; c=0x0; spread=4", book=book, limits=LIMITS)
    assert v.kind is Kind.UNKNOWN
    assert all(p.status is PartStatus.OPEN for p in v.parts)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("; finite", "expected finite and spread=S as assumptions of product-order"),
        ("; spread=2", "expected finite and spread=S as assumptions of product-order"),
        ("; normal", r"expected assumptions that claim product-order uses \(finite, exponents, c, spread\)"),
        ("; finite; exponents=5..6; c=0x1; spread=2", "expected assumptions that zeros obey"),
    ],
)
def test_assumptions_that_prove_nothing_are_refused(asked: str, said: str, book: LemmaBook) -> None:
    with pytest.raises(InputError, match=said):
        prove_claim(resolve(f"{FOUR}3"), f"product-order{asked}", book=book, limits=LIMITS)


@pytest.mark.parametrize(
    "name",
    [
        "tfdpa@products=1",
        "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
    ],
)
def test_units_without_other_orders_are_refused(name: str, book: LemmaBook) -> None:
    with pytest.raises(InputError, match="expected products without scales for an order within a spread"):
        prove_claim(resolve(name), "product-order; finite; spread=2", book=book, limits=LIMITS)
