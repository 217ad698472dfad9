"""Explanation: the numbers of a picture add up, and two units part where their parameters differ."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.rounding import conversion
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, ValueTextError
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import NumberClass, decode, format_value
from tcformal.query.explain.explain import explain, explain_witness
from tcformal.query.explain.program_trace import explain_program
from tcformal.query.explain.trace import SumStep, TermRow, Trace, divergence
from tcformal.report.picture import divergence_text, explanation_data, picture
from tcformal.report.text import WIDTH
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import batch as families
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.operands.witness import Witness
from vectors import batch

AMPERE = "ampere/mma.m16n8k8.f32.f16.f16.f32"
DESIGNS = [
    AMPERE,
    "volta/mma.m8n8k4.f32.f16.f16.f16",
    "hopper/mma.m16n8k16.f16.f16.f16.f16",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "hopper/mma.m16n8k8.f32.bf16.bf16.f32",
    "valpey@terms=5,align_bits=1",
    "valpey@terms=5,carry_bits=0",
    "tfdpa@products=2,fraction_bits=4,k=6",
    "tfdpa@products=4,conversion=RZ-E8M13,zero_exponent=own",
    "tfdpa@products=3,alignment_rounding=RD",
    "tfdpa@products=3,overflow=ieee,d_format=fp16,conversion=RZ-FP16",
    "tfdpa@products=2,fraction_bits=exact",
    "tfdpa@products=4,fraction_bits=exact,a_format=bf16,b_format=bf16",
    "tfdpa@products=4,a_format=e4m3,b_format=e5m2",
    "sequential@products=4",
    "sequential@products=3,c_position=last,product_rounding=RNE-FP16",
    "sequential@products=5,summation=pairwise",
    "sequential@products=1,c_position=last",
    "sequential@products=4,summation=two_chains",
    "tfdpa@products=4,summation=fused,c_position=last",
    "cdna3/v_mfma_f32_16x16x16_f16",
    "cdna3/v_mfma_f32_16x16x32_fp8_fp8",
    "tfdpa@products=4,group=2",
    "tfdpa@products=4,order=odd_first",
    "tfdpa@products=4,e_max_of=products,zero_exponent=none",
]
MX = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
MX4, MX5 = (MX.replace("e4m3", x) for x in ("e2m1", "e5m2"))
MXF4 = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
NV = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
SCALED = [MX, MX4, MX5, MXF4, NV, f"{NV}@group=none", f"{MX5}@group=8", f"{NV}@fraction_bits=9"]


@cache
def traces(name: str) -> list[Trace]:
    """Seeded dot products of one design, explained."""
    spec = resolve(name)
    return [explain_witness(spec, w) for w in witnesses(spec, 48, seed=11)]


def witnesses(spec: UnitSpec, n: int, seed: int) -> list[Witness]:
    return [witness_at(x, i) for x in (families(spec, spec.k, n, seed),) for i in range(n)]


def bits_value(pointed: str) -> Fraction:
    """The number that bits with a point stand for."""
    whole, _, fraction = pointed.partition(".")
    return Fraction(int(whole + fraction, 2), 1 << len(fraction))


def discarded_value(step: SumStep, term: TermRow) -> Fraction:
    """What the discarded bits of a term stand for: they begin below the last kept bit."""
    if not term.discarded:
        return Fraction(0)
    last = step.e_max - step.fraction_bits
    return int(term.discarded, 2) * power_of_two(last - len(term.discarded))


# ---------------------------------------------------------------------- the numbers of a picture
@pytest.mark.parametrize("name", DESIGNS)
def test_the_result_is_the_units(name: str) -> None:
    """The trace ends where the vector interpretation does."""
    spec = resolve(name)
    a, b, c = batch(spec, spec.k, 48, seed=11)
    expected = Unit(spec).dot_bits(a, b, c)
    for trace, raw in zip(traces(name), expected.tolist(), strict=True):
        assert trace.result == raw
        assert trace.block_results[-1] == raw


@pytest.mark.parametrize("name", DESIGNS)
def test_the_kept_parts_add_up(name: str) -> None:
    """Kept parts sum to the total, which wraps only where carry bits are bounded."""
    wrapped = 0
    for trace in traces(name):
        for step in trace.steps:
            if step.special or not step.terms:
                continue
            parts = sum((t.kept for t in step.terms), Fraction(0))
            wrapped += step.wrapped
            assert (parts == step.total) is not step.wrapped
            if step.wrapped:
                carry_bits = trace.unit.design.carry_bits
                assert carry_bits is not None
                modulus = power_of_two(step.e_max + 2 + carry_bits)
                assert (parts - step.total) % modulus == 0
            if not step.exact:
                assert bits_value(step.total_bits) * power_of_two(step.e_max) == abs(step.total)
    assert bool(wrapped) == ("carry_bits" in name)


@pytest.mark.parametrize(
    "name", [n for n in [*DESIGNS, *SCALED] if "alignment_rounding" not in n and "group=2" not in n]
)
def test_kept_and_discarded_bits_are_the_term(name: str) -> None:
    """Under truncation nothing of a term is lost from the picture."""
    for trace in traces(name):
        for step in trace.steps:
            for term in () if step.special else step.terms:
                kept = bits_value(term.kept_bits) * power_of_two(step.e_max)
                lost = discarded_value(step, term)
                if step.exact:
                    assert term.kept == term.value
                    continue
                assert abs(term.kept) == kept
                assert kept + lost == abs(term.value), (step.scope, term)
                assert term.negative or term.value >= 0
                assert not term.zero or term.value == 0


@pytest.mark.parametrize("name", DESIGNS)
def test_the_rounding_is_that_of_the_total(name: str) -> None:
    """The normalised bits stand for the total, and the rounded value for what the conversion keeps of it."""
    for trace in traces(name):
        for step in trace.steps:
            done = step.rounding
            if step.special or done is None:
                continue
            precision = conversion(done.conversion).precision
            assert done.precision == precision
            unit = power_of_two(done.exponent - precision + 1)
            kept = int(done.bits[:precision], 2)
            assert abs(done.value) == (kept + done.away) * unit
            if not step.terms:
                continue  # a sum whose operands are not aligned one by one
            assert kept * unit <= abs(step.total) < (kept + 1) * unit


@pytest.mark.parametrize("name", DESIGNS)
def test_the_last_rounding_is_the_result(name: str) -> None:
    for trace in traces(name):
        step, value = trace.steps[-1], decode(trace.unit.operands.d, trace.result)
        if step.special:
            assert {"NaN": NumberClass.NAN}.get(step.special, NumberClass.INF) is value.kind
            assert step.special == "NaN" or bool(value.sign) == step.special.startswith("-")
        elif step.rounding is not None and not step.rounding.overflow:
            assert value.kind is NumberClass.FINITE
            assert value.number == step.rounding.value
        elif step.rounding is not None:
            assert (value.kind is NumberClass.INF) == step.rounding.overflow.endswith("Inf")
            assert bool(value.sign) == step.rounding.overflow.startswith("-")


@pytest.mark.parametrize("name", [AMPERE, "tfdpa@products=2,k=6", "valpey@terms=5"])
def test_terms_are_named_after_their_operands(name: str) -> None:
    """Each product's value is that of the operands it is named after."""
    for trace in traces(name):
        o, w = trace.unit.operands, trace.witness
        for step in trace.steps:
            for i in range(trace.unit.k):
                rows = [t for t in step.terms if t.name == f"a[{i}]·b[{i}]" and not step.special]
                for row in rows:
                    assert row.value == decode(o.a, w.a[i]).number * decode(o.b, w.b[i]).number
        named = [name for step in trace.steps for name in step.operands]
        assert sorted(n for n in named if n.startswith("a[")) == sorted(
            f"a[{i}]·b[{i}]" for i in range(trace.unit.k)
        )


