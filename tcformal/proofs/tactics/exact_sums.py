"""The exact value of a truncated sum: partial sums in widths that their proved bounds fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.tactics.cuts import Composition
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import AlignedTerm, Total


@dataclass(frozen=True, slots=True)
class Summands:
    """The record of one truncated sum."""

    total: Total

    @property
    def partials(self) -> tuple[Node, ...]:
        """The partial sums from the leaves to the root of the tree."""
        return tuple(x.node for x in self.total.partials)

    def largest(self, x: AlignedTerm) -> tuple[int, int]:
        """The largest significand and aligned magnitude that a term can have, from its widths (a guess)."""
        widths = [factor.width for factor in x.term.factors] or [x.term.significand.width]
        full = math.prod((1 << width) - 1 for width in widths)
        # Alignment that rounds may carry, for which it has one operator more than a shift.
        up = int(x.aligned.op == "add_mod")
        most = (full << self.total.fraction_bits >> x.term.fraction_bits) + up
        return full, min(most, (1 << x.aligned.width) - 1)

    @property
    def width(self) -> int:
        """Bits of the largest sum, sign included: those of the exact sum."""
        widest_term = max(t.aligned.width for t in self.total.terms)
        return max(sum(self.largest(t)[1] for t in self.total.terms).bit_length(), widest_term) + 1


@dataclass(frozen=True, slots=True)
class Bounded:
    """A two's complement number and the proved fact that its magnitude is at most `most`."""

    node: Node
    most: int
    fact: Node


