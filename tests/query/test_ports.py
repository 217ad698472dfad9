"""The map between a unit's operands and a module's ports."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.query.rtl import mapped, port_nodes, port_values, tied
from tcformal.semantics.chain import declare_inputs
from tcformal.simulation.operands.witness import Witness

SPEC = resolve("valpey@terms=3")
PORTS = {"a": 32, "b": 32, "c": 32, "d": 32, "wide": 80, "flag": 1, "half": 16}
WITNESS = Witness((0x1234, 0x5678), (0x9ABC, 0xDEF0), 0x3F800000)


def values(texts: Sequence[str], ties: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """The values of the ports on the witness: as nodes, and as numbers."""
    places = [p for p in mapped(SPEC, texts, PORTS) if p.operand != "d"]
    inputs = {name: width for name, width in PORTS.items() if name != "d"}
    g = Graph()
    declare_inputs(g, SPEC, SPEC.k)
    nodes = port_nodes(g, places, ties, inputs)
    run = Concrete(g, list(nodes.values()))
    found = run({**dict.fromkeys(g.inputs, 0), **WITNESS.inputs()})
    return dict(zip(nodes, found, strict=True)), port_values(places, ties, SPEC, WITNESS)


def test_ports_of_the_operands_own_names() -> None:
    nodes, numbers = values([], {"flag": 1})
    assert nodes == {"a": 0x56781234, "b": 0xDEF09ABC, "c": 0x3F800000, "flag": 1, "wide": 0, "half": 0}
    assert numbers == {"a": 0x56781234, "b": 0xDEF09ABC, "c": 0x3F800000, "flag": 1}


def test_elements_anywhere() -> None:
    texts = ["a[0]=wide[79:64]", "a[1]=half", "b=wide[47:16]", "c=c", "d=d"]
    nodes, numbers = values(texts, {})
    wide = 0x1234 << 64 | 0xDEF09ABC << 16
    assert (nodes["wide"], nodes["half"], nodes["a"]) == (wide, 0x5678, 0)
    assert numbers == {"wide": wide, "half": 0x5678, "c": 0x3F800000}


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["a"], "expected OPERAND=PORT"),
        (["e=a"], "expected one of a, b, c, d as the operand"),
        (["a[2]=half"], "expected an element of a below 2"),
        (["a=gone"], "expected a in a port of the module"),
        (["a=wide[80:49]"], "expected bits of wide, which has 80"),
        (["a=wide"], "expected 32 bits for a"),
        (["a[0]=half"], "expected a, or each of"),
        (["a=a", "a[0]=half"], "expected a, or each of"),
        (["a=a", "a=wide[31:0]"], "expected a, or each of"),
    ],
)
def test_other_maps_reject(texts: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        mapped(SPEC, texts, PORTS)


@pytest.mark.parametrize(
    ("texts", "ties", "sentence"),
    [
        (["a=wide[31:0]", "b=wide[40:9]"], {}, "expected one meaning for each bit of wide"),
        ([], {"a": 1}, "expected a to be mapped or tied"),
        ([], {"flag": 2}, "expected an input port that holds the tied value"),
        ([], {"gone": 0}, "expected an input port that holds the tied value"),
    ],
)
def test_other_ports_reject(texts: list[str], ties: dict[str, int], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        values(texts, ties)


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("x=3", ("x", 3)),
        ("x=0x1f", ("x", 31)),
        ("x=3'b101", ("x", 5)),
        ("x=8'hff", ("x", 255)),
        ("x=4'd9", ("x", 9)),
    ],
)
def test_ties(text: str, pair: tuple[str, int]) -> None:
    assert tied(text) == pair


@pytest.mark.parametrize("text", ["x", "x=", "=1", "x=y", "x=-1", "x=3'b12"])
def test_other_ties_reject(text: str) -> None:
    with pytest.raises(InputError, match="expected NAME=VALUE"):
        tied(text)