def test_special_operands_are_named() -> None:
    trace = explain(AMPERE, ["inf", "nan", "1", *"00000"], ["0", "1", "-inf", *"00000"], "-inf")
    assert trace.steps[0].special == "NaN"
    assert trace.steps[0].blamed == ("a[0]·b[0] is NaN", "a[1]·b[1] is NaN", "a[2]·b[2] is -Inf", "c is -Inf")


def test_products_that_the_design_makes_special_are_named() -> None:
    """A product at its limit is an Inf; Inf times a subnormal that is flushed is NaN."""
    rest, big = ["0"] * 15, "2^127"
    trace = explain("cdna3/v_mfma_f32_16x16x16_bf16", [big, *rest], ["-2", *rest], "0")
    assert trace.steps[0].blamed == ("a[0]·b[0] is -Inf",)
    assert format_value(trace.unit.operands.d, trace.result) == "-inf"
    flushed = explain("cdna2/v_mfma_f32_16x16x16f16", ["inf", *rest], ["2^-24", *rest], "0")
    assert flushed.steps[0].blamed == ("a[0]·b[0] is NaN",)


def test_overflow_is_told_apart_from_inf() -> None:
    """A finite sum that overflows is no sum of an Inf."""
    name = "hopper/mma.m16n8k8.f16.f16.f16.f16"
    for c, result in (("65504", "inf"), ("-65504", "-inf")):
        trace = explain(name, [c, *"0000000"], ["1", *"0000000"], c)
        step = trace.steps[0]
        assert step.special == ""
        assert step.rounding is not None
        assert step.rounding.overflow == ("-Inf" if result == "-inf" else "Inf")
        assert format_value(trace.unit.operands.d, trace.result) == result
    chained = explain("tfdpa@products=1,k=2,d_format=fp16,c_format=fp16", ["65504", "0"], ["2", "1"], "0")
    assert chained.steps[1].blamed == ("result of block 0 is Inf",)


