"""A compiler of integer functions, a subset of Python, to LLVM; apart, because only long proofs load it.

What is compiled is a module of functions whose parameters are `int` or `Ints` (arrays of 32 bits) and whose
results are `int` or None.  They consist of assignments to names and array elements, `if`, `while`, `break`,
`continue`, `return` and calls of each other; local values are integers of 64 bits.  Anything else is a
ValueError when it is compiled.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
from types import ModuleType
from typing import NoReturn

from tcformal.backends.machine import Module

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitXor: "xor", ast.BitAnd: "and",
    ast.BitOr: "or", ast.RShift: "ashr", ast.LShift: "shl",
}  # fmt: skip
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


def compiled(module: ModuleType, name: str) -> Module:
    """Compile a module, and return one function that takes arrays by address and returns nothing.

    Errors: ValueError for a construct that is not compiled.
    """
    tree = ast.parse(inspect.getsource(module))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    constants = {key: value for key, value in vars(module).items() if isinstance(value, int)}
    texts = [_Function(node, functions, constants, node.name == name).text() for node in functions.values()]
    kinds = [ctypes.c_int64 if k == "i64" else ctypes.c_void_p for k in _kinds(functions[name])]
    return Module("\n".join(texts), {name: kinds})


def _kinds(node: ast.FunctionDef) -> list[str]:
    """The LLVM types of a function's parameters."""
    annotations = [ast.unparse(arg.annotation) if arg.annotation else "" for arg in node.args.args]
    if not set(annotations) <= {"int", "Ints"}:
        raise ValueError(f"expected parameters int and Ints of {node.name}, but got {', '.join(annotations)}")
    return ["i64" if kind == "int" else "ptr" for kind in annotations]


def _result(node: ast.FunctionDef) -> str:
    return "void" if node.returns is None or ast.unparse(node.returns) == "None" else "i64"


