"""Differences of two units on the same matrices: their sizes, and where the first one arises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import in_units, values_of
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.programs.chain import common_k
from tcformal.shown import Shown, short
from tcformal.simulation import arrays
from tcformal.simulation.integers import numbers
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.simulation.operands.batch import Raw, element_at
from tcformal.simulation.operands.witness import Witness, explain_command, in_hex


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The element whose partial results diverge first, with the operands of the diverging call.

    Ranges and units: the results agree for all k below `start` and differ after `stop`; `witness` holds
    the operands of that stretch, with the c that both units had reached, filled up with zeros.
    """

    row: int
    column: int
    start: int
    stop: int
    witness: Witness
    #: Raw encodings of both results after `stop`.
    results: tuple[int, int]
    #: Shows both units on the witness, bit by bit.
    command: str


@dataclass(frozen=True, slots=True)
class Differences(Shown):
    """Two units' results for the same matrix product.

    Shapes: results: both D [M, N].
    Ranges and units: `steps` [M, N] counts the values of D's format from one result to the other: 1 is
    one unit in the last place; 0 where the results are equal, both NaN, or zeros of either sign;
    -1 where one is NaN or Inf and the other is not that.  `relative` [M, N] is the distance of the results in
    units of u·(|A||B| + |C|), u = 2^-p of D's format: what cancellation does not enlarge; NaN where `steps`
    is -1.

    Examples:
        >>> a, b = np.eye(2, 16, dtype=np.float16), np.eye(16, 2, dtype=np.float16)
        >>> c = np.full((2, 2), -(2.0**-25))
        >>> tcformal.differences("a100:fp16", "h100:fp16", a, b, c.astype(np.float32)).steps
        array([[1, 0],
               [0, 1]])
    """

    units: tuple[UnitSpec, UnitSpec]
    results: tuple[Raw, Raw]
    steps: NDArray[np.int64]
    relative: NDArray[np.float64]
    first: FirstDifference | None

    def _summary(self) -> str:
        names = " and ".join(short(u.shown) for u in self.units)
        return f"Differences {names}: {self.count} of {self.steps.size} elements, ≤ {self.largest} ulps"

    @property
    def count(self) -> int:
        """The number of elements with different encodings."""
        return int(_differ(*self.results).sum())

    @property
    def largest(self) -> int:
        """The largest ulp distance between finite results."""
        return max(0, int(self.steps.max()))


def differences(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    a: Any,
    b: Any,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    *,
    threads: int | None = None,
    progress: bool | None = None,
) -> Differences:
    """Compute D = A·B + C on two units, and report the differences and the first divergence.

    Shapes: as for `Unit.matmul`.
    Ranges and units: the first difference is sought in the order of k, in stretches that are whole calls
    of both units, among the elements whose final results differ; the first of them by rows.
    Zero, NaN, Inf: encodings are compared, so a +0 and a -0 differ, and so do two words for NaN.
    Errors: InputError for operands that do not fit, or for units of unlike formats or without a common k.
    Source: the units' own.

    Examples:
        >>> rng = np.random.default_rng(1)
        >>> a, b = (rng.standard_normal(s).astype(np.float16) for s in ((8, 64), (64, 8)))
        >>> found = tcformal.differences("a100:fp16", "h100:fp16", a, b)
        >>> found
        <Differences a100:fp16 and h100:fp16: 40 of 64 elements, ≤ 64 ulps>
        >>> found.first.row, found.first.column, found.first.start
        (0, 1, 0)
    """
    specs = spec_of(first), spec_of(second)
    if len({(s.operands, s.scale_format, s.scale_block) for s in specs}) > 1:
        takes = [", ".join(f.name for f in (o.a, o.b, o.c, o.d)) for o in (s.operands for s in specs)]
        raise InputError(
            f"expected two units of equal formats, but {specs[0].name} takes {takes[0]} "
            f"and {specs[1].name} {takes[1]}"
        )
    multiply = partial(Unit.matmul, threads=threads, progress=progress)
    step = common_k(*specs)
    results = [multiply(Unit(u), a, b, c, scale_a, scale_b) for u in specs]
    x = arrays.product(specs[0], a, b, c, scale_a, scale_b)
    raw = [arrays.to_raw("D", d, specs[0].d_format) for d in results]
    steps = ulp_distance(specs[0].d_format, raw[0], raw[1])
    parted = raw[0] != raw[1]
    found = _first(specs, x, step, parted, multiply) if parted.any() else None
    return Differences(specs, (results[0], results[1]), steps, _relative(specs[0], x, steps, raw), found)


