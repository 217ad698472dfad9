"""Explanation of block-scaled units: the numbers of a picture against the oracle, names, blame, partings."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from sampled import one_in
from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, ValueTextError
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.products import block_terms, exact_specials
from tcformal.oracle.sums import aligned_sum, largest_exponent
from tcformal.oracle.values import ExactValue, NumberClass, decode
from tcformal.query.explain.explain import explain, explain_witness
from tcformal.query.explain.trace import Trace, divergence
from tcformal.report.picture import explanation_data
from tcformal.semantics.chain import scale_count
from tcformal.simulation.operands.batch import batch, witness_at
from tcformal.simulation.operands.given import witness_of
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result

MX = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
MX5 = MX.replace("e4m3", "e5m2")
MX4 = MX.replace("e4m3", "e2m1")
MXF4 = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
NV = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"


def designs() -> dict[str, str]:
    """One name of each scaled design of the catalogue, and designs with scales that no unit has."""
    found: dict[tuple[Any, ...], str] = {}
    for name, spec in catalogue().items():
        if spec.scale_format is not None:
            found.setdefault((spec.design, spec.operands, spec.scale_format, spec.scale_block, spec.k), name)
    rare = (
        f"{NV}@group=none",
        f"{MX5}@group=8",
        f"{MX5}@group=4,zero_exponent=none",
        f"{NV}@fraction_bits=9",
    )
    return {name: name for name in (*found.values(), *rare)}


DESIGNS = list(designs())
#: A few of every kind, where all of them would only cost time.
SOME = [MX, MX4, MX5, MXF4, NV, *DESIGNS[-4:]]


def rows(spec: UnitSpec, k: int, n: int, seed: int) -> list[Witness]:
    return [witness_at(x, i) for x in (batch(spec, k, n, seed),) for i in range(n)]


@cache
def traces(name: str) -> list[Trace]:
    """Seeded dot products of one design, explained; some without a NaN scale."""
    spec = resolve(name)
    return [explain_witness(spec, w) for w in rows(spec, spec.k, 16 if name in SOME else 8, seed=41)]


def terms_of(spec: UnitSpec, w: Witness, block: int) -> list[ExactValue]:
    """The oracle's terms of one block, c apart."""
    length = min(spec.k, spec.design.products)
    fmt, o = spec.scale_format, spec.operands
    assert fmt is not None
    assert spec.scale_block is not None
    ks = range(block * length, (block + 1) * length)
    scales = [[decode(fmt, row[k // spec.scale_block]) for row in (w.scale_a, w.scale_b)] for k in ks]
    return block_terms(
        spec.design, [decode(o.a, w.a[k]) for k in ks], [decode(o.b, w.b[k]) for k in ks], scales
    )


# ---------------------------------------------------------------------- the numbers of a picture
@pytest.mark.parametrize("name", one_in(3, DESIGNS))
def test_totals_and_results_are_the_oracles(name: str) -> None:
    """Every term, e_max, the total and the result, on seeded operands and scales."""
    finite = 0
    for trace in traces(name):
        spec, w = trace.unit, trace.witness
        assert trace.result == oracle_result(spec, w)
        (step,) = trace.steps
        terms = [*terms_of(spec, w, 0), decode(spec.c_format, w.c)]
        special = exact_specials(terms)
        assert bool(step.special) == (special is not None)
        if special is not None:
            assert (step.special == "NaN") == (special.kind is NumberClass.NAN)
            assert step.special == "NaN" or step.special.startswith("-") == bool(special.sign)
            assert step.blamed
            continue
        finite += 1
        assert [t.value for t in step.terms] == [t.number for t in terms]
        assert [t.exponent for t in step.terms if not t.zero] == [
            t.exponent for t, row in zip(terms, step.terms, strict=True) if not row.zero
        ]
        assert step.total == aligned_sum(spec.design, terms, spec.design.rho.mode, len(terms) - 1)[0]
        if not all(t.zero for t in step.terms) or spec.design.zero_exponent != "none":
            assert step.e_max == largest_exponent(spec.design, terms)
        d = decode(spec.d_format, trace.result)
        assert step.rounding is not None
        assert (d.kind is NumberClass.INF) == bool(step.rounding.overflow)
        assert d.kind is NumberClass.INF or d.number == step.rounding.value
    assert finite >= 3


@pytest.mark.parametrize("name", SOME)
def test_terms_are_worth_what_their_names_say(name: str) -> None:
    """The name of a term gives its operands and its factor; together they are its value."""
    seen = 0
    for trace in traces(name):
        for step in (s for s in trace.steps if not s.special):
            assert tuple(t.name for t in step.terms) == step.operands
            for term in step.terms[:-1]:
                assert named_value(trace, term.name) == term.value, term
                seen += "2^" in term.name
    assert seen


def named_value(trace: Trace, name: str) -> Fraction:
    found = re.fullmatch(r"(?:a\[(\d+)\]·b\[(\d+)\]|Σ a·b\[(\d+)…(\d+)\])(?:·(.*))?", name)
    assert found, name
    first, last = (found[1], found[2]) if found[1] else (found[3], found[4])
    assert found[3] is not None or first == last
    o, w = trace.unit.operands, trace.witness
    ks = range(int(first), int(last) + 1)
    total = sum((decode(o.a, w.a[k]).number * decode(o.b, w.b[k]).number for k in ks), Fraction(0))
    for part in (found[5] or "").split("·") if found[5] else []:
        base, _, power = part.partition("2^")
        total *= power_of_two(int(power)) if power else Fraction(base)
    return total


def test_more_than_k_products_take_their_own_scales() -> None:
    """Two calls: the second one's products are scaled by the second scales."""
    spec = resolve(MX)
    for w in rows(spec, 64, 24, seed=43):
        trace = explain_witness(spec, w)
        assert trace.result == oracle_result(spec, w)
        assert [step.scope for step in trace.steps] == ["block0", "block1"]
        for block, step in enumerate(trace.steps):
            if not step.special:
                assert [t.value for t in step.terms[:-1]] == [t.number for t in terms_of(spec, w, block)]


# ---------------------------------------------------------------------- NaN and Inf
def given(
    name: str,
    a: list[str],
    b: list[str],
    c: str = "0",
    scale_a: list[str] | None = None,
    scale_b: list[str] | None = None,
) -> Trace:
    """Operands filled up with zeros, explained."""
    k = resolve(name).k
    a, b = ([*x, *["0"] * (k - len(x))] for x in (a, b))
    return explain(name, a, b, c, scale_a, scale_b)


def test_a_nan_scale_is_blamed_once() -> None:
    for name in (MX, MXF4, NV):
        count = len(traces(name)[0].witness.scale_a)
        nan, ones = ["nan", *["1"] * (count - 1)], ["1"] * count
        for letter, scales in (("a", (nan, ones)), ("b", (ones, nan))):
            trace = given(name, ["1", "2"], ["1", "1"], "0", *scales)
            assert trace.steps[0].special == "NaN"
            assert trace.steps[0].blamed == (f"scale_{letter}[0] is NaN",)


def test_a_nan_scale_of_the_second_call_spares_the_first() -> None:
    spec = resolve(MX)
    one, nan = 0x7F, 0xFF
    trace = explain_witness(spec, Witness((0x38,) * 64, (0x38,) * 64, 0, (one, one), (one, nan)))
    assert [step.special for step in trace.steps] == ["", "NaN"]
    assert trace.steps[1].blamed == ("scale_b[1] is NaN",)
    early = explain_witness(spec, Witness((0x38,) * 64, (0x38,) * 64, 0, (nan, one), (one, one)))
    assert early.steps[1].blamed == ("result of block 0 is NaN",)


def test_products_are_blamed_by_their_own_names() -> None:
    """A scale that is a number is not to blame for an operand that is none."""
    trace = given(MX5, ["inf", "nan"], ["1", "1"], "-inf", scale_a=["2^3"])
    assert trace.steps[0].blamed == ("a[0]·b[0] is Inf", "a[1]·b[1] is NaN", "c is -Inf")


def test_infinities_in_groups_are_blamed_by_product() -> None:
    name = f"{MX5}@group=8"
    trace = given(name, ["inf", "-inf", "1"], ["1", "1", "1"], scale_a=["2^3"])
    assert trace.steps[0].special == "NaN"
    assert trace.steps[0].blamed == ("a[0]·b[0] is Inf", "a[1]·b[1] is -Inf")
    single = given(name, ["inf", "0", "1"], ["-1", "1", "1"], scale_a=["2^3"])
    assert (single.steps[0].special, single.steps[0].blamed) == ("-Inf", ("a[0]·b[0] is -Inf",))


def test_a_scale_of_zero_beside_an_inf_is_blamed() -> None:
    """No catalogued unit has both: Inf·0 with the zero in a scale."""
    nv = resolve(NV)
    for group in (None, 8):
        spec = replace(
            resolve(MX5), name="made/up", scale_format=nv.scale_format,
            design=replace(resolve(MX5).design, group=group),
        )  # fmt: skip
        inf, one = 0x7C, 0x38
        w = Witness((inf, *[0] * 31), (0x3C, *[0] * 31), 0, (0,), (one,))
        trace = explain_witness(spec, w)
        assert trace.result == oracle_result(spec, w)
        assert trace.steps[0].special == "NaN"
        assert trace.steps[0].blamed == ("a[0]·b[0] is Inf", "scale_a[0] is 0")


# ---------------------------------------------------------------------- arguments
def test_scales_are_ones_unless_given() -> None:
    ones = given(MX, ["1.5"], ["1"], "1")
    assert ones.witness.scale_a == ones.witness.scale_b == (0x7F,)
    assert ones.witness == given(MX, ["1.5"], ["1"], "1", scale_a=["1"], scale_b=["0x7f"]).witness


@pytest.mark.parametrize(
    ("name", "scales", "sentence"),
    [
        (NV, ["1"], "expected 4 values for scale_a of {name}, but got 1"),
        ("tfdpa@products=4", ["1"], "expected 0 values for scale_a of {name}, but got 1"),
        (MX, ["3"], "expected a value that e8m0 holds exactly, but got 3: its neighbours are 2 and 4"),
        (
            MX,
            ["0"],
            "expected a value that e8m0 holds exactly, but got 0: the smallest is 2^-127",
        ),
    ],
)
def test_scales_are_refused(name: str, scales: list[str], sentence: str) -> None:
    with pytest.raises((InputError, ValueTextError)) as caught:
        given(name, ["1"], ["1"], scale_a=scales)
    assert str(caught.value) == sentence.format(name=name)


# ---------------------------------------------------------------------- where two units part
@pytest.mark.parametrize(
    ("first", "second", "c", "scales", "stage"),
    [
        (MX, f"{MX}@fraction_bits=24", "2^10", "2^-15", "the alignment of a[0]·b[0]·2^-15 at block0"),
        (MX, f"{MX}@zero_exponent=own", "2^-30", "2^20", "e_max at block0"),
        (NV, f"{NV}@fraction_bits=34", "2^28", "2^-7", "the alignment of Σ a·b[0…15]·2^-7 at block0"),
        (NV, f"{NV}@group=none", "1", "2^3", ""),
        (MX4, MXF4, "-2^-25", "2", "the alignment of c at block0"),
        (MX4, MXF4, "1", "2^3", ""),
        (MX, f"{MX}@nan_word=0x7fc00000", "1", "nan", "the encoding of the result"),
    ],
)
def test_scaled_units_part(first: str, second: str, c: str, scales: str, stage: str) -> None:
    """One product of ones in the first block, whose scale of a is given; zeros under zero_exponent."""
    specs = resolve(first), resolve(second)
    k = max(spec.k for spec in specs)
    rest = ["1"] * (scale_count(specs[0], k) - 1)
    x = ["0" if "zero" in second else "1", *["0"] * (k - 1)]
    one, other = (explain_witness(s, witness_of(s, x, x, c, k=k, scale_a=[scales, *rest])) for s in specs)
    part = divergence(one, other)
    if not stage:
        assert part is None
        assert one.result == other.result
        return
    assert part is not None
    assert part.stage == stage
    assert part.first != part.second
    assert divergence(one, one) is None


# ---------------------------------------------------------------------- what people see
def test_scaled_explanations_as_data() -> None:
    trace = given(MX, ["1.5"], ["1"], scale_a=["nan"])
    (unit,) = explanation_data([trace])["units"]
    assert unit["steps"][0]["blamed"] == ["scale_a[0] is NaN"]
    named = given(NV, ["1.5"], ["1"], scale_a=["2", "1", "1", "1"])
    (unit,) = explanation_data([named])["units"]
    assert [t["name"] for t in unit["steps"][0]["terms"]] == [
        "Σ a·b[0…15]·2^1", "Σ a·b[16…31]", "Σ a·b[32…47]", "Σ a·b[48…63]", "c",
    ]  # fmt: skip
