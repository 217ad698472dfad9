"""Rearranging: two trees of one operation over the same leaves are equal, by lemmas on three operands.

Nothing here is trusted: each step names two nodes and a lemma or a congruence, and `Composition` makes
them equal or refuses.  A step that is refused leaves the trees unequal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.tactics.cuts import Composition

NodePair = tuple[Node, Node]


@dataclass(frozen=True, slots=True)
class TreeOperation:
    """An operation of two operands that may be associative and commutative."""

    name: str
    #: The operands of a node that is this operation, else None.
    split: Callable[[Node], NodePair | None]
    join: Callable[[Graph, Node, Node], Node]

    def leaves(self, x: Node) -> list[Node]:
        """The operands of a tree of this operation, from left to right."""
        pair = self.split(x)
        return [x] if pair is None else self.leaves(pair[0]) + self.leaves(pair[1])


def _operator(name: str) -> Callable[[Node], NodePair | None]:
    def split(x: Node) -> NodePair | None:
        return (x.args[0], x.args[1]) if x.op == name else None

    return split


def split_max(x: Node) -> NodePair | None:
    """The operands of `Graph.umax`: y where x < y, else x."""
    if x.op != "ite" or x.args[0].op != "ult" or x.args[0].args != (x.args[2], x.args[1]):
        return None
    return x.args[2], x.args[1]


#: What sums, largest exponents and special cases are made of.
OPERATIONS = (
    TreeOperation("add_mod", _operator("add_mod"), lambda g, x, y: g.add_mod(x, y)),
    TreeOperation("umax", split_max, lambda g, x, y: g.umax(x, y)),
    TreeOperation("or_", _operator("or_"), lambda g, x, y: g.or_(x, y)),
    TreeOperation("and_", _operator("and_"), lambda g, x, y: g.and_(x, y)),
)


@dataclass(frozen=True, slots=True)
class Rearrangement:
    """Brings two trees of one operation into one form, for the cut point called `where`."""

    composition: Composition
    operation: TreeOperation
    where: str

    def equal(self, a: Node, b: Node) -> bool:
        """Make two trees over the same leaves equal; False where they are not such trees."""
        c, op = self.composition, self.operation
        if c.equal(a, b):
            return True
        of_a, of_b = op.split(a), op.split(b)
        if of_a is None or of_b is None or Counter(op.leaves(a)) != Counter(op.leaves(b)):
            return False
        (p, q), (r, s) = of_a, of_b
        for (same, mine), (its, other) in product(((p, q), (q, p)), ((r, s), (s, r))):
            if same is its:
                return self.equal(mine, other) and self._tied(a, b, (same, mine), (same, other))
        if _difference(op, p, r) > _difference(op, p, s):
            r, s = s, r
        apart = _apart(op, p, r)
        if not apart:
            return self.equal(p, r) and self.equal(q, s) and self._tied(a, b, (p, q), (r, s))
        rest_a, rest_b = a, b
        pulled: list[tuple[Node, Node, Node]] = []
        for leaf in apart:
            next_a, next_b = self._pulled(rest_a, leaf), self._pulled(rest_b, leaf)
            if next_a is None or next_b is None:
                return False
            rest_a, rest_b = next_a, next_b
            pulled.append((leaf, rest_a, rest_b))
        if not self.equal(rest_a, rest_b):
            return False
        g = c.graph
        return all(c.by_congruence(op.join(g, x, m), op.join(g, x, n)) for x, m, n in reversed(pulled))

    def _tied(self, a: Node, b: Node, of_a: NodePair, of_b: NodePair) -> bool:
        """a = b where a is made of `of_a` and b of `of_b`, in either order, and these are pairwise equal."""
        g, op, c = self.composition.graph, self.operation, self.composition
        first, second = op.join(g, *of_a), op.join(g, *of_b)
        return self._exchanged(a, first) and c.by_congruence(first, second) and self._exchanged(second, b)

    def _exchanged(self, x: Node, y: Node) -> bool:
        """x = y where they differ in the order of two operands at most."""
        return self.composition.by_lemma(self.where, x, y, name=f"{self._at(x)} is commutative", depths=(0,))

    def _at(self, x: Node) -> str:
        return f"{self.operation.name} on {x.width} bits"

    def _pulled(self, tree: Node, leaf: Node) -> Node | None:
        """The rest of a tree such that tree = leaf ∘ rest; None where the leaf is not below it.

        (l ∘ r) = ((leaf ∘ l') ∘ r) = leaf ∘ (l' ∘ r), from the bottom up.
        """
        g, op, c = self.composition.graph, self.operation, self.composition
        pair = op.split(tree)
        if pair is None:
            return None
        for near, far in (pair, pair[::-1]):
            if near is leaf:
                return far if self._exchanged(tree, op.join(g, leaf, far)) else None
        for near, far in (pair, pair[::-1]):
            if leaf not in op.leaves(near):
                continue
            rest = self._pulled(near, leaf)
            if rest is None:
                return None
            ordered = op.join(g, near, far)
            opened = op.join(g, op.join(g, leaf, rest), far)
            moved = op.join(g, rest, far)
            proved = (
                self._exchanged(tree, ordered)
                and c.by_congruence(ordered, opened)
                and c.by_lemma(
                    self.where, opened, op.join(g, leaf, moved),
                    name=f"{self._at(tree)} is associative", cut=(leaf, rest, far),
                )
            )  # fmt: skip
            return moved if proved else None
        return None


def _apart(op: TreeOperation, p: Node, r: Node) -> list[Node]:
    """The leaves that only one of two trees has, once each, in order of definition."""
    mine, its = Counter(op.leaves(p)), Counter(op.leaves(r))
    return sorted(set((mine - its) + (its - mine)), key=lambda n: n.index)


def _difference(op: TreeOperation, p: Node, r: Node) -> int:
    return len(_apart(op, p, r))


def rearranged(c: Composition, where: str, a: Node, b: Node, depth: int = 8) -> bool:
    """Make a and b equal where they differ in the order of one operation's operands only.

    Descends through operators of which one operand differs, such as the extension of a sum.
    """
    if c.equal(a, b):
        return True
    for op in OPERATIONS:
        if op.split(a) is not None and op.split(b) is not None and Rearrangement(c, op, where).equal(a, b):
            return True
    if a.op != b.op or a.params != b.params or depth == 0:
        return False
    differing = [(x, y) for x, y in zip(a.args, b.args, strict=True) if not c.equal(x, y)]
    if len(differing) != 1 or not rearranged(c, where, *differing[0], depth - 1):
        return False
    return c.by_congruence(a, b)
