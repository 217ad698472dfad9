"""Claim `integer-sums` of units that add in steps: chains, trees, c last; and never of a false unit."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import tcformal
import tcformal.proofs.claims.integer_sums as claim
from proofs.test_after_bound import NORMALISED
from proofs.test_after_bound import PIECES as CUT_FACTORS
from proofs.test_error_bound import LIMITS
from proofs.test_integer_sums import check_statement
from proofs.test_rounded_bound import (
    CHAIN,
    CHAINS,
    FLUSHED,
    FMA,
    FUSED,
    NEGATED,
    ODD,
    PAIRS,
    TINY,
)
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.operations import operation
from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.values import encode_exact, encoded
from tcformal.proofs.claim import Asking, ClaimVerdict, PartStatus
from tcformal.proofs.claims.integer_witness import exact_sum, one_too_large
from tcformal.proofs.claims.register import CLAIMS, prove_claim, refused
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.statements.integer_sums import IntegerSum, flushed_factors, largest_exact, least_cut
from tcformal.query.question import Kind
from tcformal.semantics import product as product_of
from tcformal.semantics.number import Number
from tcformal.semantics.round import convert
from theorems import check_theorems

_LONG = pytest.mark.long
#: Exact products of three terms, cut to more bits than the result has, then c.
AFTER = (
    "tfdpa@products=2,c_position=after,zero_exponent=none,c_format=e5m2,d_format=e5m2,conversion=RNE-E5M2,"
    "a_format=e2m1,b_format=e2m1,fraction_bits=4"
)
TREE = "vortex/VX_tcu_fedp_dpi.bf16"


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def unit_of(name: str) -> UnitSpec:
    return resolve(name)


def prove(name: str, book: LemmaBook) -> ClaimVerdict:
    return prove_claim(unit_of(name), "integer-sums", book=book, limits=LIMITS)


def stated(name: str, book: LemmaBook) -> IntegerSum:
    unit = unit_of(name)
    return claim.stated_sum(Asking(unit, book, LIMITS, None, lambda _: None), largest_exact(unit))[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "only", "most", "sign"),
    [
        (FMA, "", 11, ""),
        (TINY, " of factors that are not subnormal", 11, ""),
        (AFTER, "", 3, ""),
        *(
            pytest.param(*row, marks=_LONG)
            for row in (
                (CHAIN, "", 11, ""),
                (FLUSHED, " of factors that are not subnormal", 11, ""),
                (ODD, "", 11, ""),
                (FUSED, "", 11, ""),
                (CHAINS, "", 11, ""),
                (PAIRS, "", 11, ""),
                (NEGATED, " of a_k that are not subnormal", 11, "(-1)^k·"),
                (NORMALISED, "", 3, ""),
                (TREE, "", 24, ""),
                ("gaudi/mme.bf16.cd5", " of factors that are not subnormal", 24, ""),
                ("power10/xvf64gerpp", "", 53, ""),
                ("hopper/emulated.mma.m16n8k16.f32.e4m3.e4m3.f32", "", 24, ""),
            )
        ),
    ],
)
def test_sums_of_integers_are_exact_and_one_more_is_not(
    name: str, only: str, most: int, sign: str, book: LemmaBook
) -> None:
    v, unit = prove(name, book), unit_of(name)
    assert v.kind is Kind.HOLDS, v.reason
    assert v.reason == f"integers{only} with Σ |a_k·b_k| + |c| <= 2^{most} give d = Σ {sign}a_k·b_k + c"
    assert all(x.holds and x.certificate is not None for x in v.lemmas)
    proof, *controls = v.parts
    assert proof.tree
    assert len(controls) == 1 + any(flushed_factors(unit))
    for part, size in zip(controls, (most, 0), strict=False):
        assert part.status is PartStatus.VIOLATED
        assert part.witness is not None
        more, other = part.witness.first, part.witness.second
        sums = [exact_sum(unit, w) - 2**size for w in (more, other)]
        assert sums[0] == 1
        assert sums[1] in (0, 2)
        results = [unit_dot(unit, w.a, w.b, w.c) for w in (more, other)]
        assert results[0] == results[1]


def _drawn(unit: UnitSpec) -> Callable[[Graph, random.Random], dict[str, int]]:
    """What draws random words, most of them integers and powers of two that are often zero or small."""
    o = unit.operands

    def drawn(g: Graph, rng: random.Random) -> dict[str, int]:
        made = {}
        for name, node in g.inputs.items():
            fmt = o.c if name == "c" else o.a if name[0] == "a" else o.b
            more = [5, 7, 1 << 10] if name == "c" else [Fraction(1, 2), 2**-15, 2**15]
            values = [0, 1, 2, 3, 4, 6, *more]
            words = [w for x in values if (w := encoded(fmt, Fraction(x))) is not None]
            word = rng.choice(words) | (fmt.sign_bit if rng.random() < 0.5 else 0)
            made[name] = rng.getrandbits(node.width) if rng.random() < 0.03 else word
        return made

    return drawn


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [FMA, TINY, NEGATED, AFTER, *(pytest.param(x, marks=_LONG) for x in (FLUSHED, CHAINS, ODD))]
)
def test_the_statement_means_exact_sums_of_integers(name: str, book: LemmaBook) -> None:
    """Its hypotheses are those that it prints, and what it concludes is true, by values of the oracle."""
    s, unit = stated(name, book), resolve(name)
    low = "".join(x for x, flushed in zip("ab", flushed_factors(unit), strict=True) if flushed)
    check_statement(s, _drawn(unit), low=low, least=40)


@pytest.mark.long
def test_every_theorem_of_a_proof_is_true_on_random_inputs(book: LemmaBook) -> None:
    tree = prove(FMA, book).parts[0].tree

    def drawn(g: Graph, rng: random.Random) -> dict[str, int]:
        """One product that is an integer, beside the words of others."""
        o = resolve(FMA).operands
        words = {"a[0]": (o.a, (0, 1, 2, 6)), "b[0]": (o.b, (0, 1, 3)), "c": (o.c, (0, 1, 5, 1024))}
        return {
            name: encode_exact(fmt, Fraction(rng.choice(values) * rng.choice((-1, 1))))
            for name, (fmt, values) in words.items()
        }

    check_theorems(stated(FMA, book), tree, drawn)


# ------------------------------------------------------------------------------------------ false units
def _wrong_sign(patch: pytest.MonkeyPatch) -> None:
    """Products have the other sign."""
    real = product_of.product

    def product(g: Graph, a: Number, b: Number) -> Number:
        made = real(g, a, b)
        return replace(made, term=replace(made.term, sign=g.not_(made.term.sign)))

    patch.setattr("tcformal.semantics.mma.product", product)
    patch.setattr("tcformal.proofs.tactics.rounded.inputs.product", product)


def _dropped(patch: pytest.MonkeyPatch) -> None:
    """Products count as zeros."""
    real = product_of.product

    def product(g: Graph, a: Number, b: Number) -> Number:
        made = real(g, a, b)
        none = g.const(0, made.term.significand.width)
        return replace(made, term=replace(made.term, significand=none, zero=g.truth(True)))

    patch.setattr("tcformal.semantics.mma.product", product)
    patch.setattr("tcformal.proofs.tactics.rounded.inputs.product", product)


def _shorter(patch: pytest.MonkeyPatch) -> None:
    """Results keep one bit less, with a 0 in its place."""

    def shorter(g: Graph, sign: Node, magnitude: Node, lsb: Any, target: Any, **rules: Any) -> Any:
        made = convert(g, sign, magnitude, lsb, target, **rules)
        t = made.result.term
        kept = g.shift_left_const(g.extract(t.significand, t.significand.width - 1, 1), 1)
        return replace(made, result=replace(made.result, term=replace(t, significand=kept)))

    patch.setattr("tcformal.semantics.sums.step.convert", shorter)


_FALSE = (_wrong_sign, _dropped, _shorter)


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "name"),
    [
        *((f, FMA) for f in (_wrong_sign, _dropped, _shorter)),
        *(
            pytest.param(f, x, marks=_LONG)
            for f in (_wrong_sign, _dropped, _shorter)
            for x in (CHAINS, AFTER)
        ),
    ],
)
def test_a_false_unit_never_holds(
    fault: Callable[[pytest.MonkeyPatch], None], name: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    v = prove(name, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert v.parts[0].note
    assert not v.parts[0].tree


@pytest.mark.long
def test_one_bit_more_is_not_proved(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim, "largest_exact", lambda unit: largest_exact(unit) + 1)
    v = prove(FMA, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert v.parts[0].status is PartStatus.OPEN


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cdna1/v_mfma_f32_32x32x4bf16", "an exact sum of 3 terms"),
        ("riscv/vfwbdot.vv.vlen128", "rounded where they are aligned"),
    ],
)
def test_what_no_tactic_proves_is_open(name: str, reason: str, book: LemmaBook) -> None:
    v = prove(name, book)
    assert v.kind is Kind.UNKNOWN
    assert reason in v.reason


def test_a_unit_that_flushes_factors_is_not_exact_of_subnormal_ones() -> None:
    unit = resolve(TINY)
    assert least_cut(unit) == 0
    assert one_too_large(unit, 0, subnormal=True) is not None
    assert one_too_large(unit, largest_exact(unit) - 1) is None


@pytest.mark.long
@pytest.mark.parametrize("name", ["x86/tdpbhf8ps", "x86/tdphbf8ps"])
def test_no_whole_number_is_a_product_of_such_a_factor_and_a_narrow_one(name: str) -> None:
    """e5m2's subnormal numbers are below 2^-14, and e4m3's numbers below 2^9."""
    unit = resolve(name)
    assert any(flushed_factors(unit))
    assert least_cut(unit) is None
    assert one_too_large(unit, 0, subnormal=True) is None


# --------------------------------------------------------------------------------------------- refusals
_SAID = {
    "TR-FDPA", "GTR-FDPA", "complement DPA", "paired DPA", "jammed DPA", "sticky DPA", "halves DPA",
}  # fmt: skip


def test_every_other_operation_is_refused_in_a_sentence() -> None:
    """Of each distinct design there is a statement, or a sentence that says why there is none."""
    none = {name for name in distinct_designs() if refused("integer-sums", catalogue()[name])}
    assert all(CLAIMS["integer-sums"].fits(catalogue()[name]) for name in distinct_designs())
    assert {name for name in distinct_designs() if operation(catalogue()[name]).name in _SAID} <= none
    others = {operation(catalogue()[name]).name for name in none} - _SAID
    assert others == {"T-FDPA", "DPA, then c", "tree of sums"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (CUT_FACTORS, "whole products as terms"),
        ("hexagon/mxmem.hf", "keep every integer of 64 bits"),
        ("nvdla/cmac.fp16", "terms aligned at one exponent"),
    ],
)
def test_what_the_claim_says_nothing_of_is_refused(name: str, reason: str) -> None:
    assert reason in refused("integer-sums", resolve(name))
    with pytest.raises(tcformal.InputError, match=reason):
        tcformal.prove_claim(resolve(name), "integer-sums")
