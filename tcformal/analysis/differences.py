"""Differences of two units on the same matrices: their sizes, and where the first one arises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.embedding import factors_of, operands_of, words_in
from tcformal.analysis.samples import in_units, values_of
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.programs.functions import holds
from tcformal.semantics.chain import common_k
from tcformal.shown import Shown, short
from tcformal.simulation import arrays
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.simulation.operands.batch import Raw, element_at, numbers
from tcformal.simulation.operands.witness import Witness, explain_command, in_hex

Indices = NDArray[np.intp]


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
    Ranges and units: `steps` [M, N] counts the values of D's format, or of one that holds those of both, from
    one result to the other: 1 is one unit in the last place; 0 where the results are equal, both NaN, or
    zeros of either sign; -1 where one is NaN or Inf and the other is not that.  `relative` [M, N] is the
    distance of the results in units of u·(|A||B| + |C|), u = 2^-p of D's format: what cancellation does not
    enlarge; NaN where `steps` is -1.

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
    #: Where the results differ.
    parted: NDArray[np.bool_]

    def _summary(self) -> str:
        names = " and ".join(short(u.shown) for u in self.units)
        return f"Differences {names}: {self.count} of {self.steps.size} elements, ≤ {self.largest} ulps"

    @property
    def count(self) -> int:
        """The number of elements with different encodings, or numbers where the formats are not one."""
        return int(self.parted.sum())

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
    Ranges and units: arrays are in the formats of one unit, and another one's words are the same numbers,
    block scales included; results in unlike formats are compared as numbers.  The first difference is sought
    in the order of k, in stretches that are whole calls of both units, among the elements whose final results
    differ; the first of them by rows.
    Zero, NaN, Inf: encodings are compared, so a +0 and a -0 differ, and so do two words for NaN.
    Errors: InputError for operands that do not fit, for a number that one of the units lacks, or for units
    without a common k.
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
    multiply = partial(Unit.matmul, threads=threads, progress=progress)
    step, common = common_k(*specs), _common(*(u.d_format for u in specs))
    x = operands_of(specs, a, b, c, scale_a, scale_b)
    results = [multiply(Unit(u), *_values(u, y)) for u, y in zip(specs, x, strict=True)]
    raw = [_words(u, d, common) for u, d in zip(specs, results, strict=True)]
    steps = ulp_distance(common, raw[0], raw[1])
    parted = _differ(common, raw, alike=specs[0].d_format == specs[1].d_format)
    found = _first(specs, x, step, parted, common, multiply) if parted.any() else None
    relative = _relative(specs[0], x[0], common, steps, raw)
    return Differences(specs, (results[0], results[1]), steps, relative, found, parted)


def _common(first: Format, second: Format) -> Format:
    """The narrowest format that holds the results of both units."""
    names = (first.name, second.name, "fp32", "fp64")
    found = [f for f in map(format_named, names) if holds(f, first) and holds(f, second)]
    return found[0]


def _words(u: UnitSpec, d: NDArray[Any], common: Format) -> Raw:
    """Results of a unit as words of a format that holds them."""
    words = arrays.to_raw("D", d, u.d_format)
    return words if u.d_format == common else words_in(common, values_of(words, u.d_format))[0]


def _relative(
    u: UnitSpec, x: MatrixWords, d: Format, steps: NDArray[np.int64], raw: list[Raw]
) -> NDArray[np.float64]:
    """Differences of results in units of u·(|A||B| + |C|), in binary64; scales belong to the elements."""
    a, b = factors_of(u, x)
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = np.abs(a) @ np.abs(b)
        if x.c is not None:
            sizes = sizes + np.abs(values_of(x.c, u.c_format))
        first, second = (values_of(w, d) for w in raw)
        distances = in_units(d, np.where(steps == 0, 0.0, np.abs(first - second)), sizes)
    return np.asarray(np.where(steps < 0, np.nan, distances), np.float64)


def _differ(d: Format, raw: Sequence[Raw], *, alike: bool) -> NDArray[np.bool_]:
    """Where words differ; of formats that are not alike a NaN is any other."""
    words = [x.astype(np.uint64) for x in raw]
    other = words[0] != words[1]
    return np.asarray(other if alike else other & ~(d.is_nan(words[0]) & d.is_nan(words[1])), np.bool_)


def ulp_distance(fmt: Format, first: Raw, second: Raw) -> NDArray[np.int64]:
    """The ulp distance between encodings: values of the format in between; -1 if one is special and they
    differ."""
    if fmt.integer:
        return np.asarray(np.abs(numbers(fmt, first, np.int64) - numbers(fmt, second, np.int64)))
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
    x: tuple[MatrixWords, MatrixWords],
    step: int,
    parted: NDArray[np.bool_],
    common: Format,
    multiply: Callable[..., NDArray[Any]],
) -> FirstDifference:
    """The first divergence: both units run call by call until an element of `parted` differs."""
    rows = np.flatnonzero(parted.any(axis=1))
    columns = np.flatnonzero(parted.any(axis=0))
    wanted = parted[np.ix_(rows, columns)]
    alike = specs[0].d_format == specs[1].d_format
    c = [None if y.c is None else y.c[np.ix_(rows, columns)] for y in x]
    k = x[0].a.shape[1]
    for start in range(0, k, step):
        stop = min(start + step, k)
        given = [_stretch(u, y, rows, columns, slice(start, stop), z)
                 for u, y, z in zip(specs, x, c, strict=True)]  # fmt: skip
        d = [multiply(Unit(u), *_values(u, y)) for u, y in zip(specs, given, strict=True)]
        parts = _differ(common, [_words(u, z, common) for u, z in zip(specs, d, strict=True)], alike=alike)
        raw = [arrays.to_raw("D", z, u.d_format) for u, z in zip(specs, d, strict=True)]
        places = np.argwhere(parts & wanted)
        if places.size:
            i, j = (int(v) for v in places[0])
            w = element_at(specs[0], given[0], i, j, step)
            shown = specs if specs[0].input_formats() == specs[1].input_formats() else specs[:1]
            command = explain_command([u.name for u in shown], w, in_hex(specs[0]))
            ends = int(raw[0][i, j]), int(raw[1][i, j])
            return FirstDifference(int(rows[i]), int(columns[j]), start, stop, w, ends, command)
        # What did not part yet has one running result; the others are not asked for any more.
        wanted &= ~parts
        c = list(raw)
    raise InputError("expected results that part on the way, but the running results never differ")


def _stretch(
    u: UnitSpec, x: MatrixWords, rows: Indices, columns: Indices, k: slice, c: Raw | None
) -> MatrixWords:
    """Some rows and columns of a product, a stretch of its k, and the c that it has reached."""
    block = u.scale_block or 1
    scales = slice(k.start // block, -(-k.stop // block))
    scale_a = None if x.scale_a is None else x.scale_a[rows, scales]
    scale_b = None if x.scale_b is None else x.scale_b[scales, columns]
    return MatrixWords(x.a[rows, k], x.b[k, columns], c, scale_a, scale_b)


def _values(u: UnitSpec, x: MatrixWords) -> list[Any]:
    """Raw operands as arrays with the unit's dtypes."""
    formats = u.a_format, u.b_format, u.c_format, u.scale_format, u.scale_format
    words = x.a, x.b, x.c, x.scale_a, x.scale_b
    return [
        None if w is None or f is None else arrays.from_raw(w, f) for w, f in zip(words, formats, strict=True)
    ]
