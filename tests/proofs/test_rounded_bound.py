"""Claim `error-bound` of sums that are exact and then rounded: chains, trees, and never of a false unit."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proofs.test_error_bound import (
    LIMITS,
    asking,
    assert_holds,
    drawn,
    prove,
    replayed,
    true_on_random_inputs,
)
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.errors import ProofError
from tcformal.formats.spec import Format
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.values import decode
from tcformal.proofs.claims.error_bound import stated_bound
from tcformal.proofs.claims.register import units_of
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.query.question import Kind
from tcformal.semantics import product as product_of
from tcformal.semantics.normalise import shift_left_by_leading_zeros
from tcformal.semantics.number import Number, Term
from tcformal.semantics.round import clamp, convert
from tcformal.semantics.stages import Rounded
from theorems import value_at

_FORMATS = "a_format=e5m2,b_format=e5m2,c_format=fp16,d_format=fp16,zero_sign=ieee"
_TOY = f"{_FORMATS},conversion=RNE-FP16,overflow=ieee"
FMA = f"sequential@products=1,accumulator=RNE-FP16,{_TOY}"
CHAIN = f"sequential@products=2,accumulator=RNE-FP16,{_TOY}"
_TREE = "sequential@products=2,c_position=last,summation=pairwise"
#: Rounded products, subnormals flushed: FTZ-AddMul.
FLUSHED = (
    f"{_TREE},accumulator=RNE-FP16,product_rounding=RNE-FP16,operand_subnormals=positive_zero,"
    f"c_subnormals=positive_zero,result_subnormals=signed_zero,{_TOY}"
)
#: What is tiny with any exponent becomes 0, as a step of x86's bf16 sums has it.
TINY = f"{FMA},operand_subnormals=positive_zero,c_subnormals=positive_zero,result_subnormals=tiny_zero"
#: Everything rounded to odd.
ODD = f"{_TREE},accumulator=RO-FP16,product_rounding=RO-FP16,{_FORMATS},conversion=RO-FP16,overflow=infinity"
#: Both products and c in one exact sum: E-FDPA.
FUSED = f"sequential@products=2,c_position=joined,summation=fused,{_TOY}"

#: Two chains that start from zero.
CHAINS = f"{_TREE},accumulator=RNE-FP16,{_TOY}".replace("pairwise", "two_chains")

#: Pairs, their sums in two chains; and odd products subtracted, subnormals of a flushed and those of b not.
PAIRS = CHAINS.replace("two_chains", "pair_chains").replace("products=2", "products=4,k=4")
NEGATED = f"{CHAIN},negated=odd,operand_subnormals=signed_zero,b_subnormals=kept"

#: Both products and c in windows, where these are forced: with few bits, far exponents and subnormals.
_E4M1 = "a_format=e2m1,b_format=e2m1,c_format=e4m1,d_format=e4m1,conversion=RNE-E4M1"
WINDOWS = f"sequential@products=2,c_position=joined,summation=fused,{_E4M1},zero_sign=ieee,overflow=ieee"

_LONG = pytest.mark.long


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "bound"),
    [
        (CHAIN, "|d - (Σ a_k·b_k + c)| <= 2^(E-9) + ulp(d)/2"),
        (TINY, "|d - (Σ FTZ(a_k)·FTZ(b_k) + FTZ(c))| <= 2^-14 + ulp(d)/2"),
        pytest.param(
            FLUSHED,
            "|d - (Σ FTZ(a_k)·FTZ(b_k) + FTZ(c))| <= 2^(E-9) + 2·2^-25 + 4·2^-14 + ulp(d)/2",
            marks=_LONG,
        ),
        pytest.param(ODD, "|d - (Σ a_k·b_k + c)| <= 2^(E-8) + 2·2^-24 + ulp(d)", marks=_LONG),
        pytest.param(FUSED, "|d - (Σ a_k·b_k + c)| <= ulp(d)/2", marks=_LONG),
        pytest.param(CHAINS, "|d - (Σ a_k·b_k + c)| <= 2·2^(E-10) + 2^(E-9) + ulp(d)/2", marks=_LONG),
        pytest.param(NEGATED, "|d - (Σ (-1)^k·FTZ(a_k)·b_k + c)| <= 2^(E-9) + ulp(d)/2", marks=_LONG),
        pytest.param(PAIRS, "|d - (Σ a_k·b_k + c)| <= 4·2^(E-9) + 2^(E-8) + ulp(d)/2", marks=_LONG),
        pytest.param(
            "cdna1/v_mfma_f32_32x32x2f32", "|d - (Σ a_k·b_k + c)| <= 2^(E-22) + ulp(d)/2", marks=_LONG
        ),
        pytest.param(
            "x86/vdpbf16ps",
            "|d - (Σ FTZ(a_k)·FTZ(b_k) + FTZ(c))| <= 2^(E-22) + 2·2^-126 + ulp(d)/2",
            marks=_LONG,
        ),
        # Three terms in windows.
        pytest.param(
            "cdna1/v_mfma_f32_32x32x4bf16", "|d - (Σ a_k·b_k + c)| <= 2^(E-21) + ulp(d)/2", marks=_LONG
        ),
        pytest.param("arm/bfdot.ebf1", "|d - (Σ a_k·b_k + c)| <= 2^(E-22) + ulp(d)/2", marks=_LONG),
    ],
)
def test_a_bound_holds_of_inputs_and_result(name: str, bound: str, book: LemmaBook) -> None:
    assert_holds(prove(name, book), bound)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sum of products is kept whole, so that three terms are summed in windows."""
    monkeypatch.setattr("tcformal.semantics.sums.exact._FIXED_WINDOW", 0)


