"""Claim `zero-products`: proved where a shorter call gives the same bits, refuted where it does not."""

from __future__ import annotations

import random

import pytest

import tcformal.proofs.claims.zero_products as claim
from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.oracle.exact import unit_dot
from tcformal.proofs.claim import ClaimVerdict, PartStatus
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import LemmaBook
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
HOPPER, SHORTER = "hopper/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/mma.m16n8k8.f32.bf16.bf16.f32"
SCALED = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    return LemmaBook(limits=LIMITS)


def prove(name: str, book: LemmaBook) -> ClaimVerdict:
    return prove_claim(resolve(name), "zero-products", book=book, limits=LIMITS)


@pytest.mark.parametrize(
    "name",
    [HOPPER, SCALED, HOPPER.replace("hopper", "ampere"), "cdna3/v_mfma_f32_32x32x8_f16", "valpey@terms=5"],
)
def test_what_holds_is_proved(name: str, book: LemmaBook) -> None:
    v = prove(name, book)
    assert (v.kind, v.parts[0].status) == (Kind.HOLDS, PartStatus.HOLDS), v.reason
    assert all(step.proved for step in v.parts[0].steps)


@pytest.mark.parametrize(
    ("name", "results"),
    [
        # -0 of the first call and the zeros of the second are +0.
        ("ampere/mma.m8n8k4.f64.f64.f64.f64", (0, 1 << 63)),
        ("cdna2/v_mfma_f32_32x32x8f16", (0, 1 << 31)),
        # Zero terms above the others cut them.
        (f"{HOPPER}@zero_exponent=-100", None),
    ],
)
def test_what_does_not_is_refuted(name: str, results: tuple[int, int] | None, book: LemmaBook) -> None:
    v = prove(name, book)
    (part,) = v.parts
    assert v.kind is Kind.VIOLATED
    assert part.witness is not None
    assert part.witness.results[0] != part.witness.results[1]
    assert results in (None, part.witness.results)


@pytest.mark.long
def test_a_false_unit_does_not_hold(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where no vector shows it and no solver is asked."""
    monkeypatch.setattr(claim, "refuted_by_vectors", lambda *_: None)
    monkeypatch.setattr(claim, "refuted_by_solvers", lambda *_: None)
    v = prove("valpey@terms=5,zero_exponent=100", book)
    assert v.kind in (Kind.UNKNOWN, Kind.TIMEOUT)
    assert "was not proved equal" in v.reason


def test_a_question_that_takes_too_long_is_left_open(
    book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stages are asked for a time only; how far the proof got then is said."""
    monkeypatch.setattr(claim, "PATIENCE", 0)
    monkeypatch.setattr(claim, "refuted_by_solvers", lambda *_: None)
    v = prove(HOPPER, book)
    assert v.kind is Kind.UNKNOWN
    assert v.parts[0].note == "block0.e_max was not proved equal in 0 seconds of the processor"


@pytest.mark.parametrize(
    "name",
    [
        "x86/vdpbf16ps",
        "power10/xvf16ger2pp",
        "valpey@terms=2",
        "hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32",
    ],
)
def test_what_has_no_half_rejects(name: str, book: LemmaBook) -> None:
    with pytest.raises(InputError, match="expected an instruction that half the products make one of, but"):
        prove(name, book)


def test_the_shorter_call_is_the_shorter_instruction() -> None:
    """On the oracle, which knows both instructions by name."""
    draw = random.Random(1)
    long, short = catalogue()[HOPPER], catalogue()[SHORTER]
    for _ in range(200):
        a, b = ([draw.getrandbits(16) for _ in range(8)] for _ in "ab")
        c = draw.getrandbits(32)
        assert unit_dot(long, a + [0] * 8, b + [0] * 8, c) == unit_dot(short, a, b, c)
