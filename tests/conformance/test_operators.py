"""Every operator means the same in every interpretation: exhaustive on small widths, seeded on wide ones."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from conformance.test_clauses import answer_clauses
from conformance.test_compiled import answer_compiled
from conformance.test_term_interpreters import (
    answer_bitwuzla,
    answer_cvc5,
    answer_text_cvc5,
    answer_text_z3,
    answer_z3,
)
from tcformal.backends.blast import Blast
from tcformal.backends.concrete import Concrete
from tcformal.backends.second_gates import network
from tcformal.backends.vector import Vector, evaluate
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import LEAVES, OPS, apply_op
from tcformal.ir.walk import to_json

SEED = 20260711
SMALL = (1, 2, 3, 4)
#: Around the width at which lanes become Python integers, and beyond the widest sums of the catalogue.
WIDE = (63, 64, 65, 130)

Row = tuple[int, ...]


# --------------------------------------------------------------------- what each operator means
def number(value: int, width: int) -> int:
    """A bit-vector read as two's complement, by its text."""
    text = f"{value:0{width}b}"
    return int(text[1:] or "0", 2) - (text[0] == "1") * (1 << (width - 1))


def digits(value: int, width: int) -> str:
    """The bits as text, most significant first."""
    return f"{value:0{width}b}"


def bitwise(choose: Callable[[str, str], bool]) -> Callable[[Row, Row, Row], int]:
    """An operator on each pair of bits."""

    def on_texts(v: Row, w: Row, p: Row) -> int:
        pairs = zip(digits(v[0], w[0]), digits(v[1], w[1]), strict=True)
        return int("".join("01"[choose(x, y)] for x, y in pairs), 2)

    return on_texts


#: The vocabulary a second time, in the words of SMT-LIB's definitions: values, widths, parameters.
MEANINGS: dict[str, Callable[[Row, Row, Row], int]] = {
    "not_": lambda v, w, p: 2 ** w[0] - 1 - v[0],
    "and_": bitwise(lambda x, y: x == y == "1"),
    "or_": bitwise(lambda x, y: "1" in x + y),
    "xor": bitwise(lambda x, y: x != y),
    "add_mod": lambda v, w, p: (v[0] + v[1]) % 2 ** w[0],
    "sub_mod": lambda v, w, p: (v[0] - v[1]) % 2 ** w[0],
    "neg_mod": lambda v, w, p: (2 ** w[0] - v[0]) % 2 ** w[0],
    "mul_expand": lambda v, w, p: v[0] * v[1],
    "shl_mod": lambda v, w, p: v[0] * 2 ** min(v[1], w[0]) % 2 ** w[0],
    "lshr": lambda v, w, p: v[0] // 2 ** min(v[1], w[0]),
    "ashr": lambda v, w, p: number(v[0], w[0]) // 2 ** min(v[1], w[0]) % 2 ** w[0],
    "eq": lambda v, w, p: int(digits(v[0], w[0]) == digits(v[1], w[1])),
    "ult": lambda v, w, p: int(v[0] < v[1]),
    "ule": lambda v, w, p: int(not v[1] < v[0]),
    "slt": lambda v, w, p: int(number(v[0], w[0]) < number(v[1], w[1])),
    "sle": lambda v, w, p: int(not number(v[1], w[1]) < number(v[0], w[0])),
    "ite": lambda v, w, p: v[2 - v[0]],
    "concat": lambda v, w, p: int(digits(v[0], w[0]) + digits(v[1], w[1]), 2),
    "extract": lambda v, w, p: int(digits(v[0], w[0])[w[0] - 1 - p[0] : w[0] - p[1]], 2),
    "zero_extend": lambda v, w, p: int("0" * p[0] + digits(v[0], w[0]), 2),
    "sign_extend": lambda v, w, p: int(digits(v[0], w[0])[0] * p[0] + digits(v[0], w[0]), 2),
}


@dataclass(frozen=True)
class Case:
    """One operator on operands of given widths; operands in `fixed` are constants of the graph."""

    name: str
    widths: Row
    params: Row = ()
    fixed: tuple[int | None, ...] = ()

    def build(self, graph: Graph, prefix: str = "") -> Node:
        """The node, its inputs named x0, x1, ... behind the prefix."""
        args = []
        for i, width in enumerate(self.widths):
            value = self.fixed[i] if self.fixed else None
            args.append(graph.input(f"{prefix}x{i}", width) if value is None else graph.const(value, width))
        return graph.make(self.name, args, self.params)

    def expected(self, row: Row) -> int:
        """The result on one row of operands."""
        return MEANINGS[self.name](row, self.widths, self.params)


