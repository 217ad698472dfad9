"""Invariants: what the semantics relies on holds on drawn inputs and, of small designs, on every input."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from checked_concrete import CheckedConcrete
from sampled import one_in
from tcformal.backends.concrete import Concrete
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.operations import operation
from tcformal.design.unit import UnitSpec
from tcformal.errors import InvariantError, WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest
from tcformal.semantics import round as rounding
from tcformal.semantics.chain import chained_dot, circuit, declare_inputs
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Limits, Status

LIMITS = Limits(time_s=60.0, memory_mb=4096, seed=0)
SMALL = "a_format=e4m3,b_format=e4m3,c_format=fp16,d_format=fp16"
#: One small design of each operation.
OPERATIONS = {
    "T-FDPA": f"tfdpa@products=2,fraction_bits=8,conversion=RZ-FP16,{SMALL}",
    "T-FDPA of normalised products, wrapped": (
        f"tfdpa@products=2,fraction_bits=8,conversion=RNE-FP16,normalise_products=true,carry_bits=1,{SMALL}"
    ),
    "E-FDPA": f"tfdpa@products=1,fraction_bits=exact,conversion=RNE-FP16,{SMALL}",
    "GST-FDPA": f"tfdpa@products=2,group=2,fraction_bits=8,conversion=RZ-FP16,{SMALL}",
    "TR-FDPA": (
        "tfdpa@products=2,summation=tr,c_position=last,fraction_bits=8,sum_fraction_bits=10,zero_exponent=none,"
        f"zero_sign=sum,conversion=RNE-FP16,{SMALL}"
    ),
    "GTR-FDPA": (
        "tfdpa@products=2,summation=gtr,c_position=last,fraction_bits=8,sum_fraction_bits=10,"
        f"zero_exponent=none,zero_sign=sum,conversion=RNE-FP16,{SMALL}"
    ),
    "two chains": (
        "sequential@products=2,summation=two_chains,accumulator=RNE-FP16,conversion=RNE-FP16,"
        f"c_position=last,{SMALL}"
    ),
    "rounded products": (
        "sequential@products=1,k=1,product_rounding=RNE-FP16,accumulator=RNE-FP16,conversion=RNE-FP16,"
        f"c_position=last,{SMALL}"
    ),
    "chain": f"sequential@products=1,k=1,accumulator=RNE-FP16,conversion=RNE-FP16,{SMALL}",
    "tree": (
        "sequential@products=2,summation=pairwise,accumulator=RNE-FP16,conversion=RNE-FP16,"
        f"c_position=last,{SMALL}"
    ),
}


def built(spec: UnitSpec) -> tuple[Graph, Node]:
    """One dot product in a graph that keeps invariants."""
    g = Graph(checked=True)
    return g, chained_dot(g, spec, declare_inputs(g, spec, spec.k)).result


def families(most_k: int) -> list[str]:
    """A unit of each distinct design of at most so many products, or of each operation and its formats."""
    found: dict[object, str] = {}
    for name in sorted(distinct_designs(), key=lambda n: catalogue()[n].k):
        spec = catalogue()[name]
        d, o = spec.design, spec.operands
        steps = (d.summation, d.c_position, d.product_rounding, d.carry_bits, d.group, d.nan_rule)
        rules = (d.operand_subnormals, d.c_subnormals, d.result_subnormals, d.overflow, d.zero_sign)
        key = (operation(spec).name, steps, rules, d.conversion, o.a.name, spec.emulation is None)
        if spec.k <= most_k:
            found.setdefault(key, name)
    return list(found.values())


def drawn(g: Graph, rounds: int) -> Iterator[dict[str, int]]:
    """Any words, and words of few and of many ones, of corners, and mixtures."""
    draw = random.Random(5)

    def word(width: int, kind: int) -> int:
        any_, other = draw.getrandbits(width), draw.getrandbits(width)
        corner = draw.choice((0, 1, (1 << width) - 1, 1 << (width - 1), any_))
        return (any_, any_ & other, any_ | other, corner)[kind]

    for _ in range(rounds):
        kinds = draw.choice(((0,), (1,), (2,), (3,), (0, 1, 2, 3)))
        yield {name: word(n.width, draw.choice(kinds)) for name, n in g.inputs.items()}


def assert_kept(name: str, rounds: int) -> None:
    """No invariant fails, and the results are those of the definition without them."""
    spec = resolve(name)
    g, root = built(spec)
    assert g.invariants.kept
    checked, plain = (
        CheckedConcrete(g, [root]),
        Concrete(circuit(spec, spec.k)[0], [circuit(spec, spec.k)[1]]),
    )
    for inputs in drawn(g, rounds):
        assert checked(inputs) == plain(inputs)


@pytest.mark.parametrize("name", one_in(2, [*families(16), *OPERATIONS.values()]))
def test_what_the_semantics_relies_on_is_so(name: str) -> None:
    assert_kept(name, 40)


@pytest.mark.long
@pytest.mark.parametrize("name", list(distinct_designs()))
def test_what_the_semantics_relies_on_is_so_of_every_design(name: str) -> None:
    assert_kept(name, 400)


#: One design of each way to add products up.
QUICKLY = ("T-FDPA", "GST-FDPA", "chain")


def broken(g: Graph) -> Node:
    """1 where some invariant is 0."""
    return g.or_(g.truth(False), *(g.not_(x.node) for x in g.invariants.kept))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(unit, id=x, marks=marks)
        for x, unit in OPERATIONS.items()
        for marks in [
            pytest.mark.long if x in ("two chains", "tree") else () if x in QUICKLY else pytest.mark.slow
        ]
    ],
)
def test_what_the_semantics_relies_on_is_proved_of_small_designs(name: str) -> None:
    g, _ = built(resolve(name))
    run = Concrete(g, [broken(g)])
    found = decide(g, broken(g), limits=LIMITS, replay=lambda model: run(model) == [1])
    assert found.status is Status.UNSAT, (found.reason, found.model)
    assert found.confirmed_by or found.certificate is not None


# ---------------------------------------------------------------------- what is not so is found
def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A false invariant in every conversion: that nothing is ever rounded away from zero."""
    right = rounding.round_away

    def planted(g: Graph, *args: Node) -> Node:
        away = right(g, *args)  # type: ignore[arg-type]
        g.invariant(lambda: g.not_(away), "nothing is rounded away from zero")
        return away

    monkeypatch.setattr(rounding, "round_away", planted)


