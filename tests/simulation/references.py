"""References of recipes, written from their sources: which additions, in which order, for one element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np

from simulation.sums import FP32, Runs, Word, added, chain, rounded, total
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS

#: alpha and beta of every product, as words of fp32: 0.7 and 0.3.
ALPHA, BETA = (FP32, int(np.float32(0.7).view(np.uint32))), (FP32, int(np.float32(0.3).view(np.uint32)))


@dataclass(frozen=True)
class Element:
    """One element of D: its row of A, its column of B, its C, and what else stands beside them."""

    u: UnitSpec
    a: list[int]
    b: list[int]
    c: Word
    scale_a: list[Word]
    scale_b: list[Word]
    place: tuple[int, int]
    shape: tuple[int, int]

    @property
    def k(self) -> int:
        """Products."""
        return len(self.a)


Reference = Callable[[Element], Word]


def blocks(k: int, length: int) -> list[Runs]:
    """Accumulators that are closed every so many products."""
    return [[(start, min(start + length, k))] for start in range(0, k, length)]


def linear(x: Element, acc: Word) -> Word:
    """CUTLASS's linear combination: beta · C is rounded, then alpha · accumulator joins in an FFMA."""
    return rounded(FP32, [ALPHA, acc], [rounded(FP32, [BETA, x.c])])


# ------------------------------------------------------------------------------------------ cuBLASLt


def nvjet(splits: int, promoted: bool) -> Reference:
    """cublas_match: grain 64 of 16-bit elements and 128 of 8-bit ones; chunk = ceil(ceil(K / G) / s) · G, the
    last slice takes the rest; fp8 has a second level for each 128."""

    def d(x: Element) -> Word:
        grain = 128 // (x.u.a_format.storage_bits // 8)
        chunk = ceil(ceil(x.k / grain) / splits) * grain
        made: Word | None = None
        for start in range(0, x.k, chunk):
            stop = min(start + chunk, x.k)
            some = (
                [[(p, min(p + 128, stop))] for p in range(start, stop, 128)]
                if promoted
                else [[(start, stop)]]
            )
            made = added(made, total(x.u, x.a, x.b, some, zero=False))
        assert made is not None
        return linear(x, made)

    return d


def older(splits: int, tile: int, rounded_to: str | None) -> Reference:
    """cublas_match: one call for each KPD products, with the boundaries 0, KPD, …, floor(RES/KPD)·KPD, RES,
    RES + KPD, …, K and RES = K % block_k; split-K grain 64 if K % 64 == 0 else 8; partials rounded or not.
    Split products have alpha · sum rounded before beta · C joins [results/products]."""

    def d(x: Element) -> Word:
        grain = 64 if x.k % 64 == 0 else 8
        chunk = ceil(ceil(x.k / grain) / splits) * grain
        made: Word | None = None
        for start in range(0, x.k, chunk):
            stop = min(start + chunk, x.k)
            rest, kpd = (stop - start) % tile, x.u.k
            edges = [*range(0, rest, kpd), *range(rest, stop - start, kpd), stop - start]
            runs = [(start + p, start + q) for p, q in pairwise(edges)]
            part = chain(x.u, x.a, x.b, runs)
            if rounded_to is not None:
                part = rounded(FP32, [rounded(FORMATS[rounded_to], [part])])
            made = added(made, part)
        assert made is not None
        return rounded(FP32, [BETA, x.c], [rounded(FP32, [ALPHA, made])])

    return d


