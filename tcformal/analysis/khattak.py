"""Errors of matrix products on eight GPUs, as KHATTAK & MIKAITIS publish them; a file for each paper.

Source: github.com/north-numerical-computing/MATLAB-tensor-core, experiments (b12b5a7): matrices, scalings and
words are those of MARY's experiments, from the same seed for each GPU.  Numbers are rounded as that program
rounds: words toward zero, because CPFloat keeps the mode that the conversion of c has set, but in the first
product of a session, which comes before it; then the words of A, times a power of u, to nearest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from tcformal.analysis import mary
from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_int
from tcformal.encodings.catalog import format_named
from tcformal.simulation import arrays
from tcformal.simulation.matrix_unit import Unit, unit

#: The inner dimensions, and the columns of the published files.
LENGTHS = tuple(math.floor(x) for x in np.logspace(1, 6, 20))
COLUMNS = ("n", "error", "bound")
#: Input formats as the published files spell them, and the numbers of words in the order of their draws.
_SPELLED = {"fp16": "binary16", "bf16": "bfloat16", "e5m2": "fp8-e5m2"}
_WORDS = {"fp16": (1, 2, 3), "bf16": (1, 2, 3), "e5m2": (1, 4, 6)}
#: Their MI300X rounds the sum once, as XIE's Algorithms 10 and 11 are printed; MMA-Sim floors it first.
_AS_PRINTED = "@sum_rounding=RD_ADDENDS"
#: The unit of each published model, by input format and GPU.
UNITS = {
    ("fp16", "v100"): "volta/mma.m8n8k4.f32.f16.f16.f32",
    ("fp16", "a100"): "ampere/mma.m16n8k16.f32.f16.f16.f32",
    ("fp16", "b200"): "blackwell/tcgen05.m64n8k16.kind::f16.f32.f16.f16",
    ("fp16", "mi100"): "cdna1/v_mfma_f32_32x32x8f16",
    ("fp16", "mi250"): "cdna2/v_mfma_f32_32x32x8f16",
    ("fp16", "mi300x"): "cdna3/v_mfma_f32_32x32x8_f16" + _AS_PRINTED,
    ("bf16", "a100"): "ampere/mma.m16n8k16.f32.bf16.bf16.f32",
    ("bf16", "b200"): "blackwell/tcgen05.m64n8k16.kind::f16.f32.bf16.bf16",
    ("bf16", "mi100"): "cdna1/v_mfma_f32_32x32x4bf16",
    ("bf16", "mi250"): "cdna2/v_mfma_f32_32x32x8bf16_1k",
    ("bf16", "mi300x"): "cdna3/v_mfma_f32_32x32x8_bf16" + _AS_PRINTED,
    ("e5m2", "l40s"): "ada/mma.m16n8k32.f32.e5m2.e5m2.f32",
    ("e5m2", "h100"): "hopper/wgmma.m64n8k32.f32.e5m2.e5m2",
    ("e5m2", "b200"): "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e5m2.e5m2",
    ("e5m2", "mi300x"): "cdna3/v_mfma_f32_16x16x32_bf8_bf8" + _AS_PRINTED,
}
#: The models whose first product was the first of a session.
_FIRST = {("fp16", "v100"), ("fp16", "mi100"), ("bf16", "mi300x"), ("e5m2", "h100")}


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A published table: input format, GPU, and the number of words per input."""

    inputs: str
    gpu: str
    words: int

    def __str__(self) -> str:
        return f"{self.inputs} on {self.gpu}, p = {self.words}"

    @property
    def file(self) -> str:
        """The name of the published file."""
        return f"matmul_test_{_SPELLED[self.inputs]}_binary32_words_{self.words}_model_{self.gpu}.dat"


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of a table: n, the error ‖Ĉ - AB‖∞ / (‖A‖∞‖B‖∞) of a unit, and the published bound."""

    table: PublishedTable
    unit: str
    n: int
    error: float
    bound: float

    def row(self) -> tuple[str, ...]:
        """The columns of the line, formatted as in the published file."""
        return str(self.n), f"{self.error:e}", f"{self.bound:e}"


def tables() -> tuple[PublishedTable, ...]:
    """All tables whose models are units of the catalogue."""
    return tuple(PublishedTable(a, gpu, words) for a, gpu in UNITS for words in _WORDS[a])


def entries(
    chosen: Sequence[PublishedTable], *, count: int = len(LENGTHS), progress: Progress = ignore
) -> Iterator[TableLine]:
    """Compute the first `count` lines of some tables from the same random numbers as the published ones.

    Ranges and units: count from 1 to 20; the last lines have a million products and take minutes.
    Errors: InputError for a count out of range.
    """
    check_int("count", count, low=1, high=len(LENGTHS))
    for (a, gpu), name in UNITS.items():
        order = [PublishedTable(a, gpu, words) for words in _WORDS[a]]
        for table, n, draws in mary.in_order(order, chosen, LENGTHS, count):
            progress(f"{table}: n = {n}")
            first = table.words == 1 and (a, gpu) in _FIRST and n == LENGTHS[0]
            yield _entry(table, unit(name), n, draws.matrices(n), nearest=first)


def _entry(
    table: PublishedTable, u: Unit, n: int, drawn: tuple[mary.Floats, mary.Floats], *, nearest: bool
) -> TableLine:
    p, own, large = (mary.precision_of(f) for f in (format_named(table.inputs), u.a_format, u.d_format))
    top = mary.theta(p, large, n)
    x = mary.scaled_product(*drawn, top)
    left, right = x.words(p, table.words, partial(mary.rounded, p=p, whole=np.rint if nearest else np.trunc))
    dtype, c = arrays.dtype_of(u.a_format), np.zeros((mary.SIDE, mary.SIDE), np.float32)
    for j, k in mary.pairs_of_words(table.words):
        a, b = mary.rounded(left[j] * p.u ** (j + k), own), mary.rounded(right[k], own)
        c = u.matmul(a.astype(dtype), b.astype(dtype), c, progress=False).astype(np.float32)
    small = 4 * n**2 * 2.0**p.least / top + 4 * n**2 * 2.0**large.least / top**2
    return TableLine(table, u.name, n, x.error(c.astype(np.float64)), 2 * p.u + n * large.u + small)


def differences(folder: str | Path, found: Sequence[TableLine]) -> Iterator[str]:
    """The numbers that differ, as printed, from the published files in a folder; errors as of `compared`."""
    return map(str, mary.compared(folder, COLUMNS, [(x.table, x.table.file, x.row()) for x in found]))