class ExactSum:
    """The partial sums of one sum, exactly: each as wide as its bound needs.

    Soundness: nothing is assumed; bounds are guesses from the widths and operators, and each becomes a
    fact by a lemma, given the facts about its operands, before another lemma may use it.
    """

    def __init__(self, c: Composition, summands: Summands) -> None:
        self.c = c
        self.summands = summands
        g = c.graph
        self._leaves = [signed_magnitude(g, t.term.sign, t.aligned) for t in summands.total.terms]
        #: What each node of the unbounded unit's tree stands for.
        self._exact: dict[int, Bounded] = {}
        #: The widest unit's root, and the exact sum extended to its width: proved equal.
        self._wide_root: Node | None = None
        self._wide_exact: Node | None = None
        #: For each total: the exact sum, and what the last partial sum and the total were shown to be.
        self.extensions: dict[int, tuple[Node, Node, Node]] = {}

    @property
    def total(self) -> Node:
        """The node that stands for the exact sum."""
        return self.c.representative(self._exact[self.summands.partials[-1].index].node)

    # ------------------------------------------------------------------ exact values
    def prove(self, widest: Sequence[Node]) -> bool:
        """Build the exact partial sums, and make the widest unit's partial sums their extensions."""
        c, g = self.c, self.c.graph
        own_width = self.summands.partials[-1].width
        wide_width = widest[-1].width
        for term, leaf in zip(self.summands.total.terms, self._leaves, strict=True):
            bounded = self.bounded_leaf(term, leaf)
            if bounded is None:
                return False
            self._exact[g.wrap_to_mod(leaf, own_width).index] = bounded
        for partial, wide in zip(self.summands.total.partials, c.all_replaced(widest), strict=True):
            mine = partial.node
            # In the order of definition, so that one lemma on other sums is one statement.
            if len(partial.of) != 2 or any(a.index not in self._exact for a in partial.of):
                return False
            p, q = (self._exact[a.index] for a in sorted(partial.of, key=lambda n: n.index))
            total = self._added(p, q)
            if total is None:
                return False
            self._exact[mine.index] = total
            tight = total.node.width <= max(p.node.width, q.node.width)
            apart = g.add_mod(extended(g, p.node, wide_width), extended(g, q.node, wide_width))
            if not (
                c.by_congruence(wide, apart)
                and c.by_lemma(
                    "exact partial sums", apart, extended(g, total.node, wide_width),
                    name=f"a sum on {wide_width} bits extends the exact sum on {total.node.width}",
                    given=(p.fact, q.fact) if tight else (), cut=(p.node, q.node),
                )
            ):  # fmt: skip
                return False
            self._wide_root, self._wide_exact = wide, extended(g, total.node, wide_width)
        return True

    def _fact(self, fact: Node, given: Sequence[Node], cut: Sequence[Node], name: str) -> bool:
        """Prove that a node of width 1 is 1 on every input."""
        return self.c.by_lemma("bounds", self.c.graph.truth(True), fact, given=given, cut=cut, name=name)

    def bounded_leaf(self, x: AlignedTerm, leaf: Node) -> Bounded | None:
        """A signed aligned term, bounded by the product of its factors' largest values."""
        g = self.c.graph
        significand, aligned = x.term.significand, x.aligned
        full, most = self.summands.largest(x)
        small = g.truth(True)
        if x.term.factors:
            p, q = x.term.factors
            small = g.ule(significand, g.const(full, significand.width))
            if not self._fact(small, (), (p, q), f"a product of {p.width} and {q.width} bits is bounded"):
                return None
        kept = g.ule(aligned, g.const(most, aligned.width))
        cut = (significand, x.shift, x.term.sign)
        if not self._fact(kept, (small,), cut, f"an aligned term is at most {most}"):
            return None
        fact = within(g, leaf, most)
        if not self._fact(fact, (kept,), (aligned, x.term.sign), f"a signed term is within ±{most}"):
            return None
        return Bounded(leaf, most, fact)

    def _added(self, p: Bounded, q: Bounded) -> Bounded | None:
        """The sum of two bounded numbers, in as many bits as its bound needs."""
        g, most = self.c.graph, p.most + q.most
        width = max(most.bit_length() + 1, p.node.width, q.node.width)
        total = g.add_mod(extended(g, p.node, width), extended(g, q.node, width))
        fact = within(g, total, most)
        if not self._fact(fact, (p.fact, q.fact), (p.node, q.node), f"a partial sum is within ±{most}"):
            return None
        return Bounded(total, most, fact)

    # ------------------------------------------------------------------ other widths
    def extends(self, partials: Sequence[Node], total: Node, *, first: bool = False) -> bool:
        """Make `total`, the sum of a unit with these partial sums, the extension of the exact sum.

        `first` makes the unit's own node stand for the class, else the extension does.
        """
        c, g = self.c, self.c.graph
        width = partials[-1].width
        if self._wide_root is None or self._wide_exact is None:
            return False
        wide_width = self._wide_root.width
        wide: dict[int, Node] = {}
        for leaf in self._leaves:
            short, long = g.wrap_to_mod(leaf, width), g.wrap_to_mod(leaf, wide_width)
            wide[short.index] = long
            if not c.by_lemma(
                "addends", short, g.extract(long, width - 1, 0), cut=(leaf,),
                name=f"the low {width} bits of {leaf.width} bits extended to {wide_width}",
            ):  # fmt: skip
                return False
        root = self._wide_root
        for node in c.all_replaced(partials):
            if node.op != "add_mod" or any(a.index not in wide for a in node.args):
                return False
            p, q = (wide[a.index] for a in node.args)
            low = g.add_mod(g.extract(p, width - 1, 0), g.extract(q, width - 1, 0))
            root = g.add_mod(p, q)
            wide[node.index] = root
            if not (
                c.by_congruence(node, low)
                and c.by_lemma(
                    "partial sums", low, g.extract(root, width - 1, 0), cut=(p, q),
                    name=f"the low {width} bits of a sum on {wide_width}",
                )
            ):  # fmt: skip
                return False
        if not c.equal(root, self._wide_root):
            return False
        exact = self.total
        long = extended(g, exact, wide_width)
        cut_off = g.extract(long, width - 1, 0)
        short, whole = g.wrap_to_mod(exact, width), extended(g, exact, total.width)
        if not (
            c.by_congruence(self._wide_exact, long)
            and c.by_congruence(g.extract(root, width - 1, 0), cut_off)
            and c.equal(partials[-1], cut_off)
        ):
            return False
        # The first of a pair stands for both.
        cut = (cut_off, short) if first else (short, cut_off)
        name = f"{exact.width} bits extended to {wide_width} and cut off at {width}"
        if not c.by_lemma("sum", *cut, cut=(exact,), name=name):
            return False
        # The total is the last partial sum, cut and extended; here the same of the exact sum's extension.
        summed, own = c.all_replaced([partials[-1], total])
        again = c.all_replaced([own], {summed: short})[0]
        grown = (again, whole) if first else (whole, again)
        name = f"{exact.width} bits extended to {width} and then made {total.width}"
        if not c.by_lemma("sum", *grown, cut=(exact,), name=name):
            return False
        self.extensions[total.index] = (exact, short, whole)
        return True


def largest_code(x: Node) -> tuple[int, list[Node]]:
    """The largest value that a sum of fields can have (a guess, to be proved), and the fields."""
    full = (1 << x.width) - 1
    if x.op == "const":
        return x.params[1], []
    if x.op == "add_mod" or x.op == "zero_extend" or (x.op == "extract" and x.params[1] == 0):
        parts = [largest_code(a) for a in x.args]
        return min(sum(most for most, _ in parts), full), [f for _, fields in parts for f in fields]
    return full, [x]


def extended(g: Graph, x: Node, width: int) -> Node:
    """x as two's complement in `width` bits, at least its own."""
    return g.sign_extend_to(x, width)


def within(g: Graph, x: Node, most: int) -> Node:
    """1 where x, as two's complement, is in [-most, most]."""
    low = g.const((1 << x.width) - most, x.width)
    return g.and_(g.sle(low, x), g.sle(x, g.const(most, x.width)))
