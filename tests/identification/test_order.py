"""The order of summation found from results alone: catalogued designs, made-up boxes, random trees."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.rounding import conversion
from tcformal.design.trees.arrangements import combined, groups, running, tree_of
from tcformal.design.trees.tree import Step
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identification.masks import DEPTHS, SHALLOW
from tcformal.identification.order import Order, order_of
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import Batch

#: Formats of products that lie too near each other.
NARROW = ("e2m1", "e2m3", "e3m2")
#: One unit of each way to sum, and of each width of results and operands.
SAMPLE = (
    "volta/mma.m8n8k4.f16.f16.f16.f16", "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "cdna1/v_mfma_f32_32x32x8f16", "cdna3/v_mfma_f32_32x32x4_2b_f16",
    "x86/vdpbf16ps", "arm/bfdot.ebf0", "rdna3/v_wmma_bf16_16x16x16_bf16",
)  # fmt: skip


def text(parts: Any) -> str:
    assert isinstance(parts, Step)
    return str(parts)


PAIRWISE = text(Step((combined(range(16), "pairwise"), "c")))
DESCENDING = text(running(groups(16, 1, "reversed"), "c"))
#: In blocks of eight, first the even and then the odd products of each sixteen.
INTERLEAVED = text(running([range(s + odd, s + 16, 2) for s in (0, 16) for odd in (0, 1)], "c"))
STRIDED = text(Step((*(Step(g) for g in groups(16, 4, "strided")), "c")))
JOINED = Step(tuple(Step(g) for g in groups(16, 4)))
BOXES = {
    "two fused halves, added to nearest": (
        "h(f(0..7)+f(8..15+c)),fraction_bits=24,f.conversion=RZ-FP32,h.fraction_bits=exact"
    ),
    "a pairwise tree": PAIRWISE,
    "a pairwise tree of short numbers": (
        f"{Step((combined(range(8), 'pairwise'), 'c'))},a_format=e4m3,b_format=e4m3"
    ),
    "a chain in descending k": DESCENDING,
    "even and odd products in turn": f"{INTERLEAVED},fraction_bits=25,conversion=RZ-FP32",
    "twelve fused products": "(0..11+c),fraction_bits=24,conversion=RZ-FP32",
    "rounded products, then c": (
        "r(p(0..15)+c),p.fraction_bits=22,conversion=RNE-FP32,product_rounding=RNE-FP32"
    ),
    "strided groups, then one sum": f"{STRIDED},fraction_bits=24,conversion=RZ-FP32",
    "exact sums of four, then one": text(Step((*(Step(g) for g in groups(16, 4)), "c"))),
    "rounded sums of four in an exact one, then c": f"(h{text(JOINED)}+c),conversion=RZ-FP32",
    "alignment away from zero": "(8..15+(0..7+c)),fraction_bits=24,alignment_rounding=RU,conversion=RU-FP32",
    "alignment to odd": "(0..7+c),fraction_bits=24,alignment_rounding=RO,conversion=RO-FP32",
    "few fraction bits below fp16": (
        "(0..15+c),fraction_bits=9,conversion=RNA-FP16,a_format=e4m3,b_format=e4m3,c_format=fp16,d_format=fp16"
    ),
    "many fraction bits": "(8..15+(0..7+c)),fraction_bits=35,conversion=RZ-FP32",
    "a chain of truncated sums": f"{text(running(groups(8, 1), 'c'))},conversion=RZ-FP32",
    "bf16 results": "(8..15+(0..7+c)),fraction_bits=24,conversion=RZ-BF16,a_format=bf16,b_format=bf16,"
    "c_format=bf16,d_format=bf16",
    "any order": "((1+3+7+9)+(0+2+11+14)+(4+5+6+8)+(10+12+13+15)+c),fraction_bits=24,conversion=RZ-FP32",
    "a sum among others": "(0+1+(2..4)+5+6+c),fraction_bits=24,conversion=RZ-FP32",
    "no c": "(4..7+(0..3)),fraction_bits=24,conversion=RZ-FP32",
}
#: Boxes whose models take longer to build than to ask.
SLOW = (
    "a pairwise tree", "rounded products, then c", "strided groups, then one sum", "bf16 results",
    "exact sums of four, then one", "any order", "many fraction bits", "alignment to odd",
)  # fmt: skip


def found(spec: UnitSpec, depths: Sequence[int] = DEPTHS) -> Order:
    """The order of a model that is asked as a device is."""
    unit = Unit(spec)

    def ask(x: Batch) -> Any:
        return unit.dot_bits(x.a, x.b, x.c)

    return order_of(ask, spec.operands, spec.k, depths=depths)


def visible(step: Step, kept: Collection[str] = ()) -> Any:
    """A tree as masks can show it: sums of one part are seen as that part, and nothing sees a +0.

    Sums of stages that are kept in their frame hide what the outer sum hides.
    """
    children: list[Any] = []
    for x in step.children:
        seen: Any = visible(x, kept) if isinstance(x, Step) else x
        children += seen.children if isinstance(x, Step) and x.stage in kept else [seen]
    children = [x for x in children if x != "zero"]
    return children[0] if len(children) == 1 else Step(tuple(children))


def in_frames(spec: UnitSpec) -> list[str]:
    """The stages of a tree whose sums keep the exponent of their largest term."""
    rows = {} if spec.tree is None else spec.tree.stages
    return [stage for stage, row in rows.items() if not row.get("normalised", True)]


def leaves(step: Step) -> list[int | str]:
    """The products in order, then c."""
    with_c = any("c" in x.children for x in step.steps())
    return [*sorted(step.products()), *(["c"] if with_c else [])]


def expected(spec: UnitSpec) -> Step | None:
    """The order of a design, if it is a tree's; sums of CDNA3 hide all their terms, as a fused sum does.

    Fixed-point sums lose nothing, and show no order.
    """
    d = replace(spec.design, nan_rule="word", factor_nan_word=None)
    if d.accumulation == "ones_complement":
        d = replace(d, accumulation="twos_complement", c_fraction_bits=None)
    stages = [] if spec.tree is None else [x for _, name, x in spec.tree.settings if name == "conversion"]
    if spec.tree is not None and any(conversion(str(x)).integer_bits is not None for x in stages):
        return Step(tuple(leaves(spec.tree.root)))
    if d.summation in ("tr", "gtr"):
        d = replace(d, summation="fused", c_position="joined", sum_fraction_bits=None, sum_rounding="RD")
    made = tree_of(replace(spec, design=d), spec.k)
    if made is None or made.tree is None:
        return None
    seen = visible(made.tree.root, in_frames(spec))
    assert isinstance(seen, Step)
    return seen


def check(name: str) -> None:
    spec = catalogue()[name]
    order = found(spec)
    formats = {spec.a_format.name, spec.b_format.name}
    if formats & set(NARROW) and "e5m2" not in formats:
        assert order.root is None
        assert order.reason.endswith("lie too near each other to hide one another")
        return
    if spec.design.accumulation == "ones_complement" and spec.d_format.precision < 24:
        # A term and its opposite leave a unit of the last place, as they do in no tree of sums; results of
        # few bits then show nothing else.
        assert order.root is None
        assert "that cancel leave" in order.reason
        assert order.batches <= 2
        return
    wanted = expected(spec)
    if spec.design.framed or spec.design.negated != "none" or wanted is None:
        return  # no trees of sums
    assert (order.root, order.reason) == (wanted, "")
    framed = in_frames(spec)
    assert bool(order.groups) == (bool(framed) or spec.design.summation == "gtr")
    # Products of fp8 that lie within a sum's reach are few, and need more masks.
    most = 140 if spec.k <= 32 else 210
    assert order.probes <= (300 if order.groups else most)
    assert order.batches <= (10 if framed else 8)
    seen = {bits for bits in order.fraction_bits.values() if bits is not None}
    own = {spec.design.fraction_bits} if spec.tree is None else {
        row.get("fraction_bits", spec.design.fraction_bits) for row in spec.tree.stages.values()
    }  # fmt: skip
    assert seen <= own


@pytest.mark.parametrize("name", SAMPLE)
def test_the_order_of_a_catalogued_design_is_found(name: str) -> None:
    check(name)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", distinct_designs(lambda u: u.scale_format is None and not u.d_format.integer)
)
def test_the_order_of_every_design_without_scales_is_found(name: str) -> None:
    check(name)


@pytest.mark.parametrize("box", [pytest.param(x, marks=pytest.mark.long if x in SLOW else ()) for x in BOXES])
def test_the_order_of_a_box_is_found(box: str) -> None:
    spec = resolve(f"tree@steps={BOXES[box]}")
    assert spec.tree is not None
    order = found(spec)
    root = Step(tuple(_without_stages(x) for x in spec.tree.root.children))
    assert (order.root, order.reason, order.groups) == (root, "", {})
    assert order.probes <= 180
    assert order.batches <= 12


def _without_stages(child: int | str | Step) -> int | str | Step:
    if not isinstance(child, Step):
        return child
    return Step(tuple(_without_stages(x) for x in child.children))


def test_no_pair_is_asked_twice() -> None:
    """Chains of pairs: every sum of some is a part of all later ones, which are looked into together."""
    order = found(catalogue()["x86/tdpbf8ps"])
    assert order.root == expected(catalogue()["x86/tdpbf8ps"])
    assert order.probes <= 190  # one of the pairs that hide a set confirms it for all
    assert order.batches <= 8


def test_fraction_bits_are_those_of_each_sum() -> None:
    steps = "p(4..7+q(0..3+c)),p.fraction_bits=25,q.fraction_bits=23"
    order = found(resolve(f"tree@steps={steps},conversion=RZ-FP32"))
    assert {str(step): bits for step, bits in order.fraction_bits.items()} == {
        "(0..3+c)": 23, "(4..7+(0..3+c))": 25,
    }  # fmt: skip


def test_sums_that_lose_deep_terms_show_their_order_to_shallow_ones() -> None:
    """Sums of four keep 8 bits, and the sum of these 31, which products of e4m3 reach below."""
    blocks = "part(0+4+8+12)+part(1+5+9+13)+part(2+6+10+14)+part(3+7+11+15)"
    unit = resolve(
        f"tree@steps=({blocks}+c),conversion=RNE-FP16,fraction_bits=31,part.conversion=RD-FP16,"
        "part.fraction_bits=8,a_format=e4m3,b_format=e4m3,c_format=fp16,d_format=fp16"
    )
    assert found(unit).reason
    seen = found(unit, depths=SHALLOW)
    assert not seen.reason
    assert str(seen.root) == f"({blocks}+c)".replace("part", "")
    assert None not in seen.fraction_bits.values()  # what these do not reach, they do not show to be kept


def test_a_sum_of_parts_that_are_not_told_apart_is_not_said_to_be_exact() -> None:
    """Products of e4m3 lie up to 35 binades apart: some are lost where 30 bits are kept, others are not."""
    unit = resolve(
        "tree@steps=join(part(8..15)+join(part(0..7)+c)),part.conversion=RNE-E8M13,part.fraction_bits=30,"
        "join.conversion=RZ-FP32,conversion=RNE-FP32,a_format=e4m3,b_format=e4m3,c_format=fp32,d_format=fp32"
    )
    order = found(unit)
    assert order.reason
    assert order.root is not None
    assert None not in order.fraction_bits.values()


def test_halves_that_are_summed_before_they_are_cut_are_named() -> None:
    order = found(catalogue()["cdna3/v_mfma_f32_16x16x32_fp8_fp8"])
    assert list(order.groups.values()) == [(tuple(range(1, 16, 2)),), (tuple(range(17, 32, 2)),)]


def test_a_device_that_sums_in_no_order_is_told() -> None:
    """Results that depend on nothing but chance: no order, and an end."""
    rng = np.random.default_rng(3)
    spec = resolve("tfdpa@products=12")
    order = order_of(lambda x: rng.integers(0, 1 << 31, len(x.c)) & 0x7F7FFFFF, spec.operands, 12)
    assert order.reason
    infinite = order_of(lambda x: np.full(len(x.c), 0x7F800000), spec.operands, 12)
    assert (infinite.root, infinite.reason) == (
        None, "results are NaN or Inf where large terms cancel, down to 2^15",
    )  # fmt: skip


def test_chains_are_seen_in_few_batches() -> None:
    """One's complement: a unit of the last place stays beside each sum, a part of the next one."""
    order = found(catalogue()["rdna3/v_wmma_f32_16x16x16_f16"])
    assert order.root == expected(catalogue()["rdna3/v_wmma_f32_16x16x16_f16"])
    assert order.batches <= 3


