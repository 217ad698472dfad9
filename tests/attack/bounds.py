"""Bounds of units by length, of programs and of distances, as theorems that inputs can break."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from unittest.mock import patch

import numpy as np

from attack.directed import lossy
from attack.errors import Ratios, ratios
from attack.exact import decoded
from attack.pairs import Call, Words
from attack.statements import Bound, ErrorStatement
from attack.theorems import Theorem
from tcformal.apart.distance import distances
from tcformal.bounds.accuracy import accuracy
from tcformal.bounds.program.calls import CallBounds
from tcformal.bounds.program.steps import StepErrors
from tcformal.bounds.program.words import Range
from tcformal.bounds.theorems import Theorems
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.matmul import arrays
from tcformal.matmul.runnable import program
from tcformal.operands.random import Batch
from tcformal.programs.chain import scale_count
from tcformal.programs.program import known_programs
from tcformal.solve.result import Limits

#: Rows and columns of the products whose distances are looked at.
_SIDE = 8


@contextlib.contextmanager
def claims_hold() -> Iterator[None]:
    """Claims about units hold: their proofs are checked elsewhere, and inputs are tried on them too."""
    with patch.object(Theorems, "holds", lambda self, unit, claim, **_: True):
        yield


@dataclass(frozen=True)
class LengthBound:
    """`accuracy UNIT --length N`: what a chain of calls loses of Σ|x_k·y_k|.

    Ranges and units: `least`: the largest product of a call, or c, is at least 2^least.
    """

    claim: str
    spec: UnitSpec
    statement: ErrorStatement
    least: int
    guided: bool = True

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        """Whole chains, and first calls filled up with zeros."""
        return lossy(rng, self.spec, n, normal=True)

    def allowed(self, x: Batch) -> Batch:
        """c is zero."""
        return replace(x, c=np.zeros_like(x.c))

    def calls(self, x: Batch) -> list[Call]:
        """The chain, up to every call."""
        unit = resolve(self.spec.name)
        ends = range(unit.k, self.spec.k + 1, unit.k)
        scales = () if x.scale_a is None or x.scale_b is None else (x.scale_a, x.scale_b)
        return [
            (unit, Batch(x.a[:, :end], x.b[:, :end], x.c, *(w[:, : scale_count(unit, end)] for w in scales)))
            for end in ends
        ]

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        """Rows without underflow."""
        d, size = self.spec.d_format, resolve(self.spec.name).k
        a, b = decoded(self.spec.a_format, x.a), decoded(self.spec.b_format, x.b)
        exponent = np.where(a.zero | b.zero, -(1 << 20), a.exponent + b.exponent)
        met, before = np.ones(len(x.c), np.bool_), np.full(len(x.c), -(1 << 20))
        for i, words in enumerate(results):
            largest = np.maximum(exponent[:, i * size : (i + 1) * size].max(axis=1), before)
            made = decoded(d, words)
            nothing = largest == -(1 << 20)
            met &= nothing | ((largest >= self.least) & made.finite & ~made.subnormal)
            # A block within a call may have a result that nobody sees: all products far from underflow.
            near = np.where(exponent == -(1 << 20), 1 << 20, exponent).min(axis=1)
            met &= near - a.fraction_bits - b.fraction_bits >= d.e_min - d.fraction_bits * (d.e_min < -100)
            before = np.where(made.zero, -(1 << 20), made.exponent)
        found = ratios(self.spec, self.statement, x, results[-1])
        return Ratios(np.where(met, found.ratio, 0.0), found.met & met, found.broken & met)


def length_bound(name: str, length: int) -> LengthBound | str:
    """The bound of a unit and a length, or the sentence by which there is none."""
    spec = resolve(name)
    found = accuracy(spec, length=length, subnormals=False)
    if found.bound is None:
        return found.proved.reason
    weights = (found.bound, found.bound, Fraction(0))
    s = ErrorStatement(
        Bound({}, weights), Bound({}, weights), False, -(1 << 19), (False,) * 3,
        spec.design.negated == "odd", None, (), True, 0, spec.d_format.fraction_bits, True, None, True,
        False, length,
    )  # fmt: skip
    least = spec.d_format.e_min if found.proved.least is None else found.proved.least
    return LengthBound(f"accuracy --length {length}", replace(spec, k=length), s, least)


@dataclass(frozen=True)
class ProgramBound:
    """`accuracy PROGRAM --length N --exponents=LOW..HIGH`: what a program loses of Σ|a_k·b_k|."""

    claim: str
    spec: UnitSpec
    name: str
    statement: ErrorStatement
    span: tuple[int, int]
    guided: bool = True

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        """Elements in the range of exponents, many at its ends."""
        return lossy(rng, self.spec, n, normal=True)

    def allowed(self, x: Batch) -> Batch:
        """Exponents in the range, c zero."""
        low, high = self.span
        a, b = (_within(f, w, low, high) for f, w in ((self.spec.a_format, x.a), (self.spec.b_format, x.b)))
        return replace(x, a=a, b=b, c=np.zeros_like(x.c))

    def calls(self, x: Batch) -> list[Call]:
        """None of units alone."""
        return []

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        """The program's results against exact sums."""
        d = program(self.name).evaluate(x.a, x.b, x.c)
        found = ratios(self.spec, self.statement, x, d)
        # A result that is no number breaks what is said of all elements in the range.
        lost = ~decoded(self.spec.d_format, d).finite
        return Ratios(np.where(lost, np.inf, found.ratio), found.met | lost, found.broken | lost)


