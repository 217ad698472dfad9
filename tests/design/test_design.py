"""Designs: what they refuse, names of roundings and of units, and NVIDIA's catalogued numbers."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from tcformal.design.catalog import catalogue
from tcformal.design.names import FAMILIES, resolve
from tcformal.design.rounding import Conversion, conversion
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


@pytest.mark.parametrize(
    "changes",
    [
        {"products": 0}, {"products": 1048577}, {"products": True}, {"products": "4"}, {"fraction_bits": 0},
        {"fraction_bits": 257}, {"carry_bits": -1}, {"carry_bits": 65}, {"nan_word": -1}, {"nan_word": None},
        {"zero_exponent": 40001}, {"zero_exponent": None}, {"zero_exponent": "mine"},
        {"conversion": "RZFP32"}, {"conversion": "RZ-FP33"}, {"product_rounding": "RNE-"},
        {**STEPS, "accumulator": "RNE-E8"}, {"summation": "fuse"}, {"c_position": "joint"},
        {"alignment_rounding": "RTZ"}, {"zero_sign": "minus"}, {"overflow": "inf"},
        {"c_position": "first", "accumulator": "RZ-FP32"},
        {**STEPS, "c_position": "joined", "accumulator": None}, {**STEPS, "summation": "pairwise"},
        {"accumulator": "RZ-FP32"}, {**STEPS, "accumulator": None}, {"c_position": "last"}, {"order": "odd"},
        {"nan_rule": "first"}, {"operand_subnormals": "zero"}, {"c_subnormals": "zero"},
        {"result_subnormals": "zero"}, {"result_subnormals": "positive_zero"},
        {"accumulation": "ones_complement"}, {"aligned_group": 2}, {"c_fraction_bits": 22},
        {"c_fraction_bits": 26, "carry_bits": 3}, {"c_fraction_bits": 26, "aligned_group": 2},
        {"nan_rule": "products_c"}, {"group": 0}, {"group": 5}, {"group": 3}, {**STEPS, "group": 2},
        {"group": 2, "order": "odd_first"}, {"product_limit": 40001}, {**DOWN, "sum_fraction_bits": 0},
        {**DOWN, "sum_fraction_bits": 23}, {"sum_fraction_bits": 31}, {**DOWN, "sum_fraction_bits": None},
        {**DOWN, "c_position": "joined"}, {**DOWN, "zero_exponent": "own"}, {**DOWN, "carry_bits": 3},
        {**DOWN, "accumulator": "RNE-FP32"}, {**DOWN, "summation": "gtr", "products": 3},
        {**STEPS, "summation": "two_chains", "c_position": "last", "products": 3},
        {**STEPS, "order": "odd_first", "products": 3}, {"sum_rounding": "RZ"},
        {**DOWN, "summation": "gtr", "sum_rounding": "RZ"}, {**DOWN, "sum_rounding": "RNE"},
        {"nan_rule": "first_operand", "products": 2},
        {**STEPS, "c_position": "last", "nan_rule": "b_sum_a", "products": 1},
        {"fraction_bits": None, "carry_bits": 3}, {"fraction_bits": None, "alignment_rounding": "RD"},
        {"fraction_bits": None, "zero_exponent": -132}, {"fraction_bits": None, "zero_exponent": "own"},
    ],
)  # fmt: skip
def test_design_rejects(changes: dict[str, Any]) -> None:
    assert sentence_of(lambda: design(**changes)).startswith("expected ")


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


@pytest.mark.parametrize(
    "name",
    [
        "tfdpa@", "tfdpa@products", "tfdpa@products=", "tfdpa@=4", "tfdpa@products=4,",
        "tfdpa@products=4,products=5", "tfdpa@products=four", "tfdpa@fraction_bits=2.5",
        "tfdpa@zero_exponent=mine", "tfdpa@products=exact", "tfdpa@nan_word=none", "tfdpa@terms=1",
        "tfdpa@terms=x", "tfdpa@align_bits=65", "tfdpa@terms=5,products=4",
        "tfdpa@fraction_bits=24,align_bits=1", "tfdpa@normalise_products=yes", "tfdpa@rounding=RTZ",
        "tfdpa@conversion=RZ-FP33", "tfdpa@conversion=RNE-FP16", "tfdpa@products=2,k=3", "tfdpa@k=0",
        "tfdpa@k=many", "tfdpa@d_format=e4m3", "tfdpa@d_format=tf32", "tfdpa@a_format=fp17",
        "tfdpa@fractionbits=3", "tfdpa@carry_bits=65", "tfdpb", "",
    ],
)  # fmt: skip
def test_resolve_rejects(name: str) -> None:
    assert sentence_of(lambda: resolve(name)).startswith("expected ")


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


@pytest.mark.parametrize(
    "name",
    [
        "cdna3/v_mfma_f32_32x32x8_f16@zero_exponent=own", "cdna3/v_mfma_f32_32x32x8_f16@carry_bits=3",
        "cdna3/v_mfma_f32_32x32x8_f16@zero_sign=ieee", "cdna3/v_mfma_f32_32x32x8_f16@sum_fraction_bits=20",
        "tfdpa@products=4,group=2,order=odd_first", "tfdpa@products=4,group=2,zero_sign=ieee",
        "tfdpa@products=4,group=2,product_rounding=RNE-FP32",
    ],
)  # fmt: skip
def test_combinations_without_a_meaning_are_rejected(name: str) -> None:
    with pytest.raises(InputError, match="expected "):
        resolve(name)