def _relative(u: UnitSpec, x: MatrixWords, steps: NDArray[np.int64], raw: list[Raw]) -> NDArray[np.float64]:
    """Differences of results in units of u·(|A||B| + |C|), in binary64; scales belong to the elements."""
    a, b = (values_of(w, f) for w, f in ((x.a, u.a_format), (x.b, u.b_format)))
    if x.scale_a is not None and x.scale_b is not None and u.scale_format is not None and u.scale_block:
        rows, columns = (values_of(s, u.scale_format) for s in (x.scale_a, x.scale_b))
        a = a * np.repeat(rows, u.scale_block, axis=1)[:, : a.shape[1]]
        b = b * np.repeat(columns, u.scale_block, axis=0)[: b.shape[0]]
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = np.abs(a) @ np.abs(b)
        if x.c is not None:
            sizes = sizes + np.abs(values_of(x.c, u.c_format))
        first, second = (values_of(w, u.d_format) for w in raw)
        distances = in_units(u.d_format, np.where(steps == 0, 0.0, np.abs(first - second)), sizes)
    return np.asarray(np.where(steps < 0, np.nan, distances), np.float64)


def _differ(first: Raw, second: Raw) -> NDArray[np.bool_]:
    return np.asarray(first.view(f"u{first.itemsize}") != second.view(f"u{second.itemsize}"), np.bool_)


def ulp_distance(fmt: Format, first: Raw, second: Raw) -> NDArray[np.int64]:
    """The ulp distance between encodings: values of the format in between; -1 if one is special and they
    differ."""
    if fmt.integer:
        return np.abs(numbers(fmt, first, np.int64) - numbers(fmt, second, np.int64))
    body = np.uint64((1 << (fmt.width - 1)) - 1)
    infinity = np.uint64(fmt.infinity)
    places, kinds = [], []
    for words in (first.astype(np.uint64), second.astype(np.uint64)):
        magnitude = words & body
        negative = words > body
        whole = (magnitude >> np.uint64(fmt.ignored_low_bits)).astype(np.int64)
        places.append(np.where(negative, -whole, whole))
        # 0 finite, 1 and 2 infinities, 3 NaN.
        kinds.append(np.where(magnitude < infinity, 0, np.where(magnitude > infinity, 3, 1 + negative)))
    finite = (kinds[0] == 0) & (kinds[1] == 0)
    apart = np.abs(np.where(finite, places[0] - places[1], 0))
    return np.where(finite | (kinds[0] == kinds[1]), apart, -1)


def _first(
    specs: tuple[UnitSpec, UnitSpec],
    x: MatrixWords,
    step: int,
    parted: NDArray[np.bool_],
    multiply: Callable[..., NDArray[Any]],
) -> FirstDifference:
    """The first divergence: both units run call by call until an element of `parted` differs."""
    u = specs[0]
    rows = np.flatnonzero(parted.any(axis=1))
    columns = np.flatnonzero(parted.any(axis=0))
    block = u.scale_block or 1
    a, b, wanted = x.a[rows], x.b[:, columns], parted[np.ix_(rows, columns)]
    c = None if x.c is None else x.c[np.ix_(rows, columns)]
    k = a.shape[1]
    for start in range(0, k, step):
        stop = min(start + step, k)
        scales = slice(start // block, -(-stop // block))
        scale_a = None if x.scale_a is None else x.scale_a[rows, scales]
        scale_b = None if x.scale_b is None else x.scale_b[scales, columns]
        given = MatrixWords(a[:, start:stop], b[start:stop], c, scale_a, scale_b)
        values = _values(u, given)
        d = [arrays.to_raw("D", multiply(Unit(s), *values), u.d_format) for s in specs]
        places = np.argwhere((d[0] != d[1]) & wanted)
        if places.size:
            i, j = (int(v) for v in places[0])
            w = element_at(u, given, i, j, step)
            command = explain_command([s.name for s in specs], w, in_hex(specs[0]))
            ends = int(d[0][i, j]), int(d[1][i, j])
            return FirstDifference(int(rows[i]), int(columns[j]), start, stop, w, ends, command)
        # What did not part yet has one running result; the others are not asked for any more.
        wanted &= d[0] == d[1]
        c = d[0]
    raise InputError("expected results that part on the way, but the running results never differ")


def _values(u: UnitSpec, x: MatrixWords) -> list[Any]:
    """Raw operands as arrays with the unit's dtypes."""
    formats = u.a_format, u.b_format, u.c_format, u.scale_format, u.scale_format
    words = x.a, x.b, x.c, x.scale_a, x.scale_b
    return [
        None if w is None or f is None else arrays.from_raw(w, f) for w, f in zip(words, formats, strict=True)
    ]
