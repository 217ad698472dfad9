"""Whose NaN a chain or a tile gives: lanes against the oracle on operands full of NaNs and infinities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from sampled import one_in
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.oracle.exact import unit_dot
from tcformal.query.explain.explain import explain, explain_witness
from tcformal.simulation.matrix_unit import Unit, unit
from tcformal.simulation.operands.batch import Raw
from tcformal.simulation.operands.witness import Witness

TILE, DMMA = "x86/tdpbf16ps", "hopper/mma.m16n8k4.f64.f64.f64.f64"
_NARROW = "a_format={0},b_format={0}"
CHAINS = "sequential@products=4,summation=two_chains,nan_rule=first_operand,k=8,"
STEPS = "sequential@products=4,nan_rule=first_operand,k=8,"
APART = (
    "tfdpa@products=2,c_fraction_bits=26,nan_rule=products_c,factor_nan_word=0xffc00a3d,nan_word=0xffc00000"
)
#: Two chains and a product between them, c inside: sums of sums, of one product, and of a product and c.
TREE = "tree@steps=(2+((4+(0+z))+(1+(3+c)))),a_format=bf16,b_format=bf16,nan_word=0xffc00000,nan_rule="
DESIGNS = [
    "x86/vdpbf16ps",
    TILE,
    "x86/tdpfp16ps",
    f"{TILE}@order=odd_first",
    f"{TILE}@products=8",
    f"{TILE}@product_rounding=RNE-FP32,nan_word=0x7fc00000",
    *(f"{kind}{_NARROW.format(fmt)}" for kind in (CHAINS, STEPS) for fmt in ("fp16", "tf32", "e5m2")),
    f"{CHAINS}a_format=bf16,b_format=fp16,c_format=fp32,d_format=fp32",
    DMMA,
    f"{DMMA}@nan_rule=first_operand",
    f"{TILE}@nan_rule=b_sum_a",
    f"{TILE}@nan_rule=a_sum_b",
    "power10/xvbf16ger2pp",
    f"{APART},accumulation=ones_complement",
    "sequential@products=8,summation=pair_chains,nan_rule=first_operand,k=8,a_format=e5m2,b_format=fp16",
    f"{TILE}@summation=pair_chains,products=8",
    f"{APART},alignment_rounding=RD,aligned_group=2",
    "power10/xvf64gerpp",
    f"{STEPS}{_NARROW.format('fp16')}".replace("first_operand", "b_sum_a"),
    *(TREE + rule for rule in ("first_operand", "b_sum_a", "a_sum_b")),
]


def specials(fmt: Format) -> list[int]:
    """Infinities, NaNs with payloads, quiet and not, zeros and ones, of both signs."""
    low = fmt.ignored_low_bits
    quiet = 1 << (fmt.fraction_bits - 1 + low)
    words = [fmt.infinity + (1 << low), fmt.infinity + quiet, fmt.infinity + quiet + (1 << low)]
    words += [fmt.infinity, 0, fmt.one]
    return words + [word | 1 << (fmt.width - 1) for word in words]


def operands(spec: UnitSpec, n: int, share: float, rng: np.random.Generator) -> tuple[Raw, Raw, Raw]:
    """Rows in which a share of the operands is special and the others are ones of both signs."""

    def some(fmt: Format, shape: tuple[int, ...]) -> Raw:
        ones = np.array([fmt.one, fmt.one | 1 << (fmt.width - 1)], np.uint64)
        odd = rng.choice(np.array(specials(fmt), np.uint64), shape)
        return np.where(rng.random(shape) < share, odd, rng.choice(ones, shape))

    o, k = spec.operands, spec.k
    return some(o.a, (n, k)), some(o.b, (n, k)), some(o.c, (n,))


@pytest.mark.parametrize("name", one_in(3, DESIGNS), ids=lambda n: n.replace("sequential@", "")[:60])
def test_nans_are_the_oracles(name: str) -> None:
    spec = resolve(name)
    rng = np.random.default_rng(20267)
    words: set[int] = set()
    for share in (0.04, 0.15, 0.5):
        a, b, c = operands(spec, 40, share, rng)
        found = Unit(spec).dot_bits(a, b, c)
        for i, d in enumerate(found.tolist()):
            assert unit_dot(spec, a[i].tolist(), b[i].tolist(), int(c[i])) == d
        words |= set(found.tolist())
    d = spec.operands.d
    nans = [w for w in words if w % (1 << (d.width - 1)) > d.infinity]
    assert len(nans) >= 4
    assert spec.design.nan_word in nans


@pytest.mark.parametrize("name", [TILE, DMMA, f"{TILE}@nan_rule=b_sum_a", "x86/vdpbf16ps"])
def test_a_tree_hands_on_the_nans_of_its_design(name: str) -> None:
    spec = resolve(name)
    made = tree_of(spec, spec.k)
    assert made is not None
    rng = np.random.default_rng(5)
    for share in (0.04, 0.5):
        x = operands(spec, 200, share, rng)
        assert np.array_equal(Unit(made).dot_bits(*x), Unit(spec).dot_bits(*x))


#: One operand of a tile: a NaN with its place in the priority, an infinity or a one.
_KINDS = ("one", "inf", "zero", "nan")


@pytest.mark.slow
@seed(20267)
@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(_KINDS), min_size=65, max_size=65))
def test_a_tile_gives_the_first_nan(kinds: list[str]) -> None:
    """c; then k = 30, 28, …, 0 and k = 31, 29, …, 1, a before b; each NaN has a payload of its own."""
    u = unit(TILE)
    words = {"one": 0x3F80, "inf": 0x7F80, "zero": 0}
    a, b = (
        [words.get(kind, 0x7F81 + 32 * side + k) for k, kind in enumerate(kinds[32 * side : 32 * side + 32])]
        for side in (0, 1)
    )
    c = {"one": 0x3F800000, "inf": 0x7F800000, "zero": 0}.get(kinds[64], 0x7F800001)
    rows = np.array([a], np.uint64), np.array([b], np.uint64), np.array([c], np.uint64)
    (found,) = u.dot_bits(*rows).tolist()
    assert found == unit_dot(u.spec, a, b, c)
    if found & 0x7FFFFFFF > 0x7F800000:
        assert found == _expected(a, b, c)


def _expected(a: list[int], b: list[int], c: int) -> int:
    """The word of a NaN result, from the words of the operands alone."""
    if c > 0x7F800000:
        return c | 0x00400000
    for half in (range(30, -1, -2), range(31, 0, -2)):
        for k in half:
            for word in (a[k], b[k]):
                if word > 0x7F80:
                    return word << 16 | 0x00400000
            if _invalid(a, b, k, half[-1]):
                return 0xFFC00000
    return 0xFFC00000


def _invalid(a: list[int], b: list[int], k: int, first: int) -> bool:
    """Whether step k is Inf times zero with no NaN before it: infinities here are positive."""
    if {a[k], b[k]} != {0x7F80, 0}:
        return False
    earlier = range(first, k, 2)
    return all(a[i] <= 0x7F80 and b[i] <= 0x7F80 for i in earlier)


#: Three doubles: NaNs of A, B and C of a step, each with a payload of its own, not all quiet.
_OF_A, _OF_B, _OF_C = 0x7FF0000000000A0A, 0xFFF8000000000B0B, 0x7FF0000000000C0C
_ONE, _INF, _QUIET = 0x3FF0000000000000, 0x7FF0000000000000, 0x0008000000000000


@pytest.mark.parametrize(
    ("a", "b", "c", "whose", "result"),
    [
        ({2: _OF_A}, {2: _OF_B}, _OF_C, "b[2]", _OF_B),
        ({2: _OF_A}, {}, _OF_C, "c", _OF_C | _QUIET),
        ({2: _OF_A}, {}, _ONE, "a[2]", _OF_A | _QUIET),
        ({2: _OF_A}, {1: _OF_B}, _OF_C, "b[1]", _OF_B),
        ({2: _OF_A, 3: _OF_A + 1}, {}, _ONE, "a[2]", _OF_A | _QUIET),
        ({0: _OF_A}, {3: _OF_B}, _OF_C, "b[3]", _OF_B),
        ({1: _INF, 2: _OF_A}, {1: 0}, _ONE, "an invalid operation", 0xFFF8000000000000),
        ({0: _OF_A, 1: _INF}, {1: 0}, _ONE, "a[0]", _OF_A | _QUIET),
        ({0: _INF}, {}, _INF | 1 << 63, "an invalid operation", 0xFFF8000000000000),
    ],
)
def test_a_step_of_dmma_gives_the_nan_of_b_then_the_sum_then_a(
    a: dict[int, int], b: dict[int, int], c: int, whose: str, result: int
) -> None:
    """Made quiet, with sign and payload; the rule that an H100's outputs fit, see test_recordings."""
    w = Witness(tuple(a.get(k, _ONE) for k in range(4)), tuple(b.get(k, _ONE) for k in range(4)), c)
    trace = explain_witness(unit(DMMA).spec, w)
    assert trace.result == result == unit_dot(unit(DMMA).spec, w.a, w.b, w.c)
    assert trace.steps[-1].nan_of == whose


