"""Batch invariance: for which numbers of rows the order of a row's sum changes, and how it is summed then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.checks import check_int
from tcformal.errors import InputError
from tcformal.identification.sum_chains import (
    NoProductOrderError,
    ProductFunction,
    ProductProbe,
    SumChain,
    described,
    elements_in_words,
)
from tcformal.identification.whole_product import as_words, cancelling_operands, product_formats
from tcformal.shown import JsonObject, Shown

#: Operands of one row, each asked with every number of rows; more where a row has few results.
_SETS, _RESULTS = 8, 64
#: Orders that masks describe, and products of a sum up to which they do.
_DESCRIBED, _LONGEST = 6, 512
#: Numbers of rows, and letters of an order's description, that a line shows.
_SHOWN, _WORDS = 12, 160


@dataclass(frozen=True, slots=True, eq=False)
class RowOrder:
    """Rows that have the same results, and the order of their sums.

    `rows`: of each number of rows M at which there are any, those; `summed`: the order in words, empty where
    masks were not asked; `orders`: that of each column.
    """

    rows: Mapping[int, tuple[int, ...]]
    summed: str = ""
    orders: tuple[SumChain, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class BatchInvariance(Shown):
    """For which of some numbers of rows M a row is summed in another order than at the first M.

    `what`: what was asked; `orders`: that of the first M's first row, then the others as they come;
    `varying`: the M at which the same operands had different results; `checked`: results compared.

    Examples:
        >>> found = tcformal.batch_invariance(np.matmul, "fp64,fp64,fp64", (2, 4), (1, 2))
        >>> isinstance(found.invariant, bool), found.rows
        (True, (1, 2))
    """

    what: str
    rows: tuple[int, ...]
    orders: tuple[RowOrder, ...]
    varying: tuple[int, ...]
    checked: int

    def _summary(self) -> str:
        return str(self).splitlines()[0]

    @property
    def invariant(self) -> bool:
        """Whether every row had the same results with every number of rows."""
        return len(self.orders) == 1 and not self.varying

    @property
    def changes(self) -> tuple[int, ...]:
        """The numbers of rows at which other orders are in use than at the number before."""
        used = [{i for i, x in enumerate(self.orders) if m in x.rows} for m in self.rows]
        return tuple(
            m for m, before, now in zip(self.rows[1:], used, used[1:], strict=False) if before != now
        )

    def __str__(self) -> str:
        tried = f"M = {_ranges(self.rows)}"
        if self.varying:
            return (
                f"NON-DETERMINISTIC: at M = {_ranges(self.varying)} the same operands have different results "
                f"({self.what})"
            )
        if self.invariant:
            summed = f", {self.orders[0].summed}" if self.orders[0].summed else ""
            return (
                f"BATCH INVARIANT: for {tried} a row has the same results ({self.what}{summed}; "
                f"{self.checked} results compared)"
            )
        changes = self.changes
        more = f", … ({len(changes)} times up to M = {self.rows[-1]})" if len(changes) > _SHOWN else ""
        at = f"M = {', '.join(map(str, changes[:_SHOWN]))}{more}" if changes else f"other rows of {tried}"
        head = f"NOT BATCH INVARIANT: the order of a row's sum changes at {at} ({self.what})"
        lines = [self._line(i) for i in range(min(len(self.orders), _DESCRIBED))]
        left = len(self.orders) - len(lines)
        return "\n".join([head, *lines, *([f"… {left} more orders: --json"] if left else [])])

    def _line(self, i: int) -> str:
        """One order: how it sums, where it parts from the first one, and the rows that have it."""
        x, letter = self.orders[i], chr(ord("A") + i)
        whole = [m for m, rows in x.rows.items() if len(rows) == m]
        part = [m for m in x.rows if m not in whole]
        use = [f"all rows at M = {_ranges(whole)}"] if whole else []
        if part:
            use.append(f"some at M = {_ranges(part)}: rows {_ranges(x.rows[part[0]])} of {part[0]}")
        summed = f": {x.summed[:_WORDS]}{'…' * (len(x.summed) > _WORDS)}" if x.summed else ""
        return "\n    ".join([f"{letter}{summed}", *self._parted(i), "; ".join(use)])

    def _parted(self, i: int) -> list[str]:
        """Where an order parts from the first one, in a sentence; none where that is not known."""
        one, two = self.orders[0].orders, self.orders[i].orders
        if not i or not one or not two:
            return []
        for first, second in zip(one, two, strict=True):
            if (at := parted(first, second)) is not None:
                p, q, sizes = at
                return [
                    f"parts from A between k = {p} and k = {q}: the first sum with both has {sizes[1]} "
                    f"products, in A {sizes[0]}"
                ]
        return ["masks show the order of A: products are fused or rounded otherwise"]

    def record(self) -> JsonObject:
        """The same as plain data."""
        return {
            "what": self.what, "rows": list(self.rows), "invariant": self.invariant,
            "changes": list(self.changes), "varying": list(self.varying), "checked": self.checked,
            "orders": [
                {"summed": x.summed, "rows": [{"m": m, "rows": list(rows)} for m, rows in x.rows.items()]}
                for x in self.orders
            ],
        }  # fmt: skip


def batch_invariance(
    function: ProductFunction, formats: str, sides: tuple[int, int], rows: Sequence[int] = range(1, 65), *,
    seed: int = 0,
) -> BatchInvariance:  # fmt: skip
    """Say for which numbers of rows M a row of a product that can only be called is summed otherwise.

    Shapes: `function` takes A [M, K] and B [K, N] and gives D [M, N]; `sides` is (N, K).
    Ranges and units: `formats` as for `identify_product`; `rows`: numbers M, ascending.  Every row of A is
    the same, of operands whose products cancel, so that results are what was rounded off; rows whose
    results differ are summed otherwise, and masks say how, up to 512 products.
    Zero, NaN, Inf: results are compared as encodings.
    Errors: InputError for other formats, sides or rows; DeviceError for a function that fails.
    Source: the function's results.

    >>> import numpy as np
    >>> import tcformal
    >>> def product(a, b):  # one row alone is summed from the end
    ...     order = slice(None, None, -1 if len(a) == 1 else 1)
    ...     terms = [a[:, [k]] * b[[k]] for k in range(len(b))[order]]
    ...     return sum(terms[1:], start=terms[0])
    >>> tcformal.batch_invariance(product, "fp32,fp32,fp32", (4, 12), range(1, 5)).changes
    (2,)
    """
    a, b, d = product_formats(formats)
    n, k = (check_int(x, value, low=1, high=1 << 20) for x, value in zip("NK", sides, strict=True))
    rng = np.random.default_rng(seed)
    sets = [cancelling_operands(rng, (1, k), (k, n), (a, b)) for _ in range(max(_SETS, -(-_RESULTS // n)))]

    def asked(m: int, count: int) -> NDArray[Any]:
        probe = ProductProbe(function, a, b, d, (m, n, k))
        return np.stack([as_words(probe.run(np.repeat(x, m, 0), y)) for x, y in sets[:count]], 1)

    found = rows_compared(asked, len(sets), rows, f"K = {k}, N = {n}")
    told = list(found.orders)
    for i, x in enumerate(found.orders[:_DESCRIBED] if k <= _LONGEST and not found.varying else ()):
        m, places = next(iter(x.rows.items()))
        try:
            regions = ProductProbe(function, a, b, d, (m, n, k)).regions()
        except NoProductOrderError as error:
            told[i] = RowOrder(x.rows, str(error))
            continue
        at = [(y.order, y.elements[places[0]][None]) for y in regions if y.elements[places[0]].any()]
        words = "; ".join(f"{elements_in_words(columns)}{described(order)}" for order, columns in at)
        first = {int(j): order for order, columns in at for j in np.flatnonzero(columns[0])}
        told[i] = RowOrder(x.rows, words, tuple(first[j] for j in sorted(first)))
    return BatchInvariance(found.what, found.rows, tuple(told), found.varying, found.checked)


def rows_compared(
    asked: Callable[[int, int], NDArray[Any]], sets: int, rows: Sequence[int], what: str
) -> BatchInvariance:
    """Compare what is made of equal rows, with each of some numbers of rows.

    Shapes: `asked(M, count)` gives the encodings of results [M, count, …] of so many of the `sets` operands,
    which every row should have alike; the first ones are asked again.
    """
    wanted = [check_int("number of rows", m, low=1, high=1 << 20) for m in rows]
    if not wanted or sorted(set(wanted)) != wanted:
        raise InputError(f"expected ascending numbers of rows, but got {wanted!s:.80}")
    known: dict[bytes, dict[int, tuple[int, ...]]] = {}
    varying, checked = list[int](), 0
    for m in wanted:
        words = asked(m, sets)
        checked += words.size
        if (asked(m, 1) != words[:, :1]).any():
            varying.append(m)
        for i, row in enumerate(words):
            places = known.setdefault(row.tobytes(), {})
            places[m] = (*places.get(m, ()), i)
    return BatchInvariance(what, tuple(wanted), tuple(map(RowOrder, known.values())), tuple(varying), checked)


def parted(one: SumChain, two: SumChain) -> tuple[int, int, tuple[int, int]] | None:
    """The first two products whose smallest common sum has other numbers of products in two orders: these."""
    sizes = [dict[tuple[int, int], int](), dict[tuple[int, int], int]()]
    for order, made in zip((one, two), sizes, strict=True):
        _joint(order, made)
    for pair in sorted(sizes[0]):
        if sizes[0][pair] != sizes[1].get(pair):
            return *pair, (sizes[0][pair], sizes[1].get(pair, 0))
    return None


def _joint(order: SumChain, made: dict[tuple[int, int], int]) -> list[int]:
    """Enter the size of the smallest sum of every two products of an order; its products."""
    whole = list[int]()
    for part in (*(_joint(x, made) for x in order.base), *([k] for k in order.ks)):
        for p in whole:
            for q in part:
                made[min(p, q), max(p, q)] = len(whole) + len(part)
        whole += part
    return whole


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in words: ranges, the first ones of many."""
    starts = [i for i, x in enumerate(numbers) if not i or x != numbers[i - 1] + 1]
    ends = [*(i - 1 for i in starts[1:]), len(numbers) - 1]
    parts = [
        str(numbers[i]) if i == j else f"{numbers[i]}..{numbers[j]}"
        for i, j in zip(starts, ends, strict=True)
    ]
    return ", ".join(parts[:_SHOWN]) + (", …" if len(parts) > _SHOWN else "")
