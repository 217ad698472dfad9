"""Hill climbing on a unit's lanes from constructed inputs to calls of large error."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.bounds.attained import (
    Attained,
    Calls,
    Construction,
    FactorWords,
    Gain,
    best_sums,
    filled,
)
from tcformal.analysis.samples import values_of
from tcformal.design.names import resolve
from tcformal.design.rounding import NEAREST
from tcformal.design.unit import UnitSpec, product_signs
from tcformal.encodings.spec import Format
from tcformal.oracle.values import decode, encode_exact, encoded, exponent_of
from tcformal.semantics.chain import scale_count
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import results_of

#: Pairs of significands that are tried at once, and rounds around the best.
_TRIED, _CUT_ROUNDS = 1 << 15, 6
#: Binades below a unit of the sum of what is raised to one.
_TINY = (20, 8, 4, 2, 1)


def of_cut_terms(build: Construction, length: int, exponents: list[int]) -> Iterator[Attained]:
    """Constructed calls for units that truncate terms: to odd, or a single product; replayed."""
    design, unit = build.unit.design, build.unit
    if length > min(unit.k, design.products) or design.fraction_bits is None or unit.scale_format is not None:
        return
    if design.alignment_rounding == "RO" and design.step.mode == "RO" and length > 2:
        # The larger the first product, the less the tiny ones are beside a unit.
        top = min(build.a.e_max + build.b.e_max, unit.d_format.e_max - 1)
        rows = [row for e in (*exponents, top, top - 1) for row in _to_odd(build, e, length)]
    elif length == 1 and build.a.precision + build.b.precision > design.step.precision:
        rows = [] if (row := _alone(build)) is None else [row]
    else:
        return
    for pairs in rows:
        if (replayed := build.replayed(pairs)) is not None:
            yield replayed


def _to_odd(build: Construction, e: int, length: int) -> Iterator[list[FactorWords]]:
    """A power of two, and products that gain most by rounding to odd while the sum gains, too.

    The sum gains an ulp less a unit where it is a unit above an even number of ulps: of all rows of odd
    numbers of units, of either sign, that come to that, the one whose products gain most.
    """
    bits, p = int(build.unit.design.fraction_bits or 0), build.p
    large, ulps = build.power(e), 2 << bits - p
    if large is None:
        return
    kinds = dict[int, Gain]()
    for units in range(1, ulps, 2):
        for sign in (1, -1):
            found = _gaining(build, units, sign, e - bits)
            residue = units * sign % ulps
            if found is not None and (residue not in kinds or found[0] > kinds[residue][0]):
                kinds[residue] = found
    # What is gained at most by so many products whose units are so many beyond a multiple of two ulps.
    sums = best_sums(kinds, lambda units: units % ulps)
    for count, best in enumerate(itertools.islice(sums, length - 1), 1):
        if count >= length - 2 and 1 in best:
            yield [large, *best[1][1]]


def _gaining(build: Construction, units: int, sign: int, q: int) -> Gain | None:
    """A product near an odd number of units of 2^q that gains most by rounding to odd, and its gain.

    One that is raised is as little above a unit less as the significands allow; of the other sign, as little
    below a unit more.
    """
    if units == 1 and sign > 0:
        words = next((x for t in _TINY if (x := build.power(q - t)) is not None), None)
    else:
        nearest = _nearest_product(build.a.fraction_bits, build.b.fraction_bits, units - sign, sign)
        words = None if nearest is None else build.scaled(nearest[0], nearest[1], q - nearest[2])
    if words is None:
        return None
    value = decode(build.a, words[0]).number * decode(build.b, words[1]).number / Fraction(2) ** q
    if sign < 0:
        words = words[0] | build.a.sign_bit, words[1]
    return (units - value) * sign, words


@lru_cache(maxsize=1024)
def _nearest_product(first: int, second: int, whole: int, sign: int) -> tuple[int, int, int] | None:
    """Significands whose product is just above, or just below, an integer."""
    best: tuple[Fraction, int, int, int] | None = None
    for x in range(1 << first, 2 << first):
        for places in range(first + second - whole.bit_length(), first + second - whole.bit_length() + 3):
            if places < 1:
                continue
            y = (whole << places) // x + 1 if sign > 0 else -(-(whole << places) // x) - 1
            gap = abs(Fraction(x * y, 1 << places) - whole)
            if 1 << second <= y < 2 << second and gap < 1:
                candidate = (gap, x, y, places)
                best = candidate if best is None else min(best, candidate)
    return None if best is None else best[1:]


def _alone(build: Construction) -> list[FactorWords] | None:
    """A single product a little above 1 with a large truncation error, found by random search."""
    if build.a.precision + build.b.precision > 53:
        return None  # binary64 does not hold it
    unit, draw = Unit(build.unit), np.random.default_rng(1)
    one = [encode_exact(f, Fraction(1)) for f in (build.a, build.b)]
    half = [f.fraction_bits // 2 + 2 for f in (build.a, build.b)]
    rows = np.column_stack([draw.integers(0, 1 << h, _TRIED) for h in half])
    best, most = rows[0], -1.0
    for i in range(_CUT_ROUNDS):
        a, b = (
            (rows[:, j : j + 1] + one[j]).astype(f"u{f.storage_bits // 8}")
            for j, f in enumerate((build.a, build.b))
        )
        exact = (values_of(a, build.a) * values_of(b, build.b))[:, 0]
        d = values_of(
            unit.dot_bits(a, b, np.zeros(len(a), f"u{unit.c_format.storage_bits // 8}")), unit.d_format
        )
        lost = np.abs(d - exact) / exact
        if lost.max() > most:
            most, best = float(lost.max()), rows[int(np.argmax(lost))]
        steps = draw.integers(-(1 << 9 - i), (1 << 9 - i) + 1, (_TRIED, 2))
        rows = np.clip(best + steps, 0, [(1 << h) - 1 for h in half])
    return [(int(best[0] + one[0]), int(best[1] + one[1]))]


Indices = NDArray[np.int64]
#: Rows that are tried at once, rounds of random pairs without gain, and steps of a climb.
_ROWS, _ROUNDS, _CLIMBS = 30_000, 2, 60
#: Different calls at most; a chain that does not settle is not followed.
_CALLS = 40
#: Binades above the least normal number where what flushing loses is small beside the largest term.
_MARGIN = 40
#: Binades below the largest product that are tried.
_SPAN = 40
#: Exponents from the least one on where the largest product has others below a unit.
_NEAR = 4
#: All significands of so few fraction bits are tried; results of so many fraction bits are searched at most.
_FEW, _WIDE = 3, 24
#: Products just below a power of two are sought among significands of so many fraction bits.
_NARROW = 12


def improved(build: Construction, length: int, known: Attained) -> Attained:
    """The best dot product that an ascent finds, by its first two calls, or `known` if that is better.

    Ranges and units: exact, replayed on integers and on the oracle.
    """
    spec = build.unit
    whole = filled(build, length)
    if whole is not None and whole.ratio >= known.ratio:
        return whole
    known = max((known, *of_cut_terms(build, length, build.exponents())), key=lambda x: x.ratio)
    if not _worth(spec):
        return known
    ascents = [Ascent(build, Unit(spec), min(spec.k, length), e) for e in _tops(build, known.calls[0][0])]
    calls, found = Calls(build, length), known.calls[0][0]
    while calls.met < length:
        if len(calls.made) < 2:
            start = known.calls[min(len(calls.made), len(known.calls) - 1)][0]
            before = float(calls.exact), float(calls.magnitude)
            found = max((x.best(start, calls.state, before) for x in ascents), key=lambda x: x[0])[1]
        pairs = list(zip(found.a, found.b, strict=True))[: length - calls.met]
        calls.add(pairs, found.scale_a)
        if len(calls.made) > _CALLS:
            return known
    new = calls.attained
    return known if new is None else max(known, new, key=lambda x: x.ratio)


def _top(build: Construction, w: Witness) -> int:
    """The exponent of the largest product of a call; 0 where all are zero."""
    top = max(map(abs, build.values(w)))
    return top.numerator.bit_length() - top.denominator.bit_length() if top else 0


def _tops(build: Construction, w: Witness) -> list[int]:
    """The exponents of the largest product to try, that of a call first.

    Of sums that round down on the way, products of few exponents are tried a little below a unit, too.
    """
    design = build.unit.design
    low = build.a.e_min + build.b.e_min + (design.fraction_bits or 0)
    most = build.a.e_max + build.b.e_max
    others = [e for e in range(low, low + _NEAR) if e <= most] if design.summation in ("tr", "gtr") else []
    return list(dict.fromkeys([_top(build, w), *others]))


class Ascent:
    """Hill climbing: changes of one product, of all equal ones or of two at once while the error grows."""

    def __init__(self, build: Construction, unit: Unit, count: int, e: int) -> None:
        self.unit, self.spec, self.count = unit, unit.spec, count
        d = unit.d_format
        self.e = e
        self.least = 2.0 ** (d.e_min + (_MARGIN if d.e_min < -2 * _MARGIN else 0))
        made: dict[float, FactorWords] = {0.0: (0, 0)}
        a, b = unit.a_format, unit.b_format
        few = max(a.fraction_bits, b.fraction_bits) <= _FEW
        narrow = max(a.fraction_bits, b.fraction_bits) <= _NARROW
        low = max(a.e_min + b.e_min, e - _SPAN)
        high = a.e_max + b.e_max if few else e + 1
        shapes = _significands(a, b, few)
        for q in range(low, high + 1):
            found = [build.scaled(x, y, q - x.bit_length() - y.bit_length() + 2) for x, y in shapes]
            for pair in (*found, build.halved(q), build.below(q) if narrow else None):
                if pair is not None:
                    value = _value(a, pair[0]) * _value(b, pair[1])
                    made.setdefault(value, pair)
                    made.setdefault(-value, (pair[0] | a.sign_bit, pair[1]))
        self.values = np.array(sorted(made, key=abs))
        self.words = np.array([made[x] for x in self.values.tolist()], np.uint64)
        blocks = scale_count(unit.spec, unit.k)
        fmt, self.scales = unit.scale_format, np.ones(1)
        self.scale_words = np.array([0 if fmt is None else fmt.one], np.uint64)
        if fmt is not None and blocks > 1:
            powers = [Fraction(2) ** e for e in range(max(fmt.e_min, -30), min(fmt.e_max, 30) + 1)]
            words = [(1.0, fmt.one), *((float(x), w) for x in powers if (w := encoded(fmt, x)) is not None)]
            self.scales = np.array([x for x, _ in words])
            self.scale_words = np.array([w for _, w in words], np.uint64)
        self.block = np.arange(unit.k) // (unit.spec.scale_block or unit.k)
        self.blocks = max(blocks, 1)
        self.signs = np.array(product_signs(unit.spec, unit.k), float)
        self.draw = np.random.default_rng(1)

    # ------------------------------------------------------------------ what is lost
    def lost(
        self, rows: Indices, scales: Indices, c: int, before: tuple[float, float]
    ) -> NDArray[np.float64]:
        """The error of each row of choices, in units of the sum of magnitudes.

        Shapes: rows [n, k] of products, scales [n, blocks]; `before`: the exact sum so far, and that of
        magnitudes.
        """
        n, spec = len(rows), self.spec
        a, b = (self.words[rows, i].astype(f"u{f.storage_bits // 8}")
                for i, f in ((0, spec.a_format), (1, spec.b_format)))  # fmt: skip
        start = np.full(n, c, f"u{spec.c_format.storage_bits // 8}")
        given: tuple[NDArray[np.uint8], ...] = ()
        weight = np.ones((n, self.unit.k))
        if spec.scale_format is not None:
            own = self.scale_words[scales].astype(np.uint8)
            given = own, np.full_like(own, spec.scale_format.one)
            weight = self.scales[scales][:, self.block]
        result = values_of(self.unit.dot_bits(a, b, start, *given), spec.d_format)
        values = self.values[rows] * weight * self.signs
        # No underflow, as the conditions of a bound say.
        kept = (np.abs(values).max(1) >= self.least) & (np.abs(result) >= self.least)
        size = np.abs(values).sum(1) + before[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.abs(result - before[0] - values.sum(1)) / size
        return np.where(np.isfinite(ratio) & kept, ratio, 0)

    # ------------------------------------------------------------------ ascent
    def starts(self, known: Witness) -> list[Indices]:
        """The starting points: given products, one large product, and many."""
        pairs = zip(known.a, known.b, strict=True)
        values = [_value(self.spec.a_format, x) * _value(self.spec.b_format, y) for x, y in pairs]
        start, one, all_ = np.zeros((3, self.unit.k), np.int64)
        start[: self.count] = [int(np.argmin(np.abs(self.values - value))) for value in values[: self.count]]
        one[0] = all_[: self.count] = int(np.argmax(self.values))
        return [start, one, all_, *self._truncated(2.0**self.e)]

    def _truncated(self, large: float) -> list[Indices]:
        """Starting points of the climb: one or two large products, the others just below a unit of the
        truncated sum."""
        bits = self.spec.design.fraction_bits
        below = np.flatnonzero((self.values > 0) & (self.values < large * 2.0 ** -(bits or 0)))
        if bits is None or not below.size:
            return []
        starts = []
        for count in (1, 2):
            row = np.zeros(self.unit.k, np.int64)
            row[: self.count] = below[-1]
            row[:count] = int(np.argmin(np.abs(self.values - large)))
            starts.append(row)
        return starts

    def best(self, known: Witness, c: int, before: tuple[float, float]) -> tuple[float, Witness]:
        """The call of largest error after climbs from all starting points, with its error."""
        climbs = [self._climb(row, c, before) for row in self.starts(known)]
        most, row, scales = max(climbs, key=lambda x: x[0])
        a, b = self.words[row].T.tolist()
        own = tuple(self.scale_words[scales].tolist()) if self.spec.scale_format is not None else ()
        return most, Witness(tuple(a), tuple(b), c, own, own)

    def _climb(self, row: Indices, c: int, before: tuple[float, float]) -> tuple[float, Indices, Indices]:
        scales = np.zeros(self.blocks, np.int64)
        now = float(self.lost(row[None], scales[None], c, before)[0])
        idle = 0
        for _ in range(_CLIMBS):
            rows, given = self._pairs(row, scales) if idle else self._changes(row, scales)
            ratios = self.lost(rows, given, c, before)
            at = int(np.argmax(ratios))
            if ratios[at] > now * (1 + 1e-9):
                now, row, scales, idle = float(ratios[at]), rows[at], given[at], 0
                continue
            idle += 1
            if idle > _ROUNDS:
                break
        return now, row, scales

    def _changes(self, row: Indices, scales: Indices) -> tuple[Indices, Indices]:
        """All changes of one product, of all equal products, or of one scale."""
        pool, made, own = np.arange(len(self.values)), list[Indices](), list[Indices]()
        # Products of one value in one block may change places.
        _, distinct = np.unique(
            np.stack([row[: self.count], self.block[: self.count]]), axis=1, return_index=True
        )
        slots: list[Indices] = [np.array([k]) for k in distinct.tolist()]
        slots += [np.flatnonzero(row[: self.count] == x) for x in np.unique(row[: self.count]).tolist()]
        room = max(_ROWS // max(len(slots), 1), 1)
        for at in slots:
            some = pool if len(pool) <= room else self.draw.choice(pool, room, replace=False)
            block = np.repeat(row[None], len(some), 0)
            block[:, at] = some[:, None]
            made.append(block)
            own.append(np.repeat(scales[None], len(some), 0))
        for j in range(self.blocks if len(self.scales) > 1 else 0):
            given = np.repeat(scales[None], len(self.scales), 0)
            given[:, j] = np.arange(len(self.scales))
            made.append(np.repeat(row[None], len(given), 0))
            own.append(given)
        return np.concatenate(made), np.concatenate(own)

    def _pairs(self, row: Indices, scales: Indices) -> tuple[Indices, Indices]:
        """Random changes of two products."""
        rows = np.repeat(row[None], _ROWS // 2, 0)
        for _ in range(2):
            at = self.draw.integers(0, self.count, len(rows))
            rows[np.arange(len(rows)), at] = self.draw.integers(0, len(self.values), len(rows))
        return rows, np.repeat(scales[None], len(rows), 0)


def _value(fmt: Format, word: int) -> float:
    return float(decode(fmt, word).number)


def _significands(a: Format, b: Format, few: bool) -> list[tuple[int, int]]:
    """Pairs of significands: one per distinct product for few bits, else a few extreme pairs."""
    first, second = 1 << a.fraction_bits, 1 << b.fraction_bits
    if few:
        pairs = ((x, y) for x in range(first, 2 * first) for y in range(second, 2 * second))
        return list({x * y: (x, y) for x, y in pairs}.values())
    return [(1, 1), (3, 1), (first + 1, 1), (2 * first - 1, 1), (2 * first - 1, 2 * second - 1)]


def _worth(unit: UnitSpec) -> bool:
    """Whether an ascent can improve on constructed inputs for this unit."""
    design, few = unit.design, max(unit.a_format.fraction_bits, unit.b_format.fraction_bits) <= _FEW
    if unit.d_format.fraction_bits > _WIDE:
        return False  # binary64 does not hold their sums
    return few or design.summation != "fused" or design.fraction_bits is None or design.rho.mode in NEAREST


#: One binary32 addition to nearest: 1·b + c.
_ADDITION = "sequential@format=fp32,products=1"


def promoted(build: Construction, length: int, every: int) -> Attained:
    """The constructed dot product of largest error; partial sums and their additions are replayed."""
    first = improved(build, every, build.best(every))
    unit, addition = build.unit, resolve(_ADDITION)
    fmt = unit.d_format
    total, calls = first.ends, list(first.calls)
    exact = sum((sum(build.values(w), Fraction(0)) * times for w, times in first.calls), Fraction(0))
    magnitude = first.magnitude
    half = decode(fmt, first.ends).number * Fraction(1, 1 << 24)
    pair = build.power(exponent_of(half)) if half > 0 else None
    w = build.call([] if pair is None else [pair], 0)
    value, part, left = sum(build.values(w), Fraction(0)), results_of(unit, w), -(-length // every) - 1
    while left:
        before = total
        total = results_of(addition, Witness((encode_exact(fmt, Fraction(1)),), (part,), total))
        # An addition that changes nothing is made for all that follows.
        times = left if total == before else 1
        exact, magnitude = exact + times * value, magnitude + times * abs(value)
        calls.append((w, times))
        left -= times
    error = abs(decode(fmt, total).number - exact)
    made = replace(first, calls=tuple(calls), ends=total, error=error, magnitude=magnitude)
    return made if made.ratio >= first.ratio or pair is not None else first
