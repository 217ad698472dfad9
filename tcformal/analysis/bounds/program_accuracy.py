"""The error of a program in units of Σ|a_k·b_k|: a bound, and a search for bad inputs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.bounds.ascent import improved, promoted
from tcformal.analysis.bounds.attained import Construction, words_text
from tcformal.analysis.bounds.error_propagation import StepErrors
from tcformal.analysis.bounds.proved import CallBounds
from tcformal.analysis.bounds.word_forms import EXPONENTS, Range
from tcformal.analysis.samples import products_of, values_of
from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_int
from tcformal.design.steps import CallStep, HeadroomStep, MagnitudeStep, RoundStep
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, InvariantError
from tcformal.oracle.interpreter import program_result, run_program
from tcformal.oracle.numerals import bounds_text
from tcformal.oracle.values import NumberClass, decode, encoded, exponent_of
from tcformal.programs.program import LONGEST, Program, program_of
from tcformal.shown import Shown, short
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.runnable import RunnableProgram
from tcformal.theory.instances import Instance

InputWords = NDArray[np.uint64]
#: Rows that are tried at once, rounds of an ascent, and products of all rows together.
_ROWS, _ROUNDS, _PRODUCTS = 2048, 24, 1 << 18
#: Rows of one vector register, or a multiple of them.
_LANES = 8
#: Products that are not zero, and rows, where binary64 is scaled by data: sums of thousands of bits.
_FEW = 64
#: Exponents of elements that words may underflow beside, and places of what exceeds half of a word.
_WIDE, _FINE = 100, 16


@dataclass(frozen=True, slots=True)
class Near:
    """Inputs of a program with c = 0 and their error, computed on lanes and in exact fractions.

    Ranges and units: `error` = |d - Σ a_k·b_k| and `magnitude` = Σ|a_k·b_k|, exact.
    """

    a: tuple[int, ...]
    b: tuple[int, ...]
    result: int
    error: Fraction
    magnitude: Fraction

    @property
    def ratio(self) -> Fraction:
        """The ratio error / magnitude; 0 where both are 0."""
        return self.error / self.magnitude if self.magnitude else Fraction(0)

    def plain(self, p: Program) -> bool:
        """Whether every intermediate value is zero or normal and below its format's largest number."""
        plan = p.plan(len(self.a))
        for step, words in zip(plan.steps, run_program(plan, self.a, self.b, 0), strict=True):
            if step.fmt is None:
                continue
            top = decode(step.fmt, step.fmt.largest).magnitude
            for x in (decode(step.fmt, word) for word in words):
                if x.kind is not NumberClass.FINITE or x.is_subnormal or x.magnitude >= top:
                    return False
        return True


def nearest(p: Program, n: int, exponents: Range | None, *, underflow: bool = False) -> Near:
    """Search for inputs of large error: constructed products, random ones, and an ascent.

    Ranges and units: elements are zero or normal, with exponents in the range where there is one; without
    one, words of the program may be subnormal with `underflow` alone.
    Errors: InputError where integers and fractions give different results.
    """
    wide = exponents is None and any(p.input_format(x).storage_bits == 64 for x in "ab")
    search = _NearSearch(p, min(n, _FEW) if wide else n, exponents)
    rows = [*search.built(), *search.between(), *search.drawn(_FEW if wide else _ROWS)]
    row = search.best(rows)
    if search.n < n:
        row, search = np.pad(row, ((0, 0), (0, n - search.n))), _NearSearch(p, n, exponents)
    # With scales that depend on data every new exponent is a definition of its own.
    if exponents is not None and n * _ROUNDS <= _ROWS:
        row = search.climbed(row)
    if underflow and exponents is None:
        search = _NearSearch(p, n, Range(-_WIDE, _WIDE))
        row = search.best([row, *search.raised()])
    return search.replayed(row)


