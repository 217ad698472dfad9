"""C11 export: a header with an inline function, and a DPI-C one for SystemVerilog; a file for each format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files

from tcformal.backends.export.exportable import RESULT, ExportedDesign, ExportPort, Statements
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable

#: Operators that C has for words of one limb.
_PLAIN = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*", "eq": "==", "ult": "<",
          "shl": "<<", "shr": ">>"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WordText:
    """C expressions on words; values wider than 64 bits are arrays of `limbs` limbs.

    Every operand of an operator is a word of the operator's type; results may have bits above the width
    until they are masked.
    """

    limbs: int

    def wide(self, width: int) -> bool:
        """Whether a bit-vector of that width needs limbs."""
        return width > 64

    def type(self, width: int) -> str:
        """The C type of a bit-vector of this width."""
        if self.wide(width):
            return f"tcformal_w{self.limbs}"
        return "uint32_t" if width <= 32 else "uint64_t"

    def literal(self, value: int, width: int) -> str:
        """A constant expression."""
        if not self.wide(width):
            return f"{value:#x}u" if width <= 32 else f"UINT64_C({value:#x})"
        words = (value >> 64 * i & (1 << 64) - 1 for i in range(self.limbs))
        return f"{self.type(width)}_make({', '.join(f'UINT64_C({w:#x})' for w in words)})"

    def cast(self, x: str, width: int, to: int) -> str:
        """A word converted to another width; excess limbs are dropped."""
        if self.type(width) == self.type(to):
            return x
        if self.wide(to):
            return f"{self.type(to)}_of({x})"
        if self.wide(width):
            return f"({self.type(to)})({x}).w[0]"
        return f"({self.type(to)})({x})"

    def op(self, name: str, width: int, x: str, y: str) -> str:
        """A binary operator on words of one width; a shift's y is a plain integer below the word size."""
        if name == "ult" and y == self.literal(0, width):
            return "0u"  # compilers warn of a comparison that never holds
        if self.wide(width):
            return f"{self.type(width)}_{name}({x}, {y})"
        return f"({x} {_PLAIN[name]} {y})"

    def masked(self, x: str, width: int) -> str:
        """A word masked to its width."""
        size = 64 * self.limbs if self.wide(width) else 32 if width <= 32 else 64
        return x if width == size else self.op("and", width, x, self.literal((1 << width) - 1, width))

    def ones(self, bit: str, width: int) -> str:
        """A mask of the width that repeats `bit` (a word of 0 or 1)."""
        zero = self.literal(0, width)
        return self.masked(self.op("sub", width, zero, self.cast(bit, 1, width)), width)

    def top(self, x: str, width: int) -> str:
        """The top bit of a word as 0 or 1."""
        return self.cast(self.op("shr", width, x, str(width - 1)), width, 1)

    def small(self, x: str, width: int) -> str:
        """A shift amount as a plain integer; a multi-limb amount saturates to 32 bits."""
        return f"{self.type(width)}_amount({x})" if self.wide(width) else x

    def helpers(self) -> str:
        """The C helper functions on limbs."""
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
    """The word representation for the widest bit-vector."""
    return WordText(-(-max(widths) // 64))


def _bitwise(name: str) -> Callable[..., str]:
    """The handler of a binary operator that sets no bit above its width."""
    return lambda self, node, x, y: self.words.op(name, node.width, x, y)


class CText(Statements):
    """An interpretation of the DAG as C statements; every variable is masked to its width."""

    def __init__(self, design: ExportedDesign) -> None:
        super().__init__(design)
        self.words = words_for(node.width for node in reachable([design.root]))

    def literal(self, value: int, width: int) -> str:
        """A constant of the width's type."""
        return self.words.literal(value, width)

    def statement(self, node: Node, name: str, expression: str) -> str:
        """The declaration of a constant variable."""
        return f"    const {self.words.type(node.width)} {name} = {expression};"

    def _masked(self, name: str, node: Node, x: str, y: str) -> str:
        return self.words.masked(self.words.op(name, node.width, x, y), node.width)

    # ------------------------------------------------------------------ bits
    def on_not_(self, node: Node, x: str) -> str:
        return self.words.op("xor", node.width, x, self.literal((1 << node.width) - 1, node.width))

    on_and_, on_or_, on_xor = map(_bitwise, ("and", "or", "xor"))

    def on_ite(self, _: Node, cond: str, yes: str, no: str) -> str:
        return f"{cond} ? {yes} : {no}"

    # ------------------------------------------------------------------ widths
    def on_concat(self, node: Node, high: str, low: str) -> str:
        w, (x, y) = self.words, node.args
        moved = w.op("shl", node.width, w.cast(high, x.width, node.width), str(y.width))
        return w.op("or", node.width, moved, w.cast(low, y.width, node.width))

    def on_extract(self, node: Node, x: str) -> str:
        w, width, (_, low) = self.words, node.args[0].width, node.params
        moved = w.op("shr", width, x, str(low)) if low else x
        return w.masked(w.cast(moved, width, node.width), node.width)

    def on_zero_extend(self, node: Node, x: str) -> str:
        return self.words.cast(x, node.args[0].width, node.width)

    def on_sign_extend(self, node: Node, x: str) -> str:
        w, width = self.words, node.args[0].width
        sign = self.literal(1 << (width - 1), node.width)
        flipped = w.op("xor", node.width, w.cast(x, width, node.width), sign)
        return self._masked("sub", node, flipped, sign)

    # ------------------------------------------------------------------ arithmetic
    def on_add_mod(self, node: Node, x: str, y: str) -> str:
        return self._masked("add", node, x, y)

    def on_sub_mod(self, node: Node, x: str, y: str) -> str:
        return self._masked("sub", node, x, y)

    def on_neg_mod(self, node: Node, x: str) -> str:
        return self._masked("sub", node, self.literal(0, node.width), x)

    def on_mul_expand(self, node: Node, x: str, y: str) -> str:
        w, (p, q) = self.words, node.args
        return w.op("mul", node.width, w.cast(x, p.width, node.width), w.cast(y, q.width, node.width))

    # ------------------------------------------------------------------ shifts
    def _shift(self, name: str, node: Node, x: str, amount: str, beyond: str) -> str:
        """A shift, or `beyond` for an overlong amount, which C leaves undefined."""
        w, by = self.words, node.args[1].width
        small = w.small(amount, by)
        moved = w.op(name, node.width, x, small)
        moved = w.masked(moved, node.width) if name == "shl" else moved
        return moved if (1 << by) <= node.width else f"{small} < {node.width}u ? {moved} : {beyond}"

    def on_shl_mod(self, node: Node, x: str, amount: str) -> str:
        return self._shift("shl", node, x, amount, self.literal(0, node.width))

    def on_lshr(self, node: Node, x: str, amount: str) -> str:
        return self._shift("shr", node, x, amount, self.literal(0, node.width))

    def on_ashr(self, node: Node, x: str, amount: str) -> str:
        """An arithmetic shift: complement if negative, shift, complement back."""
        w, width = self.words, node.width
        name = f"{self._names[node.index]}_sign"
        sign = w.ones(w.top(x, width), width)
        self.lines.append(f"    const {w.type(width)} {name} = {sign};")
        moved = self._shift("shr", node, w.op("xor", width, x, name), amount, self.literal(0, width))
        return w.op("xor", width, f"({moved})", name)

    # ------------------------------------------------------------------ comparisons
    def on_eq(self, node: Node, x: str, y: str) -> str:
        return self.words.op("eq", node.args[0].width, x, y)

    def on_ult(self, node: Node, x: str, y: str) -> str:
        return self.words.op("ult", node.args[0].width, x, y)

    def on_ule(self, node: Node, x: str, y: str) -> str:
        return f"!{self.words.op('ult', node.args[0].width, y, x)}"

    def on_slt(self, node: Node, x: str, y: str) -> str:
        width = node.args[0].width
        return self.words.op("ult", width, self._biased(x, width), self._biased(y, width))

    def on_sle(self, node: Node, x: str, y: str) -> str:
        width = node.args[0].width
        return f"!{self.words.op('ult', width, self._biased(y, width), self._biased(x, width))}"

    def _biased(self, x: str, width: int) -> str:
        """Offset binary: two's complement with the top bit flipped, in unsigned order."""
        return self.words.op("xor", width, x, self.literal(1 << (width - 1), width))


def storage(width: int) -> str:
    """The C type that holds one encoding in memory."""
    return f"uint{next(bits for bits in (8, 16, 32, 64) if bits >= width)}_t"


def to_c(design: ExportedDesign) -> str:
    """A design as one C header; bits above an encoding's width are ignored."""
    writer = CText(design)
    (result,) = writer.run([design.root])
    words, guard = writer.words, f"{design.name.upper()}_H"
    typed = storage(design.root.width)
    arguments = ", ".join(_argument(p) for p in design.ports)
    lines = [
        *("/* " + line.replace("*/", "* /") + " */" for line in design.header),
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stdint.h>",
        "",
        *([words.helpers()] if words.limbs > 1 else []),
        *(f"/* {p.name}: {len(p.inputs)} of {p.encoding}, {p.width} bits each. */" for p in design.ports),
        f"static inline {typed} {design.name}({arguments})",
        "{",
        *_elements(words, design),
        *writer.lines,
        f"    return ({typed}){result};",
        "}",
        "",
        *_dpi(design),
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _argument(port: ExportPort) -> str:
    if port.array:
        return f"const {storage(port.width)} {port.name}[{len(port.inputs)}]"
    return f"{storage(port.width)} {port.name}_word"


def _elements(words: WordText, design: ExportedDesign) -> Iterator[str]:
    """Variables for the elements that the result depends on."""
    needed = {design.graph.input_name(n) for n in reachable([design.root]) if n.op == "input"}
    for p in design.ports:
        if not p.array and not needed.intersection(p.inputs):
            yield f"    (void){p.name}_word;"
        elif not needed.intersection(p.inputs):
            yield f"    (void){p.name};"
        for i, (name, symbol) in enumerate(zip(p.inputs, p.symbols, strict=True)):
            if name in needed:
                word = f"{p.name}[{i}]" if p.array else f"{p.name}_word"
                # A word of 8 or 16 bits is one of 32 here, whatever lies above the encoding being cut off.
                value = f"({words.type(p.width)}){word}"
                value = words.masked(value, p.width)
                yield f"    const {words.type(p.width)} {symbol} = {value};"


def _dpi(design: ExportedDesign) -> Iterator[str]:
    """The DPI-C function for simulators: packed vectors in, the result out."""
    name, width = f"{design.name}_dpi", design.root.width
    ports = [(p.name, p.width * len(p.inputs)) for p in design.ports]
    imported = ", ".join(f"input bit [{bits - 1}:0] {port}" for port, bits in ports)
    yield "/* For RTL simulation: define TCFORMAL_DPI in one C file that includes this header, and declare"
    yield f' * import "DPI-C" function void {name}({imported}, output bit [{width - 1}:0] {RESULT});'
    yield " * Element i of an array of w-bit elements is bits i*w+w-1 to i*w. */"
    yield "#ifdef TCFORMAL_DPI"
    yield '#include "svdpi.h"'
    yield "#ifdef __cplusplus"
    yield 'extern "C"'
    yield "#endif"
    given = ", ".join(f"const svBitVecVal *{port}_bits" for port, _ in ports)
    yield f"void {name}({given}, svBitVecVal *{RESULT}_bits)"
    yield "{"
    calls = []
    for p in design.ports:
        typed, variable = storage(p.width), f"{p.name}_words"
        yield f"    {typed} {variable}[{len(p.inputs)}];"
        yield f"    for (int i = 0; i < {len(p.inputs)}; i++) {{"
        yield f"        {variable}[i] = 0;"
        yield f"        for (int j = 0; j < {p.width}; j++) {{"
        yield f"            const int at = i * {p.width} + j;"
        yield f"            const uint64_t bit = {p.name}_bits[at / 32] >> at % 32 & 1u;"
        yield f"            {variable}[i] = ({typed})({variable}[i] | bit << j);"
        yield "        }"
        yield "    }"
        calls.append(variable if p.array else f"{variable}[0]")
    yield f"    const uint64_t word = {design.name}({', '.join(calls)});"
    for i in range(-(-width // 32)):
        yield f"    {RESULT}_bits[{i}] = (svBitVecVal)(word{f' >> {32 * i}' if i else ''});"
    yield "}"
    yield "#endif"
    yield ""