def _within(fmt: Format, words: Words, low: int, high: int) -> Words:
    """Numbers that are zero, or normal with exponents in a range: others come to its nearest end."""
    t = fmt.fraction_bits
    body = words >> np.uint64(fmt.ignored_low_bits)
    mask = np.uint64((1 << fmt.exponent_bits) - 1) << np.uint64(t)
    field = ((body & mask) >> np.uint64(t)).astype(np.int64)
    low, high = max(low, fmt.e_min) + fmt.bias, min(high, fmt.e_max) + fmt.bias
    # Far from the range a number keeps its distance to others as far as there is room.
    span = high - low + 1
    inside = np.where(
        field < low, low + (low - field) % span, np.where(field > high, high - (field - high) % span, field)
    )
    made = (body & ~mask) | (inside.astype(np.uint64) << np.uint64(t))
    zero = body & np.uint64((1 << fmt.exponent_bits + t) - 1) == 0
    return np.where(zero, words, made << np.uint64(fmt.ignored_low_bits))


def program_bound(name: str, length: int, span: tuple[int, int]) -> ProgramBound | str:
    """The bound of a program, or the sentence by which there is none."""
    p = program(name)
    a, b = p.a_format, p.b_format
    low, high = max(span[0], a.e_min, b.e_min), min(span[1], a.e_max, b.e_max)
    known = Theorems(None, Limits(), None, None, False, lambda _: None)
    try:
        bound = StepErrors(p.program.plan(length), Range(low, high), CallBounds(known)).constant()
    except InputError as error:
        return str(error)
    weights = (bound, bound, Fraction(0))
    s = ErrorStatement(
        Bound({}, weights), Bound({}, weights), False, -(1 << 19), (False,) * 3, False, None, (), True, 0,
        p.d_format.fraction_bits, True, None, True, False, length,
    )  # fmt: skip
    base = resolve("arm/fmopa.s")
    operands = Operands(a=a, b=b, c=p.c_format, d=p.d_format)
    spec = replace(base, name=name, k=length, operands=operands)
    return ProgramBound(f"accuracy --length {length} --exponents={low}..{high}", spec, name, s, (low, high))