def test_subnormal_results_show_their_leading_zeros() -> None:
    trace = explain("tfdpa@products=1", ["0"], ["0"], "3*2^-140")
    done = trace.steps[0].rounding
    assert done is not None
    assert done.exponent == -126
    assert done.bits.startswith("0" * 13 + "11")
    assert done.value == 3 * power_of_two(-140)


# ---------------------------------------------------------------------- where two units part
def zeros(n: int) -> list[str]:
    return ["0"] * n


SMALL = (["1", "2^-12", *zeros(6)], ["1", "2^-13", *zeros(6)])
TIE = (["1", "2^-12", *zeros(6)], ["1", "2^-12", *zeros(6)])


@pytest.mark.parametrize(
    ("second", "a", "b", "c", "stage"),
    [
        ("fraction_bits=25", *SMALL, "-1", "the alignment of a[1]·b[1] at block0"),
        ("alignment_rounding=RU", *SMALL, "-1", "the alignment of a[1]·b[1] at block0"),
        ("conversion=RU-FP32", *TIE, "0", "the rounding at block0"),
        ("conversion=RZ-E8M13", ["1", *zeros(7)], ["1", *zeros(7)], "2^-20", "the rounding at block0"),
        ("zero_exponent=0", ["2^-12", *zeros(7)], ["2^-13", *zeros(7)], "0", "e_max at block0"),
        ("zero_exponent=own", zeros(8), zeros(8), "2^-60", "e_max at block0"),
        ("carry_bits=0", ["1"] * 8, ["1"] * 8, "1", "the carry bits of the sum at block0"),
        (
            "normalise_products=true",
            ["1.5", "2^-13", *zeros(6)],
            ["1.5", "1.5*2^-11", *zeros(6)],
            "0",
            "the exponent of a[0]·b[0] at block0",
        ),
        ("nan_word=0x7fc00000", ["nan", *zeros(7)], ["1", *zeros(7)], "0", "the encoding of the result"),
        ("zero_sign=ieee", ["-0"] * 8, ["1"] * 8, "-0", "the encoding of the result"),
        ("products=4", ["1", *zeros(6), "2^-12"], ["1", *zeros(6), "2^-12"], "2^-24", "the order of"),
        (
            "summation=sequential,accumulator=RNE-FP32,fraction_bits=exact",
            ["1", "2^-12", "2^-12", *zeros(5)],
            ["1", "2^-12", "2^-12", *zeros(5)],
            "0",
            "the order of summation at block0",
        ),
    ],
)
def test_units_part_where_their_parameters_differ(
    second: str, a: list[str], b: list[str], c: str, stage: str
) -> None:
    first = explain(AMPERE, a, b, c)
    other = explain(f"{AMPERE}@{second}", a, b, c)
    for x, y in ((first, other), (other, first)):
        found = divergence(x, y)
        assert found is not None
        assert found.stage.startswith(stage)
        assert found.first != found.second
    assert divergence(first, first) is None


def test_units_part_at_overflow() -> None:
    name = "tfdpa@products=1,d_format=fp16,c_format=fp16,conversion=RZ-FP16"
    found = divergence(*(explain(n, ["65504"], ["2"], "0") for n in (name, f"{name},overflow=ieee")))
    assert found is not None
    assert found.stage == "overflow at block0"
    assert (found.first, found.second) == ("Inf (RZ-FP16)", "the largest finite number (RZ-FP16)")


def test_the_two_sides_of_a_divergence_are_told() -> None:
    found = divergence(explain(AMPERE, *SMALL, "-1"), explain(f"{AMPERE}@fraction_bits=25", *SMALL, "-1"))
    assert found is not None
    assert (found.first, found.second) == ("0", "2^-25")


def test_units_that_do_the_same_do_not_part() -> None:
    """Other blocks or other zero exponents that change nothing are no parting."""
    ones = (["1", "2", *zeros(6)], ["1", "3", *zeros(6)], "4")
    for second in (
        "products=4",
        "zero_exponent=own",
        "fraction_bits=25",
        "carry_bits=4",
        "conversion=RNE-FP32",
    ):
        assert divergence(explain(AMPERE, *ones), explain(f"{AMPERE}@{second}", *ones)) is None


