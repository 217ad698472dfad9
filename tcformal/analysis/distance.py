"""The distance of two units: bounds on it, and intervals for products; apart from the command on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.bounds.accuracy import accuracy
from tcformal.analysis.bounds.attained import words_text
from tcformal.analysis.bounds.proved import CallBound, CallBounds
from tcformal.analysis.embedding import embedded, factors_of, ones, operands_of, words_in
from tcformal.analysis.samples import difference, values_of
from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_int
from tcformal.design.integer_sums import check_floating
from tcformal.design.unit import UnitSpec, product_signs
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, InvariantError
from tcformal.oracle.numerals import bounds_text, lowest_bit
from tcformal.oracle.values import NumberClass, decode, encoded
from tcformal.programs.functions import holds
from tcformal.semantics.chain import check_built, scale_count
from tcformal.shown import Shown, short
from tcformal.simulation import compiled
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.matrix_unit import Unit, padded_witness, spec_of
from tcformal.simulation.operands.batch import Raw, element_at
from tcformal.simulation.operands.witness import Witness, scale_ones
from tcformal.simulation.replay import results_of
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import LETTERS, NO_C, StatedSum, sum_of

#: Sums of |A||B| are computed in binary64, whose rounding errors this share of them covers, for each k.
ROUNDED = 2.0**-52
Reals = NDArray[np.float64]


class SummedOperands(NamedTuple):
    """The operands of the exact sums A·B + C, with flushed operands as 0 and subtracted products negated.

    Shapes: a [M, K], b [K, N], c [M, N].
    """

    a: Reals
    b: Reals
    c: Reals


class MatrixOperands:
    """The facts about matrices that error bounds of units need.

    Shapes: sizes, raised [M, N]: Σ|x_k·y_k|, and the same with every factor that is not zero at least the
    least normal number, rounded up; last, raised_last [M, N]: |c|, likewise; usable [M, N].
    Ranges and units: all products and c are multiples of 2^grid.
    """

    def __init__(self, u: UnitSpec, x: MatrixWords) -> None:
        self.products = x.a.shape[1]
        p, q = values_of(x.a, u.a_format), values_of(x.b, u.b_format)
        shape = (len(p), q.shape[1])
        z = np.zeros(shape) if x.c is None else np.broadcast_to(values_of(x.c, u.c_format), shape)
        self.zero_c = not z.any()
        rows, columns = np.isfinite(p).all(1), np.isfinite(q).all(0)
        finite = np.outer(rows, columns) & np.isfinite(z)
        self.values = SummedOperands(*(np.where(np.isfinite(v), v, 0) for v in (p, q, z)))
        grown = 1 + (self.products + 8) * ROUNDED
        a, b, self.last = map(np.abs, self.values)
        self.sizes = (a @ b) * grown
        self.least = [2.0**f.e_min for f in (u.a_format, u.b_format, u.c_format)]
        high = [
            np.where(v > 0, np.maximum(v, e), 0) for v, e in zip((a, b, self.last), self.least, strict=True)
        ]
        self.raised, self.raised_last = (high[0] @ high[1]) * grown, high[2]
        self.usable = finite & np.isfinite(self.raised)
        self.grid = min(_grid(a) + _grid(b), _grid(self.last))

    def inside(self, stated: StatedSum) -> NDArray[np.bool_]:
        """The elements that a theorem covers: operands are zero or normal, c has few enough bits."""
        rows = zip("abc", self.values, self.least, strict=True)
        a, b, c = ((v == 0) | (np.abs(v) >= e) | (x not in stated.normal) for x, v, e in rows)
        covered = np.outer(a.all(1), b.all(0)) & c
        if stated.c_bits is not None:
            scaled = np.ldexp(np.frexp(self.values.c)[0], stated.c_bits + 1)
            covered &= scaled == np.trunc(scaled)
        return np.asarray(covered)

    def summed(self, flushed: frozenset[str], u: UnitSpec) -> SummedOperands:
        """The operands of a unit's exact sum; those given if the unit flushes none."""
        signs = np.array(product_signs(u, self.products), float)
        rows = zip("abc", self.values, self.least, strict=True)
        small = [(v != 0) & (np.abs(v) < e) & (x in flushed) for x, v, e in rows]
        if not any(x.any() for x in small) and (signs > 0).all():
            return self.values
        a, b, c = (np.where(x, 0, v) for x, v in zip(small, self.values, strict=True))
        return SummedOperands(a, b * signs[:, None], c)