def test_k_is_at_least_one() -> None:
    spec = resolve("tfdpa@products=1")
    assert str(found(spec).root) == "(0+c)"
    with pytest.raises(InputError, match="expected an integer of at least 1 for k, but got 0"):
        order_of(lambda x: x.c, spec.operands, 0)


def random_tree(rng: random.Random) -> str:
    """Up to twelve products in sums of two parts and more, each exact or cut."""
    parts: list[Any] = [*range(rng.randint(2, 12)), "c"]
    rng.shuffle(parts)
    stages = rng.choice(["pq", "p", "q"])
    while len(parts) > 1:
        size = rng.randint(2, min(len(parts), rng.choice([2, 3, 5, 12])))
        parts = [*parts[size:], Step(tuple(parts[:size]), rng.choice(stages))]
    named = f"tree@steps={parts[0]}"
    used = {step.stage for step in parts[0].steps()}
    if "p" in used:
        named += f",p.fraction_bits={rng.choice([23, 24, 25])},p.conversion={rng.choice(['RZ', 'RNE'])}-FP32"
    if "q" in used:
        named += f",q.conversion={rng.choice(['RZ', 'RNE'])}-FP32"
    return named


def wrong(seed: int, count: int) -> list[str]:
    """Random trees whose order is not found, though no reason is given."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        spec = resolve(random_tree(rng))
        assert spec.tree is not None
        order = found(spec)
        if order.root != _without_stages(spec.tree.root) and not (order.reason or order.groups):
            made.append(f"{spec.name}: {order.root}")
    return made


def test_the_order_of_random_trees_is_found() -> None:
    assert wrong(1, 3) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 20))
def test_the_order_of_many_random_trees_is_found(seed: int) -> None:
    assert wrong(seed, 40) == []
