"""Traversal of the DAG: topological order, the interpreter base class, serialisation and hashing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import OPS

NodeValue = TypeVar("NodeValue")

#: The method of an interpreter for each operator.
_HANDLERS = {name: f"on_{name}" for name in OPS}


def reachable(roots: Iterable[Node]) -> list[Node]:
    """Every node that the roots depend on, arguments before users, each once."""
    seen: dict[int, Node] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node.index not in seen:
            seen[node.index] = node
            stack += node.args
    return [seen[i] for i in sorted(seen)]


def met(roots: Iterable[Node], stops: Collection[int]) -> tuple[list[Node], list[Node]]:
    """A cut of the DAG: the nodes above the stop nodes, and the stop nodes that were reached."""
    above: dict[int, Node] = {}
    reached: dict[int, Node] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node.index in stops:
            reached[node.index] = node
        elif node.index not in above:
            above[node.index] = node
            stack += node.args
    return list(above.values()), list(reached.values())


@lru_cache(maxsize=16)
def _steps(roots: tuple[Node, ...]) -> list[tuple[Node, tuple[int, ...], tuple[int, ...]]]:
    """Each node in topological order, with its arguments, and those whose last use it is."""
    steps = []
    wanted = {root.index for root in roots}
    for node in reversed(reachable(roots)):
        args = tuple([a.index for a in node.args])
        steps.append((node, args, tuple({i for i in args if i not in wanted})))
        wanted.update(args)
    return steps[::-1]


@lru_cache(maxsize=16)
def most_held(root: Node) -> int:
    """The peak number of values that `Interpreter.run` holds while evaluating a node."""
    most = held = 0
    for _, _, last in _steps((root,)):
        held += 1
        most = max(most, held)
        held -= len(last)
    return most


class Interpreter(Generic[NodeValue]):
    """An interpretation of all operators; it visits each shared node of the DAG once.

    A concrete subclass defines `on_<op>(node, *argument_values)` for every operator of the table;
    a class that lacks one cannot be created.  Abstract intermediates pass `partial=True`.
    """

    partial: ClassVar[bool] = True

    def __init__(self, graph: Graph) -> None:
        if self.partial:
            raise TypeError(f"expected a complete interpreter, but {type(self).__name__} is partial")
        self.graph = graph

    def __init_subclass__(cls, *, partial: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.partial = partial
        missing = [name for name, handler in _HANDLERS.items() if not callable(getattr(cls, handler, None))]
        if missing and not partial:
            raise TypeError(
                f"expected {cls.__name__} to define every operator, but it lacks {', '.join(missing)}"
            )

    def run(self, roots: Sequence[Node]) -> list[NodeValue]:
        """The values of `roots`; other values are dropped after their last use."""
        values: dict[int, NodeValue] = {}
        for node, args, last in _steps(tuple(roots)):
            values[node.index] = self.visit(node, [values[i] for i in args])
            for i in last:
                del values[i]
        return [values[root.index] for root in roots]

    def visit(self, node: Node, values: Sequence[NodeValue]) -> NodeValue:
        """The value of one node, given those of its arguments."""
        value: NodeValue = getattr(self, _HANDLERS[node.op])(node, *values)
        return value


def specialised(graph: Graph, root: Node, known: Mapping[str, int]) -> tuple[Graph, Node]:
    """A node with some inputs fixed and folded, in a new graph with the remaining inputs."""
    folded = Graph()
    nodes: dict[int, Node] = {}
    for node in reachable([root]):
        if node.op == "input":
            name = graph.input_name(node)
            fixed = known.get(name)
            nodes[node.index] = (
                folded.input(name, node.width) if fixed is None else folded.const(fixed, node.width)
            )
        elif node.op == "const":
            nodes[node.index] = folded.const(node.params[1], node.width)
        else:
            nodes[node.index] = folded.make(node.op, [nodes[a.index] for a in node.args], node.params)
    return folded, nodes[root.index]


def to_json(graph: Graph, roots: Mapping[str, Node]) -> str:
    """The part of a graph below `roots` as canonical text: equal questions give equal text.

    Nodes are renumbered in topological order and inputs are kept by name, so the text depends on
    the definition and not on what else the graph holds.
    """
    nodes = reachable(roots.values())
    number = {node.index: i for i, node in enumerate(nodes)}
    rows: list[list[Any]] = []
    for node in nodes:
        if node.op == "input":
            rows.append([node.op, [], [node.width, graph.input_name(node)]])
        elif node.op == "const":
            rows.append([node.op, [], [node.width, hex(node.params[1])]])
        else:
            rows.append([node.op, [number[a.index] for a in node.args], list(node.params)])
    return json.dumps(
        {"nodes": rows, "roots": {name: number[node.index] for name, node in roots.items()}},
        separators=(",", ":"),
    )


def from_json(text: str) -> tuple[Graph, dict[str, Node]]:
    """Rebuild a graph and its named roots from the text of `to_json`."""
    try:
        data = json.loads(text)
        graph = Graph()
        nodes: list[Node] = []
        for name, args, params in data["nodes"]:
            if name == "input":
                nodes.append(graph.input(params[1], params[0]))
            elif name == "const":
                nodes.append(graph.const(int(params[1], 16), params[0]))
            else:
                nodes.append(graph.make(name, [nodes[_earlier(i)] for i in args], params))
        return graph, {name: nodes[_earlier(i)] for name, i in data["roots"].items()}
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(f"expected a serialised DAG, but got text that is not one: {error}") from error


def _earlier(index: int) -> int:
    """A node's number in serialised text; ValueError for a negative one."""
    if index < 0:
        raise ValueError(f"node number {index}")
    return index


def digest(graph: Graph, roots: Mapping[str, Node]) -> str:
    """SHA-256 of the serialised definition: a question's identity."""
    return hashlib.sha256(to_json(graph, roots).encode()).hexdigest()