def apart_sums(given: MatrixOperands, first: SummedOperands, second: SummedOperands) -> tuple[Reals, Reals]:
    """The difference of two exact sums, second minus first, with a bound on its own rounding error."""
    if first is second:
        nothing = np.zeros(given.sizes.shape)
        return nothing, nothing
    difference = (second.a @ second.b - first.a @ first.b) + (second.c - first.c)
    # Of either sum of products, of both differences, and of their sum.
    return difference, (given.sizes + given.last) * 2 * (given.products + 8) * ROUNDED


def _grid(values: Reals) -> int:
    """The exponent e of the largest 2^e that divides all numbers; a large one for zeros."""
    magnitudes = np.unique(values[values > 0])
    if not magnitudes.size:
        return 1 << 12
    fraction, exponent = np.frexp(magnitudes)
    whole = (fraction * 2.0**53).astype(np.int64)
    low = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return int((exponent - 53 + low).min())


#: Most products of a dot product whose largest distance is sought.
LONGEST = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances(Shown):
    """An interval for the second unit's result minus the first's, element by element.

    Shapes: low, high, covered [M, N].
    Ranges and units: low <= D2 - D1 <= high wherever `covered`; elsewhere -inf and inf.  `constants`: what
    both units lose of Σ|x_k·y_k| and of |c| at most where operands are normal.

    Examples:
        >>> a, b = np.ones((1, 16), np.float16), np.ones((16, 2), np.float16)
        >>> tcformal.distances("a100:fp16", "h100:fp16", a, b).covered
        array([[ True,  True]])
    """

    units: tuple[UnitSpec, UnitSpec]
    low: Reals
    high: Reals
    covered: NDArray[np.bool_]
    constants: tuple[CallBound, CallBound]
    theorems: tuple[Instance, ...] = ()

    def _summary(self) -> str:
        first, second = (short(u.shown) for u in self.units)
        return f"Distances {second} − {first}, {self.covered.sum()} of {self.covered.size} elements covered"


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestDistance(Shown):
    """Bounds on sup |fl1 - fl2| / Σ|x_k·y_k| for two units and a length, with c = 0.

    Ranges and units: `bound`: the sum of what both lose, for normal operands without underflow and overflow;
    `attained`: what the inputs give, replayed on integers and on exact fractions.

    Examples:
        >>> far = tcformal.largest_distance("a100:fp16", "h100:fp16")
        >>> float(far.attained * 2**24)  # in units of 2^-24·Σ|x·y|
        7.999991893784255
    """

    units: tuple[UnitSpec, UnitSpec]
    length: int
    bound: Fraction
    attained: Fraction
    inputs: Witness
    results: tuple[int, int]
    theorems: tuple[Instance, ...] = ()
    #: Whether one unit takes away products that the other adds: twice as much of these is in the bound.
    other_signs: bool = False
    #: The same inputs as the second unit's words.
    inputs_of_second: Witness | None = None

    def _summary(self) -> str:
        names = " − ".join(short(u.shown, 32) for u in self.units)
        known = bounds_text(self.bound, self.attained)
        return f"LargestDistance {names}, {self.length} products: {known}"

    def __post_init__(self) -> None:
        if self.attained > self.bound:
            names = " and ".join(u.name for u in self.units)
            raise InvariantError(
                f"expected results of {names} at most {float(self.bound):.7g}·Σ|x_k·y_k| apart, as is "
                f"proved, but replayed ones are {float(self.attained):.7g} apart: a = "
                f"{words_text(self.inputs.a)}, b = {words_text(self.inputs.b)}"
            )


