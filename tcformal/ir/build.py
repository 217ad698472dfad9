"""The graph: makes nodes, shares equal ones, folds constants, and keeps the labels of stages.

Growth is explicit (`add_expand`, `mul_expand`, `zero_extend_to`), loss is explicit (`truncate_*`,
`extract`), wrap-around exists only under `_mod` names, and constants must fit their width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tcformal.errors import WidthError
from tcformal.ir.node import Node
from tcformal.ir.ops import LEAVES, OPS, apply_op, signed


@dataclass(frozen=True, slots=True)
class Stage:
    """A labelled node with its reading: (raw, signed or unsigned, + offset) · 2^-scale."""

    node: Node
    signed: bool
    offset: int
    scale: int

    def read(self, raw: int) -> int:
        """The integer value of raw bits of this stage, in units of 2^-scale."""
        return (signed(raw, self.node.width) if self.signed else raw) + self.offset


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition that must hold on every input.

    Shapes: node u[1], 1 where the condition holds; `where` is the scope that relies on it.
    """

    node: Node
    why: str
    where: str


class Invariants:
    """The invariants of one graph in definition order; empty unless the graph is checked."""

    def __init__(self, g: Graph, checked: bool) -> None:
        self._g, self._checked = g, checked
        self._supposed: list[Node] = []
        self.kept: list[Invariant] = []

    def add(self, condition: Callable[[], Node], why: str) -> None:
        """Add a condition that must hold under the current suppositions."""
        if not self._checked:
            return
        node = condition()
        if node.width != 1:
            raise WidthError(f"expected a condition of width 1, but got width {node.width}")
        for supposed in self._supposed:
            node = self._g.or_(self._g.not_(supposed), node)
        self.kept.append(Invariant(node, why, self._g.here))

    @contextmanager
    def suppose(self, condition: Callable[[], Node]) -> Iterator[None]:
        """A context in which added invariants are required only where a condition (width 1) holds."""
        if not self._checked:
            yield
            return
        self._supposed.append(condition())
        try:
            yield
        finally:
            self._supposed.pop()


