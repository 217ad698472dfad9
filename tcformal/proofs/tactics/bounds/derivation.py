"""A proof in the making: kernel steps in terms of nodes and polynomials, and rewriting by equations.

Nothing here is trusted: what it makes is checked by the kernel, step by step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Protocol

from tcformal.errors import ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.proofs.kernel.rules import Poly, ProofKernel

#: A multiplier and the theorems that it multiplies.
Part = tuple[Poly | Fraction | int, Sequence[int]]


class Named(Protocol):
    """What is told, for people, what the next lemma says."""

    name: str


class Derivation:
    """ProofKernel steps; theorems are named by number, as the kernel does.

    Errors: ProofError, with the sentence `what`, for a lemma that was not proved, or an equation that the
    given ones do not give.
    """

    def __init__(self, kernel: ProofKernel, named: Named) -> None:
        self.kernel, self._named = kernel, named
        self.g: Graph = kernel.graph
        self._seen = len(self.g)
        self._lemmas: dict[tuple[Any, ...], int] = {}
        self._read: dict[tuple[Any, ...], int] = {}

    def _step(self, rule: str, *data: Any) -> int:
        """A step of the kernel; the nodes that it makes itself need no steps."""
        self._number(self.g.since(self._seen))
        made = self.kernel.step(rule, *data)
        self._seen = len(self.g)
        return made

    # ------------------------------------------------------------------ names
    def use(self, node: Node) -> int:
        """The number of a node, made in the proof where the statement has no such node.

        Nodes are made in the order of the graph here: operands that may change places stand in that order,
        and the check of the proof has to meet it again.
        """
        self._number([*self.g.since(self._seen), node])
        return self.kernel.numbers[node]

    def _number(self, nodes: Sequence[Node]) -> None:
        numbers = self.kernel.numbers
        for root in nodes:
            for x in () if root in numbers else reachable([root]):
                if x not in numbers:
                    self.kernel.step("make", x.op, [numbers[a] for a in x.args], list(x.params))
        self._seen = len(self.g)

    def about(self, i: int) -> Poly:
        """The polynomial of a theorem."""
        about = self.kernel.theorem(i).about
        if isinstance(about, Node):
            raise ProofError("expected a theorem about a polynomial, but got one about a bit")
        return about

    def _data(self, p: Poly) -> list[Any]:
        return [
            [*_odd(q), [self.use(n) for n in atoms], [[self.use(n), c] for n, c in exponents]]
            for (atoms, exponents), q in p.terms.items()
        ]

    # ------------------------------------------------------------------ bits
    def assume(self, node: Node) -> int:
        """node ⊢ node."""
        return self._step("assume", self.use(node))

    def lemma(
        self, what: str, goal: Node, given: Sequence[int] = (), cuts: Iterable[Sequence[Node]] = ((),)
    ) -> int:
        """given ⊢ goal, with the first of some cuts under which that is proved; `what` says what it is."""
        key, self._named.name = (goal, tuple(given)), what
        if key not in self._lemmas:
            for cut in cuts:
                kept = [n for n in dict.fromkeys(cut) if n.op not in ("const", "input")]
                try:
                    self._lemmas[key] = self._step(
                        "lemma", self.use(goal), list(given), [self.use(n) for n in kept]
                    )
                    break
                except ProofError:
                    continue
            else:
                raise ProofError(f"{what} was not proved")
        return self._lemmas[key]

    def cases(self, node: Node, yes: int, no: int) -> int:
        """One conclusion from a bit and from its complement."""
        return self._step("cases", yes, no, self.use(node))

    def refute(self, i: int, node: Node) -> int:
        """⊢ ¬node from a false theorem about a number under node."""
        return self._step("refute", i, self.use(node))

    # ------------------------------------------------------------------ integers
    def fact(self, i: int) -> int:
        """A comparison as an (in)equality of integers."""
        return self._step("fact", i)

    def read(self, node: Node, *side: int) -> int:
        """What an operator computes, as integers."""
        key = ("read", node, *side)
        if key not in self._read:
            self._read[key] = self._step("read", self.use(node), *side)
        return self._read[key]

    def placed(self, node: Node) -> list[tuple[int, Node]]:
        """What extended and shifted numbers are, down to the one that is neither: equations for `prove`."""
        made = []
        while node.op in ("zero_extend", "concat"):
            made.append((self.read(node), node))
            node = node.args[0]
        return made

    def range(self, node: Node) -> int:
        """A node is at most what its width holds."""
        top = self.g.const((1 << node.width) - 1, node.width)
        return self.fact(self.lemma("the range of a node", self.g.ule(node, top), (), ([node],)))

    def equal(
        self, what: str, x: Node, y: Node, given: Sequence[int] = (), cuts: Iterable[Sequence[Node]] = ((),)
    ) -> int:
        """given ⊢ U(x) - U(y) = 0."""
        if x is y:
            return self.arith([])
        goal = self.g.eq(x, y)
        i = self.fact(self.lemma(what, goal, given, cuts))
        return i if goal.args == (x, y) else self.arith([(-1, [i])])

    # ------------------------------------------------------------------ polynomials
    def arith(self, parts: Sequence[Part], *, negate: bool = False) -> int:
        """Σ q_i · ∏ premises."""
        sign = -1 if negate else 1
        rows = []
        for q, premises in parts:
            p = (q if isinstance(q, Poly) else Poly.constant(q)) * sign
            if p.terms:
                rows.append([self._data(p), list(premises)])
        return self._step("arith", rows)

    def power(self, i: int) -> int:
        """2^p - 1 of the polynomial p of a theorem."""
        return self._step("power", i)

    def prove(self, goal: Poly, equations: Sequence[tuple[int, Node]], parts: Sequence[Part] = ()) -> int:
        """goal = 0, or with `parts` at least 0: the goal rewritten by equations is the sum of the parts.

        An equation e = 0 rewrites a node that occurs in e alone and with the factor 1 or -1.
        """
        made: list[Part] = list(parts)
        left = goal
        for q, premises in parts:
            p = q if isinstance(q, Poly) else Poly.constant(q)
            for i in premises:
                p = p * self.about(i)
            left = left - p
        for i, node in equations:
            e = self.about(i)
            sign = e.terms[((node,), ())]
            assert abs(sign) == 1, "an equation solved for a node"
            factor = Poly({
                (tuple(n for n in atoms if n is not node), exponents): q * sign
                for (atoms, exponents), q in left.terms.items() if node in atoms
            })  # fmt: skip
            if factor.terms:
                made.append((factor, [i]))
                left = left - factor * e
            left = self._power_out(left, i, e, node, int(sign), made)
        if left.terms:
            raise ProofError(f"{len(left.terms)} terms are left of an equation")
        return self.arith(made)

    def _power_out(self, left: Poly, i: int, e: Poly, node: Node, sign: int, made: list[Part]) -> Poly:
        """The same for a node in exponents of 2."""
        found: dict[int, dict[Any, Fraction]] = {}
        for m, q in left.terms.items():
            k = dict(m[1]).get(node, 0)
            if k:
                found.setdefault(k, {})[m] = q
        for k, terms in found.items():
            times = -k * sign
            power = self.power(self.arith([(times, [i])]))
            moved = Poly(terms)
            # moved = moved · 2^(times·e) - moved · (2^(times·e) - 1)
            made.append((moved * -1, [power]))
            left = left + moved * self.about(power)
        return left

    def expanded(self, node: Node, leaves: Sequence[Node], what: str) -> list[tuple[int, Node]]:
        """Equations that give a node in terms of others."""
        made: list[tuple[int, Node]] = []
        stack, seen = [node], set(leaves)
        while stack:
            x = stack.pop()
            if x in seen or x.op not in ("add_mod", "zero_extend", "mul_expand", "xor", "concat", "not_"):
                continue
            seen.add(x)
            if x.op == "add_mod":
                fits = self.lemma(f"that {what} fits", self.g.ule(x.args[0], x), (), (leaves, ()))
                made.append((self.read(x, fits), x))
            else:
                made.append((self.read(x), x))
            stack += x.args
        # A node is rewritten before those that it is made of.
        return sorted(made, key=lambda y: -y[1].index)


def _odd(q: Fraction) -> tuple[int, int, int]:
    """p, q and k, p and q odd, of a fraction p/q · 2^k that is not 0."""
    up, down = (x & -x for x in (q.numerator, q.denominator))
    return q.numerator // up, q.denominator // down, up.bit_length() - down.bit_length()
