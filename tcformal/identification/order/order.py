"""The order of summation of a device, from masks: which products, and c, meet in which sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from tcformal.checks import check_int
from tcformal.design.spec import Operands
from tcformal.design.trees.tree import Step
from tcformal.identification.order.flatness import Flatness
from tcformal.identification.order.hidden import Leaves, exact_parts, misfit, spaced_alike
from tcformal.identification.order.masks import Masks, NotFiniteError
from tcformal.identification.order.pairs import HiddenSets
from tcformal.identification.order.tasks import AskBatch, Asked, NoOrderError, Task, together
from tcformal.simulation.operands.batch import Batch

#: Exponents of the large terms: the largest that serve, and one that fp16 partial sums hold.
_HIGH = (64, 15)
#: A sum of so many parts has no hidden ones if no two of three parts are one.
_SMALL = 3


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

    @property
    def measured(self) -> dict[str, str]:
        """The order and the fraction bits as people read them, by name."""
        if self.root is None:
            return {"order": self.reason}
        shown = {step: "exact" if bits is None else str(bits) for step, bits in self.fraction_bits.items()}
        return {"order": str(self.root), **{f"fraction bits of {step}": x for step, x in shown.items()}}


def order_of(ask: AskBatch, formats: Operands, k: int, *, with_c: bool = True) -> Order:
    """The order in which a device sums k products and c.

    Shapes: `ask` takes a batch of dot products of k terms and gives as many raw encodings of D; with_c:
    whether c can be chosen (else it is 0).
    Zero, NaN, Inf: probes are finite, and so must their results be.
    Errors: InputError for a k below 1.  An order that does not show is no error: `root` is None, and
    `reason` says why.
    Source: the idea of FPRev (large terms that cancel); powers of two on the other terms name all survivors.
    """
    check_int("k", k, low=1)
    asked, reason = Asked(ask), ""
    for high in _HIGH:
        masks = Masks(formats, k, with_c=with_c, high=high)
        try:
            search = _OrderSearch(masks, Flatness(masks), HiddenSets(masks))
            root = _confirmed(asked, search)
            if root is None:
                search = _OrderSearch(masks, Flatness(masks), HiddenSets(masks, counting=False))
                root = asked.run(masks, search.whole())
        except NoOrderError as error:
            reason = str(error)
            break
        except NotFiniteError:
            reason = f"results are NaN or Inf where large terms cancel, down to 2^{masks.high}"
            continue
        assert isinstance(root, Step)
        bits = {step: search.bits[step] for step in root.steps() if step in search.bits}
        found = (
            bits,
            search.reason or misfit(root, search.pairs.known, search.bits, masks.k),
            search.unclear,
        )
        return Order(root, *found, asked.probes, asked.batches)
    return Order(None, {}, reason, {}, asked.probes, asked.batches)


def first_masks(formats: Operands, k: int) -> Batch:
    """What `order_of` asks first, which depends on no answer; nothing where an order shows no other way.

    Shapes: dot products of k terms.
    """
    masks = Masks(formats, k, with_c=True, high=_HIGH[0])
    search = _OrderSearch(masks, Flatness(masks), HiddenSets(masks))
    try:
        return masks.batch(next(search.pairs.confirmed(search.whole())))
    except (StopIteration, NoOrderError):
        return masks.batch([])


def _confirmed(asked: Asked, search: _OrderSearch) -> object:
    """The outermost sum; None where sets that counts suggest are not those that pairs hide."""
    try:
        root, right = asked.run(search.masks, search.pairs.confirmed(search.whole()))
    except NoOrderError:
        if not search.pairs.likely:
            raise
        return None
    return root if right else None


@dataclass
class _OrderSearch:
    """What is known of one device."""

    masks: Masks
    flatness: Flatness
    pairs: HiddenSets
    bits: dict[Step, int | None] = field(default_factory=dict)
    unclear: dict[Step, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    reason: str = ""
    #: Sums that are done.
    sums: dict[Leaves, int | str | Step] = field(default_factory=dict)
    #: Those, and sums that some task is at.
    begun: set[Leaves] = field(default_factory=set)

    def whole(self) -> Task:
        """The outermost sum."""
        m = self.masks
        leaves, guess = frozenset(m.leaves), (m.depth, m.width)
        if len(leaves) > 2:
            # Most devices are as they are taken to be: the first masks are asked at the same time.
            scouts = self._scouts(leaves) if m.roomy else []
            yield from together([m.calibrated(), self.pairs.hide(scouts, leaves)])
            if (frozenset(m.leaves), m.depth, m.width) != (leaves, *guess):
                self.pairs.clear()
        root = yield from self.solved(frozenset(m.leaves))
        return root if isinstance(root, Step) else Step((root,))

    # ------------------------------------------------------------------ one sum
    def solved(self, among: Leaves) -> Task:
        """The sum of some leaves, known to be one, or a single leaf."""
        leaves = self._in_order(among)
        if len(leaves) == 1:
            return "c" if leaves[0] == self.masks.k else leaves[0]
        if among in self.begun:
            while among not in self.sums:
                yield []  # another task is at it
        else:
            self.begun.add(among)
            self.sums[among] = yield from self._beside(among, self._after_scouts(among))
        return self.sums[among]

    def _beside(self, among: Leaves, task: Task) -> Task:
        """What a task gives that looks into a sum, while the largest sums known below it are looked into."""
        groups, exact = self._groups(among)
        inner = [] if exact else [self.solved(g) for g in groups if len(g) > _SMALL]
        made, *_ = yield from together([task, *inner])
        return made

    def _after_scouts(self, among: Leaves) -> Task:
        """The sum of some leaves, after pairs that show more of it."""
        yield from self.pairs.hide(self._scouts(among), among)
        return (yield from self._beside(among, self._after_neighbours(among)))

    def _after_neighbours(self, among: Leaves) -> Task:
        yield from self._neighbours(among)
        return (yield from self._beside(among, self._made_of(among)))

    def _scouts(self, among: Leaves) -> list[tuple[int, int]]:
        """The pairs of parts that are asked first; none where two parts are left."""
        heads = self._heads(self._parts_of(among))
        if len(heads) <= 2:
            return []
        return [*combinations(heads[:3], 2), (heads[0], heads[-1]), (heads[-2], heads[-1])]

    def _neighbours(self, among: Leaves) -> Task:
        """Ask parts that may belong together, seeing how those do that are known to.

        Pairs promise chains and trees, and all leaves next to each other are asked; sets in one another, all
        parts next to each other; other sets promise more of their kind, and one pair of each is asked.
        """
        groups, exact = self._groups(among)
        inner = {s for s in self.pairs.seen(among).values() if s != among}
        if not inner:
            return
        parts = self._parts_of(among)
        heads = self._heads(parts)
        smallest = min(inner, key=len)
        pairs = list(combinations(heads[:3], 2)) if len(parts) > 2 else []
        size = min(len(s - {self.masks.k}) for s in inner)
        if size <= 2:
            pairs += pairwise(self._spaced(among, smallest))
        elif exact or len(inner) > len(groups):
            pairs += pairwise(self._spaced(heads, smallest))
        else:
            single = [x for x in heads if frozenset([x]) in parts and x != self.masks.k]
            pairs += list(pairwise(self._spaced(single, smallest)))[::size]
        yield from self.pairs.hide(pairs, among)

    def _made_of(self, among: Leaves) -> Task:
        """One sum of its parts, after pairs of some of them have been asked."""
        groups = self._groups(among)
        if groups[1]:
            return (yield from self._step((yield from self._exact_parts(among)), None))
        parts = self._parts_of(among)
        if len(parts) <= 2:
            return (yield from self._step(parts))
        heads = self._heads(parts)
        # Sets that were found apart may be parts of one exact sum, which the others are no part of.
        large = [head for head, part in zip(heads, parts, strict=True) if len(part) > 1][:_SMALL]
        yield from self.pairs.hide([*combinations(heads[:3], 2), *combinations(large, 2)], among)
        if self._groups(among) != groups:
            yield from self.pairs.hide(spaced_alike(heads, self._groups(among)[0]), among)
            return (yield from self._made_of(among))
        if len(parts) == _SMALL:
            return (yield from self._step(parts))
        # The parts are looked into at the same time, whatever comes of this sum.
        (bits, found), *_ = yield from together([self._flat(heads, among), *map(self.solved, parts)])
        if found and self._groups(among) != groups:
            return (yield from self._made_of(among))
        made = yield from self._step(parts, bits)
        if found:
            self.unclear[made] = tuple(found)
        return made

    def _flat(self, heads: Sequence[int], among: Leaves) -> Task:
        """As `Flatness.hidden`, after pairs of parts that are added up before they are cut have been asked.

        Where one hides another they are a sum.
        """
        bits, found = yield from self.flatness.hidden(heads)
        if found:
            pairs = [pair for group in found for pair in (group[:2], (group[0], group[-1]))]
            left = [x for x in heads if not any(x in group for group in found)]
            left = self._spaced(left, frozenset(found[0]))
            yield from self.pairs.hide([*pairs, *pairwise(left)], among)
        return bits, found

    def _step(self, parts: Sequence[Leaves], bits: int | None = -1) -> Task:
        """The sum of parts, after each of them."""
        if len(parts) == 1:
            self.reason = "pairs hide terms in a way that no order does"
            parts = [frozenset([x]) for x in parts[0]]
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
        for one in sorted({s for s in self.pairs.seen(among).values() if s != among}, key=len):
            touching = [s for s in merged if s & one]
            merged = [*(s for s in merged if not s & one), one.union(*touching)]
        return ([], True) if merged == [among] else (merged, False)

    def _exact_parts(self, among: Leaves) -> Task:
        """The parts of an exact sum: a pair hides the two parts that it is in."""
        yield from self.pairs.hide(pairwise(self._in_order(among)), among)
        parts = exact_parts(among, self.pairs.seen(among))
        if parts is None:
            self.reason = "an exact sum of several parts that masks do not tell apart"
            return [frozenset([x]) for x in among]
        return sorted(parts, key=lambda part: min(map(self._rank, part)))

    # ------------------------------------------------------------------ the order of leaves
    def _spaced(self, heads: Iterable[int], group: Leaves) -> list[int]:
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
