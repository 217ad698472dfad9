"""Values in lanes of LLVM code: which integers a register can hold, and the narrowest lane for them.

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
    """One value of the code.

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
        """Whether only one integer can occur."""
        return self.low == self.high


def lane_for(low: int, high: int) -> int:
    """Bits of the narrowest lane that holds every integer of [low, high]; multiples of 64 above 64."""
    signed_bits = 1 + max((-low - 1).bit_length(), high.bit_length())
    needed = max(1, high.bit_length()) if low >= 0 else signed_bits
    return next((bits for bits in (WORD, DOUBLE) if needed <= bits), DOUBLE * -(-needed // DOUBLE))


class Code:
    """LLVM instructions in the making, on `lanes` integers at once (1: scalars).

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
        """The LLVM type of `bits` in every lane."""
        self.widest = max(self.widest, bits)
        return f"i{bits}" if self.lanes == 1 else f"<{self.lanes} x i{bits}>"

    def new(self, instruction: str) -> str:
        """The register that an instruction's result is given."""
        name = f"%{self._prefix}{self._made}"
        self._made += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    # Every instruction of an operator is one of the next four, which other languages write their own way.
    def apply(self, name: str, bits: int, left: str, right: str) -> str:
        """The register of an operator on two operands of `bits`."""
        return self.new(f"{name} {self.kind(bits)} {left}, {right}")

    def resize(self, how: str, text: str, bits: int, to: int) -> str:
        """The register of an operand in lanes of `to` bits: `trunc`, `zext` or `sext`."""
        return self.new(f"{how} {self.kind(bits)} {text} to {self.kind(to)}")

    def relate(self, how: str, bits: int, left: str, right: str) -> str:
        """The register of a comparison: `eq`, `ne`, `ult`, `ule`, `uge`, `slt`, `sle`."""
        return self.new(f"icmp {how} {self.kind(bits)} {left}, {right}")

    def choose(self, cond: str, bits: int, left: str, right: str) -> str:
        """The register of `left` where `cond`, else `right`."""
        kinds = self.kind(TRUTH), self.kind(bits)
        return self.new(f"select {kinds[0]} {cond}, {kinds[1]} {left}, {kinds[1]} {right}")

    def word(self, value: int, bits: int) -> str:
        """An integer as an operand, in every lane."""
        digits = str(value & ((1 << bits) - 1)) if bits > 1 else ("true" if value else "false")
        return digits if self.lanes == 1 else f"splat (i{bits} {digits})"

    def const(self, value: int) -> LaneValue:
        """A value that is one integer."""
        return LaneValue(str(value), value, value, lane_for(value, value))

    def truth(self, value: bool) -> LaneValue:
        """A truth value that is known."""
        return LaneValue(str(int(value)), int(value), int(value), TRUTH)

    def operand(self, x: LaneValue, bits: int) -> str:
        """x in lanes of `bits`: grown as its bounds say, or reduced modulo 2^bits."""
        if x.constant:
            return self.word(x.low, bits)
        if bits == x.bits:
            return x.text
        if bits < x.bits:
            return self.resize("trunc", x.text, x.bits, bits)
        return self.resize("sext" if x.low < 0 else "zext", x.text, x.bits, bits)

    def binary(self, name: str, x: LaneValue, y: LaneValue, bits: int) -> str:
        """The register of `name` on two values in lanes of `bits`."""
        left, right = self.operand(x, bits), self.operand(y, bits)
        return self.apply(name, bits, left, right)

    def value(self, text: str, low: int, high: int, bits: int) -> LaneValue:
        """The value of a register of `bits`, brought to the lane that its bounds need."""
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
        """x read without a sign: in [0, 2^width)."""
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
        """x read as two's complement of `width` bits."""
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
        """A value of one bit as a truth value."""
        if x.constant:
            return self.truth(bool(x.low & 1))
        if x.bits == TRUTH:
            return x
        return LaneValue(self.resize("trunc", x.text, x.bits, TRUTH), 0, 1, TRUTH)

    def compare(self, how: str, x: LaneValue, y: LaneValue, bits: int) -> LaneValue:
        """The truth value of `icmp how` in lanes of `bits`."""
        left, right = self.operand(x, bits), self.operand(y, bits)
        return LaneValue(self.relate(how, bits, left, right), 0, 1, TRUTH)

    def select(self, cond: LaneValue, yes: LaneValue, no: LaneValue, low: int, high: int) -> LaneValue:
        """`yes` where `cond`, else `no`, both in [low, high]."""
        bits = TRUTH if yes.bits == no.bits == TRUTH else lane_for(low, high)
        left, right = self.operand(yes, bits), self.operand(no, bits)
        return LaneValue(self.choose(cond.text, bits, left, right), low, high, bits)