def test_a_false_invariant_is_found_on_integers_and_by_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    g, root = built(resolve(OPERATIONS["chain"]))
    checked = CheckedConcrete(g, [root])
    with pytest.raises(InvariantError) as caught:
        list(map(checked, drawn(g, 400)))
    said = str(caught.value)
    assert said.startswith("expected that nothing is rounded away from zero at block0")
    assert "a[0]=0x" in said
    run = Concrete(g, [broken(g)])
    found = decide(g, broken(g), limits=LIMITS, replay=lambda model: run(model) == [1])
    assert found.status is Status.SAT
    assert found.model is not None
    with pytest.raises(InvariantError):
        CheckedConcrete(g, [root])(found.model)


def test_other_graphs_know_of_no_invariant(monkeypatch: pytest.MonkeyPatch) -> None:
    """The definition that is served is the same with and without them, a false one included."""
    spec = resolve(OPERATIONS["T-FDPA"])
    before = digest(*served(spec))
    plant(monkeypatch)
    g, root = served(spec)
    assert digest(g, root) == before
    assert not g.invariants.kept


def served(spec: UnitSpec) -> tuple[Graph, dict[str, Node]]:
    """One dot product in a graph as every other part of the package makes it."""
    g = Graph()
    return g, {"d": chained_dot(g, spec, declare_inputs(g, spec, spec.k)).result}


def test_suppositions_limit_what_is_asked() -> None:
    g = Graph(checked=True)
    x, y = g.input("x", 1), g.input("y", 1)
    with g.scope("here"):
        with g.invariants.suppose(lambda: x):
            g.invariant(lambda: y, "y is 1 where x is")
        g.invariant(lambda: g.or_(x, y), "one of both is 1")
    run = CheckedConcrete(g, [x])
    assert run({"x": 1, "y": 1}) == [1]
    assert run({"x": 0, "y": 1}) == [0]
    for inputs, why in (({"x": 1, "y": 0}, "y is 1 where x is"), ({"x": 0, "y": 0}, "one of both is 1")):
        with pytest.raises(InvariantError, match=f"expected that {why} at here, but it is not so for x="):
            run(inputs)


@pytest.mark.parametrize("node", [lambda g: g.input("w", 2)])
def test_a_condition_has_one_bit(node: Callable[[Graph], Node]) -> None:
    g = Graph(checked=True)
    with pytest.raises(WidthError, match="expected a condition of width 1, but got width 2"):
        g.invariant(lambda: node(g), "wide")