def shapes(name: str, widths: Sequence[int]) -> Iterator[tuple[Row, Row]]:
    """The operand widths and parameters of an operator, every combination of `widths`."""
    if name in ("mul_expand", "concat", "shl_mod", "lshr", "ashr"):
        yield from ((pair, ()) for pair in itertools.product(widths, repeat=2))
    elif name == "ite":
        yield from (((1, w, w), ()) for w in widths)
    elif name == "extract":
        yield from (((w,), (high, low)) for w in widths for high in range(w) for low in range(high + 1))
    elif name in ("zero_extend", "sign_extend"):
        yield from (((w,), (by,)) for w in widths for by in range(4))
    else:
        yield from (((w,) * OPS[name].arity, ()) for w in widths)


def small_cases(name: str) -> list[Case]:
    return [Case(name, widths, params) for widths, params in shapes(name, SMALL)]


def all_rows(case: Case) -> list[Row]:
    """Every value of every operand."""
    return list(itertools.product(*(range(1 << w) for w in case.widths)))


# --------------------------------------------------------------------- the interpretations
#: (case, rows, expected results) -> the rows on which the interpretation gives another result.
Interpretation = Callable[[Case, Sequence[Row], Sequence[int]], list[Row]]


def by_values(compute: Callable[[Graph, Node, Sequence[Mapping[str, int]]], list[int]]) -> Interpretation:
    """An interpretation that computes: its results are compared."""

    def disagreements(case: Case, rows: Sequence[Row], expected: Sequence[int]) -> list[Row]:
        graph = Graph()
        root = case.build(graph)
        results = compute(graph, root, [{f"x{i}": v for i, v in enumerate(row)} for row in rows])
        return [row for row, e, r in zip(rows, expected, results, strict=True) if e != r]

    return disagreements


def by_question(answer: Callable[[Graph, Node], str]) -> Interpretation:
    """An interpretation that answers questions: is there a row with another result?"""

    def differs(case: Case, rows: Sequence[Row], expected: Sequence[int]) -> bool:
        graph = Graph()
        root = case.build(graph)
        found = []
        for row, value in zip(rows, expected, strict=True):
            given = [
                graph.eq(graph.input(f"x{i}", w), graph.const(v, w))
                for i, (v, w) in enumerate(zip(row, case.widths, strict=True))
            ]
            found.append(graph.and_(*given, graph.not_(graph.eq(root, graph.const(value, root.width)))))
        return {"sat": True, "unsat": False}[answer(graph, graph.or_(found[0], *found[1:]))]

    def disagreements(case: Case, rows: Sequence[Row], expected: Sequence[int]) -> list[Row]:
        if not differs(case, rows, expected):
            return []
        return [row for row, e in zip(rows, expected, strict=True) if differs(case, [row], [e])]

    return disagreements


def on_table(graph: Graph, root: Node, rows: Sequence[Mapping[str, int]]) -> list[int]:
    """The operator table itself, without an interpreter (an operator that folded away passes through)."""
    results = []
    for row in rows:
        if root.op == "input":
            results.append(row[graph.input_name(root)])
            continue
        values = [a.params[1] if a.op == "const" else row[graph.input_name(a)] for a in root.args]
        widths = [a.width for a in root.args]
        results.append(apply_op(OPS[root.op], values, widths, root.params, root.width))
    return results


def on_integers(graph: Graph, root: Node, rows: Sequence[Mapping[str, int]]) -> list[int]:
    run = Concrete(graph, [root], singly=0)
    return [run(row)[0] for row in rows]


def on_few_integers(graph: Graph, root: Node, rows: Sequence[Mapping[str, int]]) -> list[int]:
    run = Concrete(graph, [root], singly=len(rows))
    return [run(row)[0] for row in rows]


def on_lanes(graph: Graph, root: Node, rows: Sequence[Mapping[str, int]]) -> list[int]:
    lanes = {
        name: np.array([row[name] for row in rows], dtype=np.uint64 if node.width <= 64 else object)
        for name, node in graph.inputs.items()
    }
    result = evaluate(graph, root, lanes, n=len(rows))
    assert result.dtype == (np.uint64 if root.width <= 64 else object)
    return [int(x) for x in result]