def distances(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    exact: bool = False,
) -> Distances:
    """An interval for D2 - D1 of two units on given matrices, element by element, without computing D2.

    Shapes: A [M, K], B [K, N], C [M, N] or None (zeros), as for `Unit.matmul`, in the formats of one unit.
    Ranges and units: from theorems of both units: each result lies within own·(|A||B|) + other·|C| of the
    exact sum that its unit's theorem is about, subnormal operands counted as the least normal number; what
    one unit takes for 0 or takes away, and the other one not, is what these sums differ by.  `exact`: compute
    D1 and its exact error, so that only the second unit's theorem counts: narrower, but every element takes
    an exact sum.
    Zero, NaN, Inf: elements of rows or columns with NaN or Inf, or that may overflow or underflow, are not
    covered.
    Errors: InputError for operands that do not fit, for a number that one of the units lacks, for units with
    scales, and where there is no theorem; those of `Unit.matmul`; with `exact`, InvariantError for an element
    of D1 whose error is larger than the first unit's theorem has it.
    Source: theorems about relative errors, and `error_in_exponents` for subnormal operands.

    Examples:
        >>> a, b = np.ones((1, 16), np.float16), np.ones((16, 2), np.float16)
        >>> near = tcformal.distances("a100:fp16", "h100:fp16", a, b)
        >>> near
        <Distances h100:fp16 − a100:fp16, 2 of 2 elements covered>
        >>> near.high
        array([[2.47955363e-05, 2.47955363e-05]])
    """
    units = spec_of(first), spec_of(second)
    for u in units:
        check_floating(u, "distances")
        if u.scale_format is not None:
            raise InputError(f"expected two units without scales, but got {u.name}")
    x = operands_of(units, a, b, c, None, None)
    known = CallBounds()
    given = [MatrixOperands(u, y) for u, y in zip(units, x, strict=True)]
    given[1].values = given[0].values  # the same numbers, in other formats
    sides = [_side(known, u, s) for u, s in zip(units, given, strict=True)]
    covered = sides[0].covered & sides[1].covered
    summed = [s.summed(side.normal.sum.flushed, u) for s, side, u in zip(given, sides, units, strict=True)]
    # What the second unit's exact sum is more than the first one's.
    more, margin = apart_sums(given[0], *summed)
    both = sides[0].error + sides[1].error
    low, high = _outward(more - both, margin, -1), _outward(more + both, margin, 1)
    if exact:
        model = Unit(units[0])
        d1 = values_of(compiled.multiply_words(model.spec, x[0], None, False, None), model.d_format)
        lost = _lost(model, d1, summed[0], covered)
        _check(units[0], lost, sides[0].error, x[0])
        if summed[1] is not summed[0]:
            lost = _lost(model, d1, summed[1], covered)
        # The difference is rounded once.
        margin = np.abs(lost) * ROUNDED
        low = np.maximum(low, _outward(-sides[1].error - lost, margin, -1))
        high = np.minimum(high, _outward(sides[1].error - lost, margin, 1))
    return Distances(
        units=units, low=np.where(covered, low, -np.inf), high=np.where(covered, high, np.inf),
        covered=covered, constants=(sides[0].normal, sides[1].normal), theorems=known.theorems,
    )  # fmt: skip


