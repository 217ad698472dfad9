"""The instructions of a DAG as C for GPUs: the lanes that bounds choose, one statement for each.

A value of `bits` is an unsigned integer of that size, a truth value a `bool`; what is signed is cast where
an instruction reads it so.
"""

from __future__ import annotations

from tcformal.backends.lanes import DOUBLE, TRUTH, WORD, Code
from tcformal.errors import WidthError

#: Bits of the widest integers that compilers for GPUs have.
WIDEST = 128
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "or disjoint": "|", "xor": "^",
              "shl": "<<", "lshr": ">>", "ashr": ">>"}  # fmt: skip
_RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "ge": ">="}


class CCode(Code):
    """C statements in the making, on one integer.

    Errors: WidthError for integers of more than 128 bits.
    """

    def __init__(self, prefix: str = "v") -> None:
        super().__init__(1, prefix)

    def kind(self, bits: int) -> str:
        """The C type of `bits`."""
        if bits > WIDEST:
            raise WidthError(f"expected integers of at most {WIDEST} bits for a GPU, but got {bits}")
        self.widest = max(self.widest, bits)
        return "bool" if bits == TRUTH else f"tc_u{bits}"

    def named(self, bits: int, expression: str) -> str:
        """The variable that holds an expression."""
        name = f"{self._prefix}{self._made}"
        self._made += 1
        self.lines.append(f"const {self.kind(bits)} {name} = {expression};")
        return name

    def word(self, value: int, bits: int) -> str:
        """An integer as an operand."""
        value &= (1 << bits) - 1
        if bits == TRUTH:
            return "true" if value else "false"
        if bits == WORD:
            return f"{value:#x}u"
        if bits == DOUBLE:
            return f"(tc_u64){value:#x}ul"
        high, low = (f"(tc_u128){part:#x}ul" for part in divmod(value, 1 << DOUBLE))
        return f"(({high} << {DOUBLE}) | {low})"

    def apply(self, name: str, bits: int, left: str, right: str) -> str:
        """See Code."""
        if name == "ashr":
            left = f"({self._signed(bits)}){left}"
        text = f"{left} {_OPERATORS[name]} {right}"
        return self.named(bits, self._as(bits, text))

    def resize(self, how: str, text: str, bits: int, to: int) -> str:
        """See Code."""
        if to == TRUTH:
            return self.named(TRUTH, f"({text} & 1u) != 0u")
        if how == "sext":
            text = f"({self._signed(to)})({self._signed(bits)}){text}"
        return self.named(to, self._as(to, text))

    def relate(self, how: str, bits: int, left: str, right: str) -> str:
        """See Code."""
        if how[0] == "s":
            left, right = (f"({self._signed(bits)})({x})" for x in (left, right))
        return self.named(TRUTH, f"{left} {_RELATIONS[how.lstrip('us')]} {right}")

    def choose(self, cond: str, bits: int, left: str, right: str) -> str:
        """See Code."""
        return self.named(bits, f"{cond} ? {left} : {right}")

    def _as(self, bits: int, text: str) -> str:
        return f"({self.kind(bits)})({text})"

    def _signed(self, bits: int) -> str:
        self.kind(bits)
        return f"tc_s{bits}"
