"""Questions about sums of integers: what c, products alone, groups and steps become where they overflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tcformal.design.integer_sums import number, numbers_of
from tcformal.design.rounding import Conversion, conversion
from tcformal.identification.asker import Asker
from tcformal.oracle.rounded import to_fixed
from tcformal.simulation.operands.batch import Batch

#: Widths that conversions have.
_LEAST, _MOST = 2, 64
#: Places that are shown of many, and how few are no run.
_SHOWN, _RUN = 8, 3
#: Steps that are shown of many.
_STEPS = 4
#: Two factors of one product.
Factors = tuple[int, int]
#: Products of one sum, by place, and c.
Terms = tuple[dict[int, Factors], int]


def become(target: Conversion | str, total: int) -> int:
    """What a conversion makes of an integer."""
    return int(to_fixed(int(total < 0), Fraction(abs(total)), conversion(target)).number)


def conversions_of(total: int, got: int) -> list[str]:
    """The conversions that make another number of an integer."""
    lost, names = total - got, list[str]()
    if got > 0 and total > got and not got & (got + 1):
        names = [f"SAT-INT{got.bit_length() + 1}", f"SAT-UINT{got.bit_length()}"]
    elif total < got < 0 and not -got & (-got - 1):
        names = [f"SAT-INT{(-got).bit_length()}"]
    elif total < got == 0:
        names = ["SAT-UINT63"]
    if lost and abs(lost) == lost & -lost:
        names += [f"WRAP-{sign}INT{abs(lost).bit_length() - 1}" for sign in ("", "U")]
    return [x for x in names if _LEAST <= int(x.rpartition("T")[2]) <= _MOST and become(x, total) == got]


@dataclass(slots=True)
class Sums:
    """Asks a device for dot products of integers."""

    asker: Asker
    a: tuple[int, int] = field(init=False)
    b: tuple[int, int] = field(init=False)
    c: tuple[int, int] = field(init=False)
    d: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        o = self.asker.spec.operands
        self.a, self.b, self.c, self.d = (numbers_of(f) for f in (o.a, o.b, o.c, o.d))

    @property
    def most(self) -> Factors:
        """The factors of the largest product."""
        return max(self._corners(), key=lambda f: f[0] * f[1])

    @property
    def least(self) -> Factors:
        """The factors of the least product; a 0 where none is negative."""
        return min(self._corners(), key=lambda f: f[0] * f[1])

    @property
    def minus_one(self) -> Factors | None:
        """The factors of -1; None without negative numbers."""
        return (1, -1) if self.b[0] < 0 else (-1, 1) if self.a[0] < 0 else None

    def _corners(self) -> list[Factors]:
        return [(x, y) for x in self.a for y in self.b]

    def factors(self, product: int) -> Factors | None:
        """Factors of a product; None where a small search finds none."""
        for y in (
            1,
            -1,
            *range(self.b[1], max(self.b[0], self.b[1] - 64), -1),
            *range(self.b[0], self.b[0] + 64),
        ):
            if (
                y
                and self.b[0] <= y <= self.b[1]
                and product % y == 0
                and self.a[0] <= product // y <= self.a[1]
            ):
                return product // y, y
        return (0, 0) if product == 0 else None

    def batch(self, rows: Sequence[Terms]) -> Batch:
        """Sums as encodings."""
        o, k = self.asker.spec.operands, self.asker.k
        words = [np.zeros((len(rows), k), np.uint64) for _ in "ab"]
        for i, (products, _) in enumerate(rows):
            for place, both in products.items():
                for into, fmt, x in zip(words, (o.a, o.b), both, strict=True):
                    into[i, place] = x & ((1 << fmt.width) - 1)
        c = np.array([c & ((1 << o.c.width) - 1) for _, c in rows], np.uint64)
        return Batch(words[0], words[1], c)

    def ask(self, rows: Sequence[Terms]) -> list[int]:
        """The device's results as numbers."""
        if not rows:
            return []
        d = self.asker.spec.operands.d
        return [number(d, int(x)) for x in self.asker.ask(self.batch(rows))]


def total_of(row: Terms) -> int:
    """The exact sum."""
    return row[1] + sum(x * y for x, y in row[0].values())


@dataclass(slots=True)
class Seen:
    """What answers show of the sums of a device."""

    #: Whether c counts.
    has_c: bool = True
    #: Conversions that c alone, and products alone, go through, where that changes them.
    of_c: tuple[str, ...] = ()
    of_products: tuple[str, ...] = ()
    #: The products as they are added to c, step by step; one step where that does not show.
    levels: tuple[tuple[int, ...], ...] = ()
    #: Products of which narrow sums are made, and conversions of these.
    groups: tuple[tuple[int, ...], ...] = ()
    of_groups: tuple[str, ...] = ()
    #: What was seen, by name, in words.
    words: dict[str, str] = field(default_factory=dict)