class Graph:
    """A DAG builder; a `checked` one keeps invariants.

    A graph that is not `folded` makes every node as it is asked for: equal ones are shared, and nothing else
    is simplified.

    Shapes: every method takes and returns single bit-vectors; widths are Python integers.
    Errors: WidthError for operands, constants or bit positions that the operator table forbids.
    """

    def __init__(self, *, checked: bool = False, folded: bool = True) -> None:
        self._folded = folded
        self.invariants = Invariants(self, checked)
        self._table: dict[tuple[str, tuple[Node, ...], tuple[int, ...]], Node] = {}
        self._nodes: list[Node] = []
        self._inputs: dict[str, Node] = {}
        self._input_names: list[str] = []
        self._labels: dict[str, Stage] = {}
        self._scope: tuple[str, ...] = ()

    # ------------------------------------------------------------------ making nodes
    def make(self, name: str, args: Sequence[Node] = (), params: Sequence[int] = ()) -> Node:
        """The node `name(args; params)`, shared if an equal one exists; a folded graph folds constants."""
        op = OPS[name]
        if name in LEAVES:
            raise WidthError(f"expected Graph.{name} for a leaf, but got make({name!r})")
        if len(args) != op.arity or len(params) != op.n_params:
            raise WidthError(
                f"expected {op.arity} operands and {op.n_params} parameters for {name}, "
                f"but got {len(args)} and {len(params)}"
            )
        nodes, constant, widths = self._nodes, self._folded, []
        for arg in args:
            if arg.index >= len(nodes) or nodes[arg.index] is not arg:
                raise WidthError(f"expected operands of this graph for {name}, but got {arg!r} of another")
            constant = constant and arg.op == "const"
            widths.append(arg.width)
        width = op.width(widths, params)
        if constant:
            return self.const(apply_op(op, [a.params[1] for a in args], widths, params, width), width)
        same_by = IDENTITIES.get(name) if self._folded else None
        if same_by is not None and (same := same_by(self, name, args, params, width)) is not None:
            return same
        swapped = op.commutative and args[0].index > args[1].index
        return self._intern(name, (args[1], args[0]) if swapped else tuple(args), tuple(params), width)

    def _intern(self, name: str, args: tuple[Node, ...], params: tuple[int, ...], width: int) -> Node:
        key = (name, args, params)  # a node is equal to itself only
        node = self._table.get(key)
        if node is None:
            node = Node(name, args, params, width, len(self._nodes))
            self._table[key] = node
            self._nodes.append(node)
        return node

    # ------------------------------------------------------------------ leaves
    def const(self, value: int, width: int) -> Node:
        """A constant; `value` must be in [0, 2^width)."""
        if (node := self._table.get(("const", (), (width, value)))) is None:
            OPS["const"].width((), (width, value))
            if not 0 <= value < (1 << width):
                raise WidthError(f"expected a constant in [0, 2^{width}), but got {value}")
            node = self._intern("const", (), (width, value), width)
        return node

    def input(self, name: str, width: int) -> Node:
        """The input with this name; a repeated call returns the same node."""
        node = self._inputs.get(name)
        if node is None:
            OPS["input"].width((), (width, 0))
            node = self._inputs[name] = self._intern("input", (), (width, len(self._inputs)), width)
            self._input_names.append(name)
        elif node.width != width:
            raise WidthError(f"expected width {node.width} for input {name}, but got {width}")
        return node

    def truth(self, value: bool) -> Node:
        """The constant 1 or 0 of width 1."""
        return self.const(int(value), 1)

    # ------------------------------------------------------------------ bit operations
    def not_(self, x: Node) -> Node:
        """Bitwise complement."""
        return self.make("not_", (x,))

    def and_(self, first: Node, *rest: Node) -> Node:
        """Bitwise and of one or more nodes of one width."""
        return self._fold("and_", first, rest)

    def or_(self, first: Node, *rest: Node) -> Node:
        """Bitwise or of one or more nodes of one width."""
        return self._fold("or_", first, rest)

    def xor(self, x: Node, y: Node) -> Node:
        """Bitwise exclusive or."""
        return self.make("xor", (x, y))

    def _fold(self, name: str, first: Node, rest: Sequence[Node]) -> Node:
        for x in rest:
            first = self.make(name, (first, x))
        return first

    def ite(self, cond: Node, yes: Node, no: Node) -> Node:
        """A multiplexer: `yes` where `cond` (width 1) is 1, else `no`."""
        return self.make("ite", (cond, yes, no))

    def concat(self, high: Node, *lower: Node) -> Node:
        """Concatenation, the first operand highest."""
        return self._fold("concat", high, lower)

    def extract(self, x: Node, high: int, low: int) -> Node:
        """The bits high..low of x, both included."""
        return self.make("extract", (x,), (high, low))

    def bit(self, x: Node, position: int) -> Node:
        """One bit of x."""
        return self.extract(x, position, position)

    def top(self, x: Node) -> Node:
        """The highest bit of x."""
        return self.bit(x, x.width - 1)

    # ------------------------------------------------------------------ widths
    def zero_extend_to(self, x: Node, width: int) -> Node:
        """Zero extension of x to `width` bits (at least its own)."""
        return self.make("zero_extend", (x,), (width - x.width,))

    def sign_extend_to(self, x: Node, width: int) -> Node:
        """Sign extension of x to `width` bits (at least its own)."""
        return self.make("sign_extend", (x,), (width - x.width,))

    def wrap_to_mod(self, x: Node, width: int) -> Node:
        """The two's complement x reduced modulo 2^width, sign-extended if wider."""
        return self.sign_extend_to(x, width) if width >= x.width else self.extract(x, width - 1, 0)

    def shift_left_const(self, x: Node, amount: int) -> Node:
        """The value x with `amount` zero bits appended below: exact."""
        return x if amount == 0 else self.concat(x, self.const(0, amount))

    def truncate_low(self, x: Node, amount: int) -> Node:
        """The value x without its lowest `amount` bits; a zero of width 1 if none is left."""
        return self.const(0, 1) if amount >= x.width else self.extract(x, x.width - 1, amount)

    # ------------------------------------------------------------------ arithmetic
    def add_mod(self, x: Node, y: Node) -> Node:
        """The sum x + y modulo 2^width."""
        return self.make("add_mod", (x, y))

    def sub_mod(self, x: Node, y: Node) -> Node:
        """The difference x - y modulo 2^width."""
        return self.make("sub_mod", (x, y))

    def neg_mod(self, x: Node) -> Node:
        """The negation -x modulo 2^width."""
        return self.make("neg_mod", (x,))

    def add_expand(self, x: Node, y: Node) -> Node:
        """The unsigned sum x + y, one bit wider than the wider operand: exact."""
        width = max(x.width, y.width) + 1
        return self.add_mod(self.zero_extend_to(x, width), self.zero_extend_to(y, width))

    def mul_expand(self, x: Node, y: Node) -> Node:
        """The unsigned product x * y, as wide as both operands together: exact."""
        return self.make("mul_expand", (x, y))

    def shl_mod(self, x: Node, amount: Node) -> Node:
        """Left shift by an unsigned amount; bits above the width are lost."""
        return self.make("shl_mod", (x, amount))

    def lshr(self, x: Node, amount: Node) -> Node:
        """Logical right shift by an unsigned amount; low bits are lost."""
        return self.make("lshr", (x, amount))

    def ashr(self, x: Node, amount: Node) -> Node:
        """Arithmetic right shift (floor) by an unsigned amount; low bits are lost."""
        return self.make("ashr", (x, amount))

    # ------------------------------------------------------------------ comparisons
    def eq(self, x: Node, y: Node) -> Node:
        """Equality: 1 where x equals y."""
        return self.make("eq", (x, y))

    def ult(self, x: Node, y: Node) -> Node:
        """Unsigned comparison: 1 where x < y."""
        return self.make("ult", (x, y))

    def ule(self, x: Node, y: Node) -> Node:
        """Unsigned comparison: 1 where x <= y."""
        return self.make("ule", (x, y))

    def slt(self, x: Node, y: Node) -> Node:
        """Signed comparison: 1 where x < y."""
        return self.make("slt", (x, y))

    def sle(self, x: Node, y: Node) -> Node:
        """Signed comparison: 1 where x <= y."""
        return self.make("sle", (x, y))

    def is_zero(self, x: Node) -> Node:
        """1 where no bit of x is set."""
        return self.eq(x, self.const(0, x.width))

    def any_bit(self, x: Node) -> Node:
        """1 where some bit of x is set."""
        return self.not_(self.is_zero(x))

    def umax(self, x: Node, y: Node) -> Node:
        """The larger of two unsigned values of one width."""
        return self.ite(self.ult(x, y), y, x)

    def umin(self, x: Node, y: Node) -> Node:
        """The smaller of two unsigned values of one width."""
        return self.ite(self.ult(x, y), x, y)

    # ------------------------------------------------------------------ labels
    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """A context that prefixes labels with `name` and a dot."""
        before = self._scope
        self._scope = (*before, name)
        try:
            yield
        finally:
            self._scope = before

    def label(self, name: str, node: Node, *, signed: bool = False, offset: int = 0, scale: int = 0) -> Node:
        """Name a stage (`e_max`, `sum`, …) in the current scope, and return its node.

        Ranges and units: the integer a person reads there is the raw bits (two's complement where
        `signed`) plus `offset`, in units of 2^-scale.
        """
        full = ".".join((*self._scope, name))
        stage = Stage(node, signed, offset, scale)
        if self._labels.setdefault(full, stage) != stage:
            raise WidthError(f"expected one stage per label, but {full!r} names two")
        return node

    def invariant(self, condition: Callable[[], Node], why: str) -> None:
        """Add a condition (width 1) that the definition relies on, in checked graphs only."""
        self.invariants.add(condition, why)

    @property
    def here(self) -> str:
        """The current scope: names joined by dots."""
        return ".".join(self._scope)

    @property
    def labels(self) -> dict[str, Stage]:
        """All labelled stages in order of labelling."""
        return dict(self._labels)

    # ------------------------------------------------------------------ views
    @property
    def inputs(self) -> dict[str, Node]:
        """The inputs by name, in order of first use."""
        return dict(self._inputs)

    def input_name(self, node: Node) -> str:
        """The name of an input node."""
        return self._input_names[node.params[1]]

    def since(self, index: int) -> list[Node]:
        """The nodes with numbers from `index` on, in order of creation."""
        return self._nodes[index:]

    def __len__(self) -> int:
        return len(self._nodes)


