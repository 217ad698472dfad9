"""Compiled operators on operands whose bounds differ: small ones, negative ones, all that the width holds.

Lanes are chosen from bounds alone, so that a bound that is too tight loses bits only where operands of
unlike bounds meet.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from conformance.test_builder import PAIRS
from conformance.test_compiled import answer_compiled
from conformance.test_operators import MEANINGS
from sampled import one_in
from tcformal.ir.build import Graph
from tcformal.ir.node import Node

SEED = 20261123
#: Wider than a lane of 32 bits, narrower than one of 64.
WIDTH = 40
ONES = (1 << WIDTH) - 1


def operands(g: Graph, rows: list[dict[str, int]]) -> list[tuple[Node, list[int]]]:
    """Nodes of WIDTH bits and their values: signed and unsigned small ones, opposites, constants, any."""
    x, y, t = g.input("x", 3), g.input("y", WIDTH), g.input("t", 1)
    small, wide = g.zero_extend_to(x, WIDTH), g.zero_extend_to(t, WIDTH)

    def signed(value: int) -> int:
        return value - 8 if value > 3 else value

    nodes: list[tuple[Node, Callable[[dict[str, int]], int]]] = [
        (small, lambda r: r["x"]),
        (g.sign_extend_to(x, WIDTH), lambda r: signed(r["x"]) & ONES),
        (g.neg_mod(small), lambda r: -r["x"] & ONES),
        (g.not_(small), lambda r: ~r["x"] & ONES),
        (g.sub_mod(wide, small), lambda r: (r["t"] - r["x"]) & ONES),
        (g.shift_left_const(g.zero_extend_to(x, WIDTH - 20), 20), lambda r: r["x"] << 20),
        (g.const(ONES, WIDTH), lambda r: ONES),
        (g.const(5, WIDTH), lambda r: 5),
        (y, lambda r: r["y"]),
    ]
    return [(node, [value(r) for r in rows]) for node, value in nodes]


def folded(name: str, first: int, rows: list[dict[str, int]]) -> tuple[Graph, Node, list[int]]:
    """`name` of one operand and each of the others, all results folded into one that hangs on every bit."""
    g = Graph()
    pool = operands(g, rows)
    x, xs = pool[first]
    total, totals = g.const(0, WIDTH), [0] * len(rows)
    for y, ys in pool:
        made = g.zero_extend_to(g.make(name, (x, y)), WIDTH)
        # A turn by one bit between two results: no bit of theirs is lost, and equal ones do not cancel.
        total = g.xor(g.concat(g.extract(total, WIDTH - 2, 0), g.top(total)), made)
        values = [MEANINGS[name]((p, q), (WIDTH, WIDTH), ()) for p, q in zip(xs, ys, strict=True)]
        turned = [(v << 1 & ONES) | v >> (WIDTH - 1) for v in totals]
        totals = [v ^ w for v, w in zip(turned, values, strict=True)]
    return g, total, totals


@pytest.mark.parametrize("name", one_in(2, PAIRS))
def test_operands_of_unlike_bounds(name: str) -> None:
    rng = random.Random(SEED)
    wide = (
        0,
        1,
        ONES,
        1 << (WIDTH - 1),
        1 << 31,
        1 << 32,
        (1 << 32) - 1,
        *(rng.getrandbits(WIDTH) for _ in range(5)),
    )
    rows = [{"x": x, "y": y, "t": t} for x in range(8) for y in wide for t in (0, 1)]
    for first in range(0, 9, 2):
        g, root, expected = folded(name, first, rows)
        found = answer_compiled(g, root, rows)
        wrong = [row for row, e, f in zip(rows, expected, found, strict=True) if e != f]
        assert wrong[:3] == [], f"{name} of operand {first}: {len(wrong)} of {len(rows)} rows"


@pytest.mark.parametrize("name", ["umin", "umax"])
def test_bounds_of_the_smaller_and_the_larger(name: str) -> None:
    """What a choice between two numbers cannot be below or above, seen by comparing it with constants."""
    g = Graph()
    x, y = g.input("x", 3), g.input("y", 3)
    low, high = g.zero_extend_to(x, 4), g.add_expand(y, g.const(4, 3))
    chosen = [getattr(g, name)(*pair) for pair in ((low, high), (high, low))]
    marks = [g.const(value, 4) for value in (1, 5, 8, 12)]
    root = g.concat(
        *(g.ult(c, mark) for c in chosen for mark in marks),
        *(g.ule(mark, c) for c in chosen for mark in marks),
    )
    rows = [{"x": a, "y": b} for a in range(8) for b in range(8)]
    expected = []
    for r in rows:
        value = {"umin": min, "umax": max}[name](r["x"], 4 + r["y"])
        less = [int(value < mark) for mark in (1, 5, 8, 12)] * 2
        expected.append(int("".join(map(str, [*less, *(1 - bit for bit in less)])), 2))
    assert answer_compiled(g, root, rows) == expected


@pytest.mark.parametrize("bit", range(8))
def test_only_a_choice_by_the_sign_is_a_magnitude(bit: int) -> None:
    """-x where some bit of x is set, else x: at least 0 for a bit of the sign alone."""
    g = Graph()
    x = g.sign_extend_to(g.input("x", 6), 8)
    chosen = g.ite(g.bit(x, bit), g.neg_mod(x), x)
    root = g.concat(g.slt(chosen, g.const(0, 8)), g.sign_extend_to(chosen, WIDTH))
    rows = [{"x": value} for value in range(64)]
    expected = []
    for r in rows:
        signed = r["x"] - 64 if r["x"] & 32 else r["x"]
        value = -signed if r["x"] >> min(bit, 5) & 1 else signed
        expected.append(int(value < 0) << WIDTH | (value & ONES))
    assert answer_compiled(g, root, rows) == expected
