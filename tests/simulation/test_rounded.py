"""Rounded sums of programs on the processor's floats: each operation against its definition on lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tcformal.design.steps import ScaledProduct
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.simulation import evaluation
from tcformal.simulation.kernels import elements
from tcformal.simulation.operands.batch import FAMILIES, one_operand

FP32, FP64, FP16, BF16, TF32 = (FORMATS[name] for name in ("fp32", "fp64", "fp16", "bf16", "tf32"))


def product(*factors: int, negative: bool = False, shift: int = 0) -> ScaledProduct:
    return ScaledProduct(factors, negative, shift)


#: Formats of operands, addends, the result's format, the mode, and whether an operation gives the sum.
CASES: dict[str, tuple[tuple[Format, ...], tuple[ScaledProduct, ...], Format, str, bool]] = {
    "add": ((FP32, FP32), (product(0), product(1)), FP32, "RNE", True),
    "subtract": ((FP32, FP16), (product(0), product(1, negative=True)), FP32, "RNE", True),
    "multiply": ((BF16, TF32), (product(0, 1, negative=True),), FP32, "RNE", True),
    "fused": ((FP32, FP32, FP32), (product(0, 1), product(2)), FP32, "RNE", True),
    "fused, sum first": ((FP32, FP16, BF16), (product(2, negative=True), product(0, 1)), FP32, "RNE", True),
    "binary64": ((FP64, FP64, FP64), (product(0, 1), product(2)), FP64, "RNE", True),
    "toward zero": ((FP32, FP32), (product(0), product(1)), FP32, "RZ", False),
    "scaled": ((FP32, FP32), (product(0), product(1, shift=3)), FP32, "RNE", True),
    "scaled first": ((FP16, FP32), (product(0, shift=-30, negative=True), product(1)), FP32, "RNE", True),
    "scaled alone": ((FP32,), (product(0, shift=-8),), FP32, "RNE", True),
    "scaled, binary64": ((FP64, FP64), (product(0, shift=-1000), product(1)), FP64, "RNE", True),
    "scaled by what is no normal number": (
        (FP32, FP32),
        (product(0), product(1, shift=-127)),
        FP32,
        "RNE",
        False,
    ),
    "both scaled": ((FP32, FP32), (product(0, shift=1), product(1, shift=3)), FP32, "RNE", False),
    "a scaled product": ((FP16, FP16), (product(0, 1, shift=2),), FP32, "RNE", False),
    "two products": ((FP16, FP16), (product(0, 1), product(0, 0)), FP32, "RNE", False),
    "narrowed": ((FP32, FP32), (product(0), product(1)), BF16, "RNE", False),
}


def run(
    formats: Sequence[Format],
    addends: tuple[ScaledProduct, ...],
    fmt: Format,
    mode: str,
    given: Sequence[Any],
) -> tuple[Any, bool]:
    """The results, and whether a rule was there."""
    evaluation.operation.cache_clear()
    made = evaluation.operation(tuple(formats), addends, fmt, mode, False)
    return made(given, given[0].shape), bool(made.rules)


@pytest.mark.usefixtures("no_kernels")
@pytest.mark.parametrize("name", CASES)
def test_operations_give_what_their_definitions_give(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On numbers of all families, and on those of like size whose sums are inexact."""
    formats, addends, fmt, mode, taken = CASES[name]
    rng = np.random.default_rng(1)
    given = []
    for f in formats:
        size = f"u{f.storage_bits // 8}"
        drawn = np.concatenate([one_operand(rng, f, (400,), family) for family in FAMILIES]).astype(size)
        alike = (rng.integers(0, 1 << (f.fraction_bits + 3), 4000, np.uint64) + np.uint64(f.one)).astype(size)
        given.append(np.concatenate([rng.permutation(drawn), alike])[None, :, None])
    monkeypatch.setattr(elements, "_WORTH_COMPILING", 1 << 62)
    wanted, _ = run(formats, addends, fmt, mode, given)
    monkeypatch.setattr(elements, "_WORTH_COMPILING", 0)
    made, rule = run(formats, addends, fmt, mode, given)
    assert rule == taken
    assert (made == wanted).all()


@pytest.mark.usefixtures("no_kernels")
def test_rows_and_columns_are_taken_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """An element of a row, one of a column and one of both."""
    monkeypatch.setattr(elements, "_WORTH_COMPILING", 0)
    rng = np.random.default_rng(2)
    x, y, z = (rng.standard_normal(s).astype(np.float32) for s in ((5, 1, 1), (1, 37, 1), (5, 37, 1)))
    evaluation.operation.cache_clear()
    made = evaluation.operation((FP32,) * 3, (product(0, 1), product(2)), FP32, "RNE", False)
    found = made([v.view(np.uint32) for v in (x, y, z)], (5, 37, 1)).view(np.float32)
    exact = x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)
    assert np.allclose(found, exact, rtol=1e-6)
    alone = [np.broadcast_to(v, (5, 37, 1)).copy().view(np.uint32) for v in (x, y, z)]
    assert (made(alone, (5, 37, 1)).view(np.float32) == found).all()
