"""Trees on arrays against the oracle, and designs against their trees."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of, tree_unit
from tcformal.design.trees.tree import Step, Tree
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.errors import InputError
from tcformal.oracle.exact import unit_dot
from tcformal.query.explain.explain import explain
from tcformal.simulation.matrix_unit import Unit, replay
from tcformal.simulation.operands.batch import batch, witness_at
from tcformal.simulation.operands.inputs import inputs_to_try, pool_of
from tcformal.simulation.replay import oracle_result

#: Designs whose trees take their operands in another order, and so are other circuits.
OTHERS = (
    "hopper/emulated.mma.m16n8k16.f32.e4m3.e5m2.f32", "cdna2/v_mfma_f32_32x32x4bf16", "arm/bfdot.ebf0",
    "sequential@products=6,k=6,order=odd_first,conversion=RZ-FP32,accumulator=RNE-FP32",
    "sequential@products=6,k=12,summation=two_chains",
)  # fmt: skip


def oracle_mismatches(spec: UnitSpec, n: int, seed: int) -> list[str]:
    """The inputs on which lanes and oracle differ."""
    x = batch(spec, spec.k, n, seed)
    lanes = Unit(spec).dot_bits(x.a, x.b, x.c)
    rows = [witness_at(x, i) for i in range(n)]
    return [
        f"{spec.name}: {w}" for w, d in zip(rows, lanes, strict=True) if unit_dot(spec, w.a, w.b, w.c) != d
    ]


def random_tree(rng: random.Random) -> UnitSpec:
    """A legal tree of up to six products, with parameters of stages, on random formats."""
    while True:
        parts: list[Any] = [*range(rng.randint(1, 6)), *rng.choice([["c"], ["c"], ["c", "zero"], []])]
        rng.shuffle(parts)
        while len(parts) > 1 or not isinstance(parts[0], Step):
            size = rng.randint(1, min(len(parts), 4))
            parts = [*parts[size:], Step(tuple(parts[:size]), rng.choice(["p", "q", ""]))]
        pool = {
            "fraction_bits": (None, 3, 10, 24), "alignment_rounding": ("RD", "RNE", "RNU"),
            "carry_bits": (0, 2), "minus_one": (3, 27),
            "conversion": ("RZ-FP32", "RNE-E8M13", "RU-FP32", "RNE-FP32:9"), "zero_exponent": ("own", -20, 3),
            "normalise_products": (True,), "normalised": (False, False), "second_fraction_bits": (2, 5),
            "c_alignment_rounding": ("RNA",), "c_bits": (5, 12), "e_max_of": ("products",),
        }  # fmt: skip
        used = {step.stage for step in parts[0].steps()} - {""}
        rows = [(s, n, rng.choice(v)) for s in used for n, v in pool.items() if rng.random() < 0.5]
        a = rng.choice(["fp16", "e4m3", "bf16"])
        base = resolve(
            f"tfdpa@a_format={a},b_format=e5m2,fraction_bits={rng.choice(['exact', '6', '20'])},"
            f"c_subnormals={rng.choice(['kept', 'signed_zero'])},zero_sign={rng.choice(['ieee', 'sum'])},"
            f"product_rounding={rng.choice(['none', 'RNE-FP32', 'RZ-FP16'])},"
            f"result_subnormals={rng.choice(['kept', 'kept', 'tiny_zero'])},"
            f"overflow={rng.choice(['ieee', 'largest'])},negated={rng.choice(['none', 'none', 'odd', 'all'])}"
        )
        wide = rng.choice([None, None, FORMATS["fp32"]])
        try:
            return tree_unit(base, Tree(parts[0], tuple(rows), wide))
        except InputError:
            continue


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_agree_with_the_oracle(seed: int) -> None:
    rng = random.Random(seed)
    assert [text for _ in range(6) for text in oracle_mismatches(random_tree(rng), 40, seed)] == []


@pytest.mark.parametrize(
    "steps",
    [
        "steps=(s(0..15)+s(16..31)+s(32..47)+s(48..63)+c),s.normalised=false,s.fraction_bits=20",
        "steps=(p(0..7+z)+(8..31)+p(32..63+c)),p.conversion=RZ-E8M12,p.alignment_rounding=RNU",
    ],
)
def test_block_scales_inside_a_tree_agree_with_the_oracle(steps: str) -> None:
    spec = resolve(f"rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3@{steps}")
    x = batch(spec, 2 * spec.k, 60, 3)
    lanes = Unit(spec).dot_bits(x.a, x.b, x.c, x.scale_a, x.scale_b)
    assert [oracle_result(spec, witness_at(x, i)) for i in range(60)] == lanes.tolist()


@pytest.mark.parametrize("zero", ["none", "own"])
def test_sums_that_keep_their_frame_agree_with_the_oracle_where_terms_are_normalised(zero: str) -> None:
    settings = f"normalise_products=true,fraction_bits=12,zero_exponent={zero}"
    unit = resolve(
        f"tree@steps=(s(0..3)+s(4..7)+c),s.normalised=false,s.{settings.replace(',', ',s.')},{settings},"
        "a_format=bf16,b_format=fp16,c_format=fp32,d_format=fp32"
    )
    x = pool_of(unit, 8, 120, 5)
    assert [oracle_result(unit, witness_at(x, i)) for i in range(len(x.c))] == replay(unit, x).tolist()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_random_trees_agree_with_the_oracle(seed: int) -> None:
    rng = random.Random(seed)
    assert [text for _ in range(100) for text in oracle_mismatches(random_tree(rng), 60, seed)] == []


def agree(spec: UnitSpec, n: int) -> None:
    """A design and its tree give the same on all inputs tried, and the tree what the oracle gives."""
    made = tree_of(spec, spec.k)
    assert made is not None
    x = inputs_to_try(spec, spec.k, n, 7)
    assert np.array_equal(Unit(spec).dot_bits(x.a, x.b, x.c), Unit(made).dot_bits(x.a, x.b, x.c))
    assert oracle_mismatches(made, 20, 3) == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_design_and_its_tree_agree(name: str) -> None:
    agree(resolve(name), 600)


@pytest.mark.long
@pytest.mark.parametrize("name", [n for n in distinct_designs() if tree_of(catalogue()[n], catalogue()[n].k)])
def test_every_design_and_its_tree_agree(name: str) -> None:
    agree(catalogue()[name], 10_000)


def test_a_subnormal_of_a_narrow_format_is_normal_where_operands_are_converted() -> None:
    """2^-9 in e4m3 has the exponent -6, in fp16 the exponent -9, and so leaves more of c."""
    name = "tree@steps=(0+c),a_format=e4m3,b_format=e4m3,fraction_bits=4,conversion=RZ-FP32"
    narrow, wide = Unit(resolve(name)), Unit(resolve(f"{name},converted=fp16"))
    a, b, c = (np.array(x, np.uint64) for x in ([[1]], [[0x38]], [0x37800000]))  # 2^-9 · 1 + 2^-16
    assert [float(u.dot_bits(a, b, c).view(np.float32)[0]) for u in (narrow, wide)] == [2**-9, 2**-9]
    c = np.array([0x39800000], np.uint64)  # 2^-12: below the last bit at 2^-6, above it at 2^-9
    assert [float(u.dot_bits(a, b, c).view(np.float32)[0]) for u in (narrow, wide)] == [2**-9, 2**-9 + 2**-12]


def test_a_subnormal_partial_sum_counts_as_c_does() -> None:
    """2^-127 + 2^-127 is 2^-126 where the first sum stays, 2^-127 where it counts as a zero."""
    name = "tree@steps=(1+(0+c)),a_format=bf16,b_format=bf16,c_subnormals="
    a, b, c = (np.array(x, np.uint64) for x in ([[0x0040, 0x0040]], [[0x3F80, 0x3F80]], [0]))
    kept, flushed = (Unit(resolve(name + rule)).dot_bits(a, b, c)[0] for rule in ("kept", "signed_zero"))
    assert (kept, flushed) == (0x00800000, 0x00400000)


def test_calls_are_chained() -> None:
    """Two calls of two products are one of four in blocks."""
    two, four = (resolve(f"tree@steps={steps},fraction_bits=9") for steps in ("(0+1+c)", "(2+3+(0+1+c))"))
    x = inputs_to_try(two, 4, 300, 1)
    one, other = (Unit(u).dot_bits(x.a, x.b, x.c) for u in (two, four))
    assert np.array_equal(one, other)
    sums = [step.operands for step in explain(two, witness_at(x, 5)).steps]
    assert sums[1] == ("a[2]·b[2]", "a[3]·b[3]", "result of block 0")


def test_an_explanation_names_the_sums() -> None:
    trace = explain(resolve("tree@steps=p((0+1)+z+c),p.fraction_bits=9"), ["1", "2"], ["1", "1"], "-inf")
    assert [step.operands for step in trace.steps] == [
        ("a[0]·b[0]", "a[1]·b[1]"), ("Σ a[0]·b[0]…a[1]·b[1]", "c", "+0"),
    ]  # fmt: skip
    assert trace.steps[1].special == "-Inf"
