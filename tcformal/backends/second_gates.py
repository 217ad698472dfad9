"""A second bit blaster: a DAG as unshared and-gates; apart, because it shares no code with the first.

It defines the operators on bits again: sums by xor and carry, differences by borrow, comparisons from the
lowest bit up, shifts by every bit of the amount.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tcformal.errors import InputError

#: Literals of one bit-vector, the lowest bit first: 2·v for variable v, 2·v + 1 for its complement.
Row = list[int]
FALSE, TRUE = 0, 1


class AndGates:
    """An append-only list of and-gates; variables 1 to `n_inputs` are inputs."""

    def __init__(self, n_inputs: int) -> None:
        self.n_inputs = n_inputs
        #: The two operands of each gate.
        self.ands: list[tuple[int, int]] = []

    def both(self, x: int, y: int) -> int:
        """The conjunction x ∧ y as a new gate."""
        self.ands.append((x, y))
        return 2 * (self.n_inputs + len(self.ands))

    def either(self, x: int, y: int) -> int:
        """The disjunction x ∨ y."""
        return self.both(x ^ 1, y ^ 1) ^ 1

    def odd(self, x: int, y: int) -> int:
        """The exclusive or x ⊕ y."""
        return self.both(self.both(x, y) ^ 1, self.either(x, y))

    def chosen(self, cond: int, yes: int, no: int) -> int:
        """A multiplexer: `yes` if cond, else `no`."""
        return self.either(self.both(cond, yes), self.both(cond ^ 1, no))

    # ------------------------------------------------------------------ words
    def total(self, x: Row, y: Row) -> Row:
        """A ripple-carry adder without carry out: x + y."""
        bits, carry = [], FALSE
        for p, q in zip(x, y, strict=True):
            half = self.odd(p, q)
            bits.append(self.odd(half, carry))
            carry = self.either(self.both(p, q), self.both(half, carry))
        return bits

    def difference(self, x: Row, y: Row) -> Row:
        """A borrow subtractor without borrow out: x - y."""
        bits, borrow = [], FALSE
        for p, q in zip(x, y, strict=True):
            apart = self.odd(p, q)
            bits.append(self.odd(apart, borrow))
            borrow = self.either(self.both(p ^ 1, q), self.both(apart ^ 1, borrow))
        return bits

    def product(self, x: Row, y: Row) -> Row:
        """An array multiplier, exact: one row of partial products per bit of y."""
        width = len(x) + len(y)
        bits = [FALSE] * width
        for i, bit in enumerate(y):
            part = [FALSE] * i + [self.both(bit, p) for p in x]
            bits = self.total(bits, part + [FALSE] * (width - len(part)))
        return bits

    def below(self, x: Row, y: Row) -> int:
        """Unsigned comparison x < y, decided at the highest differing bit."""
        less = FALSE
        for p, q in zip(x, y, strict=True):
            less = self.chosen(self.odd(p, q), q, less)
        return less

    def below_signed(self, x: Row, y: Row) -> int:
        """Signed comparison x < y: by signs if they differ, else unsigned."""
        return self.chosen(self.odd(x[-1], y[-1]), x[-1], self.below(x, y))

    def same(self, x: Row, y: Row) -> int:
        """Equality x = y."""
        equal = TRUE
        for p, q in zip(x, y, strict=True):
            equal = self.both(equal, self.odd(p, q) ^ 1)
        return equal

    def moved(self, x: Row, amount: Row, fill: int, *, up: bool) -> Row:
        """A barrel shifter: x shifted by each power of two in the amount; `fill` is shifted in."""
        for i, bit in enumerate(amount):
            by = min(1 << i, len(x))
            far = [fill] * by + x[: len(x) - by] if up else x[by:] + [fill] * by
            x = [self.chosen(bit, p, q) for p, q in zip(far, x, strict=True)]
        return x


#: The vocabulary: (gates, operands, parameters) to the bits of the result.
_Maker = Callable[[AndGates, Sequence[Row], Sequence[int]], Row]
_OPERATORS: dict[str, _Maker] = {
    "not_": lambda g, v, p: [x ^ 1 for x in v[0]],
    "and_": lambda g, v, p: [g.both(x, y) for x, y in zip(*v, strict=True)],
    "or_": lambda g, v, p: [g.either(x, y) for x, y in zip(*v, strict=True)],
    "xor": lambda g, v, p: [g.odd(x, y) for x, y in zip(*v, strict=True)],
    "add_mod": lambda g, v, p: g.total(v[0], v[1]),
    "sub_mod": lambda g, v, p: g.difference(v[0], v[1]),
    "neg_mod": lambda g, v, p: g.difference([FALSE] * len(v[0]), v[0]),
    "mul_expand": lambda g, v, p: g.product(v[0], v[1]),
    "shl_mod": lambda g, v, p: g.moved(v[0], v[1], FALSE, up=True),
    "lshr": lambda g, v, p: g.moved(v[0], v[1], FALSE, up=False),
    "ashr": lambda g, v, p: g.moved(v[0], v[1], v[0][-1], up=False),
    "eq": lambda g, v, p: [g.same(v[0], v[1])],
    "ult": lambda g, v, p: [g.below(v[0], v[1])],
    "ule": lambda g, v, p: [g.below(v[1], v[0]) ^ 1],
    "slt": lambda g, v, p: [g.below_signed(v[0], v[1])],
    "sle": lambda g, v, p: [g.below_signed(v[1], v[0]) ^ 1],
    "ite": lambda g, v, p: [g.chosen(v[0][0], x, y) for x, y in zip(v[1], v[2], strict=True)],
    "concat": lambda g, v, p: v[1] + v[0],
    "extract": lambda g, v, p: v[0][p[1] : p[0] + 1],
    "zero_extend": lambda g, v, p: v[0] + [FALSE] * p[0],
    "sign_extend": lambda g, v, p: v[0] + [v[0][-1]] * p[0],
}


@dataclass(frozen=True, slots=True)
class Network:
    """The gate network of a DAG: gates, input variables, and root literals.

    Shapes: `inputs` has the width of each input of the DAG in the order of the variables, the lowest bit
    first; `roots` the literals of each root.
    """

    gates: AndGates
    inputs: Mapping[str, int]
    roots: Mapping[str, Sequence[int]]

    def evaluate(self, rows: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
        """Evaluate the roots on rows of inputs, bit-parallel: each literal is one Python integer over all
        rows."""
        ones = (1 << len(rows)) - 1
        known = [0]
        for name, width in self.inputs.items():
            known += [sum((row[name] >> i & 1) << j for j, row in enumerate(rows)) for i in range(width)]

        def value(x: int) -> int:
            return known[x >> 1] ^ (ones if x & 1 else 0)

        for x, y in self.gates.ands:
            known.append(value(x) & value(y))
        words = {name: [value(x) for x in literals] for name, literals in self.roots.items()}
        return [
            {name: sum((bit >> j & 1) << i for i, bit in enumerate(word)) for name, word in words.items()}
            for j in range(len(rows))
        ]


def network(text: str) -> Network:
    """Translate a DAG's JSON text to gates: `nodes` as [operator, operands, parameters], `roots` by name.

    Errors: InputError for a text that is not such a DAG.
    """
    try:
        data = json.loads(text)
        rows = data["nodes"]
        inputs = {p[1]: p[0] for name, _, p in rows if name == "input"}
        gates = AndGates(sum(inputs.values()))
        places, at = {}, 1
        for name, width in inputs.items():
            places[name] = [2 * (at + i) for i in range(width)]
            at += width
        made: list[Row] = []
        for name, operands, params in rows:
            if name == "input":
                made.append(places[params[1]])
            elif name == "const":
                made.append([int(params[1], 16) >> i & 1 for i in range(params[0])])
            else:
                made.append(_OPERATORS[name](gates, [made[i] for i in operands], params))
        return Network(gates, inputs, {name: tuple(made[i]) for name, i in data["roots"].items()})
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(f"expected the JSON text of a DAG, but got one with {error!r}") from error
