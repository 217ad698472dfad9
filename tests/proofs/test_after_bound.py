"""Claim `error-bound` of truncated sums of products that c is added to exactly, and never of a false unit."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from false_units import not_lowered
from proofs.test_error_bound import LIMITS, asking, assert_holds, prove, replayed
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.errors import InputError, ProofError
from tcformal.formats.spec import Format
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.oracle.values import decode
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.claims.error_bound import stated_bound
from tcformal.proofs.claims.register import prove_claim, units_of
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.query.question import Kind
from tcformal.semantics import align, product
from tcformal.semantics.number import Number, Term
from tcformal.semantics.stages import Total
from tcformal.semantics.sums import step
from theorems import value_at

_TOY = "tfdpa@products=2,c_position=after,zero_exponent=none,c_format=e5m2,d_format=e5m2,conversion=RNE-E5M2"
#: Products of few bits; subnormal factors normalised and everything else flushed.
AFTER = f"{_TOY},a_format=e2m1,b_format=e2m1,fraction_bits=2"
NORMALISED = (
    f"{_TOY},a_format=e3m2,b_format=e3m2,fraction_bits=5,normalise_operands=true,"
    "result_subnormals=signed_zero,c_subnormals=signed_zero"
)
RELATIVE = (
    f"{_TOY},a_format=e2m1,b_format=e2m1,fraction_bits=4,result_subnormals=signed_zero,"
    "c_subnormals=signed_zero,zero_sign=ieee"
)
#: Every product of two pieces is a term.
PIECES = f"{_TOY},a_format=e2m3,b_format=e2m1,fraction_bits=5,piece_bits=2"


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        (AFTER, "|d - (Σ a_k·b_k + c)| <= 1·2^(E-2) + ulp(d)/2"),
        pytest.param(
            NORMALISED, "|d - (Σ a_k·b_k + FTZ(c))| <= 1·2^(E-5) + 2^-14 + ulp(d)/2", marks=pytest.mark.long
        ),
        pytest.param(PIECES, "|d - (Σ a_k·b_k + c)| <= 3·2^(E-5) + ulp(d)/2", marks=pytest.mark.long),
        pytest.param(
            "gaudi2/mme.bf16",
            "|d - (Σ FTZ(a_k)·FTZ(b_k) + FTZ(c))| <= 7·2^(E-46) + 2^-126 + ulp(d)/2",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_bound_holds_of_inputs_and_result(name: str, bound: str, book: LemmaBook) -> None:
    assert_holds(prove(name, book), bound)


def drawn(g: Graph, rng: random.Random) -> dict[str, int]:
    """Random encodings, products of one exponent among them; E from its least value up."""
    made = {name: rng.getrandbits(node.width) for name, node in g.inputs.items()}
    if rng.random() < 0.3:
        made["c"] &= 0x83
    return {**made, "E": OFFSET + rng.randrange(-14, 8)}


def broken(name: str, book: LemmaBook, times: int = 4000) -> bool:
    """Whether the unit, as it is defined now, breaks the bound on some random inputs."""
    stated, _ = stated_bound(asking(name, book))
    nodes = [n for _, p in stated.conclusions for m in p.terms for n in (*m[0], *(x for x, _ in m[1]))]
    wanted = [*dict.fromkeys(nodes), *stated.hypotheses]
    run, rng = Concrete(stated.graph, wanted), random.Random(3)
    for _ in range(times):
        values = dict(zip(wanted, run(drawn(stated.graph, rng)), strict=True))
        met = all(values[h] for h in stated.hypotheses)
        if met and any(value_at(p, values) < 0 for _, p in stated.conclusions):
            return True
    return False


@pytest.mark.parametrize("name", [AFTER, NORMALISED, PIECES])
def test_the_statement_means_the_exact_sum(name: str, book: LemmaBook) -> None:
    """The error of the statement against values decoded by the oracle, and within the bound."""
    stated, _ = stated_bound(asking(name, book))
    o, flushes = stated.unit.operands, stated.unit.design.c_subnormals != "kept"
    nodes = [n for _, p in stated.conclusions for m in p.terms for n in (*m[0], *(x for x, _ in m[1]))]
    wanted = [*dict.fromkeys(nodes), stated.result, *stated.hypotheses]
    run, rng, met = Concrete(stated.graph, wanted), random.Random(7), 0

    def value(fmt: Format, word: int, flush: bool = False) -> Fraction:
        x = decode(fmt, word)
        if flush and x.magnitude < Fraction(2) ** fmt.e_min:
            return Fraction(0)
        return -x.magnitude if x.sign else x.magnitude

    while met < 60:
        words = drawn(stated.graph, rng)
        values = dict(zip(wanted, run(words), strict=True))
        if not all(values[h] for h in stated.hypotheses):
            continue
        met += 1
        total = value(o.c, words["c"], flushes)
        for k in range(stated.unit.k):
            total += value(o.a, words[f"a[{k}]"]) * value(o.b, words[f"b[{k}]"])
        assert value_at(stated.error, values) == value(o.d, values[stated.result]) - total
        assert all(value_at(p, values) >= 0 for _, p in stated.conclusions)


# ------------------------------------------------------------------------------------------ false units
def _no_sign(patch: pytest.MonkeyPatch) -> None:
    """The sum of the products joins c without its sign."""

    def as_term(g: Graph, total: Total) -> Term:
        return replace(step.as_term(g, total), sign=g.truth(False))

    patch.setattr("tcformal.semantics.sums.block.as_term", as_term)


def _too_large(patch: pytest.MonkeyPatch) -> None:
    """The products are aligned two binades above the largest."""

    def shift_to(g: Graph, exponent: Any, e_max: Any) -> Any:
        return g.add_expand(align.shift_to(g, exponent, e_max), g.const(2, 2))

    patch.setattr("tcformal.semantics.reduce.shift_to", shift_to)


def _no_lowest(patch: pytest.MonkeyPatch) -> None:
    """The pieces with the highest numbers are left out."""

    def in_pieces(g: Graph, x: Number, bits: int, dropped: int) -> list[Number]:
        return product.in_pieces(g, x, bits, dropped)[:-1]

    patch.setattr("tcformal.semantics.mma.in_pieces", in_pieces)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        (AFTER, _no_sign),
        (AFTER, _too_large),
        (PIECES, _no_lowest),
        pytest.param(NORMALISED, not_lowered, marks=pytest.mark.long),
    ],
)
def test_a_false_unit_never_holds(
    name: str, fault: Callable[[pytest.MonkeyPatch], None], book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not broken(name, book, 500)
    fault(monkeypatch)
    assert broken(name, book)
    v = prove(name, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert not v.parts[0].tree


def test_the_proof_about_another_unit_is_refused(book: LemmaBook) -> None:
    tree = prove(AFTER, book).parts[0].tree
    replayed(AFTER, tree, book)
    for other in ("fraction_bits=2", "fraction_bits=1"), ("RNE", "RZ"), ("b_format=e2m1", "b_format=e2m3"):
        with pytest.raises(ProofError):
            replayed(AFTER.replace(*other), tree, book)


# ------------------------------------------------------------------------------- in terms of magnitudes
def relative(
    name: str, book: LemmaBook, tree: str = "", claim: str = "relative-error; c=0x0"
) -> ClaimVerdict:
    return prove_claim(resolve(name), claim, book=book, limits=LIMITS, tree=tree)


def test_a_constant_holds_where_c_is_zero(book: LemmaBook) -> None:
    """A product loses λ = 793/1024 of a unit, 2^-4, and the sum half an ulp: (λ·2^-4 + 2^-3)/(1 - 2^-3)."""
    v = relative(RELATIVE, book)
    assert v.kind is Kind.HOLDS, v.reason
    assert v.reason == "|d - Σ a_k·b_k| <= 2841/14336 · Σ|a_k·b_k| + 2^-13"
    assert "c = 0" in v.composition
    # The same steps are no proof about a sum of other bits.
    other = relative(RELATIVE.replace("fraction_bits=", "fraction_bits=1"), book, v.parts[0].tree)
    assert other.kind is Kind.UNKNOWN


@pytest.mark.parametrize("fault", [_no_sign, pytest.param(_too_large, marks=pytest.mark.long)])
def test_a_constant_of_a_false_unit_never_holds(
    fault: Callable[[pytest.MonkeyPatch], None], book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    v = relative(RELATIVE, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert not v.parts[0].tree


def test_a_constant_beside_a_c_that_is_not_zero_is_refused(book: LemmaBook) -> None:
    with pytest.raises(InputError, match="expected c=0 for claim relative-error"):
        relative(RELATIVE, book, claim="relative-error")
    with pytest.raises(InputError, match="expected whole products"):
        relative(PIECES, book)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("zero_exponent=none", "zero_exponent=-20"), "those that are zero left out"),
        (
            ("fraction_bits=2", "fraction_bits=2,piece_bits=1,dropped_pieces=1"),
            "leaves 1 of their pieces out",
        ),
        (("products=2", "products=2,k=4"), "one sum of products, then c"),
    ],
)
def test_a_unit_without_a_statement_is_open(change: tuple[str, str], reason: str, book: LemmaBook) -> None:
    v = prove(AFTER.replace(*change), book)
    assert v.kind is Kind.UNKNOWN
    assert reason in v.reason


def test_the_claim_is_asked_of_every_unit_that_adds_c_after_the_products() -> None:
    asked = {u.name for u in units_of(["error-bound"])}
    after = {x for x in distinct_designs() if catalogue()[x].design.c_position == "after"}
    assert after
    assert after < asked