def test_nan_results_of_other_blocks_do_not_part() -> None:
    k16 = [x.replace("m16n8k8", "m16n8k16") for x in (AMPERE, AMPERE.replace("ampere", "hopper"))]
    a, b = ["1", "nan", *zeros(14)], ["1", "1", *zeros(14)]
    assert divergence(*(explain(name, a, b, "1") for name in k16)) is None


def test_equal_results_may_part_on_the_way() -> None:
    """A bit that only one unit keeps and both round away is named, and the results are called equal."""
    a, b = ["1", "2^-12", *zeros(6)], ["1", "2^-13", *zeros(6)]
    first, second = explain(AMPERE, a, b, "0"), explain(f"{AMPERE}@fraction_bits=25", a, b, "0")
    assert first.result == second.result
    found = divergence(first, second)
    assert found is not None
    assert divergence_text(first, second, found).plain.startswith(
        "The results are equal, but the units diverge at the alignment of a[1]·b[1] at block0:\n"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (AMPERE, f"{AMPERE}@fraction_bits=25"),
        (AMPERE, f"{AMPERE}@conversion=RNE-FP32"),
        (AMPERE, f"{AMPERE}@zero_exponent=0"),
        (AMPERE, f"{AMPERE}@products=2"),
        ("valpey@terms=5", "valpey@terms=5,carry_bits=0"),
        (AMPERE.replace("m16n8k8", "m16n8k16"), "hopper/mma.m16n8k16.f32.f16.f16.f32"),
        ("sequential@products=4", "sequential@products=4,c_position=last"),
        ("sequential@products=4", "sequential@products=4,product_rounding=RNE-FP16"),
        (MX, f"{MX}@fraction_bits=24"),
        (MX5, f"{MX5}@conversion=RNE-FP32"),
        (NV, f"{NV}@fraction_bits=20"),
        (NV, f"{NV}@group=none"),
        (MX4, MXF4),
    ],
)
def test_results_that_differ_always_part(first: str, second: str) -> None:
    """None is said only where the results agree; what is said differs between the two."""
    specs = resolve(first), resolve(second)
    x = families(specs[0], max(spec.k for spec in specs), 600, 18)
    found = [witness_at(x, i) for i in range(600)]
    one, other = (Unit(spec).dot_bits(x.a, x.b, x.c, x.scale_a, x.scale_b) for spec in specs)
    chosen = [w for w, differs in zip(found, one != other, strict=True) if differs][:10]
    assert chosen
    for w in chosen + found[::60]:
        traced = [explain_witness(spec, w) for spec in specs]
        part = divergence(*traced)
        assert part is not None or traced[0].result == traced[1].result
        if part is not None:
            assert part.first != part.second, part


# ---------------------------------------------------------------------- chains and arguments
def test_more_than_k_products_are_a_chain_of_calls() -> None:
    """A call of k = 8 on hopper is a block of its own, although its design takes 16 products."""
    spec = resolve("hopper/mma.m16n8k8.f32.f16.f16.f32")
    a, b, c = batch(spec, 16, 60, seed=19)
    u = Unit(spec)
    expected = u.dot_bits(a[:, 8:], b[:, 8:], u.dot_bits(a[:, :8], b[:, :8], c))
    for i, raw in enumerate(expected.tolist()):
        trace = explain_witness(spec, Witness(tuple(map(int, a[i])), tuple(map(int, b[i])), int(c[i])))
        assert trace.result == raw
        assert [step.scope for step in trace.steps] == ["block0", "block1"]
        assert trace.steps[1].operands == (*(f"a[{k}]·b[{k}]" for k in range(8, 16)), "result of block 0")


def test_numbers_are_taken_as_they_are() -> None:
    trace = explain(Unit(resolve("tfdpa@products=2")), [1.5, 2], ["0x3c00", "2^-24"], -1)
    assert trace.witness == Witness((0x3E00, 0x4000), (0x3C00, 1), 0xBF800000)


