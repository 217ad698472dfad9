"""A word-level netlist in BTOR2, as yosys writes it, on the vocabulary of the DAG.

Registers are unrolled: a netlist is followed for some clock cycles with constant inputs, from registers of
any content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node

_Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RtlNetlist:
    """The lines of a netlist by number.

    Shapes: `inputs` and `outputs` hold the width of each port by name.
    """

    rows: Mapping[int, _Row]
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    #: The register that each `next` line belongs to, with the line of its next content.
    registers: Mapping[int, int]

    def unrolled(self, g: Graph, given: Mapping[str, Node], cycles: int) -> dict[str, Node]:
        """The outputs `cycles` clock edges after the inputs were applied; these stay as they are.

        Registers hold fresh inputs `register N` at first.
        Errors: InputError for an operator that the reader does not know.
        """
        content = {r: g.input(f"register {r}", self._width(r)) for r in self.registers}
        for _ in range(cycles):
            made = self._cycle(g, given, content)
            content = {r: made[after] for r, after in self.registers.items()}
        made = self._cycle(g, given, content)
        return {row[3]: made[int(row[2])] for row in self.rows.values() if row[1] == "output"}

    def _width(self, number: int) -> int:
        return int(self.rows[int(self.rows[number][2])][3])

    def _cycle(self, g: Graph, given: Mapping[str, Node], content: Mapping[int, Node]) -> dict[int, Node]:
        """The value of every line in one clock cycle; of -n for the complement of line n."""
        made: dict[int, Node] = {}
        for number, row in self.rows.items():
            kind = row[1]
            if kind in ("sort", "output", "next", "init"):
                continue
            width = self._width(number)
            if kind == "state":
                # A register that nothing drives keeps what it holds.
                held = content.get(number)
                made[number] = g.input(f"register {number}", width) if held is None else held
            elif kind == "input":
                # One without a name stands for a register that nothing loads.
                made[number] = given[row[3]] if len(row) > 3 else g.input(f"register {number}", width)
            elif kind in _CONSTANTS:
                made[number] = g.const(_CONSTANTS[kind](row[3:], width) & ((1 << width) - 1), width)
            elif kind in _INDEXED:
                count, change = _INDEXED[kind]
                made[number] = change(g, _operand(g, made, row[3]), *map(int, row[4 : 4 + count]))
            elif kind in _OPERATORS:
                arity, make = _OPERATORS[kind]
                made[number] = make(g, *(_operand(g, made, x) for x in row[3 : 3 + arity]))
            else:
                raise InputError(f"expected an operator that can be compared, but got {kind} in the RTL")
        return made


def _operand(g: Graph, made: Mapping[int, Node], text: str) -> Node:
    number = int(text)
    return made[number] if number > 0 else g.not_(made[-number])


def read_netlist(text: str) -> RtlNetlist:
    """The netlist of a BTOR2 file.

    Errors: InputError for lines that are no BTOR2, memories, and two ports of one name.
    """
    rows: dict[int, _Row] = {}
    try:
        for line in text.splitlines():
            words = tuple(line.partition(";")[0].split())
            if not words or words[0] == "BTOR":
                continue
            if words[1] == "sort" and words[2] != "bitvec":
                raise InputError("expected RTL without memories, but got one: an array")
            if words[1] not in ("constraint", "bad", "fair", "justice"):
                rows[int(words[0])] = words
        net = RtlNetlist(rows, {}, {}, {int(r[3]): int(r[4]) for r in rows.values() if r[1] == "next"})
        ports = [(r[3], net._width(n)) for n, r in rows.items() if r[1] == "input" and len(r) > 3]
        results = [(r[3], net._width(abs(int(r[2])))) for r in rows.values() if r[1] == "output"]
    except (IndexError, KeyError, ValueError) as error:
        raise InputError(f"expected a netlist in BTOR2, but got one with {error!r}") from error
    return RtlNetlist(rows, dict(ports), dict(results), net.registers)


# ------------------------------------------------------------------------------ operators
def _same(name: str) -> Callable[..., Node]:
    return lambda g, *args: getattr(g, name)(*args)


def _inverted(name: str) -> Callable[..., Node]:
    return lambda g, *args: g.not_(getattr(g, name)(*args))


def _swapped(name: str) -> Callable[..., Node]:
    return lambda g, x, y: getattr(g, name)(y, x)


def _narrowed(g: Graph, x: Node) -> Node:
    """x without zeros above that it is known to have."""
    if x.op == "zero_extend":
        return _narrowed(g, x.args[0])
    if x.op == "concat" and x.args[0].op == "const" and x.args[0].params[1] == 0:
        return _narrowed(g, x.args[1])
    return x


def _product(g: Graph, x: Node, y: Node) -> Node:
    """x · y modulo 2^width, as the product of what the factors hold."""
    whole = g.mul_expand(_narrowed(g, x), _narrowed(g, y))
    return g.zero_extend_to(whole, x.width) if whole.width <= x.width else g.extract(whole, x.width - 1, 0)


def _parity(g: Graph, x: Node) -> Node:
    made = g.bit(x, 0)
    for i in range(1, x.width):
        made = g.xor(made, g.bit(x, i))
    return made


_OPERATORS: dict[str, tuple[int, Callable[..., Node]]] = {
    "not": (1, _same("not_")),
    "neg": (1, _same("neg_mod")),
    "inc": (1, lambda g, x: g.add_mod(x, g.const(1, x.width))),
    "dec": (1, lambda g, x: g.sub_mod(x, g.const(1, x.width))),
    "redor": (1, _same("any_bit")),
    "redand": (1, lambda g, x: g.is_zero(g.not_(x))),
    "redxor": (1, _parity),
    "and": (2, _same("and_")),
    "nand": (2, _inverted("and_")),
    "or": (2, _same("or_")),
    "nor": (2, _inverted("or_")),
    "xor": (2, _same("xor")),
    "xnor": (2, _inverted("xor")),
    "implies": (2, lambda g, x, y: g.or_(g.not_(x), y)),
    "iff": (2, _same("eq")),
    "eq": (2, _same("eq")),
    "neq": (2, _inverted("eq")),
    "ult": (2, _same("ult")),
    "ulte": (2, _same("ule")),
    "ugt": (2, _swapped("ult")),
    "ugte": (2, _swapped("ule")),
    "slt": (2, _same("slt")),
    "slte": (2, _same("sle")),
    "sgt": (2, _swapped("slt")),
    "sgte": (2, _swapped("sle")),
    "add": (2, _same("add_mod")),
    "sub": (2, _same("sub_mod")),
    "mul": (2, _product),
    "sll": (2, _same("shl_mod")),
    "srl": (2, _same("lshr")),
    "sra": (2, _same("ashr")),
    "concat": (2, _same("concat")),
    "ite": (3, _same("ite")),
}

_INDEXED: dict[str, tuple[int, Callable[..., Node]]] = {
    "slice": (2, lambda g, x, high, low: g.extract(x, high, low)),
    "uext": (1, lambda g, x, more: g.zero_extend_to(x, x.width + more)),
    "sext": (1, lambda g, x, more: g.sign_extend_to(x, x.width + more)),
}

_CONSTANTS: dict[str, Callable[[_Row, int], int]] = {
    "const": lambda words, _: int(words[0], 2),
    "constd": lambda words, _: int(words[0]),
    "consth": lambda words, _: int(words[0], 16),
    "zero": lambda words, _: 0,
    "one": lambda words, _: 1,
    "ones": lambda words, width: (1 << width) - 1,
}
