"""Two circuits of one shape: their nodes are equal where what they are made of is."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.tactics.bounds.derivation import Derivation

#: Operators whose operands may change places.
_EITHER_WAY = ("and_", "or_", "xor", "eq", "add_mod", "mul_expand")


class Congruence:
    """Theorems that pairs of nodes are equal, from those of the pairs `known`.

    Parts of known nodes, which may be taken one by one, are made of the nodes `inner`, or of inputs.
    """

    def __init__(
        self, d: Derivation, known: dict[tuple[Node, Node], int], inner: Sequence[Node] = ()
    ) -> None:
        self.d, self.g = d, d.g
        self._given, self._inner = list(known.values()), list(inner)
        self._parts = [_between([pair[side] for pair in known], inner) for side in (0, 1)]
        self._shown: dict[tuple[Node, Node], int] = dict(known)
        self._alike: dict[tuple[Node, Node], tuple[tuple[Node, Node], ...] | None] = {}

    def equal(self, x: Node, y: Node) -> list[int]:
        """The theorem that two nodes are equal, none for one node; ProofError where their shapes differ."""
        if x is y:
            return []
        if (x, y) not in self._shown:
            of = self._operands(x, y)
            if of is None:
                if not self._is_part(x, y):
                    raise ProofError("two circuits are not of one shape")
                goal = self.g.eq(x, y)
                self._shown[x, y] = self.d.lemma("a part of equal numbers", goal, self._given, (self._inner,))
                return [self._shown[x, y]]
            given = [i for p, q in of for i in self.equal(p, q)]
            cut = [n for n in (*x.args, *y.args) if n.op not in ("const", "input")]
            goal = self.g.eq(x, y)
            # Cut at the operands themselves: what they are made of is not looked at.
            self._shown[x, y] = Derivation.lemma(self.d, "a node of two circuits", goal, given, (cut,))
        return [self._shown[x, y]]

    def _operands(self, x: Node, y: Node) -> tuple[tuple[Node, Node], ...] | None:
        """Pairs of operands that may be equal, or None for nodes that differ in another way."""
        if (x, y) in self._alike:
            return self._alike[x, y]
        self._alike[x, y] = None
        if x.op == y.op and x.params == y.params and x.width == y.width and len(x.args) == len(y.args):
            orders = [y.args, y.args[::-1]] if x.op in _EITHER_WAY and len(x.args) == 2 else [y.args]
            for args in orders:
                pairs = tuple(zip(x.args, args, strict=True))
                if pairs and all(self._same_shape(p, q) for p, q in pairs):
                    self._alike[x, y] = pairs
                    break
        return self._alike[x, y]

    def _same_shape(self, x: Node, y: Node) -> bool:
        return x is y or (x, y) in self._shown or self._operands(x, y) is not None or self._is_part(x, y)

    def _is_part(self, x: Node, y: Node) -> bool:
        one, two = self._parts
        if x.op == y.op == "extract" and x.params == y.params and x.args[0] in one and y.args[0] in two:
            return True
        return x in one and y in two and x.width == y.width and x.op == y.op != "input"


def _between(roots: Sequence[Node], stops: Sequence[Node]) -> set[Node]:
    """What nodes are made of, down to some others; constants are left out."""
    seen: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node not in seen and node.op != "const":
            seen.add(node)
            waiting += [] if node in stops else node.args
    return seen
