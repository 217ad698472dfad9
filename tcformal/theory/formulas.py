"""Claims about a circuit, formulas over its nodes as `coq/Circuit.v` has them; apart, to lay beside it.

One object is printed for Coq and turned into bits for a solver, so that a certificate is of what Coq reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NoReturn

from tcformal.ir.build import Graph
from tcformal.ir.node import Node


def _binary(name: str, *, swapped: bool = False) -> Callable[[Expr, Expr | int], Expr]:
    """An operator of Python as a constructor of two arguments; swapped: the second one comes first."""

    def made(a: Expr, b: Expr | int) -> Expr:
        pair = a, _expr(b)
        return Expr(name, pair[::-1] if swapped else pair)

    return made


def _expr(x: Expr | int) -> Expr:
    return x if isinstance(x, Expr) else Expr("Num_", (x,))


@dataclass(frozen=True, slots=True)
class Expr:
    """A term or a formula: the constructor of `Circuit.v`, and what it is applied to.

    Of terms, + - * and the shift <<, 0 where its right side is negative; comparisons < and <= are formulas;
    of formulas, & | and ~.  Integers may stand on either side.
    """

    name: str
    args: tuple[Expr | Node | int, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    __add__, __radd__ = _binary("Plus"), _binary("Plus", swapped=True)
    __sub__, __rsub__ = _binary("Minus"), _binary("Minus", swapped=True)
    __mul__, __rmul__ = _binary("Times"), _binary("Times", swapped=True)
    __lshift__, __rlshift__ = _binary("Shift"), _binary("Shift", swapped=True)
    __lt__, __gt__ = _binary("Less"), _binary("Less", swapped=True)
    __le__, __ge__ = _binary("AtMost"), _binary("AtMost", swapped=True)
    __and__, __or__ = _binary("Both"), _binary("Either")

    def __invert__(self) -> Expr:
        return Expr("Negation", (self,))

    def __bool__(self) -> NoReturn:
        raise TypeError("a formula is neither true nor false here: comparisons cannot be chained")

    def __post_init__(self) -> None:
        # Parts are shared: a hash that walks them would take as long as the expression is when it is written.
        object.__setattr__(self, "_hash", hash((self.name, self.args)))

    def __hash__(self) -> int:
        return self._hash

    def coq(self, names: Callable[[Node], str]) -> str:
        """The expression as Coq reads it."""
        return self.coq_with(names, lambda x: x.coq(names))

    def coq_with(self, names: Callable[[Node], str], text: Callable[[Expr], str]) -> str:
        """The expression as Coq reads it, its parts as `text` has them."""
        words = [self.name]
        for x in self.args:
            words.append(
                text(x) if isinstance(x, Expr) else names(x) if isinstance(x, Node) else integer_text(x)
            )
        return f"({' '.join(words)})"

    def nodes(self) -> Iterable[Node]:
        """Every node that is named, once."""
        seen: set[Expr | Node] = set()
        stack: list[Expr] = [self]
        while stack:
            for x in stack.pop().args:
                if isinstance(x, int) or x in seen:
                    continue
                seen.add(x)
                if isinstance(x, Expr):
                    stack.append(x)
                else:
                    yield x


@dataclass(frozen=True, slots=True)
class Claim:
    """The goal holds wherever all that is given does.

    `free`: the nodes at which the circuit is cut when the claim is decided: they may have any value, so that
    what is decided is at least as strong as the claim.
    """

    given: tuple[Expr, ...]
    goal: Expr
    free: frozenset[Node]

    def coq(self, names: Callable[[Node], str]) -> str:
        """The claim as Coq reads it."""
        return f"Claim [{'; '.join(x.coq(names) for x in self.given)}] {self.goal.coq(names)}"


def make_claim(given: Sequence[Expr], goal: Expr, free: Sequence[Node] = ()) -> Claim:
    """A claim that is decided with the circuit cut at some nodes.

    What reads a negation may have been built of what is negated: the cut is there.
    """
    cut = (x.args[0] if x.op == "not_" else x for x in free)
    return Claim(tuple(given), goal, frozenset(x for x in cut if x.op not in ("const", "input")))


def integer_text(number: int) -> str:
    """An integer as Coq reads it."""
    return f"({number})" if number < 0 else str(number)


def num(value: int) -> Expr:
    """An integer."""
    return Expr("Num_", (value,))


def _of_node(name: str) -> Callable[[Node], Expr]:
    return lambda node: Expr(name, (node,))


#: A node's value; its value in two's complement; that a node of one bit is 1.
u, sg, is_one = _of_node("U"), _of_node("Sg"), _of_node("Is")
#: The smaller of two; that both are one.
lower, equal = _binary("Low"), _binary("Equal")


def magnitude(a: Expr) -> Expr:
    """|a|."""
    return Expr("Abs", (a,))


def bits(low: int, count: int, a: Expr) -> Expr:
    """`count` bits of a value that is not negative, from bit `low` on."""
    return Expr("Bits", (low, count, a))


def choice(condition: Expr, a: Expr | int, b: Expr | int) -> Expr:
    """a where the condition holds, else b."""
    return Expr("If", (condition, _expr(a), _expr(b)))


ALWAYS = equal(num(0), 0)
NEVER = ~ALWAYS


def iff(a: Expr, b: Expr) -> Expr:
    """a exactly where b."""
    return a & b | ~a & ~b


def differ(a: Expr, b: Expr) -> Expr:
    """Exactly one of a and b."""
    return ~iff(a, b)


def all_of(items: Iterable[Expr]) -> Expr:
    """Every one of them."""
    return reduce(lambda x, y: y & x, reversed(list(items)), ALWAYS)


def any_of(items: Iterable[Expr]) -> Expr:
    """At least one of them."""
    return reduce(lambda x, y: y | x, reversed(list(items)), NEVER)


def between(low: int, a: Expr, high: int) -> Expr:
    """low ≤ a ≤ high."""
    return (low <= a) & (a <= high)


def within(bound: int, a: Expr) -> Expr:
    """-bound ≤ a ≤ bound."""
    return between(-bound, a, bound)


@dataclass(frozen=True, slots=True)
class _Integer:
    """An integer in a graph: two's complement where `low` is negative, unsigned elsewhere; in [low, high]."""

    node: Node
    low: int
    high: int


