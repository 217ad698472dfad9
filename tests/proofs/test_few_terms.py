"""Sums of two terms: products that are rounded first, multiples that are never subnormal, a subnormal c."""

from __future__ import annotations

from collections import Counter

import pytest

from tcformal.design.names import resolve
from tcformal.proofs import known_numbers, step_by_step
from tcformal.proofs.claim import Asking, PartStatus
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.step_by_step import same_steps
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
#: Products of 4 bits, multiples of 2^-2, added to numbers of 11 bits down to 2^-24.
EXACT = (
    "conversion=RNE-FP16,fraction_bits=exact,normalise_products=true,zero_sign=positive,nan_word=0x7fff,"
    "a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16"
)
#: The same, rounded to 3 bits.
ROUNDED = EXACT.replace("FP16", "E5M2").replace("0x7fff", "0x7e").replace("fp16", "e5m2")
#: Numbers of 8 bits down to 2^-133.
JOINED = (
    EXACT.replace("FP16", "BF16")
    .replace("=fp16", "=bf16")
    .replace("conversion", "join.conversion")
    .replace("fraction_bits", "join.fraction_bits")
    .replace("normalise_products=true", "join.normalise_products=false")
)
#: What becomes of numbers below the least normal one.
KEPT, TINY = "c_subnormals=kept,result_subnormals=kept", "c_subnormals=kept,result_subnormals=tiny_zero"
ZERO = "c_subnormals=signed_zero,result_subnormals=tiny_zero"


def proved(first: str, second: str, rest: str = EXACT) -> Counter[str]:
    """How often each lemma is used of two designs, by name; nothing where a proof is missing."""
    one, two = (resolve(f"tree@steps={x},{rest}") for x in (first, second))
    book = LemmaBook(limits=LIMITS)
    found = same_steps(Asking(one, book, LIMITS, None, lambda _: None), two)
    if found is None or found[0].status is not PartStatus.HOLDS:
        return Counter()
    return Counter(lemma.name for lemma in found[1] if lemma.holds)


@pytest.mark.long
def test_a_product_that_is_exact_may_be_rounded_first() -> None:
    """The terms of both sums stand in another order, too."""
    assert {"one addend on both sides", "one number on both sides"} <= {*proved("(1+0)", "(1+(0+z))")}


@pytest.mark.long
def test_so_may_both_products_of_a_sum() -> None:
    """A rounded product is normalised, with the least exponent where it is zero; one as it is has its own."""
    names = proved("(0+1),product_rounding=RNE-FP16", "(0+1)")
    assert (names["one term on both sides"], names["one addend on both sides"]) == (2, 2)


@pytest.mark.long
def test_multiples_of_one_power_of_two_are_never_subnormal() -> None:
    assert {"a term is a multiple of 2^-2", "so is the sum", "a number is a multiple"} <= {
        *proved(f"(2+(1+0)),{KEPT}", f"(2+(1+0)),{TINY}")
    }


def test_nor_is_their_sum_with_a_normal_number() -> None:
    normal = KEPT.replace("c_subnormals=kept", "c_subnormals=signed_zero")
    names = proved(f"join((0+c)+(1+z)),{normal}", f"join((0+c)+(1+z)),{ZERO}", JOINED)
    # Of the sum with c, and of both numbers.
    assert names["a sum is zero, or no tiny number"] == 2


@pytest.mark.long
def test_a_subnormal_c_is_lost_beside_a_product_and_where_results_are_zero() -> None:
    assert {"one value, in a case", "one value in every case"} <= {*proved(f"(0+c),{ZERO}", f"(0+c),{TINY}")}


@pytest.mark.parametrize(
    ("first", "second", "rest"),
    [
        ("(1+0)", "(1+(0+z))", ROUNDED),
        ("(0+1),product_rounding=RNE-E5M2", "(0+1)", EXACT),
        (f"(0+c),{KEPT}", f"(0+c),{KEPT.replace('c_subnormals=kept', 'c_subnormals=signed_zero')}", EXACT),
        (f"(1+(0+c)),{KEPT}", f"(1+(0+c)),{TINY}", EXACT),
    ],
)
def test_what_rounding_or_a_subnormal_c_changes_is_not_proved(
    first: str, second: str, rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_by_step._Proof, "tried", lambda *_: True)
    monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    monkeypatch.setattr(known_numbers, "_DEPTHS", (0,))
    assert not proved(first, second, rest)


def test_products_are_no_multiples_of_more_than_their_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a power of two that is too large no fact is proved, and so nothing of the sums."""
    monkeypatch.setattr(known_numbers, "_DEPTHS", (0,))
    monkeypatch.setattr(known_numbers, "least_product", lambda *_: -1)
    assert not proved(f"(2+(1+0)),{KEPT}", f"(2+(1+0)),{TINY}")