# Identities that hold for every value and only remove nodes, applied while a graph is built.
Identity = Callable[["Graph", str, Sequence[Node], Sequence[int], int], Node | None]


def _choice(_g: Graph, _name: str, args: Sequence[Node], _params: Sequence[int], _width: int) -> Node | None:
    cond, yes, no = args
    if yes is no:
        return yes
    if cond.op == "const":
        return yes if cond.params[1] else no
    return None


def _cut(g: Graph, _name: str, args: Sequence[Node], params: Sequence[int], width: int) -> Node | None:
    high, low = params
    (x,) = args
    if low == 0 and high == x.width - 1:
        return x
    if x.op == "extract":
        return g.make("extract", x.args, (high + x.params[1], low + x.params[1]))
    if x.op == "zero_extend" and high < x.args[0].width:
        return g.make("extract", x.args, params)
    if x.op == "zero_extend" and low >= x.args[0].width:
        return g.const(0, width)
    if x.op == "concat":
        cut = x.args[1].width
        if high < cut:
            return g.make("extract", (x.args[1],), params)
        if low >= cut:
            return g.make("extract", (x.args[0],), (high - cut, low - cut))
    return None


def _grown(_g: Graph, _name: str, args: Sequence[Node], params: Sequence[int], _width: int) -> Node | None:
    return args[0] if params[0] == 0 else None


