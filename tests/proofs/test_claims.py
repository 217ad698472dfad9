"""Claims about units: proved for representative designs, never for designs or pairs that differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tcformal.proofs.claims.carry as carry
import tcformal.semantics.reduce as reduce
from compositions import assert_classes_agree
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.errors import InputError, UnknownNameError
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import OperandNodes, chained_dot, circuit, declare_inputs
from tcformal.proofs.claim import Asking, ClaimVerdict, Counterexample, PartStatus, equate
from tcformal.proofs.claims.product_order import Exchange, Move, moves_of, prove_exchange
from tcformal.proofs.claims.register import CLAIMS, prove_claim, units_of
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.exact_sums import ExactSum
from tcformal.proofs.tactics.truncated import truncated_sums
from tcformal.query.question import Kind
from tcformal.query.replay import oracle_result
from tcformal.solve.result import Limits
from tcformal.theory.answers import STATEMENTS, claims_named

LIMITS = Limits(time_s=60.0, memory_mb=4096, seed=0)
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
TURING = "turing/mma.m16n8k8.f32.f16.f16.f32"
TWO_BLOCKS = "ampere/mma.m16n8k16.f32.f16.f16.f32"
ADA = "ada/mma.m16n8k32.f32.e4m3.e4m3.f32"
HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"
WGMMA = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
NVF4 = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue8m0"
VALPEY = "valpey@terms=5"
#: The sum fills whole bytes, so that the bits of a magnitude are read past the label.
WHOLE_BYTES = "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f16.e2m1.e2m1@fraction_bits=9"


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests: lemmas that units share are decided once."""
    return LemmaBook(limits=LIMITS)


@pytest.fixture(autouse=True)
def few_carry_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Carry bits up to 16 only: the same steps as up to 64, with fewer widths."""
    monkeypatch.setattr(carry, "MOST", 16)


def prove(name: str, claim: str, book: LemmaBook) -> ClaimVerdict:
    return prove_claim(resolve(name), claim, book=book, limits=LIMITS)


def asking(name: str, book: LemmaBook) -> Asking:
    return Asking(resolve(name), book, LIMITS, None, lambda _: None)


def assert_proved(v: ClaimVerdict) -> None:
    assert v.kind is Kind.HOLDS, v.reason
    assert all(p.as_claimed for p in v.parts)
    assert all(lemma.holds and lemma.confirmed_by for lemma in v.lemmas)
    known = {lemma.sha256 for lemma in v.lemmas}
    assert all(sha in known for p in v.parts for s in p.steps for sha in s.lemmas)


def assert_replays(v: ClaimVerdict, w: Counterexample) -> None:
    graph, root = circuit(v.unit, v.unit.k)
    run = Concrete(graph, [root])
    for operands, result in zip((w.first, w.second), w.results, strict=True):
        assert run(operands.inputs()) == [result] == [oracle_result(v.unit, operands)]
    assert w.results[0] != w.results[1]


# ---------------------------------------------------------------------------------------- product-order


@pytest.mark.parametrize(
    "name", [VOLTA, TURING, VALPEY, *(pytest.param(x, marks=pytest.mark.long) for x in (HOPPER, WGMMA))]
)
def test_the_order_of_products_in_one_sum_does_not_matter(name: str, book: LemmaBook) -> None:
    v = prove(name, "product-order", book)
    assert_proved(v)
    assert len(v.parts) == v.unit.k - 1
    assert len(v.lemmas) < 10  # every exchange applies the same few


@pytest.mark.parametrize(("name", "first"), [
    (TWO_BLOCKS, "products 7 and 8"), pytest.param(ADA, "products 15 and 16", marks=pytest.mark.long),
])  # fmt: skip
def test_the_order_across_blocks_matters(name: str, first: str, book: LemmaBook) -> None:
    v = prove(name, "product-order", book)
    assert v.kind is Kind.VIOLATED
    (part,) = (p for p in v.parts if p.status is PartStatus.VIOLATED)
    assert part.name == first
    assert part.witness is not None
    assert_replays(v, part.witness)
    assert all(p.status is PartStatus.HOLDS for p in v.parts if p is not part)


@pytest.mark.parametrize("name", ["x86/vdpbf16ps", "tfdpa@products=1,k=2", "sequential@products=2"])
def test_the_order_of_a_chain_matters(name: str, book: LemmaBook) -> None:
    v = prove(name, "product-order", book)
    assert v.kind is Kind.VIOLATED
    assert v.parts[0].witness is not None
    assert_replays(v, v.parts[0].witness)


def test_exchanging_only_one_factor_is_not_proved(book: LemmaBook) -> None:
    """a_0 and a_1 change places and b_0 and b_1 stay: other products, which must not come out equal."""
    right = Exchange.of(resolve(VOLTA), Move(0))
    g = Graph()
    wrong = _one_factor(g)
    for both, expected in ((right, True), (wrong, False)):
        _, proved, _ = prove_exchange(asking(VOLTA, book), both, (0,))
        assert proved is expected


@pytest.mark.parametrize("move", [Move(15), Move(16), Move(16, 16)], ids=lambda m: m.name)
def test_scaled_products_keep_their_scales(move: Move, book: LemmaBook) -> None:
    """Within a block of 16, and blocks with their scales; across a border a product meets another scale."""
    spec = resolve(NVF4)
    both = Exchange.of(spec, move)
    _, proved, _ = prove_exchange(asking(NVF4, book), both, (0, 4, None))
    assert proved is (move in moves_of(spec))


def test_the_exchanges_of_a_scaled_unit_stay_within_blocks() -> None:
    moves = moves_of(resolve(NVF4))
    borders = {15, 31, 47}
    assert [m.first for m in moves if m.size == 1] == [i for i in range(63) if i not in borders]
    assert [(m.first, m.size) for m in moves if m.size > 1] == [(0, 16), (16, 16), (32, 16)]
    # A last block that is shorter changes places with none.
    assert [m.first for m in moves_of(replace(resolve(NVF4), k=40)) if m.size > 1] == [0]


def _one_factor(g: Graph) -> Exchange:
    spec = resolve(VOLTA)
    x = declare_inputs(g, spec, spec.k)
    dots = []
    for side, a in (("A", x.a), ("B", [x.a[1], x.a[0], *x.a[2:]])):
        with g.scope(side):
            dots.append(chained_dot(g, spec, OperandNodes(a, x.b, x.c, [], [])))
    return Exchange(g, (dots[0], dots[1]))


def test_a_cut_point_that_is_not_equal_is_not_proved(book: LemmaBook) -> None:
    both = Exchange.of(resolve(VOLTA), Move(1))
    c = Composition(both.graph, book)
    (one,) = truncated_sums(both.dots[0])
    x, y = (term.term.significand for term in one.total.terms[:2])
    assert not equate(c, "significand", x, y).proved
    assert not c.equal(x, y)


# ---------------------------------------------------------------------------------------- sign-magnitude


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        WHOLE_BYTES,
        pytest.param(VOLTA, marks=pytest.mark.long),
        pytest.param(HOPPER, marks=pytest.mark.long),
        pytest.param(ADA, marks=pytest.mark.long),
    ],
)
def test_sign_and_magnitude_agrees_with_twos_complement(name: str, book: LemmaBook) -> None:
    assert_proved(prove(name, "sign-magnitude", book))


def test_a_wrong_adder_is_not_proved(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    right = reduce.add_sign_magnitude

    def wrong(g: Graph, x: tuple[Node, Node], y: tuple[Node, Node]) -> tuple[Node, Node]:
        """The first operand's sign, whichever magnitude is larger."""
        return x[0], right(g, x, y)[1]

    monkeypatch.setattr(reduce, "add_sign_magnitude", wrong)
    v = prove(VOLTA, "sign-magnitude", book)
    assert v.kind is Kind.UNKNOWN
    assert "partial0" in v.reason
    assert any(not lemma.holds for lemma in v.lemmas)


