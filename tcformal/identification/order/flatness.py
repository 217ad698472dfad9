"""Whether the parts of one sum are cut one by one, from terms just below the last bit that the sum keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from tcformal.identification.order.masks import Masks, NotFiniteError
from tcformal.identification.order.tasks import Task, together
from tcformal.oracle.numerals import power_of_two

#: Fraction bits that are tried first: those of known sums, and their neighbours.
_USUAL_BITS = (10, 13, 14, 18, 22, 23, 24, 25, 26)
#: Parts of the last kept bit: two of either together are cut in another way than one by one, whatever the
#: rounding of the alignment.
_BELOW = (Fraction(3, 4), Fraction(3, 8))
#: Distances at which parts that belong together are looked for first.
_DISTANCES = (1, 2, 3, 4, 8, 16)

#: Two leaves.
LargeTerms = tuple[int, int]


class Flatness:
    """The sums of one device, each given by the first leaf of every part."""

    def __init__(self, masks: Masks) -> None:
        self.masks = masks
        #: The fraction bits that were found.
        self.found: set[int] = set()

    def hidden(self, heads: Sequence[int]) -> Task:
        """The fraction bits of a sum, and those parts of it that are added up before they are cut.

        Shapes: four parts or more, no two of the first three hide less than the whole; -> (bits, groups).
        Ranges and units: bits None where what is kept of terms does not depend on their exponents alone.
        """
        pair, alone = (heads[1], heads[2]), heads[-1:]
        bits = yield from self._fraction_bits(pair, [heads[0], *heads[3:]])
        last = power_of_two(-bits)
        below, single = yield from together([self._below(heads, bits), self._sum(pair, alone, last)])
        if single != last:
            # Two of them together are kept where one is lost.
            bits, below = (yield from self._fraction_bits(pair, alone)), (pair, _BELOW[0])
        if below is None:
            self.found.add(bits)
            return bits, []
        return bits, (yield from self._groups(heads, below[0], below[1], bits))

    def _below(self, heads: Sequence[int], bits: int) -> Task:
        """A pair of large terms beside which others are not cut one by one, and their size; or None."""
        triangle = list(combinations(heads[:3], 2))
        for part in _BELOW:
            low = power_of_two(-bits) * part
            tasks = [self._sum(pair, [x for x in heads if x not in pair], low) for pair in triangle]
            single, *sums = yield from together([self._sum(triangle[0], heads[-1:], low), *tasks])
            for pair, total in zip(triangle, sums, strict=True):
                if total != (len(heads) - 2) * single:
                    return pair, part
            if not single and part == _BELOW[0]:
                break  # cut toward zero: two together would not be
        return None

    def _groups(self, heads: Sequence[int], large: LargeTerms, part: Fraction, bits: int) -> Task:
        """Parts that are added up before they are cut, beside a pair of large terms in other ones.

        Parts that are cut in another way than most share one with a large term.
        """
        others = [x for x in heads if x not in large]
        low = power_of_two(-bits) * part
        starts = {0, len(others) // 2, len(others) - 1}
        tries = [(n, n + d if n + d < len(others) else n - d) for n in sorted(starts) for d in _DISTANCES]
        near = sorted({(min(x), max(x)) for x in tries if min(x) >= 0})
        alone = together([self._sum(large, [x], low) for x in others])
        tasks = [self._sum(large, (others[n], others[m]), low) for n, m in near]
        singles, *sums = yield from together([alone, *tasks])
        single = dict(zip(others, singles, strict=True))
        usual = max(singles, key=singles.count)
        lost = [x for x in others if single[x] != usual]
        if lost:
            return [(x, *lost) for x in large]
        hits = [
            total != single[others[n]] + single[others[m]] for (n, m), total in zip(near, sums, strict=True)
        ]
        distances = [m - n for (n, m), hit in zip(near, hits, strict=True) if hit]
        if distances:
            stride = min(distances)
            spaced = [others[n] for first in range(stride) for n in range(first, len(others), stride)]
            pairs = list(pairwise(spaced))
        else:
            pairs = list(pairwise(others)) + [(others[0], x) for x in others[2:]]
        groups = yield from self._joined(pairs, large, low, single)
        if not groups:
            # Some parts are added up first, or the large terms would show no difference.
            groups = yield from self._joined(list(combinations(others, 2)), large, low, single)
        place = {x: n for n, x in enumerate(heads)}
        return sorted(tuple(sorted(g, key=place.__getitem__)) for g in groups) or [tuple(others)]

    def _joined(
        self, pairs: Sequence[LargeTerms], large: LargeTerms, low: Fraction, single: Mapping[int, Fraction]
    ) -> Task:
        """The sets of parts in which some pairs are not cut as its parts are one by one."""
        sums = yield from together([self._sum(large, pair, low) for pair in pairs])
        groups: list[set[int]] = []
        for pair, total in zip(pairs, sums, strict=True):
            if total != single[pair[0]] + single[pair[1]]:
                joined = set(pair).union(*(g for g in groups if g & set(pair)))
                groups = [*(g for g in groups if not g & joined), joined]
        return groups

    def _fraction_bits(self, pair: LargeTerms, others: Sequence[int]) -> Task:
        """How far below a pair of large terms all of some others are still kept."""
        kept, lost = 0, self.masks.depth + 1
        wanted = sorted({t for bits in self.found for t in (bits, bits + 1)}) or list(_USUAL_BITS)
        while lost - kept > 1:
            wanted = [t for t in wanted if kept < t < lost] or _spread(kept, lost)
            sums = yield from together([self._sum(pair, others, power_of_two(-t)) for t in wanted])
            for t, total in zip(wanted, sums, strict=True):
                if total == len(others) * power_of_two(-t):
                    kept = max(kept, t)
                else:
                    lost = min(lost, t)
            wanted = []
            kept = min(kept, lost - 1)
        return kept

    def _sum(self, pair: LargeTerms, others: Sequence[int], value: Fraction) -> Task:
        """What a sum makes of terms that are a part of two large ones of both signs, as a part of these."""
        m = self.masks
        large = power_of_two(m.large(*pair))
        able = {x: value * large for x in others if m.holds(x, value * large)}
        (number,) = yield [{pair[0]: large, pair[1]: -large} | able]
        if number is None:
            raise NotFiniteError
        # A leaf that cannot be that small is taken to be as the others are.
        return number / large * Fraction(len(others), max(1, len(able)))


def _spread(kept: int, lost: int) -> list[int]:
    """Up to eight places between two."""
    step = -(-(lost - kept) // 9)
    return list(range(kept + step, lost, step)) or [kept + 1]
