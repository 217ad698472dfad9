"""What pairs of large terms hide: asked leaf by leaf, or counted where that takes many probes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tcformal.identification.order.hidden import Couple, Leaves
from tcformal.identification.order.masks import Masks
from tcformal.identification.order.tasks import Task, together

#: Probes of one pair from which on leaves are counted first; so many of all pairs are rather one batch.
_MANY, _ONE_BATCH = 3, 30


@dataclass
class HiddenSets:
    """What is known of one device's pairs: a pair hides the leaves of a sum, the pair among them.

    A set that follows from its size and from others is taken to be hidden until all such sets are confirmed.
    """

    masks: Masks
    #: Whether leaves may be counted.
    counting: bool = True
    known: dict[Couple, Leaves] = field(default_factory=dict)
    #: Pairs that are being asked.
    asking: set[Couple] = field(default_factory=set)
    #: Pairs whose sets follow from others.
    likely: dict[Couple, Leaves] = field(default_factory=dict)
    #: Those of them that are asked, or that hide a set of which another pair is.
    checked: set[Couple] = field(default_factory=set)

    def clear(self) -> None:
        """Forget what is known."""
        self.known.clear()
        self.likely.clear()
        self.checked.clear()

    def hide(self, pairs: Iterable[tuple[int, int]], among: Leaves) -> Task:
        """Ask what pairs of leaves hide among the leaves of one sum, or wait where another task asks it."""
        wanted = {p: None for p in map(frozenset, pairs) if len(p) == 2 and p not in self.known}
        new = [p for p in wanted if p not in self.asking]
        self.asking |= set(new)
        self._follow(new, among)
        left = [p for p in new if p not in self.known]
        if self._counts(len(left), len(among) - 2):
            yield from self._count(left, among)
        left = [p for p in new if p not in self.known]
        found = yield from together([self._survivors(p, among) for p in left])
        self.known |= {p: among - alive for p, alive in zip(left, found, strict=True)}
        self.asking -= set(new)
        while any(p in self.asking for p in wanted):
            yield []

    def seen(self, among: Leaves) -> dict[Couple, Leaves]:
        """What is known of pairs of leaves of one sum."""
        return {p: hidden for p, hidden in self.known.items() if p <= among}

    def confirmed(self, rest: Task) -> Task:
        """What another task gives, and whether no leaf of a set that follows comes back beside a pair of it.

        In an order of sums other pairs of such a set, which hide as many leaves or meet it, hide it, too.
        Such sets are asked at the same time as what the other task asks next.
        """
        done: list[object] = []

        def first() -> Task:
            done.append((yield from rest))

        def beside() -> Task:
            right = True
            while not done or self.likely.keys() - self.checked:
                new = self._one_of_each()
                counts = yield from together([self._counted(p, self.likely[p] - p) for p in new])
                right = right and all(count == 0 for count in counts)
                if not new:
                    yield []
            return right

        _, right = yield from together([first(), beside()])
        return done[0], right

    def _one_of_each(self) -> list[Couple]:
        """Of pairs that are not checked, the first of each set that none before them hides; all are then."""
        hidden = {self.likely[p] for p in self.checked}
        new: dict[Leaves, Couple] = {}
        for p in (p for p in self.likely if p not in self.checked):
            new.setdefault(self.likely[p], p)
        self.checked |= self.likely.keys()
        return [p for found, p in new.items() if found not in hidden]

    def _countable(self, others: int) -> bool:
        """Whether so many leaves can be counted."""
        return self.counting and others.bit_length() <= self.masks.width

    def _counts(self, pairs: int, others: int) -> bool:
        """Whether so many leaves can be counted, and take many probes if each is asked."""
        each = -(-others // self.masks.width)
        return self._countable(others) and each >= _MANY and pairs * each > _ONE_BATCH

    def _follow(self, pairs: Sequence[Couple], among: Leaves) -> None:
        """Take pairs to hide what another of them does that has a leaf of the same inner sum."""
        if not self._countable(len(among) - 2):
            return
        for pair in pairs:
            found = followed(pair, self.seen(among))
            if found is not None:
                self.known[pair] = self.likely[pair] = found

    def _count(self, pairs: Sequence[Couple], among: Leaves) -> Task:
        """Count what pairs hide; a set of which the size says enough is known then."""
        counts = yield from together([self._counted(p, among - p) for p in pairs])
        sizes = {p: len(among) - n for p, n in zip(pairs, counts, strict=True) if n is not None}
        certain = {p: p if n == len(p) else among for p, n in sizes.items() if n in (len(p), len(among))}
        self.known |= certain
        sums = {*self.seen(among).values(), *certain.values()}
        rest = {p: n for p, n in sizes.items() if p not in certain}
        found = supposed(sums, rest, [among - {self.masks.k}])
        self.known |= found
        self.likely |= found

    def _counted(self, pair: Couple, others: Leaves) -> Task:
        return (yield from self.masks.counted((min(pair), max(pair)), sorted(others), self.masks.depth))

    def _survivors(self, pair: Couple, among: Leaves) -> Task:
        m = self.masks
        return (yield from m.survivors(min(pair), max(pair), sorted(among - pair), m.depth, m.width))


def followed(pair: Couple, known: Mapping[Couple, Leaves]) -> Leaves | None:
    """What a pair hides by what others do: leaves of one inner sum meet a leaf beside it in the same sum.

    Parts of an exact sum that are hidden together are no inner sum: what they hide with others does not
    hold them.
    """
    for other, seen in known.items():
        beside = other & pair
        if len(beside) == 1:
            mine, its = pair - beside, other - beside
            if any(mine | its <= s < seen and not beside <= s for s in known.values()):
                return seen
    return None


def supposed(
    sums: Iterable[Leaves], sizes: Mapping[Couple, int], usual: Sequence[Leaves] = ()
) -> dict[Couple, Leaves]:
    """The sets that pairs hide by their sizes, where sums that share a leaf lie within one another.

    Shapes: `sums` are known to be hidden by pairs, `usual` are tried before; a pair is left out where no set
    of its size follows.
    """
    known, made = set(sums), {}
    for pair in sorted(sizes, key=lambda p: sizes[p]):
        whole = next((s for s in (*usual, *known) if pair <= s and len(s) == sizes[pair]), None)
        least = pair
        while touching := [s for s in known if s & least and not s <= least and not least <= s]:
            least = least.union(*touching)
        least = least if whole is None else whole
        if len(least) == sizes[pair]:
            made[pair] = least
            known.add(least)
    return made
