"""Explanation of block-scaled units: the numbers of a picture against the oracle, names, blame, partings."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, ValueTextError
from tcformal.oracle.products import block_terms, exact_specials
from tcformal.oracle.sums import aligned_sum, largest_exponent
from tcformal.oracle.values import ExactValue, NumberClass, decode
from tcformal.query.explain.divergence import divergence
from tcformal.query.explain.explain import explain, explain_witness
from tcformal.query.explain.steps import Trace
from tcformal.query.replay import oracle_result
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.operands.random import batch
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.unit import Unit

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
@pytest.mark.parametrize("name", DESIGNS)
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
        assert step.total == aligned_sum(spec.design, terms, spec.design.rho.mode)[0]
        if not all(t.zero for t in step.terms) or spec.design.zero_exponent != "none":
            assert step.e_max == largest_exponent(spec.design, terms)
        d = decode(spec.d_format, trace.result)
        assert step.rounding is not None
        assert (d.kind is NumberClass.INF) == bool(step.rounding.overflow)
        assert d.kind is NumberClass.INF or d.number == step.rounding.value
    assert finite >= 3


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


# ---------------------------------------------------------------------- arguments
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
    ("first", "second"),
    [
        (MX, f"{MX}@fraction_bits=24"),
        (MX5, f"{MX5}@conversion=RNE-FP32"),
        (NV, f"{NV}@fraction_bits=20"),
        (NV, f"{NV}@group=none"),
        (MX4, MXF4),
    ],
)
def test_scaled_results_that_differ_always_part(first: str, second: str) -> None:
    one, other = resolve(first), resolve(second)
    k = max(one.k, other.k)
    x = batch(one, k, 900, seed=45)
    operands = x.a, x.b, x.c, x.scale_a, x.scale_b
    differ = Unit(one).dot_bits(*operands) != Unit(other).dot_bits(*operands)
    chosen = [witness_at(x, i) for i in range(900) if differ[i]][:12]
    assert chosen
    for w in chosen:
        part = divergence(explain_witness(one, w), explain_witness(other, w))
        assert part is not None
        assert part.first != part.second
