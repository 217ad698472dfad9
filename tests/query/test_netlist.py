"""Netlists in BTOR2 on the vocabulary of the DAG: every operator, registers, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tcformal.backends.concrete import Concrete
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.walk import reachable
from tcformal.query.rtl.check import read_netlist

WIDTH = 6
ONES = (1 << WIDTH) - 1


def signed(x: int) -> int:
    return x - (1 << WIDTH) if x >> (WIDTH - 1) else x


#: What BTOR2 says of each operator on two numbers of one width, and the width of its result.
TWO: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "and": (WIDTH, lambda x, y: x & y),
    "nand": (WIDTH, lambda x, y: ~(x & y)),
    "or": (WIDTH, lambda x, y: x | y),
    "nor": (WIDTH, lambda x, y: ~(x | y)),
    "xor": (WIDTH, lambda x, y: x ^ y),
    "xnor": (WIDTH, lambda x, y: ~(x ^ y)),
    "eq": (1, lambda x, y: x == y),
    "neq": (1, lambda x, y: x != y),
    "ult": (1, lambda x, y: x < y),
    "ulte": (1, lambda x, y: x <= y),
    "ugt": (1, lambda x, y: x > y),
    "ugte": (1, lambda x, y: x >= y),
    "slt": (1, lambda x, y: signed(x) < signed(y)),
    "slte": (1, lambda x, y: signed(x) <= signed(y)),
    "sgt": (1, lambda x, y: signed(x) > signed(y)),
    "sgte": (1, lambda x, y: signed(x) >= signed(y)),
    "add": (WIDTH, lambda x, y: x + y),
    "sub": (WIDTH, lambda x, y: x - y),
    "mul": (WIDTH, lambda x, y: x * y),
    "sll": (WIDTH, lambda x, y: x << y),
    "srl": (WIDTH, lambda x, y: x >> y),
    "sra": (WIDTH, lambda x, y: signed(x) >> y),
    "concat": (2 * WIDTH, lambda x, y: x << WIDTH | y),
}
ONE: dict[str, tuple[int, Callable[[int], int]]] = {
    "not": (WIDTH, lambda x: ~x),
    "neg": (WIDTH, lambda x: -x),
    "inc": (WIDTH, lambda x: x + 1),
    "dec": (WIDTH, lambda x: x - 1),
    "redor": (1, lambda x: x != 0),
    "redand": (1, lambda x: x == ONES),
    "redxor": (1, lambda x: x.bit_count() & 1),
}


def results(line: str, width: int, rows: list[tuple[int, int]]) -> list[int]:
    """The result of one line on x and y."""
    text = f"1 sort bitvec {WIDTH}\n2 sort bitvec {width}\n3 input 1 x\n4 input 1 y\n{line}\n9 output 5 d\n"
    g = Graph()
    given = {name: g.input(name, WIDTH) for name in ("x", "y")}
    run = Concrete(g, [read_netlist(text).unrolled(g, given, 0)["d"]])
    return [run({"x": x, "y": y})[0] for x, y in rows]


PAIRS = [(x, y) for x in range(0, 1 << WIDTH, 3) for y in range(1 << WIDTH)]


@pytest.mark.parametrize("name", TWO)
def test_operators_on_two(name: str) -> None:
    width, meaning = TWO[name]
    expected = [int(meaning(x, y)) & ((1 << width) - 1) for x, y in PAIRS]
    assert results(f"5 {name} 2 3 4", width, PAIRS) == expected


@pytest.mark.parametrize("name", ONE)
def test_operators_on_one(name: str) -> None:
    """A negative operand is complemented."""
    width, meaning = ONE[name]
    mask = (1 << width) - 1
    rows = [(x, 0) for x in range(1 << WIDTH)]
    assert results(f"5 {name} 2 3", width, rows) == [int(meaning(x)) & mask for x, _ in rows]
    assert results(f"5 {name} 2 -3", width, rows) == [int(meaning(x ^ ONES)) & mask for x, _ in rows]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("const 2 101101", 45),
        ("constd 2 -3", 61),
        ("consth 2 2d", 45),
        ("zero 2", 0),
        ("one 2", 1),
        ("ones 2", 63),
    ],
)
def test_constants(line: str, value: int) -> None:
    assert results(f"5 {line}", WIDTH, [(0, 0)]) == [value]


#: d follows x through two registers; a third one counts.
PIPELINE = """
1 sort bitvec 4
2 input 1 x
3 state 1 first
4 state 1 second
5 next 1 3 2
6 next 1 4 3
7 output 4 d
8 state 1 count
9 inc 1 8
10 next 1 8 9
11 output 8 n
"""


def test_a_pipeline_is_followed() -> None:
    net, g = read_netlist(PIPELINE), Graph()
    x = g.input("x", 4)
    assert net.unrolled(g, {"x": x}, 2)["d"] is x
    assert net.unrolled(g, {"x": x}, 3)["d"] is x


@pytest.mark.parametrize(("cycles", "output"), [(0, "d"), (1, "d"), (5, "n")])
def test_what_registers_held_before_is_not_forgotten(cycles: int, output: str) -> None:
    net, g = read_netlist(PIPELINE), Graph()
    root = net.unrolled(g, {"x": g.input("x", 4)}, cycles)[output]
    assert any(n.op == "input" and g.input_name(n).startswith("register") for n in reachable([root]))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 sort bitvec 4\n2 input 1 x\n3 udiv 1 2 2\n4 output 3 d\n", "an operator that can be compared"),
        ("1 sort bitvec 4\n2 sort array 1 1\n", "expected RTL without memories"),
        ("1 sort bitvec 4\n2 input 9 x\n", "expected a netlist in BTOR2"),
        ("one sort bitvec 4\n", "expected a netlist in BTOR2"),
    ],
)
def test_other_netlists_reject(text: str, sentence: str) -> None:
    g = Graph()
    with pytest.raises(InputError, match=sentence):
        read_netlist(text).unrolled(g, {"x": g.input("x", 4)}, 0)
