"""Shrinking: what comes back still separates, is simpler, and is found from any kind of witness."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.values import parse_value
from tcformal.query.assume import Assumptions
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.replay import replay
from tcformal.query.shrink.shrink import shrink, value_cost, witness_cost
from tcformal.simulation.operands.witness import Witness
from vectors import batch

AMPERE, HOPPER = "ampere/mma.m16n8k8.f32.f16.f16.f32", "hopper/mma.m16n8k8.f32.f16.f16.f32"
TF32 = AMPERE.replace("f16", "tf32"), HOPPER.replace("f16", "tf32")
BF16 = AMPERE.replace("f16", "bf16"), HOPPER.replace("f16", "bf16")
#: Long enough that no test depends on how busy the machine is.
SECONDS = 120.0


def ask(first: str, second: str, assumed: Assumptions = Assumptions()) -> EqualityQuestion:  # noqa: B008
    return question(resolve(first), resolve(second), assumed)


def separating(q: EqualityQuestion, n: int, seed: int) -> list[Witness]:
    """Seeded operands on which the two units differ, in no way simple."""
    a, b, c = batch(q.first, q.k, n, seed)
    rows = [Witness(tuple(map(int, x)), tuple(map(int, y)), int(z)) for x, y, z in zip(a, b, c, strict=True)]
    run = q.evaluator()
    return [w for w in rows if run(w.inputs())[1]]


def checked(q: EqualityQuestion, w: Witness) -> Witness:
    """The shrunk witness, after it was seen to replay, to cost no more, and to be as far as it goes."""
    assert replay(q, w).separates
    small = shrink(q, w, seconds=SECONDS)
    assert replay(q, small).separates
    assert witness_cost(q, small) <= witness_cost(q, w)
    again = shrink(q, small, seconds=SECONDS)
    assert replay(q, again).separates
    assert witness_cost(q, again) <= witness_cost(q, small)
    return small


def live(w: Witness) -> int:
    return sum(1 for x, y in zip(w.a, w.b, strict=True) if x or y)


# ---------------------------------------------------------------------- from seeded witnesses
@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(AMPERE, HOPPER, id="fp16"),
        pytest.param(*TF32, id="tf32"),
        pytest.param(*BF16, id="bf16"),
        pytest.param(AMPERE, f"{AMPERE}@conversion=RNE-FP32", id="conversion"),
        pytest.param(AMPERE, f"{AMPERE}@zero_exponent=0", id="zero-exponent"),
        pytest.param("valpey@terms=3,align_bits=1", "valpey@terms=3,align_bits=0", id="align-bits"),
        pytest.param(AMPERE, "ampere/mma.m16n8k16.f32.f16.f16.f32@fraction_bits=25", id="chained"),
    ],
)
def test_a_shrunk_witness_separates_and_is_small(first: str, second: str) -> None:
    q = ask(first, second)
    found = separating(q, 900, seed=31)
    assert found
    for w in (found[0], found[-1]):
        assert live(checked(q, w)) <= 2


# ---------------------------------------------------------------------- NaN and Inf
NAN, INF = 0x7E01, 0x7C00


def test_a_nan_that_is_needed_stays_and_everything_else_goes() -> None:
    """Units that differ in nothing but their NaN word differ on NaN results only."""
    q = ask(AMPERE, f"{AMPERE}@nan_word=0x7fc00000")
    w = Witness((0x4123, NAN, 0x5001, *[INF] * 5), (0x3C01, 0x3C00, 0x1234, *[0x3C00] * 5), 0x3F800001)
    small = checked(q, w)
    assert live(small) <= 1
    assert set(replay(q, small).integers) == {0x7FFFFFFF, 0x7FC00000}


# ---------------------------------------------------------------------- formats
def test_assumptions_hold_all_the_way() -> None:
    """The easiest witness has zeros; one without them is kept where they are ruled out."""
    assumed = Assumptions(flags=("normal", "positive"), exponents=(-14, 15))
    q = ask(AMPERE, HOPPER, assumed)
    w = Witness((0x6955, *[0x0401] * 7), (0x3C00, *[0x3C01] * 7), parse_value(FORMATS["fp32"], "2^-14"))
    small = checked(q, w)
    assert all(0 < (x & 0x7FFF) < INF and x < 0x8000 for x in (*small.a, *small.b))


# ---------------------------------------------------------------------- candidates and costs
@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "fp32", "e4m3", "e5m2", "e2m1"])
def test_value_costs_are_ordered_as_people_read(name: str) -> None:
    fmt = FORMATS[name]
    texts = ["0", "1", "-1", "1.5"]
    if fmt.exponent_bits > 2:
        texts[2:2] = ["2", "4"]
    if fmt.fraction_bits >= 3:
        texts += ["1.125", "1.375"]
    costs = [value_cost(fmt, parse_value(fmt, text)) for text in texts]
    assert all(x <= y for x, y in pairwise(costs)), list(zip(texts, costs, strict=True))
    assert costs[0] == 0 < costs[1] < costs[-1]
    if name not in ("e2m1",):
        assert value_cost(fmt, parse_value(fmt, "nan")) > costs[-1]
