"""Assumptions about exact products and sums, held against fractions on every pair and on random sums."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from sampled import one_in
from tcformal.backends.vector import Vector
from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, UnknownNameError
from tcformal.ir.build import Graph
from tcformal.oracle.values import NumberClass, decode, exponent_of, parse_value
from tcformal.query.assume import REGIONS, Assumptions, assume_of_unit, from_texts, parse_region
from tcformal.query.comparison.error_comparison import comparison_parameters
from tcformal.query.question import Kind as Verdict
from tcformal.query.separate import separate
from tcformal.semantics.chain import declare_inputs
from tcformal.solve.result import Limits

FP16, FP32 = FORMATS["fp16"], FORMATS["fp32"]
LIMITS = Limits(120.0, 8192, 0)


def inside(x: Fraction, fmt: Format) -> bool:
    """Whether x is a finite number of the format, from its definition."""
    if not x:
        return True
    e = max(exponent_of(abs(x)), fmt.e_min)
    return e <= fmt.e_max and (x / Fraction(2) ** (e - fmt.fraction_bits)).denominator == 1


SAYS: dict[str, Callable[[Fraction, Format], bool]] = {
    "inside": inside,
    "outside": lambda x, fmt: not inside(x, fmt),
    "normal": lambda x, fmt: Fraction(2) ** fmt.e_min <= abs(x) < Fraction(2) ** (fmt.e_max + 1),
    "subnormal": lambda x, fmt: 0 < abs(x) < Fraction(2) ** fmt.e_min,
}


def assumed(unit: str, texts: list[str], columns: dict[str, list[int]]) -> list[bool]:
    """Whether the assumptions hold of each row of operands."""
    spec, g = resolve(unit), Graph()
    x = declare_inputs(g, spec, spec.k)
    root = assume_of_unit(g, from_texts(spec.operands.c, texts), spec, x)
    n = len(columns["c"])
    (found,) = Vector(g, {name: np.array(row, dtype=np.uint64) for name, row in columns.items()}).run([root])
    return [bool(v) for v in np.broadcast_to(found, (n,))]


def number(fmt: Format, raw: int) -> Fraction | None:
    """The value of an encoding; None for NaN and Inf."""
    value = decode(fmt, raw)
    return value.number if value.kind is NumberClass.FINITE else None


@pytest.mark.parametrize(
    "target", one_in(2, ["e5m2", *(pytest.param(x, marks=pytest.mark.long) for x in ("fp16", "bf16"))])
)
@pytest.mark.parametrize("name", list(REGIONS))
def test_every_product_of_two_bytes(name: str, target: str) -> None:
    """All pairs of e5m2 numbers: subnormal, normal and overflowing products."""
    fmt = FORMATS["e5m2"]
    a, b = [x for x in range(256) for _ in range(256)], [*range(256)] * 256
    unit = "tfdpa@products=1,a_format=e5m2,b_format=e5m2"
    found = assumed(unit, [f"products={name}-{target}"], {"a[0]": a, "b[0]": b, "c": [0] * len(a)})
    exact = [number(fmt, x) for x in range(256)]
    for x, y, said in zip(a, b, found, strict=True):
        p, q = exact[x], exact[y]
        assert said == (p is not None and q is not None and SAYS[name](p * q, FORMATS[target]))


@pytest.mark.parametrize("name", list(REGIONS))
def test_sums_of_two_products_and_c(name: str) -> None:
    """Random halves with few bits, so that all places are met, and cancelling ones."""
    rng = np.random.default_rng(5)
    n = 4000
    columns = {}
    for operand in ("a[0]", "a[1]", "b[0]", "b[1]"):
        sign, e = rng.integers(0, 2, n) << 15, rng.integers(0, 31, n) << 10
        columns[operand] = [int(v) for v in sign | e | (rng.integers(0, 8, n) << rng.integers(0, 8, n))]
    small = (rng.integers(0, 2, n) << 31) | (rng.integers(95, 145, n) << 23)
    columns["c"] = [int(v) for v in np.where(rng.random(n) < 0.5, 0, small)]
    columns["a[1]"][::5] = columns["a[0]"][::5]
    columns["b[1]"][::5] = [x ^ 1 << 15 for x in columns["b[0]"][::5]]
    found = assumed("tfdpa@products=2", [f"sum={name}-fp16"], columns)
    said = []
    for row in range(n):
        a0, a1, b0, b1 = (decode(FP16, columns[w][row]).number for w in ("a[0]", "a[1]", "b[0]", "b[1]"))
        total = a0 * b0 + a1 * b1 + decode(FP32, columns["c"][row]).number
        said.append(SAYS[name](total, FP16))
    assert found == said
    assert min(said.count(True), said.count(False)) > 30


def test_factors() -> None:
    """Zero, a subnormal, a normal, Inf and NaN as a factor; c is free."""
    words = [parse_value(FP16, text) for text in ("0", "2^-24", "1", "inf", "nan")]
    columns = {"a[0]": words, "b[0]": [words[1]] * 5, "c": [0, 1, 2, 3, 4]}
    assert assumed("tfdpa@products=1", ["factors=subnormal"], columns) == [False, True, False, False, False]
    columns["b[0]"] = [words[2]] * 5
    assert assumed("tfdpa@products=1", ["factors=normal"], columns) == [False, False, True, False, False]


def test_no_product_of_subnormal_halves_is_normal() -> None:
    """VACUOUS, and satisfiable where products may be as small as they are."""
    pair = ("valpey@terms=2", "valpey@terms=2,operand_subnormals=positive_zero")
    v = separate(
        *pair,
        limits=LIMITS,
        assumptions=Assumptions.of(pair[0], "factors=subnormal", "products=normal-fp16", "c=0"),
    )
    assert v.kind is Verdict.VACUOUS
    assert v.certificate is not None or v.confirmed_by
    assert "every element of a and b is subnormal" in v.reason
    v = separate(
        *pair,
        limits=LIMITS,
        assumptions=Assumptions.of(pair[0], "factors=subnormal", "products=subnormal-fp16", "c=0"),
    )
    assert v.kind is Verdict.SEPARATED


def test_a_witness_obeys() -> None:
    """Products that are no halves with a sum that is one: as exact fractions say of the witness."""
    name = "valpey@terms=3,c_format=fp16,d_format=fp16"
    where = Assumptions.of(name, "products=outside-fp16", "sum=inside-fp16", "c=0")
    v = separate(name, f"{name},product_rounding=RNE-FP16", limits=LIMITS, assumptions=where)
    assert v.kind is Verdict.SEPARATED
    assert v.witness is not None
    products = [decode(FP16, x).number * decode(FP16, y).number
                for x, y in zip(v.witness.a, v.witness.b, strict=True)]  # fmt: skip
    assert not any(inside(p, FP16) for p in products)
    assert inside(sum(products, Fraction(0)), FP16)


@pytest.mark.parametrize(
    ("unit", "texts", "error", "sentence"),
    [
        ("tfdpa@products=1", ["products=fp16"], InputError,
         "expected products as one of inside, outside, normal, subnormal and a format, such as inside-fp16, "
         "but got 'fp16'"),
        ("tfdpa@products=1", ["sum=within-fp16"], UnknownNameError, "expected a known region for sum"),
        ("tfdpa@products=1", ["sum=inside-fp17"], UnknownNameError, "expected a known format"),
        ("tfdpa@products=1", ["sum=inside-e4m3"], InputError,
         "expected an IEEE 754 format for sum, but got e4m3"),
        ("tfdpa@products=1", ["factors=zero"], UnknownNameError, "expected a known assumption factors"),
        ("tfdpa@products=1", ["products"], InputError,
         "expected assumption products with a value, such as products=outside-fp16, but got none"),
        ("blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0", ["sum=inside-fp32"],
         InputError, "expected units without scales for products and sum"),
    ],
)  # fmt: skip
def test_refused(unit: str, texts: list[str], error: type[InputError], sentence: str) -> None:
    spec, g = resolve(unit), Graph()
    with pytest.raises(error) as caught:
        assume_of_unit(g, from_texts(spec.operands.c, texts), spec, declare_inputs(g, spec, spec.k))
    assert str(caught.value).startswith(sentence)


def test_two_algorithms_take_none_of_them() -> None:
    with pytest.raises(InputError, match="expected no assumption factors about two algorithms"):
        comparison_parameters(
            "volta/mma.m8n8k4.f32.f16.f16.f32", assumptions=from_texts(FP32, ["factors=normal"])
        )


@pytest.mark.parametrize("text", ["inside-fp16", "outside-bf16", "normal-e5m2", "subnormal-fp64"])
def test_places_are_spelled_as_they_are_read(text: str) -> None:
    assert str(parse_region(text, "sum")) == text
