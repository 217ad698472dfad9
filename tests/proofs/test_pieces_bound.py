"""Claims `error-bound` and `relative-error` of products in pieces, and never about a false unit."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from false_units import FAULTS
from tcformal.bounds.accuracy import accuracy
from tcformal.bounds.losses import lossy_products
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.proofs.claim import Asking, ClaimVerdict
from tcformal.proofs.claims.error_bound import stated_bound, stated_relative
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.statements.error_bound import left_out, pieces_of
from tcformal.proofs.statements.product_loss import product_loss
from tcformal.query.assume import from_texts
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from theorems import check_theorems

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
#: Significands of 4 bits in pieces of 2: four products of pieces, the lowest and the highest apart.
TOY = (
    "tfdpa@products=2,a_format=e3m3,b_format=e3m3,c_format=fp16,d_format=fp16,fraction_bits=11,"
    "conversion=RZ-FP16,zero_exponent=-20,piece_bits=2"
)
NORMALISED = f"{TOY},normalise_operands=true"
#: The lowest of them is left out, and the sum keeps fewer bits than a product has.
DROPPED = TOY.replace("products=2", "products=1").replace("=11", "=5").replace("RZ-FP16", "RZ-E5M4")
DROPPED += ",dropped_pieces=1"


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    return LemmaBook(limits=LIMITS)


def prove(name: str, claim: str, book: LemmaBook) -> ClaimVerdict:
    return prove_claim(resolve(name), claim, book=book, limits=LIMITS)


def asking(name: str, book: LemmaBook, *texts: str) -> Asking:
    spec = resolve(name)
    return Asking(spec, book, LIMITS, None, lambda _: None, assumed=from_texts(spec.operands.c, list(texts)))


def drawn(g: Graph, rng: random.Random) -> dict[str, int]:
    """Random encodings with exponents near each other, some of them zeros; E near the middle."""
    made = {}
    for name, node in g.inputs.items():
        word = rng.getrandbits(node.width)
        near = word & 0x83FF | 0x4000 if node.width == 16 else word & 0x4F | 0x20
        made[name] = 0 if name == "c" and rng.random() < 0.5 else rng.choice([near, near, word, 0])
    made["E"] = OFFSET + rng.choice([1, 2, 2, 3, 4])
    return made


def test_the_pieces_of_units() -> None:
    """What is left out is below 2^16 of 2^46 in each product, 2^24 of them being one."""
    assert pieces_of(resolve("gaudi3/mme.tf32")) == (0, 1, 1, 2)
    assert pieces_of(resolve("ampere/mma.m16n8k8.f32.f16.f16.f32")) == (0,)
    assert left_out(resolve("gaudi3/mme.tf32")) == left_out(resolve(TOY)) == 0
    assert left_out(resolve("gaudi3/mme.fp32")) == Fraction(1, 64)
    assert product_loss(resolve(TOY), zero_c=True) == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "claim", "bound"),
    [
        (TOY, "error-bound", "|d - (Σ a_k·b_k + c)| < 8·2^(E-11) + ulp(d)"),
        # Three pieces and c, and what is below 2^4 of 2^6.
        (DROPPED, "error-bound", "|d - (Σ a_k·b_k + c)| < 12·2^(E-5) + ulp(d)"),
        # The other product's 3 units, one less for the cut.
        (TOY, "relative-error; c=0x0", f"{Fraction(4, 2046)} · Σ|a_k·b_k|"),
        # Both products' where c is the largest.
        (TOY, "relative-error", f"{Fraction(7, 2046)} · (Σ|a_k·b_k| + |c|)"),
        pytest.param(
            NORMALISED, "relative-error; c=0x0", f"{Fraction(4, 2046)} · Σ|a_k·b_k|", marks=pytest.mark.long
        ),
    ],
)
def test_every_piece_loses_its_own(name: str, claim: str, bound: str, book: LemmaBook) -> None:
    v = prove(name, claim, book)
    assert v.kind is Kind.HOLDS, v.reason
    assert bound in v.reason
    if claim == "error-bound":
        stated = stated_bound(asking(name, book))[0]
        check_theorems(stated, v.parts[0].tree, drawn, 15)
    else:
        zero = ["c=0x0"] if "; " in claim else []
        check_theorems(stated_relative(asking(name, book, *zero))[0], v.parts[0].tree, drawn, 15)


@pytest.mark.parametrize("claim", ["error-bound", pytest.param("relative-error", marks=pytest.mark.long)])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_false_unit_never_holds(claim: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    v = prove(DROPPED if claim == "error-bound" else TOY, claim, LemmaBook(limits=LIMITS))
    assert v.kind is Kind.UNKNOWN, v.reason
    assert not v.parts[0].tree


def test_less_is_never_proved(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither that what is left out is nothing, nor that a product in pieces loses two units."""
    monkeypatch.setattr("tcformal.proofs.statements.error_bound.left_out", lambda _: Fraction(0))
    monkeypatch.setattr("tcformal.proofs.tactics.bounds.blocks.left_out", lambda _: Fraction(0))
    assert prove(DROPPED, "error-bound", book).kind is Kind.UNKNOWN
    monkeypatch.setattr(
        "tcformal.proofs.statements.relative_bound.product_loss", lambda *_, **__: Fraction(2)
    )
    assert prove(TOY, "relative-error; c=0x0", book).kind is Kind.UNKNOWN


def test_of_pieces_that_are_left_out_no_constant_is_stated(book: LemmaBook) -> None:
    with pytest.raises(InputError, match="cuts factors into pieces"):
        stated_relative(asking(DROPPED, book, "c=0x0"))


def test_products_in_pieces_are_built_to_lose_most() -> None:
    """Of two products one loses 2.957 units of 2^-24 and brings the sum to an odd number of them."""
    lost, x, y, t = lossy_products(11, 11, 8, 2)[1]
    kept = sum((p * q << s) >> t for p, q, s in [
        (x & 255, y & 255, 0), (x & 255, y >> 8, 8), (x >> 8, y & 255, 8), (x >> 8, y >> 8, 16)])  # fmt: skip
    assert (x * y - (kept << t), kept % 2) == (lost * 2**t, 1)
    assert lossy_products(24, 24, 8, 2) == {}
    for name in ("gaudi3/mme.fp16", "gaudi3/mme.tf32"):
        found = accuracy(name, prove=False, subnormals=False).attained.ratio
        assert found > Fraction(395, 100) / (1 << 24)
