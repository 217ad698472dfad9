"""The rules of proof, and the check of a proof that is given as data.

A theorem H ⊢ φ says: on every input on which all nodes of H are 1, φ holds.  H are nodes of width 1; φ says
that a node of width 1 is 1, or that a polynomial over the values of nodes is 0, at least 0, or above 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from tcformal.errors import ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable

#: Factors, sorted, one of width 1 at most once; and what the exponent of 2 is the sum of, no coefficient 0.
Monomial = tuple[tuple[Node, ...], tuple[tuple[Node, int], ...]]
_UNIT: Monomial = ((), ())


@dataclass(frozen=True, slots=True)
class Poly:
    """A sum of q · n_1 ⋯ n_k · 2^(c_1·m_1 + …): q fractions, not 0, n_i and m_i nodes' values, c_i integers.

    Two that are equal as objects have equal values on every input.
    """

    terms: Mapping[Monomial, Fraction]

    @staticmethod
    def constant(q: Fraction | int) -> Poly:
        """A number."""
        return _collected([(_UNIT, Fraction(q))])

    @staticmethod
    def of(node: Node) -> Poly:
        """The unsigned value of a node."""
        return Poly.constant(node.params[1]) if node.op == "const" else Poly({((node,), ()): Fraction(1)})

    def __add__(self, other: Poly) -> Poly:
        return _collected([*self.terms.items(), *other.terms.items()])

    def __sub__(self, other: Poly) -> Poly:
        return self + other * -1

    def __mul__(self, other: Poly | Fraction | int) -> Poly:
        by = other if isinstance(other, Poly) else Poly.constant(other)
        return _collected((_product(m, n), p * q) for m, p in self.terms.items() for n, q in by.terms.items())

    def power_of_two(self) -> Poly:
        """2^self; ProofError unless self is an affine combination of nodes with integer coefficients."""
        constant, rest = 0, []
        for (atoms, exponents), q in self.terms.items():
            need(not exponents and len(atoms) < 2 and q.denominator == 1, "an affine exponent over integers")
            if atoms:
                rest.append((atoms[0], int(q)))
            else:
                constant = int(q)
        return Poly({((), tuple(sorted(rest, key=lambda x: x[0].index))): Fraction(2) ** constant})


def _collected(terms: Iterable[tuple[Monomial, Fraction]]) -> Poly:
    made: dict[Monomial, Fraction] = {}
    for m, q in terms:
        made[m] = made[m] + q if m in made else q
    return Poly({m: q for m, q in made.items() if q})


def _product(m: Monomial, n: Monomial) -> Monomial:
    """The product of two monomials; a node of width 1 is its own square."""
    atoms: list[Node] = []
    for x in sorted(m[0] + n[0], key=lambda x: x.index):
        if not (atoms and atoms[-1] is x and x.width == 1):
            atoms.append(x)
    one, other = dict(m[1]), dict(n[1])
    sums = {x: one.get(x, 0) + other.get(x, 0) for x in one | other}
    return tuple(atoms), tuple(sorted(((x, c) for x, c in sums.items() if c), key=lambda y: y[0].index))


Subject = TypeVar("Subject", Node, Poly)
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


class Theorem(NamedTuple):
    """Hypotheses ⊢ what the node or polynomial is."""

    hyps: frozenset[Node]
    relation: str
    about: Node | Poly


def need(holds: bool, what: str) -> None:
    """ProofError unless a side condition holds."""
    if not holds:
        raise ProofError(f"expected {what}, but the proof has another step")


class ProofKernel:
    """The theorems proved so far over the nodes of one graph; `steps` is their proof as plain data.

    Nodes and theorems are named by number; nodes are those that `roots` need, then others as they are made.
    """

    def __init__(self, graph: Graph, roots: Sequence[Node], judge: Judge) -> None:
        self.graph, self._judge = graph, judge
        self._nodes = reachable(roots)
        self.numbers = {node: i for i, node in enumerate(self._nodes)}
        self.theorems: list[Theorem] = []
        self.steps: list[list[Any]] = []

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

    def _of(self, i: int, kind: type[Subject]) -> tuple[frozenset[Node], str, Subject]:
        """A theorem about a node or about a polynomial."""
        t = self.theorem(i)
        if not isinstance(t.about, kind):
            raise ProofError(f"expected a theorem about a {kind.__name__}, but got another")
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

    def _make(self, op: str, args: Sequence[int], params: Sequence[int]) -> int:
        """A node, which says nothing."""
        need(all(type(p) is int for p in params), "integers")
        g, of = self.graph, [self._node(i) for i in args]
        return self._number(g.const(params[1], params[0]) if op == "const" else g.make(op, of, params))

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
        (hyps, relation, p), x = self._of(i, Poly), self._node(n)
        need(x.width == 1 and all(m == ((), ()) for m in p.terms), "a node of width 1, a theorem on a number")
        q = sum(p.terms.values())
        need({ZERO: q != 0, AT_LEAST: q < 0, ABOVE: q <= 0}[relation], "a false theorem")
        return self._proved(hyps - {x}, ONE, self.graph.not_(x))

    def _lemma(self, goal: int, given: Sequence[int], cut: Sequence[int]) -> int:
        """H ⊢ goal: no values of the inputs and of the cut nodes make all that is given 1 and the goal 0."""
        root, facts = self._node(goal), [self._of(i, Node) for i in given]
        need(root.width == 1, "a goal of width 1")
        free, fresh, made = {self._node(n) for n in cut}, Graph(), dict[Node, Node]()
        stack = [*(x for *_, x in facts), root]
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
        wrong = fresh.and_(fresh.not_(made[root]), *(made[x] for *_, x in facts))
        need(self._judge(fresh, wrong), "a lemma that holds")
        return self._proved(frozenset().union(*(hyps for hyps, *_ in facts)), ONE, root)

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
            hyps, _, shown = self._of(int(*side), Node)
            need(shown is _SIDE[node.op](self.graph, node, *node.args), "the side condition of the operator")
        return self._proved(hyps, ZERO, value - _MEANING[node.op](node, args))

    def _fact(self, i: int) -> int:
        """A comparison that is 1, as an (in)equality of integers; any other bit that is 1, as 1."""
        hyps, _, node = self._of(i, Node)
        x, y = map(Poly.of, node.args if node.op in ("eq", "ule", "ult") else (node, self.graph.truth(True)))
        if node.op in ("ule", "ult"):
            return self._proved(hyps, AT_LEAST, y - x - Poly.constant(int(node.op == "ult")))
        return self._proved(hyps, ZERO, x - y)

    def _power(self, i: int) -> int:
        """From p = 0: 2^p - 1 = 0; from p >= 0: 2^p - 1 >= 0; p affine with integer coefficients."""
        hyps, relation, p = self._of(i, Poly)
        need(relation in (ZERO, AT_LEAST), "an equation or a lower bound")
        return self._proved(hyps, relation, p.power_of_two() - _1)

    def _arith(self, parts: Sequence[Any]) -> int:
        """Σ q_i · ∏ premises: each q_i without negative coefficients unless a premise is an equation."""
        total, hyps, equal, strict = Poly.constant(0), frozenset[Node](), True, False
        for data, premises in parts:
            q = made = self._poly(data)
            relations = []
            for some, relation, p in (self._of(i, Poly) for i in premises):
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
    name: getattr(ProofKernel, f"_{name}")
    for name in ("make", "assume", "cases", "refute", "lemma", "read", "fact", "power", "arith")
}


def check(
    graph: Graph, hyps: Sequence[Node], conclusions: Sequence[tuple[str, Poly]], roots: Sequence[Node],
    steps: Sequence[Sequence[Any]], last: Sequence[int], judge: Judge,
) -> None:  # fmt: skip
    """Check a proof of a statement; ProofError with the reason.  `last`: the theorems that conclude it."""
    kernel = ProofKernel(graph, roots, judge)
    for step in steps:
        kernel.step(*step)
    need(len(last) == len(conclusions), "a theorem for every conclusion")
    for t, (relation, p) in zip(map(kernel.theorem, last), conclusions, strict=True):
        need(t.hyps <= set(hyps), "no hypothesis beyond those of the statement")
        weaker = relation == AT_LEAST and t.relation in (ZERO, ABOVE)
        need(t.about == p and (weaker or t.relation == relation), "the statement itself")
