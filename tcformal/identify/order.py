"""The order of summation of a device, from masks: which products, and c, meet in which sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from tcformal.checks import check_int
from tcformal.design.spec import Operands
from tcformal.design.tree import Step
from tcformal.identify.flatness import Flatness
from tcformal.identify.masks import Masks, NotFiniteError, Results, Task, together

#: Exponents of the large terms: the largest that serve, and one that fp16 partial sums hold.
_HIGH = (64, 15)
#: A sum of so many parts has no hidden ones if no two of three parts are one.
_SMALL = 3

Leaves = frozenset[int]
Pair = frozenset[int]


@dataclass(frozen=True, slots=True)
class Order:
    """The order of summation of a device, as far as it shows.

    Ranges and units: `fraction_bits` are those that a sum keeps below its largest term, by sum, where they
    were seen; None for one that loses nothing before it is rounded.
    """

    #: The outermost sum; None where nothing can be said.
    root: Step | None
    fraction_bits: dict[Step, int | None]
    #: Why there is no order, or what does not fit the one that is given; empty where all is clear.
    reason: str
    #: Sums in which some parts are added up before they are cut, though none hides another, with these parts:
    #: each by its first product, k for c.
    groups: dict[Step, tuple[tuple[int, ...], ...]]
    probes: int
    batches: int


@dataclass(slots=True)
class _Asked:
    """Probes that were asked, and batches."""

    ask: Results
    probes: int = 0
    batches: int = 0

    def run(self, masks: Masks, task: Task) -> object:
        """The result of a task, batch by batch."""
        try:
            rows = next(task)
            while True:
                answers = []
                if rows:
                    answers = masks.numbers(self.ask(masks.batch(rows)))
                    self.probes, self.batches = self.probes + len(rows), self.batches + 1
                rows = task.send(answers)
        except StopIteration as end:
            return end.value


def order_of(ask: Results, formats: Operands, k: int, *, with_c: bool = True) -> Order:
    """The order in which a device sums k products and c.

    Shapes: `ask` takes a batch of dot products of k terms and gives as many raw encodings of D; with_c:
    whether c can be chosen (else it is 0).
    Zero, NaN, Inf: probes are finite, and so must their results be.
    Errors: InputError for a k below 1.  An order that does not show is no error: `root` is None, and
    `reason` says why.
    Source: the idea of FPRev (large terms that cancel); powers of two on the other terms name all survivors.
    """
    check_int("k", k, low=1)
    asked = _Asked(ask)
    reason = ""
    for high in _HIGH:
        masks = Masks(formats, k, with_c=with_c, high=high)
        search = _Search(masks, Flatness(masks))
        if masks.room(14, masks.high) < 2:
            reason = f"products of {formats.a} and {formats.b} lie too near each other to hide one another"
            break
        try:
            root = asked.run(masks, search.whole())
        except NotFiniteError:
            reason = f"results are NaN or Inf where large terms cancel, down to 2^{masks.high}"
            continue
        assert isinstance(root, Step)
        return Order(root, search.bits, search.reason, search.unclear, asked.probes, asked.batches)
    return Order(None, {}, reason, {}, asked.probes, asked.batches)


@dataclass
class _Search:
    """What is known of one device."""

    masks: Masks
    flatness: Flatness
    #: The leaves that a pair hides, the pair among them.
    known: dict[Pair, Leaves] = field(default_factory=dict)
    bits: dict[Step, int | None] = field(default_factory=dict)
    unclear: dict[Step, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    reason: str = ""
    #: Sums that are done.
    sums: dict[Leaves, int | str | Step] = field(default_factory=dict)

    def whole(self) -> Task:
        """The outermost sum."""
        leaves = frozenset(self.masks.leaves)
        if len(leaves) > 2:
            yield from self.masks.calibrated()
        root = yield from self.solved(leaves)
        return root if isinstance(root, Step) else Step((root,))

    # ------------------------------------------------------------------ masks
    def hide(self, pairs: Iterable[tuple[int, int]], among: Leaves) -> Task:
        """Ask what pairs of leaves hide among the leaves of one sum, unless it is known."""
        new = list(dict.fromkeys(p for p in map(frozenset, pairs) if len(p) == 2 and p not in self.known))
        m = self.masks
        tasks = [m.survivors(*sorted(p), sorted(among - p), m.depth, m.width) for p in new]
        found = yield from together(tasks)
        for p, alive in zip(new, found, strict=True):
            self.known[p] = among - alive

    def seen(self, among: Leaves) -> dict[Pair, Leaves]:
        """What is known of pairs of leaves of one sum."""
        return {p: hidden for p, hidden in self.known.items() if p <= among}

    # ------------------------------------------------------------------ one sum
    def solved(self, among: Leaves) -> Task:
        """The sum of some leaves, known to be one, or a single leaf."""
        leaves = self._in_order(among)
        if len(leaves) == 1:
            return "c" if leaves[0] == self.masks.k else leaves[0]
        if among not in self.sums:
            if len(self._parts_of(among)) > 2:
                first, second, third, last = leaves[0], leaves[1], leaves[2], leaves[-1]
                scouts = [(first, second), (second, third), (first, third), (first, last)]
                yield from self.hide([*scouts, (leaves[-2], last)], among)
                yield from self._neighbours(among)
            self.sums[among] = yield from self._made_of(among)
        return self.sums[among]

    def _neighbours(self, among: Leaves) -> Task:
        """Ask parts next to each other where pairs or nested sets among them promise many sums."""
        groups, exact = self._groups(among)
        inner = {s for s in self.seen(among).values() if s != among}
        if exact or len(inner) > len(groups) or any(len(g) == 2 for g in groups):
            heads = self._heads(self._parts_of(among))
            smallest = min(inner, key=len)
            spaced = self._spaced(heads, smallest)
            yield from self.hide([*pairwise(spaced), *combinations(heads[:3], 2)], among)

    def _made_of(self, among: Leaves) -> Task:
        """One sum of its parts, after pairs of some of them have been asked."""
        groups = self._groups(among)
        if groups[1]:
            return (yield from self._step((yield from self._exact_parts(among)), None))
        parts = self._parts_of(among)
        if len(parts) <= 2:
            return (yield from self._step(parts))
        heads = self._heads(parts)
        yield from self.hide(combinations(heads[:3], 2), among)
        if self._groups(among) != groups:
            return (yield from self._made_of(among))
        if len(parts) == _SMALL:
            return (yield from self._step(parts))
        # The parts are looked into at the same time, whatever comes of this sum.
        (bits, found), *_ = yield from together([self.flatness.hidden(heads), *map(self.solved, parts)])
        if found:
            # Parts that are added up before they are cut: where one hides another they are a sum.
            pairs = [(group[0], x) for group in found for x in group[1:2]]
            yield from self.hide([*pairs, *((group[0], group[-1]) for group in found)], among)
            if self._groups(among) != groups:
                return (yield from self._made_of(among))
        made = yield from self._step(parts, bits)
        if found:
            self.unclear[made] = tuple(found)
        return made

    def _step(self, parts: Sequence[Leaves], bits: int | None = -1) -> Task:
        """The sum of parts, after each of them."""
        children = yield from together([self.solved(part) for part in parts])
        made = Step(tuple(children))
        if bits != -1:
            self.bits[made] = bits
        return made

    def _parts_of(self, among: Leaves) -> list[Leaves]:
        """The largest sets known below one sum and the leaves beside them, in order."""
        groups, _ = self._groups(among)
        single = (frozenset([x]) for x in among if not any(x in g for g in groups))
        return sorted([*groups, *single], key=lambda part: min(map(self._rank, part)))

    def _groups(self, among: Leaves) -> tuple[list[Leaves], bool]:
        """The largest sets known below one sum, and whether it is one that hides the parts of a pair only.

        Sets that overlap and are not nested are pairs of parts of one exact sum; they count as one set.
        """
        merged: list[Leaves] = []
        for one in sorted({s for s in self.seen(among).values() if s != among}, key=len):
            touching = [s for s in merged if s & one]
            merged = [*(s for s in merged if not s & one), one.union(*touching)]
        return ([], True) if merged == [among] else (merged, False)

    def _exact_parts(self, among: Leaves) -> Task:
        """The parts of an exact sum: a pair hides the two parts that it is in."""
        yield from self.hide(pairwise(self._in_order(among)), among)
        seen = self.seen(among)
        top = {p: s for p, s in seen.items() if not any(s < t and t != among for t in seen.values())}
        parts: set[Leaves] = set()
        for leaf in self._in_order(among):
            own = [s for p, s in top.items() if leaf in p]
            if len(own) > 1:
                parts.add(frozenset.intersection(*own))
        for p, s in top.items():
            known = [part for part in parts if part & p]
            if len(known) == 1 and s - known[0]:
                parts.add(s - known[0])
        clash = any(one & other for one, other in combinations(parts, 2))
        if clash or frozenset[int]().union(*parts) != among:
            self.reason = "an exact sum of several parts that masks do not tell apart"
            return [frozenset([x]) for x in among]
        return sorted(parts, key=lambda part: min(map(self._rank, part)))

    # ------------------------------------------------------------------ the order of leaves
    def _spaced(self, heads: Sequence[int], group: Leaves) -> list[int]:
        """Parts in the order that puts those together that are spaced as the first two leaves of a group."""
        own = [x for x in self._in_order(group) if x != self.masks.k]
        stride = own[1] - own[0] if len(own) > 1 else 1
        return sorted(heads, key=lambda x: (self._rank(x) % stride, self._rank(x)))

    def _heads(self, parts: Sequence[Leaves]) -> list[int]:
        """The first leaf of each part."""
        return [min(part, key=self._rank) for part in parts]

    def _in_order(self, among: Leaves) -> list[int]:
        return sorted(among, key=self._rank)

    def _rank(self, leaf: int) -> int:
        """c before the products."""
        return -1 if leaf == self.masks.k else leaf
