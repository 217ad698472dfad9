"""Trees: what they refuse, their text and names, the builders, and designs as trees."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampled import one_in
from tcformal.design.catalog import catalogue, distinct_designs, floating
from tcformal.design.names import resolve
from tcformal.design.space import space
from tcformal.design.trees.arrangements import combined, groups, permuted, running, tree_of, tree_unit
from tcformal.design.trees.tree import STAGE_PARAMETERS, Step, Tree, read_steps, stage_designs, tree
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.query.assume import Assumptions
from tcformal.query.pair import question
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import batch_of
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result

#: One unit of each way to sum.
SAMPLE = (
    "volta/mma.m8n8k4.f32.f16.f16.f32", "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "cdna1/v_mfma_f32_32x32x2f32", "cdna1/v_mfma_f32_32x32x8f16", "arm/bfdot.ebf1",
)  # fmt: skip


@st.composite
def trees(draw: Any) -> Tree:
    """Up to nine products, in sums of any shape and three stages."""
    parts: list[Any] = [*range(draw(st.integers(1, 9))), *draw(st.sampled_from([[], ["c"], ["c", "zero"]]))]
    parts = draw(st.permutations(parts))
    stage = st.sampled_from(["", "p", "q2"])
    while len(parts) > 1 or not isinstance(parts[0], Step):
        size = draw(st.integers(min(2, len(parts)), len(parts)))
        parts = [*parts[size:], Step(tuple(parts[:size]), draw(stage))]
    values = {
        "fraction_bits": st.sampled_from([8, 24]), "conversion": st.sampled_from(["RZ-FP32", "RU-E8M20"]),
        "normalise_products": st.booleans(), "zero_exponent": st.sampled_from([-9, "own"]),
    }  # fmt: skip
    used = {step.stage for step in parts[0].steps()} - {""}
    rows = [(s, n, draw(values[n])) for s in sorted(used) for n in draw(st.sets(st.sampled_from([*values])))]
    return Tree(parts[0], tuple(rows))


@given(trees())
@settings(max_examples=60, deadline=None)
def test_a_tree_is_what_its_text_and_its_name_say(made: Tree) -> None:
    assert read_steps(str(made.root)) == made.root
    base = resolve("tfdpa@fraction_bits=13,zero_exponent=own,carry_bits=5,nan_word=0x7fc00001")
    spec = tree_unit(base, made)
    again = resolve(spec.name)
    assert again == spec
    assert "," not in str(made.root)
    assert "=" not in str(made.root)


def test_a_tree_splits_another_of_which_it_keeps_every_sum() -> None:
    pair = Step((0, 1))
    whole, pairs = Step((0, 1, 2, 3, "c")), Step((pair, Step((2, 3)), "c"))
    assert pairs.splits(whole)
    assert pairs.splits(pairs)
    assert pairs.splits(None)
    assert not whole.splits(pairs)
    assert not Step((Step((1, 2)), 0, 3)).splits(pairs)


def test_children_have_no_order() -> None:
    mixed = Step(("zero", "c", Step((5, 2)), 3, Step((1, 4, "c")), 0))
    assert str(mixed) == "(0+3+(1+4+c)+(2+5)+c+z)"
    assert mixed == read_steps(" ( c + (c+4+1) + z + 0 + (5+2) + 3 ) ")
    assert str(Step(tuple(range(9)))) == "(0..8)"


NO_TREE = "expected a tree of sums such as p(q(0+1)+q(2..5)+c) for steps, but got "
MX = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"
SENTENCES: list[tuple[Callable[[], object], str]] = [
    (lambda: Step(()), "expected at least one child of a step, but got none"),
    (lambda: Step((-1,)), "expected a k, 'c', 'zero' or a Step as child of a step, but got -1"),
    (lambda: Step((0,), "z"), "expected a stage named by small letters, not c or z, but got 'z'"),
    (lambda: Tree(Step((0, 2))), "expected the products 0, 1, … once each in a tree, at most 256, but got"),
    (lambda: read_steps("(0..300)"), "expected at most 256 products such as 2..5 for steps, but got"),
    (lambda: read_steps("(0+c) 1"), NO_TREE),
    (lambda: tree(Step((0,)), {"p": {"conversion": "RZ-FP32"}}),
     "expected a stage of (0), but got 'p'"),
    (lambda: resolve("tree@steps=p(0+c),p.nan_word=3"), "expected a known parameter of a stage, but got"),
    (lambda: resolve("tree@steps=p(0+c),p.carry_bits=3"), "expected fraction_bits to be given with "),
    (lambda: resolve("tree@steps=(0+c),summation=tr"), "expected no summation beside steps, but got tr"),
    (lambda: resolve("tree@steps=(0+1+c),nan_rule=b_sum_a"), "expected sums of at most one product for"),
    (lambda: resolve("sequential@p.conversion=RZ-FP32"), "expected an order of summation such as steps=(0.."),
    (lambda: resolve(f"{SAMPLE[0]}@steps=(0+c)"), "expected a tree of the 4 products of volta/"),
    (lambda: resolve("tree@steps=(0+c),normalised=false,fraction_bits=4"), "expected normalised=true in"),
    (lambda: resolve("tfdpa@normalised=false"), "expected normalised=false in a tree's inner sum alone"),
    (lambda: resolve("tree@steps=(p(0+1)+c),p.normalised=false"), "expected fraction_bits with normalised="),
    (lambda: resolve("tree@steps=(0+c),converted=fp32,special_words=numbers"),
     "expected special_words=special beside converted=fp32"),
    (lambda: resolve(f"{MX}@steps=(0..31+c),converted=fp16"), "expected a tree of products as they are"),
    (lambda: groups(8, 3), "expected k to be a multiple of size=3, but got 8"),
    (lambda: stage_designs(tree(Step((0, "c"))), resolve("sequential@products=1").design),
     "expected summation=fused beside a tree, but got sequential"),
    (lambda: tree_of(resolve(SAMPLE[0]), 6), "expected k to be a multiple of 4 for volta/"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "sentence"), SENTENCES)
def test_what_means_nothing_is_refused_in_one_sentence(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_builders_make_the_usual_arrangements() -> None:
    assert groups(6, 3) == [(0, 1, 2), (3, 4, 5)]
    assert groups(6, 3, "strided") == [(0, 2, 4), (1, 3, 5)]
    assert groups(6, 3, "reversed") == [(3, 4, 5), (0, 1, 2)]
    assert str(running(groups(4, 2), "c")) == "(2+3+(0+1+c))"
    assert str(running(groups(3, 1, "reversed"), "c")) == "(0+(1+(2+c)))"
    sums = [Step(ks, "g") for ks in groups(4, 2, "strided")]
    assert str(combined([*sums, "c"], "fused")) == "(g(0+2)+g(1+3)+c)"
    assert str(combined(range(5), "pairwise")) == "(4+((0+1)+(2+3)))"
    chain = combined(["c", *range(3)], "chain", "s")
    assert isinstance(chain, Step)
    assert str(chain) == "s(2+s(1+s(0+c)))"
    assert str(permuted(chain, [2, 0, 1])) == "s(1+s(0+s(2+c)))"


def test_a_stage_has_what_it_names_and_else_the_parameters_of_the_unit() -> None:
    spec = resolve(f"{SAMPLE[0]}@steps=p(q(0+1)+q(2+3)+c),p.conversion=RNE-FP32,q.fraction_bits=exact")
    assert spec.tree is not None
    made = stage_designs(spec.tree, spec.design)
    assert made["p"] == replace(spec.design, conversion="RNE-FP32")
    assert (made["q"].fraction_bits, made["q"].zero_exponent, made["q"].conversion) == (
        None,
        "none",
        "RZ-FP32",
    )
    assert set(made) == {"p", "q"}
    assert set(STAGE_PARAMETERS) <= set(spec.design.parameters())


def same_circuit(spec: UnitSpec) -> bool:
    """Whether the tree of a unit is the very circuit of it."""
    made = tree_of(spec, spec.k)
    assert made is not None
    assert resolve(made.name).tree == made.tree
    return question(spec, made, Assumptions()).same_definition


@pytest.mark.parametrize("name", SAMPLE)
def test_a_design_and_its_tree_are_one_circuit(name: str) -> None:
    assert same_circuit(resolve(name))


@pytest.mark.long
def test_most_designs_and_their_trees_are_one_circuit() -> None:
    made = [catalogue()[name] for name in distinct_designs(floating)]
    made = [spec for spec in made if tree_of(spec, spec.k) is not None]
    same = [spec for spec in made if same_circuit(spec)]
    assert (len(made), len(same)) == (175, 148)


@pytest.mark.parametrize(
    "name",
    [
        "cdna3/v_mfma_f32_32x32x8_f16", "power10/xvbf16ger2pp",
        "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
        "sequential@products=4,c_subnormals=signed_zero",
    ],
)  # fmt: skip
def test_some_designs_are_no_tree(name: str) -> None:
    spec = resolve(name)
    assert tree_of(spec, spec.k) is None


# ------------------------------------------------------------------------------ depth and length
def nested(levels: int, base: str = "0+c") -> str:
    """A tree of one product whose sums lie in each other."""
    return "(" * levels + base + ")" * levels


def chain(length: int) -> str:
    """A chain of sums of one product each, from c on."""
    return "(" * length + "c" + "".join(f"+{k})" for k in range(length))


@pytest.mark.parametrize("steps", one_in(2, [nested(258), chain(256)]), ids=["brackets", "chain"])
def test_the_deepest_trees_are_computed(steps: str) -> None:
    """By the circuit and by the oracle, which agree; and they survive the way to another process."""
    unit = resolve(f"tree@steps={steps},a_format=fp16,b_format=fp16")
    w = Witness((0x3C00,) * unit.k, (0x3C00,) * unit.k, 0x3F800000)
    assert int(replay(unit, batch_of([w]))[0]) == oracle_result(unit, w)
    assert unit.tree is not None
    assert pickle.loads(pickle.dumps(unit.tree)) == unit.tree
    assert copy.deepcopy(unit.tree.root) == unit.tree.root
    assert repr(unit.tree.root).startswith("<Step")


@pytest.mark.parametrize(
    "steps",
    [nested(259), nested(350), nested(5000), nested(100_000), chain(599), chain(5000), nested(300, "z+0")],
    ids=["259", "350", "5000", "100000", "chain of 599", "chain of 5000", "zeros"],
)
def test_deeper_trees_are_refused_in_one_sentence(steps: str) -> None:
    with pytest.raises(InputError, match="expected at most 258 sums in each other") as error:
        resolve(f"tree@steps={steps}")
    assert len(str(error.value)) < 400


def test_deeper_steps_are_refused_as_they_are_built() -> None:
    made = Step((0, "c"))
    for _ in range(257):
        made = Step((made,))
    with pytest.raises(InputError, match="expected at most 258 sums in each other"):
        Step((made,))


DIGITS = "9" * 5000


@pytest.mark.parametrize(
    "name",
    [
        f"tree@steps=(0..{DIGITS}+c)", "tree@steps=(0..9999999999999999999+c)", f"tree@steps=({DIGITS}+c)",
        f"tree@steps={DIGITS}", f"tfdpa@fraction_bits={DIGITS}", f"tfdpa@products=0x{DIGITS}",
        f"tfdpa@k={DIGITS}", f"valpey@terms=-{DIGITS}", f"valpey@carry_bits={DIGITS}",
        f"tfdpa@a_format=e5m{DIGITS}", f"tree@steps=(0+c),{'s' * 5000}.conversion=RZ-FP32",
    ],
    ids=lambda name: name[:24],
)  # fmt: skip
def test_long_numbers_are_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(InputError) as error:
        resolve(name)
    assert "expected" in str(error.value)


@pytest.mark.parametrize(
    "text", [f"spread={DIGITS}", f"exponents={DIGITS}..3", f"exponents=-{DIGITS}..{DIGITS}", f"c={DIGITS}"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_long_numbers_of_assumptions_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected") as error:
        Assumptions.of("valpey@terms=2", text)
    assert len(str(error.value)) < 500


def test_long_numbers_of_a_range_are_refused() -> None:
    with pytest.raises(InputError, match="expected"):
        space(["tfdpa@products=2"], vary=[f"fraction_bits=1..{DIGITS}"])
