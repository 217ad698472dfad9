"""Nodes of the DAG: immutable, hash-consed by their graph, without a truth value."""

from __future__ import annotations

from typing import NoReturn

from tcformal.errors import WidthError


class Node:
    """One bit-vector operation in the DAG.

    Shapes: a single bit-vector of `width` bits.  Nodes are made by `Graph` only; two nodes of one
    graph are the same object exactly when operator, parameters and arguments are the same.
    Errors: a node has no truth value and no order; branching on one raises WidthError.
    """

    __slots__ = ("args", "index", "op", "params", "width")

    def __init__(
        self, op: str, args: tuple[Node, ...], params: tuple[int, ...], width: int, index: int
    ) -> None:
        self.op = op
        self.args = args
        self.params = params
        self.width = width
        #: Position in the graph's creation order: arguments always come before their users.
        self.index = index

    def __bool__(self) -> NoReturn:
        raise WidthError(
            f"expected no truth value to be asked of data, but node {self!r} was used as one: use Graph.ite"
        )

    def __repr__(self) -> str:
        inner = [f"#{a.index}" for a in self.args] + [str(p) for p in self.params]
        return f"#{self.index}:{self.op}({', '.join(inner)}):u{self.width}"
