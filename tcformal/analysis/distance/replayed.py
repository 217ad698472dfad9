"""Results of a unit or a program: many rows on lanes, or one row on integers and exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tcformal.backends.concrete import Concrete
from tcformal.design.unit import product_signs
from tcformal.errors import SolverDisagreementError
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.values import decode
from tcformal.programs.chain import scale_count
from tcformal.programs.dag import program_circuit
from tcformal.query.replay import results_of
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import Raw
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.runnable import RunnableProgram


def padded(x: Unit | RunnableProgram, length: int) -> int:
    """The number of products of a row after padding to whole calls."""
    return -(-length // x.k) * x.k if isinstance(x, Unit) else length


def many(x: Unit | RunnableProgram, a: Raw, b: Raw, c: Raw) -> Raw:
    """The results of rows of operands, a and b [n, K], c [n]; scales are 1."""
    if not isinstance(x, Unit):
        return x.evaluate(a, b, c)
    if x.scale_format is None:
        return x.dot_bits(a, b, c)
    ones = np.full((len(a), scale_count(x.spec, a.shape[1])), x.scale_format.one, np.uint64)
    return x.dot_bits(a, b, c, ones, ones)


def witness(x: Unit | RunnableProgram, a: Raw, b: Raw, c: int) -> Witness:
    """One row of operands as a witness; scales are 1."""
    scales: tuple[int, ...] = ()
    if isinstance(x, Unit) and x.scale_format is not None:
        scales = (x.scale_format.one,) * scale_count(x.spec, len(a))
    return Witness(tuple(map(int, a)), tuple(map(int, b)), int(c), scales, scales)


def replayed(x: Unit | RunnableProgram, w: Witness) -> int:
    """The result's encoding, computed on integers and confirmed on exact fractions.

    Errors: SolverDisagreementError where they differ.
    """
    if isinstance(x, Unit):
        return results_of(x.spec, w)
    plan = x.program.plan(len(w.a))
    graph, dag = program_circuit(plan)
    (integers,) = Concrete(graph, [dag.result])({k: v for k, v in w.inputs().items() if k in graph.inputs})
    fractions = program_result(plan, w.a, w.b, w.c)
    if integers != fractions:
        raise SolverDisagreementError(
            f"expected one result of {x.name} on integers and fractions, but got {integers:#x} and "
            f"{fractions:#x} on {w}"
        )
    return integers


def exact(x: Unit | RunnableProgram, w: Witness) -> tuple[Fraction, Fraction]:
    """The exact c + Σ a_k·b_k and |c| + Σ|a_k·b_k|, with subtracted products negated."""
    rows = zip(w.a, w.b, strict=True)
    products = [decode(x.a_format, a).number * decode(x.b_format, b).number for a, b in rows]
    if isinstance(x, Unit):
        signs = product_signs(x.spec, len(products))
        products = [p * int(s) for p, s in zip(products, signs, strict=True)]
    last = decode(x.c_format, w.c).number
    return sum(products, last), sum(map(abs, products), abs(last))