def turns(splits: int, tile: int, *, halves: bool = False) -> Reference:
    """results/products: part p takes the tiles p, p + splits, …; the parts are added in order.

    With `halves`, of 6 parts: ((5 + (0 + 3)) + (1 + 4)) + 2.
    """

    def d(x: Element) -> Word:
        parts: dict[int, Word] = {}
        for part in range(splits):
            tiles = [t for t in range(ceil(x.k / tile)) if t % splits == part]
            if tiles:
                runs = [(t * tile, min(t * tile + tile, x.k)) for t in tiles]
                parts[part] = chain(x.u, x.a, x.b, runs)
        made = parts.pop(splits - 1, None) if halves else None
        for i in range((splits + 1) // 2 if halves else splits):
            if i in parts:
                other = parts.get(i + (splits + 1) // 2) if halves else None
                made = added(made, parts[i] if other is None else added(parts[i], other))
        assert made is not None
        return linear(x, made)

    return d


def blocked(block: int) -> Reference:
    """Recorded products of PyTorch on a processor with AMX: blocks of K from zero, added in order."""

    def d(x: Element) -> Word:
        made: Word | None = None
        for start in range(0, x.k, block):
            made = added(made, chain(x.u, x.a, x.b, [(start, min(start + block, x.k))]))
        assert made is not None
        return linear(x, made)

    return d


def warp(threads: int) -> Reference:
    """results/products, algorithm 13: thread t takes k = t, t + threads, …; sums are handed down, from half
    of the threads away at first, then from half of that."""

    def d(x: Element) -> Word:
        sums = {t: chain(x.u, x.a, x.b, [(k, k + 1) for k in range(t, x.k, threads)])
                for t in range(min(threads, x.k))}  # fmt: skip
        apart = threads // 2
        while apart:
            sums = {
                t: added(y, sums[t + apart]) if t + apart in sums else y for t, y in sums.items() if t < apart
            }
            apart //= 2
        return linear(x, sums[0])

    return d


def group32(x: Element) -> Word:
    """cublas_match, algorithm 74: the groups [0, K % 32), then 32 apart, in one accumulator."""
    rest = x.k % 32
    runs = [(0, rest)] if rest else []
    runs += [(p, p + 32) for p in range(rest, x.k, 32)]
    return linear(x, chain(x.u, x.a, x.b, runs))


# ------------------------------------------------------------------------------------------ CUTLASS, DeepGEMM


def interval(x: Element) -> Word:
    """GmmaFP8Accumulation::promote_core every four instructions of 32: accum += temp, from zero."""
    return linear(x, total(x.u, x.a, x.b, blocks(x.k, 128), zero=True))


def scaled(x: Element) -> Word:
    """GmmaFP8Accumulation::scale_core: accum += temp · scaleA · scaleB, the last two in an FFMA."""
    d: Word = (FP32, 0)
    for i, runs in enumerate(blocks(x.k, 128)):
        scaled_by_a = rounded(FP32, [chain(x.u, x.a, x.b, runs), x.scale_a[i]])
        d = rounded(FP32, [scaled_by_a, x.scale_b[i]], [d])
    return linear(x, d)


def deepgemm(x: Element) -> Word:
    """final_accum += scale_a · scale_b · accum for BLOCK_K = 128, the scales first; bf16 RNE."""
    d: Word = (FP32, 0)
    for i, runs in enumerate(blocks(x.k, 128)):
        scale = rounded(FP32, [x.scale_a[i], x.scale_b[i]])
        d = rounded(FP32, [scale, chain(x.u, x.a, x.b, runs)], [d])
    return rounded(FORMATS["bf16"], [d])


def staged(tile: int) -> Reference:
    """mma_multistage: each step of 32 goes into tmp_accum, which joins accum and is cleared after step 0 of
    every tile, and once more at the end; the first tile is the incomplete one, its missing products zeros."""

    def d(x: Element) -> Word:
        rest = x.k % tile or tile
        accum: Word = (FP32, 0)
        pending: Word | None = None
        for first, stop in [(0, rest), *((p, p + tile) for p in range(rest, x.k, tile))]:
            for step in range(tile // 32):
                begin = min(first + 32 * step, stop)
                end = min(begin + 32, stop)
                c = 0 if pending is None else pending[1]
                pending = chain(x.u, x.a, x.b, [(begin, end)] if end > begin else [], c)
                if step == 0:
                    accum, pending = rounded(FP32, [accum], [pending]), None
        return linear(x, accum if pending is None else rounded(FP32, [accum], [pending]))

    return d


def residue(start: int, stop: int, tile: int) -> Runs:
    """CUTLASS's iterators: the first tile of a threadblock is the one that is not full."""
    rest = (stop - start) % tile
    return [(start, start + rest), (start + rest, stop)] if rest else [(start, stop)]


def serial(splits: int, tile: int, output: str) -> Reference:
    """kernel::Gemm: gemm_k_size whole tiles; partition 0 reads C with beta, each later one D with beta 1."""

    def d(x: Element) -> Word:
        size = ceil(ceil(x.k / tile) / splits) * tile
        made: Word | None = None
        for start in range(0, x.k, size):
            acc = chain(x.u, x.a, x.b, residue(start, min(start + size, x.k), tile))
            source = rounded(FP32, [BETA, x.c]) if made is None else made
            made = rounded(FORMATS[output], [rounded(FP32, [ALPHA, acc], [source])])
        assert made is not None
        return made

    return d


def parallel(splits: int, tile: int) -> Reference:
    """ReduceSplitK: accumulator = 0, then each partition, ascending; GemmUniversal's alignment of K."""

    def d(x: Element) -> Word:
        size = x.u.a_format.storage_bits // 8
        align = 128 // size if x.k % (128 // size) == 0 else 16 // size
        length = ceil(ceil(x.k / splits) / align) * align
        made: Word = (FP32, 0)
        for start in range(0, x.k, length):
            stop = min(start + length, x.k)
            made = rounded(FP32, [made], [chain(x.u, x.a, x.b, residue(start, stop, tile))])
        return linear(x, made)

    return d


def stream(workers: int, tile: int, high: int, wide: int) -> Reference:
    """Stream-K: the iterations of all tiles of D in a row, an even share of them for every worker."""

    def d(x: Element) -> Word:
        steps = ceil(x.k / tile)
        columns = ceil(x.shape[1] / wide)
        tiles = ceil(x.shape[0] / high) * columns
        share = ceil(tiles * steps / workers)
        mine = x.place[0] // high * columns + x.place[1] // wide
        owners: dict[int, list[int]] = {}
        for step in range(steps):
            owners.setdefault((mine * steps + step) // share, []).append(step)
        made: Word | None = None
        for steps_of in owners.values():
            runs = [(s * tile, min(s * tile + tile, x.k)) for s in steps_of]
            made = added(made, chain(x.u, x.a, x.b, runs))
        assert made is not None
        return linear(x, made)

    return d


def plain(x: Element) -> Word:
    """Calls from C on."""
    return rounded(FP32, [ALPHA, chain(x.u, x.a, x.b, [(0, x.k)], x.c[1])])
