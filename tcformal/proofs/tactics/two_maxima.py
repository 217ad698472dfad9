"""Two largest exponents of the same terms: equal, or the second above the first by a little and small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tcformal.ir.node import Node
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import Maximum


@dataclass(frozen=True, slots=True)
class TwoMaxima:
    """The trees of comparisons of two sums, of which the second one's exponents are never smaller.

    Ranges and units: the second is the first, or above it by at most `apart` and at most `highest`; both are
    guesses, and nothing is used of them that is not proved.
    """

    s: SumSteps
    roots: tuple[Maximum, Maximum]
    apart: int
    highest: int

    def proved(self) -> Node | None:
        """The fact that this holds of the largest exponents; None where it is not proved."""
        return self._maxima(*self.roots)

    def _between(self, one: Maximum, two: Maximum) -> Node:
        """What is to hold of two exponents."""
        g = self.s.graph
        first, second = self.s.code(one), self.s.code(two)
        near = g.ule(g.sub_mod(second, first), g.const(self.apart, self.s.bits))
        return g.and_(near, g.or_(g.eq(first, second), g.sle(second, self.s.number(self.highest))))

    def _maxima(self, one: Maximum, two: Maximum) -> Node | None:
        """The same of all exponents below two largest ones."""
        fact = self._between(one, two)
        if not one.halves:
            name = "one exponent of both sides, or a larger one that is small"
            same = self.s.fact(fact, [one.code], name) if one.code is two.code else self.s.of_all(fact, name)
            return fact if same and not two.halves else None
        pairs = list(zip(one.halves, two.halves, strict=False))
        halves = [self._maxima(*pair) for pair in pairs]
        given = [x for x in halves if x is not None]
        if len(given) != 2 or not two.halves:
            return None
        cut = [x.code for pair in pairs for x in pair]
        return fact if self.s.fact(fact, cut, "the same of the larger ones", given) else None

    def below(self) -> Iterator[list[Node] | None]:
        """For each term the facts that no exponent of it lies above the largest; None for an open one."""
        for pair in zip(*(_paths(x, []) for x in self.roots), strict=True):
            facts = [self._under(path) for path in pair]
            yield None if None in facts else [x for x in facts if x is not None]

    def _under(self, path: Sequence[Maximum]) -> Node | None:
        """An exponent is at most the largest: `path` leads down to it, each the larger of two."""
        g, known = self.s.graph, []
        for above, x in pairwise(path):
            fact = g.sle(self.s.code(x), self.s.code(above))
            if not self.s.fact(fact, [h.code for h in above.halves], "none is above the larger of two"):
                return None
            known.append(fact)
        fact = g.sle(self.s.code(path[-1]), self.s.code(path[0]))
        cut = [x.code for x in path]
        return fact if self.s.fact(fact, cut, "nor above the largest", known) else None

    def bounded(self, largest: tuple[Exponent, Exponent]) -> list[Node] | None:
        """The facts that the largest exponents are what their codes stand for; None where one is open."""
        facts: list[Node] = []
        for root, x in zip(self.roots, largest, strict=True):
            high = x.high - root.low >> root.code.width == 0
            made = [self._floor(root, x.low)] if x.low > root.low else []
            made += [self._ceiling(root, self.s.number(x.high))] if high else []
            if None in made:
                return None
            facts += [fact for fact in made if fact is not None]
        return facts

    def _floor(self, root: Maximum, low: int) -> Node | None:
        """That a largest exponent is at least `low`, as one of its terms is."""
        g, s, bound = self.s.graph, self.s, self.s.number(low)
        # The last of the terms is c, whose exponents reach furthest up.
        for path in reversed(list(_paths(root, []))):
            least, under = g.sle(bound, s.code(path[-1])), self._under(path)
            if under is None or not s.of_all(least, f"an exponent is at least {low}"):
                continue
            fact = g.sle(bound, s.code(root))
            return (
                fact
                if s.fact(fact, [path[-1].code, root.code], "so is the largest", [least, under])
                else None
            )
        return None

    def _ceiling(self, x: Maximum, bound: Node) -> Node | None:
        """That a largest exponent is at most a bound, as all of its terms are."""
        fact = self.s.graph.sle(self.s.code(x), bound)
        if not x.halves:
            return fact if self.s.of_all(fact, "an exponent is in its range") else None
        halves = [self._ceiling(half, bound) for half in x.halves]
        given = [half for half in halves if half is not None]
        proved = len(given) == 2 and self.s.fact(fact, [h.code for h in x.halves], "so is the larger", given)
        return fact if proved else None


def _paths(x: Maximum, above: list[Maximum]) -> Iterator[list[Maximum]]:
    """From the largest exponent down to each single one, in order."""
    here = [*above, x]
    if not x.halves:
        yield here
    for half in x.halves:
        yield from _paths(half, here)
