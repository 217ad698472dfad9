"""Claim `error-bound` of sums of groups, sums that are rounded down, and compositions."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from bounded_units import UNITS
from tcformal.errors import InputError, ProofError, WidthError
from tcformal.formats.spec import Format
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.values import decode
from tcformal.proofs.claim import Asking, ClaimVerdict
from tcformal.proofs.claims.agreement import SEPARATOR
from tcformal.proofs.claims.error_bound import LemmaJudge, stated_bound
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.kernel.rules import check
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.packed import unpacked
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.query.assume import Assumptions
from tcformal.query.question import Kind
from tcformal.semantics import align, reduce
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.sums import step
from tcformal.solve.result import Limits
from theorems import check_theorems, value_at

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)


BOUNDS = {
    "groups": "|d - (Σ a_k·b_k (with both scales) + c)| < 2·2^(E-16) + ulp(d)",
    # A product of e5m2 loses 1921/2048 of a unit at most.
    "tr": "-(3969/2048·2^(P-11) + 2^(E-14) + ulp(d)·(1/2 + 2^-4)) <= d - (Σ a_k·b_k + c) "
    "<= 1921/2048·2^(P-11) + ulp(d)/2",
    "tr; c=0x0": "-(1921/2048·2^(P-11) + 2^(E-14) + ulp(d)·(1/2 + 2^-4)) <= d - (Σ a_k·b_k + c) "
    "<= 1921/2048·2^(P-11) + ulp(d)/2",
    "tr, two blocks": "-(3969/1024·2^(P-11) + 2^(E-14) + 2^(E-7)·(1/2 + 2^-4) + 2^(E-11) "
    "+ ulp(d)·(1/2 + 2^-4)) <= d - (Σ a_k·b_k + c) <= 1921/1024·2^(P-11) + 2^(E-7)/2 + ulp(d)/2",
    "gtr": "-(6017/2048·(2^(P0-11) + 2^(P1-11)) + 2^(E-14) + ulp(d)·(1/2 + 2^-4)) <= d - (Σ a_k·b_k + c) "
    "<= 2945/2048·(2^(P0-11) + 2^(P1-11)) + ulp(d)/2",
    "gtr; c=0x0": "-(3969/2048·(2^(P0-11) + 2^(P1-11)) + 2^(E-14) + ulp(d)·(1/2 + 2^-4)) "
    "<= d - (Σ a_k·b_k + c) <= 1921/2048·(2^(P0-11) + 2^(P1-11)) + ulp(d)/2",
    "composed": "|d - (Σ a_k·b_k + c)| <= 2·2^(E-25) + 2^(E-7)/2 + 2·2^(E-22) + 2^(E-6)/2 + ulp(d)/2",
}  # fmt: skip


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def prove(name: str, book: LemmaBook) -> ClaimVerdict:
    unit, *what = name.split(SEPARATOR)
    return prove_claim(UNITS[unit](), SEPARATOR.join(["error-bound", *what]), book=book, limits=LIMITS)


def asking(name: str, book: LemmaBook) -> Asking:
    unit, *what = name.split(SEPARATOR)
    zero = Assumptions(c=0) if what else Assumptions()
    return Asking(UNITS[unit](), book, LIMITS, None, lambda _: None, assumed=zero)


@pytest.fixture(scope="module")
def trees(book: LemmaBook) -> dict[str, str]:
    """The proofs that were found, by unit."""
    return {}


def tree_of(name: str, trees: dict[str, str], book: LemmaBook) -> str:
    """The proof about one unit."""
    if name not in trees:
        v = prove(name, book)
        assert v.kind is Kind.HOLDS, v.reason
        assert v.reason == BOUNDS[name]
        trees[name] = v.parts[0].tree
    return trees[name]


ALL = [pytest.param(x, marks=() if x in ("groups", "tr") else pytest.mark.long) for x in BOUNDS]


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_every_theorem_of_a_proof_is_true_on_random_inputs(
    name: str, trees: dict[str, str], book: LemmaBook
) -> None:
    tree = tree_of(name, trees, book)
    stated, _ = stated_bound(asking(name, book))
    check_theorems(stated, tree, _drawn, 20)


def _drawn(g: Graph, rng: random.Random) -> dict[str, int]:
    """Random encodings, some of them zeros, and few far from 1; E near the middle."""
    made = {}
    for name, node in g.inputs.items():
        word, top = rng.getrandbits(node.width), node.width - 1
        near = word & (1 << top | (1 << top - 2) - 1) | 1 << (top - 2) if node.width > 4 else word
        made[name] = rng.choice([word, near, near, 0])
    for name in ("E", "P", "P0", "P1"):
        if name in made:
            made[name] = OFFSET + rng.randrange(-14, 30)
    return made


@pytest.mark.parametrize("name", BOUNDS)
def test_a_statement_means_the_exact_sum_and_is_true(name: str, book: LemmaBook) -> None:
    """The statement against values decoded by the oracle."""
    stated, _ = stated_bound(asking(name, book))
    unit, graph = stated.unit, stated.graph
    bounds = [p for _, p in stated.conclusions]
    nodes = [n for p in bounds for m in p.terms for n in (*m[0], *(x for x, _ in m[1]))]
    wanted = list(dict.fromkeys([*nodes, stated.result, *stated.hypotheses]))
    run, rng, met = Concrete(graph, wanted), random.Random(7), 0

    def value(fmt: Format, word: int) -> Fraction:
        x = decode(fmt, word)
        return -x.magnitude if x.sign else x.magnitude

    while met < 50:
        words = _drawn(graph, rng)
        values = dict(zip(wanted, run(words), strict=True))
        if not all(values[h] for h in stated.hypotheses):
            continue
        met += 1
        o, total = unit.operands, Fraction(0)
        for k in range(unit.k):
            made = value(o.a, words[f"a[{k}]"]) * value(o.b, words[f"b[{k}]"])
            for x in "ab" if unit.scale_format is not None else "":
                assert unit.scale_format is not None
                assert unit.scale_block is not None
                made *= value(unit.scale_format, words[f"scale_{x}[{k // unit.scale_block}]"])
            total += made
        exact = total + value(o.c, words["c"])
        assert value_at(stated.error, values) == value(o.d, values[stated.result]) - exact
        assert all(value_at(p, values) >= 0 for p in bounds)


# ------------------------------------------------------------------------------------------ false units
def _raised(patch: pytest.MonkeyPatch) -> None:
    """e_max is too large by one."""
    real = align.largest

    def largest(g: Graph, exponents: Sequence[Exponent]) -> Any:
        e, tree = real(g, exponents)
        top = g.const(e.high - e.low, e.bits.width + 1)
        more = g.add_mod(g.zero_extend_to(e.bits, top.width), g.const(1, top.width))
        return Exponent(g.extract(g.umin(more, top), e.bits.width - 1, 0), e.low, e.high), tree

    patch.setattr("tcformal.semantics.sums.step.largest", largest)


def _first_aligned(changed: Callable[[Graph, Term, Node], tuple[Term, Node]]) -> Callable[..., None]:
    """The first term of each truncated sum becomes another."""

    def fault(patch: pytest.MonkeyPatch) -> None:
        real = reduce.sum_of_aligned

        def sum_of_aligned(g: Graph, terms: Sequence[Term], aligned: Any, *rest: Any) -> Any:
            (shift, kept), *others = aligned
            term, kept = changed(g, terms[0], kept)
            return real(g, [term, *terms[1:]], [(shift, kept), *others], *rest)

        patch.setattr("tcformal.semantics.sums.step.sum_of_aligned", sum_of_aligned)

    return fault


_LEFT_OUT = _first_aligned(lambda g, t, x: (t, g.const(0, x.width)))
_NEGATED = _first_aligned(lambda g, t, x: (replace(t, sign=g.not_(t.sign)), x))


def _lost_in_group(patch: pytest.MonkeyPatch) -> None:
    """The lowest bit of every product of a group is lost."""
    real = reduce.shifted_up

    def shifted_up(g: Graph, x: Node, amount: Node) -> Node:
        return real(g, g.and_(x, g.not_(g.const(1, x.width))), amount)

    patch.setattr("tcformal.semantics.product.shifted_up", shifted_up)


def _unsigned_in_group(patch: pytest.MonkeyPatch) -> None:
    """Every product of a group is added."""
    real = reduce.signed_magnitude
    patch.setattr("tcformal.semantics.product.signed_magnitude", lambda g, _, x: real(g, g.truth(False), x))


def _cut_c(patch: pytest.MonkeyPatch) -> None:
    """c is rounded to zero, and not down."""
    real = align.align

    def cut(g: Graph, term: Term, distance: Node, bits: int, _: str) -> Node:
        made = real(g, term, distance, bits, "RZ")
        return g.zero_extend_to(made, made.width + 1)

    patch.setattr("tcformal.semantics.sums.round_down.align", cut)


def _joined_higher(patch: pytest.MonkeyPatch) -> None:
    """The sum of the products and c meet at an exponent that is too large by one."""
    real = align.largest_exponent

    def largest(g: Graph, exponents: Sequence[Exponent]) -> Exponent:
        e = real(g, exponents)
        wide = g.zero_extend_to(e.bits, e.bits.width + 1)
        return Exponent(g.add_mod(wide, g.const(1, wide.width)), e.low, e.high + 1)

    patch.setattr("tcformal.semantics.sums.round_down.largest_exponent", largest)


def _without_c(patch: pytest.MonkeyPatch) -> None:
    """A composition that leaves c out."""
    real = step.fused_sum

    def fused_sum(g: Graph, numbers: Sequence[Number], *rest: Any) -> Any:
        one, c = numbers
        none = replace(c.term, significand=g.const(0, c.term.significand.width), zero=g.truth(True))
        return real(g, [one, replace(c, term=none)], *rest)

    patch.setattr("tcformal.semantics.unit.fused_sum", fused_sum)


FAULTS = [
    ("groups", _raised),
    ("groups", _LEFT_OUT),
    ("groups", _NEGATED),
    ("groups", _lost_in_group),
    ("groups", _unsigned_in_group),
    ("tr", _raised),
    ("tr", _LEFT_OUT),
    ("tr", _NEGATED),
    ("tr", _cut_c),
    ("tr", _joined_higher),
    ("gtr", _raised),
    ("gtr", _LEFT_OUT),
    ("gtr", _NEGATED),
    ("gtr", _cut_c),
    ("gtr", _joined_higher),
    ("tr; c=0x0", _raised),
    ("tr; c=0x0", _LEFT_OUT),
    ("tr; c=0x0", _joined_higher),
    ("composed", _raised),
    ("composed", _LEFT_OUT),
    ("composed", _NEGATED),
    ("composed", _without_c),
]
_BRIEF = {("groups", _LEFT_OUT)}


@pytest.mark.parametrize(
    ("name", "fault"),
    [pytest.param(*x, marks=() if x in _BRIEF else pytest.mark.long) for x in FAULTS],
)
def test_a_false_unit_never_holds(
    name: str, fault: Callable[..., None], trees: dict[str, str], book: LemmaBook,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    tree = tree_of(name, trees, book)
    fault(monkeypatch)
    v = prove(name, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert not v.parts[0].tree
    # The kernel refuses the proof about the right unit, too: a step does not apply, or makes no node.
    stated, _ = stated_bound(asking(name, book))
    with pytest.raises((ProofError, WidthError)):
        check(
            stated.graph, stated.hypotheses, stated.conclusions, stated.roots, *unpacked(tree),
            LemmaJudge(book),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("groups", {"conversion": "RNE-FP16"}, "one sum that is rounded to zero"),
        ("groups", {"zero_exponent": 100}, "that of the least normal fp16"),
        ("groups", {"products": 2}, "one sum that is rounded to zero"),
        ("tr", {"sum_rounding": "RZ"}, "sums rounded down and to the nearest"),
        ("gtr", {"conversion": "RZ-FP16"}, "sums rounded down and to the nearest"),
        ("composed", {"zero_exponent": "own"}, "that of the least normal fp16"),
        ("composed", {"products": 1}, "parts of one sum each"),
    ],
)
def test_a_unit_without_a_statement_is_open(
    name: str, change: dict[str, Any], reason: str, book: LemmaBook
) -> None:
    unit = UNITS[name]()
    unit = replace(unit, design=replace(unit.design, **change))
    v = prove_claim(unit, "error-bound", book=book, limits=LIMITS)
    assert v.kind is Kind.UNKNOWN
    assert reason in v.parts[0].note


@pytest.mark.parametrize(("name", "c"), [("tr", "0x3c00"), ("groups", "0x0")])
def test_an_assumption_about_c_rejects(name: str, c: str, book: LemmaBook) -> None:
    """It is c = 0, of a sum that is rounded down."""
    with pytest.raises(InputError, match="expected c=0 of sums that are rounded down"):
        prove(f"{name}; c={c}", book)


def test_no_c_before_two_blocks_is_open(book: LemmaBook) -> None:
    v = prove("tr, two blocks; c=0x0", book)
    assert v.kind is Kind.UNKNOWN
    assert "expected one block of products for c=0" in v.parts[0].note
