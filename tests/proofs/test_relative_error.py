"""Claim `relative-error`: theorems of the kernel about one block, and never about a false unit."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from false_units import FAULTS, not_lowered
from tcformal.design.names import resolve
from tcformal.errors import InputError, ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.claim import Asking, ClaimVerdict
from tcformal.proofs.claims.error_bound import LemmaJudge, stated_relative
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.kernel.rules import check
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.packed import unpacked
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.statements.odd_gain import odd_gain
from tcformal.proofs.statements.product_loss import product_loss
from tcformal.proofs.statements.relative_bound import relative_constant
from tcformal.proofs.statements.tied_loss import tied
from tcformal.query.assume import from_texts
from tcformal.query.question import Kind
from tcformal.semantics.number import Exponent
from tcformal.semantics.sums.sticky import sticky_below
from tcformal.solve.result import Limits
from theorems import check_theorems

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
TOY = (
    "tfdpa@products=2,a_format=e5m2,b_format=e5m2,c_format=fp16,d_format=fp16,fraction_bits=11,"
    "conversion=RZ-FP16,zero_exponent=-20"
)
NEAREST = TOY.replace("RZ-FP16", "RNE-FP16")
#: c has fraction bits beyond those of the sum; what a block gives has none of them.
SHORT = TOY.replace("fraction_bits=11,conversion=RZ-FP16", "fraction_bits=6,conversion=RZ-E5M6")

NEAR = TOY.replace("e5m2", "e2m2").replace("products=2", "products=3")
#: Terms and their sum are rounded to odd.
ODD = TOY.replace("e5m2", "e3m2").replace("RZ-FP16", "RO-FP16,alignment_rounding=RO").replace("=11", "=13")
#: Subnormal factors are normalised.
NORMALISED = TOY.replace("e5m2", "e3m2") + ",normalise_operands=true"
#: What a product of e5m2 loses at most of a unit of a sum of 11 fraction bits, rounded up; what a unit below
#: an ulp adds to that, as a product that keeps it loses 1/16 less; what c loses at most.
TIED, LATER, OF_C = Fraction(1921, 2048), Fraction(15, 16), Fraction(9, 8)
RAISED = Fraction(3585, 4096)
THREE = TOY.replace("products=2", "products=3")


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    return LemmaBook(limits=LIMITS)


def prove(name: str, book: LemmaBook, tree: str = "", *, zero: bool = False) -> ClaimVerdict:
    claim = "relative-error; c=0x0" if zero else "relative-error"
    return prove_claim(resolve(name), claim, book=book, limits=LIMITS, tree=tree)


def asking(name: str, book: LemmaBook, *, zero: bool = False) -> Asking:
    spec = resolve(name)
    assumed = from_texts(spec.operands.c, ["c=0x0"] if zero else [])
    return Asking(spec, book, LIMITS, None, lambda _: None, assumed=assumed)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "zero", "constant"),
    [
        (TOY, True, Fraction(1, 1023)),
        # Products of e2m2 are so near each other that none of three is cut.
        (NEAR, True, Fraction(1, 1023)),
        (NORMALISED, True, Fraction(1, 1023)),
        # A term loses up to a unit, the sum all but one of an ulp, on either side.
        (ODD, True, Fraction(1, 1023)),
        # Near each other, products of few bits are raised by 7/8 of a unit at most.
        pytest.param(
            ODD.replace("products=2", "products=3"), True, (2 * RAISED - 1 + 8) / 8184, marks=pytest.mark.long
        ),
        pytest.param(
            ODD, False, (Fraction(1, 1 << 13) + Fraction(1, 1 << 10)) * 1024 / 1023, marks=pytest.mark.long
        ),
        pytest.param(
            ODD.replace("e3m2", "e5m4").replace("products=2", "products=4"),
            True,
            (Fraction(2, 1 << 13) + Fraction(1, 1 << 10)) * 1024 / 1023,
            marks=pytest.mark.long,
        ),
        pytest.param(SHORT, False, (Fraction(3871, 4096) + 1) / 63, marks=pytest.mark.long),
        pytest.param(f"{TOY},k=6", True, Fraction(1, 1023), marks=pytest.mark.long),
    ],
)
def test_a_constant_holds(name: str, zero: bool, constant: Fraction, book: LemmaBook) -> None:
    v = prove(name, book, zero=zero)
    assert v.kind is Kind.HOLDS, v.reason
    assert f"<= {constant} · " in v.reason
    assert ("c = 0" in v.composition) == zero


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "constants"),
    [
        # A sum below 2^E loses a unit more where its terms have one below an ulp.
        (TOY, ((2 * TIED + LATER) / 2048, (TIED + OF_C + LATER) / 2048)),
        pytest.param(
            NEAREST, ((2 * TIED + LATER) / 2048, (TIED + OF_C + LATER) / 2048), marks=pytest.mark.long
        ),
        pytest.param(f"{NEAREST}; c=0", ((TIED + LATER) / 2048,), marks=pytest.mark.long),
        pytest.param(f"{THREE}; c=0", ((2 * TIED + LATER) / 2048,), marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_what_is_lost_is_tied_to_what_is_kept(
    name: str, constants: tuple[Fraction, ...], book: LemmaBook
) -> None:
    unit, _, zero = name.partition("; ")
    v = prove(unit, book, zero=bool(zero))
    assert v.kind is Kind.HOLDS, v.reason
    said = f"<= {constants[0]} · Σ|a_k·b_k|"
    if not zero:
        said = f"<= {constants[1]} · Σ|a_k·b_k| + {constants[0]} · |c|"
    assert said in v.reason


@pytest.mark.parametrize("rate", [Fraction(1, 15), pytest.param(Fraction(1, 8), marks=pytest.mark.long)])
def test_a_higher_rate_is_never_proved(
    rate: Fraction, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A product of e5m2 that keeps 1 loses 7/8 of a unit: a statement that says less finds no proof."""
    made = tied(resolve(TOY), 2, zero_c=False)
    assert made is not None
    assert (made.loss, made.rate) == (TIED, Fraction(1, 16))
    monkeypatch.setattr(
        "tcformal.proofs.statements.relative_bound.tied", lambda *_, **__: replace(made, rate=rate)
    )
    v = prove(TOY, book)
    assert v.kind is Kind.UNKNOWN, v.reason


