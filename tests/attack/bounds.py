"""Bounds of units by length, of programs and of distances, as theorems that inputs can break."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from attack.directed import lossy
from attack.errors import Ratios, ratios
from attack.exact import decoded
from attack.statements import Bound, ErrorStatement
from attack.theorems import Call, Words
from tcformal.apart.distance import distances
from tcformal.bounds.accuracy import accuracy
from tcformal.bounds.program.calls import CallBounds
from tcformal.bounds.program.steps import StepErrors
from tcformal.bounds.program.words import Range
from tcformal.bounds.theorems import Theorems
from tcformal.design.names import resolve
from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.matmul import arrays
from tcformal.matmul.runnable import program
from tcformal.operands.random import Batch
from tcformal.solve.result import Limits


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
        size, made = resolve(self.spec.name).k, list[Call]()
        for end in range(size, self.spec.k + 1, size):
            made.append((self.spec, Batch(x.a[:, :end], x.b[:, :end], x.c)))
        return made

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


def length_bound(name: str, length: int) -> LengthBound | None:
    """The bound of a unit and a length; None where there is none."""
    spec = resolve(name)
    found = accuracy(spec, length=length, subnormals=False)
    if found.bound is None:
        return None
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
    inside = np.where(field < low, low + (low - field) % span, np.where(field > high, high - (field - high) % span, field))
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
    return ProgramBound(
        f"accuracy --length {length} --exponents={low}..{high}", spec, name, s, (low, high)
    )


@dataclass(frozen=True)
class DistanceBound:
    """`distances(FIRST, SECOND, A, B, C)`: an interval for each element of the difference."""

    claim: str
    spec: UnitSpec
    second: UnitSpec
    exact: bool
    guided: bool = False

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        """Rows, each of which is a row of A and a column of B."""
        return lossy(rng, self.spec, n)

    def allowed(self, x: Batch) -> Batch:
        """Anything."""
        return x

    def calls(self, x: Batch) -> list[Call]:
        """Both units on the same rows."""
        return [(self.spec, x), (self.second, x)]

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        """The differences of results against the intervals, row by row."""
        n = len(x.c)
        met, wrong = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        d = [decoded(self.spec.d_format, w) for w in results]
        size = 8
        for start in range(0, n, size):
            rows = slice(start, start + size)
            # The diagonal of a small product: c is given for all of its elements.
            a = arrays.from_raw(_stored(x.a[rows], self.spec.a_format), self.spec.a_format)
            b = arrays.from_raw(_stored(x.b[rows], self.spec.b_format), self.spec.b_format)
            c = arrays.from_raw(_stored(x.c[rows], self.spec.c_format), self.spec.c_format)
            with np.errstate(all="ignore"):
                found = distances(
                    self.spec, self.second, a, b.T, np.broadcast_to(c, (len(c), len(c))).copy(), exact=self.exact
                )
            for i in range(len(c)):
                at = start + i
                if not found.covered[i, i]:
                    continue
                met[at] = True
                if not (d[0].finite[at] and d[1].finite[at]):
                    wrong[at] = True
                    continue
                apart = d[1].value(at) - d[0].value(at)
                wrong[at] = not Fraction(float(found.low[i, i])) <= apart <= Fraction(float(found.high[i, i]))
        return Ratios(np.where(wrong, np.inf, 0.0), met, wrong)


def _stored(words: Words, fmt: Format) -> NDArray[Any]:
    return words.astype(f"u{fmt.storage_bits // 8}")


def distance_bound(first: str, second: str, *, exact: bool = False) -> DistanceBound:
    """The intervals of two units."""
    u, v = resolve(first), resolve(second)
    return DistanceBound(f"distances to {second}{' exactly' * exact}", u, v, exact)
