"""Explanation: the numbers of a picture add up, and two units part where their parameters differ."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from rich.console import Console

from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import decode, format_value
from tcformal.query.explain.divergence import divergence
from tcformal.query.explain.explain import explain, explain_witness
from tcformal.query.explain.steps import SumStep, TermRow, Trace
from tcformal.report.data import explanation_data
from tcformal.report.picture import picture
from tcformal.report.text import WIDTH
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.unit import Unit
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
]


@cache
def traces(name: str) -> list[Trace]:
    """Seeded dot products of one design, explained."""
    spec = resolve(name)
    return [explain_witness(spec, w) for w in witnesses(spec, 48, seed=11)]


def witnesses(spec: UnitSpec, n: int, seed: int) -> list[Witness]:
    a, b, c = batch(spec, spec.k, n, seed)
    return [Witness(tuple(map(int, x)), tuple(map(int, y)), int(z)) for x, y, z in zip(a, b, c, strict=True)]


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


@pytest.mark.parametrize("name", [n for n in DESIGNS if "alignment_rounding" not in n and "group" not in n])
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


# ---------------------------------------------------------------------- where two units part
def zeros(n: int) -> list[str]:
    return ["0"] * n


SMALL = (["1", "2^-12", *zeros(6)], ["1", "2^-13", *zeros(6)])


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
    ],
)
def test_results_that_differ_always_part(first: str, second: str) -> None:
    """None is said only where the results agree; what is said differs between the two."""
    specs = resolve(first), resolve(second)
    a, b, c = batch(specs[0], specs[0].k, 600, seed=18)
    x, y = (Unit(spec).dot_bits(a, b, c) for spec in specs)
    found = witnesses(specs[0], 600, seed=18)
    chosen = [w for w, differs in zip(found, x != y, strict=True) if differs][:10]
    assert chosen
    for w in chosen + found[::60]:
        one, other = (explain_witness(spec, w) for spec in specs)
        part = divergence(one, other)
        assert part is not None or one.result == other.result
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


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        ([1], [1, 2], 0), ([1, 2], [1, 2, 3], 0), ([1, 2], [1, 1e9], 0), ([1, "0x10000"], [1, 2], 0),
    ],
)  # fmt: skip
def test_operands_are_refused(a: list[Any], b: list[Any], c: Any) -> None:
    with pytest.raises(InputError, match="expected "):
        explain("tfdpa@products=2", a, b, c)


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
