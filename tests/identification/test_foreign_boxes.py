"""Boxes made outside the package: found where they are in the space, and outside with what they look like."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from boxes import BOXES, Box
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import CallableDevice
from tcformal.devices.isolated import opened
from tcformal.devices.registry import ModelDevice
from tcformal.errors import DeviceError
from tcformal.identification.asker import Asker, asker_of
from tcformal.identification.hypotheses import Shapes, framed, hypotheses, rare_shapes
from tcformal.identification.identification import FITTING, IdentifyVerdict, Settled
from tcformal.identification.identify import Identifying, identified
from tcformal.identification.kinds import is_no_sum, kind_of, kind_of_noise, narrow_operands
from tcformal.identification.masks import DEEP, numbers_of
from tcformal.identification.operand_questions import (
    below_exact,
    beside_midpoints,
    c_cut,
    cancelled_twice,
    inner_bits,
    isolated,
    subnormal_factors,
)
from tcformal.identification.order import order_of, order_of_unit
from tcformal.identification.repeat import noisy_inputs, repeat
from tcformal.identification.validation import simplest_unfit
from tcformal.identification.wrong_set import wrong_set
from tcformal.report.identified import identification_view
from tcformal.report.parts import Headline
from tcformal.report.words import in_words
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch, with_scales
from tcformal.simulation.operands.inputs import pool_of


def asked(name: str) -> Asker:
    box: Box = BOXES[name]
    random.seed(name)  # the boxes that answer at random

    def device(*words: Raw) -> Raw:
        try:
            rows = zip(*(x.tolist() for x in words), strict=True)
            return np.array([box(*row) for row in rows], np.uint64)
        except ValueError as error:
            raise DeviceError(str(error)) from None

    scale = f"ue8m0/{box.block}" if box.block else None
    return asker_of(CallableDevice(device, name), box.formats, box.k, scale, None, None)


def first_line(name: str, seconds: float = 600) -> tuple[IdentifyVerdict, str]:
    found = identified(asked(name), vectors=2000, seconds=seconds)
    head = identification_view(found)[0]
    assert isinstance(head, Headline)
    return found.verdict, head.rest


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("sorted", "terms sorted, the largest first"),
        ("sorted-up", "terms sorted, the smallest first"),
        ("kahan", "compensated sum (Kahan's): gives"),
        ("two-sum", "compensated sum (errors of each sum"),
        pytest.param("posit", "posits with 1 exponent bits in place of fp16", marks=pytest.mark.slow),
        ("logarithms", "products by logarithms (Mitchell's), up to 10.62 % off"),
        ("coarse", "approximate products"),
        ("dithered", "dithered: "),
        ("neumaier", "compensated sum (errors of each sum"),
        ("lost", "product 3 never added"),
        ("faulty-lane", "product 5 unlike the others"),
        ("lane-twice", "product 6 unlike the others: 1·1 there gives 2, elsewhere 1"),
        ("c-twice", "c counted 2 times"),
        ("bias", "1 added to every sum"),
        ("relu", "negative results are 0"),
        ("clipped", "results that are at most 6"),
        ("halved", "1/2 times the product"),
        ("unsigned", "products lose their sign"),
        ("fixed-point", "sums in fixed point: of a c alone nothing below 2^-30"),
        ("shared-exponents", "exponents shared by blocks of 4 operands of a and b (block floating point)"),
        ("doubles", "partial sums in fp64, rounded to fp32 every 3 products: gives"),
        ("by-sign", "positive terms and negative ones added apart"),
        ("smallest-first", "the two smallest terms added until one is left"),
        ("only-large", "products below 2^-9 of the largest product are dropped, whole"),
        ("lost-if", "products that others change: 1·1 (k = 1) + -1·1 (k = 2) gives -1"),
        ("wraps", "results that wrap, or products that are dropped, from 2^19 on: 2^19 alone gives -524288"),
        ("half-up", "inexact sums go to nearest, halves rounded up, toward +Inf"),
        ("six-bits", "approximate products, up to 2.958 % off: each operand is changed before it is mult"),
        ("table", "approximate products, up to 2.367 % off: exact where one factor is 1, as of a table"),
        ("in-parts", "approximate products, up to 0.0008279 % off: factors in two parts of bf16, without"),
        ("as-integers", "operands that are integers in place of fp16, the product times 2^-20"),
        ("stuck", "bit 5 of results is always 1"),
        ("mean", "1/4 times the product: the mean of 4 products, to which c is added"),
        ("mean-with-c", "1/4 times the sum: the mean of 4 products"),
        ("largest", "the largest product in place of a sum"),
        ("clipped-late", "results that are at most 300, and at least -300"),
        ("by-place", "rounding by the place of k: up at k = 0, 2; down at k = 1, 3"),
        ("by-sum-sign", "rounding by sign: positive sums go toward zero, negative ones to nearest"),
        ("middles", "inexact sums go to the even neighbour, however near the other one is"),
        ("or-ed", "approximate sums: the low 7 of 23 bits are or-ed; "),
        ("carry-cut", "approximate sums: no carry goes from the low 11 of 23 bits to those above; "),
        ("posit-sums", "precision that falls away from 1, as posits have: of c alone are kept 0 at 2^-120, "),
        ("cross", "operands that meet otherwise: a[0] meets -b[1], a[1] meets b[0], a[2] meets -b[3], a[3]"),
        ("log-sums", "products that are no function of a·b, as of logarithms: "),
        ("max-plus", "a + b, as of a max-plus or min-plus product, in place of a·b"),
        ("distances", "(a - b)², as of squared distances, in place of a·b"),
        ("by-value", "terms sorted by value, the least first, then added one by one"),
        ("two-sum-tree", "compensated sum (products in a tree of neighbours, then c, errors added at the"),
        ("doubles-of-five", "partial sums in fp64, rounded to fp32 every 5 products: gives"),
        ("hashed", "dithered: one sum is rounded up for some factors and down for others"),
        ("small-dropped", "products dropped below 2^-8: one of 2^-9 alone gives 0, a c of 2^-9 does not"),
    ],
)
def test_a_kind_is_seen(name: str, says: str) -> None:
    assert kind_of(asked(name), []).text.startswith(says)


@pytest.mark.parametrize(
    "name", ["lanes", "fused19", "tree-m10", "subtracts", "steps", "flushes", "subnormal-a", "groups-of-fp16"]
)
def test_a_design_looks_like_no_kind(name: str) -> None:
    assert not kind_of(asked(name), [])
    assert not narrow_operands(asked(name))


def test_equal_products_with_other_results_are_no_sum() -> None:
    assert kind_of(asked("log-sums"), []).outside


def test_what_a_design_near_to_it_looks_like_is_not_said_to_be_outside() -> None:
    """Units whose products lack low bits of the factors are in the space."""
    unit = resolve("wormhole/MVMUL.fp16.fp16")

    def device(a: Raw, b: Raw, c: Raw) -> Raw:
        return replay(unit, Batch(a, b, c))

    asker = asker_of(CallableDevice(device), "fp16,fp16,fp16,fp16", 16, None, None, None)
    kind = kind_of(asker, [unit])
    assert kind.text.startswith("approximate products, up to 4.527 % off")
    assert not kind.outside
    assert kind_of(asker, []).outside


@pytest.mark.parametrize(
    ("name", "wrong", "flipped", "bits"),
    [
        ("wrong-set", True, 2, {("b", 2): (0x3F, 0x1B)}),
        ("lost", False, 0, {}),
        ("exact", False, 0, {}),
    ],
)
def test_a_set_of_wrong_inputs_is_found_by_its_bits(
    name: str, wrong: bool, flipped: int, bits: dict[tuple[str, int], tuple[int, int]]
) -> None:
    asker, k = asked(name), BOXES[name].k
    chain = resolve(f"fma@k={k},a_format=fp16,b_format=fp16")
    asker.ask(pool_of(asker.spec, k, 300, 3))
    w = simplest_unfit(asker, [chain], lambda: False, numbers=True)
    found = None if w is None else wrong_set(asker, chain, w)
    assert (found is not None) is wrong
    if found is not None:
        assert (found.bits, found.flipped, found.outside) == (bits, flipped, True)


def test_a_set_of_inputs_that_a_parameter_decides_is_not_said_to_be_outside() -> None:
    """Subnormals of a are the inputs whose exponent bits are 0."""
    asker = asked("subnormal-a")
    chain = resolve("fma@k=4,a_format=fp16,b_format=fp16")
    asker.ask(pool_of(asker.spec, 4, 300, 3))
    w = simplest_unfit(asker, [chain], lambda: False, numbers=True)
    assert w is not None
    found = wrong_set(asker, chain, w)
    assert found is None or not found.outside


@pytest.mark.parametrize(
    ("name", "no_sum"),
    [("lost", True), ("lane-twice", True), ("c-twice", True), ("posit", True), ("kahan", False),
     ("relu", True), ("unsigned", True), ("fixed-point", False), ("exact", False),
     ("faulty-lane", False), ("subtracts", False), ("no-c-sum", False), ("tree-m10", False)],
)  # fmt: skip
def test_terms_alone_that_no_design_gives_end_the_search(name: str, no_sum: bool) -> None:
    assert is_no_sum(asked(name)) is no_sum


def test_a_design_that_gives_as_much_is_no_kind() -> None:
    """An exact sum gives what a compensated one does."""
    exact = asked("exact")
    assert kind_of(exact, [])
    unit = "tree@steps=(0..7+c),overflow=infinity,a_format=fp16,b_format=fp16,c_format=fp32,d_format=fp32"
    assert not kind_of(exact, [resolve(unit)])


def test_partial_sums_in_fp64_are_not_exact_ones() -> None:
    """Masks see no bit lost of either; 54 bits below terms that cancel, one has nothing left."""
    shown = {}
    for name in ("in-fp64", "exact"):
        asker, k = asked(name), BOXES[name].k
        order = order_of(asker.ask, asker.spec.operands, k)
        assert str(order.root) == f"(0..{k - 1}+c)"
        deep = numbers_of(asker.spec.d_format, asker.ask(below_exact(asker.spec, k, order)))
        assert deep
        shown[name] = 0 in deep, str(order_of(asker.ask, asker.spec.operands, k, depths=DEEP).root)
    assert shown == {"in-fp64": (True, "(3+(2+(1+(0+c))))"), "exact": (False, "(0..7+c)")}


def test_a_sum_that_is_cut_is_asked_nothing_far_below_it() -> None:
    asker = asked("fused19")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert not len(below_exact(asker.spec, asker.k, order).c)


@pytest.mark.slow
def test_the_search_finds_partial_sums_in_fp64() -> None:
    found = identified(asked("in-fp64"), vectors=500)
    assert found.verdict is IdentifyVerdict.IDENTIFIED
    assert found.simplest is not None
    # Rounded to fp64, then to fp32: sums far nearer to a middle than random ones show the second rounding.
    assert found.simplest.startswith(
        "tree@steps=(part(3+part(2+part(1+part(0+c))))),part.conversion=RNE-FP64"
    )


def test_operands_that_are_cut_are_seen() -> None:
    assert narrow_operands(asked("tf32-cut")) == ("RZ", 10)


@pytest.mark.parametrize(("own", "seen"), [(",operand_rounding=RZ-E8M10", ("RZ", 10)), ("", None)])
def test_rounded_operands_are_told_from_sums_that_keep_as_few_bits(
    own: str, seen: tuple[str, int] | None
) -> None:
    unit = resolve(f"tree@steps=(1+(0+c)),conversion=RNE-E8M10{own},a_format=fp32,b_format=fp32")
    assert narrow_operands(Asker(ModelDevice(unit.name), unit.operands, unit.k)) == seen


@pytest.mark.slow
def test_operands_that_are_cut_are_a_parameter_of_the_trees() -> None:
    designs = [u.name for u in left_of_search("tf32-cut")]
    assert all(x.startswith("tree@steps=(3+(2+(1+(0+c)))),operand_rounding=RZ-E8M10") for x in designs)
    assert designs


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("state", "state between calls"),
        (
            "every-fifth",
            "state between calls: one input asked again and again gives its results in turns of 5",
        ),
        ("drops", "products are dropped"),
    ],
)
def test_what_several_answers_depend_on_is_seen(name: str, says: str) -> None:
    asker = asked(name)
    assert kind_of_noise(asker, noisy_inputs(asker.spec, asker.k)).startswith(says)


def test_a_state_is_seen_on_an_input_whose_answers_spread() -> None:
    """Exact sums of two terms never show that others are aligned as the ones before."""
    asker = asked("aligned-as-before")
    seen = repeat(asker)
    assert not kind_of_noise(asker, noisy_inputs(asker.spec, asker.k))
    text = kind_of_noise(asker, noisy_inputs(asker.spec, asker.k, seen))
    assert text == "state between calls: the answer depends on the input before"


@pytest.mark.parametrize(
    ("name", "verdict", "says"),
    [
        ("ties-random", "NON_DETERMINISTIC", ": it rounds halves up or down at random"),
        ("rarely-random", "NON_DETERMINISTIC", " inputs gave several answers when they were asked again"),
        pytest.param("stuck", "OUTSIDE", " looks like bit 5 of results is always 1", marks=pytest.mark.slow),
        pytest.param(
            "wrong-set",
            "OUTSIDE",
            ", but wrong where b[2] & 0x3f = 0x1b, with 0x2 flipped",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "doubles",
            "OUTSIDE",
            " looks like partial sums in fp64, rounded to fp32 every 3 products",
            marks=pytest.mark.slow,
        ),
        pytest.param("by-data", "OUTSIDE", "order", marks=pytest.mark.slow),
        # One of 20,000 random sums is not that of exact ones.
        pytest.param("two-sum", "OUTSIDE", " looks like compensated sum", marks=pytest.mark.slow),
        pytest.param(
            "absent",
            "FAULTY",
            " looks like one sum of 4 products and c, 24 fraction bits",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_first_line_says_what_a_device_looks_like(name: str, verdict: str, says: str) -> None:
    found, line = first_line(name)
    assert found.name == verdict
    assert says in line


@pytest.mark.parametrize(("name", "all_kept"), [("exact", True), ("two-sum", False), ("kahan", False)])
def test_terms_at_three_heights_show_errors_that_are_summed_apart(name: str, all_kept: bool) -> None:
    asker = asked(name)
    told = cancelled_twice(asker.spec, asker.k, with_c=True)
    assert len(told.c) > 10
    numbers = numbers_of(asker.spec.d_format, asker.ask(told))
    assert all(x for x in numbers) is all_kept


@pytest.mark.slow
def test_what_no_design_does_is_outside_though_the_time_of_the_search_is_over() -> None:
    made = Identifying(asked("stuck"), 0, lambda _: None)
    made.cut = True
    assert made.whole().verdict is IdentifyVerdict.OUTSIDE


def test_a_random_rounding_has_no_state() -> None:
    asker = asked("stochastic")
    assert not kind_of_noise(asker, noisy_inputs(asker.spec, asker.k))


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("tree-m10", {True: 10, False: 10}),
        ("tree-m12", {True: 12, False: 12}),
        ("two-level", {True: 15}),
        ("c-after", {True: 24}),
        ("c-last", {True: 23}),
        ("fused19", {}),
    ],
)
def test_what_inner_sums_keep_is_seen(name: str, kept: dict[bool, int]) -> None:
    asker = asked(name)
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert inner_bits(asker.ask, asker.spec, asker.k, order) == kept


def test_groups_of_short_numbers_show_their_order() -> None:
    """Products of e4m3 reach not far down: those that are kept beside large ones are no hidden terms."""
    asker = asked("narrow-groups")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert str(order.root) == "(((0..7)+c)+(8..15))"
    assert inner_bits(asker.ask, asker.spec, asker.k, order) == {True: 13, False: 23}
    alone = isolated(asker)
    measured = rare_shapes(asker.spec, order, alone, {True: 13})[0].measured
    assert {"E8M13", "E5M13"} <= {*measured["part"]}


def test_an_inner_sum_that_cuts_hides_the_length_of_its_result() -> None:
    """Of sums of sums, cut after 20 bits, no more come through; those of exact sums of products are seen."""
    asker = asked("groups-then-cut")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    kept = inner_bits(asker.ask, asker.spec, asker.k, order)
    assert kept == {True: 10, False: 20}
    measured = rare_shapes(asker.spec, order, isolated(asker), kept)[0].measured
    assert "FP32" in measured["join"]
    assert "FP64" not in measured["join"]  # these sums of fp16 numbers are in fp32 as they are
    assert "FP32" not in measured["part"]


def test_one_product_without_c_has_no_accumulator() -> None:
    asker = asked("no-c")
    assert order_of(asker.ask, asker.spec.operands, 1).measured["order"] == "(0)"


def test_a_c_of_fewer_bits_is_seen() -> None:
    asker = asked("c-narrow")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert isolated(asker).c_bits == 20
    assert c_cut(asker.ask, asker.spec, asker.k, order) == {"fraction_bits": "24", "c_bits": "20"}


def test_a_c_that_is_cut_as_all_terms_are_is_no_narrow_one() -> None:
    asker = asked("fused19")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert not c_cut(asker.ask, asker.spec, asker.k, order)


def test_short_numbers_are_asked_below_a_larger_one() -> None:
    """Products of e4m3 reach 2^-18: a cut further below the largest term shows below a larger one only."""
    asker = asked("pairs-cut")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert str(order.root) == "((0+1)+(2+3)+(4+5)+(6+7)+c)"
    inner = inner_bits(asker.ask, asker.spec, asker.k, order)
    assert inner == {True: 19}
    assert not c_cut(asker.ask, asker.spec, asker.k, order)
    shapes = rare_shapes(asker.spec, order, isolated(asker), inner)
    (pairs,) = (x for x in shapes if x.pairs)
    made = [
        u.tree.settings for u in hypotheses(asker.spec, order, (0x7FC00000, "word"), {}, rare=pairs) if u.tree
    ]
    assert made
    assert all(("part", "fraction_bits", 24) in settings for settings in made)
    wide = {True: asker.spec.d_format.fraction_bits}
    assert not any(x.pairs for x in rare_shapes(asker.spec, order, isolated(asker), wide))


def of_design(name: str) -> Asker:
    unit = resolve(name)
    return Asker(ModelDevice(name), unit.operands, unit.k, unit.scale_format, unit.scale_block)


def test_flushed_factors_say_nothing_of_what_a_sum_keeps() -> None:
    """2^-13 is no product of a normal number of e4m3 with one of b that is flushed."""
    name = (
        "tree@steps=(join(part(0+1+2)+part(3+4+5))+c),part.conversion=RNE-E8M13,join.conversion=RNE-FP32,"
        "b_subnormals=signed_zero,a_format=e4m3,b_format=e4m3,c_format=fp32,d_format=fp32"
    )
    asker = of_design(name)
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert inner_bits(asker.ask, asker.spec, asker.k, order)[True] == 13


def test_a_narrow_c_shows_beside_products_that_are_cut_far_below() -> None:
    name = "tree@steps=(0..3+c),fraction_bits=30,c_bits=28,a_format=e4m3,b_format=e4m3,d_format=fp32"
    asker = of_design(name)
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert c_cut(asker.ask, asker.spec, asker.k, order) == {"fraction_bits": "30", "c_bits": "28"}


def test_an_exact_sum_of_narrow_results_is_cut_nowhere() -> None:
    """Below the least number of the result nothing shows, of products that reach deeper as of c."""
    asker = asked("inf-from-2^15")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert not c_cut(asker.ask, asker.spec, asker.k, order)


def test_a_largest_exponent_of_products_alone_is_seen() -> None:
    asker = asked("max-of-products")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    seen = c_cut(asker.ask, asker.spec, asker.k, order)
    assert seen == {"fraction_bits": "24", "e_max_of": "products"}


def test_a_c_that_shows_beside_products_alone_is_in_the_order() -> None:
    asker = asked("max-of-products")
    assert str(order_of(asker.ask, asker.spec.operands, asker.k).root) == "(0..3+c)"


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("in-frames", "(0..7+c)"),
        ("tree-cut", "((((0+1)+(2+3))+((4+5)+(6+7)))+c)"),
        ("fp16-groups", "(((((0..3)+c)+(4..7))+(8..11))+(12..15))"),
    ],
)
def test_the_order_of_sums_of_few_bits_is_seen(name: str, seen: str) -> None:
    """What is left of large terms in few bits, and numbers that these cannot hold, hide nothing."""
    asker = asked(name)
    assert str(order_of(asker.ask, asker.spec.operands, asker.k).root) == seen


def test_inner_sums_that_overflow_before_results_are_seen() -> None:
    asker = asked("fp16-groups")
    alone = isolated(asker)
    assert (alone.limit, alone.product_limit) == (None, 16)
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert rare_shapes(asker.spec, order, alone, {True: 10})[0].measured["part"][0] == "FP16"


@pytest.mark.parametrize(("name", "product_limit"), [("tree-e6m9", None), ("groups-e6m9", 32)])
def test_six_exponent_bits_of_inner_sums_are_tried(name: str, product_limit: int | None) -> None:
    """Products of bf16 show where they end, and that c does not; sums of those of fp16 may."""
    asker = asked(name)
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    alone = isolated(asker)
    assert (alone.limit, alone.product_limit) == (None, product_limit)
    shapes = rare_shapes(asker.spec, order, alone, {True: 9, False: 9})
    assert "E6M9" in shapes[0].measured["part"]
    assert any("E6M9" in x.products for x in shapes)


def test_what_lies_not_so_deep_is_no_narrow_c() -> None:
    """Products of e4m3 reach less far down than c: that both are kept as far as they go says nothing."""
    asker = asked("narrow-groups")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert not c_cut(asker.ask, asker.spec, asker.k, order)


def test_inner_sums_in_frames_are_blocks_that_a_flat_sum_may_have() -> None:
    asker = asked("in-frames")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    assert order.groups
    tried = [str(u.tree.root) for u in framed(asker.spec, order, (0x7FC00000, "word"), {}) if u.tree]
    assert "(part(0..3)+part(4..7)+c)" in tried
    assert "(part(0+4)+part(1+5)+part(2+6)+part(3+7)+c)" in tried


def test_a_frame_that_is_kept_from_block_to_block_looks_like_one_sum() -> None:
    unit = resolve(
        "tree@steps=(4..7+part(0..3+c)),fraction_bits=25,part.fraction_bits=25,part.normalised=false"
    )
    order = order_of(Asker(ModelDevice(unit.name), unit.operands, unit.k).ask, unit.operands, unit.k)
    assert str(order.root) == "(0..7+c)"
    tried = [str(u.tree.root) for u in framed(unit, order, (0x7FC00000, "word"), {}) if u.tree]
    assert str(unit.tree and unit.tree.root) in tried


@pytest.mark.parametrize(
    ("name", "orders"),
    [
        ("scaled-e2m1", ["(0..15+c)", "((0..7)+(8..15)+c)"]),
        (
            "scaled-e2m1-chain",
            ["(8..15+(0..7+c))", "(((0..7)+c)+(8..15))", "(12..15+(8..11+(4..7+(0..3+c))))"],
        ),
        (
            "scaled-e2m1-steps",
            ["(0..15+c)", "((0..15)+c)", "(8..15+(0..7+c))", "(12..15+(8..11+(4..7+(0..3+c))))"],
        ),
    ],
)
def test_scales_show_the_order_of_blocks_of_short_numbers(name: str, orders: list[str]) -> None:
    """Products of e2m1 reach from 2^-2 to 36: none of them hides another one of its block."""
    asker = asked(name)
    assert order_of(lambda x: asker.ask(with_scales(asker.spec, x)), asker.spec.operands, 16).root is None
    order = order_of_unit(asker.ask, asker.spec, asker.k)
    assert [str(x.root) for x in (order, *order.others)] == orders
    assert order.measured["order"] == " or ".join(orders)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scaled-e2m1", "scaled-e2m1-chain", "scaled-e2m1-steps"])
def test_trees_of_blocks_of_short_numbers_are_found(name: str) -> None:
    box, designs = BOXES[name], left_of_search(name)
    made = batch(designs[0], 16, 500, 3)
    words = zip(*(x.tolist() for x in made.named().values()), strict=True)
    given = [box(a, b, c, *scales) for a, b, c, *scales in words]
    assert all((replay(u, made) == given).all() for u in designs)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("scaled-chain", "(3+(2+(1+(0+c))))"),
        pytest.param("scaled-steps", "(4..7+(0..3+c))", marks=pytest.mark.slow),
    ],
)
def test_trees_with_scales_are_found(name: str, steps: str) -> None:
    found = identified(asked(name), vectors=500)
    assert found.verdict is IdentifyVerdict.IDENTIFIED
    assert found.simplest is not None
    assert found.simplest.startswith(f"tree@steps={steps}")
    assert found.simplest.endswith(f"scale=e8m0/{BOXES[name].block}")


@pytest.mark.slow
def test_the_search_finds_a_c_that_is_rounded_before_it_is_added() -> None:
    names = [u.name.partition(",a_format")[0] for u in left_of_search("chain-m12")]
    assert "tree@steps=(5+(4+(3+(2+(1+(0+(c))))))),conversion=RNE-E8M12,overflow=infinity" in names


@pytest.mark.slow
def test_the_search_finds_partial_sums_of_another_shape_than_the_result() -> None:
    """Lanes in fp32 that start from +0, rounded to bf16 in the end; fp16 sums that saturate before c."""
    lanes = {str(u.tree.root) for u in left_of_search("lanes-of-two") if u.tree is not None}
    start = "(join(join(part(4+part(0+z))+part(6+part(2+z)))+"
    assert lanes
    assert all(root.startswith(start) for root in lanes), lanes
    late = left_of_search("late-c-saturates")
    assert late
    assert {u.design.overflow for u in late} == {"largest"}


@pytest.mark.parametrize("name", ["exact", "lanes-of-two"])
def test_sums_beside_a_middle_show_a_second_rounding(name: str) -> None:
    """An exact sum goes up where a little is above the middle of two results; not if it is rounded first."""
    asker = asked(name)
    batch = beside_midpoints(asker.spec, asker.k, order_of(asker.ask, asker.spec.operands, asker.k))
    ones = [x for x in numbers_of(asker.spec.d_format, asker.ask(batch)[::2]) if x is not None]
    assert len(ones) >= 4
    assert (min(ones) < max(ones)) is (name == "lanes-of-two")


def test_a_sum_that_is_cut_may_be_rounded_twice() -> None:
    asker = asked("fused19")
    order = order_of(asker.ask, asker.spec.operands, asker.k)
    twice = Shapes(("FP64",), ("FP32",), (), twice=True)
    roots = [u.tree.root for u in hypotheses(asker.spec, order, (0, "word"), {}, rare=twice) if u.tree]
    assert {*map(str, roots)} == {"(join(0..7+c))"}


@pytest.mark.slow
def test_the_search_finds_groups_in_fp16_that_are_added_in_fp32() -> None:
    trees = [u.tree for u in left_of_search("fp16-groups") if u.tree is not None]
    assert {(x.stages["part"]["conversion"], x.stages["part"]["fraction_bits"]) for x in trees} == {
        ("RNE-FP16", 20)
    }


@pytest.mark.slow
def test_the_search_finds_sums_that_keep_their_frames() -> None:
    trees = [u.tree for u in left_of_search("in-frames") if u.tree is not None]
    assert {str(tree.root) for tree in trees} == {"(part(0..3)+part(4..7)+c)"}
    assert {(tree.stages["part"]["fraction_bits"], tree.stages["part"]["normalised"]) for tree in trees} == {
        (16, False)
    }


def left_of_search(name: str) -> list[UnitSpec]:
    """What the search leaves before anything is proved."""
    made = Identifying(asked(name), 0, lambda _: None)
    made._concluded = lambda: made._ended("it was stopped")  # type: ignore[method-assign]
    made.whole()
    return [resolve(s.family.name(s.simplest()[0])) for s in made.search.alive]


def test_products_that_end_below_large_terms_show_their_order() -> None:
    """Of products rounded to fp16 toward zero those of 2^30 are 65504, which cancels no other term."""
    asker = asked("products-cut")
    assert str(order_of(asker.ask, asker.spec.operands, asker.k).root) == "(3+(2+(1+(0+c))))"


def test_which_operand_has_its_subnormals_flushed_is_seen_in_large_products() -> None:
    """Random subnormals of bf16 are too small to be seen in a sum."""
    asker = asked("subnormal-a-of-bf16")
    batch = subnormal_factors(asker.spec, asker.k)
    answers = asker.ask(batch)
    formats = "a_format=bf16,b_format=bf16,c_format=fp32,d_format=fp32"
    of = f"tree@steps=(3+(2+(1+(0+c)))),overflow=infinity,{formats}"
    both, one = (f",operand_subnormals=positive_zero{more}" for more in ("", ",b_subnormals=kept"))
    assert [bool((replay(resolve(of + x), batch) == answers).all()) for x in ("", both, one)] == [
        False, False, True,
    ]  # fmt: skip


@pytest.mark.slow
def test_two_levels_of_cut_sums_are_found_among_10_12_designs() -> None:
    trees = [u.tree for u in left_of_search("two-level-cut") if u.tree is not None]
    assert {(x.stages["part"]["fraction_bits"], x.stages["part"]["conversion"]) for x in trees} == {
        (22, "RZ-E8M15")
    }
    assert {(x.stages["join"]["fraction_bits"], x.stages["join"]["conversion"]) for x in trees} == {
        (25, "RZ-FP32")
    }


@pytest.mark.slow
def test_subnormal_partial_sums_are_normalised_where_the_device_does() -> None:
    """fp16's smallest partial sums lie far above the last place of c, which a sum of 23 bits keeps."""
    trees = [u.tree for u in left_of_search("groups-of-fp16") if u.tree is not None]
    assert {(x.stages["part"]["conversion"], x.stages["join"]["normalise_products"]) for x in trees} == {
        ("RNE-FP16", True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tree-e6m9", "groups-e6m9"])
def test_the_search_finds_sums_of_six_exponent_bits(name: str) -> None:
    trees = [u.tree for u in left_of_search(name) if u.tree is not None]
    assert {x.stages["part"]["conversion"] for x in trees} == {"RNE-E6M9"}


def test_a_c_that_is_not_added_is_no_overflow() -> None:
    """Powers of two that no product of fp16 reaches are asked as c, which gives 0."""
    assert isolated(asked("two-level-without-c")).limit is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("two-level-without-c", "part.conversion=RNE-E8M13,part.fraction_bits=20"),
        ("tf32-half-away", "operand_rounding=RNA-E8M10"),
        ("e5m2-result", "tree@steps=(0..7+c),fraction_bits=20"),
        ("odd-lanes", "RO-E8M11"),
        ("lanes-of-fp16", "part(3+part(2+part(1+part(0))))"),
    ],
)
def test_the_search_finds_designs_of_other_formats_and_operands(name: str, says: str) -> None:
    names = [",".join(x for x in u.name.split(",") if "carry" not in x) for u in left_of_search(name)]
    assert any(says in x for x in names), names


