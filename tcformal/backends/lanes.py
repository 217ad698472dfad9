"""Lane widths of LLVM code: integers with static bounds, and the narrowest lane that holds them.

Every value is an integer with bounds that hold on every input.  The integer is the node's bits read
without a sign, or, where `low` is negative, as two's complement.  A lane is chosen from the bounds
alone, so it holds every integer that can occur: narrowing is never a hope.
"""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.errors import WidthError

#: Bits of a lane for truth values, and of the lanes that processors have.
TRUTH, WORD, DOUBLE = 1, 32, 64


@dataclass(frozen=True, slots=True)
class LaneValue:
    """An integer value of the code: its operand, its static bounds, and its lane width.

    Ranges and units: an integer in [low, high]; a lane of `bits` holds it, modulo 2^bits, so that
    it can be read back: by sign where `low` is negative, without otherwise.
    """

    #: A register (`%v7`) or, for a constant, its decimal digits.
    text: str
    low: int
    high: int
    bits: int

    @property
    def constant(self) -> bool:
        """Whether its bounds admit only one integer."""
        return self.low == self.high


def lane_for(low: int, high: int) -> int:
    """The width of the narrowest lane that holds [low, high]; a multiple of 64 above 64 bits."""
    signed_bits = 1 + max((-low - 1).bit_length(), high.bit_length())
    needed = max(1, high.bit_length()) if low >= 0 else signed_bits
    return next((bits for bits in (WORD, DOUBLE) if needed <= bits), DOUBLE * -(-needed // DOUBLE))


class Code:
    """A builder of LLVM instructions on `lanes` integers at once (1: scalars).

    Errors: WidthError where a value is asked for in a lane that cannot hold it.
    """

    def __init__(self, lanes: int, prefix: str) -> None:
        self.lanes = lanes
        self.lines: list[str] = []
        #: Bits of the widest lane so far.
        self.widest = 0
        self._prefix = prefix
        self._made = 0

    def kind(self, bits: int) -> str:
        """The LLVM type of a vector of `bits`-bit lanes."""
        self.widest = max(self.widest, bits)
        return f"i{bits}" if self.lanes == 1 else f"<{self.lanes} x i{bits}>"

    def new(self, instruction: str) -> str:
        """Append an instruction, and return the register of its result."""
        name = f"%{self._prefix}{self._made}"
        self._made += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    # Every instruction of an operator is one of the next four, which other languages write their own way.
    def apply(self, name: str, bits: int, left: str, right: str) -> str:
        """Append a binary operator on operands of `bits` bits."""
        return self.new(f"{name} {self.kind(bits)} {left}, {right}")

    def resize(self, how: str, text: str, bits: int, to: int) -> str:
        """Append a width conversion to lanes of `to` bits: `trunc`, `zext` or `sext`."""
        return self.new(f"{how} {self.kind(bits)} {text} to {self.kind(to)}")

    def relate(self, how: str, bits: int, left: str, right: str) -> str:
        """Append a comparison: `eq`, `ne`, `ult`, `ule`, `uge`, `slt`, `sle`."""
        return self.new(f"icmp {how} {self.kind(bits)} {left}, {right}")

    def choose(self, cond: str, bits: int, left: str, right: str) -> str:
        """Append a selection: `left` where `cond`, else `right`."""
        kinds = self.kind(TRUTH), self.kind(bits)
        return self.new(f"select {kinds[0]} {cond}, {kinds[1]} {left}, {kinds[1]} {right}")

    def word(self, value: int, bits: int) -> str:
        """An integer constant as an operand, repeated in every lane."""
        digits = str(value & ((1 << bits) - 1)) if bits > 1 else ("true" if value else "false")
        return digits if self.lanes == 1 else f"splat (i{bits} {digits})"

    def const(self, value: int) -> LaneValue:
        """A constant value."""
        return LaneValue(str(value), value, value, lane_for(value, value))

    def truth(self, value: bool) -> LaneValue:
        """A constant truth value."""
        return LaneValue(str(int(value)), int(value), int(value), TRUTH)

    def operand(self, x: LaneValue, bits: int) -> str:
        """The operand x in lanes of `bits`: extended by its bounds, or reduced modulo 2^bits."""
        if x.constant:
            return self.word(x.low, bits)
        if bits == x.bits:
            return x.text
        if bits < x.bits:
            return self.resize("trunc", x.text, x.bits, bits)
        return self.resize("sext" if x.low < 0 else "zext", x.text, x.bits, bits)

    def binary(self, name: str, x: LaneValue, y: LaneValue, bits: int) -> str:
        """Append a binary operator on two values in lanes of `bits`."""
        left, right = self.operand(x, bits), self.operand(y, bits)
        return self.apply(name, bits, left, right)

    def value(self, text: str, low: int, high: int, bits: int) -> LaneValue:
        """The value of a register of `bits`, moved to the lane that its bounds require."""
        if low == high:
            return self.const(low)
        narrow = TRUTH if bits == TRUTH and low >= 0 and high <= 1 else lane_for(low, high)
        if narrow > bits:
            raise WidthError(f"expected bounds that {bits} bits hold, but got [{low}, {high}]")
        if narrow < bits:
            text = self.resize("trunc", text, bits, narrow)
        return LaneValue(text, low, high, narrow)

    # ------------------------------------------------------------------ readings
    def unsigned(self, x: LaneValue, width: int) -> LaneValue:
        """The unsigned reading of x: a value in [0, 2^width)."""
        if x.low >= 0:
            return x
        top = (1 << width) - 1
        if x.constant:
            return self.const(x.low & top)
        if x.high < 0:
            # Every integer is negative: the readings differ by 2^width.
            bits = lane_for(0, top)
            moved = self.binary("add", x, self.const(1 << width), max(bits, lane_for(0, 1 << width)))
            return self.value(moved, x.low + top + 1, x.high + top + 1, max(bits, lane_for(0, 1 << width)))
        bits = lane_for(0, top)
        return self.value(self.binary("and", x, self.const(top), bits), 0, top, bits)

    def signed(self, x: LaneValue, width: int) -> LaneValue:
        """The two's complement reading of x in `width` bits."""
        half = 1 << (width - 1)
        if x.high < half:
            return x
        if x.constant:
            return self.const(x.low - 2 * half)
        bits = lane_for(-half, half - 1)
        by = self.const(bits - width)
        up = LaneValue(self.binary("shl", x, by, bits), -half, half - 1, bits)
        return self.value(self.binary("ashr", up, by, bits), -half, half - 1, bits)

    def as_truth(self, x: LaneValue) -> LaneValue:
        """A one-bit value as a truth value."""
        if x.constant:
            return self.truth(bool(x.low & 1))
        if x.bits == TRUTH:
            return x
        return LaneValue(self.resize("trunc", x.text, x.bits, TRUTH), 0, 1, TRUTH)

    def compare(self, how: str, x: LaneValue, y: LaneValue, bits: int) -> LaneValue:
        """Append an integer comparison in lanes of `bits`; its truth value."""
        left, right = self.operand(x, bits), self.operand(y, bits)
        return LaneValue(self.relate(how, bits, left, right), 0, 1, TRUTH)

    def select(self, cond: LaneValue, yes: LaneValue, no: LaneValue, low: int, high: int) -> LaneValue:
        """Append a selection between two values in [low, high]."""
        bits = TRUTH if yes.bits == no.bits == TRUTH else lane_for(low, high)
        left, right = self.operand(yes, bits), self.operand(no, bits)
        return LaneValue(self.choose(cond.text, bits, left, right), low, high, bits)
