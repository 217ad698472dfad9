"""Regions of agreement: the exponent spread within which two units agree, with inputs of the next spread."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tcformal.backends.vector import Vector
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.errors import InputError, InvariantError
from tcformal.programs.chain import OperandNodes
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.claims.verdict import ClaimPart, PartStatus
from tcformal.query.claims.witnesses import counterexample
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.question import Kind
from tcformal.query.replay import replay
from tcformal.query.spread import gaps_of
from tcformal.simulation.operands.batch import Integers, columns, witness_at
from tcformal.simulation.operands.random import Batch, Raw, with_scales
from tcformal.simulation.operands.witness import Witness
from tcformal.theory.theorems import SEPARATOR, TheoremAnswer

#: Shares: of rows in which two products cancel, of rows of the largest spread, of subnormals where they fit.
_CANCELLING, _WIDEST, _SUBNORMAL = 0.3, 0.7, 0.25
#: Shares of products that have the largest exponent.
_AT_TOP = (0.3, 0.5, 0.8, 0.95)


def close(spec: UnitSpec, k: int, n: int, seed: int, most: int, span: tuple[int, int] | None = None) -> Batch:
    """Random dot products of K terms with exponent spreads of 0 to `most`; half of them include c.

    Ranges and units: the exponents of elements are in `span`, or anywhere; scales are 1.
    Zero, NaN, Inf: a few encodings of large exponents are NaN or Inf.
    """
    rng = np.random.default_rng([seed, most, 2])
    (alow, ahigh), (blow, bhigh), (clow, chigh) = (
        _range(fmt, span) for fmt in (spec.a_format, spec.b_format, spec.c_format)
    )
    spread = np.where(rng.random(n) < _WIDEST, most, rng.integers(0, most + 1, n))
    top = rng.integers(alow + blow, ahigh + bhigh + 1, n)
    shape = (n, k)
    depth = rng.integers(0, spread[:, None] + 1, shape)
    edge, at_top = rng.random(shape), rng.choice(_AT_TOP, n)[:, None]
    depth = np.where(edge < at_top, 0, np.where(edge < (1 + at_top) / 2, spread[:, None], depth))
    e = np.maximum(top[:, None] - depth, alow + blow)
    first = rng.integers(np.maximum(alow, e - bhigh), np.minimum(ahigh, e - blow) + 1)
    style = rng.integers(0, 9, n)
    a = _encoded(rng, spec.a_format, first, style[:, None])
    b = _encoded(rng, spec.b_format, e - first, style[:, None])
    # One sign up to some place, the other from there on, so that what a first block loses is seen.
    late = (style[:, None] >= 6) & (np.arange(k) >= rng.integers(0, k + 1, n)[:, None])
    a ^= late.astype(np.uint64) << np.uint64(spec.a_format.width - 1)
    density = rng.choice([2 / k, 0.3, 0.7, 1.0], n)
    a = np.where(rng.random(shape) < density[:, None], a, np.uint64(0))
    if k > 1:
        rows = np.flatnonzero(rng.random(n) < _CANCELLING)
        x, y = rng.integers(0, k, len(rows)), rng.integers(0, k, len(rows))
        sign = np.uint64(1 << (spec.a_format.width - 1))
        a[rows, y], b[rows, y] = np.where(x != y, a[rows, x] ^ sign, a[rows, y]), b[rows, x]
    at = np.clip(top - np.where(rng.random(n) < 0.5, spread, rng.integers(0, spread + 1)), clow, chigh)
    c = _encoded(rng, spec.c_format, at, style)
    c = np.where(rng.random(n) < 0.5, np.uint64(0), c)
    b = np.where(a == 0, np.uint64(0), b)
    # Nothing but negative zeros, which shows the sign of a zero sum.
    a[:1], b[:1], c[:1] = (
        a[:1] & 0 | np.uint64(1 << (spec.a_format.width - 1)),
        0,
        1 << (spec.c_format.width - 1),
    )
    return with_scales(spec, Batch(a, b, c))


def _range(fmt: Format, span: tuple[int, int] | None) -> tuple[int, int]:
    """The range of a format's normal exponents, intersected with a span."""
    low, high = span or (fmt.e_min, fmt.e_max)
    return max(low, fmt.e_min), min(high, fmt.e_max)


