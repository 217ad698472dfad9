"""Binary AIGER export: the blasted DAG as and-gates, with a symbol table; a file for each format."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.backends.blast import Blast
from tcformal.backends.export.exportable import RESULT, ExportedDesign
from tcformal.backends.gates import Gates


class AndGraph:
    """An and-inverter graph with structural hashing.

    A literal is 2·v or 2·v + 1 (complemented) for variable v; 0 is false.  Inputs are the variables 1 to
    `n_inputs`, ands follow.
    """

    def __init__(self, n_inputs: int) -> None:
        self.n_inputs = n_inputs
        #: The operands of each and, the larger one first.
        self.ands: list[tuple[int, int]] = []
        self._table: dict[tuple[int, int], int] = {}

    def and_(self, x: int, y: int) -> int:
        """The literal of x ∧ y."""
        x, y = max(x, y), min(x, y)
        if y == 0 or x == y ^ 1:
            return 0
        if y == 1 or x == y:
            return x
        if (x, y) not in self._table:
            self.ands.append((x, y))
            self._table[x, y] = 2 * (self.n_inputs + len(self.ands))
        return self._table[x, y]

    def on_and(self, x: int, y: int) -> int:
        """An `and` gate."""
        return self.and_(x, y)

    def on_xor(self, x: int, y: int) -> int:
        """An `xor` gate as and-gates."""
        return self.on_choice(x, y ^ 1, y)

    def on_choice(self, cond: int, yes: int, no: int) -> int:
        """A `choice` gate (multiplexer) as and-gates."""
        return self.and_(self.and_(cond, yes) ^ 1, self.and_(cond ^ 1, no) ^ 1) ^ 1

    def on_majority(self, x: int, y: int, z: int) -> int:
        """A `majority` gate as and-gates."""
        either = self.and_(x ^ 1, y ^ 1) ^ 1
        return self.and_(self.and_(x, y) ^ 1, self.and_(either, z) ^ 1) ^ 1


def _ands(gates: Gates, roots: tuple[int, ...], number: dict[int, int]) -> tuple[AndGraph, list[int]]:
    """The and-gates that `roots` need, given the variables of input gates; and the roots' literals."""
    graph = AndGraph(len(number))
    literal = {0: 0, **{gate: 2 * variable for gate, variable in number.items()}}
    for gate in gates.cone(roots):
        kind, args = gates.rows[gate]
        if kind != "input":
            values = [literal[x >> 1] ^ (x & 1) for x in args]
            literal[gate] = getattr(graph, f"on_{kind}")(*values)
    return graph, [literal[x >> 1] ^ (x & 1) for x in roots]


def to_aiger(design: ExportedDesign) -> bytes:
    """A design as binary AIGER: inputs in port order, element by element, lowest bit first."""
    blast = Blast(design.graph)
    (roots,) = blast.run([design.root])
    number: dict[int, int] = {}
    symbols: list[str] = []
    for p in design.ports:
        for name, symbol in zip(p.inputs, p.symbols, strict=True):
            bits = blast.inputs.get(name) or tuple(blast.gates.input() for _ in range(p.width))
            for i, bit in enumerate(bits):
                number[bit >> 1] = len(number) + 1
                symbols.append(f"i{len(symbols)} {symbol}[{i}]")
    made, outputs = _ands(blast.gates, roots, number)
    symbols += [f"o{i} {RESULT}[{i}]" for i in range(len(outputs))]
    return binary_aiger(len(number), outputs, made.ands, [*symbols, "c", *design.header])


def binary_aiger(
    n: int, outputs: Sequence[int], ands: Sequence[tuple[int, int]], end: Sequence[str] = ()
) -> bytes:
    """And-gates over `n` inputs as binary AIGER; `end` are the lines of its symbols and comments."""
    head = f"aig {n + len(ands)} {n} 0 {len(outputs)} {len(ands)}\n" + "".join(f"{x}\n" for x in outputs)
    rows = ((max(pair), min(pair)) for pair in ands)
    body = b"".join(_delta(2 * (n + i) - x) + _delta(x - y) for i, (x, y) in enumerate(rows, 1))
    return head.encode() + body + "\n".join([*end, ""]).encode()


def _delta(value: int) -> bytes:
    """A variable-length integer: groups of seven bits, lowest first; the top bit marks continuation."""
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
