"""Claims: what Coq reads is what a solver is asked."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tcformal.backends.concrete import Concrete
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import OPS, signed
from tcformal.ir.walk import reachable
from tcformal.theory import formulas as t
from tcformal.theory.checked import SOURCES, coqc
from tcformal.theory.circuits import name, operator_text
from tcformal.theory.formulas import Bits, Claim, Expr

WIDTHS = {"x": 1, "y": 1, "p": 3, "q": 4, "r": 5}
NAMES = {name: i for i, name in enumerate(WIDTHS, 2)}


def _graph() -> tuple[Graph, dict[str, Node]]:
    g = Graph(folded=False)
    return g, {name: g.input(name, width) for name, width in WIDTHS.items()}


def _term(draw: random.Random, nodes: dict[str, Node], depth: int) -> Expr:
    """A term; bits are taken of values that are not negative."""

    def sub() -> Expr:
        return _term(draw, nodes, depth - 1)

    leaves: list[Callable[[], Expr]] = [
        lambda: t.num(draw.randint(-20, 20)),
        lambda: t.u(nodes[draw.choice("pqr")]),
        lambda: t.sg(nodes[draw.choice("pqr")]),
    ]
    made: list[Callable[[], Expr]] = [
        lambda: sub() + sub(),
        lambda: sub() - sub(),
        lambda: sub() * sub(),
        lambda: (sub() << t.lower(sub(), draw.randint(-1, 6))) * draw.choice([1, 4]),
        lambda: t.lower(sub(), sub()),
        lambda: t.magnitude(sub()),
        lambda: t.bits(draw.randint(0, 5), draw.randint(0, 5), t.magnitude(sub())),
        lambda: t.choice(_formula(draw, nodes, depth - 1), sub(), sub()),
    ]
    return draw.choice(made if depth else leaves)()


def _formula(draw: random.Random, nodes: dict[str, Node], depth: int) -> Expr:
    def sub() -> Expr:
        return _formula(draw, nodes, depth - 1)

    def of() -> Expr:
        return _term(draw, nodes, max(0, depth - 1))

    leaves: list[Callable[[], Expr]] = [
        lambda: t.is_one(nodes[draw.choice("xy")]),
        lambda: t.equal(of(), of()),
        lambda: of() < of(),
        lambda: of() <= of(),
    ]
    made: list[Callable[[], Expr]] = [
        lambda: ~sub(),
        lambda: sub() & sub(),
        lambda: sub() | sub(),
        *leaves,
    ]
    return draw.choice(made if depth else leaves)()


def _cases(count: int, seed: int) -> list[tuple[Claim, dict[str, int], bool]]:
    """Formulas with values of their nodes, and what the bits say."""
    draw, rows = random.Random(seed), []
    for _ in range(count):
        g, nodes = _graph()
        x = _formula(draw, nodes, draw.randint(1, 3))
        values = {name: draw.randrange(1 << width) for name, width in WIDTHS.items()}
        root = Bits(g, {y: y for y in nodes.values()}).formula(x)
        rows.append((Claim((), x, frozenset()), values, Concrete(g, [root])(values) == [1]))
    return rows


def _names(node: Node) -> str:
    return str(node.index + 2)


def _text(rows: list[tuple[Claim, dict[str, int], bool]]) -> str:
    """A file in which Coq computes the same formulas."""
    nodes = "; ".join(f"Node {NAMES[x]} {w} Input" for x, w in WIDTHS.items())
    lines = [
        "From Coq Require Import ZArith List Bool.",
        "From TC Require Import Bv Circuit.",
        "Import ListNotations.",
        "Open Scope Z_scope.",
        f"Definition m := widths_of [{nodes}].",
        "Definition says (l : list Z) (q : claim) := truth m (fun i => nth (Pos.to_nat i - 2) l 0) (goal q).",
    ]
    for i, (claim, values, says) in enumerate(rows):
        known = "; ".join(str(values[x]) for x in WIDTHS)
        right = f"says [{known}] ({claim.coq(_names)}) = {'true' if says else 'false'}"
        lines.append(f"Lemma case_{i} : {right}. Proof. vm_compute. reflexivity. Qed.")
    return "\n".join([*lines, ""])


@pytest.fixture(scope="module")
def circuits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sources about circuits, compiled."""
    folder = tmp_path_factory.mktemp("circuits")
    for source in ("Bv.v", "Circuit.v"):
        shutil.copy(SOURCES / source, folder)
        coqc(folder, source)
    return folder


@pytest.mark.debian
def test_bits_say_what_coq_computes(circuits: Path) -> None:
    rows = _cases(400, 1)
    assert 100 < sum(says for _, _, says in rows) < 300
    (circuits / "Cases.v").write_text(_text(rows))
    coqc(circuits, "Cases.v")
    claim, values, says = rows[7]
    (circuits / "Cases.v").write_text(_text([(claim, values, not says)]))
    with pytest.raises(InputError):
        coqc(circuits, "Cases.v")


def _every_operator(g: Graph) -> list[Node]:
    """A node of each operator."""
    nodes = {name: g.input(name, width) for name, width in WIDTHS.items()}
    x, p, q, r = (nodes[y] for y in "xpqr")
    one = g.const(11, 4)
    same = ["and_", "or_", "xor", "add_mod", "sub_mod", "eq", "ult", "ule", "slt", "sle"]
    return [
        *[g.make(name, (q, one)) for name in same],
        *[g.make(name, (r, p)) for name in ("shl_mod", "lshr", "ashr", "mul_expand", "concat")],
        g.make("not_", (r,)),
        g.make("neg_mod", (q,)),
        g.make("ite", (x, q, one)),
        g.make("extract", (r,), (3, 1)),
        g.make("zero_extend", (p,), (3,)),
        g.make("sign_extend", (p,), (3,)),
    ]


