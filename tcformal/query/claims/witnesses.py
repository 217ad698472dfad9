"""Claims as questions to the engine, and refuting inputs constructed from a unit's parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from tcformal.backends.vector import Vector
from tcformal.design.rounding import EXACT_SUM
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.oracle.values import parse_value
from tcformal.programs.chain import circuit, scale_count
from tcformal.query.assume import Assumptions
from tcformal.query.claims.verdict import ClaimPart, Counterexample, PartStatus
from tcformal.query.engine import VECTORS_NAME
from tcformal.query.kinds.property.question import PropertyReplay, property_question
from tcformal.query.pair import question
from tcformal.query.question import Question
from tcformal.query.replay import results_of
from tcformal.query.search import VECTORS
from tcformal.query.verdict import Verdict
from tcformal.simulation.operands.batch import columns, inputs_to_try, witness_at
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.operands.witness import Witness
from tcformal.theory.theorems import SEPARATOR

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
    neutral: dict[str, Any] = {
        **EXACT_SUM, "fraction_bits": None, "c_position": "joined", "piece_bits": None,
        "normalise_products": False, "normalise_operands": False,
    }  # fmt: skip
    return replace(spec, name=f"{spec.name}, exact sums", design=replace(spec.design, **neutral))


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


def _zero_exponent(spec: UnitSpec, seed: int) -> Refuted | None:
    """A refutation of a high zero-term exponent: results change when zero terms have the lowest exponent."""
    o, scale, zero = spec.operands, spec.scale_format, spec.design.zero_exponent
    below = min(o.a.e_min + o.b.e_min + (0 if scale is None else 2 * scale.e_min), o.c.e_min) - 1
    example = zero_term_shown(spec, below)
    reason = f"the exponent {zero} of zero terms is above those of other terms, and shows beside {below}"
    part = ClaimPart(name=f"zero terms at {zero}, or at {below}", status=PartStatus.VIOLATED, witness=example)
    return None if example is None else (part, reason)


def zero_term_shown(spec: UnitSpec, below: int) -> Counterexample | None:
    """Inputs whose result changes when zero terms get the exponent `below`; None if none were found.

    The products make the least number of D, or half of it, and one is so small that it is cut off at the
    exponent of zero terms, but not at that of the products; c is zero.
    """
    design, d = spec.design, spec.operands.d
    if not isinstance(design.zero_exponent, int) or design.fraction_bits is None:
        return None
    other = replace(
        spec, name=f"{spec.name}@zero_exponent={below}", design=replace(design, zero_exponent=below)
    )
    least, cut = d.e_min - d.fraction_bits, design.zero_exponent - design.fraction_bits
    for large in (least, least - 1):
        for small in (cut - 1, cut - 2):
            for sign in ("-", ""):
                for w in _operands(spec, large, small, sign):
                    example = counterexample((spec, w), (other, w), "construction")
                    if example is not None:
                        return example
    return None


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
    first = min(max(exponent // 2, a.e_min - a.fraction_bits), a.e_max)
    second = exponent - first
    if second > b.e_max:
        first, second = exponent - b.e_max, b.e_max
    least = b.e_min - b.fraction_bits
    if second < least:
        first, second = exponent - least, least
    if not a.e_min - a.fraction_bits <= first <= a.e_max:
        return None
    return parse_value(a, f"{sign}2^{first}"), parse_value(b, f"2^{second}")


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
        return _exchanged(row, self.first, self.size)

    def of_scales(self, row: Sequence[T]) -> list[T]:
        """A row of scales after the exchange; an exchange within a block leaves them unchanged."""
        return list(row) if self.size == 1 else _exchanged(row, self.first // self.size, 1)


def _exchanged(row: Sequence[T], first: int, size: int) -> list[T]:
    middle, end = first + size, first + 2 * size
    return [*row[:first], *row[middle:end], *row[first:middle], *row[end:]]


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

    def exchanged(of: Callable[[list[Raw]], list[Raw]], array: Raw) -> Raw:
        return np.stack(of(list(array.T)), axis=1)

    scales = (None if row is None else exchanged(move.of_scales, row) for row in (x.scale_a, x.scale_b))
    return Batch(exchanged(move.of, x.a), exchanged(move.of, x.b), x.c, *scales)
