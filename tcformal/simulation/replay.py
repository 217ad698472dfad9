"""Replay of a batch on a model: calls of the unit, with products 0·0 as padding."""

from __future__ import annotations

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.programs.chain import scale_count
from tcformal.simulation.operands.batch import batch_of, rows_of, witness_at
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.unit import Unit

#: Dot products evaluated at once: bounds the memory.
_CHUNK = 1 << 16


def padded(spec: UnitSpec, batch: Batch) -> Batch:
    """The batch padded with products 0·0 and scales of 1 to whole calls of a unit."""
    k = batch.a.shape[1]
    wide = -(-k // spec.k) * spec.k
    if wide == k:
        return batch
    scales = []
    for scale in (batch.scale_a, batch.scale_b):
        fmt = spec.scale_format
        scales.append(
            None if scale is None or fmt is None else _wide(scale, scale_count(spec, wide), fmt.one)
        )
    return Batch(_wide(batch.a, wide, 0), _wide(batch.b, wide, 0), batch.c, scales[0], scales[1])


def padded_witness(spec: UnitSpec, w: Witness) -> Witness:
    """A witness padded as `padded` pads a batch."""
    return witness_at(padded(spec, batch_of([w])), 0)


def _wide(array: Raw, count: int, fill: int) -> Raw:
    wide = np.full((array.shape[0], count), fill, dtype=np.uint64)
    wide[:, : array.shape[1]] = array
    return wide


def replay(spec: UnitSpec, batch: Batch) -> Raw:
    """The results of a unit for a batch, as raw encodings in uint64; see `takes`."""
    u, results = Unit(spec), []
    wide = padded(spec, batch)
    for start in range(0, len(wide.c), _CHUNK):
        x = rows_of(wide, slice(start, start + _CHUNK))
        results.append(u.dot_bits(x.a, x.b, x.c, x.scale_a, x.scale_b).astype(np.uint64))
    return np.concatenate(results) if results else np.zeros(0, np.uint64)
