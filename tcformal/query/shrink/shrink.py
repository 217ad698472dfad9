"""Greedy shrinking of a witness: fewest nonzero terms, round values, exponents near zero."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

import numpy as np

from tcformal.backends.vector import Vector
from tcformal.encodings.spec import Format, Sign
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import ExactValue, NumberClass, decode
from tcformal.query.pair import EqualityQuestion
from tcformal.query.shrink.neighbours import candidates, templates
from tcformal.simulation.operands.batch import batch_of, columns
from tcformal.simulation.operands.witness import Witness

#: Costs: a term that is not zero, a scale that is not 1, a fraction bit that is set, NaN or Inf.
_TERM, _SCALE, _BIT, _SPECIAL = 400, 150, 12, 2000
#: Candidates evaluated in one batch.
_BATCH = 4096
#: Number of products up to which templates are not tried.
_FEW = 2
#: A changed part of a witness: `product` i, `scale_a` or `scale_b` i, or `c` 0.
ChangedPart = tuple[str, int]
_C: ChangedPart = ("c", 0)


@lru_cache(maxsize=1 << 16)
def value_cost(fmt: Format, raw: int) -> int:
    """The cost of reading a value: 0 for +0, small for powers of two near 1, large for NaN and Inf."""
    if raw == 0:
        return 0
    value = decode(fmt, raw)
    return _TERM + _digits_cost(fmt, raw, value) if value.kind is NumberClass.FINITE else _SPECIAL


@lru_cache(maxsize=1 << 16)
def scale_cost(fmt: Format, raw: int) -> int:
    """The cost of reading a scale: 0 for 1, small for powers of two near 1, more for zero, large for NaN."""
    if raw == fmt.one:
        return 0
    value = decode(fmt, raw)
    return _SCALE + _digits_cost(fmt, raw, value) if value.kind is NumberClass.FINITE else _SPECIAL


def _digits_cost(fmt: Format, raw: int, value: ExactValue) -> int:
    """The cost of a finite number's bits: set fraction bits, exponent, sign, ignored bits."""
    fraction = (raw >> fmt.ignored_low_bits) & ((1 << fmt.fraction_bits) - 1)
    ignored = raw & ((1 << fmt.ignored_low_bits) - 1)
    if fmt.sign is Sign.IGNORED:
        ignored |= raw & (1 << (fmt.width - 1))
    subnormal = 30 if value.magnitude < power_of_two(fmt.e_min) else 0
    spread = fraction.bit_length() and fmt.fraction_bits - (fraction & -fraction).bit_length() + 1
    sign = 3 if raw >> (fmt.width - 1) and fmt.sign is Sign.PRESENT else 0
    return (
        _BIT * fraction.bit_count()
        + spread
        + abs(value.exponent)
        + subnormal
        + sign
        + 5 * ignored.bit_count()
    )


def witness_cost(question: EqualityQuestion, w: Witness) -> int:
    """The cost of reading a witness: the sum over operands, plus a little for each product's position."""
    o = question.first.operands
    places = sum(i for i, (x, y) in enumerate(zip(w.a, w.b, strict=True)) if x or y)
    factors = sum(value_cost(o.a, x) for x in w.a) + sum(value_cost(o.b, x) for x in w.b)
    fmt = question.first.scale_format
    scales = sum(scale_cost(fmt, x) for x in (*w.scale_a, *w.scale_b)) if fmt is not None else 0
    return places + factors + scales + value_cost(o.c, w.c)


def shrink(question: EqualityQuestion, witness: Witness, *, seconds: float = 4.0) -> Witness:
    """A separating witness of at most the same cost, by greedy descent in batches.

    The given witness is returned where no simpler one separates within `seconds`.
    """
    deadline = time.monotonic() + seconds
    cost = _costs(question, [witness])[0]
    if cost is None:
        return witness
    cost, best = _descend(question, cost, witness, deadline)
    live = sum(1 for x, y in zip(best.a, best.b, strict=True) if x or y)
    if live > _FEW:
        cheaper = _first_cheaper(question, templates(question, best), cost, deadline)
        if cheaper is not None:
            best = _descend(question, *cheaper, deadline)[1]
    return best


