"""Bounds of units by length, of programs and of distances, as theorems that inputs can break."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, product

import numpy as np

from attack.directed import lossy, within
from attack.distances import distance_bound
from attack.errors import Ratios, ratios
from attack.exact import decoded
from attack.pairs import Call, Words
from attack.statements import Bound, ErrorStatement
from attack.theorems import Theorem
from tcformal.analysis.bounds.accuracy import accuracy
from tcformal.analysis.bounds.error_propagation import StepErrors
from tcformal.analysis.bounds.proved import CallBounds
from tcformal.analysis.bounds.word_forms import Range
from tcformal.design.catalog import distinct_designs, floating
from tcformal.design.names import resolve
from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.programs.program import known_programs
from tcformal.semantics.chain import scale_count
from tcformal.simulation.operands.batch import Batch
from tcformal.simulation.runnable import program

#: Below all exponents: that of the largest product is not bounded.
_LOW = -(1 << 19)


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

    @property
    def drawn_as(self) -> object:
        """Drawn alone."""
        return self.claim

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
        exponent, bits = a.exponent + b.exponent, a.fraction_bits + b.fraction_bits
        if self.spec.scale_format is not None and self.spec.scale_block is not None:
            for words in (x.scale_a, x.scale_b):
                assert words is not None
                scale = decoded(self.spec.scale_format, words)
                exponent = exponent + scale.exponent[:, np.arange(x.a.shape[1]) // self.spec.scale_block]
                bits += scale.fraction_bits
        exponent = np.where(a.zero | b.zero, -(1 << 20), exponent)
        met, before = np.ones(len(x.c), np.bool_), np.full(len(x.c), -(1 << 20))
        for i, words in enumerate(results):
            largest = np.maximum(exponent[:, i * size : (i + 1) * size].max(axis=1), before)
            made = decoded(d, words)
            nothing = largest == -(1 << 20)
            met &= nothing | ((largest >= self.least) & made.finite & ~made.subnormal)
            # A sum within a call may have a result that nobody sees: all products far from underflow.
            near = np.where(exponent == -(1 << 20), 1 << 20, exponent).min(axis=1)
            kept = d.e_min < -100 and self.spec.design.result_subnormals == "kept"
            met &= near - bits >= d.e_min - d.fraction_bits * kept
            before = np.where(made.zero, -(1 << 20), made.exponent)
        found = ratios(self.spec, self.statement, x, results[-1])
        return Ratios(np.where(met, found.ratio, 0.0), found.met & met, found.broken & met)


def length_bound(name: str, length: int) -> LengthBound | str:
    """The bound of a unit and a length, or the sentence by which there is none."""
    spec = resolve(name)
    found = accuracy(spec, length=length, subnormals=False)
    if found.bound is None or found.proved is None:
        return found.reason
    s = _of_products(found.bound, spec.d_format, spec.design.negated)
    return LengthBound(f"accuracy --length {length}", replace(spec, k=length), s, found.proved.least)


def _of_products(bound: Fraction, d: Format, negated: str) -> ErrorStatement:
    """So many times Σ|a_k·b_k|, of operands that are zero or normal, and c = 0."""
    return ErrorStatement(
        Bound({}, (bound, Fraction(0))), _LOW, d.fraction_bits, frozenset(), negated,
        leading=frozenset("abs"), zero_c=True,
    )  # fmt: skip


@dataclass(frozen=True)
class ProgramBound:
    """`accuracy PROGRAM --length N --exponents=LOW..HIGH`: what a program loses of Σ|a_k·b_k|."""

    claim: str
    spec: UnitSpec
    name: str
    statement: ErrorStatement
    span: tuple[int, int]
    guided: bool = True

    @property
    def drawn_as(self) -> object:
        """Drawn alone."""
        return self.claim

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        """Elements in the range of exponents, many at its ends."""
        return lossy(rng, self.spec, n, normal=True)

    def allowed(self, x: Batch) -> Batch:
        """Exponents in the range, c zero."""
        low, high = self.span
        a, b = (within(f, w, low, high) for f, w in ((self.spec.a_format, x.a), (self.spec.b_format, x.b)))
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


def program_bound(name: str, length: int, span: tuple[int, int]) -> ProgramBound | str:
    """The bound of a program, or the sentence by which there is none."""
    p = program(name)
    a, b = p.a_format, p.b_format
    low, high = max(span[0], a.e_min, b.e_min), min(span[1], a.e_max, b.e_max)
    try:
        bound = StepErrors(p.program.plan(length), Range(low, high), CallBounds()).constant()
    except InputError as error:
        return str(error)
    s = _of_products(bound, p.d_format, "none")
    base = resolve("arm/fmopa.s")
    operands = Operands(a=a, b=b, c=p.c_format, d=p.d_format)
    spec = replace(base, name=name, k=length, operands=operands)
    return ProgramBound(f"accuracy --length {length} --exponents={low}..{high}", spec, name, s, (low, high))


#: A bound that is asked for when its turn comes, and its name.
Asked = tuple[str, Callable[[], Theorem | str]]


def all_bounds(only: str = "") -> Iterator[Asked]:
    """Every unit by length, programs of units and others, and neighbours of one format."""
    for name, length, span in _programs():
        text = f"accuracy --length {length} --exponents={span[0]}..{span[1]} of {name}"
        yield text, partial(program_bound, name, length, span)
    alike: dict[Operands, list[str]] = defaultdict(list)
    for name in distinct_designs(floating):
        if resolve(name).scale_format is None:
            alike[resolve(name).operands].append(name)
    for names in alike.values():
        for first, second in pairwise(names):
            for exact in (False, True):
                yield (
                    f"distances to {second}{' exactly' * exact} of {first}",
                    partial(distance_bound, first, second, exact=exact),
                )
    units = [name for name in distinct_designs(floating) if resolve(name).k > 1]
    for name in units:
        spec = resolve(name)
        for times in (1, 2, 5) if spec.c_format == spec.d_format else (1,):
            yield f"accuracy --length {times * spec.k} of {name}", partial(length_bound, name, times * spec.k)


def _programs() -> Iterator[tuple[str, int, tuple[int, int]]]:
    for name in known_programs():
        for length in (1, 2, 9):
            for span in ((-14, 14), (-6, 14), (-126, 40)):
                yield name, length, span
    for name in distinct_designs(floating):
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