def make(g: Graph, op: str, args: Sequence[Node], params: Sequence[int] = ()) -> Node:
    """A node as it is said, but products of the same factors are one, in whichever order."""
    return g.make(op, sorted(args, key=lambda x: x.index) if op == "mul_expand" else args, params)


class Bits:
    """Expressions as nodes of a graph, each integer as wide as its range needs, so that nothing wraps."""

    def __init__(self, graph: Graph, of: Mapping[Node, Node]) -> None:
        self._g, self._of = graph, of
        self._formulas, self._terms = dict[Expr, Node](), dict[Expr, _Integer]()

    def formula(self, x: Expr) -> Node:
        """A node of one bit."""
        if x not in self._formulas:
            self._formulas[x] = self._formula(x)
        return self._formulas[x]

    def term(self, x: Expr) -> _Integer:
        """An integer."""
        if x not in self._terms:
            self._terms[x] = self._term(x)
        return self._terms[x]

    def _formula(self, x: Expr) -> Node:
        g = self._g
        if x.name == "Is":
            return self._node(x)
        if x.name in ("Both", "Either"):
            return g.make("and_" if x.name == "Both" else "or_", [self.formula(y) for y in _exprs(x)])
        if x.name == "Negation":
            return g.make("not_", (self.formula(_exprs(x)[0]),))
        first, second = _exprs(x)
        if x.name == "Equal" and first.name == "U" and second == num(0):
            return self._is_zero(self._node(first))
        for a, b, swapped in ((first, second, False), (second, first, True)):
            # That b is a · 2^n is what circuits that shift a to the left compute.
            moved = None if swapped and x.name == "Equal" else _moved(a)
            if moved is not None and not _has_shift(b):
                return self._beside_shift(x.name, moved, b, swapped)
        return self._compared(x.name, self.term(first), self.term(second))

    def _compared(self, name: str, first: _Integer, second: _Integer) -> Node:
        a, b = self._alike(first, second)
        names = {"Equal": ("eq", "eq"), "Less": ("ult", "slt"), "AtMost": ("ule", "sle")}[name]
        return self._g.make(names[min(a.low, b.low) < 0], (a.node, b.node))

    def _beside_shift(self, name: str, moved: tuple[Expr, Expr, int], b: Expr, swapped: bool) -> Node:
        """a · 2^(by + more) beside b, as a beside the floor of what b is divided by, and what is left of b.

        This is narrower, and what circuits that align b compute.
        """
        g, (x, shift, more), of = self._g, moved, self.term(b)
        a, by = self.term(x), self.term(shift)
        if shift.name == "Low" and by.high >= 0 and -of.low <= 1 << by.high > of.high:
            by = self.term(_exprs(shift)[0])  # no more is left by farther shifts
        right, places = "ashr" if of.low < 0 else "lshr", g.const(more, max(1, more.bit_length()))
        node = g.make(right, (g.make(right, (of.node, places)), by.node))
        back = g.make("shl_mod", (g.make("shl_mod", (node, by.node)), places))
        floor, whole = _Integer(node, min(of.low, 0), max(of.high, 0)), g.make("eq", (back, of.node))
        made = self._ordered(name, a, floor, whole, swapped)
        if by.low >= 0:
            return made
        negative = g.make("extract", (by.node,), (by.node.width - 1, by.node.width - 1))
        pair = (of, self._number(0)) if swapped else (self._number(0), of)
        return g.make("ite", (negative, self._compared(name, *pair), made))

    def _ordered(self, name: str, a: _Integer, floor: _Integer, whole: Node, swapped: bool) -> Node:
        """a beside a number that is its floor, or more where it is not whole."""
        g = self._g
        if name == "Equal":
            return g.make("and_", (self._compared("Equal", a, floor), whole))
        if name == ("Less" if swapped else "AtMost"):  # the floor says it
            return self._compared(name, floor, a) if swapped else self._compared(name, a, floor)
        first, second = (floor, a) if swapped else (a, floor)
        edge = whole if swapped else g.make("not_", (whole,))
        same = g.make("and_", (self._compared("Equal", a, floor), edge))
        return g.make("or_", (self._compared("Less", first, second), same))

    def _is_zero(self, node: Node) -> Node:
        """A product is 0 where a factor is, which a solver would have to see in a multiplier."""
        if node.op == "mul_expand":
            return self._g.make("or_", [self._is_zero(y) for y in node.args])
        return self._g.make("eq", (node, self._g.const(0, node.width)))

    def _node(self, x: Expr) -> Node:
        (node,) = x.args
        assert isinstance(node, Node)
        return self._of[node]

    def _term(self, x: Expr) -> _Integer:
        g = self._g
        if x.name == "Num_":
            (value,) = x.args
            assert isinstance(value, int)
            return self._number(value)
        if x.name == "U":
            node = self._node(x)
            return _Integer(node, 0, (1 << node.width) - 1)
        if x.name == "Sg":
            node = self._node(x)
            half = 1 << (node.width - 1)
            return _Integer(node, -half, half - 1)
        if x.name == "Bits":
            low, count, of = x.args
            assert isinstance(low, int)
            assert isinstance(count, int)
            assert isinstance(of, Expr)
            return self._slice(low, count, self.term(of))
        if x.name == "If":
            condition, first, second = _exprs(x)
            a, b = self._alike(self.term(first), self.term(second))
            node = g.make("ite", (self.formula(condition), a.node, b.node))
            return _Integer(node, min(a.low, b.low), max(a.high, b.high))
        if x.name == "Abs":
            return self._magnitude(self.term(_exprs(x)[0]))
        one, other = (self.term(y) for y in _exprs(x))
        if x.name == "Low":
            a, b = self._alike(one, other)
            node = g.make("ite", (self._compared("Less", one, other), a.node, b.node))
            return _Integer(node, min(a.low, b.low), min(a.high, b.high))
        if x.name == "Times":
            return self._product(one, other)
        if x.name == "Shift":
            return self._shift(one, other)
        high, low = one.high + other.high, one.low + other.low
        if x.name == "Minus":
            high, low = one.high - other.low, one.low - other.high
        width = _width(min(low, 0), high)
        left, right = (self._wide(y, width) for y in (one, other))
        return self._fit(g.make("add_mod" if x.name == "Plus" else "sub_mod", (left, right)), low, high)

    def _number(self, value: int) -> _Integer:
        width = _width(value, value)
        return _Integer(self._g.const(value % (1 << width), width), value, value)

    def _wide(self, x: _Integer, width: int) -> Node:
        """The bits of an integer in `width` of them, which may be fewer where the rest does not count."""
        if x.node.width > width:
            return self._g.make("extract", (x.node,), (width - 1, 0))
        grow = "sign_extend" if x.low < 0 else "zero_extend"
        return self._g.make(grow, (x.node,), (width - x.node.width,)) if x.node.width < width else x.node

    def _fit(self, node: Node, low: int, high: int) -> _Integer:
        """An integer of a range in two's complement, as narrow as it may be."""
        width = _width(low, high)
        return _Integer(
            self._g.make("extract", (node,), (width - 1, 0)) if width < node.width else node, low, high
        )

    def _alike(self, a: _Integer, b: _Integer) -> tuple[_Integer, _Integer]:
        """Both in one width, signed where one of them is."""
        low, high = min(a.low, b.low), max(a.high, b.high)
        width = max(_width(low, high), *(y.node.width + (low < 0 <= y.low) for y in (a, b)))
        return tuple(_Integer(self._wide(y, width), y.low, y.high) for y in (a, b))  # type: ignore[return-value]

    def _slice(self, low: int, count: int, x: _Integer) -> _Integer:
        if x.low < 0:
            raise ValueError(f"expected bits of a value that is not negative, but got one from {x.low} on")
        if count == 0 or low >= x.node.width:
            return self._number(0)
        high = min(low + count, x.node.width) - 1
        node, most = x.node, (1 << (high - low + 1)) - 1
        while node.op in ("concat", "extract"):  # as a circuit has it, where it has it
            by = -node.params[1] if node.op == "extract" else node.args[-1].width
            if node.op == "concat" and low < by <= high:
                break
            node = node.args[0 if low >= by else 1]
            high, low = (high - by, low - by) if low >= by else (high, low)
        return _Integer(self._g.make("extract", (node,), (high, low)), 0, most)

    def _magnitude(self, x: _Integer) -> _Integer:
        if x.low >= 0:
            return x
        g, most = self._g, max(-x.low, x.high)
        width = max(x.node.width, _width(0, most))
        node = self._wide(x, width)
        negative = g.make("extract", (node,), (width - 1, width - 1))
        return self._fit(g.make("ite", (negative, g.make("neg_mod", (node,)), node)), 0, most)

    def _product(self, a: _Integer, b: _Integer) -> _Integer:
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        low, high = min(ends), max(ends)
        if a.low >= 0 and b.low >= 0:
            return self._fit(make(self._g, "mul_expand", (a.node, b.node)), low, high)
        width = _width(low, high)
        return self._fit(make(self._g, "mul_expand", (self._wide(a, width), self._wide(b, width))), low, high)

    def _shift(self, a: _Integer, by: _Integer) -> _Integer:
        g = self._g
        if by.high < 0:
            return self._number(0)
        low, high = min(0, a.low << by.high), max(0, a.high << by.high)
        width = max(_width(low, high), by.high.bit_length() + 1)
        moved = g.make("shl_mod", (self._wide(a, width), by.node))
        if by.low < 0:
            negative = g.make("extract", (by.node,), (by.node.width - 1, by.node.width - 1))
            moved = g.make("ite", (negative, g.const(0, width), moved))
        return self._fit(moved, low, high)


def _moved(x: Expr) -> tuple[Expr, Expr, int] | None:
    """What is shifted, by what, and how many places more, of a term that is a shift or 2^n times one."""
    more = 0
    if x.name == "Times":
        x, factor = _exprs(x)
        (value,) = factor.args if factor.name == "Num_" else (0,)
        if not isinstance(value, int) or value <= 0 or value & (value - 1):
            return None
        more = value.bit_length() - 1
    if x.name != "Shift":
        return None
    of, by = _exprs(x)
    return of, by, more


def _has_shift(x: Expr) -> bool:
    return x.name == "Shift" or any(map(_has_shift, _exprs(x)))


def _exprs(x: Expr) -> tuple[Expr, ...]:
    return tuple(y for y in x.args if isinstance(y, Expr))


def _width(low: int, high: int) -> int:
    """Bits for a range: two's complement where it has negative numbers, unsigned elsewhere."""
    if low >= 0:
        return max(1, high.bit_length())
    return max((-low - 1).bit_length(), max(high, 0).bit_length()) + 1
