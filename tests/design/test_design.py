"""Designs: what they refuse, names of roundings and of units, and NVIDIA's catalogued numbers."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from tcformal.design.catalog import catalogue
from tcformal.design.names import FAMILIES, resolve
from tcformal.design.rounding import MODES, Conversion, conversion
from tcformal.design.spec import Design, Operands
from tcformal.design.unit import Evidence, UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.errors import InputError, UnknownNameError


def design(**changes: Any) -> Design:
    """A truncated fused sum of four products, with changes."""
    parameters: dict[str, Any] = {
        "products": 4,
        "fraction_bits": 24,
        "conversion": "RZ-FP32",
        "nan_word": 0x7FFFFFFF,
    }
    return Design(**(parameters | changes))


def sentence_of(make: Any, error: type[InputError] = InputError) -> str:
    """The sentence with which a call is refused."""
    with pytest.raises(error) as raised:
        make()
    return str(raised.value)


# --------------------------------------------------------------------- one design
STEPS = {"summation": "sequential", "c_position": "first", "accumulator": "RNE-FP32"}
DOWN = {"summation": "tr", "c_position": "last", "sum_fraction_bits": 31, "zero_sign": "sum"}
CONVERSION = "expected a conversion such as RZ-FP32, RNE-FP16 or RZ-E8M13, but got "
BECAUSE = "because an exact sum has no alignment"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"products": 0}, "expected an integer from 1 to 1048576 for products, but got 0"),
        ({"products": 1048577}, "expected an integer from 1 to 1048576 for products, but got 1048577"),
        ({"products": True}, "expected an integer for products, but got True"),
        ({"products": "4"}, "expected an integer for products, but got '4'"),
        ({"fraction_bits": 0}, "expected an integer from 1 to 256 for fraction_bits, but got 0"),
        ({"fraction_bits": 257}, "expected an integer from 1 to 256 for fraction_bits, but got 257"),
        ({"carry_bits": -1}, "expected an integer from 0 to 64 for carry_bits, but got -1"),
        ({"carry_bits": 65}, "expected an integer from 0 to 64 for carry_bits, but got 65"),
        ({"nan_word": -1}, "expected an integer of at least 0 for nan_word, but got -1"),
        ({"nan_word": None}, "expected an integer for nan_word, but got None"),
        (
            {"zero_exponent": 40001},
            "expected an integer from -40000 to 40000 for zero_exponent, but got 40001",
        ),
        ({"zero_exponent": None}, "expected an integer for zero_exponent, but got None"),
        (
            {"zero_exponent": "mine"},
            "expected an integer, 'own' or 'none' for zero_exponent, but got 'mine'",
        ),
        ({"conversion": "RZFP32"}, "expected a known rounding mode, but got 'RZFP32': "),
        ({"conversion": "RZ-FP33"}, CONVERSION + "'RZ-FP33'"),
        ({"product_rounding": "RNE-"}, CONVERSION + "'RNE-'"),
        ({**STEPS, "accumulator": "RNE-E8"}, CONVERSION + "'RNE-E8'"),
        ({"summation": "fuse"}, "expected a known summation, but got 'fuse': the closest are fused"),
        ({"c_position": "joint"}, "expected a known c_position, but got 'joint': the closest are joined"),
        (
            {"alignment_rounding": "RTZ"},
            "expected a known alignment_rounding, but got 'RTZ': the closest are RZ",
        ),
        ({"zero_sign": "minus"}, "expected a known zero_sign, but got 'minus': "),
        ({"overflow": "inf"}, "expected a known overflow, but got 'inf': "),
        (
            {"c_position": "first", "accumulator": "RZ-FP32"},
            "expected c_position joined or last or after with summation=fused, but got first",
        ),
        (
            {**STEPS, "c_position": "joined", "accumulator": None},
            "expected c_position first or last with summation=sequential, but got joined",
        ),
        (
            {**STEPS, "summation": "pairwise"},
            "expected c_position last with summation=pairwise, but got first",
        ),
        ({"accumulator": "RZ-FP32"}, "expected an accumulator (such as RNE-FP32) exactly where "),
        ({**STEPS, "accumulator": None}, "expected an accumulator (such as RNE-FP32) exactly where "),
        ({"c_position": "last"}, "expected an accumulator (such as RNE-FP32) exactly where "),
        ({"order": "odd"}, "expected a known order, but got 'odd': the closest are odd_first"),
        ({"nan_rule": "first"}, "expected a known nan_rule, but got 'first': "),
        ({"operand_subnormals": "zero"}, "expected a known operand_subnormals, but got 'zero': "),
        ({"c_subnormals": "zero"}, "expected a known c_subnormals, but got 'zero': "),
        ({"result_subnormals": "zero"}, "expected a known result_subnormals, but got 'zero': "),
        (
            {"result_subnormals": "positive_zero"},
            "expected a known result_subnormals, but got 'positive_zero': ",
        ),
        ({"accumulation": "ones_complement"}, "expected c_fraction_bits with accumulation=ones_complement, "),
        ({"aligned_group": 2}, "expected c_fraction_bits with aligned_group=2, but got None"),
        (
            {"c_fraction_bits": 22},
            "expected c_fraction_bits of at least fraction_bits=24, but got 22",
        ),
        (
            {"c_fraction_bits": 26, "carry_bits": 3},
            "expected carry_bits=None with c_fraction_bits=26, but got 3",
        ),
        (
            {"c_fraction_bits": 26, "aligned_group": 2},
            "expected alignment_rounding=RD with aligned_group=2, but got RZ",
        ),
        (
            {**STEPS, "nan_rule": "products_c", "factor_nan_word": 0x7E00},
            "expected one sum of c and products without groups for nan_rule=products_c, but got "
            "summation=sequential with c_position=first and group=None",
        ),
        (
            {"nan_rule": "products_c"},
            "expected factor_nan_word only with nan_rule=products_c, but got None with products_c",
        ),
        ({"group": 0}, "expected an integer from 1 to 4 for group, but got 0"),
        ({"group": 5}, "expected an integer from 1 to 4 for group, but got 5"),
        (
            {"group": 3},
            "expected products to be a multiple of group=3 in a fused sum, "
            "but got products=4 with summation=fused",
        ),
        (
            {**STEPS, "group": 2},
            "expected products to be a multiple of group=2 in a fused sum, "
            "but got products=4 with summation=sequential",
        ),
        (
            {"group": 2, "order": "odd_first"},
            "expected order=ascending with group=2, but got odd_first",
        ),
        (
            {"product_limit": 40001},
            "expected an integer from -40000 to 40000 for product_limit, but got 40001",
        ),
        (
            {**DOWN, "sum_fraction_bits": 0},
            "expected an integer from 1 to 256 for sum_fraction_bits, but got 0",
        ),
        (
            {**DOWN, "sum_fraction_bits": 23},
            "expected sum_fraction_bits of at least fraction_bits=24, but got 23",
        ),
        (
            {"sum_fraction_bits": 31},
            "expected sum_fraction_bits of at most fraction_bits=24, but got 31",
        ),
        (
            {**STEPS, "sum_fraction_bits": 20},
            "expected fraction_bits and sum_fraction_bits with summation=tr and gtr, or both in a fused sum, "
            "but got sum_fraction_bits=20 with summation=sequential",
        ),
        (
            {**DOWN, "sum_fraction_bits": None},
            "expected fraction_bits and sum_fraction_bits with summation=tr and gtr, or both in a fused sum, "
            "but got sum_fraction_bits=None with summation=tr",
        ),
        (
            {"sum_fraction_bits": 20, "lost_bits": "sticky"},
            "expected lost_bits=cut with sum_fraction_bits=20, but got sticky",
        ),
        (
            {"sum_fraction_bits": 20, "second_fraction_bits": 10},
            "expected second_fraction_bits=None with sum_fraction_bits=20, but got 10",
        ),
        (
            {"group_exponent": 3},
            "expected group beside group_exponent and zero_group, but got group_exponent=3 and "
            "zero_group=products without one",
        ),
        ({**DOWN, "c_position": "joined"}, "expected c_position last with summation=tr, but got joined"),
        ({**DOWN, "zero_exponent": "own"}, "expected zero_exponent=none with summation=tr, but got own"),
        ({**DOWN, "carry_bits": 3}, "expected carry_bits=None with summation=tr, but got 3"),
        ({**DOWN, "accumulator": "RNE-FP32"}, "expected an accumulator (such as RNE-FP32) exactly where "),
        (
            {**DOWN, "summation": "gtr", "products": 3},
            "expected an even number of products with summation=gtr, but got 3",
        ),
        (
            {**STEPS, "summation": "two_chains", "c_position": "last", "products": 3},
            "expected an even number of products with summation=two_chains, but got 3",
        ),
        (
            {**STEPS, "order": "odd_first", "products": 3},
            "expected an even number of products with order=odd_first, but got 3",
        ),
        ({"sum_rounding": "RZ"}, "expected sum_rounding=RD with summation=fused, but got RZ"),
        (
            {**DOWN, "summation": "gtr", "sum_rounding": "RZ"},
            "expected sum_rounding=RD or RD_ADDENDS with summation=gtr, but got RZ",
        ),
        (
            {**DOWN, "sum_rounding": "RNE"},
            "expected a known sum_rounding, but got 'RNE': ",
        ),
        (
            {"nan_rule": "first_operand", "products": 2},
            "expected summation=sequential with c_position=first, summation=two_chains, or products=1 in one "
            "sum with c, for nan_rule=first_operand, but got summation=fused with c_position=joined and "
            "products=2",
        ),
        (
            {**STEPS, "c_position": "last", "nan_rule": "b_sum_a", "products": 1},
            "expected summation=sequential with c_position=first, summation=two_chains, or products=1 in one "
            "sum with c, for nan_rule=b_sum_a, but got summation=sequential with c_position=last and "
            "products=1",
        ),
        (
            {"fraction_bits": None, "carry_bits": 3},
            f"expected fraction_bits to be given with carry_bits=3, {BECAUSE}",
        ),
        (
            {"fraction_bits": None, "alignment_rounding": "RD"},
            f"expected fraction_bits to be given with alignment_rounding=RD, {BECAUSE}",
        ),
        (
            {"fraction_bits": None, "zero_exponent": -132},
            f"expected fraction_bits to be given with zero_exponent=-132, {BECAUSE}",
        ),
        (
            {"fraction_bits": None, "zero_exponent": "own"},
            f"expected fraction_bits to be given with zero_exponent=own, {BECAUSE}",
        ),
    ],
)
def test_design_rejects(changes: dict[str, Any], sentence: str) -> None:
    found = sentence_of(lambda: design(**changes))
    assert found == sentence if not sentence.endswith((" ", ": ")) else found.startswith(sentence)


@pytest.mark.parametrize(
    "changes",
    [
        {"fraction_bits": None},
        {"zero_exponent": "own"},
        {"carry_bits": 0, "alignment_rounding": "RNE", "normalise_products": True},
        {"c_position": "last", "accumulator": "RNE-FP16"},
        STEPS,
        {**STEPS, "c_position": "last", "fraction_bits": None, "product_rounding": "RZ-E4M3"},
        {**STEPS, "summation": "pairwise", "c_position": "last"},
        DOWN,
        {**DOWN, "summation": "gtr", "product_limit": 128},
        {**DOWN, "sum_rounding": "RZ"},
        {**STEPS, "summation": "two_chains", "c_position": "last"},
        {**STEPS, "summation": "two_chains", "c_position": "last", "nan_rule": "first_operand"},
        {"products": 1, "nan_rule": "b_sum_a"},
        {**STEPS, "order": "odd_first", "nan_rule": "first_operand", "operand_subnormals": "signed_zero"},
        {"group": 2, "c_subnormals": "positive_zero", "result_subnormals": "signed_zero"},
    ],
)
def test_design_takes_what_means_something(changes: dict[str, Any]) -> None:
    made = design(**changes)
    assert {name: getattr(made, name) for name in changes} == changes
    assert made.parameters() == {name: getattr(made, name) for name in Design.__dataclass_fields__}


def test_designs_are_values() -> None:
    assert design() == design()
    assert hash(design()) == hash(design())
    assert design() != design(fraction_bits=25)
    frozen: Any = design()
    with pytest.raises(FrozenInstanceError):
        frozen.fraction_bits = 25
    positional: Any = Design
    with pytest.raises(TypeError):
        positional(4)


def test_conversions_of_a_design() -> None:
    made = design(**{**STEPS, "accumulator": "RD-FP16"}, product_rounding="RU-E4M3")
    assert made.rho == Conversion("RZ", 8, 23)
    assert made.step == Conversion("RD", 5, 10)
    assert made.product_conversion == Conversion("RU", 4, 3)
    assert design().step == design().rho
    sentence = "expected a design with product_rounding, but its products are exact"
    assert sentence_of(lambda: design().product_conversion) == sentence


# --------------------------------------------------------------------- one unit
def unit(**changes: Any) -> UnitSpec:
    operands = Operands(a=FORMATS["fp16"], b=FORMATS["e4m3"], c=FORMATS["bf16"], d=FORMATS["fp32"])
    parameters: dict[str, Any] = {
        "name": "toy/unit",
        "m": 1,
        "n": 2,
        "k": 8,
        "operands": operands,
        "design": design(),
    }
    return UnitSpec(**(parameters | changes))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"m": 0}, "expected an integer of at least 1 for m, but got 0"),
        ({"n": -1}, "expected an integer of at least 1 for n, but got -1"),
        ({"k": 0}, "expected an integer of at least 1 for k, but got 0"),
        ({"k": 6}, "expected k of toy/unit to be a multiple of 4 products, but got 6"),
        (
            {"design": design(conversion="RNE-FP16")},
            "expected a conversion into fp32 for toy/unit, but got RNE-FP16",
        ),
        (
            {"design": design(conversion="RNE-E8M24")},
            "expected a conversion into fp32 for toy/unit, but got RNE-E8M24",
        ),
    ],
)
def test_unit_rejects(changes: dict[str, Any], sentence: str) -> None:
    assert sentence_of(lambda: unit(**changes)) == sentence


def test_unit_properties() -> None:
    made = unit()
    assert (made.a_format.name, made.b_format.name, made.c_format.name, made.d_format.name) == (
        "fp16", "e4m3", "bf16", "fp32",
    )  # fmt: skip
    assert str(made.operands) == "fp32 = fp16 · e4m3 + bf16"
    assert made.arch == "toy"
    assert unit(name="family@k=8").arch == "family"
    assert unit(k=3).k == 3  # fewer than a block


# --------------------------------------------------------------------- conversions
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RNE-FP64", Conversion("RNE", 11, 52)),
        ("RZ-FP32", Conversion("RZ", 8, 23)),
        ("RD-FP16", Conversion("RD", 5, 10)),
        ("RU-BF16", Conversion("RU", 8, 7)),
        ("RNA-E2M2", Conversion("RNA", 2, 2)),
        ("RZ-E8M13", Conversion("RZ", 8, 13)),
        ("RZ-E15M112", Conversion("RZ", 15, 112)),
    ],
)
def test_conversion(text: str, expected: Conversion) -> None:
    assert conversion(text) == expected


@pytest.mark.parametrize(
    ("shape", "e_min", "e_max", "precision"),
    [("FP64", -1022, 1023, 53), ("FP32", -126, 127, 24), ("FP16", -14, 15, 11), ("BF16", -126, 127, 8),
     ("E8M13", -126, 127, 14), ("E2M2", 0, 1, 3), ("E3M2", -2, 3, 3)],
)  # fmt: skip
def test_conversion_ranges(shape: str, e_min: int, e_max: int, precision: int) -> None:
    made = conversion(f"RZ-{shape}")
    assert (made.e_min, made.e_max, made.precision) == (e_min, e_max, precision)


@pytest.mark.parametrize(
    "text",
    ["RNE", "RNE-", "RNE-FP8", "RNE-E1M3", "RNE-E16M3", "RNE-E5M0", "RNE-E5M113", "RNE-E5", "RNE-E5M2X"],
)
def test_conversion_rejects_shapes(text: str) -> None:
    assert sentence_of(lambda: conversion(text)) == CONVERSION + repr(text)


@pytest.mark.parametrize("text", ["", "-FP32", "FP32", "RX-FP32", "RNE FP32"])
def test_conversion_rejects_modes(text: str) -> None:
    mode = text.partition("-")[0]
    found = sentence_of(lambda: conversion(text), UnknownNameError)
    assert found.startswith(f"expected a known rounding mode, but got {mode!r}: ")


def test_a_conversion_overflows_below_its_format() -> None:
    made = conversion("RNE-FP16:15")
    assert (made.e_min, made.e_max, made.precision) == (-14, 14, 11)
    assert made.fits(FORMATS["fp16"])


@pytest.mark.parametrize("text", ["RNE-FP16:", "RNE-FP16:x", "RNE-Q2.3:1", "RNE-FP16:15:14"])
def test_an_exponent_that_is_none_rejects(text: str) -> None:
    assert sentence_of(lambda: conversion(text)).endswith(f"as RNE-FP16:15, but got {text!r}")


@pytest.mark.parametrize("text", ["RNE-FP16:16", "RNE-FP16:-14", "RNE-E8M13:128"])
def test_an_exponent_that_cuts_off_no_binade_rejects(text: str) -> None:
    assert sentence_of(lambda: conversion(text)).startswith("expected results below 2^n with n from ")


def test_conversion_fits() -> None:
    assert conversion("RZ-E8M13").fits(FORMATS["fp32"])
    assert conversion("RZ-FP32").fits(FORMATS["fp32"])
    assert not conversion("RZ-FP32").fits(FORMATS["tf32"])
    assert not conversion("RZ-FP16").fits(FORMATS["fp32"])
    assert not conversion("RZ-FP32").fits(FORMATS["fp16"])


# --------------------------------------------------------------------- names
def parameters(name: str, *keys: str) -> tuple[Any, ...]:
    found = resolve(name).design.parameters()
    return tuple(found[key] for key in keys)


def test_families_by_default() -> None:
    assert list(FAMILIES) == ["valpey", "tfdpa", "sequential", "tree"]
    assert resolve("valpey").design == Design(
        products=4, fraction_bits=23, normalise_products=True, zero_exponent=-126, conversion="RZ-FP32",
        nan_word=0x7FC00000,
    )  # fmt: skip
    assert resolve("tfdpa").design == Design(
        products=8, fraction_bits=24, zero_exponent=-132, conversion="RZ-FP32", nan_word=0x7FFFFFFF
    )
    assert resolve("sequential").design == Design(
        products=4, summation="sequential", c_position="first", accumulator="RNE-FP32", conversion="RNE-FP32",
        nan_word=0x7FC00000, zero_sign="ieee", overflow="ieee",
    )  # fmt: skip
    for family in FAMILIES:
        spec = resolve(family)
        assert (spec.m, spec.n, spec.k) == (1, 1, spec.design.products)
        assert str(spec.operands) == "fp32 = fp16 · fp16 + fp32"
        assert {fact.evidence for fact in spec.facts.values()} == {Evidence.CHOSEN}


def test_families_follow_the_result_format() -> None:
    half = "@c_format=fp16,d_format=fp16"
    keys = ("conversion", "zero_exponent", "nan_word")
    assert parameters("valpey" + half, *keys) == ("RNE-FP16", -126, 0x7E00)
    assert parameters("tfdpa" + half, *keys) == ("RNE-FP16", -20, 0x7FFF)
    assert parameters("sequential" + half, *keys) == ("RNE-FP16", "none", 0x7E00)
    assert parameters("sequential@d_format=fp64", "conversion", "accumulator", "nan_word") == (
        "RNE-FP64", "RNE-FP64", 0x7FF8000000000000,
    )  # fmt: skip
    assert parameters("tfdpa@d_format=bf16", "conversion", "nan_word") == ("RZ-BF16", 0x7FC0)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("valpey@terms=9", {"products": 8}),
        ("valpey@align_bits=1", {"fraction_bits": 24}),
        ("valpey@align_bits=0", {"fraction_bits": 23}),
        ("valpey@rounding=rne", {"conversion": "RNE-FP32", "accumulator": None}),
        ("sequential@rounding=RD", {"conversion": "RD-FP32", "accumulator": "RD-FP32"}),
        ("sequential@rounding=RD,conversion=RU-FP32", {"conversion": "RU-FP32", "accumulator": "RD-FP32"}),
        ("tfdpa@fraction_bits=exact", {"fraction_bits": None, "zero_exponent": "none"}),
        ("tfdpa@zero_exponent=own", {"zero_exponent": "own"}),
        ("tfdpa@zero_exponent=none", {"zero_exponent": "none"}),
        ("tfdpa@zero_exponent=-7", {"zero_exponent": -7}),
        ("tfdpa@carry_bits=exact", {"carry_bits": None}),
        ("tfdpa@carry_bits=0x3", {"carry_bits": 3}),
        ("tfdpa@nan_word=0x7fc00000", {"nan_word": 0x7FC00000}),
        ("valpey@normalise_products=False", {"normalise_products": False}),
        ("tfdpa@product_rounding=RZ-FP16", {"product_rounding": "RZ-FP16"}),
        ("tfdpa@c_position=last", {"c_position": "last", "accumulator": "RZ-FP32"}),
        (
            "tfdpa@summation=sequential",
            {"summation": "sequential", "c_position": "first", "accumulator": "RZ-FP32"},
        ),
        ("sequential@summation=fused", {"c_position": "joined", "accumulator": None}),
        ("sequential@summation=pairwise", {"c_position": "last", "accumulator": "RNE-FP32"}),
        ("hopper/mma.m16n8k16.f32.f16.f16.f32@fraction_bits=24", {"fraction_bits": 24}),
        ("hopper/mma.m16n8k16.f32.f16.f16.f32@rounding=RNE", {"conversion": "RNE-FP32"}),
        ("hopper/mma.m16n8k16.f16.f16.f16.f16@rounding=RU", {"conversion": "RU-FP16"}),
        (
            "volta/mma.m8n8k4.f32.f16.f16.f32@c_position=last,rounding=RU",
            {"conversion": "RU-FP32", "accumulator": "RU-FP32"},
        ),
    ],
)
def test_parameters_in_a_name(name: str, changed: dict[str, Any]) -> None:
    """What is given and what follows from it; everything else is as in the base, and facts say so."""
    spec, base = resolve(name), resolve(name.partition("@")[0])
    found = spec.design.parameters()
    assert {key: found[key] for key in changed} == changed
    implied = {"accumulator", "c_position", "zero_exponent", "summation"}
    rest = found.keys() - changed.keys() - implied
    assert {key: found[key] for key in rest} == {key: base.design.parameters()[key] for key in rest}
    assert spec.name == name
    for item in name.partition("@")[2].split(","):
        key = item.partition("=")[0]
        key = {"terms": "products", "align_bits": "fraction_bits", "rounding": "conversion"}.get(key, key)
        assert spec.facts[key].evidence is Evidence.CHOSEN


@pytest.mark.parametrize("name", ["x86/vdpbf16ps", "cdna2/v_mfma_f32_4x4x4f16"])
def test_rounding_reaches_the_partial_sums_of_a_catalogued_unit(name: str) -> None:
    found = resolve(f"{name}@rounding=RZ").design
    assert (found.conversion, found.accumulator) == ("RZ-FP32", "RZ-FP32")


def test_names_are_trimmed() -> None:
    spec = resolve("  tfdpa@ products = 4 , fraction_bits=23 ")
    assert spec.name == "tfdpa@ products = 4 , fraction_bits=23"
    assert (spec.design.products, spec.design.fraction_bits) == (4, 23)


def test_formats_and_k_of_a_family() -> None:
    spec = resolve("tfdpa@a_format=e5m2,b_format=fp8_e4m3,c_format=f16,k=32")
    assert str(spec.operands) == "fp32 = e5m2 · e4m3 + fp16"
    assert (spec.k, spec.design.products) == (32, 8)
    assert resolve("sequential@k=3").k == 3


EXPECTED_AT = "expected parameters as name=value after @ in "


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tfdpa@", EXPECTED_AT + "'tfdpa@', but got ''"),
        ("tfdpa@products", EXPECTED_AT + "'tfdpa@products', but got 'products'"),
        ("tfdpa@products=", EXPECTED_AT + "'tfdpa@products=', but got 'products='"),
        ("tfdpa@=4", EXPECTED_AT + "'tfdpa@=4', but got '=4'"),
        ("tfdpa@products=4,", EXPECTED_AT + "'tfdpa@products=4,', but got ''"),
        (
            "tfdpa@products=4,products=5",
            "expected each parameter once in 'tfdpa@products=4,products=5', but got products twice",
        ),
        ("tfdpa@products=four", "expected an integer for products, but got 'four'"),
        ("tfdpa@fraction_bits=2.5", "expected an integer for fraction_bits, but got '2.5'"),
        ("tfdpa@zero_exponent=mine", "expected an integer for zero_exponent, but got 'mine'"),
        ("tfdpa@products=exact", "expected an integer for products, but got 'exact'"),
        ("tfdpa@nan_word=none", "expected an integer for nan_word, but got 'none'"),
        ("tfdpa@terms=1", "expected an integer from 2 to 1048577 for terms, but got 1"),
        ("tfdpa@terms=x", "expected an integer for terms, but got 'x'"),
        ("tfdpa@align_bits=65", "expected an integer from 0 to 64 for align_bits, but got 65"),
        (
            "tfdpa@terms=5,products=4",
            "expected terms or products in 'tfdpa@terms=5,products=4', but got both",
        ),
        (
            "tfdpa@fraction_bits=24,align_bits=1",
            "expected align_bits or fraction_bits in 'tfdpa@fraction_bits=24,align_bits=1', but got both",
        ),
        (
            "tfdpa@normalise_products=yes",
            "expected a known normalise_products, but got 'yes': expected one of true, false",
        ),
        ("tfdpa@rounding=RTZ", "expected a known rounding mode, but got 'RTZ': the closest are RZ"),
        ("tfdpa@conversion=RZ-FP33", CONVERSION + "'RZ-FP33'"),
        (
            "tfdpa@conversion=RNE-FP16",
            "expected a conversion into fp32 for tfdpa@conversion=RNE-FP16, but got RNE-FP16",
        ),
        (
            "tfdpa@products=2,k=3",
            "expected k of tfdpa@products=2,k=3 to be a multiple of 2 products, but got 3",
        ),
        ("tfdpa@k=0", "expected an integer from 1 to 1048576 for k, but got 0"),
        ("tfdpa@k=many", "expected an integer for k, but got 'many'"),
        (
            "tfdpa@d_format=e4m3",
            "expected for d_format fp64, fp32, fp16, bf16, or one with Inf and NaN and the bias of IEEE 754 "
            "such as e6m9, but got e4m3",
        ),
        (
            "tfdpa@d_format=tf32",
            "expected for d_format fp64, fp32, fp16, bf16, or one with Inf and NaN and the bias of IEEE 754 "
            "such as e6m9, but got tf32",
        ),
        ("tfdpa@a_format=fp17", "expected a known format, but got 'fp17': the closest are fp16, fp64, fp32"),
        (
            "tfdpa@fractionbits=3",
            "expected a known parameter of tfdpa, but got 'fractionbits': the closest are fraction_bits",
        ),
        ("tfdpa@carry_bits=65", "expected an integer from 0 to 64 for carry_bits, but got 65"),
        ("tfdpb", "expected a known unit, but got 'tfdpb': the closest are tfdpa"),
        ("", "expected a known unit, but got '': none of the "),
    ],
)
def test_resolve_rejects(name: str, sentence: str) -> None:
    assert sentence_of(lambda: resolve(name)).startswith(sentence)


@pytest.mark.parametrize(
    ("name", "closest"),
    [
        ("hopper/mma.m16n8k16.f32.f16.f16", "hopper/mma.m16n8k16.f32.f16.f16.f32"),
        ("ampere/mma.m16n8k8.f32.f16.f16.f16", "ampere/mma.m16n8k8.f32.f16.f16.f32"),
        ("voltar/mma.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32"),
    ],
)
def test_unknown_units_are_refused_with_the_closest(name: str, closest: str) -> None:
    found = sentence_of(lambda: resolve(name), UnknownNameError)
    assert found.startswith(f"expected a known unit, but got {name!r}: the closest are ")
    assert closest in found


def test_parameters_of_families_are_not_those_of_units() -> None:
    name = "volta/mma.m8n8k4.f32.f16.f16.f32"
    for key in ("k", "a_format"):
        found = sentence_of(lambda key=key: resolve(f"{name}@{key}=4"), UnknownNameError)
        assert found.startswith(f"expected a known parameter of {name}, but got {key!r}: ")


# --------------------------------------------------------------------- NVIDIA's mma units
F16_884 = ["m8n8k4.f32.f16.f16.f32", "m8n8k4.f32.f16.f16.f16", "m8n8k4.f16.f16.f16.f16"]
F16_1688 = ["m16n8k8.f32.f16.f16.f32", "m16n8k8.f16.f16.f16.f16"]
SINCE_AMPERE = [
    *F16_1688, "m16n8k16.f32.f16.f16.f32", "m16n8k16.f16.f16.f16.f16",
    "m16n8k16.f32.bf16.bf16.f32", "m16n8k8.f32.bf16.bf16.f32",
    "m16n8k8.f32.tf32.tf32.f32", "m16n8k4.f32.tf32.tf32.f32",
]  # fmt: skip

#: Instructions, F, L_max in bytes of A (XIE Tables 3 and 4), e_zero of fp32 and fp16 results (MMA-Sim 2.1.1).
NVIDIA = {
    "volta": (F16_884, 23, 8, -131, -19),
    "turing": (F16_884 + F16_1688, 24, 16, -132, -20),
    "ampere": (SINCE_AMPERE, 24, 16, -132, -20),
    "ada": (SINCE_AMPERE, 24, 16, -132, -20),
    "hopper": (SINCE_AMPERE, 25, 32, -133, -21),
    "blackwell": (SINCE_AMPERE, 25, 32, -133, -21),
}
BYTES = {"f16": 2, "bf16": 2, "tf32": 4}
LONG = {"f16": "fp16", "bf16": "bf16", "tf32": "tf32", "f32": "fp32"}
MMA_UNITS = [(arch, text) for arch, row in NVIDIA.items() for text in row[0]]


@pytest.mark.parametrize("arch", NVIDIA)
def test_mma_names_are_exactly_the_legal_ones(arch: str) -> None:
    """Of the 16-bit and tf32 `mma`, all that the table above lists, and no other."""
    mine = re.compile(rf"{arch}/mma\.(m\d+n\d+k\d+\.f\d+\.(?:f16|bf16|tf32)\..*)")
    found = [match[1] for name in catalogue() if (match := mine.fullmatch(name))]
    assert sorted(found) == sorted(NVIDIA[arch][0])


@pytest.mark.parametrize(("arch", "text"), MMA_UNITS)
def test_mma_parameters(arch: str, text: str) -> None:
    """XIE Table 4 and Algorithm 7: T-FDPA, products = min(K, L_max) by size, F, e_zero, conversion."""
    spec = catalogue()[f"{arch}/mma.{text}"]
    shape, d, a, b, c = text.split(".")
    # Turing's m8n8k4 has Volta's parameters (XIE; MMA-Sim 2.1.1).
    row = NVIDIA["volta" if (arch, shape) == ("turing", "m8n8k4") else arch]
    _, fraction_bits, block_bytes, zero_of_fp32, zero_of_fp16 = row
    half = d == "f16"
    assert spec.design == Design(
        products=block_bytes // BYTES[a],
        fraction_bits=fraction_bits,
        zero_exponent=zero_of_fp16 if half else zero_of_fp32,
        conversion="RNE-FP16" if half else "RZ-FP32",
        nan_word=0x7FFF if half else 0x7FFFFFFF,
    )
    o = spec.operands
    assert [o.d.name, o.a.name, o.b.name, o.c.name] == [LONG[x] for x in (d, a, b, c)]
    assert f"m{spec.m}n{spec.n}k{spec.k}" == shape
    assert spec.name == f"{arch}/mma.{text}"
    assert spec.arch == arch


@pytest.mark.parametrize(("arch", "text"), MMA_UNITS)
def test_every_parameter_has_a_source(arch: str, text: str) -> None:
    spec = catalogue()[f"{arch}/mma.{text}"]
    assert spec.facts.keys() == Design.__dataclass_fields__.keys()
    assert [name for name, fact in spec.facts.items() if not fact.source.strip()] == []
    assert Evidence.CHOSEN not in {fact.evidence for fact in spec.facts.values()}
    assert spec.sources == tuple(dict.fromkeys(fact.source for fact in spec.facts.values()))


def test_open_disagreements_are_noted() -> None:
    for name, spec in catalogue().items():
        if name.startswith("turing/mma.m8n8k4"):
            assert any("open until probed" in note and "fraction_bits" in note for note in spec.notes)
    # Every NaN word that no probe has seen is one of them.
    for spec in (catalogue()[f"{arch}/mma.{text}"] for arch, text in MMA_UNITS):
        noted = any("NaN word" in note and "open until probed" in note for note in spec.notes)
        assert noted == (spec.facts["nan_word"].evidence is not Evidence.MEASURED), spec.name


def test_modes_have_descriptions() -> None:
    assert {"RNE", "RNA", "RZ", "RD", "RU"} <= MODES.keys()
    assert all(MODES.values())


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cdna3/v_mfma_f32_32x32x8_f16@zero_exponent=own", "expected zero_exponent=none with summation=tr"),
        ("cdna3/v_mfma_f32_32x32x8_f16@carry_bits=3", "expected carry_bits=None with summation=tr"),
        (
            "cdna3/v_mfma_f32_32x32x8_f16@zero_sign=ieee",
            "expected zero_sign=sum or positive with summation=tr",
        ),
        ("cdna3/v_mfma_f32_32x32x8_f16@sum_fraction_bits=20", "expected sum_fraction_bits of at least"),
        ("tfdpa@products=4,group=2,order=odd_first", "expected order=ascending with group=2"),
        ("tfdpa@products=4,group=2,zero_sign=ieee", "expected zero_sign=positive or sum with group=2"),
        ("tfdpa@products=4,group=2,product_rounding=RNE-FP32", "expected product_rounding=None with group=2"),
    ],
)
def test_combinations_without_a_meaning_are_rejected(name: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve(name)
    assert str(caught.value).startswith(sentence)
