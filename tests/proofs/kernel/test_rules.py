"""The kernel: every side condition refuses the forged step that needs it, and the check the forged proof."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcformal.errors import ProofError
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import ABOVE, AT_LEAST, ONE, ZERO, Poly, ProofKernel, check


def exhaustive(g: Graph, wrong: Node) -> bool:
    """Whether a node is 0 on every input, by trying them all."""
    run, names = Concrete(g, [wrong]), list(g.inputs)
    ranges = [range(1 << g.inputs[name].width) for name in names]
    return all(run(dict(zip(names, row, strict=True))) == [0] for row in itertools.product(*ranges))


class Bench:
    """A kernel over x and y of 3 bits, and nodes made of them by name."""

    def __init__(self) -> None:
        self.g = g = Graph()
        self.x, self.y = g.input("x", 3), g.input("y", 3)
        self.k = ProofKernel(g, [self.x, self.y], exhaustive)

    def n(self, node: Node) -> int:
        """The number of a node, its arguments first."""
        for a in node.args:
            self.n(a)
        if node not in self.k.numbers:
            return self.k.step("make", node.op, [self.k.numbers[a] for a in node.args], list(node.params))
        return self.k.numbers[node]

    def given(self, node: Node) -> int:
        """node ⊢ node."""
        return self.k.step("assume", self.n(node))

    def proved(self, node: Node) -> int:
        """⊢ node, as a lemma."""
        return self.k.step("lemma", self.n(node), [], [])

    def row(self, q: int, *atoms: Node, power: tuple[tuple[Node, int], ...] = ()) -> list[list[Any]]:
        """A polynomial of one monomial as data."""
        return [[q, 1, 0, [self.n(a) for a in atoms], [[self.n(m), c] for m, c in power]]]

    def at_least(self) -> int:
        """x <= y ⊢ y - x >= 0."""
        return self.k.step("fact", self.given(self.g.ule(self.x, self.y)))

    def square(self) -> int:
        """⊢ x · x >= 0, which no exponent can be."""
        return self.k.step("arith", [[self.row(1, self.x, self.x), []]])


@pytest.fixture
def b() -> Bench:
    return Bench()


FORGED: dict[str, Callable[[Bench], tuple[Any, ...]]] = {
    "a rule that there is not": lambda b: ("believe", 0),
    "a node that there is not": lambda b: ("assume", 99),
    "a node counted from the end": lambda b: ("assume", -1),
    "a truth value for a number": lambda b: ("fact", False),
    "a later theorem": lambda b: ("fact", 7),
    "a hypothesis of three bits": lambda b: ("assume", b.n(b.x)),
    "a goal of three bits": lambda b: ("lemma", b.n(b.x), [], []),
    "a lemma that does not hold": lambda b: ("lemma", b.n(b.g.ule(b.x, b.y)), [], []),
    "a lemma that a cut breaks": lambda b: (
        "lemma", b.n(b.g.ule(b.g.lshr(b.x, b.y), b.x)), [], [b.n(b.g.lshr(b.x, b.y))],
    ),
    "a given theorem about a polynomial": lambda b: ("lemma", b.n(b.g.truth(True)), [b.at_least()], []),
    "cases of two conclusions": lambda b: (
        "cases", b.given(b.g.ule(b.x, b.y)), b.given(b.g.ule(b.y, b.x)), b.n(b.g.ule(b.x, b.y)),
    ),
    "cases of three bits": lambda b: (
        "cases", b.given(b.g.ule(b.x, b.y)), b.given(b.g.ule(b.x, b.y)), b.n(b.x),
    ),
    "a number refuted that is true": lambda b: (
        "refute", b.k.step("arith", [[b.row(1), []]]), b.n(b.g.ule(b.x, b.y)),
    ),
    "0 >= 0 refuted": lambda b: ("refute", b.k.step("arith", []), b.n(b.g.ule(b.x, b.y))),
    "a theorem about nodes refuted": lambda b: ("refute", b.at_least(), b.n(b.g.ule(b.x, b.y))),
    "a sum that may wrap": lambda b: ("read", b.n(b.g.add_mod(b.x, b.y)), b.given(b.g.ule(b.y, b.x))),
    "a sum without a side": lambda b: ("read", b.n(b.g.add_mod(b.x, b.y))),
    "a difference that may wrap": lambda b: ("read", b.n(b.g.sub_mod(b.x, b.y)), b.given(b.g.ule(b.x, b.y))),
    "a shift that may lose bits": lambda b: (
        "read", b.n(b.g.shl_mod(b.x, b.y)), b.proved(b.g.ule(b.g.lshr(b.g.shl_mod(b.x, b.y), b.y), b.x)),
    ),
    "a third side of a shift": lambda b: ("read", b.n(b.g.lshr(b.x, b.y)), 2),
    "the side of a shift from the end": lambda b: ("read", b.n(b.g.lshr(b.x, b.y)), -1),
    "an exclusive or of three bits": lambda b: ("read", b.n(b.g.xor(b.x, b.y))),
    "an operator without a meaning": lambda b: ("read", b.n(b.g.neg_mod(b.x))),
    "a sum in two's complement": lambda b: ("read", b.n(b.g.sign_extend_to(b.x, 4))),
    "a power of a square": lambda b: ("power", b.square()),
    "a power of half an integer": lambda b: ("power", b.k.step("arith", [[[[1, 2, 0, [0], []]], []]])),
    "a negative multiplier": lambda b: ("arith", [[b.row(-1), [b.at_least()]]]),
    "a negative number": lambda b: ("arith", [[b.row(-1, b.x), []]]),
    "a product with a bit": lambda b: ("arith", [[b.row(1), [b.given(b.g.ule(b.x, b.y))]]]),
    "a coefficient over 0": lambda b: ("arith", [[[[1, 0, 0, [], []]], []]]),
    "a coefficient that is no integer": lambda b: ("arith", [[[[0.5, 1, 0, [], []]], []]]),
    "a row of another shape": lambda b: ("arith", [[[[1, 1]], []]]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_step_is_refused(name: str, b: Bench) -> None:
    step = FORGED[name](b)
    before, theorems = len(b.k.steps), len(b.k.theorems)
    with pytest.raises(ProofError):
        b.k.step(*step)
    assert len(b.k.steps) == before
    assert len(b.k.theorems) == theorems


def test_theorems_keep_their_hypotheses(b: Bench) -> None:
    smaller = b.g.ule(b.x, b.y)
    i = b.at_least()
    assert b.k.theorem(i).hyps == {smaller}
    assert b.k.theorem(b.k.step("arith", [[b.row(2), [i]]])).hyps == {smaller}
    assert b.k.theorem(b.k.step("power", i)).hyps == {smaller}
    goal = b.k.step("lemma", b.n(b.g.ule(b.x, b.g.const(7, 3))), [b.given(smaller)], [])
    assert b.k.theorem(goal).hyps == {smaller}
    # Only a node and its own complement are discharged.
    other = b.k.step("cases", goal, goal, b.n(b.g.ule(b.y, b.x)))
    assert b.k.theorem(other).hyps == {smaller}


def test_the_kernel_is_small_and_the_list_of_what_is_trusted_has_its_sizes() -> None:
    root = Path(__file__).resolve().parents[3]
    kernel = (root / "tcformal/proofs/kernel").glob("*.py")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in kernel) <= 300
    rows = re.findall(
        r"^\| `(tcformal/\S+\.py)` \| (\d+) \|", (root / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert len(rows) > 10
    for path, lines in rows:
        assert abs(len((root / path).read_text(encoding="utf-8").splitlines()) - int(lines)) <= 10, path


def test_only_a_bit_is_its_own_square(b: Bench) -> None:
    bit = Poly.of(b.g.bit(b.x, 0))
    assert bit * bit == bit
    assert Poly.of(b.x) * Poly.of(b.x) != Poly.of(b.x)


@pytest.mark.parametrize(
    ("relations", "relation"),
    [((AT_LEAST,), AT_LEAST), ((AT_LEAST, ZERO), ZERO), ((ABOVE,), ABOVE), ((ABOVE, AT_LEAST), AT_LEAST)],
)
def test_a_product_is_as_strict_as_its_weakest_factor(
    relations: tuple[str, ...], relation: str, b: Bench
) -> None:
    made = {
        AT_LEAST: b.at_least(),
        ZERO: b.k.step("fact", b.given(b.g.eq(b.x, b.y))),
        ABOVE: b.k.step("arith", [[b.row(1, power=((b.x, 1),)), []]]),
    }
    i = b.k.step("arith", [[b.row(1), [made[r] for r in relations]]])
    assert b.k.theorem(i).relation == relation


def test_a_multiple_of_a_node_is_not_above_zero(b: Bench) -> None:
    above = b.k.step("arith", [[b.row(1), []]])
    i = b.k.step("arith", [[b.row(1, b.x), [above]]])
    assert b.k.theorem(i).relation == AT_LEAST


def _proof(b: Bench) -> tuple[list[Any], Node, Poly]:
    """A proof of x <= y ⊢ y - x >= 0."""
    i = b.at_least()
    assert i == 1
    return b.k.steps, b.g.ule(b.x, b.y), Poly.of(b.y) - Poly.of(b.x)


def test_a_proof_is_of_its_own_statement_only(b: Bench) -> None:
    steps, hyp, p = _proof(b)

    def checked(hyps: list[Node], conclusions: list[tuple[str, Poly]], last: list[int]) -> None:
        check(b.g, hyps, conclusions, [b.x, b.y], steps, last, exhaustive)

    checked([hyp], [(AT_LEAST, p)], [1])
    for hyps, conclusions, last in (
        ([], [(AT_LEAST, p)], [1]),
        ([b.g.ule(b.y, b.x)], [(AT_LEAST, p)], [1]),
        ([hyp], [(ABOVE, p)], [1]),
        ([hyp], [(ZERO, p)], [1]),
        ([hyp], [(AT_LEAST, p * -1)], [1]),
        ([hyp], [(AT_LEAST, p)], [0]),
        ([hyp], [(AT_LEAST, p)], [-1]),
        ([hyp], [(AT_LEAST, p)], []),
        ([hyp], [(AT_LEAST, p), (AT_LEAST, p)], [1]),
    ):
        with pytest.raises(ProofError):
            checked(hyps, conclusions, last)
    with pytest.raises(ProofError):
        check(b.g, [hyp], [(AT_LEAST, p)], [b.x], steps, [1], exhaustive)
    assert ONE not in (ZERO, AT_LEAST, ABOVE)
