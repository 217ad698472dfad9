"""Composition: equalities between the nodes of two sides, each step of which is checked here.

The rest of the program may guess at will which nodes are equal and in what order to show it; what it
gets equal passes through the two rules of `Composition`, so that a wrong guess proves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import OPS
from tcformal.ir.walk import reachable
from tcformal.proofs.lemmas import Lemma, LemmaBook, frontier, statement

#: Operators restored below the frontier, attempt by attempt; None restores everything.
DEPTHS: tuple[int | None, ...] = (0, 4, None)

#: Operators through which congruence looks for equal operands.
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Use:
    """One application of a lemma: where, which, and whether it held."""

    where: str
    lemma: Lemma


class Composition:
    """What has been proved equal on every input, among the nodes of one graph.

    Soundness: `_parent` is a forest whose trees are classes of nodes.  The invariant is that all nodes
    of one class have the same value on every input of the graph.  It holds of single nodes, and classes
    are joined for two reasons only: by `by_lemmas`, after a confirmed proof that the two nodes never
    differ (`lemmas.statement` says why a generalised lemma suffices); and by `by_congruence` and
    `all_replaced`, for two nodes of one operator with the same parameters whose operands
    are pairwise of one class, which therefore compute the same function of equal values.  Equality on
    every input is an equivalence, so a joined class keeps the invariant.  That the builder's own sharing
    and folding preserve values is what every use of the DAG relies on.

    Where something was supposed (`suppose`), read "on every input on which all suppositions hold"
    throughout: a lemma holds on every input and so on these.  The caller has to cover the other inputs.
    """

    def __init__(self, graph: Graph, book: LemmaBook) -> None:
        self.graph = graph
        self._book = book
        self._parent: dict[int, Node] = {}
        #: Every lemma applied, in order, failed attempts included.
        self.uses: list[Use] = []
        #: Nodes of width 1 and the values that they are supposed to have, in order.
        self.supposed: list[tuple[Node, bool]] = []

    # ------------------------------------------------------------------ classes
    def representative(self, x: Node) -> Node:
        """The node that stands for x's class, and on which `replaced` builds."""
        parent, path = self._parent, []
        while x.index in parent:
            path.append(x.index)
            x = parent[x.index]
        # What was passed on the way points at the representative from now on: classes stay what they are.
        for index in path[:-1]:
            parent[index] = x
        return x

    def equal(self, x: Node, y: Node) -> bool:
        """Whether x and y have been proved equal."""
        return self.representative(x) is self.representative(y)

    def _join(self, x: Node, y: Node) -> None:
        """Make one class of two; x's representative stands for it, unless y's is a constant."""
        x, y = self.representative(x), self.representative(y)
        if y.op == "const":
            x, y = y, x
        if x is not y:
            self._parent[y.index] = x

    # ------------------------------------------------------------------ rules
    def suppose(self, x: Node, value: bool) -> None:
        """Speak from now on of the inputs on which x, a node of width 1, has this value, and of no others.

        Errors: InputError for a node of another width.
        """
        if x.width != 1:
            raise InputError(f"expected a node of width 1 to suppose something of, but got width {x.width}")
        self.supposed.append((x, value))
        self._join(x, self.graph.truth(value))
        self._join(self.graph.not_(x), self.graph.truth(not value))

    def made_twice(self, like: Node, args: Sequence[Node], instead: Sequence[Node]) -> tuple[Node, Node]:
        """The operator of `like` on `args`, and on operands proved equal to these, which stands for both.

        Errors: InputError for operands that have not been proved equal.
        """
        wrong = next((a for a, b in zip(args, instead, strict=True) if not self.equal(a, b)), None)
        if wrong is not None:
            raise InputError(f"expected operands proved equal, but that for {wrong!r} is not")
        first, second = (self.graph.make(like.op, row, like.params) for row in (args, instead))
        self._join(second, first)
        return first, second

    def by_lemma(
        self,
        where: str,
        x: Node,
        y: Node,
        *,
        name: str,
        given: Sequence[Node] = (),
        cut: Sequence[Node] | None = None,
        depths: Collection[int | None] = DEPTHS,
    ) -> bool:
        """Prove x == y as a lemma; True, and the two are one class, only if that was proved.

        As `by_lemmas` of one pair.
        """
        return self.by_lemmas(where, [(x, y)], name=name, given=given, cut=cut, depths=depths)

    def by_lemmas(
        self,
        where: str,
        pairs: Sequence[tuple[Node, Node]],
        *,
        name: str,
        given: Sequence[Node] = (),
        cut: Sequence[Node] | None = None,
        depths: Collection[int | None] = DEPTHS,
    ) -> bool:
        """Prove that both of every pair are equal, as one lemma; classes are joined only if it holds.

        Without `cut`, what both sides share is replaced by fresh inputs; where the lemma so generalised
        fails, more and more of the definitions below are restored (`depths`).  `given` are nodes of
        width 1 proved to be 1 before: their being 1 on every input makes the condition void.
        Errors: InputError for a given that has not been proved, or for unequal widths.
        """
        uneven = next(((x.width, y.width) for x, y in pairs if x.width != y.width), None)
        if uneven is not None or not pairs:
            raise InputError(f"expected {where} of one width on both sides, but got {uneven or 'nothing'}")
        unproved = next((p for p in given if not self.equal(p, self.graph.truth(True))), None)
        if unproved is not None:
            raise InputError(f"expected facts that are proved for {where}, but {unproved!r} is not")
        apart = [(x, y) for x, y in pairs if not self.equal(x, y)]
        if not apart:
            return True
        firsts, seconds = zip(*apart, strict=True)
        tried: set[str] = set()
        for depth in depths if cut is None else (0,):
            if cut is not None:
                asked = statement(apart, given, (), dict.fromkeys(n for n in cut if n.op != "const"))
            else:
                shared = set() if depth is None else frontier(firsts, seconds, depth)
                asked = statement(apart, given, shared)
            if asked.sha256 in tried:
                continue
            tried.add(asked.sha256)
            lemma = self._book.decide(name, asked)
            self.uses.append(Use(where, lemma))
            if lemma.holds:
                for x, y in apart:
                    self._join(x, y)
                return True
            if lemma.disagreement:
                return False
        return False

    def by_congruence(self, x: Node, y: Node, depth: int = _DEEPEST) -> bool:
        """Join x and y if they are one operator on operands proved equal, looking a few operators deep."""
        if self.equal(x, y):
            return True
        if x.op != y.op or x.params != y.params or not x.args or depth == 0:
            return False
        orders = [y.args]
        if OPS[y.op].commutative:
            orders.append((y.args[1], y.args[0]))
        for args in orders:
            if all(self.by_congruence(a, b, depth - 1) for a, b in zip(x.args, args, strict=True)):
                self._join(x, y)
                return True
        return False

    def replaced(self, x: Node) -> Node:
        """x built again on the representatives of what it depends on: equal to x on every input."""
        return self.all_replaced([x])[0]

    def all_replaced(self, roots: Sequence[Node], instead: Mapping[Node, Node] | None = None) -> list[Node]:
        """Nodes built again on the representatives of what they depend on, each equal to the one it was.

        `instead` maps nodes to others of their class, to be used in their place.
        Errors: InputError for a replacement that has not been proved equal.
        """
        chosen = {old.index: new for old, new in (instead or {}).items()}
        wrong = next((old for old, new in (instead or {}).items() if not self.equal(old, new)), None)
        if wrong is not None:
            raise InputError(f"expected a replacement proved equal, but that of {wrong!r} is not")
        new: dict[int, Node] = {}
        for node in reachable(roots):
            if node.index in chosen:
                new[node.index] = chosen[node.index]
                continue
            made = node
            args = [new[a.index] for a in node.args]
            if any(a is not b for a, b in zip(args, node.args, strict=True)):
                made = self.graph.make(node.op, args, node.params)
                stands = self.representative(node)
                # What was proved to change nothing, as a choice between x and another, does not stand for x.
                if not chosen and stands.index >= node.index and stands not in args:
                    self._join(made, node)
                self._join(node, made)
            # With `instead`, what was built on the other definition stays as built.
            new[node.index] = made if chosen else self.representative(made)
        return [new[x.index] for x in roots]


