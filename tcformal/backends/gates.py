"""Gate networks: structural hashing, constant folding, five kinds of gates, and clauses for each.

A literal is an integer 2·g or 2·g+1 (complemented) for gate number g; gate 0 is the constant, so that
0 is false and 1 is true.  Five kinds of gates exist: input, and, exclusive or, choice and majority.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

FALSE, TRUE = 0, 1


class Gates:
    """A network of gates with structural hashing.

    Shapes: every method takes and returns literals.  A gate's operands always have smaller numbers.
    Errors: none; literals of another network are not noticed.
    """

    def __init__(self) -> None:
        #: (kind, operands) of each gate by number; the constant and the inputs have no operands.
        self.rows: list[tuple[str, tuple[int, ...]]] = [("const", ())]
        self._table: dict[tuple[str, tuple[int, ...]], int] = {}

    def input(self) -> int:
        """A new input gate, one free bit."""
        self.rows.append(("input", ()))
        return 2 * (len(self.rows) - 1)

    def _gate(self, kind: str, args: tuple[int, ...]) -> int:
        key = (kind, args)
        literal = self._table.get(key)
        if literal is None:
            literal = 2 * len(self.rows)
            self.rows.append(key)
            self._table[key] = literal
        return literal

    def and_(self, x: int, y: int) -> int:
        """The conjunction x ∧ y."""
        if x > y:
            x, y = y, x
        if x <= TRUE:
            return y if x else FALSE
        if x == y:
            return x
        if x == y ^ 1:
            return FALSE
        for one, other in ((x, y), (y, x)):
            kind, args = self.rows[one >> 1]
            if kind == "and" and (other in args or other ^ 1 in args):
                # x ∧ (x ∧ z) = x ∧ z;  ¬x ∧ (x ∧ z) = 0;  x ∧ ¬(x ∧ z) = x ∧ ¬z;  ¬x ∧ ¬(x ∧ z) = ¬x
                if not one & 1:
                    return one if other in args else FALSE
                if other ^ 1 in args:
                    return other
                return self.and_(other, (args[1] if args[0] == other else args[0]) ^ 1)
        return self._gate("and", (x, y))

    def or_(self, x: int, y: int) -> int:
        """The disjunction x ∨ y."""
        return self.and_(x ^ 1, y ^ 1) ^ 1

    def xor(self, x: int, y: int) -> int:
        """The exclusive or x ⊕ y; complements are factored out, so that equal functions share one gate."""
        flip = (x ^ y) & 1
        x, y = x & ~1, y & ~1
        if x > y:
            x, y = y, x
        if x == FALSE:
            return y ^ flip
        if x == y:
            return flip
        for one, other in ((x, y), (y, x)):
            kind, args = self.rows[one >> 1]
            if kind == "xor" and other in args:
                return (args[1] if args[0] == other else args[0]) ^ flip
        return self._gate("xor", (x, y)) ^ flip

    def choice(self, cond: int, yes: int, no: int) -> int:
        """A multiplexer: `yes` if `cond`, else `no`; normalised to uncomplemented `cond` and `yes`."""
        if cond & 1:
            cond, yes, no = cond ^ 1, no, yes
        if cond == FALSE:
            return no
        if yes == no:
            return yes
        if yes in (cond, TRUE):
            return self.or_(cond, no)
        if yes in (cond ^ 1, FALSE):
            return self.and_(cond ^ 1, no)
        if no in (cond, FALSE):
            return self.and_(cond, yes)
        if no in (cond ^ 1, TRUE):
            return self.or_(cond ^ 1, yes)
        if yes == no ^ 1:
            return self.xor(cond, no)
        flip = yes & 1
        return self._gate("choice", (cond, yes ^ flip, no ^ flip)) ^ flip

    def majority(self, x: int, y: int, z: int) -> int:
        """The majority of three bits: the carry of a full adder."""
        x, y, z = sorted((x, y, z))
        if x <= TRUE:
            return self.or_(y, z) if x else self.and_(y, z)
        if x == y:
            return x
        if y == z:
            return y
        if x == y ^ 1:
            return z
        if y == z ^ 1:
            return x
        # Majority is its own dual: with two complements or more, complement everything.
        flip = int((x & 1) + (y & 1) + (z & 1) >= 2)
        return self._gate("majority", (x ^ flip, y ^ flip, z ^ flip)) ^ flip

    def all_(self, literals: Iterable[int]) -> int:
        """The conjunction of any number of literals, as a balanced tree."""
        row = list(literals)
        if not row:
            return TRUE
        while len(row) > 1:
            row = [self.and_(*row[i : i + 2]) if i + 1 < len(row) else row[i] for i in range(0, len(row), 2)]
        return row[0]

    def any_(self, literals: Iterable[int]) -> int:
        """The disjunction of any number of literals."""
        return self.all_(x ^ 1 for x in literals) ^ 1

    # ------------------------------------------------------------------ views
    def cone(self, roots: Iterable[int]) -> list[int]:
        """The cone of influence: the gates that `roots` depend on, operands first, without the constant."""
        needed = bytearray(len(self.rows))
        for root in roots:
            needed[root >> 1] = 1
        for gate in range(len(self.rows) - 1, 0, -1):
            if needed[gate]:
                for x in self.rows[gate][1]:
                    needed[x >> 1] = 1
        return [gate for gate, need in enumerate(needed) if need and gate]

    def evaluate(self, roots: Sequence[int], inputs: dict[int, int]) -> list[int]:
        """Evaluate `roots` for input bits by gate number; missing ones are 0."""
        value = {0: 0}
        for gate in self.cone(roots):
            kind, args = self.rows[gate]
            v = [value[x >> 1] ^ (x & 1) for x in args]
            value[gate] = inputs.get(gate, 0) if kind == "input" else EVALUATE[kind](*v)
        return [value[x >> 1] ^ (x & 1) for x in roots]


#: The meaning of each kind of gate on bits.
EVALUATE: dict[str, Callable[..., int]] = {
    "and": lambda x, y: x & y,
    "xor": lambda x, y: x ^ y,
    "choice": lambda c, y, n: y if c else n,
    "majority": lambda x, y, z: int(x + y + z >= 2),
}

#: The clauses of each kind of gate over (output, operand, …), numbered from 1 and signed as in DIMACS.
#: The last two of `choice` follow from the others and let a solver propagate when both branches agree.
CLAUSES: dict[str, tuple[tuple[int, ...], ...]] = {
    "and": ((-1, 2), (-1, 3), (1, -2, -3)),
    "xor": ((-1, 2, 3), (-1, -2, -3), (1, -2, 3), (1, 2, -3)),
    "choice": ((-1, -2, 3), (-1, 2, 4), (1, -2, -3), (1, 2, -4), (-1, 3, 4), (1, -3, -4)),
    "majority": ((-1, 2, 3), (-1, 2, 4), (-1, 3, 4), (1, -2, -3), (1, -2, -4), (1, -3, -4)),
}
