"""Kernel selection: which compiled kernel computes a product, and from which size on compiling pays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from tcformal.backends import machine
from tcformal.backends.vector import evaluate
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.semantics.chain import circuit, staged_circuit
from tcformal.simulation import arrays
from tcformal.simulation.operands.batch import Raw

if TYPE_CHECKING:  # imported where they are used: a question about a unit does not wait for its kernels
    from tcformal.simulation.kernels.cut import DotCall
    from tcformal.simulation.kernels.dots import DotRows
    from tcformal.simulation.kernels.gemm import Gemm, MatrixWords
    from tcformal.simulation.kernels.gpu_gemm import GpuGemm

#: Products below which NumPy is done before a kernel would be loaded.
_WORTH_COMPILING = 1 << 20
#: Columns that fill the lanes of any processor well, and those of which many are filled up.
LONG, _NARROW = 64, 8


#: Rows of dot products that are evaluated on lanes before they are compiled: either takes about as long.
_ROWS_WORTH_COMPILING = 1 << 18
#: What an evaluation on lanes costs at least, in rows.
_CALL = 1 << 9
#: Units, and the side that is spread or `rows`, whose kernels are there already.
_LOADED: set[tuple[UnitSpec, str]] = set()
#: Rows evaluated on lanes so far, those of an evaluation of few as `_CALL`.
_SEEN: Counter[UnitSpec] = Counter()


def multiply_words(
    spec: UnitSpec, x: MatrixWords, threads: int | None, progress: bool | None, device: str | None
) -> Raw:
    """The matrix product D = A·B + C on raw encodings; see `Unit.matmul`."""
    from tcformal.simulation.kernels.threads import Work

    if device is not None:
        return gpu_gemm(spec, device).multiply(x)
    with Work(threads, progress) as work:

        def by_rows(a: Raw, b: Raw, c: Raw, scale_a: Raw | None = None, scale_b: Raw | None = None) -> Raw:
            operands = {"a": a, "b": b, "c": c, "scale_a": scale_a, "scale_b": scale_b}
            return dot_words(spec, {name: y for name, y in operands.items() if y is not None})

        m, k, n = x.shape
        side = broadcast_side(m, n)
        if machine.available() and _worth(spec, side, m * n * k):
            words = gemm(spec, side).multiply(x, work)
            _LOADED.add((spec, side))
            return words
        return arrays.by_dot_products(spec, by_rows, x, work)


def stack_words(
    spec: UnitSpec, a: Raw, b: Raw, c: Raw | None, threads: int | None, progress: bool | None
) -> Raw | None:
    """The products of a stack of matrices in one kernel; None where one matrix at a time is faster.

    Shapes: a [S, M, K], b [S, K, N], c [S, M, N] or None -> [S, M, N].
    """
    from tcformal.simulation.kernels.threads import Work

    (s, m, k), n = a.shape, b.shape[2]
    whole = k <= spec.k or spec.c_format == spec.d_format
    # Matrices that are large enough gain nothing, and ones of few columns fill no lanes.
    if not machine.available() or spec.scale_format is not None or not whole or n < _NARROW:
        return None
    if m * n * k > _WORTH_COMPILING or not _worth(spec, "a", s * m * n * k):
        return None
    from tcformal.simulation.kernels.gemm import multiply_stack

    with Work(threads, progress) as work:
        d = multiply_stack(gemm(spec, "a"), a, b, c, work)
    _LOADED.add((spec, "a"))
    return d


def dot_words(spec: UnitSpec, given: Mapping[str, Raw]) -> Raw:
    """Dot products d = Σ a_k·b_k + c on raw encodings, one per row; see `Unit.dot_bits`."""
    n, k = given["a"].shape
    _SEEN[spec] += max(n, _CALL)
    whole = k > 0 and not k % spec.k and (k == spec.k or spec.c_format == spec.d_format)
    worth = _worth(spec, "rows", n * k) or _SEEN[spec] >= _ROWS_WORTH_COMPILING
    if whole and machine.available() and worth:
        formats = spec.input_formats()
        words = {name: _stored(x, formats[name]) for name, x in given.items()}
        stored = {name: x for name, x in words.items() if x is not None}
        if len(stored) == len(words):
            _LOADED.add((spec, "rows"))
            return dot_rows(spec)(**stored)
    return lane_words(spec, given)


def expect_rows(spec: UnitSpec, calls: int) -> None:
    """Announce evaluations of few dot products each: many are worth a kernel from the first one on."""
    _SEEN[spec] += calls * _CALL


def lane_words(spec: UnitSpec, given: Mapping[str, Raw]) -> Raw:
    """Dot products as of `dot_words` on NumPy lanes, without a compiled kernel."""
    n, k = given["a"].shape
    inputs = {"c": given["c"]}
    for name in given.keys() - {"c"}:
        inputs |= {f"{name}[{i}]": column for i, column in enumerate(given[name].T)}
    return evaluate(*circuit(spec, k), inputs, n=n).astype(f"u{spec.d_format.storage_bits // 8}")


def broadcast_side(m: int, n: int) -> str:
    """The broadcast side: the side whose values are broadcast over the lanes that hold the longer side."""
    return "a" if n >= min(m, LONG) else "b"


def large(products: int) -> bool:
    """Whether a count of multiply-adds justifies compiling a kernel that is not loaded yet."""
    return products >= _WORTH_COMPILING


def _worth(spec: UnitSpec, which: str, products: int) -> bool:
    return large(products) or (spec, which) in _LOADED


def _stored(x: Raw, fmt: Format) -> Raw | None:
    """Words cast to the storage type of their format; None for a word that exceeds the format's width."""
    if x.dtype.kind != "u":
        return None
    if (x.itemsize * 8 > fmt.width) and x.size and int(x.max()) >> fmt.width:
        return None
    return x.astype(f"u{fmt.storage_bits // 8}", copy=False)