class _Function:
    """A translator of one function to LLVM text."""

    def __init__(
        self, node: ast.FunctionDef, functions: dict[str, ast.FunctionDef], constants: dict[str, int],
        exported: bool,
    ) -> None:  # fmt: skip
        self._node, self._functions, self._constants = node, functions, constants
        self._linkage = "" if exported else "internal "
        self._kinds = dict(zip((a.arg for a in node.args.args), _kinds(node), strict=True))
        self._lines: list[str] = []
        self._places: list[str] = []
        self._count = 0
        #: Labels of the start and the end of each loop around the current statement.
        self._loops: list[tuple[str, str]] = []

    def text(self) -> str:
        """The LLVM definition of the function."""
        # No two parameters of a call are one array.
        parameters = ", ".join(
            f"{kind.replace('ptr', 'ptr noalias')} %{name}" for name, kind in self._kinds.items()
        )
        for name, kind in self._kinds.items():
            if kind == "i64":
                self._store(name, f"%{name}")
        self._block(self._node.body)
        self._lines.append("ret void" if _result(self._node) == "void" else "ret i64 0")
        head = f"define {self._linkage}{_result(self._node)} @{self._node.name}({parameters}) {{"
        entry = [f"%{name}.place = alloca i64" for name in dict.fromkeys(self._places)]
        return "\n".join((head, "entry:", *entry, *self._lines, "}"))

    # ------------------------------------------------------------------ statements
    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Expr(value=ast.Constant()):
                    pass
                case ast.Expr(value=ast.Call() as call):
                    self._call(call)
                case ast.Assign(targets=[target], value=value):
                    self._put(target, self._value(value))
                case ast.AugAssign(target=target, op=op, value=value):
                    self._put(target, self._value(ast.BinOp(target, op, value)))
                case ast.If(test=test, body=first, orelse=second):
                    self._if(test, first, second)
                case ast.While(test=test, body=inside, orelse=[]):
                    self._while(test, inside)
                case ast.Break():
                    self._leave(f"br label %{self._loops[-1][1]}")
                case ast.Continue():
                    self._leave(f"br label %{self._loops[-1][0]}")
                case ast.Return(value=None):
                    self._leave("ret void")
                case ast.Return(value=ast.expr() as value):
                    self._leave(f"ret i64 {self._value(value)}")
                case _:
                    self._refuse(statement)

    def _refuse(self, node: ast.AST) -> NoReturn:
        raise ValueError(f"expected a construct that is compiled, but got {ast.unparse(node)!r}")

    def _put(self, target: ast.expr, value: str) -> None:
        if isinstance(target, ast.Name):
            self._store(target.id, value)
        elif isinstance(target, ast.Subscript):
            narrow = self._new(f"trunc i64 {value} to i32")
            self._lines.append(f"store i32 {narrow}, ptr {self._element(target)}")
        else:
            self._refuse(target)

    def _store(self, name: str, value: str) -> None:
        self._places.append(name)
        self._lines.append(f"store i64 {value}, ptr %{name}.place")

    def _if(self, test: ast.expr, *bodies: list[ast.stmt]) -> None:
        yes, no, end = self._label(), self._label(), self._label()
        self._branch(test, yes, no)
        for label, body in zip((yes, no), bodies, strict=True):
            self._lines.append(f"{label}:")
            self._block(body)
            self._lines.append(f"br label %{end}")
        self._lines.append(f"{end}:")

    def _while(self, test: ast.expr, body: list[ast.stmt]) -> None:
        again, inside, end = self._label(), self._label(), self._label()
        self._lines += [f"br label %{again}", f"{again}:"]
        self._branch(test, inside, end)
        self._lines.append(f"{inside}:")
        self._loops.append((again, end))
        self._block(body)
        self._loops.pop()
        self._lines += [f"br label %{again}", f"{end}:"]

    def _leave(self, line: str) -> None:
        """Terminate a basic block; later code of the source block is unreachable."""
        self._lines += [line, f"{self._label()}:"]

    # ------------------------------------------------------------------ expressions
    def _value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=int(value)):
                return str(value)
            case ast.Name(id=name) if name in self._constants:
                return str(self._constants[name])
            case ast.Name(id=name):
                return self._new(f"load i64, ptr %{name}.place")
            case ast.Subscript():
                return self._new(f"sext i32 {self._new(f'load i32, ptr {self._element(node)}')} to i64")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._new(f"sub i64 0, {self._value(operand)}")
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return self._new(f"{_BINARY[type(op)]} i64 {self._value(left)}, {self._value(right)}")
            case ast.Call():
                return self._call(node)
        return self._refuse(node)

    def _element(self, node: ast.Subscript) -> str:
        return self._new(f"getelementptr i32, ptr %{ast.unparse(node.value)}, i64 {self._value(node.slice)}")

    def _call(self, node: ast.Call) -> str:
        called = self._functions[ast.unparse(node.func)]
        given = [
            f"ptr %{ast.unparse(arg)}" if kind == "ptr" else f"i64 {self._value(arg)}"
            for kind, arg in zip(_kinds(called), node.args, strict=True)
        ]
        line = f"call {_result(called)} @{called.name}({', '.join(given)})"
        if _result(called) == "void":
            self._lines.append(line)
            return ""
        return self._new(line)

    def _branch(self, node: ast.expr, yes: str, no: str) -> None:
        """Emit a conditional branch to one of two labels."""
        match node:
            case ast.BoolOp(op=op, values=[first, *rest]) if rest:
                other = self._label()
                aims = (other, no) if isinstance(op, ast.And) else (yes, other)
                self._branch(first, *aims)
                self._lines.append(f"{other}:")
                self._branch(ast.BoolOp(op, rest), yes, no)
            case ast.BoolOp(values=[only]):
                self._branch(only, yes, no)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                truth = self._new(f"icmp {_COMPARED[type(op)]} i64 {self._value(left)}, {self._value(right)}")
                self._lines.append(f"br i1 {truth}, label %{yes}, label %{no}")
            case _:
                self._refuse(node)

    def _new(self, instruction: str) -> str:
        self._count += 1
        self._lines.append(f"%t{self._count} = {instruction}")
        return f"%t{self._count}"

    def _label(self) -> str:
        self._count += 1
        return f"l{self._count}"
