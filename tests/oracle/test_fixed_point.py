"""Sums in fixed point: small formats, and the words that Hexagon's reference gives."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from oracle.test_c_apart import result
from tcformal.design.names import resolve
from tcformal.design.rounding import conversion
from tcformal.errors import InputError
from tcformal.oracle.rounded import to_fixed
from tcformal.oracle.values import NumberClass
from tcformal.query.explain.explain import explain

HMX = "hexagon/mxmem.hf"


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        # A product's bits below 2^-46 are rounded, ties to even: 2^-47 is none, 3·2^-48 is 2^-46.
        (["0x0001"], ["0x0002"], "2^-25", 0),
        (["0x0001"], ["0x0003"], "2^-25", 1),
        (["0x0001"], ["0x0003"], "-2^-25", 0x8000),
        (["-0"], ["1"], "-0", 0),
        # 2^17 is too large for a product and for a sum, -2^17 is not.
        (["256", "-256"], ["512", "512"], "0", 0x7C00),
        (["256", "256"], ["-512", "512"], "0", 0x7C00),
        (["256", "256"], ["-512", "511.75"], "0", 0xD400),
        (["256", "256", "256"], ["-512", "256", "255.75"], "0", 0xD400),
        # Sums are looked at after every second product.
        (["256", "256", "-256"], ["511.75", "256", "256"], "0", 0x7C00),
        (["256", "256", "-256", "-256"], ["511.75", "0", "256", "256"], "0", 0xD400),
        # The bias is added modulo 2^18.
        (["256", "0"], ["511", "0"], "60000", 0xFC00),
        (["256", "0"], ["-511", "0"], "-60000", 0x7C00),
        # NaN where infinities of both signs meet, and where a product is too large and another Inf.
        (["inf", "1"], ["1", "-inf"], "0", 0xFFFF),
        (["256", "1"], ["512", "-inf"], "0", 0xFFFF),
        (["1"], ["1"], "nan", 0xFFFF),
        (["1"], ["1"], "-inf", 0xFC00),
    ],
)
def test_products_in_a_fixed_point_accumulator(a: list[str], b: list[str], c: str, d: int) -> None:
    """As Qualcomm's functions give them."""
    assert result(HMX, a, b, c) == d


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        ("RNE-Q2.1", "5/4", "1"), ("RNE-Q2.1", "7/4", "2"), ("RZ-Q2.1", "-7/4", "-3/2"),
        ("RD-Q2.0", "-1/4", "-1"), ("RNE-Q2.1", "-4", "-4"), ("RNE-Q2.1", "4", None),
        ("RNE-Q2.1", "15/4", None), ("RNE-Q2.1", "-17/4", "-4"), ("RNE-W2.1", "4", "-4"),
        ("RNE-W2.1", "-9/2", "7/2"), ("RNE-W2.1", "25/2", "-7/2"),
    ],
)  # fmt: skip
def test_a_number_in_fixed_point(text: str, number: str, expected: str | None) -> None:
    """Rounded, then an Inf or what is left of it."""
    x = Fraction(number)
    made = to_fixed(int(x < 0), abs(x), conversion(text))
    if expected is None:
        assert made.kind is NumberClass.INF
    else:
        assert (made.kind, made.number) == (NumberClass.FINITE, Fraction(expected))


def test_an_explanation_says_what_is_left_of_a_sum() -> None:
    def overflows(a: str, b: str, c: str) -> list[str]:
        trace = explain(resolve(HMX), [a, *["0"] * 31], [b, *["0"] * 31], c)
        return [x.rounding.overflow for x in trace.steps if x.rounding is not None and x.rounding.overflow]

    assert overflows("256", "511", "3936") == ["-127392 is left", "-Inf"]
    assert overflows("256", "511", "0") == ["Inf"]
    assert overflows("256", "-512", "0") == ["-Inf"]


@pytest.mark.parametrize("text", ["RNE-Q0.4", "RNE-Q65.4", "RNE-Q4", "RNE-Q4.113", "RNE-V4.4"])
def test_another_fixed_point_rejects(text: str) -> None:
    with pytest.raises(InputError, match=f"but got '{re.escape(text)}'$"):
        conversion(text)


def test_a_result_in_fixed_point_rejects() -> None:
    with pytest.raises(InputError, match=r"^expected a conversion into fp32 for tfdpa"):
        result("tfdpa@conversion=RNE-Q17.46", ["1"], ["1"], "0")


def test_sums_in_fixed_point_reject_a_c_without_subnormals() -> None:
    with pytest.raises(
        InputError, match=r"^expected c_subnormals=kept with sums in fixed point, but got sig"
    ):
        resolve("sequential@accumulator=RNE-Q17.46,c_subnormals=signed_zero")
