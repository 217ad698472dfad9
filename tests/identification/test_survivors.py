"""Designs with parameters as data give what each design gives alone; known bits; tables."""

from __future__ import annotations

import numpy as np
import pytest

from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec
from tcformal.identification import survivors as module
from tcformal.identification.survivors import Search, Survivors, Table
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, rows_of
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.structures import Family, parametric_family

TREES = {
    "fused": "tree@steps=(0..3+c),fraction_bits=24",
    "bf16": "tree@steps=(0..3+c),fraction_bits=24,a_format=bf16,b_format=bf16",
    "max-of-products": ("tree@steps=(0..3+c),fraction_bits=24,e_max_of=products,a_format=bf16,b_format=bf16"),
    "groups": "tree@steps=p(q(0+1)+q(2+3)+c),p.fraction_bits=24,q.fraction_bits=30,q.conversion=RNE-E8M13",
    "rounded": "tree@steps=((0+c)+1),fraction_bits=exact,product_rounding=RNE-FP32,conversion=RNE-FP32",
    "fp16": "tree@steps=(0..3+c),fraction_bits=22,c_format=fp16,d_format=fp16,normalise_products=true",
}


def tree(name: str) -> UnitSpec:
    return resolve(TREES[name])


def some(family: Family, n: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    return np.stack([rng.integers(0, len(axis.values), n) for axis in family.axes], axis=1).astype(np.int16)


@pytest.mark.parametrize("name", TREES)
def test_a_family_gives_what_each_of_its_designs_gives(name: str) -> None:
    unit = tree(name)
    family = parametric_family(unit)
    pool = inputs_to_try(unit, unit.k, 240, 3)
    designs = some(family, 12)
    for design, outputs in zip(designs, family.outputs(designs, pool), strict=True):
        alone = replay(resolve(family.name(design)), pool)
        assert (alone == outputs).all(), f"{family.name(design)}: {np.flatnonzero(alone != outputs)[:5]}"


def test_an_exact_sum_of_a_family_holds_the_largest_c_beside_the_least_products() -> None:
    unit = tree("max-of-products")
    zeros = ["none", "own", "-266"]
    family = parametric_family(unit, {"carry_bits": ["3", "exact"], "zero_exponent": zeros})
    pool = inputs_to_try(unit, unit.k, 400, 3)
    designs = np.array([(z, c) for z in range(3) for c in range(2)], np.int16)
    for design, outputs in zip(designs, family.outputs(designs, pool), strict=True):
        assert (replay(resolve(family.name(design)), pool) == outputs).all(), family.name(design)


def test_designs_of_a_family_have_names_of_their_own() -> None:
    family = parametric_family(tree("groups"))
    designs = np.unique(some(family, 40), axis=0)
    names = {family.name(design) for design in designs}
    assert len(names) == len(designs)


@pytest.mark.parametrize("name", ["fused", "groups", "fp16"])
def test_known_bits_hold_for_every_value_of_what_is_unknown(name: str) -> None:
    unit = tree(name)
    family = parametric_family(unit)
    pool = inputs_to_try(unit, unit.k, 60, 4)
    designs = some(family, 16)
    rng = np.random.default_rng(6)
    hidden_some = 0
    for row in range(0, len(pool.c), 6):
        unknown = rng.random((16, len(family.axes))) < 0.3
        seen = family.known(designs, pool, row, unknown)
        hidden_some += int((seen.unknown != 0).sum())
        for _ in range(4):
            others = np.where(unknown, some_of(family, rng, 16), designs).astype(np.int16)
            exact = family.known(others, pool, row, np.zeros((1, len(family.axes)), np.bool_))
            assert not exact.unknown.any()
            assert ((exact.value & ~seen.unknown) == seen.value).all()
    assert hidden_some


def some_of(family: Family, rng: np.random.Generator, n: int) -> np.ndarray:
    return np.stack([rng.integers(0, len(axis.values), n) for axis in family.axes], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fused", pytest.param("fp16", marks=pytest.mark.long)])
def test_answers_never_remove_the_design_that_gives_them(name: str) -> None:
    unit = tree(name)
    family = parametric_family(unit)
    pool = inputs_to_try(unit, unit.k, 60, 8)
    design = some(family, 1)
    answers = family.outputs(design, pool)[0]
    survivors = Survivors(family, np.random.default_rng(1))
    for row in range(0, len(pool.c), 10):
        survivors.take(rows_of(pool, slice(row, row + 10)), answers[row : row + 10])
        assert all(design[0, axis] in survivors.values(axis) for axis in range(len(family.axes)))
    assert 0 < survivors.count < family.size
    # Every design that is left gives the answers that are settled.
    survivors.settle()
    assert all(design[0, axis] in survivors.values(axis) for axis in range(len(family.axes)))
    waiting = {(*batch.a[row], *batch.b[row], batch.c[row]) for batch, row, _ in survivors.open}
    settled = [row for row in range(len(pool.c)) if (*pool.a[row], *pool.b[row], pool.c[row]) not in waiting]
    assert settled
    given = family.outputs(survivors.some(8), pool)[:, settled]
    assert (given == answers[settled]).all()


def test_a_sample_holds_all_that_is_left_where_it_may() -> None:
    family = parametric_family(tree("fused"))
    survivors = Survivors(family, np.random.default_rng(1))
    few = survivors.sample(5)
    assert len(np.unique(few, axis=0)) == len(few) <= 5
    survivors.tables = [
        Table(t.axes, t.rows[:2] if i < 2 else t.rows[:1]) for i, t in enumerate(survivors.tables)
    ]
    left = survivors.sample(4)
    assert survivors.count == 4 == len(np.unique(left, axis=0))


def test_an_answer_that_no_design_gives_leaves_none() -> None:
    unit = tree("fused")
    family = parametric_family(unit)
    pool = inputs_to_try(unit, unit.k, 60, 8)
    survivors = Survivors(family, np.random.default_rng(1))
    wrong = family.outputs(some(family, 1), pool)[0, 7:8] ^ np.uint64(1 << 30)
    survivors.take(rows_of(pool, slice(7, 8)), wrong)
    assert survivors.count == 0


def test_designs_of_the_catalogue_are_points_of_their_families() -> None:
    unit = resolve("hopper/mma.m16n8k16.f32.f16.f16.f32")
    made = tree_of(unit, 16)
    assert made is not None
    family = parametric_family(made)
    parameters = {**unit.design.parameters(), "carry_bits": "exact"}
    design = np.array([[axis.values.index(str(parameters[axis.name])) for axis in family.axes]], np.int16)
    pool = inputs_to_try(unit, 16, 400, 9)
    assert (family.outputs(design, pool)[0] == replay(unit, pool)).all()


def test_a_climb_changes_two_parameters_where_one_is_no_better() -> None:
    """As a bit fewer with another rounding: by single changes two of these designs are not found."""
    unit = tree("fp16")
    family = parametric_family(unit, rare=True)
    pool = inputs_to_try(unit, unit.k, 700, 4)
    for design in some(family, 5):
        answers = family.outputs(design[np.newaxis], pool)[0]
        survivors = Survivors(family, np.random.default_rng(0))
        survivors.climb(pool, answers)
        survivors.take(pool, answers)
        assert survivors.count


def test_a_climb_changes_all_that_cuts_and_rounds_a_sum() -> None:
    """Cut after 12 bits and rounded is nearly what is rounded at 10 bits and cut."""
    unit = resolve(
        "tree@steps=join(part(0+1)+part(2+3)+part(4+5)+part(6+7)+c),part.conversion=RNE-BF16,"
        "join.fraction_bits=12,join.normalise_products=true,"
        "a_format=fp16,b_format=fp16,c_format=fp16,d_format=fp16"
    )
    family, pool = parametric_family(unit, rare=True), inputs_to_try(unit, unit.k, 96, 0)
    survivors = Survivors(family, np.random.default_rng(0))
    near = {"join.fraction_bits": "10", "join.alignment_rounding": "RNA", "join.conversion": "RZ-FP16"}
    point = survivors.simplest()[0]
    for i, axis in enumerate(family.axes):
        point[i] = axis.values.index(near[axis.name]) if axis.name in near else point[i]
    places = [(i, value) for i, axis in enumerate(family.axes) for value in range(len(axis.values))]
    assert survivors._climbed(point, places, pool, replay(unit, pool))[1]


def test_a_climb_finds_the_change_that_leaves_other_answers_as_they_are() -> None:
    """Rounded at 24 bits is nearly cut at 26: few answers differ, and hundreds of changes mend these."""
    unit = resolve("tree@steps=last((0..3)+(4..7)),last.fraction_bits=26,fraction_bits=24")
    pool = inputs_to_try(unit, unit.k, 400, 2)
    survivors = Survivors(parametric_family(unit, rare=True), np.random.default_rng(0))
    assert survivors.climb(pool, replay(unit, pool)) == 1


def test_a_climb_in_a_family_that_cannot_give_an_answer_leaves_nothing() -> None:
    unit = tree("fp16")
    pool = inputs_to_try(unit, unit.k, 40, 4)
    survivors = Survivors(parametric_family(unit, rare=True), np.random.default_rng(0))
    survivors.climb(pool, replay(unit, pool) ^ np.uint64(0x4000))
    assert not survivors.count


@pytest.mark.slow
def test_designs_with_two_parameters_changed_together_are_kept_beside_a_climb() -> None:
    """Of few answers, some are given where two values change, and where either alone does not do."""
    unit = tree("fp16")
    family = parametric_family(unit, rare=True)
    pool = inputs_to_try(unit, unit.k, 12, 4)
    found: list[UnitSpec] = []
    for design in some(family, 3):
        answers = family.outputs(design[np.newaxis], pool)[0]
        survivors = Survivors(family, np.random.default_rng(0))
        if survivors.climb(pool, answers) == 1:
            found += survivors.beside
            assert all((replay(u, pool) == answers).all() for u in survivors.beside)
    assert found


@pytest.mark.slow
def test_structures_that_nearly_give_all_answers_are_put_off_and_taken_up_again() -> None:
    """A family of which a climb finds no design is looked at to the end where nothing else fits."""
    unit = tree("fp16")
    pool = inputs_to_try(unit, unit.k, 60, 4)
    answers = replay(unit, pool)
    search = Search(unit, unit.k, lambda batch: replay(unit, batch))
    search.take(pool, answers)
    climb = Survivors.climb

    def nearly(self: Survivors, batch: Batch, answers: Raw) -> float:
        climb(self, batch, answers ^ np.uint64(1))
        self.tables = [Table(x.axes, x.rows[:0]) for x in self.tables]
        return 0.95

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Survivors, "climb", nearly)
        patch.setattr(module, "CLIMBED", 0)
        search.add([unit])
        search.run(2)
        assert (search.alive, search.put_off) == ([], [unit])
        search.take_up_again(4)
    assert search.count
    assert not search.put_off
