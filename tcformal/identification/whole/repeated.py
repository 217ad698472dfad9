"""Products that give several results for the same operands: the orders in which they sum, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, permutations
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.encodings.spec import Format
from tcformal.identification.whole.chains import ChainUnits, candidates, product_in_order
from tcformal.identification.whole.operands import as_words, cancelling_operands
from tcformal.identification.whole.order import NoProductOrderError, ProductProbe, SumChain
from tcformal.identification.whole.words import described
from tcformal.simulation.arrays import dtypes

ProductOperands = tuple[NDArray[Any], NDArray[Any]]
#: ProductOperands of the first look, and how often each is asked.
_DENSE, _LOOKS = 6, 5
#: Calls with the same operands that count the orders; rows of operands of which those that tell most orders
#: apart are taken.
_CALLS, _ROWS = 100, 2048
#: Answers to one mask that must be alike, for its two terms to be taken as always summed alike.
_ALIKE = 8
#: Orders in which sums that are always formed alike may be added up: in any way, or else one after the other.
_MOST = 400
#: Exponents over which these sums are spread.
_SPREAD = 16
#: Orders with the same result that are written out.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class SeenOrders:
    """What calls with the same operands gave, where it was not always the same.

    Ranges and units: `answers`: how often each result came in `calls`, the most frequent first; `parts`: the
    sums that are formed alike in every call; `orders`: the orders of these that give the results with the
    arithmetic of `unit`, with how often; `reason`: why some or all results have none, empty where all have.
    """

    calls: int
    answers: tuple[int, ...]
    parts: tuple[str, ...] = ()
    orders: tuple[tuple[str, int], ...] = ()
    unit: str = ""
    reason: str = ""

    def __str__(self) -> str:
        many = f"{len(self.answers)} results" if len(self.answers) > 1 else "several results before, but one"
        text = f"NON-DETERMINISTIC: {many} in {self.calls} calls with the same operands"
        if not self.orders:
            shown = ", ".join(f"{x}x" for x in self.answers[:8]) + ", …" * (len(self.answers) > 8)
            return f"{text} ({shown}); {self.reason}"
        lines = [f"{text}; orders seen ({self.unit}):", *(f"  {n}x {order}" for order, n in self.orders)]
        return "\n".join([*lines, *([f"  {self.reason}"] if self.reason else [])])


def looks_alike(probe: ProductProbe, sets: Sequence[ProductOperands], got: Sequence[NDArray[Any]]) -> bool:
    """Whether the same operands give the same results again, turn by turn."""
    some = list(zip(sets, got, strict=True))[-_DENSE:]
    return all((as_words(probe.run(*x)) == d).all() for _ in range(_LOOKS - 1) for x, d in some)


def seen_orders(
    probe: ProductProbe, formats: tuple[Format, Format, Format], rng: np.random.Generator
) -> SeenOrders:
    """The orders of the first element, from those sums that masks show to be always formed alike.

    Every order in which these can be added up is computed on operands that tell the orders apart, with each
    unit; calls with these operands count them.
    """
    parts, reason, trees = list[SumChain](), "", list[SumChain]()
    try:
        parts = probe.parts_alike(_ALIKE)
        trees = list(_orders(parts))
        if len(parts) == 1:
            reason = f"masks show one order, {described(parts[0])}: it is no order that changes"
        elif not trees:
            reason = f"{len(parts)} sums that are always formed alike are added up in orders that change"
    except NoProductOrderError as error:
        reason = str(error)
    m, n, k = probe.shape
    units = [x for x in candidates(*formats) if trees and x.follows(trees[0])]
    rows, ones = _cancelling_rows(rng, parts, k, formats)
    tables = (np.array([_elements(x, tree, rows, ones, formats) for tree in trees]) for x in units)
    told = next(tables, np.zeros((0, _ROWS), np.uint64))
    best = max(range(_ROWS), key=lambda i: len(np.unique(told[:, i])))
    a, b = np.repeat(rows[best][None], m, 0), np.repeat(ones, n, 1)
    if not trees:
        a, b = cancelling_operands(rng, (m, k), (k, n), formats[:2])
    answers = [as_words(probe.run(a, b)) for _ in range(_CALLS)]
    counts = tuple(times for _, times in Counter(d.tobytes() for d in answers).most_common())
    elements = Counter(int(d[0, 0]) for d in answers)
    orders, name = list[tuple[str, int]](), ""
    for x, table in zip(units, chain([told], tables), strict=False):
        made: dict[int, list[SumChain]] = {}
        for word, tree in zip(table[:, best].tolist(), trees, strict=True):
            made.setdefault(word, []).append(tree)
        given = [(_either(made[w]), times) for w, times in elements.most_common() if w in made]
        if len(made) > 1 and sum(y for _, y in given) > sum(y for _, y in orders):
            orders, name = given, x.name
        if sum(y for _, y in orders) == _CALLS:
            break
    covered = sum(y for _, y in orders)
    if trees and covered < _CALLS:
        reason = f"{_CALLS - covered} of {_CALLS} results are of no order of these sums on a known unit"
    if covered * 2 < _CALLS:
        orders, name = [], ""
    return SeenOrders(_CALLS, counts, tuple(described(x) for x in parts), tuple(orders), name, reason)


def _cancelling_rows(
    rng: np.random.Generator, parts: Sequence[SumChain], k: int, formats: tuple[Format, Format, Format]
) -> ProductOperands:
    """Rows of A, and ones as B: each part has one term, and these cancel but for what is rounded off."""
    a, b = (dtypes()[fmt.name] for fmt in formats[:2])
    rows = np.zeros((_ROWS, k), a)
    if len(parts) > 1:
        size = np.exp2(rng.integers(0, _SPREAD, (_ROWS, len(parts)))) * rng.uniform(1, 2, (_ROWS, len(parts)))
        values = (size * rng.choice([-1, 1], size.shape)).astype(a).astype(np.float64)
        values[:, -1] = -values[:, :-1].sum(1)
        rows[:, [next(x.terms()) for x in parts]] = values.astype(a)
    return rows, np.ones((k, 1), b)


def _elements(
    units: ChainUnits,
    tree: SumChain,
    a: NDArray[Any],
    b: NDArray[Any],
    formats: tuple[Format, Format, Format],
) -> NDArray[Any]:
    """What each row gives in an order."""
    return as_words(np.ascontiguousarray(product_in_order(units, tree, a, b, formats)[:, 0]))


def _either(trees: Sequence[SumChain]) -> str:
    """Orders that give one result, those that add one sum after the other first."""
    shown = sorted(trees, key=lambda x: any(y.base and not y.ks for y in x.base[1:]))
    more = [f"{len(shown) - _SHOWN} others"] if len(shown) > _SHOWN else []
    return " or ".join([*map(_told, shown[:_SHOWN]), *more])


def _orders(parts: Sequence[SumChain]) -> Iterator[SumChain]:
    """Every order in which few sums can be added up two at a time, or more of them one after the other."""
    n = len(parts)
    if prod(range(2 * n - 3, 0, -2)) <= _MOST:
        yield from _trees(parts)
    elif factorial(n) // 2 <= _MOST:
        # The first two may change places.
        yield from (SumChain((), x) for x in permutations(parts) if parts.index(x[0]) < parts.index(x[1]))


def _trees(parts: Sequence[SumChain]) -> Iterator[SumChain]:
    first, *others = parts
    if not others:
        yield first
    for mask in range((1 << len(others)) - 1):
        left = [first, *(x for i, x in enumerate(others) if mask >> i & 1)]
        right = [x for i, x in enumerate(others) if not mask >> i & 1]
        for x in _trees(left):
            for y in _trees(right):
                # Adding is commutative: a single sum is written last.
                yield _added(x, y) if len(right) == 1 else _added(y, x)


def _added(first: SumChain, second: SumChain) -> SumChain:
    return SumChain((), (first, second))


def _told(x: SumChain) -> str:
    """An order in words: sums of sums in brackets, but for those that are added up one after the other."""
    if x.ks or not x.base:
        return f"({described(x)})"
    first, *others = x.base
    left = _told(first)
    return " + ".join([left, *(f"[{_told(y)}]" if y.base and not y.ks else _told(y) for y in others)])
