"""Whether the parts of one sum are cut one by one, from terms just below the last bit that the sum keeps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from tcformal.identify.masks import Masks, NotFiniteError, Row, Task, together
from tcformal.oracle.text import power_of_two

#: Fraction bits that are tried first: those of known sums, and their neighbours.
_USUAL_BITS = (10, 13, 14, 18, 22, 23, 24, 25, 26)
#: Parts of the last kept bit: two of either together are cut in another way than one by one, whatever the
#: rounding of the alignment.
_BELOW = (Fraction(3, 4), Fraction(3, 8))
#: Distances at which parts that belong together are looked for first.
_DISTANCES = (1, 2, 3, 4, 8, 16)

Pair = tuple[int, int]


class Flatness:
    """The sums of one device, each given by the first leaf of every part."""

    def __init__(self, masks: Masks) -> None:
        self.masks = masks
        #: The fraction bits that were found.
        self.found: set[int] = set()

    def hidden(self, heads: Sequence[int]) -> Task:
        """The fraction bits of a sum, and those parts of it that are added up before they are cut.

        Shapes: four parts or more, no two of the first three hide less than the whole; -> (bits, groups).
        Ranges and units: bits None where what is kept of a term does not depend on its exponent alone.
        """
        guess = max(self.found, default=None)
        if guess is None:
            bits = yield from self._fraction_bits(heads)
            rows = None
        else:
            bits, rows = yield from together([self._fraction_bits(heads), self._below(heads, guess)])
        if bits is None:
            return None, []
        if rows is None or bits != guess:
            rows = yield from self._below(heads, bits)
        large, part, single = rows
        if large is None:
            return bits, []
        return bits, (yield from self._groups(heads, large, bits, part, single))

    def _below(self, heads: Sequence[int], bits: int) -> Task:
        """A pair of large terms beside which others are not cut one by one, at a part of the last kept bit.

        Shapes: -> (the pair or None, the part, what a single term becomes there).
        """
        triangle = list(combinations(heads[:3], 2))
        for part in _BELOW:
            tasks = [self._together(p, [x for x in heads if x not in p], bits, part) for p in triangle]
            single, *sums = yield from together([self._together(triangle[0], heads[-1:], bits, part), *tasks])
            for pair, (count, total) in zip(triangle, sums, strict=True):
                if total != count * single[1]:
                    return pair, part, single[1]
            if not single[1] and part == _BELOW[0]:
                break  # cut toward zero: two together would not be
        return None, part, single[1]

    def _groups(self, heads: Sequence[int], large: Pair, bits: int, part: Fraction, single: Fraction) -> Task:
        """Parts that are added up before they are cut, beside a pair of large terms in other ones."""
        others = [x for x in heads if x not in large]
        starts = {0, len(others) // 2, len(others) - 1}
        tries = [(n, n + d if n + d < len(others) else n - d) for n in sorted(starts) for d in _DISTANCES]
        near = sorted({(min(x), max(x)) for x in tries if min(x) >= 0})
        hits = yield from self._sharing([(others[n], others[m]) for n, m in near], large, bits, part, single)
        distances = [m - n for (n, m), hit in zip(near, hits, strict=True) if hit]
        if distances:
            stride = min(distances)
            spaced = [others[n] for first in range(stride) for n in range(first, len(others), stride)]
            pairs = list(pairwise(spaced))
        else:
            pairs = list(pairwise(others)) + [(others[0], x) for x in others[2:]]
        hits = yield from self._sharing(pairs, large, bits, part, single)
        groups: list[set[int]] = []
        for pair, hit in zip(pairs, hits, strict=True):
            if hit:
                joined = set(pair).union(*(g for g in groups if g & set(pair)))
                groups = [*(g for g in groups if not g & joined), joined]
        place = {x: n for n, x in enumerate(heads)}
        return sorted(tuple(sorted(g, key=place.__getitem__)) for g in groups)

    def _sharing(
        self,
        pairs: Sequence[Pair],
        large: Pair,
        bits: int,
        part: Fraction,
        single: Fraction,
    ) -> Task:
        """Whether the two parts of each pair are added up before they are cut."""
        sums = yield from together([self._together(large, pair, bits, part) for pair in pairs])
        return [total != n * single for n, total in sums]

    def _together(self, large: Pair, others: Sequence[int], bits: int, part: Fraction) -> Task:
        """What a sum makes of terms a part of its last kept bit: how many there were, and their sum."""
        m = self.masks
        low = part * power_of_two(m.large(*large) - bits)
        able = {x: low for x in others if m.holds(x, low)}
        (number,) = yield [self._cancelling(*large) | able]
        if number is None:
            raise NotFiniteError
        return len(able), number / power_of_two(m.large(*large) - bits)

    def _fraction_bits(self, heads: Sequence[int]) -> Task:
        """How far below a large term another one is still kept; None where that is not one place."""
        m = self.masks
        i, j, probe = heads[1], heads[2], heads[-1]
        high = m.large(i, j)
        kept, lost = 0, m.depth + 1
        wanted = sorted({t for bits in self.found for t in (bits, bits + 1)}) or list(_USUAL_BITS)
        while lost - kept > 1:
            wanted = [t for t in wanted if kept < t < lost] or _spread(kept, lost)
            wanted = [t for t in wanted if m.holds(probe, power_of_two(high - t))]
            if not wanted:
                return None
            rows: list[Row] = [self._cancelling(i, j) | {probe: power_of_two(high - t)} for t in wanted]
            answers = yield rows
            for t, number in zip(wanted, answers, strict=True):
                if number is None:
                    raise NotFiniteError
                if number == power_of_two(high - t):
                    kept = max(kept, t)
                else:
                    lost = min(lost, t)
            wanted = []
            if kept >= lost:
                return None
        self.found.add(kept)
        return kept

    def _cancelling(self, i: int, j: int) -> dict[int, Fraction]:
        """Large terms of both signs."""
        large = power_of_two(self.masks.large(i, j))
        return {i: large, j: -large}


def _spread(kept: int, lost: int) -> list[int]:
    """Up to eight places between two."""
    step = -(-(lost - kept) // 9)
    return list(range(kept + step, lost, step)) or [kept + 1]