def _equal(g: Graph, _name: str, args: Sequence[Node], _params: Sequence[int], _width: int) -> Node | None:
    return g.const(1, 1) if args[0] is args[1] else None


def _complement(_g: Graph, _name: str, args: Sequence[Node], _params: Sequence[int], _w: int) -> Node | None:
    return args[0].args[0] if args[0].op == "not_" else None


def _of_two(_g: Graph, name: str, args: Sequence[Node], _params: Sequence[int], width: int) -> Node | None:
    """Algebraic identities of binary operators, such as x + 0 = x: an existing node; None where none
    applies."""
    x, y = args
    if x is y and name in ("and_", "or_"):
        return x
    if x.op != "const" != y.op:
        return None
    ones = (1 << width) - 1
    for one, other in ((x, y), (y, x)):
        if one.op != "const":
            continue
        value = one.params[1]
        if name in ("or_", "xor", "add_mod") and value == 0:
            return other
        if name == "and_" and value in (0, ones):
            return other if value else one
        if name == "or_" and value == ones:
            return one
    if name in ("sub_mod", "shl_mod", "lshr", "ashr") and y.op == "const" and y.params[1] == 0:
        return x
    return None


#: By operator: the node that `name(args; params)` equals by an identity, or None where none applies.
IDENTITIES: dict[str, Identity] = {
    "ite": _choice,
    "extract": _cut,
    "zero_extend": _grown,
    "sign_extend": _grown,
    "eq": _equal,
    "not_": _complement,
    **dict.fromkeys(("and_", "or_", "xor", "add_mod", "sub_mod", "shl_mod", "lshr", "ashr"), _of_two),
}