def _descend(question: EqualityQuestion, cost: int, best: Witness, deadline: float) -> tuple[int, Witness]:
    """Greedy descent: move to the cheapest neighbour until none is cheaper."""
    while (cheaper := _first_cheaper(question, candidates(question, best), cost, deadline, best)) is not None:
        cost, best = cheaper
    return cost, best


def _first_cheaper(
    question: EqualityQuestion,
    tried: Iterator[Witness],
    cost: int,
    deadline: float,
    base: Witness | None = None,
) -> tuple[int, Witness] | None:
    """The cheapest witness of the first batch that has one below `cost`; None if there is none.

    After the deadline no further batch is evaluated.  With `base`, whose neighbours the batch holds,
    combinations of the batch's changes are tried too.
    """
    while time.monotonic() < deadline and (batch := list(islice(tried, _BATCH))):
        better = _cheaper(question, batch, cost)
        if better and base is not None:
            # Changes of different products and of c go together more often than not.
            better += _cheaper(question, _merged(base, [w for _, w in better]), cost)
        if better:
            return min(better, key=lambda entry: entry[0])
    return None


def _costs(question: EqualityQuestion, batch: list[Witness]) -> list[int | None]:
    """The cost of each candidate, with a penalty for NaN and Inf results; None if it does not separate."""
    penalties = _result_cost(question, batch)
    return [
        None if p is None else p + witness_cost(question, w) for w, p in zip(batch, penalties, strict=True)
    ]


def _cheaper(question: EqualityQuestion, batch: list[Witness], cost: int) -> list[tuple[int, Witness]]:
    """The separating candidates below a cost, cheapest first."""
    if not batch:
        return []
    costs = _costs(question, batch)
    cheaper = [(c, w) for c, w in zip(costs, batch, strict=True) if c is not None and c < cost]
    return sorted(cheaper, key=lambda entry: entry[0])


def _merged(base: Witness, better: Sequence[Witness]) -> list[Witness]:
    """The first candidate, with the disjoint changes of the following ones applied cumulatively."""
    merged, steps = better[0], []
    for other in better[1:]:
        changed = _changed(base, other)
        if changed and not changed & _changed(base, merged):
            merged = replace(
                merged,
                a=_merged_row("product", merged.a, other.a, changed),
                b=_merged_row("product", merged.b, other.b, changed),
                c=other.c if _C in changed else merged.c,
                scale_a=_merged_row("scale_a", merged.scale_a, other.scale_a, changed),
                scale_b=_merged_row("scale_b", merged.scale_b, other.scale_b, changed),
            )
            steps.append(merged)
    return steps


def _merged_row(
    what: str, mine: tuple[int, ...], theirs: tuple[int, ...], changed: set[ChangedPart]
) -> tuple[int, ...]:
    return tuple(theirs[i] if (what, i) in changed else x for i, x in enumerate(mine))


def _changed(base: Witness, other: Witness) -> set[ChangedPart]:
    """The parts (products, scales, c) in which two witnesses differ."""
    rows: dict[str, tuple[Iterable[object], Iterable[object]]] = {
        "product": (zip(base.a, base.b, strict=True), zip(other.a, other.b, strict=True)),
        "scale_a": (base.scale_a, other.scale_a),
        "scale_b": (base.scale_b, other.scale_b),
        "c": ((base.c,), (other.c,)),
    }
    return {
        (what, i)
        for what, (mine, theirs) in rows.items()
        for i, (x, y) in enumerate(zip(mine, theirs, strict=True))
        if x != y
    }


def _result_cost(question: EqualityQuestion, batch: list[Witness]) -> list[int | None]:
    """The penalty for NaN or Inf results; None for a candidate that does not separate."""
    roots = [question.differ, *question.results]
    lanes = Vector(question.graph, columns(batch_of(batch))).run(roots)
    differ, *results = (np.broadcast_to(v, (len(batch),)) for v in lanes)
    d = question.first.operands.d
    special = np.sum([d.is_special(r.astype(np.uint64)) for r in results], axis=0)
    penalties: list[int | None] = [None] * len(batch)
    for i in np.flatnonzero(differ).tolist():
        penalties[i] = _SPECIAL * int(special[i])
    return penalties
