"""Shrink a witness for people: fewest non-zero terms, round values, exponents near zero."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from tcformal.formats.spec import Format, Sign
from tcformal.interp.vector import Vector
from tcformal.oracle.values import Kind, decode, power_of_two
from tcformal.query.neighbours import candidates, templates
from tcformal.query.spec import Question, Witness

#: Costs: a term that is not zero, a fraction bit that is set, NaN or Inf.
_TERM, _BIT, _SPECIAL = 400, 12, 2000
#: Candidates judged at once.
_BATCH = 2048
#: A witness of at most so many products is not looked for among the templates.
_FEW = 2
#: Stands for c among the indices of products.
_C = -1


def value_cost(fmt: Format, raw: int) -> int:
    """How hard a value is to read: 0 for +0, small for powers of two near 1, large for NaN and Inf."""
    if raw == 0:
        return 0
    value = decode(fmt, raw)
    if value.kind is not Kind.FINITE:
        return _SPECIAL
    fraction = (raw >> fmt.ignored_low_bits) & ((1 << fmt.fraction_bits) - 1)
    ignored = raw & ((1 << fmt.ignored_low_bits) - 1)
    subnormal = 30 if value.magnitude < power_of_two(fmt.e_min) else 0
    spread = fraction.bit_length() and fmt.fraction_bits - (fraction & -fraction).bit_length() + 1
    sign = 3 if raw >> (fmt.width - 1) and fmt.sign is Sign.PRESENT else 0
    return (
        _TERM
        + _BIT * fraction.bit_count()
        + spread
        + abs(value.exponent)
        + subnormal
        + sign
        + 5 * ignored.bit_count()
    )


def witness_cost(question: Question, w: Witness) -> int:
    """The sum over all operands, and a little for every position that a non-zero product stands back."""
    o = question.first.operands
    places = sum(i for i, (x, y) in enumerate(zip(w.a, w.b, strict=True)) if x or y)
    factors = sum(value_cost(o.a, x) for x in w.a) + sum(value_cost(o.b, x) for x in w.b)
    return places + factors + value_cost(o.c, w.c)


def shrink(question: Question, witness: Witness, *, seconds: float = 4.0) -> Witness:
    """A witness that still separates and costs no more: greedy, in rounds of whole batches.

    Errors: none; the given witness comes back where nothing simpler separates.
    """
    deadline = time.monotonic() + seconds
    cost = _costs(question, [witness])[0]
    if cost is None:
        return witness
    cost, best = _descend(question, cost, witness, deadline)
    live = sum(1 for x, y in zip(best.a, best.b, strict=True) if x or y)
    if live > _FEW:
        found = _first_cheaper(question, templates(question, best), cost, deadline)
        if found is not None:
            best = _descend(question, *found, deadline)[1]
    return best


def _descend(question: Question, cost: int, best: Witness, deadline: float) -> tuple[int, Witness]:
    """Go to the cheapest neighbour until there is none."""
    while (found := _first_cheaper(question, candidates(question, best), cost, deadline, best)) is not None:
        cost, best = found
    return cost, best


def _first_cheaper(
    question: Question,
    tried: Iterator[Witness],
    cost: int,
    deadline: float,
    base: Witness | None = None,
) -> tuple[int, Witness] | None:
    """The cheapest witness of the first batch that has one below `cost`.

    None where no batch has one, or time is up; with `base`, of which the batch are neighbours, they
    are also tried together.
    """
    while time.monotonic() < deadline and (batch := list(islice(tried, _BATCH))):
        better = _cheaper(question, batch, cost)
        if better and base is not None:
            # Changes of different products and of c go together more often than not.
            better += _cheaper(question, _merged(base, [w for _, w in better]), cost)
        if better:
            return min(better, key=lambda entry: entry[0])
    return None


def _costs(question: Question, batch: list[Witness]) -> list[int | None]:
    """The cost of each candidate, NaN and Inf among its results included; None where it does not separate."""
    penalties = _result_cost(question, batch)
    return [
        None if p is None else p + witness_cost(question, w) for w, p in zip(batch, penalties, strict=True)
    ]


def _cheaper(question: Question, batch: list[Witness], cost: int) -> list[tuple[int, Witness]]:
    """The candidates that separate and cost less, cheapest first."""
    if not batch:
        return []
    costs = _costs(question, batch)
    found = [(c, w) for c, w in zip(costs, batch, strict=True) if c is not None and c < cost]
    return sorted(found, key=lambda entry: entry[0])


def _merged(base: Witness, better: Sequence[Witness]) -> list[Witness]:
    """The first candidate with the changes of the next ones added one by one, where they do not overlap."""
    merged, steps = better[0], []
    for other in better[1:]:
        changed = _changed(base, other)
        if changed and not changed & _changed(base, merged):
            merged = replace(
                merged,
                a=tuple(other.a[i] if i in changed else x for i, x in enumerate(merged.a)),
                b=tuple(other.b[i] if i in changed else x for i, x in enumerate(merged.b)),
                c=other.c if _C in changed else merged.c,
            )
            steps.append(merged)
    return steps


def _changed(base: Witness, other: Witness) -> set[int]:
    """The products that differ, and _C where c does."""
    pairs = zip(base.a, base.b, other.a, other.b, strict=True)
    changed = {i for i, (a, b, x, y) in enumerate(pairs) if (a, b) != (x, y)}
    return changed | {_C} if base.c != other.c else changed


def _result_cost(question: Question, batch: list[Witness]) -> list[int | None]:
    """None where a candidate does not separate; else a penalty for NaN or Inf among the results."""
    inputs = {name: np.array(column, dtype=np.uint64) for name, column in _columns(question, batch)}
    roots = [question.differ, *question.results]
    differ, first, second = (
        np.broadcast_to(v, (len(batch),)) for v in Vector(question.graph, inputs).run(roots)
    )
    d = question.first.operands.d
    limit = d.infinity
    body = (1 << (d.width - 1)) - 1
    penalties: list[int | None] = []
    for ok, x, y in zip(differ.tolist(), first.tolist(), second.tolist(), strict=True):
        special = sum((int(r) & body) >= limit for r in (x, y))
        penalties.append(_SPECIAL * special if ok else None)
    return penalties


def _columns(question: Question, batch: list[Witness]) -> Iterator[tuple[str, list[int]]]:
    for i in range(question.k):
        yield f"a[{i}]", [w.a[i] for w in batch]
        yield f"b[{i}]", [w.b[i] for w in batch]
    yield "c", [w.c for w in batch]
