"""Formats given by their facts: names, values, both definitions of the arithmetic, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS, format_named
from tcformal.errors import InputError, UnknownNameError, ValueTextError
from tcformal.oracle.values import NumberClass, decode, format_value, parse_value
from tcformal.simulation.matrix_unit import unit
from tcformal.simulation.operands.batch import batch, witness_at
from tcformal.simulation.replay import oracle_result


def test_a_shape_is_ieee_like() -> None:
    f = format_named("e4m7")
    assert (f.name, f.width, f.bias, f.e_min, f.e_max, f.storage_bits) == ("e4m7", 12, 7, -6, 7, 16)
    assert decode(f, f.infinity).kind is NumberClass.INF
    assert format_value(f, f.largest) == "255"


@pytest.mark.parametrize(
    ("name", "known"), [("e5m10", "fp16"), ("e8m23", "fp32"), ("e8m7", "bf16"), ("e4m3", "e4m3")]
)
def test_a_shape_of_the_catalogue_is_that_format(name: str, known: str) -> None:
    assert format_named(name) is FORMATS[known]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("e4m7[finite,bias=5]", "e4m7[bias=5,finite]"), ("e4m7[bias=7,ieee]", "e4m7"),
        ("binary16[no-subnormals]", "fp16[no-subnormals]"), ("e4m3[ieee]", "e4m3[ieee]"),
        ("e4m7[ bias = 0x3 , fnuz ]", "e4m7[bias=3,fnuz]"),
    ],
)  # fmt: skip
def test_one_format_has_one_name(text: str, name: str) -> None:
    assert format_named(text).name == name
    assert format_named(name) == format_named(text)


def test_without_subnormals_the_least_field_is_zero() -> None:
    """Every encoding with field 0 decodes to a zero of its sign, and no text gives a subnormal."""
    f = format_named("e4m7[no-subnormals]")
    assert {decode(f, x).number for x in range(1 << 7)} == {Fraction(0)}
    assert decode(f, 1 << 11 | 5).sign == 1
    assert decode(f, 1 << 7).number == Fraction(1, 64)
    with pytest.raises(ValueTextError, match=r"its neighbours are 0 and 0\.015625"):
        parse_value(f, "2^-7")
    for x in range(1 << 12):
        assert decode(f, parse_value(f, format_value(f, x))) == decode(f, x)


@pytest.mark.parametrize(
    "name",
    [
        "sequential@format=e4m7[no-subnormals],products=4",
        "tfdpa@format=e6m9,products=4,fraction_bits=12",
        "tfdpa@a_format=e4m3[bias=11,no-subnormals],b_format=e5m2[finite],products=4",
        "sequential@a_format=e3m4[all-ones-nan],b_format=e3m4[fnuz,no-subnormals],products=4",
        "ampere/mma.m16n8k8.f32.bf16.bf16.f32@fraction_bits=22",
    ],
)
def test_both_definitions_agree(name: str) -> None:
    """Integers and fractions give one result for operands of every family, special values among them."""
    spec = resolve(name)
    x = batch(spec, spec.k, 120, 5)
    found = unit(name).dot_bits(x.a, x.b, x.c)
    for row in range(120):
        assert int(found[row]) == oracle_result(spec, witness_at(x, row))


def test_matrices_hold_encodings() -> None:
    """A format without a dtype of NumPy takes and gives its encodings; [1, 2]·[1, 1] = 3."""
    u = unit("sequential@format=e4m7,products=2")
    f = format_named("e4m7")
    words = [parse_value(f, text) for text in ("1", "2", "3")]
    a = np.array([words[:2]], np.uint16)
    b = np.array([words[:1], words[:1]], np.uint16)
    assert u.matmul(a, b).tolist() == [[words[2]]]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("e4m7[bias]", "expected a known change of e4m7, but got 'bias'"),
        ("e4m7[bias=x]", "expected an integer for the bias of e4m7, but got 'x'"),
        ("e4m7[bias=1,bias=2]", "expected the bias of e4m7 once, but got 'bias=1,bias=2'"),
        ("e4m7[bias=30000]", "expected an integer from -20000 to 20000 for the bias of e4m7"),
        ("e4m7[finite", "expected a format such as e5m10[bias=20,no-subnormals], but got 'e4m7[finite'"),
        ("e1m7", "expected an integer from 2 to 15 for the exponent bits of e1m7"),
        ("e16m7", "expected an integer from 2 to 15 for the exponent bits of e16m7"),
        ("e12m60", "expected an encoding of at most 64 bits, but got 73 for e12m60"),
        ("e8m0[no-subnormals]", "expected a format with zero for no-subnormals, but got e8m0"),
    ],
)
def test_facts_reject(name: str, sentence: str) -> None:
    with pytest.raises((InputError, UnknownNameError)) as error:
        format_named(name)
    assert sentence.split(",")[0] in str(error.value)


def test_results_of_another_bias_reject() -> None:
    with pytest.raises(InputError, match="expected for d_format fp64, fp32, fp16, bf16, or one with Inf"):
        resolve("tfdpa@format=e4m7[bias=3]")