def on_gates(graph: Graph, root: Node, rows: Sequence[Mapping[str, int]]) -> list[int]:
    blast = Blast(graph)
    (literals,) = blast.run([root])
    results = []
    for row in rows:
        bits = {
            bit >> 1: row[name] >> i & 1 for name, word in blast.inputs.items() for i, bit in enumerate(word)
        }
        values = blast.gates.evaluate(literals, bits)
        results.append(sum(value << i for i, value in enumerate(values)))
    return results


def on_independent_gates(graph: Graph, root: Node, rows: Sequence[Mapping[str, int]]) -> list[int]:
    net = network(to_json(graph, {"root": root}))
    return [values["root"] for values in net.evaluate(rows)]


#: A new interpretation joins here.
INTERPRETATIONS: dict[str, Interpretation] = {
    "table": by_values(on_table),
    "integers": by_values(on_integers),
    "few-integers": by_values(on_few_integers),
    "lanes": by_values(on_lanes),
    "compiled": by_values(answer_compiled),
    "gates": by_values(on_gates),
    "independent-gates": by_values(on_independent_gates),
    "clauses": by_question(answer_clauses),
    "z3": by_question(answer_z3),
    "cvc5": by_question(answer_cvc5),
    "bitwuzla": by_question(answer_bitwuzla),
    "text-z3": by_question(answer_text_z3),
    "text-cvc5": by_question(answer_text_cvc5),
}

#: Those that answer questions.
ASKING = ("clauses", "z3", "cvc5", "bitwuzla", "text-z3", "text-cvc5")
#: Those that compute: many wide operands are tried on them.
COMPUTING = ("integers", "lanes", "compiled")
#: Of these, the ones that need no compilation for every graph.
READY = ("integers", "lanes")
#: Those that take longer for every row: few wide operands are tried on them, made to go wrong at any bit.
SLOWER = tuple(sorted(INTERPRETATIONS.keys() - set(COMPUTING)))

OPERATORS = sorted(OPS.keys() - LEAVES)


def check(interpretation: str, case: Case, rows: Sequence[Row]) -> None:
    """The interpretation gives the operator its meaning on all these rows."""
    wrong = INTERPRETATIONS[interpretation](case, rows, [case.expected(row) for row in rows])
    shown = [tuple(map(hex, row)) for row in wrong[:5]]
    assert not wrong, f"{interpretation}: {case} differs on {len(wrong)} of {len(rows)} rows: {shown}"


def test_every_operator_has_a_second_meaning() -> None:
    assert sorted(MEANINGS) == OPERATORS


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
def test_operator_on_all_values_of_small_widths(interpretation: str, name: str) -> None:
    # Every graph is compiled anew: one shape of three is.
    for case in small_cases(name)[:: 3 if interpretation == "compiled" else 1]:
        # Solvers are asked about one bit less: their questions grow with the number of rows.
        if interpretation not in ASKING or max(case.widths) < max(SMALL):
            check(interpretation, case, all_rows(case))


@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
def test_constants_of_small_widths(interpretation: str) -> None:
    """A constant beside an input keeps its value and width (alone it would be folded)."""
    for width in SMALL:
        for value in range(1 << width):
            check(interpretation, Case("concat", (width, 1), (), (value, None)), [(value, 0), (value, 1)])


@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
def test_comparison_rejects(interpretation: str) -> None:
    """One wrong expected result among all is found, and only that one."""
    case = Case("sub_mod", (3, 3))
    rows = all_rows(case)
    expected = [case.expected(row) for row in rows]
    expected[37] ^= 4
    assert INTERPRETATIONS[interpretation](case, rows, expected) == [rows[37]]


# --------------------------------------------------------------------- wide operands
def wide_shapes(name: str) -> list[tuple[Row, Row]]:
    """Widths on both sides of the border between the two kinds of lanes, operands and results."""
    if name in ("mul_expand", "concat"):
        pairs = [(32, 31), (32, 32), (33, 32), (1, 64), (64, 1), (64, 64), (65, 63), (3, 100), (67, 66)]
        return [(pair, ()) for pair in pairs]
    if name in ("shl_mod", "lshr", "ashr"):
        return [(pair, ()) for pair in itertools.product((5, *WIDE), (3, 7, 64, 65, 130))]
    if name == "extract":
        cuts = [(100, 99, 0), (100, 98, 35), (100, 99, 35), (100, 63, 0), (100, 64, 0), (100, 70, 66)]
        cuts += [(130, 129, 0), (130, 129, 64), (130, 128, 127), (130, 104, 104), (130, 66, 3)]
        cuts += [(65, 64, 64), (65, 64, 1), (65, 63, 0), (64, 63, 1), (64, 63, 63), (64, 62, 0), (63, 62, 5)]
        return [((w,), (high, low)) for w, high, low in cuts]
    if name in ("zero_extend", "sign_extend"):
        grown = [
            (1, 63),
            (1, 64),
            (60, 3),
            (60, 4),
            (60, 5),
            (63, 1),
            (64, 1),
            (64, 36),
            (65, 35),
            (7, 93),
            (100, 30),
            (7, 123),
            (129, 1),
        ]
        return [((w,), (by,)) for w, by in grown]
    return list(shapes(name, WIDE))


