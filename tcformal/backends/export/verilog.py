"""SystemVerilog export: one combinational, synthesisable module with packed ports; a file a format.

All operands of an expression have the expression's width, so that Verilog's context-dependent widths have no
effect.
"""

from __future__ import annotations

from collections.abc import Callable

from tcformal.backends.export.exportable import RESULT, ExportedDesign, Statements
from tcformal.ir.node import Node

#: Bits of a shift's amount that simulators accept.
_MOST_AMOUNT = 31
#: Verilator's warnings about comparisons whose result is constant.
_CONSTANT = ("UNSIGNED", "CMPCONST")


def _written(text: str) -> Callable[..., str]:
    """The handler of an operator that stands for a text with its operands."""
    return lambda self, node, *args: text.format(*args)


class VerilogText(Statements):
    """An interpretation of the DAG as wires and sized literals."""

    def literal(self, value: int, width: int) -> str:
        """A sized literal."""
        return f"{width}'h{value:x}"

    def statement(self, node: Node, name: str, expression: str) -> str:
        """The declaration of a wire."""
        return f"  wire [{node.width - 1}:0] {name} = {expression};"

    on_not_, on_neg_mod = map(_written, ("~{}", "-{}"))
    on_and_, on_or_, on_xor = map(_written, ("{} & {}", "{} | {}", "{} ^ {}"))
    on_add_mod, on_sub_mod = map(_written, ("{} + {}", "{} - {}"))
    on_eq, on_ult, on_ule = map(_written, ("{} == {}", "{} < {}", "{} <= {}"))
    on_slt, on_sle = map(_written, ("$signed({}) < $signed({})", "$signed({}) <= $signed({})"))
    on_ite, on_concat = map(_written, ("{} ? {} : {}", "{{{}, {}}}"))

    def on_mul_expand(self, node: Node, x: str, y: str) -> str:
        p, q = (_grown(v, node.width - a.width) for v, a in zip((x, y), node.args, strict=True))
        return f"{p} * {q}"

    def on_shl_mod(self, node: Node, x: str, amount: str) -> str:
        return f"{x} << {_amount(node, amount)}"

    def on_lshr(self, node: Node, x: str, amount: str) -> str:
        return f"{x} >> {_amount(node, amount)}"

    def on_ashr(self, node: Node, x: str, amount: str) -> str:
        return f"$signed({x}) >>> {_amount(node, amount)}"

    def on_extract(self, node: Node, x: str) -> str:
        high, low = node.params
        return f"{x}[{high}:{low}]"

    def on_zero_extend(self, node: Node, x: str) -> str:
        return _grown(x, node.params[0])

    def on_sign_extend(self, node: Node, x: str) -> str:
        top = node.args[0].width - 1
        return f"{{{{{node.params[0]}{{{x}[{top}]}}}}, {x}}}"


def _grown(x: str, bits: int) -> str:
    """Zero extension of an expression."""
    return f"{{{bits}'h0, {x}}}"


def _amount(node: Node, amount: str) -> str:
    """A shift amount; one wider than simulators accept saturates to all ones."""
    width = node.args[1].width
    if width <= _MOST_AMOUNT:
        return amount
    if node.args[1].op == "const":
        return str(min(node.args[1].params[1], node.width))
    low = f"{amount}[{_MOST_AMOUNT - 1}:0]"
    return f"((|{amount}[{width - 1}:{_MOST_AMOUNT}]) ? {{{_MOST_AMOUNT}{{1'b1}}}} : {low})"


def to_verilog(design: ExportedDesign) -> str:
    """A design as one module; element i of an array of w-bit elements is bits i*w+w-1 to i*w of its port."""
    writer = VerilogText(design)
    (result,) = writer.run([design.root])
    ports, elements = [], []
    for p in design.ports:
        count = f"{len(p.inputs)} x {p.encoding}" if p.array else p.encoding
        ports.append(f"  input  wire [{p.width * len(p.inputs) - 1}:0] {p.name},  // {count}")
        if p.array:
            for i, symbol in enumerate(p.symbols):
                high, low = p.width * (i + 1) - 1, p.width * i
                elements.append(f"  wire [{p.width - 1}:0] {symbol} = {p.name}[{high}:{low}];")
    lines = [
        *(f"// {line}" for line in design.header),
        "// Elements of an array stand side by side in their port, element 0 in the lowest bits.",
        # The DAG compares some values of few bits with what they never reach.
        *(f"// verilator lint_off {warning}" for warning in _CONSTANT),
        f"module {design.name} (",
        *ports,
        f"  output wire [{design.root.width - 1}:0] {RESULT}  // {design.encoding}",
        ");",
        *elements,
        *writer.lines,
        f"  assign {RESULT} = {result};",
        "endmodule",
        *(f"// verilator lint_on {warning}" for warning in _CONSTANT),
    ]
    return "\n".join(lines) + "\n"
