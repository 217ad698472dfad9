"""The sum of aligned terms: its value, and its sign and magnitude.

The kernel knows unsigned integers only: a number in two's complement of w bits is read as the unsigned one
that has its top bit turned, which is 2^(w-1) larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tcformal.errors import ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.semantics.reduce import signed_magnitude, split_sign
from tcformal.semantics.stages import PartialSum, Total


@dataclass(frozen=True, slots=True)
class SignedSum:
    """Theorem `equation`: ±magnitude - Σ ±aligned = 0; the magnitude is the low bits of `whole`."""

    sign: Node
    magnitude: Node
    whole: Node
    equation: int


class SignedTerm(Protocol):
    """±aligned, and the theorem `small` that aligned is at most `most`."""

    @property
    def sign(self) -> Node:
        """Its sign: u[1]."""

    @property
    def aligned(self) -> Node:
        """Its magnitude."""

    @property
    def most(self) -> int:
        """The largest that the magnitude can be."""

    @property
    def small(self) -> int:
        """The theorem that it is not larger."""


def added_in_pairs(g: Graph, addends: Sequence[Node]) -> tuple[Node, tuple[PartialSum, ...]]:
    """The balanced tree of sums of numbers of one width, none of which wraps: its root, all sums of two."""
    level, partials = list(addends), list[PartialSum]()
    while len(level) > 1:
        pairs = []
        for i in range(0, len(level) - 1, 2):
            pairs.append(g.add_mod(level[i], level[i + 1]))
            partials.append(PartialSum(pairs[-1], (level[i], level[i + 1])))
        level = pairs + level[2 * len(pairs) :]
    return level[0], tuple(partials)


class PartialSums:
    """Numbers in two's complement and what they are the sums of; none of them wraps."""

    def __init__(self, d: Derivation) -> None:
        self.d, self.g = d, d.g
        #: For each node the theorem that it, turned, is 2^(w-1) and its value, that value, and its largest
        #: magnitude.
        self._known: dict[Node, tuple[int, Poly, int]] = {}
        #: For each node that it lies within ± that.
        self._within: dict[Node, int] = {}

    def add_up(self, total: Total, terms: Sequence[SignedTerm]) -> None:
        """Every partial sum of a total."""
        width = total.partials[0].node.width
        for x in terms:
            self.addend(x, width)
        for p in total.partials:
            self.partial(p.node, p.of)

    def signed(self, bits: Node) -> SignedSum:
        """A sum as a sign and a magnitude."""
        d = self.d
        equation, value, _ = self.of(bits)
        sign, magnitude = split_sign(self.g, bits)
        given = [self._within[bits]]
        split = self._turned("the magnitude of a sum", bits, sign, magnitude, given, [bits])
        goal = sign_of(sign) * Poly.of(magnitude) - value
        chosen = self.g.ite(sign, self.g.neg_mod(bits), bits)
        return SignedSum(sign, magnitude, chosen, d.prove(goal, [], [(1, [equation]), (-1, [split])]))

    def within(self, node: Node) -> int:
        """The theorem that a partial sum lies within its largest magnitude."""
        return self._within[node]

    def _offset(self, node: Node) -> Node:
        """A number with its top bit turned."""
        return self.g.xor(node, self.g.const(1 << (node.width - 1), node.width))

    def _turned(
        self, what: str, node: Node, sign: Node, magnitude: Node, given: Sequence[int], cut: Sequence[Node]
    ) -> int:
        """A turned node less 2^(w-1) less ±magnitude = 0."""
        d, g, turned = self.d, self.g, self._offset(node)
        half = g.const(1 << (node.width - 1), node.width)
        size = g.zero_extend_to(magnitude, node.width)
        more, less = g.add_mod(half, size), g.sub_mod(half, size)
        chosen = g.ite(sign, less, more)
        same = d.equal(what, turned, chosen, given, (cut, []))
        up = d.read(more, d.lemma("that a magnitude fits", g.ule(more.args[0], more), (), ([magnitude],)))
        down = d.read(less, d.lemma("that a magnitude fits", g.ule(size, half), (), ([magnitude],)))
        goal = Poly.of(turned) - Poly.constant(1 << (node.width - 1)) - sign_of(sign) * Poly.of(magnitude)
        # A constant sign chooses by itself.
        reads = [] if chosen is more else [(d.read(chosen), chosen)]
        equations = [(same, turned), *reads, (up, more), (down, less), (d.read(size), size)]
        return d.prove(goal, equations)

    def _limited(self, node: Node, most: int, given: Sequence[int], cut: Sequence[Node]) -> None:
        """A node lies within ±most."""
        g = self.g
        if most >= 1 << (node.width - 1):
            raise ProofError(f"a partial sum of {node.width} bits may reach {most}")
        top = g.const(most, node.width)
        goal = g.and_(g.sle(node, top), g.sle(g.neg_mod(top), node))
        self._within[node] = self.d.lemma("the range of a partial sum", goal, given, (cut, []))

    def addend(self, x: SignedTerm, width: int) -> None:
        """±aligned in the width of the sum."""
        node = self.g.wrap_to_mod(signed_magnitude(self.g, x.sign, x.aligned), width)
        if node in self._known:
            return
        cut = [x.sign, x.aligned]
        made = self._turned("a term of a sum", node, x.sign, x.aligned, [x.small], cut)
        self._known[node] = made, sign_of(x.sign) * Poly.of(x.aligned), x.most
        self._limited(node, x.most, [x.small], cut)

    def _added(self, what: str, node: Node, of: Sequence[Node], given: Sequence[int]) -> int:
        """What the turned node is by those of `of`: their values add up to its own."""
        d, g = self.d, self.g
        width = max(x.width for x in (node, *of)) + 1
        turned = [self._offset(x) for x in (node, *of)]
        wide = [g.zero_extend_to(x, width) for x in turned]
        halves = [1 << (x.width - 1) for x in (node, *of)]
        # turned + the halves of the others = its own half + the others turned
        left = g.add_mod(wide[0], g.const(sum(halves[1:]), width))
        if len(of) == 2:
            right = g.add_mod(wide[1], wide[2])
            left = g.add_mod(wide[0], g.const(halves[0], width))
        else:
            right = g.add_mod(wide[1], g.const(halves[0], width))
        same = d.equal(what, left, right, given, (of,))
        equations = [(same, left)]
        for x in (left, right):
            fits = d.lemma("that a wide sum fits", g.ule(x.args[0], x), (), (turned,))
            equations.append((d.read(x, fits), x))
        equations += [(d.read(w), w) for w in wide if w.op == "zero_extend"]
        goal = Poly.of(turned[0]) - Poly.constant(halves[0])
        for t, h in zip(turned[1:], halves[1:], strict=True):
            goal = goal - Poly.of(t) + Poly.constant(h)
        # Read from the equation: left - right = 0 with both sums taken apart.
        start = d.arith([(1, [same])])
        del start
        return self._solved(goal, left, right, equations)

    def _solved(self, goal: Poly, left: Node, right: Node, equations: Sequence[tuple[int, Node]]) -> int:
        d = self.d
        (same, _), (left_read, _), (right_read, _), *rest = equations
        sign = d.about(same).terms[((left,), ())]
        return d.prove(goal, rest, [(sign, [same]), (-1, [left_read]), (1, [right_read])])

    def of(self, node: Node) -> tuple[int, Poly, int]:
        """A node of the sum that is a partial sum in another width."""
        if node not in self._known:
            if node.op not in ("sign_extend", "extract"):
                raise ProofError("the sum is not made of its terms")
            (below,) = node.args
            made, value, most = self.of(below)
            given = [self._within[below]]
            moved = self._added("a sum in another width", node, [below], given)
            self._known[node] = self.d.arith([(1, [moved]), (1, [made])]), value, most
            self._limited(node, most, given, [below])
        return self._known[node]

    def partial(self, node: Node, of: Sequence[Node]) -> None:
        """The sum of two."""
        if node in self._known:
            return
        if len(of) != 2:
            raise ProofError("a partial sum is no sum of two numbers")
        (one, p, m), (two, q, n) = (self.of(x) for x in of)
        given = [self._within[x] for x in of]
        added = self._added("a partial sum", node, of, given)
        self._known[node] = self.d.arith([(1, [added]), (1, [one]), (1, [two])]), p + q, m + n
        self._limited(node, m + n, given, of)


class Addition(PartialSums):
    """The partial sums of one total, from the leaves to the root."""

    def __init__(self, d: Derivation, total: Total, terms: Sequence[SignedTerm]) -> None:
        super().__init__(d)
        self.total, self.terms = total, terms

    def value(self) -> SignedSum:
        """The sum as a sign and a magnitude."""
        self.add_up(self.total, self.terms)
        return self.signed(self.total.bits)
