"""Netlists in BTOR2 on the vocabulary of the DAG: every operator, registers, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tcformal.backends.concrete import Concrete
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.walk import reachable
from tcformal.query.rtl import read_netlist

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
PLACED: dict[str, tuple[str, int, Callable[[int], int]]] = {
    "slice": ("4 1", 4, lambda x: x >> 1),
    "uext": ("3", WIDTH + 3, lambda x: x),
    "sext": ("3", WIDTH + 3, signed),
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


@pytest.mark.parametrize("name", PLACED)
def test_bits_and_extensions(name: str) -> None:
    """With the name of a wire behind, as yosys writes it."""
    numbers, width, meaning = PLACED[name]
    rows = [(x, 0) for x in range(1 << WIDTH)]
    expected = [meaning(x) & ((1 << width) - 1) for x, _ in rows]
    assert results(f"5 {name} 2 3 {numbers} wire", width, rows) == expected


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


def test_choice() -> None:
    line = "6 sort bitvec 1\n7 slice 6 3 0 0\n5 ite 2 7 3 4"
    assert results(line, WIDTH, [(1, 9), (2, 9)]) == [1, 9]


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


def test_an_input_without_a_name_is_a_register_that_nothing_loads() -> None:
    g = Graph()
    made = read_netlist("1 sort bitvec 4\n2 input 1\n3 output 2 d\n").unrolled(g, {}, 3)["d"]
    assert g.input_name(made) == "register 2"


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


def test_factors_are_as_narrow_as_they_are() -> None:
    """Zero-extended factors: the product that a unit builds, so that both are one node."""
    rng = random.Random(1)
    text = (
        "1 sort bitvec 4\n2 sort bitvec 8\n3 input 1 x\n4 input 1 y\n5 uext 2 3 4\n6 uext 2 4 4\n"
        "7 mul 2 5 6\n8 output 7 d\n"
    )
    g = Graph()
    x, y = g.input("x", 4), g.input("y", 4)
    made = read_netlist(text).unrolled(g, {"x": x, "y": y}, 0)["d"]
    assert made is g.mul_expand(x, y)
    row = {"x": rng.randrange(16), "y": rng.randrange(16)}
    assert Concrete(g, [made])(row) == [row["x"] * row["y"]]
