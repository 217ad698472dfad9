"""Shrinking: what comes back still separates, is simpler, and is found from any kind of witness."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from sampled import one_in
from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.values import decode, encode_exact, parse_value
from tcformal.query.assume import Assumptions
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.shrink import candidates, shrink, templates, value_cost, witness_cost
from tcformal.simulation.operands.witness import Witness
from vectors import batch

AMPERE, HOPPER = "ampere/mma.m16n8k8.f32.f16.f16.f32", "hopper/mma.m16n8k8.f32.f16.f16.f32"
TF32 = AMPERE.replace("f16", "tf32"), HOPPER.replace("f16", "tf32")
BF16 = AMPERE.replace("f16", "bf16"), HOPPER.replace("f16", "bf16")
FP16 = AMPERE.replace("f32", "f16"), HOPPER.replace("f32", "f16")
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
    assert q.replay(w.inputs()).confirms
    small = shrink(q, w, seconds=SECONDS)
    assert q.replay(small.inputs()).confirms
    assert witness_cost(q, small) <= witness_cost(q, w)
    again = shrink(q, small, seconds=SECONDS)
    assert q.replay(again.inputs()).confirms
    assert witness_cost(q, again) <= witness_cost(q, small)
    return small


def live(w: Witness) -> int:
    return sum(1 for x, y in zip(w.a, w.b, strict=True) if x or y)


# ---------------------------------------------------------------------- from seeded witnesses
@pytest.mark.parametrize(
    ("first", "second"),
    one_in(
        2,
        [
            pytest.param(AMPERE, HOPPER, id="fp16"),
            pytest.param(*TF32, id="tf32"),
            pytest.param(*BF16, id="bf16"),
            pytest.param(AMPERE, f"{AMPERE}@conversion=RNE-FP32", id="conversion"),
            pytest.param(AMPERE, f"{AMPERE}@zero_exponent=0", id="zero-exponent"),
            pytest.param("valpey@terms=3,align_bits=1", "valpey@terms=3,align_bits=0", id="align-bits"),
            pytest.param(AMPERE, "ampere/mma.m16n8k16.f32.f16.f16.f32@fraction_bits=25", id="chained"),
        ],
    ),
)
def test_a_shrunk_witness_separates_and_is_small(first: str, second: str) -> None:
    q = ask(first, second)
    found = separating(q, 900, seed=31)
    assert found
    for w in (found[0], found[-1]):
        assert live(checked(q, w)) <= 2


def test_a_tie_of_fp16_is_broken_by_the_textbook_case() -> None:
    """A solver's witness, from which no small step leads: half a unit and one bit below it decide."""
    q = ask(*FP16)
    w = Witness(
        (0x4741, 0x2D65, 0x0695, 0xBD5D, 0x07E4, 0xC008, 0x7389, 0x3FC0),
        (0x3E45, 0x51ED, 0x5BCA, 0x4200, 0x0490, 0x4000, 0x0132, 0x3FC2),
        0xC7ED,
    )
    assert live(checked(q, w)) <= 2


def test_a_lone_product_below_the_exponent_of_zero() -> None:
    """A tie of fp16's smallest subnormals, with one bit below it that an exponent of zero terms cuts off."""
    name = "volta/mma.m8n8k4.f16.f16.f16.f16"
    q = ask(name, f"{name}@zero_exponent=none")
    w = Witness((0x0326, 0x01E3, 0x0400, 0x8359), (0x0915, 0x1A89, 0x06EC, 0x0D3F), 0)
    assert live(checked(q, w)) <= 2


def test_carry_bits_keep_the_products_that_they_need() -> None:
    """16 products and c have to reach 64 units: none of them can go."""
    wide = "hopper/mma.m16n8k16.f32.f16.f16.f32"
    q = ask(wide, f"{wide}@carry_bits=5")
    full = parse_value(FORMATS["fp16"], "2047*2^-10")
    small = checked(q, Witness((full,) * 16, (full,) * 16, parse_value(FORMATS["fp32"], "1.5")))
    assert live(small) == 16


# ---------------------------------------------------------------------- NaN and Inf
NAN, INF = 0x7E01, 0x7C00


def test_a_nan_that_is_needed_stays_and_everything_else_goes() -> None:
    """Units that differ in nothing but their NaN word differ on NaN results only."""
    q = ask(AMPERE, f"{AMPERE}@nan_word=0x7fc00000")
    w = Witness((0x4123, NAN, 0x5001, *[INF] * 5), (0x3C01, 0x3C00, 0x1234, *[0x3C00] * 5), 0x3F800001)
    small = checked(q, w)
    assert live(small) <= 1
    assert set(q.replay(small.inputs()).integers) == {0x7FFFFFFF, 0x7FC00000}


def test_a_nan_that_is_not_needed_goes() -> None:
    """From one unit's Inf against another's number to numbers on both."""
    overflowing = f"{FP16[0]}@overflow=ieee,conversion=RZ-FP16"
    q = ask(f"{FP16[0]}@conversion=RZ-FP16", overflowing)
    large = 0x7BFF
    small = checked(q, Witness((large,) * 8, (large,) * 8, large))
    assert live(small) <= 1
    assert sorted(q.replay(small.inputs()).integers) == [0x7BFF, INF]


