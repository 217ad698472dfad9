"""Constructed inputs of nearly maximal error, with errors replayed on integers and on the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain, islice, product

import numpy as np

from tcformal.analysis.bounds.proved import cut_once
from tcformal.analysis.samples import products_of
from tcformal.design.rounding import NEAREST
from tcformal.design.unit import UnitSpec, product_signs
from tcformal.encodings.spec import Format
from tcformal.oracle.values import NumberClass, decode, encoded
from tcformal.simulation.operands.witness import Witness, scale_ones
from tcformal.simulation.replay import results_of
from tcformal.theory.design import block_size

#: Different calls that are followed; products of a longer dot product are then zeros.
_CALLS = 1 << 10
#: Exponents at which the loss of a last rounding is tried.
_FEW = 4
#: Significands at either end of their range that are tried for a product just below a power of two.
_ENDS = 1 << 12
#: Units are shared out among products of so few fraction bits, in sums of so many bits below a result's.
_BITS, _WIDER = 6, 4
#: Factors of at most so many bits are tried pair by pair.
_MOST = 11
#: Words of inputs that are shown beside a bound that they exceed, at most.
_SHOWN = 16
#: A product of two operands by their raw encodings.
FactorWords = tuple[int, int]
_NOTHING: FactorWords = (0, 0)
#: What a product loses or gains, and the product.
Gain = tuple[Fraction, FactorWords]


@dataclass(frozen=True, slots=True)
class Attained:
    """Inputs with their error, replayed on integers and on exact fractions.

    Shapes: `calls`: the operands of every call with c as it was reached, and how often in a row such a call
    is made; `ends`: the result, raw.
    Ranges and units: `error` = |result - xᵀy| and `magnitude` = Σ|x_k·y_k|, exact.
    """

    calls: tuple[tuple[Witness, int], ...]
    ends: int
    error: Fraction
    magnitude: Fraction

    @property
    def ratio(self) -> Fraction:
        """The ratio error / magnitude; 0 where both are 0."""
        return self.error / self.magnitude if self.magnitude else Fraction(0)


def words_text(words: Sequence[int]) -> str:
    """Encodings as text for a sentence: at most the first few."""
    shown = ",".join(map(hex, words[:_SHOWN]))
    return shown if len(words) <= _SHOWN else f"{shown},… ({len(words)})"


class Calls:
    """A dot product call by call, each result being the next c, with the exact sums so far."""

    def __init__(self, build: Construction, length: int) -> None:
        self.build, self.length, self.met, self.state = build, length, 0, 0
        self.made: list[tuple[Witness, int]] = []
        self.exact = self.magnitude = Fraction(0)

    def add(
        self, pairs: Sequence[FactorWords], scales: Sequence[int] = (), others: Sequence[int] = ()
    ) -> None:
        """Replay the next call; one that gives its own c again is made for all but a shorter last one."""
        unit, left = self.build.unit, self.length - self.met
        w = self.build.call(pairs, self.state, scales, others)
        before, self.state = self.state, results_of(unit, w)
        times = left // unit.k if self.met and self.state == before and left >= unit.k else 1
        values = self.build.values(w)
        self.exact += times * sum(values, Fraction(0))
        self.magnitude += times * sum(map(abs, values), Fraction(0))
        self.made.append((w, times))
        self.met += times * min(unit.k, left)

    @property
    def attained(self) -> Attained | None:
        """The error of the calls so far; None where the result is not finite."""
        end = decode(self.build.unit.d_format, self.state)
        if end.kind is not NumberClass.FINITE:
            return None
        return Attained(tuple(self.made), self.state, abs(end.number - self.exact), self.magnitude)


class Construction:
    """A builder of dot products for one unit from products with wanted values.

    The largest term has the exponent E and no bits beyond the sum's; the others are as little below a unit of
    the sum, 2^(E - F), as products can be, and are lost; one of them brings the sum as far from the result
    below as the conversion can lose.  Without a truncated sum the others are half an ulp of the result.
    """

    def __init__(self, unit: UnitSpec) -> None:
        self.unit, self.a, self.b = unit, unit.a_format, unit.b_format
        design = unit.design
        # Every block of these is rounded to the result at once.
        last = design.rho if design.framed else design.step
        self.p = last.fraction_bits
        self.nearest = last.mode in NEAREST
        self.bits = design.fraction_bits if design.summation == "fused" else None
        self.products = cache(self._products)

    # ------------------------------------------------------------------ products
    def power(self, q: int) -> FactorWords | None:
        """Two powers of two whose product is 2^q."""
        return self.scaled(1, 1, q)

    def below(self, q: int) -> FactorWords | None:
        """Two normal numbers with the largest product below 2^q among the operands' exponents."""
        x, y, places = _just_below(self.a.fraction_bits, self.b.fraction_bits)
        return self.scaled(x, y, q - places)

    def scaled(self, x: int, y: int, shift: int) -> FactorWords | None:
        """The encodings of two normal numbers with significands x and y and the product x·y·2^shift."""
        a, b = self.a, self.b
        top_x, top_y = x.bit_length() - 1, y.bit_length() - 1
        total = shift + top_x + top_y
        for e in sorted(range(a.e_min, a.e_max + 1), key=lambda e: abs(2 * e - total)):
            if b.e_min <= total - e <= b.e_max:
                first = encoded(a, x * Fraction(2) ** (e - top_x))
                second = encoded(b, y * Fraction(2) ** (total - e - top_y))
                if first is not None and second is not None:
                    return first, second
        return None

    def halved(self, e: int) -> FactorWords | None:
        """A product of exponent e that loses half an ulp when rounded; None where products are exact."""
        low, high = (self.p + 1) // 2, self.p + 1 - (self.p + 1) // 2
        x, y = self.a.fraction_bits, self.b.fraction_bits
        if self.bits is not None or not self.nearest or low > x or high > y:
            return None
        return self.scaled((1 << x) + (1 << x - low), (1 << y) + (1 << y - high), e - x - y)

    def tiny(self, e: int) -> FactorWords | None:
        """A product of exponent e with a minimal significand, from a subnormal factor."""
        for one, other, turned in ((self.a, self.b, False), (self.b, self.a, True)):
            if (one.fraction_bits < other.fraction_bits and not turned) or not one.subnormals:
                continue
            second = encoded(other, Fraction(2) ** (e - one.e_min)) if e - one.e_min >= other.e_min else None
            if second is not None:
                first = 1 << one.ignored_low_bits
                return (second, first) if turned else (first, second)
        return None

    # ------------------------------------------------------------------ calls
    def _products(self, e: int, count: int, first: bool, subnormal: bool) -> list[FactorWords] | None:
        """The products of one block at exponent e; the first block begins with the largest term.

        Zeros stand for products that the operands do not have; None where there is no largest term.
        """
        products: list[FactorWords] = []
        if first:
            largest = self.tiny(e) if subnormal else self.halved(e) or self.power(e)
            if largest is None:
                return None
            products.append(largest)
        left = count - len(products)
        filled = None if subnormal else self._cut(e, left) or self._filled(e, left)
        if filled is not None:
            return products + filled
        brings, lost = self._parts(e)
        if brings is not None and not subnormal and len(products) < count:
            products.append(brings)
        return products + [_NOTHING if lost is None else lost] * (count - len(products))

    def _parts(self, e: int) -> tuple[FactorWords | None, FactorWords | None]:
        """Two products: one that sets up the conversion's maximal loss, and one that is lost in the sum."""
        half = self.power(e - self.p - 1) if self.nearest else self.below(e - self.p)
        if self.bits is None:
            return half, half
        return (half if self.bits > self.p else None), self.below(e - self.bits)

    def _filled(self, e: int, count: int) -> list[FactorWords] | None:
        """Short products of maximal truncation loss whose retained parts set up the conversion's maximal
        loss.

        The more units of the sum a product keeps, the less it can lose: they are shared out among them.
        """
        few = self.a.fraction_bits + self.b.fraction_bits <= _BITS
        if self.bits is None or not few or count < 1 or not self.p <= self.bits <= self.p + _WIDER:
            return None
        ulp = 1 << self.bits - self.p
        target = ulp // 2 if self.nearest else ulp - 1
        kinds: dict[int, Gain] = {}
        for kept, x in enumerate(_losses(self.a.fraction_bits, self.b.fraction_bits, target)):
            if x is not None and (pair := self.scaled(x[1], x[2], e - self.bits + x[3])) is not None:
                kinds[kept] = x[0], pair
        best = next(islice(best_sums(kinds, lambda x: x if x <= target else None), count - 1, None))
        return list(reversed(best[target][1])) if target in best else None

    def _cut(self, e: int, count: int) -> list[FactorWords] | None:
        """Products in pieces, the first of which sets up the conversion's maximal loss."""
        size, extra_bits = self.unit.design.piece_bits, (self.bits or 0) - self.p
        if size is None or extra_bits < 1 or self.nearest or count < 1:
            return None
        products = lossy_products(self.a.precision, self.b.precision, size, 1 << extra_bits)
        kinds = [products[x] for x in ((1 << extra_bits) - 1, 0) if x in products]
        words = [
            w for x in kinds if (w := self.scaled(x[1], x[2], e - self.p - extra_bits - x[3])) is not None
        ]
        return [words[0], *[words[1]] * (count - 1)] if len(words) == 2 else None

    def call(
        self, pairs: Sequence[FactorWords], c: int, scales: Sequence[int] = (), others: Sequence[int] = ()
    ) -> Witness:
        """One call, padded with zeros; `scales` of A and `others` of B are 1 by default."""
        unit = self.unit
        a, b = zip(*pairs, *[_NOTHING] * (unit.k - len(pairs)), strict=True)
        ones = scale_ones(unit, unit.k)
        return Witness(a, b, c, tuple(scales) or ones, tuple(others) or ones)

    def values(self, w: Witness) -> list[Fraction]:
        """The exact scaled products of a call, negated where the unit subtracts them."""
        signs = product_signs(self.unit, self.unit.k)
        products = [x * s for x, s in zip(products_of(self.a, self.b, w.a, w.b), signs, strict=True)]
        size, fmt = self.unit.scale_block, self.unit.scale_format
        if size is None or fmt is None:
            return products
        own = products_of(fmt, fmt, w.scale_a, w.scale_b)
        return [x * own[k // size] for k, x in enumerate(products)]

    def best(self, length: int, *, subnormal: bool = False) -> Attained:
        """The constructed dot product of this length with the largest error."""
        candidates = [self.run(e, length, subnormal) for e in self.exponents()]
        if self.unit.design.rho != self.unit.design.step and not subnormal and length > 1:
            candidates += [self._converted(e) for e in self.exponents()[:_FEW]]
        nothing = Attained(((self.call([], 0), 1),), 0, Fraction(0), Fraction(0))
        return max((x for x in candidates if x is not None), key=lambda x: x.ratio, default=nothing)

    def exponents(self) -> list[int]:
        """The exponent nearest 0 at which all needed products exist, or else all candidates."""
        low, high = self.a.e_min + self.b.e_min, self.a.e_max + self.b.e_max
        d = self.unit.d_format
        span = [e for e in range(low, high + 1) if d.e_min <= e < d.e_max - 8]
        for e in sorted(span, key=abs):
            lost = self.power(e) is not None and self._parts(e)[1] is not None
            if lost and (self.bits == self.p or self._parts(e)[0] is not None):
                return [e]
        return span

    def run(self, e: int, length: int, subnormal: bool = False) -> Attained | None:
        """The constructed dot product at exponent e, call by call."""
        unit, calls = self.unit, Calls(self, length)
        size = min(unit.k, unit.design.products)
        while calls.met < length:
            count = min(unit.k, length - calls.met)
            pairs: list[FactorWords] = []
            for start in range(0, count, size):
                block = self.products(e, min(size, count - start), not (calls.met or start), subnormal)
                if block is None:
                    return None
                pairs += block
            calls.add(pairs if len(calls.made) < _CALLS else ())
        return calls.attained

    def _converted(self, e: int) -> Attained | None:
        """A call of two products with a maximal conversion error, for sums wider than the result."""
        rho = self.unit.design.rho
        first = self.power(e)
        q = e - rho.fraction_bits
        second = self.power(q - 1) if rho.mode in NEAREST else self.below(q)
        if first is None or second is None:
            return None
        return self.replayed([first, second])

    def replayed(
        self, pairs: Sequence[FactorWords], scales: Sequence[int] = (), others: Sequence[int] = ()
    ) -> Attained | None:
        """The error of one call with c = 0; None where its result is not finite."""
        calls = Calls(self, self.unit.k)
        calls.add(pairs, scales, others)
        return calls.attained


def best_sums(
    kinds: Mapping[int, Gain], join: Callable[[int], int | None]
) -> Iterator[dict[int, tuple[Fraction, tuple[FactorWords, ...]]]]:
    """The most that 1, 2, … products gain together, with these products, by what their kinds join to."""
    best: dict[int, tuple[Fraction, tuple[FactorWords, ...]]] = {0: (Fraction(0), ())}
    while True:
        made: dict[int, tuple[Fraction, tuple[FactorWords, ...]]] = {}
        for total, (gain, row) in best.items():
            for kind, (more, pair) in kinds.items():
                at = join(total + kind)
                if at is not None and (at not in made or gain + more > made[at][0]):
                    made[at] = gain + more, (*row, pair)
        best = made
        yield best


@lru_cache(maxsize=64)
def _losses(first: int, second: int, most: int) -> list[tuple[Fraction, int, int, int] | None]:
    """For each retained integer part, the product of significands that exceeds it most.

    Ranges and units: whole parts 0 … most; the excess, both significands as integers, and the power of two
    that scales their product.
    """
    best: list[tuple[Fraction, int, int, int] | None] = [None] * (most + 1)
    for x in range(1 << first, 2 << first):
        for y in range(1 << second, 2 << second):
            for shift in range(-(first + second + 2), most.bit_length() - first - second):
                value = x * y * Fraction(2) ** shift
                whole = int(value)
                if whole <= most and ((old := best[whole]) is None or value - whole > old[0]):
                    best[whole] = value - whole, x, y, shift
    return best


@lru_cache(maxsize=64)
def _just_below(first: int, second: int) -> tuple[int, int, int]:
    """Significands with the largest product below a power of two, and that power.

    Ranges and units: x in [2^first, 2^(first + 1)), y likewise: x·y < 2^places, as close as can be.
    """
    best = (Fraction(0), 0, 0, 0)
    for places in (first + second + 1, first + second + 2):
        # Of many significands the least and the largest come near enough.
        ends = (
            range(1 << first, min(1 << first, _ENDS) + (1 << first)),
            range((2 << first) - _ENDS, 2 << first),
        )
        for x in ends[0] if 1 << first <= _ENDS else chain(*ends):
            y = min(((1 << places) - 1) // x, (2 << second) - 1)
            if y >= 1 << second:
                best = max(best, (Fraction(x * y, 1 << places), x, y, places))
    return best[1], best[2], best[3]


@lru_cache(maxsize=8)
def lossy_products(first: int, second: int, size: int, ulp: int) -> dict[int, tuple[float, int, int, int]]:
    """The products in pieces of `size` bits whose truncation below 2^t loses most, by retained units.

    Ranges and units: normal significands of `first` and `second` bits; by what the whole units that are kept
    are modulo `ulp`: what is lost, both significands and t.  Empty where there are too many.
    """
    if max(first, second) > _MOST:
        return {}
    x, y = (np.arange(1 << n - 1, 1 << n, dtype=np.int64) for n in (first, second))
    rows = [[v >> i & (1 << size) - 1 for i in range(0, n, size)] for v, n in ((x, first), (y, second))]
    pieces = [
        np.multiply.outer(p, q) << size * (i + j)
        for i, p in enumerate(rows[0])
        for j, q in enumerate(rows[1])
    ]
    best: dict[int, tuple[float, int, int, int]] = {}
    for t in range(size, first + second + 1):
        kept = sum((p >> t for p in pieces), np.zeros_like(pieces[0]))
        lost = np.multiply.outer(x, y) - (kept << t)
        for rest in range(ulp):
            among = np.where(kept % ulp == rest, lost, -1)
            at = int(among.argmax())
            units = float(among.flat[at]) / (1 << t)
            if units >= 0 and units > best.get(rest, (0.0,))[0]:
                best[rest] = units, int(x[at // y.size]), int(y[at % y.size]), t
    return best


#: Exponents of scales that are tried: products of them overflow nothing and underflow nothing.
_SCALES = 24
#: Least products below which all that can be left is looked through.
_LEAST = 32


def filled(build: Construction, length: int) -> Attained | None:
    """One call whose sum lies one grid unit below the next result: its truncation error is maximal.

    None where other sums lose more, or where the products do not make it.
    """
    unit, design = build.unit, build.unit.design
    if length > block_size(unit) or design.rho.mode != "RZ" or unit.emulation is not None:
        return None
    groups = design.group is not None and unit.scale_block == design.group
    if not groups and not cut_once(unit, length):
        return None
    grid = Fraction(2) ** sum(f.e_min - f.fraction_bits for f in (build.a, build.b))
    whole = {int(value / grid): pair for value, pair in _coins(build.a, build.b).items()}
    if groups:
        return _groups(build, length, whole, grid)
    p = design.rho.fraction_bits
    for e in range((length * max(whole)).bit_length() - 1, p, -1):
        pairs, rest = _fill(whole, (1 << e) + (1 << e - p) - 1, length)
        if not rest:
            return build.replayed(pairs)
    return None


def _groups(
    build: Construction, length: int, coins: Mapping[int, FactorWords], grid: Fraction
) -> Attained | None:
    """A call with a power of two in the first group, and just less than an ulp in groups of smaller
    scales."""
    unit, size = build.unit, build.unit.design.group
    assert size is not None
    assert unit.scale_format is not None
    scales = _scales(unit.scale_format)
    top, count = max(scales), -(-length // size)
    most = min(size, length) * max(coins)
    powers = range(most.bit_length() - 1, -1, -1)
    first = next((e for e in powers if not _fill(coins, 1 << e, size)[1]), None)
    if first is None:
        return None
    pairs, chosen = [_fill(coins, 1 << first, size)[0]], [top]
    room = grid * Fraction(2) ** (top + first - unit.design.rho.fraction_bits)
    for _ in range(1, count):
        made = []
        for s in scales:
            unit_of = grid * Fraction(2) ** s
            budget = -(-room // unit_of) - 1
            some, rest = _fill(coins, budget, size)
            made.append(((budget - rest) * unit_of, s, some))
        value, s, some = max(made, key=lambda x: x[:2])
        room, pairs, chosen = room - value, [*pairs, some], [*chosen, s]
    rows = [x for some in pairs for x in [*some, *[(0, 0)] * (size - len(some))]][:length]
    words = [scales[s] for s in chosen] + [scales[0]] * (unit.k // size - count)
    return build.replayed(rows, *zip(*words, strict=True))


def _fill(coins: Mapping[int, FactorWords], total: int, count: int) -> tuple[list[FactorWords], int]:
    """Products whose sum comes nearest to a total from below, and the remainder.

    The largest first; of what is left below a few of the least ones, as much as any products make.
    """
    made: list[FactorWords] = []
    few = _LEAST * min(coins)
    for value in sorted(coins, reverse=True):
        times = min(max(total - few, 0) // value, count - len(made))
        made += [coins[value]] * times
        total -= times * value
    # The fewest products of each total, by the last of them.
    last: dict[int, int] = {0: 0}
    reached = [0]
    for _ in range(count - len(made)):
        sums = {x + v: v for x in reached for v in coins if x + v <= total}
        reached = [x for x in sums if x not in last]
        last |= {x: sums[x] for x in reached}
    best = max(last)
    rest = total - best
    while best:
        made.append(coins[last[best]])
        best -= last[best]
    return made, rest


def _coins(a: Format, b: Format) -> dict[Fraction, FactorWords]:
    """Encodings for each value that a product of two positive normal numbers can have."""
    numbers = []
    for fmt in (a, b):
        sizes = product(
            range(fmt.e_min, fmt.e_max + 1), range(1 << fmt.fraction_bits, 2 << fmt.fraction_bits)
        )
        values = [x * Fraction(2) ** (e - fmt.fraction_bits) for e, x in sizes]
        numbers.append([(x, word) for x in values if (word := encoded(fmt, x)) is not None])
    return {x * y: (v, w) for (x, v), (y, w) in product(*numbers)}


def _scales(fmt: Format) -> dict[int, tuple[int, int]]:
    """Two power-of-two scales for each exponent of their product."""
    by_exponent = {}
    for q in range(-_SCALES, _SCALES + 1):
        low, high = q // 2, q - q // 2
        first, second = encoded(fmt, Fraction(2) ** low), encoded(fmt, Fraction(2) ** high)
        if first is not None and second is not None and low >= fmt.e_min:
            by_exponent[q] = first, second
    return by_exponent
