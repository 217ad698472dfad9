"""Invariants: what a definition relies on, as nodes beside it.

They are built only in a graph that was made with them switched on, so that no other graph, nor the digest
of any definition, knows of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.ir.node import Node


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition that holds on every input.

    Shapes: node u[1], 1 where the condition holds; `where` is the scope that relies on it.
    """

    node: Node
    why: str
    where: str
