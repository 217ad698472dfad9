"""The rules of proof, and the check of a proof that is given as data.

A theorem H ⊢ φ says: on every input on which all nodes of H are 1, φ holds.  H are nodes of width 1; φ says
that a node of width 1 is 1, or that a polynomial over the values of nodes is 0, at least 0, or above 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tcformal.errors import ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.proofs.kernel.poly import Poly

#: Whether a node of width 1, of a graph of its own, is 0 on every input.
Judge = Callable[[Graph, Node], bool]

#: What a theorem says of its node or polynomial.
ONE, ZERO, AT_LEAST, ABOVE = "is 1", "= 0", ">= 0", "> 0"

_1 = Poly.constant(1)

#: What operators compute, as integers: of a node and the values of its arguments; `xor` of bits only.
_MEANING: dict[str, Callable[[Node, Sequence[Poly]], Poly]] = {
    "zero_extend": lambda n, a: a[0],
    "concat": lambda n, a: a[0] * (1 << n.args[1].width) + a[1],
    "mul_expand": lambda n, a: a[0] * a[1],
    "not_": lambda n, a: Poly.constant((1 << n.width) - 1) - a[0],
    "ite": lambda n, a: a[0] * a[1] + (_1 - a[0]) * a[2],
    "add_mod": lambda n, a: a[0] + a[1],
    "sub_mod": lambda n, a: a[0] - a[1],
    "shl_mod": lambda n, a: a[0] * a[1].power_of_two(),
    "xor": lambda n, a: a[0] + a[1] - a[0] * a[1] * 2,
}
#: What has to be 1 for it: that nothing wraps, and that no bit is shifted out.
_SIDE: dict[str, Callable[[Graph, Node, Node, Node], Node]] = {
    "add_mod": lambda g, n, x, y: g.ule(x, n),
    "sub_mod": lambda g, n, x, y: g.ule(y, x),
    "shl_mod": lambda g, n, x, y: g.eq(g.lshr(n, y), x),
}


@dataclass(frozen=True, slots=True)
class Theorem:
    """Hypotheses ⊢ what the node or polynomial is."""

    hyps: frozenset[Node]
    relation: str
    about: Node | Poly


def need(holds: bool, what: str) -> None:
    """ProofError unless a side condition holds."""
    if not holds:
        raise ProofError(f"expected {what}, but the proof has another step")


class Kernel:
    """The theorems proved so far over the nodes of one graph; `steps` is their proof as plain data.

    Nodes and theorems are named by number; nodes are those that `roots` need, then others as they are made.
    """

    def __init__(self, graph: Graph, roots: Sequence[Node], judge: Judge) -> None:
        self.graph, self._judge = graph, judge
        self._nodes: list[Node] = []
        self.numbers: dict[Node, int] = {}
        self.theorems: list[Theorem] = []
        self.steps: list[list[Any]] = []
        for node in reachable(roots):
            self._number(node)

    def step(self, rule: str, *data: Any) -> int:
        """Apply one rule; the number of its theorem, or of its node.  ProofError where it does not apply."""
        need(rule in _RULES, "a rule of the list")
        try:
            number = _RULES[rule](self, *data)
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise ProofError(f"expected data of the rule {rule}, but got other data: {error}") from error
        self.steps.append([rule, *data])
        return number

    def _number(self, node: Node) -> int:
        if node not in self.numbers:
            self.numbers[node] = len(self._nodes)
            self._nodes.append(node)
        return self.numbers[node]

    def _node(self, number: int) -> Node:
        need(type(number) is int and 0 <= number < len(self._nodes), "the number of a node")
        return self._nodes[number]

    def theorem(self, number: int) -> Theorem:
        """The theorem of that number."""
        need(type(number) is int and 0 <= number < len(self.theorems), "the number of an earlier theorem")
        return self.theorems[number]

    def _bit(self, i: int) -> tuple[frozenset[Node], Node]:
        t = self.theorem(i)
        if isinstance(t.about, Poly):
            raise ProofError("expected a theorem about a bit, but got one about a polynomial")
        return t.hyps, t.about

    def _sum(self, i: int) -> tuple[frozenset[Node], str, Poly]:
        t = self.theorem(i)
        if isinstance(t.about, Node):
            raise ProofError("expected a theorem about a polynomial, but got one about a bit")
        return t.hyps, t.relation, t.about

    def _poly(self, data: Sequence[Any]) -> Poly:
        """A polynomial from data: rows of p, q, k, nodes n and pairs (m, c): p/q · 2^k · ∏ n · 2^Σ c·m."""
        total = Poly.constant(0)
        for over, under, shift, atoms, exponents in data:
            need(all(type(x) is int for x in (over, under, shift, *(c for _, c in exponents))), "integers")
            made, power = Poly.constant(Fraction(over, under)), Poly.constant(shift)
            for n in atoms:
                made = made * Poly.of(self._node(n))
            for n, c in exponents:
                power = power + Poly.of(self._node(n)) * c
            total = total + made * power.power_of_two()
        return total

    def _proved(self, hyps: frozenset[Node], relation: str, about: Node | Poly) -> int:
        self.theorems.append(Theorem(hyps, relation, about))
        return len(self.theorems) - 1

    # ------------------------------------------------------------------ rules on hypotheses and bits
    def _make(self, op: str, args: Sequence[int], params: Sequence[int]) -> int:
        """A node, which says nothing."""
        need(all(type(p) is int for p in params), "integers")
        if op == "const":
            return self._number(self.graph.const(params[1], params[0]))
        return self._number(self.graph.make(op, [self._node(i) for i in args], params))

    def _assume(self, n: int) -> int:
        """n ⊢ n."""
        need(self._node(n).width == 1, "a node of width 1")
        return self._proved(frozenset({self._node(n)}), ONE, self._node(n))

    def _cases(self, i: int, j: int, n: int) -> int:
        """From H, n ⊢ φ and H', ¬n ⊢ φ: H, H' ⊢ φ; of two relations of one polynomial, at least 0 follows."""
        s, t, x = self.theorem(i), self.theorem(j), self._node(n)
        need(x.width == 1 and s.about == t.about, "one conclusion in both cases")
        relation = s.relation if s.relation == t.relation else AT_LEAST
        return self._proved((s.hyps - {x}) | (t.hyps - {self.graph.not_(x)}), relation, s.about)

    def _refute(self, i: int, n: int) -> int:
        """From H, n ⊢ φ, φ false of a number: H ⊢ ¬n."""
        (hyps, relation, p), x = self._sum(i), self._node(n)
        need(x.width == 1 and all(m == ((), ()) for m in p.terms), "a node of width 1, a theorem on a number")
        q = sum(p.terms.values())
        need({ZERO: q != 0, AT_LEAST: q < 0, ABOVE: q <= 0}[relation], "a false theorem")
        return self._proved(hyps - {x}, ONE, self.graph.not_(x))

    def _lemma(self, goal: int, given: Sequence[int], cut: Sequence[int]) -> int:
        """H ⊢ goal: no values of the inputs and of the cut nodes make all that is given 1 and the goal 0."""
        root, facts = self._node(goal), [self._bit(i) for i in given]
        need(root.width == 1, "a goal of width 1")
        free, fresh, made = {self._node(n) for n in cut}, Graph(), dict[Node, Node]()
        stack = [*(x for _, x in facts), root]
        while stack:
            node = stack[-1]
            waiting = [] if node in free else [a for a in node.args if a not in made]
            if node in made:
                stack.pop()
            elif node in free or node.op == "input":
                made[node] = fresh.input(f"v{len(fresh.inputs)}", node.width)
            elif node.op == "const":
                made[node] = fresh.const(node.params[1], node.width)
            elif waiting:
                stack.extend(waiting)
            else:
                made[node] = fresh.make(node.op, [made[a] for a in node.args], node.params)
        wrong = fresh.and_(fresh.not_(made[root]), *(made[x] for _, x in facts))
        need(self._judge(fresh, wrong), "a lemma that holds")
        return self._proved(frozenset().union(*(hyps for hyps, _ in facts)), ONE, root)

    # ------------------------------------------------------------------ rules from nodes to integers
    def _read(self, n: int, *side: int) -> int:
        """What an operator computes; `side` proves that nothing wraps, or of `lshr` names an inequality."""
        node, hyps = self._node(n), frozenset[Node]()
        args, value = [Poly.of(a) for a in node.args], Poly.of(node)
        if node.op == "lshr":
            # The floor of x / 2^s: the remainder is an integer in [0, 2^s - 1].
            power = args[1].power_of_two()
            rest = args[0] - value * power
            return self._proved(hyps, AT_LEAST, {0: rest, 1: power - _1 - rest}[int(*side)])
        need(node.op in _MEANING and (node.op != "xor" or node.width == 1), "an operator with a meaning")
        if node.op in _SIDE:
            hyps, shown = self._bit(*side)
            need(shown is _SIDE[node.op](self.graph, node, *node.args), "the side condition of the operator")
        return self._proved(hyps, ZERO, value - _MEANING[node.op](node, args))

    def _fact(self, i: int) -> int:
        """A comparison that is 1, as an (in)equality of integers; any other bit that is 1, as 1."""
        hyps, node = self._bit(i)
        if node.op not in ("eq", "ule", "ult"):
            return self._proved(hyps, ZERO, Poly.of(node) - _1)
        x, y = map(Poly.of, node.args)
        if node.op == "eq":
            return self._proved(hyps, ZERO, x - y)
        return self._proved(hyps, AT_LEAST, y - x - Poly.constant(int(node.op == "ult")))

    # ------------------------------------------------------------------ rules on polynomials
    def _power(self, i: int) -> int:
        """From p = 0: 2^p - 1 = 0; from p >= 0: 2^p - 1 >= 0; p affine with integer coefficients."""
        hyps, relation, p = self._sum(i)
        need(relation in (ZERO, AT_LEAST), "an equation or a lower bound")
        return self._proved(hyps, relation, p.power_of_two() - _1)

    def _arith(self, parts: Sequence[Any]) -> int:
        """Σ q_i · ∏ premises: each q_i without negative coefficients unless a premise is an equation."""
        total, hyps, equal, strict = Poly.constant(0), frozenset[Node](), True, False
        for data, premises in parts:
            q = made = self._poly(data)
            relations = []
            for some, relation, p in map(self._sum, premises):
                hyps, made = hyps | some, made * p
                relations.append(relation)
            if ZERO not in relations:
                need(all(x > 0 for x in q.terms.values()), "a multiplier of at least 0")
                equal = equal and not q.terms
                # A product of powers of 2 alone is above 0.
                strict |= all(r == ABOVE for r in relations) and any(not atoms for atoms, _ in q.terms)
            total = total + made
        return self._proved(hyps, ZERO if equal else ABOVE if strict else AT_LEAST, total)


_RULES: dict[str, Callable[..., int]] = {
    "node": Kernel._make, "assume": Kernel._assume, "cases": Kernel._cases, "refute": Kernel._refute,
    "lemma": Kernel._lemma, "read": Kernel._read, "fact": Kernel._fact, "power": Kernel._power,
    "arith": Kernel._arith,
}  # fmt: skip


def check(
    graph: Graph, hyps: Sequence[Node], conclusions: Sequence[tuple[str, Poly]], roots: Sequence[Node],
    steps: Sequence[Sequence[Any]], last: Sequence[int], judge: Judge,
) -> None:  # fmt: skip
    """Check a proof of a statement; ProofError with the reason.  `last`: the theorems that conclude it."""
    kernel = Kernel(graph, roots, judge)
    for step in steps:
        kernel.step(*step)
    need(len(last) == len(conclusions), "a theorem for every conclusion")
    for number, (relation, p) in zip(last, conclusions, strict=True):
        t = kernel.theorem(number)
        need(t.hyps <= set(hyps), "no hypothesis beyond those of the statement")
        weaker = relation == AT_LEAST and t.relation in (ZERO, ABOVE)
        need(t.about == p and (weaker or t.relation == relation), "the statement itself")
