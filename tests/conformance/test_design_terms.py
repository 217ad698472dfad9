"""Designs as solver terms: with inputs fixed, every solver and the SMT-LIB text give the integers' result."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.test_term_interpreters import ANSWERS
from tcformal.backends.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.chain import circuit
from tcformal.simulation.matrix_unit import unit
from tcformal.simulation.operands.batch import FAMILIES, batch, witness_at

#: A vector of exponents near each other, and one of extremes and specials.
ROWS = (1, pytest.param(5, marks=pytest.mark.long))

#: One design of each kind of summation, alignment, rounding, special rule and scale.
DESIGNS = [
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "hopper/mma.m16n8k8.f16.f16.f16.f16",
    "ampere/mma.m16n8k8.f32.bf16.bf16.f32",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "valpey@terms=5,carry_bits=2",
    "sequential@terms=4,rounding=RD",
    "sequential@terms=4,c_position=last,rounding=RU",
    "tfdpa@products=4,alignment_rounding=RNE,zero_exponent=own",
    "tfdpa@products=4,c_position=last",
    "ada/mma.m16n8k16.f32.e4m3.e5m2.f32",
    "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e2m1.e3m2.f32.ue8m0",
    "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    "cdna1/v_mfma_f32_32x32x2bf16",
    "cdna2/v_mfma_f32_32x32x4f16",
    "cdna3/v_mfma_f32_32x32x4_2b_f16",
    "x86/vdpbf16ps",
    "arm/bfdot.ebf0",
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.long if i % 2 else ()) for i, x in enumerate(DESIGNS)]
)
def test_terms_mean_what_integers_do(name: str, answer: Callable[[Graph, Node], str], row: int) -> None:
    spec = unit(name).spec
    graph, root = circuit(spec, spec.k)
    exact = Concrete(graph, [root])
    x = batch(spec, spec.k, len(FAMILIES), 11)
    inputs = witness_at(x, row).inputs()
    fixed = [graph.eq(node, graph.const(inputs[key], node.width)) for key, node in graph.inputs.items()]
    right = graph.eq(root, graph.const(exact(inputs)[0], root.width))
    assert answer(graph, graph.and_(*fixed, right)) == "sat"
    assert answer(graph, graph.and_(*fixed, graph.not_(right))) == "unsat"