@lru_cache(maxsize=64)
def dot_rows(spec: UnitSpec) -> DotRows:
    """The compiled kernels of a unit's dot products, one per row; see
    `tcformal.simulation.kernels.dots`."""
    from tcformal.simulation.kernels.dots import DotRows

    return DotRows(dot_call(spec))


@lru_cache(maxsize=64)
def gemm(spec: UnitSpec, broadcast_side: str) -> Gemm:
    """The compiled matrix-product kernels of a unit; see `tcformal.simulation.kernels.gemm`."""
    from tcformal.simulation.kernels.gemm import Gemm

    return Gemm(dot_call(spec), broadcast_side)


@lru_cache(maxsize=64)
def gpu_gemm(spec: UnitSpec, device: str) -> GpuGemm:
    """The matrix-product kernels of a unit on a GPU; see `tcformal.simulation.kernels.gpu_gemm`."""
    from tcformal.simulation.card import named
    from tcformal.simulation.kernels.gpu_gemm import GpuGemm

    return GpuGemm(dot_call(spec), named(device))


def dot_call(spec: UnitSpec) -> DotCall:
    """The DAG of one call of a unit with its formats and lowering rules, from which kernels are compiled."""
    from tcformal.simulation.kernels.cut import DotCall
    from tcformal.simulation.lowering.aligned import add_rules

    graph, stages = staged_circuit(spec, spec.k)
    formats = {"a": spec.a_format, "b": spec.b_format, "c": spec.c_format, "d": spec.d_format}
    if spec.scale_format is not None:
        formats["scale"] = spec.scale_format
    return DotCall(
        graph=graph, root=stages.result, k=spec.k, scales=arrays.scales_of_call(spec),
        storage={letter: fmt.storage_bits for letter, fmt in formats.items()},
        scale_one=0 if spec.scale_format is None else spec.scale_format.one,
        finite={letter: _finite(fmt) for letter, fmt in formats.items()},
        chained=spec.c_format == spec.d_format,
        add_rules=lambda root, ways: add_rules(spec, graph, stages, root, ways),
    )  # fmt: skip


def _finite(fmt: Format) -> list[int]:
    """Corner encodings without NaN and Inf: zero, one, the smallest and the largest number, of both signs."""
    corners = [0] if fmt.has_zero else []
    corners += [1 << fmt.ignored_low_bits, min(fmt.one, fmt.largest), fmt.largest]
    if fmt.sign is Sign.ABSENT:
        return corners
    top = 1 << (fmt.width - 1)
    return corners + [x | top for x in corners if x or fmt.specials is not Specials.NEGATIVE_ZERO_NAN]
