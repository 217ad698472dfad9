"""The kernel of compositional proofs: what it proves, and everything that it must refuse."""

from __future__ import annotations

import random
from itertools import product

import pytest

from compositions import assert_classes_agree
from tcformal.errors import InputError
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.lemmas import BRIEF, Lemma, LemmaBook, Statement, statement
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.rearrange import OPERATIONS, Rearrangement, rearranged
from tcformal.semantics.reduce import add_signed
from tcformal.solve.result import Limits, RunnerOutcome, Status

LIMITS = Limits(time_s=60.0, memory_mb=4096, seed=0)


class Exhaustive(LemmaBook):
    """A book that decides by trying every input: the truth, for statements of few bits."""

    def __init__(self, confirmed_by: tuple[str, ...] = ("every input",)) -> None:
        super().__init__(limits=LIMITS, certify=False)
        self.asked = 0
        self._confirmed_by = confirmed_by

    def _ask(self, name: str, sha256: str, what: Statement) -> Lemma:
        self.asked += 1
        run = Concrete(what.graph, [what.assertion])
        names = {n: x.width for n, x in what.graph.inputs.items()}
        assert sum(names.values()) <= 16
        spaces = [range(1 << w) for w in names.values()]
        found = any(run(dict(zip(names, values, strict=True))) == [1] for values in product(*spaces))
        return Lemma(
            name=name, sha256=sha256, free_inputs=what.free_inputs,
            status=Status.SAT if found else Status.UNSAT, reason="", decided_by="every input",
            confirmed_by=() if found else self._confirmed_by, certificate=None, seconds=0.0,
        )  # fmt: skip


def inputs(g: Graph, width: int, *names: str) -> list[Node]:
    return [g.input(name, width) for name in names]


# ---------------------------------------------------------------------------------------- suppositions


def test_what_follows_from_a_supposition_holds_where_it_does() -> None:
    g = Graph()
    s, x, y = g.input("s", 1), g.input("x", 4), g.input("y", 4)
    c = Composition(g, Exhaustive())
    chosen = g.ite(s, x, y)
    c.suppose(s, True)
    assert c.equal(g.not_(s), g.truth(False))
    assert c.replaced(chosen) is x
    assert c.supposed == [(s, True)]
    assert_classes_agree(c)


def test_only_one_bit_can_be_supposed() -> None:
    g = Graph()
    with pytest.raises(
        InputError, match="expected a node of width 1 to suppose something of, but got width 4"
    ):
        Composition(g, Exhaustive()).suppose(g.input("x", 4), True)


def test_an_operator_on_operands_that_are_not_proved_equal_is_refused() -> None:
    g = Graph()
    x, y, z = inputs(g, 4, "x", "y", "z")
    c = Composition(g, Exhaustive())
    with pytest.raises(InputError, match="expected operands proved equal"):
        c.made_twice(g.add_mod(x, y), [x, y], [x, z])
    first, second = c.made_twice(g.sub_mod(x, y), [z, y], [z, y])
    assert first is second is g.sub_mod(z, y)


# ---------------------------------------------------------------------------------------- lemmas


def test_a_true_equality_is_proved_by_two_solvers_or_a_certificate() -> None:
    g = Graph()
    x, y = inputs(g, 8, "x", "y")
    c = Composition(g, LemmaBook(limits=LIMITS))
    twice = g.add_mod(g.add_mod(x, y), g.add_mod(x, y))
    shifted = g.concat(g.extract(g.add_mod(x, y), 6, 0), g.const(0, 1))
    assert c.by_lemma("here", twice, shifted, name="twice")
    (use,) = c.uses
    assert use.lemma.confirmed_by
    assert use.lemma.free_inputs == 1  # x + y is shared, and so became one fresh input
    assert c.equal(twice, shifted)


def test_a_false_equality_joins_nothing() -> None:
    g = Graph()
    x, y = inputs(g, 8, "x", "y")
    c = Composition(g, LemmaBook(limits=LIMITS))
    assert not c.by_lemma("here", g.add_mod(x, y), g.or_(x, y), name="no carry")
    assert not c.equal(g.add_mod(x, y), g.or_(x, y))
    assert c.uses[-1].lemma.status is Status.SAT


def test_definitions_are_restored_where_the_general_lemma_fails() -> None:
    g = Graph()
    (x,) = inputs(g, 4, "x")
    half = g.lshr(x, g.const(1, 4))
    c = Composition(g, Exhaustive())
    assert c.by_lemma("here", g.not_(half), g.not_(g.and_(half, g.const(7, 4))), name="top bit")
    assert [u.lemma.status for u in c.uses] == [Status.SAT, Status.UNSAT]