def seen(asker: Asker) -> Seen:
    """Ask how c, products alone, sums of products, and steps with c overflow.

    Errors: as `Asker.ask`.
    """
    sums, made = Sums(asker), Seen()
    made.levels = (tuple(range(asker.k)),)
    _of_c(sums, made)
    _of_products(sums, made)
    _groups(sums, made)
    if made.has_c:
        _levels(sums, made)
    return made


def _of_c(sums: Sums, made: Seen) -> None:
    """c alone, at powers of two and beside them."""
    low, high = sums.c
    numbers = [x for n in range(64) for x in ((1 << n) - 1, 1 << n, -(1 << n), -(1 << n) - 1)]
    numbers = [x for x in dict.fromkeys(numbers) if low <= x <= high]
    got = sums.ask([({}, x) for x in numbers])
    if sums.asker.refused or len({*got}) == 1:
        made.has_c = False
        return
    if wrong := [(x, y) for x, y in zip(numbers, got, strict=True) if x != y]:
        found = dict.fromkeys(t for x, y in wrong for t in conversions_of(x, y))
        made.of_c = tuple(
            t for t in found if all(become(t, x) == y for x, y in zip(numbers, got, strict=True))
        )
        x, y = min(wrong, key=lambda pair: abs(pair[0]))
        made.words["c alone"] = f"{x} becomes {y}"


def _of_products(sums: Sums, made: Seen) -> None:
    """Each product alone, at the ends of its range."""
    k, (low, high) = sums.asker.k, sums.d
    ends_ = [f for f in dict.fromkeys((sums.most, sums.least)) if low <= f[0] * f[1] <= high]
    rows: list[Terms] = [({i: f}, 0) for f in ends_ for i in range(k)]
    got = sums.ask(rows)
    wrong = [(row, y) for row, y in zip(rows, got, strict=True) if total_of(row) != y]
    made.of_products = tuple(dict.fromkeys(t for row, y in wrong for t in conversions_of(total_of(row), y)))
    if wrong:
        places = sorted({i for row, _ in wrong for i in row[0]})
        which = "each of them" if len(places) == k else f"product {run_of(places)}"
        made.words["a product alone"] = f"{total_of(wrong[0][0])} becomes {wrong[0][1]}: {which}"