def wide_value(rng: random.Random, width: int) -> int:
    """Any value, or one near an end of the range, a power of two, or a likely shift amount."""
    ones = (1 << width) - 1
    near = rng.choice((0, 1 << rng.randrange(width), ones, 1 << (width - 1), min(ones, rng.randrange(130))))
    return rng.choice((rng.getrandbits(width), near, max(0, near - 1), min(ones, near + 1)))


def wide_rows(rng: random.Random, widths: Row, count: int) -> list[Row]:
    rows = []
    for _ in range(count):
        row = [wide_value(rng, w) for w in widths]
        if len(row) > 1 and widths[0] == widths[-1] and rng.random() < 0.2:
            row[-1] = row[0]
        rows.append(tuple(row))
    return rows


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(
    ("interpretation", "one_in"),
    [*((x, 1) for x in READY), ("compiled", 4), pytest.param("compiled", 1, marks=pytest.mark.slow)],
)
def test_operator_on_wide_operands(interpretation: str, one_in: int, name: str) -> None:
    """One in so many shapes."""
    rng = random.Random(SEED)
    for widths, params in wide_shapes(name)[::one_in]:
        check(interpretation, Case(name, widths, params), wide_rows(rng, widths, 40))


#: Widths of the widest operands: above the 111 bits of the sums of fp64, and a power of two apart.
WIDEST = (105, 130)


def carrying_rows(rng: random.Random, widths: Row) -> list[Row]:
    """Operands whose result hangs on every bit: carries through all of them, one bit apart, any."""
    first = widths[0]
    if first == 1:
        return wide_rows(rng, widths, 12)
    rows = wide_rows(rng, widths, 2)
    ones = (1 << first) - 1
    # One bit apart at a low, a high and any place; all ones and a lone one, which carries to the top.
    for place in (0, first - 2, first - 1, rng.randrange(first)):
        x = rng.getrandbits(first)
        rows.append((x, *(_cut(x ^ 1 << place, w) for w in widths[1:])))
    rows.append((ones, *(1 for _ in widths[1:])))
    rows.append((1 << (first - 1), *(_cut(1 << (first - 1), w) for w in widths[1:])))
    # A shift by a little less, exactly and a little more than the width.
    rows += [(ones ^ 5, *(_cut(first + by, w) for w in widths[1:])) for by in (-1, 0, 1)]
    return rows


def _cut(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


def widest_shapes(name: str) -> list[tuple[Row, Row]]:
    """One or two shapes of operands or results wider than every lane and every sum of the catalogue."""
    if name in ("mul_expand", "concat"):
        return [((67, 66), ()), ((3, 127), ())]
    if name in ("shl_mod", "lshr", "ashr"):
        return [((WIDEST[1], 8), ()), ((WIDEST[0], WIDEST[1]), ())]
    if name == "extract":
        return [((WIDEST[1],), (129, 3)), ((WIDEST[1],), (128, 104))]
    if name in ("zero_extend", "sign_extend"):
        return [((100,), (30,)), ((129,), (1,))]
    return list(shapes(name, WIDEST))


#: Operators that the default tests try on the widest operands: every third, and what carries.
WIDE_ONES = {*OPERATORS[::3], "add_mod", "sub_mod", "mul_expand"}


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=() if x in WIDE_ONES else pytest.mark.long) for x in OPERATORS]
)
@pytest.mark.parametrize("interpretation", SLOWER)
def test_operator_on_the_widest_operands(interpretation: str, name: str) -> None:
    """As wide as the sums of fp64 and wider: no interpretation may lose a bit up there."""
    rng = random.Random(SEED)
    for widths, params in widest_shapes(name):
        check(interpretation, Case(name, widths, params), carrying_rows(rng, widths))