def largest_distance(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    *,
    length: int | None = None,
    progress: Progress = ignore,
) -> LargestDistance:
    """Bound sup |fl1 - fl2| / Σ|x_k·y_k| of two units, and find inputs that come near.

    Shapes: `length` products from 1 to 4096, by default those of the longer call.
    Ranges and units: operands are normal or zero, and numbers that both units hold: a factor of a unit with
    block scales is its element times the scale.  c is 0, and results are compared as numbers.  Products that
    one unit takes away and the other one adds are in the bound twice.
    Zero, NaN, Inf: no result overflows.
    Errors: InputError for a length out of range, or of more products than circuits are built of, and where
    there is no theorem.
    Source: theorems about relative errors.

    Examples:
        >>> tcformal.largest_distance("a100:fp16", "h100:fp16").length
        16
    """
    units = spec_of(first), spec_of(second)
    for u in units:
        check_floating(u, "distances")
        check_built(u)
    n = max(u.k for u in units) if length is None else check_int("length", length, low=1, high=LONGEST)
    bounds = CallBounds()
    wanted = [StatedSum(normal=LETTERS, subtracted=sum_of(u).subtracted, c=NO_C) for u in units]
    proved = [bounds.of(u, n, need) for u, need in zip(units, wanted, strict=True)]
    bound = sum((x.own for x in proved), Fraction(0))
    least = max(max(x.least, u.d_format.e_min) for x, u in zip(proved, units, strict=True))
    signs = [product_signs(u, n) for u in units]
    rows = [_Factors([Fraction(1)] * n, [Fraction(1)] * n)]
    if signs[0] != signs[1]:
        bound += 2
        alone = [Fraction(s != t) for s, t in zip(*signs, strict=True)]
        rows = [_Factors(alone, alone)]
    for u in dict.fromkeys(x for pair in (units, units[::-1]) for x in _narrowed(*pair)):
        built = accuracy(u, length=n, subnormals=False, prove=False, progress=progress).attained
        assert built is not None  # of units that circuits are built of
        rows.append(_factors(u, built.calls, n))
    if len({(u.a_format, u.b_format, u.scale_format) for u in units}) > 1:
        rows += _drawn(units, n)
    found = [x for row in rows if (x := _apart(units, row)) is not None]
    # What underflows in one of them is beyond its theorem, and no such row is needed.
    found = [x for x in found if x.ratio <= bound or x.grid >= least]
    best = max(found, key=lambda x: x.ratio)
    return LargestDistance(
        units=units, length=n, bound=bound, attained=best.ratio, inputs=best.inputs[0], results=best.results,
        theorems=bounds.theorems, other_signs=signs[0] != signs[1], inputs_of_second=best.inputs[1],
    )  # fmt: skip


class _Factors(NamedTuple):
    """The exact factors of a row of products, block scales included; the words of the unit they are of."""

    a: Sequence[Fraction]
    b: Sequence[Fraction]
    unit: UnitSpec | None = None
    words: Witness | None = None


class _Apart(NamedTuple):
    """The distance of two units' results on one row, in units of Σ|x_k·y_k|; products are on 2^grid."""

    ratio: Fraction
    grid: int
    inputs: tuple[Witness, Witness]
    results: tuple[int, int]


def _narrowed(u: UnitSpec, other: UnitSpec) -> tuple[UnitSpec, ...]:
    """A unit, and the same arithmetic on another one's operands where its own formats hold these."""
    o, p = u.operands, other.operands
    fits = all(holds(x, y) for x, y in ((o.a, p.a), (o.b, p.b)))
    narrow = replace(u, operands=replace(o, a=p.a, b=p.b)) if fits and u.scale_format is None else u
    return (u,) if narrow.operands == o else (u, narrow)