@pytest.mark.slow
def test_structures_of_which_no_design_gives_all_answers_are_put_off() -> None:
    designs = left_of_search("fused-saturates")
    assert {(u.design.fraction_bits, u.design.overflow) for u in designs} == {(20, "largest")}


@pytest.mark.slow
def test_the_search_finds_a_c_of_fewer_bits() -> None:
    designs = {(u.design.fraction_bits, u.design.c_bits) for u in left_of_search("c-narrow")}
    assert designs == {(24, 20)}


@pytest.mark.slow
def test_the_search_finds_a_largest_exponent_of_products_alone() -> None:
    designs = {(u.design.fraction_bits, u.design.e_max_of) for u in left_of_search("max-of-products")}
    assert designs == {(24, "products")}


@pytest.mark.slow
def test_the_first_line_names_the_kind() -> None:
    verdict, line = first_line("lost")
    assert verdict is IdentifyVerdict.OUTSIDE
    assert line == ": callable:lost looks like product 3 never added: 1·1 there gives 0"


@pytest.mark.slow
def test_the_order_of_what_is_outside_is_said_in_words() -> None:
    found = identified(asked("c-twice"), vectors=0, seconds=600)
    assert found.verdict is IdentifyVerdict.OUTSIDE
    assert (found.measured or {})["looks like"].startswith("c counted 2 times")
    other = replace(found, measured={"order": "(3+(2+(1+(0+c))))"})
    assert "order: products added one by one to c" in identification_view(other)
    several = replace(found, measured={"order": "((0..3)+c) or (1+(0+c))"})
    assert "order: one sum of 4 products, then c or products added one by one to c" in identification_view(
        several
    )


