"""The package's operand families, as the tests take them: plain tuples of raw encodings."""

from __future__ import annotations

from tcformal.design.unit import UnitSpec
from tcformal.simulation.operands.batch import Raw, edge_encodings, one_operand
from tcformal.simulation.operands.batch import batch as family_batch

__all__ = ["Raw", "batch", "edge_encodings", "one_operand"]


def batch(spec: UnitSpec, k: int, n: int, seed: int) -> tuple[Raw, Raw, Raw]:
    """n dot products of K terms over all families: a [n, k], b [n, k], c [n], all uint64."""
    x = family_batch(spec, k, n, seed)
    return x.a, x.b, x.c