@pytest.mark.parametrize(
    ("a", "b", "c", "sentence"),
    [
        ([1], [1, 2], 0, "expected 2 values for a of tfdpa@products=2, but got 1"),
        ([1, 2], [1, 2, 3], 0, "expected 2 values for b of tfdpa@products=2, but got 3"),
        (
            [1, 2],
            [1, 1e9],
            0,
            "expected a value that fp16 holds exactly, but got 1000000000.0: the largest is 65504",
        ),
        (
            [1, "0x10000"],
            [1, 2],
            0,
            "expected a raw encoding of fp16 below 0x10000, but got '0x10000'",
        ),
    ],
)
def test_operands_are_refused(a: list[Any], b: list[Any], c: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        explain("tfdpa@products=2", a, b, c)
    assert str(caught.value) == sentence


def test_what_is_no_unit_is_refused() -> None:
    with pytest.raises(InputError, match="expected a unit or its name, but got 3"):
        explain(3, [1], [1], 1)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- what people see
def shown(trace: Trace, capsys: pytest.CaptureFixture[str], width: int = WIDTH) -> list[str]:
    Console(width=width, highlight=False).print(picture(trace, width))
    return capsys.readouterr().out.splitlines()


def kind_of_arithmetic(spec: UnitSpec) -> tuple[Any, ...]:
    """What decides the shape of a picture, numbers apart."""
    d = spec.design
    shape = d.summation, d.c_position, d.order, d.group, d.product_rounding, d.operand_subnormals
    return *shape, d.fraction_bits is None, spec.operands.d, spec.emulation is None


def arithmetic(spec: UnitSpec) -> tuple[Any, ...]:
    """Everything that decides a result."""
    return spec.design, spec.operands.a, spec.operands.b, spec.operands.c, min(spec.k, 16), spec.emulation


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [kind_of_arithmetic, pytest.param(arithmetic, marks=pytest.mark.long)], ids=["kinds", "all"]
)
def test_catalogued_units_can_be_explained(
    kind: Callable[[UnitSpec], tuple[Any, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    """One unit of each kind: the picture fits, and its result is the unit's."""
    plain = [spec for spec in catalogue().values() if spec.scale_format is None]
    distinct = {kind(spec): spec for spec in sorted(plain, key=lambda spec: -spec.k)}
    assert len(distinct) > 10
    for spec in distinct.values():
        a, b, c = batch(spec, spec.k, 6, seed=22)
        expected = Unit(spec).dot_bits(a, b, c).tolist()
        for w, raw in zip(witnesses(spec, 6, seed=22), expected, strict=True):
            trace = explain_witness(spec, w)
            assert trace.result == raw
            assert max(map(len, shown(trace, capsys))) <= WIDTH, spec.name


def test_an_explanation_as_data_holds_the_same_facts() -> None:
    pair = [explain(AMPERE, *SMALL, "-1"), explain(f"{AMPERE}@fraction_bits=25", *SMALL, "-1")]
    data = explanation_data(pair)
    assert data["part_at"] == {"stage": "the alignment of a[1]·b[1] at block0", "values": ["0", "2^-25"]}
    for trace, unit in zip(pair, data["units"], strict=True):
        assert unit["unit"] == trace.unit.name
        assert int(unit["hex"], 16) == trace.result
        (step,) = unit["steps"]
        assert step["fraction_bits"] == trace.unit.design.fraction_bits
        assert step["e_max"] == 0
        assert [t["name"] for t in step["terms"]] == list(trace.steps[0].operands)
        assert step["rounding"]["conversion"] == "RZ-FP32"
    assert explanation_data(pair[:1]).get("part_at", "absent") == "absent"


def test_a_sum_that_is_cut_before_it_is_rounded_shows_both() -> None:
    """2^-32 above -2: the cut raises the exponent, and the rounding starts from there."""
    a, b = ["-2^-8", "2^-16", *["0"] * 6], ["1", "2^-16", *["0"] * 6]
    products, last = explain("cdna3/v_mfma_f32_32x32x8_f16", a, b, "-1.99609375").steps
    floor, rounding = last.floor, last.rounding
    assert products.floor is None
    assert floor is not None
    assert rounding is not None
    assert (floor.conversion, floor.exponent, floor.value) == ("RD, 31 bits", 0, Fraction(-2))
    assert (rounding.conversion, rounding.exponent, rounding.value) == ("RNE-FP32", 1, Fraction(-2))
    assert last.total == -2 + Fraction(1, 2**32)


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_a_float_is_its_value_where_its_text_is_another(kind: type) -> None:
    """The shortest text of 2^-24 is another number; 0.1 is none of the format's."""
    assert Fraction(str(kind(2**-24))) != Fraction(2) ** -24
    trace = explain("valpey@terms=2", [1], [kind(2**-14)], kind(2**-24))
    assert trace.witness.c == 0x33800000
    with pytest.raises(ValueTextError, match=r"but got 0\.1"):
        explain("valpey@terms=2", [kind(0.1)], [1], 0)


def test_a_huge_integer_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match=r"expected a value of fp32, but got one of 20001 bits"):
        explain_program("fma-chain", [-(2**20_000)], [1])