@pytest.mark.parametrize("loss", [Fraction(0), Fraction(7, 8)])
def test_a_smaller_loss_of_products_is_never_proved(
    loss: Fraction, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """e5m2 loses 15/16 of a unit: a statement that says less finds no proof."""
    monkeypatch.setattr(
        "tcformal.proofs.statements.relative_bound.product_loss", lambda _unit, *, zero_c: loss
    )
    v = prove(TOY, book, zero=True)
    assert v.kind is Kind.UNKNOWN, v.reason


#: Sums to odd of products that can lie far below each other.
FAR = ODD.replace("e3m2", "e5m2").replace("products=2", "products=4").replace("=13", "=12")


@pytest.mark.long
def test_tiny_products_and_their_sum_do_not_all_gain(
    book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of e5m2 a product that counts other than one unit gains 7/8 of one; a statement that says less is not
    proved."""
    v = prove(FAR, book, zero=True)
    assert v.kind is Kind.HOLDS, v.reason
    made = odd_gain(resolve(FAR), 4)
    assert made is not None
    assert f"<= {made.most} · " in v.reason
    assert made.most == (3 - made.less + 3) / 4096
    stated, _ = stated_relative(asking(FAR, book, zero=True))
    check_theorems(stated, v.parts[0].tree, drawn, 15)
    false = replace(made, loss=made.loss - Fraction(1, 1 << 7))
    monkeypatch.setattr("tcformal.proofs.statements.relative_bound.odd_gain", lambda *_: false)
    v = prove(FAR, book, zero=True)
    assert v.kind is Kind.UNKNOWN, v.reason


@pytest.mark.long
@pytest.mark.parametrize("name", ["e_max + 3", "a dropped product"])
def test_a_false_sum_of_far_products_never_holds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name](monkeypatch)
    v = prove(FAR, LemmaBook(limits=LIMITS), zero=True)
    assert v.kind is Kind.UNKNOWN, v.reason


def test_what_a_product_gains_that_counts_other_than_one_unit() -> None:
    """Of e5m2 6.125 is raised to 7; beside a c, of near products and of sums that are cut nothing is said."""
    few = odd_gain(resolve(FAR), 4)
    assert few is not None
    assert Fraction(7, 8) <= few.loss < Fraction(7, 8) + Fraction(1, 200)
    stated = relative_constant(resolve(FAR), 4, zero_c=True)
    assert stated == few.most < relative_constant(resolve(FAR), 4, zero_c=False)
    assert odd_gain(resolve(FAR.replace(",alignment_rounding=RO", "")), 4) is None
    assert relative_constant(resolve(ODD), 2, zero_c=True) == Fraction(1, 1023)


#: Zero products are tiny numbers, one bit remembers what was cut off, and tiny results are 0.
STICKY = NEAREST.replace("zero_exponent=-20", "zero_exponent=none") + (
    ",lost_bits=sticky,zero_terms=-99,carry_bits=3,result_subnormals=tiny_zero"
)


@pytest.mark.long
@pytest.mark.parametrize(
    "fault",
    [*(pytest.param(x, marks=pytest.mark.long) for x in ("", "e_max + 3")), "a bit for each term"],
)
def test_a_sum_with_a_bit_below_it(fault: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is rounded to the nearest of what was not cut off; a unit that adds that bit up is refused."""
    if fault == "a bit for each term":
        monkeypatch.setattr("tcformal.semantics.sums.step.sticky_below", _added_up)
    elif fault:
        FAULTS[fault](monkeypatch)
    v = prove(STICKY, LemmaBook(limits=LIMITS) if fault else book, zero=True)
    if fault:
        assert v.kind is Kind.UNKNOWN, v.reason
        return
    assert v.kind is Kind.HOLDS, v.reason
    # As without the bit: what a product loses, and half an ulp; a tiny sum all of it.
    loss = product_loss(resolve(STICKY), zero_c=True)
    assert f"<= {(loss + 1) / 2047} · Σ|a_k·b_k| + 2^-13" in v.reason
    stated, _ = stated_relative(asking(STICKY, book, zero=True))
    check_theorems(stated, v.parts[0].tree, drawn, 15)


def _added_up(
    g: Graph, magnitude: Node, lsb: Exponent, sticky: Node, precision: int
) -> tuple[Node, Exponent]:
    """A whole unit in place of a bit below it."""
    more = g.add_mod(magnitude, g.zero_extend_to(sticky, magnitude.width))
    return sticky_below(g, more, lsb, g.truth(False), precision)


def test_a_sum_with_a_bit_below_it_says_nothing_beside_c(book: LemmaBook) -> None:
    stated, _ = stated_relative(asking(STICKY, book, zero=True))
    assert stated.flushed == Fraction(1, 1 << 13)
    assert stated_relative(asking(NEAREST, book, zero=True))[0].flushed == 0
    v = prove(STICKY, book)
    assert v.kind is Kind.UNKNOWN
    assert "no fused sum from c = 0" in v.reason


def drawn(g: Graph, rng: random.Random) -> dict[str, int]:
    """Random encodings with exponents near each other, some of them zeros; E near the middle."""
    made = {}
    for name, node in g.inputs.items():
        word = rng.getrandbits(node.width)
        near = word & 0x83FF | 0x4000 if node.width == 16 else word & 0x83 | 0x40
        made[name] = 0 if name == "c" and rng.random() < 0.5 else rng.choice([near, near, near, 0])
    made["E"] = OFFSET + rng.choice([1, 2, 2, 3])
    return made


@pytest.mark.long
def test_every_theorem_of_a_proof_is_true_on_random_inputs(book: LemmaBook) -> None:
    tree = prove(TOY, book).parts[0].tree
    stated, _ = stated_relative(asking(TOY, book))
    check_theorems(stated, tree, drawn, 15)


@pytest.mark.long
@pytest.mark.parametrize("change", [("fraction_bits=11", "fraction_bits=12"), ("products=2", "products=3")])
def test_a_proof_about_another_unit_is_refused(change: tuple[str, str], book: LemmaBook) -> None:
    tree = prove(TOY, book).parts[0].tree
    v = prove(TOY.replace(*change), book, tree)
    assert v.kind is Kind.UNKNOWN


@pytest.mark.long
def test_a_proof_of_a_smaller_constant_is_refused(book: LemmaBook) -> None:
    """The steps of the proof, with conclusions that claim one millionth less."""
    steps, last = unpacked(prove(TOY, book).parts[0].tree)
    stated, _ = stated_relative(asking(TOY, book))
    smaller = [(r, p - stated.magnitudes * (stated.constant / 10**6)) for r, p in stated.conclusions]
    with pytest.raises(ProofError, match="expected the statement itself"):
        check(stated.graph, stated.hypotheses, smaller, stated.roots, steps, last, LemmaJudge(book))


@pytest.mark.parametrize(
    "name", [x if i == 0 else pytest.param(x, marks=pytest.mark.long) for i, x in enumerate(FAULTS)]
)
def test_a_false_unit_never_holds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name](monkeypatch)
    v = prove(TOY, LemmaBook(limits=LIMITS))
    assert v.kind is Kind.UNKNOWN, v.reason


def test_a_normalised_factor_that_keeps_its_exponent_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    not_lowered(monkeypatch)
    for claim in ("error-bound", "relative-error"):
        v = prove_claim(resolve(NORMALISED), claim, book=LemmaBook(limits=LIMITS), limits=LIMITS)
        assert v.kind is Kind.UNKNOWN, v.reason
        assert not v.parts[0].tree


@pytest.mark.parametrize("name", ["e_max + 3", pytest.param("a dropped product", marks=pytest.mark.long)])
def test_a_false_sum_to_odd_never_holds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name](monkeypatch)
    v = prove(ODD, LemmaBook(limits=LIMITS), zero=True)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert not v.parts[0].tree


