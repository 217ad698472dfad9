"""Random comparison of two programs: how often one has the larger error, and where most."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tcformal.encodings.spec import Format
from tcformal.oracle import exact_errors as oracle
from tcformal.query.comparison.parameters import ComparedPrograms
from tcformal.simulation.operands.batch import Batch, Raw, witness_at
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.runnable import RunnableProgram

#: What rows are made of, in equal parts.
FAMILIES: dict[str, str] = {
    "near": "exponents within a few of each other",
    "wide": "exponents anywhere in the range",
    "falling": "one large product, then positive ones far below it",
    "cancelling": "the second half of the products takes most of the first away",
}
#: Most exact products that are formed for rows whose results differ, and most such rows.
_MOST_EXACT, _MOST_COMPARED = 1 << 18, 1 << 11


@dataclass(frozen=True, slots=True)
class Drawn:
    """The outcome of a random comparison.

    Ranges and units: `worse`, `better`, `equal` count rows by their errors, among those that were compared.
    """

    tried: int
    compared: int
    worse: int
    better: int
    equal: int
    #: The row with the largest excess, and that excess in the measure asked for; None: none is larger.
    witness: Witness | None
    excess: Fraction | None


def drawn_rows(what: ComparedPrograms, n: int, seed: int) -> Batch:
    """Random rows that satisfy the exponent ranges and the assumptions about signs and zeros."""
    rng = np.random.default_rng([seed, 17])
    formats, k, flags = what.formats, what.products, what.assumptions.flags
    sparse = rng.random((n, 1)) < 0.5
    which = np.arange(n) % len(FAMILIES)
    rows = {}
    low, high = what.exponents
    middle = rng.integers(low, high + 1, (n, 1))
    depth = rng.integers(0, high - low + 1, (n, 1))
    for letter in "ab":
        near = middle + rng.integers(-2, 3, (n, k))
        wide = rng.integers(low, high + 1, (n, k))
        falling = np.where(np.arange(k) == 0, high, high - depth)
        e = np.select([which[:, None] == 1, which[:, None] == 2], [wide, falling], near)
        signs = rng.integers(0, 2, (n, k)) * (which[:, None] != 2)
        if "positive" in flags:
            signs[:] = 0
        rows[letter] = _encoded(rng, formats[letter], signs, np.clip(e, low, high), sparse)
    if k > 1 and "positive" not in flags:
        half, cancel = k // 2, np.flatnonzero(which == 3)
        for letter, sign in (("a", formats["a"].sign_bit), ("b", 0)):
            x = rows[letter]
            x[cancel, half : 2 * half] = x[cancel, :half] ^ np.uint64(sign)
    if not {"nonzero", "normal"} & set(flags):
        rows["a"] = np.where(rng.random((n, k)) < 0.05, np.uint64(0), rows["a"])
    return Batch(rows["a"], rows["b"], _accumulators(rng, what, n, middle[:, 0]))


def _accumulators(rng: np.random.Generator, what: ComparedPrograms, n: int, middle: np.ndarray) -> Raw:
    """Random values of c: the assumed value, else zeros and numbers near the products."""
    fmt, (low, high) = what.formats["c"], what.c_exponents
    if what.assumptions.c is not None:
        return np.full(n, what.assumptions.c, np.uint64)
    e = np.clip(2 * middle + rng.integers(-20, 6, n), low, high)
    signs = np.zeros(n, np.int64) if "positive" in what.assumptions.flags else rng.integers(0, 2, n)
    c = _encoded(rng, fmt, signs[:, None], e[:, None], rng.random((n, 1)) < 0.5)[:, 0]
    if {"nonzero", "normal"} & set(what.assumptions.flags):
        return c
    return np.where(rng.random(n) < 0.3, np.uint64(0), c)


def _encoded(
    rng: np.random.Generator, fmt: Format, signs: np.ndarray, e: np.ndarray, sparse: np.ndarray
) -> Raw:
    """Encodings of normal numbers with these signs and exponents, clamped to the format."""
    field = (np.clip(e, fmt.e_min, fmt.e_max) + fmt.bias).astype(np.uint64)
    t = fmt.fraction_bits
    fraction = rng.integers(0, 1 << t, e.shape, dtype=np.uint64) if t else np.zeros(e.shape, np.uint64)
    kept = np.uint64(((1 << t) - 1) ^ ((1 << (t // 2)) - 1))
    fraction = np.where(sparse, fraction & kept, fraction)
    body = (field << np.uint64(t) | fraction) << np.uint64(fmt.ignored_low_bits)
    body = np.minimum(body, np.uint64(fmt.largest))
    words: Raw = np.where(signs.astype(bool), body | np.uint64(fmt.sign_bit), body)
    return words


def draw(what: ComparedPrograms, n: int, seed: int) -> Drawn:
    """Run both programs on n random rows, and compare errors exactly where results differ.

    Shapes: rows whose results differ are compared in order, 2^11 of them, and fewer where they are long.
    Zero, NaN, Inf: rows with a result that is no number are left out.
    """
    x = drawn_rows(what, n, seed)
    results = [RunnableProgram(p).evaluate(x.a, x.b, x.c) for p in what.programs]
    parted = np.flatnonzero(results[0].astype(np.uint64) != results[1].astype(np.uint64))
    if what.differ:
        first = None if not parted.size else witness_at(x, int(parted[0]))
        return Drawn(n, n, int(parted.size), 0, n - int(parted.size), first, None)
    most = max(1, min(_MOST_COMPARED, _MOST_EXACT // what.products))
    counts = {True: 0, False: 0}
    most_excess, worst = Fraction(0), None
    equal = n - int(parted.size)
    for row in parted[:most].tolist():
        w = witness_at(x, row)
        excess, share = _excess(what, w, [int(r[row]) for r in results])
        if excess is None or not excess:
            equal += excess is not None
            continue
        counts[excess > 0] += 1
        if share is not None and share > most_excess:
            most_excess, worst = share, w
    compared = n - max(0, int(parted.size) - most)
    return Drawn(
        n, compared, counts[True], counts[False], equal, worst, None if worst is None else most_excess
    )


def _excess(
    what: ComparedPrograms, w: Witness, results: list[int]
) -> tuple[Fraction | None, Fraction | None]:
    """The excess error of a row, exact and in the requested measure; None where it is undefined."""
    products, exact, (first, second) = what.exact_errors(w, results)
    if exact is None or products is None or first is None or second is None:
        return None, None
    excess = first - second if what.first_is_worse else second - first
    if what.measure == "sum":
        whole = sum(map(abs, products), Fraction(0))
        return excess, excess / whole if whole else None
    if what.more_than is None and not exact:
        return excess, Fraction(1, 1 << 60) if excess > 0 else None
    return excess, excess / oracle.ulp(exact, what.ulp_format) if exact else None
