"""The graph: what it refuses, what it shares and folds, its labels, and its serialised form."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest

from dags import evaluate
from tcformal.errors import InputError, WidthError
from tcformal.ir.build import Graph, Stage
from tcformal.ir.node import Node
from tcformal.ir.walk import digest, from_json, reachable, to_json


@pytest.fixture
def g() -> Graph:
    """A graph with inputs x, y: u[4] and t: u[1] (`inputs`)."""
    graph = Graph()
    graph.input("x", 4)
    graph.input("y", 4)
    graph.input("t", 1)
    return graph


def rejects(make: Callable[[], object], sentence: str, error: type[InputError] = WidthError) -> None:
    """Calling `make` raises exactly this sentence."""
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value) == sentence


# --------------------------------------------------------------------- widths
def test_result_widths(g: Graph) -> None:
    x, y, t = g.inputs.values()
    widths = {
        4: [g.not_(x), g.and_(x, y), g.add_mod(x, y), g.sub_mod(x, y), g.neg_mod(x), g.shl_mod(x, t),
            g.lshr(x, t), g.ashr(x, y), g.ite(t, x, y), g.umax(x, y), g.umin(x, y), g.truncate_low(x, 0)],
        1: [g.eq(x, y), g.ult(x, y), g.ule(x, y), g.slt(x, y), g.sle(x, y), g.is_zero(x), g.any_bit(x),
            g.bit(x, 3), g.top(x), g.truth(True), g.ashr(t, x), g.truncate_low(x, 4), g.truncate_low(x, 9)],
        5: [g.add_expand(x, y), g.add_expand(t, x), g.concat(t, x), g.zero_extend_to(x, 5),
            g.sign_extend_to(x, 5), g.wrap_to_mod(x, 5), g.mul_expand(x, t)],
        8: [g.mul_expand(x, y), g.concat(x, y), g.concat(x, t, t, t, t), g.shift_left_const(x, 4)],
        3: [g.extract(x, 3, 1), g.truncate_low(x, 1), g.wrap_to_mod(x, 3)],
    }  # fmt: skip
    assert {width: {node.width for node in nodes} for width, nodes in widths.items()} == {
        width: {width} for width in widths
    }


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda g, x, t: g.add_mod(x, t), "expected operands of one width, but got widths [4, 1]"),
        (lambda g, x, t: g.eq(t, x), "expected operands of one width, but got widths [1, 4]"),
        (lambda g, x, t: g.slt(t, x), "expected operands of one width, but got widths [1, 4]"),
        (
            lambda g, x, t: g.ite(x, x, x),
            "expected a condition of width 1 and branches of one width, but got widths [4, 4, 4]",
        ),
        (
            lambda g, x, t: g.ite(t, x, t),
            "expected a condition of width 1 and branches of one width, but got widths [1, 4, 1]",
        ),
        (
            lambda g, x, t: g.extract(x, 4, 0),
            "expected bits high >= low inside width 4, but got high=4, low=0",
        ),
        (
            lambda g, x, t: g.extract(x, 0, 1),
            "expected bits high >= low inside width 4, but got high=0, low=1",
        ),
        (
            lambda g, x, t: g.extract(x, 1, -1),
            "expected bits high >= low inside width 4, but got high=1, low=-1",
        ),
        (lambda g, x, t: g.zero_extend_to(x, 3), "expected a growth of at least 0 bits, but got -1"),
        (lambda g, x, t: g.sign_extend_to(x, 1), "expected a growth of at least 0 bits, but got -3"),
        (lambda g, x, t: g.const(16, 4), "expected a constant in [0, 2^4), but got 16"),
        (lambda g, x, t: g.const(-1, 4), "expected a constant in [0, 2^4), but got -1"),
        (lambda g, x, t: g.const(0, 0), "expected a width of at least 1, but got 0"),
        (lambda g, x, t: g.input("x", 5), "expected width 4 for input x, but got 5"),
        (
            lambda g, x, t: g.make("not_", (x, x)),
            "expected 1 operands and 0 parameters for not_, but got 2 and 0",
        ),
        (
            lambda g, x, t: g.make("extract", (x,), (1,)),
            "expected 1 operands and 2 parameters for extract, but got 1 and 1",
        ),
        (
            lambda g, x, t: g.make("const", (), (4, 99)),
            "expected Graph.const for a leaf, but got make('const')",
        ),
        (
            lambda g, x, t: g.make("input", (), (4, 7)),
            "expected Graph.input for a leaf, but got make('input')",
        ),
        (
            lambda g, x, t: g.not_(Graph().input("x", 4)),
            "expected operands of this graph for not_, but got #0:input(4, 0):u4 of another",
        ),
    ],
)
def test_making_rejects(g: Graph, make: Callable[[Graph, Node, Node], Node], sentence: str) -> None:
    rejects(lambda: make(g, g.inputs["x"], g.inputs["t"]), sentence)


def test_an_input_without_width_is_rejected() -> None:
    """No width below 1 exists, and what was refused leaves no trace."""
    g = Graph()
    with pytest.raises(WidthError):
        g.input("x", 0)
    assert g.inputs == {}


def test_nodes_have_no_truth_value(g: Graph) -> None:
    x, _, t = g.inputs.values()
    sentence = "expected no truth value to be asked of data, but node {} was used as one: use Graph.ite"
    rejects(lambda: bool(x), sentence.format(repr(x)))
    rejects(lambda: any((x, t)), sentence.format(repr(x)))
    rejects(lambda: not g.truth(False), sentence.format(repr(g.truth(False))))


def test_a_node_shows_operator_operands_and_width(g: Graph) -> None:
    x, y, _ = g.inputs.values()
    assert repr(g.extract(g.add_mod(x, y), 2, 1)) == "#4:extract(#3, 2, 1):u2"


# --------------------------------------------------------------------- sharing
def test_equal_nodes_are_one(g: Graph) -> None:
    x, y, t = g.inputs.values()
    count = len(g)
    assert g.add_mod(x, y) is g.add_mod(x, y)
    assert g.const(3, 4) is g.const(3, 4)
    assert g.const(3, 4) is not g.const(3, 5)
    assert g.input("x", 4) is x
    assert g.ite(t, x, y) is not g.ite(t, y, x)
    assert g.extract(x, 2, 1) is not g.extract(x, 2, 2)
    assert len(g) == count + 7


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "add_mod", "eq", "mul_expand"])
def test_operands_of_commutative_operators_may_swap(g: Graph, name: str) -> None:
    x, y, _ = g.inputs.values()
    assert g.make(name, (x, y)) is g.make(name, (y, x))


@pytest.mark.parametrize("name", ["sub_mod", "ult", "ule", "slt", "sle", "shl_mod", "lshr", "ashr", "concat"])
def test_operands_of_other_operators_may_not(g: Graph, name: str) -> None:
    x, y, _ = g.inputs.values()
    assert g.make(name, (x, y)) is not g.make(name, (y, x))


# --------------------------------------------------------------------- folding
def test_constants_fold(g: Graph) -> None:
    five, nine = g.const(5, 4), g.const(9, 4)
    folded = {
        g.add_mod(five, nine): (14, 4),
        g.sub_mod(five, nine): (12, 4),
        g.mul_expand(five, nine): (45, 8),
        g.add_expand(nine, nine): (18, 5),
        g.concat(five, nine): (0x59, 8),
        g.slt(nine, five): (1, 1),
        g.ashr(nine, g.const(7, 3)): (15, 4),
        g.sign_extend_to(nine, 6): (57, 6),
        g.ite(g.truth(False), five, nine): (9, 4),
        g.umax(five, nine): (9, 4),
    }
    assert {node.op for node in folded} == {"const"}
    assert {node: (node.params[1], node.width) for node in folded} == folded


def test_identities(g: Graph) -> None:
    x, y, t = g.inputs.values()
    zero, ones = g.const(0, 4), g.const(15, 4)
    same_as_x = [
        g.and_(x, ones), g.and_(ones, x), g.and_(x, x), g.or_(x, zero), g.or_(x, x), g.xor(zero, x),
        g.add_mod(x, zero), g.sub_mod(x, zero), g.shl_mod(x, g.const(0, 2)), g.lshr(x, g.const(0, 9)),
        g.ashr(x, zero), g.not_(g.not_(x)), g.ite(t, x, x), g.ite(g.truth(True), x, y),
        g.ite(g.truth(False), y, x), g.extract(x, 3, 0), g.zero_extend_to(x, 4), g.sign_extend_to(x, 4),
        g.wrap_to_mod(x, 4), g.shift_left_const(x, 0), g.truncate_low(x, 0), g.and_(x), g.concat(x),
        g.extract(g.concat(x, y), 7, 4), g.extract(g.concat(y, x), 3, 0),
        g.extract(g.zero_extend_to(x, 9), 3, 0),
    ]  # fmt: skip
    assert [node for node in same_as_x if node is not x] == []
    assert g.and_(x, zero) is zero
    assert g.or_(ones, x) is ones
    assert g.eq(x, x) is g.truth(True)
    assert g.extract(g.zero_extend_to(x, 9), 8, 4) is g.const(0, 5)
    assert g.extract(g.extract(x, 3, 1), 2, 1) is g.extract(x, 3, 2)
    assert g.extract(g.concat(x, y), 6, 5) is g.extract(x, 2, 1)
    # Nothing of the kind where it would be wrong.
    assert g.sub_mod(zero, x) is not x
    assert g.shl_mod(zero, x) is not x
    assert g.xor(x, ones) is not x


def test_simplified_nodes_keep_their_values() -> None:
    """Every operator with every constant on either side, on every value of the other operand."""
    for name, width, value, left in itertools.product(
        (
            "and_",
            "or_",
            "xor",
            "add_mod",
            "sub_mod",
            "shl_mod",
            "lshr",
            "ashr",
            "eq",
            "ult",
            "concat",
            "mul_expand",
        ),
        (1, 2, 3),
        range(8),
        (True, False),
    ):
        if value >> width:
            continue
        plain, simple = Graph(), Graph()
        x, c = plain.input("x", width), plain.input("c", width)
        y, k = simple.input("x", width), simple.const(value, width)
        first, second = (
            plain.make(name, (c, x) if left else (x, c)),
            simple.make(name, (k, y) if left else (y, k)),
        )
        for given in range(1 << width):
            assert evaluate(plain, [first], {"x": given, "c": value}) == evaluate(
                simple, [second], {"x": given}
            )


def test_cuts_of_cuts_keep_their_values() -> None:
    """Every cut of a concatenation, an extension and a cut, on every value."""
    for high, low in [(h, lo) for h in range(5) for lo in range(h + 1)]:
        g = Graph()
        x, y = g.input("x", 3), g.input("y", 2)
        cuts = [
            g.extract(node, high, low)
            for node in (g.concat(x, y), g.zero_extend_to(x, 5), g.sign_extend_to(x, 5))
        ]
        cuts.append(g.extract(g.extract(g.concat(x, y, x), 6, 2), high, low))
        for a, b in itertools.product(range(8), range(4)):
            wide = [a << 2 | b, a, a | (0b11000 if a & 4 else 0), (a << 5 | b << 3 | a) >> 2 & 31]
            expected = [value >> low & ((1 << (high - low + 1)) - 1) for value in wide]
            assert evaluate(g, cuts, {"x": a, "y": b}) == expected


# --------------------------------------------------------------------- helpers of the builder
def test_helpers_mean_what_their_names_say() -> None:
    g = Graph()
    x, y = g.input("x", 3), g.input("y", 3)
    roots = [
        g.umax(x, y), g.umin(x, y), g.any_bit(x), g.is_zero(x), g.top(x), g.bit(x, 1), g.add_expand(x, y),
        g.shift_left_const(x, 2), g.truncate_low(x, 1), g.truncate_low(x, 3), g.wrap_to_mod(x, 2),
        g.wrap_to_mod(x, 5), g.or_(x, y, g.const(1, 3)), g.concat(x, y, x),
    ]  # fmt: skip
    for a, b in itertools.product(range(8), repeat=2):
        expected = [
            max(a, b), min(a, b), int(a > 0), int(a == 0), a // 4, a // 2 % 2, a + b, a * 4, a // 2, 0, a % 4,
            a if a < 4 else a + 24, a | b | 1, a * 64 + b * 8 + a,
        ]  # fmt: skip
        assert evaluate(g, roots, {"x": a, "y": b}) == expected


# --------------------------------------------------------------------- labels
def test_labels_carry_their_scope(g: Graph) -> None:
    x, y, _ = g.inputs.values()
    assert g.label("first", x) is x
    with g.scope("block0"):
        g.label("sum", y, signed=True, offset=-3, scale=2)
        with g.scope("term1"):
            g.label("sum", x)
        g.label("after", y)
    g.label("last", y)
    assert list(g.labels) == ["first", "block0.sum", "block0.term1.sum", "block0.after", "last"]
    assert g.labels["block0.sum"] == Stage(y, True, -3, 2)


def test_a_scope_ends_when_its_body_fails(g: Graph) -> None:
    with pytest.raises(WidthError), g.scope("block0"):
        g.const(2, 1)
    g.label("here", g.inputs["x"])
    assert list(g.labels) == ["here"]


def test_one_label_one_stage(g: Graph) -> None:
    x, y, _ = g.inputs.values()
    with g.scope("block0"):
        g.label("sum", x)
        g.label("sum", x)
        rejects(lambda: g.label("sum", y), "expected one stage per label, but 'block0.sum' names two")
        rejects(
            lambda: g.label("sum", x, signed=True), "expected one stage per label, but 'block0.sum' names two"
        )
    assert g.labels["block0.sum"].node is x


@pytest.mark.parametrize(
    ("signed", "offset", "raw", "read"),
    [(False, 0, 9, 9), (True, 0, 9, -7), (True, 0, 7, 7), (False, -20, 9, -11), (True, 5, 8, -3)],
)
def test_a_stage_reads_as_a_number(g: Graph, signed: bool, offset: int, raw: int, read: int) -> None:
    assert Stage(g.inputs["x"], signed, offset, 0).read(raw) == read


def test_views_are_copies(g: Graph) -> None:
    g.label("sum", g.inputs["x"])
    g.labels.clear()
    g.inputs.clear()
    assert list(g.labels) == ["sum"]
    assert list(g.inputs) == ["x", "y", "t"]


def test_inputs_keep_their_order_and_names(g: Graph) -> None:
    assert [g.input_name(node) for node in g.inputs.values()] == list(g.inputs) == ["x", "y", "t"]


# --------------------------------------------------------------------- walking, serialising
def test_reachable_nodes_come_once_arguments_first(g: Graph) -> None:
    x, y, t = g.inputs.values()
    shared = g.add_mod(x, y)
    root = g.ite(g.ult(shared, x), shared, g.not_(shared))
    nodes = reachable([root, shared])
    assert len(nodes) == len({n.index for n in nodes}) == 6
    assert t not in nodes
    for i, node in enumerate(nodes):
        assert all(any(arg is before for before in nodes[:i]) for arg in node.args)


def test_a_deep_graph_is_walked_without_recursion() -> None:
    g = Graph()
    node = x = g.input("x", 8)
    for _ in range(3_000):
        node = g.add_mod(g.not_(node), x)
    assert len(reachable([node])) == 6_001
    again, roots = from_json(to_json(g, {"r": node}))
    assert len(again) == 6_001
    assert reachable([roots["r"]])[-1] is roots["r"]


def sample(g: Graph) -> dict[str, Node]:
    """Two roots over most operators."""
    x, y, t = g.input("x", 4), g.input("y", 4), g.input("t", 1)
    wide = g.mul_expand(g.add_expand(x, y), g.const(0xABCDEF0123456789ABC, 76))
    cut = g.extract(wide, 40, 3)
    chosen = g.ite(g.and_(t, g.sle(x, y)), g.sign_extend_to(x, 6), g.concat(t, t, y))
    return {"wide": g.xor(cut, g.ashr(cut, y)), "chosen": g.neg_mod(chosen)}


def test_json_round_trip() -> None:
    g = Graph()
    roots = sample(g)
    text = to_json(g, roots)
    again, same = from_json(text)
    assert list(same) == ["wide", "chosen"]
    assert to_json(again, same) == text
    assert list(again.inputs) == ["x", "y", "t"]
    for x, y, t in itertools.product((0, 1, 7, 8, 15), (0, 3, 15), (0, 1)):
        inputs = {"x": x, "y": y, "t": t}
        assert evaluate(g, list(roots.values()), inputs) == evaluate(again, list(same.values()), inputs)
    assert json.loads(text)["nodes"][0] == ["input", [], [4, "x"]]


def test_digest_is_of_the_definition_alone() -> None:
    """Nodes, labels and inputs that the roots do not need change nothing."""
    g, crowded = Graph(), Graph()
    first = sample(g)
    crowded.not_(crowded.const(77, 9))
    second = sample(crowded)
    z = crowded.input("z", 3)
    crowded.label("other", crowded.not_(z))
    crowded.label("sum", second["wide"])
    assert digest(g, first) == digest(crowded, second)
    assert digest(crowded, second) == digest(crowded, second)


def test_digest_tells_definitions_apart() -> None:
    digests = set()
    cases: list[tuple[str, int, Callable[[Graph, Node], Node]]] = [
        ("x", 4, lambda g, x: g.not_(x)),
        ("y", 4, lambda g, x: g.not_(x)),
        ("x", 5, lambda g, x: g.not_(x)),
        ("x", 4, lambda g, x: g.neg_mod(x)),
        ("x", 4, lambda g, x: g.add_mod(x, g.const(1, 4))),
        ("x", 4, lambda g, x: g.add_mod(x, g.const(2, 4))),
        ("x", 4, lambda g, x: g.sub_mod(x, g.const(1, 4))),
    ]
    for name, width, build in cases:
        g = Graph()
        digests.add(digest(g, {"r": build(g, g.input(name, width))}))
    g = Graph()
    digests.add(digest(g, {"other": g.not_(g.input("x", 4))}))
    assert len(digests) == 8
    assert {len(d) for d in digests} == {64}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"nodes":[]}',
        '{"nodes":[["input",[],[4]]],"roots":{}}',
        '{"nodes":[["nonsense",[0],[]]],"roots":{}}',
        '{"nodes":[["input",[],[4,"x"]],["not_",[7],[]]],"roots":{}}',
        '{"nodes":[["input",[],[4,"x"]]],"roots":{"r":3}}',
        '{"nodes":[["const",[],[4,"zz"]]],"roots":{}}',
    ],
)
def test_from_json_rejects(text: str) -> None:
    with pytest.raises(InputError, match=r"^expected a serialised DAG, but got text that is not one: "):
        from_json(text)


def test_from_json_rejects_widths_that_do_not_fit() -> None:
    text = '{"nodes":[["input",[],[4,"x"]],["input",[],[5,"y"]],["and_",[0,1],[]]],"roots":{}}'
    rejects(lambda: from_json(text), "expected operands of one width, but got widths [4, 5]")