class _NearSearch:
    """A search over rows of a and b for one program and length."""

    def __init__(self, p: Program, n: int, exponents: Range | None) -> None:
        self.p, self.n, self.run = p, n, RunnableProgram(p)
        self.formats = (p.input_format("a"), p.input_format("b"))
        # Without a range no word may underflow: elements of one binade.
        low, high = (0, 0) if exponents is None else (exponents.low, exponents.high)
        self.ranges = [(max(f.e_min, low), min(f.e_max, high)) for f in self.formats]
        self.rng = np.random.default_rng(1)
        #: What lanes made of the best row of many, and that row.
        self.made: tuple[bytes, int] | None = None

    # ------------------------------------------------------------------ candidates
    def built(self) -> Iterator[InputWords]:
        """The worst-case inputs of the units' own calls, alone and with promotion, as program inputs."""
        calls = [s for s in self.p.plan(self.n).steps if isinstance(s, CallStep)]
        for unit in dict.fromkeys(s.unit for s in calls):
            if unit.scale_format is not None or unit.tree is not None:
                continue
            build = Construction(unit)
            made = [improved(build, min(self.n, unit.k), build.best(min(self.n, unit.k)))]
            if self.n > unit.k and unit.c_format == unit.d_format:
                made.append(improved(build, self.n, build.best(self.n)))
                lengths = {s.products for s in calls if s.unit == unit and s.products < self.n}
                if unit.d_format.name == "fp32":
                    made += [promoted(build, self.n, every) for every in sorted(lengths)]
            for x in made:
                if (row := self._row(x.calls, build)) is not None:
                    yield row

    def _row(self, calls: Sequence[tuple[Witness, int]], build: Construction) -> InputWords | None:
        """The operands of calls as inputs of the program; None where a format cannot hold one."""
        a = [x for w, times in calls for x in w.a * times]
        b = [x for w, times in calls for x in w.b * times]
        row = np.zeros((2, self.n), np.uint64)
        for side, given, fmt, own in zip(row, (a, b), self.formats, (build.a, build.b), strict=True):
            words = {x: encoded(fmt, decode(own, x).number) for x in set(given[: self.n])}
            if None in words.values():
                return None
            side[: len(given)] = [words[x] or 0 for x in given[: self.n]]
        return row if self._allowed(row[None])[0] else None

    def between(self) -> Iterator[InputWords]:
        """Rows of elements at the midpoints between a format's words, close to a power of two.

        Where scales depend on data, two elements of each block are as large as the format's largest number in
        the elements' binade, against zeros, so that the others reach the words as they are.
        """
        for fmt in self._targets():
            half = Fraction(1, 2 << fmt.fraction_bits)
            # Rounded to nearest and rounded down.
            sizes = 1 + half, 1 + 2 * half * (1 - Fraction(1, 1 << 10))
            for size, lowest in itertools.product(sizes, (False, True)):
                # What is left of the lowest elements is the first to be subnormal.
                exponents = [self.ranges[side][0] if lowest else self._middle(side) for side in range(2)]
                yield from self._filled(fmt, (size, size), exponents)

    def raised(self) -> Iterator[InputWords]:
        """Rows of elements just above half of a format's least word, to which they are rounded up.

        Two elements of each block are as large as in `between`, so that scales leave the others so small.
        """
        for fmt in self._targets():
            below = fmt.least_exponent - 1 - exponent_of(decode(fmt, fmt.largest).number)
            sizes = [1 + Fraction(1, 1 << min(x.fraction_bits, _FINE)) for x in self.formats]
            yield from self._filled(fmt, sizes, [self._middle(side) + below for side in range(2)])

    def _targets(self) -> list[Format]:
        """The formats that the program rounds elements to."""
        steps = self.p.plan(self.n).steps
        return sorted({s.target for s in steps if isinstance(s, RoundStep) and s.length is not None}, key=str)

    def _filled(
        self, fmt: Format, sizes: Sequence[Fraction], exponents: Sequence[int]
    ) -> Iterator[InputWords]:
        """A row whose elements share one number, but for two of each block that is scaled; none that a format
        lacks."""
        words = [
            encoded(own, size * Fraction(2) ** e)
            for own, size, e in zip(self.formats, sizes, exponents, strict=True)
        ]
        if None in words:
            return
        row = np.repeat(np.array(words, np.uint64)[:, None], self.n, 1)
        steps = self.p.plan(self.n).steps
        sources = [steps[s.source] for s in steps if isinstance(s, HeadroomStep | MagnitudeStep)]
        blocks = {min(s.length, self.n) for s in sources if s.length is not None}
        largest = decode(fmt, fmt.largest).number
        top = largest / Fraction(2) ** exponent_of(largest)
        for start in (x for block in blocks for x in range(0, self.n - 1, block)):
            for side in range(2):
                more = encoded(self.formats[side], top * Fraction(2) ** self._middle(side))
                row[side, start + side], row[1 - side, start + side] = more or 0, 0
        if self._allowed(row[None])[0]:
            yield row

    def _middle(self, side: int) -> int:
        """The middle of a side's exponent range."""
        low, high = self.ranges[side]
        return (low + high + 1) // 2

    def drawn(self, most: int) -> Iterator[InputWords]:
        """Random rows with one large product, and others with few or many bits."""
        count = max(4, min(most, _PRODUCTS // self.n))
        sides = []
        depth = self.rng.integers(0, 30, (count, 1))
        for fmt, (low, high) in zip(self.formats, self.ranges, strict=True):
            middle = (low + high + 1) // 2
            e = np.where(np.arange(self.n) == 0, middle, middle - depth // 2)
            sides.append(self._encoded(fmt, np.clip(e, low, high)))
        yield from np.stack(sides, 1)

    def _encoded(self, fmt: Format, e: NDArray[np.int64]) -> InputWords:
        field = (e + fmt.bias).astype(np.uint64)
        t = fmt.fraction_bits
        fraction = self.rng.integers(0, 1 << t, e.shape, dtype=np.uint64)
        few = np.uint64(((1 << t) - 1) ^ ((1 << (t // 2)) - 1))
        kind = self.rng.integers(0, 3, (len(e), 1))
        fraction = np.choose(kind, [fraction, fraction & few, np.zeros_like(fraction)])
        return np.asarray((field << np.uint64(t) | fraction) << np.uint64(fmt.ignored_low_bits))

    # ------------------------------------------------------------------ what is lost
    def lost(self, rows: InputWords) -> tuple[NDArray[np.float64], NDArray[np.unsignedinteger]]:
        """The approximate error of each row in units of Σ|a_k·b_k|, 0 for invalid rows; and its result.

        Shapes: rows [count, 2, n].
        """
        a, b = (np.ascontiguousarray(rows[:, i]).astype(f"u{f.storage_bits // 8}")
                for i, f in enumerate(self.formats))  # fmt: skip
        c = np.zeros(len(rows), f"u{self.p.input_format('c').storage_bits // 8}")
        # Sums in extended precision where there is one: what is found is computed again, exactly.
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            results = np.asarray(self.run.evaluate(a, b, c))
            d = values_of(results, self.run.d_format)
            x, y = (values_of(v, f).astype(np.longdouble) for v, f in zip((a, b), self.formats, strict=True))
            ratio = np.abs(d - (x * y).sum(1)) / np.abs(x * y).sum(1)
        return np.where(np.isfinite(ratio) & self._allowed(rows), ratio, 0).astype(np.float64), results

    def _allowed(self, rows: InputWords) -> NDArray[np.bool_]:
        """Whether every element of a row is zero, or normal with an exponent in the range."""
        fine = np.ones(len(rows), bool)
        for side, (fmt, (low, high)) in enumerate(zip(self.formats, self.ranges, strict=True)):
            body = rows[:, side] & np.uint64(fmt.sign_bit - 1)
            e = (body >> np.uint64(fmt.fraction_bits + fmt.ignored_low_bits)).astype(np.int64) - fmt.bias
            inside = (e >= low) & (e <= high) & (body <= np.uint64(fmt.largest))
            fine &= (inside | (body == 0)).all(1)
        return np.asarray(fine)

    def best(self, rows: list[InputWords]) -> InputWords:
        """The row with the largest error."""
        # Whole vectors of lanes: each of the many steps would do the rest by itself.
        stacked = np.stack([*rows, *rows[:1] * (-len(rows) % _LANES)])
        # At once, with those that were not drawn: a call costs as much of few rows as of many.
        size = max(1, 2 * _PRODUCTS // self.n)
        losses = [self.lost(stacked[i : i + size]) for i in range(0, len(rows), size)]
        ratios, results = (np.concatenate(x) for x in zip(*losses, strict=True))
        at = int(ratios.argmax())
        self.made = stacked[at].tobytes(), int(results[at])
        return np.asarray(stacked[at])

    def climbed(self, row: InputWords) -> InputWords:
        """Hill climbing: random changes of one or two elements while the error grows."""
        now = float(self.lost(row[None])[0][0])
        for _ in range(_ROUNDS):
            rows = np.repeat(row[None], _ROWS, 0)
            for _ in range(2):
                self._change(rows)
            ratios, _ = self.lost(rows)
            at = int(ratios.argmax())
            if ratios[at] > now:
                now, row = float(ratios[at]), rows[at]
        return row

    def _change(self, rows: InputWords) -> None:
        """Mutate one element of each row: a bit, a neighbour, the sign, or a copy of another element."""
        count, at = len(rows), np.arange(len(rows))
        side, k = self.rng.integers(0, 2, count), self.rng.integers(0, self.n, count)
        for s, fmt in enumerate(self.formats):
            words = rows[at, side, k]
            bit = self.rng.integers(fmt.ignored_low_bits, fmt.width, count).astype(np.uint64)
            flipped = words ^ (np.uint64(1) << bit)
            step = words + np.uint64(1 << fmt.ignored_low_bits)
            other = rows[at, side, self.rng.integers(0, self.n, count)]
            made = np.choose(self.rng.integers(0, 3, count), [flipped, step, other])
            chosen = side == s
            rows[at[chosen], side[chosen], k[chosen]] = made[chosen]

    # ------------------------------------------------------------------ exactly
    def replayed(self, row: InputWords) -> Near:
        """The exact error of a row, replayed on lanes and in fractions."""
        a, b = ([int(x) for x in side] for side in row)
        plan = self.p.plan(self.n)
        result = program_result(plan, a, b, 0)
        known = self.made is not None and self.made[0] == row.tobytes()
        lanes = self.made[1] if self.made and known else int(self.lost(row[None])[1][0])
        if lanes != result:
            raise InputError(f"expected one result of {self.p.name}, but got {lanes:#x} and {result:#x}")
        values = products_of(*self.formats, a, b)
        d = decode(plan.fmt, result)
        if d.kind is not NumberClass.FINITE:
            raise InputError(f"expected a finite result of {self.p.name}, but got {d.kind.name}")
        error = abs(d.number - sum(values, Fraction(0)))
        return Near(tuple(a), tuple(b), result, error, sum(map(abs, values), Fraction(0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramAccuracy(Shown):
    """Bounds on sup |d - Σ a_k·b_k| / Σ|a_k·b_k| for a program and a length, with c = 0.

    Ranges and units: `bound` is None where none follows, with the `reason`; `near` are the inputs found that
    lose most.

    Examples:
        >>> tcformal.program_accuracy("fma-chain", length=4).conditions
        ('c = 0', 'every element is zero, or normal with an exponent from -14 to 14')
    """

    program: Program
    length: int
    #: Exponents of elements that are not zero; None where scales depend on data.
    exponents: tuple[int, int] | None
    bound: Fraction | None
    near: Near
    #: What a call of each unit loses, in sentences.
    steps: tuple[str, ...]
    reason: str = ""
    #: The theorems that the constants of calls are instances of.
    theorems: tuple[Instance, ...] = ()

    def __post_init__(self) -> None:
        if self.exceeded and self.inside:
            assert self.bound is not None
            raise InvariantError(
                f"expected inputs of {self.program.name} that lose at most {float(self.bound):.7g} of "
                f"Σ|a_k·b_k|, as is proved, but replayed ones lose {float(self.near.ratio):.7g}: "
                f"a = {words_text(self.near.a)}, b = {words_text(self.near.b)}"
            )

    def _summary(self) -> str:
        known = bounds_text(self.bound, self.near.ratio)
        return f"ProgramAccuracy {short(self.program.name)}, {self.length} products: {known} of Σ|a·b|"

    @property
    def exceeded(self) -> bool:
        """Whether the error found exceeds the bound."""
        return self.bound is not None and self.near.ratio > self.bound

    @property
    def inside(self) -> bool:
        """Whether the inputs satisfy the bound's conditions: no subnormals with scales from data."""
        return self.exponents is not None or self.near.plain(self.program)

    @property
    def gap(self) -> Fraction | None:
        """The relative gap 1 - attained / bound; None without a bound, 0 where both are 0."""
        if self.bound is None:
            return None
        return 1 - self.near.ratio / self.bound if self.bound else Fraction(0)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions of the bound, or of the inputs found, as sentences."""
        if self.bound is None and not self.inside:
            return ("c = 0", "every element is zero or a normal number")
        if self.exponents is None:
            return ("c = 0", "no element, scale, word or result is subnormal or overflows")
        low, high = self.exponents
        return ("c = 0", f"every element is zero, or normal with an exponent from {low} to {high}")


def program_accuracy(
    program: str | Program | RunnableProgram,
    *,
    length: int,
    exponents: tuple[int, int] = EXPONENTS,
    prove: bool = True,
    progress: Progress = ignore,
) -> ProgramAccuracy:
    """Bound the largest error of a program in units of Σ|a_k·b_k|, and find inputs that come near.

    Shapes: `length` products; c is 0.
    Ranges and units: `exponents` of elements that are not zero, least and largest, cut to those of the normal
    numbers of the input formats; they do not count where scales depend on data.  What underflows in the range
    is counted.  `prove`: False leaves the bound out; where none follows, words of the inputs may underflow.
    Zero, NaN, Inf: elements are zero or normal.
    Errors: InputError for a length or exponents out of range.  A step of which nothing is known, what may
    overflow, or a unit to which no theorem applies leaves `bound` None, with the reason.
    Source: roundings by their definition, calls by the theorems of `accuracy`; words are sums of the
    element and of rounding errors, whose cancellations are exact.

    Examples:
        >>> tcformal.program_accuracy("fma-chain", length=4)
        <ProgramAccuracy fma-chain, 4 products: ≤ 0.00002385 %, 0.00002383 % attained of Σ|a·b|>
    """
    p = program_of(program.program if isinstance(program, RunnableProgram) else program)
    n = check_int("length", length, low=1, high=LONGEST)
    low = check_int("the least exponent", exponents[0], low=-16400, high=16400)
    high = check_int("the largest exponent", exponents[1], low=low, high=16400)
    plan = p.plan(n)
    formats = (p.input_format("a"), p.input_format("b"))
    low, high = max(low, *(f.e_min for f in formats)), min(high, *(f.e_max for f in formats))
    if low > high:
        raise InputError(f"expected exponents that the inputs of {p.name} have, but got {exponents}")
    scaled = any(isinstance(step, HeadroomStep | MagnitudeStep) for step in plan.steps)
    among = None if scaled else Range(low, high)
    bound, reason = None, "no proof was asked for"
    bounds = CallBounds()
    if prove:
        try:
            bound, reason = StepErrors(plan, among, bounds).constant(), ""
        except InputError as error:
            reason = str(error)
    progress("looking for inputs")
    # A bound has conditions, which words that underflow do not meet.
    near = nearest(p, n, among, underflow=prove and bound is None)
    return ProgramAccuracy(
        program=p, length=n, exponents=None if scaled else (low, high), bound=bound, near=near,
        steps=tuple(_sentences(bounds)), reason=reason, theorems=bounds.theorems,
    )  # fmt: skip


def excess(x: ProgramAccuracy, other: Program) -> Fraction | None:
    """The error in excess of another program's on the inputs found, in units of Σ|a_k·b_k|.

    Ranges and units: exact; None where the other one takes other formats, or gives no finite result.
    """
    near, plan = x.near, other.plan(x.length)
    if any(x.program.input_format(letter) != other.input_format(letter) for letter in "ab"):
        return None
    exact = sum(products_of(other.input_format("a"), other.input_format("b"), near.a, near.b))
    d = decode(plan.fmt, program_result(plan, near.a, near.b, 0))
    if d.kind is not NumberClass.FINITE or not near.magnitude:
        return None
    return (near.error - abs(d.number - exact)) / near.magnitude


def _sentences(bounds: CallBounds) -> list[str]:
    """The error constants of calls, one sentence each."""
    return [
        f"{name}: a call of {n} products loses at most {float(x.own):.6g} of their magnitudes"
        + (f" and {float(x.other):.6g} of |c|" if x.other else "")
        for (name, n, _), x in bounds.used.items()
    ]