def bits_of(c: Composition, name: str, x: Node, y: Node, result: Node) -> int:
    """Where y, proved equal to x, is bits of a wider node: what reads these bits from there.

    The builder takes bits of bits from the wider node at once, so that what follows y may not meet y.
    For all x and all wider nodes of which x is those bits, bits of the wider node are bits of x.  How many
    nodes were made equal.
    """
    if y.op != "extract":
        return 0
    g, (wide,), (high, low) = c.graph, y.args, y.params
    # The same holds of x: its bits are read from its own wider node.
    own = x.args[0] if x.op == "extract" else x
    same = g.eq(x, y)
    if not c.equal(c.replaced(same), g.truth(True)):
        return 0
    made = 0
    for node in reachable([result]):
        if node.op == "extract" and node.args == y.args and node is not y:
            top, bottom = node.params
            if low <= bottom and top <= high:
                made += c.by_lemma(
                    name, g.extract(x, top - low, bottom - low), node, name="bits of the sum",
                    given=[same], cut=[own, wide],
                )  # fmt: skip
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofStep:
    """How one pair of cut points became one.

    Ranges and units: `lemmas` counts applications by lemma digest.
    """

    name: str
    #: `same definition`, `lemmas`, `intervals of exponents`, or `not proved`.
    how: str
    lemmas: Mapping[str, int]

    @property
    def proved(self) -> bool:
        """Whether the pair is known to be equal."""
        return self.how != "not proved"


def step_of(composition: Composition, name: str, since: int, proved: bool, same: bool) -> ProofStep:
    """The record of one pair from the lemmas applied since `since`."""
    uses = Counter(u.lemma.sha256 for u in composition.uses[since:] if u.lemma.holds)
    how = "not proved" if not proved else "same definition" if same else "lemmas"
    return ProofStep(name=name, how=how, lemmas=dict(uses))
