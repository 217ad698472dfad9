"""Claim `error-bound` of sums of groups, sums that are rounded down, and compositions."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.errors import ProofError
from tcformal.formats.catalog import format_named
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.claim import Asking, ClaimVerdict
from tcformal.proofs.claims.error_bound import LemmaJudge, stated_bound
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.kernel.rules import check
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.packed import unpacked
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.query.question import Kind
from tcformal.semantics import align, product, reduce
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.sums import step
from tcformal.solve.result import Limits
from theorems import check_theorems

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)


def _groups() -> UnitSpec:
    """Two groups of two products, each with scales of its own."""
    unit = catalogue()["blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"]
    half, narrow = format_named("fp16"), format_named("e2m1")
    design = replace(
        unit.design, products=4, group=2, fraction_bits=16, conversion="RZ-FP16", nan_word=0x7FFF,
        zero_exponent=-30,
    )  # fmt: skip
    o = Operands(a=narrow, b=narrow, c=half, d=half)
    return replace(unit, name="groups", k=4, scale_block=2, operands=o, design=design)


def _composed() -> UnitSpec:
    """Two parts of two products, and c."""
    unit = catalogue()["hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16"]
    assert unit.emulation is not None
    how = replace(unit.emulation, parts=((0, 1), (2, 3)))
    return replace(unit, name="parts", k=4, emulation=how, design=replace(unit.design, products=2))


_ROUNDED = (
    "tfdpa@products={},a_format=e5m2,b_format=e5m2,c_format=fp16,d_format=fp16,k={},fraction_bits=11,"
    "conversion=RNE-FP16,zero_exponent=none,summation={},sum_fraction_bits=14,zero_sign=sum,product_limit=16"
)
UNITS: dict[str, Callable[[], UnitSpec]] = {
    "groups": _groups,
    "tr": lambda: resolve(_ROUNDED.format(2, 2, "tr")),
    "tr, two blocks": lambda: resolve(_ROUNDED.format(2, 4, "tr")),
    "gtr": lambda: resolve(_ROUNDED.format(4, 4, "gtr")),
    "composed": _composed,
}
BOUNDS = {
    "groups": "|d - (Σ a_k·b_k (with both scales) + c)| < 2·2^(E-16) + ulp(d)",
    "tr": "-(2·2^(E-11) + ulp(d)·(1/2 + 2^-4)) <= d - (Σ a_k·b_k + c) <= 1·2^(E-11) + ulp(d)/2",
    "tr, two blocks": "-(2·2^(E-11) + 2^(E-7)·(1/2 + 2^-4) + 1·2^(E-11) + 2^(E-8) + ulp(d)·(1/2 + 2^-4)) "
    "<= d - (Σ a_k·b_k + c) <= 1·2^(E-11) + 2^(E-7)/2 + 1·2^(E-11) + ulp(d)/2",
    "gtr": "-(4·2^(E-11) + ulp(d)·(1/2 + 2^-4)) <= d - (Σ a_k·b_k + c) "
    "<= 2·2^(E-11) + 2^(E-11)/2 + ulp(d)/2",
    "composed": "|d - (Σ a_k·b_k + c)| <= 2·2^(E-25) + 2^(E-7)/2 + 2·2^(E-22) + 2^(E-6)/2 + ulp(d)/2",
}  # fmt: skip


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def prove(name: str, book: LemmaBook) -> ClaimVerdict:
    return prove_claim(UNITS[name](), "error-bound", book=book, limits=LIMITS)


def asking(name: str, book: LemmaBook) -> Asking:
    return Asking(UNITS[name](), book, LIMITS, None, lambda _: None)


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


ALL = [pytest.param(x, marks=() if x in ("groups", "tr") else pytest.mark.long) for x in UNITS]


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
    made["E"] = OFFSET + rng.randrange(-14, 30)
    return made


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
    real = product.shifted_up

    def shifted_up(g: Graph, x: Node, amount: Node) -> Node:
        return real(g, g.and_(x, g.not_(g.const(1, x.width))), amount)

    patch.setattr("tcformal.semantics.product.shifted_up", shifted_up)


def _unsigned_in_group(patch: pytest.MonkeyPatch) -> None:
    """Every product of a group is added."""
    real = product.signed_magnitude
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
    # The kernel refuses the proof about the right unit, too.
    stated, _ = stated_bound(asking(name, book))
    with pytest.raises(ProofError):
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
