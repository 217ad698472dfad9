"""Lowering rules: cheaper instruction sequences for some nodes of a DAG than operator by operator.

A rule computes one node's value from other nodes' values.  It is valid only if both are equal on every input;
each kind of rule states its condition.  A rule may also use derived nodes: values outside the graph, such as
an operand as a float.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tcformal.backends.lanes import WORD, Code, LaneValue
from tcformal.backends.llvm import LoweringRule
from tcformal.ir.node import Node

Emit = Callable[[Code, Sequence[LaneValue]], LaneValue]


@dataclass(slots=True)
class LoweringRules:
    """The rules of one dot product, by node index.

    `mapped`: the node that stands for a node of the stage records, where some were taken as 0; `flags`: those
    some, by side, or what is 1 wherever one of them is.
    """

    mapped: Mapping[int, Node] = field(default_factory=dict)
    flags: dict[str, Sequence[Node]] = field(default_factory=dict)
    by_index: dict[int, LoweringRule] = field(default_factory=dict)

    def of(self, node: Node) -> Node:
        """The node of the compiled dot product that stands for a node of the original one."""
        return self.mapped.get(node.index, node)

    def add(
        self, node: Node, needs: Sequence[Node], emit: Callable[..., LaneValue], *parameters: object
    ) -> None:
        """Add a rule: `emit`, after its own parameters, computes the node's value from those of `needs`."""
        self.by_index[node.index] = LoweringRule(tuple(needs), partial(emit, *parameters))

    def derive(self, needs: Sequence[Node], emit: Callable[..., LaneValue], *parameters: object) -> Node:
        """A derived node, in no graph, by a rule as for `add`."""
        node = Node("derived", tuple(needs), (), WORD, -1 - len(self.by_index))
        self.add(node, needs, emit, *parameters)
        return node


def arguments(node: Node, rules: Mapping[int, LoweringRule]) -> tuple[Node, ...]:
    """The nodes from which a node's value is computed: its rule's or its own operands."""
    rule = rules.get(node.index)
    return node.args if rule is None else rule.needs


def needed(root: Node, rules: Mapping[int, LoweringRule]) -> list[Node]:
    """Every node that the value of `root` depends on, operands before users, each once."""
    order: dict[int, Node] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        open_ = [x for x in arguments(node, rules) if x.index not in order]
        if open_ and node.index not in order:
            stack += open_
            continue
        order.setdefault(stack.pop().index, node)
    return list(order.values())


# ---------------------------------------------------------------------- floats in integer registers
def float_kind(code: Code, bits: int) -> str:
    """The LLVM type of a vector of binary32 or binary64 numbers, one per lane."""
    name = "float" if bits == WORD else "double"
    return name if code.lanes == 1 else f"<{code.lanes} x {name}>"


def vector_suffix(code: Code, letter: str, bits: int) -> str:
    """The end of an intrinsic's name: `f32` or `v16f32` for floats (`f`), `i32` or `v16i32` for integers."""
    return f"{letter}{bits}" if code.lanes == 1 else f"v{code.lanes}{letter}{bits}"


def any_word(text: str, bits: int = WORD) -> LaneValue:
    """A value of `bits` bits of which nothing else is known."""
    return LaneValue(text, 0, (1 << bits) - 1, bits)


def as_float(code: Code, x: LaneValue) -> str:
    """Bit cast from an encoding to the float that it encodes."""
    return code.new(f"bitcast {code.kind(x.bits)} {code.operand(x, x.bits)} to {float_kind(code, x.bits)}")


def as_word(code: Code, text: str, bits: int) -> LaneValue:
    """Bit cast from a float to its encoding."""
    word = code.new(f"bitcast {float_kind(code, bits)} {text} to {code.kind(bits)}")
    return any_word(word, bits)


# ---------------------------------------------------------------------- the text of functions
def loop(
    name: str, before: str, stop: int | str, body: str, *, first: int | str = 0, step: int | str = 1
) -> str:
    """A counted loop: `body` for %NAME from `first`, at least once, then by `step` while it is below `stop`.

    Shapes: it is entered from the block `before`; the body begins the block `each_NAME`, another turn comes
    from `close_NAME`, and what follows the loop is in `after_NAME`.
    """
    return f"""  br label %each_{name}
each_{name}:
  %{name} = phi i64 [ {first}, %{before} ], [ %next_{name}, %close_{name} ]
{body}
  br label %close_{name}
close_{name}:
  %next_{name} = add i64 %{name}, {step}
  %more_{name} = icmp ult i64 %next_{name}, {stop}
  br i1 %more_{name}, label %each_{name}, label %after_{name}
after_{name}:"""


#: A call of a function of LLVM's: the type of its result, its name, and its arguments.
_CALL = re.compile(r"call (<\d+ x \w+>|\w+) (@llvm\.[\w.]+)\(([^)]*)\)")
#: The type of an argument, before its value.
_TYPE = re.compile(r"(<\d+ x \w+>|\w+) \S+(?:, |$)")


def declarations(text: str) -> str:
    """The LLVM declarations of the intrinsics that a text calls."""
    made = {
        f"declare {kind} {name}({', '.join(_TYPE.findall(given))})"
        for kind, name, given in _CALL.findall(text)
    }
    return "\n".join(sorted(made))
