"""BTOR2 export: a word-level netlist with inputs, named nodes and one output; a file for each format."""

from __future__ import annotations

from collections.abc import Callable

from tcformal.backends.export.exportable import RESULT, ExportedDesign, remarks
from tcformal.ir.node import Node
from tcformal.ir.walk import Interpreter


def _operator(name: str) -> Callable[..., int]:
    """The handler of an operator that BTOR2 has under a name of its own."""

    def handler(self: Btor2Text, node: Node, *args: int) -> int:
        return self._apply(name, node.width, *args, *node.params, node=node)

    return handler


class Btor2Text(Interpreter[int]):
    """An interpretation of the DAG as BTOR2 lines; values are line numbers."""

    def __init__(self, design: ExportedDesign) -> None:
        super().__init__(design.graph)
        #: The lines so far; each has the number of its place.
        self.lines: list[str] = []
        self._count = 0
        self._sorts: dict[int, int] = {}
        self._names = design.identifiers()
        self._stages = design.stages()
        self._elements = {
            name: self._line(f"input {self._sort(p.width)} {symbol}", p.encoding)
            for p in design.ports
            for name, symbol in zip(p.inputs, p.symbols, strict=True)
        }

    def _line(self, text: str, remark: str = "") -> int:
        self._count += 1
        self.lines.append(f"{self._count} {text}" + (f" ; {remark}" if remark else ""))
        return self._count

    def _sort(self, width: int) -> int:
        if width not in self._sorts:
            self._sorts[width] = self._line(f"sort bitvec {width}")
        return self._sorts[width]

    def _apply(self, name: str, width: int, *args: int, node: Node | None = None) -> int:
        """One operator line; with `node`, the line is named after its stage."""
        text = " ".join((name, str(self._sort(width)), *map(str, args)))
        stages = [] if node is None else self._stages.get(node.index, [])
        if node is None or not stages:
            return self._line(text)
        symbol = self._names[node.index]
        return self._line(f"{text} {symbol}", remarks(stages, symbol))

    def output(self, value: int) -> None:
        """The output line."""
        self._line(f"output {value} {RESULT}")

    def _const(self, value: int, width: int) -> int:
        return self._line(f"const {self._sort(width)} {value:0{width}b}")

    # ------------------------------------------------------------------ leaves
    def on_const(self, node: Node) -> int:
        return self._const(node.params[1], node.width)

    def on_input(self, node: Node) -> int:
        return self._elements[self.graph.input_name(node)]

    # ------------------------------------------------------------------ operators that BTOR2 has
    on_not_, on_and_, on_or_, on_xor = map(_operator, ("not", "and", "or", "xor"))
    on_add_mod, on_sub_mod, on_neg_mod = map(_operator, ("add", "sub", "neg"))
    on_eq, on_ult, on_ule, on_slt, on_sle = map(_operator, ("eq", "ult", "ulte", "slt", "slte"))
    on_ite, on_concat, on_extract = map(_operator, ("ite", "concat", "slice"))
    on_zero_extend, on_sign_extend = map(_operator, ("uext", "sext"))

    # ------------------------------------------------------------------ operators of one width there
    def on_mul_expand(self, node: Node, x: int, y: int) -> int:
        grown = [
            self._apply("uext", node.width, v, node.width - a.width)
            for v, a in zip((x, y), node.args, strict=True)
        ]
        return self._apply("mul", node.width, *grown, node=node)

    def on_shl_mod(self, node: Node, x: int, amount: int) -> int:
        return self._shift(node, "sll", x, amount)

    def on_lshr(self, node: Node, x: int, amount: int) -> int:
        return self._shift(node, "srl", x, amount)

    def on_ashr(self, node: Node, x: int, amount: int) -> int:
        return self._shift(node, "sra", x, amount)

    def _shift(self, node: Node, name: str, x: int, amount: int) -> int:
        """A shift whose amount is converted to x's width; overlong amounts stay overlong."""
        width, given = node.width, node.args[1].width
        if given < width:
            amount = self._apply("uext", width, amount, width - given)
        elif given > width:
            high = self._apply("slice", given - width, amount, given - 1, width)
            low = self._apply("slice", width, amount, width - 1, 0)
            beyond = self._apply("redor", 1, high)
            amount = self._apply("ite", width, beyond, self._const((1 << width) - 1, width), low)
        return self._apply(name, width, x, amount, node=node)


def to_btor2(design: ExportedDesign) -> str:
    """A design as a BTOR2 netlist without states."""
    writer = Btor2Text(design)
    (result,) = writer.run([design.root])
    writer.output(result)
    return "\n".join([*(f"; {line}" for line in design.header), *writer.lines]) + "\n"
