"""The order in which algorithms of cuBLASLt sum, as scans showed it, as a program over units.

An algorithm takes K in parts, each a chain of calls of one instruction, and adds their results one after
the other.  Where the parts lie depends on the algorithm: one after the other, or tile by tile in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tcformal import simulate

Problem = dict[str, Any]
#: The fields of an algorithm: cublasLtMatmulAlgoConfigAttributes_t in the order of the recordings.
Fields = Sequence[int | None]
_ID, _SPLITS, _REDUCTION, _OPTION, _STAGES = 0, 2, 3, 5, 6
#: Bytes of an element.
_BYTES = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1}
_LINE, _WORD = 128, 16  # bytes to which parts are rounded up
_PROMOTED = 128  # products that one accumulator of 8-bit kernels takes without fast accumulation
#: Elements of k in a tile, by STAGES_ID: six stages of each of these, then single ones.
_TILES = {6 * i + j + 1: tile for i, tile in enumerate((16, 32, 64, 128)) for j in range(6)}
_TILES |= {25: 32, 26: 8, 27: 16, 28: 8, 29: 16, 30: 32, 31: 8, 32: 8, 33: 16, 34: 32, 35: 64, 36: 128}
_TF32 = "hopper/mma.m16n8k8.f32.tf32.tf32.f32"
_HALVES = {"16F": "hopper/mma.m16n8k16.f16.f16.f16.f16", "fp16": "hopper/mma.m16n8k16.f32.f16.f16.f32",
           "bf16": "hopper/mma.m16n8k16.f32.bf16.bf16.f32"}  # fmt: skip
_WGMMA = {("fp16", "fp16"): "k16.f32.f16.f16", ("bf16", "bf16"): "k16.f32.bf16.bf16",
          ("e4m3", "e4m3"): "k32.f32.e4m3.e4m3", ("e4m3", "e5m2"): "k32.f32.e4m3.e5m2",
          ("e5m2", "e4m3"): "k32.f32.e5m2.e4m3"}  # fmt: skip
#: A chain of fused multiply–adds in fp32, which NVIDIA's processors have without a matrix instruction.
_FMA32 = "cdna1/v_mfma_f32_32x32x2f32"
_FMA64 = "ampere/mma.m8n8k4.f64.f64.f64.f64"
#: Algorithms of CUTLASS's generation before wgmma: parts lie one after the other, and a part's first tile is
#: the one that is not full.
_CUTLASS = (20, 21, 22, 23, 24)


def unit_of(p: Problem, fields: Fields) -> str | None:
    """The unit that an algorithm calls for a product; None where nobody knows its order."""
    algorithm, compute, a, whole = fields[_ID], p["compute"], p["a"], fields[_SPLITS] == 1
    if algorithm == 66 and compute == "32F" and (a, p["b"]) in _WGMMA:
        return "hopper/wgmma.m64n8" + _WGMMA[a, p["b"]]
    if fields[_STAGES] not in _TILES:
        return None
    if algorithm in (21, 23, 24) and compute.startswith("32F_FAST"):
        return _TF32  # the fast computations with 16 bits are given the same kernels
    if algorithm in (21, 23, 24) and compute in ("16F", "32F"):
        return _HALVES.get("16F" if compute == "16F" else a)
    if a == "fp32" and (algorithm == 20 or (algorithm == 55 and whole)):
        return _FMA32
    # With this option 35 and 36 add parts in an order of their own.
    if a == "fp64" and (algorithm == 22 or (algorithm in (35, 36) and (whole or fields[_OPTION] != 1))):
        return _FMA64
    return None


def what_matters(p: Problem, fields: Fields) -> tuple[Any, ...]:
    """All of an algorithm's fields that `product` looks at."""
    return tuple(fields[i] for i in (_ID, _SPLITS, _REDUCTION, _STAGES)), unit_of(p, fields)


def parts(p: Problem, fields: Fields) -> Iterator[NDArray[np.int64]]:
    """The places of k in each part."""
    k, splits, size = p["k"], int(fields[_SPLITS] or 1), _BYTES[p["a"]]
    if splits == 1:
        yield np.arange(k)
    elif fields[_ID] in (35, 36):
        tile = _TILES[int(fields[_STAGES] or 0)]
        for first in range(0, min(k, splits * tile), tile):
            starts = range(first, k, splits * tile)
            yield np.concatenate([np.arange(start, min(start + tile, k)) for start in starts])
    else:
        # CUTLASS aligns parts to lines of the cache where K allows it; wgmma's kernels always do.
        unit = _LINE // size if fields[_ID] not in _CUTLASS or k % (_LINE // size) == 0 else _WORD // size
        length = -(-k // splits)
        length = -(-length // unit) * unit
        for start in range(0, k, length):
            yield np.arange(start, min(start + length, k))


def product(
    p: Problem, fields: Fields, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any] | None = None
) -> NDArray[Any]:
    """The raw words of A·B + C [M, N] as an algorithm computes them; `unit_of` has to know it."""
    unit = unit_of(p, fields)
    assert unit is not None
    if unit == _TF32:
        a, b = _to_tf32(a), _to_tf32(b)
    narrow = _dtype(p["d"])
    total = None
    with np.errstate(over="ignore", invalid="ignore"):
        for places in parts(p, fields):
            part = _chain(p, fields, unit, a[:, places], b[places])
            if fields[_REDUCTION] == 4:
                part = part.astype(narrow).astype(part.dtype)  # parts are kept in the format of D
            total = part if total is None else total + part
        assert total is not None
        if c is not None:
            total = total + c.astype(total.dtype)  # C joins last, before the sum is rounded to D
        d = total.astype(narrow)
    words = d.view(f"u{d.itemsize}")
    if p["d"] == "fp16":
        words = np.where(np.isnan(d), np.uint16(0x7FFF), words)
    return np.asarray(words)


def _chain(p: Problem, fields: Fields, unit: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """One part as calls of a unit, each result the next c."""
    k = a.shape[1]
    if p.get("fast") == 0:
        sums = [_calls(unit, a[:, i : i + _PROMOTED], b[i : i + _PROMOTED]) for i in range(0, k, _PROMOTED)]
        total = sums[0]
        for x in sums[1:]:
            total = total + x
        return total
    rest = k % _TILES[int(fields[_STAGES] or 0)] if fields[_ID] in _CUTLASS else 0
    if not rest or rest == k:
        return _calls(unit, a, b)
    return _calls(unit, a[:, rest:], b[rest:], _calls(unit, a[:, :rest], b[:rest]))


def _calls(unit: str, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any] | None = None) -> NDArray[Any]:
    return simulate(unit, np.ascontiguousarray(a), np.ascontiguousarray(b), c, progress=False)


def _to_tf32(x: NDArray[Any]) -> NDArray[Any]:
    """fp32 rounded to tf32, to nearest, ties to even; operands are finite."""
    words = x.view(np.uint32)
    words = words + np.uint32(0xFFF) + (words >> np.uint32(13) & np.uint32(1))
    return (words & np.uint32(0xFFFFE000)).view(np.float32)


def _dtype(fmt: str) -> Any:
    kinds = {"fp64": np.float64, "fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16}
    return kinds[fmt]
