"""Claim `error-bound`: proved of fused sums, never with a bound that is too small."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import tcformal.query.proofs.error_bound as bound
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.oracle.values import Kind as Number
from tcformal.oracle.values import decode
from tcformal.query.inputs import inputs_to_try, witness_at
from tcformal.query.proofs.claim import ClaimVerdict
from tcformal.query.proofs.claims import prove_claim
from tcformal.query.proofs.lemmas import LemmaBook
from tcformal.query.replay import oracle_result
from tcformal.query.verdict import Kind
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
CDNA3 = "cdna3/v_mfma_f32_32x32x4_2b_f16"


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def prove(name: str, book: LemmaBook) -> ClaimVerdict:
    return prove_claim(resolve(name), "error-bound", book=book, limits=LIMITS)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (VOLTA, "less than 5·2^(e_max - 23) + 1 ulp"),
        ("volta/mma.m8n8k4.f16.f16.f16.f16", "less than 5·2^(e_max - 23) + 1/2 ulp"),
        pytest.param(
            "tfdpa@products=2,k=4,a_format=e4m3,b_format=e4m3,fraction_bits=13,conversion=RZ-E8M13",
            "3·2^(e_max - 13)",
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_bound_of_table_9_holds(name: str, said: str, book: LemmaBook) -> None:
    v = prove(name, book)
    assert v.kind is Kind.HOLDS, v.reason
    assert said in v.reason
    assert all(lemma.holds for lemma in v.lemmas)
    assert [len(p.steps) for p in v.parts] == [5] * len(v.parts)


@pytest.mark.long
def test_the_bound_of_sums_that_are_rounded_down_holds(book: LemmaBook) -> None:
    v = prove(CDNA3, book)
    assert v.kind is Kind.HOLDS, v.reason
    assert "less than 5·2^(e_max - 24) + 1/2 ulp" in v.reason
    assert len(v.parts[0].steps) == 9


def test_a_floor_that_loses_more_than_a_unit_is_not_proved(book: LemmaBook) -> None:
    v = prove(f"{CDNA3}@sum_fraction_bits=24", book)
    assert v.kind is Kind.UNKNOWN
    assert "floor of the sum was not proved" in v.reason


def test_half_an_ulp_is_not_proved_of_a_cut(book: LemmaBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bound._HALVES, "RZ", 1)
    v = prove(VOLTA, book)
    assert v.kind is Kind.UNKNOWN
    assert "rounding of the sum was not proved" in v.reason


def test_bounded_carry_bits_are_refused(book: LemmaBook) -> None:
    with pytest.raises(InputError, match="expected carry_bits=None for claim error-bound"):
        prove("valpey@terms=5,carry_bits=3,normalise_products=false", book)


@pytest.mark.parametrize(
    "name",
    [
        "cdna1/v_mfma_f32_32x32x8f16",
        "cdna3/v_mfma_f32_16x16x32_fp8_fp8",
        "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32",
    ],
)
def test_other_sums_are_refused(name: str, book: LemmaBook) -> None:
    with pytest.raises(InputError, match="for claim error-bound"):
        prove(name, book)


def test_the_oracle_keeps_to_the_bound() -> None:
    """The theorem on exact fractions of seeded inputs, e_max taken from the operands themselves."""
    spec = resolve(VOLTA)
    o, seen = spec.operands, 0
    inputs = inputs_to_try(spec, spec.k, 600, 5)
    rows = list(range(600))
    random.Random(5).shuffle(rows)
    for row in rows:
        w = witness_at(inputs, row)
        values = [[decode(f, x) for x in words] for f, words in ((o.a, w.a), (o.b, w.b), (o.c, (w.c,)))]
        d = decode(o.d, oracle_result(spec, w))
        if any(v.kind is not Number.FINITE for v in [*values[0], *values[1], *values[2], d]):
            continue
        seen += 1
        a, b, (c,) = values
        exact = sum((x.number * y.number for x, y in zip(a, b, strict=True)), c.number)
        terms = [
            (x.number * y.number, max(_exponent(x.number), -14) + max(_exponent(y.number), -14))
            for x, y in zip(a, b, strict=True)
        ]
        terms.append((c.number, max(_exponent(c.number), -126)))
        e_max = max(e if value else int(spec.design.zero_exponent) for value, e in terms)
        ulp = Fraction(2) ** (max(_exponent(d.number), -126) - 23)
        assert abs(d.number - exact) < 5 * Fraction(2) ** (e_max - 23) + ulp
    assert seen > 100


def _exponent(value: Fraction) -> int:
    """The exponent e of 2^e <= |value| < 2^(e + 1); far down for zero."""
    if not value:
        return -10_000
    e = abs(value).numerator.bit_length() - value.denominator.bit_length()
    return e if Fraction(2) ** e <= abs(value) else e - 1