def ones(**changes: str) -> list[str]:
    return [changes.get(f"k{k}", "1") for k in range(32)]


@pytest.mark.parametrize(
    ("a", "b", "c", "whose", "result"),
    [
        ({"k3": "0x7f81"}, {}, "1", "a[3]", 0x7FC10000),
        ({"k3": "0x7f81"}, {"k3": "0xff82"}, "1", "a[3]", 0x7FC10000),
        ({"k3": "0x7f81"}, {"k31": "0xff82"}, "1", "b[31]", 0xFFC20000),
        ({"k31": "0x7f81"}, {"k0": "0xff82"}, "1", "b[0]", 0xFFC20000),
        ({"k31": "0x7f81"}, {}, "nan(0x7f800009)", "c", 0x7FC00009),
        ({"k4": "inf", "k31": "0x7f81"}, {"k4": "0"}, "1", "an invalid operation", 0xFFC00000),
        ({"k4": "inf", "k6": "0x7f81"}, {"k4": "0"}, "1", "a[6]", 0x7FC10000),
        ({"k4": "inf", "k2": "0x7f81"}, {"k4": "0"}, "1", "a[2]", 0x7FC10000),
    ],
)
def test_explain_says_whose_nan_it_is(
    a: dict[str, str], b: dict[str, str], c: str, whose: str, result: int
) -> None:
    trace = explain(TILE, ones(**a), ones(**b), c)
    assert (
        trace.result == result == unit_dot(unit(TILE).spec, trace.witness.a, trace.witness.b, trace.witness.c)
    )
    assert trace.steps[-1].nan_of == whose


def test_explain_names_nobody_where_all_nans_are_one_word() -> None:
    trace = explain(f"{TILE}@nan_rule=word", ones(k3="nan"), ones(), "1")
    assert trace.steps[-1].special == "NaN"
    assert {step.nan_of for step in trace.steps} == {""}
    chain = explain("x86/vdpbf16ps", ["0x7f81", "1"], ["1", "1"], "nan(0x7f800009)")
    assert [step.nan_of for step in chain.steps] == ["c", "a[0]"]
