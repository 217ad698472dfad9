"""TR-FDPA and GTR-FDPA of CDNA3: each rounding down, by hand."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from oracle.evaluation import BF16, FP16, evaluate, tr_fdpa
from tcformal.design.spec import Design
from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.blocks import dot_block
from tcformal.oracle.values import ExactValue, NumberClass

TR, GTR = tr_fdpa(8), tr_fdpa(16, "gtr")
NAN = "nan(0x7fc00000)"
BELOW_ONE = "16777215*2^-24"


def negated(texts: list[str]) -> list[str]:
    return [text.removeprefix("-") if text.startswith("-") else "-" + text for text in texts]


def test_the_sum_is_not_odd() -> None:
    """Just over half an ulp, less bits below 2^-32, is a tie above zero and more than one below zero."""
    a, b = ["2^-12", "2^-20"], ["2^-12", "2^-20"]
    assert evaluate(TR, FP16, a, b, "1") == "1"
    assert evaluate(TR, FP16, negated(a), b, "-1") == "-8388609*2^-23"


@pytest.mark.parametrize(
    ("design", "c", "answer"),
    [
        (TR, "2^-30", "1"),
        (TR, "-2^-30", BELOW_ONE),
        (TR, "-2^-25", BELOW_ONE),
        (TR, "-2^-149", BELOW_ONE),
        (GTR, "-2^-25", BELOW_ONE),
        (GTR, "-16777215*2^-49", "1"),  # just below 2^-25
        (GTR, "-2^-26", "1"),
        (GTR, "-2^-149", "1"),
        (GTR, "2^-26", "1"),
    ],
)
def test_c_is_rounded_down_and_in_gtr_dropped_where_it_is_small(design: Design, c: str, answer: str) -> None:
    assert evaluate(design, FP16, ["1"], ["1"], c) == answer


TO_ZERO = tr_fdpa(8, sum_rounding="RZ")


@pytest.mark.parametrize(
    ("a", "b", "c", "down", "to_zero"),
    [
        # c, the products' sum, and the sum of both: each is cut once, below zero.
        (["1"], ["1"], "-2^-25", BELOW_ONE, "1"),
        (["2^-12", "2^-20"], ["2^-12", "2^-20"], "1", "1", "1"),
        (["-2^-12", "-2^-20"], ["2^-12", "2^-20"], "-1", "-8388609*2^-23", "-1"),
        (["-1", "-2^-12", "-2^-15"], ["1", "2^-11", "2^-16"], "-1", "-2", "-2"),
        (["-2^-12", "-2^-15"], ["2^-11", "2^-16"], "-2", "-8388609*2^-22", "-2"),
    ],
)
def test_towards_zero_is_told_from_down_below_zero(
    a: list[str], b: list[str], c: str, down: str, to_zero: str
) -> None:
    assert evaluate(TR, FP16, a, b, c) == down
    assert evaluate(TO_ZERO, FP16, a, b, c) == to_zero


@pytest.mark.parametrize("seed", range(4))
def test_towards_zero_is_odd(seed: int) -> None:
    """Minus the operands give minus the result: no cut prefers a side [XIE §6.2.4]."""
    rng = random.Random(seed)

    def number(low: int, high: int) -> str:
        return f"{rng.choice(['', '-'])}{rng.randrange(1024, 2048)}*2^{rng.randint(low, high)}"

    for _ in range(60):
        a, b = ([number(-24, -10) for _ in range(8)] for _ in range(2))
        c = number(-50, -10)
        result = evaluate(TO_ZERO, FP16, a, b, c)
        assert negated([result]) == [evaluate(TO_ZERO, FP16, negated(a), b, negated([c])[0])]


ADDENDS = {kind: tr_fdpa(4, kind, sum_rounding="RD_ADDENDS") for kind in ("tr", "gtr")}


@pytest.mark.parametrize("kind", ADDENDS)
@pytest.mark.parametrize(
    ("a", "b", "c", "cut", "printed"),
    [
        # A tie and 2^-31 of a sum from 2 to 4, which the second cut takes away.
        (["2^-7", "2^-12", "2^-16"], ["1", "2^-11", "2^-15"], "1.9921875", "2", "8388609*2^-22"),
        # Bit F_2 + 1 of the products, above a tie.
        (["2^-9", "-1.75"], ["1", "1"], "8388608", "8388606.5", "8388606"),
        # Where nothing carries and nothing cancels both are one.
        (["2^-12", "2^-16"], ["2^-12", "2^-15"], "1", "8388609*2^-23", "8388609*2^-23"),
    ],
)
def test_the_printed_algorithms_round_the_sum_once(
    kind: str, a: list[str], b: list[str], c: str, cut: str, printed: str
) -> None:
    assert evaluate(tr_fdpa(4, kind), FP16, a, b, c) == cut
    assert evaluate(ADDENDS[kind], FP16, a, b, c) == printed


def test_the_products_keep_one_bit_more_than_the_sum() -> None:
    """1 - 2^-8 - 2^-25 - 2^-32 is past the tie of 24 bits; without its last bit it is the tie."""
    a, b = ["2^-8", "2^-13", "2^-16"], ["1", "2^-12", "2^-16"]
    assert evaluate(TR, FP16, a, b, "-1") == "-16711679*2^-24"
    assert evaluate(tr_fdpa(8, sum_fraction_bits=30), FP16, a, b, "-1") == "-0.99609375"


def test_the_sum_is_rounded_down_at_its_own_exponent() -> None:
    """-2 - 2^-23 (a tie) - 2^-32: at exponent 1 the sum keeps multiples of 2^-30."""
    a, b = ["-1", "-2^-12", "-2^-16"], ["1", "2^-11", "2^-16"]
    products = [
        ExactValue(NumberClass.FINITE, 1, Fraction(1), 0),
        ExactValue(NumberClass.FINITE, 1, Fraction(1, 2**23), -23),
    ]
    c = ExactValue(NumberClass.FINITE, 1, Fraction(1), 0)
    assert dot_block(TR, products, c).number == -2
    assert evaluate(TR, FP16, a, b, "-1") == "-2"  # F = 24 bits at exponent 0 cut 2^-32 toward zero
    low = ["-2^-12", "-2^-16"], ["2^-11", "2^-16"]
    assert evaluate(TR, FP16, *low, "-2") == "-8388609*2^-22"


@pytest.mark.parametrize("design", [TR, tr_fdpa(4, "gtr")])
def test_the_last_bit_of_the_products_is_lost_at_the_exponent_of_the_sum(design: Design) -> None:
    """A tie and 2^-32 of it: the tie in a sum from 1 to 2, and likewise for subnormals (least exponent)."""
    assert evaluate(design, FP16, ["2^-12", "2^-16"], ["2^-12", "2^-16"], "1") == "1"
    assert evaluate(design, FP16, ["2^-12", "2^-15"], ["2^-12", "2^-16"], "1") == "8388609*2^-23"
    assert evaluate(design, BF16, ["2^-75", "0", "2^-88"], ["2^-75", "0", "2^-70"]) == "0"
    assert evaluate(design, BF16, ["2^-75", "0", "2^-87"], ["2^-75", "0", "2^-70"]) == "2^-149"


@pytest.mark.parametrize(("summation", "answer"), [("tr", "0"), ("gtr", "-2^-24")])
def test_the_sides_of_gtr_are_cut_apart_and_then_down(summation: str, answer: str) -> None:
    """-2^-30 is cut to zero beside 1; on a side of its own it is rounded down to -2^-24."""
    a, b = ["1", "-2^-15", "-1", "0"], ["1", "2^-15", "1", "0"]
    assert evaluate(tr_fdpa(4, summation), FP16, a, b) == answer
    assert evaluate(tr_fdpa(4, summation), FP16, negated(a), b) == "0"
    swapped = [a[k ^ 1] for k in range(4)], [b[k ^ 1] for k in range(4)]
    assert evaluate(tr_fdpa(4, summation), FP16, *swapped) == answer


@pytest.mark.parametrize("design", [TR, GTR])
@pytest.mark.parametrize("c", ["0", "1", "-1.5", "2^-149", "-2^-149", "-16777215*2^104", "8388607*2^-149"])
def test_zero_products_leave_c_alone(design: Design, c: str) -> None:
    assert evaluate(design, BF16, ["0", "-0"] * 8, ["1"] * 16, c) == c


def test_a_side_of_zeros_has_no_exponent() -> None:
    assert evaluate(GTR, BF16, ["2^-60", "0"], ["1", "2^60"], "0") == "2^-60"
    assert evaluate(GTR, BF16, ["2^-60"], ["1"], "0") == "2^-60"


def test_zero_products_have_no_exponent() -> None:
    assert evaluate(tr_fdpa(8), FP16, ["2^-15", "0"], ["2^-15", "2^15"]) == "2^-30"


@pytest.mark.parametrize("design", [TR, GTR])
def test_signs_of_zero_results(design: Design) -> None:
    assert evaluate(design, BF16, ["-0"], ["1"], "-0") == "0"
    assert evaluate(design, BF16, ["1"], ["1"], "-1") == "0"
    assert (
        evaluate(design, BF16, ["-2^-100"], ["2^-60"], "-0") == "-0"
    )  # rounded down to -2^-157, then to zero
    assert evaluate(design, BF16, ["2^-100"], ["2^-60"], "0") == "0"
    assert evaluate(design, BF16, ["2^-100"], ["2^-58"], "-0") == "0"  # 2^-158, rounded down to zero


def test_subnormal_results_are_produced() -> None:
    """2^-150 is a tie with zero; what is a little below -2^-150 is no tie any more."""
    assert evaluate(TR, BF16, ["2^-75"], ["2^-75"]) == "0"
    assert evaluate(TR, BF16, ["129*2^-82"], ["2^-75"]) == "2^-149"
    assert evaluate(TR, BF16, ["-2^-75", "-2^-100"], ["2^-75", "2^-70"]) == "-2^-149"
    assert evaluate(TR, BF16, ["2^-75", "2^-100"], ["2^-75", "2^-70"]) == "0"


@pytest.mark.parametrize(
    ("a", "b", "c", "answer"),
    [
        (["2^64", "0"], ["2^64", "1"], "0", "inf"),
        (["2^64", "0"], ["-2^64", "1"], "0", "-inf"),
        (["2^64", "-2^64"], ["2^64", "2^64"], "0", NAN),
        (["2^64", "0"], ["2^64", "1"], "-inf", NAN),
        (["2^64", "2^64"], ["2^63", "2^63"], "-2^127", "2^127"),
        (["2^64", "2^64"], ["2^63", "2^63"], "0", "inf"),
        (["nan", "0"], ["1", "1"], "0", NAN),
        (["0", "0"], ["1", "1"], "-inf", "-inf"),
        (["inf", "0"], ["0", "1"], "0", NAN),
    ],
)
@pytest.mark.parametrize("design", [TR, GTR])
def test_specials_and_products_that_overflow(
    design: Design, a: list[str], b: list[str], c: str, answer: str
) -> None:
    assert evaluate(design, BF16, a, b, c) == answer


def test_blocks_are_chained() -> None:
    """Each block of 8 products keeps its own maximum: 1 - 2^-30 twice."""
    a, b = ["1"] + ["0"] * 7 + ["2^-15"] + ["0"] * 7, ["1"] + ["0"] * 7 + ["-2^-15"] + ["0"] * 7
    assert evaluate(TR, FP16, a, b) == "1"
    assert evaluate(TR, FP16, a, b, "-1") == "-2^-30"
    assert evaluate(TR, FORMATS["tf32"], ["1", "-2^-15"], ["1", "2^-15"], "-1") == "0"