def test_an_equality_false_with_all_definitions_stays_unproved() -> None:
    g = Graph()
    (x,) = inputs(g, 4, "x")
    half = g.lshr(x, g.const(1, 4))
    c = Composition(g, Exhaustive())
    assert not c.by_lemma("here", g.not_(half), g.not_(g.and_(half, g.const(3, 4))), name="two top bits")
    assert {u.lemma.status for u in c.uses} == {Status.SAT}


def test_an_unconfirmed_unsat_proves_nothing() -> None:
    g = Graph()
    x, y, z = inputs(g, 2, "x", "y", "z")
    c = Composition(g, Exhaustive(confirmed_by=()))
    left, right = g.add_mod(g.add_mod(x, y), z), g.add_mod(x, g.add_mod(y, z))
    assert not c.by_lemma("here", left, right, name="associative")
    assert not c.equal(left, right)


def test_a_proof_that_is_refused_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver in this process is believed no more than others: the portfolio is asked."""
    g = Graph()
    x, y, z = inputs(g, 2, "x", "y", "z")
    what = statement([(g.add_mod(g.add_mod(x, y), z), g.add_mod(x, g.add_mod(y, z)))], (), ())
    asked: list[str] = []

    class Asked(LemmaBook):
        def _ask(self, name: str, sha256: str, what: Statement) -> Lemma:
            asked.append(name)
            return super()._ask(name, sha256, what)

    assert Asked(limits=LIMITS).decide("associative", what).decided_by == BRIEF
    assert asked == []
    lying = RunnerOutcome(Status.UNSAT, proof="1 0\n-1 0\n0\n")
    monkeypatch.setattr("tcformal.proofs.lemmas.run_briefly", lambda *_: lying)
    assert Asked(limits=LIMITS).decide("associative", what).holds
    assert asked == ["associative"]


def test_one_lemma_on_other_nodes_is_asked_once() -> None:
    g = Graph()
    x, y, z, u = inputs(g, 2, "x", "y", "z", "u")
    book = Exhaustive()
    c = Composition(g, book)
    for p, q, r in ((x, y, z), (z, y, x), (u, x, y)):
        left, right = g.add_mod(g.add_mod(p, q), r), g.add_mod(p, g.add_mod(q, r))
        assert c.by_lemma("here", left, right, name="associative", cut=(p, q, r))
    assert book.asked == 1
    assert len(book.lemmas) == 1
    assert len(c.uses) == 2  # the second pair was equal already, by the first


def test_other_lemmas_have_other_digests() -> None:
    g = Graph()
    x, y = inputs(g, 2, "x", "y")
    wide = g.input("w", 3)
    texts = {
        statement([pair], given, (), ()).sha256
        for pair, given in (
            ((x, y), ()),
            ((x, g.not_(y)), ()),
            ((x, y), (g.ult(x, y),)),
            ((wide, g.not_(wide)), ()),
        )
    }
    assert len(texts) == 4


def test_several_pairs_are_one_lemma_that_fails_if_one_pair_differs() -> None:
    g = Graph()
    x, y, z = inputs(g, 2, "x", "y", "z")
    good = (g.add_mod(g.add_mod(x, y), z), g.add_mod(x, g.add_mod(y, z)))
    bad = (g.sub_mod(x, y), g.sub_mod(y, x))
    c = Composition(g, Exhaustive())
    assert not c.by_lemmas("here", [good, bad], name="both")
    assert not c.equal(*good)
    assert c.by_lemmas("here", [good], name="one")


def test_refusals_name_what_was_expected() -> None:
    g = Graph()
    x, y = inputs(g, 2, "x", "y")
    c = Composition(g, Exhaustive())
    with pytest.raises(InputError, match="one width on both sides"):
        c.by_lemma("here", x, g.concat(x, y), name="widths")
    with pytest.raises(InputError, match="expected facts that are proved"):
        c.by_lemma("here", x, y, name="on credit", given=(g.eq(x, y),))
    with pytest.raises(InputError, match="expected a replacement proved equal"):
        c.all_replaced([g.add_mod(x, y)], {x: y})


def test_facts_may_be_used_once_they_are_proved() -> None:
    g = Graph()
    (x,) = inputs(g, 4, "x")
    half = g.lshr(x, g.const(1, 4))
    fact = g.ule(half, g.const(7, 4))
    c = Composition(g, Exhaustive())
    assert c.by_lemma("fact", g.truth(True), fact, name="a half is at most 7")
    masked = g.and_(half, g.const(7, 4))
    assert c.by_lemma("here", half, masked, name="top bit", given=(fact,), cut=(half,))
    assert_classes_agree(c)


# ---------------------------------------------------------------------------------------- congruence


def test_congruence_needs_equal_operands() -> None:
    g = Graph()
    x, y, z = inputs(g, 2, "x", "y", "z")
    c = Composition(g, Exhaustive())
    left, right = g.add_mod(g.add_mod(x, y), z), g.add_mod(x, g.add_mod(y, z))
    assert not c.by_congruence(g.not_(left), g.not_(right))
    assert c.by_lemma("here", left, right, name="associative")
    assert c.by_congruence(g.not_(left), g.not_(right))
    assert not c.by_congruence(g.not_(left), g.neg_mod(right))
    assert not c.by_congruence(g.extract(left, 1, 1), g.extract(right, 0, 0))
    assert not c.by_congruence(g.sub_mod(left, x), g.sub_mod(x, right))
    assert_classes_agree(c)


def test_what_follows_an_equality_becomes_one_node() -> None:
    g = Graph()
    x, y, z = inputs(g, 2, "x", "y", "z")
    c = Composition(g, Exhaustive())
    left, right = g.add_mod(g.add_mod(x, y), z), g.add_mod(x, g.add_mod(y, z))
    first, second = (g.mul_expand(g.not_(n), n) for n in (left, right))
    assert c.replaced(second) is second
    assert c.by_lemma("here", left, right, name="associative")
    assert c.replaced(second) is first
    assert c.equal(first, second)
    assert_classes_agree(c)


# ---------------------------------------------------------------------------------------- rearranging


def tree(g: Graph, leaves: list[Node]) -> Node:
    return add_signed(g, leaves, leaves[0].width)


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_a_tree_is_the_same_sum(seed: int) -> None:
    g = Graph()
    leaves = inputs(g, 2, *"abcdefg")
    shuffled = list(leaves)
    random.Random(seed).shuffle(shuffled)
    c = Composition(g, Exhaustive())
    x, y = tree(g, leaves), tree(g, shuffled)
    assert rearranged(c, "sum", g.sign_extend_to(x, 5), g.sign_extend_to(y, 5))
    assert c.equal(x, y)
    assert {u.lemma.name for u in c.uses} <= {"add_mod on 2 bits is associative"}
    assert_classes_agree(c)


def test_largest_of_many_in_any_order() -> None:
    g = Graph()
    a, b, d, e, f = inputs(g, 2, *"abdef")
    x = g.umax(g.umax(g.umax(a, b), g.umax(d, e)), f)
    y = g.umax(g.umax(g.umax(f, d), g.umax(e, b)), a)
    c = Composition(g, Exhaustive())
    assert rearranged(c, "e_max", x, y)
    assert_classes_agree(c)


def test_other_leaves_are_no_rearrangement() -> None:
    g = Graph()
    a, b, d, e = inputs(g, 2, *"abde")
    c = Composition(g, Exhaustive())
    for other in ([a, b, d, d], [a, b, d], [a, b, d, g.not_(e)], [a, a, b, b]):
        assert not rearranged(c, "sum", tree(g, [a, b, d, e]), tree(g, other))
    assert_classes_agree(c)


def test_a_swapped_term_of_another_weight_is_refused() -> None:
    g = Graph()
    a, b, d = inputs(g, 2, *"abd")
    c = Composition(g, Exhaustive())
    x = tree(g, [g.shl_mod(a, g.const(1, 2)), b, d])
    y = tree(g, [a, g.shl_mod(b, g.const(1, 2)), d])
    assert not rearranged(c, "sum", x, y)
    assert not c.by_lemma("sum", x, y, name="weights")
    assert_classes_agree(c)


def test_an_operation_that_is_not_associative_is_refused_by_its_lemma() -> None:
    sub = OPERATIONS[0].__class__(
        "sub_mod", lambda n: (n.args[0], n.args[1]) if n.op == "sub_mod" else None, Graph.sub_mod
    )
    g = Graph()
    a, b, d = inputs(g, 2, *"abd")
    c = Composition(g, Exhaustive())
    assert not Rearrangement(c, sub, "difference").equal(
        g.sub_mod(g.sub_mod(a, b), d), g.sub_mod(g.sub_mod(b, a), d)
    )
    assert_classes_agree(c)