def _circuit(rows: list[dict[str, int]], wrong: int = 0) -> str:
    """A file in which Coq computes a node of each operator."""
    g = Graph(folded=False)
    nodes = reachable(_every_operator(g))
    assert {y.op for y in nodes} == set(OPS)
    circuit = "; ".join(f"Node {name(y)} {y.width} {operator_text(y)}" for y in nodes)
    known = [Concrete(g, nodes)(row) for row in rows]
    known[0][-1] += wrong
    lists = "; ".join(f"[{'; '.join(map(str, row))}]" for row in known)
    places = "; ".join(name(y) for y in nodes)
    return "\n".join(
        [
            "From Coq Require Import ZArith List Bool.",
            "From TC Require Import Bv Circuit.",
            "Import ListNotations.",
            "Open Scope Z_scope.",
            f"Definition c : circuit := [{circuit}].",
            f"Definition places := [{places}]%positive.",
            "Definition at_ l (i : positive) : Z :=",
            "  fold_right (fun p r => if (fst p =? i)%positive then snd p else r) 0 (combine places l).",
            "Lemma ok : circuit_ok c = true. Proof. vm_compute. reflexivity. Qed.",
            "Lemma all : forallb (fun l => forallb",
            "  (fun n => at_ l (name n) =? meaning (widths_of c) n (at_ l)) c)",
            f"  [{lists}] = true.",
            "Proof. vm_compute. reflexivity. Qed.",
            "",
        ]
    )


@pytest.mark.debian
def test_coq_computes_a_circuit_as_the_graph_does(circuits: Path) -> None:
    draw = random.Random(3)
    rows = [{x: draw.randrange(1 << width) for x, width in WIDTHS.items()} for _ in range(200)]
    (circuits / "Circuits.v").write_text(_circuit(rows))
    coqc(circuits, "Circuits.v")
    (circuits / "Circuits.v").write_text(_circuit(rows, wrong=1))
    with pytest.raises(InputError):
        coqc(circuits, "Circuits.v")


_INTEGERS: dict[str, Callable[..., int]] = {
    "Num_": lambda a: a,
    "Plus": lambda a, b: a + b,
    "Minus": lambda a, b: a - b,
    "Times": lambda a, b: a * b,
    "Shift": lambda a, b: a << b if b >= 0 else 0,
    "Low": min,
    "Abs": abs,
    "Bits": lambda low, count, a: a >> low & (1 << count) - 1,
    "If": lambda c, a, b: a if c else b,
    "Equal": lambda a, b: a == b,
    "Less": lambda a, b: a < b,
    "AtMost": lambda a, b: a <= b,
    "Negation": lambda a: not a,
    "Both": lambda a, b: a and b,
    "Either": lambda a, b: a or b,
}


def _value(x: Expr, v: dict[Node, int]) -> int:
    """`Circuit.v`, value and truth."""
    (first, *_) = x.args
    if isinstance(first, Node):
        return signed(v[first], first.width) if x.name == "Sg" else v[first]
    return _INTEGERS[x.name](*[_value(y, v) if isinstance(y, Expr) else y for y in x.args])


def test_comparisons_are_not_chained() -> None:
    with pytest.raises(TypeError):
        assert 0 <= t.num(1) <= 2


def test_a_product_is_zero_where_a_factor_is() -> None:
    g, nodes = _graph()
    product = g.make("mul_expand", (nodes["p"], g.make("mul_expand", (nodes["q"], nodes["r"]))))
    root = Bits(g, {product: product}).formula(t.equal(t.u(product), 0))
    assert product not in reachable([root])
    for p, q, r in ((0, 3, 5), (2, 0, 1), (7, 15, 0), (0, 0, 0), (4, 8, 16)):
        assert Concrete(g, [root])({"p": p, "q": q, "r": r}) == [int(p * q * r == 0)]


def test_bits_are_read_off_the_parts_of_a_node() -> None:
    g, nodes = _graph()
    node = g.make(
        "extract", (g.make("concat", (nodes["r"], g.make("concat", (nodes["q"], nodes["p"])))),), (10, 1)
    )
    made = Bits(g, {node: node})
    cases = [(low, count) for low in range(11) for count in range(11)]
    found = [made.term(t.bits(low, count, t.u(node))).node for low, count in cases]
    for p, q, r in ((5, 9, 21), (2, 6, 10), (7, 15, 31)):
        value = ((r << 7 | q << 3 | p) >> 1) & 1023
        right = [value >> low & (1 << count) - 1 for low, count in cases]
        assert Concrete(g, found)({"p": p, "q": q, "r": r}) == right


def test_bits_say_what_integers_do() -> None:
    draw = random.Random(2)
    for _ in range(600):
        g, nodes = _graph()
        x = _formula(draw, nodes, draw.randint(1, 3))
        root = Bits(g, {y: y for y in nodes.values()}).formula(x)
        for _ in range(4):
            values = {name: draw.randrange(1 << width) for name, width in WIDTHS.items()}
            right = _value(x, {nodes[name]: value for name, value in values.items()})
            assert Concrete(g, [root])(values) == [right], x
