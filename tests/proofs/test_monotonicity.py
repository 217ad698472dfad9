"""Claim `monotonicity`: theorems of the kernel about two results, and never about a false unit."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest

from proofs.test_error_bound import LIMITS, asking
from tcformal.design.names import resolve
from tcformal.errors import ProofError
from tcformal.interp.concrete import Concrete
from tcformal.interp.vector import Vector
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.values import NumberClass, decode
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.claims.error_bound import LemmaJudge, stated_order
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.kernel.rules import check
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.packed import unpacked
from tcformal.proofs.statements.monotone import monotone_sum
from tcformal.query.question import Kind
from tcformal.semantics import round as rounding
from tcformal.semantics.number import Term
from theorems import check_theorems

_E4M1 = "a_format=e2m1,b_format=e2m1,c_format=e4m1,d_format=e4m1,zero_sign=ieee"
FMA = f"sequential@products=1,accumulator=RNE-E4M1,conversion=RNE-E4M1,overflow=ieee,{_E4M1}"
CHAIN = f"{FMA},k=2"
CUT = f"sequential@products=1,accumulator=RZ-E4M1,conversion=RZ-E4M1,overflow=infinity,{_E4M1}"
#: Both products in one window, then c.
LAST = f"{FMA.replace('products=1', 'products=2')},summation=fused,c_position=last"
FLUSHED = f"{CHAIN},operand_subnormals=signed_zero,c_subnormals=signed_zero,result_subnormals=signed_zero"

_LONG = pytest.mark.long


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def prove(name: str, book: LemmaBook, tree: str = "") -> ClaimVerdict:
    return prove_claim(resolve(name), "monotonicity", book=book, limits=LIMITS, tree=tree)


@pytest.fixture(scope="module")
def proved(book: LemmaBook) -> ClaimVerdict:
    """The claim about FMA."""
    return prove(FMA, book)


@pytest.fixture(scope="module")
def tree(proved: ClaimVerdict) -> str:
    """Its proof."""
    return proved.parts[0].tree


@pytest.mark.long
def test_a_larger_c_gives_no_smaller_result(proved: ClaimVerdict) -> None:
    _holds(proved)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        CHAIN, CUT, LAST, FLUSHED, "power10/xvf32gerpp", "power10/xvf64gerpp", "riscv/vfbdot.vv.vlen128",
        "x86/vdpphps",
    ],
)  # fmt: skip
def test_a_larger_c_gives_no_smaller_result_of_chains(name: str, book: LemmaBook) -> None:
    _holds(prove(name, book))


def _holds(v: ClaimVerdict) -> None:
    assert v.kind is Kind.HOLDS, v.reason
    assert "c <= c' implies d <= d'" in v.composition
    assert all(x.holds and x.certificate is not None for x in v.lemmas)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (f"{FMA},result_subnormals=tiny_zero", "flushed where tiny"),
        (CUT.replace("RZ", "RO"), "rounded by RO"),
    ],
)
def test_a_unit_without_a_tactic_is_open(name: str, reason: str, book: LemmaBook) -> None:
    v = prove(name, book)
    assert v.kind is Kind.UNKNOWN
    assert reason in v.parts[0].note


def _drawn(g: Graph, rng: random.Random) -> dict[str, int]:
    """Random encodings, the second c often the first or its neighbour."""
    made = {name: rng.getrandbits(node.width) for name, node in g.inputs.items()}
    made["c2"] = rng.choice([made["c2"], made["c"], made["c"] ^ 1, made["c"] ^ 0x20])
    return made


@pytest.mark.long
def test_every_theorem_of_a_proof_is_true_on_random_inputs(tree: str, book: LemmaBook) -> None:
    check_theorems(stated_order(asking(FMA, book))[0], tree, _drawn, 4)


def test_the_statement_orders_words_as_their_values() -> None:
    """The hypothesis and the conclusion for all pairs of words of a format, by the oracle."""
    unit = resolve(FMA)
    fmt = unit.operands.c
    g = Graph()
    c, more = g.input("c", fmt.width), g.input("c2", fmt.width)
    stated = monotone_sum(g, unit, (c, more), (c, more))
    run = Concrete(g, [stated.ordered, *(x.finite for x in stated.c)])
    words = [(i, decode(fmt, i)) for i in range(1 << fmt.width)]
    met = 0
    for (i, x), (j, y) in product(words, repeat=2):
        ordered, *finite = run({"c": i, "c2": j})
        if all(finite):
            met += 1
            assert ordered == (x.number <= y.number)
    assert met > 1000


def _without_sticky(patch: pytest.MonkeyPatch) -> None:
    """Rounds up from the exact middle alone: what is larger goes down again."""
    real = rounding.round_away

    def round_away(g: Graph, mode: str, sign: Node, odd: Node, guard: Node, sticky: Node) -> Node:
        return g.and_(guard, g.not_(sticky)) if mode == "RNE" else real(g, mode, sign, odd, guard, sticky)

    patch.setattr("tcformal.semantics.round.round_away", round_away)


def _lost_too_high(patch: pytest.MonkeyPatch) -> None:
    """What alignment loses sets a bit that is not the lowest one."""

    def align_sticky(g: Graph, term: Term, distance: Node, fraction_bits: int) -> Node:
        x = g.shift_left_const(term.significand, fraction_bits - term.fraction_bits)
        shifted, lost = rounding.shift_right_sticky(g, x, distance)
        return g.or_(shifted, g.shift_left_const(g.zero_extend_to(lost, shifted.width - 4), 4))

    patch.setattr("tcformal.semantics.sums.exact.align_sticky", align_sticky)


def _falls(name: str) -> bool:
    """Whether a larger c gives a smaller result for some words of one product, all of them tried."""
    unit, g = resolve(name), Graph()
    root, o = chained_dot(g, unit, declare_inputs(g, unit, 1)).result, unit.operands
    finite = [[w for w in range(1 << f.width) if decode(f, w).kind is NumberClass.FINITE] for f in (o.a, o.c)]
    ordered = sorted(finite[1], key=lambda w: decode(o.c, w).number)
    rows = [(a, b, c) for a in finite[0] for b in finite[0] for c in ordered]
    names = ("a[0]", "b[0]", "c")
    columns = {n: np.array([row[i] for row in rows], np.uint64) for i, n in enumerate(names)}
    (words,) = Vector(g, columns).run([root])
    results = [decode(o.d, int(w)) for w in words]
    for start in range(0, len(rows), len(ordered)):
        row = [x.number for x in results[start : start + len(ordered)] if x.kind is NumberClass.FINITE]
        if any(y < x for x, y in pairwise(row)):
            return True
    return False


def test_a_unit_that_is_monotone_never_falls() -> None:
    assert not _falls(FMA)


@pytest.mark.parametrize("fault", [_without_sticky, _lost_too_high])
def test_a_unit_that_is_not_monotone_never_holds(
    fault: Callable[[pytest.MonkeyPatch], None], tree: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert _falls(FMA)
    v = prove(FMA, book)
    assert v.kind is Kind.UNKNOWN
    assert v.parts[0].note
    assert not v.parts[0].tree
    stated, _ = stated_order(asking(FMA, book))
    steps, last = unpacked(tree)
    with pytest.raises(ProofError):
        check(
            stated.graph, stated.hypotheses, stated.conclusions, stated.roots, steps, last, LemmaJudge(book)
        )
