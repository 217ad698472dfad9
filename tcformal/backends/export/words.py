"""The words that hold bit-vectors in C: 32, 64, or several limbs of 64 bits, with zeros above the width."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

#: Operators that C has for words of one limb.
_PLAIN = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*", "eq": "==", "ult": "<",
          "shl": "<<", "shr": ">>"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WordText:
    """C expressions on words; `limbs` is the number of limbs of what is wider than 64 bits.

    Every operand of an operator is a word of the operator's type; results may have bits above the width
    until they are masked.
    """

    limbs: int

    def wide(self, width: int) -> bool:
        """Whether a bit-vector of that width needs limbs."""
        return width > 64

    def type(self, width: int) -> str:
        """The type of a bit-vector of that width."""
        if self.wide(width):
            return f"tcformal_w{self.limbs}"
        return "uint32_t" if width <= 32 else "uint64_t"

    def literal(self, value: int, width: int) -> str:
        """A constant."""
        if not self.wide(width):
            return f"{value:#x}u" if width <= 32 else f"UINT64_C({value:#x})"
        words = (value >> 64 * i & (1 << 64) - 1 for i in range(self.limbs))
        return f"{self.type(width)}_make({', '.join(f'UINT64_C({w:#x})' for w in words)})"

    def cast(self, x: str, width: int, to: int) -> str:
        """A word of one width as a word of another; bits that do not fit are lost with the limbs."""
        if self.type(width) == self.type(to):
            return x
        if self.wide(to):
            return f"{self.type(to)}_of({x})"
        if self.wide(width):
            return f"({self.type(to)})({x}).w[0]"
        return f"({self.type(to)})({x})"

    def op(self, name: str, width: int, x: str, y: str) -> str:
        """An operator of two words of one width; for a shift, y is a plain integer below the word's size."""
        if name == "ult" and y == self.literal(0, width):
            return "0u"  # compilers warn of a comparison that never holds
        if self.wide(width):
            return f"{self.type(width)}_{name}({x}, {y})"
        return f"({x} {_PLAIN[name]} {y})"

    def masked(self, x: str, width: int) -> str:
        """A word with zeros above the width."""
        size = 64 * self.limbs if self.wide(width) else 32 if width <= 32 else 64
        return x if width == size else self.op("and", width, x, self.literal((1 << width) - 1, width))

    def ones(self, bit: str, width: int) -> str:
        """All bits of the width where `bit` (a word of 0 or 1) is set, else none."""
        zero = self.literal(0, width)
        return self.masked(self.op("sub", width, zero, self.cast(bit, 1, width)), width)

    def top(self, x: str, width: int) -> str:
        """The highest bit of the width, as a word of 0 or 1."""
        return self.cast(self.op("shr", width, x, str(width - 1)), width, 1)

    def small(self, x: str, width: int) -> str:
        """A shift's amount as a plain integer; one of several limbs keeps to 32 bits by staying large."""
        return f"{self.type(width)}_amount({x})" if self.wide(width) else x

    def helpers(self) -> str:
        """The functions on limbs."""
        text = (files("tcformal.backends.export") / "wide.h").read_text(encoding="utf-8")
        limbs = [f"w{i}" for i in range(self.limbs)]
        for mark, value in (
            ("@N@", str(self.limbs)),
            ("@GIVEN@", ", ".join(f"uint64_t {w}" for w in limbs)),
            ("@LIMBS@", ", ".join(limbs)),
            ("@ZEROS@", ", 0" * (self.limbs - 1)),
        ):
            text = text.replace(mark, value)
        return text


def words_for(widths: Iterable[int]) -> WordText:
    """Words as wide as the widest bit-vector needs."""
    return WordText(-(-max(widths) // 64))
