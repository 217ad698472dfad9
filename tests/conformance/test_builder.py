"""What the builder folds, shares and simplifies keeps its value, whatever the operands have in common.

A graph is built twice at once: as nodes, and as the values that each node should have on some inputs, by
the operators' meanings alone.  An identity that the builder should not have used shows in the difference.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from conformance.test_operators import MEANINGS
from tcformal.backends.concrete import Concrete
from tcformal.ir.build import IDENTITIES, Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import OPS

SEED = 20261122
#: Every value of x and y (3 bits each) and of t.
NAMES, WIDTHS = ("x", "y", "t"), (3, 3, 1)
ROWS = list(itertools.product(range(8), range(8), range(2)))

#: Operators on two operands of one width.
PAIRS = (
    "and_",
    "or_",
    "xor",
    "add_mod",
    "sub_mod",
    "eq",
    "ult",
    "ule",
    "slt",
    "sle",
    "shl_mod",
    "lshr",
    "ashr",
)


@dataclass(frozen=True)
class Shadowed:
    """A node, and the values that it should have, one for each row."""

    node: Node
    values: tuple[int, ...]


class Builder:
    """Makes nodes, and beside each of them what it should be."""

    def __init__(self) -> None:
        self.graph = Graph()

    def inputs(self) -> list[Shadowed]:
        columns = zip(*ROWS, strict=True)
        return [
            Shadowed(self.graph.input(name, width), tuple(column))
            for name, width, column in zip(NAMES, WIDTHS, columns, strict=True)
        ]

    def const(self, value: int, width: int) -> Shadowed:
        return Shadowed(self.graph.const(value, width), (value,) * len(ROWS))

    def make(self, name: str, args: Sequence[Shadowed], params: tuple[int, ...] = ()) -> Shadowed:
        widths = tuple(a.node.width for a in args)
        node = self.graph.make(name, [a.node for a in args], params)
        rows = zip(*(a.values for a in args), strict=True)
        return Shadowed(node, tuple(MEANINGS[name](row, widths, params) for row in rows))

    def wrong(self, made: Sequence[Shadowed]) -> list[str]:
        """The nodes whose values are not what they should be, each with a row."""
        run = Concrete(self.graph, [x.node for x in made])
        found: dict[str, str] = {}
        for i, row in enumerate(ROWS):
            values = run(dict(zip(NAMES, row, strict=True)))
            for x, value in zip(made, values, strict=True):
                if value != x.values[i]:
                    found.setdefault(repr(x.node), f"{x.node!r} is {value}, not {x.values[i]}, at {row}")
        return list(found.values())


def kin(b: Builder, x: Shadowed, y: Shadowed, t: Shadowed) -> list[Shadowed]:
    """Operands of 3 bits that have something in common: themselves, complements, cuts, constants, choices."""
    return [
        x, y, b.make("not_", [x]), b.make("neg_mod", [x]), b.make("and_", [x, y]), b.make("or_", [x, y]),
        b.make("xor", [x, y]), b.make("ite", [t, x, y]),
        b.make("concat", [t, b.make("extract", [x], (2, 1))]),
        b.make("zero_extend", [b.make("extract", [x], (1, 0))], (1,)),
        b.make("sign_extend", [b.make("extract", [x], (1, 0))], (1,)),
        *(b.const(value, 3) for value in range(8)),
    ]  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_operands_that_have_something_in_common(name: str) -> None:
    """Every pair of them, the same one twice among these."""
    b = Builder()
    pool = kin(b, *b.inputs())
    made = [b.make(name, pair) for pair in itertools.product(pool, repeat=2)]
    assert b.wrong(made)[:5] == []


def test_choices_between_operands_that_have_something_in_common() -> None:
    b = Builder()
    x, y, t = b.inputs()
    pool = kin(b, x, y, t)
    conditions = [t, b.make("not_", [t]), b.make("eq", [x, y]), b.const(0, 1), b.const(1, 1)]
    made = [b.make("ite", row) for row in itertools.product(conditions, pool, pool)]
    # Among truth values the condition itself may be a branch.
    made += [b.make("ite", row) for row in itertools.product(conditions, repeat=3)]
    assert b.wrong(made)[:5] == []


def test_cuts_and_extensions_of_each_other() -> None:
    """Every cut of every joint, extension and cut of operands that have something in common."""
    b = Builder()
    pool = kin(b, *b.inputs())
    grown = [b.make("concat", pair) for pair in itertools.product(pool[:8], repeat=2)]
    grown += [
        b.make(name, [x], (by,)) for name in ("zero_extend", "sign_extend") for x in pool for by in range(4)
    ]
    cuts = [
        b.make("extract", [x], (high, low))
        for x in grown
        for high in range(x.node.width)
        for low in range(high + 1)
    ]
    assert b.wrong(cuts)[:5] == []
    again = [b.make("extract", [x], (x.node.width - 1, 1)) for x in cuts if x.node.width > 1]
    assert b.wrong(again)[:5] == []


@pytest.mark.parametrize("seed", range(6))
def test_graphs_from_few_operands(seed: int) -> None:
    """Operators on what was just made, so that the same operands meet again and again."""
    rng, b = random.Random(SEED + seed), Builder()
    pool = [*b.inputs(), b.const(0, 3), b.const(7, 3), b.const(1, 1)]
    made: list[Shadowed] = []
    met: set[str] = set()
    while len(made) < 400:
        name = rng.choice(sorted(MEANINGS))
        args = [rng.choice(pool[-12:]) for _ in range(OPS[name].arity)]
        width = args[0].node.width
        params: tuple[int, ...] = ()
        if name == "extract":
            low = rng.randrange(width)
            params = (rng.randrange(low, width), low)
        elif name in ("zero_extend", "sign_extend"):
            params = (rng.randrange(3),)
        elif name == "ite":
            args[0] = b.make("extract", [args[0]], (0, 0))
            args[2] = fitted(b, args[2], args[1].node.width)
        elif name in PAIRS:
            args[1] = fitted(b, args[1], width)
        x = b.make(name, args, params)
        if x.node.width <= 8:
            pool.append(x)
            made.append(x)
            met.add(name)
    assert met == set(MEANINGS)
    assert b.wrong(made)[:5] == []


def fitted(b: Builder, x: Shadowed, width: int) -> Shadowed:
    """x in `width` bits: cut, or extended."""
    if x.node.width >= width:
        return b.make("extract", [x], (width - 1, 0))
    return b.make("zero_extend", [x], (width - x.node.width,))


def test_a_wrong_identity_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison rejects: x ⊕ x that is taken for x."""
    right = IDENTITIES["xor"]

    def wrong(g: Graph, name: str, args: Sequence[Node], params: Sequence[int], width: int) -> Node | None:
        return args[0] if args[0] is args[1] else right(g, name, args, params, width)

    monkeypatch.setitem(IDENTITIES, "xor", wrong)
    b = Builder()
    x, _, _ = b.inputs()
    same = b.make("xor", [x, x])
    assert b.wrong([same]) == ["#0:input(3, 0):u3 is 1, not 0, at (1, 0, 0)"]


def test_low_bits_are_dropped_up_to_the_last() -> None:
    """Every amount, beyond the width too, where a zero of one bit is left."""
    g = Graph()
    x = g.input("x", 5)
    cut = [g.truncate_low(x, amount) for amount in range(8)]
    assert [node.width for node in cut] == [5, 4, 3, 2, 1, 1, 1, 1]
    run = Concrete(g, cut)
    for value in range(32):
        assert run({"x": value}) == [value >> amount for amount in range(8)]
