"""Compiled kernels against exact Python integers, on one unit of every arithmetic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.concrete import Concrete
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.semantics.chain import circuit, scale_count
from tcformal.simulation.compiled import dot_rows, gemm
from tcformal.simulation.kernels.gemm import MatrixWords, Prepared
from tcformal.simulation.kernels.threads import Work
from tcformal.simulation.operands.batch import FAMILIES, Raw, batch, element_at, one_operand
from tcformal.simulation.operands.witness import explain_command, in_hex

#: Rows of A and columns of B in one piece of work: as many of each family, every family meeting every other.
ROWS, COLUMNS = 36, 48
OUTPUTS = ROWS * COLUMNS
#: Rows or columns that kernels of few take together.
_FEW = 3
#: Every so many-th piece has two calls and one product more, where a result can be the next c.
_LONG = 5


def representatives() -> list[str]:
    """One unit for every arithmetic of the catalogue: designs that differ in formats or shapes share one."""
    found: dict[tuple[object, ...], str] = {}
    for name in distinct_designs():
        u = catalogue()[name]
        emulated = None if u.emulation is None else u.emulation.addition
        found.setdefault((u.design, emulated, u.scale_format, u.scale_block), name)
    return list(found.values())


def operands(
    spec: UnitSpec, k: int, seed: int, rows: int = ROWS, columns: int = COLUMNS, *, finite: bool = False
) -> MatrixWords:
    """A matrix product whose rows and columns come from all families, in equal parts.

    With `finite` no operand of A and B, and no scale, is NaN or Inf: 1 stands for those.
    """
    left, right = batch(spec, k, rows, seed), batch(spec, k, columns, seed + 1)
    rng = np.random.default_rng([seed, 2])
    size = -(-rows * columns // len(FAMILIES))
    c = np.concatenate([one_operand(rng, spec.c_format, (size,), family) for family in FAMILIES])
    c = rng.permutation(c)[: rows * columns].reshape(rows, columns)

    def stored(words: Raw, fmt: Format) -> Raw:
        kept = np.where(_special(words, fmt), fmt.one, words) if finite else words
        return kept.astype(f"u{fmt.storage_bits // 8}")

    scale_a = scale_b = None
    if spec.scale_format is not None and left.scale_a is not None and right.scale_b is not None:
        scale_a = stored(left.scale_a, spec.scale_format)
        scale_b = stored(right.scale_b.T, spec.scale_format)
    c = c.astype(f"u{spec.c_format.storage_bits // 8}")
    return MatrixWords(stored(left.a, spec.a_format), stored(right.b.T, spec.b_format), c, scale_a, scale_b)


def _special(words: Raw, fmt: Format) -> NDArray[np.bool_]:
    """Where an encoding is NaN or Inf."""
    wide = words.astype(np.uint64)
    if fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        return np.asarray(wide == np.uint64(1 << (fmt.width - 1)))
    size = wide if fmt.sign is Sign.ABSENT else wide & np.uint64((1 << (fmt.width - 1)) - 1)
    low = np.uint64(fmt.ignored_low_bits)
    return np.asarray(size >> low > np.uint64(fmt.largest) >> low)


def by_integers(spec: UnitSpec, x: MatrixWords) -> Raw:
    """D = A·B + C on exact Python integers, element by element, K filled up with zeros and scales of 1."""
    graph, root = circuit(spec, spec.k)
    exact = Concrete(graph, [root], singly=0)
    m, k, n = x.shape
    calls = -(-k // spec.k)
    count = scale_count(spec, spec.k)

    def inputs(words: Raw | None, name: str, each: int, fill: int) -> list[list[dict[str, int]]]:
        """The inputs of every row and call."""
        made: list[list[dict[str, int]]] = []
        for row in [] if words is None else words.tolist():
            row += [fill] * (calls * each - len(row))
            made.append(
                [{f"{name}[{i}]": row[call * each + i] for i in range(each)} for call in range(calls)]
            )
        return made

    one = 0 if spec.scale_format is None else spec.scale_format.one
    left, right = inputs(x.a, "a", spec.k, 0), inputs(x.b.T, "b", spec.k, 0)
    for side, scale, name in ((left, x.scale_a, "scale_a"), (right, _turned(x.scale_b), "scale_b")):
        for row, more in zip(side, inputs(scale, name, count, one), strict=False):
            for given, extra in zip(row, more, strict=True):
                given |= extra
    d = np.zeros((m, n), np.uint64)
    for i in range(m):
        for j in range(n):
            c = 0 if x.c is None else int(x.c[i, j])
            for call in range(calls):
                c = exact({**left[i][call], **right[j][call], "c": c})[0]
            d[i, j] = c
    return d


def _turned(words: Raw | None) -> Raw | None:
    return None if words is None else words.T


def judge(name: str, seed: int) -> tuple[int, int, list[str]]:
    """(mismatches, specials, examples) on OUTPUTS elements of a unit's products by its kernels."""
    spec = resolve(name)
    chained = spec.c_format == spec.d_format
    k = 2 * spec.k + 1 if chained and seed % _LONG == 0 else spec.k
    # Among all families nearly every long dot product has a NaN or Inf: every other two pieces have none.
    x = operands(spec, k, seed, finite=seed // 2 % 2 == 1)
    # B's columns and A's rows are the lanes in turn.
    with Work(1, progress=False) as work:
        d = gemm(spec, "ab"[seed % 2]).multiply(x, work).astype(np.uint64)
    wanted = by_integers(spec, x)
    few = _by_other_kernels(spec, x, seed)
    # Of an element that two kernels give, the one that is wrong is told.
    d = np.where(few == wanted, d, few)
    wrong = np.argwhere(d != wanted)
    examples = [_example(name, x, i, j, int(d[i, j]), int(wanted[i, j])) for i, j in wrong[:3]]
    specials = int(spec.d_format.is_special(wanted).sum())
    return len(wrong), specials, examples


def _by_other_kernels(spec: UnitSpec, x: MatrixWords, seed: int) -> Raw:
    """The same elements by the kernels of few rows, or of few columns, and by those of dot products."""
    side = "ab"[seed % 2]
    m, k, n = x.shape
    d = np.empty((m, n), np.uint64)
    a, b = (np.asfortranarray(x.a), np.asfortranarray(x.b)) if seed // 2 % 2 else (x.a, x.b)
    scale_a, scale_b, c = x.scale_a, x.scale_b, x.c
    with Work(1, progress=False) as work:
        for i in range(0, m if side == "a" else n, _FEW):
            few = slice(i, i + _FEW)
            rows, columns = (few, slice(None)) if side == "a" else (slice(None), few)
            part = MatrixWords(
                a[rows], b[:, columns], None if c is None else c[rows, columns],
                None if scale_a is None else scale_a[rows], None if scale_b is None else scale_b[:, columns],
                Prepared(gemm(spec, "a"), b, scale_b, work) if side == "a" and seed // 4 % 2 else None,
            )  # fmt: skip
            d[rows, columns] = gemm(spec, side).multiply(part, work)
    if not k % spec.k:
        # The first elements of all rows, and of all columns, row by row.
        pairs = np.array([(i, 0) for i in range(m)] + [(0, j) for j in range(n)])
        first, second = pairs.T
        starts = np.zeros(len(pairs), x.a.dtype) if c is None else c[first, second]
        scales = () if scale_a is None or scale_b is None else (scale_a[first], scale_b.T[second])
        d[first, second] = dot_rows(spec)(x.a[first], x.b.T[second], starts, *scales)
    return d


def _example(name: str, x: MatrixWords, i: int, j: int, found: int, wanted: int) -> str:
    spec = resolve(name)
    k = -(-x.a.shape[1] // spec.k) * spec.k
    command = explain_command([name], element_at(spec, x, i, j, k), in_hex(spec))
    return f"{command}  # {found:#x} {wanted:#x}"