def test_the_design_is_said_in_words() -> None:
    found = identified(asked("subtracts"), vectors=2000, seconds=600)
    assert found.verdict is IdentifyVerdict.IDENTIFIED
    words = "products added one by one to c; results rounded to fp16; products of odd k subtracted"
    head = identification_view(replace(found, layout=(1, 0)))[0]
    assert isinstance(head, Headline)
    assert head.rest.endswith("; its operands meet in another order")
    assert any(
        words in (x if isinstance(x, str) else getattr(x, "rest", "")) for x in identification_view(found)
    )


def test_subnormals_that_are_converted_first_are_none_in_words() -> None:
    """The subnormals of e4m3 are normal fp16 numbers, those of e5m2 are not."""
    flushed = "tree@steps=(0+1+c),operand_subnormals=signed_zero,a_format=e4m3,b_format=e5m2"
    assert in_words(resolve(flushed), 2).endswith("; subnormal a and b taken as zero")
    assert in_words(resolve(f"{flushed},converted=fp16"), 2).endswith("; subnormal b taken as zero")


@pytest.mark.parametrize("calls", [1, 3, 5])
def test_a_search_that_is_stopped_gives_what_it_has(calls: int) -> None:
    """Ctrl-C in any call of the device: the answers so far are kept, and no verdict is invented."""
    asker = asked("subtracts")
    run, count = asker.device.run, 0

    def stopped(*args: object) -> object:
        nonlocal count
        count += 1
        if count >= calls:
            raise KeyboardInterrupt
        return run(*args)  # type: ignore[arg-type]

    asker.device.run = stopped  # type: ignore[method-assign, assignment]
    made = Identifying(asker, 100, lambda _: None).whole()
    assert made.verdict in (IdentifyVerdict.UNFINISHED, IdentifyVerdict.REMAINING)
    assert "it was stopped" in made.reason
    assert len(made.history[1]) == len(asker.history[1])
    for name in made.classes[0] if made.classes else ():
        assert not asker.misfits(resolve(name)).size


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inf-from-2^15", "subnormal-a"])
def test_what_looks_like_a_kind_is_found_all_the_same(name: str) -> None:
    """A likeness decides nothing: the space is searched, and beside a design that fits none is said."""
    found = identified(asked(name), vectors=0, seconds=600)
    assert found.verdict in FITTING, found.reason
    assert "looks like" not in (found.measured or {})


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in BOXES if name not in ("tree-m10", "two-level")])
def test_every_box_is_what_it_is(name: str) -> None:
    """Never a false IDENTIFIED: what is found gives random answers, too; what is outside says its kind."""
    box, asker = BOXES[name], asked(name)
    found = identified(asker, vectors=2000, seconds=900)
    if box.inside:
        assert found.verdict in FITTING, found.reason
        undecided = [x for x in found.axes if x.settled is Settled.UNDECIDED]
        assert bool(undecided) is (found.verdict is IdentifyVerdict.REMAINING)
        inputs = asker.prepared(batch(asker.spec, box.k, 3000, 77))
        rows = zip(*(x.tolist() for x in inputs.named().values()), strict=True)
        given = np.array([box(*row) for row in rows], np.uint64)
        d = asker.spec.d_format
        number = ~np.asarray(d.is_nan(given))
        for member in found.classes[0]:
            assert (replay(resolve(member), inputs) == given)[number].all(), member
        return
    head = identification_view(found)[0]
    assert isinstance(head, Headline)
    assert found.verdict not in FITTING
    assert box.says in f"{head.word}{head.rest} {found.reason}"


def test_a_box_runs_as_a_program(tmp_path: Path) -> None:
    program = f"exec:{sys.executable} {Path(__file__).parents[1] / 'boxes.py'} no-c"
    with opened(program) as device:
        asker = asker_of(device, "fp16,fp16,fp32,fp32", 1, None, None, tmp_path)
        assert order_of(asker.ask, asker.spec.operands, 1).measured["order"] == "(0)"
