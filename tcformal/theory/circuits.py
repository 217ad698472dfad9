"""Circuits and claims as text for Coq (`coq/Circuit.v`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tcformal.ir.node import Node
from tcformal.theory.formulas import Claim, Expr

_NAMES = {
    "not_": "Not", "and_": "And", "or_": "Or", "xor": "Xor", "add_mod": "Add", "sub_mod": "Sub",
    "neg_mod": "Neg", "mul_expand": "Mul", "shl_mod": "Shl", "lshr": "Lshr", "ashr": "Ashr", "eq": "Eq",
    "ult": "Ult", "ule": "Ule", "slt": "Slt", "sle": "Sle", "ite": "Ite", "concat": "Concat",
    "zero_extend": "Zext", "sign_extend": "Sext",
}  # fmt: skip


def operator_text(x: Node) -> str:
    """A node's operator as `Circuit.v`."""
    args = " ".join(name(y) for y in x.args)
    if x.op == "input":
        return "Input"
    if x.op == "const":
        return f"(Const {x.params[1]})"
    if x.op == "extract":
        return f"(Extract {x.params[1]} {args})"
    return f"({_NAMES[x.op]} {args})"


def circuit_text(nodes: Sequence[Node]) -> str:
    """A circuit: its nodes with their widths and operators."""
    made = ";\n  ".join(f"Node {name(x)} {x.width} {operator_text(x)}" for x in nodes)
    return f"Definition unit_circuit : circuit := [\n  {made}]."


def name(node: Node) -> str:
    """A node's name: names start at 2."""
    return str(node.index + 2)


def maybe(node: Node | None) -> str:
    """A node, or None."""
    return "None" if node is None else f"(Some {name(node)}%positive)"


def claims_text(claims: Sequence[Claim]) -> str:
    """The claims, after definitions of expressions that occur more than once."""
    count: Counter[Expr] = Counter()

    def visit(x: Expr) -> None:
        count[x] += 1
        if count[x] == 1:
            for y in x.args:
                if isinstance(y, Expr):
                    visit(y)

    for claim in claims:
        for e in (*claim.given, claim.goal):
            visit(e)
    names: dict[Expr, str] = {}
    lines: list[str] = []

    def text(x: Expr) -> str:
        known = names.get(x)
        if known is not None:
            return known
        made = x.coq_with(name, text)
        if count[x] > 1 and len(made) > 12:
            names[x] = f"e{len(names)}"
            lines.append(f"Definition {names[x]} := {made}.\n")
            return names[x]
        return made

    rows = ";\n  ".join(f"Claim [{'; '.join(map(text, x.given))}] {text(x.goal)}" for x in claims)
    return f"{''.join(lines)}Definition certified : list claim := [\n  {rows}]."