@dataclass(frozen=True)
class DistanceBound:
    """`distances(FIRST, SECOND, A, B, C)`: an interval for each element of the difference."""

    claim: str
    spec: UnitSpec
    second: UnitSpec
    exact: bool
    guided: bool = False

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        """Small products element by element: every row of A with every column of B, and any c."""
        size, count = _SIDE, max(1, n // _SIDE**2)
        x = lossy(rng, self.spec, count * size)
        i, j = (z.ravel() for z in np.mgrid[:size, :size])
        blocks = size * np.arange(count)[:, None]
        rows, columns = (blocks + i).ravel(), (blocks + j).ravel()
        c = np.where(rng.random(count) < 0.3, np.uint64(0), np.uint64(1))[(rows // size)]
        return Batch(x.a[rows], x.b[columns], x.c[(blocks + (i + j) % size).ravel()] * c)

    def allowed(self, x: Batch) -> Batch:
        """Anything."""
        return x

    def calls(self, x: Batch) -> list[Call]:
        """Both units on the same rows."""
        return [(self.spec, x), (self.second, x)]

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        """The differences of results against the intervals."""
        met, wrong = np.zeros(len(x.c), np.bool_), np.zeros(len(x.c), np.bool_)
        d = [decoded(self.spec.d_format, w) for w in results]
        formats = (self.spec.a_format, self.spec.b_format, self.spec.c_format)
        for start in range(0, len(x.c), _SIDE**2):
            firsts = start + _SIDE * np.arange(_SIDE), start + np.arange(_SIDE), start + np.arange(_SIDE**2)
            a, b, c = (
                arrays.from_raw(words[rows].astype(f"u{fmt.storage_bits // 8}"), fmt)
                for words, rows, fmt in zip((x.a, x.b, x.c), firsts, formats, strict=True)
            )
            with np.errstate(all="ignore"):
                found = distances(self.spec, self.second, a, b.T, c.reshape(_SIDE, _SIDE), exact=self.exact)
            for at, low, high, covered in zip(
                firsts[2], found.low.ravel(), found.high.ravel(), found.covered.ravel(), strict=True
            ):
                if not covered:
                    continue
                met[at] = wrong[at] = True
                if d[0].finite[at] and d[1].finite[at]:
                    apart = d[1].value(at) - d[0].value(at)
                    wrong[at] = not Fraction(float(low)) <= apart <= Fraction(float(high))
        return Ratios(np.where(wrong, np.inf, 0.0), met, wrong)


def distance_bound(first: str, second: str, *, exact: bool = False) -> DistanceBound | str:
    """The intervals of two units, or the sentence by which there are none."""
    u, v = resolve(first), resolve(second)
    one = np.ones((1, u.k), np.uint64)
    words = [
        arrays.from_raw((one * f.one).astype(f"u{f.storage_bits // 8}"), f) for f in (u.a_format, u.b_format)
    ]
    try:
        distances(u, v, words[0], words[1].T)
    except InputError as error:
        return str(error)
    return DistanceBound(f"distances to {second}{' exactly' * exact}", u, v, exact)


#: A bound that is asked for when its turn comes, and its name.
Asked = tuple[str, Callable[[], Theorem | str]]


def all_bounds(only: str = "") -> Iterator[Asked]:
    """Every unit by length, programs of units and others, and neighbours of one format."""
    for name, length, span in _programs():
        text = f"accuracy --length {length} --exponents={span[0]}..{span[1]} of {name}"
        yield text, partial(program_bound, name, length, span)
    alike: dict[Operands, list[str]] = defaultdict(list)
    for name in distinct_designs():
        if resolve(name).scale_format is None:
            alike[resolve(name).operands].append(name)
    for names in alike.values():
        for first, second in pairwise(names):
            for exact in (False, True):
                yield (
                    f"distances to {second}{' exactly' * exact} of {first}",
                    partial(distance_bound, first, second, exact=exact),
                )
    units = [name for name in distinct_designs() if resolve(name).k > 1]
    for name in units:
        spec = resolve(name)
        for times in (1, 2, 5) if spec.c_format == spec.d_format else (1,):
            yield f"accuracy --length {times * spec.k} of {name}", partial(length_bound, name, times * spec.k)


def _programs() -> Iterator[tuple[str, int, tuple[int, int]]]:
    for name in known_programs():
        for length in (1, 2, 9):
            for span in ((-14, 14), (-6, 14), (-126, 40)):
                yield name, length, span
    for name in distinct_designs():
        spec = resolve(name)
        if spec.scale_format is not None or spec.c_format.name != "fp32" or spec.d_format.name != "fp32":
            continue
        low, high = max(spec.a_format.e_min, spec.b_format.e_min), spec.a_format.e_max
        if spec.a_format == spec.b_format:
            for length, span in product((2, spec.k + 1), ((low, high), (-6, 6))):
                yield f"chained@unit={name},word={spec.a_format.name}", length, span
        if spec.a_format.name == spec.b_format.name == "fp16":
            for kind, span in product(("markidis", "ootomo-yokota"), ((-6, 14), (-14, 10))):
                yield f"{kind}@unit={name}", 1, span
