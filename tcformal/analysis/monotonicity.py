"""The monotonicity defect: the largest decrease of a result when c or a factor grows by one ulp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import products_of, values_of
from tcformal.backends.concrete import Concrete
from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_int
from tcformal.design.integer_sums import check_floating
from tcformal.design.unit import product_signs
from tcformal.encodings.spec import Format
from tcformal.errors import InvariantError, SolverDisagreementError
from tcformal.oracle.exact_errors import ulp
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import decode
from tcformal.programs.dag import program_circuit
from tcformal.query.claims.answered import prove_claim
from tcformal.query.claims.claim_verdict import ClaimVerdict
from tcformal.query.claims.register import refused
from tcformal.query.options import AnswerStore
from tcformal.query.question import Kind
from tcformal.shown import Shown, short
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import Batch, Raw, with_scales
from tcformal.simulation.operands.witness import Witness, scale_ones
from tcformal.simulation.replay import results_of
from tcformal.simulation.runnable import RunnableProgram, computation
from tcformal.solve.result import Limits


def many(x: Unit | RunnableProgram, a: Raw, b: Raw, c: Raw) -> Raw:
    """The results of rows of operands, a and b [n, K], c [n]; scales are 1."""
    if not isinstance(x, Unit):
        return x.evaluate(a, b, c)
    return x.dot_bits(**with_scales(x.spec, Batch(a, b, c)).named())


def witness(x: Unit | RunnableProgram, a: Raw, b: Raw, c: int) -> Witness:
    """One row of operands as a witness; scales are 1."""
    scales = scale_ones(x.spec, len(a)) if isinstance(x, Unit) else ()
    return Witness(tuple(map(int, a)), tuple(map(int, b)), int(c), scales, scales)


def replayed(x: Unit | RunnableProgram, w: Witness) -> int:
    """The result's encoding, computed on integers and confirmed on exact fractions.

    Errors: SolverDisagreementError where they differ.
    """
    if isinstance(x, Unit):
        return results_of(x.spec, w)
    plan = x.program.plan(len(w.a))
    graph, dag = program_circuit(plan)
    (integers,) = Concrete(graph, [dag.result])({k: v for k, v in w.inputs().items() if k in graph.inputs})
    fractions = program_result(plan, w.a, w.b, w.c)
    if integers != fractions:
        raise SolverDisagreementError(
            f"expected one result of {x.name} on integers and fractions, but got {integers:#x} and "
            f"{fractions:#x} on {w}"
        )
    return integers


def exact(x: Unit | RunnableProgram, w: Witness) -> tuple[Fraction, Fraction]:
    """The exact c + Σ a_k·b_k and |c| + Σ|a_k·b_k|, with subtracted products negated."""
    products = products_of(x.a_format, x.b_format, w.a, w.b)
    if isinstance(x, Unit):
        signs = product_signs(x.spec, len(products))
        products = [p * int(s) for p, s in zip(products, signs, strict=True)]
    last = decode(x.c_format, w.c).number
    return sum(products, last), sum(map(abs, products), abs(last))


RowWords = NDArray[np.uint64]
#: Rows that are kept from round to round, rows made from each of them, and rounds; less of long rows.
_KEPT, _CHILDREN, _ROUNDS = 48, 16, 40
#: Rows that are drawn first, and elements of all rows of a round at most.
_DRAWN, _ELEMENTS = 4096, 1 << 17
#: Binades below the step in which products and c are drawn.
_SPAN = 32
#: The best rows: operands a [2, K], b [K] and c [2].
FallRow = tuple[RowWords, RowWords, RowWords]


class FallSearch:
    """A random search for monotonicity defects: rows in which one operand grows by one ulp.

    Shapes: rows are a, b [n, K], c [n]; of `operand`, c or a[0], the larger word is beside them, [n].
    """

    def __init__(self, x: Unit | RunnableProgram, length: int, operand: str, mixed: bool, seed: int) -> None:
        self.x, self.length, self.operand, self.mixed = x, length, operand, mixed
        self.formats = (x.a_format, x.b_format, x.c_format)
        self.k = -(-length // x.k) * x.k if isinstance(x, Unit) else length
        self.draw = np.random.default_rng([seed, length, len(operand), int(mixed)])
        self.most = max(8, _ELEMENTS // self.k)

    # ------------------------------------------------------------------ what falls
    def falls(self, a: RowWords, b: RowWords, c: RowWords, more: RowWords) -> NDArray[np.float64]:
        """The decrease of each row's result, in ulps, or in units of u·(Σ|a_k·b_k| + |c|) for mixed signs."""
        d = self.x.d_format
        a2, c2 = (a, more) if self.operand == "c" else (a.copy(), c)
        if self.operand != "c":
            a2[:, 0] = more
        before, after = (values_of(many(self.x, *rows), d) for rows in ((a, b, c), (a2, b, c2)))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if self.mixed:
                x, y, z = (values_of(w, f) for w, f in zip((a, b, c), self.formats, strict=True))
                unit = ((np.abs(x) * np.abs(y)).sum(1) + np.abs(z)) * 2.0**-d.precision
            else:
                top = np.maximum(np.abs(before), np.abs(after))
                unit = np.ldexp(1.0, np.maximum(np.frexp(top)[1] - 1, d.e_min) - d.fraction_bits)
            defects = (before - after) / unit
        return np.where(np.isfinite(defects) & (defects > 0), defects, 0.0)

    # ------------------------------------------------------------------ rows
    def words(self, fmt: Format, exponents: NDArray[np.int64]) -> RowWords:
        """Random normal numbers of given exponents: powers of two, their neighbours, arbitrary ones."""
        e = np.clip(exponents, fmt.e_min, fmt.e_max - 1)
        count = 1 << fmt.fraction_bits
        kinds, some = self.draw.integers(0, 4, e.shape), self.draw.integers(0, count, e.shape)
        fraction = np.choose(kinds, [0, count - 1, some, 1])
        body = ((e + fmt.bias) << fmt.fraction_bits | fraction) << fmt.ignored_low_bits
        negative = self.draw.integers(0, 2, e.shape) * fmt.sign_bit if self.mixed else 0
        return np.asarray(body | negative, np.uint64)

    def products(self, tops: NDArray[np.int64], count: int) -> tuple[RowWords, RowWords]:
        """Random factors of products with exponents below `tops`, often in one binade."""
        shape = (len(tops), count)
        alike = np.repeat(self.draw.integers(0, _SPAN, (len(tops), 1)), count, 1)
        below = np.where(self.draw.random((len(tops), 1)) < 0.7, alike, self.draw.integers(0, _SPAN, shape))
        q = tops[:, None] - below
        first = (q + self.draw.integers(-2, 3, shape)) // 2
        fa, fb, _ = self.formats
        first = np.clip(first, fa.e_min, fa.e_max - 1)
        a, b = self.words(fa, first), self.words(fb, q - first)
        if self.draw.random() < 0.5:
            # One product for all is the usual worst case.
            a, b = np.repeat(a[:, :1], count, 1), np.repeat(b[:, :1], count, 1)
        return a, b

    def step(self, fmt: Format, exponents: NDArray[np.int64]) -> tuple[RowWords, RowWords]:
        """Two adjacent numbers, the larger second; the one of larger magnitude is a power of two."""
        e = np.clip(exponents, fmt.e_min + 1, fmt.e_max - 1)
        power = ((e + fmt.bias) << fmt.fraction_bits) << fmt.ignored_low_bits
        less = power - (1 << fmt.ignored_low_bits)
        negative = (self.draw.integers(0, 2, e.shape) == 1) & self.mixed & (fmt.sign_bit > 0)
        low = np.where(negative, power | fmt.sign_bit, less)
        high = np.where(negative, less | fmt.sign_bit, power)
        return np.asarray(low, np.uint64), np.asarray(high, np.uint64)

    def drawn(self, n: int) -> tuple[RowWords, RowWords, RowWords, RowWords]:
        """A batch of n random rows."""
        fa, fb, fc = self.formats
        low = max(fa.e_min + fb.e_min + _SPAN // 2, fc.e_min + 1)
        high = max(
            low + 1, min(fa.e_max + fb.e_max, fc.e_max - 1, self.x.d_format.e_max - self.length.bit_length())
        )
        tops = self.draw.integers(low, high, n)
        a, b = np.zeros((n, self.k), np.uint64), np.zeros((n, self.k), np.uint64)
        a[:, : self.length], b[:, : self.length] = self.products(tops, self.length)
        if self.operand == "c":
            c, larger = self.step(fc, tops)
        else:
            c = self.words(fc, tops - self.draw.integers(0, _SPAN, n))
            c[self.draw.random(n) < 0.3] = 0
            first = tops // 2
            a[:, 0], larger = self.step(fa, first)
            power = np.clip(tops - first + fb.bias, 1, (1 << fb.exponent_bits) - 2)
            b[:, 0] = (power << (fb.fraction_bits + fb.ignored_low_bits)).astype(np.uint64)
        return a, b, c, larger

    def children(self, rows: tuple[RowWords, ...]) -> tuple[RowWords, RowWords, RowWords, RowWords]:
        """Mutations of rows: some operands are replaced by those of random rows."""
        n = min(len(rows[0]) * _CHILDREN, self.most)
        a, b, c, larger = (np.resize(x, (n, *x.shape[1:])).copy() for x in rows)
        p, q, z, _ = self.drawn(n)
        at = self.draw.random((n, self.k)) < self.draw.choice([1.0, 4.0, self.k], (n, 1)) / self.k
        at[:, self.length :] = False
        if self.operand != "c":
            at[:, 0] = False
            other = self.draw.random(n) < 0.2
            c = np.where(other, z, c)
        # Products keep the distance from the step that they were drawn with: all move together.
        return np.where(at, p, a), np.where(at, q, b), c, larger

    # ------------------------------------------------------------------ search
    def best(self) -> FallRow | None:
        """The row with the largest decrease; None where no result decreases."""
        rows = self.drawn(min(_DRAWN, self.most * 4))
        defects = self.falls(*rows)
        for _ in range(_ROUNDS):
            order = np.argsort(-defects, kind="stable")[: min(_KEPT, self.most)]
            more = self.children(tuple(x[order] for x in rows))
            a, b, c, larger = (np.concatenate([x[order], y]) for x, y in zip(rows, more, strict=True))
            rows = a, b, c, larger
            defects = np.concatenate([defects[order], self.falls(*more)])
        at = int(np.argmax(defects))
        if not defects[at] > 0:
            return None
        a, b, c, larger = (x[at] for x in rows)
        both = np.stack([a, a]), b, np.array([c, c])
        (both[2] if self.operand == "c" else both[0][:, 0])[1] = larger
        return both


#: Most products of one dot product, and the claim that a larger c gives no smaller result.
LONGEST, _CLAIM = 1 << 12, "monotonicity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """A monotonicity defect: two inputs one ulp apart in one operand, with results in the opposite order.

    Ranges and units: `ulps`: in units in the last place of the larger result's magnitude; `relative`: in
    units of u·(Σ|a_k·b_k| + |c|) of the first inputs, u = 2^-p of D's format, which cancellation does not
    enlarge.
    """

    #: `c` or `a[0]`.
    operand: str
    first: Witness
    second: Witness
    #: Raw encodings of both results, replayed on integers and on exact fractions.
    results: tuple[int, int]
    #: By how much the exact sum grows.
    growth: Fraction
    fall: Fraction
    ulps: Fraction
    relative: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Monotonicity(Shown):
    """The monotonicity of a unit or program: the defects found, and the claim about c.

    Ranges and units: `falls` by operand and by whether terms of both signs are allowed: those found with the
    most ulps where all terms are positive, and those with the largest `relative` fall of any terms.
    `claim`: that of a larger c, where it was asked; where it HOLDS, the defect in c is 0.

    Examples:
        >>> tcformal.monotonicity("valpey@terms=2", prove=False).verdict("c")
        <Kind.UNKNOWN: 'no solver could tell, or none confirmed'>
    """

    name: str
    length: int
    falls: tuple[Fall, ...]
    claim: ClaimVerdict | None

    def _summary(self) -> str:
        known = ", ".join(f"{name} {self.verdict(name).name}" for name in "ca")
        return f"Monotonicity {short(self.name)}, {self.length} products: in {known}"

    @property
    def proved(self) -> bool:
        """Whether monotonicity in c is proved."""
        return self.claim is not None and self.claim.kind is Kind.HOLDS and self.claim.checked

    def verdict(self, operand: str) -> Kind:
        """The monotonicity in operand `c` or factor `a`: proved, refuted, or unknown.

        VIOLATED by inputs, which were replayed; HOLDS by the theorem, of c alone; else UNKNOWN.
        """
        if self.largest(operand) is not None:
            return Kind.VIOLATED
        return Kind.HOLDS if operand == "c" and self.proved else Kind.UNKNOWN

    def largest(self, operand: str) -> Fall | None:
        """The largest defect found for an operand `c` or `a`, in ulps."""
        mine = [x for x in self.falls if x.operand[0] == operand]
        return max(mine, key=lambda x: x.ulps, default=None)


def monotonicity(
    x: str | Unit | RunnableProgram,
    *,
    length: int | None = None,
    prove: bool = True,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: AnswerStore | None = None,
    fresh: bool = False,
    progress: Progress = ignore,
) -> Monotonicity:
    """Find the largest monotonicity defects in c and in one factor, and try to prove monotonicity in c.

    Shapes: `length` products from 1 to 4096, by default those of one call.
    Ranges and units: operands are normal numbers; scales, where a unit has them, are 1.  `prove`: whether
    claim `monotonicity` of one call is asked where no fall is found in c, of a unit that it is about.
    Zero, NaN, Inf: results are finite.
    Errors: InputError for a length out of range; those of `prove_claim`.
    Source: FASI, monotonicity of the dot product.

    Examples:
        >>> found = tcformal.monotonicity("volta/mma.m8n8k4.f32.f16.f16.f32")
        >>> found
        <Monotonicity volta/mma.m8n8k4.f32.f16.f16.f32, 4 products: in c VIOLATED, a UNKNOWN>
        >>> float(found.largest("c").ulps)
        1.0
    """
    what = computation(x) if isinstance(x, str) else x
    if isinstance(what, Unit):
        check_floating(what.spec, "monotonicity")
    n = check_int("length", what.k if length is None else length, low=1, high=LONGEST)
    seed = (limits or Limits()).seed
    found = []
    for operand in ("c", "a"):
        for mixed in (False, True):
            progress(f"looking for falls in {operand}")
            fall = _found(what, n, operand, mixed, seed)
            found += [] if fall is None else [fall]
    claim = None
    falls_in_c = any(f.operand == "c" for f in found)
    if prove and not falls_in_c and isinstance(what, Unit) and n <= what.k and not refused(_CLAIM, what.spec):
        claim = prove_claim(
            what, _CLAIM, limits=limits, solvers=solvers, certify=certify, store=store, fresh=fresh,
            progress=progress,
        )  # fmt: skip
    made = Monotonicity(name=what.name, length=n, falls=tuple(found), claim=claim)
    if made.proved and falls_in_c:
        raise InvariantError(f"expected no fall in c of {what.name}, as is proved, but found one")
    return made


def _found(x: Unit | RunnableProgram, length: int, operand: str, mixed: bool, seed: int) -> Fall | None:
    """The largest defect that a search finds, replayed and measured exactly; None where there is none."""
    best = FallSearch(x, length, operand, mixed, seed).best()
    if best is None:
        return None
    a, b, c = best
    first, second = (witness(x, a[i], b, int(c[i])) for i in (0, 1))
    results = replayed(x, first), replayed(x, second)
    before, after = (decode(x.d_format, r).number for r in results)
    (small, size), (large, _) = exact(x, first), exact(x, second)
    if before <= after or large < small:
        raise InvariantError(f"expected a fall of {x.name}, but replayed results are {before} and {after}")
    fall = before - after
    d = x.d_format
    unit = max(ulp(max(abs(before), abs(after)), d), power_of_two(d.e_min - d.fraction_bits))
    return Fall(
        operand=operand if operand == "c" else "a[0]", first=first, second=second, results=results,
        growth=large - small, fall=fall, ulps=fall / unit, relative=fall * (1 << d.precision) / size,
    )  # fmt: skip