@pytest.mark.long
@pytest.mark.usefixtures("windows")
def test_a_bound_holds_of_three_terms_in_windows(book: LemmaBook) -> None:
    v = prove(WINDOWS, book)
    assert v.kind is Kind.HOLDS, v.reason
    assert v.reason == "|d - (Σ a_k·b_k + c)| <= ulp(d)/2"


@pytest.mark.long
@pytest.mark.usefixtures("windows")
def test_every_theorem_of_a_proof_in_windows_is_true_on_random_inputs(book: LemmaBook) -> None:
    true_on_random_inputs(WINDOWS, book, 12)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [TINY, *(pytest.param(x, marks=_LONG) for x in (FMA, CHAIN, FLUSHED, ODD, FUSED))]
)
def test_every_theorem_of_a_proof_is_true_on_random_inputs(name: str, book: LemmaBook) -> None:
    true_on_random_inputs(name, book, 12)


@pytest.mark.parametrize(
    ("name", "flushes", "odd"), [(FLUSHED, (True, True, True), 1), (NEGATED, (True, False, False), -1)]
)
def test_the_statement_means_the_exact_sum_of_what_is_not_flushed(
    name: str, flushes: tuple[bool, bool, bool], odd: int, book: LemmaBook
) -> None:
    """The error of the statement against values decoded by the oracle, and within the bound."""
    stated, _ = stated_bound(asking(name, book))
    o, k, (of_a, of_b, of_c) = stated.unit.operands, stated.unit.k, flushes
    nodes = [n for _, p in stated.conclusions for m in p.terms for n in (*m[0], *(x for x, _ in m[1]))]
    wanted = [*dict.fromkeys(nodes), stated.result, *stated.hypotheses]
    run, rng, met, flushed = Concrete(stated.graph, wanted), random.Random(7), 0, 0

    def value(fmt: Format, word: int, flush: bool) -> Fraction:
        x = decode(fmt, word)
        if flush and x.magnitude < Fraction(2) ** fmt.e_min:
            return Fraction(0)
        return -x.magnitude if x.sign else x.magnitude

    while met < 60:
        words = drawn(stated.graph, rng)
        words["c"] = rng.choice([words["c"], words["c"] & 0x83FF])
        values = dict(zip(wanted, run(words), strict=True))
        if not all(values[h] for h in stated.hypotheses):
            continue
        met += 1
        flushed += 0 < words["c"] & 0x7FFF < 0x400
        total = value(o.c, words["c"], of_c)
        for i in range(k):
            product = value(o.a, words[f"a[{i}]"], of_a) * value(o.b, words[f"b[{i}]"], of_b)
            total += product * (odd if i % 2 else 1)
        assert value_at(stated.error, values) == value(o.d, values[stated.result], flush=False) - total
        assert all(value_at(p, values) >= 0 for _, p in stated.conclusions)
    assert flushed > 5


# ------------------------------------------------------------------------------------------ false units
def _product(changed: Callable[[Graph, Term], Term]) -> Callable[[pytest.MonkeyPatch], None]:
    def fault(patch: pytest.MonkeyPatch) -> None:
        real = product_of.product

        def product(g: Graph, a: Number, b: Number) -> Number:
            made = real(g, a, b)
            return replace(made, term=changed(g, made.term))

        patch.setattr("tcformal.semantics.mma.product", product)

    return fault


def _not_rounded(patch: pytest.MonkeyPatch) -> None:
    """The significand is cut."""
    patch.setattr("tcformal.semantics.round.round_away", lambda g, *_: g.truth(False))


def _not_sticky(patch: pytest.MonkeyPatch) -> None:
    """What is lost in aligning is forgotten."""

    def align(g: Graph, term: Term, distance: Node, bits: int) -> Node:
        return g.lshr(g.shift_left_const(term.significand, bits - term.fraction_bits), distance)

    patch.setattr("tcformal.semantics.sums.exact.align_sticky", align)


def _not_flushed(patch: pytest.MonkeyPatch) -> None:
    """Subnormal operands count."""
    patch.setattr("tcformal.semantics.mma.flush", lambda g, x, rule: x)