# ---------------------------------------------------------------------------------------- carry-bits


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        (VOLTA, 4),
        pytest.param(ADA, 5, marks=pytest.mark.long),
        pytest.param(HOPPER, 6, marks=pytest.mark.long),
    ],
)
def test_more_carry_bits_than_needed_change_nothing(name: str, needed: int, book: LemmaBook) -> None:
    v = prove(name, "carry-bits", book)
    assert_proved(v)
    assert f"carry_bits={needed}" in {p.name for p in v.parts if not p.control}
    (control,) = (p for p in v.parts if p.control)
    assert control.name == f"carry_bits={needed - 1}"
    assert control.witness is not None


def test_a_composition_of_units_needs_no_more_than_they_do(
    book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carry, "MOST", 7)
    v = prove("hopper/emulated.mma.m16n8k16.f16.e5m2.e4m3.f16", "carry-bits", book)
    assert_proved(v)
    assert v.reason.startswith("5 carry bits suffice")
    assert not any(p.control for p in v.parts)


def test_too_few_carry_bits_are_not_proved(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carry, "_needed", lambda spec, dot: 3)
    monkeypatch.setattr(carry, "MOST", 5)
    v = prove(VOLTA, "carry-bits", book)
    assert v.kind is Kind.UNKNOWN
    status = {p.name: p.status for p in v.parts}
    assert status["carry_bits=3"] is PartStatus.OPEN
    assert status["carry_bits=4"] is PartStatus.HOLDS


