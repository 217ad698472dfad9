"""Claims as questions, refuting inputs, regions of agreement; apart, because theorems build no circuits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeVar

import numpy as np

from tcformal.backends.vector import Vector
from tcformal.design.names import resolve
from tcformal.design.rounding import EXACT_SUM
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.errors import InputError, InvariantError
from tcformal.oracle.values import parse_value
from tcformal.query.assume import Assumptions, from_texts, gaps_of
from tcformal.query.claims.claim_verdict import ClaimPart, Counterexample, PartStatus
from tcformal.query.engine import VECTORS_NAME
from tcformal.query.pair import VECTORS, EqualityQuestion, question
from tcformal.query.properties import PropertyReplay, property_question
from tcformal.query.question import Kind, Question
from tcformal.query.verdict import Verdict
from tcformal.semantics.chain import circuit, declare_inputs, scale_count
from tcformal.simulation.operands.batch import Batch, Integers, Raw, columns, with_scales, witness_at
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import results_of
from tcformal.theory.theorems import SEPARATOR, TheoremAnswer

T = TypeVar("T")

#: The property that a claim states.
_PROPERTIES = {
    "negation-symmetry": "negation-symmetry",
    "zero-products": "zero-products",
    "monotonicity": "monotonic-in-c",
}


def claim_question(spec: UnitSpec, claim: str, what: Assumptions) -> Question | None:
    """The question that expresses a claim under its assumptions; None if no single question does.

    Nor is the symmetry of a composition of calls one: solvers run to their limits.
    """
    name = claim.partition(SEPARATOR)[0]
    if name == "negation-symmetry" and spec.emulation is not None:
        return None
    if name in _PROPERTIES:
        return property_question(_PROPERTIES[name], spec, what)
    like = {"exact-sum": exact_form, "correctly-rounded": rounded_once}.get(name)
    if like is None:
        return None
    return question(spec, like(spec), replace(what, flags=tuple(dict.fromkeys((*what.flags, "finite")))))


def exact_form(spec: UnitSpec) -> UnitSpec:
    """The unit with every sum exact before rounding, c included."""
    design = replace(
        spec.design, fraction_bits=None, c_position="joined", piece_bits=None, normalise_products=False,
        normalise_operands=False, **EXACT_SUM,  # type: ignore[arg-type]
    )  # fmt: skip
    return replace(spec, name=f"{spec.name}, exact sums", design=design)


def rounded_once(spec: UnitSpec) -> UnitSpec:
    """The reference unit of correct rounding: the exact sum with one rounding to D, and the unit's
    NaN words."""
    d, design = spec.operands.d, spec.design
    exact = Design(
        products=spec.k, conversion=f"{design.rho.mode}-E{d.exponent_bits}M{d.fraction_bits}",
        nan_word=design.nan_word, negated=design.negated, zero_sign=design.zero_sign, overflow="ieee",
    )  # fmt: skip
    return replace(spec, name=f"{spec.name}, the exact sum rounded once", design=exact)


def counterexample_of(v: Verdict[Any]) -> Counterexample:
    """The witness of an answered question, as a counterexample."""
    found_by = next((a.solver for a in v.answers if a.model is not None), VECTORS_NAME)
    if isinstance(v.replayed, PropertyReplay):
        calls = v.replayed.operands
        first, second = calls[0], calls[-1]
    else:
        assert v.witness is not None
        first = second = v.witness
    results = v.results
    assert results is not None
    return Counterexample(first=first, second=second, results=(results[0], results[-1]), found_by=found_by)


def counterexample(
    first: tuple[UnitSpec, Witness], second: tuple[UnitSpec, Witness], found_by: str
) -> Counterexample | None:
    """Two runs of units as a counterexample, if integers and exact fractions both show different results."""
    results = (results_of(*first), results_of(*second))
    example = Counterexample(first=first[1], second=second[1], results=results, found_by=found_by)
    return None if results[0] == results[1] else example


#: A refuted claim as a part, and what is said of it in one sentence.
Refuted = tuple[ClaimPart, str]


def constructed_witness(spec: UnitSpec, claim: str, seed: int) -> Refuted | None:
    """Constructed inputs that refute a claim without a question of its own; None if none were found."""
    find = {"product-order": _product_order, "zero-exponent": _zero_exponent}.get(claim)
    return None if find is None else find(spec, seed)


def _zero_exponent(spec: UnitSpec, _seed: int) -> Refuted | None:
    """A refutation of a high zero-term exponent: results change when zero terms have the lowest exponent.

    The products make the least number of D, or half of it, and one is so small that it is cut off at the
    exponent of zero terms, but not at that of the products; c is zero.
    """
    o, scale, design, d = spec.operands, spec.scale_format, spec.design, spec.operands.d
    zero, fraction_bits = design.zero_exponent, design.fraction_bits
    if not isinstance(zero, int) or fraction_bits is None:
        return None
    below = min(o.a.e_min + o.b.e_min + (0 if scale is None else 2 * scale.e_min), o.c.e_min) - 1
    other = replace(
        spec, name=f"{spec.name}@zero_exponent={below}", design=replace(design, zero_exponent=below)
    )
    least, cut = d.e_min - d.fraction_bits, zero - fraction_bits
    choices = product((least, least - 1), (cut - 1, cut - 2), ("-", ""))
    tried = (w for large, small, sign in choices for w in _operands(spec, large, small, sign))
    examples = (counterexample((spec, w), (other, w), "construction") for w in tried)
    example = next((example for example in examples if example is not None), None)
    if example is None:
        return None
    part = ClaimPart(name=f"zero terms at {zero}, or at {below}", status=PartStatus.VIOLATED, witness=example)
    return part, f"the exponent {zero} of zero terms is above those of other terms, and shows beside {below}"


def _operands(spec: UnitSpec, large: int, small: int, sign: str) -> Iterator[Witness]:
    """Witnesses of 2^n equal products with the sum 2^large, and one more product ±2^small."""
    o, scale = spec.operands, spec.scale_format
    for bits in range(min(spec.k, spec.design.products).bit_length() - 1):
        each = large - bits
        # Scales bring the largest powers of two down to what each product is to be.
        scaled = 0 if scale is None else each - o.a.e_max - o.b.e_max
        halves = (scaled // 2, scaled - scaled // 2)
        if scale is not None and not all(scale.e_min <= x <= scale.e_max for x in halves):
            continue
        rows = [_factors(o.a, o.b, each - scaled, "")] * (1 << bits)
        rows.append(_factors(o.a, o.b, small - scaled, sign))
        pairs = [row for row in rows if row is not None]
        if len(pairs) == len(rows):
            zeros = (0,) * (spec.k - len(rows))
            scales = [] if scale is None else [(parse_value(scale, f"2^{x}"),) for x in halves]
            count = scale_count(spec, spec.k) if scale is not None else 0
            yield Witness(
                tuple(a for a, _ in pairs) + zeros, tuple(b for _, b in pairs) + zeros, 0,
                *(row * count for row in scales),
            )  # fmt: skip


def _factors(a: Format, b: Format, exponent: int, sign: str) -> tuple[int, int] | None:
    """Two powers of two with the product ±2^exponent; None where the formats lack them."""
    near = min(max(exponent // 2, a.least_exponent), a.e_max)
    first = min(max(near, exponent - b.e_max), exponent - b.least_exponent)
    if not a.least_exponent <= first <= a.e_max:
        return None
    return parse_value(a, f"{sign}2^{first}"), parse_value(b, f"2^{exponent - first}")


@dataclass(frozen=True, slots=True)
class Move:
    """An exchange of two neighbouring runs of products, or of two scale blocks with their scales.

    Ranges and units: the runs of `size` products begin at `first` and end before `first + 2 * size`; size is
    1, or the unit's scale block.
    """

    first: int
    size: int = 1

    @property
    def name(self) -> str:
        """The description of the exchange."""
        if self.size == 1:
            return f"products {self.first} and {self.first + 1}"
        number = self.first // self.size
        return f"blocks {number} and {number + 1} with their scales"

    def of(self, row: Sequence[T]) -> list[T]:
        """A row of products after the exchange."""
        first, middle, end = (self.first + i * self.size for i in range(3))
        return [*row[:first], *row[middle:end], *row[first:middle], *row[end:]]

    def of_scales(self, row: Sequence[T]) -> list[T]:
        """A row of scales after the exchange; an exchange within a block leaves them unchanged."""
        return list(row) if self.size == 1 else Move(self.first // self.size).of(row)


def moves_of(spec: UnitSpec) -> list[Move]:
    """Exchanges that generate every permutation of products that block scales allow."""
    block = spec.scale_block or spec.k
    neighbours = [Move(i) for i in range(spec.k - 1) if (i + 1) % block]
    return neighbours + [Move(i, block) for i in range(0, spec.k - 2 * block + 1, block)]


def _product_order(spec: UnitSpec, seed: int) -> Refuted | None:
    """A refutation of order independence by seeded vectors: an exchange of the fewest products."""
    tried = inputs_to_try(spec, spec.k, VECTORS, seed)
    graph, root = circuit(spec, spec.k)

    def results(x: Batch) -> Raw:
        return np.broadcast_to(Vector(graph, columns(x)).run([root])[0], (VECTORS,)).astype(np.uint64)

    own = results(tried)
    terms = ((tried.a != 0) | (tried.b != 0)).sum(axis=1)
    for move in moves_of(spec):
        moved = _moved(tried, move)
        other = results(moved)
        rows = np.flatnonzero(own != other)
        if rows.size:
            special = spec.d_format.is_special(own[rows]) | spec.d_format.is_special(other[rows])
            row = int(rows[np.lexsort((terms[rows], special))[0]])
            sides = (spec, witness_at(tried, row)), (spec, witness_at(moved, row))
            found = counterexample(*sides, VECTORS_NAME)
            if found is None:
                return None
            part = ClaimPart(name=f"{move.name} exchanged", status=PartStatus.VIOLATED, witness=found)
            return part, f"the order matters: {move.name} exchanged change a result"
    return None


def _moved(x: Batch, move: Move) -> Batch:
    """Dot products after an exchange of products, with their scales where whole blocks move."""
    order = move.of(range(x.a.shape[1]))
    scales = (
        None if row is None else row[:, move.of_scales(range(row.shape[1]))] for row in (x.scale_a, x.scale_b)
    )
    return Batch(x.a[:, order], x.b[:, order], x.c, *scales)


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
    a[:1], b[:1], c[:1] = 1 << (spec.a_format.width - 1), 0, 1 << (spec.c_format.width - 1)
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


#: The largest spread that is tried.
_MOST = 48


@dataclass(frozen=True, slots=True)
class Nearest:
    """The separating witness of least spread in a search."""

    witness: Witness
    spread: int


def nearest(q: EqualityQuestion, seed: int, n: int = VECTORS) -> Nearest | None:
    """A separating witness of the least spread among seeded vectors; None where no vector separates.

    Spreads below were tried with as many vectors, which proves nothing about them.
    """
    if (at_once := within(q, seed, 0, n // 4)) is not None:
        return at_once
    best, most = None, _MOST
    while most >= 0 and (better := within(q, seed, most, n)) is not None:
        best, most = better, better.spread - 1
    return best


def within(q: EqualityQuestion, seed: int, most: int, n: int = VECTORS // 4) -> Nearest | None:
    """The witness of the least spread up to `most`, then of fewest terms, among n vectors; else None."""
    g, tried = q.graph, close(q.first, q.k, n, seed, most, q.assumptions.exponents)
    if q.assumptions.c is not None:
        tried.c[:] = q.assumptions.c
    terms = gaps_of(g, q.first, declare_inputs(g, q.first, q.k))
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
            return Kind.VIOLATED, (control,), "the results differ where all exponents are equal"
        return Kind.UNKNOWN, (control,), f"the units differ at {control.name}; below it nothing is proved"
    held = ClaimPart(name=f"spread {inside}", status=PartStatus.HOLDS)
    if control is None:
        nothing = "no inputs were found on which they differ"
        return Kind.HOLDS, (held,), f"the units agree within {held.name}; {nothing}"
    return Kind.HOLDS, (held, control), f"the units agree within {held.name}, and differ at {control.name}"


def _shown(first: UnitSpec, second: UnitSpec, what: Assumptions, outside: Nearest) -> ClaimPart | None:
    """Inputs on which two units differ, replayed under the assumptions and their spread."""
    outer = question(first, second, replace(what, spread=outside.spread))
    if not outer.replay(outside.witness.inputs()).confirms:
        return None
    w = counterexample((first, outside.witness), (second, outside.witness), "vectors")
    return None if w is None else ClaimPart(
        name=f"spread {outside.spread}", status=PartStatus.VIOLATED, witness=w, control=outside.spread > 0
    )  # fmt: skip