def _groups(sums: Sums, made: Seen) -> None:
    """Sums of equal products, one more each time, with a c that keeps the whole within D."""
    k, (low, high) = sums.asker.k, sums.d
    found: dict[str, None] = {}
    for f in dict.fromkeys((sums.most, sums.least)):
        p = f[0] * f[1]
        if not p or made.of_products:
            continue

        def beside(n: int, p: int = p) -> int:
            return (
                0
                if low <= n * p <= high or not made.has_c or made.of_c
                else max(low, min(high, -(n * p) // 2))
            )

        counts = [n for n in range(1, k + 1) if low <= n * p + beside(n) <= high]
        rows: list[Terms] = [(dict.fromkeys(range(n), f), beside(n)) for n in counts]
        got = sums.ask(rows)
        bad = next((i for i, row in enumerate(rows) if got[i] != total_of(row)), None)
        if bad is None:
            continue
        few, part, others = _partition(sums, f, rows[bad][1])
        found |= others
        if not few:
            made.words["sums of products"] = (
                f"{total_of(rows[bad])} becomes {got[bad]}, of {counts[bad]} products"
            )
            continue
        total, became = len(few) * p, sums.ask([(dict.fromkeys(few, f), rows[bad][1])])[0] - rows[bad][1]
        found |= dict.fromkeys(conversions_of(total, became))
        if part and len(part) > len(made.groups):
            made.groups = part
        how = "saturates at" if any(x.startswith("SAT") for x in conversions_of(total, became)) else "becomes"
        made.words["sums of products"] = (
            f"{total} {how} {became} within products {run_of(part[0] if part else few)}"
        )
    made.of_groups = tuple(found)


def run_of(ks: Sequence[int]) -> str:
    """Places in a few characters."""
    if len(ks) >= _RUN and list(ks) == list(range(ks[0], ks[0] + len(ks))):
        return f"{ks[0]} to {ks[-1]}"
    return ", ".join(map(str, ks[:_SHOWN])) + (", …" if len(ks) > _SHOWN else "")


def _partition(
    sums: Sums, f: Factors, c: int
) -> tuple[list[int], tuple[tuple[int, ...], ...], dict[str, None]]:
    """The fewest products of one narrow sum that overflow, all such sums, and what they become.

    Both are empty where that is unclear.
    """
    k, rest, made, fewest = sums.asker.k, list(range(sums.asker.k)), list[tuple[int, ...]](), list[int]()
    found: dict[str, None] = {}
    while rest:
        rows: list[Terms] = [(dict.fromkeys(rest[:m], f), c) for m in range(1, len(rest) + 1)]
        rows = [row for row in rows if sums.d[0] <= total_of(row) <= sums.d[1]]
        bad = next((i for i, y in enumerate(sums.ask(rows)) if y != total_of(rows[i])), None)
        if bad is None:
            # What is left is too little to overflow.
            made.append(tuple(rest))
            break
        first = rest[: bad + 1]
        less: list[Terms] = [({i: f for i in first if i != x}, c) for x in first]
        inside = [x for x, row, y in zip(first, less, sums.ask(less), strict=True) if total_of(row) == y]
        if first[-1] not in inside:
            return [], (), found
        fewest = fewest or inside
        others = [x for x in rest if x not in first]
        more: list[Terms] = [(dict.fromkeys((*inside[:-1], x), f), c) for x in others]
        same = []
        for x, row, y in zip(others, more, sums.ask(more), strict=True):
            if total_of(row) != y:
                same.append(x)
                found |= dict.fromkeys(conversions_of(total_of(row) - c, y - c))
        made.append(tuple(sorted((*inside, *same))))
        rest = [x for x in rest if x not in made[-1]]
        if len(made) == 1 and (guess := _regular(made[0], k)):
            return fewest, guess, found
    return fewest, tuple(made), found


def _regular(group: Sequence[int], k: int) -> tuple[tuple[int, ...], ...]:
    """The groups of one size of which the first is given, neighbours or strided; empty for another one."""
    size = len(group)
    if k % size:
        return ()
    count = k // size
    if list(group) == list(range(size)):
        return tuple(tuple(range(i, i + size)) for i in range(0, k, size))
    if list(group) == list(range(0, k, count)):
        return tuple(tuple(range(i, k, count)) for i in range(count))
    return ()


def _wrapped_with_c(sums: Sums, target: str) -> tuple[tuple[int, ...], ...]:
    """The products that are in the narrow sum with c, which wraps, and those that are added later."""
    k, end = sums.asker.k, become(target, (1 << (conversion(target).fraction_bits)) - 1)
    rows: list[Terms] = [({i: (1, 1)}, end) for i in range(k)]
    wrapped = [y != total_of(row) for row, y in zip(rows, sums.ask(rows), strict=True)]
    levels = [tuple(i for i in range(k) if wrapped[i] is x) for x in (True, False)]
    return tuple(x for x in levels if x) if all(wrapped) else tuple(levels)


def _levels(sums: Sums, made: Seen) -> None:
    """How many products are added to c after each one: those that lower a sum which has saturated.

    c is the largest number of the sums with c; the product in question takes it beyond, all others are -1.
    """
    k, minus = sums.asker.k, sums.minus_one
    if any(t.startswith("WRAP") for t in made.of_c):
        made.levels = _wrapped_with_c(sums, made.of_c[0])
        return
    top = min([sums.d[1], sums.c[1], *(become(t, sums.c[1]) for t in made.of_c)])
    most = sums.most
    if minus is None or k == 1 or most[0] * most[1] < 3:
        return
    size = min(k - 1, most[0] * most[1] - 1)
    rows: list[Terms] = []
    owners: list[tuple[int, int]] = []
    for i in range(k):
        others = [x for x in range(k) if x != i]
        for start in range(0, len(others), size):
            some = others[start : start + size]
            rows.append(({i: most, **dict.fromkeys(some, minus)}, top))
            owners.append((i, len(some)))
    after = [0] * k
    for (i, count), row, y in zip(owners, rows, sums.ask(rows), strict=True):
        if y != total_of(row):  # else it is added last, where nothing saturates
            if not 0 <= top - y <= count:
                return
            after[i] += top - y
    order = sorted(range(k), key=lambda i: (-after[i], i))
    levels = [tuple(i for i in order if after[i] == n) for n in sorted({*after}, reverse=True)]
    left = k
    for level in levels:
        left -= len(level)
        if after[level[0]] != left:
            return
    made.levels = tuple(levels)
    if len(levels) > 1:
        made.words["steps with c"] = (
            f"{len(levels)}, each saturates: {', then '.join(run_of(x) for x in levels[:_STEPS])}"
            + (", …" if len(levels) > _STEPS else "")
        )
