"""Order probes: two large terms that cancel, and powers of two on the others, which of them come back.

A leaf is the number of a product, or k for the operand c.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tcformal.design.spec import Operands
from tcformal.encodings.spec import Format
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import NumberClass, decode, encoded, exponent_of
from tcformal.simulation.operands.batch import Batch

#: What each leaf of one probe is worth; leaves that are not named are zeros.
OrderProbe = Mapping[int, Fraction]
#: Probes go out in lists, and come back as numbers, None for NaN and Inf.
Task = Generator[Sequence[OrderProbe], list[Fraction | None], Any]
AskBatch = Callable[[Batch], Any]

#: Turns in which nothing is asked, and probes, after which there is no order.
_MOST_IDLE, _MOST_PROBES = 1000, 4000


#: What is said of products among which masks show no order.
TOO_NEAR = "lie too near each other to hide one another"


class NoOrderError(Exception):
    """The order does not show; the sentence says why."""


class TooNearError(NoOrderError):
    """No product can be so far below another one that sums lose it."""


class RemainderError(NoOrderError):
    """Large terms that cancel leave most of one, as those do that are too large for a rounded product."""


def numbers_of(fmt: Format, words: Iterable[int]) -> list[Fraction | None]:
    """Encodings as numbers, None for NaN and Inf."""
    values = [decode(fmt, int(word)) for word in words]
    return [x.number if x.kind is NumberClass.FINITE else None for x in values]


def bits_of(number: Fraction) -> int:
    """The fraction bits of a binary number, from its first bit that is not 0 to its last; 0 for zero."""
    n = abs(number.numerator) * number.denominator
    return n.bit_length() - (n & -n).bit_length()


def together(tasks: Sequence[Task]) -> Task:
    """Tasks side by side: what they ask at the same time goes out as one list; their results in order."""
    done: list[Any] = [None] * len(tasks)
    waiting: dict[int, Sequence[OrderProbe]] = {}

    def advance(n: int, answers: list[Fraction | None] | None) -> None:
        try:
            waiting[n] = tasks[n].send(answers)  # type: ignore[arg-type]
        except StopIteration as end:
            waiting.pop(n, None)
            done[n] = end.value

    for n in range(len(tasks)):
        advance(n, None)
    while waiting:
        asked = {n: len(rows) for n, rows in waiting.items()}
        answers = yield [row for rows in waiting.values() for row in rows]
        start = 0
        for n, count in asked.items():
            advance(n, answers[start : start + count])
            start += count
    return done


@dataclass(slots=True)
class Asked:
    """Probes that were asked, and batches."""

    ask: AskBatch
    probes: int = 0
    batches: int = 0

    def run(self, masks: Masks, task: Task) -> Any:
        """The result of a task, batch by batch."""
        # The same probe is not asked twice: tasks side by side need not know of each other.
        kept: dict[frozenset[object], Fraction | None] = {}
        idle = 0
        try:
            rows = next(task)
            while True:
                keys = [frozenset(row.items()) for row in rows]
                new = {key: row for key, row in zip(keys, rows, strict=True) if key not in kept}
                idle = idle + 1 if not new else 0
                # Tasks that wait for each other, or ask without end, have been given answers of no order.
                if idle > _MOST_IDLE or self.probes + len(new) > _MOST_PROBES:
                    raise NoOrderError("pairs hide terms in a way that no order does")
                if new:
                    answers = numbers_of(masks.formats.d, self.ask(masks.batch(list(new.values()))))
                    kept |= dict(zip(new, answers, strict=True))
                    self.probes, self.batches = self.probes + len(new), self.batches + 1
                rows = task.send([kept[key] for key in keys])
        except StopIteration as end:
            return end.value


#: The largest exponent that large terms need: what swallows small ones are differences of exponents.
_HIGH = 64
#: How far below the large terms the others lie, in the order in which these depths are preferred.
DEPTHS = (28, 40, 20, 14)
#: The same where partial sums in fp64 are to swallow them, and where narrow ones do but others may lose them.
DEEP, SHALLOW = (58, 90, 55), (14, 11, 8)
#: How many powers of two one probe may hold.
_WIDTHS = (24, 20, 17, 14, 11, 8, 6, 4, 3, 2, 1)
#: Powers of two that do in one probe where operands reach no further down.
_FEW = 5


class NotFiniteError(Exception):
    """A probe whose result should be a number is NaN or Inf: the large terms are too large."""


@dataclass(frozen=True, slots=True)
class ExponentReach:
    """The exponents of the powers of two that a leaf can be: least of all, least normal one, largest."""

    least: int
    low: int
    high: int


class Masks:
    """Makes and reads the probes of one device.

    Ranges and units: large terms are 2^high; the others lie `depth` and more binades lower, at most `width`
    of them in one probe.
    """

    def __init__(
        self, formats: Operands, k: int, *, with_c: bool, high: int, depths: Sequence[int] = DEPTHS
    ) -> None:
        o = self.formats = formats
        self.k = k
        self.leaves = [k, *range(k)] if with_c else list(range(k))
        a, b, c, d = o.a, o.b, o.c, o.d
        normal = a.e_min + b.e_min
        product = ExponentReach(normal - a.fraction_bits - b.fraction_bits, normal, a.e_max + b.e_max)
        self.reach = dict.fromkeys(range(k), product)
        self.reach[k] = ExponentReach(c.e_min - c.fraction_bits, c.e_min, c.e_max)
        self.high = min(high, product.high, d.e_max)
        # Sums of wider results lose what lies further below.
        self.depths = [x + max(0, d.precision - _WIDTHS[0]) for x in depths]
        #: Whether normal operands reach as far down as most sums need; subnormal ones are used elsewhere.
        self.roomy = self.high - self.depths[0] - normal >= min(12, k)
        self.lowest = max(product.low if self.roomy else product.least, d.e_min - d.fraction_bits)
        self.precision = d.precision
        #: The bits of the narrowest sum that left a last place of large terms.
        self.inner = d.precision
        #: Whether a sum that loses nothing of what masks ask for is taken to lose nothing at all.
        self.shows_exact = True
        self.depth = self.depths[0]
        self.width = max(1, min(self.room(self.depth, self.high), self.precision, _WIDTHS[0]))

    # ------------------------------------------------------------------ one probe
    def large(self, i: int, j: int) -> int:
        """The exponent of the large terms on two leaves."""
        return min(self.high, self.reach[i].high, self.reach[j].high)

    def room(self, depth: int, high: int) -> int:
        """How many powers of two there are from `depth` below the large terms on."""
        return high - depth - self.lowest

    def word_pair(self, leaf: int, value: Fraction) -> tuple[int, int] | None:
        """A product's factors, normal ones if any, or c and 0, for a value; None where formats hold none."""
        if leaf == self.k:
            word = encoded(self.formats.c, value)
            return None if word is None else (word, 0)
        a, b = self.formats.a, self.formats.b
        e = exponent_of(abs(value))
        middle = min(max(-(-e // 2), a.e_min, e - b.e_max), a.e_max)
        least = a.e_min - a.fraction_bits
        for first in sorted(
            range(least, a.e_max + 1), key=lambda x: (x < a.e_min, e - x < b.e_min, abs(x - middle))
        ):
            y = encoded(b, power_of_two(e - first)) if e - first <= b.e_max else None
            x = encoded(a, value / power_of_two(e - first))
            if x is not None and y is not None:
                return x, y
        return None

    def batch(self, rows: Sequence[OrderProbe]) -> Batch:
        """Probes as operands."""
        a, b = (np.zeros((len(rows), self.k), np.uint64) for _ in "ab")
        c = np.zeros(len(rows), np.uint64)
        for n, row in enumerate(rows):
            for leaf, value in row.items():
                words = self.word_pair(leaf, value)
                if words is None:
                    raise ValueError(f"expected a value that leaf {leaf} holds, but got {value}")
                if leaf == self.k:
                    c[n] = words[0]
                else:
                    a[n, leaf], b[n, leaf] = words
        return Batch(a, b, c)

    # ------------------------------------------------------------------ which leaves survive
    def survivors(self, i: int, j: int, others: Sequence[int], depth: int, width: int) -> Task:
        """The leaves of `others` that come back beside large terms of both signs on i and j.

        Errors: NoOrderError where the large terms alone leave a remainder, which no tree of sums does.
        """
        high = self.large(i, j)
        width = max(1, min(width, self.room(depth, high)))
        # c first: of the exponents of a probe it may hold the larger ones only.
        others = sorted(others, key=lambda leaf: leaf != self.k)
        parts = [others[n : n + width] for n in range(0, len(others), width)]
        top = high - depth - 1
        large = {i: power_of_two(high), j: -power_of_two(high)}
        rows = [{**large, **{x: power_of_two(top - n) for n, x in enumerate(part)}} for part in parts]
        answers = yield rows
        alive: set[int] = set()
        hidden = []
        for part, number in zip(parts, answers, strict=True):
            if number is None:
                raise NotFiniteError
            bottom = top - len(part) + 1
            e = bottom if not number else exponent_of(abs(number))
            if top + 1 < e < high - 1:
                # The last place of a sum that was cut; sums of fewer bits than D's show no other way.
                self.inner = min(self.inner, high - e)
            if e - bottom >= min(self.inner, self.precision) and len(part) > 1:
                hidden.append(part)
                continue
            count = int(number / power_of_two(bottom)) % (1 << len(part))
            if abs(number) == power_of_two(top + 1):
                count = -1  # all of them, rounded up
            alive |= {x for n, x in enumerate(reversed(part)) if count >> n & 1}
        if hidden:
            # What is left of the large terms hides the small ones: fewer of them at a time.
            few = (max(map(len, hidden)) + 1) // 2
            tasks = [self.survivors(i, j, part, depth, few) for part in hidden]
            _, *found = yield from together([self._cancelled(large, high), *tasks])
            alive = alive.union(*found)
        return alive

    def _cancelled(self, large: OrderProbe, high: int) -> Task:
        """Ask for large terms alone.

        Errors: NoOrderError where something else is left of them than one, as of a c that is not added.
        """
        (left,) = yield [large]
        if left and abs(left) != power_of_two(high):
            of = RemainderError if abs(left) > power_of_two(high - 1) else NoOrderError
            raise of(f"two terms of ±2^{high} that cancel leave {left}, which hides others")

    def counted(self, pair: tuple[int, int], others: Sequence[int], depth: int) -> Task:
        """How many of `others` come back beside large terms of both signs; None where no number of them does.

        Shapes: `others` has at most 2^(room - 1) leaves.
        """
        i, j = pair
        high = self.large(i, j)
        # Together they are no larger than the powers of two of `survivors`.
        bits = len(others).bit_length()
        small = power_of_two(high - depth - bits)
        (number,) = yield [{i: power_of_two(high), j: -power_of_two(high), **dict.fromkeys(others, small)}]
        if number is None:
            raise NotFiniteError
        count = number / small
        if count.denominator > 1 or abs(number) >= power_of_two(high - 1):
            return None
        if number and exponent_of(abs(count)) >= max(min(self.inner, self.precision), bits):
            return None  # what is left of the large terms hides the small ones
        # What is left of the large terms themselves is a multiple of more, as in `survivors`.
        return found if (found := int(count) % (1 << bits)) <= len(others) else None

    def calibrated(self) -> Task:
        """Find the depth at which large terms swallow others, and how many powers of two come back at once.

        Errors: NoOrderError where nothing is swallowed because products cannot lie far enough apart.
        Source: the rounding of results and partial sums, and the fraction bits, bound both.
        """
        leaves = self.leaves
        depths = [x for x in self.depths if self.room(x, self.high) >= 2]
        if not depths:
            raise TooNearError(self._too_near())
        pairs = sorted({(leaves[0], leaves[-1]), (leaves[0], leaves[1]), (leaves[-2], leaves[-1])})
        few = min(6, self.room(max(depths), self.high))
        tasks = [self.has_c(), self._measured(depths[0]), self._held(depths, few)]
        spreads = []
        for i, j in pairs:
            others = [x for x in leaves if x not in (i, j)]
            spreads.append(others[:: max(1, len(others) // few)][:few])
        for depth in depths:
            tasks += [self.survivors(i, j, x, depth, few) for (i, j), x in zip(pairs, spreads, strict=True)]
        has_c, width, held, *found = yield from together(tasks)
        if not has_c:
            self.leaves = [x for x in leaves if x != self.k]
            return (yield from self.calibrated()) if len(self.leaves) > 2 else None
        size = len(pairs)
        seen = {depth: found[n * size : (n + 1) * size] for n, depth in enumerate(depths)}
        depths = held or depths
        self.shows_exact = max(depths) >= min(DEPTHS[0], self.high - self.lowest - few)
        if max(depths) < self.depths[0] and seen[max(depths)] == [set(x) for x in spreads]:
            raise TooNearError(self._too_near())
        agreeing = [x for x in depths if seen[x] == seen[max(depths)]]
        wanted = min(len(leaves) - 2, self.precision, _WIDTHS[0])
        roomy = [x for x in agreeing if self.room(x, self.high) >= wanted]
        # Sums that the scouts do not see may lose less: rather few powers of two than near ones.
        some = [x for x in agreeing if self.room(x, self.high) >= _FEW]
        self.depth = next(iter([*roomy, *some]), min(agreeing))
        if self.depth != depths[0]:
            width = yield from self._measured(self.depth)
        self.width, most = width
        if self.width < most:
            self.precision = self.width

    def _held(self, depths: Sequence[int], few: int) -> Task:
        """The depths at which a product comes back alone: partial sums of few exponents may lose it."""
        x = next(leaf for leaf in self.leaves if leaf != self.k)
        low = [power_of_two(self.high - depth - few) for depth in depths]
        answers = yield [{x: value} for value in low]
        return [n for n, value, made in zip(depths, low, answers, strict=True) if made == value]

    def _too_near(self) -> str:
        a, b = self.formats.a, self.formats.b
        return f"products of {a} and {b} {TOO_NEAR}"

    def has_c(self) -> Task:
        """Whether c is added at all, alone or to a product."""
        if self.k not in self.leaves:
            return True
        value = power_of_two(min(self.reach[self.k].high, self.high) - 1)
        alone, beside = yield [{self.k: value}, {self.k: value, 0: value}]
        return alone != 0 or beside != value

    def _measured(self, depth: int) -> Task:
        """The most powers of two that come back together where nothing large is near, and the most asked."""
        products = [x for x in self.leaves if x != self.k]
        most = max(1, min(len(products), self.room(depth, self.high), self.precision))
        top = self.high - depth - 1
        for widths in [most], [w for w in _WIDTHS if w < most]:
            rows = [
                {x: power_of_two(top - n) for n, x in enumerate(chosen)}
                for width in widths
                for chosen in (products[:width], products[::-1][:width])
            ]
            answers = yield rows
            exact = [x == sum(row.values()) for x, row in zip(answers, rows, strict=True)]
            kept = [w for n, w in enumerate(widths) if exact[2 * n] and exact[2 * n + 1]]
            if kept:
                return max(kept), most
        return 1, most