def test_results_that_are_numbers_are_preferred_to_nan() -> None:
    """Both NaN words and truncation separate; the shown witness is the one that can be read."""
    q = ask(AMPERE, f"{HOPPER}@nan_word=0x7fc00000")
    small = checked(q, Witness((NAN, *[0] * 7), (0x3C00, *[0] * 7), 0))
    assert q.replay(small.inputs()).agrees
    results = set(q.replay(small.inputs()).integers)
    assert results == {0x7FFFFFFF, 0x7FC00000} or all(r & 0x7F800000 != 0x7F800000 for r in results)


# ---------------------------------------------------------------------- formats
def test_ignored_bits_of_tf32_are_cleared() -> None:
    q = ask(*TF32)
    plain = [w for w in separating(q, 900, seed=5) if live(w) <= q.k][:2]
    low = (1 << FORMATS["tf32"].ignored_low_bits) - 1
    for w in plain:
        noisy = Witness(tuple(x | low for x in w.a), tuple(y | low for y in w.b), w.c)
        small = checked(q, noisy)
        assert not any(x & low for x in (*small.a, *small.b))


def test_a_difference_in_c_only() -> None:
    """Units that differ on c alone are separated by c alone."""
    q = ask("tfdpa@products=4", "tfdpa@products=4,zero_exponent=0")
    c = parse_value(FORMATS["fp32"], "1.5*2^-30")
    small = checked(q, Witness((0x8000,) * 4, (0x3C00, 0xBC00, 0, 0), c))
    assert live(small) == 0
    assert small.c


def test_nothing_simpler_is_no_error() -> None:
    q = ask(AMPERE, f"{AMPERE}@nan_word=0x7fc00000")
    w = Witness((0,) * 8, (0,) * 8, 0x7FC00000)
    assert q.replay(shrink(q, w).inputs()).confirms


def test_what_does_not_separate_comes_back() -> None:
    q = ask(AMPERE, HOPPER)
    w = Witness((0x3C00,) * 8, (0x3C00,) * 8, 0)
    assert shrink(q, w) == w


def test_no_time_is_enough_to_come_back() -> None:
    q = ask(AMPERE, HOPPER)
    w = separating(q, 300, seed=2)[0]
    assert shrink(q, w, seconds=0.0) == w


def test_assumptions_hold_all_the_way() -> None:
    """The easiest witness has zeros; one without them is kept where they are ruled out."""
    assumed = Assumptions(flags=("normal", "positive"), exponents=(-14, 15))
    q = ask(AMPERE, HOPPER, assumed)
    w = Witness((0x6955, *[0x0401] * 7), (0x3C00, *[0x3C01] * 7), parse_value(FORMATS["fp32"], "2^-14"))
    small = checked(q, w)
    assert all(0 < (x & 0x7FFF) < INF and x < 0x8000 for x in (*small.a, *small.b))


# ---------------------------------------------------------------------- candidates and costs
def test_candidates_are_encodings() -> None:
    """Every neighbour is a witness of the right shape whose words fit their formats."""
    for names in ((AMPERE, HOPPER), TF32, FP16):
        q = ask(*names)
        o = q.first.operands
        for w in separating(q, 300, seed=17)[:1]:
            for near in candidates(q, w):
                assert len(near.a) == len(near.b) == q.k
                assert all(0 <= x < 1 << o.a.width for x in (*near.a, *near.b))
                assert 0 <= near.c < 1 << o.c.width


def test_templates_hold_the_textbook_case() -> None:
    """c = 1, half a unit in the last place of fp16, and one bit further down than ampere keeps."""
    q = ask(*FP16)
    fp16 = FORMATS["fp16"]
    run = q.evaluator()
    hit = next(w for w in templates(q, Witness((0,) * 8, (0,) * 8, 0)) if run(w.inputs())[1])
    assert hit.c == encode_exact(fp16, Fraction(1))
    products = {decode(fp16, x).number * decode(fp16, y).number for x, y in zip(hit.a, hit.b, strict=True)}
    assert Fraction(1, 1 << 11) in map(abs, products)


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


def test_subnormals_and_ignored_bits_cost() -> None:
    fp16, tf32 = FORMATS["fp16"], FORMATS["tf32"]
    assert value_cost(fp16, 1) > value_cost(fp16, 0x0400)
    one = parse_value(tf32, "1")
    assert value_cost(tf32, one | 1) > value_cost(tf32, one)


def test_front_places_are_preferred() -> None:
    q = ask(AMPERE, HOPPER)
    front = Witness((0x3C00, *[0] * 7), (0x3C00, *[0] * 7), 0)
    back = Witness((*[0] * 7, 0x3C00), (*[0] * 7, 0x3C00), 0)
    assert witness_cost(q, front) < witness_cost(q, back)