def test_a_bound_that_is_too_small_is_not_proved(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carry, "MOST", 5)
    leaf = ExactSum.bounded_leaf

    def halved(self: ExactSum, term: object, node: Node) -> object:
        found = leaf(self, term, node)  # type: ignore[arg-type]
        return None if found is None else replace(found, most=found.most // 2)

    monkeypatch.setattr(ExactSum, "bounded_leaf", halved)
    v = prove(VOLTA, "carry-bits", book)
    assert v.kind is Kind.UNKNOWN
    assert v.parts[0].name == "the exact sums"
    assert v.parts[0].status is PartStatus.OPEN


@pytest.mark.parametrize("name", [VOLTA, pytest.param(ADA, marks=pytest.mark.long)])
def test_what_a_proof_makes_equal_is_equal_on_random_inputs(
    name: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Composition] = []

    def kept(graph: Graph, lemmas: LemmaBook) -> Composition:
        made.append(Composition(graph, lemmas))
        return made[-1]

    monkeypatch.setattr(carry, "MOST", 9)
    monkeypatch.setattr(carry, "Composition", kept)
    assert_proved(prove(name, "carry-bits", book))
    (c,) = made
    assert_classes_agree(c, rounds=20)


# ---------------------------------------------------------------------------------------- verdicts


def test_a_claim_says_how_it_was_composed_and_by_whom(book: LemmaBook) -> None:
    data = prove(VOLTA, "product-order", book).to_json()
    assert data["verdict"] == "HOLDS"
    assert "generate every order of the products within 0–3" in data["composition"]
    for lemma in data["lemmas"]:
        assert len(lemma["sha256"]) == 64
        assert lemma["decided_by"]
        assert lemma["confirmed_by"]
    cuts = {s["cut"] for p in data["parts"] for s in p["steps"]}
    assert {"block0.e_max", "block0.sum", "block0.positive_inf", "block0.result", "d"} <= cuts


def test_certified_lemmas_carry_certificates() -> None:
    v = prove(VOLTA, "product-order", LemmaBook(limits=LIMITS, certify=True))
    assert_proved(v)
    assert all(lemma.certificate is not None for lemma in v.lemmas)


@pytest.mark.parametrize("claim", ["sign-magnitude", "carry-bits"])
def test_units_without_a_truncated_sum_are_refused(claim: str, book: LemmaBook) -> None:
    with pytest.raises(InputError, match="truncated fused sum"):
        prove("x86/vdpbf16ps", claim, book)
    with pytest.raises(InputError, match="an unbounded sum in two's complement"):
        prove("tfdpa@carry_bits=5", claim, book)


def test_one_product_has_no_order(book: LemmaBook) -> None:
    with pytest.raises(InputError, match="expected two products or more"):
        prove("power10/xvf32gerpp", "product-order", book)


def test_unknown_claims_are_refused(book: LemmaBook) -> None:
    with pytest.raises(UnknownNameError, match="product-order"):
        prove(VOLTA, "product-ordr", book)
    assert claims_named("all") == tuple(CLAIMS) == tuple(STATEMENTS)


def test_every_truncated_sum_of_the_catalogue_is_asked() -> None:
    names = {u.name for u in units_of(["carry-bits"])}
    designs = {n: catalogue()[n].design for n in distinct_designs()}
    fused = {n for n, d in designs.items() if d.fraction_bits is not None and d.summation == "fused"}
    assert names == {
        n
        for n in fused
        if (designs[n].c_fraction_bits, designs[n].lost_bits) == (None, "cut")
        and designs[n].c_position != "after"
    }
    bounded = {u.name for u in units_of(["error-bound"])}
    assert bounded == names | {
        n
        for n, d in designs.items()
        if d.fraction_bits is None or d.summation in ("tr", "gtr") or d.c_position == "after"
    }


@pytest.mark.long
@pytest.mark.parametrize("claim", CLAIMS)
def test_all_units(claim: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every unit with a truncated fused sum: proved, or refuted by a witness."""
    monkeypatch.setattr(carry, "MOST", 64)
    for spec in units_of(["carry-bits"]):
        if claim == "carry-bits" and spec.design.group is not None:
            with pytest.raises(InputError, match="for claim carry-bits"):
                prove_claim(spec, claim, book=book, limits=LIMITS)
            continue
        v = prove_claim(spec, claim, book=book, limits=LIMITS)
        blocks = spec.k > spec.design.products or spec.emulation is not None or spec.design.group is not None
        expected = Kind.VIOLATED if claim == "product-order" and blocks else Kind.HOLDS
        assert v.kind is expected, (spec.name, v.reason)


@pytest.mark.parametrize("claim", ["sign-magnitude", "carry-bits", "zero-exponent"])
def test_a_sum_with_c_after_it_is_not_taken_for_one_sum(claim: str, book: LemmaBook) -> None:
    """Gaudi 2's rounded sum has two terms, and none of them is a product: nothing is proved of it so."""
    with pytest.raises(InputError):
        prove("gaudi2/mme.bf16", claim, book)
    assert "gaudi2/mme.bf16" not in [u.name for u in units_of([claim])]


@pytest.mark.long
def test_products_before_c_have_no_order(book: LemmaBook) -> None:
    """Gaudi 2's sum of four products, to which c is added: each exchange of neighbours has its proof."""
    verdict = prove("gaudi2/mme.tf32", "product-order", book)
    assert verdict.kind is Kind.HOLDS
    assert [part.status for part in verdict.parts] == [PartStatus.HOLDS] * 3
    sums = [step for part in verdict.parts for step in part.steps if step.name == "block0.products.sum"]
    assert len(sums) == 3
    assert any(step.lemmas for step in sums)