@pytest.mark.long
def test_terms_to_odd_of_another_rounding_are_no_terms_to_odd(book: LemmaBook) -> None:
    """The proof about a sum to odd is none about terms that are cut, nor the other way round."""
    cut = ODD.replace(",alignment_rounding=RO", "")
    tree = prove(ODD, book, zero=True).parts[0].tree
    for name in (cut, ODD.replace("RO-FP16", "RZ-FP16"), ODD.replace("=13", "=12")):
        assert prove(name, book, tree, zero=True).kind is Kind.UNKNOWN


def test_a_composition_is_refused(book: LemmaBook) -> None:
    with pytest.raises(InputError, match="is composed of others"):
        prove("ampere/emulated.mma.m8n8k4.f32.f16.f16.f32", book)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("RZ-FP16", "RU-FP16"), "expected a conversion to nearest or toward zero"),
        (("fraction_bits=11", "fraction_bits=9"), "expected at least 10 fraction bits"),
        (("zero_exponent=-20", "zero_exponent=100"), "that of the least normal fp16"),
    ],
)
def test_a_unit_without_the_statement_is_refused(
    change: tuple[str, str], reason: str, book: LemmaBook
) -> None:
    with pytest.raises(InputError, match=reason):
        prove(TOY.replace(*change), book)