@pytest.mark.parametrize("name", [name for name in OPERATORS if OPS[name].arity > 1])
@pytest.mark.parametrize("interpretation", READY)
def test_operator_with_a_constant_operand(interpretation: str, name: str) -> None:
    """Constants have no lanes of their own: each operand in turn, narrow and wide."""
    rng = random.Random(SEED)
    for widths, params in (*shapes(name, (4,)), *wide_shapes(name)):
        for position in range(len(widths)):
            for _ in range(2):
                value = wide_value(rng, widths[position])
                fixed = tuple(value if i == position else None for i in range(len(widths)))
                rows = [
                    tuple(value if i == position else v for i, v in enumerate(row))
                    for row in wide_rows(rng, widths, 10)
                ]
                check(interpretation, Case(name, widths, params, fixed), rows)


@pytest.mark.parametrize("name", [name for name in OPERATORS if OPS[name].arity > 1])
def test_compiled_operator_with_a_constant_operand(name: str) -> None:
    """Bounds that end just at the width: 33 bits in lanes of 64, where an unwrapped result would show."""
    rng = random.Random(SEED)
    ((widths, params), *_) = shapes(name, (33,))
    for position in range(len(widths)):
        for value in (1, (1 << widths[position]) - 1):
            fixed = tuple(value if i == position else None for i in range(len(widths)))
            edges = itertools.product(*({0, 1, (1 << w) - 1, 1 << (w - 1)} for w in widths))
            rows = {
                tuple(value if i == position else v for i, v in enumerate(row))
                for row in (*edges, *wide_rows(rng, widths, 30))
            }
            check("compiled", Case(name, widths, params, fixed), sorted(rows))


@pytest.mark.parametrize("width", [4, *WIDE])
def test_choice_between_constants(width: int) -> None:
    """Neither branch has lanes: the result has those of the condition."""
    graph = Graph()
    root = graph.ite(graph.input("x0", 1), graph.const((1 << width) - 1, width), graph.const(1, width))
    assert on_lanes(graph, root, [{"x0": 0}, {"x0": 1}]) == [1, (1 << width) - 1]


@pytest.mark.parametrize("width", [4, *WIDE])
def test_a_constant_fills_all_lanes(width: int) -> None:
    graph = Graph()
    root = graph.const((1 << width) - 1, width)
    assert evaluate(graph, root, {}, n=3).tolist() == [(1 << width) - 1] * 3


def test_no_lanes_give_no_results() -> None:
    graph = Graph()
    root = graph.add_mod(graph.input("x", 8), graph.input("y", 8))
    empty = np.zeros(0, np.uint8)
    assert evaluate(graph, root, {"x": empty, "y": empty}, n=0).shape == (0,)


def test_lanes_leave_their_inputs_alone() -> None:
    graph = Graph()
    x = graph.input("x", 70)
    root = graph.neg_mod(graph.shl_mod(graph.not_(x), graph.const(3, 4)))
    lanes = np.array([1, 1 << 69], dtype=object)
    kept = lanes.copy()
    evaluate(graph, root, {"x": lanes}, n=2)
    assert (lanes == kept).all()


@pytest.mark.parametrize(
    ("lanes", "sentence"),
    [
        ({}, "expected an array for input x, but none was given"),
        ({"x": np.array([1])}, "expected an unsigned integer array for x, but got dtype int64"),
        ({"x": np.array([1.0])}, "expected an unsigned integer array for x, but got dtype float64"),
        ({"x": np.array([3, 16], np.uint8)}, "expected encodings of 4 bits for x, but got 0x10"),
    ],
)
def test_lanes_reject(lanes: dict[str, np.ndarray], sentence: str) -> None:
    graph = Graph()
    root = graph.not_(graph.input("x", 4))
    with pytest.raises(InputError) as error:
        Vector(graph, lanes).run([root])
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({}, "expected a value for input x, but none was given"),
        ({"x": 16}, "expected an encoding of 4 bits for x, but got 0x10"),
        ({"x": -1}, "expected an encoding of 4 bits for x, but got -0x1"),
    ],
)
def test_integers_reject(inputs: dict[str, int], sentence: str) -> None:
    graph = Graph()
    run = Concrete(graph, [graph.not_(graph.input("x", 4))])
    with pytest.raises(InputError) as error:
        run(inputs)
    assert str(error.value) == sentence
