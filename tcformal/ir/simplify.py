"""Identities that hold for every value and only remove nodes, applied while a graph is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tcformal.ir.node import Node

if TYPE_CHECKING:
    from tcformal.ir.build import Graph

Identity = Callable[["Graph", str, Sequence[Node], Sequence[int], int], Node | None]


def _choice(_g: Graph, _name: str, args: Sequence[Node], _params: Sequence[int], _width: int) -> Node | None:
    cond, yes, no = args
    if yes is no:
        return yes
    if cond.op == "const":
        return yes if cond.params[1] else no
    return None


def _cut(g: Graph, _name: str, args: Sequence[Node], params: Sequence[int], width: int) -> Node | None:
    high, low = params
    (x,) = args
    if low == 0 and high == x.width - 1:
        return x
    if x.op == "extract":
        return g.make("extract", x.args, (high + x.params[1], low + x.params[1]))
    if x.op == "zero_extend" and high < x.args[0].width:
        return g.make("extract", x.args, params)
    if x.op == "zero_extend" and low >= x.args[0].width:
        return g.const(0, width)
    if x.op == "concat":
        cut = x.args[1].width
        if high < cut:
            return g.make("extract", (x.args[1],), params)
        if low >= cut:
            return g.make("extract", (x.args[0],), (high - cut, low - cut))
    return None


def _grown(_g: Graph, _name: str, args: Sequence[Node], params: Sequence[int], _width: int) -> Node | None:
    return args[0] if params[0] == 0 else None


def _equal(g: Graph, _name: str, args: Sequence[Node], _params: Sequence[int], _width: int) -> Node | None:
    return g.const(1, 1) if args[0] is args[1] else None


def _complement(_g: Graph, _name: str, args: Sequence[Node], _params: Sequence[int], _w: int) -> Node | None:
    return args[0].args[0] if args[0].op == "not_" else None


def _of_two(_g: Graph, name: str, args: Sequence[Node], _params: Sequence[int], width: int) -> Node | None:
    """The operators on two operands of one width."""
    x, y = args
    if x is y and name in ("and_", "or_"):
        return x
    if x.op != "const" != y.op:
        return None
    ones = (1 << width) - 1
    for one, other in ((x, y), (y, x)):
        if one.op != "const":
            continue
        value = one.params[1]
        if name in ("or_", "xor", "add_mod") and value == 0:
            return other
        if name == "and_" and value in (0, ones):
            return other if value else one
        if name == "or_" and value == ones:
            return one
    if name in ("sub_mod", "shl_mod", "lshr", "ashr") and y.op == "const" and y.params[1] == 0:
        return x
    return None


#: By operator: the node that `name(args; params)` equals by an identity, or None where none applies.
IDENTITIES: dict[str, Identity] = {
    "ite": _choice,
    "extract": _cut,
    "zero_extend": _grown,
    "sign_extend": _grown,
    "eq": _equal,
    "not_": _complement,
    **dict.fromkeys(("and_", "or_", "xor", "add_mod", "sub_mod", "shl_mod", "lshr", "ashr"), _of_two),
}