def _factors(u: UnitSpec, calls: Sequence[tuple[Witness, int]], n: int) -> _Factors:
    """The factors of n products in chained calls."""
    a, b, of_a, of_b = (
        tuple(word for w, times in calls for word in getattr(w, name) * times)
        for name in ("a", "b", "scale_a", "scale_b")
    )
    count = scale_count(u, n)
    w = Witness(a[:n], b[:n], 0, of_a[:count], of_b[:count])
    sides = []
    for fmt, words, scales in ((u.a_format, w.a, w.scale_a), (u.b_format, w.b, w.scale_b)):
        values = [decode(fmt, x).number for x in words]
        if u.scale_format is not None and u.scale_block is not None:
            by = [decode(u.scale_format, x).number for x in scales]
            values = [x * by[i // u.scale_block] for i, x in enumerate(values)]
        sides.append(values)
    return _Factors(sides[0], sides[1], u, w)


#: Rows of A and columns of B of one random product, and such products.
_SIDE, _ROUNDS = 64, 6


def _drawn(units: tuple[UnitSpec, UnitSpec], n: int) -> list[_Factors]:
    """The rows of random products on which both units are farthest apart, one of each product.

    Ranges and units: words that both units have as normal numbers or zeros, with exponents in ever narrower
    ranges; scales of blocks likewise.
    """
    u, other = sorted(units, key=lambda x: (x.scale_format is None, x.a_format.width))
    rng, rows = np.random.default_rng(n), list[_Factors]()
    for i in range(_ROUNDS):
        a, b = (
            _words_of(rng, fmt, held_by, shape, i)
            for fmt, held_by, shape in (
                (u.a_format, other.a_format, (_SIDE, n)), (u.b_format, other.b_format, (n, _SIDE))
            )
        )  # fmt: skip
        of_a, of_b = ones(u, _SIDE, n, _SIDE)
        if u.scale_format is not None and other.scale_format is None:
            drawn_a, drawn_b = (
                _words_of(rng, u.scale_format, u.scale_format, x.shape, i) for x in (of_a, of_b)
            )
            scaled = factors_of(u, MatrixWords(a, b, None, drawn_a, drawn_b))
            fmts = other.a_format, other.b_format
            if all(words_in(fmt, x)[1].all() for fmt, x in zip(fmts, scaled, strict=True)):
                of_a, of_b = drawn_a, drawn_b
        x = MatrixWords(a, b, None, of_a, of_b)
        first, second = factors_of(u, x)
        y = embedded(u, x, other)
        d = [
            values_of(compiled.multiply_words(v, z, None, False, None), v.d_format)
            for v, z in ((u, x), (other, y))
        ]
        with np.errstate(all="ignore"):
            far = np.nan_to_num(np.abs(d[0] - d[1]) / (np.abs(first) @ np.abs(second)), posinf=0, neginf=0)
        row, column = np.unravel_index(int(far.argmax()), far.shape)
        w = element_at(u, x, int(row), int(column), n)
        rows.append(_factors(u, [(w, 1)], n))
    return rows


def _words_of(rng: np.random.Generator, fmt: Format, held_by: Format, shape: tuple[int, ...], i: int) -> Raw:
    """Random words that are normal, or zero, in two formats, of 2^(6 - i) binades in round i."""
    words = rng.integers(0, 1 << fmt.width, shape, dtype=np.uint64).astype(f"u{fmt.storage_bits // 8}")
    with np.errstate(invalid="ignore"):  # a signalling NaN
        values = np.abs(values_of(words, fmt))
    exponents = np.frexp(values)[1] - 1
    middle = int(np.clip(0, fmt.e_min + (2 << (_ROUNDS - i)) // 2, fmt.e_max))
    least = max(fmt.e_min, held_by.e_min, middle - (1 << (_ROUNDS - i)))
    usual = np.isfinite(values) & (exponents >= least) & (exponents <= middle)
    usual &= words_in(held_by, values)[1] if held_by is not fmt else True
    fill = fmt.one if not fmt.has_zero or fmt.sign_bit == 0 else 0
    return np.where(usual, words, words.dtype.type(fill))


def _apart(units: tuple[UnitSpec, UnitSpec], x: _Factors) -> _Apart | None:
    """The distance of both units' results on one row; None where one lacks a factor, or overflows."""
    rows = [x.words if u == x.unit and x.words is not None else _held(u, x) for u in units]
    whole = [None if w is None else padded_witness(u, w) for u, w in zip(units, rows, strict=True)]
    if whole[0] is None or whole[1] is None:
        return None
    inputs = whole[0], whole[1]
    results = results_of(units[0], inputs[0]), results_of(units[1], inputs[1])
    numbers = [decode(u.d_format, r) for u, r in zip(units, results, strict=True)]
    if any(v.kind is not NumberClass.FINITE for v in numbers):
        return None
    products = [p * q for p, q in zip(x.a, x.b, strict=True) if p * q]
    size, far = sum(map(abs, products)), abs(numbers[0].number - numbers[1].number)
    grid = min((lowest_bit(p) for p in products), default=0)
    return _Apart(far / size if size else Fraction(0), grid, inputs, results)


def _held(u: UnitSpec, x: _Factors) -> Witness | None:
    """Factors as words of a unit, with scales of one; None for one that is not zero or normal there."""
    rows = []
    for fmt, values in ((u.a_format, x.a), (u.b_format, x.b)):
        words = [encoded(fmt, v) for v in values]
        if any(
            w is None or (v and abs(v) < Fraction(2) ** fmt.e_min) for w, v in zip(words, values, strict=True)
        ):
            return None
        rows.append(tuple(w for w in words if w is not None))
    scales = scale_ones(u, len(rows[0]))
    return Witness(rows[0], rows[1], 0, scales, scales)


@dataclass(frozen=True, slots=True)
class _UnitErrors:
    """One unit's error bounds [M, N], their coverage, and its constants for normal operands."""

    error: Reals
    covered: NDArray[np.bool_]
    normal: CallBound


def _side(known: CallBounds, u: UnitSpec, s: MatrixOperands) -> _UnitErrors:
    needed = StatedSum(
        flushed=LETTERS, normal=LETTERS, subtracted=sum_of(u).subtracted, c=NO_C if s.zero_c else "joined",
        c_bits=0,
    )  # fmt: skip
    normal = known.of(u, s.products, needed)
    inside = s.inside(normal.sum)
    error, covered = _error(normal, s.sizes, s.last), inside & (s.grid >= max(normal.least, u.d_format.e_min))
    if not inside.all():
        other = known.of(u, s.products, replace(needed, normal=frozenset(), c_bits=None))
        if other.sum.flushed != normal.sum.flushed:
            raise InputError(f"expected one sum that theorems about {u.name} are about, but they differ")
        error = np.where(inside, error, _error(other, s.raised, s.raised_last))
        covered = covered | (~inside & (s.grid >= max(other.least, u.d_format.e_min)))
    top = float(decode(u.d_format, u.d_format.largest).number)
    fits = 2 * (s.raised + s.raised_last + error) < top
    return _UnitErrors(error, covered & s.usable & fits, normal)


def _error(x: CallBound, sizes: Reals, last: Reals) -> Reals:
    """The error bound own·Σ|x_k·y_k| + other·|c|, rounded up."""
    up = 1 + 8 * ROUNDED
    return np.asarray((float(x.own) * up * sizes + float(x.other) * up * last) * up)


def _outward(end: Reals, margin: Reals, way: int) -> Reals:
    """An interval end, moved outwards by a margin and by its own rounding error."""
    return np.asarray(end + way * (margin + np.abs(end) * 2 * ROUNDED))


def _lost(u: Unit, d: Reals, s: SummedOperands, where: NDArray[np.bool_]) -> Reals:
    """The error d - exact sum of the selected elements, each rounded once; 0 elsewhere."""
    errors = np.zeros(d.shape)
    for i, j in np.argwhere(where):
        row, column = np.append(s.a[i], s.c[i, j]), np.append(s.b[:, j], 1.0)
        errors[i, j] = difference(u, float(d[i, j]), row, column)
    return errors


def _check(u: UnitSpec, lost: Reals, error: Reals, x: MatrixWords) -> None:
    """Raise InvariantError for an element whose error exceeds the proved bound."""
    for i, j in np.argwhere(np.abs(lost) * (1 - ROUNDED) > error)[:1]:
        a, b = (words_text([int(word) for word in row]) for row in (x.a[i], x.b[:, j]))
        c = 0 if x.c is None else int(x.c[i, j])
        raise InvariantError(
            f"expected element ({i}, {j}) of {u.name} at most {error[i, j]:.7g} away from its exact sum, as "
            f"is proved, but it is {abs(lost[i, j]):.7g} away: a = {a}, b = {b}, c = {c:#x}"
        )