def _encoded(rng: np.random.Generator, fmt: Format, exponent: Integers, style: Integers) -> Raw:
    """Random numbers with given exponents; each row's `style` sets the signs and the kind of fractions."""
    shape, t = exponent.shape, fmt.fraction_bits
    full = (1 << t) - 1
    random = rng.integers(0, full + 1, shape)
    kinds = np.where((style % 3 == 2) & (rng.random(shape) < 0.9), 1, rng.integers(0, 5, shape))
    fraction = np.select([kinds == 0, kinds == 1, kinds == 2], [0, full, 1], random) & full
    field = exponent + fmt.bias
    low = (exponent == fmt.e_min) & (rng.random(shape) < _SUBNORMAL)
    field = np.where(low, 0, field)
    word = (field.astype(np.uint64) << np.uint64(t)) | fraction.astype(np.uint64)
    if fmt.sign is Sign.PRESENT:
        negative = (rng.random(shape) < 0.5) & (style // 3 == 1)
        word |= negative.astype(np.uint64) << np.uint64(t + fmt.exponent_bits)
    return word << np.uint64(fmt.ignored_low_bits)


#: Dot products tried at once, and the largest spread that is tried.
VECTORS, _MOST = 6144, 48


@dataclass(frozen=True, slots=True)
class Nearest:
    """The separating witness of least spread in a search."""

    witness: Witness
    spread: int


def nearest(q: EqualityQuestion, seed: int, n: int = VECTORS) -> Nearest | None:
    """A separating witness of the least spread among seeded vectors; None where no vector separates.

    Spreads below were tried with as many vectors, which proves nothing about them.
    """
    best, most = at_once(q, seed, n), _MOST
    if best is not None:
        return best
    while most >= 0:
        better = _least(q, seed, n, most)
        if better is None:
            return best
        best, most = better, better.spread - 1
    return best


def at_once(q: EqualityQuestion, seed: int, n: int = VECTORS) -> Nearest | None:
    """A separating witness whose terms all have one exponent; None if no vector is one."""
    return within(q, seed, 0, n // 4)


def within(q: EqualityQuestion, seed: int, most: int, n: int = VECTORS // 4) -> Nearest | None:
    """A separating witness of least spread up to `most` among n vectors; None if no vector is one."""
    return _least(q, seed, n, most)


def _least(q: EqualityQuestion, seed: int, n: int, most: int) -> Nearest | None:
    """The witness of the least spread, then fewest terms, among n vectors of spreads up to `most`."""
    g, tried = q.graph, close(q.first, q.k, n, seed, most, q.assumptions.exponents)
    if q.assumptions.c is not None:
        tried.c[:] = q.assumptions.c
    terms = gaps_of(g, q.first, operands_of(q)).terms
    gaps = [g.ite(x.live, x.gap, g.const(0, x.gap.width)) for x in terms]
    values = Vector(g, columns(tried)).run([q.differ, *gaps])
    differ, *below = (np.broadcast_to(x, (n,)) for x in values)
    spread = np.max([x.astype(np.int64) for x in below], axis=0)
    rows = np.flatnonzero(differ & (spread <= most))
    if not rows.size:
        return None
    count = ((tried.a[rows] != 0) & (tried.b[rows] != 0)).sum(axis=1)
    best = rows[np.lexsort((count, spread[rows]))[0]]
    return Nearest(witness_at(tried, int(best)), int(spread[best]))


def operands_of(q: EqualityQuestion) -> OperandNodes:
    """The input nodes of a question, as operands of a unit."""
    named = q.graph.inputs
    rows = {name: [named[f"{name}[{i}]"] for i in range(q.k)] for name in ("a", "b")}
    scales = {
        letter: [x for name, x in named.items() if name.startswith(f"scale_{letter}[")] for letter in "ab"
    }
    return OperandNodes(rows["a"], rows["b"], named["c"], scales["a"], scales["b"])


#: What is said of units that agree within no spread.
AT_ONCE = "differ where all exponents are equal"


def region_shown(
    first: UnitSpec, claim: str, theorem: TheoremAnswer | None, seed: int
) -> tuple[Kind, tuple[ClaimPart, ...], str]:
    """The verdict on an agreement claim, its parts, and evidence: the spread, and inputs of the next one.

    Without a theorem the claim is VIOLATED by inputs whose exponents are all equal, and else UNKNOWN.
    Errors: InputError for a claim with a spread, which is what is looked for.
    """
    _, name, *texts = claim.split(SEPARATOR)
    second, what = resolve(name), from_texts(first.operands.c, texts)
    if what.spread is not None:
        raise InputError("expected assumptions other than spread, which is looked for, but got one")
    numbers = {} if theorem is None else theorem.instance.numbers
    inside = int(numbers.get("spread", -1))
    if theorem is not None and inside >= numbers["high"] - numbers["low"]:
        every = ClaimPart(name="every spread", status=PartStatus.HOLDS)
        return Kind.HOLDS, (every,), "the units agree within every spread"
    q = question(first, second, what)
    outside = within(q, seed, inside + 1) or nearest(q, seed)
    if outside is not None and outside.spread <= inside:
        raise InvariantError(
            f"expected {first.name} and {name} to agree within {inside}, but they differ at {outside.spread}"
        )
    control = None if outside is None else _shown(first, second, what, outside)
    if theorem is None:
        if control is None:
            return Kind.UNKNOWN, (), "no inputs were found on which the units differ"
        if outside is not None and outside.spread == 0:
            return Kind.VIOLATED, (control,), f"the results {AT_ONCE}"
        return Kind.UNKNOWN, (control,), f"the units differ at {control.name}; below it nothing is proved"
    held = ClaimPart(name=f"spread {inside}", status=PartStatus.HOLDS)
    if control is None:
        said = f"the units agree within {held.name}; no inputs were found on which they differ"
        return Kind.HOLDS, (held,), said
    return Kind.HOLDS, (held, control), f"the units agree within {held.name}, and differ at {control.name}"


def _shown(first: UnitSpec, second: UnitSpec, what: Assumptions, outside: Nearest) -> ClaimPart | None:
    """Inputs on which two units differ, replayed under the assumptions and their spread."""
    outer = question(first, second, replace(what, spread=outside.spread))
    if not replay(outer, outside.witness).confirms:
        return None
    w = counterexample((first, outside.witness), (second, outside.witness), "vectors")
    return None if w is None else ClaimPart(
        name=f"spread {outside.spread}", status=PartStatus.VIOLATED, witness=w, control=outside.spread > 0
    )  # fmt: skip