def _raised(patch: pytest.MonkeyPatch) -> None:
    """A result's exponent is 1 too large where it was shifted by an odd distance."""
    real = shift_left_by_leading_zeros

    def shifted(g: Graph, x: Node, limit: Node | None = None) -> tuple[Node, Node]:
        made, distance = real(g, x, limit)
        return made, distance if limit is None else g.and_(
            distance, g.const((1 << distance.width) - 2, distance.width)
        )

    patch.setattr("tcformal.semantics.round.shift_left_by_leading_zeros", shifted)


def _least_binade_flushed(patch: pytest.MonkeyPatch) -> None:
    """Results below twice the least normal number are flushed."""

    def converted(g: Graph, *args: Any, **kwargs: Any) -> Rounded:
        made = convert(g, *args, **kwargs)
        term = made.result.term
        least = g.is_zero(term.exponent.bits)
        significand = g.ite(least, g.const(0, term.significand.width), term.significand)
        term = replace(term, significand=significand, zero=g.is_zero(significand))
        return replace(made, result=replace(made.result, term=term))

    patch.setattr("tcformal.semantics.sums.step.convert", converted)


FAULTS = {
    "a dropped product": _product(lambda g, t: replace(t, significand=g.const(0, t.significand.width))),
    "a wrong sign": _product(lambda g, t: replace(t, sign=g.not_(t.sign))),
    "no rounding": _not_rounded,
    "no sticky bit": _not_sticky,
    "an exponent too large": _raised,
    "the least binade flushed": _least_binade_flushed,
}
#: Sums that are cut keep the bound of one whole ulp, and the exact sums of two products of e5m2 any bound.
_TRUE = {(ODD, "no rounding"), (FLUSHED, "no rounding")}
_BOTH = [(name, fault) for name in (FMA, FLUSHED, ODD) for fault in FAULTS if (name, fault) not in _TRUE]
_BOTH.append((TINY, "the least binade flushed"))


def violated(name: str, book: LemmaBook) -> bool:
    """Whether the unit, as it is defined now, breaks the bound on some random inputs."""
    stated, _ = stated_bound(asking(name, book))
    nodes = [n for _, p in stated.conclusions for m in p.terms for n in (*m[0], *(x for x, _ in m[1]))]
    wanted = [*dict.fromkeys(nodes), *stated.hypotheses]
    run, rng = Concrete(stated.graph, wanted), random.Random(3)
    for _ in range(3000):
        words = drawn(stated.graph, rng)
        words["E"] = OFFSET + rng.randrange(-14, 4)
        values = dict(zip(wanted, run(words), strict=True))
        met = all(values[h] for h in stated.hypotheses)
        if met and any(value_at(p, values) < 0 for _, p in stated.conclusions):
            return True
    return False


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "fault"), [pytest.param(*x, marks=() if x[0] in (FMA, TINY) else _LONG) for x in _BOTH]
)
def test_a_false_unit_never_holds(
    name: str, fault: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    FAULTS[fault](monkeypatch)
    # Few inputs show what a sticky bit is for.
    assert fault == "no sticky bit" or violated(name, book)
    v = prove(name, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert v.parts[0].note
    assert not v.parts[0].tree


def _no_far_gap(patch: pytest.MonkeyPatch) -> None:
    """A far term is moved up to where rounding sees it."""
    patch.setattr("tcformal.semantics.sums.exact.clamp", lambda g, x, most: clamp(g, x, 2))


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    "fault",
    [
        _no_far_gap, FAULTS["a wrong sign"],
        *(pytest.param(FAULTS[x], marks=_LONG) for x in ("a dropped product", "no rounding")),
    ],
)  # fmt: skip
def test_false_windows_never_hold(
    fault: Callable[[pytest.MonkeyPatch], None], book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert violated(WINDOWS, book)
    v = prove(WINDOWS, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert not v.parts[0].tree


def test_a_unit_that_forgets_to_flush_never_holds(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    _not_flushed(monkeypatch)
    assert violated(FLUSHED, book)
    v = prove(FLUSHED, book)
    assert v.kind is Kind.UNKNOWN
    assert not v.parts[0].tree


@pytest.mark.long
def test_the_proof_of_another_unit_is_refused(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = prove(FMA, book).parts[0].tree
    replayed(FMA, tree, book)
    _not_sticky(monkeypatch)
    with pytest.raises(ProofError):
        replayed(FMA, tree, book)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (FMA.replace("RNE-FP16,overflow", "RU-FP16,overflow"), "got RU"),
    ],
)
def test_a_unit_without_a_proof_is_open(name: str, reason: str, book: LemmaBook) -> None:
    v = prove(name, book)
    assert v.kind is Kind.UNKNOWN
    assert reason in v.reason


def test_the_claim_is_asked_of_every_unit_that_rounds_every_sum() -> None:
    asked = {u.name for u in units_of(["error-bound"])}
    exact = {x for x in distinct_designs() if catalogue()[x].design.fraction_bits is None}
    assert exact < asked
    assert not exact & {u.name for u in units_of(["carry-bits"])}
