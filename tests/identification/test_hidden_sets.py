"""What pairs hide, asked leaf by leaf, counted, or following from other pairs; and what finds out errors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.identification import order as order_module
from tcformal.identification.masks import Masks
from tcformal.identification.order import HiddenSets, Order, followed, order_of, supposed
from tcformal.simulation.matrix_unit import Unit


def found(spec: UnitSpec) -> Order:
    """The order of a model that is asked as a device is."""
    unit = Unit(spec)
    return order_of(lambda x: unit.dot_bits(x.a, x.b, x.c), spec.operands, spec.k)


#: Operands of eight bits leave room for few powers of two in one probe, so that leaves are counted.
FP8 = "fraction_bits=24,conversion=RZ-FP32,a_format=e4m3,b_format=e4m3"


def test_leaves_are_counted_where_they_would_take_many_probes() -> None:
    """With every leaf asked of every pair there are 348."""
    order = found(resolve(f"tree@steps=(4..39+(2+3+(0+1+c))),{FP8}"))
    assert str(order.root) == "(4..39+(2+3+(0+1+c)))"
    assert order.probes < 150
    assert not order.reason


@pytest.mark.parametrize("steps", ["(39+(0..38+c))", "(5+(0..4+6..39+c))"])
def test_a_sum_that_counts_suggest_wrongly_is_asked_again(steps: str) -> None:
    """Pairs that hide all but one leaf hide all but c in most orders; here c is hidden, too."""
    order = found(resolve(f"tree@steps={steps},{FP8}"))
    assert str(order.root) == steps
    assert not order.reason


def test_a_set_follows_from_its_size_and_the_sums_within() -> None:
    sums = [frozenset(x) for x in ([0, 1], [4, 5], [8, 9])]
    sizes = {frozenset([4, 8]): 6, frozenset([0, 4]): 4, frozenset([1, 5]): 3, frozenset([0, 9]): 7}
    made = supposed(sums, sizes, [frozenset(range(9))])
    assert made == {
        frozenset([0, 4]): frozenset([0, 1, 4, 5]),
        frozenset([4, 8]): frozenset([0, 1, 4, 5, 8, 9]),
    }


def test_a_leaf_of_an_inner_sum_meets_what_others_of_it_meet() -> None:
    inner, whole = frozenset([0, 1, 2]), frozenset(range(6))
    known = {frozenset([0, 1]): inner, frozenset([1, 5]): whole}
    assert followed(frozenset([0, 5]), known) == whole
    assert followed(frozenset([3, 5]), known) is None
    # Parts (0, 1) and (2, 3) of an exact sum: pairs hide two parts each, and no inner sum.
    known = {frozenset([0, 2]): frozenset(range(4)), frozenset([0, 4]): frozenset([0, 1, 4, 5])}
    assert followed(frozenset([2, 4]), known) is None


class _Wrong(HiddenSets):
    """Sets that follow from others are made one leaf too large."""

    def _follow(self, pairs: Sequence[frozenset[int]], among: frozenset[int]) -> None:
        for pair in pairs:
            self.known[pair] = self.likely[pair] = among


def test_sets_that_follow_wrongly_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair is taken to hide everything: the leaves that come back say otherwise, and all are asked."""
    made: list[HiddenSets] = []

    def sets(masks: Masks, counting: bool = True) -> HiddenSets:
        made.append(_Wrong(masks) if counting else HiddenSets(masks, counting=False))
        return made[-1]

    monkeypatch.setattr(order_module, "HiddenSets", sets)
    order = found(resolve("tree@steps=(4..7+(0..3+c)),fraction_bits=24,conversion=RZ-FP32"))
    assert str(order.root) == "(4..7+(0..3+c))"
    assert [x.counting for x in made] == [True, False]


def test_what_another_task_asks_of_a_pair_is_waited_for() -> None:
    """A pair of two sums, one within the other, is asked once; both tasks end when it is known."""
    unit = resolve("tfdpa@products=8,fraction_bits=24,zero_exponent=none")
    sets = HiddenSets(Masks(unit.operands, 8, with_c=True, high=30))
    first, second = (sets.hide([(0, 1)], frozenset(range(leaves))) for leaves in (9, 5))
    rows = next(first)
    assert rows
    assert not next(second)
    for task, asked in ((first, rows), (second, [])):
        with pytest.raises(StopIteration):
            task.send([Fraction(0) for _ in asked])


def test_a_remainder_of_the_large_terms_is_not_counted() -> None:
    """A large one's last place may be left, as one's complement leaves it, and not a large one itself."""
    unit = resolve("tfdpa@products=8,fraction_bits=24,zero_exponent=none")
    masks = Masks(unit.operands, 8, with_c=True, high=30)
    task = masks.counted((0, 1), [2, 3, 4], 28)
    ((row),) = next(task)
    small = row[2]
    for left, count in ((0, 3), (-16 * small, 3), (-(Fraction(2) ** 30), None), (small / 2, None)):
        task = masks.counted((0, 1), [2, 3, 4], 28)
        next(task)
        with pytest.raises(StopIteration) as ended:
            task.send([3 * small + left])
        assert ended.value.value == count
